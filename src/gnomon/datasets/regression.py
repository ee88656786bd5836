"""Generators of regression problems whose truth is known."""

from __future__ import annotations

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.randomness import generator

NOISES = ("gaussian", "laplace", "student_t")


def _noise(rng: np.random.Generator, kind: str, scale: float, n: int) -> np.ndarray:
    """Draw n errors of the kind named, of unit scale parameter times `scale`."""
    if kind == "gaussian":
        return scale * rng.normal(size=n)
    if kind == "laplace":
        return scale * rng.laplace(size=n)
    if kind == "student_t":
        return scale * rng.standard_t(3, size=n)
    raise DataError(f"noise_kind must be one of {NOISES}, not {kind!r}.{nearest(kind, NOISES)}")


def make_polynomial_curve(
    n_samples: int = 100,
    coefficients=(1.0, -2.0, 0.0, 3.0),
    *,
    noise: float = 0.1,
    noise_kind: str = "gaussian",
    interval: tuple[float, float] = (-1.0, 1.0),
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw points near a polynomial, with errors that may have heavy tails.

    .. math:: y_i = \sum_j c_j x_i^j + \sigma \varepsilon_i, \qquad x_i \sim U(a, b)

    Parameters
    ----------
    n_samples : int
        Number of points.
    coefficients : array-like
        c_0, c_1, ...: the degree is one less than their number.
    noise : float
        The scale sigma of the errors.
    noise_kind : {"gaussian", "laplace", "student_t"}
        Distribution of the errors; Student's t has three degrees of freedom.
    interval : pair of floats
        Where x is drawn from, uniformly; the points come sorted.
    random_state : None, int, RandomState or Generator
        Where the randomness comes from.

    Returns
    -------
    X : ndarray (n_samples, 1)
    y : ndarray (n_samples,)

    Examples
    --------
    >>> X, y = make_polynomial_curve(5, [1.0, 2.0], noise=0.0, random_state=0)
    >>> bool(np.allclose(y, 1 + 2 * X[:, 0]))
    True
    """
    rng = generator(random_state)
    x = np.sort(rng.uniform(*interval, size=n_samples))
    y = np.polynomial.polynomial.polyval(x, np.asarray(coefficients, dtype=float))
    return x[:, None], y + _noise(rng, noise_kind, noise, n_samples)


def make_sparse_regression(
    n_samples: int = 100,
    n_features: int = 200,
    n_informative: int = 10,
    *,
    correlation: float = 0.0,
    noise: float = 1.0,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Draw a linear problem in which few features matter and neighboring features are correlated.

    .. math:: y = X w + \sigma \varepsilon, \qquad \operatorname{corr}(x_j, x_k) = \rho^{|j - k|}

    The nonzero weights are spread evenly over the features and alternate between +1 and -1.

    Parameters
    ----------
    n_samples, n_features, n_informative : int
        Rows, columns, and how many columns have a weight.
    correlation : float in [0, 1)
        The correlation rho of neighboring columns.
    noise : float
        The standard deviation sigma of the errors.
    random_state : None, int, RandomState or Generator
        Where the randomness comes from.

    Returns
    -------
    X : ndarray (n_samples, n_features)
    y : ndarray (n_samples,)
    coef : ndarray (n_features,)
        The true weights w.

    Examples
    --------
    >>> X, y, coef = make_sparse_regression(50, 6, 2, noise=0.0, random_state=0)
    >>> coef
    array([ 1.,  0.,  0., -1.,  0.,  0.])
    >>> bool(np.allclose(X @ coef, y))
    True
    """
    if not 0 <= n_informative <= n_features:
        raise DataError(f"n_informative must be between 0 and n_features={n_features}, not {n_informative}")
    if not 0 <= correlation < 1:
        raise DataError(f"correlation must be in [0, 1), not {correlation}")
    rng = generator(random_state)
    X = rng.normal(size=(n_samples, n_features))
    fresh = np.sqrt(1 - correlation**2)
    for j in range(1, n_features if correlation else 0):
        X[:, j] = correlation * X[:, j - 1] + fresh * X[:, j]
    coef = np.zeros(n_features)
    places = np.arange(n_informative) * n_features // max(n_informative, 1)
    coef[places] = (-1.0) ** np.arange(n_informative)
    return X, X @ coef + noise * rng.normal(size=n_samples), coef
