"""Search: numbers by hand, every index against a slow twin, equal distances, odd rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.threads import threads
from gnomon.neighbors import (
    NearestNeighbors,
    cosine_similarity,
    edit_distance,
    edit_script,
    kneighbors_graph,
    pairwise_distances,
    radius_neighbors_graph,
)
from gnomon.neighbors import product_index as search

ALGORITHMS = ("brute", "kd_tree", "ball_tree", "vp_tree")


def twin(Q, X, metric, p=2.0):
    """Distances, one pair at a time."""
    out = np.empty((len(Q), len(X)))
    for i, a in enumerate(np.asarray(Q, dtype=float)):
        for j, b in enumerate(np.asarray(X, dtype=float)):
            gap = np.abs(a - b)
            if metric == "euclidean":
                out[i, j] = np.sqrt(sum(g * g for g in gap))
            elif metric == "l1":
                out[i, j] = sum(gap)
            elif metric == "linf":
                out[i, j] = max(gap)
            else:
                out[i, j] = sum(g**p for g in gap) ** (1 / p)
    return out


def nearest_of(D, k):
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


# Numbers by hand


def test_edit_distances_of_the_books():
    pairs = [("kitten", "sitting", 3), ("flaw", "lawn", 2), ("", "abc", 3), ("intention", "execution", 5)]
    for a, b, expected in [*pairs, ("ab", "ba", 2), ("sunday", "saturday", 3)]:
        assert edit_distance(a, b) == edit_distance(b, a) == expected
        script = edit_script(a, b)
        assert sum(step[0] != "keep" for step in script) == expected
        assert "".join(new for _, _, new in script if new is not None) == b
        assert "".join(old for _, old, _ in script if old is not None) == a


def test_edit_distance_with_prices():
    assert edit_distance("ab", "ba", costs=(1, 1, 5)) == 2  # delete and insert
    assert edit_distance("abc", "", costs=(1, 4, 1)) == 12
    assert edit_distance([1, 2, 3], [1, 3]) == 1
    with pytest.raises(DataError, match="costs"):
        edit_distance("a", "b", costs=(1, -1, 1))


def test_distances_by_hand():
    u, v = [[1.0, 2.0, 3.0, 4.0]], [[2.0, 1.0, 4.0, 3.0]]
    d = lambda metric, **more: pairwise_distances(u, v, metric, **more)[0, 0]  # noqa: E731
    assert d("correlation") == pytest.approx(0.4, abs=1e-12)
    assert pairwise_distances(u, 3 * np.array(v) + 7, "correlation")[0, 0] == pytest.approx(0.4, abs=1e-12)
    assert pairwise_distances(u, -np.array(v), "correlation")[0, 0] == pytest.approx(1.6, abs=1e-12)
    assert d("cosine") == pytest.approx(1 / 15, abs=1e-12)
    assert (d("l1"), d("l2"), d("linf")) == (4.0, 2.0, 1.0)
    assert d("minkowski", p=3) == pytest.approx(1.5874011, abs=1e-7)
    assert d("hamming") == 1.0 and d("hamming_count") == 4.0
    assert cosine_similarity(u, v)[0, 0] == pytest.approx(14 / 15, abs=1e-12)


def test_norms_from_the_origin():
    for p, expected in [(1, 7), (1.5, 5.5842504), (2, 5), (3, 4.4979414), (10, 4.0219741), (np.inf, 4)]:
        assert pairwise_distances([[0.0, 0.0]], [[3.0, 4.0]], "minkowski", p=p)[0, 0] == pytest.approx(
            expected, abs=1e-7
        )


def test_missing_entries_are_left_out():
    X = [[1.0, np.nan, 3.0], [2.0, 5.0, 1.0], [np.nan, 0.0, np.nan]]
    assert pairwise_distances(X, metric="nan_euclidean")[0, 1] == pytest.approx(2.7386128, abs=1e-7)
    model = NearestNeighbors(n_neighbors=3, metric="nan_euclidean").fit(X)
    values, rows = model.kneighbors([[1.0, np.nan, np.nan]])
    assert rows.tolist() == [[0, 1, 2]] and values[0, 2] == np.inf  # nothing in common: infinitely far


def test_ties_go_to_the_lower_row():
    X = [[0.0], [1.0], [2.0], [3.0], [10.0]]
    for algorithm in ALGORITHMS:
        model = NearestNeighbors(n_neighbors=1, algorithm=algorithm, leaf_size=1).fit(X)
        assert model.kneighbors([[1.5]])[1].tolist() == [[1]]


# Slow twins


@pytest.mark.parametrize("metric", ["euclidean", "l1", "linf", "minkowski"])
@pytest.mark.parametrize("kind", ["random", "lattice", "shifted", "duplicates", "constant"])
def test_every_index_is_the_twin(metric, kind):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(150, 3)), rng.normal(size=(25, 3))
    if kind == "lattice":
        X, Q = np.round(2 * X), np.round(2 * Q)
    elif kind == "shifted":
        X, Q = X + 1e8, Q + 1e8
    elif kind == "duplicates":
        X[50:] = X[0]
    elif kind == "constant":
        X[:], Q[:] = 1.0, 1.0
    p = 3.0 if metric == "minkowski" else 2.0
    values, rows = nearest_of(twin(Q, X, metric, p), 9)
    for algorithm in ALGORITHMS:
        model = NearestNeighbors(n_neighbors=9, metric=metric, p=p, algorithm=algorithm, leaf_size=7).fit(X)
        found, places = model.kneighbors(Q)
        np.testing.assert_allclose(found, values, rtol=1e-13, atol=0)
        if metric != "minkowski":  # powers of the processor and of Python may differ in the last bit
            np.testing.assert_array_equal(places, rows)
        own, others = model.kneighbors()
        assert not (others == np.arange(150)[:, None]).any() and (np.diff(own, axis=1) >= 0).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_radius_is_closed_and_exact(algorithm):
    X = np.array([[0.0], [0.1], [0.2], [0.30000000000000004], [5.0]])
    model = NearestNeighbors(radius=0.30000000000000004, algorithm=algorithm, leaf_size=2).fit(X)
    values, rows = model.radius_neighbors([[0.0]])
    assert rows[0].tolist() == [0, 1, 2, 3]
    assert values[0].tolist() == [0.0, 0.1, 0.2, 0.30000000000000004]
    assert model.radius_neighbors([[0.0]], 0.3)[1][0].tolist() == [0, 1, 2]
    assert model.radius_neighbors([[4.9]], 0.2, sort_results=True)[1][0].tolist() == [4]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from(["euclidean", "l1", "linf"]))
def test_trees_and_brute_force_say_the_same_bits(seed, k, metric):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 80)), int(rng.integers(1, 5))
    X = rng.integers(-3, 4, size=(n, d)) * float(rng.choice([1.0, 0.1, 1e-9, 1e7]))
    Q = rng.integers(-3, 4, size=(8, d)) * float(rng.choice([1.0, 0.1]))
    answers = [
        NearestNeighbors(n_neighbors=k, metric=metric, algorithm=algorithm, leaf_size=3).fit(X).kneighbors(Q)
        for algorithm in ("brute", "kd_tree", "ball_tree")
    ]
    for values, rows in answers[1:]:
        np.testing.assert_array_equal(values, answers[0][0])
        np.testing.assert_array_equal(rows, answers[0][1])


def test_products_that_leave_a_doubt_are_summed_again(monkeypatch):
    rng = np.random.default_rng(0)
    X = 1e3 * rng.normal(size=(40, 5))[rng.integers(40, size=600)] + 1e-6 * rng.normal(size=(600, 5))
    Q = X[:50] + 1e-7
    model = NearestNeighbors(n_neighbors=6, algorithm="brute").fit(X)
    summed = []
    whole = search.ProductIndex._scan
    monkeypatch.setattr(
        search.ProductIndex, "_scan", lambda self, q, k: (summed.append(len(q)), whole(self, q, k))[1]
    )
    values, rows = model.kneighbors(Q)
    expected = nearest_of(twin(Q, X, "euclidean"), 6)
    np.testing.assert_array_equal(rows, expected[1])
    np.testing.assert_allclose(values, expected[0], rtol=1e-13)


def test_single_precision_rows_are_searched_exactly():
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(700, 20)).astype(np.float32), rng.normal(size=(30, 20)).astype(np.float32)
    for algorithm in ("brute", "kd_tree"):
        model = NearestNeighbors(n_neighbors=5, algorithm=algorithm).fit(X)
        np.testing.assert_array_equal(model.kneighbors(Q)[1], nearest_of(twin(Q, X, "euclidean"), 5)[1])
    assert NearestNeighbors(algorithm="brute").fit(X).index_.rows.dtype == np.float32


def test_one_thread_equals_many_on_many_queries():
    rng = np.random.default_rng(2)
    X, Q = rng.normal(size=(3000, 4)), rng.normal(size=(900, 4))
    for algorithm in ("brute", "kd_tree", "auto"):
        with threads(1):
            one = NearestNeighbors(algorithm=algorithm).fit(X).kneighbors(Q)
        with threads(4):
            many = NearestNeighbors(algorithm=algorithm).fit(X).kneighbors(Q)
        for a, b in zip(one, many):
            np.testing.assert_array_equal(a, b)


def test_a_tree_is_chosen_where_it_pays():
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=(4000, 2)), rng.normal(size=(4000, 40))
    flat = few @ rng.normal(size=(2, 40))  # two dimensions in forty columns
    kinds = [type(NearestNeighbors().fit(X).index_).__name__ for X in (few, many, flat, few[:500])]
    assert kinds == ["TreeIndex", "ProductIndex", "TreeIndex", "ProductIndex"]


# Words, functions, tables, sparse rows


def random_words(n, seed):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abcé"), size=rng.integers(0, 9))) for _ in range(n)]


def slow_edit(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(slow_edit(a[1:], b[1:]) + (a[0] != b[0]), slow_edit(a[1:], b) + 1, slow_edit(a, b[1:]) + 1)


def test_words_against_the_recursion():
    words = random_words(40, 0)[:25]
    queries = [word[:5] for word in random_words(6, 1)] + ["zz"]
    short = [word[:5] for word in words]
    D = np.array([[slow_edit(a, b) for b in short] for a in queries], dtype=float)
    for algorithm in ("brute", "vp_tree"):
        model = NearestNeighbors(n_neighbors=4, metric="edit", algorithm=algorithm).fit(short)
        values, rows = model.kneighbors(queries)
        expected = nearest_of(D, 4)
        np.testing.assert_array_equal(rows, expected[1])
        np.testing.assert_array_equal(values, expected[0])
        within = model.radius_neighbors(queries, 2.0)[1]
        assert [r.tolist() for r in within] == [np.flatnonzero(row <= 2).tolist() for row in D]


def test_long_words_and_other_symbols():
    model = NearestNeighbors(n_neighbors=1, metric="edit").fit(["a" * 70, "b" * 70, "a" * 3])
    assert model.kneighbors(["a" * 68 + "c"])[0].tolist() == [[2.0]]
    numbers = NearestNeighbors(n_neighbors=1, metric="edit").fit([[1, 2, 3], [7, 8]])
    assert numbers.kneighbors([[7, 9]])[0].tolist() == [[1.0]]


def test_a_vantage_point_tree_spares_calls():
    calls = []

    def far(a, b):
        calls.append(1)
        return float(np.abs(a - b).sum())

    X = np.random.default_rng(0).normal(size=(600, 2))
    model = NearestNeighbors(n_neighbors=3, metric=far).fit(X)  # auto: a vantage-point tree from 200 rows
    calls.clear()
    rows = model.kneighbors(X[:20])[1]
    assert len(calls) < 20 * 600 / 3
    np.testing.assert_array_equal(
        rows, NearestNeighbors(n_neighbors=3, metric="l1").fit(X).kneighbors(X[:20])[1]
    )


def test_given_distances():
    D = pairwise_distances(np.random.default_rng(0).normal(size=(12, 2)))
    model = NearestNeighbors(n_neighbors=3, metric="precomputed").fit(D)
    np.testing.assert_array_equal(model.kneighbors(D)[1], nearest_of(D, 3)[1])
    with pytest.raises(DataError, match="square"):
        model.fit(D[:, :5])
    with pytest.raises(DataError, match="[Nn]egative"):
        model.fit(-D)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "l1", "correlation", "canberra"])
def test_sparse_rows_say_what_dense_ones_do(metric):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 9)) < 0.5, 0.0, rng.normal(size=(60, 9)))
    dense = NearestNeighbors(n_neighbors=4, metric=metric).fit(X).kneighbors(X[:7])
    thin = (
        NearestNeighbors(n_neighbors=4, metric=metric)
        .fit(sparse.csr_array(X))
        .kneighbors(sparse.csr_array(X[:7]))
    )
    np.testing.assert_allclose(thin[0], dense[0], atol=1e-12)
    np.testing.assert_array_equal(thin[1], dense[1])


# Metrics


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(["euclidean", "l1", "linf", "minkowski", "hamming", "edit"])
)
def test_metrics_are_metrics(seed, metric):
    if metric == "edit":
        X = random_words(6, seed)
        D = pairwise_distances(X, metric="edit")
        sizes = np.array([len(word) for word in X])
        assert (D <= np.maximum(sizes[:, None], sizes)).all()
        assert (D >= np.abs(sizes[:, None] - sizes)).all()
    else:
        D = pairwise_distances(np.random.default_rng(seed).normal(size=(6, 3)).round(1), metric=metric)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0.0)
    assert (D[:, :, None] + D[None] >= D[:, None, :].transpose(0, 1, 2) - 1e-12).all()


def test_norms_never_rise_with_p():
    X = np.random.default_rng(0).normal(size=(10, 4))
    tables = [pairwise_distances(X, metric="minkowski", p=p) for p in (1, 1.5, 2, 4, np.inf)]
    for a, b in zip(tables, tables[1:]):
        assert (b <= a + 1e-12).all()


def test_mahalanobis_is_euclidean_after_whitening():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    VI = np.linalg.inv(np.cov(X, rowvar=False))
    values, _ = NearestNeighbors(n_neighbors=2, metric="mahalanobis").fit(X).kneighbors(X[:5])
    direct = [[np.sqrt((a - b) @ VI @ (a - b)) for b in X] for a in X[:5]]
    np.testing.assert_allclose(values, np.sort(direct, axis=1)[:, :2], atol=1e-10)


# Graphs and errors


def test_graphs():
    X = [[0.0], [3.0], [1.0]]
    np.testing.assert_array_equal(
        kneighbors_graph(X, 1, mode="distance").toarray(), [[0, 0, 1], [0, 0, 2], [1, 0, 0]]
    )
    np.testing.assert_array_equal(kneighbors_graph(X, 1, include_self=True).toarray(), np.eye(3))
    np.testing.assert_array_equal(radius_neighbors_graph(X, 2.0).toarray(), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    model = NearestNeighbors(n_neighbors=1).fit(X)
    with pytest.raises(DataError, match="mode"):
        model.kneighbors_graph(mode="weights")


def test_errors_say_what_to_do():
    X = [[0.0], [1.0], [2.0]]
    model = NearestNeighbors(n_neighbors=3).fit(X)
    with pytest.raises(DataError, match="n_neighbors = 4, n_samples_fit = 3"):
        model.kneighbors(X, 4)
    with pytest.raises(DataError, match="own neighbor"):
        model.kneighbors()
    with pytest.raises(ValueError, match="n_neighbors > 0"):
        model.kneighbors(X, 0)
    with pytest.raises(DataError, match="metric='edit'"):
        NearestNeighbors().fit(["kitten", "sitting"])
    with pytest.raises(ValueError, match="euclidean"):
        NearestNeighbors(metric="euclidian").fit(X)
    with pytest.raises(DataError, match="at least 1"):
        NearestNeighbors(p=0.5).fit(X)
    with pytest.raises(DataError, match="cannot bound"):
        NearestNeighbors(metric="hamming", algorithm="kd_tree").fit(X)
    with pytest.raises(DataError, match="radius"):
        model.radius_neighbors(X, -1.0)


def test_a_single_row():
    model = NearestNeighbors(n_neighbors=1, radius=1.0).fit([[1.0, 2.0]])
    assert model.kneighbors([[1.0, 3.0]])[0].tolist() == [[1.0]]
    assert [r.tolist() for r in model.radius_neighbors()[1]] == [[]]


@pytest.mark.parity
def test_same_as_scipy():
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(3)
    X, Q = rng.normal(size=(3000, 5)), rng.normal(size=(200, 5))
    values, rows = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(Q)
    theirs = cKDTree(X).query(Q, 6)
    np.testing.assert_array_equal(rows, theirs[1])
    np.testing.assert_allclose(values, theirs[0], rtol=1e-12)


def test_sparse_questions_to_dense_rows_and_to_functions():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 4)) < 0.5, 0.0, rng.normal(size=(30, 4)))
    for algorithm in ("brute", "kd_tree"):
        model = NearestNeighbors(n_neighbors=2, algorithm=algorithm).fit(X)
        np.testing.assert_array_equal(
            model.kneighbors(sparse.csr_array(X[:5]))[1], model.kneighbors(X[:5])[1]
        )
    far = NearestNeighbors(n_neighbors=2, metric=lambda a, b: abs(a - b).sum()).fit(sparse.csr_array(X))
    np.testing.assert_array_equal(
        far.kneighbors(sparse.csr_array(X[:5]))[1],
        NearestNeighbors(n_neighbors=2, metric="l1").fit(X).kneighbors(X[:5])[1],
    )


def test_an_infinite_radius_reaches_all():
    model = NearestNeighbors(radius=np.inf, algorithm="kd_tree").fit([[0.0], [1e9]])
    assert model.radius_neighbors([[5.0]])[1][0].tolist() == [0, 1]
