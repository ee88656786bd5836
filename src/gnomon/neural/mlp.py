"""Multilayer perceptrons: classifier and regressor of dense layers."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.settings import check_parameters
from gnomon.core.validate import Reads, check_fitted, read
from gnomon.neural import dense_plan
from gnomon.neural.dense_plan import Stack
from gnomon.neural.mlp_answers import axes_of, in_batches
from gnomon.neural.mlp_base import DenseLearner

CLASS_LOSSES = ("log_loss", "hinge", "perceptron", "sigmoid_squared", "squared_error")


def _says_probabilities(model: Any) -> bool:
    if model.loss in ("log_loss", "sigmoid_squared"):
        return True
    raise AttributeError(
        f"predict_proba needs a loss whose scores are probabilities; loss={model.loss!r} has none. Use loss='log_loss'."
    )


class MLPClassifier(ClassifierMixin, DenseLearner):
    r"""Multilayer perceptron for classes: dense layers with activations between them.

    .. math:: h_0 = x,\quad h_l = f(h_{l-1}W_l + b_l),\quad F = h_LW + b

    minimizes the mean of loss(y, F) plus :math:`\frac{\alpha}{2n}\sum\lVert W\rVert^2`, n being the rows of a
    batch (biases
    are free). Good for a few hundred to a million rows of numbers of one scale, when linear models bend too little.
    Standardize the columns first. For tables of mixed columns boosted trees are usually better and need no
    tuning, for
    images `ConvNetClassifier`.

    With scikit-learn's parameters alone the weights, shuffles and losses are scikit-learn's, epoch by epoch.

    Parameters
    ----------
    hidden_layer_sizes : int or tuple of int, default=(100,)
        Units of the hidden layers; ``()`` is (softmax) regression.
    activation : str or list of str, default="relu"
        One of `Activation`'s names, or one for each hidden layer.
    solver : {"adam", "sgd", "adagrad", "lbfgs"}, default="adam"
        Update rule. ``"lbfgs"`` uses all rows at every step: best for small data.
    alpha : float, default=1e-4
        Weight of the squared penalty, divided by the size of the batch as in scikit-learn.
    batch_size : int or "auto", default="auto"
        Rows of a mini-batch; "auto" is min(200, n).
    learning_rate : {"constant", "invscaling", "adaptive", "inverse", "plateau"} or Schedule, default="constant"
        "invscaling" and "adaptive" as in scikit-learn (solver="sgd" only). "inverse": η₀/(k+1) at update k.
        "plateau": a tenth
        after `plateau_patience` epochs without progress. Or any schedule of `gnomon.solvers`.
    learning_rate_init, power_t : float
        First rate η₀, and the power of "invscaling".
    max_iter : int, default=200
        Epochs at most (steps of L-BFGS).
    shuffle : bool, default=True
    random_state : int, RandomState or None
    tol : float, default=1e-4
        Progress that counts, of the loss or the held-out score; for "lbfgs" the largest slope to stop at.
    verbose : bool
        Print the loss after every epoch.
    warm_start : bool, default=False
        Go on from the weights of the last fit.
    momentum, nesterovs_momentum : float, bool
        Of solver="sgd".
    early_stopping : bool, default=False
        Hold out `validation_fraction` of the rows, stop when their score does not improve for
        `n_iter_no_change` epochs, and
        give back the best weights.
    validation_fraction : float, default=0.1
    beta_1, beta_2, epsilon : float
        Of solver="adam".
    n_iter_no_change : int, default=10
    max_fun : int, default=15000
        Evaluations of the objective at most, for "lbfgs".
    loss : {"log_loss", "hinge", "perceptron", "sigmoid_squared", "squared_error"}, default="log_loss"
        "hinge" of several classes is Weston and Watkins'. The last three are one-against-rest for more than
        two classes.
    output : {"auto", "softmax"}, default="auto"
        "softmax" gives two classes one output each.
    class_weight : dict, "balanced" or None
    init : {"glorot", "fan_in", "he", "uniform", "zeros"} or (coefs, intercepts), default="glorot"
    init_scale : float, default=0.1
        Bound of init="uniform".
    pieces : int, default=2
        Linear forms of a maxout unit.
    dropout : float or list of float, default=0.0
        Probability with which a hidden unit is left out, row by row.
    dropout_scaling : {"train", "test"}, default="train"
        Multiply kept units by 1/(1−p) while training, or all by 1−p when predicting.
    weight_decay : float, optional
        λ of ½λ‖W‖² added to every row's loss, whatever the batch; instead of `alpha`.
    adagrad_scope : {"parameter", "node"}, default="parameter"
        One AdaGrad scale for every weight, or for all weights into a unit.
    clip_norm : float, optional
        Longest gradient; longer ones are shortened.
    plateau_patience : int, default=10
    engine : {"auto", "direct", "torch"}, default="auto"
        "direct" is compiled here, "torch" is PyTorch's automatic differentiation; both give the same numbers.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Of the "torch" engine.

    Attributes
    ----------
    coefs_, intercepts_ : list of arrays
        Weights (n_in, n_out) and biases of every layer.
    classes_ : array
    loss_, best_loss_, loss_curve_ : float, float, list
    validation_scores_, best_validation_score_ : list, float
        Where `early_stopping` is on.
    learning_rates_ : array (epochs,)
    gradient_norms_ : array (epochs, layers)
        Mean norm of the gradient of every weight matrix.
    n_layers_, n_outputs_, out_activation_, t_
        As in scikit-learn.
    trace_, n_iter_, converged_
        As of every learner.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = MLPClassifier((8,), solver="lbfgs", activation="tanh", random_state=1).fit(X, y)
    >>> model.predict(X)
    array([0, 1, 1, 0])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DenseLearner._parameter_constraints,
        "loss": [StrOptions(set(CLASS_LOSSES))],
        "output": [StrOptions({"auto", "softmax"})],
        "class_weight": [None, dict, StrOptions({"balanced"})],
    }

    def __init__(
        self, hidden_layer_sizes=(100,), activation="relu", *, solver="adam", alpha=1e-4, batch_size="auto",
        learning_rate="constant", learning_rate_init=1e-3, power_t=0.5, max_iter=200, shuffle=True,
        random_state=None, tol=1e-4, verbose=False, warm_start=False, momentum=0.9, nesterovs_momentum=True,
        early_stopping=False, validation_fraction=0.1, beta_1=0.9, beta_2=0.999, epsilon=1e-8, n_iter_no_change=10,
        max_fun=15000, loss="log_loss", output="auto", class_weight=None, init="glorot", init_scale=0.1, pieces=2,
        dropout=0.0, dropout_scaling="train", weight_decay=None, adagrad_scope="parameter", clip_norm=None,
        plateau_patience=10, engine="auto", device="cpu",
    ):  # fmt: skip
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.loss = loss
        self.output = output
        self.class_weight = class_weight
        self.init = init
        self.init_scale = init_scale
        self.pieces = pieces
        self.dropout = dropout
        self.dropout_scaling = dropout_scaling
        self.weight_decay = weight_decay
        self.adagrad_scope = adagrad_scope
        self.clip_norm = clip_norm
        self.plateau_patience = plateau_patience
        self.engine = engine
        self.device = device

    # data

    def _read(self, X, y=None, sample_weight=None, *, reset=True, classes=None, **options):
        if y is not None and axes_of(y) == 2 and type_of_target(y) == "multilabel-indicator":
            return self._read_labels(X, y, sample_weight, reset)
        known = classes if reset else getattr(self, "classes_", None)
        rows = super()._read(X, y, sample_weight, reset=reset, classes=known, **options)
        if (
            len(rows.classes) < 2
            and getattr(self, "classes_", rows.classes) is rows.classes
            and classes is None
        ):
            raise DataError(
                f"y has 1 class, {rows.classes[0]!r}; MLPClassifier needs at least two classes to tell apart."
            )
        return rows

    def _read_labels(self, X, y, sample_weight, reset):
        """Rows whose target says for every label whether it holds."""
        if reset:
            check_parameters(self)
        y = y.toarray() if sparse.issparse(y) else np.asarray(y)
        rows = read(self, X, y, sample_weight, reads=Reads(sparse=True, y="numbers"), reset=reset)
        rows.classes = np.arange(y.shape[1])
        return rows

    def _by_class(self, rows):
        """Whether every class has an output of its own."""
        return rows.y.ndim == 1 and (len(rows.classes) > 2 or self.output == "softmax")

    def _loss_name(self, rows):
        many, by_class = rows.y.ndim == 2, self._by_class(rows)
        if self.loss == "log_loss":
            return "log_loss_multiclass" if by_class else "log_loss_binary"
        if many:
            raise DataError(
                f"y holds several labels a row; loss={self.loss!r} is for exclusive classes. Use 'log_loss'."
            )
        if self.loss == "hinge":
            return "hinge_multiclass" if by_class else "hinge_binary"
        return self.loss

    def _targets(self, rows):
        y, k = rows.y, len(rows.classes)
        if y.ndim == 2:
            return y.astype(float), y.shape[1]
        by_class = self._by_class(rows)
        if by_class and self.loss in ("log_loss", "hinge"):
            return y[:, None].astype(float), k
        columns = (y[:, None] == np.arange(k)).astype(float) if by_class else (y == 1).astype(float)[:, None]
        signed = self.loss in ("hinge", "perceptron")
        return 2.0 * columns - 1.0 if signed else columns, columns.shape[1]

    def _row_weights(self, rows):
        if self.class_weight is None or rows.y.ndim == 2:
            return rows.weight
        labels = rows.classes[rows.y]
        factors = compute_class_weight(self.class_weight, classes=rows.classes, y=labels)
        return rows.weight * factors[rows.y]

    def _stratify(self, work):
        if work.stack.sizes[-1] > 1:  # as scikit-learn does
            return None
        return work.labels if work.classes is None else work.classes[work.labels]

    def _held_score(self, work, rows, params):
        F = dense_plan.scores(work.stack, params, work.X[rows])
        return float(accuracy_score(work.labels[rows], self._decide(F, work.stack.loss)))

    # answers

    def _output_facts(self, stack):
        links = {
            "log_loss_multiclass": "softmax",
            "log_loss_binary": "logistic",
            "sigmoid_squared": "logistic",
        }
        return {"out_activation_": links.get(stack.loss, "identity"), "loss_name_": stack.loss}

    def _learned_output(self, n_out, classes=None):
        count = max(2, n_out)
        facts = {"classes_": np.arange(count) if classes is None else np.asarray(classes)}
        name = self._loss_of_outputs(n_out)
        stack = Stack((1, n_out), (), loss=name)
        return {**facts, **self._output_facts(stack)}

    def _loss_of_outputs(self, n_out):
        many = n_out > 1
        names = {
            "log_loss": "log_loss_multiclass" if many else "log_loss_binary",
            "hinge": "hinge_multiclass" if many else "hinge_binary",
        }
        return names.get(self.loss, self.loss)

    def _decide(self, F: Array, loss: str) -> Array:
        """Return class codes (or label indicators) of scores."""
        if loss == "log_loss_binary" and F.shape[1] > 1:
            return (F > 0.0).astype(int)
        if F.shape[1] == 1:
            return (F[:, 0] > (0.5 if loss == "squared_error" else 0.0)).astype(int)
        return F.argmax(axis=1)

    def predict(self, X, *, n_dropout_samples=None, random_state=0):
        """Return the class of every row.

        Parameters
        ----------
        X : array (n, d)
        n_dropout_samples : int, optional
            Average the scores of so many networks with units left out at random, instead of the whole network's.
        random_state : int
            Which units are left out.

        Returns
        -------
        array (n,), or (n, labels) of 0 and 1
        """
        check_fitted(self)
        F = (
            self._scores(X)
            if n_dropout_samples is None
            else self.dropout_scores(X, n_dropout_samples, random_state)[0]
        )
        codes = self._decide(F, self.loss_name_)
        return codes if codes.ndim == 2 else self.classes_[codes]

    def decision_function(self, X):
        """Return the scores F before any link; one column for two classes is given as a vector."""
        F = self._scores(X)
        return F.ravel() if F.shape[1] == 1 else F

    @available_if(_says_probabilities)
    def predict_proba(self, X):
        """Return the probability of every class, or of every label."""
        F = self._scores(X)
        if self.loss_name_ == "log_loss_multiclass":
            return softmax(F, axis=1)
        p = expit(F)
        if F.shape[1] > 1:
            return p / p.sum(axis=1, keepdims=True) if self.loss_name_ == "sigmoid_squared" else p
        return np.column_stack([expit(-F), p])  # a probability near 0 keeps its digits

    @available_if(_says_probabilities)
    def predict_log_proba(self, X):
        """Return the logarithm of `predict_proba`, exact where a probability is almost 0."""
        F = self._scores(X)
        if self.loss_name_ == "log_loss_multiclass":
            return log_softmax(F, axis=1)
        if F.shape[1] == 1:
            return np.column_stack([log_expit(-F), log_expit(F)])
        return log_expit(F) if self.loss_name_ == "log_loss_binary" else np.log(self.predict_proba(X))

    @available_if(in_batches)
    def partial_fit(self, X, y, sample_weight=None, classes=None) -> Self:
        """Make one pass over these rows, going on from what was learned, optimizer and all.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All labels that will come; needed by the first call.

        Returns
        -------
        self
        """
        first = not hasattr(self, "coefs_")
        if first and classes is None and axes_of(y) == 1:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        return self._one_epoch(self._read(X, y, sample_weight, reset=first, classes=classes))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
