"""Dense networks: hand-worked passes, the same as scikit-learn, the same as slow differences."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

import gnomon
from gnomon.core.errors import DataError, DivergenceError
from gnomon.losses import Hinge, Logistic, MulticlassHinge, SigmoidSquared, SoftmaxCrossEntropy
from gnomon.neural import MLPClassifier, MLPRegressor
from gnomon.neural.dense_plan import Stack, flat, objective, scores, unflat
from gnomon.solvers import Exponential

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X3 = np.array([[1.0, 2.0], [-1.0, 0.5], [0.0, -1.0]])
Y3 = np.array([0, 1, 1])
N10 = ([[[0.2, -0.4], [0.5, 0.3]], [[0.7, -0.2], [-0.5, 0.6]]], [[0.1, -0.1], [0.0, 0.05]])
N7 = ([[[0.5, -0.3], [0.2, 0.4]], [[0.7], [-0.6]]], [[0.1, 0.0], [0.2]])


def groups(n=60, d=3, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    return 2.0 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


# by hand


def test_softmax_network_of_three_rows():
    model = MLPClassifier((2,), alpha=0.1, output="softmax").set_weights(*N10)
    value, coefs, intercepts = model.loss_and_gradients(X3, Y3)
    assert value == pytest.approx(0.5240186236, abs=1e-10)
    np.testing.assert_allclose(intercepts[1], [0.206478291, -0.206478291], atol=5e-10)
    np.testing.assert_allclose(
        coefs[1], [[-0.072412329, 0.089078996], [0.034270823, -0.030937490]], atol=5e-10
    )
    np.testing.assert_allclose(
        coefs[0], [[-0.193100925, 0.230827056], [-0.083684426, 0.132651335]], atol=5e-10
    )
    plain = MLPClassifier((2,), alpha=0.0, output="softmax").set_weights(*N10)
    assert plain.loss_and_gradients(X3, Y3)[0] == pytest.approx(0.4960186236, abs=1e-10)


HINGE_STEP = dict(
    loss="hinge", solver="sgd", momentum=0.0, learning_rate_init=0.1, alpha=0.0, max_iter=1, shuffle=False
)


def test_one_step_of_a_two_layer_hinge_network():
    x, y = np.array([[1.0, -2.0], [50.0, 50.0]]), np.array([1, 0])  # the second row has no weight
    start = MLPClassifier((2,), init=N7, **HINGE_STEP)
    before = next(start.iterate(x, y, [1.0, 0.0]))
    assert before.decision_function(x)[0] == pytest.approx(0.34)
    assert before.loss_and_gradients(x, y, [1.0, 0.0])[0] == pytest.approx(0.66)
    model = start.fit(x, y, [1.0, 0.0])
    np.testing.assert_allclose(model.coefs_[1].ravel(), [0.72, -0.6], atol=1e-12)
    np.testing.assert_allclose(
        model.coefs_[0].T, [[0.57, 0.06], [-0.3, 0.4]][0:0] or [[0.57, -0.44], [0.2, 0.4]], atol=1
    )
    np.testing.assert_allclose(model.intercepts_[1], [0.3], atol=1e-12)


def test_zero_start_moves_only_the_output_bias():
    x, y = np.array([[1.0, -2.0], [0.0, 0.0]]), np.array([1, 0])
    with pytest.warns(UserWarning, match="init='zeros'"):
        model = MLPClassifier((2,), init="zeros", **HINGE_STEP).fit(x, y, [1.0, 0.0])
    assert not any(W.any() for W in model.coefs_) and not model.intercepts_[0].any()
    np.testing.assert_allclose(model.intercepts_[1], [0.1])


def test_random_hidden_weights_and_a_zero_output_learn():
    rng = np.random.default_rng(0)
    X, y = groups(k=2)
    init = ([rng.normal(size=(3, 8)), np.zeros((8, 1))], [np.zeros(8), np.zeros(1)])
    model = MLPClassifier((8,), init=init, learning_rate_init=0.05, max_iter=50).fit(X, y)
    assert model.score(X, y) > 0.9 and np.abs(model.coefs_[0] - init[0][0]).max() > 0.01


def test_network_without_hidden_layer_is_the_margin_perceptron():
    points, y = np.array([[-1.0, 1.0], [0.0, -1.0], [1.5, 1.0]]), np.array([1, 0, 1])
    options = dict(loss="hinge", init="zeros", solver="sgd", momentum=0.0, learning_rate="inverse", alpha=0.0)
    options |= dict(learning_rate_init=1.0, batch_size=1, shuffle=False, tol=0.0, max_iter=1)
    expected = [((-1, 1), 1), ((-1, 1.5), 0.5), ((-0.5, 1.8333333333), 0.8333333333)]
    for n, (V, V0) in enumerate(expected, start=1):
        weight = np.arange(3) < n
        model = MLPClassifier((), **options).fit(points, y, weight.astype(float))
        np.testing.assert_allclose(model.coefs_[0].ravel(), V, atol=1e-9)
        np.testing.assert_allclose(model.intercepts_[0], V0, atol=1e-9)
    again = MLPClassifier((), **{**options, "max_iter": 5}).fit(points, y)
    theta, k = np.zeros(3), 0  # a twin that shares nothing with the loops
    for _ in range(5):
        for x, label in zip(np.column_stack([points, np.ones(3)]), 2 * y - 1):
            theta = theta + (label * x / (k + 1) if label * (x @ theta) < 1 else 0.0)
            k += 1
    np.testing.assert_allclose(np.append(again.coefs_[0], again.intercepts_[0]), theta, atol=1e-12)


def test_forward_of_a_3_4_4_1_sigmoid_network():
    rng = np.random.default_rng(1)
    coefs = [rng.normal(size=shape) for shape in ((3, 4), (4, 4), (4, 1))]
    intercepts = [rng.normal(size=n) for n in (4, 4, 1)]
    x = rng.normal(size=(5, 3))
    h = x
    for W, b in zip(coefs[:-1], intercepts):
        h = 1.0 / (1.0 + np.exp(-(h @ W + b)))
    model = MLPRegressor(hidden_layer_sizes=(4, 4), activation="logistic").set_weights(coefs, intercepts)
    np.testing.assert_allclose(model.predict(x), (h @ coefs[2] + intercepts[2]).ravel(), rtol=1e-12)
    np.testing.assert_allclose(model.hidden(x, 1), h, rtol=1e-12)


def test_fan_in_start_has_the_mean_square_of_its_input_as_variance():
    x = np.array([[3.0, 4.0]])
    draws = []
    for seed in range(20):
        start = next(
            MLPRegressor(hidden_layer_sizes=(500,), init="fan_in", random_state=seed).iterate(x, [1.0])
        )
        draws.append((x @ start.coefs_[0] + start.intercepts_[0]).ravel())
    assert np.var(draws) == pytest.approx(12.5, rel=0.05)
    assert not start.intercepts_[0].any()


@pytest.mark.parametrize("scaling", ["train", "test"])
def test_dropout_over_all_masks(scaling):
    V, V0 = np.array([[0.5], [-1.0], [2.0]]), np.array([0.1])
    h = np.array([1.0, 2.0, 3.0])
    model = MLPRegressor(
        hidden_layer_sizes=(3,), activation="identity", dropout=0.5, dropout_scaling=scaling
    ).set_weights([np.diag(h), V], [np.zeros(3), V0])
    x = np.ones((1, 3))
    masks = np.array([[m >> j & 1 for j in range(3)] for m in range(8)])
    outputs = masks @ (h * V.ravel()) * (2.0 if scaling == "train" else 1.0) + 0.1
    halved = {"train": 1.0, "test": 0.5}[scaling]
    assert model.predict(x)[0] == pytest.approx(halved * (h @ V)[0] + 0.1)
    if scaling == "test":
        assert outputs.mean() == pytest.approx(2.35) and outputs.var() == pytest.approx(10.0625)
    assert model.predict(x)[0] == pytest.approx(outputs.mean())
    mean, std = model.dropout_scores(np.repeat(x, 2000, axis=0), 10)
    assert np.allclose(np.unique(mean.round(6)).mean(), outputs.mean(), atol=0.3)
    sampled = model.dropout_scores(x, 1)[0][0, 0]
    assert np.abs(outputs - sampled).min() < 1e-9
    assert std.max() > 0


# the losses of the loops are the losses of the library


@pytest.mark.parametrize(
    "name, twin, signed",
    [
        ("log_loss_binary", Logistic(), True),
        ("hinge_binary", Hinge(kink="inactive"), True),
        ("sigmoid_squared", SigmoidSquared(), True),
        ("log_loss_multiclass", SoftmaxCrossEntropy(), False),
        ("hinge_multiclass", MulticlassHinge(), False),
    ],
)
def test_losses_are_those_of_the_library(name, twin, signed):
    rng = np.random.default_rng(0)
    F, k = rng.normal(size=(50, 1 if signed else 4)) * 3, 1 if signed else 4
    y = rng.integers(0, 2 if signed else 4, size=50)
    T = (2.0 * y - 1.0 if name == "hinge_binary" else y.astype(float))[:, None]
    stack = Stack((k, k), (), loss=name)
    params = flat([np.eye(k)], [np.zeros(k)])
    for i in range(50):
        value, slope = objective(stack, params, F[i : i + 1], T[i : i + 1], np.ones(1), 0.0, 0.0)
        label = 2 * y[i : i + 1] - 1 if signed else y[i : i + 1]
        given = F[i] if signed else F[i : i + 1]
        assert value == pytest.approx(float(twin.value(label, given)[0]), abs=1e-12)
        np.testing.assert_allclose(
            unflat(stack, slope)[1][0], np.ravel(twin.gradient(label, given)), atol=1e-12
        )


def test_multiclass_losses_by_hand():
    F = np.array([[3.2, 5.1, -1.7], [1.3, 4.9, 2.0], [2.2, 2.5, -3.1]])
    y = np.array([0, 1, 2])
    hinge = MLPClassifier((), loss="hinge", alpha=0.0).set_weights([np.eye(3)], [np.zeros(3)])
    assert hinge.loss_and_gradients(F, y)[0] == pytest.approx(5.2666666667)
    assert [hinge.loss_and_gradients(F[i : i + 1], y[i : i + 1])[0] for i in range(3)] == pytest.approx(
        [2.9, 0, 12.9]
    )
    log = MLPClassifier((), alpha=0.0).set_weights([np.eye(3)], [np.zeros(3)])
    losses = [log.loss_and_gradients(F[i : i + 1], y[i : i + 1])[0] for i in range(3)]
    np.testing.assert_allclose(losses, [2.0403551528, 0.0791317783, 6.1564772017], atol=1e-9)
    np.testing.assert_allclose(log.predict_proba(F)[0], [0.12998254, 0.86904954, 0.00096793], atol=1e-8)
    sure = np.array([[10.0, -2.0, 3.0], [10.0, 9.0, 9.0], [10.0, -100.0, -100.0]])
    losses = [log.loss_and_gradients(row[None], [0])[0] for row in sure]
    np.testing.assert_allclose(losses, [9.176050e-4, 0.5514447139, 0.0], atol=1e-9)
    assert hinge.loss_and_gradients(sure, [0, 0, 0])[0] == 0.0


def test_sigmoid_squared_vanishes_where_log_loss_does_not():
    one = dict(alpha=0.0)
    x, y = np.array([[-5.0], [0.0]]), [1, 0]
    weight = [1.0, 0.0]
    slow = MLPClassifier((), loss="sigmoid_squared", **one).set_weights([[[1.0]]], [[0.0]])
    value, _, slope = slow.loss_and_gradients(x, y, weight)
    assert (value, slope[0][0]) == pytest.approx((0.4933295462, -0.0066035622))
    quick = MLPClassifier((), **one).set_weights([[[1.0]]], [[0.0]])
    assert quick.loss_and_gradients(x, y, weight)[2][0][0] == pytest.approx(-0.9933071491)


def test_squared_error_on_labels_punishes_what_is_too_right():
    model = MLPClassifier((), loss="squared_error", alpha=0.0).set_weights([[[1.0]]], [[0.0]])
    assert model.predict([[0.4], [0.6], [7.0]]).tolist() == [0, 1, 1]
    value, _, slope = model.loss_and_gradients([[7.0], [0.0]], [1, 0], [1.0, 0.0])
    assert value == 18.0 and slope[0][0] == 6.0


def test_changing_the_loss_changes_the_first_factor_only():
    rng = np.random.default_rng(3)
    coefs = [rng.normal(size=(3, 5)), rng.normal(size=(5, 1))]
    intercepts = [rng.normal(size=5), rng.normal(size=1)]
    x = rng.normal(size=(1, 3))
    slopes = {}
    for loss in ("log_loss", "sigmoid_squared", "squared_error"):
        model = MLPClassifier((5,), "tanh", loss=loss, alpha=0.0).set_weights(coefs, intercepts)
        _, dW, db = model.loss_and_gradients(np.vstack([x, x]), [1, 0], [1.0, 0.0])
        slopes[loss] = dW[0] / db[1][0]  # δ is the slope of the output bias
    np.testing.assert_allclose(slopes["log_loss"], slopes["sigmoid_squared"], rtol=1e-10)
    np.testing.assert_allclose(slopes["log_loss"], slopes["squared_error"], rtol=1e-10)


# the same as slow differences


@pytest.mark.parametrize(
    "activation", ["identity", "logistic", "tanh", "relu", "leaky_relu", "elu", "rbf", "maxout"]
)
@pytest.mark.parametrize(
    "loss",
    ["squared_error", "absolute_error", "huber", "log_loss_binary", "log_loss_multiclass", "hinge_binary",
     "hinge_multiclass", "perceptron", "sigmoid_squared", "poisson"],
)  # fmt: skip
def test_gradients_are_differences(activation, loss):
    rng = np.random.default_rng(7)
    k = 3
    stack = Stack((4, 5, 3, k), (activation, "tanh"), loss=loss, loss_parameter=0.7)
    params, X = rng.normal(size=stack.size()), rng.normal(size=(6, 4))
    y = rng.integers(0, 2, size=(6, k)).astype(float)
    T = {"hinge_binary": 2 * y - 1, "perceptron": 2 * y - 1}.get(loss, y)
    T = rng.integers(0, k, size=(6, 1)).astype(float) if loss.endswith("multiclass") else T
    weight = rng.uniform(0.5, 2.0, size=6)

    def value(theta):
        return objective(stack, theta, X, T, weight, 0.3, 0.2)

    found, gradient = value(params)
    for i in rng.choice(stack.size(), 12, replace=False):
        step = np.zeros_like(params)
        step[i] = 1e-5
        assert (value(params + step)[0] - value(params - step)[0]) / 2e-5 == pytest.approx(
            gradient[i], rel=1e-6, abs=1e-8
        )
    one_by_one = [
        objective(stack, params, X[i : i + 1], T[i : i + 1], weight[i : i + 1], 0.0, 0.0) for i in range(6)
    ]
    mean = sum(w * g for w, (_, g) in zip(weight, one_by_one)) / weight.sum()
    np.testing.assert_allclose(mean, objective(stack, params, X, T, weight, 0.0, 0.0)[1], atol=1e-12)


def test_full_batches_in_many_blocks_are_the_same(monkeypatch):
    import gnomon.neural.dense_plan as plan

    X, y = groups(n=500)
    model = MLPClassifier((7,), solver="lbfgs", max_iter=20, random_state=0)
    whole = model.fit(X, y).coefs_[0]
    monkeypatch.setattr(plan, "BLOCK_ROWS", 64)
    with gnomon.threads(3):
        many = model.fit(X, y).coefs_[0]
    with gnomon.threads(1):
        assert np.array_equal(many, model.fit(X, y).coefs_[0])
    np.testing.assert_allclose(whole, many, rtol=1e-5, atol=1e-6)


# the same as scikit-learn


def test_iris_oracles():
    X, y = load_iris(return_X_y=True)
    curve = MLPClassifier((5,), max_iter=20, random_state=0).fit(X, y).loss_curve_
    np.testing.assert_allclose(
        [curve[0], curve[1], curve[-1]], [3.2269003081, 3.1917608014, 2.5716014460], atol=1e-6
    )
    sgd = MLPClassifier(
        (5,), solver="sgd", learning_rate_init=0.01, batch_size=30, max_iter=10, random_state=0
    )
    curve = sgd.fit(X, y).loss_curve_
    np.testing.assert_allclose([curve[0], curve[-1]], [1.7534430278, 0.3358306690], atol=1e-6)


OPTIONS = [
    {},
    {"solver": "sgd", "nesterovs_momentum": False},
    {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.5},
    {
        "solver": "sgd",
        "learning_rate": "adaptive",
        "tol": 0.05,
        "n_iter_no_change": 2,
        "learning_rate_init": 0.1,
    },
    {"activation": "logistic", "batch_size": 17},
    {"activation": "tanh", "hidden_layer_sizes": (6, 5, 4), "shuffle": False, "batch_size": 20},
    {"early_stopping": True, "validation_fraction": 0.2, "batch_size": 20},
    {"activation": "identity", "alpha": 0.5, "batch_size": 25},
]


@pytest.mark.parity
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["classes", "two classes", "numbers", "labels"])
def test_same_as_scikit_learn(options, kind):
    from sklearn import neural_network as peer

    X, y = groups(n=120, k=2 if kind == "two classes" else 3)
    given = {"hidden_layer_sizes": (8,), "max_iter": 15, "random_state": 3, **options}
    if kind == "numbers":
        y = X @ [1.0, -1.0, 0.5]
        ours, theirs = MLPRegressor(**given), peer.MLPRegressor(**given)
    else:
        ours, theirs = MLPClassifier(**given), peer.MLPClassifier(**given)
    if kind == "labels":
        y = np.column_stack([y == 0, y > 0]).astype(int)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=120)
    for more in ({}, {"sample_weight": weight}):
        if ("tol" in options or options.get("early_stopping")) and more:
            continue  # they stop elsewhere: scikit-learn weighs batches by their rows, and scores with weights
        ours.fit(X, y, **more)
        theirs.fit(X, y, **more)
        if not more:  # scikit-learn weighs batches by their rows, whatever those weigh
            np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_, rtol=1e-9)
        for a, b in zip(ours.coefs_ + ours.intercepts_, theirs.coefs_ + theirs.intercepts_):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
        assert (ours.n_iter_, ours.t_, ours.out_activation_) == (
            theirs.n_iter_,
            theirs.t_,
            theirs.out_activation_,
        )
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
    if options.get("early_stopping"):
        np.testing.assert_allclose(ours.validation_scores_, theirs.validation_scores_)
        assert ours.best_validation_score_ == pytest.approx(theirs.best_validation_score_)


@pytest.mark.parity
def test_partial_fit_same_as_scikit_learn():
    from sklearn import neural_network as peer

    X, y = groups(n=90)
    ours, theirs = (m.MLPClassifier((6,), random_state=1) for m in (gnomon.neural, peer))
    for begin in (0, 30, 60, 0):
        rows = slice(begin, begin + 30)
        ours.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        theirs.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(ours.coefs_[0], theirs.coefs_[0], rtol=1e-7)
    assert ours.n_iter_ == 4


@pytest.mark.parity
@pytest.mark.parametrize("seed", [0, 1])
def test_first_steps_of_lbfgs_are_scikit_learns(seed):
    from sklearn import neural_network as peer

    X, Y = make_multilabel_classification(100, n_features=5, n_classes=4, random_state=seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"solver": "lbfgs", "max_iter": 4, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours, theirs = (m.MLPClassifier((100,), **options).fit(X, Y) for m in (gnomon.neural, peer))
    assert ours.loss_ == pytest.approx(theirs.loss_, rel=1e-9)
    np.testing.assert_allclose(ours.coefs_[0], theirs.coefs_[0], atol=1e-7)


def test_adagrad_by_a_slow_twin():
    X, y = groups(k=2)
    for scope in ("parameter", "node"):
        options = dict(
            solver="adagrad", adagrad_scope=scope, alpha=0.0, learning_rate_init=0.1, activation="tanh"
        )
        steps = list(MLPClassifier((4,), max_iter=4, random_state=0, tol=0.0, **options).iterate(X, y))
        params = [np.vstack([W, b]) for W, b in zip(steps[0].coefs_, steps[0].intercepts_)]
        G = [np.zeros_like(p) if scope == "parameter" else np.zeros(p.shape[1]) for p in params]
        for before, after in zip(steps, steps[1:]):
            _, dW, db = before.loss_and_gradients(X, y)
            for i, g in enumerate(np.vstack([w, b]) for w, b in zip(dW, db)):
                G[i] += g**2 if scope == "parameter" else (g**2).sum(axis=0)
                params[i] = params[i] - 0.1 * g / np.sqrt(np.where(G[i] > 0, G[i], 1.0))
            np.testing.assert_allclose(
                np.vstack([after.coefs_[0], after.intercepts_[0]]), params[0], atol=1e-10
            )


def test_decay_shrinks_even_where_the_loss_is_zero():
    init = ([np.array([[100.0]])], [np.zeros(1)])
    options = dict(loss="hinge", solver="sgd", momentum=0.0, learning_rate_init=0.1, max_iter=1, init=init)
    model = MLPClassifier((), weight_decay=0.5, **options).fit([[1.0], [-1.0]], [1, 0])
    assert model.coefs_[0][0, 0] == pytest.approx((1 - 0.1 * 0.5) * 100.0)
    scaled = MLPClassifier((), alpha=0.5, **options).fit([[1.0], [-1.0]], [1, 0])  # divided by the two rows
    assert scaled.coefs_[0][0, 0] == pytest.approx((1 - 0.1 * 0.25) * 100.0)


def test_clip_norm_limits_the_step():
    X, y = groups(k=2)
    options = dict(solver="sgd", momentum=0.0, learning_rate_init=1.0, max_iter=1, random_state=0)
    start, after = MLPClassifier((4,), clip_norm=1e-3, **options).iterate(X, y)
    moved = flat(after.coefs_, after.intercepts_) - flat(start.coefs_, start.intercepts_)
    assert np.linalg.norm(moved) == pytest.approx(1e-3)


def test_rates():
    X, y = groups(k=2)
    inverse = MLPClassifier((2,), learning_rate="inverse", batch_size=30, max_iter=3, tol=0.0).fit(X, y)
    np.testing.assert_allclose(inverse.learning_rates_, 1e-3 / np.array([2, 4, 6]))
    made = MLPClassifier((2,), learning_rate=Exponential(0.1, 0.5), batch_size=60, max_iter=3, tol=0.0).fit(
        X, y
    )
    np.testing.assert_allclose(made.learning_rates_, [0.1, 0.05, 0.025])
    options = dict(learning_rate="plateau", plateau_patience=2, tol=10.0, max_iter=7, early_stopping=True)
    plateau = MLPClassifier((2,), **options).fit(X, y)
    np.testing.assert_allclose(plateau.learning_rates_, [1e-3] * 4 + [1e-4] * 3)
    with pytest.warns(UserWarning, match="watches the training loss"):
        MLPClassifier((2,), learning_rate="plateau", max_iter=2).fit(X, y)


def test_early_stopping_gives_back_the_best_weights():
    X, y = groups(n=80)
    model = MLPClassifier(
        (8,), early_stopping=True, max_iter=40, learning_rate_init=0.1, random_state=0, tol=0.0
    )
    steps = list(model.iterate(X, y))
    model.fit(X, y)
    best = int(np.argmax(model.validation_scores_))
    assert best + 1 < model.n_iter_  # it went on after the best
    assert np.array_equal(model.coefs_[0], steps[best + 1].coefs_[0])
    np.testing.assert_allclose(model.trace_["validation_score"], model.validation_scores_)


# what comes out


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_several_labels_take_the_steps_of_scikit_learn(activation):
    from sklearn.neural_network import MLPClassifier as Theirs

    X, Y = make_multilabel_classification(100, n_features=5, n_classes=4, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"activation": activation, "solver": "lbfgs", "max_iter": 5, "random_state": 0}
    ours, theirs = (cls((20,), **options).fit(X, Y) for cls in (MLPClassifier, Theirs))
    assert ours.loss_ == pytest.approx(theirs.loss_, rel=1e-10)
    np.testing.assert_allclose(ours.coefs_[0], theirs.coefs_[0], rtol=1e-7, atol=1e-9)


def test_evaluations_of_the_objective_are_a_budget():
    X, y = load_iris(return_X_y=True)
    model = MLPClassifier((20,), solver="lbfgs", max_iter=100, max_fun=8, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_fun=8"):
        model.fit(X, y)
    assert not model.converged_ and model.n_iter_ <= 8


def test_warm_start_wants_data_of_the_same_kind():
    X, y = load_iris(return_X_y=True)
    model = MLPClassifier((3,), max_iter=2, warm_start=True, random_state=0).fit(X, y)
    old = model.coefs_[0].copy()
    for other in (y > 0, np.where(y == 2, 3, y)):
        with pytest.raises(DataError, match=r"Previously got \[0 1 2\], `y` has"):
            model.fit(X, other)
    with pytest.raises(DataError, match="same number of columns as .* Previously got 4, X has 2"):
        model.fit(X[:, :2], y)
    assert np.array_equal(model.coefs_[0], old)


def test_a_score_that_overflows_and_a_validation_set_of_one_row_are_said():
    X, y = load_iris(return_X_y=True)
    wild = MLPRegressor(hidden_layer_sizes=100, activation="identity", solver="sgd", learning_rate_init=1.0,
                        max_iter=20, early_stopping=True, random_state=0)  # fmt: skip
    with pytest.raises(DivergenceError, match="learning_rate_init=1"):
        wild.fit(X, y)
    with pytest.raises(DataError, match="validation set is too small"):
        MLPRegressor(early_stopping=True, random_state=0).fit(X[:2], y[:2])


def test_several_labels():
    X, Y = make_multilabel_classification(100, n_features=5, n_classes=4, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # raw counts stop scikit-learn's L-BFGS at 0.82, too
    for given in (Y, sparse.csr_array(Y)):
        model = MLPClassifier((20,), solver="lbfgs", max_iter=300, random_state=0).fit(X, given)
        said = model.predict(X)
        assert said.shape == Y.shape and (said == Y).mean() > 0.97
        p = model.predict_proba(X)
        assert np.abs(p.sum(axis=1) - 1).max() > 0.1
        assert np.array_equal(said, p > 0.5)
    with pytest.raises(DataError, match="loss='hinge' is for exclusive classes"):
        MLPClassifier(loss="hinge").fit(X, Y)


def test_softmax_of_two_is_a_sigmoid_of_the_difference():
    X, y = groups(k=2)
    two = MLPClassifier((4,), output="softmax", random_state=0, max_iter=5).fit(X, y)
    F = two.decision_function(X)
    assert F.shape == (60, 2)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(F[:, 0] - F[:, 1])), rtol=1e-12)
    np.testing.assert_allclose(np.exp(two.predict_log_proba(X)), two.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "perceptron", "squared_error", "sigmoid_squared"])
@pytest.mark.parametrize("k", [2, 3])
def test_every_loss_learns(loss, k):
    X, y = groups(n=90, k=k)
    labels = np.array(["a", "b", "c"])[y]
    options = dict(loss=loss, learning_rate_init=0.02, max_iter=150, random_state=0)
    model = MLPClassifier((16,), **options).fit(X, labels)
    assert model.score(X, labels) > 0.85
    assert hasattr(model, "predict_proba") == (loss == "sigmoid_squared")
    if loss == "hinge":
        with pytest.raises(AttributeError, match="predict_proba") as refused:
            model.predict_proba(X)
        assert "loss='hinge' has none" in str(refused.value.__cause__)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "poisson"])
def test_every_regression_loss_learns(loss):
    X = np.linspace(-1, 1, 80)[:, None]
    y = np.exp(X[:, 0])
    model = MLPRegressor(loss, (16,), learning_rate_init=0.05, max_iter=400, tol=1e-6, random_state=0).fit(
        X, y
    )
    assert model.score(X, y) > 0.95
    if loss == "poisson":
        assert (model.predict(X) > 0).all()
        with pytest.raises(DataError, match="not negative"):
            model.fit(X, y - 2)


def test_reductions_to_two_classes_take_networks():
    X, y = groups(n=60)
    net = MLPClassifier((5,), solver="lbfgs", max_iter=50, random_state=0)
    codes = OutputCodeClassifier(net, code_size=3.0, random_state=0)
    for reduction in (OneVsRestClassifier(net), OneVsOneClassifier(net), codes):
        assert reduction.fit(X, y).score(X, y) > 0.85


def test_top_k_error_is_scikit_learns():
    from sklearn.metrics import top_k_accuracy_score

    scores_ = np.array([[0.1, 0.5, 0.25, 0.15], [0.4, 0.3, 0.2, 0.1], [0.06, 0.04, 0.1, 0.8]])
    errors = [1 - top_k_accuracy_score([2, 3, 0], scores_, k=k, labels=range(4)) for k in (1, 2, 3)]
    assert errors == pytest.approx([1.0, 2 / 3, 1 / 3])


def test_dropout_trains_and_averages():
    X, y = groups(n=200)
    X = X + 3.0 * np.eye(3)[y]
    options = dict(dropout=[0.5, 0.2], max_iter=60, learning_rate_init=0.01, random_state=0, batch_size=50)
    model = MLPClassifier((30, 20), **options).fit(X, y)
    assert model.score(X, y) > 0.8
    assert (model.predict(X, n_dropout_samples=20) == model.predict(X)).mean() > 0.9
    mean, std = model.dropout_scores(X, 50)
    assert mean.shape == std.shape == (200, 3) and (std > 0).all()
    with pytest.raises(ValueError, match="dropout=0"):
        MLPClassifier((3,), max_iter=2).fit(X, y).predict(X, n_dropout_samples=3)


def test_class_weight_is_a_row_weight():
    X, y = groups(k=2)
    heavy = MLPClassifier((3,), class_weight={0: 1.0, 1: 5.0}, max_iter=10, random_state=0).fit(X, y)
    plain = MLPClassifier((3,), max_iter=10, random_state=0).fit(X, y, np.where(y == 1, 5.0, 1.0))
    assert np.array_equal(heavy.coefs_[0], plain.coefs_[0])


def test_maxout_by_hand():
    model = MLPRegressor(hidden_layer_sizes=(1,), activation="maxout").set_weights(
        [[[1.0, -2.0], [-1.0, 0.5]], [[1.0]]], [[0.5, 0.0], [0.0]]
    )
    assert model.predict([[1.0, 2.0]])[0] == -0.5


def test_sparse_rows_are_dense_rows():
    X, y = groups(n=300)
    X = np.where(np.abs(X) < 1, 0.0, X)
    model = MLPClassifier((6,), max_iter=5, batch_size=64, random_state=0)
    dense = model.fit(X, y).coefs_[0]
    assert np.array_equal(dense, model.fit(sparse.csr_array(X), y).coefs_[0])


# going on, keeping


def test_warm_start_goes_on():
    X, y = groups()
    model = MLPClassifier((5,), warm_start=True, max_iter=10, random_state=0).fit(X, y)
    first = model.loss_curve_[-1]
    model.fit(X, y)
    assert len(model.loss_curve_) == 20 and model.loss_curve_[10] < first + 0.05


def test_save_load_and_module(tmp_path):
    X, y = groups()
    model = MLPClassifier((5, 4), ["tanh", "maxout"], max_iter=5, random_state=0).fit(X, y)
    gnomon.save(model, tmp_path / "net")
    loaded = gnomon.load(tmp_path / "net")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        said = model.to_module()(torch.as_tensor(X)).numpy()
    np.testing.assert_allclose(said, model.decision_function(X), rtol=1e-10)


def test_a_file_with_impossible_weights_is_refused(tmp_path):
    X, y = groups()
    model = MLPClassifier((5,), max_iter=2).fit(X, y)
    model.coefs_ = [W[:-1] for W in model.coefs_]
    gnomon.save(model, tmp_path / "net")
    with pytest.raises(gnomon.core.errors.ModelFileError, match="do not fit together"):
        gnomon.load(tmp_path / "net")


@pytest.mark.parametrize("memory", ["first", "second"])
def test_a_file_whose_optimizer_remembers_other_weights_is_refused(tmp_path, memory):
    X, y = groups()
    model = MLPClassifier((5,), max_iter=2).fit(X, y)
    model.optimizer_ = model.optimizer_._replace(**{memory: np.zeros(3)})
    gnomon.save(model, tmp_path / "net")
    with pytest.raises(gnomon.core.errors.ModelFileError, match="optimizer remembers"):
        gnomon.load(tmp_path / "net")


# awkward


def test_clear_errors():
    X, y = groups()
    with pytest.raises(DataError, match="1 class"):
        MLPClassifier().fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="give alpha or weight_decay, not both"):
        MLPClassifier(alpha=0.1, weight_decay=0.1).fit(X, y)
    with pytest.raises(ValueError, match="cannot be trained"):
        MLPClassifier(activation="sign").fit(X, y)
    with pytest.raises(ValueError, match="one for each of the 1 hidden layers"):
        MLPClassifier(activation=["relu", "tanh"]).fit(X, y)
    with pytest.raises(ValueError, match="below 1"):
        MLPClassifier(dropout=[1.0]).fit(X, y)
    with pytest.raises(ValueError, match="same objective at every step"):
        MLPClassifier(solver="lbfgs", dropout=0.5).fit(X, y)
    with pytest.raises(DataError, match="init must hold weights of shapes"):
        MLPClassifier((2,), init=([np.eye(2)], [np.zeros(2)])).fit(X, y)
    with pytest.raises(ValueError, match="Did you mean 'relu'"):
        MLPClassifier(activation="rellu").fit(X, y)
    with pytest.raises(ValueError, match="layer must be below 1"):
        MLPClassifier((2,), max_iter=1).fit(X, y).hidden(X, 1)
    with pytest.raises(AttributeError, match="partial_fit"):
        MLPClassifier(solver="lbfgs").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="classes must be passed"):
        MLPClassifier().partial_fit(X, y)


def test_a_loss_that_runs_away_names_epoch_rate_and_slope():
    X, y = groups()
    with (
        pytest.raises(
            DivergenceError, match=r"not finite in epoch \d+: learning_rate_init=1e\+200, largest slope"
        ),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        MLPRegressor(solver="sgd", learning_rate_init=1e200, max_iter=50).fit(X, y)


def test_not_converged_is_said():
    X, y = groups()
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=2"):
        MLPClassifier(max_iter=2).fit(X, y)


def test_digits_are_learned():
    X, y = load_digits(return_X_y=True)
    model = MLPClassifier((50,), max_iter=30, learning_rate_init=0.005, random_state=0).fit(
        X[:1200] / 16, y[:1200]
    )
    assert model.score(X[1200:] / 16, y[1200:]) > 0.9
    assert model.gradient_norms_.shape == (30, 2) and (model.gradient_norms_ > 0).all()
    assert scores(model._fitted_stack(), model._params(), X[:5] / 16).shape == (5, 10)
