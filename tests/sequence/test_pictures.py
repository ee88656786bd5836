"""Pictures draw what the models found."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from gnomon import plot
from gnomon.datasets import load_basketball_rankings, make_casino, make_toy_words, make_trajectory
from gnomon.ranking import MarkovRanker, RandomWalkClassifier
from gnomon.sequence import (
    CategoricalHMM,
    MarkovChain,
    PoissonHMM,
    WordRecognizer,
    select_n_states,
    tracking_model,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*did not converge")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_chain_pictures():
    chain = MarkovChain().fit(list("rrnrnnrrr"))
    texts = [text.get_text() for text in chain.plot().texts]
    assert {"n", "r", "0.6"} <= set(texts)
    chain.plot(kind="heat_map")
    line = chain.plot(kind="convergence", steps=50).lines[0].get_ydata()
    assert line[-1] == pytest.approx(chain.stationary().distribution[0])


def test_hidden_pictures():
    rolls, dice = make_casino(60, random_state=0)
    model = CategoricalHMM(2, n_features=6, random_state=0, n_iter=5).fit(rolls)
    assert len(model.plot().patches) == 2
    curve = plot.state_posterior(model, rolls, dice).lines[1].get_ydata()
    np.testing.assert_allclose(curve, model.predict_proba(rolls)[:, 1])
    ax = plot.trellis(model, rolls[:4])
    assert len(ax.texts) == 8
    assert model.plot(rolls).get_legend() is not None


def test_criteria_picture():
    X = np.random.default_rng(0).poisson(np.repeat([1, 9], 20)).reshape(-1, 1)
    table = select_n_states(X, [1, 2], model=PoissonHMM(random_state=0), n_init=2).table
    np.testing.assert_allclose(plot.criteria(table).lines[2].get_ydata(), table["aic"])


def test_ranking_picture():
    lists = load_basketball_rankings()
    ax = plot.ranking_table(lists.chain_scores, lists.poll_ranks)
    assert len(ax.patches) == 25
    assert len(MarkovRanker().fit([("a", "b", 3, 1)]).plot().patches) == 2


def test_walk_label_maps_for_two_widths():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.3, (20, 2)), rng.normal(2, 0.3, (20, 2))])
    y = np.full(40, -1)
    y[[0, 20]] = 0, 1
    _, axes = plt.subplots(1, 2)
    for ax, width in zip(axes, (0.5, 50.0)):
        RandomWalkClassifier(width=width).fit(X, y).plot(ax=ax)
        assert ax.collections


def test_speech_picture():
    signals, words = make_toy_words(["one", "two"], 3, random_state=0)
    model = WordRecognizer(2, 8, random_state=0, n_iter=3).fit(signals, words)
    assert len(plot.speech(model, signals[0])) == 4


def test_track_picture():
    seen, true = make_trajectory(40, random_state=0)
    model = tracking_model(0.5, measurement_noise=1.0)
    ax = plot.track(model.filter(seen), seen, true)
    plot.track(model.smooth(seen), ax=ax)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["true", "observed", "filtered", "smoothed"]
    assert len(ax.patches) >= 30
