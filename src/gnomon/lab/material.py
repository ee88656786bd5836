"""What a run learns from: a sample with sliders, points painted on the page, or a table dropped on it."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, NamedTuple

import numpy as np

from gnomon.lab.panels import limits
from gnomon.report.columns import QuestionError

MAX_ROWS = 5_000
MAX_COLUMNS = 200
MAX_PAINTED = 2_000

# argument of a sample: lowest, highest, step
SLIDERS: dict[str, tuple[float, float, float]] = {
    "n": (4, 2000, 1), "noise": (0, 2, 0.01), "seed": (0, 999, 1), "groups": (1, 9, 1), "spread": (0.1, 4, 0.1),
    "distance": (0, 8, 0.1), "outlier": (-20, 20, 0.5), "columns": (2, 30, 1), "missing": (0, 0.8, 0.05),
    "words": (4, 40, 1), "length": (2, 100, 1), "labeled": (2, 100, 1), "repeats": (2, 10, 1), "strength": (0, 2, 0.1),
    "slip": (0, 0.4, 0.01), "heads": (0.01, 0.99, 0.01), "living_reward": (-2, 0.5, 0.01),
}  # fmt: skip
COLUMNS = {  # names of the columns of samples that have some
    "iris": ["petal length", "petal width"],
    "geyser": ["eruption (minutes)", "waiting (minutes)"],
    "stories": [
        "boat",
        "wave",
        "sail",
        "fish",
        "bread",
        "oven",
        "salt",
        "pan",
        "ball",
        "goal",
        "team",
        "fans",
    ],
}
SMALLER = {  # samples whose units are larger than rows
    "throws": 300,
    "journeys": 100, "labeled_sequences": 100, "summed_sequences": 100, "songs": 100, "letters": 100,
    "tagged_sentences": 100, "copies": 64, "bars": 300, "measured_bars": 300, "ring_of_factors": 12, "games": 200,
    "word_counts": 300, "stories": 300, "baskets": 500, "ratings": 1000,
}  # fmt: skip


class RefusedError(QuestionError):
    """What the page asked for is not done; the message says why and what to do instead."""


class Material(NamedTuple):
    """Data as `iterate` is given them, and how they are drawn."""

    given: tuple[Any, ...]
    code: str  # Python lines that end with the names X, y, ... of what is given
    names: list[str]  # of the columns
    target: str = ""  # name of the target
    paint: str | None = None  # "classes", "numbers" or "clouds" where points can be painted
    said: tuple[str, ...] = ()  # what was done with a table

    @property
    def X(self) -> Any:
        """What comes first: rows, sequences, a world."""
        return self.given[0]

    @property
    def y(self) -> Any:
        """The target, or None."""
        return self.given[1] if len(self.given) > 1 else None


def sliders(sample: Any) -> list[dict[str, Any]]:
    """Return the arguments of a sample as sliders."""
    shown = []
    for name, parameter in inspect.signature(sample).parameters.items():
        low, high, step = SLIDERS[name]
        if name == "n":
            high = SMALLER.get(sample.__name__, high)
        shown.append({"name": name, "value": parameter.default, "low": low, "high": high, "step": step})
    return shown


def gather(source: dict[str, Any], offered: tuple[Any, ...]) -> Material:
    """Return the data that a page describes: ``{"sample": name, ...}`` or ``{"points": [[x, y, group], ...]}``.

    >>> from gnomon.lab.sample_rows import moons
    >>> gather({"sample": "moons", "n": 10}, (moons,)).X.shape
    (10, 2)
    """
    if "points" in source:
        return _painted(source["points"], str(source.get("paint")))
    name = source.get("sample") or offered[0].__name__
    known = {sample.__name__: sample for sample in offered}
    sample = known.get(name)
    if sample is None:
        raise RefusedError(
            f"this model does not learn from {str(name)[:60]!r}; it learns from {', '.join(known)}."
        )
    chosen = {
        slider["name"]: _slid(source[slider["name"]], slider)
        for slider in sliders(sample)
        if slider["name"] in source
    }
    given = sample(**chosen)
    told = ", ".join(f"{name}={value}" for name, value in chosen.items())
    left = "X, y" if len(given) > 1 else "X,"
    text = textwrap.dedent(inspect.getsource(sample)).replace(" -> Any:", ":")
    code = f"{text}\n\n{left} = {sample.__name__}({told})"
    return _described(given, code, sample)


def _slid(value: Any, slider: dict[str, Any]) -> Any:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not slider["low"] <= value <= slider["high"]
    ):
        raise RefusedError(
            f"{slider['name']} must lie between {slider['low']} and {slider['high']}; it is {str(value)[:40]}."
        )
    return type(slider["value"])(value)


def _described(given: tuple[Any, ...], code: str, sample: Any = None) -> Material:
    X, y = given[0], given[1] if len(given) > 1 else None
    if not _is_rows(X):
        return Material(given, code, [])
    width, paint = X.shape[1], None
    if width == 2 and y is None:
        paint = "clouds"
    elif (
        width == 2
        and np.asarray(y).dtype.kind in "iub"
        and sample is not None
        and sample.__name__ != "half_labeled"
    ):
        paint = "classes"
    elif width == 1 and y is not None and np.asarray(y).dtype.kind == "f":
        paint = "numbers"
    names = COLUMNS.get(getattr(sample, "__name__", ""), [f"x{j}" for j in range(width)])
    return Material(given, code, names, "y" if y is not None else "", paint)


def _is_rows(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"


def _painted(points: Any, paint: str) -> Material:
    """Return points of the page as data: two columns and a group, or one column and its target."""
    if paint not in ("classes", "numbers", "clouds"):
        raise RefusedError("painted points are of the kind classes, numbers or clouds.")
    if not isinstance(points, list) or not 1 <= len(points) <= MAX_PAINTED:
        raise RefusedError(f"paint between 1 and {MAX_PAINTED} points.")
    try:
        array = np.array(points, dtype=float)
    except (TypeError, ValueError):
        raise RefusedError("every painted point is three numbers: x, y and its group.") from None
    if array.ndim != 2 or array.shape[1] != 3 or not np.isfinite(array).all() or np.abs(array).max() > 1e12:
        raise RefusedError("every painted point is three finite numbers: x, y and its group.")
    if paint == "numbers":
        code = f"import numpy as np\n\nX, y = np.array({_shown(array[:, :2])}).T\nX = X[:, None]"
        return Material((array[:, :1].copy(), array[:, 1].copy()), code, ["x0"], "y", paint)
    if paint == "clouds":
        return Material(
            (array[:, :2].copy(),),
            f"import numpy as np\n\nX = np.array({_shown(array[:, :2])})",
            ["x0", "x1"],
            "",
            paint,
        )
    group = array[:, 2].astype(int)
    if (group < 0).any() or (group > 8).any():
        raise RefusedError("a painted point has a group between 0 and 8.")
    code = f"import numpy as np\n\nX = np.array({_shown(array[:, :2])})\ny = np.array({group.tolist()})"
    return Material((array[:, :2].copy(), group), code, ["x0", "x1"], "y", paint)


def _shown(array: Any) -> str:
    return repr(array.tolist())


def from_table(
    frame: Any, model_name: str, target: str | None, settings: dict[str, Any], file: str
) -> tuple[Any, Material]:
    """Return the model and the data for a table: categories encoded, holes filled, as the command line does it."""
    from gnomon.report.single import prepare

    if frame.height > MAX_ROWS:
        frame = frame.sample(MAX_ROWS, seed=0)
    settings, seed = dict(settings), int(settings.get("random_state", 0) or 0)
    settings.pop("random_state", None)
    job = prepare(model_name, frame, target or None, settings=settings, random_state=seed)
    encoder = job.model.encoder.fit(job.problem.frame)
    X = encoder.transform(job.problem.frame)
    if X.shape[1] > MAX_COLUMNS:
        raise RefusedError(
            f"the table has {X.shape[1]} columns after encoding; the lab draws {MAX_COLUMNS} at most."
        )
    y = job.problem.y
    given = (X,) if y is None else (X, np.asarray(y))
    inner = ", ".join(f"{key!r}: {value!r}" for key, value in settings.items())
    code = (
        "from gnomon.report import read_table\nfrom gnomon.report.single import prepare\n\n"
        f"job = prepare({model_name!r}, read_table({file!r}), {target or None!r},\n"
        f"              settings={{{inner}}}, random_state={seed})\n"
        "X = job.model.encoder.fit(job.problem.frame).transform(job.problem.frame)\n"
        + ("" if y is None else "y = job.problem.y\n")
    )
    names = [str(name) for name in encoder.names()]
    said = tuple(str(line) for line in job.problem.said)
    return job.model.model, Material(given, code.rstrip(), names, target or "", None, said)


class View(NamedTuple):
    """The data as points of a plane: the same for every step of a run."""

    xy: Any  # (n, 2), or None where the data are no points
    axes: tuple[str, str]
    xlim: list[float]
    ylim: list[float]
    flat: bool  # the plane is the space of the features itself


def view(material: Material) -> View | None:
    """Return how rows are drawn: as they are, as x and target, or in the plane of their largest variance."""
    X, y = material.X, material.y
    if not _is_rows(X) or len(X) == 0:
        return None
    X = np.asarray(X, dtype=float)
    if X.shape[1] == 1 and y is not None and np.asarray(y).dtype.kind == "f" and np.ndim(y) == 1:
        xy, axes, flat = np.column_stack([X[:, 0], y]), (material.names[0], material.target), False
    elif X.shape[1] == 1:
        xy, axes, flat = np.column_stack([np.arange(len(X)), X[:, 0]]), ("row", material.names[0]), False
    elif X.shape[1] == 2:
        xy, axes, flat = X, (material.names[0], material.names[1]), True
    else:
        filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X) if np.isnan(X).any() else X
        centered = filled - filled.mean(axis=0)
        _, _, directions = np.linalg.svd(centered, full_matrices=False)
        xy, axes, flat = centered @ directions[:2].T, ("first principal axis", "second principal axis"), False
    return View(xy, axes, limits(xy[:, 0]), limits(xy[:, 1]), flat)
