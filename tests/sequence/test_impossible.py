"""Sequences that a model cannot produce, symbols that it has not met, and steps beyond the data."""

import numpy as np
import pytest

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.sequence import CategoricalHMM, HMMClassifier, KalmanFilter


def one_state(emission):
    model = CategoricalHMM(1)
    model.startprob_, model.transmat_, model.emissionprob_ = [1.0], [[1.0]], [emission]
    return model


def test_impossible_sequence_scores_minus_infinity():
    assert one_state([1.0, 0.0]).score(np.array([[1]])) == -np.inf


def test_class_that_cannot_produce_a_sequence_is_ruled_out():
    model = HMMClassifier.from_models({"a": one_state([1.0, 0.0]), "b": one_state([0.5, 0.5])})
    np.testing.assert_array_equal(model.predict_proba([np.array([[1], [0]])]), [[0.0, 1.0]])
    none = HMMClassifier.from_models({"a": one_state([1.0, 0.0]), "b": one_state([1.0, 0.0])})
    with pytest.raises(ZeroEvidenceError, match="sequence 0 is impossible under the model of every class"):
        none.predict([np.array([[1]])])


def test_symbols_that_never_occur_keep_their_place():
    model = CategoricalHMM(2, n_features=4, n_iter=5, random_state=0).fit([[0], [1], [0], [1]])
    assert model.emissionprob_.shape == (2, 4)
    np.testing.assert_allclose(model.emissionprob_.sum(axis=1), 1.0)
    smoothed = CategoricalHMM(2, n_features=4, n_iter=5, emissionprob_prior=2.0, random_state=0)
    assert (smoothed.fit([[0], [1], [0], [1]]).emissionprob_[:, 2:] > 0).all()


def filter_of(**settings):
    return KalmanFilter(np.eye(1), np.eye(1), np.eye(1), np.eye(1), **settings)


def test_forecast_keeps_the_offsets_beside_controls():
    plain = filter_of(transition_offsets=[2.0]).predict_distribution([[0.0], [1.0]], horizon=3)
    driven = filter_of(transition_offsets=[2.0], control_matrices=[[1.0]])
    still = driven.predict_distribution([[0.0], [1.0]], horizon=3, U=[[0.0], [0.0]])
    np.testing.assert_allclose(still.means, plain.means, rtol=1e-12)
    varying = filter_of(transition_offsets=[[0.0], [2.0]]).predict_distribution([[0.0], [1.0]])
    assert varying.means.shape == (1, 1)


def test_forecast_steps_by_one_unit_of_time():
    found = filter_of(times=[1.0, 11.0])
    spread = [found.predict_distribution([[0.0], [1.0]], horizon=h).covariances.item() for h in (1, 2, 3)]
    with pytest.raises(DataError, match="horizon must be a whole number, at least 1; got 0"):
        found.predict_distribution([[0.0], [1.0]], horizon=0)
    np.testing.assert_allclose(np.diff(spread), 1.0, rtol=1e-12)
