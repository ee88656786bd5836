"""Pictures of curves, chains and decisions: every line and dot is at the number that it stands for."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from gnomon import plot
from gnomon.core.errors import DataError
from gnomon.core.trace import Trace
from gnomon.plot.decide import horizon_actions
from gnomon.plot.evaluation import critical_difference, replicates
from gnomon.plot.sequence import hmm_graph, markov_chain, walk_labels
from house.legends import close_figures


@pytest.fixture(autouse=True)
def close(request):
    yield
    close_figures(request.node)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def band(collection):
    """Lower and upper end of a filled band at every place, as a dict."""
    found = {}
    for x, y in collection.get_paths()[0].vertices:
        low, high = found.get(float(x), (np.inf, -np.inf))
        found[float(x)] = (min(low, y), max(high, y))
    return found


def arms(container):
    return [path.vertices for path in container[2][0].get_paths()]


# Evaluation


@pytest.mark.parametrize("kind", ["deviation", "error"])
def test_bands_of_scores_are_a_deviation_or_an_error_wide(kind):
    scores = np.array([[1.0, 3.0, 5.0, 3.0], [2.0, 2.0, 2.0, 6.0]])
    ax = plot.score_curve([5, 50], {"a": scores}, band=kind)
    wide = scores.std(axis=1, ddof=1) / (2.0 if kind == "error" else 1.0)
    ends = band(ax.collections[0])
    for x, mean, room in zip((5.0, 50.0), (3.0, 3.0), wide):
        assert ends[x] == pytest.approx((mean - room, mean + room))
    single = band(plot.score_curve([1, 2], {"a": [0.5, 0.7]}).collections[0])
    assert single[1.0] == (0.5, 0.5)  # one fold has no spread


def test_scores_over_a_hundredfold_have_a_logarithmic_axis():
    for x, scale in (([1, 99], "linear"), ([1, 100], "log"), ([0, 100], "linear"), ([-1, 200], "linear")):
        assert plot.score_curve(x, {"a": [1.0, 2.0]}).get_xscale() == scale
    assert list(plot.score_curve([1, 2], {"a": [1.0, 2.0]}, chosen=2).lines[1].get_xdata()) == [2, 2]
    ax = plot.score_curve(["a", "b"], {"s": [1.0, 2.0]}, chosen="b")
    assert list(ax.lines[1].get_xdata()) == [1, 1] and ax.lines[0].get_xdata().tolist() == [0, 1]
    short, long = (plot.score_curve([n, "b"], {"s": [1.0, 2.0]}) for n in ("12345678", "123456789"))
    assert short.get_xticklabels()[0].get_rotation() == 0 and long.get_xticklabels()[0].get_rotation() == 45


def test_replicates_have_lines_at_the_estimate_and_the_ends():
    found = SimpleNamespace(
        replicates=[1.0, 2, 2, 4], probabilities=[0.1, 0.2, 0.3, 0.4], estimate=2.5, low=1.0, high=4.0
    )
    ax = replicates(found, bins=3)
    assert_allclose([bar.get_height() for bar in ax.patches], [0.1, 0.5, 0.4])
    assert [line.get_xdata()[0] for line in ax.lines] == [2.5, 1.0, 4.0] and labels(ax) == ["estimate 2.5"]
    with pytest.raises(DataError, match="one column at a time"):
        replicates(SimpleNamespace(replicates=np.zeros((3, 2))))


def test_bands_of_a_receiver_cover_resampled_curves():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 300)
    score = rng.normal(size=600) + 1.2 * y
    ax = plot.roc(y, score, n_resamples=200, random_state=1)
    from sklearn.metrics import roc_curve

    fpr, tpr, _ = roc_curve(y, score)
    assert_allclose(ax.lines[0].get_xydata(), np.column_stack([fpr, tpr]))
    assert ax.lines[1].get_xydata().tolist() == [[0, 0], [1, 1]]
    ends = band(ax.collections[0])
    inside = 0
    for x, (low, high) in ends.items():
        at = np.interp(x, fpr, tpr)
        inside += low - 0.01 <= at <= high + 0.01
        share = tpr[np.searchsorted(fpr, x, "right") - 1]
        if 0.1 < x < 0.9:  # two resampled samples: both errors are in the width
            slope = max(0.0, (np.interp(x + 0.05, fpr, tpr) - np.interp(x - 0.05, fpr, tpr)) / 0.1)
            wide = 2 * 1.96 * np.sqrt(share * (1 - share) / 300 + slope**2 * x * (1 - x) / 300)
            assert 0.5 * wide < high - low < 1.7 * wide
    assert inside >= 0.97 * len(ends)
    assert ends[1.0][1] == 1.0 and not plot.roc(y, score, level=None).collections
    narrow = band(plot.roc(y, score, n_resamples=200, level=0.5, random_state=1).collections[0])
    assert all(narrow[x][0] >= low and narrow[x][1] <= high for x, (low, high) in ends.items())
    with pytest.raises(DataError, match="curve must be"):
        plot.roc(y, score, curve="recall")


def test_the_names_of_classes_do_not_matter_to_a_receiver():
    y, score = np.array(["a", "b", "a", "b"]), np.array([0.1, 0.4, 0.35, 0.8])
    ax = plot.roc(y == "b", {"m": score}, curve="precision recall")
    assert ax.lines[1].get_ydata()[0] == 0.5 and labels(ax)[1] == "chance"
    rare = plot.roc(np.array([0, 1, 1, 1]), score, curve="precision recall")
    assert rare.lines[1].get_ydata()[0] == 0.75


def test_reliability_has_arms_from_low_to_high_and_counts_below():
    found = SimpleNamespace(
        predicted=np.array([0.2, 0.7]), observed=np.array([0.3, 0.6]), low=np.array([0.1, 0.5]),
        high=np.array([0.4, 0.9]), counts=np.array([5, 8]), ece=0.1, ece_if_calibrated=0.05,
    )  # fmt: skip
    ax = plot.reliability(found, label="m")
    assert_allclose(ax.containers[0][0].get_xydata(), [[0.2, 0.3], [0.7, 0.6]])
    assert_allclose([arm[:, 1] for arm in arms(ax.containers[0])], [[0.1, 0.4], [0.5, 0.9]])
    assert [text.get_text() for text in ax.texts] == ["5", "8"] and [text.xy for text in ax.texts] == [
        (0.2, 0),
        (0.7, 0),
    ]
    assert labels(ax) == ["m ECE 0.100 (chance 0.050)"] and ax.lines[0].get_xydata().tolist() == [
        [0, 0],
        [1, 1],
    ]
    again = plot.reliability(found, ax, label="n")
    diagonals = [line for line in again.lines if line.get_xydata().tolist() == [[0, 0], [1, 1]]]
    assert len(diagonals) == 1 and len(again.containers) == 2
    assert again.containers[0][0].get_color() != again.containers[1][0].get_color()


def test_intervals_are_read_from_the_top():
    ax = plot.intervals([1.0, 5.0], [0.5, 4.0], [3.0, 5.5], ["a", "b"], at=2.0)
    assert_allclose(arms(ax.containers[0]), [[[0.5, 0], [3.0, 0]], [[4.0, 1], [5.5, 1]]])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b"] and ax.yaxis_inverted()
    assert list(ax.lines[-1].get_xdata()) == [2.0, 2.0]
    assert [t.get_text() for t in plot.intervals([1.0], [1.0], [1.0]).get_yticklabels()] == ["0"]
    for bad in (([1.0], [1.0, 2.0], [3.0]), ([[1.0]], [[1.0]], [[1.0]])):
        with pytest.raises(DataError, match="vectors of one length"):
            plot.intervals(*bad)


def test_a_bar_joins_models_that_differ_by_less_than_the_critical_difference():
    found = SimpleNamespace(ranks=np.array([3.5, 1.0, 2.0, 3.0]), names=list("abcd"), critical_difference=1.2)
    ax = critical_difference(found)
    assert_allclose(ax.lines[0].get_xydata(), [[1, 0], [2, -1], [3, -2], [3.5, -3]])
    assert [text.get_text().strip() for text in ax.texts] == ["b 1.00", "c 2.00", "d 3.00", "a 3.50"]
    assert [line.get_xdata().tolist() for line in ax.lines[1:]] == [[1, 2], [2, 3], [3, 3.5]]
    assert np.diff([line.get_ydata()[0] for line in ax.lines[1:]]).min() > 0.1  # one above the other
    found.critical_difference = 1.5
    assert [line.get_xdata().tolist() for line in critical_difference(found).lines[1:]] == [
        [1, 2],
        [2, 3.5],
    ]
    found.critical_difference = 0.1
    assert len(critical_difference(found).lines) == 1


def test_fits_to_many_training_sets_are_drawn_in_the_order_of_the_points():
    found = SimpleNamespace(
        points=np.array([[3.0], [1.0], [2.0]]), predictions=np.array([[1.0, 2, 3], [4, 5, 6]]),
        main=np.array([7.0, 8, 9]), truth=np.array([0.0, 1, 2]),
    )  # fmt: skip
    lines = plot.bias_variance(found).lines
    assert [line.get_xdata().tolist() for line in lines] == [[1, 2, 3]] * 4
    assert [line.get_ydata().tolist() for line in lines] == [[2, 3, 1], [5, 6, 4], [8, 9, 7], [1, 2, 0]]
    found.truth = None
    found.predictions = np.ones((80, 3))
    assert len(plot.bias_variance(found).lines) == 61
    parts = {k: SimpleNamespace(total=10 * k, bias=k, variance=2 * k, noise=3 * k) for k in (1, 2)}
    curves = {line.get_label(): line.get_ydata().tolist() for line in plot.bias_variance(parts).lines}
    assert curves == {"total": [10, 20], "bias": [1, 2], "variance": [2, 4], "noise": [3, 6]}


def test_dartboards_have_their_bias_and_their_spread():
    axes = np.ravel(plot.dartboard(spread=0.05, shift=0.8, n=400))
    for ax, bias, spread in zip(axes, (0, 0, 0.8, 0.8), (0.05, 0.15, 0.05, 0.15)):
        darts = ax.lines[0].get_xydata()
        assert darts.shape == (400, 2)
        assert_allclose(darts.mean(axis=0), bias, atol=0.03)
        assert_allclose(darts.std(axis=0), spread, rtol=0.15)
        assert [circle.get_radius() for circle in ax.patches] == [0.3, 0.7, 1.1]
    assert [ax.get_title() for ax in axes] == [
        "low bias, low variance", "low bias, high variance", "high bias, low variance", "high bias, high variance",
    ]  # fmt: skip


# Chains and tracks


def test_a_chain_stands_on_a_circle_clockwise_from_the_top():
    M = np.array([[0.5, 0.5, 0.0], [0.0, 0.996, 0.004], [0.25, 0.0, 0.75]])
    ax = markov_chain(M)
    places = np.array([line.get_xydata()[0] for line in ax.lines])
    assert_allclose(places, [[0, 1], [np.sqrt(3) / 2, -0.5], [-np.sqrt(3) / 2, -0.5]], atol=1e-12)
    texts = {text.get_text(): np.array(text.get_position()) for text in ax.texts}
    assert set(texts) == {"0.5", "1", "0.75", "0.25", "0", "2"}  # 0.996 is 1, and 0.004 is not drawn
    arrows = {tuple(np.round(np.concatenate(p._posA_posB), 6)): p for p in ax.patches}
    assert len(arrows) == 2
    for i, j in ((0, 1), (2, 0)):
        arrow = arrows[tuple(np.round(np.concatenate([places[i], places[j]]), 6))]
        assert arrow.get_linewidth() == pytest.approx(0.5 + 4 * M[i, j])
    assert np.linalg.norm(texts["0.75"]) == pytest.approx(1.32)
    beside = texts["0.25"] - (places[2] + places[0]) / 2
    along = places[0] - places[2]
    assert beside @ along == pytest.approx(0.0) and np.linalg.norm(beside) == pytest.approx(
        0.12 * np.linalg.norm(along)
    )
    assert along[0] * beside[1] - along[1] * beside[0] < 0  # to the right of the arrow
    alone = markov_chain(np.array([[1.0]]))
    assert alone.lines[0].get_xydata().tolist() == [[0, 0]]


def test_a_chain_settles_from_its_start():
    M = np.array([[0.9, 0.1], [0.5, 0.5]])
    chain = SimpleNamespace(transmat_=M, states_=["s", "t"], startprob_=[0.2, 0.8])
    first, second = markov_chain(chain, kind="convergence", steps=4).lines
    expected = np.array([np.array([0.2, 0.8]) @ np.linalg.matrix_power(M, k) for k in range(5)])
    assert_allclose(np.column_stack([first.get_ydata(), second.get_ydata()]), expected)
    assert first.get_label() == "s"
    assert markov_chain(M, kind="convergence", steps=1).lines[0].get_ydata().tolist() == [1.0, 0.9]


def test_a_trellis_writes_the_path_sums_and_the_best_path():
    alpha, beta = np.log([[0.3, 0.2], [0.1, 0.25]]), np.log([[0.5, 0.7], [0.9, 0.8]])
    total = np.log(0.29)
    tables = SimpleNamespace(log_alpha=alpha, log_beta=beta, log_likelihood=total)
    model = SimpleNamespace(
        forward_backward=lambda X: tables,
        predict=lambda X: np.array([1, 0]),
        transmat_=np.array([[0.7, 0.3], [0, 1.0]]),
    )
    ax = plot.trellis(model, [0, 1])
    edges, best, nodes = ax.lines[:3], ax.lines[3], ax.lines[4:]
    assert [(line.get_ydata().tolist(), line.get_linewidth()) for line in edges] == [
        ([0, 0], pytest.approx(1.7)), ([0, 1], pytest.approx(0.9)), ([1, 1], pytest.approx(2.3)),
    ]  # fmt: skip
    assert all(list(line.get_xdata()) == [0, 1] for line in edges)
    assert best.get_xydata().tolist() == [[0, 1], [1, 0]]
    assert [tuple(node.get_xydata()[0]) for node in nodes] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    wanted = 0.15 + 0.85 * np.exp(alpha + beta - total).ravel()
    assert_allclose([node.get_alpha() for node in nodes], wanted)
    assert [text.get_text() for text in ax.texts] == [
        f"{a:.2f}\n{b:.2f}" for a, b in zip(alpha.ravel(), beta.ravel())
    ]


def test_states_over_time_have_the_best_path_and_the_truth_below():
    P = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    model = SimpleNamespace(predict_proba=lambda X: P, predict=lambda X: np.array([0, 1, 1]))
    ax = plot.state_posterior(model, None, truth=[1, 1, 0])
    assert [line.get_ydata().tolist() for line in ax.lines] == P.T.tolist()
    best, truth = ax.collections
    assert_allclose(best.get_offsets()[:, 1], -0.06), assert_allclose(truth.get_offsets()[:, 1], -0.11)
    shades = [tuple(style_) for style_ in best.get_facecolors()]
    assert shades[1] == shades[2] != shades[0] == tuple(truth.get_facecolors()[2])
    only = plot.state_posterior(model, None, state=1)
    assert [line.get_label() for line in only.lines] == ["state 1"] and len(only.collections) == 1


def test_the_least_criterion_is_circled():
    table = pd.DataFrame(
        {
            "states": [1, 2, 3],
            "neg_log_likelihood": [9.0, 4.0, 3.0],
            "aic": [20.0, 14.0, 16.0],
            "bic": [21.0, 25.0, 30.0],
        }
    )
    lines = plot.criteria(table).lines
    assert lines[0].get_ydata().tolist() == [18.0, 8.0, 6.0]
    assert [lines[k].get_xydata().tolist() for k in (1, 3, 5)] == [[[3, 6.0]], [[2, 14.0]], [[1, 21.0]]]


def test_rankings_show_the_best_and_their_place_elsewhere():
    ax = plot.ranking_table({"a": 0.2, "b": 0.7, "c": 0.1}, {"b": 3}, top=2)
    assert [bar.get_width() for bar in ax.patches] == [0.7, 0.2] and ax.yaxis_inverted()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["b  1", "a  2"]
    assert [text.get_text() for text in ax.texts] == [" 3", " –"]
    assert [text.get_position() for text in ax.texts] == [(0.7, 0), (0.2, 1)]
    model = SimpleNamespace(objects_=["x", "y"], scores_=[0.1, 0.9])
    assert [bar.get_width() for bar in plot.ranking_table(model).patches] == [0.9, 0.1]


def test_emissions_are_densities_times_shares():
    from gnomon.sequence import GaussianHMM, PoissonHMM

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 40), rng.normal(6, 1, 40)])[:, None]
    model = GaussianHMM(2, random_state=0, n_iter=20).fit(X)
    ax = hmm_graph(model, X)
    grid = ax.lines[0].get_xdata()
    assert grid[0] < X.min() and grid[-1] > X.max()
    whole = sum(line.get_ydata() for line in ax.lines)
    assert np.trapezoid(whole, grid) == pytest.approx(1.0, abs=0.02)
    share = model.predict_proba(X).mean(axis=0)
    assert_allclose([np.trapezoid(line.get_ydata(), grid) for line in ax.lines], share, atol=0.02)
    assert sum(bar.get_height() * bar.get_width() for bar in ax.patches) == pytest.approx(1.0)
    counts = rng.poisson(np.repeat([2, 9], 40))[:, None]
    ax = hmm_graph(PoissonHMM(2, random_state=0, n_iter=5, tol=1.0).fit(counts), counts)
    assert ax.lines[0].get_xdata().tolist() == list(range(counts.min(), counts.max() + 1))
    assert_allclose([bar.get_height() for bar in ax.patches], np.bincount(counts[:, 0])[counts.min() :] / 80)
    assert_allclose([bar.get_x() + 0.5 for bar in ax.patches], ax.lines[0].get_xdata())


def test_walks_show_the_chance_of_the_first_class_and_mark_labels():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    seen = {}

    def chances(grid):
        seen["grid"] = grid
        p = (grid[:, 0] - grid[:, 0].min()) / np.ptp(grid[:, 0])
        return np.column_stack([p, 1 - p])

    model = SimpleNamespace(
        X_=X, classes_=["red", "blue"], labeled_=np.array([True, False, False]), predict_proba=chances
    )
    ax = walk_labels(model, resolution=5)
    shown = np.asarray(ax.collections[0].get_array()).reshape(5, 5)
    assert_allclose(shown, np.tile(np.linspace(0, 1, 5), (5, 1)))  # grows from left to right
    assert seen["grid"][:, 1].max() > 2.0 and ax.get_title() == "probability of class red"
    (
        assert_allclose(ax.collections[1].get_offsets(), X[1:]),
        assert_allclose(ax.collections[2].get_offsets(), X[:1]),
    )


def test_a_sound_is_drawn_over_its_seconds():
    features = np.arange(6.0).reshape(3, 2)
    model = SimpleNamespace(
        rate=4.0, _features=lambda s: features, codewords=lambda s: [np.array([1, 0, 1])],
        log_likelihoods=lambda s: np.array([[-5.0, -2.0]]), classes_=["no", "yes"],
    )  # fmt: skip
    wave, spectrum, codes, words = plot.speech(model, [0.0, 1.0, 0.5])
    assert wave.lines[0].get_xydata().tolist() == [[0, 0], [0.25, 1], [0.5, 0.5]]
    assert_allclose(spectrum.images[0].get_array(), features.T)
    assert codes.lines[0].get_ydata().tolist() == [1, 0, 1]
    assert [bar.get_width() for bar in words.patches] == [0.0, 3.0]
    assert [tick.get_text() for tick in words.get_yticklabels()] == ["no", "yes"]


def test_tracks_have_ellipses_of_two_deviations():
    C = np.array([[4.0, 0, 1.5], [0, 9.0, 0], [1.5, 0, 1.0]])
    result = SimpleNamespace(means=np.arange(12.0).reshape(4, 3), covariances=np.array([C] * 4))
    ax = plot.track(result, [[1.0, 2]], [[3.0, 4], [5, 6]], axes_of_state=(0, 2))
    true, seen, line = ax.lines
    assert true.get_xydata().tolist() == [[3, 4], [5, 6]] and seen.get_xydata().tolist() == [[1, 2]]
    assert line.get_xydata().tolist() == [[0, 2], [3, 5], [6, 8], [9, 11]]
    part = C[np.ix_([0, 2], [0, 2])]
    for patch, mean in zip(ax.patches, line.get_xydata()):
        assert tuple(patch.center) == tuple(mean)
        turn = np.deg2rad(patch.angle)
        axis, across = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
        assert axis @ part @ across == pytest.approx(0.0, abs=1e-12)
        assert (patch.width / 2) ** 2 == pytest.approx(4 * axis @ part @ axis)
        assert (patch.height / 2) ** 2 == pytest.approx(4 * across @ part @ across)
    assert len(ax.patches) == 4
    long = SimpleNamespace(means=np.zeros((45, 3)), covariances=np.array([C] * 45), lag_one_covariances=1)
    ax = plot.track(long, axes_of_state=(0, 2))
    assert len(ax.patches) == 15 and labels(ax) == ["smoothed"]


# Decisions


def test_returns_are_means_of_the_last_of_a_window():
    line = plot.return_curve({"a": [1.0, 3.0, 5.0, 7.0]}, window=2).lines[0]
    assert line.get_xydata().tolist() == [[1, 1], [2, 2], [3, 4], [4, 6]]
    plain = plot.return_curve({"a": list(np.arange(40.0))}).lines[0].get_ydata()
    assert plain[:3].tolist() == [0.0, 0.5, 1.5]  # a twentieth of the episodes
    two = plot.return_curve({"a": [[0.0, 4.0], [2.0, 8.0, 9.0]]}, window=1)
    assert two.lines[0].get_xydata().tolist() == [[1, 1], [2, 6]]
    assert band(two.collections[0]) == {1.0: (0.5, 1.5), 2.0: (5.0, 7.0)}
    runs = [SimpleNamespace(returns_=[1.0, 2.0], lengths_=np.array(lengths)) for lengths in ([3, 4], [5, 8])]
    steps = plot.return_curve({"a": runs}, window=1, against="step").lines[0]
    assert steps.get_xydata().tolist() == [[4, 1], [10, 2]]
    one = plot.return_curve(SimpleNamespace(returns_=[5.0])).lines[0]
    assert one.get_label() == "SimpleNamespace"
    with pytest.raises(DataError, match="at least one agent"):
        plot.return_curve({})


def test_gaps_are_certificates_over_sweeps_or_seconds():
    model = SimpleNamespace(
        gap_=0.1, trace_=Trace([3.0, 2, 1], [0.5, 0.6, 0.9], [4.0, 0.0, np.inf]), discount_=0.5
    )
    other = SimpleNamespace(gap_=0.1, trace_=Trace([3.0, 2], [0.5, 0.6]), discount_=0.5)
    ax = plot.return_curve({"a": model, "b": other}, optimum=[-8.0, 2.0])
    assert_allclose(ax.lines[0].get_ydata(), [4.0, np.nan, np.nan])
    assert ax.lines[0].get_xdata().tolist() == [1, 2, 3] and ax.get_yscale() == "log"
    assert ax.lines[1].get_ydata().tolist() == [3.0, 2.0]
    assert ax.lines[2].get_xydata().tolist() == [[1, 4.0], [2, 2.0], [3, 1.0]]
    timed = plot.return_curve({"a": model}, against="seconds").lines[0]
    assert timed.get_xdata().tolist() == [0.5, 0.6, 0.9]


def test_regret_has_quartiles_and_the_lower_bound():
    trace = SimpleNamespace(
        regret=np.array([[0.0, 4.0], [2.0, 8.0]]),
        best_share=np.array([0.5, 0.75]),
        lower_bound=np.array([1.0, 2.0]),
    )
    ax = plot.return_curve({"a": trace})
    mean, bound = ax.lines
    assert mean.get_xydata().tolist() == [[1, 1], [2, 6]] and bound.get_xydata().tolist() == [[1, 1], [2, 2]]
    assert band(ax.collections[0]) == {1.0: (0.5, 1.5), 2.0: (5.0, 7.0)}
    share = plot.return_curve({"a": trace}, share=True)
    assert [line.get_ydata().tolist() for line in share.lines] == [[0.5, 0.75]]
    trace.lower_bound = np.array([np.nan, 1.0])
    assert len(plot.return_curve({"a": trace}).lines) == 1


def test_actions_by_steps_to_go_are_a_table():
    model = SimpleNamespace(policies_=np.array([[0, 1], [1, 1], [0, 0]]))
    ax = horizon_actions(model, SimpleNamespace(state_names=["s", "t"]))
    assert_allclose(np.asarray(ax.images[0].get_array()), model.policies_.T)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2", "3"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["s", "t"]
    assert [text.get_text() for text in ax.texts] == ["0", "1", "0", "1", "1", "0"]
