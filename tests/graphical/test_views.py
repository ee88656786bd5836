"""Mixtures, naive Bayes classifiers and chains as networks answer as they do themselves."""

import numpy as np
import pandas as pd
import pytest

from gnomon.bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from gnomon.core.errors import DataError
from gnomon.graphical import BayesianNetwork
from gnomon.mixture import BernoulliMixture, CategoricalMixture
from gnomon.sequence import MarkovChain

RNG = np.random.default_rng(0)
BITS = pd.DataFrame(RNG.random((80, 3)) < RNG.choice([0.2, 0.7], size=(80, 1)), columns=list("uvw")).astype(
    int
)
CODES = pd.DataFrame(np.column_stack([RNG.integers(0, k, 80) for k in (2, 4, 3)]), columns=list("uvw"))
KIND = np.where(BITS.sum(axis=1) + RNG.integers(0, 2, 80) > 2, "high", "low")


def posteriors(network, X, name):
    return [network.query(name, row).values for row in X.to_dict("records")]


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (BernoulliMixture(2, random_state=0, max_iter=20), BITS),
        (CategoricalMixture(2, random_state=0, max_iter=20), CODES),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mixtures(model, X):
    model.fit(X)
    network = BayesianNetwork.from_model(model)
    assert network.variables_ == ["component", "u", "v", "w"]
    assert [len(network.states_[name]) for name in "uvw"] == [X[name].max() + 1 for name in "uvw"]
    np.testing.assert_allclose(
        posteriors(network, X.iloc[:10], "component"), model.predict_proba(X.iloc[:10])
    )
    np.testing.assert_allclose(network.score_samples(X), model.score_samples(X))
    assert BayesianNetwork.from_model(model, name="z").variables_[0] == "z"


@pytest.mark.parametrize(("model", "X"), [(BernoulliNB(), BITS), (CategoricalNB(), CODES)])
def test_naive_classifiers(model, X):
    model.fit(X, KIND)
    network = BayesianNetwork.from_model(model)
    assert network.states_["class"] == ["high", "low"]
    assert network.parents_ == {"class": [], "u": ["class"], "v": ["class"], "w": ["class"]}
    np.testing.assert_allclose(posteriors(network, X.iloc[:10], "class"), model.predict_proba(X.iloc[:10]))
    np.testing.assert_allclose(
        network.query("class").values, [np.mean(KIND == "high"), np.mean(KIND == "low")]
    )


def test_chains_of_as_many_steps_as_asked():
    chain = MarkovChain.from_matrix([[0.9, 0.1], [0.4, 0.6]], start=[0.3, 0.7], states=["dry", "wet"])
    network = BayesianNetwork.from_model(chain, n_steps=4)
    assert network.variables_ == ["z0", "z1", "z2", "z3"] and network.states_["z0"] == ["dry", "wet"]
    for t in range(4):
        np.testing.assert_allclose(network.query(f"z{t}").values, chain.state_distribution(t))
    path = ["wet", "dry", "dry", "wet"]
    seen = dict(zip(network.variables_, path, strict=True))
    assert np.log(network.probability(seen)) == pytest.approx(chain.score(path))
    assert BayesianNetwork.from_model(chain).variables_ == ["z0", "z1", "z2"]


def test_models_that_are_no_networks_of_states():
    with pytest.raises(DataError, match="MultinomialNB counts words"):
        BayesianNetwork.from_model(MultinomialNB().fit(CODES, KIND))
    with pytest.raises(DataError, match="GaussianNB is not known as a network"):
        BayesianNetwork.from_model(GaussianNB().fit(CODES, KIND))
