"""A model for a table: the estimator together with the encoder that suits it and the problem."""

from __future__ import annotations

from typing import Any

from sklearn.utils import get_tags

from gnomon.report.columns import OUT
from gnomon.report.documents import WordCounts
from gnomon.report.encoder import TableEncoder, TableModel
from gnomon.report.ratings import PairEncoder
from gnomon.report.symbols import SymbolEncoder
from gnomon.report.tasks import Problem


def table_model(model: Any, problem: Problem) -> TableModel:
    """Return a model with the encoder that suits it and the problem."""
    if problem.task.name == "recommend":
        return TableModel(model, PairEncoder(*problem.frame.columns), target=problem.target)
    if problem.task.name == "topics":
        return TableModel(model, WordCounts(problem.frame.columns[0]))
    if problem.menu == "sequence of symbols":
        used = [column.name for column in problem.columns if column.kind != OUT]
        return TableModel(model, SymbolEncoder(used), sequence=problem.sequence)
    tags = get_tags(model)
    counts = problem.menu.endswith("of counts")
    encoder = TableEncoder.of(
        problem.columns,
        scale=not (counts or tags.input_tags.positive_only),
        fill=problem.task.name != "sequence",
        forms=problem.forms,
        missing=problem.missing,
    )
    return TableModel(model, encoder, target=problem.target, sequence=problem.sequence)
