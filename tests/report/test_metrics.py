"""Metrics: equal to scikit-learn's, and the one that suits the target."""

import numpy as np
import pytest
from sklearn import metrics as theirs

from gnomon.report.columns import QuestionError
from gnomon.report.metrics import AMOUNTS, CLASSES, Answers, choose_metric, positive_class


def answers(k, n=80):
    rng = np.random.default_rng(k)
    classes = np.array(["a", "b", "c"])[:k]
    y = rng.choice(classes, n, p=np.arange(k, 0, -1) / np.arange(1, k + 1).sum())
    P = rng.dirichlet(np.ones(k), n)
    return y, Answers(classes[P.argmax(axis=1)], P, True, classes)


def test_two_classes_are_those_of_scikit_learn():
    y, told = answers(2)
    assert positive_class(y) == "b"
    yes, p = (y == "b").astype(int), told.scores[:, 1]
    wanted = {
        "accuracy": theirs.accuracy_score(y, told.said),
        "balanced_accuracy": theirs.balanced_accuracy_score(y, told.said),
        "auc": theirs.roc_auc_score(yes, p),
        "average_precision": theirs.average_precision_score(yes, p),
        "log_loss": theirs.log_loss(y, told.scores),
        "brier": theirs.brier_score_loss(yes, p),
        "f1": theirs.f1_score(y, told.said, pos_label="b"),
    }
    for name, value in wanted.items():
        assert CLASSES[name].value(y, told) == pytest.approx(value, rel=1e-12), name


def test_three_classes_are_those_of_scikit_learn():
    y, told = answers(3)
    wanted = {
        "auc": theirs.roc_auc_score(y, told.scores, multi_class="ovr"),
        "log_loss": theirs.log_loss(y, told.scores),
        "f1": theirs.f1_score(y, told.said, average="macro"),
        "balanced_accuracy": theirs.balanced_accuracy_score(y, told.said),
    }
    for name, value in wanted.items():
        assert CLASSES[name].value(y, told) == pytest.approx(value, rel=1e-12), name


def test_numbers_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, said = rng.poisson(3.0, 50).astype(float), rng.gamma(3.0, 1.0, 50)
    told = Answers(said)
    wanted = {
        "rmse": theirs.root_mean_squared_error(y, said),
        "mae": theirs.mean_absolute_error(y, said),
        "r2": theirs.r2_score(y, said),
        "pinball": theirs.mean_pinball_loss(y, said, alpha=0.5),
        "poisson": theirs.mean_poisson_deviance(y, said),
    }
    for name, value in wanted.items():
        assert AMOUNTS[name].value(y, told) == pytest.approx(value, rel=1e-12), name
    high, _ = choose_metric("pinball@0.9", "regression", y)
    assert high.value(y, told) == pytest.approx(theirs.mean_pinball_loss(y, said, alpha=0.9), rel=1e-12)


def test_a_class_that_the_model_never_saw_had_probability_zero():
    told = Answers(np.array(["a"]), np.array([[0.7, 0.3]]), True, np.array(["a", "b"]))
    assert CLASSES["log_loss"].value(np.array(["z"]), told) == pytest.approx(-np.log(1e-15))


@pytest.mark.parametrize(
    ("counts", "chosen"),
    [([50, 50], "accuracy"), ([80, 20], "accuracy"), ([94, 6], "AUC"), ([90, 5, 5], "log loss")],
)
def test_uneven_classes_are_not_judged_by_accuracy(counts, chosen):
    metric, why = choose_metric(None, "classification", np.repeat(np.arange(len(counts)), counts))
    assert metric.label == chosen and (why != "") == (chosen != "accuracy")


def test_unknown_metrics_name_the_nearest():
    with pytest.raises(QuestionError, match="Did you mean 'accuracy'"):
        choose_metric("acuracy", "classification", np.array([0, 1]))
    with pytest.raises(QuestionError, match="pinball@0.9"):
        choose_metric("pinball@9", "regression", np.array([0.0, 1.0]))
    with pytest.raises(QuestionError, match="one metric of its own"):
        choose_metric("auc", "cluster", None)
