"""The battery of awkward inputs: the right answer or a clear error, and the caller's data untouched."""

import copy
import inspect
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import generate_invalid_param_val, make_constraint

from compare import assert_agree, assert_same_bits, dense
from contract.discovery import MATRIX, METHODS, SUBJECTS
from contract.inputs import ANSWER, EITHER, INPUTS, SAME, TARGETS, WEIGHTS
from gnomon.core.errors import GnomonError

pytestmark = [
    pytest.mark.timeout(120),  # a hang is a failure
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning"),
]

EXTREME = ("huge", "one_huge_entry", "tiny", "subnormal", "huge_weights", "tiny_weights", "huge_target")
WORDS = (
    r"\b(X|y|sample_weight|weights?|features?|columns?|samples?|rows?|class(es)?|labels?|entries|values?)\b"
)
SLACK = {"float16": 1e-3}
MAY_BE_INFINITE = ("predict_log_proba", "score_samples", "decision_function")


def snapshot(value):
    return value.copy(deep=True) if isinstance(value, pd.DataFrame | pd.Series) else copy.deepcopy(value)


def assert_untouched(before, now):
    if isinstance(before, pd.DataFrame | pd.Series | pl.DataFrame):
        assert before.equals(now), "the caller's data were changed"
    else:
        assert_same_bits(before, now, "the caller's data")


def outcome_of(subject, case, name):
    """Fit and answer; return the error when there is one. Warnings of broken arithmetic are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if name in EXTREME else "error", RuntimeWarning)
        warnings.simplefilter("ignore", LinAlgWarning)
        try:
            model = subject.fit(case.data, **case.arguments)
            query = case.data.X if case.query is None else case.query
            return model, subject.answers(model, query), None
        except (ValueError, TypeError, GnomonError) as error:
            return None, None, error


def assert_answer(said):
    for name, values in said.items():
        values = values.data if sp.issparse(values) else np.asarray(values)
        if values.dtype.kind == "f":
            assert not np.isnan(values).any(), f"{name} says NaN"
            assert name in MAY_BE_INFINITE or np.isfinite(values).all(), f"{name} says infinity"


def judge(subject, case, name):
    before = [snapshot(part) for part in case.data]
    _, said, error = outcome_of(subject, case, name)
    for part, now in zip(before, case.data):
        assert_untouched(part, now)
    if case.outcome in (SAME, ANSWER):
        assert error is None, f"refused: {error!r}"
        assert_answer(said)
    elif case.outcome == EITHER:
        if error is None:
            assert_answer(said)
        else:
            parameters = "|".join(subject.make().get_params())
            assert re.search(rf"{WORDS}|\b({parameters})\b", str(error)), (
                f"does not say what is wrong: {error!r}"
            )
    else:
        assert error is not None, "no error"
        assert re.search(case.outcome, str(error)), f"does not say {case.outcome!r}: {error!r}"
    if case.outcome == SAME:
        plain = subject.answers(subject.fit(case.plain, **case.arguments), case.plain.X)
        assert_agree(plain, said, rtol=SLACK.get(name, 1e-7 if case.arguments else 1e-9))


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("subject", MATRIX, ids=repr)
def test_input(subject, name):
    judge(subject, INPUTS[name](subject), name)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("subject", [one for one in MATRIX if one.takes_weights], ids=repr)
def test_weights(subject, name):
    judge(subject, WEIGHTS[name](subject), name)


@pytest.mark.parametrize(
    "subject, name",
    [
        pytest.param(subject, name, id=f"{subject}-{name}")
        for subject in MATRIX
        for name, (kinds, _) in TARGETS.items()
        if subject.target in kinds
    ],
)
def test_target(subject, name):
    judge(subject, TARGETS[name][1](subject), name)


@pytest.mark.parametrize("subject", [one for one in MATRIX if one.scales], ids=repr)
def test_a_million_by_one(subject):
    data = subject.rows(n=1_000_000, d=1)
    model = subject.fit(data)
    assert_answer(subject.answers(model, data.X[:100]))


# Labels

LABELS = {
    "strings": lambda y: np.array(["low", "middle", "high"])[y],
    "objects": lambda y: np.array(["low", "middle", "high"], dtype=object)[y],
    "booleans": lambda y: y > 0,
    "negative": lambda y: y - 5,
    "floats": lambda y: y.astype(float),
    "far apart": lambda y: y * 10**15,
    "unsigned": lambda y: y.astype(np.uint8),
    "categories": lambda y: pd.Categorical(np.array(["low", "middle", "high"])[y]),
}
CLASSIFIERS = [subject for subject in MATRIX if subject.target == "class"]


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("subject", CLASSIFIERS, ids=repr)
def test_labels_come_back(subject, name):
    data = subject.rows()
    y = LABELS[name](data.y)
    model = subject.fit(data._replace(y=y))
    assert set(model.predict(data.X)) <= set(np.asarray(y))
    assert model.predict(data.X).dtype == model.classes_.dtype
    np.testing.assert_array_equal(model.classes_, np.unique(np.asarray(y)))


@pytest.mark.parametrize("subject", CLASSIFIERS, ids=repr)
def test_unseen_label_when_scoring(subject):
    data = subject.rows()
    model = subject.fit(data)
    assert model.score(data.X, np.full(len(data.X), 99)) == 0.0


# Names


def named(X, names="abc"):
    return pd.DataFrame(X, columns=list(names[: X.shape[1]]))


@pytest.mark.parametrize("subject", MATRIX, ids=repr)
def test_names_are_kept(subject):
    data = subject.rows()
    model = subject.fit(data._replace(X=named(data.X)))
    assert list(model.feature_names_in_) == list("abc")[: data.X.shape[1]]
    assert model.n_features_in_ == data.X.shape[1]
    assert not hasattr(subject.fit(data), "feature_names_in_")
    subject.fit(data, model)
    assert not hasattr(model, "feature_names_in_")


OTHER_NAMES = {
    "reordered": lambda X: named(X, "cba") if X.shape[1] > 1 else named(X, "b"),
    "unknown": lambda X: named(X, "xyz"),
    "missing": lambda X: named(X[:, :-1]),
    "additional": lambda X: named(np.hstack([X, X]), "abcdef"),
}


@pytest.mark.parametrize("name", OTHER_NAMES)
@pytest.mark.parametrize("subject", MATRIX, ids=repr)
def test_other_names_at_predict_are_refused(subject, name):
    data = subject.rows()
    model = subject.fit(data._replace(X=named(data.X)))
    X = OTHER_NAMES[name](data.X)
    for method in ("predict", "transform", "score_samples"):
        if hasattr(model, method):
            with pytest.raises(ValueError, match="feature names|features?"):
                getattr(model, method)(X)


@pytest.mark.parametrize("subject", MATRIX, ids=repr)
def test_names_that_are_odd_words(subject):
    data = subject.rows()
    odd = ["", "Ω π", "class"][: data.X.shape[1]]
    model = subject.fit(data._replace(X=pd.DataFrame(data.X, columns=odd)))
    assert list(model.feature_names_in_) == odd


@pytest.mark.parametrize("subject", MATRIX, ids=repr)
def test_names_out_fit_the_columns_out(subject):
    data = subject.rows()
    model = subject.fit(data._replace(X=named(data.X)))
    if not hasattr(model, "transform"):
        return
    columns = model.transform(named(data.X)).shape[1]
    assert len(model.get_feature_names_out()) == columns
    frame = model.set_output(transform="pandas").transform(named(data.X))
    assert list(frame.columns) == list(model.get_feature_names_out())


# Predicting


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_unfitted_model_says_so(subject):
    model, X = subject.make(), subject.rows().X
    for method in ("predict", "predict_proba", "transform", "score_samples", "decision_function"):
        if hasattr(model, method) and not subject.tags.requires_fit:  # a prior speaks before there are data
            assert np.isfinite(getattr(model, method)(X)).all()
        elif hasattr(model, method):
            with pytest.raises(NotFittedError, match="fit"):
                getattr(model, method)(X)


PREDICTED = {
    "nan": (lambda X: np.where(np.arange(X.size).reshape(X.shape) == 4, np.nan, X), "NaN|missing"),
    "infinite": (lambda X: np.where(np.arange(X.size).reshape(X.shape) == 4, np.inf, X), "inf"),
    "no rows": (lambda X: X[:0], "sample|row"),
    "fewer columns": (lambda X: X[:, :-1], "feature"),
    "more columns": (lambda X: np.hstack([X, X]), "features"),
    "one dimension": (lambda X: X[0], "2D|[Rr]eshape|dimension"),
    "strings": (lambda X: np.full(X.shape, "a"), "string|str_?|number|numeric"),
}


SERIES = ("CategoricalHMM",)  # learned from one column: a vector is a series of symbols


@pytest.mark.parametrize("name", PREDICTED)
@pytest.mark.parametrize("subject", MATRIX, ids=repr)
def test_bad_rows_at_predict_are_refused(subject, name):
    change, pattern = PREDICTED[name]
    data = subject.rows()
    model = subject.fit(data)
    X = change(data.X)
    for method in ("predict", "transform", "score_samples"):
        if not hasattr(model, method):
            continue
        taken = {"nan": subject.takes_nan, "infinite": subject.takes_infinity}
        if taken.get(name) or (name == "one dimension" and repr(subject) in SERIES):
            getattr(model, method)(X)
            continue
        with pytest.raises((ValueError, TypeError), match=pattern):
            getattr(model, method)(X)


@pytest.mark.parametrize("subject", [one for one in MATRIX if not one.takes_infinity], ids=repr)
def test_infinite_entries_of_a_large_matrix_are_refused(subject, monkeypatch):
    """A large matrix is not looked through at the door but chunk by chunk, also where entries may be missing."""
    monkeypatch.setattr("gnomon.core.array_checks.LARGE", 1)
    data = subject.rows()
    X = np.array(data.X, dtype=float)
    model = subject.fit(data._replace(X=X))
    spoiled = X.copy()
    spoiled[-1, -1] = np.inf
    with pytest.raises((ValueError, TypeError), match="inf"):
        subject.fit(data._replace(X=spoiled))
    for method in ("predict", "transform", "score_samples"):
        if hasattr(model, method):
            with pytest.raises((ValueError, TypeError), match="inf"):
                getattr(model, method)(spoiled)


SQUARES = (
    "BayesianGaussianMixture", "BayesianLogisticRegression", "ClassicalMDS", "FactorAnalysis", "GaussianMixture",
    "GaussianNB", "LinearDiscriminantAnalysis", "ProbabilisticPCA", "QuadraticDiscriminantAnalysis", "SoftKMeans",
)  # fmt: skip


@pytest.mark.parametrize("size", [1e155, 1e300])
@pytest.mark.parametrize("subject", [one for one in MATRIX if one.cls.__name__ in SQUARES], ids=repr)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_questions_about_huge_rows_are_not_answered_with_nan(subject, size):
    data = subject.rows()
    model = subject.fit(data)
    for name in METHODS:
        if not hasattr(model, name):
            continue
        try:
            values = dense(getattr(model, name)(data.X * size))
        except (ValueError, TypeError, GnomonError) as error:
            assert re.search(WORDS, str(error)), f"does not say what is wrong: {error!r}"
        else:
            assert values.dtype.kind != "f" or not np.isnan(values).any(), f"{name} says NaN"


def questions(model):
    """Names of public methods that compare rows with their targets."""
    for name in dir(model):
        if not name.startswith(("_", "fit", "partial_fit", "iterate")) and callable(
            getattr(model, name, None)
        ):
            wanted = inspect.signature(getattr(model, name)).parameters.values()
            required = [
                one.name for one in wanted if one.default is one.empty and one.kind is not one.VAR_KEYWORD
            ]
            if required == ["X", "y"]:
                yield name


def whole(answer):
    """An answer; of one that comes step by step, all of it."""
    return list(answer) if inspect.isgenerator(answer) else answer


@pytest.mark.parametrize("subject", [one for one in SUBJECTS if one.target or one.recipe.data], ids=repr)
def test_targets_of_another_length_are_refused(subject):
    data = subject.data()
    model = subject.fit(data)
    for name in questions(model) if data.y is not None else ():
        try:
            whole(getattr(copy.deepcopy(model), name)(data.X, data.y))
        except Exception:
            continue  # it needs other rows: two columns, two classes
        for y in (data.y[:1], data.y[:-1]):
            with pytest.raises((ValueError, TypeError), match=r"^(?!.*broadcast).*"):
                whole(getattr(copy.deepcopy(model), name)(data.X, y))


# Parameters


def numbers(subject):
    """Parameters whose values are plain numbers."""
    found = subject.make().get_params(deep=False)
    return {name: value for name, value in found.items() if type(value) in (int, float)}


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_numpy_scalars_as_parameters(subject):
    data = subject.rows()
    kinds = {int: np.int64, float: np.float64}
    changed = {name: kinds[type(value)](value) for name, value in numbers(subject).items()}
    plain = subject.answers(subject.fit(data), data.X)
    assert_agree(plain, subject.answers(subject.fit(data, **changed), data.X), rtol=1e-12)


@pytest.mark.parametrize(
    "make", [np.random.default_rng, np.random.RandomState], ids=["Generator", "RandomState"]
)
@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_generators_as_random_state(subject, make):
    if "random_state" not in subject.make().get_params(deep=False):
        return
    data = subject.rows()
    first, second = (subject.fit(data, random_state=make(7)) for _ in range(2))
    assert_same_bits(subject.answers(first, data.X), subject.answers(second, data.X), repr(subject))


class Nothing:
    """A value that no parameter can have."""

    def __repr__(self):
        return "Nothing()"


@pytest.mark.parametrize(
    "subject, parameter",
    [
        pytest.param(subject, name, id=f"{subject}-{name}")
        for subject in SUBJECTS
        for name in inspect.signature(subject.cls).parameters
    ],
)
def test_wrong_parameter_is_named(subject, parameter):
    data = subject.rows()
    for bad in wrong_values(subject, parameter):
        model = subject.make().set_params(**{parameter: bad})
        with pytest.raises((ValueError, TypeError), match=rf"\b{parameter}\b"):
            subject.fit(data, model)
        assert not [name for name in vars(model) if name.endswith("_")], "left half fitted"


def wrong_values(subject, parameter):
    """One value of a wrong type, and one outside of every range the class declares."""
    yield Nothing()
    for rule in getattr(subject.cls, "_parameter_constraints", {}).get(parameter, ()):
        try:
            bad = generate_invalid_param_val(make_constraint(rule))
        except NotImplementedError:
            continue
        rules = [make_constraint(one) for one in subject.cls._parameter_constraints[parameter]]
        if not any(one.is_satisfied_by(bad) for one in rules):
            yield bad


NO_DATA = {
    "none": None,
    "number": 3,
    "object": object(),
    "nested_none": [None, None],
}


@pytest.mark.parametrize("name", NO_DATA)
@pytest.mark.parametrize("subject", [one for one in SUBJECTS if not one.takes_matrix], ids=repr)
def test_what_is_no_data_is_refused_in_our_words(subject, name):
    """Learners without a matrix have readers of their own; none lets Python stumble over what it was given."""
    target = subject.data(n=20).y
    more = () if target is None else (target,)
    try:
        subject.make().fit(NO_DATA[name], *more)
    except (GnomonError, ValueError) as error:
        assert str(error)
    except TypeError as error:
        assert re.search(r"must|needs?\b|expected", str(error)), error
    else:
        assert name == "nested_none" and subject.takes_nan, "it was fitted"
