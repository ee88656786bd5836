"""Which models the lab opens, which data each learns from, and the small settings it starts with."""

from __future__ import annotations

import inspect
import pkgutil
import re
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

import gnomon
from gnomon._lazy import PACKAGES
from gnomon.lab import sample_kinds, sample_rows

NOT_FAMILIES = {"core", "loops", "cli", "lab", "report", "plot", "datasets", "losses", "solvers"}

# What a group of learners learns from: the first is where its scene opens.
DATA: dict[str, tuple[Any, ...]] = {
    "classes": (
        sample_rows.moons,
        sample_rows.blobs,
        sample_rows.rings,
        sample_rows.quadrants,
        sample_rows.two_clouds,
        sample_rows.iris,
        sample_rows.digits,
    ),
    "two classes": (sample_rows.two_clouds, sample_rows.moons, sample_rows.rings, sample_rows.quadrants),
    "numbers": (sample_rows.wave, sample_rows.line, sample_rows.sparse_line),
    "positive numbers": (sample_rows.positive_wave,),
    "clouds": (
        sample_rows.clouds,
        sample_rows.stretched_clouds,
        sample_rows.geyser,
        sample_rows.rings_without_names,
        sample_rows.plane_in_space,
    ),
    "many columns": (
        sample_rows.plane_in_space,
        sample_rows.clouds,
        sample_rows.positive_parts,
        sample_rows.digit_pictures,
        sample_rows.rings_without_names,
    ),
    "positive": (sample_rows.positive_parts, sample_rows.word_counts),
}

# Learners whose data their kind does not tell.
OWN_DATA: dict[str, tuple[Any, ...]] = {
    "ActionHMM": (sample_kinds.journeys,),
    "AspectModel": (sample_rows.stories, sample_rows.word_counts, sample_rows.positive_parts),
    "BayesianNetwork": (sample_rows.codes,),
    "BayesianNetworkClassifier": (sample_rows.categories,),
    "BeliefPropagation": (sample_kinds.ring_of_factors,),
    "BernoulliMixture": (sample_rows.bernoulli_groups,),
    "BernoulliNB": (sample_rows.labeled_bits,),
    "BinomialMixture": (sample_rows.coin_triples,),
    "CCA": (sample_rows.two_views,),
    "CascadeClassifier": (sample_kinds.faces,),
    "CategoricalHMM": (sample_kinds.casino,),
    "CategoricalMixture": (sample_rows.codes,),
    "CategoricalNB": (sample_rows.categories,),
    "ChowLiuTree": (sample_rows.codes,),
    "CodewordHistogram": (sample_kinds.songs,),
    "CoinPosterior": (sample_kinds.throws,),
    "ComplementNB": (sample_rows.labeled_counts,),
    "ConjunctionLearner": (sample_rows.bits,),
    "ConvNetClassifier": (sample_kinds.bars,),
    "ConvNetRegressor": (sample_kinds.measured_bars,),
    "DeviationExperiment": (sample_kinds.coin,),
    "EpsilonBallClassifier": (sample_rows.two_clouds, sample_rows.moons),
    "ExactSearch": (sample_rows.codes,),
    "ExponentialMixture": (sample_rows.waiting_times,),
    "FeedForwardLanguageModel": (sample_kinds.letters,),
    "FisherProjection": (sample_rows.iris, sample_rows.blobs, sample_rows.digits),
    "GammaRegressor": DATA["positive numbers"],
    "GaussianHMM": (sample_kinds.regimes,),
    "GMMHMM": (sample_kinds.regimes,),
    "GaussianRandomWalk": (sample_kinds.walk,),
    "HMM": (sample_kinds.regimes,),
    "HMMClassifier": (sample_kinds.labeled_sequences,),
    "HMMTagger": (sample_kinds.tagged_sentences,),
    "HillClimbSearch": (sample_rows.codes,),
    "KalmanFilter": (sample_kinds.walk,),
    "KernelCCA": (sample_rows.two_views,),
    "LatentClassModel": (sample_rows.codes,),
    "LatentDirichletAllocation": (sample_rows.stories, sample_rows.word_counts),
    "LinearRegression": (sample_rows.line, sample_rows.wave, sample_rows.sparse_line),
    "MarkovChain": (sample_kinds.letters,),
    "MarkovRandomField": (sample_rows.codes,),
    "MarkovRanker": (sample_kinds.games,),
    "MissingGaussian": (sample_rows.holes,),
    "MultinomialHMM": (sample_kinds.trial_regimes,),
    "MultinomialMixture": (sample_rows.word_counts,),
    "MultinomialNB": (sample_rows.labeled_counts,),
    "NMF": (sample_rows.positive_parts, sample_rows.word_counts, sample_rows.digit_pictures),
    "NetworkEnsemble": DATA["classes"],
    "NeuralTuringMachine": (sample_kinds.copies,),
    "PC": (sample_rows.codes,),
    "ParticleFilter": (sample_kinds.walk,),
    "PoissonHMM": (sample_kinds.count_regimes,),
    "PoissonMixture": (sample_rows.count_groups,),
    "PoissonNB": (sample_rows.labeled_counts,),
    "PoissonRegressor": DATA["positive numbers"],
    "RandomWalkClassifier": (sample_rows.half_labeled,),
    "RectangleLearner": (sample_rows.rectangle,),
    "RecurrentClassifier": (sample_kinds.labeled_sequences,),
    "RecurrentLanguageModel": (sample_kinds.letters,),
    "RecurrentRegressor": (sample_kinds.summed_sequences,),
    "SemiSupervisedBayes": (sample_rows.half_labeled,),
    "TokenClassifier": (sample_kinds.tagged_sentences,),
    "TransactionEncoder": (sample_kinds.baskets,),
    "WordRecognizer": (sample_kinds.spoken_words,),
}
OWN_DATA |= dict.fromkeys(
    ("HuberRegressor", "LaplaceRegression", "LpRegression", "QuantileRegressor", "StudentTRegression"),
    (sample_rows.line, sample_rows.wave, sample_rows.sparse_line),
)
OWN_DATA |= dict.fromkeys(
    ("ElasticNet", "ElasticNetCV", "Lasso", "LassoCV", "LassoLars"),
    (sample_rows.sparse_line, sample_rows.line),
)
WORLDS = (sample_kinds.small_grid, sample_kinds.cliff)

# Small and quick at the start, and always the same bits; whatever the page sets goes before.
USUAL = {"random_state": 0, "n_clusters": 3, "n_components": 2, "n_estimators": 20, "n_states": 2}
EPISODES = {"n_episodes": 60, "max_steps": 60}
OWN_SETTINGS: dict[str, dict[str, Any]] = {
    "ActionHMM": {"n_states": 2, "n_actions": 2, "n_iter": 20},
    "AgglomerativeClustering": {"n_clusters": 3},
    "AlternatingLeastSquares": {"factors": 3, "iterations": 15},
    "Autoencoder": {"max_iter": 40, "n_components": 1},
    "BayesianMatrixFactorization": {"factors": 2, "n_burn": 10, "n_samples": 20},
    "BayesianPersonalizedRanking": {"factors": 3, "iterations": 30},
    "CCA": {"n_components": 1},
    "CascadeClassifier": {"window": 12, "max_stages": 3, "max_rounds": 10},
    "CategoricalHMM": {"n_components": 2},
    "CodewordHistogram": {"n_codes": 4},
    "ConvNetClassifier": {"max_iter": 15, "batch_size": 32, "early_stopping": False},
    "ConvNetRegressor": {"max_iter": 15, "batch_size": 32, "early_stopping": False},
    "DQN": {
        "hidden_layer_sizes": (8,), "n_steps": 400, "learning_starts": 20, "batch_size": 16, "buffer_size": 200,
    },
    "DecisionTreeClassifier": {"max_depth": 4},
    "DecisionTreeRegressor": {"max_depth": 4},
    "FeedForwardLanguageModel": {"state_size": 4, "max_iter": 20},
    "FiniteHorizon": {"horizon": 8},
    "GMMHMM": {"n_components": 3},
    "GaussianHMM": {"n_components": 3},
    "GaussianMixture": {"n_components": 3},
    "GaussianProcessRegressor": {"alpha": 0.05},
    "GenerativeAdversarialNetwork": {"generator": (8,), "discriminator": (8,), "max_iter": 40, "n_components": 2},
    "HMM": {"n_components": 3},
    "HistGradientBoostingClassifier": {"max_iter": 30},
    "HistGradientBoostingRegressor": {"max_iter": 30},
    "HybridFactorization": {"factors": 2, "iterations": 20},
    "KNNRecommender": {"mode": "item"},
    "KalmanFilter": {"max_iter": 15},
    "LatentDirichletAllocation": {"n_components": 3},
    "LocalOutlierFactor": {"novelty": True},
    "MLPClassifier": {"hidden_layer_sizes": (16,), "max_iter": 150, "learning_rate_init": 0.02},
    "MLPRegressor": {"hidden_layer_sizes": (16,), "max_iter": 150, "learning_rate_init": 0.02},
    "MatrixFactorization": {"factors": 2, "iterations": 20},
    "MultinomialHMM": {"n_components": 3},
    "NeuralTuringMachine": {"memory_slots": 4, "memory_width": 2, "controller_size": 4, "max_iter": 10},
    "NuclearNormCompletion": {"max_iter": 30},
    "OneClassSVM": {"nu": 0.1, "gamma": 0.3},
    "OptimisticPlanning": {**EPISODES, "reward_max": 10.0},
    "PPO": {"hidden_layer_sizes": (8,), "n_steps": 300, "steps_per_iteration": 60, "n_epochs": 2},
    "PoissonHMM": {"n_components": 3},
    "PolicyGradient": {"n_iterations": 20, "episodes_per_iteration": 4},
    "RandomWalkClassifier": {"width": 1.0},
    "RecurrentClassifier": {"state_size": 4, "max_iter": 20},
    "RecurrentLanguageModel": {"state_size": 4, "max_iter": 20},
    "RecurrentRegressor": {"state_size": 4, "max_iter": 20},
    "SpectralClustering": {"n_clusters": 3},
    "VariationalAutoencoder": {"hidden_layer_sizes": (8,), "max_iter": 40, "n_components": 1},
    "WordRecognizer": {"n_states": 2, "n_codes": 8, "n_iter": 5},
}  # fmt: skip
OWN_SETTINGS |= dict.fromkeys(("ModelBased", "PosteriorSampling", "QLearning", "Sarsa"), EPISODES)


EXPERIMENTS = dict.fromkeys(("CoinPosterior", "DeviationExperiment"), "gnomon.lab.experiments")
HEADER = re.compile(r"^class (\w+)(?:\[[^\]]*\])?\(([^:]*?)\):", re.MULTILINE)


@cache
def catalog() -> dict[str, str]:
    """Return the package of every public estimator, by its name; found in the sources, so that nothing is imported."""
    bases: dict[str, set[str]] = {}
    public: dict[str, str] = {}
    for module in pkgutil.iter_modules(gnomon.__path__):
        if not module.ispkg:
            continue
        for path in Path(str(files(f"gnomon.{module.name}"))).rglob("*.py"):
            for name, parents in HEADER.findall(path.read_text(encoding="utf-8")):
                bases.setdefault(name, set()).update(re.findall(r"\w+", parents))
        if module.name not in NOT_FAMILIES and module.name[0] != "_":
            import_module(f"gnomon.{module.name}")
            package = f"gnomon.{module.name}"
            public |= dict.fromkeys(PACKAGES.get(package, {}), package)
    found = {name: public[name] for name in public if name in bases and _estimates(name, bases)}
    return dict(sorted({**found, **EXPERIMENTS}.items()))


def _estimates(name: str, bases: dict[str, set[str]]) -> bool:
    """Tell whether one of the ancestors is scikit-learn's estimator."""
    seen, ahead = {name}, [name]
    while ahead:
        for parent in bases.get(ahead.pop(), set()) - seen:
            if parent == "BaseEstimator":
                return True
            seen.add(parent)
            ahead.append(parent)
    return False


def find(name: str) -> type:
    """Return a model by its name; only the public estimators of the library are found."""
    package = catalog().get(name)
    if package is None:
        close = get_close_matches(name, list(catalog()), n=1)
        raise LookupError(
            f"no model is called {name[:60]!r}." + (f" Did you mean {close[0]!r}?" if close else "")
        )
    found: type = getattr(import_module(package), name)
    return found


def start_settings(cls: type) -> dict[str, Any]:
    """Return the settings a scene opens with."""
    names = inspect.signature(cls).parameters
    usual = {name: value for name, value in USUAL.items() if name in names}
    for name in ("n_components", "n_clusters"):  # None or a word: the model finds it
        if name in usual and type(names[name].default) is not int:
            del usual[name]
    return {**usual, **{k: v for k, v in OWN_SETTINGS.get(cls.__name__, {}).items() if k in names}}


def make(cls: type, settings: dict[str, Any]) -> Any:
    """Return a model with the settings of the page on top of those a scene opens with."""
    names = inspect.signature(cls).parameters
    chosen = {**start_settings(cls), **settings}
    for name in ("estimator", "estimators"):
        if name in names and names[name].default is inspect.Parameter.empty:
            chosen.setdefault(name, _parts(cls, name))
    if cls.__name__.startswith("ConvNet"):
        from gnomon.neural import layers

        chosen.setdefault("layers", [layers.Conv2d(3, 3), layers.Activation("relu")])
    if cls.__name__ == "ParticleFilter":
        chosen = {**_walker(), **chosen}
    return cls(**chosen)


def _walker() -> dict[str, Any]:
    """Return how a walker in the plane begins, moves and is seen."""
    import numpy as np

    from gnomon.sequence import KalmanFilter, ParticleFilter

    one = np.eye(2)
    walk = KalmanFilter(
        one, one, one, 0.25 * one, initial_state_mean=np.zeros(2), initial_state_covariance=one
    )
    made = ParticleFilter.from_kalman(walk).get_params(deep=False)
    return {name: made[name] for name in ("transition_sample", "observation_logpdf", "initial_sample")}


def _parts(cls: type, name: str) -> Any:
    """Return a model, or two with names, for a model that is made of models."""
    from gnomon.bayes import GaussianNB, LinearDiscriminantAnalysis
    from gnomon.linear import LinearRegression, Ridge

    if cls.__name__ == "NetworkEnsemble":
        from gnomon.neural import MLPClassifier

        return MLPClassifier((8,), max_iter=30, random_state=0)
    kinds: tuple[Any, ...] = (GaussianNB, LinearDiscriminantAnalysis)
    if not cls.__name__.endswith("Classifier"):
        kinds = (LinearRegression, Ridge)
    return kinds[0]() if name == "estimator" else [(kind.__name__, kind()) for kind in kinds]


def data_for(cls: type) -> tuple[Any, ...]:
    """Return the samples a model can learn from; the first is where its scene opens."""
    if cls.__name__ in OWN_DATA:
        return OWN_DATA[cls.__name__]
    family = cls.__module__.split(".")[1]
    if family == "decide":
        return WORLDS
    if family == "recommend":
        return (sample_kinds.ratings,)
    return DATA[group(make(cls, {}))]


def group(model: Any) -> str:
    """Return the name of the group of data a model learns from, by its tags."""
    tags = get_tags(model)
    if is_classifier(model):
        several = tags.classifier_tags is None or tags.classifier_tags.multi_class
        return "classes" if several else "two classes"
    if is_regressor(model) or tags.target_tags.required:
        return "positive numbers" if tags.target_tags.positive_only else "numbers"
    if tags.input_tags.positive_only:
        return "positive"
    family = type(model).__module__.split(".")[1]
    return "many columns" if family == "decomposition" else "clouds"
