"""The same answer wherever the rows lie: in memory, in Parquet files, in Arrow, on a Dask cluster."""

import os
from pathlib import Path
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from compare import assert_agree, assert_same_bits
from contract.discovery import MATRIX, SUBJECTS
from contract.test_promises import learned
from gnomon.core.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

READS_TABLES = [subject for subject in SUBJECTS if subject.scales]
SCALING = [subject for subject in READS_TABLES if subject.promises("places")]
ELSEWHERE = [subject for subject in READS_TABLES if not subject.promises("places")]
WEIGHTED = [subject for subject in SCALING if subject.takes_weights]
IN_MEMORY = [
    subject
    for subject in MATRIX
    if subject.reads is not None and not subject.scales and subject.promises("places")
]
ROUNDING = 1e-10


def table(subject, weighted=False):
    """The rows as one frame; target, weights and the number of the sequence are columns of it."""
    data = subject.rows(n=2000)
    frame = pd.DataFrame(data.X, columns=[f"x{i}" for i in range(data.X.shape[1])])
    if data.y is not None:
        frame["target"] = data.y
    if weighted:
        frame["weight"] = np.random.default_rng(3).integers(0, 3, size=len(frame)).astype(float)
    if subject.recipe.sequence is not None:
        frame["sequence"] = np.arange(len(frame)) // subject.recipe.sequence
    return frame


def make(subject):
    """A model that stops after a few steps: two places that agree so far agree to the end."""
    limits = {
        name: value for name, value in subject.make().get_params().items() if name in ("max_iter", "n_iter")
    }
    return subject.make(**{name: min(value, 20) for name, value in limits.items() if value is not None})


ROLES = {"target": "y", "weight": "sample_weight", "sequence": "lengths"}


def fit(subject, X, frame):
    """Fit to a table whose columns are named."""
    return make(subject).fit(X, **{ROLES[name]: name for name in frame if name in ROLES})


def in_memory(subject, frame):
    X = frame[[name for name in frame if name.startswith("x")]]
    given = {ROLES[name]: frame[name] for name in frame if name in ROLES}
    if "lengths" in given:
        given["lengths"] = np.bincount(given["lengths"])
    return make(subject).fit(X, **given)


def said(subject, model):
    query = subject.rows(n=50, seed=5).X
    return subject.answers(model, pd.DataFrame(query, columns=[f"x{i}" for i in range(query.shape[1])]))


def assert_same_model(subject, frame, model):
    assert_agree(said(subject, in_memory(subject, frame)), said(subject, model), rtol=ROUNDING)


@pytest.mark.parametrize("subject", SCALING, ids=repr)
def test_parquet_file(subject, tmp_path):
    frame, path = table(subject), tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=300)
    assert_same_model(subject, frame, fit(subject, str(path), frame))


@pytest.mark.parametrize("subject", SCALING, ids=repr)
def test_parquet_folder(subject, tmp_path):
    frame = table(subject)
    for i, rows in enumerate(np.array_split(np.arange(len(frame)), 5)):
        pq.write_table(pa.Table.from_pandas(frame.iloc[rows]), tmp_path / f"part-{i}.parquet")
    assert_same_model(subject, frame, fit(subject, tmp_path, frame))


@pytest.mark.parametrize("subject", ELSEWHERE, ids=repr)
def test_what_is_not_exact_elsewhere_still_answers(subject, tmp_path):
    frame, path = table(subject), tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=300)
    here, there = said(subject, in_memory(subject, frame)), said(subject, fit(subject, str(path), frame))
    for name in here:
        assert np.isfinite(there[name]).all() and there[name].shape == here[name].shape


@pytest.mark.parametrize("subject", WEIGHTED, ids=repr)
def test_parquet_with_weights(subject, tmp_path):
    frame, path = table(subject, weighted=True), tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=300)
    assert_same_model(subject, frame, fit(subject, path, frame))


@pytest.mark.parametrize("subject", SCALING, ids=repr)
def test_arrow_dataset(subject, tmp_path):
    frame = table(subject)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "rows.parquet", row_group_size=300)
    assert_same_model(subject, frame, fit(subject, pyarrow.dataset.dataset(tmp_path), frame))


@pytest.mark.parametrize("subject", SCALING, ids=repr)
def test_predicting_from_a_file(subject, tmp_path):
    frame, path = table(subject), tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=300)
    model = in_memory(subject, frame)
    X = frame[[name for name in frame if name.startswith("x")]]
    runs = (np.bincount(frame["sequence"]), "sequence") if "sequence" in frame else (None, None)
    here, there = subject.answers(model, X, runs[0]), subject.answers(model, path, runs[1])
    assert_agree(here, there, rtol=ROUNDING)


@pytest.mark.parametrize("subject", IN_MEMORY, ids=repr)
def test_needs_memory_and_says_so(subject, tmp_path):
    frame, path = table(subject), tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path)
    with pytest.raises(DataError, match="in memory"):
        fit(subject, path, frame)


# Dask


@pytest.mark.dask
@pytest.mark.parametrize("subject", [one for one in SCALING if one.recipe.sequence is None], ids=repr)
def test_dask_array(subject, client):
    import dask.array as da

    data = subject.rows(n=2000)
    X = da.from_array(data.X, chunks=(300, 2))
    given = () if data.y is None else (da.from_array(data.y, chunks=450),)
    query = subject.rows(n=50, seed=5).X
    here, there = subject.fit(data, make(subject)), make(subject).fit(X, *given)
    assert_agree(subject.answers(here, query), subject.answers(there, query), rtol=ROUNDING)


@pytest.mark.dask
@pytest.mark.parametrize("subject", SCALING, ids=repr)
def test_dask_frame(subject, client):
    import dask.dataframe as dd

    frame = table(subject, weighted=subject.takes_weights)
    assert_same_model(subject, frame, fit(subject, dd.from_pandas(frame, npartitions=4), frame))


def dies_once(block, flag, after):
    """A block that kills the worker which reads it, once, when blocks were read `after` times."""
    folder = Path(flag)
    (folder / uuid4().hex).touch()
    if len(list(folder.iterdir())) > after:
        try:
            (folder / "died").touch(exist_ok=False)
        except FileExistsError:
            return block
        os._exit(1)
    return block


@pytest.mark.dask
@pytest.mark.parametrize("name, after", [("SlowMean", 6), ("KMeans", 5), ("LinearRegression", 2)])
def test_a_killed_worker_changes_nothing(name, after, client, tmp_path):
    import dask.array as da

    subject = next(subject for subject in SCALING if subject.cls.__name__ == name)
    data = subject.rows(n=1000)
    X = da.from_array(data.X, chunks=(500, data.X.shape[1]))
    fragile = X.map_blocks(dies_once, flag=str(tmp_path), after=after, dtype=X.dtype, meta=np.empty((0, 0)))
    given = () if data.y is None else (da.from_array(data.y, chunks=500),)
    undisturbed, disturbed = subject.make().fit(X, *given), subject.make().fit(fragile, *given)
    assert (tmp_path / "died").exists()
    assert_same_bits(learned(undisturbed), learned(disturbed), name)
