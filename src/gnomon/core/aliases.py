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
}
