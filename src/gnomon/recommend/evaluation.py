"""How good proposals are: ratings and lists, on ratings that were held back."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, nearest
from gnomon.core.ids import codes_of
from gnomon.core.linalg import Array
from gnomon.core.ratings import read_ratings
from gnomon.recommend.base import cosines

GAINS = ("binary", "linear", "exponential")
RATING = ("rmse", "mae", "calibration")
RANKING = ("precision", "recall", "hit_rate", "average_precision", "ndcg", "mrr")
LISTS = ("coverage", "novelty", "diversity")


def ranking_metrics(
    recommended: Any, relevant: Any, k: int = 10, *, gains: str = "binary"
) -> dict[str, float]:
    r"""Return how well a ranked list finds what is relevant.

    With hits among the first k entries and T the relevant items: precision = hits/k; recall = hits/\|T\|; hit
    rate 1 if there
    is a hit; average precision :math:`\frac{1}{\min(|T|, k)} \sum` of the precision at the ranks of hits; MRR
    1/rank of the
    first hit; and

    .. math:: \mathrm{NDCG} = \frac{\sum_r g_r / \log_2(r + 1)}{\text{the same of the ideal order}} .

    Parameters
    ----------
    recommended : sequence
        Items, best first.
    relevant : set, or dict item -> gain
        What would have been right, and how right.
    k : int
        Entries that are looked at.
    gains : {"binary", "linear", "exponential"}
        Gain 1, g, or 2^g − 1 in NDCG.

    Returns
    -------
    dict of float
        precision, recall, hit_rate, average_precision, ndcg, mrr; NaN when nothing is relevant.

    Examples
    --------
    >>> found = ranking_metrics([3, 2, 1, 4, 5], {1, 3, 5}, k=5)
    >>> {name: round(value, 4) for name, value in found.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'precision': 0.6, 'recall': 1.0, 'hit_rate': 1.0, 'average_precision': 0.7556, 'ndcg': 0.8855, 'mrr': 1.0}
    """
    if not isinstance(k, Integral) or k < 1:
        raise DataError(f"k must be a positive integer; got {k!r}.")
    if gains not in GAINS:
        raise DataError(f"gains must be one of {GAINS}; got {gains!r}.{nearest(gains, GAINS)}")
    worth = dict(relevant) if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1.0)
    if not worth:
        return dict.fromkeys(RANKING, float("nan"))
    listed = list(recommended)[:k]
    if len(set(listed)) < len(listed):
        raise DataError("recommended names an item twice.")
    hits = np.array([item in worth for item in listed], dtype=bool)
    ranks = np.flatnonzero(hits) + 1
    at_hits = np.arange(1, len(ranks) + 1) / ranks
    gained = np.array([_gain(worth[item], gains) if item in worth else 0.0 for item in listed])
    ideal = np.sort([_gain(value, gains) for value in worth.values()])[::-1][:k]
    best = _discounted(ideal)
    return {
        "precision": len(ranks) / k,
        "recall": len(ranks) / len(worth),
        "hit_rate": float(len(ranks) > 0),
        "average_precision": float(at_hits.sum() / min(len(worth), k)),
        "ndcg": _discounted(gained) / best if best > 0 else 0.0,
        "mrr": float(1.0 / ranks[0]) if len(ranks) else 0.0,
    }


def _gain(value: float, kind: str) -> float:
    return 1.0 if kind == "binary" else float(value) if kind == "linear" else 2.0 ** float(value) - 1.0


def _discounted(gains: Array) -> float:
    return float((np.asarray(gains) / np.log2(np.arange(2, len(gains) + 2))).sum())


def list_metrics(
    lists: Any, items: Any, *, popularity: Any = None, similarity: Any = None
) -> dict[str, float]:
    r"""Return what many lists are like together: coverage, novelty, diversity.

    Coverage is the share of all items that are in any list; novelty the mean of :math:`-\log_2` of an item's
    share of the users;
    diversity the mean over lists of 1 − similarity over all pairs.

    Parameters
    ----------
    lists : list of sequences
        Proposals of every user.
    items : sequence
        All items there are.
    popularity : dict item -> share, or array along items, optional
        Share of users who have the item; needed for novelty.
    similarity : array (m, m) along items, optional
        Needed for diversity.

    Returns
    -------
    dict of float
        NaN for what could not be told.

    Examples
    --------
    >>> list_metrics([[0, 1], [0, 2]], range(4), popularity=[0.5, 0.25, 0.25, 0.0])
    {'coverage': 0.75, 'novelty': 1.5, 'diversity': nan}
    """
    names = np.array(list(items))
    rows = [codes_of(list(one), names) if len(one) else np.zeros(0, dtype=np.int64) for one in lists]
    shown = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    if (shown < 0).any():
        raise DataError("a list has an item that is not among items.")
    found = {"coverage": len(np.unique(shown)) / max(1, len(names)), "novelty": np.nan, "diversity": np.nan}
    if popularity is not None and len(shown):
        if isinstance(popularity, Mapping):
            popularity = [popularity.get(name, 0.0) for name in names.tolist()]
        share = np.asarray(popularity, dtype=np.float64)
        least = share[share > 0].min(initial=1.0)  # nobody has it: as rare as the rarest
        found["novelty"] = float(-np.log2(np.where(share > 0, share, least))[shown].mean())
    if similarity is not None:
        table = (
            similarity.toarray() if sparse.issparse(similarity) else np.asarray(similarity, dtype=np.float64)
        )
        apart = [_apart(table, row) for row in rows if len(row) > 1]
        found["diversity"] = float(np.mean(apart)) if apart else np.nan
    return {name: float(value) for name, value in found.items()}


def _apart(table: Array, row: Array) -> float:
    pairs = np.triu_indices(len(row), 1)
    return float((1.0 - table[np.ix_(row, row)][pairs]).mean())


def evaluate(
    model: Any,
    train: Any,
    test: Any,
    *,
    metrics: Any = None,
    k: int = 10,
    relevant: float | None = None,
    gains: str = "binary",
    refit: bool = False,
) -> dict[str, float]:
    """Judge a recommender on ratings that were held back.

    Lists are made without what is in the training ratings, and compared with the user's test items. Root mean
    squared and mean
    absolute errors are over all test pairs together. `calibration` is the mean over users of the
    distance between the mean prediction and the mean rating.

    Parameters
    ----------
    model : recommender
        Fitted on `train`, unless `refit`.
    train, test : RatingMatrix or what makes one
        As `RatingMatrix.split` parts them.
    metrics : list of str, optional
        Of rmse, mae, calibration, precision, recall, hit_rate, average_precision, ndcg, mrr, coverage,
        novelty, diversity;
        all by default.
    k : int
        Length of the lists.
    relevant : float, optional
        Test ratings of at least this are relevant; all of them by default.
    gains : {"binary", "linear", "exponential"}
        Of NDCG.
    refit : bool
        Whether to fit a clone of the model on `train` first.

    Returns
    -------
    dict of float
        The metrics, with ``users`` (judged by lists) and ``skipped`` (without a relevant test item).

    Examples
    --------
    >>> from gnomon.recommend import MeanRecommender, RatingMatrix
    >>> R = RatingMatrix.from_dense([[5, 3, 4, 1], [4, 2, 5, 2], [1, 5, 2, 4]])
    >>> train, test = R.split(0.25, by="user", random_state=0)
    >>> found = evaluate(MeanRecommender("item"), train, test, metrics=["rmse", "hit_rate"], k=1, refit=True)
    >>> found["users"], found["skipped"]
    (3, 0)
    """
    wanted = list((*RATING, *RANKING, *LISTS) if metrics is None else metrics)
    every = (*RATING, *RANKING, *LISTS)
    for name in wanted:
        if name not in every:
            raise DataError(f"there is no metric {name!r}; choose of {every}.{nearest(name, every)}")
    train, test = read_ratings(train), read_ratings(test)
    if refit:
        from sklearn.base import clone

        model = clone(model).fit(train)
    found: dict[str, Any] = {}
    if set(wanted) & set(RATING):
        found |= _of_ratings(model, test)
    if set(wanted) & {*RANKING, *LISTS}:
        found |= _of_lists(model, train, test, k, relevant, gains, "diversity" in wanted)
    return {name: found[name] for name in (*wanted, "users", "skipped") if name in found}


def _of_ratings(model: Any, test: Any) -> dict[str, float]:
    pairs, values = test.pairs()
    miss = model.predict(pairs) - values
    count = np.bincount(test.users, minlength=test.n_users)
    drift = np.bincount(test.users, miss, minlength=test.n_users)[count > 0] / count[count > 0]
    return {
        "rmse": float(np.sqrt(np.mean(miss**2))),
        "mae": float(np.mean(np.abs(miss))),
        "calibration": float(np.mean(np.abs(drift))),
    }


def _of_lists(
    model: Any, train: Any, test: Any, k: int, relevant: float | None, gains: str, diversity: bool
) -> dict[str, Any]:
    good = test.values >= (-np.inf if relevant is None else relevant)
    runs = test.by_user()
    wanted = {}
    for a in np.unique(test.users[good]):
        low, high = runs.starts[a : a + 2]
        here = good[low:high]
        names = test.item_names[runs.others[low:high][here]].tolist()
        wanted[a] = dict(zip(names, runs.values[low:high][here].tolist()))
    skipped = len(np.unique(test.users)) - len(wanted)
    lists = _lists_of(model, train, test.user_names[list(wanted)], k)
    rows = [ranking_metrics(one, worth, k, gains=gains) for one, worth in zip(lists, wanted.values())]
    found = {name: float(np.mean([row[name] for row in rows])) if rows else np.nan for name in RANKING}
    items = train.item_names
    share = np.bincount(train.items, minlength=train.n_items) / max(1, train.n_users)
    alike = cosines(*[sparse.csr_array(train.to_csr().T)] * 2) if diversity else None
    found |= list_metrics(lists, items, popularity=share, similarity=alike)
    return {**found, "users": len(rows), "skipped": skipped}


def _lists_of(model: Any, train: Any, users: Array, k: int) -> list[list[Any]]:
    """Return k proposals for every user, without what the user has in the training ratings."""
    if not len(users):
        return []
    most = int(np.bincount(train.users, minlength=train.n_users).max(initial=0))
    ids, scores = model.recommend(users, N=min(len(model.items_), k + most), filter_already_liked_items=True)
    table, codes = train.to_csr(), codes_of(users, train.user_names)
    lists = []
    for row, (names, values) in enumerate(zip(ids, scores)):
        seen: set[Any] = set()
        if codes[row] >= 0:
            low, high = table.indptr[codes[row] : codes[row] + 2]
            seen = set(train.item_names[table.indices[low:high]].tolist())
        shown = [name for name in names[np.isfinite(values)].tolist() if name not in seen]
        lists.append(shown[:k])
    return lists
