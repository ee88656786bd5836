"""The contract can fail: learners with one fault each, and the test that catches it."""

import numpy as np
import pytest

from contract import test_awkward, test_promises, test_watching
from contract.discovery import Subject
from contract.inputs import INPUTS, TARGETS
from contract.learners import Center, SlowMean
from gnomon.core.threads import thread_count


class IgnoresWeights(SlowMean):
    def _step(self, rows, state):
        rows._weight = None
        return super()._step(rows, state)


class LooksAtTheFirstRow(SlowMean):
    def _attributes(self, state):
        return {"center_": state.center + self.first}

    def _start(self, rows, rng):
        self.first = rows.y[0]
        return super()._start(rows, rng)


class CountsThreads(SlowMean):
    def _attributes(self, state):
        return {"center_": state.center + thread_count()}


class Wanders(SlowMean):
    def _start(self, rows, rng):
        return Center(np.random.default_rng().normal())

    def _limit(self):
        return 3


class KeepsItsSecret(SlowMean):
    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "center_"}


class StoresAsItGoes(SlowMean):
    def _step(self, rows, state):
        self.center_ = state.center
        return super()._step(rows, state)


class Climbs(SlowMean):
    def _step(self, rows, state):
        state, objective = super()._step(rows, state)
        return state, -objective


class ClimbsInTheLongRun(Climbs):
    _monotone = False


class WritesToTheTarget(SlowMean):
    def _start(self, rows, rng):
        rows.y[:] = np.sort(rows.y)
        return super()._start(rows, rng)


class SaysNothing(SlowMean):
    def predict(self, X):
        return super().predict(X) * np.nan


class TakesAnything(SlowMean):
    _parameter_constraints = {name: ["no_validation"] for name in ("speed", "max_iter", "tol")}

    def _step(self, rows, state):
        return Center(np.zeros(())), 0.0

    def _limit(self):
        return 2


def judged(name, table):
    return lambda subject: test_awkward.judge(subject, table[name](subject), name)


FAULTS = {
    IgnoresWeights: test_promises.test_weight_two_is_the_row_twice,
    LooksAtTheFirstRow: test_promises.test_order_of_rows_does_not_matter,
    Wanders: test_promises.test_fit_twice_same_bits,
    CountsThreads: lambda subject: test_promises.test_one_thread_equals_many(subject, None),
    StoresAsItGoes: test_watching.test_interrupt_at_any_moment_leaves_the_old_state_or_none,
    Climbs: test_watching.test_objective_goes_one_way,
    ClimbsInTheLongRun: test_watching.test_objective_goes_one_way,
    WritesToTheTarget: judged("fortran_order", INPUTS),
    SaysNothing: judged("constant_target", {name: make for name, (_, make) in TARGETS.items()}),
    TakesAnything: lambda subject: test_awkward.test_wrong_parameter_is_named(subject, "speed"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fault_is_caught(fault):
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        FAULTS[fault](Subject(fault))


def test_lost_attribute_is_caught(tmp_path):
    with pytest.raises((AssertionError, AttributeError)):
        test_promises.test_saved_and_loaded_says_the_same_bits(Subject(KeepsItsSecret), tmp_path)
