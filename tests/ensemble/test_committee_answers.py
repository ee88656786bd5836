"""Answers of committees: probabilities by their formula, rules by their order, one class, sparse members, last rows."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags

from gnomon.core.errors import DataError
from gnomon.datasets import make_face_patches
from gnomon.ensemble import (
    AdaBoostClassifier,
    CascadeClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HaarFeatures,
    HistGradientBoostingRegressor,
    ObjectDetector,
    VotingClassifier,
)
from gnomon.trees import DecisionTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
TWO = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
THREE = np.digitize(X[:, 0] + RNG.normal(size=60), [-0.5, 0.5])


def test_probabilities_of_two_classes_are_the_logistic_of_twice_the_sum():
    model = AdaBoostClassifier(n_estimators=4).fit(X, TWO)
    F = model.decision_function(X)
    assert (F > 0).any() and (F < 0).any()
    np.testing.assert_allclose(
        model.predict_proba(X), np.column_stack([expit(-2 * F), expit(2 * F)]), atol=1e-12
    )
    np.testing.assert_allclose(list(model.staged_predict_proba(X))[-1], model.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    sign = np.where(TWO == 1, 1, -1)
    np.testing.assert_allclose(model.margins(X, TWO), sign * F / np.abs(model.alphas_).sum(), atol=1e-12)
    assert np.abs(model.margins(X, TWO)).max() <= 1 + 1e-12


def test_probabilities_of_three_classes_are_a_softmax_of_half_the_votes():
    model = AdaBoostClassifier(n_estimators=4).fit(X, THREE)
    odds = np.exp(model.decision_function(X) / 2)
    np.testing.assert_allclose(model.predict_proba(X), odds / odds.sum(1, keepdims=True), atol=1e-12)
    assert list(model.staged_score(X, THREE))[-1] == np.mean(model.predict(X) == THREE)


def test_one_class_is_sure():
    model = AdaBoostClassifier(n_estimators=3).fit(X, np.full(60, 7))
    assert set(model.predict(X)) == {7}
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((60, 1)))


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_rules_are_those_of_the_largest_steps(kind):
    model = kind(n_estimators=3, max_depth=2).fit(X, TWO)
    steps = sorted(
        (abs(v) for [tree] in model.rounds_ for v in tree.value[tree.feature < 0, 0, 0]), reverse=True
    )
    assert len(steps) > 10
    assert len(model.to_rules()) == 10
    for top in (1, 3, len(steps), len(steps) + 5):
        assert len(model.to_rules(top=top)) == min(top, len(steps))
    largest = [
        m + 1 for m, [tree] in enumerate(model.rounds_) if np.isclose(np.abs(tree.value).max(), steps[0])
    ]
    assert model.to_rules(top=1)[0].startswith(f"round {largest[0]}: ")
    assert model.to_rules(top=4) == model.to_rules(top=9)[:4]


@pytest.mark.parametrize(("names", "sparse"), [("ll", True), ("lk", False), ("kl", False), ("kk", False)])
def test_sparse_rows_are_for_all_members(names, sparse):
    class Dense(DecisionTreeClassifier):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.sparse = False
            return tags

    members = [(f"m{i}", LogisticRegression() if c == "l" else Dense()) for i, c in enumerate(names)]
    assert get_tags(VotingClassifier(members)).input_tags.sparse is sparse


def test_a_cascade_goes_on_with_two_negatives_and_stops_with_one():
    rows, y = make_face_patches(60, window=8, random_state=0)
    faces, others = rows[y == 1], rows[y == 0]
    for kept in (2, 3):
        few = np.concatenate([faces, others[:kept]])
        labels = np.repeat([1, 0], [len(faces), kept])
        model = CascadeClassifier(window=8, max_stages=2, target_false_positive=1e-12).fit(few, labels)
        left = model.survivors(others[:kept]).sum(axis=1)
        assert len(model.stages_) == (2 if left[0] >= 2 else 1)


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, HistGradientBoostingRegressor])
def test_stages_of_numbers_add_up_the_trees(kind):
    y = X[:, 0] ** 2 + X[:, 1]
    model = kind(random_state=0).set_params(
        **({"n_estimators": 4} if "Hist" not in kind.__name__ else {"max_iter": 4})
    )
    stages = list(model.fit(X, y).staged_predict(X))
    total = np.full(len(X), float(np.ravel(model.start_)[0]))
    assert len(stages) == len(model.rounds_) == 4
    for found, [tree] in zip(stages, model.rounds_, strict=True):
        total += tree.value[tree.apply(X), 0, 0]
        np.testing.assert_allclose(found, total)
    np.testing.assert_allclose(model.predict(X), total)


@pytest.mark.parametrize("scale", [1.25, 1.5, 2.0])
def test_rectangles_of_larger_windows_keep_their_share_of_the_area(scale, monkeypatch):
    """The sum over a rectangle counts as if its area had grown exactly with the window, whatever was rounded."""
    rows, y = make_face_patches(60, window=8, random_state=0)
    cascade = CascadeClassifier(window=8, max_stages=1).fit(rows, y)
    given = []
    monkeypatch.setattr("gnomon.ensemble.detector.scan_windows", lambda *args: given.append(args) or 0)
    ObjectDetector(cascade, scale_factor=scale).detect(np.zeros((round(8 * scale) + 1,) * 2))
    size, boxes = given[1][3], given[1][5]
    before = np.concatenate([stage.boxes for stage in cascade.stages_])
    assert size == round(8 * scale)
    assert (boxes[..., :2] == np.round(before[..., :2] * scale)).all()
    assert (boxes[..., :2] + boxes[..., 2:4] <= size).all()
    used = before[..., 4] != 0
    share = boxes[..., 2] * boxes[..., 3] * boxes[..., 4] / size**2
    expected = before[..., 2] * before[..., 3] * before[..., 4] / 8**2
    np.testing.assert_allclose(share[used], expected[used])
    np.testing.assert_array_equal(given[0][5][used], before[used])  # the first is as large as the window


@pytest.mark.parametrize(("shift", "groups"), [(2, 1), (3, 2), (4, 2), (7, 2), (9, 2)])
def test_boxes_are_one_group_above_two_fifths_of_their_union(shift, groups):
    """Windows of 7 by 7 that lie d apart share (7 - d) / (7 + d) of their union: just 0.4 for d = 3."""
    found = np.array([[5.0, 6.0, 7.0, 1.0], [5.0 + shift, 6.0, 7.0, 2.0]])
    for boxes in (found, found[:, [1, 0, 2, 3]]):
        merged, scores = ObjectDetector(None, min_neighbors=1)._merge(boxes)
        assert len(merged) == len(scores) == groups
        assert scores.max() == 2.0
        expected = boxes[:, :2].mean(axis=0) if groups == 1 else boxes[1, :2]
        np.testing.assert_allclose(merged[0], [*expected, 7, 7])


@pytest.mark.parametrize("y", [TWO, THREE])
def test_the_loss_is_the_mean_of_what_votes_count(y):
    """Of K classes a right vote counts exp(-(K - 1) α / K), a wrong one exp(α / K)."""
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    K = y.max() + 1
    each, losses = np.ones(len(y)), []
    for member, alpha in zip(
        model.estimators_, (2 * model.alphas_ if K == 2 else model.estimator_weights_), strict=True
    ):
        right = member.predict(X) == y
        each *= np.exp(np.where(right, -(K - 1) / K, 1 / K) * alpha)
        losses.append(each.mean())
    np.testing.assert_allclose(model.trace_.objective, losses)


def test_every_rectangle_feature_is_the_sum_under_its_drawing():
    image = RNG.normal(size=(3, 6, 6))
    haar = HaarFeatures(6)
    values = haar.transform(image, normalize=False)
    assert values.shape == (3, haar.n_features_)
    twin = np.transpose([(haar.draw(f) * image).sum(axis=(1, 2)) for f in range(haar.n_features_)])
    np.testing.assert_allclose(values, twin, atol=1e-9)


def test_too_few_directions_for_the_columns_are_refused():
    given = np.column_stack([X, RNG.integers(0, 3, 60)])
    model = HistGradientBoostingRegressor(max_iter=1, categorical_features=[2], monotonic_cst=[1, 0])
    with pytest.raises(DataError):
        model.fit(given, X[:, 0])
