"""Compile the loops of the family."""

import warnings
from collections.abc import Sequence

from gnomon.decide.grids import GridWorld
from gnomon.decide.improvement import PolicyIteration
from gnomon.decide.modeled import ModelBased
from gnomon.decide.sweeps import ValueIteration
from gnomon.decide.temporal import QLearning, Sarsa


def warm_up(dtypes: Sequence[str]) -> None:
    """Call every loop on a small grid."""
    grid = GridWorld.small(start=(2, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for update in ("jacobi", "gauss_seidel", "prioritized", "sampled"):
            ValueIteration(update=update, max_iter=30, random_state=0).fit(grid)
    PolicyIteration(n_sweeps="auto").fit(grid).policy_.evaluate(grid, 2, random_state=0)
    grid.changed(discount=1.0)
    for agent in (
        QLearning(n_episodes=2, random_state=0),
        Sarsa(n_episodes=2, random_state=0),
        ModelBased(n_episodes=2),
    ):
        agent.fit(grid)
    QLearning().learn_from([(0, 0, 1.0, 1)])
    QLearning(n_episodes=1, max_steps=3, random_state=0).fit(grid.to_env())
