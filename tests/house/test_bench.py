"""The benchmark runner measures what it says and hides nothing."""

import importlib.util
import json
import random
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def case_module():
    spec = importlib.util.spec_from_file_location("case", BENCHMARKS / "case.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["case"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("case", None)


def test_contenders_take_turns_and_the_best_counts(case_module):
    calls = []
    case = case_module.Case("turns", ours=lambda: calls.append("a"), peers={"b": lambda: calls.append("b")})
    figures = {name: case_module.Figures() for name in case.contenders()}
    case_module.time_rounds(case, (), figures, seconds=0.0)
    assert calls == ["a", "b", "a", "b", "b", "a"]  # warm-up, then two rounds in turning order
    assert figures["b"].best == min(figures["b"].seconds) and len(figures["b"].seconds) == 2


def test_slow_peer_is_run_once(case_module, monkeypatch):
    calls = []
    monkeypatch.setattr(case_module, "LONG", 0.0)
    case = case_module.Case("slow", ours=lambda: calls.append("a"), peers={"b": lambda: calls.append("b")})
    figures = {name: case_module.Figures() for name in case.contenders()}
    case_module.time_rounds(case, (), figures, seconds=0.0)
    assert calls == ["a", "b", "a", "a"] and len(figures["b"].seconds) == 1


def make(rows, columns, kind="even", *, classes=3):
    return rows, columns, kind, classes


def test_shapes_are_drawn_around_the_told_one(case_module):
    case = case_module.Case("k-means", ours=len, data=partial(make, 2000, 50, "odd", classes=3))
    seen = {}
    for seed in range(40):
        near = case.around(random.Random(seed))
        rows, columns, kind, classes = near.data()
        assert 2000 / 1.5 <= rows <= 2000 * 1.5 and 50 / 1.5 - 1 <= columns <= 50 * 1.5
        assert rows != 2000 and columns != 50  # another shape, always
        assert (kind, classes) == ("odd", 3)  # what says which kind of table it is stays
        assert near.name == f"{rows:,} x {columns:,}" and near.ours is len
        seen[rows < 2000, columns < 50] = True
    assert len(seen) == 4  # smaller and larger, each on its own
    assert case.make()[0][:2] == (2000, 50)


def test_the_last_size_is_drawn_and_a_case_without_a_shape_has_none(case_module):
    near = case_module.Case("path", ours=len, data=make, sizes=[100, 9000]).around(random.Random(1))
    assert len(near.sizes) == 1 and 6000 <= near.sizes[0] <= 13_500 and near.sizes[0] != 9000
    assert case_module.Case("faces", ours=len, data=lambda: 9000).around(random.Random(1)) is None
    assert case_module.Case("named", ours=len, data=partial(make, "asia", 3)).around(random.Random(1)) is None


def test_drawn_shapes_belong_to_the_seed_and_the_case(case_module):
    def shapes(seed, name="a"):
        case = case_module.Case(name, data=partial(make, 2000, 50), ours=lambda data: None)
        found = case_module.measure_around(case, seed, 0.0)
        assert all(len(figures[case_module.OURS].seconds) == 2 for figures in found.values())
        return list(found)

    assert len(set(shapes(20260101))) == 2
    assert shapes(20260101) == shapes(20260101)
    assert shapes(20260101) != shapes(20260102) and shapes(20260101) != shapes(20260101, "b")


def test_growth_is_the_exponent(case_module):
    sizes = [100, 200, 400, 800]
    assert case_module.growth(sizes, [3.0 * n**1.5 for n in sizes]) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("better", "mine", "theirs", "good"),
    [
        ("lower", 1.0, 1.0 - 1e-8, True),
        ("lower", 1.0, 0.999, False),
        ("lower", 0.5, 0.9, True),
        ("higher", -3.0, -3.0 + 1e-7, True),
        ("higher", -3.0, -2.9, False),
    ],
)
def test_quality_is_compared_in_its_own_sense(case_module, better, mine, theirs, good):
    case = case_module.Case("q", ours=print, better=better)
    assert case.as_good(mine, theirs) is good


def test_memory_is_that_of_the_run_alone(case_module):
    X = np.ones(4_000_000)  # 32 MB that belong to nobody

    def allocate(X):
        return float(np.concatenate([X, X]).sum())  # 64 MB

    assert case_module.peak_memory(allocate, (X,)) == pytest.approx(64e6 / 2**20, abs=8)
    assert case_module.peak_memory(lambda X: float(X.sum()), (X,)) < 8


def test_memory_of_a_failing_contender_is_unknown(case_module):
    assert case_module.peak_memory(lambda: 1 / 0, ()) is None


TOY = """
import time
from case import Case

def nap(seconds):
    return lambda size: time.sleep(seconds * size) or seconds

def absent(size):
    import a_peer_nobody_has

CASES = [
    Case("naps", data=lambda size: size, ours=nap(0.01), sizes=[1, 2, 4], better="lower", tolerance=1e-6,
         peers={"numpy (slow)": nap(0.03), "absent": absent}, quality=lambda result, size: result),
    Case("worse", ours=lambda: 2.0, peers={"other": lambda: 1.0}, quality=lambda result: result),
    Case("broken", ours=lambda: 1 / 0, peers={"other": lambda: 1.0}),
]
"""


@pytest.fixture
def toy(tmp_path):
    for name in ("case.py", "runner.py"):
        shutil.copy(BENCHMARKS / name, tmp_path)
    (tmp_path / "bench_toy.py").write_text(TOY)

    def run(*arguments):
        command = [sys.executable, str(tmp_path / "runner.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    return tmp_path, run


def rows(report):
    return {row["name"]: row for row in report["contenders"]}


def test_runner_reports_ratio_growth_and_missing_peers(toy):
    folder, run = toy
    done = run("toy", "--case", "naps", "--json", "--seconds", "1")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["families"]["toy"][0]
    table = rows(report)
    assert table["numpy (slow)"]["ratio"] == pytest.approx(
        table["numpy (slow)"]["seconds"] / table["gnomon"]["seconds"], rel=1e-3
    )
    assert table["numpy (slow)"]["version"] == np.__version__
    assert np.isfinite(table["gnomon"]["growth"])
    assert table["absent"]["remark"] == "missing: a_peer_nobody_has"
    assert "missing: a_peer_nobody_has" in done.stderr and "load" in done.stderr
    kept = json.loads((folder / "results" / "toy.json").read_text())
    assert kept["cases"][0]["case"] == "naps" and kept["cases"][0]["machine"]["cores"] >= 1


def test_runner_fails_when_our_result_is_worse_or_absent(toy):
    folder, run = toy
    worse = run("toy", "--case", "worse", "--seconds", "0")
    assert worse.returncode == 1 and "OURS IS WORSE" in worse.stdout
    broken = run("toy", "--case", "broken", "--seconds", "0")
    assert broken.returncode == 1 and "ZeroDivisionError" in broken.stdout
    names = [case["case"] for case in json.loads((folder / "results" / "toy.json").read_text())["cases"]]
    assert names == ["worse", "broken"]  # a later run adds to the file


def test_quick_writes_nothing_and_unknown_families_are_named(toy):
    folder, run = toy
    assert run("toy", "--case", "naps", "--quick").returncode == 0
    assert not (folder / "results").exists()
    assert "no benchmarks for tou; there are toy" in run("tou").stderr


def test_every_committed_benchmark_file_has_cases():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        for path in BENCHMARKS.glob("bench_*.py"):
            spec = importlib.util.spec_from_file_location(path.stem, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            names = [case.name for case in module.CASES]
            assert names and len(names) == len(set(names)), path.name
    finally:
        sys.path.remove(str(BENCHMARKS))
        sys.modules.pop("case", None)
