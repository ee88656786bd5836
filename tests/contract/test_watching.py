"""Every fit can be watched, stopped, interrupted and resumed, and is never left half done."""

import io
import sys

import numpy as np
import pytest
from rich.console import Console
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.validation import check_is_fitted

from compare import assert_same_bits
from contract.discovery import LEARNERS, SUBJECTS
from contract.test_promises import learned
from gnomon.core.callbacks import Checkpoint, TimeBudget
from gnomon.core.threads import thread_count

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Watcher:
    """Counts the steps, keeps the fitted models, and may stop or break the fit after some step."""

    def __init__(self, stop_after=None, raise_after=None):
        self.stop_after, self.raise_after = stop_after, raise_after
        self.models, self.begun, self.ended = [], 0, 0

    def setup(self, estimator, context):
        self.begun += 1

    def teardown(self, estimator, context):
        self.ended += 1

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.max_subtasks != 0:
            return False
        self.models.append(fitted_estimator)
        if len(self.models) == self.raise_after:
            raise KeyboardInterrupt
        return len(self.models) == self.stop_after


def one_start(subject):
    """Arguments for a single start, where there are several."""
    return {"n_init": 1} if "n_init" in subject.make().get_params() else {}


def steps_of(model):
    """How many steps a fit made; some peers have told it as an array, by class or by fold."""
    counts = np.asarray(model.n_iter_)
    assert counts.dtype.kind == "i" and (counts >= 1).all()
    return len(model.trace_) if counts.ndim > 1 else int(counts.max())


def iterates(subject, data, model=None):
    model = subject.make(**one_start(subject)) if model is None else model
    given = {"y": data.y, "lengths": data.lengths}
    return model.iterate(data.X, **{name: value for name, value in given.items() if value is not None})


# The trace and iterate


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_trace_is_there(subject):
    model = subject.fit(subject.data())
    assert isinstance(model.n_iter_, (int, np.ndarray)) and steps_of(model) >= 1
    assert isinstance(model.converged_, bool)
    assert len(model.trace_.objective) == len(model.trace_.seconds) <= steps_of(model)
    assert (np.diff(model.trace_.seconds) >= 0).all()
    assert len(model.trace_.to_frame()) == len(model.trace_)


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_objective_goes_one_way(subject):
    objective = subject.fit(subject.data()).trace_.objective
    objective = objective[np.isfinite(objective)]
    change = np.diff(objective) * (-1 if subject.cls._sense == "max" else 1)
    if not getattr(subject.make(), "_monotone", True):  # random batches: down in the long run only
        change = change.sum(keepdims=True)
    assert (change <= 1e-9 * np.abs(objective).max(initial=1.0)).all()


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_iterate_yields_fitted_models_and_ends_like_fit(subject):
    data, count, model = subject.data(), 0, None
    for model in iterates(subject, data):
        check_is_fitted(model)
        assert all(np.all(np.asarray(said) == said) for said in subject.answers(model, data.X[:5]).values())
        count += 1
    fitted = subject.fit(data, **one_start(subject))
    assert_same_bits(learned(fitted), learned(model), repr(subject))
    assert count >= steps_of(fitted)


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_iterate_leaves_the_model_alone(subject):
    data = subject.data()
    model = subject.make(**one_start(subject))
    before = dict(vars(model))
    kept = [one for _, one in zip(range(3), iterates(subject, data, model))]
    assert vars(model) == before
    assert len({id(one) for one in kept}) == len(kept)


@pytest.mark.parametrize("subject", [s for s in LEARNERS if "n_jobs" in s.make().get_params()], ids=repr)
def test_a_loop_left_halfway_holds_no_count_of_threads(subject):
    before = thread_count()
    walk = iterates(subject, subject.data(), subject.make(**one_start(subject)).set_params(n_jobs=before + 1))
    for _ in zip(range(2), walk):
        assert thread_count() == before


# Callbacks


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_callback_sees_every_step_as_a_fitted_model(subject):
    data, watcher = subject.data(), Watcher()
    model = subject.fit(data, subject.make(**one_start(subject)).set_callbacks(watcher))
    assert len(watcher.models) == steps_of(model)
    assert watcher.begun == watcher.ended == 1
    for seen in watcher.models:
        subject.answers(seen, data.X[:5])
    quiet = subject.fit(data, **one_start(subject))
    assert_same_bits(learned(quiet), learned(model), repr(subject))


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_callback_stops_early(subject):
    data, watcher = subject.data(), Watcher(stop_after=1)
    model = subject.fit(data, subject.make(**one_start(subject)).set_callbacks(watcher))
    assert steps_of(model) == 1 and len(watcher.models) == 1
    subject.answers(model, data.X)


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_time_budget_stops_without_a_warning(subject):
    data = subject.data()
    model = subject.fit(data, subject.make().set_callbacks(TimeBudget(1e-9)))
    assert steps_of(model) == 1
    subject.answers(model, data.X)


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_progress_bar_runs_to_its_end(subject, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(
        "rich.progress.get_console", lambda: Console(file=shown, force_terminal=True, width=100)
    )
    subject.fit(subject.data(), subject.make().set_callbacks(ProgressBar()))
    assert subject.cls.__name__ in shown.getvalue()


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_scoring_monitor_scores_every_step(subject):
    data = subject.data()
    y = np.zeros(len(data.X)) if data.y is None else data.y  # the monitor asks for one
    monitor = ScoringMonitor(scoring={"mean": mean_answer(subject)})
    model = subject.make(**one_start(subject)).set_callbacks(monitor)
    model.fit(data.X, y)
    scores = monitor.get_logs().data
    assert len([entry for entry in scores if entry["task_name"] == "step"]) == steps_of(model)
    assert all(np.isfinite(entry["mean"]) for entry in scores if "mean" in entry)


def mean_answer(subject):
    """A scorer that any estimator can have."""

    def score(model, X, y=None):
        said = subject.answers(model, X) or subject.answers(model[-1], X)  # a pipeline hides what was learned
        said = next(iter(said.values()))
        return float(np.mean(said)) if np.asarray(said).dtype.kind in "fiub" else float(len(said))

    return score


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
@pytest.mark.filterwarnings("ignore::UserWarning:sklearn.*")
def test_grid_search_over_a_pipeline_with_a_progress_bar(subject, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(
        "rich.progress.get_console", lambda: Console(file=shown, force_terminal=True, width=100)
    )
    data, model = subject.data(), subject.make()
    plain = subject.recipe.data is None and not subject.tags.input_tags.positive_only
    pipeline = Pipeline([("scale", StandardScaler() if plain else FunctionTransformer()), ("model", model)])
    name, value = next(iter(model.get_params(deep=False).items()))
    search = GridSearchCV(pipeline, {f"model__{name}": [value, value]}, scoring=mean_answer(subject), cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(data.X, data.y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert subject.cls.__name__ in shown.getvalue()


# Interruptions


def interrupted(function, moment):
    """Call `function`, raising KeyboardInterrupt at the given call of gnomon's own Python code.

    Returns how many calls there were, or None when it was interrupted.
    """
    calls = 0

    def profile(frame, event, argument):
        nonlocal calls
        if event == "call" and frame.f_globals.get("__name__", "").startswith(("gnomon", "contract")):
            calls += 1
            if calls == moment:
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        function()
    except KeyboardInterrupt:
        return None
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_interrupt_at_any_moment_leaves_the_old_state_or_none(subject):
    old, new = subject.data(n=40, seed=3), subject.data()
    subject.fit(new)  # compiled
    calls = interrupted(lambda: subject.fit(new), 0)
    for moment in np.unique(np.linspace(1, calls, 12).astype(int)):
        fresh, fitted = subject.make(), subject.fit(old)
        before = dict(vars(fresh)), dict(vars(fitted))
        whole = [
            interrupted(lambda model=model: subject.fit(new, model), moment) for model in (fresh, fitted)
        ]
        for model, state, finished in zip((fresh, fitted), before, whole):
            if finished is None and difference_is_a_whole_fit(subject, model, new):
                continue  # interrupted after the last assignment
            if finished is None:
                assert_same_bits(state, vars(model), f"{subject} interrupted at call {moment} of {calls}")


def difference_is_a_whole_fit(subject, model, data):
    """Whether an interrupted model is as if its fit had come to the end."""
    return learned(model).keys() == learned(subject.fit(data)).keys() and all(
        np.array_equal(a, b)
        for a, b in zip(
            subject.answers(model, data.X).values(), subject.answers(subject.fit(data), data.X).values()
        )
    )


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_interrupt_in_a_step_leaves_the_old_state_or_none(subject, monkeypatch):
    old, new = subject.data(n=40, seed=3), subject.data()
    fresh, fitted = subject.make(), subject.fit(old)
    before = dict(vars(fresh)), dict(vars(fitted))
    for name in ("_step", "_stretch"):
        monkeypatch.setattr(subject.cls, name, breaking(getattr(subject.cls, name)))
    for model, state in zip((fresh, fitted), before):
        with pytest.raises(KeyboardInterrupt):
            subject.fit(new, model)
        assert_same_bits(state, vars(model), repr(subject))


def breaking(step):
    """A step that does its work and is then interrupted."""

    def broken(self, rows, state, *most):
        step(self, rows, state, *most)
        raise KeyboardInterrupt

    return broken


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_interrupt_in_a_callback_leaves_the_old_state_or_none(subject):
    model = subject.fit(subject.data(n=40, seed=3))
    before, watcher = learned(model), Watcher(raise_after=1)
    with pytest.raises(KeyboardInterrupt):
        subject.fit(subject.data(), model.set_callbacks(watcher))
    assert_same_bits(before, learned(model), repr(subject))
    assert watcher.ended == 1


# Checkpoints


@pytest.mark.parametrize("subject", [one for one in LEARNERS if one.promises("resumes")], ids=repr)
@pytest.mark.parametrize("steps", [1, 2])
def test_interrupted_fit_goes_on_from_its_checkpoint(subject, steps, tmp_path):
    data, path = subject.data(), tmp_path / "fit.checkpoint"
    undisturbed = subject.fit(data)
    model = subject.make().set_callbacks(Checkpoint(path, every_seconds=0), Watcher(raise_after=steps))
    try:
        subject.fit(data, model)
    except KeyboardInterrupt:
        assert path.exists()
    resumed = subject.fit(data, subject.make().set_callbacks(Checkpoint(path, every_seconds=0)))
    assert_same_bits(learned(undisturbed), learned(resumed), repr(subject))
    assert not path.exists()
