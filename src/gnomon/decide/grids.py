"""Grid worlds: a robot that does not always go where it means to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.decide import bellman
from gnomon.decide.process import MDP

FOUR = ((-1, 0), (0, 1), (1, 0), (0, -1))
EIGHT = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
NAMES = {
    4: ("up", "right", "down", "left"),
    8: ("up", "up-right", "right", "down-right", "down", "down-left", "left", "up-left"),
}
ARROWS = {4: "↑→↓←", 8: "↑↗→↘↓↙←↖"}

Cell = tuple[int, int]


class GridWorld(MDP):
    """A robot on a grid that slips.

    It goes where it means to with `move_probability` and to **each** of the two neighboring directions with
    `slip_probability`; what is in the way leaves it where it is. Actions are 0 up, 1 right, 2 down, 3 left; states
    number
    the cells that are no walls, row by row from the top.

    Parameters
    ----------
    shape : pair of int
        Rows and columns.
    walls : cells (row, column)
    terminals : mapping of cell to reward, optional
        Cells that end the episode.
    rewards : mapping of cell to reward, optional
        Rewards of other cells.
    living_reward : float
        Of every cell without another.
    move_probability, slip_probability, back_probability, stay_probability : float
        Move, twice slip, back and stay sum to one.
    moves : {4, 8}
        Directions.
    start : cell, optional
        Anywhere by default.
    discount : float
    reward_on : {"state", "next_state"}
        Paid on leaving a cell (a terminal one is then worth its reward), or on arrival.

    Examples
    --------
    >>> from gnomon.decide import solve
    >>> grid = GridWorld.small()
    >>> model = solve(grid)
    >>> print(grid.arrows(model.policy_))
    →→●
    ↑■●
    ↑←←
    >>> grid.as_grid(model.V_).round(3)[0]
    array([0.761, 0.878, 1.   ])
    """

    def __init__(
        self,
        shape: tuple[int, int],
        *,
        walls: Iterable[Cell] = (),
        terminals: Mapping[Cell, float] | None = None,
        rewards: Mapping[Cell, float] | None = None,
        living_reward: float = 0.0,
        move_probability: float = 0.8,
        slip_probability: float = 0.1,
        back_probability: float = 0.0,
        stay_probability: float = 0.0,
        moves: int = 4,
        start: Cell | None = None,
        discount: float | None = 0.9,
        reward_on: str = "state",
    ) -> None:
        chances = (move_probability, slip_probability, back_probability, stay_probability)
        if (
            min(chances) < 0
            or abs(move_probability + 2 * slip_probability + back_probability + stay_probability - 1) > 1e-8
        ):
            raise DataError(
                "move_probability + 2·slip_probability + back_probability + stay_probability must be "
                "1 (the slip is for each side); "
                f"got {move_probability:g} + 2·{slip_probability:g} + {back_probability:g} + {stay_probability:g}."
            )
        if moves not in ARROWS:
            raise DataError(f"moves must be 4 or 8; got {moves!r}.")
        self.shape = (int(shape[0]), int(shape[1]))
        self.walls = frozenset(map(_cell, walls))
        self.terminals = {_cell(at): float(paid) for at, paid in (terminals or {}).items()}
        self.cells = [at for at in np.ndindex(self.shape) if at not in self.walls]
        self.moves = moves
        self._number = {at: s for s, at in enumerate(self.cells)}
        self._check_cells([*self.terminals, *(rewards or {})], "terminals and rewards")
        settings = {
            "walls": sorted(self.walls), "terminals": self.terminals, "rewards": dict(rewards or {}),
            "living_reward": living_reward, "move_probability": move_probability, "slip_probability": slip_probability,
            "back_probability": back_probability, "stay_probability": stay_probability, "moves": moves, "start": start,
            "discount": discount, "reward_on": reward_on,
        }  # fmt: skip
        self._settings = settings
        paid = [self._paid(at, rewards or {}, living_reward) for at in self.cells]
        super().__init__(
            self._chances(*chances),
            paid,
            discount=discount,
            start=None if start is None else self.state(_cell(start)),
            terminal=[self._number[at] for at in self.terminals],
            layout="sas",
            reward_on=reward_on,
            state_names=[f"{i},{j}" for i, j in self.cells],
            action_names=NAMES[moves],
        )
        if discount == 1.0:
            bellman.check_can_end(self)

    def _check_cells(self, cells: Iterable[Any], what: str) -> None:
        for at in cells:
            if _cell(at) not in self._number:
                raise DataError(
                    f"{what} name the cell {at}, which is a wall or outside the {self.shape[0]}×{self.shape[1]} grid."
                )

    def _paid(self, at: Cell, rewards: Mapping[Cell, float], living: float) -> float:
        return float(self.terminals.get(at, rewards.get(at, living)))

    def _chances(self, move: float, slip: float, back: float, stay: float) -> Array:
        S, A = len(self.cells), self.moves
        ways = FOUR if A == 4 else EIGHT
        T = np.zeros((S, A, S))
        for s, at in enumerate(self.cells):
            for a in range(A):
                for turn, p in ((0, move), (1, slip), (-1, slip), (A // 2, back)):
                    di, dj = ways[(a + turn) % A]
                    T[s, a, self._number.get((at[0] + di, at[1] + dj), s)] += p
                T[s, a, s] += stay
        return T

    # named grids

    @classmethod
    def small(cls, **options: Any) -> GridWorld:
        """Return the 3×3 grid with a blocked center, +1 at the top right and −1 below it."""
        return cls((3, 3), walls=[(1, 1)], terminals={(0, 2): 1.0, (1, 2): -1.0}, **options)

    @classmethod
    def classic(cls, **options: Any) -> GridWorld:
        """Return the 3×4 grid of the textbooks: a wall at (1, 1), +1 at (0, 3), −1 at (1, 3)."""
        return cls((3, 4), walls=[(1, 1)], terminals={(0, 3): 1.0, (1, 3): -1.0}, **options)

    @classmethod
    def charging_station(cls, shape: tuple[int, int], target: Cell, **options: Any) -> GridWorld:
        """Return a grid that pays 1 on the target and nothing elsewhere, for ever."""
        return cls(shape, rewards={_cell(target): 1.0}, **options)

    @classmethod
    def from_text(cls, text: str, legend: Mapping[str, Any] | None = None, **options: Any) -> GridWorld:
        """Read a grid from a drawing.

        Parameters
        ----------
        text : str
            One line a row. ``#`` is a wall, ``.`` or a space a free cell, ``S`` the start.
        legend : mapping of character to number or (number, "terminal")
            Rewards; a plain number ends the episode too.
        **options
            As in the constructor.

        Examples
        --------
        >>> grid = GridWorld.from_text("..G|S#F".replace("|", chr(10)), {"G": 1.0, "F": -1.0})
        >>> grid.n_states, grid.cell(int(grid.start_.argmax()))
        (5, (1, 0))
        """
        lines = text.strip("\n").split("\n")
        width = max(map(len, lines))
        legend = dict(legend or {})
        walls, terminals, rewards = [], {}, {}
        for i, line in enumerate(lines):
            for j, mark in enumerate(line.ljust(width, "#")):
                if mark in legend:
                    told = legend[mark]
                    if isinstance(told, tuple):
                        (terminals if told[1] == "terminal" else rewards)[(i, j)] = float(told[0])
                    else:
                        terminals[(i, j)] = float(told)
                elif mark == "#":
                    walls.append((i, j))
                elif mark == "S":
                    options["start"] = (i, j)
                elif mark not in ". ":
                    raise DataError(f"the grid has {mark!r} at {(i, j)}, which the legend does not explain.")
        return cls((len(lines), width), walls=walls, terminals=terminals, rewards=rewards, **options)

    def changed(self, **options: Any) -> GridWorld:
        """Return the same grid with other settings."""
        return GridWorld(self.shape, **{**self._settings, **options})

    # cells

    def cell(self, state: int) -> Cell:
        """Return the row and column of a state."""
        return self.cells[int(state)]

    def state(self, cell: Cell) -> int:
        """Return the number of a cell."""
        self._check_cells([cell], "a cell asked for:")
        return self._number[_cell(cell)]

    def as_grid(self, vector: Any) -> Array:
        """Return numbers by state as a grid, NaN in walls."""
        values = np.asarray(vector, dtype=np.float64)
        if values.shape != (self.n_states,):
            raise DataError(f"there are {self.n_states} states; got shape {values.shape}.")
        grid = np.full(self.shape, np.nan)
        for at, value in zip(self.cells, values, strict=True):
            grid[at] = value
        return grid

    def arrows(self, policy: Any) -> str:
        """Return a policy as text: an arrow in every cell, ● where episodes end, ■ for walls."""
        actions = np.asarray(getattr(policy, "policy_", policy))
        if actions.ndim == 2:
            actions = actions.argmax(axis=1) if actions.dtype.kind == "f" else actions[-1]
        grid = [["■"] * self.shape[1] for _ in range(self.shape[0])]
        for s, (i, j) in enumerate(self.cells):
            grid[i][j] = "●" if (i, j) in self.terminals else ARROWS[self.moves][int(actions[s])]
        return "\n".join("".join(line) for line in grid)

    def plot_policies(
        self, *, discounts: Any = None, living_rewards: Any = None, horizons: Any = None, figure: Any = None
    ) -> list[Any]:
        """Draw the best policies under several discounts, living rewards or horizons, side by side.

        Parameters
        ----------
        discounts, living_rewards, horizons : sequence, optional
            One of them.
        figure : matplotlib Figure, optional

        Returns
        -------
        list of matplotlib Axes
        """
        from gnomon.plot.grid_worlds import policy_sweep

        return policy_sweep(
            self, discounts=discounts, living_rewards=living_rewards, horizons=horizons, figure=figure
        )


def _cell(at: Any) -> Cell:
    return int(at[0]), int(at[1])
