"""What tables, tests in sequence, discriminants, counts and entropies refuse, and what lies just inside."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from gnomon.bayes import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    IncrementalBayes,
    JointTable,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    maximum_entropy,
)

COUNTS, THREE = np.array([[1.0, 0, 2], [0, 3, 1], [2, 1, 0], [1, 1, 1]]), [0, 1, 2, 0]
ROWS = np.array([[0.0, 1.0], [1.0, 0.5], [3.0, 2.0], [5.0, 2.5], [0.5, 0.0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JointTable(1.0), "at least one axis"),
        (lambda: JointTable([[0.5, 0.5]], levels=[["a"], ["b"]]), "outcomes of every axis"),
        (lambda: JointTable([[0.5, 0.5]], levels=[["a", "b"], ["c"]]), "outcomes of every axis"),
        (lambda: JointTable.from_counts([[0, 0]]), "not all zero"),
        (lambda: JointTable.from_counts([[2, -1]]), "must not be negative"),
        (lambda: JointTable.from_counts([[2, np.nan]]), "NaN"),
        (lambda: JointTable([[0.5, 0.5]]).decisions("risk"), "with a loss matrix"),
        (lambda: JointTable([[0.5, 0.5]]).decisions("most"), "rule must be"),
        (lambda: JointTable([0.5, 0.5]).plot(), "two variables"),
        (lambda: JointTable(np.full((2, 2, 2), 0.125)).plot(), "two variables"),
        (lambda: IncrementalBayes([0.5, 0.5], [[0.5, 0.5]]), "must agree; got 2, 1, 2"),
        (lambda: IncrementalBayes([0.5, 0.5], [[0.5, 0.5]] * 2, names=["a"]), "must agree; got 2, 2, 1"),
        (lambda: maximum_entropy([1, 2, 3], [2.0], prior=[0.5, 0.5]), "prior has 2 states and features have 3"),
        (lambda: maximum_entropy([1, 2, 3], [2.0], solver="newtn"), "Did you mean 'newton'"),
        (lambda: MultinomialNB().fit(COUNTS, THREE).log_odds_weights(), "this model has 3"),
        (lambda: BernoulliNB(binarize=-1.0).fit(sparse.csr_array(COUNTS), THREE), "negative threshold"),
        (lambda: CategoricalNB().fit([[0, np.nan], [1, np.nan]], [0, 1]), "column 1 of X has no observed entry"),
        (lambda: CategoricalNB().fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1]), "Negative values"),
        (lambda: GaussianNB().fit([[0, np.nan], [1, np.nan], [2, np.nan]], [0, 1, 1]), "column 1 has no observed"),
        (lambda: LinearDiscriminantAnalysis().fit([[1.0], [1.0], [2.0], [2.0]], [0, 0, 1, 1]), "do not vary"),
        (lambda: LinearDiscriminantAnalysis(n_components=2).fit(ROWS, [0, 0, 1, 1, 0]), "got 2"),
        (lambda: LinearDiscriminantAnalysis().fit(ROWS[:2], [0, 1]), "2 rows of 2 classes"),
        (lambda: QuadraticDiscriminantAnalysis().fit(ROWS, [1] * 5), "greater than one"),
    ],
)  # fmt: skip
def test_what_is_refused_is_told(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_lies_just_inside_is_taken():
    table = JointTable.from_counts([[0, 1], [0, 0]], levels=[["a", "b"], ["c", "d"]])
    assert_allclose(table.P, [[0, 1], [0, 0]])
    assert_allclose(JointTable.from_counts([[0, 0]], pseudo_count=2).P, [[0.5, 0.5]])
    dense = BernoulliNB(binarize=0.0).fit(COUNTS, THREE)
    thin = BernoulliNB(binarize=0.0).fit(sparse.csr_array(COUNTS), THREE)
    assert_allclose(dense.feature_log_prob_, thin.feature_log_prob_)
    assert_allclose(thin.predict_proba(sparse.csr_array(COUNTS)), dense.predict_proba(COUNTS))
    with pytest.raises(NotImplementedError, match="cannot sample"):
        MultinomialNB().fit(COUNTS, THREE).sample(3)
    three = LinearDiscriminantAnalysis(n_components=1).fit(ROWS, [0, 0, 1, 1, 0])
    assert three.transform(ROWS).shape == (5, 1)
    assert LinearDiscriminantAnalysis().fit(ROWS[[0, 1, 4, 3]], [0, 0, 0, 1]).priors_ == pytest.approx(
        [0.75, 0.25]
    )


def test_codes_between_whole_numbers_are_cut():
    X = np.array([[0.9, 1.0], [1.2, 0.0], [2.0, 1.99], [1.0, 0.3]])
    with pytest.warns(UserWarning, match="cut to whole numbers"):
        cut = CategoricalNB().fit(X, [0, 1, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # whole numbers are no reason to warn
        whole = CategoricalNB().fit(np.floor(X), [0, 1, 0, 1])
    for one, two in zip(cut.feature_log_prob_, whole.feature_log_prob_, strict=True):
        assert_allclose(one, two)


def test_log_odds_are_linear_in_counts():
    y = np.array([0, 1, 1, 0])
    model = MultinomialNB().fit(COUNTS, y)
    weights, offset = model.log_odds_weights()
    theta = np.array([COUNTS[y == k].sum(axis=0) + 1 for k in (0, 1)])
    theta /= theta.sum(axis=1, keepdims=True)
    assert_allclose(weights, np.log(theta[1] / theta[0]))
    assert offset == pytest.approx(0.0)  # the classes are as frequent
    P = model.predict_proba(COUNTS)
    assert_allclose(COUNTS @ weights + offset, np.log(P[:, 1] / P[:, 0]))
    assert_allclose(model.explain(COUNTS)[:, 1], COUNTS * weights)


def test_a_single_column_has_one_axis_less_than_three_classes_want():
    X, y = np.array([[0.0], [1.0], [4.0], [5.0], [9.0], [10.5]]), [0, 0, 1, 1, 2, 2]
    assert LinearDiscriminantAnalysis(n_components=1).fit(X, y).transform(X).shape == (6, 1)
    with pytest.raises(ValueError, match="n_components"):
        LinearDiscriminantAnalysis(n_components=2).fit(X, y)
