"""Labelled and unlabelled rows together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.bayes import BayesClassifier, SemiSupervisedBayes
from gnomon.distributions import Gaussian
from gnomon.mixture import GaussianMixture


def blobs(seed=0, n=400, d=2, gap=3.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, d)) + gap * np.array([[0, 0], [1, 0], [0, 1]])[y][:, :d], y


def hidden(y, seed, share=0.9):
    shown = y.copy()
    shown[np.random.default_rng(seed).random(len(y)) < share] = -1
    shown[[int(np.flatnonzero(y == k)[j]) for k in range(3) for j in range(3)]] = np.repeat(range(3), 3)
    return shown


@pytest.mark.parametrize("family", ["gaussian", "laplace", Gaussian(covariance_type="full")])
def test_with_every_label_known_it_is_the_plug_in_classifier(family):
    X, y = blobs()
    ours, plain = SemiSupervisedBayes(family).fit(X, y), BayesClassifier(family).fit(X, y)
    assert ours.n_iter_ == 1
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X), rtol=1e-10, atol=1e-300)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), share=st.floats(0.1, 0.95))
def test_the_likelihood_never_falls(seed, share):
    X, y = blobs(seed, n=120)
    trace = SemiSupervisedBayes(max_iter=30, tol=0).fit(X, hidden(y, seed, share)).trace_.objective
    assert np.all(np.diff(trace) >= -1e-9 * np.abs(trace[:-1]))


def test_it_is_the_mixture_with_those_labels():
    X, y = blobs()
    shown = hidden(y, 1)
    ours = SemiSupervisedBayes(Gaussian(covariance_type="diag"), tol=1e-14, max_iter=2000).fit(X, shown)
    theirs = GaussianMixture(
        3, covariance_type="diag", tol=1e-13, max_iter=2000, reg_covar=0.0, random_state=0
    )
    theirs.fit(X, labels=shown)
    np.testing.assert_allclose(ours.family_.means, theirs.means_, atol=1e-5)
    np.testing.assert_allclose(ours.class_prior_, theirs.weights_, atol=1e-5)


def test_unlabelled_rows_help_where_the_family_is_right():
    X, y = blobs(3, n=2000, gap=2.5)
    shown = hidden(y, 3, share=1.0)  # three labels a class
    known = shown >= 0
    alone = BayesClassifier().fit(X[known], y[known]).score(X, y)
    together = SemiSupervisedBayes().fit(X, shown).score(X, y)
    best = BayesClassifier().fit(X, y).score(X, y)
    assert together > alone + 0.02
    assert together > best - 0.01


def test_string_labels_and_another_word_for_none():
    X, y = blobs()
    words = np.array(["a", "b", "c"])[y].astype(object)
    words[10:] = np.where(np.arange(len(y) - 10) % 3 == 0, words[10:], "?")
    model = SemiSupervisedBayes(missing="?").fit(X, words)
    assert model.classes_.tolist() == ["a", "b", "c"]
    numbers = np.where(words == "?", -1, y)
    np.testing.assert_array_equal(
        model.predict_proba(X), SemiSupervisedBayes().fit(X, numbers.astype(int)).predict_proba(X)
    )


def test_minus_one_beside_a_single_other_label_is_a_label():
    X, y = blobs()
    sign = np.where(y == 0, -1, 1)
    model = SemiSupervisedBayes().fit(X, sign)
    assert model.classes_.tolist() == [-1, 1]
    np.testing.assert_allclose(model.predict_proba(X), BayesClassifier().fit(X, sign).predict_proba(X))


def test_from_parquet_as_in_memory(tmp_path):
    import polars as pl

    X, y = blobs()
    shown = hidden(y, 2)
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": shown}).write_parquet(tmp_path / "t.parquet")
    ours = SemiSupervisedBayes().fit(X, shown)
    filed = SemiSupervisedBayes().fit(tmp_path / "t.parquet", "y")
    assert filed.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(filed.family_.means, ours.family_.means, rtol=1e-10)
