"""What an estimator needs that its signature does not tell: arguments, settings worth testing, odd data.

An estimator without a recipe is made with its defaults (and the usual small numbers) and learns from three
groups of rows. A recipe may say what data it takes; it cannot say which checks it skips.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gnomon.sequence.particle import GaussianStart, GaussianView, LinearMove


class Recipe(NamedTuple):
    arguments: dict[str, Any] = {}  # to every constructor call
    settings: tuple[dict[str, Any], ...] = ({},)  # each is tested like an estimator of its own
    data: Callable[[int, int, int], tuple] | None = None  # (rows, columns, seed) -> (X,) or (X, y)
    sequence: int | None = None  # rows form sequences of this length
    answers: tuple[str, ...] = ()  # attributes to compare where there is nothing to predict


def each(name, *values):
    """One setting for each value of one argument."""
    return tuple({name: value} for value in values)


def categories(n, d, seed):
    """Codes 0 to 3 in every column, and three classes that prefer some of them."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = (y[:, None] + rng.integers(0, 3, size=(n, d)) * rng.integers(0, 2, size=(n, d))) % 4
    return X.astype(float), y


def counts(n, d, seed):
    """Counts of three groups that follow each other."""
    rng = np.random.default_rng(seed)
    return (rng.poisson(1 + 6 * (np.arange(n) // 7 % 3), size=(d, n)).T.astype(float),)


def trials(n, d, seed):
    """Eight balls in d boxes, row by row."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(d), size=3)[np.arange(n) // 7 % 3]
    return (np.array([rng.multinomial(8, share) for share in shares], dtype=float),)


def symbols(n, d, seed):
    """One column of symbols 0 to 3."""
    rng = np.random.default_rng(seed)
    return ((2 * (np.arange(n) // 7 % 2) + rng.integers(0, 2, size=n)).astype(float)[:, None],)


def numbers(n, d, seed):
    """Rows of three groups that follow each other."""
    rng = np.random.default_rng(seed)
    return (4.0 * np.array([-1, 0, 1])[np.arange(n) // 7 % 3][:, None] + rng.normal(size=(n, d)),)


def walks(n, d, seed):
    """Steps of a walker."""
    return (np.cumsum(np.random.default_rng(seed).normal(size=(n, d)), axis=0),)


def measurements(n, d, seed):
    """What three instruments say of a walker."""
    return walks(n, 3, seed)


def labeled_sequences(n, d, seed):
    """Many short sequences, each with a label."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return [rng.normal(3.0 * label, size=(8, d)) for label in y], y


def songs(n, d, seed):
    """Sequences of vectors, of a few lengths."""
    rng = np.random.default_rng(seed)
    return ([rng.normal(3.0 * (i % 3), size=(5 + i % 4, d)) for i in range(n)],)


def tagged_sentences(n, d, seed):
    """Four words each, and their parts of speech."""
    rng = np.random.default_rng(seed)
    words = {"D": ["a", "the"], "N": ["dog", "cat", "bird"], "V": ["sees", "barks", "runs"]}
    tags = [["D", "N", "V", "N"] if rng.random() < 0.5 else ["N", "V", "D", "N"] for _ in range(n)]
    return [[str(rng.choice(words[tag])) for tag in sentence] for sentence in tags], tags


def symbol_sequences(n, d, seed):
    """Sequences of letters."""
    rng = np.random.default_rng(seed)
    return ([list(rng.choice(list("abc"), size=9, p=[0.5, 0.3, 0.2])) for _ in range(n)],)


def games(n, d, seed):
    """Who played whom, and the points."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(6, size=2, replace=False) for _ in range(n)]
    return (
        [(f"team {a}", f"team {b}", int(rng.poisson(20 + a)), int(rng.poisson(20 + b))) for a, b in pairs],
    )


def sounds(n, d, seed):
    """Two words, spoken a few times."""
    from gnomon.datasets import make_toy_words

    return make_toy_words(["one", "two"], 5, random_state=seed)


def patches(n, d, seed):
    """Small pictures with and without a face."""
    from gnomon.datasets import make_face_patches

    return make_face_patches(n, window=8, random_state=seed)


def word_counts(n, d, seed):
    """Short documents about one of three subjects."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(d, 0.5), size=3)[rng.permutation(np.arange(n) % 3)]
    return (np.array([rng.multinomial(12, share) for share in shares], dtype=float),)


def ratings(n, d, seed):
    """Who rated what how, every pair once; n ratings of 12 items."""
    rng = np.random.default_rng(seed)
    cells = rng.permutation(12 * (n // 5 + 2))[:n]
    pairs = np.column_stack([cells // 12, cells % 12])
    tastes = np.random.default_rng(9).normal(size=(2, 200, 2))
    y = 3 + (tastes[0][pairs[:, 0] % 200] * tastes[1][pairs[:, 1]]).sum(axis=1)
    return pairs, np.clip(np.round(2 * y) / 2, 0.5, 6)


def transactions(n, d, seed):
    """Baskets of a few items."""
    rng = np.random.default_rng(seed)
    return ([list(rng.choice(list("abcdef"), size=rng.integers(1, 5), replace=False)) for _ in range(n)],)


def world(n, d, seed):
    """A process of twelve states that may end; as data it is the list of its states."""
    from gnomon.decide import MDP

    class States(MDP):
        def __getitem__(self, rows):
            return self if np.ndim(rows) == 0 and not isinstance(rows, slice) else np.arange(12)[rows]

    rng = np.random.default_rng(seed)
    ends = rng.uniform(0.05, 0.3, size=(12, 2))
    chances = rng.dirichlet(np.ones(12), size=(12, 2)) * (1 - ends)[..., None]
    return (States(chances, rng.normal(size=(12, 2)), discount=0.9, termination=ends, layout="sas"),)


def journeys(n, d, seed):
    """Readings of a robot in a corridor, and the moves between them."""
    rng = np.random.default_rng(seed)
    return ([(rng.integers(0, 2, size=6), rng.integers(0, 2, size=5)) for _ in range(n)],)


SHORT = {"discount": 0.9, "n_episodes": 4, "max_steps": 20}


def factors(n, d, seed):
    """Pairs of a few variables, in a ring and around it."""
    from gnomon.graphical import Factor

    rng = np.random.default_rng(seed)
    pairs = [(f"v{i % 7}", f"v{(i + 1 + i // 7) % 7}") for i in range(n)]
    return ([Factor(pair, 1.0 + 0.2 * rng.random((2, 2))) for pair in pairs if pair[0] != pair[1]],)


def states(n, d, seed):
    """Codes 0 to 3 in every column that hang together."""
    return categories(n, d, seed)[:1]


def images(n, d, seed):
    """Small pictures of three kinds: a bright row, a bright column, or neither."""
    rng = np.random.default_rng(seed)
    X, y = 0.2 * rng.normal(size=(n, 6, 6)), rng.permutation(np.arange(n) % 3)
    for image, label, at in zip(X, y, rng.integers(0, 6, size=n)):
        image[at, :] += label == 1
        image[:, at] += label == 2
    return X, y


def measured_images(n, d, seed):
    """Small pictures and a number for each: its mean brightness."""
    X, _ = images(n, d, seed)
    return X, X.mean(axis=(1, 2)) * 10


def measured_sequences(n, d, seed):
    """Short sequences and a number for each: its sum."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(4 + i % 3, d)) for i in range(n)]
    return X, np.array([x.sum() for x in X])


def copies(n, d, seed):
    """Bits to say again."""
    from gnomon.datasets import make_copy_task

    return make_copy_task(n, 2, 2, random_state=seed)


def small_network():
    """A convolution and an output."""
    from gnomon.neural import layers

    return [layers.Conv2d(3, 3), layers.Activation("relu")]


NETWORK = {"layers": small_network(), "max_iter": 3, "batch_size": 32, "early_stopping": False}


RECIPES: dict[str, Recipe] = {
    "ActionHMM": Recipe(arguments={"n_states": 2, "n_actions": 2, "n_iter": 5}, data=journeys),
    "AlternatingLeastSquares": Recipe(
        arguments={"factors": 3, "iterations": 3},
        settings=({}, {"use_cg": False, "calculate_training_loss": True}),
        data=ratings,
    ),
    "Autoencoder": Recipe(arguments={"max_iter": 3, "n_components": 1}),
    "BayesianMatrixFactorization": Recipe(
        arguments={"factors": 2, "n_burn": 3, "n_samples": 5}, data=ratings
    ),
    "BayesianNetwork": Recipe(settings=({}, {"prior": "bdeu"}), data=states),  # edges would name columns
    "BayesianNetworkClassifier": Recipe(
        settings=({}, {"structure": "naive"}, {"structure": "search"}), data=categories
    ),
    "BayesianPersonalizedRanking": Recipe(arguments={"factors": 3, "iterations": 5}, data=ratings),
    "BeliefPropagation": Recipe(data=factors, answers=("factor_beliefs_", "log_partition_")),
    "CCA": Recipe(arguments={"n_components": 1}),  # of one target
    "CascadeClassifier": Recipe(arguments={"window": 8, "max_stages": 2, "max_rounds": 3}, data=patches),
    "CategoricalHMM": Recipe(data=symbols, sequence=20),
    "CategoricalNB": Recipe(data=categories),
    "ChowLiuTree": Recipe(data=states, answers=("adjacency_", "score_")),
    "CodewordHistogram": Recipe(arguments={"n_codes": 4}, data=songs),
    "ContentBasedRecommender": Recipe(data=ratings),
    "ConvNetClassifier": Recipe(arguments=NETWORK, data=images),
    "ConvNetRegressor": Recipe(arguments=NETWORK, data=measured_images),
    "DQN": Recipe(
        arguments={
            "hidden_layer_sizes": (8,),
            "n_steps": 60,
            "learning_starts": 10,
            "batch_size": 4,
            "buffer_size": 50,
        },
        data=world,
    ),
    "ElasticNetCV": Recipe(arguments={"alphas": [0.1, 10.0]}),  # whatever the folds, the choice is plain
    "ExactSearch": Recipe(data=states, answers=("adjacency_", "score_")),
    "FactorAnalysis": Recipe(arguments={"n_components": 1}),
    "FeedForwardLanguageModel": Recipe(arguments={"state_size": 4, "max_iter": 3}, data=symbol_sequences),
    "FiniteHorizon": Recipe(arguments={"horizon": 4}, data=world),
    "GMMHMM": Recipe(data=numbers, sequence=20),
    "GaussianHMM": Recipe(data=numbers, sequence=20),
    "GaussianMixture": Recipe(settings=each("covariance_type", "full", "tied", "diag", "spherical")),
    "GaussianProcessRegressor": Recipe(arguments={"alpha": 0.01}),  # rounded rows meet with different targets
    "GaussianRandomWalk": Recipe(data=walks, sequence=20, answers=("covariance_", "n_features_in_")),
    "GenerativeAdversarialNetwork": Recipe(
        arguments={"generator": (4,), "discriminator": (4,), "max_iter": 3, "n_components": 2}
    ),
    "GreedyFactorization": Recipe(arguments={"max_factors": 3, "stopping": "gain"}, data=ratings),
    "HMM": Recipe(data=numbers, sequence=20),
    "HMMClassifier": Recipe(data=labeled_sequences),
    "HMMTagger": Recipe(data=tagged_sentences),
    "HillClimbSearch": Recipe(data=states, answers=("adjacency_", "score_")),
    "HistGradientBoostingClassifier": Recipe(
        arguments={"categorical_features": None, "max_iter": 5}  # every column is a number
    ),
    "HistGradientBoostingRegressor": Recipe(
        arguments={"categorical_features": None, "max_iter": 5}  # every column is a number
    ),
    "HybridFactorization": Recipe(arguments={"factors": 2, "iterations": 5}, data=ratings),
    "IncrementalPCA": Recipe(arguments={"n_components": 1}),
    "ItemItemRecommender": Recipe(data=ratings),
    "KMeans": Recipe(arguments={"n_init": 2}),
    "KNNRecommender": Recipe(settings=each("mode", "user", "item"), data=ratings),
    "KalmanFilter": Recipe(
        arguments={"max_iter": 10},
        data=walks,
        sequence=20,
        answers=("transition_covariance_", "observation_covariance_", "n_features_in_"),
    ),
    "KernelCCA": Recipe(arguments={"n_components": 1}),
    "KernelPCA": Recipe(settings=({}, {"kernel": "rbf", "gamma": 0.05})),
    "LassoCV": Recipe(arguments={"alphas": [0.1, 10.0]}),
    "LatentClassModel": Recipe(arguments={"n_init": 2, "max_iter": 50}, data=states),
    "LatentDirichletAllocation": Recipe(
        settings=(*each("learning_method", "batch", "em"), {"learning_method": "online", "max_iter": 2}),
        data=word_counts,
    ),
    "LinearProgram": Recipe(data=world),
    "LocalOutlierFactor": Recipe(answers=("offset_", "n_features_in_")),
    "LogisticRegressionCV": Recipe(arguments={"Cs": [0.01, 1.0], "cv": 3}),
    "MLPClassifier": Recipe(
        arguments={"hidden_layer_sizes": (8,), "max_iter": 60, "learning_rate_init": 0.05},
        settings=each("solver", "adam", "lbfgs"),
    ),
    "MLPRegressor": Recipe(
        arguments={"hidden_layer_sizes": (8,), "max_iter": 60, "learning_rate_init": 0.05},
        settings=each("solver", "adam", "lbfgs"),
    ),
    "MarkovChain": Recipe(data=symbol_sequences, answers=("transmat_", "startprob_")),
    "MarkovRandomField": Recipe(data=states),
    "MarkovRanker": Recipe(data=games, answers=("scores_", "ranking_")),
    "MatrixFactorization": Recipe(
        arguments={"factors": 2, "iterations": 5},
        settings=(
            {},
            {"n_init": 2, "biases": True},
            {"solver": "cd", "nonnegative": True},
            {"solver": "sgd", "biases": True, "implicit": True},
        ),
        data=ratings,
    ),
    "MeanRecommender": Recipe(arguments={"level": "biases", "regularization": 1.0}, data=ratings),
    "ModelBased": Recipe(arguments=SHORT, data=world),
    "MultinomialHMM": Recipe(data=trials, sequence=20),
    "NMF": Recipe(
        settings=({}, {"solver": "mu", "beta_loss": "kullback-leibler"}), arguments={"max_iter": 50}
    ),
    "NearestNeighbors": Recipe(answers=("n_samples_fit_", "n_features_in_")),
    "NeuralTuringMachine": Recipe(
        arguments={"memory_slots": 4, "memory_width": 2, "controller_size": 4, "max_iter": 2}, data=copies
    ),
    "NuSVC": Recipe(arguments={"nu": 0.3}),  # one half is too much where classes are uneven
    "NuclearNormCompletion": Recipe(arguments={"max_iter": 5}, data=ratings),
    "OptimisticPlanning": Recipe(arguments={**SHORT, "reward_max": 5.0}, data=world),
    "PC": Recipe(data=states, answers=("adjacency_", "score_")),
    "PCA": Recipe(arguments={"n_components": 1}, settings=({}, {"svd_solver": "full"})),
    "PPO": Recipe(
        arguments={"hidden_layer_sizes": (8,), "n_steps": 60, "steps_per_iteration": 20, "n_epochs": 1},
        data=world,
    ),
    "ParticleFilter": Recipe(
        arguments={
            "transition_sample": LinearMove(0.9 * np.eye(3), np.zeros(3), np.eye(3)),
            "observation_logpdf": GaussianView(np.eye(3), np.zeros(3), np.eye(3), 0.0),
            "initial_sample": GaussianStart(np.zeros(3), np.eye(3)),
            "n_particles": 50,
        },
        data=measurements,
        answers=("means_", "weights_", "loglik_"),
    ),
    "PoissonHMM": Recipe(data=counts, sequence=20),
    "PolicyGradient": Recipe(
        arguments={"n_iterations": 3, "episodes_per_iteration": 2},
        settings=(
            {},
            {"exact": True, "discount": 0.9},
            {"parameterization": "network", "hidden_layer_sizes": (8,)},
        ),
        data=world,
    ),
    "PolicyIteration": Recipe(settings=each("n_sweeps", None, "auto"), data=world),
    "PopularityRecommender": Recipe(data=ratings),
    "PosteriorSampling": Recipe(arguments=SHORT, data=world),
    "ProbabilisticPCA": Recipe(arguments={"n_components": 1}),
    "QLearning": Recipe(arguments=SHORT, settings=({}, {"double": True}, {"trace_decay": 0.5}), data=world),
    "RadiusNeighborsClassifier": Recipe(
        arguments={"radius": 40.0, "weights": "distance"}  # somebody is always in reach
    ),
    "RadiusNeighborsRegressor": Recipe(arguments={"radius": 40.0, "weights": "distance"}),
    "RandomWalkClassifier": Recipe(arguments={"width": 10.0}),
    "RecurrentClassifier": Recipe(arguments={"state_size": 4, "max_iter": 3}, data=labeled_sequences),
    "RecurrentLanguageModel": Recipe(
        arguments={"state_size": 4, "max_iter": 3},
        settings=each("cell", "rnn", "lstm"),
        data=symbol_sequences,
    ),
    "RecurrentRegressor": Recipe(arguments={"state_size": 4, "max_iter": 3}, data=measured_sequences),
    "Sarsa": Recipe(arguments=SHORT, settings=({}, {"expected": True}, {"n_step": 2}), data=world),
    "TokenClassifier": Recipe(data=tagged_sentences),
    "TransactionEncoder": Recipe(data=transactions),
    "TruncatedSVD": Recipe(arguments={"n_components": 1}),
    "ValueIteration": Recipe(
        settings=({}, *each("update", "gauss_seidel", "prioritized"), {"update": "sampled", "max_iter": 5}),
        data=world,
    ),
    "VariationalAutoencoder": Recipe(
        arguments={"hidden_layer_sizes": (4,), "max_iter": 8, "n_components": 1, "learning_rate_init": 0.02}
    ),
    "WordRecognizer": Recipe(arguments={"n_states": 2, "n_codes": 8, "n_iter": 3}, data=sounds),
}
