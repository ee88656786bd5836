"""Worlds: the data of planners and agents, as arrays of a decision process or as an environment to try out."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from gnomon.core.data import Data, digest_of
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

    @property
    def n_actions(self) -> int:
        """How many actions there are; refused when they are no finite set."""
        return self._count("action")

    @property
    def n_states(self) -> int:
        """How many observations there are; refused when they are no finite set."""
        return self._count("observation")

    def _count(self, what: str) -> int:
        space = getattr(self.env, f"{what}_space")
        if not hasattr(space, "n"):
            raise DataError(
                f"the {what} space {space} is not Discrete; tabular agents need numbered ones. "
                + ("Use DQN or PPO." if what == "observation" else "Give a finite set of actions.")
            )
        return int(space.n)

    def facts(self) -> dict[str, Any]:
        """Return the numbers of actions and, where they are numbered, of states."""
        known = {"n_actions_": self.env.action_space, "n_states_": self.env.observation_space}
        return {name: int(space.n) for name, space in known.items() if hasattr(space, "n")}

    def digest(self) -> str:
        """Name the class, the settings it was made with and the spaces; what else an environment does nobody can see."""
        inner, spec = getattr(self.env, "unwrapped", self.env), getattr(self.env, "spec", None)
        settings = [getattr(spec, "id", None), sorted(map(str, (getattr(spec, "kwargs", None) or {}).items()))]
        spaces = [str(self.env.action_space), str(self.env.observation_space)]
        return digest_of(type(inner), settings, spaces)


def read_world(world: Any) -> World:
    """Return a world for what users give: a process, or an environment."""
    return world if isinstance(world, World) else EnvironmentWorld(world)
