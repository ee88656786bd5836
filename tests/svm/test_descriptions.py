"""What machines say of themselves: shares and tubes against their twins with prices, votes, reduced sets, files."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import gnomon
from gnomon.core.errors import DataError, ModelFileError
from gnomon.kernels import RBF, Polynomial
from gnomon.solvers.grouped_pairs import fill_up, group_level
from gnomon.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM, convex_hull
from gnomon.svm.certificates import point_types
from gnomon.svm.nu import largest_nu
from gnomon.svm.pairwise import votes, votes_and_confidence
from gnomon.svm.probabilities import best_temperature, left_out

IRIS, KIND = load_iris(return_X_y=True)


def cloud(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] ** 2 - 0.5 + 0.7 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("kind", ["crammer_singer", "weston_watkins"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_machine_of_all_classes_describes_itself(kind, classes):
    X, y = IRIS[KIND < classes][:, 1:3], KIND[KIND < classes]
    n, at = len(X), np.arange(len(X))
    w = np.where(at % 10 == 0, 0.0, 1.0 + at % 3)
    factor = np.array([1.0, 2.0, 1.0][:classes])
    model = SVC(kernel=RBF(1.0), multi_class=kind, C=0.5, class_weight=dict(enumerate(factor)), tol=1e-6).fit(
        X, y, sample_weight=w
    )
    used, dual = model.support_, model.dual_coef_
    assert (w[used] > 0).all() and (np.diff(y[used]) >= 0).all() and len(used) < (w > 0).sum()
    assert model.n_support_.tolist() == np.bincount(y[used]).tolist()
    assert model.support_fraction_ == len(used) / n and model.C_ == 0.5
    assert_allclose(model.support_vectors_, X[used])
    assert model.class_weight_.tolist() == factor.tolist() and not model.intercept_.any()
    K = RBF(1.0)(X[used])
    if classes == 2:  # the planes of the two classes are opposite; the decision is their difference
        assert dual.shape == (1, len(used)) and len(model.intercept_) == 1
        dual = np.concatenate([-dual, dual]) / 2.0
        f = RBF(1.0)(X, X[used]) @ dual.T
        assert_allclose(model.decision_function(X), f[:, 1] - f[:, 0])
    else:
        f = RBF(1.0)(X, X[used]) @ dual.T
        assert_allclose(model.decision_function(X), f)
        assert_allclose(dual.sum(axis=0), 0.0, atol=1e-12)
        assert model.predict(X).tolist() == f.argmax(axis=1).tolist()
    lead = 1.0 + f - f[at, y][:, None]
    lead[at, y] = 0.0
    loss = lead.max(axis=1) if kind == "crammer_singer" else np.maximum(lead, 0.0).sum(axis=1)
    price = 0.5 * w * factor[y]
    assert model.primal_ == pytest.approx(0.5 * np.trace(dual @ K @ dual.T) + price @ loss)
    assert model.gap_ == model.primal_ - model.dual_ and abs(model.gap_) < 1e-6 * model.primal_
    own = dual[y[used], np.arange(len(used))]
    most = price[used] * (1.0 if kind == "crammer_singer" else classes - 1.0)
    assert (own > -1e-12).all() and (own <= most * (1 + 1e-12)).all()
    assert model.n_pair_steps_.shape == (1,) and model.n_pair_steps_[0] > 1


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("nu", [0.23, 0.41])
def test_a_machine_of_shares_is_the_machine_of_one_price(kernel, nu):
    """The decision of `NuSVC` is that of `SVC` whose price is the largest multiplier by its weight."""
    X, y = cloud()
    if kernel == "linear":
        y = (X[:, 0] + 0.5 * X[:, 2] > 0).astype(int)
        X = X + 3.0  # the intercept of a linear kernel is shifted back
    w = 1.0 + np.arange(60) % 4
    model = NuSVC(nu=nu, kernel=kernel, gamma=0.3).fit(X, y, sample_weight=w)
    C = (model.dual_coef_full_ / w).max()
    twin = SVC(C=C, kernel=kernel, gamma=0.3, tol=1e-9).fit(X, y, sample_weight=w)
    assert_allclose(model.decision_function(X), twin.decision_function(X), atol=1e-6)
    assert_allclose(model.dual_coef_full_, twin.dual_coef_full_, atol=1e-5 * C)
    assert_allclose(model.slack_, twin.slack_, atol=1e-6)
    assert model.point_types_.tolist() == twin.point_types_.tolist()
    assert model.intercept_interval_ == (pytest.approx(model.intercept_[0]),) * 2 or kernel == "linear"
    # of the weight of all rows, ν is in multipliers: one half on each side
    for side in (0, 1):
        assert model.dual_coef_full_[y == side].sum() == pytest.approx(0.5 * nu * w.sum() * C)
    for name in ("primal_", "dual_", "gap_", "margin_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_found_tube_is_the_tube_of_its_width(kernel):
    X, _ = cloud()
    y, w = 4.0 + X[:, 0] + np.sin(2.0 * X[:, 1]), 1.0 + np.arange(60) % 4
    w[::7] = 0.0
    model = NuSVR(nu=0.37, C=0.6, kernel=kernel, gamma=0.3, tol=1e-9).fit(X + 2.0, y, sample_weight=w)
    twin = SVR(C=0.6, epsilon=model.epsilon_, kernel=kernel, gamma=0.3, tol=1e-9).fit(
        X + 2.0, y, sample_weight=w
    )
    assert model.epsilon_ > 0.05
    assert_allclose(model.predict(X + 2.0), twin.predict(X + 2.0), atol=1e-6)
    full = np.zeros((2, 60))
    for one, machine in zip(full, (model, twin), strict=True):
        one[machine.support_] = machine.dual_coef_[0]
    if kernel == "rbf":  # with as few columns as a line has, multipliers are not unique
        assert_allclose(*full, atol=1e-5)
    assert_allclose(model.intercept_, twin.intercept_, atol=1e-5)
    assert np.abs(model.dual_coef_).sum() == pytest.approx(0.37 * 0.6 * w.sum())
    outside = w[np.abs(y - model.predict(X + 2.0)) > model.epsilon_ + 1e-6].sum()
    assert outside <= 0.37 * w.sum() <= w[model.support_].sum()
    assert model.n_support_.tolist() == [len(model.support_)] and not (w[model.support_] == 0).any()


def test_one_class_counts_weights_as_rows():
    X, _ = cloud(40, 2)
    w = 1.0 + np.arange(40) % 3
    model = OneClassSVM(nu=0.33, gamma=0.5, tol=1e-9).fit(X, sample_weight=w)
    twice = OneClassSVM(nu=0.33, gamma=0.5, tol=1e-9).fit(np.repeat(X, w.astype(int), axis=0))
    assert_allclose(model.decision_function(X), twice.decision_function(X), atol=1e-6)
    dual = model.dual_coef_[0]
    assert dual.sum() == pytest.approx(0.33 * w.sum()) and (dual <= w[model.support_] + 1e-12).all()
    assert_allclose(model.score_samples(X), RBF(1.0)(X, X[model.support_]) @ dual)
    assert model.offset_ == -model.intercept_[0] and model.n_support_.tolist() == [len(dual)]
    free = (dual < w[model.support_] - 1e-9) & (dual > 1e-9)
    assert free.any()  # on the boundary, and inside it up to rounding
    assert_allclose(model.decision_function(X)[model.support_[free]], 0.0, atol=1e-6)
    assert (model.predict(X)[model.support_[free]] == 1).all()
    heavy = OneClassSVM(nu=0.33, gamma=0.5, tol=1e-9).fit(X, sample_weight=3.0 * w)
    assert_allclose(heavy.dual_coef_, 3.0 * model.dual_coef_, atol=1e-7)
    assert_allclose(heavy.intercept_, 3.0 * model.intercept_, rtol=1e-6)


def test_shares_are_filled_up_from_the_first():
    assert fill_up(2.5, np.ones(4)).tolist() == [1.0, 1.0, 0.5, 0.0]
    assert fill_up(3.0, np.array([0.5, 2.0, 4.0])).tolist() == [0.5, 2.0, 0.5]
    weight, sign = np.array([1.0, 2.0, 1.0, 4.0]), np.array([1.0, -1.0, 1.0, -1.0])
    assert largest_nu(weight, sign) == largest_nu(weight, -sign) == 0.5  # twice 2 of 8


@pytest.mark.parametrize(
    ("beta", "level"),
    [
        ([0.0, 0.4, 1.0, 0.3, 0.5], 2.5),  # the second and the fourth are free: (2 + 3) / 2
        ([0.0, 0.0, 1.0, 1.0, 0.5], 2.5),  # between what may grow (1, 2) and what may shrink (5, 3)
        ([0.0, 1e-11, 1.0, 1.0 - 1e-11, 0.5], 2.5),  # a hair from a bound is at it
        ([0.0, 0.0, 0.0, 0.0, 0.5], 5.0),  # nothing may shrink: the largest
        ([1.0, 1.0, 1.0, 1.0, 0.5], 1.0),  # nothing may grow: the smallest
    ],
)
def test_the_level_of_a_group_is_that_of_its_free_variables(beta, level):
    R, mine = np.array([1.0, 2.0, 5.0, 3.0, 100.0]), np.array([True, True, True, True, False])
    assert group_level(np.array(beta), R, np.zeros(5), np.ones(5), mine) == level
    assert group_level(np.array(beta), R, np.zeros(5), np.ones(5), np.zeros(5, dtype=bool)) == 0.0


@pytest.mark.parametrize("light", [0, 1])
def test_a_class_that_may_err_as_a_whole_lies_on_the_other_side(light):
    """All rows are on the side of the heavy class, by a hundredth of what decisions range over."""
    X, y = cloud(40)[0], np.repeat([1 - light, light], [30, 10])
    with pytest.warns(UserWarning, match="the largest there is an answer for"):
        model = NuSVC(nu=0.5, class_weight={light: 0.4}).fit(X, y)
    f = model.decision_function(X) * (1.0 if light == 0 else -1.0)
    assert f.min() == pytest.approx(0.01 * np.ptp(f)) and (model.predict(X) == 1 - light).all()


def test_votes_by_hand():
    found = np.random.default_rng(0).normal(size=(30, 6)).round(1)
    found[::5, 2] = 0.0
    for decisions, count in ((found[:, :3], 3), (found, 4)):
        for row, cast, both in zip(
            decisions, votes(decisions, count), votes_and_confidence(decisions, count)
        ):
            total, first, sums = np.zeros(count), np.zeros(count), np.zeros(count)
            for value, (a, b) in zip(row, combinations(range(count), 2), strict=True):
                total[a if value > 0 else b] += 1
                first[a if value >= 0 else b] += 1
                sums[a] += value
                sums[b] -= value
            assert cast.tolist() == total.tolist()
            assert_allclose(both, first + sums / (3 * (np.abs(sums) + 1)))


def test_decisions_of_pairs_in_both_shapes():
    one, all_ = (
        SVC(gamma=0.3, decision_function_shape=shape).fit(IRIS, KIND).decision_function(IRIS)
        for shape in ("ovo", "ovr")
    )
    assert_allclose(all_, votes_and_confidence(one, 3))
    assert SVC(gamma=0.3).fit(IRIS, KIND).predict(IRIS).tolist() == votes(one, 3).argmax(axis=1).tolist()
    rest = SVC(gamma=0.3, multi_class="ovr", tol=1e-9).fit(IRIS, KIND)
    for k in range(3):  # one machine a class
        alone = SVC(gamma=0.3, tol=1e-9).fit(IRIS, KIND == k)
        assert_allclose(rest.decision_function(IRIS)[:, k], alone.decision_function(IRIS), atol=1e-6)
        assert rest.primal_[k] == pytest.approx(alone.primal_) and rest.margin_[k] == pytest.approx(
            alone.margin_
        )
    assert rest.predict(IRIS).tolist() == rest.decision_function(IRIS).argmax(axis=1).tolist()


def test_balanced_classes_weigh_alike():
    y, w = KIND[30:], 1.0 + np.arange(120) % 2
    model = SVC(class_weight="balanced").fit(IRIS[30:], y, sample_weight=w)
    mass = np.array([w[y == k].sum() for k in range(3)])
    assert_allclose(model.class_weight_ * mass, w.sum() / 3)
    given = SVC(class_weight=dict(enumerate(model.class_weight_))).fit(IRIS[30:], y, sample_weight=w)
    assert_allclose(given.dual_coef_, model.dual_coef_)
    assert SVC(class_weight={1: 2.0}).fit(IRIS, KIND).class_weight_.tolist() == [1.0, 2.0, 1.0]
    with pytest.raises(ValueError, match=r"\[7\], are not in class_weight's data"):
        SVC(class_weight={7: 2.0}).fit(IRIS, KIND)


@pytest.mark.parametrize("kind", ["ovo", "ovr"])
def test_the_temperature_is_of_left_out_decisions(kind):
    rows = np.arange(0, 150, 3)
    X, y, w = IRIS[rows][:, :2], KIND[rows], 1.0 + np.arange(50) % 2
    model = SVC(kernel=RBF(1.0), multi_class=kind, probability=True, decision_function_shape="ovo").fit(
        X, y, sample_weight=w
    )
    K = RBF(1.0)(X)
    tasks = [(y == a) | (y == b) for a, b in combinations(range(3), 2)] if kind == "ovo" else [y >= 0] * 3
    found = np.empty((50, 3))
    for m, some in enumerate(tasks):
        first = (0, 0, 1)[m] if kind == "ovo" else m
        sign = np.where(y == first, 1.0, -1.0)[some]
        alone = SVC(kernel=RBF(1.0)).fit(X[some], sign, sample_weight=w[some])
        machine = type("Machine", (), {})()
        machine.beta, machine.sign = sign * alone.dual_coef_full_, sign
        machine.cost, machine.intercept = w[some], alone.intercept_[0]
        found[:, m] = K[:, some] @ machine.beta + machine.intercept
        found[some, m] = left_out(machine, K[np.ix_(some, some)])
    scores = votes_and_confidence(found, 3) if kind == "ovo" else found
    assert model.temperature_ == pytest.approx(best_temperature(scores, y, w), rel=1e-4)
    shown = model.decision_function(X)
    shown = votes_and_confidence(shown, 3) if kind == "ovo" else shown
    p = np.exp(model.temperature_ * shown)
    assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True))


def test_kinds_of_rows_by_their_multipliers():
    alpha = np.array([0.0, 1e-9, 0.5, 2.0 - 1e-9, 2.0, 2.0])
    cost = np.array([2.0, 2.0, 2.0, 2.0, 2.0, np.inf])
    kinds = ["outside", "outside", "on_margin", "margin_error", "margin_error", "on_margin"]
    assert point_types(alpha, cost).tolist() == kinds
    assert point_types(np.array([1.0, 1e-12]), np.full(2, np.inf)).tolist() == ["on_margin", "outside"]


def test_a_reduced_set_begins_at_the_heaviest_of_far_points():
    """Points too far apart to feel each other: one vector can only be the point of the largest coefficient."""
    model = SVC(kernel=RBF(1.0)).fit([[-0.5], [0.5], [9.0]], [1, 1, 0])
    model.support_vectors_ = 100.0 * np.arange(6.0)[:, None]
    model.dual_coef_ = np.array([[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]])
    small = model.reduce(2)
    assert_allclose(small.support_vectors_, [[500.0], [400.0]], atol=1e-6)
    assert_allclose(small.dual_coef_, [[-6.0, 5.0]])
    assert_allclose(small.reduction_error_path_, [91.0 - 36.0, 91.0 - 36.0 - 25.0])
    assert small.n_support_.tolist() == [1, 1] and small.support_.tolist() == [0, 1]
    model.kernel = Polynomial(2, 1.0, 0.0)  # no smooth kernel: the best of the support vectors
    model.support_vectors_ = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    model.dual_coef_ = np.array([[1.0, 5.0, -0.1]])
    model.n_features_in_ = 2
    one = model.reduce(1)  # (1, 0) and (3, 0) say 0.1 together, (0, 1) says 5
    assert_allclose(one.support_vectors_, [[0.0, 1.0]])
    assert_allclose(one.dual_coef_, [[5.0]])
    assert one.reduction_error_ == pytest.approx((1.0 - 0.9) ** 2)


def test_reduced_sets_need_rows_of_numbers():
    X, y = cloud(20)
    with pytest.raises(DataError, match="needs rows of numbers"):
        SVC(kernel="precomputed").fit(RBF(1.0)(X), y).reduce(2)


def damage(name, change):
    def at(model):
        setattr(model, name, change(getattr(model, name)))

    return at


@pytest.mark.parametrize(
    ("kernel", "hurt"),
    [
        ("rbf", damage("support_", lambda v: v.astype(float))),
        ("rbf", damage("support_", lambda v: v[:-1])),
        ("rbf", damage("dual_coef_", lambda v: v[0])),
        ("rbf", damage("dual_coef_", lambda v: np.vstack([v, v]))),
        ("rbf", damage("dual_coef_", lambda v: v[:, :-1])),
        ("rbf", damage("support_vectors_", lambda v: v[:-1])),
        ("rbf", damage("support_vectors_", lambda v: v[:, :-1])),
        ("rbf", damage("intercept_", lambda v: np.append(v, 0.0))),
        ("precomputed", damage("support_", lambda v: v - 1 - v.min())),
        ("precomputed", damage("support_", lambda v: v + 20 - v.max())),
    ],
    ids=range(10),
)
def test_parts_of_a_saved_machine_have_to_fit_together(kernel, hurt, tmp_path):
    X, y = cloud(20)
    model = SVC(kernel=kernel).fit(X if kernel == "rbf" else RBF(1.0)(X), y)
    gnomon.save(model, tmp_path / "good")
    assert_allclose(gnomon.load(tmp_path / "good").dual_coef_, model.dual_coef_)
    hurt(model)
    gnomon.save(model, tmp_path / "bad")
    with pytest.raises(ModelFileError, match="do not fit together"):
        gnomon.load(tmp_path / "bad")


def test_points_a_hair_inside_an_edge_are_no_corners():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    edge = np.array([[0.5, -1e-16], [1.0 + 1e-16, 0.3], [0.5, 1e-3]])
    assert convex_hull(np.vstack([square, edge])).tolist() == [0, 1, 2, 3]
    bulge = np.array([[0.5, -1e-3]])
    assert convex_hull(np.vstack([square, bulge])).tolist() == [0, 4, 1, 2, 3]
    assert convex_hull([[2.0], [2.0]]).tolist() == [0] and convex_hull([[1.0, 2.0]] * 3).tolist() == [0]
    assert convex_hull([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]]).tolist() == [0, 1]
    line = np.array([[0.0, 0, 0], [1, 1, 1], [2, 2, 2]])
    assert convex_hull(line).tolist() == [0, 2]


def test_a_machine_of_shares_without_a_margin_keeps_its_multipliers():
    """Rows that are all the same: the margin is zero, and nothing is divided by it."""
    model = NuSVC(nu=1.0, kernel="linear").fit(np.ones((4, 1)), [0, 0, 1, 1])
    assert_allclose(model.dual_coef_full_, 1.0)
    assert_allclose(model.decision_function([[1.0], [5.0]]), 0.0, atol=1e-12)
    assert_allclose(model.slack_, 1.0)


@pytest.mark.parametrize("far", [0, 7])
def test_prices_that_hide_the_targets_are_refused(far):
    X, y, w = np.ones((8, 1)), np.arange(8.0), np.ones(8)
    w[far] = 1e15
    with pytest.raises(DataError, match="C times sample_weight is as large as 1e[+]15"):
        NuSVR(kernel="rbf").fit(X + y[:, None], y, sample_weight=w)
    w[far] = 1e13
    NuSVR(kernel="rbf").fit(X + y[:, None], y, sample_weight=w)
    X[far] = 1e8  # now the kernel is large, not the weight
    with pytest.raises(DataError, match="C times sample_weight"):
        NuSVR(kernel="linear").fit(X, y)


def test_small_targets_are_hidden_by_a_price_that_large_ones_bear():
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1.0])
    machine = NuSVR(kernel="linear", C=1e11)
    with pytest.raises(DataError, match="as large as 1e[+]11"):
        machine.fit(X, 1e-3 * y)
    assert machine.fit(X, 1e6 * y).epsilon_ == pytest.approx(5e5, rel=1e-6)


def test_the_search_for_a_vector_climbs_in_every_column():
    """Two points sum up to more in their middle than the heavy point far away; one column never moves."""
    model = SVC(kernel=RBF(1.0)).fit([[-0.5, 0.0], [0.5, 0.0], [9.0, 0.0]], [1, 1, 0])
    model.support_vectors_ = np.array([[0.0, 0.0], [1.6, 0.0], [50.0, 0.0]])
    model.dual_coef_ = np.array([[1.0, 1.0, -1.35]])
    small = model.reduce(1)
    assert_allclose(small.support_vectors_, [[0.8, 0.0]], atol=1e-4)
    assert small.dual_coef_[0] == pytest.approx([2 * np.exp(-0.32)])


def test_weights_of_columns_before_a_fit():
    with pytest.raises(AttributeError, match="'SVC' object has no attribute 'coef_' before it is fitted"):
        SVC(kernel="linear").coef_
