"""Growing a boosted tree by a team of threads.

The leaf that gains most is split first, until the tree is complete. One thread leads: it does just that. The
others follow: they help it with the rows of a large leaf, and split leaves whose turn is likely to come. What
was split in vain stays a leaf, and sums of whole numbers do not know their order: the tree does not depend on who
did what.

Histograms are kept in a pool. Where places are short, leaves that gain little lose theirs, and it is filled anew
when their turn comes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.histograms import GAIN, Scratch, add, histograms
from gnomon.loops.leaves import END, FIRST, SLOT, START, TURN, any_open, part_leaf, search
from gnomon.loops.locks import lock, pause, read, unlock
from gnomon.loops.trees import BARE, ENTRY

LOCK, NODES, WAITING, AHEAD, DONE = range(5)  # the board: counts that all threads read and write
N_BOARD = 16
# a search of new leaves: a lock for its histogram, whose parts come together, and the rest is for the board's lock
FILLING, FILLED, ACTIVE, NEXT, PIECES, UNDONE, PARENT, NODE, SMALL, LARGE, LOW, HIGH = range(12)
N_JOB = 16
NONE, TAKEN = -1, -2  # instead of a node
PIECE = 4_000  # rows of a leaf that are worth the help of another
PATIENCE = 200  # looks at an empty board
SPLIT, HELP, WAIT = range(3)


class Team(NamedTuple):
    """What the threads that grow a tree share."""

    board: np.ndarray  # (N_BOARD,) int64, a lock
    jobs: np.ndarray  # (2 threads, N_JOB) int64: searches under way
    own: np.ndarray  # (threads, 16) int64: cells that one thread alone touches
    heap: np.ndarray  # int64: nodes that followers may split, the first gains most
    ints: np.ndarray  # the tables of nodes, see `loops.leaves`
    records: np.ndarray
    gains: np.ndarray  # (nodes,) of their best splits
    sides: np.ndarray
    owners: np.ndarray  # per histogram its node, NONE or TAKEN
    pool: np.ndarray  # (places, 2, cells) int64
    parts: np.ndarray  # (threads, 2, cells) int64: histograms of the rows that one thread did
    found: np.ndarray  # (threads, d, N_SPLIT) splits by feature
    rows: np.ndarray
    spare: np.ndarray
    local: np.ndarray  # the room of the threads, see `loops.histograms.Scratch`
    words: np.ndarray
    numbers: np.ndarray
    features: np.ndarray


@compiled(**BARE)
def scratch_of(team, me):
    """The room of a thread for its work."""
    return Scratch(team.local[me], team.words[me], team.numbers[me], team.features[me])


# whose turn it is


@compiled(**BARE)
def before(a, b, gains):
    """Whether a gains more than b; of equal ones the older is first."""
    return gains[a] > gains[b] or (gains[a] == gains[b] and a < b)


@compiled(**BARE)
def push(heap, size, node, gains):
    """Add a node to a heap of some size."""
    at = size
    while at > 0 and before(node, heap[(at - 1) // 2], gains):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = node


@compiled(**BARE)
def pop(heap, size, gains):
    """Take the first node out of a heap of some size."""
    first, node, at = heap[0], heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        down = 2 * at + 1
        if down + 1 < size - 1 and before(heap[down + 1], heap[down], gains):
            down += 1
        if before(node, heap[down], gains):
            break
        heap[at] = heap[down]
        at = down
    heap[at] = node
    return first


@compiled(**BARE)
def up_to_rounding(gain):
    """A gain to some nine digits: what is equal but for rounding is a tie."""
    mantissa, power = math.frexp(gain)
    return math.ldexp(np.rint(mantissa * 2.0**30), power - 30)


@compiled(**BARE)
def take_likely(team, most, likely):
    """Take the leaf that gains most, if its turn is likely to come; NONE: there is none."""
    board, heap, gains = team.board, team.heap, team.gains
    while board[WAITING] > 0 and board[AHEAD] < most and gains[heap[0]] > likely:
        node = pop(heap, board[WAITING], gains)
        board[WAITING] -= 1
        if team.ints[node, FIRST] == NONE:
            board[AHEAD] += 1
            team.ints[node, FIRST] = TAKEN
            return node
    return np.int64(NONE)


# histograms


@compiled(**BARE)
def take_place(team):
    """A place in the pool: a free one, or that of the waiting leaf that gains least."""
    owners, least = team.owners, -1
    for k in range(owners.size):
        if owners[k] == NONE:
            owners[k] = TAKEN
            return k
        if owners[k] >= 0 and (least < 0 or team.gains[owners[k]] < team.gains[owners[least]]):
            least = k
    team.ints[owners[least], SLOT] = NONE
    owners[least] = TAKEN
    return least


@compiled(**BARE)
def enqueue(team, node, slot):
    """Let a node that gains wait for its turn and keep its histogram."""
    gain = team.gains[node] = team.records[node, GAIN]
    team.owners[slot] = node if gain > 0.0 else NONE
    if gain > 0.0:
        team.ints[node, SLOT] = slot
        push(team.heap, team.board[WAITING], node, team.gains)
        team.board[WAITING] += 1


# searches of new leaves: the root, or the children of a parent


@compiled(**BARE)
def close_search(binned, terms, team, me, j):
    """Find the splits of the leaves of search j, and let them wait."""
    job, board, ints = team.jobs[j], team.board, team.ints
    node, parent = job[NODE], job[PARENT]
    end, which = node + 1 + (parent >= 0), np.int64(ints[node, START] != job[LOW])
    search(binned, terms, team.pool[job[SMALL]], team.pool[job[LARGE]], which, ints[node:end],
           team.records[node:end], scratch_of(team, me), team.found[me])  # fmt: skip
    lock(board)
    for k in range(node, end):
        enqueue(team, k, job[SMALL] if ints[k, START] == job[LOW] else job[LARGE])
    if parent >= 0:
        ints[parent, FIRST] = node
    job[ACTIVE] = 0
    unlock(board)


@compiled(**BARE)
def fill_piece(binned, packed, terms, team, me, job, piece):
    """Add a part of the rows of a search to its histogram."""
    pieces, low, size, small = job[PIECES], job[LOW], job[HIGH] - job[LOW], team.pool[job[SMALL]]
    rows = team.rows[low + size * piece // pieces : low + size * (piece + 1) // pieces]
    if pieces == 1:
        histograms(binned, packed, rows, terms, team.local[me], small)
        return
    part, n_features = team.parts[me], binned.n_bins.size
    histograms(binned, packed, rows, terms, team.local[me], part)
    lock(job)
    if job[FILLED] == 0:
        small[:] = 0
    job[FILLED] = 1
    add(small, part, 1, n_features)
    unlock(job)


@compiled(**BARE)
def search_piece(binned, packed, terms, team, me, j, piece):
    """Do a part of the rows of search j. Who does the last part closes it."""
    job = team.jobs[j]
    if any_open(team.records[job[NODE] : job[NODE] + 1 + (job[PARENT] >= 0)]):
        fill_piece(binned, packed, terms, team, me, job, piece)
    lock(team.board)
    job[UNDONE] -= 1
    last = job[UNDONE] == 0
    unlock(team.board)
    if last:
        close_search(binned, terms, team, me, j)


@compiled(**BARE)
def open_search(team, parent, node, small, large, low, high):
    """Begin the search of new leaves from `node` on; low..high are the rows of the smaller one, whose histogram
    is not known yet. Returns its number; who begins it does its first part, and others may do the rest.
    """
    jobs, j = team.jobs, np.int64(0)
    lock(team.board)
    while (
        jobs[j, ACTIVE] > 0
    ):  # a thread is in each but one, which the leader may have left for a leaf that was due
        j += 1
    job = jobs[j]
    job[PIECES] = job[UNDONE] = max(1, min(team.own.shape[0], (high - low) // PIECE))
    job[FILLED], job[ACTIVE], job[NEXT], job[PARENT], job[NODE] = 0, 1, 1, parent, node
    job[SMALL], job[LARGE], job[LOW], job[HIGH] = small, large, low, high
    unlock(team.board)
    return j


@compiled(**BARE)
def split(binned, packed, terms, team, me, node):
    """Part the rows of a leaf and begin the search of its children; returns its number. The leaf's histogram
    becomes the larger child's.
    """
    board, line = team.board, team.ints[node]
    low, high = line[START], line[END]
    lock(board)
    unknown = line[SLOT] < 0
    large = take_place(team) if unknown else line[SLOT]
    line[SLOT], team.owners[large] = NONE, TAKEN
    small, first = take_place(team), board[NODES]
    board[NODES] += 2
    unlock(board)
    rows, children, scratch = team.rows[low:high], team.ints[first : first + 2], scratch_of(team, me)
    if unknown:
        histograms(binned, packed, rows, terms, scratch.local, team.pool[large])
    n = part_leaf(binned, terms, team.records[node], line, rows, team.spare[low:high], team.pool[large],
                  scratch, team.sides[node], children, team.records[first : first + 2])  # fmt: skip
    which = np.int64(2 * n > rows.size)
    return open_search(team, node, first, small, large, children[which, START], children[which, END])


# the team


@compiled(**BARE)
def next_task(team, due, most, likely):
    """What a thread does next: the task, the node or the search, and which part of that. `due` is the leaf that
    the leader waits for, NONE for a follower.
    """
    jobs, none = team.jobs, np.int64(0)
    if due >= 0 and team.ints[due, FIRST] == NONE:
        team.ints[due, FIRST] = TAKEN
        return SPLIT, due, none
    for j in range(jobs.shape[0]):
        piece = jobs[j, NEXT]
        if jobs[j, ACTIVE] > 0 and piece < jobs[j, PIECES]:
            jobs[j, NEXT] += 1
            return HELP, np.int64(j), piece
    node = take_likely(team, most, likely)
    return (SPLIT if node >= 0 else WAIT), node, none


@compiled(**BARE)
def do_task(binned, packed, terms, team, me, due, most, likely):
    """Do what is next; returns whether there was something."""
    lock(team.board)
    task, which, piece = next_task(team, due, most, likely)
    unlock(team.board)
    if task == WAIT:
        pause(team.own[me])
        return False
    if task == SPLIT:
        which = split(binned, packed, terms, team, me, which)
    search_piece(binned, packed, terms, team, me, which, piece)
    return True


@compiled(**BARE)
def follow(binned, packed, terms, team, me, most, likely):
    """Work until the tree is complete, or there was nothing to do for long; returns whether it is complete."""
    looks, done = 0, False
    while looks < PATIENCE and not done:
        looks = 0 if do_task(binned, packed, terms, team, me, np.int64(NONE), most, likely) else looks + 1
        done = read(team.board, team.board, DONE) > 0
    return done


@compiled(**BARE)
def lead(binned, packed, terms, team, most, likely, order, heap, gains):
    """Grow a tree of at most `most` splits; order = its nodes as they came. Returns their number."""
    n, turn, root, none = np.int64(1), np.int64(0), np.int64(0), np.int64(NONE)
    begun = open_search(team, none, root, root, root, root, team.rows.size)
    search_piece(binned, packed, terms, team, root, begun, root)
    while read(team.board, team.jobs[0], ACTIVE) > 0:
        do_task(binned, packed, terms, team, root, none, most, likely)
    order[0], heap[0], gains[0] = root, root, team.records[0, GAIN]
    while n - turn > 0 and turn < most and gains[heap[0]] > 0.0:
        node = order[pop(heap, n - turn, gains)]
        turn += 1
        while read(team.board, team.ints[node], FIRST) < 0:
            do_task(binned, packed, terms, team, root, node, most, likely)
        team.ints[node, TURN] = turn
        for s in range(2):
            order[n] = team.ints[node, FIRST] + s
            gains[n] = up_to_rounding(team.records[order[n], GAIN])
            push(heap, n - turn, n, gains)
            n += 1
    lock(team.board)
    team.board[DONE] = 1
    unlock(team.board)
    return n


@compiled(**ENTRY)
def work(binned, packed, terms, team, me, most, likely, order, heap, gains):
    """Lead (thread 0), or follow; returns how many nodes there are, or whether the tree is complete.

    heap and gains are the leader's: the largest gain of a leaf that was left is gains[heap[0]].
    """
    if me > 0:
        return np.int64(follow(binned, packed, terms, team, me, most, likely))
    return lead(binned, packed, terms, team, most, likely, order, heap, gains)
