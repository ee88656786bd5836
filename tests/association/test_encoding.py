"""Baskets from lists, files and questionnaires."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gnomon.association import TransactionEncoder, eclat, encode_survey, read_baskets
from gnomon.core.errors import DataError


def test_encoder_there_and_back():
    baskets = [["milk", "tea"], ["tea"], []]
    encoder = TransactionEncoder()
    table = encoder.fit_transform(baskets)
    assert encoder.columns_ == ["milk", "tea"] and table.dtype == bool
    assert encoder.columns_mapping_ == {"milk": 0, "tea": 1}
    assert table.tolist() == [[True, True], [False, True], [False, False]]
    assert encoder.inverse_transform(table) == baskets
    thin = encoder.transform(baskets, sparse=True)
    assert sp.issparse(thin) and np.array_equal(thin.toarray(), table)
    assert encoder.inverse_transform(thin) == baskets
    assert encoder.get_feature_names_out().tolist() == ["milk", "tea"]


def test_an_item_counts_once_and_items_of_several_kinds_are_sorted():
    encoder = TransactionEncoder().fit([["b", "b", 2], [1, "a"]])
    assert encoder.columns_ == [1, 2, "a", "b"]
    assert encoder.transform([["b", "b"]]).tolist() == [[False, False, False, True]]


def test_encoder_with_a_hierarchy():
    encoder = TransactionEncoder(hierarchy={"ale": "beer", "beer": ["drink", "alcohol"]})
    table = pd.DataFrame(encoder.fit_transform([["ale"], ["tea"]]), columns=encoder.columns_)
    assert table.columns.tolist() == ["alcohol", "ale", "beer", "drink", "tea"]
    assert table.loc[0].tolist() == [True, True, True, True, False]


def test_unknown_item_is_named():
    with pytest.raises(DataError, match="basket 1 holds 'gin'"):
        TransactionEncoder().fit([["tea"]]).transform([["tea"], ["gin"]])


def test_baskets_from_files_and_long_tables(tmp_path):
    (tmp_path / "a.txt").write_text("1 2\n\n2 3 3\n")
    assert read_baskets(tmp_path / "a.txt") == [["1", "2"], [], ["2", "3", "3"]]
    (tmp_path / "b.csv").write_text("green tea, milk\nbread\n")
    assert read_baskets(tmp_path / "b.csv") == [["green tea", "milk"], ["bread"]]
    (tmp_path / "c.csv").write_text("id,what\n5,tea\n4,milk\n5,milk\n")
    want = [["tea", "milk"], ["milk"]]
    assert read_baskets(tmp_path / "c.csv", basket="id", item="what") == want
    pd.read_csv(tmp_path / "c.csv").to_parquet(tmp_path / "d.parquet")
    assert read_baskets(tmp_path / "d.parquet", basket="id", item="what") == want
    with pytest.raises(DataError, match="no column 'where'"):
        read_baskets(tmp_path / "c.csv", basket="id", item="where")
    with pytest.raises(DataError, match="together"):
        read_baskets(tmp_path / "c.csv", basket="id")


def test_a_comma_between_quotation_marks_belongs_to_the_item(tmp_path):
    file = tmp_path / "baskets.csv"
    file.write_text('milk, "salt, fine"\n5" pipe,milk\n\n', encoding="utf-8")
    assert read_baskets(file) == [["milk", "salt, fine"], ['5" pipe', "milk"], []]


def test_files_of_tables_and_files_that_are_no_text(tmp_path):
    file = tmp_path / "table.parquet"
    pd.DataFrame({"tea": [True, True, False], "milk": [True, False, False]}).to_parquet(file)
    found = eclat(file, 0.3, use_colnames=True)
    assert [(sorted(one), n) for one, n in zip(found["itemsets"], found["count"])] == [
        (["tea"], 2),
        (["milk"], 1),
        (["milk", "tea"], 1),
    ]
    spoiled = tmp_path / "baskets.txt"
    spoiled.write_bytes(b"\xff\xfe\x00tea")
    for read in (read_baskets, lambda path: eclat(path, 0.5)):
        with pytest.raises(DataError, match="baskets.txt is not text in UTF-8"):
            read(spoiled)


def test_survey_of_fourteen_questions_has_fifty_items():
    levels = [2, 5, 7, 6, 9, 9, 5, 3, 9, 9, 3, 5, 8, 3]
    kinds = "CCOOCOOCOOCCCC"
    rng = np.random.default_rng(0)
    answers = pd.DataFrame(
        {f"q{i}": np.concatenate([np.arange(n), rng.integers(0, n, 50 - n)]) for i, n in enumerate(levels)}
    )
    names = {kind: [f"q{i}" for i, k in enumerate(kinds) if k == kind] for kind in "CO"}
    items = encode_survey(answers, ordinal=names["O"], categorical=names["C"])
    assert items.shape == (50, 50)
    assert sum(n for n, kind in zip(levels, kinds) if kind == "C") + 2 * kinds.count("O") == 50
    assert (items.to_numpy().sum(axis=1) == 14).all()


def test_median_split():
    items = encode_survey(pd.DataFrame({"x": [1, 2, 2, 3, 5]}), ordinal=["x"])
    assert items["x <= 2"].tolist() == [True, True, True, False, False]
    assert items["x > 2"].tolist() == [False, False, False, True, True]
    skewed = encode_survey(pd.DataFrame({"x": [1, 5, 5, 5]}), ordinal=["x"])
    assert list(skewed) == ["x < 5", "x >= 5"] and skewed["x < 5"].tolist() == [True, False, False, False]


def test_missing_answers_have_no_item():
    answers = pd.DataFrame({"x": [1, None, 3], "c": ["u", "v", None]})
    items = encode_survey(answers)
    assert items.sum(axis=1).tolist() == [2, 1, 1]
    assert list(items) == ["x <= 2", "x > 2", "c=u", "c=v"]


def test_cuts_and_labels():
    items = encode_survey(pd.DataFrame({"x": [1, 2, 3, 4]}), numeric=["x"], split=[1, 3], labels={"x": "age"})
    assert list(items) == ["age <= 1", "1 < age <= 3", "age > 3"]
    assert items.sum(axis=1).tolist() == [1, 1, 1, 1]
    with pytest.raises(DataError, match="no column 'y'"):
        encode_survey(pd.DataFrame({"x": [1]}), ordinal=["y"])
    with pytest.raises(DataError, match="categorical"):
        encode_survey(pd.DataFrame({"x": ["a"]}), ordinal=["x"])
    with pytest.raises(DataError, match="split"):
        encode_survey(pd.DataFrame({"x": [1]}), ordinal=["x"], split="mean")
