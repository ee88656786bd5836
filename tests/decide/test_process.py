"""Decision processes: every form they come in, what is refused, and what can be asked without a plan."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import gnomon
from decide.worlds import R2, T2, V2, two_states
from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.decide import MDP, GridWorld, Policy, solve


def same(one, two):
    np.testing.assert_allclose(one.rows_.toarray(), two.rows_.toarray(), atol=1e-15)
    np.testing.assert_allclose(one.expected_rewards_, two.expected_rewards_, atol=1e-15)


def test_every_layout_is_the_same_process():
    mdp = two_states()
    ass = T2.transpose(1, 0, 2)
    rows = T2.reshape(4, 2)
    same(mdp, MDP(ass, R2, discount=0.9, layout="ass"))
    same(mdp, MDP([sparse.csr_array(one) for one in ass], R2, discount=0.9))
    same(mdp, MDP(sparse.csc_array(rows), R2, discount=0.9, layout="rows"))
    same(mdp, MDP.from_toolbox(ass, R2, discount=0.9))
    wide = np.random.default_rng(0).dirichlet(np.ones(5), size=(5, 2))
    same(MDP(wide, 1.0), MDP(wide.transpose(1, 0, 2), 1.0))  # told from the shape where S ≠ A
    assert mdp.max_successors_ == 2 and mdp.reward_bounds_ == (-1.0, 2.0) and mdp.max_row_sum_ == 1.0


def test_rewards_on_state_next_state_and_move():
    on_state = two_states()  # by the formula of each convention
    on_state = MDP(T2, [0.0, 1.0], discount=0.9, layout="sas", reward_on="state")
    on_next = MDP(T2, [0.0, 1.0], discount=0.9, layout="sas", reward_on="next_state")
    np.testing.assert_allclose(solve(on_state).V_, [7.4311926606, 8.3486238532], atol=1e-9)
    np.testing.assert_allclose(on_next.expected_rewards_, [[0, 0.9], [0.8, 0]], atol=1e-15)
    np.testing.assert_allclose(solve(on_next).V_, [8.2568807339, 8.1651376147], atol=1e-9)
    moves = np.broadcast_to([0.0, 1.0], (2, 2, 2))
    same(on_next, MDP(T2, moves, discount=0.9, layout="sas"))
    same(on_next, MDP(T2, sparse.csr_array(moves.reshape(4, 2)), discount=0.9, layout="sas"))
    same(MDP(T2, 3.0, layout="sas"), MDP(T2, np.full((2, 2), 3.0), layout="sas"))


def test_terminal_states_and_termination_are_missing_mass():
    grid = GridWorld.small()
    end = grid.state((0, 2))
    assert grid.row_sums_[end].tolist() == [0.0] * 4 and solve(grid).V_[end] == 1.0
    arrival = GridWorld.small(reward_on="next_state")
    assert solve(arrival).V_[end] == 0.0
    halting = MDP([[[0.75]]], 1.0, termination=[0.25], discount=1.0, layout="sas")
    np.testing.assert_allclose(solve(halting).V_, [4.0])
    with pytest.raises(DataError, match="state 0, action 0 sum to 0.75"):
        MDP([[[0.75]]], 1.0, layout="sas")


def test_unavailable_actions_are_never_taken():
    free = two_states()
    bound = two_states(available=[[True, False], [True, True]])
    assert solve(bound).Q_[0, 1] == -np.inf and np.asarray(solve(bound).policy_)[0] == 0
    np.testing.assert_allclose(solve(bound).V_, free.evaluate([0, 0]).value)
    with pytest.raises(DataError, match="state 0 has no available action"):
        two_states(available=[[False, False], [True, True]])
    with pytest.raises(DataError, match="not available"):
        bound.evaluate([1, 0])


def test_start_distribution():
    assert two_states().start_.tolist() == [0.5, 0.5]
    assert two_states(start=1).start_.tolist() == [0.0, 1.0]
    steps = two_states(start=[0.0, 1.0]).simulate([0, 0], 20, 1, random_state=0)
    assert (steps["state"] == 1).all()
    with pytest.raises(DataError, match="start"):
        two_states(start=[0.5, 0.6])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MDP(T2, R2), "layout='sas' or layout='ass'"),
        (lambda: MDP(-T2, R2, layout="sas"), "negative or NaN"),
        (lambda: MDP(T2 * np.nan, R2, layout="sas"), "negative or NaN"),
        (lambda: MDP(T2, [0.0, 1.0], layout="sas"), "reward_on"),
        (lambda: MDP(T2, R2 * np.nan, layout="sas"), "finite"),
        (lambda: MDP(T2, R2, layout="sas", discount=1.2), "between 0 and 1"),
        (lambda: MDP(T2, R2, layout="sa"), "Did you mean 'sas'"),
        (lambda: MDP(T2, np.zeros((3, 2)), layout="sas"), "rewards must be"),
        (lambda: MDP(np.ones((2, 3, 4)), 0.0), "neither"),
        (lambda: two_states(discount=None).backup([0, 0]), "no discount"),
        (lambda: two_states().backup([0, 0], 0.5), "differs"),
        (lambda: two_states().backup([0, np.nan]), "NaN"),
        (lambda: two_states().evaluate([0, 2]), "actions go from 0 to 1"),
        (lambda: two_states().evaluate([[0.5, 0.6], [1, 0]]), "sum to one"),
        (lambda: two_states(reward_noise=-1.0), "reward_noise"),
        (lambda: two_states(state_names=["a"]), "state_names"),
        (lambda: two_states(terminal=[2]), "terminal names state 2, and there are 2"),
        (lambda: two_states(terminal=[-1, 0]), "terminal names state -1, and there are 2"),
        (lambda: MDP.from_function(2, 1, lambda s, a: [(0.5, 0, 1.0)]), "sum to 0.5"),
        (lambda: MDP.from_function(2, 1, lambda s, a: [(1.0, 5, 1.0)]), "state 5"),
        (lambda: MDP.from_function(2, 1, lambda s, a: [(1.0, 0, np.nan)]), "finite"),
        (lambda: MDP.from_gymnasium(object()), "no table P"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_induced_chain_is_the_mean_of_its_rows():
    P, r = two_states().induced([[0.5, 0.5], [0.25, 0.75]])
    np.testing.assert_allclose(P.toarray(), [[0.55, 0.45], [0.8, 0.2]])
    np.testing.assert_allclose(r, [-0.5, 0.5])


def test_bounds_after_each_sweep_by_hand():
    mdp, V = two_states(), np.zeros(2)
    expected = [
        ([0, 2], [18, 20]),
        ([6.2, 9.02], [13.58, 16.4]),
        ([12.1778, 14.924], [12.842, 15.5882]),
    ]
    for low, high in expected:
        L, U = mdp.value_bounds(V)
        np.testing.assert_allclose(L, low, atol=1e-12)
        np.testing.assert_allclose(U, high, atol=1e-12)
        V = mdp.backup(V)[0]
    L, U = mdp.value_bounds(V)
    np.testing.assert_allclose((L + U) / 2, [12.274109, 15.026951], atol=1e-9)


def test_bounds_without_discount_are_infinite_with_a_warning():
    with pytest.warns(UserWarning, match="infinite"):
        L, U = two_states(discount=1.0).value_bounds([0.0, 0.0])
    assert np.isneginf(L).all() and np.isposinf(U).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 0.99), st.booleans())
def test_backups_contract_and_bounds_hold(seed, discount, ends):
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    stops = rng.uniform(0, 0.5, size=(S, A)) if ends else np.zeros((S, A))
    T = rng.dirichlet(np.ones(S), size=(S, A)) * (1 - stops)[..., None]
    mdp = MDP(T, rng.normal(size=(S, A)), discount=discount, layout="sas", termination=stops)
    V, W = rng.normal(size=S) * 10, rng.normal(size=S) * 10
    apart = np.abs(mdp.backup(V)[0] - mdp.backup(W)[0]).max()
    assert apart <= discount * np.abs(V - W).max() + 1e-12
    best = solve(mdp).V_
    L, U = mdp.value_bounds(V)
    slack = 1e-9 * (1 + np.abs(best).max())
    assert (L <= best + slack).all() and (best <= U + slack).all()
    greedy = Policy.greedy(mdp.q_from_value(V))
    assert (mdp.evaluate(greedy).value >= L - slack).all()
    assert np.abs(best).max() <= np.abs(mdp.expected_rewards_).max() / (1 - discount) + slack


def test_occupancy_by_hand():
    d = two_states().occupancy([1, 0], start=0)
    np.testing.assert_allclose(d, [2.56880734, 7.43119266], atol=1e-8)
    assert d.sum() == pytest.approx(10) and d @ [-1, 2] == pytest.approx(V2[0])


def test_policies_compare_state_by_state():
    mdp = two_states()
    assert mdp.compare([1, 0], [0, 0]) == ">=" and mdp.compare([0, 1], [1, 0]) == "<="
    assert mdp.compare([0, 0], [0, 0]) == "=="
    crossing = MDP(np.eye(2)[:, None, :].repeat(2, axis=1), [[1, 0], [0, 1]], discount=0.5, layout="sas")
    assert crossing.compare([0, 0], [1, 1]) == "incomparable"


def test_optimal_actions_keep_all_of_equals():
    mdp = MDP(np.ones((1, 3, 1)), [[1.0, 0.0, 1.0]], discount=0.5, layout="sas")
    model = solve(mdp)
    assert model.optimal_actions_.tolist() == [[True, False, True]]
    assert mdp.optimal_actions(model.Q_).tolist() == [[True, False, True]]
    assert np.asarray(Policy.greedy(model.Q_, ties="split")).tolist() == [[0.5, 0.0, 0.5]]


@pytest.mark.parametrize("method", ["dense", "sparse", "iterative", "sweeps", "gauss_seidel"])
def test_values_of_fixed_policies_by_hand(method):
    mdp = two_states()
    for policy, value in [
        ([0, 0], [0, 7.1428571429]),
        ([0, 1], [0, 0]),
        ([1, 0], V2),
        ([1, 1], [-5.5248618785, -4.9723756906]),
        ([[0.5, 0.5], [0.5, 0.5]], [0.8133971292, 2.2488038278]),
    ]:
        found = mdp.evaluate(policy, method=method)
        np.testing.assert_allclose(found.value, value, atol=1e-9)
        assert found.residual < 1e-8 and found.method == method
    np.testing.assert_allclose(
        found.q, [[0.7320574163, 0.8947368421], [3.7655502392, 0.7320574163]], atol=1e-9
    )
    np.testing.assert_allclose(found.advantage, found.q - found.value[:, None])


def test_playing_estimates_the_value_within_its_error():
    found = two_states().evaluate(
        [1, 0], method="monte_carlo", n_episodes=2000, max_steps=300, random_state=0
    )
    assert (np.abs(found.value - V2) < 5 * found.standard_error).all() and (found.standard_error < 0.1).all()


def test_time_dependent_policies_have_values_by_steps_to_go():
    mdp = two_states(discount=None)
    found = mdp.evaluate(np.array([[0, 0], [1, 0]]))  # with one step to go, with two
    np.testing.assert_allclose(found.value, [[0, 0], [0, 2], [0.8, 3.6]])
    with pytest.raises(DataError, match="horizon"):
        mdp.evaluate(np.array([[0, 0], [1, 0]]), horizon=3)
    np.testing.assert_allclose(mdp.evaluate([1, 0], horizon=1).value[1], [-1, 2])


def test_policy_that_never_ends_is_refused_without_discount():
    line = MDP.from_function(3, 2, lambda s, a: [(1.0, s, 0.0)] if a else [(1.0, s, -1.0, True)])
    with pytest.raises(DegenerateError, match="never terminates from states \\[1\\]"):
        line.evaluate([0, 1, 0], discount=1.0)
    np.testing.assert_allclose(line.evaluate([0, 0, 0], discount=1.0).value, -1.0)


def test_sampled_action_values_are_near_the_exact_ones():
    mdp = two_states(reward_noise=0.5)
    mean, error = mdp.sampled_q(np.zeros((2, 2)) + [[0.0, 0.0], [5.0, 0.0]], 0, 1, 20_000, random_state=0)
    assert abs(mean - (-1 + 0.9 * 0.9 * 5)) < 5 * error and error == pytest.approx(
        np.sqrt(0.25 + 0.09 * (0.9 * 5) ** 2) / np.sqrt(20_000), rel=0.1
    )


def test_tables_go_both_ways(tmp_path):
    mdp = GridWorld.small()
    table = mdp.to_table()
    assert table.groupby(["state", "action"])["probability"].sum().to_numpy() == pytest.approx(1.0)
    back = MDP.from_table(table, discount=0.9)
    same(mdp, back)
    np.testing.assert_allclose(solve(back).V_, solve(mdp).V_, atol=1e-12)
    mdp.save(tmp_path / "grid.gnomon")
    loaded = gnomon.load(tmp_path / "grid.gnomon")
    assert isinstance(loaded, GridWorld) and loaded.arrows(solve(loaded).policy_) == mdp.arrows(
        solve(mdp).policy_
    )
    assert loaded.digest() == mdp.digest() != mdp.with_discount(0.8).digest()


def test_outcomes_that_agree_pay_their_mean():
    told = [(0.25, 1, 4.0), (0.125, 1, 10.0), (0.125, 2, 2.0), (0.125, 0, 1.0, True), (0.375, 0, 5.0, True)]
    mdp = MDP.from_function(3, 1, lambda s, a: [(1.0, s, 0.0, True)] if s else told)
    table = mdp.to_table()
    own = table[table["state"] == 0].set_index("next_state")
    assert own["reward"].to_dict() == pytest.approx({1: 6.0, 2: 2.0, -1: 4.0})
    assert own["probability"].to_dict() == pytest.approx({1: 0.375, 2: 0.125, -1: 0.5})
    assert mdp.evaluate([0, 0, 0], discount=1.0).value[0] == pytest.approx(4.5)
    steps = mdp.simulate([0, 0, 0], 50, 1, start=0, random_state=0)
    assert dict(zip(steps["next_state"], steps["reward"], strict=True)) == pytest.approx({1: 6, 2: 2, -1: 4})


@pytest.mark.parametrize("n", [2, 5])
def test_errors_of_played_values_are_those_of_means(n):
    """Returns are 0 or 1: n of them with mean m have the variance m(1 − m)n/(n − 1)."""
    coins = MDP.from_function(
        12, 1, lambda s, a: [(0.5, s, 1.0, True), (0.5, 11, 0.0)] if s < 11 else [(1.0, s, 0.0, True)]
    )
    given = {"discount": 1.0, "method": "monte_carlo", "random_state": 0}
    found = coins.evaluate([0] * 12, n_episodes=n, **given)
    assert set(np.unique(found.value * n)) > {0.0, 1.0}
    wanted = np.sqrt(found.value * (1 - found.value) / (n - 1))
    np.testing.assert_allclose(found.standard_error, wanted, atol=1e-12)
    assert np.isnan(coins.evaluate([0] * 12, n_episodes=1, **given).standard_error).all()


def test_a_loaded_process_has_an_action_in_every_state(tmp_path):
    mdp = two_states(available=[[True, False], [True, True]])
    mdp.save(tmp_path / "fine.gnomon")
    assert gnomon.load(tmp_path / "fine.gnomon").available.tolist() == [[True, False], [True, True]]
    mdp.available[0] = False
    mdp.save(tmp_path / "stuck.gnomon")
    with pytest.raises(ModelFileError):
        gnomon.load(tmp_path / "stuck.gnomon")


def test_simulated_moves_follow_the_chances():
    steps = two_states(start=0).simulate([[0.3, 0.7], [1.0, 0.0]], 200, 200, random_state=0)
    at = steps[steps["state"] == 0]
    assert (at["action"] == 1).mean() == pytest.approx(0.7, abs=0.02)
    moved = at[at["action"] == 1]
    assert (moved["next_state"] == 1).mean() == pytest.approx(0.9, abs=0.02)
    assert (moved["reward"] == -1).all()
    assert steps["truncated"].sum() == 200 and not steps["terminated"].any()
    again = two_states(start=0).simulate([[0.3, 0.7], [1.0, 0.0]], 200, 200, random_state=0)
    assert np.array_equal(steps, again)


def test_halting_is_discounting():
    mdp = two_states()
    for explicit in (False, True):
        halting = mdp.with_halt(explicit=explicit)
        assert halting.discount == 1.0
        np.testing.assert_allclose(solve(halting).V_[:2], V2, atol=1e-12)
    assert mdp.with_halt(explicit=True).n_states == 3
    undiscounted = two_states(discount=1.0)
    assert undiscounted.with_halt() is undiscounted
    assert mdp.effective_horizon == pytest.approx(10)


def test_halted_simulation_has_the_discounted_return():
    found = two_states(start=0).with_halt()
    paid = Policy([1, 0]).evaluate(found, 20_000, random_state=0)
    assert abs(paid.mean - V2[0]) < 5 * paid.standard_error


def test_returns():
    np.testing.assert_allclose(
        MDP.discounted_return([0, 0, 1, -1, 2], 0.9, all_steps=True), [1.3932, 1.548, 1.72, 0.8, 2]
    )
    padded = [[1.0, 1.0, np.nan], [1.0, 1.0, 1.0]]
    np.testing.assert_allclose(MDP.discounted_return(padded, 0.5), [1.5, 1.75])
    assert np.isnan(MDP.discounted_return(padded, 0.5, all_steps=True)[0, 2])
    assert MDP.discounted_return([5, 5, 5], 1.0, horizon=2) == 10
    for bad in ({"rewards": []}, {"rewards": [1.0], "discount": 1.5}, {"rewards": [1.0], "horizon": 0}):
        with pytest.raises(DataError):
            MDP.discounted_return(**bad)


def test_reachable_states():
    line = MDP.from_function(4, 1, lambda s, a: [(1.0, min(s + 1, 2), 0.0)], start=0)
    assert line.reachable().tolist() == [True, True, True, False]
    assert line.reachable([3]).tolist() == [False, False, True, True]


def test_asking_changes_nothing():
    mdp = GridWorld.classic(living_reward=-0.04)
    before = mdp.rows_.toarray()
    mdp.reachable(), solve(mdp), mdp.simulate(np.zeros(11, int), 3), mdp.with_halt()
    np.testing.assert_array_equal(before, mdp.rows_.toarray())


def test_random_process_has_what_it_promises():
    mdp = MDP.random(200, 3, 4, discount=0.9, random_state=0)
    assert mdp.max_successors_ <= 4 and np.allclose(mdp.row_sums_, 1) and mdp.reward_bounds_[0] >= 0
    same(mdp, MDP.random(200, 3, 4, random_state=0))
    assert MDP.random(3, 2, 9, random_state=0).max_successors_ == 3


def test_two_samples_of_rewards_are_pooled_as_one():
    from gnomon.decide.counted import _pooled

    first, second = np.array([1.0, 4.0, 7.0]), np.array([-2.0, 5.0])

    def told(r):
        return [np.array([value]) for value in (float(len(r)), r.mean(), ((r - r.mean()) ** 2).sum())]

    for one, two in ((first, second), (second, first)):
        together = _pooled(told(one), told(two))
        np.testing.assert_allclose(together, told(np.concatenate([one, two])), rtol=1e-12)
