"""Lists and similarities judged by slow twins: every number once more from its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.recommend import (
    MeanRecommender,
    RatingMatrix,
    evaluate,
    list_metrics,
    ranking_metrics,
    similarity,
)

RNG = np.random.default_rng(0)
TABLE = np.where(RNG.random((14, 9)) < 0.6, RNG.uniform(1, 5, (14, 9)), np.nan)
R = RatingMatrix.from_dense(TABLE)


def gain(value, kind):
    return {"binary": 1.0, "linear": value, "exponential": 2.0**value - 1}[kind]


def of_one_list(listed, worth, k, kind):
    """Every metric of a list, entry by entry."""
    listed, found, precisions, first, gained = list(listed)[:k], 0, 0.0, 0.0, 0.0
    for rank, item in enumerate(listed, start=1):
        if item in worth:
            found += 1
            precisions += found / rank
            first = first or 1.0 / rank
            gained += gain(worth[item], kind) / np.log2(rank + 1)
    best = sorted((gain(v, kind) for v in worth.values()), reverse=True)[:k]
    ideal = sum(g / np.log2(rank + 1) for rank, g in enumerate(best, start=1))
    return {
        "precision": found / k, "recall": found / len(worth), "hit_rate": float(found > 0),
        "average_precision": precisions / min(len(worth), k), "ndcg": gained / ideal if ideal else 0.0, "mrr": first,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["binary", "linear", "exponential"])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_a_list_entry_by_entry(k, kind):
    rng = np.random.default_rng(k)
    for _ in range(30):
        listed = rng.permutation(12)[: rng.integers(0, 9)]
        worth = {int(i): float(rng.integers(0, 4)) for i in rng.permutation(12)[: rng.integers(1, 7)]}
        assert ranking_metrics(listed, worth, k, gains=kind) == pytest.approx(
            of_one_list(listed, worth, k, kind)
        )
    assert ranking_metrics([3, 1], {1, 2}, 2) == pytest.approx(of_one_list([3, 1], {1: 1, 2: 1}, 2, "binary"))
    assert all(np.isnan(value) for value in ranking_metrics([1], {}, k).values())


@pytest.mark.parametrize("k", [0, -1, 1.5, None])
def test_lengths_that_are_none(k):
    with pytest.raises(DataError, match="k must be a positive integer"):
        ranking_metrics([1], {1}, k)


def test_many_lists_together():
    items, share = list("abcde"), np.array([0.5, 0.25, 0.0, 1.0, 0.125])
    alike = np.array([[1.0, 0.5, 0.2, 0.1, 0.0]] * 5) + 0.1 * np.arange(5)[:, None]
    alike = (alike + alike.T) / 2
    lists = [["a", "b", "e"], ["c"], [], ["d", "a"]]
    bits = np.array([1, 2, 3, 3, 0, 1.0])  # nobody has c: as rare as e
    apart = [1 - (alike[0, 1] + alike[0, 4] + alike[1, 4]) / 3, 1 - alike[3, 0]]
    for table in (alike, sparse.csr_array(alike)):
        for known in (share, dict(zip(items, share))):
            found = list_metrics(lists, items, popularity=known, similarity=table)
            assert found == pytest.approx(
                {"coverage": 1.0, "novelty": bits.mean(), "diversity": np.mean(apart)}
            )
    few = list_metrics([["a"], ["a"]], items, similarity=alike)
    assert few["coverage"] == 0.2 and np.isnan(few["novelty"]) and np.isnan(few["diversity"])
    none = list_metrics([[], []], items, popularity=share)
    assert none["coverage"] == 0.0 and np.isnan(none["novelty"])
    with pytest.raises(DataError, match="not among items"):
        list_metrics([["z"]], items)


@pytest.mark.parametrize(
    ("k", "relevant", "kind"), [(3, None, "binary"), (2, 3.0, "linear"), (9, 4.0, "exponential")]
)
def test_an_evaluation_user_by_user(k, relevant, kind):
    train, test = R.split(0.4, by="user", random_state=1)
    model = MeanRecommender("item").fit(train)
    found = evaluate(model, train, test, k=k, relevant=relevant, gains=kind)
    pairs, values = test.pairs()
    miss = model.predict(pairs) - values
    users = np.array([user for user, _ in pairs])
    assert found["rmse"] == pytest.approx(np.sqrt((miss**2).mean())) and found["mae"] == pytest.approx(
        np.abs(miss).mean()
    )
    drift = [abs(miss[users == user].mean()) for user in set(users)]
    assert found["calibration"] == pytest.approx(np.mean(drift))
    learned, held = ({} for _ in range(2))
    for table, known in ((train, learned), (test, held)):
        for (user, item), value in zip(*table.pairs()):
            known.setdefault(user, {})[item] = value
    rows, lists = [], []
    for user, mine in held.items():
        worth = {item: value for item, value in mine.items() if relevant is None or value >= relevant}
        if worth:
            free = [item for item in train.item_names.tolist() if item not in learned.get(user, {})]
            said = dict(zip(free, model.predict([(user, item) for item in free])))
            lists.append(sorted(free, key=lambda item: -said[item])[:k])
            rows.append(of_one_list(lists[-1], worth, k, kind))
    assert (found["users"], found["skipped"]) == (len(rows), len(held) - len(rows))
    for name in rows[0]:
        assert found[name] == pytest.approx(np.mean([row[name] for row in rows])), name
    dense = train.to_csr().toarray()
    share = (dense > 0).sum(axis=0) / train.n_users
    unit = dense / np.linalg.norm(dense, axis=0)
    together = list_metrics(lists, train.item_names, popularity=share, similarity=unit.T @ unit)
    assert {name: found[name] for name in together} == pytest.approx(together)
    part = evaluate(model, train, test, metrics=["mrr", "mae"], k=k, relevant=relevant)
    assert list(part) == ["mrr", "mae", "users", "skipped"] and list(
        evaluate(model, train, test, metrics=["mae"])
    ) == ["mae"]


def alike_by_hand(table, a, b, kind, least, shrinkage):
    both = ~np.isnan(table[a]) & ~np.isnan(table[b])
    x, y, c = table[a, both], table[b, both], both.sum()
    if c < least:
        return np.nan
    if kind == "pearson":
        x, y = x - x.mean(), y - y.mean()
    if kind == "adjusted_cosine":
        means = np.nanmean(table, axis=0)[both]
        x, y = x - means, y - means
    if kind in ("pearson", "cosine", "adjusted_cosine"):
        length = np.sqrt((x @ x) * (y @ y))
        value = x @ y / length if length > 1e-12 else np.nan
    elif kind == "msd":
        value = 1 / (1 + ((x - y) ** 2).mean())
    else:
        value = c / (~np.isnan(table[a]) | ~np.isnan(table[b])).sum()
    return value * c / (c + shrinkage)


@pytest.mark.parametrize("mode", ["user", "item"])
@pytest.mark.parametrize("kind", ["pearson", "cosine", "adjusted_cosine", "msd", "jaccard"])
@pytest.mark.parametrize(("least", "shrinkage"), [(2, 0.0), (4, 1.5)])
def test_similarities_pair_by_pair(kind, mode, least, shrinkage):
    table = TABLE if mode == "user" else TABLE.T
    found = similarity(TABLE, kind=kind, mode=mode, min_common=least, shrinkage=shrinkage)
    n = len(table)
    wanted = [[alike_by_hand(table, a, b, kind, least, shrinkage) for b in range(n)] for a in range(n)]
    off = ~np.eye(n, dtype=bool)
    assert_allclose(found[off], np.array(wanted)[off], atol=1e-12)
    one = similarity(TABLE, 0, 2, kind=kind, mode=mode, min_common=least, shrinkage=shrinkage)
    assert_allclose(one, wanted[0][2], atol=1e-12)
