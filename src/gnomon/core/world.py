"""Worlds: the data of planners and agents, as arrays of a decision process or as an environment to try out."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Self

from gnomon.core.data import Data, UndigestibleError, digest_of
from gnomon.core.errors import DataError


class World(Data):
    """What planners and agents learn from."""

    def __len__(self) -> int:
        return 1

    def take(self, units: Any) -> Self:
        """A world has no parts to choose from."""
        raise DataError("a world cannot be cut into folds; judge a policy by policy.evaluate(env).")


class Process(World):
    """A world whose chances and rewards are known as arrays."""

    n_states: int
    n_actions: int
    _digested: ClassVar[tuple[str, ...]] = ()

    def facts(self) -> dict[str, Any]:
        """Return the numbers of states and actions."""
        return {"n_states_": self.n_states, "n_actions_": self.n_actions}

    def digest(self) -> str:
        """Name the arrays."""
        return digest_of(*(getattr(self, name) for name in self._digested))

    def __len__(self) -> int:
        return self.n_states


class EnvironmentWorld(World):
    """A world that can only be tried out: anything with Gymnasium's ``reset`` and ``step``."""

    def __init__(self, env: Any) -> None:
        for name in ("reset", "step", "action_space", "observation_space"):
            if not hasattr(env, name):
                raise DataError(
                    f"{type(env).__name__} is neither an MDP nor a Gymnasium environment: it has no `{name}`."
                )
        self.env = env

    @cached_property
    def n_actions(self) -> int:
        """How many actions there are; refused when they are no finite set."""
        space = self.env.action_space
        if not hasattr(space, "n"):
            raise DataError(f"the action space {space} is not Discrete; give a finite set of actions.")
        return int(space.n)

    @cached_property
    def n_states(self) -> int:
        """How many observations there are; refused when they are no finite set."""
        return math.prod(self._sizes())

    @cached_property
    def sizes(self) -> tuple[int, ...] | None:
        """How many values each part of an observation has, where it has parts."""
        return None if hasattr(self.env.observation_space, "n") else self._sizes()

    def _sizes(self) -> tuple[int, ...]:
        space = self.env.observation_space
        parts = [space] if hasattr(space, "n") else getattr(space, "spaces", [])
        if hasattr(space, "nvec"):
            return tuple(int(n) for n in space.nvec.ravel())
        if not len(parts) or not all(hasattr(part, "n") for part in parts):
            raise DataError(
                f"the observation space {space} is not Discrete; tabular agents need numbered ones. Use DQN or PPO."
            )
        return tuple(int(part.n) for part in parts)

    def number(self, observation: Any) -> int:
        """Return the number of an observation."""
        return numbered(observation, self.sizes)

    def facts(self) -> dict[str, Any]:
        """Return the numbers of actions and, where they are numbered, of states."""
        known = {}
        for name in ("n_states", "n_actions"):
            with contextlib.suppress(DataError):
                known[f"{name}_"] = getattr(self, name)
        return known

    def digest(self) -> str:
        """Name the classes of the environment and its wrappers, what they were made with, and the spaces.

        What else an environment does nobody can see.
        """
        layers = [_made_with(layer) for layer in _layers(self.env)]
        spec = getattr(self.env, "spec", None)
        settings = [
            getattr(spec, "id", None),
            sorted(map(str, (getattr(spec, "kwargs", None) or {}).items())),
        ]
        spaces = [str(self.env.action_space), str(self.env.observation_space)]
        return digest_of(layers, settings, spaces)


def _layers(env: Any) -> Iterator[Any]:
    """Yield an environment and those that it wraps or holds, from the outside in."""
    yield env
    kept = getattr(env, "__dict__", {})
    for inner in [kept["env"]] if "env" in kept else kept.get("envs", ()):
        yield from _layers(inner)


def _made_with(env: Any) -> tuple[type, dict[str, str]]:
    """Return the class and the arguments of its constructor that the environment keeps under their names."""
    found = {}
    for name in inspect.signature(type(env).__init__).parameters:
        value = getattr(env, name, getattr(env, f"_{name}", None))
        if name not in ("self", "env", "render_mode"):
            with contextlib.suppress(UndigestibleError):
                found[name] = digest_of(value)
    return type(env), found


def numbered(observation: Any, sizes: tuple[int, ...] | None) -> int:
    """Return an observation as one number, whose parts have so many values each."""
    if sizes is None:
        return int(observation)
    number = 0
    for part, size in zip(observation, sizes, strict=True):
        number = number * size + int(part)
    return number


def read_world(world: Any) -> World:
    """Return a world for what users give: a process, or an environment."""
    return world if isinstance(world, World) else EnvironmentWorld(world)
