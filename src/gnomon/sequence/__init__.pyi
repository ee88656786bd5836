# Written by scripts/stubs from the package's `attach` call; do not edit.
from .chain import MarkovChain as MarkovChain
from .classifier import HMMClassifier as HMMClassifier
from .discrete_hmm import CategoricalHMM as CategoricalHMM
from .discrete_hmm import PoissonHMM as PoissonHMM
from .gaussian_hmm import GaussianHMM as GaussianHMM
from .hidden import left_right_mask as left_right_mask
from .hmm import HMM as HMM
from .mixture_hmm import GMMHMM as GMMHMM
from .multinomial_hmm import MultinomialHMM as MultinomialHMM
from .nonlinear import ExtendedKalmanFilter as ExtendedKalmanFilter
from .nonlinear import UnscentedKalmanFilter as UnscentedKalmanFilter
from .order import select_n_states as select_n_states
from .particle import ParticleFilter as ParticleFilter
from .random_walk import GaussianRandomWalk as GaussianRandomWalk
from .resampling import effective_sample_size as effective_sample_size
from .resampling import resample as resample
from .speech import WordRecognizer as WordRecognizer
from .speech import quantize_frames as quantize_frames
from .speech import spectrogram_features as spectrogram_features
from .state_space import KalmanFilter as KalmanFilter
from .structure import absorbing_analysis as absorbing_analysis
from .structure import chain_structure as chain_structure
from .structure import stationary_distribution as stationary_distribution
from .tagging import HMMTagger as HMMTagger
from .tagging import TokenClassifier as TokenClassifier
from .tracking import discretize as discretize
from .tracking import tracking_model as tracking_model
from .walks import graph_walk as graph_walk
from .walks import random_walk_matrix as random_walk_matrix

__all__ = ["CategoricalHMM", "ExtendedKalmanFilter", "GMMHMM", "GaussianHMM", "GaussianRandomWalk", "HMM", "HMMClassifier", "HMMTagger", "KalmanFilter", "MarkovChain", "MultinomialHMM", "ParticleFilter", "PoissonHMM", "TokenClassifier", "UnscentedKalmanFilter", "WordRecognizer", "absorbing_analysis", "chain_structure", "discretize", "effective_sample_size", "graph_walk", "left_right_mask", "quantize_frames", "random_walk_matrix", "resample", "select_n_states", "spectrogram_features", "stationary_distribution", "tracking_model"]
