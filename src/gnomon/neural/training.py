"""Training on PyTorch: what every network of torch modules shares. One epoch is one step of the library's loop."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.devices import DEVICES, device_of, import_torch, torch_session
from gnomon.core.errors import DataError, DivergenceError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.steps import Learner, Report
from gnomon.core.threads import thread_count, threads
from gnomon.core.trace import Trace
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.neural.batch_losses import mean_of
from gnomon.neural.earlier import check_same_kind
from gnomon.neural.torch_weights import arrays_of, load_optimizer, load_weights, place_weights, plain
from gnomon.solvers.schedules import Constant, InverseDecay, Schedule

LOWEST_RATE = 1e-6  # below which a rate is not divided any more
SOLVERS = ("sgd", "adam", "adagrad")
RATES = ("constant", "inverse", "plateau")
PREDICT_ROWS = 1024  # at a time
SMALL = 1_000_000  # weights times units of a batch, below which threads wait longer than they work

TRAINING: dict[str, Any] = {  # rules for the parameters that every network has
    "solver": [StrOptions(set(SOLVERS))],
    "learning_rate": [StrOptions(set(RATES)), Schedule],
    "learning_rate_init": [POSITIVE],
    "momentum": [Interval(Real, 0, 1, closed="left")],
    "weight_decay": [NOT_NEGATIVE],
    "batch_size": [COUNT],
    "max_iter": [COUNT],
    "tol": [NOT_NEGATIVE],
    "n_iter_no_change": [COUNT],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "clip_norm": [None, POSITIVE],
    "warm_start": ["boolean"],
    "random_state": ["random_state"],
    "device": [StrOptions(set(DEVICES))],
    "precision": [StrOptions({"float32", "float64", "mixed"})],
}


class TorchWork(NamedTuple):
    """The data of a fit on its device."""

    parts: tuple[Any, ...]  # tensors or lists, one entry a unit
    weight: Any  # (n,)
    facts: dict[str, Any]  # what the module is built from
    device: Any
    n: int
    raw: Any = None  # the data as they were read


class TorchState:
    """Where training stands. The module and its optimizer are changed in place; a snapshot is not."""

    def __init__(self, module: Any, optimizer: Any, seed: int, rate: float, facts: dict[str, Any]) -> None:
        self.module, self.optimizer, self.seed, self.rate, self.facts = module, optimizer, seed, rate, facts
        self.trained = module  # or a compiled form of it, with the same weights
        self.epoch = 0
        self.step = 0
        self.stale = 0
        self.best: dict[str, Array] | None = None
        self.best_score = -math.inf
        self.best_loss = math.inf
        self.losses: list[float] = []


class TorchLearner(Learner):
    """A network of torch modules.

    Subclasses write `_read_work`, `_module` and `_batch_loss`.
    """

    _monotone: ClassVar[bool] = False
    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "epoch"
    _promises: ClassVar[Promises] = Promises(
        order="statistical: units are dealt into batches in their order",
        weights="statistical: a unit of weight two is in one batch, a unit given twice may be in two",
        threads="statistical: PyTorch adds in an order that depends on the number of threads",
    )

    # what a subclass writes

    def _work(self, data: Any, device: Any) -> TorchWork:
        """Return the data as tensors on the device."""
        raise NotImplementedError

    def _module(self, facts: dict[str, Any]) -> Any:
        """Return a fresh module for data of which these facts are known."""
        raise NotImplementedError

    def _batch_loss(self, module: Any, work: TorchWork, units: Any, epoch: int) -> tuple[Any, Any]:
        """Return the mean loss of some units, a tensor, and what they weigh, a number or a tensor."""
        raise NotImplementedError

    def _score_module(self, module: Any, work: TorchWork, units: Any) -> float | None:
        """Return the score on held-out units; None: minus their loss is taken."""
        return None

    def _facts_of(self, state: TorchState) -> dict[str, Any]:
        """Return more learned attributes."""
        return {}

    # hooks of the loop

    def _prepare(self, data: Any) -> TorchWork:
        device = device_of(self.device, type(self).__name__)
        if self.warm_start and hasattr(self, "weights_"):
            check_same_kind(self, data.facts())
        with torch_session(device):
            return self._work(data, device)

    def _start(self, work: TorchWork, rng: Any) -> TorchState:
        return self._new_state(work, draw_seed(rng), None)

    def _new_state(self, work: TorchWork, seed: int, weights: dict[str, Array] | None) -> TorchState:
        with torch_session(work.device, _torch_seed(seed, 0)):
            module = self._module(work.facts).to(work.device, self._dtype())
            self._initialize(module)
        if weights is not None:
            load_weights(module, weights)
        state = TorchState(module, self._optimizer(module), seed, float(self.learning_rate_init), work.facts)
        if getattr(self, "compile", False):
            mode = "reduce-overhead" if self.compile is True else self.compile
            state.trained = import_torch().compile(module, mode=mode)
        return state

    def _initialize(self, module: Any) -> None:
        """Change the starting weights that PyTorch has drawn."""

    def _step(self, work: TorchWork, state: Any) -> tuple[Any, Report]:
        if isinstance(state, dict):  # an earlier fit to go on from
            state = self._awake(work, state)
        with threads(self._crew(state)), torch_session(work.device, _torch_seed(state.seed, state.epoch + 1)):
            loss, info = self._epoch(work, state)
        return state, self._judge(state, loss, info)

    def _epoch(self, work: TorchWork, state: TorchState) -> tuple[float, dict[str, float]]:
        train, held = self._split(work, state.seed)
        rng = stream(state.seed, state.epoch + 1)
        order = rng.permutation(train) if getattr(self, "shuffle", True) else train
        self._begin_epoch(work, state, rng)
        state.module.train()
        losses, masses = [], []
        for units in self._batches(work, order):
            self._set_rate(state)
            loss, mass = self._update(work, state, units)
            losses.append(loss)
            masses.append(mass)
            state.step += 1
        state.epoch += 1
        value = mean_of(losses, masses)  # the device is waited for once an epoch
        if not math.isfinite(value):
            raise self._divergence(state, value)
        info = self._validate(work, state, held) if held is not None else {}
        state.losses.append(value)
        return value, info

    def _crew(self, state: TorchState) -> int:
        """Return the number of threads for an epoch: one for a small network."""
        weights = sum(p.numel() for p in state.module.parameters())
        return 1 if weights * self.batch_size < SMALL else thread_count()

    def _begin_epoch(self, work: TorchWork, state: TorchState, rng: Any) -> None:
        """Draw what an epoch needs beside the order of its units."""

    def _update(self, work: TorchWork, state: TorchState, units: Any) -> tuple[Any, Any]:
        """Make one update; return the mean loss and what the units weigh."""
        torch = import_torch()
        state.optimizer.zero_grad(set_to_none=True)
        mixed = self.precision == "mixed"
        with torch.autocast(work.device.type, torch.bfloat16) if mixed else nullcontext():
            loss, mass = self._batch_loss(state.trained, work, units, state.epoch)
        loss.backward()
        if self.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(state.module.parameters(), self.clip_norm)
        state.optimizer.step()
        return loss.detach(), mass

    def _divergence(self, state: TorchState, value: float) -> DivergenceError:
        slopes = [p.grad.abs().max() for p in state.module.parameters() if p.grad is not None]
        steepest = max((float(slope) for slope in slopes), default=math.nan)
        return DivergenceError(
            f"the loss of {type(self).__name__} is {value} in epoch {state.epoch}: learning_rate_init="
            f"{self.learning_rate_init:g}, largest slope {steepest:.3g}. Lower learning_rate_init, "
            "set clip_norm, or scale X."
        )

    def _judge(self, state: TorchState, loss: float, info: dict[str, float]) -> Report:
        if "validation_score" in info or "validation_loss" in info:
            score = info.get("validation_score", -info["validation_loss"])
            better = score > state.best_score + self.tol
            if score > state.best_score or state.best is None:
                state.best_score, state.best = score, arrays_of(state.module)
        else:
            better = loss < state.best_loss - self.tol
        state.best_loss = min(state.best_loss, loss)
        state.stale = 0 if better else state.stale + 1
        done = state.stale > self.n_iter_no_change
        if done and self.learning_rate == "plateau" and state.rate > LOWEST_RATE:
            state.rate, state.stale, done = state.rate / 10.0, 0, False
        return Report(loss, done=done, info=info)

    def _finish(self, work: TorchWork, state: Any) -> Any:
        if isinstance(state, TorchState) and state.best is not None:
            load_weights(state.module, state.best)
        return state

    def _attributes(self, state: Any) -> dict[str, Any]:
        if isinstance(state, dict):
            return {**state["facts_of"], "weights_": state["weights"], "optimizer_": state["optimizer"]}
        kept = {"seed": state.seed, "epoch": state.epoch, "step": state.step, "rate": state.rate}
        kept["state"] = plain(state.optimizer.state_dict()["state"])
        losses = {"loss_curve_": list(state.losses)}
        return {**losses, **self._facts_of(state), "weights_": arrays_of(state.module), "optimizer_": kept}

    def _snapshot(self, state: Any) -> Any:
        if isinstance(state, dict):
            return state
        return {
            "weights": arrays_of(state.module), "optimizer": plain(state.optimizer.state_dict()["state"]),
            "seed": state.seed, "rate": state.rate, "epoch": state.epoch, "step": state.step, "stale": state.stale,
            "best": state.best, "best_score": state.best_score, "best_loss": state.best_loss,
            "losses": list(state.losses),
        }  # fmt: skip

    def _restore(self, work: TorchWork, tree: dict[str, Any]) -> Any:
        if "facts_of" in tree:
            return tree
        state = self._new_state(work, tree["seed"], tree["weights"])
        load_optimizer(state.optimizer, tree["optimizer"])
        for name in ("rate", "epoch", "step", "stale", "best", "best_score", "best_loss", "losses"):
            setattr(state, name, tree[name])
        return state

    def _state(self) -> dict[str, Any]:
        """Go on from the weights of the earlier fit, with a new optimizer."""
        names = set(vars(self)) - {"trace_", "n_iter_", "converged_", "weights_", "optimizer_"}
        facts = {name: getattr(self, name) for name in names if name.endswith("_")}
        return {"weights": self.weights_, "optimizer": self.optimizer_, "facts_of": facts}

    def _awake(self, work: TorchWork, kept: dict[str, Any], *, optimizer: bool = False) -> TorchState:
        """Return a state with the weights of an earlier fit, and its optimizer where asked for."""
        memory = kept["optimizer"]
        state = self._new_state(work, memory["seed"], kept["weights"])
        state.epoch, state.losses = memory["epoch"], list(kept["facts_of"].get("loss_curve_", []))
        if optimizer:
            load_optimizer(state.optimizer, memory["state"])
            state.step, state.rate = memory["step"], memory["rate"]
        return state

    def _one_epoch(self, data: Any) -> Any:
        """Make one epoch from where the last `partial_fit` ended, and keep the result."""
        with self._threads():
            work = self._prepare(data)
            if hasattr(self, "weights_"):
                state = self._awake(work, self._state(), optimizer=True)
            else:
                state = self._start(work, stream(draw_seed(generator(self.random_state)), 0))
            crew, seed = self._crew(state), _torch_seed(state.seed, state.epoch + 1)
            with threads(crew), torch_session(work.device, seed):
                self._epoch(work, state)
        known = {name: getattr(self, name) for name in ("classes_",) if hasattr(self, name)}
        learned = {
            **self._attributes(state),
            "n_iter_": state.epoch,
            "converged_": False,
            "trace_": Trace(state.losses, np.zeros(len(state.losses)), unit="epoch"),
        }
        self._adopt(learned, data)
        vars(self).update(known)
        return self

    def _warn_not_converged(self, run: Any) -> None:
        """Epochs are a budget: a network that used them up is no accident."""

    # pieces

    def _split(self, work: TorchWork, seed: int) -> tuple[Array, Array | None]:
        """Return the units to train on and those held out; the same at every epoch."""
        units = np.arange(work.n)
        if not self.early_stopping:
            return units, None
        count = max(1, round(self.validation_fraction * work.n))
        if count >= work.n:
            raise DataError(
                f"early_stopping holds out {count} of {work.n} units; give more data or set early_stopping=False."
            )
        mixed = stream(seed, 0).permutation(work.n)
        return np.sort(mixed[count:]), np.sort(mixed[:count])

    def _batches(self, work: TorchWork, order: Any) -> Iterator[Any]:
        """Yield the units of every batch. One unit that would be left alone goes into the batch before it."""
        n, size = len(order), self.batch_size
        ends = [*range(size, n, size), n]
        if n > size > 1 and n % size == 1:
            del ends[-2]  # batch normalization needs two
        return (order[begin:end] for begin, end in zip([0, *ends], ends))

    def _validate(self, work: TorchWork, state: TorchState, held: Array) -> dict[str, float]:
        torch = import_torch()
        state.module.eval()
        with torch.no_grad():
            found = [self._batch_loss(state.module, work, units, -1) for units in self._batches(work, held)]
            score = self._score_module(state.module, work, held)
        info = {"validation_loss": mean_of(*zip(*found))}
        return info if score is None else {**info, "validation_score": score}

    def _set_rate(self, state: TorchState) -> None:
        rule = self.learning_rate
        if rule == "plateau":
            rate = state.rate
        elif isinstance(rule, Schedule):
            rate = rule(state.step)
        else:
            made = InverseDecay if rule == "inverse" else Constant
            rate = made(float(self.learning_rate_init))(state.step)
        for group in state.optimizer.param_groups:
            group["lr"] = rate

    def _optimizer(self, module: Any) -> Any:
        optim = import_torch().optim
        parameters = [p for p in module.parameters() if p.requires_grad]
        options = {"lr": float(self.learning_rate_init), "weight_decay": float(self.weight_decay)}
        if self.solver == "sgd":
            return optim.SGD(parameters, momentum=self.momentum, fused=True, **options)
        if self.solver == "adagrad":
            return optim.Adagrad(parameters, eps=1e-10, **options)
        return optim.Adam(parameters, fused=True, **options)

    def _dtype(self) -> Any:
        torch = import_torch()
        return torch.float64 if self.precision == "float64" else torch.float32

    # after the fit

    def to_module(self) -> Any:
        """Return the fitted network as a `torch.nn.Module` of its own, ready to predict."""
        import copy

        return copy.deepcopy(self._fitted_module())

    def _fitted_module(self, device: Any = None) -> Any:
        """Return a module with the learned weights; it shares their memory on the CPU."""
        torch = import_torch(type(self).__name__)
        with torch.device("meta"):
            module = self._module(self._module_facts())
        place_weights(module, self.weights_, device or torch.device("cpu"))
        return module.eval()

    def _module_facts(self) -> dict[str, Any]:
        """Return what the module was built from, out of the learned attributes."""
        return dict(self.module_facts_)

    def export(self, path: Any) -> None:
        """Write the network for other programs: weights to ``.safetensors``, the computation to ``.onnx``.

        The second needs the package `onnxscript`; it is for networks of fixed input shape.
        """
        from gnomon.neural.exporting import export

        export(self, path)

    def _exported(self) -> tuple[dict[str, Array], tuple[int, ...] | None, str]:
        """Return the weights by name, the shape of one input where it is fixed, and what an input is called."""
        return self.weights_, getattr(self, "image_shape_", None), "images"

    def _check_loaded(self) -> None:
        if not hasattr(self, "weights_"):
            return
        try:
            self._fitted_module()
            outputs = self.module_facts_.get("n_outputs", self.module_facts_.get("outputs"))
            if outputs is not None and len(getattr(self, "classes_", range(outputs))) not in (
                outputs,
                outputs + 1,
            ):
                raise ValueError(f"{len(self.classes_)} classes for {outputs} scores")
        except ImportError:
            return  # nothing can be computed without PyTorch anyway
        except Exception as error:
            raise ModelFileError(f"its weights do not fit the network: {error}") from None


def _torch_seed(seed: int, index: int) -> int:
    return int(stream(seed, 10_000_000 + index).integers(0, 2**62))
