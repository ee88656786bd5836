"""Small networks of the textbooks, each with its story."""

from __future__ import annotations

from typing import Any

from gnomon.core.errors import DataError, nearest

YES_NO = ["yes", "no"]

_NETWORKS: dict[str, dict[str, Any]] = {
    "asia": {
        "edges": [
            ("asia", "tub"),
            ("smoke", "lung"),
            ("smoke", "bronc"),
            ("lung", "either"),
            ("tub", "either"),
            ("either", "xray"),
            ("bronc", "dysp"),
            ("either", "dysp"),
        ],
        "nodes": ["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"],
        "tables": {
            "asia": [0.01, 0.99],
            "tub": [[0.05, 0.95], [0.01, 0.99]],
            "smoke": [0.5, 0.5],
            "lung": [[0.1, 0.9], [0.01, 0.99]],
            "bronc": [[0.6, 0.4], [0.3, 0.7]],
            "either": [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]],
            "xray": [[0.98, 0.02], [0.05, 0.95]],
            "dysp": [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],
        },
    },
    "alarm_story": {
        "edges": [("earthquake", "alarm"), ("burglary", "alarm"), ("earthquake", "radio")],
        "nodes": ["earthquake", "burglary", "alarm", "radio"],
        "tables": {
            "earthquake": [0.01, 0.99],
            "burglary": [0.01, 0.99],
            "alarm": [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]],
            "radio": [[1.0, 0.0], [0.0, 1.0]],
        },
    },
    "sprinkler": {
        "edges": [("rain", "wet"), ("sprinkler", "wet")],
        "nodes": ["rain", "sprinkler", "wet"],
        "tables": {
            "rain": [0.25, 0.75],
            "sprinkler": [0.5, 0.5],
            "wet": [[[0.99, 0.01], [0.9, 0.1]], [[0.9, 0.1], [0.0, 1.0]]],
        },
    },
    "coins": {
        "edges": [("x1", "x3"), ("x2", "x3")],
        "nodes": ["x1", "x2", "x3"],
        "states": {"x1": ["heads", "tails"], "x2": ["heads", "tails"], "x3": ["equal", "different"]},
        "tables": {
            "x1": [0.5, 0.5],
            "x2": [0.5, 0.5],
            "x3": [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]],
        },
    },
}


def load_network(name: str) -> Any:
    """Return a small network of the textbooks as a `BayesianNetwork`.

    Parameters
    ----------
    name : {"asia", "alarm_story", "sprinkler", "coins"}
        The chest clinic of Lauritzen and Spiegelhalter (1988); the alarm that a burglar or an earthquake sets off,
        and the radio that reports earthquakes; wet grass, by rain or sprinkler; two coins and whether they agree.

    Examples
    --------
    >>> float(load_network("sprinkler").query("rain", {"wet": "yes"})["yes"].round(6))
    0.411765
    """
    from gnomon.graphical.network import BayesianNetwork

    if name not in _NETWORKS:
        known = list(_NETWORKS)
        raise DataError(f"name must be one of {known}; got {name!r}.{nearest(name, known)}")
    story = _NETWORKS[name]
    states = story.get("states", dict.fromkeys(story["nodes"], YES_NO))
    return BayesianNetwork(story["edges"], nodes=story["nodes"], states=states, tables=story["tables"])
