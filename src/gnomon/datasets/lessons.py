"""Constants of the courses: tables, toy sets, chains, networks, and parameters for `make_mixture`."""

from __future__ import annotations

from typing import Any

_LOADED = [0.1, 0.1, 0.1, 0.1, 0.1, 0.5]
_STATES, _ACTIONS = range(6), range(3)


def _six_states() -> dict[str, Any]:
    weight = [
        [[((s + 1) * (a + 2) + 7 * t) % 5 + 3 * (t == (s + a) % 6) for t in _STATES] for a in _ACTIONS]
        for s in _STATES
    ]
    transitions = [[[w / sum(row) for w in row] for row in rows] for rows in weight]
    rewards = [[(3 * s + 5 * a) % 7 - 2 for a in _ACTIONS] for s in _STATES]
    return {"transitions": transitions, "rewards": rewards, "discount": 0.95}


LESSONS: dict[str, dict[str, Any]] = {
    "dice or roulette": {"classes": ["two dice", "roulette"], "likelihood_of_12": [1 / 36, 1 / 38]},
    "coin hypotheses": {"classes": ["fair", "biased"], "heads": [0.5, 0.6], "prior": [0.75, 0.25]},
    "coin flips": {"counts": [[2, 0], [55, 45]], "axes": ["sample", "side"], "levels": [[1, 2], ["heads", "tails"]]},
    "split": {"counts": [2, 5], "split_a": [[2, 0], [0, 5]], "split_b": [[1, 2], [1, 3]], "classes": ["one", "other"]},
    "class scores": {
        "classes": ["cat", "car", "frog"],
        "scores": [[3.2, 5.1, -1.7], [1.3, 4.9, 2.0], [2.2, 2.5, -3.1]],
        "target": [0, 1, 2],
    },
    "boosting a": {
        "data": [[1, 1], [2, 4], [5, 8], [7, 9], [8, 7], [4, 3], [3, 2], [6, 5], [9, 6], [10, 10]],
        "target": [1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
    },
    "boosting b": {
        "data": [[1, 1], [2, 3], [6, 8], [5, 10], [8, 7], [7, 4], [3, 5], [4, 6], [9, 9], [10, 2]],
        "target": [1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
    },
    "ratings": {
        "small": [[5, float("nan"), 7], [1, 2, float("nan")]],
        "data": [
            [5, float("nan"), 7],
            [float("nan"), 2, float("nan")],
            [float("nan"), 1, 4],
            [4, float("nan"), float("nan")],
            [float("nan"), 3, 6],
        ],
        "users": [6, 2, 3, 3, 5],
        "items": [4, 1, 5],
    },
    "rank one": {"data": [[5, 7], [10, 14], [30, 42]]},
    "casino": {
        "transmat": [[0.95, 0.05], [0.10, 0.90]],
        "emissionprob": [[1 / 6] * 6, _LOADED],
        "startprob": [0.5, 0.5],
    },
    "tagging": {
        "startprob": [1, 0, 0],
        "transmat": [[0.5, 0.5, 0.0], [0.0, 0.8, 0.2]],
        "emissionprob": [[0.9, 0.1], [0.1, 0.9]],
        "words": ["the", "dog"],
        "names": [("e", "g"), ("e", "h"), ("f", "h"), ("f", "g")],
    },
    "two states": {
        "startprob": [0.6, 0.4],
        "transmat": [[0.7, 0.3], [0.4, 0.6]],
        "emissionprob": [[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]],
        "observations": [0, 1, 2],
    },
    "baskets": {
        "names": [
            ["Bread", "Milk"],
            ["Bread", "Diapers", "Beer", "Eggs"],
            ["Milk", "Diapers", "Beer", "Cola"],
            ["Bread", "Milk", "Diapers", "Beer"],
            ["Bread", "Milk", "Diapers", "Cola"],
        ],
    },
    "survey": {
        "n_values": [2, 5, 7, 6, 9, 9, 5, 3, 9, 9, 3, 5, 8, 3],
        "kinds": list("CCOOCOOCOOCCCC"),  # categorical, ordinal
        "n_rows": 6876,
        "n_items": 50,
    },
    "games": {"data": [[0, 1, 20, 10], [1, 2, 30, 10], [0, 2, 40, 10]], "names": ["A", "B", "C"]},
    "graph": {"edges": [[0, 1, 3], [0, 2, 2], [1, 2, 4], [1, 3, 1], [3, 4, 5], [3, 5, 2], [4, 5, 3]], "n_nodes": 6},
    "discriminant": {
        "data": [[4, 2], [2, 4], [2, 3], [3, 6], [4, 4], [9, 10], [6, 8], [9, 5], [8, 7], [10, 8]],
        "target": [1, 1, 1, 1, 1, 2, 2, 2, 2, 2],
    },
    "linkage": {"data": [[0], [1], [3], [7]]},
    "components": {"data": [[2, 0], [0, 2], [3, 3], [-1, -1]]},
    "two-state process": {
        "transitions": [[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]],  # [state][action][next]
        "rewards": [[0, -1], [2, 0]],
        "discount": 0.9,
    },
    "six-state process": _six_states(),
    # Arguments of `make_mixture`.
    "heights": {"weights": [0.5, 0.5], "means": [[162.0], [176.0]], "covariances": [[36.0], [49.0]]},
    "lengths": {"weights": [1.0], "means": [[80.0, 170.0]], "covariances": [[[16.0, 24.0], [24.0, 64.0]]]},
    "clusters": {
        "weights": [0.4, 0.3, 0.2, 0.1],
        "means": [[0.0, 0.0], [5.0, 0.0], [2.0, 4.0], [6.0, 4.0]],
        "covariances": [1.0, 1.0, 1.0, 1.0],
    },
    "four clusters": {
        "weights": [0.25, 0.25, 0.25, 0.25],
        "means": [[0.0, 0.0], [0.0, 1.0], [10.0, 0.0], [10.0, 1.0]],
        "covariances": [0.01, 0.01, 0.01, 0.01],
        "bad_start": [[0.0, 0.5], [10.0, 0.5], [5.0, 0.0], [5.0, 1.0]],
    },
    "two classes": {"weights": [0.5, 0.5], "means": [[-1.0, 0.0], [1.0, 0.0]], "covariances": [1.0, 1.0]},
    "three classes": {
        "weights": [0.5, 0.3, 0.2],
        "means": [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]],
        "covariances": [[[1.0, 0.5], [0.5, 1.0]], [[1.0, -0.3], [-0.3, 0.5]], [[0.4, 0.0], [0.0, 2.0]]],
    },
}  # fmt: skip
