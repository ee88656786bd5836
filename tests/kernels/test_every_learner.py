"""Every learner with a kernel takes every name of one, and its numbers: the same model as with the formula itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score

from gnomon import cluster, decomposition, kernels, svm
from gnomon.core.errors import DataError

GAMMA, DEGREE, COEF0 = 0.7, 2, 0.5
FORMULAS = {
    "linear": lambda a, b: a @ b,
    "poly": lambda a, b: (GAMMA * (a @ b) + COEF0) ** DEGREE,
    "polynomial": lambda a, b: (GAMMA * (a @ b) + COEF0) ** DEGREE,
    "poly_sum": lambda a, b: a @ b + (a @ b) ** 2,
    "rbf": lambda a, b: np.exp(-GAMMA * ((a - b) ** 2).sum()),
    "laplacian": lambda a, b: np.exp(-GAMMA * np.abs(a - b).sum()),
    "sigmoid": lambda a, b: np.tanh(GAMMA * (a @ b) + COEF0),
    "exponential": lambda a, b: np.exp(a @ b),
    "cosine": lambda a, b: a @ b / np.sqrt((a @ a) * (b @ b)),
    "chi2": lambda a, b: np.exp(-GAMMA * ((a - b) ** 2 / (a + b)).sum()),
    "additive_chi2": lambda a, b: -((a - b) ** 2 / (a + b)).sum(),
}
INDEFINITE = {"sigmoid", "additive_chi2"}
LEARNERS = [  # class, other options, target, method
    (cluster.KernelKMeans, dict(n_clusters=3, random_state=0), None, "predict"),
    (decomposition.KernelPCA, dict(n_components=2), None, "transform"),
    (decomposition.KernelCCA, dict(n_components=1), "Y", "transform"),
    (kernels.Nystroem, dict(n_components=5, random_state=0), None, "transform"),
    (kernels.PivotedMap, dict(rank=4), None, "transform"),
    (kernels.KernelExpansion, {}, None, "transform"),
    (kernels.KernelPassiveAggressiveClassifier, {}, "classes", "decision_function"),
    (kernels.KernelPassiveAggressiveRegressor, {}, "numbers", "predict"),
    (kernels.KernelPerceptron, dict(max_iter=20), "classes", "decision_function"),
    (kernels.KernelRidge, {}, "numbers", "predict"),
    (svm.SVC, dict(tol=1e-9), "classes", "decision_function"),
    (svm.NuSVC, dict(tol=1e-9), "classes", "decision_function"),
    (svm.SVR, dict(tol=1e-9), "numbers", "predict"),
    (svm.NuSVR, dict(tol=1e-9), "numbers", "predict"),
    (svm.OneClassSVM, dict(tol=1e-9), None, "decision_function"),
]
RNG = np.random.default_rng(0)
ROWS, NEW = RNG.random((16, 3)) + 0.1, RNG.random((6, 3)) + 0.1
TARGETS = {
    None: None,
    "classes": (ROWS[:, 0] > np.median(ROWS[:, 0])).astype(int),
    "numbers": np.sin(5 * ROWS[:, 0]) + ROWS[:, 1],
    "Y": ROWS[:, :2] ** 2,
}


def gram(name, U, V):
    return np.array([[FORMULAS[name](a, b) for b in V] for a in U])


def of_function(cls, name):
    """The kernel as the class takes a function: of two matrices for machines, of two rows for the others."""
    if cls.__module__.startswith("gnomon.svm"):
        return lambda U, V: gram(name, U, V)
    return lambda a, b: FORMULAS[name](np.asarray(a), np.asarray(b))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize(
    ("cls", "options", "target", "method"), LEARNERS, ids=[case[0].__name__ for case in LEARNERS]
)
def test_a_name_is_its_formula(cls, options, target, method, name):
    def answers(**kernel):
        model = cls(**options, **kernel).fit(*((ROWS,) if target is None else (ROWS, TARGETS[target])))
        return getattr(model, method)(NEW)

    try:
        expected = answers(kernel=of_function(cls, name))
    except DataError:
        assert name in INDEFINITE
        with pytest.raises(DataError):
            answers(kernel=name, gamma=GAMMA, degree=DEGREE, coef0=COEF0)
        return
    found = answers(kernel=name, gamma=GAMMA, degree=DEGREE, coef0=COEF0)
    if method == "transform" and cls is not kernels.KernelExpansion:  # axes may point either way
        found, expected = np.abs(found), np.abs(expected)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


IDS = [case[0].__name__ for case in LEARNERS]
WITH_PARAMETERS = [case for case in LEARNERS if "kernel_params" in case[0]().get_params()]


def fitted_answers(case, rows=ROWS, new=NEW, **kernel):
    cls, options, target, method = case
    model = cls(**options, **kernel)
    model.fit(*((rows,) if target is None else (rows, TARGETS[target])))
    found = getattr(model, method)(new)
    return np.abs(found) if method == "transform" else found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", LEARNERS, ids=IDS)
def test_a_matrix_of_numbers_is_a_kernel_too(case):
    G = gram("rbf", ROWS, ROWS)
    if case[0] in (
        decomposition.KernelCCA,
        kernels.PivotedMap,
    ):  # the one has two kernels, the other reads rows
        with pytest.raises((DataError, ValueError), match="precomputed"):
            fitted_answers(case, G, gram("rbf", NEW, ROWS), kernel="precomputed")
        return
    if case[0] is cluster.KernelKMeans:  # starts are drawn among rows, and numbers of clusters with them
        case = (case[0], dict(n_clusters=3, random_state=0, n_init=20), *case[2:])
        given = fitted_answers(case, G, gram("rbf", NEW, ROWS), kernel="precomputed")
        named = fitted_answers(case, kernel="rbf", gamma=GAMMA)
        assert adjusted_rand_score(given, named) == 1.0
        return
    found = fitted_answers(case, G, gram("rbf", NEW, ROWS), kernel="precomputed")
    assert_allclose(found, fitted_answers(case, kernel="rbf", gamma=GAMMA), rtol=1e-6, atol=1e-7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", LEARNERS, ids=IDS)
def test_a_width_that_is_not_said(case):
    three = 1 / 3
    words = {"scale": 1 / (3 * ROWS.var()), "auto": three} if "svm" in case[0].__module__ else {None: three}
    for word, value in words.items():
        found = fitted_answers(case, kernel="poly", gamma=word, degree=2)
        if case[0] is not decomposition.KernelCCA:  # Y has two columns, and a width of its own
            assert_allclose(
                found, fitted_answers(case, kernel="poly", gamma=value, degree=2), rtol=1e-6, atol=1e-7
            )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", WITH_PARAMETERS, ids=[case[0].__name__ for case in WITH_PARAMETERS])
def test_a_function_takes_its_parameters_along(case):
    found = fitted_answers(
        case,
        kernel=lambda a, b, offset=0.0, power=1: (a @ b + offset) ** power,
        kernel_params={"offset": COEF0, "power": 2},
    )
    expected = fitted_answers(case, kernel="poly", gamma=1.0, degree=2, coef0=COEF0)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
