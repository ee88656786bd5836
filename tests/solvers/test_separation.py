"""Planes and circles between two classes, points common to their hulls, and least slack: by hand on few rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.solvers.separation import (
    circle_between,
    common_point,
    least_slack,
    quasi_separable,
    soft_plane,
    widest_plane,
)


def line(*x):
    return np.array(x, dtype=float)[:, None]


def signs(*s):
    return np.array(s, dtype=float)


MIXED = line(0, 1, 2), signs(1, -1, 1)


@pytest.mark.parametrize(
    ("X", "s", "origin", "expected"),
    [
        (line(0, 1, 2, 3), signs(-1, -1, 1, 1), False, True),
        (line(0, 1, 2, 3), signs(-1, 1, -1, 1), False, False),
        (line(0, 1, 1, 2), signs(-1, -1, 1, 1), False, True),  # two rows lie on the border
        (line(1, 1), signs(-1, 1), False, False),  # all do
        (line(1, 2), signs(1, 1), True, True),
        (line(1, -1), signs(1, 1), True, False),
        (line(1, -1), signs(1, 1), False, True),
        (1e8 * line(1, 1.5, 2), signs(1, -1, -1), False, True),
        (np.c_[line(0, 1, 2, 3), np.zeros(4)], signs(-1, 1, -1, 1), False, False),
    ],
)
def test_one_side_holds_all_of_a_class(X, s, origin, expected):
    assert quasi_separable(X, s, origin=origin) is expected


def test_widest_planes_by_hand():
    w, b, t = widest_plane(line(0, 1), signs(-1, 1), False)  # t ≤ −b, t ≤ w + b, w ≤ 1
    assert_allclose([w[0], b, t], [1, -0.5, 0.5], atol=1e-9)
    w, b, t = widest_plane(line(-0.2, 0.3), signs(-1, 1), True)
    assert_allclose([w[0], b, t], [1, 0, 0.2], atol=1e-9)
    assert widest_plane(line(0, 10), signs(-1, 1), False)[2] == pytest.approx(1)
    assert widest_plane(*MIXED, False)[2] == pytest.approx(0, abs=1e-9)
    far = widest_plane(line(1000, 1001), signs(-1, 1), False)
    assert_allclose([far[0][0], far[1], far[2]], [1, -1000.5, 0.5], atol=1e-6)
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(30, 3)), np.repeat([1.0, -1.0], 15)
    X[:15] += 4
    w, b, t = widest_plane(X, s, False)
    assert t > 0.1
    assert (s * (X @ w + b) >= t - 1e-9).all()


def test_points_common_to_both_hulls():
    assert_allclose(common_point(line(0, 2, 1), signs(1, 1, -1), False), [0.25, 0.25, 0.5], atol=1e-8)
    assert_allclose(common_point(line(1, -3), signs(1, 1), True), [0.75, 0.25], atol=1e-8)
    square = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]])
    assert_allclose(common_point(square, signs(1, 1, -1, -1), False), 0.25, atol=1e-8)


def test_least_slack_by_hand():
    X, s = MIXED
    rows = s[:, None] * np.c_[X, np.ones(3)]
    # half the first, the second and half the last inequality add up to: slack ≥ 2, which w = 0, b = 1 attains
    assert least_slack(rows) == pytest.approx(2)
    assert least_slack(np.array([[0.0, -1.0], [1.0, 1.0]])) == pytest.approx(0, abs=1e-9)


def test_rows_that_no_plane_parts_are_the_core():
    X, s = line(0, 1, 2, 9), signs(1, -1, 1, 1)
    rows = s[:, None] * np.c_[X, np.ones(4)]
    theta, core = soft_plane(rows, np.array([], dtype=int), 0.0)
    assert core[:2].tolist() == [1, 1] and core[2:].sum() == 1  # one of those beyond the second
    assert np.maximum(0, 1 - rows @ theta).sum() == pytest.approx(2)
    for given_up in (1, 0):
        theta, core = soft_plane(rows, np.array([given_up]), 3.0)
        assert not core.any()
        assert (np.delete(rows, given_up, axis=0) @ theta >= 3 - 1e-9).all()


def test_circles_around_one_class():
    inner, outer = np.array([[1.0, 1.0], [1.5, 1.0]]), np.array([[4.0, 1.0], [-2, 1], [1, 4], [1, -2]])
    X, s = np.vstack([inner, outer]), signs(1, 1, -1, -1, -1, -1)
    center, radius = circle_between(X, s, 1e-9)
    gaps = np.linalg.norm(X - center, axis=1)
    assert (gaps[:2] < radius).all() and (gaps[2:] > radius).all()
    squares = s * (radius**2 - gaps**2)
    assert squares.min() > 1
    assert circle_between(line(0, 1, 2, 3), signs(1, -1, 1, -1), 1e-9) is None
    center, radius = circle_between(line(0, 2, 3, 5), signs(-1, 1, 1, -1), 1e-9)
    assert abs(2 - center[0]) < radius < abs(0 - center[0])
    assert abs(3 - center[0]) < radius < abs(5 - center[0])


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_scale_of_a_column_does_not_matter(size, sign):
    from gnomon.solvers.separation import quasi_separable

    X = sign * size * np.array([[1.0], [2.0], [3.0]])
    assert quasi_separable(X, np.ones(3), origin=True)
    assert not quasi_separable(X, np.array([1.0, -1, 1]), origin=True)
    assert quasi_separable(np.column_stack([X, np.zeros(3)]), np.array([1.0, -1, -1]))
    assert not quasi_separable(X, np.array([1.0, -1, 1]))
