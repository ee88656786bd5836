"""CCA, Fisher, scaling, kernel PCA, truncated SVD: numbers by hand, twins, properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits, load_linnerud
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.threads import threads
from gnomon.decomposition import (
    CCA,
    MDS,
    NMF,
    PCA,
    ClassicalMDS,
    FisherProjection,
    IncrementalPCA,
    KernelCCA,
    KernelPCA,
    TruncatedSVD,
    kernel_pca,
    principal_angles,
    svd,
)
from gnomon.decomposition._krylov import leading_eigen

A6 = np.array([(1, 2), (2, 1), (3, 5), (4, 3), (5, 6), (6, 8)], dtype=float)
B6 = np.array([(1, 0), (3, 1), (2, 2), (5, 1), (4, 3), (7, 2)], dtype=float)
F10 = np.array(
    [(4, 2), (2, 4), (2, 3), (3, 6), (4, 4), (9, 10), (6, 8), (9, 5), (8, 7), (10, 8)], dtype=float
)
F10_Y = np.repeat([1, 2], 5)


def seeded(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


# canonical correlations


def test_two_blocks_by_hand():
    assert_allclose(CCA(2).fit(A6, B6).canonical_correlations_, [0.9884219019, 0.4222738054], rtol=1e-9)
    plain = CCA(2, center=False, scale=False).fit(A6, B6)
    assert_allclose(plain.canonical_correlations_, [0.9977565264, 0.4233531161], rtol=1e-9)
    assert_allclose(plain.angles_, [0.0669972084, 1.1336530383], rtol=1e-8)


@pytest.mark.parametrize(
    "regression, q, expected",
    [
        ("least_squares", 2, (3.4004524887, 1.2013574661)),
        ("least_squares", 1, (3.2457173560, 1.3362185273)),
        ("canonical", 2, (3.6072196517, 1.0149312778)),
        ("canonical", 1, (3.4007431269, 1.1948881032)),
    ],
)
def test_predictions_by_hand(regression, q, expected):
    model = CCA(q, regression=regression, scale=False).fit(A6, B6)
    assert_allclose(model.predict([[3, 3]]), [expected], rtol=1e-9)


def test_linear_image_is_predicted_exactly():
    Y = A6 @ np.array([[1, 2], [0, -1]])
    model = CCA(2, center=False, scale=False, regression="canonical").fit(A6, Y)
    assert_allclose(model.canonical_correlations_, [1, 1])
    assert_allclose(model.predict([[3, 4]]), [[3, 2]], atol=1e-9)


def test_linnerud():
    data = load_linnerud()
    model = CCA(3).fit(data.data, data.target)
    assert_allclose(model.canonical_correlations_, [0.7956081544, 0.2005560411, 0.0725702862], rtol=1e-8)
    told = model.test()
    assert_allclose(told.wilks[0], np.prod(1 - model.canonical_correlations_**2))
    assert_allclose(told.pvalue, [0.0635, 0.9491, 0.7748], atol=0.02)
    assert list(told.dof) == [9, 4, 1]


@given(st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_correlations_are_cosines(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(30, 4)) + 3, rng.normal(size=(30, 3))
    Y[:, 0] += X[:, 1]
    model = CCA(3, normalize="unit", scale=False).fit(X, Y)
    D = model.canonical_correlations_
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    assert_allclose(np.cos(principal_angles(Xc, Yc).angles), D, atol=1e-9)
    s, t = model.transform(X, Y)
    assert_allclose(s.T @ s, np.eye(3), atol=1e-9)
    assert_allclose(t.T @ t, np.eye(3), atol=1e-9)
    assert_allclose(s.T @ t, np.diag(D), atol=1e-9)
    moved = CCA(3).fit(X @ rng.normal(size=(4, 4)) + 7, Y * [1, 100, 0.01])
    assert_allclose(moved.canonical_correlations_, D, atol=1e-7)
    ordinary = np.linalg.lstsq(np.c_[np.ones(30), X], Y, rcond=None)[0]
    assert_allclose(model.predict(X), np.c_[np.ones(30), X] @ ordinary, atol=1e-8)
    assert_allclose(np.var(CCA(3, normalize="variance").fit_transform(X, Y)[0], axis=0, ddof=1), 1)


def test_nearly_dependent_columns_take_the_sure_road():
    X = seeded(50, 3)
    wide = np.c_[X, X[:, 0] + 1e-7 * seeded(50, seed=2)]
    Y = X[:, :2] + seeded(50, 2, seed=1)
    exact = CCA(2).fit(np.c_[X, seeded(50, seed=2)], Y).canonical_correlations_
    assert_allclose(CCA(2).fit(wide, Y).canonical_correlations_, exact, atol=1e-6)
    with pytest.warns(UserWarning, match="rank 3"):
        model = CCA(2).fit(np.c_[X, X[:, 0]], Y)
    assert_allclose(model.canonical_correlations_, CCA(2).fit(X, Y).canonical_correlations_, atol=1e-9)


def test_awkward_blocks():
    with pytest.warns(UserWarning, match="mean nothing"):
        CCA(1).fit(seeded(4, 6), seeded(4, 2, seed=1))
    ridge = CCA(1, reg=1.0).fit(seeded(4, 6), seeded(4, 2, seed=1))
    assert ridge.canonical_correlations_[0] < 1
    with pytest.raises(DataError, match="upper bound is 2"):
        CCA(3).fit(A6, B6)
    with pytest.raises(DataError, match="columns"):
        CCA(1).fit(A6, B6).transform(A6, B6[:, :1])
    one = CCA(1).fit(A6, B6[:, 0])
    assert one.predict(A6).shape == (6,)
    back = CCA(2).fit(A6, B6)
    s, t = back.transform(A6, B6)
    x, y = back.inverse_transform(s, t)
    assert_allclose(x, A6, atol=1e-9)
    assert_allclose(y, B6, atol=1e-9)


def test_linear_kernel_cca_is_ridge_cca():
    X, Y = seeded(40, 3), seeded(40, 2, seed=1)
    Y[:, 0] += X[:, 0]
    dual, primal = KernelCCA(2, kernel="linear", reg=2.0).fit(X, Y), CCA(2, reg=2.0, scale=False).fit(X, Y)
    assert_allclose(dual.canonical_correlations_, primal.canonical_correlations_, atol=1e-9)
    s, t = dual.transform(X, Y)
    unit = CCA(2, reg=2.0, scale=False, normalize="unit").fit(X, Y)
    assert_allclose(np.abs(s), np.abs(unit.transform(X)), atol=1e-8)
    assert_allclose(np.abs(t), np.abs(unit.transform(X, Y)[1]), atol=1e-8)
    with pytest.raises(DataError, match="rank"):
        KernelCCA(9, kernel="linear").fit(X, Y)
    curve = np.linspace(-1, 1, 60)[:, None]
    assert KernelCCA(1, gamma=2.0, reg=0.01).fit(curve, curve**2).canonical_correlations_[0] > 0.99
    assert CCA(1).fit(curve, curve**2).canonical_correlations_[0] < 0.01


# Fisher


def test_two_classes_by_hand():
    model = FisherProjection(weighting="class").fit(F10, F10_Y)
    assert_allclose(model.within_, [[2.64, -0.24], [-0.24, 4.4]])
    assert_allclose(model.between_, [[7.29, 5.13], [5.13, 3.61]])
    assert_allclose(model.criterion_values_, [3.8127076412], rtol=1e-9)
    assert_allclose(-model.direction_, [-2.134551, -0.980066], rtol=1e-6)
    assert -model.threshold_ == pytest.approx(-17.753322, rel=1e-7)
    sample = FisherProjection().fit(F10, F10_Y)
    assert_allclose(sample.within_, model.within_ / 2)
    assert_allclose(sample.criterion_values_, [7.6254152824], rtol=1e-9)
    assert_allclose(sample.components_, [[0.9087855843, 0.4172634200]], rtol=1e-9)
    side = sample.decision_function(F10) > 0
    assert_allclose(side, F10_Y == 2)


def test_mean_difference_is_no_better():
    plain = FisherProjection(criterion="mean_difference").fit(F10, F10_Y)
    gap = F10[5:].mean(axis=0) - F10[:5].mean(axis=0)
    assert_allclose(plain.direction_, gap)
    assert plain.criterion_values_[0] < FisherProjection().fit(F10, F10_Y).criterion_values_[0]


@given(st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_criterion_is_stationary_and_invariant(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [10, 15, 20])
    X = rng.normal(size=(45, 4)) + rng.normal(size=(3, 4))[y] * 2
    model = FisherProjection().fit(X, y)
    J = model.criterion_values_
    assert len(J) == 2
    w = model.scalings_
    assert_allclose(model.between_ @ w, model.within_ @ w * J, atol=1e-8)
    assert_allclose(w.T @ model.within_ @ w, np.eye(2), atol=1e-9)
    moved = FisherProjection().fit(X @ rng.normal(size=(4, 4)) + 5, y)
    assert_allclose(moved.criterion_values_, J, rtol=1e-6)
    scatter = FisherProjection(weighting="scatter").fit(X, y)
    assert_allclose(scatter.criterion_values_, J, rtol=1e-9)


def test_weightings_differ_for_classes_of_different_size():
    y = np.repeat([0, 1, 2], [5, 30, 60])
    X = seeded(95, 3) * (1 + y)[:, None] + seeded(3, 3, seed=1)[y]
    a, b = FisherProjection().fit(X, y).components_, FisherProjection(weighting="class").fit(X, y).components_
    assert not np.allclose(np.abs(a), np.abs(b), atol=1e-2)


def test_awkward_classes():
    with pytest.warns(UserWarning, match="shrinkage"):
        FisherProjection().fit(np.c_[F10, F10], F10_Y)
    assert FisherProjection(shrinkage="auto").fit(np.c_[F10, F10], F10_Y).components_.shape == (1, 4)
    with pytest.raises(DataError, match="n_components=2"):
        FisherProjection(2).fit(F10, F10_Y)
    with pytest.raises(DataError, match="2 classes"):
        FisherProjection().fit(F10, np.ones(10))
    three = FisherProjection().fit(F10, np.arange(10) % 3)
    assert three.decision_function(F10).shape == (10, 3)
    assert_allclose(FisherProjection().fit(F10, F10_Y).predict(F10), F10_Y)
    parts = FisherProjection().partial_fit(F10[::2], F10_Y[::2]).partial_fit(F10[1::2], F10_Y[1::2])
    assert_allclose(parts.components_, FisherProjection().fit(F10, F10_Y).components_)


# scaling


def test_rectangle_and_city_blocks():
    corners = np.array([[0, 0], [4, 0], [4, 3], [0, 3.0]])
    model = ClassicalMDS().fit(corners)
    assert_allclose(model.eigenvalues_, [16, 9], atol=1e-10)
    assert_allclose(model.all_eigenvalues_, [16, 9, 0, 0], atol=1e-10)
    square = np.array([[0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0.0]])
    blocks = ClassicalMDS(metric="precomputed").fit(square)
    assert_allclose(blocks.all_eigenvalues_, [2, 2, 0, -1], atol=1e-10)
    assert blocks.negative_mass_ == pytest.approx(0.2)
    for correction in ("additive", "sqrt"):
        mended = ClassicalMDS(metric="precomputed", correction=correction).fit(square)
        assert mended.negative_mass_ < 1e-6
    assert ClassicalMDS(metric="cityblock").fit([[0, 0], [0, 1], [1, 0], [1, 1.0]]).negative_mass_ == (
        pytest.approx(0.2)
    )


@pytest.mark.parametrize(("long", "constant"), [(4.0, 2.0), (2.5, 0.5), (1.0, 0.0)])
def test_a_triangle_that_does_not_close_is_lengthened_until_it_just_does(long, constant):
    D = np.array([[0, 1, 1], [1, 0, long], [1, long, 0]])
    model = ClassicalMDS(metric="precomputed", correction="additive").fit(D)
    assert model.additive_constant_ == pytest.approx(constant, abs=1e-6)
    assert_allclose(squareform(pdist(model.embedding_)), D + constant * (1 - np.eye(3)), atol=1e-5)


@given(st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_classical_scaling_is_pca(seed):
    X = np.random.default_rng(seed).normal(size=(15, 3))
    model = ClassicalMDS(3).fit(X)
    assert_allclose(np.abs(model.embedding_), np.abs(PCA().fit_transform(X)), atol=1e-8)
    assert_allclose(pdist(model.embedding_), pdist(X), atol=1e-9)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
    assert model.stress_ == pytest.approx(0, abs=1e-15)


def test_stress_never_rises():
    X = seeded(25, 5)
    for options in ({"metric_mds": True}, {"weights": np.random.default_rng(0).random((25, 25))}):
        if "weights" in options:
            options["weights"] = options["weights"] + options["weights"].T
        model = MDS(2, init="random", random_state=0, eps=0, max_iter=50, **options).fit(X)
        assert (np.diff(model.trace_.objective) <= 1e-9).all()
    order = MDS(2, metric_mds=False, random_state=0).fit(X)
    assert 0 < order.stress_ < 0.3
    exact = MDS(5, eps=1e-12).fit(X)
    assert_allclose(pdist(exact.embedding_), pdist(X), atol=1e-6)
    unknown = np.ones((25, 25))
    unknown[0, 1] = unknown[1, 0] = 0
    D = squareform(pdist(X))
    D[0, 1] = D[1, 0] = 99
    kept = MDS(5, metric="precomputed", weights=unknown, eps=1e-14, max_iter=3000).fit(D)
    assert abs(squareform(pdist(kept.embedding_))[2, 3] - D[2, 3]) < 1e-2


def test_points_to_start_from():
    rng = np.random.default_rng(0)
    X, start = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    model = MDS(2, max_iter=5, eps=0)
    assert model._data(X, start).digest() == model._data(X, start.copy()).digest()
    assert len({model._data(X, begin).digest() for begin in (start, start + 1, None)}) == 3
    models = list(model.iterate(X, init=start))
    assert (models[0].embedding_ == start).all()
    assert (models[-1].embedding_ == model.fit_transform(X, init=start)).all()


def test_bad_distances():
    for kind in (ClassicalMDS, MDS):
        with pytest.raises(DataError, match="symmetric"):
            kind(metric="precomputed").fit([[0, 1], [2, 0.0]])
        with pytest.raises(DataError, match="negative"):
            kind(metric="precomputed").fit([[0, -1], [-1, 0.0]])
        with pytest.raises(DataError, match="diagonal"):
            kind(metric="precomputed").fit([[1, 1], [1, 1.0]])
        with pytest.raises(DataError, match="square"):
            kind(metric="precomputed").fit([[0, 1, 1], [1, 0, 1.0]])
    with pytest.raises(DataError, match="weights"):
        MDS(weights=np.ones((2, 2))).fit(A6)
    with pytest.raises(DataError, match="init matrix"):
        MDS(init=np.ones((2, 2))).fit(A6)


# kernel PCA

LINE = np.array([[0.0], [1.0], [3.0]])


def test_three_points_uncentered():
    model = KernelPCA(kernel="rbf", gamma=1.0, center=False).fit(LINE)
    assert_allclose(model.eigenvalues_, [1.3683412495, 0.9999877420, 0.6316710085], rtol=1e-9)
    assert_allclose(np.abs(model.transform([[2.0]])), [[0.2445667260, 0.3663931702, 0.2948607460]], rtol=1e-8)
    residuals = [
        KernelPCA(k, kernel="rbf", gamma=1.0, center=False).fit(LINE).residual([[2.0]])[0] for k in (1, 2, 3)
    ]
    assert_allclose(residuals, [0.9401871165, 0.8059431613, 0.7190003018], rtol=1e-8)
    other = KernelPCA(kernel="rbf", gamma=1.0, center=False, coordinates="eigenvalue").fit(LINE)
    assert_allclose(np.abs(other.transform([[2.0]])), [[0.2860846653, 0.3663909246, 0.2343486372]], rtol=1e-8)
    assert_allclose(other.residual([[2.0]]), residuals[-1:], rtol=1e-8)


def test_three_points_centered():
    model = KernelPCA(kernel="rbf", gamma=1.0).fit(LINE)
    assert_allclose(model.eigenvalues_, [1.1105643602, 0.6318899799], rtol=1e-9)
    expected = [
        (0.4464768103, 0.5548319059),
        (0.4137671078, 0.5690769841),
        (0.8602439181, 0.0142450781),
    ]
    assert_allclose(np.abs(model.fit_transform(LINE)), expected, rtol=1e-7)
    assert_allclose(np.abs(model.transform([[2.0]])), [[0.2330508413, 0.298846913]], rtol=1e-8)
    one = KernelPCA(1, kernel="rbf", gamma=1.0).fit(LINE)
    assert_allclose(one.residual([[2.0]]), [0.8621528445], rtol=1e-8)
    assert_allclose(model.residual([[2.0]]), [0.7728433672], rtol=1e-8)


def test_square_kernel_is_monomials():
    X = np.array([[1, 0], [0, 1], [1, 1.0]])
    model = KernelPCA(kernel="poly", degree=2, gamma=1, coef0=0, center=False).fit(X)
    assert_allclose(model.eigenvalues_, [4.5615528128, 1, 0.4384471872], rtol=1e-9)
    monomials = np.c_[X**2, np.sqrt(2) * X[:, 0] * X[:, 1]]
    plain = PCA(center=False, svd_solver="full").fit(monomials)
    assert_allclose(plain.scatter_eigenvalues_, model.eigenvalues_, rtol=1e-9)
    assert_allclose(np.abs(plain.transform(monomials)), np.abs(model.transform(X)), atol=1e-9)


def test_any_number_of_rows_has_coordinates():
    """Along training rows on the axes a row has its own entries."""
    model = KernelPCA(center=False).fit([[2.0, 0.0], [0.0, 1.0]])
    Q = seeded(4099, 2)
    assert_allclose(model.transform(Q), Q, atol=1e-12)


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=15, deadline=None)
def test_linear_kernel_is_pca(seed, center):
    X = np.random.default_rng(seed).normal(size=(20, 4)) + 1
    model = KernelPCA(center=center).fit(X)
    plain = PCA(center=center).fit(X)
    assert_allclose(np.abs(model.transform(X)), np.abs(plain.transform(X)), atol=1e-7)
    assert_allclose(model.transform(X), model.fit_transform(X), atol=1e-8)
    assert_allclose(model.residual(X), 0, atol=1e-8)
    assert (KernelPCA(2, center=center).fit(X).residual(X) >= 0).all()


def test_spectral_embedding_is_a_kernel_pca():
    K = np.exp(-squareform(pdist(seeded(30, 2)) ** 2))
    scale = 1 / np.sqrt(K.sum(axis=1))
    normal = K * scale[:, None] * scale
    found = KernelPCA(3, kernel="precomputed", center=False).fit_transform(normal)
    values, vectors = np.linalg.eigh(normal)
    assert_allclose(np.abs(found / np.linalg.norm(found, axis=0)), np.abs(vectors[:, ::-1][:, :3]), atol=1e-8)


def test_solvers_and_landmarks():
    X = seeded(150, 3)
    exact = KernelPCA(4, kernel="rbf", gamma=0.2, eigen_solver="dense").fit(X)
    for solver in ("arpack", "randomized"):
        model = KernelPCA(
            4, kernel="rbf", gamma=0.2, eigen_solver=solver, random_state=0, iterated_power=20
        ).fit(X)
        assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
        assert_allclose(model.transform(X), exact.transform(X), atol=1e-4)
    few = KernelPCA(4, kernel="rbf", gamma=0.2, n_landmarks=60).fit(X)
    assert few.X_fit_.shape == (60, 3) and few.residual_trace_ < 0.5
    assert_allclose(few.eigenvalues_, exact.eigenvalues_, rtol=1e-3)
    assert_allclose(np.abs(few.transform(X)), np.abs(exact.transform(X)), atol=1e-2)
    assert_allclose(few.transform(X), few.fit_transform(X), atol=1e-8)
    assert_allclose(few.residual(X[:5]), exact.residual(X[:5]), atol=2e-2)


def test_pre_images_and_novelty():
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    ring = np.c_[np.cos(angle), np.sin(angle)]
    model = KernelPCA(8, kernel="rbf", gamma=2.0, fit_inverse_transform=True, alpha=1e-3).fit(ring)
    assert_allclose(model.inverse_transform(model.transform(ring)), ring, atol=0.05)
    assert model.residual([[0.0, 0.0]])[0] > 2 * model.residual(ring).max()
    assert model.novelty([[3.0, 3.0], [1.0, 0.0]], 0.999).tolist() == [True, False]
    assert_allclose(model.score_samples(ring), -model.residual(ring))


def test_bad_kernels():
    with pytest.raises(DegenerateError, match="not positive semi-definite"):
        KernelPCA(kernel="precomputed", center=False).fit([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(DataError, match="symmetric"):
        KernelPCA(kernel="precomputed", center=False).fit([[1.0, 0.0], [1.0, 1.0]])
    with pytest.raises(DataError, match="symmetric"):
        KernelPCA(kernel="precomputed").fit([[2.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
    with pytest.raises(DegenerateError, match="one point"):
        KernelPCA(1).fit(np.ones((3, 2)))
    with pytest.raises(DataError, match="precomputed"):
        KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(np.eye(2))
    with pytest.raises(DataError, match="diagonal"):
        KernelPCA(kernel="precomputed").fit(np.eye(3)).residual(np.eye(3))
    with pytest.warns(UserWarning, match="fewer than n_components=3"):
        model = KernelPCA(3).fit(A6)
    assert_allclose(model.transform(A6)[:, 2], 0, atol=1e-12)


# truncated and incremental


def test_truncated_svd_is_the_svd():
    X = np.abs(seeded(40, 12))
    exact = svd(X)
    for data in (X, sp.csr_array(X)):
        for algorithm in ("randomized", "arpack"):
            model = TruncatedSVD(3, algorithm=algorithm, random_state=0).fit(data)
            assert_allclose(model.singular_values_, exact.s[:3], rtol=1e-8)
            assert_allclose(model.transform(data), X @ exact.Vt[:3].T, atol=1e-7)
            assert_allclose(model.explained_variance_, np.var(model.transform(data), axis=0), rtol=1e-7)
    ratio = np.var(X @ exact.Vt[:3].T, axis=0) / np.var(X, axis=0).sum()
    assert_allclose(model.explained_variance_ratio_, ratio, rtol=1e-7)
    assert_allclose(model.inverse_transform(model.transform(X)), exact.low_rank(3)[0], atol=1e-7)
    with pytest.raises(DataError, match="n_components"):
        TruncatedSVD(13).fit(X)


def test_batches_of_incremental_pca():
    X = load_digits().data[:300]
    whole = PCA(5).fit(X)
    model = IncrementalPCA(5, batch_size=50).fit(X)
    assert_allclose(model.components_, whole.components_, atol=1e-8)
    assert_allclose(model.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-9)
    parts = IncrementalPCA(5)
    for block in np.array_split(X, 4):
        parts.partial_fit(block)
    assert_allclose(parts.components_, whole.components_, atol=1e-8)
    assert parts.n_samples_seen_ == 300
    assert_allclose(parts.var_, X.var(axis=0))
    assert_allclose(parts.noise_variance_, whole.noise_variance_)


def test_wide_batches_keep_the_leading_directions(monkeypatch):
    monkeypatch.setattr("gnomon.decomposition.incremental.NARROW", 10)
    X = seeded(200, 4) @ seeded(4, 30, seed=1) * 3 + 0.1 * seeded(200, 30, seed=2) + 5
    whole, model = PCA(4).fit(X), IncrementalPCA(4, batch_size=40).fit(X)
    assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-4)
    assert_allclose(model.mean_, whole.mean_)
    assert_allclose(model.var_, X.var(axis=0), rtol=1e-8)
    assert np.max(principal_angles(model.components_.T, whole.components_.T).angles) < 0.01


def test_weights_of_wide_batches_are_repetitions(monkeypatch):
    monkeypatch.setattr("gnomon.decomposition.incremental.NARROW", 10)
    X = seeded(40, 3) @ seeded(3, 12, seed=1) + 5  # three directions: a batch loses none
    weight = np.arange(40) % 4
    weight[10:20] = 0  # a whole batch
    model = IncrementalPCA(3, batch_size=10).fit(X, sample_weight=weight)
    rows = np.repeat(X, weight, axis=0)
    whole = PCA(3).fit(rows)
    assert_allclose(model.explained_variance_, whole.explained_variance_)
    assert_allclose(model.mean_, rows.mean(axis=0))
    assert_allclose(model.var_, rows.var(axis=0))
    assert_allclose(model.components_, whole.components_, atol=1e-9)
    assert model.n_samples_seen_ == (weight > 0).sum() and model.weight_ == weight.sum() == len(rows)
    more = model.partial_fit(X[:7])
    assert_allclose(more.mean_, np.r_[rows, X[:7]].mean(axis=0))
    assert_allclose(more.explained_variance_, PCA(3).fit(np.r_[rows, X[:7]]).explained_variance_)
    assert more.weight_ == len(rows) + 7


def test_a_model_without_a_sum_of_weights_goes_on_from_its_rows(monkeypatch):
    """Files of the first release have the number of rows alone."""
    monkeypatch.setattr("gnomon.decomposition.incremental.NARROW", 10)
    X = seeded(40, 3) @ seeded(3, 12, seed=1) + 5
    old = IncrementalPCA(3, batch_size=10).fit(X[:20])
    del old.weight_
    old.partial_fit(X[20:])
    assert old.weight_ == old.n_samples_seen_ == 40
    assert_allclose(old.explained_variance_, PCA(3).fit(X).explained_variance_)


def test_predictions_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)), 3)
    Y = X @ rng.normal(size=(3, 2)) + 0.1 * rng.normal(size=(60, 2))
    near, far = CCA(2).fit(X, Y), CCA(2).fit(X + 1e8, Y)
    assert_allclose(far.predict(X + 1e8), near.predict(X), rtol=0, atol=1e-6)
    assert_allclose(near.intercept_, Y.mean(axis=0))  # at the mean of X, as in scikit-learn
    assert_allclose(near.predict(X.mean(axis=0)[None])[0], near.intercept_)


# eigenvalues that are equal, and products without digits


@pytest.mark.parametrize("n", [10, 60, 200])
def test_points_of_a_simplex(n):
    """All distances are equal, and so are n − 1 eigenvalues: LAPACK's search for some of them finds none."""
    X = 1e4 * np.eye(n)
    model = KernelPCA(3, kernel="rbf", gamma=1.0).fit(X)
    assert_allclose(model.eigenvalues_, 1.0, rtol=1e-12)
    assert_allclose(model.transform(X).T @ model.transform(X), np.eye(3), atol=1e-12)
    assert_allclose(PCA(3).fit(np.eye(n)).scatter_eigenvalues_, 1.0, rtol=1e-12)
    found = MDS(2, metric="precomputed", max_iter=1).fit(1.0 - np.eye(n))
    assert np.isfinite(found.stress_)
    assert found.embedding_.std() > 0


@pytest.mark.parametrize("n_landmarks", [None, 20])
def test_linear_kernel_far_from_zero(n_landmarks):
    X = seeded(40, 4) @ np.diag([4.0, 2.0, 1.0, 0.5])
    options = dict(n_landmarks=n_landmarks, fit_inverse_transform=True)
    near, far = KernelPCA(2, **options).fit(X), KernelPCA(2, **options).fit(X + 1e8)
    assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-7)
    assert_allclose(far.eigenvalues_, PCA(2).fit(X).scatter_eigenvalues_, rtol=1e-7)
    assert_allclose(far.transform(X + 1e8), near.transform(X), atol=1e-6)
    assert_allclose(far.residual(X + 1e8), near.residual(X), atol=1e-6)
    lost = PCA(2).fit(X)
    assert_allclose(near.residual(X).sum(), lost.reconstruction_error(X), rtol=1e-9)


def test_linear_kernel_pairs_far_from_zero():
    X, Y = seeded(30, 3), seeded(30, 2, seed=1)
    near, far = KernelCCA(2, kernel="linear").fit(X, Y), KernelCCA(2, kernel="linear").fit(X + 1e8, Y - 1e8)
    assert_allclose(far.canonical_correlations_, near.canonical_correlations_, rtol=1e-6)
    assert_allclose(far.transform(X[:4] + 1e8), near.transform(X[:4]), atol=1e-6)
    with pytest.raises(DegenerateError, match="constant in feature space"):
        KernelCCA(1).fit(1e-9 * X, Y)


def test_kernel_that_cannot_tell_rows_apart():
    with pytest.raises(DegenerateError, match="one point in feature space"):
        KernelPCA(2, kernel="rbf").fit(1e-8 * seeded(60, 5))


@pytest.mark.parametrize("solver", ["dense", "arpack", "randomized"])
def test_negative_eigenvalues_matter_where_they_are_asked_for(solver):
    Q = np.linalg.qr(seeded(8, 8))[0]
    K = (Q * [5.0, 4.0, 3.0, 2.0, 1.0, 0.0, -0.5, -1.0]) @ Q.T
    options = dict(kernel="precomputed", eigen_solver=solver, center=False, random_state=0)
    assert_allclose(KernelPCA(2, **options).fit(K).eigenvalues_, [5.0, 4.0], rtol=1e-6)
    with pytest.raises(DegenerateError, match="significant negative eigenvalues"):
        KernelPCA(7, **options).fit(K)


def test_rebuilt_rows_have_the_type_of_their_scores():
    X = np.abs(seeded(30, 4)).astype(np.float32)
    for model in (PCA(2), IncrementalPCA(2), PCA(2, whiten=True), NMF(2)):
        T = model.fit(X).transform(X)
        assert T.dtype == model.inverse_transform(T).dtype == np.float32
        wide = model.inverse_transform(T.astype(np.float64))
        assert wide.dtype == np.float64
        assert_allclose(model.inverse_transform(T), wide, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("solver", ["dense", "arpack", "randomized"])
def test_kernels_that_centering_makes_symmetric(solver):
    X = np.random.default_rng(0).normal(size=(120, 3))
    lean = np.arange(120.0)
    options = {"kernel": "precomputed", "eigen_solver": solver, "random_state": 0}
    straight = KernelPCA(2, **options).fit(X @ X.T)
    leaning = KernelPCA(2, **options).fit(
        X @ X.T + lean
    )  # a number for every column: gone once rows are centered
    assert_allclose(leaning.eigenvalues_, straight.eigenvalues_, rtol=1e-7)
    assert_allclose(leaning.transform(X @ X.T + lean), straight.transform(X @ X.T), atol=1e-6)


def test_pairs_of_equal_correlation_do_not_depend_on_rounding():
    X, Y = (
        seeded(4, 3),
        seeded(4, 2, seed=1),
    )  # three columns of four rows hold everything: every correlation is 1
    with pytest.warns(UserWarning, match="mean nothing"):
        model = CCA(2, normalize="unit").fit(X, Y)
        other = CCA(2, normalize="unit").fit(1e3 * X[::-1] + 5.0, Y[::-1] / 7.0)
    assert_allclose(model.canonical_correlations_, 1.0, rtol=1e-12)
    for mine, its in zip(model.transform(X, Y), other.transform(1e3 * X + 5.0, Y / 7.0), strict=True):
        assert_allclose(mine, its, atol=1e-7)
        assert_allclose(mine.T @ mine, np.eye(2), atol=1e-9)
    Z = np.hstack([(A - A.mean(axis=0)) / A.std(axis=0) for A in (X, Y)])
    shares = ((Z.T @ model.transform(X)) ** 2).sum(axis=0)
    turned = model.transform(X) @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    assert shares[0] > shares[1] and shares[0] > ((Z.T @ turned) ** 2).sum(axis=0).max()


# a few eigenvectors from products alone


def products_with(A, calls=None):
    """Products with a matrix, counted."""

    def times(V):
        if calls is not None:
            calls.append(V.shape[1])
        return A @ V

    return times


def test_block_lanczos_is_lapack():
    Q = np.linalg.qr(seeded(300, 300))[0]
    A = (
        Q
        * np.r_[
            3.0,
            2.9,
            2.9,
            2.9,
            1.0,
            0.5 ** np.arange(295),
        ]
    ) @ Q.T  # three are equal
    A = (A + A.T) / 2
    values, vectors, found = leading_eigen(products_with(A), 300, 5, np.random.default_rng(0))
    assert found
    assert_allclose(values, [3.0, 2.9, 2.9, 2.9, 1.0], rtol=1e-13)
    assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-13)
    assert np.linalg.norm(A @ vectors - vectors * values, axis=0).max() < 1e-9
    assert_allclose(vectors[:, 1:4] @ vectors[:, 1:4].T, Q[:, 1:4] @ Q[:, 1:4].T, atol=1e-8)


def test_block_lanczos_goes_on_from_a_full_basis():
    calls, n = [], 400
    A = np.diag(1.0 + np.arange(n) / n)  # gaps of 1/400: a basis of 96 vectors does not see them apart
    values, vectors, found = leading_eigen(products_with(A, calls), n, 1, np.random.default_rng(0))
    assert found and set(calls) == {6} and len(calls) > 16
    assert values[0] == pytest.approx(2.0 - 1 / n, rel=1e-14) and abs(vectors[-1, 0]) == pytest.approx(1.0)
    *_, found = leading_eigen(products_with(A), n, 1, np.random.default_rng(0), max_steps=5)
    assert not found


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_block_lanczos_of_fewer_directions_than_are_wanted(rank):
    B = seeded(200, rank)
    A = B @ B.T
    values, vectors, found = leading_eigen(products_with(A), 200, 8, np.random.default_rng(0))
    exact = np.r_[np.linalg.svd(B, compute_uv=False) ** 2, np.zeros(8 - rank)]
    assert found
    assert_allclose(values, exact, atol=1e-11)
    assert_allclose(vectors.T @ vectors, np.eye(8), atol=1e-12)


def test_block_lanczos_where_most_rows_are_zero():
    B = np.zeros((200, 30))
    B[:12] = seeded(12, 30)  # rounding lives in twelve rows, and leaves no room beside the first block
    A = B @ B.T
    values, vectors, found = leading_eigen(products_with(A), 200, 20, np.random.default_rng(0))
    assert found
    assert_allclose(values, np.r_[np.linalg.eigvalsh(A[:12, :12])[::-1], np.zeros(8)], atol=1e-11)
    assert_allclose(vectors.T @ vectors, np.eye(20), atol=1e-12)


def test_kernel_components_on_any_number_of_threads():
    X, found = seeded(700, 4), []
    for count in (1, 2):
        with threads(count):
            found.append(KernelPCA(5, kernel="rbf", random_state=0).fit(X))
    assert (found[0].eigenvectors_ == found[1].eigenvectors_).all()


def test_many_equal_eigenvalues_are_all_found():
    n = 800
    model = KernelPCA(80, kernel="precomputed", random_state=0).fit(2.0 * np.eye(n))  # twice I - 11ᵀ/n
    assert_allclose(model.eigenvalues_, 2.0, rtol=1e-12)
    assert_allclose(model.eigenvectors_.T @ model.eigenvectors_, np.eye(80), atol=1e-10)


def test_lanczos_says_when_it_was_stopped():
    X = seeded(150, 3)
    options = dict(kernel="rbf", gamma=5.0, eigen_solver="arpack", random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        KernelPCA(4, max_iter=2, **options).fit(X)
    rough = KernelPCA(4, tol=0.1, **options).fit(X).eigenvalues_
    exact = KernelPCA(4, kernel="rbf", gamma=5.0, eigen_solver="dense").fit(X).eigenvalues_
    assert_allclose(KernelPCA(4, **options).fit(X).eigenvalues_, exact, rtol=1e-12)
    assert (rough <= exact * (1 + 1e-12)).all() and (rough < exact * (1 - 1e-9)).any()


def test_eigenvalues_too_close_for_lanczos(monkeypatch):
    monkeypatch.setattr(kernel_pca, "MOST_STEPS", 2)
    X = seeded(150, 3)
    options = dict(kernel="rbf", gamma=5.0, random_state=0)
    exact = KernelPCA(4, eigen_solver="dense", **options).fit(X)
    assert_allclose(
        KernelPCA(4, eigen_solver="arpack", **options).fit(X).transform(X), exact.transform(X), atol=1e-10
    )


# units and ranks


@pytest.mark.parametrize("scale", [True, False])
def test_correlations_do_not_depend_on_units(scale):
    X = seeded(60, 4)
    Y = X[:, :3] @ seeded(3, 3, seed=1) + seeded(60, 3, seed=2)
    units = np.array([1e8, 1e-8, 1.0, 1e4])
    plain = CCA(3).fit(X, Y).canonical_correlations_
    assert_allclose(CCA(3, scale=scale).fit(X * units, Y * 1e-8).canonical_correlations_, plain, rtol=1e-6)
    constant = np.c_[X * 1e-8, np.full(60, 0.1)]  # larger than all the others, and yet nothing
    with pytest.warns(UserWarning, match="rank 4"):
        assert_allclose(CCA(3, scale=scale).fit(constant, Y).canonical_correlations_, plain, rtol=1e-6)
    with pytest.raises(DegenerateError, match="every column of Y is constant"):
        CCA(1, scale=scale).fit(X, np.full((60, 2), 0.1))


def test_one_target_correlates_as_its_regression_fits():
    X, noise = seeded(60, 5), seeded(60, seed=1)
    y = X @ np.arange(1.0, 6.0) + 4 * noise
    A = np.c_[X, np.ones(60)]
    fitted = A @ np.linalg.lstsq(A, y)[0]
    model = CCA(1).fit(X, y)
    assert_allclose(model.canonical_correlations_[0], np.corrcoef(fitted, y)[0, 1], rtol=1e-10)
    assert_allclose(model.predict(X).ravel(), fitted, rtol=1e-8)


def test_lengths_of_kernel_scores_and_residuals_are_those_of_the_rows():
    X = seeded(40, 3)
    K = np.exp(-0.1 * squareform(pdist(X)) ** 2)
    H = np.eye(40) - 1 / 40
    model = KernelPCA(3, kernel="rbf", gamma=0.1).fit(X)
    assert_allclose(model.residual(X) + (model.transform(X) ** 2).sum(axis=1), np.diag(H @ K @ H), rtol=1e-9)


def test_repeated_rows_add_no_kernel_component():
    X = np.tile(seeded(5, 3), (3, 1))
    assert len(KernelPCA(kernel="rbf", gamma=0.1).fit(X).eigenvalues_) == 4


def test_more_directions_than_the_rank_are_orthonormal_and_empty():
    X = seeded(30, 2) @ seeded(2, 9, seed=1)
    model = TruncatedSVD(5, random_state=0).fit(X)
    assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-10)
    assert_allclose(model.singular_values_[2:], 0, atol=1e-12)


def test_score_has_the_length_that_its_weights_of_length_one_give():
    X, Y = seeded(50, 4), seeded(50, 3, seed=1) + seeded(50, 4)[:, :3]
    model = CCA(3).fit(X, Y)
    for block, scores in zip((X, Y), model.transform(X, Y), strict=True):
        left = (block - block.mean(axis=0)) / block.std(axis=0, ddof=1)
        for k in range(3):
            weights = np.linalg.pinv(left) @ scores[:, k]
            assert_allclose(np.linalg.norm(weights), 1, rtol=1e-9)
            done = scores[:, : k + 1]
            left = left - done @ np.linalg.lstsq(done, left)[0]


def test_nearest_of_three_classes():
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    y = np.repeat(["a", "b", "c"], 20)
    X = np.repeat(centers, 20, axis=0) + seeded(60, 2)
    assert (FisherProjection().fit(X, y).predict(X) == y).all()
