"""Earthquakes, words, tags, tables on disk."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.core.errors import DataError
from gnomon.datasets import load_earthquakes, load_lesson, make_casino, make_toy_words, make_trajectory
from gnomon.distributions import Poisson
from gnomon.mixture import PoissonMixture
from gnomon.sequence import (
    HMM,
    CategoricalHMM,
    GaussianHMM,
    HMMClassifier,
    HMMTagger,
    KalmanFilter,
    PoissonHMM,
    TokenClassifier,
    WordRecognizer,
    quantize_frames,
    select_n_states,
    spectrogram_features,
    tracking_model,
)
from gnomon.sequence.tagging import token_features

pytestmark = pytest.mark.filterwarnings("ignore:.*did not converge")


@pytest.fixture(scope="module")
def quakes():
    return np.asarray(load_earthquakes().data, dtype=float).reshape(-1, 1)


@pytest.fixture(scope="module")
def fitted(quakes):
    prototype = PoissonHMM(start="stationary", n_iter=50, tol=1e-3, random_state=0)
    return select_n_states(quakes, [1, 2, 3, 4], model=prototype, n_init=8)


def test_earthquake_likelihoods_and_criteria(fitted):
    table = fitted.table
    assert_allclose(
        table["neg_log_likelihood"], [391.9189282, 342.3182668, 329.4602768, 327.8315853], atol=2e-6
    )
    assert table["parameters"].tolist() == [1, 4, 9, 16]
    assert_allclose(table["aic"], [785.8379, 692.6365, 676.9206, 687.6632], atol=1e-4)
    assert_allclose(table["bic"], [788.5107, 703.3278, 700.9760, 730.4284], atol=1e-4)
    assert fitted.best.n_components == 3 and table["aic"].argmin() == 2


def runs(path, order):
    rank = np.argsort(order)
    borders = np.r_[0, np.flatnonzero(np.diff(path)) + 1, len(path)]
    return [(int(rank[path[a]]), int(b - a)) for a, b in zip(borders[:-1], borders[1:])]


def test_two_earthquake_states(quakes):
    model = PoissonHMM(2, start="stationary", n_iter=50, n_init=3, random_state=0).fit(quakes)
    order = np.argsort(model.lambdas_.ravel())
    assert_allclose(model.lambdas_.ravel()[order], [15.47228, 26.12544], atol=1e-5)
    A = model.transmat_[np.ix_(order, order)]
    assert_allclose(A, [[0.934041, 0.065959], [0.128509, 0.871491]], atol=1e-6)
    score, path = model.decode(quakes)
    assert score == pytest.approx(-347.2051, abs=1e-4)
    wanted = [(0, 5), (1, 14), (0, 15), (1, 18), (0, 5), (1, 1), (0, 10), (1, 9), (0, 30)]
    assert runs(path, order) == wanted


def test_three_earthquake_states(quakes, fitted):
    order = np.argsort(fitted.best.lambdas_.ravel())
    assert_allclose(fitted.best.lambdas_.ravel()[order], [13.14574, 19.72105, 29.71445], atol=1e-4)
    assert_allclose(fitted.best.startprob_[order], [0.443641, 0.404501, 0.151858], atol=1e-5)
    score, path = fitted.best.decode(quakes)
    assert score == pytest.approx(-336.3976, abs=1e-3)
    wanted = [(0, 5), (2, 6), (1, 8), (0, 4), (1, 19), (2, 9), (1, 17), (2, 3), (1, 10), (0, 26)]
    assert runs(path, order) == wanted


def test_five_earthquake_states(quakes):
    model = PoissonHMM(5, start="stationary", method="direct", n_init=10, random_state=0).fit(quakes)
    assert -model.score(quakes) <= 325.90005


def test_six_earthquake_states_from_a_hand_made_start(quakes):
    model = PoissonHMM(6, start="stationary", method="direct", init_params="")
    model.lambdas_ = np.array([13.2, 13.3, 19.7, 24.0, 29.7, 33.9]).reshape(-1, 1)
    model.startprob_, model.transmat_ = np.full(6, 1 / 6), np.full((6, 6), 0.02) + 0.88 * np.eye(6)
    model.fit(quakes)
    assert -model.score(quakes) <= 324.22705


@pytest.mark.parametrize(
    ("rates", "cost", "aic", "bic"),
    [
        ([15.0, 25.0], 360.3690436, 726.7381, 734.7566),
        ([13.0, 20.0, 32.0], 356.8489391, 723.6979, 737.0620),
        ([10.0, 15.0, 21.0, 32.0], 356.7337011, 727.4674, 746.1772),
    ],
)
def test_independent_poisson_mixtures(quakes, rates, cost, aic, bic):
    """A chain whose rows are all alike is the mixture."""
    K = len(rates)
    start = {"weights_init": np.full(K, 1 / K), "parameters_init": np.reshape(rates, (K, 1))}
    mixture = PoissonMixture(K, tol=1e-12, max_iter=20_000, **start).fit(quakes)
    assert_allclose([mixture.aic(quakes), mixture.bic(quakes)], [aic, bic], atol=1e-4)
    chain = HMM.from_mixture(Poisson(mixture.rates_), mixture.weights_)
    assert -chain.score(quakes) == pytest.approx(cost, abs=1e-6)
    if K == 2:
        assert_allclose(mixture.weights_, [0.675726, 0.324274], atol=1e-5)
        assert_allclose(mixture.rates_.ravel(), [15.777108, 26.839895], atol=1e-4)


@pytest.mark.parametrize(
    "wrong", [None, "word", 3.0, [None], ["a", "b"], [[1.0, 2.0], "x"], [np.zeros((2, 2))]]
)
def test_what_is_no_list_of_sounds_is_refused_in_our_words(wrong):
    signals, words = make_toy_words(["one", "two"], 2, random_state=0)
    model = WordRecognizer(n_states=2, n_codes=4, random_state=0).fit(signals, words)
    with pytest.raises(DataError, match="X"):
        model.predict(wrong)
    with pytest.raises(DataError, match="X|y"):
        WordRecognizer().fit(wrong, words)
    with pytest.raises(DataError, match="y must have one entry for each of the 4 rows"):
        WordRecognizer().fit(signals, words[:1])


def test_words_are_recognized():
    signals, words = make_toy_words(["zero", "one", "two"], 8, random_state=0)
    model = WordRecognizer(n_states=3, n_codes=24, random_state=0).fit(signals[:15], words[:15])
    assert model.score(signals[15:], words[15:]) == 1.0
    codes = model.codewords(signals[:1])[0]
    features = spectrogram_features(signals[0], 8000)
    assert_array_equal(codes, quantize_frames(features, model.codebook_))
    gaps = ((features[:, None] - model.codebook_) ** 2).sum(axis=2)
    assert_array_equal(codes, gaps.argmin(axis=1))
    assert model.log_likelihoods(signals[:2]).shape == (2, 3)


def test_a_tone_lights_its_filter():
    t = np.arange(8000) / 8000
    F = spectrogram_features(np.sin(2 * np.pi * 1000 * t), 8000, n_features=20, scale="linear", log=False)
    assert F.mean(axis=0).argmax() == 4
    assert F.shape == (96, 20)


def mel(hertz):
    return 2595 * np.log10(1 + hertz / 700)


@pytest.mark.parametrize("scale", ["mel", "linear"])
@pytest.mark.parametrize("log", [True, False])
def test_features_are_triangles_of_the_spectrum_of_every_window(scale, log):
    rate, rng = 1000.0, np.random.default_rng(0)
    x = rng.normal(size=95) * 1e3
    found = spectrogram_features(x, rate, window=0.03, hop=0.02, n_features=5, scale=scale, log=log)
    ends = np.linspace(0, mel(500.0) if scale == "mel" else 500.0, 7)
    hertz = np.arange(16) * rate / 30
    at = mel(hertz) if scale == "mel" else hertz
    back = 700 * (10 ** (ends / 2595) - 1) if scale == "mel" else ends
    assert np.allclose(np.interp(back, hertz, at), ends, rtol=0.05)  # the edges are those frequencies
    wanted = []
    for first in range(0, 95 - 30 + 1, 20):
        wave = x[first : first + 30] * 0.5 * (1 - np.cos(2 * np.pi * np.arange(30) / 29))
        size = [abs(sum(wave * np.exp(-2j * np.pi * k * np.arange(30) / 30))) for k in range(16)]
        wanted.append([np.interp(hertz, back[j : j + 3], [0, 1, 0]) @ size for j in range(5)])
    assert_allclose(found, np.log(np.maximum(wanted, 1e-10)) if log else wanted, rtol=1e-8, atol=1e-8)


def test_short_and_silent_sounds_have_features():
    silent = spectrogram_features(np.zeros(40), 1000.0, n_features=3)
    assert silent.shape == (1, 3) and (silent == np.log(1e-10)).all()
    short = spectrogram_features(np.ones(20), 1000.0, n_features=3)
    assert_allclose(short, spectrogram_features(np.r_[np.ones(20), np.zeros(30)], 1000.0, n_features=3))
    assert spectrogram_features(np.ones(50), 1000.0, n_features=3).shape == (1, 3)
    assert spectrogram_features(np.ones(60), 1000.0, n_features=3).shape == (2, 3)
    for signal, options in (
        ([], {}),
        ([0.0, np.inf], {}),
        (np.ones((60, 2)), {}),
        (np.ones(60), {"window": 0.001}),
        (np.ones(60), {"hop": 0.0004}),
        (np.ones(60), {"scale": "bark"}),
    ):
        with pytest.raises(DataError, match="signal must|scale must be 'mel' or 'linear'"):
            spectrogram_features(signal, 1000.0, **options)
    assert spectrogram_features(np.ones(60), 1000.0, window=0.002, hop=0.001, n_features=1).shape == (59, 1)
    for features, codebook in (([1.0], [[1.0]]), ([[1.0]], [1.0]), ([[1.0, 2.0]], [[1.0]])):
        with pytest.raises(DataError, match="as many columns"):
            quantize_frames(features, codebook)


def test_taggers_on_the_treebank():
    sentences, tags = load_lesson("treebank").values()
    test = [["Faith", "is", "a", "fine", "invention"]]
    for model in (HMMTagger(), TokenClassifier()):
        model.fit(sentences, tags)
        assert model.predict(test).tolist() == [["N", "V", "D", "A", "N"]]
        assert model.score(sentences, tags) > 0.95
    unknown = HMMTagger().fit(sentences, tags).predict([["The", "creation", "is", "a", "fine", "notion"]])
    assert unknown.tolist() == [["D", "N", "V", "D", "A", "N"]]


TAGGED = (
    [["The", "dog", "barks"], ["a", "cat", "sings", "loudly"], ["dogs", "sing"], ["it"]],
    [["D", "N", "V"], ["D", "N", "V", "A"], ["N", "V"], ["N"]],
)


def test_the_tags_are_the_best_of_all_and_endings_speak_for_unknown_words():
    """An unknown word has the tags of the different known words with its longest known ending of three letters."""
    from itertools import product

    model = HMMTagger(smoothing=0.5).fit(*TAGGED)
    assert model.tags_.tolist() == ["A", "D", "N", "V"] and model.tag_counts_.tolist() == [1, 2, 4, 3]
    known = {(w, s) for words, tags in zip(*TAGGED) for w, s in zip(words, tags)}

    def chance(word, k):
        if word in model.words_:
            return model.emissionprob_[k, model.words_.tolist().index(word)]
        for size in (3, 2, 1, 0):
            alike = [
                s
                for w, s in known
                if size <= len(word) and w.lower().endswith(word.lower()[len(word) - size :])
            ]
            if alike:
                count = np.array([alike.count(s) for s in model.tags_])
                return (count[k] + 0.1) / (len(alike) + 0.4) / model.tag_counts_[k]

    for sentence in (["The", "cogs", "PARKS"], ["my", "xyz", "madly"], ["cat"], ["s", "dog", "bings"]):
        best, found = -np.inf, None
        for tags in product(range(4), repeat=len(sentence)):
            p = model.startprob_[tags[0]] * np.prod([chance(w, k) for w, k in zip(sentence, tags)])
            p *= np.prod([model.transmat_[a, b] for a, b in zip(tags, tags[1:])])
            if p > best * (1 + 1e-12):
                best, found = p, [model.tags_[k] for k in tags]
        assert model.predict([sentence]).tolist() == [found]


def test_what_can_be_seen_of_a_word():
    rows = token_features(["Mr.", "Smith", "x7"])
    assert rows[0] == {
        "word": "mr.", "suffix2": "r.", "suffix3": "mr.", "prefix": "mr", "capital": True, "digit": False,
        "first": True, "last": False, "before": "<s>", "after": "smith",
    }  # fmt: skip
    assert rows[2] == {
        "word": "x7", "suffix2": "x7", "suffix3": "x7", "prefix": "x7", "capital": False, "digit": True,
        "first": False, "last": True, "before": "smith", "after": "</s>",
    }  # fmt: skip
    alone = token_features(["It"])[0]
    assert alone["first"] and alone["last"] and alone["before"] == "<s>" and alone["after"] == "</s>"


@pytest.mark.parametrize("alpha", [0.01, 0.3, 8.0])
def test_words_by_themselves_are_a_penalized_softmax(alpha):
    model = TokenClassifier(alpha=alpha).fit(*TAGGED)
    names = list(model.vocabulary_)
    assert names == sorted(names) and "word=dog" in names and "first" in names
    rows = [row for sentence in TAGGED[0] for row in token_features(sentence)]
    F = np.zeros((len(rows), len(names)))
    for i, row in enumerate(rows):
        for key, value in row.items():
            F[i, names.index(f"{key}={value}" if isinstance(value, str) else key)] = value is not False
    truth = np.array([tag for tags in TAGGED[1] for tag in tags])[:, None] == model.classes_
    scores = np.exp(F @ model.coef_)
    P = scores / scores.sum(axis=1, keepdims=True)
    slope = F.T @ (P - truth) + alpha * model.coef_
    assert np.abs(slope).max() < 1e-3
    assert model.predict(TAGGED[0]).tolist() == TAGGED[1] and model.score(*TAGGED) == 1.0
    assert model.score([["it", "dog"]], [["N", "V"]]) == 0.5
    for X, y in (([["a", "b"]], [["D"]]), ([["a"]], [["D"], ["N"]])):
        with pytest.raises(DataError, match="as many tags as it has words"):
            model.fit(X, y)
    with pytest.raises(DataError, match="no words"):
        model.fit([[], []], [[], []])


def test_classifier_of_sequences():
    rng = np.random.default_rng(0)
    slow = [rng.normal(np.repeat([0, 5], 20)) for _ in range(6)]
    quick = [rng.normal(np.tile([0, 5], 20)) for _ in range(6)]
    y = np.repeat(["slow", "quick"], 6)
    model = HMMClassifier(GaussianHMM(2, n_iter=30, random_state=0), priors="empirical").fit(slow + quick, y)
    assert model.score(slow + quick, y) == 1.0  # same values, other order: a mixture could not tell
    assert_allclose(model.predict_proba(slow).sum(axis=1), 1)


def test_casino_is_learned():
    rolls, dice = make_casino(20_000, random_state=0)
    model = CategoricalHMM(2, n_iter=200, n_init=2, tol=1e-3, random_state=0).fit(rolls)
    loaded = model.emissionprob_[:, 5].argmax()
    assert model.emissionprob_[loaded, 5] == pytest.approx(0.5, abs=0.05)
    assert ((model.predict(rolls) == loaded) == dice).mean() > 0.75


def test_tracking_beats_the_measurements():
    seen, true = make_trajectory(200, random_state=0)
    model = tracking_model(0.5, alpha=0.3, process_noise=0.05, measurement_noise=1.0)
    smooth = model.smooth(seen).means[:, [0, 3]]
    filtered = model.filter(seen).means[:, [0, 3]]
    errors = [np.abs(path - true).mean() for path in (seen, filtered, smooth)]
    assert errors[2] < errors[1] < errors[0]


@pytest.fixture(scope="module")
def long_table():
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 40, 300)
    X = np.concatenate(
        [rng.normal(np.where(np.arange(n) < n // 2, 0, 4)[:, None], 1, (n, 2)) for n in lengths]
    )
    return X, lengths


def agree(model, base, kind=GaussianHMM):
    assert_allclose(model.transmat_, base.transmat_, rtol=1e-8)
    assert_allclose(model.means_, base.means_, rtol=1e-8)
    assert model.trace_[-1] == pytest.approx(base.trace_[-1], rel=1e-10)


def test_parquet_equals_memory(long_table, tmp_path):
    import pandas as pd

    X, lengths = long_table
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["who"] = np.repeat(np.arange(len(lengths)), lengths)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    base = GaussianHMM(2, n_iter=5, tol=0, random_state=0).fit(X, lengths=lengths)
    model = GaussianHMM(2, n_iter=5, tol=0, random_state=0).fit(str(tmp_path / "rows.parquet"), lengths="who")
    agree(model, base)
    kalman = KalmanFilter(max_iter=3, tol=0).fit(str(tmp_path / "rows.parquet"), lengths="who")
    again = KalmanFilter(max_iter=3, tol=0).fit(X, lengths=lengths)
    assert_allclose(kalman.transition_covariance_, again.transition_covariance_, rtol=1e-8)


def test_dask_equals_memory(long_table):
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    X, lengths = long_table
    who = np.repeat(np.arange(len(lengths)), lengths)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["who"] = who
    frame.index = who  # partitions hold whole sequences
    parts = dd.from_pandas(frame, npartitions=4, sort=True)
    base = GaussianHMM(2, n_iter=5, tol=0, random_state=0).fit(X, lengths=lengths)
    agree(GaussianHMM(2, n_iter=5, tol=0, random_state=0).fit(parts, lengths="who"), base)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X = [[0.0, 1.0, 0.5], [9.0, 8.0, 9.5]]
    model = HMMClassifier(GaussianHMM(1)).fit(X, ["low", "high"])
    with pytest.raises(ValueError, match="priors must hold 2"):
        model.set_params(priors=[0.2, 0.3, 0.5]).fit(X, ["low", "high"])
    assert model.predict([[8.0, 9.0]])[0] == "high"


def test_sentences_of_any_length():
    sentences, tags = load_lesson("treebank").values()
    for model in (HMMTagger(), TokenClassifier()):
        said = model.fit(sentences, tags).predict([["Faith"], [], ["Faith", "is"]])
        assert [len(sentence) for sentence in said] == [1, 0, 2]


@pytest.mark.parametrize("sound", [np.full(4000, np.nan), np.full(4000, np.inf), np.array([])])
def test_sound_without_sense_is_refused(sound):
    with pytest.raises(DataError, match="signal"):
        spectrogram_features(sound, 8000)
