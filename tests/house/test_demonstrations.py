"""The catalog of demonstrations leads to data, models and pictures that are there."""

from importlib import import_module

import pytest

from gnomon import datasets
from gnomon.datasets import demonstrations


@pytest.mark.parametrize("name", demonstrations().index)
def test_every_demonstration_runs(name):
    row = demonstrations().loc[name]
    assert len(
        eval(
            row["data"],
            vars(import_module("gnomon.datasets")) | {n: getattr(datasets, n) for n in datasets.__all__},
        )
    )
    for place in (row["model"], row["picture"]):
        if place != "-":
            package, thing = place.split(".")
            assert callable(getattr(import_module(f"gnomon.{package}"), thing))


def test_names_are_different():
    assert demonstrations().index.is_unique and len(demonstrations()) > 60
