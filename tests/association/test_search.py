"""The searches themselves: data on which their short cuts could go wrong."""

import itertools
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.association import apriori, association_rules, eclat, fpgrowth, fpmax, search
from gnomon.association.found import in_lexicographic_order, of_lengths
from gnomon.core.errors import DataError
from gnomon.core.threads import threads

ENGINES = [apriori, fpgrowth, eclat]


@pytest.fixture(scope="module", autouse=True)
def trees_of_few_baskets():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "SHORT_ROWS", 0)
        yield


def as_dict(frame):
    assert frame["itemsets"].is_unique
    return dict(zip(frame["itemsets"], frame["count"]))


def brute_force(X, least, longest=99):
    found = {}
    for k in range(1, min(X.shape[1], longest) + 1):
        for items in itertools.combinations(range(X.shape[1]), k):
            count = int(X[:, items].all(axis=1).sum())
            if count >= least:
                found[frozenset(items)] = count
    return found


def tables(draw):
    """Tables with items that always come together, baskets that come again and again, rare and usual items."""
    rng = np.random.default_rng(draw)
    X = rng.random((rng.integers(1, 30), rng.integers(1, 6))) < rng.uniform(0.1, 0.95, size=1)
    X = X[:, rng.integers(0, X.shape[1], size=rng.integers(1, 9))]  # columns again
    X = X[rng.integers(0, len(X), size=rng.integers(1, 400))]  # baskets again, more than a word of them
    return X & (rng.random(X.shape) < rng.choice([0.98, 1.0]))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1).map(tables), st.floats(0.01, 1.0), st.sampled_from([None, 1, 2, 3, 4]))
def test_items_that_come_together_and_baskets_that_come_again(X, share, longest):
    least = max(1, int(share * len(X)))
    want = brute_force(X, least, longest or 99)
    for engine in ENGINES:
        assert as_dict(engine(X, min_count=least, max_len=longest)) == want
    with patch.object(search, "MOST_NODES", 9.0):  # always in the tree
        assert as_dict(fpgrowth(X, min_count=least, max_len=longest)) == want
    if longest is None:
        maximal = {one: count for one, count in want.items() if not any(one < other for other in want)}
        assert as_dict(fpmax(X, min_count=least)) == maximal


@pytest.mark.parametrize("engine", [*ENGINES, fpmax])
def test_in_pieces_or_at_once(monkeypatch, engine):
    rng = np.random.default_rng(1)
    X = rng.random((300, 12)) < np.linspace(0.2, 0.9, 12)
    at_once = engine(X, min_count=9)
    for name in ("FEW_ENTRIES", "FEW_SETS"):
        with monkeypatch.context() as changed:
            changed.setattr(search, name, 30)
            changed.setattr(search, "PIECE_SETS", 3)
            changed.setattr(search, "PIECE_WORDS", 1)
            for count in (1, 2):
                with threads(count):
                    pd.testing.assert_frame_equal(engine(X, min_count=9), at_once)


@pytest.mark.parametrize("seed", range(4))
def test_maximal_sets_of_more_items_than_one_word(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((60, 90)) < rng.choice([0.1, 0.5, 0.9], size=90)
    X[:, rng.integers(0, 90, 3)] = True
    X[:, 5] = X[:, 6]
    for least in (52, 48):
        found = as_dict(fpmax(X, min_count=least))
        for one, count in found.items():
            held = X[:, list(one)].all(axis=1)
            others = X[:, sorted(set(range(90)) - one)]
            assert held.sum() == count >= least > (held[:, None] & others).sum(axis=0).max()
        closed = eclat(X, min_count=least, kind="closed")["itemsets"]
        assert all(any(one <= largest for largest in found) for one in closed)


@pytest.mark.parametrize(
    ("n", "p", "share"), [(1, 1, 1.0), (40, 6, 0.7), (150, 12, 0.6), (90, 58, 0.08), (90, 59, 0.08)]
)
@pytest.mark.parametrize("longest", [None, 1, 2, 3])
def test_sets_of_few_items_are_words_and_nothing_changes(monkeypatch, n, p, share, longest):
    rng = np.random.default_rng(n)
    X = rng.random((n, p)) < share * rng.uniform(0.7, 1.4, size=p)
    X[:, -1] |= X[:, 0]
    least = max(1, n // 12 if p < 50 else 3)
    for engine in ENGINES:
        quick = engine(X, min_count=least, max_len=longest)
        with monkeypatch.context() as here:
            here.setattr(search, "FEW_ITEMS", 0)
            slow = engine(X, min_count=least, max_len=longest)
        pd.testing.assert_frame_equal(quick, slow)
        assert quick.attrs == slow.attrs


@pytest.mark.parametrize("p", [1, 5, 57, 58, 59])
def test_lists_of_sets_are_put_in_order_with_words_and_without(p):
    rng = np.random.default_rng(p)
    sets = sorted(
        {tuple(sorted(rng.choice(p, rng.integers(1, min(p, 6) + 1), replace=False))) for _ in range(40)}
    )
    columns = rng.permutation(100)[:p]
    order = rng.permutation(len(sets))
    lengths = np.array([len(sets[i]) for i in order])
    members = np.concatenate([rng.permutation(sets[i]) for i in order]).astype(np.int32)
    found = of_lengths(lengths, members, order, columns)
    got = [(tuple(row), count) for one in found for row, count in zip(one.sets.tolist(), one.counts.tolist())]
    want = [(tuple(sorted(columns[list(sets[i])].tolist())), i) for i in range(len(sets))]
    assert got == sorted(want, key=lambda one: (len(one[0]), one[0]))


def test_words_give_way_to_many_sets(monkeypatch):
    X = np.random.default_rng(0).random((60, 8)) < 0.7
    want = apriori(X, min_count=5)
    monkeypatch.setattr(search, "FEW_SETS", 20)
    assert len(want) > 20
    pd.testing.assert_frame_equal(apriori(X, min_count=5), want)
    with pytest.raises(DataError, match="max_sets=12"):
        apriori(X, min_count=5, max_sets=12)


def test_items_that_follow_from_others_are_not_counted(monkeypatch):
    from gnomon.loops import levels

    monkeypatch.setattr(search, "FEW_ITEMS", 0)
    rng = np.random.default_rng(0)
    X = rng.random((200, 6)) < 0.6
    X = np.column_stack([X, X, np.ones(200, dtype=bool)])  # every item twice, and one that is always there
    want = brute_force(X, 20)
    counted = []
    true = levels.count_sets
    monkeypatch.setattr(
        levels,
        "count_sets",
        lambda bits, sets, counts: counted.extend(sets.tolist()) or true(bits, sets, counts),
    )
    found = apriori(X, min_count=20)
    assert as_dict(found) == want
    free = {one: all(count < want.get(one - {item}, 200) for item in one) for one, count in want.items()}
    parts_free = [one for one in want if len(one) > 2 and all(free[one - {item}] for item in one)]
    assert {frozenset(one) for one in counted} >= set(parts_free) and len(counted) < len(want) / 5
    assert found.attrs["levels"][2]["counted"] == sum(len(one) == 3 for one in want)


@pytest.mark.parametrize("engine", ENGINES)
def test_rare_and_usual_items_in_more_baskets_than_one_word(engine):
    rng = np.random.default_rng(3)
    X = rng.random((1500, 11)) < np.array([0.9, 0.02, 0.6, 0.3, 0.05, 0.24, 0.26, 0.25, 0.1, 0.95, 0.5])
    X[:, 4] |= X[:, 1]
    assert as_dict(engine(X, min_count=9)) == brute_force(X, 9)


@pytest.mark.parametrize("most_nodes, grown", [(0.0, False), (9.0, True), (0.5, True)])
def test_baskets_that_begin_alike_are_searched_in_their_tree(monkeypatch, most_nodes, grown):
    rng = np.random.default_rng(4)
    X = rng.random((300, 9)) < np.linspace(0.1, 0.9, 9)
    calls, plain = [], search.search_eclat
    monkeypatch.setattr(search, "MOST_NODES", most_nodes)
    monkeypatch.setattr(search, "search_eclat", lambda *given: calls.append(given) or plain(*given))
    assert as_dict(fpgrowth(X, min_count=5)) == brute_force(X, 5)
    assert bool(calls) != grown


@pytest.mark.parametrize("engine", [fpgrowth, eclat])
def test_fourteen_items_that_always_come_together(engine):
    found = engine([list(range(14)), list(range(14)), [3]], min_count=2)
    assert len(found) == 2**14 - 1
    assert (found["count"] == np.where(found["itemsets"] == frozenset([3]), 3, 2)).all()
    lengths = found["itemsets"].map(len)
    assert lengths.is_monotonic_increasing and found["itemsets"].iloc[-1] == frozenset(range(14))
    assert [sorted(one) for one in found["itemsets"][lengths == 13]] == [
        [i for i in range(14) if i != left_out] for left_out in range(13, -1, -1)
    ]


def test_sets_found_before_the_limit_is_passed():
    pieces = [
        list(range(10 * i, 10 * i + 10)) for i in range(5)
    ]  # 1023 sets each; the guard sees one of them
    for engine in ENGINES:
        assert len(engine(pieces, min_count=1, max_sets=5 * 1023)) == 5 * 1023
        with pytest.raises(DataError, match="max_sets=5,114"):
            engine(pieces, min_count=1, max_sets=5 * 1023 - 1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1).map(np.random.default_rng), st.integers(1, 9))
def test_order_of_sets_is_that_of_python(rng, size):
    highest = int(rng.choice([3, 40, 70_000, 2**30]))
    sets = np.sort(rng.integers(0, highest, size=(int(rng.integers(1, 60)), size)), axis=1).astype(np.int32)
    sets[:, : size // 2] = sets.min()  # many rows begin alike
    found = in_lexicographic_order(sets, np.arange(len(sets)))
    assert found.sets.tolist() == sorted(sets.tolist())
    assert (sets[found.counts] == found.sets).all()


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (8, 8), (9, 7), (65, 3), (2, 0), (0, 3)])
def test_tables_in_any_layout(shape):
    X = np.random.default_rng(0).random(shape) < 0.5
    lists = [np.flatnonzero(row).tolist() for row in X]
    strided = np.repeat(X, 2, axis=0)[::2]
    for least in (1, 1 + len(X) // 2):  # all columns, or some
        want = as_dict(eclat(lists, min_count=least))
        for data in (X, np.asfortranarray(X), strided, pd.DataFrame(X), X.astype(int), X.astype(float)):
            for engine in ENGINES:
                assert as_dict(engine(data, min_count=least)) == want


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_bits_of_small_tables_change_nothing(n):
    X = np.random.default_rng(n).random((n, 9)) < np.linspace(0.2, 1.0, 9)
    frame = pd.DataFrame(X, columns=list("ihgfedcba"))

    def answers():
        for least in (1, 1 + n // 4, 1 + n // 2, n):
            for engine in (*ENGINES, fpmax):
                yield engine(frame, min_count=least, use_colnames=True)
                yield engine(np.asfortranarray(X), min_count=least, max_len=2)
            yield apriori(X, min_count=least, candidates="basic")
            yield eclat(frame, min_count=least, kind="closed")

    short = list(answers())
    with patch("gnomon.association.baskets.SMALL_TABLE", 0):
        for one, other in zip(short, answers()):
            pd.testing.assert_frame_equal(one, other)
            assert one.attrs == other.attrs
    for engine in (*ENGINES, fpmax):
        with pytest.raises(DataError, match="max_sets=1"):
            engine(
                np.ones((n, 2), dtype=bool) if engine is not fpmax else np.eye(2, dtype=bool), 0.5, max_sets=1
            )


def test_a_name_for_the_columns_of_one_answer_is_not_that_of_the_next():
    eclat([["tea"]]).columns.name = "mine"
    assert eclat([["tea"]]).columns.name is None


@pytest.mark.parametrize("sparse", [[], ["b"], ["a", "c"], ["a", "b", "c"]])
def test_frames_with_some_sparse_columns(sparse):
    plain = pd.DataFrame({"a": [1, 1, 0, 1], "b": [0, 1, 1, 1], "c": [1, 1, 0, 0]}, dtype=bool)
    frame = plain.astype({name: pd.SparseDtype(bool, False) for name in sparse})
    pd.testing.assert_frame_equal(eclat(frame, 0.5), eclat(plain, 0.5))


def test_a_basket_is_a_set():
    want = as_dict(eclat([["b", "a"], ["a"]], min_count=1))
    assert want == {frozenset("a"): 2, frozenset("b"): 1, frozenset("ab"): 1}
    for engine in ENGINES:
        for again in (
            [("b", "a", "b", "b"), ["a", "a"]],
            [{"a", "b"}, iter("a")],
            (["a", "b"], frozenset("a")),
        ):
            assert as_dict(engine(again, min_count=1)) == want


def test_one_item_and_whole_support():
    for engine in (*ENGINES, fpmax):
        assert as_dict(engine([["tea"], ["tea"]], 1.0)) == {frozenset(["tea"]): 2}
        assert not len(engine([["tea"], []], 1.0)) and not len(engine([["tea"]], min_count=10**9))


def test_threads_change_no_bit_of_sets_and_rules():
    X = np.random.default_rng(0).random((500, 14)) < np.linspace(0.1, 0.8, 14)
    for engine in ENGINES:
        with threads(1):
            one = engine(X, 0.02)
            rules = association_rules(one, min_threshold=0.3)
        with threads(2):
            two = engine(X, 0.02)
            assert two.equals(one) and association_rules(two, min_threshold=0.3).equals(rules)


@pytest.mark.parametrize("name", ["max_len", "max_sets", "min_count"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True])
def test_bounds_are_positive_integers(name, value):
    for engine in (*ENGINES, fpmax):
        with pytest.raises(DataError, match=name):
            engine([["a", "b"]], 0.5, **{name: value})


def test_unknown_cells_and_what_does_not_go_with_them():
    frame = pd.DataFrame({"a": [1, 1, np.nan, 1, 0], "b": [1, 1, 1, 1, 1]})
    with pytest.raises(DataError, match="min_count"):
        fpgrowth(frame, null_values=True, min_count=2)
    with pytest.raises(DataError, match="hierarchy"):
        fpgrowth(frame, null_values=True, hierarchy={"a": "c"})
    with pytest.raises(DataError, match="max_len"):
        fpgrowth(frame, null_values=True, max_len=0)
    with pytest.raises(DataError, match="max_sets=2"):
        fpgrowth(frame, 0.5, null_values=True, max_sets=2)
    assert len(fpgrowth(frame, 0.5, null_values=True, max_len=1)) == 2


# rules


def all_rules(counts, n, threshold, most=99):
    """Every rule whose confidence reaches the threshold, from a dictionary of sets."""
    return {
        (frozenset(left), whole - set(left)): (counts[whole] / n, counts[whole] / counts[frozenset(left)])
        for whole in counts
        for size in range(1, len(whole))
        for left in itertools.combinations(whole, size)
        if len(whole) - size <= most and counts[whole] >= threshold * counts[frozenset(left)] - 1e-9
    }


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1).map(tables),
    st.floats(0.0, 1.0),
    st.sampled_from([None, 1, 2]),
    st.sampled_from(["confidence", "support"]),
)
def test_rules_equal_brute_force(X, threshold, most, metric):
    sets = eclat(X, min_count=max(1, len(X) // 10))
    if not len(sets):
        return
    rules = association_rules(sets, metric=metric, min_threshold=threshold, max_consequent=most)
    found = {
        (a, b): (s, c)
        for a, b, s, c in zip(*(rules[c] for c in ("antecedents", "consequents", "support", "confidence")))
    }
    assert len(found) == len(rules)
    if metric == "confidence":
        want = all_rules(as_dict(sets), len(X), threshold, most or 99)
    else:
        every = all_rules(as_dict(sets), len(X), 0.0, most or 99)
        want = {rule: values for rule, values in every.items() if values[0] >= threshold - 1e-9}
    assert found == want


def test_rules_of_sets_in_any_order_and_of_any_kind():
    sets = eclat(np.random.default_rng(0).random((60, 6)) < 0.6, 0.1)
    want = association_rules(sets, min_threshold=0.6)
    mixed = sets.sample(frac=1, random_state=0).reset_index(drop=True)
    mixed.attrs = sets.attrs
    mixed["itemsets"] = [set(one) if i % 2 else sorted(one) for i, one in enumerate(mixed["itemsets"])]
    found = association_rules(mixed, min_threshold=0.6)
    keys = ["antecedents", "consequents"]
    assert {(*k, v) for *k, v in want[[*keys, "lift"]].itertuples(index=False)} == {
        (*k, v) for *k, v in found[[*keys, "lift"]].itertuples(index=False)
    }


def test_a_missing_part_is_told():
    sets = eclat([["a", "b", "c"]] * 2, 0.5)
    for left_out in (frozenset("a"), frozenset("bc")):
        some = sets[sets["itemsets"] != left_out].reset_index(drop=True)
        with pytest.raises(DataError, match="^a part of"):
            association_rules(some, min_threshold=0.0)
        with pytest.raises(KeyError):  # as mlxtend
            association_rules(some, min_threshold=0.0)
