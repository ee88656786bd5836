"""Autoencoders: rows through a bottleneck and back."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon.core.devices import device_of, import_torch, torch_session
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads, check_fitted, matrix, warn
from gnomon.neural.batch_losses import weighted_mean
from gnomon.neural.functions import CODES
from gnomon.neural.training import TRAINING, TorchLearner, TorchState, TorchWork


def mlp(sizes: tuple[int, ...], activation: str) -> Any:
    """Return dense layers with activations between them, and none behind the last."""
    from gnomon.neural.torch_parts import activation_module

    nn = import_torch().nn
    parts: list[Any] = []
    for number, (a, b) in enumerate(zip(sizes, sizes[1:])):
        parts += [activation_module(activation)] if number else []
        parts.append(nn.Linear(a, b))
    return nn.Sequential(*parts)


def refuse_huge(X: Array, dtype: Any) -> None:
    """Raise for entries whose squares, added over a row, overflow in the precision of a network."""
    size = float(np.abs(X).max(initial=0.0))
    if size * math.sqrt(X.shape[1]) > 1e-2 * math.sqrt(import_torch().finfo(dtype).max):
        raise DataError(
            f"X has entries of size {size:.3g}, whose squares overflow in {dtype}; scale the columns."
        )


class _RowNetwork(TorchLearner):
    """A network that learns from rows of a table without a target."""

    _reads: ClassVar[Reads] = Reads()

    def _work(self, data: Any, device: Any) -> TorchWork:
        torch = import_torch()
        facts = {"n_features": data.n_features, **self._row_facts(data)}
        there = data.weight > 0.0  # a weight of zero: the row is not there
        X, mass = (data.X, data.weight) if there.all() else (data.X[there], data.weight[there])
        refuse_huge(X, self._dtype())
        X = torch.as_tensor(np.ascontiguousarray(X), device=device, dtype=self._dtype())
        weight = torch.as_tensor(mass, device=device, dtype=self._dtype())
        return TorchWork((X,), weight, facts, device, len(X), data)

    def _row_facts(self, data: Any) -> dict[str, Any]:
        return {}

    def _facts_of(self, state: TorchState) -> dict[str, Any]:
        return {"module_facts_": state.facts}

    def _pick(self, work: TorchWork, units: Any) -> tuple[Any, Any]:
        index = import_torch().as_tensor(units, device=work.device)
        return work.parts[0][index], work.weight[index]

    def _on_rows(self, function: Any, values: Array) -> Array:
        """Return function(module, rows) of all rows, as an array."""
        torch, device = import_torch(), device_of(self.device)
        with torch_session(device), torch.inference_mode():
            module = self._fitted_module(device).double()  # so that a row alone is answered as among others
            rows = torch.as_tensor(np.ascontiguousarray(values), device=device, dtype=torch.float64)
            return function(module, rows).double().cpu().numpy()

    def _matrix(self, X: Any) -> Array:
        rows = self._rows(X)
        refuse_huge(rows.X, import_torch().float64)  # in which rows are answered
        return rows.X

    def _latent(self, Z: Any) -> Array:
        check_fitted(self)
        Z = matrix(Z, name="Z")
        if Z.shape[1] != self.n_components:
            raise DataError(f"Z has {Z.shape[1]} columns, and the code has n_components={self.n_components}.")
        return Z

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)


_ROWS: dict[str, Any] = {
    **TRAINING,
    "n_components": [COUNT],
    "hidden_layer_sizes": ["array-like", Interval(Integral, 1, None, closed="left")],
    "activation": [StrOptions(set(CODES) - {"maxout", "sign"})],
}


def _hidden(sizes: Any) -> tuple[int, ...]:
    return (int(sizes),) if isinstance(sizes, Integral) else tuple(int(n) for n in sizes)


class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _RowNetwork):
    r"""Autoencoder: a few numbers for every row, from which a network rebuilds it.

    .. math:: \min\ \frac1n\sum_i \lVert x_i - d(e(x_i))\rVert^2

    Without hidden layers and with identity activation the best code spans the leading principal components, so
    use PCA then;
    with hidden layers the code bends. Centers the columns first.

    Parameters
    ----------
    n_components : int, default=2
    hidden_layer_sizes : tuple of int, default=()
        Of the encoder; the decoder has them in reverse.
    activation : str, default="identity"
    tied : bool, default=False
        Decode with the transposed weights of the encoder; only without hidden layers.
    denoising : float, default=0.0
        Standard deviation of noise added to the input, never to the goal.
    solver, learning_rate, learning_rate_init, momentum, weight_decay, batch_size, max_iter, tol, n_iter_no_change, \
    early_stopping, validation_fraction, clip_norm, warm_start, random_state, device, precision
        As in `ConvNetClassifier`.

    Attributes
    ----------
    mean_ : array (d,)
    weights_ : dict of arrays
    loss_curve_, trace_, n_iter_, converged_

    Examples
    --------
    >>> X = [[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]]
    >>> model = Autoencoder(1, max_iter=300, random_state=0).fit(X)
    >>> round(model.reconstruction_error(X), 2)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_ROWS,
        "tied": ["boolean"],
        "denoising": [NOT_NEGATIVE],
    }

    def __init__(
        self, n_components=2, hidden_layer_sizes=(), activation="identity", *, tied=False, denoising=0.0,
        solver="adam", learning_rate="constant", learning_rate_init=1e-2, momentum=0.9, weight_decay=0.0,
        batch_size=100,
        max_iter=200, tol=1e-5, n_iter_no_change=20, early_stopping=False, validation_fraction=0.1, clip_norm=None,
        warm_start=False, random_state=None, device="cpu", precision="float64",
    ):  # fmt: skip
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.tied = tied
        self.denoising = denoising
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

    def _row_facts(self, data):
        if self.tied and _hidden(self.hidden_layer_sizes):
            raise ValueError(
                "tied=True is for an autoencoder without hidden layers; set hidden_layer_sizes=()."
            )
        if self.n_components >= data.n_features:
            warn(f"n_components={self.n_components} is no bottleneck for {data.n_features} columns.")
        return {"mean": np.average(data.X, axis=0, weights=data.weight).astype(float)}

    def _module(self, facts):
        from gnomon.neural.torch_generative import EncoderDecoder

        hidden, d = _hidden(self.hidden_layer_sizes), facts["n_features"]
        encoder = mlp((d, *hidden, self.n_components), self.activation)
        decoder = None if self.tied else mlp((self.n_components, *hidden[::-1], d), self.activation)
        return EncoderDecoder(encoder, decoder, facts["mean"])

    def _batch_loss(self, module, work, units, epoch):
        torch = import_torch()
        X, weight = self._pick(work, units)
        noisy = X + self.denoising * torch.randn_like(X) if self.denoising and module.training else X
        errors = (module(noisy) - X).square().sum(dim=1)
        return weighted_mean(errors, weight)

    def _facts_of(self, state):
        return {**super()._facts_of(state), "mean_": state.facts["mean"]}

    def transform(self, X):
        """Return the code of every row: (n, n_components)."""
        return self._on_rows(lambda module, rows: module.encode(rows), self._matrix(X))

    def inverse_transform(self, Z):
        """Return the rows that codes stand for."""
        return self._on_rows(lambda module, rows: module.decode(rows), self._latent(Z))

    def reconstruction_error(self, X) -> float:
        """Return the mean squared distance of rows to their reconstruction."""
        X = self._matrix(X)
        rebuilt = self._on_rows(lambda module, rows: module(rows), X)
        return float(((X - rebuilt) ** 2).sum(axis=1).mean())
