"""Importing the library is cheap: what is heavy comes with its first use."""

import subprocess
import sys

import pytest

from contract.discovery import estimator_classes


def loaded(code):
    """Names of the top-level modules that a fresh process has after running the code."""
    show = "import sys; print(' '.join({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


HEAVY = {"numba", "torch", "matplotlib", "sklearn", "scipy", "numpy", "pandas", "polars", "pyarrow", "dask"}


def test_import_gnomon_is_light():
    assert loaded("import gnomon") & HEAVY == set()


def test_listing_the_public_names_is_light():
    code = "import gnomon; [dir(getattr(gnomon, name)) for name in gnomon.__all__ if name.islower()]"
    assert loaded(code) & {"numba", "torch", "matplotlib"} == set()


@pytest.mark.slow
def test_every_estimator_loads_without_pictures_and_networks():
    modules = sorted({cls.__module__ for cls in estimator_classes().values()})
    code = "import importlib\n" + "\n".join(f"importlib.import_module({name!r})" for name in modules)
    assert loaded(code) & {"torch", "matplotlib", "polars", "dask"} == set()
