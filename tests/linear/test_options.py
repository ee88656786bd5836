"""Options of linear models, one after the other: peers, one problem said in two ways, sides of a border."""

import numpy as np
import pytest
import sklearn.linear_model as peers
import sklearn.svm as peer_machines
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold

from gnomon import linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) * [1.0, 2.0, 0.5, 1.0] + [0.5, 0.0, 1.0, -0.5]
NUMBERS = X @ [1.5, -0.7, 0.0, 0.3] + 2.0 + 0.3 * RNG.normal(size=60)
COUNTS = np.exp(0.3 * X[:, 0] - 0.2 * X[:, 1]) + RNG.random(60)
TWO = (NUMBERS + RNG.normal(size=60) > 2).astype(int)
THREE = np.digitize(NUMBERS + 0.5 * RNG.normal(size=60), [1.0, 3.0])
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::FutureWarning")

SAME = [  # name, target, options of both, options of ours, options of the peer
    *(
        (name, NUMBERS, {"alpha": 0.1, **some}, {"tol": 1e-12}, {"tol": 1e-12, "max_iter": 100000})
        for name in ("Lasso", "ElasticNet")
        for some in (
            {"precompute": True},
            {"selection": "random", "random_state": 1},
            {"positive": True},
            {"fit_intercept": False, "positive": True},
        )
    ),
    *(
        (name, NUMBERS, {"cv": 3, **some}, {"tol": 1e-10}, {"tol": 1e-10, "max_iter": 100000})
        for name in ("LassoCV", "ElasticNetCV")
        for some in (
            {"eps": 0.05},
            {"fit_intercept": False},
            {"precompute": False},
            {"positive": True},
            {"selection": "random", "random_state": 0},
        )
    ),
    *(
        ("LassoLars", NUMBERS, {"alpha": 0.05, **some}, {}, {})
        for some in ({"fit_intercept": False}, {"precompute": True}, {"precompute": False})
    ),
    *(
        (name, COUNTS, {"alpha": 0.2, **some}, {"tol": 1e-10}, {"tol": 1e-10, "max_iter": 10000})
        for name in ("GammaRegressor", "PoissonRegressor")
        for some in (
            {"fit_intercept": False},
            {"solver": "lbfgs"},
            {"solver": "newton-cholesky"},
        )
    ),
    *(
        ("RidgeClassifier", y, {"alpha": 3.0, **some}, {}, {})
        for y in (TWO, THREE)
        for some in (
            {"fit_intercept": False},
            {"class_weight": "balanced"},
            {"class_weight": {0: 5.0, 1: 0.5}},
            *(
                {"solver": solver, "tol": 1e-12, "max_iter": 50000}
                for solver in ("svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga")
            ),
            {"solver": "lbfgs", "positive": True, "tol": 1e-12},
        )
    ),
    *(
        ("Ridge", NUMBERS, {"alpha": 3.0, "tol": 1e-12, "max_iter": 50000, **some}, {}, {})
        for some in ({"solver": "sag"}, {"solver": "sparse_cg"}, {"solver": "lbfgs", "positive": True})
    ),
    *(
        ("RidgeCV", NUMBERS, {"alphas": [0.1, 1.0, 30.0], "gcv_mode": mode}, {}, {})
        for mode in ("auto", "eigen", "svd")
    ),
    (
        "HuberRegressor",
        NUMBERS,
        {"fit_intercept": False, "alpha": 0.5},
        {"tol": 1e-9},
        {"tol": 1e-9, "max_iter": 1000},
    ),
    *(
        (
            "QuantileRegressor",
            NUMBERS,
            {"alpha": 0.02, "quantile": 0.3},
            {"solver": solver, "solver_options": {}},
            {},
        )
        for solver in ("auto", "highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex")
    ),
    ("LinearRegression", NUMBERS, {"fit_intercept": False}, {}, {}),
    *(
        ("LogisticRegression", y, {"C": 0.3, **some}, {"tol": 1e-10}, {"tol": 1e-10, "max_iter": 10000})
        for y in (TWO, THREE)
        for some in ({"class_weight": "balanced"}, {"fit_intercept": False})
    ),
]


@quiet
@pytest.mark.parametrize(
    ("name", "y", "both", "ours", "theirs"), SAME, ids=[f"{case[0]}-{i}" for i, case in enumerate(SAME)]
)
def test_same_as_scikit_learn(name, y, both, ours, theirs):
    model = getattr(linear, name)(**both, **ours).fit(X, y)
    peer = getattr(peers, name)(**both, **theirs).fit(X, y)
    assert_allclose(np.ravel(model.coef_), np.ravel(peer.coef_), rtol=2e-4, atol=2e-5)
    assert_allclose(model.intercept_, peer.intercept_, rtol=2e-4, atol=2e-5)
    for learned in ("alphas_", "alpha_"):
        if hasattr(peer, learned) and hasattr(model, learned):
            assert_allclose(getattr(model, learned), getattr(peer, learned))


@quiet
@pytest.mark.parametrize(
    "options", [{"class_weight": "balanced"}, {"class_weight": {0: 4.0}}, {"fit_intercept": False}]
)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_machines_as_in_scikit_learn(loss, options):
    model = linear.LinearSVC(loss=loss, tol=1e-10, **options).fit(X, TWO)
    peer = peer_machines.LinearSVC(loss=loss, tol=1e-10, max_iter=10**6, **options).fit(X, TWO)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-3, atol=1e-4)
    if loss == "hinge" or "class_weight" in options:
        return
    line = linear.LinearSVR(epsilon=0.1, loss="squared_epsilon_insensitive", tol=1e-10, **options).fit(
        X, NUMBERS
    )
    other = peer_machines.LinearSVR(
        epsilon=0.1, loss="squared_epsilon_insensitive", dual=False, tol=1e-10, max_iter=10**6, **options
    ).fit(X, NUMBERS)
    assert_allclose(line.coef_, other.coef_, rtol=1e-3, atol=1e-4)


CLASSIFIERS = [
    linear.LinearSVC,
    linear.RidgeClassifier,
    linear.LogisticRegression,
    linear.Perceptron,
    linear.SGDClassifier,
    linear.PassiveAggressiveClassifier,
    linear.LogisticRegressionCV,
]


@quiet
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=[cls.__name__ for cls in CLASSIFIERS])
def test_points_on_the_border_go_where_boundary_says(cls):
    options = {"cv": 2} if cls is linear.LogisticRegressionCV else {}
    rows, y = np.array([[1.0], [2.0], [1.5], [-1.0], [-2.0], [-1.5]]), ["up"] * 3 + ["down"] * 3
    for boundary, label in (("negative", "down"), ("positive", "up")):
        model = cls(fit_intercept=False, boundary=boundary, **options).fit(rows, y)
        assert model.decision_function([[0.0]]).tolist() == [0.0]
        assert model.predict([[0.0], [1.0], [-1.0]]).tolist() == [label, "up", "down"]


@pytest.mark.parametrize(
    "solver", ["auto", "newton-cholesky", "newton-cg", "lbfgs", "liblinear", "sag", "saga", "gd"]
)
@quiet
def test_every_solver_chooses_alike(solver):
    more = {"max_iter": 20000} if solver == "gd" else {}
    model = linear.LogisticRegressionCV(Cs=[0.01, 1.0], cv=3, solver=solver, tol=1e-8, **more).fit(X / 2, TWO)
    plain = linear.LogisticRegressionCV(Cs=[0.01, 1.0], cv=3, tol=1e-10).fit(X / 2, TWO)
    assert model.C_ == plain.C_
    assert_allclose(model.coef_, plain.coef_, atol=1e-5)


def test_choices_of_a_model_without_an_intercept():
    ours = linear.LogisticRegressionCV(Cs=[0.01, 1.0], cv=3, fit_intercept=False, tol=1e-10).fit(X, TWO)
    theirs = linear.LogisticRegression(C=float(ours.C_), fit_intercept=False, tol=1e-10).fit(X, TWO)
    assert (ours.intercept_ == 0).all()
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)


def test_logistic_intercept_with_a_penalty_is_a_column_of_ones():
    ours = linear.LogisticRegression(C=0.3, regularize_intercept=True, tol=1e-10).fit(X, TWO)
    ones = linear.LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10).fit(np.c_[X, np.ones(60)], TWO)
    assert_allclose(np.r_[ours.coef_[0], ours.intercept_], ones.coef_[0], atol=1e-7)
    bayes = linear.BayesianLogisticRegression(2.0).fit(X, TWO)
    column = linear.BayesianLogisticRegression(2.0, fit_intercept=False).fit(np.c_[X, np.ones(60)], TWO)
    assert_allclose(np.r_[bayes.coef_.ravel(), bayes.intercept_], column.coef_.ravel(), atol=1e-8)
    free = linear.BayesianLogisticRegression(2.0, regularize_intercept=False).fit(X, TWO)
    plain = linear.LogisticRegression(C=0.5, tol=1e-12).fit(X, TWO)
    assert_allclose(
        np.r_[free.coef_.ravel(), free.intercept_], np.r_[plain.coef_[0], plain.intercept_], atol=1e-6
    )


def test_dual_and_scaling_change_no_answer():
    for cls, y in ((linear.LogisticRegression, TWO), (linear.LogisticRegressionCV, TWO)):
        plain = cls().fit(X, y)
        other = cls(dual=True, intercept_scaling=7.0).fit(X, y)
        assert (other.coef_ == plain.coef_).all() and (other.intercept_ == plain.intercept_).all()
    for cls, y in ((linear.LinearSVC, TWO), (linear.LinearSVR, NUMBERS)):
        assert (cls(dual=True).fit(X, y).coef_ == cls(dual=False).fit(X, y).coef_).all()


REGRESSION_LOSSES = {
    "squared_error": lambda r: r**2 / 2,
    "huber": lambda r: np.where(np.abs(r) <= 0.3, r**2 / 2, 0.3 * np.abs(r) - 0.045),
    "epsilon_insensitive": lambda r: np.maximum(0, np.abs(r) - 0.3),
    "squared_epsilon_insensitive": lambda r: np.maximum(0, np.abs(r) - 0.3) ** 2,
    "absolute": np.abs,
    "cauchy": lambda r: np.log1p(r**2),
}


def slope(loss, r, h=1e-6):
    return (loss(r + h) - loss(r - h)) / (2 * h)


@quiet
@pytest.mark.parametrize("name", REGRESSION_LOSSES)
def test_a_step_follows_the_loss_of_a_regression(name):
    row, target = np.array([[2.0, -1.0]]), np.array([1.7])
    model = linear.SGDRegressor(
        name, alpha=0.0, epsilon=0.3, learning_rate="constant", eta0=0.1, max_iter=3, tol=None
    ).fit(row, target)
    w, b = np.zeros(2), 0.0
    for _ in range(3):
        g = slope(REGRESSION_LOSSES[name], row[0] @ w + b - target[0])
        w, b = w - 0.1 * g * row[0], b - 0.1 * g
    assert_allclose(np.r_[model.coef_, model.intercept_], np.r_[w, b], atol=1e-6)


MARGIN_LOSSES = {
    "hinge": lambda m: np.maximum(0, 1 - m),
    "log_loss": lambda m: np.log1p(np.exp(-m)),
    "modified_huber": lambda m: np.where(m >= -1, np.maximum(0, 1 - m) ** 2, -4 * m),
    "squared_hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "exponential": lambda m: np.exp(-m),
    "sigmoid_squared": lambda m: 0.5 / (1 + np.exp(m)) ** 2,
    "squared_error": lambda m: (1 - m) ** 2 / 2,
    "huber": lambda m: REGRESSION_LOSSES["huber"](m - 1),
    "epsilon_insensitive": lambda m: REGRESSION_LOSSES["epsilon_insensitive"](m - 1),
    "squared_epsilon_insensitive": lambda m: REGRESSION_LOSSES["squared_epsilon_insensitive"](m - 1),
}


@quiet
@pytest.mark.parametrize("name", MARGIN_LOSSES)
def test_a_step_follows_the_loss_of_a_classifier(name):
    rows, y = np.array([[2.0, -1.0], [0.5, 0.5]]), [1, 0]
    model = linear.SGDClassifier(
        name, alpha=0.0, epsilon=0.3, learning_rate="constant", eta0=0.1, max_iter=3, tol=None, order="given"
    ).fit(rows, y)
    w, b = np.zeros(2), 0.0
    for _ in range(3):
        for x, s in zip(rows, (1, -1), strict=True):
            g = s * slope(MARGIN_LOSSES[name], s * (x @ w + b))
            w, b = w - 0.1 * g * x, b - 0.1 * g
    assert_allclose(np.r_[model.coef_[0], model.intercept_], np.r_[w, b], atol=1e-6)


@quiet
@pytest.mark.parametrize(
    ("rate", "step"),
    [
        ("constant", lambda t: 0.1),
        ("inverse", lambda t: 0.1 / (t + 1)),
        ("invscaling", lambda t: 0.1 / (t + 1) ** 0.7),
    ],
)
@pytest.mark.parametrize("cls", [linear.SGDClassifier, linear.SGDRegressor], ids=["classes", "numbers"])
def test_lengths_of_steps(cls, rate, step):
    rows, y = np.array([[1.0], [-2.0], [0.5]]), np.array([1, -1, 1])
    model = cls(
        "squared_error",
        alpha=0.0,
        learning_rate=rate,
        eta0=0.1,
        power_t=0.7,
        max_iter=2,
        tol=None,
        fit_intercept=False,
        order="given",
    ).fit(rows, y)
    w = 0.0
    for t in range(6):
        x, s = rows[t % 3, 0], y[t % 3]
        w -= step(t) * (w * x - s) * x
    assert model.coef_.ravel()[0] == pytest.approx(w, rel=1e-12)


@quiet
def test_momentum_and_scaled_steps_by_hand():
    rows, y = np.array([[1.0], [-2.0], [0.5]]), np.array([1.0, -1.5, 0.0])
    given = dict(
        alpha=0.0,
        learning_rate="constant",
        eta0=0.1,
        max_iter=2,
        tol=None,
        fit_intercept=False,
        order="given",
    )
    w = v = total = u = 0.0
    for t in range(6):
        x, target = rows[t % 3, 0], y[t % 3]
        v = 0.8 * v - 0.1 * (w * x - target) * x
        w += v
        g = (u * x - target) * x
        total += g * g
        u -= 0.1 * g / np.sqrt(total) if total else 0.0
    assert linear.SGDRegressor(momentum=0.8, **given).fit(rows, y).coef_[0] == pytest.approx(w, rel=1e-12)
    assert linear.SGDRegressor(optimizer="adagrad", **given).fit(rows, y).coef_[0] == pytest.approx(
        u, rel=1e-6
    )


ONLINE = [
    linear.SGDClassifier,
    linear.SGDRegressor,
    linear.Perceptron,
    linear.PassiveAggressiveClassifier,
    linear.PassiveAggressiveRegressor,
]
ONLINE_IDS = [cls.__name__ for cls in ONLINE]


@quiet
@pytest.mark.parametrize("cls", ONLINE, ids=ONLINE_IDS)
def test_rows_are_visited_in_the_order_that_is_said(cls):
    y = NUMBERS if cls.__name__.endswith("Regressor") else TWO
    turn = np.random.default_rng(5).permutation(60)
    given = dict(max_iter=1, tol=None)
    told = cls(order=turn, **given).fit(X, y)
    moved = cls(order="given", **given).fit(X[turn], y[turn])
    assert_allclose(told.coef_, moved.coef_, rtol=1e-12)
    still = cls(shuffle=False, **given).fit(X, y)
    assert_allclose(still.coef_, cls(order="given", **given).fit(X, y).coef_, rtol=0)
    mixed = [cls(order=word, random_state=3, **given).fit(X, y).coef_ for word in ("shuffle", "random")]
    for coef, word in zip(mixed, ("shuffle", "random"), strict=True):
        assert (coef != still.coef_).any()
        assert (coef == cls(order=word, random_state=3, **given).fit(X, y).coef_).all()
        assert (coef != cls(order=word, random_state=4, **given).fit(X, y).coef_).any()
    assert (mixed[0] != mixed[1]).any()
    free = cls(shuffle=True, random_state=3, **given)  # without an order, that of the rows is nothing
    assert (free.fit(X, y).coef_ == clone(free).fit(X[turn], y[turn]).coef_).all()
    assert (cls(order="shuffle", random_state=3, **given).fit(X[turn], y[turn]).coef_ != mixed[0]).any()


@quiet
@pytest.mark.parametrize("cls", ONLINE, ids=ONLINE_IDS)
def test_a_warm_start_goes_on_where_the_last_fit_ended(cls):
    y = NUMBERS if cls.__name__.endswith("Regressor") else TWO
    given = dict(max_iter=3, tol=None, order="given")
    if cls.__name__.startswith("SGD"):
        given |= dict(learning_rate="constant", eta0=0.01)
    warm = cls(warm_start=True, **given).fit(X, y)
    warm.set_params(max_iter=2).fit(X, y)
    through = cls(**{**given, "max_iter": 5}).fit(X, y)
    assert_allclose(warm.coef_, through.coef_, rtol=1e-10)
    assert_allclose(warm.intercept_, through.intercept_, rtol=1e-10, atol=1e-14)
    assert (clone(warm).set_params(warm_start=False).fit(X, y).coef_ != through.coef_).any()


@quiet
@pytest.mark.parametrize("cls", ONLINE, ids=ONLINE_IDS)
def test_patience_ends_a_run_without_progress(cls):
    y = NUMBERS if cls.__name__.endswith("Regressor") else TWO
    runs = [
        cls(
            early_stopping=True,
            validation_fraction=0.3,
            n_iter_no_change=k,
            tol=1e9,
            max_iter=50,
            random_state=0,
        )
        .fit(X, y)
        .n_iter_
        for k in (1, 3, 7)
    ]
    assert runs[1] - runs[0] == 2 and runs[2] - runs[1] == 4
    few, many = (
        cls(early_stopping=True, validation_fraction=share, max_iter=4, tol=None, random_state=0)
        .fit(X, y)
        .coef_
        for share in (0.1, 0.6)
    )
    assert (few != many).any()


@quiet
def test_perceptron_goes_on_after_a_clean_pass_if_told_to():
    rows, y = np.array([[1.0], [-1.0]]), [1, 0]
    given = dict(max_iter=9, tol=None, order="given", fit_intercept=False)
    assert linear.Perceptron(stop_when_clean=True, **given).fit(rows, y).n_iter_ <= 2
    assert linear.Perceptron(stop_when_clean=False, **given).fit(rows, y).n_iter_ == 9


@pytest.mark.parametrize("order", ["random", "shuffle"])
def test_pegasos_keeps_its_bound(order):
    given = dict(max_iter=30, order=order, random_state=0, fit_intercept=False)
    for alpha in (0.05, 1.0):
        model = linear.Pegasos(alpha, bound_norm=True, **given).fit(5 * X, TWO)
        assert np.linalg.norm(model.coef_) <= (1 + 1e-12) / np.sqrt(alpha)
    rows, y = np.array([[3.0], [-3.0]]), [1, 0]
    first = linear.Pegasos(1.0, n_updates=1, order="given", bound_norm=True, fit_intercept=False).fit(rows, y)
    free = linear.Pegasos(1.0, n_updates=1, order="given", fit_intercept=False).fit(rows, y)
    assert free.coef_.ravel()[0] == pytest.approx(3.0) and first.coef_.ravel()[0] == pytest.approx(1.0)


def test_pegasos_with_a_penalty_on_its_intercept_has_a_column_of_ones():
    ones = np.c_[X, np.ones(60)]
    given = dict(max_iter=3, order="given")
    ours = linear.Pegasos(0.1, regularize_intercept=True, **given).fit(X, TWO)
    column = linear.Pegasos(0.1, fit_intercept=False, **given).fit(ones, TWO)
    assert_allclose(np.r_[ours.coef_.ravel(), ours.intercept_], column.coef_.ravel(), rtol=1e-10)


@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (linear.LaplaceRegression(alpha=0.5, fit_intercept=False), None),
        (linear.RegularizedRegressor("squared_error", alpha=0.3, fit_intercept=False, tol=1e-12), "l2"),
        (linear.RegularizedRegressor("huber", alpha=0.3, fit_intercept=False, tol=1e-12), "huber"),
        (linear.LpRegression(2.0, 0.3, fit_intercept=False), "l2"),
        (linear.StudentTRegression(3.0, scale=1.0, alpha=0.5, fit_intercept=False), "student"),
    ],
    ids=["laplace", "squares", "huber", "power", "student"],
)
def test_lines_through_the_origin(model, loss):
    """Without an intercept nothing is taken from the columns: the answer is that of rows and their mirror images."""
    fitted = model.fit(X, NUMBERS)
    both = clone(model).set_params(fit_intercept=True).fit(np.r_[X, -X], np.r_[NUMBERS, -NUMBERS])
    assert fitted.intercept_ == 0.0
    if loss in ("l2", "huber"):  # means of the losses: twice the rows change nothing
        assert_allclose(fitted.coef_, both.coef_, rtol=1e-4, atol=1e-6)
    assert_allclose(fitted.predict(X), X @ fitted.coef_)


@pytest.mark.parametrize("decoding", ["hamming", "loss", "euclidean"])
def test_words_of_a_code_are_read_by_their_distance(decoding):
    code = np.array([[1, 1, -1], [-1, 1, 1], [1, -1, 1]])
    model = linear.OutputCodeClassifier(linear.LogisticRegression(), code=code, decoding=decoding).fit(
        X, THREE
    )
    scores = np.column_stack([one.decision_function(X) for one in model.estimators_])
    distance = {
        "hamming": ((1 - np.sign(scores)[:, None] * code) / 2).sum(axis=2),
        "loss": np.maximum(0, 1 - scores[:, None] * code).sum(axis=2),
        "euclidean": ((np.sign(scores)[:, None] - code) ** 2).sum(axis=2),
    }[decoding]
    best, next_best = np.sort(distance, axis=1)[:, :2].T
    sure = best < next_best
    assert sure.mean() > 0.5
    np.testing.assert_array_equal(model.predict(X)[sure], distance.argmin(axis=1)[sure])


CLASS_SCORES = [
    "accuracy",
    "balanced_accuracy",
    "average_precision",
    "f1",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "jaccard",
    "jaccard_macro",
    "matthews_corrcoef",
    "neg_log_loss",
    "neg_brier_score",
    "precision",
    "precision_macro",
    "recall",
    "recall_weighted",
    "roc_auc",
    "top_k_accuracy",
    "d2_log_loss_score",
    "d2_brier_score",
    "positive_likelihood_ratio",
    "neg_negative_likelihood_ratio",
]


@quiet
@pytest.mark.parametrize("name", CLASS_SCORES)
def test_scores_of_folds_are_those_of_the_metric(name):
    folds = list(StratifiedKFold(3).split(X, TWO))
    model = linear.LogisticRegressionCV(Cs=[0.02, 2.0], cv=folds, scoring=name, tol=1e-9).fit(X, TWO)
    scorer = get_scorer(name)
    expected = [
        [
            scorer(linear.LogisticRegression(C=C, tol=1e-9).fit(X[train], TWO[train]), X[test], TWO[test])
            for C in (0.02, 2.0)
        ]
        for train, test in folds
    ]
    found = model.scores_ if not isinstance(model.scores_, dict) else next(iter(model.scores_.values()))
    assert_allclose(np.reshape(found, (3, 2)), expected, rtol=1e-4, atol=1e-6)


NUMBER_SCORES = [
    "r2",
    "explained_variance",
    "neg_max_error",
    "neg_mean_absolute_error",
    "neg_mean_absolute_percentage_error",
    "neg_mean_squared_error",
    "neg_median_absolute_error",
    "neg_root_mean_squared_error",
    "d2_absolute_error_score",
    "neg_mean_squared_log_error",
    "neg_root_mean_squared_log_error",
    "neg_mean_poisson_deviance",
    "neg_mean_gamma_deviance",
]


@pytest.mark.parametrize("name", NUMBER_SCORES)
def test_penalties_are_chosen_by_the_metric(name):
    y = NUMBERS + 10.0
    folds = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    alphas = [0.1, 20.0, 500.0]
    model = linear.RidgeCV(alphas, cv=folds, scoring=name, pool=False).fit(X, y)
    scorer = get_scorer(name)
    means = [
        np.mean([scorer(linear.Ridge(alpha).fit(X[a], y[a]), X[b], y[b]) for a, b in folds])
        for alpha in alphas
    ]
    assert model.alpha_ == alphas[int(np.argmax(means))]
    assert model.best_score_ == pytest.approx(max(means))
