"""The awkward inputs, by name: how each is made from plain data, and what must come of it.

Outcomes
--------
same
    The answers are those of the plain data (which may be given along), up to rounding.
answer
    The model is fitted, and what it says has no NaN and, where it is a prediction, no infinity.
error(pattern)
    An error whose message matches.
either
    An answer as above, or an error that names what is wrong.
"""

import tempfile
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

SAME, ANSWER, EITHER = "same", "answer", "either"


class Case(NamedTuple):
    data: object  # what is given
    outcome: str  # SAME, ANSWER, EITHER, or a pattern of the error message
    plain: object = None  # what it must be the same as
    query: object = None  # what to ask about; the given X when None
    arguments: dict = {}  # to the constructor


INPUTS = {}


def awkward(function):
    """Put a function (subject -> Case) into the table under its own name."""
    INPUTS[function.__name__] = function
    return function


def same(subject, change, **options):
    """X in another form: the answers are the same."""
    plain = subject.rows(**options)
    return Case(plain._replace(X=change(plain.X)), SAME, plain)


def outcome_of_missing(subject, pattern):
    return ANSWER if subject.takes_nan else pattern


# Form: the same numbers, lying differently


@awkward
def fortran_order(subject):
    return same(subject, np.asfortranarray)


@awkward
def negative_strides(subject):
    return same(subject, lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1])


@awkward
def every_second_row_and_column(subject):
    return same(subject, lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2])


@awkward
def read_only(subject):
    def lock(X):
        X = X.copy()
        X.flags.writeable = False
        return X

    return same(subject, lock)


@awkward
def memory_mapped(subject):
    def spill(X):
        file = tempfile.NamedTemporaryFile(suffix=".npy")  # noqa: SIM115 - lives as long as the array
        np.save(file.name, X)
        mapped = np.load(file.name, mmap_mode="r")
        return mapped

    return same(subject, spill)


@awkward
def unaligned(subject):
    def shift(X):
        buffer = np.empty(X.nbytes + 1, dtype=np.uint8)
        view = buffer[1:].view(X.dtype).reshape(X.shape)
        view[...] = X
        return view

    return same(subject, shift)


@awkward
def big_endian(subject):
    return same(subject, lambda X: X.astype(">f8"))


@awkward
def lists(subject):
    return same(subject, np.ndarray.tolist)


@awkward
def object_numbers(subject):
    return same(subject, lambda X: X.astype(object))


@awkward
def masked_without_mask(subject):
    return same(subject, np.ma.masked_array)


@awkward
def masked_with_mask(subject):
    data = subject.rows()
    masked = np.ma.masked_array(data.X, mask=np.zeros(data.X.shape, dtype=bool))
    masked[3, -1] = np.ma.masked
    return Case(data._replace(X=masked), outcome_of_missing(subject, "mask|missing|NaN"), query=data.X)


# Types


def whole(subject, change):
    return same(subject, change, whole_numbers=True)


@awkward
def int8(subject):
    return whole(subject, lambda X: X.astype(np.int8))


@awkward
def int64(subject):
    return whole(subject, lambda X: X.astype(np.int64))


@awkward
def uint8(subject):
    data = subject.rows(whole_numbers=True)
    data = data._replace(X=np.abs(data.X))
    return Case(data._replace(X=data.X.astype(np.uint8)), SAME, data)


@awkward
def booleans(subject):
    data = subject.rows()
    X = data.X > np.median(data.X, axis=0)
    return Case(data._replace(X=X), SAME, data._replace(X=X.astype(float)))


@awkward
def float16(subject):
    data = subject.rows()
    half = data.X.astype(np.float16)
    return Case(data._replace(X=half), SAME, data._replace(X=half.astype(np.float32)))


@awkward
def longdouble(subject):
    return same(subject, lambda X: X.astype(np.longdouble))


@awkward
def complex_numbers(subject):
    data = subject.rows()
    return Case(data._replace(X=data.X + 1j), "[Cc]omplex")


@awkward
def strings(subject):
    data = subject.rows()
    refused = "string|str_?|numeric|number"
    return Case(data._replace(X=np.full(data.X.shape, "red")), ANSWER if subject.takes_strings else refused)


@awkward
def objects_that_are_no_numbers(subject):
    data = subject.rows()
    X = data.X.astype(object)
    X[2, -1] = {"a": 1}
    return Case(data._replace(X=X), "number|float|dict")


@awkward
def dates(subject):
    data = subject.rows()
    X = np.full(data.X.shape, np.datetime64("2020-01-01"))
    return Case(data._replace(X=X), EITHER)


# Shapes


@awkward
def no_rows(subject):
    data = subject.rows()
    return Case(data._replace(X=data.X[:0], y=None if data.y is None else data.y[:0]), "sample|row|empty")


@awkward
def no_columns(subject):
    data = subject.rows()
    return Case(data._replace(X=data.X[:, :0]), "feature|column|empty")


@awkward
def one_dimension(subject):
    data, series = (
        subject.rows(),
        hasattr(subject.make(), "_sequence_lengths"),
    )  # a vector is a series of numbers
    return Case(data._replace(X=data.X[:, 0]), EITHER if series else "[Rr]eshape|2D|dimension")


@awkward
def three_dimensions(subject):
    data = subject.rows()
    images = subject.tags.input_tags.three_d_array
    return Case(data._replace(X=np.stack([data.X, data.X])), ANSWER if images else "dim")


@awkward
def no_data(subject):
    data = subject.rows()
    return Case(data._replace(X=None), "None|array|data")


@awkward
def one_row(subject):
    data = subject.rows()
    return Case(data._replace(X=data.X[:1], y=None if data.y is None else data.y[:1]), EITHER)


@awkward
def two_rows(subject):
    data = subject.rows()
    return Case(data._replace(X=data.X[:2], y=None if data.y is None else data.y[:2]), EITHER)


@awkward
def one_column(subject):
    return Case(subject.rows(d=1), ANSWER)


@awkward
def more_columns_than_rows(subject):
    return Case(subject.rows(n=12, d=40), EITHER)


# Values


def changed(subject, outcome, change):
    """X with some of its entries changed."""
    data = subject.rows()
    X = data.X.copy()
    return Case(data._replace(X=change(X)), outcome, query=data.X)


def entry(value):
    def put(X):
        X[4, -1] = value
        return X

    return put


def column(values):
    def put(X):
        X[:, -1] = values
        return X

    return put


@awkward
def nan_entry(subject):
    return changed(subject, outcome_of_missing(subject, "NaN|missing"), entry(np.nan))


@awkward
def nan_column(subject):
    return changed(subject, EITHER if subject.takes_nan else "NaN|missing", column(np.nan))


@awkward
def all_nan(subject):
    return changed(subject, EITHER if subject.takes_nan else "NaN|missing", lambda X: X * np.nan)


@awkward
def positive_infinity(subject):
    return changed(subject, ANSWER if subject.takes_infinity else "inf", entry(np.inf))


@awkward
def negative_infinity(subject):
    return changed(subject, ANSWER if subject.takes_infinity else "inf|[Nn]egative", entry(-np.inf))


@awkward
def constant(subject):
    return changed(subject, EITHER, lambda X: np.full_like(X, 2.0))


@awkward
def zeros(subject):
    return changed(subject, EITHER, np.zeros_like)


@awkward
def constant_column(subject):
    return changed(subject, EITHER, column(2.0))


@awkward
def duplicated_rows(subject):
    data = subject.rows(n=12)
    many = np.repeat(np.arange(12), 10)
    return Case(data._replace(X=data.X[many], y=None if data.y is None else data.y[many]), ANSWER)


@awkward
def duplicated_columns(subject):
    return changed(subject, EITHER, lambda X: np.hstack([X, X]))._replace(query=None)


@awkward
def collinear_columns(subject):
    return changed(subject, EITHER, lambda X: np.column_stack([X, X.sum(axis=1)]))._replace(query=None)


@awkward
def huge(subject):
    return changed(subject, EITHER, lambda X: X * 1e300)._replace(query=None)


@awkward
def one_huge_entry(subject):
    return changed(subject, EITHER, entry(1e300))


@awkward
def tiny(subject):
    return changed(subject, EITHER, lambda X: X * 1e-300)._replace(query=None)


@awkward
def subnormal(subject):
    return changed(subject, EITHER, lambda X: X * 1e-310)._replace(query=None)


@awkward
def mixed_scales(subject):
    return changed(subject, EITHER, lambda X: X * 10.0 ** np.linspace(-6, 6, X.shape[1]))._replace(query=None)


@awkward
def far_from_the_origin(subject):
    return changed(subject, EITHER, lambda X: X + 1e9)._replace(query=None)


@awkward
def negative_zero(subject):
    return changed(subject, EITHER, column(-0.0))


# Sparse


def compressed(subject, change):
    """A sparse form of mostly-zero data: the same answers where sparse is read, else a clear refusal."""
    data = subject.rows(whole_numbers=True)
    plain = data._replace(X=np.where(np.abs(data.X) < 2, 0.0, data.X))
    outcome = SAME if subject.takes_sparse else "[Ss]parse"
    tight = {"tol": 1e-12} if subject.takes_sparse and "tol" in subject.make().get_params() else {}
    return Case(
        plain._replace(X=change(plain.X)), outcome, plain, arguments=tight
    )  # other paths, one optimum


@awkward
def csr(subject):
    return compressed(subject, sp.csr_array)


@awkward
def csr_matrix(subject):
    return compressed(subject, sp.csr_matrix)


@awkward
def csc(subject):
    return compressed(subject, sp.csc_array)


@awkward
def coo_with_duplicates(subject):
    def halves(X):
        A = sp.coo_array(X)
        twice = [np.concatenate([part, part]) for part in (A.row, A.col)]
        return sp.coo_array((np.concatenate([A.data, A.data]) / 2, tuple(twice)), shape=X.shape)

    return compressed(subject, halves)


@awkward
def csr_with_explicit_zeros(subject):
    def fill(X):
        rows, columns = np.indices(X.shape)
        indptr = np.arange(0, X.size + 1, X.shape[1])
        return sp.csr_array((X.ravel(), columns.ravel(), indptr), shape=X.shape)

    return compressed(subject, fill)


@awkward
def csr_unsorted(subject):
    def reverse(X):
        A = sp.csr_array(X[:, ::-1])
        A.indices = X.shape[1] - 1 - A.indices
        A.has_sorted_indices = False
        return A

    return compressed(subject, reverse)


@awkward
def csr_of_64_bit_indices(subject):
    def widen(X):
        A = sp.csr_array(X)
        A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
        return A

    return compressed(subject, widen)


@awkward
def csr_of_integers(subject):
    return compressed(subject, lambda X: sp.csr_array(X.astype(np.int64)))


@awkward
def csr_with_nan(subject):
    case = compressed(subject, sp.csr_array)
    case.data.X.data[0] = np.nan
    if not subject.takes_sparse:
        return case
    return case._replace(outcome=outcome_of_missing(subject, "NaN|missing"), query=case.plain.X)


# Frames


def names(X):
    return [f"column {i}" for i in range(X.shape[1])]


@awkward
def pandas_frame(subject):
    return same(subject, lambda X: pd.DataFrame(X, columns=names(X)))


@awkward
def pandas_with_repeated_index(subject):
    return same(subject, lambda X: pd.DataFrame(X, columns=names(X), index=np.zeros(len(X), dtype=int)))


@awkward
def pandas_with_number_names(subject):
    return same(subject, lambda X: pd.DataFrame(X, columns=range(X.shape[1])))


@awkward
def pandas_of_mixed_types(subject):
    def mix(X):
        return pd.DataFrame(X, columns=names(X)).astype(dict(zip(names(X), ("int32", "float32"))))

    return whole(subject, mix)


@awkward
def pandas_nullable_integers(subject):
    return whole(subject, lambda X: pd.DataFrame(X, columns=names(X)).astype("Int64"))


@awkward
def pandas_nullable_integers_with_missing(subject):
    data = subject.rows(whole_numbers=True)
    frame = pd.DataFrame(data.X, columns=names(data.X)).astype("Int64")
    frame.loc[3, "column 0"] = pd.NA
    outcome = outcome_of_missing(subject, "NaN|missing|NA")
    return Case(data._replace(X=frame), outcome, query=frame.iloc[:3])


@awkward
def pandas_categories_of_numbers(subject):
    case = whole(subject, lambda X: pd.DataFrame(X, columns=names(X)).astype("category"))
    return case._replace(outcome=ANSWER) if subject.takes_categories else case


@awkward
def pandas_categories_of_strings(subject):
    data = subject.rows()
    frame = pd.DataFrame(data.X, columns=names(data.X))
    frame["column 0"] = pd.Categorical(np.where(data.X[:, 0] > 0, "red", "blue"))
    refused = "string|red|blue|numeric|number|categor"
    return Case(data._replace(X=frame), ANSWER if subject.takes_categories else refused)


@awkward
def pandas_of_arrow_types(subject):
    return same(subject, lambda X: pd.DataFrame(X, columns=names(X)).convert_dtypes(dtype_backend="pyarrow"))


@awkward
def pandas_with_one_name_twice(subject):
    data = subject.rows()
    frame = pd.DataFrame(np.hstack([data.X, data.X]), columns=2 * names(data.X))
    return Case(data._replace(X=frame), "unique|twice|duplicate")


@awkward
def polars_frame(subject):
    return same(subject, lambda X: pl.DataFrame(X, schema=names(X)))


@awkward
def polars_with_null(subject):
    data = subject.rows()
    frame = pl.DataFrame(data.X, schema=names(data.X))
    holes = [None if row == 3 else value for row, value in enumerate(data.X[:, 0])]
    frame = frame.with_columns(pl.Series("column 0", holes))
    return Case(data._replace(X=frame), outcome_of_missing(subject, "NaN|missing|null"), query=frame[:3])


# Weights

WEIGHTS = {}


def weighting(function):
    WEIGHTS[function.__name__] = function
    return function


def weighted(subject, weight, outcome):
    data = subject.rows()
    return Case(
        data._replace(weight=weight(len(data.X))), outcome, data._replace(weight=np.ones(len(data.X)))
    )


@weighting
def all_zero_weights(subject):
    return weighted(subject, np.zeros, "weight")


@weighting
def a_negative_weight(subject):
    return weighted(subject, lambda n: np.where(np.arange(n) == 3, -1.0, 1.0), "weight")


@weighting
def a_nan_weight(subject):
    return weighted(subject, lambda n: np.where(np.arange(n) == 3, np.nan, 1.0), "weight")


@weighting
def an_infinite_weight(subject):
    return weighted(subject, lambda n: np.where(np.arange(n) == 3, np.inf, 1.0), "weight")


@weighting
def huge_weights(subject):
    return weighted(subject, lambda n: np.full(n, 1e300), EITHER)


@weighting
def tiny_weights(subject):
    return weighted(subject, lambda n: np.full(n, 1e-300), EITHER)


@weighting
def one_huge_weight(subject):
    return weighted(subject, lambda n: np.where(np.arange(n) == 3, 1e12, 1.0), EITHER)


@weighting
def too_few_weights(subject):
    return weighted(subject, lambda n: np.ones(n - 1), "weight")


@weighting
def weights_in_two_dimensions(subject):
    return weighted(subject, lambda n: np.ones((n, 2)), "weight")


@weighting
def weights_of_strings(subject):
    return weighted(subject, lambda n: np.full(n, "heavy"), "weight|string")


@weighting
def weights_of_integers(subject):
    return weighted(subject, lambda n: np.ones(n, dtype=np.int8), SAME)


@weighting
def weights_as_a_list(subject):
    return weighted(subject, lambda n: [1.0] * n, SAME)


@weighting
def weights_as_a_series(subject):
    return weighted(subject, lambda n: pd.Series(np.ones(n), index=np.arange(n)[::-1]), SAME)


@weighting
def read_only_weights(subject):
    def lock(n):
        weight = np.ones(n)
        weight.flags.writeable = False
        return weight

    return weighted(subject, lock, SAME)


# Targets

TARGETS = {}


def target(*kinds):
    def put(function):
        TARGETS[function.__name__] = (kinds, function)
        return function

    return put


def aimed(subject, change, outcome):
    data = subject.rows()
    return Case(data._replace(y=change(data.y)), outcome, data)


@target("class", "number")
def no_target(subject):
    return aimed(subject, lambda y: None, "y")


@target("class", "number")
def too_short_target(subject):
    return aimed(subject, lambda y: y[:-1], "inconsistent|length|samples|y")


@target("class", "number")
def nan_target(subject):
    return aimed(subject, lambda y: np.where(np.arange(len(y)) == 3, np.nan, y), "NaN")


@target("class", "number")
def infinite_target(subject):
    return aimed(subject, lambda y: np.where(np.arange(len(y)) == 3, np.inf, y), "inf|[Uu]nknown label")


@target("class", "number")
def none_in_target(subject):
    def put(y):
        y = y.astype(object)
        y[3] = None
        return y

    return aimed(subject, put, "None|NaN|[Uu]nknown label|float|label")


@target("class", "number")
def complex_target(subject):
    return aimed(subject, lambda y: y + 1j, "[Cc]omplex|[Uu]nknown label")


@target("class", "number")
def three_dimensional_target(subject):
    return aimed(subject, lambda y: np.stack([y, y])[:, :, None].transpose(1, 0, 2), "dim|shape|y")


@target("class", "number")
def target_as_a_series(subject):
    return aimed(subject, lambda y: pd.Series(y, index=np.arange(len(y))[::-1], name="target"), SAME)


@target("class", "number")
def read_only_target(subject):
    def lock(y):
        y = y.copy()
        y.flags.writeable = False
        return y

    return aimed(subject, lock, SAME)


@target("number")
def string_target(subject):
    return aimed(subject, lambda y: np.full(len(y), "high"), "string|numeric|number|convert")


@target("number")
def constant_target(subject):
    return aimed(subject, lambda y: np.full(len(y), 2.0), EITHER)


@target("number")
def huge_target(subject):
    return aimed(subject, lambda y: y * 1e300, EITHER)


@target("number")
def integer_target(subject):
    data = subject.rows()
    y = np.round(10 * data.y)
    return Case(data._replace(y=y.astype(np.int16)), SAME, data._replace(y=y))


@target("class")
def a_single_class(subject):
    return aimed(subject, np.zeros_like, EITHER)


@target("class")
def continuous_labels(subject):
    return aimed(subject, lambda y: y + 0.5 * np.arange(len(y)) / len(y), "[Uu]nknown label|continuous|class")


@target("class")
def a_class_of_one_row(subject):
    return aimed(subject, lambda y: np.where(np.arange(len(y)) == 3, y.max() + 1, y), EITHER)
