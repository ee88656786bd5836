"""Options of decompositions: floors, stops, and routes that must not matter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon import decomposition

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) @ RNG.normal(size=(3, 6)) + 0.1 * RNG.normal(size=(40, 6))
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")


@pytest.mark.parametrize("normalizer", ["auto", "QR", "LU", "none"])
@pytest.mark.parametrize("oversamples", [2, 10])
def test_random_routes_end_at_the_exact_axes(normalizer, oversamples):
    exact = decomposition.PCA(2, svd_solver="full").fit(X)
    drawn = decomposition.PCA(
        2,
        svd_solver="randomized",
        power_iteration_normalizer=normalizer,
        n_oversamples=oversamples,
        random_state=0,
    ).fit(X)
    assert_allclose(drawn.explained_variance_, exact.explained_variance_, rtol=1e-6)
    whole = np.linalg.svd(X, compute_uv=False)
    few = decomposition.TruncatedSVD(
        2, power_iteration_normalizer=normalizer, n_oversamples=oversamples, n_iter=9, random_state=0
    ).fit(X)
    assert_allclose(few.singular_values_, whole[:2], rtol=1e-6)


def test_tolerances_of_arpack():
    for cls in (decomposition.PCA, decomposition.TruncatedSVD):
        options = {"svd_solver": "arpack"} if cls is decomposition.PCA else {"algorithm": "arpack"}
        rough = cls(2, tol=0.5, random_state=0, **options).fit(X).singular_values_
        fine = cls(2, tol=0.0, random_state=0, **options).fit(X).singular_values_
        centered = X - X.mean(axis=0) if cls is decomposition.PCA else X
        assert_allclose(fine, np.linalg.svd(centered, compute_uv=False)[:2], rtol=1e-9)
        assert_allclose(rough, fine, rtol=0.5)


@quiet
def test_noise_has_a_floor():
    flat = np.outer(RNG.normal(size=40), [1.0, 2.0, -1.0, 0.5])
    floor = 0.01
    model = decomposition.ProbabilisticPCA(1, min_noise_variance=floor).fit(flat)
    assert model.noise_variance_ == pytest.approx(floor * flat.var(axis=0).mean(), rel=0.03)
    factors = decomposition.FactorAnalysis(1, min_noise_variance=0.2).fit(X)
    assert (factors.noise_variance_ >= 0.2 * X.var(axis=0) * (1 - 1e-9)).all()
    assert (decomposition.FactorAnalysis(1).fit(X).noise_variance_ < 0.2 * X.var(axis=0)).any()


def test_a_criterion_chooses_how_many_axes():
    for word, price in (("aic", 2.0), ("bic", np.log(40))):
        chosen = decomposition.ProbabilisticPCA(word).fit(X)
        scores = []
        for k in range(1, 6):
            model = decomposition.ProbabilisticPCA(k).fit(X)
            parameters = 6 + 1 + 6 * k - k * (k - 1) / 2
            scores.append(price * parameters - 2 * 40 * model.score(X))
        assert chosen.components_.shape[0] == 1 + int(np.argmin(scores))


@quiet
def test_words_kept_for_other_libraries_change_nothing():
    for cls, options in [
        (decomposition.FactorAnalysis, {"svd_method": "lapack", "iterated_power": 7, "random_state": 3}),
        (decomposition.SparsePCA, {"method": "cd", "n_jobs": 2, "random_state": 3}),
    ]:
        plain, other = cls(2).fit(X), cls(2, **options).fit(X)
        np.testing.assert_array_equal(plain.components_, other.components_)
    y = np.arange(40) % 3
    plain = decomposition.FisherProjection(2).fit(X, y)
    np.testing.assert_array_equal(
        plain.transform(X), decomposition.FisherProjection(2, solver="eigen").fit(X, y).transform(X)
    )


@quiet
def test_steps_at_most_and_stops():
    short = decomposition.SparsePCA(2, max_iter=1).fit(X)
    loose, tight = (decomposition.SparsePCA(2, tol=tol).fit(X) for tol in (0.5, 1e-10))
    assert short.n_iter_ == 1 and loose.n_iter_ < tight.n_iter_
    Y = X[:, :2] @ RNG.normal(size=(2, 2)) + 0.5 * RNG.normal(size=(40, 2))
    assert decomposition.CCA(1, max_iter=1000, tol=1e-12).fit(X, Y).x_weights_.shape == (6, 1)


def test_distances_with_arguments():
    w = np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    line = decomposition.ClassicalMDS(1, metric="minkowski", metric_params={"p": 2, "w": w}).fit_transform(X)
    expected = np.sqrt(3.0) * np.abs(X[:, :1] - X[:, :1].T)
    assert_allclose(np.abs(line - line.T), expected, atol=1e-6)
    metric = dict(metric="minkowski", metric_params={"p": 2, "w": w}, random_state=0)
    scaled = decomposition.MDS(1, **metric).fit(X)
    assert_allclose(np.abs(scaled.embedding_ - scaled.embedding_.T), expected, atol=1e-2)
    assert decomposition.MDS(1, n_init=3, init="random", **metric).fit(X).stress_ <= (
        decomposition.MDS(1, n_init=1, init="random", **metric).fit(X).stress_ + 1e-9
    )
    raw = decomposition.MDS(1, normalized_stress=False, metric_mds=True, random_state=0).fit(X)
    share = decomposition.MDS(1, normalized_stress=True, metric_mds=True, random_state=0).fit(X)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    d = np.abs(raw.embedding_ - raw.embedding_.T)
    stress = ((D - d) ** 2).sum() / 2
    assert raw.stress_ == pytest.approx(stress, rel=1e-6)
    assert share.stress_ == pytest.approx(np.sqrt(stress / ((d**2).sum() / 2)), rel=0.2)


def test_axes_without_variance_are_dropped():
    flat = np.outer(np.arange(10.0), [1.0, 2.0])
    kept = decomposition.KernelPCA(2).fit(flat)
    dropped = decomposition.KernelPCA(2, remove_zero_eig=True).fit(flat)
    assert kept.transform(flat).shape[1] == 2 and dropped.transform(flat).shape[1] == 1
    assert_allclose(np.abs(dropped.transform(flat)[:, 0]), np.abs(kept.transform(flat)[:, 0]), atol=1e-8)


def test_the_turn_of_columns_is_always_theirs():
    N = np.abs(X[:, :4])
    still, other = (
        decomposition.NMF(2, shuffle=flag, random_state=0, max_iter=400).fit(N) for flag in (False, True)
    )
    np.testing.assert_array_equal(still.components_, other.components_)  # kept for scikit-learn
