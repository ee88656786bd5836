"""Networks of agents: trained by PyTorch, acted on by NumPy. Torch is imported inside functions only."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, ModelFileError, WorldError
from gnomon.core.linalg import Array
from gnomon.core.world import EnvironmentWorld, Process
from gnomon.decide.evaluation import softmax
from gnomon.decide.planners import one_world
from gnomon.decide.policies import Acting

ACTIVATIONS = ("relu", "tanh")


def import_torch() -> Any:
    """Return PyTorch, or say how to get it."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("networks are trained by PyTorch: pip install 'gnomon[neural]'.") from error
    return torch


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let PyTorch use one thread inside: the networks are small, and the same bits come out everywhere."""
    torch = import_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Sight(NamedTuple):
    """How an observation becomes a vector: numbers become one-hot, arrays are flattened."""

    size: int
    n: int  # number of observations, 0 for arrays
    sizes: tuple[int, ...] | None = None
    dtype: str = "float64"  # "float32" where the environment shows no more than that

    def vector(self, observation: Any) -> Array:
        """Return one observation as a vector."""
        if self.n:
            from gnomon.core.world import numbered

            x = np.zeros(self.n, dtype=self.dtype)
            x[numbered(observation, self.sizes)] = 1.0
            return x
        x = np.asarray(observation, dtype=self.dtype).ravel()
        if len(x) != self.size:
            raise WorldError(f"an observation has {len(x)} numbers, and those before had {self.size}.")
        if not np.isfinite(x).all():
            raise WorldError("an observation has NaN or infinite entries.")
        return x


def sight_of(world: Any) -> Sight:
    """Return how the observations of a world are seen."""
    if isinstance(world, Process):
        return Sight(world.n_states, world.n_states)
    space = world.env.observation_space
    shape = getattr(space, "shape", None)
    if hasattr(space, "n") or hasattr(space, "spaces") or hasattr(space, "nvec"):
        return Sight(world.n_states, world.n_states, world.sizes)
    if not shape and shape != ():
        raise DataError(f"the observation space {space} has no shape; give arrays or numbers.")
    shown = np.result_type(getattr(space, "dtype", None) or np.float64, np.float32)
    dtype = "float32" if shown == np.float32 else "float64"
    return Sight(int(np.prod(shape)) if shape else 1, 0, dtype=dtype)


def listed(observations: Any, sight: Sight) -> list[Any]:
    """Return observations one by one; a process stands for all of its states."""
    world = one_world(observations)
    if isinstance(world, Process):
        if world.n_states != sight.n:
            raise DataError(
                f"the process has {world.n_states} states, and the agent learned to see "
                + (f"{sight.n}." if sight.n else f"vectors of {sight.size} numbers.")
            )
        return list(range(world.n_states))
    values = np.asarray(observations)
    return [values] if values.ndim == 0 else list(values)


def single_envs(world: Any, count: int) -> list[Any]:
    """Return environments to play in side by side: those of a vector, or copies of one."""
    if isinstance(world, Process):
        env: Any = world.to_env()  # type: ignore[attr-defined]
    else:
        env = world.env
    if hasattr(env, "envs"):
        return list(env.envs)
    if hasattr(env, "num_envs"):
        raise DataError(
            "give a SyncVectorEnv, or a single environment and n_envs: episodes are seeded one by one."
        )
    return [env, *(copy.deepcopy(env) for _ in range(count - 1))]


def unvectored(world: EnvironmentWorld | Process) -> Any:
    """Return a world of single environments for one of a vector."""
    env = getattr(world, "env", None)
    if env is not None and hasattr(env, "single_observation_space"):
        inner = EnvironmentWorld(env.envs[0]) if hasattr(env, "envs") else None
        if inner is None:
            raise DataError(
                "give a SyncVectorEnv, or a single environment and n_envs: episodes are seeded one by one."
            )
        return inner
    return world


def first_weights(
    sizes: list[int],
    rng: Any,
    *,
    bias_first: bool = True,
    last_gain: float | None = None,
    dtype: str = "float64",
) -> list[Array]:
    """Return weights and biases to begin with: uniform ±1/√fan-in, or orthogonal where a last gain is given."""
    found: list[Array] = []
    for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        last = i == len(sizes) - 2
        if last_gain is not None:
            W = _orthogonal(n, m, rng) * (last_gain if last else np.sqrt(2.0))
            b = np.zeros(n)
        else:
            reach = 0.0 if len(sizes) == 2 else 1.0 / np.sqrt(m)
            W, b = rng.uniform(-reach, reach, size=(n, m)), rng.uniform(-reach, reach, size=n)
        found.append(W.astype(dtype))
        if i or bias_first:
            found.append(b.astype(dtype))
    return found


def _orthogonal(n: int, m: int, rng: Any) -> Array:
    q, r = np.linalg.qr(rng.standard_normal((max(n, m), min(n, m))))
    q = q * np.sign(np.diag(r))
    return np.ascontiguousarray(q if n >= m else q.T)


class Net:
    """A multilayer perceptron whose weights PyTorch trains and NumPy reads, in the same memory."""

    def __init__(
        self, weights: list[Array], activation: str, *, dueling: bool = False, bias_first: bool = True
    ) -> None:
        torch = import_torch()
        self.activation, self.dueling, self.bias_first = activation, dueling, bias_first
        self.tensors = [torch.tensor(w, requires_grad=True) for w in weights]
        self.arrays = [one.detach().numpy() for one in self.tensors]
        self._act = torch.relu if activation == "relu" else torch.tanh

    def __call__(self, x: Any) -> Any:
        torch = import_torch()
        parts = list(_layers(self.tensors, self.bias_first))
        for i, (W, b) in enumerate(parts):
            x = torch.nn.functional.linear(x, W, b)
            if i < len(parts) - 1:
                x = self._act(x)
        if self.dueling:
            return x[..., :1] + x[..., 1:] - x[..., 1:].mean(dim=-1, keepdim=True)
        return x

    def numbers(self, x: Array) -> Array:
        """Return the outputs for one vector or many, by NumPy."""
        return forward(self.arrays, x, self.activation, self.dueling, self.bias_first)

    def copy_from(self, other: Net) -> None:
        """Take over the weights of another network."""
        for mine, theirs in zip(self.arrays, other.arrays, strict=True):
            mine[...] = theirs

    def weights(self) -> list[Array]:
        """Return copies of the weights."""
        return [one.copy() for one in self.arrays]


def _layers(weights: list[Any], bias_first: bool) -> Iterator[tuple[Any, Any]]:
    rest = list(weights)
    if not bias_first:
        yield rest.pop(0), None
    for i in range(0, len(rest), 2):
        yield rest[i], rest[i + 1]


def forward(weights: list[Array], x: Array, activation: str, dueling: bool, bias_first: bool) -> Array:
    """Return the outputs of a network."""
    parts = list(_layers(weights, bias_first))
    for i, (W, b) in enumerate(parts):
        x = x @ W.T if b is None else x @ W.T + b
        if i < len(parts) - 1:
            x = np.maximum(x, 0.0) if activation == "relu" else np.tanh(x)
    if dueling:
        return x[..., :1] + x[..., 1:] - x[..., 1:].mean(axis=-1, keepdims=True)
    return x


def check_weights(weights: Any, width: int, bias_first: bool) -> int:
    """Return how many outputs the weights of a network have; refuse those that do not fit together."""
    fine = isinstance(weights, list) and len(weights) % 2 == (0 if bias_first else 1) and len(weights) > 0
    fine = fine and all(isinstance(w, np.ndarray) and w.dtype in (np.float32, np.float64) for w in weights)
    if not fine or not all(np.isfinite(w).all() for w in weights):
        raise ModelFileError("the weights of its network are no finite arrays of layers.")
    for W, b in _layers(weights, bias_first):
        if W.ndim != 2 or W.shape[1] != width or (b is not None and b.shape != (len(W),)):
            raise ModelFileError("the weights of its network do not fit together.")
        width = len(W)
    return int(width)


def check_fitted_network(agent: Any, more: int = 0) -> None:
    """Refuse an agent read from a file whose network does not fit its actions; `more` outputs are none of them."""
    policy = vars(agent).get("policy_")
    if isinstance(policy, NetworkPolicy):
        outputs = check_weights(agent.weights_, policy.sight.size, bool(policy.bias_first))
        if outputs != len(policy.weights[-1]) or outputs != int(agent.n_actions_) + more:
            raise ModelFileError("the outputs of its network do not fit its actions.")


class NetworkPolicy(Acting):
    """A policy given by a network: the action of the largest output, or drawn from their softmax."""

    def __init__(
        self,
        weights: list[Array],
        sight: Sight,
        activation: str,
        *,
        dueling: bool = False,
        bias_first: bool = True,
        stochastic: bool = False,
    ) -> None:
        self.weights, self.sight, self.activation = weights, sight, activation
        self.dueling, self.bias_first, self.stochastic = dueling, bias_first, stochastic

    def outputs(self, observation: Any) -> Array:
        """Return the network's outputs: action values, or logits."""
        return forward(
            self.weights, self.sight.vector(observation), self.activation, self.dueling, self.bias_first
        )

    def probabilities(self, observation: Any) -> Array:
        """Return the softmax of the outputs."""
        return softmax(self.outputs(observation))

    def act(self, observation: Any, rng: Any = None, *, step: int = 0) -> int:
        """Return an action."""
        found = self.outputs(observation)
        if self.stochastic and rng is not None:
            return int(
                min(np.searchsorted(np.cumsum(softmax(found)), rng.random(), side="right"), len(found) - 1)
            )
        return int(found.argmax())

    def _check_loaded(self) -> None:
        """Refuse weights that are no network for what the policy sees."""
        if self.activation not in ACTIVATIONS or not isinstance(self.sight, Sight):
            raise ModelFileError("it holds a network whose activation or input is unknown.")
        outputs = check_weights(self.weights, self.sight.size, bool(self.bias_first))
        if self.sight.n not in (0, self.sight.size) or outputs < 1 + bool(self.dueling):
            raise ModelFileError("it holds a network whose inputs or outputs do not fit its observations.")

    def __repr__(self) -> str:
        return f"NetworkPolicy({self.sight.size} inputs, {len(self.weights)} arrays of weights)"


def make_optimizer(name: str, tensors: list[Any], rate: float) -> Any:
    """Return an optimizer of PyTorch's."""
    torch = import_torch()
    if name == "sgd":
        return torch.optim.SGD(tensors, lr=rate)
    return torch.optim.Adam(tensors, lr=rate, eps=1e-5 if name == "adam-ppo" else 1e-8, fused=True)


def optimizer_arrays(optimizer: Any) -> list[Any]:
    """Return what an optimizer remembers, as arrays."""
    return [
        {key: value.numpy().copy() for key, value in optimizer.state[one].items() if value is not None}
        for group in optimizer.param_groups
        for one in group["params"]
        if optimizer.state.get(one) is not None
    ]


def restore_optimizer(optimizer: Any, kept: list[Any]) -> None:
    """Give an optimizer its memory back."""
    torch = import_torch()
    tensors = [one for group in optimizer.param_groups for one in group["params"]]
    for one, parts in zip(tensors, kept, strict=False):
        for name, value in parts.items():  # PyTorch would write as many numbers as there are weights
            if np.shape(value) != (() if name == "step" else tuple(one.shape)):
                raise ModelFileError("what its optimizer remembers does not fit its weights. Fit anew.")
        if parts:
            optimizer.state[one] = {key: torch.from_numpy(np.array(value)) for key, value in parts.items()}
