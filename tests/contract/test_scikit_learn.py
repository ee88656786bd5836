"""All of scikit-learn's own checks, none of them expected to fail."""

from functools import partial

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from contract.discovery import SUBJECTS


def checks(subject):
    """The checks of one estimator; when there can be none, a check that says why."""
    try:
        return list(estimator_checks_generator(subject.make()))
    except Exception as error:
        return [(subject.make(), partial(refused, error))]


def refused(error, estimator):
    raise error


def name(check):
    return getattr(check, "func", check).__name__


@pytest.mark.parametrize(
    "estimator, check",
    [
        pytest.param(estimator, check, id=f"{subject}-{name(check)}")
        for subject in SUBJECTS
        for estimator, check in checks(subject)
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn(estimator, check):
    check(estimator)
