"""Rules for constructor arguments: scikit-learn's own, and the same in short where they have moved.

scikit-learn keeps its rules in a private module. This is the one file that imports it; everybody else imports from
here, so that a release that moves it breaks neither an import nor a fit.
"""

from __future__ import annotations

try:
    from sklearn.utils._param_validation import (
        HasMethods,
        Hidden,
        Interval,
        InvalidParameterError,
        Options,
        RealNotInt,
        StrOptions,
        validate_parameter_constraints,
    )
except ImportError:  # pragma: no cover - tested by hiding the module
    from gnomon.core._own_parameters import (  # type: ignore[assignment]
        HasMethods,
        Hidden,
        Interval,
        InvalidParameterError,
        Options,
        RealNotInt,
        StrOptions,
        validate_parameter_constraints,
    )

__all__ = [
    "HasMethods",
    "Hidden",
    "Interval",
    "InvalidParameterError",
    "Options",
    "RealNotInt",
    "StrOptions",
    "validate_parameter_constraints",
]
