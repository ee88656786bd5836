"""All of scikit-learn's own checks, none of them expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from contract.discovery import SUBJECTS

# scikit-learn makes its own data, so the settings go in as they are: no recipe of ours gets in between.


@parametrize_with_checks([subject.make() for subject in SUBJECTS])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn(estimator, check):
    check(estimator)
