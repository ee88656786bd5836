"""The catalog of demonstrations: for every one the data, the model and the picture that show it."""

from __future__ import annotations

from typing import Any

from gnomon.core.frames import import_pandas

# name | data | model (package.Class or package.function) | picture, or "-"
_CATALOG = """
spam_filter | make_text("mail", 60, random_state=0) | bayes.MultinomialNB | plot.bars
topic_ecology | make_text("topics", 40, random_state=0) | cluster.ClusterFeatures | -
tumor_genes | make_table("genes", 60, random_state=0) | linear.Lasso | plot.path
weather_entropy | load_lesson("weather") | distributions.mutual_information | plot.heat_map
restaurant_tree | load_restaurant() | trees.DecisionTreeClassifier | plot.tree
split_gains | load_lesson("split") | distributions.entropy_from_counts | plot.impurity_functions
iris_ratios_tree | load_lesson("iris ratios") | trees.DecisionTreeClassifier | plot.decision_regions
quadrant_tree | make_pattern("quadrants", 100, random_state=0) | trees.DecisionTreeClassifier | plot.decision_regions
linear_playground | make_table("far points", 45, random_state=0) | linear.LogisticRegression | plot.compare_classifiers
gates_weight_space | load_lesson("and") | linear.Perceptron | plot.weight_space
old_faithful | load_old_faithful() | linear.LinearRegression | plot.fit_line
income_plane | make_table("income", 50, random_state=0) | linear.LinearRegression | plot.fit_line
polynomial_orders | make_polynomial_curve(50, random_state=0) | linear.PolynomialFeatures | plot.fit_line
ridge_lasso_paths | make_sparse_regression(60, 20, 3, random_state=0) | linear.lasso_path | plot.path
lp_contours | make_table("income", 50, random_state=0) | linear.LpRegression | plot.penalty_contours
gd_steps | make_table("income", 50, random_state=0) | solvers.minimize | plot.descent
bat_brains | make_table("omitted variable", 60, random_state=0) | linear.LinearRegression | -
noise_models | make_polynomial_curve(60, noise_kind="laplace") | linear.StudentTRegression | plot.fit_line
bayes_boundary | load_lesson("two classes") | bayes.gaussian_rule_1d | plot.class_densities
base_rate | load_lesson("test_kit") | bayes.base_rate | plot.bars
dice_roulette | load_lesson("dice or roulette") | bayes.bayes_rule | plot.bars
bmi_table | load_lesson("bmi") | bayes.JointTable | plot.heat_map
coin_bias | load_lesson("coin flips") | distributions.Conjugate | plot.belief_update
coin_sequence | load_lesson("coin hypotheses") | bayes.bayes_rule | plot.bars
species_map | make_table("species", 500, random_state=0) | bayes.JointTable | plot.heat_map
hidden_coins | make_table("coin triples", 200, random_state=0) | mixture.BinomialMixture | plot.trace
convex_hulls | load_lesson("and") | linear.nearest_hulls | plot.hulls
bagged_trees | make_pattern("moons", 100, random_state=0) | ensemble.BaggingClassifier | plot.decision_regions
boosting_rounds | load_lesson("boosting a") | ensemble.AdaBoostClassifier | plot.boosting_rounds
boosting_benchmarks | make_pattern("rings", 100) | ensemble.GradientBoostingClassifier | plot.boosting_scatter
dartboard | make_table("uniform noise", 20, random_state=0) | selection.bias_variance | plot.dartboard
face_detection | make_face_patches(20, random_state=0) | ensemble.CascadeClassifier | plot.images
kmeans_film | load_old_faithful() | cluster.KMeans | plot.animate
bad_start | load_lesson("four clusters") | cluster.KMeans | plot.voronoi
choose_k | load_lesson("clusters") | cluster.choose_k | cluster.choose_k
color_palette | make_images("shapes", 3, random_state=0) | cluster.VectorQuantizer | -
news_exemplars | make_text("topics", 40, random_state=0) | cluster.KMedoids | -
image_segmentation | make_images("shapes", 1, random_state=0) | cluster.SpectralClustering | plot.images
gmm_film | load_old_faithful() | mixture.GaussianMixture | plot.animate
too_many_gaussians | load_old_faithful() | mixture.BayesianGaussianMixture | mixture.BayesianGaussianMixture.plot
heights | load_lesson("heights") | mixture.GaussianMixture | mixture.GaussianMixture.plot
missing_table | make_images("missing", 3, random_state=0) | mixture.MissingGaussian | plot.imputed_matrix
basketball_ranking | load_basketball_rankings() | ranking.MarkovRanker | plot.ranking_table
two_rings_walk | make_pattern("rings", 80, n_labeled=3) | ranking.RandomWalkClassifier | plot.decision_regions
casino | make_casino(200, random_state=0) | sequence.CategoricalHMM | plot.state_posterior
speech_words | make_toy_words(("one", "two"), 2, random_state=0) | sequence.WordRecognizer | plot.speech
bird_song | make_series("bird song", random_state=0) | sequence.GaussianHMM | plot.state_posterior
tagging | load_lesson("treebank") | sequence.HMMTagger | -
missile_track | make_trajectory(50, random_state=0) | sequence.KalmanFilter | plot.track
radar | make_series("radar", random_state=0) | sequence.ExtendedKalmanFilter | plot.track
earthquake_order | load_earthquakes() | sequence.select_n_states | plot.criteria
rectangle_game | load_lesson("and") | theory.RectangleLearner | plot.rectangles
shatter_lab | load_lesson("concepts") | theory.HalfSpaces | theory.HalfSpaces.plot
growth_curves | load_lesson("concepts") | theory.sauer_bound | theory.HalfSpaces.plot
bound_calculator | load_lesson("concepts") | theory.vc_bound | plot.path
infinite_class | load_lesson("concepts") | theory.ConceptClass | -
ghost_sample | load_lesson("concepts") | theory.ConceptClass | -
roc_lab | make_pattern("moons", 100, random_state=0) | selection.auc_interval | plot.roc
auc_bounds | make_pattern("moons", 100, random_state=0) | selection.auc_bounds | plot.roc
calibration_lab | make_pattern("clouds", 200, random_state=0) | selection.CalibratedClassifier | plot.reliability
subgroup_audit | make_table("subgroups", 200, random_state=0) | selection.audit | plot.intervals
exclusion_check | make_table("subgroups", 200, random_state=0) | selection.audit | plot.intervals
lucky_winner | make_table("random features", 8, random_state=0) | selection.winner_bias | plot.score_curve
cv_lab | make_sparse_regression(60, 20, 3, random_state=0) | selection.evaluate | plot.score_curve
bias_variance_lab | make_polynomial_curve(50, random_state=0) | selection.bias_variance | plot.bias_variance
evidence_occam | load_lesson("coin flips") | distributions.compare_priors | plot.bars
duality_lab | load_lesson("concepts") | theory.ConstrainedProblem | theory.ConstrainedProblem.plot
"""


def demonstrations() -> Any:
    """Return the demonstrations of the courses: how to get the data, and what model and picture show it.

    Returns
    -------
    pandas.DataFrame
        By name: `data` (a call of this package), `model` and `picture` (names of gnomon; "-" for none).

    Examples
    --------
    >>> demonstrations().loc["casino", "model"]
    'sequence.CategoricalHMM'
    """
    pd = import_pandas()
    rows = [[cell.strip() for cell in line.split("|")] for line in _CATALOG.strip().splitlines()]
    return pd.DataFrame(rows, columns=["name", "data", "model", "picture"]).set_index("name")
