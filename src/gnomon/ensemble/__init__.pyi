# Written by scripts/stubs from the package's `attach` call; do not edit.
from .adaboost import AdaBoostClassifier as AdaBoostClassifier
from .bagging import BaggingClassifier as BaggingClassifier
from .bagging import BaggingRegressor as BaggingRegressor
from .cascade import CascadeClassifier as CascadeClassifier
from .detector import ObjectDetector as ObjectDetector
from .forest import ExtraTreesClassifier as ExtraTreesClassifier
from .forest import RandomForestClassifier as RandomForestClassifier
from .forest_regressors import ExtraTreesRegressor as ExtraTreesRegressor
from .forest_regressors import RandomForestRegressor as RandomForestRegressor
from .gradient_boosting import GradientBoostingClassifier as GradientBoostingClassifier
from .gradient_boosting import GradientBoostingRegressor as GradientBoostingRegressor
from .hist_boosting import HistGradientBoostingClassifier as HistGradientBoostingClassifier
from .hist_boosting import HistGradientBoostingRegressor as HistGradientBoostingRegressor
from .rectangles import HaarFeatures as HaarFeatures
from .rectangles import integral_image as integral_image
from .stagewise import StagewiseAdditiveModel as StagewiseAdditiveModel
from .theory import average_variance as average_variance
from .theory import ensemble_correlation as ensemble_correlation
from .theory import ensemble_experiment as ensemble_experiment
from .theory import hypothesis_space_demo as hypothesis_space_demo
from .voting import VotingClassifier as VotingClassifier
from .voting import VotingRegressor as VotingRegressor

__all__ = ["AdaBoostClassifier", "BaggingClassifier", "BaggingRegressor", "CascadeClassifier", "ExtraTreesClassifier", "ExtraTreesRegressor", "GradientBoostingClassifier", "GradientBoostingRegressor", "HaarFeatures", "HistGradientBoostingClassifier", "HistGradientBoostingRegressor", "ObjectDetector", "RandomForestClassifier", "RandomForestRegressor", "StagewiseAdditiveModel", "VotingClassifier", "VotingRegressor", "average_variance", "ensemble_correlation", "ensemble_experiment", "hypothesis_space_demo", "integral_image"]
