# Written by scripts/stubs from the package's `attach` call; do not edit.
from .aspect import AspectModel as AspectModel
from .categories import BinomialMixture as BinomialMixture
from .categories import CategoricalMixture as CategoricalMixture
from .categories import MultinomialMixture as MultinomialMixture
from .categories import empirical_joint as empirical_joint
from .counts import BernoulliMixture as BernoulliMixture
from .counts import ExponentialMixture as ExponentialMixture
from .counts import PoissonMixture as PoissonMixture
from .framework import expected_complete_loglik as expected_complete_loglik
from .framework import lower_bound as lower_bound
from .framework import run_em as run_em
from .gaussian import GaussianMixture as GaussianMixture
from .generic import Mixture as Mixture
from .incomplete import MissingGaussian as MissingGaussian
from .latent import latent_class_test as latent_class_test
from .variational import BayesianGaussianMixture as BayesianGaussianMixture

__all__ = ["AspectModel", "BayesianGaussianMixture", "BernoulliMixture", "BinomialMixture", "CategoricalMixture", "ExponentialMixture", "GaussianMixture", "MissingGaussian", "Mixture", "MultinomialMixture", "PoissonMixture", "empirical_joint", "expected_complete_loglik", "latent_class_test", "lower_bound", "run_em"]
