"""Face detection with boosted rectangles: stages that each reject most windows and keep nearly all faces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DegenerateError
from gnomon.core.randomness import generator
from gnomon.core.threads import in_order
from gnomon.ensemble.rectangles import HaarFeatures, integral_image, prepare_patches
from gnomon.loops.rectangles import code_values, rectangle_values, scan_windows
from gnomon.loops.stumps import coded_stumps

Array = np.ndarray
BLOCK = 2000  # features evaluated at a time


class Stage(NamedTuple):
    """A boosted committee of rectangle stumps: value <= threshold votes `left`, else `-left`."""

    features: Array
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
        return Stage(f.astype(np.int64), t, s, a, limit)

    def scores(self) -> Array:
        return self.stage(0.0).scores(np.stack(self.values, axis=1))


class CascadeClassifier:
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
    stages_ : list of Stage
    stage_rates_ : array of shape (stages, 2)
        Detection and false-positive rate of every stage on the patches it was trained on.

    Examples
    --------
    >>> from gnomon.datasets import make_face_patches
    >>> X, y = make_face_patches(200, window=12, random_state=0)
    >>> model = CascadeClassifier(window=12, max_stages=2).fit(X, y)
    >>> bool((model.predict(X) == y).mean() > 0.9)
    True
    """

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

    def fit(self, X: Any, y: Any, backgrounds: Any = ()) -> CascadeClassifier:
        """Train on patches (n, window, window) with y = 1 for faces, 0 for the rest.

        Rejected negatives are replaced by windows of the `backgrounds` (images without faces) that still
        pass.
        """
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        self.haar_, rng = HaarFeatures(self.window, self.kinds), generator(self.random_state)
        faces, negatives = X[y == 1], X[y != 1]
        wanted = len(negatives)
        self.stages_, rates = [], []
        passed = 1.0
        while (
            len(self.stages_) < self.max_stages and passed > self.target_false_positive and len(negatives) > 1
        ):
            stage, rate = self._train_stage(faces, negatives)
            self.stages_.append(stage)
            rates.append(rate)
            passed *= rate[1]
            keep = self._stage_scores(stage, negatives) >= stage.limit
            negatives = np.concatenate([negatives[keep], self._mine(backgrounds, wanted - keep.sum(), rng)])
        self.stage_rates_ = np.array(rates)
        return self

    def _train_stage(self, faces: Array, negatives: Array) -> tuple[Stage, tuple[float, float]]:
        y = np.repeat([1.0, -1.0], [len(faces), len(negatives)])
        boosting = _Boosting(self.haar_, np.concatenate([faces, negatives]), y)
        for _ in range(self.max_rounds):
            boosting.add()
            scores = boosting.scores()
            limit = self._limit(np.sort(scores[y > 0]))
            rate = float(np.mean(scores[y < 0] >= limit))
            if rate <= self.stage_false_positive:
                break
        detected = float(np.mean(scores[y > 0] >= limit))
        return boosting.stage(limit), (detected, rate)

    def _limit(self, sorted_scores: Array) -> float:
        """The largest limit that keeps the asked share of the positives."""
        lost = int(np.floor((1 - self.stage_detection) * len(sorted_scores) + 1e-9))
        return float(min(sorted_scores[lost], 0.0)) - 1e-12

    def _stage_scores(self, stage: Stage, patches: Array) -> Array:
        integrals, scale = prepare_patches(patches, self.window)
        values = np.empty((len(stage.features), len(patches)))
        boxes = self.haar_.boxes_[stage.features]
        rectangle_values(integrals, boxes, scale, 0, len(boxes), values)
        return stage.scores(values.T)

    def _mine(self, backgrounds: Any, wanted: int, rng: Any) -> Array:
        found: list[Array] = []
        for image in backgrounds:
            image = np.asarray(image, dtype=np.float64)
            size = min(image.shape) - self.window
            for _ in range(200 if size >= 0 and wanted > 0 else 0):
                top, left = (int(rng.integers(0, side - self.window + 1)) for side in image.shape)
                found.append(image[top : top + self.window, left : left + self.window])
        if not found:
            return np.zeros((0, self.window, self.window))
        patches = np.stack(found)
        return patches[self.survivors(patches)[-1]][:wanted]

    def survivors(self, X: Any) -> Array:
        """Return which patches pass each prefix of the cascade, (stages, n); later rows are subsets."""
        X = np.asarray(X, dtype=np.float64)
        alive, rows = np.ones(len(X), dtype=bool), []
        for stage in self.stages_:
            alive = alive & (self._stage_scores(stage, X) >= stage.limit)
            rows.append(alive)
        return np.array(rows)

    def predict(self, X: Any) -> Array:
        """Return 1 for patches that pass every stage, else 0."""
        return self.survivors(X)[-1].astype(int)


class ObjectDetector:
    """Slides a cascade over an image at many sizes and merges what it finds.

    Parameters
    ----------
    cascade : CascadeClassifier
    scale_factor : float, default=1.25
        Ratio of one window size to the next; the features grow, not the image.
    step : float, default=1.0
        Shift of the window in pixels of the smallest size.
    min_neighbors : int, default=3
        Windows that must agree on a box.

    Examples
    --------
    >>> from gnomon.datasets import make_face_patches
    >>> X, y = make_face_patches(300, window=12, random_state=0)
    >>> cascade = CascadeClassifier(window=12, max_stages=3).fit(X, y)
    >>> image = np.full((40, 40), 0.5)
    >>> image[8:20, 15:27] = X[y == 1][0]
    >>> boxes, scores = ObjectDetector(cascade, min_neighbors=2).detect(image)
    >>> bool(abs(boxes[scores.argmax()][:2] - [8, 15]).max() <= 3)
    True
    """

    def __init__(
        self,
        cascade: CascadeClassifier,
        *,
        scale_factor: float = 1.25,
        step: float = 1.0,
        min_neighbors: int = 3,
    ) -> None:
        self.cascade, self.scale_factor, self.step = cascade, scale_factor, step
        self.min_neighbors = min_neighbors

    def detect(self, image: Any) -> tuple[Array, Array]:
        """Return boxes (top, left, height, width) and scores of the objects found."""
        image = np.asarray(image, dtype=np.float64)
        ii, ii2 = integral_image(image), integral_image(image**2)
        window, scale, found = self.cascade.window, 1.0, []
        while round(window * scale) <= min(image.shape):
            found.append(self._windows(ii, ii2, scale))
            scale *= self.scale_factor
        return self._merge(np.concatenate(found) if found else np.zeros((0, 4)))

    def _windows(self, ii: Array, ii2: Array, scale: float) -> Array:
        stages = self.cascade.stages_
        size = round(self.cascade.window * scale)
        boxes = self._scaled(np.concatenate([stage.features for stage in stages]), scale, size)
        columns = [
            np.concatenate([getattr(s, name) for s in stages]) for name in ("thresholds", "lefts", "alphas")
        ]
        ends = np.cumsum([len(stage.features) for stage in stages])
        limits = np.array([stage.limit for stage in stages])
        found = np.empty((100_000, 3))
        stride = max(1, round(self.step * scale))
        count = scan_windows(ii, ii2, self.cascade.window, size, stride, boxes, *columns, ends, limits, found)
        return np.column_stack([found[:count, :2], np.full(count, size), found[:count, 2]])

    def _scaled(self, features: Array, scale: float, size: int) -> Array:
        """Boxes at another size; the weight makes up for the rounding of the area."""
        boxes = self.cascade.haar_.boxes_[features].astype(np.float64)
        area = boxes[..., 2] * boxes[..., 3]
        grown = np.round(boxes[..., :4] * scale)
        grown[..., 2] = np.clip(grown[..., 2], 1, size - grown[..., 0])
        grown[..., 3] = np.clip(grown[..., 3], 1, size - grown[..., 1])
        ratio = area * scale**2 / np.maximum(grown[..., 2] * grown[..., 3], 1)
        ratio *= (size / (self.cascade.window * scale)) ** 2
        return np.concatenate([grown, (boxes[..., 4] * ratio)[..., None]], axis=-1)

    def _merge(self, found: Array) -> tuple[Array, Array]:
        """Merge boxes that overlap by more than 0.4 of their union; keep groups of enough windows."""
        groups: list[list[Array]] = []
        for box in found[np.argsort(-found[:, 3])]:
            for group in groups:
                if _overlap(group[0], box) > 0.4:
                    group.append(box)
                    break
            else:
                groups.append([box])
        groups = [group for group in groups if len(group) >= self.min_neighbors]
        if not groups:
            return np.zeros((0, 4)), np.zeros(0)
        means = np.array([np.mean(group, axis=0) for group in groups])
        return means[:, [0, 1, 2, 2]], np.array([max(box[3] for box in group) for group in groups])


def _overlap(a: Array, b: Array) -> float:
    height = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    width = min(a[1] + a[2], b[1] + b[2]) - max(a[1], b[1])
    inner = max(height, 0) * max(width, 0)
    return float(inner / (a[2] ** 2 + b[2] ** 2 - inner))
