"""No recommender depends on how many threads BLAS has, or the library: same data, same bits."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from gnomon.core.threads import threads
from gnomon.recommend import (
    AlternatingLeastSquares,
    BayesianMatrixFactorization,
    BayesianPersonalizedRanking,
    ContentBasedRecommender,
    GreedyFactorization,
    HybridFactorization,
    ItemItemRecommender,
    KNNRecommender,
    MatrixFactorization,
    MeanRecommender,
    NuclearNormCompletion,
    PopularityRecommender,
)

RNG = np.random.default_rng(0)
RATINGS = RNG.normal(size=(200, 130))  # long enough for BLAS to share a sum out
LARGE = RNG.normal(size=(400, 260))  # and for singular values
CLICKS = sparse.csr_array(np.where(RATINGS > 0.5, 1.0, 0.0))
OF_USERS, OF_ITEMS = RNG.normal(size=(200, 30)), RNG.normal(size=(130, 40))
FEW = {"iterations": 2, "random_state": 0}
CASES = {
    "mean": (MeanRecommender("biases", regularization=1.0), {}),
    "popularity": (PopularityRecommender(), {}),
    "content": (ContentBasedRecommender(), {"item_features": OF_ITEMS}),
    "content by lstsq": (ContentBasedRecommender(regularization=0.0), {"item_features": OF_ITEMS}),
    "users": (KNNRecommender(5), {}),
    "items": (KNNRecommender(5, mode="item"), {}),
    "als": (MatrixFactorization(4, biases=True, **FEW), {}),
    "sgd": (MatrixFactorization(2, solver="sgd", biases=True, **FEW), {}),
    "cd": (MatrixFactorization(2, solver="cd", biases=True, tol=0.0, **FEW), {}),
    "gibbs": (BayesianMatrixFactorization(2, n_burn=1, n_samples=2, random_state=0), {}),
    "greedy": (GreedyFactorization(2, inner_iterations=3, random_state=0), {}),
    "hybrid": (
        HybridFactorization(4, solver="als", one_hot=False, **FEW),
        {"user_features": OF_USERS, "item_features": OF_ITEMS},
    ),
    "hybrid by gradients": (
        HybridFactorization(2, solver="cg", biases=True, **FEW),
        {"item_features": OF_ITEMS},
    ),
    "nuclear norm": (NuclearNormCompletion(5.0, max_iter=3), {}),
    "nuclear norm, path": (NuclearNormCompletion(5.0, max_iter=2, path=[12.0]), {}),
    "implicit, cg": (AlternatingLeastSquares(32, calculate_training_loss=True, **FEW), {}),
    "implicit, Cholesky": (AlternatingLeastSquares(8, use_cg=False, **FEW), {}),
    "ranking": (BayesianPersonalizedRanking(8, **FEW), {}),
    "likeness": (ItemItemRecommender(5), {}),
}


def everything(model, features):
    """Return all numbers that a fit leaves, and all answers."""
    clicks = hasattr(model, "recalculate_user")
    large = isinstance(model, NuclearNormCompletion)
    model.fit(CLICKS if clicks else LARGE if large else RATINGS, **features)
    found = {name: value for name, value in vars(model).items() if name.endswith("_")}
    found = {name: value for name, value in found.items() if isinstance(value, float | np.ndarray)}
    found["trace"] = np.array(model.trace_.objective)
    found["table"] = model.predict_matrix()
    found["lists"] = np.array(model.recommend(np.arange(200), N=5))
    found["alike"] = np.array(model.similar_items(3, N=5))
    return found


@pytest.mark.filterwarnings("ignore")  # a few steps do not converge
@pytest.mark.parametrize("name", CASES)
def test_threads_change_no_bit(name):
    runs = []
    for of_blas, ours in ((1, 1), (2, 1), (2, 2)):
        with threadpool_limits(of_blas), threads(ours):
            runs.append(everything(*CASES[name]))
    for other in runs[1:]:
        assert other.keys() == runs[0].keys()
        for key, value in runs[0].items():
            np.testing.assert_array_equal(other[key], value, err_msg=key)
