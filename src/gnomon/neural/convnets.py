"""Convolutional classifier and regressor of images and signals."""

from __future__ import annotations

from typing import Any, ClassVar

from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin, RegressorMixin

from gnomon.core.errors import DataError
from gnomon.core.parameters import StrOptions
from gnomon.neural.batch_losses import weighted_mean
from gnomon.neural.convnet_base import ImageNetwork
from gnomon.neural.training import PREDICT_ROWS

LOSSES = ("log_loss", "hinge")


class ConvNetClassifier(ClassifierMixin, ImageNetwork):
    """Convolutional network for classes of images, or of signals.

    Filters that move over the image share their weights, so a shape is found wherever it is. Good from a few
    thousand images on
    (or fewer, small ones); for less data try a linear model of good features. Trained by mini-batches of the
    mean loss plus
    weight decay; with ``early_stopping`` the weights of the best epoch are given back.

    Parameters
    ----------
    layers : str, list of layers, Network, torch.nn.Module, or function that returns one, default="lenet5"
        Name of an `architecture`; layers of `gnomon.neural.layers`, to which an output is added where the last
        is none; or a
        module of your own that maps (n, channels, height, width) to scores.
    input_shape : tuple, optional
        (channels, height, width) of flat rows.
    data_format : {"channels_first", "channels_last"}, default="channels_first"
    loss : {"log_loss", "hinge"}, default="log_loss"
    solver : {"sgd", "adam", "adagrad"}, default="sgd"
        PyTorch's.
    learning_rate : {"plateau", "constant", "inverse"} or Schedule, default="plateau"
        "plateau": a tenth when nothing improves for `n_iter_no_change` epochs.
    learning_rate_init, momentum, weight_decay : float
    batch_size, max_iter : int
        `max_iter` counts epochs.
    augment : Augmentation, optional
        Random changes of the images, new ones every epoch.
    early_stopping, validation_fraction, n_iter_no_change, tol
        Hold out a part, stop when its accuracy does not improve, and give back the best weights.
    clip_norm : float, optional
    shuffle : bool, default=True
    warm_start : bool, default=False
    random_state : int, RandomState or None
    device : {"auto", "cpu", "cuda"}, default="auto"
    precision : {"float32", "float64", "mixed"}, default="float32"
    compile : bool or str, default=False
        Have `torch.compile` make the training steps, in the mode "reduce-overhead" or the one given. It takes up to a
        minute at the start and pays in long fits on a GPU: LeNet's steps were 1.4 times as fast on an H200,
        ResNet-18's 1.3 times.

    Attributes
    ----------
    weights_ : dict of arrays
        As PyTorch names them.
    network_ : Network
    classes_, image_shape_, input_scaling_, loss_curve_, trace_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import layers
    >>> X = np.zeros((40, 6, 6))
    >>> X[:20, :, 2], X[20:, 2, :] = 1.0, 1.0  # standing and lying bars
    >>> y = np.repeat(["standing", "lying"], 20)
    >>> net = [layers.Conv2d(4, 3), layers.Activation("relu"), layers.Dense(2)]
    >>> model = ConvNetClassifier(net, max_iter=20, early_stopping=False, random_state=0).fit(X, y)
    >>> float(model.score(X, y)), model.describe().parameters
    (1.0, 170)
    """

    _target: ClassVar[str] = "class"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ImageNetwork._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
    }

    def __init__(
        self, layers="lenet5", *, input_shape=None, data_format="channels_first", loss="log_loss", solver="sgd",
        learning_rate="plateau", learning_rate_init=1e-2, momentum=0.9, weight_decay=5e-4, batch_size=128, max_iter=20,
        augment=None, early_stopping=True, validation_fraction=0.1, n_iter_no_change=5, tol=1e-4, clip_norm=None,
        shuffle=True, warm_start=False, random_state=None, device="auto", precision="float32",
        compile=False,
    ):  # fmt: skip
        self.layers = layers
        self.input_shape = input_shape
        self.data_format = data_format
        self.loss = loss
        self.solver = solver
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.augment = augment
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.clip_norm = clip_norm
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.precision = precision
        self.compile = compile

    def _outputs(self, data):
        if len(data.classes) < 2:
            raise DataError(
                f"y has 1 class, {data.classes[0]!r}; ConvNetClassifier needs at least two classes."
            )
        return len(data.classes)

    def _batch_loss(self, module, work, units, epoch):
        from torch.nn import functional

        X, y, weight = self._pick(work, units)
        scores = module(X)
        if scores.ndim != 2 or scores.shape[1] <= int(work.facts["n_outputs"]) - 1:
            raise DataError(
                f"the network gives scores of shape {tuple(scores.shape)} for {len(X)} images; it must give "
                f"({len(X)}, {work.facts['n_outputs']})."
            )
        if self.loss == "log_loss":
            if weight is None:
                return functional.cross_entropy(scores, y), float(len(y))
            losses = functional.cross_entropy(scores, y, reduction="none")
        else:
            excess = functional.relu(scores - scores.gather(1, y[:, None]) + 1.0)
            losses = excess.sum(dim=1) - 1.0
        return weighted_mean(losses, weight)

    def _score_module(self, module, work, units):
        right = 0
        for begin in range(0, len(units), PREDICT_ROWS):
            X, y, _ = self._pick(work, units[begin : begin + PREDICT_ROWS])
            right += int((module(X).argmax(dim=1) == y).sum())
        return right / len(units)

    def decision_function(self, X):
        """Return the score of every class."""
        return self._scores(X)

    def predict_proba(self, X):
        """Return the probability of every class, the softmax of the scores."""
        return softmax(self._scores(X), axis=1)

    def predict_log_proba(self, X):
        """Return the logarithm of `predict_proba`."""
        return log_softmax(self._scores(X), axis=1)

    def predict(self, X):
        """Return the class of every image."""
        chosen = self._scores(X).argmax(axis=1)
        return self.classes_[chosen]


class ConvNetRegressor(RegressorMixin, ImageNetwork):
    """Convolutional network for numbers that belong to images, or signals: mean squared error.

    Parameters
    ----------
    layers, input_shape, data_format, solver, learning_rate, learning_rate_init, momentum, weight_decay, \
    batch_size, max_iter, \
    augment, early_stopping, validation_fraction, n_iter_no_change, tol, clip_norm, shuffle, warm_start, \
    random_state, device, \
    precision, compile
        As in `ConvNetClassifier`; standardize the target.

    Attributes
    ----------
    weights_, network_, image_shape_, input_scaling_, loss_curve_, trace_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import layers
    >>> X = np.random.default_rng(0).normal(size=(60, 8))  # signals
    >>> net = [layers.Conv1d(4, 3), layers.Activation("relu")]
    >>> model = ConvNetRegressor(net, max_iter=60, solver="adam", early_stopping=False, random_state=0)
    >>> bool(model.fit(X, X[:, 3]).score(X, X[:, 3]) > 0.9)
    True
    """

    _target: ClassVar[str] = "number"

    def __init__(
        self, layers="lenet5", *, input_shape=None, data_format="channels_first", solver="sgd", learning_rate="plateau",
        learning_rate_init=1e-2, momentum=0.9, weight_decay=5e-4, batch_size=128, max_iter=20, augment=None,
        early_stopping=True, validation_fraction=0.1, n_iter_no_change=5, tol=1e-4, clip_norm=None, shuffle=True,
        warm_start=False, random_state=None, device="auto", precision="float32",
        compile=False,
    ):  # fmt: skip
        self.layers = layers
        self.input_shape = input_shape
        self.data_format = data_format
        self.solver = solver
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.augment = augment
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.clip_norm = clip_norm
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.precision = precision
        self.compile = compile

    def _outputs(self, data):
        return 1 if data.y.ndim == 1 else data.y.shape[1]

    def _batch_loss(self, module, work, units, epoch):
        X, y, weight = self._pick(work, units)
        said = module(X)
        return weighted_mean(0.5 * (said - y.reshape(said.shape)).square().sum(dim=1), weight)

    def predict(self, X):
        """Return the prediction for every image."""
        said = self._scores(X)
        return said.ravel() if said.shape[1] == 1 else said
