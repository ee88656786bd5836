"""Options of planners and agents, by numbers that follow from small processes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decide.worlds import R2, T2, V2, six_states, two_states
from gnomon import decide
from gnomon.decide import MDP


@pytest.mark.parametrize("evaluation", ["auto", "dense", "sparse", "iterative", "sweeps", "gauss_seidel"])
def test_every_way_to_evaluate_finds_the_values(evaluation):
    model = decide.PolicyIteration(evaluation=evaluation, tol=1e-10).fit(two_states())
    assert_allclose(model.V_, V2, rtol=1e-6)
    mdp = six_states(0.9)
    exact = decide.PolicyIteration(evaluation="dense").fit(mdp)
    assert_allclose(decide.PolicyIteration(evaluation=evaluation, tol=1e-10).fit(mdp).V_, exact.V_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_improvements_at_most_and_ties():
    mdp = six_states(0.95)
    whole = decide.PolicyIteration(initial_policy=np.zeros(6, int)).fit(mdp)
    one = decide.PolicyIteration(initial_policy=np.zeros(6, int), max_iter=1).fit(mdp)
    assert one.n_iter_ == 1 < whole.n_iter_
    stubborn = decide.PolicyIteration(initial_policy=np.zeros(6, int), tie_tol=1e9).fit(mdp)
    assert np.asarray(stubborn.policy_).tolist() == [0] * 6 and stubborn.n_iter_ == 1


def test_worth_of_the_last_states():
    values = [np.array([10.0, -5.0])]
    for _ in range(3):
        values.append((R2 + 0.9 * T2 @ values[-1]).max(axis=1))
    model = decide.FiniteHorizon(3, discount=0.9, terminal_value=values[0]).fit(two_states())
    assert_allclose(model.values_, values, rtol=1e-12)


def walk():
    """Three states in a row; the second action goes right and ends at the last."""
    moves = np.zeros((3, 2, 3))
    for s in range(3):
        moves[s, 0, max(0, s - 1)] = 1
        moves[s, 1, min(2, s + 1)] = 1
    rewards = np.zeros((3, 2))
    rewards[2, 1] = 1.0
    return MDP(moves, rewards, discount=0.9, layout="sas", start=[1, 0, 0])


@pytest.mark.parametrize("unvisited", ["uniform", "self_loop", "optimistic"])
@pytest.mark.parametrize("prior_count", [0.0, 2.0])
def test_what_an_agent_thinks_of_pairs_it_never_saw(unvisited, prior_count):
    given = dict(unvisited=unvisited, prior_count=prior_count, default_reward=0.5)
    agent = decide.ModelBased(n_episodes=2, max_steps=3, random_state=0, **given).fit(walk())
    counted = decide.EmpiricalModel(3, 2, **given)
    assert agent.model_.unvisited == counted.unvisited and agent.model_.prior_count == prior_count
    found = agent.model_.to_mdp(discount=0.95)
    seen = agent.model_.counts_.toarray().reshape(6, 3)
    T, n = found.rows_.toarray().reshape(6, -1)[:, :3], seen.sum(axis=1)
    for pair in range(6):
        if prior_count > 0:
            assert_allclose(T[pair], (seen[pair] + prior_count) / (n[pair] + 3 * prior_count))
        elif n[pair] == 0 and unvisited == "uniform":
            assert_allclose(T[pair], 1 / 3)
        elif n[pair] == 0 and unvisited == "self_loop":
            assert T[pair, pair // 2] == 1.0


def test_pairs_are_known_after_so_many_visits():
    greedy = {}
    for known_after in (1, 8):
        agent = decide.OptimisticPlanning(known_after=known_after, n_episodes=1, max_steps=40, random_state=0)
        greedy[known_after] = agent.fit(walk()).visits_
    tried = greedy[8]
    assert tried.min() >= 0 and (greedy[1] != tried).any()
    assert np.sort(tried.ravel())[-2] <= 8 + 40 // 2


@pytest.mark.parametrize("resample", ["episode", "doubling", 3])
def test_how_often_a_process_is_drawn(resample):
    agent = decide.PosteriorSampling(resample=resample, n_episodes=4, max_steps=6, random_state=0).fit(walk())
    again = decide.PosteriorSampling(resample=resample, n_episodes=4, max_steps=6, random_state=0).fit(walk())
    np.testing.assert_array_equal(agent.visits_, again.visits_)
    sure = decide.PosteriorSampling(prior_count=1e-6, n_episodes=30, max_steps=10, random_state=0).fit(walk())
    vague = decide.PosteriorSampling(prior_count=1e6, n_episodes=30, max_steps=10, random_state=0).fit(walk())
    assert (sure.visits_ != vague.visits_).any()
