"""Small facts of decompositions: inverses, lengths, edges of warnings, routes of few rows, and what is refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg, stats
from scipy.spatial.distance import cdist
from scipy.special import gammaln

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.saving import load, save
from gnomon.decomposition import (
    CCA,
    NMF,
    PCA,
    ClassicalMDS,
    FactorAnalysis,
    FisherProjection,
    IncrementalPCA,
    KernelCCA,
    ProbabilisticPCA,
    SparsePCA,
    TruncatedSVD,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5)) @ RNG.normal(size=(5, 5))


@pytest.mark.parametrize("model", [ProbabilisticPCA(2), FactorAnalysis(2), PCA(2)], ids=str)
def test_precision_is_the_inverse_of_the_covariance(model):
    found = model.fit(X)
    assert_allclose(found.get_precision() @ found.get_covariance(), np.eye(5), atol=1e-9)


@pytest.mark.parametrize("correction", [None, "additive", "sqrt"])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "precomputed"])
def test_scaled_training_rows_are_where_the_fit_put_them(correction, metric):
    rows = cdist(X, X, "cityblock") if metric == "precomputed" else X
    model = ClassicalMDS(3, metric=metric, correction=correction).fit(rows)
    assert_allclose(model.transform(rows), model.embedding_, atol=1e-9)


def test_roots_of_distances_are_kept_where_they_are_asked_for():
    D = cdist(X, X, "cityblock")
    model = ClassicalMDS(39, metric="precomputed", correction="sqrt").fit(D)
    assert_allclose(cdist(model.embedding_, model.embedding_) ** 2, D, atol=1e-8)
    model = ClassicalMDS(39, metric="precomputed", correction="additive").fit(D)
    gaps = cdist(model.embedding_, model.embedding_) - D
    assert_allclose(gaps[~np.eye(40, dtype=bool)], model.additive_constant_, atol=1e-8)


@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto"])
def test_directions_of_fisher_have_length_one_and_solve_his_problem(shrinkage):
    y = np.arange(40) % 3
    model = FisherProjection(shrinkage=shrinkage).fit(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    within = sum((X[y == k] - means[k]).T @ (X[y == k] - means[k]) for k in range(3))
    between = sum(
        (y == k).sum() * np.outer(means[k] - X.mean(axis=0), means[k] - X.mean(axis=0)) for k in range(3)
    )
    s = {None: 0.0, "auto": 5 / 45}.get(shrinkage, shrinkage)
    within = (1 - s) * within + s * np.trace(within) / 5 * np.eye(5)
    values, vectors = linalg.eigh(between, within)
    expected = vectors[:, ::-1][:, :2] / np.linalg.norm(vectors[:, ::-1][:, :2], axis=0)
    assert_allclose(np.abs(np.sum(model.components_.T * expected, axis=0)), 1, rtol=1e-9)
    assert_allclose(model.criterion_values_, values[::-1][:2])
    assert_allclose(model.explained_variance_ratio_.sum(), 1)


def test_repeated_columns_are_shrunk_as_the_warning_says():
    y = np.arange(40) % 2
    with pytest.warns(UserWarning, match="singular"):
        model = FisherProjection().fit(np.c_[X, X[:, 0]], y)
    auto = FisherProjection(shrinkage="auto").fit(np.c_[X, X[:, 0]], y)
    assert_allclose(model.components_, auto.components_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FisherProjection().fit(X, y)


@pytest.mark.parametrize(("rows", "warned"), [(6, True), (7, False)])
def test_as_many_columns_as_free_rows_correlate_by_necessity(rows, warned):
    A, B = RNG.normal(size=(rows, 5)), RNG.normal(size=(rows, 1))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = CCA(1).fit(A, B)
    assert any("mean nothing" in str(one.message) for one in told) == warned
    assert (model.canonical_correlations_[0] > 1 - 1e-9) == warned


@pytest.mark.parametrize("n_components", [2, 0.5, None])
def test_small_tables_take_an_exact_route(n_components):
    wide = np.random.default_rng(1).normal(size=(130, 140))
    s = np.linalg.svd(wide - wide.mean(axis=0), compute_uv=False)
    model = PCA(n_components).fit(wide)
    assert_allclose(model.singular_values_, s[: model.n_components_], rtol=1e-9, atol=1e-9)


def test_rows_of_zeros_and_factors_of_zeros():
    model = NMF(2, random_state=0, max_iter=500).fit(np.abs(X))
    assert_allclose(model.transform(np.zeros((2, 5))), 0)
    model.components_ = np.zeros((2, 5))
    assert_allclose(model.transform(np.ones((2, 5))), 0)


def test_constant_rows_have_no_share_of_variance():
    model = PCA(2).fit(np.ones((6, 3)))
    assert_allclose(model.explained_variance_, 0, atol=1e-20)
    assert not np.any(model.explained_variance_ratio_ > 0)
    assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-12)


def test_a_sum_added_to_sparse_components_changes_nothing():
    plain = SparsePCA(2, random_state=0).fit(X)
    moved = SparsePCA(2, random_state=0).fit(X + [1.0, -2, 3, 100, 0])
    assert_allclose(moved.components_, plain.components_, atol=1e-6)
    assert_allclose(moved.mean_ - plain.mean_, [1, -2, 3, 100, 0])


@pytest.mark.parametrize("weight", [None, np.arange(40.0) % 3])
def test_truncated_directions_are_those_of_repeated_rows(weight):
    repeated = X if weight is None else np.repeat(X, weight.astype(int), axis=0)
    s, Vt = np.linalg.svd(repeated, full_matrices=False)[1:]
    model = TruncatedSVD(2, random_state=0).fit(X, sample_weight=weight)
    assert_allclose(np.abs(model.components_ @ Vt[:2].T), np.eye(2), atol=1e-6)
    assert_allclose(model.singular_values_, s[:2], rtol=1e-6)


@pytest.mark.parametrize(
    ("covariance", "n", "told"),
    [
        (np.eye(3), 0, "n_samples must be positive"),
        (np.eye(3), np.nan, "n_samples must be positive"),
        (np.diag([1.0, 1.0, -1.0]), 10, "positive semi-definite"),
        (np.full((3, 3), np.inf), 10, "finite|symmetric"),
        (np.ones((2, 3)), 10, "symmetric"),
        ([[1.0, 0.5], [0.4, 1.0]], 10, "symmetric"),
    ],
)
def test_what_is_no_covariance_of_rows_is_refused(covariance, n, told):
    with pytest.raises(DataError, match=told):
        FactorAnalysis(1).fit_moments(covariance, n)


def test_moments_are_as_good_as_the_rows():
    rows = FactorAnalysis(2).fit(X)
    moments = FactorAnalysis(2).fit_moments(np.cov(X.T, bias=True), 40, X.mean(axis=0))
    assert_allclose(moments.get_covariance(), rows.get_covariance(), rtol=1e-6, atol=1e-8)
    assert_allclose(moments.log_likelihood_, rows.log_likelihood_)


@pytest.mark.parametrize("model", [ProbabilisticPCA(2), FactorAnalysis(2)], ids=["equal", "own"])
def test_draws_have_the_moments_of_the_model(model):
    found = model.fit(X + 5)
    drawn = found.sample(60_000, 0)
    spread = np.sqrt(np.diag(found.get_covariance()))
    assert_allclose((drawn.mean(axis=0) - (X + 5).mean(axis=0)) / spread, 0, atol=0.03)
    both = np.outer(spread, spread)
    assert_allclose(np.cov(drawn.T) / both, found.get_covariance() / both, atol=0.03)


def test_numbers_of_components_that_nobody_gave():
    assert ProbabilisticPCA().fit(X).components_.shape[0] == 4
    assert IncrementalPCA().fit(X).components_.shape == (5, 5)
    assert IncrementalPCA().partial_fit(X[:3]).components_.shape[0] == 3
    y = np.arange(40) % 3
    named = {
        "fisherprojection": FisherProjection().fit(X, y),
        "cca": CCA(2).fit(X, X[:, :2] + y[:, None]),
        "kernelcca": KernelCCA(2, reg=0.1).fit(X, X[:, :2] + y[:, None]),
        "classicalmds": ClassicalMDS(2).fit(X),
        "truncatedsvd": TruncatedSVD(2, random_state=0).fit(X),
    }
    for name, model in named.items():
        assert list(model.get_feature_names_out()) == [f"{name}0", f"{name}1"]


def test_more_truncated_directions_than_the_rank_are_zero():
    flat = np.outer(np.arange(4.0), [1.0, 2, 2, 0, 0])
    model = TruncatedSVD(4, random_state=0)
    scores = model.fit_transform(flat)
    assert_allclose(model.singular_values_[0], np.sqrt(14) * 3)
    assert_allclose(model.singular_values_[1:], 0, atol=1e-6)
    assert_allclose(np.abs(scores[:, 0]), 3 * np.arange(4))
    assert_allclose(model.inverse_transform(scores), flat, atol=1e-9)


@pytest.mark.parametrize("wrong", [np.ones(4), np.zeros(5), [1.0, 1, 1, 1, -1]])
def test_noises_to_start_from_are_positive_and_one_a_column(wrong):
    with pytest.raises(DataError, match="5 positive numbers"):
        FactorAnalysis(2, noise_variance_init=wrong).fit(X)
    start = FactorAnalysis(2, noise_variance_init=np.full(5, 0.3)).fit(X)
    assert_allclose(start.log_likelihood_, FactorAnalysis(2).fit(X).log_likelihood_, rtol=1e-4)


@pytest.mark.parametrize(
    ("make", "name", "wrong"),
    [
        (lambda: CCA(2).fit(X, X[:, :2] + X[:, 2:4]), "y_weights_", np.ones((3, 2))),
        (lambda: CCA(2).fit(X, X[:, :2] + X[:, 2:4]), "x_loadings_", np.ones((5, 1))),
        (lambda: CCA(2).fit(X, X[:, :2] + X[:, 2:4]), "scale_", np.ones(6)),
        (lambda: ClassicalMDS(2).fit(X), "column_means_", np.ones(39)),
        (lambda: ClassicalMDS(2).fit(X), "eigenvalues_", np.ones(1)),
        (lambda: ClassicalMDS(2).fit(X), "X_fit_", X[:39]),
        (lambda: FisherProjection().fit(X, np.arange(40) % 3), "means_", np.ones((2, 5))),
        (lambda: FisherProjection().fit(X, np.arange(40) % 3), "xbar_", np.ones(4)),
        (lambda: FisherProjection().fit(X, np.arange(40) % 3), "scalings_", np.ones((4, 2))),
    ],
)
def test_files_whose_parts_do_not_fit_are_refused(make, name, wrong, tmp_path):
    model = make()
    save(model, tmp_path / "whole.gnomon")
    load(tmp_path / "whole.gnomon")
    setattr(model, name, wrong)
    save(model, tmp_path / "spoiled.gnomon")
    with pytest.raises(ModelFileError):
        load(tmp_path / "spoiled.gnomon")


def test_evidence_of_a_number_of_axes_is_minkas():
    """The number of axes whose Laplace evidence, written out as in his article, is largest."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 6)) * 2 + rng.normal(size=(60, 6))
    values, n, d = np.linalg.eigvalsh(np.cov(rows.T, bias=True))[::-1], 60, 6
    evidence = []
    for k in range(1, d):
        v = values[k:].mean()
        log = -k * np.log(2) + sum(
            gammaln((d - i + 1) / 2) - (d - i + 1) / 2 * np.log(np.pi) for i in range(1, k + 1)
        )
        log += -n / 2 * np.log(values[:k]).sum() - n * (d - k) / 2 * np.log(v)
        log += (d * k - k * (k + 1) / 2 + k) / 2 * np.log(2 * np.pi) - k / 2 * np.log(n)
        hat = np.r_[values[:k], np.full(d - k, v)]
        for i in range(k):
            for j in range(i + 1, d):
                log -= 0.5 * (np.log(1 / hat[j] - 1 / hat[i]) + np.log(values[i] - values[j]) + np.log(n))
        evidence.append(log)
    assert PCA("mle").fit(rows).n_components_ == 1 + int(np.argmax(evidence))


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_criteria_are_densities_priced_by_free_numbers(criterion):
    """Among the numbers of axes below the number of columns, by the density of probabilistic PCA written out."""
    chosen = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(20, 4)) * np.r_[np.full(seed % 4, 2.5), np.ones(4 - seed % 4)] + 2.0
        values, vectors = np.linalg.eigh(np.cov(rows.T, bias=True))
        values, vectors = values[::-1], vectors[:, ::-1]
        prices = []
        for k in range(1, 4):
            noise = values[k:].mean()
            C = vectors[:, :k] * (values[:k] - noise) @ vectors[:, :k].T + noise * np.eye(4)
            fit = stats.multivariate_normal(rows.mean(axis=0), C).logpdf(rows).sum()
            free = 4 + (4 * k - k * (k - 1) // 2) + 1  # mean, loadings up to a turn, noise
            prices.append((np.log(20) if criterion == "bic" else 2) * free - 2 * fit)
        chosen.append(1 + int(np.argmin(prices)))
        assert len(ProbabilisticPCA(criterion).fit(rows).components_) == chosen[-1]
        if criterion == "bic":
            assert PCA("bic").fit(rows).n_components_ == chosen[-1]
    assert set(chosen) == {1, 2, 3}
