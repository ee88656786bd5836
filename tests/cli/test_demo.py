"""The demo does what it says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_demo_leaves_its_results_and_says_where(tmp_path):
    command = [
        sys.executable,
        str(PROJECT / "scripts" / "demo.py"),
        "--out",
        str(tmp_path / "results"),
        "--time-budget",
        "5",
    ]
    settings = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "results").iterdir()}
    assert names == {"diabetes.csv", "geyser.csv", "em.gif", "report.html", "best.gnomon"}
    assert f"The report lies in {tmp_path / 'results' / 'report.html'}" in done.stdout
    assert "predicts progression best: error (RMSE) " in done.stdout
    assert "Categories become columns of 0 and 1: sex." in done.stdout
