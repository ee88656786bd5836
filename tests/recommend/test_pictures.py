"""Pictures of recommenders show the numbers they are given; data sets keep their promises."""

import numpy as np
import pytest

from gnomon import datasets, plot
from gnomon.core.errors import DataError
from gnomon.recommend import MatrixFactorization
from recommend.data import R56

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_rating_matrix_shows_holes_and_completion():
    ax = plot.rating_matrix(R56)
    shown = ax.images[0].get_array()
    np.testing.assert_array_equal(np.ma.getmaskarray(shown), np.isnan(R56))
    model = MatrixFactorization(2, random_state=0).fit(R56)
    ax = plot.rating_matrix(R56, model)
    shown = np.asarray(ax.images[0].get_array())
    np.testing.assert_allclose(shown[np.isnan(R56)], model.predict_matrix()[np.isnan(R56)])
    assert len(ax.patches) == (~np.isnan(R56)).sum()


def test_item_map_names_the_items():
    films = datasets.load_lesson("films")
    model = MatrixFactorization(2, random_state=0).fit(films.ratings)
    ax = model.plot()
    assert {text.get_text() for text in ax.texts} >= set(films.features)
    np.testing.assert_allclose(ax.collections[1].get_offsets(), model.item_map())
    assert len(model.plot(users=False).collections) == 1


def test_runs_draw_every_half_step():
    models = [MatrixFactorization(2, random_state=seed, iterations=4, tol=0).fit(R56) for seed in range(3)]
    ax = None
    for seed, model in enumerate(models):
        ax = plot.trace(model.half_steps_.ravel(), ax, label=f"start {seed + 1}")
    for line, model in zip(ax.lines, models):
        np.testing.assert_array_equal(line.get_ydata(), model.half_steps_.ravel())


def test_films_have_three_tastes():
    films = datasets.load_lesson("films")
    assert (films.ratings.n_users, films.ratings.n_items) == (7, 8)
    assert films.ratings.scale.tolist() == [1, 2, 3, 4, 5] and len(films.genres) == 4
    assert set(films.ratings.item_names) == set(films.features)


def test_made_ratings_have_the_promised_shape():
    R, U, V = datasets.make_ratings(60, 40, rank=2, density=0.5, noise=0.0, random_state=0)
    np.testing.assert_allclose(R.values, (3 + U @ V.T)[R.users, R.items])
    assert R.n_ratings == 1200 and abs((U @ V.T).std() - 1) < 0.3
    same = datasets.make_ratings(60, 40, rank=2, density=0.5, noise=0.0, random_state=0)[0]
    assert same.digest() == R.digest()
    stars = datasets.make_ratings(30, 20, scale=range(1, 6), popularity=1.0, random_state=0)[0]
    assert set(stars.values) <= {1, 2, 3, 4, 5}
    counts = np.bincount(stars.items, minlength=20)
    assert counts[:5].sum() > counts[10:].sum()
    with pytest.raises(DataError, match="density"):
        datasets.make_ratings(density=0.0)
