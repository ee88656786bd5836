# Written by scripts/stubs from the package's `attach` call; do not edit.
from .lda import LatentDirichletAllocation as LatentDirichletAllocation
from .tables import codeword_counts as codeword_counts
from .tables import coherence as coherence
from .tables import document_mixture as document_mixture
from .tables import perplexity as perplexity
from .tables import sample_corpus as sample_corpus
from .tables import top_words as top_words

__all__ = ["LatentDirichletAllocation", "codeword_counts", "coherence", "document_mixture", "perplexity", "sample_corpus", "top_words"]
