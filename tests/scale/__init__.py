"""Data larger than memory, clusters, and fits that are killed."""
