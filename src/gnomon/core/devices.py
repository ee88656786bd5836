"""Devices: where PyTorch computes, on how many threads, and how repeatably. Torch is imported here and at first use."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gnomon.core.threads import thread_count

DEVICES = ("auto", "cpu", "cuda")


def import_torch(user: str = "this model") -> Any:
    """Return the torch module, or say how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"{user} needs PyTorch, which is not installed. Install it with: pip install 'gnomon[neural]'"
        ) from error
    return torch


def device_of(name: str, user: str = "this model") -> Any:
    """Return the torch device that a `device` parameter names; "auto" is the GPU where there is one."""
    torch = import_torch(user)
    if name not in DEVICES:
        raise ValueError(f"device must be one of {DEVICES}; got {name!r}.")
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise ValueError("device='cuda', and PyTorch sees no GPU here. Use device='auto' or 'cpu'.")
    return torch.device("cuda" if there and name != "cpu" else "cpu")


# PyTorch has one random state and one number of threads in a process: threads that compute with it take turns, or
# the numbers that one draws would be missing from the other's.
_ONE_SESSION = threading.RLock()


@contextmanager
def torch_session(device: Any, seed: int | None = None) -> Iterator[None]:
    """Compute with gnomon's number of threads, from a seed; everything is put back afterwards.

    On the CPU the same seed gives the same bits. On a GPU the fastest kernels are taken, whose sums may differ in
    their last digits from run to run, unless the user has asked PyTorch for deterministic algorithms. A request
    for more memory than the device has is answered with a sentence instead of a stack of numbers.
    """
    torch = import_torch()
    settings = torch.utils.deterministic
    threads, sure, fill, search = (
        torch.get_num_threads(),
        torch.get_deterministic_debug_mode(),
        settings.fill_uninitialized_memory,
        torch.backends.cudnn.benchmark,
    )
    cards = [device] if device.type == "cuda" else []
    with _ONE_SESSION, torch.random.fork_rng(devices=cards):
        torch.set_num_threads(thread_count())
        if not cards:
            torch.set_deterministic_debug_mode(
                "warn"
            )  # the other switch imports torch's compiler: two seconds
            settings.fill_uninitialized_memory = False  # a pass over memory that is written anyway
        elif not sure:
            torch.backends.cudnn.benchmark = True
        if seed is not None:
            torch.manual_seed(seed)
        try:
            yield
        except RuntimeError as error:
            raise _plain_error(torch, error, device) from error
        finally:
            torch.set_num_threads(threads)
            torch.set_deterministic_debug_mode(sure)
            settings.fill_uninitialized_memory = fill
            torch.backends.cudnn.benchmark = search


def _plain_error(torch: Any, error: RuntimeError, device: Any) -> Exception:
    text = str(error)
    if isinstance(error, torch.OutOfMemoryError) or "not enough memory" in text or "alloc" in text.lower():
        asked = text.split("\n")[0][:200]
        return MemoryError(
            f"{device} has too little memory for this fit: {asked} Lower batch_size, or use a smaller network."
        )
    return error
