"""Sequences: Markov chains, hidden Markov models, state-space models, and what is built from them."""

from gnomon._lazy import attach

_WHERE = {
    "chain": ["MarkovChain"],
    "structure": ["absorbing_analysis", "chain_structure", "stationary_distribution"],
    "walks": ["graph_walk", "random_walk_matrix"],
    "hmm": ["HMM"],
    "hidden": ["left_right_mask"],
    "gaussian_hmm": ["GaussianHMM"],
    "mixture_hmm": ["GMMHMM"],
    "multinomial_hmm": ["MultinomialHMM"],
    "state_space": ["KalmanFilter"],
    "tracking": ["discretize", "tracking_model"],
    "nonlinear": ["ExtendedKalmanFilter", "UnscentedKalmanFilter"],
    "particle": ["ParticleFilter"],
    "resampling": ["effective_sample_size", "resample"],
    "random_walk": ["GaussianRandomWalk"],
    "order": ["select_n_states"],
    "classifier": ["HMMClassifier"],
    "speech": ["WordRecognizer", "quantize_frames", "spectrogram_features"],
    "tagging": ["HMMTagger", "TokenClassifier"],
    "discrete_hmm": ["CategoricalHMM", "PoissonHMM"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
