"""Pictures of decisions show the numbers they are given."""

import numpy as np
import pytest

from decide.worlds import V2, two_states
from gnomon import plot
from gnomon.core.errors import DataError
from gnomon.decide import (
    UCB1,
    ActionHMM,
    Bandit,
    EpsilonGreedy,
    FiniteHorizon,
    GridWorld,
    PolicyIteration,
    QLearning,
    ValueIteration,
    solve,
)

GRID = GridWorld.small(start=(2, 0))


@pytest.fixture(autouse=True)
def close_figures():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def words(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_values_in_cells():
    model = solve(GRID)
    ax = plot.grid_map(GRID, model.V_)
    assert words(ax) == [f"{v:.2f}" for v in model.V_]
    assert model.plot(GRID).texts
    with pytest.raises(DataError, match="values must be"):
        plot.grid_map(GRID, [1.0])


def test_policy_as_arrows():
    ax = plot.grid_map(GRID, policy=solve(GRID).policy_)
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) == 6  # two cells end
    (x0, y0), (x1, y1) = arrows[0].xyann, arrows[0].xy
    assert x1 > x0 and y1 == y0  # right


def test_action_values_as_triangles():
    model = solve(GRID)
    ax = plot.grid_map(GRID, model.Q_)
    assert words(ax) == [f"{q:.2f}" for q in model.Q_.ravel()]
    with pytest.raises(DataError, match="four moves"):
        eight = GridWorld((2, 2), moves=8)
        plot.grid_map(eight, solve(eight).Q_)


def test_sweep_of_settings():
    axes = GRID.plot_policies(discounts=[0.5, 0.9])
    assert [ax.get_title() for ax in axes] == ["discount 0.5", "discount 0.9"]
    assert (
        len(GRID.plot_policies(horizons=[1, 3])) == 2 and len(GRID.plot_policies(living_rewards=[-1.0])) == 1
    )
    with pytest.raises(DataError, match="give one of"):
        GRID.plot_policies()


def test_gaps_of_planners_and_their_bound():
    mdp = two_states()
    models = {
        "sweeps": ValueIteration().fit(mdp),
        "modified": PolicyIteration(n_sweeps=2).fit(mdp),
    }
    ax = plot.return_curve(models, optimum=V2)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), models["sweeps"].trace_.certificate)
    np.testing.assert_allclose(ax.lines[-1].get_ydata()[:2], V2.max() * np.array([0.9, 0.81]))
    assert ax.get_yscale() == "log"


def test_returns_with_bands():
    agents = [QLearning(n_episodes=20, random_state=seed).fit(GRID) for seed in range(3)]
    ax = plot.return_curve({"Q": agents}, window=1)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.mean([one.returns_ for one in agents], axis=0))
    assert len(ax.collections) == 1
    ax = plot.return_curve(agents[0], against="step")
    assert ax.lines[0].get_xdata()[-1] == agents[0].n_steps_
    assert agents[0].plot().lines


def test_visits_and_beliefs_are_maps_of_the_grid():
    agent = QLearning(n_episodes=20, random_state=0).fit(GRID)
    ax = plot.grid_map(GRID, agent.visits_.sum(axis=1), fmt=".0f", path=[5, 3, 0, 1, 2])
    assert words(ax)[0] == f"{agent.visits_[0].sum():.0f}" and len(ax.lines) == 2
    belief = ActionHMM.from_grid(GRID).filter([5, 3], [0])[-1]
    assert words(plot.grid_map(GRID, belief))[3] == f"{belief[3]:.2f}"


def test_regret_and_the_lower_bound():
    arms = Bandit.bernoulli([0.3, 0.7])
    traces = {
        "UCB": arms.run(UCB1(), 60, n_runs=8, random_state=0),
        "ε": arms.run(EpsilonGreedy(), 60, n_runs=8, random_state=0),
    }
    ax = plot.return_curve(traces)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), traces["UCB"].regret.mean(axis=0))
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), arms.lower_bound(60))
    assert len(plot.return_curve(traces, share=True).lines) == 2


def test_graph_of_a_process():
    ax = two_states(state_names=["poor", "rich"]).plot([1, 0])
    assert {"poor", "rich", "0.9 / -1"} <= set(words(ax))
    with pytest.raises(DataError, match="at most 20"):
        GridWorld((5, 5)).plot()


def test_actions_against_steps_to_go():
    ax = FiniteHorizon(4).fit(two_states(discount=None)).plot()
    assert words(ax) == ["0", "1", "1", "1", "0", "0", "0", "0"] and ax.get_xlabel() == "steps to go"


def test_an_episode_as_animation(tmp_path):
    played = solve(GRID).policy_.rollout(GRID, random_state=0)[0]["observations"]
    path = plot.animate(
        [played[: k + 1] for k in range(len(played))],
        lambda states, ax: plot.grid_map(GRID, path=states, ax=ax),
        tmp_path / "robot.gif",
    )
    from PIL import Image

    with Image.open(path) as film:
        assert film.n_frames >= 2
