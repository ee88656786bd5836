"""Entropy, impurity and gain: the numbers of the chapter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnomon.core.errors import DataError
from gnomon.datasets import load_restaurant
from gnomon.distributions import conditional_entropy, entropy
from gnomon.trees import (
    DecisionTreeClassifier,
    gain_curve,
    gain_ratio,
    impurity,
    information_gain,
    specific_conditional_entropy,
    split_improvement,
)
from gnomon.trees.information import contingency

WEATHER = np.array([[0.24, 0.01], [0.25, 0.50]])
tables = arrays(np.float64, (3, 4), elements=st.floats(0.01, 10))


def test_entropies_of_four_distributions():
    found = [entropy(p, base=2) for p in ([8 / 9, 1 / 9], [4 / 9, 5 / 9], [0.5, 0.5], [1.0, 0.0])]
    assert found == pytest.approx([0.5032583, 0.9910761, 1.0, 0.0], abs=1e-6)


def test_weather_table():
    assert entropy(WEATHER, base=2) == pytest.approx(1.5605730, abs=1e-6)
    assert entropy(WEATHER.sum(axis=1), base=2) == pytest.approx(0.8112781, abs=1e-6)
    assert entropy(WEATHER.sum(axis=0), base=2) == pytest.approx(0.9997114, abs=1e-6)
    assert specific_conditional_entropy(WEATHER, 0) == pytest.approx(0.2422922, abs=1e-6)
    assert specific_conditional_entropy(WEATHER, 1) == pytest.approx(0.9182958, abs=1e-6)
    assert conditional_entropy(WEATHER, given=0, base=2) == pytest.approx(0.7492949, abs=1e-6)
    assert conditional_entropy(WEATHER, given=1, base=2) == pytest.approx(0.5608616, abs=1e-6)
    assert information_gain(WEATHER) == pytest.approx(0.2504165, abs=1e-6)
    assert gain_ratio(WEATHER) == pytest.approx(0.3086691, abs=1e-6)


def test_seven_examples_two_splits():
    assert impurity([2, 5], "entropy") == pytest.approx(0.8631206, abs=1e-6)
    expected = {"entropy": (0.0059777, 0.1695844), "gini": (0.0034014, 0.0653061), "error": (0.0, 0.0)}
    for criterion, (b, a) in expected.items():
        assert split_improvement([2, 5], [1, 3], [1, 2], criterion=criterion) == pytest.approx(b, abs=1e-6)
        assert split_improvement([2, 5], [0, 2], [2, 3], criterion=criterion) == pytest.approx(a, abs=1e-6)


def test_impurities_of_three_classes():
    found = [impurity([1, 50, 50], name) for name in ("gini", "entropy", "error")]
    assert found == pytest.approx([0.5097539, 1.0702351, 0.5049505], abs=1e-6)


def test_restaurant_gains():
    visits = load_restaurant()
    found = [information_gain(visits.data[name].astype(str), visits.target) for name in visits.feature_names]
    expected = [0, 0, 0.0207208, 0.1957096, 0.5408521, 0.1957096, 0.0207208, 0.0207208, 0, 0.2075187]
    assert found == pytest.approx(expected, abs=1e-6)


def test_best_grouping_of_four_categories():
    X = np.repeat(np.arange(4.0), 10)[:, None]
    y = np.concatenate([[1] * k + [0] * (10 - k) for k in (3, 8, 5, 9)])
    model = DecisionTreeClassifier(max_depth=1, categorical_features=[0]).fit(X, y)
    left = model.apply(np.arange(4.0)[:, None]) == 1
    assert left[0] == left[2] != left[1] == left[3]
    assert model.tree_.gain[0] / 40 == pytest.approx(0.10125)


@given(tables)
def test_entropy_laws(P):
    P = P / P.sum()
    rows, columns = P.sum(axis=1), P.sum(axis=0)
    assert 0 <= entropy(rows, 2) <= np.log2(3) + 1e-12
    assert entropy(P.ravel(), 2) == pytest.approx(entropy(rows, 2) + conditional_entropy(P, 0, 2), abs=1e-12)
    assert conditional_entropy(P, 0, 2) <= entropy(columns, 2) + 1e-12
    assert information_gain(P) == pytest.approx(information_gain(P.T), abs=1e-10)
    assert information_gain(np.outer(rows, columns)) == pytest.approx(0, abs=1e-10)


def test_gain_of_a_variable_with_itself_is_its_entropy():
    x = np.array([0, 0, 1, 2, 2, 2])
    assert information_gain(x, x) == pytest.approx(impurity([2, 1, 3], "entropy"))


def test_gain_ratio_without_a_split_is_zero():
    assert gain_ratio([[1.0, 2.0]]) == 0.0
    assert np.isnan(specific_conditional_entropy([[0, 0], [1, 1]], 0))


def test_negative_tables_are_refused():
    with pytest.raises(DataError, match="not negative"):
        information_gain([[1, -1], [1, 1]])
    with pytest.raises(DataError, match="counts"):
        impurity([0, 0])


@given(arrays(np.float64, 3, elements=st.integers(0, 9)), arrays(np.float64, 3, elements=st.integers(0, 9)))
def test_gini_and_entropy_never_lose(left, right):
    if left.sum() == 0 or right.sum() == 0:
        return
    for criterion in ("gini", "entropy"):
        gain = split_improvement(left + right, left, right, criterion=criterion)
        assert gain >= -1e-12
        same = np.allclose(left / left.sum(), right / right.sum())
        assert (gain < 1e-12) == same


def test_gain_curve_of_eight_points():
    curve = gain_curve(np.arange(1.0, 9)[:, None], [0, 0, 1, 0, 1, 1, 0, 1])
    expected = [0.0714286, 0.1666667, 0.0333333, 0.125, 0.0333333, 0, 0.0714286]
    assert curve.gains == pytest.approx(expected, abs=1e-6)
    assert curve.thresholds == pytest.approx(np.arange(1.5, 8))


def test_contingency_counts_weights():
    assert contingency([0, 0, 1], [1, 1, 0], [1, 2, 4]).tolist() == [[0, 3], [4, 0]]
