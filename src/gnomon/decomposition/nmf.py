"""Non-negative matrix factorization: parts that only add."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import Tags

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row, total, total_weight
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads
from gnomon.decomposition import _nonnegative as nn
from gnomon.decomposition._nonnegative_optimality import kkt_residual
from gnomon.decomposition._nonnegative_queries import FactorQueries, exact
from gnomon.decomposition._nonnegative_rows import (
    NonNegativeWork,
    dense_rows,
    entry_sums,
    smallest_entry,
    squared_errors,
)
from gnomon.decomposition._nonnegative_starts import first_factors, given_factors
from gnomon.decomposition.multiplicative import normalize_topics

LONGEST = 50  # steps of a stretch


class NMFState(NamedTuple):
    """Usage, parts, and what the stopping rule remembers."""

    W: Array  # (n, K); empty where rows are not in memory
    H: Array  # (K, p)
    value: float
    first: float  # root of the objective (mu) or violation (cd) at the start
    checked: float  # that of the last look
    step: int
    kkt: float


class NMF(FactorQueries, Learner):
    r"""Non-negative matrix factorization X ≈ WH.

    .. math:: \min_{W, H \ge 0} \sum_{ij} d_\beta(x_{ij}, (WH)_{ij}) + \text{penalties}

    Rows are documents or images, H (K × p) their parts, W (n × K) how much of each part. As nothing can be
    subtracted, parts tend to be parts: strokes, noses, topics. ``beta_loss`` says what noise is meant: "frobenius"
    (½ squared error, Gaussian), "kullback-leibler" (Poisson counts; then NMF is a topic model), "itakura-saito"
    (relative errors, x > 0), or any β. The problem is not convex: starts matter, and `kkt_residual_` certifies no
    more than a stationary point.

    Missing entries (NaN) simply do not count, with either solver.

    Parameters
    ----------
    n_components : int, "auto" or None
        K; as many as columns when not given.
    init : {"nndsvda", "nndsvd", "nndsvdar", "random", "custom"}, optional
        Start. None takes "nndsvda" where K ≤ min(n, p), else "random"; "custom" takes W and H given to `fit`.
    solver : {"cd", "mu"}, default="cd"
        "cd": coordinate descent on rows of W and columns of H (hierarchical alternating least squares, several
        sweeps per product with X; Cichocki and Phan 2009, Gillis and Glineur 2012), squared loss only. "mu":
        multiplicative steps, every loss.
    beta_loss : str or float, default="frobenius"
    tol : float, default=1e-4
        "cd": stop when the sum of projected gradients is below this share of the first one. "mu": when ten steps
        lower the root of the objective by less than this share of the first one.
    max_iter : int, default=200
        Steps at most.
    random_state : int, RandomState, Generator or None
        For the start.
    alpha_W, alpha_H, l1_ratio : float
        Penalties, scaled by p and n as in scikit-learn; ``alpha_H="same"`` copies alpha_W.
    verbose : int
        Kept for scikit-learn.
    shuffle : bool
        Kept for scikit-learn; coordinates are taken in order.
    update_order : {"WH", "HW"}, default="WH"
        Which factor moves first in a step.
    normalize : {"topics"}, optional
        "topics": every part sums to one, so that with the Kullback–Leibler loss parts are distributions over words.
    n_init : int, default=1
        Starts, of which the best is kept; for random ones.

    Attributes
    ----------
    components_ : array of shape (K, p)
        H.
    reconstruction_err_ : float
        ‖X − WH‖ for the squared loss, √(2·loss) else, as in scikit-learn.
    kkt_residual_ : float
        max(|min(W, ∇W)|, |min(H, ∇H)|) relative to the gradient's parts; 0 at a stationary point.
    n_parameters_ : int
        (n + p)K.
    n_components_, n_iter_ : int
    trace_ : Trace
        The objective: after every step of "cd", before every step of "mu".

    Examples
    --------
    >>> model = NMF(1, solver="mu", beta_loss="kullback-leibler").fit([[1.0, 2.0], [3.0, 4.0]])
    >>> model.inverse_transform(model.transform([[1.0, 2.0], [3.0, 4.0]])).round(4)
    array([[1.2, 1.8],
           [2.8, 4.2]])
    """

    _stop: ClassVar[str] = "self"
    _reads = Reads(sparse=True, nan=True, scales=True, positive=True)
    _promises: ClassVar[Promises] = Promises(
        places="statistical: factors of rows in memory are kept from step to step, those of others found anew"
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT, StrOptions({"auto"}), None],
        "init": [StrOptions({"random", "nndsvd", "nndsvda", "nndsvdar", "custom"}), None],
        "solver": [StrOptions({"cd", "mu"})],
        "beta_loss": [StrOptions(set(nn.BETAS)), Real],
        "tol": [NOT_NEGATIVE],
        "max_iter": [COUNT],
        "random_state": ["random_state"],
        "alpha_W": [NOT_NEGATIVE],
        "alpha_H": [NOT_NEGATIVE, StrOptions({"same"})],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "verbose": ["verbose"],
        "shuffle": ["boolean"],
        "update_order": [StrOptions({"WH", "HW"})],
        "normalize": [StrOptions({"topics"}), None],
        "n_init": [COUNT],
    }

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        init: str | None = None,
        solver: str = "cd",
        beta_loss: Any = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        alpha_W: float = 0.0,
        alpha_H: Any = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
        update_order: str = "WH",
        normalize: str | None = None,
        n_init: int = 1,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle
        self.update_order = update_order
        self.normalize = normalize
        self.n_init = n_init

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, W: Any = None, H: Any = None) -> Self:
        """Learn the parts.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, Dask collection, Arrow dataset, or path of Parquet files
            Rows of numbers that are not negative; NaN marks missing entries.
        y : ignored
            Present for scikit-learn's conventions.
        sample_weight : array or column name, optional
            How many times each row counts.
        W, H : arrays of shapes (n, K), (K, p), optional
            Starts for ``init="custom"``.

        Returns
        -------
        self
            The fitted model.
        """
        return self._learn(self._data(X, sample_weight, W, H), X=X, sample_weight=sample_weight)

    def _data(self, X: Any, sample_weight: Any, W: Any = None, H: Any = None) -> Any:
        rows = self._read(X, sample_weight=sample_weight)
        rows.given = None if W is None and H is None else (W, H)  # before the fit: part of what its data are
        return rows

    def iterate(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, W: Any = None, H: Any = None
    ) -> Iterator[Self]:
        """Yield a fitted copy of the model at the start and after every step; arguments are those of `fit`."""
        yield from self._iterate(self._data(X, sample_weight, W, H))

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, W: Any = None, H: Any = None
    ) -> Array:
        """Fit, and return the usage W of every row, the parts held fixed."""
        return self.fit(X, sample_weight=sample_weight, W=W, H=H).transform(X)

    def _prepare(self, rows: Any) -> NonNegativeWork:
        if self.solver == "cd" and self._beta() != 2.0:
            raise DataError(
                f"Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = {self.beta_loss!r}; use "
                "solver='mu'."
            )
        if (
            rows.in_memory
            and rows.sparse
            and (np.isnan(rows.X.data).any() or nn.few(rows, self._n_parts(rows)))
        ):
            rows = dense_rows(rows)
        sums = total(entry_sums, rows)
        if not np.isfinite(sums.squares):
            raise DataError("X has entries so large that their squares overflow; scale its columns.")
        if (sums.counts <= 0).any():
            j = int(np.flatnonzero(sums.counts <= 0)[0])
            raise DataError(f"column {rows.names()[j]!r} of X has no observed entry; drop it.")
        holes = sums.holes > 0
        smallest = 1.0
        if self._beta() <= 0:
            smallest = float(np.min(per_row(smallest_entry, rows)))
            if smallest <= 0:
                raise DataError(
                    "When beta_loss <= 0 and X contains zeros, the loss is infinite: add a small value to X, or "
                    "use beta_loss > 0."
                )
        n = total_weight(rows)
        alpha_H = self.alpha_W if self.alpha_H == "same" else self.alpha_H
        l1, l2 = self.l1_ratio, 1.0 - self.l1_ratio
        p = rows.n_features
        penalty = nn.Penalty(self.alpha_W * l1 * p, self.alpha_W * l2 * p, alpha_H * l1 * n, alpha_H * l2 * n)
        means = sums.sums / sums.counts
        mean = float(sums.sums.sum() / sums.counts.sum())
        return NonNegativeWork(
            rows, float(sums.squares), mean, holes, means if holes else None, penalty, smallest
        )

    def _start(self, work: NonNegativeWork, rng: np.random.Generator) -> NMFState:
        rows = work.rows
        K = self._n_parts(rows)
        if self.init == "custom":
            K = 0 if self.n_components in ("auto", None) else K
            W, H = given_factors(rows, K, self.solver)
        else:
            W, H = first_factors(work, K, self.init, self.solver, rng)
        return NMFState(W, H, np.inf, np.inf, np.inf, 0, np.inf)

    def _n_parts(self, rows: Any) -> int:
        return rows.n_features if self.n_components in ("auto", None) else int(self.n_components)

    def _step(self, work: NonNegativeWork, state: NMFState) -> tuple[NMFState, Report]:
        if self.solver == "mu":
            return self._multiply(work, state)
        if self._is_small(work, state):
            state, reports = self._descend_few(work, state, 1)
            return state, reports[0]
        return self._descend(work, state)

    def _stretch(self, work: NonNegativeWork, state: NMFState, most: int) -> tuple[NMFState, Any]:
        if self._is_small(work, state):
            return self._descend_few(work, state, min(most, LONGEST))
        return self._step(work, state)

    def _is_small(self, work: NonNegativeWork, state: NMFState) -> bool:
        plain = self.solver == "cd" and self.update_order == "WH" and not work.holes
        return plain and not work.rows.sparse and nn.few(work.rows, len(state.H))

    def _descend_few(
        self, work: NonNegativeWork, state: NMFState, most: int
    ) -> tuple[NMFState, list[Report]]:
        """Steps on few rows, in one compiled loop."""
        W, H, violations, values = nn.descend_few(
            work.rows, work.squares, state.W, state.H, self._options(work), state.first, float(self.tol), most
        )
        first = violations[0] if state.step == 0 else state.first
        reports = [
            Report(value, done=gap <= self.tol * first, change=gap / max(first, nn.TINY))
            for value, gap in zip(values, violations, strict=True)
        ]
        return NMFState(W, H, values[-1], first, values[-1], state.step + len(values), np.inf), reports

    def _descend(self, work: NonNegativeWork, state: NMFState) -> tuple[NMFState, Report]:
        W, H, pen = state.W, state.H, work.penalty
        o = self._options(work)
        if self.update_order == "HW" and work.rows.in_memory:
            _, found = self._sweep(work, H, W, o._replace(sweeps=0))
            H, violation = nn.descend_H(found, H, pen, 4, 0.1)
            W, found = self._sweep(work, H, W, o)
            violation += found.violation
        else:
            W, found = self._sweep(work, H, W, o)
            H, violation = nn.descend_H(found, H, pen, 4, 0.1)
            violation += found.violation
        value = nn.squared_value(work.squares, found, H) + pen.value(found.W_sums, H)
        first = violation if state.step == 0 else state.first
        done = violation <= self.tol * first
        fresh = NMFState(W, H, value, first, value, state.step + 1, np.inf)
        return fresh, Report(value, done=bool(done), change=violation / max(first, nn.TINY))

    def _multiply(self, work: NonNegativeWork, state: NMFState) -> tuple[NMFState, Report]:
        W, H, pen, beta = state.W, state.H, work.penalty, self._beta()
        o = self._options(work)
        before = np.array([W.sum(), (W * W).sum()]) if work.rows.in_memory else np.zeros(2)
        if self.update_order == "HW" and work.rows.in_memory:
            _, found = self._sweep(work, H, W, o._replace(sweeps=0))
            value = found.value + pen.value(before, H)
            H = nn.multiply_H(found.first, found.second, H, beta, pen)
            W, _ = self._sweep(work, H, W, o)
        else:
            W, found = self._sweep(work, H, W, o)
            value = found.value + pen.value(before if work.rows.in_memory else found.W_sums, H)
            H = nn.multiply_H(found.first, found.second, H, beta, pen)
        error = float(np.sqrt(max(value, 0.0)))
        first = error if state.step == 0 else state.first
        done, checked = False, state.checked if state.step else error
        if state.step and state.step % 10 == 0:
            done = (state.checked - error) <= self.tol * first
            checked = error
        fresh = NMFState(W, H, value, first, checked, state.step + 1, np.inf)
        return fresh, Report(value, done=bool(done))

    def _finish(self, work: NonNegativeWork, state: NMFState) -> NMFState:
        W, H, o = state.W, state.H, self._options(work)
        if not work.rows.in_memory:
            return state
        if self.solver == "cd":
            W, found = self._sweep(work, H, W, exact(o))
            value = nn.squared_value(work.squares, found, H)
            if value < 1e-8 * work.squares or work.holes:
                value = self._direct(work, W, H)
        else:
            value = self._direct(work, W, H) if o.beta == 2.0 else self._value(work, W, H, o)
        return state._replace(W=W, value=value, kkt=kkt_residual(work.rows, W, H, o))

    def _value(self, work: NonNegativeWork, W: Array, H: Array, o: nn.Options) -> float:
        return float(self._sweep(work, H, W, o._replace(sweeps=0))[1].value)

    def _direct(self, work: NonNegativeWork, W: Array, H: Array) -> float:
        return float(total(squared_errors, work.rows, W, H))

    def _attributes(self, state: NMFState) -> dict[str, Any]:
        H = state.H
        if self.normalize == "topics":
            _, H = normalize_topics(np.ones((1, len(H))), H)
        return {
            "components_": H,
            "n_components_": len(H),
            "reconstruction_err_": float(np.sqrt(2.0 * max(state.value, 0.0))),
            "loss_": float(state.value),
            "kkt_residual_": float(state.kkt),
            "n_parameters_": int((len(state.W) + H.shape[1]) * len(H)),
        }

    # how

    def _options(self, work: NonNegativeWork) -> nn.Options:
        fresh = not work.rows.in_memory
        quick = (4, 0.1) if self.solver == "cd" else (1, 0.0)
        sweeps, ratio = (500, 1e-8) if fresh else quick
        return nn.Options(self._beta(), work.penalty, self.solver, work.holes, sweeps, ratio, fresh)

    def _sweep(self, work: NonNegativeWork, H: Array, W: Array, o: nn.Options) -> Any:
        rows = work.rows.in_chunks_of(2**23)
        keep = work.rows.in_memory
        table, found = nn.sweep(rows, H, W if keep else None, o, keep)
        return (table if keep else W), found
