"""Environments: a process as a Gymnasium environment, and episodes played in any environment."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from gnomon.core.errors import DataError, WorldError
from gnomon.core.linalg import Array
from gnomon.loops import worlds

try:
    import gymnasium
    from gymnasium.spaces import Discrete

    Base: Any = gymnasium.Env
except ModuleNotFoundError:  # learners then get a process in its own right, or an environment made elsewhere

    class Discrete:  # type: ignore[no-redef]
        """Numbers from 0 to n − 1."""

        def __init__(self, n: int) -> None:
            self.n = n

    Base = object


class MDPEnv(Base):  # type: ignore[misc]
    """A Markov decision process as a Gymnasium environment with Discrete spaces.

    ``reset(seed=...)`` says all that is random in what follows; ``options={"state": s}`` begins in a state.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, mdp: Any, max_steps: int | None = None, render_mode: str | None = None) -> None:
        self.mdp, self.max_steps, self.render_mode = mdp, max_steps, render_mode
        self.observation_space, self.action_space = Discrete(mdp.n_states), Discrete(mdp.n_actions)
        self._arrays, self._start = tuple(mdp._sampler), mdp._cumulative_start
        self._key: Any = None
        self._counter, self._time, self.state = 0, 0, -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin an episode; return its first state and an empty dict."""
        if seed is not None or self._key is None:
            seed = int(np.random.default_rng().integers(2**31)) if seed is None else int(seed)
            self._key, self._counter = worlds.key_of(seed, 0), 0
        u = worlds.draw(self._key, self._counter)
        self._counter += 1
        chosen = (options or {}).get("state")
        self.state = int(worlds.first_state(self._start, u)) if chosen is None else int(chosen)
        self._time = 0
        return self.state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move; return the next state, the reward, terminated, truncated and an empty dict."""
        if self.state < 0:
            raise WorldError(
                "step was called before reset, or after the episode had ended; call reset first."
            )
        if not 0 <= action < self.mdp.n_actions or not self.mdp.available[self.state, action]:
            raise DataError(f"action {action} is not available in state {self.state}.")
        to, reward = worlds.move(
            *self._arrays, self.state * self.mdp.n_actions + int(action), self._key, self._counter
        )
        self._counter += 1
        self._time += 1
        terminated = to < 0
        shown = self.state if terminated else int(to)
        self.state = -1 if terminated else shown
        truncated = not terminated and self.max_steps is not None and self._time >= self.max_steps
        return shown, float(reward), bool(terminated), bool(truncated), {}

    def render(self) -> str:
        """Return the state as text; a grid world shows where the robot is."""
        if hasattr(self.mdp, "cell") and self.state >= 0:
            i, j = self.mdp.cell(self.state)
            lines = [
                list(line)
                for line in self.mdp.arrows(np.zeros(self.mdp.n_states, dtype=int))
                .replace("↑", "·")
                .split("\n")
            ]
            lines[i][j] = "R"
            return "\n".join("".join(line) for line in lines)
        return f"state {self.state}"


class Stream:
    """The random numbers of one episode: draw(key, 0), draw(key, 1), ..."""

    def __init__(self, key: Any) -> None:
        self.key, self.counter = key, 0

    def random(self) -> float:
        """Return the next number in [0, 1)."""
        u = float(worlds.draw(self.key, self.counter))
        self.counter += 1
        return u


def reset(env: Any, seed: int) -> Any:
    """Reset an environment by a seed and return the observation; a failure is told as such."""
    try:
        told = env.reset(seed=int(seed))
    except Exception as error:
        raise WorldError(f"the environment failed in reset: {type(error).__name__}: {error}") from error
    if not isinstance(told, tuple) or len(told) != 2:
        raise WorldError(
            "env.reset must return (observation, info), as Gymnasium's environments do; wrap older ones."
        )
    return told[0]


def step(env: Any, action: Any) -> tuple[Any, float, bool, bool]:
    """Make one step and return observation, reward, terminated and truncated; a failure is told as such."""
    try:
        told = env.step(action)
    except Exception as error:
        raise WorldError(
            f"the environment failed at action {action}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(told, tuple) or len(told) != 5:
        raise WorldError(
            f"env.step returned {len(told) if isinstance(told, tuple) else 1} values; Gymnasium's "
            f"environments return (observation, reward, "
            "terminated, truncated, info). Wrap older ones."
        )
    reward = float(told[1])
    if not isfinite(reward):
        raise WorldError(f"the environment paid {reward} for action {action}; rewards must be finite.")
    return told[0], reward, bool(told[2]), bool(told[3])


def play_episode(env: Any, policy: Any, seed: int, episode: int, max_steps: int) -> dict[str, Array]:
    """Play one episode by a policy and return what happened."""
    observation = reset(env, worlds.episode_seed(seed, episode))
    stream = Stream(worlds.key_of(seed, 2 * episode + 1))
    policy.begin()
    seen, actions, rewards = [observation], [], []
    terminated = truncated = False
    for t in range(max_steps):
        action = policy.act(observation, stream, step=t)
        observation, reward, terminated, truncated = step(env, action)
        seen.append(observation)
        actions.append(action)
        rewards.append(reward)
        if terminated or truncated:
            break
    return {
        "observations": np.array(seen),
        "actions": np.array(actions),
        "rewards": np.array(rewards),
        "terminated": np.array(terminated),
        "truncated": np.array(truncated or not terminated),
    }


def _chain(n: int = 5) -> Any:
    """Forward pays at the end of the chain alone; a small reward tempts at its begin."""
    from gnomon.decide.process import MDP

    def outcomes(s: int, a: int) -> list[tuple[float, int, float]]:
        onward, back = (min(s + 1, n - 1), 10.0 if s == n - 1 else 0.0), (0, 2.0)
        likely, seldom = (onward, back) if a == 0 else (back, onward)
        return [(0.8, *likely), (0.2, *seldom)]

    return MDP.from_function(n, 2, outcomes, discount=0.95, start=0)


def make_grid_small(**options: Any) -> MDPEnv:
    """Return the small grid as an environment."""
    from gnomon.decide.grids import GridWorld

    return MDPEnv(GridWorld.small(start=(2, 0)), **options)


def make_grid_classic(**options: Any) -> MDPEnv:
    """Return the classic grid as an environment."""
    from gnomon.decide.grids import GridWorld

    return MDPEnv(GridWorld.classic(start=(2, 0), living_reward=-0.04), **options)


def make_chain(**options: Any) -> MDPEnv:
    """Return a chain of five states that tempts to turn back."""
    return MDPEnv(_chain(), **options)


def make_bandit(**options: Any) -> MDPEnv:
    """Return a bandit of three arms as an environment of one state."""
    from gnomon.decide.arms import Bandit

    return MDPEnv(Bandit.bernoulli([0.2, 0.5, 0.7]).to_mdp(0.9), **options)


def make_hidden_grid(**options: Any) -> Any:
    """Return the small grid seen through noisy sensors."""
    from gnomon.decide.beliefs import HiddenEnv
    from gnomon.decide.grids import GridWorld
    from gnomon.decide.hidden import ActionHMM

    grid = GridWorld.small(start=(2, 0))
    return HiddenEnv(grid, ActionHMM.from_grid(grid), **options)


ENVIRONMENTS = {
    "gnomon/GridWorldSmall-v0": make_grid_small,
    "gnomon/GridWorldClassic-v0": make_grid_classic,
    "gnomon/Chain-v0": make_chain,
    "gnomon/Bandit-v0": make_bandit,
    "gnomon/HiddenGrid-v0": make_hidden_grid,
}


def register() -> None:
    """Make the environments known to Gymnasium: ``gymnasium.make("gnomon/GridWorldSmall-v0")``."""
    for name, make in ENVIRONMENTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=make, max_episode_steps=200)


if Base is not object:
    register()
