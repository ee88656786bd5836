"""Hidden Markov models: the oracles, enumeration, and what must never happen."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.saving import load, save
from gnomon.core.threads import threads
from gnomon.distributions import Categorical, Gaussian, Poisson, Product
from gnomon.sequence import (
    GMMHMM,
    HMM,
    CategoricalHMM,
    GaussianHMM,
    HMMClassifier,
    MultinomialHMM,
    PoissonHMM,
    left_right_mask,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*did not converge")


def casino(**options):
    model = CategoricalHMM(2, init_params="", n_iter=1, **options)
    model.startprob_, model.transmat_ = np.array([0.5, 0.5]), np.array([[0.95, 0.05], [0.10, 0.90]])
    model.emissionprob_ = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])
    return model


def two_states(**options):
    model = CategoricalHMM(2, **options)
    model.startprob_, model.transmat_ = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.4, 0.6]])
    model.emissionprob_ = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    return model


def stopping():
    return CategoricalHMM.from_stop_matrix(
        [[0.5, 0.5, 0], [0, 0.8, 0.2]], [[0.9, 0.1], [0.1, 0.9]], [1, 0, 0]
    )


def faces(*rolls):
    return np.array(rolls).reshape(-1, 1) - 1


THE_DOG = np.array([[0], [0], [0], [1]])


def test_casino_three_sixes():
    model, X = casino(), faces(6, 6, 6)
    assert model.score(X) == pytest.approx(-2.8707733998, rel=1e-9)
    assert np.exp(model.score(X)) == pytest.approx(0.0566550926, rel=1e-8)
    assert_allclose(model.filter(X)[:, 1], [0.75, 0.8684210526, 0.9177732380])
    assert_allclose(model.predict_proba(X)[:, 1], [0.9401430031, 0.9438202247, 0.9177732380])
    score, path = model.decode(X)
    assert score == pytest.approx(-2.9833097536) and path.tolist() == [1, 1, 1]
    assert_allclose(model.predict_next(X).density([[5]]), 0.4433690841)
    assert_allclose(model.predict_next(X, 2).density([[5]]), 0.4185303882)
    with pytest.raises(DataError, match="horizon must be a whole number, at least 1; got -1"):
        model.predict_next(X, -1)  # a power of the transitions that is their inverse


def test_casino_one_baum_welch_step():
    model = casino().fit(faces(6, 6, 6))
    assert_allclose(model.startprob_, [0.0598569969, 0.9401430031], rtol=1e-8)
    assert_allclose(model.transmat_, [[0.7860915493, 0.2139084507], [0.0250487964, 0.9749512036]], rtol=1e-8)
    assert_allclose(model.emissionprob_[:, 5], 1)


def test_casino_one_six_six():
    X = faces(1, 6, 6)
    assert casino().score(X) == pytest.approx(-4.2655613393, rel=1e-9)
    assert_allclose(casino().predict_proba(X)[:, 1], [0.7585297511, 0.8168781935, 0.8126751277])
    model = casino().fit(X)
    assert_allclose(model.transmat_, [[0.7781444099, 0.2218555901], [0.0254237288, 0.9745762712]], rtol=1e-8)
    assert_allclose(model.emissionprob_[:, 5], [0.6053872054, 0.6823687752])


def test_casino_eight_rolls():
    X = faces(1, 2, 3, 6, 6, 6, 6, 1)
    smooth = [0.5713831104, 0.5982101872, 0.6798323290, 0.8450733547]
    smooth += [0.8975994596, 0.9017293742, 0.8625202191, 0.7319599996]
    assert casino().score(X) == pytest.approx(-12.5319427321, rel=1e-9)
    assert_allclose(casino().predict_proba(X)[:, 1], smooth)
    score, path = casino().decode(X)
    assert score == pytest.approx(-13.4135998844) and path.tolist() == [1] * 8


def test_rounding_marginals_is_not_viterbi():
    X = faces(1, 1, 6)
    assert_allclose(casino().predict_proba(X)[:, 1], [0.4629435829, 0.4715060413, 0.5267338978])
    assert casino().decode(X, algorithm="map")[1].tolist() == [0, 0, 1]
    score, path = casino().decode(X)
    assert path.tolist() == [0, 0, 0] and score == pytest.approx(-6.1710121770)


def test_casino_three_sequences():
    X, lengths = np.concatenate([faces(6, 6, 6), faces(1, 6, 6), faces(1, 1, 6)]), [3, 3, 3]
    assert casino().score(X, lengths=lengths) == pytest.approx(-12.4617759119, rel=1e-9)
    model = casino().fit(X, lengths)  # as hmmlearn has it: lengths in second place
    assert model.score(X, lengths=lengths) == pytest.approx(-5.6897036345, rel=1e-9)
    assert_allclose(model.startprob_, [0.2794612210, 0.7205387790])
    assert_allclose(model.transmat_, [[0.8561524992, 0.1438475008], [0.0308339698, 0.9691660302]], rtol=1e-8)
    assert_allclose(model.emissionprob_[:, 0], [0.5564164868, 0.2545449701])


def test_two_states_tables():
    X = np.array([[0], [1], [2]])
    model = two_states()
    tables = model.forward_backward(X)
    assert_allclose(np.exp(tables.log_alpha), [[0.3, 0.04], [0.0904, 0.0342], [0.007696, 0.028584]])
    assert_allclose(np.exp(tables.log_beta), [[0.106, 0.112], [0.25, 0.4], [1, 1]])
    assert np.exp(tables.log_likelihood) == pytest.approx(0.03628)
    assert_allclose(model.filter(X)[:, 0], [0.8823529412, 0.7255216693, 0.2121278942])
    assert_allclose(model.predict_proba(X)[:, 0], [0.8765159868, 0.6229327453, 0.2121278942])
    score, path = model.decode(X)
    assert path.tolist() == [0, 0, 1] and np.exp(score) == pytest.approx(0.01512)
    next_symbol = model.predict_next(X).density([[0], [1], [2]])
    assert_allclose(next_symbol, [0.2854553473, 0.3463638368, 0.3681808159])


def test_missing_observation():
    for X in (np.array([[0.0], [np.nan], [2.0]]), np.array([[0], [-1], [2]])):
        model = two_states()
        assert np.exp(model.score(X)) == pytest.approx(0.1021)
        assert_allclose(model.predict_proba(X)[:, 0], [0.8667972576, 0.5533790402, 0.1996082272])
        assert model.predict(X).tolist() == [0, 0, 1]
    every = sum(np.exp(two_states().score([[0], [v], [2]])) for v in range(3))
    assert every == pytest.approx(0.1021)


def test_stationary_start():
    model = two_states(start="stationary")
    assert_allclose(model.get_stationary_distribution(), [4 / 7, 3 / 7])
    model.startprob_ = model.get_stationary_distribution()
    assert model.score([[0], [1], [2]]) == pytest.approx(-3.3499612318, rel=1e-9)


def test_stop_model():
    model = stopping()
    assert np.exp(model.score(THE_DOG)) == pytest.approx(0.0198369)
    paths, scores = model.enumerate_paths(THE_DOG)
    found = {tuple(p + 1): np.exp(s) for p, s in zip(paths, scores) if np.isfinite(s)}
    expected = {(1, 1, 1, 2): 0.0164025, (1, 1, 2, 2): 0.002916, (1, 2, 2, 2): 0.0005184}
    assert found.keys() == expected.keys()
    assert_allclose([found[p] for p in expected], list(expected.values()))
    assert model.predict(THE_DOG).tolist() == [0, 0, 0, 1]
    assert_allclose(model.predict_proba(THE_DOG)[:, 0], [1, 0.9738668844, 0.8268681094, 0], atol=1e-12)
    counts = model.expected_counts(THE_DOG)
    assert_allclose(counts.trans, [[1.8007349939, 1], [0, 0.1992650061]])
    assert_allclose(counts.end, [0, 1])


def test_shifted_convention():
    tables = stopping().forward_backward(THE_DOG, convention="shifted")
    alpha = [[1, 0], [0.45, 0.45], [0.2025, 0.2385], [0.091125, 0.110205]]
    beta = [[0.0198369, 0.00009216], [0.04293, 0.001152], [0.081, 0.0144], [0, 0.18]]
    assert_allclose(np.exp(tables.log_alpha), alpha)
    assert_allclose(np.exp(tables.log_beta), beta)
    assert_allclose((np.array(alpha) * beta).sum(axis=1), 0.0198369)


def test_stop_model_lengths_and_sizes():
    model = stopping()
    assert np.exp(model.score([[0], [1]])) == pytest.approx(0.081)
    assert np.exp(model.score([[0], [1], [1]])) == pytest.approx(0.06237)
    assert np.exp(model.joint_log_probability([[0], [1], [1]], [0, 1, 1])) == pytest.approx(0.05832)
    assert model.joint_log_probability([[0], [1], [0]], [0, 1, 0]) == -np.inf
    A, end, start = model.transmat_, model.endprob_, model.startprob_
    lengths = [start @ np.linalg.matrix_power(A, n - 1) @ end for n in range(2, 6)]
    assert_allclose(lengths, [0.1, 0.13, 0.129, 0.1157])
    summed = [
        sum(np.exp(model.score(np.reshape(x, (-1, 1)))) for x in itertools.product([0, 1], repeat=n))
        for n in range(2, 6)
    ]
    assert_allclose(summed, lengths)
    drawn = model.sample_sequences(20000, random_state=0)[1]
    assert drawn.mean() == pytest.approx(7, abs=0.15)
    K, M = model.emissionprob_.shape
    assert (K + 1) + K * (K + 1) + K * M == 13


def test_stop_model_one_step():
    assert stopping().score(THE_DOG) == pytest.approx(-3.9202114393, rel=1e-9)
    model = stopping().set_params(init_params="", n_iter=1).fit(THE_DOG)
    assert_allclose(model.transmat_, [[0.6429508675, 0.3570491325], [0, 0.1661559414]], rtol=1e-8)
    assert_allclose(model.endprob_, [0, 0.8338440586])
    assert_allclose(model.emissionprob_, [[1, 0], [0.1661559414, 0.8338440586]])
    assert model.score(THE_DOG) == pytest.approx(-2.2328643812, rel=1e-9)


def test_supervised_counts_with_stop():
    X = np.array([0, 2, 0, 3, 1, 3, 1, 2]).reshape(-1, 1)  # e g, e h, f h, f g
    model = CategoricalHMM(2, end=True, random_state=0).fit(X, lengths=[2] * 4, states=[0, 1] * 4)
    assert_allclose(model.startprob_, [1, 0])
    assert_allclose(model.transmat_, [[0, 1], [0, 0]])
    assert_allclose(model.endprob_, [0, 1])
    assert_allclose(model.emissionprob_, [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    assert model.converged_ and len(model.trace_) == 1


def test_sequences_end_where_their_last_rows_are():
    states = np.array([0, 1, 0, 1, 0, 1, 1])  # 0 1, 0 1 0, 1 1
    model = CategoricalHMM(2, end=True, random_state=0).fit(states[:, None], lengths=[2, 3, 2], states=states)
    assert_allclose(model.startprob_, [2 / 3, 1 / 3])
    assert_allclose(model.transmat_, [[0, 2 / 3], [1 / 4, 1 / 4]])
    assert_allclose(model.endprob_, [1 / 3, 1 / 2])


def test_baum_welch_beats_the_hand_made_guess():
    X, lengths = np.array([0, 1, 0, 2, 0, 1]).reshape(-1, 1), [2, 2, 2]
    guess = CategoricalHMM.from_stop_matrix([[0, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0.5, 0.5]], [1, 0, 0])
    assert guess.score(X, lengths=lengths) == pytest.approx(-2.0794415417)
    model = CategoricalHMM(2, end=True, n_init=10, n_iter=500, tol=1e-12, random_state=0)
    assert model.fit(X, lengths=lengths).score(X, lengths=lengths) == pytest.approx(-1.9095425049, rel=1e-6)


SHORT = np.array([0, 1, 5, 6, 1.0]).reshape(-1, 1)


def hand_made(model, **attributes):
    model.startprob_, model.transmat_ = np.array([0.5, 0.5]), np.array([[0.8, 0.2], [0.3, 0.7]])
    for name, value in attributes.items():
        setattr(model, name, np.array(value, dtype=float))
    return model.set_params(init_params="", n_iter=1)


def test_gaussian_one_step():
    model = hand_made(GaussianHMM(2, covars_prior=0), means_=[[0], [5]], covars_=[[1], [1]])
    assert model.score(SHORT) == pytest.approx(-10.1792898397, rel=1e-9)
    ahead = model.predict_next(SHORT)
    assert_allclose(ahead.mean(), 1.0032221671)
    assert_allclose(ahead.variance(), 5.0096561190)
    model.fit(SHORT)
    assert_allclose(model.means_.ravel(), [0.6664761123, 5.4960124099])
    assert_allclose(model.covars_.ravel(), [0.2223143888, 0.2677153102])
    assert_allclose(model.transmat_, [[0.4998797652, 0.5001202348], [0.4992362398, 0.5007637602]], rtol=1e-8)
    assert model.score(SHORT) == pytest.approx(-6.2272255207, rel=1e-9)


def test_poisson_one_step():
    X = np.array([1, 0, 3, 7, 6]).reshape(-1, 1)
    model = hand_made(PoissonHMM(2), lambdas_=[[1], [6]])
    assert model.score(X) == pytest.approx(-10.8668056915, rel=1e-9)
    model.fit(X)
    assert_allclose(model.lambdas_.ravel(), [0.9544543367, 5.6954060252])
    assert_allclose(model.transmat_, [[0.5867483138, 0.4132516862], [0.0104921683, 0.9895078317]], rtol=1e-8)
    assert model.score(X) == pytest.approx(-9.2681764559, rel=1e-9)


@pytest.mark.parametrize(
    ("kind", "covars"),
    [("diag", np.ones((2, 2, 1))), ("full", np.ones((2, 2, 1, 1))), ("spherical", np.ones((2, 2)))],
)
def test_mixture_one_step(kind, covars):
    model = GMMHMM(2, 2, covariance_type=kind)
    means = [[[-1], [1]], [[4], [6]]]
    hand_made(model, means_=means, covars_=covars, weights_=[[0.5, 0.5], [0.3, 0.7]])
    assert model.score(SHORT) == pytest.approx(-11.0946747870, rel=1e-9)
    model.fit(SHORT)
    assert_allclose(model.weights_, [[0.2468970951, 0.7531029049], [0.1850075140, 0.8149924860]], rtol=1e-8)
    assert_allclose(model.means_.ravel(), [0.3208361167, 0.7779096382, 4.9464282100, 5.5745499750])


def test_equal_rows_make_a_mixture():
    emission = Gaussian([[0.0], [5.0]], [[1.0], [1.0]], covariance_type="diag")
    model = HMM.from_mixture(emission, [0.6, 0.4])
    assert model.score(SHORT) == pytest.approx(-9.4590055791, rel=1e-9)
    mixture = np.log(np.exp(emission.log_density(SHORT)) @ [0.6, 0.4]).sum()
    assert model.score(SHORT) == pytest.approx(mixture)


def test_classifier_casino_or_fair():
    fair = CategoricalHMM(1)
    fair.startprob_, fair.transmat_, fair.emissionprob_ = [1.0], [[1.0]], [[1 / 6] * 6]
    model = HMMClassifier.from_models({"casino": casino(), "fair": fair})
    X = [faces(6, 6, 6), faces(1, 2, 3)]
    assert_allclose(model.log_likelihoods(X)[0], [-2.8707733998, -5.3752784077])
    assert_allclose(model.log_likelihoods(X)[1, 0], -5.8725627959)
    assert_allclose(model.predict_proba(X)[:, 0], [0.9244570349, 0.3781790596])


# enumeration


@st.composite
def small_models(draw):
    K, M, T = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    model = CategoricalHMM(K, end=draw(st.booleans()), n_features=M)
    rows = rng.dirichlet(np.ones(K + 1), K)
    model.startprob_ = rng.dirichlet(np.ones(K))
    model.emissionprob_ = rng.dirichlet(np.ones(M), K)
    model.transmat_, model.endprob_ = rows[:, :-1], rows[:, -1]
    if not model.end:
        model.transmat_ = rows[:, :-1] / rows[:, :-1].sum(axis=1, keepdims=True)
    return model, rng.integers(0, M, (T, 1))


@given(small_models())
def test_recursions_equal_enumeration(case):
    model, X = case
    K, T = model.n_components, len(X)
    paths, scores = model.enumerate_paths(X)
    p = np.exp(scores)
    assert model.score(X) == pytest.approx(np.log(p.sum()), rel=1e-10)
    smooth = np.array([[p[paths[:, t] == k].sum() for k in range(K)] for t in range(T)]) / p.sum()
    assert_allclose(model.predict_proba(X), smooth, atol=1e-12)
    pairs = model.pair_posteriors(X)
    for t in range(T - 1):
        table = [[p[(paths[:, t] == i) & (paths[:, t + 1] == j)].sum() for j in range(K)] for i in range(K)]
        assert_allclose(pairs[t], np.array(table) / p.sum(), atol=1e-12)
    if T > 1:
        assert_allclose(pairs.sum(axis=2), smooth[:-1], atol=1e-12)
        assert_allclose(pairs.sum(axis=1), smooth[1:], atol=1e-12)
        assert_allclose(model.expected_counts(X).trans, pairs.sum(axis=0), atol=1e-12)
    score, path = model.decode(X)
    assert score == pytest.approx(scores.max())
    assert score <= model.score(X) + 1e-12
    assert model.joint_log_probability(X, path) == pytest.approx(score)
    low, path_low = model.decode(X, memory="low")
    assert low == pytest.approx(score)
    assert model.joint_log_probability(X, path_low) == pytest.approx(score)
    best, several = model.top_paths(X, 4)
    assert_allclose(best, np.sort(scores)[::-1][: len(best)])
    assert [model.joint_log_probability(X, s) for s in several] == pytest.approx(best.tolist())
    if not model.end:
        assert_allclose(model.filter(X)[-1], smooth[-1], atol=1e-12)
    tables = model.forward_backward(X)
    each = np.exp(tables.log_alpha + tables.log_beta).sum(axis=1)
    assert_allclose(each, p.sum())


@given(small_models())
def test_scaled_equals_logs(case):
    from gnomon.sequence import recursions as r

    model, X = case
    chain, offsets = model._chain(), np.array([0, len(X)])
    table = chain.emission.log_density(X)
    scaled, logs = r.smooth(chain, table.copy, offsets), r._smooth_in_logs(chain, table, offsets)
    for a, b in zip(scaled, logs):
        assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_time_varying_transitions():
    rng = np.random.default_rng(0)
    model, X = two_states(), rng.integers(0, 3, (5, 1))
    A = rng.dirichlet(np.ones(2), (4, 2))
    B = model.emissionprob_
    total = 0.0
    for path in itertools.product(range(2), repeat=5):
        p = model.startprob_[path[0]] * B[path[0], X[0, 0]]
        for t in range(1, 5):
            p *= A[t - 1, path[t - 1], path[t]] * B[path[t], X[t, 0]]
        total += p
    assert model.score(X, transmat=A) == pytest.approx(np.log(total))
    assert_allclose(model.predict_proba(X, transmat=A).sum(axis=1), 1)
    same = np.tile(model.transmat_, (4, 1, 1))
    assert model.decode(X, transmat=same)[1].tolist() == model.predict(X).tolist()


def test_sampling_from_the_posterior():
    X = faces(1, 6, 6, 2, 6)
    drawn = casino().sample_posterior(X, 40000, random_state=0)
    assert_allclose((drawn == 1).mean(axis=0), casino().predict_proba(X)[:, 1], atol=0.012)
    both = ((drawn[:, :-1] == 1) & (drawn[:, 1:] == 1)).mean(axis=0)
    assert_allclose(both, casino().pair_posteriors(X)[:, 1, 1], atol=0.012)


def test_sampled_frequencies():
    X, states = casino().sample(100_000, random_state=0)
    assert_allclose(np.bincount(states[states[:-1].size * 0 :], minlength=2) / 1e5, [2 / 3, 1 / 3], atol=0.02)
    loaded = X[states == 1, 0]
    assert (loaded == 5).mean() == pytest.approx(0.5, abs=0.01)
    moved = (states[1:] != states[:-1])[states[:-1] == 0].mean()
    assert moved == pytest.approx(0.05, abs=0.004)


# learning

MODELS = {
    "categorical": (CategoricalHMM(3, random_state=1), lambda rng, n: rng.integers(0, 4, (n, 1))),
    "gaussian diag": (GaussianHMM(3, random_state=1), lambda rng, n: rng.normal(size=(n, 2)) * [1, 3]),
    "gaussian full": (GaussianHMM(3, "full", random_state=1), lambda rng, n: rng.normal(size=(n, 2))),
    "gaussian tied": (GaussianHMM(3, "tied", random_state=1), lambda rng, n: rng.normal(size=(n, 2))),
    "gaussian ball": (GaussianHMM(3, "spherical", random_state=1), lambda rng, n: rng.normal(size=(n, 2))),
    "gaussian pulled": (
        GaussianHMM(
            2, means_prior=1.0, means_weight=2.0, covars_weight=3, transmat_prior=2.0, random_state=0
        ),
        lambda rng, n: rng.normal(size=(n, 2)),
    ),
    "poisson": (PoissonHMM(3, random_state=1), lambda rng, n: rng.poisson(3, (n, 2))),
    "poisson stationary": (
        PoissonHMM(3, start="stationary", random_state=1),
        lambda rng, n: rng.poisson(3, (n, 1)),
    ),
    "multinomial": (MultinomialHMM(2, random_state=1), lambda rng, n: rng.multinomial(5, [0.2, 0.3, 0.5], n)),
    "mixture": (GMMHMM(2, 2, random_state=1), lambda rng, n: rng.normal(size=(n, 2))),
    "mixture tied": (
        GMMHMM(2, 2, covariance_type="tied", random_state=1),
        lambda rng, n: rng.normal(size=(n, 2)),
    ),
    "stop": (CategoricalHMM(3, end=True, random_state=1), lambda rng, n: rng.integers(0, 4, (n, 1))),
    "hard": (
        GaussianHMM(3, method="hard", covars_prior=0, random_state=1),
        lambda rng, n: rng.normal(size=(n, 2)),
    ),
    "left right": (
        GaussianHMM(3, transmat_mask=left_right_mask(3), random_state=1),
        lambda rng, n: rng.normal(size=(n, 1)),
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("gaps", [False, True])
def test_objective_never_falls(name, gaps):
    model, draw = MODELS[name]
    if gaps and name == "multinomial":
        return
    X = draw(np.random.default_rng(0), 120).astype(float)
    if gaps:
        X[::7] = np.nan
        X[3::11, 0] = np.nan
    model = model.__class__(**model.get_params()).set_params(n_iter=25, tol=1e-9)
    model.fit(X, lengths=[50, 30, 40])
    steps = np.diff(model.trace_.objective)
    assert (steps >= -1e-8 * np.abs(model.trace_.objective[1:])).all()
    assert np.isfinite(model.score(X, lengths=[50, 30, 40]))


def test_mixed_columns():
    rng = np.random.default_rng(0)
    states = np.repeat([0, 1, 0, 1], 50)
    X = np.column_stack([rng.poisson([2, 9])[states] * 0 + rng.poisson(np.array([2, 9])[states]),
                         rng.integers(0, 2, 200) + 2 * (states == 1) * 0,
                         rng.normal(np.array([0, 4])[states]), rng.normal(size=200)])  # fmt: skip
    family = Product(
        [Poisson(), Categorical(n_levels=2), Gaussian(covariance_type="diag")], [[0], [1], [2, 3]]
    )
    model = HMM(family, 2, n_iter=50, random_state=0).fit(X)
    assert max((model.predict(X) == states).mean(), (model.predict(X) != states).mean()) > 0.98
    assert (np.diff(model.trace_.objective) >= -1e-8).all()


def test_relabeling_states_permutes_the_result():
    X, _ = casino().sample(200, random_state=1)
    one = casino().set_params(n_iter=5, tol=0).fit(X)
    other = casino().set_params(n_iter=5, tol=0)
    other.startprob_, other.transmat_ = other.startprob_[::-1], other.transmat_[::-1, ::-1]
    other.emissionprob_ = other.emissionprob_[::-1]
    other.fit(X)
    assert_allclose(other.transmat_[::-1, ::-1], one.transmat_, rtol=1e-8)
    assert_allclose(other.emissionprob_[::-1], one.emissionprob_, rtol=1e-8)


def test_supervised_fit_is_one_m_step():
    rng = np.random.default_rng(0)
    X, states = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    model = GaussianHMM(2, covars_prior=0, random_state=0).fit(X, lengths=[20, 40], states=states)
    for k in range(2):
        assert_allclose(model.means_[k], X[states == k].mean(axis=0))
        assert_allclose(np.diag(model.covars_[k]), X[states == k].var(axis=0))
    counts = np.zeros((2, 2))
    for part in (states[:20], states[20:]):
        np.add.at(counts, (part[:-1], part[1:]), 1)
    assert_allclose(model.transmat_, counts / counts.sum(axis=1, keepdims=True))


PULLED = dict(means_prior=0.5, means_weight=2.0, covars_prior=0.7, covars_weight=5.0)


@pytest.mark.parametrize("kind", ["diag", "spherical", "full", "tied"])
def test_known_states_under_priors_by_hand(kind):
    rng = np.random.default_rng(0)
    X, states = rng.normal(size=(60, 2)) @ [[2, 1], [0, 1]], rng.integers(0, 2, 60)
    model = GaussianHMM(2, kind, random_state=0, **PULLED).fit(X, states=states)
    n = np.bincount(states)
    means = np.array([(X[states == k].sum(axis=0) + 2.0 * 0.5) / (n[k] + 2.0) for k in (0, 1)])
    assert_allclose(model.means_, means)
    scatter = np.array([(X[states == k] - means[k]).T @ (X[states == k] - means[k]) for k in (0, 1)])
    pull = 2.0 * (means - 0.5)[:, :, None] * (means - 0.5)[:, None, :]
    if kind == "tied":
        expected = ((scatter + pull).sum(axis=0) + 0.7 * np.eye(2)) / (5 - 2 + 60)
    elif kind == "full":
        expected = (scatter + pull + 0.7 * np.eye(2)) / (5 - 2 + n)[:, None, None]
    else:
        variance = np.diagonal((scatter + pull) + 0.7, axis1=1, axis2=2) / (5 - 1 + n)[:, None]
        expected = [np.diag(v if kind == "diag" else np.full(2, v.mean())) for v in variance]
    assert_allclose(np.broadcast_to(model.covars_, (2, 2, 2)), np.broadcast_to(expected, (2, 2, 2)))


@pytest.mark.parametrize("kind", ["diag", "spherical", "full", "tied"])
def test_objective_is_the_likelihood_and_the_log_of_the_priors(kind):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = GaussianHMM(2, kind, random_state=0, n_iter=1, tol=0, **PULLED)
    told = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        means, roots = rng.normal(size=(2, 2)), rng.normal(size=(2, 2, 2))
        matrices = roots @ roots.transpose(0, 2, 1) + np.eye(2)
        if kind in ("diag", "spherical"):
            matrices *= np.eye(2)
        if kind == "spherical":
            matrices[:, 1, 1] = matrices[:, 0, 0]
        matrices = matrices[:1] if kind == "tied" else matrices
        model.set_params(init_params="")
        model.startprob_, model.transmat_ = np.full(2, 0.5), np.full((2, 2), 0.5)
        model.means_ = means
        model.covars_ = {
            "diag": np.diagonal(matrices, axis1=1, axis2=2),
            "spherical": matrices[:, 0, 0],
            "tied": matrices[0],
            "full": matrices,
        }[kind]
        likelihood = model.score(X)
        both = np.broadcast_to(matrices, (2, 2, 2))
        prior = -0.5 * sum(
            2.0 * (m - 0.5) @ np.linalg.solve(C, m - 0.5) for m, C in zip(means, both, strict=True)
        )
        mass = 5.0 - (1 if kind in ("diag", "spherical") else 2)
        for C in matrices:
            prior -= 0.5 * (0.7 * np.trace(np.linalg.inv(C)) + mass * np.log(np.linalg.det(C)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.fit(X).trace_.objective[0]
        told.append((found, likelihood + prior))
    assert_allclose(told[0][0] - told[1][0], told[0][1] - told[1][1], rtol=1e-9)


def test_partly_known_states_are_clamped():
    X, states = casino().sample(300, random_state=2)
    known = np.where(np.arange(300) % 3 == 0, states, -1)
    model = casino().set_params(n_iter=20).fit(X, states=known)
    steps = np.diff(model.trace_.objective)
    assert (steps > -1e-9).all()
    with pytest.raises(DataError, match="states must be -1"):
        casino().fit(X, states=np.full(300, 7))


def test_hard_em_ends_at_a_joint_optimum():
    X, _ = casino().sample(200, random_state=3)
    model = CategoricalHMM(2, method="hard", n_iter=50, tol=0, random_state=0).fit(X)
    score, path = model.decode(X)
    assert score == pytest.approx(model.trace_[-1])


@pytest.mark.parametrize("model", [CategoricalHMM(2), PoissonHMM(2), GaussianHMM(2, covars_prior=0)])
def test_direct_reaches_what_em_reaches(model):
    rng = np.random.default_rng(0)
    X = rng.poisson(np.repeat([1.0, 3.0, 1.0], 60)).reshape(-1, 1).clip(0, 5)
    em = model.__class__(**model.get_params()).set_params(n_iter=3000, tol=1e-10, random_state=3).fit(X)
    direct = model.__class__(**model.get_params()).set_params(method="direct", random_state=3).fit(X)
    assert direct.score(X) >= em.score(X) - 1e-4
    assert direct.trace_.certificate[-1] < 1e-2


@pytest.mark.parametrize("held", ["s", "t", "e", ""])
def test_direct_refuses_to_hold_parameters(held):
    model = CategoricalHMM(
        2, method="direct", params="ste".replace(held, "", 1) if held else "", random_state=0
    )
    with pytest.raises(DataError, match=f"params={model.params!r} holds some.*method='em'"):
        model.fit([[0], [1], [1], [0]])


def test_symmetric_start_is_perturbed():
    model = GaussianHMM(2, init_params="", n_iter=20)
    model.startprob_, model.transmat_ = [0.5, 0.5], np.full((2, 2), 0.5)
    model.means_, model.covars_ = np.zeros((2, 1)), np.ones((2, 1))
    with pytest.warns(UserWarning, match="start alike"):
        model.fit(SHORT)
    assert np.ptp(model.means_) > 0


@pytest.mark.parametrize(
    ("moves", "emission"),
    [
        ([[1.0]], [[0.3, 0.7]]),
        ([[0.4, 0.6], [0.4, 0.6]], [[0.3, 0.7], [0.6, 0.4]]),
        ([[0.4, 0.6], [0.7, 0.3]], [[0.3, 0.7], [0.3, 0.7]]),
    ],
)
def test_states_that_can_be_told_apart_start_as_they_are(moves, emission):
    K = len(moves)
    model = CategoricalHMM(K, init_params="", n_iter=1)
    model.startprob_, model.transmat_ = np.full(K, 1 / K), np.array(moves)
    model.emissionprob_ = np.array(emission)
    X = np.array([0, 1, 1, 0, 1])[:, None]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        start = next(iter(model.iterate(X)))
    assert not any("alike" in str(one.message) for one in told)
    assert_allclose(start.emissionprob_, emission)


def test_unvisited_states_keep_their_parameters():
    model = GaussianHMM(3, init_params="", n_iter=5)
    model.startprob_ = np.array([0.5, 0.5, 0.0])
    model.transmat_ = np.array([[0.9, 0.1, 0], [0.1, 0.9, 0], [0.2, 0.3, 0.5]])
    model.means_, model.covars_ = np.array([[0.0], [5.0], [99.0]]), np.ones((3, 1))
    model.fit(SHORT)
    assert_allclose(model.transmat_[2], [0.2, 0.3, 0.5])
    assert model.means_[2, 0] == 99 and model.covars_[2, 0, 0] == 1
    assert np.isfinite(model.startprob_).all() and model.startprob_.sum() == pytest.approx(1)


def test_threads_and_chunks_change_no_bit(monkeypatch):
    from gnomon.core import rows

    monkeypatch.setattr(rows, "CHUNK_BYTES", 2**12)
    monkeypatch.setattr(rows, "CHUNK_ROWS", 16)
    X = np.random.default_rng(0).normal(size=(3000, 2))
    lengths = [7, 13] * 150
    fitted = []
    for n in (1, 2, 3):
        with threads(n):
            fitted.append(GaussianHMM(3, random_state=0, n_iter=5).fit(X, lengths=lengths))
    for other in fitted[1:]:
        assert_array_equal(other.transmat_, fitted[0].transmat_)
        assert_array_equal(other.means_, fitted[0].means_)


def test_long_chain_and_many_states_stay_finite():
    rng = np.random.default_rng(0)
    model = PoissonHMM(2)
    model.startprob_, model.transmat_, model.lambdas_ = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[1], [30]]
    X = rng.poisson(10, (1_000_000, 1))
    log_p = model.score(X)
    assert np.isfinite(log_p)
    expected = model.expected_counts(X)  # from both ends
    assert expected.log_p == pytest.approx(log_p, rel=1e-12)
    assert expected.trans.sum() == pytest.approx(999_999)
    K = 200
    wide = GaussianHMM(K, n_iter=1, init_params="")
    wide.startprob_, wide.transmat_ = np.full(K, 1 / K), rng.dirichlet(np.ones(K), K)
    wide.means_, wide.covars_ = rng.normal(size=(K, 2)), np.ones((K, 2))
    X = rng.normal(size=(2000, 2))
    assert np.isfinite(wide.fit(X).score(X))
    assert_allclose(wide.predict_proba(X).sum(axis=1), 1)


def expected_sums(model, X):
    found = model.expected_counts(X)
    return [float(found.log_p), found.start, found.trans, found.end, model.predict_proba(X)]


@pytest.mark.parametrize("end", [False, True])
def test_both_ends_of_a_long_sequence_meet(monkeypatch, end):
    from gnomon.sequence import recursions

    rng = np.random.default_rng(4)
    model = GaussianHMM(3, end=end)
    joined = rng.dirichlet(np.ones(4), 3) if end else np.column_stack([rng.dirichlet(np.ones(3), 3), [0] * 3])
    model.startprob_, model.transmat_, model.endprob_ = rng.dirichlet(np.ones(3)), joined[:, :3], joined[:, 3]
    model.means_, model.covars_ = rng.normal(size=(3, 2)), np.ones((3, 2))
    X = rng.normal(size=(37, 2))
    one_way = expected_sums(model, X)
    monkeypatch.setattr(recursions, "BLOCK_ROWS", 8)
    for a, b in zip(expected_sums(model, X), one_way):
        assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_both_ends_fall_back_to_logs(monkeypatch):
    from gnomon.sequence import recursions

    monkeypatch.setattr(recursions, "BLOCK_ROWS", 2)
    model = GaussianHMM(2)
    model.startprob_, model.transmat_ = np.array([1.0, 0]), np.eye(2)
    model.means_, model.covars_ = np.array([[0.0], [1e3]]), np.ones((2, 1))
    for place in range(6):  # an outlier that only the wrong state explains, in either half
        X = np.zeros((6, 1))
        X[place] = 1e3
        assert model.expected_counts(X).log_p == pytest.approx(-0.5e6 - 3 * np.log(2 * np.pi))
        assert_allclose(model.predict_proba(X), [[1, 0]] * 6)


def test_long_sequence_same_bits_on_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(40_000, 2))
    fitted = []
    for n in (1, 2, 3):
        with threads(n):
            fitted.append(GaussianHMM(3, random_state=0, n_iter=2).fit(X))
    for other in fitted[1:]:
        assert_array_equal(other.transmat_, fitted[0].transmat_)
        assert_array_equal(other.means_, fitted[0].means_)


def test_far_outlier_falls_back_to_logs():
    model = GaussianHMM(2)
    model.startprob_, model.transmat_ = np.array([1.0, 0]), np.array([[1.0, 0], [0, 1.0]])
    model.means_, model.covars_ = np.array([[0.0], [1e3]]), np.ones((2, 1))
    X = np.array([[0.0], [1e3], [1e3]])  # only state 0 can be there, and its density underflows
    exact = -0.5 * (0 + 1e6 + 1e6) - 1.5 * np.log(2 * np.pi)
    assert model.score(X) == pytest.approx(exact)
    assert_allclose(model.predict_proba(X), [[1, 0]] * 3)


def test_impossible_sequences_are_named():
    model = two_states()
    model.emissionprob_ = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
    X, lengths = np.array([[0], [1], [0], [1], [2]]), [2, 3]
    assert model.score(X, lengths=lengths) == -np.inf
    with pytest.raises(ZeroEvidenceError, match="sequence 1 is impossible at position 2"):
        model.predict_proba(X, lengths=lengths)
    with pytest.raises(ZeroEvidenceError, match="position 2"):
        model.decode(np.array([[0], [1], [2]]))


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (GaussianHMM(2, init_params="", random_state=0), ("means_", "covars_")),
        (GMMHMM(2, n_mix=2, init_params="", random_state=0), ("weights_", "means_", "covars_")),
        (PoissonHMM(2, init_params="", random_state=0), ("lambdas_",)),
        (CategoricalHMM(2, init_params="", random_state=0), ("emissionprob_",)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_nobody_has_set_is_initialized_and_what_is_set_is_kept(model, names):
    X = np.array([[0], [1], [0], [2], [5], [4], [5], [6]])
    started = clone(model).set_params(n_iter=0).fit(X)
    asked = clone(model).set_params(n_iter=0, init_params=clone(model).params).fit(X)
    for name in ("startprob_", "transmat_", *names):
        np.testing.assert_array_equal(getattr(started, name), getattr(asked, name))
    kept = clone(model).set_params(n_iter=0)
    kept.startprob_ = [0.25, 0.75]
    np.testing.assert_array_equal(kept.fit(X).startprob_, [0.25, 0.75])


def test_a_parameter_set_by_hand_is_not_overwritten_in_silence(caplog):
    model = CategoricalHMM(2, random_state=0)
    model.startprob_ = [0.5, 0.5]
    X = np.array([[0], [1], [1], [0]])
    model.fit(X)
    assert [
        "startprob_ is set, and will be overwritten" in record.getMessage() for record in caplog.records
    ] == [True]
    caplog.clear()
    model.fit(X)  # what an earlier fit has learned is no news
    assert not caplog.records


class Patient:
    """A monitor of one's own: stop after the third step."""

    def __init__(self):
        self.history = []

    def report(self, value):
        self.history.append(value)

    @property
    def converged(self):
        return len(self.history) == 3


def test_a_monitor_is_there_before_the_fit_and_may_be_ones_own(tmp_path):
    model = PoissonHMM(2, n_iter=50, tol=1e-12, random_state=0)
    assert (model.monitor_.tol, model.monitor_.n_iter, model.monitor_.iter) == (1e-12, 50, 0)
    X = np.array([[1], [0], [2], [1], [9], [8], [11], [10], [9], [1], [0], [1]])
    plain = clone(model).fit(X)
    save(plain, tmp_path / "model.gnomon")
    assert load(tmp_path / "model.gnomon").monitor_ == plain.monitor_
    assert plain.monitor_.iter == plain.n_iter_ > 3
    model.monitor_ = mine = Patient()
    assert model.fit(X).monitor_ is mine
    assert model.n_iter_ == 3 and model.converged_
    assert_array_equal(mine.history, plain.trace_[:3])


def test_one_variance_a_state_may_come_in_any_shape():
    model = GaussianHMM(2, "spherical")
    model.means_, model.covars_ = [[3.0], [5.0]], np.reshape([4.0, 3.0], (2, 1, 1, 1))
    assert_array_equal(model.covars_.ravel(), [4.0, 3.0])


def test_bad_input():
    with pytest.raises(DataError, match="lengths sum to 4, and X has 3"):
        CategoricalHMM(2).fit(np.zeros((3, 1)), lengths=[2, 2])
    with pytest.raises(DataError, match="symbol 5"):
        CategoricalHMM(2, n_features=3).fit([[0], [5]])
    with pytest.raises(DataError, match="whole numbers"):
        PoissonHMM(1).fit([[0.5], [1.0]])
    model = casino()
    model.transmat_ = [[0.9, 0.2], [0.1, 0.9]]
    with pytest.raises(DataError, match="transmat_ must sum to one"):
        model.score(faces(1, 2))


def test_empty_sequences_with_a_stop():
    X = np.array([0, 1, 0]).reshape(-1, 1)
    model = CategoricalHMM(1, end=True, random_state=0).fit(X, lengths=[2, 0, 1, 0])
    assert model.empty_prob_ == pytest.approx(0.5)
    gain = model.score(X, lengths=[2, 0, 1, 0]) - model.score(X, lengths=[2, 1])
    assert gain == pytest.approx(2 * np.log(0.5))


def test_free_parameters():
    X = np.random.default_rng(0).poisson(3, (50, 1))
    assert PoissonHMM(3, start="stationary", random_state=0).fit(X).n_parameters_ == 9
    assert PoissonHMM(3, random_state=0).fit(X).n_parameters_ == 11
    assert PoissonHMM(3, start="fixed", random_state=0).fit(X).n_parameters_ == 9
    assert PoissonHMM(3, transmat_mask=left_right_mask(3), random_state=0).fit(X).n_parameters_ == 7
    Y = np.random.default_rng(0).normal(size=(50, 2))
    assert GaussianHMM(2, "full", random_state=0).fit(Y).n_parameters_ == 2 + 1 + 4 + 6
    assert GMMHMM(2, 3, random_state=0).fit(Y).n_parameters_ == 2 + 1 + 4 + 12 + 12


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_left_right_zeros_stay(seed):
    X = np.random.default_rng(seed).normal(size=(40, 1))
    model = GaussianHMM(3, transmat_mask=left_right_mask(3), random_state=seed).fit(X)
    assert (model.transmat_[~left_right_mask(3)] == 0).all()
    assert_allclose(model.transmat_.sum(axis=1), 1)


def test_outlier_scores_and_criteria():
    X = np.concatenate([faces(1, 2, 3, 4), faces(6, 6, 6, 6)])
    scores = casino().outlier_scores(X, [4, 4])
    assert scores[0] > scores[1]
    model = casino().fit(X, lengths=[4, 4])
    assert model.aic(X, [4, 4]) == pytest.approx(2 * model.aic(X, [4, 4], scale="half"))
    gap = model.bic(X, [4, 4]) - model.aic(X, [4, 4])
    assert gap == pytest.approx(model.n_parameters_ * (np.log(8) - 2))


def test_score_samples_is_a_pair():
    log_p, posteriors = casino().score_samples(faces(6, 6, 6))
    assert log_p == pytest.approx(-2.8707733998)
    assert_allclose(posteriors, casino().predict_proba(faces(6, 6, 6)))
    assert np.asarray(casino().score_samples(faces(6, 6, 6))).sum() == pytest.approx(log_p)


def test_iterate_and_monitor():
    X, _ = casino().sample(100, random_state=0)
    models = list(CategoricalHMM(2, n_iter=4, tol=0, random_state=0).iterate(X))
    assert len(models) == 5
    scores = [m.score(X) for m in models]
    assert (np.diff(scores) > -1e-9).all()
    fitted = CategoricalHMM(2, n_iter=4, tol=0, random_state=0).fit(X)
    assert list(fitted.monitor_.history) == pytest.approx(scores[:4])
    assert fitted.monitor_.iter == 4 and not fitted.monitor_.converged


def test_network_has_the_same_marginals():
    model, X = two_states(), [0, 1, 2]
    network = model.to_bayesian_network(3)
    assert network.parents["s2"] == ("s1",) and network.parents["x3"] == ("s3",)
    posterior = np.zeros((3, 2))
    for path in itertools.product(range(2), repeat=3):
        values = {f"s{t + 1}": s for t, s in enumerate(path)} | {f"x{t + 1}": x for t, x in enumerate(X)}
        for t, s in enumerate(path):
            posterior[t, s] += network.joint(values)
    assert_allclose(posterior.sum(axis=1), 0.03628)
    assert_allclose(posterior / 0.03628, model.predict_proba(np.reshape(X, (-1, 1))))


def test_sequences_may_be_given_one_by_one():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 2)) for n in (5, 9, 4)]
    joined, lengths = np.concatenate(parts), [5, 9, 4]
    one = GaussianHMM(2, n_iter=4, random_state=0).fit(joined, lengths=lengths)
    other = GaussianHMM(2, n_iter=4, random_state=0).fit(parts)
    assert other.score(parts) == one.score(joined, lengths=lengths)
    np.testing.assert_array_equal(other.predict(parts), one.predict(joined, lengths=lengths))
    words = CategoricalHMM(2, n_features=2, n_iter=3, random_state=0)
    flat = np.array([[0], [1], [1], [1], [0]])
    assert words.fit([[0, 1, 1], [1, 0]]).score([[0, 1, 1], [1, 0]]) == words.score(flat, lengths=[3, 2])
    with pytest.raises(DataError, match="same columns"):
        GaussianHMM(2).fit([np.zeros((3, 2)), np.zeros((3, 1))])


@pytest.mark.parametrize(("model", "top"), [(GaussianHMM, None), (PoissonHMM, 4), (CategoricalHMM, 3)])
def test_a_series_of_numbers_is_one_column(model, top):
    rng = np.random.default_rng(0)
    series = rng.normal(size=30) if top is None else rng.integers(0, top, 30)
    column = model(2, n_iter=3, random_state=0).fit(series[:, None], lengths=[20, 10])
    for flat_X in (series, series.tolist()):
        flat = model(2, n_iter=3, random_state=0).fit(flat_X, lengths=[20, 10])
        assert_array_equal(flat.transmat_, column.transmat_)
        assert flat.score(flat_X, lengths=[20, 10]) == column.score(series[:, None], lengths=[20, 10])
        assert_array_equal(flat.predict(flat_X), column.predict(series[:, None]))


def test_a_series_is_no_row_of_several_columns():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = GaussianHMM(2, n_iter=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="2D"):
        model.predict(X[0])
    assert model.fit(X[:, 0]).n_features_in_ == 1


def test_a_list_of_sequences_has_its_own_lengths():
    parts = [np.zeros((5, 1)), np.ones((4, 1))]
    with pytest.raises(DataError, match="leave out `lengths`"):
        GaussianHMM(2).fit(parts, lengths=[5, 4])
