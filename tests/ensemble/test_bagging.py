"""Bagging: which rows the members see."""

import numpy as np

from gnomon.ensemble import BaggingClassifier
from gnomon.trees import DecisionTreeClassifier


def test_members_without_replacement_see_different_rows():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    model = BaggingClassifier(
        DecisionTreeClassifier(), n_estimators=5, bootstrap=False, max_samples=0.5, random_state=0
    ).fit(X, y)
    samples = [tuple(np.sort(one)) for one in model.estimators_samples_]
    assert all(len(one) == 20 for one in samples)
    assert len(set(samples)) == 5
