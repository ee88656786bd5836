"""Files: those of every released format load for ever, and none that loads can crash or hang what it predicts."""

import copy
import hashlib
import json
import math
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from contract.discovery import SUBJECTS, estimator_classes
from gnomon.core import aliases, saving
from gnomon.core.errors import ModelFileError
from gnomon.core.saving import load, save
from gnomon.decide import Policy

RELEASED = Path(__file__).parent.parent / "files"
OWN = [one for one in SUBJECTS if one.cls.__module__.startswith("gnomon")]
FIRST = {subject.cls.__name__: subject for subject in reversed(OWN)}
NASTY = (0, 1, -1, 2, 2**30, -(2**30), 2**62, np.nan, np.inf, 1e300)


@pytest.mark.parametrize(
    "file", sorted(RELEASED.glob("*/*.gnomon")), ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_released_file_loads_and_answers_as_it_did(file):
    subject = FIRST[file.stem]
    expected = json.loads((file.parent / "answers.json").read_text())[file.stem]
    data = subject.data(n=20, seed=5)
    said = subject.answers(load(file), data.X, data.lengths)
    assert set(expected) <= set(said)
    for name, values in expected.items():
        found = np.asarray(said[name], dtype=float).ravel()[: len(values)]
        np.testing.assert_allclose(found, [float(value) for value in values], rtol=1e-6, atol=1e-9)


def test_a_class_that_moved_still_loads(tmp_path, monkeypatch):
    save(FIRST["KMeans"].make(), tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    header, arrays = taken_apart(content)
    header["tree"][1] = "gnomon.cluster.somewhere_else:KMeans"
    (tmp_path / "model").write_bytes(put_together(header, arrays))
    with pytest.raises(ModelFileError, match="does not import"):
        load(tmp_path / "model")
    monkeypatch.setitem(
        aliases.ALIASES, "gnomon.cluster.somewhere_else:KMeans", "gnomon.cluster.kmeans:KMeans"
    )
    assert type(load(tmp_path / "model")) is estimator_classes()["KMeans"]


def test_aliases_lead_to_classes():
    from gnomon.core.decoding import Decoder

    for old in aliases.ALIASES:
        assert Decoder([], "0", ()).find(old) is not None
    for new in aliases.MOVED.values():
        assert import_module(new)


# Hostile files


def taken_apart(content):
    """The header of a file and its arrays."""
    size = saving._PREFIX.size
    length, _ = saving._lengths(content[:size], len(content))
    header = json.loads(content[size : size + length])
    return header, list(
        saving.read_arrays(header["arrays"], memoryview(content)[size + length : -saving._DIGEST])
    )


def put_together(header, arrays):
    """A file with a correct checksum."""
    header = {
        **header,
        "arrays": [[a.dtype.str, a.shape, "C" if a.flags.c_contiguous else "F"] for a in arrays],
    }
    text, blobs = json.dumps(header).encode(), [a.tobytes("A") for a in arrays]
    prefix = saving._PREFIX.pack(saving._MAGIC, saving._FORMAT, len(text), sum(map(len, blobs)))
    whole = b"".join([prefix, text, *blobs])
    return whole + hashlib.sha256(whole).digest()


def spoiled(header, arrays, rng):
    """A file with one thing changed: an array, its name for another one's, or a number that is no array."""
    header, arrays = copy.deepcopy(header), [copy.deepcopy(a) for a in arrays]
    holders = list(branches(header["tree"]))
    how = rng.integers(6)
    references = [one for one in holders if isinstance(one, list) and one[:1] == ["array"]]
    if how == 0 and len(references) > 1:
        references[rng.integers(len(references))][1] = int(rng.integers(len(arrays)))
    elif how == 1:
        settings = [(one, place) for one in holders for place in plain_values(one)]
        one, place = settings[rng.integers(len(settings))]
        one[place] = (0, -1, 2, 2**40, 0.5, 1e300, float("nan"), None, True, "auto", "")[rng.integers(11)]
    else:
        arrays = with_one_spoiled(arrays, rng)
    return header, arrays


def branches(tree):
    """Every list and dict of a header."""
    if isinstance(tree, list | dict):
        yield tree
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from branches(part)


def plain_values(branch):
    """Places of plain values: settings, counts, names; not tags and not the numbers of arrays."""
    if isinstance(branch, dict):
        return [key for key, value in branch.items() if not isinstance(value, list | dict)]
    return [place for place, value in enumerate(branch) if place > 1 and not isinstance(value, list | dict)]


def with_one_spoiled(arrays, rng):
    """The arrays with one of them changed: an entry, all entries, its order, its type or its shape."""
    places = [i for i, a in enumerate(arrays) if a.size and a.dtype.kind in "iuf"]
    if not places:
        return arrays
    i = places[rng.integers(len(places))]
    array, how = arrays[i], rng.integers(7)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = np.asarray(NASTY[rng.integers(len(NASTY))]).astype(array.dtype)
    if how == 0:
        array.reshape(-1)[rng.integers(array.size)] = value
    elif how == 1:
        array[...] = value
    elif how == 2:
        arrays[i] = array.reshape(-1)[: rng.integers(array.size + 1)].copy()
    elif how == 3:
        arrays[i] = rng.permutation(array.reshape(-1)).reshape(array.shape)
    elif how == 4 and array.ndim:
        arrays[i] = np.concatenate([array, array])
    elif how == 5:
        with np.errstate(all="ignore"):
            arrays[i] = array.astype(["<f8", "<f4", "<i8", "|u1", "<U3"][rng.integers(5)])
    else:
        arrays[i] = (
            array.reshape(array.shape[::-1]).copy() if array.ndim > 1 else array.reshape(-1)[:-1].copy()
        )
    return arrays


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", sorted(FIRST))
@pytest.mark.filterwarnings("ignore")
def test_spoiled_file_is_refused_or_answers(name, tmp_path):
    """What a spoiled file says is nobody's business; that the process lives and goes on is."""
    subject, rng = FIRST[name], np.random.default_rng(sum(map(ord, name)))
    data = subject.data(n=20)
    save(subject.fit(data), tmp_path / "model")
    header, arrays = taken_apart((tmp_path / "model").read_bytes())
    for _ in range(25):
        (tmp_path / "spoiled").write_bytes(put_together(*spoiled(header, arrays, rng)))
        try:
            subject.answers(load(tmp_path / "spoiled"), data.X, data.lengths)
        except MemoryError:
            raise
        except Exception:
            continue


@pytest.mark.parametrize(
    "name", ["DecisionTreeClassifier", "RandomForestRegressor", "HistGradientBoostingClassifier"]
)
@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree._replace(children_right=np.zeros_like(tree.children_right)),
        lambda tree: tree._replace(feature=np.where(tree.feature >= 0, 2**30, -2).astype(np.int32)),
        lambda tree: tree._replace(children_right=tree.children_right + 2**20),
        lambda tree: tree._replace(threshold=tree.threshold[:-1]),
    ],
    ids=["circle", "column", "far", "short"],
)
def test_impossible_tree_is_refused(name, change, tmp_path):
    model = FIRST[name].fit(FIRST[name].data())
    if hasattr(model, "trees_"):
        model.trees_ = tuple(change(tree) for tree in model.trees_)
    elif hasattr(model, "rounds_"):
        model.rounds_ = tuple(tuple(change(tree) for tree in round_) for round_ in model.rounds_)
    else:
        model.tree_ = change(model.tree_)
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="a tree in it"):
        load(tmp_path / "model")


def emptied(values):
    """An array of the same kind with nothing in it."""
    return values[:0]


def unitless(index):
    """An index whose distances have no unit."""
    index.metric = index.metric._replace(unit=math.nan)
    return index


@pytest.mark.parametrize(
    "name, attribute, change",
    [
        ("CategoricalNB", "n_categories_", lambda values: values + 2**30),
        ("CategoricalNB", "_tables_", emptied),
        ("CategoricalNB", "class_log_prior_", lambda values: np.tile(values, 100)),
        ("HMMTagger", "startprob_", lambda values: np.tile(values, 100)),
        ("HMMTagger", "transmat_", emptied),
        ("HMMTagger", "tag_counts_", lambda values: np.tile(values, 100)),
        ("MarkovChain", "transmat_", lambda values: values[:, :1]),  # to draw from it would never end
        ("MarkovChain", "startprob_", lambda values: np.tile(values, 100)),
        ("SGDClassifier", "pass_", lambda state: state._replace(coef=state.coef[:, :1])),
        ("SGDRegressor", "pass_", lambda state: state._replace(owed=state.owed[:, :1])),
        ("Perceptron", "pass_", lambda state: state._replace(intercept=state.intercept[:0])),
        ("MLPClassifier", "intercepts_", lambda layers: [layer[:-1] for layer in layers]),
        ("KNNRecommender", "k", lambda k: -0.5),
        ("PassiveAggressiveClassifier", "pass_", lambda state: state._replace(average=state.average[:, :1])),
        ("ActionHMM", "emissionprob_", lambda values: values[:1]),
        ("ActionHMM", "transmat_", lambda values: values[0, 0]),
        ("BernoulliNB", "classes_", lambda values: values[:-1]),
        ("BernoulliNB", "class_prior_", emptied),
        ("ClassicalMDS", "X_fit_", lambda values: values[1:]),
        ("ClassicalMDS", "column_means_", emptied),
        ("DecisionStump", "stump_", lambda stump: stump._replace(left=2**40)),
        ("DecisionStump", "stump_", lambda stump: stump._replace(feature=3)),
        ("FisherProjection", "means_", lambda values: values[:-1]),
        ("FiniteHorizon", "policies_", lambda values: values[0]),
        ("GaussianNB", "n_features_in_", lambda width: 0.5),
        ("KernelPerceptron", "classes_", lambda values: values[:-1]),
        ("Lasso", "coef_", lambda values: values[:-1]),
        ("RandomWalkClassifier", "weight_", lambda values: values[:-1]),
        ("RandomWalkClassifier", "classes_", lambda values: values[:-1]),
        ("SoftNeighborsClassifier", "targets_", lambda values: values + 2**40),
        ("TruncatedRBFMap", "powers_", lambda values: values[0]),
        ("CCA", "x_rotations_", lambda values: values[:, 0]),
        ("CCA", "scale_", lambda values: values[:-1]),
        (
            "CalibratedClassifier",
            "maps_",
            lambda maps: [one._replace(parameters=one.parameters[:-1]) for one in maps],
        ),
        ("CodewordHistogram", "codebook_", lambda values: values[:, 0]),
        ("GaussianProcessRegressor", "y_mean_", emptied),
        ("KMedians", "cluster_centers_", lambda values: values[:, 0]),
        ("KernelKMeans", "sizes_", lambda values: values[:-1]),
        ("KernelKMeans", "labels_", lambda values: values - 1),
        ("EpsilonBallClassifier", "positive_code_", lambda code: 2),
        ("MLPClassifier", "classes_", lambda values: values[:-1]),
        ("NuSVR", "intercept_", emptied),
        ("SVC", "intercept_", lambda values: values[:-1]),
        ("SVC", "classes_", lambda values: values[:-1]),
        ("LogisticRegression", "coef_", lambda values: values[:-1]),
        ("LogisticRegression", "intercept_", lambda values: values[:-1]),
        ("LinearDiscriminantAnalysis", "scalings_", lambda values: values[:, 0]),
        ("PolicyIteration", "policy_", lambda policy: Policy(np.asarray(policy)[None])),
        ("KNeighborsClassifier", "index_", unitless),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_refused(name, attribute, change, tmp_path):
    """Compiled code would read or write beyond their ends."""
    model = FIRST[name].fit(FIRST[name].data())
    setattr(model, attribute, change(getattr(model, attribute)))
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="fit|cannot be|columns is"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    "name",
    [
        "BaggingClassifier",
        "CascadeClassifier",
        "ConvNetClassifier",
        "DecisionTreeClassifier",
        "RectangleLearner",
    ],
)
@pytest.mark.parametrize("change", [lambda values: values[:-2], lambda values: np.tile(values, 2)])
def test_classes_that_are_no_classes_are_refused(name, change, tmp_path):
    model = FIRST[name].fit(FIRST[name].data(n=20))
    model.classes_ = change(model.classes_)
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="class"):
        load(tmp_path / "model")


@pytest.mark.parametrize("wrong", [[-1], [3], [0.0], [[0]], []])
def test_members_look_at_columns_that_are_there(wrong, tmp_path):
    model = FIRST["BaggingRegressor"].fit(FIRST["BaggingRegressor"].data(n=20))
    model.estimators_features_[2] = np.array(wrong)
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="a member of it"):
        load(tmp_path / "model")


def test_targets_of_leaves_fit_their_tree(tmp_path):
    model = FIRST["DecisionTreeRegressor"].fit(FIRST["DecisionTreeRegressor"].data(n=20))
    targets, starts = model.leaf_targets_
    for wrong in ((targets, starts[:-1]), (targets[:-1], starts), (targets, starts[::-1].copy())):
        model.leaf_targets_ = wrong
        save(model, tmp_path / "model")
        with pytest.raises(ModelFileError, match="leaves do not fit"):
            load(tmp_path / "model")


def test_settings_that_no_fit_accepts_are_refused_in_a_fitted_model_alone(tmp_path):
    subject = FIRST["BasisExpansion"]
    save(subject.make().set_params(include_bias=2**40), tmp_path / "plan")
    assert load(tmp_path / "plan").include_bias == 2**40  # its fit will say what is wrong
    save(subject.fit(subject.data()).set_params(include_bias=2**40), tmp_path / "model")
    with pytest.raises(ModelFileError, match="include_bias"):
        load(tmp_path / "model")


def test_a_rating_that_belongs_to_nobody_is_refused():
    model = FIRST["KNNRecommender"].fit(FIRST["KNNRecommender"].data())
    model.ratings_.indptr[-1] -= 1  # as a spoiled file may have it: what is saved has such entries cut off
    with pytest.raises(ModelFileError, match="ratings do not fit"):
        model._check_loaded()
