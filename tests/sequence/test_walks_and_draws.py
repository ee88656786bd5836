"""Walks, resampling schemes and the choice of the number of states, each by its formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.core.errors import DataError
from gnomon.sequence import (
    GaussianHMM,
    PoissonHMM,
    effective_sample_size,
    graph_walk,
    random_walk_matrix,
    resample,
    select_n_states,
)

WEIGHTS = np.array([0.1, 0.45, 0.05, 0.4])


def picked(weights, points):
    """The first index whose summed weight is above the point."""
    return [next(i for i in range(len(weights)) if sum(weights[: i + 1]) > p) for p in points]


@pytest.mark.parametrize("scale", [1.0, 7.0])
@pytest.mark.parametrize("u", [0.01, 0.3, 0.5, 0.99])
def test_one_offset_for_all_strata(u, scale):
    assert_array_equal(resample(scale * WEIGHTS, u=u), picked(WEIGHTS, [(i + u) / 4 for i in range(4)]))


def test_one_uniform_a_stratum_or_a_draw():
    u = np.array([0.9, 0.1, 0.7, 0.3])
    strata = picked(WEIGHTS, (np.arange(4) + u) / 4)
    assert_array_equal(resample(WEIGHTS, "stratified", u=u), strata)
    assert_array_equal(resample(WEIGHTS, "multinomial", u=np.sort(u)), picked(WEIGHTS, np.sort(u)))


def test_whole_parts_first():
    """4 w = 0.4, 1.8, 0.2, 1.6: one of each of the large ones is sure; the rest weighs 0.4, 0.8, 0.2, 0.6."""
    rest = np.array([0.4, 0.8, 0.2, 0.6]) / 2
    for u in ([0.1, 0.5], [0.65, 0.95]):
        assert_array_equal(resample(WEIGHTS, "residual", u=u), sorted([1, 3, *picked(rest, u)]))
    assert_array_equal(resample([2.0, 0, 1, 1], "residual"), [0, 0, 2, 3])


@pytest.mark.parametrize("scheme", ["systematic", "stratified", "multinomial", "residual"])
def test_indices_come_as_often_as_their_weight_says(scheme):
    rng = np.random.default_rng(0)
    counts = sum(np.bincount(resample(WEIGHTS, scheme, rng), minlength=4) for _ in range(2000))
    assert_allclose(counts / 8000, WEIGHTS, atol=0.025)
    assert_array_equal(resample(WEIGHTS, scheme, 3), resample(WEIGHTS, scheme, 3))


def test_sizes_of_samples():
    assert effective_sample_size([2.0, 2, 2]) == pytest.approx(3)
    assert effective_sample_size([0.0, 5, 0]) == pytest.approx(1)
    assert effective_sample_size(WEIGHTS) == pytest.approx(1 / (WEIGHTS**2).sum())


@pytest.mark.parametrize("wrong", [[[1.0]], [0.5, -0.5, 1], [0.0, 0.0]])
def test_weights_that_are_none(wrong):
    with pytest.raises(DataError, match="not negative and not all zero"):
        resample(wrong)


def test_an_unknown_scheme_is_named_with_the_nearest():
    with pytest.raises(DataError, match="got 'stratifed'.*stratified"):
        resample([1.0, 1.0], "stratifed")


def test_a_corridor_has_its_own_chances_at_the_walls():
    M = random_walk_matrix(4, left=0.2, stay=0.3, right=0.5, wall_stay=0.9, wall_move=0.1)
    assert_allclose(M, [[0.9, 0.1, 0, 0], [0.2, 0.3, 0.5, 0], [0, 0.2, 0.3, 0.5], [0, 0, 0.1, 0.9]])
    assert_allclose(random_walk_matrix(2), [[0.5, 0.5], [0.5, 0.5]])
    assert_allclose(random_walk_matrix(3)[1], [1 / 3] * 3)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"n": 1}, "at least 2 positions; got 1"),
        ({"n": 3, "left": 0.5}, "left, stay, right must be probabilities.*1.16666"),
        ({"n": 3, "left": -0.5, "stay": 1.0, "right": 0.5}, "left, stay, right"),
        ({"n": 3, "wall_stay": 0.6}, "wall_stay, wall_move must be.*sum to 1.1"),
    ],
)
def test_a_corridor_that_is_none(given, told):
    with pytest.raises(DataError, match=told):
        random_walk_matrix(**given)


@pytest.mark.parametrize("lazy", [0.0, 0.25])
def test_a_walk_leaves_by_the_weights_of_edges(lazy):
    A = np.array([[0, 3.0, 1, 0], [3, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    moved = np.array([[0, 0.75, 0.25, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    expected = lazy * np.eye(4) + (1 - lazy) * moved
    expected[3] = [0, 0, 0, 1]
    assert_allclose(graph_walk(A, lazy=lazy).toarray(), expected)


@pytest.mark.parametrize("lazy", [-0.1, 1.0])
def test_a_walker_moves_now_and_then(lazy):
    with pytest.raises(DataError, match=r"lazy must lie in \[0, 1\)"):
        graph_walk([[0, 1], [1, 0]], lazy=lazy)


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_the_table_of_states_holds_the_criteria_by_their_formulas(criterion):
    rng = np.random.default_rng(0)
    X = rng.poisson(np.repeat([1.0, 9.0, 1.0, 9.0], 10))[:, None]
    model = PoissonHMM(n_iter=30, random_state=0)
    table, best = select_n_states(X, [1, 2, 3], criterion=criterion, model=model, n_init=2, lengths=[15, 25])
    assert table["states"].tolist() == [1, 2, 3]
    assert table["parameters"].tolist() == [1, 5, 11]  # K - 1 + K (K - 1) + K
    loss, p = table["neg_log_likelihood"], table["parameters"]
    assert_allclose(table["aic"], 2 * loss + 2 * p)
    assert_allclose(table["bic"], 2 * loss + np.log(40) * p)
    assert best.n_components == table["states"][table[criterion].argmin()] == 2
    assert best.score(X, lengths=[15, 25]) == pytest.approx(-loss[1])


def test_gaussian_states_are_chosen_unless_others_are_given():
    X = np.random.default_rng(0).normal(size=(20, 1))
    assert isinstance(select_n_states(X, [1], n_init=1).best, GaussianHMM)
    with pytest.raises(DataError, match="criterion must be one of .*got 'hqc'"):
        select_n_states(X, [1], criterion="hqc")
