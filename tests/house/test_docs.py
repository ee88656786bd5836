"""The site's own machinery: docstrings become Markdown, formulas MathML, results tables."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gnomon

PROJECT = Path(__file__).resolve().parents[2]
HOOKS = PROJECT / "docs" / "_hooks"


def load(name):
    spec = importlib.util.spec_from_file_location(f"site_{name}", HOOKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def to_markdown():
    return load("markdown_of").to_markdown


@pytest.mark.parametrize(
    ("rst", "markdown"),
    [
        ("Line.\n\n.. math:: a = b\n\nMore.", "Line.\n\n\n$$\na = b\n$$\n\nMore."),
        (".. math::\n\n    a = b\n    + c\n\nMore.", "\n$$\na = b\n+ c\n$$\n\nMore."),
        ("with :math:`x^2` inside", "with $x^2$ inside"),
        ("see :func:`~gnomon.plot.trace` and :class:`KMeans`", "see `gnomon.plot.trace` and `KMeans`"),
        (".. note:: Beware.", "!!! note\n    Beware."),
        ("plain ``code`` stays", "plain ``code`` stays"),
    ],
)
def test_docstrings_become_markdown(to_markdown, rst, markdown):
    assert to_markdown(rst) == markdown


def test_parameters_stand_alone_with_the_defaults_of_the_signature():
    pytest.importorskip("griffe", reason="installed by the docs extra")
    rst = """A line.

Parameters
----------
n_init, max_iter : int
    Starts; steps.
kind : {"a", "b"}, default="a"
    Which.
X
    Rows.

Attributes
----------
kind, other : str
"""
    shown = load("docstrings").with_defaults(rst, {"n_init": "1", "max_iter": "500", "kind": "'b'"})
    assert (
        shown
        == """A line.

Parameters
----------
n_init : int, default=1
    Starts; steps.
max_iter : int, default=500
    Starts; steps.
kind : "a" or "b", default='b'
    Which.
X
    Rows.

Attributes
----------
kind, other : str
"""
    )


def test_lines_that_go_on_at_the_margin_leave_the_rest_where_it_is():
    pytest.importorskip("griffe", reason="installed by the docs extra")
    broken = 'A line.\n\n    kind : {"a", \\\n"b"}\n        Which: a \\\\\n        or b.'
    assert load("docstrings").unbroken(broken) == 'A line.\n\nkind : {"a", "b"}\n    Which: a \\\\\n    or b.'


def test_sections_of_docstrings_stand_at_the_margin():
    griffe = pytest.importorskip("griffe", reason="installed by the docs extra")
    unbroken = load("docstrings").unbroken
    package = griffe.load("gnomon", search_paths=[str(PROJECT / "src")], submodules=True)
    for family, names in load("pages").families().items():
        for name, file in names.items():
            text = package[f"{family}.{file}.{name}"].docstring
            heads = re.findall(
                r"^( *)(?:Parameters|Examples)\n *-{3,}$", unbroken(text.value) if text else "", re.M
            )
            assert not any(heads), (
                f"gnomon.{family}.{name}: a line of its docstring stands left of the others"
            )


def test_docstrings_hold_no_leavings_of_broken_strings():
    for file in sorted((PROJECT / "src" / "gnomon").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node, clean=False) or ""
                where = f"{file.name}, {getattr(node, 'name', 'module')}"
                assert not re.search(r'\s"\n\s*"', text), f"{where}: quotes where a line was broken"
                assert not re.search(r"\\\\[A-Za-z]", text), f"{where}: doubled backslashes in a formula"
                assert not re.search(r"[\x07-\x08\x0b-\x0c\t]", text), (
                    f"{where}: a backslash became a character"
                )


def test_formulas_become_mathml():
    pytest.importorskip("latex2mathml", reason="installed by the docs extra")
    hook = load("formulas")
    html = hook.on_page_content('<p><span class="arithmatex">\\(\\lVert x \\rVert^2 &lt; 1\\)</span></p>')
    assert html.startswith("<p><math") and "arithmatex" not in html and "rVert" not in html
    block = hook.on_page_content('<div class="arithmatex">\\[\\operatorname{corr}(a, b)\\]</div>')
    assert 'display="block"' in block


def test_pages_are_made_from_the_project():
    pytest.importorskip("mkdocs", reason="installed by the docs extra")
    pages = load("pages")
    assert "load_old_faithful" in pages.api_page("datasets", pages.families()["datasets"])
    assert "[`gnomon.datasets`](datasets.md)" in pages.api_index()
    assert pages.course_page().startswith("# From course to code")
    assert pages.link("gnomon.datasets.load_old_faithful").endswith(
        "(api/datasets.md#gnomon.datasets.real.load_old_faithful)"
    )
    assert pages.link("sklearn.metrics.r2_score") == "`sklearn.metrics.r2_score`"


def test_every_public_name_has_an_entry():
    pytest.importorskip("mkdocs", reason="installed by the docs extra")
    pages = load("pages")
    assert set(pages.families()) >= {"linear", "cluster", "sequence"}
    for family, names in pages.families().items():
        page = pages.api_page(family, names)
        module = importlib.import_module(f"gnomon.{family}")
        for name in module.__all__:
            assert f"\n::: gnomon.{family}.{names[name]}.{name}\n" in page, f"gnomon.{family}.{name}"
    for name, file in gnomon._FUNCTIONS.items():
        assert f"\n::: gnomon.{file}.{name}\n" in pages.api_index()


def test_every_topic_of_the_map_stands_in_the_course_page():
    pytest.importorskip("mkdocs", reason="installed by the docs extra")
    pages = load("pages")
    page = pages.course_page()
    topics = [row["id"] for row in pages.read_table("topics.csv")]
    assert len(topics) == len(set(topics))
    for row in pages.read_table("syllabus.csv"):
        assert page.count(f'<span id="{row["id"]}">') == 1, row["id"]
        if row["api"].split(".")[2:3] and row["api"].split(".")[1] in pages.families():
            assert pages.link(row["api"]) in page


def test_models_that_scale_are_listed():
    pytest.importorskip("mkdocs", reason="installed by the docs extra")
    listed = load("pages").scaling_list()
    assert "[`LinearRegression`]" in listed and "[`KMeans`]" in listed and "DecisionTree" not in listed
    assert "<!-- models that scale -->" in (PROJECT / "docs" / "scaling.md").read_text(encoding="utf-8")


def test_commands_that_are_written_down_exist():
    pytest.importorskip("gnomon.cli.app")
    commands = load("commands")
    text = "".join(
        (PROJECT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/command-line.md")
    )
    said = set(re.findall(r"(?:^|`)gnomon ([a-z-]+)", text, re.MULTILINE))
    assert said >= {"compare", "predict"} and said <= set(commands.commands())
    assert all(f"### gnomon {name}" in commands.page() for name in commands.commands())
    assert "| `--seed` | Same seed, same answer. | `0` |" in commands.page()


def test_introductions_belong_to_families():
    pytest.importorskip("mkdocs", reason="installed by the docs extra")
    pages = load("pages")
    written = {path.stem for path in (PROJECT / "docs" / "families").glob("*.md")}
    assert written <= set(pages.families())
    assert "replaces" not in pages.introduction("linear")
    assert "[`Lasso`](linear.md#gnomon.linear.lasso.sparse.Lasso)" in pages.introduction("linear")


@pytest.fixture
def readme(monkeypatch):
    monkeypatch.syspath_prepend(str(PROJECT / "scripts"))
    return importlib.import_module("readme")


def test_readme_shows_names_that_exist(readme):
    for path in (PROJECT / "docs" / "families").glob("*.md"):
        said = readme.settings(path.stem)
        assert said and set(said) <= {"replaces", "shows"} and all(said.values()), path.name
        shown = set(said.get("shows", "").replace(",", " ").split())
        assert shown <= set(importlib.import_module(f"gnomon.{path.stem}").__all__), path.name
    assert readme.shown({}, ["a", "B"]) == "`B`, `a`"
    assert readme.shown({"shows": "c"}, list("abcd")) == "`c` and 3 more"


def test_readme_compares_with_the_best_peer(readme):
    rows = [
        {"name": "gnomon", "kind": "ours", "ratio": None},
        {"name": "peer (fast)", "kind": "peer", "ratio": 2.0},
        {"name": "peer (slow)", "kind": "peer", "ratio": 8.0},
        {"name": "BLAS", "kind": "floor", "ratio": 0.5},
        {"name": "absent", "kind": "peer", "ratio": None},
    ]
    other = [{"name": "rival", "kind": "peer", "ratio": 0.5}]
    line = readme.benchmark_line("trees", [{"contenders": rows}, {"contenders": other}])
    assert line == "| trees | 2 | peer, rival | 1.2× | 0.5× | 2.0× |"


def test_picture_of_the_readme_is_drawn_by_its_script(tmp_path):
    script = [sys.executable, str(PROJECT / "scripts" / "picture.py"), str(tmp_path / "picture.svg")]
    assert subprocess.run(script, capture_output=True, text=True).returncode == 0
    for picture in (tmp_path / "picture.svg", PROJECT / "docs" / "picture.svg"):
        text = picture.read_text(encoding="utf-8")
        assert text.rstrip().endswith("</svg>") and len(text) < 300_000
        assert 'href="http' not in text and "<text" not in text  # letters are outlines: no font is needed


def test_readme_keeps_what_stands_outside_the_marks(readme):
    text = "a\n<!-- x: written by scripts/stubs -->\nold\n<!-- end of x -->\nb\n"
    once = readme.between(text, "x", "new\n")
    assert once == text.replace("old\n", "\nnew\n\n") and readme.between(once, "x", "new\n") == once


def test_benchmark_rows_name_what_is_missing():
    pytest.importorskip("mkdocs", reason="installed by the docs extra")
    row = {"name": "peer", "version": "", "seconds": None, "remark": "missing: peer"}
    assert load("pages").benchmark_row(row) == "| peer |  |  |  |  |  | missing: peer |"


def test_the_site_fetches_nothing():
    text = (PROJECT / "mkdocs.yml").read_text()
    assert "font: false" in text
    for file in [*HOOKS.glob("*"), PROJECT / "docs" / "style.css"]:
        if file.is_file():
            assert "cdn" not in file.read_text().lower()


def test_every_page_of_the_menu_exists_or_is_generated():
    text = (PROJECT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    generated = {"course-to-code.md", "benchmarks.md"}
    named = {word for word in text.split() if word.endswith(".md")}
    assert named and all(page in generated or (PROJECT / "docs" / page).is_file() for page in named)


def teardown_module():
    sys.path[:] = [path for path in sys.path if path != str(HOOKS)]


def test_docstrings_hold_no_stray_quotes():
    """A docstring broken like a string of code shows its quotes to the reader."""
    import ast
    import re

    for file in sorted((PROJECT / "src" / "gnomon").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node, clean=False) or ""
                assert not re.search(r' "\n\s+"[^"]', text), f"{file.name}: {text[:80]}"
