"""Experiments that try to break the theorems: boxes, ghost samples, and an adversary with coins."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.threads import in_order
from gnomon.theory.bounds import rectangle_bound, vc_bound


class RectangleGame(NamedTuple):
    """Errors of the tightest box in repeated samples, and the bound on how often they exceed epsilon."""

    failure: float
    bound: float
    errors: Array  # true error in each trial
    rectangle: tuple[Array, Array]  # the true corners
    learned: tuple[Array, Array]  # corners learned in the last trial; infinite without a positive row
    points: Array  # rows of the last trial

    def plot(self, ax: Any = None) -> Any:
        """Draw the rows and both boxes of the last trial."""
        from gnomon.plot import rectangles

        return rectangles(self, ax=ax)


def rectangle_game(
    m: int, epsilon: float, lower: Any, upper: Any, draw: Any, n_trials: int, n_test: int, random_state: Any
) -> RectangleGame:
    """Draw samples, guess the tightest box around the rows of a hidden one, and measure its error."""
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    if low.shape != high.shape or low.ndim != 1 or not (low <= high).all():
        raise DataError("lower and upper must be corners of one box, lower not above upper.")
    if m < 1 or n_trials < 1:
        raise DataError(f"m and n_trials must be at least 1; got {m} and {n_trials}.")
    seed = draw_seed(generator(random_state))
    test = None if draw is None else np.asarray(draw(stream(seed, 2**40), n_test), dtype=float)
    take = draw or (lambda rng, size: rng.random((size, len(low))))

    def trial(index: int) -> tuple[float, Array, Array, Array]:
        X = np.asarray(take(stream(seed, index), m), dtype=float)
        inside = X[((low <= X) & (high >= X)).all(axis=1)]
        a, b = (inside.min(axis=0), inside.max(axis=0)) if len(inside) else (np.full(len(low), np.inf),) * 2
        return _box_error(a, b, low, high, test), a, b, X

    played = list(in_order(trial, range(n_trials), "trials"))
    errors = np.array([one[0] for one in played])
    bound = rectangle_bound(n=m, epsilon=epsilon, dim=len(low)).value
    _, a, b, X = played[-1]
    return RectangleGame(float(np.mean(errors > epsilon)), bound, errors, (low, high), (a, b), X)


def _box_error(a: Array, b: Array, low: Array, high: Array, test: Array | None) -> float:
    if test is None:
        cut = [np.clip(corner, 0.0, 1.0) for corner in (low, high)]
        inner = float(np.prod(np.maximum(b - a, 0.0))) if np.isfinite(a).all() else 0.0
        return float(np.prod(cut[1] - cut[0])) - inner
    true = ((low <= test) & (test <= high)).all(axis=1)
    return float(np.mean(true & ~((a <= test) & (test <= b)).all(axis=1)))


def partition_probability(m: int, errors: int) -> float:
    """Return the chance that all of some errors among 2m rows fall into one given half: C(m, l) / C(2m, l)."""
    return float(Fraction(comb(m, errors), comb(2 * m, errors)))


class GhostSample(NamedTuple):
    """Frequencies of the events of the double-sampling proof."""

    bad: float  # A: some rule without error on the first sample has true error of at least epsilon
    caught: float  # B: and it errs on at least half of epsilon m of the second sample
    caught_given_bad: float  # at least one half once m ≥ (8/ε) ln 2; NaN when A never happened
    swapped: float  # B after the 2m rows were parted anew at random: the same probability
    bound: float  # 2 Π(2m) 2^(−εm/2) with Sauer's bound
    partition: (
        float  # chance that ⌈εm/2⌉ errors among the 2m rows all fall into the second half: at most 2^(−εm/2)
    )


def ghost_sample(
    concepts: Any, concept: Any, domain: Any, m: int, epsilon: float, n_trials: int, random_state: Any
) -> GhostSample:
    """Draw two samples again and again, and count the events of the proof."""
    if epsilon <= 0 or m < 1:
        raise DataError(f"epsilon must be positive and m at least 1; got {epsilon} and {m}.")
    labels = concepts.predict(concept, domain)
    regions = concepts.error_regions(domain, labels).table.astype(bool)
    heavy = regions[regions.mean(axis=1) >= epsilon - 1e-12]
    seed = draw_seed(generator(random_state))

    def events(rows: Array) -> tuple[bool, bool]:
        clean = ~heavy[:, rows[:m]].any(axis=1)
        seen = heavy[:, rows[m:]].sum(axis=1) >= epsilon * m / 2 - 1e-12
        return bool(clean.any()), bool((clean & seen).any())

    def trial(index: int) -> tuple[bool, bool, bool]:
        rng = stream(seed, index)
        rows = rng.integers(0, regions.shape[1], 2 * m)
        return *events(rows), events(rng.permutation(rows))[1]

    A, B, swapped = np.array(list(in_order(trial, range(n_trials), "trials"))).T
    given = float(B[A].mean()) if A.any() else float("nan")
    bound = vc_bound(
        n=m, epsilon=epsilon, d=concepts.vc_dimension, kind="double sampling", growth="phi"
    ).value
    partition = partition_probability(m, min(m, int(np.ceil(epsilon * m / 2 - 1e-12))))
    return GhostSample(float(A.mean()), float(B.mean()), given, float(swapped.mean()), bound, partition)


class Adversary(NamedTuple):
    """Error of a learner on 2m shattered points with coin labels, of which it saw m draws."""

    error: float
    standard_error: float
    expected: float  # of every learner: ½ (1 − 1/2m)^m


def shattered_adversary(m: int, learner: Any, n_trials: int, random_state: Any) -> Adversary:
    """Let a learner see m of 2m points whose labels are coins, again and again."""
    if m < 1 or n_trials < 2:
        raise DataError(f"m must be at least 1 and n_trials at least 2; got {m} and {n_trials}.")
    seed, points = draw_seed(generator(random_state)), np.arange(2 * m)

    def trial(index: int) -> float:
        rng = stream(seed, index)
        labels, seen = rng.integers(0, 2, 2 * m), rng.integers(0, 2 * m, m)
        if learner is None:
            said = np.zeros(2 * m, dtype=int)
            said[seen] = labels[seen]
        elif len(set(labels[seen].tolist())) < 2:
            said = np.full(2 * m, labels[seen[0]])
        else:
            said = (
                clone(learner)
                .fit(seen[:, None].astype(float), labels[seen])
                .predict(points[:, None].astype(float))
            )
            if (said[seen] != labels[seen]).any():
                raise DataError(
                    "the learner errs on rows it has seen; the statement is about consistent learners."
                )
        return float(np.mean(said != labels))

    errors = np.array(list(in_order(trial, range(n_trials), "trials")))
    return Adversary(
        float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(n_trials)), 0.5 * (1 - 1 / (2 * m)) ** m
    )
