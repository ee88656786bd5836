"""Tables on disk: what is refused before a fit reads them."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gnomon.core.errors import DataError
from gnomon.linear import LinearRegression, LogisticRegression


def test_tables_with_no_weight_missing_labels_or_two_kinds_of_column_are_refused(tmp_path):
    def write(name, **columns):
        pq.write_table(pa.table(columns), tmp_path / name)
        return tmp_path / name

    empty = write("a.parquet", x=[1.0, 2.0], y=[1.0, 2.0], w=[0.0, 0.0])
    with pytest.raises(DataError, match="zero for every row"):
        LinearRegression().fit(empty, "y", sample_weight="w")
    unlabeled = write("b.parquet", x=[1.0, 2.0, 3.0], k=["a", None, "b"])
    with pytest.raises(DataError, match="'k' holds missing labels"):
        LogisticRegression().fit(unlabeled, "k")
    (tmp_path / "two").mkdir()
    write("two/1.parquet", x=[1.0, 2.0, 3.0], y=[1.0, 2.0, 3.0])
    write("two/2.parquet", x=["4", "5", "6"], y=[1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="'x' holds double in .* and string in"):
        LinearRegression().fit(tmp_path / "two", "y")
    write("two/1.parquet", x=pa.array([1.0, 2.0, 3.0], pa.float32()), y=[1.0, 2.0, 3.0])
    write("two/2.parquet", x=[4.0, 5.0, 6.0 + 1e-9], y=[1.0, 2.0, 9.0])
    found = LinearRegression().fit(tmp_path / "two", "y").coef_
    X, y = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0 + 1e-9]], [1.0, 2.0, 3.0, 1.0, 2.0, 9.0]
    assert found == pytest.approx(LinearRegression().fit(X, y).coef_, rel=1e-13)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1.0, None])
def test_weights_of_a_table_are_finite_and_not_negative(tmp_path, wrong):
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0], "w": [1.0, wrong, 2.0]}), file)
    with pytest.raises(DataError, match="weight"):
        LinearRegression().fit(file, "y", sample_weight="w")
