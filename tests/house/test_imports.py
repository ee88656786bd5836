"""What import-linter cannot say: front doors use public names, and no modules import each other in a circle."""

import ast
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import gnomon
from gnomon._lazy import PACKAGES

ROOT = Path(gnomon.__file__).parent
FRONT = ("cli", "lab", "report")
INNER = {  # colors of pictures, and the arithmetic of scores that a report shows: nobody's public names
    "gnomon.plot.style",
    "gnomon.selection.areas.delong_parts",
    "gnomon.selection.held_out.rank_of",
    "gnomon.selection.intervals.Interval",
    "gnomon.selection.intervals.corrected_error",
    "gnomon.selection.intervals.score_interval",
}


def modules():
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("gnomon", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"))
    return found


MODULES = modules()


def imports(nodes):
    """Pairs of a module of the library and a name taken from it."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "gnomon":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "gnomon")


def test_front_doors_import_public_names_only():
    inner = set()
    for module, tree in MODULES.items():
        if module.split(".")[1:2] and module.split(".")[1] in FRONT:
            for source, name in imports(ast.walk(tree)):
                family = source.split(".")[1:2]
                if not family or family[0] in ("core", *FRONT) or family[0].startswith("_"):
                    continue
                if f"{source}.{name}" in MODULES or len(source.split(".")) > 2:
                    inner.add(f"{source}.{name}")
                else:
                    assert not name or name in import_module(source).__all__, (
                        f"{module} imports {source}.{name}"
                    )
    assert inner == INNER


def test_no_modules_import_each_other_in_a_circle():
    graph = {}
    for module, tree in MODULES.items():
        sources = (f"{a}.{b}" if f"{a}.{b}" in MODULES else a for a, b in imports(tree.body))
        graph[module] = {source for source in sources if source in MODULES and source != module}
    TopologicalSorter(graph).prepare()  # raises CycleError with the circle


def file_of(source, name):
    """The file that a name comes from."""
    if f"{source}.{name}" in MODULES:
        return f"{source}.{name}"
    return f"{source}.{PACKAGES[source][name]}" if name in PACKAGES.get(source, {}) else source


def test_imports_inside_functions_go_in_circles_only_within_a_family():
    for family in gnomon._subpackages():
        import_module(f"gnomon.{family}")
    places = {module: place for place, module in enumerate(MODULES)}
    edges = {
        (places[module], places[file_of(source, name)])
        for module, tree in MODULES.items()
        for source, name in imports(without_types(tree))
        if file_of(source, name) in places
    }
    ends = np.array(sorted(edges)).T
    graph = coo_array((np.ones(ends.shape[1]), ends), shape=(len(places),) * 2).tocsr()
    labels = connected_components(graph, connection="strong")[1]
    circles = [np.array(list(places))[labels == k] for k in np.flatnonzero(np.bincount(labels) > 1)]
    families = {frozenset(module.split(".")[1] for module in circle) for circle in circles}
    # A sweep over worlds is solved where it is drawn; the operators of kernels make kernels.
    assert families <= {frozenset({one}) for one in ("association", "graphical", "kernels", "svm")} | {
        frozenset({"decide", "plot"})
    }


def without_types(tree):
    """The nodes of a file, less imports for annotations alone."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from without_types(node)
