"""Pictures show what the models say."""

import numpy as np
import pytest

from gnomon import plot
from gnomon.datasets import load_network
from gnomon.graphical import (
    BeliefPropagation,
    Factor,
    FactorGraph,
    GridField,
    HillClimbSearch,
    edge_bootstrap,
    inference_plan,
)


def words(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_network_with_tables_and_bars():
    asia = load_network("asia")
    bare = plot.network(asia)
    assert set(words(bare)) == set(asia.variables_) and len(bare.patches) == 8
    tables = plot.network(asia, show="tables")
    assert any("0.05  0.95" in word for word in words(tables))
    bars = asia.plot({"xray": "yes"}, show="posteriors")
    assert "xray = yes" in words(bars) and "yes 0.489" in words(bars)
    widths = [patch.get_width() for patch in bars.patches if type(patch).__name__ == "Rectangle"]
    assert len(widths) == 16 and max(widths) == pytest.approx(0.7)
    with pytest.raises(ValueError, match="show"):
        plot.network(asia, show="all")


def test_every_step_of_an_elimination():
    plan = inference_plan(load_network("asia"), "xray", order=["either", "lung", "tub", "smoke", "asia"])
    ax = plan.plot()
    assert [bar.get_width() for bar in ax.patches] == plan.sizes
    for step, name in enumerate(plan.order):
        assert plot.network(plan, step=step).get_title().startswith(f"eliminate {name}")
    dashed = [line for line in plot.network(plan, step=1).lines if line.get_linestyle() == "--"]
    assert len(dashed) == len(plan.fill_in[0])


def test_factor_graph_with_messages():
    graph = FactorGraph(
        [Factor(["A", "B"], [[4, 1], [1, 2]]), Factor(["B", "C"], [[1, 2], [2, 1]]), Factor("B", [0.6, 0.4])]
    )
    found = BeliefPropagation().fit(graph)
    ax = plot.network(graph, messages=found.messages_)
    assert {"A", "B", "C", "f0", "f1", "f2"} <= set(words(ax)) and "(1, 0.6)" in words(ax)
    assert len(ax.lines) == 5 and len(graph.plot().patches) == 6


@pytest.mark.parametrize(("name", "arrows"), [("mixture", 3), ("naive_bayes", 3), ("hmm", 6), ("topics", 4)])
def test_plates_of_all_models(name, arrows):
    ax = plot.plates(name)
    assert len(words(ax)) >= 4
    assert sum(getattr(text, "arrow_patch", None) is not None for text in ax.texts) == arrows
    with pytest.raises(ValueError, match="spec"):
        plot.plates("nothing")


def test_image_and_its_labels():
    rng = np.random.default_rng(0)
    image = np.kron(np.eye(2), np.ones((4, 4))) + 0.4 * rng.normal(size=(8, 8))
    panels = plot.segmentation(GridField((8, 8), coupling=0.5), image, [0, 1], methods=("icm", "graph_cut"))
    energies = [float(panel.get_title().split()[-1]) for panel in panels[1:]]
    assert energies[1] <= energies[0]


def test_search_with_strengths():
    X = load_network("sprinkler").sample(400, random_state=0)
    search = HillClimbSearch().fit(X)
    ax = plot.network(search, strengths=edge_bootstrap(X, 3, random_state=0))
    assert set(words(ax)) == {"rain", "sprinkler", "wet"} and ax.get_title().startswith("score")
    ax.figure.canvas.draw()
    inset = ax.child_axes[0].get_window_extent()
    for circle in ax.patches:
        assert not inset.overlaps(circle.get_window_extent()), "the score covers no node"
