"""Parameters that change how a fit goes and what it says on the way, but not what is learned."""

import numpy as np
import pytest

from compare import assert_same_bits
from contract.discovery import SUBJECTS

COPIES = ("copy", "copy_X", "copy_x", "copy_X_train")


def with_parameter(*names):
    """One case for every class and name, in the first setting where the class has it."""
    cases = {}
    for subject in SUBJECTS:
        for name in names:
            if name in subject.make().get_params(deep=False):
                cases.setdefault((subject.cls.__name__, name), subject)
    return pytest.mark.parametrize(
        "name, subject",
        [(name, subject) for (_, name), subject in cases.items()],
        ids=[f"{cls}-{name}" for cls, name in cases],
    )


def answers(subject, data, **changes):
    return subject.answers(subject.fit(data, **changes), data.X, data.lengths)


@with_parameter(*COPIES)
def test_rows_of_the_caller_are_never_changed(subject, name):
    data = subject.data()
    before = np.array(data.X, copy=True)
    copied = answers(subject, data, **{name: True})
    kept = answers(subject, data, **{name: False})
    np.testing.assert_array_equal(data.X, before)
    for method in copied:
        assert_same_bits(kept[method], copied[method])


@with_parameter("n_jobs")
def test_two_jobs_learn_what_one_learns(subject, name):
    data = subject.data()
    alone, shared = answers(subject, data, n_jobs=1), answers(subject, data, n_jobs=2)
    for method in alone:
        assert_same_bits(shared[method], alone[method])


@with_parameter("verbose")
def test_a_fit_that_tells_of_itself_learns_the_same(subject, name, capsys):
    data, often = subject.data(), {}
    if hasattr(subject.make(), "verbose_interval"):
        often = {"verbose_interval": 1}
    quiet = answers(subject, data, verbose=0, **often)
    assert capsys.readouterr() == ("", "")
    told = answers(subject, data, verbose=1, **often)
    assert capsys.readouterr() != ("", "")
    for method in quiet:
        assert_same_bits(told[method], quiet[method])
