"""Processes, policies, logs and journeys that do not fit are refused with the rule that they break."""

import numpy as np
import pytest
from scipy import sparse

from decide.worlds import R2, T2, two_states
from gnomon.core.errors import DataError
from gnomon.decide import MDP, ActionHMM, GridWorld, Policy, SoftmaxBehavior, ThompsonBandit, solve
from gnomon.decide.counted import EmpiricalModel
from gnomon.decide.logs import check_log, read_log
from gnomon.decide.planners import check_states

LOG = {"state": [0, 1], "action": [0, 1], "reward": [1.0, 0.0], "next_state": [1, 0]}


def rows(**changed):
    table = {**LOG, **changed}
    return [tuple(table[name][i] for name in ("state", "action", "reward", "next_state")) for i in range(2)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MDP(np.ones((2, 3, 4)), 0.0, layout="sas"), "do not lead from S states to S states"),
        (lambda: MDP(sparse.csr_array(np.ones((3, 2))), 0.0), "stacked rows must be"),
        (lambda: MDP([sparse.eye_array(2), sparse.eye_array(3)], 0.0), "every matrix of transitions must be 2×2"),
        (lambda: MDP([sparse.eye_array(2)], 0.0, layout="sas"), "has layout='ass'"),
        (lambda: two_states(available=[[True, True]]), r"available must have shape \(2, 2\)"),
        (lambda: two_states(termination=[0.5]), "termination must hold chances of shape"),
        (lambda: two_states(termination=[0.5, 1.5]), "termination must hold chances"),
        (lambda: MDP(0.5 * T2, R2, layout="sas"), "sum to 0.5, not to one"),
        (lambda: two_states(action_names=["a"]), "action_names must have 2 names; got 1"),
        (lambda: MDP.from_function(2, 1, lambda s, a: [(1.0, -1, 0.0)]), "leads to state -1, and there are 2"),
        (lambda: MDP.from_function(2, 1, lambda s, a: [(1.0, 2, 0.0)]), "leads to state 2, and there are 2"),
        (lambda: two_states().value_bounds([1.0]), "one number for each of the 2 states"),
        (lambda: two_states().evaluate([0, 1, 0]), "one action for each of the 2 states"),
        (lambda: two_states().evaluate([0, -1]), "policy has action -1; actions go from 0 to 1"),
        (lambda: Policy.greedy([1.0, 2.0]), r"Q must be an \(S, A\) table"),
        (lambda: Policy.greedy([[np.nan, 1.0]]), "without NaN"),
        (lambda: GridWorld((2, 2)).as_grid([1.0, 2.0]), "there are 4 states"),
        (lambda: GridWorld((2, 2)).state((2, 0)), "a wall or outside the 2×2 grid"),
        (lambda: GridWorld((2, 2), terminals={(5, 5): 1.0}), "terminals and rewards name the cell"),
        (lambda: GridWorld((2, 2), moves=5), "moves must be 4 or 8"),
        (lambda: GridWorld((2, 2), move_probability=0.9), "must be 1 .the slip is for each side."),
        (lambda: GridWorld((2, 2), move_probability=1.2, slip_probability=-0.1), "must be 1"),
        (lambda: SoftmaxBehavior(0.0), "temperature must be above 0"),
        (lambda: EmpiricalModel(0, 1), "must be at least 1"),
        (lambda: EmpiricalModel(1, 1, prior_count=-1.0), "prior_count must not be negative"),
        (lambda: EmpiricalModel(1, 1, unvisited="unifrom"), "Did you mean 'uniform'"),
        (lambda: check_states([0.5], 2), "whole numbers from 0 to 1; got float64"),
        (lambda: check_states([0, 2], 2), "states go from 0 to 1; got 2"),
        (lambda: check_states([-1], 2), "states go from 0 to 1; got -1"),
        (lambda: check_log(read_log(rows(state=[0, 5])), 2, 2), "move 1 has state 5; there are 2"),
        (lambda: check_log(read_log(rows(action=[-1, 0])), 2, 2), "move 0 has action -1"),
        (lambda: check_log(read_log(rows(next_state=[1, 2])), 2, 2), "move 1 leads to state 2"),
        (lambda: check_log(read_log(rows(next_state=[-1, 0])), 2, 2), "move 0 leads to state -1"),
        (lambda: check_log(read_log(rows(reward=[np.inf, 0.0])), 2, 2), "move 0 has reward inf"),
        (lambda: read_log([]), "transitions are empty"),
        (lambda: read_log([(0, 1, 2)]), "must be .state, action, reward, next_state"),
        (lambda: read_log([(0, 0, 1.0, 0), (0, 0, 1.0, 0, True)]), "all alike"),
        (lambda: solve(two_states(), "value iteration"), "Did you mean 'value_iteration'"),
    ],
)  # fmt: skip
def test_processes_and_logs(make, message):
    with pytest.raises(DataError, match=message):
        make()


def hidden(**options):
    return ActionHMM(2, 2, 3, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hidden().fit((), ()), "same number of sequences, at least one"),
        (lambda: hidden().fit([[0, 1], [2]], [[0]]), "same number of sequences"),
        (lambda: hidden().fit([[0, 1]]), "pairs .observations, actions."),
        (lambda: hidden().fit([[0, 1]], [[0, 1]]), "one action less than observations; got 2 .* and 2 actions"),
        (lambda: hidden().fit([[0, 3]], [[0]]), "observations must be whole numbers from 0 to 2"),
        (lambda: hidden().fit([[0, -1]], [[0]]), "observations must be whole numbers"),
        (lambda: hidden().fit([[0, 1]], [[2]]), "actions must be whole numbers from 0 to 1"),
        (lambda: hidden().fit([[0.5, 1.0]], [[0]]), "observations must be whole numbers"),
        (lambda: hidden(startprob=[1.0]).fit([[0, 1]], [[0]]), r"startprob must have shape \(2,\)"),
        (lambda: hidden(emissionprob=[[0.5, 0.5]] * 2).fit([[0, 1]], [[0]]), r"emissionprob must have shape \(2, 3\)"),
    ],
)  # fmt: skip
def test_journeys(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_a_log_ends_where_it_says():
    found = read_log([(0, 1, 2.0, 1, False), (1, 0, 3.0, -1, True)])
    assert found["terminated"].tolist() == [False, True] and found["reward"].tolist() == [2.0, 3.0]
    check_log(found, 2, 2)  # who has ended leads nowhere


@pytest.mark.parametrize("prior", [(1.0,), (1.0, 0.0), (0.0, 1.0, 1.0, -1.0), (0.0, 0.0, 1.0, 1.0)])
def test_priors_have_two_or_four_numbers(prior):
    with pytest.raises(DataError, match="prior must be"):
        ThompsonBandit(prior)


def test_a_beta_prior_learns_of_wins_alone():
    rule = ThompsonBandit()
    state = rule.begin(2, 1)
    rule.learn(state, np.array([1]), np.array([1.0]))
    with pytest.raises(DataError, match="a Beta prior needs pay of 0 or 1"):
        rule.learn(state, np.array([1]), np.array([0.5]))
