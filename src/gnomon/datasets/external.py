"""Large public data: read from a folder that the user has, never fetched; each with a stand-in that is always there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.errors import DataError, nearest
from gnomon.core.frames import import_pandas

SOURCES = {
    "mnist": ("mnist_784.npz", "arrays `images` (70000, 28, 28) and `target`"),
    "movielens": (
        "ratings.csv",
        "lines userId,movieId,rating,timestamp with a header, as MovieLens has them",
    ),
    "news": ("news.npz", "arrays `documents` and `target`"),
    "faces": ("faces.npz", "arrays `images` and `target`"),
    "netflix": ("netflix.csv", "lines user,movie,rating,date with a header"),
    "imagenet": ("imagenet.csv", "lines image,label with a header"),
}


def load_external(name: str, folder: Any = None, *, stand_in: bool = False, random_state: Any = 0) -> Bunch:
    """Read a large public data set from a folder, or return its small stand-in.

    Parameters
    ----------
    name : {"mnist", "movielens", "news", "faces", "netflix", "imagenet"}
    folder : path, optional
        Where the file is. Nothing is ever downloaded.
    stand_in : bool, default=False
        Return data of the same shape and meaning that are part of the library or of scikit-learn.
    random_state : int, RandomState, Generator or None
        For stand-ins that are drawn.

    Examples
    --------
    >>> load_external("mnist", stand_in=True).images.shape
    (1797, 8, 8)
    """
    if name not in SOURCES:
        raise DataError(f"name must be one of {tuple(SOURCES)}; got {name!r}.{nearest(name, SOURCES)}")
    if stand_in:
        return _stand_in(name, random_state)
    file, holds = SOURCES[name]
    path = None if folder is None else Path(folder) / file
    if path is None or not path.is_file():
        raise DataError(
            f"{name!r} is not here: give the folder of a file {file} that holds {holds}, "
            "or take stand_in=True for small data of the same kind."
        )
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as found:
            return Bunch(**{key: found[key] for key in found.files})
    pd = import_pandas()
    return Bunch(frame=pd.read_csv(path))


def _stand_in(name: str, random_state: Any) -> Bunch:
    from gnomon.datasets.simulated import make_images, make_text
    from gnomon.datasets.table_kinds import make_table

    if name == "mnist":
        from sklearn.datasets import load_digits

        digits = load_digits()
        return Bunch(images=digits.images / 16.0, target=digits.target)
    if name in ("movielens", "netflix"):
        return make_table("ratings", 100, random_state=random_state)
    if name == "news":
        return make_text("topics", 100, random_state=random_state)
    return make_images("faces" if name == "faces" else "shapes", 100, random_state=random_state)
