"""Variational autoencoders: a bottleneck of distributions, from which new rows can be drawn."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon.core.devices import import_torch
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import COUNT, POSITIVE
from gnomon.neural.autoencoders import _ROWS, _hidden, _RowNetwork, mlp
from gnomon.neural.batch_losses import weighted_mean


class VariationalAutoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _RowNetwork):
    r"""Variational autoencoder (Kingma and Welling, 2014): a density with a few hidden causes, learned by a network.

    .. math:: z\sim N(0, I),\quad x\mid z\sim N(f_\theta(z), \text{noise}\cdot I),\quad q(z\mid x) =
    N(\mu(x), \mathrm{diag}\,\sigma^2(x))

    maximizes :math:`E_q\ln p(x|z) - \beta\,KL(q\,\|\,p)`, a bound below ln p(x), by draws :math:`z = \mu +
    \sigma\odot e`. Samples are
    soft; a `GenerativeAdversarialNetwork` draws sharper ones but gives no density. With a linear decoder it is
    probabilistic PCA.

    Parameters
    ----------
    n_components : int, default=2
    hidden_layer_sizes : tuple of int, default=(100,)
        Of the encoder; the decoder has them in reverse.
    activation : str, default="relu"
    likelihood : {"gaussian", "bernoulli"}, default="gaussian"
        "bernoulli" is for pixels between 0 and 1.
    noise : float, default=1.0
        Variance of a column given its causes.
    beta : float, default=1.0
    n_samples : int, default=1
        Draws of z for a row and step.
    solver, learning_rate, learning_rate_init, momentum, weight_decay, batch_size, max_iter, tol, n_iter_no_change, \
    early_stopping, validation_fraction, clip_norm, warm_start, random_state, device, precision
        As in `ConvNetClassifier`.

    Attributes
    ----------
    weights_ : dict of arrays
    trace_ : Trace
        Minus the mean bound; its columns ``reconstruction`` and ``kl`` are the two parts.
    loss_curve_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> t = np.random.default_rng(0).uniform(-2, 2, size=300)
    >>> X = np.column_stack([t, t**2])  # a bent line
    >>> model = VariationalAutoencoder(1, (20,), noise=0.1, learning_rate_init=0.01, max_iter=100, random_state=0)
    >>> Z = model.fit(X).transform(X)
    >>> bool(np.mean((model.inverse_transform(Z) - X) ** 2) < 0.4)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_ROWS,
        "likelihood": [StrOptions({"gaussian", "bernoulli"})],
        "noise": [POSITIVE],
        "beta": [Interval(Real, 0, None, closed="left")],
        "n_samples": [COUNT],
    }

    def __init__(
        self, n_components=2, hidden_layer_sizes=(100,), activation="relu", *, likelihood="gaussian", noise=1.0,
        beta=1.0, n_samples=1, solver="adam", learning_rate="constant", learning_rate_init=3e-3, momentum=0.9,
        weight_decay=0.0, batch_size=100, max_iter=100, tol=1e-4, n_iter_no_change=20, early_stopping=False,
        validation_fraction=0.1, clip_norm=None, warm_start=False, random_state=None, device="cpu",
        precision="float32",
    ):  # fmt: skip
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.likelihood = likelihood
        self.noise = noise
        self.beta = beta
        self.n_samples = n_samples
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

    def fit(self, X, y=None):
        """Learn from the rows; each draws noise of its own, so weights could not stand for repetitions.

        Parameters
        ----------
        X : array (n, d)
            Numbers; between 0 and 1 with ``likelihood="bernoulli"``.
        """
        return super().fit(X)

    def iterate(self, X, y=None):
        """Yield a fitted copy at the start and after every epoch."""
        yield from super().iterate(X)

    def _row_facts(self, data):
        if self.likelihood == "bernoulli" and (data.X.min() < 0.0 or data.X.max() > 1.0):
            raise DataError(
                f"likelihood='bernoulli' needs X between 0 and 1; it goes from {data.X.min():g} to {data.X.max():g}."
            )
        return {}

    def _module(self, facts):
        from gnomon.neural.torch_generative import Variational

        hidden, d = _hidden(self.hidden_layer_sizes), facts["n_features"]
        encoder = mlp((d, *hidden, 2 * self.n_components), self.activation)
        decoder = mlp((self.n_components, *hidden[::-1], d), self.activation)
        return Variational(encoder, decoder, self.likelihood, float(self.noise))

    def _batch_loss(self, module, work, units, epoch):
        torch = import_torch()
        X, weight = self._pick(work, units)
        mean, log_variance = module.encode(X)
        fit = torch.zeros(len(X), dtype=X.dtype, device=X.device)
        for _ in range(self.n_samples):
            e = torch.randn_like(mean) if module.training else torch.zeros_like(mean)
            fit = fit + module.log_likelihood(X, mean + torch.exp(0.5 * log_variance) * e) / self.n_samples
        kl = gaussian_kl(mean, log_variance)
        if module.training:
            self_sums = (fit * weight).sum().detach(), (kl * weight).sum().detach()
            module.seen = [a + b for a, b in zip(getattr(module, "seen", (0.0, 0.0)), self_sums)]
            module.mass = getattr(module, "mass", 0.0) + weight.sum()
        return weighted_mean(self.beta * kl - fit, weight)

    def _epoch(self, work, state):
        state.module.seen, state.module.mass = (0.0, 0.0), 0.0
        loss, info = super()._epoch(work, state)
        fit, kl = (float(part / state.module.mass) for part in state.module.seen)
        return loss, {**info, "reconstruction": fit, "kl": kl}

    def transform_distribution(self, X):
        """Return mean and standard deviation of the hidden causes of every row."""
        n = self.n_components
        found = self._on_rows(lambda m, rows: import_torch().cat(m.encode(rows), dim=1), self._matrix(X))
        return found[:, :n], np.exp(0.5 * found[:, n:])

    def transform(self, X):
        """Return the posterior mean of the hidden causes."""
        return self.transform_distribution(X)[0]

    def inverse_transform(self, Z):
        """Return the mean of rows with these causes."""
        return self._on_rows(lambda module, rows: module.mean(rows), self._latent(Z))

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """Draw rows: causes from N(0, I), then the row with its noise (pixels: their probabilities)."""
        rng = np.random.default_rng(random_state)
        rows = self.inverse_transform(rng.normal(size=(n, self.n_components)))
        return (
            rows + math.sqrt(self.noise) * rng.normal(size=rows.shape)
            if self.likelihood == "gaussian"
            else rows
        )

    def _posterior(self, X: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation of the causes, which must be numbers to draw with."""
        mean, std = self.transform_distribution(X)
        lost = ~(np.isfinite(mean) & np.isfinite(std) & (std > 0.0)).all(axis=1)
        if lost.any():
            raise DataError(
                f"row {int(np.argmax(lost))} of X is so far from the rows of the fit that the spread of its causes "
                "overflows or vanishes. Scale X as it was for the fit."
            )
        return mean, std

    def _log_joint(self, X: Array, Z: Array) -> Array:
        """Return ln p(x|z) for every row."""
        d = X.shape[1]
        both = np.hstack([X, Z])
        return self._on_rows(lambda m, rows: m.log_likelihood(rows[:, :d], rows[:, d:])[:, None], both)[:, 0]

    def elbo(self, X: Any, *, n_draws: int = 100, random_state: int = 0) -> Array:
        """Return the bound of every row, by draws from its posterior."""
        X = self._matrix(X)
        mean, std = self._posterior(X)
        rng = np.random.default_rng(random_state)
        fits = [self._log_joint(X, mean + std * rng.normal(size=mean.shape)) for _ in range(n_draws)]
        return np.mean(fits, axis=0) - kl_to_standard(mean, std**2)

    def score_samples(self, X: Any, n_importance: int = 100) -> Array:
        """Return estimates of ln p(x) by importance sampling, which grow towards it (Burda et al., 2016)."""
        X = self._matrix(X)
        mean, std = self._posterior(X)
        rng, logs = np.random.default_rng(0), []
        for _ in range(n_importance):
            e = rng.normal(size=mean.shape[1])  # the same for every row: no answer depends on a row's place
            z = mean + std * e
            ratio = -0.5 * (z**2).sum(axis=1) + 0.5 * (e**2).sum() + np.log(std).sum(axis=1)
            logs.append(self._log_joint(X, z) + ratio)
        return logsumexp(logs, axis=0) - math.log(n_importance)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`."""
        return float(self.score_samples(X).mean())


def gaussian_kl(mean: Any, log_variance: Any) -> Any:
    """Return KL(N(mean, e^log_variance) ‖ N(0, I)) of every row, as tensors."""
    return -0.5 * (1.0 + log_variance - mean.square() - log_variance.exp()).sum(dim=1)


def kl_to_standard(mean: Any, variance: Any) -> Array:
    """Return KL(N(mean, diag variance) ‖ N(0, I)) = −½ Σ(1 + ln σ² − μ² − σ²) of every row.

    >>> kl_to_standard([0.5, -1.0], [0.25, 2.0]).round(10)
    np.float64(1.0965735903)
    """
    mean, variance = np.asarray(mean, dtype=float), np.asarray(variance, dtype=float)
    return -0.5 * (1.0 + np.log(variance) - mean**2 - variance).sum(axis=-1)
