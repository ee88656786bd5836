"""The comparison against FLAML and scikit-learn's gradient boosting, on public tables that other packages bundle.

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

    if name in ("breast_cancer", "wine", "digits", "diabetes", "iris"):
        found = getattr(datasets, f"load_{name}")(as_frame=True).frame
        return pl.from_pandas(found), "target"
    import statsmodels.api as sm

    table = pl.from_pandas(getattr(sm.datasets, name).load_pandas().data)
    targets = {"fair": "affairs", "anes96": "vote", "randhie": "mdvis", "star98": "NABOVE", "ccard": "AVGEXP"}
    if name == "fair":
        table = table.with_columns((pl.col("affairs") > 0).cast(pl.Int64))
    return table, targets[name]


TABLES = ("breast_cancer", "wine", "digits", "diabetes", "fair", "anes96", "randhie", "star98")


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
