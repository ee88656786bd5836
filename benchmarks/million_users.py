"""A million users and ten million ratings of popular and rare items: fit, predict, and propose ten items to everybody.

    PYTHONPATH=src python benchmarks/million_users.py             # minutes on two cores, in a few GB
    PYTHONPATH=src python benchmarks/million_users.py --share 0.01  # a trial in seconds

One line a task: seconds, processor seconds, and the peak memory of the process so far.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings

import numpy as np
from scipy import sparse

from gnomon.recommend import AlternatingLeastSquares, MatrixFactorization, RatingMatrix


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def timed(name, task):
    """Run a task, print what it took, and return its result."""
    begin, used = time.perf_counter(), time.process_time()
    result = task()
    seconds, used = time.perf_counter() - begin, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    say(f"{name:40s} {seconds:7.1f} s {used:7.1f} s cpu {peak:6.2f} GB")
    return result


def generated(n_users, n_items, n_ratings, seed=0, rank=4):
    """Ratings 3 + u·v + noise; the i-th item is met in proportion to (i + 1)^-0.8. Returns (train, test)."""
    rng = np.random.default_rng(seed)
    share = np.cumsum((1.0 + np.arange(n_items)) ** -0.8)
    items = np.searchsorted(share, rng.random(round(1.25 * n_ratings)) * share[-1])
    users = rng.integers(0, n_users, size=len(items))
    cells = rng.permutation(np.unique(users * np.int64(n_items) + items))[:n_ratings]
    users, items = np.divmod(np.sort(cells), n_items)
    U, V = rng.normal(size=(n_users, rank)), rng.normal(size=(n_items, rank)) / np.sqrt(rank)
    values = 3 + np.einsum("ek,ek->e", U[users], V[items]) + 0.5 * rng.normal(size=len(users))
    table = sparse.coo_array((values, (users, items)), shape=(n_users, n_items))
    return RatingMatrix.from_sparse(table).split(0.02, random_state=0)


def everybody(model, n_users, step=100_000):
    """Ten items for every user, a part of the users at a time; returns the mean of the best scores."""
    best = [
        model.recommend(np.arange(at, min(at + step, n_users)), N=10)[1][:, 0]
        for at in range(0, n_users, step)
    ]
    return float(np.mean(np.concatenate(best)))


def explicit(train, test, factors, sweeps):
    """Alternating least squares of the ratings."""
    model = MatrixFactorization(
        factors,
        biases=True,
        regularization=4.0,
        iterations=sweeps,
        tol=0.0,
        dtype=np.float32,
        random_state=0,
    )
    timed(f"explicit ALS, k={factors}, {sweeps} sweeps", lambda: model.fit(train))
    pairs = np.column_stack([test.users, test.items])
    found = timed(f"predictions of {len(pairs)} pairs", lambda: model.predict(pairs))
    error = np.sqrt(np.mean((found - test.values) ** 2))
    say(f"held-out RMSE {error:.4f}; of the noise 0.5, of the mean {test.values.std():.4f}")
    timed("top 10 of all items for all users", lambda: everybody(model, train.n_users))


def implicit(train, factors, sweeps):
    """Alternating least squares of who has rated what."""
    counts = train.to_csr()
    counts.data = np.ones(len(counts.data))
    model = AlternatingLeastSquares(factors, iterations=sweeps, random_state=0)
    timed(f"implicit ALS (cg), k={factors}, {sweeps} sweeps", lambda: model.fit(counts))
    timed("top 10 of all items for all users", lambda: everybody(model, train.n_users))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--share", type=float, default=1.0)
    options.add_argument("--factors", type=int, default=32)
    options.add_argument("--sweeps", type=int, default=5)
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    n_users, n_items = round(1_000_000 * asked.share), max(100, round(20_000 * asked.share))
    train, test = timed("ratings made and parted", lambda: generated(n_users, n_items, 10 * n_users))
    say(repr(train))
    explicit(train, test, asked.factors, asked.sweeps)
    implicit(train, asked.factors, asked.sweeps)


if __name__ == "__main__":
    main()
