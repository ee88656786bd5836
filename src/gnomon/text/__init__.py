"""Text: filters for documents, and the words behind their decisions.

Counting words is scikit-learn's work: `CountVectorizer`, `TfidfVectorizer` and `HashingVectorizer` feed every
model here, and ``Normalizer("l1")`` divides counts by the length of the document.
"""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"document_filter": "filters", "top_terms": "filters"})
