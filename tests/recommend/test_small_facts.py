"""Small facts of recommenders: how sure they are of a pair, newcomers of a hybrid, reasons for a row."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from gnomon.core.errors import DataError, ModelFileError
from gnomon.recommend import (
    AlternatingLeastSquares,
    BayesianMatrixFactorization,
    BayesianPersonalizedRanking,
    ContentBasedRecommender,
    GreedyFactorization,
    HybridFactorization,
    ItemItemRecommender,
    KNNRecommender,
    MatrixFactorization,
    MeanRecommender,
    NuclearNormCompletion,
    RatingMatrix,
    bpr,
    passes,
    rerank_mmr,
    similarity,
)
from gnomon.recommend.passes import grid_size
from recommend.data import R56

SEEN = ~np.isnan(R56)


def test_how_sure_a_factorization_is_of_every_pair():
    """A row of ratings is ridge regression on the vectors of its items; without any there is only the prior."""
    users, items = np.nonzero(SEEN)
    names = np.array(["a", "b", "c", "d", "e"])
    options = {"noise_variance": 0.5, "prior_precision": 2.0, "random_state": 0, "iterations": 200}
    model = MatrixFactorization(2, **options).fit(list(zip(names[users], items)), R56[SEEN])
    asked = [("a", 4), ("d", 0), ("a", 1), ("new", 2), ("b", 99), ("new", 99)]
    mean, std = model.predict_distribution(asked)
    np.testing.assert_array_equal(mean, model.predict(asked))
    V = model.item_factors_
    for (user, item), found in zip(asked, std):
        if item == 99:
            assert found**2 == pytest.approx(R56[SEEN].var() + 0.5)
            continue
        seen = V[SEEN["abcde".index(user)]] if user != "new" else V[:0]
        precision = 2.0 * np.eye(2) + seen.T @ seen / 0.5
        assert found**2 == pytest.approx(0.5 + V[item] @ np.linalg.inv(precision) @ V[item])
    low, high = model.predict_interval(asked, 0.5)
    np.testing.assert_allclose(high - mean, mean - low)
    np.testing.assert_allclose((high - mean) / std, 0.6744897502)
    with pytest.raises(DataError, match="needs noise_variance and prior_precision"):
        MatrixFactorization(2, random_state=0).fit(R56).predict_distribution([(0, 1)])


def test_how_sure_draws_are_of_every_pair():
    model = BayesianMatrixFactorization(2, n_burn=3, n_samples=7, random_state=0).fit(R56)
    asked = [(0, 4), (3, 0), (77, 2), (1, 99), (77, 99)]
    mean, std = model.predict_distribution(asked)
    np.testing.assert_array_equal(mean, model.predict(asked))
    noise = model.noise_samples_.mean()
    for (user, item), m, s in zip(asked, mean, std):
        if user == 77 or item == 99:
            assert s**2 == pytest.approx(R56[SEEN].var() + noise)
            continue
        draws = np.einsum("sk,sk->s", model.user_samples_[:, user], model.item_samples_[:, item])
        assert s**2 == pytest.approx(draws.var(ddof=1) + noise) and m == pytest.approx(draws.mean())


@pytest.mark.parametrize("biases", [False, True])
def test_an_average_of_equal_starts_answers_as_each_of_them(biases):
    options = {"biases": biases, "init": np.random.default_rng(0).normal(size=(6, 2)), "iterations": 40}
    options |= {"noise_variance": 0.5, "prior_precision": 2.0, "tol": 1e-3}
    one = MatrixFactorization(2, **options).fit(R56)
    three = MatrixFactorization(2, n_init=3, combine="average", **options).fit(R56)
    asked = [(0, 4), (3, 0), (77, 2), (1, 99)]
    for ours, theirs in (
        (three.predict_distribution(asked), one.predict_distribution(asked)),
        (three.explain(1, 5, N=9), one.explain(1, 5, N=9)),
    ):
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-9)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-9)
    rated = {0: 4.0, 3: 1.0}
    folded, alone = three.fold_in(rated), one.fold_in(rated)
    np.testing.assert_allclose(three.item_factors_ @ folded, one.item_factors_ @ alone, rtol=1e-9)


def test_reasons_of_an_average_add_up_to_its_score():
    options = {"regularization": 0.3, "iterations": 3000, "tol": 1e-14, "random_state": 0}
    model = MatrixFactorization(2, n_init=3, combine="average", **options).fit(R56)
    assert model.explain(1, 5, N=99)[1].sum() == pytest.approx(model.predict([(1, 5)])[0], rel=1e-4)


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("one_hot", [False, True])
def test_newcomers_of_a_hybrid_are_their_features(biases, one_hot):
    rng = np.random.default_rng(2)
    psi, phi = rng.normal(size=(5, 3)), rng.normal(size=(6, 2))
    options = {"regularization": 0.5, "biases": biases, "one_hot": one_hot, "random_state": 0}
    model = HybridFactorization(2, **options).fit(R56, user_features=psi, item_features=phi)
    user, item = np.array([0.5, -1.0, 2.0]), np.array([1.0, 3.0])
    features = {"user_features": {77: user}, "item_features": {99: item}}
    asked = [(77, 99), (77, 2), (1, 99), (1, 2), (78, 2), (1, 98)]
    found = model.predict(asked, **features)
    u, v = model.coef_user_[:, :3] @ user, model.coef_item_[:, :2] @ item
    U, V = model.user_factors_, model.item_factors_
    b, a, i = (
        (model.global_mean_, model.user_bias_, model.item_bias_) if biases else (0, np.zeros(5), np.zeros(6))
    )
    wanted = [b + u @ v, b + i[2] + u @ V[2], b + a[1] + U[1] @ v, b + a[1] + i[2] + U[1] @ V[2]]
    np.testing.assert_allclose(found[:4], wanted, rtol=1e-10)
    np.testing.assert_array_equal(found[3:], model.predict(asked[3:]))  # nothing is known of 78 and 98
    for wrong in ({77: user[:2]}, {77: np.r_[user, 1.0]}):
        with pytest.raises(DataError, match=f"has {len(wrong[77])} features; the fit had 3"):
            model.predict([(77, 2)], user_features=wrong)
    with pytest.raises(DataError, match="a dict or a frame by id"):
        model.predict([(77, 2)], user_features=psi)


def test_reasons_for_a_row_are_those_of_the_user_who_has_it():
    clicks = csr_matrix(np.nan_to_num(R56))
    model = AlternatingLeastSquares(2, use_cg=False, iterations=3, random_state=0, dtype=np.float64).fit(
        clicks
    )
    total, reasons, weights = model.explain(3, clicks, 1, N=9)
    assert total == pytest.approx(sum(part for _, part in reasons))
    assert {item for item, _ in reasons} == set(clicks[3].indices.tolist())
    assert [part for _, part in reasons] == sorted((part for _, part in reasons), reverse=True)
    confidence = clicks[3].toarray()[0]
    V = model.item_factors_
    A = V.T @ V + model.regularization * np.eye(2)
    liked = confidence > 0
    A += (V[liked].T * (confidence[liked] - 1)) @ V[liked]
    np.testing.assert_allclose(weights, np.linalg.inv(A), rtol=1e-9)
    assert total == pytest.approx(V[1] @ np.linalg.inv(A) @ V[liked].T @ confidence[liked])
    same = model.explain("nobody", clicks[3:4], 1, N=9)
    assert same[:2] == (pytest.approx(total), [(item, pytest.approx(part)) for item, part in reasons])
    assert model.explain(3, None, 1)[0] == pytest.approx(total)  # of the fit
    assert model.explain(3, clicks, 1, weights, N=2)[1] == reasons[:2]
    for user, item, rows, words in (
        (3, 99, clicks, "is not known"),
        ("nobody", 1, None, "is not known"),
        ("nobody", 1, clicks, "the row of this user alone"),
    ):
        with pytest.raises(DataError, match=words):
            model.explain(user, rows, item)


PHI = np.array([[1.0, 0.0], [0.5, 1.0], [0.0, 2.0], [1.0, 1.0], [2.0, 0.5], [0.3, 0.3]])


def draws():
    return BayesianMatrixFactorization(2, n_burn=1, n_samples=3, random_state=0)


SPOILED = {
    "users": (lambda: MatrixFactorization(2, random_state=0), "user_factors_", lambda a: a[:-1]),
    "items": (lambda: MatrixFactorization(2, random_state=0), "item_factors_", lambda a: a[:-1]),
    "ranks": (lambda: MatrixFactorization(2, random_state=0), "item_factors_", lambda a: a[:, :-1]),
    "a vector": (lambda: MatrixFactorization(2, random_state=0), "user_factors_", lambda a: a[:, 0]),
    "biases": (lambda: MatrixFactorization(2, biases=True, random_state=0), "user_bias_", lambda a: a[:-1]),
    "draws of users": (
        draws, "user_samples_", lambda a: a[:, :-1],
    ),
    "draws of items": (
        draws, "item_samples_", lambda a: a[:, :-1],
    ),
    "a draw less": (
        draws, "item_samples_", lambda a: a[:-1],
    ),
    "a noise less": (
        draws, "noise_samples_", lambda a: a[:-1],
    ),
    "draws of another rank": (
        draws, "item_samples_", lambda a: a[..., :1],
    ),
    "maps of users": (lambda: HybridFactorization(2, random_state=0), "coef_user_", lambda a: a[:-1]),
    "maps of items": (lambda: HybridFactorization(2, random_state=0), "coef_item_", lambda a: a[:-1]),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILED)
def test_factors_of_a_spoiled_file_are_refused(name):
    make, part, change = SPOILED[name]
    model = make()
    model.fit(R56, item_features=PHI) if isinstance(model, HybridFactorization) else model.fit(R56)
    model._check_loaded()
    setattr(model, part, change(getattr(model, part)))
    with pytest.raises(ModelFileError, match="do(es)? not fit"):
        model._check_loaded()


def test_likenesses_of_other_items_are_refused():
    model = ItemItemRecommender(2).fit(csr_matrix(np.nan_to_num(R56)))
    model._check_loaded()
    for cut in (np.s_[:-1], np.s_[:, :-1]):
        spoiled = ItemItemRecommender(2).fit(csr_matrix(np.nan_to_num(R56)))
        spoiled.similarity_ = model.similarity_[cut]
        with pytest.raises(ModelFileError, match="likenesses do not fit"):
            spoiled._check_loaded()


def test_content_is_told_feature_by_feature():
    model = ContentBasedRecommender(regularization=0.5).fit(R56, item_features=PHI)
    parts = model.explain(1, 4)
    np.testing.assert_allclose(parts, model.coef_[1] * PHI[4])
    assert model.offset_[1] + parts.sum() == pytest.approx(model.predict([(1, 4)])[0])
    for unknown in ((77, 4), (1, 99)):
        assert model.explain(*unknown).tolist() == [0.0, 0.0]
    new = np.array([[3.0, -1.0], [0.0, 0.0]])
    np.testing.assert_allclose(model.predict_items(1, new), model.offset_[1] + new @ model.coef_[1])
    np.testing.assert_allclose(model.predict_items(1, new[0]), [model.offset_[1] + new[0] @ model.coef_[1]])
    assert model.predict_items(77, new).tolist() == [model.global_mean_] * 2
    plain = ContentBasedRecommender(regularization=0.5).fit(R56)  # without features every item is its own
    assert plain.coef_.shape == (5, 6)
    np.testing.assert_allclose(plain.item_features_, np.eye(6))


def test_an_evaluation_without_test_users_has_no_lists():
    from gnomon.core.ratings import read_ratings
    from gnomon.recommend.evaluation import _lists_of

    model, train = MatrixFactorization(2, random_state=0).fit(R56), read_ratings(R56, None)
    assert _lists_of(model, train, np.array([], int), 3) == []
    lists = _lists_of(model, train, np.array([0, 3]), 2)
    assert [len(one) for one in lists] == [min(2, int((~SEEN[u]).sum())) for u in (0, 3)]
    for user, one in zip((0, 3), lists, strict=True):
        open_ = np.flatnonzero(~SEEN[user])
        order = open_[np.argsort(-model.predict([(user, j) for j in open_]), kind="stable")]
        assert list(one) == order[: len(one)].tolist()


def test_the_names_of_implicit_are_those_of_the_factors():
    model = MatrixFactorization(2, random_state=0).fit(R56)
    assert model.user_factors is model.user_factors_ and model.item_factors is model.item_factors_


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"a": 0}, "give both a and b"),
        ({"b": 0}, "give both a and b"),
        ({"a": 0, "b": 77}, "user 77 is not among"),
        ({"a": 6, "b": 0, "mode": "item"}, "item 6 is not among"),
        ({"kind": "cosin"}, "Did you mean 'cosine'"),
        ({"mode": "users"}, "'user' or 'item'; got 'users'"),
        ({"shrinkage": -0.1}, "got -0.1 and"),
        ({"shrinkage": np.nan}, "must not be negative"),
        ({"min_common": 0}, "at least 1"),
    ],
    ids=str,
)
def test_similarities_that_cannot_be_asked_for(asked, words):
    with pytest.raises(DataError, match=words):
        similarity(R56, **asked)
    assert similarity(R56, shrinkage=0.0, min_common=1).shape == (5, 5)
    assert similarity(R56, 0, 5, mode="item", kind="jaccard") == pytest.approx(
        (SEEN[:, 0] & SEEN[:, 5]).sum() / (SEEN[:, 0] | SEEN[:, 5]).sum()
    )


@pytest.mark.parametrize("refit", ["none", "full"])
def test_a_component_that_gains_nothing_is_not_kept(refit):
    table = np.outer([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 5.0])
    model = GreedyFactorization(
        3, regularization=0.0, stopping="gain", refit=refit, inner_iterations=500
    ).fit(table)
    assert model.user_factors_.shape == (4, 1) and model.item_factors_.shape == (3, 1)
    np.testing.assert_allclose(model.predict_matrix(), table, rtol=1e-6)
    assert model.residuals_[0] == pytest.approx(0.0, abs=1e-9) and model.n_iter_ == len(model.residuals_) == 2
    zero = GreedyFactorization(3, regularization=0.5, stopping="gain").fit(np.zeros((3, 3)))
    assert zero.user_factors_.shape[1] == 1 and zero.n_iter_ == 1


@pytest.mark.parametrize("patience", [1, 2, 9])
def test_the_best_number_of_components_is_that_of_the_least_validation_error(patience):
    rng = np.random.default_rng(4)
    table = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 15)) + 0.5 * rng.normal(size=(20, 15))
    model = GreedyFactorization(7, regularization=0.1, patience=patience, random_state=0).fit(table)
    curve = model.validation_curve_
    best = int(np.argmin(curve)) + 1
    assert model.user_factors_.shape[1] == model.item_factors_.shape[1] == best
    assert model.n_iter_ == len(curve) == min(7, best + patience)
    np.testing.assert_allclose(model.trace_["validation_mse"], curve)
    np.testing.assert_allclose(model.trace_.objective, model.residuals_)
    assert (np.diff(model.residuals_) < 0).all() and len(model.component_objectives_) == len(curve)


def test_who_has_no_ratings_has_no_bias():
    table = np.array(
        [[5.0, 3.0, np.nan, 4.0], [np.nan] * 4, [2.0, 1.0, np.nan, 3.0], [1.0, np.nan, np.nan, 5.0]]
    )
    model = MeanRecommender("biases", regularization=0.5).fit(table)
    assert model.user_bias_[1] == model.item_bias_[2] == 0.0
    seen = ~np.isnan(table)
    rest = np.where(seen, table - model.global_mean_ - model.user_bias_[:, None] - model.item_bias_, 0.0)
    np.testing.assert_allclose(rest.sum(axis=1), 0.5 * model.user_bias_, atol=1e-10)
    np.testing.assert_allclose(rest.sum(axis=0), 0.5 * model.item_bias_, atol=1e-10)
    assert model.predict([(1, 0)])[0] == pytest.approx(3.0 - 1 / 3)  # a newcomer gets the mean of the item


@pytest.mark.parametrize("mode", ["user", "item"])
def test_a_row_with_few_in_common_is_still_most_like_itself(mode):
    table = np.array(
        [
            [5.0, 3.0, 4.0, np.nan],
            [4.0, 2.0, 5.0, np.nan],
            [np.nan, np.nan, np.nan, 1.0],
            [3.0, 1.0, 2.0, np.nan],
        ]
    )
    table = table if mode == "user" else table.T
    model = KNNRecommender(mode=mode, min_common=2).fit(table)
    ask = model.similar_users if mode == "user" else model.similar_items
    S = model.similarities_
    ids, values = ask(0)
    others = sorted((-S[0, j], j) for j in (1, 3))
    assert ids.tolist() == [0] + [j for _, j in others]
    np.testing.assert_allclose(values, [1.0] + [-value for value, _ in others])
    ids, values = ask(2)  # one rating is nothing to compare, even with itself
    assert ids.tolist() == [2] and values.tolist() == [0.0] and np.isnan(S[2]).all()
    assert ask(0, N=1)[0].tolist() == [0]


@pytest.mark.parametrize(
    ("quota", "words"),
    [
        ({"groups": [0, 1], "max_per_group": 1}, "groups must be as long as scores"),
        ({"groups": [0, 1, 0]}, "give both"),
        ({"max_per_group": 1}, "give both"),
        ({"groups": [0, 1, 0], "max_per_group": -1}, "groups must be as long as scores"),
    ],
    ids=str,
)
def test_quotas_that_cannot_be_kept_are_refused(quota, words):
    with pytest.raises(DataError, match=words):
        rerank_mmr([3.0, 2.0, 1.0], np.eye(3), 2, 1.0, **quota)
    assert list(rerank_mmr([3.0, 2.0, 1.0], np.eye(3), 2, 1.0, groups=[0, 0, 1], max_per_group=1)) == [0, 2]
    assert list(rerank_mmr([3.0, 2.0, 1.0], np.eye(3), 3, 1.0, groups=[0, 0, 1], max_per_group=0)) == []


@pytest.mark.parametrize("lam", [6.0, 50.0])
def test_a_penalty_above_the_largest_singular_value_leaves_nothing(lam):
    table = np.array([[1.0, np.nan, 2.0], [3.0, 4.0, np.nan]])
    model = NuclearNormCompletion(lam).fit(table)
    assert model.rank_ == 0 and model.singular_values_.tolist() == []
    assert model.objective_ == pytest.approx(0.5 * 30.0)  # half the squares of all ratings
    assert model.duality_gap_ == pytest.approx(0.0, abs=1e-12)
    assert model.certificate_ == pytest.approx(np.linalg.norm(np.nan_to_num(table), 2) / lam - 1.0)


@pytest.mark.parametrize(
    ("ratings", "blocks"),
    [(1, 1), (2**16 - 1, 1), (2**16, 4), (2**18, 8), (9 * 2**16, 12), (2**22, 32), (2**30, 32)],
)
def test_a_side_is_cut_into_four_blocks_where_ratings_are_many_and_into_more_with_their_root(ratings, blocks):
    assert grid_size(ratings) == blocks


def test_blocks_of_users_have_as_many_interactions_each(monkeypatch):
    monkeypatch.setattr(bpr, "FEWEST", 2)
    monkeypatch.setattr(passes, "GRID_RATINGS", 1)
    clicks = np.full((9, 8), np.nan)
    for user, count in enumerate([8, 1, 1, 2, 4, 2, 2, 4, 8]):  # eight interactions a block
        clicks[user, :count] = 1.0
    R = RatingMatrix.from_dense(clicks)
    work = BayesianPersonalizedRanking(2)._prepare(R)
    assert work.user_edges.tolist() == [0, 1, 5, 8, 9]
    monkeypatch.setattr(bpr, "FEWEST", 9)
    assert BayesianPersonalizedRanking(2)._prepare(R).user_edges.tolist() == [0, 9]
