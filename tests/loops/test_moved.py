"""A class that moves makes neither the cache of compiled loops fail nor the loops."""

import os
import subprocess
import sys

import numpy as np


def test_cache_that_names_a_class_that_moved_is_compiled_anew():
    from gnomon.loops import _compile

    class Cache:
        flushed = False

        def load_overload(self, signature, target):
            raise AttributeError("module 'before' has no attribute 'Pair'")

        def flush(self):
            self.flushed = True

    class Dispatcher:
        _cache = Cache()

    _compile._forget_what_moved(Dispatcher)
    assert Dispatcher._cache.load_overload("signature", "target") is None
    assert Dispatcher._cache.flushed


MOVED = """
import numba, numba.core.codegen as codegen
import numpy as np
numba.__version__, inner = "0.79.0", codegen.JITCodeLibrary
del codegen.JITCodeLibrary
from gnomon.loops import _compile, draws
assert _compile.JITCodeLibrary is object
codegen.JITCodeLibrary = inner
rows = np.arange(9)
draws.shuffle(rows, 3)  # a loop with parts that other code takes in
print(*_compile.PART, *rows)
"""


def test_loops_compile_where_inner_classes_of_the_compiler_have_moved(tmp_path):
    from gnomon.loops import draws

    settings = {**os.environ, "GNOMON_CACHE_DIR": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", MOVED], env=settings, capture_output=True, text=True)
    rows = np.arange(9)
    draws.shuffle(rows, 3)
    assert told.returncode == 0, told.stderr
    assert told.stdout.split() == ["no_cpython_wrapper", "_nrt", *map(str, rows)]
