"""Private parts of other libraries: each behind one file, and an import that survives their moving."""

import re
import subprocess
import sys
from numbers import Integral, Real
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon.core import _own_parameters as own
from gnomon.core import parameters as theirs

SOURCE = Path(gnomon.__file__).parent
DOORS = {
    r"sklearn\.utils\._param_validation": "core/parameters.py",
    r"sklearn\.callback\._callback_support": "core/callback_support.py",
    r"(import|from) numba\b": "loops/_compile.py",
}


@pytest.mark.parametrize("pattern", DOORS)
def test_one_file_knows(pattern):
    knowing = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(pattern, path.read_text("utf-8"))
    ]
    assert knowing == [DOORS[pattern]]


def test_no_other_private_name_of_scikit_learn_is_imported():
    private = re.compile(
        r"^\s*(from sklearn[\w.]*\._\w+ |from sklearn[\w.]* import [^#\n]*\b_[a-zA-Z]\w*)", re.M
    )
    doors = {"core/parameters.py", "core/callback_support.py"}
    knowing = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if private.search(path.read_text("utf-8"))
    }
    assert knowing == doors


HIDE = """
import os, sys
import sklearn.base, sklearn.utils._param_validation as rules
import joblib, logging, threading, concurrent.futures.thread
os.__dict__.pop("register_at_fork", None)
del rules.validate_parameter_constraints
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "sklearn.callback._callback_support":
            raise ModuleNotFoundError(name)
for name in [name for name in sys.modules if name.startswith("sklearn.callback")]:
    del sys.modules[name]
sys.meta_path.insert(0, Hidden())
import numpy as np
from gnomon.linear import Ridge
from gnomon.core import parameters
X = np.arange(12.0).reshape(6, 2) ** 2
print(parameters.Interval.__module__, Ridge(0.1).fit(X, X[:, 0]).predict(X[3:4]).round(1)[0])
for wrong in (lambda: Ridge(alpha=-1.0).fit(X, X[:, 0]), lambda: Ridge().set_callbacks(print)):
    try:
        wrong()
    except (ValueError, ImportError) as error:
        print(error)
"""


def test_a_fit_works_where_they_have_moved():
    """Also without `os.register_at_fork`, which Windows does not have."""
    told = subprocess.run([sys.executable, "-c", HIDE], capture_output=True, text=True)
    lines = told.stdout.splitlines()
    assert told.returncode == 0, told.stderr
    assert lines[0] == "gnomon.core._own_parameters 36.0"
    assert lines[1].startswith("The 'alpha' parameter of Ridge must be")
    assert lines[2].startswith("callbacks need scikit-learn 1.9")


@pytest.mark.parametrize(
    "rule",
    [
        lambda m: [m.Interval(Integral, 1, 5, closed="left")],
        lambda m: [m.Interval(Real, 0, None, closed="neither")],
        lambda m: [m.StrOptions({"a", "b"}), None],
        lambda m: [m.Options(Real, {1, 0.5}), m.StrOptions({"b"})],
        lambda m: [m.HasMethods("fit")],
        lambda m: ["array-like", callable],
        lambda m: ["boolean"],
        lambda m: [m.Hidden(m.StrOptions({"old"})), str],
    ],
)
def test_our_rules_judge_as_theirs(rule):
    for value in (
        0,
        1,
        4,
        5,
        0.0,
        0.5,
        np.nan,
        "a",
        "c",
        "old",
        None,
        True,
        [1, 2],
        len,
        np.ones(2),
        object(),
    ):
        verdicts = []
        for module in (own, theirs):
            try:
                module.validate_parameter_constraints({"x": rule(module)}, {"x": value}, "Model")
                verdicts.append(True)
            except ValueError:
                verdicts.append(False)
        assert verdicts[0] == verdicts[1], value
