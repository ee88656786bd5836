"""The command line as tests use it: a fixture that runs it here, tables small enough to be quick."""

import json
from typing import NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner


class Done(NamedTuple):
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


@pytest.fixture
def gnomon(tmp_path, monkeypatch):
    """Run a command in an empty folder of its own."""
    from gnomon.cli.app import app

    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Done(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def flowers(tmp_path):
    """A table with numbers, a category, holes and three classes that the numbers tell apart."""
    rng = np.random.default_rng(0)
    kinds = np.array(["daisy", "rose", "tulip"])[np.arange(60) % 3]
    height = 2.0 * (np.arange(60) % 3) + rng.normal(size=60)
    color = rng.choice(["red", "white"], size=60)
    lines = ["height,color,kind"]
    for i, (h, c, k) in enumerate(zip(height, color, kinds)):
        lines.append(f"{'' if i % 13 == 5 else round(h, 3)},{'' if i % 17 == 3 else c},{k}")
    path = tmp_path / "flowers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def line(tmp_path):
    """A table in which y is nearly 3 x + 1."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=40)
    path = tmp_path / "line.csv"
    rows = "\n".join(f"{a:.4f},{3 * a + 1 + 0.1 * e:.4f}" for a, e in zip(x, rng.normal(size=40)))
    path.write_text(f"x,y\n{rows}\n")
    return path
