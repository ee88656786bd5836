"""Compile the loops of graphical models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.graphical.constraint import PC
from gnomon.graphical.elimination import exact_order
from gnomon.graphical.factor import Factor
from gnomon.graphical.fields import MarkovRandomField
from gnomon.graphical.grids import GridField
from gnomon.graphical.network import BayesianNetwork
from gnomon.graphical.propagation import BeliefPropagation
from gnomon.graphical.sampling import gibbs
from gnomon.graphical.search import HillClimbSearch
from gnomon.graphical.structure import ExactSearch


def warm_up(dtypes: Sequence[str]) -> None:
    """Call every loop on a few numbers."""
    tables = {"a": [0.4, 0.6], "b": [[0.7, 0.3], [0.2, 0.8]], "c": [[0.5, 0.5], [0.1, 0.9]]}
    model = BayesianNetwork([("a", "b"), ("b", "c")], tables=tables)
    model.marginals({"c": 1})
    model.mpe({"c": 1})
    net = model._network()
    gibbs(net, 4, np.random.default_rng(0), net.evidence({"c": 1}), burn_in=1, thin=1, chains=2, force=False)
    X = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [1.0, np.nan, 1.0]])
    fitted = BayesianNetwork([("x0", "x1"), ("x1", "x2")], max_iter=2, tol=1e9).fit(X)
    fitted.predict(X)
    fitted.predict_marginal(X, "x1")
    for learner in (HillClimbSearch(), ExactSearch(), PC()):
        learner.fit(X[:3])
    exact_order([{1, 2}, {0, 2}, {0, 1}])
    ring = [Factor(pair, [[2.0, 1.0], [1.0, 2.0]]) for pair in (["a", "b"], ["b", "c"], ["c", "a"])]
    for schedule in ("flooding", "residual"):
        BeliefPropagation(schedule=schedule).fit(ring)
    BeliefPropagation(semiring="max").fit(ring[:2])
    MarkovRandomField(ring).log_partition("ais", n_chains=2, n_steps=2, random_state=0)
    field = GridField((2, 2), 2, 0.5, np.arange(8.0).reshape(2, 2, 2))
    for method in ("icm", "gibbs", "mean_field", "graph_cut"):
        field.segment(method=method, random_state=0, max_iter=2)
