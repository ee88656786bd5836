"""The guides run, say what is true, and draw; the tables of other libraries' names are right."""

import importlib.util
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

HOOKS = Path(__file__).resolve().parents[2] / "docs" / "_hooks"


def load(name):
    spec = importlib.util.spec_from_file_location(f"site_{name}", HOOKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


guides, migrating = load("guides"), load("migrating")


@pytest.mark.parametrize("name", list(guides.titles()))
def test_guide_runs_without_warning_and_draws(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page, pictures = guides.woven(
            (guides.FOLDER / name).read_text(encoding="utf-8"), name.removesuffix(".md")
        )
    assert "python claim" not in page
    assert any(place.endswith("-light.svg") for place in pictures)
    for place, content in pictures.items():
        assert place in page
        assert b'href="http' not in content


def test_the_small_family_of_the_page_works():
    """The learners that `add-a-family.md` builds, in the words of the page."""
    page = (HOOKS.parent / "add-a-family.md").read_text(encoding="utf-8")
    woven, _ = guides.woven(page, "add-a-family")
    assert "[3.] " in woven and "True" in woven
    assert "['bread', 'milk'] [2, 1]" in woven
    kinds = ("Sequences", "Documents", "Graphs", "Ratings", "Images", "Kernels and distances", "Environments")
    for kind in kinds:
        section = woven.split(f"### {kind}\n")[1].split("\n#")[0]
        assert "```python" in section and 'title="prints"' in section


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("# A\n\n```python\n1 / 0\n```\n", ZeroDivisionError),
        ("# A\n\n```python\nx = 1\n```\n\n```python claim\nassert x == 2\n```\n", AssertionError),
    ],
)
def test_guide_that_fails_stops_the_build(text, error):
    with pytest.raises(error):
        guides.woven(text, "guide")


def test_results_stand_below_the_code():
    text = "# A\n\n```python\nx = 2\nprint(x + 1)\n```\n\nmore\n\n```python claim\nassert x == 2\n```\n"
    page, pictures = guides.woven(text, "guide")
    assert page == '# A\n\n```python\nx = 2\nprint(x + 1)\n```\n\n```text title="prints"\n3\n```\n\nmore\n\n'
    assert pictures == {}


def test_pictures_come_for_light_and_dark_paper_and_have_the_same_bytes_again():
    text = "# A\n\n```python\nfrom matplotlib import pyplot\npyplot.plot([1, 2])\n```\n"
    page, pictures = guides.woven(text, "guide")
    assert list(pictures) == ["pictures/guide-0-light.svg", "pictures/guide-0-dark.svg"]
    light, dark = (picture.decode() for picture in pictures.values())
    assert guides.INK not in light + dark
    assert guides.PAPERS["dark"][0] in dark and guides.PAPERS["dark"][0] not in light
    assert guides.woven(text, "guide")[1] == pictures


def test_files_that_code_writes_are_shown():
    text = "# A\n\n```python\nfrom pathlib import Path\n_ = Path('film.gif').write_bytes(b'GIF')\n```\n"
    page, pictures = guides.woven(text, "guide")
    assert pictures == {"pictures/guide-film.gif": b"GIF"} and "![](pictures/guide-film.gif)" in page


def test_menu_follows_the_order_in_the_files():
    assert guides.order("---\norder: 7\n---\n\n# A\n") == 7 and guides.order("# A\n") == 50
    orders = [guides.order((guides.FOLDER / name).read_text(encoding="utf-8")) for name in guides.titles()]
    assert orders == sorted(orders) and len(orders) >= 7


# Other libraries' names


def test_every_name_here_imports():
    for move in migrating.written():
        assert migrating.find(move.target) is not None, move


def test_a_name_is_told_once():
    pairs = [(move.origin, move.target) for move in migrating.written()]
    assert sorted(set(pairs)) == sorted(pairs)


@pytest.mark.parametrize("library", sorted({move.origin.split(".")[0] for move in migrating.written()}))
def test_every_name_elsewhere_exists(library):
    pytest.importorskip(library, reason="a peer of the benchmarks")
    for move in migrating.moves(library):
        module, _, name = move.origin.rpartition(".")
        assert hasattr(import_module(module), name), move.origin


def test_every_name_elsewhere_has_one_note():
    pairs = [(move.origin, move.target) for move in migrating.written()]
    assert len(pairs) == len(set(pairs)), sorted({pair for pair in pairs if pairs.count(pair) > 1})


def test_same_names_are_found_with_their_parameters():
    moves = {move.target: move for move in migrating.moves("sklearn")}
    assert moves["gnomon.cluster.MiniBatchKMeans"].origin == "sklearn.cluster.MiniBatchKMeans"
    assert "gnomon.losses.ElasticNet" not in moves  # a penalty, not an estimator
    differs = migrating.parameters(moves["gnomon.cluster.KMeans"])
    assert "`missing`" in differs and "`algorithm='auto'` by default" in differs
    assert migrating.parameters(moves["gnomon.bayes.GaussianNB"]) == ""


def test_every_library_of_the_notes_has_a_table():
    page = (HOOKS.parent / "migrating.md").read_text(encoding="utf-8")
    libraries = {move.origin.split(".")[0] for move in migrating.written()}
    assert libraries == set(migrating.MARK.findall(page))
    filled = migrating.filled(page, lambda name, shown: f"`{shown}`")
    assert "<!-- names" not in filled and "| `hmm.GaussianHMM` | `sequence.GaussianHMM` |" in filled


def teardown_module():
    sys.path[:] = [path for path in sys.path if path != str(HOOKS)]
