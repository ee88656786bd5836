"""The aspect model: hand-computed step, margins, rank, transposition."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import gnomon
from gnomon.core.errors import DataError, ModelFileError
from gnomon.mixture import AspectModel

COUNTS = np.array([[4, 1, 0], [3, 2, 1], [0, 1, 5]], dtype=float)
START = (
    np.array([0.5, 0.5]),
    np.array([[0.4, 0.4, 0.2], [0.3, 0.3, 0.4]]),
    np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]),
)


def states(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(model.iterate(X))


def test_one_step_by_hand():
    seen = states(AspectModel(2, init=START, tol=0, max_iter=2), COUNTS)
    assert_allclose(seen[-1].trace_.objective, [-36.2150170, -34.1793277], atol=1e-6)
    one = seen[1]
    assert_allclose(one.weights_[0], 0.5066702, atol=1e-6)
    assert_allclose(one.components_[0], [0.6251445, 0.2377250, 0.1371305], atol=1e-6)
    assert_allclose(one.document_given_topic_[0], [0.4235673, 0.4409848, 0.1354480], atol=1e-6)
    assert_allclose(one.topic_given_word_[:, 0], [0.7692308, 0.5119048, 0.1968599], atol=1e-6)


def test_limit():
    model = AspectModel(2, init=START, tol=1e-15, max_iter=20000).fit(COUNTS)
    assert_allclose(model.log_likelihood_, -30.0631657, atol=1e-6)
    assert_allclose(model.weights_[0], 0.5705082, atol=1e-5)
    assert_allclose(model.components_, [[0.7217507, 0.2782493, 0], [0, 0.1782354, 0.8217646]], atol=1e-5)


def test_one_topic_is_the_product_of_margins():
    model = AspectModel(1, random_state=0).fit(COUNTS)
    assert_allclose(model.log_likelihood_, -36.8638452, atol=1e-6)
    P = COUNTS / COUNTS.sum()
    assert_allclose(model.joint_table(), np.outer(P.sum(axis=1), P.sum(axis=0)), rtol=1e-9)


def test_likelihood_margins_and_rank():
    X = np.random.default_rng(0).poisson(1.5, (12, 9)).astype(float)
    P = X / X.sum()
    for model in states(AspectModel(3, random_state=0, tol=0, max_iter=15), X)[1:]:
        table = model.joint_table()
        assert_allclose(table.sum(axis=0), P.sum(axis=0), rtol=1e-9)
        assert_allclose(table.sum(axis=1), P.sum(axis=1), rtol=1e-9)
        assert np.linalg.matrix_rank(table) <= 3
    assert np.all(np.diff(model.trace_.objective) >= -1e-9)
    assert_allclose(model.topic_given_document_.sum(axis=1), 1)


def test_transposed_counts_give_the_transposed_model():
    weights, documents, words = START
    a = AspectModel(2, init=START, tol=0, max_iter=10).fit(COUNTS)
    b = AspectModel(2, init=(weights, words, documents), tol=0, max_iter=10).fit(COUNTS.T)
    assert_allclose(a.joint_table(), b.joint_table().T, rtol=1e-12)


def test_sparse_equals_dense_and_fold_in_is_stationary():
    X = np.random.default_rng(0).poisson(1.0, (12, 9)).astype(float)
    options = dict(random_state=0, tol=1e-13, max_iter=5000)
    a, b = AspectModel(2, **options).fit(X), AspectModel(2, **options).fit(csr_array(X))
    assert_allclose(a.components_, b.components_, rtol=1e-12)
    assert_allclose(a.fold_in(X, max_iter=5000, tol=1e-14), a.topic_given_document_, atol=1e-4)


def test_empty_documents_are_named():
    X = np.vstack([COUNTS, np.zeros(3)])
    with pytest.raises(DataError, match="document 3"):
        AspectModel(2, drop_empty=False).fit(X)
    assert np.all(np.isfinite(AspectModel(2, random_state=0).fit(X).transform(X)))


@pytest.mark.parametrize("name", ["weights_", "components_"])
def test_a_file_whose_tables_do_not_fit_is_refused(tmp_path, name):
    model = AspectModel(2, random_state=0).fit(COUNTS)
    setattr(model, name, getattr(model, name)[..., :-1])
    gnomon.save(model, tmp_path / "topics")
    with pytest.raises(ModelFileError, match="does not fit the rest"):
        gnomon.load(tmp_path / "topics")
