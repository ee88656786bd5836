"""Equal plans, layers that are none, and what a table on disk cannot be learned by."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from gnomon.core.errors import DataError
from gnomon.neural import MLPClassifier, MLPRegressor, layers
from gnomon.neural.autoencoders import refuse_huge
from gnomon.neural.network import Network


def test_plans_are_equal_where_their_parts_are():
    plan = Network([layers.Dense(3)], (4,))
    assert plan == Network([layers.Dense(3)], (4,))
    assert hash(plan) == hash(Network([layers.Dense(3)], (4,)))
    named = Network([layers.Dense(3)], (4,), name="b")
    for other in (Network([layers.Dense(2)], (4,)), Network([layers.Dense(3)], (5,)), named, 3):
        assert plan != other
    assert len(plan) == 1 and plan.shapes() == [(3,)]


class OnlyShape:
    kind = "shape"

    def shape(self, before):
        return before


class OnlyCost:
    kind = "cost"

    def cost(self, before):
        return 0, 0, 0


@pytest.mark.parametrize("layer", [OnlyShape(), OnlyCost(), 3])
def test_half_a_layer_is_none(layer):
    with pytest.raises(TypeError, match="is no layer"):
        Network([layer], (4,))


@pytest.mark.parametrize(
    "model",
    [
        MLPClassifier(solver="lbfgs"),
        MLPClassifier(early_stopping=True),
        MLPClassifier(class_weight="balanced"),
        MLPRegressor(solver="lbfgs"),
        MLPRegressor(early_stopping=True),
    ],
    ids=str,
)
def test_what_needs_all_rows_at_once_needs_them_in_memory(model, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=20), "b": rng.normal(size=20), "y": np.arange(20) % 2})
    table.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="read part by part"):
        model.fit(tmp_path / "rows.parquet", "y")


def test_entries_are_refused_before_their_squares_overflow():
    import torch

    edge = 1e-2 * np.sqrt(np.finfo(np.float32).max)
    refuse_huge(np.full((3, 1), 0.99 * edge), torch.float32)
    refuse_huge(np.full((3, 4), 0.49 * edge), torch.float32)
    refuse_huge(np.zeros((0, 2)), torch.float32)
    for X in (np.full((3, 1), -1.01 * edge), np.full((3, 4), 0.51 * edge)):
        with pytest.raises(DataError, match="squares overflow"):
            refuse_huge(X, torch.float32)
    refuse_huge(np.full((3, 4), 0.51 * edge), torch.float64)


def test_one_more_pass_over_rows_on_disk_is_one_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).to_parquet(tmp_path / "rows.parquet")
    options = dict(
        hidden_layer_sizes=(3,), solver="sgd", batch_size=40, shuffle=False, max_iter=1, random_state=0
    )
    with pytest.warns(Warning):
        memory = MLPClassifier(**options).fit(X, y)
    with pytest.warns(Warning):
        disk = MLPClassifier(**options).fit(tmp_path / "rows.parquet", "y")
    for a, b in zip(memory.coefs_, disk.coefs_, strict=True):
        assert_allclose(a, b, rtol=1e-9)
