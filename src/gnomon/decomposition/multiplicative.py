"""Multiplicative steps of non-negative factorization, one at a time, and parts that sum to one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix
from gnomon.decomposition import _nonnegative as nn


def nmf_step(X: Any, W: Any, H: Any, beta_loss: Any = "frobenius", *, update_order: str = "WH") -> Any:
    r"""One multiplicative iteration: new W and H, and the objective after it.

    .. math:: W \leftarrow W \circ \left(\frac{(R^{\beta-2} \circ X) H^T}{R^{\beta-1} H^T}\right)^{\gamma},
        \qquad R = WH

    then H likewise with the new W (Lee and Seung 2001; γ as in Févotte and Idier 2011). No entry becomes negative
    and the objective does not rise.

    Parameters
    ----------
    X, W, H : arrays of shapes (n, p), (n, K), (K, p)
        NaN in X marks entries that do not count.
    beta_loss : str or float
        As in `NMF`.
    update_order : {"WH", "HW"}
        Which factor moves first.

    Examples
    --------
    >>> X = [[1.0, 2.0], [3.0, 4.0]]
    >>> W, H, value = nmf_step(X, [[1.0], [1.0]], [[1.0, 1.0]], "kullback-leibler")
    >>> (W @ H).round(6), round(value, 6)
    (array([[1.2, 1.8],
           [2.8, 4.2]]), 0.040217)
    """
    beta = nn.beta_of(_checked_loss(beta_loss))
    X = np.asarray(matrix(X, nan=True), dtype=np.float64)
    W, H = np.array(W, dtype=np.float64), np.array(H, dtype=np.float64)
    if update_order not in ("WH", "HW"):
        raise DataError(f"update_order must be 'WH' or 'HW'; got {update_order!r}.")
    none = nn.Penalty()
    for letter in update_order:
        if letter == "W":
            W = nn.multiply_W(X, W, H, beta, none)
        else:
            first, second = nn.shares(X, W, H, beta)
            H = nn.multiply_H(W.T @ first, W.T @ second, H, beta, none)
    return W, H, nn.divergence(X, W @ H, beta)


def normalize_topics(W: Any, H: Any) -> tuple[Array, Array]:
    """Return W and H with every row of H summing to one and the product unchanged.

    Examples
    --------
    >>> W, H = normalize_topics([[1, 3], [2, 4]], [[2, 2, 4], [1, 3, 0]])
    >>> W, H
    (array([[ 8., 12.],
           [16., 16.]]), array([[0.25, 0.25, 0.5 ],
           [0.25, 0.75, 0.  ]]))
    """
    W, H = np.asarray(W, dtype=np.float64), np.asarray(H, dtype=np.float64)
    scale = H.sum(axis=1)
    safe = np.where(scale > 0, scale, 1.0)
    return W * safe, H / safe[:, None]


def _checked_loss(beta_loss: Any) -> Any:
    if isinstance(beta_loss, str) and beta_loss not in nn.BETAS:
        raise DataError(f"beta_loss must be a number or one of {', '.join(nn.BETAS)}; got {beta_loss!r}.")
    return beta_loss
