"""Small facts of graphical models: bounds of normalizers, and factors that have zeros."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from gnomon.core.errors import DataError, DegenerateError, ZeroEvidenceError
from gnomon.graphical import (
    PC,
    BayesianNetwork,
    BayesianNetworkClassifier,
    BeliefPropagation,
    ChowLiuTree,
    Factor,
    HillClimbSearch,
    MarkovRandomField,
)
from gnomon.graphical.columns import read_columns
from gnomon.graphical.constraint import p_value
from gnomon.graphical.evidence import ImpossibleEvidenceError

PAIR = np.array([[3.0, 1.0, 0.5], [0.25, 2.0, 4.0]])


@pytest.mark.parametrize("method", ["mean_field", "ais"])
def test_factors_with_a_single_zero_have_no_estimated_normalizer(method):
    fine = [Factor(["a", "b"], PAIR), Factor(["b"], [1.0, 2.0, 1.0])]
    assert np.isfinite(MarkovRandomField(fine).log_partition(method, random_state=0))
    for holes in (
        [fine[0], Factor(["b"], [1.0, 0.0, 1.0])],
        [Factor(["a", "b"], PAIR * (PAIR != 4.0)), fine[1]],
    ):
        with pytest.raises(DegenerateError, match="without zeros"):
            MarkovRandomField(holes).log_partition(method, random_state=0)


def test_mean_field_is_the_best_bound_of_independent_marginals():
    field = MarkovRandomField([Factor(["a", "b"], PAIR), Factor(["a"], [1.0, 3.0])])
    logs = np.log(PAIR * [[1.0], [3.0]])

    def lost(theta):
        p = np.exp([0.0, theta[0]])
        q = np.exp([0.0, *theta[1:]])
        p, q = p / p.sum(), q / q.sum()
        return -(p @ logs @ q - p @ np.log(p) - q @ np.log(q))

    starts = np.random.default_rng(0).normal(size=(6, 3))
    best = min(minimize(lost, start, tol=1e-12).fun for start in starts)
    assert field.log_partition("mean_field") == pytest.approx(-best, abs=1e-6)
    assert -best < np.log(np.exp(logs).sum()) == pytest.approx(field.log_partition())


@pytest.mark.parametrize(
    "rows", [[["a", "b"], ["a"], ["b", "b"]], [["a"], ["a", "b"]], [["a", "b"], ("b", "a", "b")]]
)
def test_rows_of_words_of_different_lengths_are_refused(rows):
    with pytest.raises(DataError, match="different lengths"):
        ChowLiuTree().fit(rows)
    even = ChowLiuTree().fit([["a", "b"], ("b", "a"), ["a", "b"]])
    words = ChowLiuTree().fit(np.array([["a", "b"], ["b", "a"], ["a", "b"]]))
    np.testing.assert_allclose(even.mutual_information_, words.mutual_information_)
    assert even.score_ == pytest.approx(words.score_) and len(even.dag_) == len(words.dag_) == 1


def test_names_of_columns_must_differ():
    frame = pd.DataFrame([["u", "v", "u"], ["v", "u", "u"]], columns=["a", "b", "b"])
    with pytest.raises(DataError, match="'b' is there twice"):
        ChowLiuTree().fit(frame)


@pytest.mark.parametrize("prior", ["mle", "bdeu"])
@pytest.mark.parametrize("point", ["mean", "mode"])
def test_complete_rows_are_learned_in_one_step(prior, point):
    frame = pd.DataFrame({"a": list("uvuvuuvv"), "b": list("xxyyxyxx")})
    options = {"prior": prior, "point": point, "equivalent_sample_size": 12.0}
    model = BayesianNetwork([("a", "b")], **options).fit(frame)
    assert model.n_iter_ == 1 and model.converged_ and len(model.trace_.objective) == 1
    alpha = {"mle": 0.0, "bdeu": 3.0}[prior] - (point == "mode") * (prior == "bdeu")  # 12 / (2 · 2)
    counts = np.array([[2.0, 2.0], [3.0, 1.0]])  # of x and y below u and v
    told = counts + alpha
    np.testing.assert_allclose(model.tables_["b"], told / told.sum(axis=1, keepdims=True))
    first = np.array([4.0, 4.0]) + (6.0 - (point == "mode") if prior == "bdeu" else 0.0)
    np.testing.assert_allclose(model.tables_["a"], first / first.sum())
    logs = 4 * np.log(model.tables_["a"]).sum() + (counts * np.log(model.tables_["b"])).sum()
    assert model.log_likelihood_ == pytest.approx(logs)
    before = (first - 4.0) @ np.log(model.tables_["a"]) + (alpha * np.log(model.tables_["b"])).sum()
    assert model.trace_.objective[0] == pytest.approx(logs + before)


@pytest.mark.parametrize("constant", [0.25, 1.0, 8.0])
@pytest.mark.parametrize("semiring", ["sum", "max"])
def test_constants_scale_what_messages_add_up_to(semiring, constant):
    factors = [Factor(["a", "b"], PAIR), Factor([], constant), Factor(["b"], [2.0, 4.0, 6.0])]
    values = constant * PAIR * [2.0, 4.0, 6.0]
    found = BeliefPropagation(semiring=semiring).fit(factors)
    wanted = values.sum() if semiring == "sum" else values.max()
    assert np.exp(found.log_partition_) == pytest.approx(wanted)
    with pytest.raises(ZeroEvidenceError, match="every joint state has value zero"):
        BeliefPropagation(semiring=semiring).fit([*factors, Factor([], 0.0)])


def test_cells_of_an_impossible_row_have_no_completion():
    same = [[1.0, 0.0], [0.0, 1.0]]
    model = BayesianNetwork(
        [("a", "b")], nodes=["a", "b", "c"], tables={"a": [0.5, 0.5], "b": same, "c": [0.3, 0.7]}
    )
    fine = [[0, 0, np.nan], [0, 1, 0], [1, np.nan, 0]]
    assert model.predict(fine).tolist() == [
        [0, 0, 1],
        [0, 1, 0],
        [1, 1, 0],
    ]  # nothing is missing in the second
    assert np.exp(model.score_samples(fine)) == pytest.approx([0.5, 0.0, 0.15])
    with pytest.raises(ImpossibleEvidenceError, match="row 3 of X is impossible"):
        model.predict([*fine, [0, 1, np.nan], [1, 0, np.nan]])


def test_messages_go_both_ways_along_every_edge():
    factors = [
        Factor(["A"], [0.4, 0.6]),
        Factor(["B", "A"], [[0.2, 0.05], [0.3, 0.15], [0.5, 0.8]]),
        Factor(["D", "B"], [[0.1, 0.1, 0.2], [0.3, 0.2, 0.1], [0.6, 0.7, 0.7]]),
    ]
    found = BeliefPropagation().fit(factors, evidence={"D": 0}).messages_
    wanted = {
        (0, "A"): [0.4, 0.6],
        ("A", 1): [0.4, 0.6],
        (1, "B"): [0.11, 0.21, 0.68],  # P(B)
        ("B", 2): [0.11, 0.21, 0.68],
        (2, "D"): [0.168, 0, 0],  # Σ P(B) P(D = 0 | B), alone
        ("D", 2): [1, 1, 1],
        (2, "B"): [0.1, 0.1, 0.2],  # P(D = 0 | B)
        ("B", 1): [0.1, 0.1, 0.2],
        (1, "A"): [0.15, 0.18],  # P(D = 0 | A)
        ("A", 0): [0.15, 0.18],
    }
    assert set(found) == set(wanted)
    for way, message in wanted.items():
        np.testing.assert_allclose(found[way] / found[way].sum(), np.array(message) / np.sum(message))


@pytest.mark.parametrize("method", ["exact", "pseudo"])
@pytest.mark.parametrize("alpha", [0.0, 0.05, 1.0])
def test_a_penalty_is_half_the_squares_of_the_parameters(method, alpha):
    X = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 0], [1, 1]])
    model = MarkovRandomField([("x0", "x1"), ("x1",)], method=method, alpha=alpha, tol=1e-9).fit(X)
    theta = np.concatenate([np.log(factor.values).ravel() for factor in model.factors_])
    found = model.log_likelihood_ if method == "exact" else model.pseudo_log_likelihood_
    assert model.trace_.objective[-1] == pytest.approx(found / 7 - alpha / 2 * theta @ theta, abs=1e-9)
    if method == "exact":
        assert found == pytest.approx(model.score_samples(X).sum())
        log_z = model.log_partition()
        rows = [
            np.log(model.factors_[0].values[a, b]) + np.log(model.factors_[1].values[b]) - log_z for a, b in X
        ]
        assert found == pytest.approx(sum(rows))


def test_annealing_in_one_step_weighs_a_uniform_draw():
    field = MarkovRandomField([Factor(["a", "b"], PAIR)])
    found = [field.log_partition("ais", n_chains=1, n_steps=1, random_state=seed) for seed in range(20)]
    gaps = np.abs(np.exp(found)[:, None] - PAIR.size * PAIR.ravel())
    assert gaps.min(axis=1) == pytest.approx(0.0, abs=1e-9) and len(set(gaps.argmin(axis=1))) > 3


@pytest.mark.parametrize("start", ["empty", "tree"])
def test_a_tabu_list_leads_over_a_valley(start):
    """No pair of the columns tells anything; two together give the third."""
    X = np.tile([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]], (10, 1))
    plain = HillClimbSearch(tabu=0, start="empty").fit(X)
    assert plain.dag_ == [] and plain.score_ == pytest.approx(-120 * np.log(2) - 1.5 * np.log(40))
    found = HillClimbSearch(tabu=3, start=start).fit(X)
    assert found.score_ == pytest.approx(-80 * np.log(2) - 3 * np.log(40))  # 1 + 1 + 4 free numbers
    (a, child), (b, same) = found.dag_
    assert child == same and {a, b, child} == {"x0", "x1", "x2"}
    assert found.trace_.objective[-1] == pytest.approx(found.score_)


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_a_classifier_reports_the_likelihood_of_rows_and_classes(structure):
    frame = pd.DataFrame({"a": list("uvuvuuvv"), "b": list("xxyyxyxx"), "class": list("ppqqppqp")})
    model = BayesianNetworkClassifier(structure, prior="mle").fit(frame[["a", "b"]], frame["class"])
    told = model.network_.score_samples(frame)
    assert model.trace_.objective[-1] == pytest.approx(told.sum())
    assert told[0] == pytest.approx(np.log(model.network_.joint()[{"a": "u", "b": "x", "class": "p"}]))


@pytest.mark.parametrize("test", ["chi2", "g"])
def test_a_column_of_one_state_depends_on_nothing(test):
    search = PC(test=test)
    rows = search._prepare(read_columns(search, pd.DataFrame({"a": [5] * 8, "b": [0, 1] * 4})).rows)
    assert p_value(rows, 0, 1, (), test) == p_value(rows, 1, 0, (), test) == 1.0


@pytest.mark.parametrize(("max_given", "tests"), [(0, 6), (1, 6 + 6 * 2)])
def test_a_search_that_has_given_as_many_as_it_may_has_converged(max_given, tests):
    """No test parts any two of four columns: a pair is tested alone, then given each of the other two."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = PC(test=lambda a, b, given: False, max_given=max_given).fit(np.eye(4, dtype=int))
    assert found.converged_ and found.n_iter_ == max_given + 1
    assert found.n_tests_ == tests and len(found.dag_) == 6


@pytest.mark.parametrize(("n", "most"), [(2, 1), (4, 3), (12, 4)])
def test_restarts_move_three_edges_and_more_among_many_columns(n, most):
    search = HillClimbSearch(start="empty")
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, size=(8, n)))
    work = search._prepare(read_columns(search, frame).rows)
    state = search._start(work, np.random.default_rng(0))
    moved = [work.shaken(state._replace(seed=seed), n).adjacency.sum() for seed in range(60)]
    assert max(moved) == most


def test_what_pairs_of_columns_tell_does_not_depend_on_the_unit_of_the_weights():
    X = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]])
    told = ChowLiuTree().fit(X).mutual_information_
    both, left, right = np.array([[2, 0], [1, 2]]) / 5, np.array([2, 3]) / 5, np.array([3, 2]) / 5
    by_hand = sum(both[i, j] * np.log(both[i, j] / left[i] / right[j]) for i, j in np.argwhere(both > 0))
    assert told[0, 1] == pytest.approx(by_hand)
    for unit in (0.01, 0.2, 7.0):
        found = ChowLiuTree().fit(X, sample_weight=np.full(5, unit)).mutual_information_
        np.testing.assert_allclose(found, told, atol=1e-15)
