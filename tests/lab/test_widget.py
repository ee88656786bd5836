"""The scene in a notebook: its data, its script, and what it does in a browser."""

import json

import numpy as np
import pytest

from gnomon.cluster import KMeans
from gnomon.decide import GridWorld, ValueIteration
from gnomon.lab import widget
from gnomon.lab.scenes import frame
from gnomon.linear import LinearRegression

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0], [9.0, 8.0], [8.0, 9.0], [5.0, 5.0]])


def test_the_widget_has_the_frames():
    pytest.importorskip("anywidget")
    shown = widget.show(KMeans(2, random_state=0), X)
    copies = list(KMeans(2, random_state=0).iterate(X))
    assert len(shown.frames) == len(copies) and shown.head["model"] == "KMeans"
    material, points = widget._material(X, None)
    assert shown.frames[-1] == frame(copies[-1], len(copies) - 1, material, points)


def test_names_of_a_frame_are_the_names_of_the_axes():
    pandas = pytest.importorskip("pandas")
    head, _ = widget.run(KMeans(2, random_state=0), pandas.DataFrame(X, columns=["length", "width"]))
    assert head["points"]["axes"] == ["length", "width"]


def test_rows_as_lists_and_a_target():
    head, frames = widget.run(LinearRegression(), X[:, :1].tolist(), [1.0, 1.0, 3.0, 19.0, 19.0, 17.0, 11.0])
    assert head["points"]["xy"][3] == [9.0, 19.0] and frames[-1]["panels"][0]["kind"] == "plane"


def test_the_model_is_left_as_it_was():
    model = KMeans(2, random_state=0)
    widget.run(model, X)
    assert not hasattr(model, "cluster_centers_")


def test_the_script_of_the_widget_is_one_module():
    text = widget.script()
    assert [line for line in text.splitlines() if line.startswith(("export", "import"))] == [
        "export default { render };"
    ]


def test_styles_stay_inside_the_widget():
    for rule in widget.styles().split("}"):
        for selector in rule.partition("{")[0].rpartition("*/")[2].split(","):
            inside = (".gnomon-lab", ".scene", ".uplot", ".u-")
            assert not selector.strip() or any(word in selector for word in inside), selector


@pytest.fixture
def notebook(browser):
    """A page with a button of its own, in which widgets are shown as a notebook would."""
    page = browser.new_page(viewport={"width": 700, "height": 900})
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.set_content("<button id=own>own</button><div id=cell></div>")
    page.own = "Object.entries(getComputedStyle(document.getElementById('own'))).join()"
    page.before = page.evaluate(page.own)
    page.add_style_tag(content=widget.styles())
    page.add_script_tag(
        content=widget.script().replace("export default", "window.gnomonWidget ="), type="module"
    )
    page.wait_for_function("window.gnomonWidget !== undefined")
    yield page
    assert page.complaints == []
    page.close()


def shown(page, model, *given):
    head, frames = widget.run(model, *given)
    page.evaluate(
        """told => { const kept = JSON.parse(told);
            const el = document.getElementById("cell"), model = { get: name => kept[name] };
            window.clean = gnomonWidget.render({ model, el }); }""",
        json.dumps({"head": head, "frames": frames}),
    )
    page.wait_for_selector("#cell output:has-text('0 of')")
    return frames


def picture(page):
    page.mouse.move(0, 0)
    return page.evaluate("document.querySelector('#cell canvas').toDataURL()")


def test_step_back_run_and_drag(notebook):
    frames = shown(notebook, KMeans(2, init=X[:2], n_init=1), X)
    said = notebook.locator("#cell .said")
    assert len(frames) > 2 and said.inner_text() == frames[0]["said"]
    assert notebook.locator("#cell math").count() == 1
    start = picture(notebook)
    notebook.click("#cell [aria-label='One step']")
    assert said.inner_text().startswith(frames[1]["said"]) and picture(notebook) != start
    notebook.click("#cell [aria-label='One step back']")
    assert said.inner_text() == frames[0]["said"] and picture(notebook) == start
    notebook.click("#cell [aria-label='Run']")
    notebook.wait_for_function(
        f"document.querySelector('#cell output').textContent.startsWith('{frames[-1]['step']} of')"
    )
    assert "converged" in said.inner_text()
    notebook.fill("#cell input[type=range]", "0")
    assert picture(notebook) == start


def test_hover_tells_numbers(notebook):
    frames = shown(notebook, KMeans(2, random_state=0), X)
    box = notebook.locator("#cell canvas").first.bounding_box()
    limits = frames[0]["panels"][0]["xlim"], frames[0]["panels"][0]["ylim"]
    across, up = ((5 - low) / (high - low) for low, high in limits)  # the last row is at 5, 5
    bottom, top = box["y"] + box["height"] - 32, box["y"] + 8
    notebook.mouse.move(box["x"] + 46 + across * (box["width"] - 54), bottom - up * (bottom - top))
    assert notebook.inner_text("#cell .tip").startswith("point 6: x0 5, x1 5")
    notebook.mouse.move(0, 0)
    assert notebook.inner_text("#cell .tip") == ""


def test_the_page_around_it_keeps_its_looks(notebook):
    shown(notebook, KMeans(2, random_state=0), X)
    assert notebook.evaluate(notebook.own) == notebook.before
    notebook.evaluate("clean()")
    assert notebook.locator("#cell .scene").count() == 0


def test_it_is_drawn_again_when_there_is_more_room(notebook):
    shown(notebook, KMeans(2, random_state=0), X)
    wide = "document.querySelector('#cell canvas').width"
    before = notebook.evaluate(wide)
    notebook.set_viewport_size({"width": 400, "height": 900})
    notebook.wait_for_function(f"{wide} < {before} - 200")


def test_a_world_in_a_notebook(notebook):
    world = GridWorld((2, 3), terminals={(0, 2): 1.0}, start=(1, 0), discount=0.9)
    frames = shown(notebook, ValueIteration(), world)
    assert frames[-1]["panels"][0]["title"] == "values and policy"
