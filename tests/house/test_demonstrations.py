"""The catalog of demonstrations leads to data, models and pictures that are there."""

from importlib import import_module
from operator import attrgetter

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
            package, thing = place.split(".", 1)
            assert callable(attrgetter(thing)(import_module(f"gnomon.{package}")))


def test_names_are_different():
    assert demonstrations().index.is_unique and len(demonstrations()) > 60
