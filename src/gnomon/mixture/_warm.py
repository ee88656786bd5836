"""Compile the loops of the family."""

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.mixture.aspect import AspectModel
from gnomon.mixture.categories import CategoricalMixture, MultinomialMixture
from gnomon.mixture.counts import BernoulliMixture, PoissonMixture
from gnomon.mixture.gaussian import GaussianMixture
from gnomon.mixture.incomplete import MissingGaussian


def warm_up(dtypes: Sequence[str]) -> None:
    """Call every loop on a few numbers."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [6.0, 5.0], [5.0, 7.0], [7.0, 6.0]])
    holes = X.copy()
    holes[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for dtype in dtypes:
            for kind in ("full", "tied", "diag", "spherical"):
                model = GaussianMixture(2, covariance_type=kind, max_iter=2, random_state=0)
                model.fit(X.astype(dtype)).predict(X.astype(dtype))
                model.fit(holes.astype(dtype))
            MissingGaussian(max_iter=2).fit(holes.astype(dtype))
            for mixture in (BernoulliMixture, PoissonMixture, MultinomialMixture, CategoricalMixture):
                mixture(2, max_iter=2, random_state=0).fit(X.astype(dtype)).predict(X.astype(dtype))
            AspectModel(2, max_iter=2, random_state=0).fit_transform(X.astype(dtype))
