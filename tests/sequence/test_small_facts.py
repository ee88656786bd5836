"""Sessions with controls, particles row by row, parts of mixtures, shapes of covariances, draws and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.core.saving import load, save
from gnomon.sequence import (
    GMMHMM,
    CategoricalHMM,
    GaussianHMM,
    GaussianRandomWalk,
    HMMTagger,
    KalmanFilter,
    MarkovChain,
    ParticleFilter,
    absorbing_analysis,
    stationary_distribution,
)
from gnomon.sequence.online import OnlineKalman

C, D = np.array([[1.0, 0.5], [0.0, 0.9]]), np.array([[1.0, 0.2], [0.0, 1.0]])
Q, V = np.array([[0.2, 0.1], [0.1, 0.3]]), np.array([[0.8, 0.1], [0.1, 0.5]])
G = np.array([[1.0], [-0.5]])
OFFSETS = dict(transition_offsets=[0.1, -0.2], observation_offsets=[0.3, 0.7])


def plane():
    return KalmanFilter(
        C, D, Q, V, initial_state_mean=[1.0, 2.0], initial_state_covariance=np.eye(2), **OFFSETS
    )


def test_a_session_predicts_and_corrects_by_the_textbook():
    session = OnlineKalman(plane().online().model, G)
    mean, P = np.array([1.0, 2.0]), np.eye(2)
    loglik = 0.0
    for x, dt, u in [
        ([0.5, 1.0], None, None),
        ([0.2, np.nan], 2.0, [3.0]),
        ([np.nan, np.nan], 0.5, None),
        ([1.0, 2.0], None, -1.0),
    ]:
        found = session.predict(dt, u)
        mean = C @ mean + [0.1, -0.2] + (0 if u is None else G[:, 0] * np.ravel(u)[0])
        P = C @ P @ C.T + Q * (1.0 if dt is None else dt)
        assert_allclose(found[0], mean)
        assert_allclose(found[1], P)
        seen = ~np.isnan(x)
        found = session.update(x)
        if seen.any():
            H, R = D[seen], V[np.ix_(seen, seen)]
            gap, spread = np.array(x)[seen] - np.array([0.3, 0.7])[seen] - H @ mean, H @ P @ H.T + R
            gain = P @ H.T @ np.linalg.inv(spread)
            mean, P = mean + gain @ gap, P - gain @ H @ P
            loglik -= 0.5 * (gap @ np.linalg.solve(spread, gap) + np.log(np.linalg.det(2 * np.pi * spread)))
        assert_allclose(found[0], mean)
        assert_allclose(found[1], P)
    assert session.loglik == pytest.approx(loglik)
    assert session.count == 4


def test_particles_are_fitted_as_they_are_filtered():
    rows = np.array([[0.3, 1.0], [-0.5, 0.2], [np.nan, np.nan], [1.2, 0.4]])
    model = ParticleFilter.from_kalman(plane(), n_particles=300, random_state=0)
    found = model.filter(rows)
    fitted = model.fit(rows)
    exact = plane().filter(rows)
    assert fitted.means_.shape == (4, 2) and fitted.covariances_.shape == (4, 2, 2)
    many = ParticleFilter.from_kalman(plane(), n_particles=60_000, random_state=0).fit(rows)
    assert_allclose(many.means_, exact.means, atol=0.05)
    assert_allclose(many.covariances_, exact.covariances, atol=0.06)
    assert_allclose(fitted.means_, found.means, atol=0.5)
    assert many.trace_["log_likelihood"][-1] == pytest.approx(exact.loglik, abs=0.1)
    assert len(fitted.trace_) == 4
    assert (fitted.trace_["effective_sample_size"] <= 300 + 1e-9).all()


# mixtures in the states

WEIGHTS = np.array([[0.3, 0.7], [0.8, 0.2]])
MEANS = np.array([[[-5.0, 0.0], [1.0, 2.0]], [[10.0, 10.0], [20.0, -5.0]]])


def mixed():
    model = GMMHMM(2, 2, covariance_type="diag", init_params="", n_iter=1)
    model.startprob_, model.transmat_ = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])
    model.weights_, model.means_ = WEIGHTS, MEANS
    model.covars_ = np.array([[[1.0, 2.0], [0.5, 1.0]], [[1.0, 1.0], [3.0, 1.0]]])
    return model


def test_draws_and_moments_of_mixtures_in_the_states():
    model = mixed()
    X, states = model.sample(40_000, random_state=0)
    emission = model._chain().emission
    for k in range(2):
        mean = WEIGHTS[k] @ MEANS[k]
        variance = WEIGHTS[k] @ (model.covars_[k] + (MEANS[k] - mean) ** 2)
        assert_allclose(emission.mean()[k], mean)
        assert_allclose(emission.variance()[k], variance)
        assert_allclose(X[states == k].mean(axis=0), mean, atol=0.2)
        assert_allclose(X[states == k].var(axis=0), variance, rtol=0.05)
    first = X[states == 0]
    near = ((first[:, None] - MEANS[0]) ** 2).sum(axis=2).argmin(axis=1)
    assert_allclose((near == 0).mean(), 0.3, atol=0.02)


def test_covariances_come_in_the_shape_of_the_type_or_whole():
    whole = np.array([[[2.0, 0.5], [0.5, 1.0]], [[3.0, 0.0], [0.0, 5.0]]])
    X = np.random.default_rng(0).normal(size=(20, 2))
    for kind, own in [
        ("diag", np.diagonal(whole, axis1=1, axis2=2)),
        ("tied", whole[0]),
        ("spherical", np.array([1.5, 4.0])),
        ("full", whole),
    ]:
        models = []
        for covars in (whole, own):
            model = GaussianHMM(2, kind, init_params="")
            model.startprob_, model.transmat_ = np.full(2, 0.5), np.array([[0.9, 0.1], [0.2, 0.8]])
            model.means_, model.covars_ = np.array([[0.0, 0.0], [1.0, 1.0]]), covars
            models.append(model.score(X))
        assert models[0] == pytest.approx(models[1])
    model.covars_ = np.ones((3, 2))
    with pytest.raises(DataError, match="must have shape"):
        model.score(X)


# draws


def test_sequences_that_stop_have_geometric_lengths():
    model = CategoricalHMM.from_stop_matrix(
        [[0.49, 0.5, 0.01], [0.5, 0.49, 0.01]], [[1, 0], [0, 1.0]], [1, 0, 0]
    )
    _, lengths, states = model.sample_sequences(1000, random_state=0)
    assert_allclose(lengths.mean(), 100, rtol=0.12)
    assert_allclose((lengths > 300).mean(), 0.99**300, atol=0.02)
    assert len(states) == lengths.sum()
    starts = np.cumsum(lengths) - lengths
    assert (states[starts] == 0).all()


@pytest.mark.parametrize("kind", ["full", "diag", "isotropic"])
def test_steps_of_a_walk_by_hand(kind):
    rng = np.random.default_rng(0)
    path = np.cumsum(rng.normal(size=(30, 2)) @ [[1.0, 0.5], [0.0, 2.0]] + [0.5, 0.0], axis=0)
    model = GaussianRandomWalk(covariance=kind, drift=True).fit(path)
    steps = np.diff(path, axis=0)
    S = np.cov(steps.T, bias=True)
    expected = {"full": S, "diag": np.diag(np.diag(S)), "isotropic": np.trace(S) / 2 * np.eye(2)}[kind]
    assert_allclose(model.drift_, steps.mean(axis=0))
    assert_allclose(model.covariance_, expected)
    drawn = np.diff(np.vstack([path[-1:], model.sample(20_000, random_state=0)]), axis=0)
    assert_allclose(drawn.mean(axis=0), model.drift_, atol=0.06)
    assert_allclose(np.cov(drawn.T), expected, atol=0.1)
    assert_allclose(
        model.sample(3, start=[100.0, 0.0], random_state=0) - [100.0, 0.0],
        model.sample(3, random_state=0) - path[-1],
    )
    times = np.cumsum(rng.uniform(0.5, 3, 30))
    plain = GaussianRandomWalk(covariance=kind).fit(path, times=times).covariance_
    scaled = steps / np.sqrt(np.diff(times))[:, None]
    assert_allclose(np.trace(plain), np.trace(scaled.T @ scaled / 29))


# chains


def test_states_by_name_are_made_absorbing():
    chain = MarkovChain(states=["a", "b", "c"]).fit([list("abcabacbbca")])
    found, M = chain.absorbing(["b"]), chain.transmat_.copy()
    M[1] = [0, 1, 0]
    expected = absorbing_analysis(M)
    assert_allclose(found.probabilities, expected.probabilities)
    assert_allclose(found.steps, expected.steps)
    free = np.linalg.inv(np.eye(2) - chain.transmat_[np.ix_([0, 2], [0, 2])]) @ np.ones(2)
    assert_allclose(found.steps, free)


def test_a_power_iteration_that_was_stopped_says_so():
    M = np.array([[0.99, 0.01], [0.03, 0.97]])
    with pytest.raises(DegenerateError, match="after 2 steps"):
        stationary_distribution(M, method="power", max_iter=2)
    assert_allclose(stationary_distribution(M, method="power").distribution, [0.75, 0.25], atol=1e-6)


@pytest.mark.parametrize(("name", "wrong"), [("transmat_", np.eye(3)), ("startprob_", np.ones(4) / 4)])
def test_a_chain_whose_parts_do_not_fit_is_refused(name, wrong, tmp_path):
    chain = MarkovChain().fit([list("abba")])
    save(chain, tmp_path / "chain.gnomon")
    assert_array_equal(load(tmp_path / "chain.gnomon").transmat_, chain.transmat_)
    setattr(chain, name, wrong)
    save(chain, tmp_path / "spoiled.gnomon")
    with pytest.raises(ModelFileError, match="does not fit"):
        load(tmp_path / "spoiled.gnomon")


@pytest.mark.parametrize("wrong", [[1.0], [1.0, -1.0], [1.0, np.nan], [[1.0, 1.0]]])
def test_weights_are_one_a_sequence(wrong):
    sequences = [list("abab"), list("aab")]
    with pytest.raises(DataError, match="2 numbers"):
        MarkovChain().fit(sequences, sample_weight=wrong)
    model = MarkovChain().fit(sequences, sample_weight=[2.0, 0.5])
    assert_allclose(model.transmat_, [[0.5 / 5, 4.5 / 5], [1, 0]])


def test_a_state_may_stop_and_do_nothing_else():
    """The second state ends every sequence: all rows before the last are of the first one."""
    X = np.array([0, 0, 1, 0, 2, 0, 0, 0, 1])[:, None]
    model = CategoricalHMM(
        2, end=True, transmat_mask=[[True, True], [False, False]], random_state=0, n_iter=50
    )
    model.startprob_, model.init_params = np.array([1.0, 0.0]), "te"
    model.fit(X, lengths=[3, 2, 4])
    assert_allclose(
        model.transmat_, [[0.5, 0.5], [0, 0]], atol=1e-4
    )  # 6 rows of the first state: 3 stay, 3 move
    assert_allclose(model.endprob_, [0, 1], atol=1e-4)
    assert_allclose(model.emissionprob_, [[1, 0, 0], [0, 2 / 3, 1 / 3]], atol=1e-4)
    chances = 0.5**6 * (2 / 3) ** 2 * (1 / 3)
    assert model.score(X, lengths=[3, 2, 4]) == pytest.approx(np.log(chances), abs=1e-4)


@pytest.mark.parametrize("horizon", [1, 3])
@pytest.mark.parametrize("times", [None, [1.0, 1.5, 4.0, 4.5]])
def test_forecasts_are_steps_of_one_with_the_offsets(times, horizon):
    X = np.random.default_rng(0).normal(size=(4, 2))
    model = plane().set_params(times=times)
    found = model.filter(X)
    m, P = found.means[-1], found.covariances[-1]
    for _ in range(horizon):
        m, P = C @ m + [0.1, -0.2], C @ P @ C.T + Q
    told = model.predict_distribution(X, horizon)
    assert_allclose(np.ravel(told.means), D @ m + [0.3, 0.7])
    assert_allclose(np.reshape(told.covariances, (2, 2)), D @ P @ D.T + V)


def test_forecasts_go_on_as_the_last_row_did():
    X = np.random.default_rng(0).normal(size=(3, 2))
    drifts, views = [[0.0, 0.0], [1.0, 2.0], [3.0, -4.0]], [[0.0, 0.0], [0.0, 0.0], [5.0, 6.0]]
    model = plane().set_params(transition_offsets=drifts, observation_offsets=views)
    m = model.filter(X).means[-1]
    told = model.predict_distribution(X, 2)
    assert_allclose(np.ravel(told.means), D @ (C @ (C @ m + [3.0, -4.0]) + [3.0, -4.0]) + [5.0, 6.0])


@pytest.mark.parametrize(("order", "named"), [(1, "'c'"), (2, r"\('a', 'a'\)"), (3, r"\('a', 'a', 'a'\)")])
def test_a_state_that_nothing_follows_is_named(order, named):
    with pytest.raises(DegenerateError, match=f"state {named} is never followed"):
        MarkovChain(order=order, unseen="error").fit(list("abababc"))


def test_learned_arrays_have_the_shapes_of_those_given():
    X = np.random.default_rng(0).normal(size=(12, 1))
    views = 1.0 + np.arange(12.0).reshape(12, 1, 1)
    times = np.cumsum(1.0 + np.arange(12) % 2)
    model = KalmanFilter(observation_matrices=views, times=times, max_iter=3, tol=0).fit(X)
    assert_allclose(model.observation_matrices_, views)
    assert model.transition_matrices_.shape == model.observation_covariance_.shape == (1, 1)
    assert model.initial_state_mean_.shape == (1,) and model.initial_state_covariance_.shape == (1, 1)
    again = KalmanFilter(
        model.transition_matrices_,
        views,
        model.transition_covariance_,
        model.observation_covariance_,
        initial_state_mean=model.initial_state_mean_,
        initial_state_covariance=model.initial_state_covariance_,
        times=times,
    )
    assert model.loglikelihood(X) == pytest.approx(again.loglikelihood(X))


@pytest.mark.parametrize("start", ["free", "fixed"])
def test_stops_are_learned_by_steps_on_the_likelihood_as_by_its_expectation(start):
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, 9, 30)
    X = np.concatenate([np.sort(rng.integers(0, 3, n)) for n in lengths])[:, None]
    models = []
    for method in ("em", "direct"):
        model = CategoricalHMM(
            2, end=True, start=start, method=method, init_params="", n_iter=5000, tol=1e-10
        )
        model.startprob_, model.transmat_ = np.array([0.8, 0.2]), np.array([[0.6, 0.2], [0.1, 0.7]])
        model.endprob_, model.emissionprob_ = (
            np.array([0.2, 0.2]),
            np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]),
        )
        models.append(model.fit(X, lengths=lengths))
    em, direct = models
    assert_allclose(direct.transmat_.sum(axis=1) + direct.endprob_, 1)
    assert direct.score(X, lengths=lengths) == pytest.approx(em.score(X, lengths=lengths), abs=1e-4)
    for name in ("startprob_", "transmat_", "endprob_", "emissionprob_"):
        assert_allclose(getattr(direct, name), getattr(em, name), atol=0.01)


@pytest.mark.parametrize("wrong", [{"algorithm": "viterby"}, {"memory": "lo"}])
def test_words_of_decoding(wrong):
    model = CategoricalHMM(2, random_state=0, n_iter=3).fit(np.array([0, 1, 0, 0, 1, 1])[:, None])
    with pytest.raises(DataError, match=next(iter(wrong))):
        model.decode([[0], [1]], **wrong)


def test_endings_of_words_are_counted_for_every_tag(tmp_path):
    model = HMMTagger().fit([["a", "dog", "barks"]], [["D", "N", "V"]])
    save(model, tmp_path / "tagger.gnomon")
    assert load(tmp_path / "tagger.gnomon").predict([["a", "bird", "sings"]])[0] == ["D", "N", "V"]
    model.endings_["g"] = np.ones(2)
    save(model, tmp_path / "spoiled.gnomon")
    with pytest.raises(ModelFileError, match="endings_ do not fit its tags"):
        load(tmp_path / "spoiled.gnomon")


@pytest.mark.parametrize(
    "model", [CategoricalHMM(2, end=True, n_iter=2, random_state=0), GaussianHMM(1, n_iter=2)]
)
def test_what_ends_or_shows_no_symbols_is_no_network(model):
    model.fit(np.array([[0], [1], [1], [0], [1], [0.0]]), lengths=[2, 4])
    with pytest.raises(DataError, match="of symbols without a stop state"):
        model.to_bayesian_network(3)
