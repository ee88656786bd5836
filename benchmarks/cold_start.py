"""What a first fit costs while nothing is compiled: processor time of fit and predict on tiny data.

    PYTHONPATH=src python benchmarks/cold_start.py                     # every public estimator; an hour
    PYTHONPATH=src python benchmarks/cold_start.py KMeans SVC --loops  # these, loop by loop
    PYTHONPATH=src python benchmarks/cold_start.py --kinds             # one of every family and kind
    PYTHONPATH=src python benchmarks/cold_start.py --warm-up           # what `gnomon warm-up` costs, family by family

Every fit has a process of its own, forked after the imports, and an empty folder for compiled loops. The figure is
user and system time of the process and its children, which others on the machine hardly change; wall time stands beside
it. Data and settings are those of the contract in tests/contract. Works where processes can be forked.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from numba.core.event import Listener, register

ROOT = Path(__file__).parents[1]
PATIENCE = 15.0  # seconds that a first fit may take


class Stopwatch(Listener):
    """Processor seconds spent on compiling each loop, without the loops that are compiled on its way."""

    def __init__(self):
        self.open, self.seconds = [], Counter()

    def on_start(self, event):
        self.open.append([time.thread_time(), 0.0])

    def on_end(self, event):
        begin, inner = self.open.pop()
        spent = time.thread_time() - begin
        if self.open:
            self.open[-1][1] += spent
        loop = event.data["dispatcher"].py_func
        self.seconds[f"{loop.__module__.removeprefix('gnomon.')}.{loop.__name__}"] += spent - inner

    def lines(self):
        return [f"    {seconds:6.2f} s  {name}" for name, seconds in self.seconds.most_common()]


def cost(task, folder):
    """Processor and wall seconds of a task in a process of its own, with nothing compiled; and how it ended."""
    for file in folder.rglob("*.nb*"):
        file.unlink()
    begin = time.perf_counter()
    child = os.fork()
    if not child:
        code = 1
        try:
            task()
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, status


def first_fit(subject, told):
    """Fit and predict; if wanted, tell which loops were compiled."""
    if told:
        watch = Stopwatch()
        register("numba:compile", watch)
    warnings.simplefilter("ignore")
    data = subject.data()
    subject.answers(subject.fit(data), data.X, data.lengths)
    if told:
        print("\n".join(watch.lines()))


def warm_family(name):
    import gnomon

    gnomon.warm_up(name)


def kinds(subjects):
    """The first of every family and kind."""
    first = {}
    for subject in subjects:
        first.setdefault((*subject.cls.__module__.split(".")[1:3], subject.target), subject)
    return list(first.values())


def fits(names, some, told):
    """(name, task) of every first fit that is asked for."""
    from contract.discovery import SUBJECTS

    chosen = [s for s in SUBJECTS[1:] if not names or s.cls.__name__ in names]
    for subject in kinds(chosen) if some else chosen:
        yield repr(subject), lambda subject=subject: first_fit(subject, told)


def families():
    """(name, task) of every family, each with nothing compiled: what they share counts in all of them."""
    from gnomon._warm import families_with_loops

    for name in families_with_loops():
        yield name, lambda name=name: warm_family(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", help="estimators; all when none is given")
    parser.add_argument("--kinds", action="store_true", help="one of every family and kind")
    parser.add_argument(
        "--loops", action="store_true", help="show which loops are compiled, with their seconds"
    )
    parser.add_argument("--warm-up", action="store_true", help="families instead of estimators")
    parser.add_argument("--worst", type=int, default=30, help="how many are listed at the end")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GNOMON_CACHE_DIR"] = folder
        sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
        found = []
        for name, task in families() if chosen.warm_up else fits(chosen.names, chosen.kinds, chosen.loops):
            used, passed, status = cost(task, Path(folder))
            found.append((used, passed, name))
            print(f"{used:7.1f} s cpu {passed:7.1f} s  {name}{'  FAILED' if status else ''}", flush=True)
    print(f"\nthe worst of {len(found)}; {sum(used > PATIENCE for used, _, _ in found)} above {PATIENCE:g} s")
    for used, passed, name in sorted(found, reverse=True)[: chosen.worst]:
        print(f"{used:7.1f} s cpu {passed:7.1f} s  {name}")


if __name__ == "__main__":
    main()
