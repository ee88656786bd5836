"""Ranking from the results of games: a walker who always moves towards the winner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse, stats
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.closed_form import OneStep
from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.frames import import_pandas
from gnomon.core.items import listed
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.settings import check_parameters
from gnomon.core.trace import Trace
from gnomon.sequence.structure import chain_structure, stationary_distribution


class Comparison(NamedTuple):
    """How far two rankings agree."""

    shared: list[Any]  # objects in both
    overlap: float  # their share of the shorter ranking
    spearman: float
    kendall: float


class Record(NamedTuple):
    """What games add up to."""

    objects: Array  # the teams, sorted
    counts: Any  # CSR, increments of the walk
    record: Array  # (teams, 3) wins, losses, draws


class Games(Data):
    """Who played whom, and the points of both."""

    def __init__(self, a: Array, b: Array, points: Array) -> None:
        self.a, self.b, self.points = a, b, points

    def digest(self) -> str:
        """Return a name for all games."""
        return digest_of(self.a, self.b, self.points)

    def __len__(self) -> int:
        return len(self.points)

    def take(self, units: Any) -> Games:
        """Return some of the games."""
        return Games(self.a[units], self.b[units], self.points[units])


class MarkovRanker(OneStep):
    r"""Rank teams, players or items from pairwise results by the stationary distribution of a random walk.

    Every game of a against b with points :math:`p_a, p_b` adds to the rows of both teams

    .. math:: M_{\cdot a} \mathrel{+}= 1[a\text{ wins}] + \tfrac{p_a}{p_a+p_b}, \qquad
              M_{\cdot b} \mathrel{+}= 1[b\text{ wins}] + \tfrac{p_b}{p_a+p_b},

    so the walker drifts to those who win, and more so to those who beat winners. A score is the share of
    time spent there.

    Parameters
    ----------
    win_weight : float
        What a win adds.
    score_share : bool
        Whether the share of the points counts.
    self_transitions : bool
        Whether a team may keep the walker; leaving this out changes the scores.
    damping : float in (0, 1]
        Below 1 the walk is mixed with the uniform one: a different model, which ranks schedules that fall
        apart.
    zero_zero : {"half", "skip", "error"}
        What a 0–0 game is: half a share each, no game, or a mistake.

    Attributes
    ----------
    objects_ : array
        The teams, sorted.
    scores_ : array
        Their stationary probabilities; they sum to one.
    ranking_ : array
        The teams from best to worst.
    counts_, transmat_ : CSR arrays
        Increments of all games, and the same with rows that sum to one.

    Examples
    --------
    >>> games = [("A", "B", 20, 10), ("B", "C", 30, 10), ("A", "C", 40, 10)]
    >>> MarkovRanker().fit(games).scores_.round(4)
    array([0.761 , 0.1833, 0.0558])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "win_weight": [Interval(Real, 0, None, closed="left")],
        "score_share": ["boolean"],
        "self_transitions": ["boolean"],
        "damping": [Interval(Real, 0, 1, closed="right")],
        "zero_zero": [StrOptions({"half", "skip", "error"})],
    }

    def __init__(
        self,
        *,
        win_weight: float = 1.0,
        score_share: bool = True,
        self_transitions: bool = True,
        damping: float = 1.0,
        zero_zero: str = "half",
    ) -> None:
        self.win_weight = win_weight
        self.score_share = score_share
        self.self_transitions = self_transitions
        self.damping = damping
        self.zero_zero = zero_zero

    def fit(self, games: Any, y: Any = None) -> Self:
        """Rank from games, rows of (a, b, points of a, points of b): a list, an array or a data frame."""
        return self._learn(self._read_games(games), X=games)

    def iterate(self, games: Any, y: Any = None) -> Iterator[Self]:
        """Yield the fitted ranking; it is found in one step."""
        yield from self._iterate(self._read_games(games))

    def partial_fit(self, games: Any, y: Any = None) -> Self:
        """Add more games; new teams may appear."""
        data = self._read_games(games)
        found = self._increments(data)
        if hasattr(self, "objects_"):
            found = merged(Record(self.objects_, self.counts_, self.record_), found)
        facts = {"trace_": Trace(), "n_iter_": 1, "converged_": True}
        self._adopt({**facts, **self._ranked(found)}, data)
        return self

    def _solve(self, data: Games) -> dict[str, Any]:
        return self._ranked(self._increments(data))

    def _read_games(self, games: Any) -> Games:
        """Return the games, checked."""
        check_parameters(self)
        columns = _columns(games)
        points = np.column_stack([numbers(column) for column in columns[2:]])
        if not np.isfinite(points).all() or (points < 0).any():
            row = int(np.flatnonzero(~(np.isfinite(points) & (points >= 0)).all(axis=1))[0])
            raise DataError(
                f"game {row} has points {points[row].tolist()}; they must be numbers that are not negative."
            )
        a, b = np.asarray(columns[0]), np.asarray(columns[1])
        if (a == b).any():
            raise DataError(f"game {int(np.flatnonzero(a == b)[0])} is a team against itself.")
        empty = points.sum(axis=1) == 0
        if empty.any() and self.zero_zero == "error":
            raise DataError(
                f"game {int(np.flatnonzero(empty)[0])} ended 0–0; choose zero_zero='half' or 'skip'."
            )
        keep = ~empty if self.zero_zero == "skip" else slice(None)
        return Games(a[keep], b[keep], points[keep])

    def _increments(self, games: Games) -> Record:
        """Return what the games add to every team."""
        objects, codes = np.unique(np.concatenate([games.a, games.b]), return_inverse=True)
        (a, b), points, n = np.split(codes, 2), games.points, len(objects)
        total = points.sum(axis=1, keepdims=True)
        share = np.where(total > 0, points / np.where(total > 0, total, 1.0), 0.5)
        won = points > points[:, ::-1]
        gain = self.win_weight * won + (share if self.score_share else 0.0)
        row = np.concatenate([a, b, b, a])
        column = np.concatenate([a, b, a, b])
        value = np.concatenate([gain[:, 0], gain[:, 1], gain[:, 0], gain[:, 1]])
        if not self.self_transitions:
            row, column, value = (part[2 * len(a) :] for part in (row, column, value))
        counts = sparse.csr_array((value, (row, column)), shape=(n, n))
        record = np.zeros((n, 3), dtype=int)
        for side, own in ((a, 0), (b, 1)):
            outcome = np.where(won[:, own], 0, np.where(won[:, 1 - own], 1, 2))
            np.add.at(record, (side, outcome), 1)
        return Record(objects, counts, record)

    def _ranked(self, found: Record) -> dict[str, Any]:
        """Return the learned attributes: the walk over the teams, and where it stays."""
        n = len(found.objects)
        sums = np.asarray(found.counts.sum(axis=1)).ravel()
        scale = sparse.diags_array(1.0 / np.where(sums > 0, sums, 1.0))
        walk = sparse.csr_array(scale @ found.counts + sparse.diags_array((sums == 0).astype(float)))
        if self.damping < 1.0:
            from gnomon.ranking.links import pagerank

            sweeps = max(1000, int(60.0 / (1.0 - self.damping)))  # each shrinks the error by the damping
            scores = pagerank(walk, damping=self.damping, tol=1e-12, max_iter=sweeps)
        else:
            check_connected(walk, found.objects)
            scores = stationary_distribution(walk, method="gth" if n <= 200 else "power").distribution
        return {
            "objects_": found.objects,
            "counts_": found.counts,
            "record_": found.record,
            "transmat_": walk,
            "scores_": scores,
            "ranking_": found.objects[np.argsort(-scores, kind="stable")],
        }

    def table(self) -> Any:
        """Return a DataFrame of rank, object, score, wins, losses and draws, best first."""
        pd = import_pandas()
        check_is_fitted(self, "scores_")
        order = np.argsort(-self.scores_, kind="stable")
        wins, losses, draws = self.record_[order].T
        return pd.DataFrame(
            {
                "rank": np.arange(1, len(order) + 1),
                "object": self.objects_[order],
                "score": self.scores_[order],
                "wins": wins,
                "losses": losses,
                "draws": draws,
            }
        )

    def win_probability(self, a: Any, b: Any) -> float:
        """Return score(a) / (score(a) + score(b)), the walker's preference of a over b."""
        check_is_fitted(self, "scores_")
        place = [np.flatnonzero(self.objects_ == name) for name in (a, b)]
        for name, found in zip((a, b), place, strict=True):
            if not len(found):
                raise DataError(f"{name!r} played no game.")
        one, other = self.scores_[place[0][0]], self.scores_[place[1][0]]
        return float(one / (one + other))

    def plot(self, ax: Any = None) -> Any:
        """Draw the best teams as bars; return the Axes."""
        from gnomon.plot.sequence import ranking_table

        return ranking_table(self, ax=ax)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def merged(first: Record, second: Record) -> Record:
    """Put the teams of two records into one table."""
    union = np.unique(np.concatenate([first.objects, second.objects]))
    n, played = len(union), np.zeros((len(union), 3), dtype=int)
    total = sparse.csr_array((n, n))
    for part in (first, second):
        place, entries = np.searchsorted(union, part.objects), sparse.coo_array(part.counts)
        total = total + sparse.csr_array(
            (entries.data, (place[entries.row], place[entries.col])), shape=(n, n)
        )
        played[place] += part.record
    return Record(union, sparse.csr_array(total), played)


def check_connected(walk: Any, objects: Array) -> None:
    """Refuse a schedule whose teams cannot all be compared."""
    closed = chain_structure(walk).closed
    if len(closed) > 1:
        groups = [objects[group[:4]].tolist() for group in closed[:4]]
        raise DegenerateError(
            f"the schedule falls apart into {len(closed)} groups that cannot be compared, among them "
            f"{groups}; "
            "set damping below 1 (0.95, say) to rank them all the same."
        )


def numbers(points: Any) -> Array:
    """Return a column of points as numbers, finite or not."""
    try:
        return np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("the points of both sides, columns 3 and 4 of games, must be numbers.") from None


def _columns(games: Any) -> list[Any]:
    """Return the four columns of a table of games."""
    if hasattr(games, "columns"):
        columns = [games[name].to_numpy() for name in list(games.columns)[:4]]
    elif isinstance(games, np.ndarray):
        columns = list(games.T)
    else:
        rows = listed(games, "of rows (a, b, points of a, points of b)", name="games")
        if not all(isinstance(row, list | tuple | np.ndarray) and len(row) == 4 for row in rows):
            raise DataError("every game must be a row (a, b, points of a, points of b).")
        columns = list(zip(*rows, strict=True))
    if len(columns) != 4 or not len(columns[0]):
        raise DataError("games must be rows of (a, b, points of a, points of b), at least one.")
    return columns


def compare_rankings(first: Any, second: Any) -> Comparison:
    """Compare two rankings on the objects they share.

    Parameters
    ----------
    first, second : sequence of objects, best first, or mapping of object to rank
        Mappings may hold ties.

    Examples
    --------
    >>> found = compare_rankings(["a", "b", "c"], ["b", "a", "d"])
    >>> found.shared, round(found.overlap, 3), round(found.spearman, 6)
    (['a', 'b'], 0.667, -1.0)
    """
    ranks = [
        dict(r) if isinstance(r, Mapping) else {name: i + 1 for i, name in enumerate(r)}
        for r in (first, second)
    ]
    shared = [name for name in ranks[0] if name in ranks[1]]
    if len(shared) < 2:
        raise DataError(f"the rankings share {len(shared)} objects; at least 2 are needed to correlate them.")
    a, b = ([rank[name] for name in shared] for rank in ranks)
    overlap = len(shared) / min(map(len, ranks))
    return Comparison(shared, overlap, float(stats.spearmanr(a, b)[0]), float(stats.kendalltau(a, b)[0]))
