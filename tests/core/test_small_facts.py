"""Small facts of the core: when a run ends and what it says, lists of things, tables over variables, names of old."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.aliases import present_name
from gnomon.core.array_checks import LARGE, is_large, is_plain, is_plain_target
from gnomon.core.convergence import Convergence, Moment
from gnomon.core.decoding import _set_attribute
from gnomon.core.errors import DataError, DegenerateError, DivergenceError, ModelFileError
from gnomon.core.estimator import Estimator
from gnomon.core.graphs import FactorData
from gnomon.core.items import Items, listed
from gnomon.core.linalg import SMALL, cholesky
from gnomon.core.quantiles import lower_medians, weighted_quantile
from gnomon.core.tables import common_dtype
from gnomon.core.trace import Trace
from gnomon.core.validate import Reads


def rule(**settings):
    return type("Runner", (Convergence,), settings)()


@pytest.mark.parametrize(
    ("stop", "objective", "previous", "certificate", "done"),
    [
        ("objective", 5.0, 5.5, None, True),
        ("objective", 5.0, 4.5, None, True),
        ("objective", 5.0, 5.6, None, False),
        ("objective", 50.0, 51.0, 0.0, False),
        ("relative", 0.25, 0.75, None, True),
        ("relative", 0.25, 0.85, None, False),  # below one the change itself counts
        ("relative", -100.0, -50.0, None, True),
        ("relative", -100.0, -49.0, None, False),
        ("certificate", 9.0, 1.0, 0.5, True),
        ("certificate", 9.0, 9.0, 0.6, False),
        ("certificate", 9.0, 9.0, None, False),
        ("self", 9.0, 9.0, 0.0, False),
    ],
)
def test_runs_end_by_their_rule(stop, objective, previous, certificate, done):
    report = SimpleNamespace(certificate=certificate)
    assert bool(rule(_stop=stop)._converged(report, objective, previous, 0.5)) is done


@pytest.mark.parametrize(
    ("sense", "one", "other", "better"),
    [
        ("min", 1.0, 2.0, True),
        ("min", 2.0, 1.0, False),
        ("min", 1.0, 1.0, False),
        ("min", -1.0 - 1e-11, -1.0, False),
        ("min", -1.0 - 1e-9, -1.0, True),
        ("max", 2.0, 1.0, True),
        ("max", 1.0, 2.0, False),
        ("max", 1e6 + 1e-5, 1e6, False),
        ("max", 1e6 + 1e-3, 1e6, True),
        ("max", 0.0, 0.0, False),
    ],
)
def test_a_start_is_better_by_more_than_rounding(sense, one, other, better):
    assert rule(_sense=sense)._better(one, other) is better


def test_objectives_are_finite_or_untold():
    runner = rule()
    assert math.isnan(runner._finite(None, 0)) and runner._finite(np.float32(2.0), 0) == 2.0
    assert isinstance(runner._finite(np.float32(2.0), 0), float)
    for value in (math.inf, -math.inf, math.nan):
        with pytest.raises(DivergenceError, match="at iteration 8"):
            runner._finite(value, 7)


@pytest.mark.parametrize(
    ("stop", "objective", "certificate", "told"),
    [
        ("objective", [5.0, 3.0, 2.5], None, "the last change of the objective was 0.5"),
        ("objective", [5.0], None, "it made a single step"),
        ("objective", [], None, "it made a single step"),
        ("objective", [1.0, 3.0], None, "was 2,"),
        ("certificate", [5.0, 3.0], [9.0, 0.125], "its certificate is 0.125"),
        ("certificate", [5.0, 3.0], None, "the last change of the objective was 2"),
        ("objective", [5.0, 3.0], [9.0, 0.125], "the last change of the objective was 2"),
    ],
)
def test_runs_cut_short_say_how_far_they_were(stop, objective, certificate, told):
    runner = rule(_stop=stop, max_iter=7, tol=0.01)
    trace = Trace(objective, [0.0] * len(objective), certificate)
    with pytest.warns(ConvergenceWarning, match=rf"in max_iter=7 steps: .*{told}.*tol=0.01"):
        runner._warn_not_converged(SimpleNamespace(trace=trace))


def test_a_run_without_a_tolerance_says_nothing(recwarn):
    for settings in ({"tol": 0.0}, {"tol": None}, {}):
        rule(max_iter=3, **settings)._warn_not_converged(SimpleNamespace(trace=Trace([1.0], [0.0])))
    assert not recwarn.list


def test_the_last_moment_of_a_run():
    for converged, stalled in ((False, False), (True, False), (False, True), (True, True)):
        moment = Moment(None, SimpleNamespace(stalled=stalled), converged)
        assert bool(moment.last()) is (converged or stalled)


# things


@pytest.mark.parametrize("X", ["word", b"bytes", {"a": 1}, {1, 2}, 3, None, np.array(5)])
def test_what_holds_no_things_in_order_is_refused(X):
    with pytest.raises(DataError, match=f"Y must be a list of numbers; got {type(X).__name__}"):
        listed(X, "of numbers", name="Y")


@pytest.mark.parametrize(
    "X", [[1, 2], (1, 2), np.array([1, 2]), range(1, 3), iter([1, 2]), {1: 0, 2: 0}.keys()]
)
def test_what_holds_things_in_order_is_a_list(X):
    if isinstance(X, type({}.keys())):
        with pytest.raises(DataError):
            listed(X, "of numbers")
        return
    assert listed(X, "of numbers") == [1, 2]


def test_items_keep_targets_weights_and_classes():
    whole = Items(["a", "b", "c"], np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]), np.array(["u", "v"]))
    part = whole.take([2, 0])
    assert (part.X, part.y.tolist(), part.weight.tolist()) == (["c", "a"], [1, 0], [3.0, 1.0])
    assert part.weighted and len(part) == 2 and part.facts()["classes_"].tolist() == ["u", "v"]
    plain = Items(["a", "b", "c"])
    assert (
        plain.weight.tolist() == [1.0] * 3 and not plain.weighted and plain.facts() == {} and plain.y is None
    )
    assert not plain.take([1]).weighted and plain.take([1]).y is None
    names = {one.digest() for one in (whole, plain, part, whole.take([0, 1, 2]), Items(["a", "b", "d"]))}
    assert len(names) == 4  # all of the things in their order are the same things


def test_tables_over_variables():
    data = FactorData([["a", "b"], ("b",)], [[[1, 2], [3, 4]], [5, 6]], {"variables_": ("a", "b")})
    assert data.scopes == [("a", "b"), ("b",)] and data.tables[0].dtype == np.float64
    found = data.facts()
    found["more"] = 1
    assert data.facts() == {"variables_": ("a", "b")}
    same = FactorData(
        [("a", "b"), ("b",)], [np.array([[1.0, 2.0], [3.0, 4.0]]), [5.0, 6.0]], {"variables_": ("a", "b")}
    )
    other = FactorData([("a", "b"), ("b",)], [[[1, 2], [3, 4]], [5, 7]], {"variables_": ("a", "b")})
    turned = FactorData([("b", "a"), ("b",)], [[[1, 2], [3, 4]], [5, 6]], {"variables_": ("a", "b")})
    assert data.digest() == same.digest() and len({data.digest(), other.digest(), turned.digest()}) == 3
    if hasattr(data, "__len__"):
        assert len(data) == 2


# numbers


@pytest.mark.parametrize("q", [0.0, 0.1, 0.25, 0.5, 0.75, 1.0])
def test_weighted_quantiles_are_those_of_copies(q):
    rng = np.random.default_rng(0)
    for _ in range(30):
        x, w = rng.integers(0, 6, 7).astype(float), rng.integers(0, 4, 7).astype(float)
        w[0] = 2.0
        copies = np.sort(np.repeat(x, w.astype(int)))
        goal, n = q * len(copies), len(copies)
        at = next(k for k in range(n) if k + 1 >= goal - 1e-9)
        between = abs(at + 1 - goal) < 1e-9 and at + 1 < n
        wanted = (copies[at] + copies[at + 1]) / 2 if between else copies[at]
        assert weighted_quantile(x, w, q) == weighted_quantile(x, 7.3 * w, q) == wanted
    X = rng.normal(size=(8, 3))
    assert lower_medians(X, np.ones(8)).tolist() == np.sort(X, axis=0)[3].tolist()
    assert lower_medians(X[:7], np.ones(7)).tolist() == np.median(X[:7], axis=0).tolist()
    heavy = np.array([0.0, 5.0, 1, 1, 1, 0, 1, 0.5])
    assert lower_medians(X, heavy).tolist() == X[1].tolist()


def test_matrices_that_need_no_more_than_a_look():
    reads, model = Reads(), SimpleNamespace(n_features_in_=2)
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert is_plain(SimpleNamespace(), X, reads, True) and is_plain(model, X, reads, False)
    for other in (X[:, :1], np.ones((2, 3))):
        assert not is_plain(model, other, reads, False)
    assert not is_plain(SimpleNamespace(n_features_in_=2, feature_names_in_=["a", "b"]), X, reads, False)
    for wrong in (
        X.tolist(),
        X.astype(int),
        X[0],
        X[:0],
        np.array([[1.0, np.inf]]),
        np.array([[1.0, np.nan]]),
    ):
        assert not is_plain(SimpleNamespace(), wrong, reads, True)
    holes = reads._replace(nan=True)
    assert is_plain(SimpleNamespace(), np.array([[1.0, np.nan]] * 2), holes, True)
    assert not is_plain(SimpleNamespace(), np.array([[np.inf, np.nan]] * 2), holes, True)
    assert not is_plain(SimpleNamespace(), X, reads._replace(min_rows=3), True)
    assert is_plain(SimpleNamespace(), X, reads._replace(min_rows=2), True)
    tall = np.broadcast_to(np.float64(1.0), (LARGE // 4, 4))
    assert is_large(tall, reads) and not is_large(tall[:-1], reads) and not is_plain(model, tall, reads, True)
    y = np.array([0, 1])
    numbers, classes = reads._replace(y="number"), reads._replace(y="class")
    assert is_plain_target(y, 2, classes) and is_plain_target(y, 2, numbers)
    assert is_plain_target(y * 1.0, 2, numbers) and not is_plain_target(y * 1.0, 2, classes)
    for wrong in (y[:1], y[:, None], y.tolist(), np.array(["a", "b"]), y > 0):
        assert not is_plain_target(wrong, 2, numbers)


def test_names_of_old_are_those_of_today():
    assert present_name("gnomon.kernels.stationary:WhiteKernel") == "gnomon.kernels.constant:WhiteKernel"
    assert present_name("gnomon.kernels.stationary:RBF") == "gnomon.kernels.stationary:RBF"
    assert present_name("gnomon.linear.lars:Anything") == "gnomon.linear.lasso.lars:Anything"
    assert present_name("no.colon") == "no.colon"


@pytest.mark.parametrize(
    ("kinds", "dtype"),
    [
        (["float32"], np.float32),
        (["float16", "float32"], np.float32),
        (["float32", "float64"], np.float64),
        (["float64"], np.float64),
        (["int32"], np.float64),
        (["float32", "int8"], np.float64),
        (["bool"], np.float64),
        (["uint16", "float16"], np.float64),
    ],
    ids=str,
)
def test_tables_are_as_wide_as_their_widest_column(kinds, dtype):
    pa = pytest.importorskip("pyarrow")
    types = {"bool": pa.bool_(), "float16": pa.float16(), "float32": pa.float32(), "float64": pa.float64()}
    names = [f"c{j}" for j in range(len(kinds))]
    schema = pa.schema(
        [(name, types.get(kind) or getattr(pa, kind)()) for name, kind in zip(names, kinds, strict=True)]
    )
    assert common_dtype(schema, names) == dtype
    words = pa.schema([("a", pa.float32()), ("b", pa.string())])
    assert common_dtype(words, ["a"]) == np.float32
    with pytest.raises(DataError, match="column 'b' holds string"):
        common_dtype(words, ["a", "b"])


class Own(Estimator):
    def __init__(self, value=1):
        self.value = value


@pytest.mark.parametrize("value", [1, 2.5, "word", None, True, (1, "a"), ((1, 2), 3.0), ()], ids=str)
def test_settings_of_numbers_and_words_are_handed_on(value):
    model = Own(value)
    model.learned_ = 3
    fresh = model._unfitted()
    assert (
        type(fresh) is Own and fresh is not model and fresh.value == value and not hasattr(fresh, "learned_")
    )


def test_settings_that_can_change_are_copied():
    for value in ([1, 2], {"a": 1}, np.arange(3), Own([4]), ([1], 2), object()):
        fresh = Own(value)._unfitted().value
        if isinstance(value, Own):
            assert fresh is not value and fresh.value == [4]
        else:
            assert fresh is not value or type(value) is object
            assert repr(fresh) == repr(value) or type(value) is object


@pytest.mark.parametrize("n", [3, SMALL + 5])
def test_nothing_is_added_where_it_is_not_asked_for_or_not_needed(n):
    sound = np.diag(np.arange(1.0, n + 1))
    for jitter in (0.0, 1e-8):
        L, added = cholesky(sound, jitter=jitter)
        np.testing.assert_allclose(L, np.sqrt(sound))
        assert added == 0.0
    tilted = np.diag(np.append(np.ones(n - 1), -0.1))
    with pytest.raises(DegenerateError, match="it is not positive definite: its smallest eigenvalue is -0.1"):
        cholesky(tilted, what="it")
    size = np.abs(np.diag(tilted)).mean()
    L, added = cholesky(tilted, jitter=1e-3)  # 0.1 is too little for every n here, 1 is enough
    tries = [1e-3 * 10.0**k * size for k in range(7)]
    assert added == pytest.approx(next(one for one in tries if one > 0.1))
    np.testing.assert_allclose(L @ L.T, tilted + added * np.eye(n))
    holes = sound.copy()
    holes[0, 0] = np.nan
    with pytest.raises(DegenerateError):
        cholesky(holes, what="it")


@pytest.mark.parametrize(
    "key", ["two words", "", "3x", "__class__", "__dict__", "__new", "_unfitted", "fit_it", "told"]
)
def test_a_file_replaces_no_method(key):
    class Loaded(Own):
        def fit_it(self):
            return 1

        @property
        def told(self):
            return 2

    with pytest.raises(ModelFileError, match="would replace"):
        _set_attribute(Loaded(), key, 5)


def test_a_file_sets_attributes_and_slots():
    class Slotted:
        __slots__ = ("kept",)

    model, slot = Own(), Slotted()
    _set_attribute(model, "coef_", 5)
    _set_attribute(slot, "kept", 6)
    assert (model.coef_, slot.kept) == (5, 6)
