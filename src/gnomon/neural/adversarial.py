"""Generative adversarial networks: one network draws, another tells drawn from real."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gnomon.core.devices import import_torch
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import COUNT, check_fitted, warn
from gnomon.neural.autoencoders import _RowNetwork, mlp
from gnomon.neural.training import TRAINING

COLLAPSED = 0.01  # share of the data's variance below which samples are all alike


class GenerativeAdversarialNetwork(_RowNetwork):
    r"""Generative adversarial network (Goodfellow et al., 2014).

    .. math:: \min_G\max_D\ E\ln D(x) + E\ln(1 - D(G(z))),\qquad z\sim N(0, I)

    For a fixed generator the best discriminator is p/(p+q), and the value is :math:`-\ln4 + 2\,JSD(p, q)`.
    Training is a game, not a
    descent: the losses need not fall, and samples may collapse to a few (a warning says so). Such models also
    make pictures of
    events that never happened; say of drawn data that they are drawn.

    Parameters
    ----------
    n_components : int, default=16
        Columns of the noise z.
    generator, discriminator : tuple of int, default=(64, 64)
        Hidden layers.
    non_saturating : bool, default=True
        The generator maximizes ln D(G(z)) instead of minimizing ln(1 − D(G(z))): its gradient does not vanish at
        the start.
    d_steps : int, default=1
        Updates of the discriminator for one of the generator.
    value_range : (float, float), optional
        Bounds of every column, such as (0, 1) for pixels; None: unbounded.
    solver, learning_rate, learning_rate_init, momentum, weight_decay, batch_size, max_iter, tol, n_iter_no_change, \
    early_stopping, validation_fraction, clip_norm, warm_start, random_state, device, precision
        As in `ConvNetClassifier`; training runs for `max_iter` epochs.

    Attributes
    ----------
    weights_ : dict of arrays
    trace_ : Trace
        Loss of the discriminator; column ``generator_loss``.
    loss_curve_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(3.0, 0.5, size=(200, 1))
    >>> model = GenerativeAdversarialNetwork(4, (16,), (16,), max_iter=60, random_state=0).fit(X)
    >>> bool(abs(model.sample(500, random_state=0).mean() - 3.0) < 0.5)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TRAINING,
        "n_components": [COUNT],
        "generator": ["array-like"],
        "discriminator": ["array-like"],
        "non_saturating": ["boolean"],
        "d_steps": [COUNT],
        "value_range": [None, "array-like"],
    }

    def __init__(
        self, n_components=16, generator=(64, 64), discriminator=(64, 64), *, non_saturating=True, d_steps=1,
        value_range=None, solver="adam", learning_rate="constant", learning_rate_init=1e-3, momentum=0.9,
        weight_decay=0.0, batch_size=64, max_iter=100, tol=0.0, n_iter_no_change=1_000_000, early_stopping=False,
        validation_fraction=0.1, clip_norm=None, warm_start=False, random_state=None, device="cpu",
        precision="float32",
    ):  # fmt: skip
        self.n_components = n_components
        self.generator = generator
        self.discriminator = discriminator
        self.non_saturating = non_saturating
        self.d_steps = d_steps
        self.value_range = value_range
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
        X = data.X.astype(float)
        low, high = (None, None) if self.value_range is None else self.value_range
        if low is not None and (X.min() < low or X.max() > high):
            raise DataError(f"value_range={self.value_range}, and X goes from {X.min():g} to {X.max():g}.")
        spread = np.sqrt(np.average((X - X.mean(axis=0)) ** 2, axis=0, weights=data.weight))
        width = X.shape[1]
        return {
            "center": np.average(X, axis=0, weights=data.weight),
            "scale": np.where(spread > 0.0, spread, 1.0),
            "low": None if low is None else np.full(width, float(low)),
            "high": None if high is None else np.full(width, float(high)),
        }

    def _module(self, facts):
        from gnomon.neural.torch_generative import Adversaries

        d = facts["n_features"]
        generator = mlp((self.n_components, *self.generator, d), "relu")
        discriminator = mlp((d, *self.discriminator, 1), "leaky_relu")
        return Adversaries(
            generator, discriminator, facts["low"], facts["high"], facts["center"], facts["scale"]
        )

    def _optimizer(self, module):
        optim = import_torch().optim
        rate = float(self.learning_rate_init)
        betas = (0.5, 0.999)
        groups = [{"params": module.discriminator.parameters()}, {"params": module.generator.parameters()}]
        if self.solver == "adam":
            return optim.Adam(groups, lr=rate, betas=betas, weight_decay=self.weight_decay)
        if self.solver == "sgd":
            return optim.SGD(groups, lr=rate, momentum=self.momentum, weight_decay=self.weight_decay)
        return optim.Adagrad(groups, lr=rate, weight_decay=self.weight_decay)

    def _update(self, work, state, units):
        """Update the discriminator, and after every `d_steps` of them the generator."""
        torch = import_torch()
        module, softplus = state.module, torch.nn.functional.softplus
        X, weight = self._pick(work, units)
        noise = torch.randn(len(X), self.n_components, device=X.device, dtype=X.dtype)
        state.optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            fake = module.draw(noise)
        real_loss = (weight * softplus(-module.judge(X))).sum() / weight.sum()
        loss = real_loss + softplus(module.judge(fake)).mean()
        loss.backward()
        self._clip(module.discriminator)
        state.optimizer.step()
        if state.step % self.d_steps == 0:
            self._teach_generator(state, noise)
        return loss.detach(), weight.sum()

    def _teach_generator(self, state, noise):
        torch = import_torch()
        module, softplus = state.module, torch.nn.functional.softplus
        state.optimizer.zero_grad(set_to_none=True)
        odds = module.judge(module.draw(torch.randn_like(noise)))
        loss = softplus(-odds).mean() if self.non_saturating else -softplus(odds).mean()
        loss.backward()
        for parameter in module.discriminator.parameters():
            parameter.grad = None
        self._clip(module.generator)
        state.optimizer.step()
        state.generator_losses.append(float(loss.detach()))

    def _clip(self, part):
        if self.clip_norm is not None:
            import_torch().nn.utils.clip_grad_norm_(part.parameters(), self.clip_norm)

    def _epoch(self, work, state):
        state.generator_losses = []
        loss, info = super()._epoch(work, state)
        return loss, {**info, "generator_loss": float(np.mean(state.generator_losses or [np.nan]))}

    def _validate(self, work, state, held):
        return {}

    def _finish(self, work, state):
        state = super()._finish(work, state)
        torch = import_torch()
        if work.n > 1 and hasattr(state, "module"):
            with torch.no_grad():
                rng = np.random.default_rng(0).normal(size=(256, self.n_components))
                drawn = state.module.draw(torch.as_tensor(rng, device=work.device, dtype=self._dtype()))
            ours, theirs = float(drawn.var(dim=0).sum()), float(work.parts[0].var(dim=0).sum())
            if ours < COLLAPSED * theirs:
                warn(
                    "the samples have collapsed: their variance is less than 1 % of the data's. Lower "
                    "learning_rate_init, or give the generator more noise (n_components)."
                )
        return state

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """Draw rows."""
        check_fitted(self)
        noise = np.random.default_rng(random_state).normal(size=(n, self.n_components))
        return self._on_rows(lambda module, rows: module.draw(rows), noise)

    def discriminate(self, X: Any) -> Array:
        """Return the probability that rows are real, as the discriminator sees it."""
        values = self._matrix(X)
        return self._on_rows(lambda module, rows: module.judge(rows).sigmoid()[:, None], values)[:, 0]

    def score_samples(self, X: Any) -> Array:
        """Return the log-odds of being real; no density."""
        values = self._matrix(X)
        return self._on_rows(lambda module, rows: module.judge(rows)[:, None], values)[:, 0]

    def score_generator(self, X: Any, random_state: int = 0) -> float:
        """Return how often the nearest neighbor of a row, real or drawn, is of its own kind: ½ means they are mixed."""
        from scipy.spatial import cKDTree

        X = self._matrix(X)
        both = np.vstack([X, self.sample(len(X), random_state)])
        real = np.repeat([True, False], len(X))
        near = cKDTree(both).query(both, k=2)[1]
        other = np.where(near[:, 0] == np.arange(len(both)), near[:, 1], near[:, 0])
        return float(np.mean(real[other] == real))

    @staticmethod
    def best_discriminator(p: Any, q: Any) -> tuple[Array, float]:
        """Return p/(p+q) of two discrete distributions, and the value −ln 4 + 2 JSD(p, q) of the game there.

        >>> D, value = GenerativeAdversarialNetwork.best_discriminator([0.5, 0.5], [0.2, 0.8])
        >>> D.round(6).tolist(), round(value, 6)
        ([0.714286, 0.384615], -1.284951)
        """
        from scipy.special import xlogy

        p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
        D = np.divide(p, p + q, out=np.full_like(p, 0.5), where=p + q > 0)
        return D, float((xlogy(p, D) + xlogy(q, 1.0 - D)).sum())
