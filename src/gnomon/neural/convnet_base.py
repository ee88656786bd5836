"""Convolutional networks as estimators: any stack of layers, a named architecture, or a torch module of one's own."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np

from gnomon.core.devices import device_of, import_torch, torch_session
from gnomon.core.errors import DataError
from gnomon.core.images import FORMATS, Images, read_images
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.settings import check_parameters
from gnomon.core.validate import check_fitted
from gnomon.neural.layer_kinds import Conv1d, Dense
from gnomon.neural.named import architecture
from gnomon.neural.network import Network
from gnomon.neural.training import PREDICT_ROWS, TRAINING, TorchLearner, TorchState, TorchWork


class ImageNetwork(TorchLearner):
    """What classifier and regressor of images share."""

    _target: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TRAINING,
        "layers": [str, list, tuple, Network, callable],
        "augment": [None, HasMethods(["draw", "apply"])],
        "input_shape": [None, "array-like"],
        "data_format": [StrOptions(set(FORMATS))],
        "shuffle": ["boolean"],
        "compile": ["boolean", StrOptions({"default", "reduce-overhead", "max-autotune"})],
    }

    # data

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from images.

        Parameters
        ----------
        X : array (n, height, width), (n, channels, height, width), or flat rows with `input_shape`
            Bytes are divided by 255. Signals (n, length) or (n, channels, length) for stacks of Conv1d.
        y : array (n,)
        sample_weight : array (n,), optional

        Returns
        -------
        self
        """
        return self._learn(self._images(X, y, sample_weight), X=X, y=y, sample_weight=sample_weight)

    def iterate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Yield a fitted copy of the model at the start and after every epoch."""
        yield from self._iterate(self._images(X, y, sample_weight))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one epoch on these images, going on from what was learned, optimizer and all.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All labels that will come, at the first call of a classifier.

        Returns
        -------
        self
        """
        known = getattr(self, "classes_", classes)
        return self._one_epoch(self._images(X, y, sample_weight, classes=known))

    def _images(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Images:
        check_parameters(self)
        options = {"target": self._target, "classes": classes, **self._form()}
        return read_images(X, y, sample_weight, **options)

    def _form(self) -> dict[str, Any]:
        return {"dims": self._dims(), "input_shape": self.input_shape, "data_format": self.data_format}

    def _dims(self) -> int:
        layers = self.layers.layers if isinstance(self.layers, Network) else self.layers
        if isinstance(layers, list | tuple):
            kinds = [layer[1] if isinstance(layer, tuple) else layer for layer in layers]
            return 1 if any(isinstance(kind, Conv1d) for kind in kinds) else 2
        return 2

    def _query(self, X: Any) -> Array:
        check_fitted(self)
        return read_images(X, shape=self.image_shape_, **self._form()).X

    # hooks

    def _outputs(self, data: Images) -> int:
        raise NotImplementedError

    def _work(self, data: Images, device: Any) -> TorchWork:
        torch = import_torch()
        dtype = self._dtype()
        facts = {"image_shape": data.X.shape[1:], "n_outputs": self._outputs(data)}
        self._network(facts)  # says now what does not fit
        if data.is_weighted:
            data = data.take(np.flatnonzero(data.weight))  # a weight of zero: the image is not there
        X = torch.as_tensor(data.X, device=device, dtype=dtype)
        kind = torch.int64 if self._target == "class" else dtype
        y = torch.as_tensor(np.asarray(data.y), device=device, dtype=kind)
        weight = torch.as_tensor(data.weight, device=device, dtype=dtype) if data.is_weighted else None
        return TorchWork((X, y), weight, facts, device, len(data), data)

    def _network(self, facts: dict[str, Any]) -> Network | None:
        """Return the layers for images of this shape; None where a module of the user's stands for them."""
        layers, shape, outputs = self.layers, tuple(facts["image_shape"]), facts["n_outputs"]
        if isinstance(layers, str):
            return architecture(layers, n_classes=outputs, input_shape=shape)
        if isinstance(layers, Network):
            layers = list(layers.layers)
        if not isinstance(layers, list | tuple):
            return None
        network = Network(list(layers), shape)
        if network.output_shape != (outputs,):
            last = network.layers[-1]
            if isinstance(last[1], Dense) and isinstance(self.layers, Network):
                network = Network([*network.layers[:-1], (last[0], Dense(outputs))], shape)
            else:
                network = Network([*network.layers, ("output", Dense(outputs))], shape)
        return network

    def _module(self, facts: dict[str, Any]) -> Any:
        network = self._network(facts)
        if network is not None:
            return network.build(device=None)
        torch = import_torch()
        if isinstance(self.layers, torch.nn.Module):
            return copy.deepcopy(self.layers)
        module = self.layers()
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"layers() must return a torch.nn.Module; it returned {type(module).__name__}.")
        return module

    def _facts_of(self, state: TorchState) -> dict[str, Any]:
        network = self._network(state.facts)
        found = {"module_facts_": state.facts}
        return found if network is None else {**found, "network_": network}

    def _begin_epoch(self, work: TorchWork, state: TorchState, rng: Any) -> None:
        state.changes = None if self.augment is None else self.augment.draw(work.n, rng)

    def _update(self, work: TorchWork, state: TorchState, units: Any) -> tuple[Any, Any]:
        if self.augment is not None:
            torch = import_torch()
            changed = self.augment.apply(work.raw.X[units], state.changes, units)
            X = torch.as_tensor(changed, device=work.device, dtype=work.parts[0].dtype)
            index = torch.as_tensor(units, device=work.device)
            weight = None if work.weight is None else work.weight[index]
            work = work._replace(parts=(X, work.parts[1][index]), weight=weight)
            units = slice(None)
        return super()._update(work, state, units)

    def _pick(self, work: TorchWork, units: Any) -> tuple[Any, Any, Any]:
        if isinstance(units, slice):
            return (*work.parts, work.weight)
        index = import_torch().as_tensor(units, device=work.device)
        weight = None if work.weight is None else work.weight[index]
        return work.parts[0][index], work.parts[1][index], weight

    def _batches(self, work: TorchWork, order: Array) -> Any:
        if self.augment is None:  # else images are changed before they go to the device
            order = import_torch().as_tensor(order, device=work.device)
        return super()._batches(work, order)

    def _scores(self, X: Any) -> Array:
        values = self._query(X)
        device = device_of(self.device)
        torch = import_torch()
        with torch_session(device), torch.inference_mode():
            module = self._fitted_module(
                device
            ).double()  # so that an image alone is answered as among others
            parts = [
                module(
                    torch.as_tensor(values[at : at + PREDICT_ROWS], device=device, dtype=torch.float64)
                ).cpu()
                for at in range(0, len(values), PREDICT_ROWS)
            ]
        return torch.cat(parts).numpy()

    # looking inside

    def _layer_values(self, X: Any, layer: Any) -> Any:
        """Return the values after a layer, as a tensor."""
        torch = import_torch()
        module, name = self._fitted_module(), self._layer_name(layer)
        values = torch.as_tensor(self._query(X), dtype=self._dtype())
        with torch_session(torch.device("cpu")), torch.no_grad():
            for part_name, part in module.named_children():
                values = part(values)
                if part_name == name:
                    return values
        raise DataError(f"the network has no layer {name!r}.")

    def _layer_name(self, layer: Any) -> str:
        names = [name for name, _ in self._fitted_module().named_children()]
        if isinstance(layer, int):
            if not -len(names) <= layer < len(names):
                raise ValueError(f"layer must be below {len(names)}, the number of layers; got {layer}.")
            return names[layer]
        if layer not in names:
            raise ValueError(f"layer must be one of {names}; got {layer!r}.")
        return str(layer)

    def activation_maps(self, X: Any, layer: Any = 0) -> Array:
        """Return the values after a layer: (n, channels, height, width) behind a convolution.

        Parameters
        ----------
        X : images as in `fit`
        layer : int or str
            Place or name of the layer, as in ``network_``.
        """
        check_fitted(self)
        return np.asarray(self._layer_values(X, layer).numpy(), dtype=float)

    def filters(self, layer: Any = "conv1") -> Array:
        """Return the filters of a convolution: (filters, channels, height, width)."""
        check_fitted(self)
        name = self._layer_name(layer)
        found = [
            value for key, value in self.weights_.items() if key.startswith(f"{name}.") and value.ndim >= 3
        ]
        if not found:
            raise ValueError(f"layer {name!r} has no filters; take a convolution.")
        return np.asarray(found[0], dtype=float)

    def top_patches(self, X: Any, layer: Any = "conv1", unit: int = 0, k: int = 9) -> Array:
        """Return the k patches of the images that excite a unit most, one an image, strongest first.

        Parameters
        ----------
        X : images as in `fit`
        layer : int or str
            A layer with a receptive field.
        unit : int
            Channel of that layer.
        k : int, default=9
        """
        maps = self.activation_maps(X, layer)
        _check_unit(unit, maps.shape[1])
        row = self.network_.describe()[self._layer_name(layer)]
        if row.receptive_field is None or maps.ndim != 4:
            raise ValueError(f"layer {row.name!r} sees the whole image; take one with feature maps.")
        values, size = self._query(X), row.receptive_field
        peaks = maps[:, unit].reshape(len(maps), -1)
        chosen = np.argsort(-peaks.max(axis=1), kind="stable")[:k]
        padded = np.pad(values, ((0, 0), (0, 0), (size, size), (size, size)))
        found = []
        for i in chosen:
            y, x = np.unravel_index(peaks[i].argmax(), maps.shape[2:])
            center = [
                int((at + 0.5) * side / count)
                for at, side, count in zip((y, x), values.shape[2:], maps.shape[2:])
            ]
            top, left = (c - size // 2 + size for c in center)
            found.append(padded[i, :, top : top + size, left : left + size])
        return np.stack(found).astype(float)

    def maximize_unit(
        self,
        layer: Any = -1,
        unit: int = 0,
        *,
        steps: int = 100,
        rate: float = 0.1,
        penalty: float = 0.01,
        random_state: int = 0,
    ) -> Array:
        """Return an image that excites a unit, by gradient ascent from noise with a penalty on its size.

        Parameters
        ----------
        layer : int or str
        unit : int
            Channel, or output, of that layer; the mean over places is raised.
        steps, rate, penalty : int, float, float
        random_state : int
        """
        check_fitted(self)
        torch, name = import_torch(), self._layer_name(layer)
        module = self._fitted_module()
        start = np.random.default_rng(random_state).normal(0.0, 0.1, size=(1, *self.image_shape_))
        image = torch.tensor(start, dtype=self._dtype(), requires_grad=True)
        with torch_session(torch.device("cpu")):
            for _ in range(steps):
                value = image
                for part_name, part in module.named_children():
                    value = part(value)
                    if part_name == name:
                        break
                _check_unit(unit, value.shape[1])
                goal = value[0, unit].mean() - penalty * (image**2).sum()
                (slope,) = torch.autograd.grad(goal, image)
                with torch.no_grad():
                    image += rate * slope / (slope.norm() + 1e-12) * np.sqrt(image.numel()) * 0.1
        return image.detach().numpy()[0].astype(float)

    def describe(self) -> Any:
        """Return the account of the fitted network: shapes, weights, memory, receptive fields."""
        check_fitted(self)
        if not hasattr(self, "network_"):
            raise ValueError(
                "layers is a torch module of your own; only layers of gnomon.neural have an account."
            )
        return self.network_.describe()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags


def _check_unit(unit: int, count: int) -> None:
    if not 0 <= unit < count:
        raise ValueError(f"unit must be below {count}; got {unit}.")
