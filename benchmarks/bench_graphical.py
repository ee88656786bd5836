"""Bayesian networks against pgmpy and pyAgrum, on the public networks that come with pgmpy's package.

Networks are read beforehand, each library its own from the same text. Posteriors are compared by the sum of the
logarithms of all their entries, structures by their BIC under one and the same count.
"""

from __future__ import annotations

import gzip
import importlib.util
import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np

from case import Case

SEEN = 3  # observations


def folder():
    found = importlib.util.find_spec("pgmpy")
    if found is None:
        raise ModuleNotFoundError("pgmpy", name="pgmpy")
    return Path(found.origin).parent / "utils" / "example_models"


def load_peers():
    """Import the peers, so that no first run pays for it."""
    for name in ("pgmpy.estimators", "pgmpy.inference", "pgmpy.readwrite", "pgmpy.sampling", "pyagrum"):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue  # the runner reports what is missing


@cache
def text(name):
    load_peers()
    return gzip.decompress((folder() / f"{name}.bif.gz").read_bytes()).decode()


@cache
def path(name):
    file = Path(tempfile.mkdtemp()) / f"{name}.bif"
    file.write_text(text(name))
    return str(file)


@cache
def our_model(name):
    from gnomon.graphical import read_network

    return read_network(text(name))


@cache
def pgmpy_model(name):
    from pgmpy.readwrite import BIFReader

    return BIFReader(string=text(name)).get_model()


@cache
def agrum_model(name):
    import pyagrum

    return pyagrum.loadBN(path(name))


@cache
def rows(name, n):
    return our_model(name).sample(n, random_state=0).astype(str).astype("category")


def evidence(name):
    """Three leaves with states that can occur together."""
    model = our_model(name)
    pgmpy_model(name)  # read before anything is timed
    row = model.sample(1, random_state=1).iloc[0]
    leaves = [v for v in model.variables_ if not model.children_[v]]
    return {v: str(row[v]) for v in leaves[:SEEN]}


def log_entries(tables):
    return float(sum(np.log(np.maximum(np.asarray(table), 1e-12)).sum() for table in tables))


# all posteriors


def our_posteriors(data):
    name, seen = data
    found = our_model(name).marginals(seen)
    return [factor.table for v, factor in found.items() if v not in seen]


def our_new_posteriors(data):
    """The same with a tree that is built anew, as the compiled peer's engine is."""
    from gnomon.graphical import JunctionTree

    name, seen = data
    found = JunctionTree(our_model(name)).calibrate(seen).marginals()
    return [factor.table for v, factor in found.items() if v not in seen]


def eliminated_posteriors(data):
    from pgmpy.inference import VariableElimination

    name, seen = data
    engine = VariableElimination(pgmpy_model(name))
    wanted = [v for v in pgmpy_model(name).nodes() if v not in seen]
    return [engine.query([v], seen, show_progress=False).values for v in wanted]


def agrum_posteriors(data):
    import pyagrum

    name, seen = data
    model = agrum_model(name)
    engine = pyagrum.LazyPropagation(model)
    engine.setEvidence(seen)
    engine.makeInference()
    return [engine.posterior(v).toarray() for v in model.names() if v not in seen]


# one calibration


def our_tree(data):
    from gnomon.graphical import JunctionTree

    name, seen = data
    return JunctionTree(our_model(name)).calibrate(seen)


def pgmpy_tree(data):
    from pgmpy.inference import BeliefPropagation

    engine = BeliefPropagation(pgmpy_model(data[0]))
    engine.calibrate()
    return engine


def agrum_tree(data):
    import pyagrum

    name, seen = data
    engine = pyagrum.ShaferShenoyInference(agrum_model(name))
    engine.setEvidence(seen)
    engine.makeInference()
    return engine


# learning


def our_tables(data):
    from gnomon.graphical import BayesianNetwork

    name, X = data
    model = our_model(name)
    return BayesianNetwork(model.edges, nodes=model.variables_).fit(X)


def our_smooth_tables(data):
    from gnomon.graphical import BayesianNetwork

    name, X = data
    model = our_model(name)
    return BayesianNetwork(model.edges, nodes=model.variables_, prior="k2").fit(X)


def pgmpy_tables(data):
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteMLE

    name, X = data
    model = DiscreteBayesianNetwork(list(our_model(name).edges))
    return model.fit(X, estimator=DiscreteMLE())


def agrum_tables(data):
    import pyagrum

    name, X = data
    learner = pyagrum.BNLearner(X, agrum_model(name))
    learner.useSmoothingPrior(1)
    return learner.learnParameters(agrum_model(name).dag())


HIDDEN = "bronc"
STEPS = 5


def asia_holes():
    return rows("asia", 2000).drop(columns=HIDDEN)


def our_em(X):
    from gnomon.graphical import BayesianNetwork

    edges = our_model("asia").edges
    return BayesianNetwork(edges, states={HIDDEN: ["0", "1"]}, max_iter=STEPS, tol=0.0, random_state=0).fit(X)


def pgmpy_em(X):
    from pgmpy.estimators import ExpectationMaximization
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork(list(our_model("asia").edges), latents={HIDDEN})
    learner = ExpectationMaximization(model, X)
    options = dict(latent_card={HIDDEN: 2}, max_iter=STEPS, atol=0.0, seed=0, show_progress=False)
    return learner.get_parameters(**options)


# structure


def bic(dag, data):
    from gnomon.graphical import score_structure

    return score_structure(data, [(str(a), str(b)) for a, b in dag], "bic")


def our_climb(**options):
    def climb(X):
        from gnomon.graphical import HillClimbSearch

        return HillClimbSearch(**options).fit(X).dag_

    return climb


def pgmpy_climb(X):
    from pgmpy.estimators import HillClimbSearch

    search = HillClimbSearch(X)
    found = search.estimate("bic-d", max_indegree=4, tabu_length=10, show_progress=False)
    return list(found.edges())


def agrum_climb(tabu):
    def climb(X):
        import pyagrum

        learner = pyagrum.BNLearner(X)
        learner.useScoreBIC()
        learner.setMaxIndegree(4)
        if tabu:
            learner.useLocalSearchWithTabuList(10, 10)
        else:
            learner.useGreedyHillClimbing()
        names = learner.names()
        return [(names[a], names[b]) for a, b in learner.learnDAG().arcs()]

    return climb


def our_chow_liu(X):
    from gnomon.graphical import ChowLiuTree

    return ChowLiuTree().fit(X).dag_


def pgmpy_chow_liu(X):
    from pgmpy.estimators import TreeSearch

    return list(TreeSearch(X, n_jobs=1).estimate(show_progress=False).edges())


def likelihood(dag, data):
    from gnomon.graphical import score_structure

    return score_structure(data, dag, "loglik")


def our_pc(X):
    from gnomon.graphical import PC

    return PC(alpha=0.01).fit(X).dag_


def pgmpy_pc(X):
    from pgmpy.estimators import PC

    return list(PC(X).estimate("chi_square", significance_level=0.01, show_progress=False).edges())


# samples and files


def our_sample(name):
    return our_model(name).sample(20_000, random_state=0)


def pgmpy_sample(name):
    from pgmpy.sampling import BayesianModelSampling

    return BayesianModelSampling(pgmpy_model(name)).forward_sample(20_000, show_progress=False, seed=0)


def agrum_sample(name):
    import pyagrum

    generator = pyagrum.BNDatabaseGenerator(agrum_model(name))
    generator.drawSamples(20_000)
    return generator.to_pandas()


def our_parse(text):
    from gnomon.graphical import read_network

    return read_network(text)


def pgmpy_parse(text):
    from pgmpy.readwrite import BIFReader

    return BIFReader(string=text).get_model()


def agrum_parse(text):
    import pyagrum

    return pyagrum.loadBN(path("alarm"))


CASES = [
    *(
        Case(
            f"all posteriors given 3, {name}",
            data=lambda name=name: (name, evidence(name)),
            ours=our_posteriors,
            peers={"pgmpy (elimination)": eliminated_posteriors},
            quality=lambda tables, data: log_entries(tables),
            better="higher",
            tolerance=1e-6,
            goal=100,
        )
        for name in ("alarm", "hailfinder", "win95pts")
    ),
    *(
        Case(
            f"all posteriors given 3, {name}, compiled peer",
            data=lambda name=name: (name, evidence(name)),
            ours=our_new_posteriors,
            peers={"pyagrum": agrum_posteriors},
            quality=lambda tables, data: log_entries(tables),
            better="higher",
            tolerance=1e-6,
            goal=1.5,
        )
        for name in ("alarm", "hailfinder", "win95pts")
    ),
    Case(
        "junction tree, asia",
        data=lambda: ("asia", evidence("asia")),
        ours=our_tree,
        peers={"pgmpy": pgmpy_tree, "pyagrum": agrum_tree},
        note="pgmpy builds no tree of sachs, whose graph is in two parts",
    ),
    Case(
        "junction tree, alarm",
        data=lambda: ("alarm", evidence("alarm")),
        ours=our_tree,
        peers={"pgmpy": pgmpy_tree, "pyagrum": agrum_tree},
        goal=1000,
        note="pgmpy's tree has a clique of 19 variables",
    ),
    Case(
        "tables, alarm N=20k",
        data=lambda: ("alarm", rows("alarm", 20_000)),
        ours=our_tables,
        peers={"pgmpy": pgmpy_tables},
        goal=20,
    ),
    Case(
        "tables, alarm N=20k, compiled peer",
        data=lambda: ("alarm", rows("alarm", 20_000)),
        ours=our_smooth_tables,
        peers={"pyagrum": agrum_tables},
        goal=1,
        note="one pseudo-count a cell: the peer refuses parents that never occur together",
    ),
    Case(
        "EM, asia N=2000, one column hidden, 5 steps",
        data=asia_holes,
        ours=our_em,
        peers={"pgmpy": pgmpy_em},
        goal=10,
        note="pgmpy drops rows with missing cells; a column that is wholly hidden is what both can learn",
    ),
    *(
        Case(
            f"hill climbing, alarm N={n // 1000}k" + (", compiled peer" if goal == 1 else ""),
            data=lambda n=n: rows("alarm", n),
            ours=our_climb(),
            peers=peers,
            quality=bic,
            better="higher",
            goal=goal,
        )
        for n, goal, peers in (
            (5000, 50, {"pgmpy": pgmpy_climb}),
            (50_000, 50, {"pgmpy": pgmpy_climb}),
            (5000, 1, {"pyagrum": agrum_climb(False), "pyagrum (tabu)": agrum_climb(True)}),
            (50_000, 1, {"pyagrum": agrum_climb(False), "pyagrum (tabu)": agrum_climb(True)}),
        )
    ),
    Case(
        "Chow-Liu, alarm N=5000",
        data=partial(rows, "alarm", 5000),
        ours=our_chow_liu,
        peers={"pgmpy": pgmpy_chow_liu},
        quality=likelihood,
        better="higher",
        goal=50,
    ),
    Case(
        "PC, asia N=20k",
        data=partial(rows, "asia", 20_000),
        ours=our_pc,
        peers={"pgmpy": pgmpy_pc},
        goal=10,
    ),
    Case(
        "20k samples, alarm",
        data=lambda: "alarm",
        ours=our_sample,
        peers={"pgmpy": pgmpy_sample},
        goal=50,
    ),
    Case(
        "20k samples, alarm, compiled peer",
        data=lambda: "alarm",
        ours=our_sample,
        peers={"pyagrum": agrum_sample},
        goal=1,
    ),
    *(
        Case(
            f"parse {name}.bif",
            data=lambda name=name: text(name),
            ours=our_parse,
            peers={"pgmpy": pgmpy_parse},
            goal=20,
        )
        for name in ("alarm", "hailfinder")
    ),
    Case(
        "parse alarm.bif, compiled peer",
        data=lambda: text("alarm"),
        ours=our_parse,
        peers={"pyagrum": agrum_parse},
    ),
]
