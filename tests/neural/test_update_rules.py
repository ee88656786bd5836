"""Options of small networks, step by step, against updates by formula from slopes by differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.neural import MLPClassifier, MLPRegressor

RNG = np.random.default_rng(0)
X, Y, LABELS = RNG.normal(size=(12, 2)), RNG.normal(size=12), np.arange(12) % 2
SHAPES = [(2, 3), (3, 1), (3,), (1,)]
START = [RNG.normal(size=shape) for shape in SHAPES]
FLAT = np.concatenate([part.ravel() for part in START])
HIDDEN = {
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "elu": lambda z: np.where(z > 0, z, np.expm1(z)),
    "leaky_relu": lambda z: np.where(z > 0, z, 0.1 * z),
    "identity": lambda z: z,
}
LOSSES = {
    "squared_error": lambda f: (f - Y) ** 2 / 2,
    "huber": lambda f: np.where(np.abs(f - Y) <= 0.4, (f - Y) ** 2 / 2, 0.4 * np.abs(f - Y) - 0.08),
    "absolute_error": lambda f: np.abs(f - Y),
    "log_loss": lambda f: np.logaddexp(0, f) - LABELS * f,
}


def parts(flat):
    ends = np.cumsum([np.prod(shape) for shape in SHAPES])[:-1]
    return [piece.reshape(shape) for piece, shape in zip(np.split(flat, ends), SHAPES, strict=True)]


def objective(flat, activation, loss, alpha, decay):
    W, v, b, c = parts(flat)
    found = HIDDEN[activation](X @ W + b) @ v[:, 0] + c
    squares = (W**2).sum() + (v**2).sum()
    return LOSSES[loss](found).mean() + (alpha / len(X) + decay) * squares / 2


def slope(flat, *settings, h=1e-6):
    steps = h * np.eye(len(flat))
    return np.array([objective(flat + s, *settings) - objective(flat - s, *settings) for s in steps]) / (
        2 * h
    )


def learned(epochs, kind="number", **options):
    cls = MLPRegressor if kind == "number" else MLPClassifier
    given = dict(
        hidden_layer_sizes=(3,), activation="tanh", solver="sgd", alpha=0.0, batch_size=12, momentum=0.0
    )
    given |= dict(learning_rate_init=0.1, shuffle=False, tol=0.0, n_iter_no_change=1000, random_state=0)
    model = cls(max_iter=epochs, init=([START[0], START[1]], [START[2], START[3]]), **{**given, **options})
    model.fit(X, Y if kind == "number" else LABELS)
    return np.concatenate([np.ravel(part) for part in (*model.coefs_, *model.intercepts_)])


def by_formula(rule, epochs, activation="tanh", loss="squared_error", alpha=0.0, decay=0.0):
    flat, memory = FLAT.copy(), {}
    for t in range(epochs):
        flat = flat + rule(slope(flat, activation, loss, alpha, decay), t, memory)
    return flat


def plain(g, t, memory):
    return -0.1 * g


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("activation", HIDDEN)
@pytest.mark.parametrize("kind", ["number", "class"])
def test_hidden_units(activation, kind):
    loss = "squared_error" if kind == "number" else "log_loss"
    expected = by_formula(plain, 3, activation, loss)
    assert_allclose(learned(3, kind, activation=activation), expected, atol=1e-6)


@pytest.mark.parametrize("loss", ["huber", "absolute_error"])
def test_losses_of_numbers(loss):
    assert_allclose(learned(3, loss=loss, huber_delta=0.4), by_formula(plain, 3, loss=loss), atol=1e-6)


def adam(beta_1, beta_2, epsilon):
    def rule(g, t, memory):
        m = memory["m"] = beta_1 * memory.get("m", 0) + (1 - beta_1) * g
        v = memory["v"] = beta_2 * memory.get("v", 0) + (1 - beta_2) * g * g
        rate = 0.1 * np.sqrt(1 - beta_2 ** (t + 1)) / (1 - beta_1 ** (t + 1))
        return -rate * m / (np.sqrt(v) + epsilon)

    return rule


@pytest.mark.parametrize("kind", ["number", "class"])
@pytest.mark.parametrize(
    ("beta_1", "beta_2", "epsilon"), [(0.9, 0.999, 1e-8), (0.3, 0.9, 1e-8), (0.9, 0.5, 0.05)]
)
def test_adam(kind, beta_1, beta_2, epsilon):
    loss = "squared_error" if kind == "number" else "log_loss"
    found = learned(4, kind, solver="adam", beta_1=beta_1, beta_2=beta_2, epsilon=epsilon)
    assert_allclose(found, by_formula(adam(beta_1, beta_2, epsilon), 4, loss=loss), atol=1e-5)


def momentum(nesterov):
    def rule(g, t, memory):
        v = memory["v"] = 0.7 * memory.get("v", 0) - 0.1 * g
        return 0.7 * v - 0.1 * g if nesterov else v

    return rule


def adagrad(g, t, memory):
    memory["s"] = memory.get("s", 0) + g * g
    return -0.1 * g / np.sqrt(memory["s"])


def clipped(g, t, memory):
    return -0.1 * g * min(1.0, 0.2 / np.linalg.norm(g))


@pytest.mark.parametrize("kind", ["number", "class"])
@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"momentum": 0.7, "nesterovs_momentum": False}, momentum(False)),
        ({"momentum": 0.7, "nesterovs_momentum": True}, momentum(True)),
        ({"solver": "adagrad"}, adagrad),
        ({"clip_norm": 0.2}, clipped),
        ({"learning_rate": "inverse"}, lambda g, t, memory: -0.1 * g / (t + 1)),
        ({"alpha": 3.0}, plain),
        ({"weight_decay": 0.5}, plain),
    ],
    ids=["momentum", "nesterov", "adagrad", "clip", "inverse", "alpha", "decay"],
)
def test_rules(kind, options, rule):
    loss = "squared_error" if kind == "number" else "log_loss"
    penalty = {"alpha": options.get("alpha", 0.0), "decay": options.get("weight_decay", 0.0)}
    assert_allclose(learned(4, kind, **options), by_formula(rule, 4, loss=loss, **penalty), atol=1e-5)


@pytest.mark.parametrize("kind", ["number", "class"])
def test_going_on_from_the_last_fit(kind):
    cls, y = (MLPRegressor, Y) if kind == "number" else (MLPClassifier, LABELS)
    start = ([START[0], START[1]], [START[2], START[3]])
    model = cls(hidden_layer_sizes=(3,), activation="tanh", solver="sgd", alpha=0.0, batch_size=12, momentum=0.0,
                learning_rate_init=0.1, tol=0.0, init=start, warm_start=True, max_iter=2, random_state=0)  # fmt: skip
    model.fit(X, y).fit(X, y)
    found = np.concatenate([np.ravel(part) for part in (*model.coefs_, *model.intercepts_)])
    assert_allclose(found, learned(4, kind), atol=1e-10)


@pytest.mark.parametrize("cls", [MLPClassifier, MLPRegressor])
@pytest.mark.parametrize("init", ["glorot", "fan_in", "he", "uniform", "zeros"])
def test_starts(cls, init):
    y = LABELS if cls is MLPClassifier else Y
    model = cls(hidden_layer_sizes=(400,), activation="relu", solver="sgd", learning_rate_init=1e-300, init=init,
                init_scale=0.3, max_iter=1, random_state=0).fit(X, y)  # fmt: skip
    weights = model.coefs_[0]
    expected = {
        "he": 1.0,
        "fan_in": np.sqrt(1 / 2),
        "uniform": 0.3 / np.sqrt(3),
        "glorot": np.sqrt(6 / 402 / 3),
        "zeros": 0.0,
    }
    assert weights.std() == pytest.approx(expected[init], rel=0.1)
    if init in ("uniform", "glorot"):
        bound = 0.3 if init == "uniform" else np.sqrt(6 / 402)
        assert 0.97 * bound < np.abs(weights).max() <= bound
