"""Threads, randomness, linear algebra, compiling: what everything stands on."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from gnomon.core import threads as threads_module
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import (
    cholesky,
    dots_of,
    fix_signs,
    log_determinant,
    log_sum_exp,
    solve_spd,
    symmetric_eigen,
)
from gnomon.core.randomness import generator, stream
from gnomon.core.threads import in_order, one_blas_thread, shared, thread_count, threads


def blas_threads():
    return max(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")


@pytest.mark.parametrize("run", [in_order, shared])
def test_results_come_in_order(run):
    with threads(4):
        assert list(run(lambda i: i * i, range(200))) == [i * i for i in range(200)]


@pytest.mark.parametrize("run", [in_order, shared])
def test_blas_is_limited_inside_and_given_back(run):
    before = blas_threads()
    with threads(3):
        inside = list(run(lambda _: blas_threads(), range(6)))
    assert inside == [1] * 6
    assert blas_threads() == before


def test_blas_limit_survives_overlapping_blocks():
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == 1
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_blas_has_one_thread_whatever_thread_asks():
    """threadpoolctl listens to one thread alone until that one lets go."""
    before, seen = blas_threads(), []

    def work():
        with one_blas_thread():
            seen.append(blas_threads())

    work()
    other = threading.Thread(target=work)
    other.start()
    other.join()
    assert seen == [1, 1]
    assert blas_threads() == before


@pytest.mark.parametrize("run", [in_order, shared])
def test_nested_use_neither_deadlocks_nor_multiplies(run):
    def outer(i):
        names = set(run(lambda _: threading.current_thread().name, range(4)))
        return len(names)

    with threads(2):
        assert list(run(outer, range(8))) == [1] * 8


@pytest.mark.parametrize("end", ["error", "early"])
def test_nothing_works_on_when_the_results_have_ended(end):
    begun, ended = [], []

    def work(i):
        begun.append(i)
        if end == "error" and i == 0:
            raise RuntimeError
        time.sleep(0.05)
        ended.append(i)

    with threads(2):
        results = in_order(work, range(100))
        if end == "error":
            with pytest.raises(RuntimeError):
                next(results)
        else:
            next(results)
            threads_module.end(results)
    assert sorted(ended) == [i for i in sorted(begun) if end == "early" or i > 0]
    assert len(begun) < 10


def test_an_interrupt_while_waiting_waits_for_what_runs(monkeypatch):
    begun, ended = [], []

    def work(i):
        begun.append(i)
        time.sleep(0.2)
        ended.append(i)

    def interrupted(future):
        monkeypatch.undo()
        while not begun:
            time.sleep(0.01)
        raise KeyboardInterrupt

    with threads(2):
        monkeypatch.setattr(threads_module.Future, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(in_order(work, range(100)))
    assert sorted(ended) == sorted(begun) and len(begun) <= 2


def test_the_caller_does_its_share_when_the_pool_is_busy():
    with threads(2):
        pool, release = threads_module._pool(2), threading.Event()
        busy = [pool.submit(release.wait) for _ in range(2)]
        assert shared(lambda i: -i, range(5)) == [0, -1, -2, -3, -4]
        release.set()
        assert all(future.result() for future in busy)


@pytest.mark.parametrize("run", [in_order, shared])
def test_error_in_a_piece_reaches_the_caller(run):
    def fails(i):
        if i == 3:
            raise ZeroDivisionError
        return i

    with threads(2), pytest.raises(ZeroDivisionError):
        list(run(fails, range(100)))
    assert list(run(abs, [-1, -2])) == [1, 2]


def test_items_are_drawn_only_a_little_ahead():
    drawn = []

    def items():
        for i in range(1000):
            drawn.append(i)
            yield i

    with threads(2):
        results = in_order(lambda i: i, items())
        next(results)
        results.close()
    assert len(drawn) < 10


def test_thread_count_from_the_environment(monkeypatch):
    monkeypatch.setattr("gnomon.core.threads._local", threading.local())  # no count that a block holds
    monkeypatch.setenv("GNOMON_NUM_THREADS", "3")
    assert thread_count() == 3
    with threads(5):
        assert thread_count() == 5
    monkeypatch.delenv("GNOMON_NUM_THREADS")
    monkeypatch.setenv("OMP_NUM_THREADS", "2,1")
    assert thread_count() == 2


def test_threads_refuses_none_at_all():
    with pytest.raises(ValueError, match="at least 1; got 0"):
        threads(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_pool_works_after_a_fork():
    code = (
        "import os, warnings; warnings.simplefilter('ignore')\n"
        "from gnomon.core.threads import in_order, threads\n"
        "with threads(2): list(in_order(abs, range(9)))\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    with threads(2): ok = list(in_order(abs, range(9))) == list(range(9))\n"
        "    os._exit(0 if ok else 1)\n"
        "print(os.waitpid(pid, 0)[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "0"


def test_same_seed_same_numbers():
    for seed in (3, np.int64(3), np.random.SeedSequence(3)):
        assert generator(seed).integers(10**9) == generator(3).integers(10**9)
    assert generator(np.random.RandomState(0)).random() == generator(np.random.RandomState(0)).random()
    shared = np.random.default_rng(0)
    assert generator(shared).random() != generator(shared).random()


def test_strange_seed_is_refused():
    with pytest.raises(ValueError, match="random_state must be None, an int"):
        generator("seven")


def test_streams_do_not_depend_on_each_other():
    alone = stream(5, 3).random(4)
    for index in range(3):
        stream(5, index).random(100)
    assert np.array_equal(stream(5, 3).random(4), alone)
    assert not np.array_equal(stream(6, 3).random(4), alone)


def test_a_stream_is_keyed_by_its_seed_and_its_number():
    theirs = np.random.Generator(np.random.Philox(key=np.array([2**63 - 1, 2**64 - 2], np.uint64)))
    ours = stream(2**63 - 1, -2)
    assert ours.normal(size=5).tolist() == theirs.normal(size=5).tolist()
    assert pickle.loads(pickle.dumps(ours)).random() == theirs.random()


def test_cholesky_adds_only_what_it_must_and_says_so():
    A = np.array([[1.0, 1.0], [1.0, 1.0]])
    L, added = cholesky(A, jitter=1e-12)
    assert 0 < added <= 1e-6
    np.testing.assert_allclose(L @ L.T, A + added * np.eye(2), rtol=1e-12)
    with pytest.raises(DegenerateError, match="covariance of class 2 is not positive definite"):
        cholesky(-np.eye(2), what="covariance of class 2")
    with pytest.raises(DegenerateError, match="not finite"):
        cholesky(np.full((2, 2), np.nan))


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_factorizations_agree_with_scipy(d, seed):
    B = np.random.default_rng(seed).normal(size=(d, d + 2))
    A = B @ B.T + 1e-3 * np.eye(d)
    L, added = cholesky(A)
    assert added == 0
    np.testing.assert_allclose(log_determinant(L), np.linalg.slogdet(A)[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(A @ solve_spd(A, B), B, atol=1e-7)
    values, vectors = symmetric_eigen(A)
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(vectors * values @ vectors.T, A, atol=1e-10)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(d)] > 0).all()


def test_some_eigenvalues_of_many_equal_ones():
    A = np.eye(60) - 1.0 / 60
    for B in (None, 2.0 * np.eye(60)):
        values, vectors = symmetric_eigen(A, 2, B)
        size = 1.0 if B is None else 2.0
        np.testing.assert_allclose(values, 1.0 / size, rtol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(2) / size, atol=1e-12)
        np.testing.assert_allclose(A @ vectors, vectors, atol=1e-12)
    assert symmetric_eigen(A, 60)[0].shape == (60,)


def test_signs_of_a_zero_column_stay():
    assert fix_signs(np.zeros((2, 1))).tolist() == [[0.0], [0.0]]


@given(st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=5), st.floats(-700, 700))
def test_log_sum_exp_neither_overflows_nor_loses(values, shift):
    a = np.array(values)
    with np.errstate(over="ignore"):
        expected = scipy.special.logsumexp(a)
    assert log_sum_exp(a) == pytest.approx(expected, rel=1e-12)


def test_impossible_events_have_log_probability_minus_infinity():
    assert log_sum_exp(np.array([-np.inf, -np.inf])) == -np.inf
    assert log_sum_exp(np.array([-np.inf, 0.0])) == 0.0
    assert log_sum_exp(np.array([np.inf, 0.0])) == np.inf


def test_cache_notices_that_a_callee_changed(tmp_path, monkeypatch):
    """A changed function in an imported loop file must not return the old answer."""
    import gnomon.loops._compile as door

    folder = tmp_path / "loops"
    folder.mkdir()
    (folder / "inner.py").write_text("from gnomon.loops._compile import compiled\n")
    (folder / "outer.py").write_text("from gnomon.loops.inner import f\n")
    door._digest.cache_clear()
    before = door._digest(folder / "outer.py")
    (folder / "inner.py").write_text("from gnomon.loops._compile import compiled\nx = 1\n")
    door._digest.cache_clear()
    assert door._digest(folder / "outer.py") != before
    assert {path.name for path in door._sources(folder / "outer.py")} == {
        "outer.py",
        "inner.py",
        "_compile.py",
    }


LOOP = """
from gnomon.loops._compile import compiled

@compiled
def twice(x):
    return 2 * x

print(twice(3.0), sum(twice.stats.cache_hits.values()))
"""


def run_loop(tmp_path, **environment):
    script = tmp_path / "loop.py"
    if not script.exists():  # a file that is written anew is another one to older versions of Numba
        script.write_text(LOOP)
    settings = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=settings, check=True
    )
    return done.stdout.split()


def test_loops_are_kept_for_the_next_process(tmp_path):
    cache = {"GNOMON_CACHE_DIR": str(tmp_path / "cache")}
    assert run_loop(tmp_path, **cache) == ["6.0", "0"]
    assert run_loop(tmp_path, **cache) == ["6.0", "1"]


def test_no_writable_folder_no_failure(tmp_path):
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "below")
    environment = {"GNOMON_CACHE_DIR": nowhere, "XDG_CACHE_HOME": nowhere, "TMPDIR": nowhere, "HOME": nowhere}
    assert run_loop(tmp_path, **environment)[0] == "6.0"


def test_loops_run_without_the_compiler(tmp_path):
    script = "from gnomon.loops._compile import compiled\nprint(compiled(lambda x: x + 1)(2))"
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=settings, check=True
    )
    assert done.stdout.strip() == "3"


def test_safe_fastmath_keeps_nan_and_infinity():
    from gnomon.loops._compile import compiled

    @compiled(fastmath=True)
    def count_odd_ones(x):
        odd = 0
        for i in range(len(x)):
            if np.isnan(x[i]) or np.isinf(x[i]):
                odd += 1
        return odd

    assert count_odd_ones(np.array([1.0, np.nan, np.inf, -np.inf])) == 3


def test_missing_entries_are_refused_with_our_own_models_as_the_cure():
    from gnomon.linear import Ridge

    for n in (5, 600_000):  # large tables are looked at chunk by chunk
        X = np.zeros((n, 2))
        X[-1, 1] = np.nan
        with pytest.raises(
            DataError, match="Input X contains NaN, and Ridge takes no missing values.*impute"
        ):
            Ridge().fit(X, np.arange(n))


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_sparse_targets_are_refused_with_the_cure(kind):
    from gnomon.linear import LinearRegression

    with pytest.raises(TypeError, match="toarray"):
        LinearRegression().fit(np.eye(3), kind(np.eye(3)))


def test_dots_at_many_places():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    i, j = rng.integers(7, size=70_000), rng.integers(5, size=70_000)  # more than are worked on at a time
    np.testing.assert_allclose(dots_of(A, B, i, j), (A @ B.T)[i, j], rtol=1e-12, atol=1e-14)


def test_a_constant_is_a_number_like_any_other(monkeypatch):
    from gnomon.loops import _compile
    from gnomon.loops._compile import INNER, compiled

    monkeypatch.setattr(_compile, "_folder", lambda file: "")  # compiled here and now
    inner = compiled(**INNER)(lambda x, k: x + k)
    outer = compiled(lambda x: inner(x, 1) + inner(x, 2) + inner(x, x))
    assert outer(3) == 4 + 5 + 6
    assert len(getattr(inner, "signatures", [0])) == 1


def test_garbage_is_collected_again_after_a_loop_is_compiled(monkeypatch):
    from gnomon.loops import _compile
    from gnomon.loops._compile import compiled

    monkeypatch.setattr(_compile, "_folder", lambda file: "")
    assert gc.isenabled()
    compiled(lambda x: np.sort(x))(np.array([2.0, 1.0]))
    assert gc.isenabled()
    gc.disable()
    try:
        compiled(lambda x: x + 1)(2)
        assert not gc.isenabled()
    finally:
        gc.enable()
