"""Linear models: regression and classification by weighted sums of features."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "LinearRegression": "least_squares",
        "LinearSums": "moments",
        "Ridge": "ridge",
        "RidgeCV": "ridge_cv",
        "ridge_path": "ridge_cv",
        "LogisticRegression": "logistic",
        "PerfectSeparationWarning": "logistic",
        "LinearClassifier": "hyperplane",
        "pull_back": "hyperplane",
        "push_forward": "hyperplane",
        "fold_intercept": "hyperplane",
        "encode_labels": "hyperplane",
        "Lasso": "sparse",
        "ElasticNet": "sparse",
        "lasso_path": "sparse",
        "enet_path": "sparse",
        "LassoCV": "sparse_cv",
        "ElasticNetCV": "sparse_cv",
        "hat_matrix": "geometry",
        "svd_view": "geometry",
        "least_norm": "geometry",
        "alpha_for_dof": "geometry",
        "ridge_moments": "geometry",
        "ridge_bias_variance": "geometry",
        "convert_penalty": "geometry",
        "BayesianLinearRegression": "bayesian",
        "BayesianRidge": "evidence",
        "log_evidence": "evidence",
        "compare_evidence": "evidence",
    },
)
