"""Posterior sampling: act optimally in a process drawn from those that the data allow."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import generator, stream
from gnomon.core.validate import POSITIVE
from gnomon.core.watching import Run
from gnomon.core.world import Process
from gnomon.decide.counted import EmpiricalModel, check_reward_prior
from gnomon.decide.modeled import Counting, Learned, Work, planned
from gnomon.decide.process import MDP
from gnomon.decide.tabular import AGENT


class PosteriorSampling(Counting):
    r"""Thompson sampling over processes: draw one that the data allow, act optimally in it, learn, repeat.

    .. math:: T(s,a,\cdot) \sim \mathrm{Dirichlet}(c + N(s,a,\cdot)), \qquad R(s,a) \sim \text{Normal-Gamma posterior}

    Exploration fades by itself as the posterior closes in on the truth (Strens 2000; Osband et al. 2013).

    Parameters
    ----------
    discount : float
        γ below 1.
    prior_count : float
        c of the Dirichlet, above 0.
    reward_prior : (m, κ, a, b) or "known"
        Normal-Gamma prior of every mean reward; "known" takes the rewards of the MDP.
    resample : "episode", "doubling" or int
        When a new process is drawn.
    support : sequence of sequences of int, optional
        For every pair s·A + a the states that may follow (−1: an end). Without it any may, which costs S draws a pair.
    n_episodes, max_steps, n_steps, random_state
        As in `QLearning`.

    Attributes
    ----------
    model_ : EmpiricalModel
    Q_, V_, policy_
        Of the posterior mean.
    posterior_ : RewardPosterior
    expected_rewards_ : (S, A) array
        With ``reward_prior="known"``.
    returns_, coverage_, visits_, trace_

    Examples
    --------
    >>> from gnomon.decide import GridWorld
    >>> grid = GridWorld.small(start=(2, 0))
    >>> agent = PosteriorSampling(discount=0.9, n_episodes=150, random_state=0).fit(grid)
    >>> bool(agent.returns_[-50:].mean() > agent.returns_[:20].mean())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AGENT,
        "prior_count": [POSITIVE],
        "reward_prior": ["array-like", StrOptions({"known"})],
        "support": ["array-like", None],
        "resample": [StrOptions({"episode", "doubling"}), Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        discount: float = 0.95,
        prior_count: float = 1.0,
        reward_prior: Any = (0.0, 1.0, 1.0, 1.0),
        resample: int | str = "episode",
        support: Any = None,
        n_episodes: int = 100,
        max_steps: int = 1000,
        n_steps: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.discount, self.prior_count, self.reward_prior = discount, prior_count, reward_prior
        self.resample, self.support = resample, support
        self.n_episodes, self.max_steps, self.n_steps, self.random_state = (
            n_episodes,
            max_steps,
            n_steps,
            random_state,
        )

    def _when(self) -> Any:
        return self.resample

    def _plan(self, work: Work, model: EmpiricalModel, Q: Array, seed: int) -> Array:
        known = work.world.expected_rewards_ if isinstance(work.world, Process) else None
        mdp = self._drawn(model, stream(seed, 1), known, work.rule.available.astype(bool))
        return planned(mdp, np.zeros_like(Q))

    def _alpha(self, model: EmpiricalModel) -> tuple[Any, Array]:
        """Dirichlet parameters of the successors (CSR) and of an end."""
        S, A = model.n_states, model.n_actions
        if self.support is None:
            alpha = sparse.csr_array(model.counts_.toarray() + self.prior_count)
            return alpha, model.ends_ + (self.prior_count if model.ends_.any() else 0.0)
        rows = np.repeat(np.arange(S * A), [len(one) for one in self.support])
        to = np.concatenate([np.asarray(one, dtype=np.int64) for one in self.support])
        on = to >= 0
        prior = sparse.csr_array((np.full(on.sum(), self.prior_count), (rows[on], to[on])), shape=(S * A, S))
        return sparse.csr_array(model.counts_ + prior), model.ends_ + self.prior_count * np.bincount(
            rows[~on], minlength=S * A
        )

    def _drawn(
        self, model: EmpiricalModel, rng: Any, known: Array | None = None, available: Array | None = None
    ) -> MDP:
        alpha, ends = self._alpha(model)
        S, A = model.n_states, model.n_actions
        draws = alpha.copy()
        draws.data = rng.standard_gamma(alpha.data)
        over = rng.standard_gamma(np.maximum(ends, 1e-300)) * (ends > 0)
        total = np.asarray(draws.sum(axis=1)).ravel() + over
        rows = sparse.csr_array(sparse.diags_array(1.0 / np.maximum(total, 1e-300)) @ draws)
        if isinstance(self.reward_prior, str):
            if self.reward_prior != "known" or known is None:
                raise DataError("reward_prior must be (m, kappa, a, b), or 'known' in an MDP.")
            mean = known
        else:
            m, kappa, a, b = model.reward_posterior(check_reward_prior(self.reward_prior))
            precision = rng.standard_gamma(a) / b
            mean = m + rng.standard_normal(m.shape) / np.sqrt(kappa * precision)
        rows.sum_duplicates()
        paid = mean.ravel()
        return MDP._of(
            rows, np.repeat(paid, np.diff(rows.indptr)), (over / np.maximum(total, 1e-300)).reshape(S, A), mean,
            float(self.discount), allowed=available,
        )  # fmt: skip

    def sample_model(self, random_state: Any = None) -> MDP:
        """Draw a process from the posterior.

        Parameters
        ----------
        random_state : int, Generator or None
        """
        return self._drawn(self.model_, generator(random_state), *self._world())

    def _world(self) -> tuple[Array | None, Array]:
        """What is known of the world without counting: the rewards, where they are, and the actions."""
        return getattr(self, "expected_rewards_", None), np.isfinite(self.Q_)

    def value_interval(
        self, n_draws: int = 100, level: float = 0.9, random_state: Any = None
    ) -> tuple[Array, Array]:
        """Return credible bounds of the value of `policy_` in every state, from drawn processes."""
        rng, world = generator(random_state), self._world()
        values = [self._drawn(self.model_, rng, *world).evaluate(self.policy_).value for _ in range(n_draws)]
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high

    def _finish(self, work: Work, state: Learned) -> Learned:
        alpha, ends = self._alpha(state.model)
        total = np.asarray(alpha.sum(axis=1)).ravel() + ends
        rows = sparse.csr_array(sparse.diags_array(1.0 / total) @ alpha)
        if isinstance(self.reward_prior, str):
            mean = work.world.expected_rewards_
        else:
            mean = state.model.reward_posterior(check_reward_prior(self.reward_prior)).m
        rows.sum_duplicates()
        S, A = work.S, work.A
        mdp = MDP._of(
            rows,
            np.repeat(mean.ravel(), np.diff(rows.indptr)),
            (ends / total).reshape(S, A),
            mean,
            float(self.discount),
            allowed=work.rule.available.astype(bool),
        )
        return state._replace(Q=planned(mdp, state.Q))

    def _keep(self, run: Run, data: Any) -> None:
        super()._keep(run, data)
        if isinstance(self.reward_prior, str):
            self.expected_rewards_ = data.expected_rewards_

    def _attributes(self, state: Learned) -> dict[str, Any]:
        told = super()._attributes(state)
        if not isinstance(self.reward_prior, str):
            told["posterior_"] = state.model.reward_posterior(check_reward_prior(self.reward_prior))
        return told
