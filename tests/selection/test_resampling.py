"""Bootstrap, jackknife, error rates by resampling, bias and variance, the luck of winners."""

import numpy as np
import pytest
from scipy import stats

from gnomon import threads
from gnomon.core.errors import DataError, GnomonError
from gnomon.datasets import make_sparse_regression
from gnomon.linear import Lasso, LinearRegression, Ridge, ridge_bias_variance
from gnomon.selection import (
    bias_variance,
    bootstrap,
    bootstrap_error,
    jackknife,
    stability_selection,
    winner_bias,
)
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor

near = pytest.approx


def test_exact_bootstrap_of_the_median():
    found = bootstrap(np.median, [1, 2, 4], exact=True)
    for value, probability in ((1, 7 / 27), (2, 13 / 27), (4, 7 / 27)):
        assert found.probabilities[found.replicates == value].sum() == near(probability)
    assert found.mean == near(2.2592592593) and found.variance == near(1.2290809328)


def test_exact_bootstrap_of_the_mean():
    data = np.array([1.0, 2, 4, 8])
    found = bootstrap("mean", data, exact=True)
    assert found.mean == near(3.75) and found.bias == near(0, abs=1e-12)
    assert found.variance == near(1.796875) == near(data.var() / 4)
    assert jackknife("mean", data).variance == near(2.3958333333)
    drawn = bootstrap(np.mean, data, n_resamples=8000, random_state=0)
    assert drawn.mean == near(3.75, abs=0.06) and drawn.variance == near(1.796875, rel=0.06)
    assert drawn.low < 3.75 < drawn.high


def test_bootstrap_refuses_nan_and_follows_weights():
    with pytest.raises(DataError, match="NaN for 5 of 5"):
        bootstrap(lambda x: np.nan, [1, 2], n_resamples=5)
    assert bootstrap(np.mean, [0.0, 1.0], weights=[1, 3], exact=True).mean == near(0.75)
    drawn = bootstrap(np.mean, [0.0, 1.0], weights=[1, 3], n_resamples=4000, random_state=0)
    assert drawn.mean == near(0.75, abs=0.02)


@pytest.mark.parametrize("name", ["mean", "variance", "ratio", "correlation"])
def test_statistics_of_sums_are_those_of_rows(name):
    rng = np.random.default_rng(0)
    x = rng.normal(3, 1, (50, 2)) if name in ("ratio", "correlation") else rng.normal(size=50)
    slow = {
        "mean": np.mean,
        "variance": lambda x: np.var(x, ddof=1),
        "ratio": lambda x: x[:, 0].sum() / x[:, 1].sum(),
        "correlation": lambda x: np.corrcoef(x.T)[0, 1],
    }[name]
    fast, twin = (
        bootstrap(name, x, n_resamples=200, random_state=3),
        bootstrap(slow if name != "mean" else lambda x: x.mean(), x, n_resamples=200, random_state=3),
    )
    np.testing.assert_allclose(fast.replicates, twin.replicates, rtol=1e-10)
    assert fast.estimate == near(twin.estimate)
    assert jackknife(name, x).standard_error == near(jackknife(slow, x).standard_error)


def test_threads_change_nothing():
    x = np.random.default_rng(0).normal(size=200)
    for statistic in ("mean", np.median):
        found = []
        for count in (1, 2):
            with threads(count):
                found.append(bootstrap(statistic, x, n_resamples=300, random_state=1).replicates.tobytes())
        assert found[0] == found[1]


def test_draws_are_uniform():
    from gnomon.loops.resampling import resample_counts, resample_rows

    counts = np.zeros((400, 30), dtype=np.int64)
    resample_counts(30, 12345, 0, counts)
    assert (counts.sum(axis=1) == 30).all()
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 1e-3
    assert counts.var() == near(30 * (1 / 30) * (29 / 30), rel=0.1)
    rows = np.empty((400, 30), dtype=np.int64)
    resample_rows(30, 12345, 0, rows)
    assert all((np.bincount(one, minlength=30) == other).all() for one, other in zip(rows, counts))


def coverage(make, statistic, truth, method, trials, n=40):
    """Return in how many of the trials the interval held the truth."""
    rng, covered = np.random.default_rng(0), 0
    for trial in range(trials):
        found = bootstrap(statistic, make(rng, n), method=method, n_resamples=400, random_state=trial)
        covered += found.low <= truth <= found.high
    return covered


@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca"])
def test_intervals_of_a_normal_mean_cover(method):
    """All four are close to the mean ± 1.96 s/√n: Student's t of 39 degrees says how often that covers."""
    chance = 1 - 2 * stats.t.sf(1.96 * np.sqrt(39 / 40), 39)
    least, most = stats.binom.ppf([1e-4, 1 - 1e-4], 400, chance)
    assert 0.93 < chance < 0.95 and least > 0.88 * 400
    assert least <= coverage(lambda rng, n: rng.normal(size=n), "mean", 0.0, method, 400) <= most


def test_studentized_interval_mends_a_skewed_mean():
    def with_error(x):
        return x.mean(), x.std(ddof=1) / np.sqrt(len(x))

    def skewed(rng, n):
        return rng.exponential(size=n) ** 2

    plain = coverage(skewed, "mean", 2.0, "percentile", 150, n=25)  # the same samples for both
    mended = coverage(skewed, with_error, 2.0, "studentized", 150, n=25)
    assert stats.binomtest(plain, 150, 0.95, alternative="less").pvalue < 1e-3  # far from its level
    assert stats.binomtest(mended, 150, 0.85, alternative="less").pvalue > 1e-2  # nearer
    assert mended - plain >= 6


@pytest.mark.parity
def test_bca_is_that_of_scipy():
    x = np.random.default_rng(0).exponential(size=60)
    ours = bootstrap("mean", x, method="bca", n_resamples=20_000, random_state=0)
    theirs = stats.bootstrap((x,), np.mean, method="BCa", n_resamples=20_000, rng=1).confidence_interval
    assert (ours.low, ours.high) == near((theirs.low, theirs.high), rel=0.02)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_bca_shifts_its_quantiles_as_the_book_says(level):
    """For a mean the acceleration is the skewness of the rows over 6√n."""
    x = np.random.default_rng(0).exponential(size=40) ** 2
    found = bootstrap("mean", x, method="bca", level=level, n_resamples=500, random_state=0)
    a, z0 = stats.skew(x) / (6 * np.sqrt(40)), stats.norm.ppf(np.mean(found.replicates < x.mean()))
    z = z0 + stats.norm.ppf([(1 - level) / 2, (1 + level) / 2])
    ends = np.quantile(found.replicates, stats.norm.cdf(z0 + z / (1 - a * z)))
    assert a > 0.05 and z0 > 0.02 and [found.low, found.high] == near(ends)


def test_bca_counts_half_of_the_resamples_equal_to_the_estimate():
    x = [0.0, 0.0, 1.0, 1.0]
    found = bootstrap(np.median, x, method="bca", n_resamples=200, random_state=0)
    assert np.mean(found.replicates == 0.5) > 0.2 and found.low == 0.0 and found.high == 1.0
    assert bootstrap(lambda x: 1.0, x, method="bca", n_resamples=9).low == 1.0


def test_vectors_and_pairs_of_arrays():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    found = bootstrap(lambda X, y: np.linalg.lstsq(X, y)[0], (X, y), n_resamples=200, random_state=0)
    assert found.replicates.shape == (200, 2) and (found.low < found.estimate).all()
    with pytest.raises(DataError, match="one length"):
        bootstrap(lambda X, y: 0.0, (X, y[:3]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap("mean", [1.0]), "two rows"),
        (lambda: bootstrap("mean", [1.0, np.inf], random_state=0), "infinite for"),
        (
            lambda: bootstrap(lambda x: (x.mean(), x.std()), [1.0, 1.0], method="studentized"),
            "data that vary",
        ),
        (lambda: jackknife("mean", [1.0, np.nan]), "NaN for 1 of 2"),
        (lambda: bootstrap("men", [1.0, 2.0]), "Did you mean 'mean'"),
        (lambda: bootstrap("ratio", [1.0, 2.0]), "2 columns"),
        (lambda: bootstrap("mean", [1.0, 2.0], method="bc"), "Did you mean 'bca'"),
        (lambda: bootstrap(np.mean, [1.0, 2.0], method="studentized"), "pair"),
        (lambda: bootstrap(np.mean, np.arange(11), exact=True), "at most 10"),
        (lambda: bootstrap("mean", [1.0, 2.0], n_resamples=1), "n_resamples"),
        (lambda: jackknife("mean", [1.0]), "two rows"),
        (lambda: winner_bias(0, 5), "at least 1"),
        (lambda: winner_bias(5, 5, p=1.0), "p must"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_jackknife_corrects_the_bias_of_a_variance():
    x = np.random.default_rng(0).normal(size=30)
    found = jackknife(np.var, x)
    assert found.corrected == near(np.var(x, ddof=1))


def test_bootstrap_error_is_between_and_not_fooled_by_memory():
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    plus = bootstrap_error(DecisionTreeClassifier(), X, noise, random_state=0)
    old = bootstrap_error(DecisionTreeClassifier(), X, noise, method=".632", random_state=0)
    assert plus.training == 0 and old.error == near(0.632 * old.out_of_bag)
    assert old.error < 0.4 < plus.error  # the truth is one half
    assert plus.no_information == near(0.5, abs=0.05) and plus.weight > 0.9
    y = X[:, 0] > 0
    real = bootstrap_error(DecisionTreeClassifier(), X, y, random_state=0)
    assert real.training <= real.error <= real.out_of_bag < 0.2
    assert bootstrap_error(LinearRegression(), X, X @ [1, 2, 3, 4.0], random_state=0).error == near(
        0, abs=1e-9
    )


@pytest.mark.parametrize("method", [".632+", ".632", "oob"])
def test_the_weight_of_rows_left_out_follows_the_overfit(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    model = DecisionTreeClassifier(max_depth=3)
    found = bootstrap_error(model, X, y, method=method, n_resamples=30, random_state=0)
    said = model.fit(X, y).predict(X)
    training, chance = np.mean(said != y), np.mean(said[:, None] != y)
    assert (found.training, found.no_information) == near((training, chance))
    outside = min(found.out_of_bag, chance)
    overfit = (outside - training) / (chance - training)
    weight = {".632+": 0.632 / (1 - 0.368 * overfit), ".632": 0.632, "oob": 1.0}[method]
    assert 0.2 < overfit <= 1 and found.weight == near(weight)
    last = outside if method == ".632+" else found.out_of_bag
    assert found.error == near((1 - weight) * training + weight * last)


def test_parts_of_a_shrunken_mean():
    """0.8 times the mean of five draws from N(2, 1), predicting a new draw: 1, 0.16, 0.128."""

    class Shrunken(LinearRegression):
        def fit(self, X, y):
            self.mean_ = 0.8 * np.mean(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.mean_)

    found = bias_variance(
        Shrunken(), lambda rng: (np.zeros((5, 1)), rng.normal(2, 1, 5)), [[0.0]], truth=[2.0], noise=1.0,
        n_sets=3000, random_state=0,
    )  # fmt: skip
    strays = (
        2 * 0.4 * np.sqrt(0.128 / 3000)
    )  # standard error of the squared bias: that of the mean times its slope
    assert found.noise == 1 and found.bias == near(0.16, abs=4 * strays)
    assert found.variance == near(0.128, rel=4 * np.sqrt(2 / 2999))
    assert found.total == near(
        found.noise + found.bias + found.variance, rel=1e-12
    )  # an identity, no estimate
    assert found.standard_error == near(np.sqrt((4 * 0.16 * 0.128 + 2 * 0.128**2) / 3000), rel=0.1)


def test_simulated_parts_of_ridge_are_the_exact_ones():
    X, w, x0 = np.array([[1.0, 0], [1, 1], [1, 2], [1, 4]]), np.array([1, 0.5]), np.array([[1.0, 3.0]])
    exact = ridge_bias_variance(X, x0[0], w, 0.25, [0.0, 0.5, 2.0])
    assert exact.variance == near([0.1071428571, 0.1023820619, 0.0904241889])
    assert exact.bias2 == near([0, 0.0015418985, 0.0284055044], abs=1e-9) and exact.total[1] == near(
        0.3539239604
    )
    best = ridge_bias_variance(X, x0[0], w, 0.25, [0.6449747516])
    assert best.total[0] == near(0.3537473804) and exact.total[0] == near(0.3571428571)
    for k, alpha in enumerate((1e-9, 0.5, 2.0)):
        found = bias_variance(
            Ridge(alpha, fit_intercept=False), lambda rng: (X, X @ w + rng.normal(0, 0.5, 4)), x0, truth=x0 @ w,
            noise=0.25, n_sets=300, random_state=0,
        )  # fmt: skip
        v, b2 = exact.variance[k], exact.bias2[k]  # predictions are normal: both estimates are χ²
        ends = np.array([1e-4, 1 - 1e-4])
        spread = stats.chi2.ppf(ends, 299) / 299
        square = stats.ncx2.ppf(ends, 1, max(300 * b2 / v, 1e-12))  # of the mean's distance from the truth
        assert spread[0] <= found.variance / v <= spread[1]
        assert square[0] <= 300 * found.bias / v + found.variance / v <= square[1]


def test_bias_falls_and_variance_rises_with_depth():
    def make_data(rng):
        x = rng.uniform(0, 1, (60, 1))
        return x, np.sin(7 * x[:, 0]) + rng.normal(0, 0.3, 60)

    grid = np.linspace(0.05, 0.95, 19)
    found = [
        bias_variance(DecisionTreeRegressor(max_depth=depth), make_data, grid, truth=lambda X: np.sin(7 * X[:, 0]),
                      noise=0.09, n_sets=60, random_state=0)
        for depth in (1, 3, 8)
    ]  # fmt: skip
    assert found[0].bias > found[1].bias > found[2].bias - 0.01
    assert found[0].variance < found[1].variance < found[2].variance
    assert found[1].total < min(found[0].total, found[2].total)


def test_parts_of_zero_one_loss():
    def make_data(rng):
        x = rng.normal(size=(40, 1))
        return x, ((x[:, 0] > 0) ^ (rng.random(40) < 0.1)).astype(int)

    grid = np.array([-1.0, -0.3, 0.3, 1.0])
    found = bias_variance(
        DecisionTreeClassifier(max_depth=1), make_data, grid, truth=(grid > 0).astype(int), noise=0.1, n_sets=60,
        random_state=0,
    )  # fmt: skip
    assert found.bias == 0 and found.main.tolist() == [0, 0, 1, 1]
    assert found.total == near(0.1 + 0.8 * found.variance)  # two classes, no bias: the loss is the variance


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: bootstrap_error(DecisionTreeClassifier(), X, np.zeros(9, int)), "one class only"),
        (lambda X, y: bootstrap_error(DecisionTreeClassifier(), X, y, n_resamples=0), "n_resamples"),
        (
            lambda X, y: bias_variance(LinearRegression(), lambda rng: (X, y), X[:1], noise=-1.0),
            "noise must not",
        ),
        (
            lambda X, y: bias_variance(
                DecisionTreeClassifier(), lambda rng: (X, y), X[:3], truth=[0, 1, 2], noise=0.2, n_sets=2
            ),
            "two classes",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(call, message):
    X, y = np.arange(9.0)[:, None], np.arange(9) % 3
    with pytest.raises(GnomonError, match=message):
        call(X, y)


def test_without_the_truth_only_the_variance_is_known():
    found = bias_variance(
        LinearRegression(),
        lambda rng: (rng.normal(size=(9, 1)), rng.normal(size=9)),
        [[0.0]],
        n_sets=5,
        random_state=0,
    )
    assert found.variance > 0 and np.isnan(found.bias) and np.isnan(found.total)
    with pytest.raises(DataError, match="n_sets"):
        bias_variance(LinearRegression(), None, [[0.0]], n_sets=1)


def test_winners_are_lucky():
    found = winner_bias(1999, 8)
    assert found.expected_perfect == near(7.80859375) and found.any_perfect == near(0.9995999355)
    rng = np.random.default_rng(0)
    simulated = (rng.binomial(50, 0.5, (4000, 100)).max(axis=1) / 50).mean()
    assert winner_bias(100, 50).expected_best == near(simulated, abs=0.002)
    rare = winner_bias(10**12, 40, p=1e-3)  # only exact tails tell these
    tail = stats.binom.sf(np.arange(40), 40, 1e-3)
    assert rare.expected_best == near(np.sum(1 - np.exp(-1e12 * tail)) / 40, rel=1e-4)
    best = [winner_bias(k, 20).expected_best for k in (1, 2, 10, 100, 1000)]
    assert best[0] == near(0.5) and (np.diff(best) > 0).all()


def test_stable_features():
    X, y, coef = make_sparse_regression(200, 30, 3, random_state=0)
    found = stability_selection(Lasso(alpha=0.3), X, y, n_resamples=30, random_state=0)
    assert found.selected.tolist() == np.flatnonzero(coef).tolist()
    assert found.expected_false == near(found.mean_selected**2 / 30 / 0.6)
    again = stability_selection(Lasso(alpha=0.3), X, y, n_resamples=30, resample="bootstrap", random_state=0)
    assert (again.frequencies[coef != 0] == 1).all()
    noise = stability_selection(
        Lasso(alpha=0.12), X, np.random.default_rng(0).normal(size=200), n_resamples=30, random_state=0
    )
    assert len(noise.selected) <= noise.expected_false + 3
    with pytest.raises(DataError, match="threshold"):
        stability_selection(Lasso(), X, y, threshold=0.5)


def test_ends_of_exact_intervals_are_where_the_chances_reach_the_share():
    found = bootstrap("mean", [0.0, 2.0], exact=True, level=0.5)  # 0, 1 and 2 with chances 1/4, 1/2, 1/4
    assert (found.low, found.high) == (0.0, 1.0)


def test_studentized_replicates_are_those_of_the_estimate():
    x = np.random.default_rng(0).exponential(size=30)
    found = bootstrap(
        lambda x: (x.mean(), x.std(ddof=1) / np.sqrt(30)),
        x,
        method="studentized",
        n_resamples=300,
        random_state=0,
    )
    plain = bootstrap(lambda x: x.mean(), x, n_resamples=300, random_state=0)
    assert (
        found.replicates == plain.replicates
    ).all() and found.low < found.estimate == x.mean() < found.high
    assert (found.mean, found.variance, found.bias) == near((plain.mean, plain.variance, plain.bias))


@pytest.mark.parametrize("loss", ["squared", "zero_one"])
def test_standard_errors_are_over_training_sets(loss):
    def make_data(rng):
        x = rng.normal(size=(20, 1))
        return x, (x[:, 0] + rng.normal(size=20) > 0).astype(int)

    truth = np.array([0, 0, 1])
    model = DecisionTreeClassifier(max_depth=2) if loss == "zero_one" else LinearRegression()
    found = bias_variance(
        model, make_data, [-1.0, -0.2, 0.5], truth=truth, loss=loss, n_sets=30, random_state=0
    )
    wrong = found.predictions != truth if loss == "zero_one" else (found.predictions - truth) ** 2
    sets = wrong.mean(axis=1)  # one loss a training set
    assert found.total == near(sets.mean()) and found.standard_error == near(sets.std(ddof=1) / np.sqrt(30))


def test_samples_that_leave_no_row_out_are_passed_over():
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1])
    found = bootstrap_error(DecisionTreeClassifier(), X, y, n_resamples=40, random_state=0)
    assert found.training == 0 and 0 <= found.error <= found.out_of_bag <= 1
    with pytest.raises(DataError, match="infinite for"):
        bootstrap("ratio", np.array([[1.0, 0.0], [1.0, 1.0]]), n_resamples=50, random_state=0)
    with pytest.raises(DataError, match="truth must be finite"):
        bias_variance(LinearRegression(), lambda rng: (X, y), X[:1], truth=[np.inf], n_sets=2)
