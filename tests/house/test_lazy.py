"""Importing gnomon is cheap, and its names are found when they are asked for."""

import subprocess
import sys

import pytest

import gnomon
from gnomon._lazy import attach

HEAVY = ("numba", "torch", "matplotlib", "sklearn", "scipy", "numpy", "pandas", "polars", "pyarrow", "dask")


def test_import_loads_nothing_heavy():
    code = f"import gnomon, sys; print([m for m in {HEAVY} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_importing_every_subpackage_loads_no_compiler_and_no_pictures():
    code = (
        "import gnomon, sys\n"
        "for name in gnomon._subpackages(): getattr(gnomon, name)\n"
        "print([m for m in ('numba', 'torch', 'matplotlib') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_subpackages_appear_by_existing():
    assert {"core", "datasets", "plot", "loops"} <= set(dir(gnomon))
    assert gnomon.datasets.load_old_faithful().data.shape == (272, 2)


def test_dir_names_what_can_be_had():
    assert {"save", "load", "warm_up", "__version__"} <= set(dir(gnomon))
    assert not [name for name in dir(gnomon) if name.startswith("_") and name != "__version__"]


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(AttributeError, match="no attribute 'datsets'. Did you mean 'datasets'"):
        gnomon.datsets
    with pytest.raises(AttributeError, match="Did you mean 'load_old_faithful'"):
        gnomon.datasets.load_oldfaithful


def test_every_name_of_every_lazy_package_exists():
    from importlib import import_module

    for name in gnomon._subpackages():
        package = import_module(f"gnomon.{name}")
        for public in getattr(package, "__all__", []):
            assert getattr(package, public).__doc__, f"gnomon.{name}.{public} has no docstring"


def test_public_names_and_files_must_differ():
    with pytest.raises(ImportError, match="both a public name and a file"):
        attach("gnomon.nothing", {"trace": "trace"})


def test_names_load_on_first_use_and_stay(tmp_path, monkeypatch):
    package = tmp_path / "lazy_example"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from gnomon._lazy import attach\n"
        "__getattr__, __dir__, __all__ = attach(__name__, {'answer': 'numbers_file'})\n"
    )
    (package / "numbers_file.py").write_text("answer = object()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import lazy_example

    assert "lazy_example.numbers_file" not in sys.modules
    assert lazy_example.answer is lazy_example.answer
    assert "lazy_example.numbers_file" in sys.modules and "answer" in vars(lazy_example)
    assert lazy_example.__all__ == dir(lazy_example) == ["answer"]
