"""Every model of the library opens, runs to its end and back, and each step is that of `iterate`."""

import inspect
import json
import pkgutil
import warnings
from importlib import import_module

import pytest
from sklearn.base import BaseEstimator, clone

import gnomon
from gnomon.lab import learners
from gnomon.lab.material import gather, view
from gnomon.lab.runs import steps
from gnomon.lab.scenes import frame

KINDS = {"plane", "matrix", "bars", "graph", "images", "facts", "note"}
QUICK = {"n_clusters": 2, "max_iter": 8, "n_estimators": 3, "n_episodes": 4, "iterations": 3, "n_iter": 3}


def quick(cls):
    """Few steps, where a setting of the form says how many there are."""
    names, own = inspect.signature(cls).parameters, learners.start_settings(cls)
    fewer = {name: value for name, value in QUICK.items() if name in names and name in own}
    if "max_iter" in names and isinstance(names["max_iter"].default, int):
        fewer["max_iter"] = QUICK["max_iter"]
    return fewer


@pytest.mark.parametrize("name", learners.catalog())
def test_opens_runs_to_its_end_and_back(client, name):
    cls = learners.find(name)
    told = client.get(f"/api/model/{name}").json()
    assert told["name"] == name and told["data"]
    asked = {"model": name, "settings": quick(cls), "data": {"sample": told["data"][0]["name"]}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = client.post("/api/run", json=asked)
        assert answer.status_code == 200, answer.text
        head, *heard = [json.loads(line) for line in answer.text.splitlines()]
        assert head["type"] == "head" and heard[-1]["type"] == "end", heard[-1]
        shown = heard[:-1]
        assert shown and all(step["type"] == "step" for step in shown), shown[-1]
        assert all(panel["kind"] in KINDS for step in shown for panel in step["panels"])
        assert [p["text"] for p in shown[-1]["panels"] if p["kind"] == "note"] == []
        assert shown[-1]["panels"], "nothing is drawn"
        # back: the same steps once more, from copies of our own
        material = gather(asked["data"], learners.data_for(cls))
        points = view(material)
        again = [frame(m, k, material, points) for k, m in steps(learners.make(cls, quick(cls)), material)]
    assert [{"type": "step", **json.loads(json.dumps(step))} for step in again] == shown


def test_the_catalog_has_every_public_estimator():
    found = set()
    for module in pkgutil.iter_modules(gnomon.__path__):
        if module.ispkg and module.name[0] != "_" and module.name not in learners.NOT_FAMILIES:
            package = import_module(f"gnomon.{module.name}")
            found |= {
                name
                for name in package.__all__
                if isinstance(getattr(package, name), type)
                and issubclass(getattr(package, name), BaseEstimator)
            }
    assert found == learners.catalog().keys() - learners.EXPERIMENTS.keys()


@pytest.mark.parametrize(
    "name",
    ["KMeans", "CoinPosterior", "LinearRegression", "ValueIteration", "CategoricalHMM", "BeliefPropagation"],
)
def test_the_program_gives_the_same_run(client, name):
    told = client.post("/api/run", json={"model": name})
    head, *heard = [json.loads(line) for line in told.text.splitlines()]
    scope = {}
    exec(head["code"].replace("print(step, fitted.trace_)", "pass"), scope)
    cls = learners.find(name)
    material = gather({}, learners.data_for(cls))
    last = frame(scope["fitted"], heard[-2]["step"], material, view(material))
    assert {"type": "step", **json.loads(json.dumps(last))} == heard[-2]


def test_the_model_of_a_run_is_not_touched():
    model = learners.make(learners.find("KMeans"), {})
    material = gather({}, learners.data_for(type(model)))
    before = clone(model).get_params()
    assert len(list(steps(model, material))) > 2
    assert model.get_params() == before and not hasattr(model, "trace_")
