"""Which model, how good is it, how sure are we, is the difference real, for whom does it fail?"""

from gnomon._lazy import attach

_FILES = {
    "intervals": ["adjust_p_values", "error_interval"],
    "areas": ["auc_bounds", "auc_interval"],
    "comparing": ["compare_predictions", "compare_scores"],
    "ranks": ["compare_many"],
    "resampling": ["bootstrap", "jackknife"],
    "calibrated": ["CalibratedClassifier"],
    "calibrating": ["calibrate", "calibration"],
    "conformal": ["ConformalRegressor"],
    "conformal_sets": ["ConformalClassifier"],
    "over_time": ["AdaptiveConformal"],
    "scoring": ["proper_score"],
    "auditing": ["audit"],
    "splitting": ["LockedTestSet", "three_way_split"],
    "evaluating": ["evaluate", "one_standard_error"],
    "taxonomy": ["model_map"],
    "tables": ["confusion_table"],
    "criteria": ["criteria_table", "information_criteria", "model_weights", "n_parameters"],
    "orders": ["choose_order", "stability_selection"],
    "tradeoff": ["bias_variance", "bootstrap_error", "winner_bias"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
