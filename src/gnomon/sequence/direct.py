"""Quasi-Newton ascent on the likelihood of a hidden Markov model, in unconstrained numbers.

Logits of the start and of the transition rows, and an unconstrained form of the emissions; gradients come
from the E-step (Fisher's identity: the gradient of the likelihood is that of the expected complete one).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.sequence.recursions import HiddenChain
from gnomon.sequence.stationary_start import row_softmax, softmax_gradient, start_gradient, stationary


class Form(NamedTuple):
    """A family as unconstrained numbers: out of it, back into it, and the gradient of its expected
    log-density.
    """

    pack: Callable[[Any], Array]
    unpack: Callable[[Any, Array], Any]
    gradient: Callable[[Any, Any], Array]


def _safe_log(p: Array) -> Array:
    return np.log(np.maximum(p, 1e-300))


def _poisson_gradient(family: Any, sums: Any) -> Array:
    return (sums.sums[0] - family.rate * sums.weight).ravel()


def _categorical_unpack(family: Any, flat: Array) -> Any:
    K, d, L = family.p.shape
    allowed = family.p.reshape(-1, L) > 0
    return family.replace(p=row_softmax(flat.reshape(-1, L), allowed).reshape(K, d, L))


def _categorical_gradient(family: Any, sums: Any) -> Array:
    counts = sums.counts[:, :, : family.p.shape[2]]
    return (counts - family.p * counts.sum(axis=2, keepdims=True)).ravel()


def _gaussian_pack(family: Any) -> Array:
    return np.concatenate([family.means.ravel(), np.log(family.covariances).ravel()])


def _gaussian_unpack(family: Any, flat: Array) -> Any:
    means, logs = np.split(flat, 2)
    shape = family.means.shape
    return family.replace(means=means.reshape(shape), covariances=np.exp(logs.reshape(shape)))


def _gaussian_gradient(family: Any, sums: Any) -> Array:
    gap, variance = sums.mean - family.means, family.covariances
    by_mean = sums.weight * gap / variance
    by_log = 0.5 * ((sums.scatter + sums.weight * gap**2) / variance - sums.weight)
    return np.concatenate([by_mean.ravel(), by_log.ravel()])


FORMS: dict[str, Form] = {
    "Poisson": Form(
        lambda family: _safe_log(family.rate).ravel(),
        lambda family, flat: family.replace(rate=np.exp(flat).reshape(family.rate.shape)),
        _poisson_gradient,
    ),
    "Categorical": Form(
        lambda family: _safe_log(family.p).ravel(), _categorical_unpack, _categorical_gradient
    ),
    "Gaussian": Form(_gaussian_pack, _gaussian_unpack, _gaussian_gradient),
}


def form_of(emission: Any) -> Form | None:
    """The unconstrained form of a family, where there is one."""
    if getattr(emission, "covariance_type", "diag") != "diag":
        return None
    return FORMS.get(type(emission).__name__)


def climb(
    model: Any, rows: Any, chain: HiddenChain, max_iter: int = 1000
) -> tuple[HiddenChain, float, float]:
    """Return the chain at a local maximum of the (penalized) likelihood, its objective and the
    gradient's size.
    """
    form = form_of(chain.emission)
    if form is None:
        raise DataError(
            "method='direct' knows Poisson, categorical and diagonal Gaussian emissions; use method='em'."
        )
    logits = _Logits(model, chain)

    def unpack(flat: Array) -> HiddenChain:
        return logits.chain(flat)._replace(emission=form.unpack(chain.emission, flat[logits.size :]))

    def objective(flat: Array) -> tuple[float, Array]:
        now = unpack(flat)
        expected = model._expect(rows, now)
        gradient = np.concatenate(
            [logits.gradient(now, expected), form.gradient(now.emission, expected.emission)]
        )
        return -float(expected.log_p), -gradient

    begin = np.concatenate([logits.first, form.pack(chain.emission)])
    found = minimize(
        objective,
        begin,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "ftol": 1e-14, "gtol": 1e-7},
    )
    return unpack(found.x), -float(found.fun), float(np.abs(found.jac).max())


class _Logits:
    """Start and transition rows (with the stop as one more column) as logits over what is allowed."""

    def __init__(self, model: Any, chain: HiddenChain) -> None:
        K = len(chain.start)
        self.old, self.kind = chain, model.start
        self.rows = chain.trans if chain.end is None else np.column_stack([chain.trans, chain.end])
        self.allowed = self.rows > 0
        self.free = model.start == "free"
        parts = [_safe_log(self.rows).ravel()] + ([_safe_log(chain.start)] if self.free else [])
        self.first = np.concatenate(parts)
        self.size, self.K = len(self.first), K

    def chain(self, flat: Array) -> HiddenChain:
        cut = self.rows.size
        rows = row_softmax(flat[:cut].reshape(self.rows.shape), self.allowed)
        trans, end = (rows, None) if self.old.end is None else (rows[:, :-1], rows[:, -1])
        start = self.old.start
        if self.free:
            start = row_softmax(flat[None, cut : self.size], start[None] > 0)[0] * start.sum()
        elif self.kind == "stationary":
            start = stationary(trans)
        return HiddenChain(start, np.ascontiguousarray(trans), end, None)

    def gradient(self, now: HiddenChain, expected: Any) -> Array:
        counts, rows = expected.trans, now.trans
        if now.end is not None:
            counts, rows = np.column_stack([counts, expected.end]), np.column_stack([rows, now.end])
        by_rows = counts - rows * counts.sum(axis=1, keepdims=True)
        if self.kind == "stationary":
            by_rows = by_rows + softmax_gradient(
                now.trans, start_gradient(now.trans, now.start, expected.start)
            )
        if not self.free:
            return by_rows.ravel()
        share = now.start / now.start.sum()
        return np.concatenate([by_rows.ravel(), expected.start - share * expected.start.sum()])
