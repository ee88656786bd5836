"""Networks in pieces: passes in blocks, changes of images by their draws, sizes of named networks, codes of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats

from gnomon.core.errors import DataError
from gnomon.loops import dense
from gnomon.neural import Augmentation, architecture, dense_plan
from gnomon.neural.dense_plan import (
    Memory,
    Pass,
    Stack,
    flat,
    mean_pass,
    objective,
    scores,
    train_pass,
    unflat,
)

RNG = np.random.default_rng(0)
STACK = Stack((3, 4, 2), ("tanh",), loss="squared_error")
COEFS = [RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2))]
BIASES = [RNG.normal(size=4), RNG.normal(size=2)]
PARAMS = flat(COEFS, BIASES)
X, T, WEIGHT = RNG.normal(size=(50, 3)), RNG.normal(size=(50, 2)), RNG.uniform(0.5, 2, 50)


def test_weights_lie_one_layer_after_the_other():
    assert PARAMS.tolist() == [*COEFS[0].ravel(), *BIASES[0], *COEFS[1].ravel(), *BIASES[1]]
    assert STACK.size() == len(PARAMS) == 26 and STACK.shapes() == [(3, 4), (4, 2)]
    coefs, intercepts = unflat(STACK, PARAMS)
    for mine, theirs in zip(coefs + intercepts, COEFS + BIASES):
        np.testing.assert_array_equal(mine, theirs)
    maxout = Stack((3, 4, 2), ("maxout",), pieces=3)
    assert maxout.shapes() == [(3, 12), (4, 2)] and maxout.size() == 4 * 12 + 5 * 2


def value(params):
    W, V = unflat(STACK, params)[0]
    b, c = unflat(STACK, params)[1]
    F = np.tanh(X @ W + b) @ V + c
    loss = WEIGHT @ (0.5 * ((F - T) ** 2).sum(axis=1)) / WEIGHT.sum()
    return F, loss + 0.5 * (0.3 / WEIGHT.sum() + 0.1) * (np.sum(W**2) + np.sum(V**2))


@pytest.mark.parametrize("rows", [1024, 7])
def test_a_full_sum_is_its_formula_in_any_blocks(monkeypatch, rows):
    monkeypatch.setattr(dense_plan, "BLOCK_ROWS", rows)
    F, expected = value(PARAMS)
    assert_allclose(scores(STACK, PARAMS, X), F)
    found, slope = objective(STACK, PARAMS, X, T, WEIGHT, 0.3, 0.1)
    assert found == pytest.approx(expected)
    for k in range(0, 26, 3):
        h = np.zeros(26)
        h[k] = 1e-6
        assert slope[k] == pytest.approx((value(PARAMS + h)[1] - value(PARAMS - h)[1]) / 2e-6, abs=1e-7)
    none = WEIGHT * (np.arange(50) >= 7)
    alone = objective(STACK, PARAMS, X[7:], T[7:], WEIGHT[7:], 0.0, 0.0)
    assert_allclose(objective(STACK, PARAMS, X, T, none, 0.0, 0.0)[1], alone[1])


@pytest.mark.parametrize("order", [None, np.arange(49, -1, -1)], ids=["given", "turned"])
@pytest.mark.parametrize("solver", [0, 1])
def test_a_pass_is_the_same_in_any_blocks(monkeypatch, order, solver):
    rule = dense.Rule(solver, 0.9, False, 0.9, 0.999, 1e-8, False, 0.0, 0.3, 0.0)
    rates = np.linspace(0.1, 0.02, 7)
    memory, zero = Memory(PARAMS, np.zeros(26), np.zeros(26), 3), np.zeros(26)
    whole, found = train_pass(STACK, rule, memory, X, T, WEIGHT, order, 8, rates, 1)
    assert whole.step == 10 and np.array_equal(memory.params, PARAMS) and not memory.first.any()
    monkeypatch.setattr(dense_plan, "BLOCK_BYTES", 1)  # a block for every batch
    parts, again = train_pass(STACK, rule, memory, X, T, WEIGHT, order, 8, rates, 1)
    for one, other in zip(whole, parts):
        np.testing.assert_array_equal(one, other)
    assert again.loss == pytest.approx(found.loss) and again.steepest == found.steepest
    assert_allclose(again.norms, found.norms)
    # the same, step by step
    params, first, second = PARAMS.copy(), zero.copy(), zero.copy()
    rows, total, steepest, norms = np.arange(50) if order is None else order, 0.0, 0.0, np.zeros(2)
    for k in range(7):
        some = rows[8 * k : 8 * k + 8]
        mass = WEIGHT[some].sum()
        loss, slope = objective(STACK, params, X[some], T[some], WEIGHT[some], 0.3, 0.0)
        total, steepest = total + mass * loss, max(steepest, np.abs(slope).max())
        norms += [np.linalg.norm(slope[:12]), np.linalg.norm(slope[16:24])]
        if solver == 0:
            first = 0.9 * first - rates[k] * slope
            params = params + first
        else:
            first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
            t = 3 + k + 1
            size = rates[k] * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            params = params - size * first / (np.sqrt(second) + 1e-8)
    assert_allclose(whole.params, params, rtol=1e-9)
    assert_allclose(whole.first, first, rtol=1e-9)
    assert found.loss == pytest.approx(total / WEIGHT.sum()) and found.steepest == pytest.approx(steepest)
    assert_allclose(found.norms, norms / 7)


def test_passes_over_parts_are_weighed():
    one, two = Pass(1.0, 5.0, np.array([1.0, 0.0])), Pass(4.0, 3.0, np.array([4.0, 2.0]))
    both = mean_pass([one, two], [2.0, 1.0])
    assert both.loss == pytest.approx(2.0) and both.steepest == 5.0
    assert_allclose(both.norms, [2.0, 2 / 3])
    assert mean_pass([one], [7.0]) is one
    assert np.isnan(mean_pass([one, two._replace(steepest=np.nan)], [1.0, 1.0]).steepest)


# images

IMAGE = np.arange(1.0, 10.0).reshape(1, 1, 3, 3)
RGB = RNG.uniform(size=(2, 3, 4, 4))
MIDDLE = np.r_[np.full(8, 0.5), np.zeros(3)]  # draws that change nothing but by chance


def changed(X, draws, **options):
    rows = np.tile(MIDDLE, (len(X), 1))
    for place, number in draws.items():
        rows[:, place] = number
    return Augmentation(**options).apply(X, rows, np.arange(len(X)))


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        ({}, [[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        ({0: 1.0}, [[0, 0, 0], [1, 2, 3], [4, 5, 6]]),
        ({0: 0.0}, [[4, 5, 6], [7, 8, 9], [0, 0, 0]]),
        ({1: 1.0}, [[0, 1, 2], [0, 4, 5], [0, 7, 8]]),
        ({0: 0.0, 1: 0.0}, [[5, 6, 0], [8, 9, 0], [0, 0, 0]]),
    ],
)
def test_images_are_moved_by_their_draws(draws, expected):
    assert changed(IMAGE, draws, shift=1)[0, 0].tolist() == expected


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        ({}, [[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        ({3: 0.0}, [[0, 0, 0], [1, 2, 3], [4, 5, 6]]),
        ({4: 0.99}, [[2, 3, 0], [5, 6, 0], [8, 9, 0]]),
        ({3: 0.67, 4: 0.0}, [[0, 4, 5], [0, 7, 8], [0, 0, 0]]),
    ],
)
def test_images_are_cut_out_where_their_draws_say(draws, expected):
    assert changed(IMAGE, draws, crop_padding=1)[0, 0].tolist() == expected


def test_images_are_turned_and_mirrored_by_their_draws():
    assert_allclose(changed(IMAGE, {2: 1.0}, rotate=90.0)[0, 0], np.rot90(IMAGE[0, 0]), atol=1e-9)
    assert_allclose(changed(IMAGE, {2: 0.0}, rotate=90.0)[0, 0], np.rot90(IMAGE[0, 0], -1), atol=1e-9)
    assert changed(IMAGE, {5: 0.29}, flip=0.3)[0, 0].tolist() == IMAGE[0, 0, :, ::-1].tolist()
    assert changed(IMAGE, {5: 0.3}, flip=0.3)[0, 0].tolist() == IMAGE[0, 0].tolist()


def test_colors_follow_their_draws():
    assert_allclose(changed(RGB, {6: 1.0}, brightness=0.4), 1.4 * RGB)
    assert_allclose(changed(RGB, {6: 0.0}, brightness=0.4), 0.6 * RGB)
    mean = RGB.mean(axis=(1, 2, 3))[:, None, None, None]
    assert_allclose(changed(RGB, {7: 0.75}, contrast=0.4), mean + 1.2 * (RGB - mean))
    gray = (0.299 * RGB[:, 0] + 0.587 * RGB[:, 1] + 0.114 * RGB[:, 2])[:, None]
    assert_allclose(changed(RGB, {0: 0.0}, saturation=0.4), gray + 0.6 * (RGB - gray))
    found = changed(RGB, {8: 1.0, 9: -2.0, 10: 0.5}, color_pca=0.1)
    for image, moved in zip(RGB, found):
        values, vectors = np.linalg.eigh(np.cov(image.reshape(3, -1)))
        assert_allclose(
            moved - image,
            np.broadcast_to((vectors @ (0.1 * values * [1, -2, 0.5]))[:, None, None], (3, 4, 4)),
        )
    assert_allclose(
        changed(RGB, {6: 1.0}, brightness=9.0, value_range=(0.2, 0.8)), np.clip(10 * RGB, 0.2, 0.8)
    )
    assert changed(RGB.astype(np.float32), {}, brightness=0.5).dtype == np.float32
    with pytest.raises(DataError, match="three channels; the images have 1"):
        changed(IMAGE, {}, color_pca=0.1)


def test_changes_are_those_of_the_image_not_of_its_batch():
    many, rng = RNG.uniform(size=(6, 3, 5, 5)), np.random.default_rng(3)
    all_ = Augmentation(shift=1, flip=0.5, crop_padding=1, brightness=0.2)
    draws = all_.draw(6, rng)
    assert (
        draws.shape == (6, 11)
        and draws[:, :8].min() >= 0
        and draws[:, :8].max() < 1
        and draws[:, 8:].min() < 0
    )
    whole = all_.apply(many, draws, np.arange(6))
    assert_allclose(all_.apply(many[[4, 1]], draws, [4, 1]), whole[[4, 1]])
    assert repr(all_) == "Augmentation(crop_padding=1, flip=0.5, shift=1, brightness=0.2)"
    assert all_ == Augmentation(shift=1, flip=0.5, crop_padding=1, brightness=0.2) != Augmentation(shift=1)
    assert hash(all_) == hash(Augmentation(shift=1, flip=0.5, crop_padding=1, brightness=0.2))


@pytest.mark.parametrize(
    "name", ["crop_padding", "shift", "rotate", "color_pca", "brightness", "contrast", "saturation"]
)
def test_sizes_of_changes_are_not_negative(name):
    assert getattr(Augmentation(**{name: 0}), name) == 0
    with pytest.raises(ValueError, match=f"{name} must not be negative; got -1"):
        Augmentation(**{name: -1})


def test_ten_crops_are_corners_and_center():
    image = np.arange(30.0).reshape(1, 1, 5, 6)
    crops = Augmentation.ten_crop(image, 3)[:, 0, 0]
    starts = [0, 3, 12, 15, 7]  # rows of six: center from row 1, column 1
    assert [crop[0, 0] for crop in crops[:5]] == starts
    for crop, mirror in zip(crops[:5], crops[5:]):
        assert (crop[:, ::-1] == mirror).all()
    assert Augmentation.ten_crop(image, 5).shape == (10, 1, 1, 5, 5)
    with pytest.raises(DataError, match="crop of 6 does not fit"):
        Augmentation.ten_crop(image, 6)


# networks with a name


@pytest.mark.parametrize(
    ("name", "options", "parameters"),
    [
        ("lenet5", {"sparse_c3": True}, 61_706 - 2416 + 1516),
        ("lenet5", {"n_classes": 5}, 61_706 - 5 * 85),
        ("alexnet", {"groups": 2}, 60_965_224),
        ("vgg", {"config": "A-LRN"}, 132_863_336),
        ("vgg", {"config": "C"}, 133_638_952),
        ("vgg", {}, 138_357_544),
        ("vgg19", {}, 143_667_240),
        ("vgg13", {}, 133_047_848),
        ("vgg11", {"n_classes": 10}, 132_863_336 - 990 * 4097),
        ("resnet", {}, 11_689_512),
        ("resnet101", {}, 44_549_160),
        ("resnet152", {}, 60_192_808),
        ("resnet20", {}, 269_722),
        ("resnet32", {}, 464_154),
        ("resnet44", {}, 658_586),
        ("resnet56", {}, 853_018),
        ("resnet20", {"n_classes": 100}, 269_722 + 90 * 65),
    ],
)
def test_published_numbers_of_parameters(name, options, parameters):
    assert architecture(name, **options).describe().parameters == parameters


def test_named_networks_know_their_images():
    for name, shape in {
        "lenet5": (1, 32, 32), "alexnet": (3, 227, 227), "zfnet": (3, 224, 224), "vgg": (3, 224, 224),
        "googlenet": (3, 224, 224), "resnet": (3, 224, 224), "resnet20": (3, 32, 32), "resnet44": (3, 32, 32),
    }.items():  # fmt: skip
        net = architecture(name)
        assert tuple(net.input_shape) == shape
        assert net.shapes()[-1] == ((10,) if shape[1] == 32 else (1000,))
    assert architecture("lenet5").recipe == {"solver": "sgd", "batch_size": 128, "learning_rate_init": 0.01}
    assert architecture("resnet50").name == "resnet 50" and architecture("vgg19").name == "vgg E"
    with pytest.raises(ValueError, match=r"config must be one of .*; got 'F'"):
        architecture("vgg", config="F")


@pytest.mark.parametrize(("dropout", "count"), [(0.5, 2), (0.0, 0)])
def test_dropout_of_the_head_may_be_left_out(dropout, count):
    names = [name for name, _ in architecture("alexnet", dropout=dropout).layers]
    assert sum(name.startswith("dropout") for name in names) == count


def test_norms_before_and_after_the_pool():
    def order(norm):
        return [name.rstrip("0123456789") for name, _ in architecture("alexnet", norm=norm).layers][2:4]

    assert order("after_pool") == order("before_pool")[::-1]


# codes


def test_rows_are_coded_around_their_mean():
    torch = pytest.importorskip("torch")
    from gnomon.neural.torch_generative import EncoderDecoder, Variational

    W, mean, rows = RNG.normal(size=(2, 3)), np.array([1.0, -2.0, 3.0]), RNG.normal(size=(4, 3))
    layer = torch.nn.Linear(3, 2, bias=False, dtype=torch.float64)
    layer.weight.data = torch.as_tensor(W)
    tied = EncoderDecoder(torch.nn.Sequential(layer), None, mean)
    codes = (rows - mean) @ W.T
    assert_allclose(tied.encode(torch.as_tensor(rows)).detach(), codes)
    assert_allclose(tied.decode(torch.as_tensor(codes)).detach(), codes @ W + mean)
    assert_allclose(tied(torch.as_tensor(rows)).detach(), codes @ W + mean)
    back = torch.nn.Linear(2, 3, dtype=torch.float64)
    own = EncoderDecoder(torch.nn.Sequential(layer), back, mean)
    expected = codes @ back.weight.detach().numpy().T + back.bias.detach().numpy() + mean
    assert_allclose(own(torch.as_tensor(rows)).detach(), expected)
    z = torch.as_tensor(codes)
    said = back(z).detach().numpy()
    normal = Variational(None, back, "gaussian", 0.25)
    assert_allclose(
        normal.log_likelihood(torch.as_tensor(rows), z).detach(),
        stats.norm(said, 0.5).logpdf(rows).sum(axis=1),
    )
    assert_allclose(normal.mean(z).detach(), said)
    bits = (rows > 0).astype(float)
    coins = Variational(None, back, "bernoulli", 0.25)
    p = special.expit(said)
    assert_allclose(coins.mean(z).detach(), p)
    assert_allclose(
        coins.log_likelihood(torch.as_tensor(bits), z).detach(),
        np.where(bits > 0, np.log(p), np.log1p(-p)).sum(axis=1),
    )
