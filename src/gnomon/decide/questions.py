"""Questions that a process answers from its arrays alone: backups, bounds, values and gradients of policies."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.world import Process
from gnomon.decide import bellman
from gnomon.decide.evaluation import PolicyValue, evaluate, occupancy, policy_gradient
from gnomon.decide.returns import discounted_return


class Questions(Process):
    """What can be asked of a process."""

    discount: float | None
    start_: Array
    discounted_return = staticmethod(discounted_return)

    def backup(self, V: Any, discount: float | None = None) -> tuple[Array, Array]:
        r"""Return :math:`\max_a Q` and Q(s, a) = r(s, a) + γ Σ T(s, a, s′) V(s′).

        Parameters
        ----------
        V : (S,) array
        discount : float, optional
            That of the process by default.
        """
        Q = self.q_from_value(V, discount)
        return Q.max(axis=1), Q

    def q_from_value(self, V: Any, discount: float | None = None) -> Array:
        """Return Q(s, a) = r(s, a) + γ Σ T(s, a, s′) V(s′); −∞ for actions that are not available."""
        return bellman.q_values(
            self, bellman.check_values(V, self.n_states), bellman.discount_of(self, discount)
        )

    def residual(self, V: Any, discount: float | None = None) -> float:
        """Return ‖BV − V‖, the largest violation of Bellman's equation."""
        V = bellman.check_values(V, self.n_states)
        return float(np.abs(self.backup(V, discount)[0] - V).max())

    def value_bounds(self, V: Any, discount: float | None = None) -> tuple[Array, Array]:
        r"""Return L ≤ V* ≤ U from one backup of any V; the greedy policy for V is worth at least L.

        With δ = BV − V and stochastic rows these are :math:`BV + \frac{\gamma}{1-\gamma}[\min\delta, \max\delta]`
        (MacQueen 1966; Porteus 1971).

        Examples
        --------
        >>> from gnomon.decide import MDP
        >>> mdp = MDP(
        ...     [[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]], [[0, -1], [2, 0]], discount=0.9, layout="sas"
        ... )
        >>> mdp.value_bounds([0.0, 0.0])
        (array([0., 2.]), array([18., 20.]))
        """
        V = bellman.check_values(V, self.n_states)
        return bellman.value_bounds(self, V, bellman.discount_of(self, discount))

    def optimal_actions(self, Q: Any, tol: float = 1e-9) -> Array:
        """Return which actions are within `tol` of the best, as a boolean (S, A)."""
        Q = np.asarray(Q, dtype=np.float64)
        return Q >= Q.max(axis=1, keepdims=True) - tol

    def sampled_q(
        self,
        Q: Any,
        state: int,
        action: int,
        n_samples: int,
        *,
        discount: float | None = None,
        random_state: Any = None,
    ) -> tuple[float, float]:
        """Return the mean of `n_samples` targets R + γ max Q(s′, ·) of one pair, and its standard error."""
        found, spread = bellman.sampled_targets(
            self, np.asarray(Q, dtype=np.float64).max(axis=1), bellman.discount_of(self, discount), n_samples,
            draw_seed(generator(random_state)), np.array([state * self.n_actions + action]),
        )  # fmt: skip
        return float(found[0]), float(spread[0])

    def induced(self, policy: Any) -> tuple[Any, Array]:
        """Return the transition matrix (CSR) and the rewards of the chain that a policy makes."""
        return bellman.induced(self, policy)

    def evaluate(self, policy: Any, **options: Any) -> PolicyValue:
        """Return the value of a policy in every state; see `PolicyValue` and the options below.

        Parameters
        ----------
        policy : (S,) actions, (S, A) chances, (H, S) actions by steps to go, or Policy
        **options
            ``discount``; ``method``: "auto", "dense" (LAPACK), "sparse" (LU), "iterative" (BiCGSTAB), "sweeps",
            "gauss_seidel" or "monte_carlo"; ``tol``; ``horizon``; ``n_episodes``, ``max_steps``, ``random_state``.

        Examples
        --------
        >>> from gnomon.decide import MDP
        >>> mdp = MDP(
        ...     [[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]], [[0, -1], [2, 0]], discount=0.9, layout="sas"
        ... )
        >>> mdp.evaluate([[0.5, 0.5], [0.5, 0.5]]).value.round(6)
        array([0.813397, 2.248804])
        """
        return evaluate(self, policy, **options)

    def compare(self, first: Any, second: Any, **options: Any) -> str:
        """Return how two policies compare in every state: ">=", "<=", "==" or "incomparable"."""
        one, two = self.evaluate(first, **options).value, self.evaluate(second, **options).value
        slack = 1e-9 * (1.0 + np.abs(one).max())
        above, below = bool((one >= two - slack).all()), bool((two >= one - slack).all())
        return {(True, True): "==", (True, False): ">=", (False, True): "<="}.get(
            (above, below), "incomparable"
        )

    def occupancy(self, policy: Any, *, discount: float | None = None, start: Any = None) -> Array:
        """Return d = (I − γPᵀ)⁻¹ p₀: how often, discounted, each state is visited; dᵀr is the value of the start."""
        return occupancy(
            self, policy, discount, self.start_ if start is None else start_of(start, self.n_states)
        )

    def policy_gradient(
        self, logits: Any, *, discount: float | None = None, start: Any = None
    ) -> tuple[float, Array]:
        r"""Return J and its exact gradient for the policy softmax(logits) (Sutton et al. 2000).

        .. math:: \partial J / \partial \theta_{sa} = d(s)\, \pi(a|s)\, (Q^\pi(s,a) - V^\pi(s))
        """
        return policy_gradient(
            self, logits, discount, self.start_ if start is None else start_of(start, self.n_states)
        )


def start_of(start: Any, S: int) -> Array:
    """Return where episodes begin as a distribution, after checking it."""
    if start is None:
        return np.full(S, 1.0 / S)
    if np.ndim(start) == 0:
        if not 0 <= int(start) < S:
            raise DataError(f"start must be a state from 0 to {S - 1}; got {start!r}.")
        return np.eye(1, S, int(start))[0]
    chances = np.asarray(start, dtype=np.float64)
    if chances.shape != (S,) or not (chances >= 0).all() or abs(chances.sum() - 1.0) > 1e-8:
        raise DataError(
            f"start must be a distribution over {S} states; its shape is {chances.shape}, its sum {chances.sum():.6g}."
        )
    return chances.copy()
