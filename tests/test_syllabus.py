"""The map from topics to names is whole: every name imports, every test exists, and the check can fail."""

import importlib.util
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def syllabus():
    spec = importlib.util.spec_from_file_location("syllabus_script", PROJECT / "scripts" / "syllabus.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_map_is_whole(syllabus):
    assert syllabus.check(PROJECT) == []


@pytest.fixture
def project(tmp_path):
    (tmp_path / "docs" / "syllabus.d").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("def test_one():\n    pass\n")
    return tmp_path


def write(project, name, *rows):
    text = "\n".join(["id,api,test", *rows, ""])
    (project / "docs" / "syllabus.d" / name).write_text(text)
    return project


def test_fragments_are_assembled_in_order(syllabus, project):
    write(project, "02.csv", "b,math.cos,tests/test_a.py::test_one")
    write(project, "01.csv", "a,math.sin,tests/test_a.py::test_one")
    text = syllabus.as_csv(syllabus.assemble(project))
    rows = ["a,math.sin,tests/test_a.py::test_one", "b,math.cos,tests/test_a.py::test_one"]
    assert text == "\n".join(["id,api,test", *rows, ""])
    (project / "docs" / "syllabus.csv").write_text(text)
    assert syllabus.check(project) == []


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("x,math.sinn,tests/test_a.py::test_one", "math has no sinn"),
        ("x,no_such_package.thing,tests/test_a.py::test_one", "does not import"),
        ("x,math.sin,tests/test_a.py::test_two", "has no test_two"),
        ("x,math.sin,tests/test_b.py::test_one", "there is no file"),
        ("x,math.sin,tests/test_a.py", "path::function"),
        ("a,math.sin,tests/test_a.py::test_one", "stands in 01.csv:2 already"),
    ],
)
def test_faults_are_named(syllabus, project, row, fault):
    write(project, "01.csv", "a,math.sin,tests/test_a.py::test_one")
    write(project, "02.csv", row)
    wrong = syllabus.check(project)
    assert any(line.startswith("02.csv:2") and fault in line for line in wrong)


def test_stale_file_is_noticed(syllabus, project):
    write(project, "01.csv", "a,math.sin,tests/test_a.py::test_one")
    assert syllabus.check(project) == [
        "docs/syllabus.csv differs from its fragments: run scripts/syllabus and commit it"
    ]


def test_methods_and_attributes_count_as_names(syllabus):
    assert syllabus.missing_name("sklearn.linear_model.Ridge.fit") == ""
    assert syllabus.missing_name("gnomon.datasets.load_old_faithful") == ""


def test_wrong_header_is_refused(syllabus, project):
    (project / "docs" / "syllabus.d" / "01.csv").write_text("id,name\n")
    with pytest.raises(SystemExit, match="first line must be id,api,test"):
        syllabus.assemble(project)
