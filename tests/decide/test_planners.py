"""Planners: the same optimum by every road, with bounds that hold on the way."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import gnomon
from decide.worlds import T2, V2, plain_values, six_states, two_states
from gnomon.core.callbacks import Checkpoint
from gnomon.core.errors import DataError, DegenerateError
from gnomon.decide import (
    MDP,
    FiniteHorizon,
    GridWorld,
    LinearProgram,
    Policy,
    PolicyIteration,
    ValueIteration,
    solve,
)

PLANNERS = {
    "jacobi": ValueIteration(tol=1e-9),
    "classical": ValueIteration(tol=1e-9, extrapolate=False),
    "gauss_seidel": ValueIteration(tol=1e-9, update="gauss_seidel"),
    "prioritized": ValueIteration(tol=1e-9, update="prioritized"),
    "policy iteration": PolicyIteration(),
    "modified": PolicyIteration(n_sweeps="auto", tol=1e-9),
    "modified 3": PolicyIteration(n_sweeps=3, tol=1e-9),
    "program": LinearProgram(),
}


def plan(name, mdp):
    return gnomon_clone(PLANNERS[name]).fit(mdp)


def gnomon_clone(model):
    from sklearn.base import clone

    return clone(model)


@pytest.mark.parametrize("name", PLANNERS)
def test_two_states_by_hand(name):
    model = plan(name, two_states())
    np.testing.assert_allclose(model.V_, V2, atol=1e-8)
    Q = [[11.0642201835, 12.2935779817], [15.0458715596, 11.0642201835]]
    np.testing.assert_allclose(model.Q_, Q, atol=1e-8)
    assert np.asarray(model.policy_).tolist() == [1, 0] and model.predict([1, 0, 1]).tolist() == [0, 1, 0]
    assert model.score(two_states(start=0)) == pytest.approx(V2[0])
    assert model.converged_ and model.n_states_ == 2


def test_value_iterates_by_hand():
    models = list(ValueIteration(eliminate=False).iterate(two_states()))
    for i, V in enumerate([[0, 0], [0, 2], [0.62, 3.44], [1.8422, 4.5884], [2.882402, 5.635244]]):
        np.testing.assert_allclose(models[i].iterate_, V, atol=1e-12)
    assert [int(np.asarray(model.policy_)[0]) for model in models[1:4]] == [0, 1, 1]
    np.testing.assert_allclose(models[-1].V_, V2, atol=1e-6)


def test_value_is_the_best_action_value_at_every_sweep():
    mdp = six_states(0.9)
    for one, two in zip(ValueIteration().iterate(mdp), ValueIteration(initial=np.zeros((6, 3))).iterate(mdp)):
        np.testing.assert_array_equal(one.iterate_, two.iterate_)
        np.testing.assert_allclose(mdp.q_from_value(one.iterate_).max(axis=1), mdp.backup(one.iterate_)[0])
    assert (one.Q_.max(axis=1) - one.V_).max() < 2e-6


def test_one_state_error_shrinks_by_the_discount():
    loop = MDP([[[1.0]]], 1.0, discount=0.9, layout="sas")
    values = [model.iterate_[0] for model in ValueIteration(extrapolate=False, tol=1e-3).iterate(loop)]
    assert values[5] == pytest.approx(4.0951)
    np.testing.assert_allclose(np.diff(10 - np.array(values)) / (10 - np.array(values[:-1])), -0.1)
    assert ValueIteration().fit(loop).V_[0] == pytest.approx(10, abs=1e-6)


def test_six_states_and_the_number_of_sweeps():
    V = [68.370845171, 69.216965376, 69.387061237, 68.353078809, 68.372396135, 69.220130010]
    for name in PLANNERS:
        model = plan(name, six_states(0.95))
        np.testing.assert_allclose(model.V_, V, atol=1e-8)
        assert np.asarray(model.policy_).tolist() == [1, 2, 0, 2, 0, 1]
    V = [6.465836934, 7.379569802, 7.468892573, 6.459387063, 6.454704848, 7.380174478]
    np.testing.assert_allclose(solve(six_states(0.5)).V_, V, atol=1e-9)
    quick, slow = (
        ValueIteration().fit(six_states(0.95)),
        ValueIteration(extrapolate=False).fit(six_states(0.95)),
    )
    assert quick.n_iter_ == 18 and slow.n_iter_ == 352
    exact = solve(six_states(0.95)).V_
    assert np.abs(quick.V_ - exact).max() == pytest.approx(1.4e-7, rel=0.1) and quick.gap_ <= 1e-6
    assert np.abs(slow.V_ - exact).max() <= slow.gap_ * (1 + 1e-6)


@pytest.mark.parametrize(
    ("first", "visited"),
    [
        ([0, 0], [[0, 0], [1, 0]]),
        ([0, 1], [[0, 1], [0, 0], [1, 0]]),
        ([1, 1], [[1, 1], [0, 0], [1, 0]]),
        ([1, 0], [[1, 0]]),
    ],
)
def test_policies_visited_by_hand(first, visited):
    model = PolicyIteration(initial_policy=first).fit(two_states())
    assert model.policies_.tolist() == visited and model.n_iter_ == len(visited)


def random_process(seed, ends=True):
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    stops = (
        np.where(rng.random((S, A)) < 0.5, rng.uniform(0, 0.3, size=(S, A)), 0.0)
        if ends
        else np.zeros((S, A))
    )
    T = rng.dirichlet(np.full(S, 0.5), size=(S, A)) * (1 - stops)[..., None]
    open_ = rng.random((S, A)) < 0.8
    open_[np.arange(S), rng.integers(0, A, size=S)] = True
    return MDP(
        T,
        rng.normal(size=(S, A)),
        discount=float(rng.uniform(0, 0.97)),
        layout="sas",
        termination=stops,
        available=open_,
    )


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_all_planners_agree_within_their_certificates(seed):
    mdp = random_process(seed)
    exact = plain_values(mdp, mdp.discount, 1500)
    for name in PLANNERS:
        model = plan(name, mdp)
        scale = 1 + np.abs(exact).max()
        assert np.abs(model.V_ - exact).max() <= model.gap_ * (1 + 1e-6) + 1e-10 * scale, name
        assert (model.lower_ <= exact + 1e-9 * scale).all() and (
            exact <= model.upper_ + 1e-9 * scale
        ).all(), name
        attained = mdp.evaluate(model.policy_).value
        assert (attained >= exact - 2e-9 * scale - 2 * model.gap_).all(), name


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_bounds_hold_at_every_sweep_and_policies_improve(seed):
    mdp = random_process(seed)
    exact = plain_values(mdp, mdp.discount, 1500)
    slack = 1e-9 * (1 + np.abs(exact).max())
    for options in ({}, {"update": "gauss_seidel"}, {"update": "prioritized"}, {"eliminate": False}):
        for model in list(ValueIteration(**options).iterate(mdp))[1:]:
            assert (model.lower_ <= exact + slack).all() and (exact <= model.upper_ + slack).all()
    values = [mdp.evaluate(one).value for one in PolicyIteration().fit(mdp).policies_]
    for before, after in zip(values, values[1:]):
        assert (after >= before - 1e-10).all()
    assert len({tuple(one) for one in PolicyIteration().fit(mdp).policies_}) == len(values)


@pytest.mark.parametrize("discount", [0.9, 1.0])
def test_the_queue_goes_on_until_the_bounds_hold(discount):
    """Backups must not stop at changes that still leave an error above `tol`."""
    if discount < 1:  # one state that pays 1 for ever: 10
        mdp, exact = MDP([[[1.0]]], [[1.0]], discount=discount, layout="sas"), [10.0]
    else:  # a step, then steps that are the last with chance one half: 1 + 2
        T, ends = [[[0.0, 1.0]], [[0.0, 0.5]]], [[0.0], [0.5]]
        mdp = MDP(T, [[1.0], [1.0]], discount=1.0, termination=ends, layout="sas")
        exact = [3.0, 2.0]
    for tol in (1e-2, 1e-3, 1e-4):
        model = ValueIteration(tol=tol, update="prioritized", extrapolate=False, max_iter=1000).fit(mdp)
        assert model.converged_
        np.testing.assert_allclose(model.V_, exact, rtol=0, atol=tol if discount < 1 else 3 * tol)


def test_width_never_grows_with_stochastic_rows():
    for seed in range(5):
        mdp = MDP.random(40, 3, 4, discount=0.95, random_state=seed)
        gaps = ValueIteration(tol=1e-8).fit(mdp).trace_.objective
        assert (np.diff(gaps) <= 1e-12).all()


def test_elimination_changes_nothing():
    for seed in range(5):
        mdp = MDP.random(60, 5, 3, discount=0.97, random_state=seed)
        one, two = ValueIteration().fit(mdp), ValueIteration(eliminate=False).fit(mdp)
        np.testing.assert_allclose(one.V_, two.V_, atol=2e-6)
        assert one.n_backups_ < two.n_backups_ and np.array_equal(one.policy_, two.policy_)


def test_iterates_grow_with_rewards_that_are_not_negative():
    mdp = MDP.random(30, 2, discount=0.9, random_state=1)
    values = [model.iterate_ for model in ValueIteration(eliminate=False).iterate(mdp)]
    assert all((after >= before - 1e-12).all() for before, after in zip(values, values[1:]))


def test_shift_scale_relabel_and_duplicate():
    mdp = MDP.random(12, 3, 4, discount=0.9, random_state=2)
    V, T = solve(mdp).V_, mdp.rows_.toarray().reshape(12, 3, 12)
    R = mdp.expected_rewards_

    def value(T, R):
        return solve(MDP(T, R, discount=0.9, layout="sas")).V_

    np.testing.assert_allclose(value(T, R + 3.0), V + 30.0, atol=1e-9)
    np.testing.assert_allclose(value(T, 5 * R), 5 * V, atol=1e-9)
    order = np.random.default_rng(0).permutation(12)
    np.testing.assert_allclose(value(T[order][:, :, order], R[order]), V[order], atol=1e-9)
    np.testing.assert_allclose(value(T[:, [2, 0, 1]], R[:, [2, 0, 1]]), V, atol=1e-9)
    np.testing.assert_allclose(value(T[:, [0, 0, 1, 2]], R[:, [0, 0, 1, 2]]), V, atol=1e-9)


def test_sparse_equals_dense():
    mdp = MDP.random(50, 3, 5, discount=0.95, random_state=0)
    dense = MDP(mdp.rows_.toarray().reshape(50, 3, 50), mdp.expected_rewards_, discount=0.95, layout="sas")
    for name in ("jacobi", "modified", "policy iteration"):
        np.testing.assert_array_equal(plan(name, mdp).V_, plan(name, dense).V_)
    for method in ("dense", "sparse", "iterative", "sweeps"):
        np.testing.assert_allclose(
            mdp.evaluate(np.zeros(50, int), method=method).value,
            mdp.evaluate(np.zeros(50, int)).value,
            atol=1e-9,
        )


def test_chunks_and_threads_give_the_same_bits(monkeypatch):
    from gnomon.decide import bellman

    mdp = MDP.random(500, 3, 4, discount=0.95, random_state=0)
    whole = {name: plan(name, mdp).V_ for name in ("jacobi", "modified")}
    monkeypatch.setattr(bellman, "CHUNK", 37)
    for name, V in whole.items():
        with gnomon.threads(3):
            np.testing.assert_array_equal(plan(name, mdp).V_, V)


def test_discount_zero_is_greedy_in_one_sweep():
    mdp = two_states(discount=0.0)
    for name in PLANNERS:
        model = plan(name, mdp)
        np.testing.assert_allclose(model.V_, [0, 2])
        assert model.n_iter_ <= 2 and np.asarray(model.policy_).tolist() == [0, 0]
    assert ValueIteration().fit(mdp).n_iter_ == 1


def test_discount_one_without_an_end_is_refused():
    for name in PLANNERS:
        with pytest.raises(DataError, match="no end can be reached from state 0"):
            plan(name, two_states(discount=1.0))
    trap = MDP.from_function(
        2, 2, lambda s, a: [(1.0, 0, 0.0)] if a else [(1.0, s, -1.0, True)], discount=1.0
    )
    with pytest.raises(
        DegenerateError, match="never terminates"
    ):  # the best policy waits for ever, and is worth 0
        ValueIteration().fit(trap)
    absorbed = MDP.from_function(2, 1, lambda s, a: [(1.0, 1, 0.0)], discount=1.0)
    with pytest.raises(DataError, match="terminal state or termination"):
        solve(absorbed)


def test_discounts_and_other_arguments_are_checked():
    with pytest.raises(DataError, match="differs"):
        ValueIteration(discount=0.5).fit(two_states())
    with pytest.raises(DataError, match="no discount"):
        ValueIteration().fit(two_states(discount=None))
    assert ValueIteration(discount=0.9).fit(two_states(discount=None)).V_ == pytest.approx(V2, abs=1e-6)
    with pytest.raises(DataError, match="plans in an MDP"):
        ValueIteration().fit(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="tol"):
        ValueIteration(tol=0).fit(two_states())
    with pytest.raises(ValueError, match="Did you mean 'jacobi'"):
        ValueIteration(update="jacoby").fit(two_states())
    with pytest.raises(DataError, match="Did you mean 'value_iteration'"):
        solve(two_states(), "value_iterations")
    with pytest.raises(DataError, match="initial"):
        ValueIteration(initial=np.zeros((3, 2))).fit(two_states())
    with pytest.raises(DataError, match="states go from 0"):
        solve(two_states()).predict([2])
    with pytest.warns(UserWarning, match="not available"):
        ValueIteration(initial=np.zeros((2, 2))).fit(two_states(available=[[1, 0], [1, 1]]))


def test_too_few_sweeps_warn_with_the_gap():
    with pytest.warns(ConvergenceWarning, match="3 sweeps.*guaranteed error is"):
        model = ValueIteration(max_iter=3).fit(two_states())
    assert not model.converged_ and model.gap_ == pytest.approx((12.842 - 12.1778) / 2)


def test_finite_horizon_by_hand():
    model = FiniteHorizon(4).fit(two_states(discount=None))
    np.testing.assert_allclose(model.values_, [[0, 0], [0, 2], [0.8, 3.6], [2.32, 5.04], [3.768, 6.496]])
    assert model.policies_.tolist() == [[0, 0], [1, 0], [1, 0], [1, 0]] and model.changes_ == {0: [2]}
    assert model.predict([0], steps_to_go=1) == [0] and model.predict([0]) == [1]
    with pytest.raises(DataError, match="steps_to_go"):
        model.predict([0], steps_to_go=5)
    with pytest.raises(ValueError, match="horizon"):
        FiniteHorizon(0).fit(two_states())
    assert model.score(two_states(discount=None, start=0)) == pytest.approx(3.768)


def test_finite_horizon_with_discount_is_value_iteration():
    mdp = MDP.random(20, 3, discount=0.9, random_state=0)
    values = FiniteHorizon(6, discount=0.9).fit(mdp).values_
    iterates = [model.iterate_ for model in ValueIteration(eliminate=False).iterate(mdp)]
    for k in range(7):
        np.testing.assert_allclose(values[k], iterates[k], atol=1e-13)
    assert (np.diff(values, axis=0) >= 0).all()


def test_best_first_action_then_the_best_of_the_rest():
    mdp = MDP.random(8, 3, discount=None, random_state=3)
    model = FiniteHorizon(5).fit(mdp)
    T = mdp.rows_.toarray().reshape(8, 3, 8)
    for k in range(1, 6):
        first = model.policies_[k - 1]
        rest = mdp.expected_rewards_[np.arange(8), first] + T[np.arange(8), first] @ model.values_[k - 1]
        np.testing.assert_allclose(rest, model.values_[k])
    paid = Policy(model.policies_).evaluate(mdp, 20_000, random_state=0)
    assert abs(paid.mean - mdp.start_ @ model.V_) < 5 * paid.standard_error and (paid.lengths == 5).all()


def test_sampled_backups_come_near_with_their_errors():
    mdp = two_states(reward_noise=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ValueIteration(update="sampled", n_samples=4000, max_iter=120, random_state=0).fit(mdp)
    assert np.abs(model.V_ - V2).max() < 10 * 10 * model.standard_errors_.max()
    assert np.asarray(model.policy_).tolist() == [1, 0] and np.isnan(model.gap_)


def test_linear_program_tells_the_occupancy():
    mdp = two_states(start=0)
    model = LinearProgram().fit(mdp)
    weights = 0.5 * mdp.start_ + 0.25
    expected = mdp.occupancy(model.policy_, start=weights)
    np.testing.assert_allclose(model.occupancy_.sum(axis=1), expected, atol=1e-6)
    assert model.occupancy_[0, 0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", PLANNERS)
def test_saved_and_resumed(name, tmp_path):
    mdp = MDP.random(25, 3, discount=0.9, random_state=0)
    model = plan(name, mdp)
    gnomon.save(model, tmp_path / "plan.gnomon")
    loaded = gnomon.load(tmp_path / "plan.gnomon")
    assert np.array_equal(loaded.predict(range(25)), model.predict(range(25))) and np.array_equal(
        loaded.V_, model.V_
    )
    path = tmp_path / "fit.checkpoint"

    class Stop:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gnomon_clone(PLANNERS[name]).set_callbacks(Checkpoint(path, every_seconds=0), Stop()).fit(mdp)
    resumed = gnomon_clone(PLANNERS[name]).set_callbacks(Checkpoint(path, every_seconds=0)).fit(mdp)
    np.testing.assert_array_equal(resumed.V_, model.V_)


def test_tables_of_gymnasium():
    gymnasium = pytest.importorskip("gymnasium")
    lake = MDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), discount=0.99)
    for method in ("policy_iteration", "value_iteration", "modified_policy_iteration"):
        V = solve(lake, method, **({} if method == "policy_iteration" else {"tol": 1e-10})).V_
        assert V[0] == pytest.approx(0.5420259320, abs=1e-9) and V.sum() == pytest.approx(
            6.3398195383, abs=1e-8
        )
    firm = MDP.from_gymnasium(gymnasium.make("FrozenLake-v1", is_slippery=False), discount=0.9)
    assert solve(firm).V_[0] == pytest.approx(0.59049)
    cliff = MDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), discount=1.0)
    for method in ("value_iteration", "modified_policy_iteration"):
        V = solve(cliff, method).V_
        assert V[36] == pytest.approx(-13) and V[0] == pytest.approx(-14)
    taxi = MDP.from_gymnasium(gymnasium.make("Taxi-v4"), discount=0.99)
    model = solve(taxi, tol=1e-10)
    assert taxi.start_ @ model.V_ == pytest.approx(6.3274643149, abs=1e-9)
    assert model.V_.max() == pytest.approx(20) and model.V_.min() == pytest.approx(1.1531832061, abs=1e-9)
    paid = model.policy_.evaluate(gymnasium.make("Taxi-v4"), 200, random_state=0)
    assert paid.mean > 7 and (paid.lengths < 30).all()


@pytest.mark.parity
def test_same_policy_as_pymdptoolbox():
    toolbox = pytest.importorskip("mdptoolbox.mdp")
    P, R = T2.transpose(1, 0, 2), np.array([[0.0, -1.0], [2.0, 0.0]])
    theirs = toolbox.PolicyIteration(P, R, 0.9)
    theirs.run()
    ours = solve(MDP.from_toolbox(P, R, discount=0.9))
    np.testing.assert_allclose(ours.V_, theirs.V, atol=1e-9)
    assert tuple(np.asarray(ours.policy_).tolist()) == theirs.policy


def test_grid_world_can_be_solved_by_every_planner():
    grid = GridWorld.classic(living_reward=-0.04, discount=0.95)
    arrows = {grid.arrows(plan(name, grid).policy_) for name in PLANNERS}
    assert len(arrows) == 1


# the same, sweep by sweep


def with_ends(discount):
    """Five states and three actions: rows of different sums, some actions not there."""
    rng = np.random.default_rng(12)
    stops = rng.uniform(0.0, 0.3, size=(5, 3))
    T = rng.dirichlet(np.ones(5), size=(5, 3)) * (1 - stops)[..., None]
    open_ = np.ones((5, 3), dtype=bool)
    open_[[0, 3, 3], [2, 0, 1]] = False
    r = rng.normal(size=(5, 3)) * 4
    return MDP(T, r, discount=discount, layout="sas", termination=stops, available=open_), T, r, open_


class Sweeps:
    """Backups of values by the formula, with their bounds."""

    def __init__(self, discount):
        self.mdp, self.T, self.r, self.open = with_ends(discount)
        self.g = discount
        sums = self.T.sum(axis=2)[self.open]
        self.most, self.least = discount * sums.max(), discount * sums.min()

    def q(self, V):
        return np.where(self.open, self.r + self.g * self.T @ V, -np.inf)

    def bounds(self, V):
        """What is added to BV: sums of c, c², ... times the smallest and the largest change."""
        change = self.q(V).max(axis=1) - V
        low, high = change.min(), change.max()
        below = low * (self.most / (1 - self.most) if low < 0 else self.least / (1 - self.least))
        return below, high * (self.most / (1 - self.most) if high > 0 else self.least / (1 - self.least))

    def along(self, policy, V):
        at = np.arange(5), policy
        return self.r[at] + self.g * self.T[at] @ V

    def told(self, model, best, V, steps, backups):
        """Compare a fitted planner with the last backup of V."""
        below, above = self.bounds(V)
        middle = best + (below + above) / 2
        np.testing.assert_allclose(model.V_, middle, atol=1e-10)
        np.testing.assert_allclose(model.Q_, self.q(middle), atol=1e-10)
        assert np.asarray(model.policy_).tolist() == self.q(V).argmax(axis=1).tolist()
        np.testing.assert_allclose(model.lower_, best + below, atol=1e-10)
        np.testing.assert_allclose(model.upper_, best + above, atol=1e-10)
        assert model.gap_ == pytest.approx((above - below) / 2, abs=1e-12)
        assert model.policy_gap_ == pytest.approx(above - below, abs=1e-12)
        assert model.residual_ == pytest.approx(np.abs(self.q(middle).max(axis=1) - middle).max(), abs=1e-12)
        np.testing.assert_allclose(model.iterate_, best, atol=1e-10)
        assert (model.n_iter_, model.n_backups_, model.converged_) == (steps, backups, True)
        truth = solve(self.mdp, "linear_program").V_
        assert (model.lower_ <= truth + 1e-8).all() and (truth <= model.upper_ + 1e-8).all()


@pytest.mark.parametrize("initial", [None, [9.0, -3.0, 0.5, 0.0, 2.0]])
@pytest.mark.parametrize(("discount", "tol"), [(0.9, 1e-4), (0.5, 1e-7), (0.9, 3.0)])
def test_sweeps_and_their_bounds_one_by_one(discount, tol, initial):
    twin = Sweeps(discount)
    V, gaps = np.array(initial if initial is not None else np.zeros(5)), []
    while not gaps or gaps[-1] > tol:
        old = V
        V = twin.q(V).max(axis=1)
        below, above = twin.bounds(old)
        gaps.append((above - below) / 2)
    model = ValueIteration(tol=tol, initial=initial, eliminate=False).fit(twin.mdp)
    twin.told(model, V, old, len(gaps), 12 * len(gaps))
    np.testing.assert_allclose(model.trace_.certificate, gaps, atol=1e-10)
    np.testing.assert_allclose(model.trace_.objective, gaps, atol=1e-10)
    shrunk = ValueIteration(tol=tol, initial=initial).fit(twin.mdp)  # rules actions out
    np.testing.assert_allclose(shrunk.V_, model.V_, atol=1e-10)
    assert shrunk.n_iter_ == model.n_iter_ and shrunk.n_backups_ <= model.n_backups_


@pytest.mark.parametrize(("discount", "tol"), [(0.9, 1e-3), (0.5, 1e-6)])
def test_the_classical_rule_stops_by_the_change_alone(discount, tol):
    twin = Sweeps(discount)
    V, errors = np.zeros(5), []
    while not errors or errors[-1] > tol:
        old = V
        V = twin.q(V).max(axis=1)
        errors.append(np.abs(V - old).max() * twin.most / (1 - twin.most))
    model = ValueIteration(tol=tol, extrapolate=False, eliminate=False).fit(twin.mdp)
    assert model.n_iter_ == len(errors)
    np.testing.assert_allclose(model.trace_.certificate, errors, rtol=1e-8)
    np.testing.assert_allclose(model.V_, V, atol=1e-10)
    assert model.gap_ == pytest.approx(max(map(abs, twin.bounds(old))), abs=1e-12)


@pytest.mark.parametrize("n_sweeps", [0, 1, 3, "auto"])
@pytest.mark.parametrize("first", [None, [1, 2, 0, 2, 1]])
@pytest.mark.parametrize(("discount", "tol"), [(0.95, 1e-6), (0.5, 1e-3)])
def test_sweeps_of_policies_one_by_one(n_sweeps, first, discount, tol):
    twin = Sweeps(discount)
    V = np.zeros(5)
    policy = np.where(twin.open, twin.mdp.expected_rewards_, -np.inf).argmax(axis=1)
    if first is not None:
        policy = np.array(first)
        V = twin.along(policy, V)
    sweeps, steps, backups, half = 5 if n_sweeps == "auto" else n_sweeps, 0, 0, np.inf
    while half > tol:
        old, before = V, policy
        policy, best = twin.q(V).argmax(axis=1), twin.q(V).max(axis=1)
        below, above = twin.bounds(V)
        half = (above - below) / 2
        steps, backups = steps + 1, backups + 12
        if n_sweeps == "auto" and (policy == before).all():
            sweeps = min(2 * sweeps, 200)
        if half > tol:
            V = best
            for _ in range(sweeps):
                V = twin.along(policy, V)
            backups += sweeps * 5
    model = PolicyIteration(n_sweeps=n_sweeps, tol=tol, initial_policy=first).fit(twin.mdp)
    twin.told(model, best, old, steps, backups)


@pytest.mark.parametrize(("discount", "tol"), [(0.95, 1e-6), (0.9, 1e-2), (0.5, 1e-9)])
def test_sweeps_in_place_one_by_one(discount, tol):
    """Every tenth sweep is a true backup with bounds; one comes at once where the others hardly change."""
    twin = Sweeps(discount)
    V, sweeps, steps, half = np.zeros(5), 0, 0, np.inf
    while half > tol:
        steps += 1
        if sweeps % 10:
            old = V.copy()
            for s in range(5):
                V[s] = twin.q(V)[s].max()
            near = np.abs(V - old).max() <= tol * (1 - twin.most)
            sweeps = (sweeps // 10 + 1) * 10 if near else sweeps + 1
            continue
        old, V = V, twin.q(V).max(axis=1)
        below, above = twin.bounds(old)
        half, sweeps = (above - below) / 2, sweeps + 1
        best, V = V, V.copy()
    twin.told(ValueIteration(update="gauss_seidel", tol=tol).fit(twin.mdp), best, old, steps, 12 * steps)


@pytest.mark.parametrize("discount", [0.5, 0.95])
def test_improvements_of_exact_policies_one_by_one(discount):
    twin = Sweeps(discount)
    policy, visited, done = np.array([1, 0, 2, 2, 0]), [], False
    while not done:
        visited.append(policy.tolist())
        at = np.arange(5), policy
        V = np.linalg.solve(np.eye(5) - discount * twin.T[at], twin.r[at])
        Q = twin.q(V)
        done = bool((Q[at] >= Q.max(axis=1) - 1e-9).all())
        policy = np.where(Q[at] >= Q.max(axis=1) - 1e-9, policy, Q.argmax(axis=1))
    model = PolicyIteration(initial_policy=visited[0]).fit(twin.mdp)
    assert model.policies_.tolist() == visited and len(visited) > 1
    assert (model.n_iter_, model.n_backups_) == (len(visited), 12 * len(visited))
    np.testing.assert_allclose(model.V_, V, atol=1e-9)
    np.testing.assert_allclose(model.Q_, Q, atol=1e-9)
    assert model.optimal_actions_.sum() == 5 and model.optimal_actions_[np.arange(5), policy].all()
    assert model.gap_ == pytest.approx(0.0, abs=1e-9) and model.residual_ == pytest.approx(0.0, abs=1e-9)
    with pytest.warns(UserWarning, match="did not converge in 1 "):
        short = PolicyIteration(initial_policy=visited[0], max_iter=1).fit(twin.mdp)
    first = np.array(visited[0])
    V = np.linalg.solve(np.eye(5) - discount * twin.T[np.arange(5), first], twin.r[np.arange(5), first])
    below, above = twin.bounds(V)
    assert short.gap_ == pytest.approx((above - below) / 2) and not short.converged_
    assert short.policy_gap_ == pytest.approx(above - below)
    assert short.residual_ == pytest.approx((twin.q(V).max(axis=1) - V).max())
    np.testing.assert_allclose(short.lower_, twin.q(V).max(axis=1) + below)
    np.testing.assert_allclose(short.iterate_, V)


@pytest.mark.parametrize("n_sweeps", [None, 0, 2, "auto"])
def test_without_a_discount_sweeps_end_with_the_change_and_the_policy_is_evaluated(n_sweeps):
    world = GridWorld.small(start=(2, 0), living_reward=-0.04, discount=1.0)
    if n_sweeps is None:
        model = ValueIteration(tol=1e-3).fit(world)
    else:
        model = PolicyIteration(n_sweeps=n_sweeps, tol=1e-3).fit(world)
    P, r = world.induced(model.policy_)
    V = np.linalg.solve(np.eye(8) - P.toarray(), r)
    np.testing.assert_allclose(model.V_, V, atol=1e-9)
    np.testing.assert_allclose(model.Q_.max(axis=1), V, atol=1e-9)
    assert model.converged_ and np.isnan(model.gap_) and np.isinf(model.upper_).all()
    assert model.trace_.objective[-1] <= 1e-3 < model.trace_.objective[-2]
