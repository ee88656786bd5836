"""Every public package imports, and every public estimator is found and can be made."""

from importlib import import_module

import pytest

from contract.discovery import estimator_classes, packages
from contract.recipes import RECIPES


@pytest.mark.parametrize("package", packages())
def test_package_imports(package):
    module = import_module(f"gnomon.{package}")
    for name in getattr(module, "__all__", ()):
        assert getattr(module, name) is not None


def test_recipes_are_of_public_estimators():
    assert set(RECIPES) <= set(estimator_classes())
