"""Differentiation that can be looked at: a graph of numbers, and products with Jacobians."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core.linalg import Array


class Value:
    r"""A number that remembers how it was made, so that slopes can go back through the graph, or forward.

    Every operation knows its local rule: a sum copies the slope, a product swaps its inputs, a maximum routes
    the slope to the
    winner, a sigmoid multiplies it by σ(1−σ).

    Parameters
    ----------
    data : float
    name : str, optional
        Shown in the picture.

    Attributes
    ----------
    data : float
    grad : float
        ∂(result)/∂(this), after ``result.backward()``.

    Examples
    --------
    >>> x, y, z = Value(-2.0, "x"), Value(5.0, "y"), Value(-4.0, "z")
    >>> f = (x + y) * z
    >>> f.backward()
    >>> f.data, x.grad, y.grad, z.grad
    (-12.0, -4.0, -4.0, 3.0)
    """

    def __init__(
        self, data: float, name: str = "", *, parents: Any = (), slopes: Any = (), operation: str = ""
    ) -> None:
        self.data, self.name, self.grad = float(data), name, 0.0
        self.parents: tuple[Value, ...] = tuple(parents)
        self.slopes: tuple[float, ...] = tuple(slopes)
        self.operation = operation

    def __repr__(self) -> str:
        label = f"{self.name}=" if self.name else ""
        return f"Value({label}{self.data:.6g}, grad={self.grad:.6g})"

    # arithmetic

    def __add__(self, other: Any) -> Value:
        other = _value(other)
        return Value(self.data + other.data, parents=(self, other), slopes=(1.0, 1.0), operation="+")

    def __mul__(self, other: Any) -> Value:
        other = _value(other)
        return Value(
            self.data * other.data, parents=(self, other), slopes=(other.data, self.data), operation="×"
        )

    def __pow__(self, power: float) -> Value:
        if isinstance(power, Value):
            raise TypeError("the power must be a plain number; write exp(power * log(base)) for a Value.")
        slope = power * self.data ** (power - 1) if power else 0.0
        return Value(self.data**power, parents=(self,), slopes=(slope,), operation=f"^{power:g}")

    def __neg__(self) -> Value:
        return self * -1.0

    def __sub__(self, other: Any) -> Value:
        return self + -_value(other)

    def __truediv__(self, other: Any) -> Value:
        return self * _value(other) ** -1.0

    def __radd__(self, other: Any) -> Value:
        return self + other

    def __rmul__(self, other: Any) -> Value:
        return self * other

    def __rsub__(self, other: Any) -> Value:
        return _value(other) - self

    def __rtruediv__(self, other: Any) -> Value:
        return _value(other) / self

    def _one(self, data: float, slope: float, operation: str) -> Value:
        return Value(data, parents=(self,), slopes=(slope,), operation=operation)

    def exp(self) -> Value:
        """Return e^x."""
        e = math.exp(self.data)
        return self._one(e, e, "exp")

    def log(self) -> Value:
        """Return ln x."""
        return self._one(math.log(self.data), 1.0 / self.data, "ln")

    def sigmoid(self) -> Value:
        """Return 1/(1 + e^−x)."""
        s = (
            1.0 / (1.0 + math.exp(-self.data))
            if self.data >= 0
            else math.exp(self.data) / (1.0 + math.exp(self.data))
        )
        return self._one(s, s * (1.0 - s), "σ")

    def tanh(self) -> Value:
        """Return tanh x."""
        t = math.tanh(self.data)
        return self._one(t, 1.0 - t * t, "tanh")

    def relu(self) -> Value:
        """Return max(0, x); its slope at 0 is 0."""
        return self._one(max(0.0, self.data), float(self.data > 0.0), "relu")

    def max(self, other: Any) -> Value:
        """Return the larger of two; of equals the first wins."""
        other = _value(other)
        won = self.data >= other.data
        slopes = (float(won), float(not won))
        return Value(max(self.data, other.data), parents=(self, other), slopes=slopes, operation="max")

    # slopes

    def graph(self) -> list[Value]:
        """Return all numbers behind this one, inputs first, each before what is made of it."""
        found: list[Value] = []
        seen: set[int] = set()
        waiting: list[tuple[Value, bool]] = [(self, False)]
        while waiting:
            node, ready = waiting.pop()
            if ready:
                found.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                waiting.append((node, True))
                waiting += [(parent, False) for parent in reversed(node.parents)]
        return found

    def backward(self) -> None:
        """Fill `grad` of every number behind this one, by one sweep from the result to the inputs."""
        order = self.graph()
        for node in order:
            node.grad = 0.0
        self.grad = 1.0
        for node in reversed(order):
            for parent, slope in zip(node.parents, node.slopes):
                parent.grad += slope * node.grad

    def tangent(self, seed: dict[Value, float]) -> float:
        """Return the slope of this number when inputs move by `seed`: one sweep from the inputs on (forward mode)."""
        moves: dict[int, float] = {}
        for node in self.graph():
            carried = sum(slope * moves[id(parent)] for parent, slope in zip(node.parents, node.slopes))
            moves[id(node)] = carried + seed.get(node, 0.0)
        return moves[id(self)]

    def plot(self, ax: Any = None) -> Any:
        """Draw the graph with values and slopes; return the Axes."""
        from gnomon.plot.networks import computation_graph

        return computation_graph(self, ax=ax)


def _value(number: Any) -> Value:
    return number if isinstance(number, Value) else Value(number)


# Jacobians, numerator layout: rows are outputs, columns inputs


def _tensor_function(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    torch = _torch()

    def call(x: Any) -> Any:
        found = f(x)
        return (
            torch.stack([torch.as_tensor(part) for part in found])
            if isinstance(found, list | tuple)
            else found
        )

    return call


def _torch() -> Any:
    from gnomon.core.devices import import_torch

    return import_torch("jacobian")


def jacobian(f: Callable[[Any], Any], x: Any, *, right: Any = None, left: Any = None) -> Array:
    """Return the matrix J = ∂f_i/∂x_j of a function of PyTorch operations, or a product with it.

    Outputs are rows, inputs columns. Products never form the matrix: ``right=v`` gives J v, how f moves when x moves by
    v, by forward mode; ``left=u`` gives Jᵀu, how u·f changes with x, by reverse mode.

    Parameters
    ----------
    f : callable
        Of a float64 tensor; written with torch functions or plain arithmetic.
    x : array
        Where.
    right : array of the shape of x, optional
    left : array of the shape of f(x), optional

    Examples
    --------
    >>> f = lambda x: [x[0] * x[1], x[1] ** 2]
    >>> jacobian(f, [2.0, 3.0])
    array([[3., 2.],
           [0., 6.]])
    >>> jacobian(f, [2.0, 3.0], right=[1.0, -1.0]), jacobian(f, [2.0, 3.0], left=[1.0, 1.0])
    (array([ 1., -6.]), array([3., 8.]))
    """
    if right is not None and left is not None:
        raise ValueError("give right or left, not both: J v and Jᵀu are two products.")
    torch, function = _torch(), _tensor_function(f)
    x = torch.tensor(np.asarray(x, dtype=float))
    if right is not None:
        _, found = torch.func.jvp(function, (x,), (torch.tensor(np.asarray(right, dtype=float)),))
    elif left is not None:
        value, back = torch.func.vjp(function, x)
        (found,) = back(torch.tensor(np.asarray(left, dtype=float)).reshape(value.shape))
    else:
        found = torch.func.jacrev(function)(x)
    return np.asarray(found.detach().numpy())
