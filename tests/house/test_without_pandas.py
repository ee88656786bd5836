"""pandas makes tables for people; nothing else may need it."""

import ast
import subprocess
import sys
from pathlib import Path

import gnomon

SOURCE = Path(gnomon.__file__).parent

WITHOUT = """
import sys
sys.modules["pandas"] = None
import numpy as np, polars as pl
from gnomon.graphical import BayesianNetworkClassifier
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.trees import DecisionTreeClassifier
X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
model = LogisticRegression(C=np.inf).fit(X, y)
for table in (model.summary(), LinearRegression().fit(X, y).summary()):
    assert "95% interval" in str(table)
    try:
        table.to_frame()
    except ImportError as error:
        assert "pip install pandas" in str(error), error
    else:
        raise AssertionError("a frame without pandas")
frame = pl.DataFrame({"word": ["a", "b", "a", "b"], "number": [0.0, 1.0, 2.0, 3.0]})
tree = DecisionTreeClassifier(categorical_features=[0]).fit(frame, [0, 1, 0, 1])
assert tree.predict(frame).tolist() == [0, 1, 0, 1]
net = BayesianNetworkClassifier().fit(frame.select("word"), ["x", "y", "x", "y"])
assert net.predict(frame.select("word")).tolist() == ["x", "y", "x", "y"]
import gnomon
with gnomon.threads(1):
    assert set(gnomon.warm_up("association", "graphical")) == {"association", "graphical"}
"""


def test_summaries_and_polars_frames_do_without():
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)


def test_one_place_imports_it():
    importing = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            if any(name.partition(".")[0] == "pandas" for name in names):
                importing.add(file.relative_to(SOURCE).as_posix())
    assert importing == {"core/frames.py", "association/columns.py"}  # the second is a column of its kind
