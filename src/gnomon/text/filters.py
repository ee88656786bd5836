"""A filter for documents in one call, and the words it decides by."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer

from gnomon.core.errors import DataError


def document_filter(classifier: Any = None, *, length_normalize: bool = False, **options: Any) -> Pipeline:
    """Return a pipeline from raw documents to classes: word counts, then a classifier.

    Parameters
    ----------
    classifier : estimator, optional
        Any classifier that takes sparse counts; `MultinomialNB` when not given.
    length_normalize : bool, default=False
        Divide the counts of a document by its length, so that long ones do not count for more.
    **options
        Of scikit-learn's `CountVectorizer`: ``stop_words``, ``ngram_range``, ``min_df``, ….

    Examples
    --------
    >>> model = document_filter().fit(["dog dog cat", "tulip rose", "cat"], ["pets", "flowers", "pets"])
    >>> model.predict(["a dog and a rose and a dog"]).tolist()
    ['pets']
    """
    if classifier is None:
        from gnomon.bayes import MultinomialNB

        classifier = MultinomialNB()
    steps: list[Any] = [CountVectorizer(**options)]
    if length_normalize:
        steps.append(Normalizer("l1"))
    return make_pipeline(*steps, classifier)


def top_terms(model: Any, vectorizer: Any = None, n: int = 10) -> dict[Any, list[str]]:
    """Return the `n` terms that speak most for every class of a classifier, or every topic of a model.

    Parameters
    ----------
    model : fitted pipeline, linear classifier, naive Bayes or topic model
        For a pipeline from `document_filter` the vectorizer is found by itself. Terms are ranked by the
        class's weight less the mean weight of the other classes; for topics by `components_`.
    vectorizer : fitted vectorizer, optional
        What turned documents into columns.
    n : int, default=10
        Terms of each class.

    Examples
    --------
    >>> model = document_filter().fit(["dog dog cat", "tulip rose", "cat"], ["pets", "flowers", "pets"])
    >>> top_terms(model, n=2)
    {'flowers': ['rose', 'tulip'], 'pets': ['cat', 'dog']}
    """
    if isinstance(model, Pipeline):
        model, vectorizer = model[-1], model[0]
    if vectorizer is None:
        raise DataError(
            "top_terms needs the vectorizer that made the columns, or a pipeline that begins with it."
        )
    words = np.asarray(vectorizer.get_feature_names_out())
    names, scores = _scores(model)
    if scores.shape[1] != len(words):
        raise DataError(f"the model has {scores.shape[1]} columns and the vectorizer {len(words)} terms.")
    order = [sorted(range(len(words)), key=lambda j: (-row[j], words[j]))[:n] for row in scores]
    return {name: words[chosen].tolist() for name, chosen in zip(names, order, strict=True)}


def _scores(model: Any) -> tuple[list[Any], Any]:
    """Return the names of the classes or topics, and how much each term speaks for them."""
    if hasattr(model, "feature_log_prob_"):
        logs = np.asarray(model.feature_log_prob_)
        others = (logs.sum(axis=0) - logs) / max(1, len(logs) - 1)
        return model.classes_.tolist(), logs - others
    if hasattr(model, "coef_"):
        coef = np.atleast_2d(model.coef_)
        return model.classes_.tolist(), np.vstack([-coef, coef]) if len(coef) == 1 else coef
    if hasattr(model, "components_"):
        return list(range(len(model.components_))), np.asarray(model.components_)
    raise DataError(f"{type(model).__name__} has no weights of terms; fit a linear or naive Bayes model.")
