"""Graphs, outliers of a radius, weighted votes, thresholds and refusals: small cases worked by hand."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from gnomon import load, save
from gnomon.core.errors import DataError, ModelFileError
from gnomon.neighbors import (
    EpsilonBallClassifier,
    KernelRegressor,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocalOutlierFactor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    SoftNeighborsClassifier,
    edit_distance,
    edit_script,
    kneighbors_graph,
    pairwise_distances,
    radius_neighbors_graph,
)

LINE = np.array([[0.0], [3.0], [1.0]])


def test_whether_a_row_is_its_own_neighbor():
    own = kneighbors_graph(LINE, 1, include_self="auto").toarray()
    assert_array_equal(own, np.eye(3))
    far = kneighbors_graph(LINE, 1, mode="distance", include_self="auto").toarray()
    assert_array_equal(far, [[0, 0, 1], [0, 0, 2], [1, 0, 0]])
    assert_array_equal(
        radius_neighbors_graph(LINE, 1.0, include_self="auto").toarray(), [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    )
    known = NearestNeighbors(n_neighbors=2).fit(LINE)
    assert_array_equal(kneighbors_graph(known, 1).toarray(), [[0, 0, 1], [0, 0, 1], [1, 0, 0]])
    assert_array_equal(kneighbors_graph(known, 1, include_self=True, n_jobs=3).toarray(), np.eye(3))
    with pytest.raises(DataError, match="leave it out"):
        kneighbors_graph(known, 1, p=3)
    for graph in (known.kneighbors_graph, known.radius_neighbors_graph):
        with pytest.raises(DataError, match="Unsupported mode"):
            graph(LINE, mode="distances")


def test_nearest_first_and_of_equals_the_lower_row():
    model = NearestNeighbors(radius=2.0).fit([[2.0], [1.0], [-1.0], [9.0], [-2.0]])
    values, rows = model.radius_neighbors([[0.0], [9.0]], sort_results=True)
    assert values[0].tolist() == [1, 1, 2, 2] and rows[0].tolist() == [1, 2, 0, 4]
    assert values[1].tolist() == [0] and rows[1].tolist() == [3]
    assert model.radius_neighbors([[0.0]])[1][0].tolist() == [0, 1, 2, 4]
    graph = model.radius_neighbors_graph([[0.0]], mode="distance", sort_results=True)
    assert graph.indices.tolist() == [1, 2, 0, 4] and graph.data.tolist() == [1, 1, 2, 2]
    assert graph.shape == (1, 5)
    own_values, own = model.radius_neighbors(radius=1.0, sort_results=True)
    assert [list(r) for r in own] == [[1], [0], [4], [], [2]] and own_values[0].tolist() == [1.0]


def test_labels_of_rows_that_nobody_reaches():
    X, y = [[0.0], [1.0], [5.0]], ["a", "b", "b"]
    often = RadiusNeighborsClassifier(1.0, outlier_label="most_frequent").fit(X, y)
    assert often.outlier_label_ == "b" and often.predict([[99.0], [-0.5]]).tolist() == ["b", "a"]
    assert often.predict_proba([[99.0]]).tolist() == [[0.0, 1.0]]
    numbers = RadiusNeighborsClassifier(1.0, outlier_label=7).fit(X, [0, 1, 1])
    with pytest.warns(UserWarning, match="Outlier label 7 is not in training classes"):
        assert numbers.predict([[99.0], [5.0]]).tolist() == [7, 1]
    with pytest.warns(UserWarning, match="assigned with 0"):
        assert numbers.predict_proba([[99.0], [5.0]]).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    with pytest.raises(TypeError, match="not of their kind"):
        RadiusNeighborsClassifier(outlier_label="c").fit(X, [0, 1, 1])
    with pytest.raises(TypeError, match="not of their kind"):
        RadiusNeighborsClassifier(outlier_label=3).fit(X, y)
    with pytest.raises(TypeError, match="scalar for each output"):
        RadiusNeighborsClassifier(outlier_label=[[0, 1]]).fit(X, [0, 1, 1])
    with pytest.raises(DataError, match="inconsistent with the 1 outputs"):
        RadiusNeighborsClassifier(outlier_label=[0, 1]).fit(X, [0, 1, 1])
    none = RadiusNeighborsClassifier(1.0).fit(X, y)
    with pytest.raises(DataError, match=r"test samples \[1\], you"):
        none.predict([[0.0], [99.0]])
    with pytest.raises(DataError, match=r"\[0 1 2 3 4 5 6 7\]\.\.\., you"):
        none.predict([[99.0]] * 9)
    assert none.predict([[2.0]]).tolist() == ["b"]  # a row just 1 away is in reach


def test_labels_of_several_outputs_that_nobody_reaches():
    X, Y = [[0.0], [1.0], [5.0]], [[0, 5], [1, 5], [1, 6]]
    model = RadiusNeighborsClassifier(1.0, outlier_label="most_frequent").fit(X, Y)
    assert model.outlier_label_ == [1, 5]
    assert model.predict([[99.0], [5.0]]).tolist() == [[1, 5], [1, 6]]
    each = RadiusNeighborsClassifier(1.0, outlier_label=[0, 6]).fit(X, Y)
    assert each.predict([[99.0]]).tolist() == [[0, 6]]
    weighed = RadiusNeighborsClassifier(1.0, outlier_label="most_frequent")
    weighed._learn(weighed._read(X, [0, 1, 1], [3.0, 1.0, 1.0]))
    assert weighed.outlier_label_ == 0 and weighed.predict([[99.0]]).tolist() == [0]


def test_only_rows_at_the_distance_of_nothing_count():
    X, y = [[0.0], [0.0], [1.0], [2.0]], [1.0, 3.0, 100.0, 200.0]
    for model in (
        KNeighborsRegressor(3, weights="distance"),
        RadiusNeighborsRegressor(2.0, weights="distance"),
    ):
        model.fit(X, y)
        assert model.predict([[0.0]])[0] == 2.0
        # from 0.5: two rows at ½ and one at ½, each of the same weight; the last one is 1.5 away
    assert_allclose(KNeighborsRegressor(3, weights="distance").fit(X, y).predict([[0.5]]), [104 / 3])
    near = RadiusNeighborsRegressor(2.0, weights="distance").fit(X, y).predict([[0.5]])
    assert_allclose(near, (2 * 104 + 200 / 1.5) / (6 + 1 / 1.5))
    own = RadiusNeighborsRegressor(2.0, weights=lambda d: 1.0 + d).fit(X, y).predict([[1.0]])
    assert_allclose(own, (2 * 1 + 2 * 3 + 100 + 2 * 200) / 7)


def test_intervals_of_neighbors_by_hand():
    X = np.zeros((10, 1))
    y = np.arange(10.0)[::-1]
    model = KNeighborsRegressor(10).fit(X, y)
    for level, low, high in ((0.8, 0, 8), (0.6, 1, 7), (0.79, 1, 8)):
        lower, upper = model.predict_interval([[0.0]], level)
        assert (lower[0], upper[0]) == (low, high)
    both = KNeighborsRegressor(10).fit(X, np.column_stack([y, -y])).predict_interval([[0.0], [1.0]], 0.8)
    assert_array_equal(both, [[[0, -9]] * 2, [[8, -1]] * 2])
    for level in (0.0, 1.0):
        with pytest.raises(DataError, match="must be between 0 and 1"):
            model.predict_interval([[0.0]], level)


def test_memories_by_hand():
    X, y = [[0.0], [5.0], [2.0]], [1, 1, 0]
    for reach, point, label in ((1.0, 1.0, 1), (1.0, 1.01, 0), (0.0, 5.0, 1), (0.0, 2.0, 0)):
        assert EpsilonBallClassifier(reach).fit(X, y).predict([[point]]).tolist() == [label]
    other = EpsilonBallClassifier(0.5, positive_label=0).fit(X, y)
    assert other.positive_points_.tolist() == [[2.0]]
    assert other.predict([[1.6], [0.0]]).tolist() == [0, 1]
    with pytest.raises(DataError, match="one class"):
        EpsilonBallClassifier().fit(X, [1, 1, 1])
    with pytest.raises(DataError, match="positive_label=3 is not among"):
        EpsilonBallClassifier(positive_label=3).fit(X, y)
    words = EpsilonBallClassifier(1.0, metric="edit").fit(["cat", "dog", "cow"], [1, 0, 1])
    assert words.positive_points_ == ["cat", "cow"] and words.predict(["bat", "dog"]).tolist() == [1, 0]


def test_a_row_at_the_threshold_is_no_outlier():
    """Five rows a unit apart: with two neighbors the factor of the middle row is known."""
    X = np.arange(5.0)[:, None]
    model = LocalOutlierFactor(2, contamination=0.5)
    labels = model.fit_predict(X)
    factors = model.negative_outlier_factor_
    assert model.offset_ == np.median(factors)
    assert labels.tolist() == np.where(factors < model.offset_, -1, 1).tolist() and (labels == 1).sum() >= 3
    # reach: 2 at both ends and 1 inside; mean reachable distances 1.5, 1.5, 1, 1.5, 1.5
    lrd = 1 / np.array([1.5, 1.5, 1.0, 1.5, 1.5])
    near = [[1, 2], [0, 2], [1, 3], [2, 4], [3, 2]]
    assert_allclose(-factors, [lrd[rows].mean() / lrd[i] for i, rows in enumerate(near)], rtol=1e-8)


def test_compact_votes_and_margins_of_classes():
    X, y = [[0.0], [1.0], [2.0], [2.0]], [0, 1, 2, 2]
    model = SoftNeighborsClassifier(1.0, kernel="tophat").fit(X, y)
    assert_allclose(model.predict_proba([[0.5], [99.0]]), [[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    assert model.predict([[0.5], [99.0]]).tolist() == [0, 2]
    assert model.decision_function([[0.5]]).shape == (1, 3)
    assert_allclose(model.weights([[1.5]]), [[0, 1 / 3, 1 / 3, 1 / 3]])
    assert model.weights([[99.0]]).tolist() == [[0.0] * 4]
    one = SoftNeighborsClassifier().fit([[0.0], [1.0]], [3, 3])
    assert_allclose(one.decision_function([[5.0]]), [1.0])
    assert_allclose(
        SoftNeighborsClassifier(1.0, metric="l1")
        .fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
        .decision_function([[0, 0]]),
        [(np.exp(-4) - 1) / (1 + np.exp(-4))],
    )
    with pytest.raises(DataError, match="at least two rows"):
        SoftNeighborsClassifier("loo").fit([[0.0]], [0])


def test_a_file_of_one_class_is_read_and_one_of_classes_unknown_is_not(tmp_path):
    model = SoftNeighborsClassifier().fit([[0.0], [1.0]], [3, 3])
    save(model, tmp_path / "one")
    assert load(tmp_path / "one").predict([[5.0]]).tolist() == [3]
    for wrong in (-1, 1):
        model.targets_ = np.array([0, wrong])
        save(model, tmp_path / "wrong")
        with pytest.raises(ModelFileError, match="do not fit its classes"):
            load(tmp_path / "wrong")


@pytest.mark.parametrize(
    "model", [SoftNeighborsClassifier("loo"), KernelRegressor("loo")], ids=lambda m: type(m).__name__
)
def test_weights_of_a_chosen_width_are_copies(model):
    rng = np.random.default_rng(0)
    X, copies = rng.normal(size=(20, 1)), rng.integers(0, 4, 20)
    y = (X[:, 0] + 0.5 * rng.normal(size=20) > 0).astype(int)
    weighed = type(model)("loo").fit(X, y, sample_weight=copies)
    repeated = type(model)("loo").fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    assert_allclose(weighed.loo_path_, repeated.loo_path_, rtol=1e-9)
    assert weighed.gamma_ == repeated.gamma_
    Q = np.linspace(-2, 2, 7)[:, None]
    assert_array_equal(weighed.predict(Q).round(9), repeated.predict(Q).round(9))


def test_smoothers_of_a_kernel_by_hand():
    X, y = [[0.0], [1.0], [3.0]], np.array([2.0, 4.0, 8.0])
    flat = KernelRegressor(1.0, kernel="tophat").fit(X, y)
    assert_allclose(flat.smoother_matrix([[0.5], [3.0]]), [[0.5, 0.5, 0], [0, 0, 1]])
    assert flat.df_ == pytest.approx(0.5 + 0.5 + 1)
    assert_allclose(flat.loo_predict(), [4.0, 2.0, np.nan])
    mean, std = flat.predict([[0.5], [3.0]], return_std=True)
    assert_allclose([mean, std], [[3.0, 8.0], [1.0, 0.0]])
    line = KernelRegressor(1e-3, degree=1).fit(X, y)
    assert_allclose(line.predict([[-5.0], [10.0]]), [-8.0, 22.0])  # y = 2 + 2x everywhere
    plain = KernelRegressor(1.0, kernel="tophat", normalize=False).fit(X, y)
    assert_allclose(plain.predict([[0.5], [3.0], [50.0]]), [6.0, 8.0, 0.0])


def test_distances_that_were_given():
    D = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    model = NearestNeighbors(n_neighbors=1, metric="precomputed").fit(D)
    assert model.kneighbors()[1].ravel().tolist() == [1, 0, 1]
    assert model.kneighbors([[3.0, 2.0, 9.0]])[1].tolist() == [[1]]
    for wrong, words in ((-D, "Negative"), (D[:2], "must be square")):
        with pytest.raises(DataError, match=words):
            NearestNeighbors(metric="precomputed").fit(wrong)
    for form in ("dok", "bsr"):
        with pytest.raises(TypeError, match="explicit zeros"):
            model.kneighbors(sparse.csr_array(D).asformat(form))
    with pytest.raises(DataError, match="only 2 neighbors"):
        NearestNeighbors(n_neighbors=3, metric="precomputed").fit(D).kneighbors(sparse.csr_array(D))
    votes = KNeighborsClassifier(1, metric="precomputed")
    votes._learn(votes._read(D, [0, 1, 0], [1.0, 0.0, 1.0]))
    assert votes.predict([[3.0, 0.0, 2.0]]).tolist() == [0]  # the row of weight zero is not there
    assert votes.kneighbors([[3.0, 0.0, 2.0]])[1].tolist() == [[2]]


def test_prices_of_steps_by_hand():
    assert edit_distance("ab", "b", costs=(5, 1, 9)) == 1.0
    assert edit_distance("b", "ab", costs=(5, 1, 9)) == 5.0
    assert edit_distance("a", "b", costs=(5, 1, 9)) == 6.0  # to delete and insert is cheaper
    # looked at from the end, a deletion comes before an insertion
    assert edit_script("a", "b", costs=(5, 1, 9)) == [("insert", None, "b"), ("delete", "a", None)]
    assert edit_script("ab", "ac") == [("keep", "a", "a"), ("substitute", "b", "c")]
    assert edit_script("", "x") == [("insert", None, "x")] and edit_script("x", "") == [("delete", "x", None)]
    assert edit_distance("", "abc") == 3.0 and edit_script("", "") == []
    for costs in ((1, 1), (1, 1, -1), (1, np.inf, 1)):
        with pytest.raises(DataError, match="three numbers"):
            edit_distance("a", "b", costs=costs)
        with pytest.raises(DataError, match="three numbers"):
            NearestNeighbors(metric="edit", metric_params={"costs": costs}).fit(["a"])
    assert NearestNeighbors(n_neighbors=1, metric="edit", metric_params={"costs": (0, 1, 1)}).fit(["b"])


def test_distances_with_arguments_by_hand():
    a, b = [[0.0, 0.0]], [[3.0, 4.0]]
    assert pairwise_distances(a, b, "minkowski", p=1)[0, 0] == 7.0
    assert pairwise_distances(a, b, "minkowski", p=np.inf)[0, 0] == 4.0
    assert_allclose(pairwise_distances(a, b, "minkowski", p=3, w=[1, 2])[0, 0], (27 + 2 * 64) ** (1 / 3))
    assert_allclose(pairwise_distances(a, b, "seuclidean", V=[9.0, 16.0])[0, 0], np.sqrt(2))
    assert_allclose(pairwise_distances(a, b, "mahalanobis", V=[[9.0, 0], [0, 4.0]])[0, 0], np.sqrt(5))
    assert_allclose(pairwise_distances(a, b, "mahalanobis", VI=[[1.0, 0.5], [0.5, 1.0]])[0, 0], np.sqrt(37))
    assert_allclose(pairwise_distances([[0.0], [2.0], [4.0]], metric="seuclidean")[0], [0, 1, 2])
    assert pairwise_distances([[1.0, 2.0]], [[1.0, 5.0]], lambda p, q: p[1] * q[1])[0, 0] == 10.0
    for options, words in (
        ({"metric": "minkowski", "p": 0.5}, "p of at least 1"),
        ({"metric": "minkowski", "w": [1.0]}, "for each of the 2 columns"),
        ({"metric": "minkowski", "w": [1.0, -1.0]}, "for each of the 2 columns"),
        ({"metric": "euclidean", "w": [1.0, 1.0]}, "takes no"),
        ({"metric": "seuclidean", "V": [1.0, 0.0]}, "positive variances"),
    ):
        with pytest.raises(DataError, match=words):
            pairwise_distances(a, b, **options)
    with pytest.raises(DataError, match="they must agree"):
        pairwise_distances(a, [[1.0]])
    with pytest.raises(DataError, match="p=0.5 must be at least 1"):
        NearestNeighbors(p=0.5).fit(a)
    with pytest.raises(DataError, match="w must not be negative"):
        NearestNeighbors(metric_params={"w": [1.0, -1.0]}).fit(a)


def test_error_curves_by_hand():
    X, y = [[0.0], [1.0], [2.0], [3.0], [10.0]], [0, 0, 1, 1, 1]
    model = KNeighborsClassifier(1).fit(X, y)
    # from 1.4: 0, then a tie that goes to 0, then 0 of three; from 9: always 1
    assert model.error_curve([[1.4], [9.0]], [1, 1], [1, 2, 3, 5]).tolist() == [0.5, 0.5, 0.5, 0.0]
    # each row by its nearest other: 0 → 0, 1 → 0, 2 → 0 (of equals the lower row), 3 → 1, 10 → 1
    assert model.loo_error_curve([1]).tolist() == [0.2]
    with pytest.raises(DataError, match="they must agree"):
        model.error_curve([[1.4]], [1, 1], [1])
    with pytest.raises(DataError, match="n_neighbors = 5, n_samples_fit = 5"):
        model.loo_error_curve([5])
    with pytest.raises(DataError, match="one output"):
        KNeighborsClassifier(1).fit(X, np.column_stack([y, y])).loo_error_curve([1])


def test_functions_that_say_nothing_are_told():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    with pytest.raises(DataError, match="zero weights.*first such row is 1"):
        KNeighborsClassifier(2, weights=lambda d: np.where(d > 5, 0.0, 1.0)).fit(X, y).predict([[0.0], [9.0]])
    with pytest.raises(DataError, match="array of shape"):
        KNeighborsClassifier(2, weights=lambda d: 1.0).fit(X, y).predict([[0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(DataError, match="inconsistent numbers of samples"):
            KNeighborsClassifier(1).fit(X, [[0, 1], [1, 0]])
    with pytest.raises(DataError, match="y is missing"):
        KNeighborsClassifier(1, metric="edit").fit(["a"], None)
    with pytest.raises(DataError, match="1 items and y has 2"):
        KNeighborsClassifier(1, metric="edit").fit(["a"], [0, 1])
    with pytest.raises(TypeError, match="enter integer value"):
        NearestNeighbors().fit(X).kneighbors(X, 1.5)
    with pytest.raises(TypeError, match="enter integer value"):
        NearestNeighbors().fit(X).kneighbors(X, True)
    for k in (0, -1):
        with pytest.raises(ValueError, match="n_neighbors > 0"):
            NearestNeighbors().fit(X).kneighbors(X, k)
    assert NearestNeighbors().fit(X).kneighbors(X, 3)[1].shape == (3, 3)
    with pytest.raises(DataError, match="n_neighbors <= n_samples_fit"):
        NearestNeighbors().fit(X).kneighbors(X, 4)
    with pytest.raises(DataError, match="not its own neighbor"):
        NearestNeighbors().fit(X).kneighbors(n_neighbors=3)


def test_one_column_and_rows_that_are_all_the_same():
    assert pairwise_distances([[0.0]], [[3.0]], "mahalanobis", VI=[[4.0]]).tolist() == [[6.0]]
    assert pairwise_distances([[0.0]], [[3.0]], "mahalanobis", V=[[4.0]]).tolist() == [[1.5]]
    same = NearestNeighbors(n_neighbors=2, algorithm="vp_tree", metric=lambda a, b: abs(a[0] - b[0]))
    values, rows = same.fit([[1.0]] * 4).kneighbors([[1.0], [3.0]])
    assert values.tolist() == [[0, 0], [2, 2]] and rows.tolist() == [[0, 1], [0, 1]]


def test_functions_of_one_row_and_of_sparse_rows():
    one = NearestNeighbors(n_neighbors=1, algorithm="vp_tree", metric=lambda a, b: abs(a[0] - b[0]))
    values, rows = one.fit([[1.0]]).kneighbors([[3.0]])
    assert values.tolist() == [[2.0]] and rows.tolist() == [[0]]
    shared = NearestNeighbors(n_neighbors=2, metric=lambda a, b: 9.0 - a.multiply(b).sum())  # of sparse rows
    X = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]))
    values, rows = shared.fit(X).kneighbors(X[[0]])
    assert values.tolist() == [[8.0, 8.0]] and rows.tolist() == [[0, 2]]
