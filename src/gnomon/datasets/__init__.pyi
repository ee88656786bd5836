# Written by scripts/stubs from the package's `attach` call; do not edit.
from .classes import make_pattern as make_pattern
from .mixtures import make_mixture as make_mixture
from .real import load_earthquakes as load_earthquakes
from .real import load_old_faithful as load_old_faithful
from .regression import make_omitted_variable as make_omitted_variable
from .regression import make_polynomial_curve as make_polynomial_curve
from .regression import make_sparse_regression as make_sparse_regression

__all__ = ["load_earthquakes", "load_old_faithful", "make_mixture", "make_omitted_variable", "make_pattern", "make_polynomial_curve", "make_sparse_regression"]
