"""Recurrent cells on PyTorch: plain, gated, GRU and LSTM, over codes or vectors. Imported only where torch is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

GATES = {"rnn": 1, "gated": 2, "gru": 3, "lstm": 4}
KERNELS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class Ragged:
    """Sequences of any length, end to end in one tensor on the device; a batch is one gather.

    Where all have one length they are the rows of a table instead.
    """

    def __init__(self, items: list[Any], device: Any, dtype: Any = None) -> None:
        self.sizes = np.array([len(item) for item in items])
        flat = np.concatenate(items)
        self.flat = torch.as_tensor(
            flat, device=device, dtype=dtype if flat.dtype.kind == "f" else torch.int64
        )
        self.starts = torch.as_tensor(np.cumsum(self.sizes) - self.sizes, device=device)
        self.lengths = torch.as_tensor(self.sizes, device=device)
        self.even = bool((self.sizes == self.sizes[0]).all())
        self.table = self.flat.unflatten(0, (len(self), -1)) if self.even and len(flat) else None

    def __len__(self) -> int:
        return len(self.sizes)

    def index(self, units: Any) -> Any:
        """Return the numbers of sequences on the device; several `batch` can share them."""
        return torch.as_tensor(units, device=self.flat.device)

    def batch(self, units: Any, index: Any = None) -> tuple[Any, Any]:
        """Return (n, longest, ...) and the lengths; behind the end of a sequence stands something finite."""
        index = self.index(units) if index is None else index
        if self.table is not None:
            return self.table[index], self.lengths[index]
        places = self.starts[index][:, None] + torch.arange(int(self.sizes[units].max()), device=index.device)
        return self.flat[places.clamp_max(len(self.flat) - 1)], self.lengths[index]


class Recurrence(nn.Module):
    """One recurrent layer: the states s_1 ... s_T of a batch of sequences.

    Weights lie as in PyTorch: `weight_x` (gates·m, n_in) and `weight_s` (gates·m, m); gates in the order g, s
    (gated), r, z, n
    (GRU), i, f, g, o (LSTM).
    """

    def __init__(
        self, cell: str, n_in: int, m: int, bias: bool, tokens: bool, reset_after: bool = True
    ) -> None:
        super().__init__()
        m = int(m)  # PyTorch's kernels take no other kind of whole number
        self.cell, self.m, self.tokens, self.reset_after = cell, m, tokens, reset_after
        gates = GATES[cell]
        bound = 1.0 / math.sqrt(m)
        self.weight_x = nn.Parameter(torch.empty(gates * m, n_in).uniform_(-bound, bound))
        self.weight_s = nn.Parameter(torch.empty(gates * m, m).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(gates * m).uniform_(-bound, bound)) if bias else None

    def first(self, n: int, like: Any) -> Any:
        """Return the state before the first input: zeros."""
        zeros = torch.zeros(n, self.m, dtype=self.weight_s.dtype, device=like.device)
        return (zeros, zeros) if self.cell == "lstm" else zeros

    def inputs(self, x: Any) -> Any:
        """Return W x + b for all places at once: (n, T, gates·m)."""
        if self.tokens:
            found = functional.embedding(x, self.weight_x.t())
            return found if self.bias is None else found + self.bias
        return functional.linear(x, self.weight_x, self.bias)

    def step(self, part: Any, state: Any) -> Any:
        """Return the state after one input that is already multiplied by its weights."""
        m = self.m
        if self.cell == "rnn":
            return torch.tanh(part + functional.linear(state, self.weight_s))
        if self.cell == "gated":
            both = part + functional.linear(state, self.weight_s)
            gate = torch.sigmoid(both[:, :m])
            return (1.0 - gate) * state + gate * torch.tanh(both[:, m:])
        if self.cell == "gru":
            return self._gru(part, state)
        s, c = state
        i, f, g, o = (part + functional.linear(s, self.weight_s)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def _gru(self, part: Any, s: Any) -> Any:
        m, gates = self.m, functional.linear(s, self.weight_s[: 2 * self.m])
        r, z = torch.sigmoid(part[:, : 2 * m] + gates).chunk(2, dim=1)
        U = self.weight_s[2 * m :]
        inner = r * functional.linear(s, U) if self.reset_after else functional.linear(r * s, U)
        return (1.0 - z) * torch.tanh(part[:, 2 * m :] + inner) + z * s

    def forward(self, x: Any, state: Any = None, detach_every: int | None = None) -> Any:
        """Return the states of all places (n, T, m) and the last one."""
        state = self.first(len(x), x) if state is None else state
        if self._fast(detach_every):
            return self._whole(x, state)
        parts, found = self.inputs(x), []
        for t in range(x.shape[1]):
            if detach_every is not None and t and t % detach_every == 0:
                state = tuple(one.detach() for one in state) if isinstance(state, tuple) else state.detach()
            state = self.step(parts[:, t], state)
            found.append(state[0] if self.cell == "lstm" else state)
        return torch.stack(found, dim=1), state

    def _fast(self, detach_every: int | None) -> bool:
        kernel = self.cell in ("rnn", "lstm") or (self.cell == "gru" and self.reset_after)
        return kernel and detach_every is None

    def _whole(self, x: Any, state: Any) -> Any:
        """Run PyTorch's own kernel over whole sequences."""
        x = self.inputs(x) if self.tokens else x
        lstm = self.cell == "lstm"
        found, last = self._kernel(x)(x, tuple(part[None] for part in state) if lstm else state[None])
        return found, tuple(part[0] for part in last) if lstm else last[0]

    def _kernel(self, x: Any) -> Any:
        """Return PyTorch's layer around these very weights, laid end to end on a GPU as cuDNN wants them.

        What the layer multiplies words by is looked up instead of multiplied, so it gets the unit matrix.
        """
        kernel, place = self.__dict__.get("kernel"), (x.device, self.weight_s.dtype)
        if kernel is not None and kernel.weight_hh_l0 is self.weight_s and kernel.place == place:
            return kernel
        bias = self.bias is not None and not self.tokens
        with torch.device("meta"):
            kernel = KERNELS[self.cell](x.shape[2], self.m, bias=bias, batch_first=True)
        fixed = {"device": x.device, "dtype": self.weight_s.dtype}
        kernel.weight_ih_l0 = (
            nn.Parameter(torch.eye(x.shape[2], **fixed), requires_grad=False)
            if self.tokens
            else self.weight_x
        )
        kernel.weight_hh_l0 = self.weight_s
        if bias:
            kernel.bias_ih_l0 = self.bias
            kernel.bias_hh_l0 = nn.Parameter(torch.zeros_like(self.bias), requires_grad=False)
        kernel.place = place
        kernel.flatten_parameters()
        self.__dict__["kernel"] = kernel  # no part of the module: its weights are already
        return kernel


class RecurrentWords(nn.Module):
    """A language model: scores of the next word after every place."""

    def __init__(self, cell: str, words: int, m: int, bias: bool, reset_after: bool) -> None:
        super().__init__()
        self.recurrence = Recurrence(cell, words, m, bias, True, reset_after)
        self.output = nn.Linear(m, words, bias=bias)

    def forward(self, before: Any, detach_every: int | None = None) -> Any:
        """Return scores (n, T, words) after the words before every place."""
        return self.output(self.recurrence(before, None, detach_every)[0])


class WindowWords(nn.Module):
    """A feed-forward language model: the next word from the last `context` ones."""

    def __init__(self, words: int, m: int, context: int, bias: bool) -> None:
        super().__init__()
        bound = 1.0 / math.sqrt(m)
        self.context = context
        self.weight_x = nn.Parameter(torch.empty(context, words, m).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(m)) if bias else None
        self.output = nn.Linear(m, words, bias=bias)

    def states(self, before: Any) -> Any:
        """Return tanh of the summed word vectors; places before the sentence hold the end token."""
        total = 0.0 if self.bias is None else self.bias
        for back in range(self.context):
            words = functional.pad(before, (back, 0), value=0)[:, : before.shape[1]]
            total = total + functional.embedding(words, self.weight_x[back])
        return torch.tanh(total)

    def forward(self, before: Any, detach_every: int | None = None) -> Any:
        """Return scores (n, T, words) after the words before every place."""
        return self.output(self.states(before))


class RecurrentHead(nn.Module):
    """Outputs from the last state of a sequence, or from every one."""

    def __init__(
        self, cell: str, n_in: int, m: int, outputs: int, bias: bool, tokens: bool, each: bool
    ) -> None:
        super().__init__()
        self.recurrence = Recurrence(cell, n_in, m, bias, tokens)
        self.output = nn.Linear(m, outputs)
        self.each = each

    def forward(self, x: Any, lengths: Any) -> Any:
        """Return (n, T, outputs), or (n, outputs) of the last place of each; no lengths: all are whole."""
        states = self.recurrence(x)[0]
        if self.each:
            return self.output(states)
        if lengths is None:
            return self.output(states[:, -1])
        last = states[torch.arange(len(x), device=x.device), lengths - 1]
        return self.output(last)
