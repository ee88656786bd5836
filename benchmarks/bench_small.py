"""Small fits: every estimator that shares its name with one of scikit-learn's, on 150 rows of four columns.

People cross-validate on small tables thousands of times, so what a call costs apart from the work counts. Each
estimator has two cases: fits followed by the first question, and questions about one row to a fitted model.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial

import numpy as np

from case import Case

FAMILIES = (
    "linear", "svm", "bayes", "mixture", "cluster", "trees", "ensemble", "neighbors", "kernels", "gp", "decomposition",
    "neural", "topics",
)  # fmt: skip
LEFT_OUT = {
    "OutputCodeClassifier": "needs a model to begin with",
    "VotingClassifier": "needs models to begin with",
    "VotingRegressor": "needs models to begin with",
    "CCA": "learns from two tables",
    "Nystroem": "has 100 landmarks by default, nearly all rows",
    "DBSCAN": "does not predict and has nothing to choose here",
}
SETTINGS = {"n_clusters": 3, "n_components": 2}
FITS, QUESTIONS = 5, 50  # in one run


def shared() -> Iterator[tuple[str, str, type]]:
    """Yield family, name and scikit-learn's class of all estimators to compare."""
    from sklearn.utils import all_estimators

    theirs = dict(all_estimators())
    for family in FAMILIES:
        for name in importlib.import_module(f"gnomon.{family}").__all__:
            if name in theirs and name not in LEFT_OUT:
                yield family, name, theirs[name]


def table(name: str, peer: type) -> tuple[np.ndarray, np.ndarray]:
    """Return 150 positive rows of four columns in three groups, with classes or numbers as the estimator asks."""
    from sklearn.base import is_regressor

    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(3), 50)
    X = np.abs(3.0 * rng.normal(size=(3, 4))[classes] + rng.normal(size=(150, 4))) + 0.1
    numbers = np.abs(X @ [1.0, 2.0, 3.0, 4.0] + rng.normal(size=150)) + 0.1
    return np.floor(X) if name == "CategoricalNB" else X, numbers if is_regressor(peer()) else classes


def made(model: type) -> object:
    known = model().get_params()
    return model(**{key: value for key, value in SETTINGS.items() if key in known})


def ask(model: object, row: np.ndarray) -> None:
    question = getattr(model, "predict", None) or getattr(model, "transform", None)
    if question is not None:
        question(row)


def fit(side: int, data: tuple) -> None:
    """Fit some times, and ask one question after each."""
    models, X, y = data
    for _ in range(FITS):
        model = made(models[side])
        model.fit(X, y)
        ask(model, X[:1])


def question(side: int, data: tuple) -> None:
    models, row = data
    for _ in range(QUESTIONS):
        ask(models[side], row)


def cases() -> Iterator[Case]:
    for family, name, peer in shared():

        def both(family=family, name=name, peer=peer):
            return getattr(importlib.import_module(f"gnomon.{family}"), name), peer

        def rows(both=both, name=name, peer=peer):
            return both(), *table(name, peer)

        def fitted(both=both, name=name, peer=peer):
            X, y = table(name, peer)
            return tuple(made(model).fit(X, y) for model in both()), X[:1]

        yield Case(
            f"{name}: fit 150 x 4 and a question",
            data=rows,
            ours=partial(fit, 0),
            peers={"scikit-learn": partial(fit, 1)},
            goal=1.0,
        )
        if hasattr(peer, "predict") or hasattr(peer, "transform"):
            yield Case(
                f"{name}: one row",
                data=fitted,
                ours=partial(question, 0),
                peers={"scikit-learn": partial(question, 1)},
                goal=1.0,
            )


CASES = list(cases())
