"""Real data sets, small enough to travel with the package."""

from __future__ import annotations

from importlib import resources

import numpy as np
from sklearn.utils import Bunch


def _read(name: str) -> np.ndarray:
    """Return the numbers of a CSV file of this package, without its header."""
    with (resources.files(__package__) / "data" / name).open(encoding="utf-8") as stream:
        return np.loadtxt(stream, delimiter=",", skiprows=1)


def load_old_faithful() -> Bunch:
    """Load 272 eruptions of the Old Faithful geyser: how long each lasted, and the wait for the next one.

    The two columns rise together (a first regression) and fall in two clumps (a first clustering): short
    eruptions are followed by short waits, long ones by long waits.

    Returns
    -------
    Bunch
        ``data`` (272, 2) in minutes, ``feature_names`` ("eruptions", "waiting") and ``DESCR``.

    Examples
    --------
    >>> faithful = load_old_faithful()
    >>> faithful.data[:2]
    array([[ 3.6, 79. ],
           [ 1.8, 54. ]])
    >>> dict(zip(faithful.feature_names, faithful.data.mean(axis=0).round(3).tolist()))
    {'eruptions': 3.488, 'waiting': 70.897}
    """
    return Bunch(
        data=_read("old_faithful.csv"),
        feature_names=["eruptions", "waiting"],
        DESCR="Eruptions of the Old Faithful geyser, Yellowstone: how long, and the wait for the next, in "
        "minutes. 272 rows in the order they were observed (Härdle, Smoothing Techniques, 1991).",
    )


def load_earthquakes() -> Bunch:
    """Load the number of major earthquakes (magnitude 7 and more) in the world, every year from 1900 to 2006.

    The counts vary more than a Poisson variable may (variance 51 against mean 19), and quiet and busy
    years come in runs: data for mixtures and hidden Markov models.

    Returns
    -------
    Bunch
        ``data`` (107, 1) counts, ``years`` (107,), ``feature_names`` ("count",) and ``DESCR``.

    Examples
    --------
    >>> quakes = load_earthquakes()
    >>> quakes.years[quakes.data[:, 0].argmax()], quakes.data.max()
    (np.int64(1943), np.int64(41))
    """
    years, counts = _read("earthquakes.csv").astype(np.int64).T
    return Bunch(
        data=counts[:, None],
        years=years,
        feature_names=["count"],
        DESCR="Earthquakes of magnitude 7 and more per year, worldwide, 1900-2006 (U.S. Geological Survey).",
    )
