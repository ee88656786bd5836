"""Language models: the next word from the words before, and sentences drawn from them."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted as check_fitted

from gnomon.core.devices import device_of, import_torch, torch_session
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.randomness import generator
from gnomon.core.tokens import Tokens, codes_of, read_sentences
from gnomon.core.validate import COUNT, check_parameters
from gnomon.neural.training import TRAINING, TorchLearner, TorchState, TorchWork

CELLS = ("rnn", "gated", "gru", "lstm")


def padded(codes: list[Array]) -> tuple[Array, Array, Array]:
    """Return words before every place, words to predict, and which places count: (n, longest + 1) each."""
    longest = max(map(len, codes)) + 1
    before = np.zeros((len(codes), longest), dtype=np.int64)
    after, counts = np.zeros_like(before), np.zeros(before.shape)
    for row, sentence in enumerate(codes):
        n = len(sentence)
        before[row, 1 : n + 1] = sentence
        after[row, :n] = sentence
        counts[row, : n + 1] = 1.0
    return before, after, counts


class _LanguageModel(TorchLearner):
    """What all language models share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TRAINING,
        "state_size": [COUNT],
        "bias": ["boolean"],
        "min_count": [COUNT],
        "end_token": "no_validation",
    }

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from sentences.

        Parameters
        ----------
        X : list of lists of tokens
            Strings are split at spaces. The end token is added to every sentence and predicted too.
        y : ignored

        Returns
        -------
        self
        """
        return self._learn(self._sentences(X), X=X, y=y)

    def iterate(self, X: Any, y: Any = None) -> Any:
        """Yield a fitted copy of the model at the start and after every epoch."""
        yield from self._iterate(self._sentences(X))

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Make one epoch on these sentences; the first call fixes the vocabulary.

        Parameters
        ----------
        X : list of lists of tokens
        y : ignored

        Returns
        -------
        self
        """
        return self._one_epoch(self._sentences(X, getattr(self, "vocabulary_", None)))

    def _sentences(self, X: Any, vocabulary: Any = None) -> Tokens:
        check_parameters(self)
        return read_sentences(X, end=self.end_token, min_count=self.min_count, vocabulary=vocabulary)

    def _work(self, data: Tokens, device: Any) -> TorchWork:
        torch = import_torch()
        lengths = torch.ones(len(data), device=device)
        return TorchWork((data.codes,), lengths, {"words": len(data.vocabulary)}, device, len(data), data)

    def _batches(self, work: TorchWork, order: Array) -> Any:
        """Sentences of like length go together, so little is padded; the order of the batches is random."""
        found = list(super()._batches(work, order))
        if len(found) < 3:
            return iter(found)
        lengths = np.array([len(work.parts[0][i]) for i in order])
        by_length = order[np.argsort(lengths, kind="stable")]
        found = list(super()._batches(work, by_length))
        places = np.argsort(order[: len(found)], kind="stable")
        return (found[i] for i in places)

    def _batch_loss(self, module: Any, work: TorchWork, units: Any, epoch: int) -> tuple[Any, Any]:
        torch = import_torch()
        before, after, counts = padded([work.parts[0][i] for i in units])
        before, after = (torch.as_tensor(part, device=work.device) for part in (before, after))
        counts = torch.as_tensor(counts, device=work.device, dtype=self._dtype())
        scores = module(before, getattr(self, "bptt_steps", None))
        losses = torch.nn.functional.cross_entropy(scores.flatten(0, 1), after.flatten(), reduction="none")
        return (losses * counts.flatten()).sum(), counts.sum()

    def _facts_of(self, state: TorchState) -> dict[str, Any]:
        return {"module_facts_": state.facts}

    # answers

    def _codes(self, X: Any) -> list[Array]:
        check_fitted(self)
        return read_sentences(X, end=self.end_token, vocabulary=self.vocabulary_).codes

    def _log_probs(self, codes: list[Array]) -> list[Array]:
        """Return ln p of every word of every sentence, its end included."""
        torch, device = import_torch(), device_of(self.device)
        found: list[Array] = []
        with torch_session(device), torch.inference_mode():
            module = self._fitted_module(device)
            for begin in range(0, len(codes), 256):
                part = codes[begin : begin + 256]
                before, after, _ = padded(part)
                scores = module(torch.as_tensor(before, device=device)).double()
                logs = scores.log_softmax(dim=2).gather(2, torch.as_tensor(after, device=device)[:, :, None])
                rows = logs[:, :, 0].cpu().numpy()
                found += [row[: len(sentence) + 1] for row, sentence in zip(rows, part)]
        return found

    def surprise(self, sentence: Any) -> Array:
        """Return −ln p of every word of a sentence given those before, the end included."""
        return -self._log_probs(self._codes([sentence]))[0]

    def log_prob(self, sentence: Any) -> float:
        """Return ln P(sentence) = Σ ln p(word | words before), the end included."""
        return float(-self.surprise(sentence).sum())

    def score_samples(self, X: Any) -> Array:
        """Return ln P of every sentence."""
        return np.array([row.sum() for row in self._log_probs(self._codes(X))])

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-probability of a word, ends included."""
        logs = np.concatenate(self._log_probs(self._codes(X)))
        return float(logs.mean())

    def perplexity(self, X: Any) -> float:
        """Return exp(−mean log-probability of a word): between how many equal words the model hesitates."""
        return float(np.exp(-self.score(X)))

    def next_word(self, prefix: Any = ()) -> dict[Any, float]:
        """Return the probability of every word after these, the end token among them."""
        check_fitted(self)
        places = {token: code for code, token in enumerate(self.vocabulary_)}
        codes = codes_of(prefix.split() if isinstance(prefix, str) else list(prefix), places)
        p = np.exp(log_softmax(self._next_scores(codes[None])[0]))
        return dict(zip(self.vocabulary_, p.tolist()))

    def _next_scores(self, codes: Array) -> Array:
        torch = import_torch()
        before = np.column_stack([np.zeros((len(codes), 1), dtype=np.int64), codes])
        with torch_session(torch.device("cpu")), torch.inference_mode():
            return self._fitted_module()(torch.as_tensor(before))[:, -1].double().numpy()

    def generate(
        self,
        n: int = 1,
        *,
        max_length: int = 50,
        temperature: float = 1.0,
        prefix: Any = (),
        random_state: Any = None,
    ) -> list[list[Any]]:
        """Draw sentences, word after word, until the end token.

        Parameters
        ----------
        n : int, default=1
        max_length : int, default=50
            Longer sentences are cut.
        temperature : float, default=1.0
            Scores are divided by it: below one the likely becomes likelier; 0 takes the likeliest word.
        prefix : list of tokens
            How every sentence begins.
        random_state : int or None
        """
        if temperature < 0.0:
            raise ValueError(f"temperature must not be negative; got {temperature}.")
        check_fitted(self)
        rng = generator(random_state)
        places = {token: code for code, token in enumerate(self.vocabulary_)}
        start = codes_of(prefix.split() if isinstance(prefix, str) else list(prefix), places)
        codes, open_ = np.repeat(start[None], n, axis=0), np.ones(n, dtype=bool)
        while codes.shape[1] < max_length and open_.any():
            scores = self._next_scores(codes)
            if temperature == 0.0:
                chosen = scores.argmax(axis=1)
            else:
                chosen = (scores / temperature + rng.gumbel(size=scores.shape)).argmax(axis=1)
            codes = np.column_stack([codes, np.where(open_, chosen, 0)])
            open_ &= chosen != 0
        sentences = []
        for row in codes:
            end = np.flatnonzero(row == 0)
            sentences.append([self.vocabulary_[code] for code in row[: end[0] if len(end) else len(row)]])
        return sentences

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


class FeedForwardLanguageModel(_LanguageModel):
    r"""Feed-forward language model: the next word from the last few (Bengio et al., 2003).

    .. math:: s_t = \tanh\Big(\sum_{c=1}^{C} W^{sx}_c\,\varphi(y_{t-c})\Big),\qquad p_t = \mathrm{softmax}(W^o s_t)

    with the end token before the first word. Sentences of any length have a probability, :math:`\prod_t
    p_t(y_t)`, the end
    included. A window of C words cannot know what was before; `RecurrentLanguageModel` can.

    Parameters
    ----------
    state_size : int, default=50
    context : int, default=1
        How many words are looked back.
    bias : bool, default=False
    min_count : int, default=1
        Words that are rarer become ``<unk>``; with 1 an unknown word is an error.
    end_token : str, default="<end>"
    solver, learning_rate, learning_rate_init, momentum, weight_decay, batch_size, max_iter, tol, n_iter_no_change, \
    early_stopping, validation_fraction, clip_norm, warm_start, random_state, device, precision
        As in `ConvNetClassifier`; a batch counts sentences, the objective is the mean loss of a word.

    Attributes
    ----------
    vocabulary_ : tuple
        The end token first.
    weights_ : dict of arrays
    loss_curve_, trace_, n_iter_, converged_

    Examples
    --------
    >>> text = ["the cat sat", "the dog sat", "a cat ran"] * 10
    >>> model = FeedForwardLanguageModel(8, max_iter=100, random_state=0).fit(text)
    >>> max(model.next_word("the cat"), key=model.next_word("the cat").get) in ("sat", "ran")
    True
    >>> FeedForwardLanguageModel.table_parameters(10_000, 3)
    999900000000
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_LanguageModel._parameter_constraints,
        "context": [COUNT],
    }

    def __init__(
        self, state_size=50, context=1, *, bias=False, min_count=1, end_token="<end>", solver="adam",
        learning_rate="constant", learning_rate_init=1e-2, momentum=0.9, weight_decay=0.0, batch_size=32, max_iter=50,
        tol=1e-4, n_iter_no_change=10, early_stopping=False, validation_fraction=0.1, clip_norm=None, warm_start=False,
        random_state=None, device="cpu", precision="float32",
    ):  # fmt: skip
        self.state_size = state_size
        self.context = context
        self.bias = bias
        self.min_count = min_count
        self.end_token = end_token
        self.solver = solver
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.clip_norm = clip_norm
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.precision = precision

    def _module(self, facts):
        from gnomon.neural.torch_recurrent import WindowWords

        return WindowWords(facts["words"], self.state_size, self.context, self.bias)

    @staticmethod
    def table_parameters(words: int, length: int) -> int:
        """Return the free entries of a table of P(word | the length − 1 words before): (V−1)·V^(length−1)."""
        return (words - 1) * words ** (length - 1)


class RecurrentLanguageModel(_LanguageModel):
    r"""Recurrent language model: the next word from a state that all earlier words have shaped.

    With x_t the one-hot code of the word before, s_0 = 0 and :math:`p_t = \mathrm{softmax}(W^o s_t)`:

    - ``"rnn"``: :math:`s_t = \tanh(W^{sx}x_t + W^{ss}s_{t-1})`
    - ``"gated"``: :math:`g_t = \sigma(W^{gx}x_t + W^{gs}s_{t-1})`, :math:`s_t = (1-g_t)s_{t-1} +
    g_t\tanh(W^{sx}x_t + W^{ss}s_{t-1})`
    - ``"gru"``: reset and update gates r, z: :math:`s = (1-z)\tanh(W_nx + r\odot U_ns) + z\,s` (Cho et al., 2014)
    - ``"lstm"``: gates i, f, o and a cell c = f c + i g, s = o tanh c (Hochreiter and Schmidhuber, 1997)

    Gradients of the plain cell vanish or explode with the lag; gates carry them further (see `gradient_norms`).

    Parameters
    ----------
    cell : {"rnn", "gated", "gru", "lstm"}, default="rnn"
    state_size : int, default=100
    bias : bool, default=False
    bptt_steps : int, optional
        Gradients go back so many words at most; None: to the beginning of the sentence.
    reset_after : bool, default=True
        Where the GRU resets: r ⊙ (U s), or U (r ⊙ s).
    clip_norm : float, optional
    min_count, end_token, solver, learning_rate, learning_rate_init, momentum, weight_decay, batch_size, \
    max_iter, tol, \
    n_iter_no_change, early_stopping, validation_fraction, warm_start, random_state, device, precision
        As in `FeedForwardLanguageModel`.

    Attributes
    ----------
    vocabulary_, weights_, loss_curve_, trace_, n_iter_, converged_

    Examples
    --------
    >>> text = [list("abab"), list("abababab")] * 20
    >>> model = RecurrentLanguageModel("gru", 16, max_iter=60, random_state=0).fit(text)
    >>> bool(model.next_word("a")["b"] > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_LanguageModel._parameter_constraints,
        "cell": [StrOptions(set(CELLS))],
        "bptt_steps": [None, COUNT],
        "reset_after": ["boolean"],
    }

    def __init__(
        self, cell="rnn", state_size=100, *, bias=False, bptt_steps=None, reset_after=True, clip_norm=None, min_count=1,
        end_token="<end>", solver="adam", learning_rate="constant", learning_rate_init=1e-2, momentum=0.9,
        weight_decay=0.0, batch_size=32, max_iter=50, tol=1e-4, n_iter_no_change=10, early_stopping=False,
        validation_fraction=0.1, warm_start=False, random_state=None, device="cpu", precision="float32",
    ):  # fmt: skip
        self.cell = cell
        self.state_size = state_size
        self.bias = bias
        self.bptt_steps = bptt_steps
        self.reset_after = reset_after
        self.clip_norm = clip_norm
        self.min_count = min_count
        self.end_token = end_token
        self.solver = solver
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.precision = precision

    def _module(self, facts):
        from gnomon.neural.torch_recurrent import RecurrentWords

        return RecurrentWords(self.cell, facts["words"], self.state_size, self.bias, self.reset_after)

    def set_weights(self, weights: dict[str, Any], vocabulary: Any) -> Self:
        """Take these weights instead of learning some.

        Parameters
        ----------
        weights : dict of arrays
            ``recurrence.weight_x`` (gates·m, V), ``recurrence.weight_s`` (gates·m, m), ``output.weight`` (V, m).
        vocabulary : sequence
            The end token first.
        """
        values = {name: np.asarray(value, dtype=np.float64 if self.precision == "float64" else np.float32)
                  for name, value in weights.items()}  # fmt: skip
        facts = {
            "module_facts_": {"words": len(vocabulary)},
            "vocabulary_": tuple(vocabulary),
            "weights_": values,
        }
        optimizer = {"seed": 0, "epoch": 0, "step": 0, "rate": float(self.learning_rate_init), "state": {}}
        self._adopt({**facts, "optimizer_": optimizer, "loss_curve_": []})
        return self

    def _looked_at(self, sentence: Any) -> tuple[Any, Any, Any, Any]:
        """Return the module, the words before and after, and the states as a list that gradients reach."""
        torch = import_torch()
        codes = self._codes([sentence])
        before, after, _ = (torch.as_tensor(part) for part in padded(codes))
        module = self._fitted_module()
        recurrence = module.recurrence
        state, states = recurrence.first(1, before), []
        parts = recurrence.inputs(before)
        for t in range(before.shape[1]):
            state = recurrence.step(parts[:, t], state)
            shown = state[0] if isinstance(state, tuple) else state
            if shown.requires_grad:
                shown.retain_grad()
            states.append(shown)
        return module, before, after, states

    def states(self, sentence: Any) -> Array:
        """Return the state after every word before the next is predicted: (words + 1, state_size)."""
        torch = import_torch()
        with torch_session(torch.device("cpu")), torch.no_grad():
            states = self._looked_at(sentence)[3]
            return torch.cat(states).double().numpy()

    def loss_and_gradients(self, sentence: Any) -> tuple[float, dict[str, Array]]:
        """Return −ln P(sentence) and its slopes, by back-propagation through time."""
        torch = import_torch()
        codes = self._codes([sentence])
        before, after, _ = (torch.as_tensor(part) for part in padded(codes))
        module = self._fitted_module()
        with torch_session(torch.device("cpu")):
            scores = module(before, self.bptt_steps)
            loss = torch.nn.functional.cross_entropy(scores[0], after[0], reduction="sum")
            loss.backward()
        slopes = {
            name: p.grad.numpy().astype(float) for name, p in module.named_parameters() if p.grad is not None
        }
        return float(loss.detach()), slopes

    def gradient_norms(self, sentence: Any) -> Array:
        """Return the mean of ‖∂loss_t/∂s_{t−k}‖ over t, for every lag k: how far back a prediction can teach."""
        torch = import_torch()
        with torch_session(torch.device("cpu")):
            module, before, after, states = self._looked_at(sentence)
            sums, counts = np.zeros(len(states)), np.zeros(len(states))
            for t in range(len(states)):
                loss = torch.nn.functional.cross_entropy(module.output(states[t]), after[:, t])
                slopes = torch.autograd.grad(loss, states[: t + 1], retain_graph=True, allow_unused=True)
                for k, slope in enumerate(reversed(slopes)):
                    if slope is not None:
                        sums[k] += float(slope.norm())
                        counts[k] += 1
        return sums / np.maximum(counts, 1)
