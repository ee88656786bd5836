"""The comparison against FLAML and scikit-learn's gradient boosting, on public tables that other packages bundle
and on a made one in the shape of a census.

python benchmarks/compare_tables.py                 every table, 60 s for ours and for FLAML
python benchmarks/compare_tables.py --tables wine,fair --budget 20

Two thirds of the rows are given to the contenders, ours and FLAML with the same budget, boosting as it comes; the score
is that on the last third, with a 95% interval from resampling its rows. Ours is behind where its score lies outside the
interval of the best. Of ours it is also told whether the report's 95% interval covers the score. A contender that is
not installed or fails is said so and left out of the count.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

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
RESAMPLES = 1_000


class Run(NamedTuple):
    """What one contender did on one table."""

    score: float
    low: float
    high: float
    seconds: float
    about: str = ""


def ours(train: Any, test: Any, target: str, task: str, seconds: float) -> tuple[Any, Any]:
    """Return predictions, and the comparison that they come from."""
    from gnomon.report import compare
    from gnomon.report.menu import candidates

    metric = "accuracy" if task == "classification" else "rmse"
    candidates(
        task
    )  # loads the library, as the import of a peer loads the peer: neither is part of its budget
    result = compare(train, target, task=task, metric=metric, time_budget=seconds)
    return result.model.predict(test), result


def flaml(train: Any, test: Any, target: str, task: str, seconds: float) -> Any:
    """Return the predictions of FLAML."""
    from flaml import AutoML

    model = AutoML()
    X, y = train.drop(target).to_pandas(), train[target].to_pandas()
    metric = "accuracy" if task == "classification" else "rmse"
    model.fit(X, y, task=task, time_budget=seconds, metric=metric, verbose=0, seed=0, n_jobs=2)
    return np.asarray(model.predict(test.drop(target).to_pandas()))


def boosting(train: Any, test: Any, target: str, task: str) -> Any:
    """Return the predictions of scikit-learn's histogram boosting, as it comes; words are categories."""
    import polars as pl
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    cls = HistGradientBoostingClassifier if task == "classification" else HistGradientBoostingRegressor
    both = pl.concat([train, test]).drop(target)
    frame = both.with_columns(pl.selectors.string().cast(pl.Categorical)).to_pandas()
    model = cls(random_state=0, categorical_features="from_dtype")
    model.fit(frame[: len(train)], train[target].to_numpy())
    return model.predict(frame[len(train) :])


def losses(y: Any, said: Any, task: str) -> Any:
    """Return what every row costs: 1 where the class is wrong, or the squared error."""
    if task == "classification":
        return (np.asarray(said).astype(str) != np.asarray(y).astype(str)).astype(float)
    return (np.asarray(said, dtype=float) - np.asarray(y, dtype=float)) ** 2


def shown(mean: Any, task: str) -> Any:
    """Return accuracy, or the root mean squared error."""
    return 1 - mean if task == "classification" else np.sqrt(mean)


def judged(y: Any, said: Any, task: str, seconds: float, about: str = "") -> Run:
    """Return the score of predictions and its interval from resampled rows."""
    lost = losses(y, said, task)
    rng = np.random.default_rng(0)
    draws = [lost[rng.integers(0, len(lost), len(lost))].mean() for _ in range(RESAMPLES)]
    low, high = np.sort(shown(np.quantile(draws, [0.025, 0.975]), task))
    return Run(float(shown(lost.mean(), task)), float(low), float(high), seconds, about)


def one_table(name: str, budget: float) -> tuple[bool, bool]:
    """Run the contenders on a table and print a line for each; return whether ours holds, and is covered."""
    table, target = bundled(name)
    order = np.random.default_rng(0).permutation(len(table))
    cut = 2 * len(table) // 3
    train, test = table[order[:cut]], table[order[cut:]]
    y = test[target].to_numpy()
    task = "classification" if table[target].n_unique() <= 10 else "regression"
    cpu = time.process_time()
    said, result = ours(train, test, target, task, budget)
    mine = judged(y, said, task, result.seconds, result.best.name)
    ends = sorted(result.shown(end) for end in (result.best.interval.low, result.best.interval.high))
    covered = ends[0] <= mine.score <= ends[1]
    tell(f"{name}: {len(train)} rows to learn from, {len(test)} held out, {task}")
    tell_run("gnomon", mine)
    word = "covers" if covered else "does not cover"
    tell(
        f"    the report said {ends[0]:.4f} to {ends[1]:.4f}, which {word} it; {time.process_time() - cpu:.0f} s of CPU"
    )
    peers: dict[str, Run] = {}
    contenders: dict[str, Callable[[], Any]] = {
        "FLAML": lambda: flaml(train, test, target, task, budget),
        "scikit-learn boosting": lambda: boosting(train, test, target, task),
    }
    for label, run in contenders.items():
        begin = time.monotonic()
        try:
            peers[label] = judged(y, run(), task, time.monotonic() - begin)
            tell_run(label, peers[label])
        except Exception as error:  # a contender that does not install or fails is said so
            tell(f"    {label} failed: {type(error).__name__}: {error}")
    return holds(mine, list(peers.values()), task), covered


def tell_run(label: str, run: Run) -> None:
    """Print what a contender did."""
    about = f"  {run.about}" if run.about else ""
    tell(f"    {label:22} {run.score:.4f}  ({run.low:.4f} to {run.high:.4f})  {run.seconds:.0f} s{about}")


def holds(mine: Run, peers: list[Run], task: str) -> bool:
    """Tell whether ours is the best, or within the interval of the best."""
    if task == "classification":
        best = max([mine, *peers], key=lambda run: run.score)
        return mine.score >= best.low
    best = min([mine, *peers], key=lambda run: run.score)
    return mine.score <= best.high


def main() -> None:
    """Run the contenders on the chosen tables and sum up."""
    options = argparse.ArgumentParser()
    options.add_argument("--tables", default=",".join(TABLES))
    options.add_argument(
        "--budget", "--seconds", type=float, default=60.0, help="seconds for ours and for FLAML"
    )
    chosen = options.parse_args()
    names = chosen.tables.split(",")
    found: dict[str, tuple[bool, bool]] = {}
    for name in names:
        try:
            found[name] = one_table(name, chosen.budget)
        except Exception as error:  # one table must not stop the others
            tell(f"{name}: failed: {type(error).__name__}: {error}")
    behind = [name for name, (held, _) in found.items() if not held]
    open_ = [name for name, (_, covered) in found.items() if not covered]
    tell(
        f"within the interval of the best: {len(found) - len(behind)} of {len(names)}{listed(behind, 'behind on')}"
    )
    tell(
        f"covered by the report's interval: {len(found) - len(open_)} of {len(names)}{listed(open_, 'not on')}"
    )


def listed(names: list[str], word: str) -> str:
    """Return names in brackets, or nothing."""
    return f" ({word} {', '.join(names)})" if names else ""


if __name__ == "__main__":
    main()
