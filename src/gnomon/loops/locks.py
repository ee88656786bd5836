"""Locks for loops that several threads run at once.

An array of whole numbers serves as a lock: its first entry is 1 while a thread holds it.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled, exchange
from gnomon.loops.trees import BARE


@compiled(**BARE)
def lock(board):
    """Wait until no other thread holds the lock, then hold it."""
    while exchange(board, 0, 1) != 0:
        pass


@compiled(**BARE)
def unlock(board):
    """Let go of the lock."""
    exchange(board, 0, 0)


@compiled(**BARE)
def read(board, line, at):
    """line[at], and with it whatever was written before another thread let go of the lock."""
    lock(board)
    value = line[at]
    unlock(board)
    return value


@compiled(**BARE)
def pause(own):
    """Spend some hundred nanoseconds on a cell that no other thread touches."""
    for _ in range(32):
        exchange(own, 0, np.int64(0))
