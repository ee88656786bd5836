"""The one door to Numba: how every loop of the library is compiled, and where the results are kept.

The folder of the cache carries a digest of the loop's file and of the loop files it imports, because Numba
alone does not notice that a function in another file changed and would go on returning the old answer. Where
no folder can be written, loops are compiled anew in every process; nothing fails.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numba
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic, overload

from gnomon.core.collector import collector_paused

try:  # inner classes, used for one known version alone
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.target_extension import jit_registry, target_registry
except ImportError:  # pragma: no cover - they have moved
    JITCodeLibrary = Compiler = object

log = logging.getLogger(__name__)

SAFE_FASTMATH = {"reassoc", "contract", "arcp", "nsz"}  # keeps NaN and infinities; lets sums be vectorized
CONTRACT = {"contract"}  # a product and a sum may be rounded once; sums keep their order


@lru_cache
def _digest(file: Path) -> str:
    """Name the content of a loop file and of every loop file it leans on."""
    content = b"".join(path.name.encode() + path.read_bytes() for path in sorted(_sources(file)))
    return hashlib.sha256(content + sys.version.encode()).hexdigest()[:16]


def _sources(file: Path) -> set[Path]:
    """Return `file` and the loop files that it imports, directly or not."""
    found, waiting = set(), [file, Path(__file__)]
    while waiting:
        path = waiting.pop()
        if path not in found and path.is_file():
            found.add(path)
            names = re.findall(r"^\s*from gnomon\.loops\.(\w+) import", path.read_text("utf-8"), re.MULTILINE)
            waiting += [path.with_name(f"{name}.py") for name in names]
    return found


def _cache_homes() -> list[Path]:
    """Folders to try, best first: the user's choice, the user's cache, the temporary folder."""
    chosen = os.environ.get("GNOMON_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    homes = [Path(chosen)] if chosen else []
    return [*homes, Path(user).expanduser() / "gnomon", Path(tempfile.gettempdir()) / f"gnomon-{_user()}"]


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except (OSError, RuntimeError):
        return False


@lru_cache(maxsize=1)
def _home() -> Path | None:
    """Return the folder under which compiled loops are kept, or None when none can be written."""
    home = next(filter(_writable, _cache_homes()), None)
    if home is None:
        log.info("no writable cache folder: loops are compiled anew in this process")
    return home


def _folder(file: Path) -> str:
    """Return the cache folder of the loops in `file`, or "" for none."""
    home = _home()
    return os.environ.get("NUMBA_CACHE_DIR") or (str(home / f"{file.stem}-{_digest(file)}") if home else "")


prange = numba.prange


@contextmanager
def _our_cache(folder: str) -> Iterator[None]:
    """Numba notes the cache folder when a function is decorated; other libraries keep theirs."""
    before, config.CACHE_DIR = config.CACHE_DIR, folder
    try:
        yield
    finally:
        config.CACHE_DIR = before


class _LoopCode(JITCodeLibrary):  # type: ignore[misc]
    """Code whose functions share one list of passes: Numba makes a list for each, even for those only declared."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class _PartCode(_LoopCode):
    """Code that other code takes in: it is optimized and made machine code there, not here and there.

    It stays bitcode, so there is no address to ask for and no environment to set; its own code generator is
    asked for the latter alone, and it answers itself.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """A part has no objects of Python's to find."""


class _LoopCompiler(Compiler):  # type: ignore[misc]
    """What a loop takes in of Numba's own functions is compiled as a part of it."""

    code = _LoopCode

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = self.code(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()

    def _compile_core(self) -> Any:
        with collector_paused(), _parts_of_numba(), _memory_of_types(), _constant_text_of_shapes():
            return super()._compile_core()


class _PartCompiler(_LoopCompiler):
    code = _PartCode


@contextmanager
def _parts_of_numba() -> Iterator[None]:
    """Numba compiles its functions for arrays by the decorator that it has on its list; C does not call them."""
    cpu = target_registry["cpu"]
    before = jit_registry.pop(cpu)
    jit_registry[cpu] = partial(numba.jit, pipeline_class=_PartCompiler, no_cfunc_wrapper=True)
    try:
        yield
    finally:
        jit_registry.pop(cpu)
        jit_registry[cpu] = before


def _remembered(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Type an operation on the same types once: Numba would ask dozens of rules about it at each place, many times.

    What needs code compiled for it (its key is not the operator) is asked for every time.
    """
    known: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()

    def get_call_type(function: Any, context: Any, arguments: Any, named: Any) -> Any:
        if named or getattr(function.typing_key, "__module__", "") not in ("_operator", "builtins"):
            return ask(function, context, arguments, named)
        answers = known.setdefault(function, {})
        if arguments not in answers:
            answer = ask(function, context, arguments, named)
            if function.get_impl_key(answer) is not function.typing_key:
                return answer
            answers[arguments] = answer
        return answers[arguments]

    return get_call_type


@contextmanager
def _memory_of_types() -> Iterator[None]:
    """Only loops of ours are typed with it: Numba compiles one function at a time."""
    before = types.Function.get_call_type
    types.Function.get_call_type = _typed_once
    try:
        yield
    finally:
        types.Function.get_call_type = before


def _shapes_differ(source: Any, target: Any) -> None:
    """Refuse to assign an array to a slice of another shape."""


@overload(_shapes_differ)  # type: ignore[untyped-decorator]
def _refuse(source: Any, target: Any) -> Any:
    def refuse(source: Any, target: Any) -> None:
        raise ValueError("cannot assign to a slice an array of another shape")

    return refuse


@contextmanager
def _constant_text_of_shapes() -> Iterator[None]:
    """Numba would compile the formatting of both shapes into every loop that assigns an array to a slice."""
    from numba.np import arrayobj  # slow to import, and nothing may have to be compiled

    before = arrayobj.raise_with_shape_context
    arrayobj.raise_with_shape_context = _shapes_differ
    try:
        yield
    finally:
        arrayobj.raise_with_shape_context = before


LOOP: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INNER: dict[str, Any] = {"no_cpython_wrapper": True}  # never called from Python
if numba.__version__.startswith("0.68."):  # whose inner classes these are; others only compile longer
    LOOP["pipeline_class"] = _LoopCompiler
    INNER["pipeline_class"] = _PartCompiler  # compiled with its callers alone
    _typed_once = _remembered(types.Function.get_call_type)
PART: dict[str, Any] = {**INNER, "_nrt": False}  # nor does it allocate


def _forget_what_moved(dispatcher: Any) -> None:
    """Compile anew where the cache names a class that has moved since; Numba alone would fail for ever."""
    cache = getattr(dispatcher, "_cache", None)
    load = getattr(cache, "load_overload", None)
    if cache is None or load is None or not hasattr(cache, "flush"):
        return

    def load_or_forget(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError) as error:
            log.info("a compiled loop is forgotten: %s", error)
            cache.flush()
            return None

    cache.load_overload = load_or_forget


def _no_literals(dispatcher: Any) -> None:
    """Let a call with a constant use what is compiled for any number, not a version for it alone."""
    ask = getattr(dispatcher, "get_call_template", None)
    if ask is None:  # nothing is compiled
        return

    def call_template(arguments: Any, named: Any) -> Any:
        return ask(tuple(map(types.unliteral, arguments)), {k: types.unliteral(v) for k, v in named.items()})

    dispatcher.get_call_template = call_template


def compiled(
    function: Callable[..., Any] | None = None, /, *, fastmath: bool | set[str] = False, **options: Any
) -> Any:
    """Compile a loop: lazily, cached, without the GIL, with NumPy's division.

    ``fastmath=True`` allows sums to be reordered and contracted but keeps NaN and infinities meaningful.
    """
    settings = {**LOOP, **options}
    if fastmath:
        settings["fastmath"] = SAFE_FASTMATH if fastmath is True else fastmath

    def decorate(loop: Callable[..., Any]) -> Any:
        folder = _folder(Path(loop.__code__.co_filename))
        with _our_cache(folder):
            dispatcher = numba.njit(cache=bool(folder), **settings)(loop)
        _forget_what_moved(dispatcher)
        _no_literals(dispatcher)
        return dispatcher

    return decorate if function is None else decorate(function)


# what loops ask of the processor that Numba does not offer


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Where an entry of a one-dimensional array lies."""
    return cgutils.get_item_pointer(
        context, builder, kind, context.make_array(kind)(context, builder, array), [index]
    )


@intrinsic  # type: ignore[untyped-decorator]
def exchange(typing: Any, cells: Any, at: Any, value: Any) -> Any:
    """cells[at], value = value, cells[at], at once; no reading or writing is moved across it. cells is int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index, new = arguments
        cell = _address(context, builder, signature.args[0], array, index)
        return builder.atomic_rmw("xchg", cell, new, "seq_cst")

    return types.int64(cells, types.intp, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def fetch(typing: Any, cells: Any, at: Any) -> Any:
    """Bring cells[at] nearer, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), (byte, word, word, word))
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        cell = builder.bitcast(_address(context, builder, signature.args[0], *arguments), byte)
        builder.call(prefetch, (cell, word(0), word(3), word(1)))  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(cells, types.intp), generate
