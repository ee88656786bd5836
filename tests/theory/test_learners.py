"""Boxes, conjunctions, margins and nested models; experiments that the theorems survive."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.errors import DataError
from gnomon.theory import (
    ConjunctionLearner,
    HalfSpaces,
    Intervals,
    RectangleLearner,
    Rectangles,
    Thresholds,
    finite_class_bound,
    structural_risk,
    svm_capacity,
    vc_bound,
)
from gnomon.theory.capacity import margin_capacity

near = pytest.approx
ANYTHING = Intervals(k=None)  # shatters every set of points of the line


def test_boxes_by_hand():
    X = np.array([[0.0, 0.0], [1, 2], [2, 1], [4, 1], [1, 5], [9, 9]])
    y = np.array([0, 1, 1, 0, 0, 0])
    tight, loose, mid = (RectangleLearner(strategy=s).fit(X, y) for s in ("tightest", "loosest", "midway"))
    assert tight.lower_.tolist() == [1, 1] and tight.upper_.tolist() == [2, 2]
    # lower 0: no negative lies level with the box on the left: the end of the data; upper 0: up to (4, 1)
    assert loose.lower_.tolist() == [0, 0] and loose.upper_.tolist() == [4, 5]
    assert mid.lower_.tolist() == [0.5, 0.5] and mid.upper_.tolist() == [3, 3.5]
    for model in (tight, loose, mid):
        assert model.training_error_ == 0 and (model.predict(X) == y).all()
    assert loose.predict([[3.999, 1.0], [4.0, 1.0]]).tolist() == [
        1,
        0,
    ]  # up to the negative row, not including it


def test_no_positive_row_gives_the_empty_box():
    model = RectangleLearner().fit([[1.0, 1.0], [2.0, 2.0]], [0, 1], sample_weight=[1, 0])
    assert model.empty_ and model.predict([[2.0, 2.0]]).tolist() == [0]


def test_a_negative_inside_is_told():
    with pytest.warns(UserWarning, match="0.333 of the rows"):
        model = RectangleLearner().fit([[0.0], [1.0], [2.0]], [1, 0, 1])
    assert model.training_error_ == near(1 / 3)
    with pytest.raises(DataError, match="two classes"):
        RectangleLearner().fit([[0.0], [1.0]], [1, 1])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_the_tightest_box_errs_on_one_side_only(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    low, high = np.sort(rng.normal(size=(2, 2)), axis=0)
    truth = ((low <= X) & (high >= X)).all(axis=1)
    if truth.all() or not truth.any():
        return
    model = RectangleLearner().fit(X, truth)
    assert (model.lower_ >= low).all() and (model.upper_ <= high).all()
    new = rng.normal(size=(50, 2))
    inside = ((low <= new) & (high >= new)).all(axis=1)
    assert not (model.predict(new) & ~inside).any()
    order = rng.permutation(30)
    np.testing.assert_array_equal(RectangleLearner().fit(X[order], truth[order]).lower_, model.lower_)
    cubed = RectangleLearner().fit(X**3, truth)
    np.testing.assert_array_equal(cubed.lower_, model.lower_**3)


def test_rectangle_game():
    few = RectangleLearner.game(50, n_trials=4000, random_state=0)
    many = RectangleLearner.game(100, n_trials=4000, random_state=0)
    assert few.failure == near(0.212, abs=0.02) and few.bound == near(1.1279524)
    assert many.failure == near(0.006, abs=0.004) and many.failure <= many.bound
    again = RectangleLearner.game(50, n_trials=4000, random_state=0)
    assert again.errors.tobytes() == few.errors.tobytes()


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.normal(0.5, 0.3, (n, 2)),
        lambda rng, n: rng.beta(0.4, 0.4, (n, 2)),
        lambda rng, n: np.round(rng.random((n, 2)), 1),
    ],
)
def test_rectangle_bound_holds_for_other_distributions(draw):
    found = RectangleLearner.game(100, draw=draw, n_trials=300, random_state=1)
    assert found.failure <= found.bound + 3 * np.sqrt(found.bound / 300)


def test_finite_class_bound_holds_by_simulation():
    rng, n, delta = np.random.default_rng(0), 40, 0.1
    thresholds = np.linspace(0, 1, 21)
    realizable = finite_class_bound(n=n, delta=delta, size=21, realizable=True).value
    gap = finite_class_bound(n=n, delta=delta, size=21).value
    for draw in (rng.random, lambda n: rng.beta(0.3, 2, n), lambda n: rng.beta(5, 5, n)):
        domain = np.sort(draw(20_000))
        true = np.array([np.mean((domain >= t) != (domain >= 0.5)) for t in thresholds])
        failed = strayed = 0
        for _ in range(300):
            x = draw(n)
            errors = ((x[:, None] >= thresholds) != (x >= 0.5)[:, None]).mean(axis=0)
            failed += (true[errors == 0] > realizable).any()
            strayed += (np.abs(true - errors) > gap).any()
        assert failed <= delta * 300 and strayed <= delta * 300


def test_vc_bound_holds_by_simulation():
    rng, m, epsilon = np.random.default_rng(0), 150, 0.35
    bound = vc_bound(n=m, epsilon=epsilon, d=2, kind="double sampling", growth="phi").value
    assert bound < 0.2
    domain = np.arange(30) / 30
    regions = Intervals(1).error_regions(domain, Intervals(1).predict([(0.3, 0.6)], domain)).table
    for p in (np.ones(30), np.arange(1, 31), np.arange(1, 31) % 5 + 0.1):
        heavy = regions[regions @ (p / p.sum()) >= epsilon].astype(bool)
        bad = 0
        for _ in range(200):
            rows = rng.choice(30, m, p=p / p.sum())
            bad += (~heavy[:, rows].any(axis=1)).any()
        assert bad <= bound * 200


def test_elimination_by_hand():
    model = ConjunctionLearner(binarize=None).fit([[1, 0, 1], [1, 0, 0], [0, 0, 1]], [1, 1, 0])
    assert model.formula() == "x0 and not x1" and model.training_error_ == 0
    assert model.predict([[1, 0, 0], [1, 1, 0]]).tolist() == [1, 0]
    with pytest.raises(DataError, match="zeros and ones"):
        ConjunctionLearner(binarize=None).fit([[0.5, 1.0], [0.0, 1.0]], [0, 1])
    with pytest.warns(UserWarning, match="no conjunction"):
        empty = ConjunctionLearner().fit([[0, 1], [1, 0], [1, 1]], [1, 1, 0])
    assert empty.formula() == "true" and empty.training_error_ == near(1 / 3)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 7))
def test_conjunctions_make_few_mistakes_and_imply_the_truth(seed, n):
    rng = np.random.default_rng(seed)
    literals = rng.integers(-1, 2, n)
    X = rng.integers(0, 2, (60, n)).astype(float)
    y = (((literals != 1) | (X == 1)) & ((literals != -1) | (X == 0))).all(axis=1).astype(int)
    model = ConjunctionLearner()
    for row, label in zip(X, y):
        model.partial_fit(row[None], [label], classes=[0, 1])
    assert model.n_mistakes_ <= n + 1
    assert not (model.predict(X) & ~y.astype(bool)).any()  # never a false positive


@pytest.mark.parametrize("n", [1, 4, 9])
def test_an_adversary_forces_n_mistakes(n):
    X, y = ConjunctionLearner().adversarial_stream(n)
    mistakes = ConjunctionLearner().partial_fit(X, y, classes=[0, 1]).n_mistakes_
    assert n <= mistakes <= n + 1
    with pytest.raises(DataError, match="first call"):
        ConjunctionLearner().partial_fit(X, y)


def test_ball_partition():
    def chance(m, epsilon):
        return Thresholds().ghost_sample((6.0, 1), np.arange(20), m, epsilon, n_trials=1).partition

    assert chance(10, 0.6) == near(2 / 19) and chance(50, 0.2) == near(0.0281422472)
    for m in (1, 5, 20):
        assert all(chance(m, 2 * l / m) <= 0.5**l for l in range(1, m + 1))


def test_ghost_samples_catch_bad_rules():
    found = Thresholds().ghost_sample((6.0, 1), np.arange(20), 30, 0.1, n_trials=400, random_state=0)
    assert found.bad > 0 and found.caught_given_bad >= 0.5
    assert found.caught == near(found.swapped, abs=4 * np.sqrt(found.caught / 400))
    enough = Intervals(1).ghost_sample([(5, 12)], np.arange(20), 56, 0.1, n_trials=200, random_state=0)
    assert enough.bad <= 2 * enough.caught + 4 * np.sqrt(enough.bad / 200) and enough.caught <= enough.bound
    with pytest.raises(DataError, match="epsilon"):
        Thresholds().ghost_sample((6.0, 1), np.arange(20), 30, 0.0)


def test_no_learner_beats_coins():
    expected = [ANYTHING.adversary(m, n_trials=2, random_state=0).expected for m in (1, 10, 100)]
    assert expected == near([0.25, 0.2993684696, 0.3028852182])
    from sklearn.neighbors import KNeighborsClassifier

    for learner in (None, KNeighborsClassifier(1)):
        found = ANYTHING.adversary(10, learner, n_trials=200, random_state=0)
        assert found.error == near(found.expected, abs=4 * found.standard_error) and found.error >= 0.25
    from sklearn.dummy import DummyClassifier

    with pytest.raises(DataError, match="consistent"):
        ANYTHING.adversary(10, DummyClassifier(), random_state=0)


def test_margin_capacity():
    assert margin_capacity(1.0, 0.5, 10) == 5 and margin_capacity(2.0, 0.1, 10) == 11


def test_capacity_falls_with_the_margin():
    from gnomon.linear import LinearSVC

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = X[:, 0] + 0.3 * rng.normal(size=80) > 0
    found = [svm_capacity(LinearSVC(C=C).fit(X, y), X, y) for C in (1e-3, 1e-1, 1.0)]
    assert found[0].margin > found[1].margin > found[2].margin
    assert found[0].capacity <= found[1].capacity <= found[2].capacity <= 7
    assert found[2].training_error <= found[0].training_error and not found[0].separates
    with pytest.raises(DataError, match="no weights"):
        svm_capacity(object(), X, y)


def test_structural_risk_digits():
    errors = [0.30, 0.18, 0.10, 0.09, 0.085, 0.084]
    found = structural_risk(errors, range(2, 8), n=500, split_delta=False)
    assert found.bounds == near([0.493965, 0.402753, 0.346852, 0.357857, 0.371629, 0.387694], abs=1e-6)
    assert found.best_index == 2 and found.rises == []
    assert (structural_risk(errors, range(2, 8), n=500).bounds > found.bounds).all()
    assert structural_risk([0.2, 0.3], [1, 2], n=50).rises == [1]
    for bad, message in (
        (lambda: structural_risk([0.1], [1], n=5), "two models"),
        (lambda: structural_risk([0.1, 0.1], [2, 1], n=5), "fall"),
        (lambda: structural_risk([0.1, 0.1], [1, 2]), "n must be given"),
    ):
        with pytest.raises(DataError, match=message):
            bad()


def test_structural_risk_fits_models():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    from gnomon.linear import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (3000, 1))
    y = (x[:, 0] ** 2 > 1) ^ (rng.random(3000) < 0.05)
    models = [
        make_pipeline(PolynomialFeatures(k), LogisticRegression(C=100.0, max_iter=500)) for k in (1, 2, 3, 4)
    ]
    found = structural_risk(models, [2, 3, 4, 5], x, y)
    assert found.best_index == 1 and found.training_errors[1] < 0.1 < found.training_errors[0]
    assert found.best.score(x, y) == near(1 - found.training_errors[1])


def test_boxes_of_the_class_and_of_the_learner_agree():
    rng = np.random.default_rng(3)
    X = rng.random((12, 2))
    y = ((X > 0.3) & (X < 0.9)).all(axis=1).astype(int)
    found = Rectangles(2).learn(X, y, consistent=True)
    model = RectangleLearner().fit(X, y)
    np.testing.assert_array_equal(found.parameters[0], model.lower_)
    assert HalfSpaces(2).learn(X, y).training_error <= 0.5


def test_parting_the_rows_anew_changes_nothing():
    """With ten rows the first event is much more frequent than the second, and the second survives the swap."""
    found = Thresholds().ghost_sample((6.0, 1), np.arange(20), 10, 0.1, n_trials=1500, random_state=0)
    spread = np.sqrt(2 * 0.25 / 1500)
    assert found.bad - found.caught > 5 * spread and abs(found.swapped - found.caught) < 4 * spread
    assert found.caught_given_bad == near(found.caught / found.bad)


def test_capacity_in_the_space_of_a_kernel():
    """Rows of the Cholesky factor have the kernel for inner products: there the radius is one of plain points."""
    from gnomon.linear import LinearSVC
    from gnomon.svm import SVC

    X, y = np.array([[0.0], [1.0], [2.0], [3.5]]), np.array([0, 1, 0, 1])
    model = SVC(kernel="rbf", gamma=1.0, C=1e6, tol=1e-10).fit(X, y)
    Z = np.linalg.cholesky(np.exp(-((X - X.T) ** 2)))
    found = svm_capacity(model, X, y)
    assert found.radius == near(np.linalg.norm(Z - Z.mean(axis=0), axis=1).max())
    assert found.margin == near(float(model.margin_)) and found.separates and found.training_error == 0
    assert found.capacity == near((found.radius / found.margin) ** 2 + 1) and found.capacity > 2
    shifted = np.array([[8.0], [9.0], [11.0], [12.0]])
    linear = svm_capacity(LinearSVC(C=1e3, loss="hinge").fit(shifted, [0, 0, 1, 1]), shifted, [0, 0, 1, 0])
    assert linear.radius == near(2.0) and linear.training_error == 0.25 and not linear.separates
    three = SVC(kernel="rbf").fit(X, [0, 1, 2, 2])
    with pytest.raises(DataError, match="no margin"):
        svm_capacity(three, X, [0, 1, 2, 2])
    with pytest.raises(DataError, match="give two classes"):
        svm_capacity(LinearSVC().fit(X, [0, 1, 2, 2]), X, [0, 1, 2, 2])


def test_structural_risk_by_hand():
    def gap(n, delta, d):
        return d * delta * n / 10

    found = structural_risk([0.3, 0.2, 0.2], [1, 1, 4], n=10, delta=0.3, gap=gap)
    assert found.penalties == near([0.1, 0.1, 0.4]) and found.bounds == near([0.4, 0.3, 0.6])
    assert found.best_index == 1 and found.best is None and found.rises == []
    whole = structural_risk([0.3, 0.2, 0.2], [1, 1, 4], n=10, delta=0.3, split_delta=False, gap=gap)
    assert whole.penalties == near([0.3, 0.3, 1.2])
    with pytest.raises(DataError, match="capacity each"):
        structural_risk([0.1, 0.2], [1], n=5)


def test_rows_of_weight_zero_are_not_there():
    X, y = [[0.0], [1.0], [2.0], [9.0]], [0, 1, 1, 1]
    model = RectangleLearner().fit(X, y, sample_weight=[1, 1, 2, 0])
    assert model.lower_.tolist() == [1.0] and model.upper_.tolist() == [2.0] and not model.empty_
    with pytest.warns(UserWarning, match="0.4 of the rows"):
        model = RectangleLearner().fit([[0.0], [1.0], [2.0]], [1, 0, 1], sample_weight=[1, 2, 2])
    assert model.training_error_ == near(0.4)
    bits = [[1, 0], [1, 1], [0, 1], [1, 1]]
    with pytest.warns(UserWarning, match="0.25 of the rows"):
        model = ConjunctionLearner().fit(bits, [1, 1, 0, 0], sample_weight=[1, 1, 1, 1])
    with pytest.warns(UserWarning, match="0.6 of the rows"):
        model = ConjunctionLearner().fit(bits, [1, 1, 0, 0], sample_weight=[1, 0.5, 0.5, 3])
    assert model.formula() == "x0" and model.training_error_ == near(0.6)
    model = ConjunctionLearner().fit(bits, [1, 1, 0, 0], sample_weight=[1, 0, 1, 0])
    assert model.formula() == "x0 and not x1" and model.training_error_ == 0


def test_loose_boxes_of_one_feature_by_hand():
    X, y = [[-4.0], [-1.0], [1.0], [2.0], [6.0], [7.0]], [0, 0, 1, 1, 0, 0]
    loose, mid = (RectangleLearner(strategy=s).fit(X, y) for s in ("loosest", "midway"))
    assert (loose.lower_[0], loose.upper_[0]) == (-1, 6) and not loose.closed_.any()
    assert (mid.lower_[0], mid.upper_[0]) == (0, 4) and not mid.closed_.any()
    assert loose.predict([[-1.0], [-0.9], [5.9], [6.0]]).tolist() == [0, 1, 1, 0]
    free = RectangleLearner(strategy="midway").fit([[1.0], [2.0], [6.0]], [1, 1, 0])
    assert (free.lower_[0], free.upper_[0]) == (1, 4) and free.closed_.tolist() == [[True], [False]]
    assert free.predict([[1.0], [0.9], [4.0], [3.9]]).tolist() == [1, 0, 0, 1]


def test_mistakes_are_counted_over_all_calls():
    """All literals at first: every row is called negative, so the first positive row is a mistake."""
    model = ConjunctionLearner(binarize=0.5)
    model.partial_fit([[0.9, 0.1], [0.2, 0.2]], ["yes", "no"], classes=["no", "yes"])
    assert model.n_mistakes_ == 1 and model.formula() == "x0 and not x1"
    model.partial_fit([[0.8, 0.7], [0.8, 0.7]], ["yes", "yes"])  # wrong, then right
    assert model.n_mistakes_ == 2 and model.formula() == "x0"
    model.partial_fit([[0.7, 0.0]], ["no"])
    assert model.n_mistakes_ == 3 and model.predict([[0.5, 1.0], [0.6, 1.0]]).tolist() == ["no", "yes"]
    fresh = ConjunctionLearner().partial_fit([[1, 0]], [0], classes=[0, 1])
    assert fresh.n_mistakes_ == 0 and fresh.formula() == "false"
    for classes in ([0], [0, 1, 2]):
        with pytest.raises(DataError, match="two labels"):
            ConjunctionLearner().partial_fit([[1, 0]], [0], classes=classes)
    with pytest.raises(DataError, match="n must be at least 1"):
        ConjunctionLearner().adversarial_stream(0)
    with pytest.raises(DataError, match="3 classes"):
        RectangleLearner().fit([[0.0], [1.0], [2.0]], [0, 1, 2])


def test_conjunctions_name_the_columns():
    import pandas as pd

    table = pd.DataFrame({"wet": [1, 1, 0], "cold": [0, 1, 1], "dark": [0, 0, 1]})
    assert ConjunctionLearner().fit(table, [1, 1, 0]).formula() == "wet and not dark"


def test_a_hidden_box_counts_inside_the_cube_alone():
    """One point falls; what it misses of a box that reaches over the cube is all of its part inside."""
    found = RectangleLearner.game(1, 0.4, lower=(-1.0, 0.5), upper=(0.5, 2.0), n_trials=5, random_state=0)
    assert found.errors == near([0.25] * 5) and found.failure == 0.0
    low, high = found.learned
    assert len(found.points) == 1 and (low.shape, high.shape) == ((2,), (2,))
    at = RectangleLearner.game(1, 0.25, lower=(0.0, 0.5), upper=(0.5, 1.0), n_trials=5, random_state=0)
    assert at.failure == 0.0  # an error of epsilon does not exceed it


def test_errors_on_drawn_points_by_hand():
    def draw(rng, size):
        return np.resize([[0.1], [0.3], [0.5], [0.7], [0.9]], (size, 1))

    game = RectangleLearner.game(
        3, 0.2, lower=[0.3], upper=[0.7], draw=draw, n_trials=2, n_test=10, random_state=0
    )
    assert game.errors == near([0.2, 0.2])  # 0.7 is missed, on a fifth of the points
    assert [float(corner[0]) for corner in game.learned] == [0.3, 0.5] and game.failure == 0.0
    one = RectangleLearner.game(
        1, 0.2, lower=[0.3], upper=[0.7], draw=draw, n_trials=1, n_test=10, random_state=0
    )
    assert one.errors == near([0.6]) and np.isinf(one.learned[0]).all() and one.failure == 1.0


def test_ghost_samples_of_one_bad_rule_by_hand():
    """Two points, and rules that are wrong on the second or nowhere: A is a first sample of first points alone."""
    from gnomon.theory import FiniteTable

    table = FiniteTable([[0, 0], [0, 1]])
    found = table.ghost_sample(0, [0, 1], 1, 0.5, n_trials=4000, random_state=0)
    assert found.bad == near(0.5, abs=0.04) and found.caught == near(0.25, abs=0.035)
    assert found.caught_given_bad == near(found.caught / found.bad)
    assert found.swapped == near(0.25, abs=0.035)
    assert found.partition == near(0.5)  # one error of two rows falls into the second half
    assert table.ghost_sample(0, [0, 1], 1, 0.51, n_trials=50, random_state=0).bad == 0.0
    assert np.isnan(table.ghost_sample(0, [0, 1], 1, 0.51, n_trials=50, random_state=0).caught_given_bad)
    for m, epsilon in ((0, 0.5), (1, 0.0)):
        with pytest.raises(DataError, match="epsilon must be positive and m at least 1"):
            table.ghost_sample(0, [0, 1], m, epsilon)


def test_an_adversary_of_one_row():
    found = ANYTHING.adversary(1, n_trials=2000, random_state=0)
    assert found.error == near(0.25, abs=0.03) and found.expected == 0.25
    # an error is 0 or ½ with equal chance: its deviation is ¼
    assert found.standard_error == near(0.25 / np.sqrt(2000), rel=0.01)
    with pytest.raises(DataError, match="n_trials at least 2"):
        ANYTHING.adversary(1, n_trials=1)
