"""Bayes: probability tables, decisions, generative classifiers, maximum entropy."""

from gnomon._lazy import attach

_WHERE = {
    "tables": ["JointTable"],
    "decisions": [
        "MinimumRiskClassifier",
        "base_rate",
        "bayes_rule",
        "decide",
        "expected_risk",
        "loss_matrix",
    ],
    "incremental": ["IncrementalBayes"],
    "naive": ["BayesClassifier", "GaussianNB"],
    "semi_supervised": ["SemiSupervisedBayes"],
    "categories": ["CategoricalNB"],
    "counts": ["BernoulliNB", "ComplementNB", "MultinomialNB", "PoissonNB"],
    "discriminant": ["LinearDiscriminantAnalysis", "two_normals"],
    "quadratic": ["QuadraticDiscriminantAnalysis"],
    "boundaries": ["gaussian_rule_1d"],
    "maxent": ["maximum_entropy", "project"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
