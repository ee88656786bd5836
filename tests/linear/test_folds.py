"""Groups and weights of cross-validated models: who is given them, with scikit-learn's routing and without."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold

from gnomon.linear import ElasticNetCV, LassoCV, LogisticRegressionCV, RidgeCV

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
SIGNAL = X @ [1.0, -2.0, 0.0, 0.5] + RNG.normal(size=60)
GROUPS = RNG.integers(0, 6, size=60)
SPLITS = list(GroupKFold(3).split(X, SIGNAL, GROUPS))
MODELS = [
    (LogisticRegressionCV(Cs=[0.1, 1.0]), SIGNAL > 0, "scores_"),
    (RidgeCV(store_cv_results=True), SIGNAL, "cv_results_"),
    (LassoCV(alphas=5), SIGNAL, "mse_path_"),
    (ElasticNetCV(alphas=5), SIGNAL, "mse_path_"),
]


@pytest.mark.parametrize(("model", "y", "name"), MODELS, ids=lambda v: type(v).__name__)
def test_groups_reach_the_splitter(model, y, name):
    plain = model.set_params(cv=SPLITS).fit(X, y)
    expected = getattr(plain, name)
    with config_context(enable_metadata_routing=True):
        routed = model.set_params(cv=GroupKFold(3)).fit(X, y, groups=GROUPS)
        np.testing.assert_array_equal(getattr(routed, name), expected)
        with pytest.raises(TypeError, match="groups"):
            model.set_params(cv=3).fit(X, y, groups=GROUPS)
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        model.set_params(cv=GroupKFold(3)).fit(X, y, groups=GROUPS)
    assert "_routed" not in vars(model)


@pytest.mark.parametrize("asked", [True, False])
def test_the_scorer_is_given_weights_if_it_asks(asked):
    weight = RNG.integers(1, 9, size=60).astype(float)
    y = SIGNAL > 0
    plain = LogisticRegressionCV(Cs=[0.1, 1.0], cv=SPLITS)
    counted = plain.fit(X, y, weight).scores_
    with config_context(enable_metadata_routing=True):
        assert np.array_equal(plain.fit(X, y, weight).scores_, counted)  # a scorer known by name takes them
        scorer = get_scorer("accuracy").set_score_request(sample_weight=asked)
        model = LogisticRegressionCV(Cs=[0.1, 1.0], cv=SPLITS, scoring=scorer).fit(X, y, weight)
        assert np.array_equal(model.scores_, counted) is asked
        if asked:
            assert model.score(X, y, weight) == np.average(model.predict(X) == y, weights=weight)
        else:
            assert model.score(X, y) == np.mean(model.predict(X) == y)
            with pytest.raises(TypeError, match="sample_weight"):
                model.score(X, y, weight)
    assert model.score(X, y, weight) == np.average(model.predict(X) == y, weights=weight)
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        model.score(X, y, groups=GROUPS)


def test_ridge_gives_its_scorer_weights_if_it_asks():
    weight = RNG.integers(1, 9, size=60).astype(float)
    found = {}
    for asked in (True, False):
        for cv in (None, SPLITS):
            with config_context(enable_metadata_routing=True):
                scorer = get_scorer("neg_mean_squared_error").set_score_request(sample_weight=asked)
                routed = RidgeCV(scoring=scorer, cv=cv).fit(X, SIGNAL, weight)
            found[asked, cv is None] = routed.scores_
    for alone in (True, False):
        plain = RidgeCV(scoring="neg_mean_squared_error", cv=None if alone else SPLITS).fit(X, SIGNAL, weight)
        np.testing.assert_array_equal(plain.scores_, found[True, alone])
        assert not np.allclose(plain.scores_, found[False, alone])
