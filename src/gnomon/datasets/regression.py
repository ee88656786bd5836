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


def make_omitted_variable(
    n_samples: int = 60,
    *,
    confounder: float = 2.0,
    effect: float = -1.0,
    correlation: float = 0.95,
    noise: float = 0.3,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw a problem in which a coefficient changes its sign when a second feature enters the model.

    .. math:: y = b\,x_0 + c\,x_1 + \sigma\varepsilon, \qquad \operatorname{corr}(x_0, x_1) = \rho

    Alone, :math:`x_0` seems to have the effect :math:`b + \rho c`; beside :math:`x_1`
    its effect is b.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    confounder, effect : float
        c, the weight of the variable one may omit, and b, that of the variable of interest.
    correlation : float in [-1, 1]
        The correlation rho of the two.
    noise : float
        The standard deviation sigma of the errors.
    random_state : None, int, RandomState or Generator
        Where the randomness comes from.

    Returns
    -------
    X : ndarray (n_samples, 2)
        The variable of interest and the confounder, standard normal.
    y : ndarray (n_samples,)

    Examples
    --------
    >>> X, y = make_omitted_variable(2000, random_state=0)
    >>> alone = X[:, 0] @ y / (X[:, 0] @ X[:, 0])
    >>> together = np.linalg.lstsq(X, y)[0]
    >>> round(float(alone), 1), together.round(1)
    (0.9, array([-1.,  2.]))
    """
    if not -1 <= correlation <= 1:
        raise DataError(f"correlation must be in [-1, 1], not {correlation}")
    rng = generator(random_state)
    X = rng.normal(size=(n_samples, 2))
    X[:, 1] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, 1]
    return X, X @ (effect, confounder) + noise * rng.normal(size=n_samples)


def make_income(
    n_samples: int = 30, *, noise: float = 5.0, random_state=None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw incomes that rise with education and seniority: a plane over two features.

    .. math:: \text{income} = 5.9\,\text{education} + 0.17\,\text{seniority} - 50 + \sigma\varepsilon

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        The standard deviation sigma of the errors.
    random_state : None, int, RandomState or Generator
        Where the randomness comes from.

    Returns
    -------
    X : ndarray (n_samples, 2)
        Years of education (10 to 22) and seniority (20 to 190).
    y : ndarray (n_samples,)
        Income in thousands.

    Examples
    --------
    >>> X, y = make_income(200, noise=0.0, random_state=0)
    >>> np.linalg.lstsq(np.c_[X, np.ones(200)], y)[0].round(2)
    array([  5.9 ,   0.17, -50.  ])
    """
    rng = generator(random_state)
    X = np.c_[rng.uniform(10, 22, size=n_samples), rng.uniform(20, 190, size=n_samples)]
    return X, X @ (5.9, 0.17) - 50.0 + noise * rng.normal(size=n_samples)
