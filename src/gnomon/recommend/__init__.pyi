# Written by scripts/stubs from the package's `attach` call; do not edit.
from .baselines import MeanRecommender as MeanRecommender
from .baselines import PopularityRecommender as PopularityRecommender
from .bpr import BayesianPersonalizedRanking as BayesianPersonalizedRanking
from .completion import NuclearNormCompletion as NuclearNormCompletion
from .content import ContentBasedRecommender as ContentBasedRecommender
from .evaluation import evaluate as evaluate
from .evaluation import list_metrics as list_metrics
from .evaluation import ranking_metrics as ranking_metrics
from .factorization import MatrixFactorization as MatrixFactorization
from .gibbs import BayesianMatrixFactorization as BayesianMatrixFactorization
from .greedy import GreedyFactorization as GreedyFactorization
from .hybrid import HybridFactorization as HybridFactorization
from .implicit_als import AlternatingLeastSquares as AlternatingLeastSquares
from .item_item import ItemItemRecommender as ItemItemRecommender
from .lists import rerank_mmr as rerank_mmr
from .lists import round_ratings as round_ratings
from .neighbors import KNNRecommender as KNNRecommender
from .ratings import RatingMatrix as RatingMatrix
from .similarities import similarity as similarity

__all__ = ["AlternatingLeastSquares", "BayesianMatrixFactorization", "BayesianPersonalizedRanking", "ContentBasedRecommender", "GreedyFactorization", "HybridFactorization", "ItemItemRecommender", "KNNRecommender", "MatrixFactorization", "MeanRecommender", "NuclearNormCompletion", "PopularityRecommender", "RatingMatrix", "evaluate", "list_metrics", "ranking_metrics", "rerank_mmr", "round_ratings", "similarity"]
