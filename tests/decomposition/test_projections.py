"""SVD, bases, PCA: numbers by hand, twins, properties, awkward input."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import linalg
from scipy import sparse as sp
from scipy.stats import multivariate_normal
from sklearn import decomposition as peer
from sklearn.datasets import load_digits, load_iris

from gnomon.core.errors import DataError, DegenerateError
from gnomon.decomposition import (
    PCA,
    principal_angles,
    project,
    qr,
    singular,
    svd,
    top_eigenvectors,
)
from gnomon.decomposition._kernels import chosen_landmarks, kernel_of

P4 = np.array([[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]])
Y6 = np.array([(1, 2, 0), (2, 1, 1), (3, 4, 1), (4, 3, 2), (5, 6, 0), (6, 5, 2)], dtype=float)
SOLVERS = ("full", "covariance_eigh", "gram", "randomized")


def seeded(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


# singular values


def test_three_by_two_by_hand():
    found = svd([[1, 2], [3, 4], [5, 6]])
    assert_allclose(found.s, [9.5255180916, 0.5143005807], rtol=1e-9)
    best, error = found.low_rank(1)
    expected = [
        [1.3566281871, 1.7184623505],
        [3.0971970714, 3.9232684459],
        [4.8377659558, 6.1280745413],
    ]
    assert_allclose(best, expected, rtol=1e-9)
    assert error == pytest.approx(0.2645050873, rel=1e-8)


def test_rank_one_matrix():
    found = svd([[5, 7], [10, 14], [30, 42]])
    assert found.rank == 1
    assert found.s[0] == pytest.approx(55.0817574157, rel=1e-10)


@pytest.mark.parametrize("method", ["full", "gram", "randomized", "lanczos"])
@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_routes_of_the_svd_agree(method, shape):
    X = seeded(*shape) @ np.diag(np.linspace(5, 1, shape[1]))
    exact, found = svd(X, method="full"), svd(X, 4, method=method, random_state=0)
    assert_allclose(found.s, exact.s[:4], rtol=1e-6)
    assert_allclose(np.abs(np.sum(found.Vt * exact.Vt[:4], axis=1)), 1.0, atol=1e-5)
    assert_allclose(found.U.T @ found.U, np.eye(4), atol=1e-8)
    assert_allclose(svd(sp.csr_array(X), 4, method=method, random_state=0).s, exact.s[:4], rtol=1e-6)


def test_gram_route_refuses_what_it_cannot_resolve():
    X = np.diag([1.0, 1e-9])
    with pytest.raises(DegenerateError, match="full"):
        svd(X, method="gram")


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_no_matrix_of_rank_two_is_nearer(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 5))
    best, error = svd(X).low_rank(2)
    assert error == pytest.approx(np.sum((X - best) ** 2), rel=1e-8)
    other = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 5))
    scale = np.sum(other * X) / np.sum(other**2)
    assert np.sum((X - scale * other) ** 2) >= error


def test_pseudo_inverse_is_moore_and_penroses():
    X = seeded(7, 3) @ seeded(3, 5, seed=1)
    P = svd(X).pseudo_inverse()
    assert_allclose(X @ P @ X, X, atol=1e-10)
    assert_allclose(P @ X @ P, P, atol=1e-10)
    assert_allclose(P, np.linalg.pinv(X, rcond=1e-10), atol=1e-10)


def test_only_values_above_the_tolerance_count_for_the_rank():
    nothing = svd(np.zeros((3, 2)))
    assert nothing.rank == 0 and nothing.pseudo_inverse().tolist() == [[0.0] * 3] * 2
    X = np.random.default_rng(0).normal(size=(6, 4))
    assert [svd(X, tol=s).rank for s in svd(X).s] == [0, 1, 2, 3]


def test_bad_input_of_the_svd():
    with pytest.raises(DataError, match="ProbabilisticPCA"):
        svd([[1.0, np.nan]])
    with pytest.raises(DataError, match="between 1 and"):
        svd(np.eye(3), 4)
    with pytest.raises(DataError, match="Did you mean 'lanczos'"):
        svd(np.eye(3), method="lanzcos")
    with pytest.raises(DataError, match="between 1 and"):
        svd(np.eye(3)).low_rank(0)


# bases and projections


@pytest.mark.parametrize("method", ["householder", "gram_schmidt", "modified_gram_schmidt"])
def test_qr_by_hand(method):
    Q, R = qr([[1, 1], [1, 0], [0, 1]], method=method)
    assert_allclose(
        Q, [[0.7071067812, 0.4082482905], [0.7071067812, -0.4082482905], [0, 0.8164965809]], atol=1e-10
    )
    assert_allclose(R, [[1.4142135624, 0.7071067812], [0, 1.2247448714]], atol=1e-10)


def test_classical_gram_schmidt_loses_orthogonality_first():
    A = np.vander(np.linspace(0, 1, 12), 8)
    lost = {}
    for method in ("gram_schmidt", "modified_gram_schmidt", "householder"):
        Q, R = qr(A, method=method)
        assert_allclose(Q @ R, A, atol=1e-12)
        lost[method] = np.abs(Q.T @ Q - np.eye(8)).max()
    assert lost["gram_schmidt"] > 100 * lost["modified_gram_schmidt"] > 100 * lost["householder"]


@pytest.mark.parametrize("method", ["householder", "gram_schmidt", "modified_gram_schmidt"])
def test_dependent_columns_are_named(method):
    with pytest.warns(UserWarning, match=r"columns \[1\]"):
        _, R = qr([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], method=method)
    assert R[1, 1] == 0.0
    with pytest.raises(DataError, match="more columns than rows"):
        qr([[1.0, 2.0]])
    with pytest.raises(DataError, match="Did you mean"):
        qr([[1.0]], method="householdr")


def test_projection_and_traces():
    U = seeded(6, 2)
    P = project(np.eye(6), U).points
    assert_allclose(P @ P, P, atol=1e-12)
    assert_allclose(P, P.T, atol=1e-12)
    assert np.trace(P) == pytest.approx(2)
    assert_allclose(project(np.eye(6), U @ seeded(2, 2, seed=3)).points, P, atol=1e-10)
    X = seeded(4, 6, seed=2)
    found = project(X, U)
    assert_allclose(found.points, X @ P, atol=1e-12)
    assert_allclose(found.coordinates, X @ U @ np.linalg.inv(U.T @ U), atol=1e-10)
    assert_allclose((X - found.points) @ U, 0, atol=1e-10)
    A, B = seeded(3, 4, seed=4), seeded(4, 3, seed=5)  # tr(AB) = tr(BA), ‖A‖² = tr(AᵀA) = Σσ²
    assert np.trace(A @ B) == pytest.approx(np.trace(B @ A))
    assert np.trace(A.T @ A) == pytest.approx(np.sum(svd(A).s ** 2))
    with pytest.raises(DataError, match="must agree"):
        project(X, U[:-1])


def test_trace_is_maximal_at_leading_eigenvectors():
    A = seeded(5, 5)
    S = A @ A.T
    found = top_eigenvectors(S, 2)
    assert np.trace(found.vectors.T @ S @ found.vectors) == pytest.approx(found.total)
    for seed in range(50):
        G = np.linalg.qr(seeded(5, 2, seed=seed))[0]
        assert np.trace(G.T @ S @ G) <= found.total + 1e-12
    B = np.eye(5) + 0.5 * np.outer(np.arange(5), np.arange(5))
    general = top_eigenvectors(S, 3, B)
    assert_allclose(general.vectors.T @ B @ general.vectors, np.eye(3), atol=1e-10)
    assert_allclose(S @ general.vectors, B @ general.vectors * general.values, atol=1e-8)
    w = general.vectors[:, 0]  # the Rayleigh quotient is largest there
    assert w @ S @ w / (w @ B @ w) == pytest.approx(general.values[0])


def test_bad_eigenproblems():
    with pytest.raises(DegenerateError, match="smallest eigenvalue is -1"):
        top_eigenvectors(np.eye(2), 1, np.diag([1.0, -1.0]))
    with pytest.raises(DataError, match="symmetric"):
        top_eigenvectors([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(DataError, match="between 1 and 2"):
        top_eigenvectors(np.eye(2), 3)


def test_landmarks_are_gram_schmidt_in_feature_space():
    X = seeded(8, 3)
    R, pivots, left = chosen_landmarks(kernel_of("linear", 3, None, 3, 1), X, 8)
    assert len(R) == 3 and left < 1e-10
    assert_allclose(R.T @ R, X @ X.T, atol=1e-8)
    assert_allclose(R[:, pivots], qr(X[pivots].T)[1], atol=1e-8)
    part, _, left = chosen_landmarks(kernel_of("linear", 3, None, 3, 1), X, 1)
    assert left == pytest.approx(np.trace(X @ X.T) - np.sum(part**2))


def test_plane_and_diagonal():
    angles = principal_angles(np.eye(3)[:, :2], [1.0, 1.0, 1.0]).angles
    assert_allclose(angles, [0.6154797087], atol=1e-10)
    assert_allclose(np.degrees(angles), [35.2643896828], atol=1e-8)


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_principal_angles_are_scipys(seed):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    found = principal_angles(A, B)
    assert_allclose(found.angles, np.sort(linalg.subspace_angles(A, B)), atol=1e-10)
    assert_allclose(principal_angles(B, A).angles, found.angles, atol=1e-12)
    assert_allclose(principal_angles(A @ rng.normal(size=(3, 3)), B).angles, found.angles, atol=1e-7)
    assert_allclose(np.sum(found.in_a * found.in_b, axis=0), np.cos(found.angles), atol=1e-12)
    assert_allclose(principal_angles(A, A[:, :2]).angles, 0.0, atol=1e-12)


def test_tiny_angles_keep_their_digits():
    angle = principal_angles([1.0, 0.0], [np.cos(1e-9), np.sin(1e-9)]).angles[0]
    assert angle == pytest.approx(1e-9, rel=1e-6)


def test_distances_of_subspaces():
    A, B = np.eye(4)[:, :2], np.eye(4)[:, [0, 2]]
    assert principal_angles(A, B).distance() == pytest.approx(1.0)
    assert principal_angles(A, B).distance("chordal") == pytest.approx(1.0)
    assert principal_angles(A, B).distance("geodesic") == pytest.approx(np.pi / 2)
    assert principal_angles(A, A).distance() == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(DataError, match="dimension"):
        principal_angles(A, B[:, :1]).distance()
    with pytest.raises(DataError, match="kind"):
        principal_angles(A, B).distance("far")
    with pytest.raises(DataError, match="rows"):
        principal_angles(A, np.eye(3))
    with pytest.raises(DegenerateError, match="zero"):
        principal_angles(A, np.zeros((4, 1)))


# PCA by hand


@pytest.mark.parametrize("solver", SOLVERS)
def test_four_points(solver):
    model = PCA(svd_solver=solver, random_state=0).fit(P4)
    assert_allclose(model.mean_, [1, 1])
    assert_allclose(np.abs(model.components_), np.sqrt(0.5))
    assert_allclose(model.scatter_eigenvalues_, [16, 4])
    assert_allclose(model.covariance_eigenvalues_, [4, 1])
    assert_allclose(model.explained_variance_, [16 / 3, 4 / 3])
    one = PCA(1, svd_solver=solver, random_state=0).fit(P4)
    assert one.reconstruction_error(P4) == pytest.approx(4)
    assert_allclose(one.reconstruct(P4), [[1, 1], [1, 1], [3, 3], [-1, -1]], atol=1e-9)


def test_whitened_four_points():
    scores = PCA(whiten=True).fit_transform(P4)
    expected = [[0, -1.2247448714], [0, 1.2247448714], [1.2247448714, 0], [-1.2247448714, 0]]
    assert_allclose(np.abs(scores), np.abs(expected), atol=1e-9)
    model = PCA(whiten=True).fit(P4)
    assert_allclose(model.inverse_transform(scores), P4, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_forgetting_the_mean(solver):
    model = PCA(center=False, svd_solver=solver, random_state=0).fit(P4)
    assert_allclose(model.scatter_eigenvalues_, [24, 4])
    assert_allclose(model.mean_, 0)


@pytest.mark.parametrize("solver", ("full", "covariance_eigh", "gram"))
def test_six_rows(solver):
    model = PCA(svd_solver=solver).fit(Y6)
    expected = [
        (0.7103568758, 0.6966361393, 0.1004549574),
        (0.4093531184, -0.5250152279, 0.7461829768),
        (-0.5725584106, 0.4889346581, 0.6581183531),
    ]
    assert_allclose(model.components_, expected, atol=1e-9)
    assert_allclose(model.explained_variance_, [6.4571175301, 1.2388769309, 0.1040055390], rtol=1e-8)
    assert_allclose(model.explained_variance_ratio_, [0.8278355808, 0.1588303758, 0.0133340435], rtol=1e-7)
    assert_allclose(model.singular_values_, [5.6820407998, 2.4888520757, 0.7211294578], rtol=1e-8)
    two = PCA(2, svd_solver=solver).fit(Y6)
    assert_allclose(two.transform(np.zeros((1, 3))), [[-5.0249305102, -0.3413655936]], rtol=1e-8)
    assert two.score(Y6) == pytest.approx(-3.9148541805, rel=1e-9)
    one = PCA(1, svd_solver=solver).fit(Y6)
    assert one.noise_variance_ == pytest.approx(0.6714412349, rel=1e-9)
    assert one.score(Y6) == pytest.approx(-4.5410783274, rel=1e-9)


def test_iris():
    X = load_iris().data
    model = PCA().fit(X)
    assert_allclose(
        model.explained_variance_ratio_,
        [0.9246187232, 0.0530664831, 0.0171026098, 0.0052121839],
        atol=1e-10,
    )
    assert_allclose(
        np.abs(model.transform(X)[0]), [2.684125626, 0.3193972466, 0.0279148276, 0.0022624371], atol=1e-8
    )


def test_components_for_a_share_of_the_digits():
    X = load_digits().data
    assert [PCA(share).fit(X).n_components_ for share in (0.5, 0.8, 0.9, 0.95, 0.99)] == [5, 13, 21, 29, 41]
    assert svd(X - X.mean(axis=0)).rank == 61


# PCA, properties


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_readings_of_pca_agree(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 5)) @ rng.normal(size=(5, 5)) + rng.normal(size=5)
    model = PCA().fit(X)
    V = model.components_
    assert_allclose(V @ V.T, np.eye(5), atol=1e-10)
    assert_allclose(np.cov(model.transform(X).T), np.diag(model.explained_variance_), atol=1e-8)
    assert model.explained_variance_.sum() == pytest.approx(np.trace(np.cov(X.T)))
    lost = [model.reconstruction_error(X, k) for k in range(6)]
    left = [model.scatter_eigenvalues_[k:].sum() for k in range(6)]
    assert_allclose(lost, left, atol=1e-8 * lost[0])
    direction = rng.normal(size=5)
    direction /= np.linalg.norm(direction)
    assert np.var(X @ direction, ddof=1) <= model.explained_variance_[0] * (1 + 1e-12)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)  # Karhunen–Loève


def test_rotated_rows_have_rotated_components():
    X = seeded(40, 4) * [5, 3, 2, 1]
    Q = np.linalg.qr(seeded(4, 4, seed=1))[0]
    a, b = PCA(2).fit(X).components_, PCA(2).fit(X @ Q).components_
    assert_allclose(b.T @ b, Q.T @ (a.T @ a) @ Q, atol=1e-10)


@pytest.mark.parametrize("solver", [*SOLVERS, "arpack"])
@pytest.mark.parametrize("shape", [(60, 10), (10, 60)])
def test_solvers_agree(solver, shape):
    X = seeded(*shape) * np.linspace(5, 1, shape[1]) + 3
    exact = PCA(3, svd_solver="full").fit(X)
    model = PCA(3, svd_solver=solver, random_state=0, iterated_power=15).fit(X)
    assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-6)
    assert_allclose(model.transform(X), exact.transform(X), atol=1e-4)
    assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-6)
    assert model.noise_variance_ == pytest.approx(exact.noise_variance_)


@pytest.mark.parametrize("solver", ["covariance_eigh", "arpack", "randomized", "full"])
def test_sparse_rows_are_the_dense_ones(solver):
    X = sp.random_array((50, 8), density=0.3, rng=np.random.default_rng(0)).tocsr()
    exact = PCA(2).fit(X.toarray())
    model = PCA(2, svd_solver=solver, random_state=0, iterated_power=15).fit(X)
    assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-6)
    assert_allclose(model.transform(X), exact.transform(X.toarray()), atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_shift_costs_no_digits(solver):
    X = seeded(60, 4) * [4, 3, 2, 1]
    plain = PCA(svd_solver=solver, random_state=0).fit(X)
    shifted = PCA(svd_solver=solver, random_state=0).fit(X + 1e8)
    assert_allclose(shifted.explained_variance_, plain.explained_variance_, rtol=1e-6)
    assert_allclose(shifted.components_, plain.components_, atol=1e-6)


def test_batches_are_all_rows():
    X, w = seeded(100, 6) + 10, np.random.default_rng(1).integers(0, 4, 100).astype(float)
    whole, parts = PCA().fit(X, sample_weight=w), PCA()
    for rows in np.split(np.arange(100), [7, 40, 90]):
        parts.partial_fit(X[rows], sample_weight=w[rows])
    assert_allclose(parts.components_, whole.components_, atol=1e-10)
    assert_allclose(parts.explained_variance_, whole.explained_variance_, rtol=1e-10)
    repeated = PCA().fit(np.repeat(X, w.astype(int), axis=0))
    assert_allclose(whole.explained_variance_, repeated.explained_variance_, rtol=1e-10)
    again = PCA.from_sums(whole.sums_)
    assert_allclose(again.components_, whole.components_, atol=1e-12)
    assert whole.subspace_residual_ < 1e-12


def test_density_is_the_gaussian_of_the_model():
    X = seeded(50, 5) * [3, 2, 1, 1, 1]
    model = PCA(2).fit(X)
    twin = multivariate_normal(model.mean_, model.get_covariance())
    assert_allclose(model.score_samples(X), twin.logpdf(X), rtol=1e-9)
    assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(5), atol=1e-10)
    draws = model.sample(20_000, random_state=0)
    assert_allclose(np.cov(draws.T), model.get_covariance(), atol=0.25)


def test_decorrelated_gaussian_scores_are_independent():
    X = seeded(50, 3) @ seeded(3, 3, seed=1)
    model = PCA().fit(X)
    scores = model.transform(X)
    spread = np.sqrt(model.explained_variance_)
    factors = -0.5 * (scores / spread) ** 2 - np.log(spread) - 0.5 * np.log(2 * np.pi)
    assert_allclose(factors.sum(axis=1), model.score_samples(X), rtol=1e-9)
    U, C = model.components_.T, np.cov(X.T)
    assert_allclose(np.cov((X @ U).T), U.T @ C @ U, atol=1e-10)


def test_building_blocks_count_the_mean():
    X = load_digits().data[:100]
    model = PCA().fit(X)
    assert_allclose(model.reconstruct(X, 1, count_mean=True), np.tile(model.mean_, (100, 1)))
    assert_allclose(model.reconstruct(X, 6, count_mean=True), model.reconstruct(X, 5))
    with pytest.raises(DataError, match="n_components"):
        model.reconstruct(X, 0, count_mean=True)


def test_number_of_components_by_evidence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 12)) * 3 + rng.normal(size=(300, 12))
    assert PCA("mle").fit(X).n_components_ == 4
    assert PCA("bic").fit(X).n_components_ == 4


@pytest.mark.parity
def test_evidence_of_few_rows_is_that_of_scikit_learn():
    """Where rows are few every term of the evidence has a say in the number."""
    rng = np.random.default_rng(1)
    ours, theirs = [], []
    for _ in range(150):
        p = int(rng.integers(3, 9))
        X = rng.normal(size=(int(rng.integers(p + 1, 4 * p)), p)) * rng.uniform(0.3, 3.0, size=p)
        ours.append(PCA("mle").fit(X).n_components_)
        theirs.append(peer.PCA("mle", svd_solver="full").fit(X).n_components_)
    assert ours == theirs and len(set(ours)) > 4


def test_signs_do_not_depend_on_the_route():
    X = seeded(30, 6)
    for solver in SOLVERS:
        V = PCA(svd_solver=solver, random_state=0).fit(X).components_
        assert (V[np.arange(6), np.abs(V).argmax(axis=1)] > 0).all()


# PCA, awkward


def test_constant_data_has_no_ratio():
    with pytest.warns(UserWarning, match="no variance"):
        model = PCA(1).fit(np.full((5, 2), 3.0))
    assert_allclose(model.explained_variance_ratio_, 0)


def test_bad_arguments():
    X = seeded(10, 4)
    with pytest.raises(DataError, match="n_components=5"):
        PCA(5).fit(X)
    with pytest.raises(DataError, match="2 samples"):
        PCA().fit(X[:1])
    with pytest.raises(DegenerateError, match="whiten"):
        PCA(whiten=True).fit(np.c_[X, X]).transform(np.c_[X, X])
    with pytest.raises(DegenerateError, match="subspace"):
        PCA(5).fit(np.c_[X, X]).score_samples(np.c_[X, X])
    with pytest.raises(DataError, match="use svd_solver='full'"):
        PCA("mle", svd_solver="randomized").fit(X)
    with pytest.raises(DataError, match="strictly less"):
        PCA(4, svd_solver="arpack").fit(X)
    with pytest.raises(DataError, match="n_samples >= n_features"):
        PCA("mle").fit(X[:3])
    on = PCA(svd_solver="full").fit(X).partial_fit(X + 1)
    assert_allclose(on.explained_variance_, PCA().fit(np.r_[X, X + 1]).explained_variance_)
    with pytest.raises(DataError, match="columns of scores"):
        PCA(2).fit(X).inverse_transform(np.zeros((1, 3)))


def test_rank_deficient_rows_have_orthonormal_components():
    X = np.c_[seeded(5, 2), np.zeros((5, 20))]
    for solver in ("gram", "full"):
        model = PCA(svd_solver=solver).fit(X)
        assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-8)
        assert_allclose(model.explained_variance_[2:], 0, atol=1e-12)


def test_files_and_threads(tmp_path):
    import pandas as pd

    X = seeded(5000, 5)
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=list("abcde")).to_parquet(path)
    model, whole = PCA(0.9).fit(str(path)), PCA(0.9).fit(X)
    assert model.n_components_ == whole.n_components_
    assert_allclose(model.components_, whole.components_, atol=1e-10)
    with pytest.raises(DataError, match="in memory"):
        PCA(svd_solver="full").fit(str(path))


def test_pictures_of_a_model():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PCA().fit(Y6)
    assert model.n_iter_ == 1 and model.converged_


def test_randomized_variances_are_those_of_the_scores():
    X = seeded(300, 60)
    model = PCA(3, svd_solver="randomized", iterated_power=1, random_state=0).fit(X)
    assert_allclose(model.explained_variance_, model.transform(X).var(axis=0, ddof=1), rtol=1e-10)
    assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)
    assert (model.explained_variance_ <= PCA(3).fit(X).explained_variance_ * (1 + 1e-12)).all()


def test_lanczos_without_a_number_finds_all_but_one():
    X = seeded(20, 5)
    few, all_ = PCA(svd_solver="arpack", random_state=0).fit(X), PCA(svd_solver="full").fit(X)
    assert len(few.components_) == 4
    assert_allclose(few.explained_variance_, all_.explained_variance_[:4], rtol=1e-8)


@pytest.mark.parametrize("shape", [(80, 50), (50, 80)])
def test_krylov_steps_of_a_matrix_of_low_rank(shape):
    X = seeded(shape[0], 3) @ seeded(3, shape[1], seed=1)
    found = svd(X, 10, method="randomized", random_state=0)
    exact = linalg.svdvals(X)
    assert found.rank == 3
    assert_allclose(found.s, exact[:10], atol=1e-12 * exact[0])
    assert_allclose(found.Vt @ found.Vt.T, np.eye(10), atol=1e-12)
    assert_allclose(found.U.T @ found.U, np.eye(10), atol=1e-12)


def test_krylov_steps_get_farther_than_power_steps():
    X = seeded(300, 200)  # no gap between the singular values
    Q = X @ np.random.default_rng(0).standard_normal((200, 20))
    for _ in range(6):
        Q = X @ (X.T @ linalg.qr(Q, mode="economic")[0])
    by_power = linalg.svdvals(linalg.qr(Q, mode="economic")[0].T @ X)[:10]
    found = singular.randomized(X, 10, 0, power=6)[1]
    exact = linalg.svdvals(X)[:10]
    assert (found <= exact * (1 + 1e-12)).all()
    assert (exact - found).sum() < (exact - by_power).sum()


@pytest.mark.parametrize("k", [2, 30, 60])
def test_random_blocks_that_hold_every_row(k):
    X = np.zeros((300, 64))
    X[:, 3:] = np.random.default_rng(0).normal(
        size=(300, 61)
    )  # three columns are zero, and so is rounding in them
    found = svd(X, k, method="randomized", random_state=0)
    exact = np.linalg.svd(X, compute_uv=False)
    assert (found.s <= exact[:k] * (1 + 1e-12)).all()
    assert_allclose(found.Vt @ found.Vt.T, np.eye(k), atol=1e-12)
    if k >= 30:
        assert_allclose(found.s, exact[:k], rtol=1e-10)  # the blocks span everything
    whole = PCA(k, svd_solver="randomized", random_state=0).fit(X)
    assert whole.explained_variance_ratio_.sum() < 1.0


@pytest.mark.parametrize("solver", [*SOLVERS, "arpack"])
def test_weights_are_repetitions_whatever_the_solver(solver):
    X, w = seeded(60, 4) @ seeded(4, 7, seed=1) + 3, np.random.default_rng(2).integers(1, 5, 60)
    X = X + 0.3 * seeded(60, 7, seed=3)
    model = PCA(3, svd_solver=solver, random_state=0).fit(X, sample_weight=w.astype(float))
    whole = PCA(3, svd_solver="full").fit(np.repeat(X, w, axis=0))
    assert_allclose(model.components_, whole.components_, atol=1e-6)
    assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-8)
    assert_allclose(model.noise_variance_, whole.noise_variance_, rtol=1e-8)


def test_variances_ten_powers_apart_keep_their_digits():
    X = seeded(500, 3) * np.array([1e5, 1.0, 1e-5])
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 499
    assert_allclose(PCA().fit(X).explained_variance_, exact, rtol=1e-5)
