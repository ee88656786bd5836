"""How quick the lab is: its page in a browser, a step of a large scene, what pictures cost a fit, and the bytes sent.

    PYTHONPATH=src python benchmarks/lab_page.py           # all of it
    PYTHONPATH=src python benchmarks/lab_page.py fit size  # parts: page, step, fit, size

Needs the extra `lab`, Playwright and a Chromium on the path. Every figure is printed beside the bound it should keep.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import shutil
import statistics
import subprocess
import sys
import time
import warnings

from gnomon.lab.application import bundled
from gnomon.lab.learners import data_for, find, make
from gnomon.lab.material import gather
from gnomon.lab.runs import Job, Run

SCENES = {  # of 2,000 points
    "KMeans": '&model=KMeans&data={"sample":"clouds","n":2000}',
    "GaussianMixture": '&model=GaussianMixture&data={"sample":"clouds","n":2000}',
    "AdaBoostClassifier": '&model=AdaBoostClassifier&data={"sample":"moons","n":2000}',
}
FITS = {  # model: its settings, and the settings of its sample
    "MLPClassifier": (
        {"hidden_layer_sizes": (100, 100), "max_iter": 200, "n_iter_no_change": 200}, {"sample": "moons", "n": 2000},
    ),
    "GaussianMixture": ({"n_components": 9, "max_iter": 1000, "tol": 0.0}, {"sample": "clouds", "n": 2000}),
    "GradientBoostingRegressor": ({"n_estimators": 1000, "max_depth": 6}, {"sample": "wave", "n": 2000}),
}  # fmt: skip


FEW = {"max_iter": 3, "n_estimators": 3}


@contextlib.contextmanager
def served():
    """Yield the address of a lab in a process of its own."""
    command = [sys.executable, "-u", "-m", "gnomon.cli", "lab", "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        made = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield made
        made.close()


def wait(page, condition):
    while not page.evaluate(f"Boolean(window.gnomonLab && ({condition}))"):
        page.wait_for_timeout(20)


def first_paint(address, chromium, times=5):
    """Return seconds until the page is painted, and until its first scene is drawn, in fresh windows."""
    paints, scenes = [], []
    for _ in range(times):
        page = chromium.new_context(viewport={"width": 1100, "height": 800}).new_page()
        begun = time.perf_counter()
        page.goto(address + "&model=KMeans", wait_until="commit")
        wait(page, "gnomonLab.scenes[0]?.drawn !== undefined")
        scenes.append(time.perf_counter() - begun)
        wait(page, "performance.getEntriesByName('first-contentful-paint').length")
        found = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        paints.append(found / 1000)
        page.context.close()
    return paints, scenes


STEP = """() => { const times = [], canvas = document.querySelector("canvas"), n = gnomonLab.count;
  for (let i = 0; i < Math.max(n, 40); i++) { const begun = performance.now(); gnomonLab.go(i % n);
    canvas.getContext("2d").getImageData(0, 0, 1, 1); times.push(performance.now() - begun); }
  return times; }"""


def step_times(address, chromium, scene):
    """Return milliseconds of every step: its panels and its trace, until the pixels are there."""
    page = chromium.new_context(viewport={"width": 1600, "height": 900}).new_page()
    page.goto(address + scene)
    wait(page, "gnomonLab.finished() && gnomonLab.count > 1")
    times = page.evaluate(STEP)
    page.context.close()
    return times


def fit_cost(name, times=9):
    """Return seconds of a fit, of stepping through it, and of the same while its steps are drawn, in turn."""
    settings, source = FITS[name]
    cls = find(name)
    material = gather(source, data_for(cls))
    list(
        Run(
            Job(make(cls, {name: FEW.get(name, value) for name, value in settings.items()}), material, {})
        ).lines()
    )  # compiled and warm
    warnings.simplefilter("ignore")
    alone, stepped, drawn = [], [], []
    for _ in range(times):
        begun = time.perf_counter()
        make(cls, settings).fit(*material.given)
        alone.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        for _ in make(cls, settings).iterate(*material.given):
            pass
        stepped.append(time.perf_counter() - begun)
        run = Run(Job(make(cls, settings), material, settings))
        lines = run.lines()
        while not run.fitted.is_set() and next(lines, None):
            pass
        lines.close()
        drawn.append(run.seconds)
    return alone, stepped, drawn


def say(what, figure, bound, unit):
    print(f"{what:64s} {figure:10.3g} {unit:3s} (at most {bound} {unit})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=["page", "step", "fit", "size"])
    parts = parser.parse_args().parts
    if {"page", "step"} & set(parts):
        with served() as address, browser() as chromium:
            paints, scenes = first_paint(address, chromium)
            if "page" in parts:
                say("first paint, in the first window", paints[0], 1.5, "s")
                say("first paint, median of five windows", statistics.median(paints), 1.5, "s")
                say("first scene drawn, in the first window", scenes[0], 1.5, "s")
                say("first scene drawn, median of five windows", statistics.median(scenes), 1.5, "s")
            for name, scene in SCENES.items() if "step" in parts else ():
                times = step_times(address, chromium, scene)
                say(f"a step of 2,000 points, {name}, median", statistics.median(times), 33, "ms")
                say(f"a step of 2,000 points, {name}, slowest", max(times), 33, "ms")
                print(f"    the first {times[0]:.1f} ms, all others at most {max(times[1:]):.1f} ms")
    for name in FITS if "fit" in parts else ():
        alone, stepped, drawn = fit_cost(name)
        for what, base in (("a fit", alone), ("stepping through it", stepped)):
            cost = statistics.median(b / a for a, b in zip(base, drawn)) - 1
            say(f"streaming against {what}, {statistics.median(base):.2f} s, {name}", 100 * cost, 10, "%")
    if "size" in parts:
        say(
            "page and scripts, compressed",
            sum(len(gzip.compress(b)) for b in bundled().values()) / 1e6,
            1,
            "MB",
        )


if __name__ == "__main__":
    main()
