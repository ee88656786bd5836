"""Sequences of symbols: words in rows, compared by models that count them."""

import numpy as np
import polars as pl

from gnomon.report import compare
from gnomon.report.symbols import SymbolEncoder
from gnomon.report.tasks import pose


def weather(n=400, seed=0):
    """Days that stay as they are with probability 0.9: the last one tells the next."""
    rng = np.random.default_rng(seed)
    state, days = 0, []
    for _ in range(n):
        state = state if rng.random() < 0.9 else int(rng.integers(3))
        days.append(("sun", "rain", "snow")[state])
    return pl.DataFrame({"sky": days, "week": [f"w{i // 20:02d}" for i in range(n)]})


def test_codes_go_by_frequency_and_new_words_are_the_most_frequent():
    encoder = SymbolEncoder(["s"]).fit(pl.DataFrame({"s": ["b", "a", "b", None]}))
    assert encoder.values_ == {"s": ["b", "(missing)", "a"]}
    new = pl.DataFrame({"s": ["a", "z", None, "b"]})
    np.testing.assert_array_equal(encoder.transform(new), [[2], [0], [1], [0]])
    assert encoder.unseen(new) == {"s": 1}


def test_a_chain_is_better_than_no_memory_by_what_it_knows():
    problem = pose(weather(), task="sequence", sequence="week")
    assert problem.menu == "sequence of symbols" and "sky holds symbols" in problem.said[-1]
    result = compare(weather(), task="sequence", sequence="week", repeats=1)
    assert [entry.name for entry in result.ranked][0] in ("MarkovChain", "CategoricalHMM")
    assert result.ranked[-1].name == "no memory: the frequencies"
    # a day of the chain costs about H(0.933, 0.033, 0.033) = 0.29 nats, without memory about ln 3
    assert result.best.interval.mean > -0.6 > -0.9 > result.ranked[-1].interval.mean
    assert "colored by hidden state" in result.to_html() or result.best.name == "MarkovChain"


def test_numbers_keep_their_models():
    table = weather().with_columns(x=pl.Series(np.arange(400.0) % 7))
    assert pose(table, task="sequence", sequence="week").menu == "sequence"
