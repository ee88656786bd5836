"""Pictures of the site, drawn by the library while the site is built, for light and for dark paper."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from mkdocs.structure.files import File

from gnomon import datasets, plot

PAPER = {"light": "default", "dark": "dark_background"}


def old_faithful(axes: Any) -> None:
    """K-means beside a Gaussian mixture, on the same eruptions."""
    from gnomon.cluster import KMeans
    from gnomon.mixture import GaussianMixture

    bunch = datasets.load_old_faithful()
    clusters = KMeans(2, random_state=0).fit(bunch.data)
    plot.decision_regions(clusters, bunch.data, clusters.labels_, axes[0])
    mixture = GaussianMixture(2, random_state=0).fit(bunch.data)
    plot.decision_regions(mixture, bunch.data, mixture.predict(bunch.data), axes[1])
    plot.ellipses(mixture.means_, mixture.covariances_, axes[1])
    for ax, title in zip(axes, ("k-means", "Gaussian mixture"), strict=True):
        ax.set(title=title, xlabel="eruption (minutes)", ylabel="wait (minutes)")
        ax.get_legend().remove()


PICTURES: dict[str, Callable[[Any], None]] = {"old-faithful": old_faithful}


def render(draw: Callable[[Any], None], paper: str) -> bytes:
    with pyplot.style.context(PAPER[paper]):
        figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        draw(axes)
        out = io.BytesIO()
        figure.savefig(out, dpi=110, transparent=True)
        pyplot.close(figure)
    return out.getvalue()


def on_files(files: Any, config: Any) -> Any:
    for name, draw in PICTURES.items():
        for paper in PAPER:
            content = render(draw, paper)
            files.append(File.generated(config, f"pictures/{name}-{paper}.png", content=content))
    return files
