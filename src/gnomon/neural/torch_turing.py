"""The module of the neural Turing machine. Imported only where torch is."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional


def address(memory: Any, before: Any, key: Any, strength: Any, gate: Any, shift: Any, sharpness: Any) -> Any:
    """Return weights over the slots (n, N): content, interpolation, circular shift, sharpening."""
    near = functional.cosine_similarity(memory, key[:, None], dim=2, eps=1e-8)
    content = torch.softmax(strength * near, dim=1)
    mixed = gate * content + (1.0 - gate) * before
    moved = sum(torch.roll(mixed, step, dims=1) * shift[:, i : i + 1] for i, step in enumerate((-1, 0, 1)))
    sharp = moved.clamp(min=1e-12) ** sharpness
    return sharp / sharp.sum(dim=1, keepdim=True)


class TuringMachine(nn.Module):
    """Controller (one recurrent layer), memory, one writing head and some reading heads."""

    def __init__(self, n_in: int, n_out: int, slots: int, width: int, size: int, heads: int) -> None:
        super().__init__()
        self.slots, self.width, self.heads = slots, width, heads
        self.controller = nn.LSTMCell(n_in + heads * width, size)
        self.reads = nn.ModuleList([nn.Linear(size, width + 6) for _ in range(heads)])
        self.write = nn.Linear(size, width + 6)
        self.change = nn.Linear(size, 2 * width)
        self.output = nn.Linear(size + heads * width, n_out)
        self.start = nn.Parameter(0.1 * torch.randn(slots, width))

    def _where(self, head: Any, state: Any, memory: Any, before: Any) -> Any:
        said, w = head(state), self.width
        key, rest = torch.tanh(said[:, :w]), said[:, w:]
        shift = torch.softmax(rest[:, 2:5], dim=1)
        return address(
            memory, before, key, functional.softplus(rest[:, :1]), torch.sigmoid(rest[:, 1:2]), shift,
            1.0 + functional.softplus(rest[:, 5:6]),
        )  # fmt: skip

    def run(self, x: Any, keep: bool = False) -> Any:
        """Return outputs (n, T, n_out), and where heads read and wrote."""
        n = len(x)
        memory = self.start.expand(n, self.slots, self.width)
        first = torch.zeros(n, self.slots, dtype=x.dtype, device=x.device)
        first[:, 0] = 1.0
        read_at, write_at = [first] * self.heads, first
        found = torch.zeros(n, self.heads * self.width, dtype=x.dtype, device=x.device)
        state = None
        outputs, reads, writes = [], [], []
        for t in range(x.shape[1]):
            state = self.controller(torch.cat([x[:, t], found], dim=1), state)
            s = state[0]
            write_at = self._where(self.write, s, memory, write_at)
            erase, add = self.change(s).chunk(2, dim=1)
            at = write_at[:, :, None]
            memory = memory * (1.0 - at * torch.sigmoid(erase)[:, None]) + at * torch.tanh(add)[:, None]
            read_at = [self._where(head, s, memory, before) for head, before in zip(self.reads, read_at)]
            found = torch.cat([torch.einsum("ns,nsw->nw", where, memory) for where in read_at], dim=1)
            outputs.append(self.output(torch.cat([s, found], dim=1)))
            if keep:
                reads.append(torch.stack(read_at, dim=1))
                writes.append(write_at)
        result = torch.stack(outputs, dim=1)
        return (result, torch.stack(reads), torch.stack(writes)) if keep else result

    def forward(self, x: Any) -> Any:
        """Return the log-odds of the output bits."""
        return self.run(x)
