"""Frequent, closed and maximal sets: the numbers of the lesson, brute force, and what must not matter."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.association import (
    apriori,
    count_itemsets,
    eclat,
    estimate_work,
    fpgrowth,
    fpmax,
    lattice,
    search,
    support,
)
from gnomon.core.errors import DataError
from gnomon.core.threads import threads

BASKETS = [
    {"Bread", "Milk"},
    {"Bread", "Diapers", "Beer", "Eggs"},
    {"Milk", "Diapers", "Beer", "Cola"},
    {"Bread", "Milk", "Diapers", "Beer"},
    {"Bread", "Milk", "Diapers", "Cola"},
]
ENGINES = [apriori, fpgrowth, eclat]


@pytest.fixture(scope="module", autouse=True)
def trees_of_few_baskets():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "SHORT_ROWS", 0)
        yield


def closed_itemsets(df, min_support=0.5, **options):
    return eclat(df, min_support, kind="closed", **options)


def table(baskets=BASKETS):
    names = sorted(set().union(*baskets))
    return pd.DataFrame([[name in one for name in names] for one in baskets], columns=names)


def as_dict(frame):
    return dict(zip(frame["itemsets"], frame["count"]))


def brute_force(X, least, longest=99):
    found = {}
    for k in range(1, min(X.shape[1], longest) + 1):
        for items in itertools.combinations(range(X.shape[1]), k):
            count = int(X[:, items].all(axis=1).sum())
            if count >= least:
                found[frozenset(items)] = count
    return found


tables = (
    st.integers(0, 2**32 - 1)
    .map(np.random.default_rng)
    .map(lambda rng: rng.random((rng.integers(1, 40), rng.integers(1, 9))) < rng.uniform(0.1, 0.9))
)


# oracles


def test_counts_of_the_lesson():
    counts = as_dict(eclat(BASKETS, min_count=1))
    singles = {"Bread": 4, "Milk": 4, "Diapers": 4, "Beer": 3, "Cola": 2, "Eggs": 1}
    for name, count in singles.items():
        assert counts[frozenset([name])] == count
    assert counts[frozenset(["Diapers", "Beer"])] == 3 and counts[frozenset(["Milk", "Cola"])] == 2
    assert frozenset(["Milk", "Eggs"]) not in counts and frozenset(["Eggs", "Cola"]) not in counts
    sizes = np.bincount([len(one) for one in counts])[1:]
    assert sizes.tolist() == [6, 13, 12, 4] and len(counts) == 35
    twice = {one for one, count in counts.items() if len(one) == 3 and count == 2}
    assert twice == {
        frozenset(one.split())
        for one in ("Bread Milk Diapers", "Bread Diapers Beer", "Milk Diapers Beer", "Milk Diapers Cola")
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_frequent_at_three_of_five(engine):
    found = engine(BASKETS, 0.6)
    words = "Bread;Milk;Diapers;Beer;Bread Milk;Bread Diapers;Milk Diapers;Diapers Beer"
    assert set(found["itemsets"]) == {frozenset(one.split()) for one in words.split(";")}
    assert found["support"].tolist() == (found["count"] / 5).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_frequent_at_two_of_five(engine):
    found = engine(BASKETS, 0.4)
    assert np.bincount([len(one) for one in found["itemsets"]])[1:].tolist() == [5, 8, 4]
    assert len(fpmax(BASKETS, 0.4)) == 4 and len(closed_itemsets(BASKETS, 0.4)) == 11


def test_candidates_of_every_level():
    def counted(**options):
        return [level["counted"] for level in apriori(BASKETS, 0.4, **options).attrs["levels"]]

    assert counted() == [6, 10, 5, 0]
    assert counted(candidates="basic") == [6, 10, 10, 4]
    square = pd.DataFrame([[1, 1, 0], [0, 1, 1], [1, 0, 1]] * 2, columns=list("abc"))
    last = apriori(square, min_count=2).attrs["levels"][-1]
    assert last == {"size": 3, "generated": 1, "pruned": 0, "counted": 1, "kept": 0}
    ring = pd.DataFrame([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0]] * 2, columns=list("abcd"))
    last = apriori(ring, min_count=2).attrs["levels"][-1]  # ab ac bc cd: abc has all its parts
    assert (last["generated"], last["pruned"], last["counted"]) == (1, 0, 1)


def test_a_candidate_with_an_infrequent_part_is_never_counted():
    open_ring = pd.DataFrame([[1, 1, 0], [1, 0, 1]] * 2, columns=list("abc"))  # ab and ac, not bc
    last = apriori(open_ring, min_count=2).attrs["levels"][-1]
    assert (last["generated"], last["pruned"], last["counted"], last["kept"]) == (1, 1, 0, 0)


def test_thresholds_are_inclusive_and_decided_in_integers():
    X = np.zeros((100, 1), dtype=bool)
    X[:7] = True
    for engine in ENGINES:
        assert len(engine(X, 0.07)) == 1  # 100 * 0.07 is 7.000000000000001
        assert len(engine(X[: 7 + 0], 1.0)) == 1
    Y = np.zeros((7, 1), dtype=bool)
    Y[:3] = True
    assert len(apriori(Y, 3 / 7)) == 1 and len(apriori(Y, 3 / 7 + 1e-6)) == 0
    assert len(apriori(X, min_count=8)) == 0


def test_numbers_of_sets_and_rules():
    assert count_itemsets(10_000, 5) == 832_500_291_625_002_000
    assert [count_itemsets(k, k, rules=True) for k in (2, 3, 4)] == [2, 6, 14]
    assert count_itemsets(6, rules=True) == 602 and count_itemsets(6) == 64
    assert sum(count_itemsets(6, k, rules=True) for k in range(7)) == 602
    with pytest.raises(DataError, match="negative"):
        count_itemsets(-1)


def test_support_by_hand():
    assert support(BASKETS, ["Diapers", "Beer"]) == 0.6
    assert support(table(), ["Diapers", "Beer"]) == 0.6
    assert support(BASKETS, ["Diapers", "Beer"], count=True) == 3
    assert support(BASKETS, []) == 1.0 and support(BASKETS, ["Caviar"]) == 0.0


def test_lattice_of_three_items():
    found = lattice(["a", "b", "c"], [{"a"}, {"b"}, {"a", "b"}])
    assert [len(level) for level in found.levels] == [1, 3, 3, 1] and len(found.edges) == 12
    assert found.status[frozenset("c")] == "infrequent"
    assert found.status[frozenset("ac")] == found.status[frozenset("abc")] == "pruned"
    whole = lattice("abca")
    assert whole.levels == found.levels and whole.edges == found.edges
    assert set(whole.status.values()) == {"frequent"} and len(whole.status) == 8
    with pytest.raises(DataError, match="at most"):
        lattice(range(30))


# properties


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(1, 12), st.sampled_from([None, 1, 2, 3]))
def test_every_engine_equals_brute_force(X, least, longest):
    want = brute_force(X, least, longest or 99)
    for engine in ENGINES:
        assert as_dict(engine(X, min_count=least, max_len=longest)) == want
    assert as_dict(apriori(X, min_count=least, max_len=longest, candidates="basic")) == want


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(1, 12))
def test_closed_and_maximal_equal_their_definitions(X, least):
    every = brute_force(X, least)
    closed = {a: n for a, n in every.items() if not any(a < b and every[b] == n for b in every)}
    maximal = {a: n for a, n in every.items() if not any(a < b for b in every)}
    assert as_dict(closed_itemsets(X, min_count=least)) == closed
    assert as_dict(fpmax(X, min_count=least)) == maximal
    assert {a: max(n for b, n in closed.items() if a <= b) for a in every} == every


@settings(max_examples=25, deadline=None)
@given(tables)
def test_parts_of_a_frequent_set_are_frequent_and_not_rarer(X):
    found = as_dict(eclat(X, 0.2))
    for one, count in found.items():
        for item in one:
            if len(one) > 1:
                assert found[one - {item}] >= count


def test_sets_are_in_order():
    X = np.random.default_rng(1).random((60, 7)) < 0.5
    for engine in ENGINES:
        keys = [(len(one), sorted(one)) for one in engine(X, 0.2)["itemsets"]]
        assert keys == sorted(keys)


def test_empty_baskets_count():
    with_empty = [*BASKETS, set()]
    for items, share in zip(*(eclat(BASKETS, min_count=1)[c] for c in ("itemsets", "support"))):
        assert support(with_empty, items) == pytest.approx(share * 5 / 6)
    assert eclat(BASKETS * 2, 0.4)["support"].tolist() == eclat(BASKETS, 0.4)["support"].tolist()


def test_threads_change_nothing():
    X = np.random.default_rng(0).random((300, 20)) < 0.3
    for function in (apriori, eclat, closed_itemsets, fpmax):
        with threads(1):
            one = function(X, 0.05)
        with threads(3):
            assert function(X, 0.05).equals(one)


def test_estimate_is_unbiased_and_its_bound_holds():
    X = np.random.default_rng(0).random((80, 12)) < 0.5
    true = len(eclat(X, 0.1))
    work = estimate_work(X, 0.1, n_probes=4000)
    assert abs(work.sets - true) < 4 * work.standard_error and work.standard_error < 0.1 * true
    assert work.at_least <= true and work.min_count == 8
    sizes = np.bincount([len(one) for one in eclat(X, 0.1)["itemsets"]])[1:]
    assert work.by_size[0] == sizes[0] and work.by_size[1] == pytest.approx(sizes[1], rel=0.1)
    assert estimate_work(np.zeros((3, 2), dtype=bool), 0.5).sets == 0
    assert estimate_work(X, 0.1, n_probes=1).standard_error == math.inf
    with pytest.raises(DataError, match="n_probes"):
        estimate_work(X, 0.1, n_probes=0)


# forms of baskets


def test_lists_frames_arrays_and_sparse_agree(tmp_path):
    import polars as pl

    want = as_dict(eclat(BASKETS, 0.4))
    frame = table()
    path = tmp_path / "baskets.csv"
    path.write_text("\n".join(",".join(sorted(one)) for one in BASKETS))
    sparse_frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(frame.to_numpy()), columns=frame.columns)
    for engine in ENGINES:
        for data in (frame, frame.astype(int), frame.astype(float), sparse_frame, pl.DataFrame(frame)):
            assert as_dict(engine(data, 0.4, use_colnames=True)) == want
        assert as_dict(engine(path, 0.4)) == want
        numbers = {frozenset(frame.columns.get_loc(name) for name in one): n for one, n in want.items()}
        for data in (frame, frame.to_numpy(), sp.csr_array(frame.to_numpy()), sp.csc_array(frame.to_numpy())):
            assert as_dict(engine(data, 0.4)) == numbers


def test_memory_of_wide_sparse_baskets_stays_small():
    rng = np.random.default_rng(0)
    wide = sp.csr_array(
        (np.ones(3000, bool), (rng.integers(0, 1000, 3000), rng.integers(0, 10**6, 3000))),
        shape=(1000, 10**6),
    )
    wide = sp.csr_array(wide + sp.csr_array((np.ones(50, bool), (range(50), [7] * 50)), shape=wide.shape))
    assert as_dict(eclat(wide, 0.05)) == {frozenset([7]): 50}


def test_hierarchy_adds_what_is_above_and_drops_what_is_obvious():
    baskets = [["ale", "crisps"], ["stout", "crisps"], ["ale"], ["tea"]]
    tree = {"ale": "beer", "stout": "beer", "beer": "drink", "tea": "drink"}
    found = as_dict(eclat(baskets, min_count=2, hierarchy=tree))
    assert found[frozenset(["beer"])] == 3 and found[frozenset(["drink"])] == 4
    assert found[frozenset(["beer", "crisps"])] == 2
    assert frozenset(["ale", "beer"]) not in found and frozenset(["beer", "drink"]) not in found
    for engine in (apriori, fpgrowth):
        assert as_dict(engine(baskets, min_count=2, hierarchy=tree)) == found
    with pytest.raises(DataError, match="circle"):
        eclat(baskets, 0.5, hierarchy={"ale": "beer", "beer": "ale"})


# awkward input


def test_one_huge_basket_does_not_hang():
    baskets = [list(range(3000))] + [[1, 2], [2, 3]]
    assert as_dict(eclat(baskets, min_count=2)) == {
        frozenset([1]): 2,
        frozenset([2]): 3,
        frozenset([3]): 2,
        frozenset([1, 2]): 2,
        frozenset([2, 3]): 2,
    }
    for engine in ENGINES:
        with pytest.raises(DataError, match=r"frequent set of 3000 items has .* max_sets"):
            engine([list(range(3000))], 0.5)
    assert closed_itemsets([list(range(3000))], 0.5)["itemsets"].tolist() == [frozenset(range(3000))]
    assert len(fpmax(baskets, min_count=1)) == 1


def test_too_many_sets_are_an_error_that_says_what_to_do():
    X = np.random.default_rng(0).random((40, 16)) < 0.6
    for engine in (*ENGINES, closed_itemsets):
        with pytest.raises(DataError, match=r"max_sets=50.*min_support"):
            engine(X, min_count=1, max_sets=50)
    assert len(eclat(X, min_count=1, max_len=1, max_sets=50)) == 16


@pytest.mark.parametrize("bad", [0, -0.1, 1.5, "much", math.nan])
def test_bad_support_is_named(bad):
    for engine in (*ENGINES, closed_itemsets, fpmax):
        with pytest.raises(DataError, match="min_support"):
            engine(BASKETS, bad)


def test_bad_tables_are_named():
    frame = table().astype(float)
    frame.loc[2, "Milk"] = 3
    with pytest.raises(DataError, match="'Milk'.*3"):
        apriori(frame, 0.5)
    frame.loc[2, "Milk"] = np.nan
    with pytest.raises(DataError, match="'Milk' has NaN"):
        apriori(frame, 0.5)
    twice = table()
    twice.columns = ["Milk", "Milk", *twice.columns[2:]]
    with pytest.raises(DataError, match="'Milk' appears twice"):
        apriori(twice, 0.5)
    with pytest.raises(DataError, match="basket 1 must be a list"):
        eclat([["a"], "bc"], 0.5)
    with pytest.raises(DataError, match="0 and 1"):
        eclat(sp.csr_array(np.array([[2, 0]])), 0.5)
    with pytest.raises(DataError, match="candidates"):
        apriori(BASKETS, 0.5, candidates="all")
    with pytest.raises(DataError, match="max_len"):
        eclat(BASKETS, 0.5, max_len=0)


def test_nothing_frequent_is_an_empty_frame():
    for function in (*ENGINES, closed_itemsets, fpmax):
        found = function([["a"], ["b"], []], 0.9)
        assert list(found.columns) == ["support", "itemsets", "count"] and not len(found)
        assert not len(function([[], []], 0.5))


# parity


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("seed", range(3))
def test_same_as_mlxtend(seed):
    mlxtend = pytest.importorskip("mlxtend.frequent_patterns")
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.random((90, 9)) < rng.uniform(0.2, 0.6), columns=list("abcdefghi"))
    for options in ({}, {"max_len": 2}, {"use_colnames": True}):
        ours, theirs = apriori(frame, 0.11, **options), mlxtend.apriori(frame, 0.11, **options)
        assert ours["itemsets"].tolist() == theirs["itemsets"].tolist()
        np.testing.assert_array_equal(ours["support"], theirs["support"])
        theirs = mlxtend.fpmax(frame, 0.11, **options)
        ours = fpmax(frame, 0.11, **options)
        assert dict(zip(ours["itemsets"], ours["support"])) == dict(
            zip(theirs["itemsets"], theirs["support"])
        )


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_unknown_cells_as_in_mlxtend():
    mlxtend = pytest.importorskip("mlxtend.frequent_patterns")
    rng = np.random.default_rng(0)
    values = (rng.random((60, 6)) < 0.6).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    frame = pd.DataFrame(values, columns=list("abcdef"))
    theirs = mlxtend.fpgrowth(frame, 0.3, null_values=True, use_colnames=True)
    ours = fpgrowth(frame, 0.3, null_values=True, use_colnames=True)
    assert dict(zip(ours["itemsets"], ours["support"])) == pytest.approx(
        dict(zip(theirs["itemsets"], theirs["support"]))
    )


def test_unknown_cells_leave_the_denominator():
    frame = pd.DataFrame({"a": [1, 1, np.nan, 1, 0], "b": [1, 1, 1, 1, 1]})
    found = dict(
        zip(*(fpgrowth(frame, 0.5, null_values=True, use_colnames=True)[c] for c in ("itemsets", "support")))
    )
    assert found == {frozenset("a"): 3 / 4, frozenset("b"): 1.0, frozenset("ab"): 3 / 4}


def test_kinds_of_sets_are_named():
    assert eclat(BASKETS, 0.4, kind="maximal").equals(fpmax(BASKETS, 0.4))
    assert set(map(len, eclat(BASKETS, 0.4, kind="closed", max_len=2)["itemsets"])) == {1, 2}
    with pytest.raises(DataError, match="kind must be"):
        eclat(BASKETS, 0.4, kind="close")
    with pytest.raises(DataError, match="hierarchy goes with"):
        eclat(BASKETS, 0.4, kind="closed", hierarchy={"Beer": "drink"})


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_item_is_named(missing):
    with pytest.raises(DataError, match="basket 1 holds"):
        eclat([["a"], ["a", missing]], 0.5)


@pytest.mark.parametrize("bad", [0, -3, 2.5, "many"])
def test_a_bad_limit_is_named(bad):
    with pytest.raises(DataError, match="max_sets"):
        eclat(BASKETS, 0.5, max_sets=bad)
