"""Hidden states: where the robot is, given noisy sensors and the actions it took, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.randomness import generator
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, probabilities
from gnomon.decide.beliefs import BeliefPolicy
from gnomon.decide.journeys import (
    Chances,
    Journeys,
    are_pairs,
    normalized,
    passage,
    shown,
    taken_apart,
)


class ActionHMM(Learner):
    r"""A hidden Markov model whose transitions are chosen by known actions.

    .. math:: b'(s') \propto O(o \mid s') \sum_s T_a(s, s')\, b(s)

    The first observation is made before the first action, so there is one action less than there are observations.
    With one action
    it is the ordinary hidden Markov model. `filter` tells where the robot is, `predict_proba` where it was, `decode`
    the likeliest
    path; `fit` learns chances by EM.

    Parameters
    ----------
    n_states, n_actions, n_observations : int
    startprob, transmat, emissionprob : arrays, optional
        (S,), (A, S, S) and (S, O), or (A, S, O) where what is seen depends on the action that led there. Known ones
        are used
        as they are, without a fit; others are drawn to begin EM with.
    n_iter, tol : int, float
        Of EM.
    on_impossible : {"error", "reset"}
        What to do with an observation that the belief rules out: refuse, or begin anew from all states that could
        show it.
    random_state : int, Generator or None

    Attributes
    ----------
    startprob_, transmat_, emissionprob_ : arrays
    trace_, n_iter_, converged_

    Examples
    --------
    >>> right = [[0.2, 0.8, 0], [0, 0.2, 0.8], [0, 0, 1]]
    >>> left = [[1, 0, 0], [0.8, 0.2, 0], [0, 0.8, 0.2]]
    >>> robot = ActionHMM(3, 2, 2, transmat=[left, right], emissionprob=[[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]])
    >>> robot.filter([0, 1, 0, 1], [1, 1, 0])[-1].round(4)
    array([0.007 , 0.9633, 0.0297])
    """

    _sense: ClassVar[str] = "max"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_states": [COUNT],
        "n_actions": [COUNT],
        "n_observations": [COUNT],
        "startprob": ["array-like", None],
        "transmat": ["array-like", None],
        "emissionprob": ["array-like", None],
        "on_impossible": [StrOptions({"error", "reset"})],
        "n_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_states: int = 2,
        n_actions: int = 1,
        n_observations: int = 2,
        *,
        startprob: Any = None,
        transmat: Any = None,
        emissionprob: Any = None,
        n_iter: int = 100,
        tol: float = 1e-4,
        on_impossible: str = "error",
        random_state: Any = None,
    ) -> None:
        self.n_states, self.n_actions, self.n_observations = n_states, n_actions, n_observations
        self.startprob, self.transmat, self.emissionprob = startprob, transmat, emissionprob
        self.n_iter, self.tol, self.on_impossible, self.random_state = (
            n_iter,
            tol,
            on_impossible,
            random_state,
        )

    @classmethod
    def from_grid(cls, grid: Any, *, accuracy: float = 0.9, sensor: str = "cell") -> ActionHMM:
        """Return the model of a robot on a grid with noisy sensors.

        Parameters
        ----------
        grid : GridWorld
        accuracy : float
            Chance that the sensor is right; otherwise any other reading, all equally likely.
        sensor : {"cell", "walls"}
            It reads the number of the cell, or in which of the four directions there are walls (16 readings; each
            direction is read wrongly with chance 1 − accuracy).
        """
        if not 0.0 < accuracy <= 1.0:
            raise DataError(f"accuracy must be above 0 and at most 1; got {accuracy!r}.")
        S = grid.n_states
        if sensor == "cell":
            shows = np.full((S, S), (1.0 - accuracy) / max(S - 1, 1))
            np.fill_diagonal(shows, accuracy if S > 1 else 1.0)
        elif sensor == "walls":
            shows = _wall_readings(grid, accuracy)
        else:
            raise DataError(f"sensor must be 'cell' or 'walls'; got {sensor!r}.")
        moves = grid.rows_.toarray().reshape(S, grid.n_actions, S).transpose(1, 0, 2).copy()
        moves[:, range(S), range(S)] += grid._ends.T  # the robot stays where an episode ends
        return cls(
            S, grid.n_actions, shows.shape[1], startprob=grid.start_, transmat=moves, emissionprob=shows
        )

    # data

    def _read_journeys(self, observations: Any, actions: Any) -> Journeys:
        check_parameters(self)
        if actions is None or are_pairs(observations):
            observations, actions = taken_apart(observations)
        if len(observations) and np.ndim(observations[0]) == 0:
            observations, actions = [observations], [actions]
        if actions is None or len(observations) != len(actions) or not len(observations):
            raise DataError(
                "observations and actions must be lists of the same number of sequences, at least one."
            )
        return Journeys([self._journey(o, a) for o, a in zip(observations, actions, strict=True)])

    def _journey(self, observations: Any, actions: Any) -> tuple[Array, Array]:
        o, a = np.asarray(observations), np.asarray(actions)
        if a.size == 0:
            a = a.astype(np.int64)
        if o.ndim != 1 or a.ndim != 1 or len(a) != len(o) - 1:
            raise DataError(
                f"there must be one action less than observations; got {len(o)} observations and {len(a)} actions."
            )
        for values, name, count in ((o, "observation", self.n_observations), (a, "action", self.n_actions)):
            if values.dtype.kind not in "iu" or (values.size and (values.min() < 0 or values.max() >= count)):
                raise DataError(f"{name}s must be whole numbers from 0 to {count - 1}.")
        return o.astype(np.int64), a.astype(np.int64)

    def _chances(self) -> Chances:
        """The learned parameters, or those given."""
        if hasattr(self, "transmat_"):
            return Chances(self.startprob_, self.transmat_, self.emissionprob_)
        if self.transmat is None or self.emissionprob is None:
            check_is_fitted(self)
        return self._given(None)

    def _given(self, rng: Any) -> Chances:
        S, A, O = self.n_states, self.n_actions, self.n_observations

        def one(value: Any, name: str, shapes: list[tuple[int, ...]]) -> Array:
            if value is None:
                if rng is None or name == "startprob":
                    return np.full(shapes[0], 1.0 / shapes[0][-1])
                return rng.dirichlet(np.full(shapes[0][-1], 5.0), size=shapes[0][:-1])
            found = probabilities(value, name=name)
            if found.shape not in shapes:
                raise DataError(f"{name} must have shape {shapes[0]}; got {found.shape}.")
            return found

        return Chances(
            one(self.startprob, "startprob", [(S,)]),
            one(self.transmat, "transmat", [(A, S, S)]),
            one(self.emissionprob, "emissionprob", [(S, O), (A, S, O)]),
        )

    # learning

    def fit(self, observations: Any, actions: Any = None, y: Any = None) -> Self:
        """Learn by EM.

        Parameters
        ----------
        observations : list of int sequences, or one
            Without `actions`, a list of pairs (observations, actions).
        actions : list of int sequences, or one
            Each one shorter than its observations.
        y : ignored
            For scikit-learn's tools.
        """
        return self._learn(self._read_journeys(observations, actions), X=observations, y=None)

    def iterate(self, observations: Any, actions: Any = None) -> Iterator[Self]:
        """Yield a fitted copy at the start and after every step of EM."""
        yield from self._iterate(self._read_journeys(observations, actions))

    def _limit(self) -> int:
        return int(self.n_iter)

    def _start(self, work: Journeys, rng: Any) -> Chances:
        return self._given(rng)

    def _step(self, work: Journeys, state: Chances) -> tuple[Chances, Report]:
        S, A, O = self.n_states, self.n_actions, self.n_observations
        first, moves, shows = np.zeros(S), np.zeros((A, S, S)), np.zeros((A, S, O))
        total = 0.0
        by_action = state.shows.ndim == 3
        for observations, actions in work.journeys:
            found = passage(state, observations, actions)
            total += found.log_likelihood
            first += found.smoothed[0]
            moves += found.pairs
            led = np.concatenate([[0], actions])
            np.add.at(shows, (led, slice(None), observations), found.smoothed)
        fresh = Chances(
            first / first.sum(),
            normalized(moves, state.moves),
            normalized(shows if by_action else shows.sum(axis=0), state.shows),
        )
        return fresh, Report(total)

    def _attributes(self, state: Chances) -> dict[str, Any]:
        return {"startprob_": state.start, "transmat_": state.moves, "emissionprob_": state.shows}

    # questions

    def belief_update(self, belief: Any, action: int, observation: int) -> Array:
        """Return the belief after an action and the observation that follows."""
        chances = self._chances()
        before = probabilities(belief, name="belief")
        return self._seen(chances, before @ chances.moves[action], action, observation)

    def _seen(self, chances: Chances, before: Array, action: int, observation: int) -> Array:
        weight = shown(chances, action)[:, observation]
        after = before * weight
        if after.sum() <= 0:
            if self.on_impossible == "reset" and weight.sum() > 0:
                return weight / weight.sum()
            raise ZeroEvidenceError(
                f"observation {observation} has probability zero under the belief; is the sensor "
                f"model right? on_impossible='reset' begins anew."
            )
        return after / after.sum()

    def filter(self, observations: Any, actions: Any) -> Array:
        """Return p(state at t | observations up to t), for every t."""
        o, a = self._journey(observations, actions)
        chances = self._chances()
        beliefs = np.empty((len(o), self.n_states))
        beliefs[0] = self._seen(chances, chances.start, 0, o[0])
        for t in range(1, len(o)):
            beliefs[t] = self._seen(chances, beliefs[t - 1] @ chances.moves[a[t - 1]], a[t - 1], o[t])
        return beliefs

    def predict_proba(self, observations: Any, actions: Any = None) -> Any:
        """Return p(state at t | all observations), for every t.

        Parameters
        ----------
        observations : int sequence
            Without `actions`, a list of pairs (observations, actions); then a list is returned, or one array where all
            have the same length.
        actions : int sequence
        """
        if actions is None:
            found = [self.predict_proba(o, a) for o, a in zip(*taken_apart(observations), strict=True)]
            return np.array(found) if len({len(one) for one in found}) == 1 else found
        return passage(self._chances(), *self._journey(observations, actions)).smoothed

    def predict_next(self, observations: Any, actions: Any, action: int) -> Array:
        """Return the distribution of the next state if `action` is taken now."""
        return self.filter(observations, actions)[-1] @ self._chances().moves[action]

    def score(self, observations: Any, actions: Any = None) -> float:
        """Return the log-likelihood of the observations."""
        return passage(self._chances(), *self._journey(observations, actions)).log_likelihood

    def decode(self, observations: Any, actions: Any) -> tuple[float, Array]:
        """Return the log-probability of the likeliest path, and the path (Viterbi)."""
        o, a = self._journey(observations, actions)
        chances = self._chances()
        with np.errstate(divide="ignore"):
            moves = np.log(chances.moves)
            best = np.log(chances.start) + np.log(shown(chances, 0)[:, o[0]])
            back = np.zeros((len(o), self.n_states), dtype=np.int64)
            for t in range(1, len(o)):
                ways = best[:, None] + moves[a[t - 1]]
                back[t] = ways.argmax(axis=0)
                best = ways.max(axis=0) + np.log(shown(chances, a[t - 1])[:, o[t]])
        if best.max() == -np.inf:
            raise ZeroEvidenceError("no path can show these observations.")
        path = np.empty(len(o), dtype=np.int64)
        path[-1] = best.argmax()
        for t in range(len(o) - 1, 0, -1):
            path[t - 1] = back[t, path[t]]
        return float(best.max()), path

    def sample(self, actions: Any, random_state: Any = None) -> tuple[Array, Array]:
        """Draw observations and hidden states of a journey with these actions."""
        rng, chances = generator(random_state), self._chances()
        s = int(rng.choice(self.n_states, p=chances.start))
        states = [s]
        seen = [int(rng.choice(self.n_observations, p=shown(chances, 0)[s]))]
        for a in np.asarray(actions, dtype=np.int64):
            s = int(rng.choice(self.n_states, p=chances.moves[a][s]))
            states.append(s)
            seen.append(int(rng.choice(self.n_observations, p=shown(chances, a)[s])))
        return np.array(seen), np.array(states)

    def policy(self, Q: Any, rule: str = "qmdp") -> BeliefPolicy:
        """Return the policy that acts on beliefs.

        Parameters
        ----------
        Q : (S, A) array, or a fitted planner
            Action values as if the state were seen.
        rule : {"qmdp", "most_likely"}
            The best action on average over the belief, arg max Σ b(s)Q(s, a), or that of the likeliest state.
            Neither takes an
            action only to learn where it is.
        """
        return BeliefPolicy(self, np.asarray(getattr(Q, "Q_", Q), dtype=np.float64), rule)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "transmat_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def _wall_readings(grid: Any, accuracy: float) -> Array:
    """Chances of the sixteen readings of four wall sensors, in every cell."""
    from gnomon.decide.grids import FOUR

    blocked = np.array([[(i + di, j + dj) not in grid._number for di, dj in FOUR] for i, j in grid.cells])
    readings = (np.arange(16)[:, None] >> np.arange(4)) & 1
    right = readings[None] == blocked[:, None]
    return np.where(right, accuracy, 1.0 - accuracy).prod(axis=2)
