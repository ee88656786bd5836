"""Small facts of recommenders: how sure they are of a pair, newcomers of a hybrid, reasons for a row."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from gnomon.core.errors import DataError
from gnomon.recommend import (
    AlternatingLeastSquares,
    BayesianMatrixFactorization,
    HybridFactorization,
    MatrixFactorization,
)
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
