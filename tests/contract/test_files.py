"""Files: those of every released format load for ever, and none that loads can crash or hang what it predicts."""

import copy
import hashlib
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from contract.discovery import SUBJECTS, estimator_classes
from gnomon.core import aliases, saving
from gnomon.core.errors import ModelFileError
from gnomon.core.saving import load, save

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


def spoiled(arrays, rng):
    """The arrays with one of them changed: an entry, all entries, or its shape."""
    arrays = [copy.deepcopy(a) for a in arrays]
    places = [i for i, a in enumerate(arrays) if a.size and a.dtype.kind in "iuf"]
    if not places:
        return arrays
    i = places[rng.integers(len(places))]
    array, how = arrays[i], rng.integers(4)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = np.asarray(NASTY[rng.integers(len(NASTY))]).astype(array.dtype)
    if how == 0:
        array.reshape(-1)[rng.integers(array.size)] = value
    elif how == 1:
        array[...] = value
    elif how == 2:
        arrays[i] = array.reshape(-1)[: rng.integers(array.size + 1)].copy()
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
        (tmp_path / "spoiled").write_bytes(put_together(header, spoiled(arrays, rng)))
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
