# Written by scripts/stubs from the package's `attach` call; do not edit.
from .areas import auc_bounds as auc_bounds
from .areas import auc_interval as auc_interval
from .auditing import audit as audit
from .calibrated import CalibratedClassifier as CalibratedClassifier
from .calibrating import calibrate as calibrate
from .calibrating import calibration as calibration
from .comparing import compare_predictions as compare_predictions
from .comparing import compare_scores as compare_scores
from .conformal import ConformalRegressor as ConformalRegressor
from .conformal_sets import ConformalClassifier as ConformalClassifier
from .criteria import criteria_table as criteria_table
from .criteria import information_criteria as information_criteria
from .criteria import model_weights as model_weights
from .criteria import n_parameters as n_parameters
from .evaluating import evaluate as evaluate
from .evaluating import one_standard_error as one_standard_error
from .intervals import adjust_p_values as adjust_p_values
from .intervals import error_interval as error_interval
from .orders import choose_order as choose_order
from .orders import stability_selection as stability_selection
from .over_time import AdaptiveConformal as AdaptiveConformal
from .ranks import compare_many as compare_many
from .resampling import bootstrap as bootstrap
from .resampling import jackknife as jackknife
from .scoring import proper_score as proper_score
from .splitting import LockedTestSet as LockedTestSet
from .splitting import three_way_split as three_way_split
from .tables import confusion_table as confusion_table
from .taxonomy import model_map as model_map
from .tradeoff import bias_variance as bias_variance
from .tradeoff import bootstrap_error as bootstrap_error
from .tradeoff import winner_bias as winner_bias

__all__ = ["AdaptiveConformal", "CalibratedClassifier", "ConformalClassifier", "ConformalRegressor", "LockedTestSet", "adjust_p_values", "auc_bounds", "auc_interval", "audit", "bias_variance", "bootstrap", "bootstrap_error", "calibrate", "calibration", "choose_order", "compare_many", "compare_predictions", "compare_scores", "confusion_table", "criteria_table", "error_interval", "evaluate", "information_criteria", "jackknife", "model_map", "model_weights", "n_parameters", "one_standard_error", "proper_score", "stability_selection", "three_way_split", "winner_bias"]
