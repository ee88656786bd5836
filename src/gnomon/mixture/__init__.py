"""Mixtures: densities made of components, fitted by EM."""

from gnomon._lazy import attach

_WHERE = {
    "gaussian": ["GaussianMixture"],
    "counts": ["BernoulliMixture", "ExponentialMixture", "PoissonMixture"],
    "categories": ["BinomialMixture", "CategoricalMixture", "MultinomialMixture", "empirical_joint"],
    "latent": ["latent_class_test"],
    "generic": ["Mixture"],
    "framework": ["expected_complete_loglik", "lower_bound", "run_em"],
    "incomplete": ["MissingGaussian"],
    "variational": ["BayesianGaussianMixture"],
    "aspect": ["AspectModel"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
