"""Bounds: the digits of the courses, inverses that are exact, and simulations that never beat them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.core.errors import DataError, DegenerateError
from gnomon.theory import (
    HalfSpaces,
    Intervals,
    RectangleLearner,
    concentration_bound,
    finite_class_bound,
    sauer_bound,
    simulate_deviation,
    vc_bound,
)

near = pytest.approx


def test_finite_class_digits():
    size = {"size": 1000, "delta": 0.05}
    assert finite_class_bound(n=100, **size, realizable=True, form="simple").value == near(
        0.0990348755, rel=1e-8
    )
    assert finite_class_bound(n=100, **size, realizable=True).value == near(0.0942888797, rel=1e-8)
    assert finite_class_bound(n=100, **size).value == near(0.2301807413, rel=1e-8)


def test_finite_class_sample_sizes():
    ask = {"epsilon": 0.1, "delta": 0.05, "size": 1000}
    assert finite_class_bound(**ask, realizable=True, form="simple").value == 100
    assert finite_class_bound(**ask, realizable=True).value == 94
    assert finite_class_bound(**ask).value == 530
    assert finite_class_bound(**ask, target="optimum").value == 2120


def test_conjunctions_need_so_many_rows():
    for n, realizable, agnostic in ((10, 140, 2936), (20, 250, 5133)):
        ask = {"epsilon": 0.1, "delta": 0.05, "log_size": n * np.log(3)}
        assert finite_class_bound(**ask, realizable=True, form="simple").value == realizable
        assert finite_class_bound(epsilon=0.1, delta=0.05, size=3**n, target="optimum").value == agnostic


def test_union_bound_is_the_sum_of_single_failures():
    one = finite_class_bound(n=200, epsilon=0.1, size=1)
    assert one.value == near(concentration_bound(n=200, epsilon=0.1).value)
    assert finite_class_bound(n=200, epsilon=0.1, size=40).value == near(40 * one.value)
    assert finite_class_bound(n=20, epsilon=0.1, size=40).vacuous  # said as it is, not clipped
    assert finite_class_bound(n=20, epsilon=0.1, size=40).value > 1


def test_exponential_is_never_below():
    x = np.linspace(0, 1, 101)
    assert (1 - x <= np.exp(-x)).all()
    for n in (1, 10, 100):
        ask = {"n": n, "delta": 0.1, "size": 50, "realizable": True}
        assert finite_class_bound(**ask).value <= finite_class_bound(**ask, form="simple").value


def test_rectangle_digits():
    for delta, simple, exact in ((0.05, 176, 174), (0.1, 148, 146)):
        assert RectangleLearner.bound(epsilon=0.1, delta=delta, form="simple").value == simple
        assert RectangleLearner.bound(epsilon=0.1, delta=delta).value == exact
    found = RectangleLearner.bound(n=[50, 100, 174], epsilon=0.1)
    assert found.value == near([1.1279524, 0.3180692, 0.0488498], rel=1e-6)
    assert found.vacuous.tolist() == [True, False, False]
    assert RectangleLearner.bound(epsilon=0.1, delta=0.05, dim=[1, 3], form="simple").value.tolist() == [
        74,
        288,
    ]
    assert RectangleLearner.bound(epsilon=0.1, delta=0.05, dim=[1, 3]).value.tolist() == [72, 285]


def test_concentration_digits():
    assert concentration_bound(n=100, epsilon=0.1).value == near(0.2706705665)
    assert concentration_bound(n=1000, epsilon=0.05).value == near(0.0134758940)
    assert concentration_bound(epsilon=0.01, delta=0.05).value == 18445
    assert concentration_bound(n=1000, delta=0.05).value == near(0.0429469408)
    assert concentration_bound(n=200, epsilon=0.5, kind="chernoff", mean=0.1).value == near(0.0820849986)
    assert stats.binom.cdf(9, 200, 0.1) == near(0.0035285655)
    assert concentration_bound(n=56, epsilon=0.5, kind="chernoff", mean=0.1).value == near(0.4965853038)


def test_hoeffding_with_ranges_of_its_own_for_every_term():
    widths = np.array([1.0, 2.0, 0.5, 3.0])
    found = concentration_bound(n=4, epsilon=1.0, width=widths)
    assert found.value == near(2 * np.exp(-2 * 16 / (widths**2).sum()))
    assert concentration_bound(n=4, delta=0.1, width=widths).value == near(
        np.sqrt(np.log(20) * (widths**2).sum() / 2) / 4
    )


@pytest.mark.parametrize("kind", ["hoeffding", "bernstein", "kl", "binomial"])
@pytest.mark.parametrize("p", [0.05, 0.3, 0.9])
def test_tails_of_a_coin_stay_below(kind, p):
    n = 60
    heads = np.arange(n + 1)
    weight = stats.binom.pmf(heads, n, p)
    for epsilon in (0.03, 0.1, 0.2):
        true = weight[np.abs(heads / n - p) >= epsilon - 1e-9].sum()
        bound = concentration_bound(n=n, epsilon=epsilon, kind=kind, mean=p, variance=p * (1 - p)).value
        assert true <= bound * (1 + 1e-12)
        if kind == "binomial":
            assert bound == near(true, rel=1e-9)


def test_empirical_bernstein_keeps_its_promise_and_wins_where_variance_is_small():
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(2000):
        x = rng.random(200) < 0.02
        epsilon = concentration_bound(
            n=200, delta=0.1, kind="empirical bernstein", variance=x.var(ddof=1)
        ).value
        failures += abs(x.mean() - 0.02) > epsilon
    assert failures <= 200
    small = concentration_bound(n=5000, delta=0.05, kind="empirical bernstein", variance=0.001).value
    assert small < concentration_bound(n=5000, delta=0.05).value / 3


def test_mcdiarmid_of_a_mean_is_hoeffding():
    same = concentration_bound(n=50, epsilon=0.1, kind="mcdiarmid", width=1 / 50).value
    assert same == near(concentration_bound(n=50, epsilon=0.1).value)


@pytest.mark.parametrize("draw", [stats.bernoulli(0.3), stats.uniform(), stats.beta(0.2, 3)])
def test_simulated_deviations_stay_below_hoeffding(draw):
    found = simulate_deviation(draw, 40, 0.12, n_trials=3000, random_state=0)
    assert found.frequency <= found.bound and found.means.shape == (3000,)
    larger = simulate_deviation(draw, 1000, 0.12, n_trials=500, random_state=0)
    assert larger.frequency <= found.frequency  # the law of large numbers
    assert larger.means.std() < found.means.std() / 4


def test_simulations_do_not_depend_on_threads():
    from gnomon import threads

    with threads(1):
        one = simulate_deviation(stats.uniform(), 30, 0.1, n_trials=600, random_state=3).means
    with threads(2):
        two = simulate_deviation(stats.uniform(), 30, 0.1, n_trials=600, random_state=3).means
    assert one.tobytes() == two.tobytes()


def test_sums_of_binomials():
    assert [sauer_bound(2, m) for m in range(1, 8)] == [2, 4, 7, 11, 16, 22, 29]
    assert [sauer_bound(3, 10), sauer_bound(4, 10), sauer_bound(3, 4), sauer_bound(4, 5)] == [
        176,
        386,
        15,
        31,
    ]
    for d in range(1, 6):
        for m in range(1, 12):
            assert sauer_bound(d, m) == sauer_bound(d, m - 1) + sauer_bound(d - 1, m - 1)
            if m >= d:
                assert sauer_bound(d, m) <= sauer_bound(d, m, form="poly")
    assert sauer_bound(3, 10_000, log=True) == near(np.log(float(sauer_bound(3, 10_000))))
    with pytest.raises(DataError, match="log=True"):
        sauer_bound(300, 10**6, form="poly")
    with pytest.raises(DataError, match="m ≥ d"):
        sauer_bound(0, 5, form="poly")


def test_vc_digits():
    assert sauer_bound(3, 2000, form="poly", log=True) == near(22.5068705)
    assert vc_bound(n=1000, delta=0.05, d=3).value == near(0.1639783435)
    assert vc_bound(n=1000, delta=0.05, d=3, growth="phi").value == near(0.1593517361)
    assert vc_bound(epsilon=0.1, delta=0.05, d=[3, 11]).value.tolist() == [3021, 9769]
    double = {"epsilon": 0.1, "delta": 0.05, "kind": "double sampling", "d": [2, 3, 4]}
    assert vc_bound(**double, growth="phi").value.tolist() == [484, 680, 877]
    assert vc_bound(**double).value.tolist() == [526, 729, 931]
    assert vc_bound(epsilon=0.1, delta=0.05, d=4, kind="devroye weak").value == 24251
    assert vc_bound(epsilon=0.1, delta=0.05, d=4, kind="devroye").value == 3419


def test_exact_growth_is_better_than_sauer():
    plane = HalfSpaces(2)
    exact = vc_bound(n=1000, delta=0.05, d=plane, growth=plane.growth).value
    assert exact < vc_bound(n=1000, delta=0.05, d=plane, growth="phi").value


def test_fractions_of_a_dimension_are_rounded_up():
    """A capacity between two whole numbers must not promise more than the larger one."""
    found = vc_bound(n=1000, delta=0.05, d=[2.5, 3.0], growth="phi").value
    assert found[0] == found[1]
    with pytest.raises(DataError, match="whole number"):
        vc_bound(n=np.inf, delta=0.05, d=3)


def test_fewer_rows_than_the_dimension():
    few = vc_bound(n=5, delta=0.05, d=30)
    assert few.vacuous and few.value == near(np.sqrt((10 * np.log(2) + np.log(80)) / 5))
    assert vc_bound(n=5, epsilon=0.1, d=30, kind="double sampling").value == np.inf  # n < (8/ε) ln 2


def test_devroye_is_valid_for_every_sample_and_searched_beyond_its_maximum():
    tiny = vc_bound(n=10, epsilon=0.1, d=4, kind="devroye").value
    by_hand = 4 * np.exp(0.44) * (np.e * 100 / 4) ** 4 * np.exp(-0.2)
    assert tiny == near(by_hand)


def test_infinite_dimension_has_no_bound():
    with pytest.raises(DegenerateError, match="infinite"):
        vc_bound(n=1000, delta=0.05, d=Intervals(None))


def test_lower_bound():
    found = vc_bound(epsilon=0.1, delta=0.01, d=[11, 1001], kind="lower")
    assert found.value == near([9 * np.log(100), 1000 / 3.2]) and found.of == "n" and not found.vacuous.any()
    enough = vc_bound(epsilon=0.1, delta=0.01, d=[11, 1001], kind="double sampling").value
    assert (found.value < enough).all()
    for arguments, message in (
        ({"epsilon": 0.2, "delta": 0.01, "d": 3}, "1/8"),
        ({"epsilon": 0.1, "delta": 0.05, "d": 3}, "1/100"),
        ({"epsilon": 0.1, "delta": 0.0, "d": 3}, "1/100"),
        ({"epsilon": 0.1, "delta": 0.01, "d": 0}, "at least 1"),
        ({"n": 5, "delta": 0.01, "d": 3}, "leave out n"),
    ):
        with pytest.raises(DataError, match=message):
            vc_bound(**arguments, kind="lower")


KINDS = {
    "realizable": lambda **a: finite_class_bound(**a, size=50, realizable=True),
    "agnostic": lambda **a: finite_class_bound(**a, size=50),
    "optimum": lambda **a: finite_class_bound(**a, size=50, target="optimum"),
    "rectangle": lambda **a: RectangleLearner.bound(**a, dim=3),
    "hoeffding": lambda **a: concentration_bound(**a),
    "bernstein": lambda **a: concentration_bound(**a, kind="bernstein", variance=0.1),
    "kl": lambda **a: concentration_bound(**a, kind="kl", mean=0.4),
    "gap": lambda **a: vc_bound(**a, d=4),
    "double": lambda **a: vc_bound(**a, d=4, kind="double sampling", growth="phi"),
    "devroye": lambda **a: vc_bound(**a, d=4, kind="devroye"),
}


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=15, deadline=None)
@given(epsilon=st.floats(0.02, 0.3), delta=st.floats(1e-6, 0.5))
def test_sample_sizes_are_the_smallest_that_do(name, epsilon, delta):
    bound = KINDS[name]
    n = bound(epsilon=epsilon, delta=delta).value
    assert bound(n=n, epsilon=epsilon).value <= delta * (1 + 1e-9)
    if n > 1:
        assert bound(n=n - 1, epsilon=epsilon).value > delta * (1 - 1e-9)
    assert bound(n=n, delta=delta).value <= epsilon * (1 + 1e-9)
    assert bound(epsilon=epsilon, delta=delta / 2).value >= n
    assert bound(epsilon=epsilon / 2, delta=delta).value >= n


@pytest.mark.parametrize("name", KINDS)
def test_bounds_fall_with_the_sample(name):
    n = np.array([200, 400, 1000, 5000])
    values = KINDS[name](n=n, delta=0.05).value
    assert (np.diff(values) < 0).all()


def test_richer_classes_need_more():
    assert (np.diff(finite_class_bound(n=100, delta=0.05, size=[1, 10, 10**9]).value) > 0).all()
    assert (np.diff(vc_bound(n=1000, delta=0.05, d=[0, 1, 5, 50]).value) > 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: finite_class_bound(n=10, size=5), "two of n, epsilon and delta"),
        (lambda: finite_class_bound(n=10, delta=0.0, size=5), "delta must lie between 0 and 1"),
        (lambda: finite_class_bound(n=0, delta=0.1, size=5), "n must be"),
        (lambda: finite_class_bound(n=2.5, delta=0.1, size=5), "whole number"),
        (lambda: finite_class_bound(epsilon=0, delta=0.1, size=5), "epsilon must be positive"),
        (lambda: finite_class_bound(n=10, delta=0.1, size=0), "size must be at least 1"),
        (lambda: finite_class_bound(n=10, delta=0.1), "size"),
        (lambda: finite_class_bound(n=10, delta=0.1, size=5, target="optimun"), "Did you mean 'optimum'"),
        (lambda: concentration_bound(n=3, epsilon=0.1, width=[1.0, 0.0, 1.0]), "width must be positive"),
        (lambda: concentration_bound(n=3, epsilon=0.1, width=[1.0, 1.0]), "they must agree"),
        (lambda: concentration_bound(n=3, epsilon=1.5, kind="chernoff", mean=0.1), "relative"),
        (lambda: concentration_bound(n=3, epsilon=0.5, kind="chernoff", mean=0.0), "mean p"),
        (lambda: concentration_bound(n=3, epsilon=0.5, kind="bernstein"), "variance"),
        (lambda: concentration_bound(epsilon=0.1, delta=0.1, kind="binomial", mean=0.5), "evenly"),
        (lambda: vc_bound(n=10, delta=0.1, d=-1), "negative"),
        (lambda: RectangleLearner.bound(n=10, delta=0.1, dim=0), "dim"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def noisy_thresholds(n, trials, rng):
    """Return the training errors of all thresholds in some samples of noisy labels, and their true errors."""
    rules = (np.arange(20) >= np.arange(21)[:, None]).astype(int)  # (21 rules, 20 points)
    chance = np.where(np.arange(20) >= 7, 0.8, 0.3)  # of label 1
    cells = np.stack([1 - chance, chance]) / 20
    counts = rng.multinomial(n, cells.ravel(), size=trials).reshape(trials, 2, 20)
    wrong = np.stack([rules, 1 - rules])  # errors by label and point
    return np.einsum("rlx,tlx->tr", wrong.swapaxes(0, 1), counts) / n, np.einsum(
        "rlx,lx->r", wrong.swapaxes(0, 1), cells
    )


@pytest.mark.parametrize("kind", ["gap", "devroye", "devroye weak", "finite", "optimum"])
def test_uniform_bounds_are_not_exceeded(kind):
    """All thresholds at once, with noisy labels: as often as delta allows, not more."""
    n, delta = 3000, 0.3
    found, true = noisy_thresholds(n, 1000, np.random.default_rng(0))
    if kind in ("finite", "optimum"):
        target = "deviation" if kind == "finite" else "optimum"
        epsilon = finite_class_bound(n=n, delta=delta, size=21, target=target).value
    else:
        epsilon = vc_bound(n=n, delta=delta, d=1, kind=kind).value
    assert 0 < epsilon < 0.5
    if kind == "optimum":
        strayed = true[found.argmin(axis=1)] - true.min()
    else:
        strayed = np.abs(found - true).max(axis=1) if kind != "gap" else (true - found).max(axis=1)
    assert np.mean(strayed > epsilon) <= delta


def test_realizable_bound_is_nearly_reached_by_rules_with_errors_apart():
    """Five rules, each wrong on a fifth of the domain: some rule looks right with almost the promised probability."""
    n = 13
    bound = finite_class_bound(n=n, epsilon=0.2, size=5, realizable=True).value
    counts = np.random.default_rng(0).multinomial(n, [0.2] * 5, size=20_000)
    frequency = np.mean((counts == 0).any(axis=1))
    assert 0.85 * bound < frequency <= bound + 4 * np.sqrt(bound / 20_000)
    simple = finite_class_bound(n=n, epsilon=0.2, size=5, realizable=True, form="simple").value
    assert frequency < simple


def test_mcdiarmid_of_a_supremum():
    """The largest distance of an empirical distribution changes by 1/n with one row: it rarely strays from its mean."""
    n, epsilon = 50, 0.1
    u = np.sort(np.random.default_rng(0).random((4000, n)), axis=1)
    steps = np.arange(n + 1) / n
    distance = np.maximum(steps[1:] - u, u - steps[:-1]).max(axis=1)
    strayed = np.abs(distance - distance.mean()) >= epsilon
    assert strayed.mean() <= concentration_bound(n=n, epsilon=epsilon, kind="mcdiarmid", width=1 / n).value


@pytest.mark.parametrize("p", [0.05, 0.4, 0.95])
def test_one_sided_tails_of_a_coin_stay_below(p):
    n = 200
    for share in (0.1, 0.5, 0.9):
        below = stats.binom.cdf(np.ceil((1 - share) * n * p) - 1, n, p)
        assert below <= concentration_bound(n=n, epsilon=share, kind="chernoff", mean=p).value
    for epsilon in (0.02, 0.04):
        above = stats.binom.sf(np.ceil(n * (p + epsilon) - 1e-9) - 1, n, p)
        for kind in ("hoeffding", "bernstein", "kl", "binomial"):
            bound = concentration_bound(
                n=n, epsilon=epsilon, kind=kind, sided=1, mean=p, variance=p * (1 - p)
            ).value
            assert above <= bound * (1 + 1e-12)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, np.nan, [0.1, 0.0]])
def test_a_promise_needs_a_probability_of_failure(delta):
    for bound in (
        lambda: finite_class_bound(epsilon=0.1, delta=delta, size=3),
        lambda: vc_bound(n=10, delta=delta, d=3),
        lambda: concentration_bound(n=10, delta=delta),
        lambda: RectangleLearner.bound(n=10, delta=delta),
    ):
        with pytest.raises(DataError, match="delta must lie between 0 and 1"):
            bound()


def test_the_ends_of_what_is_proved():
    assert vc_bound(epsilon=1 / 8, delta=1 / 100, d=2, kind="lower").value == pytest.approx(7 * np.log(100))
    assert vc_bound(epsilon=0.1, delta=0.01, d=1, kind="lower").value == pytest.approx(9 * np.log(100))
    with pytest.raises(DataError, match="at least 1"):
        vc_bound(epsilon=0.1, delta=0.01, d=[2, 0], kind="lower")
    with pytest.raises(DataError, match="proved for"):
        vc_bound(epsilon=0.1, delta=[0.01, 0.02], d=2, kind="lower")
    for epsilon, delta in ((0.0, 0.01), (0.1, 0.0), (0.126, 0.01), (0.1, 0.011), ([0.1, 0.2], 0.01)):
        with pytest.raises(DataError, match="proved for"):
            vc_bound(epsilon=epsilon, delta=delta, d=2, kind="lower")
    for d in (-1, np.nan):
        with pytest.raises(DataError):
            vc_bound(n=10, delta=0.1, d=d)
    with pytest.raises(DataError, match="No sample makes it 0"):
        vc_bound(n=10, delta=0.0, d=2)


def test_devroye_counts_all_labelings_below_the_dimension_alone():
    e = 0.5
    front = 4 * np.exp(4 * e + 4 * e * e)
    at, below = (vc_bound(n=n, epsilon=e, d=4, kind="devroye").value for n in (4, 3))
    assert at == pytest.approx(front * (np.e * 16 / 4) ** 4 * np.exp(-2 * 4 * e * e))
    assert below == pytest.approx(front * 2.0**9 * np.exp(-2 * 3 * e * e))


def test_bernstein_by_hand():
    found = concentration_bound(n=100, epsilon=0.1, kind="bernstein", variance=0.04).value
    assert found == pytest.approx(2 * np.exp(-100 * 0.01 / (2 * (0.04 + 0.1 / 3))))
    certain = concentration_bound(n=100, epsilon=0.1, kind="bernstein", variance=0.0, width=2.0).value
    assert certain == pytest.approx(2 * np.exp(-100 * 0.1 * 3 / 4))  # no variance: the width alone
    tails = concentration_bound(n=10, epsilon=0.2, kind="binomial", mean=0.5).value
    assert tails == pytest.approx(2 * (120 + 45 + 10 + 1) / 1024)  # at most 3 or at least 7 of ten


def test_an_error_that_cannot_be_exceeded_never_is():
    assert finite_class_bound(n=3, epsilon=1.0, size=2, realizable=True).value == 0.0
    assert RectangleLearner.bound(n=3, epsilon=1.0, dim=1).value == near(2 * 0.5**3)
    assert RectangleLearner.bound(n=3, epsilon=2.0, dim=1).value == 0.0  # each strip is everything
    assert concentration_bound(n=5, epsilon=0.6, kind="kl", mean=0.5).value == 0.0
    assert concentration_bound(n=5, epsilon=0.5, kind="kl", mean=0.5).value == near(2 * 0.5**5)


def test_a_promise_of_one_is_none():
    at_one = finite_class_bound(n=1, epsilon=0.5, log_size=0.5, realizable=True, form="simple")
    assert at_one.value == 1.0 and at_one.vacuous
    below = finite_class_bound(n=1, epsilon=0.6, log_size=0.5, realizable=True, form="simple")
    assert below.value == near(np.exp(-0.1)) and not below.vacuous and float(below) == below.value
    assert finite_class_bound(n=1, epsilon=0.5, size=1, realizable=True).value == 0.5  # one rule is no choice


def test_double_sampling_needs_the_rows_of_its_proof():
    """For d = 0 the probability is 2·2^(−εn/2), and the proof asks for nε ≥ 8 ln 2."""
    ask = {"d": 0, "kind": "double sampling"}
    assert vc_bound(n=100, delta=1e-9, **ask).value == near(2 * np.log2(2e9) / 100)
    few = vc_bound(n=5, delta=0.5, **ask)
    assert few.value == near(8 * np.log(2) / 5) and few.vacuous  # 0.8 without the condition
    assert vc_bound(epsilon=0.1, delta=0.5, **ask).value == 56
    edge = 8 * np.log(2) / 5
    assert vc_bound(n=5, epsilon=edge, **ask).value == near(2 * 0.5 ** (4 * np.log(2)))
    assert vc_bound(n=5, epsilon=0.99 * edge, **ask).value == np.inf


@pytest.mark.parametrize(("kind", "rate"), [("devroye", 2.0), ("devroye weak", np.log(2) / 2)])
def test_devroye_without_a_choice_of_rules(kind, rate):
    found = vc_bound(n=10, epsilon=0.5, d=0, kind=kind).value
    assert found == near(4 * np.exp(4 * 0.5 + 4 * 0.25 - 10 * rate * 0.25))


@pytest.mark.parametrize(("kind", "rate"), [("devroye", 2.0), ("devroye weak", np.log(2) / 2)])
@pytest.mark.parametrize("d", [1, 4])
def test_no_larger_sample_fails_more_often_than_devroye_allows(kind, rate, d):
    """The probability rises at first: what is asked for must hold for every larger sample."""
    e, delta = 1.0, 0.5

    def log_failure(n):
        return np.log(4) + 8 + d * (1 + np.log(n * n / d)) - rate * n

    n = vc_bound(epsilon=e, delta=delta, d=d, kind=kind).value
    assert n >= d and all(log_failure(m) <= np.log(delta) for m in range(n, n + 400))
    assert log_failure(n - 1) > np.log(delta)


def test_accuracy_beyond_all_samples_is_refused():
    with pytest.raises(DegenerateError, match="raise epsilon"):
        finite_class_bound(epsilon=1e-10, delta=0.1, size=2)
    many = finite_class_bound(epsilon=1e-9, delta=0.1, size=2).value
    assert many == near(np.log(40) / 2e-18, rel=1e-12)


def test_sizes_are_given_once():
    for arguments in ({"size": 3, "log_size": 1.0}, {}):
        with pytest.raises(DataError, match="give size"):
            finite_class_bound(n=10, delta=0.1, **arguments)
    for log_size in (-0.1, np.nan, [1.0, -1.0]):
        with pytest.raises(DataError, match="not be negative"):
            finite_class_bound(n=10, delta=0.1, log_size=log_size)
    assert finite_class_bound(n=10, delta=0.1, log_size=0.0).value == near(np.sqrt(np.log(20) / 20))


def test_empirical_bernstein_is_its_formula():
    ask = {"kind": "empirical bernstein", "variance": 0.04, "width": 2.0}
    for sided in (1, 2):
        length = np.log(2 * sided / 0.1)
        expected = np.sqrt(2 * 0.04 * length / 10) + 7 * 2 * length / (3 * 9)
        assert concentration_bound(n=10, delta=0.1, sided=sided, **ask).value == near(expected)
    assert concentration_bound(n=1, delta=0.1, **ask).value == np.inf  # one number has no variance
    assert np.isfinite(concentration_bound(n=2, delta=0.1, **ask).value)


def test_sides_and_widths_by_hand():
    divergence = 0.3 * np.log(3) + 0.7 * np.log(7 / 9)  # of 0.3 from 0.1; below zero there is nothing
    for mean in (0.1, 0.9):
        found = concentration_bound(n=10, epsilon=0.2, kind="kl", mean=mean).value
        assert found == near(2 * np.exp(-10 * divergence))
    one = concentration_bound(n=10, epsilon=0.2, kind="binomial", mean=0.5, sided=1).value
    assert one == near((120 + 45 + 10 + 1) / 1024)  # at least 7 of ten
    assert concentration_bound(n=100, epsilon=0.1, sided=1).value == near(np.exp(-2))
    widths = [1.0, 3.0]
    found = concentration_bound(n=2, epsilon=1.0, kind="mcdiarmid", width=widths).value
    assert found == near(2 * np.exp(-2 / 10))
    found = concentration_bound(n=2, epsilon=1.0, kind="bernstein", variance=0.5, width=widths).value
    assert found == near(2 * np.exp(-2 / (2 * (0.5 + 3 / 3))))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 3, "epsilon": 0.1, "sided": 3}, "sided must be 1 or 2"),
        ({"n": 3, "epsilon": 0.1, "width": 0.0}, "width must be positive"),
        ({"epsilon": 0.1, "delta": 0.1, "width": [1.0, 1.0]}, "give n = len"),
        ({"n": [2, 3], "epsilon": 0.1, "width": [1.0, 1.0]}, "they must agree"),
        ({"n": 3, "epsilon": 0.1, "kind": "bernstein", "variance": -0.1}, "variance"),
        ({"n": 3, "epsilon": 0.1, "kind": "empirical bernstein"}, "variance"),
        ({"n": 3, "epsilon": 0.1, "kind": "kl", "mean": 1.0}, "mean p"),
        ({"n": 3, "epsilon": 0.1, "kind": "binomial"}, "mean p"),
        ({"n": 3, "epsilon": 1.0, "kind": "chernoff", "mean": 0.1}, "between 0 and 1"),
        ({"n": np.inf, "epsilon": 0.1}, "whole number"),
    ],
)
def test_what_concentration_needs(arguments, message):
    with pytest.raises(DataError, match=message):
        concentration_bound(**arguments)


def alternate(rng, size):
    """0, 1, 0, 1, …, whatever the generator."""
    return np.resize([0.0, 1.0], size)


def test_deviations_are_counted_by_hand():
    found = simulate_deviation(alternate, 1, 0.5, n_trials=300, width=2.0)
    assert found.frequency == 1.0  # every draw is just 0.5 off
    assert found.means.tolist() == [0.0, 1.0] * 150
    assert found.bound == near(2 * np.exp(-2 * 0.25 / 4))
    assert simulate_deviation(alternate, 1, 0.51, n_trials=3).frequency == 0.0
    assert simulate_deviation(alternate, 2, 0.1, n_trials=3).means.tolist() == [0.5] * 3
    third = simulate_deviation(lambda rng, size: np.resize([0.0, 0.0, 3.0], size), 1, 1.5, n_trials=6)
    assert third.frequency == near(1 / 3)  # the expectation is 1
    for n, trials in ((0, 5), (5, 0)):
        with pytest.raises(DataError, match="n and n_trials"):
            simulate_deviation(alternate, n, 0.1, n_trials=trials)


def test_counts_of_nothing_and_of_too_much():
    assert [sauer_bound(d, 0) for d in (0, 1, 5)] == [1, 1, 1] and sauer_bound(0, 9) == 1
    assert sauer_bound(5, 3) == 8 and sauer_bound(5, 3, log=True) == near(np.log(8))
    assert sauer_bound(3, 3, form="poly") == near(np.exp(3)) and sauer_bound(0, 9, log=True) == 0.0
    assert sauer_bound(2, 4001, log=True) == near(np.log(1 + 4001 + 4001 * 2000), rel=1e-12)
    for d, m in ((-1, 3), (2.5, 3), (2, np.inf), (2, -1)):
        with pytest.raises(DataError, match="whole number of at least 0"):
            sauer_bound(d, m)
    with pytest.raises(DataError, match="Did you mean 'poly'"):
        sauer_bound(2, 3, form="ploy")
    with pytest.raises(DataError, match="d ≥ 1"):
        sauer_bound(4, 3, form="poly")
