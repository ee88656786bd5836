"""The column of item sets: codes inside, frozensets to whoever looks."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from gnomon.association import apriori, association_rules, eclat
from gnomon.association.columns import ItemsetArray

BASKETS = [["bread", "milk"], ["bread", "beer"], ["bread", "milk", "beer"], ["milk"]]
ALL = [{"beer"}, {"bread"}, {"milk"}, {"beer", "bread"}, {"beer", "milk"}, {"bread", "milk"}]
ALL = [frozenset(one) for one in [*ALL, {"beer", "bread", "milk"}]]


@pytest.fixture
def found():
    return eclat(BASKETS, min_count=1)


def test_nothing_is_made_before_somebody_looks(found):
    pool = found["itemsets"].array.pool
    assert not pool.made.any()
    assert found["itemsets"].iloc[4] == ALL[4]
    assert np.flatnonzero(pool.made).tolist() == [4]
    assert found["itemsets"].iloc[4] is found["itemsets"].iloc[4]  # made once, then kept
    assert found["itemsets"].tolist() == ALL
    assert pool.made.all()


def test_sets_are_frozensets_to_pandas(found):
    column = found["itemsets"]
    assert column.map(len).tolist() == [1, 1, 1, 2, 2, 2, 3]
    assert column.map(sorted).tolist() == [sorted(one) for one in ALL]
    assert column.apply(lambda one: "milk" in one).tolist() == ["milk" in one for one in ALL]
    assert column.astype(object).dtype == object
    assert column.to_numpy().tolist() == found.to_numpy()[:, 1].tolist() == ALL
    assert [row.itemsets for row in found.itertuples()] == ALL
    assert set(column) == set(ALL)
    assert column.isin([ALL[2], ALL[6]]).tolist() == [False, False, True, False, False, False, True]
    assert found.explode("itemsets")["itemsets"].tolist() == [item for one in ALL for item in sorted(one)]
    assert "(bread)" in repr(found)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_comparison_with_one_set(found, kind):
    column = found["itemsets"]
    assert (column == kind({"milk", "bread"})).tolist() == [one == {"milk", "bread"} for one in ALL]
    assert (column != kind({"milk", "bread"})).tolist() == [one != {"milk", "bread"} for one in ALL]
    assert not (column == kind({"tea"})).any()
    assert not (column == kind({"milk", "tea"})).any()
    assert not (column == kind()).any()
    assert (column >= kind({"milk"})).tolist() == [one >= {"milk"} for one in ALL]
    assert (column > kind({"milk"})).tolist() == [one > {"milk"} for one in ALL]
    assert (column <= kind({"milk", "beer"})).tolist() == [one <= {"milk", "beer"} for one in ALL]
    assert (column < kind({"milk", "beer"})).tolist() == [one < {"milk", "beer"} for one in ALL]


def test_comparison_and_union_row_by_row(found):
    column = found["itemsets"]
    other = column.iloc[::-1].reset_index(drop=True)
    assert (column == other).tolist() == [a == b for a, b in zip(ALL, ALL[::-1])]
    assert (column | other).tolist() == [a | b for a, b in zip(ALL, ALL[::-1])]
    assert (column & other).tolist() == [a & b for a, b in zip(ALL, ALL[::-1])]
    assert (column - other).tolist() == [a - b for a, b in zip(ALL, ALL[::-1])]
    assert (column ^ other).tolist() == [a ^ b for a, b in zip(ALL, ALL[::-1])]
    with pytest.raises(ValueError, match="7 sets and 2 others"):
        assert column.array == ALL[:2]


def test_rows_are_taken_joined_and_grouped(found):
    assert found.iloc[[6, 0]]["itemsets"].tolist() == [ALL[6], ALL[0]]
    assert found[found["count"] == 1]["itemsets"].tolist() == [ALL[4], ALL[6]]
    twice = pd.concat([found, apriori(BASKETS, min_count=2)])
    assert twice["itemsets"].dtype == "itemset"
    assert twice["itemsets"].tolist() == [*ALL, *ALL[:4], ALL[5]]
    assert twice.duplicated("itemsets").sum() == 5
    assert twice.groupby("itemsets")["count"].sum()[ALL[5]] == 4
    assert found.merge(twice, on="itemsets").shape == (12, 5)
    assert pd.concat([found, found])["itemsets"].array.pool is found["itemsets"].array.pool


def test_a_missing_set_is_missing(found):
    column = found.reindex([0, 99])["itemsets"]
    assert column.isna().tolist() == [False, True]
    assert column.map(type).tolist() == [frozenset, float]
    again = ItemsetArray._from_sequence(column)
    assert again.isna().tolist() == [False, True]
    with pytest.raises(ValueError, match="row 1 of df has no itemset"):
        association_rules(pd.DataFrame({"support": [1.0, 1.0], "itemsets": column.to_numpy()}))


@pytest.mark.parametrize("new", [{"tea"}, {"tea", "rum"}, {"a", "b", "c"}])
def test_a_set_is_put_into_a_cell_as_into_a_column_of_objects(found, new):
    for how in ("loc", "iloc", "at"):
        lazy, plain = found.copy(), found.astype({"itemsets": object})
        where = (1, list(found.columns).index("itemsets")) if how == "iloc" else (1, "itemsets")
        try:
            getattr(plain, how)[where] = frozenset(new)
        except ValueError:  # before pandas 3 it puts no set into a cell of objects either
            assert pd.__version__ < "3"
            continue
        getattr(lazy, how)[where] = frozenset(new)
        assert lazy["itemsets"].dtype == "itemset"
        assert lazy["itemsets"].tolist() == plain["itemsets"].tolist() == [ALL[0], new, *ALL[2:]]


def test_a_word_is_no_set(found):
    assert not (found["itemsets"] == "bread").any()
    assert (found["itemsets"] != "nothing").all()


def test_a_set_put_in_place_changes_this_column_alone(found):
    other = found.copy()
    other.at[1, "itemsets"] = frozenset({"tea"})
    assert other["itemsets"].tolist() == [ALL[0], {"tea"}, *ALL[2:]]
    assert found["itemsets"].tolist() == ALL
    with pytest.raises(TypeError, match="frozensets alone"):
        found["itemsets"].array[0] = ["tea"]


def test_pickled_without_what_was_made(found):
    found["itemsets"].tolist()
    again = pickle.loads(pickle.dumps(found))
    assert not again["itemsets"].array.pool.made.any()
    pd.testing.assert_frame_equal(again, found)
    assert again["itemsets"].tolist() == ALL


def test_rules_do_not_care_how_sets_are_held(found):
    plain = found.astype({"itemsets": object})
    plain.attrs = found.attrs
    lists = plain.assign(itemsets=plain["itemsets"].map(list))
    for frame in (plain, lists, found.iloc[::-1].reset_index(drop=True)):
        ours, theirs = (
            association_rules(found, min_threshold=0.6),
            association_rules(frame, min_threshold=0.6),
        )
        pd.testing.assert_frame_equal(*(_by_sides(one) for one in (ours, theirs)))
    part = found.iloc[[1, 2, 5]]  # numbers that skip some sets
    rules = association_rules(part, min_threshold=0.6)
    assert [(*a, *b) for a, b in zip(rules.antecedents, rules.consequents)] == [
        ("bread", "milk"),
        ("milk", "bread"),
    ]


def _by_sides(rules):
    key = rules["antecedents"].map(sorted).map(str) + rules["consequents"].map(sorted).map(str)
    return rules.iloc[np.argsort(key.to_numpy())].reset_index(drop=True)


def test_empty_answers():
    nothing = eclat([["a"], ["b"]], 1.0)
    assert len(nothing) == 0
    assert nothing["itemsets"].tolist() == []
    empty = ItemsetArray._from_sequence([frozenset(), frozenset({1})])
    assert list(empty) == [frozenset(), {1}]
    assert pd.Series(empty).explode().isna().tolist() == [True, False]


# integers are read in one go


@pytest.mark.parametrize(
    "baskets",
    [
        [[3, 1, 3], [2], [], [1, 2]],
        [{-5, 7}, (7, 7), [-5]],
        [[10**12, 1], [1]],
        [[2**70, 1], [1]],
        [[1, "a"], ["a"]],
        [[1.5, 1], [1]],
        [[True, 2], [1]],
        [np.array([4, 2]), np.array([2])],
        [[], []],
    ],
)
def test_items_are_the_given_ones(baskets):
    found = (
        eclat(baskets, min_count=1, max_len=1) if any(len(one) for one in baskets) else eclat(baskets, 1.0)
    )
    items = {item for one in baskets for item in (one.tolist() if hasattr(one, "tolist") else one)}
    assert {item for one in found["itemsets"] for item in one} == items
    for one, count in zip(found["itemsets"], found["count"]):
        assert count == sum(next(iter(one)) in set(basket) for basket in baskets)


def test_one_column_alone_or_columns_of_other_searches_are_joined(found):
    column = found["itemsets"].array
    assert list(ItemsetArray._concat_same_type([column])) == ALL
    assert pd.concat([found["itemsets"]]).tolist() == ALL
    other = eclat([["wine"]], min_count=1)
    assert pd.concat([found, other])["itemsets"].tolist() == [*ALL, frozenset({"wine"})]
