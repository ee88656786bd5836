"""Trees in words."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor, export_text

X, Y = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]]), np.array(["a", "b", "a", "a"])


def test_names_layout_and_weights_are_as_asked():
    model = DecisionTreeClassifier().fit(X, Y)
    told = export_text(
        model, feature_names=["size", "age"], class_names=["no", 1], spacing=1, decimals=1, show_weights=False
    )
    assert told.splitlines() == [
        "|- size <= 2.5",
        "| |- size <= 1.5",
        "| | |- no",
        "| |- size > 1.5",
        "| | |- 1",
        "|- size > 2.5",
        "| |- no",
    ]


def test_deep_branches_are_one_line():
    model = DecisionTreeClassifier().fit(X, Y)
    whole = export_text(model).splitlines()
    assert export_text(model, max_depth=1).splitlines() == whole
    assert export_text(model, max_depth=0).splitlines() == [
        whole[0],
        "|   |--- truncated branch of depth 2",
        *whole[-2:],
    ]
    assert max(line.count("|") for line in whole) == 3


@pytest.mark.parametrize(
    "options",
    [
        {"feature_names": ["a"]},
        {"class_names": ["a", "b", "c"]},
        {"spacing": 0},
        {"decimals": -1},
        {"max_depth": 1.5},
    ],
)
def test_names_and_layout_that_do_not_fit_are_refused(options):
    model = DecisionTreeClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=next(iter(options))):
        export_text(model, **options)


def test_a_tree_of_numbers_has_no_classes_to_name():
    model = DecisionTreeRegressor(max_depth=1).fit(X, [1.0, 1.0, 3.0, 3.0])
    assert export_text(model, decimals=0).splitlines()[1] == "|   |--- 1"
    with pytest.raises(ValueError, match="class_names"):
        export_text(model, class_names=["a", "b"])
    with pytest.raises(NotFittedError):
        export_text(DecisionTreeRegressor())


def test_leaves_of_several_outputs_tell_a_class_each():
    Z = np.array([["a", "0"], ["b", "0"], ["a", "1"], ["a", "1"]])
    model = DecisionTreeClassifier().fit(X, Z)
    assert [line for line in export_text(model).splitlines() if "<=" not in line and ">" not in line] == [
        "|   |   |--- a, 0 (1)",
        "|   |   |--- b, 0 (1)",
        "|   |--- a, 1 (2)",
    ]
    told = export_text(model, class_names=[["x", "y"], ["no", "yes"]], show_weights=False)
    assert told.splitlines()[-1] == "|   |--- x, yes"
    with pytest.raises(ValueError, match="class_names"):
        export_text(model, class_names=["x", "y", "z"])
