"""Scenes of learners from other things than rows, and of what is inside a model: trees, chains, worlds, nets."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.lab.material import Material
from gnomon.lab.panels import (
    Panel,
    band,
    bars,
    circle_layout,
    data_points,
    ellipse,
    graph,
    limits,
    line,
    matrix,
    number,
    numbers,
    plane,
    points,
    surface,
)
from gnomon.lab.scene_rows import _try

MAX_NODES = 127


def tree_panels(model: Any, material: Material) -> list[Panel]:
    """Return a tree as it has grown so far, or the newest tree of a few."""
    tree = getattr(model, "tree_", None)
    title = "the tree"
    members = getattr(model, "estimators_", None)
    if tree is None and isinstance(members, list | np.ndarray) and len(members):
        newest = np.ravel(np.asarray(members, dtype=object))[-1]
        tree, title = getattr(newest, "tree_", None), f"the newest of {len(members)} trees"
    if tree is None or not hasattr(tree, "children") or tree.node_count > MAX_NODES:
        return []
    places: dict[int, float] = {}
    _spread(tree, 0, 0.0, 1.0, places)
    depth, deepest = tree.depth, max(1, tree.max_depth)
    names = material.names
    nodes, edges = [], []
    for node, x in places.items():
        leaf = tree.feature[node] < 0
        value = tree.value[node, 0]
        told = f"{number(value[0])}" if len(value) == 1 else "/".join(f"{share:.2g}" for share in value)
        feature = int(tree.feature[node])
        name = (
            told
            if leaf
            else f"{names[feature] if feature < len(names) else f'x{feature}'} ≤ {tree.threshold[node]:.3g}"
        )
        nodes.append(
            {
                "id": node, "x": round(x, 4), "y": round(1 - (depth[node] + 0.5) / (deepest + 1), 4), "name": name,
                "code": int(np.argmax(value)) if len(value) > 1 else None, "leaf": bool(leaf),
                "tip": f"{int(tree.n_node_samples[node])} rows, impurity {number(tree.impurity[node])}, {told}",
            }
        )  # fmt: skip
        edges += [{"from": node, "to": child} for child in tree.children(node)]
    where = {node["id"]: place for place, node in enumerate(nodes)}
    edges = [{"from": where[e["from"]], "to": where[e["to"]]} for e in edges]
    return [graph(title, nodes, edges, tree=True)]


def _spread(tree: Any, node: int, low: float, high: float, places: dict[int, float]) -> None:
    places[node] = (low + high) / 2
    below = tree.children(node)
    total = sum(_leaves(tree, child) for child in below)
    for child in below:
        width = (high - low) * _leaves(tree, child) / total
        _spread(tree, child, low, low + width, places)
        low += width


def _leaves(tree: Any, node: int) -> int:
    below = tree.children(node)
    return sum(_leaves(tree, child) for child in below) if below else 1


def chain_panels(model: Any, material: Material) -> list[Panel]:
    """Return the states of a chain over time, how sure the model is of them, and the way it goes between them."""
    moves = getattr(model, "transmat_", None)
    moves = moves.toarray() if hasattr(moves, "toarray") else moves
    if moves is None or np.ndim(moves) != 2:
        return []
    panels = []
    X = material.X
    if isinstance(X, np.ndarray) and hasattr(model, "predict_proba"):
        shares = _try(lambda: np.asarray(model.predict_proba(X)))
        path = _try(lambda: np.asarray(model.predict(X)))
        if shares is not None and path is not None:
            series = X[:, 0].astype(float)
            low, high = limits(series)
            layers = [data_points(path % 36)]
            panels.append(
                plane(
                    "the most probable states",
                    "time",
                    material.names[0],
                    limits(np.arange(len(X)), 0.01),
                    [low, high],
                    layers,
                )
            )
            panels.append(
                matrix(
                    "probability of every state over time",
                    shares.T,
                    [f"state {k}" for k in range(shares.shape[1])],
                    low=0,
                    high=1,
                )
            )
    panels.append(_transitions(np.asarray(moves), getattr(model, "states_", None)))
    emission = next(
        (getattr(model, n) for n in ("emissionprob_", "means_", "lambdas_") if hasattr(model, n)), None
    )
    if emission is not None and np.ndim(emission) == 2:
        panels.append(
            matrix("what every state shows", emission, [f"state {k}" for k in range(len(emission))])
        )
    return panels


def _transitions(moves: Any, names: Any) -> Panel:
    nodes = circle_layout(names if names is not None and len(names) == len(moves) else range(len(moves)))
    for k, node in enumerate(nodes):
        node |= {"code": k, "tip": f"stays with probability {moves[k, k]:.3g}"}
    edges = [
        {"from": i, "to": j, "value": number(moves[i, j])}
        for i in range(len(moves))
        for j in range(len(moves))
        if i != j and moves[i, j] > 0.005
    ]
    return graph("the way between the states", nodes, edges, directed=True)


def track_panels(model: Any, material: Material) -> list[Panel]:
    """Return a track with the ellipses of what a filter believes."""
    X = material.X
    if not hasattr(model, "smooth") or not isinstance(X, np.ndarray) or X.shape[1] != 2:
        return []
    found = _try(lambda: model.smooth(X))
    if found is None:
        return []
    means, covariances = np.asarray(found.means), np.asarray(found.covariances)
    layers = [data_points(), line(means[:, :2], name="smoothed")]
    layers += [
        ellipse(means[t, :2], covariances[t][:2, :2], color=2)
        for t in range(0, len(means), max(1, len(means) // 15))
    ]
    return [
        plane(
            "the track, and two deviations around it",
            *material.names[:2],
            limits(X[:, 0]),
            limits(X[:, 1]),
            layers,
        )
    ]


def belief_panels(model: Any, material: Material) -> list[Panel]:
    """Return the beliefs of the variables of a graph, and how strong the messages between them are."""
    beliefs = getattr(model, "beliefs_", None)
    if not isinstance(beliefs, dict):
        return []
    names = list(beliefs)
    nodes = circle_layout(names)
    for node, name in zip(nodes, names):
        belief = np.asarray(beliefs[name])
        node |= {"value": number(belief[-1]), "tip": "belief " + ", ".join(f"{v:.3g}" for v in belief)}
    places = {name: k for k, name in enumerate(names)}
    edges = []
    factors = material.X if isinstance(material.X, list) else []
    for k, factor in enumerate(factors):
        scope = [name for name in getattr(factor, "variables", ()) if name in places]
        if len(scope) == 2:
            message = getattr(model, "messages_", {}).get((k, scope[1]))
            told = None if message is None else ", ".join(f"{v:.3g}" for v in np.ravel(message))
            edges.append(
                {"from": places[scope[0]], "to": places[scope[1]], "tip": f"message to {scope[1]}: {told}"}
            )
    table = (
        matrix("beliefs", [np.asarray(beliefs[name]) for name in names], names, low=0, high=1)
        if len({len(beliefs[n]) for n in names}) == 1
        else None
    )
    return [graph("beliefs on the graph", nodes, edges), *([table] if table else [])]


def structure_panels(model: Any, material: Material) -> list[Panel]:
    """Return the edges that a search has found so far."""
    edges = _structure(model)
    if edges is None:
        return []
    names, pairs, directed = edges
    return [
        graph("the graph", circle_layout(names), [{"from": i, "to": j} for i, j in pairs], directed=directed)
    ]


def _structure(model: Any) -> Any:
    adjacency = getattr(model, "adjacency_", None)
    if adjacency is not None and np.ndim(adjacency) == 2:
        table = np.asarray(adjacency.toarray() if hasattr(adjacency, "toarray") else adjacency)
        names = list(getattr(model, "variables_", range(len(table))))
        return (
            names,
            [(int(i), int(j)) for i, j in np.argwhere(table != 0)],
            not np.array_equal(table, table.T),
        )
    parents = getattr(model, "parents_", None)
    if isinstance(parents, dict):
        names = list(parents)
        places = {name: k for k, name in enumerate(names)}
        return names, [(places[p], places[c]) for c, ps in parents.items() for p in ps if p in places], True
    return None


def world_panels(model: Any, material: Material) -> list[Panel]:
    """Return the values and the policy of a grid world, and an episode that follows it."""
    world = material.X
    if not hasattr(world, "as_grid"):
        return []
    values = getattr(model, "V_", None)
    action_values = getattr(model, "Q_", None)
    if values is None and action_values is not None:
        values = np.max(np.asarray(action_values), axis=-1)
    policy = getattr(model, "policy_", None)
    values = None if values is None else np.asarray(values)
    if values is not None and values.ndim == 2:  # one row per step of a finite horizon
        values = values[0]
    if values is None:
        values = np.zeros(world.n_states)
    grid = np.asarray(world.as_grid(values[: world.n_states]), dtype=float)
    arrows = _try(lambda: world.arrows(policy).splitlines()) if policy is not None else None
    marks = None if arrows is None else [list(row) for row in arrows]
    panel = matrix(
        "values and policy", grid, marks=marks, path=_episode(policy, world), diverging=True, square=True
    )
    panels = [panel]
    if action_values is not None and np.shape(action_values) == (world.n_states, world.n_actions):
        panels.append(
            matrix(
                "value of every action",
                np.asarray(action_values).T,
                ["up", "right", "down", "left"][: world.n_actions],
                diverging=True,
            )
        )
    return panels


def _episode(policy: Any, world: Any) -> list[list[int]]:
    """Return the cells of an episode that follows the policy, drawn with a fixed seed."""
    played = None if policy is None else _try(lambda: world.simulate(policy, 1, 40, random_state=0))
    if played is None or not len(played):
        return []
    states = [int(played["state"][0]), *[int(s) for s in played["next_state"] if s >= 0]]
    return [[int(part) for part in world.cell(state)] for state in states]


def ratings_panels(model: Any, material: Material) -> list[Panel]:
    """Return the factors of users and items, and what they make of the table of ratings."""
    users, items = getattr(model, "user_factors_", None), getattr(model, "item_factors_", None)
    if users is None or items is None or np.ndim(users) != 2 or np.ndim(items) != 2:
        return []
    users, items = np.asarray(users, dtype=float)[:40], np.asarray(items, dtype=float)[:40]
    panels = [
        matrix("factors of the users", users.T, diverging=True),
        matrix("factors of the items", items.T, diverging=True),
    ]
    if users.shape[1] == items.shape[1]:
        panels.insert(0, matrix("users by items: the product of the factors", users @ items.T))
    return panels


def topic_panels(model: Any, material: Material) -> list[Panel]:
    """Return the words that gather in every topic."""
    if type(model).__module__.split(".")[1] != "topics" and type(model).__name__ != "AspectModel":
        return []
    shares = np.asarray(model.components_, dtype=float)
    shares = shares / shares.sum(axis=1, keepdims=True)
    words = [f"word {j}" for j in range(shares.shape[1])]
    best = [np.argsort(-row, kind="stable")[:8] for row in shares[:6]]
    return [
        matrix(
            "share of every word in every topic", shares, [f"topic {k}" for k in range(len(shares))], words
        ),
        *[bars(f"topic {k}", [words[j] for j in order], shares[k][order]) for k, order in enumerate(best)],
    ]


def net_panels(model: Any, material: Material) -> list[Panel]:
    """Return the weights of a network, layer by layer; filters as small pictures."""
    weights = getattr(model, "coefs_", None)
    if isinstance(weights, list):
        named = {f"weights of layer {k + 1}": np.asarray(w).T for k, w in enumerate(weights)}
    elif isinstance(getattr(model, "weights_", None), dict):
        named = {str(name): np.asarray(value) for name, value in model.weights_.items()}
    else:
        return []
    panels = []
    for name, value in list(named.items())[:6]:
        if value.ndim == 4:
            filters = value.reshape(-1, *value.shape[2:])[:12]
            panels.append(
                {"kind": "images", "title": f"filters: {name}", "images": [numbers(f, 4) for f in filters]}
            )
        elif value.ndim == 2 and max(value.shape) <= 80:
            panels.append(matrix(name, value, diverging=True))
    return panels


def experiment_panels(model: Any, material: Material) -> list[Panel]:
    """Return a bound beside its simulation, or a posterior that narrows."""
    if hasattr(model, "draws_"):
        n = model.draws_
        layers = [
            line(np.column_stack([n, model.bounds_]), color=1, dash=True, name="bound"),
            line(np.column_stack([n, model.frequencies_]), color=0, name="simulation"),
            points(
                np.column_stack([n, model.frequencies_]),
                tips=[
                    f"n = {k}: {f:.3g}, bound {b:.3g}"
                    for k, f, b in zip(n, model.frequencies_, model.bounds_)
                ],
            ),
        ]
        top = [0.0, float(model.max_draws) * 1.02]
        said = f"strays in {model.frequencies_[-1]:.1%} of the trials (blue), by the bound in at most"
        title = f"n = {int(n[-1])}: {said} {model.bounds_[-1]:.1%} (dashed)"
        return [plane(title, "throws n", "chance to stray", top, [0.0, 1.05], layers)]
    if hasattr(model, "heads_"):
        from scipy.stats import beta

        known = beta(model.a + model.heads_, model.b + model.tails_)
        at = np.linspace(0.001, 0.999, 200)
        low, high = known.interval(0.95)
        inside = np.linspace(max(low, 1e-9), min(high, 1 - 1e-9), 60)
        height = known.pdf(at)
        layers = [band(inside, np.zeros(60), known.pdf(inside)), line(np.column_stack([at, height]))]
        title = f"{model.heads_} heads, {model.tails_} tails: between {low:.3f} and {high:.3f} with 95%"
        return [
            plane(
                title,
                "chance of heads",
                "density",
                [0.0, 1.0],
                [0.0, max(3.0, float(height.max()) * 1.05)],
                layers,
            )
        ]
    return []


def vote_panels(model: Any, material: Material) -> list[Panel]:
    """Return how the members of a forest vote over the plane, where there are two classes."""
    X = material.X
    if type(model).__module__.split(".")[1] != "ensemble" or len(getattr(model, "classes_", ())) != 2:
        return []
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] != 2:
        return []
    xlim, ylim = limits(X[:, 0]), limits(X[:, 1])
    across, up = np.meshgrid(np.linspace(*xlim, 40), np.linspace(*ylim, 40))
    shares = _try(
        lambda: np.asarray(model.predict_proba(np.column_stack([across.ravel(), up.ravel()])))[:, 1]
    )
    if shares is None:
        return []
    title = f"share of the votes for {model.classes_[1]}"
    return [
        plane(title, *material.names[:2], xlim, ylim, [surface(shares, xlim, ylim, (40, 40)), data_points()])
    ]


def component_panels(model: Any, material: Material) -> list[Panel]:
    """Return the directions or parts that a decomposition has found; parts of pictures as pictures."""
    family = type(model).__module__.split(".")[1]
    parts = getattr(model, "components_", None)
    if family != "decomposition" or parts is None or np.ndim(parts) != 2 or np.shape(parts)[1] > 100:
        return []
    parts = np.asarray(parts, dtype=float)
    side = int(np.sqrt(parts.shape[1]))
    if side * side == parts.shape[1] and side >= 4:
        return [
            {
                "kind": "images",
                "title": "the parts",
                "images": [numbers(p.reshape(side, side), 4) for p in parts[:12]],
            }
        ]
    return [
        matrix(
            "components",
            parts,
            [f"component {k}" for k in range(len(parts))],
            material.names or None,
            diverging=True,
        )
    ]
