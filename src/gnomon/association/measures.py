"""How strong a rule is: measures of the 2 × 2 table of two events, their intervals and tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.association.baskets import baskets_of
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


def support(baskets: Any, items: Any, *, count: bool = False) -> float:
    """Return the share of the baskets that hold all of the items.

    Parameters
    ----------
    baskets : DataFrame of booleans, array, sparse matrix, list of lists, or path
        As in `apriori`.
    items : iterable
        Items, or column names or numbers.
    count : bool
        Whether to return how many baskets rather than which share.

    Returns
    -------
    float
        The support; 1 for no items at all.

    Examples
    --------
    >>> support([["bread", "milk"], ["bread"]], ["bread", "milk"])
    0.5
    """
    found = baskets_of(baskets)
    if not found.n:
        raise DataError("there are no baskets; support is a share of them.")
    place = {name: code for code, name in enumerate(found.names)}
    wanted = [items] if isinstance(items, str) else list(items)
    codes = [place.get(item, item if hasattr(baskets, "columns") else None) for item in wanted]
    if any(not isinstance(code, int | np.integer) or not 0 <= code < len(place) for code in codes):
        return 0.0  # an item that nobody has
    rows = np.repeat(np.arange(found.n), np.diff(found.starts))
    held = np.bincount(rows[np.isin(found.items, codes)], minlength=found.n)
    number = int((held == len(set(codes))).sum())
    return float(number) if count else number / found.n


def rule_measures(
    n: Any,
    n_a: Any,
    n_b: Any,
    n_ab: Any,
    *,
    significance: bool = False,
    level: float = 0.95,
    n_tests: int | None = None,
) -> dict[str, Array]:
    r"""Return the measures of rules A ⇒ B from counts of baskets.

    With :math:`P(A) = n_a / n` and so on:

    .. math:: \text{confidence} = P(B \mid A), \quad \text{lift} = \frac{P(A, B)}{P(A) P(B)}, \quad
              \text{leverage} = P(A, B) - P(A) P(B), \quad
              \text{conviction} = \frac{1 - P(B)}{1 - P(B \mid A)},

    Zhang's metric :math:`\text{leverage} / \max\{P(A,B)(1-P(A)),\, P(A)(P(B)-P(A,B))\}`, Jaccard
    :math:`P(A,B)/P(A \cup B)`, certainty :math:`(P(B|A)-P(B))/(1-P(B))` and Kulczynski
    :math:`\tfrac12 (P(B|A)+P(A|B))`. High confidence alone says little: with a common B every A has it, and a
    lift below
    1 means that A makes B rarer.

    Parameters
    ----------
    n, n_a, n_b, n_ab : int or array of int
        Baskets in all, with A, with B, with both.
    significance : bool
        Whether to add intervals and tests: Wilson's interval of the confidence (``confidence low`` and
        ``high``), an
        interval of the lift from that of its logarithm, ``chi2`` and its p-value, Fisher's one-sided ``fisher
        p`` (A
        makes B more frequent), and both p-values of all rules adjusted by Benjamini and Hochberg (``chi2 q``,
        ``fisher q``).
    level : float
        Of the intervals.
    n_tests : int, optional
        How many rules were looked at when these are the best of more; the adjustment then is for so many.

    Returns
    -------
    dict of arrays
        By the names of mlxtend's columns.

    Examples
    --------
    >>> found = rule_measures(5, 4, 3, 3)  # diapers => beer
    >>> {name: round(float(found[name]), 4) for name in ("support", "confidence", "lift", "conviction")}
    {'support': 0.6, 'confidence': 0.75, 'lift': 1.25, 'conviction': 1.6}
    """
    n, n_a, n_b, n_ab = _checked(n, n_a, n_b, n_ab)
    a, b, ab = n_a / n, n_b / n, n_ab / n
    with np.errstate(divide="ignore", invalid="ignore"):
        confidence, back = n_ab / n_a, n_ab / n_b
        found = {
            "antecedent support": a,
            "consequent support": b,
            "support": ab,
            "confidence": confidence,
            "lift": n_ab * n / (n_a * n_b),
            "representativity": np.ones_like(ab),
            "leverage": (n_ab * n - n_a * n_b) / n**2,
            "conviction": np.where(n_ab == n_a, np.inf, (n - n_b) * n_a / (n * (n_a - n_ab))),
            "zhangs_metric": _zhang(n, n_a, n_b, n_ab),
            "jaccard": n_ab / (n_a + n_b - n_ab),
            "certainty": np.where(n_b == n, 0.0, (n_ab * n - n_a * n_b) / (n_a * (n - n_b))),
            "kulczynski": (confidence + back) / 2,
        }
    if significance:
        found |= _tests(n, n_a, n_b, n_ab, level, n_tests)
    return {name: np.asarray(value)[()] for name, value in found.items()}


def _checked(*counts: Any) -> list[Array]:
    n, n_a, n_b, n_ab = np.broadcast_arrays(*(np.asarray(count, dtype=np.float64) for count in counts))
    if not all(np.isfinite(count).all() for count in (n, n_a, n_b, n_ab)):
        raise DataError("counts of baskets must be finite numbers.")
    if (n_ab < 0).any() or (n_ab > np.minimum(n_a, n_b)).any() or (np.maximum(n_a, n_b) > n).any():
        raise DataError("counts must satisfy 0 <= n_ab <= n_a, n_b <= n.")
    if (n <= 0).any() or (n_a + n_b - n_ab > n).any():
        raise DataError(
            "counts must satisfy n > 0 and n_a + n_b - n_ab <= n: baskets with A or B are among all."
        )
    return [n, n_a, n_b, n_ab]


def _zhang(n: Array, n_a: Array, n_b: Array, n_ab: Array) -> Array:
    scale = np.maximum(n_ab * (n - n_a), n_a * (n_b - n_ab))
    return np.where(scale == 0, 0.0, (n_ab * n - n_a * n_b) / np.where(scale == 0, 1.0, scale))


def _tests(
    n: Array, n_a: Array, n_b: Array, n_ab: Array, level: float, n_tests: int | None
) -> dict[str, Array]:
    from scipy import stats

    if not 0 < level < 1:
        raise DataError(f"level must lie between 0 and 1; got {level}.")
    z = float(stats.norm.ppf(0.5 + level / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = n_ab / n_a
        middle = (rate + z**2 / (2 * n_a)) / (1 + z**2 / n_a)
        half = z * np.sqrt(rate * (1 - rate) / n_a + z**2 / (4 * n_a**2)) / (1 + z**2 / n_a)
        error = np.sqrt(np.maximum(0.0, 1 / n_ab - 1 / n_a - 1 / n_b + 1 / n))
        lift = n_ab * n / (n_a * n_b)
        expected = n_a * n_b * (n - n_a) * (n - n_b)
        chi2 = np.where(
            expected > 0, n * (n_ab * n - n_a * n_b) ** 2 / np.where(expected > 0, expected, 1), 0.0
        )
        low, high = lift * np.exp(-z * error), lift * np.exp(z * error)
    chi2_p = stats.chi2.sf(chi2, 1)
    fisher = stats.hypergeom.sf(n_ab - 1, n, n_a, n_b)
    return {
        "confidence low": np.maximum(0.0, middle - half),
        "confidence high": np.minimum(1.0, middle + half),
        "lift low": np.where(n_ab > 0, low, 0.0),
        "lift high": np.where(n_ab > 0, high, np.inf),
        "chi2": chi2,
        "chi2 p": chi2_p,
        "chi2 q": adjusted(chi2_p, n_tests),
        "fisher p": fisher,
        "fisher q": adjusted(fisher, n_tests),
    }


def adjusted(p: Array, n_tests: int | None = None) -> Array:
    """Return Benjamini and Hochberg's adjusted p-values: below q, a share q of the finds is false at most.

    >>> adjusted(np.array([0.01, 0.02, 0.5])).round(3)
    array([0.03, 0.03, 0.5 ])
    """
    flat = np.ravel(p)
    m = max(len(flat), int(n_tests or 0))
    order = np.argsort(flat, kind="stable")[::-1]
    scaled = flat[order] * m / np.arange(len(flat), 0, -1)
    found = np.empty_like(flat)
    found[order] = np.minimum(1.0, np.minimum.accumulate(scaled)) if len(flat) else scaled
    return found.reshape(np.shape(p))
