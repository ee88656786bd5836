"""Files of ensembles whose parts do not fit each other are refused; files that fit answer as before."""

import numpy as np
import pytest

import gnomon
from gnomon.core.errors import ModelFileError
from gnomon.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
TWO = (X[:, 2] > 0).astype(int)
THREE = np.digitize(X[:, 2], [-0.5, 0.5])


@pytest.fixture
def reread(tmp_path):
    """Write a model with some attributes changed and read it."""

    def read(model, **changed):
        for name, value in changed.items():
            setattr(model, name, value)
        gnomon.save(model, tmp_path / "model")
        return gnomon.load(tmp_path / "model")

    return read


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (RandomForestClassifier(3, max_depth=2, random_state=0), THREE),
        (RandomForestRegressor(3, max_depth=2, random_state=0), X[:, 2]),
        (GradientBoostingClassifier(n_estimators=3), THREE),
        (GradientBoostingRegressor(n_estimators=3), X[:, 2]),
        (HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=2), TWO),
        (BaggingClassifier(n_estimators=3, max_features=2, random_state=0), THREE),
        (BaggingRegressor(n_estimators=3, max_features=2, random_state=0), X[:, 2]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_sound_file_answers_as_before(model, y, reread):
    model.fit(X, y)
    np.testing.assert_array_equal(reread(model).predict(X), model.predict(X))


def test_a_model_that_was_not_fitted_is_read(reread):
    for model in (
        RandomForestClassifier(7),
        GradientBoostingClassifier(n_estimators=7),
        BaggingClassifier(n_estimators=7),
    ):
        assert reread(model).n_estimators == 7


def test_trees_of_a_forest_agree_in_their_classes(reread):
    model = RandomForestClassifier(3, random_state=0).fit(X, THREE)
    other = RandomForestClassifier(1, random_state=0).fit(X, TWO)
    with pytest.raises(ModelFileError, match="differ in the number of their classes"):
        reread(model, trees_=(*model.trees_, *other.trees_))


def test_trees_ask_for_columns_of_their_model(reread):
    """The last column is column 2: a model of two columns has none."""
    only = np.where(np.arange(3) == 2, X, 0.0)  # nothing else can be asked for
    for model in (
        RandomForestClassifier(3, random_state=0).fit(only, TWO),
        GradientBoostingClassifier(n_estimators=2).fit(only, TWO),
        HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2).fit(only, TWO),
    ):
        assert reread(model).n_features_in_ == 3
        with pytest.raises(ModelFileError, match="does not fit the columns or classes"):
            reread(model, n_features_in_=2)


def test_something_else_is_no_tree(reread):
    model = RandomForestClassifier(2, random_state=0).fit(X, TWO)
    with pytest.raises(ModelFileError, match="something else in the place of its trees"):
        reread(model, trees_=(*model.trees_, 3.0))


@pytest.mark.parametrize("place", [0, -1])
def test_every_round_has_a_tree_for_every_class(place, reread):
    model = GradientBoostingClassifier(n_estimators=3).fit(X, THREE)
    rounds = [list(round_) for round_ in model.rounds_]
    assert [len(round_) for round_ in rounds] == [3, 3, 3]
    rounds[place] = rounds[place][:2]
    with pytest.raises(ModelFileError, match="another number of trees than classes"):
        reread(model, rounds_=rounds)


def test_the_start_of_boosting_is_a_number_for_every_class(reread):
    model = GradientBoostingClassifier(n_estimators=2).fit(X, THREE)
    start = np.asarray(model.start_)
    for broken in (start[:2], start[:, None], start[None, :], np.append(start, 0.0)):
        with pytest.raises(ModelFileError, match="another number of trees than classes"):
            reread(model, start_=broken)


def test_a_boosted_tree_gives_one_number(reread):
    model = GradientBoostingClassifier(n_estimators=2).fit(X, TWO)
    wide = RandomForestClassifier(1, random_state=0).fit(X, TWO).trees_[0]
    assert wide.value[0].size == 2
    with pytest.raises(ModelFileError, match="does not fit the columns or classes"):
        reread(model, rounds_=[*model.rounds_, (wide,)])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([], "are no columns"),
        ([[0, 1]], "are no columns"),
        ([0.0, 1.0], "are no columns"),
        ([True, False], "are no columns"),
        ([0, 3], "beyond the 3"),
        ([-1, 0], "beyond the 3"),
    ],
)
@pytest.mark.parametrize("place", [0, 2])
def test_members_of_a_bag_look_at_its_columns(columns, message, place, reread):
    model = BaggingClassifier(n_estimators=3, max_features=2, random_state=0).fit(X, TWO)
    features = list(model.estimators_features_)
    features[place] = np.array(columns)
    with pytest.raises(ModelFileError, match=message):
        reread(model, estimators_features_=features)


@pytest.mark.parametrize("columns", [[0, 2], [2, 0], [2, 2], [0]])
def test_all_columns_of_a_bag_may_be_looked_at(columns, reread):
    model = BaggingClassifier(n_estimators=1, random_state=0).fit(X, TWO)
    read = reread(model, estimators_features_=[np.array(columns, dtype=np.uint8)])
    np.testing.assert_array_equal(read.estimators_features_[0], columns)


def test_members_of_a_bag_know_no_other_classes(reread):
    model = BaggingClassifier(n_estimators=2, random_state=0).fit(X, TWO)
    other = BaggingClassifier(n_estimators=1, random_state=0).fit(X, THREE)
    with pytest.raises(ModelFileError, match="knows other classes"):
        reread(model, estimators_=[*model.estimators_, *other.estimators_])
    wide = BaggingClassifier(n_estimators=2, random_state=0).fit(X, THREE)
    few = BaggingClassifier(n_estimators=1, random_state=0).fit(X, TWO)
    assert len(reread(wide, estimators_=[*wide.estimators_, *few.estimators_]).estimators_) == 3
