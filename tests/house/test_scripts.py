"""The scripts: portable and sparing with installs."""

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SHELL = [
    *(path for path in (PROJECT / "scripts").iterdir() if path.is_file() and path.suffix == ""),
    PROJECT / ".ci" / "run",
]


@pytest.mark.parametrize("script", SHELL, ids=lambda path: path.name)
def test_scripts_parse_run_anywhere_and_name_no_machine(script):
    text = script.read_text()
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
    assert not re.search(r"(?<![\w}$/])/(home|work|root|opt|Users)/|index-url|pypi\.org", text)
    if script.name != "_env":
        assert script.stat().st_mode & stat.S_IXUSR
        assert text.startswith("#!/usr/bin/env bash\n")
        assert "BASH_SOURCE" in text, "must work from any folder"


# A python that writes down what it is asked to install

FAKE = """#!/usr/bin/env bash
case "$*" in
  "-c import pip") exit 0 ;;
  "-m pip install"*) echo "${@: -1}" >> "$LOG"; exit ${FAIL:-0} ;;
  *) exec "$REAL" "$@" ;;
esac
"""


@pytest.fixture
def environment(tmp_path):
    project = tmp_path / "project with space"
    (project / "scripts").mkdir(parents=True)
    shutil.copy(PROJECT / "scripts" / "_env", project / "scripts")
    (project / "pyproject.toml").write_text("one")
    (project / "constraints.txt").write_text("two")
    python = project / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(FAKE)
    python.chmod(0o755)
    log = tmp_path / "log"

    def use(*extras, **variables):
        log.unlink(missing_ok=True)
        command = f'. scripts/_env; use_environment {" ".join(extras)}; echo "$VIRTUAL_ENV|$PWD"'
        settings = {**os.environ, "LOG": str(log), "REAL": sys.executable, **variables}
        done = subprocess.run(
            ["bash", "-c", command], cwd=project, env=settings, capture_output=True, text=True
        )
        return done, log.read_text().split() if log.exists() else []

    return project, use


def test_environment_is_kept_while_its_inputs_are_the_same(environment):
    project, use = environment
    done, installed = use("dev")
    assert installed == [".[dev]"], done.stderr
    assert done.stdout.strip() == f"{project}/.venv|{project}"
    assert use("dev")[1] == []
    assert use()[1] == []


def test_new_extras_are_added_to_the_old_ones(environment):
    _, use = environment
    assert use("dev")[1] == [".[dev]"]
    assert use("bench")[1] == [".[dev,bench]"]
    assert use("dev")[1] == use("bench")[1] == []


def test_changed_inputs_install_again_with_all_extras(environment):
    project, use = environment
    use("dev"), use("docs")
    (project / "constraints.txt").write_text("three")
    assert use("docs")[1] == [".[dev,docs]"]


def test_a_failed_install_is_tried_again(environment):
    _, use = environment
    done, _ = use("dev", FAIL="1")
    assert done.returncode != 0
    assert use("dev")[1] == [".[dev]"]


def test_no_extras_means_the_package_alone(environment):
    assert environment[1]()[1] == ["."]
