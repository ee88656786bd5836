"""Recommenders: what a user will like, from ratings, clicks and descriptions."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "AlternatingLeastSquares": "implicit_als",
        "BayesianMatrixFactorization": "gibbs",
        "BayesianPersonalizedRanking": "bpr",
        "ContentBasedRecommender": "content",
        "GreedyFactorization": "greedy",
        "HybridFactorization": "hybrid",
        "ItemItemRecommender": "item_item",
        "KNNRecommender": "neighbors",
        "MatrixFactorization": "factorization",
        "MeanRecommender": "baselines",
        "NuclearNormCompletion": "completion",
        "PopularityRecommender": "baselines",
        "RatingMatrix": "ratings",
        "evaluate": "evaluation",
        "list_metrics": "evaluation",
        "ranking_metrics": "evaluation",
        "rerank_mmr": "lists",
        "round_ratings": "lists",
        "similarity": "similarities",
    },
)
