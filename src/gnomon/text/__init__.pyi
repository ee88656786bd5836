# Written by scripts/stubs from the package's `attach` call; do not edit.
from .filters import document_filter as document_filter
from .filters import top_terms as top_terms

__all__ = ["document_filter", "top_terms"]
