"""Statements of the courses about what models can and cannot do, each with its evidence."""

import numpy as np
import pytest

from gnomon.ensemble import hypothesis_space_demo
from gnomon.theory import Intervals
from gnomon.trees import DecisionTreeClassifier


def test_a_gaussian_kernel_separates_any_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 2))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 0.2)
    assert np.linalg.eigvalsh(K).min() > 0
    for _ in range(5):
        y = rng.choice([-1.0, 1.0], 25)
        assert (np.sign(K @ np.linalg.solve(K, y)) == y).all()


def test_one_hidden_layer_is_a_staircase():
    def approximation(steps):
        edges = np.linspace(0, 1, steps + 1)[:-1]
        heights = np.diff(np.concatenate([[0.0], np.sin(6 * (edges + 0.5 / steps))]))
        x = np.linspace(0, 1, 500)[:, None]
        return np.abs(
            (1 / (1 + np.exp(-np.clip(2000 * (x - edges), -500, 500)))) @ heights - np.sin(6 * x[:, 0])
        )[5:-5].max()

    errors = [approximation(steps) for steps in (5, 20, 80)]
    assert errors[0] > 3 * errors[1] > 9 * errors[2] and errors[2] < 0.1


def test_trees_memorize():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 4, 200)
    assert DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0


def test_many_neighbors_of_many_rows_reach_the_bayes_error():
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)

    def draw(n):
        x = rng.uniform(-1, 1, (n, 1))
        return x, (rng.random(n) < 0.5 + 0.4 * np.sign(np.sin(9 * x[:, 0]))).astype(int)

    test_X, test_y = draw(6000)
    errors = [
        1 - KNeighborsClassifier(int(np.sqrt(n))).fit(*draw(n)).score(test_X, test_y) for n in (20, 200, 5000)
    ]
    assert errors[0] > errors[2] + 0.05 and errors[2] == pytest.approx(0.1, abs=0.02)


def test_unlimited_unions_of_intervals_are_not_learnable():
    free = Intervals(None)
    rng = np.random.default_rng(0)
    x, y = rng.random(12), rng.integers(0, 2, 12)
    assert free.learn(x, y, consistent=True).training_error == 0  # whatever the labels
    assert Intervals(k=None).adversary(10, n_trials=200, random_state=0).error > 0.25


def test_an_average_may_leave_the_class_of_its_members():
    slopes, average = hypothesis_space_demo(random_state=0)
    assert set(slopes.tolist()) == {-1.0, 1.0} and abs(average) < 0.1
