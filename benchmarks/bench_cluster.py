"""Clustering against scikit-learn, kmedoids and fastcluster: same start, same stop, same or better cost."""

from __future__ import annotations

from functools import partial

import numpy as np

from case import Case


def clumps(n, d, k, seed=0):
    """Return overlapping clumps and k of the points to start from."""
    rng = np.random.default_rng(seed)
    X = 2.0 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    return X, X[rng.choice(n, k, replace=False)].copy()


def points(n, d=10, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# k-means: both from the same centers, with scikit-learn's rule for stopping


def our_kmeans(data):
    from gnomon.cluster import KMeans

    return KMeans(len(data[1]), init=data[1]).fit(data[0])


def their_kmeans(algorithm):
    def fit(data):
        from sklearn.cluster import KMeans

        return KMeans(len(data[1]), init=data[1], n_init=1, algorithm=algorithm).fit(data[0])

    return fit


def seeded(library):
    def fit(data):
        if library == "gnomon":
            from gnomon.cluster import KMeans
        else:
            from sklearn.cluster import KMeans
        return KMeans(len(data[1]), n_init=1, random_state=0).fit(data[0])

    return fit


def batched(library):
    def fit(data):
        if library == "gnomon":
            from gnomon.cluster import MiniBatchKMeans
        else:
            from sklearn.cluster import MiniBatchKMeans
        return MiniBatchKMeans(len(data[1]), n_init=1, random_state=0).fit(data[0])

    return fit


def inertia(model, data):
    X, total = data[0], 0.0
    for start in range(0, len(X), 10_000):
        rows, labels = X[start : start + 10_000], model.labels_[start : start + 10_000]
        total += ((rows - model.cluster_centers_[labels]) ** 2).sum()
    return total


BOTH = {"scikit-learn (lloyd)": their_kmeans("lloyd"), "scikit-learn (elkan)": their_kmeans("elkan")}


# k-medoids: given distances, from the same medoids


def distances(n=5000, k=50):
    from sklearn.metrics import pairwise_distances

    return pairwise_distances(points(n)), np.random.default_rng(1).choice(n, k, replace=False)


def our_medoids(data):
    from gnomon.cluster import KMedoids

    return KMedoids(len(data[1]), metric="precomputed", init=data[1]).fit(data[0]).medoid_indices_


def their_medoids(data):
    import kmedoids

    return kmedoids.fasterpam(data[0], data[1].astype(np.uint64)).medoids


def deviation(medoids, data):
    return data[0][:, np.asarray(medoids).astype(int)].min(axis=1).sum()


# trees


def our_tree(method):
    def fit(X):
        from gnomon.cluster import linkage

        return linkage(X, method)

    return fit


def fastcluster_tree(method, vector=False):
    def fit(X):
        import fastcluster

        return (fastcluster.linkage_vector if vector else fastcluster.linkage)(X, method)

    return fit


def scikit_tree(method):
    def fit(X):
        from sklearn.cluster import AgglomerativeClustering

        model = AgglomerativeClustering(2, linkage=method, compute_distances=True).fit(X)
        return np.column_stack([model.children_, model.distances_])

    return fit


def tree_case(method):
    peers = {"fastcluster": fastcluster_tree(method)}
    if method in ("ward", "single", "centroid", "median"):
        peers["fastcluster (vector)"] = fastcluster_tree(method, vector=True)
    if method in ("ward", "single", "complete", "average"):
        peers["scikit-learn"] = scikit_tree(method)
    return Case(
        f"linkage {method} n=10k d=10",
        data=partial(points, 10_000),
        ours=our_tree(method),
        peers=peers,
        quality=lambda Z, X: float(Z[:, 2].sum()),
        goal=1.0,
    )


# spectral clustering of a neighbor graph


def spectral(library):
    def fit(data):
        if library == "gnomon":
            from gnomon.cluster import SpectralClustering
        else:
            from sklearn.cluster import SpectralClustering
        k = len(data[1])
        return SpectralClustering(k, affinity="nearest_neighbors", random_state=0).fit(data[0])

    return fit


def normalized_cut(model, data):
    from gnomon.cluster import graph_cut

    return graph_cut(model.affinity_matrix_, model.labels_, "normalized")


CASES = [
    Case(
        "kmeans n=200k d=20 k=50",
        data=partial(clumps, 200_000, 20, 50),
        ours=our_kmeans,
        peers=BOTH,
        quality=inertia,
        goal=3.0,
    ),
    Case(
        "kmeans n=500k d=16 k=100",
        data=partial(clumps, 500_000, 16, 100),
        ours=our_kmeans,
        peers=BOTH,
        quality=inertia,
        goal=3.0,
    ),
    Case(
        "kmeans n=100k d=100 k=256",
        data=partial(clumps, 100_000, 100, 256),
        ours=our_kmeans,
        peers=BOTH,
        quality=inertia,
        goal=3.0,
    ),
    Case(
        "kmeans n=100k d=2 k=200",
        data=partial(clumps, 100_000, 2, 200),
        ours=our_kmeans,
        peers=BOTH,
        quality=inertia,
        goal=3.0,
    ),
    Case(
        "kmeans++ n=200k d=20 k=50",
        data=partial(clumps, 200_000, 20, 50),
        ours=seeded("gnomon"),
        peers={"scikit-learn": seeded("sklearn")},
        quality=inertia,
        tolerance=0.02,
        goal=2.0,
        note="different draws, so different starts",
    ),
    Case(
        "mini-batch n=200k d=20 k=50",
        data=partial(clumps, 200_000, 20, 50),
        ours=batched("gnomon"),
        peers={"scikit-learn": batched("sklearn")},
        quality=inertia,
        tolerance=0.03,
        goal=3.0,
        note="different draws",
    ),
    Case(
        "k-medoids n=5000 k=50",
        data=distances,
        ours=our_medoids,
        peers={"kmedoids": their_medoids},
        quality=deviation,
        tolerance=0.005,
        goal=1.0,
        note="same start, swaps in a different order",
    ),
    *[
        tree_case(method)
        for method in ("ward", "average", "complete", "weighted", "single", "centroid", "median")
    ],
    Case(
        "spectral n=10k k=20",
        data=partial(clumps, 10_000, 5, 20),
        ours=spectral("gnomon"),
        peers={"scikit-learn": spectral("sklearn")},
        quality=normalized_cut,
        tolerance=0.02,
        goal=2.0,
    ),
]
