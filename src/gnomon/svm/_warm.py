"""Compile the loops of support vector machines."""

from collections.abc import Sequence

import numpy as np

from gnomon.svm.classifier import SVC
from gnomon.svm.nu import NuSVC
from gnomon.svm.regressor import SVR


def warm_up(dtypes: Sequence[str]) -> None:
    """Fit every kind of machine to a few numbers, with all of the kernel matrix and with a cache of rows."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [1.0, 1.0], [3.0, 0.0], [0.0, 3.0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    SVC().fit(X, y).predict(X)
    SVC(cache_size=1e-5).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    SVR().fit(X, y)
    NuSVC().fit(X, y)
    for kind in ("crammer_singer", "weston_watkins"):
        SVC(multi_class=kind).fit(X, [0, 1, 2, 0, 1, 2])
