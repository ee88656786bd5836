"""What a fit makes for itself ends with it: nothing is left on the model, on its data or in a checkpoint."""

from functools import cached_property

import numpy as np
import pytest
from scipy import sparse

from contract.discovery import LEARNERS
from contract.test_watching import one_start
from gnomon.core.callbacks import Checkpoint
from gnomon.core.estimator import is_learned
from gnomon.core.steps import Learner

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

REMEMBERED = {"known_weight", "_check"}  # what rows found out about themselves, true of them in every fit
NOTED = ("_sk", "_metadata_request", "_callback")  # by scikit-learn


def private(model):
    """Attributes of a model that are neither parameters nor learned nor scikit-learn's."""
    parameters = model.get_params(deep=False)
    return {n for n in vars(model) if not (n in parameters or is_learned(n) or n.startswith(NOTED))}


def changed(thing, before):
    """Names of attributes that are new or others, less what is a cached fact about the thing itself."""
    after = getattr(thing, "__dict__", {})
    found = {name for name in after if name not in before or after[name] is not before[name]}
    return {name for name in found if not isinstance(getattr(type(thing), name, None), cached_property)}


@pytest.mark.parametrize("subject", LEARNERS, ids=repr)
def test_a_fit_leaves_nothing_on_the_model_or_on_its_data(subject, monkeypatch):
    best_run, steps = Learner._best_run, Learner._steps

    def watched_run(model, data, given):
        known, found = dict(vars(model)), dict(getattr(data, "__dict__", {}))
        run = best_run(model, data, given)
        assert not changed(model, known), f"{subject} keeps what it works with on itself"
        assert changed(data, found) <= REMEMBERED, f"{subject} hangs things on its data"
        return run

    def watched_steps(model, *others):
        for moment in steps(model, *others):
            assert not private(model), f"{subject} keeps what it works with on itself"
            yield moment

    monkeypatch.setattr(Learner, "_best_run", watched_run)
    monkeypatch.setattr(Learner, "_steps", watched_steps)
    assert not private(subject.fit(subject.data()))


class Position(Checkpoint):
    """Keeps the last position that a checkpoint would have written."""

    def __init__(self):
        self.last = None

    def setup(self, estimator, context):
        pass

    def restore(self, estimator, data):
        return None

    def offer(self, position):
        self.last = position()

    def clear(self):
        pass


def arrays(value):
    """Every array inside a tree of tuples, lists, dicts and objects."""
    if isinstance(value, np.ndarray):
        yield value
        values = value.ravel().tolist() if value.dtype == object else ()
    elif sparse.issparse(value):
        values = (value.data,)
    elif isinstance(value, dict):
        values = value.values()
    elif isinstance(value, tuple | list):
        values = value
    else:
        values = getattr(value, "__dict__", {}).values()
    for one in values:
        yield from arrays(one)


@pytest.mark.parametrize("subject", [one for one in LEARNERS if one.takes_matrix], ids=repr)
def test_no_checkpoint_holds_the_data(subject):
    data, position = subject.data(n=100, d=5), Position()
    asked = subject.make().get_params().get("n_components", 2)  # as many factors as columns are as large as X
    few = {"n_components": 2} if asked is None or isinstance(asked, str) else {}
    model = subject.fit(data, subject.make(**one_start(subject), **few).set_callbacks(position))
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X)
    shown = {
        array.shape for name, value in vars(model).items() if is_learned(name) for array in arrays(value)
    }
    for array in arrays(position.last.state):
        by_rows = max(array.shape, default=0) >= len(X) and array.size >= X.size > 0
        is_table = by_rows and array.shape not in shown
        assert not is_table, f"an array {array.shape} of a checkpoint is no smaller than X, and no attribute"
