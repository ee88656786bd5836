"""Distributions: densities, beliefs before and after data, likelihood curves, Dirichlet draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def density(distribution: Any, X: Any = None, ax: Axes | None = None, *, points: int = 400) -> Axes:
    """Draw the densities or masses of a family of one column, over a histogram of a sample.

    Parameters
    ----------
    distribution : family of one column
        Every component is one curve.
    X : array-like (n,), optional
        A sample.
    ax : matplotlib Axes, optional
        Where to draw.
    points : int
        Where a density is computed.

    Returns
    -------
    matplotlib Axes
    """
    ax = style.axes(ax, x="x", y="density")
    low, high = (distribution.quantile(q) for q in (0.001, 0.999))
    frozen = distribution.to_scipy()
    whole = hasattr(getattr(frozen, "dist", None), "logpmf")
    ends = np.nanmin(low), np.nanmax(high)
    grid = np.arange(ends[0], ends[1] + 1) if whole else np.linspace(*ends, points)
    if X is not None:
        bins = np.append(grid, grid[-1] + 1) - 0.5 if whole else "auto"
        ax.hist(np.ravel(X), bins=bins, density=True, color=style.QUIET, alpha=0.35)
    for k, curve in enumerate(distribution.density(grid).T):
        ax.plot(grid, curve, "o-" if whole else "-", markersize=3, color=style.color(k))
    return ax


def belief_update(belief: Any, X: Any, ax: Axes | None = None, *, points: int = 400) -> Axes:
    """Draw prior, scaled likelihood and posterior of a parameter on one axis.

    Parameters
    ----------
    belief : gnomon.distributions.Conjugate
        The belief before the data, about one number.
    X : array-like (n,)
        The data.
    ax : matplotlib Axes, optional
        Where to draw.
    points : int
        Where the curves are computed.

    Returns
    -------
    matplotlib Axes
    """
    after = belief.update(X)
    low = min(belief.prior.quantile(0.001).item(), after.prior.quantile(0.001).item())
    high = max(belief.prior.quantile(0.999).item(), after.prior.quantile(0.999).item())
    grid = np.linspace(low, high, points)[1:-1]
    ax = style.axes(ax, x="parameter", y="density")
    posterior = after.prior.density(grid)[:, 0]
    ax.plot(grid, belief.prior.density(grid)[:, 0], color=style.QUIET, label="prior")
    curve = _likelihood(belief.family, X, grid)
    ax.plot(grid, curve * posterior.max(), "--", color=style.color(1), label="likelihood, scaled")
    ax.plot(grid, posterior, color=style.color(0), label="posterior")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _likelihood(family: Any, X: Any, grid: np.ndarray) -> np.ndarray:
    """Likelihood over the parameter, largest value one."""
    name = next(iter(family.parameters)) if hasattr(family, "means") else list(family.parameters)[-1]
    logs = np.array([family.replace(**{name: value}).log_likelihood(X)[0] for value in grid])
    return np.exp(logs - logs.max())


def likelihood_curve(family: Any, X: Any, grid: Any, ax: Axes | None = None, *, prior: Any = None) -> Axes:
    """Draw the log-likelihood of one parameter, marking maximum likelihood and, with a prior, MAP and mean.

    Parameters
    ----------
    family : family of one column
        Its last parameter is varied.
    X : array-like (n,)
        The data.
    grid : array (m,)
        Values of the parameter.
    ax : matplotlib Axes, optional
        Where to draw.
    prior : distribution, optional
        Conjugate prior.

    Returns
    -------
    matplotlib Axes
    """
    from gnomon.distributions import estimate

    name = list(family.parameters)[-1]
    ax = style.axes(ax, x=name, y="log-likelihood")
    values = [family.replace(**{name: value}).log_likelihood(X)[0] for value in grid]
    ax.plot(grid, values, color=style.color(0))
    for index, method in enumerate(("ml",) if prior is None else ("ml", "map", "mean")):
        place = getattr(estimate(family, X, method, prior), name).item()
        ax.axvline(place, color=style.color(index + 1), linestyle="--", linewidth=1, label=method)
    ax.legend(frameon=False, fontsize="small")
    return ax


def dirichlet_draws(alphas: Any, ax: Axes | None = None, *, n_draws: int = 4, random_state: Any = 0) -> Axes:
    """Draw probability vectors from Dirichlet distributions as bars: large α are even, small ones sparse.

    Parameters
    ----------
    alphas : sequence of arrays (V,)
        Concentrations, one row of bars each.
    ax : matplotlib Axes, optional
        Where to draw.
    n_draws : int
        Draws of each.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from.

    Returns
    -------
    matplotlib Axes
    """
    from gnomon.distributions import Dirichlet

    ax = style.axes(ax, x="entry of the draw", y="α")
    for row, alpha in enumerate(alphas):
        draws = Dirichlet(alpha).sample(n_draws, random_state)
        width = draws.shape[1] + 1.5
        for i, p in enumerate(draws):
            ax.bar(np.arange(len(p)) + i * width, p, bottom=row * 1.1, color=style.color(i), width=0.9)
    names = [f"{np.mean(alpha):g}" for alpha in alphas]
    ax.set_yticks([1.1 * row for row in range(len(names))], names)
    ax.set_xticks([])
    return ax
