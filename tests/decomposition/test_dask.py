"""Rows on a Dask collection give the model of the same rows in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.decomposition import NMF, PCA, FactorAnalysis, ProbabilisticPCA
from gnomon.topics import LatentDirichletAllocation

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")


def rows(n=90, p=5):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + 0.3 * rng.normal(size=(n, p)) + 3.0


@pytest.mark.parametrize("model", [PCA(0.9), PCA("bic"), ProbabilisticPCA(2), FactorAnalysis(1)], ids=repr)
def test_linear_models_from_dask(model):
    X = rows()
    here = type(model)(**model.get_params()).fit(X)
    there = model.fit(da.from_array(X, chunks=(20, 5)))
    assert there.components_.shape == here.components_.shape
    assert_allclose(there.components_, here.components_, atol=1e-6)
    assert_allclose(there.noise_variance_, here.noise_variance_, rtol=1e-6)


def test_nmf_from_dask():
    X = np.abs(rows())
    options = dict(n_components=2, max_iter=500, tol=1e-5)
    here, there = NMF(**options).fit(X), NMF(**options).fit(da.from_array(X, chunks=(20, 5)))
    error = [np.sum((X - m.inverse_transform(m.transform(X))) ** 2) for m in (here, there)]
    assert error[1] <= error[0] * 1.001


@pytest.mark.parametrize("method", ["batch", "online"])
def test_topics_from_dask(method):
    X = np.random.default_rng(0).poisson(2.0, size=(40, 6)).astype(float)
    options = dict(learning_method=method, random_state=0, max_iter=5, batch_size=10)
    exact = dict(mean_change_tol=1e-10, max_doc_update_iter=5000)
    here = LatentDirichletAllocation(2, **options, **exact).fit(X)
    there = LatentDirichletAllocation(2, **options, **exact).fit(da.from_array(X, chunks=(10, 6)))
    assert_allclose(there.components_, here.components_, rtol=1e-5)
