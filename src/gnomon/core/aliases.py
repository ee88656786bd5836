"""Old addresses of classes: a file that names one of these is read as if it named the new one."""

from __future__ import annotations

ALIASES: dict[str, str] = {  # "gnomon.old.module:Class" -> "gnomon.new.module:Class", for ever
    "gnomon.bayes.counts:CountSums": "gnomon.bayes.count_sums:CountSums",
    "gnomon.ensemble.adaboost:AdaState": "gnomon.ensemble.ada_state:AdaState",
    "gnomon.ensemble.bagging:BagState": "gnomon.ensemble.bagging_base:BagState",
    "gnomon.bayes.discriminant:QuadraticDiscriminantAnalysis": "gnomon.bayes.quadratic:QuadraticDiscriminantAnalysis",
    "gnomon.distributions.kept:KeptRows": "gnomon.distributions.kept_rows:KeptRows",
    "gnomon.solvers.descent:Laplace": "gnomon.solvers.laplace:Laplace",
    "gnomon.sequence.hidden:Monitor": "gnomon.sequence.monitor:Monitor",
    "gnomon.ensemble.cascade:ObjectDetector": "gnomon.ensemble.detector:ObjectDetector",
    "gnomon.neural.mlp_base:Optimizer": "gnomon.neural.mlp_state:Optimizer",
    "gnomon.ensemble.forest_base:ForestState": "gnomon.ensemble.forest_state:ForestState",
    "gnomon.ensemble.forest_numbers:ExtraTreesRegressor": "gnomon.ensemble.forest_regressors:ExtraTreesRegressor",
    "gnomon.ensemble.forest_numbers:RandomForestRegressor": "gnomon.ensemble.forest_regressors:RandomForestRegressor",
    "gnomon.ensemble.resampling:Bootstrap": "gnomon.selection.resampling:Replicates",
    "gnomon.selection.calibrating:CalibratedClassifier": "gnomon.selection.calibrated:CalibratedClassifier",
    "gnomon.selection.conformal:ConformalClassifier": "gnomon.selection.conformal_sets:ConformalClassifier",
    "gnomon.kernels.stationary:ConstantKernel": "gnomon.kernels.constant:ConstantKernel",
    "gnomon.kernels.stationary:WhiteKernel": "gnomon.kernels.constant:WhiteKernel",
    "gnomon.kernels.algebra:Exp": "gnomon.kernels.composed:Exp",
    "gnomon.kernels.algebra:Normalized": "gnomon.kernels.composed:Normalized",
    "gnomon.kernels.algebra:OnColumns": "gnomon.kernels.composed:OnColumns",
    "gnomon.kernels.algebra:Scaled": "gnomon.kernels.composed:Scaled",
    "gnomon.kernels.algebra:Warped": "gnomon.kernels.composed:Warped",
    "gnomon.kernels.maps:Nystroem": "gnomon.kernels.approximations:Nystroem",
    "gnomon.kernels.maps:PivotedMap": "gnomon.kernels.approximations:PivotedMap",
    "gnomon.kernels.maps:RBFSampler": "gnomon.kernels.approximations:RBFSampler",
    "gnomon.kernels.mistakes:KernelPassiveAggressiveClassifier": (
        "gnomon.kernels.passive_aggressive:KernelPassiveAggressiveClassifier"
    ),
    "gnomon.kernels.mistakes:KernelPassiveAggressiveRegressor": (
        "gnomon.kernels.passive_aggressive:KernelPassiveAggressiveRegressor"
    ),
    "gnomon.kernels.mistakes:KernelPerceptron": "gnomon.kernels.perceptron:KernelPerceptron",
    "gnomon.kernels.mistakes:MistakeState": "gnomon.kernels.online:MistakeState",
    "gnomon.ensemble.objectives:Exponential": "gnomon.losses.boosting:Exponential",
    "gnomon.ensemble.objectives:Gamma": "gnomon.losses.boosting:Gamma",
    "gnomon.ensemble.objectives:Huber": "gnomon.losses.boosting:Huber",
    "gnomon.ensemble.objectives:LogLoss": "gnomon.losses.boosting:LogLoss",
    "gnomon.ensemble.objectives:Poisson": "gnomon.losses.boosting:Poisson",
    "gnomon.ensemble.objectives:Quantile": "gnomon.losses.boosting:Quantile",
    "gnomon.ensemble.objectives:SoftmaxLoss": "gnomon.losses.boosting:SoftmaxLoss",
    "gnomon.ensemble.objectives:SquaredError": "gnomon.losses.boosting:SquaredError",
    "gnomon.linear._margin_solvers:Solved": "gnomon.solvers.maximum_margin:Iterate",
    "gnomon.trees.splits:Split": "gnomon.trees.root_split:Split",
    "gnomon.neural.layer_kinds:Conv1d": "gnomon.neural.layer_windows:Conv1d",
    "gnomon.neural.layer_kinds:Conv2d": "gnomon.neural.layer_windows:Conv2d",
    "gnomon.neural.layer_kinds:MaxPool": "gnomon.neural.layer_windows:MaxPool",
    "gnomon.neural.layer_kinds:AvgPool": "gnomon.neural.layer_windows:AvgPool",
    "gnomon.neural.layer_kinds:GlobalAvgPool": "gnomon.neural.layer_windows:GlobalAvgPool",
    "gnomon.kernels.stationary:ExpSineSquared": "gnomon.kernels.periodic:ExpSineSquared",
    "gnomon.neural.autoencoders:VariationalAutoencoder": "gnomon.neural.variational_autoencoder:VariationalAutoencoder",
    "gnomon.mixture.variational:Belief": "gnomon.mixture.beliefs:Belief",
}

MOVED: dict[str, str] = {  # "gnomon.old.module" -> "gnomon.new.module": every class of it, for ever
    "gnomon.linear.active": "gnomon.linear.bayes.active",
    "gnomon.linear.bayesian": "gnomon.linear.bayes.bayesian",
    "gnomon.linear.bayesian_logistic": "gnomon.linear.bayes.bayesian_logistic",
    "gnomon.linear.dual_hulls": "gnomon.linear.margin.dual_hulls",
    "gnomon.linear.evidence": "gnomon.linear.bayes.evidence",
    "gnomon.linear.geometry": "gnomon.linear.squares.geometry",
    "gnomon.linear.glm": "gnomon.linear.likelihood.glm",
    "gnomon.linear.hulls": "gnomon.linear.margin.hulls",
    "gnomon.linear.inference": "gnomon.linear.squares.inference",
    "gnomon.linear.lars": "gnomon.linear.lasso.lars",
    "gnomon.linear.least_squares": "gnomon.linear.squares.least_squares",
    "gnomon.linear.least_squares_classifier": "gnomon.linear.squares.least_squares_classifier",
    "gnomon.linear.logistic": "gnomon.linear.likelihood.logistic",
    "gnomon.linear.logistic_cv": "gnomon.linear.likelihood.logistic_cv",
    "gnomon.linear.moments": "gnomon.linear.squares.moments",
    "gnomon.linear.normal": "gnomon.linear.squares.normal",
    "gnomon.linear.passive_aggressive": "gnomon.linear.online.passive_aggressive",
    "gnomon.linear.penalized": "gnomon.linear.lasso.penalized",
    "gnomon.linear.perceptron": "gnomon.linear.online.perceptron",
    "gnomon.linear.quantile": "gnomon.linear.robust.quantile",
    "gnomon.linear.reading": "gnomon.linear.squares.reading",
    "gnomon.linear.ridge": "gnomon.linear.squares.ridge",
    "gnomon.linear.ridge_cv": "gnomon.linear.squares.ridge_cv",
    "gnomon.linear.robust": "gnomon.linear.robust.robust",
    "gnomon.linear.sparse": "gnomon.linear.lasso.sparse",
    "gnomon.linear.sparse_cv": "gnomon.linear.lasso.sparse_cv",
    "gnomon.linear.sparse_path": "gnomon.linear.lasso.sparse_path",
    "gnomon.linear.spectrum": "gnomon.linear.squares.spectrum",
    "gnomon.linear.stochastic": "gnomon.linear.online.stochastic",
    "gnomon.linear.student": "gnomon.linear.robust.student",
    "gnomon.linear.subgradient": "gnomon.linear.online.subgradient",
    "gnomon.linear.svm": "gnomon.linear.margin.svm",
    "gnomon.linear.svr": "gnomon.linear.margin.svr",
    "gnomon.linear._separation": "gnomon.linear.likelihood._separation",
    "gnomon.linear._wald": "gnomon.linear.likelihood._wald",
    "gnomon.linear._sgd": "gnomon.linear.online._sgd",
    "gnomon.linear._epochs": "gnomon.linear.online._epochs",
    "gnomon.linear._batches": "gnomon.linear.online._batches",
    "gnomon.linear._streams": "gnomon.linear.online._streams",
    "gnomon.linear._mistakes": "gnomon.linear.online._mistakes",
    "gnomon.linear._aggressive": "gnomon.linear.online._aggressive",
    "gnomon.linear._margin_solvers": "gnomon.solvers.maximum_margin",
}


def present_name(name: str) -> str:
    """Return the name under which a class is found today.

    >>> present_name("gnomon.linear.ridge:Ridge")
    'gnomon.linear.squares.ridge:Ridge'
    """
    module, colon, cls = name.partition(":")
    return ALIASES.get(name, f"{MOVED.get(module, module)}{colon}{cls}")
