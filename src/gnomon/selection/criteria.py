"""Information criteria, evidence and description length: one interface for every model with a likelihood."""

from __future__ import annotations

from inspect import signature
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.validate import probabilities


class Criteria(NamedTuple):
    """Criteria of one model; smaller is better."""

    aic: Any
    aicc: Any  # infinite with as many parameters as rows, less one
    bic: Any
    mdl: Any  # description length in bits


def information_criteria(
    log_likelihood: Any, n_parameters: Any, n_samples: Any, *, convention: str = "doubled"
) -> Criteria:
    r"""Return AIC, AICc, BIC and the description length of a fit.

    .. math::
        \mathrm{AIC} = -2L + 2K, \quad \mathrm{AICc} = \mathrm{AIC} + \frac{2K(K+1)}{N-K-1}, \quad
        \mathrm{BIC} = -2L + K\ln N, \quad \mathrm{MDL} = \frac{-L + \tfrac K2\ln N}{\ln 2}

    BIC charges more than AIC from N = 8 on. For a factorization of a matrix, N is the number of its entries.

    Parameters
    ----------
    log_likelihood, n_parameters, n_samples : numbers or arrays
        L in nats, K free numbers, N observations.
    convention : {"doubled", "halved"}, default="doubled"
        "halved" divides the first three by two: the choice is the same, but tables must not mix the two.

    Examples
    --------
    >>> found = information_criteria(-329.4603, 9, 107)
    >>> round(found.aic, 1), round(found.bic, 1)
    (676.9, 701.0)
    """
    if convention not in ("doubled", "halved"):
        hint = nearest(convention, ("doubled", "halved"))
        raise DataError(f"convention must be 'doubled' or 'halved'; got {convention!r}.{hint}")
    L, K, N = (np.asarray(value, dtype=float) for value in (log_likelihood, n_parameters, n_samples))
    if (K < 0).any():
        raise DataError(f"n_parameters must not be negative; got {n_parameters}.")
    if (N < 1).any():
        raise DataError(f"n_samples must be at least 1; got {n_samples}.")
    scale = 1.0 if convention == "doubled" else 0.5
    aic = scale * (-2 * L + 2 * K)
    with np.errstate(divide="ignore", invalid="ignore"):
        aicc = np.where(N - K - 1 > 0, aic + scale * 2 * K * (K + 1) / (N - K - 1), np.inf)
    bic = scale * (-2 * L + K * np.log(N))
    mdl = (-L + 0.5 * K * np.log(N)) / np.log(2)
    return Criteria(*(value.item() if not np.ndim(value) else value for value in (aic, aicc, bic, mdl)))


def criteria_table(models: Any, X: Any, y: Any = None, *, names: Any = None, **options: Any) -> Any:
    """Return log-likelihood, parameters, criteria and weights of fitted models on the same data.

    Parameters
    ----------
    models : sequence or mapping of fitted models
        Each has a likelihood: `log_likelihood(X, y)`, `score_samples(X)`, `score(X)` of a hidden Markov model, or
        probabilities of classes; and free parameters that `n_parameters` can count.
    X, y : data of all of them
    names : sequence of str, optional
    **options
        Handed to likelihoods, such as ``lengths`` of sequences.

    Returns
    -------
    pandas.DataFrame
        One row a model: log_likelihood, n_parameters, aic, aicc, bic, mdl, akaike_weight, bic_weight.

    Examples
    --------
    >>> from gnomon.mixture import GaussianMixture
    >>> X = np.concatenate([np.linspace(-1, 1, 30), np.linspace(9, 11, 30)])[:, None]
    >>> table = criteria_table([GaussianMixture(k, random_state=0).fit(X) for k in (1, 2)], X)
    >>> int(table["bic"].argmin()), table["n_parameters"].tolist()
    (1, [2, 5])
    """
    pd = import_pandas()
    if hasattr(models, "items"):
        names, models = list(models), list(models.values())
    if not len(models):
        raise DataError("models is empty; give at least one fitted model.")
    told = [type(model).__name__ for model in models] if names is None else [str(name) for name in names]
    n = len(X)
    for model in models:
        seen = getattr(model, "n_features_in_", None)
        width = np.shape(X)[1] if np.ndim(X) == 2 else None
        if seen is not None and width is not None and seen != width:
            raise DataError(f"{type(model).__name__} was fitted on {seen} features, and X has {width}.")
    L = np.array([log_likelihood_of(model, X, y, **options) for model in models])
    K = np.array([n_parameters(model) for model in models], dtype=float)
    found = information_criteria(L, K, n)
    return pd.DataFrame(
        {
            "log_likelihood": L,
            "n_parameters": K.astype(int) if (K == K.astype(int)).all() else K,
            "aic": found.aic,
            "aicc": found.aicc,
            "bic": found.bic,
            "mdl": found.mdl,
            "akaike_weight": model_weights(aic=found.aic),
            "bic_weight": model_weights(bic=found.bic),
        },
        index=pd.Index(told, name="model"),
    )


def log_likelihood_of(model: Any, X: Any, y: Any = None, **options: Any) -> float:
    """Return the log-likelihood that a fitted model gives to data."""
    if hasattr(model, "log_likelihood"):
        return float(
            np.sum(model.log_likelihood(X, y, **options) if y is not None else model.log_likelihood(X))
        )
    if y is not None and hasattr(model, "predict_proba"):
        place = np.searchsorted(model.classes_, y)
        with np.errstate(divide="ignore"):
            return float(np.log(model.predict_proba(X)[np.arange(len(place)), place]).sum())
    if hasattr(model, "score_samples"):
        found = model.score_samples(X, **options)
        if not isinstance(found, tuple):
            return float(np.sum(found))
        return float(found[0])  # a hidden Markov model returns the likelihood and the posterior
    if y is not None and hasattr(model, "predict"):
        residual = np.asarray(y, dtype=float) - model.predict(X)
        variance = float(np.mean(residual**2))
        if variance == 0.0:
            raise DegenerateError("the model fits without error, and its likelihood has no bound.")
        return -0.5 * len(residual) * (np.log(2 * np.pi * variance) + 1.0)
    if hasattr(model, "transmat_") and hasattr(model, "score"):
        return float(model.score(X, **options))
    raise DataError(f"{type(model).__name__} has no likelihood that is known here.")


def n_parameters(model: Any, **sizes: Any) -> float:
    """Count the free numbers of a fitted model, or of a kind of model of given sizes.

    Parameters
    ----------
    model : fitted model, or str
        One of "joint", "independent", "naive" (all with ``levels``, the numbers of values; "naive" with
        ``n_classes`` too), "gaussian" (``d``), "mixture" (``k, d, covariance_type``), "poisson mixture" (``k``),
        "hmm" (``states, emissions``, and ``stationary``), "nmf" and "low rank" (``rows, columns, rank``), "ppca"
        (``d, k``, and ``mean``), "gaussian naive" and "poisson naive" (``n_classes, d``), "regression" (``d``, and
        ``variance``), "network" (``levels, parents``).
    **sizes
        Of the kind of model.

    Examples
    --------
    >>> (
    ...     n_parameters("mixture", k=2, d=3, covariance_type="tied"),
    ...     n_parameters("low rank", rows=6, columns=5, rank=2),
    ... )
    (13, 18)
    """
    if isinstance(model, str):
        if model not in _KINDS:
            raise DataError(f"no kind of model {model!r}; there are {tuple(_KINDS)}.{nearest(model, _KINDS)}")
        try:
            return _KINDS[model](**sizes)
        except TypeError:
            asked = signature(_KINDS[model])
            raise DataError(f"{model!r} takes the sizes {asked}; got {sizes}.") from None
    for name in ("n_parameters_", "dof_", "degrees_of_freedom_"):
        if hasattr(model, name):
            return getattr(model, name)
    if hasattr(model, "n_leaves_") or hasattr(model, "get_n_leaves"):
        return int(getattr(model, "n_leaves_", None) or model.get_n_leaves())
    if hasattr(model, "covariances_") and hasattr(model, "means_"):
        k, d = np.shape(model.means_)
        return _mixture(k, d, getattr(model, "covariance_type", "full"))
    if hasattr(model, "theta_") and hasattr(model, "class_prior_"):
        return _gaussian_naive(*np.shape(model.theta_))
    if hasattr(model, "feature_log_prob_"):
        c, d = np.shape(model.feature_log_prob_)
        return c - 1 + c * (d - 1 if "Multinomial" in type(model).__name__ else d)
    if hasattr(model, "coef_"):
        used = (
            int(np.count_nonzero(model.coef_))
            if "Lasso" in type(model).__name__
            else int(np.size(model.coef_))
        )
        is_regressor = not hasattr(model, "classes_")
        return (
            used
            + int(np.size(model.intercept_) if getattr(model, "fit_intercept", True) else 0)
            + is_regressor
        )
    raise DataError(
        f"the free parameters of {type(model).__name__} are not known; give it an `n_parameters_`."
    )


def _mixture(k: int, d: int, covariance_type: str = "full") -> int:
    shapes = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}
    if covariance_type not in shapes:
        hint = nearest(covariance_type, shapes)
        raise DataError(f"covariance_type must be one of {tuple(shapes)}; got {covariance_type!r}.{hint}")
    return k - 1 + k * d + shapes[covariance_type]


def _gaussian_naive(n_classes: int, d: int) -> int:
    return n_classes - 1 + 2 * n_classes * d


def _hmm(states: int, emissions: int, stationary: bool = False) -> int:
    return states * (states - 1) + (0 if stationary else states - 1) + emissions


def _network(levels: Any, parents: Any) -> int:
    return sum((levels[i] - 1) * prod(levels[j] for j in parents[i]) for i in range(len(levels)))


_KINDS: dict[str, Any] = {
    "joint": lambda levels: prod(levels) - 1,
    "independent": lambda levels: sum(levels) - len(levels),
    "naive": lambda levels, n_classes: n_classes * sum(k - 1 for k in levels) + n_classes - 1,
    "gaussian": lambda d: d + d * (d + 1) // 2,
    "mixture": _mixture,
    "poisson mixture": lambda k: 2 * k - 1,
    "hmm": _hmm,
    "nmf": lambda rows, columns, rank: (rows + columns) * rank,
    "low rank": lambda rows, columns, rank: (rows + columns) * rank - rank**2,
    "ppca": lambda d, k, mean=True: d * k - k * (k - 1) // 2 + 1 + (d if mean else 0),
    "gaussian naive": _gaussian_naive,
    "poisson naive": lambda n_classes, d: n_classes - 1 + n_classes * d,
    "regression": lambda d, variance=True: d + 1 + int(variance),
    "network": _network,
}


def model_weights(log_evidence: Any = None, *, aic: Any = None, bic: Any = None, prior: Any = None) -> Array:
    r"""Return the posterior probabilities of models, from log evidences or (doubled) criteria.

    .. math:: P(M_k \mid x) \propto P(M_k)\,e^{\ln p(x \mid M_k)}, \qquad w_k \propto e^{-\mathrm{BIC}_k/2}

    Average predictions with them, ``np.average([m.predict(X) for m in models], axis=0, weights=w)``, or look how much
    rests on the choice of one model.

    Parameters
    ----------
    log_evidence, aic, bic : array of shape (k,)
        Exactly one.
    prior : array of shape (k,), optional
        Equal by default.

    Examples
    --------
    >>> model_weights(bic=[703.3, 701.0]).round(2)
    array([0.24, 0.76])
    """
    given = [
        (value, factor)
        for value, factor in ((log_evidence, 1.0), (aic, -0.5), (bic, -0.5))
        if value is not None
    ]
    if len(given) != 1:
        raise DataError("give exactly one of log_evidence, aic and bic.")
    logs = np.asarray(given[0][0], dtype=float) * given[0][1]
    if logs.ndim != 1 or np.isnan(logs).any() or not np.isfinite(logs).any() or (logs == np.inf).any():
        raise DataError(
            "model weights need a vector with at least one finite value, and none that is NaN or +inf."
        )
    if prior is not None:
        with np.errstate(divide="ignore"):
            logs = logs + np.log(probabilities(prior, name="prior"))
    weight = np.exp(logs - logs.max())
    return weight / weight.sum()
