"""Columns of numbers as states: which are found, how many may be, and which rows tell of them."""

import numpy as np
import pandas as pd
import pytest

from gnomon.core.errors import DataError
from gnomon.graphical import BayesianNetwork


@pytest.fixture(params=["memory", "table", "dask"])
def stored(request, tmp_path):
    """A function that puts a frame where its rows are read from."""

    def put(frame):
        if request.param == "memory":
            return frame
        if request.param == "dask":
            return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)
        frame.to_parquet(tmp_path / "frame.parquet", row_group_size=400)
        return str(tmp_path / "frame.parquet")

    return put


def test_a_thousand_numbers_are_states_and_one_more_are_too_many(stored):
    fine = pd.DataFrame({"a": np.arange(1000.0), "b": np.arange(1000.0) % 2})
    model = BayesianNetwork(nodes=["a", "b"]).fit(stored(fine))
    assert model.states_["a"] == list(range(1000)) and model.states_["b"] == [0, 1]
    more = pd.DataFrame({"a": np.arange(1001.0), "b": np.arange(1001.0) % 2})
    with pytest.raises(DataError, match="column 'a' of X has 1001 different values; at most 1000"):
        BayesianNetwork(nodes=["a", "b"]).fit(stored(more))


def test_rows_of_weight_zero_add_no_states(stored):
    frame = pd.DataFrame({"a": [0.0, 1.0, 0.0, 7.0], "b": [2.5, 3.0, np.nan, 2.5], "w": [1.0, 2.0, 1.0, 0.0]})
    X = stored(frame)
    weight = frame.pop("w") if X is frame else "w"
    model = BayesianNetwork([("a", "b")]).fit(X, sample_weight=weight)
    assert model.states_ == {"a": [0, 1], "b": [2.5, 3]}
    np.testing.assert_allclose(model.tables_["a"], [0.5, 0.5])
