"""Model files: everything comes back as it was, and nothing but data comes back."""

import hashlib
import io
import json
import os
import pickle
import random
import stat
import struct
import sys
import tracemalloc
import zipfile
from collections import deque
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gnomon
from compare import equal
from gnomon.core import saving
from gnomon.core.errors import ModelFileError
from gnomon.core.saving import load, pack, save, unpack, write_atomically
from gnomon.core.steps import Report
from gnomon.core.trace import Trace

PREFIX = struct.Struct("<8sIQQ")


class Pair(NamedTuple):
    left: object
    right: object = None


# The canary: Python itself tells of every import, process, socket and pickle while it listens.

DANGEROUS = (
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "subprocess.Popen",
    "socket.connect",
    "pickle.find_class",
)
heard: list[str] = []
listening = False


def canary(event, arguments):
    if not listening:
        return
    if event in DANGEROUS:
        heard.append(event)
    if event == "import" and not str(arguments[0]).startswith("gnomon"):
        heard.append(f"import {arguments[0]}")


sys.addaudithook(canary)


@pytest.fixture
def quiet():
    """Fails the test when anything was run or imported that is not gnomon's."""
    global listening
    heard.clear()
    listening = True
    yield
    listening = False
    assert heard == []


def drawn(rng):
    """A generator in the middle of its work."""
    (rng.standard_normal if isinstance(rng, np.random.Generator) else rng.randn)(3)
    return rng


VALUES = {
    "numbers": [
        None,
        True,
        0,
        -(2**100),
        0.1,
        -0.0,
        float("inf"),
        float("nan"),
        1 + 2j,
        "",
        "Ω\ud800",
        b"\0x",
    ],
    "containers": [
        [],
        (),
        {},
        {"a": [1, (2, {3})]},
        {1: "x", (2, None): "y"},
        {1, 2},
        frozenset("ab"),
        deque([1, 2], 3),
        slice(1, None, 2),
    ],
    "named tuples": Report(1.5, certificate=0.1, done=True),
    "scalars": [
        np.float32(0.1),
        np.int8(-3),
        np.bool_(True),
        np.str_("ab"),
        np.datetime64("2020-01-01"),
        np.complex64(1j),
    ],
    "dtypes": [np.dtype("f4"), np.dtype(object), np.dtype("<U3"), np.float64, np.int32, float, bool, Trace],
    "C order": np.arange(6.0).reshape(2, 3),
    "Fortran order": np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)),
    "strided": np.arange(10)[::-2].copy(),
    "big endian": np.arange(3, dtype=">i4"),
    "empty": [np.empty((0, 3)), np.empty((2, 0), dtype=object), np.empty(0, "<U1")],
    "no dimension": np.array(3.0),
    "strings": np.array(["a", "ΩΩ", ""]),
    "bytes": np.array([b"a", b"bc"]),
    "times": np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    "half and bool": [np.array([1, 2], "f2"), np.array([True, False])],
    "objects": np.array([["x", None], [2.5, (1, 2)]], dtype=object),
    "CSR": sp.csr_array(np.random.default_rng(0).random((5, 4)).clip(0.5) - 0.5),
    "CSC matrix": sp.csc_matrix(np.eye(3, dtype="f4")),
    "COO": sp.coo_array(np.eye(3)),
    "PCG64": drawn(np.random.default_rng(3)),
    "PCG64DXSM": drawn(np.random.Generator(np.random.PCG64DXSM(3))),
    "MT19937": drawn(np.random.Generator(np.random.MT19937(3))),
    "Philox": drawn(np.random.Generator(np.random.Philox(key=3))),
    "SFC64": drawn(np.random.Generator(np.random.SFC64(3))),
    "RandomState": drawn(np.random.RandomState(3)),
    "SeedSequence": np.random.SeedSequence(3, spawn_key=(1, 2)),
    "trace": Trace([3.0, 2.0], [0.1, 0.2], [1.0, 0.0]),
}


def model():
    """A small object of gnomon that holds every kind of value."""
    made = Trace([3.0, 2.0], [0.1, 0.2])
    made.extra_ = dict(VALUES)
    return made


# Everything comes back


@pytest.mark.parametrize("name", VALUES)
def test_value_comes_back(name):
    assert equal(unpack(pack(VALUES[name])), VALUES[name])


def test_model_comes_back(tmp_path):
    save(model(), tmp_path / "model.gnomon")
    assert equal(load(tmp_path / "model.gnomon"), model())


def test_a_classifier_that_met_one_class_comes_back(tmp_path):
    from gnomon.trees import DecisionTreeClassifier

    X = np.arange(3.0)[:, None]
    save(DecisionTreeClassifier().fit(X, ["only"] * 3), tmp_path / "tree.gnomon")
    loaded = load(tmp_path / "tree.gnomon")
    assert loaded.classes_.tolist() == ["only"] and loaded.predict(X).tolist() == ["only"] * 3


def test_loaded_generator_draws_and_spawns_the_same():
    rng = np.random.default_rng(5)
    twin = unpack(pack(rng))
    assert rng.random() == twin.random()
    assert rng.spawn(1)[0].random() == twin.spawn(1)[0].random()


def test_array_met_twice_is_one_array():
    shared = np.arange(1000.0)
    data = pack({"a": shared, "b": shared})
    tree = unpack(data)
    assert tree["a"] is tree["b"]
    assert len(data) < 1.5 * shared.nbytes


def test_loaded_arrays_can_be_written_to():
    assert all(array.flags.writeable for array in unpack(pack([np.eye(2), np.ones(0)])))


def test_same_model_same_bytes():
    assert pack({"a", "b", "c", "d"}) == pack({"d", "c", "b", "a"})


TREES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(min_dims=0, min_side=0, max_side=3)),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.text(max_size=3), children, max_size=3)
        | st.builds(Report, children)
    ),
    max_leaves=10,
)


@given(TREES)
def test_any_tree_comes_back(tree):
    assert equal(unpack(pack(tree)), tree)


def test_own_classes_are_named_by_the_caller():
    assert unpack(pack(Pair(1), trusted=[Pair]), trusted=[Pair]) == Pair(1)
    with pytest.raises(ModelFileError, match="trusted"):
        unpack(pack(Pair(1), trusted=[Pair]))


def test_new_field_with_a_default_reads_old_files():
    old = edited(pack(Pair(1, 2), trusted=[Pair]), lambda header: header["tree"][2].pop("right"))
    assert unpack(old, trusted=[Pair]) == Pair(1, None)


# What cannot be saved says which part and what to do


@pytest.mark.parametrize(
    "part, message",
    [
        (len, r"cannot save model\.extra_: builtin_function_or_method is not data"),
        (lambda: 0, "function is not data"),
        (Pair(1), "not a class of gnomon.*trusted"),
        (np.ma.masked_array([1]), "plain array"),
        (np.zeros(2, dtype=[("a", "f8")]), "plain dtype"),
        (sp.lil_array((2, 2)), "CSR, CSC or COO"),
        (os, "module is not data"),
        (np.random.RandomState(np.random.PCG64(0)), "Use a Generator"),
    ],
)
def test_what_cannot_be_saved_is_named(tmp_path, part, message):
    made = model()
    made.extra_ = part
    with pytest.raises(TypeError, match=message):
        save(made, tmp_path / "model.gnomon")
    assert list(tmp_path.iterdir()) == []


def test_object_that_contains_itself_is_refused(tmp_path):
    made = model()
    made.extra_ = [made]
    with pytest.raises(TypeError, match="contains itself"):
        save(made, tmp_path / "model.gnomon")


def test_only_objects_of_gnomon_are_models(tmp_path):
    with pytest.raises(TypeError, match="object of gnomon"):
        save({"a": 1}, tmp_path / "model.gnomon")


def test_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "no.gnomon")


# Writing


def test_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.gnomon"
    write_atomically(path, b"old")
    for function in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(saving.os, function, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                write_atomically(path, b"new")
        assert path.read_bytes() == b"old"
        assert [entry.name for entry in tmp_path.iterdir()] == ["model.gnomon"]


def test_written_file_has_usual_permissions_and_keeps_links(tmp_path):
    target, link, plain = tmp_path / "target", tmp_path / "link", tmp_path / "plain"
    target.write_bytes(b"old")
    link.symlink_to(target)
    plain.write_bytes(b"")
    write_atomically(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


# Hostile files


def sealed(header, arrays=b"", version=1):
    """A file whose checksum is right, whatever is in it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    content = PREFIX.pack(b"\x93gnomon\n", version, len(text), len(arrays)) + text + arrays
    return content + hashlib.sha256(content).digest()


def opened(data):
    """The header and the arrays of a file."""
    _, _, length, _ = PREFIX.unpack(data[: PREFIX.size])
    start = PREFIX.size + length
    return json.loads(data[PREFIX.size : start]), data[start:-32]


def edited(data, edit):
    header, arrays = opened(data)
    edit(header)
    return sealed(header, arrays)


def holding(tree, table=(), arrays=b""):
    return sealed({"kind": "checkpoint", "gnomon": "0", "arrays": list(table), "tree": tree}, arrays)


TRACE = "gnomon.core.trace:Trace"
MT = pack(np.random.Generator(np.random.MT19937(0)))
PHILOX = pack(np.random.Generator(np.random.Philox(0)))
CSR = ["sparse", "csr_array", [2, 2], [["array", 0], ["array", 1], ["array", 2]]]


def nested(levels):
    return b"[" * levels + b"]" * levels


def csr(indices, indptr):
    blobs = [np.ones(2), np.array(indices, "<i4"), np.array(indptr, "<i4")]
    table = [[b.dtype.str, list(b.shape), "C"] for b in blobs]
    return holding(CSR, table, b"".join(b.tobytes() for b in blobs))


def with_state(data, **changes):
    """A generator whose position is changed."""

    def edit(header):
        fields = header["tree"][2][1]
        for key, value in changes.items():
            (fields["state"][1] if key == "pos" else fields)[key] = value

    return edited(data, edit)


HOSTILE = {
    "os.system": holding(["object", "os:system", {}]),
    "builtins.eval": holding(["object", "builtins:eval", {}]),
    "Popen": holding(["object", "subprocess:Popen", {"args": "true"}]),
    "sklearn class": holding(["object", "sklearn.cluster:KMeans", {}]),
    "type os.system": holding(["type", "os:system"]),
    "name like ours": holding(["object", "gnomonevil:Trace", {}]),
    "module inside ours": holding(["object", "gnomon.core.saving:os", {}]),
    "foreign class inside ours": holding(["object", "gnomon.core.saving:Path", {}]),
    "function of ours": holding(["object", "gnomon.core.saving:write_atomically", {}]),
    "type that is a function": holding(["type", "gnomon.core.saving:write_atomically"]),
    "main module": holding(["object", "gnomon.__main__:main", {}]),
    "dunder": holding(["object", "gnomon.core.saving:__builtins__", {}]),
    "relative import": holding(["object", "gnomon..os:system", {}]),
    "dotted attribute": holding(["object", f"{TRACE}.plot", {}]),
    "path traversal": holding(["object", "gnomon.core/../../../tmp/evil:X", {}]),
    "line break in name": holding(["object", TRACE + "\n", {}]),
    "no such module": holding(["object", "gnomon.nowhere:X", {}]),
    "no such class": holding(["object", "gnomon.core.trace:X", {}]),
    "exception as object": holding(["object", "gnomon.core.errors:ModelFileError", {}]),
    "named tuple as object": holding(["object", "gnomon.core.steps:Report", {}]),
    "object as named tuple": holding(["named", TRACE, {}]),
    "too few fields": holding(["named", "gnomon.core.steps:Report", {}]),
    "too many fields": holding(["named", "gnomon.core.steps:Report", {"objective": 1, "x": 2}]),
    "replaced method": holding(["object", TRACE, {"plot": 1}]),
    "replaced class": holding(["object", TRACE, {"__class__": 1}]),
    "replaced dict": holding(["object", TRACE, {"__dict__": ["dict", {}]}]),
    "odd attribute": holding(["object", TRACE, {"a b": 1}]),
    "requests of no method": holding(["object", TRACE, {}, {"owner": {"x": True}}]),
    "unknown tag": holding(["reduce", "os:system", ["list", ["true"]]]),
    "tag that is a list": holding([["list"], []]),
    "empty node": holding([]),
    "bare dict": holding({"a": 1}),
    "string as node": holding(["dict", "abc"]),
    "unhashable key": holding(["pairs", [[["list", []], 1]]]),
    "object dtype": holding(["array", 0], [["|O", [1], "C"]], pickle.dumps(1)[:8]),
    "structured dtype": holding(["array", 0], [["f8,f8", [1], "C"]], bytes(16)),
    "subarray dtype": holding(["array", 0], [["(9999999,)f8", [0], "C"]]),
    "void dtype": holding(["array", 0], [["|V8", [1], "C"]], bytes(8)),
    "endless strings": holding(["array", 0], [["<U99999999999999999999", [1], "C"]]),
    "strings of no width": holding(["array", 0], [["<U0", [10**12], "C"]]),
    "no character": holding(["array", 0], [["<U1", [1], "C"]], b"\xff" * 4),
    "no boolean": holding(["array", 0], [["|b1", [1], "C"]], b"\x07"),
    "negative shape": holding(["array", 0], [["<f8", [-1, -1], "C"]], bytes(8)),
    "huge shape": holding(["array", 0], [["<f8", [10**18], "C"]]),
    "huge empty shape": holding(["array", 0], [["<f8", [0, 10**30], "C"]]),
    "shape of booleans": holding(["array", 0], [["<f8", [True], "C"]], bytes(8)),
    "shape of floats": holding(["array", 0], [["<f8", [1.0], "C"]], bytes(8)),
    "too many dimensions": holding(["array", 0], [["<f8", [1] * 100, "C"]], bytes(8)),
    "odd order": holding(["array", 0], [["<f8", [1], "K"]], bytes(8)),
    "bytes of no array": holding(None, [], b"12345678"),
    "no such array": holding(["array", 3]),
    "array as scalar": holding(["scalar", 0], [["<f8", [1], "C"]], bytes(8)),
    "wrong object shape": holding(["objects", [10**9], [1]]),
    "index out of range": csr([0, 7], [0, 1, 2]),
    "negative index": csr([0, -1], [0, 1, 2]),
    "pointer backwards": csr([0, 1], [0, 2, 1]),
    "pointer out of range": csr([0, 1], [0, 1, 9]),
    "sparse parts": holding(["sparse", "csr_array", [2, 2], [["list", [1]], 2, 3]]),
    "sparse kind": holding(["sparse", "load_npz", [2, 2], ["a", "b"]]),
    "generator position": with_state(MT, pos=10**6),
    "generator position, negative": with_state(MT, pos=-5),
    "buffer position": with_state(PHILOX, buffer_pos=10**6),
    "generator kind": with_state(MT, bit_generator="default_rng"),
    "generator key": with_state(MT, state=["dict", {"key": ["list", [1]], "pos": 3}]),
    "seed pool": holding(
        [
            "SeedSequence",
            [
                "dict",
                {"entropy": 1, "spawn_key": ["tuple", []], "pool_size": 10**12, "n_children_spawned": 0},
            ],
        ]
    ),
    "deep tree": holding(json.loads('["list", [' * 150 + "]]" * 150)),
    "deep JSON": sealed(nested(100_000)),
    "endless number": sealed(
        b'{"kind": "checkpoint", "gnomon": "0", "arrays": [], "tree": ' + b"9" * 10_000 + b"}"
    ),
    "no JSON": sealed(b"\xff\xfe\0"),
    "JSON without tree": sealed({"kind": "checkpoint"}),
    "JSON list": sealed([]),
    "newer format": sealed({"kind": "checkpoint"}, version=2),
    "header length": PREFIX.pack(b"\x93gnomon\n", 1, 2**64 - 1, 0) + bytes(100),
    "array length": PREFIX.pack(b"\x93gnomon\n", 1, 10, 2**63) + bytes(100),
    "checksum": holding(None)[:-1] + b"?",
    "cut in the prefix": holding(None)[:13],
    "empty": b"",
    "pickle": pickle.dumps(np.eye(2)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused(name, quiet):
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"cannot load .*\. ?"):
            unpack(HOSTILE[name])
        assert tracemalloc.get_traced_memory()[1] < 30e6
    finally:
        tracemalloc.stop()


class Bomb:
    def __reduce__(self):
        return os.system, ("true",)


def zip_bomb():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", bytes(10**7))
    return buffer.getvalue()


def npy_with_pickle():
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content", [pickle.dumps(Bomb()), zip_bomb(), npy_with_pickle(), b"{}", b"\0" * 10**6]
)
def test_foreign_file_is_refused(tmp_path, content, quiet):
    (tmp_path / "model.gnomon").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.gnomon: it is not a gnomon file\. .*gnomon\.save"):
        load(tmp_path / "model.gnomon")


def test_device_is_refused():
    with pytest.raises(ModelFileError, match="not a gnomon file"):
        load("/dev/zero")


def test_checkpoint_is_no_model_and_model_no_checkpoint(tmp_path):
    write_atomically(tmp_path / "a", pack(Report(1.0)))
    with pytest.raises(ModelFileError, match="holds a checkpoint, not a model"):
        load(tmp_path / "a")
    save(Report(1.0), tmp_path / "b")
    with pytest.raises(ModelFileError, match="holds a model, not a checkpoint"):
        unpack((tmp_path / "b").read_bytes())


def test_plain_data_is_no_model(tmp_path):
    header = {"kind": "model", "gnomon": "0", "arrays": [], "tree": ["list", []]}
    (tmp_path / "a").write_bytes(sealed(header))
    with pytest.raises(ModelFileError, match="no model"):
        load(tmp_path / "a")


def test_other_version_is_named():
    data = holding(["object", "gnomon.cluster.future:Model", {}])
    with pytest.raises(ModelFileError, match=f"from gnomon 0, this is {gnomon.__version__}"):
        unpack(data)


# Ten thousand mutated files


def bit_flip(data, rng, other):
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def truncation(data, rng, other):
    return data[: rng.randrange(len(data))]


def splice(data, rng, other):
    a, b, c, d = (rng.randrange(len(data)) for _ in range(4))
    source = rng.choice([data, other])
    return data[:a] + source[min(c, d) : max(c, d)] + data[b:]


def header_bytes(data, rng, other):
    """The text of the header changed, the checksum made right."""
    _, _, length, _ = PREFIX.unpack(data[: PREFIX.size])
    text = bytearray(data[PREFIX.size : PREFIX.size + length])
    for _ in range(rng.randint(1, 3)):
        text[rng.randrange(length)] = rng.choice(b'0123456789"[]{},:.-eNaIfutrl_ \\\xff\0')
    return sealed(bytes(text), data[PREFIX.size + length : -32])


def array_bytes(data, rng, other):
    """Bytes of the arrays changed, the checksum made right."""
    header, arrays = opened(data)
    return sealed(header, splice(arrays, rng, other) if rng.random() < 0.3 else bit_flip(arrays, rng, other))


POISON = [
    None,
    True,
    -1,
    2**63,
    1e308,
    "",
    "os:system",
    "O",
    [],
    {},
    [[]],
    ["array", 0],
    ["type", TRACE],
    ["list", []],
]
POISON += [["object", TRACE, {}], "RandomState", "named", "object", "<f8", "<U9", [3, 3], ["dtype", "<f4"]]


def spots(node, found):
    """Every (container, key) of a JSON tree."""
    for key in range(len(node)) if isinstance(node, list) else list(node):
        found.append((node, key))
        if isinstance(node[key], list | dict):
            spots(node[key], found)
    return found


def json_edit(data, rng, other):
    """Nodes replaced, swapped, doubled or taken away, the checksum made right."""
    header, arrays = opened(data)
    everywhere = spots(header, [])
    for _ in range(rng.randint(1, 2)):
        (node, key), (source, name) = rng.choice(everywhere), rng.choice(everywhere)
        action = rng.randrange(4)
        try:
            if action == 0:
                node[key] = rng.choice(POISON)
            elif action == 1:
                node[key], source[name] = source[name], node[key]
            elif action == 2:
                del node[key]
            else:
                node[key] = [node[key], node[key]]
            return sealed(header, arrays)
        except (KeyError, IndexError, ValueError, RecursionError):  # swapped a node into itself
            header, arrays = opened(data)
            everywhere = spots(header, [])
    return truncation(data, rng, other)


MUTATIONS = {
    bit_flip: 2000,
    truncation: 1500,
    splice: 1500,
    header_bytes: 2000,
    json_edit: 2000,
    array_bytes: 1000,
}


def exercise(value):
    """Use what was loaded: nothing in it may crash the process."""
    if isinstance(value, np.ndarray | np.generic):
        repr(value)
    elif sp.issparse(value):
        value @ np.ones(value.shape[-1])
    elif isinstance(value, np.random.Generator):
        value.integers(0, 10, size=700)
    elif isinstance(value, np.random.RandomState):
        value.randint(0, 10, size=700)
    elif isinstance(value, dict):
        [exercise(part) for part in value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        [exercise(part) for part in value]
    elif type(value).__module__.startswith("gnomon"):
        exercise(vars(value))


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_mutated_files(mutation, tmp_path, quiet):
    path, rng = tmp_path / "model.gnomon", random.Random(7)
    save(model(), path)
    whole = path.read_bytes()
    other = bytes(rng.randrange(256) for _ in range(len(whole)))
    refused = 0
    for _ in range(MUTATIONS[mutation]):
        data = mutation(whole, rng, other)
        path.write_bytes(data)
        try:
            loaded = load(path)
        except ModelFileError:
            refused += 1
        else:
            assert type(loaded).__module__.startswith("gnomon.")
            if mutation in (bit_flip, truncation, splice):  # the checksum lets nothing changed pass
                assert data == whole
            exercise(loaded)
    assert refused > MUTATIONS[mutation] / 20
