"""Grids of labels: energies, normalizers and segmentations against a walk through all labelings."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from gnomon.core.errors import DataError
from gnomon.graphical import GridField, LinearGaussianNetwork, MarkovRandomField
from gnomon.graphical.factor import TableTooLargeError


def labelings(shape, n_labels):
    for x in product(range(n_labels), repeat=shape[0] * shape[1]):
        yield np.array(x).reshape(shape)


def cost(field, x):
    """The energy, edge by edge."""
    rows, columns = field.shape
    total = sum(field.unary[r, c, x[r, c]] for r in range(rows) for c in range(columns))
    for r in range(rows):
        for c in range(columns):
            total += field.coupling * (r + 1 < rows and x[r, c] != x[min(r + 1, rows - 1), c])
            total += field.coupling * (c + 1 < columns and x[r, c] != x[r, min(c + 1, columns - 1)])
    return total


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 3), (3, 2)])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("coupling", [0.7, -0.4])
def test_normalizers_are_sums_over_all_labelings(shape, n_labels, coupling):
    field = GridField(shape, n_labels, coupling, np.random.default_rng(0).normal(size=(*shape, n_labels)))
    energies = np.array([cost(field, x) for x in labelings(shape, n_labels)])
    np.testing.assert_allclose([field.energy(x) for x in labelings(shape, n_labels)], energies)
    exact = np.logaddexp.reduce(-energies)
    assert field.log_partition() == pytest.approx(exact)
    assert MarkovRandomField(field.factors).log_partition() == pytest.approx(exact)
    assert field.log_partition("mean_field") <= exact + 1e-9
    assert field.to_field().log_partition("bethe") == pytest.approx(exact, abs=0.3)
    found = field.segment(method="bp")
    assert found.exact == (min(shape) == 1)
    if min(shape) == 1 and coupling > 0:
        assert found.energy == pytest.approx(energies.min())


def test_spins_by_the_formula_of_ising():
    field = GridField.ising((2, 3), coupling=0.3, field=0.2)
    for x in labelings((2, 3), 2):
        s = 2 * x - 1
        pairs = (s[1:] * s[:-1]).sum() + (s[:, 1:] * s[:, :-1]).sum()
        assert field.energy(x) == pytest.approx(-0.3 * pairs - 0.2 * s.sum())
    own = np.arange(6.0).reshape(2, 3)
    field = GridField.ising((2, 3), coupling=0.0, field=own)
    assert field.log_partition() == pytest.approx(np.log(2 * np.cosh(own)).sum())


@pytest.mark.parametrize("method", ["icm", "gibbs", "bp", "mean_field", "graph_cut"])
def test_an_image_adds_squared_distances_to_the_costs(method):
    rng = np.random.default_rng(1)
    image, means = rng.normal(size=(2, 3)), [-1.0, 1.0]
    field = GridField.ising((2, 3), 0.2, 0.1)
    found = field.segment(image, means, method=method, random_state=0)
    squares = ((image - np.take(means, found.labels)) ** 2).sum()
    assert found.energy == pytest.approx(field.energy(found.labels) + squares)
    if method == "graph_cut":
        every = labelings((2, 3), 2)
        least = min(field.energy(x) + ((image - np.take(means, x)) ** 2).sum() for x in every)
        assert found.exact and found.energy == pytest.approx(least)
        assert found.trace[-1] == pytest.approx(least)


def test_sweeps_go_on_from_the_start_given():
    field = GridField((3, 3), 2, 2.0)
    ones = np.ones((3, 3), dtype=int)
    assert (field.segment(method="icm").labels == 0).all()  # the first of labels that cost the same
    assert (field.segment(method="icm", start=ones).labels == 1).all()
    assert field.segment(method="icm", start=ones).trace.tolist() == [0.0, 0.0]
    mixed = np.eye(3, dtype=int)
    found = field.segment(method="gibbs", start=mixed, max_iter=7, random_state=0)
    assert len(found.trace) == 8 and found.trace[0] == field.energy(mixed) == 16.0
    assert found.energy == found.trace.min() == field.energy(found.labels)
    assert (field.sample(0, start=mixed) == mixed).all()
    cold = GridField((4, 4), 2, 9.0)
    assert (cold.sample(5, start=np.ones((4, 4)), random_state=0) == 1).all()


def test_gibbs_sweeps_draw_from_the_field():
    field = GridField((1, 2), 2, 1.0, [[[0.0, 0.5], [0.0, 0.0]]])
    rng = np.random.default_rng(0)
    drawn = np.array([field.sample(20, random_state=rng).ravel() for _ in range(4000)])
    weight = np.exp([[-cost(field, np.array([[a, b]])) for b in (0, 1)] for a in (0, 1)])
    found = np.histogram2d(*drawn.T, bins=2)[0] / 4000
    np.testing.assert_allclose(found, weight / weight.sum(), atol=0.035)  # 4 standard errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GridField((0, 2)), "shape and n_labels must be at least 1"),
        (lambda: GridField((1, 1), 0), "shape and n_labels must be at least 1"),
        (lambda: GridField((2, 2), coupling=np.inf), "coupling must be finite"),
        (lambda: GridField((2, 2), unary=np.zeros((2, 2))), "unary must hold finite costs"),
        (lambda: GridField((1, 1), unary=[[[0.0, np.nan]]]), "unary must hold finite costs"),
        (lambda: GridField((1, 2)).energy([[0, 2]]), "lie in 0 … 1"),
        (lambda: GridField((1, 2)).energy([[0, -1]]), "lie in 0 … 1"),
        (lambda: GridField((1, 2)).energy([0, 1]), "must have shape"),
        (lambda: GridField((1, 2)).segment([[0.0, 1.0]]), "means 2 numbers"),
        (lambda: GridField((1, 2)).segment([[0.0, 1.0]], [0.0]), "means 2 numbers"),
        (lambda: GridField((1, 2)).segment([[0.0], [1.0]], [0.0, 1.0]), "image must have shape"),
    ],
)
def test_grids_that_do_not_fit(make, message):
    with pytest.raises(DataError, match=message):
        make()
    with pytest.raises(TableTooLargeError, match="the front of a grid of 30 × 40"):
        GridField((40, 30)).log_partition()


def test_gaussian_networks_add_up_parts_of_a_table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(90, 2)) @ [[1.0, 0.5], [0.0, 2.0]] + [5.0, -3.0], columns=["x", "y"]
    )
    frame["w"] = rng.integers(0, 3, 90).astype(float)
    frame.loc[:29, "w"] = 0.0  # a whole part that does not count
    frame.to_parquet(tmp_path / "frame.parquet", row_group_size=30)
    model = LinearGaussianNetwork([("x", "y")]).fit(str(tmp_path / "frame.parquet"), sample_weight="w")
    rows = frame.loc[np.repeat(frame.index, frame["w"].astype(int))]
    slope, base = np.polyfit(rows["x"], rows["y"], 1)
    assert model.coefficients_["x", "y"] == pytest.approx(slope)
    assert model.intercepts_ == pytest.approx({"x": rows["x"].mean(), "y": base})
    rest = rows["y"] - base - slope * rows["x"]
    assert model.variances_ == pytest.approx({"x": rows["x"].var(ddof=0), "y": (rest**2).mean()})
    assert model.log_likelihood_ == pytest.approx(model.score_samples(rows[["x", "y"]]).sum())


def test_no_label_can_expand_any_further_at_the_end():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        field = GridField((5, 5), 4, 0.8, 2 * rng.random((5, 5, 4)))
        found = field.segment()
        again = field.segment(start=found.labels)
        assert len(again.trace) == 1 and again.energy == found.energy
        assert (np.diff(found.trace) < 0).all() and found.trace[-1] == found.energy
