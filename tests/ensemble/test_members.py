"""Members of committees: their seeds, what they are given, and what is asked of them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from gnomon.core.errors import DataError
from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    VotingClassifier,
    VotingRegressor,
)
from gnomon.trees import DecisionTreeClassifier


def table(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


class Listener(ClassifierMixin, BaseEstimator):
    """Answers the first class and remembers what it was given."""

    heard: list = []

    def fit(self, X, y, sample_weight=None, note=None):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        Listener.heard.append(("fit", X, sample_weight, note))
        return self

    def predict(self, X, note=None):
        Listener.heard.append(("predict", note))
        return np.full(X.shape[0], self.classes_[0])


class Plain(ClassifierMixin, BaseEstimator):
    """Takes no weights."""

    def fit(self, X, y):
        self.classes_, self.kind_ = np.unique(y), type(X)
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.classes_[0])


class Kept(LogisticRegression):
    """Remembers the type of its rows."""

    def fit(self, X, y, sample_weight=None):
        self.kind_ = type(X)
        return super().fit(X, y, sample_weight=sample_weight)


@pytest.mark.parametrize("bootstrap", [False, True])
def test_a_tree_of_a_forest_comes_again_from_its_seed_and_sample(bootstrap):
    X, y = table()
    for forest in (
        RandomForestClassifier(4, max_features=0.5, bootstrap=bootstrap, random_state=0).fit(X, y),
        ExtraTreesRegressor(4, max_features=0.5, bootstrap=bootstrap, random_state=0).fit(X, y),
    ):
        for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
            again = clone(tree).fit(X[rows], y[rows])
            np.testing.assert_array_equal(again.tree_.feature, tree.tree_.feature)
            np.testing.assert_allclose(again.tree_.value, tree.tree_.value)
        seeds = [tree.random_state for tree in forest]
        assert len(set(seeds)) == 4 and forest[2].random_state == seeds[2]


def test_the_seeds_of_the_first_trees_do_not_depend_on_how_many_follow():
    X, y = table()
    few, many = (RandomForestClassifier(k, random_state=0).fit(X, y) for k in (2, 5))
    assert [t.random_state for t in few] == [t.random_state for t in many][:2]


def test_weighted_members_see_all_rows_and_how_often_each_was_drawn():
    X, y = table(20)
    weight = np.zeros(20)
    weight[[4, 15]] = 1.0, 2.0
    Listener.heard.clear()
    model = BaggingClassifier(Listener(), max_samples=10, n_estimators=3, random_state=0).fit(X, y, weight)
    counts = [np.bincount(sample, minlength=20).tolist() for sample in model.estimators_samples_]
    assert sorted(counts) == sorted(drawn.tolist() for _, _, drawn, _ in Listener.heard)  # side by side
    assert all(np.array_equal(rows, X) for _, rows, _, _ in Listener.heard)
    assert all(set(sample) <= {4, 15} and len(sample) == 10 for sample in model.estimators_samples_)


def test_metadata_reach_the_members_that_ask():
    X, y = table(20)
    with config_context(enable_metadata_routing=True):
        asks = Listener().set_fit_request(note=True, sample_weight=False).set_predict_request(note=True)
        Listener.heard.clear()
        VotingClassifier([("a", asks), ("b", LogisticRegression())]).fit(X, y, note="hello")
        assert [heard[3] for heard in Listener.heard] == ["hello"]
        Listener.heard.clear()
        notes = np.arange(20)
        model = BaggingClassifier(asks, n_estimators=2, random_state=0).fit(X, y, note=notes)
        assert sorted(map(sorted, model.estimators_samples_)) == sorted(
            list(note) for *_, note in Listener.heard
        )
        for _, rows, _, note in Listener.heard:  # side by side: in any order
            np.testing.assert_array_equal(rows, X[note])
        Listener.heard.clear()
        model.predict(X, note="again")
        assert Listener.heard == [("predict", "again")] * 2
        with pytest.raises(TypeError, match="note"):
            VotingClassifier([("b", LogisticRegression())]).fit(X, y, note="hello")
    for model in (VotingClassifier([("a", Listener())]), BaggingClassifier(Listener())):
        with pytest.raises(DataError, match="enable_metadata_routing=True"):
            model.fit(X, y, note="hello")


def test_missing_values_are_left_to_the_members():
    X, y = table()
    X[::7, 0] = np.nan
    pipe = make_pipeline(SimpleImputer(), LogisticRegression())
    assert VotingClassifier([("pipe", pipe)]).fit(X, y).predict(X).shape == (60,)
    assert BaggingClassifier(pipe, n_estimators=2).fit(X, y).predict(X).shape == (60,)
    for model in (VotingClassifier([("a", LogisticRegression())]), BaggingClassifier(LogisticRegression())):
        with pytest.raises(ValueError, match="NaN"):
            model.fit(X, y)


def test_members_that_do_not_belong_are_named():
    X, y = table(20)
    with pytest.raises(DataError, match="'line'.*should be a classifier"):
        VotingClassifier([("line", LinearRegression())]).fit(X, y)
    with pytest.raises(DataError, match="'tree'.*should be a regressor"):
        VotingRegressor([("tree", DecisionTreeClassifier())]).fit(X, y)
    with pytest.raises(DataError, match="names"):
        VotingClassifier([(3, LogisticRegression())]).fit(X, y)
    with pytest.raises(TypeError, match="Plain.*does not support sample weights"):
        VotingClassifier([("plain", Plain())]).fit(X, y, np.ones(20))
    with pytest.raises(DataError, match="Plain doesn't support sample_weight"):
        AdaBoostClassifier(Plain()).fit(X, y)


def test_dropped_members_keep_their_place():
    X, y = table(20)
    model = VotingClassifier([("a", LogisticRegression()), ("b", "drop")]).fit(X, y)
    assert list(model.named_estimators_) == ["a", "b"]
    assert model.named_estimators_["b"] == "drop" and model.named_estimators_.a is model.estimators_[0]


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array", "lil_matrix"])
def test_weak_learners_get_sparse_rows_in_the_format_given(kind):
    X, y = table()
    model = AdaBoostClassifier(Kept(), n_estimators=2).fit(getattr(sparse, kind)(X), y)
    same = kind if kind[:3] in ("csr", "csc") else "csr" + kind[3:]
    assert all(member.kind_ is getattr(sparse, same) for member in model.estimators_)
    dense = AdaBoostClassifier(Kept(), n_estimators=2).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), dense.decision_function(X), rtol=1e-5)


def test_weights_that_leave_the_numbers_end_boosting():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    with pytest.warns(UserWarning, match="learning_rate"):
        model = AdaBoostClassifier(n_estimators=50, learning_rate=3e3).fit(X, y)
    assert len(model.estimators_) < 50
    assert np.isfinite(model.sample_weights_).all() and np.isfinite(model.predict_proba(X)).all()


def test_members_of_a_committee_are_parameters_by_name():
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier

    model = VotingClassifier([("nb", GaussianNB()), ("near", KNeighborsClassifier(3))])
    assert model.get_params()["near__n_neighbors"] == 3 and "near" not in model.get_params(deep=False)
    model.set_params(near__n_neighbors=5, nb="drop")
    assert model.estimators[0] == ("nb", "drop") and model.estimators[1][1].n_neighbors == 5
    model.set_params(estimators=[("a", GaussianNB()), ("b", GaussianNB())], b=KNeighborsClassifier(1))
    assert model.get_params()["b__n_neighbors"] == 1


@pytest.mark.parametrize(
    ("names", "words"),
    [(("a", "a"), "not unique"), (("a", "weights"), "conflict"), (("a", "b__c"), "must not contain __")],
)
def test_names_of_members_are_checked(names, words):
    from sklearn.naive_bayes import GaussianNB

    with pytest.raises(ValueError, match=words):
        VotingClassifier([(name, GaussianNB()) for name in names]).fit([[0.0], [1.0]], [0, 1])
