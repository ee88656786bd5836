"""Language models and recurrent networks: hand-worked passes, all sentences counted, generation."""

from itertools import product

import numpy as np
import pytest

import gnomon
from gnomon.core.errors import DataError
from gnomon.neural import (
    FeedForwardLanguageModel,
    RecurrentClassifier,
    RecurrentLanguageModel,
    RecurrentRegressor,
)

torch = pytest.importorskip("torch")

WEIGHTS = {
    "recurrence.weight_x": [[0.1, 0.5, -0.4], [0.3, -0.2, 0.6]],
    "recurrence.weight_s": [[0.2, -0.1], [0.4, 0.3]],
    "output.weight": [[0.5, -0.5], [1.0, 0.2], [-0.3, 0.8]],
}
SENTENCE = ["a", "b", "a"]
TEXT = ["the cat sat down", "the dog sat", "a cat ran", "a dog ran home"] * 5


def by_hand(**options):
    model = RecurrentLanguageModel("rnn", 2, precision="float64", **options)
    return model.set_weights(WEIGHTS, ["<end>", "a", "b"])


def quick(kind=RecurrentLanguageModel, **options):
    arguments = {"state_size": 8, "max_iter": 8, "random_state": 0, "learning_rate_init": 0.05, **options}
    return kind(**arguments)


# by hand


def test_recurrent_sentence_by_hand():
    model = by_hand()
    assert model.log_prob(SENTENCE) == pytest.approx(-4.8989949706, abs=1e-9)
    assert np.exp(model.log_prob(SENTENCE)) == pytest.approx(0.0074540709, abs=1e-9)
    assert model.perplexity([SENTENCE]) == pytest.approx(3.4033108685, abs=1e-9)
    expected = [(0.099667995, 0.291312612), (0.454853006, -0.072611003), (-0.292930013, 0.641169959)]
    np.testing.assert_allclose(model.states(SENTENCE)[:3], expected, atol=1e-9)
    np.testing.assert_allclose(model.states(SENTENCE)[3], (0.360357769, -0.124176783), atol=1e-9)
    np.testing.assert_allclose(
        list(model.next_word().values()), (0.274927312, 0.354340944, 0.370731745), atol=1e-9
    )
    assert model.surprise(SENTENCE).shape == (4,)


def test_back_propagation_through_time_by_hand():
    loss, slopes = by_hand().loss_and_gradients(SENTENCE)
    assert loss == pytest.approx(4.8989949706, abs=1e-9)
    expected = [[-0.181035021, 0.234290089], [-0.128323610, 0.180446615]]
    np.testing.assert_allclose(slopes["recurrence.weight_s"], expected, atol=1e-9)
    np.testing.assert_allclose(
        slopes["recurrence.weight_x"][0], (-0.719966941, 0.657053529, -0.531378087), atol=1e-9
    )
    np.testing.assert_allclose(slopes["output.weight"][0], (-0.095911792, 0.255019067), atol=1e-9)


def test_truncated_steps_of_full_length_are_full():
    full = by_hand().loss_and_gradients(SENTENCE)[1]["recurrence.weight_s"]
    np.testing.assert_array_equal(
        by_hand(bptt_steps=4).loss_and_gradients(SENTENCE)[1]["recurrence.weight_s"], full
    )
    cut = by_hand(bptt_steps=1).loss_and_gradients(SENTENCE)[1]["recurrence.weight_s"]
    assert np.abs(cut - full).max() > 1e-3


def weights_of(model):
    return sum(value.size for value in model.weights_.values())


def test_numbers_of_weights():
    text = [["a", "b"]]
    counts = {
        cell: weights_of(quick(cell=cell, state_size=2, max_iter=1).fit(text))
        for cell in ("rnn", "gated", "gru", "lstm")
    }
    counts["ff"] = weights_of(quick(FeedForwardLanguageModel, state_size=2, max_iter=1).fit(text))
    assert counts == {"ff": 12, "rnn": 16, "gated": 26, "gru": 36, "lstm": 46}
    from gnomon.neural.torch_recurrent import GATES, RecurrentWords

    with torch.device("meta"):
        large = {
            cell: sum(p.numel() for p in RecurrentWords(cell, 10_000, 100, False, True).parameters())
            for cell in GATES
        }
    assert large == {"rnn": 2_010_000, "gated": 3_020_000, "gru": 4_030_000, "lstm": 5_040_000}


def test_lstm_cell_by_hand():
    from gnomon.neural.torch_recurrent import Recurrence

    cell = Recurrence("lstm", 2, 2, False, False).double()
    numbers = torch.linspace(-0.5, 0.5, 16, dtype=torch.float64).reshape(8, 2)
    cell.weight_x.data, cell.weight_s.data = numbers.clone(), numbers.clone()
    x = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    before = (
        torch.tensor([[0.5, 0.25]], dtype=torch.float64),
        torch.tensor([[0.1, -0.2]], dtype=torch.float64),
    )
    for s, c in (cell.step(cell.inputs(x), before), cell(x[:, None], before)[1]):
        np.testing.assert_allclose(s.detach()[0], (0.018757679, -0.035393236), atol=1e-9)
        np.testing.assert_allclose(c.detach()[0], (0.034517647, -0.062357652), atol=1e-9)


def test_table_of_trigrams():
    assert FeedForwardLanguageModel.table_parameters(10_000, 3) == 999_900_000_000


# properties


@pytest.mark.parametrize("cell", ["rnn", "gated", "gru", "lstm"])
def test_kernels_of_torch_are_the_recursions(cell):
    from gnomon.neural.torch_recurrent import Recurrence

    layer = Recurrence(cell, 3, 4, True, False).double()
    x = torch.randn(2, 6, 3, dtype=torch.float64)
    whole, _ = layer(x)
    stepped, _ = layer(x, None, 100)  # a step at a time
    np.testing.assert_allclose(whole.detach(), stepped.detach(), atol=1e-12)
    tokens = Recurrence(cell, 3, 4, True, True).double()
    tokens.load_state_dict(layer.state_dict())
    codes = torch.tensor([[0, 2, 1]])
    one_hot = torch.eye(3, dtype=torch.float64)[codes]
    np.testing.assert_allclose(tokens(codes)[0].detach(), layer(one_hot)[0].detach(), atol=1e-12)
    assert (layer(5 * x)[0].abs() <= 1).all()


def test_open_and_closed_gates():
    from gnomon.neural.torch_recurrent import Recurrence

    gated, plain = Recurrence("gated", 2, 3, True, False), Recurrence("rnn", 2, 3, True, False)
    plain.weight_x.data, plain.weight_s.data, plain.bias.data = (
        p.data[3:].clone() for p in gated.parameters()
    )
    gated.weight_x.data[:3], gated.weight_s.data[:3] = 0.0, 0.0
    x, state = torch.randn(1, 2), torch.tensor([[0.3, -0.2, 0.9]])
    gated.bias.data[:3] = -1e4
    np.testing.assert_allclose(gated.step(gated.inputs(x), state).detach(), state, atol=1e-6)
    gated.bias.data[:3] = 1e4
    np.testing.assert_allclose(
        gated.step(gated.inputs(x), state).detach(), plain.step(plain.inputs(x), state).detach(), atol=1e-6
    )


def test_two_forms_of_the_gru_differ():
    one, other = (quick(cell="gru", reset_after=form, max_iter=2).fit(TEXT) for form in (True, False))
    assert one.log_prob("a cat ran") != other.log_prob("a cat ran")


@pytest.mark.parametrize("kind", [FeedForwardLanguageModel, RecurrentLanguageModel])
def test_probabilities_of_all_short_sentences(kind):
    model = quick(kind, precision="float64").fit([list("ab"), list("ba"), list("aab")])
    assert sum(model.next_word(["a"]).values()) == pytest.approx(1.0)
    totals, open_ = [], 0.0
    for n in range(1, 5):
        open_ += np.exp(model.score_samples([list(s) for s in product("ab", repeat=n)])).sum()
        totals.append(open_)
    empty = model.next_word()["<end>"]
    assert all(np.diff(totals) >= 0) and totals[-1] + empty <= 1 + 1e-9
    factors = [model.next_word(list(prefix)) for prefix in ("", "a", "ab")]
    chain = factors[0]["a"] * factors[1]["b"] * factors[2]["<end>"]
    assert np.exp(model.log_prob(["a", "b"])) == pytest.approx(chain)


def test_context_one_forgets_and_a_state_does_not():
    window = quick(FeedForwardLanguageModel).fit(TEXT)
    assert window.next_word("the cat") == window.next_word("a cat")
    deeper = quick(FeedForwardLanguageModel, context=2).fit(TEXT)
    assert deeper.next_word("the cat") != deeper.next_word("a cat")
    assert quick().fit(TEXT).next_word("the cat") != quick().fit(TEXT).next_word("a cat")


def test_padding_and_company_change_nothing():
    model = quick(cell="lstm").fit(TEXT)
    alone = model.score_samples(["a cat ran"])[0]
    among = model.score_samples(["the cat sat down", "a cat ran", "the dog"])[1]
    assert among == pytest.approx(alone, rel=1e-6)


@pytest.mark.parametrize("cell", ["rnn", "gated", "gru", "lstm"])
def test_every_cell_learns_and_writes(cell):
    model = quick(cell=cell, max_iter=60).fit(TEXT)
    assert model.perplexity(TEXT) < 2.2
    begun = [sentence[0] for sentence in model.generate(20, random_state=0) if sentence]
    assert sum(word in ("the", "a") for word in begun) >= 17 and "<end>" not in begun
    likely = model.generate(2, temperature=0.0)
    assert likely[0] == likely[1]
    assert model.generate(1, prefix="the dog", max_length=4, random_state=1)[0][:2] == ["the", "dog"]
    assert model.generate(3, random_state=5) == model.generate(3, random_state=5)
    norms = model.gradient_norms("the cat sat down")
    assert norms.shape == (5,) and (norms > 0).all()


def test_gradient_norms_by_hand():
    model = by_hand()
    norms = model.gradient_norms(SENTENCE)
    states, W = model.states(SENTENCE), np.array(WEIGHTS["recurrence.weight_s"])
    O = np.array(WEIGHTS["output.weight"])
    target, found = [1, 2, 1, 0], np.zeros((4, 4))
    for t in range(4):
        p = np.exp(O @ states[t])
        p /= p.sum()
        p[target[t]] -= 1
        slope = O.T @ p
        for lag in range(t + 1):
            found[t, lag] = np.linalg.norm(slope)
            slope = W.T @ ((1 - states[t - lag] ** 2) * slope)
    np.testing.assert_allclose(norms, [found[lag:, lag].mean() for lag in range(4)], atol=1e-12)


# going on, keeping


def test_resumed_after_a_stop_is_the_same(tmp_path):
    plain = quick(cell="gru", max_iter=6).fit(TEXT)

    class Break:
        count = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            self.count += 1
            if self.count == 3:
                raise KeyboardInterrupt

    path = tmp_path / "fit"
    with pytest.raises(KeyboardInterrupt):
        quick(cell="gru", max_iter=6).set_callbacks(gnomon.Checkpoint(path, every_seconds=0), Break()).fit(
            TEXT
        )
    resumed = quick(cell="gru", max_iter=6).set_callbacks(gnomon.Checkpoint(path, every_seconds=0)).fit(TEXT)
    for name, value in plain.weights_.items():
        assert np.array_equal(value, resumed.weights_[name])
    assert plain.loss_curve_ == resumed.loss_curve_


def test_saved_partial_and_warm(tmp_path):
    model = quick(cell="lstm").fit(TEXT)
    gnomon.save(model, tmp_path / "net")
    loaded = gnomon.load(tmp_path / "net")
    assert loaded.log_prob("a cat") == model.log_prob("a cat") and loaded.vocabulary_ == model.vocabulary_
    step = quick(cell="lstm", max_iter=1)
    for _ in range(3):
        step.partial_fit(TEXT)
    three = quick(cell="lstm", max_iter=3).fit(TEXT)
    assert step.loss_curve_ == pytest.approx(three.loss_curve_)
    warm = quick(cell="lstm", max_iter=3, warm_start=True).fit(TEXT)
    first = warm.loss_curve_[-1]
    assert warm.fit(TEXT).trace_[0] < first + 0.1 and len(warm.loss_curve_) == 6


# awkward


def test_unknown_words():
    model = quick().fit(TEXT)
    with pytest.raises(DataError, match="'bird' is not in the vocabulary of 9 words"):
        model.log_prob("the bird")
    rare = quick(min_count=6).fit([*TEXT, "one bird"])
    assert "<unk>" in rare.vocabulary_ and "bird" not in rare.vocabulary_
    assert np.isfinite(rare.log_prob("the bird flew"))


def test_clear_errors():
    for X, message in (
        ([], "no sentences"),
        ([["a"], []], "sentence 1 of X is empty"),
        ("abc", "list of sentences"),
    ):
        with pytest.raises(DataError, match=message):
            quick().fit(X)
    with pytest.raises(DataError, match="choose another end_token"):
        quick().fit([["a", "<end>"]])
    with pytest.raises(ValueError, match="temperature must not be negative"):
        quick(max_iter=1).fit(TEXT).generate(1, temperature=-1)
    with pytest.raises(ValueError, match="Did you mean 'lstm'"):
        quick(cell="ltsm").fit(TEXT)


# sequences


def test_classifier_of_sequences():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4 + i % 5, 2)) + (i % 2) for i in range(40)]
    y = np.array(["low", "high"])[np.arange(40) % 2]
    model = RecurrentClassifier("lstm", 8, max_iter=25, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict_proba(X[3:4]), model.predict_proba(X)[3:4], atol=1e-6)
    with pytest.raises(DataError, match="learned from 2"):
        model.predict([np.zeros((3, 5))])
    with pytest.raises(DataError, match="1 class"):
        model.fit(X, ["low"] * 40)


def test_tagger_and_regressor():
    rng = np.random.default_rng(1)
    X = [rng.integers(0, 3, size=3 + i % 4) for i in range(60)]
    tags = [np.r_[0, x[:-1]] for x in X]  # the token before
    tagger = RecurrentClassifier("gru", 16, output="each", max_iter=60, random_state=0).fit(X, tags)
    assert tagger.score(X, tags) > 0.95
    assert [len(said) for said in tagger.predict(X[:3])] == [len(x) for x in X[:3]]
    y = np.array([x.sum() for x in X], dtype=float)
    model = RecurrentRegressor("gru", 16, max_iter=60, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.raises(DataError, match=r"y\[0\] has 1 entries"):
        tagger.fit(X, [[0]] * 60)
    with pytest.raises(DataError, match="3 features or codes|learned from 3"):
        tagger.predict([[0, 7]])
