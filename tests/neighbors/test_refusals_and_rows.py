"""What neighbors refuse, rows of sparse matrices by plain differences, and spreads of smoothed answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from gnomon import load, save
from gnomon.core.errors import DataError, ModelFileError
from gnomon.neighbors import KernelRegressor, KNeighborsClassifier, NearestNeighbors

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(30, 4)) * (RNG.random((30, 4)) < 0.6), 3)


def test_sorting_needs_distances():
    model = NearestNeighbors().fit(X)
    with pytest.raises(ValueError, match="return_distance must be True"):
        model.radius_neighbors(X, 1.0, return_distance=False, sort_results=True)
    assert len(model.radius_neighbors(X, 1.0, return_distance=False)) == 30


def test_no_words_are_refused():
    with pytest.raises(DataError, match="X is empty"):
        NearestNeighbors(metric="edit").fit([])


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
def test_distances_of_sparse_rows_are_plain_differences(metric):
    far = X + 50.0 * (X != 0)  # entries so far from zero that squares of differences cancel
    for rows in (X, far):
        Q, R = rows[:10], np.vstack([rows[5:], rows[:1] * (1 + 1e-9)])
        model = NearestNeighbors(n_neighbors=len(R), metric=metric, algorithm="brute").fit(
            sparse.csr_array(R)
        )
        distances, places = model.kneighbors(sparse.csr_array(Q))
        for i, q in enumerate(Q):
            for d, j in zip(distances[i], places[i], strict=True):
                r = R[j]
                if metric == "cosine":
                    lengths = np.linalg.norm(q) * np.linalg.norm(r)
                    both_empty = not q.any() and not r.any()
                    expected = (0.0 if both_empty else 1.0) if lengths == 0 else 1.0 - q @ r / lengths
                else:
                    expected = ((q - r) ** 2).sum() if metric == "sqeuclidean" else np.linalg.norm(q - r)
                assert d == pytest.approx(expected, rel=1e-9, abs=1e-12 if metric != "cosine" else 1e-9)


def test_spreads_of_smoothed_answers_are_those_of_the_weights():
    y = np.column_stack([X[:, 0] + 3.0, RNG.normal(size=30)])
    model = KernelRegressor(gamma=0.7).fit(X, y)
    mean, spread = model.predict(X[:5], return_std=True)
    for i in range(5):
        weight = np.exp(-0.7 * ((X - X[i]) ** 2).sum(axis=1))
        weight /= weight.sum()
        assert_allclose(mean[i], weight @ y, rtol=1e-9)
        assert_allclose(spread[i] ** 2, weight @ (y - weight @ y) ** 2, rtol=1e-9)


def test_answers_are_nan_where_one_row_is_out_of_reach():
    model = KernelRegressor(kernel="epanechnikov", gamma=1.0).fit(X, np.column_stack([X[:, 0], X[:, 1]]))
    with pytest.warns(UserWarning, match=r"1 of 2 rows have no training row in reach \(row 1 first\)"):
        mean = model.predict(np.vstack([X[:1], X[:1] + 1e3]))
    assert np.isfinite(mean[0]).all() and np.isnan(mean[1]).all()


@pytest.mark.parametrize("spoiled", [-1, 2])
def test_codes_of_classes_outside_their_range_are_refused(tmp_path, spoiled):
    model = KNeighborsClassifier().fit(X, np.arange(30) % 2)
    found = [name for name, value in vars(model).items()
             if isinstance(value, np.ndarray) and value.shape == (30,) and value.dtype.kind == "i"]  # fmt: skip
    assert found
    for name in found:
        codes = getattr(model, name).copy()
        codes[3] = spoiled
        setattr(model, name, codes)
    save(model, tmp_path / "model.gnomon")
    with pytest.raises(ModelFileError, match="do not fit its rows and classes"):
        load(tmp_path / "model.gnomon")
