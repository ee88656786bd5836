"""Ways into a network and out of it: tables on disk, modules of one's own, ONNX, batches of one."""

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.neural import (
    ConvNetClassifier,
    MLPClassifier,
    MLPRegressor,
    RecurrentLanguageModel,
    architecture,
    layers,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def table(path, n=300):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, "in", "out")
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.assign(kind=y).to_parquet(path)
    return frame, y


def test_a_parquet_file_of_one_part_is_learned_as_its_rows_are(tmp_path):
    path = tmp_path / "rows.parquet"
    X, y = table(path)
    options = {"max_iter": 4, "batch_size": 50, "random_state": 0}
    disk = MLPClassifier((5,), **options).fit(path, y="kind")
    memory = MLPClassifier((5,), **options).fit(X, y)
    assert disk.classes_.tolist() == ["in", "out"] and disk.feature_names_in_.tolist() == ["a", "b", "c"]
    assert disk.t_ == memory.t_ == 4 * 300
    assert disk.loss_curve_[0] == memory.loss_curve_[0]  # the same batches in the first epoch
    assert np.array_equal(disk.predict(path), disk.predict(X))
    again = MLPClassifier((5,), **options).fit(path, y="kind")
    assert np.array_equal(disk.coefs_[0], again.coefs_[0])


@pytest.mark.parametrize(
    "options", [{"solver": "lbfgs"}, {"early_stopping": True}, {"class_weight": "balanced"}], ids=str
)
def test_what_needs_all_rows_at_once_is_said(tmp_path, options):
    path = tmp_path / "rows.parquet"
    table(path)
    with pytest.raises(DataError, match="need all rows at once"):
        MLPClassifier(**options).fit(path, y="kind")


def test_onnx_computes_the_scores_of_any_number_of_rows(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    X, I = rng.normal(size=(7, 4)), rng.normal(size=(7, 1, 28, 28)).astype(np.float32)
    dense = MLPRegressor(hidden_layer_sizes=(3,), activation="tanh", max_iter=2, random_state=0).fit(
        X, X[:, :2]
    )
    net = ConvNetClassifier("lenet5", max_iter=1, early_stopping=False, random_state=0, device="cpu").fit(
        I, np.arange(7) % 3
    )
    for model, name, rows, scores in (
        (dense, "rows", X, dense.predict(X)),
        (net, "images", I, net.decision_function(I)),
    ):
        model.export(tmp_path / "net.onnx")
        session = runtime.InferenceSession(tmp_path / "net.onnx")
        np.testing.assert_allclose(session.run(None, {name: rows})[0], scores, atol=1e-5)
        np.testing.assert_allclose(session.run(None, {name: rows[:1]})[0], scores[:1], atol=1e-5)
    with pytest.raises(ValueError, match="must end in .safetensors or .onnx"):
        dense.export(tmp_path / "net.bin")


def test_weights_of_a_perceptron_are_written_as_safetensors(tmp_path):
    numpy_files = pytest.importorskip("safetensors.numpy")
    model = MLPClassifier((3,), max_iter=2, random_state=0).fit(np.eye(4), [0, 1, 0, 1])
    model.export(tmp_path / "net.safetensors")
    found = numpy_files.load_file(tmp_path / "net.safetensors")
    assert sorted(found) == ["coefs.0", "coefs.1", "intercepts.0", "intercepts.1"]
    assert np.array_equal(found["coefs.0"], model.coefs_[0])


def test_a_unit_that_would_be_left_alone_joins_the_batch_before():
    pytest.importorskip("torch")
    X, y = np.random.default_rng(0).normal(size=(9, 3, 3)), np.arange(9) % 2
    net = [layers.Dense(4), layers.BatchNorm()]
    model = ConvNetClassifier(net, max_iter=1, batch_size=4, early_stopping=False, random_state=0).fit(X, y)
    assert model.optimizer_["step"] == 2 and np.isfinite(model.loss_curve_[0])


def test_images_of_weight_zero_are_not_there():
    pytest.importorskip("torch")
    X, y = np.random.default_rng(0).normal(size=(20, 3, 3)), np.arange(20) % 2
    model = ConvNetClassifier(
        [layers.Dense(4)], max_iter=2, batch_size=4, shuffle=False, early_stopping=False, random_state=0
    )
    weight = np.repeat([0.0, 1.0], [8, 12])
    part = model.fit(X[8:], y[8:], sample_weight=weight[8:]).loss_curve_
    np.testing.assert_array_equal(model.fit(X, y, sample_weight=weight).loss_curve_, part)


def test_a_module_of_ones_own_has_no_account_and_must_fit_the_classes():
    torch = pytest.importorskip("torch")
    X, y = np.random.default_rng(0).normal(size=(12, 3, 3)), np.arange(12) % 3
    own = lambda n: lambda: torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(9, n))  # noqa: E731
    model = ConvNetClassifier(own(3), max_iter=1, early_stopping=False, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (12, 3)
    with pytest.raises(ValueError, match="module of your own"):
        model.describe()
    with pytest.raises(DataError, match=r"must give \(12, 3\)"):
        ConvNetClassifier(own(2), max_iter=1, early_stopping=False).fit(X, y)


def test_a_warm_start_with_other_words_is_refused():
    pytest.importorskip("torch")
    model = RecurrentLanguageModel(state_size=3, max_iter=1, warm_start=True, random_state=0).fit(["a b"])
    with pytest.raises(DataError, match="same vocabulary as"):
        model.fit(["c d"])
    with pytest.raises(ValueError, match="n must not be negative"):
        model.generate(-1)
    with pytest.raises(ValueError, match="temperature must not be negative"):
        model.generate(1, temperature=np.nan)


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_the_fast_kernel_over_words_equals_the_steps(cell):
    torch = pytest.importorskip("torch")
    from gnomon.neural.torch_recurrent import Recurrence

    torch.manual_seed(0)
    layer = Recurrence(cell, 7, 4, True, True).double()
    words = torch.randint(0, 7, (3, 6))
    fast, slow = layer(words)[0], layer(words, detach_every=100)[0]
    np.testing.assert_allclose(fast.detach(), slow.detach(), atol=1e-12)
    slopes = [torch.autograd.grad(found.square().sum(), layer.weight_x)[0] for found in (fast, slow)]
    np.testing.assert_allclose(*slopes, atol=1e-12)


def test_short_names_of_architectures():
    assert (
        architecture("resnet34").describe().parameters
        == architecture("resnet", depth=34).describe().parameters
    )
    assert architecture("vgg16").describe().parameters == 138_357_544
