"""Basis expansions: columns by hand, kernels by inner products, curves by degree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures as Peer

from gnomon.linear import BasisExpansion, Lasso, LinearRegression, PolynomialFeatures, basis

vectors = st.lists(st.floats(-3, 3), min_size=3, max_size=3)


def curve(degree):
    return make_pipeline(PolynomialFeatures(degree, include_bias=degree == 0), LinearRegression())


def test_curves_by_degree():
    """R21."""
    x, y = np.arange(5.0)[:, None], np.array([1.0, 0.0, 2.0, -1.0, 3.0])
    expected = {
        0: ([1.0], 10.0),
        1: ([2 / 5, 3 / 10], 9.1),
        2: ([39 / 35, -79 / 70, 5 / 14], 256 / 35),
        4: ([1, -61 / 6, 44 / 3, -19 / 3, 5 / 6], 0.0),
    }
    for degree, (coefficients, rss) in expected.items():
        model = curve(degree).fit(x, y)
        found = [model[-1].intercept_, *(model[-1].coef_ if degree else [])]
        np.testing.assert_allclose(found, coefficients, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(((y - model.predict(x)) ** 2).sum(), rss, rtol=1e-9, atol=1e-12)


def test_counts():
    """R22."""
    two = np.zeros((1, 2))
    assert PolynomialFeatures(2, cross_terms=False).fit(two).n_output_features_ == 5
    assert PolynomialFeatures(3, cross_terms=False).fit(two).n_output_features_ == 7
    assert PolynomialFeatures(2, include_bias=False).fit(np.zeros((1, 1000))).n_output_features_ == 501500
    for d, q, count in [(2, 2, 6), (10, 2, 66), (10, 3, 286)]:
        assert PolynomialFeatures(q).fit(np.zeros((1, d))).n_output_features_ == count


def test_columns_by_hand():
    """R23."""
    x, other = [[1.0, 2.0]], [[3.0, -1.0]]
    options = {"degree": 2, "include_bias": False}
    np.testing.assert_array_equal(PolynomialFeatures(**options).fit_transform(x), [[1, 2, 1, 2, 4]])
    form = PolynomialFeatures(scaling="quadratic-form", **options)
    np.testing.assert_array_equal(form.fit_transform(x), [[1, 2, 1, 4, 4]])
    additive = PolynomialFeatures(cross_terms=False, **options)
    np.testing.assert_array_equal(additive.fit_transform(x), [[1, 2, 1, 4]])
    assert additive.get_feature_names_out().tolist() == ["x0", "x1", "x0^2", "x1^2"]
    both = PolynomialFeatures(scaling="kernel-sum", **options).fit_transform([*x, *other])
    np.testing.assert_allclose(both[0] @ both[1], 2.0, rtol=1e-12)
    both = PolynomialFeatures(2, scaling="kernel").fit_transform([*x, *other])
    np.testing.assert_allclose(both[0] @ both[1], 4.0, rtol=1e-12)


@given(vectors, vectors, st.integers(1, 4), st.floats(0, 2))
def test_inner_products_are_kernels(a, b, degree, coef0):
    X = np.array([a, b])
    inner = X[0] @ X[1]
    size = (1 + abs(coef0) + np.linalg.norm(X[0]) * np.linalg.norm(X[1])) ** degree
    phi = PolynomialFeatures(degree, scaling="kernel", coef0=coef0).fit_transform(X)
    np.testing.assert_allclose(phi[0] @ phi[1], (coef0 + inner) ** degree, atol=1e-12 * size)
    phi = PolynomialFeatures(degree, scaling="kernel-sum", include_bias=False).fit_transform(X)
    np.testing.assert_allclose(
        phi[0] @ phi[1], sum(inner**q for q in range(1, degree + 1)), atol=1e-12 * size
    )


@given(st.integers(0, 10_000))
def test_quadratic_form_is_read_from_the_coefficients(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    M = rng.normal(size=(3, 3))
    A, b = M + M.T, rng.normal(size=3)
    y = np.einsum("ij,jk,ik->i", X, A, X) + X @ b
    expansion = PolynomialFeatures(2, include_bias=False, scaling="quadratic-form").fit(X)
    coef = LinearRegression(fit_intercept=False).fit(expansion.transform(X), y).coef_
    found = np.zeros((3, 3))
    for c, exponents in zip(coef[3:], expansion.powers_[3:], strict=True):
        j, k = np.repeat(np.arange(3), exponents)
        found[j, k] = found[k, j] = c
    np.testing.assert_allclose(found, A, atol=1e-7)
    np.testing.assert_allclose(coef[:3], b, atol=1e-7)


@given(st.integers(0, 10_000))
def test_higher_degrees_fit_no_worse_and_the_last_interpolates(seed):
    rng = np.random.default_rng(seed)
    x, y = np.arange(5.0)[:, None], rng.normal(size=5)
    rss = [((y - curve(p).fit(x, y).predict(x)) ** 2).sum() for p in range(5)]
    assert (np.diff(rss) <= 1e-9).all() and rss[-1] < 1e-12


@pytest.mark.parametrize(
    "options", [{}, {"interaction_only": True}, {"degree": (2, 3)}, {"include_bias": False}]
)
def test_same_as_scikit_learn(options):
    X = np.random.default_rng(0).normal(size=(5, 3))
    ours, theirs = PolynomialFeatures(**options).fit(X), Peer(**options).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.powers_, theirs.powers_)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_every_basis_function():
    X = np.array([[1.0, 2.0], [3.0, 0.5]])
    functions = [
        basis.power(0, 3),
        basis.log(1),
        basis.step(0, 2.0),
        basis.less(0, 1),
        basis.cos(0),
        basis.sin(1, 2.0),
        basis.product(0, 1),
        basis.rbf([[1.0, 2.0]], 1.0),
        basis.sigmoid([1.0, -1.0], 1.0),
        basis.spline(0, [2.0], degree=2),
        basis.custom(lambda Z: Z.sum(axis=1), ["sum"]),
    ]
    expected = [
        [1, 27],
        np.log([2, 0.5]),
        [1, 0],
        [1, 0],
        np.cos([1, 3]),
        np.sin([4, 1]),
        [2, 1.5],
        [1, np.exp(-(4 + 2.25) / 2)],
        1 / (1 + np.exp([0, -3.5])),
        [1, 3],
        [1, 9],
        [0, 1],
        [3, 3.5],
    ]
    made = BasisExpansion(functions).fit(X)
    np.testing.assert_allclose(made.transform(X).T, expected, rtol=1e-12)
    assert len(made.get_feature_names_out()) == 13


def test_many_features_and_a_penalty_find_the_few():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3, size=(200, 4))
    y = 3 * np.log(X[:, 0]) - 2 * X[:, 1] * X[:, 2] + 0.05 * rng.normal(size=200)
    sink = BasisExpansion(["power", "log", "step", "cos", "product"], include_original=True).fit(X)
    Z = sink.transform(X)
    names = sink.get_feature_names_out()
    model = Lasso(0.05).fit((Z - Z.mean(axis=0)) / Z.std(axis=0), y)
    largest = names[np.argsort(-np.abs(model.coef_))[:2]].tolist()
    assert set(largest) == {"log(x0)", "x1 x2"}
    assert np.count_nonzero(model.coef_) < len(names) / 2


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: PolynomialFeatures(0, include_bias=False).fit([[1.0]]), "empty output"),
        (lambda: PolynomialFeatures(3, scaling="quadratic-form").fit([[1.0]]), "degree=2"),
        (lambda: PolynomialFeatures(9).fit(np.zeros((1, 100))), "columns would come out"),
        (lambda: BasisExpansion([basis.log(0)]).fit_transform([[1.0], [-1.0]]), "row 1 holds -1"),
        (lambda: basis.spline(0, [2.0, 1.0]), "increase"),
        (lambda: BasisExpansion(["powers"]).fit([[1.0]]), "Did you mean 'power'"),
        (lambda: BasisExpansion(["power"], max_features=1).fit([[1.0]]), "max_features"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_repeated_names_are_numbered():
    names = BasisExpansion([basis.power(0, 2), basis.power(0, 2)]).fit([[1.0]]).get_feature_names_out()
    assert names.tolist() == ["x0^2", "x0^2_2"]
