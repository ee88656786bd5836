"""Rules and their measures: the numbers of the lesson, exact thresholds, pruning, parity with mlxtend."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from association.test_itemsets import BASKETS, table
from gnomon.association import apriori, association_rules, eclat, fpgrowth, rule_measures
from gnomon.association.measures import adjusted
from gnomon.core.errors import DataError


def rule(a, b, rules=None):
    rules = association_rules(eclat(BASKETS, 0.4), min_threshold=0.0) if rules is None else rules
    found = rules[(rules["antecedents"] == frozenset(a)) & (rules["consequents"] == frozenset(b))]
    assert len(found) == 1
    return found.iloc[0]


# oracles


def test_numbers_of_rules_of_the_lesson():
    sets = eclat(BASKETS, 0.4)
    everything = association_rules(sets, min_threshold=0.0)
    assert len(everything) == 40 and (everything["lift"] < 1).sum() == 20
    assert len(association_rules(sets, min_threshold=0.75)) == 15
    assert len(association_rules(sets, min_threshold=1.0)) == 8
    assert len(association_rules(eclat(BASKETS, 0.6), min_threshold=0.75)) == 8


def test_floating_thresholds_lose_rules_on_the_boundary():
    assert 0.6 / 0.8 < 0.75
    assert len(association_rules(eclat(BASKETS, 0.4), min_threshold=0.75, exact=False)) == 8


def test_counts_and_supports_tell_how_many_baskets_there_were():
    sets = eclat(BASKETS, 0.4)
    want = association_rules(sets, min_threshold=0.0)
    sets.attrs.clear()
    assert sets["count"].iloc[0] != sets["count"].iloc[1]
    pd.testing.assert_frame_equal(association_rules(sets, min_threshold=0.0), want)


def test_diapers_and_beer():
    r = rule(["Diapers"], ["Beer"])
    want = {
        "support": Fraction(3, 5),
        "confidence": Fraction(3, 4),
        "lift": Fraction(5, 4),
        "leverage": Fraction(3, 25),
        "conviction": Fraction(8, 5),
        "zhangs_metric": 1,
        "jaccard": Fraction(3, 4),
        "certainty": Fraction(3, 8),
        "kulczynski": Fraction(7, 8),
    }
    for name, value in want.items():
        assert r[name] == pytest.approx(float(value), rel=1e-12), name


def test_measures_of_counts_are_numbers_and_those_of_arrays_arrays():
    assert all(isinstance(value, float) for value in rule_measures(5, 4, 3, 3, significance=True).values())
    assert all(value.shape == (2,) for value in rule_measures(5, [4, 4], [3, 3], [3, 2]).values())


def test_other_rules_of_the_lesson():
    r = rule(["Beer"], ["Diapers"])
    assert (r["support"], r["confidence"], r["lift"]) == (0.6, 1.0, 1.25)
    assert math.isinf(r["conviction"]) and r["zhangs_metric"] == 0.5
    r = rule(["Bread"], ["Milk"])
    assert (r["confidence"], r["lift"]) == (0.75, 15 / 16)
    assert r["leverage"] == pytest.approx(-1 / 25) and r["conviction"] == pytest.approx(4 / 5)
    assert r["zhangs_metric"] == pytest.approx(-1 / 4)
    r = rule(["Cola"], ["Milk", "Diapers"])
    assert (r["support"], r["confidence"], r["lift"]) == (0.4, 1.0, pytest.approx(5 / 3))
    assert r["leverage"] == pytest.approx(4 / 25) and r["zhangs_metric"] == pytest.approx(2 / 3)


def test_margins_implied_by_published_rules():
    for share, confidence, lift, a, b in [
        (0.03, 0.82, 1.95, 0.0365853659, 0.4205128205),
        (0.134, 0.808, 2.13, 0.1658415842, 0.3793427230),
        (0.265, 0.828, 2.15, 0.3200483092, 0.3851162791),
    ]:
        n = 1e9
        found = rule_measures(n, n * share / confidence, n * confidence / lift, n * share)
        assert found["antecedent support"] == pytest.approx(a, abs=5e-10)
        assert found["consequent support"] == pytest.approx(b, abs=5e-10)
        assert found["confidence"] == pytest.approx(confidence) and found["lift"] == pytest.approx(lift)


def test_tests_and_intervals_against_scipy():
    n, n_a, n_b, n_ab = 200, 50, 80, 35
    found = rule_measures(n, n_a, n_b, n_ab, significance=True)
    cells = [[n_ab, n_a - n_ab], [n_b - n_ab, n - n_a - n_b + n_ab]]
    chi2, p, *_ = stats.chi2_contingency(cells, correction=False)
    assert found["chi2"] == pytest.approx(chi2) and found["chi2 p"] == pytest.approx(p)
    assert found["fisher p"] == pytest.approx(stats.fisher_exact(cells, "greater").pvalue)
    wilson = stats.binomtest(n_ab, n_a).proportion_ci(0.95, method="wilson")
    assert (found["confidence low"], found["confidence high"]) == pytest.approx((wilson.low, wilson.high))
    assert found["lift low"] < found["lift"] < found["lift high"]
    assert found["lift"] ** 2 == pytest.approx(found["lift low"] * found["lift high"])


def test_false_discovery_rate_against_scipy():
    p = np.random.default_rng(0).random(30) ** 3
    np.testing.assert_allclose(adjusted(p), stats.false_discovery_control(p))
    more = np.concatenate([p, np.ones(70)])
    np.testing.assert_allclose(adjusted(p, 100), stats.false_discovery_control(more)[:30])
    assert adjusted(np.zeros(0)).shape == (0,)


def test_significance_counts_every_rule_that_was_looked_at():
    sets = eclat(BASKETS, 0.4)
    rules = association_rules(sets, min_threshold=0.9, significance=True)
    assert rules.attrs["n_rules_considered"] == 40
    np.testing.assert_allclose(rules["fisher q"], adjusted(rules["fisher p"].to_numpy(), 40))
    every = association_rules(sets, min_threshold=0.0, significance=True)
    assert len(every) == 40 and (every["fisher q"] >= every["fisher p"] - 1e-15).all()


def test_independent_items_are_seldom_significant():
    X = np.random.default_rng(0).random((2000, 8)) < 0.4
    rules = association_rules(eclat(X, 0.01), min_threshold=0.0, significance=True)
    assert (rules["fisher q"] < 0.05).mean() < 0.01 < (rules["fisher p"] < 0.05).mean()


# properties


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 0.5, 2 / 3, 0.75, 1.0]))
def test_pruning_loses_no_rule(seed, threshold):
    rng = np.random.default_rng(seed)
    X = rng.random((30, 6)) < rng.uniform(0.3, 0.8)
    sets = eclat(X, 0.1)
    if not len(sets):
        return
    counts = dict(zip(sets["itemsets"], sets["count"]))
    want = set()
    for whole, n in counts.items():
        for mask in range(1, 2 ** len(whole) - 1):
            a = frozenset(item for i, item in enumerate(sorted(whole)) if mask >> i & 1)
            if Fraction(int(n), int(counts[a])) >= Fraction(threshold).limit_denominator(1000):
                want.add((a, whole - a))
    got = association_rules(sets, min_threshold=threshold)
    assert set(zip(got["antecedents"], got["consequents"])) == want and len(got) == len(want)
    both = got["confidence"] * got["antecedent support"]
    np.testing.assert_allclose(both, got["support"])
    assert (got["conviction"] >= 0).all()


def test_lift_is_symmetric_and_one_under_independence():
    for n_ab, n in [(1, 6), (4, 9), (2, 8)]:
        one, other = rule_measures(n, 3, 4, min(3, n_ab)), rule_measures(n, 4, 3, min(3, n_ab))
        assert one["lift"] == other["lift"]
    assert rule_measures(12, 3, 4, 1)["lift"] == 1.0 and rule_measures(12, 3, 4, 1)["leverage"] == 0.0


def test_an_empty_basket_changes_no_confidence_and_doubling_nothing():
    plain = association_rules(eclat(BASKETS, min_count=2), min_threshold=0.5)
    padded = association_rules(eclat([*BASKETS, set()], min_count=2), min_threshold=0.5)
    np.testing.assert_array_equal(plain["confidence"], padded["confidence"])
    np.testing.assert_allclose(padded["support"], plain["support"] * 5 / 6)
    twice = association_rules(eclat(BASKETS * 2, min_count=4), min_threshold=0.5)
    pd.testing.assert_frame_equal(plain, twice)


def test_redundant_rules_by_definition():
    X = np.random.default_rng(3).random((80, 6)) < 0.6
    rules = association_rules(eclat(X, 0.1), min_threshold=0.4)
    fewer = association_rules(eclat(X, 0.1), min_threshold=0.4, redundant=False)
    rows = list(zip(rules["antecedents"], rules["consequents"], rules["confidence"]))
    want = [any(d == b and c < a and e >= conf for c, d, e in rows) for a, b, conf in rows]
    assert 0 < sum(want) < len(want)
    pd.testing.assert_frame_equal(fewer, rules[~np.array(want)].reset_index(drop=True))
    alone = association_rules(eclat(X, 0.1), min_threshold=0.4, redundant=False, return_metrics=["lift"])
    np.testing.assert_array_equal(alone["lift"], fewer["lift"])
    with pytest.raises(DataError, match="redundant"):
        association_rules(eclat(X, 0.1), support_only=True, redundant=False)


def test_corrections_count_rules_with_so_many_items_on_the_right():
    sets = eclat(BASKETS, 0.4)  # 8 pairs and 4 triples
    one = association_rules(sets, min_threshold=0.5, max_consequent=1, significance=True)
    assert one.attrs["n_rules_considered"] == 8 * 2 + 4 * 3
    assert association_rules(sets, min_threshold=0.5).attrs["n_rules_considered"] == 40


def test_options():
    sets = eclat(BASKETS, 0.4)
    one = association_rules(sets, min_threshold=0.5, max_consequent=1)
    assert set(map(len, one["consequents"])) == {1} and len(one) == sum(
        len(b) == 1 for b in association_rules(sets, min_threshold=0.5)["consequents"]
    )
    some = association_rules(sets, min_threshold=0.5, return_metrics=["lift"])
    assert list(some.columns) == ["antecedents", "consequents", "lift"]
    lifted = association_rules(sets, metric="lift", min_threshold=1.25)
    assert (lifted["lift"] >= 1.25 - 1e-9).all() and 1.25 in lifted["lift"].tolist()
    some = sets[[len(one) == 2 for one in sets["itemsets"]]]
    alone = association_rules(some, support_only=True, min_threshold=0.6)
    assert len(alone) == 8 and alone["confidence"].isna().all()


def test_bad_input_is_named():
    sets = eclat(BASKETS, 0.4)
    with pytest.raises(DataError, match="Did you mean 'confidence'"):
        association_rules(sets, metric="confidense")
    with pytest.raises(DataError, match="empty"):
        association_rules(sets[:0])
    with pytest.raises(DataError, match="support_only=True"):
        association_rules(sets[[len(one) == 2 for one in sets["itemsets"]]])
    with pytest.raises(DataError, match="columns"):
        association_rules(sets[["support"]])
    with pytest.raises(DataError, match="must be a frame"):
        association_rules([1, 2])
    for bad in (math.nan, -0.1, 3.0):
        with pytest.raises(DataError, match="between 0 and 1"):
            association_rules(pd.DataFrame({"support": [0.5, bad], "itemsets": [{"a"}, {"b"}]}))
    with pytest.raises(DataError, match="df_orig"):
        association_rules(sets, null_values=True)
    with pytest.raises(DataError, match="n_ab"):
        rule_measures(5, 2, 2, 3)
    with pytest.raises(DataError, match="n_a [+] n_b"):
        rule_measures(5, 4, 4, 1)
    with pytest.raises(DataError, match="level"):
        rule_measures(5, 4, 4, 3, significance=True, level=95)
    for bound in (0.0, 1.0):
        with pytest.raises(DataError, match="level"):
            rule_measures(5, 4, 4, 3, significance=True, level=bound)
    shares = pd.DataFrame({"support": [0.5, 0.75, 0.5], "itemsets": [{"a"}, {"b"}, {"a", "b"}]})
    with pytest.raises(DataError, match="num_itemsets"):
        association_rules(shares, significance=True)


def test_no_rule_is_an_empty_frame():
    rules = association_rules(eclat([["a"], ["b"]], 0.5))
    assert not len(rules) and "lift" in rules.columns


# parity


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "metric, threshold", [("confidence", 0.75), ("confidence", 0.5), ("lift", 1.0), ("leverage", 0.0)]
)
@pytest.mark.parametrize("n", [1, 90])
def test_same_as_mlxtend_row_for_row(metric, threshold, n):
    mlxtend = pytest.importorskip("mlxtend.frequent_patterns")
    X = np.random.default_rng(5).random((90, 7)) < 0.55
    for frame in (pd.DataFrame(X, columns=list("abcdefg")), table()):
        theirs = mlxtend.association_rules(
            mlxtend.apriori(frame, 0.2), n, metric=metric, min_threshold=threshold
        )
        ours = association_rules(apriori(frame, 0.2), n, metric=metric, min_threshold=threshold, exact=False)
        pd.testing.assert_frame_equal(_sorted(ours), _sorted(theirs), check_exact=True)


def _sorted(rules):
    keys = [(sorted(a), sorted(b)) for a, b in zip(rules["antecedents"], rules["consequents"])]
    return rules.iloc[sorted(range(len(keys)), key=keys.__getitem__)].reset_index(drop=True)


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_rules_with_unknown_cells_as_in_mlxtend():
    mlxtend = pytest.importorskip("mlxtend.frequent_patterns")
    rng = np.random.default_rng(1)
    values = (rng.random((40, 5)) < 0.7).astype(float)
    values[rng.random(values.shape) < 0.08] = np.nan
    frame = pd.DataFrame(values, columns=list("abcde"))
    sets = fpgrowth(frame, 0.3, null_values=True, use_colnames=True)
    want = mlxtend.association_rules(sets, 40, frame, null_values=True, min_threshold=0.5)
    got = association_rules(sets, 40, frame, null_values=True, min_threshold=0.5, exact=False)
    pd.testing.assert_frame_equal(_sorted(got), _sorted(want))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_threshold": float("nan")}, "min_threshold"),
        ({"min_threshold": "high"}, "min_threshold"),
        ({"max_consequent": 0}, "max_consequent"),
        ({"max_consequent": 1.5}, "max_consequent"),
        ({"num_itemsets": "lift"}, "num_itemsets"),
        ({"num_itemsets": 0}, "num_itemsets"),
        ({"num_itemsets": True}, "num_itemsets"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(DataError, match=message):
        association_rules(eclat(BASKETS, 0.4), **options)


@pytest.mark.parametrize(("most", "sizes"), [(None, [1, 2]), (2, [1, 2]), (1, [1])])
def test_rules_of_supports_alone_are_all_divisions_of_the_sets(most, sizes):
    items = [frozenset("abc"), frozenset("ab"), frozenset("c")]
    sets = pd.DataFrame({"support": [0.5, 0.625, 0.75], "itemsets": items})
    found = association_rules(sets, support_only=True, min_threshold=0.5, max_consequent=most)
    want = [("ab", "c", 0.5), ("ac", "b", 0.5), ("bc", "a", 0.5), ("a", "b", 0.625), ("b", "a", 0.625)]
    want += [("a", "bc", 0.5), ("b", "ac", 0.5), ("c", "ab", 0.5)]
    said = zip(found["antecedents"], found["consequents"], found["support"])
    assert sorted(("".join(sorted(a)), "".join(sorted(b)), s) for a, b, s in said) == sorted(
        one for one in want if len(one[1]) in sizes
    )


def test_rules_with_unknown_cells_by_hand():
    """Of the baskets with a, three tell of b, and two of these have it; of those with b, four tell of a."""
    nan = np.nan
    frame = pd.DataFrame({"a": [1.0, 1, 1, 1, 0, nan, 0], "b": [1.0, 1, 0, nan, 1, 1, 1]})
    sets = fpgrowth(frame, 0.1, null_values=True, use_colnames=True)
    rules = association_rules(sets, 7, frame, null_values=True, min_threshold=0.0)
    found = {
        (*a, *b): value
        for a, b, value in zip(rules["antecedents"], rules["consequents"], rules["confidence"])
    }
    assert found == {("a", "b"): pytest.approx(2 / 3), ("b", "a"): pytest.approx(1 / 2)}
