"""Patches, galleries, sparse components and the pictures of the family."""

import matplotlib.pyplot
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

from gnomon import plot
from gnomon.cluster import KMeans
from gnomon.core.errors import DataError
from gnomon.datasets import make_news, make_text
from gnomon.decomposition import (
    CCA,
    NMF,
    PCA,
    FactorAnalysis,
    FisherProjection,
    KernelPCA,
    ProbabilisticPCA,
    SparsePCA,
    TruncatedSVD,
    denoise_image,
    extract_patches,
    inpaint_image,
    reconstruct_from_patches,
)
from gnomon.topics import LatentDirichletAllocation

matplotlib.use("Agg")
WAVES = np.sin(np.linspace(0, 4, 40))[:, None] * np.cos(np.linspace(0, 5, 36)) * 0.5 + 0.5


@pytest.fixture(autouse=True)
def _close():
    yield
    matplotlib.pyplot.close("all")


def test_number_of_patches_of_a_color_image():
    shape = (480, 320, 3)
    image = np.arange(np.prod(shape), dtype=float).reshape(shape)
    patches = extract_patches(image, (8, 8))
    assert patches.shape == (148_049, 192)
    assert_allclose(reconstruct_from_patches(patches, shape), image, rtol=1e-12)


def test_patches_by_hand():
    A = np.arange(6.0).reshape(2, 3)
    assert extract_patches(A, (2, 2)).tolist() == [[0, 1, 3, 4], [1, 2, 4, 5]]
    assert extract_patches(A, (1, 1), stride=2).tolist() == [[0], [2]]
    assert extract_patches(A, (1, 2), max_patches=2, random_state=0).shape == (2, 2)
    moved = reconstruct_from_patches([[0, 0, 0, 0], [2, 2, 2, 2]], (2, 3))
    assert moved.tolist() == [[0, 1, 2], [0, 1, 2]]
    for call, match in [
        (lambda: extract_patches(A, (3, 3)), "fit"),
        (lambda: extract_patches(A, (1, 1), stride=0), "stride"),
        (lambda: extract_patches(A[0]), "image"),
        (lambda: reconstruct_from_patches([[0.0]], (2, 3)), "patches must"),
        (lambda: reconstruct_from_patches(np.zeros((4, 1)), (3, 3), stride=2), "lower"),
        (lambda: denoise_image(np.full((9, 9), np.nan)), "inpaint"),
        (lambda: inpaint_image(np.full((9, 9), np.nan)), "no observed"),
        (lambda: inpaint_image(WAVES, np.ones((2, 2))), "mask"),
    ]:
        with pytest.raises(DataError, match=match):
            call()


@pytest.mark.parametrize("model", [None, FactorAnalysis(4), PCA(4), NMF(4, max_iter=50)])
def test_noise_goes(model):
    noisy = WAVES + 0.1 * np.random.default_rng(0).normal(size=WAVES.shape)
    found = denoise_image(np.abs(noisy), size=(6, 6), stride=2, model=model)
    before = 10 * np.log10(1 / np.mean((noisy - WAVES) ** 2))
    assert found.psnr(WAVES) > before + 3
    assert found.image.shape == found.std.shape == WAVES.shape
    known = denoise_image(noisy, size=(6, 6), stride=2, noise_variance=0.01)
    assert known.noise == pytest.approx(0.1)
    assert found.psnr(found.image) == np.inf
    assert found._replace(image=np.zeros((1, 1))).psnr([[0.5]], peak=5.0) == pytest.approx(20.0)


def test_eighty_per_cent_of_the_pixels_are_missing():
    gone = np.random.default_rng(0).random(WAVES.shape) < 0.8
    found = inpaint_image(WAVES, gone, model=ProbabilisticPCA(4, tol=1e-4))
    assert_allclose(found.image[~gone], WAVES[~gone])
    assert np.sqrt(np.mean((found.image - WAVES)[gone] ** 2)) < 0.15 * WAVES.std()
    assert (found.std[~gone] == 0).all() and (found.std[gone] > 0).all()
    noisy = WAVES + 0.1 * np.random.default_rng(1).normal(size=WAVES.shape)
    smooth = inpaint_image(
        np.where(gone, np.nan, noisy), model=ProbabilisticPCA(4), keep_observed=False, stride=2
    )
    assert np.std((smooth.image - WAVES)[~gone]) < np.std((noisy - WAVES)[~gone])
    colors = np.stack([WAVES, WAVES**2, 1 - WAVES], axis=-1)
    assert (
        inpaint_image(colors, gone, size=(4, 4), stride=2, model=ProbabilisticPCA(4)).image.shape
        == colors.shape
    )


def test_bases_of_digits():
    X = load_digits().data[:150]
    svd, nmf = TruncatedSVD(8, random_state=0).fit(X), NMF(8, random_state=0, max_iter=2000).fit(X)
    error = {m: np.sum((X - m.inverse_transform(m.transform(X))) ** 2) for m in (svd, nmf)}
    one_part_each = KMeans(8, random_state=0).fit(X).inertia_
    assert error[svd] <= error[nmf] <= one_part_each
    assert PCA(8).fit(X).reconstruction_error(X) <= error[svd]
    assert (nmf.components_ >= 0).all() and (svd.components_ < 0).any()


def test_eigenfaces_take_the_small_problem():
    rng = np.random.default_rng(0)
    faces = rng.normal(size=(100, 2500))
    model = PCA().fit(faces)
    assert (model.explained_variance_ > 1e-10 * model.explained_variance_[0]).sum() == 99
    assert_allclose(model.components_[:99] @ model.components_[:99].T, np.eye(99), atol=1e-8)


def test_sparse_components():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(100, 2)) * [3, 2]
    X = np.c_[Z[:, [0, 0, 0]], Z[:, [1, 1]], np.zeros((100, 2))] + 0.1 * rng.normal(size=(100, 7))
    model = SparsePCA(2, alpha=3).fit(X)
    assert (model.components_[0, 3:] == 0).all() and (model.components_[1, :3] == 0).all()
    assert (np.diff(model.error_) <= 1e-9 * model.error_[0]).all()
    assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    dense = SparsePCA(2, alpha=0, ridge_alpha=0).fit(X)
    span = dense.components_.T @ np.linalg.pinv(dense.components_.T)
    plain = PCA(2).fit(X).components_
    assert_allclose(span, plain.T @ plain, atol=1e-6)
    back = model.inverse_transform(model.transform(X))
    assert np.mean((X - back) ** 2) < 0.1
    with pytest.raises(DataError, match="U_init"):
        SparsePCA(2, U_init=np.ones((2, 2)), V_init=np.ones((2, 2))).fit(X)


@pytest.mark.parametrize("length", [0.1, 1.0, 30.0])
def test_one_sparse_step_by_hand(length):
    """The loadings are soft thresholds; the code of least squares is cut to length one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4)) * [3.0, 1.0, 0.5, 0.1] + 5.0
    Z, u = X - X.mean(axis=0), rng.normal(size=12)
    u *= length / np.linalg.norm(u)
    b = u @ Z
    v = np.sign(b) * np.maximum(np.abs(b) - 0.3 * np.abs(b).max(), 0) / (u @ u)
    code = Z @ v / (v @ v)
    code /= max(1.0, np.linalg.norm(code))
    alpha = 0.3 * np.abs(b).max()
    model = SparsePCA(1, alpha=alpha, max_iter=1, U_init=u[:, None], V_init=np.ones((1, 4)), ridge_alpha=0.5)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    sign = np.sign(v[np.abs(v).argmax()])
    assert_allclose(model.components_, [sign * v / np.linalg.norm(v)])
    rest = Z - np.outer(code, v)
    assert_allclose(model.error_, [0.5 * (rest**2).sum() + alpha * np.abs(v).sum()])
    assert_allclose(model.transform(X), Z @ model.components_.T / 1.5)
    assert_allclose(model.inverse_transform([[2.0]]), 2 * model.components_ + X.mean(axis=0))


def test_as_many_sparse_components_as_columns_and_none_that_pays():
    X = np.random.default_rng(1).normal(size=(40, 6)) @ np.diag([5.0, 4, 3, 2, 1, 0.5])
    assert SparsePCA(alpha=0.1).fit(X).n_components_ == 6
    empty = SparsePCA(2, alpha=1e6).fit(X)
    assert (empty.components_ == 0).all() and (empty.transform(X) == 0).all()
    assert_allclose(empty.error_[-1], 0.5 * ((X - X.mean(axis=0)) ** 2).sum())


def test_pictures():
    X, y = load_iris(return_X_y=True)
    model = PCA().fit(X)
    assert plot.scree(model, criterion=True).get_ylabel() == "variance"
    assert model.plot() is not None and model.plot(X) is not None
    assert len(plot.embedding(model, X, y, kind="loadings").texts) == 4
    assert len(plot.embedding(model, X, y).collections) == 3
    assert plot.embedding(PCA(2).fit(X[:, :3]), X[:, :3], kind="plane").name == "3d"
    assert len(plot.embedding(model, X[:, :2] + 5, kind="mean").lines) == 2
    assert len(ProbabilisticPCA(2).fit(X).plot(X[:9]).patches) == 9
    assert len(plot.embedding(FactorAnalysis(2).fit(X), X[:5], y[:5], kind="belief").patches) == 5
    kernel = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X[:, :2])
    assert kernel.plot(X[:, :2], y).get_xlabel() == "component 1"
    assert plot.embedding(kernel, X[:, :2], y, kind="residual", points=10).get_xlabel() == "x0"
    assert "correlation" in CCA(1).fit(X[:, :2], X[:, 2:]).plot(X[:, :2], X[:, 2:]).get_title()
    assert FisherProjection().fit(X, y).plot(X, y).get_xlabel() == "projection"
    assert len(NMF(2).fit(X).plot(X=X[:4]).texts) == 7
    for call in (
        lambda: plot.embedding(model, X, kind="plane"),
        lambda: plot.embedding(model, X, kind="mean"),
        lambda: plot.embedding(PCA(1).fit(X), X, kind="loadings"),
        lambda: plot.embedding(ProbabilisticPCA(1).fit(X), X, kind="belief"),
        lambda: plot.embedding(kernel, X, kind="residual"),
    ):
        with pytest.raises(ValueError, match="columns|two components"):
            call()
    with pytest.raises(ValueError, match="Did you mean 'scores'"):
        plot.embedding(model, X, kind="score")


def test_pictures_of_images():
    digits = load_digits().data[:60]
    model = PCA().fit(digits)
    assert len(plot.images(PCA(6).fit(digits), (8, 8)).texts) == 6
    assert len(plot.reconstructions(model, digits[0], (8, 8), [1, 2, 5, 20]).texts) == 5
    models = {"kmeans": KMeans(4, random_state=0), "svd": TruncatedSVD(4), "nmf": NMF(4)}
    found = {name: one.fit(digits) for name, one in models.items()}
    texts = [text.get_text() for text in plot.reconstructions(found, digits[3], (8, 8)).texts]
    assert len(texts) == 15 and texts[:2] == ["1 ×", "0 ×"] and texts[4::5] == ["= kmeans", "= svd", "= nmf"]
    assert plot.images(np.random.default_rng(0).random((2, 8, 8, 3))) is not None
    assert plot.images([WAVES, WAVES], titles=["holes", "filled"], each=False) is not None
    assert NMF(3, max_iter=20).fit(digits).plot((8, 8)) is not None


def test_pictures_of_topics():
    bars = make_text("bars", 60, length=40, random_state=0)
    assert_allclose(bars.topics.sum(axis=1), 1)
    model = LatentDirichletAllocation(6, random_state=0).fit(bars.counts)
    assert len(model.plot().patches) == 6 * 8
    assert len(plot.topics(model, documents=bars.counts[:5]).patches) == 30
    assert len(plot.topics(model, document=bars.counts[:1]).texts) == np.count_nonzero(bars.counts[0])
    news = make_news(5, 20, random_state=0)
    assert len(news.data) == 5 and news.shares.shape == (5, 8)


def test_trace_with_gaps_is_a_line():
    X = np.array([[4, 2, 0, 0], [0, 0, 3, 1]])
    model = LatentDirichletAllocation(2, learning_method="gibbs", n_burn=20, n_samples=1, random_state=0).fit(
        X
    )
    line = model.trace_.plot().lines[0]  # the objective is looked at in every tenth sweep, and in the last
    assert line.get_xdata().tolist() == [10, 20, 25]
    assert np.isfinite(line.get_ydata()).all()


def test_scree_says_what_its_shares_are_of():
    X = load_iris().data
    names = [
        plot.scree(model.fit(X)).figure.axes[1].get_ylabel() for model in (PCA(2), KernelPCA(2, kernel="rbf"))
    ]
    assert names == ["share explained", "share of the components shown"]
