"""Rectangle features of images: sums by four look-ups in an integral image, and windows through a cascade."""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def box_sum(ii, top, left, height, width):
    """Sum of the pixels of a rectangle."""
    return ii[top + height, left + width] - ii[top, left + width] - ii[top + height, left] + ii[top, left]


@compiled
def rectangle_values(integrals, boxes, scale, first, last, out):
    """out[f - first, i] = scale[i] times the weighted box sums of feature f in image i.

    boxes is (F, 4, 5): top, left, height, width, weight; weight 0 marks an unused box.
    """
    for f in range(first, last):
        for i in range(integrals.shape[0]):
            total = 0.0
            for b in range(4):
                if boxes[f, b, 4] != 0:
                    total += boxes[f, b, 4] * box_sum(
                        integrals[i], boxes[f, b, 0], boxes[f, b, 1], boxes[f, b, 2], boxes[f, b, 3]
                    )
            out[f - first, i] = total * scale[i]


@compiled
def code_values(values, low, step, codes):
    """codes = which of 255 equal steps between the extremes of its feature a value falls into."""
    for f in range(values.shape[0]):
        a, b = values[f, 0], values[f, 0]
        for i in range(values.shape[1]):
            a, b = min(a, values[f, i]), max(b, values[f, i])
        low[f], step[f] = a, (b - a) / 255.0
        for i in range(values.shape[1]):
            codes[f, i] = 0 if b <= a else min(254, int((values[f, i] - a) / step[f]))


@compiled
def scan_windows(
    ii, ii2, window, size, stride, boxes, thresholds, lefts, alphas, stage_ends, stage_limits, found
):
    """Run the cascade over all windows of one size; returns how many survive.

    found[k] = top, left, score of the surviving windows. `boxes` are already scaled to `size`; box sums are
    divided by the growth of the area so that thresholds keep their meaning.
    """
    height, width = ii.shape[0] - 1, ii.shape[1] - 1
    ratio = (window / size) ** 2
    count = 0
    for top in range(0, height - size + 1, stride):
        for left in range(0, width - size + 1, stride):
            area = float(size * size)
            mean = box_sum(ii, top, left, size, size) / area
            variance = box_sum(ii2, top, left, size, size) / area - mean * mean
            sigma = np.sqrt(variance) if variance > 1e-12 else 1.0
            t, score, alive = 0, 0.0, True
            for s in range(stage_ends.size):
                score = 0.0
                while t < stage_ends[s]:
                    value = 0.0
                    for b in range(4):
                        if boxes[t, b, 4] != 0.0:
                            value += boxes[t, b, 4] * box_sum(
                                ii,
                                top + np.int64(boxes[t, b, 0]),
                                left + np.int64(boxes[t, b, 1]),
                                np.int64(boxes[t, b, 2]),
                                np.int64(boxes[t, b, 3]),
                            )
                    side = lefts[t] if value * ratio / sigma <= thresholds[t] else -lefts[t]
                    score += alphas[t] * side
                    t += 1
                if score < stage_limits[s]:
                    alive = False
                    break
            if alive and count < found.shape[0]:
                found[count, 0], found[count, 1], found[count, 2] = top, left, score
                count += 1
    return count
