"""Cells of an arrangement: every pattern with a witness that has it, as many as there can be; bounds for arrays."""

from math import comb

import numpy as np
import pytest

from gnomon.theory import ConjunctionLearner, HalfSpaces
from gnomon.theory.arrangement import cells
from gnomon.theory.regions import _clearest


def pattern(vectors, w):
    return sum(1 << i for i, v in enumerate(vectors) if sum(a * b for a, b in zip(v, w, strict=True)) > 0)


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_every_witness_has_its_pattern(dim):
    rng = np.random.default_rng(dim)
    for m in range(6):
        vectors = [tuple(int(x) for x in rng.integers(-9, 10, dim)) for _ in range(m)]
        vectors = [v if any(v) else (1,) * dim for v in vectors]
        found = cells(vectors, dim)
        for key, w in found.items():
            assert len(w) == dim and pattern(vectors, w) == key
            assert all(sum(a * b for a, b in zip(v, w, strict=True)) != 0 for v in vectors)
        several = {pattern(vectors, w) for w in rng.normal(size=(4000, dim))}
        assert several <= set(found)
        assert all(((1 << m) - 1) ^ key in found for key in found)  # −w has the opposite pattern


def test_as_many_cells_as_cover_says():
    rng = np.random.default_rng(0)
    for dim, m in [(2, 5), (3, 5), (3, 7), (4, 6)]:
        vectors = [tuple(int(x) for x in rng.integers(-99, 100, dim)) for _ in range(m)]
        assert len(cells(vectors, dim)) == 2 * sum(comb(m - 1, k) for k in range(dim))


def test_cells_of_nothing_and_of_a_vector_without_direction():
    assert cells([(0, 0)], 2) == {} and cells([(1, 2), (0, 0)], 2) == {}
    assert cells([], 0) == {0: ()} and cells([], 2) == {0: (1, 0)}
    assert cells([(3,), (-1,)], 1) == {1: (1,), 2: (-1,)}
    assert cells([(2, -1)], 2) == {1: (2, -1), 0: (-2, 1)}


def test_the_clearest_weights_have_the_largest_margin():
    vectors, labels = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1, 0])
    assert _clearest(vectors, labels, (1, -1)).tolist() == pytest.approx([1.0, -1.0])
    tied = _clearest(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1, 1]), (4, -2))
    assert tied.tolist() == [1.0, -0.5]  # no weights do: those given, in units of the largest


def test_every_row_of_the_stream_is_a_mistake():
    for n in (1, 3, 6):
        X, y = ConjunctionLearner().adversarial_stream(n)
        learner, wrong = ConjunctionLearner(), 0
        learner.partial_fit(X[:1], y[:1], classes=[0, 1])
        for row, label in zip(X[1:], y[1:], strict=True):
            wrong += int(learner.predict(row[None])[0] != label)
            learner.partial_fit(row[None], [label])
        assert wrong == n


def test_half_planes_of_four_points_by_hand():
    assert HalfSpaces(2).n_dichotomies(np.array([[0, 0], [1, 0], [0, 1], [1, 1]])) == 14
