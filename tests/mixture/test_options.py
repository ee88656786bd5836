"""Options of mixtures: starts, priors of the weights, runs that go on, in every family."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from gnomon import mixture
from gnomon.core.errors import DataError
from gnomon.distributions import Gaussian

RNG = np.random.default_rng(0)
GROUP = np.arange(60) % 2
COUNTS = RNG.poisson(np.where(GROUP, 12, 2)[:, None], size=(60, 2)).astype(float)
BITS = (RNG.random((60, 6)) < np.where(GROUP, 0.9, 0.15)[:, None]).astype(float)
WAITS = RNG.exponential(np.where(GROUP, 50.0, 0.5)[:, None], size=(60, 3))
TOSSES = RNG.binomial(9, np.where(GROUP, 0.9, 0.1)[:, None], size=(60, 2)).astype(float)
SHARES = np.where(GROUP[:, None], [0.7, 0.2, 0.1], [0.1, 0.2, 0.7])
BALLS = np.array([RNG.multinomial(20, p) for p in SHARES], dtype=float)
CODES = np.array([[RNG.choice(3, p=p) for _ in range(5)] for p in SHARES], dtype=float)
POINTS = RNG.normal(size=(60, 2)) + 8 * GROUP[:, None]


def binomial(X, p):
    return stats.binom.logpmf(X, 9, p).sum(axis=1)


FAMILIES = [  # class, rows, start, name of what is learned, log-density, M-step of weighted rows
    (
        mixture.PoissonMixture, COUNTS, [[3.0, 4.0], [9.0, 8.0]], "rates_",
        lambda X, p: stats.poisson.logpmf(X, p).sum(axis=1), lambda X, r: r @ X / r.sum(),
    ),
    (
        mixture.ExponentialMixture, WAITS, [[2.0, 1.0, 3.0], [0.1, 0.02, 0.05]], "rates_",
        lambda X, p: stats.expon.logpdf(X, scale=1 / np.asarray(p)).sum(axis=1), lambda X, r: r.sum() / (r @ X),
    ),
    (
        mixture.BernoulliMixture, BITS, [[0.3] * 6, [0.6] * 6], "probabilities_",
        lambda X, p: stats.bernoulli.logpmf(X, p).sum(axis=1), lambda X, r: r @ X / r.sum(),
    ),
    (
        mixture.BinomialMixture, TOSSES, [[0.3, 0.4], [0.6, 0.7]], "probabilities_",
        binomial, lambda X, r: r @ X / r.sum() / 9,
    ),
    (
        mixture.MultinomialMixture, BALLS, [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], "probabilities_",
        lambda X, p: stats.multinomial.logpmf(X, 20, p), lambda X, r: r @ X / (r @ X).sum(),
    ),
    (
        mixture.CategoricalMixture, CODES, [[[0.5, 0.3, 0.2]] * 5, [[0.2, 0.2, 0.6]] * 5], "probabilities_",
        lambda X, p: sum(np.log(np.asarray(p)[j, X[:, j].astype(int)]) for j in range(5)),
        lambda X, r: np.array([[r @ (X[:, j] == s) / r.sum() for s in range(3)] for j in range(5)]),
    ),
]  # fmt: skip
IDS = [case[0].__name__ for case in FAMILIES]
OTHERS = [
    (mixture.Mixture, POINTS),
    (mixture.BayesianGaussianMixture, POINTS),
    (mixture.GaussianMixture, POINTS),
]
EVERY = [case[:2] for case in FAMILIES] + OTHERS
EVERY_ID = [case[0].__name__ for case in EVERY]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def by_name(cls, **options):
    """`Mixture` names its family first."""
    return cls("gaussian", **options) if cls is mixture.Mixture else cls(**options)


@quiet
@pytest.mark.parametrize("concentration", [None, 3.0, [1.0, 5.0]])
@pytest.mark.parametrize(("cls", "X", "start", "name", "log", "best"), FAMILIES, ids=IDS)
def test_one_step_from_a_start_by_hand(cls, X, start, name, log, best, concentration):
    given = [0.3, 0.7]
    model = cls(
        2, weights_init=given, parameters_init=start, weight_concentration=concentration, max_iter=1
    ).fit(X)
    joint = np.log(given) + np.column_stack([log(X, p) for p in start])
    R = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    assert_allclose(getattr(model, name), [best(X, r) for r in R.T], rtol=1e-8)
    extra = np.zeros(2) if concentration is None else np.broadcast_to(concentration, 2) - 1.0
    assert_allclose(model.weights_, (R.sum(axis=0) + extra) / (60 + extra.sum()), rtol=1e-8)


@quiet
@pytest.mark.parametrize(("cls", "X"), EVERY, ids=EVERY_ID)
@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_starts_find_groups_that_lie_apart(cls, X, init):
    def first(seed):
        return next(
            iter(by_name(cls, n_components=2, init_params=init, random_state=seed).iterate(X))
        ).predict_proba(X)

    if init.startswith("random"):
        assert len({first(seed).tobytes() for seed in range(6)}) > 1
    if init != "random":  # which begins with components that are all alike
        found = (
            by_name(cls, n_components=2, init_params=init, random_state=1, max_iter=500, n_init=5)
            .fit(X)
            .predict(X)
        )
        assert max((found == GROUP).mean(), (found != GROUP).mean()) >= 0.88


@quiet
@pytest.mark.parametrize(("cls", "X"), EVERY, ids=EVERY_ID)
def test_the_best_start_is_kept(cls, X):
    def end(seed, n_init):
        model = by_name(
            cls, n_components=3, init_params="random_from_data", n_init=n_init, max_iter=3, random_state=seed
        ).fit(X)
        return model.trace_.objective[-1] if n_init == 1 else max(model.trace_.objective[-1], -np.inf)

    singles = [end(seed, 1) for seed in range(6)]
    many = [end(seed, 8) for seed in range(6)]
    assert np.mean(many) > np.mean(singles)
    assert min(many) >= min(singles)


@quiet
@pytest.mark.parametrize(("cls", "X"), EVERY, ids=EVERY_ID)
def test_a_warm_start_goes_on(cls, X):
    options = dict(n_components=2, random_state=0, init_params="random", tol=0.0)
    options["tol"] = 1e-300
    warm = by_name(cls, warm_start=True, max_iter=3, **options).fit(X)
    before = warm.trace_.objective[-1]
    warm.fit(X)
    through = by_name(cls, max_iter=6, **options).fit(X)
    assert warm.trace_.objective[-1] > before
    assert_allclose(warm.predict_proba(X), through.predict_proba(X), atol=0.02)


@quiet
def test_rows_above_the_limit_are_ones():
    X = RNG.normal(size=(40, 3))
    start = dict(weights_init=[0.4, 0.6], parameters_init=[[0.2, 0.5, 0.6], [0.6, 0.4, 0.3]], max_iter=5)
    cut = mixture.BernoulliMixture(2, binarize=0.4, **start).fit(X)
    given = mixture.BernoulliMixture(2, binarize=None, **start).fit((X > 0.4).astype(float))
    assert_allclose(cut.probabilities_, given.probabilities_)
    assert_allclose(cut.predict_proba(X), given.predict_proba((X > 0.4).astype(float)))
    with pytest.raises(DataError):
        mixture.BernoulliMixture(2, binarize=None).fit(X)


@quiet
def test_start_of_a_generic_mixture():
    X = np.array([[0.0], [1.0], [10.0], [12.0]])
    start = Gaussian([[0.0], [10.0]], [[[1.0]], [[1.0]]])
    model = mixture.Mixture(
        start, 2, weights_init=[0.2, 0.8], weight_concentration=[3.0, 1.0], max_iter=1
    ).fit(X)
    assert_allclose(model.weights_, [(2 + 2) / 6, 2 / 6], atol=1e-8)
    assert_allclose(np.ravel(model.components_.means), [0.5, 11.0], atol=1e-6)


def test_smoothing_of_aspects_is_added_to_every_count():
    N = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 2.0]])
    rough = mixture.AspectModel(1, smoothing=0.0, random_state=0).fit(N)
    smooth = mixture.AspectModel(1, smoothing=2.0, random_state=0).fit(N)
    words = N.sum(axis=0)
    assert_allclose(np.sort(np.ravel(rough.components_)), np.sort(words / words.sum()))
    found = np.ravel(smooth.components_)
    assert_allclose(found, (words + 2.0) / (words + 2.0).sum())
