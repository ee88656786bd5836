"""Beliefs about the parameters of Gaussian mixtures: what they expect, and how far they are from their prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln, multigammaln

from gnomon.core.linalg import Array
from gnomon.distributions.normal import Gaussian


class Belief(NamedTuple):
    """Normal–Wishart and Dirichlet parameters: of the prior (one component) or of the posterior."""

    concentration: Array  # (K,), or (2, K) for the sticks of a Dirichlet process
    location: Array  # (K, d)
    kappa: Array  # (K,)
    dof: Array  # (K,)
    covariances: Array  # scale matrices over dof, in the shape of the covariance type


def stick_means(sticks: Array) -> Array:
    """Expected weights of a stick-breaking process, made to sum to one."""
    share = sticks[0] / sticks.sum(axis=0)
    weights = share * np.append(1.0, np.cumprod(1.0 - share[:-1]))
    return weights / weights.sum()


def expected_log_weights(concentration: Array) -> Array:
    """E[ln π_k]."""
    if concentration.ndim == 1:
        return digamma(concentration) - digamma(concentration.sum())
    a, b = concentration
    left = digamma(b) - digamma(a + b)
    return digamma(a) - digamma(a + b) + np.append(0.0, np.cumsum(left)[:-1])


def weight_divergence(q: Array, p: Array) -> float:
    """KL of the belief about the weights to its prior."""
    if q.ndim == 1:
        logs = digamma(q) - digamma(q.sum())
        constant = gammaln(q.sum()) - gammaln(q).sum() - gammaln(p.sum()) + gammaln(p).sum()
        return float(constant + (q - p) @ logs)
    (a, b), (c, d) = q, p
    whole = digamma(a + b)
    terms = betaln(c, d) - betaln(a, b) + (a - c) * (digamma(a) - whole) + (b - d) * (digamma(b) - whole)
    return float(terms.sum())


def log_precision_offset(belief: Belief, d: int) -> Array:
    """What E[ln N(x)] adds to the log-density at the expected precision."""
    log_lambda = d * np.log(2.0) + digamma(0.5 * (belief.dof - np.arange(d)[:, None])).sum(axis=0)
    return 0.5 * (log_lambda - d * np.log(belief.dof) - d / belief.kappa)


def normal_divergence(family: Gaussian, belief: Belief, prior: Belief, scale: Array) -> float:
    """Σ_k KL of the normal–Wishart beliefs to their prior; scale is the prior's S₀ as a matrix."""
    d, v, v0 = family.n_features, belief.dof, prior.dof[0]
    P = family.precisions()
    P = P[:, :, None] * np.eye(d) if P.ndim == 2 else P
    gap = belief.location - prior.location
    ratio = prior.kappa[0] / belief.kappa
    square = np.einsum("ka,kab,kb->k", gap, P, gap)
    normal = 0.5 * (d * ratio - d - d * np.log(ratio) + prior.kappa[0] * square)
    log_scale = np.linalg.slogdet(scale)[1]
    log_ratio = log_scale - d * np.log(v) - family.log_determinants  # ln|S₀ W|
    traces = np.einsum("ab,kba->k", scale, P)
    psi = digamma(0.5 * (v - np.arange(d)[:, None])).sum(axis=0)
    gammas = multigammaln(v0 / 2.0, d) - np.array([multigammaln(value / 2.0, d) for value in v])
    wishart = 0.5 * (traces - v * d - v0 * log_ratio + (v - v0) * psi) + gammas
    return float((normal + wishart).sum())
