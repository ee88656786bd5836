"""Q-learning and Sarsa: action values learned from moves, without a model of the world."""

from __future__ import annotations

from typing import Any, ClassVar

from gnomon.decide.differences import METHODS, TemporalDifference


class QLearning(TemporalDifference):
    r"""Q-learning: the value of the best policy, learned while following any other (Watkins 1989).

    .. math:: Q(s,a) \leftarrow Q(s,a) + \alpha \big[ r + \gamma \max_{a'} Q(s',a') - Q(s,a) \big]

    No model is needed. It converges to Q* when every pair is visited for ever and Σα = ∞, Σα² < ∞, whatever the
    behavior. Nothing is
    taken from the state after a termination; one that was merely cut off counts on. Use `Sarsa` when the mistakes of
    exploring
    are dear, `ModelBased` when moves are dear, `DQN` when states cannot be numbered.

    Parameters
    ----------
    discount : float
        γ.
    learning_rate : float, Schedule or function
        α; `VisitDecay` of `gnomon.solvers` counts visits of the pair.
    exploration : float, Schedule, EpsilonGreedy, SoftmaxBehavior or Policy
        A number or schedule is the ε of `EpsilonGreedy`.
    n_episodes, max_steps : int
        Episodes, and moves after which one is cut off.
    n_steps : int, optional
        Moves in all, instead of episodes.
    initial_q : float or (S, A) array
        A large number makes the agent try everything (optimism).
    double : bool
        Two tables, one chooses, the other judges, so that maxima of noise are not taken for value (van Hasselt 2010).
    n_step : int
        Rewards before the bootstrap.
    trace_decay : float
        λ of eligibility traces, cut at exploring actions (Watkins).
    replacing : bool
        A visited pair's trace becomes 1 instead of growing by 1.
    random_state : int, Generator or None

    Attributes
    ----------
    Q_, V_ : (S, A), (S,) arrays
    policy_ : Policy
        Greedy.
    visits_ : (S, A) array
    returns_, lengths_ : arrays
        Of the episodes; with the mean size of the errors they stand in ``trace_``.
    trace_, n_iter_, n_steps_

    Examples
    --------
    >>> moves = [(0, 1, -1, 1), (1, 0, 2, 1), (1, 0, 2, 0), (0, 1, -1, 1)]
    >>> QLearning(discount=0.9, learning_rate=0.5).learn_from(moves).Q_
    array([[ 0.   , -0.075],
           [ 1.5  ,  0.   ]])
    >>> from gnomon.decide import GridWorld
    >>> agent = QLearning(discount=0.9, n_episodes=2000, random_state=0).fit(GridWorld.small())
    >>> print(GridWorld.small().arrows(agent.policy_).split()[0])
    →→●
    """

    _method: ClassVar[str] = "q"

    def __init__(
        self,
        *,
        discount: float = 0.99,
        learning_rate: Any = 0.1,
        exploration: Any = 0.1,
        n_episodes: int = 500,
        max_steps: int = 1000,
        n_steps: int | None = None,
        initial_q: Any = 0.0,
        double: bool = False,
        n_step: int = 1,
        trace_decay: float = 0.0,
        replacing: bool = True,
        random_state: Any = None,
    ) -> None:
        self.discount, self.learning_rate, self.exploration = discount, learning_rate, exploration
        self.n_episodes, self.max_steps, self.n_steps, self.initial_q = (
            n_episodes,
            max_steps,
            n_steps,
            initial_q,
        )
        self.double, self.n_step, self.trace_decay, self.replacing = double, n_step, trace_decay, replacing
        self.random_state = random_state


class Sarsa(TemporalDifference):
    r"""Sarsa: the value of the behavior itself, exploration included (Rummery and Niranjan 1994).

    .. math:: Q(s,a) \leftarrow Q(s,a) + \alpha \big[ r + \gamma Q(s',a') - Q(s,a) \big]

    a′ is the action really taken next. With a fixed behavior the values are that behavior's; with one that is greedy
    in the limit
    (`GreedyInLimit`) they go to Q*. It keeps away from cliffs that a greedy agent walks along.

    Parameters
    ----------
    discount, learning_rate, exploration, n_episodes, max_steps, n_steps, initial_q, n_step, trace_decay, replacing,
    random_state
        As in `QLearning`. A `Policy` as `exploration` is evaluated.
    expected : bool
        Take the mean over the behavior's actions instead of the one taken: less noise (van Seijen et al. 2009).
    double : bool
        Two tables, as in `QLearning`.

    Attributes
    ----------
    Q_, V_, policy_, visits_, returns_, lengths_, trace_
        As in `QLearning`.

    Examples
    --------
    >>> moves = [(0, 1, -1, 1, 0, False), (1, 0, 2, 1, 0, False), (1, 0, 2, 0, 1, False)]
    >>> Sarsa(discount=0.9, learning_rate=0.5).learn_from(moves).Q_
    array([[ 0.   , -0.5  ],
           [ 1.275,  0.   ]])
    """

    _method: ClassVar[str] = "sarsa"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TemporalDifference._parameter_constraints,
        "expected": ["boolean"],
    }

    def __init__(
        self,
        *,
        discount: float = 0.99,
        learning_rate: Any = 0.1,
        exploration: Any = 0.1,
        n_episodes: int = 500,
        max_steps: int = 1000,
        n_steps: int | None = None,
        initial_q: Any = 0.0,
        expected: bool = False,
        double: bool = False,
        n_step: int = 1,
        trace_decay: float = 0.0,
        replacing: bool = True,
        random_state: Any = None,
    ) -> None:
        self.discount, self.learning_rate, self.exploration = discount, learning_rate, exploration
        self.n_episodes, self.max_steps, self.n_steps, self.initial_q = (
            n_episodes,
            max_steps,
            n_steps,
            initial_q,
        )
        self.expected, self.double, self.n_step = expected, double, n_step
        self.trace_decay, self.replacing, self.random_state = trace_decay, replacing, random_state

    def _code(self) -> int:
        return METHODS["expected" if self.expected else "sarsa"]


__all__ = ["QLearning", "Sarsa"]
