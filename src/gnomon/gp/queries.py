"""What a process is asked: means, spreads, intervals, draws, and where to look next."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.gp import exact, inducing


class Queries:
    """The questions to a process, before and after it has seen data."""

    def _fitted(self) -> bool:
        return hasattr(self, "fit_")

    def _asked(self, X: Any) -> Any:
        """Return the rows of a question."""
        if self._fitted():
            data = self._rows(X) if _numbers(self.kernel_, X) else self._read(X, reset=False)  # type: ignore[attr-defined]
            return data.X
        return self._read(X, np.zeros(_length(X))).X  # type: ignore[attr-defined]

    def _prior(self) -> Any:
        from gnomon.gp.process import default_kernel

        return default_kernel() if self.kernel is None else self.kernel  # type: ignore[attr-defined]

    def _shaped(self, values: Array) -> Array:
        """Return standardized means in the units and the shape of y."""
        out = values * self.y_scale_ + self.y_mean_  # type: ignore[attr-defined]
        return out[:, 0] if self.flat_ else out  # type: ignore[attr-defined]

    def _spread(self, variance: Array) -> Array:
        """Return variances in the units and the shape of y."""
        out = variance[:, None] * self.y_scale_**2  # type: ignore[attr-defined]
        return out[:, 0] if self.flat_ else out  # type: ignore[attr-defined]

    def _mean(self, X: Any) -> Array:
        way: Any = inducing if isinstance(self.fit_, inducing.Sparse) else exact  # type: ignore[attr-defined]
        return way.mean_at(self.fit_, X)  # type: ignore[attr-defined]

    def _variance(self, X: Any) -> Array:
        """Return the variance as scikit-learn has it: with the noise of the kernel, without alpha."""
        if not self._fitted():
            return self._prior().diag(X)
        way: Any = inducing if isinstance(self.fit_, inducing.Sparse) else exact  # type: ignore[attr-defined]
        return way.variance_at(self.fit_, X)  # type: ignore[attr-defined]

    def _covariance(self, X: Any) -> Array:
        if not self._fitted():
            return self._prior()(X)
        way: Any = inducing if isinstance(self.fit_, inducing.Sparse) else exact  # type: ignore[attr-defined]
        return way.covariance_at(self.fit_, X)  # type: ignore[attr-defined]

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the mean of the process at every row; before any data, that of the prior, zero.

        Parameters
        ----------
        X : array of shape (q, d)
        return_std : bool, default=False
            Also return standard deviations: of the function plus the noise of a `WhiteKernel`, without `alpha`, as in
            scikit-learn. `predict_distribution` says which noise it has.
        return_cov : bool, default=False
            Also return the joint covariance of the rows.

        Returns
        -------
        mean : array of shape (q,) or (q, t)
        std, or covariance of shape (q, q) or (q, q, t), where asked for
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        rows = self._asked(X)
        mean = self._shaped(self._mean(rows)) if self._fitted() else self._prior_mean(len(rows))
        if return_std:
            return mean, np.sqrt(self._in_units(self._variance(rows)))
        if return_cov:
            return mean, self._in_units(self._covariance(rows))
        return mean

    def _prior_mean(self, q: int) -> Array:
        t = self.n_targets  # type: ignore[attr-defined]
        return np.zeros(q) if t in (None, 1) else np.zeros((q, t))

    def _in_units(self, variance: Array) -> Array:
        """Return variances or covariances, one for each target where there are several."""
        if self._fitted():
            return variance * self.y_scale_[0] ** 2 if self.flat_ else variance[..., None] * self.y_scale_**2  # type: ignore[attr-defined]
        t = self.n_targets  # type: ignore[attr-defined]
        return variance if t in (None, 1) else np.repeat(variance[..., None], t, axis=-1)

    def predict_distribution(self, X: Any, noise: Any = False) -> Any:
        """Return the normal distribution at each row: a frozen ``scipy.stats.norm``.

        Parameters
        ----------
        X : rows
        noise : bool or array of variances, default=False
            False: of the function; True: of a new observation, with the noise of the kernel and `alpha` (where that is
            one number); an array: with the noise of the kernel and these variances.
        """
        rows = self._asked(X)
        mean = self.predict(X)
        variance = self._variance(rows)
        kernel = self.kernel_ if self._fitted() else self._prior()  # type: ignore[attr-defined]
        own = exact.noise_of(kernel, rows)
        given = np.ndim(noise) > 0
        if not given and not noise:
            return stats.norm(mean, np.sqrt(self._in_units(np.maximum(variance - own, 0.0))))
        extra: Any = 0.0
        if given:
            extra = np.asarray(noise, dtype=np.float64)
            if extra.shape != (len(rows),) or not (extra >= 0).all():
                raise DataError(
                    f"noise must hold one variance for each of the {len(rows)} rows, none negative; its shape is "
                    f"{extra.shape}."
                )
        elif not np.ndim(self.alpha):  # type: ignore[attr-defined]
            extra = float(self.alpha)  # type: ignore[attr-defined]
        return stats.norm(mean, np.sqrt(self._in_units(variance + extra)))

    def predict_interval(self, X: Any, level: float = 0.95, noise: Any = True) -> tuple[Array, Array]:
        """Return the central interval of a new observation, or of the function with ``noise=False``."""
        lower, upper = self.predict_distribution(X, noise).interval(level)
        return lower, upper

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draw functions, joint over the rows: from the posterior, or from the prior before any data.

        Parameters
        ----------
        X : array of shape (q, d)
        n_samples : int, default=1
        random_state : int, RandomState, Generator or None, default=0

        Returns
        -------
        array of shape (q, n_samples) or (q, t, n_samples)
        """
        rows = self._asked(X)
        R, _ = exact.root(self._covariance(rows))
        rng = generator(random_state)
        mean = self.predict(X)
        t = 1 if mean.ndim == 1 else mean.shape[1]
        scale = self.y_scale_ if self._fitted() else np.ones(t)  # type: ignore[attr-defined]
        draws = np.stack(
            [R @ rng.standard_normal((R.shape[1], n_samples)) * scale[j] for j in range(t)], axis=1
        )
        return mean[:, None] + draws[:, 0] if mean.ndim == 1 else mean[:, :, None] + draws

    def next_query(self, pool: Any, n: int = 1) -> Array:
        """Return the n rows of a pool to ask next: each where the process, told the ones before, knows least.

        Parameters
        ----------
        pool : rows to choose from
        n : int, default=1

        Returns
        -------
        array of row numbers; of equals the lower
        """
        rows = self._asked(pool)
        if not 1 <= n <= len(rows):
            raise DataError(f"n={n} must be between 1 and the {len(rows)} rows of the pool.")
        C = self._covariance(rows)
        kernel = self.kernel_ if self._fitted() else self._prior()  # type: ignore[attr-defined]
        own = exact.noise_of(kernel, rows)
        C = C - np.diag(own)  # of the function
        noise = own + (0.0 if np.ndim(self.alpha) else float(self.alpha))  # type: ignore[attr-defined]
        chosen: list[int] = []
        for _ in range(n):
            left = np.diagonal(C).copy()
            left[chosen] = -np.inf
            best = float(left.max())
            place = int(np.flatnonzero(left >= best - 1e-12 * abs(best))[0])
            chosen.append(place)
            column = C[:, place]
            C = C - np.outer(column, column) / max(float(C[place, place] + noise[place]), 1e-300)
        return np.array(chosen)


def _numbers(kernel: Any, X: Any) -> bool:
    return (
        bool(kernel.requires_vector_input)
        or hasattr(X, "columns")
        or (isinstance(X, np.ndarray) and X.ndim == 2)
    )


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
