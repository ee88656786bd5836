"""Checkpoints: a killed fit goes on with the same bits, and no file is mistaken for another's."""

import copy
import json
import os
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.learners import CertifiedMean, SlowMean
from gnomon.cluster import KMeans
from gnomon.core.callbacks import Checkpoint, StopRequest, TimeBudget, TraceLog
from gnomon.core.data import digest_of
from gnomon.core.errors import ModelFileError
from gnomon.core.rows import MemoryRows
from gnomon.core.tables import TableRows
from gnomon.mixture import GaussianMixture

X = np.random.default_rng(0).normal(size=(200, 3)) + 5


class Killer(TimeBudget):
    """Interrupts a fit after `steps` tasks."""

    def __init__(self, steps):
        self.steps, self.count = steps, 0

    def setup(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.count += 1
        if self.count == self.steps:
            raise KeyboardInterrupt
        return False


def interrupt(model, path, steps, data=X):
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Killer(steps), Checkpoint(path, every_seconds=0)).fit(data)


@pytest.mark.parametrize("n_init", [1, 4])
@pytest.mark.parametrize("steps", [1, 7, 30])
def test_resumed_fit_ends_with_the_same_bits(tmp_path, n_init, steps):
    parameters = {"random_state": 3, "n_init": n_init}
    path = tmp_path / "fit.checkpoint"
    whole = SlowMean(**parameters).fit(X)
    if steps < whole.n_iter_ or n_init > 1:
        interrupt(SlowMean(**parameters), path, steps)
        assert path.exists()
    resumed = SlowMean(**parameters).set_callbacks(Checkpoint(path)).fit(X)
    assert np.array_equal(resumed.mean_, whole.mean_)
    assert np.array_equal(resumed.trace_.objective, whole.trace_.objective)
    assert not path.exists()


def test_resumed_fit_without_a_seed_keeps_its_random_start(tmp_path):
    path = tmp_path / "c"
    interrupt(SlowMean(random_state=np.random.RandomState(0), n_init=2), path, 5)
    resumed = SlowMean(random_state=np.random.RandomState(0), n_init=2).set_callbacks(Checkpoint(path)).fit(X)
    assert np.array_equal(
        resumed.mean_, SlowMean(random_state=np.random.RandomState(0), n_init=2).fit(X).mean_
    )


@pytest.mark.parametrize(
    ("model", "data", "different"),
    [
        (SlowMean(tol=1e-5), X, "parameters"),
        (SlowMean(), X + 1, "data"),
        (SlowMean(), X[:100], "data"),
        (CertifiedMean(), X, "model"),
    ],
)
def test_foreign_checkpoint_is_refused_and_survives(tmp_path, model, data, different):
    path = tmp_path / "c"
    interrupt(SlowMean(), path, 5)
    content = path.read_bytes()
    with pytest.raises(ModelFileError, match=f"belongs to another fit: the {different} differ"):
        model.set_callbacks(Checkpoint(path, 0)).fit(data)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:50] + b"x" + b[51:]]
)
def test_torn_checkpoint_is_refused(tmp_path, damage):
    path = tmp_path / "c"
    interrupt(SlowMean(), path, 5)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ModelFileError):
        SlowMean().set_callbacks(Checkpoint(path)).fit(X)
    assert path.exists()


def test_a_write_that_fails_leaves_the_last_whole_checkpoint_and_the_fit_alone(tmp_path, monkeypatch):
    path = tmp_path / "c"
    interrupt(SlowMean(), path, 5)
    content = path.read_bytes()

    def crash(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.warns(UserWarning, match="no space left"):
        interrupt(SlowMean(), path, 2)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["c"]
    with pytest.warns(UserWarning, match="the fit goes on"):
        model = SlowMean().set_callbacks(Checkpoint(path, 0)).fit(X)
    assert np.array_equal(model.mean_, SlowMean().fit(X).mean_)


def test_a_missing_folder_is_said_before_the_work(tmp_path):
    with pytest.raises(ModelFileError, match="lies in no folder"):
        SlowMean().set_callbacks(Checkpoint(tmp_path / "no" / "c")).fit(X)


def test_two_fits_do_not_share_a_path(tmp_path):
    path = tmp_path / "c"
    checkpoint = Checkpoint(path, every_seconds=0)
    assert checkpoint.restore(SlowMean(), MemoryRows(X)) is None
    path.write_bytes(b"another fit's")
    with pytest.warns(UserWarning, match="belongs to another fit"):
        checkpoint.offer(lambda: None)
    checkpoint.clear()
    assert path.read_bytes() == b"another fit's"


class Setting:
    """A parameter that is an object."""

    def __init__(self, strength):
        self.strength = strength


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.int64(3), np.int64(5)),
        (np.float32(0.1), np.float32(0.2)),
        ([1, 2], [1, 3]),
        ({"a": 1}, {"a": 2}),
        (Setting(0.001), Setting(10.0)),
        (np.random.default_rng(0), np.random.default_rng(1)),
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x: np.sin(x), lambda x: np.cos(x)),
        (lambda x: [one + 1 for one in x], lambda x: [one + 2 for one in x]),
        (lambda x: sorted(x, key=lambda one: one.real), lambda x: sorted(x, key=lambda one: one.imag)),
        (np.add, np.subtract),
        ({1, 2}, {1, 3}),
    ],
)
def test_values_of_parameters_are_told_apart(one, other):
    assert digest_of(one) != digest_of(other)
    assert digest_of(one) == digest_of(copy.deepcopy(one))


def test_numbers_that_a_function_finds_in_its_module_count(monkeypatch):
    monkeypatch.setitem(globals(), "STRENGTH", 1.0)
    one = digest_of(strong)
    assert digest_of(strong) == one
    monkeypatch.setitem(globals(), "STRENGTH", 2.0)
    assert digest_of(strong) != one


def strong(x):
    """A parameter that is a function and looks at a number beside it."""
    return STRENGTH * x  # noqa: F821


def test_every_row_weight_and_length_counts():
    whole = np.arange(10_000.0).reshape(5_000, 2)
    base = MemoryRows(whole, np.zeros(5000), np.ones(5000)).digest()
    for place in (0, 1, 777, 4999):
        moved = whole.copy()
        moved[place, 1] += 1e-9
        y, weight = np.zeros(5000), np.ones(5000)
        y[place] = weight[place] = 2.0
        assert MemoryRows(moved, np.zeros(5000), np.ones(5000)).digest() != base
        assert MemoryRows(whole, y, np.ones(5000)).digest() != base
        assert MemoryRows(whole, np.zeros(5000), weight).digest() != base
    lengths = [MemoryRows(whole, lengths=np.array(one)).digest() for one in ([5000], [2000, 3000])]
    assert lengths[0] != lengths[1]
    assert MemoryRows(whole.copy(), np.zeros(5000), np.ones(5000)).digest() == base


def test_rows_of_a_table_are_all_looked_at(tmp_path):
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for file, last in zip(files, (1.0, 2.0)):
        pq.write_table(pa.table({"a": np.append(np.zeros(3000), last)}), file)
    assert TableRows(files[0]).digest() != TableRows(files[1]).digest()
    assert TableRows(files[0]).digest() == TableRows(str(files[0])).digest()


def test_nonsense_arguments():
    with pytest.raises(ValueError, match="seconds > 0; got -1"):
        TimeBudget(-1)
    with pytest.raises(ValueError, match="must not be negative; got -2"):
        Checkpoint("x", -2)


def test_stop_from_another_thread_ends_the_fit_after_its_step():
    stop, seen = StopRequest(), []

    class Watcher(TimeBudget):
        def on_fit_task_end(self, estimator, context):
            seen.append(len(seen))
            if len(seen) == 3:
                asking = threading.Thread(target=stop.set)
                asking.start()
                asking.join()
            return False

    model = SlowMean(max_iter=1000, tol=0).set_callbacks(Watcher(60), stop)
    model.fit(X)
    assert model.n_iter_ == 3 and not model.converged_
    stop.clear()
    assert SlowMean().set_callbacks(stop).fit(X).converged_


def test_log_has_the_columns_of_the_trace_while_the_fit_runs(tmp_path):
    path, lengths = tmp_path / "fit.jsonl", []

    class Watcher(TimeBudget):
        def on_fit_task_end(self, estimator, context):
            lengths.append(len(path.read_text().splitlines()))
            return False

    model = SlowMean(max_iter=5, tol=0).set_callbacks(TraceLog(path), Watcher(60))
    model.fit(X)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["objective"] for row in rows] == model.trace_.objective.tolist()
    assert [row["seconds"] for row in rows] == model.trace_.seconds.tolist()
    assert lengths[:5] == [1, 2, 3, 4, 5]


def test_log_tells_which_start(tmp_path):
    path = tmp_path / "fit.jsonl"
    X = np.random.default_rng(0).normal(size=(60, 2))
    KMeans(3, n_init=2, random_state=0).set_callbacks(TraceLog(path)).fit(X)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert {row["start"] for row in rows} == {0, 1}


def test_log_without_a_folder_is_refused_before_the_work(tmp_path):
    model = SlowMean().set_callbacks(TraceLog(tmp_path / "nowhere" / "fit.jsonl"))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        model.fit(X)


@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_verbose_prints_a_line_after_every_step_and_nothing_else_is_printed(capsys):
    X = np.random.default_rng(0).normal(size=(40, 2))
    quiet = GaussianMixture(2, random_state=0, tol=1e-9, max_iter=12).fit(X)
    assert capsys.readouterr().out == ""
    GaussianMixture(2, random_state=0, tol=1e-9, max_iter=12, verbose=1, verbose_interval=5).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["Iteration 5", "Iteration 10"]
    assert float(lines[1].split("objective = ")[1].split(",")[0]) == pytest.approx(quiet.trace_[9], rel=1e-7)
