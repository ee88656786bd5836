"""Compile the loops of the family."""

from collections.abc import Sequence

import numpy as np

from gnomon.sequence.chain import MarkovChain
from gnomon.sequence.discrete_hmm import CategoricalHMM, PoissonHMM
from gnomon.sequence.gaussian_hmm import GaussianHMM
from gnomon.sequence.mixture_hmm import GMMHMM
from gnomon.sequence.particle import ParticleFilter
from gnomon.sequence.recursions import HiddenChain, smooth_from_both_ends
from gnomon.sequence.state_space import KalmanFilter


def warm_up(dtypes: Sequence[str]) -> None:
    """Call every loop on a few numbers."""
    X = np.array([[0.0], [1.0], [0.0], [9.0], [8.0], [9.0], [1.0], [0.0]])
    options = {"n_iter": 1, "tol": 0.0, "random_state": 0}
    for dtype in dtypes:
        for model in (GaussianHMM(2, **options), PoissonHMM(2, **options), GMMHMM(2, **options)):
            model.fit(X.astype(dtype), lengths=[5, 3])
            model.predict(X.astype(dtype))
            model.predict_proba(X.astype(dtype))
    symbols = CategoricalHMM(2, n_init=2, method="hard", **options).fit(X.astype(int))
    symbols.score(X.astype(int))
    smooth_from_both_ends(HiddenChain(np.ones(1), np.ones((1, 1)), None, None), np.ones((4, 1)), np.zeros(4))
    KalmanFilter(max_iter=1, tol=0.0).fit(X).smooth(X)
    MarkovChain().fit(list("abaab")).sample(1, 3, random_state=0)
    ParticleFilter.from_kalman(
        KalmanFilter(1, 1, 1, 1), n_particles=4, ess_threshold=1.0, random_state=0
    ).filter(X)
