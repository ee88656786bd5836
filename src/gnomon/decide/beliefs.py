"""Beliefs about a hidden state: policies that act on them, and worlds that ask for one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.decide.environments import Base, Discrete
from gnomon.decide.journeys import shown
from gnomon.decide.policies import Acting


class BeliefPolicy(Acting):
    """A policy that keeps a belief about the hidden state and acts on it."""

    def __init__(self, hmm: Any, Q: Array, rule: str = "qmdp") -> None:
        if rule not in ("qmdp", "most_likely"):
            raise DataError(f"rule must be 'qmdp' or 'most_likely'; got {rule!r}.")
        if Q.shape != (hmm.n_states, hmm.n_actions):
            raise DataError(f"Q must have shape ({hmm.n_states}, {hmm.n_actions}); got {Q.shape}.")
        self.hmm, self.Q, self.rule = hmm, Q, rule
        self.begin()

    def begin(self) -> None:
        """Forget where the robot was."""
        self.belief: Array | None = None
        self._last = 0

    def act(self, observation: Any, rng: Any = None, *, step: int = 0) -> int:
        """Take an observation in and return the action."""
        if self.belief is None:
            chances = self.hmm._chances()
            self.belief = self.hmm._seen(chances, chances.start, 0, int(observation))
        else:
            self.belief = self.hmm.belief_update(self.belief, self._last, int(observation))
        self._last = self.choose(self.belief)
        return self._last

    def choose(self, belief: Any) -> int:
        """Return the action for a belief."""
        b = np.asarray(belief, dtype=np.float64)
        if self.rule == "qmdp":
            with np.errstate(invalid="ignore"):  # 0 · −∞: an action missing where the robot cannot be
                return int(np.where(b[:, None] > 0, b[:, None] * self.Q, 0.0).sum(axis=0).argmax())
        return int(self.Q[int(b.argmax())].argmax())


class HiddenEnv(Base):  # type: ignore[misc]
    """A process seen through noisy sensors, as a Gymnasium environment."""

    metadata = {"render_modes": []}

    def __init__(
        self, mdp: Any, hmm: Any, max_steps: int | None = None, render_mode: str | None = None
    ) -> None:
        from gnomon.decide.environments import MDPEnv

        self.inside, self.hmm, self.render_mode = MDPEnv(mdp, max_steps), hmm, render_mode
        self.mdp, self.max_steps = mdp, max_steps
        self.observation_space, self.action_space = Discrete(hmm.n_observations), Discrete(mdp.n_actions)
        self._rng: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin an episode; the info tells the true state."""
        s, _ = self.inside.reset(seed=seed, options=options)
        if seed is not None or self._rng is None:
            self._rng = np.random.default_rng(seed)
        return self._show(s, 0), {"state": s}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move and look; the info tells the true state."""
        s, reward, terminated, truncated, _ = self.inside.step(action)
        return self._show(s, action), reward, terminated, truncated, {"state": s}

    def _show(self, s: int, action: int) -> int:
        return int(self._rng.choice(self.hmm.n_observations, p=shown(self.hmm._chances(), action)[s]))
