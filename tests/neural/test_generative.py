"""Autoencoders, variational ones, adversaries and the Turing machine: exact cases and bounds."""

import numpy as np
import pytest

import gnomon
from gnomon.core.errors import DataError
from gnomon.datasets import make_copy_task
from gnomon.neural import (
    Autoencoder,
    GenerativeAdversarialNetwork,
    NeuralTuringMachine,
    VariationalAutoencoder,
)

torch = pytest.importorskip("torch")
FOUR = np.array([[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]])


# autoencoder


@pytest.mark.parametrize("tied", [False, True])
def test_linear_autoencoder_is_principal_components(tied):
    model = Autoencoder(
        1, tied=tied, max_iter=250, learning_rate_init=0.05, n_iter_no_change=60, random_state=0
    ).fit(FOUR)
    assert model.reconstruction_error(FOUR) == pytest.approx(1.0, abs=2e-3)
    assert model.reconstruction_error(FOUR) >= 1.0 - 1e-9  # principal components are the best there is
    direction = model.inverse_transform([[1.0]]) - model.inverse_transform([[0.0]])
    direction /= np.linalg.norm(direction)
    np.testing.assert_allclose(np.abs(direction), [[0.5**0.5, 0.5**0.5]], atol=0.02)
    np.testing.assert_allclose(model.mean_, [1.0, 1.0])
    assert model.transform(FOUR).shape == (4, 1)


def test_autoencoder_bends_and_denoises():
    t = np.linspace(-1, 1, 80)
    X = np.column_stack([t, t**2])
    bent = Autoencoder(1, (12,), "tanh", max_iter=150, denoising=0.01, random_state=0).fit(X)
    straight = Autoencoder(1, max_iter=150, random_state=0).fit(X)
    assert bent.reconstruction_error(X) < 0.3 * straight.reconstruction_error(X)


def test_autoencoder_refuses_and_warns():
    with pytest.warns(UserWarning, match="no bottleneck"):
        Autoencoder(2, max_iter=1).fit(FOUR)
    with pytest.raises(ValueError, match="NaN"):
        Autoencoder(1).fit([[np.nan, 1.0]])
    with pytest.raises(ValueError, match="without hidden layers"):
        Autoencoder(1, (3,), tied=True).fit(FOUR)
    with pytest.raises(DataError, match="n_components=1"):
        Autoencoder(1, max_iter=1).fit(FOUR).inverse_transform([[1.0, 2.0]])


# variational


def test_kl_by_hand():
    from gnomon.neural.variational_autoencoder import gaussian_kl, kl_to_standard

    assert kl_to_standard([0.5, -1.0], [0.25, 2.0]) == pytest.approx(1.0965735903, abs=1e-10)
    mean, variance = torch.tensor([[0.5, -1.0]]).double(), torch.tensor([[0.25, 2.0]]).double()
    assert float(gaussian_kl(mean, variance.log())) == pytest.approx(1.0965735903, abs=1e-9)


def linear_model():
    """A decoder x = (1, ½)z with noise 1, and the exact posterior of every row as its encoder."""
    model = VariationalAutoencoder(1, (), "identity", precision="float64", max_iter=1, random_state=0).fit(
        np.eye(2)
    )
    weights = {
        "encoder.0.weight": np.array([[4 / 9, 2 / 9], [0.0, 0.0]]),
        "encoder.0.bias": np.array([0.0, np.log(4 / 9)]),
        "decoder.0.weight": np.array([[1.0], [0.5]]),
        "decoder.0.bias": np.zeros(2),
    }
    assert {name: value.shape for name, value in weights.items()} == {
        k: v.shape for k, v in model.weights_.items()
    }
    model.weights_ = weights
    return model


def test_bound_is_the_evidence_for_the_exact_posterior():
    model, x = linear_model(), np.array([[1.0, 2.0]])
    mean, std = model.transform_distribution(x)
    assert (mean[0, 0], std[0, 0] ** 2) == pytest.approx((0.8888888889, 0.4444444444), abs=1e-9)
    assert model.elbo(x, n_draws=4000)[0] == pytest.approx(-3.8544532856, abs=0.05)
    assert model.score_samples(x, 7)[0] == pytest.approx(-3.8544532856, abs=1e-9)  # every draw says the same


def test_bound_lies_below_the_estimate():
    X = np.random.default_rng(0).normal(size=(60, 3)) @ np.array(
        [[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.2]]
    )
    model = VariationalAutoencoder(2, (8,), noise=0.2, max_iter=20, random_state=0).fit(X)
    bound, one, many = model.elbo(X, n_draws=200), model.score_samples(X, 1), model.score_samples(X, 300)
    assert bound.mean() < many.mean() + 0.02 and one.mean() < many.mean()
    trace = model.trace_
    np.testing.assert_allclose(trace.objective, trace["kl"] - trace["reconstruction"], rtol=1e-4)
    assert (trace["kl"] >= 0).all() and trace[-1] < trace[0]
    assert model.sample(7, random_state=0).shape == (7, 3)


def test_pixels_and_refusals():
    X = (np.random.default_rng(0).random((40, 4)) > 0.5).astype(float)
    model = VariationalAutoencoder(1, (6,), likelihood="bernoulli", max_iter=3, random_state=0).fit(X)
    said = model.sample(5, random_state=0)
    assert ((said > 0) & (said < 1)).all()
    with pytest.raises(DataError, match="between 0 and 1"):
        model.fit(2 * X)
    with pytest.raises(ValueError, match="noise"):
        VariationalAutoencoder(noise=0.0).fit(X)


# adversaries


@pytest.mark.parametrize("kind", [Autoencoder, VariationalAutoencoder, GenerativeAdversarialNetwork])
def test_rows_whose_squares_overflow_are_refused(kind):
    rows = np.random.default_rng(0).normal(size=(12, 3))
    settings = {} if kind is GenerativeAdversarialNetwork else {"n_components": 1}
    with pytest.raises(DataError, match=r"size 2\.\d+e\+155, whose squares overflow"):
        kind(max_iter=1, random_state=0, **settings).fit(1e155 * rows)
    model = kind(max_iter=1, random_state=0, **settings).fit(rows)
    with pytest.raises(DataError, match="scale the columns"):
        model.transform(1e155 * rows) if hasattr(model, "transform") else model.score_samples(1e155 * rows)


def test_densities_of_rows_far_away_are_not_nan():
    rows = np.random.default_rng(0).normal(size=(12, 3))
    model = VariationalAutoencoder(1, max_iter=1, random_state=0).fit(rows)
    for ask in (model.score_samples, model.elbo):
        with pytest.raises(DataError, match="far from the rows of the fit"):
            ask(1e15 * rows)


def test_best_discriminator_by_hand():
    D, value = GenerativeAdversarialNetwork.best_discriminator([0.5, 0.5], [0.2, 0.8])
    np.testing.assert_allclose(D, [0.7142857143, 0.3846153846], atol=1e-10)
    assert value == pytest.approx(-1.2849506871, abs=1e-10)
    p = np.array([0.3, 0.7])
    assert GenerativeAdversarialNetwork.best_discriminator(p, p)[1] == pytest.approx(-np.log(4))


def test_adversaries_learn_where_the_data_are():
    X = np.random.default_rng(0).normal([3.0, -1.0], 0.5, size=(150, 2))
    model = GenerativeAdversarialNetwork(2, (12,), (12,), max_iter=30, random_state=0).fit(X)
    drawn = model.sample(400, random_state=0)
    assert np.abs(drawn.mean(axis=0) - [3.0, -1.0]).max() < 0.6
    p = model.discriminate(X)
    assert ((p > 0) & (p < 1)).all()
    assert len(model.trace_["generator_loss"]) == 30 and 0.3 < model.score_generator(X) <= 1.0
    saturating = GenerativeAdversarialNetwork(
        2, (4,), (4,), non_saturating=False, d_steps=2, max_iter=2, random_state=0
    )
    assert saturating.fit(X).trace_["generator_loss"][-1] < 0
    bounded = GenerativeAdversarialNetwork(
        2, (4,), (4,), value_range=(-5, 6), max_iter=1, random_state=0
    ).fit(X)
    assert (np.abs(bounded.sample(50, random_state=0) - 0.5) <= 5.5).all()
    with pytest.raises(DataError, match="X goes from"):
        GenerativeAdversarialNetwork(value_range=(0, 1)).fit(X)


def test_collapse_is_said():
    X = 100.0 * np.random.default_rng(0).normal(size=(50, 1))
    model = GenerativeAdversarialNetwork(
        1, (1,), (2,), max_iter=1, learning_rate_init=1e-6, weight_decay=0.0, random_state=0
    )

    def small(module):
        with torch.no_grad():
            for parameter in module.generator.parameters():
                parameter *= 1e-3

    model._initialize = small
    with pytest.warns(UserWarning, match="collapsed"):
        model.fit(X)


# the Turing machine


def test_addressing_by_hand():
    from gnomon.neural.torch_turing import address

    memory = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]]).double()
    before = torch.tensor([[0.0, 0.0, 0.0, 1.0]]).double()
    one = torch.ones(1, 1).double()
    stay, right = torch.tensor([[0.0, 1.0, 0.0]]).double(), torch.tensor([[0.0, 0.0, 1.0]]).double()
    key = torch.tensor([[2.0, 0.0]]).double()
    content = address(memory, before, key, 2 * one, one, stay, one)[0]
    expected = np.exp(2 * np.array([1.0, 0.0, -1.0, 0.0]))
    np.testing.assert_allclose(content, expected / expected.sum(), rtol=1e-9)
    kept = address(memory, before, key, 2 * one, 0 * one, right, one)[0]
    np.testing.assert_allclose(kept, [1.0, 0.0, 0.0, 0.0], atol=1e-9)  # one to the right, around the end
    sharp = address(memory, before, key, 2 * one, one, stay, 3 * one)[0]
    np.testing.assert_allclose(sharp, expected**3 / (expected**3).sum(), rtol=1e-6)


def test_copy_task_is_what_it_says():
    X, Y = make_copy_task(6, 3, 2, random_state=1)
    assert X.shape == (6, 7, 3) and Y.shape == (6, 7, 2)
    assert np.array_equal(Y[:, 4:], X[:, :3, :2]) and np.isnan(Y[:, :4]).all()
    assert X[:, 3, 2].all() and not X[:, 4:].any()
    with pytest.raises(ValueError, match="at least 1"):
        make_copy_task(0)


def test_the_machine_learns_to_copy_and_shows_its_heads(tmp_path):
    X, Y = make_copy_task(64, 1, 2, random_state=0)
    model = NeuralTuringMachine(4, 4, 12, learning_rate_init=0.02, max_iter=25, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.9
    heads = model.attention(X[0])
    assert heads.read.shape == (3, 1, 4) and heads.write.shape == (3, 4)
    np.testing.assert_allclose(heads.read.sum(axis=2), 1.0, atol=1e-5)
    np.testing.assert_allclose(heads.output, model.predict_proba(X[:1])[0], atol=1e-5)
    gnomon.save(model, tmp_path / "machine")
    assert np.array_equal(gnomon.load(tmp_path / "machine").predict(X), model.predict(X))
    longer, _ = make_copy_task(1, 4, 2)
    with pytest.raises(DataError, match="fitted to 3 at most"):
        model.predict(longer)
    with pytest.raises(DataError, match="learned from 3"):
        model.predict(np.zeros((1, 2, 5)))
    with pytest.raises(DataError, match="shape"):
        model.fit(X, Y[:, :1])
