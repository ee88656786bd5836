"""Sequences and rankings: dice, seasons, spoken words, tagged sentences, tracks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator

CHAIN_SCORES = {
    "Villanova": 0.0090112, "Kansas": 0.0079282, "North Carolina": 0.0074781, "Virginia": 0.0067752,
    "Oklahoma": 0.0065791, "Oregon": 0.0063760, "Michigan State": 0.0058095, "Xavier": 0.0056623,
    "Miami": 0.0055031, "West Virginia": 0.0049979, "Utah": 0.0047690, "Kentucky": 0.0047131,
    "Indiana": 0.0046578, "Seton Hall": 0.0046482, "Texas A&M": 0.0046097, "Duke": 0.0045635,
    "Maryland": 0.0042596, "Purdue": 0.0042441, "Iowa State": 0.0041866, "St Joseph's": 0.0041599,
    "Notre Dame": 0.0040336, "Arizona": 0.0040017, "George Washington": 0.0039594, "Louisville": 0.0039369,
    "Providence": 0.0039273,
}  # fmt: skip
POLL_RANKS = {
    "Villanova": 1, "North Carolina": 2, "Kansas": 3, "Oklahoma": 4, "Virginia": 5, "Oregon": 6,
    "Michigan State": 7, "Miami": 8, "Indiana": 9, "Syracuse": 10, "Xavier": 11, "Texas A&M": 12,
    "Maryland": 12, "West Virginia": 14, "Iowa State": 15, "Kentucky": 16, "Notre Dame": 17, "Duke": 18,
    "Purdue": 19, "Utah": 20, "Gonzaga": 21, "Arizona": 22, "Wisconsin": 23, "Baylor": 24, "Iowa": 25,
}  # fmt: skip
PHONEMES = {
    word: sounds.split()
    for word, sounds in {
        "zero": "Z IH R OW", "one": "W AH N", "two": "T UW", "three": "TH R IY", "four": "F OW R",
        "five": "F AY V", "six": "S IH K S", "seven": "S EH V AX N", "eight": "EY T", "nine": "N AY N", "oh": "OW",
    }.items()
}  # fmt: skip
_TAGGED = """
Faith/N is/V a/D fine/A invention/N ; The/D old/A man/N sees/V a/D dog/N ; A/D small/A bird/N sings/V ;
The/D dog/N is/V a/D good/A friend/N ; Hope/N is/V a/D fine/A thing/N ; She/N reads/V the/D long/A book/N ;
The/D nation/N makes/V an/D old/A invention/N ; A/D good/A idea/N is/V a/D small/A thing/N ;
He/N is/V an/D old/A friend/N ; The/D bird/N sees/V the/D small/A dog/N ; Truth/N is/V a/D good/A book/N ;
The/D long/A station/N is/V old/A ; A/D fine/A day/N makes/V a/D good/A story/N ; Dogs/N see/V birds/N
"""
_LINES = [[token.rsplit("/", 1) for token in line.split()] for line in _TAGGED.split(";")]
TREEBANK = {
    "sentences": [[word for word, _ in line] for line in _LINES],
    "tags": [[tag for _, tag in line] for line in _LINES],
}


def make_casino(T: int = 300, random_state: Any = None) -> tuple[Array, Array]:
    """Roll the dice of a casino that now and then changes to a loaded one.

    The fair die stays with probability 0.95, the loaded one with 0.9 and shows a six half of the time.

    Returns
    -------
    rolls : (T, 1) array of int
        Faces 0 to 5.
    dice : (T,) array of int
        0 fair, 1 loaded.

    Examples
    --------
    >>> rolls, dice = make_casino(1000, random_state=0)
    >>> bool((rolls[dice == 1] == 5).mean() > 2 * (rolls[dice == 0] == 5).mean())
    True
    """
    rng = generator(random_state)
    dice = np.empty(T, dtype=int)
    state = int(rng.random() < 0.5)
    for t in range(T):
        dice[t] = state
        state = int(rng.random() < (0.05, 0.9)[state])
    faces = np.where(
        dice == 0, rng.integers(0, 6, T), np.where(rng.random(T) < 0.5, 5, rng.integers(0, 5, T))
    )
    return faces.reshape(-1, 1), dice


def load_basketball_rankings() -> Bunch:
    """Return two top-25 lists of one season of college basketball: by a Markov chain, and by a poll of
    coaches.

    Returns
    -------
    Bunch
        ``chain_scores`` and ``poll_ranks`` (dictionaries by team), ``n_teams`` and ``n_games`` of the season.

    Examples
    --------
    >>> round(sum(load_basketball_rankings().chain_scores.values()), 6)
    0.130791
    """
    description = (
        "Stationary scores of 1549 teams after 22033 games (the 25 largest), and a poll of the same season."
    )
    return Bunch(
        chain_scores=dict(CHAIN_SCORES),
        poll_ranks=dict(POLL_RANKS),
        n_teams=1549,
        n_games=22033,
        DESCR=description,
    )


def make_season(n_teams: int = 20, n_games: int = 200, random_state: Any = None) -> tuple[Array, Array]:
    """Simulate games whose points are Poisson with rates that follow the teams' skills.

    Returns
    -------
    games : (n_games, 4) array of int
        Team, other team, and the points of both.
    skills : (n_teams,) array
        The truth.

    Examples
    --------
    >>> games, skills = make_season(4, 3, random_state=0)
    >>> games.shape
    (3, 4)
    """
    if n_teams < 2:
        raise DataError(f"n_teams must be at least 2; got {n_teams}.")
    rng = generator(random_state)
    skills = rng.normal(size=n_teams)
    a = rng.integers(0, n_teams, n_games)
    b = (a + rng.integers(1, n_teams, n_games)) % n_teams
    gap = 0.15 * (skills[a] - skills[b])
    points = rng.poisson(60.0 * np.exp([gap, -gap]))
    return np.column_stack([a, b, *points]), skills


def make_toy_words(
    words: Any = ("zero", "one", "two"), n: int = 10, rate: float = 8000.0, random_state: Any = None
) -> tuple[list[Array], Array]:
    """Synthesize spoken digits: each phoneme is a chord of its own with noise and a random duration.

    Parameters
    ----------
    words : sequence of str
        Digits, as in ``load_lesson("phonemes")``.
    n : int
        Repetitions of each.
    rate : float
        Samples per second.
    random_state : int, Generator or None

    Returns
    -------
    signals : list of vectors
    labels : array of str
        The word of every signal; repetitions are mixed.
    """
    dictionary, rng = PHONEMES, generator(random_state)
    unknown = [word for word in words if word not in dictionary]
    if unknown:
        raise DataError(f"{unknown[0]!r} is not one of {sorted(dictionary)}.")
    sounds = sorted({sound for parts in dictionary.values() for sound in parts})
    chords = {s: np.random.default_rng(k).uniform(200.0, rate / 2.2, 3) for k, s in enumerate(sounds)}
    labels = rng.permutation(np.repeat(np.asarray(words), n))
    return [_utter(dictionary[str(word)], chords, rate, rng) for word in labels], labels


def _utter(sounds: list[str], chords: dict[str, Array], rate: float, rng: np.random.Generator) -> Array:
    parts = []
    for sound in sounds:
        t = np.arange(int(rate * rng.uniform(0.06, 0.14))) / rate
        tone = np.sin(2 * np.pi * np.outer(chords[sound] * rng.uniform(0.98, 1.02), t)).sum(axis=0)
        parts.append(tone * np.hanning(len(t)))
    whole = np.concatenate(parts)
    return whole + 0.1 * rng.standard_normal(len(whole))


def make_trajectory(
    T: int = 100, *, dt: float = 0.5, noise: float = 1.0, n_axes: int = 2, random_state: Any = None
) -> tuple[Array, Array]:
    """Simulate a target that turns and speeds up gently, seen with noise.

    Returns
    -------
    observations : (T, n_axes) array
    positions : (T, n_axes) array
        The truth.

    Examples
    --------
    >>> seen, true = make_trajectory(50, random_state=0)
    >>> seen.shape, bool(np.abs(seen - true).std() > 0.5)
    ((50, 2), True)
    """
    rng = generator(random_state)
    acceleration = np.zeros((T, n_axes))
    for t in range(1, T):
        acceleration[t] = np.exp(-0.3 * dt) * acceleration[t - 1] + 0.3 * rng.standard_normal(n_axes)
    velocity = 1.0 + np.cumsum(acceleration * dt, axis=0)
    positions = np.cumsum(velocity * dt, axis=0)
    return positions + noise * rng.standard_normal(positions.shape), positions
