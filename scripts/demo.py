"""See gnomon at work: models compared on the progression of diabetes, and a mixture watched while it learns.

It writes two small tables and runs the commands that a user would run.
"""

from __future__ import annotations

import argparse
import csv
import shlex
from collections.abc import Iterable
from pathlib import Path

from sklearn.datasets import load_diabetes

from gnomon.cli.app import app
from gnomon.datasets import load_old_faithful

NAMES = {
    "bp": "pressure",
    "s1": "cholesterol",
    "s2": "ldl",
    "s3": "hdl",
    "s4": "ratio",
    "s5": "log_triglycerides",
    "s6": "glucose",
}


def write(path: Path, names: list[str], rows: Iterable[Iterable[float]]) -> None:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([names, *rows])


def _cell(name: str, value: float) -> str:
    """Return a cell as text; the source has two codes for sex and does not say which is which."""
    return {1: "A", 2: "B"}[int(value)] if name == "sex" else f"{value:g}"


def tables(folder: Path) -> None:
    """Write what is compared: 442 patients and what became of them, and 272 eruptions of a geyser."""
    found = load_diabetes(scaled=False)
    patients = [[_cell(name, value) for name, value in zip(found.feature_names, row)] for row in found.data]
    rows = [[*row, f"{y:g}"] for row, y in zip(patients, found.target)]
    write(folder / "diabetes.csv", [*(NAMES.get(n, n) for n in found.feature_names), "progression"], rows)
    write(folder / "geyser.csv", ["eruption", "waiting"], load_old_faithful().data.tolist())


def gnomon(*arguments: str) -> None:
    """Run a command as a user would, and show it first."""
    print(f"\n$ gnomon {shlex.join(arguments)}\n", flush=True)
    code = app(list(arguments), standalone_mode=False)
    if code:
        raise SystemExit(code)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo-results"), help="folder for the results")
    parser.add_argument("--time-budget", default="30", help="seconds for the comparison")
    chosen = parser.parse_args()
    folder = chosen.out
    folder.mkdir(parents=True, exist_ok=True)
    tables(folder)
    moving = ("--set", "n_components=2", "--set", "init_params=random_from_data", "--seed", "3")
    gnomon("watch", "GaussianMixture", str(folder / "geyser.csv"), *moving, "--out", str(folder / "em.gif"))
    table, options = str(folder / "diabetes.csv"), ("--time-budget", chosen.time_budget, "--out", str(folder))
    gnomon("compare", table, "--target", "progression", *options)
    print(f"\nThe report lies in {(folder / 'report.html').resolve()}: open it in a browser.")


if __name__ == "__main__":
    main()
