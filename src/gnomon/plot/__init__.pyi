# Written by scripts/stubs from the package's `attach` call; do not edit.
from .bayes import bars as bars
from .bayes import class_densities as class_densities
from .bayes import projected_classes as projected_classes
from .bayes import simplex as simplex
from .curves import path as path
from .curves import trace as trace
from .fits import fit_line as fit_line
from .fits import predictive_band as predictive_band
from .frames import animate as animate
from .regions import decision_regions as decision_regions
from .regions import ellipses as ellipses
from .tables import heat_map as heat_map

__all__ = ["animate", "bars", "class_densities", "decision_regions", "ellipses", "fit_line", "heat_map", "path", "predictive_band", "projected_classes", "simplex", "trace"]
