"""Pictures of kernels and margins, and what a margin says of capacity."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from gnomon.kernels import RBF, KernelPerceptron, Linear, gram
from gnomon.plot import heat_map, kernel_curves, kernel_slice, margin
from gnomon.svm import SVC
from gnomon.theory import svm_capacity

XOR, Y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1, 1, 0, 0])


def test_a_kernel_from_a_point():
    ax = kernel_slice([RBF(1.0), Linear()], [0.5], width=1.0)
    x, values = ax.lines[0].get_data()
    assert values == pytest.approx(np.exp(-0.5 * (x - 0.5) ** 2)) and len(ax.get_legend().texts) == 2
    assert kernel_slice(RBF(1.0), [0.0, 1.0]).get_title() == "RBF()"
    with pytest.raises(ValueError, match="one or two columns"):
        kernel_slice(RBF(), [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="one kernel"):
        kernel_slice([RBF(), Linear()], [0.0, 1.0])


def test_curves_of_several_kernels():
    x = np.linspace(-1, 1, 9)
    ax = kernel_curves(x, x**3, alpha=1e-9)
    assert [line.get_label() for line in ax.lines] == [f"degree {p}" for p in (1, 3, 5, 7)]
    grid, cubic = ax.lines[1].get_data()
    assert np.ravel(cubic) == pytest.approx(np.ravel(grid) ** 3, abs=1e-4)
    assert len(kernel_curves(x, x, {"mine": RBF(0.3)}).lines) == 1
    with pytest.raises(ValueError, match="one column"):
        kernel_curves(np.ones((3, 2)), [1.0, 2.0, 3.0])


def test_gram_matrix_as_a_picture():
    K = gram("rbf", XOR[np.argsort(Y)], gamma=1.0)
    ax = heat_map(K)
    assert len(ax.texts) == 16 and ax.texts[0].get_text() == "1"


def test_margins_of_a_kernel_machine():
    model = SVC(gamma=1.0, C=10.0).fit(XOR, Y)
    ax = model.plot(XOR, Y)
    assert "on margin" in [text.get_text() for text in ax.get_legend().texts]
    assert len(margin(SVC(kernel="linear").fit(XOR, [0, 1, 1, 1]), XOR, [0, 1, 1, 1]).lines) >= 3
    ax = KernelPerceptron("rbf", gamma=0.5).fit(XOR, Y).plot(XOR, Y)
    assert "mistakes" in [text.get_text() for text in ax.get_legend().texts]
    three = SVC().fit(np.vstack([XOR, XOR + 3]), [0, 0, 1, 1, 2, 2, 2, 2])
    with pytest.raises(ValueError, match="two classes"):
        margin(three, XOR, Y)


def test_capacity_from_the_margin():
    X, y = [[-1.0, 1], [0, -1], [1.5, 1]], [1, 0, 1]
    assert (
        svm_capacity(SVC(kernel="linear", C=np.inf).fit(X, y), X, y).capacity == 3.0
    )  # the dimension and one
    mean = (1 + 2 * np.exp(-1) + np.exp(-2)) / 4  # of a row of the kernel matrix: all rows are alike
    found = svm_capacity(SVC(C=np.inf, gamma=1.0).fit(XOR, Y), XOR, Y)
    assert found.capacity == pytest.approx(1 + 10.0106012 * (1 - mean), rel=1e-6) and found.separates
    with pytest.raises(ValueError, match="no margin"):
        svm_capacity(RBF(), X, y)
