"""Small facts of clusters: tolerances, bounds of arguments, corners of cells, pictures cut into uneven patches."""

import numpy as np
import pytest

from gnomon.cluster import VectorQuantizer, check_partition, fiedler_vector, laplacian, voronoi_cells
from gnomon.core.errors import DataError


def ring(n):
    """A ring whose bonds grow, so that no two eigenvalues are equal."""
    K = np.zeros((n, n))
    for i in range(n):
        K[i, (i + 1) % n] = K[(i + 1) % n, i] = 1.0 + i
    return K


@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_placements_are_the_smoothest_directions(n_components):
    K = ring(6)
    z = fiedler_vector(K, n_components).reshape(6, -1)
    values = np.linalg.eigvalsh(laplacian(K))
    np.testing.assert_allclose(z.T @ z, np.eye(n_components), atol=1e-9)
    np.testing.assert_allclose(z.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.diagonal(z.T @ laplacian(K) @ z), values[1 : n_components + 1], rtol=1e-9)
    assert (z[0] >= 0).all()


@pytest.mark.parametrize("n_components", [0, 6])
def test_a_placement_has_fewer_dimensions_than_nodes(n_components):
    with pytest.raises(DataError, match="between 1 and 5"):
        fiedler_vector(ring(6), n_components)


@pytest.mark.parametrize(
    ("kind", "G", "failures"),
    [
        ("scaled", [[1.0, 0], [-1e-4, 1]], {"G has negative entries", "GᵀG is not the identity"}),
        ("scaled", [[1 + 1e-4, 0], [0, 1]], {"GᵀG is not the identity", "GGᵀ1 is not 1"}),
        ("indicator", [[1.0, 0], [0, 1], [1, -1e-4]], {"G has negative entries"}),
        ("indicator", [[1.0, 0], [0, 1], [0, 1 + 1e-4]], {"G1 is not 1"}),
        ("indicator", [[1.0, 0], [1e-4, 1]], {"GᵀG is not diagonal"}),
    ],
)
def test_partitions_are_told_up_to_the_tolerance(kind, G, failures):
    found = check_partition(G, kind)
    assert failures <= set(found.failures) and not found.valid and found.labels is None
    found = check_partition(G, kind, tol=1e-2)
    assert found.valid and found.labels.tolist() == np.argmax(G, axis=1).tolist()


def test_a_row_of_almost_nothing_is_in_no_cluster():
    G = [[1.0, 0], [0, 1], [0, 1e-4]]
    assert check_partition(G, tol=1e-2).failures == ("GGᵀ1 is not 1",)
    assert check_partition(G, "indicator", tol=1e-2).failures == ("G1 is not 1",)


def test_an_empty_column_is_one_below_the_tolerance():
    G = [[1.0, 1e-4], [1.0, 0.0]]
    assert "a column is empty" not in check_partition(G, "indicator").failures
    assert check_partition(G, "indicator", tol=1e-3).failures == ("a column is empty",)


def area(cell):
    x, y = cell.T
    return 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))


def test_a_border_through_corners_leaves_them_to_both_cells():
    lower, upper = voronoi_cells([[0.0, 0.0], [2.0, 2.0]], (0, 2, 0, 2))
    assert sorted(lower.tolist()) == [[0, 0], [0, 2], [2, 0]]
    assert sorted(upper.tolist()) == [[0, 2], [2, 0], [2, 2]]
    assert area(lower) == area(upper) == pytest.approx(2.0)  # counter-clockwise
    away, near = voronoi_cells([[5.0, 0.0], [1.0, 0.0]], (0, 3, -1, 1))
    assert area(near) == 6 and area(away) == pytest.approx(0.0)


def test_a_center_that_is_there_twice_has_the_same_cell():
    one, other, third = voronoi_cells([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0]], (-1, 3, -1, 1))
    np.testing.assert_array_equal(one, other)
    assert area(one) == area(third) == 4


@pytest.mark.parametrize("shape", [(9, 7, 3), (9, 7), (6, 4, 1)])
@pytest.mark.parametrize("patch", [(3, 2), (1, 4), (2, 2)])
def test_enough_patches_lose_nothing(shape, patch):
    image = np.random.default_rng(1).integers(0, 256, size=shape).astype(float)
    p, q = patch
    grid = (-(-shape[0] // p), -(-shape[1] // q))
    model = VectorQuantizer(100, patch_shape=patch).fit(image)
    codes = model.encode(image)
    assert codes.shape == grid and model.n_units_ == grid[0] * grid[1]
    assert model.codebook_.shape[1] == p * q * (shape[2] if len(shape) == 3 else 1)
    first = image[:p, :q].ravel()
    np.testing.assert_array_equal(model.codebook_[codes[0, 0]], first)
    np.testing.assert_array_equal(model.decode(codes), image)
    assert model.distortion_ == 0.0 and model.psnr(image) == np.inf
