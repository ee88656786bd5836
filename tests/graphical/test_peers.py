"""Public networks: they parse, and their posteriors are those of pyAgrum and pgmpy."""

import gzip
import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from gnomon.graphical import inference_plan, read_network
from gnomon.graphical.factor import TableTooLargeError

pytestmark = pytest.mark.parity

PARAMETERS = {"alarm": 509, "sachs": 178, "child": 230, "insurance": 1008, "hailfinder": 2656}  # known counts
SMALL = [
    "alarm",
    "andes",
    "asia",
    "cancer",
    "earthquake",
    "hailfinder",
    "hepar2",
    "insurance",
    "sachs",
    "survey",
    "water",
    "win95pts",
]
LARGE = ["barley", "diabetes", "link", "mildew", "munin", "munin2", "munin3", "munin4", "pathfinder", "pigs"]
ASKED = 5  # variables whose posteriors the peer is asked for, of a large network


def text_of(name):
    found = importlib.util.find_spec("pgmpy")
    if found is None:
        pytest.skip("the networks come with pgmpy")
    path = Path(found.origin).parent / "utils" / "example_models" / f"{name}.bif.gz"
    if not path.is_file():
        pytest.skip(f"this pgmpy has no {name}")
    return gzip.decompress(path.read_bytes()).decode()


def three_observations(model):
    row = model.sample(1, random_state=1).iloc[0]
    chosen = np.random.default_rng(0).choice(model.variables_, 3, replace=False)
    return {str(v): str(row[v]) for v in chosen}


def test_networks_are_all_there():
    found = importlib.util.find_spec("pgmpy")
    if found is None:
        pytest.skip("the networks come with pgmpy")
    files = (Path(found.origin).parent / "utils" / "example_models").glob("*.bif.gz")
    assert {file.name.removesuffix(".bif.gz") for file in files} <= {*SMALL, *LARGE, "child", "munin1"}


def assert_same_posteriors(model, text, path, seen, asked):
    """The peer keeps its tables in single precision."""
    pyagrum = pytest.importorskip("pyagrum")
    path.write_text(text)
    peer = pyagrum.loadBN(str(path))
    engine = pyagrum.LazyPropagation(peer)
    for v in asked:
        engine.addTarget(v)
    engine.setEvidence(seen)
    engine.makeInference()
    found = model.marginals(seen)
    for v in asked:
        theirs = dict(zip(peer.variable(v).labels(), engine.posterior(v).toarray(), strict=True))
        for state, p in theirs.items():
            assert found[v][state] == pytest.approx(p, abs=2e-6), (v, state)
    assert found[asked[0]].log_evidence == pytest.approx(math.log(engine.evidenceProbability()), abs=1e-4)


@pytest.mark.parametrize("name", SMALL)
def test_posteriors_are_those_of_pyagrum(name, tmp_path):
    pytest.importorskip("pyagrum")
    text = text_of(name)
    model = read_network(text)
    assert model.n_parameters_ == PARAMETERS.get(name, model.n_parameters_)
    seen = three_observations(model)
    asked = [v for v in model.variables_ if v not in seen]
    assert_same_posteriors(model, text, tmp_path / f"{name}.bif", seen, asked)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_posteriors_of_large_networks(name, tmp_path):
    pytest.importorskip("pyagrum")
    text = text_of(name)
    model = read_network(text)
    seen = three_observations(model)
    free = [v for v in model.variables_ if v not in seen]
    asked = [str(v) for v in np.random.default_rng(2).choice(free, ASKED, replace=False)]
    assert_same_posteriors(model, text, tmp_path / f"{name}.bif", seen, asked)


@pytest.mark.parametrize("name", ["asia", "child"])
def test_posteriors_are_those_of_pgmpy(name):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    from pgmpy.inference import VariableElimination

    text = text_of(name)
    model, peer = read_network(text), readwrite.BIFReader(string=text).get_model()
    seen = three_observations(model)
    engine, found = VariableElimination(peer), model.marginals(seen)
    for v in model.variables_:
        if v not in seen:
            theirs = engine.query([v], seen, show_progress=False)
            for state, p in zip(theirs.state_names[v], theirs.values):
                assert found[v][state] == pytest.approx(p, rel=1e-6, abs=1e-12), (v, state)


def test_alarm_monitor_by_an_independent_package():
    model = read_network(text_of("alarm"))
    seen = {"HRBP": "HIGH", "CO": "LOW", "BP": "NORMAL"}
    found = model.marginals(seen)
    assert found["HYPOVOLEMIA"]["TRUE"] == pytest.approx(0.55330136, abs=5e-9)
    assert found["LVFAILURE"]["TRUE"] == pytest.approx(0.24949659, abs=5e-9)
    posterior = sum(np.log(f.table).sum() for v, f in found.items() if v not in seen)
    assert posterior == pytest.approx(-198.208526, abs=5e-7)
    assert sum(np.log(f.table).sum() for f in model.marginals().values()) == pytest.approx(
        -182.181259, abs=5e-7
    )


def test_wide_network_is_refused_with_its_cost():
    model = read_network(text_of("munin1"))
    with pytest.raises(TableTooLargeError, match=r"width 1\d and .* GiB.*max_entries.*likelihood_weighting"):
        model.marginals()
    name = model.variables_[0]
    assert inference_plan(model, name).bytes > 0, "announced without running"
    asked = model.query(name, method="likelihood_weighting", n_samples=2000, random_state=0)
    np.testing.assert_allclose(asked.values, inference_plan(model, name).run().values, atol=0.05)
