"""Options of training that all networks of PyTorch share: each step against the slope that a plain step shows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from contract.discovery import SUBJECTS
from gnomon.neural.training import TorchLearner

torch = pytest.importorskip("torch")

FIRST = {s.cls.__name__: s for s in reversed(SUBJECTS) if issubclass(s.cls, TorchLearner)}
EVERY = list(FIRST.values())
PLAIN = [
    s for s in EVERY if s.cls.__name__ != "GenerativeAdversarialNetwork"
]  # which trains two networks in turn
every = pytest.mark.parametrize("subject", EVERY, ids=[s.cls.__name__ for s in EVERY])
plain = pytest.mark.parametrize("subject", PLAIN, ids=[s.cls.__name__ for s in PLAIN])
RATE = 0.01
STEP = dict(
    solver="sgd", learning_rate="constant", learning_rate_init=RATE, batch_size=10**6, precision="float64",
    early_stopping=False, clip_norm=None, momentum=0.0, weight_decay=0.0, tol=0.0, n_iter_no_change=10**6,
)  # fmt: skip


def fitted(subject, epochs=1, **options):
    return subject.fit(subject.data(12), max_iter=epochs, **{**STEP, **options})


def weights(subject, epochs=1, **options):
    """What can be learned, as one vector; statistics of normalized batches are not steps."""
    found = fitted(subject, epochs, **options).weights_
    return np.concatenate(
        [np.ravel(found[name]) for name in sorted(found) if "running" not in name and "num_" not in name]
    )


def start(subject):
    return weights(subject, learning_rate_init=1e-300)


@plain
def test_momentum_decay_and_clipping_of_a_step(subject):
    w0, w1, w2 = start(subject), weights(subject), weights(subject, 2)
    slope = (w0 - w1) / RATE
    size = np.linalg.norm(slope)
    assert size > 0
    used = slope != 0  # what centers the rows is kept beside what is learned
    near = dict(rtol=1e-6, atol=1e-9 + 1e-7 * np.abs(w1 - w0).max())
    assert_allclose(weights(subject, 2, momentum=0.8), w2 - RATE * 0.8 * slope, **near)
    shrunk = weights(subject, weight_decay=0.5)
    assert_allclose(shrunk[used], (w1 - RATE * 0.5 * w0)[used], **near)
    assert_allclose(weights(subject, clip_norm=size / 4), w0 - RATE * slope / 4, **near)
    assert_allclose(weights(subject, clip_norm=size * 4), w1, **near)


@plain
def test_first_steps_of_the_solvers(subject):
    w0, w1 = start(subject), weights(subject)
    slope = (w0 - w1) / RATE
    clear = np.abs(slope) > 1e-4 * np.abs(slope).max()
    for solver in ("adam", "adagrad"):  # both begin with a step of one length in every direction
        step = weights(subject, solver=solver) - w0
        assert_allclose(step[clear], -RATE * np.sign(slope[clear]), rtol=1e-2)


@plain
def test_rates_that_fall(subject):
    w = [weights(subject, k) for k in (1, 2)]
    halved = weights(subject, 2, learning_rate="inverse")
    assert_allclose(halved, w[0] + (w[1] - w[0]) / 2, rtol=1e-6, atol=1e-10)
    w3, w4 = weights(subject, 3), weights(subject, 4)
    slow = weights(subject, 4, learning_rate="plateau", tol=1e9, n_iter_no_change=1)
    assert_allclose(slow, w3 + (w4 - w3) / 10, rtol=1e-6, atol=1e-10)


@every
def test_patience_and_validation(subject):
    for patience in (1, 3):
        assert fitted(subject, 30, tol=1e9, n_iter_no_change=patience).n_iter_ == patience + 2


@plain
def test_units_held_out(subject):
    held = fitted(subject, 3, early_stopping=True, validation_fraction=0.25)
    assert np.isfinite(held.trace_["validation_loss"]).all()
    other = fitted(subject, 3, early_stopping=True, validation_fraction=0.5)
    assert any((held.weights_[name] != other.weights_[name]).any() for name in held.weights_)


@plain
def test_a_warm_start_goes_on(subject):
    data = subject.data(12)
    model = fitted(subject, 2, warm_start=True)
    model.set_params(max_iter=2)
    given = {"y": data.y, "lengths": data.lengths}
    model.fit(data.X, **{name: value for name, value in given.items() if value is not None})
    through = fitted(subject, 4)
    assert len(model.loss_curve_) == 4
    for name, value in through.weights_.items():
        assert_allclose(model.weights_[name], value, rtol=1e-9, atol=1e-12)


@plain
def test_batches_and_numbers(subject):
    whole, small = fitted(subject), fitted(subject, batch_size=5)
    assert whole.optimizer_["step"] == 1 and small.optimizer_["step"] > 1
    assert all(value.dtype == np.float64 for value in whole.weights_.values() if value.dtype.kind == "f")
    single = fitted(subject, precision="float32")
    assert all(value.dtype == np.float32 for value in single.weights_.values() if value.dtype.kind == "f")
    for name, value in single.weights_.items():
        assert value.shape == whole.weights_[name].shape
    mixed = fitted(subject, precision="mixed")
    assert mixed.loss_curve_[0] == pytest.approx(single.loss_curve_[0], rel=0.05)


@every
def test_devices(subject):
    here, there = (fitted(subject, device=device).weights_ for device in ("cpu", "auto"))
    if not torch.cuda.is_available():
        for name, value in here.items():
            np.testing.assert_array_equal(value, there[name])
        with pytest.raises(ValueError, match="cuda"):
            fitted(subject, device="cuda")
