"""A fit that is killed goes on from its checkpoint and ends with the same bits."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from compare import assert_same_bits
from contract.discovery import LEARNERS
from contract.test_promises import learned
from contract.test_watching import Watcher
from gnomon.core.callbacks import Checkpoint
from gnomon.core.errors import ModelFileError
from gnomon.core.saving import load

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# name -> how to make it, so that it takes several steps and several starts
MODELS = {
    "KMeans": "gnomon.cluster.KMeans(8, init='random', n_init=3, tol=0, random_state=5)",
    "GaussianMixture": "gnomon.mixture.GaussianMixture(4, n_init=2, max_iter=10, random_state=5)",
}

SCRIPT = """
import os, signal, sys, warnings
import numpy as np
import gnomon, gnomon.core.callbacks
warnings.simplefilter("ignore")

class Killer(gnomon.core.callbacks.TimeBudget):
    steps = 0
    def on_fit_task_end(self, estimator, context):
        self.steps += context.max_subtasks == 0
        if self.steps == {kill}:
            os.kill(os.getpid(), signal.SIGKILL)

X = np.random.default_rng(1).normal(size=(1500, 3))
model = {model}
model.set_callbacks(gnomon.core.callbacks.Checkpoint({checkpoint!r}, every_seconds=0), Killer(1e9)).fit(X)
gnomon.save(model, {path!r})
"""


def run(model, kill, checkpoint, path):
    code = textwrap.dedent(SCRIPT).format(model=model, kill=kill, checkpoint=str(checkpoint), path=str(path))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name, kill", [("KMeans", 2), ("KMeans", 9), ("GaussianMixture", 6)])
def test_killed_fit_goes_on(name, kill, tmp_path):
    checkpoint, path, undisturbed = (tmp_path / part for part in ("fit.checkpoint", "resumed", "undisturbed"))
    killed = run(MODELS[name], kill, checkpoint, path)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert checkpoint.exists() and not path.exists()
    resumed = run(MODELS[name], -1, checkpoint, path)
    assert resumed.returncode == 0, resumed.stderr
    assert not checkpoint.exists()
    whole = run(MODELS[name], -1, tmp_path / "other.checkpoint", undisturbed)
    assert whole.returncode == 0, whole.stderr
    assert_same_bits(learned(load(undisturbed)), learned(load(path)), name)


# Checkpoints that do not belong here


def interrupted(subject, data, path):
    """A checkpoint of a fit that was broken off after its first step."""
    model = subject.make().set_callbacks(Checkpoint(path, every_seconds=0), Watcher(raise_after=1))
    with pytest.raises(KeyboardInterrupt):
        subject.fit(data, model)
    return path.read_bytes()


def refused(subject, data, path, match, **changes):
    """A fit with a checkpoint that is not its own: refused, and the file left as it was."""
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match=match):
        subject.fit(data, subject.make(**changes).set_callbacks(Checkpoint(path, every_seconds=0)))
    assert path.read_bytes() == before


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_torn_checkpoint_is_refused(subject, tmp_path):
    data, path = subject.data(), tmp_path / "fit.checkpoint"
    whole = interrupted(subject, data, path)
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        refused(subject, data, path, "checkpoint|gnomon file|bytes")


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_checkpoint_of_other_data_is_refused(subject, tmp_path):
    path = tmp_path / "fit.checkpoint"
    interrupted(subject, subject.data(), path)
    refused(subject, subject.data(seed=8), path, "another fit.*data")


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_checkpoint_of_other_parameters_is_refused(subject, tmp_path):
    data, path = subject.data(), tmp_path / "fit.checkpoint"
    interrupted(subject, data, path)
    for name, value in subject.make().get_params(deep=False).items():
        if type(value) in (int, float) and value > 0:
            other = (value - 1 if value > 9 else value + 1) if type(value) is int else 0.9 * value
            return refused(subject, data, path, "another fit.*parameters", **{name: other})


def test_checkpoint_of_another_model_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    first, other = LEARNERS[1], LEARNERS[2]
    interrupted(first, first.data(), path)
    refused(other, other.data(), path, "another fit.*model")


def test_foreign_file_is_no_checkpoint(tmp_path):
    subject, path = LEARNERS[0], tmp_path / "notes.txt"
    path.write_text("do not lose this")
    refused(subject, subject.data(), path, "not a gnomon file")
    assert path.read_text() == "do not lose this"


def test_resumed_trace_counts_all_steps(tmp_path):
    subject, path = LEARNERS[0], tmp_path / "fit.checkpoint"
    data = subject.data()
    interrupted(subject, data, path)
    model = subject.fit(data, subject.make().set_callbacks(Checkpoint(path, every_seconds=0)))
    assert len(model.trace_) == model.n_iter_
    assert (np.diff(model.trace_.seconds) >= 0).all()
