"""Multilayer perceptron for numbers."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.metaestimators import available_if

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.validate import POSITIVE, Reads, check_fitted
from gnomon.neural import dense_plan
from gnomon.neural.mlp_answers import in_batches
from gnomon.neural.mlp_base import DenseLearner
from gnomon.neural.mlp_state import MLPWork

NUMBER_LOSSES = ("squared_error", "absolute_error", "huber", "poisson")


class MLPRegressor(RegressorMixin, DenseLearner):
    r"""Multilayer perceptron for numbers: dense layers with a linear output.

    .. math:: h_0 = x,\quad h_l = f(h_{l-1}W_l + b_l),\quad F = h_LW + b

    minimizes the mean of loss(y, F), summed over outputs, plus :math:`\frac{\alpha}{2n}\sum\lVert W\rVert^2`.
    Standardize the
    columns and the target. A Gaussian process says how sure it is and is better on a few hundred rows.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "poisson"}, default="squared_error"
        ½(F−y)², |F−y|, Huber's with its corner at `huber_delta`, or the half Poisson deviance of e^F.
    huber_delta : float, default=1.0
    hidden_layer_sizes, activation, solver, alpha, batch_size, learning_rate, learning_rate_init, power_t,
    max_iter, shuffle, \
    random_state, tol, verbose, warm_start, momentum, nesterovs_momentum, early_stopping, validation_fraction,
    beta_1, beta_2, \
    epsilon, n_iter_no_change, max_fun, init, init_scale, pieces, dropout, dropout_scaling, weight_decay,
    adagrad_scope, \
    clip_norm, plateau_patience, engine, device
        As in `MLPClassifier`.

    Attributes
    ----------
    coefs_, intercepts_ : list of arrays
    loss_, best_loss_, loss_curve_, validation_scores_, best_validation_score_, learning_rates_,
    gradient_norms_, n_layers_, \
    n_outputs_, out_activation_, t_, trace_, n_iter_, converged_
        As in `MLPClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 41)[:, None]
    >>> model = MLPRegressor("squared_error", (20,), "tanh", solver="lbfgs", random_state=0).fit(X, X[:, 0] ** 2)
    >>> bool(np.abs(model.predict(X) - X[:, 0] ** 2).max() < 0.05)
    True
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="numbers")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DenseLearner._parameter_constraints,
        "loss": [StrOptions(set(NUMBER_LOSSES))],
        "huber_delta": [POSITIVE],
    }

    def __init__(
        self, loss="squared_error", hidden_layer_sizes=(100,), activation="relu", *, solver="adam", alpha=1e-4,
        batch_size="auto", learning_rate="constant", learning_rate_init=1e-3, power_t=0.5, max_iter=200,
        shuffle=True, random_state=None, tol=1e-4, verbose=False, warm_start=False, momentum=0.9,
        nesterovs_momentum=True, early_stopping=False, validation_fraction=0.1, beta_1=0.9, beta_2=0.999,
        epsilon=1e-8, n_iter_no_change=10, max_fun=15000, huber_delta=1.0, init="glorot", init_scale=0.1, pieces=2,
        dropout=0.0, dropout_scaling="train", weight_decay=None, adagrad_scope="parameter", clip_norm=None,
        plateau_patience=10, engine="auto", device="cpu",
    ):  # fmt: skip
        self.loss = loss
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
        self.huber_delta = huber_delta
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

    def _loss_name(self, rows):
        if self.loss == "poisson" and rows.y.min(initial=0.0) < 0.0:
            raise DataError(
                f"loss='poisson' needs y that is not negative; its smallest entry is {rows.y.min()}."
            )
        return self.loss

    def _loss_of_outputs(self, n_out):
        return self.loss

    def _targets(self, rows):
        y = rows.y if rows.y.ndim == 2 else rows.y[:, None]
        return y, y.shape[1]

    def _output_facts(self, stack):
        return {"out_activation_": "exp" if self.loss == "poisson" else "identity", "loss_name_": self.loss}

    def _learned_output(self, n_out):
        return self._output_facts(None)

    def _held_score(self, work: MLPWork, rows, params):
        F = dense_plan.scores(work.stack, params, work.X[rows])
        said = self._said(F)
        return float(r2_score(work.T[rows], said)) if np.isfinite(said).all() else np.nan

    def _said(self, F: Array) -> Array:
        return np.exp(F) if self.loss == "poisson" else F

    def predict(self, X, *, n_dropout_samples=None, random_state=0):
        """Return the prediction of every row.

        Parameters
        ----------
        X : array (n, d)
        n_dropout_samples : int, optional
            Average so many networks with units left out at random, instead of the whole network.
        random_state : int
            Which units are left out.

        Returns
        -------
        array (n,) or (n, outputs)
        """
        check_fitted(self)
        F = (
            self._scores(X)
            if n_dropout_samples is None
            else self.dropout_scores(X, n_dropout_samples, random_state)[0]
        )
        F = self._said(F)
        return F.ravel() if F.shape[1] == 1 else F

    @available_if(in_batches)
    def partial_fit(self, X, y, sample_weight=None) -> Self:
        """Make one pass over these rows, going on from what was learned, optimizer and all.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self
        """
        return self._one_epoch(self._read(X, y, sample_weight, reset=not hasattr(self, "coefs_")))
