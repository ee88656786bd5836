"""What every estimator promises: weights repeat rows, order and threads do not matter, files keep all."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import gnomon.core.rows
from compare import assert_agree, assert_same_bits
from contract.discovery import LEARNERS, MATRIX, OF_TRAINING_ROWS, SUBJECTS
from gnomon.core.promises import Promises
from gnomon.core.saving import load, save
from gnomon.core.threads import threads

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

WEIGHTED = [subject for subject in SUBJECTS if subject.takes_weights and subject.promises("weights")]
ORDERED = [subject for subject in SUBJECTS if subject.promises("order")]
THREADED = [subject for subject in SUBJECTS if subject.promises("threads")]
ROUNDING = 1e-6  # the sums are added in another order, and steps carry the difference on


@pytest.fixture
def small_chunks(monkeypatch):
    """Cut even small data into many chunks."""
    monkeypatch.setattr(gnomon.core.rows, "CHUNK_ROWS", 16)
    monkeypatch.setattr(gnomon.core.rows, "CHUNK_BYTES", 16)


def learned(model):
    """The learned attributes."""
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


@pytest.mark.parametrize("subject", WEIGHTED, ids=repr)
def test_weight_two_is_the_row_twice(subject):
    data = subject.data()
    times = np.random.default_rng(1).integers(1, 4, size=len(data.X))
    weighted = subject.fit(data._replace(weight=times.astype(float)))
    copies = np.repeat(np.arange(len(data.X)), times)
    repeated = subject.fit(data.take(copies))
    assert_agree(of_query(subject, weighted, copies), of_query(subject, repeated), rtol=ROUNDING)


@pytest.mark.parametrize("subject", WEIGHTED, ids=repr)
def test_weight_zero_is_no_row(subject):
    data = subject.data()
    counts = np.random.default_rng(1).integers(0, 2, size=len(data.X))
    weighted = subject.fit(data._replace(weight=counts.astype(float)))
    counted = np.flatnonzero(counts)
    without = subject.fit(data.take(counted))
    assert_agree(of_query(subject, weighted, counted), of_query(subject, without), rtol=ROUNDING)


@pytest.mark.parametrize("subject", WEIGHTED, ids=repr)
def test_weights_of_one_are_no_weights(subject):
    data = subject.data()
    weighted = subject.fit(data._replace(weight=np.ones(len(data.X))))
    assert_agree(of_query(subject, weighted), of_query(subject, subject.fit(data)), rtol=1e-9)


def of_query(subject, model, places=slice(None)):
    """The answers on rows that were not learned; on the learned ones in these places where it has no other."""
    query = subject.data(n=20, seed=5)
    said = subject.answers(model, query.X, query.lengths)
    own = {name: values[places] for name, values in said.items() if name in OF_TRAINING_ROWS}
    return {**said, **own, **{name: by_appearance(own[name]) for name in own if name == "labels_"}}


def by_appearance(labels):
    """The same partition, its clusters numbered as they appear."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_what_is_not_promised_has_its_reason(subject):
    assert getattr(subject.make(), "_promises", Promises()).faults() == []


@pytest.mark.parametrize("subject", ORDERED, ids=repr)
def test_order_of_rows_does_not_matter(subject):
    data = subject.data()
    order = np.random.default_rng(2).permutation(len(data.units()))
    shuffled = subject.fit(data.take(order))
    assert_agree(of_query(subject, subject.fit(data), order), of_query(subject, shuffled), rtol=ROUNDING)


@pytest.mark.parametrize("subject", THREADED, ids=repr)
def test_one_thread_equals_many(subject, small_chunks):
    data = subject.data(n=500)
    with threads(1):
        one = subject.fit(data)
        said = subject.answers(one, data.X)
    with threads(4):
        many = subject.fit(data)
        assert_same_bits(learned(one), learned(many), repr(subject))
        assert_same_bits(said, subject.answers(many, data.X), repr(subject))


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_chunks_do_not_matter(subject, monkeypatch):
    data = subject.data(n=500)
    whole = of_query(subject, subject.fit(data))
    monkeypatch.setattr(gnomon.core.rows, "CHUNK_ROWS", 16)
    monkeypatch.setattr(gnomon.core.rows, "CHUNK_BYTES", 16)
    assert_agree(whole, of_query(subject, subject.fit(data)), rtol=ROUNDING)


@pytest.mark.parametrize("subject", MATRIX, ids=repr)
def test_single_precision_agrees_with_double(subject):
    data = subject.data()
    single = data._replace(X=data.X.astype(np.float32))
    double = data._replace(X=single.X.astype(np.float64))
    query = subject.data(n=20, seed=5).X.astype(np.float32)
    rough = subject.answers(subject.fit(single), query)
    exact = subject.answers(subject.fit(double), query.astype(np.float64))
    assert_agree(exact, rough, rtol=1e-3)


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_fit_twice_same_bits(subject):
    data = subject.data()
    model = subject.fit(data)
    first = learned(model)
    assert_same_bits(first, learned(subject.fit(data, model)), repr(subject))
    assert_same_bits(first, learned(subject.fit(data)), repr(subject))


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_fit_forgets_the_earlier_fit(subject):
    model = subject.fit(subject.data(n=45, d=4, seed=9))
    data = subject.data()
    assert_same_bits(learned(subject.fit(data)), learned(subject.fit(data, model)), repr(subject))


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_predicting_twice_gives_the_same_bits(subject):
    data = subject.data()
    model = subject.fit(data)
    assert_same_bits(subject.answers(model, data.X), subject.answers(model, data.X), repr(subject))


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_predicting_one_row_is_predicting_it_among_others(subject):
    data = subject.data()
    model = subject.fit(data)
    if not any(hasattr(model, name) for name in ("predict", "transform", "score_samples")):
        return
    rows, one = data.units()[2], data.take([2])
    alone = subject.answers(model, one.X, one.lengths)
    among = {name: values[rows] for name, values in subject.answers(model, data.X, data.lengths).items()}
    assert_agree(among, alone, rtol=1e-9)


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_saved_and_loaded_says_the_same_bits(subject, tmp_path):
    data, path = subject.data(), tmp_path / "model.gnomon"
    own = () if subject.cls.__module__.startswith("gnomon") else (subject.cls,)
    for model in (subject.make(), subject.fit(data)):
        save(model, path, trusted=own)
        loaded = load(path, trusted=own)
        assert_same_bits(vars(model), vars(loaded), repr(subject))
    assert_same_bits(subject.answers(model, data.X), subject.answers(loaded, data.X), repr(subject))


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_pickled_and_cloned(subject):
    data = subject.data()
    model = subject.fit(data)
    twin = pickle.loads(pickle.dumps(model))
    assert_same_bits(subject.answers(model, data.X), subject.answers(twin, data.X), repr(subject))
    assert learned(clone(model)) == {}
    assert_same_bits(learned(model), learned(subject.fit(data, clone(model))), repr(subject))


class Seen(BaseException):
    """The data of a fit, before the work begins."""


@pytest.mark.parametrize("subject", [one for one in LEARNERS if one.takes_matrix], ids=repr)
def test_no_change_of_the_data_escapes_a_checkpoint(subject, monkeypatch):
    """Data, targets, weights and lengths that differ in one place have another digest."""

    def stop(model, data, **given):
        raise Seen(data.digest())

    def digest(**changes):
        with pytest.raises(Seen) as seen:
            subject.fit(subject.data(n=20)._replace(**changes))
        return seen.value.args[0]

    monkeypatch.setattr(subject.cls, "_learn", stop)
    data = subject.data(n=20)
    digests = [digest(), digest(X=with_another_end(data.X))]
    if isinstance(data.y, np.ndarray):
        digests.append(digest(y=with_another_end(data.y)))
    if subject.takes_weights:
        units = len(data.units())
        digests += [digest(weight=np.linspace(1.0, 2.0, units)), digest(weight=np.linspace(1.0, 3.0, units))]
    if data.lengths is not None:
        digests.append(digest(lengths=[3, len(data.X) - 3]))
    assert digest() == digests[0] and len(set(digests)) == len(digests)


def with_another_end(values):
    """An array with its last entry changed for another that is there."""
    changed = np.array(values, order="C")
    last = changed.reshape(-1)
    others = last[last != last[-1]]
    last[-1] = others[0]
    return changed


FAR = [one for one in WEIGHTED if one.takes_matrix and one.target is not None and one.data().lengths is None]
ROWS_COUNT_AGAIN = (
    "SGD",
    "Perceptron",
    "PassiveAggressive",
    "Pegasos",
    "MLP",
)  # they shuffle rows of weight zero, too


@pytest.mark.parametrize("subject", FAR, ids=repr)
def test_rows_that_do_not_count_may_lie_anywhere(subject):
    data = subject.data(n=40)
    X = np.asarray(data.X)
    if X.dtype.kind != "f" or subject.cls.__name__.startswith(ROWS_COUNT_AGAIN) or (X == np.rint(X)).all():
        pytest.skip("codes cannot lie far away, and orders that are drawn depend on the number of rows")
    ones = np.ones(40)
    near = subject.fit(data._replace(weight=ones))
    far = data._replace(
        X=np.vstack([X, 1e8 * X[:2]]), y=np.append(data.y, data.y[:2]), weight=np.append(ones, [0.0, 0.0])
    )
    assert_agree(subject.answers(subject.fit(far), X), subject.answers(near, X), rtol=1e-5)
