"""Options that one class has alone, each by a number that it decides."""

import numpy as np
import pytest
import sklearn.naive_bayes as peers
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as PeerQDA
from sklearn.tree import DecisionTreeClassifier

from gnomon import bayes, ensemble, gp, graphical, neural, ranking, sequence, topics
from gnomon.core.errors import DegenerateError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.repeat([0, 1], [40, 20])
X[Y == 1] += 1.2
COUNTS = RNG.poisson(2 + 2 * Y[:, None], size=(60, 3)).astype(float)


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "ComplementNB", "CategoricalNB"])
def test_small_pseudo_counts_are_raised_unless_forced(name):
    rows = COUNTS[:, :2]
    forced = getattr(bayes, name)(alpha=0.0, force_alpha=True)
    with pytest.warns(UserWarning, match="alpha"):
        raised = getattr(bayes, name)(alpha=0.0, force_alpha=False).fit(rows, Y)
    given = getattr(bayes, name)(alpha=1e-10).fit(rows, Y)
    assert_allclose(raised.predict_proba(rows), given.predict_proba(rows), atol=1e-12)
    assert forced.get_params()["alpha"] == 0.0


@pytest.mark.parametrize("estimate", ["mean", "map"])
@pytest.mark.parametrize("prior", [{}, {"fit_prior": False}, {"class_prior": [0.2, 0.8]}])
def test_rates_of_words(estimate, prior):
    model = bayes.PoissonNB(shape=3.0, rate=2.0, estimate=estimate, **prior).fit(COUNTS, Y)
    rates = np.array(
        [(3.0 - (estimate == "map") + COUNTS[k == Y].sum(axis=0)) / (2.0 + (k == Y).sum()) for k in (0, 1)]
    )
    shares = {"fit_prior": [0.5, 0.5], "class_prior": [0.2, 0.8]}.get(next(iter(prior), ""), [2 / 3, 1 / 3])
    joint = np.log(shares) + np.array([stats.poisson.logpmf(COUNTS, rate).sum(axis=1) for rate in rates]).T
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(COUNTS), expected, rtol=1e-9, atol=1e-12)


def test_classes_that_count_alike():
    for cls in (bayes.BayesClassifier, bayes.SemiSupervisedBayes, bayes.QuadraticDiscriminantAnalysis):
        uniform = cls(priors="uniform").fit(X, Y).predict_proba(X)
        halves = cls(priors=[0.5, 0.5]).fit(X, Y).predict_proba(X)
        assert_allclose(uniform, halves)
        assert (np.abs(uniform - cls().fit(X, Y).predict_proba(X)) > 0.01).any()
    plain = bayes.BayesClassifier(priors=[0.5, 0.5]).fit(X, Y)
    peer = peers.GaussianNB(priors=[0.5, 0.5], var_smoothing=0.0).fit(X, Y)
    assert_allclose(plain.predict_proba(X), peer.predict_proba(X), rtol=1e-5)


def test_pseudo_counts_of_half_labelled_rows():
    bits = (X > 0.5).astype(float)
    partly = np.where(np.arange(60) % 4 == 0, Y, -1)
    found = {}
    for prior in (1.0, 200.0):
        model = bayes.SemiSupervisedBayes("bernoulli", prior=prior, max_iter=500).fit(bits, partly)
        found[prior] = np.abs(model.predict_proba(bits) - 0.5).max()
    assert found[200.0] < found[1.0]


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_shapes_of_covariances(kind):
    model = bayes.QuadraticDiscriminantAnalysis(covariance_type=kind).fit(X, Y)
    joint = []
    for k in (0, 1):
        rows = X[k == Y]
        S = np.cov(rows, rowvar=False, bias=True)
        S = {"full": S, "diag": np.diag(np.diag(S)), "spherical": np.eye(3) * np.diag(S).mean()}[kind]
        joint.append(np.log((k == Y).mean()) + stats.multivariate_normal(rows.mean(axis=0), S).logpdf(X))
    joint = np.array(joint).T
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    found = model.predict_proba(X)
    assert_allclose(found, expected, atol=1e-6)
    if kind == "full":
        assert_allclose(found, PeerQDA(solver="eigen").fit(X, Y).predict_proba(X), atol=1e-6)


def test_a_flat_direction_is_raised_to_the_tolerance():
    flat = np.c_[X[:, 0], X[:, 0] + 1e-7 * X[:, 1]]
    with pytest.warns(UserWarning):
        rough = bayes.QuadraticDiscriminantAnalysis(tol=0.5).fit(flat, Y)
    assert np.isfinite(rough.predict_proba(flat)).all()
    line = bayes.LinearDiscriminantAnalysis(store_covariance=True).fit(X, Y)
    within = sum(np.cov(X[k == Y], rowvar=False, bias=True) * (k == Y).mean() for k in (0, 1))
    assert_allclose(line.covariance_, within)


def test_processes_keep_and_draw():
    rows, y = X[:20, :1], np.sin(X[:20, 0])
    model = gp.GaussianProcessRegressor(n_targets=3, random_state=0)
    assert model.sample_y([[0.0], [1.0]], n_samples=4).shape == (2, 3, 4)
    from gnomon.kernels import RBF

    fitted, short = (
        gp.GaussianProcessRegressor(RBF(), alpha=0.1, max_iter=steps).fit(rows, y) for steps in (200, 1)
    )
    assert fitted.log_marginal_likelihood_value_ >= short.log_marginal_likelihood_value_
    plain, bounded = (gp.GaussianProcessClassifier(max_iter_predict=k).fit(X, Y) for k in (100, 1))
    assert (plain.predict_proba(X) != bounded.predict_proba(X)).any()
    warm = gp.GaussianProcessClassifier(warm_start=True).fit(X, Y).fit(X, Y)
    assert_allclose(warm.predict_proba(X), plain.predict_proba(X), atol=1e-6)


CODES = RNG.integers(0, 2, (80, 3))
CODES[:, 1] = np.where(RNG.random(80) < 0.8, CODES[:, 0], CODES[:, 1])
STATES = {"x0": [0, 1], "x1": [0, 1], "x2": [0, 1, 2]}


@pytest.mark.parametrize("prior", ["bdeu", "k2", "mle", "dirichlet"])
def test_tables_of_a_network_classifier_by_hand(prior):
    more = {"pseudo_counts": 2.5} if prior == "dirichlet" else {}
    label = CODES[:, 0] ^ (np.arange(80) % 5 == 0)
    model = graphical.BayesianNetworkClassifier("naive", prior=prior, equivalent_sample_size=6.0, **more)
    model.fit(CODES[:, 1:], label)
    extra = {"bdeu": (6.0 / 2, 6.0 / 4), "k2": (1.0, 1.0), "mle": (0.0, 0.0), "dirichlet": (2.5, 2.5)}[prior]
    joint = np.zeros((80, 2))
    for k in (0, 1):
        joint[:, k] = np.log((label == k).sum() + extra[0])
        for j in (1, 2):
            count = np.bincount(CODES[label == k, j], minlength=2) + extra[1]
            joint[:, k] += np.log(count / count.sum())[CODES[:, j]]
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(CODES[:, 1:]), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda **o: graphical.ChowLiuTree(smoothing=1.0, **o),
        lambda **o: graphical.HillClimbSearch(**o),
        lambda **o: graphical.ExactSearch(**o),
        lambda **o: graphical.PC(**o),
        lambda **o: graphical.LatentClassModel(2, n_init=1, random_state=0, **o),
    ],
    ids=["tree", "climb", "exact", "tests", "classes"],
)
def test_states_that_the_data_lack(make):
    model = make(states=STATES).fit(CODES)
    assert [len(model.states_[name]) for name in ("x0", "x1", "x2")] == [2, 2, 3]
    assert [len(make().fit(CODES).states_[name]) for name in ("x0", "x1", "x2")] == [2, 2, 2]


@pytest.mark.parametrize("criterion", ["loglik", "aic", "bic", "bdeu", "k2"])
def test_climbing_ends_where_the_exact_search_does(criterion):
    exact = graphical.ExactSearch(criterion).fit(CODES)
    climbed = graphical.HillClimbSearch(criterion, n_restarts=3, random_state=0).fit(CODES)
    assert climbed.score_ == pytest.approx(exact.score_)


def test_taggers_by_hand():
    words, tags = [["a", "b", "a"], ["b", "b"]], [["N", "V", "N"], ["V", "V"]]
    for smoothing in (0.1, 2.0):
        model = sequence.HMMTagger(smoothing=smoothing).fit(words, tags)
        counts = np.array([[0.0, 1.0], [1.0, 1.0]]) + smoothing
        found = np.asarray(model.transmat_)
        assert found[0, 1] / found[0, 0] == pytest.approx(counts[0, 1] / counts[0, 0])


@pytest.mark.parametrize("covariance", ["isotropic", "diag", "full"])
def test_steps_of_a_walk(covariance):
    walk = np.cumsum(X, axis=0)
    steps = np.diff(walk, axis=0)
    S = steps.T @ steps / len(steps)
    expected = {"isotropic": np.eye(3) * np.diag(S).mean(), "diag": np.diag(np.diag(S)), "full": S}[
        covariance
    ]
    found = sequence.GaussianRandomWalk(covariance=covariance).fit(walk).covariance_
    assert_allclose(
        np.broadcast_to(found, (3, 3)) if np.ndim(found) == 2 else np.eye(3) * found, expected, rtol=1e-9
    )


def test_sizes_of_online_steps():
    N = RNG.poisson(2, size=(30, 6))
    given = dict(n_components=2, learning_method="online", batch_size=30, max_iter=1, random_state=0)
    whole = topics.LatentDirichletAllocation(learning_offset=1.0, learning_decay=1e-9 + 0.51, **given).fit(N)
    small = topics.LatentDirichletAllocation(learning_offset=1e6, learning_decay=1.0, **given).fit(N)
    plain = topics.LatentDirichletAllocation(learning_offset=1e9, learning_decay=1.0, **given).fit(N)
    first, last = (np.abs(one.components_ - plain.components_).sum() for one in (whole, small))
    assert first > 100 * last > 0


def test_walks_solved_loosely():
    exact = ranking.RandomWalkClassifier(solver="dense").fit(X, Y).predict_proba(X + 0.1)
    close, rough = (
        ranking.RandomWalkClassifier(solver="cg", tol=tol).fit(X, Y).predict_proba(X + 0.1)
        for tol in (1e-12, 0.5)
    )
    assert np.abs(close - exact).max() <= 1e-6 and np.isfinite(rough).all()


def test_networks_vote():
    parts = neural.NetworkEnsemble(
        neural.MLPClassifier((3,), max_iter=15, random_state=0), 5, combine="vote", random_state=0
    )
    parts.fit(X, Y)
    said = np.array([one.predict(X) for one in parts.estimators_])
    assert (parts.predict(X) == (said.mean(axis=0) > 0.5)).all()


class Contrary(DecisionTreeClassifier):
    """Says the opposite of what it learned."""

    def predict(self, X):
        return 1 - super().predict(X)


def test_learners_that_are_worse_than_chance():
    flipped = ensemble.AdaBoostClassifier(Contrary(max_depth=1), n_estimators=3, when_worse="flip").fit(X, Y)
    assert flipped.score(X, Y) > 0.7
    with pytest.raises(DegenerateError, match="no better than chance"):
        ensemble.AdaBoostClassifier(Contrary(max_depth=1), n_estimators=3, when_worse="stop").fit(X, Y)
