"""Learning from moves: one function takes a move in, updates the tables and chooses the next action.

The loop over an episode, in compiled worlds or in Python, calls the same function, so both give the same numbers.
``rule`` and ``memory`` are named tuples; their classes stand here, because compiled code on disk names them by their
address. A schedule is five numbers: kind
(0 constant, 1 inverse power, 2 exponential with floor, 3 linear, 4 table), three parameters, and what it counts (0
steps, 1 visits of the state, 2 of the pair).
"""

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.worlds import draw, first_state, key_of, move


class Rule(NamedTuple):
    """How an agent behaves and learns, as loops know it."""

    method: int
    double: bool
    discount: float
    trace_decay: float
    replacing: bool
    rate: np.ndarray
    rate_table: np.ndarray
    behavior: int
    explore: np.ndarray
    explore_table: np.ndarray
    fixed: np.ndarray
    available: np.ndarray


class Memory(NamedTuple):
    """What changes while an episode is played."""

    Q: np.ndarray  # (2, S, A), the second of the double method
    visits: np.ndarray  # (S, A)
    counts: np.ndarray  # steps in all, moves in the buffer, pairs with a trace
    sums: np.ndarray  # of |errors|
    past_states: np.ndarray
    past_actions: np.ndarray
    past_rewards: np.ndarray
    trace: np.ndarray  # (S, A), or (1, 1)
    active: np.ndarray
    chances: np.ndarray  # (A,)


@compiled(**PART)
def scheduled(schedule, table, steps, state_visits, pair_visits):
    """The value of a schedule now."""
    k = steps if schedule[4] == 0 else state_visits if schedule[4] == 1 else pair_visits
    kind = schedule[0]
    if kind == 0:
        return schedule[1]
    if kind == 1:
        return schedule[1] / (k + 1.0 + schedule[3]) ** schedule[2]
    if kind == 2:
        return max(schedule[1] * schedule[2] ** k, schedule[3])
    if kind == 3:
        return (
            schedule[2] if k >= schedule[3] else schedule[1] + (schedule[2] - schedule[1]) * (k / schedule[3])
        )
    return table[min(k, len(table) - 1)]


@compiled(**PART)
def fill_chances(rule, memory, s, chances):
    """chances[a] of the behavior in state s."""
    A = memory.visits.shape[1]
    if rule.behavior == 3:
        for a in range(A):
            chances[a] = rule.fixed[s, a]
        return
    seen = 0
    count = 0
    top = -np.inf
    for a in range(A):
        seen += memory.visits[s, a]
        if rule.available[s, a]:
            count += 1
            top = max(top, memory.Q[0, s, a] + memory.Q[1, s, a] if rule.double else memory.Q[0, s, a])
    level = scheduled(rule.explore, rule.explore_table, memory.counts[0], seen, 0)
    if rule.behavior == 2:
        total = 0.0
        for a in range(A):
            chances[a] = 0.0
            if rule.available[s, a]:
                q = (memory.Q[0, s, a] + memory.Q[1, s, a]) / 2 if rule.double else memory.Q[0, s, a]
                chances[a] = np.exp((q - (top / 2 if rule.double else top)) / level)
                total += chances[a]
        for a in range(A):
            chances[a] /= total
        return
    best = 0
    for a in range(A):
        q = memory.Q[0, s, a] + memory.Q[1, s, a] if rule.double else memory.Q[0, s, a]
        if rule.available[s, a] and q == top:
            best += 1
    first = True
    for a in range(A):
        chances[a] = 0.0
        if rule.available[s, a]:
            chances[a] = level / count
            q = memory.Q[0, s, a] + memory.Q[1, s, a] if rule.double else memory.Q[0, s, a]
            if q == top:
                if rule.behavior == 0:
                    chances[a] += (1.0 - level) / best
                elif first:
                    chances[a] += 1.0 - level
                    first = False


@compiled(**PART)
def chosen(rule, memory, s, u):
    """An action of the behavior for a number u in [0, 1)."""
    chances = memory.chances
    fill_chances(rule, memory, s, chances)
    mass = 0.0
    last = 0
    for a in range(len(chances)):
        if chances[a] > 0.0:
            last = a
            mass += chances[a]
            if u < mass:
                return a
    return last


@compiled(**PART)
def _follow_up(rule, memory, s, a, table):
    """What state s, where a was chosen next, is worth to the update of a table."""
    A = memory.visits.shape[1]
    other = 1 - table if rule.double else table
    if rule.method == 1:
        return memory.Q[other, s, a]
    if rule.method == 2:
        chances = memory.chances
        fill_chances(rule, memory, s, chances)
        total = 0.0
        for b in range(A):
            if chances[b] > 0.0:
                total += chances[b] * memory.Q[other, s, b]
        return total
    top, at = -np.inf, 0
    for b in range(A):
        if rule.available[s, b] and memory.Q[table, s, b] > top:
            top, at = memory.Q[table, s, b], b
    return memory.Q[other, s, at]


@compiled(**PART)
def _update(rule, memory, s, a, target, table):
    seen = 0
    for b in range(memory.visits.shape[1]):
        seen += memory.visits[s, b]
    rate = scheduled(rule.rate, rule.rate_table, memory.counts[0], seen, memory.visits[s, a])
    off = target - memory.Q[table, s, a]
    memory.visits[s, a] += 1
    memory.sums[0] += abs(off)
    if rule.trace_decay == 0.0:
        memory.Q[table, s, a] += rate * off
        return
    A = memory.visits.shape[1]
    if memory.trace[s, a] == 0.0:
        memory.active[memory.counts[2]] = s * A + a
        memory.counts[2] += 1
    memory.trace[s, a] = 1.0 if rule.replacing else memory.trace[s, a] + 1.0
    kept = 0
    for i in range(memory.counts[2]):
        pair = memory.active[i]
        t, b = pair // A, pair % A
        memory.Q[table, t, b] += rate * off * memory.trace[t, b]
        memory.trace[t, b] *= rule.discount * rule.trace_decay
        if memory.trace[t, b] > 1e-12:
            memory.active[kept] = pair
            kept += 1
        else:
            memory.trace[t, b] = 0.0
    memory.counts[2] = kept


@compiled(**PART)
def _cut_traces(memory):
    A = memory.visits.shape[1]
    for i in range(memory.counts[2]):
        memory.trace[memory.active[i] // A, memory.active[i] % A] = 0.0
    memory.counts[2] = 0


@compiled(**PART)
def _learn_oldest(rule, memory, worth, table):
    """Update the oldest pair of the buffer, whose return ends with what the last state is worth, and forget it."""
    n = memory.counts[1]
    target = worth
    for i in range(n - 1, -1, -1):
        target = memory.past_rewards[i] + rule.discount * target
    _update(rule, memory, memory.past_states[0], memory.past_actions[0], target, table)
    for i in range(n - 1):
        memory.past_states[i] = memory.past_states[i + 1]
        memory.past_actions[i] = memory.past_actions[i + 1]
        memory.past_rewards[i] = memory.past_rewards[i + 1]
    memory.counts[1] = n - 1


@compiled(**PART)
def take_in(rule, memory, s, a, reward, to, following, terminated, ended, coin):
    """Learn from one move; following is the action taken next, where the method looks at it."""
    n = memory.counts[1]
    memory.past_states[n] = s
    memory.past_actions[n] = a
    memory.past_rewards[n] = reward
    memory.counts[1] = n + 1
    table = 1 if rule.double and coin < 0.5 else 0
    if memory.counts[1] == len(memory.past_states) or ended:
        worth = 0.0 if terminated else _follow_up(rule, memory, to, following, table)
        _learn_oldest(rule, memory, worth, table)
        while ended and memory.counts[1] > 0:
            _learn_oldest(rule, memory, worth, table)
    memory.counts[0] += 1
    if ended:
        _cut_traces(memory)


@compiled(**PART)
def advanced(rule, memory, s, a, reward, to, terminated, ended, key, t):
    """Learn from move number t of an episode and return the next action; -1 when there is none."""
    following = -1
    if rule.method == 1 and not terminated:
        following = chosen(rule, memory, to, draw(key, 2 * t + 2))
    take_in(
        rule,
        memory,
        s,
        a,
        reward,
        to,
        following,
        terminated,
        ended,
        draw(key, 2 * t + 1) if rule.double else 1.0,
    )
    if ended:
        return -1
    if rule.method != 1:
        following = chosen(rule, memory, to, draw(key, 2 * t + 2))
        if rule.method == 0 and rule.trace_decay > 0.0:
            top = -np.inf
            for b in range(memory.visits.shape[1]):
                if rule.available[to, b]:
                    top = max(top, memory.Q[0, to, b])
            if memory.Q[0, to, following] < top:  # an exploring action: what follows is not the greedy return
                _cut_traces(memory)
    return following


@compiled
def choose(rule, memory, s, u):
    """`chosen`, for Python."""
    return chosen(rule, memory, s, u)


@compiled
def episode(rule, memory, key, told, paid):
    """Yield the actions of one episode to a caller that plays it elsewhere.

    Before an action is asked for, told (3,) holds the state, whether the episode terminated and whether it ended,
    paid (1,) the reward of the action before; the first action needs the state alone. Resuming costs far less than
    a call, which would look at every array of rule and memory anew.
    """
    s = told[0]
    a = chosen(rule, memory, s, draw(key, 0))
    t = 0
    while a >= 0:
        yield a
        to = told[0]
        a = advanced(rule, memory, s, a, paid[0], to, told[1] == 1, told[2] == 1, key, t)
        s = to
        t += 1


@compiled
def learn_episode(
    rule, memory, offsets, leads_to, pays, keep, other, noise, cumulative, seed_of_reset, key, max_steps
):
    """Play one episode in a process and learn from it; returns its return, its length and whether it was cut off."""
    A = memory.visits.shape[1]
    world = key_of(seed_of_reset, 0)
    s = first_state(cumulative, draw(world, 0))
    a = chosen(rule, memory, s, draw(key, 0))
    total = 0.0
    for t in range(max_steps):
        to, reward = move(offsets, leads_to, pays, keep, other, noise, s * A + a, world, t + 1)
        total += reward
        ended = to < 0 or t == max_steps - 1
        a = advanced(rule, memory, s, a, reward, max(to, 0), to < 0, ended, key, t)
        if ended:
            return total, t + 1, to >= 0
        s = to
    return total, max_steps, True


@compiled
def learn_log(rule, memory, states, actions, rewards, next_states, next_actions, terminated, ended, key):
    """Learn from logged moves in their order."""
    for i in range(states.shape[0]):
        coin = draw(key, i) if rule.double else 1.0
        take_in(
            rule,
            memory,
            states[i],
            actions[i],
            rewards[i],
            next_states[i],
            next_actions[i],
            terminated[i],
            ended[i],
            coin,
        )


@compiled
def act_on(
    rule,
    memory,
    offsets,
    leads_to,
    pays,
    keep,
    other,
    noise,
    world,
    key,
    s,
    t,
    max_steps,
    limits,
    moves,
    rewards,
):
    """Act from state s at time t by the tables as they are, writing moves (state, action, next or -1) until the
    episode ends, max_steps
    are made, the table is full, or some pair has been seen limits[s, a] times.

    Returns the time, the state and whether the episode has ended.
    """
    A = memory.visits.shape[1]
    written = 0
    while t < max_steps and written < moves.shape[0]:
        a = chosen(rule, memory, s, draw(key, t))
        to, reward = move(offsets, leads_to, pays, keep, other, noise, s * A + a, world, t + 1)
        moves[written, 0] = s
        moves[written, 1] = a
        moves[written, 2] = to
        rewards[written] = reward
        written += 1
        t += 1
        memory.visits[s, a] += 1
        memory.counts[0] += 1
        if to < 0:
            return written, t, s, True
        full = memory.visits[s, a] >= limits[s, a]
        s = to
        if full:
            break
    return written, t, s, False
