"""Networks as lists of layers, and their account: shapes, weights, memory, work, receptive fields."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.core.devices import import_torch
from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.neural.layer_base import Cost, Layer, Shape

WITHOUT_VALUES = ("activation", "dropout", "flatten")  # kinds that are done in place


class LayerAccount(NamedTuple):
    """One line of an account."""

    name: str
    layer: str
    shape: Shape
    activations: int
    weights: int
    biases: int
    multiply_adds: int
    receptive_field: int | None  # None: sees the whole input
    jump: int | None


class Account:
    """What a network costs for one row, layer by layer.

    Attributes
    ----------
    rows : list of LayerAccount
    activations, weights, biases, multiply_adds : int
        Totals; activations include the input.
    memory_bytes : int
        Of the forward values; training needs about twice as much.
    """

    def __init__(self, rows: list[LayerAccount], bytes_per_value: int) -> None:
        self.rows, self.bytes_per_value = rows, bytes_per_value
        for name in ("activations", "weights", "biases", "multiply_adds"):
            setattr(self, name, sum(getattr(row, name) for row in rows))
        self.parameters = self.weights + self.biases
        self.memory_bytes = self.activations * bytes_per_value

    def __getitem__(self, name: str) -> LayerAccount:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"no layer is named {name!r}; there are {[row.name for row in self.rows]}")

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per layer."""
        pd = import_pandas()
        return pd.DataFrame([row._asdict() for row in self.rows]).set_index("name")

    def __repr__(self) -> str:
        lines = [
            f"{'layer':<14}{'output':>16}{'activations':>13}{'weights':>13}{'biases':>9}{'mult-adds':>15}{'field':>7}"
        ]
        for row in self.rows:
            shape = "×".join(map(str, row.shape))
            field = "all" if row.receptive_field is None else str(row.receptive_field)
            lines.append(
                f"{row.name:<14}{shape:>16}{row.activations:>13,}{row.weights:>13,}{row.biases:>9,}"
                f"{row.multiply_adds:>15,}{field:>7}"
            )
        lines.append(
            f"{'total':<14}{'':>16}{self.activations:>13,}{self.weights:>13,}{self.biases:>9,}{self.multiply_adds:>15,}"
        )
        megabytes = self.memory_bytes / 1e6
        lines.append(f"{megabytes:.3g} MB of values for one row forward, about twice that for training")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html())


class Network:
    """A list of layers and the shape of its input: it knows its account and becomes a torch module.

    Parameters
    ----------
    layers : sequence of layers
        Of `gnomon.neural.layers`; a pair (name, layer) gives a layer its name, others are numbered by kind.
    input_shape : tuple of int
        Of one row: (channels, height, width), (channels, length) or (features,).
    name : str, optional
    recipe : dict, optional
        Settings of `ConvNetClassifier` that it was published with.
    top5_error : dict, optional
        Published errors on ImageNet, in percent.

    Examples
    --------
    >>> from gnomon.neural import layers
    >>> net = Network([layers.Conv2d(10, 5, padding=2), layers.Dense(3)], (3, 32, 32))
    >>> net.shapes(), net.describe().parameters
    ([(10, 32, 32), (3,)], 31483)
    """

    def __init__(
        self, layers: Sequence[Any], input_shape: Sequence[int], *, name: str = "network",
        recipe: dict[str, Any] | None = None, top5_error: dict[str, float] | None = None,
    ) -> None:  # fmt: skip
        self.layers = tuple(_named(layers))
        self.input_shape, self.name = tuple(int(n) for n in input_shape), name
        self.recipe, self.top5_error = dict(recipe or {}), dict(top5_error or {})
        self.shapes()

    def __repr__(self) -> str:
        return f"Network({self.name!r}, {len(self.layers)} layers, input {self.input_shape})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.layers, self.input_shape))

    def __len__(self) -> int:
        return len(self.layers)

    def _walk(self) -> Any:
        """Yield name, layer, shape before and after."""
        before, last = self.input_shape, "the input"
        for name, layer in self.layers:
            try:
                after = layer.shape(before)
            except DataError as error:
                raise DataError(
                    f"layer {name!r} cannot follow {last}, whose shape is {before}: {error}"
                ) from None
            yield name, layer, before, after
            before, last = after, f"layer {name!r}"

    def shapes(self) -> list[Shape]:
        """Return the shape after every layer."""
        return [after for _, _, _, after in self._walk()]

    @property
    def output_shape(self) -> Shape:
        """Shape of the result of one row."""
        found = self.shapes()
        return found[-1] if found else self.input_shape

    def describe(self, *, bytes_per_value: int = 4, count_norm: bool = False) -> Account:
        """Return what the network costs: shapes, values, weights, multiply-adds and receptive fields, layer by layer.

        The receptive field grows as r ← r + (f−1)·j with j ← j·s for a window of f entries and stride s; multiply-adds
        are weights times places. Closed form: no module is built. The account is text when printed, a table by
        ``to_frame()``, and ``account["conv1"]`` is a line.

        Parameters
        ----------
        bytes_per_value : int, default=4
        count_norm : bool, default=False
            Whether values after normalization layers are counted as memory too.

        Examples
        --------
        >>> from gnomon.neural import architecture
        >>> account = architecture("lenet5").describe()
        >>> account.parameters, account.multiply_adds, account["conv3"].receptive_field
        (61706, 416520, 32)
        """
        rows = [LayerAccount("input", "", self.input_shape, math.prod(self.input_shape), 0, 0, 0, 1, 1)]
        field: int | None = 1
        jump: int | None = 1
        for name, layer, before, after in self._walk():
            cost = layer.cost(before) if isinstance(layer, Layer) else _foreign(layer, before)
            if layer.is_norm and count_norm:
                cost = cost + Cost(activations=math.prod(after))
            if layer.window is None:
                field, jump = None, None
            elif field is not None and jump is not None:
                size, stride = layer.window
                field, jump = field + (size - 1) * jump, jump * stride
            rows.append(LayerAccount(name, repr(layer), after, *cost, field, jump))
        return Account(rows, bytes_per_value)

    def build(self, device: str = "cpu", dtype: Any = None) -> Any:
        """Return a `torch.nn.Sequential` whose parts have the names of the layers."""
        torch = import_torch("Network.build")
        module = torch.nn.Sequential()
        for name, layer, before, _ in self._walk():
            module.add_module(name, layer.build(before))
        return module.to(device=device, dtype=dtype)

    def to_text(self) -> str:
        """Return the account as text."""
        return f"{self.name}\n{self.describe()!r}"


def _named(layers: Sequence[Any]) -> Any:
    """Give every layer a name: its own, or its kind and a number."""
    counts: dict[str, int] = {}
    for layer in layers:
        if isinstance(layer, tuple):
            yield layer
            continue
        if not hasattr(layer, "shape") or not hasattr(layer, "cost"):
            raise TypeError(
                f"{layer!r} is no layer: take one of gnomon.neural.layers, or a class with shape, cost and build."
            )
        counts[layer.kind] = counts.get(layer.kind, 0) + 1
        yield f"{layer.kind}{counts[layer.kind]}", layer


def _foreign(layer: Any, before: Shape) -> Cost:
    return Cost(*layer.cost(before))
