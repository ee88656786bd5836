"""Gram matrices: checks, repairs; and maps that replace a kernel by features."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import poisson
from sklearn import kernel_approximation as peer
from sklearn.preprocessing import KernelCenterer

from gnomon import kernels
from gnomon.kernels import (
    RBF,
    KernelExpansion,
    Linear,
    Nystroem,
    PivotedMap,
    Polynomial,
    RBFSampler,
    Sigmoid,
    TruncatedRBFMap,
    center_gram,
    check_psd,
    gram,
    kernel_alignment,
    nearest_psd,
)
from gnomon.kernels.tiles import squared_distances


def rows(n=20, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_functions_that_are_no_kernels():
    x = np.array([[0.0], [1], [3], [-0.2]])
    report = check_psd(np.sqrt(1 + x @ x.T))
    assert not report.is_psd and report.min_eigenvalue == pytest.approx(-0.0850228, abs=1e-7)
    assert report.witness @ np.sqrt(1 + x @ x.T) @ report.witness == pytest.approx(report.min_eigenvalue)
    x = [[0.0], [1], [2]]
    assert check_psd(gram(lambda a, b: -(a @ b), x)).min_eigenvalue == pytest.approx(-5)
    assert check_psd(gram(lambda a, b: abs(a - b).sum(), x)).min_eigenvalue == pytest.approx(-2)
    points = np.array([[1.0, 0], [0, 1], [1, 1], [-1, 2]])
    report = check_psd(gram(Sigmoid(1.0, -1.0), points))
    assert not report.is_psd and report.min_eigenvalue == pytest.approx(-0.7864599, abs=1e-7)
    assert "proof" in str(report) and "evidence" in str(check_psd(np.eye(2)))
    assert not check_psd([[1.0, 2.0], [0.0, 1.0]]).is_symmetric


def test_kernels_pass():
    report = check_psd(gram(RBF(0.7), rows()))
    assert report.is_psd and report.witness is None and report.min_eigenvalue > 0
    assert check_psd(gram("rbf", rows(), gamma=0.3)).is_psd


def test_gram_takes_names_and_objects():
    X = rows(6)
    assert gram("rbf", X, gamma=0.5) == pytest.approx(gram(RBF(1.0), X))
    assert gram(lambda a, b: a @ b, X, X[:2]) == pytest.approx(X @ X[:2].T)
    assert (
        gram(kernels.FunctionKernel(lambda a, b: len(set(a) & set(b)), vectorized=False), ["ab", "bc"])[0, 1]
        == 1
    )


def test_centering_and_normalizing():
    K = np.array([[4.0, 2, 0], [2, 3, 1], [0, 1, 2]])
    wanted = np.array([[5, -1, -4], [-1, 2, -1], [-4, -1, 5]]) / 3
    assert center_gram(K) == pytest.approx(wanted)
    X, Z = rows(8), rows(3, seed=1)
    peer_center = KernelCenterer().fit(X @ X.T)
    assert center_gram(Z @ X.T, X @ X.T) == pytest.approx(peer_center.transform(Z @ X.T))
    assert center_gram(X @ X.T) == pytest.approx((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T)
    assert kernels.Precomputed().normalized()(X @ X.T) == pytest.approx(kernels.Cosine()(X))
    assert kernels.Precomputed().normalized()([[0.0, 0], [0, 4]]).tolist() == [[0, 0], [0, 1]]
    with pytest.raises(ValueError, match="columns"):
        center_gram(np.ones((2, 3)), np.ones((2, 2)))


@pytest.mark.parametrize("method", ["clip", "shift", "flip"])
def test_repairs(method):
    A = rows(6, 6)
    K = A + A.T
    fixed = nearest_psd(K, method)
    assert check_psd(fixed).is_psd and not check_psd(K).is_psd
    assert nearest_psd(fixed, method) == pytest.approx(fixed, abs=1e-9)
    nearest = nearest_psd(K, "clip")
    assert np.linalg.norm(nearest - K) <= np.linalg.norm(fixed - K) + 1e-12
    with pytest.raises(ValueError, match="Did you mean 'clip'"):
        nearest_psd(K, "clipp")


def test_alignment():
    K = gram("rbf", rows())
    assert kernel_alignment(K, 3 * K) == pytest.approx(1) and 0 < kernel_alignment(K, np.eye(20)) < 1
    with pytest.raises(ValueError, match="shape"):
        kernel_alignment(K, np.eye(3))


def test_truncated_map():
    u, v = np.array([[0.6, -0.4]]), np.array([[1.0, 0.5]])
    for top, value in {
        0: 0.4127141733,
        1: 0.5777998426,
        2: 0.6108169765,
        4: 0.6156594894,
        8: 0.6156971965,
    }.items():
        m = TruncatedRBFMap(0.5, max_degree=top).fit(u)
        found = (m.transform(u) @ m.transform(v).T)[0, 0]
        assert found == pytest.approx(value, abs=1e-10)
        assert (
            abs(found - RBF(1.0)(u, v)[0, 0])
            <= poisson.sf(top, np.linalg.norm(u) * np.linalg.norm(v)) + 1e-15
        )
    assert TruncatedRBFMap(max_degree=2).fit(u).get_feature_names_out().tolist() == [
        "1",
        "x0",
        "x1",
        "x0^2",
        "x0 x1",
        "x1^2",
    ]


def test_expansion_in_the_rows_of_the_fit():
    X, y = rows(6), np.array([1, -1, 1, 1, -1, -1])
    m = KernelExpansion("rbf", gamma=0.5, signed=True).fit(X, y)
    assert m.transform(X[:2]) == pytest.approx(RBF(1.0)(X[:2], X) * y)
    assert KernelExpansion("linear").fit(X).transform(X) == pytest.approx(X @ X.T)
    with pytest.raises(ValueError, match="each −1 or 1"):
        KernelExpansion(signed=True).fit(X, np.arange(6.0))


def test_gram_schmidt_in_feature_space():
    X = rows(12)
    k = Polynomial(2)
    m = PivotedMap(k).fit(X)
    assert len(m.pivots_) == min(12, k.feature_dim(3)) and m.residual_ < 1e-9
    assert m.transform(X) @ m.transform(X).T == pytest.approx(k(X), rel=1e-6, abs=1e-8)
    left = [PivotedMap("rbf", rank=r).fit(X).residual_ for r in range(1, 13)]
    assert (np.diff(left) <= 1e-12).all() and left[-1] < 1e-6
    assert m.pivots_[0] == np.argmax(k.diag(X)) and m.triangle_ == pytest.approx(np.triu(m.triangle_))
    with pytest.raises(ValueError, match="zero on every row"):
        PivotedMap("linear").fit(np.zeros((3, 2)))


def test_nystroem_and_random_features():
    X = rows(40)
    K = RBF(1.0)(X)
    whole = Nystroem(gamma=0.5, n_components=40, random_state=0).fit_transform(X)
    assert whole @ whole.T == pytest.approx(K, abs=1e-8)
    errors = [
        np.abs(Z @ Z.T - K).max()
        for Z in (Nystroem(gamma=0.5, n_components=m, random_state=0).fit_transform(X) for m in (5, 20, 35))
    ]
    assert errors[0] > errors[1] > errors[2]
    some = Nystroem(Linear(), n_components=3, random_state=0).fit(X)
    assert some.transform(X) @ some.transform(X).T == pytest.approx(X @ X.T)
    given = Nystroem("precomputed", n_components=40).fit(K)
    for idle in ({"gamma": 1.0}, {"coef0": 1.0}, {"degree": 2}):
        for kernel in ("precomputed", Linear(), np.dot):
            with pytest.raises(ValueError, match=f"Don't pass gamma, coef0 or degree.*{next(iter(idle))}"):
                Nystroem(kernel, n_components=40, **idle).fit(K)
    assert given.transform(K) @ given.transform(K).T == pytest.approx(K, abs=1e-8)
    waves = RBFSampler(gamma=0.5, n_components=5000, random_state=0).fit(X)
    assert np.abs(waves.transform(X) @ waves.transform(X).T - K).max() < 0.08
    assert waves.transform(sparse.csr_array(X)) == pytest.approx(waves.transform(X))
    assert RBFSampler(gamma="scale").fit(X).random_weights_.shape == (3, 100)
    theirs = peer.Nystroem(gamma=0.5, n_components=7, random_state=0).fit(X)
    ours = Nystroem(gamma=0.5, n_components=7, random_state=0).fit(X)
    assert ours.normalization_.shape == theirs.normalization_.shape
    assert (ours.get_feature_names_out() == theirs.get_feature_names_out()).all()


@pytest.mark.parametrize("degree", [2**40, 60])
def test_maps_beyond_counting_are_refused(degree):
    X, known = np.zeros((3, 8)), TruncatedRBFMap(max_degree=2)
    with pytest.raises(ValueError, match="explicit map would have"):
        TruncatedRBFMap(max_degree=degree).fit(X)
    with pytest.raises(ValueError, match="explicit map would have"):
        known.fit(X).set_params(max_degree=degree).transform(X)


@pytest.mark.parametrize("size", [1e10, 1e155, 1e300])
def test_features_of_rows_far_away_vanish(size):
    """The bell is zero there, though the monomials that it multiplies overflow."""
    X = np.array([[0.5, -0.2], [1.0, 0.0], [size, -size]])
    features = TruncatedRBFMap(max_degree=3).fit(X).transform(X)
    np.testing.assert_array_equal(features[:2], TruncatedRBFMap(max_degree=3).fit(X[:2]).transform(X[:2]))
    assert not features[2].any()


def test_few_rows_have_the_distances_of_many():
    rng = np.random.default_rng(0)
    A, B, scale = (
        1e6 + rng.normal(size=(300, 4)),
        1e6 + rng.normal(size=(500, 4)),
        np.array([1.0, 2.0, 0.5, 3.0]),
    )
    many = squared_distances(A, B, False, scale)
    slow = np.array([[sum(((a - b) / scale) ** 2) for b in B[:20]] for a in A[:3]])
    assert squared_distances(A[:3], B[:20], False, scale) == pytest.approx(slow, rel=1e-14)
    assert squared_distances(A[:3], B, False, scale) == pytest.approx(many[:3], rel=1e-6)
    assert squared_distances(A[:1], np.array([[1e300, 0.0, 0.0, 0.0]]), False) == np.inf


def test_few_rows_may_be_sparse_on_one_side():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(3, 4)) * (rng.random((3, 4)) < 0.6), rng.normal(size=(2, 4))
    wanted = np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / 2.0)
    for a in (A, sparse.csr_array(A)):
        for b in (B, sparse.csr_array(B)):
            np.testing.assert_allclose(kernels.RBF(1.0)(a, b), wanted)


def test_what_is_a_sequence_of_things():
    from gnomon.kernels.using import is_things

    for things in (
        ["ab", "b"],
        [np.str_("ab"), "b"],
        ({1}, {2, 3}),
        np.array(["a", "b"]),
        [frozenset("a"), "b"],
    ):
        assert is_things(things)
    for other in (
        [1.0, 2.0],
        [True, False],
        [[1.0, None]],
        [None, "a"],
        ["a", None],
        ["a", 1],
        [np.float64(1), "a"],
    ):
        assert not is_things(other)
    for other in ([], "ab", None, np.zeros((2, 2)), {"a"}, [("a", "b")]):
        assert not is_things(other)


@pytest.mark.parametrize("ask", ["check_psd", "nearest_psd", "center_gram"])
@pytest.mark.parametrize(
    ("K", "words"),
    [
        (np.ones((2, 3)), "is square; got shape"), (np.ones((3, 2)), "is square; got shape"),
        (np.ones(4), "is square; got shape"), (np.zeros((0, 0)), "is square; got shape"),
        ([[1.0, np.nan], [0.0, 1.0]], "NaN or infinite"), ([[1.0, 0.0], [np.inf, 1.0]], "NaN or infinite"),
    ],
    ids=range(6),
)  # fmt: skip
def test_matrices_that_are_no_gram_matrices(ask, K, words):
    with pytest.raises(ValueError, match=words):
        getattr(kernels, ask)(K)


@pytest.mark.parametrize(
    ("diagonal", "fine"),
    [
        ((1e6, -0.99e-4), True),
        ((1e6, -1.01e-4), False),
        ((1e-3, -0.99e-10), True),
        ((1e-3, -1.01e-10), False),
    ],
)
def test_eigenvalues_below_zero_are_judged_by_the_largest_or_one(diagonal, fine):
    report = kernels.check_psd(np.diag(diagonal))
    assert report.is_psd == fine and report.is_symmetric and (report.witness is None) == fine
    assert (report.min_eigenvalue, report.max_eigenvalue) == (min(diagonal), max(diagonal))
    skew = np.array([[1.0, 0.5], [0.5 + 2e-10, 1.0]])
    assert not kernels.check_psd(skew).is_symmetric and kernels.check_psd(skew, tol=1e-9).is_symmetric
    assert kernels.check_psd(np.where(np.eye(2), 3.0, skew)).is_symmetric  # by the largest entry


def test_a_width_that_is_left_out_is_that_of_the_columns():
    A, B = np.arange(10.0).reshape(2, 5), np.ones((3, 5))
    apart = np.abs(A[:, None] - B).sum(axis=2)
    np.testing.assert_allclose(kernels.Laplacian()(A, B), np.exp(-apart / 5))


def test_directions_without_length_are_a_millionth_of_the_longest():
    model = kernels.Nystroem("linear", n_components=2, random_state=0).fit(np.full((2, 1), 1e6))
    long, none = 0.5 / np.sqrt(2e12), 0.5 / np.sqrt(2e12 * 1e-12)
    np.testing.assert_allclose(
        model.normalization_, [[long + none, long - none]] + [[long - none, long + none]]
    )
