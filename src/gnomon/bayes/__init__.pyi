# Written by scripts/stubs from the package's `attach` call; do not edit.
from .boundaries import gaussian_rule_1d as gaussian_rule_1d
from .categories import CategoricalNB as CategoricalNB
from .counts import BernoulliNB as BernoulliNB
from .counts import ComplementNB as ComplementNB
from .counts import MultinomialNB as MultinomialNB
from .counts import PoissonNB as PoissonNB
from .decisions import MinimumRiskClassifier as MinimumRiskClassifier
from .decisions import base_rate as base_rate
from .decisions import bayes_rule as bayes_rule
from .decisions import decide as decide
from .decisions import expected_risk as expected_risk
from .decisions import loss_matrix as loss_matrix
from .discriminant import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
from .discriminant import two_normals as two_normals
from .incremental import IncrementalBayes as IncrementalBayes
from .maxent import maximum_entropy as maximum_entropy
from .maxent import project as project
from .naive import BayesClassifier as BayesClassifier
from .naive import GaussianNB as GaussianNB
from .quadratic import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
from .semi_supervised import SemiSupervisedBayes as SemiSupervisedBayes
from .tables import JointTable as JointTable

__all__ = ["BayesClassifier", "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "IncrementalBayes", "JointTable", "LinearDiscriminantAnalysis", "MinimumRiskClassifier", "MultinomialNB", "PoissonNB", "QuadraticDiscriminantAnalysis", "SemiSupervisedBayes", "base_rate", "bayes_rule", "decide", "expected_risk", "gaussian_rule_1d", "loss_matrix", "maximum_entropy", "project", "two_normals"]
