"""Language models: the next word from the words before, and sentences drawn from them."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted as check_fitted

from gnomon.core.devices import device_of, import_torch, torch_session
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.settings import check_parameters
from gnomon.core.tokens import Tokens, codes_of, read_sentences
from gnomon.core.validate import COUNT
from gnomon.neural.training import TRAINING, TorchLearner, TorchState, TorchWork

END = np.zeros(1, dtype=np.int64)  # before and behind every sentence
NOWHERE = -100  # the target of a place that does not count


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


class LanguageModel(TorchLearner):
    """What all language models share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TRAINING,
        "state_size": [COUNT],
        "bias": ["boolean"],
        "min_count": [COUNT],
        "end_token": [str, Integral, tuple],
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
        from gnomon.neural.torch_recurrent import Ragged

        sentences = Ragged([np.concatenate([END, codes, END]) for codes in data.codes], device)
        return TorchWork((sentences,), None, {"words": len(data.vocabulary)}, device, len(data), data)

    def _batches(self, work: TorchWork, order: Array) -> Any:
        """Sentences of like length go together, so little is padded; the order of the batches is random."""
        found = list(super()._batches(work, order))
        if len(found) < 3:
            return iter(found)
        by_length = order[np.argsort(work.parts[0].sizes[order], kind="stable")]
        found = list(super()._batches(work, by_length))
        places = np.argsort(order[: len(found)], kind="stable")
        return (found[i] for i in places)

    def _batch_loss(self, module: Any, work: TorchWork, units: Any, epoch: int) -> tuple[Any, Any]:
        torch = import_torch()
        words, lengths = work.parts[0].batch(units)
        scores = module(words[:, :-1], getattr(self, "bptt_steps", None))
        after = words[:, 1:]
        if not work.parts[0].even:
            behind = torch.arange(1, words.shape[1], device=work.device) >= lengths[:, None]
            after = after.masked_fill(behind, NOWHERE)
        loss = torch.nn.functional.cross_entropy(
            scores.flatten(0, 1), after.flatten(), reduction="sum", ignore_index=NOWHERE
        )
        mass = float((work.parts[0].sizes[units] - 1).sum())
        return loss / mass, mass

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
        if not temperature >= 0.0:
            raise ValueError(f"temperature must not be negative; got {temperature}.")
        if n < 0:
            raise ValueError(f"n must not be negative; got {n}.")
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
