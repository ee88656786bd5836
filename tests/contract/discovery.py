"""Finds every public estimator of the library, and makes each ready to be tested."""

import inspect
import pkgutil
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import gnomon
from contract.learners import SlowMean
from contract.recipes import RECIPES, Recipe
from gnomon.core.promises import EXACT, Promises
from gnomon.core.steps import Learner
from gnomon.ensemble.hist_base import HistBoosted

METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "score_samples",
)
OF_TRAINING_ROWS = ("labels_", "embedding_")

# Small and quick, whatever the class: applied where the constructor has the name and its recipe is silent.
USUAL = {"random_state": 0, "n_clusters": 3, "n_components": 2, "n_estimators": 5, "n_jobs": None}


class Data(NamedTuple):
    X: object
    y: object = None
    weight: object = None
    lengths: object = None  # of the sequences that the rows form

    def units(self):
        """Row numbers of what may change places: single rows, or whole sequences."""
        if self.lengths is None:
            return [np.array([i]) for i in range(len(self.X))]
        return np.split(np.arange(len(self.X)), np.cumsum(self.lengths)[:-1])

    def take(self, units):
        """The data made of these units, in this order."""
        every = self.units()
        rows = np.concatenate([every[unit] for unit in units])
        lengths = None if self.lengths is None else [len(every[unit]) for unit in units]
        return Data(_pick(self.X, rows), _pick(self.y, rows), None, lengths)


def _pick(values, rows):
    return [values[i] for i in rows] if isinstance(values, list) else None if values is None else values[rows]


def packages():
    """Names of the public packages of the library."""
    return [m.name for m in pkgutil.iter_modules(gnomon.__path__) if m.ispkg and m.name[0] != "_"]


def estimator_classes():
    """Every public estimator class, by name. A package that does not import has a test of its own."""
    found = {}
    for package in packages():
        try:
            module = import_module(f"gnomon.{package}")
            members = [getattr(module, name) for name in getattr(module, "__all__", ())]
        except Exception:
            continue
        for member in members:
            if (
                isinstance(member, type)
                and issubclass(member, BaseEstimator)
                and not inspect.isabstract(member)
            ):
                found[member.__name__] = member
    return dict(sorted(found.items()))


class Subject:
    """One estimator with one setting of its arguments, and data it can learn from."""

    def __init__(self, cls, recipe=None, setting=None):
        self.cls, self.recipe, self.setting = cls, recipe or Recipe(), dict(setting or {})

    def __repr__(self):
        chosen = ",".join(f"{name}={value}" for name, value in self.setting.items())
        return self.cls.__name__ + (f"({chosen})" if chosen else "")

    def check(self):
        """Raise when the estimator cannot be made or does not know what it is."""
        assert isinstance(self.make(), self.cls)
        assert self.tags is not None and self.target in (None, "number", "class")

    def make(self, **changes):
        """A fresh, unfitted estimator."""
        names = inspect.signature(self.cls).parameters
        usual = {name: value for name, value in USUAL.items() if name in names}
        if "n_components" in usual and type(names["n_components"].default) is not int:
            del usual["n_components"]  # None: as many as there can be
        for name in ("estimator", "estimators"):  # of a model made of models
            if name in names and names[name].default is inspect.Parameter.empty:
                usual[name] = self._parts(name)
        return self.cls(**{**usual, **self.recipe.arguments, **self.setting, **changes})

    def _parts(self, name):
        """A model, or two with names, for a model that is made of models."""
        from gnomon.bayes import GaussianNB, LinearDiscriminantAnalysis
        from gnomon.linear import LinearRegression, Ridge

        kinds = (GaussianNB, LinearDiscriminantAnalysis)
        if not issubclass(self.cls, ClassifierMixin):
            kinds = (LinearRegression, Ridge)
        return kinds[0]() if name == "estimator" else [(kind.__name__, kind()) for kind in kinds]

    @cached_property
    def reads(self):
        return getattr(self.make(), "_reads", None)

    def promises(self, name):
        """Whether the estimator declares that this holds exactly; some do in some settings only."""
        return getattr(getattr(self.make(), "_promises", Promises()), name) == EXACT

    @cached_property
    def target(self):
        """None, "number" or "class"."""
        made = self.make()
        if is_classifier(made):
            return "class"
        if is_regressor(made):
            return "number"
        return "number" if get_tags(made).target_tags.required else None

    @cached_property
    def tags(self):
        return get_tags(self.make())

    @cached_property
    def is_learner(self):
        return issubclass(self.cls, Learner)

    @cached_property
    def takes_weights(self):
        return has_fit_parameter(self.make(), "sample_weight")

    @cached_property
    def takes_sparse(self):
        return self.tags.input_tags.sparse

    @cached_property
    def takes_nan(self):
        return self.tags.input_tags.allow_nan

    @cached_property
    def takes_infinity(self):
        """Whether infinite entries are the largest numbers."""
        return issubclass(self.cls, HistBoosted)

    @cached_property
    def takes_categories(self):
        """Whether columns may hold names of any kind, not codes alone."""
        return self.takes_strings or getattr(self.make(), "categorical_features", None) is not None

    @cached_property
    def takes_strings(self):
        """Whether an array may hold names of states instead of numbers."""
        return self.tags.input_tags.string

    @cached_property
    def scales(self):
        return bool(getattr(self.reads, "scales", False))

    @cached_property
    def takes_matrix(self):
        return self.tags.input_tags.two_d_array

    def data(self, n=60, d=3, seed=0):
        """Rows, a target where the estimator wants one, and lengths where the rows form sequences."""
        length = self.recipe.sequence
        lengths = None if length is None else [length] * (n // length) + [n % length] * (n % length > 0)
        return self.rows(n, d, seed)._replace(lengths=lengths)

    def rows(self, n=60, d=3, seed=0, whole_numbers=False):
        """Three groups of rows, unless the recipe has something else."""
        if self.recipe.data is not None:
            made = Data(*self.recipe.data(n, d, seed))
            return made._replace(X=np.round(made.X)) if whole_numbers else made
        rng = np.random.default_rng(seed)
        group = rng.permutation(np.arange(n) % (2 if self.two_classes else 3))
        X = 2.0 * rng.normal(size=(3, d))[group] * 3 + rng.normal(size=(n, d))
        if self.tags.input_tags.positive_only:
            X = np.abs(X)
        if whole_numbers:
            X = np.round(X)
        if self.target == "class":
            return Data(X, group)
        if self.target == "number":
            y = X @ rng.normal(size=d) + 0.1 * rng.normal(size=n)
            return Data(X, np.exp(y / 10) if self.tags.target_tags.positive_only else y)
        return Data(X)

    @cached_property
    def two_classes(self):
        tags = self.tags.classifier_tags
        return tags is not None and not tags.multi_class

    def fit(self, data, model=None, **changes):
        """A model fitted to the data; only what the data have is given."""
        model = self.make(**changes) if model is None else model
        given = {"y": data.y, "sample_weight": data.weight, "lengths": data.lengths}
        return model.fit(data.X, **{name: value for name, value in given.items() if value is not None})

    def answers(self, model, X, lengths=None):
        """What the fitted model says about X, by method."""
        more = {} if lengths is None else {"lengths": lengths}
        said = {name: getattr(model, name)(X, **more) for name in METHODS if hasattr(model, name)}
        if said:
            return said
        names = self.recipe.answers or OF_TRAINING_ROWS
        return {name: getattr(model, name) for name in names if hasattr(model, name)}


def subjects():
    """Every public estimator in every setting that its recipe lists; what cannot be made has its own test."""
    made = []
    for name, cls in estimator_classes().items():
        recipe = RECIPES.get(name, Recipe())
        with suppress(Exception):
            for setting in recipe.settings:
                subject = Subject(cls, recipe, setting)
                subject.check()
                made.append(subject)
    return made


SUBJECTS = [Subject(SlowMean), *subjects()]
LEARNERS = [subject for subject in SUBJECTS if subject.is_learner]
MATRIX = [subject for subject in SUBJECTS if subject.takes_matrix]
