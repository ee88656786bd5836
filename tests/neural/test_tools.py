"""Activations, graphs of numbers, Jacobians, gradient checks, staircases: by hand and by differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.errors import DataError
from gnomon.neural import (
    Activation,
    MLPClassifier,
    MLPRegressor,
    Value,
    check_gradients,
    gradient_flow,
    jacobian,
    sigmoid_staircase,
    sweep,
)
from gnomon.solvers import batches, minimize

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
Z = np.array([-2.0, -0.5, 0.0, 0.5, 2.0])


# activations


def test_activations_by_hand():
    value = {
        name: Activation(name).value(Z) for name in ("leaky_relu", "elu", "logistic", "rbf", "sign", "relu")
    }
    np.testing.assert_allclose(value["leaky_relu"], [-0.2, -0.05, 0, 0.5, 2])
    np.testing.assert_allclose(value["elu"], [-0.86466472, -0.39346934, 0, 0.5, 2], atol=1e-8)
    np.testing.assert_allclose(
        value["logistic"], [0.11920292, 0.37754067, 0.5, 0.62245933, 0.88079708], atol=1e-8
    )
    np.testing.assert_allclose(value["rbf"], [0.01831564, 0.77880078, 1, 0.77880078, 0.01831564], atol=1e-8)
    assert value["sign"].tolist() == [-1, -1, 1, 1, 1]
    assert value["relu"].tolist() == [0, 0, 0, 0.5, 2]
    np.testing.assert_array_equal(Activation("tanh").value(Z), np.tanh(Z))
    np.testing.assert_array_equal(Activation("identity").value(Z), Z)


def test_slopes_at_the_kink():
    at_zero = {
        name: float(Activation(name).derivative([0.0])[0]) for name in ("relu", "leaky_relu", "elu", "sign")
    }
    assert at_zero == {"relu": 0.0, "leaky_relu": 0.1, "elu": 1.0, "sign": 0.0}


@pytest.mark.parametrize("name", ["identity", "logistic", "tanh", "relu", "leaky_relu", "elu", "rbf", "sign"])
def test_derivatives_are_differences(name):
    f, z = Activation(name), np.array([-3.1, -0.7, 0.2, 1.9])
    np.testing.assert_allclose(f.derivative(z), (f.value(z + 1e-6) - f.value(z - 1e-6)) / 2e-6, atol=1e-8)


def test_maxout_and_softmax():
    maxout = Activation("maxout")
    assert maxout.value([1.0 - 2.0 + 0.5, -2.0 + 1.0]).tolist() == [-0.5]
    assert maxout.derivative([1.0, 1.0, 0.0, 3.0]).tolist() == [1, 0, 0, 1]  # the first of equals
    softmax, z = Activation("softmax"), np.array([3.2, 5.1, -1.7])
    p = softmax.value(z)
    np.testing.assert_allclose(p, [0.12998254, 0.86904954, 0.00096793], atol=1e-8)
    np.testing.assert_allclose(softmax.value(z + 1000.0), p, atol=1e-12)
    differences = [(softmax.value(z + e) - softmax.value(z - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(softmax.derivative(z), np.transpose(differences), atol=1e-9)
    with pytest.raises(ValueError, match="divisible by 2"):
        maxout.value([1.0, 2.0, 3.0])


def test_unknown_activation_gets_a_suggestion():
    with pytest.raises(ValueError, match="Did you mean 'leaky_relu'"):
        Activation("leaky_relo")


# graphs of numbers


def test_product_of_a_sum():
    x, y, z = Value(-2), Value(5), Value(-4)
    q = x + y
    f = q * z
    f.backward()
    assert (f.data, x.grad, y.grad, z.grad, q.grad) == (-12, -4, -4, 3, -4)


def test_a_neuron():
    w0, x0, w1, x1, w2 = (Value(v) for v in (2, -1, -3, -2, -3))
    f = (w0 * x0 + w1 * x1 + w2).sigmoid()
    f.backward()
    assert f.data == pytest.approx(0.7310585786, abs=1e-10)
    slopes = [node.grad for node in (w0, x0, w1, x1, w2)]
    np.testing.assert_allclose(
        slopes, [-0.1966119332, 0.3932238665, -0.3932238665, -0.5898357997, 0.1966119332], atol=1e-10
    )


def test_gate_rules():
    a, b = Value(3.0), Value(-2.0)
    for result, slopes in ((a + b, (1, 1)), (a * b, (-2, 3)), (a.max(b), (1, 0)), (b.max(a), (1, 0))):
        result.backward()
        assert (a.grad, b.grad) == slopes
    used_twice = a * a + a
    used_twice.backward()
    assert a.grad == 7.0
    assert a.max(3.0).parents[0] is a


@given(st.lists(st.floats(0.2, 2.0), min_size=3, max_size=3))
@settings(max_examples=20, deadline=None)
def test_forward_reverse_and_differences_agree(numbers):
    def build(values):
        a, b, c = values
        return ((a * b).tanh() + c.log() * (a / b) - (b**1.5).exp() + (a - c).relu() + 2.0 / c).sigmoid()

    nodes = [Value(v) for v in numbers]
    f = build(nodes)
    f.backward()
    direction = [1.0, -2.0, 0.5]
    assert f.tangent(dict(zip(nodes, direction))) == pytest.approx(
        np.dot([n.grad for n in nodes], direction), abs=1e-12
    )
    if abs(numbers[0] - numbers[2]) > 1e-3:
        for i in range(3):
            shifted = [[v + s * 1e-6 * (j == i) for j, v in enumerate(numbers)] for s in (1, -1)]
            up, down = (build([Value(v) for v in one]).data for one in shifted)
            assert nodes[i].grad == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-8)


def test_a_power_must_be_a_number():
    with pytest.raises(TypeError, match="plain number"):
        Value(2.0) ** Value(3.0)


# Jacobians


def test_squared_norm_of_a_product():
    pytest.importorskip("torch")
    W, x = np.array([[0.1, 0.5], [-0.3, 0.8]]), np.array([0.2, 0.4])
    f = lambda w: ((w.reshape(2, 2) @ w.new_tensor(x)) ** 2).sum()  # noqa: E731
    slope = jacobian(f, W.ravel(), left=1.0)
    np.testing.assert_allclose(slope.reshape(2, 2), [[0.088, 0.176], [0.104, 0.208]], atol=1e-12)
    g = lambda z: ((z.new_tensor(W) @ z) ** 2).sum()  # noqa: E731
    np.testing.assert_allclose(jacobian(g, x, left=1.0), [-0.112, 0.636], atol=1e-12)


def test_forward_mode_by_hand():
    torch = pytest.importorskip("torch")
    f = lambda w: torch.tanh(w[0] * w[1]) + torch.exp(w[1]) * w[2]  # noqa: E731
    w, v = [0.5, -1.0, 2.0], [1.0, 2.0, -1.0]
    gradient = jacobian(f, w, left=1.0)
    np.testing.assert_allclose(gradient, [-0.7864477330, 1.1289827488, 0.3678794412], atol=1e-10)
    assert jacobian(f, w, right=v) == pytest.approx(1.1036383235, abs=1e-10) == gradient @ v


def test_jacobian_is_numerator_layout():
    torch = pytest.importorskip("torch")
    W = np.arange(6.0).reshape(2, 3)
    f = lambda x: torch.tensor(W) @ x  # noqa: E731
    np.testing.assert_array_equal(jacobian(f, np.ones(3)), W)
    u, v = np.array([2.0, -1.0]), np.array([1.0, 0.5, 3.0])
    np.testing.assert_allclose(jacobian(f, np.ones(3), right=v), W @ v)
    np.testing.assert_allclose(jacobian(f, np.ones(3), left=u), W.T @ u)
    with pytest.raises(ValueError, match="right or left"):
        jacobian(f, np.ones(3), right=v, left=u)


# checks of gradients


def data(n=20, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), np.arange(n) % k


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "perceptron"])
def test_check_passes_and_counts_kinks(loss):
    X, y = data()
    model = MLPClassifier((6, 5), ["relu", "maxout"], loss=loss, max_iter=2, random_state=0).fit(X, y)
    rows = check_gradients(model, X, y, max_entries=15)
    assert [row.layer for row in rows][:2] == ["layer 1 weights", "layer 1 biases"] and len(rows) == 6
    assert all(row.passed and row.max_relative_error < 1e-6 for row in rows)
    assert sum(row.checked + row.skipped for row in rows) == 15 + 6 + 15 + 10 + 15 + 3
    at_kink = MLPRegressor(hidden_layer_sizes=(1,)).set_weights(
        [np.ones((1, 1)), np.ones((1, 1))], [[0.0], [0.0]]
    )
    rows = check_gradients(at_kink, [[0.0]], [1.0])
    assert rows[1].skipped == 1 and rows[1].checked == 0


def test_check_catches_a_wrong_gradient(monkeypatch):
    import gnomon.neural.dense_plan as plan

    X, y = data()
    model = MLPClassifier((5,), "tanh", max_iter=1, random_state=0).fit(X, y)
    right = plan.objective

    def wrong(*given):
        value, slope = right(*given)
        slope[3] += 1e-3
        return value, slope

    monkeypatch.setattr(plan, "objective", wrong)
    rows = check_gradients(model, X, y)
    assert [row.passed for row in rows] == [False, True, True, True]
    with pytest.raises(DataError, match="no dense network"):
        check_gradients(object(), X, y)


def test_gradient_flow_names_vanishing_and_exploding():
    X, y = data()
    deep = MLPClassifier((6,) * 12, "logistic", max_iter=1, random_state=0).fit(X, y)
    flow = gradient_flow(deep, X, y)
    assert flow.verdict == "vanishing" and "relu" in flow.advice
    assert flow.signal_norms.shape == (13,) and flow.weight_norms.shape == (13,)
    assert flow.ratio <= flow.bound
    wild = MLPClassifier((6,) * 8, "identity", init="uniform", init_scale=5.0, max_iter=1, random_state=0)
    wild.set_params(learning_rate_init=1e-12).fit(X, y)
    assert gradient_flow(wild, X, y).verdict == "exploding"
    plain = MLPClassifier((6,), "tanh", max_iter=1, random_state=0).fit(X, y)
    flow = gradient_flow(plain, X, y)
    assert flow.verdict == "healthy"
    slopes = plain.set_params(alpha=0.0).loss_and_gradients(X, y)[1]
    np.testing.assert_allclose(flow.weight_norms, [np.linalg.norm(W) for W in slopes], rtol=1e-10)


# update rules: one home with the solvers


def test_momentum_adagrad_and_adam_by_hand():
    square = lambda w: (float(w @ w), 2 * w)  # noqa: E731
    path = minimize(square, [1.0], method="momentum", momentum=0.9, learning_rate=0.1, max_iter=4, tol=0).path
    np.testing.assert_allclose(np.ravel(path[1:]), [0.8, 0.46, 0.062, -0.3086], atol=1e-12)
    slopes = iter([(0.5, 0.0), (0.5, 1.0), (-0.25, 2.0), (0.0, 0.0)])
    given = lambda w: (0.0, np.array(next(slopes)))  # noqa: E731
    path = minimize(given, [1.0, -2.0], method="adagrad", learning_rate=0.1, max_iter=3, tol=-1).path
    expected = [(0.9, -2), (0.8292893219, -2.1), (0.8626226552, -2.1894427191)]
    np.testing.assert_allclose(path[1:], expected, atol=1e-9)
    path = minimize(square, [1.0], method="adam", learning_rate=0.1, max_iter=3, tol=0).path
    np.testing.assert_allclose(np.ravel(path[1:]), [0.9000000005, 0.8004122287, 0.7015862729], atol=1e-9)


def test_batches_with_and_without_replacement():
    rng = np.random.default_rng(0)
    assert sorted(np.concatenate(list(batches(10, 3, rng)))) == list(range(10))
    assert len(np.unique(np.concatenate(list(batches(100, 10, rng, mode="random"))))) < 100


# what a hidden layer can represent


def test_staircase_by_hand():
    for steps, error in ((10, 0.0975), (100, 0.009975)):
        assert sigmoid_staircase(lambda x: x**2, 0, 1, steps)[1] == pytest.approx(error, abs=1e-9)
    network, _ = sigmoid_staircase(lambda x: x**2, 0, 1, 10)
    np.testing.assert_allclose(network.predict([[0.0], [0.06], [0.999]]), [0.0, 0.01, 1.0], atol=1e-12)
    soft, error = sigmoid_staircase(np.sin, 0, 6, 60, steepness=200.0)
    grid = np.linspace(0, 6, 501)
    assert np.abs(soft.predict(grid[:, None]) - np.sin(grid)).max() <= error + 1e-9 < 0.1
    for arguments in ((0, 1, 0), (1, 0, 3)):
        with pytest.raises(ValueError):
            sigmoid_staircase(np.sin, *arguments)


def test_error_falls_as_the_layer_widens():
    errors = [sigmoid_staircase(np.cos, 0, 3, n)[1] for n in (4, 8, 16, 32, 64)]
    assert all(b < 0.6 * a for a, b in zip(errors, errors[1:]))


def test_xor():
    net = MLPRegressor(hidden_layer_sizes=(2,))
    net.set_weights([[[1.0, 1.0], [1.0, 1.0]], [[1.0], [-2.0]]], [[0.0, -1.0], [0.0]])
    assert net.predict([[0, 0], [0, 1], [1, 0], [1, 1]]).tolist() == [0, 1, 1, 0]


def test_sweep_over_widths_and_rates():
    X, y = data(60, k=2)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    fits = sweep(
        MLPClassifier(solver="lbfgs", max_iter=200, random_state=0), X, y, hidden_layer_sizes=[1, 20]
    )
    assert fits[20].score(X, y) > fits[1].score(X, y)
    rates = sweep(MLPClassifier((5,), max_iter=10, random_state=0), X, y, learning_rate_init=[0.001, 0.1])
    assert rates[0.1].trace_[-1] < rates[0.001].trace_[-1]
    with pytest.raises(ValueError, match="one parameter"):
        sweep(MLPClassifier(), X, y, alpha=[1], tol=[1])
