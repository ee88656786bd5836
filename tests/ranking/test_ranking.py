"""Rankings from games and links, labels from walks."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from gnomon.core.errors import DataError, DegenerateError, DivergenceError
from gnomon.datasets import load_basketball_rankings, make_season
from gnomon.ranking import MarkovRanker, RandomWalkClassifier, compare_rankings, pagerank

GAMES = np.array([[0, 1, 2, 2], [1, 2, 3, 1], [0, 2, 0, 0], [2, 3, 5, 2], [3, 0, 1, 4]])


def test_three_teams_by_hand():
    ranker = MarkovRanker().fit([("A", "B", 20, 10), ("B", "C", 30, 10), ("A", "C", 40, 10)])
    counts = [[3.4666666667, 0.3333333333, 0.2], [1.6666666667, 2.0833333333, 0.25], [1.8, 1.75, 0.45]]
    assert_allclose(ranker.counts_.toarray(), counts)
    assert_allclose(ranker.scores_, [0.7609561753, 0.1832669323, 0.0557768924])
    assert list(ranker.ranking_) == ["A", "B", "C"]
    table = ranker.table()
    assert table["wins"].tolist() == [2, 1, 0] and table["losses"].tolist() == [0, 1, 2]
    assert ranker.win_probability("A", "C") > 0.9


def test_one_game():
    ranker = MarkovRanker().fit([("a", "b", 3, 1)])
    assert_allclose(ranker.counts_.toarray(), [[1.75, 0.25], [1.75, 0.25]])
    assert_allclose(ranker.scores_, [0.875, 0.125])


@pytest.mark.filterwarnings("error")
def test_draws_and_zero_zero():
    ranker = MarkovRanker().fit(GAMES)
    assert_allclose(ranker.counts_.toarray()[0], [2.8, 0.5, 0.5, 0.2])
    assert_allclose(ranker.scores_, [0.3501701125, 0.4333943994, 0.1845066736, 0.0319288144])
    skipped = MarkovRanker(zero_zero="skip").fit(GAMES)
    assert_allclose(skipped.scores_, MarkovRanker().fit(np.delete(GAMES, 2, axis=0)).scores_)
    with pytest.raises(DataError, match="game 2 ended 0–0"):
        MarkovRanker(zero_zero="error").fit(GAMES)
    with pytest.raises(DataError, match="not negative"):
        MarkovRanker().fit([("a", "b", -1, 3)])


def test_the_table_lists_every_team_once_best_first():
    ranker = MarkovRanker().fit(GAMES)
    table = ranker.table()
    assert table["rank"].tolist() == [1, 2, 3, 4] and table["object"].tolist() == [1, 0, 2, 3]
    assert table["object"].tolist() == ranker.ranking_.tolist()
    assert_allclose(table["score"], ranker.scores_[[1, 0, 2, 3]])
    assert table[["wins", "losses", "draws"]].to_numpy().tolist() == [
        [1, 0, 1],
        [1, 0, 2],
        [1, 1, 1],
        [0, 2, 0],
    ]


def test_the_chance_of_a_win_is_the_share_of_two_scores():
    ranker = MarkovRanker().fit(GAMES)
    assert ranker.win_probability(0, 3) == pytest.approx(0.3501701125 / (0.3501701125 + 0.0319288144))
    assert ranker.win_probability(0, 3) + ranker.win_probability(3, 0) == pytest.approx(1.0)
    for pair in ((7, 0), (0, 7)):
        with pytest.raises(DataError, match="7 played no game"):
            ranker.win_probability(*pair)


def test_what_a_game_adds_is_a_choice():
    game = [("a", "b", 3, 1)]
    assert_allclose(MarkovRanker(win_weight=2.0).fit(game).counts_.toarray(), [[2.75, 0.25]] * 2)
    both = [*game, ("b", "a", 4, 1)]
    wins = MarkovRanker(score_share=False, win_weight=0.5).fit(both)
    assert_allclose(wins.counts_.toarray(), [[0.5, 0.5]] * 2)
    away = MarkovRanker(self_transitions=False).fit(both)
    assert_allclose(away.counts_.toarray(), [[0, 2.05], [1.95, 0]])


def test_points_and_wins_count_in_any_unit():
    plain, fractions = (MarkovRanker().fit([("a", "b", 3 * u, u)]) for u in (1, 0.1))
    assert_allclose(fractions.counts_.toarray(), plain.counts_.toarray())
    ring = [("a", "b", 2, 1), ("b", "c", 2, 1), ("c", "a", 2, 1), ("a", "b", 3, 1)]
    whole, little = (MarkovRanker(score_share=False, win_weight=w).fit(ring) for w in (1.0, 0.01))
    assert_allclose(little.transmat_.sum(axis=1), 1.0)
    assert_allclose(little.scores_, whole.scores_)


def test_new_teams_may_appear_later():
    games = [("b", "d", 2, 1), ("d", "c", 2, 1), ("c", "b", 0, 3), ("a", "d", 1, 1), ("b", "a", 5, 4)]
    whole, parts = MarkovRanker().fit(games), MarkovRanker().partial_fit(games[:3]).partial_fit(games[3:])
    assert parts.objects_.tolist() == list("abcd") == whole.objects_.tolist()
    assert_allclose(parts.counts_.toarray(), whole.counts_.toarray())
    assert parts.record_.tolist() == whole.record_.tolist()
    assert_allclose(parts.scores_, whole.scores_)


def test_games_come_in_lists_arrays_and_frames():
    want = MarkovRanker().fit(GAMES).scores_
    frame = pd.DataFrame(GAMES, columns=["home", "away", "for", "against"]).assign(more=1)
    for games in (GAMES.tolist(), list(GAMES), list(map(tuple, GAMES)), frame):
        assert_allclose(MarkovRanker().fit(games).scores_, want)


@pytest.mark.parametrize(
    ("games", "told"),
    [
        ([("a", "b", 1)], "every game must be a row"),
        ([("a", "b", 1, 2), "abcd"], "every game must be a row"),
        (GAMES[:, :3], "games must be rows of"),
        (GAMES[:0], "at least one"),
        ([("a", "b", 1, 2), ("c", "c", 1, 2)], "game 1 is a team against itself"),
        ([("a", "b", 1, "many")], "must be numbers"),
        ([("a", "b", 1, 2), ("a", "b", np.inf, 2)], "game 1 has points .inf, 2.0."),
    ],
)
def test_what_is_no_game_is_named(games, told):
    with pytest.raises(DataError, match=told):
        MarkovRanker().fit(games)


def test_rankings_are_compared_on_what_they_share():
    found = compare_rankings({"a": 1, "b": 2, "c": 3, "e": 4}, ["b", "a", "c", "d", "f"])
    assert found.shared == ["a", "b", "c"] and found.overlap == 0.75
    assert found.spearman == pytest.approx(0.5) and found.kendall == pytest.approx(1 / 3)
    with pytest.raises(DataError, match="share 1 objects"):
        compare_rankings("ab", "ac")


def test_disconnected_schedule():
    with pytest.raises(DegenerateError, match="2 groups"):
        MarkovRanker().fit(GAMES[[0, 3]])
    assert MarkovRanker(damping=0.9).fit(GAMES[[0, 3]]).scores_.sum() == pytest.approx(1)


def test_a_damping_near_one_tends_to_no_damping():
    plain, damped = MarkovRanker().fit(GAMES), MarkovRanker(damping=1.0 - 1e-7).fit(GAMES)
    assert_allclose(damped.scores_, plain.scores_, atol=1e-6)


def test_a_damped_walk_along_a_chain_takes_all_the_sweeps_that_it_needs():
    games = [(i, i + 1, *((3, 1) if i % 3 else (1, 3))) for i in range(30)]
    model = MarkovRanker(damping=0.999).fit(games)
    P = model.transmat_.toarray()
    wanted = np.linalg.solve(np.eye(31) - 0.999 * P.T, np.full(31, 0.001 / 31))
    assert_allclose(model.scores_, wanted, rtol=1e-8)


def test_published_lists():
    lists = load_basketball_rankings()
    assert sum(lists.chain_scores.values()) == pytest.approx(0.130791, abs=5e-7)
    found = compare_rankings(list(lists.chain_scores), lists.poll_ranks)
    assert len(found.shared) == 20
    assert found.spearman == pytest.approx(0.8770215, abs=5e-8)


@given(st.integers(0, 100), st.integers(2, 9))
def test_ranking_ignores_order_roles_and_scale(seed, scale):
    games, _ = make_season(6, 40, random_state=seed)
    games[:, 2:] += 1
    base = MarkovRanker().fit(games)
    assert base.scores_.sum() == pytest.approx(1)
    rng = np.random.default_rng(seed)
    assert_allclose(MarkovRanker().fit(games[rng.permutation(len(games))]).scores_, base.scores_, rtol=1e-9)
    assert_allclose(MarkovRanker().fit(games[:, [1, 0, 3, 2]]).scores_, base.scores_, rtol=1e-9)
    scaled = games.copy()
    scaled[0, 2:] *= scale
    assert_allclose(MarkovRanker().fit(scaled).scores_, base.scores_, rtol=1e-9)
    names = rng.permutation(6)
    renamed = games.copy()
    renamed[:, :2] = names[games[:, :2]]
    assert_allclose(MarkovRanker().fit(renamed).scores_[names], base.scores_, rtol=1e-9)
    parts = MarkovRanker().fit(games[:20]).partial_fit(games[20:])
    assert_allclose(parts.scores_, base.scores_, rtol=1e-9)


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_winner_of_one_game_ranks_first(a, b):
    scores = MarkovRanker().fit([("x", "y", a + b + 1, a)]).scores_
    assert scores[0] > scores[1]


def links():
    A = np.zeros((4, 4))
    A[[0, 0, 1, 2, 3], [1, 2, 2, 0, 2]] = 1
    return A


def test_pagerank_by_hand():
    A = links()
    assert_allclose(pagerank(A), [0.3725268513, 0.1958239118, 0.3941492369, 0.0375], rtol=1e-8)
    A[2, 0] = 0
    assert_allclose(pagerank(A), [0.1446916260, 0.2061855670, 0.5044311810, 0.1446916260], rtol=1e-8)


def dense_pagerank(A, d, v, u):
    degree = A.sum(axis=1)
    P = np.where(degree[:, None] > 0, A / np.where(degree > 0, degree, 1)[:, None], u)
    values, vectors = np.linalg.eig((d * P + (1 - d) * v).T)
    w = vectors[:, np.abs(values - 1).argmin()].real
    return w / w.sum()


@given(st.integers(0, 200), st.floats(0, 0.95), st.booleans())
def test_pagerank_is_the_dominant_eigenvector(seed, d, weighted):
    rng = np.random.default_rng(seed)
    A = (rng.random((8, 8)) < 0.3) * (rng.random((8, 8)) if weighted else 1.0)
    v = rng.random(8) + 0.01
    v /= v.sum()
    uniform = np.full(8, 1 / 8)
    found = pagerank(A, damping=d, personalization=v)
    assert_allclose(found, dense_pagerank(A, d, v, uniform), atol=1e-8)
    own = pagerank(A, damping=d, personalization=v, dangling="personalization")
    assert_allclose(own, dense_pagerank(A, d, v, v), atol=1e-8)
    assert (own >= (1 - d) * v - 1e-9).all()
    stay = A + np.diag(A.sum(axis=1) == 0)
    assert_allclose(
        pagerank(A, damping=d, dangling="self"), dense_pagerank(stay, d, uniform, uniform), atol=1e-8
    )


def test_pagerank_limits():
    A = links()
    assert_allclose(pagerank(A, damping=0, personalization=[1, 2, 3, 4]), np.array([1, 2, 3, 4]) / 10)
    S = A + A.T
    assert_allclose(pagerank(S, damping=0.9999, max_iter=10**6), S.sum(0) / S.sum(), atol=1e-4)
    with pytest.raises(DataError, match="'uniform'"):
        pagerank(A, dangling="unifrom")


@pytest.mark.parametrize("dangling", ["uniform", "personalization", "self"])
def test_jumps_may_leave_nodes_out(dangling):
    A, v = links(), np.array([0.0, 3.0, 0.0, 1.0])
    A[2, 0] = 0
    lost = {"uniform": np.full(4, 0.25), "personalization": v / 4, "self": np.eye(4)[2]}[dangling]
    found = pagerank(A, personalization=v, dangling=dangling)
    assert_allclose(found, dense_pagerank(A, 0.85, v / 4, lost), atol=1e-9)


@pytest.mark.parametrize("bad", [[1.0, 2.0, 3.0], [0.0] * 4, [1.0, -1.0, 1.0, 1.0], [1.0, np.nan, 1.0, 1.0]])
def test_jumps_that_lead_nowhere_are_named(bad):
    with pytest.raises(DataError, match="personalization must hold 4 weights"):
        pagerank(links(), personalization=bad)


@pytest.mark.parametrize("damping", [1.0, -0.1, np.nan])
def test_a_surfer_who_never_jumps_is_named(damping):
    with pytest.raises(DataError, match=r"damping must lie in \[0, 1\)"):
        pagerank(links(), damping=damping)


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_sweeps_that_do_not_end_are_named(weight):
    A = links()
    A[0, 1] = weight  # links of one weight, and of several
    with pytest.raises(DivergenceError, match="in sweep 2; raise max_iter"):
        pagerank(A, max_iter=2)


def test_a_graph_without_links_is_all_jumps():
    assert_allclose(
        pagerank(np.zeros((4, 4)), personalization=[1, 2, 3, 4], dangling="personalization") * 10,
        [1, 2, 3, 4],
    )


LINE = np.arange(6.0).reshape(-1, 1)
LABELS = np.array([0, -1, -1, -1, -1, 1])


def test_links_of_weight_zero_are_no_links():
    A = np.array([[0, 1.0, 0], [1, 0, 2], [0, 0, 0]])
    stored = sparse.csr_array(A + 1.0)
    stored.data -= 1.0
    for dangling in ("uniform", "personalization", "self"):
        assert_allclose(pagerank(stored, dangling=dangling), pagerank(A, dangling=dangling), atol=1e-12)
    assert_allclose(pagerank(stored * 3.0), pagerank(A), atol=1e-12)


def test_a_leak_does_not_slow_the_sweeps():
    rng = np.random.default_rng(0)
    n = 2000
    A = sparse.csr_array((np.ones(20_000), rng.integers(0, n, (2, 20_000))), shape=(n, n))
    A.data[:] = 1.0
    assert (np.diff(A.indptr) == 0).sum() <= 5
    w = pagerank(A, max_iter=20)  # 140 steps of the power method without the balance
    moved = 0.85 * (A.T @ (w / np.maximum(np.diff(A.indptr), 1))) + 0.15 / n
    moved += (1 - moved.sum()) / n
    assert_allclose(w, moved, atol=1e-12)


def test_walk_on_a_line():
    inner = [0.7885299233, 0.5964191560, 0.4035808440, 0.2114700767]
    for solver in ("dense", "cg"):
        model = RandomWalkClassifier(width=1.0, solver=solver).fit(LINE, LABELS)
        assert_allclose(model.label_distributions_[1:5, 0], inner, rtol=1e-7)
    assert_allclose(RandomWalkClassifier(gamma=1.0).fit(LINE, LABELS).label_distributions_[1:5, 0], inner)
    assert_allclose(model.terminal_distributions_, model.label_distributions_, rtol=1e-7)


def test_a_wide_kernel_leaks():
    X = np.array([0, 1, 2, 3.5, 4.5, 5]).reshape(-1, 1)
    narrow = RandomWalkClassifier(width=1.0).fit(X, LABELS).label_distributions_[1:5, 0]
    assert_allclose(narrow, [0.8520064502, 0.7076250855, 0.1656729044, 0.0542546864])
    wide = RandomWalkClassifier(width=100.0).fit(X, LABELS).label_distributions_[1:5, 0]
    assert_allclose(wide, [0.5084343321, 0.5000871301, 0.4876610300, 0.4794569149])


@given(st.integers(0, 100))
def test_maximum_principle(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    y = np.full(20, -1)
    y[:4] = [0, 1, 2, 0]
    model = RandomWalkClassifier(width=1.0).fit(X, y)
    F = model.label_distributions_
    assert F.min() >= 0 and F.max() <= 1 + 1e-12
    assert_allclose(F.sum(axis=1), 1)
    assert_allclose(model.transduction_[:4], y[:4])
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    np.fill_diagonal(K, 0)
    average = K @ F / K.sum(axis=1, keepdims=True)
    assert_allclose(F[4:], average[4:], atol=1e-9)
    propagated = np.where(y[:, None] >= 0, np.eye(3)[y], 1 / 3)
    for _ in range(3000):
        propagated[4:] = (K @ propagated / K.sum(axis=1, keepdims=True))[4:]
    assert_allclose(F, propagated, atol=1e-6)


def test_unreachable_points_get_the_class_frequencies():
    X = np.array([0.0, 0.1, 0.2, 1e6, 1e6 + 0.1]).reshape(-1, 1)
    with pytest.warns(UserWarning, match="2 points have no path"):
        model = RandomWalkClassifier(width=1.0).fit(X, [0, 0, 1, -1, -1])
    assert_allclose(model.label_distributions_[3:], [[2 / 3, 1 / 3]] * 2)


def test_points_of_no_weight_hear_points_without_a_path_too():
    """Nobody hears a label two islands away: the islanders get the class frequencies, and so does who hears them."""
    X = np.array([0.0, 0.1, 0.2, 1e6, 1e6 + 0.1, 1e6 + 0.2]).reshape(-1, 1)
    with pytest.warns(UserWarning, match="2 points have no path"):
        model = RandomWalkClassifier(width=1.0).fit(
            X, [0, 0, 1, -1, -1, -1], sample_weight=[1.0, 2.0, 1.0, 1.0, 1.0, 0.0]
        )
    assert_allclose(model.label_distributions_[3:], [[0.75, 0.25]] * 3)


def test_sparse_neighbors_agree_with_all():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.3, (60, 2)), rng.normal(3, 0.3, (60, 2))])
    y = np.full(120, -1)
    y[[0, 60]] = 0, 1
    few = RandomWalkClassifier(width=0.5, n_neighbors=10, solver="cg").fit(X, y)
    assert (few.transduction_ == np.repeat([0, 1], 60)).all()
    assert (few.predict(X) == few.transduction_).all()


def test_minus_one_is_unlabeled_beside_two_other_classes_alone():
    X = np.array([[0.0], [1.0], [4.0], [5.0]])
    for y in ([0, -1, -1, 1], [2.0, -1.0, -1.0, 7.0]):
        model = RandomWalkClassifier(width=1.0).fit(X, y)
        assert model.classes_.tolist() == [y[0], y[3]]
        assert model.transduction_.tolist() == [y[0], y[0], y[3], y[3]]
    signs = RandomWalkClassifier(width=1.0).fit(X, [1, -1, -1, 1])
    assert signs.classes_.tolist() == [-1, 1] and signs.transduction_.tolist() == [1, -1, -1, 1]
    words = RandomWalkClassifier(width=1.0).fit(X, ["-1", "a", "b", "b"])
    assert words.classes_.tolist() == ["-1", "a", "b"]


def test_points_of_no_weight_are_led_but_do_not_lead():
    y, w = np.array([0, -1, 1, -1, -1, 1]), np.array([1.0, 1.0, 0.0, 2.0, 0.0, 3.0])
    kept = w > 0
    model = RandomWalkClassifier(width=2.0).fit(LINE, y, sample_weight=w)
    fewer = RandomWalkClassifier(width=2.0).fit(LINE[kept], y[kept], sample_weight=w[kept])
    assert_allclose(model.label_distributions_[kept], fewer.label_distributions_)
    assert_allclose(model.prior_, [0.25, 0.75])
    assert_allclose(model.label_distributions_[4], fewer.predict_proba(LINE[[4]])[0])
    assert_allclose(model.predict_proba(LINE), fewer.predict_proba(LINE))
    with pytest.raises(DegenerateError, match="no labeled point has positive weight"):
        RandomWalkClassifier().fit(LINE, y, sample_weight=(y < 0).astype(float))


@pytest.mark.parametrize("solver", ["dense", "cg"])
def test_a_weight_of_two_is_a_point_twice(solver):
    y, w = np.array([0, -1, 1, -1, -1, 2]), np.array([1, 2, 1, 3, 1, 2])
    model = RandomWalkClassifier(width=2.0, solver=solver).fit(LINE, y, sample_weight=w.astype(float))
    again = RandomWalkClassifier(width=2.0).fit(np.repeat(LINE, w, axis=0), np.repeat(y, w))
    assert_allclose(model.predict_proba(LINE + 0.3), again.predict_proba(LINE + 0.3), atol=1e-8)
    assert_allclose(model.terminal_distributions_.sum(axis=1), 1.0)


def test_points_too_far_for_their_squares_are_named():
    with pytest.raises(DataError, match="squared distances overflow"):
        RandomWalkClassifier().fit(LINE * 1e160, LABELS)


def nearest_graph(X, k, width):
    """Kernel weights to the k nearest others of each point, kept where either is near to the other."""
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    near = np.zeros(D.shape, dtype=bool)
    for i, row in enumerate(D):
        near[i, np.argsort(row)[1 : k + 1]] = True
    return np.where(near | near.T, np.exp(-D / width), 0.0)


@pytest.mark.parametrize("solver", ["dense", "cg", "auto"])
@pytest.mark.parametrize("k", [2, 5, 22, 23, 50])
@pytest.mark.parametrize("limit", [5000, 10, 20, 24])
def test_walks_over_the_nearest_neighbors(solver, k, limit, monkeypatch):
    """Of 24 points, 4 with labels; with more points than a limit 30 neighbors would do, here `k`."""
    from gnomon.ranking import walk_classifier

    monkeypatch.setattr(walk_classifier, "DENSE_POINTS", limit)
    monkeypatch.setattr(walk_classifier, "NEIGHBORS", k)
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(24, 2)), np.r_[0, 1, 1, 0, np.full(20, -1)]
    asked = k if limit == 5000 else None
    model = RandomWalkClassifier(width=2.0, n_neighbors=asked, solver=solver).fit(X, y)
    few = (k if limit < 24 else 23) if asked is None else k
    W = nearest_graph(X, min(few, 23), 2.0)
    P = W / W.sum(axis=1, keepdims=True)
    F = np.linalg.solve(np.eye(20) - P[4:, 4:], P[4:, :4] @ np.eye(2)[y[:4]])
    assert_allclose(model.label_distributions_[4:], F, atol=1e-7)
    assert_allclose(model.label_distributions_[:4], np.eye(2)[y[:4]])
    K = np.exp(-((X[:3, None] + 0.1 - X) ** 2).sum(axis=2) / 2.0)
    average = K @ model.label_distributions_ / K.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X[:3] + 0.1), average)
    terminal = np.linalg.solve(np.eye(20) - P[4:, 4:], P[4:, :4])
    assert_allclose(model.terminal_distributions_[4:], terminal, atol=1e-7)


def test_gradients_that_do_not_end_are_named(monkeypatch):
    from gnomon.ranking import walk_classifier

    monkeypatch.setattr(
        walk_classifier.sparse_linalg, "cg", lambda L, b, rtol, M: (np.full(len(b), -0.5), int(rtol == 1e-3))
    )
    with pytest.warns(UserWarning, match="stopped before tol=0.001"):
        RandomWalkClassifier(width=1.0, solver="cg", tol=1e-3).fit(LINE, LABELS).predict(LINE)


@pytest.mark.parametrize("name", ["X_", "weight_", "label_distributions_"])
def test_parts_of_a_saved_walk_have_to_fit_together(name, tmp_path):
    import gnomon

    model = RandomWalkClassifier(width=1.0).fit(LINE, LABELS)
    gnomon.save(model, tmp_path / "m")
    assert_allclose(gnomon.load(tmp_path / "m").predict_proba(LINE), model.predict_proba(LINE))
    setattr(model, name, getattr(model, name).T[:1])
    gnomon.save(model, tmp_path / "m")
    with pytest.raises(gnomon.core.errors.ModelFileError, match=f"{name} does not fit"):
        gnomon.load(tmp_path / "m")


@pytest.mark.parametrize("n", [199, 200, 201, 260])
def test_the_share_of_time_by_elimination_and_by_steps(n):
    rng = np.random.default_rng(n)
    games = [(i, (i + j) % n, *rng.integers(0, 5, 2)) for i in range(n) for j in (1, 3, 17)]
    model = MarkovRanker().fit(games)
    P = model.transmat_.toarray()
    assert_allclose(P.sum(axis=1), 1.0)
    assert_allclose(model.scores_ @ P, model.scores_, atol=1e-9)
    assert model.scores_.sum() == pytest.approx(1.0)


def test_groups_that_never_met_are_named():
    games = [(f"{g}{i}", f"{g}{i + 1}", 2, 1) for g in "abcde" for i in range(5)]
    games += [(f"{g}{i + 1}", f"{g}{i}", 2, 1) for g in "abcde" for i in range(5)]
    with pytest.raises(DegenerateError, match="falls apart into 5 groups") as told:
        MarkovRanker().fit(games)
    words = str(told.value)
    assert "'d3'" in words and "'a4'" not in words and "'e0'" not in words  # four of each, of four groups


def test_games_are_data_that_can_be_taken_apart():
    from gnomon.ranking.games import Games

    games = Games(np.array(["a", "b", "c"]), np.array(["b", "c", "a"]), np.array([[1, 2], [3, 4], [5, 6.0]]))
    part = games.take([2, 0])
    assert (
        len(games) == 3 and len(part) == 2 and part.a.tolist() == ["c", "a"] and part.b.tolist() == ["a", "b"]
    )
    assert part.points.tolist() == [[5, 6], [1, 2]] and part.digest() != games.digest()
    assert part.digest() == games.take([2, 0]).digest()
    tags = MarkovRanker().__sklearn_tags__().input_tags
    assert tags.string and not tags.two_d_array


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
@pytest.mark.parametrize("damping", [0.5, 0.85, 0.99])
def test_the_error_of_a_surfer_is_below_the_tolerance(tol, damping):
    rng = np.random.default_rng(5)
    A = (rng.random((60, 60)) < 0.05) * 1.0
    A[:, 7] += rng.random(60)
    exact = dense_pagerank(A, damping, np.full(60, 1 / 60), np.full(60, 1 / 60))
    assert np.abs(pagerank(A, damping=damping, tol=tol) - exact).sum() <= tol
    assert pagerank(A, damping=damping).sum() == pytest.approx(1.0, abs=1e-12)
