"""The cross-validated logistic regression: what is chosen, what is told of the folds, and folds that lack a class."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from gnomon.core.saving import load, save
from gnomon.linear import LogisticRegression, LogisticRegressionCV

CS, RATIOS = [0.01, 0.1, 1.0], [0.0, 0.5]


def table(n_classes=3, n=90):
    return make_classification(
        n, 5, n_informative=4, n_redundant=0, n_classes=n_classes, class_sep=0.7, random_state=0
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_paths_scores_and_choice_are_those_of_plain_fits(n_classes):
    X, y = table(n_classes)
    folds = list(StratifiedKFold(3).split(X, y))
    options = {"tol": 1e-9, "max_iter": 500}
    model = LogisticRegressionCV(Cs=CS, l1_ratios=RATIOS, cv=folds, scoring="neg_log_loss", **options).fit(
        X, y
    )
    outputs = 1 if n_classes == 2 else n_classes
    assert model.coefs_paths_.shape == (3, 2, 3, outputs, 6)
    assert model.scores_.shape == model.n_iter_.shape == (3, 2, 3)
    for f, (train, test) in enumerate(folds):
        for i, ratio in enumerate(RATIOS):
            for j, C in enumerate(CS):
                plain = LogisticRegression(C=C, l1_ratio=ratio, **options).fit(X[train], y[train])
                found = np.column_stack([plain.coef_, plain.intercept_])
                np.testing.assert_allclose(model.coefs_paths_[f, i, j], found, atol=1e-5)
                loss = log_loss(y[test], plain.predict_proba(X[test]))
                np.testing.assert_allclose(-model.scores_[f, i, j], loss, rtol=1e-5)
    best = np.unravel_index(model.scores_.mean(axis=0).argmax(), (2, 3))
    assert (model.l1_ratio_, model.C_) == (RATIOS[best[0]], CS[best[1]])
    whole = LogisticRegression(C=model.C_, l1_ratio=model.l1_ratio_, **options).fit(X, y)
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-6)
    assert model.score(X, y) == pytest.approx(-log_loss(y, whole.predict_proba(X)), rel=1e-6)


def test_without_a_refit_the_best_models_of_the_folds_are_averaged():
    X, y = table()
    model = LogisticRegressionCV(Cs=CS, l1_ratios=RATIOS, cv=3, refit=False).fit(X, y)
    tables, Cs, ratios = [], [], []
    for paths, scores in zip(model.coefs_paths_, model.scores_, strict=True):
        j, i = np.unravel_index(scores.T.argmax(), (3, 2))  # of equals the smallest C
        tables.append(paths[i, j])
        Cs.append(CS[j])
        ratios.append(RATIOS[i])
    np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), np.mean(tables, axis=0))
    assert model.C_ == pytest.approx(np.mean(Cs)) and model.l1_ratio_ == pytest.approx(np.mean(ratios))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("ratios", [None, RATIOS])
def test_legacy_attributes_are_the_same_numbers_by_class(n_classes, ratios, tmp_path):
    X, y = table(n_classes)
    y = np.array(["a", "b", "c"])[y]
    new = LogisticRegressionCV(Cs=CS, l1_ratios=ratios, cv=3).fit(X, y)
    old = LogisticRegressionCV(Cs=CS, l1_ratios=ratios, cv=3, use_legacy_attributes=True).fit(X, y)
    known = ["b"] if n_classes == 2 else ["a", "b", "c"]
    assert list(old.scores_) == list(old.coefs_paths_) == known
    np.testing.assert_array_equal(old.C_, [new.C_] * len(known))
    np.testing.assert_array_equal(old.l1_ratio_, [new.l1_ratio_] * len(known))
    last = slice(None) if ratios else 0
    assert old.n_iter_.shape == ((1, 3, 3, 2) if ratios else (1, 3, 3))
    for k, label in enumerate(known):
        scores = np.swapaxes(new.scores_, 1, 2)[:, :, last]
        np.testing.assert_array_equal(old.scores_[label], scores)
        paths = np.swapaxes(new.coefs_paths_[:, :, :, k], 1, 2)[:, :, last]
        np.testing.assert_array_equal(old.coefs_paths_[label], paths)
    save(old, tmp_path / "model.gnomon")
    again = load(tmp_path / "model.gnomon")
    np.testing.assert_array_equal(again.coefs_paths_["b"], old.coefs_paths_["b"])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fold_may_lack_a_class(n_classes):
    X, y = np.arange(2.0 * n_classes)[:, None], np.repeat(np.arange(n_classes), 2)
    options = {"scoring": "neg_brier_score", "Cs": np.logspace(-6, 2, 3), "cv": KFold(n_classes)}
    model = LogisticRegressionCV(**options).fit(X, y)
    assert (
        model.C_ == 1e-6
    )  # the rows held out are of the class that is missing: the less is learned the better
    assert model.coefs_paths_.shape == (n_classes, 1, 3, 1 if n_classes == 2 else 3, 2)
    assert np.isfinite(model.scores_).all()


def test_columns_far_from_zero_have_paths_in_their_own_units():
    X, y = table(2)
    near, far = (LogisticRegressionCV(Cs=CS, cv=3, tol=1e-9, max_iter=500).fit(Z, y) for Z in (X, X + 1e6))
    shift = near.coefs_paths_[..., :-1].sum(axis=-1) * 1e6
    np.testing.assert_allclose(far.coefs_paths_[..., :-1], near.coefs_paths_[..., :-1], atol=1e-6)
    np.testing.assert_allclose(far.coefs_paths_[..., -1] + shift, near.coefs_paths_[..., -1], atol=1e-2)


def test_weights_count_in_the_scores_and_balanced_classes_are_those_of_all_rows():
    X, y = table(2)
    weight = np.random.default_rng(0).integers(1, 4, size=len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    first = np.arange(len(y)) < 45
    split = [(np.flatnonzero(first), np.flatnonzero(~first))]
    again = [(np.flatnonzero(first[repeated]), np.flatnonzero(~first[repeated]))]
    a = LogisticRegressionCV(Cs=CS, cv=split, class_weight="balanced", tol=1e-9).fit(X, y, weight)
    b = LogisticRegressionCV(Cs=CS, cv=again, class_weight="balanced", tol=1e-9).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(a.scores_, b.scores_, atol=1e-12)
    np.testing.assert_allclose(a.coefs_paths_, b.coefs_paths_, atol=1e-6)


def test_what_is_refused():
    X, y = table(2)
    for options, told in [
        ({"penalty": "elasticnet"}, "l1_ratios"),
        ({"l1_ratios": [0.5, 2.0]}, "between 0 and 1"),
        ({"penalty": None}, "nothing to choose"),
        ({"Cs": [0.0, 1.0]}, "above 0"),
    ]:
        with pytest.raises(ValueError, match=told):
            LogisticRegressionCV(**options).fit(X, y)
    l1 = LogisticRegressionCV(Cs=[0.05], penalty="l1", cv=2).fit(X, y)
    np.testing.assert_array_equal(
        l1.coef_ == 0.0, LogisticRegression(C=0.05, l1_ratio=1.0).fit(X, y).coef_ == 0.0
    )
    assert l1.l1_ratio_ == 1.0 and (l1.coef_ == 0.0).any()


def test_sparse_coefficients_answer_as_dense_ones():
    X, y = table()
    model = LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, y)
    scores = model.decision_function(X)
    assert model.sparsify() is model and sparse.issparse(model.coef_)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert isinstance(model.densify().coef_, np.ndarray)
    np.testing.assert_array_equal(model.decision_function(X), scores)


def test_steps_are_told_as_an_array():
    assert LogisticRegression().fit(*table()).n_iter_.shape == (1,)
