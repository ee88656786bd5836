"""Kernel objects: values by hand, algebra, gradients, feature maps, names, awkward rows."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import poisson
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as peer
from sklearn.metrics import pairwise

import gnomon
from gnomon.kernels import (
    RBF,
    Chi2,
    ConstantKernel,
    Cosine,
    DotProduct,
    Exponential,
    ExpSineSquared,
    FeatureMapKernel,
    FunctionKernel,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    PolynomialSum,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    WhiteKernel,
)
from gnomon.kernels.names import NAMES, as_kernel

U, V = np.array([[0.6, -0.4]]), np.array([[1.0, 0.5]])
X1, Z1 = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])

FREE = [
    ConstantKernel(2.0),
    WhiteKernel(0.3),
    DotProduct(0.7),
    RBF(0.8),
    RBF([0.5, 1.5, 2.0]),
    Matern(0.9, nu=0.5),
    Matern(0.9, nu=1.5),
    Matern([0.9, 0.5, 2.0], nu=2.5),
    Matern([0.9, 0.5, 2.0], nu=0.5),
    Matern(1.1, nu=np.inf),
    Matern(1.1, nu=0.9),
    Matern([1.1, 2.0, 0.4], nu=3.2),
    RationalQuadratic(0.8, 1.7),
    RationalQuadratic(0.8, 1.7, alpha_bounds="fixed"),
    ExpSineSquared(0.9, 2.3),
    Laplacian(0.4, gamma_bounds=(1e-3, 1e3)),
    Polynomial(3, 0.5, 0.7, gamma_bounds=(1e-3, 1e3), coef0_bounds=(1e-3, 1e3)),
]
COMPOSED = [
    2.0 * RBF(0.7) + WhiteKernel(0.1),
    RBF([0.5, 1.0, 2.0]) * Matern(1.3) + ConstantKernel(0.4) * DotProduct(0.2),
    (RBF(0.7) + DotProduct(1.1)) ** 3,
    (0.3 * RBF(1.2)).exp(),
    DotProduct(1.0).normalized(),
    RBF(0.6).scaled(lambda X: X[:, 0] + 2.0),
    RBF([0.6, 0.9]).on([0, 2]) + Matern(1.0).on([1]),
    RBF(0.8).warp(lambda X: np.tanh(X)),
    WhiteKernel(0.5) * RBF(1.0) + RBF(2.0),
    RBF(1.1) * peer.RationalQuadratic(0.7, 2.0) + peer.WhiteKernel(0.2),
]
KINDS = [
    *FREE, *COMPOSED, Linear(), PolynomialSum(3), Exponential(), Cosine(), Sigmoid(0.3), Polynomial(2),
]  # fmt: skip


def named(kernel):
    """The kernel in words that are the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(kernel))


def rows(n=7, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_polynomials_by_hand():
    assert Polynomial(2, gamma=1, coef0=0)(X1, Z1) == pytest.approx(1)
    assert Polynomial(2, gamma=1, coef0=1)(X1, Z1) == pytest.approx(4)
    assert PolynomialSum(2)(X1, Z1) == pytest.approx(2)
    assert Polynomial(2, 1, 0).feature_map(X1)[0] == pytest.approx([1, 2.8284271, 4])
    features = Polynomial(2, 1, 3).feature_map(np.vstack([X1, Z1]))
    assert features[0] == pytest.approx([3, 2.4494897, 4.8989795, 1, 2.8284271, 4])
    assert features[0] @ features[1] == pytest.approx(16)
    x, z = np.array([[0.5, -1, 2]]), np.array([[1, 1, 0.25]])
    k = Polynomial(3, 1, 2)
    assert k(x, z) == pytest.approx(8)
    assert k.feature_map(x) @ k.feature_map(z).T == pytest.approx(8)
    assert k.feature_map(x).shape == (1, 20)


def test_dimensions_of_feature_maps():
    dims = [
        Polynomial(p, 1, c).feature_dim(d)
        for d, p, c in [(2, 2, 0), (2, 2, 1), (10, 2, 1), (10, 3, 1), (5, 4, 0)]
    ]
    assert dims == [3, 6, 66, 286, 70]
    assert PolynomialSum(2).feature_dim(1000) == 501_500
    assert [RBF(1.0).feature_dim(2, J) for J in (0, 1, 2, 4, 8)] == [1, 3, 6, 15, 45]
    with pytest.raises(ValueError, match=r"would have \d+ features"):
        Polynomial(9).feature_map(np.ones((1, 50)))


def test_rbf_widths_of_the_books():
    x, z = np.array([[0.0, 0.0]]), np.array([[1.0, 2.0]])
    values = [as_kernel("rbf", d=2, gamma=g)(x, z)[0, 0] for g in (1 / 8, 1 / 4, 1 / 2)]
    assert values == pytest.approx([0.5352614, 0.2865048, 0.0820850], abs=1e-7)
    assert RBF(2.0)(x, z) == pytest.approx(0.5352614, abs=1e-7)  # gamma = 1/(2σ²)


def test_truncated_map_of_the_rbf_kernel():
    wanted = {0: 0.4127141733, 1: 0.5777998426, 2: 0.6108169765, 4: 0.6156594894, 8: 0.6156971965}
    exact = RBF(1.0)(U, V)[0, 0]
    assert exact == pytest.approx(0.6156971968, abs=1e-10)
    for top, value in wanted.items():
        found = (RBF(1.0).feature_map(U, max_degree=top) @ RBF(1.0).feature_map(V, max_degree=top).T)[0, 0]
        assert found == pytest.approx(value, abs=1e-10)
        rate = np.linalg.norm(U) * np.linalg.norm(V)
        assert abs(exact - found) <= poisson.sf(top, rate) + 1e-15
    with pytest.raises(ValueError, match="max_degree"):
        RBF(1.0).feature_map(U)


def test_composition_by_hand():
    k = 2 * RBF(1) * Polynomial(2, gamma=1, coef0=1) + 0.5
    assert k(U, V) == pytest.approx(2.9135330113, abs=1e-9)
    assert Exponential()(U, V) == pytest.approx(1.4918246976, abs=1e-9)
    bell = Exponential().scaled(lambda X: np.exp(-0.5 * (X**2).sum(axis=1)))
    assert bell(U, V) == pytest.approx(0.6156971968, abs=1e-9)


def test_stationary_kernels_at_a_distance():
    x, z = np.array([[0.0]]), np.array([[0.8]])
    kernels = [
        RBF(1),
        *(Matern(1, nu=v) for v in (0.5, 1.5, 2.5)),
        RationalQuadratic(1, 1),
        ExpSineSquared(1, 3),
    ]
    wanted = [0.7261490, 0.4493290, 0.5968002, 0.6444563, 0.7575758, 0.3313671]
    assert [k(x, z)[0, 0] for k in kernels] == pytest.approx(wanted, abs=1e-7)
    near = Matern(1, nu=1.5 + 1e-9)
    assert near(x, z) == pytest.approx(Matern(1, nu=1.5)(x, z), abs=1e-7)
    assert near([[0.0]], [[0.0]]) == pytest.approx(1.0)


def test_identities_of_the_algebra():
    X = rows()
    assert sum(ConstantKernel(1).scaled(lambda X, j=j: X[:, j])(X) for j in range(3)) == pytest.approx(
        Linear()(X)
    )
    assert PolynomialSum(2)(X) == pytest.approx((Linear() + Linear() ** 2)(X))
    assert Exponential()(X) == pytest.approx(Linear().exp()(X))
    assert RBF(1)(X) == pytest.approx(Exponential().scaled(lambda X: np.exp(-0.5 * (X**2).sum(axis=1)))(X))
    assert Linear().normalized()(X) == pytest.approx(Cosine()(X))


@pytest.mark.parametrize("k", [*FREE, *COMPOSED], ids=named)
def test_gradients_are_central_differences(k):
    X, step = rows(), 1e-5
    K, slopes = k(X, eval_gradient=True)
    assert K == pytest.approx(k(X))
    assert slopes.shape == (7, 7, k.n_dims) and len(k.bounds) == k.n_dims > 0
    W = rows(7, 7, 1)
    W += W.T
    for j in range(k.n_dims):
        up, down = k.theta.copy(), k.theta.copy()
        up[j] += step
        down[j] -= step
        numbers = (k.clone_with_theta(up)(X) - k.clone_with_theta(down)(X)) / (2 * step)
        assert slopes[:, :, j] == pytest.approx(numbers, rel=1e-7, abs=1e-7)
    assert k.weighted_gradient(X, W) == pytest.approx(np.einsum("ij,ijk->k", W, slopes))


@pytest.mark.parametrize("k", KINDS, ids=named)
def test_diagonal_symmetry_and_validity(k):
    X = rows(12)
    K = k(X)
    assert np.array_equal(K, K.T) or np.allclose(K, K.T, rtol=1e-14)
    assert k.diag(X) == pytest.approx(np.diagonal(K), rel=1e-12)
    if k.is_psd:
        assert np.linalg.eigvalsh(K)[0] > -1e-10 * max(1.0, np.linalg.eigvalsh(K)[-1])
    assert k(X, X[:4]).shape == (12, 4)


@pytest.mark.parametrize(
    "k",
    [Linear(), DotProduct(0.5), Polynomial(2, 0.5, 2.0), Polynomial(3, coef0=0), PolynomialSum(3), Cosine(),
     ConstantKernel(3.0), Linear() + Polynomial(2), Linear() * DotProduct(0.3), Linear() ** 3, 2.0 * Linear(),
     Linear().normalized(), Polynomial(2).on([2, 0]), Linear().scaled(lambda X: X[:, 1]),
     Linear().warp(lambda X: X**2), FeatureMapKernel(lambda X: X**3)],
    ids=named,
)  # fmt: skip
def test_kernel_is_the_product_of_its_features(k):
    X, Z = rows(5), rows(4, seed=1)
    assert k.feature_map(X) @ k.feature_map(Z).T == pytest.approx(k(X, Z), rel=1e-10, abs=1e-12)
    if k.requires_vector_input:
        assert k.feature_map(X).shape[1] == k.feature_dim(3)


def test_features_of_sums_and_products():
    X = rows(4)
    sum_, product = (Linear() + Polynomial(2)).feature_map(X), (Linear() * Cosine()).feature_map(X)
    assert np.array_equal(sum_, np.hstack([X, Polynomial(2).feature_map(X)]))
    assert product[1] == pytest.approx(np.kron(X[1], Cosine().feature_map(X)[1]))
    assert (Linear() * Linear()).feature_map([[2.0, 3.0]]).tolist() == [[4.0, 6.0, 6.0, 9.0]]


def test_exponential_of_a_kernel_has_truncated_features():
    X = 0.3 * rows(4)
    k = Polynomial(2).exp()
    assert k.feature_map(X, max_degree=9).shape[1] == k.feature_dim(3, max_degree=9)
    assert k.feature_map(X, max_degree=9) @ k.feature_map(X, max_degree=9).T == pytest.approx(k(X), rel=1e-5)


def test_white_noise_is_not_shared_between_calls():
    X = np.ones((3, 2))
    assert WhiteKernel(0.5)(X).tolist() == (0.5 * np.eye(3)).tolist()
    assert not WhiteKernel(0.5)(X, X).any()


def test_words_objects_and_functions_name_the_same_kernel():
    X = np.abs(rows(6))
    for name in NAMES:
        if name in ("exponential", "poly_sum", "precomputed"):
            continue
        k = as_kernel(name, d=3, gamma=0.4, degree=2, coef0=0.3)
        options = {"gamma": 0.4, "degree": 2, "coef0": 0.3}
        theirs = pairwise.pairwise_kernels(X, metric=name, filter_params=True, **options)
        assert k(X) == pytest.approx(theirs, rel=1e-10), name
    by_rows = as_kernel(lambda a, b: a @ b, d=3)
    by_matrices = as_kernel(lambda A, B: A @ B.T, d=3, vectorized=True)
    assert by_rows(X) == pytest.approx(X @ X.T) and by_matrices(X) == pytest.approx(X @ X.T)
    assert as_kernel(peer.RBF(2.0), d=3)(X) == pytest.approx(RBF(2.0)(X))
    K = X @ X.T
    assert np.array_equal(as_kernel("precomputed", d=6)(K), K)
    with pytest.raises(ValueError, match="Did you mean 'rbf'"):
        as_kernel("rbff", d=3)


@pytest.mark.parity
@pytest.mark.parametrize("k", [*FREE[:15], *COMPOSED[:3]], ids=named)
def test_same_as_scikit_learn(k):
    if isinstance(k, Matern) and k.nu == 3.2:
        pytest.skip("its gradient is a finite difference there")
    names = {name: getattr(peer, name) for name in dir(peer)} | {"inf": np.inf}
    theirs = eval(repr(k), names)
    X = rows(9)
    mine, slope = k(X, eval_gradient=True)
    K, G = theirs(X, eval_gradient=True)
    assert mine == pytest.approx(K) and k(X, X[:3]) == pytest.approx(theirs(X, X[:3]))
    close = 1e-3 if isinstance(k, Matern) and k.nu == 0.9 else 1e-9
    assert slope == pytest.approx(G, abs=close)
    assert k.theta == pytest.approx(theirs.theta) and k.bounds == pytest.approx(theirs.bounds)
    assert [h.name for h in k.hyperparameters] == [h.name for h in theirs.hyperparameters]


@pytest.mark.parity
def test_our_kernels_work_in_scikit_learns_process():
    X = np.linspace(0, 4, 12)[:, None]
    y = np.sin(X).ravel()
    ours = GaussianProcessRegressor(1.0 * RBF(1.0) + WhiteKernel(0.1)).fit(X, y)
    theirs = GaussianProcessRegressor(1.0 * peer.RBF(1.0) + peer.WhiteKernel(0.1)).fit(X, y)
    value = ours.log_marginal_likelihood_value_
    assert value == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-4)


@pytest.mark.parametrize("k", [*FREE, *COMPOSED[:5], Linear(), Sigmoid(0.2)], ids=named)
def test_text_copies_and_parameters(k):
    scope = {name: getattr(gnomon.kernels, name) for name in gnomon.kernels.__all__} | {"inf": np.inf}
    assert eval(repr(k), scope) == k
    twin = clone(k)
    assert twin == k and twin is not k
    if k.n_dims:
        twin.theta = twin.theta + 0.5
        assert twin != k and np.allclose(twin.theta, k.theta + 0.5)
    assert k.get_params().keys() == twin.get_params().keys()


def test_a_vector_with_the_wrong_length_or_nothing_in_it():
    with pytest.raises(ValueError, match=r"length_scale has 2 entries and the rows have 3 columns"):
        RBF([1.0, 2.0])(rows())
    with pytest.raises(ValueError, match="NaN"):
        RBF()([[np.nan]])
    with pytest.raises(ValueError, match="NaN"):
        Linear()(sparse.csr_array([[np.inf]]))
    with pytest.raises(ValueError, match="must be positive"):
        RBF(0.0)([[1.0]])
    with pytest.raises(ValueError, match="must be positive"):
        Laplacian(-1.0)([[1.0]])
    with pytest.raises(ValueError, match="allow_indefinite"):
        Polynomial(0.5)([[1.0]])
    with pytest.raises(ValueError, match="allow_indefinite"):
        (Linear() ** 0.5)([[1.0]])
    assert Polynomial(0.5, allow_indefinite=True).is_psd is None
    with pytest.raises(TypeError, match="difference of two kernels"):
        RBF() - Linear()
    with pytest.raises(ValueError, match="negative number"):
        -2.0 * RBF()
    with pytest.raises(ValueError, match="columns"):
        RBF()([[1.0]], [[1.0, 2.0]])
    for columns in ([5], [0, -2], [0.0]):
        with pytest.raises(ValueError, match="columns must be numbers"):
            RBF().on(columns)([[1.0]])
    with pytest.raises(ValueError, match="one number a row"):
        RBF().scaled(lambda X: X)([[1.0, 2.0]])
    with pytest.raises(ValueError, match="each pair of rows"):
        FunctionKernel(lambda a, b: 1.0)([[1.0], [2.0]])
    with pytest.raises(ValueError, match="phi must give"):
        FeatureMapKernel(lambda X: np.ones((1, 1)))([[1.0], [2.0]])
    with pytest.raises(ValueError, match="negative values"):
        Chi2()([[-1.0]])
    with pytest.raises(ValueError, match="Y is None"):
        RBF()([[1.0]], [[1.0]], eval_gradient=True)


def test_keys_of_a_table_are_rows():
    lengths = FunctionKernel(lambda a, b: float(len(a) * len(b)), vectorized=False)
    assert lengths({"ab": 1, "c": 2}.keys()).tolist() == [[4.0, 2.0], [2.0, 1.0]]


def test_strings_sets_and_graphs():
    words = ["gattaca", "attac", "ccc"]
    parts = FunctionKernel(
        lambda a, b: sum(a[i : i + 2] == b[j : j + 2] for i in range(len(a) - 1) for j in range(len(b) - 1)),
        vectorized=False,
        is_psd=True,
    )
    K = parts(words)
    assert K[0, 1] == 4 and K[2, 2] == 4 and K[0, 2] == 0  # at, tt, ta, ac are shared
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    assert parts.normalized()(words)[2, 2] == 1
    edges = FeatureMapKernel(lambda graphs: np.array([[len(g), sum(a == b for a, b in g)] for g in graphs]))
    assert edges([{(0, 1), (1, 1)}, {(2, 0)}]).tolist() == [[5.0, 2.0], [2.0, 1.0]]
    assert (parts + 1.0)(words)[0, 2] == 1


@pytest.mark.parametrize(
    "k", [Linear(), RBF(0.7), Polynomial(2), Cosine(), Laplacian(0.3), RBF([1.0, 2.0, 0.5])], ids=named
)
def test_sparse_rows(k):
    X = rows(9) * (rows(9, seed=1) > 0.3)
    S = sparse.csr_matrix(X)
    assert k(S) == pytest.approx(k(X), abs=1e-12) and k(S, S[:3]) == pytest.approx(k(X, X[:3]), abs=1e-12)
    assert k.diag(S) == pytest.approx(k.diag(X))


def test_shifted_rows_keep_their_distances():
    X = rows(40, 5)
    far = X + 1e8
    exact = np.exp(-0.5 * cdist(far, far, "sqeuclidean"))
    assert RBF(1.0)(far) == pytest.approx(exact, abs=1e-12)
    cluster = np.vstack([1e6 + 1e-4 * X, -1e6 + 1e-4 * X])  # centering does not help here
    exact = np.exp(-0.5 * cdist(cluster, cluster, "sqeuclidean") / 1e-8)
    assert RBF(1e-4)(cluster) == pytest.approx(exact, abs=1e-6)


def test_tiles_and_threads_change_nothing():
    X = rows(1300, 4).astype(np.float32)
    k = 0.5 * RBF(1.3) + Linear()
    with gnomon.threads(1):
        one, other = k(X), k(X, X[:700])
    with gnomon.threads(4):
        assert np.array_equal(k(X), one) and np.array_equal(k(X, X[:700]), other)
    assert one.dtype == np.float64 and np.array_equal(one, one.T)
    assert one[:, :700] == pytest.approx(other, rel=1e-12, abs=1e-12)
    assert (WhiteKernel(2.0) + ConstantKernel(1.0))(X)[600:602, 600:602].tolist() == [[3.0, 1.0], [1.0, 3.0]]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 10**6))
def test_every_composition_is_positive_semidefinite(n, d, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)  # repeated rows happen
    pool = [
        RBF(0.5),
        Linear(),
        Polynomial(2),
        Matern(1.0, nu=0.5),
        Laplacian(),
        Cosine(),
        ConstantKernel(0.3),
    ]
    a, b = rng.choice(len(pool), 2)
    k = pool[a] * pool[b] + 0.5 * pool[a] ** 2
    K = k.scaled(lambda X: X[:, 0])(X)
    top = np.linalg.eigvalsh(K)
    assert top[0] >= -1e-10 * max(1.0, top[-1])


def test_saved_and_loaded(tmp_path):
    k = 2.0 * RBF([0.5, 1.0]) + WhiteKernel(0.1)
    gnomon.save(k, tmp_path / "k")
    again = gnomon.load(tmp_path / "k")
    assert again == k and np.array_equal(again(U), k(U))


def test_precomputed_and_base():
    assert Precomputed().diag([[2.0, 1.0], [1.0, 3.0]]).tolist() == [2.0, 3.0]
    assert isinstance(RBF(), Kernel) and RBF().is_stationary() and not Linear().is_stationary()
    assert (RBF() + Matern()).is_stationary() and not (RBF() + Linear()).is_stationary()
    assert Sigmoid().is_psd is None and (Sigmoid() + RBF()).is_psd is None and (RBF() * Linear()).is_psd


def test_no_noise_and_no_height_are_kernels_too():
    for kind, name in ((WhiteKernel, "noise_level"), (ConstantKernel, "constant_value")):
        for value, valid in ((0.0, True), (2.0, True), (-1.0, False)):
            assert kind(**{name: value}).is_psd is valid
