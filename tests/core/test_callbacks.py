"""Checkpoints: a killed fit goes on with the same bits, and no file is mistaken for another's."""

import os

import numpy as np
import pytest

from core.learners import CertifiedMean, SlowMean
from gnomon.core.callbacks import Checkpoint, TimeBudget
from gnomon.core.errors import ModelFileError

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


def test_crash_while_writing_leaves_the_last_whole_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "c"
    interrupt(SlowMean(), path, 5)
    content = path.read_bytes()

    def crash(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(OSError, match="no space left"):
        SlowMean().set_callbacks(Checkpoint(path, 0)).fit(X)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["c"]


def test_nonsense_arguments():
    with pytest.raises(ValueError, match="seconds > 0; got -1"):
        TimeBudget(-1)
    with pytest.raises(ValueError, match="must not be negative; got -2"):
        Checkpoint("x", -2)
