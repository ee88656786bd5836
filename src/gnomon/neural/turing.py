"""The neural Turing machine: a network with a memory it can address."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from gnomon.core.data import Data, digest_of
from gnomon.core.devices import device_of, import_torch, torch_session
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.settings import check_parameters
from gnomon.core.validate import COUNT, check_fitted, one_each
from gnomon.neural.batch_losses import weighted_mean
from gnomon.neural.training import TRAINING, TorchLearner, TorchState, TorchWork


class Pairs(Data):
    """Sequences of bits and what is to be said after each: (n, T, d_in) and (n, T, d_out), with what counts."""

    def __init__(self, X: Array, Y: Array, counts: Array) -> None:
        self.X, self.Y, self.counts = X, Y, counts

    def facts(self) -> dict[str, Any]:
        """Return the widths."""
        return {
            "n_features_in_": self.X.shape[2],
            "n_outputs_": self.Y.shape[2],
            "max_length_": self.X.shape[1],
        }

    def digest(self) -> str:
        """Return a name for the sequences."""
        return digest_of(self.X, self.Y, self.counts)

    def __len__(self) -> int:
        return len(self.X)

    def take(self, units: Any) -> Pairs:
        """Return some of the sequences."""
        return Pairs(self.X[units], self.Y[units], self.counts[units])


class Memory(NamedTuple):
    """What the heads did, step by step."""

    read: Array  # (T, heads, slots)
    write: Array  # (T, slots)
    output: Array  # (T, d_out)


class NeuralTuringMachine(TorchLearner):
    r"""Neural Turing machine (Graves, Wayne and Danihelka, 2014): a controller, a memory matrix M, and soft heads.

    A head addresses by content, :math:`w_c\propto e^{\beta\cos(k, M_i)}`, mixes it with where it was,
    :math:`w_g = g\,w_c + (1-g)\,w`, shifts by −1, 0, +1 (circular), and sharpens, :math:`w\propto w_s^\rho`.
    Reading is
    :math:`w^\top M`, writing :math:`M\leftarrow M\odot(1 - we^\top) + wa^\top`. A demonstration of a very large
    differentiable graph that
    learns an algorithm: slow, and for small tasks.

    Parameters
    ----------
    memory_slots, memory_width : int, default=32, 8
    controller_size : int, default=64
    n_heads : int, default=1
        Reading heads.
    solver, learning_rate, learning_rate_init, momentum, weight_decay, batch_size, max_iter, tol, n_iter_no_change, \
    early_stopping, validation_fraction, clip_norm, warm_start, random_state, device, precision
        As in `ConvNetClassifier`; the objective is the binary log loss of an output bit, in nats.

    Attributes
    ----------
    weights_ : dict of arrays
    max_length_ : int
        Longest sequence that was learned from; longer ones are refused.
    loss_curve_, trace_, n_iter_, converged_

    Examples
    --------
    >>> from gnomon.datasets import make_copy_task
    >>> X, Y = make_copy_task(20, 3, 2, random_state=0)
    >>> model = NeuralTuringMachine(8, 4, 16, max_iter=2, random_state=0).fit(X, Y)
    >>> model.predict(X).shape == Y.shape
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TRAINING,
        "memory_slots": [COUNT],
        "memory_width": [COUNT],
        "controller_size": [COUNT],
        "n_heads": [COUNT],
    }

    def __init__(
        self, memory_slots=32, memory_width=8, controller_size=64, n_heads=1, *, solver="adam",
        learning_rate="constant", learning_rate_init=3e-3, momentum=0.9, weight_decay=0.0, batch_size=16, max_iter=50,
        tol=1e-5, n_iter_no_change=20, early_stopping=False, validation_fraction=0.1, clip_norm=10.0, warm_start=False,
        random_state=None, device="cpu", precision="float32",
    ):  # fmt: skip
        self.memory_slots = memory_slots
        self.memory_width = memory_width
        self.controller_size = controller_size
        self.n_heads = n_heads
        self.solver = solver
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.clip_norm = clip_norm
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.precision = precision

    def fit(self, X, y=None) -> Self:
        """Learn to say Y after X.

        Parameters
        ----------
        X : array (n, T, d_in)
            Sequences of bits, or of numbers.
        y : array (n, T, d_out)
            Bits to say at every step; NaN where nothing is asked.

        Returns
        -------
        self
        """
        return self._learn(self._pairs(X, y), X=X, y=y)

    def iterate(self, X, y=None):
        """Yield a fitted copy of the model at the start and after every epoch."""
        yield from self._iterate(self._pairs(X, y))

    def _pairs(self, X, y):
        check_parameters(self)
        X = _sequences(X, "X")
        if y is None:
            raise DataError("y is missing: give the bits to say, (n, T, d_out), NaN where nothing is asked.")
        Y = np.asarray(y, dtype=float)
        if Y.ndim != 3 or Y.shape[:2] != X.shape[:2]:
            raise DataError(
                f"y must have shape (n, T, d_out) for X of shape {X.shape}; its shape is {Y.shape}."
            )
        counts = np.isfinite(Y)
        if not counts.any():
            raise DataError("y is NaN everywhere: nothing is asked.")
        Y = np.where(counts, Y, 0.0)
        if Y.min() < 0.0 or Y.max() > 1.0:
            raise DataError(
                f"y must hold bits, or probabilities between 0 and 1; it goes from {Y.min():g} to {Y.max():g}."
            )
        return Pairs(X, Y, counts.astype(float))

    def _work(self, data, device):
        torch, dtype = import_torch(), self._dtype()
        parts = tuple(
            torch.as_tensor(part, device=device, dtype=dtype) for part in (data.X, data.Y, data.counts)
        )
        facts = {"n_in": data.X.shape[2], "n_out": data.Y.shape[2]}
        return TorchWork(parts, torch.ones(len(data)), facts, device, len(data), data)

    def _module(self, facts):
        from gnomon.neural.torch_turing import TuringMachine

        return TuringMachine(
            facts["n_in"],
            facts["n_out"],
            self.memory_slots,
            self.memory_width,
            self.controller_size,
            self.n_heads,
        )

    def _facts_of(self, state: TorchState):
        return {"module_facts_": state.facts}

    def _batch_loss(self, module, work, units, epoch):
        torch = import_torch()
        index = torch.as_tensor(units, device=work.device)
        X, Y, counts = (part[index] for part in work.parts)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(module(X), Y, reduction="none")
        return weighted_mean(losses, counts)

    def _query(self, X):
        check_fitted(self)
        X = _sequences(X, "X")
        if X.shape[2] != self.n_features_in_:
            raise DataError(
                f"X has {X.shape[2]} columns, and the machine has learned from {self.n_features_in_}."
            )
        if X.shape[1] > self.max_length_:
            raise DataError(
                f"X has sequences of {X.shape[1]} steps, and the machine was fitted to {self.max_length_} at most."
            )
        return X

    def predict_proba(self, X):
        """Return the probability of a one for every output bit: (n, T, d_out)."""
        values, torch, device = self._query(X), import_torch(), device_of(self.device)
        with torch_session(device), torch.inference_mode():
            module = self._fitted_module(device).double()  # so that one alone is answered as among others
            return module(torch.as_tensor(values, device=device, dtype=torch.float64)).sigmoid().cpu().numpy()

    def predict(self, X):
        """Return the output bits: (n, T, d_out)."""
        return (self.predict_proba(X) > 0.5).astype(int)

    def score(self, X, y):
        """Return the share of right bits where something is asked."""
        said = self.predict(X)
        Y = one_each(y, len(said)).astype(float)
        return float((said == Y)[np.isfinite(Y)].mean())

    def attention(self, X) -> Memory:
        """Return where the heads read and wrote for one sequence (T, d_in)."""
        values, torch = self._query(np.asarray(X, dtype=float)[None]), import_torch()
        with torch_session(torch.device("cpu")), torch.inference_mode():
            module = self._fitted_module()
            output, reads, writes = module.run(torch.as_tensor(values, dtype=self._dtype()), keep=True)
        return Memory(reads[:, 0].numpy(), writes[:, 0].numpy(), output[0].sigmoid().numpy())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags


def _sequences(X: Any, name: str) -> Array:
    values = np.asarray(X, dtype=float)
    if values.ndim != 3 or not len(values):
        raise DataError(
            f"{name} must have shape (n, T, d) with at least one sequence; its shape is {values.shape}."
        )
    if not np.isfinite(values).all():
        raise DataError(f"{name} has NaN or infinity.")
    return values
