"""The comparison against FLAML and scikit-learn's gradient boosting, on public tables that other packages bundle
and on a made one in the shape of a census.

python benchmarks/compare_tables.py                 every table, 60 s for each contender
python benchmarks/compare_tables.py --tables wine,fair --seconds 20

Two thirds of the rows are given to the contenders, each with the same budget; the score is that on the last third.
Of ours it is also told whether the report's 95% interval covers that score.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

CASES: list[Any] = []  # one long run each, not repeated short ones: this file is a script of its own


def tell(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def bundled(name: str) -> tuple[Any, str]:
    """Return a table as a polars frame, and the name of its target."""
    import polars as pl
    from sklearn import datasets

    if name == "census":
        return census()
    if name in ("breast_cancer", "wine", "digits", "diabetes", "iris"):
        found = getattr(datasets, f"load_{name}")(as_frame=True).frame
        return pl.from_pandas(found), "target"
    import statsmodels.api as sm

    table = pl.from_pandas(getattr(sm.datasets, name).load_pandas().data)
    targets = {"fair": "affairs", "anes96": "vote", "randhie": "mdvis", "star98": "NABOVE", "ccard": "AVGEXP"}
    if name == "fair":
        table = table.with_columns((pl.col("affairs") > 0).cast(pl.Int64))
    return table, targets[name]


def census(rows: int = 48_842, seed: int = 0) -> tuple[Any, str]:
    """Return a made table in the shape of the census of 1994: six numbers, eight categories, holes, two classes."""
    import polars as pl

    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(6.5, 6.0, rows), 17, 90).round()
    schooling = np.clip(rng.normal(10 + 0.01 * age, 2.6), 1, 16).round().astype(int)
    married = rng.random(rows) < 1 / (1 + np.exp(-(age - 30) / 6))
    sex = np.where(rng.random(rows) < 0.67, "Male", "Female")
    hours = np.clip(rng.normal(40 + 3 * (sex == "Male"), 11), 1, 99).round()
    work = rng.choice(8, rows, p=[0.70, 0.08, 0.07, 0.04, 0.035, 0.03, 0.03, 0.015])
    job = (schooling + rng.integers(0, 8, rows)) % 14
    gain = np.where(rng.random(rows) < 0.08, rng.lognormal(8.4, 1.1, rows), 0).round()
    loss = np.where(rng.random(rows) < 0.047, rng.normal(1870, 380, rows), 0).round()
    land = np.minimum(rng.geometric(0.6, rows) - 1, 40)
    logit = (
        -3.7
        + 2.3 * married
        + 0.32 * (schooling - 9)
        + 0.6 * np.tanh((age - 35) / 9)
        - 0.0016 * (age - 50) ** 2
    )
    logit += 0.03 * np.clip(hours - 40, -20, 20) * married + 0.5 * np.sin(job) + 0.25 * (sex == "Male")
    logit += 6.0 * (gain > 6800) - 2.0 * ((gain > 0) & (gain < 4000)) + 2.2 * ((loss > 1800) & (loss < 2000))
    logit += 1.1 * (np.isin(job, (3, 8)) & (schooling > 12)) + 0.2 * (work == 3) - 0.3 * (land > 3)
    income = rng.random(rows) < 1 / (1 + np.exp(-1.25 * logit))
    words = {
        "workclass": (
            "Private",
            "Self-emp",
            "Local-gov",
            "State-gov",
            "?",
            "Self-emp-inc",
            "Federal-gov",
            "Without-pay",
        ),
        "occupation": tuple(f"job {k}" for k in range(13)) + ("?",),
    }
    table = pl.DataFrame(
        {
            "age": age.astype(int),
            "workclass": np.array(words["workclass"])[work],
            "fnlwgt": rng.lognormal(12.0, 0.5, rows).round().astype(int),
            "education": np.array([f"grade {k}" for k in range(17)])[schooling],
            "education-num": schooling,
            "marital-status": np.where(married, "Married", rng.choice(["Never-married", "Divorced", "Widowed"], rows)),
            "occupation": np.array(words["occupation"])[job],
            "relationship": np.where(
                married, np.where(sex == "Male", "Husband", "Wife"), rng.choice(["Own-child", "Unmarried"], rows)
            ),
            "race": rng.choice(["White", "Black", "Asian", "Other"], rows, p=[0.85, 0.1, 0.03, 0.02]),
            "sex": sex,
            "capital-gain": gain.astype(int),
            "capital-loss": loss.astype(int),
            "hours-per-week": hours.astype(int),
            "native-country": np.array([f"country {k}" for k in range(41)])[land],
            "income": np.where(income, ">50K", "<=50K"),
        }
    )  # fmt: skip
    return table, "income"


TABLES = ("breast_cancer", "wine", "digits", "diabetes", "fair", "anes96", "randhie", "star98", "census")


def ours(train: Any, test: Any, target: str, seconds: float) -> tuple[Any, Any]:
    """Return predictions and the interval that the report gives."""
    from gnomon.report import compare

    result = compare(train, target, time_budget=seconds)
    low, high = sorted(result.shown(end) for end in (result.best.interval.low, result.best.interval.high))
    return result.model.predict(test), (result.problem.metric.name, low, high, result.best.name)


def flaml(train: Any, test: Any, target: str, seconds: float, task: str) -> Any:
    """Return the predictions of FLAML."""
    from flaml import AutoML

    model = AutoML()
    X, y = train.drop(target).to_pandas(), train[target].to_pandas()
    metric = "accuracy" if task == "classification" else "rmse"
    model.fit(X, y, task=task, time_budget=seconds, metric=metric, verbose=0, seed=0, n_jobs=2)
    return np.asarray(model.predict(test.drop(target).to_pandas()))


def boosting(train: Any, test: Any, target: str, task: str) -> Any:
    """Return the predictions of scikit-learn's histogram boosting, as it comes."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    model = (HistGradientBoostingClassifier if task == "classification" else HistGradientBoostingRegressor)(
        random_state=0
    )
    model.fit(train.drop(target).to_pandas(), train[target].to_numpy())
    return model.predict(test.drop(target).to_pandas())


def score(y: Any, said: Any, task: str) -> float:
    """Return accuracy, or the root mean squared error."""
    if task == "classification":
        return float(np.mean(np.asarray(said).astype(str) == np.asarray(y).astype(str)))
    return float(np.sqrt(np.mean((np.asarray(said, dtype=float) - y) ** 2)))


def main() -> None:
    """Run the contenders and print a line for each."""
    options = argparse.ArgumentParser()
    options.add_argument("--tables", default=",".join(TABLES))
    options.add_argument("--seconds", type=float, default=60.0)
    chosen = options.parse_args()
    for name in chosen.tables.split(","):
        table, target = bundled(name)
        order = np.random.default_rng(0).permutation(len(table))
        cut = 2 * len(table) // 3
        train, test = table[order[:cut]], table[order[cut:]]
        y = test[target].to_numpy()
        task = "classification" if table[target].n_unique() <= 10 else "regression"
        begin = time.monotonic()
        said, (metric, low, high, best) = ours(train, test, target, chosen.seconds)
        found = score(y, said, task)
        own = "covered" if low <= found <= high else "not covered"
        own = own if metric in ("accuracy", "rmse") else f"judged by {metric}"
        tell(
            f"{name:15} gnomon {found:.4f}  {best}, {low:.4f} to {high:.4f}: {own}, {time.monotonic() - begin:.0f} s",
        )
        for label, run in {
            "FLAML": lambda: flaml(train, test, target, chosen.seconds, task),  # noqa: B023
            "scikit-learn": lambda: boosting(train, test, target, task),  # noqa: B023
        }.items():
            begin = time.monotonic()
            try:
                tell(
                    f"{name:15} {label} {score(y, run(), task):.4f}  {time.monotonic() - begin:.0f} s",
                )
            except Exception as error:  # a contender that does not install or fails is said so
                tell(f"{name:15} {label} failed: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
