"""The loop: traces, convergence, starts, callbacks, copies."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from core.learners import CertifiedMean, MeanTarget, SlowMean
from gnomon.core.callbacks import TimeBudget, TraceLog
from gnomon.core.errors import DivergenceError
from gnomon.core.randomness import generator
from gnomon.core.steps import Report
from gnomon.decomposition import PCA


@parametrize_with_checks([SlowMean(), CertifiedMean(), MeanTarget()])
def test_contract(estimator, check):
    check(estimator)


def test_every_step_halves_the_distance():
    model = SlowMean(max_iter=4, tol=0).fit([[8.0], [8.0]])
    assert model.trace_.objective.tolist() == [64.0, 16.0, 4.0, 1.0]
    assert model.mean_ == [7.5]
    assert model.n_iter_ == 4


def test_stops_by_the_change_of_the_objective():
    model = SlowMean(tol=3.0).fit([[8.0]])  # objectives 64, 16, 4, 1: the first change of at most 3 is 4 -> 1
    assert model.n_iter_ == 4
    assert model.converged_


def test_stops_by_the_certificate():
    model = CertifiedMean(tol=1.0).fit([[8.0]])  # certificates 8, 4, 2, 1
    assert model.n_iter_ == 4
    assert model.trace_.certificate.tolist() == [8.0, 4.0, 2.0, 1.0]


def test_warning_names_change_tolerance_and_limit_at_the_users_line():
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=2 steps: the last change .* was 48.*tol=0.001"
    ) as caught:
        SlowMean(max_iter=2, tol=1e-3).fit([[8.0]])
    assert caught[0].filename == __file__


def test_no_tolerance_no_warning(recwarn):
    SlowMean(max_iter=2, tol=0).fit([[8.0]])
    assert not recwarn.list


def test_nonfinite_objective_names_the_iteration():
    class Blows(SlowMean):
        def _step(self, rows, state):
            state, objective = super()._step(rows, state)
            return state, objective if objective > 10 else np.inf

    with pytest.raises(DivergenceError, match="inf at iteration 3"):
        Blows().fit([[8.0]])


def test_iterate_yields_the_start_and_every_step():
    models = list(SlowMean(max_iter=3, tol=0).iterate([[8.0]]))
    assert [float(model.mean_[0]) for model in models] == [0.0, 4.0, 6.0, 7.0]
    assert [len(model.trace_) for model in models] == [0, 1, 2, 3]
    assert models[0].transform([[8.0]]) == [[8.0]]


def test_iterate_goes_several_steps_ahead_without_copies_between(monkeypatch):
    copied = []
    kept = SlowMean._copy
    monkeypatch.setattr(
        SlowMean, "_copy", lambda self, run, data: copied.append(run.n_iter) or kept(self, run, data)
    )
    walk = SlowMean(max_iter=7, tol=0).iterate([[8.0]])
    models = [next(walk), walk.send(2), next(walk), walk.send(9)]
    every = list(SlowMean(max_iter=7, tol=0).iterate([[8.0]]))
    assert copied == [0, 2, 3, 7, *range(8)]
    for model, other in zip(models, (every[k] for k in (0, 2, 3, 7)), strict=True):
        assert np.array_equal(model.mean_, other.mean_) and len(model.trace_) == len(other.trace_)
    with pytest.raises(StopIteration):
        walk.send(1)


def test_iterate_leaves_the_model_alone_and_ends_like_fit():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = SlowMean()
    last = list(model.iterate(X))[-1]
    assert not hasattr(model, "mean_")
    assert np.array_equal(last.mean_, model.fit(X).mean_)


def test_several_starts_keep_the_best():
    reached = []

    class Noted(SlowMean):
        def _step(self, rows, state):
            state, objective = super()._step(rows, state)
            reached.append(objective)
            return state, objective

    model = Noted(max_iter=1, tol=0, n_init=20, random_state=0).fit(np.full((4, 1), 3.0))
    assert len(set(reached)) == 20
    assert model.trace_[-1] == min(reached) != reached[-1]


def test_warm_start_goes_on_from_the_last_fit():
    model = SlowMean(max_iter=2, tol=0, warm_start=True).fit([[8.0]])
    assert model.fit([[8.0]]).mean_ == [7.5]


def test_refit_forgets_what_it_does_not_learn_again():
    pd = pytest.importorskip("pandas")
    model = SlowMean().fit(pd.DataFrame({"age": [1.0, 2.0]}))
    assert model.feature_names_in_.tolist() == ["age"]
    assert not hasattr(model.fit([[1.0]]), "feature_names_in_")


@pytest.mark.parametrize("stop_at", [1, 3])
def test_interrupted_fit_leaves_the_old_model(stop_at):
    class Interrupted(SlowMean):
        steps = 0

        def _step(self, rows, state):
            type(self).steps += 1
            if type(self).steps == stop_at:
                raise KeyboardInterrupt
            return super()._step(rows, state)

    model = Interrupted(max_iter=2, tol=0)
    if stop_at == 3:
        model.fit([[8.0]])
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit([[1.0, 2.0]])
    assert vars(model) == before


def test_bad_data_leaves_the_old_model():
    model = SlowMean().fit([[8.0]])
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[np.nan, 1.0]])
    assert vars(model) == before


class Stopper:
    """Asks to stop after `n` steps and remembers what it saw."""

    def __init__(self, n):
        self.n, self.seen = n, []

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "step":
            self.seen.append(fitted_estimator)
            return len(self.seen) >= self.n
        return False


def test_callback_sees_fitted_models_and_stops_early(recwarn):
    stopper = Stopper(2)
    model = SlowMean().set_callbacks(stopper).fit([[8.0]])
    assert [float(seen.mean_[0]) for seen in stopper.seen] == [4.0, 6.0]
    assert model.n_iter_ == 2
    assert not model.converged_
    assert not recwarn.list


def test_callback_stops_all_starts():
    stopper = Stopper(2)
    SlowMean(n_init=5, random_state=0).set_callbacks(stopper).fit([[8.0]])
    assert len(stopper.seen) == 2


def test_scikit_learns_callbacks_work(capsys):
    monitor = ScoringMonitor(scoring={"mean": lambda model, X, y: float(model.mean_[0])})
    SlowMean(max_iter=3, tol=0, n_init=1).set_callbacks(monitor, ProgressBar()).fit([[8.0]], [0.0])
    log = monitor.get_logs()
    assert [row["mean"] for row in log.data if row["task_name"] == "step"] == [4.0, 6.0, 7.0]
    assert "SlowMean" in capsys.readouterr().out


def closeness(model, X, y=None):
    return -np.abs(model.transform(X).mean(axis=0)).sum()


def test_grid_search_over_a_pipeline_with_a_progress_bar(capsys):
    X = np.random.default_rng(0).normal(size=(40, 2)) + 5
    pipeline = make_pipeline(StandardScaler(with_mean=False), SlowMean(tol=0))
    search = GridSearchCV(pipeline, {"slowmean__max_iter": [1, 30]}, scoring=closeness, cv=3)
    search.set_callbacks(ProgressBar()).fit(X)
    assert search.best_params_ == {"slowmean__max_iter": 30}
    assert "GridSearchCV" in capsys.readouterr().out


def test_time_budget_stops():
    assert SlowMean().set_callbacks(TimeBudget(1e-9)).fit([[8.0]]).n_iter_ == 1


def test_partial_fit_is_the_fit_of_all_rows():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(100, 1)), rng.normal(size=100), rng.random(100)
    model = MeanTarget()
    for rows in np.array_split(np.arange(100), 7):
        model.partial_fit(X[rows], y[rows], w[rows])
    np.testing.assert_allclose(model.mean_, MeanTarget().fit(X, y, w).mean_, rtol=1e-14)


def test_from_sums_needs_no_data():
    fitted = MeanTarget().fit([[0.0], [0.0]], [1.0, 3.0])
    again = MeanTarget.from_sums(fitted.sums_)
    assert again.predict([[5.0]]) == [2.0]


def test_n_jobs_changes_nothing():
    X = np.random.default_rng(0).normal(size=(50_000, 20))
    assert np.array_equal(SlowMean(n_jobs=1).fit(X).mean_, SlowMean(n_jobs=4).fit(X).mean_)


def test_clone_keeps_parameters_only():
    model = clone(SlowMean(max_iter=7, tol=0).fit([[8.0]]))
    assert model.max_iter == 7
    assert not hasattr(model, "mean_")


def test_trace_is_array_and_table():
    pytest.importorskip("pandas")
    trace = CertifiedMean(max_iter=3, tol=0).fit([[8.0]]).trace_
    assert np.asarray(trace).tolist() == list(trace) == [64.0, 16.0, 4.0]
    frame = trace.to_frame()
    assert frame.index.tolist() == [1, 2, 3]
    assert frame["certificate"].tolist() == [8.0, 4.0, 2.0]
    assert (np.diff(trace.seconds) >= 0).all()


def failing(cause):
    """What comes out of a compiled loop that returned with an exception set, and of what it called."""
    try:
        raise SystemError("returned a result with an exception set") from cause
    except SystemError as error:
        raise SystemError("returned a result with an exception set") from error


@pytest.mark.parametrize("cause, seen", [(KeyboardInterrupt(), KeyboardInterrupt), (None, SystemError)])
def test_ctrl_c_in_a_compiled_loop_stays_ctrl_c(cause, seen, monkeypatch):
    monkeypatch.setattr(SlowMean, "_step", lambda *_: failing(cause))
    with pytest.raises(seen):
        SlowMean().fit([[8.0]])


def test_seconds_count_from_the_begin_of_the_run(monkeypatch):
    ticks = iter(range(100))
    monkeypatch.setattr("gnomon.core.steps.time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))
    assert SlowMean(max_iter=3, tol=0).fit([[8.0]]).trace_.seconds.tolist() == [1.0, 2.0, 3.0]


class LeapingMean(SlowMean):
    """The same in stretches of up to three steps."""

    _stop = "self"
    stretches = 0

    def _step(self, rows, state):
        state, objective = super()._step(rows, state)
        return state, Report(objective, done=objective <= 1.0, info={"half": objective / 2})

    def _stretch(self, rows, state, most):
        type(self).stretches += 1
        reports = []
        while len(reports) < min(3, most) and not (reports and reports[-1].done):
            state, report = self._step(rows, state)
            reports.append(report)
        return state, reports


@pytest.mark.parametrize(
    ("max_iter", "stretches", "converged"), [(100, 2, True), (4, 2, True), (2, 1, False)]
)
def test_stretches_leave_the_trace_of_single_steps(max_iter, stretches, converged, tmp_path):
    LeapingMean.stretches = 0
    model = LeapingMean(max_iter=max_iter, tol=0).fit([[8.0]])
    assert LeapingMean.stretches == stretches
    LeapingMean.stretches = 0
    watched = LeapingMean(max_iter=max_iter, tol=0).set_callbacks(TraceLog(tmp_path / "log")).fit([[8.0]])
    told = [json.loads(line)["objective"] for line in (tmp_path / "log").read_text().splitlines()]
    assert LeapingMean.stretches == 0 and told == model.trace_.objective.tolist()
    assert (
        model.trace_.objective.tolist()
        == [64.0, 16.0, 4.0, 1.0][:max_iter]
        == watched.trace_.objective.tolist()
    )
    assert model.trace_["half"].tolist() == watched.trace_["half"].tolist()
    assert model.n_iter_ == watched.n_iter_ == min(4, max_iter)
    assert model.mean_ == watched.mean_ and model.converged_ == watched.converged_ == converged


def test_copies_of_a_learner_with_stretches_are_those_of_every_step():
    LeapingMean.stretches = 0
    copies = list(LeapingMean(tol=0).iterate([[8.0]]))
    assert [float(copy.mean_[0]) for copy in copies] == [0.0, 4.0, 6.0, 7.0, 7.5]
    assert LeapingMean.stretches == 0


def test_a_closed_form_goes_on_with_a_random_state_of_the_users_as_all_learners_do():
    given, twin = np.random.RandomState(0), np.random.RandomState(0)
    PCA(1, random_state=given).fit([[0.0, 1.0], [2.0, 0.0], [3.0, 4.0]])
    generator(twin)
    assert given.randint(2**30) == twin.randint(2**30)
    with pytest.raises(ValueError, match="random_state"):
        PCA(1, random_state=-1).fit([[0.0, 1.0], [2.0, 0.0]])


def test_a_fit_without_callbacks_opens_no_context(monkeypatch):
    monkeypatch.setattr(SlowMean, "_init_callback_context", None)
    assert SlowMean(max_iter=4, tol=0).fit([[8.0]]).n_iter_ == 4
    with pytest.raises(TypeError):
        SlowMean().set_callbacks(TimeBudget(1e9)).fit([[8.0]])
