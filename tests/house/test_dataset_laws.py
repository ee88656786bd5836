"""The laws of generated data: shares, spreads and places of many draws are those that the generator tells."""

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.datasets import (
    make_casino,
    make_face_patches,
    make_images,
    make_mixture,
    make_news,
    make_pattern,
    make_ratings,
    make_season,
    make_series,
    make_table,
    make_text,
)
from gnomon.datasets.classes import CLOUD_CENTERS, clouds_posterior
from gnomon.datasets.neural import make_copy_task
from gnomon.datasets.sequence import PHONEMES, make_toy_words, make_trajectory


def near(found, wanted, room):
    assert np.abs(np.asarray(found) - wanted).max() <= room, (found, wanted)


# Series


def test_sales_follow_one_season_with_loadings_that_change_at_the_break():
    n = 2600
    sales = make_series("sales", n, random_state=0)
    assert sales.break_at == 2 * n // 3
    first, second = sales.loadings
    near([first.mean(), second[:4].mean(), second[4:].mean()], [1, 1, -1], 0.25)
    assert 0.1 < first.std() < 0.35
    for rows, load in ((sales.data[: sales.break_at], first), (sales.data[sales.break_at :], second)):
        factor = (rows - 100) @ load / (load @ load)
        left = rows - 100 - np.outer(factor, load)
        near(
            np.sqrt((left**2).sum() / (7 * len(rows))), 2.0, 0.05
        )  # noise of deviation 2, one direction fitted
        steps = np.diff(factor / 10)
        t = np.arange(len(steps)) + (0 if load is first else sales.break_at)
        season = np.sin(2 * np.pi * (t + 1) / 52) - np.sin(2 * np.pi * t / 52)
        near(steps @ season / (season @ season), 1.0, 0.15)
        noise = 2 * (2 / 10) ** 2 / (load @ load)  # of two neighboring rows
        near(np.sqrt(np.var(steps - season) - noise), 0.1, 0.02)


def test_radar_sees_distance_and_bearing_of_unit_steps():
    radar = make_series("radar", 4000, random_state=0)
    steps = np.diff(radar.positions, axis=0)
    near(np.hypot(*steps.T), 1.0, 1e-12)
    turns = np.diff(np.unwrap(np.arctan2(steps[:, 1], steps[:, 0])))
    near([turns.mean(), turns.std()], [0, 0.05], 0.004)
    assert np.linalg.norm(radar.positions[0] - [30, 10]) == pytest.approx(1.0)
    x, y = radar.positions.T
    near((radar.data[:, 0] - np.hypot(x, y)).std(), 0.5, 0.03)
    near((radar.data[:, 1] - np.arctan2(y, x)).std(), 0.01, 0.001)


def test_syllables_stay_nine_times_of_ten_and_else_change_to_any_other():
    song = make_series("bird song", 40_000, random_state=0)
    before, after = song.states[:-1], song.states[1:]
    table = np.array([[np.mean(after[before == a] == b) for b in range(4)] for a in range(4)])
    near(table, np.where(np.eye(4), 0.9, 0.1 / 3), 0.012)
    for k in range(4):
        mine = song.data[song.states == k, 0]
        near([mine.mean(), mine.std()], [song.means[k], 0.3], 0.02)


def test_a_trajectory_is_seen_with_its_noise_and_begins_at_unit_speed():
    seen, truth = make_trajectory(4000, dt=0.5, noise=2.0, n_axes=3, random_state=0)
    near((seen - truth).std(axis=0), 2.0, 0.1)
    first = truth[0] / 0.5
    assert first == pytest.approx([1.0, 1.0, 1.0])
    acceleration = np.diff(truth, 2, axis=0) / 0.25
    keep = [np.corrcoef(a[1:], a[:-1])[0, 1] for a in acceleration.T]
    near(keep, np.exp(-0.15), 0.03)
    near(acceleration.std(axis=0), 0.3 / np.sqrt(1 - np.exp(-0.3)), 0.06)


def test_spoken_digits_are_chords_with_noise_and_silence_between():
    signals, words = make_toy_words(["one", "two"], 30, rate=8000.0, random_state=0)
    assert len(signals) == 60 and sorted(set(words)) == ["one", "two"]
    sounds = {word: len(PHONEMES[word]) for word in ("one", "two")}
    for signal, word in zip(signals, words):
        assert 0.06 * 8000 - 1 <= len(signal) / sounds[word] <= 0.14 * 8000
    near(np.std([signal[:8] for signal in signals]), 0.1, 0.02)  # a chord swells from nothing
    first = [signal[:470] for signal, word in zip(signals, words) if word == "one"]
    power = np.mean([np.abs(np.fft.rfft(part * np.hanning(470))) ** 2 for part in first], axis=0)
    assert power.max() > 20 * np.median(power)
    loud = np.concatenate(signals)
    near(loud.var(), 0.01 + 3 * 0.5 * 0.375, 0.03)  # three tones under a window whose square has the mean 3/8
    other = make_toy_words(["one"], 1, random_state=1)[0][0]
    same = make_toy_words(["one"], 1, random_state=1)[0][0]
    assert (other == same).all()
    with pytest.raises(DataError, match="'eleven' is not one of"):
        make_toy_words(["eleven"])


def test_dice_of_a_casino_are_changed_and_loaded_as_told():
    rolls, dice = make_casino(100_000, random_state=0)
    assert rolls.shape == (100_000, 1) and set(np.unique(dice)) == {0, 1}
    near([dice[1:][dice[:-1] == 0].mean(), dice[1:][dice[:-1] == 1].mean()], [0.05, 0.9], 0.007)
    for die, chances in ((0, np.full(6, 1 / 6)), (1, [0.1, 0.1, 0.1, 0.1, 0.1, 0.5])):
        mine = rolls[dice == die, 0]
        near(np.bincount(mine, minlength=6) / len(mine), chances, 0.01)
    near(np.mean([make_casino(1, random_state=seed)[1][0] for seed in range(400)]), 0.5, 0.1)


def test_points_of_a_season_follow_the_gap_of_the_skills():
    games, skills = make_season(5, 40_000, random_state=0)
    a, b, own, other = games.T
    assert len(skills) == 5 and set(np.unique(a)) == set(np.unique(b)) == set(range(5)) and (a != b).all()
    pairs = np.bincount(5 * a + b, minlength=25).reshape(5, 5) / 40_000
    near(pairs, 0.05 * (1 - np.eye(5)), 0.005)
    for i in range(5):
        for j in set(range(5)) - {i}:
            mine = (a == i) & (b == j)
            rate = 60 * np.exp(0.15 * (skills[i] - skills[j]))
            near([own[mine].mean(), own[mine].var() / 10], [rate, rate / 10], 0.9)
            near(other[mine].mean(), 60 * np.exp(0.15 * (skills[j] - skills[i])), 0.9)
    near(
        [make_season(4000, 1, random_state=0)[1].mean(), make_season(4000, 1, random_state=0)[1].std()],
        [0, 1],
        0.06,
    )
    assert make_season(2, 50, random_state=0)[0][:, :2].sum(axis=1).tolist() == [1] * 50
    with pytest.raises(DataError, match="n_teams must be at least 2; got 1"):
        make_season(1)


# Pictures


def test_a_ball_is_a_disc_around_its_target():
    balls = make_images("ball", 40, size=40, random_state=0)
    near(balls.target.min(), 0.2, 0.05), near(balls.target.max(), 0.8, 0.05)
    line = (np.arange(40) + 0.5) / 40
    for image, (a, b) in zip(balls.images, balls.target):
        inside = (line[None] - a) ** 2 + (line[:, None] - b) ** 2 < 0.02
        assert image[inside].min() > 0.7 and image[~inside].max() < 0.3
    near(np.std(balls.images[balls.images > 0.5] - 1), 0.05 * np.sqrt(0.5 - 0.5 / np.pi), 0.01)  # cut at 1


def test_shapes_have_their_areas():
    shapes = make_images("shapes", 300, size=50, random_state=0)
    area = (shapes.images > 0.5).mean(axis=(1, 2))
    cross = 2 * 0.16 * 0.56 - 0.16**2
    for kind, wanted in enumerate((0.44**2, np.pi * 0.06, cross)):
        near(area[shapes.target == kind].mean(), wanted, 0.006)
        assert area[shapes.target == kind].std() < 0.01
    assert shapes.names == ["square", "disc", "cross"] and (np.bincount(shapes.target) > 70).all()
    middle = [np.argwhere(image > 0.5).mean(axis=0) / 50 for image in shapes.images]
    assert np.min(middle) > 0.33 and np.max(middle) < 0.67
    near(np.ptp(middle, axis=0), 0.3, 0.03)
    dark = shapes.images[shapes.images < 0.5]
    near((dark > 0).mean(), 0.5, 0.02), near(dark[dark > 0].std(), 0.08 * np.sqrt(1 - 2 / np.pi), 0.004)


def test_smooth_pictures_are_a_wave_on_each_axis():
    noisy = make_images("noisy", 30, size=24, random_state=0)
    clean = noisy.clean
    assert clean.min() >= 0 and clean.max() <= 1 and 0.35 < clean.mean() < 0.65
    second = clean[:, 1:, 1:] - clean[:, :-1, 1:] - clean[:, 1:, :-1] + clean[:, :-1, :-1]
    near(second, 0.0, 1e-12)  # a sum of a function of the place across and one of the place down
    first = clean[:, 0] - clean[:, 0].mean(axis=1, keepdims=True)
    assert np.ptp(first, axis=1).max() == pytest.approx(0.5, abs=0.01)
    near((noisy.images - clean).std(), 0.1, 0.003)
    missing = make_images("missing", 30, size=24, random_state=0)
    near(np.isnan(missing.images).mean(), 1 / 3, 0.012)


def test_threes_are_threes_in_the_unit_interval():
    threes = make_images("threes", 50, random_state=0)
    assert (threes.target == 3).all() and threes.images.max() == 1.0 and len(threes.images) == 50


def test_faces_are_bright_ovals_with_dark_eyes_and_mouth():
    X, y = make_face_patches(400, window=24, random_state=0)
    assert y.tolist() == [1, 0] * 200 and X.min() >= 0 and X.max() <= 1
    face = X[y == 1].mean(axis=0)

    def at(across, down):
        return face[int(down * 24), int(across * 24)]

    # oval 0.3 + 0.45 exp(-r²), less eyes of 0.375, more a nose of 0.1, less a mouth of 0.275 on average
    def oval(a, b):
        return 0.3 + 0.45 * np.exp(-(((a - 0.5) / 0.5) ** 2) - ((b - 0.5) / 0.6) ** 2)

    for a in (0.3, 0.7):
        near(at(a, 0.38), oval(a, 0.38) - 0.375, 0.06)
    near(at(0.5, 0.5), oval(0.5, 0.5) + 0.1, 0.06)
    near(at(0.5, 0.78), oval(0.5, 0.78) - 0.275, 0.07)
    near(at(0.5, 0.9), oval(0.5, 0.9), 0.05)  # below the mouth, which is thin
    near(at(0.5, 0.05), oval(0.5, 0.05), 0.03)
    near(at(0.02, 0.02), oval(0.02, 0.02), 0.03)
    near(face[:, ::-1], face, 0.06)  # two eyes alike
    light = X[y == 1][:, 16:18, -3:].mean(axis=(1, 2)) - X[y == 1][:, 16:18, :3].mean(axis=(1, 2))
    near([light.mean(), light.std()], [0.0, 0.1], 0.025)
    back = X[y == 0]
    near(back.mean(), 0.5, 0.04)
    assert 0.12 < back.mean(axis=(1, 2)).std() < 0.25 and back.mean(axis=0).std() < 0.05
    whole = back[(back.min(axis=(1, 2)) > 0) & (back.max(axis=(1, 2)) < 1)]  # none of it was cut
    mixed = whole[:, 1:, 1:] - whole[:, 1:, :-1] - whole[:, :-1, 1:] + whole[:, :-1, :-1]
    noise = mixed.std(axis=(1, 2)) / 2  # what a gradient leaves of the noise
    near(noise.min(), 0.022, 0.008)
    line = (np.arange(24) + 0.5) / 24
    plane = np.column_stack([np.ones(576), np.repeat(line, 24), np.tile(line, 24)])
    rest = back.reshape(-1, 576).T - plane @ np.linalg.lstsq(plane, back.reshape(-1, 576).T)[0]
    power = np.abs(np.fft.fft2(rest.T.reshape(-1, 24, 24))) ** 2
    stripes = power.max(axis=(1, 2)) / power.sum(axis=(1, 2)) > 0.2  # two opposite waves hold most of it
    assert 0.08 < stripes.mean() < 1 / 3  # a third has stripes, and noise drowns some


# Texts


@pytest.mark.parametrize("kind", ["topics", "bars", "mail", "inventories"])
def test_texts_are_as_long_as_asked_and_words_as_frequent_as_their_topics(kind):
    text = make_text(kind, 600, length=80, random_state=0)
    near(text.counts.sum(axis=1).mean(), 80, 1.5)
    near(text.topics.sum(axis=1), 1.0, 1e-12), near(text.shares.sum(axis=1), 1.0, 1e-9)
    wanted = 80 * text.shares @ text.topics
    near(text.counts.sum(axis=0) / wanted.sum(axis=0), 1.0, 0.35)
    left = (text.counts - wanted) / np.sqrt(wanted + 1e-3)
    near(left[wanted > 0.5].std(), 1.0, 0.06)
    words = text.documents[0].split()
    assert [words.count(word) for word in text.vocabulary] == text.counts[0].tolist()


def test_short_texts_have_one_word_where_none_was_drawn():
    text = make_text("topics", 4000, length=1, random_state=0)
    sizes = np.bincount(text.counts.sum(axis=1), minlength=4)[:4] / 4000
    wanted = np.array([0, 1 + 1, 1 / 2, 1 / 6]) / np.e  # Poisson of mean 1; none counts as one
    near(sizes, wanted, 0.03)


def test_topics_own_ten_words_each_and_share_the_others_a_little():
    text = make_text("topics", 5, random_state=0)
    for k, row in enumerate(text.topics):
        own = row[10 * k : 10 * k + 10]
        near(own.sum(), 1.1 / 1.3, 1e-12)
        near(np.delete(row, np.arange(10 * k, 10 * k + 10)), 0.01 / 1.3, 1e-12)
        assert (own >= 0.01 / 1.3).all() and text.vocabulary[10 * k] == ("sport0", "music0", "trade0")[k]
    mail = make_text("mail", 5, random_state=0)
    index = [mail.vocabulary.index(word) for word in ("free", "you", "meeting")]
    spam, plain = mail.topics[:, index]
    assert spam[0] == pytest.approx(6 * spam[1]) and spam[1] == pytest.approx(spam[2])
    assert plain[2] == pytest.approx(6 * plain[1]) and plain[0] == pytest.approx(plain[1])


def test_bars_are_the_rows_and_columns_of_a_picture():
    topics = make_text("bars", 1, random_state=0).topics.reshape(10, 5, 5)
    for k in range(5):
        assert (topics[k][k] == 0.2).all() and topics[k].sum() == pytest.approx(1.0)
        assert (topics[5 + k][:, k] == 0.2).all() and topics[5 + k].sum() == pytest.approx(1.0)


def test_sentences_have_their_adjective_in_front_or_behind():
    text = make_text("sentences", 400, random_state=0)
    early = np.mean([tags[1] == "A" for tags in text.tags])
    near(early, 0.5, 0.06)
    for line, tags in zip(text.documents[:50], text.tags):
        for word, tag in zip(line.split(), tags):
            assert (
                word
                in {
                    "D": "the a every",
                    "A": "old small good",
                    "N": "dog bird man book",
                    "V": "sees likes reads",
                }[tag].split()
            )
    assert text.counts.sum() == 2400


def test_news_have_common_words_for_a_third_and_their_subject_for_the_rest():
    news = make_news(800, 50, random_state=0)
    words = [text.split() for text in news.data]
    near(np.mean([len(one) for one in words]), 50, 1)
    from gnomon.datasets.documents import COMMON, SUBJECTS

    common = [word in COMMON for one in words for word in one]
    near(np.mean(common), 0.35, 0.02)
    assert (news.shares.argmax(axis=1) == news.target).all()
    for text, share in list(zip(words, news.shares))[:30]:
        own = [word for word in text if word not in COMMON]
        top = news.target_names[share.argmax()]
        hits = np.mean([word in SUBJECTS[top].split() for word in own])
        assert abs(hits - share.max()) < 0.35
    first = SUBJECTS[news.target_names[0]].split()
    flat = [word for one in words for word in one if word in first]
    counts = np.array([flat.count(word) for word in first], dtype=float)
    wanted = np.arange(1, 13) ** -0.7
    near(counts / counts.sum(), wanted / wanted.sum(), 0.03)


# Tables


def test_genes_are_shifted_by_two_and_share_pathways():
    genes = make_table("genes", 4000, n_features=60, n_informative=12, random_state=0)
    assert (
        genes.target.sum() == 2000 and len(genes.informative) == 12 and (np.diff(genes.informative) > 0).all()
    )
    shift = genes.data[genes.target == 1].mean(axis=0) - genes.data[genes.target == 0].mean(axis=0)
    near(np.abs(shift[genes.informative]), 2.0, 0.4)
    near(np.delete(shift, genes.informative), 0.0, 0.4)
    assert 0 < (shift[genes.informative] > 0).sum() < 12
    rest = np.delete(genes.data, genes.informative, axis=1)
    values = np.linalg.eigvalsh(np.cov(rest.T))
    near(values[:28], 1.0, 0.2)  # noise of one, and twenty pathways above it
    assert (values[28:] > 1.5).all() and rest.var() == pytest.approx(1 + 20 * 0.25, rel=0.25)
    assert len(make_table("genes", 5, n_features=4, n_informative=4, random_state=0).informative) == 4
    assert len(make_table("genes", 5, n_features=4, n_informative=0, random_state=0).informative) == 0
    for wrong in (-1, 5):
        with pytest.raises(DataError, match="n_informative must lie between"):
            make_table("genes", 5, n_features=4, n_informative=wrong)


def test_a_smaller_group_is_harder_to_predict_by_the_gap():
    table = make_table("subgroups", 40_000, gap=0.15, share=0.2, random_state=0)
    small = table.groups == "small"
    near(small.mean(), 0.2, 0.01)
    assert sorted(set(table.probability[~small].round(9))) == [0.1, 0.9]
    assert sorted(set(table.probability[small].round(9))) == [0.25, 0.75]
    assert ((table.probability > 0.5) == (table.data[:, 0] + table.data[:, 1] > 0)).all()
    for p in (0.1, 0.25, 0.75, 0.9):
        near(table.target[np.isclose(table.probability, p)].mean(), p, 0.02)
    near(
        [table.data[small, 2].mean(), table.data[~small, 2].mean(), table.data[~small, 2].std()],
        [1, 0, 0.5],
        0.03,
    )
    for wrong in ({"gap": 0.41}, {"gap": -0.1}, {"share": 0.0}, {"share": 1.0}):
        with pytest.raises(DataError, match="gap must lie in"):
            make_table("subgroups", 5, **wrong)
    make_table("subgroups", 5, gap=0.4), make_table("subgroups", 5, gap=0.0)


def test_a_species_prefers_by_a_log_linear_law():
    species = make_table("species", 200_000, size=5, random_state=0)
    logs = np.log(species.probability) - species.data @ species.weights
    near(logs, logs[0], 1e-12)
    assert species.probability.sum() == pytest.approx(1.0) and species.data.shape == (25, 3)
    near(species.data[:, 2], species.data[:, 0] * species.data[:, 1], 1e-12)
    near([species.data.min(), species.data.max()], [-1, 1], 1e-12)
    near(species.counts / 200_000, species.probability, 0.004)


def test_baskets_hold_patterns_three_times_of_ten():
    table = make_table("baskets", 20_000, random_state=0)
    X = table.data
    near(X[:, 5:].mean(axis=0), 0.08, 0.01)
    near(X[:, :5].mean(axis=0), 0.3 + 0.7 * 0.08, 0.015)
    near((X[:, 0] & X[:, 1]).mean(), 0.3 + 0.7 * 0.08**2, 0.015)
    near((X[:, 0] & X[:, 2]).mean(), 0.356**2, 0.015)
    assert table.patterns == ((0, 1), (2, 3, 4)) and table.baskets[7] == np.flatnonzero(X[7]).tolist()
    with pytest.raises(DataError, match="items from 0 to 4"):
        make_table("baskets", 5, n_items=5, patterns=[(0, 5)])
    make_table("baskets", 5, n_items=5, patterns=[(0, 4)])


def test_answers_of_a_survey_depend_on_the_group_alone():
    survey = make_table("survey", 30_000, random_state=0)
    near(survey.groups.mean(), 0.5, 0.01)
    assert (survey.data.min(axis=0) == 0).all() and (survey.data < survey.n_values).all()
    differ = 0
    for j, k in enumerate(survey.n_values):
        tables = [np.bincount(survey.data[survey.groups == g, j], minlength=k) for g in (0, 1)]
        differ += np.abs(np.diff([t / t.sum() for t in tables], axis=0)).sum() > 0.1
    assert differ > len(survey.n_values) / 2
    first, second = survey.data[survey.groups == 0][:, :2].T
    near(np.corrcoef(first, second)[0, 1], 0.0, 0.03)


def test_hidden_tastes_are_sums_of_rank():
    table = make_table("ratings", 400, n_items=50, rank=3, density=0.5, noise=0.1, random_state=0)
    near(table.full, 3 + table.users @ table["items"].T / np.sqrt(3), 1e-12)
    seen = np.isfinite(table.data)
    near(seen.mean(), 0.5, 0.02)
    inside = seen & (table.full > 1.5) & (table.full < 4.5)
    near((table.data - table.full)[inside].std(), np.sqrt(0.01 + 1 / 12), 0.01)  # noise and rounding
    assert set(np.unique(table.data[seen])) == {1, 2, 3, 4, 5}
    assert np.isfinite(make_table("ratings", 5, density=1.0, random_state=0).data).all()
    for wrong in (0.0, 1.1):
        with pytest.raises(DataError, match="density must lie in"):
            make_table("ratings", 5, density=wrong)
    songs = make_table("songs", 500, n_items=40, random_state=0)
    near(songs.probability, 1 / (1 + np.exp(-2 * songs.users @ songs["items"].T)), 1e-12)
    near(
        ((songs.data - songs.probability) ** 2).mean(),
        (songs.probability * (1 - songs.probability)).mean(),
        0.01,
    )
    assert ((songs.data == 1) == (songs.probability > 0.5)).mean() > 0.7


def test_income_confounders_far_points_and_coins():
    income = make_table("income", 20_000, random_state=0)
    near([income.data.min(axis=0), income.data.max(axis=0)], [[10, 20], [22, 190]], 0.2)
    near((income.target - income.data @ income.coef + 50).std(), 5.0, 0.1)
    table = make_table("omitted variable", 20_000, correlation=-0.6, noise=0.5, random_state=0)
    near(np.cov(table.data.T), [[1, -0.6], [-0.6, 1]], 0.03)
    near((table.target - table.data @ [-1.0, 2.0]).std(), 0.5, 0.01)
    near(np.polyfit(table.data[:, 0], table.target, 1)[0], -1 + 2 * -0.6, 0.04)
    with pytest.raises(DataError, match="correlation must be in"):
        make_table("omitted variable", 5, correlation=1.1)
    make_table("omitted variable", 5, correlation=-1.0)
    far = make_table("far points", 3001, n_far=1000, distance=10.0, random_state=0)
    assert far.target.tolist() == [0] * 1000 + [1] * 2001
    for rows, place in (
        (slice(0, 1000), (-2, 0)),
        (slice(1000, 2001), (2, 0)),
        (slice(2001, None), (10, -5)),
    ):
        near(far.data[rows].mean(axis=0), place, 0.08)
        near(far.data[rows].std(axis=0), 0.6, 0.05)
    for wrong in (-1, 6):
        with pytest.raises(DataError, match="n_far must lie between"):
            make_table("far points", 5, n_far=wrong)
    assert len(make_table("far points", 5, n_far=5).data) == 5
    coins = make_table("coin triples", 40_000, weight=0.3, heads=(0.8, 0.1), random_state=0)
    near((coins.target == 0).mean(), 0.3, 0.01)
    near([coins.data[coins.target == k].mean() for k in (0, 1)], [0.8, 0.1], 0.01)
    for wrong in ({"weight": -0.1}, {"heads": (0.5, 1.1)}):
        with pytest.raises(DataError, match="are probabilities"):
            make_table("coin triples", 5, **wrong)


# Points, ratings, sequences


def test_patterns_lie_where_they_are_told():
    X, y = make_pattern("rings", 4000, noise=0.0, random_state=0)
    radius = np.hypot(*X.T)
    assert radius[y == 0].max() <= 0.8 and 1.2 <= radius[y == 1].min() and radius[y == 1].max() <= 2.0
    near(
        [(radius[y == 0] ** 2).mean(), radius[y == 1].mean()], [0.32, 1.6], 0.02
    )  # a disc that is filled evenly
    X, y = make_pattern("xor", 400, noise=0.0, random_state=0)
    assert (np.abs(X) == 1).all() and ((X[:, 0] * X[:, 1] < 0) == (y == 1)).all()
    X, y = make_pattern("quadrants", 4000, noise=0.0, random_state=0)
    assert ((X[:, 0] * X[:, 1] < 0) == (y == 1)).all()
    near(np.abs(X).mean(axis=0), 0.5, 0.02)
    X, y = make_pattern("spirals", 2000, noise=0.0, random_state=0)
    radius, angle = np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])
    off = np.exp(1j * (angle - np.pi * radius - np.pi * y))
    near(off, 1.0, 1e-9)
    near([radius.min(), radius.max()], [3 * np.sqrt(0.02), 3.0], 0.03)
    X, y = make_pattern("moons", 2000, noise=0.0, random_state=0)
    near(np.hypot(*X[y == 0].T), 1.0, 1e-12), near(np.hypot(*(X[y == 1] - [1, 0.5]).T), 1.0, 1e-12)
    assert X[y == 0][:, 1].min() >= 0 and X[y == 1][:, 1].max() <= 0.5
    blurred = make_pattern("xor", 40_000, noise=0.2, random_state=0)[0]
    near((np.abs(blurred) - 1).std(), 0.2, 0.01)
    X, y = make_pattern("clouds", 4000, noise=0.0, random_state=0)
    for label in (0, 1):
        gaps = np.abs(X[y == label][:, None] - CLOUD_CENTERS[label]).sum(axis=2)
        near(gaps.min(axis=1), 0.0, 0.0)
        near(np.bincount(gaps.argmin(axis=1), minlength=10) / (y == label).sum(), 0.1, 0.03)
    _, y = make_pattern("moons", 200, n_labeled=7, random_state=0)
    assert np.bincount(y + 1).tolist() == [186, 7, 7]


@pytest.mark.parametrize("noise", [0.2, 1.0])
def test_posteriors_of_clouds_are_those_of_two_mixtures(noise):
    X = np.random.default_rng(0).normal(size=(50, 2))
    one, two = (
        np.exp(-((X[:, None] - centers) ** 2).sum(axis=2) / (2 * noise**2)).sum(axis=1)
        for centers in CLOUD_CENTERS
    )
    near(clouds_posterior(X, noise), two / (one + two), 1e-9)
    near(clouds_posterior([[1e6, -1e6], [-1e6, 1e6]], noise), [0.0, 1.0], 1e-12)


@pytest.mark.parametrize("scale", [None, [1.0, 2, 3, 4, 5]])
@pytest.mark.parametrize("popularity", [0.0, 0.8])
def test_ratings_are_three_and_a_product_of_unit_spread(scale, popularity):
    R, U, V = make_ratings(
        400, 60, rank=4, density=0.2, noise=0.25, scale=scale, popularity=popularity, random_state=0
    )
    near((U @ V.T).std(), 1.0, 0.1)
    near(R.n_ratings / (400 * 60), 0.2, 0.015 if popularity else 0.0)
    truth = 3 + np.einsum("ek,ek->e", U[R.users], V[R.items])
    if scale is None:
        near((R.values - truth).std(), 0.25, 0.01)
    else:
        assert set(R.values) == set(scale)
        inside = (truth > 1.5) & (truth < 4.5)
        near((R.values - truth)[inside].std(), np.sqrt(0.25**2 + 1 / 12), 0.02)
    share = np.bincount(R.items, minlength=60) / R.n_ratings
    if popularity:
        assert share[0] > 3 * share[30] and np.corrcoef(share, (1 + np.arange(60.0)) ** -0.8)[0, 1] > 0.9
    else:
        near(share, 1 / 60, 0.008)
    assert len(set(zip(R.users.tolist(), R.items.tolist()))) == R.n_ratings


@pytest.mark.parametrize("density", [0.0, 1.5])
def test_densities_are_shares(density):
    with pytest.raises(DataError, match="density must lie in"):
        make_ratings(3, 3, density=density)


def test_copies_come_after_their_sign():
    X, Y = make_copy_task(200, 3, 2, random_state=0)
    assert X.shape == (200, 7, 3) and Y.shape == (200, 7, 2)
    near(X[:, :3, :2].mean(), 0.5, 0.05)
    assert set(np.unique(X)) == {0.0, 1.0} and (X[:, 3, 2] == 1).all() and not X[:, 3:, :2].any()
    assert not X[:, :3, 2].any() and not X[:, 4:, 2].any()
    assert np.isnan(Y[:, :4]).all() and (Y[:, 4:] == X[:, :3, :2]).all()
    assert make_copy_task(1, 1, 1)[0].shape == (1, 3, 2)
    for wrong in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            make_copy_task(*wrong)


def test_forms_of_covariances_and_what_is_none():
    for form in (4.0, [4.0, 4.0], [[4.0], [4.0]], [[4.0, 4.0], [4.0, 4.0]], np.array([np.eye(2) * 4.0] * 2)):
        X, y = make_mixture([0.5, 0.5], [[0, 0], [50, 0]], form, 8000, random_state=0)
        near(np.cov(X[y == 1].T), 4 * np.eye(2), 0.35)
    X, y = make_mixture([0.5, 0.5], [[0, 0], [50, 0]], [[1.0, 9.0], [4.0, 0.0]], 8000, random_state=0)
    near([X[y == 0].std(axis=0), X[y == 1].std(axis=0)], [[1, 3], [2, 0]], 0.1)
    for wrong, words in (
        (np.array([[[1.0, 2], [2, 1]]] * 2), "positive definite"),
        ([1.0, 2.0, 3.0], "covariances must be a number"),
        ([1.0, -1.0], "must not be negative"),
    ):
        with pytest.raises(DataError, match=words):
            make_mixture([0.5, 0.5], [[0, 0], [5, 0]], wrong, 5)
    for weights in ([0.5, 0.6], [-0.5, 1.5], [1.0]):
        with pytest.raises(DataError, match="2 probabilities"):
            make_mixture(weights, [[0, 0], [5, 0]], 1.0, 5)
