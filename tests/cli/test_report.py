"""The report: one page that is well formed, needs nothing from elsewhere, and shows what it promises."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import polars as pl
import pytest

from cli.devtools import Browser
from gnomon.report import compare

SVG = "{http://www.w3.org/2000/svg}svg"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report of a comparison with a category, holes, odd names and a model that fails."""
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    table = pl.DataFrame(
        {
            "x <b>": [None if i % 9 == 0 else v for i, v in enumerate(x)],
            "c&d": rng.choice(["<script>alert(1)</script>", 'say "hi"', "plain"], size=80),
            "y": np.where(x + 0.5 * rng.normal(size=80) > 0, "up & away", "<down>"),
        }
    )
    result = compare(table, "y", models=["LogisticRegression", "GaussianNB", "MultinomialNB"], repeats=1)
    return result, result.write(tmp_path_factory.mktemp("report"))["report"]


def test_page_is_well_formed_and_loads_nothing(made):
    text = made[1].read_text(encoding="utf-8")
    root = ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))
    assert root.find("head/title").text and root.get("lang") == "en"
    for element in root.iter():
        for name, value in element.attrib.items():
            if name.rpartition("}")[2] in ("src", "href", "srcset", "poster", "data", "action"):
                assert value.startswith(("data:", "#")), (element.tag, name, value[:80])
        assert element.tag not in ("script", "iframe", "object", "embed"), element.tag
    assert not re.search(r"url\((?!#|['\"]?data:)|@import", text)


def test_page_can_be_read_aloud(made):
    root = ElementTree.fromstring(made[1].read_text(encoding="utf-8").replace("<!DOCTYPE html>", ""))
    pictures = list(root.iter(SVG))
    assert len(pictures) >= 3
    assert all(picture.get("role") == "img" and len(picture.get("aria-label")) > 20 for picture in pictures)
    tables = list(root.iter("table"))
    assert len(tables) == 4
    for table in tables:
        assert table.find("caption").text
        assert {th.get("scope") for th in table.iter("th")} == {"row", "col"}
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_page_says_the_answer_first_and_hides_no_failure(made):
    result, path = made
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))
    heading = root.find(".//h1").text
    assert heading.startswith(f"{result.best.name} predicts y best: accuracy ")
    assert "MultinomialNB" in text.partition("Not in the ranking")[2]
    for word in ("Nadeau and Bengio", "Seed 0", "scikit-learn", "gnomon predict", "gnomon.load"):
        assert word in text
    assert "<b>" not in text and "x &lt;b&gt;" in text and "&lt;down&gt;" in text


def test_same_comparison_same_page(made):
    result, _ = made
    minutes = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
    assert minutes.sub("", result.to_html()) == minutes.sub("", result.to_html())


@pytest.mark.parametrize("task", ["regression", "cluster", "density", "sequence"])
def test_every_task_has_its_pictures(task):
    from gnomon.datasets import load_old_faithful

    table = pl.DataFrame(load_old_faithful().data[:80], schema=["eruption", "waiting"])
    models = {
        "regression": "Ridge",
        "cluster": "KMeans",
        "density": "GaussianMixture",
        "sequence": "GaussianHMM",
    }
    target = {"target": "waiting"} if task == "regression" else {}
    result = compare(table, **target, task=task, models=[models[task]], repeats=1, folds=3)
    root = ElementTree.fromstring(result.to_html().replace("<!DOCTYPE html>", ""))
    labels = " | ".join(picture.get("aria-label") for picture in root.iter(SVG))
    shown = {
        "regression": "Predicted against true values of Ridge",
        "cluster": "The rows in 2 groups of",
        "density": "The rows in",
        "sequence": "colored by hidden state",
    }
    assert "Scores with 95% intervals" in labels and shown[task] in labels


CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path: on Debian, apt-get install chromium")
def test_page_in_a_browser(made):
    if subprocess.run([CHROMIUM, "--version"], capture_output=True).returncode:
        pytest.skip("Chromium is installed but does not start here")
    with Browser(CHROMIUM) as browser:
        browser.open(made[1].as_uri())
        seen = browser.ask(
            """({
                pictures: [...document.querySelectorAll('figure svg')].filter(s => !s.closest('details'))
                    .map(s => s.getBoundingClientRect()).map(r => [r.width, r.height]),
                rows: [...document.querySelectorAll('table')].map(t => t.tBodies[0].rows.length),
                wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
                paper: getComputedStyle(document.body).backgroundColor,
                ink: getComputedStyle(document.querySelector('figure svg text')).fill,
            })"""
        )
        assert len(seen["pictures"]) >= 3 and all(w > 200 and h > 80 for w, h in seen["pictures"])
        assert seen["rows"] == [3, 3, 2, 7] and seen["wide"] == 0
        for width in (360, 800, 1400):
            browser.resize(width, 800)
            assert (
                browser.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                == 0
            )
        browser.prefer("dark")
        paper, ink = browser.ask(
            "[getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.querySelector('figure svg text')).fill]"
        )
        assert paper != seen["paper"] and ink != seen["ink"]
        assert browser.complaints == [] and browser.requests == [made[1].as_uri()]
