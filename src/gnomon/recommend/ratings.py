"""The container of ratings, under its public address."""

from gnomon.core.ratings import RatingMatrix

__all__ = ["RatingMatrix"]
