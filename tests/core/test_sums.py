"""Sums over arrays, tables on disk and Dask collections: one answer."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from core.learners import MeanTarget, SlowMean
from gnomon.core.errors import DataError
from gnomon.core.rows import CHUNK_ROWS, MemoryRows
from gnomon.core.sums import merge, per_row, total
from gnomon.core.tables import TableRows, read_ahead, run_lengths
from gnomon.core.threads import threads


class Moments(NamedTuple):
    n: int
    sums: np.ndarray
    nothing: None = None


def moments(chunk, shift):
    return Moments(len(chunk.y), chunk.weight @ (chunk.X - shift))


def rows_of(n, d=3, seed=0, **options):
    rng = np.random.default_rng(seed)
    return MemoryRows(rng.normal(size=(n, d)), rng.normal(size=n), rng.random(n), **options)


def test_total_is_the_sum_over_all_rows():
    rows = rows_of(300_000)
    found = total(moments, rows, np.ones(3))
    assert found.n == 300_000
    np.testing.assert_allclose(found.sums, rows.weight @ (rows.X - 1), rtol=1e-11)


def test_one_thread_equals_many_bit_for_bit():
    rows = rows_of(500_000)
    answers = []
    for n in (1, 2, 5):
        with threads(n):
            answers.append(total(moments, rows, np.zeros(3)).sums)
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])


def test_per_row_keeps_the_order():
    rows = rows_of(300_000)
    first, second = per_row(lambda chunk: (chunk.X[:, 0], np.arange(len(chunk.y)) + chunk.start), rows)
    assert np.array_equal(first, rows.X[:, 0])
    assert np.array_equal(second, np.arange(300_000))


def test_merge_prefers_the_types_own():
    class Largest(NamedTuple):
        value: int

        def merge(self, other):
            return max(self, other)

    assert merge((Largest(2), 1), (Largest(5), 1)) == (Largest(5), 2)


def test_chunks_are_fit_for_compiled_loops():
    X = np.asfortranarray(np.ones((5000, 200)))
    X.flags.writeable = False
    for chunk in MemoryRows(X).chunks():
        assert chunk.X.flags.c_contiguous
        assert chunk.X.flags.writeable
        assert len(chunk.weight) == len(chunk.X)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=12))
@settings(max_examples=50, deadline=None)
def test_chunks_never_cut_a_sequence(lengths):
    n = sum(lengths)
    rows = MemoryRows(np.arange(n, dtype=float)[:, None] @ np.ones((1, 300)), lengths=np.array(lengths))
    chunks = list(rows.chunks())
    assert [int(k) for chunk in chunks for k in chunk.lengths] == lengths
    assert all(chunk.lengths.sum() == len(chunk.X) for chunk in chunks)
    assert np.array_equal(np.concatenate([chunk.X[:, 0] for chunk in chunks]), np.arange(n))


def test_sparse_rows_stay_sparse():
    X = sparse.csr_array(np.random.default_rng(0).random((10_000, 50)).clip(0.95) - 0.95)
    sums = total(lambda chunk: chunk.X.T @ chunk.weight, MemoryRows(X))
    np.testing.assert_allclose(sums, X.sum(axis=0))


def test_few_long_rows_are_cut_where_that_is_asked_for():
    rows = MemoryRows(np.arange(40.0).reshape(10, 4))
    sizes = [len(chunk.X) for chunk in rows.in_chunks_of(3 * 4 * 8, least=2).chunks()]
    assert sizes == [3, 3, 3, 1]
    assert [len(chunk.X) for chunk in rows.in_chunks_of(1, least=4).chunks()] == [4, 4, 2]
    assert [len(chunk.X) for chunk in rows.in_chunks_of(1).chunks()] == [10]


@pytest.fixture
def table(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    rng = np.random.default_rng(1)
    n = 3 * CHUNK_ROWS + 17
    columns = {f"x{j}": rng.normal(size=n) for j in range(150)}
    columns |= {"y": rng.normal(size=n), "w": rng.random(n), "label": rng.choice(["b", "a"], n)}
    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=1000)
    return path, columns


def features(columns):
    return np.column_stack([columns[f"x{j}"] for j in range(150)])


def test_table_equals_memory(table):
    path, columns = table
    rows = TableRows(path, target="y", weight="w", features=[f"x{j}" for j in range(150)])
    memory = MemoryRows(features(columns), columns["y"], columns["w"])
    found, expected = (total(moments, each, np.zeros(150)) for each in (rows, memory))
    assert found.n == expected.n
    np.testing.assert_allclose(found.sums, expected.sums, rtol=1e-10, atol=1e-10)


def test_folder_of_files_is_one_table(table, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    whole = parquet.read_table(table[0])
    folder = tmp_path / "parts"
    folder.mkdir()
    for part in range(3):
        parquet.write_table(whole.slice(part * 1000, 1000 if part < 2 else None), folder / f"{part}.parquet")
    names = [f"x{j}" for j in range(150)]
    a = per_row(lambda chunk: chunk.y, TableRows(folder, target="y", features=names))
    assert np.array_equal(a, table[1]["y"])
    assert isinstance(whole, pa.Table)


def test_fit_from_path_by_column_names(table):
    path, columns = table
    model = MeanTarget()
    with pytest.raises(DataError, match="'label' holds string"):
        model.fit(path, "y")
    with pytest.raises(DataError, match="no column 'yy'. Did you mean 'y'"):
        model.fit(path, "yy")
    with pytest.raises(DataError, match="y is missing"):
        model.fit(path)
    with pytest.raises(DataError, match="names of its columns; got ndarray"):
        model.fit(path, columns["y"])


def test_missing_file_says_so():
    with pytest.raises(DataError, match="no Parquet file"):
        SlowMean().fit("/nowhere/at-all.parquet")


def test_file_that_is_no_parquet_says_so(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"not a table")
    with pytest.raises(DataError, match="not a readable Parquet file"):
        SlowMean().fit(tmp_path / "a.parquet")


def test_nan_in_a_table_names_column_and_row(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    values = np.ones(5000)
    values[4321] = np.nan
    parquet.write_table(pa.table({"good": np.ones(5000), "bad": values}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="nan in column 'bad', row 4321"):
        SlowMean().fit(tmp_path / "t.parquet")


def test_arrow_tables_and_datasets(table):
    import pyarrow.dataset as dataset
    import pyarrow.parquet as parquet

    path, columns = table
    whole = parquet.read_table(path).drop_columns(["label", "w", "y"])
    expected = SlowMean().fit(features(columns)).mean_
    np.testing.assert_allclose(SlowMean().fit(whole).mean_, expected, rtol=1e-10)
    parquet.write_table(whole, path)
    np.testing.assert_allclose(SlowMean().fit(dataset.dataset(path)).mean_, expected, rtol=1e-10)
    np.testing.assert_allclose(SlowMean().fit(path).transform(path).mean(axis=0), 0, atol=1e-3)


def test_sequences_in_a_table_stay_whole(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    lengths = np.random.default_rng(0).integers(1, 900, size=40)
    ids = np.repeat(np.arange(40), lengths)
    path = tmp_path / "s.parquet"
    parquet.write_table(
        pa.table({"x": np.arange(len(ids), dtype=float), "id": ids}), path, row_group_size=700
    )
    rows = TableRows(path, sequence="id")
    chunks = list(rows.chunks())
    assert np.array_equal(np.concatenate([chunk.lengths for chunk in chunks]), lengths)
    assert np.array_equal(np.concatenate([chunk.X[:, 0] for chunk in chunks]), np.arange(len(ids)))


def test_run_lengths():
    assert run_lengths(np.array(["a"])).tolist() == [1]
    assert run_lengths(np.array([1, 1, 0, 1])).tolist() == [2, 1, 1]


def test_read_ahead_passes_items_and_errors():
    assert list(read_ahead(iter(range(100)))) == list(range(100))

    def broken():
        yield 1
        raise OSError("disk on fire")

    stream = read_ahead(broken())
    assert next(stream) == 1
    with pytest.raises(OSError, match="disk on fire"):
        next(stream)


def test_dask_equals_memory():
    da = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).normal(size=(5000, 4))
    w = np.random.default_rng(1).random(5000)
    expected = SlowMean().fit(X, sample_weight=w)
    lazy = da.from_array(X, chunks=(1300, 2))
    found = SlowMean().fit(lazy, sample_weight=da.from_array(w, chunks=900))
    np.testing.assert_allclose(found.mean_, expected.mean_, rtol=1e-10)
    np.testing.assert_allclose(found.transform(lazy), expected.transform(X), rtol=1e-10, atol=1e-10)


def test_dask_frames_by_column_name():
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"a": np.arange(100.0), "y": np.arange(100.0) * 2})
    model = MeanTarget().fit(dd.from_pandas(frame, npartitions=3), "y")
    assert model.mean_ == pytest.approx(99.0)
    assert model.feature_names_in_.tolist() == ["a"]
    same = MeanTarget().fit(
        dd.from_pandas(frame[["a"]], npartitions=3), dd.from_pandas(frame["y"], npartitions=3)
    )
    assert same.mean_ == pytest.approx(99.0)


def sequence_lengths(chunk):
    return np.asarray(chunk.lengths)


def test_dask_refuses_a_sequence_cut_by_a_partition_and_names_the_cure():
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    from gnomon.core.dask_rows import DaskRows

    frame = pd.DataFrame({"a": np.arange(12.0), "day": ["mon"] * 5 + ["tue"] * 3 + ["wed"] * 4})
    cut = dd.from_pandas(frame, npartitions=3, sort=False)
    with pytest.raises(DataError, match="sequence 'mon' lies in partitions 0 and 1"):
        DaskRows(cut, sequence="day")
    with pytest.raises(DataError, match=r"set_index\('day', drop=False, sorted=True\)"):
        DaskRows(cut, sequence="day")
    rows = DaskRows(cut.set_index("day", drop=False, sorted=True), sequence="day")
    assert per_row(sequence_lengths, rows).tolist() == [5, 3, 4]
    assert per_row(lambda chunk: chunk.X[:, 0], rows).tolist() == list(range(12))
    whole = DaskRows(dd.from_pandas(frame[:8], npartitions=1, sort=False), sequence="day")
    assert per_row(sequence_lengths, whole).tolist() == [5, 3]


def test_dask_array_with_a_plain_target_says_so():
    da = pytest.importorskip("dask.array")
    with pytest.raises(DataError, match="y must be a Dask array too"):
        MeanTarget().fit(da.ones((10, 2), chunks=5), np.ones(10))


def test_learner_that_needs_memory_says_so(table):
    class InMemory(SlowMean):
        _reads = SlowMean._reads._replace(scales=False)

    with pytest.raises(DataError, match="needs all rows in memory"):
        InMemory().fit(table[0])
