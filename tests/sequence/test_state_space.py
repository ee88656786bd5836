"""State-space models: oracles, dense Gaussian conditioning, EM, non-linear and particle filters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from gnomon.core.errors import DataError, DegenerateError, ZeroEvidenceError
from gnomon.datasets import make_trajectory
from gnomon.sequence import (
    ExtendedKalmanFilter,
    GaussianRandomWalk,
    KalmanFilter,
    ParticleFilter,
    UnscentedKalmanFilter,
    discretize,
    effective_sample_size,
    resample,
    tracking_model,
)

X = np.array([1, 2, 1.5]).reshape(-1, 1)
COVARIANCES = ("transition_covariance", "observation_covariance")


def scalar(**options):
    arguments = {"initial_at": "before", "initial_state_mean": 0, "initial_state_covariance": 1, **options}
    return KalmanFilter(1, 1, 0.5, 1, **arguments)


def test_scalar_filter():
    found = scalar().filter(X)
    assert_allclose(found.predicted_means.ravel(), [0, 0.6, 1.3333333333])
    assert_allclose(found.predicted_covariances.ravel() + 1, [2.5, 2.1, 2.0238095238])
    assert_allclose(found.means.ravel(), [0.6, 1.3333333333, 1.4176470588])
    assert_allclose(found.covariances.ravel(), [0.6, 0.5238095238, 0.5058823529])
    assert found.loglik == pytest.approx(-4.6119498688, rel=1e-9)


def test_scalar_smoother():
    found = scalar().smooth(X)
    assert_allclose(found.means.ravel(), [1.0235294118, 1.3764705882, 1.4176470588])
    assert_allclose(found.covariances.ravel(), [0.3882352941, 0.3882352941, 0.5058823529])
    assert_allclose(found.lag_one_covariances.ravel()[1:], [0.2117647059, 0.2588235294])
    assert_allclose(found.initial_mean, 0.6823529412)
    assert_allclose(found.initial_covariance, 0.5058823529)


def test_prior_at_the_first_row_and_steady_state():
    model = scalar(initial_at="first")
    found = model.filter(X)
    assert_allclose(found.means.ravel(), [0.5, 1.25, 1.375])
    assert_allclose(found.covariances.ravel(), 0.5)
    assert found.loglik == pytest.approx(-4.6246613705, rel=1e-9)
    predicted, filtered, gain = model.steady_state()
    assert_allclose([predicted[0, 0], filtered[0, 0], gain[0, 0]], [1, 0.5, 0.5])


def test_missing_row():
    gap = X.copy()
    gap[1] = np.nan
    found = scalar().filter(gap)
    assert_allclose(found.means.ravel(), [0.6, 0.6, 1.1538461538])
    assert_allclose(found.covariances.ravel(), [0.6, 1.1, 0.6153846154])
    assert_allclose(scalar().smooth(gap).means.ravel(), [0.8076923077, 0.9807692308, 1.1538461538])
    assert found.loglik == pytest.approx(-3.1295473856, rel=1e-9)


def test_irregular_times():
    found = scalar(times=[1, 1.5, 3.5]).filter(X)
    assert_allclose(found.means.ravel(), [0.6, 1.2432432432, 1.3956043956])
    assert_allclose(found.covariances.ravel(), [0.6, 0.4594594595, 0.5934065934])
    assert found.loglik == pytest.approx(-4.7156564502, rel=1e-9)
    assert_allclose(scalar(times=[1, 2, 3]).filter(X).means, scalar().filter(X).means)


def test_controls():
    found = scalar(control_matrices=1).filter(X, U=[[0.5], [-0.5], [1]])
    assert_allclose(found.means.ravel(), [0.8, 1.1904761905, 1.8411764706])
    assert_allclose(found.covariances, scalar().filter(X).covariances)
    assert found.loglik == pytest.approx(-4.7943028100, rel=1e-9)


def test_one_em_step():
    model = scalar(em_vars=COVARIANCES).em(X, 1)
    assert_allclose(model.transition_covariance_, 0.4495155709)
    assert_allclose(model.observation_covariance_, 0.5594925029)
    assert model.loglikelihood(X) == pytest.approx(-4.2547073004, rel=1e-8)
    names = [*COVARIANCES, "transition_matrices", "observation_matrices"]
    model = scalar(em_vars=names).em(X, 1)
    found = [model.transition_matrices_, model.transition_covariance_]
    found += [model.observation_matrices_, model.observation_covariance_]
    assert_allclose(np.ravel(found), [1.0208487030, 0.4488360042, 0.9468399816, 0.5536197617])
    assert model.loglikelihood(X) == pytest.approx(-4.2245058176, rel=1e-8)
    assert_allclose(model.initial_state_mean_, 0)  # only em_vars change


def test_tracking_model():
    model = tracking_model(0.5, alpha=0.1, process_noise=0.1, measurement_noise=0.5, initial_at="before")
    seen = np.array([[1, 0], [2, 1], [2.5, 2.5], [4, 3]])
    assert model.loglikelihood(seen) == pytest.approx(-11.3578988815, rel=1e-9)
    last = [3.7752287321, 2.2859794539, 0.6282408015, 3.0357507263, 2.1876286804, 0.6156861539]
    assert_allclose(model.filter(seen).means[-1], last)
    ahead = model.predict_distribution(seen)
    assert_allclose(ahead.means[0], [4.9967485593, 4.2065258357])
    assert_allclose(np.diag(ahead.covariances[0]), 1.7387487703)


@pytest.mark.parametrize("order", [2, 3])
def test_tracks_of_one_to_three_axes(order):
    """A target of constant acceleration (or velocity) is predicted exactly; positions are what is measured."""
    for axes in (1, 2, 3):
        model = tracking_model(0.5, order=order, n_axes=axes, process_noise=2.0, measurement_noise=3.0)
        start = np.arange(1.0, axes * order + 1)
        state = start.reshape(axes, order)
        speed, more = state[:, 1], state[:, 2] if order == 3 else np.zeros(axes)
        wanted = [state[:, 0] + 0.5 * speed + 0.125 * more, speed + 0.5 * more, more][:order]
        assert_allclose(model.transition_matrices @ start, np.transpose(wanted).ravel())
        assert_allclose(model.observation_matrices @ start, state[:, 0])
        assert_allclose(model.transition_covariance, 2 * np.eye(axes * order))
        assert_allclose(model.observation_covariance, 3 * np.eye(axes))
    for wrong in ({"dt": 0.0}, {"dt": 1.0, "order": 1}, {"dt": 1.0, "order": 4}, {"dt": 1.0, "n_axes": 0}):
        with pytest.raises(DataError, match="dt must be above 0, order 2 or 3"):
            tracking_model(**wrong)
    with pytest.raises(DataError, match="dt must be above 0; got 0"):
        discretize([[0.0]], [1.0], 1.0, 0.0)


@pytest.mark.parametrize("bad", [[[0.5, 0.5]], [0.0, 0.0], [0.5, -0.1], [0.5, np.nan]])
def test_weights_that_cannot_be_drawn_by(bad):
    with pytest.raises(DataError, match="not negative and not all zero"):
        resample(bad)
    with pytest.raises(DataError, match="Did you mean 'systematic'"):
        resample([1.0], "systematc")


def test_resampling_by_given_numbers():
    w = [1.0, 2.0, 3.0, 4.0]
    assert resample(w, "stratified", u=[0.0, 0.9, 0.1, 0.99]).tolist() == [0, 2, 2, 3]
    assert resample(w, "multinomial", u=[0.95, 0.05, 0.25, 0.65]).tolist() == [0, 1, 3, 3]
    # Whole parts of 4 w / 10 are 0, 0, 1, 1; the rest is shared by .4, .8, .2 and .6.
    assert resample(w, "residual", u=[0.1, 0.9, 0.5, 0.5]).tolist() == [0, 2, 3, 3]
    assert resample([1.0, 1.0], "residual").tolist() == [0, 1]


def test_discretize():
    Phi, Q = discretize([[0, 1], [0, 0]], [0, 1], q=0.3, dt=0.7)
    assert_allclose(Phi, [[1, 0.7], [0, 1]])
    assert_allclose(Q, [[0.0343, 0.0735], [0.0735, 0.21]])


@given(st.integers(0, 1000), st.floats(0.1, 2), st.floats(0.1, 2))
def test_discretize_composes(seed, a, b):
    rng = np.random.default_rng(seed)
    F, L = rng.normal(size=(3, 3)) * 0.5, rng.normal(size=(3, 2))
    (Pa, Qa), (Pb, Qb), (Pc, Qc) = (discretize(F, L, 0.7, dt) for dt in (a, b, a + b))
    assert_allclose(Pb @ Pa, Pc, rtol=1e-8, atol=1e-10)
    assert_allclose(Pb @ Qa @ Pb.T + Qb, Qc, rtol=1e-7, atol=1e-9)


def test_extended_filter_by_hand():
    ekf = ExtendedKalmanFilter(
        lambda s: s,
        lambda s: s**2,
        transition_covariance=0.1,
        observation_covariance=0.5,
        initial_state_mean=1,
        initial_state_covariance=0.2,
        initial_at="before",
    )
    found = ekf.filter([1.5, 2.0])
    assert_allclose(found.means.ravel(), [1.1764705882, 1.3533643115], rtol=1e-8)
    assert_allclose(found.covariances.ravel(), [0.0882352941, 0.0610308190], rtol=1e-8)


def test_regression_as_a_filter():
    D = np.array([[[1.0, 0]], [[1, 1]], [[1, 2]]])
    model = KalmanFilter(np.eye(2), D, np.zeros((2, 2)), 1.0)
    found = model.filter([[1], [2], [4]])
    assert_allclose(found.means[-1], [0.8, 1.2666666667])
    assert_allclose(found.covariances[-1], [[0.4, -0.2], [-0.2, 0.2666666667]])


def test_systematic_resampling_by_hand():
    assert resample([0.1, 0.2, 0.3, 0.4], u=0.5).tolist() == [1, 2, 3, 3]
    assert effective_sample_size([0.1, 0.2, 0.3, 0.4]) == pytest.approx(10 / 3)


@pytest.mark.parametrize("scheme", ["systematic", "stratified", "multinomial", "residual"])
def test_particles_follow_the_kalman_filter(scheme):
    exact = scalar().filter(X)
    N = 100_000
    particle = ParticleFilter.from_kalman(
        scalar(), n_particles=N, resampling=scheme, ess_threshold=1.0, random_state=0
    )
    found = particle.filter(X)
    error = 4 * np.sqrt(exact.covariances[:, 0, 0] / N) * 1.7  # weights cost a factor
    assert (np.abs(found.means - exact.means)[:, 0] < error).all()
    assert found.loglik == pytest.approx(exact.loglik, abs=0.02)
    assert ((found.ess >= 1) & (found.ess <= N)).all()


@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_particles_in_the_plane(threshold):
    noise = np.array([[0.2, 0.1], [0.1, 0.3]])
    model = KalmanFilter([[1, 0.5], [0, 0.9]], [[1.0, 0.2]], noise, 0.8, initial_at="before")
    seen = np.array([[0.3], [-0.5], [1.2], [0.4]])
    exact = model.filter(seen)
    particle = ParticleFilter.from_kalman(model, n_particles=200_000, ess_threshold=threshold, random_state=0)
    found = particle.filter(seen)
    assert found.loglik == pytest.approx(exact.loglik, abs=0.02)
    assert_allclose(found.means, exact.means, atol=0.03)
    assert_allclose(found.covariances, exact.covariances, atol=0.06)
    assert found.resampled.any() == (threshold > 0 and (found.ess[:-1] < 100_000).any())


def test_particles_remember_small_weights():
    """A particle out of favor by far more than the smallest number comes back when the rows turn."""
    states = np.array([[0.0], [1.0]])
    found = ParticleFilter(
        lambda s, t, rng: s,
        lambda x, s, t: -1000.0 * (s[:, 0] - x) ** 2,
        lambda n, rng: states,
        n_particles=2,
        ess_threshold=0.0,
    ).filter([0.0, 0.0, 1.0, 1.0])
    assert_allclose(found.weights, [0.5, 0.5])
    assert found.loglik == pytest.approx(-2000.0)


def test_no_particle_explains_the_row():
    particle = ParticleFilter(
        lambda s, t, rng: s,
        lambda x, s, t: np.full(5, -np.inf),
        lambda n, rng: np.zeros((n, 1)),
        n_particles=5,
    )
    with pytest.raises(ZeroEvidenceError, match="row 0"):
        particle.filter([1.0, 2.0])


@given(st.integers(0, 1000), st.sampled_from(["systematic", "stratified", "multinomial", "residual"]))
def test_resampling_is_unbiased_and_sorted(seed, scheme):
    rng = np.random.default_rng(seed)
    w = rng.dirichlet(np.ones(5))
    counts = np.mean([np.bincount(resample(w, scheme, rng), minlength=5) for _ in range(400)], axis=0)
    assert_allclose(counts, 5 * w, atol=0.35)
    chosen = resample(w, scheme, rng)
    assert (np.diff(chosen) >= 0).all() and len(chosen) == 5


def test_particle_likelihood_is_unbiased_and_paths_smooth():
    exact = scalar().loglikelihood(X)
    runs = [
        np.exp(ParticleFilter.from_kalman(scalar(), n_particles=50, random_state=s).filter(X).loglik - exact)
        for s in range(600)
    ]
    assert np.mean(runs) == pytest.approx(1, abs=4 * np.std(runs) / np.sqrt(600))
    found = ParticleFilter.from_kalman(scalar(), n_particles=20_000, random_state=0).filter(X, keep=True)
    paths = found.sample_paths(4000, random_state=1)[:, :, 0]
    assert_allclose(paths.mean(axis=0), scalar().smooth(X).means.ravel(), atol=0.06)


def test_random_walk_by_hand():
    walk = np.array([[0], [1], [3], [2.5]])
    assert_allclose(GaussianRandomWalk().fit(walk).covariance_, 1.75)
    model = GaussianRandomWalk(drift=True).fit(walk)
    assert_allclose(model.drift_, 0.8333333333)
    assert_allclose(model.covariance_, 1.0555555556)
    with pytest.raises(ValueError, match="horizon must be a time above 0; got -1"):
        model.predict_distribution(-1)
    ahead = model.predict_distribution(3)
    assert_allclose([ahead.means[0, 0], ahead.covariances[0, 0, 0]], [2.5 + 2.5, 3.1666666667])
    from scipy.stats import norm

    assert model.score(walk) == pytest.approx(
        norm(0.8333333333, 1.0555555556**0.5).logpdf([1, 2, -0.5]).sum()
    )


# dense twin


def random_model(seed, before):
    rng = np.random.default_rng(seed)
    d, p, T = rng.integers(1, 4), rng.integers(1, 3), rng.integers(1, 9)
    half = [rng.normal(size=(n, n)) for n in (d, p, d)]
    Q, V, P0 = (A @ A.T + 0.1 * np.eye(len(A)) for A in half)
    C, D = rng.normal(size=(d, d)) * 0.6, rng.normal(size=(p, d))
    arrays = {"transition_offsets": rng.normal(size=d), "observation_offsets": rng.normal(size=p)}
    prior = {"initial_state_mean": rng.normal(size=d), "initial_state_covariance": P0}
    model = KalmanFilter(C, D, Q, V, initial_at="before" if before else "first", **arrays, **prior)
    return model, rng.normal(size=(T, p)) * 2


def dense_joint(model, T):
    """Mean and covariance of all states (from the first row) and all observations, written out."""
    m = model._model(None)
    C, Q, D, V = m.C[0], m.Q[0], m.D[0], m.V[0]
    d = len(C)
    means, blocks = [], np.zeros((T, T, d, d))
    mean, P = m.m0, m.P0
    for t in range(T):
        if t > 0 or m.before:
            mean, P = C @ mean + m.c[0], C @ P @ C.T + Q
        means.append(mean)
        blocks[t, t] = P
    for t in range(T):
        for u in range(t + 1, T):
            blocks[u, t] = C @ blocks[u - 1, t]
            blocks[t, u] = blocks[u, t].T
    S = blocks.transpose(0, 2, 1, 3).reshape(T * d, T * d)
    H = np.kron(np.eye(T), D)
    x = H @ np.concatenate(means) + np.tile(m.e[0], T)
    return np.concatenate(means), S, H, x, H @ S @ H.T + np.kron(np.eye(T), V)


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_smoother_equals_dense_conditioning(seed, before, gaps):
    model, seen = random_model(seed, before)
    T = len(seen)
    if gaps:
        seen[np.random.default_rng(seed).random(seen.shape) < 0.3] = np.nan
    mean, S, H, x, R = dense_joint(model, T)
    o = ~np.isnan(seen.ravel())
    if not o.any():
        return
    gain = S @ H[o].T @ np.linalg.inv(R[np.ix_(o, o)])
    after = mean + gain @ (seen.ravel()[o] - x[o])
    P = S - gain @ H[o] @ S
    found = model.smooth(seen)
    d = found.means.shape[1]
    assert_allclose(found.means.ravel(), after, rtol=1e-7, atol=1e-8)
    for t in range(T):
        block = slice(t * d, t * d + d)
        assert_allclose(found.covariances[t], P[block, block], rtol=1e-6, atol=1e-8)
        if t:
            lag = P[block, (t - 1) * d : t * d]
            assert_allclose(found.lag_one_covariances[t], lag, rtol=1e-6, atol=1e-8)
    dense = multivariate_normal(x[o], R[np.ix_(o, o)]).logpdf(seen.ravel()[o])
    assert found.loglik == pytest.approx(dense, rel=1e-8, abs=1e-8)


@given(st.integers(0, 10**6), st.booleans())
def test_three_forms_agree(seed, before):
    model, seen = random_model(seed, before)
    base = model.filter(seen)
    for form in ("information", "square_root"):
        other = model.set_params(form=form).filter(seen)
        for a, b in zip(base[:6], other[:6]):
            assert_allclose(a, b, rtol=1e-8, atol=1e-9)
    model.set_params(form="joseph")
    assert_allclose(model.filter(seen + 5).covariances, base.covariances)
    smooth = model.smooth(seen)
    for filtered, smoothed in zip(base.covariances, smooth.covariances):
        assert np.linalg.eigvalsh(filtered - smoothed).min() > -1e-9
    assert_allclose(smooth.covariances[-1], base.covariances[-1])


def test_steady_gain_changes_nothing():
    seen, _ = make_trajectory(3000, random_state=0)
    model = tracking_model(0.5, alpha=0.3, process_noise=0.1, measurement_noise=1.0)
    fast, slow = model.filter(seen), model.filter(seen, steady=False)
    assert fast.steady[-1] and not slow.steady.any()
    for a, b in zip(fast[:6], slow[:6]):
        assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    seen[1500, 0] = np.nan
    for a, b in zip(model.filter(seen)[:6], model.filter(seen, steady=False)[:6]):
        assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    predicted, filtered, gain = model.steady_state()
    assert_allclose(fast.covariances[-1], filtered, rtol=1e-7, atol=1e-10)


def test_a_missing_row_is_one_long_prediction():
    model = KalmanFilter(np.eye(1), np.eye(1), np.zeros((1, 1)), np.eye(1))
    gap = np.insert(X, 1, np.nan, axis=0)
    assert model.loglikelihood(gap) == pytest.approx(model.loglikelihood(X))
    assert_allclose(np.delete(model.filter(gap).means, 1, axis=0), model.filter(X).means)


@given(st.integers(0, 10**6))
def test_em_never_loses(seed):
    rng = np.random.default_rng(seed)
    truth = KalmanFilter([[0.9]], [[1.0], [0.5]], [[0.3]], np.diag([0.5, 0.2]), initial_at="first")
    seen = np.concatenate([truth.sample(25, random_state=int(s))[1] for s in rng.integers(1000, size=2)])
    seen[rng.random(seen.shape) < 0.15] = np.nan
    names = ["transition_matrices", "observation_matrices", *COVARIANCES]
    names += ["initial_state_mean", "initial_state_covariance"]
    model = KalmanFilter(np.eye(1), np.ones((2, 1)), em_vars=names, max_iter=12, tol=0)
    model.fit(seen, lengths=[25, 25])
    steps = np.diff(model.trace_.objective)
    assert (steps >= -1e-7 * np.abs(model.trace_.objective[1:])).all()
    assert model.score(seen, lengths=[25, 25]) >= model.trace_[-1] - 1e-6


def test_em_with_gaps_in_time_and_structure():
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.uniform(0.2, 2, 80))
    walk = np.cumsum(rng.normal(size=(80, 2)), axis=0) + rng.normal(size=(80, 2))
    model = KalmanFilter(times=times, covariance_type="isotropic", em_vars=COVARIANCES, max_iter=15, tol=0)
    model.fit(walk)
    assert (np.diff(model.trace_.objective) >= -1e-8).all()
    assert_allclose(model.transition_covariance_, np.eye(2) * model.transition_covariance_[0, 0])


@given(st.integers(0, 10**6), st.booleans())
def test_linear_functions_give_the_kalman_filter(seed, before):
    model, seen = random_model(seed, before)
    m = model._model(None)
    options = {
        "transition_covariance": m.Q[0],
        "observation_covariance": m.V[0],
        "initial_state_mean": m.m0,
        "initial_state_covariance": m.P0,
        "initial_at": "before" if before else "first",
    }
    base = model.filter(seen)
    for kind in (ExtendedKalmanFilter, UnscentedKalmanFilter):
        near = kind(lambda s: m.C[0] @ s + m.c[0], lambda s: m.D[0] @ s + m.e[0], **options)
        other = near.filter(seen)
        assert near.loglikelihood(seen) == other.loglik
        assert_allclose(other.means, base.means, rtol=1e-6, atol=1e-7)
        assert other.loglik == pytest.approx(base.loglik, rel=1e-6, abs=1e-6)


def test_factor_analysis_is_a_still_state():
    class Fitted:
        components_ = np.array([[1.0, 0.5, -0.3]])
        noise_variance_ = np.array([0.2, 0.3, 0.4])
        mean_ = np.array([1.0, 2.0, 3.0])

    rows = np.random.default_rng(0).normal(size=(6, 3))
    model = KalmanFilter.from_factor_analysis(Fitted)
    cov = Fitted.components_.T @ Fitted.components_ + np.diag(Fitted.noise_variance_)
    assert model.loglikelihood(rows) == pytest.approx(
        multivariate_normal(Fitted.mean_, cov).logpdf(rows).sum()
    )


def test_online_session():
    session = scalar().online()
    for x in X:
        session.predict()
        session.update(x)
    assert_allclose(session.mean, 1.4176470588)
    assert session.loglik == pytest.approx(-4.6119498688)
    timed = scalar().online()
    for x, dt in zip(X, [1, 0.5, 2]):
        timed.predict(dt=dt)
        timed.update(x)
    assert_allclose(timed.mean, 1.3956043956)


def test_bad_input():
    with pytest.raises(DegenerateError, match="singular at row 0"):
        KalmanFilter(1, 1, 0, 0, initial_state_covariance=0).filter(X)
    with pytest.raises(DataError, match="smallest eigenvalue is -1"):
        KalmanFilter(1, 1, -1, 1).filter(X)
    with pytest.raises(DataError, match="transition_covariance"):
        KalmanFilter(em_vars=["transition_covarianc"]).fit(X)
    with pytest.raises(DataError, match="times must increase"):
        scalar(times=[1, 1, 2]).filter(X)
