"""Pictures of networks show the numbers they are given."""

import numpy as np
import pytest
from matplotlib import pyplot

from gnomon import plot
from gnomon.core.errors import DataError
from gnomon.neural import (
    Activation,
    MLPClassifier,
    Value,
    architecture,
    gradient_flow,
    sigmoid_staircase,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def fitted(**options):
    X = np.random.default_rng(0).normal(size=(40, 4))
    y = (X[:, 0] > 0).astype(int)
    return MLPClassifier((3,), "tanh", max_iter=5, random_state=0, **options).fit(X, y), X, y


def test_images_lay_pictures_in_a_grid():
    pictures = np.arange(24.0).reshape(4, 2, 3)
    sheet = plot.images(pictures, columns=2).images[0].get_array().data
    assert sheet.shape == (6, 8) and sheet[0, 0] == 0 and sheet[1, 2] == 1 and np.isnan(sheet[2]).all()
    assert sheet[3, 4] == 0 and sheet[4, 6] == 1  # the last picture, on its own scale
    shared = plot.images(pictures, titles="abcd", each=False)
    assert shared.images[0].get_array()[1, 4] == pytest.approx(6 / 23) and len(shared.texts) == 4
    assert plot.images(np.zeros((2, 3, 4, 4))).images[0].get_array().shape == (5, 10, 3)  # colors
    assert plot.images(np.zeros((2, 2, 4, 4))).images[0].get_array().shape == (5, 20)
    model, _, _ = fitted()
    assert plot.images(model).images[0].get_array().shape == (3, 9)
    with pytest.raises(DataError, match="images must have shape"):
        plot.images(np.zeros(3))


def test_filters_of_a_convolution():
    pytest.importorskip("torch")
    from gnomon.neural import ConvNetClassifier, layers

    X, y = np.random.default_rng(0).normal(size=(12, 5, 5)), np.arange(12) % 2
    net = [layers.Conv2d(4, 3), layers.Activation("relu")]
    model = ConvNetClassifier(net, max_iter=1, early_stopping=False, random_state=0).fit(X, y)
    assert plot.images(model).images[0].get_array().shape == (4, 16)
    assert plot.images(model.activation_maps(X[:1], "conv1")).images[0].get_array().shape == (4, 16)
    assert plot.images(model.top_patches(X, "conv1", 0, k=4)).images[0].get_array().shape == (4, 16)
    assert plot.images(model.maximize_unit("conv1", 1, steps=3)[None]).images[0].get_array().shape == (6, 6)
    assert len(plot.layers(model).patches) == 2


def test_computation_graph_shows_values_and_slopes():
    x, y, z = Value(-2, "x"), Value(5, "y"), Value(-4, "z")
    ax = ((x + y) * z).plot()
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("-12") == 1 and texts.count("-4") == 4 and "3" in texts and "×" in texts
    assert len(ax.lines) == 4


def test_network_as_units_and_as_bars():
    model, _, _ = fitted()
    assert len(plot.layers(model).lines) == 4 * 3 + 3 * 1
    ax = plot.layers(architecture("vgg"), measure="activations")
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[0] == 64 * 224 * 224 and len(widths) == 13 + 5 + 3
    fields = plot.layers(architecture("vgg"), measure="receptive_field")
    assert fields.patches[17].get_width() == 212
    with pytest.raises(ValueError, match="measure must be one of"):
        plot.layers(architecture("vgg"), measure="size")


def test_gradient_norms_and_hidden_units():
    model, X, y = fitted()
    ax = plot.gradient_norms(gradient_flow(model, X, y))
    assert ax.get_yscale() == "log" and len(ax.lines[0].get_xdata()) == 2
    two = plot.gradient_norms([[1.0, 0.1], [1.0, 0.5]], names=["rnn", "lstm"])
    assert [text.get_text() for text in two.get_legend().get_texts()] == ["rnn", "lstm"]
    shown = plot.hidden_units(model, X, y, units=(2, 0))
    np.testing.assert_allclose(shown.collections[0].get_offsets(), model.hidden(X)[y == 0][:, [2, 0]])
    with pytest.raises(ValueError, match="units must be below 3"):
        plot.hidden_units(model, X, units=(0, 3))


def test_training_curve_with_validation():
    model, _, _ = fitted(early_stopping=True)
    ax = plot.trace(model, columns=["validation_score"])
    assert ax.get_xlabel() == "epoch" and len(ax.lines) == 2
    np.testing.assert_allclose(ax.lines[1].get_ydata(), model.validation_scores_)


def test_activation_curves_and_approximations():
    ax = Activation("tanh").plot()
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.tanh(ax.lines[0].get_xdata()))
    with pytest.raises(ValueError, match="no curve"):
        Activation("softmax").plot()
    assert sigmoid_staircase(np.sin, 0, 1, 3)[0].n_layers_ == 3
