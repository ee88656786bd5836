"""Face detection with boosted rectangles: stages that each reject most windows and keep nearly all faces."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.core.parameters import Interval
from gnomon.core.promises import Promises
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner, Report
from gnomon.core.threads import in_order
from gnomon.core.validate import COUNT, encode
from gnomon.ensemble.rectangles import HaarFeatures, prepare_patches
from gnomon.loops.rectangles import code_values, rectangle_values
from gnomon.loops.stumps import coded_stumps

Array = np.ndarray
BLOCK = 2000  # features evaluated at a time


class Stage(NamedTuple):
    """A boosted committee of rectangle stumps: value <= threshold votes `left`, else `-left`."""

    boxes: Array  # (rounds, 4, 5) the rectangles of every round
    thresholds: Array
    lefts: Array
    alphas: Array
    limit: float  # windows whose score is lower are rejected

    def scores(self, values: Array) -> Array:
        """Return the score of patches from the values of the stage's features, (n, rounds)."""
        sides = np.where(values <= self.thresholds, self.lefts, -self.lefts)
        return sides @ self.alphas


class _Boosting:
    """AdaBoost on coded rectangle features of one set of patches."""

    def __init__(self, haar: HaarFeatures, patches: Array, y: Array) -> None:
        self.haar, self.y = haar, y
        self.integrals, self.scale = prepare_patches(patches, haar.window)
        n, F = len(y), haar.n_features_
        self.codes = np.empty((F, n), dtype=np.uint8)
        self.low, self.step = np.empty(F), np.empty(F)
        self.blocks = [(f, min(f + BLOCK, F)) for f in range(0, F, BLOCK)]
        list(in_order(self._code, self.blocks))
        positive = y > 0
        self.w = np.where(positive, 0.5 / positive.sum(), 0.5 / (~positive).sum())
        self.rounds: list[tuple[int, float, float, float]] = []
        self.values: list[Array] = []

    def _code(self, block: tuple[int, int]) -> None:
        a, b = block
        values = np.empty((b - a, len(self.y)))
        rectangle_values(self.integrals, self.haar.boxes_, self.scale, a, b, values)
        code_values(values, self.low[a:b], self.step[a:b], self.codes[a:b])

    def add(self) -> None:
        """One round: the best stump over all features, then new weights."""
        signed = self.w * self.y
        best, place = np.empty(len(self.codes)), np.empty(len(self.codes), np.int64)
        total = float(signed.sum())
        list(in_order(lambda b: coded_stumps(self.codes, signed, total, *b, 1e-12, best, place), self.blocks))
        f = int(best.argmax())
        threshold = self.low[f] + self.step[f] * (place[f] + 1)
        value = np.empty((1, len(self.y)))
        rectangle_values(self.integrals, self.haar.boxes_, self.scale, f, f + 1, value)
        left = self.codes[f] <= place[f]
        sign = 1.0 if signed[left].sum() >= signed[~left].sum() else -1.0
        guess = np.where(value[0] <= threshold, sign, -sign)
        error = float(np.clip(self.w[guess != self.y].sum(), 1e-10, 1.0))
        if error >= 0.5 - 1e-12:
            raise DegenerateError("no rectangle tells the patches apart better than chance.")
        alpha = 0.5 * np.log((1 - error) / error)
        self.w = self.w * np.exp(-alpha * self.y * guess)
        self.w /= self.w.sum()
        self.rounds.append((f, threshold, sign, alpha))
        self.values.append(value[0])

    def stage(self, limit: float) -> Stage:
        f, t, s, a = (np.array(column) for column in zip(*self.rounds))
        return Stage(self.haar.boxes_[f.astype(np.int64)], t, s, a, limit)

    def scores(self) -> Array:
        return self.stage(0.0).scores(np.stack(self.values, axis=1))


class Patches(Data):
    """Square patches in two classes, and images without an object to take more negatives from."""

    def __init__(self, X: Array, y: Array, classes: Array, backgrounds: list[Array]) -> None:
        self.X, self.y, self.classes, self.backgrounds = X, y, classes, backgrounds

    def facts(self) -> dict[str, Any]:
        """Return the classes and the number of pixels."""
        return {"classes_": self.classes, "n_features_in_": int(np.prod(self.X.shape[1:]))}

    def digest(self) -> str:
        """Return a name for patches, labels and backgrounds."""
        return digest_of(self.X, self.y, self.classes, self.backgrounds)

    def __len__(self) -> int:
        return len(self.X)

    def take(self, units: Any) -> Patches:
        """Return some of the patches."""
        return Patches(self.X[units], self.y[units], self.classes, self.backgrounds)


class _Work(NamedTuple):
    """What every stage is trained from."""

    haar: HaarFeatures
    faces: Array
    negatives: Array
    backgrounds: list[Array]


class Cascade(NamedTuple):
    """The stages trained so far, and the negatives that still pass them."""

    stages: tuple[Stage, ...]
    rates: Array  # (stages, 2)
    negatives: Array
    seed: int

    def passed(self) -> float:
        """Return the share of negatives that pass every stage."""
        return float(np.prod(self.rates[:, 1]))


class CascadeClassifier(ClassifierMixin, Learner):  # type: ignore[misc]
    r"""An attentional cascade of boosted rectangle features.

    Every stage adds boosted stumps until it keeps `stage_detection` of the positive patches while passing at
    most `stage_false_positive` of the negatives that are left; rejected negatives are dropped. Overall rates
    are products of the stage rates: ten stages at .99 and .30 keep .904 and pass :math:`5.9 \cdot 10^{-6}`.

    Parameters
    ----------
    window : int, default=24
        Side of the patches.
    stage_detection, stage_false_positive : float
        Goals of every stage.
    target_false_positive : float, default=1e-5
        Stop when the product of the stage rates is below.
    max_stages, max_rounds : int
        At most so many stages, and boosted rounds in each.
    kinds : tuple of str
        Kinds of rectangle features.
    random_state : int, Generator or None
        Draws windows when negatives are mined from background images.

    Attributes
    ----------
    classes_ : array of two labels
        The second one is the object.
    stages_ : list of Stage
    stage_rates_ : array of shape (stages, 2)
        Detection and false-positive rate of every stage on the patches it was trained on; the trace has them
        as columns.

    Examples
    --------
    >>> from gnomon.datasets import make_face_patches
    >>> X, y = make_face_patches(200, window=12, random_state=0)
    >>> model = CascadeClassifier(window=12, max_stages=2).fit(X, y)
    >>> bool((model.predict(X) == y).mean() > 0.9)
    True
    """

    _unit: ClassVar[str] = "stage"
    _stop: ClassVar[str] = "self"
    _promises: ClassVar[Promises] = Promises(order="statistical: sums over patches are added in their order")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "window": [Interval(Integral, 2, None, closed="left")],
        "stage_detection": [Interval(Real, 0, 1, closed="right")],
        "stage_false_positive": [Interval(Real, 0, 1, closed="neither")],
        "target_false_positive": [Interval(Real, 0, 1, closed="left")],
        "max_stages": [COUNT],
        "max_rounds": [COUNT],
        "kinds": [tuple, list],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        window: int = 24,
        stage_detection: float = 0.99,
        stage_false_positive: float = 0.3,
        target_false_positive: float = 1e-5,
        max_stages: int = 20,
        max_rounds: int = 50,
        kinds: tuple[str, ...] = ("2h", "2v", "3h", "3v", "4"),
        random_state: Any = None,
    ) -> None:
        self.window, self.kinds = window, kinds
        self.stage_detection, self.stage_false_positive = stage_detection, stage_false_positive
        self.target_false_positive = target_false_positive
        self.max_stages, self.max_rounds, self.random_state = max_stages, max_rounds, random_state

    def fit(self, X: Any, y: Any, backgrounds: Any = ()) -> Self:
        """Train on patches.

        Parameters
        ----------
        X : array of shape (n, window, window) or (n, window * window)
            The patches.
        y : array of two labels
            The larger one (1, say) marks the object.
        backgrounds : list of images
            Pictures without the object: rejected negatives are replaced by windows of them that still pass.
        """
        return self._learn(self._read_patches(X, y, backgrounds), X=X, y=y)

    def iterate(self, X: Any, y: Any, backgrounds: Any = ()) -> Iterator[Self]:
        """Yield the fitted cascade before the first stage and after every one."""
        yield from self._iterate(self._read_patches(X, y, backgrounds))

    def _read_patches(self, X: Any, y: Any, backgrounds: Any) -> Patches:
        check_parameters(self)
        patches = self._patches(X)
        classes, codes = encode(y)
        if len(codes) != len(patches):
            raise DataError(f"there are {len(patches)} patches and {len(codes)} labels; they must agree.")
        if len(classes) != 2 or (codes == 0).sum() < 2:
            raise DataError(
                f"y must have two classes and two negatives at least; got the classes {classes.tolist()}."
            )
        return Patches(patches, codes, classes, [np.asarray(b, dtype=np.float64) for b in backgrounds])

    def _patches(self, X: Any) -> Array:
        try:
            patches = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError("X must be an array of patches of numbers, all of one size.") from error
        side = self.window
        if patches.ndim == 2 and patches.shape[1] == side * side:
            patches = patches.reshape(len(patches), side, side)
        if patches.ndim != 3 or patches.shape[1:] != (side, side):
            raise DataError(
                f"X must be patches of {side} x {side} pixels (window); its shape is {patches.shape}."
            )
        if not np.isfinite(patches).all():
            raise DataError("X has NaN or infinity in some patch; mend or drop those patches.")
        return patches

    def _limit(self) -> int:
        return int(self.max_stages)

    def _prepare(self, data: Patches) -> _Work:
        negatives = data.X[data.y == 0]
        return _Work(
            HaarFeatures(self.window, tuple(self.kinds)), data.X[data.y == 1], negatives, data.backgrounds
        )

    def _start(self, work: _Work, rng: Any) -> Cascade:
        return Cascade((), np.empty((0, 2)), work.negatives, draw_seed(rng))

    def _step(self, work: _Work, state: Cascade) -> tuple[Cascade, Report]:
        stage, rate = self._train_stage(work, state.negatives)
        stages, rates = (*state.stages, stage), np.vstack([state.rates, rate])
        keep = stage_scores(stage, state.negatives) >= stage.limit
        rng = stream(state.seed, len(stages))
        mined = self._mine(stages, work.backgrounds, len(work.negatives) - int(keep.sum()), rng)
        after = Cascade(stages, rates, np.concatenate([state.negatives[keep], mined]), state.seed)
        done = after.passed() <= self.target_false_positive or len(after.negatives) < 2
        told = {"detection": rate[0], "false_positive": rate[1]}
        return after, Report(after.passed(), done=done, info=told)

    def _attributes(self, state: Cascade) -> dict[str, Any]:
        return {"stages_": list(state.stages), "stage_rates_": state.rates}

    def _train_stage(self, work: _Work, negatives: Array) -> tuple[Stage, tuple[float, float]]:
        y = np.repeat([1.0, -1.0], [len(work.faces), len(negatives)])
        boosting = _Boosting(work.haar, np.concatenate([work.faces, negatives]), y)
        for _ in range(self.max_rounds):
            boosting.add()
            scores = boosting.scores()
            limit = self._threshold(np.sort(scores[y > 0]))
            rate = float(np.mean(scores[y < 0] >= limit))
            if rate <= self.stage_false_positive:
                break
        detected = float(np.mean(scores[y > 0] >= limit))
        return boosting.stage(limit), (detected, rate)

    def _threshold(self, sorted_scores: Array) -> float:
        """Return the largest score that keeps the asked share of the positives."""
        lost = int(np.floor((1 - self.stage_detection) * len(sorted_scores) + 1e-9))
        return float(min(sorted_scores[min(lost, len(sorted_scores) - 1)], 0.0)) - 1e-12

    def _mine(self, stages: tuple[Stage, ...], backgrounds: list[Array], wanted: int, rng: Any) -> Array:
        """Return windows of the backgrounds that pass every stage, as many as are wanted and found."""
        found: list[Array] = []
        for image in backgrounds:
            size = min(image.shape) - self.window
            for _ in range(200 if size >= 0 and wanted > 0 else 0):
                top, left = (int(rng.integers(0, side - self.window + 1)) for side in image.shape)
                found.append(image[top : top + self.window, left : left + self.window])
        if not found:
            return np.zeros((0, self.window, self.window))
        patches = np.stack(found)
        return patches[survivors(stages, patches)[-1]][:wanted]

    def survivors(self, X: Any) -> Array:
        """Return which patches pass each prefix of the cascade, (stages, n); later rows are subsets."""
        check_is_fitted(self, "stages_")
        return survivors(self.stages_, self._patches(X))

    def predict(self, X: Any) -> Array:
        """Return the label of the object for patches that pass every stage, else the other label."""
        alive = self.survivors(X)
        passed = alive[-1] if len(alive) else np.ones(alive.shape[1], dtype=bool)
        return self.classes_[passed.astype(int)]

    def _check_loaded(self) -> None:
        if len(getattr(self, "classes_", (0, 1))) != 2:
            raise ModelFileError("the cascade parts two classes and has another number of them.")
        for stage in getattr(self, "stages_", []):
            rounds, boxes = len(stage.thresholds), np.asarray(stage.boxes)
            ends = boxes[..., :2] + boxes[..., 2:4] if boxes.ndim == 3 else np.zeros(0)
            sound = (
                boxes.shape == (rounds, 4, 5)
                and np.shape(stage.lefts) == np.shape(stage.alphas) == (rounds,)
                and (boxes[..., :4] >= 0).all()
                and (ends <= self.window).all()
            )
            if not sound:
                raise ModelFileError("a stage of the cascade has rectangles outside of its window.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        tags.classifier_tags.multi_class = False
        return tags


def stage_scores(stage: Stage, patches: Array) -> Array:
    """Return the score that a stage gives every patch."""
    integrals, scale = prepare_patches(patches, patches.shape[1])
    values = np.empty((len(stage.boxes), len(patches)))
    rectangle_values(integrals, stage.boxes, scale, 0, len(stage.boxes), values)
    return stage.scores(values.T)


def survivors(stages: Any, patches: Array) -> Array:
    """Return which patches pass each prefix of the stages, (stages, n)."""
    alive = np.ones(len(patches), dtype=bool)
    rows = np.empty((len(stages), len(patches)), dtype=bool)
    for row, stage in zip(rows, stages, strict=True):
        alive = alive & (stage_scores(stage, patches) >= stage.limit)
        row[:] = alive
    return rows
