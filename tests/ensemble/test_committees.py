"""Bootstrap, bagging, forests, voting, averaging."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.linear_model import LinearRegression, LogisticRegression

from gnomon.core.errors import DataError
from gnomon.core.threads import threads
from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
    average_variance,
    ensemble_correlation,
    ensemble_experiment,
    hypothesis_space_demo,
)
from gnomon.ensemble.sampling import content_order, draw_counts, make_pool
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor

FOREST = (RandomForestClassifier, ExtraTreesClassifier)


class Says:
    """A fitted member with given probabilities."""

    def __init__(self, p):
        self.p, self.classes_, self.n_features_in_ = np.asarray(p), np.array([0, 1]), 1

    def predict_proba(self, X):
        return np.column_stack([1 - self.p, self.p])

    def predict(self, X):
        return (self.p > 0.5).astype(int)


def test_soft_and_hard_votes_by_hand():
    members = [Says([0.9, 0.2, 0.5]), Says([0.4, 0.6, 0.5]), Says([0.4, 0.55, 0.5])]
    X = np.zeros((3, 1))
    soft = VotingClassifier.from_fitted(members, voting="soft")
    assert soft.predict_proba(X)[:, 1] == pytest.approx([0.5666667, 0.45, 0.5], abs=1e-6)
    assert soft.predict(X).tolist() == [1, 0, 0]
    assert VotingClassifier.from_fitted(members).predict(X).tolist() == [0, 1, 0]


def test_chance_of_missing_a_bootstrap():
    for n, expected in ((10, 0.3486784), (100, 0.3660323), (1000, 0.3676954)):
        assert (1 - 1 / n) ** n == pytest.approx(expected, abs=1e-6)
    pool = make_pool(np.arange(1000.0)[:, None], None, np.ones(1000))
    missed = np.mean([np.mean(draw_counts(pool, 1000, np.random.default_rng(s)) == 0) for s in range(50)])
    assert missed == pytest.approx(0.3677, abs=0.005)


def test_draws_do_not_see_repetition_or_order():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(30, 2)), rng.integers(1, 4, 30)
    order = rng.permutation(30)
    a = draw_counts(make_pool(X, None, w.astype(float)), 60, np.random.default_rng(1))
    b = draw_counts(make_pool(X[order], None, w[order].astype(float)), 60, np.random.default_rng(1))
    whole = np.repeat(X, w, axis=0)
    c = draw_counts(make_pool(whole, None, np.ones(len(whole))), 60, np.random.default_rng(1))
    assert np.array_equal(a[order], b)
    assert np.array_equal(a, np.bincount(np.repeat(np.arange(30), w), weights=c))


def test_weights_are_draw_probabilities():
    X, w = np.arange(3.0)[:, None], np.array([0.1, 0.3, 0.6])
    total = sum(draw_counts(make_pool(X, None, w), 300, np.random.default_rng(s)) for s in range(30))
    assert total / 9000 == pytest.approx(w, abs=0.02)


def test_one_member_without_bootstrap_is_the_base():
    X, y = load_iris(return_X_y=True)
    bag = BaggingClassifier(n_estimators=1, bootstrap=False).fit(X, y)
    assert np.array_equal(bag.predict_proba(X), DecisionTreeClassifier().fit(X, y).predict_proba(X))


def test_bagging_is_the_mean_of_its_members():
    X, y = make_friedman1(100, random_state=0)
    bag = BaggingRegressor(n_estimators=7, random_state=0).fit(X, y)
    each = np.array([m.predict(X) for m in bag.estimators_])
    assert bag.predict(X) == pytest.approx(each.mean(axis=0))
    assert np.array(list(bag.staged_predict(X)))[2] == pytest.approx(each[:3].mean(axis=0))
    assert bag.predict_distribution(X).std() == pytest.approx(each.std(axis=0))


def test_soft_equals_hard_for_sure_members():
    X, y = load_iris(return_X_y=True)
    soft = BaggingClassifier(n_estimators=9, random_state=0).fit(X, y)
    hard = BaggingClassifier(n_estimators=9, random_state=0, voting="hard").fit(X, y)
    assert np.array_equal(soft.predict_proba(X), hard.predict_proba(X))
    assert np.array_equal(hard.votes(X) / 9, hard.predict_proba(X))


def test_bagging_takes_any_estimator():
    X, y = make_classification(200, 5, random_state=0)
    assert BaggingClassifier(LogisticRegression(), n_estimators=5).fit(X, y).score(X, y) > 0.8
    X, y = make_friedman1(200, random_state=0)
    assert BaggingRegressor(LinearRegression(), n_estimators=5).fit(X, y).score(X, y) > 0.6


def test_out_of_bag_uses_only_members_that_did_not_see_the_row():
    X, y = make_classification(60, 4, random_state=0)
    bag = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    seen = np.array([np.isin(np.arange(60), rows) for rows in bag.estimators_samples_])
    row = 7
    expected = np.mean(
        [m.predict_proba(X[[row]])[0] for m, s in zip(bag.estimators_, seen[:, row]) if not s], axis=0
    )
    assert bag.oob_decision_function_[row] == pytest.approx(expected)
    with pytest.warns(UserWarning, match="in every bag"):
        BaggingClassifier(n_estimators=1, oob_score=True, random_state=0).fit(X, y)
    with pytest.raises(DataError, match="oob_score"):
        BaggingClassifier(bootstrap=False, oob_score=True).fit(X, y)


def test_forest_of_all_features_is_bagged_trees():
    X, y = make_classification(120, 5, random_state=0)
    forest = RandomForestClassifier(6, max_features=None, random_state=3).fit(X, y)
    bag = BaggingClassifier(DecisionTreeClassifier(), 6, random_state=3).fit(X, y)
    for ours, theirs in zip(forest.trees_, bag.estimators_):
        assert np.array_equal(ours.threshold, theirs.tree_.threshold)
        assert np.array_equal(ours.value, theirs.tree_.value)


@pytest.mark.parametrize("Forest", [*FOREST, RandomForestRegressor, ExtraTreesRegressor])
def test_threads_and_warm_starts_change_nothing(Forest):
    X, y = make_classification(300, 6, random_state=0)
    with threads(1):
        one = Forest(12, random_state=0).fit(X, y)
    many = Forest(12, random_state=0, n_jobs=4).fit(X, y)
    grown = Forest(5, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=12).fit(X, y)
    for other in (many, grown):
        assert np.array_equal(one.predict(X), other.predict(X))
        assert len(other.trees_) == 12


@pytest.mark.parametrize("Forest", FOREST)
def test_forest_weight_two_is_the_row_twice(Forest):
    X, y = make_classification(60, 4, random_state=0)
    w = np.random.default_rng(0).integers(1, 4, 60)
    a = Forest(5, random_state=0).fit(X, y, w).predict_proba(X)
    b = Forest(5, random_state=0).fit(np.repeat(X, w, axis=0), np.repeat(y, w)).predict_proba(X)
    assert np.array_equal(a, b)


def test_forest_out_of_bag_and_trace():
    X, y = make_classification(300, 6, random_state=0)
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, y)
    held = RandomForestClassifier(60, random_state=0).fit(X[:150], y[:150]).score(X[150:], y[150:])
    assert forest.oob_score_ == pytest.approx(held, abs=0.08)
    assert np.asarray(forest.trace_)[-1] == pytest.approx(1 - forest.oob_score_)
    numbers = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, y)
    assert numbers.oob_prediction_.shape == (300,)
    with pytest.raises(DataError, match="oob_score"):
        RandomForestClassifier(bootstrap=False, oob_score=True).fit(X, y)
    with pytest.raises(DataError, match="max_samples"):
        RandomForestClassifier(bootstrap=False, max_samples=5).fit(X, y)


def test_subset_per_tree_uses_few_features():
    X, y = make_classification(200, 9, n_informative=5, random_state=0)
    forest = RandomForestClassifier(8, feature_subset="tree", max_features=2, random_state=0).fit(X, y)
    assert all(len(np.unique(t.feature[t.feature >= 0])) <= 2 for t in forest.trees_)
    assert forest.score(X, y) > 0.7


def test_importances_find_the_signal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 2] > 0).astype(int)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    assert forest.feature_importances_.argmax() == 2
    assert forest.feature_importances_.sum() == pytest.approx(1)
    found = forest.permutation_importances(X, y, random_state=0)
    assert found.importances_mean.argmax() == 2


def test_proximity_and_intervals():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (300, 1))
    y = X[:, 0] + rng.normal(0, 0.2, 300)
    forest = RandomForestRegressor(30, min_samples_leaf=20, keep_leaves=True, random_state=0).fit(X, y)
    near = forest.proximity(X[:10])
    assert np.allclose(np.diag(near), 1) and np.allclose(near, near.T)
    low, high = forest.predict_interval(X, 0.9)
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.9, abs=0.05)
    assert (forest.predict_distribution(X).std() > 0).all()
    with pytest.raises(DataError, match="keep_leaves"):
        RandomForestRegressor(3).fit(X, y).predict_interval(X)


def test_forest_iterates_tree_by_tree():
    X, y = load_iris(return_X_y=True)
    sizes = [len(m.trees_) for m in RandomForestClassifier(4, random_state=0).iterate(X, y)]
    assert sizes == [1, 2, 3, 4]


def test_forest_features_are_drawn_for_every_split():
    X, y = make_classification(500, 8, n_informative=8, n_redundant=0, random_state=0)
    forest = RandomForestClassifier(1, max_features=1, bootstrap=False, random_state=0).fit(X, y)
    assert len(np.unique(forest.trees_[0].feature[forest.trees_[0].feature >= 0])) == 8


def test_member_correlation_falls_with_max_features():
    rng = np.random.default_rng(0)
    grid = rng.normal(size=(40, 4))
    found = []
    for m in (1, 4):
        P = np.empty((15, 6, 40))
        for r in range(15):
            X = np.random.default_rng(r).normal(size=(80, 4))
            y = X.sum(axis=1) + np.random.default_rng(r + 99).normal(size=80)
            forest = RandomForestRegressor(6, max_features=m, random_state=r).fit(X, y)
            P[r] = [t.predict(grid) for t in forest.estimators_]
        found.append(ensemble_correlation(P).correlation)
    assert found[0] < found[1]


def test_the_order_of_rows_by_content_is_that_of_sparse_rows_and_knows_one_zero():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(40, 5)))
    y = rng.normal(size=40)
    order = content_order(X, y)
    stored = sparse.csr_array(X)
    stored.data[::3] = np.where(rng.random(len(stored.data[::3])) < 0.5, 0.0, -0.0)
    dense = stored.toarray()
    negative = np.where(dense == 0.0, -0.0, dense)
    assert content_order(sparse.csr_array(X), y).tolist() == order.tolist()
    for rows in (stored, negative):
        assert content_order(rows, y).tolist() == content_order(dense, y).tolist()
    shuffle = rng.permutation(40)
    assert shuffle[content_order(X[shuffle], y[shuffle])].tolist() == order.tolist()


def test_margins_are_positive_where_the_committee_is_right():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0, "yes", "no")
    model = AdaBoostClassifier(n_estimators=9).fit(X, y)
    margins = model.margins(X, y)
    np.testing.assert_array_equal(margins > 0, model.predict(X) == y)
    votes = [np.where(stump.predict(X) == y, 1.0, -1.0) for stump in model.estimators_]
    np.testing.assert_allclose(margins, model.alphas_ @ votes / np.abs(model.alphas_).sum(), atol=1e-12)


def test_one_fitted_model_is_a_committee():
    X, y = np.array([[0.0], [1], [2], [3]]), np.array(["a", "a", "b", "b"])
    alone = DecisionTreeClassifier().fit(X, y)
    committee = VotingClassifier.from_fitted([alone])
    assert committee.predict(X).tolist() == y.tolist() and committee.classes_.tolist() == ["a", "b"]


def test_averaging_lowers_variance_and_keeps_bias():
    def make_data(rng):
        x = rng.uniform(0, 1, (60, 1))
        return x, np.sin(6 * x[:, 0]) + rng.normal(0, 0.4, 60)

    grid = np.linspace(0.1, 0.9, 15)[:, None]
    found = ensemble_experiment(
        make_data, DecisionTreeRegressor(), grid, np.sin(6 * grid[:, 0]), n_repeats=40, random_state=0
    )
    assert found.variance_average < 0.7 * found.variance_single
    assert found.bias2_average < found.bias2_single + 0.02


@pytest.mark.parametrize("bootstrap", [True, False])
def test_bias_and_variance_of_single_models_and_averages_by_definition(bootstrap):
    said = []

    class Mean(RegressorMixin, BaseEstimator):
        """Says the mean of its rows, times the place."""

        def fit(self, X, y):
            self.mean_ = y.mean()
            return self

        def predict(self, X):
            said.append(self.mean_ * X[:, 0])
            return said[-1]

    drawn = []

    def make_data(rng):
        drawn.append(rng.normal(3.0, 1.0, 20))
        return np.zeros((20, 1)), drawn[-1]

    grid, truth = np.array([[1.0], [2.0], [5.0]]), np.array([3.5, 6.0, 14.0])
    found = ensemble_experiment(
        make_data, Mean(), grid, truth, n_repeats=6, n_models=4, bootstrap=bootstrap, random_state=0
    )
    assert len(drawn) == (6 if bootstrap else 24)
    P = np.array(said).reshape(6, 4, 3)
    one, average = P[:, 0], P.mean(axis=1)
    for table, bias2, variance in (
        (one, found.bias2_single, found.variance_single),
        (average, found.bias2_average, found.variance_average),
    ):
        assert bias2 == pytest.approx(np.mean([(table[:, j].mean() - truth[j]) ** 2 for j in range(3)]))
        assert variance == pytest.approx(np.mean([table[:, j].var() for j in range(3)]))
    assert found.correlation == ensemble_correlation(P).correlation
    if bootstrap:
        assert len({round(value, 9) for value in P[0, :, 0]}) == 4  # members see bags of the same rows
    else:
        assert P[:, :, 0].ravel() == pytest.approx([y.mean() for y in drawn])


def test_averages_leave_the_class_of_their_members():
    slopes, average = hypothesis_space_demo(n_models=2000, random_state=0)
    assert set(slopes) == {-1.0, 1.0}
    assert abs(average) < 0.1


def test_voting_regressor_is_a_weighted_mean():
    X, y = make_friedman1(50, random_state=0)
    members = [("a", DecisionTreeRegressor(max_depth=2)), ("b", LinearRegression())]
    model = VotingRegressor(members, weights=[1, 3]).fit(X, y)
    parts = model.transform(X)
    assert model.predict(X) == pytest.approx((parts[:, 0] + 3 * parts[:, 1]) / 4)


@pytest.mark.parity
def test_forest_as_exact_as_scikit_learn():
    from sklearn.ensemble import RandomForestClassifier as Peer

    X, y = make_classification(3000, 15, n_informative=8, random_state=0)
    gaps = []
    for seed in range(3):
        ours = RandomForestClassifier(40, random_state=seed).fit(X[:1500], y[:1500])
        peer = Peer(40, random_state=seed).fit(X[:1500], y[:1500])
        gaps.append(ours.score(X[1500:], y[1500:]) - peer.score(X[1500:], y[1500:]))
    assert np.mean(gaps) > -0.012


def test_variance_of_averages():
    cases = [
        ((1, 0, 10), 0.1),
        ((1, 0.5, 10), 0.55),
        ((1, 0.5, 100), 0.505),
        ((1, 1, 7), 1),
        ((1, 0.2, 25), 0.232),
    ]
    for arguments, expected in cases:
        assert average_variance(*arguments) == pytest.approx(expected)
    with pytest.raises(DataError, match="rho"):
        average_variance(1, -0.5, 10)
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=(20_000, 1)), rng.normal(size=(20_000, 5))
    mean = (np.sqrt(0.3) * shared + np.sqrt(0.7) * own).mean(axis=1)
    assert mean.var() == pytest.approx(average_variance(1, 0.3, 5), rel=0.05)
