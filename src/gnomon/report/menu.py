"""The menu: which models of the library take part in a comparison, and which of their settings are tried.

A family takes part by having a file ``_menu.py`` with a table ``MENU``: kind of problem -> class -> grid of
settings, and a number ``COST``: cheap families go first, before the time is over. A table ``ROWS`` names models that
stay away from tables with more rows, unless they are asked for by name. A family without that file takes part with
every public model that needs no argument to be made, last.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any, NamedTuple

import gnomon
from gnomon._lazy import PACKAGES
from gnomon.core.errors import nearest
from gnomon.report.columns import QuestionError

# The other floors of the house: tools and mathematics, not families of models.
FLOORS = {
    "cli",
    "lab",
    "report",
    "selection",
    "theory",
    "plot",
    "datasets",
    "solvers",
    "distributions",
    "kernels",
}
FLOORS |= {"losses", "loops", "core"}


# Settings that are chosen when there is time for it, and models for questions that the families' files do not name.
BOOSTING: dict[str, list[Any]] = {"learning_rate": [0.1, 0.04], "max_leaf_nodes": [31, 8]}
FOREST: dict[str, list[Any]] = {"min_samples_leaf": [1, 5]}
MORE: dict[str, dict[str, dict[str, dict[str, list[Any]]]]] = {
    "ensemble": {
        "classification": {"HistGradientBoostingClassifier": BOOSTING, "RandomForestClassifier": FOREST},
        "regression": {"HistGradientBoostingRegressor": BOOSTING, "RandomForestRegressor": FOREST},
    },
    "sequence": {
        "sequence of symbols": {
            "CategoricalHMM": {
                "n_components": [2, 3, 4],
                "n_iter": [100],
                "emissionprob_prior": [1.1],
                "transmat_prior": [1.1],
            },
            "MarkovChain": {"order": [1, 2], "smoothing": [0.5]},
        },
    },
    "topics": {
        "topics": {"LatentDirichletAllocation": {"n_components": [2, 3, 5, 8, 12], "max_iter": [30]}},
    },
}

# Seconds that families take to load a large library before their first fit.
SLOW_START = {"neural": 15.0}
CALIBRATION_FOLDS = 3

# The models that most often win on tables go first, at equal cost of a look; then the families by their cost.
STRONG = (
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "LogisticRegression",
    "Ridge",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
)


class Candidate(NamedTuple):
    """A model that takes part: its name, one of it, and the settings among which the inner loop chooses."""

    name: str
    model: Any
    grid: dict[str, list[Any]]
    baseline: bool = False

    @property
    def starts_in(self) -> float:
        """Seconds that the first fit of a process spends on loading what the model stands on."""
        return SLOW_START.get(
            type(bare(self.model)).__module__.removeprefix("gnomon.").partition(".")[0], 0.0
        )


def families() -> list[str]:
    """Return the names of the families that may hold models."""
    return [name for name in gnomon._subpackages() if name not in FLOORS]


def candidates(
    menu: str,
    names: list[str] | None = None,
    random_state: int = 0,
    n_rows: int | None = None,
    calibrate: bool = True,
) -> list[Candidate]:
    """Return the models for one kind of problem that can bear so many rows, baseline first, or those named.

    Classifiers without probabilities get them by calibration, unless that is declined.

    >>> [candidate.name for candidate in candidates("regression", ["Ridge", "LinearRegression"])]
    ['always the mean', 'Ridge', 'LinearRegression']
    """
    from gnomon.report.baselines import BASELINES

    first = [Candidate(BASELINES[menu].name, BASELINES[menu].make(), {}, True)] if menu in BASELINES else []
    if names is None:
        chosen = [
            pair
            for family in sorted(families(), key=_cost)
            for pair in _served(family, menu)
            if n_rows is None or n_rows <= _most_rows(family).get(pair[0].__name__, n_rows)
        ]
        chosen.sort(key=_strength)
    else:
        chosen = [_named(name, menu) for name in names]
    calibrate = calibrate and menu == "classification"
    return first + [_candidate(cls, make(cls, random_state), grid, calibrate) for cls, grid in chosen]


def _candidate(cls: type, model: Any, grid: dict[str, list[Any]], calibrate: bool) -> Candidate:
    """Return a model as a candidate; a classifier without probabilities gets them by calibration."""
    if not calibrate or hasattr(model, "predict_proba"):
        return Candidate(cls.__name__, model, grid)
    return Candidate(
        cls.__name__, calibrated(model), {f"estimator__{name}": values for name, values in grid.items()}
    )


def calibrated(model: Any) -> Any:
    """Return a classifier whose scores become probabilities, learned on rows that it had not seen."""
    from gnomon.selection import CalibratedClassifier

    return CalibratedClassifier(model, cv=CALIBRATION_FOLDS)


def bare(model: Any) -> Any:
    """Return the model itself, without what calibrates it."""
    from gnomon.selection import CalibratedClassifier

    return model.estimator if isinstance(model, CalibratedClassifier) else model


def _strength(pair: tuple[type, Any]) -> int:
    name = pair[0].__name__
    return STRONG.index(name) if name in STRONG else len(STRONG)


def too_many_rows(menu: str, n_rows: int) -> dict[str, int]:
    """Return the models of a menu that stay away from so many rows, with their limits.

    >>> too_many_rows("classification", 5_000)
    {'GaussianProcessClassifier': 300}
    """
    found = {}
    for family in families():
        limits = _most_rows(family)
        names = [cls.__name__ for cls, _ in _served(family, menu)] if limits else []
        found |= {name: limits[name] for name in names if limits.get(name, n_rows) < n_rows}
    return found


def _cost(family: str) -> int:
    module = f"gnomon.{family}._menu"
    return int(import_module(module).COST) if find_spec(module) else 9


def _most_rows(family: str) -> dict[str, int]:
    """Return up to how many rows models of a family take part."""
    module = f"gnomon.{family}._menu"
    return getattr(import_module(module), "ROWS", {}) if find_spec(module) else {}


def _served(family: str, menu: str) -> Iterator[tuple[type, dict[str, list[Any]]]]:
    """Yield what a family brings to one kind of problem."""
    module = f"gnomon.{family}"
    if find_spec(f"{module}._menu"):
        own = import_module(f"{module}._menu").MENU.get(menu, {})
        grids = {**own, **MORE.get(family, {}).get(menu, {})}
        yield from ((getattr(import_module(module), name), grid) for name, grid in grids.items())
    else:
        yield from ((cls, {}) for cls in _models(family) if suits(cls, menu))


def _models(family: str) -> Iterator[type]:
    """Yield the public estimators of a family that can be made without arguments."""
    package = import_module(f"gnomon.{family}")
    for name in getattr(package, "__all__", ()):
        cls = getattr(package, name)
        if (
            isinstance(cls, type)
            and hasattr(cls, "fit")
            and hasattr(cls, "get_params")
            and _makes_itself(cls)
        ):
            yield cls


def _makes_itself(cls: type) -> bool:
    return all(
        p.default is not p.empty or p.kind == p.VAR_KEYWORD for p in signature(cls).parameters.values()
    )


def suits(cls: type, menu: str) -> bool:
    """Tell from scikit-learn's tags whether a model is made for a kind of problem."""
    from sklearn.utils import get_tags

    model: Any = cls()
    tags = get_tags(model)
    if not tags.input_tags.two_d_array:
        return False
    if menu == "cluster":
        return tags.estimator_type == "clusterer" and hasattr(model, "predict")
    kinds = {"classification": "classifier", "regression": "regressor", "density": "density_estimator"}
    return tags.estimator_type == kinds.get(menu, "none")


def find_model(name: str) -> type:
    """Return a public model by its name, such as ``KMeans`` or ``cluster.KMeans``; the nearest is suggested."""
    family, _, short = name.rpartition(".")
    known = _model_names()
    places = [place for place in known.get(short, []) if place == (family.removeprefix("gnomon.") or place)]
    for place in places:
        cls = getattr(import_module(f"gnomon.{place}"), short)
        if isinstance(cls, type) and hasattr(cls, "fit"):
            return cls
    raise QuestionError(
        f"there is no model {name!r}.{nearest(short, known)} `gnomon models` lists what there is."
    )


def _model_names() -> dict[str, list[str]]:
    """Return every public name and the families it is in."""
    places: dict[str, list[str]] = {}
    for family in families():
        import_module(f"gnomon.{family}")
        for name in PACKAGES.get(f"gnomon.{family}", {}):
            places.setdefault(name, []).append(family)
    return places


def _named(name: str, menu: str) -> tuple[type, dict[str, list[Any]]]:
    """Return a model by name with the settings that its family tries for this kind of problem."""
    cls = find_model(name)
    family = cls.__module__.split(".")[1]
    served = (
        {c.__name__: grid for c, grid in _served(family, menu)} if find_spec(f"gnomon.{family}._menu") else {}
    )
    if cls.__name__ not in served and not (_makes_itself(cls) and suits(cls, menu)):
        raise QuestionError(f"{name} is not made for {menu}. Choose others, or another --task.")
    return cls, served.get(cls.__name__, {})


def make(cls: type, random_state: int = 0, **settings: Any) -> Any:
    """Return a model with its seed set, where it has one."""
    if "random_state" in signature(cls).parameters:
        settings = {"random_state": random_state, **settings}
    return cls(**settings)
