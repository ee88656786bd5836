"""Boosting: AdaBoost's bounds, stagewise models, gradient boosting."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_friedman1, make_hastie_10_2

import gnomon
from gnomon.core.callbacks import Checkpoint
from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.core.threads import threads
from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StagewiseAdditiveModel,
)
from gnomon.loops import gains, grown_trees, histograms, leaves, team
from gnomon.loops._compile import compiled
from gnomon.trees import DecisionStump, DecisionTreeClassifier, DecisionTreeRegressor
from killing import Killed

TOY = np.array([[1, 1], [2, 4], [5, 8], [7, 9], [8, 7], [4, 3], [3, 2], [6, 5], [9, 6], [10, 10]], float)
SIGNS = np.repeat([1, -1], 5)
SIX = np.arange(1.0, 7)[:, None]


def noisy(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(1)
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(0, 1, n) > 0, 1, -1)
    return X, y


# AdaBoost


def test_toy_by_hand():
    model = AdaBoostClassifier(n_estimators=4).fit(TOY, SIGNS)
    assert model.estimator_errors_ == pytest.approx([3 / 10, 3 / 14, 3 / 22, 0.1842105], abs=1e-6)
    assert model.alphas_ == pytest.approx([0.4236489, 0.6496415, 0.9229133, 0.7440385], abs=1e-6)
    rules = [(e.feature_, e.threshold_, e.left_value_) for e in model.estimators_]
    assert rules == [(0, 2.5, 1), (0, 8.5, 1), (1, 6.5, -1), (0, 2.5, 1)]
    assert model.normalizers_[:3] == pytest.approx([0.9165151, 0.8206518, 0.6863486], abs=1e-6)
    assert model.estimator_weights_ == pytest.approx(2 * model.alphas_)
    three = AdaBoostClassifier(n_estimators=3).fit(TOY, SIGNS)
    assert three.bound_ == pytest.approx(0.5162301, abs=1e-6)
    assert three.bound_edge_ == pytest.approx(0.6018614, abs=1e-6)
    assert three.training_errors_[-1] == 0
    expected = [0.1503771] * 2 + [1.1489059] * 3 + [-0.6969208] * 3 + [-1.9962038, -0.1503771]
    assert np.sort(three.decision_function(TOY)) == pytest.approx(np.sort(expected), abs=1e-6)
    w = model.sample_weights_
    assert np.sort(w[1]) == pytest.approx([1 / 14] * 7 + [1 / 6] * 3)
    assert set(np.round(w[2], 6)) == {round(v, 6) for v in (1 / 22, 7 / 66, 1 / 6)}
    assert set(np.round(w[3], 6)) == {round(v, 6) for v in (1 / 6, 7 / 114, 11 / 114, 1 / 38)}


def test_bounds_of_a_constant_edge():
    errors = np.full(1000, 0.45)
    assert np.exp(-2 * ((0.5 - errors) ** 2).sum()) == pytest.approx(0.0067379, abs=1e-6)
    assert np.prod(2 * np.sqrt(errors * (1 - errors))) == pytest.approx(0.0065705, abs=1e-6)
    assert np.exp(-2 * 0.2**2 * 3) == pytest.approx(0.7866279, abs=1e-6)


def test_three_classes_by_hand():
    x, y = np.arange(1.0, 8)[:, None], [0, 0, 1, 1, 2, 2, 0]
    model = AdaBoostClassifier(n_estimators=2).fit(x, y)
    assert model.estimator_errors_ == pytest.approx([3 / 7, 1 / 3])
    assert model.estimator_weights_ == pytest.approx([0.9808293, 1.3862944], abs=1e-6)
    found = [(e.threshold_, e.left_value_, e.right_value_) for e in model.estimators_]
    assert found == [(2.5, 0, 1), (6.5, 2, 0)]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_every_round_obeys_the_theory(seed):
    X, y = noisy(seed)
    if len(np.unique(y)) < 2:
        return
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    F = np.zeros(len(y))
    for t, (stump, alpha, z) in enumerate(zip(model.estimators_, model.alphas_, model.normalizers_)):
        error, wrong = model.estimator_errors_[t], stump.predict(X) != y
        if error == 0:
            return
        w, new = model.sample_weights_[t], model.sample_weights_[t + 1]
        assert new.sum() == pytest.approx(1)
        assert new[wrong].sum() == pytest.approx(0.5, abs=1e-9)
        assert z == pytest.approx(2 * np.sqrt(error * (1 - error)))
        for other in (alpha - 0.05, alpha + 0.05):
            assert z <= (w * np.exp(-other * np.where(wrong, -1, 1))).sum() + 1e-12
        F += alpha * stump.predict(X)
        product = np.prod(model.normalizers_[: t + 1])
        assert new * product == pytest.approx(np.exp(-y * F) / len(y))
    assert model.training_errors_[-1] <= model.bound_ + 1e-12
    assert model.bound_ <= model.bound_edge_ + 1e-12
    assert np.asarray(model.trace_)[-1] == pytest.approx(np.exp(-y * F).mean(), abs=1e-10)
    assert model.transform(X) @ model.alphas_ == pytest.approx(model.decision_function(X))
    assert np.abs(model.margins(X, y)).max() <= 1 + 1e-12


def test_perfect_and_useless_learners():
    perfect = AdaBoostClassifier().fit(SIX, [0, 0, 0, 1, 1, 1])
    assert len(perfect.estimators_) == 1
    assert np.isfinite(perfect.decision_function(SIX)).all()
    with pytest.raises(DegenerateError, match="chance"):
        AdaBoostClassifier().fit(np.zeros((4, 1)), [0, 1, 0, 1])


def test_committee_counts_the_votes_of_learners_that_have_not_seen_all_classes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    y = np.array([1] + [2, 5] * 19 + [5])  # most samples leave out the first class
    model = AdaBoostClassifier(n_estimators=6, resample=True, random_state=1).fit(X, y)
    assert any(len(stump.classes_) == 2 for stump in model.estimators_)
    votes = np.zeros((40, 3))
    for stump, weight in zip(model.estimators_, model.estimator_weights_):
        votes[np.arange(40), np.searchsorted([1, 2, 5], stump.predict(X))] += weight
    assert model.decision_function(X) == pytest.approx(votes)
    assert list(model.staged_decision_function(X))[-1] == pytest.approx(votes)


def test_resampling_is_reproducible():
    X, y = noisy(1)
    a, b, c = (AdaBoostClassifier(n_estimators=5, resample=True, random_state=s).fit(X, y) for s in (0, 0, 1))
    assert np.array_equal(a.decision_function(X), b.decision_function(X))
    assert not np.array_equal(a.decision_function(X), c.decision_function(X))
    assert a.score(X, y) > 0.6


def test_any_weak_learner_with_weights():
    X, y = noisy(2, n=100)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=10).fit(X, y)
    assert model.score(X, y) > AdaBoostClassifier(n_estimators=1).fit(X, y).score(X, y)
    assert len(list(model.staged_score(X, y))) == len(model.estimators_)
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_iterate_shows_every_round():
    models = list(AdaBoostClassifier(n_estimators=3).iterate(TOY, SIGNS))
    assert [len(m.estimators_) for m in models] == [0, 1, 2, 3]


# stagewise


def test_stagewise_squared_by_hand():
    model = StagewiseAdditiveModel("squared", n_estimators=3).fit(SIX, [1, 1, -1, 1, -1, -1])
    assert [s.threshold for s in model.estimators_] == [2.5, 4.5, 3.5]
    assert model.coefs_ == pytest.approx([2 / 3, 4 / 9, -0.4074074], abs=1e-6)
    assert np.asarray(model.trace_) == pytest.approx([10 / 3, 2.1481481, 1.1522634], abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_stagewise_exponential_is_adaboost(seed):
    X, y = noisy(seed)
    if len(np.unique(y)) < 2:
        return
    ada = AdaBoostClassifier(DecisionStump(allow_constant=False), n_estimators=5).fit(X, y)
    if (ada.estimator_errors_ == 0).any() or len(ada.alphas_) < 5:
        return
    stage = StagewiseAdditiveModel("exponential", n_estimators=5).fit(X, y)
    assert stage.coefs_ == pytest.approx(ada.alphas_, abs=1e-9)
    assert stage.predict(X) == pytest.approx(ada.decision_function(X), abs=1e-9)


@pytest.mark.parametrize("loss", ["squared", "exponential", "logistic", "absolute"])
@pytest.mark.parametrize("search", ["exact", "newton", "golden"])
def test_stagewise_loss_never_rises(loss, search):
    X, y = noisy(3)
    trees = StagewiseAdditiveModel(
        loss, estimator=DecisionTreeRegressor(max_depth=2), n_estimators=6, line_search=search
    ).fit(X, y.astype(float))
    assert (np.diff(np.asarray(trees.trace_)) <= 1e-9).all()


def test_stagewise_takes_any_loss():
    model = StagewiseAdditiveModel(lambda f, t: (f - t) ** 4, n_estimators=4).fit(SIX, np.arange(6.0))
    assert (np.diff(np.asarray(model.trace_)) <= 1e-9).all()
    with pytest.raises(DataError, match="-1"):
        StagewiseAdditiveModel("exponential").fit(SIX, np.arange(6.0))


def test_members_of_a_stagewise_model_ask_a_question_where_there_is_one():
    model = StagewiseAdditiveModel("squared", n_estimators=2).fit(SIX, [3.0, 2, 4, 3, 3, 3])
    assert [s.feature for s in model.estimators_] == [0, 0]
    flat = StagewiseAdditiveModel("squared", n_estimators=1).fit(np.ones((4, 1)), [1.0, 2, 3, 6])
    assert flat.estimators_[0].feature == -1 and flat.predict([[1.0]]) == pytest.approx(3.0)


def test_a_perfect_question_gets_all_the_weight_that_doubles_can_tell():
    model = StagewiseAdditiveModel("exponential", n_estimators=1).fit([[0.0], [1], [2]], [-1, 1, 1])
    assert model.coefs_.tolist() == [18.0] and model.predict([[0.0], [2]]).tolist() == [-18.0, 18.0]


# gradient boosting


def test_l2_boosting_by_hand():
    y = np.array([1, 1.5, 2, 5, 5.5, 4.5])
    model = GradientBoostingRegressor(n_estimators=3, max_depth=1, learning_rate=1.0).fit(SIX, y)
    assert model.start_ == pytest.approx([3.25])
    assert [r[0].threshold[0] for r in model.rounds_] == [3.5, 1.5, 5.5]
    assert 12 * np.asarray(model.trace_) == pytest.approx([1, 0.7, 0.268])
    half = GradientBoostingRegressor(n_estimators=3, max_depth=1, learning_rate=0.5).fit(SIX, y)
    assert 12 * np.asarray(half.trace_) == pytest.approx([5.59375, 2.1484375, 1.0849609], abs=1e-6)


def test_log_loss_boosting_by_hand():
    model = GradientBoostingClassifier(n_estimators=2, max_depth=1, learning_rate=1.0)
    model.fit(SIX, [0, 0, 1, 0, 1, 1])
    assert model.start_ == pytest.approx([0])
    assert [r[0].threshold[0] for r in model.rounds_] == [2.5, 4.5]
    assert model.rounds_[0][0].value.ravel()[1:] == pytest.approx([-2, 1])
    assert model.rounds_[1][0].value.ravel()[1:] == pytest.approx([-1.1613232, 1.3678794], abs=1e-6)
    expected = [-3.1613232] * 2 + [-0.1613232] * 2 + [2.3678794] * 2
    assert model.decision_function(SIX) == pytest.approx(expected, abs=1e-6)
    assert np.asarray(model.trace_) == pytest.approx([0.4178171, 0.2758136], abs=1e-6)


def test_absolute_error_boosting_by_hand():
    model = GradientBoostingRegressor(n_estimators=1, max_depth=1, learning_rate=1.0, loss="absolute_error")
    model.fit(SIX, [1, 2, 1.5, 8, 9, 30])
    assert model.start_ == pytest.approx([5])
    assert model.rounds_[0][0].threshold[0] == 3.5
    assert model.predict(SIX) == pytest.approx([1.5] * 3 + [9] * 3)


def test_full_trees_reach_zero_in_one_stage():
    X, y = make_friedman1(80, random_state=0)
    model = GradientBoostingRegressor(n_estimators=1, max_depth=None, learning_rate=1.0).fit(X, y)
    assert model.predict(X) == pytest.approx(y)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_training_loss_falls(loss):
    X, y = make_friedman1(120, random_state=0)
    model = GradientBoostingRegressor(n_estimators=20, loss=loss).fit(X, y)
    losses = np.asarray(model.trace_)
    assert losses[-1] < losses[0]
    if loss in ("squared_error", "absolute_error"):
        assert (np.diff(losses) <= 1e-12).all()


def test_quantile_loss_covers_its_share():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (2000, 1))
    y = X[:, 0] + rng.normal(0, 1, 2000)
    for q in (0.1, 0.9):
        model = HistGradientBoostingRegressor(loss="quantile", quantile=q, max_iter=60).fit(X, y)
        assert np.mean(y <= model.predict(X)) == pytest.approx(q, abs=0.03)


@pytest.mark.parametrize("classes", [2, 3])
def test_histograms_equal_exact_splits_for_few_values(classes):
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, n_classes=classes, random_state=0)
    X = X.round(1)
    shared = {"max_depth": 3, "learning_rate": 0.1, "min_samples_leaf": 5}
    exact = GradientBoostingClassifier(n_estimators=10, **shared).fit(X, y)
    binned = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=None, **shared).fit(X, y)
    assert len(binned.rounds_) == 10
    # both follow the gradient; the exact version splits on -g, the other on g and h
    assert np.mean(exact.predict(X) == binned.predict(X)) > 0.93
    y = X[:, 0] + X[:, 1] ** 2
    a = GradientBoostingRegressor(n_estimators=10, **shared).fit(X, y)
    b = HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=None, **shared).fit(X, y)
    assert a.predict(X) == pytest.approx(b.predict(X), abs=1e-9)


WIDTHS = [histograms.NARROW, histograms.EVEN, histograms.WIDE]


@pytest.mark.parametrize("width", WIDTHS)
def test_child_histograms_sum_to_the_parent(width, monkeypatch):
    from gnomon.ensemble import histogram
    from gnomon.trees.binning import bin_columns, find_bins

    monkeypatch.setattr(histogram, "ONE_WORD_ROWS", (100, 10_000))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 9))
    bins = find_bins(X, 255, np.zeros(9, np.int64))
    codes = histogram.pack(bin_columns(X, bins), bins)
    grower = histogram.Histogrammer(codes, histogram.Limits(8, 50, 5, 0.0), None, np.ones(6000), width=width)
    g, h = X[:, 0] + 0.1, rng.uniform(0.1, 0.25, 6000)
    if width == histograms.EVEN:
        h[:] = 0.25
    tree = grower.grow(g, h, np.abs(g).max(), h.max(), 1, 1.0)
    sums, tolerance = tree.records[:, :3], 0.02 if width == histograms.NARROW else 1e-9
    for k, (start, end) in enumerate(tree.ranges):
        inside = tree.rows[start:end]
        assert sums[k, 2] == len(inside)
        assert sums[k, 0] == pytest.approx(g[inside].sum(), abs=tolerance * np.abs(g).sum() / 10)
        assert sums[k, 1] == pytest.approx(h[inside].sum(), rel=tolerance)
    inner = np.flatnonzero(tree.turns)
    assert len(inner) == 7
    below = sums[tree.left[inner]] + sums[tree.right[inner]]
    assert below[:, 2].tolist() == sums[inner, 2].tolist()
    assert below == pytest.approx(sums[inner], rel=1e-12, abs=1e-9)


@compiled
def fill_histograms(binned, packed, rows, terms, out):
    local = np.zeros(2048 * histograms.GROUP, np.int64)
    histograms.histograms(binned, packed, rows, terms, local, out)


@pytest.mark.parametrize("every", [1, 50])  # many blocks of rows, and a part of one
@pytest.mark.parametrize("d", [3, 8, 11])
@pytest.mark.parametrize("width", WIDTHS)
def test_histograms_equal_bincount(every, d, width):
    from gnomon.ensemble import histogram
    from gnomon.loops import boosting

    n, shift, (narrow, even, _) = 10 * histograms.BLOCK + 1, 40, WIDTHS
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (d, n)).astype(np.uint8)
    codes[0] = 7  # all rows in one cell
    g, h, reps = rng.integers(-4000, 4000, n), rng.integers(0, 4000, n), np.ones(n)
    if width != histograms.WIDE:
        h[:] = 3 if width == even else histograms.TOP_H
    if width != histograms.WIDE:
        g[: n // 2] = histograms.TOP_G[width]  # as large as they come, and as small
        g[n // 2 :] = -histograms.TOP_G[width]
    words = histogram.pack(codes, None).words
    packed, out = (
        np.empty((n, 1 + (width == histograms.WIDE)), np.int64),
        np.empty((2, 2048 * words.shape[1]), np.int64),
    )
    if width == narrow:
        boosting.pack_narrow(g * 1.0, h * 1.0, 1.0, 1.0, np.uint64(0), 0, n, packed.reshape(-1))
    elif width == even:
        boosting.pack_even(g * 1.0, 1.0, 0, n, packed.reshape(-1))
    else:
        boosting.pack_wide(g * 1.0, h * 1.0, reps, 1.0, 1.0, shift, 0, n, packed)
    rows = np.arange(0, n, every, dtype=np.int32)
    binned = histograms.BinnedRows(words, codes, np.full(d, 256), np.zeros((d, 2), np.int64))
    terms = histograms.Terms(1.0, 1.0, shift, width, 3 * (width == even), 0.0, 1.0, 0.0, 9, d)
    fill_histograms(binned, packed, rows, terms, out)
    for f in range(d):
        gs, qs = out[:, 256 * f : 256 * f + 256]
        for found, weight in ((gs, g), (qs & ((1 << shift) - 1), h), (qs >> shift, reps)):
            expected = [weight[rows][codes[f, rows] == c].sum() for c in range(256)]
            assert found.tolist() == expected


def test_even_rows_grow_the_trees_of_wide_ones(monkeypatch):
    from gnomon.ensemble import histogram

    X = np.random.default_rng(0).normal(size=(3000, 11))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 100.0
    wide = HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    monkeypatch.setattr(histogram, "ONE_WORD_ROWS", (100, 10_000))
    even = HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    assert even.predict(X) == pytest.approx(wide.predict(X), rel=1e-9)


def test_narrow_histograms_lose_nothing_that_matters():
    X, y = make_classification(40_000, 10, n_informative=6, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=30, early_stopping=False)
    narrow = model.fit(X[:30_000], y[:30_000]).score(X[30_000:], y[30_000:])
    wide = model.fit(X[:30_000], y[:30_000], np.r_[2.0, np.ones(29_999)]).score(X[30_000:], y[30_000:])
    assert narrow == pytest.approx(wide, abs=0.01)


@pytest.mark.parametrize(
    "options", [{}, {"max_features": 0.5, "max_leaf_nodes": 100}, {"max_leaf_nodes": None}]
)
def test_boosting_is_the_same_on_any_number_of_threads(options):
    X, y = make_classification(30_000, 12, random_state=0)
    found = []
    for n in (1, 2, 4):
        with threads(n):
            model = HistGradientBoostingClassifier(max_iter=5, random_state=0, **options).fit(X, y)
        found.append((model.decision_function(X), [tree.split_order for (tree,) in model.rounds_]))
    for scores, orders in found[1:]:
        assert np.array_equal(scores, found[0][0])
        assert all(np.array_equal(a, b) for a, b in zip(orders, found[0][1], strict=True))


def test_threads_never_share_a_histogram():
    X, y = make_classification(10_000, 11, n_informative=8, random_state=0)
    model, before = HistGradientBoostingClassifier(max_iter=2, random_state=0), sys.getswitchinterval()
    with threads(1):
        alone = model.fit(X, y).decision_function(X)
    sys.setswitchinterval(1e-6)  # threads interrupt each other wherever they can
    try:
        with threads(4):
            assert all(np.array_equal(model.fit(X, y).decision_function(X), alone) for _ in range(15))
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("who", ["lead", "follow"])
def test_an_error_on_one_thread_ends_the_growth(who, monkeypatch):
    work = team.work

    def fails(binned, packed, terms, team, me, *rest):
        if (me == 0) == (who == "lead"):
            raise ZeroDivisionError
        return work(binned, packed, terms, team, me, *rest)

    X, y = make_classification(30_000, 12, random_state=0)
    monkeypatch.setattr(team, "work", fails)
    with threads(2), pytest.raises(ZeroDivisionError):
        HistGradientBoostingClassifier(max_iter=5).fit(X, y)


def grower_of(X, limits, weights=None):
    from gnomon.ensemble import histogram
    from gnomon.trees.binning import bin_columns, find_bins

    bins = find_bins(X, 255, np.zeros(X.shape[1], np.int64))
    codes = histogram.pack(bin_columns(X, bins), bins)
    reps = np.ones(len(X)) if weights is None else weights
    return histogram.Histogrammer(codes, histogram.Limits(*limits), None, reps, width=histograms.WIDE)


def best_cut(codes, g, h, rows):
    """The largest gain of any cut of some rows, the feature and the code; of equal ones the first."""
    best = (0.0, -1, -1)
    for f, line in enumerate(codes):
        for code in np.unique(line[rows])[:-1]:
            left = rows[line[rows] <= code]
            right = rows[line[rows] > code]
            gain = (
                sum(g[p].sum() ** 2 / h[p].sum() for p in (left, right)) - g[rows].sum() ** 2 / h[rows].sum()
            )
            if gain > best[0] * (1 + 1e-9) + 1e-9:
                best = (gain, f, int(code))
    return best


def test_nodes_are_laid_out_parents_first_and_their_leaves_step_as_newton_says():
    """Grown in the order 0, its children 1 and 2, and those of 2, which are 3 and 4, on lines 0, 5, 6, 1 and 2."""
    order = np.array([0, 5, 6, 1, 2])
    ints, records = np.zeros((7, leaves.N_INT), np.int64), np.zeros((7, histograms.N_RECORD))
    ints[order, leaves.TURN], ints[order, leaves.FIRST] = [1, 0, 2, 0, 0], [5, -2, 1, -1, 3]  # two in vain
    ints[order, leaves.START], ints[order, leaves.END] = [0, 0, 4, 4, 7], [9, 4, 9, 7, 9]
    records[order, :3] = [[-3, 8, 9], [4, 3, 4], [-7, 5, 5], [0, 0, 3], [-7, 5, 2]]
    records[order, histograms.LOWER], records[order, histograms.UPPER] = -np.inf, np.inf
    records[2, histograms.UPPER] = 0.5
    sides = np.arange(7, dtype=np.uint8)[:, None] * np.ones(256, np.uint8)
    own, turns, left, right, ranges = (
        np.empty((5, 13)),
        *np.empty((3, 5), np.int64),
        np.empty((5, 2), np.int64),
    )
    own_sides, ends, in_vain = np.empty((5, 256), np.uint8), np.empty(3, np.int64), np.empty(3, np.bool_)
    waiting = np.empty((6, 2), np.int64)
    grown_trees.lay_out(
        order, ints, records, sides, waiting, own, turns, left, right, ranges, own_sides, ends, in_vain
    )
    assert (turns.tolist(), left.tolist(), right.tolist()) == (
        [1, 0, 2, 0, 0],
        [1, -1, 3, -1, -1],
        [2, -1, 4, -1, -1],
    )
    assert (ends.tolist(), in_vain.tolist()) == ([1, 3, 4], [True, False, True])
    assert ranges[:, 0].tolist() == [0, 0, 4, 4, 7] and own_sides[:, 9].tolist() == [0, 5, 6, 1, 2]
    found, values = np.empty(3), np.zeros(5)
    grown_trees.newton_steps(own[ends, :2], own, ends, 1.0, 0.5, found, values)
    assert values.tolist() == [
        0,
        -0.5,
        0,
        0,
        0.25,
    ]  # -4/(3 + 1), no curvature, 7/(5 + 1) but at most 1/2; times 1/2


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_the_leaf_that_gains_most_is_split_first(seed, most):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (90, 4)).astype(float)
    g, h = rng.integers(-8, 9, 90) / 8.0, rng.integers(1, 5, 90) / 4.0
    grower = grower_of(X, (most + 1, 60, 1.0, 0.0))
    tree = grower.grow(g, h, 1.0, 1.0, 1, 1.0)
    codes, leaves, splits = grower.codes.columns, {0: np.arange(90)}, []
    while len(splits) < most:  # every leaf is searched anew in every turn
        found = {k: best_cut(codes, g, h, rows) for k, rows in leaves.items()}
        k = max(leaves, key=lambda k: found[k][0])
        gain, f, code = found[k]
        if gain == 0.0:
            break
        rows = leaves.pop(k)
        splits.append((gain, f, code, len(rows)))
        leaves |= {
            2 * len(splits) - 1: rows[codes[f, rows] <= code],
            2 * len(splits): rows[codes[f, rows] > code],
        }
    order = np.argsort(np.where(tree.turns > 0, tree.turns, 999), kind="stable")[: len(splits)]
    assert np.count_nonzero(tree.turns) == len(splits)
    for node, (gain, f, code, size) in zip(order, splits, strict=True):
        record = tree.records[node]
        assert record[6] == pytest.approx(gain, rel=1e-9)
        assert (record[12], record[10], record[2]) == (f, code, size)


@compiled
def through_the_heap(values):
    heap, found = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    for k in range(values.size):
        team.push(heap, k, k, values)
    for k in range(values.size):
        found[k] = team.pop(heap, values.size - k, values)
    return found


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60))
def test_a_heap_gives_the_largest_and_oldest_first(values):
    found = through_the_heap(np.array(values, float))
    assert found.tolist() == sorted(range(len(values)), key=lambda k: (-values[k], k))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_small_pool_of_histograms_gives_the_same_tree(n_threads, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 9))
    g, h = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2], rng.uniform(0.1, 0.25, 6000)
    with threads(n_threads):
        whole = grower_of(X, (60, 60, 5.0, 0.0))
        monkeypatch.setattr("gnomon.ensemble.histogram.POOL_BYTES", 0)
        short = grower_of(X, (60, 60, 5.0, 0.0))
        assert len(short.team.pool) == 2 * n_threads + 2 < len(whole.team.pool)
        a, b = (one.grow(g, h, np.abs(g).max(), h.max(), 1, 1.0) for one in (whole, short))
    assert np.array_equal(a.turns, b.turns)
    assert np.array_equal(a.records[:, :7], b.records[:, :7])
    assert np.array_equal(a.records[a.turns > 0], b.records[b.turns > 0])
    assert np.array_equal(a.rows, b.rows)


@compiled
def drawn_features(key, d, drawn):
    allowed = np.empty(d, np.int64)
    gains.draw_features(key, drawn, allowed, np.empty(d, np.int64))
    return allowed


@given(st.integers(0, 2**63 - 1), st.integers(1, 40), st.data())
def test_every_leaf_draws_so_many_features(key, d, data):
    drawn = data.draw(st.integers(1, d))
    assert drawn_features(np.uint64(key), d, drawn).sum() == drawn


def test_drawn_features_are_equally_likely():
    counts = sum(drawn_features(np.uint64(k), 10, 3).astype(int) for k in range(4000))
    assert (np.abs(counts - 1200) < 5 * np.sqrt(4000 * 0.3 * 0.7)).all()


def test_boosting_weight_two_is_the_row_twice():
    X, y = noisy(4, n=120)
    w = np.random.default_rng(0).integers(0, 4, 120)
    for model in (HistGradientBoostingClassifier(max_iter=10), GradientBoostingClassifier(n_estimators=10)):
        a = model.fit(X, y, w).decision_function(X)
        b = model.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).decision_function(X)
        assert a == pytest.approx(b, abs=1e-9)


def test_missing_values_and_categories():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    color = rng.choice(["red", "green", "blue", "gray"], 400)
    y = (np.isin(color, ["red", "blue"]) ^ (x > 0)).astype(int)
    x[::5] = np.nan
    X = pd.DataFrame({"x": x, "color": pd.Categorical(color)})
    model = HistGradientBoostingClassifier(max_iter=30).fit(X, y)
    assert model.score(X[~np.isnan(x)], y[~np.isnan(x)]) > 0.97
    odd = pd.DataFrame({"x": [0.5, np.nan], "color": ["violet", None]})
    assert np.isfinite(model.predict_proba(odd)).all()
    assert any("color in" in rule for rule in model.to_rules())


def test_monotone_boosting():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (800, 2))
    y = X[:, 0] + np.sin(5 * X[:, 1]) + rng.normal(0, 0.3, 800)
    model = HistGradientBoostingRegressor(monotonic_cst=[1, 0], max_iter=50).fit(X, y)
    line = np.linspace(-1, 1, 60)
    for v in (-0.7, 0.0, 0.7):
        assert (np.diff(model.predict(np.column_stack([line, np.full(60, v)]))) >= -1e-12).all()


def test_early_stopping_and_warm_start():
    X, y = make_classification(2000, 8, flip_y=0.3, random_state=0)
    stopped = HistGradientBoostingClassifier(early_stopping=True, max_iter=300, random_state=0).fit(X, y)
    assert len(stopped.rounds_) < 300
    assert len(stopped.validation_score_) == len(stopped.rounds_)
    whole = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    part = HistGradientBoostingClassifier(max_iter=8, warm_start=True, random_state=0).fit(X, y)
    part.set_params(max_iter=20).fit(X, y)
    assert np.array_equal(part.decision_function(X), whole.decision_function(X))


def test_subsampling_records_improvements():
    X, y = make_friedman1(200, random_state=0)
    model = GradientBoostingRegressor(n_estimators=15, subsample=0.5, random_state=0).fit(X, y)
    assert model.oob_improvement_.shape == (15,)
    assert model.oob_improvement_[0] > 0


def test_bad_targets_are_refused():
    for loss, y in (("poisson", -np.ones(6)), ("gamma", np.zeros(6))):
        with pytest.raises(DataError, match=loss):
            HistGradientBoostingRegressor(loss=loss).fit(SIX, y)
    constant = HistGradientBoostingRegressor().fit(SIX, np.full(6, 3.0))
    assert constant.predict(SIX) == pytest.approx(np.full(6, 3.0))


def test_saved_boosting_predicts_the_same(tmp_path):
    X, y = noisy(0, n=100)
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    gnomon.save(model, tmp_path / "model.gnomon")
    again = gnomon.load(tmp_path / "model.gnomon")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.slow
def test_nested_spheres_order_of_errors():
    X, y = make_hastie_10_2(12_000, random_state=1)
    train, test = slice(0, 2000), slice(2000, None)
    models = [
        AdaBoostClassifier(n_estimators=400, store_weights=False),
        RandomForestClassifier(200, random_state=0),
        BaggingClassifier(n_estimators=100, random_state=0),
        DecisionTreeClassifier(),
        DecisionStump(),
    ]
    errors = [1 - m.fit(X[train], y[train]).score(X[test], y[test]) for m in models]
    assert errors == sorted(errors)
    assert errors == pytest.approx([0.12, 0.14, 0.15, 0.24, 0.46], abs=0.025)


@pytest.mark.parity
def test_same_histogram_boosting_as_scikit_learn():
    from sklearn.ensemble import HistGradientBoostingClassifier as Peer

    X, y = make_classification(800, 6, n_informative=4, random_state=0)
    X = X.round(2)
    ours = HistGradientBoostingClassifier(max_iter=15).fit(X, y)
    peer = Peer(max_iter=15).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(peer.decision_function(X), abs=0.05)
    assert ours.score(X, y) == pytest.approx(peer.score(X, y), abs=0.01)


@pytest.mark.parity
def test_same_gradient_boosting_as_scikit_learn():
    from sklearn.ensemble import GradientBoostingRegressor as Peer

    X, y = make_friedman1(200, random_state=0)
    X = np.float32(X).astype(float)
    ours = GradientBoostingRegressor(n_estimators=20).fit(X, y)
    peer = Peer(n_estimators=20, random_state=0).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.predict(X))


def test_huber_boosting_takes_weights_for_repetitions():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 3))
    y, w = X[:, 0] + rng.standard_t(2, size=90), rng.integers(0, 4, 90)
    copies = np.repeat(np.arange(90), w)
    options = {"loss": "huber", "n_estimators": 10, "random_state": 0}
    weighted = GradientBoostingRegressor(**options).fit(X, y, sample_weight=w).predict(X)
    repeated = GradientBoostingRegressor(**options).fit(X[copies], y[copies]).predict(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def test_stagewise_absolute_steps_are_medians_and_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y, order = X[:, 0] + rng.standard_t(2, size=90), rng.permutation(90)
    one = StagewiseAdditiveModel("absolute", n_estimators=10).fit(X, y)
    other = StagewiseAdditiveModel("absolute", n_estimators=10).fit(X[order], y[order])
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-12)
    h = 2.0 * one.estimators_[0].answers(X) - 1.0
    losses = [np.abs(y - (one.coefs_[0] + move) * h).sum() for move in (0.0, -0.05, 0.05)]
    assert losses[0] <= min(losses[1:])


@pytest.mark.parity
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_deviance_trees_and_leaves_are_told_as_scikit_learn_does(classes):
    import sklearn.ensemble as theirs

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (
        X[:, 0] + 0.1 * rng.normal(size=90)
        if classes == 0
        else np.digitize(X[:, 0], [-0.4, 0.4][: classes - 1])
    )
    name = "GradientBoostingRegressor" if classes == 0 else "GradientBoostingClassifier"
    ours = globals()[name](n_estimators=4, max_depth=2).fit(X, y)
    other = getattr(theirs, name)(n_estimators=4, max_depth=2).fit(X, y)
    if classes < 3:  # for more, the Newton steps there are shortened by (K - 1) / K
        np.testing.assert_allclose(ours.train_score_, other.train_score_, rtol=1e-6)
    assert (np.diff(ours.train_score_) < 0).all() and (ours.train_score_ > 0).all()
    assert ours.estimators_.shape == other.estimators_.shape and ours.n_estimators_ == 4
    assert ours.apply(X).shape == other.apply(X).shape
    leaf = ours.estimators_[1, 0].tree_.value[ours.apply(X).reshape(90, 4, -1)[:, 1, 0], 0, 0]
    np.testing.assert_allclose(leaf, ours.estimators_[1, 0].predict(X))


def test_monitor_ends_a_fit():
    X = np.arange(20.0)[:, None]
    seen = []
    model = GradientBoostingRegressor(n_estimators=9)
    model.fit(X, X[:, 0], monitor=lambda i, model, state: seen.append(i) or i == 2)
    assert seen == [0, 1, 2] and model.n_iter_ == 3


def test_categories_are_told_as_a_mask(capsys):
    X = np.stack([np.arange(60) % 3, np.arange(60.0)], axis=1)
    y = (X[:, 0] == 1).astype(int)
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0], verbose=1).fit(X, y)
    assert model.is_categorical_.tolist() == [True, False]
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert HistGradientBoostingClassifier(max_iter=1).fit(X, y).is_categorical_ is None
    for wrong in ([-1], [5], [True]):
        with pytest.raises(DataError, match="categorical_features"):
            HistGradientBoostingClassifier(max_iter=1, categorical_features=wrong).fit(X, y)
    with pytest.raises(DataError, match="no order"):
        HistGradientBoostingClassifier(max_iter=1, categorical_features=[0], monotonic_cst=[1, 0]).fit(X, y)
    with pytest.raises(DataError, match="needs two classes"):
        HistGradientBoostingClassifier(max_iter=1, monotonic_cst=[0, 1]).fit(X, X[:, 0])
    staged = list(model.staged_decision_function(X))
    np.testing.assert_allclose(staged[-1], model.decision_function(X))


def test_a_checkpoint_knows_the_rows_to_be_judged_by(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "fit"
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)

    def fit(held, *others):
        model = HistGradientBoostingRegressor(max_iter=6, early_stopping=True, random_state=0)
        model.set_callbacks(Checkpoint(path, every_seconds=0), *others)
        return model.fit(X, y, X_val=X[:held], y_val=y[:held])

    with pytest.raises(KeyboardInterrupt):
        fit(20, Killed(2))
    with pytest.raises(ModelFileError, match="another fit"):
        fit(10)
    assert fit(20).n_iter_ >= 2
