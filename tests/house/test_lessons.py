"""Constants and generators of the courses: what they hold, and that they come out the same."""

import hashlib

import numpy as np
import pytest

from gnomon import datasets
from gnomon.core.errors import DataError
from gnomon.datasets import (
    load_external,
    load_lesson,
    make_images,
    make_mixture,
    make_pattern,
    make_series,
    make_table,
    make_text,
)
from gnomon.datasets.classes import clouds_posterior


def test_tables_of_counts_and_hypotheses():
    assert load_lesson("bmi")["counts"].tolist() == [[2, 5, 4, 2, 1], [0, 0, 3, 3, 2]]
    assert load_lesson("weather")["probabilities"].ravel().tolist() == [0.24, 0.01, 0.25, 0.5]
    assert load_lesson("test_kit") == {"sensitivity": 0.98, "specificity": 0.97, "prevalence": 0.01}
    assert load_lesson("dice or roulette")["likelihood_of_12"] == pytest.approx([1 / 36, 1 / 38])
    coins = load_lesson("coin hypotheses")
    assert coins["heads"].tolist() == [0.5, 0.6] and coins["prior"].tolist() == [0.75, 0.25]
    assert load_lesson("coin flips")["counts"].tolist() == [[2, 0], [55, 45]]
    split = load_lesson("split")
    assert split["counts"].tolist() == [2, 5]
    assert split["split_a"].sum(axis=0).tolist() == split["split_b"].sum(axis=0).tolist() == [2, 5]
    assert load_lesson("spam_words")["counts"].sum(axis=1).tolist() == [25, 16]
    assert load_lesson("pets")["document"].count("dog") == 3
    assert load_lesson("concepts")["table"].tolist() == [[1, 1, 1], [0, 1, 1], [1, 0, 0], [0, 0, 0]]


def test_points_and_scores():
    scores = load_lesson("class scores")
    hinge = (
        np.maximum(0, scores["scores"] - scores["scores"][np.arange(3), scores["target"]][:, None] + 1).sum(
            axis=1
        )
        - 1
    )
    assert hinge == pytest.approx([2.9, 0, 12.9])
    for name in ("boosting a", "boosting b"):
        assert load_lesson(name)["data"].shape == (10, 2) and load_lesson(name)["target"].sum() == 0
        assert sorted(load_lesson(name)["data"][:, 0]) == list(range(1, 11))
    assert load_lesson("discriminant")["data"][:5].mean(axis=0).tolist() == [3, 3.8]
    assert load_lesson("linkage")["data"].ravel().tolist() == [0, 1, 3, 7]
    assert load_lesson("components")["data"].mean(axis=0).tolist() == [1, 1]
    ratios = load_lesson("iris ratios")
    assert ratios["data"].shape == (150, 2) and (ratios["data"][:, 0] <= 1.7156863).sum() == 49


def test_toys_of_linear_classifiers():
    assert datasets.load_lesson("and").target.tolist() == [0, 0, 0, 1]
    assert datasets.load_lesson("three points").data.tolist() == [[-1, 1], [0, -1], [1.5, 1]]
    assert datasets.load_lesson("five points").data.shape == (5, 2)
    assert datasets.load_lesson("circle").target.tolist() == [1, 1, -1, -1]


def test_matrices_graphs_and_baskets():
    assert np.linalg.matrix_rank(load_lesson("rank one")["data"]) == 1
    ratings = load_lesson("ratings")
    assert np.isfinite(ratings["data"]).sum() == 8 and np.isfinite(ratings["small"]).sum() == 4
    assert np.outer(ratings["users"], ratings["items"]).shape == (5, 3)
    baskets = load_lesson("baskets")["names"]
    assert len(baskets) == 5 and sum("Diapers" in one and "Beer" in one for one in baskets) == 3
    survey = load_lesson("survey")
    kinds = np.array(survey["kinds"])
    ordinal = kinds == "O"
    assert (
        survey["n_values"][~ordinal].sum() + 2 * ordinal.sum() == 50 == survey["n_items"]
        and survey["n_rows"] == 6876
    )
    assert load_lesson("games")["data"][:, 2:].sum() == 120
    graph = load_lesson("graph")["edges"]
    assert graph[:, 2].sum() == 20 and graph[:, :2].max() == 5
    assert datasets.load_basketball_rankings().poll_ranks["Villanova"] == 1
    phonemes = load_lesson("phonemes")
    assert dict(zip(phonemes["words"], phonemes["sounds"]))["oh"] == ["OW"] and len(phonemes["sounds"]) == 11
    phonemes["sounds"].clear()
    assert len(load_lesson("phonemes")["sounds"]) == 11  # a copy was handed out


def test_chains_and_networks():
    casino = load_lesson("casino")
    assert casino["transmat"].sum(axis=1) == pytest.approx([1, 1]) and casino["emissionprob"][1, 5] == 0.5
    assert load_lesson("two states")["emissionprob"].sum(axis=1) == pytest.approx([1, 1])
    assert load_lesson("tagging")["transmat"].sum(axis=1) == pytest.approx([1, 1])
    assert datasets.load_network("sprinkler").query("wet")["yes"] == pytest.approx(0.57375)
    assert datasets.load_network("alarm_story").query("alarm")["yes"] == pytest.approx(0.0199)
    assert datasets.load_network("coins").query("x3")["equal"] == pytest.approx(0.5)


def values(transitions, rewards, discount):
    V = np.zeros(len(rewards))
    for _ in range(3000):
        V = (rewards + discount * transitions @ V).max(axis=1)
    return V


def test_decision_processes_have_the_values_of_the_course():
    assert values(**load_lesson("two-state process")) == pytest.approx([1340 / 109, 1640 / 109])
    expected = [68.370845171, 69.216965376, 69.387061237, 68.353078809, 68.372396135, 69.220130010]
    assert values(**load_lesson("six-state process")) == pytest.approx(expected)


def test_model_orders_and_earthquakes():
    assert load_lesson("model orders")["neg_log_likelihood"][2] == 329.4603
    quakes = datasets.load_earthquakes().data.ravel()
    assert quakes[:5].tolist() == [13, 14, 8, 10, 16] and len(quakes) == 107
    assert datasets.load_old_faithful().data.shape == (272, 2)


@pytest.mark.parametrize("name", ["heights", "lengths", "clusters", "two classes", "three classes"])
def test_parameters_of_mixtures(name):
    lesson = load_lesson(name)
    X, labels = make_mixture(lesson["weights"], lesson["means"], lesson["covariances"], 4000, random_state=0)
    for k, mean in enumerate(lesson["means"]):
        mine = X[labels == k]
        assert mine.mean(axis=0) == pytest.approx(mean, abs=6 * mine.std() / np.sqrt(len(mine)))


def test_four_clusters_and_their_bad_start():
    from gnomon.cluster import KMeans

    lesson = load_lesson("four clusters")
    start = lesson.pop("bad_start")
    X, _ = make_mixture(**lesson, n_samples=400, random_state=0)
    bad = KMeans(4, init=start, n_init=1).fit(X).inertia_
    good = KMeans(4, n_init=10, random_state=0).fit(X).inertia_
    assert bad > 5 * good


def digest(bunch):
    text = hashlib.sha256()
    for key in sorted(bunch):
        text.update(
            key.encode()
            + (bunch[key].tobytes() if isinstance(bunch[key], np.ndarray) else repr(bunch[key]).encode())
        )
    return text.hexdigest()


TABLES = (
    "random features",
    "uniform noise",
    "genes",
    "subgroups",
    "species",
    "survey",
    "baskets",
    "ratings",
    "songs",
)
GENERATORS = {
    **{f"table {kind}": (make_table, kind) for kind in TABLES},
    **{f"text {k}": (make_text, k) for k in ("topics", "bars", "mail", "inventories", "sentences")},
    **{f"series {k}": (make_series, k) for k in ("sales", "radar", "bird song")},
    **{f"images {k}": (make_images, k) for k in ("ball", "shapes", "faces", "threes", "noisy", "missing")},
}  # fmt: skip


@pytest.mark.parametrize("name", GENERATORS)
def test_same_seed_same_bytes(name):
    make, kind = GENERATORS[name]
    assert digest(make(kind, 30, random_state=1)) == digest(make(kind, 30, random_state=1))
    assert digest(make(kind, 30, random_state=1)) != digest(make(kind, 30, random_state=2))
    with pytest.raises(DataError, match="at least 1"):
        make(kind, 0)


def test_a_perfect_feature_among_noise():
    table = make_table("random features", 8, n_features=2000, random_state=0)
    perfect = (table.data == table.target[:, None]).all(axis=0)
    assert perfect[table.perfect] and perfect.sum() > 1  # chance makes others
    noise = make_table("uniform noise", 3000, random_state=0)
    assert abs(np.corrcoef(noise.data[:, 0], noise.target)[0, 1]) < 0.06 and np.abs(noise.data).max() <= 3


def test_genes_subgroups_and_species():
    genes = make_table("genes", 200, random_state=0)
    shift = np.abs(genes.data[genes.target == 1].mean(axis=0) - genes.data[genes.target == 0].mean(axis=0))
    rest = np.setdiff1d(np.arange(1000), genes.informative)
    assert genes.data.shape == (200, 1000) and shift[genes.informative].mean() > 2 * shift[rest].mean()
    groups = make_table("subgroups", 4000, gap=0.3, random_state=0)
    sure = np.abs(groups.probability - 0.5)
    assert sure[groups.groups == "large"].mean() > sure[groups.groups == "small"].mean() + 0.25
    species = make_table("species", 5000, random_state=0)
    assert species.counts.sum() == 5000 and np.corrcoef(species.counts, species.probability)[0, 1] > 0.9


def test_ratings_songs_baskets_and_surveys():
    ratings = make_table("ratings", 200, density=0.4, random_state=0)
    seen = np.isfinite(ratings.data)
    assert seen.mean() == pytest.approx(0.4, abs=0.03) and set(np.unique(ratings.data[seen])) <= {
        1,
        2,
        3,
        4,
        5,
    }
    assert np.linalg.matrix_rank(ratings.full - 3) == 2
    songs = make_table("songs", 300, random_state=0)
    assert songs.data.mean() == pytest.approx(songs.probability.mean(), abs=0.03)
    baskets = make_table("baskets", 2000, random_state=0).data
    assert (baskets[:, 0] & baskets[:, 1]).mean() > 3 * baskets[:, 0].mean() * 0.1
    survey = make_table("survey", 50, random_state=0)
    assert (survey.data.max(axis=0) < survey.n_values).all() and survey.data.shape == (50, 14)


def test_documents():
    bars = make_text("bars", 40, random_state=0)
    assert bars.topics.shape == (10, 25) and bars.counts.shape == (40, 25)
    assert all(len(text.split()) == count for text, count in zip(bars.documents, bars.counts.sum(axis=1)))
    mail = make_text("mail", 100, random_state=0)
    free = mail.vocabulary.index("free")
    assert (
        mail.counts[mail.target == "spam", free].mean() > 2 * mail.counts[mail.target == "mail", free].mean()
    )
    rooms = make_text("inventories", 60, random_state=0)
    assert set(rooms.target.tolist()) == {"kitchen", "workshop", "shrine"}
    stream = make_text("sentences", 5, random_state=0)
    assert all(len(text.split()) == 6 for text in stream.documents)
    assert make_text("topics", 10, random_state=0).shares.sum(axis=1) == pytest.approx(np.ones(10))


def test_series_and_pictures():
    sales = make_series("sales", 300, random_state=0)
    before, after = sales.data[: sales.break_at], sales.data[sales.break_at :]
    assert np.corrcoef(before.T)[0, 7] > 0.5 and np.corrcoef(after.T)[0, 7] < 0
    radar = make_series("radar", random_state=0)
    assert np.hypot(*radar.positions.T) == pytest.approx(radar.data[:, 0], abs=3)
    song = make_series("bird song", 500, random_state=0)
    assert np.mean(song.states[1:] == song.states[:-1]) > 0.8
    missing = make_images("missing", 5, random_state=0)
    there = np.isfinite(missing.images)
    assert (
        there.mean() == pytest.approx(2 / 3, abs=0.05)
        and (missing.images[there] == missing.clean[there]).all()
    )
    noisy = make_images("noisy", 5, random_state=0)
    assert (noisy.images - noisy.clean).std() == pytest.approx(0.1, rel=0.1)
    ball = make_images("ball", 10, size=20, random_state=0)
    rows = np.array(
        [np.average((np.arange(20) + 0.5) / 20, weights=(one > 0.5).sum(axis=1)) for one in ball.images]
    )
    assert rows == pytest.approx(ball.target[:, 1], abs=0.05)
    assert make_images("threes", 6).images.shape == (6, 8, 8)


def test_clouds_have_a_best_boundary():
    X, y = make_pattern("clouds", 4000, noise=0.3, random_state=0)
    p = clouds_posterior(X, 0.3)
    assert np.mean((p > 0.5) == y) == pytest.approx(np.maximum(p, 1 - p).mean(), abs=0.02)  # the Bayes rate
    X, y = make_pattern("rings", 100, n_labeled=3, random_state=0)
    assert sorted(np.unique(y, return_counts=True)[1].tolist()) == [3, 3, 94]


def test_external_data_have_stand_ins(tmp_path):
    assert load_external("mnist", stand_in=True).images.shape == (1797, 8, 8)
    for name in ("movielens", "news", "faces", "netflix", "imagenet"):
        assert len(load_external(name, stand_in=True)) > 1
    with pytest.raises(DataError, match="stand_in=True"):
        load_external("mnist")
    np.savez(tmp_path / "mnist_784.npz", images=np.zeros((2, 28, 28)), target=[1, 2])
    assert load_external("mnist", tmp_path).target.tolist() == [1, 2]
    (tmp_path / "ratings.csv").write_text("userId,movieId,rating,timestamp\n1,2,3.5,0\n")
    assert load_external("movielens", tmp_path).frame["rating"].tolist() == [3.5]
    with pytest.raises(DataError, match="Did you mean 'mnist'"):
        load_external("mnst")


def test_noise_models_and_confounders():
    kinds = ("gaussian", "laplace", "student_t")
    tails = [
        np.abs(
            datasets.make_polynomial_curve(20_000, [0.0], noise=1.0, noise_kind=k, random_state=0)[1]
        ).max()
        for k in kinds
    ]
    assert tails[0] < tails[1] < tails[2]
    found = make_table("omitted variable", 2000, random_state=0)
    assert found.data[:, 0] @ found.target > 0 > np.linalg.lstsq(found.data, found.target)[0][0]
    found = make_table("far points", 45, random_state=0)
    assert found.target.sum() == 25 and np.linalg.norm(found.data, axis=1).max() > 10
    found = make_table("income", noise=0.0, random_state=0)
    solved = np.linalg.lstsq(np.c_[found.data, np.ones(200)], found.target)[0]
    np.testing.assert_allclose(solved, [5.9, 0.17, -50.0])


def test_nested_spheres_of_scikit_learn():
    from sklearn.datasets import make_hastie_10_2

    X, y = make_hastie_10_2(500, random_state=0)
    assert ((X**2).sum(axis=1) > 9.34).astype(int).tolist() == ((y + 1) // 2).astype(int).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda: load_lesson("bmj"),
        lambda: make_table("gens"),
        lambda: make_text("mial"),
        lambda: make_series("sale"),
        lambda: make_images("bal"),
    ],
)
def test_unknown_names_suggest(call):
    with pytest.raises(ValueError, match="Did you mean"):
        call()
