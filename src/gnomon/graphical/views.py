"""Other models of the library as networks; they are known by their attributes alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.graphical.net import Net


def net_of_model(model: Any, **options: Any) -> Net:
    """Return the network behind a fitted naive Bayes classifier, mixture, or (hidden) Markov chain."""
    if hasattr(model, "transmat_"):
        return _chain(model, **options)
    if hasattr(model, "to_bayesian_network"):
        return model.to_bayesian_network(**options)._network()
    if hasattr(model, "class_log_prior_") and hasattr(model, "feature_log_prob_"):
        return _naive(model, **options)
    if hasattr(model, "weights_") and hasattr(model, "probabilities_"):
        return _mixture(model, **options)
    raise DataError(
        f"{type(model).__name__} is not known as a network: give a fitted CategoricalNB, BernoulliNB, "
        "CategoricalMixture, BernoulliMixture, LatentClassModel, CategoricalHMM or MarkovChain."
    )


def _star(name: str, classes: list[Any], prior: Array, columns: list[str], tables: list[Array]) -> Net:
    """A root with all columns as children."""
    states = [tuple(classes), *(tuple(range(table.shape[1])) for table in tables)]
    normed = [table / table.sum(axis=1, keepdims=True) for table in tables]
    parents: list[tuple[int, ...]] = [(), *((0,) for _ in tables)]
    return Net([name, *columns], states, parents, [prior / prior.sum(), *normed])


def _names(model: Any, d: int) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    return [str(name) for name in names] if names is not None else [f"x{j}" for j in range(d)]


def _naive(model: Any, name: str = "class") -> Net:
    logs = model.feature_log_prob_
    if isinstance(logs, list):
        tables = [np.exp(table) for table in logs]
    elif type(model).__name__.startswith("Bernoulli"):
        p = np.exp(logs)
        tables = [np.stack([1 - p[:, j], p[:, j]], axis=1) for j in range(p.shape[1])]
    else:
        raise DataError(
            f"{type(model).__name__} counts words; only columns of categories or coins are network nodes."
        )
    prior = np.exp(model.class_log_prior_)
    return _star(name, model.classes_.tolist(), prior, _names(model, len(tables)), tables)


def _mixture(model: Any, name: str = "component") -> Net:
    p = model.probabilities_
    if p.ndim == 2:
        tables = [np.stack([1 - p[:, j], p[:, j]], axis=1) for j in range(p.shape[1])]
    else:
        used = [(p[:, j] > 0).any(axis=0) for j in range(p.shape[1])]
        tables = [p[:, j, : np.flatnonzero(used[j])[-1] + 1] for j in range(p.shape[1])]
    return _star(name, list(range(len(p))), model.weights_, _names(model, len(tables)), tables)


def _chain(model: Any, n_steps: int = 3) -> Net:
    """States z0 → z1 → …, each with its symbol where the chain is hidden."""
    start, step = np.asarray(model.startprob_), np.asarray(model.transmat_)
    if start.ndim != 1 or step.ndim != 2:
        raise DataError("only chains of first order are turned into networks.")
    emission = getattr(model, "emissionprob_", None)
    hidden = emission is not None
    labels = tuple(range(len(start))) if hidden else tuple(getattr(model, "states_", range(len(start))))
    variables = [f"z{t}" for t in range(n_steps)]
    states: list[tuple[Any, ...]] = [labels] * n_steps
    parents: list[tuple[int, ...]] = [(), *((t - 1,) for t in range(1, n_steps))]
    tables = [start / start.sum(), *([step / step.sum(axis=1, keepdims=True)] * (n_steps - 1))]
    if hidden:
        B = np.asarray(emission)
        variables += [f"x{t}" for t in range(n_steps)]
        states += [tuple(range(B.shape[1]))] * n_steps
        parents += [(t,) for t in range(n_steps)]
        tables += [B / B.sum(axis=1, keepdims=True)] * n_steps
    return Net(variables, states, parents, tables)
