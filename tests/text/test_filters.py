"""Counting words and filtering documents."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.preprocessing import Normalizer

from gnomon.bayes import BernoulliNB, MultinomialNB
from gnomon.core.errors import DataError
from gnomon.linear import LogisticRegression
from gnomon.text import document_filter, top_terms

TEXTS = ["The dog and the cat", "the cat sat; THE CAT ran!", "a tulip, a rose"]
ROWS = [[1, 1, 1, 0, 0, 0, 2, 0], [0, 2, 0, 1, 0, 1, 2, 0], [0, 0, 0, 0, 1, 0, 0, 1]]


def test_bag_of_words_by_hand():
    counter = CountVectorizer()
    X = counter.fit_transform(TEXTS)
    assert counter.get_feature_names_out().tolist() == [
        "and",
        "cat",
        "dog",
        "ran",
        "rose",
        "sat",
        "the",
        "tulip",
    ]
    assert X.toarray().tolist() == ROWS
    assert counter.transform(["zebra dog"]).toarray().tolist() == [[0, 0, 1, 0, 0, 0, 0, 0]]


def test_counts_divided_by_length():
    X = Normalizer("l1").transform(CountVectorizer().fit_transform([*TEXTS, "!"]))
    np.testing.assert_allclose(X.toarray()[0], [0.2, 0.2, 0.2, 0, 0, 0, 0.4, 0])
    assert X.toarray()[3].sum() == 0


def test_inverse_document_frequencies():
    idf = dict(
        zip(*(lambda t: (t.get_feature_names_out(), t.idf_))(TfidfVectorizer().fit(TEXTS)), strict=True)
    )
    assert idf["dog"] == pytest.approx(1.6931471806, abs=1e-10)
    assert idf["cat"] == pytest.approx(1.2876820725, abs=1e-10)


def test_hashed_columns_keep_the_decision():
    y = ["animals", "animals", "plants"]
    X = HashingVectorizer(alternate_sign=False, norm=None, n_features=2**10).transform(TEXTS)
    assert MultinomialNB().fit(X, y).predict(X).tolist() == y


def test_filter_from_documents_to_classes():
    y = ["animals", "animals", "plants"]
    for model in (
        document_filter(),
        document_filter(BernoulliNB()),
        document_filter(MultinomialNB(alpha=0.01), length_normalize=True),
    ):
        assert model.fit(TEXTS, y).predict(["cat cat", "rose"]).tolist() == ["animals", "plants"]


def test_top_terms_of_classes_and_linear_models():
    model = document_filter().fit(TEXTS, ["animals", "animals", "plants"])
    assert top_terms(model, n=2) == {"animals": ["the", "cat"], "plants": ["rose", "tulip"]}
    with pytest.raises(DataError, match="needs the vectorizer"):
        top_terms(model[-1])
    with pytest.raises(DataError, match="8 columns and the vectorizer 2 terms"):
        top_terms(model[-1], CountVectorizer().fit(["only two"]))


def test_terms_speak_for_a_class_against_the_mean_of_the_others():
    words, y = ["sun sun rain", "rain snow snow", "snow sun fog fog fog"], ["a", "b", "c"]
    model = document_filter(MultinomialNB(alpha=1.0)).fit(words, y)
    logs = model[-1].feature_log_prob_
    names = model[0].get_feature_names_out()
    for one, row in zip("abc", range(3)):
        lead = logs[row] - np.delete(logs, row, axis=0).mean(axis=0)
        want = sorted(names, key=lambda word: (-lead[list(names).index(word)], word))
        assert top_terms(model)[one] == want and top_terms(model, n=1)[one] == want[:1]
    assert top_terms(model, n=1) == {"a": ["sun"], "b": ["snow"], "c": ["fog"]}


def test_a_term_that_all_classes_share_speaks_for_none():
    class Shares:
        classes_ = np.array(["a", "b", "c"])
        feature_log_prob_ = np.log([[0.6, 0.3, 0.1], [0.5, 0.1, 0.4], [0.5, 0.15, 0.35]])

    counter = CountVectorizer().fit(["common tail wing"])
    found = top_terms(Shares(), counter)  # by hand: 0.6/0.5, 0.3/√0.015, 0.1/√0.14 and so on
    assert found == {
        "a": ["tail", "common", "wing"],
        "b": ["wing", "common", "tail"],
        "c": ["wing", "common", "tail"],
    }


def test_of_two_classes_the_other_counts_whole():
    class Two:
        classes_ = np.array(["a", "b"])
        feature_log_prob_ = np.array([[-1.0, -3.0], [-0.1, -2.5]])

    found = top_terms(Two(), CountVectorizer().fit(["axe bee"]))
    assert found == {"a": ["bee", "axe"], "b": ["axe", "bee"]}  # 0.9 and 0.5 less than in the other class


def test_terms_of_linear_models_are_those_of_the_largest_weights():
    two = document_filter(LogisticRegression()).fit(TEXTS, ["animals", "animals", "plants"])
    found = top_terms(two, n=2)
    assert list(found) == ["animals", "plants"]
    assert set(found["plants"]) == {"rose", "tulip"} and "cat" in found["animals"]
    three = document_filter(LogisticRegression()).fit(["sun sun", "snow snow", "fog fog"], ["a", "b", "c"])
    assert top_terms(three, n=1) == {"a": ["sun"], "b": ["snow"], "c": ["fog"]}


def test_terms_of_topics_are_those_of_the_largest_shares():
    counter = CountVectorizer().fit(["a1 b1 c1"])

    class Topics:
        components_ = [[0.2, 0.7, 0.1], [0.4, 0.1, 0.4]]

    assert top_terms(Topics(), counter, n=2) == {0: ["b1", "a1"], 1: ["a1", "c1"]}
    with pytest.raises(DataError, match="object has no weights of terms"):
        top_terms(object(), counter)


def test_options_of_a_filter_reach_its_parts():
    model = document_filter(length_normalize=True, stop_words=["the"], ngram_range=(1, 2))
    assert model[0].stop_words == ["the"] and model[0].ngram_range == (1, 2)
    counts = model[:-1].fit_transform(["the dog ran", "dog"])
    np.testing.assert_allclose(counts.sum(axis=1).ravel(), 1.0)
    assert len(document_filter()) == 2 and isinstance(document_filter()[-1], MultinomialNB)
    given = BernoulliNB()
    assert document_filter(given)[-1] is given
