"""Scenes of experiments: a bound beside its simulation, and a posterior that narrows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.lab.material import Material
from gnomon.lab.panels import Panel, band, line, plane, points


def experiment_panels(model: Any, material: Material) -> list[Panel]:
    """Return a bound beside its simulation, or a posterior that narrows."""
    if hasattr(model, "draws_"):
        n = model.draws_
        layers = [
            line(np.column_stack([n, model.bounds_]), color=1, dash=True, name="bound"),
            line(np.column_stack([n, model.frequencies_]), color=0, name="simulation"),
            points(
                np.column_stack([n, model.frequencies_]),
                tips=[
                    f"n = {k}: {f:.3g}, bound {b:.3g}"
                    for k, f, b in zip(n, model.frequencies_, model.bounds_)
                ],
            ),
        ]
        top = [0.0, float(model.max_draws) * 1.02]
        said = f"strays in {model.frequencies_[-1]:.1%} of the trials (blue), by the bound in at most"
        title = f"n = {int(n[-1])}: {said} {model.bounds_[-1]:.1%} (dashed)"
        return [plane(title, "throws n", "chance to stray", top, [0.0, 1.05], layers)]
    if hasattr(model, "heads_"):
        from scipy.stats import beta

        known = beta(model.a + model.heads_, model.b + model.tails_)
        at = np.linspace(0.001, 0.999, 200)
        low, high = known.interval(0.95)
        inside = np.linspace(max(low, 1e-9), min(high, 1 - 1e-9), 60)
        height = known.pdf(at)
        layers = [band(inside, np.zeros(60), known.pdf(inside)), line(np.column_stack([at, height]))]
        title = f"{model.heads_} heads, {model.tails_} tails: between {low:.3f} and {high:.3f} with 95%"
        return [
            plane(
                title,
                "chance of heads",
                "density",
                [0.0, 1.0],
                [0.0, max(3.0, float(height.max()) * 1.05)],
                layers,
            )
        ]
    return []
