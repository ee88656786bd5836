"""The compiled loops and PyTorch give the same losses, gradients and passes."""

import subprocess
import sys

import numpy as np
import pytest

from gnomon.neural import MLPClassifier, MLPRegressor
from gnomon.neural.dense_plan import LOSSES, Stack, objective

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-10), (np.float32, 1e-5)])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_engines_agree_on_losses_and_gradients(loss, dtype, tolerance):
    from gnomon.neural.torch_dense import loss_and_gradient

    rng = np.random.default_rng(0)
    for names in (("tanh", "maxout"), ("relu", "elu"), ("rbf", "leaky_relu"), ("logistic", "identity")):
        stack = Stack((4, 5, 3, 3), names, loss=loss, loss_parameter=0.8)
        params, X = rng.normal(size=stack.size()).astype(dtype), rng.normal(size=(7, 4)).astype(dtype)
        T = rng.integers(0, 2, size=(7, 3)).astype(dtype)
        if loss in ("hinge_binary", "perceptron"):
            T = 2 * T - 1
        if loss.endswith("multiclass"):
            T = rng.integers(0, 3, size=(7, 1)).astype(dtype)
        weight = rng.uniform(0.5, 2, size=7).astype(dtype)
        ours = objective(stack, params, X, T, weight, 0.1, 0.2)
        theirs = loss_and_gradient(stack, params, X, T, weight, 0.1, 0.2)
        assert ours[0] == pytest.approx(theirs[0], rel=tolerance)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "options",
    [{}, {"solver": "sgd"}, {"solver": "sgd", "nesterovs_momentum": False, "clip_norm": 0.1}, {"solver": "adagrad"},
     {"solver": "adagrad", "adagrad_scope": "node"}, {"solver": "sgd", "momentum": 0.0, "weight_decay": 0.1}],
    ids=str,
)  # fmt: skip
def test_engines_train_to_the_same_weights(options):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 3)), np.arange(50) % 3
    given = {"hidden_layer_sizes": (5,), "max_iter": 4, "batch_size": 20, "random_state": 0, **options}
    direct = MLPClassifier(**given).fit(X, y)
    other = MLPClassifier(engine="torch", **given).fit(X, y)
    np.testing.assert_allclose(direct.loss_curve_, other.loss_curve_, rtol=1e-9)
    np.testing.assert_allclose(direct.coefs_[0], other.coefs_[0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(direct.gradient_norms_, other.gradient_norms_, rtol=1e-8)


def test_torch_engine_drops_units_and_resumes_to_the_same():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    fits = [
        MLPRegressor(hidden_layer_sizes=(20,), dropout=0.5, engine="torch", max_iter=3, random_state=0)
        for _ in "ab"
    ]
    assert np.array_equal(fits[0].fit(X, y).coefs_[0], fits[1].fit(X, y).coefs_[0])


def test_the_package_loads_neither_torch_nor_numba():
    code = (
        "import sys, gnomon.neural as n; n.architecture('vgg').describe(); n.MLPClassifier; n.ConvNetClassifier; "
        "print([m for m in ('torch', 'numba', 'matplotlib') if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
