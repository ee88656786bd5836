"""The site's own machinery: docstrings become Markdown, formulas MathML, results tables."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

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
    for family, names in load("names").families().items():
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
    names, reference = load("names"), load("reference")
    assert "[`load_old_faithful`](datasets/load_old_faithful.md)" in reference.family_page("datasets")
    assert "[`gnomon.datasets`](datasets.md)" in reference.index()
    assert names.link("gnomon.datasets.load_old_faithful").endswith("(api/datasets/load_old_faithful.md)")
    assert names.link("gnomon.linear.Ridge.fit", "fit", "../") == "[`fit`](../api/linear/Ridge.md)"
    assert names.link("gnomon.save") == "[`gnomon.save`](api/gnomon/save.md)"
    assert names.link("sklearn.metrics.r2_score") == "`sklearn.metrics.r2_score`"


def test_every_public_name_has_a_page_that_its_family_lists():
    reference = load("reference")
    pages, families = reference.pages(), load("names").families()
    assert set(families) >= {"linear", "cluster", "sequence"}
    for family, names in families.items():
        module = importlib.import_module(f"gnomon.{family}")
        for name in module.__all__:
            page = pages[f"{family}/{name}.md"]
            assert f"\n::: gnomon.{family}.{names[name]}.{name}\n" in page, f"gnomon.{family}.{name}"
            assert f"[gnomon.{family}](../{family}.md)" in page
            assert pages[f"{family}.md"].count(f"| [`{name}`]({family}/{name}.md) |") == 1
    for name, file in gnomon._FUNCTIONS.items():
        assert f"\n::: gnomon.{file}.{name}\n" in pages[f"gnomon/{name}.md"]
        assert f"[`{name}`](gnomon/{name}.md)" in pages["index.md"]


def test_pages_of_names_differ_by_more_than_capitals():
    """Two files that differ by capitals alone are one file on some machines."""
    places = [place.lower() for place in load("reference").pages()]
    assert len(places) == len(set(places))


def test_names_follow_one_another_as_their_families_list_them():
    reference = load("reference")
    listed = [place for place, _ in reference.order()]
    assert sorted(listed) == sorted(place for place in reference.pages() if "/" in place)
    for family in ("cluster", "plot"):
        tables = reference.family_page(family).partition("\n## ")[2]
        own = [place for place in listed if place.startswith(f"{family}/")]
        assert re.findall(r"^\| \[`\w+`\]\((.*?)\)", tables, re.MULTILINE) == own


def test_names_of_a_family_stand_by_kind():
    groups = load("reference").groups
    assert groups("cluster")["Models"][0] == "KMeans" and "choose_k" in groups("cluster")["Functions"]
    assert "GridWorld" in groups("decide")["Classes"]
    assert len(groups("plot")) > 5 and "Functions" not in groups("plot")  # too many for one table


def test_pages_of_names_lead_to_guides_lectures_and_scenes():
    around = "\n".join(load("reference").around("gnomon.cluster.KMeans"))
    assert "](../../guides/choosing-k.md" in around and "#lesson=kmeans_film" in around
    assert "](../../course-to-code/clustering-and-mixtures.md#lecture-k-means)" in around
    assert load("reference").around("gnomon.nothing.at_all") == []


def test_names_of_guides_are_those_that_their_code_uses():
    code = "from gnomon import plot\nfrom gnomon.svm import SVC, convex_hull as hull\nplot.trace(SVC())\n"
    text = f"```python\n{code}```\n"
    used = {"gnomon.plot.trace", "gnomon.svm.SVC", "gnomon.svm.convex_hull"}
    assert load("names").names_in(text + "`gnomon.svm.SVR`") == used


def test_pages_of_names_link_the_classes_they_speak_of():
    with_links = load("names").with_links
    assert with_links("<p><code>KMedoids</code></p>", "cluster") == (
        '<p><a href="../cluster/KMedoids.html"><code>KMedoids</code></a></p>'
    )
    assert 'href="../mixture/GaussianMixture.html"' in with_links("<code>GaussianMixture</code>", "cluster")
    for other in ('<a href="x"><code>KMedoids</code></a>', "<code>n_init</code>", "<code>Nothing</code>"):
        assert with_links(other, "cluster") == other


# Lectures


def test_every_topic_of_the_map_stands_in_one_lecture():
    courses, names = load("courses"), load("names")
    pages = courses.pages()
    topics = [row["id"] for row in courses.read_table("topics.csv")]
    assert len(topics) == len(set(topics))
    whole = "\n".join(pages.values())
    for row in courses.read_table("syllabus.csv"):
        assert whole.count(f'<span id="{row["id"]}">') == 1, row["id"]
        if row["api"].split(".")[2:3] and row["api"].split(".")[1] in names.families():
            assert names.link(row["api"], row["api"].removeprefix("gnomon."), "../") in whole


def test_lectures_stand_in_the_order_of_the_table_and_are_short():
    courses = load("courses")
    rows = courses.read_table("topics.csv")
    told = list(dict.fromkeys((row["part"], row["lecture"]) for row in rows))
    assert [(part, name) for part, taught in courses.parts().items() for name in taught] == told
    assert (
        sum(1 for before, after in zip(rows, rows[1:], strict=False) if before["lecture"] != after["lecture"])
        == len(told) - 1
    )
    assert (
        len(told) > 200
        and sorted(len(t) for taught in courses.parts().values() for t in taught.values())[-2] <= 25
    )
    assert list(courses.parts())[:2] == ["Regression", "Linear classifiers"]


def test_every_lecture_can_be_linked_to():
    courses = load("courses")
    pages = courses.pages()
    contents = pages["course-to-code.md"]
    for part, lectures in courses.parts().items():
        anchors = re.findall(r"^## .* \{#(.*)\}$", pages[courses.page_of(part)], re.MULTILINE)
        assert len(set(anchors)) == len(anchors) == len(lectures)
        assert all(f"]({courses.page_of(part)}#{anchor})" in contents for anchor in anchors)


def test_lectures_show_their_guide_and_their_scene():
    page = load("courses").part_page("Clustering and mixtures")
    lecture = page.partition("{#lecture-k-means}")[2].partition("\n## ")[0]
    assert "- Guides: [How many clusters?](../guides/choosing-k.md" in lecture
    assert "#lesson=kmeans_film" in lecture and "#model=KMeans" in lecture and "[guide](../guides/" in lecture


def test_scenes_of_the_site_are_those_of_the_lab():
    from gnomon.lab.learners import catalog
    from gnomon.lab.lessons import LESSONS

    site = "".join(load("courses").pages().values())
    lessons = {lesson.name for lesson in LESSONS}
    linked = set(re.findall(r"#lesson=(\w+)", site))
    assert linked <= lessons and len(linked) > len(lessons) / 2
    assert set(re.findall(r"#model=(\w+)", site)) <= set(catalog())


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
    reference = load("reference")
    written = {path.stem for path in (PROJECT / "docs" / "families").glob("*.md")}
    assert written <= set(load("names").families())
    assert reference.introduction("linear") and "replaces" not in reference.introduction("linear")
    assert "[`Lasso`](linear/Lasso.md)" in reference.introduction("linear")


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


def test_the_menu_holds_families_and_parts_but_no_names():
    """A menu of all names on the page of every name would be most of the site."""
    pytest.importorskip("mkdocs", reason="installed by the docs extra")
    nav = [{"Home": "index.md"}, {"From course to code": "course-to-code.md"}, {"API": "api/index.md"}]
    menu = {
        title: entry
        for one in load("pages").on_config(SimpleNamespace(nav=nav)).nav
        for title, entry in one.items()
    }
    assert menu["Home"] == "index.md" and menu["API"][0] == "api/index.md"
    assert {"gnomon.cluster": "api/cluster.md"} in menu["API"] and len(menu["API"]) < 40
    assert {"Regression": "course-to-code/regression.md"} == menu["From course to code"][1]
    assert "not_in_nav: /api/*/" in (PROJECT / "mkdocs.yml").read_text()


def test_pages_of_names_know_their_section_and_their_neighbors():
    pytest.importorskip("mkdocs", reason="installed by the docs extra")
    pages, reference = load("pages"), load("reference")
    made = {f"api/{place}": SimpleNamespace(place=place, parent="API") for place in reference.pages()}
    for place, _ in reference.order():
        made[f"api/{place}"].parent = None
    files = SimpleNamespace(get_file_from_path=lambda path: SimpleNamespace(page=made[path]))
    pages.on_nav(None, files)
    first, second, *_, last = [made[f"api/{place}"] for place, _ in reference.order()]
    assert first.previous_page is None and first.next_page is second and second.previous_page is first
    assert last.next_page is None and last.parent == "API"


def test_every_page_of_the_menu_exists_or_is_generated():
    text = (PROJECT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    generated = {"course-to-code.md", "benchmarks.md", "api/index.md"}
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
