"""Families of distributions, their conjugate priors, and information measures."""

from gnomon._lazy import attach

_WHERE = {
    "counting": ["Bernoulli", "Binomial", "Geometric", "Poisson"],
    "overdispersed": ["BetaBinomial", "NegativeBinomial"],
    "sampled": ["Empirical"],
    "bounded": ["Beta", "Uniform"],
    "conditioning": ["condition_gaussian"],
    "discrete": ["Categorical", "DirichletMultinomial", "Multinomial"],
    "positive": ["Exponential", "Gamma", "InverseGamma"],
    "simplex": ["Dirichlet"],
    "normal": ["Gaussian"],
    "factors": ["LowRankGaussian"],
    "robust": ["Laplace", "MultivariateStudentT", "StudentT"],
    "columnwise": ["Product"],
    "conjugate": ["Conjugate", "compare_priors"],
    "wishart": ["NormalInverseGamma", "NormalInverseWishart"],
    "principles": ["estimate", "maximum_likelihood"],
    "information": [
        "conditional_entropy",
        "cross_entropy",
        "csiszar_divergence",
        "entropy",
        "entropy_from_counts",
        "huffman_lengths",
        "jensen_shannon",
        "kl_divergence",
        "log_sum_gap",
        "mutual_information",
        "relative_entropy",
    ],
    "base": ["Family"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
