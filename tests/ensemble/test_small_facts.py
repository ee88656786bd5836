"""Small facts of ensembles: correlation by pairs, nothing to ask, targets of counts, an image of one window."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.core.errors import DataError, DivergenceError
from gnomon.datasets import make_face_patches
from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    CascadeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    ObjectDetector,
    RandomForestClassifier,
    RandomForestRegressor,
    average_variance,
    ensemble_correlation,
)
from gnomon.trees import DecisionTreeClassifier

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("members", [2, 3, 5])
def test_correlation_is_the_mean_covariance_of_pairs_over_the_variance(members):
    P = RNG.normal(size=(7, members, 4)) + RNG.normal(size=(7, 1, 4))
    gap = P - P.mean(axis=0)
    pairs = np.mean([(gap[:, a] * gap[:, b]).mean() for a, b in combinations(range(members), 2)])
    found = ensemble_correlation(P)
    assert found.variance == pytest.approx((gap**2).mean())
    assert found.limit == pytest.approx(pairs)
    assert found.correlation == pytest.approx(pairs / (gap**2).mean())
    average = (gap.mean(axis=1) ** 2).mean()  # ρσ² + (1 - ρ)σ²/m
    assert average == pytest.approx(found.limit + (found.variance - found.limit) / members)


def test_members_that_never_vary_are_alike():
    found = ensemble_correlation(np.ones((3, 2, 4)))
    assert found == (1.0, 0.0, 0.0)
    for shape in ((1, 2, 3), (2, 1, 3), (2, 2)):
        with pytest.raises(DataError, match="repeats, members, places"):
            ensemble_correlation(np.zeros(shape))


@pytest.mark.parametrize(
    "Forest", [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]
)
def test_a_forest_of_leaves_finds_no_column_important(Forest):
    model = Forest(n_estimators=3, random_state=0).fit(RNG.normal(size=(12, 3)), np.ones(12))
    assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0]
    split = Forest(n_estimators=3, random_state=0).fit(np.arange(12.0)[:, None], np.arange(12) // 6)
    assert split.feature_importances_.tolist() == [1.0]


@pytest.mark.parametrize("Forest", [RandomForestRegressor, ExtraTreesRegressor])
def test_counts_are_not_negative_and_some_are_not_zero(Forest):
    X = np.arange(8.0)[:, None]
    forest = Forest(n_estimators=2, criterion="poisson", random_state=0)
    for y in (np.r_[-1.0, np.ones(7)], np.zeros(8)):
        with pytest.raises(DataError, match="not negative and not all zero"):
            forest.fit(X, y)
    assert (forest.fit(X, np.r_[np.zeros(7), 3.0]).predict(X) >= 0).all()


def test_committees_of_three_classes_count_half_log_odds_plus_half_of_log_two():
    X, y = np.arange(9.0)[:, None], np.array([0, 0, 1, 0, 1, 1, 2, 2, 1])
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    e = model.estimator_errors_
    np.testing.assert_allclose(model.estimator_weights_, np.log((1 - e) / e) + np.log(2), rtol=1e-12)
    np.testing.assert_allclose(model.alphas_, model.estimator_weights_ / 2)


def test_an_image_as_large_as_the_window_is_one_window():
    X, y = make_face_patches(120, window=8, random_state=0)
    cascade = CascadeClassifier(window=8, max_stages=1, max_rounds=5).fit(X, y)
    detector = ObjectDetector(cascade, min_neighbors=1)
    passed = X[cascade.predict(X) == cascade.classes_[1]]
    boxes, scores = detector.detect(passed[0])
    assert boxes.tolist() == [[0, 0, 8, 8]] and len(scores) == 1
    assert len(detector.detect(passed[0][:7])[0]) == len(detector.detect(passed[0][:, :7])[0]) == 0


def test_importances_of_boosting_are_shares_of_the_gains():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (3 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=80) > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    gains = np.zeros(3)
    for round_ in model.rounds_:
        for tree in round_:
            for node in range(tree.node_count):
                if tree.feature[node] >= 0:
                    gains[tree.feature[node]] += tree.gain[node]
    assert_allclose(model.feature_importances_, gains / gains.sum())
    assert model.feature_importances_[0] > model.feature_importances_[1] > model.feature_importances_[2]
    flat = GradientBoostingClassifier(n_estimators=2).fit(np.ones((6, 2)), [0, 1] * 3)
    assert flat.feature_importances_.tolist() == [0, 0]


def test_a_split_gains_the_squares_that_it_removes_and_a_leaf_nothing():
    """Rows 0, 0, 3, 9 about their means: 54 whole, 6 for the first three, 0 for the first two."""
    X, y = np.arange(4.0)[:, None], np.array([0.0, 0, 3, 9])
    model = HistGradientBoostingRegressor(max_iter=1, max_depth=2, min_samples_leaf=1).fit(X, y)
    ((tree,),) = model.rounds_
    assert tree.threshold[:2].tolist() == [2.5, 1.5]
    assert_allclose(tree.gain, [48, 6, 0, 0, 0], atol=1e-12)


def test_one_score_of_one_row_beyond_the_numbers_is_a_divergence():
    """Leaves answer with 1/p of their class, at most 10 here, or -1/(1 - p): 1e308 is a number, 2e308 is none."""
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1, 2], [6, 3, 1])
    model = GradientBoostingClassifier(n_estimators=1, learning_rate=1e307, max_depth=2)
    with np.errstate(all="ignore"):
        far = model.fit(X, y).decision_function(X)
        assert_allclose(far[0] / 1e307, [1 / 0.6, -1 / 0.7, -1 / 0.9])
        assert_allclose(far[9] / 1e307, [-1 / 0.4, -1 / 0.7, 1 / 0.1])
        with pytest.raises(DivergenceError, match="in round 1"):
            model.set_params(learning_rate=2e307).fit(X, y)


def test_intervals_of_one_leaf_are_quantiles_of_all_targets():
    X, y = np.arange(5.0)[:, None], np.array([3.0, 1, 5, 2, 4])
    forest = RandomForestRegressor(3, bootstrap=False, min_samples_split=10, keep_leaves=True).fit(X, y)
    for level, wanted in ((0.9, (1, 5)), (0.5, (2, 4)), (0.1, (3, 3))):
        assert np.ravel(forest.predict_interval([[0.0]], level)).tolist() == list(wanted)


def test_correlations_of_members_are_bounded_below():
    assert average_variance(1.0, -1 / 9, 10) == pytest.approx(0, abs=1e-12)
    assert average_variance(4.0, -0.5, 3) == pytest.approx(0, abs=1e-12)
    assert average_variance(2.0, -5.0, 1) == 2.0  # one member is correlated with none
    for rho, m in ((-0.5 - 1e-9, 3), (1 + 1e-9, 3), (0.5, 0)):
        with pytest.raises(DataError, match="rho must lie between"):
            average_variance(1.0, rho, m)


def test_the_first_members_of_a_bag_decide_together():
    X = RNG.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.7 * RNG.normal(size=60) > 0, "b", "a")
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0).fit(X, y)
    shares = np.cumsum([member.predict_proba(X) for member in model.estimators_], axis=0)
    stages = list(model.staged_predict(X))
    assert len(stages) == 5
    for said, total in zip(stages, shares, strict=True):
        assert said.tolist() == model.classes_[total.argmax(axis=1)].tolist()
    assert stages[-1].tolist() == model.predict(X).tolist()
