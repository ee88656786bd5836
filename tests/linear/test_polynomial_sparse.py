"""Polynomial features of sparse rows."""

import numpy as np
import pytest
from scipy import sparse

from gnomon.linear import PolynomialFeatures

OPTIONS = [
    {"degree": 3},
    {"degree": (2, 4), "include_bias": False},
    {"degree": 3, "interaction_only": True},
    {"degree": 3, "cross_terms": False},
    {"degree": 3, "scaling": "kernel", "coef0": 0.5},
    {"degree": 2, "scaling": "quadratic-form"},
    {"degree": 0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_give_the_columns_of_dense_ones(options, form, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(30, 5)) * (rng.random((30, 5)) < 0.4)).astype(dtype)
    X[:, 3] = 0.0
    model = PolynomialFeatures(**options)
    dense, given = model.fit_transform(X), form(X)
    found = model.fit_transform(given)
    assert found.format == ("csc" if given.format == "csc" else "csr") and found.dtype == dtype
    assert isinstance(found, sparse.spmatrix) == isinstance(given, sparse.spmatrix)
    assert found.nnz == np.count_nonzero(dense)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-6 if dtype == np.float32 else 1e-14)
    np.testing.assert_array_equal(given.toarray(), X)


def test_entries_that_occur_twice_are_summed_first():
    X = sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    found = PolynomialFeatures(2, include_bias=False).fit_transform(X).toarray()
    np.testing.assert_array_equal(found, [[3, 0, 9, 0, 0], [0, 4, 0, 0, 16]])


def test_no_product_of_more_columns_than_there_are():
    model = PolynomialFeatures((3, 3), interaction_only=True, include_bias=False)
    assert model.fit_transform(np.ones((4, 2))).shape == (4, 0)
    assert model.fit_transform(sparse.csr_array(np.ones((4, 2)))).shape == (4, 0)


def test_products_that_overflow_are_told():
    X = sparse.csr_array([[1e200, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="new column 3 overflows"):
        PolynomialFeatures(2).fit_transform(X)


@pytest.mark.parametrize("degree", [(0, 1.5), (3, 2), (-1, 2), (1, 2, 3)])
def test_degrees_are_two_integers_in_order(degree):
    with pytest.raises(ValueError, match="0 <= low <= high"):
        PolynomialFeatures(degree).fit([[1.0], [2.0]])


@pytest.mark.parametrize("options", [{}, {"interaction_only": True}])
def test_more_columns_than_can_be_held_are_refused(options):
    X = sparse.csr_array(([1.0], ([0], [99_999])), shape=(1, 100_000))
    with pytest.raises(ValueError, match="columns would come out of 100000"):
        PolynomialFeatures(2, **options).fit(X)
    wide = PolynomialFeatures(20, interaction_only=True).fit(np.ones((1, 10)))
    assert wide.n_output_features_ == 2**10


@pytest.mark.parametrize("options", [*OPTIONS, {"degree": 5, "order": "F"}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_column_is_the_product_of_its_factors(options, dtype):
    X = np.random.default_rng(0).normal(size=(20, 4)).astype(dtype)
    model = PolynomialFeatures(**options)
    found = model.fit_transform(X)
    plain = np.array([[np.prod(row[None] ** power, dtype=dtype) for power in model.powers_] for row in X])
    if model.scaling is None:
        factor = 1.0
    else:
        ones = np.ones((1, 4))
        factor = model.transform(ones)
    assert found.dtype == dtype
    assert found == pytest.approx(plain * factor, rel=1e-5 if dtype == np.float32 else 1e-13)
