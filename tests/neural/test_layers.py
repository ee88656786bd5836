"""Layers: sizes, counts and receptive fields by hand; the same as what PyTorch builds."""

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.neural import Activation, Network, architecture, layers
from gnomon.neural.layer_base import output_size

M = np.array([[1, 1, 2, 4], [5, 6, 7, 8], [3, 2, 1, 0], [1, 2, 3, 4]], dtype=float)


def run(layer, x, weights=None):
    """A built layer on one input, with weights given."""
    torch = pytest.importorskip("torch")
    x = np.asarray(x, dtype=np.float64)
    module = layer.build(x.shape).double().eval()
    if weights is not None:
        given = iter(weights)
        for parameter in module.parameters():
            value = next(given)
            parameter.data = torch.as_tensor(np.asarray(value, dtype=float)).reshape(parameter.shape)
    with torch.no_grad():
        out = module(torch.as_tensor(x)[None])[0].numpy()
    assert out.shape == layer.shape(x.shape)
    return out


# by hand


def test_sizes_by_hand():
    assert [output_size(7, 3, stride) for stride in (1, 2)] == [5, 3]
    assert output_size(7, 3, 1, 1) == 7
    for size in (3, 5, 7):
        assert output_size(32, size, 1, (size - 1) // 2) == 32


def test_a_size_that_does_not_fit_says_the_formula_and_a_cure():
    with pytest.raises(DataError, match=r"\(7 - 3 \+ 2\*0\)/3 \+ 1 = 2.33 .* stride=2 or padding=1"):
        output_size(7, 3, 3)
    assert output_size(7, 3, 3, rounding="floor") == 2
    assert output_size(7, 3, 3, rounding="ceil") == 3
    with pytest.raises(DataError, match="larger than the input"):
        output_size(2, 3)
    with pytest.raises(ValueError, match="Did you mean 'floor'"):
        output_size(7, 3, 3, rounding="flor")


def test_a_stride_beyond_all_measure_is_answered_at_once():
    with pytest.raises(DataError, match=r"Use stride=4, or"):
        output_size(7, 3, 2**40)


def test_ten_filters_of_five_by_five():
    conv = layers.Conv2d(10, 5, padding=2)
    assert conv.shape((3, 32, 32)) == (10, 32, 32)
    assert conv.parameters((3, 32, 32)) == 760 == 10 * 76
    assert layers.Conv2d(6, 5).shape((3, 32, 32)) == (6, 28, 28)
    assert conv.parameters((3, 64, 48)) == 760  # whatever the sides


def test_signal_filters_by_hand():
    relu = Activation("relu")
    x = np.arange(1.0, 6.0)[None]
    assert relu.value(run(layers.Conv1d(1, 3), x, [[1, 0, -1], [0]]))[0].tolist() == [0, 0, 0, 0, 4]
    assert relu.value(run(layers.Conv1d(1, 3), x, [[-1, 0, 1], [0]]))[0].tolist() == [2, 2, 2, 2, 0]
    assert relu.value(run(layers.Conv1d(1, 3, stride=2), x, [[-1, 0, 1], [0]]))[0].tolist() == [2, 2, 0]


def test_image_filter_correlates_and_scipy_convolves():
    from scipy.signal import convolve2d

    kernel = np.array([[1.0, 0.0], [-1.0, 2.0]])
    assert run(layers.Conv2d(1, 2), M[None], [kernel, [0]])[0].tolist() == [[8, 9, 11], [6, 6, 6], [6, 6, 6]]
    assert convolve2d(M, kernel, mode="valid")[0].tolist() == [7, 7, 8]
    assert run(layers.Conv2d(1, 2), M[None], [kernel[::-1, ::-1].copy(), [0]])[0][0].tolist() == [7, 7, 8]


def test_pools_by_hand():
    image = M[None]
    assert run(layers.MaxPool(2), image)[0].tolist() == [[6, 8], [3, 4]]
    assert run(layers.AvgPool(2), image)[0].tolist() == [[3.25, 5.25], [2, 2]]
    assert run(layers.MaxPool(3, 2, rounding="floor"), image)[0].tolist() == [[7]]
    assert run(layers.MaxPool(3, 2, rounding="ceil"), image)[0].tolist() == [[7, 8], [3, 4]]
    centered = layers.MaxPool(3, 1, align="centered")
    assert run(centered, [[1.0, 5.0, 2.0, 0.0]])[0].tolist() == [5, 5, 5, 2]
    assert run(layers.GlobalAvgPool(), image).tolist() == [M.mean()]


def test_maxout_layer_by_hand():
    weights = [[[1, -1], [-2, 0.5]], [0.5, 0]]
    assert run(layers.Maxout(1, pieces=2), [1.0, 2.0], weights).tolist() == [-0.5]


def test_local_response_by_its_definition():
    a = np.random.default_rng(0).normal(size=(7, 2, 2)) * 10
    layer = layers.LocalResponseNorm(n=5, k=2, alpha=1e-2, beta=0.75)
    expected = np.empty_like(a)
    for i in range(7):
        near = a[max(0, i - 2) : i + 3]
        expected[i] = a[i] / (2 + 1e-2 * (near**2).sum(axis=0)) ** 0.75
    np.testing.assert_allclose(run(layer, a), expected, rtol=1e-12)


# properties


def test_one_by_one_is_a_dense_layer_for_every_pixel():
    rng = np.random.default_rng(1)
    x, W, b = rng.normal(size=(5, 4, 3)), rng.normal(size=(2, 5)), rng.normal(size=2)
    expected = np.einsum("oc,chw->ohw", W, x) + b[:, None, None]
    np.testing.assert_allclose(run(layers.Conv2d(2, 1), x, [W, b]), expected, rtol=1e-12)


def test_convolution_moves_with_its_input_and_stride_takes_every_second():
    rng = np.random.default_rng(2)
    x, W = rng.normal(size=(2, 9, 9)), [rng.normal(size=(3, 2, 3, 3)), rng.normal(size=3)]
    plain = run(layers.Conv2d(3, 3), x, W)
    moved = run(layers.Conv2d(3, 3), np.roll(x, 1, axis=2), W)
    np.testing.assert_allclose(moved[:, :, 1:], plain[:, :, :-1], rtol=1e-12)
    np.testing.assert_allclose(run(layers.Conv2d(3, 3, stride=2), x, W), plain[:, ::2, ::2], rtol=1e-12)


def test_residual_block_with_a_zero_body_is_its_activation():
    block = layers.Residual([layers.Conv2d(2, 3, padding=1)])
    x = np.random.default_rng(3).normal(size=(2, 4, 4))
    np.testing.assert_array_equal(run(block, x, [np.zeros((2, 2, 3, 3)), np.zeros(2)]), np.maximum(x, 0))


def test_residual_block_projects_where_shapes_differ():
    block = layers.Residual([layers.Conv2d(4, 3, 2, 1, bias=False, rounding="floor"), layers.BatchNorm()])
    x = np.random.default_rng(4).normal(size=(2, 6, 6))
    assert run(block, x).shape == (4, 3, 3)
    assert block.cost((2, 6, 6)).weights == 4 * 2 * 9 + 4 + 4 * 2 + 4
    padded = layers.Residual([layers.Conv2d(4, 3, 2, 1, bias=False, rounding="floor")], shortcut="pad")
    out = run(padded, x, [np.zeros((4, 2, 3, 3))])
    np.testing.assert_array_equal(out[:2], np.maximum(x[:, ::2, ::2], 0))
    assert not out[2:].any()


def test_inception_is_four_branches():
    module = layers.Inception(2, 3, 4, 2, 3, 1)
    x = np.random.default_rng(5).normal(size=(3, 6, 6))
    assert run(module, x).shape == (10, 6, 6)


# architectures

NETS = [
    ("lenet5", {}),
    ("lenet5", {"sparse_c3": True}),
    ("lenet5", {"input_shape": (1, 28, 28), "pool": "max"}),
    ("alexnet", {}),
    ("alexnet", {"groups": 2, "norm": "before_pool"}),
    ("zfnet", {}),
    *[("vgg", {"config": config}) for config in ("A", "A-LRN", "B", "C", "D", "E")],
    ("googlenet", {}),
    *[("resnet", {"depth": depth}) for depth in (18, 34, 50, 101, 152, 20, 56)],
]


@pytest.mark.parametrize("name, options", NETS)
def test_account_equals_the_built_module(name, options):
    torch = pytest.importorskip("torch")
    net = architecture(name, **options)
    with torch.device("meta"):
        module = net.build("meta")
        counted = sum(p.numel() for p in module.parameters())
        shapes, x = [], torch.empty(1, *net.input_shape)
        for part in module.eval():
            x = part(x)
            shapes.append(tuple(x.shape[1:]))
    unused = (96 - 60) * 25 if options.get("sparse_c3") else 0  # of LeNet's table
    assert net.describe().parameters == counted - unused
    assert net.shapes() == shapes


def test_lenet_by_hand():
    account = architecture("lenet5").describe()
    assert (account.parameters, account.multiply_adds) == (61_706, 416_520)
    assert account["conv3"].receptive_field == 32
    sparse = architecture("lenet5", sparse_c3=True).describe()["conv2"]
    assert sparse.weights + sparse.biases == 1516


def test_alexnet_by_hand():
    account = architecture("alexnet").describe()
    rows = [row for row in account.rows[1:] if row.name.startswith(("conv", "pool", "dense"))]
    assert [row.shape for row in rows] == [
        (96, 55, 55), (96, 27, 27), (256, 27, 27), (256, 13, 13), (384, 13, 13), (384, 13, 13), (256, 13, 13),
        (256, 6, 6), (4096,), (4096,), (1000,),
    ]  # fmt: skip
    assert [row.weights for row in rows if row.weights] == [
        34_848, 614_400, 884_736, 1_327_104, 884_736, 37_748_736, 16_777_216, 4_096_000,
    ]  # fmt: skip
    assert (account.weights, account.biases) == (62_367_776, 10_568)
    assert account.multiply_adds == 1_135_256_096
    assert (account["pool3"].receptive_field, account["pool3"].jump) == (195, 32)


def test_vgg_by_hand():
    account = architecture("vgg").describe()
    assert (account.weights, account.biases, account.parameters) == (138_344_128, 13_416, 138_357_544)
    assert account.activations == 15_237_608 and account.memory_bytes == 60_950_432
    assert account.multiply_adds == 15_470_264_320
    assert account["pool5"].receptive_field == 212
    assert architecture("vgg", config="A").describe().parameters == 132_863_336
    assert architecture("vgg", config="B").describe().parameters == 133_047_848
    depths = {"A": 11, "A-LRN": 11, "B": 13, "C": 16, "D": 16, "E": 19}
    for config, depth in depths.items():
        net = architecture("vgg", config=config)
        assert sum(name.startswith(("conv", "dense")) for name, _ in net.layers) == depth


def test_googlenet_by_hand():
    net = architecture("googlenet")
    account = net.describe()
    modules = [account[name] for name in ("3a", "3b", "4a", "4b", "4c", "4d", "4e", "5a", "5b")]
    assert [row.shape[0] for row in modules] == [256, 480, 512, 512, 512, 528, 832, 832, 1024]
    assert [row.weights for row in modules[:4]] == [163_328, 388_096, 375_552, 448_512]
    assert [account[name].shape[1] for name in ("conv1", "pool1", "pool2", "pool3", "pool4")] == [
        112,
        56,
        28,
        14,
        7,
    ]
    assert (account.weights, account.weights - account["dense1"].weights) == (6_990_272, 5_966_272)
    assert account.biases == 8_280


def test_resnet_parameters():
    counted = [architecture("resnet", depth=depth).describe().parameters for depth in (18, 34, 50)]
    assert counted == [11_689_512, 21_797_672, 25_557_032]


def test_zfnet_sizes():
    account = architecture("zfnet").describe()
    names = ("conv1", "pool1", "conv2", "pool2", "conv5", "pool3")
    assert [account[name].shape[1] for name in names] == [110, 55, 26, 13, 13, 6]


def test_published_recipe_and_errors():
    net = architecture("alexnet")
    expected = {
        "batch_size": 128,
        "momentum": 0.9,
        "learning_rate_init": 1e-2,
        "weight_decay": 5e-4,
        "dropout": 0.5,
    }
    assert expected.items() <= net.recipe.items() and net.recipe["ensemble"] == 7
    assert net.recipe["learning_rate"] == "plateau"
    assert net.top5_error == {"single": 18.2, "ensemble of 7": 15.4}
    found = {
        name: list(architecture(name).top5_error.values())[-1]
        for name in ("zfnet", "vgg", "googlenet", "resnet")
    }
    assert found == {"zfnet": 14.8, "vgg": 7.3, "googlenet": 6.7, "resnet": 3.6}


# accounts


def test_account_is_text_and_table():
    net = Network([layers.Conv2d(2, 3), layers.BatchNorm(), layers.Dense(4)], (1, 5, 5))
    account = net.describe(bytes_per_value=8)
    assert account.activations == 25 + 18 + 4 and account.memory_bytes == 8 * 47
    assert "conv1" in repr(account) and "2×3×3" in repr(account)
    assert account.to_frame().loc["dense1", "weights"] == 72
    assert "<table" in account._repr_html_()
    with_norm = Network([layers.Conv2d(2, 3), layers.BatchNorm()], (1, 5, 5)).describe(count_norm=True)
    assert with_norm.activations == 25 + 18 + 18
    with pytest.raises(KeyError, match="no layer is named 'conv9'"):
        account["conv9"]


# awkward


def test_layers_that_do_not_connect_are_named():
    with pytest.raises(
        DataError, match="layer 'conv1' cannot follow layer 'dense1', whose shape is \\(4,\\)"
    ):
        Network([layers.Dense(4), layers.Conv2d(2, 3)], (1, 5, 5))
    with pytest.raises(TypeError, match="is no layer"):
        Network([3], (1, 5, 5))
    with pytest.raises(DataError, match="groups=3 must divide"):
        Network([layers.Conv2d(4, 3, groups=3)], (3, 5, 5))
    with pytest.raises(DataError, match="odd size and stride 1"):
        Network([layers.Conv2d(4, 2, padding="same")], (3, 5, 5))


def test_an_image_too_small_is_told_the_smallest():
    with pytest.raises(DataError, match="smallest square image for lenet5 is 28×28"):
        architecture("lenet5", input_shape=(1, 20, 20))
    with pytest.raises(ValueError, match="Did you mean 'resnet'"):
        architecture("resnett")
    with pytest.raises(ValueError, match="depth must be one of"):
        architecture("resnet", depth=19)
