"""Latent classes of a table: does one hidden variable explain how the columns hang together?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import rel_entr
from scipy.stats import chi2

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.mixture.categories import CategoricalMixture


class LatentClassTest(NamedTuple):
    """What `latent_class_test` found."""

    model: CategoricalMixture  # fitted to the cells
    table: Array  # P, the joint distribution under the model
    relative_entropy: float  # D(P̂ ‖ P) in nats
    independence: float  # D(P̂ ‖ product of the marginals): the same for one class
    n_parameters: int
    degrees_of_freedom: int  # of the full table beyond the model; below 0 the model is not identified
    gain: float  # 2n (independence − relative_entropy): likelihood ratio against one class
    misfit: float  # 2n relative_entropy: likelihood ratio of the full table against the model
    p_value: float  # of the misfit under the model; NaN without degrees of freedom


def latent_class_test(
    table: Any, k: int, *, n: float = 1.0, n_init: int = 10, random_state: Any = 0, **options: Any
) -> LatentClassTest:
    r"""Fit `k` latent classes to a joint table and hold the fit against independence and the full table.

    .. math:: P(x) = \sum_{j=1}^k \lambda_j \prod_i P(x_i \mid j), \qquad
        \hat P \mapsto \arg\min_P D(\hat P \,\|\, P)

    The maximum-likelihood fit is the projection of the table in relative entropy. One class means that the
    columns are independent. The misfit has a χ² distribution under the model, so its p-value says whether
    `k` classes are enough; the gain over one class has none that is simple (the null lies on the edge of the
    family): compare it by a parametric bootstrap.

    Parameters
    ----------
    table : array or JointTable
        Probabilities or counts, one axis for every column; scaled to sum to one.
    k : int
        Number of classes.
    n : float, default=1.0
        Number of rows behind the table; a table of counts brings its own.
    n_init, random_state, **options
        Of the `CategoricalMixture` that is fitted.

    Examples
    --------
    >>> made = np.multiply.outer([0.9, 0.1], [0.8, 0.2]) + np.multiply.outer([0.2, 0.8], [0.3, 0.7])
    >>> one, two = (latent_class_test(50 * made, k) for k in (1, 2))
    >>> round(one.relative_entropy, 6), round(abs(two.relative_entropy), 6)
    (0.063641, 0.0)
    """
    P = np.asarray(table, dtype=np.float64)
    if P.ndim < 1 or not np.isfinite(P).all() or (P < 0).any() or not P.sum() > 0:
        raise DataError("table must hold probabilities or counts: finite, not negative, not all zero.")
    n = max(n, float(P.sum()))
    P = P / P.sum()
    model = _fit(P, k, n_init=n_init, random_state=random_state, **options)
    found = _joint(model, P.shape)
    distance, alone = float(rel_entr(P, found).sum()), float(rel_entr(P, _independent(P)).sum())
    parameters = k - 1 + k * (sum(P.shape) - P.ndim)
    spare = P.size - 1 - parameters
    misfit = 2.0 * n * max(distance, 0.0)
    p_value = float(chi2.sf(misfit, spare)) if spare > 0 else float("nan")
    gain = 2.0 * n * (alone - distance)
    return LatentClassTest(model, found, distance, alone, parameters, spare, gain, misfit, p_value)


def _fit(P: Array, k: int, **options: Any) -> CategoricalMixture:
    """Maximize Σ P̂ ln P over the cells."""
    settings = {"tol": 1e-12, "max_iter": 10_000, **options}
    return CategoricalMixture(k, **settings).fit(np.argwhere(P >= 0), sample_weight=P.ravel())


def _joint(model: CategoricalMixture, shape: tuple[int, ...]) -> Array:
    """The table of the model, in the shape of the data: levels that never occurred have probability 0."""
    found = model.joint_table()
    inner = tuple(slice(0, min(have, want)) for have, want in zip(found.shape, shape, strict=True))
    out = np.zeros(shape)
    out[inner] = found[inner]
    return out


def _independent(P: Array) -> Array:
    out = np.ones(())
    for axis in range(P.ndim):
        out = np.multiply.outer(out, P.sum(axis=tuple(i for i in range(P.ndim) if i != axis)))
    return out
