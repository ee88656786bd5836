"""Tables, decisions and beliefs: the numbers of the course, and what must hold for all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gnomon.bayes import (
    IncrementalBayes,
    JointTable,
    MinimumRiskClassifier,
    base_rate,
    bayes_rule,
    decide,
    expected_risk,
    loss_matrix,
)
from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.distributions import Bernoulli, Gaussian, conditional_entropy, entropy

F1 = JointTable.from_counts([[2, 5, 4, 2, 1], [0, 0, 3, 3, 2]])


@st.composite
def tables(draw, ndim=2):
    shape = draw(st.tuples(*[st.integers(2, 4)] * ndim))
    counts = draw(hnp.arrays(float, shape, elements=st.integers(0, 9).map(float)))
    return JointTable.from_counts(counts + draw(st.sampled_from([1.0, 0.5])))


def test_weight_classes_by_hand():
    np.testing.assert_allclose(F1.P.sum(), 1, rtol=1e-12)
    np.testing.assert_allclose(F1.prior(), [7 / 11, 4 / 11], rtol=1e-12)
    np.testing.assert_allclose(F1.evidence()[2], 7 / 22, rtol=1e-12)
    np.testing.assert_allclose(F1.posterior()[0], [1, 1, 4 / 7, 2 / 5, 1 / 3], rtol=1e-12)
    np.testing.assert_allclose(F1.posterior(2), [4 / 7, 3 / 7], rtol=1e-12)
    np.testing.assert_allclose(F1.likelihood()[1, 2], 3 / 8, rtol=1e-12)


def test_map_and_ml_decisions():
    assert F1.decisions("map").tolist() == [0, 0, 0, 1, 1]
    assert F1.bayes_error() == pytest.approx(3 / 11, rel=1e-12)
    assert F1.decisions("ml").tolist() == [0, 0, 1, 1, 1]
    zero_one = loss_matrix("zero_one", 2)
    assert F1.total_risk(zero_one, F1.decisions("ml")) == pytest.approx(7 / 22, rel=1e-12)
    assert F1.total_risk(zero_one) == pytest.approx(3 / 11, rel=1e-12)


def test_reject_when_in_doubt():
    loss = loss_matrix("reject", 2, cost=0.3)
    assert F1.decisions("risk", loss).tolist() == [0, 0, 2, 2, 2]
    assert F1.total_risk(loss) == pytest.approx(9 / 44, rel=1e-12)


def test_information_of_a_table():
    assert F1.mutual_information() == pytest.approx(0.1984382479, abs=1e-10)
    assert F1.mutual_information(base=2) == pytest.approx(0.2862858761, abs=1e-10)
    assert entropy(F1.prior()) == pytest.approx(0.6554817739, abs=1e-10)
    assert conditional_entropy(F1.P, given=1) == pytest.approx(0.4570435260, abs=1e-10)


def test_base_rates():
    kit = base_rate(0.98, 0.97, 0.01)
    assert kit.positive == pytest.approx(0.0395, rel=1e-12)
    assert kit.given_positive == pytest.approx(0.2481012658, abs=1e-10)
    assert kit.given_negative == pytest.approx(2.082248829e-4, rel=1e-9)
    assert kit.given_two_positives == pytest.approx(0.9151024297, abs=1e-10)


def test_dice_against_roulette():
    assert bayes_rule([0.5, 0.5], [1 / 36, 1 / 38]).posterior[0] == pytest.approx(19 / 37, rel=1e-12)


def test_coins_one_toss_at_a_time():
    coins = IncrementalBayes([0.75, 0.25], [[0.5, 0.5], [0.4, 0.6]], names=["fair", "loaded"])
    assert coins.predictive()[1] == pytest.approx(0.525, rel=1e-12)
    coins.update(1)
    assert coins.predictive()[1] == pytest.approx(0.5285714286, abs=1e-10)
    coins.reset().update_many([1] * 7)
    fair = [belief[0] for belief in coins.history_[1:]]
    expected = [5 / 7, 25 / 37, 0.6345177665, 0.5912961211, 0.5466153577, 0.5011707348, 0.4557067611]
    np.testing.assert_allclose(fair, expected, atol=1e-10)
    assert coins.reset().update(0).posterior_[0] == pytest.approx(0.7894736842, abs=1e-10)


def test_squared_loss_and_the_posterior_mean():
    points = np.array([[0.0, 0], [1, 0], [0, 2]])
    p = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(
        expected_risk(p, loss_matrix("squared", outcomes=points)), [1.1, 1.5, 3.5], rtol=1e-12
    )
    mean = p @ points
    np.testing.assert_allclose(mean, [0.3, 0.4], rtol=1e-12)
    assert p @ ((points - mean) ** 2).sum(axis=1) == pytest.approx(0.85, rel=1e-12)


def test_conditional_independence_by_slices():
    slices = [np.outer([0.8, 0.2], [0.9, 0.1]) / 2, np.outer([0.3, 0.7], [0.2, 0.8]) / 2]
    table = JointTable(np.array(slices), ["h", "x", "y"])
    assert table.slice_ranks("h") == [1, 1]
    assert table.conditionally_independent("x", "y", "h")
    pair = table.marginal(["x", "y"])
    np.testing.assert_allclose(pair.P, [[0.39, 0.16], [0.16, 0.29]], rtol=1e-12)
    assert pair.rank() == 2
    assert pair.mutual_information() == pytest.approx(0.0636406652, abs=1e-10)
    assert not pair.is_independent()


def test_parameter_counts():
    table = JointTable(np.full((2, 4, 3), 1 / 24))
    assert table.parameter_count() == 23
    assert table.parameter_count("conditional") == 11
    two_way = JointTable(np.full((5, 2), 0.1))
    assert (two_way.parameter_count(), two_way.parameter_count("independent")) == (9, 5)
    naive = JointTable(np.full((2,) * 11, 2.0**-11))
    assert (naive.parameter_count("conditional"), naive.parameter_count()) == (21, 2047)


@given(tables())
def test_rows_and_columns_sum_to_one(table):
    assert table.P.sum() == pytest.approx(1)
    np.testing.assert_allclose(table.likelihood().sum(axis=1), 1)
    np.testing.assert_allclose(table.posterior().sum(axis=0), 1)


@given(tables(ndim=3), st.permutations([0, 1, 2]))
def test_chain_rule_factors_multiply_back(table, order):
    product = 1.0
    for factor in table.chain(order):
        product = np.asarray(product)[..., None] * factor if np.ndim(product) else factor
    np.testing.assert_allclose(product, np.transpose(table.P, order), atol=1e-12)


@given(tables(), st.integers(0, 10**6))
def test_no_rule_beats_the_bayes_risk(table, seed):
    rng = np.random.default_rng(seed)
    loss = rng.normal(size=(3, table.P.shape[0]))
    best = table.total_risk(loss)
    for _ in range(5):
        rule = rng.integers(3, size=table.P.shape[1])
        assert table.total_risk(loss, rule) >= best - 1e-12
    shifted = loss + rng.normal(size=table.P.shape[0])
    assert np.array_equal(table.decisions("risk", loss), table.decisions("risk", shifted))


@given(tables())
def test_zero_one_risk_is_one_minus_the_posterior(table):
    posterior = table.posterior().T
    np.testing.assert_allclose(
        expected_risk(posterior, loss_matrix("zero_one", posterior.shape[1])), 1 - posterior, atol=1e-12
    )
    uniform = JointTable(table.likelihood() / table.P.shape[0])
    np.testing.assert_allclose(
        np.take_along_axis(uniform.P, uniform.decisions("map")[None], 0),
        np.take_along_axis(uniform.P, uniform.decisions("ml")[None], 0),
        rtol=1e-9,
    )


@given(
    st.lists(st.floats(0.05, 1), min_size=2, max_size=4), st.lists(st.floats(0.05, 1), min_size=2, max_size=4)
)
def test_outer_products_are_independent_of_rank_one(a, b):
    table = JointTable.from_counts(np.outer(a, b))
    assert table.is_independent()
    assert table.rank() == 1
    assert table.mutual_information() == pytest.approx(0, abs=1e-9)


@given(st.lists(st.integers(0, 1), max_size=8), st.integers(0, 10**6))
def test_any_order_of_updates_gives_the_batch_posterior(tosses, seed):
    prior, table = np.array([0.2, 0.5, 0.3]), np.array([[0.5, 0.5], [0.1, 0.9], [0.7, 0.3]])
    belief = IncrementalBayes(prior, table).update_many(np.random.default_rng(seed).permutation(tosses))
    likelihood = table[:, tosses].prod(axis=1) if tosses else np.ones(3)
    batch = bayes_rule(prior, likelihood)
    np.testing.assert_allclose(belief.posterior_, batch.posterior, rtol=1e-9)
    assert belief.log_evidence_ == pytest.approx(np.log(batch.evidence), abs=1e-9)


def test_a_hundred_thousand_updates_do_not_underflow():
    belief = IncrementalBayes([0.5, 0.5], Bernoulli([[0.5], [0.6]]))
    belief.update_many([1, 0, 1, 1, 0] * 4000)
    assert np.isfinite(belief.log_evidence_)
    assert belief.posterior_[1] > 0.999


def test_impossible_observation_changes_nothing():
    belief = IncrementalBayes([0.5, 0.5], [[1.0, 0.0], [1.0, 0.0]]).update(0)
    before = belief.posterior_
    with pytest.raises(ZeroEvidenceError, match="impossible under every hypothesis"):
        belief.update(1)
    assert np.array_equal(belief.posterior_, before)
    assert len(belief.history_) == 2


def test_predictive_density_of_a_family():
    belief = IncrementalBayes([0.5, 0.5], Gaussian([[0.0], [2.0]], [[[1.0]], [[1.0]]]))
    grid = np.linspace(-8, 10, 2001)
    density = belief.predictive()
    assert np.trapezoid([density([x]) for x in grid], grid) == pytest.approx(1, abs=1e-6)


def test_table_from_data_counts_weights():
    X = np.array([["a", "u"], ["a", "v"], ["b", "u"]], dtype=object)
    once = JointTable.from_data(X, sample_weight=[2, 1, 1])
    twice = JointTable.from_data(np.vstack([X[:1], X]))
    assert np.array_equal(once.P, twice.P)
    assert once.levels == [["a", "b"], ["u", "v"]]


def test_moments_of_a_table():
    mean, covariance = JointTable([[0.25, 0.25], [0.0, 0.5]]).moments()
    np.testing.assert_allclose(mean, [0.5, 0.75])
    np.testing.assert_allclose(covariance, [[0.25, 0.125], [0.125, 0.1875]])


def test_samples_follow_the_table():
    table = JointTable([[0.1, 0.2], [0.3, 0.4]])
    again = JointTable.from_data(table.sample(20_000, random_state=0))
    np.testing.assert_allclose(again.P, table.P, atol=0.02)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JointTable([[0.5, 0.6]]), "must sum to one"),
        (lambda: JointTable([[-0.5, 1.5]]), "must not be negative"),
        (lambda: JointTable([[np.nan, 1.0]]), "must not be negative or NaN"),
        (lambda: F1.marginal("x9"), "no variable 'x9'"),
        (lambda: JointTable([[0.5, 0.5]], axes=["a", "a"]), "axes must name 2 different variables"),
        (lambda: JointTable([[0.5, 0.5]], axes=["a"]), "axes must name 2 different variables"),
        (lambda: JointTable([[0.5, 0.0], [0.5, 0.0]]).posterior(1), "probability zero"),
        (
            lambda: JointTable([[0.5, 0.5]], axes=["h", "x"]).posterior(9),
            r"x has no outcome 9; it has \[0, 1\]",
        ),
        (lambda: expected_risk([0.5, 0.5], [[1, 2, 3]]), "a column for each of the 2 classes"),
        (lambda: expected_risk([0.5, 0.5], [1, 2]), "a column for each of the 2 classes"),
        (lambda: expected_risk([0.5, 0.5], [[1, np.nan]]), "NaN"),
        (lambda: loss_matrix("reject", 2), "cost of rejecting"),
        (lambda: loss_matrix("zero_one"), "both with n_classes"),
        (lambda: loss_matrix("absolute", 2), "kind must be"),
        (lambda: bayes_rule([0.5, 0.5], [np.nan, 1.0]), "NaN"),
        (lambda: bayes_rule([[0.5, 0.5]], [0.5, 0.5]), "one column for each"),
        (lambda: bayes_rule([0.5, 0.5], np.ones((1, 1, 2))), "one column for each"),
        (lambda: bayes_rule([0.5, 0.5], [[0.5, 0.5], [0.0, 0.0]]), "impossible under every hypothesis"),
        (lambda: bayes_rule([0.0, 1.0], [1.0, 0.0]), "impossible under every hypothesis"),
        (lambda: bayes_rule([0.5, 0.5], [0.0, 0.0]), "impossible under every hypothesis"),
        (lambda: F1.parameter_count("ful"), "Did you mean 'full'"),
    ],
)
def test_errors_name_the_rule(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_bayes_rule_row_by_row_and_in_logs():
    prior, L = np.array([0.2, 0.3, 0.5]), np.array([[0.1, 0.2, 0.3], [1.0, 0.0, 2.0]])
    found = bayes_rule(prior, L)
    np.testing.assert_allclose(found.evidence, L @ prior)
    np.testing.assert_allclose(found.posterior, L * prior / (L @ prior)[:, None])
    logs = bayes_rule(prior, np.log(np.maximum(L, 1e-300)) - 1000.0, log=True)
    np.testing.assert_allclose(logs.posterior, found.posterior, atol=1e-300)
    np.testing.assert_allclose(logs.evidence, np.log(found.evidence) - 1000.0)


def test_decisions_have_names():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    dear = [[0.0, 1.0], [1.0, 0.0], [0.2, 0.2], [9.0, 9.0]]
    told = MinimumRiskClassifier(loss=dear, decisions=["A", "B", "ask", "never"]).fit(X, y)
    assert told.predict([[0.0], [1.5], [3.0]]).tolist() == ["A", "ask", "B"]
    assert MinimumRiskClassifier(loss=dear[:1]).fit(X, y).predict([[0.0], [3.0]]).tolist() == ["a", "a"]
    plain = MinimumRiskClassifier().fit(X, y)
    assert plain.predict([[0.0], [3.0]]).tolist() == ["a", "b"] and not hasattr(plain, "expected_loss")
    np.testing.assert_allclose(told.expected_loss(X), told.predict_proba(X) @ np.transpose(dear))


def test_infinite_losses_and_impossible_classes():
    assert expected_risk([1.0, 0.0], [[0.0, np.inf]]) == [0.0]
    assert decide([0.9, 0.1], [[0.0, np.inf], [1.0, 0.0]]) == 1


def test_minimum_risk_of_any_classifier():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]
    loss = loss_matrix("reject", 2, cost=0.2)
    model = MinimumRiskClassifier(loss=loss).fit(X, y)
    assert model.predict([[0.0], [1.5], [3.0]]).tolist() == ["a", "reject", "b"]
    risks = model.expected_loss([[1.5]])
    assert risks.argmin() == 2
    with pytest.raises(DataError, match="name all 3 decisions"):
        MinimumRiskClassifier(loss=loss, decisions=["x"]).fit(X, y)


def test_pictures():
    assert F1.plot().get_xlabel is not None
    ax = IncrementalBayes([0.5, 0.5], [[0.5, 0.5], [0.4, 0.6]]).update_many([1, 1, 0]).plot()
    assert [len(line.get_ydata()) for line in ax.lines] == [4, 4]


def test_a_table_as_a_frame():
    P = np.arange(1.0, 13.0).reshape(2, 3, 2) / 78
    frame = JointTable(P, axes=["a", "b", "c"], levels=[["u", "v"], [1, 2, 3], ["x", "y"]]).to_frame()
    assert frame.index.tolist() == ["u", "v"] and frame.index.name == "a"
    assert frame.columns.names == ["b", "c"] and frame.shape == (2, 6)
    assert frame.loc["v", (2, "x")] == pytest.approx(9 / 78)
    alone = JointTable([0.25, 0.75], axes=["a"], levels=[["u", "v"]]).to_frame()
    assert alone["P"].to_dict() == {"u": 0.25, "v": 0.75}


def test_a_single_column_is_counted():
    table = JointTable.from_data([["a"], ["b"], ["a"], ["a"]])
    np.testing.assert_allclose(table.P, [0.75, 0.25], rtol=1e-15)
    assert table.levels == [["a", "b"]]
