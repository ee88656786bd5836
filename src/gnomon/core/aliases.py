"""Old addresses of classes: a file that names one of these is read as if it named the new one."""

from __future__ import annotations

ALIASES: dict[str, str] = {  # "gnomon.old.module:Class" -> "gnomon.new.module:Class", for ever
    "gnomon.bayes.counts:CountSums": "gnomon.bayes.count_sums:CountSums",
    "gnomon.ensemble.cascade:ObjectDetector": "gnomon.ensemble.detector:ObjectDetector",
    "gnomon.neural.mlp_base:Optimizer": "gnomon.neural.mlp_state:Optimizer",
    "gnomon.ensemble.forest_numbers:ExtraTreesRegressor": "gnomon.ensemble.forest_regressors:ExtraTreesRegressor",
    "gnomon.ensemble.forest_numbers:RandomForestRegressor": "gnomon.ensemble.forest_regressors:RandomForestRegressor",
    "gnomon.ensemble.resampling:Bootstrap": "gnomon.selection.resampling:Replicates",
    "gnomon.selection.calibrating:CalibratedClassifier": "gnomon.selection.calibrated:CalibratedClassifier",
    "gnomon.selection.conformal:ConformalClassifier": "gnomon.selection.conformal_sets:ConformalClassifier",
}
