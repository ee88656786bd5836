"""EM for a mixture of any family, written once: every mixture of the library is this class with a family.

The E-step and the statistics of a chunk are one pass; the M-step is the family's own estimate. `trace_` is
evaluated in the E-step, so its first entry belongs to the starting parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import generator
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import merge, per_row, total
from gnomon.core.trace import Trace
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads, check_fitted, numbers, warn, without_overflow
from gnomon.distributions.base import Expectation, Family
from gnomon.mixture import starts
from gnomon.mixture.passes import expectation, labels_of, log, log_densities, posteriors, score_sums

FADED = 1e-10  # a component with a smaller share of the rows is frozen


class MixtureState(NamedTuple):
    """Weights and components, and what the last E-step said."""

    weights: Array  # (K,)
    family: Family
    log_likelihood: float  # penalized, of the parameters before the last M-step
    mass: float  # Σ of the rows' weights


class BaseMixture(DensityMixin, Learner):
    """What all mixtures share; subclasses say which family they mix."""

    _sense: ClassVar[str] = "max"
    _stop: ClassVar[str] = "self"
    _reads = Reads(nan=True, scales=True, y="number", optional_y=True)
    _blur: ClassVar[float] = 0.2  # of the first assignment, so that no probability starts at zero
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "tol": [NOT_NEGATIVE],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [COUNT],
        "init_params": [StrOptions({"kmeans", "k-means++", "random", "random_from_data"})],
        "weights_init": ["array-like", None],
        "algorithm": [StrOptions({"em", "hard"})],
        "weight_concentration": [NOT_NEGATIVE, "array-like", None],
        "random_state": ["random_state", np.random.Generator],
        "warm_start": ["boolean"],
    }

    # what a subclass says

    def _family(self, rows: Any) -> Family:
        """Return the family without parameters."""
        raise NotImplementedError

    def _named(self, family: Family) -> dict[str, Any]:
        """Return the parameters under their public names."""
        return {}

    def _given(self, family: Family, K: int, rows: Any) -> Family | None:
        """Return the stack to start from where the user gave one."""
        return None

    def _prior(self, d: int) -> Any:
        """Return the conjugate prior of the components, or None for maximum likelihood."""
        return None

    def _log_prior(self, family: Family) -> float:
        """Return the log density of the prior at the stack, up to a constant."""
        return 0.0

    @property
    def components_(self) -> Family:
        """The components as a stack of distributions."""
        raise NotImplementedError

    # the three hooks

    def _start(self, rows: Any, rng: np.random.Generator) -> MixtureState:
        K = self.n_components
        if rows.n_rows < K:
            raise DataError(
                f"Expected n_samples >= n_components but got n_components = {K}, n_samples = {rows.n_rows}."
            )
        if rows.y is not None if rows.in_memory else False:
            total(starts.check_labels, rows, K)
        seen = total(starts.overview, rows, K)
        if np.any(seen.entries <= 0):
            name = rows.names()[int(np.argmin(seen.entries > 0))]
            raise DataError(f"column {name!r} has no observed entry; drop it.")
        weights, family = self._first(rows, K, bool(seen.missing), rng)
        return MixtureState(weights, self._apart(family), -np.inf, float(seen.rows))

    def _first(self, rows: Any, K: int, missing: bool, rng: np.random.Generator) -> tuple[Array, Family]:
        """Return starting weights and components."""
        family = self._family(rows)
        given = self._given(family, K, rows)
        if given is None:
            mass, given = starts.first_stack(
                rows,
                family,
                K,
                self.init_params,
                missing,
                rng,
                blur=self._blur,
                prior=self._prior(rows.n_features),
            )
        else:
            mass = np.ones(K)
        return self._given_weights(K, mass / mass.sum()), given

    def _given_weights(self, K: int, default: Array) -> Array:
        if self.weights_init is None:
            return default
        weights = numbers(self.weights_init, name="weights_init")
        if weights.shape != (K,):
            raise DataError(f"weights_init must have shape ({K},); got {weights.shape}.")
        if not np.all(weights >= 0) or abs(weights.sum() - 1.0) > 1e-6:
            raise DataError(f"weights_init must be probabilities; they sum to {weights.sum():.6g}.")
        return weights

    def _apart(self, family: Family) -> Family:
        """Return the start, where equal components would never part, made different."""
        return family

    def _step(self, rows: Any, state: MixtureState) -> tuple[MixtureState, Report]:
        hard = self.algorithm == "hard"
        found = total(expectation, rows, state.family, log(state.weights), hard)
        objective = float(found.log_likelihood) + self._penalty(state)
        change = abs(objective - state.log_likelihood) / state.mass
        weights, family = self._maximize(state, found)
        return MixtureState(weights, family, objective, state.mass), Report(
            objective, done=bool(change < self.tol), change=change
        )

    def _maximize(self, state: MixtureState, found: Expectation) -> tuple[Array, Family]:
        """Return the weights and components of an M-step."""
        faded = found.mass < FADED * found.mass.sum()
        family = state.family.estimate(found.statistics, self._prior(state.family.n_features)).keeping(
            state.family, faded
        )
        pseudo = np.maximum(np.where(faded, 0.0, found.mass) + self._concentration() - 1.0, 0.0)
        if pseudo.sum() <= 0:
            raise DataError("weight_concentration empties every component; raise it or use more rows.")
        return pseudo / pseudo.sum(), family

    def _concentration(self) -> Array:
        a = getattr(self, "weight_concentration", None)
        return (
            np.ones(self.n_components)
            if a is None
            else np.broadcast_to(np.asarray(a, float), self.n_components)
        )

    def _penalty(self, state: MixtureState) -> float:
        """Log density of the priors, without their constants and without emptied components."""
        if getattr(self, "weight_concentration", None) is None:
            return self._log_prior(state.family)
        used = state.weights > 0
        exponents = (self._concentration() - 1.0)[used]
        return float(exponents @ np.log(state.weights[used])) + self._log_prior(state.family)

    def _attributes(self, state: MixtureState) -> dict[str, Any]:
        return {
            "weights_": state.weights,
            "log_likelihood_": float(state.log_likelihood),
            "n_parameters_": int(state.family.parameter_count() + (state.weights > 0).sum() - 1),
            **self._named(state.family),
        }

    def _learned(self, run: Any) -> dict[str, Any]:
        bounds = run.trace.objective / run.state.mass
        facts = {"lower_bounds_": bounds, "lower_bound_": float(bounds[-1]) if len(bounds) else -np.inf}
        return {**super()._learned(run), **facts}

    def _finish(self, rows: Any, state: MixtureState) -> MixtureState:
        if np.any(state.weights <= FADED):
            faded = np.flatnonzero(state.weights <= FADED).tolist()
            if getattr(self, "weight_concentration", None) is None:
                warn(
                    f"components {faded} lost all rows and were frozen. "
                    "Lower n_components or try another start.",
                    ConvergenceWarning,
                )
        twins = _twins(state)
        if twins is not None:
            warn(
                f"components {twins[0]} and {twins[1]} are identical: EM never parts equal components. "
                "Change the start or lower n_components.",
                ConvergenceWarning,
            )
        return state

    def _state(self) -> MixtureState:
        if not np.isfinite(self.lower_bound_) or self.lower_bound_ == 0:
            return MixtureState(self.weights_, self.components_, -np.inf, 1.0)
        mass = self.log_likelihood_ / self.lower_bound_
        return MixtureState(self.weights_, self.components_, self.log_likelihood_, mass)

    # learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, labels: Any = None) -> Self:
        """Learn the mixture by EM.

        Parameters
        ----------
        X : array, DataFrame, Dask collection, Arrow dataset, or path of Parquet files
            The rows; NaN marks entries that were not observed.
        y : ignored
            Present for scikit-learn's conventions.
        sample_weight : array or column name, optional
            How many times each row counts.
        labels : array or column name, optional
            The component of every row, −1 where it is not known. With all of them known the fit is the
            labeled maximum-likelihood estimate.

        Returns
        -------
        self
            The fitted mixture.
        """
        return self._learn(self._read(X, labels, sample_weight), X=X, y=y, sample_weight=sample_weight)

    def iterate(self, X: Any, y: Any = None, sample_weight: Any = None, labels: Any = None) -> Iterator[Self]:
        """Yield a fitted copy at the start and after every step; arguments as in `fit`."""
        yield from self._iterate(self._read(X, labels, sample_weight))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit and return the likeliest component of every row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: one E-step over them, added to the statistics of all rows before.

        The first call fits the mixture to its rows.
        """
        if not hasattr(self, "sums_"):
            rows = self._read(X, None, sample_weight)
            self._learn(rows)
            return self._absorb(rows, None)
        return self._absorb(self._read(X, None, sample_weight, reset=False), self.sums_)

    def _absorb(self, rows: Any, before: Expectation | None) -> Self:
        found = total(expectation, rows, self.components_, log(self.weights_), self.algorithm == "hard")
        found = found if before is None else merge(before, found)
        state = MixtureState(
            self.weights_, self.components_, float(found.log_likelihood), float(found.mass.sum())
        )
        weights, family = self._maximize(state, found)
        old = {name: value for name, value in vars(self).items() if name.endswith("_")}
        steps = np.append(old["trace_"].objective, state.log_likelihood)
        fresh = {
            "sums_": found,
            "trace_": Trace(steps, np.append(old["trace_"].seconds, 0.0)),
            "n_iter_": old["n_iter_"] + 1,
            "lower_bounds_": np.append(old["lower_bounds_"], state.log_likelihood / state.mass),
            "lower_bound_": state.log_likelihood / state.mass,
        }
        self._adopt({**old, **self._attributes(state._replace(weights=weights, family=family)), **fresh})
        return self

    # what a fitted mixture does

    def _log_weights(self) -> Array:
        """ln π_k as predictions use it."""
        return log(self.weights_)

    def _apply(self, function: Any, X: Any) -> Any:
        return per_row(function, self._rows(X), self.components_, self._log_weights())

    def predict(self, X: Any) -> Array:
        """Return the likeliest component of every row: argmax_k π_k p_k(x)."""
        return self._apply(labels_of, X)

    def predict_proba(self, X: Any) -> Array:
        """Return the responsibilities p(k | x), shape (n, K)."""
        return self._apply(posteriors, X)

    def score_samples(self, X: Any) -> Array:
        """Return ln p(x) of every row."""
        return without_overflow(self._apply(log_densities, X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood per row."""
        value, weight = self._scored(X, sample_weight)
        return value / weight

    def _scored(self, X: Any, sample_weight: Any = None) -> tuple[float, float]:
        check_fitted(self)
        rows = self._read(X, None, sample_weight, reset=False)
        return tuple(
            without_overflow(total(score_sums, rows, self.components_, self._log_weights())).tolist()
        )

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion −2 ln L + p ln n; lower is better."""
        value, weight = self._scored(X)
        return -2.0 * value + self.n_parameters_ * float(np.log(weight))

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion −2 ln L + 2p; lower is better."""
        return -2.0 * self._scored(X)[0] + 2.0 * self.n_parameters_

    def sample(
        self, n_samples: int = 1, random_state: Any = None, *, ordered: bool = False
    ) -> tuple[Array, Array]:
        """Draw rows: a component by its weight, then a row from it.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState, Generator or None
            Where the randomness comes from; by default the one of the model.
        ordered : bool, default=False
            Whether rows are grouped by component, as in scikit-learn.

        Returns
        -------
        X : array of shape (n_samples, n_features)
        labels : array of shape (n_samples,)
        """
        check_fitted(self)
        if n_samples < 1:
            raise DataError(
                f"Invalid value for 'n_samples': {n_samples}. The sampling requires at least one sample."
            )
        rng = generator(self.random_state if random_state is None else random_state)
        labels = rng.choice(self.n_components, size=n_samples, p=self.weights_)
        if ordered:
            labels.sort()
        return self.components_.sample(labels, rng), labels

    def moments(self) -> tuple[Array, Array]:
        """Return the mean vector and the covariance matrix of the whole mixture."""
        check_fitted(self)
        family, w = self.components_, self.weights_
        means = family.mean()
        center = w @ means
        gaps = means - center
        within = getattr(family, "covariance_matrices", None)
        spread = within() if within else family.variance()[:, :, None] * np.eye(means.shape[1])
        return center, np.einsum("k,kab->ab", w, spread) + (gaps * w[:, None]).T @ gaps

    def plot(self, X: Any = None, ax: Any = None, *, columns: tuple[int, int] = (0, 1)) -> Any:
        """Draw the density of one column, or the components over two, with the rows X where they are given."""
        from gnomon.plot.mixtures import mixture

        return mixture(self, X, ax=ax, columns=columns)


def _twins(state: MixtureState) -> tuple[int, int] | None:
    """The first two components in use that have equal parameters."""
    used = np.flatnonzero(state.weights > 0)
    K = len(state.weights)
    tables = [
        v.reshape(K, -1) for v in state.family.parameters.values() if v is not None and v.shape[:1] == (K,)
    ]
    flat = np.hstack(tables)[used] if tables else np.zeros((len(used), 0))
    order = np.lexsort(flat.T[::-1]) if flat.size else np.arange(0)
    for a, b in zip(order[:-1], order[1:], strict=True):
        if np.allclose(flat[a], flat[b], rtol=1e-10, atol=1e-12 * (1.0 + np.abs(flat).max())):
            return tuple(sorted((int(used[a]), int(used[b]))))  # type: ignore[return-value]
    return None
