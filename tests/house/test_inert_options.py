"""Options that are there for comfort change no bit of what is learned, and rows are never written to."""

import inspect

import numpy as np
import pytest

from contract.discovery import LEARNERS, SUBJECTS

COMFORTS = {
    "verbose": 1,
    "verbose_interval": 1,
    "n_jobs": 2,
    "copy": False,
    "copy_x": False,
    "copy_X": False,
    "copy_X_train": False,
    "cache_size": 1,
    "shrinking": False,
    "implementation": "scaling",
}
FIRST = {subject.cls: subject for subject in reversed(SUBJECTS)}  # the first setting of every class


def comforts_of(cls):
    return {name: value for name, value in COMFORTS.items() if name in inspect.signature(cls).parameters}


COMFORTABLE = [subject for subject in FIRST.values() if comforts_of(subject.cls)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("subject", COMFORTABLE, ids=[subject.cls.__name__ for subject in COMFORTABLE])
def test_comfort_changes_nothing(subject, capsys):
    data = subject.data()
    before = np.array(data.X, copy=True)
    chosen = comforts_of(subject.cls)
    plain = subject.answers(subject.fit(data), data.X, data.lengths)
    capsys.readouterr()
    other = subject.fit(data, **chosen)
    said = capsys.readouterr()
    found = subject.answers(other, data.X, data.lengths)
    assert found.keys() == plain.keys() and plain
    for name in plain:
        np.testing.assert_array_equal(found[name], plain[name], err_msg=name)
    np.testing.assert_array_equal(data.X, before)
    if "verbose" in chosen and subject in LEARNERS and hasattr(other, "trace_"):
        assert len(said.out.splitlines()) >= len(other.trace_), "a line a step"
