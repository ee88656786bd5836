"""Trees, forests and boosting against scikit-learn and LightGBM: same rows, test accuracy beside."""

from __future__ import annotations

from functools import cache

from case import Case


@cache
def classes(n):
    from sklearn.datasets import make_classification

    X, y = make_classification(n + 20_000, 30, n_informative=15, random_state=0, flip_y=0.05, class_sep=0.7)
    return X[:n], y[:n], X[n:], y[n:]


@cache
def targets(n):
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n + 20_000, 10, noise=1.0, random_state=0)
    return X[:n], y[:n], X[n:], y[n:]


@cache
def ten_classes(n):
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n + 20_000, 20, n_informative=12, n_classes=10, n_clusters_per_class=1, random_state=0
    )
    return X[:n], y[:n], X[n:], y[n:]


def fitted(module, name, **options):
    def fit(data):
        from importlib import import_module

        return getattr(import_module(module), name)(**options).fit(data[0], data[1])

    return fit


def predicted(module, name, **options):
    """Predict with a model fitted once and kept beside the data."""
    models = {}

    def predict(data):
        key = id(data)
        if key not in models:
            models[key] = fitted(module, name, **options)(data)
        return models[key].predict(data[2])

    return predict


def accuracy(model, data):
    return float((model.predict(data[2]) == data[3]).mean())


def squared_error(model, data):
    return float(((model.predict(data[2]) - data[3]) ** 2).mean())


def mean_accuracy(model, data):
    """Mean over three seeds: one alone may be lucky."""
    from sklearn.base import clone

    others = [clone(model).set_params(random_state=seed).fit(data[0], data[1]) for seed in (1, 2)]
    return sum(accuracy(one, data) for one in (model, *others)) / 3


def accuracy_of(guess, data):
    return float((guess == data[3]).mean())


OURS, TREES, PEER = "gnomon.ensemble", "gnomon.trees", "sklearn.ensemble"
ROUNDS = {"max_iter": 100, "max_leaf_nodes": 31, "early_stopping": False, "random_state": 0}
FOREST = {"n_estimators": 20, "random_state": 0}  # the cost grows with the number of trees, no more


def histogram_boosting(kind, rounds):
    """Ours and the peers' boosting of a `kind`, "Classifier" or "Regressor"."""
    options = {**ROUNDS, "max_iter": rounds}
    light = fitted("lightgbm", f"LGBM{kind}", n_estimators=rounds, num_leaves=31, verbose=-1, n_jobs=2)
    name = f"HistGradientBoosting{kind}"
    return {
        "ours": fitted(OURS, name, **options),
        "peers": {"scikit-learn": fitted(PEER, name, **options), "lightgbm": light},
    }


SHARED = {"quality": accuracy, "better": "higher", "data": classes}
SEEDS = {**SHARED, "quality": mean_accuracy}

CASES = [
    Case(
        "decision tree, exact, d=30",
        ours=fitted(TREES, "DecisionTreeClassifier", random_state=0),
        peers={"scikit-learn": fitted("sklearn.tree", "DecisionTreeClassifier", random_state=0)},
        sizes=[25_000, 100_000],
        goal=1.5,
        tolerance=0.01,
        **SEEDS,
    ),
    Case(
        "random forest, 20 trees, d=30",
        ours=fitted(OURS, "RandomForestClassifier", **FOREST),
        peers={"scikit-learn": fitted(PEER, "RandomForestClassifier", n_jobs=2, **FOREST)},
        sizes=[25_000, 100_000],
        goal=3.0,
        tolerance=0.005,
        **SEEDS,
    ),
    Case(
        "extra trees, 20 trees, d=30",
        ours=fitted(OURS, "ExtraTreesClassifier", **FOREST),
        peers={"scikit-learn": fitted(PEER, "ExtraTreesClassifier", n_jobs=2, **FOREST)},
        sizes=[25_000, 100_000],
        goal=1.5,
        tolerance=0.005,
        **SEEDS,
    ),
    Case(
        "random forest: predict",
        ours=predicted(OURS, "RandomForestClassifier", n_estimators=50, random_state=0),
        peers={
            "scikit-learn": predicted(
                PEER, "RandomForestClassifier", n_estimators=50, n_jobs=2, random_state=0
            )
        },
        data=classes,
        sizes=[30_000],
        quality=accuracy_of,
        better="higher",
        goal=2.0,
        tolerance=0.01,
    ),
    Case(
        "AdaBoost, 50 stumps, d=30",
        ours=fitted(OURS, "AdaBoostClassifier", n_estimators=50, store_weights=False),
        peers={"scikit-learn": fitted(PEER, "AdaBoostClassifier", n_estimators=50)},
        sizes=[30_000],
        goal=20.0,
        tolerance=0.02,
        note="ours minimizes the weighted error, the peer Gini",
        **SHARED,
    ),
    Case(
        "histogram boosting, 100 x 31 leaves, d=30",
        **histogram_boosting("Classifier", 100),
        sizes=[25_000, 100_000],
        goal=1.3,
        tolerance=0.003,
        **SHARED,
    ),
    Case(
        "histogram boosting, 20 x 31 leaves, d=30",
        **histogram_boosting("Classifier", 20),
        sizes=[1_000_000],
        goal=1.3,
        tolerance=0.003,
        **SHARED,
    ),
    Case(
        "histogram boosting of a number, 100 x 31 leaves, d=10",
        **histogram_boosting("Regressor", 100),
        data=targets,
        sizes=[400_000],
        quality=squared_error,
        better="lower",
        goal=1.0,
        tolerance=0.01,
    ),
    Case(
        "histogram boosting of ten classes, 20 x 31 leaves, d=20",
        **histogram_boosting("Classifier", 20),
        sizes=[50_000],
        goal=1.0,
        tolerance=0.005,
        **{**SHARED, "data": ten_classes},
    ),
    Case(
        "histogram boosting: predict",
        ours=predicted(OURS, "HistGradientBoostingClassifier", **ROUNDS),
        peers={"scikit-learn": predicted(PEER, "HistGradientBoostingClassifier", **ROUNDS)},
        data=classes,
        sizes=[30_000],
        quality=accuracy_of,
        better="higher",
        goal=2.0,
        tolerance=0.01,
    ),
    Case(
        "gradient boosting, exact, 30 x depth 3, d=30",
        ours=fitted(OURS, "GradientBoostingClassifier", n_estimators=30),
        peers={"scikit-learn": fitted(PEER, "GradientBoostingClassifier", n_estimators=30)},
        sizes=[30_000],
        goal=3.0,
        tolerance=0.005,
        **SHARED,
    ),
]
