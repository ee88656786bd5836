"""Small facts of choosing and judging: the ends of ranges, intervals by hand, the least data."""

import warnings

import numpy as np
import pytest
from scipy import stats

from gnomon.core.errors import DataError
from gnomon.linear import LinearRegression
from gnomon.selection import (
    LockedTestSet,
    auc_interval,
    criteria_table,
    information_criteria,
    winner_bias,
)


@pytest.mark.parametrize(
    ("n", "aicc"), [(4, 24 + 12), (3, np.inf), (2, np.inf), (1, np.inf), (14, 25.0909091)]
)
def test_the_correction_of_aic_ends_where_rows_do(n, aicc):
    found = information_criteria(-10.0, 2, n)
    assert found.aic == 24.0 and found.aicc == pytest.approx(aicc)
    assert found.bic == pytest.approx(20 + 2 * np.log(n))
    assert found.mdl == pytest.approx((10 + np.log(n)) / np.log(2))
    half = information_criteria(-10.0, 2, n, convention="halved")
    assert half[:3] == pytest.approx([value / 2 for value in found[:3]]) and half.mdl == found.mdl


def test_without_free_numbers_all_criteria_are_the_likelihood():
    found = information_criteria(-3.0, 0, 5)
    assert found[:3] == (6.0, 6.0, 6.0) and found.mdl == pytest.approx(3 / np.log(2))


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_the_winner_of_few_by_counting_all_outcomes(p):
    for candidates, rows in ((1, 1), (1, 4), (2, 1), (3, 2)):
        shares = np.arange(rows + 1) / rows
        chances = stats.binom.pmf(np.arange(rows + 1), rows, p)
        tables = np.meshgrid(*[np.arange(rows + 1)] * candidates)
        chance = np.prod([chances[one] for one in tables], axis=0)
        best = np.max([shares[one] for one in tables], axis=0)
        found = winner_bias(candidates, rows, p)
        assert found.expected_best == pytest.approx((chance * best).sum())
        assert found.optimism == pytest.approx((chance * best).sum() - p)
        assert found.expected_perfect == pytest.approx(candidates * p**rows)
        assert found.any_perfect == pytest.approx(chance[best == 1.0].sum())


def test_a_likelihood_of_residuals_is_the_normal_one_of_their_spread():
    sk = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    rest = y - sk.LinearRegression().fit(X, y).predict(X)
    wanted = stats.norm.logpdf(rest, scale=np.sqrt(np.mean(rest**2))).sum()
    table = criteria_table([LinearRegression().fit(X, y)], X, y)
    assert table["log_likelihood"].iloc[0] == pytest.approx(wanted)


def test_the_interval_of_an_area_by_all_pairs():
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    s = np.array([0.1, 0.4, 0.35, 0.8, 0.4, 0.9, 0.7])
    above = (s[y == 1][:, None] > s[y == 0]) + 0.5 * (s[y == 1][:, None] == s[y == 0])
    A = above.mean()
    error = np.sqrt(above.mean(axis=1).var(ddof=1) / 3 + above.mean(axis=0).var(ddof=1) / 4)
    z = stats.norm.ppf(0.9)
    plain = auc_interval(y, s, level=0.8)
    assert plain == pytest.approx((A, A - z * error, min(1.0, A + z * error), error))
    logit = auc_interval(y, s, method="logit", level=0.8)
    center, half = np.log(A / (1 - A)), z * error / (A * (1 - A))
    ends = [1 / (1 + np.exp(-center - side * half)) for side in (-1, 1)]
    assert logit == pytest.approx((A, *ends, error))
    assert auc_interval(y, s, level=0.9999).high == 1.0 and auc_interval(1 - y, s, level=0.9999).low == 0.0


def test_test_data_may_be_opened_once_and_each_spare_once():
    locked = LockedTestSet(np.arange(3.0)[:, None], [7, 8, 9], n_spares=2)
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            seen += locked.open()[1].tolist()
            assert locked.next_spare() is locked and locked.uses == 0
        seen += locked.open()[1].tolist()
    assert seen == [7, 8, 9] and locked.spares == 0
    for spares in (-1, 3):
        with pytest.raises(DataError, match="between 0 and 2"):
            LockedTestSet(np.arange(3.0)[:, None], n_spares=spares)
