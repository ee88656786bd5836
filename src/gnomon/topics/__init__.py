"""Topics of documents: latent Dirichlet allocation, tables about topics, and documents drawn from them."""

from gnomon._lazy import attach

_FILES = {
    "lda": ["LatentDirichletAllocation"],
    "tables": [
        "codeword_counts",
        "coherence",
        "document_mixture",
        "perplexity",
        "sample_corpus",
        "top_words",
    ],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
