"""How many hidden states: information criteria over a range of models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sklearn.base import clone

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas

CRITERIA = ("bic", "aic")


class StateSelection(NamedTuple):
    """One row per number of states (a DataFrame), and the best model, fitted."""

    table: Any
    best: Any


def select_n_states(
    X: Any,
    numbers: Iterable[int],
    *,
    criterion: str = "bic",
    model: Any = None,
    n_init: int = 10,
    lengths: Any = None,
) -> StateSelection:
    """Fit a hidden Markov model for every number of states and choose by an information criterion.

    Parameters
    ----------
    X : (n, d) array
        Observations.
    numbers : iterable of int
        Numbers of states to try.
    criterion : {"bic", "aic"}
        What decides; both are in the table.
    model : hidden Markov model, optional
        Prototype; its `n_components` and `n_init` are replaced. Default `GaussianHMM`.
    n_init : int
        Random starts for every number of states.
    lengths : sequence of int, optional
        Length of every sequence.

    Examples
    --------
    >>> from gnomon.sequence import PoissonHMM
    >>> X = [[1], [0], [2], [1], [9], [8], [11], [10], [9], [1], [0], [1]]
    >>> found = select_n_states(X, [1, 2], model=PoissonHMM(n_iter=100, random_state=0), n_init=3)
    >>> found.best.n_components
    2
    """
    pd = import_pandas()
    if criterion not in CRITERIA:
        raise DataError(f"criterion must be one of {CRITERIA}; got {criterion!r}.")
    if model is None:
        from gnomon.sequence.gaussian_hmm import GaussianHMM

        model = GaussianHMM(n_iter=100)
    fitted = [clone(model).set_params(n_components=K, n_init=n_init).fit(X, lengths=lengths) for K in numbers]
    rows = [
        {
            "states": one.n_components,
            "neg_log_likelihood": -one.score(X, lengths=lengths),
            "parameters": one.n_parameters_,
            "aic": one.aic(X, lengths),
            "bic": one.bic(X, lengths),
        }
        for one in fitted
    ]
    table = pd.DataFrame(rows)
    return StateSelection(table, fitted[int(table[criterion].argmin())])
