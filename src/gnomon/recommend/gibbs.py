"""Bayesian matrix factorization: the posterior of the vectors instead of a point."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.ratings import RatingMatrix
from gnomon.core.steps import Report
from gnomon.core.threads import shared
from gnomon.core.validate import COUNT, POSITIVE
from gnomon.recommend.alternating import Side, Sides, inner, predictions, sides_of
from gnomon.recommend.base import RatingRecommender
from gnomon.recommend.factored import central_interval


class Chain(NamedTuple):
    """Where the sampler stands."""

    U: Array
    V: Array
    noise: float
    precision: float
    seed: int
    sweep: int
    kept: tuple[tuple[Array, Array, float], ...]


class BayesianMatrixFactorization(RatingRecommender):
    r"""Posterior of probabilistic matrix factorization, by Gibbs sampling.

    .. math:: u_a, v_i \sim N(0, \tau^{-1} I), \qquad Y_{ai} \sim N(u_a \cdot v_i, \sigma^2)

    Given the items, every user is Gaussian with precision
    :math:`\Lambda = \tau I + \sum v_i v_i^T / \sigma^2` and mean
    :math:`\Lambda^{-1} \sum Y_{ai} v_i / \sigma^2` (the ridge regression of alternating least squares with λ
    = τσ²), and the
    other way round. Averaging over the draws predicts better than any one of them when ratings are few, and
    tells how
    sure it is. It keeps every draw: use `MatrixFactorization` where that is too much.

    Parameters
    ----------
    factors : int
        Length of the vectors.
    noise_variance, prior_precision : float, optional
        σ² and τ; drawn along, under weak inverse-gamma and gamma priors on the scale of the ratings, where
        not given.
    n_burn, n_samples : int
        Sweeps thrown away, sweeps kept.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from. The order of the ratings does not matter to it, nor do threads.

    Attributes
    ----------
    user_samples_, item_samples_ : arrays of shape (n_samples, n, k) and (n_samples, m, k)
        The draws.
    noise_samples_ : array
        σ² of every draw.
    trace_ : Trace
        Root mean squared error on the training ratings in every sweep.

    Examples
    --------
    >>> Y = [[5, 3, np.nan], [4, np.nan, 1], [1, 1, 5]]
    >>> model = BayesianMatrixFactorization(2, random_state=0).fit(Y)
    >>> low, high = model.predict_interval([(0, 2)], level=0.8)
    >>> bool(low[0] < model.predict([(0, 2)])[0] < high[0])
    True
    """

    _stop: ClassVar[str] = "self"
    _monotone: ClassVar[bool] = False
    _unit: ClassVar[str] = "sweep"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "factors": [COUNT],
        "noise_variance": [POSITIVE, None],
        "prior_precision": [POSITIVE, None],
        "n_burn": [COUNT],
        "n_samples": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        factors: int = 10,
        *,
        noise_variance: float | None = None,
        prior_precision: float | None = None,
        n_burn: int = 50,
        n_samples: int = 150,
        random_state: Any = None,
    ) -> None:
        self.factors = factors
        self.noise_variance = noise_variance
        self.prior_precision = prior_precision
        self.n_burn = n_burn
        self.n_samples = n_samples
        self.random_state = random_state

    def _limit(self) -> int:
        return int(self.n_burn) + int(self.n_samples)

    def _prepare(self, R: RatingMatrix) -> Sides:
        return sides_of(R)

    def _start(self, sides: Sides, rng: np.random.Generator) -> Chain:
        k = int(self.factors)
        seed = draw_seed(rng)
        V = rng.normal(size=(len(sides.items.counts), k)) / np.sqrt(k)
        U = np.zeros((len(sides.users.counts), k))
        spread = float(sides.values.var()) or 1.0
        noise = float(self.noise_variance) if self.noise_variance is not None else spread
        precision = float(self.prior_precision) if self.prior_precision is not None else 1.0
        return Chain(U, V, noise, precision, seed, 0, ())

    def _step(self, sides: Sides, state: Chain) -> tuple[Chain, Report]:
        rng = stream(state.seed, state.sweep)
        noise, tau = state.noise, state.precision
        U = self._drawn(sides.users, state.V, tau, noise, draw_seed(rng))
        V = self._drawn(sides.items, U, tau, noise, draw_seed(rng))
        rest = sides.values - predictions(sides.rows, sides.columns, U, V)
        square = inner(rest, rest)
        scale = float(np.mean(sides.values**2)) or 1.0
        if self.noise_variance is None:
            spread = float(sides.values.var()) or scale
            noise = float((0.5 * spread + 0.5 * square) / rng.gamma(2.0 + 0.5 * len(rest)))
        if self.prior_precision is None:
            size = float((U**2).sum() + (V**2).sum())
            tau = float(rng.gamma(1.0 + 0.5 * (U.size + V.size)) / (np.sqrt(scale / U.shape[1]) + 0.5 * size))
        kept = state.kept
        if state.sweep >= int(self.n_burn):
            kept = (*kept, (U, V, noise))
        fresh = Chain(U, V, noise, tau, state.seed, state.sweep + 1, kept)
        info = {"noise_variance": noise, "prior_precision": tau}
        done = fresh.sweep >= self._limit()
        return fresh, Report(float(np.sqrt(square / len(rest))), done=done, info=info)

    def _drawn(self, side: Side, V: Array, tau: float, noise: float, seed: int) -> Array:
        from gnomon.loops.gibbs import draw_rows

        out = np.empty((len(side.counts), V.shape[1]))

        def piece(edges: tuple[int, int]) -> None:
            runs = side.runs
            draw_rows(*edges, runs.starts, runs.others, runs.values, V, tau, noise, seed, out)

        shared(piece, side.pieces)
        return out

    def _attributes(self, state: Chain) -> dict[str, Any]:
        kept = state.kept or ((state.U, state.V, state.noise),)
        return {
            "user_samples_": np.stack([one[0] for one in kept]),
            "item_samples_": np.stack([one[1] for one in kept]),
            "noise_samples_": np.array([one[2] for one in kept]),
        }

    def _check_arrays(self) -> None:
        super()._check_arrays()
        S = len(self.noise_samples_)
        U, V = self.user_samples_, self.item_samples_
        if U.shape[:2] != (S, len(self.users_)) or V.shape != (S, len(self.items_), U.shape[2]):
            raise ModelFileError("its draws do not fit its users and items; save the model again.")

    def _moments(self, users: Array, items: Array) -> tuple[Array, Array]:
        """Return mean and variance of u · v over the draws, in one pass without cancellation."""
        mean, spread = np.zeros(len(users)), np.zeros(len(users))
        for s, (U, V) in enumerate(zip(self.user_samples_, self.item_samples_)):
            value = predictions(users, items, U, V)
            change = value - mean
            mean += change / (s + 1)
            spread += change * (value - mean)
        return mean, spread / max(1, len(self.noise_samples_) - 1)

    def _scores(self, users: Array, items: Array) -> Array:
        return self._moments(users, items)[0]

    def predict_distribution(self, X: Any) -> tuple[Array, Array]:
        """Return mean and standard deviation of the rating of every pair.

        The variance is that of u · v over the draws plus the mean of σ². For an id without ratings it is that
        of the
        training ratings plus the mean of σ².
        """
        known = self._known(X)
        mean = self._answer(known, False)[0]
        noise = float(self.noise_samples_.mean())
        variance = np.full(len(mean), float(self.ratings_.data.var()) + noise)
        users, items = self._with_ratings(known)
        both = (users >= 0) & (items >= 0)
        if both.any():
            variance[both] = self._moments(users[both], items[both])[1] + noise
        return mean, np.sqrt(variance)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Return the lower and upper end of the central interval of every rating, by `predict_distribution`."""
        return central_interval(*self.predict_distribution(X), level)

    def _item_vectors(self) -> Any:
        return np.hstack(self.item_samples_)

    def _user_vectors(self) -> Any:
        return np.hstack(self.user_samples_)
