"""Language models: feed-forward and recurrent."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from gnomon.core.devices import import_torch, torch_session
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.validate import COUNT
from gnomon.neural.language_base import LanguageModel, padded

CELLS = ("rnn", "gated", "gru", "lstm")


class FeedForwardLanguageModel(LanguageModel):
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
        **LanguageModel._parameter_constraints,
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


class RecurrentLanguageModel(LanguageModel):
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
        **LanguageModel._parameter_constraints,
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
