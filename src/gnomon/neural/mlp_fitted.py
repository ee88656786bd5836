"""Dense networks after a fit: what was learned, as attributes, scores, hidden units and modules."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.estimator import Estimator
from gnomon.core.linalg import Array
from gnomon.core.sums import per_row
from gnomon.core.validate import check_fitted
from gnomon.neural import dense_plan, starts
from gnomon.neural.dense_plan import Stack
from gnomon.neural.mlp_state import MLPState, Optimizer, blank


class FittedDense(Estimator):  # type: ignore[misc]
    """What a network of dense layers answers."""

    def _learned_network(self, state: MLPState) -> dict[str, Any]:
        stack = state.stack
        coefs, intercepts = dense_plan.unflat(stack, state.params)
        held = state.held is not None
        return {
            "coefs_": coefs,
            "intercepts_": intercepts,
            "n_layers_": len(coefs) + 1,
            "n_outputs_": stack.sizes[-1],
            "loss_": float(state.losses[-1]) if len(state.losses) else math.inf,
            "best_loss_": None if held else float(state.losses.min(initial=math.inf)),
            "loss_curve_": state.losses.tolist(),
            "validation_scores_": state.scores.tolist() if held else None,
            "best_validation_score_": state.best_score if held else None,
            "learning_rates_": state.rates,
            "gradient_norms_": state.norms,
            "t_": state.t,
            "optimizer_": Optimizer(state.first, state.second, state.step, state.t, state.draws, state.rate),
            "loss_name_": stack.loss,
        }

    def _fitted_stack(self) -> Stack:
        check_fitted(self)
        sizes = (self.coefs_[0].shape[0], *self._sizes(), self.n_outputs_)
        loss = getattr(self, "loss_name_", "squared_error")
        stack = self._stack(sizes[0], sizes[-1], loss)
        if stack.shapes() != [W.shape for W in self.coefs_]:
            raise DataError(
                f"hidden_layer_sizes={self.hidden_layer_sizes} does not go with the fitted weights of shapes "
                f"{[W.shape for W in self.coefs_]}. Fit again, or set the parameters back."
            )
        return stack

    def _params(self) -> Array:
        return dense_plan.flat(self.coefs_, self.intercepts_)

    def _scores(self, X: Any) -> Array:
        stack, params = self._fitted_stack(), self._params()
        return per_row(_chunk_scores, self._rows(X), stack, params)

    def hidden(self, X: Any, layer: int = 0) -> Array:
        """Return the values of a hidden layer's units: the features that the network has learned.

        Parameters
        ----------
        X : array (n, d)
        layer : int, default=0
            Which hidden layer, the first being 0.
        """
        stack = self._fitted_stack()
        if not -len(stack.activations) <= layer < len(stack.activations):
            raise ValueError(
                f"layer must be below {len(stack.activations)}, the number of hidden layers; got {layer}."
            )
        return per_row(_chunk_hidden, self._rows(X), stack, self._params(), layer)

    def set_weights(self, coefs: Any, intercepts: Any, **more: Any) -> Self:
        """Take these weights instead of learning some; the network can then predict and go on learning.

        Parameters
        ----------
        coefs : list of arrays (n_in, n_out)
        intercepts : list of arrays (n_out,)
        **more
            For a classifier, ``classes``: its labels (default 0, 1, ...).

        Returns
        -------
        self
        """
        n_in, n_out = np.shape(coefs[0])[0], np.shape(coefs[-1])[1]
        stack = self._stack(n_in, n_out, self._loss_of_outputs(n_out))
        coefs, intercepts = starts.given_weights(stack, coefs, intercepts)
        params = dense_plan.flat(coefs, intercepts, float)
        state = blank(stack, params, np.random.RandomState(0), float(self.learning_rate_init))
        learned = {**self._learned_network(state), **self._learned_output(n_out, **more)}
        self._adopt({**learned, "n_features_in_": n_in, "n_iter_": 0})
        return self

    def to_module(self) -> Any:
        """Return the network as a `torch.nn.Sequential` with the same weights; its outputs are the scores."""
        from gnomon.neural.torch_dense import module_of

        return module_of(self._fitted_stack(), self._params()).eval()

    def _check_loaded(self) -> None:
        if not hasattr(self, "coefs_"):
            return
        try:
            self._fitted_stack()  # the weights fit each other
            if len(self.coefs_[0]) != self.n_features_in_:
                raise DataError(
                    f"a first layer of {len(self.coefs_[0])} inputs for {self.n_features_in_} columns."
                )
            for W, b in zip(self.coefs_, self.intercepts_, strict=True):
                if b.shape != W.shape[1:]:
                    raise DataError(f"a layer of {np.shape(W)} weights has intercepts of {np.shape(b)}.")
            width, classes = len(self.intercepts_[-1]), getattr(self, "classes_", None)
            if isinstance(classes, np.ndarray) and len(classes) not in (width, 2 if width == 1 else width):
                raise DataError(f"{width} scores for {len(classes)} classes.")
            kept = getattr(self, "optimizer_", None)
            for memory in (
                () if kept is None else (kept.first, kept.second)
            ):  # `partial_fit` goes on with them
                if np.shape(memory) != self._params().shape or np.asarray(memory).dtype.kind != "f":
                    raise DataError(f"what its optimizer remembers has shape {np.shape(memory)}.")
        except (DataError, ValueError, AttributeError, TypeError, IndexError) as error:
            raise ModelFileError(f"its weights do not fit together: {error}") from None

    def export(self, path: Any) -> None:
        """Write the network for other programs: weights to ``.safetensors``, the computation to ``.onnx``.

        The computation gives the scores of `decision_function`; it needs PyTorch and the package `onnxscript`.
        """
        from gnomon.neural.exporting import export

        export(self, path)

    def _exported(self) -> tuple[dict[str, Array], tuple[int, ...], str]:
        """Return the weights by name, the shape of one row and what a row is called."""
        pairs = list(zip(self.coefs_, self.intercepts_))
        weights = {f"coefs.{i}": W for i, (W, _) in enumerate(pairs)}
        return (
            {**weights, **{f"intercepts.{i}": b for i, (_, b) in enumerate(pairs)}},
            (self.n_features_in_,),
            "rows",
        )

    def dropout_scores(self, X: Any, n_samples: int = 100, random_state: int = 0) -> tuple[Array, Array]:
        """Return mean and standard deviation of the scores over networks with units left out at random."""
        from gnomon.loops import dense

        stack, params, rows = self._fitted_stack(), self._params(), self._rows(X)
        if not any(stack.dropout):
            raise ValueError("dropout=0: no unit is ever left out. Set dropout to sample networks.")
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1; got {n_samples}.")
        plan, block = stack.plan(), dense_plan.dense_rows(rows.X, None, params.dtype)
        room, drawn = dense_plan.buffers(stack, len(block), params.dtype), []
        for sample in range(n_samples):
            dense.forward(block, plan, params, *room[:3], True, int(random_state) * 1_000_003 + sample, 0)
            drawn.append(room.Z[len(block) * plan.z_at[-1] :].reshape(len(block), -1).astype(float))
        return np.mean(drawn, axis=0), np.std(drawn, axis=0)

    def loss_and_gradients(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[float, list[Array], list[Array]]:
        """Return the penalized objective on these rows, and its slopes: one array per weight matrix and bias."""
        check_fitted(self)
        work = self._prepare(self._read(X, y, sample_weight, reset=False))
        params = self._params().astype(work.T.dtype)
        value, gradient = dense_plan.objective(
            work.stack, params, work.X, work.T, work.weight, *self._strength()
        )
        return (value, *dense_plan.unflat(work.stack, gradient))


def _chunk_scores(chunk: Any, stack: Stack, params: Array) -> Array:
    X = dense_plan.dense_rows(chunk.X, None, params.dtype)
    return dense_plan.scores(stack, params, X)


def _chunk_hidden(chunk: Any, stack: Stack, params: Array, layer: int) -> Array:
    return dense_plan.layer_values(stack, params, chunk.X)[1][layer].copy()
