"""A tree shows its levels: every step is one, and nobody's watching changes a bit."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gnomon.core.callbacks import Checkpoint, TimeBudget
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor, levels
from gnomon.trees.levels import total_impurity
from killing import Killed


def problem(classes=True, holes=False):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=300)
    X[:, 3] = rng.integers(0, 5, size=300)
    if holes:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, (y > 0.5).astype(int) if classes else y


MODELS = {
    "gini": (DecisionTreeClassifier(random_state=0), problem()),
    "few features": (DecisionTreeClassifier(max_features=2, random_state=3, min_samples_leaf=2), problem()),
    "random": (DecisionTreeRegressor(splitter="random", random_state=1), problem(False, True)),
    "categories": (DecisionTreeRegressor(categorical_features=[3], min_samples_leaf=4), problem(False)),
    "pruned": (DecisionTreeClassifier(ccp_alpha=0.01), problem()),
    "bounded": (DecisionTreeClassifier(criterion="entropy", max_depth=3), problem(holes=True)),
}


AT_ONCE = {
    "best first": (DecisionTreeClassifier(max_leaf_nodes=9, random_state=0), problem()),
    "best first, pruned": (DecisionTreeRegressor(max_leaf_nodes=12, ccp_alpha=0.02), problem(False)),
    "best first, all": (DecisionTreeClassifier(growth="best_first", min_samples_leaf=20), problem()),
    "bins": (DecisionTreeRegressor(max_bins=16, min_samples_leaf=9), problem(False, True)),
    "monotone": (DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0], max_depth=4), problem(False)),
    "absolute error": (DecisionTreeRegressor(criterion="absolute_error", max_depth=4), problem(False)),
    "many branches": (
        DecisionTreeClassifier(split="multiway", categorical_features=[3], max_depth=3),
        problem(),
    ),
    "sparse": (DecisionTreeClassifier(max_depth=5, random_state=0), (csr_array(problem()[0]), problem()[1])),
}


def assert_same_tree(one, other):
    for name, a, b in zip(one.tree_._fields, one.tree_, other.tree_, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)
    np.testing.assert_array_equal(one.trace_.objective, other.trace_.objective)
    np.testing.assert_array_equal(one.trace_["leaves"], other.trace_["leaves"])
    assert one.n_iter_ == other.n_iter_


def watched(model, *callbacks):
    return model.__class__(**model.get_params()).set_callbacks(*(callbacks or (TimeBudget(1e9),)))


@pytest.mark.parametrize("name", MODELS)
def test_a_tree_that_is_watched_is_the_one_that_grows_unseen(name):
    model, data = MODELS[name]
    assert_same_tree(model.fit(*data), watched(model).fit(*data))


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_tree_that_is_grown_at_once_shows_its_steps(name, tmp_path):
    model, data = AT_ONCE[name]
    model.fit(*data)
    assert_same_tree(model, watched(model).fit(*data))
    by_splits = model.max_leaf_nodes is not None
    assert model.trace_.unit == ("split" if by_splits else "level")
    grown = watched(model).set_params(ccp_alpha=0.0).fit(*data).tree_
    assert model.n_iter_ == (grown.n_leaves - 1 if by_splits else grown.max_depth) > 2
    for step in range(1, model.n_iter_):  # a fit that ends early is the tree of a tighter limit
        found = watched(model, Stops(step)).fit(*data)
        bound = {"max_leaf_nodes": step + 1} if by_splits else {"max_depth": step}
        cut = watched(model).set_params(ccp_alpha=0.0, **bound).fit(*data)
        for field in ("feature", "threshold", "value", "split_order")[: 4 if by_splits else 3]:
            np.testing.assert_array_equal(getattr(found.tree_, field), getattr(cut.tree_, field))
        assert found.trace_["leaves"][-1] == model.trace_["leaves"][step - 1] == cut.get_n_leaves()
        impurity = pytest.approx(total_impurity(cut.tree_), rel=1e-9, abs=1e-12)
        assert found.trace_.objective[-1] == model.trace_.objective[step - 1] == impurity
    path = tmp_path / "tree"
    with pytest.raises(KeyboardInterrupt):
        watched(model, Checkpoint(path, every_seconds=0), Killed(2)).fit(*data)
    assert_same_tree(model, watched(model, Checkpoint(path, every_seconds=0)).fit(*data))


def test_large_nodes_are_split_by_all_threads(monkeypatch):
    model, data = MODELS["gini"]
    monkeypatch.setattr(levels, "LARGE_NODE", 20)
    assert_same_tree(model.fit(*data), watched(model).fit(*data))


def test_every_step_is_a_level():
    model, data = MODELS["gini"]
    model.fit(*data)
    assert model.n_iter_ == model.get_depth() == len(model.trace_) > 3
    assert model.trace_.unit == "level"
    for depth in range(1, model.n_iter_ + 1):
        cut = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(*data)
        assert model.trace_["leaves"][depth - 1] == cut.get_n_leaves()
        assert model.trace_.objective[depth - 1] == pytest.approx(
            total_impurity(cut.tree_), rel=1e-12, abs=1e-15
        )


def test_a_single_leaf_is_one_step():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [1, 1])
    assert model.n_iter_ == 1 and list(model.trace_["leaves"]) == [1.0]


class Stops:
    """Ends the fit after some level."""

    def __init__(self, after):
        self.after, self.seen = after, 0

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = lambda self, estimator, context: None

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.max_subtasks != 0:
            return False
        self.seen += 1
        return self.seen == self.after


class Announced:
    """Notes how many steps the fit announces."""

    def __init__(self):
        self.steps = []

    def setup(self, estimator, context):
        self.steps.append(context.max_subtasks)

    teardown = on_fit_task_begin = lambda self, estimator, context: None

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        return False


@pytest.mark.parametrize(
    ("name", "steps"),
    [("best first", 8), ("best first, pruned", 11), ("bounded", 3), ("many branches", 3), ("gini", None)],
)
def test_a_tree_announces_a_split_less_than_leaves_or_its_levels(name, steps):
    model, data = (MODELS | AT_ONCE)[name]
    seen = Announced()
    found = watched(model, seen).fit(*data)
    assert seen.steps == [steps] and (steps is None or found.n_iter_ <= steps)


def test_a_tree_stopped_after_two_levels_has_two():
    model, data = MODELS["gini"]
    found = watched(model, Stops(2)).fit(*data)
    cut = DecisionTreeClassifier(max_depth=2, random_state=0).fit(*data)
    np.testing.assert_array_equal(found.predict_proba(data[0]), cut.predict_proba(data[0]))
    assert found.get_depth() == 2


@pytest.mark.parametrize("name", ["few features", "categories", "pruned"])
def test_a_killed_tree_goes_on_without_a_second_search(name, tmp_path, monkeypatch):
    model, data = MODELS[name]
    searched, grow = [], levels.grow_subtree
    monkeypatch.setattr(levels, "grow_subtree", lambda *given: searched.append(given[6]) or grow(*given))
    with pytest.raises(KeyboardInterrupt):
        watched(model, Checkpoint(tmp_path / "tree", every_seconds=0), Killed(3)).fit(*data)
    searched.clear()
    resumed = watched(model, Checkpoint(tmp_path / "tree", every_seconds=0)).fit(*data)
    assert min(searched) == 3  # the depth of the first nodes that were still to be split
    assert_same_tree(model.fit(*data), resumed)


def test_a_tree_killed_after_its_last_level_is_pruned(tmp_path):
    model, data = MODELS["pruned"]
    model.fit(*data)
    with pytest.raises(KeyboardInterrupt):
        watched(model, Checkpoint(tmp_path / "tree", every_seconds=0), Killed(model.n_iter_)).fit(*data)
    assert_same_tree(model, watched(model, Checkpoint(tmp_path / "tree", every_seconds=0)).fit(*data))
