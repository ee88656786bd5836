"""Implicit feedback: the numbers of the lesson, the dense sums behind the sparse ones, parity with implicit."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.core.errors import DataError, ModelFileError
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
    from gnomon.loops.factors import bpr_epoch

    for seed in range(200):  # find the draw of item 0 over item 1
        U, V, b = np.array([[0.1, 0.2]]), np.array([[0.3, -0.1], [-0.2, 0.4]]), np.zeros(2)
        starts, zero = np.array([0, 1]), np.zeros(1, dtype=np.int32)
        right, skipped = bpr_epoch(seed, 0, 1, starts, zero, zero, 0.1, 0.01, True, U, V, b)
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


# parity


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
    exact = AlternatingLeastSquares(3, use_cg=False, random_state=0).fit(
        checkerboard(8) * 1e30
    )  # adds up in float64
    assert np.isfinite(exact.user_factors_).all() and np.isfinite(exact.item_factors_).all()
