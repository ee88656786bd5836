"""The samples of the lab are what their sentences say; painted points and described tables are what was given."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.lab import sample_kinds as kinds
from gnomon.lab import sample_rows as rows
from gnomon.lab.material import MAX_PAINTED, RefusedError, _described, _painted
from gnomon.lab.scene_factors import ratings_panels
from gnomon.lab.scenes import _kept, last_numbers, sentence

MANY = 20_000


def test_classes_of_rows_are_where_they_are_said_to_be():
    X, y = rows.rectangle(500)
    inside = (X[:, 0] > 0.2) & (X[:, 0] < 0.7) & (X[:, 1] > 0.3) & (X[:, 1] < 0.8)
    assert_array_equal(y, inside.astype(int))
    assert X.shape == (500, 2) and 0 <= X.min() and X.max() <= 1
    X, y = rows.bits(200)
    assert_array_equal(y, [(a == 1 and b == 0) for a, b in X[:, :2]])
    assert set(np.unique(X)) == {0, 1}
    X, y = rows.quadrants(200, noise=0.0)
    assert_array_equal(y == 1, np.sign(X[:, 0]) == np.sign(X[:, 1]))
    X, y = rows.two_clouds(MANY, distance=3.0)
    assert_allclose(X[y == 1].mean(axis=0), [1.5, 0.9], atol=0.05)
    assert_allclose(X[y == 0].mean(axis=0), [-1.5, -0.9], atol=0.05)
    X, y = rows.half_labeled(200, labeled=10)
    assert (y >= 0).sum() == 10 and (y[10:] == -1).all() and set(y[:10]) == {0, 1}
    X, y = rows.digits(50)
    assert X.shape == (50, 64) and X.max() == 1 and y.shape == (50,) and set(y) == set(range(10))
    assert_allclose(rows.digit_pictures(50)[0], X)


def test_targets_follow_their_curves():
    X, y = rows.wave(50, noise=0.0)
    assert_allclose(y, np.sin(X[:, 0]))
    assert (np.diff(X[:, 0]) >= 0).all() and 0 <= X.min() and X.max() <= 6
    X, y = rows.line(30, noise=0.0, outlier=8.0)
    assert_allclose(y[:-1], 1 + 0.8 * X[:-1, 0])
    assert y[-1] == pytest.approx(9 + 0.8 * X[-1, 0])
    X, y = rows.sparse_line(40, noise=0.0)
    assert_allclose(y, 3 * X[:, 0] - 2 * X[:, 1] + X[:, 2])
    X, y = rows.positive_wave(MANY)
    high = X[:, 0] > 2.5
    assert_allclose(y[high].mean(), 1 + np.exp(0.3 + 0.6 * X[high, 0]).mean(), rtol=0.03)
    assert y.min() >= 1


def test_columns_hang_together_as_they_are_said_to():
    a, b = rows.two_views(MANY)
    assert a.shape == (MANY, 3) and b.shape == (MANY, 2)
    both = np.cov(np.hstack([a, b]).T)
    assert_allclose(
        both, np.ones((5, 5)) + np.eye(5), atol=0.08
    )  # one hidden number of variance one, and noise
    (X,) = rows.plane_in_space(300, columns=6, noise=0.0)
    assert np.linalg.matrix_rank(X) == 2
    (X,) = rows.holes(MANY, missing=0.2)
    assert_allclose(np.isnan(X).mean(axis=0), 0.2, atol=0.02)
    whole = X[~np.isnan(X).any(axis=1)]
    A = np.array([[1.0, 0.8, 0.3], [0.0, 0.6, 0.5], [0.0, 0.0, 0.4]])
    assert_allclose(np.cov(whole.T), A.T @ A, atol=0.05)
    (X,) = rows.positive_parts(80)
    assert np.linalg.matrix_rank(X) == 4 and X.min() >= 0
    (X,) = rows.codes(MANY, columns=3)
    assert_allclose((X[:, 1] == X[:, 0]).mean(), 0.75 + 0.25 / 3, atol=0.015)


def test_counts_have_the_sizes_they_are_said_to_have():
    assert (rows.word_counts(20)[0].sum(axis=1) == 30).all()
    assert (rows.stories(20, length=20)[0].sum(axis=1) == 20).all()
    X, y = rows.labeled_counts(30)
    assert (X.sum(axis=1) == 20).all() and y.tolist() == [0, 1, 2] * 10
    (X,) = rows.count_groups(MANY)
    for k, mean in enumerate([[2, 9], [8, 2], [14, 12]]):
        assert_allclose(X[k::3].mean(axis=0), mean, rtol=0.03)
    (X,) = rows.coin_triples(MANY)
    assert_allclose(X.mean(), 10 * (0.4 * 0.3 + 0.6 * 0.8), rtol=0.02)
    (X,) = rows.waiting_times(MANY)
    assert_allclose(X.mean(), 4.5, rtol=0.05)
    assert (kinds.trial_regimes(30)[0].sum(axis=1) == 8).all()


def test_sequences_and_pictures():
    (X,) = kinds.regimes(90, noise=0.0)
    assert X[:, 0].tolist() == ([-3] * 15 + [0] * 15 + [3] * 15) * 2
    X, y = kinds.summed_sequences(6)
    assert [len(x) for x in X] == [4, 5, 6, 4, 5, 6]
    assert_allclose(y, [x.sum() for x in X])
    X, y = kinds.bars(90, noise=0.0)
    for image, label in zip(X, y, strict=True):
        assert image.sum() == (6 if label else 0)
        if label == 1:
            assert (image.sum(axis=1) == 6).any()
        if label == 2:
            assert (image.sum(axis=0) == 6).any()
    X, y = kinds.measured_bars(20)
    assert_allclose(y, X.reshape(20, 36).mean(axis=1))
    sentences, tags = kinds.tagged_sentences(20)
    words = {
        "a": "D",
        "the": "D",
        "dog": "N",
        "cat": "N",
        "bird": "N",
        "sees": "V",
        "barks": "V",
        "runs": "V",
    }
    assert [[words[word] for word in one] for one in sentences] == tags


def test_ratings_pairs_and_worlds():
    pairs, stars = kinds.ratings(200)
    assert len(set(map(tuple, pairs.tolist()))) == 200
    assert set(pairs[:, 1]) == set(range(12)) and 0.5 <= stars.min() and stars.max() <= 5
    assert_allclose(stars * 2, np.round(stars * 2))
    (games,) = kinds.games(30)
    assert all(home != away for home, away, *_ in games)
    (factors,) = kinds.ring_of_factors(6, strength=0.5)
    assert [f.variables for f in factors[:6]] == [(f"v{i}", f"v{(i + 1) % 6}") for i in range(6)]
    assert_allclose(factors[0].table, np.exp([[0.5, -0.5], [-0.5, 0.5]]))
    (tosses,) = kinds.throws(MANY, heads=0.3)
    assert tosses.mean() == pytest.approx(0.3, abs=0.015)
    assert kinds.coin(0.3)[0].mean() == pytest.approx(0.3)
    (grid,), (cliff,) = kinds.small_grid(), kinds.cliff()
    assert grid.discount == 0.99 and cliff.discount == 0.97
    assert grid.shape == (3, 4) and cliff.shape == (4, 8)


# material


def test_painted_points_become_columns():
    points = [[0.5, 1.0, 2], [1.5, -1.0, 0]]
    found = _painted(points, "classes")
    assert_allclose(found.given[0], [[0.5, 1.0], [1.5, -1.0]])
    assert found.given[1].tolist() == [2, 0]
    found = _painted(points, "numbers")
    assert_allclose(found.given[0], [[0.5], [1.5]])
    assert_allclose(found.given[1], [1.0, -1.0])
    assert_allclose(_painted(points, "clouds").given[0], [[0.5, 1.0], [1.5, -1.0]])
    assert len(_painted([[0.0, 0.0, 0]], "clouds").given[0]) == 1
    assert len(_painted([[0.0, 0.0, 8]] * MAX_PAINTED, "classes").given[0]) == MAX_PAINTED
    for wrong, paint, told in [
        ([], "clouds", "paint between"),
        ([[0.0, 0.0, 0]] * (MAX_PAINTED + 1), "clouds", "paint between"),
        ("x", "clouds", "paint between"),
        ([[0.0, 0.0]], "clouds", "three finite"),
        ([[0.0, np.inf, 0]], "clouds", "three finite"),
        ([[0.0, 2e12, 0]], "clouds", "three finite"),
        ([["a", 0, 0]], "clouds", "three numbers"),
        ([[0.0, 0.0, 9]], "classes", "between 0 and 8"),
        ([[0.0, 0.0, -1]], "classes", "between 0 and 8"),
        ([[0.0, 0.0, 0]], "lines", "of the kind"),
    ]:
        with pytest.raises(RefusedError, match=told):
            _painted(wrong, paint)


def named(name):
    return SimpleNamespace(__name__=name)


@pytest.mark.parametrize(
    ("given", "sample", "paint", "target"),
    [
        ((np.zeros((3, 2)),), None, "clouds", ""),
        ((np.zeros((3, 2)), np.array([0, 1, 0])), named("moons"), "classes", "y"),
        ((np.zeros((3, 2)), np.array([0, 1, 0])), None, None, "y"),
        ((np.zeros((3, 2)), np.array([0, 1, -1])), named("half_labeled"), None, "y"),
        ((np.zeros((3, 1)), np.array([0.5, 1, 0])), None, "numbers", "y"),
        ((np.zeros((3, 1)), np.array([0, 1, 0])), None, None, "y"),
        ((np.zeros((3, 4)), np.array([0.5, 1, 0])), None, None, "y"),
        (([1, 2],), None, None, ""),
    ],
)
def test_what_may_be_painted_follows_from_the_columns(given, sample, paint, target):
    found = _described(given, "code", sample)
    assert found.paint == paint and found.target == target and found.code == "code"
    assert len(found.names) == (given[0].shape[1] if isinstance(given[0], np.ndarray) else 0)


# scenes


def test_products_of_factors_are_drawn_where_they_can_be_made():
    U, V = np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(4, 2)
    panels = ratings_panels(SimpleNamespace(user_factors_=U, item_factors_=V), None)
    titles = [panel["title"].split(":")[0] for panel in panels]
    assert titles == ["users by items", "factors of the users", "factors of the items"]
    apart = ratings_panels(SimpleNamespace(user_factors_=U, item_factors_=V.T), None)
    assert len(apart) == 2
    assert ratings_panels(SimpleNamespace(), None) == []


class Trace(list):
    unit = "sweep"

    def __init__(self, objective, certificate=None, **info):
        super().__init__(objective)
        self.objective, self.certificate, self.info = np.array(objective), certificate, info

    def columns(self):
        return {"objective": self.objective, "seconds": self.objective, **self.info}


@pytest.mark.parametrize(
    ("trace", "step", "told"),
    [
        (Trace([]), 0, "The start, before the first sweep."),
        (Trace([2.0]), 1, "Sweep 1: objective 2."),
        (Trace([2.0, 1.5]), 2, "Sweep 2: objective 1.5, down by 0.5."),
        (Trace([2.0, 2.5]), 2, "Sweep 2: objective 2.5, up by 0.5."),
        (Trace([2.0, 2.0]), 2, "Sweep 2: objective 2, unchanged."),
        (Trace([2.0, np.nan]), 2, "Sweep 2."),
        (Trace([2.0], [0.25]), 1, "Sweep 1: objective 2; at most 0.25 from the optimum by its certificate."),
        (Trace([2.0], [np.inf]), 1, "Sweep 1: objective 2."),
        (
            Trace([2.0, 1.0], None, step_size=[0.5, 0.125]),
            2,
            "Sweep 2: objective 1, down by 1; step size 0.125.",
        ),
        (Trace([2.0], None, gap=[np.nan]), 1, "Sweep 1: objective 2."),
    ],
)
def test_a_step_in_words(trace, step, told):
    assert sentence(SimpleNamespace(trace_=trace, iterate=None), step) == told


def test_last_numbers_and_what_is_kept():
    model = SimpleNamespace(trace_=Trace([2.0, 1.5], gap=[1.0, np.nan]), b_="b", a_="x" * 300, hidden=3)
    assert last_numbers(model) == {"objective": 1.5}
    assert last_numbers(SimpleNamespace()) == {} and last_numbers(SimpleNamespace(trace_=Trace([]))) == {}
    kept = _kept(model)
    assert [name for name, _ in kept] == ["a_", "b_", "trace_"]
    assert len(kept[0][1]) == 200 and kept[1][1] == "'b'"
    assert sentence(SimpleNamespace(), 3) == "Step 1."
    assert sentence(SimpleNamespace(sentence=lambda: "heads"), 3) == "heads"


# more of what the sentences say


def test_groups_without_names_lie_as_they_are_said_to():
    (X,) = rows.positive_parts(MANY)
    pictures = X.reshape(-1, 4, 4)
    a, b, c, d = (
        pictures[:, 0, 0],
        pictures[:, 2, 0],
        pictures[:, 1, 1],
        pictures[:, 1, 3],
    )  # two rows, two columns
    expected = np.zeros_like(pictures)
    expected[:, 0] += a[:, None]
    expected[:, 2] += b[:, None]
    expected[:, :, 1] += c[:, None]
    expected[:, :, 3] += d[:, None]
    assert_allclose(pictures, expected)
    for share in (a, b, c, d):
        assert share.mean() == pytest.approx(1, abs=0.05) and share.var() == pytest.approx(1, abs=0.1)
    X, y = rows.two_clouds(6)
    assert y.tolist() == [0, 1, 0, 1, 0, 1] and X.shape == (6, 2)
    X, y = rows.half_labeled(MANY, labeled=MANY)
    assert_allclose(X[1::2].mean(axis=0), 3, atol=0.05)
    assert_allclose(X[::2].mean(axis=0), 0, atol=0.05)
    assert y.tolist() == [0, 1] * (MANY // 2)
    noisy, clean = rows.plane_in_space(MANY, noise=0.3)[0], rows.plane_in_space(MANY, noise=0.0)[0]
    assert_allclose((noisy - clean).std(axis=0), 0.3, atol=0.01)
    noisy, clean = rows.quadrants(MANY, noise=0.1)[0], rows.quadrants(MANY, noise=0.0)[0]
    assert_allclose((noisy - clean).std(axis=0), 0.1, atol=0.01)
    assert np.abs(clean).max() <= 1 and np.abs(clean).mean() == pytest.approx(0.5, abs=0.02)
    for sample in (rows.wave, rows.line, rows.sparse_line):
        noise = sample(MANY, noise=0.5)[1] - sample(MANY, noise=0.0)[1]
        assert noise.std() == pytest.approx(0.5, abs=0.02)
    X, y = rows.categories(MANY)
    assert set(np.unique(X)) == {0, 1, 2, 3} and np.bincount(y).tolist() == [6667, 6667, 6666]
    assert_allclose((y[:, None] == X).mean(axis=0), 2 / 3, atol=0.02)  # half, and a third of the others
    assert_allclose(((y[:, None] + 1) % 4 == X).mean(axis=0), 1 / 6, atol=0.02)


def test_sequences_change_as_they_are_said_to():
    (X,) = kinds.count_regimes(45 * 400)
    for k, mean in enumerate([1, 8, 15]):
        assert_allclose(X.reshape(400, 3, 15)[:, k].mean(), mean, rtol=0.05)
    noisy, clean = kinds.regimes(3000, noise=0.7)[0], kinds.regimes(3000, noise=0.0)[0]
    assert (noisy - clean).std() == pytest.approx(0.7, abs=0.03)
    (X,) = kinds.trial_regimes(90)
    assert X.shape == (90, 4)
    steps = np.diff(kinds.walk(MANY)[0], axis=0)
    assert_allclose(steps.var(axis=0), 1 + 2 * 0.25, atol=0.08)
    assert_allclose((steps[1:] * steps[:-1]).mean(axis=0), -0.25, atol=0.05)
    (rolls,) = kinds.casino(50)
    assert rolls.shape == (50, 1)
    for readings, moves in kinds.journeys(20)[0]:
        assert len(readings) == 6 and len(moves) == 5 and set(readings) | set(moves) <= {0, 1}
    X, y = kinds.labeled_sequences(2000)
    assert y.tolist() == [0, 1] * 1000 and {x.shape for x in X} == {(8, 2)}
    assert_allclose(np.mean(X[::2]), 0, atol=0.03)
    assert_allclose(np.mean(X[1::2]), 2, atol=0.03)
    (X,) = kinds.songs(2400)
    assert [len(x) for x in X[:5]] == [5, 6, 7, 8, 5] and {x.shape[1] for x in X} == {2}
    for k in range(3):
        assert np.concatenate(X[k::3]).mean() == pytest.approx(3 * k, abs=0.05)
    (X,) = kinds.letters(2000)
    assert {"".join(x) for x in X} == {"abcabcabc", "cabcabcab"}
    assert np.mean([x[0] == "a" for x in X]) == pytest.approx(0.5, abs=0.05)
    _, tags = kinds.tagged_sentences(2000)
    assert {"".join(one) for one in tags} == {"DNVN", "NVDN"}
    assert np.mean([one[0] == "D" for one in tags]) == pytest.approx(0.5, abs=0.05)
    noisy, clean = kinds.bars(900, noise=0.2)[0], kinds.bars(900, noise=0.0)[0]
    assert (noisy - clean).std() == pytest.approx(0.2, abs=0.01) and np.bincount(
        kinds.bars(90)[1]
    ).tolist() == [30] * 3
    images, labels = kinds.faces(20)
    assert images.shape == (20, 12, 12) and set(labels) == {0, 1}


def test_players_baskets_and_worlds_are_what_they_are_said_to_be():
    pairs, stars = kinds.ratings(3000)
    assert stars.shape == (3000,) and pairs[:, 0].max() < 3000 // 6 + 2
    assert np.median(stars) == pytest.approx(3, abs=0.5) and 0.7 < stars.std() < 1.6
    (games,) = kinds.games(12_000)
    points = {f"team {k}": [] for k in range(6)}
    for home, away, one, other in games:
        points[home].append(one)
        points[away].append(other)
    for k, name in enumerate(points):
        assert np.mean(points[name]) == pytest.approx(20 + k, abs=0.4)
    (baskets,) = kinds.baskets(500)
    assert {len(b) for b in baskets} == {1, 2, 3, 4} and all(len(set(b)) == len(b) for b in baskets)
    (factors,) = kinds.ring_of_factors(6)
    single = np.array([f.table for f in factors[6:]])
    assert single.shape == (6, 2) and 0.5 <= single.min() < single.max() <= 1.5
    assert [f.variables for f in factors[6:]] == [(f"v{i}",) for i in range(6)]
    (grid,), (cliff,) = kinds.small_grid(slip=0.2, living_reward=-0.5), kinds.cliff(slip=0.1)
    assert dict(grid.terminals) == {(0, 3): 1.0, (1, 3): -1.0} and list(grid.walls) == [(1, 1)]
    assert dict(cliff.terminals) == {(3, 7): 10.0, **{(3, j): -10.0 for j in range(1, 7)}}
    for world, living, slip, start in ((grid, -0.5, 0.2, (2, 0)), (cliff, -0.2, 0.1, (3, 0))):
        said = world._settings
        assert (said["living_reward"], said["slip_probability"], said["start"]) == (living, slip, start)
        assert said["move_probability"] == pytest.approx(1 - 2 * slip)
