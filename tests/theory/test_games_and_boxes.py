"""Boxes counted one by one, games that are refused, margins with rows inside, and files with classes too many."""

from itertools import combinations, permutations

import numpy as np
import pytest

from gnomon import load, save
from gnomon.core.errors import DataError, ModelFileError
from gnomon.svm import SVC
from gnomon.theory import ConjunctionLearner, RectangleLearner, Rectangles, svm_capacity


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_boxes_shatter_two_points_an_axis(dim):
    boxes = Rectangles(dim)
    assert boxes.vc_dimension == 2 * dim
    assert boxes.growth(2 * dim) == 2 ** (2 * dim)
    cross = np.vstack([np.eye(dim), -np.eye(dim)])
    assert all(_is_boxed(cross, chosen) for chosen in _subsets(2 * dim))


@pytest.mark.parametrize("m", [5, 6])
def test_growth_in_the_plane_by_counting(m):
    """Over every order of the points along the second axis, the largest number of subsets that a box cuts out."""
    most = 0
    for order in permutations(range(m)):
        points = np.column_stack([np.arange(m), order])
        most = max(most, sum(_is_boxed(points, chosen) for chosen in _subsets(m)))
    assert Rectangles(2).growth(m) == most < 2**m
    assert Rectangles(2).growth(8) is None and Rectangles(3).growth(7) is None


def _subsets(m):
    return [list(chosen) for r in range(m + 1) for chosen in combinations(range(m), r)]


def _is_boxed(points, chosen):
    if not chosen:
        return True
    low, high = points[chosen].min(axis=0), points[chosen].max(axis=0)
    return ((points >= low) & (points <= high)).all(axis=1).sum() == len(chosen)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"m": 0}, "m and n_trials"),
        ({"m": 5, "n_trials": 0}, "m and n_trials"),
        ({"m": 5, "lower": (0.2,)}, "corners of one box"),
        ({"m": 5, "lower": (0.9, 0.2)}, "corners of one box"),
        ({"m": 5, "lower": [[0.2]], "upper": [[0.8]]}, "corners of one box"),
    ],
)
def test_games_that_cannot_be_played(wrong, words):
    with pytest.raises(DataError, match=words):
        RectangleLearner.game(**wrong)


def test_one_row_inside_the_margin_makes_it_soft():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0], [0.4]])
    y = np.array([0, 0, 1, 1, 1])
    hard = svm_capacity(SVC(kernel="linear", C=1e6, tol=1e-10).fit(X, y), X, y)
    assert hard.separates and hard.margin == pytest.approx(0.7, rel=1e-3)
    soft_model = SVC(kernel="linear", C=0.4, tol=1e-10).fit(X, y)
    inside = np.abs(soft_model.decision_function(X)) < 1 - 1e-3
    assert 0 < inside.sum() < 5 and (soft_model.predict(X) == y).all()
    assert not svm_capacity(soft_model, X, y).separates


@pytest.mark.parametrize(
    "learner", [RectangleLearner(), ConjunctionLearner()], ids=lambda one: type(one).__name__
)
def test_files_with_another_number_of_classes_are_refused(learner, tmp_path):
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 0, 0])
    model = learner.fit(X, y)
    save(model, tmp_path / "good.gnomon")
    assert (load(tmp_path / "good.gnomon").predict(X) == model.predict(X)).all()
    for classes in (np.array([0]), np.array([0, 1, 2])):
        model.classes_ = classes
        save(model, tmp_path / "model.gnomon")
        with pytest.raises(ModelFileError, match="another number"):
            load(tmp_path / "model.gnomon")
