"""Small facts of kernels: powers, widths, series, what rows and things are, huge and sparse rows, spoiled files."""

import warnings

import numpy as np
import pytest
from scipy import sparse as sp
from scipy import special
from sklearn.base import clone

from gnomon import load, save
from gnomon.core.errors import DataError, ModelFileError
from gnomon.kernels import (
    RBF,
    Chi2,
    ConstantKernel,
    Exponential,
    ExpSineSquared,
    FeatureMapKernel,
    FunctionKernel,
    KernelExpansion,
    KernelPerceptron,
    KernelRidge,
    Laplacian,
    Linear,
    Matern,
    Nystroem,
    PivotedMap,
    Polynomial,
    PolynomialSum,
    RationalQuadratic,
    RBFSampler,
    Sigmoid,
    WhiteKernel,
    center_gram,
    gram,
)
from gnomon.kernels.ridge import GRID
from gnomon.kernels.tiles import _shape
from gnomon.kernels.using import gamma_of, is_matrix, is_things, weighted_variance

X = np.array([[1.0, 0.5], [2.0, 1.0], [0.25, 3.0]])


@pytest.mark.parametrize("exponent", [-2, -1, 0, 0.5, 1, 2, 2.5, 8, 9])
def test_a_power_of_a_kernel_is_that_of_its_numbers(exponent):
    K = X @ X.T
    indefinite = exponent < 0 or exponent != int(exponent)
    found = gram(Polynomial(exponent, gamma=1.0, coef0=0.0, allow_indefinite=indefinite), X)
    np.testing.assert_allclose(found, K**exponent, rtol=1e-12)
    if not indefinite:
        np.testing.assert_allclose((Linear() ** exponent)(X), K**exponent, rtol=1e-12)
        np.testing.assert_allclose((Linear() ** exponent).diag(X), np.diag(K) ** exponent, rtol=1e-12)
    else:
        with pytest.raises(DataError, match="allow_indefinite"):
            (Linear() ** exponent)(X)


@pytest.mark.parametrize("columns", [1, 2])
def test_the_default_width_is_one_over_the_columns(columns):
    A = X[:, :columns]
    squares = ((A[:, None] - A) ** 2).sum(axis=2)
    np.testing.assert_allclose(gram("rbf", A), np.exp(-squares / columns), rtol=1e-12)
    np.testing.assert_allclose(gram("rbf", A, gamma=0.3), np.exp(-0.3 * squares), rtol=1e-12)
    np.testing.assert_allclose(gram("poly", A), (A @ A.T / columns + 1) ** 3, rtol=1e-12)
    np.testing.assert_allclose(gram("rbf", A.tolist(), X[:1, :columns]), np.exp(-squares[:, :1] / columns))


@pytest.mark.parametrize("degree", [0, 1, 3])
def test_features_of_a_degree_are_terms_of_the_series(degree):
    """exp(-|x - z|²/2) = exp(-|x|²/2) exp(-|z|²/2) Σ (x·z)^j / j!"""
    Z = RBF(1.0).feature_map(X, max_degree=degree)
    inner, bell = X @ X.T, np.exp(-0.5 * (X**2).sum(axis=1))
    series = sum(inner**j / np.prod(np.arange(1, j + 1)) for j in range(degree + 1))
    np.testing.assert_allclose(Z @ Z.T, bell[:, None] * series * bell, rtol=1e-10)
    assert Z.shape[1] == RBF(1.0).feature_dim(2, degree)
    with pytest.raises(DataError, match="must not be negative; got -1"):
        RBF(1.0).feature_map(X, max_degree=-1)


def test_a_factor_is_one_number_a_row():
    k = Linear().scaled(lambda A: A[:, 0])
    np.testing.assert_allclose(k(X), np.outer(X[:, 0], X[:, 0]) * (X @ X.T))
    np.testing.assert_allclose(k(X, X[:1]), np.outer(X[:, 0], X[:1, 0]) * (X @ X[:1].T))
    np.testing.assert_allclose(k.diag(X), X[:, 0] ** 2 * (X**2).sum(axis=1))
    for f in (lambda A: A, lambda A: A[:1, 0], lambda A: 1.0):
        with pytest.raises(DataError, match="one number a row, 3 in all"):
            Linear().scaled(f)(X)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    "parts",
    [
        (ConstantKernel(2.0), RBF(0.7)),
        (ConstantKernel(2.0), ConstantKernel(3.0)),
        (RBF(0.7), RBF([1.5, 0.4])),
        (RBF(0.7) + ConstantKernel(0.5), ConstantKernel(3.0)),
    ],
)
def test_slopes_of_products_are_differences(parts, order):
    first, second = parts[::order]
    k = first * second
    K, slopes = k(X, eval_gradient=True)
    np.testing.assert_allclose(K, first(X) * second(X))
    theta = k.theta
    for i, step in enumerate(1e-6 * np.eye(len(theta))):
        up, down = (k.clone_with_theta(theta + sign * step)(X) for sign in (1, -1))
        np.testing.assert_allclose(slopes[:, :, i], (up - down) / 2e-6, atol=1e-8)


# rows, words and files


@pytest.mark.parametrize(
    "X", [np.ones((2, 2)), [[1, 2], [3, 4]], sp.csr_array(np.eye(2)), np.ones((2, 2), bool)]
)
def test_tables_of_numbers(X):
    assert is_matrix(X)


@pytest.mark.parametrize("X", [["ab", "b"], [1.0, 2.0], [[1], [1, 2]], np.array([["a", "b"]]), [{1}, {2}]])
def test_what_is_no_table_of_numbers(X):
    assert not is_matrix(X)


@pytest.mark.parametrize(
    ("X", "yes"),
    [
        (["ab", "b"], True),
        (("ab", "b"), True),
        (np.array(["ab", "b"]), True),
        ([{1, 2}, {3}], True),
        ([1.0, 2.0], False),
        (["ab", None], False),
        (["ab", 3], False),
        ([np.float64(1.0), "ab"], False),
        ([[1.0, None]], False),
        ([np.ones(2), np.ones(3)], False),
        ([], False),
        ({"ab", "b"}, False),
    ],
)
def test_things_are_neither_numbers_nor_rows(X, yes):
    assert is_things(X) is yes


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_spread_of_all_entries(form):
    weight = np.array([1.0, 2.0, 0.0])
    rows = np.vstack([X[0], X[1], X[1]])
    assert weighted_variance(form(X), weight) == pytest.approx(rows.var())
    assert weighted_variance(form(np.full((3, 2), 0.1)), weight) == pytest.approx(0.0, abs=1e-15)
    assert weighted_variance(form(np.full((3, 2), 0.1)), weight) >= 0.0


def test_features_of_the_exponential_kernel_are_terms_of_its_series():
    kernel, inner = Exponential(), X @ X.T
    for degree in (0, 1, 4):
        Z = kernel.feature_map(X, max_degree=degree)
        wanted = sum(inner**j / np.prod(np.arange(1, j + 1)) for j in range(degree + 1))
        np.testing.assert_allclose(Z @ Z.T, wanted, rtol=1e-10)
        assert kernel.feature_dim(2, degree) == Z.shape[1] == (degree + 1) * (degree + 2) // 2
    with pytest.raises(DataError):
        kernel.feature_map(X)
    np.testing.assert_allclose((Linear() ** 2).feature_map(X) @ (Linear() ** 2).feature_map(X).T, inner**2)
    assert (Linear() ** 2).feature_dim(2) == 4
    for power in (1.5, -1):
        with pytest.raises(DataError):
            (Linear() ** power).feature_map(X)
    with pytest.raises(DataError, match="Laplacian has no finite feature map"):
        Laplacian(1.0).feature_map(X)


def test_kernels_say_whether_only_differences_count():
    shifts = [
        RBF(1.0),
        Matern(1.0),
        Laplacian(1.0),
        RationalQuadratic(),
        ExpSineSquared(),
        ConstantKernel(2.0),
    ]
    for kernel in (*shifts, WhiteKernel(0.1), RBF(1.0) + 2.0, RBF(1.0) * Laplacian(0.3)):
        assert kernel.is_stationary()
        np.testing.assert_allclose(kernel(X + 5.0, X[:1] + 5.0), kernel(X, X[:1]), rtol=1e-8, atol=1e-12)
    for kernel in (
        Linear(),
        RBF(1.0) * Linear(),
        RBF(1.0).scaled(np.sum),
        RBF(1.0).warp(np.sin),
        Linear() + 2.0,
    ):
        assert not kernel.is_stationary()


def test_kernels_are_equal_where_their_parameters_are():
    assert RBF(1.0) == RBF(1.0) and RBF([1.0, 2.0]) == RBF(np.array([1.0, 2.0]))
    assert (
        RBF(1.0) != RBF(2.0)
        and RBF(1.0) != Laplacian(1.0)
        and RBF(1.0) != "rbf"
        and RBF([1.0, 2.0]) != RBF(1.0)
    )
    assert RBF(1.0) + Linear() == RBF(1.0) + Linear() != Linear() + RBF(1.0)
    assert repr(RBF(np.array([1.0, 2.0]))) == "RBF(length_scale=[1.0, 2.0])"
    assert repr(RBF(np.float64(2.0))) == "RBF(length_scale=2.0)" and repr(RBF()) == "RBF()"
    np.testing.assert_allclose((2.0 + Linear())(X), 2.0 + X @ X.T)
    np.testing.assert_allclose((2.0 * Linear())(X), 2.0 * X @ X.T)
    for wrong in (-1.0, np.float64(-0.5)):
        with pytest.raises(ValueError, match="negative number is no kernel"):
            wrong + Linear()
    assert [RBF(s).anisotropic for s in (1.0, [1.0], [1.0, 2.0], np.array([3.0, 4.0]))] == [
        False,
        False,
        True,
        True,
    ]


def test_kernels_of_what_functions_make_of_rows():
    warped = RBF(1.0).warp(lambda A: np.column_stack([A[:, 0] ** 2, A[:, 1]]))
    moved = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    np.testing.assert_allclose(warped(X), RBF(1.0)(moved))
    np.testing.assert_allclose(warped(X, X[:1]), RBF(1.0)(moved, moved[:1]))
    np.testing.assert_allclose(warped.diag(X), 1.0)
    common = FunctionKernel(lambda a, b: float(len(set(a) & set(b))), vectorized=False)
    words = ["ab", "abc", "cd"]
    turned = common.warp(lambda A: [word[::-1].upper() for word in A])
    np.testing.assert_allclose(turned(words), [[2, 2, 0], [2, 3, 1], [0, 1, 2]])
    features = FeatureMapKernel(lambda A: np.array([[len(a), a.count("a")] for a in A], dtype=float))
    np.testing.assert_allclose(features(words), [[5, 7, 4], [7, 10, 6], [4, 6, 4]])
    np.testing.assert_allclose(features.diag(words), [5, 10, 4])


@pytest.mark.parametrize(
    "kernel", [RBF(0.7), RBF([0.7, 2.0]), Matern(1.3), RationalQuadratic(0.9), Laplacian(0.4)]
)
def test_quick_rows_are_those_of_the_kernel_in_single_precision(kernel):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 2)) + 100.0
    quick = kernel._quick(A)
    if quick is None:
        assert isinstance(kernel, Laplacian)
        return
    whole, chosen = kernel(A), np.array([3, 17, 4, 29])
    for first, last in ((0, 30), (3, 18), (4, 4), (29, 30), (0, 1)):
        found = quick(chosen, first, last)
        assert found.shape == (4, last - first)
        np.testing.assert_allclose(found, whole[chosen, first:last], atol=3e-5)
        for i, row in enumerate(chosen):
            if first <= row < last:
                assert found[i, row - first] == 1.0
    assert kernel._quick(sp.csr_array(A)) is None
    assert kernel._quick(A * 1e30) is None


def test_distances_of_huge_rows():
    huge = np.array([[1e200, 0.0], [1e200, 3.0], [-2e200, 0.0]])
    K = RBF(1e200)(huge)
    np.testing.assert_allclose(K, np.exp(-0.5 * np.array([[0, 0, 9], [0, 0, 9], [9, 9, 0]])), rtol=1e-12)
    np.testing.assert_allclose(RBF(1.0)(huge), [[1, np.exp(-4.5), 0], [np.exp(-4.5), 1, 0], [0, 0, 1]])
    tall = np.vstack([huge] * 300)
    np.testing.assert_allclose(RBF(1e200)(tall, tall[:400])[:3, :3], K)
    with pytest.raises(DataError, match="sparse rows overflow"):
        RBF(1.0)(sp.csr_array(huge))
    assert _shape(sp.csr_array(X), True) == (1024, 1024) and _shape(sp.csr_array(X), False) == (1024, 4096)


@pytest.mark.parametrize("rows", [5, 3000])
def test_sparse_rows_have_the_matrix_of_dense_ones(rows):
    A = sp.random_array((rows, 7), density=0.3, rng=np.random.default_rng(0), format="csr")
    for kernel in (RBF(0.8), Linear(), Polynomial(2)):
        np.testing.assert_allclose(kernel(A), kernel(A.toarray()), rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(
            kernel(A, A[:4]), kernel(A.toarray(), A[:4].toarray()), rtol=1e-9, atol=1e-10
        )


SPOILED = {
    "ridge": (KernelRidge(), "dual_coef_", lambda a: a[:-1], "one coefficient for each row"),
    "pivots, one row less": (PivotedMap(rank=2), "pivot_rows_", lambda a: a[:-1], "do not fit together"),
    "pivots, one column less": (PivotedMap(rank=2), "pivot_rows_", lambda a: a[:, :-1], "do not fit together"),
    "pivots, a triangle cut": (PivotedMap(rank=2), "triangle_", lambda a: a[:-1], "do not fit together"),
    "nystroem, a component less": (Nystroem(n_components=2), "components_", lambda a: a[:-1], "do not fit together"),
    "nystroem, a number less": (
        Nystroem(n_components=2), "component_indices_", lambda a: a[:-1], "do not fit together",
    ),
    "nystroem, a matrix cut": (Nystroem(n_components=2), "normalization_", lambda a: a[:, :-1], "do not fit together"),
    "columns beyond": (
        Nystroem(kernel="precomputed", n_components=2), "component_indices_", lambda a: a + 3, "not that of a column",
    ),
    "columns before": (
        Nystroem(kernel="precomputed", n_components=2), "component_indices_", lambda a: a - 3, "not that of a column",
    ),
    "weights of other columns": (RBFSampler(n_components=4), "random_weights_", lambda a: a[:-1], None),
    "weights less": (RBFSampler(n_components=4), "random_weights_", lambda a: a[:, :-1], None),
    "signs": (KernelExpansion(signed=True), "signs_", lambda a: a[:-1], "one sign for each row"),
    "perceptron, coefficients": (KernelPerceptron(), "dual_coef_", lambda a: a[:, :-1], None),
    "perceptron, support": (KernelPerceptron(), "support_vectors_", lambda a: a[:-1], None),
    "perceptron, numbers beyond": (KernelPerceptron(kernel="precomputed"), "support_", lambda a: a + 3, None),
    "perceptron, numbers before": (KernelPerceptron(kernel="precomputed"), "support_", lambda a: a - 3, None),
    "perceptron, lines": (KernelPerceptron(), "dual_coef_", lambda a: np.vstack([a, a]), None),
    "perceptron, a vector": (KernelPerceptron(), "dual_coef_", lambda a: a[0], None),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILED)
def test_maps_of_a_spoiled_file_are_refused(name, tmp_path):
    model, part, change, words = SPOILED[name]
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    rows = X @ X.T if getattr(model, "kernel", "") == "precomputed" else X
    model.fit(rows, [1, -1, 1])
    save(model, tmp_path / "sound")
    again, ask = load(tmp_path / "sound"), "transform" if hasattr(model, "transform") else "predict"
    np.testing.assert_array_equal(getattr(again, ask)(rows), getattr(model, ask)(rows))
    setattr(model, part, change(np.asarray(getattr(model, part))))
    save(model, tmp_path / "spoiled")
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path / "spoiled")


def test_signs_multiply_the_similarities():
    plain = KernelExpansion(RBF(1.0)).fit(X)
    signed = KernelExpansion(RBF(1.0), signed=True).fit(X, [1, -1, -1])
    np.testing.assert_allclose(plain.transform(X[:2]), RBF(1.0)(X[:2], X))
    np.testing.assert_allclose(signed.transform(X[:2]), RBF(1.0)(X[:2], X) * [1, -1, -1])
    assert len(plain.get_feature_names_out()) == 3
    given = KernelExpansion("precomputed").fit(X @ X.T)
    np.testing.assert_allclose(given.transform(X[:2] @ X.T), X[:2] @ X.T)
    for y in ([1, 0, 1], None):
        with pytest.raises((DataError, ValueError), match="each −1 or 1"):
            KernelExpansion(RBF(1.0), signed=True).fit(X, y)


def test_ridge_of_an_indefinite_matrix_is_its_saddle_point():
    K, y = np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([1.0, -1.0])
    with pytest.warns(UserWarning, match="smallest eigenvalue is -1"):
        model = KernelRidge(kernel="precomputed", alpha=1.0).fit(K, y)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.solve(K + np.eye(2), y))
    np.testing.assert_allclose(model.predict(K), K @ np.linalg.solve(K + np.eye(2), y))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_gamma_of_a_setting(form):
    weight = np.array([1.0, 2.0, 1.0])
    rows = np.vstack([X[0], X[1], X[1], X[2]])
    assert gamma_of("scale", form(X), weight) == pytest.approx(1 / (2 * rows.var()))
    assert gamma_of("auto", form(X), weight) == 0.5 and gamma_of(0.3, form(X), weight) == 0.3
    for flat in (np.zeros((3, 2)), np.full((3, 2), 2.0), np.array([[1e-170, 0.0], [0.0, 0.0], [0.0, 0.0]])):
        assert gamma_of("scale", form(flat), weight) == 1.0
    with pytest.raises(DataError, match="variance overflows"):
        gamma_of("scale", form(1e200 * X), weight)


def test_a_centered_matrix_is_that_of_centered_features():
    Z = np.array([[2.0, -1.0], [0.5, 0.5]])
    mean = X.mean(axis=0)
    np.testing.assert_allclose(center_gram(X @ X.T), (X - mean) @ (X - mean).T, atol=1e-12)
    np.testing.assert_allclose(center_gram(Z @ X.T, X @ X.T), (Z - mean) @ (X - mean).T, atol=1e-12)
    for wrong in (np.ones((2, 2)), np.ones(3)):
        with pytest.raises(DataError, match="must have 3 columns"):
            center_gram(wrong, X @ X.T)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (RBF(0.0), "length_scale of RBF must be positive; got 0.0"),
        (RBF([1.0, -2.0]), "length_scale of RBF"),
        (RBF([0.0, 2.0]), "length_scale of RBF"),
        (RBF(np.nan), "length_scale of RBF"),
        (Matern([1.0, 0.0]), "length_scale of Matern"),
        (Matern(1.0, nu=-1.5), "nu of Matern"),
        (RationalQuadratic(1.0, alpha=0.0), "alpha of RationalQuadratic"),
        (Laplacian(-0.1), "gamma of Laplacian"),
        (ExpSineSquared(1.0, periodicity=0.0), "periodicity of ExpSineSquared"),
        (ExpSineSquared(0.0), "length_scale of ExpSineSquared"),
    ],
    ids=str,
)
def test_what_must_be_positive_is(kernel, words):
    for ask in (lambda: kernel(X), lambda: kernel(X, X[:1]), lambda: (2.0 * kernel + Linear())(X)):
        with pytest.raises(DataError, match=words):
            ask()


def test_rows_of_a_kernel_are_finite_numbers():
    for good in (
        X,
        X.astype(np.float32),
        X.astype(int),
        X.tolist(),
        sp.csr_array(X),
        sp.csr_array(X.astype(int)),
    ):
        want = Linear()(np.asarray(good.toarray() if sp.issparse(good) else good, dtype=float))
        np.testing.assert_allclose(Linear()(good), want, rtol=1e-6)
    holes = X.copy()
    holes[1, 1] = np.nan
    for bad in (holes, np.where(np.isnan(holes), np.inf, holes), sp.csr_array(holes)):
        with pytest.raises(DataError, match="NaN or infinite"):
            Linear()(bad)
        with pytest.raises(DataError, match="NaN or infinite"):
            Linear()(X, bad)
    with pytest.raises(DataError, match="one row each"):
        Linear()(np.ones((2, 2, 2)))


def test_features_may_be_sparse_and_must_be_a_row_each():
    dense = FeatureMapKernel(lambda A: A * [1.0, 2.0])
    thin = FeatureMapKernel(lambda A: sp.csr_array(np.asarray(A) * [1.0, 2.0]))
    whole = FeatureMapKernel(lambda A: (np.asarray(A) * [4, 8]).astype(int))
    wanted = (X * [1, 4]) @ X.T
    for kernel, times in ((dense, 1), (thin, 1), (whole, 16)):
        np.testing.assert_allclose(kernel(X), wanted * times)
        np.testing.assert_allclose(kernel(X, X[:1]), wanted[:, :1] * times)
        np.testing.assert_allclose(kernel.diag(X), np.diag(wanted) * times)
    for wrong in (lambda A: np.ones(3), lambda A: np.ones((2, 2)), lambda A: sp.csr_array(np.ones((2, 2)))):
        with pytest.raises(DataError, match="a matrix with 3 rows"):
            FeatureMapKernel(wrong)(X)


def test_kernels_say_what_is_known_of_their_matrices():
    for kernel in (
        RBF(1.0), Chi2(1.0), Linear(), ConstantKernel(0.0), WhiteKernel(1.0), Polynomial(3), Polynomial(0),
        RBF(1.0) + Linear(), RBF(1.0) * Chi2(0.5), Linear() ** 2, RBF(1.0).on([0]),
    ):  # fmt: skip
        assert kernel.is_psd is True
    for kernel in (
        Chi2(None), Polynomial(2, coef0=-1.0), Polynomial(1.5, allow_indefinite=True), Linear() ** 0.5,
        RBF(1.0) + Chi2(None), ExpSineSquared(),
    ):  # fmt: skip
        assert kernel.is_psd is None
    given = FunctionKernel(lambda a, b: 1.0, vectorized=False, is_psd=False)
    assert given.is_psd is False


def test_no_rows_have_an_empty_matrix():
    none = np.empty((0, 2))
    for kernel in (RBF(1.0), Linear(), Matern(1.0), Laplacian(0.5), RBF([1.0, 2.0])):
        assert (
            kernel(none).shape == (0, 0)
            and kernel(X, none).shape == (3, 0)
            and kernel(none, X).shape == (0, 3)
        )
        assert kernel.diag(none).shape == (0,)


def test_squares_between_kinds_of_rows():
    S = X[:, None, :] - X[None, :2, :]
    wanted = np.exp(-(S**2 / (X[:, None, :] + X[None, :2, :])).sum(axis=2))
    np.testing.assert_allclose(Chi2(1.0)(X, X[:2]), wanted)
    np.testing.assert_allclose(Chi2(2.0)(X, X[:2]), wanted**2)
    np.testing.assert_allclose(Chi2(None)(X, X[:2]), np.log(wanted))
    assert Chi2(None).diag(X).tolist() == [0.0] * 3 and Chi2(1.0).diag(X).tolist() == [1.0] * 3
    np.testing.assert_allclose(RBF([1.0, 2.0])(X, X[:2]), np.exp(-0.5 * (S**2 / [1.0, 4.0]).sum(axis=2)))
    assert Chi2(1.0)([[0.0, 1.0]], [[0.0, 1.0]])[0, 0] == 1.0  # nothing in both is no difference
    for rows in (X - 1.0, -X):
        with pytest.raises(DataError, match="histograms"):
            Chi2(1.0)(X, rows)


@pytest.mark.parametrize("nu", [0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 5.0, np.inf])
def test_matern_kernels_of_every_smoothness(nu):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 2))
    r = np.sqrt(((A[:, None] - A) ** 2).sum(axis=2)) / 0.8
    if nu == np.inf:
        wanted = np.exp(-0.5 * r**2)
    else:
        t = np.sqrt(2 * nu) * r + np.eye(5)
        wanted = np.where(r > 0, 2 ** (1 - nu) / special.gamma(nu) * t**nu * special.kv(nu, t), 1.0)
    kernel = Matern(0.8, nu=nu)
    np.testing.assert_allclose(kernel(A), wanted, rtol=1e-10)
    slopes = kernel(A, eval_gradient=True)[1][:, :, 0]
    up, down = (Matern(0.8 * np.exp(step), nu=nu)(A) for step in (1e-6, -1e-6))
    np.testing.assert_allclose(slopes, (up - down) / 2e-6, atol=1e-8)
    tall = Matern([0.8, 1.7], nu=nu)
    slopes = tall(A, eval_gradient=True)[1]
    for j in range(2):
        up, down = (Matern(np.array([0.8, 1.7]) * np.exp(s * np.eye(2)[j]), nu=nu)(A) for s in (1e-6, -1e-6))
        np.testing.assert_allclose(slopes[:, :, j], (up - down) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_singular_matrices_take_the_shortest_coefficients_in_any_unit(unit):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(6, 2)) * np.sqrt(unit)
    K, y = Z @ Z.T, rng.normal(size=6)
    with pytest.warns(UserWarning, match="is singular"):
        model = KernelRidge(kernel="precomputed", alpha=0.0).fit(K, y)
    np.testing.assert_allclose(model.dual_coef_ * unit, np.linalg.pinv(K / unit, rcond=1e-10) @ y, atol=1e-8)
    sound = K + unit * np.eye(6)
    model = KernelRidge(kernel="precomputed", alpha=0.0).fit(sound, y)
    np.testing.assert_allclose(model.dual_coef_ * unit, np.linalg.solve(sound / unit, y), atol=1e-9)


def test_penalties_of_several_targets():
    K, Y = RBF(1.0)(X), np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]])
    model = KernelRidge(alpha=[0.1, 2.0], kernel="precomputed").fit(K, Y)
    for t, alpha in enumerate((0.1, 2.0)):
        np.testing.assert_allclose(model.dual_coef_[:, t], np.linalg.solve(K + alpha * np.eye(3), Y[:, t]))
    same = KernelRidge(alpha=[0.1, 0.1], kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(same.dual_coef_, np.linalg.solve(K + 0.1 * np.eye(3), Y))


def test_the_sigmoid_has_one_over_the_columns_as_its_scale():
    np.testing.assert_allclose(Sigmoid()(X), np.tanh(X @ X.T / 2 + Sigmoid().coef0))
    np.testing.assert_allclose(Sigmoid(0.3, -0.5)(X, X[:1]), np.tanh(0.3 * X @ X[:1].T - 0.5))
    np.testing.assert_allclose(Sigmoid(0.3, -0.5).diag(X), np.tanh(0.3 * (X**2).sum(axis=1) - 0.5))
    np.testing.assert_allclose(Sigmoid()(X[:, :1]), np.tanh(X[:, :1] @ X[:, :1].T + Sigmoid().coef0))


def test_parameters_that_cannot_be_compared_are_equal_to_themselves_alone():
    class Odd:
        def __eq__(self, other):
            raise TypeError("odd")

        __hash__ = None

    one, other = Odd(), Odd()
    assert RBF(one) == RBF(one) and RBF(one) != RBF(other)


@pytest.mark.parametrize(
    "kernel",
    [
        RationalQuadratic(0.8, alpha=1.7), RationalQuadratic(0.8, alpha=0.6), ExpSineSquared(0.9, periodicity=1.3),
        Laplacian(0.4),
        Polynomial(3, gamma=0.4, coef0=1.2), Polynomial(2, gamma=0.4, coef0=0.0), RBF([0.7, 1.9]), ConstantKernel(2.0),
        (ConstantKernel(2.0) * RBF(0.7)).exp(), (ConstantKernel(2.0) + RBF(0.7)).normalized(), RBF(0.7) ** 3,
        (RBF(0.7) + Laplacian(0.3)) ** 2, RBF(0.7).scaled(lambda A: A[:, 0]), RBF(0.7).on([1]), RBF(0.7).warp(np.sin),
        RBF(0.7) + WhiteKernel(0.4), RBF(0.7) ** 0,
    ],
    ids=lambda kernel: type(kernel).__name__,
)  # fmt: skip
def test_slopes_of_every_kernel_are_differences(kernel):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 2))
    K, slopes = kernel(A, eval_gradient=True)
    np.testing.assert_allclose(K, kernel(A), rtol=1e-12)
    np.testing.assert_allclose(np.diag(K), kernel.diag(A), rtol=1e-12)
    theta, W = kernel.theta, rng.normal(size=(6, 6))
    assert slopes.shape == (6, 6, len(theta))
    for i, step in enumerate(1e-6 * np.eye(len(theta))):
        up, down = (kernel.clone_with_theta(theta + sign * step)(A) for sign in (1, -1))
        np.testing.assert_allclose(slopes[:, :, i], (up - down) / 2e-6, atol=1e-7)
    np.testing.assert_allclose(
        kernel.weighted_gradient(A, W), np.einsum("ij,ijk->k", W, slopes), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("order", ["given", [2, 0, 1, 4, 3, 5, 2]])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_kernel_perceptron_mistake_by_mistake(classes, order, fit_intercept):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(6, 2))
    y = np.array([0, 1, 2, 0, 1, 2]) % classes
    options = {"fit_intercept": fit_intercept, "order": order, "max_iter": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # four passes may not be enough
        model = KernelPerceptron(RBF(1.0), **options).fit(A, y)
    K, shown = RBF(1.0)(A) + fit_intercept, range(6) if order == "given" else order
    signs = np.array([np.where(y == k, 1, -1) for k in ([1] if classes == 2 else range(3))])
    counts, passes = np.zeros((len(signs), 6), int), []
    for _ in range(4):
        made = 0
        for k, sign in enumerate(signs):
            for i in shown:
                if sign[i] * (K[i] @ (counts[k] * sign)) <= 0:
                    counts[k, i] += 1
                    made += 1
        passes.append(made)
        if not made:
            break
    assert np.array_equal(np.atleast_2d(model.mistakes_), counts)
    assert model.trace_.objective.tolist() == passes and model.converged_ == (passes[-1] == 0)
    scores = (counts * signs) @ K
    found = model.decision_function(A)
    np.testing.assert_allclose(found, scores[0] if classes == 2 else scores.T, atol=1e-12)
    assert (
        model.predict(A).tolist()
        == ((scores[0] > 0).astype(int) if classes == 2 else scores.argmax(axis=0)).tolist()
    )


def test_rows_presented_later_are_presented_once():
    rng = np.random.default_rng(5)
    A, y = rng.normal(size=(8, 2)), np.array([0, 1] * 4)
    model = KernelPerceptron(RBF(1.0)).partial_fit(A[:5], y[:5], classes=[0, 1]).partial_fit(A[5:], y[5:])
    K, sign, counts = RBF(1.0)(A) + 1.0, np.where(y == 1, 1, -1), np.zeros(8)
    for i in range(8):
        counts[i] += sign[i] * (K[i] @ (counts * sign)) <= 0
    np.testing.assert_allclose(model.decision_function(A), K @ (counts * sign), atol=1e-12)
    with pytest.raises(ValueError, match="classes must be passed"):
        KernelPerceptron(RBF(1.0)).partial_fit(A, y)
    with pytest.raises(DataError, match="'precomputed' has none"):
        KernelPerceptron("precomputed").partial_fit(K, y, classes=[0, 1])
    for order in ([], [8], [-1], [0.5], [[0]]):
        with pytest.raises(DataError, match="numbers of rows, 0 to 7"):
            KernelPerceptron(RBF(1.0), order=order).fit(A, y)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_ridge_says_of_rows_left_out(weighted):
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    w = rng.uniform(0.5, 2.0, 9) if weighted else np.ones(9)
    kernel = RBF(1.0)
    model = KernelRidge(0.3, kernel=kernel).fit(A, y, w if weighted else None)
    root = np.sqrt(w)
    K = root[:, None] * kernel(A) * root
    np.testing.assert_allclose(
        model.dual_coef_, root * np.linalg.solve(K + 0.3 * np.eye(9), root * y), rtol=1e-9
    )
    rest = []
    for i in range(9):
        some = np.arange(9) != i
        less = KernelRidge(0.3, kernel=kernel).fit(A[some], y[some], w[some])
        rest.append(y[i] - less.predict(A[[i]])[0])
    np.testing.assert_allclose(model.loo_residuals_, rest, rtol=1e-8)
    values = np.linalg.eigvalsh(K)
    assert model.df_ == pytest.approx((values / (values + 0.3)).sum())
    assert model.cond_ == pytest.approx((values[-1] + 0.3) / (values[0] + 0.3))
    with pytest.raises(AttributeError, match="no attribute 'loo_residuals_'"):
        KernelRidge().loo_residuals_


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("targets", [1, 2])
def test_the_penalty_with_the_least_error_of_rows_left_out_is_chosen(targets, weighted):
    rng = np.random.default_rng(2)
    A = rng.normal(size=(15, 2))
    Y = (np.sin(2 * A) + 0.3 * rng.normal(size=(15, 2)))[:, :targets]
    w = rng.uniform(0.5, 2.0, 15) if weighted else np.ones(15)
    kernel = 3.0 * RBF(0.7)
    model = KernelRidge("loo", kernel=kernel).fit(A, Y if targets > 1 else Y[:, 0], w if weighted else None)
    size = np.mean(np.diag(kernel(A)) * w)
    errors = []
    for alpha in GRID * size:
        other = KernelRidge(alpha, kernel=kernel).fit(A, Y, w if weighted else None)
        errors.append((w[:, None] * other.loo_residuals_.reshape(15, targets) ** 2).sum())
    assert 0 < np.argmin(errors) < len(GRID) - 1
    assert model.alpha_ == pytest.approx(GRID[np.argmin(errors)] * size)
    same = KernelRidge(model.alpha_, kernel=kernel).fit(A, Y, w if weighted else None)
    np.testing.assert_allclose(
        model.dual_coef_.reshape(15, targets), same.dual_coef_.reshape(15, targets), rtol=1e-6
    )


@pytest.mark.parametrize("rank", [1, 2, 4, 6, 9, None])
def test_pivots_are_as_many_as_asked_for(rank):
    A = np.random.default_rng(0).normal(size=(6, 2))
    model = PivotedMap(RBF(0.7), rank=rank, tol=0.0).fit(A)
    count = min(rank or 6, 6)
    assert (
        model.transform(A).shape == (6, count)
        and len(model.pivots_) == len(set(model.pivots_.tolist())) == count
    )
    K, left = RBF(0.7)(A), RBF(0.7)(A)
    for at in model.pivots_:  # the row of which most is left, taken off
        assert np.diag(left)[at] == pytest.approx(np.diag(left).max())
        left = left - np.outer(left[at], left[at]) / left[at, at]
    np.testing.assert_allclose(model.transform(A) @ model.transform(A).T, K - left, atol=1e-10)


def test_matrices_that_are_singular_but_for_rounding():
    K = np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 2.0)]])
    with pytest.warns(UserWarning, match="is singular"):
        model = KernelRidge(kernel="precomputed", alpha=0.0).fit(K, [1.0, 2.0])
    np.testing.assert_allclose(model.dual_coef_, [0.75, 0.75], rtol=1e-6)


def test_sums_of_powers_begin_with_the_first():
    np.testing.assert_allclose(PolynomialSum(1)(X), X @ X.T)
    for degree in (1, 2, 4):
        kernel = PolynomialSum(degree)
        K = sum((X @ X.T) ** q for q in range(1, degree + 1))
        np.testing.assert_allclose(kernel(X), K)
        np.testing.assert_allclose(kernel.diag(X), np.diag(K))
        Z = kernel.feature_map(X)
        np.testing.assert_allclose(Z @ Z.T, K)
        assert Z.shape[1] == kernel.feature_dim(2)
    for wrong in (0, -1, 1.5):
        with pytest.raises(DataError, match="whole number from 1"):
            PolynomialSum(wrong)(X)
