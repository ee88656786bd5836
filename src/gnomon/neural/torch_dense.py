"""Dense networks on PyTorch: the same passes as the compiled loops, by automatic differentiation, on any device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from gnomon.core.devices import device_of, torch_session
from gnomon.core.linalg import Array
from gnomon.loops import codes_of_dense as codes
from gnomon.neural.dense_plan import BLOCK_BYTES, Memory, Pass, Stack, dense_rows
from gnomon.neural.torch_parts import Largest, activation_module


def module_of(stack: Stack, params: Array) -> Any:
    """Return the network as a Sequential with these weights."""
    module, at = nn.Sequential(), 0
    values = torch.as_tensor(np.array(params))
    for number, (n_in, columns) in enumerate(stack.shapes()):
        layer = nn.Linear(n_in, columns, dtype=values.dtype)
        layer.weight.data = values[at : at + n_in * columns].reshape(n_in, columns).T.clone()
        at += n_in * columns
        layer.bias.data = values[at : at + columns].clone()
        at += columns
        module.add_module(f"dense{number + 1}", layer)
        if number < len(stack.activations):
            name = stack.activations[number]
            part = Largest(stack.pieces) if name == "maxout" else activation_module(name)
            module.add_module(f"activation{number + 1}", part)
            if stack.dropout and stack.dropout[number]:
                module.add_module(f"dropout{number + 1}", nn.Dropout(stack.dropout[number]))
    return module


def forward(stack: Stack, params: Any, X: Any, generator: Any = None) -> Any:
    """Return the scores of rows; units are dropped where a generator is given."""
    at, h = 0, X
    for number, (n_in, columns) in enumerate(stack.shapes()):
        W = params[at : at + n_in * columns].reshape(n_in, columns)
        b = params[at + n_in * columns : at + (n_in + 1) * columns]
        at += (n_in + 1) * columns
        h = torch.addmm(b, h, W)
        if number == len(stack.activations):
            return h
        name = stack.activations[number]
        h = h.unflatten(1, (-1, stack.pieces)).amax(dim=2) if name == "maxout" else activation_module(name)(h)
        p = stack.dropout[number] if stack.dropout else 0.0
        if p and generator is not None:
            keep = torch.rand(h.shape, generator=generator, device=h.device) >= p
            h = h * keep / (1.0 if stack.dropout_scaling == "test" else 1.0 - p)
    return h


def row_losses(stack: Stack, F: Any, T: Any) -> Any:
    """Return the loss of every row, by the definitions of the loops."""
    name, number = stack.loss, stack.loss_parameter
    if name == "log_loss_multiclass":
        return functional.cross_entropy(F, T[:, 0].long(), reduction="none")
    if name == "hinge_multiclass":
        own = F.gather(1, T.long())
        excess = torch.relu(F - own + number)
        return excess.sum(dim=1) - number
    if name == "poisson":
        constant = torch.where(T > 0, T * torch.log(torch.clamp(T, min=1e-300)) - T, 0.0)
        return (torch.exp(F) - T * F + constant).sum(dim=1)
    r = F - T
    losses = {
        "squared_error": lambda: 0.5 * r * r,
        "absolute_error": lambda: r.abs(),
        "huber": lambda: functional.huber_loss(F, T, reduction="none", delta=number),
        "log_loss_binary": lambda: functional.softplus(F) - T * F,
        "hinge_binary": lambda: torch.relu(1.0 - T * F),
        "perceptron": lambda: torch.relu(-T * F),
        "sigmoid_squared": lambda: 0.5 * (torch.sigmoid(F) - T) ** 2,
    }
    return losses[name]().sum(dim=1)


def weight_mask(stack: Stack, device: Any) -> Any:
    """Return one for weights and zero for biases."""
    parts = [part for a, b in stack.shapes() for part in (np.ones(a * b), np.zeros(b))]
    return torch.as_tensor(np.concatenate(parts), device=device)


def loss_and_gradient(
    stack: Stack,
    params: Array,
    X: Any,
    T: Array,
    weight: Array,
    alpha: float,
    decay: float,
    device: str = "cpu",
) -> tuple[float, Array]:
    """Return mean loss plus penalty and its gradient, by automatic differentiation."""
    where = device_of(device)
    with torch_session(where):
        theta = torch.as_tensor(params, device=where).clone().requires_grad_()
        rows = [torch.as_tensor(np.ascontiguousarray(part), device=where) for part in (X, T, weight)]
        loss = _objective(
            stack._replace(dropout=()), theta, *rows, alpha, decay, weight_mask(stack, where), None
        )
        (slope,) = torch.autograd.grad(loss, theta)
    return float(loss), slope.cpu().numpy()


def _objective(stack, theta, X, T, weight, alpha, decay, mask, generator):
    mass = weight.sum()
    data = (weight * row_losses(stack, forward(stack, theta, X, generator), T)).sum() / mass
    strength = alpha / mass + decay
    return data + 0.5 * strength * (theta * theta * mask).sum()


def pass_on(device: str) -> Any:
    """Return the function that makes one pass over the rows on a device."""
    where = device_of(device, "engine='torch'")

    def train_pass(
        stack: Stack, rule: Any, memory: Memory, X: Any, T: Array, weight: Array, order: Any, batch: int, rates: Array,
        seed: int,
    ) -> tuple[Memory, Pass]:  # fmt: skip
        with torch_session(where, seed):
            return _pass(stack, rule, memory, X, T, weight, order, batch, rates, seed, where)

    return train_pass


def _pass(stack, rule, memory, X, T, weight, order, batch, rates, seed, where):
    dtype, n = memory.params.dtype, X.shape[0] if order is None else len(order)
    theta, first, second = (torch.as_tensor(part.copy(), device=where) for part in memory[:3])
    mask = weight_mask(stack, where).to(theta.dtype)
    generator = torch.Generator(device=where).manual_seed(seed) if any(stack.dropout) else None
    total, steepest, norms, done = 0.0, 0.0, torch.zeros(len(stack.shapes()), dtype=torch.float64), 0
    size = max(1, BLOCK_BYTES // max(1, batch * X.shape[1] * dtype.itemsize)) * batch
    for begin in range(0, n, size):
        rows = slice(begin, begin + size) if order is None else order[begin : begin + size]
        parts = (
            dense_rows(X, rows, dtype),
            np.ascontiguousarray(T[rows]),
            np.ascontiguousarray(weight[rows]),
        )
        block, targets, weights = (torch.as_tensor(part, device=where) for part in parts)
        for start in range(0, len(block), batch):
            few = slice(start, start + batch)
            mass = float(weights[few].sum())
            if mass > 0.0:
                theta.requires_grad_(True)
                loss = _objective(
                    stack,
                    theta,
                    block[few],
                    targets[few],
                    weights[few],
                    rule.alpha,
                    rule.weight_decay,
                    mask,
                    generator,
                )
                (slope,) = torch.autograd.grad(loss, theta)
                theta = theta.detach()
                total += float(loss) * mass
                steepest = max(steepest, float(slope.abs().max()))
                if not math.isfinite(total):
                    return memory, Pass(math.nan, steepest, norms.numpy())
                norms += _layer_norms(stack, slope)
                _move(stack, rule, theta, slope, first, second, float(rates[done]), memory.step + done + 1)
            done += 1
    params, one, two = (part.detach().cpu().numpy() for part in (theta, first, second))
    mass = float(weight.sum() if order is None else weight[order].sum())
    return Memory(params, one, two, memory.step + done), Pass(
        total / mass, steepest, norms.numpy() / max(1, done)
    )


def _layer_norms(stack, slope):
    found, at = [], 0
    for a, b in stack.shapes():
        found.append(slope[at : at + a * b].norm().double().cpu())
        at += (a + 1) * b
    return torch.stack(found)


def _move(stack, rule, theta, slope, first, second, rate, step):
    """One update in place, by the rules of the loops."""
    if rule.clip_norm > 0.0:
        slope = slope * min(1.0, rule.clip_norm / max(float(slope.norm()), 1e-300))
    if rule.solver == codes.ADAM:
        first.mul_(rule.beta_1).add_(slope, alpha=1.0 - rule.beta_1)
        second.mul_(rule.beta_2).addcmul_(slope, slope, value=1.0 - rule.beta_2)
        scaled = rate * math.sqrt(1.0 - rule.beta_2**step) / (1.0 - rule.beta_1**step)
        theta.addcdiv_(first, second.sqrt().add_(rule.epsilon), value=-scaled)
    elif rule.solver == codes.ADAGRAD:
        squares = _by_node(stack, slope * slope) if rule.by_node else slope * slope
        second.add_(squares)
        theta.sub_(torch.where(second > 0, rate * slope / second.sqrt().clamp(min=1e-300), 0.0))
    elif rule.momentum > 0.0:
        first.mul_(rule.momentum).sub_(slope, alpha=rate)
        theta.add_(rule.momentum * first - rate * slope if rule.nesterov else first)
    else:
        theta.sub_(slope, alpha=rate)


def _by_node(stack, squares):
    """Sum squares over the weights into every unit and its bias; every one of them gets the sum."""
    parts, at = [], 0
    for a, b in stack.shapes():
        block = squares[at : at + (a + 1) * b].reshape(a + 1, b)
        parts.append(block.sum(dim=0).expand(a + 1, b).reshape(-1))
        at += (a + 1) * b
    return torch.cat(parts)
