"""Markov chains: estimation, long run, absorption."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from gnomon.core.errors import DataError, DegenerateError
from gnomon.sequence import (
    MarkovChain,
    absorbing_analysis,
    chain_structure,
    graph_walk,
    random_walk_matrix,
    stationary_distribution,
)
from gnomon.sequence.chain import tuple_matrix

LETTERS = list("abcabaccab")


def chains(least=2):
    """Strictly positive transition matrices: ergodic chains."""
    entries = st.floats(0.01, 1.0)
    return (
        st.integers(least, 6)
        .flatmap(lambda n: hnp.arrays(float, (n, n), elements=entries))
        .map(lambda M: M / M.sum(axis=1, keepdims=True))
    )


def test_weather_by_hand():
    chain = MarkovChain().fit(list("rrnrnnrrr"))
    assert_array_equal(chain.states_, ["n", "r"])
    assert_allclose(chain.transmat_, [[1 / 3, 2 / 3], [2 / 5, 3 / 5]])


def test_letters_order_one_and_two():
    first = MarkovChain().fit(LETTERS)
    assert_allclose(first.transmat_, [[0, 3 / 4, 1 / 4], [1 / 2, 0, 1 / 2], [2 / 3, 0, 1 / 3]])
    second = MarkovChain(order=2).fit(LETTERS)
    rows = dict(zip(["aa", "ab", "ac", "ba", "bb", "bc", "ca", "cb", "cc"], second.transmat_))
    assert_allclose(rows["ca"], [0, 1, 0])
    assert_allclose(rows["ab"], [0.5, 0, 0.5])
    assert_array_equal(second.unseen_, [0, 4, 7])


def test_corridor():
    M = random_walk_matrix(6)
    assert_allclose(stationary_distribution(M).distribution, np.array([2, 3, 3, 3, 3, 2]) / 16)
    chain = MarkovChain.from_matrix(M)
    after = chain.state_distribution(3, [1, 0, 0, 0, 0, 0])
    assert_allclose(after, [0.3472222222, 0.4027777778, 0.1944444444, 0.0555555556, 0, 0], atol=1e-10)
    assert_allclose(chain.state_distribution(40), np.full(6, 1 / 6) @ np.linalg.matrix_power(M, 40))


def test_classes_and_periods():
    M = np.zeros((7, 7))
    for a, b in [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2), (5, 5), (5, 0), (6, 6)]:
        M[a, b] = 1
    found = chain_structure(M / M.sum(axis=1, keepdims=True))
    assert found.classes == [[0, 1], [2, 3, 4], [5], [6]]
    assert found.closed == [[2, 3, 4], [6]]
    assert found.periods == [2, 3, 1, 1]
    assert found.transient == [0, 1, 5] and found.absorbing == [6]
    assert not found.irreducible and not found.ergodic


def test_periodic_chain_does_not_converge():
    found = stationary_distribution([[0, 1], [1, 0]])
    assert_allclose(found.distribution, [0.5, 0.5])
    assert not found.converges
    assert chain_structure([[0, 1], [1, 0]]).periods == [2]
    assert_allclose(stationary_distribution([[0, 1], [1, 0]], method="power").distribution, [0.5, 0.5])


def test_nearly_decoupled_chain_keeps_its_digits():
    e = 1e-12
    M = [[1 - e, e, 0], [e / 2, 1 - e, e / 2], [0, e, 1 - e]]
    assert_allclose(stationary_distribution(M).distribution, [0.25, 0.5, 0.25], rtol=0, atol=1e-12)


def test_several_closed_classes():
    M = np.eye(2)
    with pytest.raises(DegenerateError, match="2 closed classes"):
        stationary_distribution(M)
    found = stationary_distribution(M, return_all=True)
    assert_allclose([one.distribution for one in found], np.eye(2))


def test_symmetric_walk_is_absorbed():
    M = random_walk_matrix(5, left=0.5, stay=0, right=0.5, wall_stay=1, wall_move=0)
    for matrix in (M, sparse.csr_array(M)):
        found = absorbing_analysis(matrix)
        assert_allclose(found.fundamental, [[1.5, 1, 0.5], [1, 2, 1], [0.5, 1, 1.5]])
        assert_allclose(found.probabilities, [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]])
        assert_allclose(found.steps, [3, 4, 3])
        assert_allclose(found.steps_variance, [8, 8, 8])


def test_gamblers_ruin():
    M = random_walk_matrix(5, left=0.4, stay=0, right=0.6, wall_stay=1, wall_move=0)
    found = absorbing_analysis(M)
    assert_allclose(found.probabilities[:, 1], [27 / 65, 45 / 65, 57 / 65])
    assert_allclose(found.steps, [3.3076923077, 3.8461538462, 2.5384615385])
    assert_allclose(found.steps_variance, [7.8106508876, 7.1005917160, 6.3905325444])


def test_make_absorbing_zeroes_the_rest_of_the_row():
    chain = MarkovChain.from_matrix(random_walk_matrix(4)).make_absorbing([0])
    assert_allclose(chain.transmat_[0], [1, 0, 0, 0])
    assert chain.structure().absorbing == [0]


def test_lost_states_are_named():
    with pytest.raises(DegenerateError, match=r"\[1, 2\]"):
        absorbing_analysis([[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]])


@given(chains())
def test_three_ways_to_the_stationary_distribution(M):
    a, b, c = (stationary_distribution(M, method=m).distribution for m in ("gth", "power", "eig"))
    assert_allclose(a, b, atol=1e-10)
    assert_allclose(a, c, atol=1e-10)
    assert_allclose(a @ M, a, atol=1e-12)
    limit = MarkovChain.from_matrix(M).n_step(5000)
    assert_allclose(limit, np.tile(a, (len(M), 1)), atol=1e-8)
    assert_allclose(limit.sum(axis=1), 1)


@given(chains())
def test_first_passage_recursion_and_return_times(M):
    chain = MarkovChain.from_matrix(M)
    m, w = chain.first_passage(), stationary_distribution(M).distribution
    assert_allclose(np.diag(m) * w, 1)
    off = m - np.diag(np.diag(m))
    assert_allclose(m, 1 + M @ off, rtol=1e-6)


@given(chains(least=3))
def test_absorption_is_the_limit_and_ignores_loops(M):
    found = absorbing_analysis(M, [0, 1])
    assert_allclose(found.probabilities.sum(axis=1), 1)
    rest = found.transient
    A = M[np.ix_(rest, rest)]
    assert np.abs(np.linalg.eigvals(A)).max() < 1
    geometric = sum(np.linalg.matrix_power(A, u) for u in range(2000))
    assert_allclose(found.fundamental, geometric, rtol=1e-6)
    bare = M.copy()
    bare[rest, rest] = 0
    bare[rest] /= bare[rest].sum(axis=1, keepdims=True)
    assert_allclose(absorbing_analysis(bare, [0, 1]).probabilities, found.probabilities)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), min_size=1, max_size=6))
def test_counts_of_a_list_are_the_sum_of_counts(sequences):
    whole = MarkovChain(states=list("abc")).fit(sequences)
    parts = sum(MarkovChain(states=list("abc")).fit([s]).counts_ for s in sequences)
    assert_allclose(whole.counts_, parts)
    grown = MarkovChain()
    for s in sequences:
        grown.partial_fit([s])
    assert_allclose(grown.counts_, MarkovChain().fit(sequences).counts_)


@given(st.lists(st.sampled_from("ab"), min_size=4, max_size=20), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_counted_matrix_has_the_largest_likelihood(sequence, p, q):
    chain = MarkovChain(states=["a", "b"], start="uniform").fit(sequence)
    other = MarkovChain.from_matrix([[p, 1 - p], [q, 1 - q]], states=["a", "b"])
    assert chain.score(sequence) >= other.score(sequence) - 1e-9


def test_order_r_equals_the_chain_of_tuples():
    rng = np.random.default_rng(0)
    sequence = rng.integers(0, 3, 300)
    chain = MarkovChain(order=2, smoothing=0.5, start="stationary").fit(sequence)
    w = chain.startprob_
    assert_allclose(w @ tuple_matrix(chain.transmat_, 2).toarray(), w)
    assert chain.n_parameters_ == 9 * 2
    assert chain.predict_next(sequence).sum() == pytest.approx(1)
    assert chain.bic(sequence) - chain.aic(sequence) == pytest.approx(18 * (np.log(300) - 2))


def test_sampled_frequencies_agree():
    chain = MarkovChain.from_matrix([[0.9, 0.1], [0.4, 0.6]], start=[1, 0])
    drawn = chain.sample(200, 500, random_state=0)
    again = MarkovChain().fit(list(drawn))
    assert_allclose(again.transmat_, chain.transmat_, atol=0.01)
    assert (drawn[:, 0] == 0).all()


def test_options_and_bad_input():
    assert_allclose(MarkovChain(unseen="self").fit(["a", "b"]).transmat_, [[0, 1], [0, 1]])
    assert_allclose(MarkovChain(smoothing=1).fit(["a", "b"]).transmat_, [[1 / 3, 2 / 3], [0.5, 0.5]])
    with pytest.raises(DegenerateError, match="'b'"):
        MarkovChain(unseen="error").fit(["a", "b"])
    chain = MarkovChain().fit(["a", "b", "a", "a"])
    assert chain.score(["b", "b"]) == -np.inf
    with pytest.raises(DataError, match="'z'"):
        chain.score(["a", "z"])
    assert np.isfinite(chain.score(["a", "z", "a", "b"], unknown="ignore"))
    assert chain.score_iid(["a", "a"]) == pytest.approx(2 * np.log(3 / 4))
    with pytest.raises(DataError, match="sums to 0.9"):
        stationary_distribution([[0.5, 0.4], [0.5, 0.5]])
    with pytest.raises(DataError, match=r"sum to 1\.1"):
        random_walk_matrix(4, left=0.5, stay=0.3, right=0.3)


def test_graph_walk_and_mixing():
    M = graph_walk([[0, 1, 1], [1, 0, 0], [1, 0, 0]], lazy=0.5)
    assert_allclose(M.sum(axis=1), 1)
    chain = MarkovChain.from_matrix(M.toarray())
    facts = chain.mixing()
    assert facts["reversible"] and 0 < facts["gap"] <= 1
    assert_allclose(chain.stationary().distribution, [0.5, 0.25, 0.25])


def test_chain_of_a_matrix_can_count_on():
    chain = MarkovChain.from_matrix([[0.5, 0.5], [0.2, 0.8]]).partial_fit([0, 1, 1, 0])
    assert_allclose(chain.transmat_, [[0, 1], [0.5, 0.5]])


@pytest.mark.parametrize("ask", [stationary_distribution, chain_structure, absorbing_analysis])
@pytest.mark.parametrize(
    ("M", "told"),
    [
        ([[0.5, 0.5]], r"must be square; its shape is \(1, 2\)"),
        (sparse.csr_array([[0.5, 0.5]]), r"must be square; its shape is \(1, 2\)"),
        ([0.5, 0.5], "must be square"),
        ([[0.5, 0.6], [0.0, 1.0]], "row 0 .* sums to 1.1"),
        ([[-0.5, 1.5], [0.0, 1.0]], "negative or NaN"),
        ([[np.nan, 1.0], [0.0, 1.0]], "negative or NaN"),
    ],
)
def test_what_is_no_transition_matrix_is_refused(ask, M, told):
    with pytest.raises(DataError, match=told):
        ask(M)


def test_horizons_are_steps_ahead():
    chain = MarkovChain().fit([list("abab"), list("aabb")])
    for horizon in (0, -1, 1.5, True):
        with pytest.raises(DataError, match="horizon must be a whole number, at least 1"):
            chain.predict_next("ab", horizon)
