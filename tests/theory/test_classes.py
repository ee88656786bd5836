"""Concept classes: counts of the courses, twins by brute force, shattering with certificates."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.errors import DataError, DegenerateError
from gnomon.datasets import load_lesson
from gnomon.theory import (
    Conjunctions,
    Discs,
    FiniteTable,
    HalfSpaces,
    Intervals,
    RectangleLearner,
    Rectangles,
    SignPolynomials,
    Sine,
    Thresholds,
    sauer_bound,
)

SQUARE = [[0, 0], [1, 0], [0, 1], [1, 1]]
LINE = {
    "thresholds": Thresholds(),
    "rays": Thresholds(True),
    "intervals": Intervals(2),
    "cubics": SignPolynomials(3),
}
PLANE = {
    "boxes": Rectangles(2),
    "half-planes": HalfSpaces(2),
    "through the origin": HalfSpaces(2, through_origin=True),
    "discs": Discs(),
    "discs and outsides": Discs(two_sided=True),
    "centered discs": Discs(centered=True),
    "centered, both sides": Discs(two_sided=True, centered=True),
}
ALL = LINE | PLANE


def points(name, m, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 1 if name in LINE else 2))


def test_half_planes():
    plane = HalfSpaces(2)
    assert [plane.growth(m) for m in range(1, 8)] == [2, 4, 8, 14, 22, 32, 44]
    assert [plane.n_dichotomies(points("x", m)) for m in range(1, 8)] == [2, 4, 8, 14, 22, 32, 44]
    assert plane.n_dichotomies([[0, 0], [1, 1], [2, 2]]) == 6
    assert plane.n_dichotomies(SQUARE) == 14
    assert plane.n_dichotomies([[0, 0], [4, 0], [0, 4], [1, 1]]) == 14


def test_half_spaces_in_space():
    rng = np.random.default_rng(0)
    assert HalfSpaces(3).n_dichotomies(rng.normal(size=(4, 3))) == 16
    assert HalfSpaces(3).n_dichotomies(rng.normal(size=(5, 3))) == 30


def test_boxes():
    boxes = Rectangles(2)
    assert boxes.n_dichotomies([[0, 1], [1, 0], [0, -1], [-1, 0]]) == 16
    assert boxes.n_dichotomies(SQUARE) == 10
    assert boxes.n_dichotomies([[0, 0], [1, 1], [2, 2], [3, 3]]) == 11
    assert [boxes.growth(m) for m in range(1, 6)] == [2, 4, 8, 16, 28]
    assert Rectangles(3).growth(7) is None and Rectangles(1).growth(5) == 16


def test_unions_of_two_intervals():
    assert [Intervals(2).n_dichotomies(np.arange(m)) for m in range(1, 7)] == [2, 4, 8, 16, 31, 57]
    assert [Intervals(2).growth(m) for m in range(1, 7)] == [2, 4, 8, 16, 31, 57]


def test_any_union_of_intervals_shatters_everything():
    free = Intervals(None)
    assert free.vc_dimension == np.inf and all(free.shatters(np.arange(m)) for m in range(1, 9))
    with pytest.raises(DegenerateError, match="promises nothing"):
        free.pac_report(1000)


def test_concept_table_of_the_course():
    table = FiniteTable(load_lesson("concepts")["table"])
    assert all(table.shatters(chosen) for chosen in ([0], [0, 2], [0, 1]))
    assert table.n_dichotomies([1, 2]) == 2 and table.n_dichotomies([0, 1, 2]) == 4
    assert table.vc_dimension == 2 and table.size() == 4
    assert table.obstruction([1, 2]) == "no rule gives the labels 01"


def test_sine_shatters_six_points():
    sine, x = Sine(), 10.0 ** -np.arange(1, 7)
    labelings = list(product([0, 1], repeat=6))
    assert all((sine.predict(sine.realize(x, y), x) == y).all() for y in labelings)
    assert sine.shatters(x) and sine.vc_dimension == np.inf
    with pytest.raises(DataError, match="known for the points"):
        sine.dichotomies([1.0, 2.0, 3.0, 4.0, 5.0])


def test_the_ends_of_the_points_that_sines_label():
    sine, x = Sine(), 10.0 ** -np.arange(1, 9)
    for labels in np.random.default_rng(0).integers(0, 2, (20, 8)):
        assert sine.predict(sine.realize(x, labels), x).tolist() == labels.tolist()
    for points in ([1.0], [1e-9], [0.0, 0.1], [-0.1], [0.2], [0.1, 0.011]):
        with pytest.raises(DataError, match="known for the points 0.1"):
            sine.dichotomies(points)


def test_discs():
    three, four = points("x", 3), points("x", 4)
    assert Discs().shatters(three) and Discs().vc_dimension == 3
    assert max(Discs().n_dichotomies(points("x", 4, seed)) for seed in range(20)) <= 15
    assert Discs(two_sided=True).n_dichotomies(four) == 16
    assert Discs(two_sided=True).n_dichotomies(SQUARE) == 14  # on one circle


def test_origin_discs_are_thresholds_on_the_norm():
    X = points("x", 6)
    norms = np.linalg.norm(X, axis=1)
    assert Discs(centered=True).n_dichotomies(X) == 7
    inside = {tuple(row) for row in Discs(centered=True).dichotomies(X).tolist()}
    assert inside == {tuple((norms <= r).astype(int)) for r in [-1.0, *norms]}


def test_sign_polynomials_are_half_spaces_of_powers():
    x = np.array([-2.0, -1.0, 0.5, 1.0, 3.0])
    for degree in (0, 1, 2, 3):
        powers = np.column_stack([x**k for k in range(1, degree + 1)]) if degree else np.zeros((5, 1))
        twin = HalfSpaces(max(degree, 1)).dichotomies(powers)
        np.testing.assert_array_equal(SignPolynomials(degree).dichotomies(x), twin)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_conjunctions_have_dimension_n(n):
    cube = list(product([0, 1], repeat=n))
    found = Conjunctions(n).vc_search(cube)
    assert found.dimension == n and found.complete and Conjunctions(n).size() == 3**n
    assert Conjunctions(n).shatters(np.array(cube)[found.shattered])


def test_finite_classes_have_at_most_log_of_their_size():
    rng = np.random.default_rng(0)
    for size in (1, 2, 7, 16, 40):
        assert FiniteTable(rng.integers(0, 2, (size, 9))).vc_dimension <= np.log2(size)


@pytest.mark.parametrize("name", ALL)
def test_every_labeling_is_realized_or_missing(name):
    concepts, X = ALL[name], points(name, 5)
    there, missing = concepts.dichotomies(X), concepts.missing_dichotomies(X)
    assert len(there) + len(missing) == 32
    for labels in there:
        np.testing.assert_array_equal(concepts.predict(concepts.realize(X, labels), X), labels)
    assert all(concepts.realize(X, labels) is None for labels in missing)
    growth = concepts.growth(5)
    assert growth is None or len(there) <= growth <= sauer_bound(concepts.vc_dimension, 5)


@pytest.mark.parametrize("name", ALL)
def test_shattered_example_and_no_larger_one(name):
    concepts = ALL[name]
    example = concepts.shattered_example()
    assert len(example) == concepts.vc_dimension and concepts.shatters(example)
    for seed in range(4):
        X = points(name, int(concepts.vc_dimension) + 2, seed)
        found = concepts.vc_search(X)
        assert found.complete and found.dimension <= concepts.vc_dimension
        assert len(concepts.dichotomies(X[found.shattered])) == 2**found.dimension


def brute_half_planes(X):
    """Labelings by lines, from a linear program each."""
    from scipy.optimize import linprog

    lifted = np.column_stack([X, np.ones(len(X))])
    found = []
    for labels in product([0, 1], repeat=len(X)):
        sign = np.where(labels, 1, -1)[:, None]
        if (
            linprog(np.zeros(3), A_ub=-sign * lifted, b_ub=-np.ones(len(X)), bounds=[(None, None)] * 3).status
            == 0
        ):
            found.append(labels)
    return np.array(found)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=5, unique=True))
def test_half_planes_of_special_positions_by_brute_force(X):
    X = np.array(X, dtype=float)
    np.testing.assert_array_equal(HalfSpaces(2).dichotomies(X), brute_half_planes(X))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=6))
def test_boxes_by_brute_force(X):
    X = np.array(X, dtype=float)
    edges = np.arange(-1, 6) + 0.5
    found = {
        tuple(((a < X[:, 0]) & (X[:, 0] < b) & (c < X[:, 1]) & (X[:, 1] < d)).astype(int))
        for a in edges for b in edges for c in edges for d in edges
    }  # fmt: skip
    assert {tuple(row) for row in Rectangles(2).dichotomies(X).tolist()} == found


def test_vc_search_is_that_of_brute_force():
    rng = np.random.default_rng(1)
    for _ in range(10):
        table = np.unique(rng.integers(0, 2, (rng.integers(2, 30), 7)), axis=0)
        shattered = [
            k
            for k in range(8)
            if any(len(np.unique(table[:, list(c)], axis=0)) == 2**k for c in combinations(range(7), k))
        ]
        assert FiniteTable(table).vc_dimension == max(shattered)
    assert not FiniteTable(np.eye(4)).vc_search(range(4), max_size=0).complete


def test_supersets_of_what_is_not_shattered_are_not():
    assert not HalfSpaces(2).shatters(SQUARE)
    assert not any(HalfSpaces(2).shatters([*SQUARE, extra]) for extra in ([2, 3], [-1, 0.5]))


def test_repeated_points_are_never_shattered():
    assert not Rectangles(2).shatters([[1, 1], [1, 1]])
    assert "the same" in Rectangles(2).obstruction([[1, 1], [1, 1]])
    assert Rectangles(2).realize([[1, 1], [1, 1]], [0, 1]) is None
    assert HalfSpaces(2).n_dichotomies([[1, 1], [1, 1], [0, 0]]) == 4


@pytest.mark.parametrize("name", ["boxes", "half-planes", "intervals"])
def test_error_regions_are_as_rich_as_the_class(name):
    concepts, X = ALL[name], points(name, 6)
    for truth in concepts.dichotomies(X)[[0, 3, -1]]:
        regions = concepts.error_regions(X, truth)
        assert regions.size() == concepts.n_dichotomies(X)
        assert regions.vc_dimension == concepts.vc_search(X).dimension


def test_a_net_makes_every_consistent_rule_good():
    domain = np.arange(101) / 100
    truth = Intervals(1).predict([(0.3, 0.72)], domain)
    net = np.round(Intervals(1).epsilon_net(0.1) * 100).astype(int)
    assert len(Intervals(1).epsilon_net(0.1)) == 21
    regions = Intervals(1)
    assert regions.is_epsilon_net(net, domain, truth, 0.1)
    assert not regions.is_epsilon_net(net[:15], domain, truth, 0.1)
    for labels in regions.dichotomies(domain):
        if (labels[net] == truth[net]).all():
            assert np.mean(labels != truth) < 0.1


def test_bits_of_a_class():
    assert HalfSpaces(2).bits(SQUARE) == pytest.approx(np.log2(14))
    assert Thresholds().bits(np.arange(31)) == 5.0  # 31 labels told in five bits: that is what learning needs


def test_learning_by_enumeration():
    X, y = np.arange(1.0, 6.0), np.array([0, 1, 0, 1, 1])
    found = Thresholds().learn(X, y)
    assert found.training_error == pytest.approx(0.2) and found.n_consistent == 0
    assert found.predict([3.9, 4.0]).tolist() == [0, 1]
    with pytest.raises(DataError, match="no rule of Thresholds"):
        Thresholds().learn(X, y, consistent=True)
    right = Intervals(2).learn(X, y, consistent=True)
    assert right.training_error == 0 and right.predict(X).tolist() == y.tolist()
    with pytest.raises(DataError, match="zeros and ones"):
        Thresholds().learn(X, [1, 2, 3, 4, 5])


def test_best_error_in_the_class_on_a_finite_domain():
    domain, p = np.arange(4.0), [0.4, 0.3, 0.2, 0.1]
    best = Thresholds().learn(domain, [1, 0, 1, 1], sample_weight=p)
    assert best.training_error == pytest.approx(0.3)
    assert best.true_error(lambda x: np.array([1, 0, 1, 1]), (domain, p)) == pytest.approx(0.3)


def test_true_error_of_drawn_points():
    rule = Thresholds().learn([0.2, 0.4, 0.5, 0.7], [0, 0, 1, 1])
    found = rule.true_error(lambda x: x > 0.3, lambda rng, n: rng.random(n), random_state=0)
    assert found == pytest.approx(0.2, abs=0.0064)  # five standard errors of 100,000 points
    again = rule.true_error(
        RectangleLearner().fit([[0.3], [1.0], [0.0]], [1, 1, 0]), ([[0.4], [0.1]], [1, 3])
    )
    assert again == 0.25  # models and weights that are not yet probabilities


def test_an_adversary_needs_a_class_that_shatters_twice_the_rows():
    assert Intervals(3).adversary(3, n_trials=2, random_state=0).expected == pytest.approx(0.5 * (5 / 6) ** 3)
    with pytest.raises(DataError, match="at most 6 points"):
        Intervals(3).adversary(4)
    with pytest.raises(DataError, match="m must be at least 1"):
        Intervals(3).adversary(0)


def test_minimizing_the_training_error_comes_close_to_the_best():
    rng, gaps = np.random.default_rng(0), {}
    for n in (20, 80, 320):
        excess = []
        for _ in range(60):
            x = rng.random(n)
            y = ((x > 0.4) ^ (rng.random(n) < 0.1)).astype(int)
            threshold = Thresholds().learn(x, y).parameters[0]
            excess.append(0.8 * min(abs(np.clip(threshold, 0, 1) - 0.4), 1))
        gaps[n] = np.mean(excess)
    assert gaps[20] > gaps[80] > gaps[320]
    assert all(gaps[n] < np.sqrt(np.log(n) / n) for n in gaps)  # the guide √(d ln n / n)


def test_pac_reports():
    finite = Conjunctions(3).pac_report(100)
    assert finite["consistent"].value == pytest.approx(1 - (0.05 / 27) ** 0.01)
    assert finite["best rule"].value == pytest.approx(2 * finite["every rule"].value)
    infinite = HalfSpaces(2).pac_report(1000)
    assert infinite["consistent"].value < infinite["every rule"].value
    assert "independently from one fixed distribution" in infinite["every rule"].statement


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: HalfSpaces(2).dichotomies([[1.0], [2.0]]), "2 coordinates"),
        (lambda: Intervals(None).dichotomies(np.arange(30)), "2\\^30"),
        (lambda: Thresholds().missing_dichotomies(np.arange(30)), "2\\^30"),
        (lambda: Rectangles(0), "dim"),
        (lambda: Conjunctions(20), "between 1 and 10"),
        (lambda: Conjunctions(2).dichotomies([[0.5, 1.0]]), "zeros and ones"),
        (lambda: FiniteTable([[2, 1]]), "zeros and ones"),
        (lambda: FiniteTable([[0, 1]]).dichotomies([4]), "column numbers"),
        (lambda: Thresholds().dichotomies([np.nan]), "finite"),
        (lambda: Intervals(0), "k must be"),
        (lambda: Thresholds().realize([1.0], [2]), "zeros and ones"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_boxes_are_counted_up_to_seven_points(monkeypatch):
    assert Rectangles(2).growth(8) is None and Rectangles(3).growth(7) is None
    monkeypatch.setattr(Rectangles, "_closed", lambda self, points: [0] * len(points))
    assert Rectangles(2).growth(7) == 7  # all orders are looked at


def test_rays_to_both_sides_by_hand():
    rays = Thresholds(True)
    assert rays.realize([1, 2, 3], [1, 1, 0]) == (2.0, -1) and rays.realize([1, 2, 3], [0, 1, 1]) == (2.0, 1)
    assert rays.predict((2.0, -1), [1.9, 2.0, 2.1]).tolist() == [1, 1, 0]
    assert rays.predict((2.0, 1), [1.9, 2.0, 2.1]).tolist() == [0, 1, 1]
    assert rays.realize([1, 2, 3], [1, 0, 1]) is None and Thresholds().realize([1, 2], [1, 0]) is None
    nothing = Thresholds().realize([1, 2], [0, 0])
    assert Thresholds().predict(nothing, [-1e9, 1e9]).tolist() == [0, 0]
    assert [rays.growth(m) for m in range(4)] == [1, 2, 4, 6]
    assert [Thresholds().growth(m) for m in range(4)] == [1, 2, 3, 4]


def test_intervals_are_closed_and_nets_are_dense():
    assert Intervals(1).predict([(1, 2)], [0.9, 1, 2, 2.1]).tolist() == [0, 1, 1, 0]
    assert Intervals(2).predict([(1, 2), (4, 5)], [3, 4.5]).tolist() == [0, 1]
    assert Intervals(2).realize([1, 2, 3, 4], [1, 1, 0, 1]) == [(1.0, 2.0), (4.0, 4.0)]
    assert Intervals(1).epsilon_net(1.0).tolist() == [0.0, 0.5, 1.0]
    net = Intervals(1).epsilon_net(0.3)
    assert net == pytest.approx([0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.0])
    for epsilon in (0.0, 1.1):
        with pytest.raises(DataError, match="between 0 and 1"):
            Intervals(1).epsilon_net(epsilon)
    with pytest.raises(DataError, match="no largest shattered set"):
        Intervals(None).shattered_example()


def test_a_polynomial_is_not_positive_at_its_roots():
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    parabola = (x - 1) * (x - 3)
    for side in (1, -1):
        labels = SignPolynomials(2).predict(([1.0, 3.0], side), x)
        assert labels.tolist() == (side * parabola > 0).astype(int).tolist()
    assert SignPolynomials(0).predict(([], 1), x).tolist() == [1] * 5
    assert SignPolynomials(0).predict(([], -1), x).tolist() == [0] * 5
    roots, side = SignPolynomials(2).realize(x, [1, 1, 0, 0, 1])
    assert roots == [1.5, 3.5] and side == 1
    assert SignPolynomials(2).realize(x, [1, 0, 1, 0, 1]) is None
    with pytest.raises(DataError, match="not be negative"):
        SignPolynomials(-1)


def test_conjunctions_by_hand():
    square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    two = Conjunctions(2)
    assert two.realize(square, [0, 0, 0, 1]).tolist() == [1, 1]
    assert two.realize(square, [1, 1, 0, 0]).tolist() == [-1, 0]
    assert two.realize(square, [0, 1, 1, 0]) is None
    rows = [[1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0]]
    assert Conjunctions(3).predict([1, 0, -1], rows).tolist() == [1, 0, 0, 1]
    # of three corners every set but the pair across; of four the whole, four sides and four corners
    assert [two.growth(m) for m in range(6)] == [1, 2, 4, 7, 9, None]
    assert Conjunctions(4).growth(4) == 16 and Conjunctions(4).growth(5) is None
    assert Conjunctions(3).growth(8) == 27 and Sine().growth(5) == 32
    for n in (1, 3):
        assert Conjunctions(n).shatters(Conjunctions(n).shattered_example())
        assert len(Conjunctions(n).shattered_example()) == n
    with pytest.raises(DataError, match="between 1 and 10"):
        Conjunctions(0)
    assert Conjunctions(10).size() == 59049


def test_of_equally_good_rules_the_first():
    found = Thresholds().learn([1, 2], [1, 0])  # 00 and 11 are both wrong once
    assert found.training_error == 0.5 and found.predict([1, 2]).tolist() == [0, 0]
    assert found.n_consistent == 0
    weighed = Thresholds().learn([1, 2, 3], [0, 1, 0], sample_weight=[1, 1, 0], consistent=True)
    assert weighed.training_error == 0 and weighed.parameters == (2.0, 1) and weighed.n_consistent == 1


def test_nets_hit_what_is_as_heavy_as_epsilon():
    """Rules that differ from nothing: {3}, {2, 3}, {1, 2, 3} and all of four points."""
    rays, domain, nothing = Thresholds(), np.arange(4.0), [0, 0, 0, 0]
    assert rays.is_epsilon_net([3], domain, nothing, 0.25)
    assert not rays.is_epsilon_net([2], domain, nothing, 0.25)
    assert rays.is_epsilon_net([2], domain, nothing, 0.26)
    assert rays.is_epsilon_net([2], domain, nothing, 1 / 3, weights=[1, 1, 1, 0])
    assert not rays.is_epsilon_net([1], domain, nothing, 1 / 3, weights=[1, 1, 1, 0])
    assert not rays.is_epsilon_net([2], domain, nothing, 0.7, weights=[1, 1, 1, 7])
    with pytest.raises(DataError, match="epsilon must be positive"):
        rays.is_epsilon_net([2], domain, nothing, 0.0)


def test_a_search_that_stops_early_says_so():
    x = np.arange(5.0)  # intervals shatter two points, not three
    for size, dimension, complete in ((1, 1, False), (2, 2, False), (3, 2, True), (5, 2, True)):
        found = Intervals(1).vc_search(x, max_size=size)
        assert (found.dimension, found.complete) == (dimension, complete)
        assert Intervals(1).shatters(x[found.shattered])


def test_tables_by_hand():
    table = FiniteTable([[1, 0], [0, 1], [0, 1]])
    assert table.size() == 2 and repr(table) == "FiniteTable(2 concepts on 2 points)"
    assert table.predict(0, [0, 1]).tolist() == [0, 1] and table.predict(1, [1, 0, 0]).tolist() == [0, 1, 1]
    assert table.realize([1, 0], [0, 1]) == 1 and table.realize([0, 1], [1, 1]) is None
    assert table.shatters([1]) and not table.shatters([1, 1]) and not table.shatters([0, 1])
    assert len(table.shattered_example()) == 1 and table.shatters(table.shattered_example())
    for columns in ([-1], [2]):
        with pytest.raises(DataError, match="from 0 to 1"):
            table.dichotomies(columns)
    for wrong in ([], [[]], [0, 1], [[0.0, 2.0]]):
        with pytest.raises(DataError, match="zeros and ones"):
            FiniteTable(wrong)


def test_classes_tell_their_names_and_what_is_missing():
    assert repr(HalfSpaces(2, True)) == "HalfSpaces(dim=2, through_origin=True)"
    assert repr(Intervals(None)) == "Intervals(k=None)" and repr(Sine()) == "Sine()"
    assert Thresholds().missing_dichotomies([2, 1]).tolist() == [[0, 1]]
    assert Thresholds().obstruction([2, 1]) == "no rule gives the labels 01"
    assert Thresholds().obstruction([2]) == "" and len(Thresholds().missing_dichotomies([2])) == 0
    for X in ([], np.zeros((2, 1, 1)), [np.inf]):
        with pytest.raises(DataError, match="finite numbers"):
            Thresholds().dichotomies(X)


def test_regions_of_no_points_and_of_the_origin():
    assert [c.growth(0) for c in (HalfSpaces(2), Discs(two_sided=True), Discs(centered=True))] == [1, 1, 1]
    assert Discs(centered=True, two_sided=True).growth(0) == 1
    assert [Discs(centered=True, two_sided=True).growth(m) for m in (1, 2, 3)] == [2, 4, 6]
    assert [Discs().growth(m) for m in (3, 4)] == [8, None]
    assert [HalfSpaces(2, True).growth(m) for m in (1, 2, 3)] == [2, 4, 6]
    origin = HalfSpaces(2, through_origin=True)
    X = [[0, 0], [1, 0], [0, 1]]
    assert origin.realize(X, [1, 1, 1]) is None  # the origin is on every line
    w, b = origin.realize(X, [0, 1, 0])
    assert b == 0 and origin.predict((w, b), X).tolist() == [0, 1, 0]
    assert HalfSpaces(2).predict(([1.0, 0.0], -1.0), [[1, 0], [1.1, 0], [0.9, 5]]).tolist() == [0, 1, 0]
    disc = Discs().realize([[0, 0], [1, 0], [3, 0]], [0, 1, 0])
    assert Discs().predict(disc, [[0, 0], [1, 0], [3, 0], [1e6, 0], [0, -1e6]]).tolist() == [0, 1, 0, 0, 0]
