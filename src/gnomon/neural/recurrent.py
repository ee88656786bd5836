"""Recurrent networks for sequences: a class or a number for each, or a tag at every place."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin

from gnomon.core.devices import device_of, import_torch, torch_session
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.settings import check_parameters
from gnomon.core.tokens import Series, read_series
from gnomon.core.validate import COUNT, check_fitted, one_each
from gnomon.neural.language import CELLS
from gnomon.neural.language_base import NOWHERE
from gnomon.neural.training import TRAINING, TorchLearner, TorchState, TorchWork


class _Recurrent(TorchLearner):
    """What recurrent classifier and regressor share."""

    _target: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TRAINING,
        "cell": [StrOptions(set(CELLS))],
        "state_size": [COUNT],
        "bias": ["boolean"],
    }

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : list of arrays (length, d), or of lists of whole numbers from 0
            Lengths may differ.
        y : array (n,), or a list of tags for every place where ``output="each"``

        Returns
        -------
        self
        """
        return self._learn(self._series(X, y), X=X, y=y)

    def iterate(self, X: Any, y: Any = None) -> Any:
        """Yield a fitted copy of the model at the start and after every epoch."""
        yield from self._iterate(self._series(X, y))

    def _each(self) -> bool:
        return getattr(self, "output", "last") == "each"

    def _series(self, X: Any, y: Any) -> Series:
        check_parameters(self)
        return read_series(X, y, target=self._target, each=self._each())

    def _work(self, data: Series, device: Any) -> TorchWork:
        from gnomon.neural.torch_recurrent import Ragged

        facts = {"width": data.width, "tokens": data.tokens, "outputs": self._outputs(data)}
        targets = data.y if self._each() else np.asarray(data.y)[:, None]
        dtype = self._dtype()
        parts = Ragged(data.items, device, dtype), Ragged(list(targets), device, dtype)
        return TorchWork(parts, None, facts, device, len(data), data)

    def _outputs(self, data: Series) -> int:
        raise NotImplementedError

    def _module(self, facts: dict[str, Any]) -> Any:
        from gnomon.neural.torch_recurrent import RecurrentHead

        return RecurrentHead(
            self.cell,
            facts["width"],
            self.state_size,
            facts["outputs"],
            self.bias,
            facts["tokens"],
            self._each(),
        )

    def _facts_of(self, state: TorchState) -> dict[str, Any]:
        return {"module_facts_": state.facts}

    def _scores(self, X: Any) -> tuple[Array, list[int]]:
        from gnomon.neural.torch_recurrent import Ragged

        check_fitted(self)
        data = read_series(X, like=self)
        torch, device = import_torch(), device_of(self.device)
        found = []
        with torch_session(device), torch.inference_mode():
            module = self._fitted_module(device).double()  # so that one alone is answered as among others
            for begin in range(0, len(data), 256):
                part = Ragged(data.items[begin : begin + 256], device, torch.float64)
                scores = module(*part.batch(np.arange(len(part)))).cpu().numpy()
                found += (
                    [row[: len(item)] for row, item in zip(scores, data.items[begin:])]
                    if self._each()
                    else list(scores)
                )
        return found, [len(item) for item in data.items]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags


class RecurrentClassifier(ClassifierMixin, _Recurrent):
    """Recurrent network that gives every sequence a class, or every place of it a tag.

    The state of a cell (see `RecurrentLanguageModel`) reads the sequence; a linear layer reads the last state
    (``output="last"``) or all of them (``output="each"``). Hidden Markov models need far less data.

    Parameters
    ----------
    cell : {"rnn", "gated", "gru", "lstm"}, default="gru"
    state_size : int, default=32
    output : {"last", "each"}, default="last"
        One class for a sequence, or a tag for every place; y is then a list of lists.
    bias : bool, default=True
    solver, learning_rate, learning_rate_init, momentum, weight_decay, batch_size, max_iter, tol, n_iter_no_change, \
    early_stopping, validation_fraction, clip_norm, warm_start, random_state, device, precision
        As in `ConvNetClassifier`.

    Attributes
    ----------
    classes_, weights_, loss_curve_, trace_, n_iter_, converged_

    Examples
    --------
    >>> X, y = [[0, 0, 1], [1, 0], [0, 1, 1, 1], [1, 1, 0]] * 10, ["up", "down", "up", "down"] * 10
    >>> RecurrentClassifier(state_size=8, max_iter=60, random_state=0).fit(X, y).predict([[0, 1], [1, 0]])
    array(['up', 'down'], dtype='<U4')
    """

    _target: ClassVar[str] = "class"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Recurrent._parameter_constraints,
        "output": [StrOptions({"last", "each"})],
    }

    def __init__(
        self, cell="gru", state_size=32, *, output="last", bias=True, solver="adam", learning_rate="constant",
        learning_rate_init=1e-2, momentum=0.9, weight_decay=0.0, batch_size=32, max_iter=50, tol=1e-4,
        n_iter_no_change=10, early_stopping=False, validation_fraction=0.1, clip_norm=1.0, warm_start=False,
        random_state=None, device="cpu", precision="float32",
    ):  # fmt: skip
        self.cell = cell
        self.state_size = state_size
        self.output = output
        self.bias = bias
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

    def _outputs(self, data):
        if len(data.classes) < 2:
            raise DataError(
                f"y has 1 class, {data.classes[0]!r}; RecurrentClassifier needs at least two classes."
            )
        return len(data.classes)

    def _batch_loss(self, module, work, units, epoch):
        torch = import_torch()
        items, y = work.parts
        index = items.index(units)
        x, lengths = items.batch(units, index)
        scores, codes = module(x, None if items.even else lengths), y.batch(units, index)[0]
        if self._each() and not items.even:  # places behind the end count for nothing
            real = torch.arange(x.shape[1], device=work.device) < lengths[:, None]
            codes = codes.masked_fill(~real, NOWHERE)
        loss = torch.nn.functional.cross_entropy(
            scores.flatten(0, -2), codes.flatten(), reduction="sum", ignore_index=NOWHERE
        )
        mass = float(y.sizes[units].sum())
        return loss / mass, mass

    def decision_function(self, X):
        """Return the score of every class: (n, classes), or a list of (length, classes)."""
        found = self._scores(X)[0]
        return found if self._each() else np.array(found)

    def predict_proba(self, X):
        """Return the probability of every class: (n, classes), or a list of (length, classes)."""
        found = self._scores(X)[0]
        return [softmax(row, axis=1) for row in found] if self._each() else softmax(np.array(found), axis=1)

    def predict(self, X):
        """Return the class of every sequence, or the tags of every place."""
        found = self._scores(X)[0]
        if self._each():
            return [self.classes_[row.argmax(axis=1)] for row in found]
        return self.classes_[np.array(found).argmax(axis=1)]

    def score(self, X, y):
        """Return the share of right classes, or of right tags."""
        said = self.predict(X)
        if self._each():
            if len(y) != len(said):
                raise DataError(f"y must hold the tags of {len(said)} sequences; it holds {len(y)}.")
            tags = [one_each(right, len(found)) for found, right in zip(said, y, strict=True)]
            return float(np.mean(np.concatenate(said) == np.concatenate(tags)))
        return float(np.mean(said == one_each(y, len(said))))


class RecurrentRegressor(RegressorMixin, _Recurrent):
    """Recurrent network that gives every sequence a number: mean squared error from the last state.

    Parameters
    ----------
    cell, state_size, bias, solver, learning_rate, learning_rate_init, momentum, weight_decay, batch_size, \
    max_iter, tol, \
    n_iter_no_change, early_stopping, validation_fraction, clip_norm, warm_start, random_state, device, precision
        As in `RecurrentClassifier`; standardize the target.

    Attributes
    ----------
    weights_, loss_curve_, trace_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(size=(3 + i % 3, 1)) for i in range(90)]
    >>> y = [x.sum() for x in X]
    >>> bool(RecurrentRegressor(max_iter=60, random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    _target: ClassVar[str] = "number"

    def __init__(
        self, cell="gru", state_size=32, *, bias=True, solver="adam", learning_rate="constant", learning_rate_init=1e-2,
        momentum=0.9, weight_decay=0.0, batch_size=32, max_iter=50, tol=1e-4, n_iter_no_change=10,
        early_stopping=False, validation_fraction=0.1, clip_norm=1.0, warm_start=False, random_state=None, device="cpu",
        precision="float32",
    ):  # fmt: skip
        self.cell = cell
        self.state_size = state_size
        self.bias = bias
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

    def _outputs(self, data):
        return 1 if np.ndim(data.y) == 1 else np.shape(data.y)[1]

    def _batch_loss(self, module, work, units, epoch):
        items, y = work.parts
        index = items.index(units)
        x, lengths = items.batch(units, index)
        said = module(x, None if items.even else lengths)
        goal = y.batch(units, index)[0].reshape(said.shape)
        return 0.5 * (said - goal).square().sum() / len(units), float(len(units))

    def predict(self, X):
        """Return the number of every sequence."""
        said = np.array(self._scores(X)[0])
        return said.ravel() if said.shape[1] == 1 else said
