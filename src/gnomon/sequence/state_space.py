"""The linear Gaussian state-space model: Kalman filter, predictor, smoother, EM."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from gnomon.core.dask_rows import is_dask
from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.rows import Rows
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import total
from gnomon.core.tables import is_table
from gnomon.core.trace import Trace
from gnomon.core.validate import Reads, matrix
from gnomon.sequence.linear_gaussian import (
    LinearGaussian,
    chunk_sums,
    maximize,
)
from gnomon.sequence.model_arrays import check_semidefinite, stack
from gnomon.sequence.state_space_queries import StateSpaceQueries

LEARNED = (
    "transition_covariance",
    "observation_covariance",
    "initial_state_mean",
    "initial_state_covariance",
)
ARRAYS = {
    "transition_matrices": "C",
    "observation_matrices": "D",
    "transition_covariance": "Q",
    "observation_covariance": "V",
    "initial_state_mean": "m0",
    "initial_state_covariance": "P0",
}
EXTRAS = ("transition_offsets", "observation_offsets", "control_matrices", "times")


class KalmanFilter(StateSpaceQueries, Learner):
    r"""Linear Gaussian state-space model.

    .. math:: s_t = C s_{t-1} + G u_t + c + \varepsilon_t,\ \varepsilon_t \sim N(0, Q); \qquad
              x_t = D s_t + e + \nu_t,\ \nu_t \sim N(0, V)

    For tracking, smoothing and forecasting of measurements of a state that moves linearly. NaN components
    are left out of the update of their step, exactly. Where the dynamics are not linear use the extended or
    unscented filter, where they are far from Gaussian the particle filter. Parameter names are pykalman's.

    Parameters
    ----------
    transition_matrices, observation_matrices : array
        C (d, d) and D (p, d), or with a leading time axis; identities by default.
    transition_covariance, observation_covariance : array
        Q and V, or with a leading time axis; identities by default.
    transition_offsets, observation_offsets : array
        c and e, or one a row.
    initial_state_mean, initial_state_covariance : array
        N(0, I) by default.
    random_state : int, Generator or None
        For `sample`.
    em_vars : sequence of str, optional
        What `fit` learns; by default both covariances and the initial moments.
    n_dim_state, n_dim_obs : int, optional
        Dimensions, where no array tells them.
    control_matrices : array, optional
        G (d, k), for controls U given with the data.
    initial_at : {"first", "before"}
        Whether the initial moments describe the state at the first row, or one step before.
    times : (T,) array, optional
        When the rows were measured; the transition covariance then grows with the gaps.
    form : {"joseph", "information", "square_root"}
        Update of the covariance; the results are the same.
    covariance_type : {"full", "diag", "isotropic"}
        Structure of learned covariances.
    max_iter, tol : int, float
        EM steps at most; stop when the log-likelihood changes by less than `tol` of itself.

    Attributes
    ----------
    transition_matrices_, observation_matrices_, transition_covariance_, observation_covariance_
    initial_state_mean_, initial_state_covariance_
    trace_, n_iter_, converged_

    Examples
    --------
    >>> model = KalmanFilter(
    ...     1, 1, 0.5, 1, initial_state_mean=0, initial_state_covariance=1, initial_at="before"
    ... )
    >>> found = model.filter([[1.0], [2.0], [1.5]])
    >>> found.means.ravel().round(4), round(found.loglik, 4)
    (array([0.6   , 1.3333, 1.4176]), -4.6119)
    """

    _reads: ClassVar[Reads] = Reads(nan=True, scales=True, min_rows=2)
    _sense: ClassVar[str] = "max"
    _stop: ClassVar[str] = "relative"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: [None, Real, "array-like"] for name in (*ARRAYS, *EXTRAS)},
        "random_state": ["random_state", np.random.Generator],
        "em_vars": [None, "array-like"],
        "n_dim_state": [None, Interval(Integral, 1, None, closed="left")],
        "n_dim_obs": [None, Interval(Integral, 1, None, closed="left")],
        "initial_at": [StrOptions({"first", "before"})],
        "form": [StrOptions({"joseph", "information", "square_root"})],
        "covariance_type": [StrOptions({"full", "diag", "isotropic"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        transition_matrices: Any = None,
        observation_matrices: Any = None,
        transition_covariance: Any = None,
        observation_covariance: Any = None,
        transition_offsets: Any = None,
        observation_offsets: Any = None,
        initial_state_mean: Any = None,
        initial_state_covariance: Any = None,
        random_state: Any = None,
        em_vars: Any = None,
        n_dim_state: int | None = None,
        n_dim_obs: int | None = None,
        *,
        control_matrices: Any = None,
        initial_at: str = "first",
        times: Any = None,
        form: str = "joseph",
        covariance_type: str = "full",
        max_iter: int = 100,
        tol: float = 1e-6,
    ) -> None:
        self.transition_matrices = transition_matrices
        self.observation_matrices = observation_matrices
        self.transition_covariance = transition_covariance
        self.observation_covariance = observation_covariance
        self.transition_offsets = transition_offsets
        self.observation_offsets = observation_offsets
        self.initial_state_mean = initial_state_mean
        self.initial_state_covariance = initial_state_covariance
        self.random_state = random_state
        self.em_vars = em_vars
        self.n_dim_state = n_dim_state
        self.n_dim_obs = n_dim_obs
        self.control_matrices = control_matrices
        self.initial_at = initial_at
        self.times = times
        self.form = form
        self.covariance_type = covariance_type
        self.max_iter = max_iter
        self.tol = tol

    @classmethod
    def from_factor_analysis(cls, fa: Any) -> Self:
        """Return the model whose states do not move on: factor analysis, D = ``fa.components_.T``."""
        loadings = np.asarray(fa.components_).T
        p, d = loadings.shape
        noise = np.asarray(fa.noise_variance_)
        V = np.diag(np.broadcast_to(noise, p)) if noise.ndim < 2 else noise
        return cls(
            np.zeros((d, d)), loadings, np.eye(d), V, observation_offsets=getattr(fa, "mean_", np.zeros(p))
        )

    # the model behind the parameters

    def _value(self, name: str) -> Any:
        learned = getattr(self, name + "_", None)
        return getattr(self, name) if learned is None else learned

    def _dimensions(self, p: int | None) -> tuple[int, int]:
        """Return the dimensions of state and observation, from whatever array has them."""
        sizes = {"transition_matrices": -1, "transition_covariance": -1, "initial_state_mean": -1,
                 "initial_state_covariance": -1, "observation_matrices": -1}  # fmt: skip
        states = [
            np.shape(np.atleast_1d(self._value(n)))[axis]
            for n, axis in sizes.items()
            if self._value(n) is not None
        ]
        d = self.n_dim_state or (states[0] if states else p or self.n_dim_obs or 1)
        if p is None:
            D, V = self._value("observation_matrices"), self._value("observation_covariance")
            p = self.n_dim_obs or (
                np.atleast_2d(D).shape[-2]
                if D is not None
                else np.atleast_2d(V).shape[-1]
                if V is not None
                else d
            )
        return int(d), int(p)

    def _model(self, p: int | None, T: int | None = None, U: Any = None) -> LinearGaussian:
        """Return the arrays of the model, checked and aligned with T rows."""
        d, p = self._dimensions(p)
        early = self.initial_at == "first"
        C = stack(self._value("transition_matrices"), np.eye(d), "transition_matrices", T, early)
        Q = stack(self._value("transition_covariance"), np.eye(d), "transition_covariance", T, early)
        D = stack(self._value("observation_matrices"), np.eye(p, d), "observation_matrices", T, False)
        V = stack(self._value("observation_covariance"), np.eye(p), "observation_covariance", T, False)
        c = stack(self.transition_offsets, np.zeros(d), "transition_offsets", T, early)
        e = stack(self.observation_offsets, np.zeros(p), "observation_offsets", T, False)
        m0 = stack(self._value("initial_state_mean"), np.zeros(d), "initial_state_mean", None, False)[0]
        P0 = stack(
            self._value("initial_state_covariance"), np.eye(d), "initial_state_covariance", None, False
        )[0]
        if U is not None:
            c = c + self._controls(U, T, d)
        gaps = self._gaps(T)
        Q = Q if gaps is None else gaps[:, None, None] * Q
        for name, M in (
            ("transition_covariance", Q),
            ("observation_covariance", V),
            ("initial_state_covariance", P0[None]),
        ):
            check_semidefinite(M, name)
        return LinearGaussian(C, c, Q, D, e, V, m0, P0, not early, gaps)

    def _controls(self, U: Any, T: int | None, d: int) -> Array:
        U = matrix(U, name="U")
        if self.control_matrices is None:
            raise DataError("controls U need control_matrices.")
        G = np.asarray(self.control_matrices, dtype=np.float64).reshape(d, -1)
        if U.shape != (T, G.shape[1]):
            raise DataError(
                f"U must have shape {(T, G.shape[1])}, one row of controls for every row of X; got {U.shape}."
            )
        return np.asarray(U @ G.T, dtype=np.float64)

    def _gaps(self, T: int | None) -> Array | None:
        if self.times is None or T is None:
            return None
        times = np.asarray(self.times, dtype=np.float64)
        if times.shape != (T,):
            raise DataError(f"times must hold one number for each of the {T} rows; got shape {times.shape}.")
        gaps = np.diff(times, prepend=0.0 if self.initial_at == "before" else times[0] - 1.0)
        if (gaps <= 0).any():
            raise DataError(
                "times must increase (and lie after 0 where the prior lies before the first row)."
            )
        return gaps

    def _one(self, X: Any, U: Any = None) -> tuple[LinearGaussian, Array]:
        X = np.asarray(matrix(np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X, nan=True), dtype=np.float64)
        model = self._model(X.shape[1], len(X), U)
        if model.D.shape[1] != X.shape[1]:
            raise DataError(f"X has {X.shape[1]} columns, but the model observes {model.D.shape[1]}.")
        return model, np.ascontiguousarray(X)

    # learning

    def fit(self, X: Any, y: Any = None, lengths: Any = None) -> Self:
        """Learn the arrays named in `em_vars` by EM.

        Parameters
        ----------
        X : (n, p) array, DataFrame, Parquet file or Dask collection
            Observations of all sequences, one below the other; NaN marks what was not observed.
        y : ignored
        lengths : sequence of int, or column name, optional
            Length of every sequence.
        """
        return self._learn(self._read_sequences(X, lengths), X=X, y=y)

    def em(self, X: Any, n_iter: int = 10) -> Self:
        """Make `n_iter` steps of EM on one sequence, from where the model stands."""
        rows = self._read_sequences(X, None)
        state = self._first_model(rows)
        objectives = []
        for _ in range(n_iter):
            state, report = self._step(rows, state)
            objectives.append(report.objective)

        trace = Trace(objectives, np.zeros(len(objectives)))
        self._adopt(
            {**self._attributes(state), "trace_": trace, "n_iter_": n_iter, "converged_": False}, rows
        )
        return self

    def iterate(self, X: Any, y: Any = None, lengths: Any = None) -> Iterator[Self]:
        """Yield a fitted copy of the model at the start and after every step."""
        yield from self._iterate(self._read_sequences(X, lengths))

    def _read_sequences(self, X: Any, lengths: Any) -> Rows:
        if lengths is None and not (is_table(X) or is_dask(X)) and hasattr(X, "__len__"):
            lengths = [len(X)] if len(X) else None
        rows = self._read(X, lengths=lengths)
        unknown = set(self._names()) - set(ARRAYS)
        if unknown:
            name = sorted(unknown)[0]
            raise DataError(
                f"em_vars must be among {sorted(ARRAYS)}; got {name!r}.{nearest(name, list(ARRAYS))}"
            )
        return rows

    def _names(self) -> tuple[str, ...]:
        return LEARNED if self.em_vars is None else tuple(self.em_vars)

    def _start(self, rows: Rows, rng: Any) -> LinearGaussian:
        return clone(self)._first_model(rows)

    def _first_model(self, rows: Rows) -> LinearGaussian:
        model = self._model(rows.n_features, rows.n_rows if self.times is not None else None)
        for name in self._names():
            varies = np.ndim(getattr(model, ARRAYS[name])) == 3 and len(getattr(model, ARRAYS[name])) > 1
            if varies and not (model.gaps is not None and name == "transition_covariance"):
                raise DataError(f"{name} changes with time, so EM cannot learn it; leave it out of em_vars.")
        return model

    def _step(self, rows: Rows, state: LinearGaussian) -> tuple[LinearGaussian, Report]:
        sums = total(chunk_sums, rows, state)
        new = maximize(state, sums, set(self._names()), self.covariance_type)
        return new, Report(float(sums.loglik))

    def _attributes(self, state: LinearGaussian) -> dict[str, Any]:
        found = {}
        for name, letter in ARRAYS.items():
            value = getattr(state, letter)
            if letter == "Q" and state.gaps is not None:
                value = value[-1:] / state.gaps[-1]
            found[name + "_"] = value[0] if value.ndim == 3 and len(value) == 1 else value
        return found
