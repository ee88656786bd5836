"""The climb to the best hyper-parameters, and what classifiers make of questions, pairs and parts of theta."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize
from scipy.special import expit, log_expit

from gnomon import load, save
from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.gp import GaussianProcessClassifier, GaussianProcessRegressor
from gnomon.gp.ascent import begin, climb, slope
from gnomon.gp.laplace import averaged_sigmoid, find_mode
from gnomon.kernels import RBF, ConstantKernel, FunctionKernel, WhiteKernel

RNG = np.random.default_rng(0)
X = np.repeat([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], 12, axis=0) + RNG.normal(size=(36, 2))
Y = np.repeat(["a", "b", "c"], 12)
KERNEL = ConstantKernel(1.5) * RBF(0.9)


def hill(A, top):
    """A concave square with its value, gradient, and the place as what was fitted."""
    return lambda t: (float(-0.5 * (t - top) @ A @ (t - top)), -A @ (t - top), t)


@pytest.mark.parametrize("box", [(-9.0, 9.0), (-0.5, 0.25), (0.0, 9.0), (-9.0, 0.1)])
@pytest.mark.parametrize("seed", range(3))
def test_a_square_is_climbed_to_its_highest_place_in_a_box(box, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    A, top = root @ root.T + 0.3 * np.eye(4), rng.normal(size=4)
    bounds = np.tile(np.array(box), (4, 1))
    objective = hill(A, top)
    state = begin(objective, np.clip(np.full(4, 0.05), *box))
    assert (state.steps, state.done, state.still) == (0, False, 0)
    while not state.done:
        after = climb(objective, bounds, state)
        assert after.value >= state.value and (after.theta >= box[0]).all() and (after.theta <= box[1]).all()
        assert np.abs(after.theta - state.theta).max() <= 3.0 + 1e-12
        if after.steps > state.steps:
            move, drop = after.theta - state.theta, state.gradient - after.gradient
            assert_allclose(after.bend @ move, drop, atol=1e-9)  # the secant equation
            assert_allclose(after.bend, after.bend.T, atol=1e-12)
            assert np.linalg.eigvalsh(after.bend)[0] > 0
            assert_allclose(after.fit, after.theta)
        state = after
        assert state.steps < 60
    best = optimize.minimize(
        lambda t: -objective(t)[0], np.clip(top, *box), jac=lambda t: -objective(t)[1], bounds=bounds, tol=1e-12
    )  # fmt: skip
    assert (
        state.value == pytest.approx(-best.fun, abs=1e-7)
        and slope(state.theta, state.gradient, bounds) < 1e-3
    )
    assert climb(objective, bounds, state) == state


def test_slopes_that_a_bound_holds_back_do_not_count():
    bounds = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    theta = np.array([0.0, 0.5, 1.0])
    assert slope(theta, np.array([-5.0, 0.0, 5.0]), bounds) == 0.0
    assert slope(theta, np.array([-5.0, 0.2, 5.0]), bounds) == pytest.approx(0.2)
    assert slope(theta, np.array([0.3, -0.2, 5.0]), bounds) == pytest.approx(0.3)
    assert slope(np.zeros(0), np.zeros(0), np.zeros((0, 2))) == 0.0


def test_nothing_is_climbed_without_coordinates_or_at_the_top():
    assert begin(lambda t: (1.0, t, None), np.zeros(0)).done
    state = begin(hill(np.eye(2), np.zeros(2)), np.zeros(2))
    assert not state.done and climb(hill(np.eye(2), np.zeros(2)), np.array([[-1.0, 1.0]] * 2), state).done


def test_places_without_a_value_are_stepped_around():
    def log_hill(t):  # ln t − t with its top at 1; no value from 1.5 on
        return (float(np.log(t[0]) - t[0]), 1 / t - 1, None) if t[0] < 1.5 else (-np.inf, np.zeros(1), None)

    bounds, state = np.array([[1e-3, 50.0]]), begin(log_hill, np.array([0.05]))
    while not state.done:
        state = climb(log_hill, bounds, state)
    assert state.theta[0] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("first", "moved"),
    [
        (2e-4, 1.0),  # gains a ten-thousandth of what the slope promises: enough
        (1e-4, 1.0),
        (0.9e-4, 0.5),  # too little
        (-0.5e-4, 0.5 / 1.00005),  # the top of the parabola through both values: 1/(2(1 - first))
        (-1.0, 0.25),
        (-2.0, 1 / 6),
        (-9.0, 0.1),
        (-np.inf, 0.2),
        (np.inf, 0.2),
    ],
)
def test_a_step_that_does_not_gain_enough_is_shortened(first, moved):
    def objective(t):
        return (first if t[0] == 1.0 else 0.9 * float(t[0])), np.ones(1), float(t[0])

    bounds = np.array([[-5.0, 5.0]])
    after = climb(objective, bounds, begin(objective, np.zeros(1)))
    assert after.theta[0] == after.fit == pytest.approx(moved) and after.steps == 1
    assert after.value == (first if moved == 1.0 else pytest.approx(0.9 * moved))


@pytest.mark.parametrize("sizes", [(40.0,), (2.0, -0.5), (0.25, 0.25)])
def test_the_first_step_and_any_step_have_a_longest(sizes):
    """The first step changes all logarithms by one together; later ones each by three."""
    gradient = np.array(sizes)

    def plain(t):
        return float(gradient @ t), gradient, None

    bounds = np.tile([-1e6, 1e6], (len(sizes), 1))
    start = begin(plain, np.zeros(len(sizes)))
    first = climb(plain, bounds, start)
    assert_allclose(first.theta, gradient / max(1.0, np.abs(gradient).sum()))
    later = climb(plain, bounds, first._replace(bend=np.eye(len(sizes))))
    assert_allclose(later.theta - first.theta, gradient * min(1.0, 3.0 / np.abs(gradient).max()))


def test_a_climb_is_done_where_no_step_gains():
    def spike(t):  # falls on every side, whatever the slope says
        return -float(np.abs(t).max() > 0), np.ones(2), None

    asked = []
    after = climb(
        lambda t: asked.append(t) or spike(t), np.tile([-9.0, 9.0], (2, 1)), begin(spike, np.zeros(2))
    )
    assert after.done and after.value == 0.0 and after.steps == 0 and not after.theta.any()
    assert len(asked) == 24  # twelve lengths along either direction


def test_a_climb_that_gains_next_to_nothing_ends_after_two_steps():
    def plain(t):  # so flat that every step gains less than a billionth, but the slope is not none
        return 1.0 + 2e-5 * float(t[0]), np.array([2e-5]), None

    bounds, state, steps = np.array([[0.0, 1e9]]), begin(plain, np.zeros(1)), []
    while not state.done:
        state = climb(plain, bounds, state)
        steps.append(state.still)
    assert steps == [1, 2]


# Classes


def fitted(multi_class, kernel=KERNEL, **options):
    return GaussianProcessClassifier(kernel, multi_class=multi_class, **{"optimizer": None, **options}).fit(
        X, Y
    )


def test_pairs_vote_and_of_equal_votes_the_surer_wins(monkeypatch):
    model = fitted("one_vs_one")
    asked = np.vstack([X, RNG.uniform(-2, 4, size=(200, 2))])
    mean, variance = model.latent_mean_and_variance(asked)
    for m, (a, b) in enumerate(combinations("abc", 2)):  # a classifier of two classes each
        some = (a == Y) | (b == Y)
        two = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X[some], Y[some])
        assert_allclose(
            np.column_stack([mean[:, m], variance[:, m]]), np.transpose(two.latent_mean_and_variance(asked))
        )
    mean = RNG.normal(size=(300, 3))  # circles among them, of which each class has one vote
    monkeypatch.setattr(model, "latent_mean_and_variance", lambda rows: (mean, np.full((300, 3), 0.5)))
    said, ties = model.predict(asked), 0
    for i, P in enumerate(np.transpose([averaged_sigmoid(m, np.full(300, np.sqrt(0.5))) for m in mean.T])):
        count, sure = np.zeros(3), np.zeros(3)
        for p, (a, b) in zip(P, combinations(range(3), 2), strict=True):
            count[b if p > 0.5 else a] += 1
            sure[a] += 0.5 - p
            sure[b] += p - 0.5
        ties += count.max() == 1
        assert said[i] == "abc"[max(range(3), key=lambda k: (count[k], sure[k]))]
    assert ties > 10


@pytest.mark.parametrize("method", ["probit", "map", "quadrature"])
def test_each_class_against_the_rest(method):
    model = fitted("one_vs_rest")
    mean, variance = model.latent_mean_and_variance(X)
    columns = []
    for m, name in enumerate("abc"):
        two = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, name == Y)
        columns.append(two.predict_proba(X, method)[:, 1])
        if method == "probit":
            assert_allclose(columns[-1], expit(mean[:, m] / np.sqrt(1 + np.pi * variance[:, m] / 8)))
        if method == "map":
            assert_allclose(columns[-1], expit(mean[:, m]))
    P = np.transpose(columns)
    assert_allclose(model.predict_proba(X, method), P / P.sum(axis=1, keepdims=True))
    if method == "quadrature":
        assert model.predict(X).tolist() == [("abc")[k] for k in P.argmax(axis=1)]


def test_the_evidence_of_parts_of_theta():
    model = fitted("one_vs_rest")
    alone = [GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, name == Y) for name in "abc"]
    theta = RNG.normal(size=6)
    each = [two.log_marginal_likelihood(theta[2 * k : 2 * k + 2]) for k, two in enumerate(alone)]
    assert model.log_marginal_likelihood(theta) == pytest.approx(np.mean(each))
    same = [two.log_marginal_likelihood(theta[:2]) for two in alone]
    assert model.log_marginal_likelihood(theta[:2]) == pytest.approx(np.mean(same))
    assert (
        model.log_marginal_likelihood()
        == model.log_marginal_likelihood_value_
        == pytest.approx(np.mean([two.log_marginal_likelihood_value_ for two in alone]))
    )
    assert_allclose(model.fits_[1].kernel.theta, KERNEL.theta)
    model.log_marginal_likelihood(theta, clone_kernel=False)
    assert_allclose([fit.kernel.theta for fit in model.fits_], theta.reshape(3, 2))
    for wrong in (theta[:3], theta[:5], np.zeros(0)):
        with pytest.raises(ValueError, match="Shape of theta must be either 2 or 6"):
            model.log_marginal_likelihood(wrong)
    with pytest.raises(NotImplementedError, match="multi-class"):
        model.log_marginal_likelihood(theta, eval_gradient=True)
    with pytest.raises(ValueError, match="theta!=None"):
        model.log_marginal_likelihood(eval_gradient=True)


def test_the_evidence_is_laplaces_at_the_mode():
    two = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, Y == "a")
    t, K = (Y == "a").astype(float), np.asarray(KERNEL(X))

    def minus(f):
        return 0.5 * f @ np.linalg.solve(K + 1e-10 * np.eye(36), f) - log_expit((2 * t - 1) * f).sum()

    mode = two.fits_[0].mode
    pi = expit(mode)
    assert_allclose(K @ (t - pi), mode, atol=1e-5)
    wanted = -minus(mode) - 0.5 * np.linalg.slogdet(np.eye(36) + K * (pi * (1 - pi)))[1]
    assert two.log_marginal_likelihood_value_ == pytest.approx(wanted, abs=1e-5)


def test_the_mode_is_that_of_a_logistic_regression_where_whole_steps_of_newton_lead_away():
    x = np.array([[-3.0, -4, 1], [0, -4, 1], [3, -3, 4], [-2, 1, -1], [4, -3, 2]]) * np.sqrt(1000.0)
    t = np.array([0.0, 0, 1, 0, 0])
    mode, weights, *_ = find_mode(x @ x.T, t, np.zeros(5), 100)
    signs = 2 * t - 1
    twin = optimize.minimize(
        lambda w: 0.5 * w @ w - log_expit(signs * (x @ w)).sum(),
        np.zeros(3),
        jac=lambda w: w - (signs * expit(-signs * (x @ w))) @ x,
        tol=1e-10,
    )
    assert_allclose(mode, x @ twin.x, atol=1e-4)
    assert_allclose(x.T @ weights, twin.x, atol=1e-5)


def test_a_warm_start_begins_where_the_last_fit_ended():
    climbed = GaussianProcessClassifier(KERNEL, warm_start=True, max_iter=3).fit(X, Y)
    found = [fit.kernel.theta for fit in climbed.fits_]
    assert not np.allclose(found[0], KERNEL.theta)
    again = climbed.set_params(optimizer=None).fit(X, Y)
    assert_allclose([fit.kernel.theta for fit in again.fits_], found)
    fewer = again.fit(X, Y == "a")  # one question instead of three: begins anew
    assert_allclose(fewer.kernel_.theta, KERNEL.theta)
    cold = climbed.set_params(warm_start=False).fit(X, Y)
    assert_allclose(cold.fits_[0].kernel.theta, KERNEL.theta)


def test_an_optimizer_of_the_user_goes_down_minus_the_evidence():
    asked = []

    def mine(loss, start, bounds):
        value, slopes = loss(start)
        assert loss(start, eval_gradient=False) == value
        asked.append((start, bounds, value, slopes))
        return start + 0.25, None

    model = GaussianProcessClassifier(KERNEL, optimizer=mine).fit(X, Y == "a")
    plain = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, Y == "a")
    ((start, bounds, value, slopes),) = asked
    assert_allclose(start, KERNEL.theta)
    assert_allclose(bounds, KERNEL.bounds)
    wanted = plain.log_marginal_likelihood(KERNEL.theta, eval_gradient=True)
    assert value == pytest.approx(-wanted[0])
    assert_allclose(slopes, -wanted[1])
    assert_allclose(model.kernel_.theta, KERNEL.theta + 0.25)


def test_what_cannot_be_asked_is_named():
    from sklearn.gaussian_process.kernels import CompoundKernel, DotProduct

    with pytest.raises(ValueError, match="CompoundKernel"):
        GaussianProcessClassifier(CompoundKernel([KERNEL])).fit(X, Y)
    with pytest.raises(ValueError, match="2 or more distinct classes; got 1 class .only class a"):
        GaussianProcessClassifier().fit(X[:5], Y[:5])
    with np.errstate(over="ignore"), pytest.raises(DegenerateError, match="no finite matrix on X"):
        GaussianProcessClassifier(DotProduct()).fit(1e200 * X, Y)


@pytest.mark.parametrize("part", ["factor", "X", "slope", "other"])
def test_latent_functions_of_a_file_have_to_fit_their_rows(part, tmp_path):
    model = fitted("one_vs_rest")
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").predict(X).tolist() == model.predict(X).tolist()
    last = model.fits_[-1]
    change = {"factor": last.factor[:-1], "X": last.X[:-1], "slope": last.slope[:-1], "other": None}[part]
    model.fits_[-1] = last._replace(**({"labels": last.labels[:-1]} if part == "other" else {part: change}))
    save(model, tmp_path / "m")
    with pytest.raises(ModelFileError, match="do not fit its rows"):
        load(tmp_path / "m")


# Questions and things


@pytest.mark.parametrize("kernel", [RBF(0.7), RBF(0.7) + WhiteKernel(0.4)], ids=["plain", "noisy"])
@pytest.mark.parametrize("alpha", [1e-6, 0.5])
def test_each_question_takes_the_answers_before_it_into_account(kernel, alpha):
    """Doubt does not depend on what is answered: the same as fits to the rows asked before, whatever they said."""
    rng = np.random.default_rng(4)
    rows, pool = rng.uniform(-3, 3, (4, 1)), rng.uniform(-3, 3, (14, 1))
    model = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(rows, np.sin(rows[:, 0]))
    chosen = []
    for _ in range(9):
        known = np.vstack([rows, pool[chosen]])
        told = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(known, np.zeros(len(known)))
        doubt = told.predict(pool, return_std=True)[1] ** 2
        doubt[chosen] = -1.0
        chosen.append(int(doubt.argmax()))
    assert model.next_query(pool, 9).tolist() == chosen
    assert model.next_query(pool).tolist() == chosen[:1]


def test_things_need_one_target_each():
    kernel = FunctionKernel(lambda a, b: float(len(set(a) & set(b))), vectorized=False) + ConstantKernel(1.0)
    words = ["abc", "abd", "xyz", "xyw"]
    model = GaussianProcessClassifier(kernel, optimizer=None).fit(words, [0, 0, 1, 1])
    assert model.predict(["ab", "xy"]).tolist() == [0, 1]
    twin = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(words, [0.0, 0.0, 1.0, 1.0])
    assert twin.predict(["ab"])[0] < 0.3 < 0.7 < twin.predict(["xy"])[0]
    for cls in (GaussianProcessClassifier, GaussianProcessRegressor):
        for y in ([0, 1, 1], [0, 1, 1, 0, 1]):
            with pytest.raises(DataError, match="one target for each of the 4 items"):
                cls(kernel, optimizer=None).fit(words, y)


def test_noise_of_many_rows():
    from gnomon.gp.exact import noise_of

    rows = np.random.default_rng(0).normal(size=(150, 2))
    assert_allclose(noise_of(RBF(1.0) + WhiteKernel(0.3), rows), 0.3)
    assert_allclose(noise_of(RBF(1.0), rows), 0.0, atol=1e-12)


def test_equal_rows_that_differ_in_one_target_contradict_each_other():
    X2, Y2 = np.array([[0.0], [1.0], [0.0]]), np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 3.0]])
    with pytest.raises(DegenerateError, match="duplicate rows 0 and 2 with different y"):
        GaussianProcessRegressor(RBF(1.0), alpha=0.0, optimizer=None).fit(X2, Y2)


def test_roots_of_singular_covariances():
    from gnomon.gp.exact import root

    for C, wanted in (
        (np.diag([4.0, -1e-3]), np.diag([4.0, 0.0])),
        (np.diag([4.0, 9.0]), np.diag([4.0, 9.0])),
    ):
        found, _ = root(C)
        assert_allclose(found @ found.T, wanted, atol=1e-9)


def test_directions_do_not_leave_through_a_bound():
    """Newton's step would leave by the first coordinate, though its slope points inside: it rests, and alone the
    second one is climbed."""
    A = np.array([[1.0, 0.9], [0.9, 1.0]])
    top = np.linalg.solve(A, [0.1, 1.0])
    bounds = np.array([[0.0, 9.0], [-9.0, 9.0]])
    state = begin(hill(A, top), np.zeros(2))._replace(bend=A, steps=1)
    assert top[0] < 0 < state.gradient[0]
    assert_allclose(climb(hill(A, top), bounds, state).theta, [0.0, 1.0])
    mirrored = np.array([[-9.0, 0.0], [-9.0, 9.0]])
    state = begin(hill(A, -top), np.zeros(2))._replace(bend=A, steps=1)
    assert_allclose(climb(hill(A, -top), mirrored, state).theta, [0.0, -1.0])
