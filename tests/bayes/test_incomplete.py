"""Normal classes whose rows have holes, and covariances shrunk elsewhere."""

import warnings

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from gnomon.bayes import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from gnomon.core.errors import DataError

BOTH = [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]


def three_classes(seed=0, n=150, share=0.15):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 3)) @ np.array([[1.0, 0.7, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]])
    X += np.array([[0, 0, 0], [5, 2, 0], [-5, 0, 2]])[y]
    holes = X.copy()
    holes[rng.random(X.shape) < share] = np.nan
    return X, holes, y


def test_two_columns_by_regression():
    """One column is complete: what is known of the other is its regression, in closed form."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    z = 2.0 * x + rng.normal(size=60)
    z[40:] = np.nan
    X, y = np.stack([x, z], axis=1), np.repeat([0, 1], [60, 3])
    X = np.vstack([X, [[5.0, 5.0], [6.0, 4.0], [4.0, 7.0]]])
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    slope = np.cov(x[:40], z[:40], ddof=0)[0, 1] / x[:40].var()
    mean = z[:40].mean() + slope * (x.mean() - x[:40].mean())
    rest = z[:40].var() - slope**2 * x[:40].var()
    np.testing.assert_allclose(model.means_[0], [x.mean(), mean], rtol=1e-6)
    np.testing.assert_allclose(model.covariance_[0][1, 1], rest + slope**2 * x.var(), rtol=1e-6)


@pytest.mark.parametrize("kind", BOTH)
def test_few_holes_change_little_and_order_and_repetition_nothing(kind):
    X, holes, y = three_classes()
    model = kind().fit(holes, y)
    assert model.score(holes, y) > 0.9 and abs(model.score(X, y) - kind().fit(X, y).score(X, y)) < 0.05
    turn = np.random.default_rng(2).permutation(len(y))
    again = kind().fit(np.repeat(holes[turn], 2, axis=0), np.repeat(y[turn], 2))
    np.testing.assert_allclose(again.predict_proba(holes), model.predict_proba(holes), atol=1e-6)
    twice = kind().fit(holes, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(twice.means_, model.means_, atol=1e-7)


@pytest.mark.parametrize("kind", BOTH)
def test_covariances_of_rows_with_holes_settle(kind):
    _, holes, y = three_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind().fit(holes, y)


@pytest.mark.parametrize("kind", BOTH)
def test_a_missing_entry_is_integrated_out(kind):
    X, _, y = three_classes()
    model, row = kind().fit(X, y), X[:1].copy()
    row[0, 1] = np.nan
    means, covariances = model.means_, np.broadcast_to(np.array(model.covariance_), (3, 3, 3))
    logs = []
    for mean, C, p in zip(means, covariances, model.priors_, strict=True):
        known = np.array([0, 2])
        gap, D = row[0, known] - mean[known], C[np.ix_(known, known)]
        logs.append(np.log(p) - 0.5 * (gap @ np.linalg.solve(D, gap) + np.linalg.slogdet(D)[1]))
    expected = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(model.predict_proba(row)[0], expected, rtol=1e-9)


def test_a_row_with_holes_lies_at_its_expected_place():
    X, _, y = three_classes()
    model, row = LinearDiscriminantAnalysis().fit(X, y), X[:1].copy()
    row[0, 1] = np.nan
    C, known = model.covariance_, np.array([0, 2])
    guess = [
        m[1] + C[1, known] @ np.linalg.solve(C[np.ix_(known, known)], row[0, known] - m[known])
        for m in model.means_
    ]
    filled = X[:1].copy()
    filled[0, 1] = model.predict_proba(row)[0] @ guess
    np.testing.assert_allclose(model.transform(row), model.transform(filled), rtol=1e-9)


def test_what_needs_complete_rows_says_so():
    X, holes, y = three_classes()
    model = LinearDiscriminantAnalysis().fit(holes, y)
    with pytest.raises(DataError, match="complete rows"):
        model.partial_fit(holes, y)
    with pytest.raises(DataError, match="complete rows"):
        LinearDiscriminantAnalysis(shrinkage="auto").fit(holes, y)
    with pytest.raises(DataError, match="at once"):
        LinearDiscriminantAnalysis(shrinkage="auto").partial_fit(X, y, classes=[0, 1, 2])
    empty = holes.copy()
    empty[y == 1, 2] = np.nan
    with pytest.raises(DataError, match="class number 1 has no observed entry in column 2"):
        QuadraticDiscriminantAnalysis().fit(empty, y)


@pytest.mark.parity
@pytest.mark.parametrize("options", [{"shrinkage": "auto"}, {"covariance_estimator": LedoitWolf()}], ids=str)
def test_shrunk_covariances_are_those_of_scikit_learn(options):
    import sklearn.discriminant_analysis as theirs

    X, _, y = three_classes(3)
    for kind in BOTH:
        solver = "eigen"
        ours = kind(solver=solver, **options).fit(X, y)
        other = getattr(theirs, kind.__name__)(solver=solver, **options).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-8)


def test_only_one_way_to_shrink():
    X, _, y = three_classes()
    with pytest.raises(ValueError, match="Only one of the two"):
        LinearDiscriminantAnalysis(shrinkage=0.1, covariance_estimator=LedoitWolf()).fit(X, y)


def test_priors_are_a_copy_and_axes_are_told():
    X, _, y = three_classes()
    priors = np.full(3, 1 / 3)
    model = QuadraticDiscriminantAnalysis(priors=priors).fit(X, y)
    priors[0] = 9.0
    assert model.priors_[0] == pytest.approx(1 / 3)
    for C, turn, variances in zip(model.covariance_, model.rotations_, model.scalings_, strict=True):
        np.testing.assert_allclose((turn * variances) @ turn.T, C, atol=1e-12)


def test_single_precision_stays():
    X, _, y = three_classes()
    model = LinearDiscriminantAnalysis().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    assert LinearDiscriminantAnalysis().fit(X, y).coef_.dtype == np.float64


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("unit", [2.0**-12, 2.0**12])
def test_units_of_rows_with_holes_do_not_matter(kind, unit):
    _, holes, y = three_classes()
    plain = kind().fit(holes, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = kind().fit(unit * holes, y)
    np.testing.assert_allclose(scaled.means_ / unit, plain.means_, rtol=1e-10)
    np.testing.assert_allclose(scaled.predict_proba(unit * holes), plain.predict_proba(holes), atol=1e-9)
