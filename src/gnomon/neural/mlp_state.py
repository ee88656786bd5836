"""What the training of dense layers is about: rules for its parameters, its data, and where it stands."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.devices import DEVICES
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, Options, StrOptions
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.neural import starts
from gnomon.neural.dense_plan import Stack
from gnomon.neural.functions import CODES
from gnomon.solvers.schedules import Schedule

RATES = ("constant", "invscaling", "adaptive", "inverse", "plateau")
RULES: dict[str, Any] = {  # for the parameters that classifier and regressor share
    "hidden_layer_sizes": ["array-like", Interval(Integral, 1, None, closed="left")],
    "activation": [StrOptions(set(CODES)), "array-like"],
    "solver": [StrOptions({"lbfgs", "sgd", "adam", "adagrad"})],
    "alpha": [NOT_NEGATIVE],
    "batch_size": [StrOptions({"auto"}), COUNT],
    "learning_rate": [StrOptions(set(RATES)), Schedule],
    "learning_rate_init": [POSITIVE],
    "power_t": [NOT_NEGATIVE],
    "max_iter": [COUNT],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "tol": [NOT_NEGATIVE],
    "verbose": ["verbose"],
    "warm_start": ["boolean"],
    "momentum": [Interval(Real, 0, 1, closed="both")],
    "nesterovs_momentum": ["boolean"],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="left")],
    "beta_1": [Interval(Real, 0, 1, closed="left")],
    "beta_2": [Interval(Real, 0, 1, closed="left")],
    "epsilon": [POSITIVE],
    "n_iter_no_change": [COUNT, Options(Real, {np.inf})],
    "max_fun": [COUNT],
    "init": [StrOptions(set(starts.INITS)), list, tuple],
    "init_scale": [POSITIVE],
    "pieces": [Interval(Integral, 2, None, closed="left")],
    "dropout": [Interval(Real, 0, 1, closed="left"), "array-like"],
    "dropout_scaling": [StrOptions({"train", "test"})],
    "weight_decay": [None, NOT_NEGATIVE],
    "adagrad_scope": [StrOptions({"parameter", "node"})],
    "clip_norm": [None, POSITIVE],
    "plateau_patience": [COUNT],
    "engine": [StrOptions({"auto", "direct", "torch"})],
    "device": [StrOptions(set(DEVICES))],
}


class MLPWork(NamedTuple):
    """The rows of a fit as the engines want them."""

    X: Any  # dense or CSR
    T: Array  # targets: numbers, ±1, 0/1, or class codes in one column
    weight: Array
    stack: Stack
    labels: Any  # what `score` compares with, for early stopping
    classes: Any = None  # behind the codes of the labels
    table: Any = None  # rows on disk, and how a part of them is read

    def parts(self) -> Any:
        """Yield rows, targets and weights: all at once, or those of a table part by part."""
        if self.table is None:
            yield self.X, self.T, self.weight
            return
        rows, read_part = self.table
        for chunk in rows.chunks():
            yield read_part(chunk)


class MLPState(NamedTuple):
    """Where training stands."""

    stack: Stack
    params: Array
    first: Array
    second: Array
    step: int  # updates made
    t: int  # rows seen
    draws: Any  # RandomState of the shuffles
    order: Array | None  # of the rows, shuffled again and again
    held: Array | None  # rows kept for validation
    rate: float  # where the rule divides it
    best: Array | None  # weights of the best validation score
    best_score: float
    stale: int  # epochs without progress
    losses: Array
    scores: Array
    rates: Array
    norms: Array  # (epochs, layers)
    calls: int = 0  # of the objective, for L-BFGS
    pairs: Any = ()  # what L-BFGS remembers
    value: float = math.nan
    gradient: Array | None = None


class Optimizer(NamedTuple):
    """What an update rule remembers, so that `partial_fit` goes on where it was."""

    first: Array
    second: Array
    step: int
    t: int
    draws: Any
    rate: float


def blank(stack: Stack, params: Array, draws: Any, rate: float) -> MLPState:
    """Return a state that has seen nothing."""
    nothing, empty = np.zeros_like(params), np.empty(0)
    return MLPState(
        stack, params, nothing, nothing, 0, 0, draws, None, None, rate, None, -math.inf, 0, empty, empty, empty,
        np.empty((0, len(stack.shapes()))),
    )  # fmt: skip
