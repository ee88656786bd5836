"""What every column says of a class, what is drawn from the classes, and tables made of parts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.bayes import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    JointTable,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from gnomon.core.errors import ModelFileError
from gnomon.core.saving import load, save

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], [10, 20, 30])
NUMBERS = RNG.normal(size=(60, 3)) + Y[:, None] * [1.0, -1.0, 0.0]
CODES = (RNG.random((60, 3)) < 0.3 + 0.2 * Y[:, None]).astype(float) + (RNG.random((60, 3)) < 0.3)


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (GaussianNB(), NUMBERS),
        (CategoricalNB(), CODES),
        (MultinomialNB(), CODES),
        (BernoulliNB(), np.minimum(CODES, 1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_columns_add_up_to_the_log_odds(model, X):
    found = model.fit(X, Y)
    logs = found.predict_log_proba(X)
    told = found.explain(X)
    assert told.shape == (60, 3, 3)
    assert_allclose(told[:, 0], 0)
    base = np.log(np.array([10, 20, 30]) / 10)
    if isinstance(model, BernoulliNB):  # zeros speak too, in the offset
        base = base + found._offsets_ - found._offsets_[0]
    assert_allclose(told.sum(axis=2) + base, logs - logs[:, :1], atol=1e-9)


@pytest.mark.parametrize(
    ("model", "X"), [(GaussianNB(), NUMBERS), (CategoricalNB(), CODES)], ids=["numbers", "codes"]
)
def test_a_missing_column_says_nothing(model, X):
    holes = X.copy()
    holes[:5, 1] = np.nan
    told, whole = model.fit(X, Y).explain(holes), model.explain(X)
    assert_allclose(told[:5, :, 1], 0)
    assert_allclose(told[:5][:, :, [0, 2]], whole[:5][:, :, [0, 2]])
    if isinstance(model, CategoricalNB):
        assert_allclose(model.explain(np.full((1, 3), 9.0)), 0)  # a code that was never seen
        assert np.abs(model.explain(X)[:, 1:]).max() > 0.1


def test_draws_of_a_linear_discriminant():
    model = LinearDiscriminantAnalysis().fit(NUMBERS, np.array(["a", "b", "c"])[Y])
    X, y = model.sample(60_000, 0)
    assert_allclose([(y == name).mean() for name in "abc"], model.priors_, atol=0.01)
    for k, name in enumerate("abc"):
        assert_allclose(X[y == name].mean(axis=0), model.means_[k], atol=0.05)
        assert_allclose(np.cov(X[y == name].T), model.covariance_, atol=0.06)


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_shrunk_covariances_of_classes_lean_to_balls(share):
    plain = QuadraticDiscriminantAnalysis(solver="eigen").fit(NUMBERS, Y).covariance_
    found = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=share).fit(NUMBERS, Y).covariance_
    for C, shrunk in zip(plain, found, strict=True):
        ratio = shrunk / ((1 - share) * C + share * np.trace(C) / 3 * np.eye(3))
        assert_allclose(ratio[0, 0], np.diagonal(ratio))
        off = ~np.eye(3, dtype=bool)
        if share < 1:
            assert_allclose(ratio[off], ratio[0, 0])
        else:
            assert_allclose(shrunk[off], 0, atol=1e-12)


def test_tables_of_a_prior_and_conditionals():
    a, b = np.array([[0.1, 0.9], [0.4, 0.6]]), np.array([[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]])
    table = JointTable.from_factors([0.3, 0.7], a, b, axes=["h", "a", "b"])
    expected = np.einsum("h,ha,hb->hab", [0.3, 0.7], a, b)
    assert_allclose(np.asarray(table), expected)
    assert np.asarray(table, dtype=np.float32).dtype == np.float32
    assert repr(table) == "JointTable(h[2] × a[2] × b[3])"
    assert table.marginal("b").axes == ["b"]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("n_categories_", [9, 1, 1]), ("class_log_prior_", [0.0, 0.0]), ("_tables_", np.zeros((2, 3, 3)))],
)
def test_files_whose_tables_do_not_fit_are_refused(name, wrong, tmp_path):
    model = CategoricalNB().fit(CODES, Y)
    save(model, tmp_path / "whole.gnomon")
    assert_allclose(load(tmp_path / "whole.gnomon").predict_proba(CODES), model.predict_proba(CODES))
    setattr(model, name, np.asarray(wrong))
    save(model, tmp_path / "spoiled.gnomon")
    with pytest.raises(ModelFileError):
        load(tmp_path / "spoiled.gnomon")
