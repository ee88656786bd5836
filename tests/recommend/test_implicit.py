"""Implicit feedback: the numbers of the lesson, the dense sums behind the sparse ones, parity with implicit."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.core.errors import DataError, DivergenceError, ModelFileError
from gnomon.core.threads import threads
from gnomon.recommend import (
    AlternatingLeastSquares,
    BayesianPersonalizedRanking,
    ItemItemRecommender,
    RatingMatrix,
    evaluate,
)


def clicks(n=30, m=20, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    like = rng.random((n, m)) < np.where((np.arange(m)[None, :] % 3) == group[:, None], 0.6, 0.08)
    return sp.csr_matrix(like * rng.integers(1, 6, size=(n, m)), dtype=np.float32)


def dense_loss(X, U, V, alpha, lam, one_plus=False):
    X = X.toarray()
    confidence = np.where(X > 0, alpha * X + one_plus, 1.0)
    return (confidence * ((X > 0) - U @ V.T) ** 2).sum() + lam * ((U**2).sum() + (V**2).sum())


# oracles


def test_one_sweep_of_the_lesson():
    start = np.zeros((2, 1)), np.array([[1.0], [0.5], [0.2]])
    X = sp.csr_array([[1.0, 0, 2], [0, 3, 0]])
    model = AlternatingLeastSquares(
        1, 0.1, 5.0, np.float64, use_cg=False, iterations=1, calculate_training_loss=True, init=start
    ).fit(X)
    np.testing.assert_allclose(model.user_factors.ravel(), [1.2173913043, 1.5337423313], rtol=1e-9)
    np.testing.assert_allclose(
        model.item_factors.ravel(), [0.6171773052, 0.6240216878, 0.7048032826], rtol=1e-9
    )
    assert model.trace_[-1] == pytest.approx(3.6901682409, rel=1e-9)
    assert dense_loss(X, model.user_factors, start[1], 5.0, 0.1) == pytest.approx(10.1041933849, rel=1e-9)


def test_one_bpr_step_by_hand():
    from gnomon.loops.ranking import bpr_steps

    for seed in range(200):  # find the draw of item 0 over item 1
        U, V, b = np.array([[0.1, 0.2]]), np.array([[0.3, -0.1], [-0.2, 0.4]]), np.zeros(2)
        starts, zero = np.array([0, 1]), np.zeros(1, dtype=np.int32)
        both = np.arange(2)
        right, skipped = bpr_steps(seed, 0, zero, zero, both, starts, zero, 0.1, 0.01, True, U, V, b)
        if not skipped:
            break
    assert not skipped and right == 0
    np.testing.assert_allclose(U[0], [0.1255248698, 0.1741751302], rtol=1e-8)
    np.testing.assert_allclose(V[0], [0.3048249740, -0.0896500521], rtol=1e-8)
    np.testing.assert_allclose(V[1], [-0.2049249740, 0.3893500521], rtol=1e-8)
    np.testing.assert_allclose(b, [0.05124973965, -0.05124973965], rtol=1e-8)


# properties


@pytest.mark.parametrize("confidence", ["scaled", "one_plus"])
def test_sparse_loss_equals_the_dense_sum_and_never_rises(confidence):
    X = clicks()
    model = AlternatingLeastSquares(
        4,
        0.1,
        2.0,
        np.float64,
        use_cg=False,
        iterations=6,
        calculate_training_loss=True,
        random_state=0,
        confidence=confidence,
    ).fit(X)
    want = dense_loss(X, model.user_factors, model.item_factors, 2.0, 0.1, confidence == "one_plus")
    assert model.trace_[-1] == pytest.approx(want, rel=1e-10)
    assert (np.diff(model.trace_.objective) <= 1e-9).all()


def test_confidence_one_is_ridge_factorization_of_the_table():
    X = (clicks() > 0).astype(np.float64)
    V = np.random.default_rng(0).normal(size=(20, 3))
    model = AlternatingLeastSquares(
        3, 0.5, 1.0, np.float64, use_cg=False, iterations=1, init=(np.zeros((30, 3)), V)
    ).fit(X)
    want = X @ V @ np.linalg.inv(V.T @ V + 0.5 * np.eye(3))
    np.testing.assert_allclose(model.user_factors, want, atol=1e-10)


def test_conjugate_gradients_come_to_the_same():
    X = clicks()
    exact = AlternatingLeastSquares(3, 0.1, 2.0, np.float64, use_cg=False, random_state=0).fit(X)
    steps = AlternatingLeastSquares(3, 0.1, 2.0, np.float64, cg_steps=30, random_state=0).fit(X)
    np.testing.assert_allclose(exact.user_factors, steps.user_factors, atol=1e-6)


def test_threads_change_nothing(monkeypatch):
    import gnomon.recommend.base

    monkeypatch.setattr(gnomon.recommend.base, "CHUNK_ENTRIES", 16)
    for model in (
        AlternatingLeastSquares(4, random_state=0),
        AlternatingLeastSquares(4, use_cg=False, random_state=0),
        ItemItemRecommender(5),
    ):
        with threads(1):
            one = model.fit(clicks()).predict([(a, i) for a in range(30) for i in range(20)])
        with threads(3):
            many = model.fit(clicks()).predict([(a, i) for a in range(30) for i in range(20)])
        np.testing.assert_array_equal(one, many)


def test_item_item_cosines_by_definition():
    X = clicks().toarray().astype(np.float64)
    model = ItemItemRecommender(20).fit(sp.csr_array(X))
    norms = np.linalg.norm(X, axis=0)
    want = X.T @ X / np.outer(norms, norms)
    np.testing.assert_allclose(model.similarity_.toarray(), want, atol=1e-12)
    few = ItemItemRecommender(4).fit(sp.csr_array(X)).similarity_
    assert (np.diff(few.indptr) <= 4).all()
    for i in range(20):
        kept = few[[i]].indices
        assert want[i, kept].min() >= np.sort(want[i])[-4] - 1e-12


def test_every_model_ranks_what_a_user_likes():
    X = clicks(60, 30, seed=2)
    R = RatingMatrix.from_sparse(X, explicit_zeros=False)
    train, test = R.split(0.2, by="user", random_state=0)
    by_chance = 10 / 30
    for model in (
        AlternatingLeastSquares(4, random_state=0),
        BayesianPersonalizedRanking(8, 0.05, iterations=100, random_state=0),
        ItemItemRecommender(10),
        ItemItemRecommender(10, "tfidf"),
        ItemItemRecommender(10, "bm25"),
    ):
        found = evaluate(model, train, test, metrics=["recall", "ndcg"], refit=True)
        assert found["recall"] > 1.5 * by_chance, model


# what a fitted model does


def test_lists_filters_and_newcomers():
    X = clicks()
    model = AlternatingLeastSquares(4, random_state=0).fit(X)
    ids, scores = model.recommend(0, X[0], N=5)
    assert not set(ids) & set(X[0].indices) and (np.diff(scores) <= 0).all()
    batch, _ = model.recommend([0, 7], X[[0, 7]], N=5)
    assert batch[0].tolist() == ids.tolist() and batch.shape == (2, 5)
    assert set(model.recommend(0, N=20, filter_already_liked_items=False)[0]) == set(range(20))
    assert not {3, 4} & set(model.recommend(0, N=20, filter_items=[3, 4])[0])
    assert set(model.recommend(0, items=[1, 2], filter_already_liked_items=False)[0]) == {1, 2}
    again = model.recommend(0, X[0], N=5, recalculate_user=True)[0]
    assert len(again) == 5
    new, counts = model.recommend("nobody", N=3)
    popular = np.bincount(X.indices, minlength=20)
    assert popular[new].tolist() == np.sort(popular)[::-1][:3].tolist()
    np.testing.assert_allclose(model.predict([("nobody", 2), (0, "nothing")]), [popular[2] / 30, 0.0])
    assert model.similar_items(3)[0][0] == 3 and model.similar_items([1, 2], N=3)[0].shape == (2, 3)
    assert model.similar_users(4, N=2)[0][0] == 4


def test_reasons_add_up():
    X = clicks()
    model = AlternatingLeastSquares(4, 0.1, dtype=np.float64, use_cg=False, random_state=0).fit(X)
    total, reasons, weights = model.explain(3, X, 5, N=99)
    assert total == pytest.approx(sum(part for _, part in reasons)) and {i for i, _ in reasons} == set(
        X[3].indices
    )
    vector = model.recalculate_user(3, X[3])[0]
    assert total == pytest.approx(vector @ model.item_factors[5])
    assert model.explain(3, X, 5, weights, N=2)[0] == pytest.approx(total)
    as_dict = dict(zip(X[3].indices.tolist(), X[3].data.tolist()))
    np.testing.assert_allclose(model.fold_in(as_dict), vector)


def test_bad_interactions_are_named():
    X = clicks().copy()
    X.data[3] = -2
    for model in (AlternatingLeastSquares(), BayesianPersonalizedRanking(), ItemItemRecommender()):
        with pytest.raises(DataError, match="negative; the smallest is -2"):
            model.fit(X)
        with pytest.raises(DataError, match="no "):
            model.fit(sp.csr_array((3, 4)))
    with pytest.raises(DataError, match="user_items must have"):
        AlternatingLeastSquares(2, random_state=0).fit(clicks()).recommend(0, clicks())
    with pytest.raises(DataError, match="init"):
        AlternatingLeastSquares(2, init=(np.zeros((1, 1)), np.zeros((1, 1)))).fit(clicks())


def test_zeros_are_no_interactions_and_pairs_add_up():
    pairs = [("a", "x"), ("a", "x"), ("b", "y"), ("a", "y")]
    model = AlternatingLeastSquares(2, random_state=0).fit(pairs, [1, 2, 1, 0])
    assert model.ratings_.toarray().tolist() == [[3, 0], [0, 1]]


def test_blocks_of_draws_meet_every_interaction_once_and_share_nothing(monkeypatch):
    import gnomon.loops.ranking as loops
    from gnomon.recommend import bpr, passes

    monkeypatch.setattr(passes, "GRID_RATINGS", 50)
    monkeypatch.setattr(bpr, "FEWEST", 4)
    X = clicks(60, 40)
    R = RatingMatrix.from_sparse(X, explicit_zeros=False)
    work = BayesianPersonalizedRanking(2)._prepare(R)
    size = len(work.user_edges) - 1
    assert size == 10  # as many as there are items for
    calls = []
    monkeypatch.setattr(
        loops, "bpr_steps", lambda *given: calls.append((given[1], *map(set, given[2:5]))) or (0, 0)
    )
    groups = []
    for sweep in (0, 1):
        calls.clear()
        with threads(1):
            bpr.one_pass(work, 7, sweep)
        assert len(calls) == size**2
        firsts = sorted(first for first, *_ in calls)
        assert sweep * R.n_ratings <= firsts[0] and firsts[-1] < (sweep + 1) * R.n_ratings
        met = [(a, i) for _, users, liked, _ in calls for a in users for i in liked if X[a, i]]
        assert len(met) == R.n_ratings and set(met) == set(zip(R.users.tolist(), R.items.tolist()))
        for at in range(0, len(calls), size):  # what is worked on at the same time
            _, users, liked, others = zip(*calls[at : at + size])
            assert all(mine <= group for mine, group in zip(liked, others))
            assert sorted(item for group in others for item in group) == list(range(40))
            assert sum(map(len, users)) == len(set().union(*users))
        groups.append({frozenset(group) for *_, group in calls})
    assert groups[0] != groups[1]


def test_ranking_in_blocks_ignores_threads_and_ranks(monkeypatch):
    from gnomon.recommend import bpr, passes

    monkeypatch.setattr(passes, "GRID_RATINGS", 100)
    monkeypatch.setattr(bpr, "FEWEST", 8)
    X = clicks(90, 45)
    found = []
    for count in (1, 3):
        model = BayesianPersonalizedRanking(
            6, learning_rate=0.1, iterations=40, num_threads=count, random_state=0
        ).fit(X)
        found.append(model)
    np.testing.assert_array_equal(found[0].user_factors, found[1].user_factors)
    np.testing.assert_array_equal(found[0].item_factors, found[1].item_factors)
    trace = found[0].trace_["correct"]
    assert trace[0] < 0.65 < 0.85 < trace[-1]


@pytest.mark.parametrize("verify", [True, False])
def test_draws_whose_other_item_the_user_has_are_left_out(verify):
    X = sp.csr_array(np.ones((3, 4)))
    model = BayesianPersonalizedRanking(2, iterations=20, verify_negative_samples=verify, random_state=0).fit(
        X
    )
    skipped = np.mean(model.trace_["skipped"])
    assert skipped == 1.0 if verify else 0.1 < skipped < 0.4  # one of four is the same item


def test_the_item_of_a_search_is_found_at_any_place():
    from gnomon.loops import _compile, ranking

    @_compile.compiled
    def found(items, low, high, item):
        return ranking.holds(items, low, high, item)

    items = np.array([-1, 2, 3, 5, 8, 13, 13], dtype=np.int32)
    for low in range(len(items)):
        for high in range(low, len(items)):
            for item in range(-2, 15):
                assert found(items, low, high, item) == (item in items[low:high])


def test_ranking_that_runs_away_is_said():
    with pytest.raises(DivergenceError, match="lower learning_rate"):
        BayesianPersonalizedRanking(2, learning_rate=1e30, iterations=50, random_state=0).fit(clicks())


@pytest.mark.parametrize("density", [0.01, 0.2])
def test_largest_products_equal_a_sort_whether_items_are_listed_or_looked_over(density):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 150)) < density, rng.integers(1, 3, size=(60, 150)), 0).astype(float)
    norms = np.linalg.norm(X, axis=0)
    want = X.T @ X / np.where(norms > 0, np.outer(norms, norms), 1.0)
    found = ItemItemRecommender(7).fit(sp.csr_array(X)).similarity_
    for i in range(150):
        values = np.round(want[i], 12)
        order = np.lexsort((np.arange(150), -values))[:7]
        best = np.sort(order[values[order] > 0])
        np.testing.assert_array_equal(np.sort(np.round(found[[i]].data, 12)), np.sort(values[best]))
        assert (np.diff(found[[i]].indices) > 0).all()


def test_products_that_are_zero_are_no_likeness_and_ties_go_to_the_first():
    from gnomon.loops.item_item import top_products

    X = sp.csr_array([[1.0, 1, 1, 1, 0], [1.0, -1, 1, 1, 0]])
    T = X.tocsc()
    for extra in (0, 40):  # more items: the few that are met are listed
        starts = np.concatenate([T.indptr, np.full(extra, T.indptr[-1])]).astype(np.int64)
        columns, values = np.full((5 + extra, 2), -1, dtype=np.int32), np.zeros((5 + extra, 2))
        rows = X.indptr.astype(np.int64), X.indices, X.data
        top_products(0, 5 + extra, starts, T.indices, T.data, *rows, columns, values)
        assert columns[:5].tolist() == [[0, 2], [1, -1], [0, 2], [0, 2], [-1, -1]]
        assert values[:5].tolist() == [[2, 2], [2, 0], [2, 2], [2, 2], [0, 0]]


def test_ids_of_a_matrix_are_those_of_implicit():
    model = AlternatingLeastSquares(2, iterations=1, random_state=0).fit(clicks())
    assert model.recommend(0, N=3)[0].dtype == model.similar_users([0, 1])[0].dtype == np.int32
    model.partial_fit_items([25, 20], sp.csr_array(np.eye(2, 30)))
    assert model.items_.dtype == np.int32 and model.items_[-2:].tolist() == [20, 25]
    for name in (2**31 - 1, 2**31, 2**40):
        model.partial_fit_items([name], sp.csr_array(np.eye(1, 30)))
        assert model.items_[-1] == name
    model.fit([(1, 2), (2, 2)], [1, 1])
    assert model.items_.dtype == np.int64


# parity


@pytest.mark.parity
def test_metrics_of_implicit_read_our_models():
    evaluation = pytest.importorskip("implicit.evaluation")
    likes = sp.csr_matrix(checkerboard(20))
    test = sp.csr_matrix(np.eye(20))
    for model in (AlternatingLeastSquares(3, random_state=0), ItemItemRecommender(20)):
        model.fit(likes)
        assert evaluation.precision_at_k(model, likes, test, K=1, show_progress=False) == 1


@pytest.mark.parity
@pytest.mark.parametrize("use_cg", [False, True])
def test_same_factors_as_implicit_from_the_same_start(use_cg):
    als = pytest.importorskip("implicit.als")
    X = clicks(40, 25)
    rng = np.random.default_rng(0)
    start = [(0.5 * rng.normal(size=(size, 8))).astype(np.float32) for size in (40, 25)]
    theirs = als.AlternatingLeastSquares(
        8, 0.05, 2.0, use_gpu=False, use_cg=use_cg, iterations=3, num_threads=1
    )
    theirs.user_factors, theirs.item_factors = start[0].copy(), start[1].copy()
    theirs.fit(X, show_progress=False)
    ours = AlternatingLeastSquares(8, 0.05, 2.0, use_cg=use_cg, iterations=3, init=tuple(start)).fit(X)
    np.testing.assert_allclose(ours.user_factors, theirs.user_factors, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(ours.item_factors, theirs.item_factors, rtol=2e-3, atol=2e-4)
    np.testing.assert_array_equal(ours.recommend(3, X[3], N=4)[0], theirs.recommend(3, X[3], N=4)[0])


@pytest.mark.parity
@pytest.mark.parametrize("kind, name", [("cosine", "Cosine"), ("tfidf", "TFIDF"), ("bm25", "BM25")])
def test_same_likeness_as_implicit(kind, name):
    peers = pytest.importorskip("implicit.nearest_neighbours")
    X = clicks(40, 25).astype(np.float64)
    options = {"K1": 100, "B": 0.8} if kind == "bm25" else {}
    theirs = getattr(peers, f"{name}Recommender")(K=25, **options)
    theirs.fit(X, show_progress=False)
    ours = ItemItemRecommender(25, kind).fit(X)
    want = theirs.similarity.toarray()
    if kind == "bm25":  # implicit leaves out the norms here
        want = want / np.sqrt(np.outer(want.diagonal(), want.diagonal()))
    np.testing.assert_allclose(ours.similarity_.toarray(), want, atol=1e-6)


def checkerboard(n):
    """Even users like even items and odd users odd ones; nobody has the item of its own number."""
    return sp.csr_array(
        (np.add.outer(np.arange(n), np.arange(n)) % 2 == 0) & ~np.eye(n, dtype=bool), dtype=float
    )


def test_users_and_items_join_a_fitted_model():
    likes = checkerboard(12)
    model = AlternatingLeastSquares(3, regularization=0.1, use_cg=False, iterations=30, random_state=0).fit(
        likes
    )
    before = model.item_factors_.copy()
    model.partial_fit_users([0, 50], sp.vstack([likes[[1]], likes[[1]]]))
    assert model.users_.tolist() == [*range(12), 50]
    np.testing.assert_array_equal(model.item_factors_, before)
    np.testing.assert_allclose(model.user_factors_[0], model.user_factors_[12])
    np.testing.assert_allclose(model.user_factors_[0], model.recalculate_user(None, likes[[1]])[0])
    assert model.recommend(50, N=1)[0][0] == model.recommend(0, N=1)[0][0] == 1  # what 1 lacks
    assert (
        model.ratings_.shape == (13, 12)
        and model.ratings_[[12]].indices.tolist() == likes[[1]].indices.tolist()
    )
    model.partial_fit_items(
        [70], likes[[1]]
    )  # of those who like odd things; users beyond the columns do not have it
    assert model.items_.tolist() == [*range(12), 70]
    assert set(model.recommend(1, N=2)[0].tolist()) == {1, 70}
    np.testing.assert_allclose(
        model.item_factors_[12], model.recalculate_item(None, likes[[1]])[0], rtol=1e-5
    )
    with pytest.raises(DataError, match="columns"):
        model.partial_fit_users([3], sp.csr_array((1, 20)))
    with pytest.raises(DataError, match="different ids"):
        model.partial_fit_users([3, 3], likes[[1, 2]])


def test_likeness_of_several_with_filters_and_new_vectors():
    likes = checkerboard(12)
    for model in (AlternatingLeastSquares(3, random_state=0), ItemItemRecommender(12)):
        model.fit(likes)
        ids, scores = model.similar_items(np.arange(3), N=4, filter_items=[0, 1])
        assert ids.shape == (3, 4) and not {0, 1} & set(ids[np.isfinite(scores)].tolist())
        one = model.similar_items(2, N=4)[0]
        assert one[0] == 2 and (one % 2 == 0).all()
        ids, _ = model.similar_users([3, 4], N=3, users=[1, 3, 5, 4])
        assert ids[0][0] == 3 and ids[1][0] == 4 and set(ids.ravel().tolist()) <= {1, 3, 4, 5}
    als = AlternatingLeastSquares(3, random_state=0, use_cg=False, iterations=50).fit(likes)
    again = als.similar_items([2], N=3, recalculate_item=True, item_users=likes.T.tocsr()[[2]])
    assert again[0][0][0] == 2
    with pytest.raises(DataError, match="item_users"):
        als.similar_items(2, recalculate_item=True)
    with pytest.raises(NotImplementedError):
        BayesianPersonalizedRanking(2, iterations=1, random_state=0).fit(likes).recalculate_user(
            0, likes[[0]]
        )


def test_lists_of_several_users_stay_within_the_items_asked_for():
    likes = checkerboard(12)
    model = AlternatingLeastSquares(3, random_state=0).fit(likes)
    ids, scores = model.recommend(np.arange(12), N=10, items=[0, 3, 6])
    assert ids.shape == (12, 3)
    assert all(set(row) == {0, 3, 6} for row in ids.tolist())
    for user in range(12):
        seen = set(likes[[user]].indices.tolist())
        assert {i for i, s in zip(ids[user], scores[user]) if np.isneginf(s)} == seen & {0, 3, 6}
    assert not len(model.recommend(0, items=[99])[0])


def test_callback_of_implicit_hears_every_sweep():
    heard = []
    AlternatingLeastSquares(2, iterations=4, calculate_training_loss=True, random_state=0).fit(
        checkerboard(6), callback=lambda sweep, seconds, loss: heard.append((sweep, loss))
    )
    assert [sweep for sweep, _ in heard] == [0, 1, 2, 3] and all(
        b <= a for (_, a), (_, b) in zip(heard, heard[1:])
    )
    counts = []
    model = BayesianPersonalizedRanking(2, iterations=3, random_state=0)
    model.fit(checkerboard(6), callback=lambda epoch, seconds, correct, skipped: counts.append(correct))
    np.testing.assert_array_equal(counts, model.trace_["correct"])
    assert not hasattr(model, "_after_sweep")


def test_saved_and_loaded_under_the_names_of_implicit(tmp_path):
    model = AlternatingLeastSquares(2, iterations=2, random_state=0).fit(checkerboard(6))
    model.save(tmp_path / "model")
    with (tmp_path / "open").open("wb+") as file:
        model.save(file)
        file.seek(0)
        again = AlternatingLeastSquares.load(file)
    for loaded in (AlternatingLeastSquares.load(tmp_path / "model"), again):
        np.testing.assert_array_equal(loaded.user_factors_, model.user_factors_)
    with pytest.raises(ModelFileError, match="ItemItemRecommender"):
        ItemItemRecommender.load(tmp_path / "model")


def test_counts_that_overflow_are_refused():
    with pytest.raises(DataError, match="not finite after sweep 1.*alpha"):
        AlternatingLeastSquares(3, random_state=0).fit(checkerboard(8) * 1e30)
    for use_cg in (True, False):
        with pytest.raises(DataError, match="confidences up to 1e\\+39 are too large for float32.*alpha"):
            AlternatingLeastSquares(3, use_cg=use_cg, random_state=0).fit(checkerboard(8) * 1e39)
    exact = AlternatingLeastSquares(3, use_cg=False, random_state=0).fit(
        checkerboard(8) * 1e30
    )  # adds up in float64
    assert np.isfinite(exact.user_factors_).all() and np.isfinite(exact.item_factors_).all()
