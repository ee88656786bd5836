"""A cascade slid over an image at many sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.ensemble.cascade import CascadeClassifier
from gnomon.ensemble.rectangles import integral_image
from gnomon.loops.rectangles import scan_windows

Array = np.ndarray


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

    def plot(self, image: Any, ax: Any = None) -> Any:
        """Draw the image and the boxes of the objects found; return the Axes."""
        from gnomon.plot.trees import found_boxes

        return found_boxes(image, self.detect(image)[0], ax=ax)

    def _windows(self, ii: Array, ii2: Array, scale: float) -> Array:
        stages = self.cascade.stages_
        size = round(self.cascade.window * scale)
        boxes = self._scaled(np.concatenate([stage.boxes for stage in stages]), scale, size)
        columns = [
            np.concatenate([getattr(s, name) for s in stages]) for name in ("thresholds", "lefts", "alphas")
        ]
        ends = np.cumsum([len(stage.boxes) for stage in stages])
        limits = np.array([stage.limit for stage in stages])
        found = np.empty((100_000, 3))
        stride = max(1, round(self.step * scale))
        count = scan_windows(ii, ii2, self.cascade.window, size, stride, boxes, *columns, ends, limits, found)
        return np.column_stack([found[:count, :2], np.full(count, size), found[:count, 2]])

    def _scaled(self, boxes: Array, scale: float, size: int) -> Array:
        """Boxes at another size; the weight makes up for the rounding of the area."""
        boxes = boxes.astype(np.float64)
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
