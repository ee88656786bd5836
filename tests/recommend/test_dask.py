"""Ratings on a cluster: the sums over partitions give what memory gives."""

import numpy as np
import pandas as pd
import pytest

from compare import assert_agree
from gnomon.core.errors import DataError, DegenerateError
from gnomon.datasets import make_ratings
from gnomon.recommend import AlternatingLeastSquares, MatrixFactorization, MeanRecommender, RatingMatrix
from gnomon.recommend import normal_equations as sums

dd = pytest.importorskip("dask.dataframe")

SETTINGS = {"iterations": 4, "tol": 0.0, "random_state": 0}


def frame_of(R):
    pairs, values = R.pairs()
    names = [f"user {code}" for code in pairs[:, 0]]
    return pd.DataFrame({"user": names, "item": pairs[:, 1].astype(int), "rating": values}).sample(
        frac=1.0, random_state=0
    )


@pytest.fixture(scope="module")
def frame():
    return frame_of(make_ratings(40, 15, rank=2, density=0.4, noise=0.3, random_state=0)[0])


def said(model):
    return {
        "U": model.user_factors_,
        "V": model.item_factors_,
        "all": model.predict_matrix(),
        "ids": model.items_,
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("scaling", ["row", "rating"])
def test_ratings_on_dask(frame, biases, scaling):
    model = MatrixFactorization(3, biases=biases, regularization_scaling=scaling, **SETTINGS)
    here = model.fit(RatingMatrix.from_frame(frame))
    expected, halves = said(here), here.half_steps_
    there = model.fit(dd.from_pandas(frame, npartitions=4, sort=False))
    assert_agree(expected, said(there), rtol=1e-9)
    np.testing.assert_allclose(there.half_steps_, halves, rtol=1e-10)
    assert there.users_[0] == "user 0"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_blocks_of_rows_change_nothing(frame, monkeypatch):
    ratings = dd.from_pandas(frame, npartitions=3, sort=False)
    model = MatrixFactorization(3, **SETTINGS)
    expected = said(model.fit(ratings))
    monkeypatch.setattr(sums, "STATISTICS", 50)  # five users at a time
    assert_agree(expected, said(model.fit(ratings)), rtol=1e-12)


@pytest.mark.parametrize("confidence", ["scaled", "one_plus"])
def test_clicks_on_dask(frame, confidence):
    clicks = frame.assign(rating=np.arange(len(frame)) % 3)  # a third of them are none
    twice = pd.concat([clicks, clicks.iloc[:20]])  # and some come twice: they are added up
    model = AlternatingLeastSquares(
        3, use_cg=False, alpha=2.0, dtype=np.float64, confidence=confidence, iterations=3, random_state=0
    )
    expected = said(model.fit(twice[["user", "item"]], twice["rating"]))
    assert_agree(expected, said(model.fit(dd.from_pandas(twice, npartitions=4, sort=False))), rtol=1e-9)


def test_conjugate_gradients_are_refused(frame):
    with pytest.raises(DataError, match="use_cg=False"):
        AlternatingLeastSquares(2).fit(dd.from_pandas(frame.assign(rating=1.0), npartitions=2))


def test_pairs_and_target_on_dask(frame):
    ratings = dd.from_pandas(frame, npartitions=3, sort=False)
    here = MeanRecommender("biases", regularization=1.0).fit(frame[["user", "item"]], frame["rating"])
    there = MeanRecommender("biases", regularization=1.0).fit(ratings[["user", "item"]], ratings["rating"])
    assert there.user_bias_.tolist() == here.user_bias_.tolist()


def test_too_few_ratings_are_named():
    table = pd.DataFrame({"u": [0, 0, 1, 1], "i": [0, 1, 0, 1], "r": [1.0, 2.0, 2.0, 4.0]})
    rows = sums.dealt_out(RatingMatrix.from_frame(dd.from_pandas(table, npartitions=2)))
    with pytest.raises(DegenerateError, match="some user has too few ratings"):
        sums.solve_by_sums(rows, 0, np.ones((2, 3)), np.zeros(2))
