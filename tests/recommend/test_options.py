"""Options of recommenders that a single number shows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix

from gnomon import recommend
from gnomon.core.errors import DataError
from gnomon.recommend import similarity
from recommend.data import R56, low_rank

TABLE = low_rank(20, 12)
PAIRS = [(1, 5), (4, 4), (0, 3)]


def triples(R):
    u, i = np.nonzero(~np.isnan(R))
    return np.column_stack([u, i]), R[u, i]


@pytest.mark.parametrize("kind", ["pearson", "cosine", "adjusted_cosine", "msd", "jaccard"])
@pytest.mark.parametrize("mode", ["user", "item"])
@pytest.mark.parametrize(("min_common", "shrinkage"), [(1, 0.0), (7, 0.0), (2, 3.0)])
def test_neighbors_by_every_similarity(kind, mode, min_common, shrinkage):
    pairs, y = triples(TABLE)
    model = recommend.KNNRecommender(
        3, mode=mode, similarity=kind, min_common=min_common, shrinkage=shrinkage
    ).fit(pairs, y)
    expected = similarity(TABLE, mode=mode, kind=kind, min_common=min_common, shrinkage=shrinkage)
    off = ~np.eye(len(expected), dtype=bool)
    found = np.asarray(model.similarities_)
    assert_allclose(found[off], expected[off], rtol=1e-9, atol=1e-12)
    common = (~np.isnan(TABLE)).astype(int)
    common = common @ common.T if mode == "user" else common.T @ common
    assert (np.isnan(found) | (found == 0))[off & (common < min_common)].all()


def test_the_mean_of_all():
    pairs, y = triples(R56)
    model = recommend.MeanRecommender("global").fit(pairs, y)
    assert_allclose(model.predict(PAIRS), np.full(3, y.mean()))


def test_ranks_of_a_completion_end_at_the_limit():
    pairs, y = triples(TABLE)
    for rank in (1, 2):
        model = recommend.NuclearNormCompletion(0.05, max_rank=rank).fit(pairs, y)
        table = model.predict([(u, i) for u in range(20) for i in range(12)]).reshape(20, 12)
        values = np.linalg.svd(table - table.mean(), compute_uv=False)
        assert model.rank_ <= rank if hasattr(model, "rank_") else (values > 1e-8).sum() <= rank + 1


@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_ratings_held_back(fraction):
    pairs, y = triples(TABLE)
    given = dict(regularization=0.1, max_factors=3, random_state=0)
    model = recommend.GreedyFactorization(validation_fraction=fraction, **given).fit(pairs, y)
    other = recommend.GreedyFactorization(validation_fraction=0.25, **given).fit(pairs, y)
    assert (model.predict(PAIRS) != other.predict(PAIRS)).any()


def test_numbers_of_single_precision():
    liked = csr_matrix((~np.isnan(TABLE)).astype(float))
    for cls in (recommend.AlternatingLeastSquares, recommend.BayesianPersonalizedRanking):
        found = {}
        for dtype in ("float32", "float64"):
            model = cls(factors=3, iterations=3, dtype=dtype, random_state=0).fit(liked)
            assert model.user_factors.dtype == model.item_factors.dtype == dtype
            found[dtype] = np.asarray(model.item_factors, dtype=float)
    native, plain = (
        recommend.AlternatingLeastSquares(factors=3, iterations=3, use_native=native, random_state=0).fit(
            liked
        )
        for native in (True, False)
    )
    assert (native.item_factors == plain.item_factors).all()


def test_known_noise_and_precision_of_factors():
    pairs, y = triples(TABLE)
    given = dict(factors=2, n_burn=20, n_samples=40, random_state=0)
    sure = recommend.BayesianMatrixFactorization(noise_variance=0.01, prior_precision=0.1, **given).fit(
        pairs, y
    )
    dull = recommend.BayesianMatrixFactorization(noise_variance=0.01, prior_precision=1e6, **given).fit(
        pairs, y
    )
    noisy = recommend.BayesianMatrixFactorization(noise_variance=1e6, prior_precision=1.0, **given).fit(
        pairs, y
    )
    error = [np.mean((model.predict(pairs) - y) ** 2) for model in (sure, dull, noisy)]
    assert error[0] < 0.1 * error[1] and error[0] < 0.1 * error[2]


def test_rates_of_learning_that_fall():
    pairs, y = triples(TABLE)
    given = dict(factors=2, solver="sgd", learning_rate=0.01, random_state=0)
    one, two = (recommend.MatrixFactorization(iterations=k, **given).fit(pairs, y) for k in (1, 2))
    slow = recommend.MatrixFactorization(iterations=2, lr_schedule="inverse", **given).fit(pairs, y)
    whole, less = (np.abs(model.predict(pairs) - one.predict(pairs)).sum() for model in (two, slow))
    assert 0 < less < whole


def test_a_new_user_is_folded_in_beside_the_mean_and_the_items():
    pairs, y = triples(TABLE)
    model = recommend.MatrixFactorization(
        2, biases=True, regularization=0.3, regularization_scaling="row", random_state=0
    ).fit(pairs, y)
    rated, said = np.array([2, 5, 7]), np.array([4.0, 2.0, 5.0])
    places = [list(model.items_).index(i) for i in rated]
    V = np.column_stack([model.item_factors_[places], np.ones(3)])
    rest = said - model.global_mean_ - model.item_bias_[places]
    w = np.linalg.solve(V.T @ V + 0.3 * np.eye(3), V.T @ rest)
    every = np.column_stack([model.item_factors_, np.ones(len(model.items_))])
    expected = model.global_mean_ + model.item_bias_ + every @ w
    assert_allclose(model.predict_new(list(zip(rated, said, strict=True))), expected, rtol=1e-6)


@pytest.mark.parametrize("mode", ["user", "item"])
def test_who_speaks_for_a_pair(mode):
    pairs, y = triples(R56)
    model = recommend.KNNRecommender(2, mode=mode).fit(pairs, y)
    table = similarity(R56, mode=mode, min_common=2)
    for u, i in [(1, 5), (4, 2), (0, 3)]:
        ours, rated = (u, ~np.isnan(R56[:, i])) if mode == "user" else (i, ~np.isnan(R56[u]))
        others = [j for j in np.flatnonzero(rated) if j != ours and not np.isnan(table[ours, j])]
        best = sorted(others, key=lambda j: (-table[ours, j], j))[:2]
        ids, weights = model.neighbors(u, i)
        assert ids.tolist() == best
        assert_allclose(weights, table[ours, best])
        own = recommend.KNNRecommender(2, mode=mode, include_self=True).fit(pairs, y).neighbors(u, i)
        if not np.isnan(R56[u, i]):
            assert own[0][0] == ours and own[1][0] == 1.0
    for pair in [(99, 1), (1, 99)]:
        assert [len(part) for part in model.neighbors(*pair)] == [0, 0]


def test_a_row_is_most_like_itself():
    pairs, y = triples(R56)
    model = recommend.KNNRecommender(2).fit(pairs, y)
    found, values = model.similar_users(0, N=3)
    table = similarity(R56)
    assert found[0] == 0 and values[0] == 1.0
    assert_allclose(values[1:], np.sort(np.delete(table[0], 0)[~np.isnan(np.delete(table[0], 0))])[::-1][:2])


def test_items_that_nobody_knows_have_no_like():
    model = recommend.ItemItemRecommender().fit(csr_matrix(np.nan_to_num(R56)))
    with pytest.raises(DataError, match="was not in the interactions"):
        model.similar_items(77)
