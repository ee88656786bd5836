"""Comparison of agents over seeds, with intervals instead of single curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.validate import warn


class AgentScores(NamedTuple):
    """What the seeds of one agent reached."""

    scores: Array  # (worlds, seeds): mean return of the learned policy
    curves: list[Array]  # returns while learning, one array a world and seed
    interquartile_mean: float
    low: float
    high: float
    coverage: float  # mean share of pairs visited, NaN where it is not known
    models: list[Any]


class AgentComparison(dict[str, AgentScores]):
    """Scores by agent, best interquartile mean first."""

    def to_frame(self) -> Any:
        """Return a DataFrame with a row for every agent."""
        pd = import_pandas()
        names = ("interquartile_mean", "low", "high", "coverage")
        return pd.DataFrame(
            {name: {agent: getattr(row, name) for agent, row in self.items()} for name in names}
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the learning curves with bands over seeds."""
        from gnomon import plot

        return plot.return_curve({name: row.models for name, row in self.items()}, ax=ax)


def compare_agents(
    worlds: Any,
    agents: Mapping[str, Any],
    *,
    n_seeds: int = 5,
    n_episodes: int = 100,
    max_steps: int = 1000,
    confidence: float = 0.95,
    n_bootstrap: int = 2000,
    random_state: Any = None,
) -> AgentComparison:
    """Fit every agent with several seeds and judge the policies by playing.

    Agents are compared by the interquartile mean of their scores: the mean without the best and the worst quarter of
    the runs. Its
    interval comes from a bootstrap that draws seeds within every world (Agarwal et al. 2021).

    Parameters
    ----------
    worlds : MDP, environment, or list of them
    agents : mapping of name to agent
        Unfitted; the same agent with several behaviors shows what exploration is worth.
    n_seeds : int
        Fits of every agent in every world.
    n_episodes, max_steps : int
        Played to judge a policy.
    confidence : float
    n_bootstrap : int
    random_state : int, Generator or None

    Returns
    -------
    AgentComparison
        A dict of `AgentScores` with ``to_frame`` and ``plot``.

    Examples
    --------
    >>> from gnomon.decide import GridWorld, ModelBased, QLearning
    >>> grid = GridWorld.small(start=(2, 0))
    >>> agents = {"Q": QLearning(n_episodes=30), "model": ModelBased(n_episodes=30)}
    >>> found = compare_agents(grid, agents, n_seeds=3, n_episodes=20, random_state=0)
    >>> sorted(found), found["model"].low <= found["model"].interquartile_mean <= found["model"].high
    (['Q', 'model'], True)
    """
    if n_seeds < 1 or not agents:
        raise DataError("compare_agents needs at least one agent and one seed.")
    if n_seeds < 3:
        warn(f"an interval from n_seeds={n_seeds} says little; use at least 3.")
    places = list(worlds) if isinstance(worlds, list | tuple) else [worlds]
    rng = generator(random_state)
    seeds = [int(rng.integers(2**31)) for _ in range(n_seeds)]
    test, draws = draw_seed(rng), draw_seed(rng)
    found = {}
    for name, agent in agents.items():
        models = [
            [clone(agent).set_params(random_state=seed).fit(place) for seed in seeds] for place in places
        ]
        scores = np.array(
            [
                [
                    one.policy_.evaluate(place, n_episodes, max_steps=max_steps, random_state=test).mean
                    for one in row
                ]
                for place, row in zip(places, models, strict=True)
            ]
        )
        flat = [one for row in models for one in row]
        seen = [float((one.visits_ > 0).mean()) for one in flat if hasattr(one, "visits_")]
        low, high = bootstrap_interval(scores, confidence, n_bootstrap, draws)
        found[name] = AgentScores(
            scores, [one.returns_ for one in flat], interquartile_mean(scores), low, high,
            float(np.mean(seen)) if seen else float("nan"), flat,
        )  # fmt: skip
    return AgentComparison(sorted(found.items(), key=lambda item: -item[1].interquartile_mean))


def interquartile_mean(scores: Array) -> float:
    """Return the mean without the lowest and the highest quarter; quarters that end within a score take part of it."""
    values = np.sort(np.ravel(scores))
    n = len(values)
    edges = np.clip(np.arange(n + 1), n / 4, 3 * n / 4)
    weight = np.diff(edges)
    return float((weight * values).sum() / weight.sum())


def bootstrap_interval(scores: Array, confidence: float, n_bootstrap: int, seed: int) -> tuple[float, float]:
    """Return the interval of the interquartile mean; seeds are drawn anew within every world."""
    rng = np.random.Generator(np.random.PCG64(seed))
    W, n = scores.shape
    drawn = [
        interquartile_mean(np.take_along_axis(scores, rng.integers(0, n, size=(W, n)), axis=1))
        for _ in range(n_bootstrap)
    ]
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
