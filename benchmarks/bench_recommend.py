"""Recommenders against Surprise and implicit: same data, same or better quality."""

from __future__ import annotations

import warnings

import numpy as np

from case import Case


def rated(n_users=943, n_items=1682, n_ratings=100_000, seed=0):
    """Ratings of the size of MovieLens-100k, with popular items; (train, test)."""
    from gnomon.datasets import make_ratings

    density = n_ratings / (n_users * n_items)
    R, _, _ = make_ratings(
        n_users,
        n_items,
        rank=8,
        density=density,
        noise=0.7,
        scale=range(1, 6),
        popularity=0.6,
        random_state=seed,
    )
    return R.split(0.1, random_state=0)


def surprise_set(train):
    import pandas as pd
    from surprise import Dataset, Reader

    frame = pd.DataFrame({"u": train.users, "i": train.items, "r": train.values})
    return Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()


def our_rmse(model, data):
    pairs, y = data[1].pairs()
    return float(np.sqrt(np.mean((model.predict(pairs) - y) ** 2)))


def rmse(result, data):
    if hasattr(result, "ratings_"):
        return our_rmse(result, data)
    test = data[1]
    found = [result.predict(int(a), int(i)).est for a, i in zip(test.users, test.items)]
    return float(np.sqrt(np.mean((np.array(found) - test.values) ** 2)))


def our_sgd(batch):
    def fit(data):
        from gnomon.recommend import MatrixFactorization

        return MatrixFactorization(
            100,
            solver="sgd",
            biases=True,
            regularization=0.02,
            iterations=20,
            tol=0.0,
            learning_rate=0.005,
            batch=batch,
            dtype=np.float32,
            random_state=0,
        ).fit(data[0])

    return fit


def their_sgd(factors):
    def fit(data):
        from surprise import SVD

        return SVD(n_factors=factors, n_epochs=20, lr_all=0.005, reg_all=0.02, random_state=0).fit(
            surprise_set(data[0])
        )

    return fit


def our_als(sweeps):
    def fit(data):
        from gnomon.recommend import MatrixFactorization

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return MatrixFactorization(
                10, biases=True, regularization=8.0, iterations=sweeps, tol=0.0, random_state=0
            ).fit(data[0])

    return fit


def our_biases(data):
    from gnomon.recommend import MeanRecommender

    return MeanRecommender("biases", regularization=10.0).fit(data[0])


def their_biases(data):
    from surprise import BaselineOnly

    options = {"method": "als", "n_epochs": 10, "reg_u": 10, "reg_i": 10}
    return BaselineOnly(bsl_options=options, verbose=False).fit(surprise_set(data[0]))


def our_knn(data):
    from gnomon.recommend import KNNRecommender

    model = KNNRecommender(40, mode="item", min_common=1).fit(data[0])
    model.predict(data[1].pairs()[0])
    return model


def their_knn(data):
    from surprise import KNNWithMeans

    options = {"name": "pearson", "user_based": False}
    model = KNNWithMeans(k=40, sim_options=options, verbose=False).fit(surprise_set(data[0]))
    for a, i in zip(data[1].users, data[1].items):
        model.predict(int(a), int(i))
    return model


def clicked(n=20_000, m=5_000, nnz=1_000_000, seed=0):
    from scipy import sparse

    rng = np.random.default_rng(seed)
    weight = (1.0 + np.arange(m)) ** -0.7
    users, items = rng.integers(0, n, nnz), rng.choice(m, nnz, p=weight / weight.sum())
    table = sparse.csr_matrix((rng.integers(1, 6, nnz).astype(np.float32), (users, items)), shape=(n, m))
    table.sum_duplicates()
    return table


def clicked_less():
    """As dense, and as skewed, in a third of the size: exact solves of all rows take the peer seconds a sweep."""
    return clicked(8_000, 2_000, 300_000)


def our_implicit(use_cg):
    def fit(X):
        from gnomon.recommend import AlternatingLeastSquares

        return AlternatingLeastSquares(64, use_cg=use_cg, iterations=5, random_state=0).fit(X)

    return fit


def their_implicit(use_cg):
    def fit(X):
        from implicit.als import AlternatingLeastSquares

        model = AlternatingLeastSquares(64, use_cg=use_cg, iterations=5, use_gpu=False, random_state=0)
        model.fit(X, show_progress=False)
        return model

    return fit


def implicit_loss(model, X):
    U, V = (np.asarray(part, dtype=np.float64) for part in (model.user_factors, model.item_factors))
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    score = np.einsum("ek,ek->e", U[rows], V[X.indices])
    stored = (X.data * (1 - score) ** 2 - score**2).sum()
    return float(((U.T @ U) * (V.T @ V)).sum() + stored + 0.01 * ((U**2).sum() + (V**2).sum()))


def our_bpr(threads):
    def fit(X):
        from gnomon.recommend import BayesianPersonalizedRanking

        return BayesianPersonalizedRanking(64, iterations=10, num_threads=threads, random_state=0).fit(X)

    return fit


def their_bpr(threads):
    def fit(X):
        from implicit.bpr import BayesianPersonalizedRanking

        model = BayesianPersonalizedRanking(
            64, iterations=10, num_threads=threads, use_gpu=False, random_state=0
        )
        model.fit(X, show_progress=False)
        return model

    return fit


def ranked_right(model, X):
    """How many of all clicks are ranked above an item that the user has not clicked."""
    U, V = np.asarray(model.user_factors), np.asarray(model.item_factors)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    other = np.random.default_rng(1).integers(0, X.shape[1], len(rows))
    new = ~np.isin(rows * X.shape[1] + other, rows * X.shape[1] + X.indices)
    margin = np.einsum("ek,ek->e", U[rows], V[X.indices] - V[other])
    return float((margin[new] > 0).mean())


def our_item_item(X):
    from gnomon.recommend import ItemItemRecommender

    return ItemItemRecommender(50).fit(X)


def their_item_item(X):
    from implicit.nearest_neighbours import CosineRecommender

    model = CosineRecommender(K=50)
    model.fit(X, show_progress=False)
    return model


def likeness(model, X):
    """The mean of the likenesses that are kept."""
    kept = model.similarity_ if hasattr(model, "similarity_") else model.similarity
    return float(kept.data.mean())


def lists_data():
    from implicit.als import AlternatingLeastSquares as Theirs

    from gnomon.recommend import AlternatingLeastSquares

    X = clicked()
    theirs = Theirs(64, iterations=1, use_gpu=False, random_state=0)
    theirs.fit(X, show_progress=False)
    start = theirs.user_factors, theirs.item_factors
    ours = AlternatingLeastSquares(64, iterations=1, init=start, random_state=0).fit(X)
    ours.user_factors_, ours.item_factors_ = start
    return ours, theirs, X


def our_lists(data):
    return data[0].recommend(np.arange(data[2].shape[0]), N=10)


def their_lists(data):
    return data[1].recommend(np.arange(data[2].shape[0]), data[2], N=10)


def mean_score(result, data):
    return float(np.mean(result[1]))


CASES = [
    *(
        Case(
            f"ratings sgd 100k k=100, 20 epochs ({batch})",
            data=rated,
            ours=our_sgd(batch),
            peers={"scikit-surprise (SVD)": their_sgd(100)},
            quality=rmse,
            tolerance=1e-2,
            goal=6,
            note="Surprise goes by user and item" if batch == "shuffled" else "the order of Surprise",
        )
        for batch in ("sequential", "shuffled")
    ),
    Case(
        "ratings als 100k k=10, 15 sweeps",
        data=rated,
        ours=our_als(15),
        peers={"scikit-surprise (SVD)": their_sgd(100)},
        quality=rmse,
        tolerance=1e-2,
        goal=6,
        note="Surprise factorizes by stochastic gradients alone; its SVD has 100 factors by default",
    ),
    Case(
        "ratings als 100k k=10, 3 sweeps",
        data=rated,
        ours=our_als(3),
        peers={"scikit-surprise (SVD, 10 factors)": their_sgd(10)},
        quality=rmse,
        tolerance=1e-2,
        goal=6,
        note="as many factors, until the error is no larger than theirs after 20 epochs",
    ),
    Case(
        "ratings biases 100k",
        data=rated,
        ours=our_biases,
        peers={"scikit-surprise (BaselineOnly, als)": their_biases},
        quality=rmse,
        tolerance=1e-3,
        goal=6,
        note="the one alternating least squares of Surprise",
    ),
    Case(
        "ratings knn items 100k and 10k predictions",
        data=rated,
        ours=our_knn,
        peers={"scikit-surprise": their_knn},
        quality=rmse,
        tolerance=2e-2,
        goal=10,
    ),
    *(
        Case(
            f"implicit als 8k x 2k, 300k, k=64, 5 sweeps ({'cg' if use_cg else 'cholesky'})",
            data=clicked_less,
            ours=our_implicit(use_cg),
            peers={"implicit": their_implicit(use_cg)},
            quality=implicit_loss,
            tolerance=1e-2,
            goal=1.5,
        )
        for use_cg in (True, False)
    ),
    *(
        Case(
            f"implicit bpr 20k x 5k, 1M, k=64{', one thread' if threads else ''}",
            data=clicked,
            ours=our_bpr(threads),
            peers={"implicit": their_bpr(threads)},
            quality=ranked_right,
            better="higher",
            tolerance=1e-2,
            goal=1,
        )
        for threads in (0, 1)
    ),
    Case(
        "item-item cosine 20k x 5k, 1M, K=50",
        data=clicked,
        ours=our_item_item,
        peers={"implicit": their_item_item},
        quality=likeness,
        better="higher",
        tolerance=1e-6,
        goal=1,
    ),
    Case(
        "top 10 of 5k items for 20k users, k=64",
        data=lists_data,
        ours=our_lists,
        peers={"implicit": their_lists},
        quality=mean_score,
        better="higher",
        tolerance=1e-4,
        goal=1,
    ),
]
