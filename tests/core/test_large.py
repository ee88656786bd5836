"""Large matrices are looked at chunk by chunk, and nothing bad gets through for that."""

import numpy as np
import pytest

from gnomon.cluster import KMeans
from gnomon.core.rows import MemoryRows
from gnomon.core.sums import total
from gnomon.linear import LinearRegression, LogisticRegression, Ridge

SHAPE = (2**17 + 5, 8)  # more entries than are looked through at the door


@pytest.fixture(scope="module")
def clean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=SHAPE)
    return X, (X[:, 0] > 0).astype(int)


MODELS = [LinearRegression(), Ridge(), KMeans(3, n_init=1), LogisticRegression()]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (-1, -1), (SHAPE[0] // 2, 3)], ids=["first", "last", "middle"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_bad_entry_anywhere_is_refused_and_nothing_is_learned(model, place, bad, clean):
    X, y = clean[0].copy(), clean[1]
    X[place] = bad
    with pytest.raises(ValueError, match="Input X contains"):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bad_entry_at_predict_is_refused(dtype, clean):
    X, y = clean[0].astype(dtype), clean[1]
    model = Ridge().fit(X, y)
    X[-1, -1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.predict(X)


def test_entries_whose_sum_overflows_are_finite():
    X = np.full(SHAPE, 1e308)
    seen = []
    rows = MemoryRows(X, check=seen.append)
    assert total(count_rows, rows) == SHAPE[0]
    assert len(seen) > 1  # asked for a closer look, which found nothing


def test_a_matrix_is_looked_at_once(clean):
    looked = []
    rows = MemoryRows(np.full(SHAPE, np.nan), check=lambda X: looked.append(len(X)))
    total(count_rows, rows)
    assert sum(looked) == SHAPE[0]
    total(count_rows, rows)
    _ = rows.X
    assert sum(looked) == SHAPE[0]


def test_whoever_asks_for_the_matrix_has_it_looked_through():
    looked = []
    rows = MemoryRows(np.full(SHAPE, np.nan), check=lambda X: looked.append(len(X)))
    assert rows.X.shape == SHAPE
    assert looked == [SHAPE[0]]


def count_rows(chunk):
    return len(chunk.X)
