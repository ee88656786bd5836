"""Convolutional networks as estimators: learning, looking inside, going on, refusing."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import gnomon
from gnomon.core.errors import DataError, DivergenceError
from gnomon.neural import (
    Augmentation,
    ConvNetClassifier,
    ConvNetRegressor,
    MLPClassifier,
    Network,
    NetworkEnsemble,
    architecture,
    layers,
)

torch = pytest.importorskip("torch")
NET = [layers.Conv2d(4, 3), layers.Activation("relu"), layers.MaxPool(2), layers.Flatten(), layers.Dense(2)]


def bars(n=60, side=8, seed=0):
    """Standing and lying bars in noise."""
    rng = np.random.default_rng(seed)
    X, y = 0.2 * rng.normal(size=(n, side, side)), np.arange(n) % 2
    for image, label, at in zip(X, y, rng.integers(0, side, size=n)):
        image[:, at] += 1.0 - label
        image[at, :] += label
    return X, np.array(["standing", "lying"])[y]


def quick(net=NET, **options):
    given = {
        "max_iter": 8,
        "batch_size": 16,
        "early_stopping": False,
        "random_state": 0,
        "learning_rate_init": 0.05,
    }
    return ConvNetClassifier(net, **{**given, **options})


def test_bars_are_learned_and_forms_of_input_agree():
    X, y = bars()
    learner = quick(max_iter=20, solver="adam", learning_rate_init=0.02)
    assert learner.fit(X, y).score(*bars(seed=1)) > 0.9
    model = quick().fit(X, y)
    assert model.image_shape_ == (1, 8, 8) and model.input_scaling_ == 1.0
    flat = quick(input_shape=(1, 8, 8)).fit(X.reshape(60, -1), y)
    last = quick(data_format="channels_last").fit(X[..., None], y)
    for other in (flat, last, quick().fit(X[:, None], y)):
        assert np.array_equal(other.weights_["conv1.weight"], model.weights_["conv1.weight"])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_same_seed_same_bits_and_the_caller_is_left_alone():
    X, y = bars()
    torch.manual_seed(5)
    before = torch.get_rng_state().clone(), torch.get_num_threads()
    one, two = quick().fit(X, y), quick().fit(X, y)
    assert all(np.array_equal(one.weights_[k], two.weights_[k]) for k in one.weights_)
    assert torch.equal(before[0], torch.get_rng_state()) and before[1] == torch.get_num_threads()
    assert quick(random_state=1).fit(X, y).trace_[0] != one.trace_[0]


def test_bytes_are_scaled():
    X, y = bars()
    model = quick(max_iter=1).fit(np.clip(255 * X, 0, 255).astype(np.uint8), y)
    assert model.input_scaling_ == 255.0


def test_hinge_loss_learns():
    X, y = bars()
    assert quick(loss="hinge").fit(X, y).score(X, y) > 0.9


def test_signals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 10))
    net = [layers.Conv1d(4, 3), layers.Activation("relu")]
    model = ConvNetRegressor(net, solver="adam", max_iter=60, early_stopping=False, random_state=0).fit(
        X, X[:, 2] - X[:, 5]
    )
    assert model.score(X, X[:, 2] - X[:, 5]) > 0.9


def test_early_stopping_gives_back_the_best_weights():
    X, y = bars(80)
    model = quick(early_stopping=True, validation_fraction=0.25, max_iter=12, learning_rate="constant")
    steps = list(model.iterate(X, y))
    model.fit(X, y)
    best = int(np.argmax(model.trace_["validation_score"]))
    assert (
        np.array_equal(model.weights_["conv1.weight"], steps[best + 1].weights_["conv1.weight"])
        or best + 1 == len(steps) - 1
    )
    assert len(model.trace_["validation_loss"]) == model.n_iter_


def test_plateau_divides_the_rate():
    X, y = bars()
    model = quick(learning_rate="plateau", n_iter_no_change=1, tol=100.0, max_iter=6).fit(X, y)
    assert model.optimizer_["rate"] == pytest.approx(0.05 / 100)


def test_resume_partial_and_warm(tmp_path):
    X, y = bars()
    drop = [*NET[:4], layers.Dropout(0.3), layers.BatchNorm(), layers.Dense(2)]
    plain = quick(drop, max_iter=5, solver="adam").fit(X, y)
    path = tmp_path / "fit"

    class Break:
        count = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            self.count += 1
            if self.count == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(drop, max_iter=5, solver="adam").set_callbacks(
            gnomon.Checkpoint(path, every_seconds=0), Break()
        ).fit(X, y)
    resumed = (
        quick(drop, max_iter=5, solver="adam")
        .set_callbacks(gnomon.Checkpoint(path, every_seconds=0))
        .fit(X, y)
    )
    assert all(np.array_equal(plain.weights_[k], resumed.weights_[k]) for k in plain.weights_)
    parts = quick(drop, solver="adam")
    for _ in range(5):
        parts.partial_fit(X, y, classes=["standing", "lying"])
    assert all(np.array_equal(plain.weights_[k], parts.weights_[k]) for k in plain.weights_)
    warm = quick(warm_start=True).fit(X, y)
    assert warm.fit(X, y).trace_[0] < 0.5


def test_saved_and_exported(tmp_path):
    X, y = bars()
    model = quick().fit(X, y)
    gnomon.save(model, tmp_path / "net")
    assert np.array_equal(gnomon.load(tmp_path / "net").decision_function(X), model.decision_function(X))
    model.export(tmp_path / "net.safetensors")
    from safetensors.numpy import load_file

    kept = load_file(tmp_path / "net.safetensors")
    assert np.array_equal(kept["conv1.weight"], model.weights_["conv1.weight"])
    module = model.to_module()
    with torch.no_grad():
        said = module(torch.as_tensor(X[:, None], dtype=torch.float32)).numpy()
    np.testing.assert_allclose(said, model.decision_function(X), atol=1e-6)
    with pytest.raises(ValueError, match="safetensors or .onnx"):
        model.export(tmp_path / "net.pt")
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="pip install onnxscript"):
            model.export(tmp_path / "net.onnx")


def test_a_damaged_file_is_refused(tmp_path):
    X, y = bars()
    model = quick(max_iter=1).fit(X, y)
    model.weights_ = {**model.weights_, "conv1.weight": model.weights_["conv1.weight"][:2]}
    gnomon.save(model, tmp_path / "net")
    with pytest.raises(gnomon.core.errors.ModelFileError, match="do not fit the network"):
        gnomon.load(tmp_path / "net")


@pytest.mark.parametrize("change", [lambda memory: memory[:1], lambda memory: np.float32(0.0)])
def test_an_optimizer_that_remembers_other_weights_is_refused(change, tmp_path):
    """PyTorch would write as many numbers as there are weights."""
    X, y = bars()
    model = quick(max_iter=1).fit(X, y)
    kept = model.optimizer_["state"]
    key, name = next((key, name) for key, part in kept.items() for name in part if np.ndim(part[name]) > 1)
    kept[key][name] = change(kept[key][name])
    gnomon.save(model, tmp_path / "net")
    with pytest.raises(gnomon.core.errors.ModelFileError, match="optimizer remembers"):
        gnomon.load(tmp_path / "net").partial_fit(X, y)


class Own(torch.nn.Module):
    def __init__(self, outputs=2):
        super().__init__()
        self.flat = torch.nn.Flatten()
        self.dense = torch.nn.LazyLinear(outputs) if outputs < 0 else torch.nn.Linear(64, outputs)

    def forward(self, x):
        return self.dense(self.flat(x))


def test_a_module_of_ones_own():
    X, y = bars()
    module = Own()
    start = module.dense.weight.detach().clone()
    model = quick(module, max_iter=20).fit(X, y)
    assert model.score(X, y) > 0.8
    assert torch.equal(module.dense.weight, start)  # the user's module is not touched
    made = quick(Own, max_iter=3).fit(X, y)
    assert made.predict(X).shape == (60,)
    with pytest.raises(DataError, match=r"it must give \(16, 2\)"):
        quick(Own(1)).fit(X, y)
    with pytest.raises(TypeError, match="must return a torch.nn.Module"):
        quick(dict).fit(X, y)


def test_named_network_on_small_images():
    X, y = bars(40, side=28)
    model = ConvNetClassifier("lenet5", max_iter=2, random_state=0).fit(X, y)
    assert (
        model.network_.output_shape == (2,)
        and model.describe().parameters == model.network_.describe().parameters
    )
    small = architecture("resnet", depth=20, input_shape=(1, 16, 16))
    fitted = quick(small, max_iter=1).fit(*bars(16, side=16))
    assert isinstance(fitted.network_, Network) and fitted.network_.output_shape == (2,)


# looking inside


def test_filters_maps_patches_and_maximized_units():
    X, y = bars()
    model = quick().fit(X, y)
    assert model.filters("conv1").shape == (4, 1, 3, 3)
    maps = model.activation_maps(X[:2], "conv1")
    by_hand = np.tensordot(np.lib.stride_tricks.sliding_window_view(X[0], (3, 3)), model.filters()[1, 0], 2)
    np.testing.assert_allclose(maps[0, 1], by_hand + model.weights_["conv1.bias"][1], atol=1e-5)
    patches = model.top_patches(X, "conv1", unit=2, k=5)
    assert patches.shape == (5, 1, 3, 3)
    strength = [(patch[0] * model.filters()[2, 0]).sum() for patch in patches]
    assert np.argmax(strength) == 0 or max(strength) - strength[0] < 0.5
    image = model.maximize_unit(-1, 1, steps=30)
    assert image.shape == (1, 8, 8)
    assert model.decision_function(image[None])[0, 1] > model.decision_function(np.zeros((1, 8, 8)))[0, 1]
    with pytest.raises(ValueError, match="unit must be below 4"):
        model.top_patches(X, "conv1", unit=9)
    with pytest.raises(ValueError, match="has no filters"):
        model.filters("dense1")
    with pytest.raises(ValueError, match="layer must be one of"):
        model.activation_maps(X, "conv7")


# augmentation


def test_augmentation_keeps_what_it_must():
    rng = np.random.default_rng(0)
    X = rng.random((5, 3, 8, 8)).astype(np.float32)
    every = Augmentation(
        crop_padding=2, flip=0.5, shift=1, rotate=10, brightness=0.1, contrast=0.1, saturation=0.2, color_pca=0.1,
        value_range=(0, 1),
    )  # fmt: skip
    out = every(X, random_state=3)
    assert out.shape == X.shape and out.dtype == X.dtype and 0 <= out.min() and out.max() <= 1
    assert np.array_equal(out, every(X, random_state=3)) and not np.array_equal(out, every(X, random_state=4))
    always = Augmentation(flip=1.0)
    assert np.array_equal(always(always(X)), X)
    draws = every.draw(5, np.random.default_rng(1))
    whole = every.apply(X, draws, np.arange(5))
    assert np.array_equal(
        whole[[3, 1]], every.apply(X[[3, 1]], draws, np.array([3, 1]))
    )  # whatever the batch


def test_shift_crop_and_colors_by_hand():
    image = np.zeros((1, 1, 5, 5))
    image[0, 0, 2, 2] = 1.0
    places = {tuple(np.argwhere(Augmentation(shift=1)(image, seed)[0, 0])[0]) for seed in range(60)}
    assert places == {(y, x) for y in (1, 2, 3) for x in (1, 2, 3)}
    cropped = {tuple(np.argwhere(Augmentation(crop_padding=1)(image, seed)[0, 0])[0]) for seed in range(60)}
    assert cropped == places
    gray = np.full((1, 3, 2, 2), 0.5)
    np.testing.assert_allclose(Augmentation(saturation=0.5)(gray, 0), gray)
    np.testing.assert_allclose(Augmentation(color_pca=0.5)(gray, 0), gray)  # no spread, no direction
    crops = Augmentation.ten_crop(np.arange(16.0).reshape(1, 1, 4, 4), 2)
    assert crops[:5, 0, 0, 0, 0].tolist() == [0, 2, 8, 10, 5] and crops[5, 0, 0, 0].tolist() == [1, 0]


def test_augmented_training_learns():
    X, y = bars()
    model = quick(augment=Augmentation(shift=1, flip=0.5), max_iter=10).fit(X, y)
    assert model.score(X, y) > 0.85
    again = quick(augment=Augmentation(shift=1, flip=0.5), max_iter=10).fit(X, y)
    assert np.array_equal(model.weights_["conv1.weight"], again.weights_["conv1.weight"])


def test_augmentation_refuses():
    with pytest.raises(ValueError, match="probability between 0 and 1"):
        Augmentation(flip=1.5)
    with pytest.raises(ValueError, match="shift must not be negative"):
        Augmentation(shift=-1)
    with pytest.raises(DataError, match="does not fit"):
        Augmentation.ten_crop(np.zeros((1, 1, 4, 4)), 5)
    with pytest.raises(DataError, match="is for images"):
        Augmentation()(np.zeros((3, 4)))
    with pytest.raises(DataError, match="three channels"):
        Augmentation(saturation=0.5)(np.zeros((1, 1, 4, 4)))


# ensembles


def test_ensemble_averages_and_votes():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    net = MLPClassifier((10,), max_iter=20)
    with pytest.warns(UserWarning):
        one = NetworkEnsemble(net, 1, random_state=0).fit(X, y)
    assert np.array_equal(one.predict_proba(X), one.estimators_[0].predict_proba(X))
    with pytest.warns(UserWarning):
        several = NetworkEnsemble(net, 5, random_state=0, n_jobs=2).fit(X, y)
    each = np.stack([member.predict_proba(X) for member in several.estimators_])
    np.testing.assert_allclose(several.predict_proba(X), each.mean(axis=0))
    mean, spread = several.predict_spread(X)
    np.testing.assert_allclose(spread, each.std(axis=0))
    assert several.score(X, y) >= several.member_scores_.mean()
    assert several.growing_scores(X, y)[-1] == several.score(X, y)
    several.combine = "vote"
    votes = np.stack([member.predict(X) for member in several.estimators_])
    shares = (votes[:, :, None] == np.arange(10)).mean(axis=0)
    assert np.array_equal(several.predict(X), shares.argmax(axis=1))
    with pytest.raises(ValueError, match="vary may hold"):
        NetworkEnsemble(net, vary=("dropout",)).fit(X, y)
    with pytest.raises(DataError, match="must be a classifier"):
        NetworkEnsemble(gnomon.linear.Ridge()).fit(X, y)


# awkward


def test_clear_errors():
    X, y = bars()
    cases = [
        (X[:, 0, 0], y, "dimensions"),
        (X, y[:-1], "inconsistent"),
        (X, None, "y is missing"),
        (np.where(X == X[0, 0, 0], np.nan, X), y, "NaN"),
        (X[:0], y[:0], "no images"),
        (X + 1j, y, "Complex"),
        (X, np.zeros(60), "1 class"),
        ([X[0], X[1, :4]], y[:2], "one size|inhomogeneous"),
    ]
    for images, labels, message in cases:
        with pytest.raises(ValueError, match=message):
            quick().fit(images, labels)
    with pytest.raises(DataError, match="layer 'conv1' cannot follow the input"):
        quick().fit(X[:, :2, :2], y)
    with pytest.raises(DataError, match="learned from"):
        quick(max_iter=1).fit(X, y).predict(np.zeros((2, 9, 9)))
    with pytest.raises(DataError, match="has 64 columns, and input_shape"):
        quick(input_shape=(1, 7, 7)).fit(X.reshape(60, -1), y)
    with pytest.raises(ValueError, match="PyTorch sees no GPU|device"):
        quick(device="cuda" if not torch.cuda.is_available() else "gpu").fit(X, y)


def test_a_loss_that_runs_away_is_named():
    X, y = bars()
    with pytest.raises(
        DivergenceError, match=r"in epoch \d+: learning_rate_init=1e\+30, largest slope .* clip_norm"
    ):
        quick(learning_rate_init=1e30, loss="hinge").fit(1e20 * X, y)


def test_too_little_memory_is_a_sentence():
    from gnomon.core.devices import torch_session

    with (
        pytest.raises(MemoryError, match="too little memory for this fit.*Lower batch_size"),
        torch_session(torch.device("cpu")),
    ):
        torch.empty(2**50)


def test_precision():
    X, y = bars()
    double = quick(precision="float64", max_iter=2).fit(X, y)
    assert double.weights_["conv1.weight"].dtype == np.float64
    mixed = quick(precision="mixed", max_iter=8).fit(X, y)
    assert mixed.weights_["conv1.weight"].dtype == np.float32 and mixed.score(X, y) > 0.8


def test_compile_hands_the_module_to_torch_in_the_mode_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(torch, "compile", lambda module, **given: asked.append(given) or module)
    X, y = np.random.default_rng(0).normal(size=(12, 6, 6)), np.arange(12) % 2
    net = [layers.Conv2d(2, 3), layers.Activation("relu"), layers.Dense(2)]
    for mode in (False, True, "max-autotune"):
        ConvNetClassifier(net, compile=mode, max_iter=1, early_stopping=False, random_state=0).fit(X, y)
    assert asked == [{"mode": "reduce-overhead"}, {"mode": "max-autotune"}]
    with pytest.raises(ValueError, match="compile"):
        ConvNetClassifier(net, compile="fast").fit(X, y)
