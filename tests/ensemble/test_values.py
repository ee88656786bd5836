"""Options that few use, each against a twin that is obvious."""

import numpy as np
import pytest
from sklearn import ensemble as peers
from sklearn.datasets import load_iris

from gnomon.ensemble import (
    CascadeClassifier,
    GradientBoostingClassifier,
    ObjectDetector,
    RandomForestClassifier,
    RandomForestRegressor,
)
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor


@pytest.fixture(scope="module")
def uneven():
    """Two classes of 90 and 30 rows that overlap."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [90, 30])
    return rng.normal(size=(120, 3)) + y[:, None], y


def test_exponential_loss_boosts_as_the_peer(uneven):
    X, y = uneven
    options = {"loss": "exponential", "n_estimators": 4, "max_depth": 2, "learning_rate": 0.3}
    ours = GradientBoostingClassifier(**options).fit(X, y)
    peer = peers.GradientBoostingClassifier(**options).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-9)


def small_forest(**given):
    return RandomForestClassifier(
        3, bootstrap=False, random_state=0, **given
    )  # rows are drawn by their weight else


@pytest.mark.parametrize("make", [DecisionTreeClassifier, small_forest])
def test_balanced_classes_are_weights(make, uneven):
    X, y = uneven
    weight = len(y) / (2 * np.bincount(y)[y])
    balanced = make(max_depth=2, class_weight="balanced").fit(X, y)
    weighted = make(max_depth=2).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(balanced.predict_proba(X), weighted.predict_proba(X), atol=1e-12)
    plain = make(max_depth=2).fit(X, y)
    assert np.abs(balanced.predict_proba(X) - plain.predict_proba(X)).max() > 0.05


@pytest.mark.parametrize(
    ("forest", "tree"),
    [(RandomForestClassifier, DecisionTreeClassifier), (RandomForestRegressor, DecisionTreeRegressor)],
)
def test_a_forest_without_chance_prunes_as_its_tree(forest, tree, uneven):
    X, y = uneven
    whole = {"bootstrap": False, "max_features": None, "random_state": 0}
    one = tree(ccp_alpha=0.02).fit(X, y)
    assert 1 < one.get_n_leaves() < tree().fit(X, y).get_n_leaves()
    np.testing.assert_array_equal(forest(2, ccp_alpha=0.02, **whole).fit(X, y).predict(X), one.predict(X))
    assert [member.get_n_leaves() for member in forest(2, ccp_alpha=0.02, **whole).fit(X, y)] == [
        one.get_n_leaves()
    ] * 2


def test_categories_that_numbers_cannot_part():
    """Classes that follow no order of the codes: one split on groups of categories, below a split on a number."""
    rng = np.random.default_rng(0)
    codes, side = rng.integers(0, 6, 400), rng.normal(size=400)
    groups = np.array([[0, 1, 0, 1, 1, 0], [1, 1, 0, 0, 1, 0]])
    y = groups[(side > 0).astype(int), codes]
    X = np.column_stack([codes, side])
    model = DecisionTreeClassifier(max_depth=3, categorical_features=[0]).fit(X, y)
    assert model.score(X, y) == 1.0


def test_steps_of_the_detector_thin_the_windows(monkeypatch):
    from gnomon.datasets import make_face_patches

    X, y = make_face_patches(200, window=12, random_state=0)
    cascade = CascadeClassifier(window=12, max_stages=1, stage_false_positive=0.5).fit(X, y)
    image = np.zeros((40, 40))
    image[:12, :12] = image[12:24, 24:36] = np.mean(X[y == 1], axis=0)
    strides = []

    def scan(ii, ii2, window, size, stride, *rest):
        strides.append((size, stride))
        return 0

    monkeypatch.setattr("gnomon.ensemble.detector.scan_windows", scan)
    ObjectDetector(cascade, scale_factor=2.0, step=1.5).detect(image)
    assert strides == [(12, 2), (24, 3)]


def test_left_children_are_drawn_on_the_left():
    from gnomon import plot

    X, y = load_iris(return_X_y=True)
    ax = plot.tree(DecisionTreeClassifier(max_depth=1).fit(X[:, 2:3], y))
    answers = {text.get_text(): text.get_position()[0] for text in ax.texts}
    left = next(x for text, x in answers.items() if "<=" in text)
    right = next(x for text, x in answers.items() if ">" in text)
    assert left < right
