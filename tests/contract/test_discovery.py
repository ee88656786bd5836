"""Every public package imports, and every public estimator is found and can be made."""

from importlib import import_module

import pytest

from contract.discovery import Subject, estimator_classes, packages
from contract.recipes import RECIPES, Recipe


@pytest.mark.parametrize("package", packages())
def test_package_imports(package):
    module = import_module(f"gnomon.{package}")
    for name in getattr(module, "__all__", ()):
        assert getattr(module, name) is not None


@pytest.mark.parametrize("name", estimator_classes())
def test_estimator_can_be_made(name):
    """With its defaults, or with what its recipe gives."""
    recipe = RECIPES.get(name, Recipe())
    for setting in recipe.settings:
        Subject(estimator_classes()[name], recipe, setting).check()


def test_recipes_are_of_public_estimators():
    assert set(RECIPES) <= set(estimator_classes())
