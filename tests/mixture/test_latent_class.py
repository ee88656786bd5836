"""Latent classes of a table against independence and the full table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.bayes import JointTable
from gnomon.mixture import latent_class_test


def two_classes(levels=(2, 3, 2, 2)):
    rng = np.random.default_rng(4)
    table = 0.0
    for weight in (0.35, 0.65):
        part = np.array(weight)
        for k in levels:
            part = np.multiply.outer(part, rng.dirichlet(0.7 * np.ones(k)))
        table = table + part
    return table


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_one_class_is_the_product_of_the_marginals(seed):
    P = np.random.default_rng(seed).dirichlet(np.ones(12)).reshape(2, 3, 2)
    found = latent_class_test(P, 1)
    product = np.einsum("i,j,k->ijk", P.sum((1, 2)), P.sum((0, 2)), P.sum((0, 1)))
    np.testing.assert_allclose(found.table, product, atol=1e-12)
    assert found.relative_entropy == pytest.approx(found.independence, abs=1e-12)
    assert found.relative_entropy == pytest.approx(float((P * np.log(P / product)).sum()), abs=1e-12)
    assert found.gain == pytest.approx(0.0, abs=1e-10)


def test_a_table_of_two_classes_is_found_again():
    P = two_classes()
    found = latent_class_test(P, 2, n=2000)
    assert abs(found.relative_entropy) < 1e-7
    np.testing.assert_allclose(found.table, P, atol=2e-4)
    assert found.n_parameters == 1 + 2 * (1 + 2 + 1 + 1)
    assert found.degrees_of_freedom == 23 - 11
    assert found.p_value > 0.99
    assert latent_class_test(P, 1, n=2000).p_value < 1e-6


def test_more_classes_never_fit_worse():
    P = np.random.default_rng(0).dirichlet(np.ones(16)).reshape(2, 2, 2, 2)
    distances = [latent_class_test(P, k).relative_entropy for k in (1, 2, 3)]
    assert distances[0] > distances[1] > distances[2] > -1e-12


def test_named_tables_and_counts_are_taken():
    counts = np.array([[20.0, 5.0], [4.0, 30.0]])
    named = latent_class_test(JointTable.from_counts(counts), 1, n=counts.sum())
    plain = latent_class_test(counts, 1)
    assert named.misfit == pytest.approx(plain.misfit)
    assert plain.misfit == pytest.approx(2 * counts.sum() * plain.relative_entropy)
    assert plain.degrees_of_freedom == 1


def test_cells_that_never_occur_and_too_many_classes():
    P = np.zeros((3, 3))
    P[0, 0] = P[1, 1] = 0.5  # the third level of both columns is never seen
    found = latent_class_test(P, 4)
    np.testing.assert_allclose(found.table, P, atol=1e-6)
    assert np.isnan(found.p_value)


@pytest.mark.parametrize("bad", [[[-0.1, 0.6], [0.2, 0.3]], [[0.0, 0.0]], [[np.nan, 1.0]]])
def test_what_is_not_a_table_is_refused(bad):
    with pytest.raises(ValueError, match="table must hold probabilities or counts"):
        latent_class_test(bad, 2)
