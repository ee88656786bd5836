"""Options that all hidden Markov models share, and priors of their emissions, after one step from a start by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon import sequence
from gnomon.core.errors import DataError
from gnomon.distributions import Poisson

RNG = np.random.default_rng(0)
STATE = np.arange(40) // 5 % 2
LINE = (RNG.normal(size=(40, 1)) + 3.0 * STATE[:, None]).round(2)
COUNTS = RNG.poisson(2 + 6 * STATE)[:, None].astype(float)
SYMBOLS = np.where(RNG.random(40) < 0.7, STATE, 2)[:, None]
BALLS = np.array([RNG.multinomial(8, [0.6, 0.3, 0.1] if s else [0.1, 0.3, 0.6]) for s in STATE], dtype=float)
BOTH = [[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]
MODELS = [  # class, other arguments, rows, emissions to start from, their letters
    (sequence.CategoricalHMM, {}, SYMBOLS, {"emissionprob_": [[0.6, 0.2, 0.2], [0.2, 0.5, 0.3]]}, "e"),
    (sequence.PoissonHMM, {}, COUNTS, {"lambdas_": [[2.0], [6.0]]}, "l"),
    (
        sequence.GaussianHMM,
        {"covars_prior": 0},
        LINE,
        {"means_": [[0.0], [2.0]], "covars_": [[1.0], [2.0]]},
        "mc",
    ),
    (
        sequence.GMMHMM,
        {"n_mix": 2},
        LINE,
        {
            "weights_": [[0.5, 0.5], [0.3, 0.7]],
            "means_": [[[-1.0], [1.0]], [[2.0], [4.0]]],
            "covars_": np.ones((2, 2, 1)),
        },
        "mcw",
    ),
    (sequence.MultinomialHMM, {}, BALLS, {"emissionprob_": BOTH}, "e"),
    (sequence.HMM, {"emissions": Poisson([[2.0], [6.0]])}, COUNTS, {}, "e"),
]
IDS = [case[0].__name__ for case in MODELS]
START, MOVES = np.array([0.4, 0.6]), np.array([[0.8, 0.2], [0.3, 0.7]])
models = pytest.mark.parametrize(("cls", "more", "X", "emission", "letters"), MODELS, ids=IDS)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")


def by_hand(cls, more, emission, **options):
    """A model that starts from known numbers and makes one step."""
    model = cls(**{"n_components": 2, "init_params": "", "n_iter": 1, **more, **options})
    for name, value in {"startprob_": START, "transmat_": MOVES, **emission}.items():
        setattr(model, name, np.array(value, dtype=float))
    if cls is sequence.HMM:
        model.emission_ = model.emissions
    return model


@quiet
@models
def test_priors_of_start_and_moves_are_counts(cls, more, X, emission, letters):
    before = by_hand(cls, more, emission)
    gamma = before.predict_proba(X)
    plain = by_hand(cls, more, emission).fit(X)
    assert_allclose(plain.startprob_, gamma[0], rtol=1e-6)
    a, b = np.array([3.0, 1.5]), np.array([[2.0, 1.0], [4.0, 6.0]])
    model = by_hand(cls, more, emission, startprob_prior=a, transmat_prior=b).fit(X)
    assert_allclose(model.startprob_, (gamma[0] + a - 1) / (1 + (a - 1).sum()), rtol=1e-6)
    counts = plain.transmat_ * gamma[:-1].sum(axis=0)[:, None] + b - 1
    assert_allclose(model.transmat_, counts / counts.sum(axis=1, keepdims=True), rtol=1e-6)


@quiet
@models
def test_only_what_params_names_is_learned(cls, more, X, emission, letters):
    whole = by_hand(cls, more, emission).fit(X)
    for learned in ["s", "t", letters]:
        model = by_hand(cls, more, emission, params=learned).fit(X)
        start = model.startprob_ if "s" in learned else START
        moves = whole.transmat_ if "t" in learned else MOVES
        assert_allclose(model.startprob_, whole.startprob_ if "s" in learned else start)
        assert_allclose(model.transmat_, moves)
        for name, value in emission.items():
            if learned == letters:
                assert_allclose(getattr(model, name), getattr(whole, name))
            else:
                assert_allclose(np.ravel(getattr(model, name)), np.ravel(value))


@quiet
@models
def test_starts_that_are_kept_or_follow_from_the_moves(cls, more, X, emission, letters):
    fixed = by_hand(cls, more, emission, start="fixed", n_iter=5).fit(X)
    assert_allclose(fixed.startprob_, START)
    tied = by_hand(cls, more, emission, start="stationary", n_iter=5).fit(X)
    assert_allclose(tied.startprob_ @ tied.transmat_, tied.startprob_, atol=1e-6)
    assert_allclose(tied.startprob_.sum(), 1.0)


@quiet
@models
def test_the_likeliest_state_of_every_row(cls, more, X, emission, letters):
    weak = by_hand(cls, more, emission, algorithm="map")
    weak.transmat_ = np.array([[0.55, 0.45], [0.5, 0.5]])
    np.testing.assert_array_equal(weak.predict(X), weak.predict_proba(X).argmax(axis=1))
    _, states = weak.decode(X)
    np.testing.assert_array_equal(states, weak.predict_proba(X).argmax(axis=1))


@quiet
@models
def test_ends_masks_and_starts(cls, more, X, emission, letters):
    lengths = [10, 20, 10]
    fresh = {"n_components": 2, "random_state": 0, "n_iter": 4, **more}
    ending = cls(end=True, **fresh).fit(X, lengths=lengths)
    assert_allclose(ending.transmat_.sum(axis=1) + ending.endprob_, 1.0)
    assert (ending.endprob_ > 0).any()
    never = cls(transmat_mask=[[True, True], [False, True]], **fresh).fit(X, lengths=lengths)
    assert never.transmat_[1].tolist() == [0.0, 1.0]
    if cls is not sequence.HMM:  # whose emissions are given
        scores = [
            [cls(**{**fresh, "random_state": s, "n_iter": 60}, n_init=n).fit(X).score(X) for s in range(4)]
            for n in (1, 6)
        ]
        assert np.mean(scores[1]) >= np.mean(scores[0])


@quiet
@pytest.mark.parametrize("method", ["hard", "direct"])
@models
def test_other_ways_to_learn(cls, more, X, emission, letters, method):
    if method == "direct" and cls in (sequence.GMMHMM, sequence.MultinomialHMM):
        with pytest.raises(DataError, match="knows Poisson, categorical and diagonal Gaussian"):
            by_hand(cls, more, emission, method=method).fit(X)
        return
    start = by_hand(cls, more, emission)
    model = by_hand(cls, more, emission, method=method, n_iter=60).fit(X)
    if method == "direct":
        em = by_hand(cls, more, emission, n_iter=2000, tol=1e-9).fit(X)
        assert model.score(X) >= em.score(X) - 0.05
    else:  # parameters are those of the path: counts of its moves
        path = model.predict(X)
        counts = np.zeros((2, 2))
        np.add.at(counts, (path[:-1], path[1:]), 1)
        assert_allclose(model.transmat_, counts / counts.sum(axis=1, keepdims=True), atol=1e-8)
    assert model.score(X) > start.score(X)


@quiet
def test_prior_of_rates():
    _, more, X, emission, _ = MODELS[1]
    gamma = by_hand(sequence.PoissonHMM, more, emission).predict_proba(X)
    model = by_hand(
        sequence.PoissonHMM, more, emission, lambdas_prior=5.0, lambdas_weight=[[2.0], [4.0]]
    ).fit(X)
    expected = (5.0 + gamma.T @ X) / (np.array([[2.0], [4.0]]) + gamma.sum(axis=0)[:, None])
    assert_allclose(model.lambdas_, expected, rtol=1e-6)


@quiet
def test_prior_of_the_weights_of_parts():
    cls, more, X, emission, _ = MODELS[3]
    plain = by_hand(cls, more, emission).fit(X)
    gamma = by_hand(cls, more, emission).predict_proba(X)
    prior = np.array([[2.0, 1.0], [3.0, 5.0]])
    model = by_hand(cls, more, emission, weights_prior=prior).fit(X)
    counts = plain.weights_ * gamma.sum(axis=0)[:, None] + prior - 1
    assert_allclose(model.weights_, counts / counts.sum(axis=1, keepdims=True), rtol=1e-6)


@quiet
@pytest.mark.parametrize("cls", [sequence.GaussianHMM, sequence.GMMHMM])
def test_variances_have_a_floor(cls):
    X = np.repeat([[0.0], [5.0]], 20, axis=0)
    X[:20] += 1e-6 * RNG.normal(size=(20, 1))
    more = {"covars_prior": 0} if cls is sequence.GaussianHMM else {}
    for floor in (0.001, 0.25):
        model = cls(2, min_covar=floor, n_iter=10, random_state=0, **more).fit(X)
        assert_allclose(np.ravel(model.covars_), floor, rtol=1e-2)


@quiet
def test_balls_of_a_row_that_is_drawn():
    cls, more, X, emission, _ = MODELS[4]
    assert (
        by_hand(cls, more, emission, n_trials=5).fit(X).sample(7, random_state=0)[0].sum(axis=1) == 5
    ).all()
    for model in (
        cls(2, random_state=0, n_iter=2),
        by_hand(cls, more, emission),
    ):  # that of the data, if not said
        assert (model.fit(X).sample(7, random_state=0)[0].sum(axis=1) == 8).all()
