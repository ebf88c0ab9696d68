"""Files made to run code, or to crash the program: refused before any part of them is built.

Every payload would create the file or folder ``canary`` in the test's own folder, and nothing else.
"""

import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC

from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.persistence import ModelFileError, load_model, save_model

from .forging import first, forge, unpack, walk


@pytest.fixture
def canary(tmp_path):
    return tmp_path / "canary"


def json_node(value):
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
        "is_json": True,
    }


def node(kind, name, **parts):
    module, _, cls = name.rpartition(".")
    return {"__class__": cls, "__module__": module, "__loader__": kind, **parts}


def items(*values):
    return node("TupleNode", "builtins.tuple", content=list(values))


def dictionary(**values):
    kinds = [node("TypeNode", "builtins.str") for _ in values]
    return node("DictNode", "builtins.dict", content=values, key_types=node("ListNode", "builtins.list", content=kinds))


def planted(content, part, **changes):
    """A model file whose pipeline has a part of the forger in place of its parameter ``verbose``."""

    def plant(schema):
        schema["content"]["content"]["verbose"] = part

    return forge(content, schema=plant, **changes)


def refuse(path, content, canary):
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as raised:
        load_model(path)
    assert not canary.exists()
    return str(raised.value)


def test_a_pickle_under_our_name_is_not_read(tmp_path, canary):
    class Payload:
        def __reduce__(self):
            return (Path.touch, (canary,))

    text = refuse(tmp_path / "model.coview", pickle.dumps(Payload()), canary)
    assert "can run any code" in text


def constructor(canary):
    return node("ConstructorFromReduceNode", "builtins.open", content=items(json_node(str(canary)), json_node("w")))


def test_the_payload_is_live(content, tmp_path, canary):
    """What the tests plant would work: skops, told to trust it, runs it."""
    forged = planted(content, constructor(canary))
    data = unpack(forged)["model.skops"]
    opened = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data)).verbose
    opened.close()
    assert canary.exists()
    canary.unlink()
    refuse(tmp_path / "model.coview", forged, canary)


CALLS = {
    "constructor": constructor,
    "constructor_system": lambda c: node("ConstructorFromReduceNode", "os.mkdir", content=items(json_node(str(c)))),
    "function": lambda c: node("FunctionNode", "os.mkdir"),
    "ufunc": lambda c: node("FunctionNode", "numpy.add"),
    "type": lambda c: node("TypeNode", "subprocess.Popen"),
    "method": lambda c: node(
        "MethodNode",
        "pathlib.PosixPath",
        content={
            "func": "touch",
            "obj": node("ConstructorFromReduceNode", "pathlib.PosixPath", content=items(json_node(str(c)))),
        },
    ),
    "partial": lambda c: node(
        "PartialNode",
        "functools.partial",
        content={
            "func": node("FunctionNode", "os.mkdir"),
            "args": items(json_node(str(c))),
            "kwds": dictionary(),
            "namespace": dictionary(),
        },
    ),
    "operator": lambda c: node(
        "OperatorFuncNode", "operator.methodcaller", attrs=items(json_node("system"), json_node("true"))
    ),
    "default_dict": lambda c: node(
        "DefaultDictNode",
        "collections.defaultdict",
        content={"main": dictionary(), "default_factory": node("TypeNode", "builtins.eval")},
    ),
    "cached": lambda c: node("CachedNode", "builtins.dict", __id__=1),
    "tree": lambda c: node("TreeNode", "sklearn.tree._tree.Tree", __reduce__={"args": items()}, content=dictionary()),
    "bytes": lambda c: node("BytesNode", "builtins.bytes", file="schema.json"),
    "sparse": lambda c: node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="schema.json"),
    "unheard": lambda c: node("EvalNode", "builtins.eval", content="1"),
    "no_kind": lambda c: {"__class__": "eval", "__module__": "builtins"},
    "kind_is_a_list": lambda c: {"__class__": "eval", "__module__": "builtins", "__loader__": ["ObjectNode"]},
    "object_eval": lambda c: node("ObjectNode", "builtins.eval", content=dictionary()),
    "object_popen": lambda c: node("ObjectNode", "subprocess.Popen", content=dictionary(args=json_node("true"))),
    "object_of_numpy": lambda c: node("ObjectNode", "numpy.lib.npyio.NpzFile", content=dictionary()),
    "object_lookalike": lambda c: node("ObjectNode", "sklearn_evil.Estimator", content=dictionary()),
    "loss_elsewhere": lambda c: node(
        "LossNode", "os.mkdir", __reduce__={"args": items(json_node(str(c)))}, content=dictionary()
    ),
    "list_of_another_class": lambda c: node("ListNode", "pathlib.Path", content=[json_node(str(c))]),
    "dict_of_another_class": lambda c: {**dictionary(), "__class__": "Popen", "__module__": "subprocess"},
    "tuple_of_another_class": lambda c: node("TupleNode", "subprocess.Popen", content=[json_node("true")]),
    "array_of_another_class": lambda c: node("NdArrayNode", "builtins.eval", type="numpy", file="schema.json"),
    "random_state_elsewhere": lambda c: node("RandomStateNode", "builtins.open", content=dictionary()),
    "generator_elsewhere": lambda c: node(
        "RandomGeneratorNode",
        "numpy.random._generator.Generator",
        content={"bit_generator": dictionary(bit_generator=json_node("seed")), "seed_seq": dictionary()},
    ),
    "dtype_of_another_class": lambda c: node("DTypeNode", "builtins.eval", content=json_node("1")),
}


@pytest.mark.parametrize("name", CALLS)
def test_nodes_that_could_run_code_are_refused(content, tmp_path, canary, name, monkeypatch):
    """Refused by our own reading of the schema: skops is never asked."""
    for function in ("loads", "get_untrusted_types"):
        monkeypatch.setattr(skops.io, function, lambda *args, **kwargs: pytest.fail("skops was asked"))
    part = CALLS[name](canary)
    types = {*json.loads(unpack(content)["manifest.json"])["types"]}
    if part.get("__loader__") == "ObjectNode":  # so that the manifest does not give it away
        types |= {f"{part['__module__']}.{part['__class__']}"}
    text = refuse(tmp_path / "model.coview", planted(content, part, types=sorted(types)), canary)
    assert "Do not use this file" in text or "malformed" in text


def test_keys_of_dictionaries_are_of_plain_types(content, tmp_path, canary):
    """The type of a key is called with the key: it must not be a function of the forger's choice."""
    part = node(
        "DictNode",
        "builtins.dict",
        content={str(canary): json_node(1)},
        key_types=node("ListNode", "builtins.list", content=[node("TypeNode", "os.mkdir")]),
    )
    text = refuse(tmp_path / "model.coview", planted(content, part), canary)
    assert "'os.mkdir' where coview never has it" in text


@pytest.mark.parametrize("protocol", [0, 1, 3, True, "2", None])
def test_only_the_protocol_that_coview_writes_is_read(content, tmp_path, canary, protocol):
    """Older protocols choose older, laxer code of skops."""

    def change(schema):
        schema["protocol"] = protocol

    assert "of skops" in refuse(tmp_path / "model.coview", forge(content, schema=change), canary)


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def with_array(content, data):
    """A model file in which one array has other bytes."""
    inner = unpack(unpack(content)["model.skops"])
    name = next(name for name in inner if name.endswith(".npy"))
    return forge(content, members={name: data})


class Touch:
    def __init__(self, canary):
        self.canary = canary

    def __reduce__(self):
        return (Path.touch, (self.canary,))


def test_arrays_of_objects_are_refused(content, tmp_path, canary):
    data = npy(np.array([Touch(canary)], dtype=object), allow_pickle=True)
    text = refuse(tmp_path / "model.coview", with_array(content, data), canary)
    assert "array of Python objects" in text


@pytest.mark.parametrize(
    "data", [b"", b"\x93NUMPY", b"\x93NUMPY\x09\x00" + bytes(20), npy(np.ones(3))[:-1], npy(np.ones(3)) + b"x"]
)
def test_arrays_that_are_none_are_refused(content, tmp_path, canary, data):
    assert "array" in refuse(tmp_path / "model.coview", with_array(content, data), canary)


def test_an_array_of_a_terabyte_is_refused_before_numpy_makes_room(content, tmp_path, canary):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (300000000000,), }"
    head = header.ljust(117) + "\n"
    data = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(24)
    text = refuse(tmp_path / "model.coview", with_array(content, data), canary)
    assert "2,400,000,000,000 bytes announced" in text


def test_one_identity_cannot_stand_for_two_parts(content, tmp_path, canary):
    """skops builds the first part of an identity wherever it occurs, so a harmless one could stand in for checks."""

    def change(schema):
        arrays = [n for n in walk(schema) if n["__loader__"] == "NdArrayNode" and n.get("type") == "numpy"]
        other = next(n for n in arrays if n["file"] != arrays[0]["file"])
        arrays[0]["__id__"] = other["__id__"] = 77

    assert "one identity" in refuse(tmp_path / "model.coview", forge(content, schema=change), canary)


def test_deep_nesting_is_refused(content, tmp_path, canary):
    part = json_node(1)
    for _ in range(70):
        part = node("ListNode", "builtins.list", content=[part])
    assert "more than 60 deep" in refuse(tmp_path / "model.coview", planted(content, part), canary)


def test_a_schema_deeper_than_json_is_refused(content, tmp_path, canary):
    schema = b'{"protocol": 2, "a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    assert "schema of its model" in refuse(
        tmp_path / "model.coview", forge(content, members={"schema.json": schema}), canary
    )


@pytest.mark.parametrize("schema", [b"", b"[]", b"{}", b'{"protocol": 2}', b"\xff"])
def test_a_schema_that_is_none_is_refused(content, tmp_path, canary, schema):
    refuse(tmp_path / "model.coview", forge(content, members={"schema.json": schema}), canary)


def test_members_that_nothing_refers_to_are_refused(content, tmp_path, canary):
    text = refuse(tmp_path / "model.coview", forge(content, members={"payload.npy": npy(np.ones(2))}), canary)
    assert "'payload.npy', which no part of the model refers to" in text


SHAPES = {
    "value_is_a_list": json_node([1]),
    "value_is_an_object": json_node({"a": 1}),
    "value_is_no_json": node("JsonNode", "builtins.str", content="os.system", is_json=True),
    "value_is_a_number": node("JsonNode", "builtins.str", content=1, is_json=True),
    "list_of_text": node("ListNode", "builtins.list", content=["a"]),
    "list_is_text": node("ListNode", "builtins.list", content="abc"),
    "dict_without_types": node("DictNode", "builtins.dict", content={}),
    "dict_of_fewer_types": {**dictionary(a=json_node(1)), "content": {"a": json_node(1), "b": json_node(2)}},
    "slice_of_text": node("SliceNode", "builtins.slice", content={"start": "a", "stop": None, "step": None}),
    "slice_of_more": node("SliceNode", "builtins.slice", content={"start": 1, "stop": 2, "step": 1, "more": 1}),
    "array_without_file": node("NdArrayNode", "numpy.ndarray", type="numpy", file="nothing.npy"),
    "array_of_another_kind": node("NdArrayNode", "numpy.ndarray", type="scipy", file="nothing.npy"),
    "masked_array_of_less": node("MaskedArrayNode", "numpy.ma.MaskedArray", content={"data": json_node(1)}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_malformed_parts_are_refused(content, tmp_path, canary, name):
    text = refuse(tmp_path / "model.coview", planted(content, SHAPES[name]), canary)
    assert "malformed" in text


def removed(schema):
    """The state of the views is gone."""
    first(schema, "ObjectNode", "Views")["content"] = dictionary()


def swapped(schema):
    """Presence is a text."""
    first(schema, "ObjectNode", "Views")["content"]["content"]["presence"] = json_node("yes")


def emptied(schema):
    first(schema, "ObjectNode", "BayesianCoTrainingClassifier")["content"]["content"]["_average"] = dictionary()


def short(schema):
    """The settings lack a field."""
    state = first(schema, "ObjectNode", "BayesianCoTrainingClassifier")["content"]["content"]["_average"]["content"]
    state["settings"]["content"]["rows"] = json_node("[[1, 2]]")


def another(schema):
    """Another class has the state of the encoder."""
    encoder = first(schema, "ObjectNode", "TableEncoder")
    encoder["__class__"], encoder["__module__"] = "ConcatenateViews", "coview.compose._concatenate"


BLOCK, ENCODER, JOINED = (
    "coview.views._block.Block",
    "coview.compose._table_encoder.TableEncoder",
    "coview.compose._concatenate.ConcatenateViews",
)


@pytest.mark.parametrize(
    ("change", "without", "besides"),
    [
        (removed, {BLOCK}, set()),
        (swapped, set(), set()),
        (emptied, set(), set()),
        (short, set(), set()),
        (another, {ENCODER}, {JOINED}),
    ],
)
def test_state_that_does_not_fit_its_class_is_our_error(content, tmp_path, canary, change, without, besides):
    types = set(json.loads(unpack(content)["manifest.json"])["types"]) - without | besides
    text = refuse(tmp_path / "model.coview", forge(content, schema=change, types=sorted(types)), canary)
    assert "cannot be put together" in text or "another model than its manifest" in text


def test_a_type_off_the_list_is_refused_by_name_even_if_the_manifest_has_it(content, tmp_path, canary):
    part = node("ObjectNode", "sklearn.utils._testing.TempMemmap", content=dictionary())
    types = sorted([*json.loads(unpack(content)["manifest.json"])["types"], "sklearn.utils._testing.TempMemmap"])
    text = refuse(tmp_path / "model.coview", planted(content, part, types=types), canary)
    assert "'sklearn.utils._testing.TempMemmap'" in text
    assert "not on coview's list of trusted types" in text


@pytest.fixture(scope="module")
def boosted(tmp_path_factory):
    """A file of gradient boosting, whose trees scikit-learn follows without looking."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    path = tmp_path_factory.mktemp("boosted") / "boosted.coview"
    save_model(HistGradientBoostingClassifier(max_iter=2, random_state=0).fit(X, X[:, 2] > 0), path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("field", "value"),
    [("left", 10_000), ("right", 0), ("feature_idx", 3), ("feature_idx", -1), ("is_categorical", 1)],
)
def test_trees_that_lead_nowhere_are_refused(boosted, tmp_path, canary, field, value):
    def change(schema):
        files.append(first(schema, "ObjectNode", "TreePredictor")["content"]["content"]["nodes"]["file"])

    files = []
    forge(boosted, schema=change)
    nodes = np.load(io.BytesIO(unpack(unpack(boosted)["model.skops"])[files[0]]))
    assert not nodes["is_leaf"][0]
    nodes[field][0] = value
    text = refuse(tmp_path / "model.coview", forge(boosted, members={files[0]: npy(nodes)}), canary)
    assert "tree whose parts do not fit together" in text


def retyped(nodes):
    """256 as a leaf's mark is no zero here, and zero once scikit-learn has cast it."""
    kinds = [(name, np.uint16 if name == "is_leaf" else nodes.dtype[name]) for name in nodes.dtype.names]
    wide = nodes.astype(kinds)
    wide["is_leaf"][0], wide["left"][0] = 256, 10_000
    return wide


def renamed(nodes):
    """Left and right under each other's names: scikit-learn goes by place."""
    swapped = {"left": "depth", "depth": "left"}
    names = [swapped.get(name, name) for name in nodes.dtype.names]
    return nodes.view(np.dtype([(new, nodes.dtype[old]) for new, old in zip(names, nodes.dtype.names, strict=True)]))


@pytest.mark.parametrize("forgery", [retyped, renamed])
def test_trees_of_another_layout_are_refused(boosted, tmp_path, canary, forgery):
    def change(schema):
        files.append(first(schema, "ObjectNode", "TreePredictor")["content"]["content"]["nodes"]["file"])

    files = []
    forge(boosted, schema=change)
    nodes = np.load(io.BytesIO(unpack(unpack(boosted)["model.skops"])[files[0]]))
    text = refuse(tmp_path / "model.coview", forge(boosted, members={files[0]: npy(forgery(nodes))}), canary)
    assert "tree whose parts do not fit together" in text


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("_preprocessor", node("ObjectNode", "sklearn.preprocessing._data.StandardScaler")),
        ("_preprocessor", dictionary()),
        ("n_features_in_", json_node("100")),
        ("n_features_in_", json_node(True)),
    ],
)
def test_what_stands_before_trees_is_refused(boosted, tmp_path, canary, name, part):
    """Columns could be lost on the way to trees that ask for them."""

    def change(schema):
        first(schema, "ObjectNode", "HistGradientBoostingClassifier")["content"]["content"][name] = part

    types = {*json.loads(unpack(boosted)["manifest.json"])["types"]}
    types |= {f"{part['__module__']}.{part['__class__']}"} if part["__loader__"] == "ObjectNode" else set()
    text = refuse(tmp_path / "model.coview", forge(boosted, schema=change, types=sorted(types)), canary)
    assert "tree whose parts do not fit together" in text


@pytest.fixture(scope="module")
def neighbors(tmp_path_factory):
    """A file of a mean of neighbors, whose rows compiled code reads without looking how wide they are."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    path = tmp_path_factory.mktemp("neighbors") / "neighbors.coview"
    save_model(KNeighborsRegressor(algorithm="brute").fit(X, X[:, 0]), path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("n_features_in_", json_node(3000)),
        ("_fit_method", json_node("kd_tree")),
        ("effective_metric_", json_node("seuclidean")),
        ("effective_metric_", json_node("precomputed")),
        ("_fit_X", node("ListNode", "builtins.list", content=[])),
    ],
)
def test_neighbors_of_another_width_are_refused(neighbors, tmp_path, canary, name, part):
    def change(schema):
        first(schema, "ObjectNode", "KNeighborsRegressor")["content"]["content"][name] = part

    text = refuse(tmp_path / "model.coview", forge(neighbors, schema=change), canary)
    assert "set of neighbors whose parts do not fit together" in text


def test_attributes_in_the_place_of_methods_are_refused(boosted, machine, tmp_path, canary):
    def change(schema):
        root = schema["content"]
        root["content"]["predict"] = json_node(1)
        root["key_types"]["content"].append(node("TypeNode", "builtins.str"))

    for content in (boosted, machine):
        text = refuse(tmp_path / "model.coview", forge(content, schema=change), canary)
        assert "parts do not fit together" in text


def test_a_generator_that_would_take_hours_is_refused(boosted, tmp_path, canary):
    def change(schema):
        first(schema, "RandomGeneratorNode")["content"]["seed_seq"]["content"]["pool_size"] = json_node(1_000_000)

    assert "a random generator" in refuse(tmp_path / "model.coview", forge(boosted, schema=change), canary)


def test_an_array_named_so_often_that_it_fills_the_memory_is_refused(content, tmp_path, canary):
    """Each part that names an array would build it anew."""
    zeros = np.zeros(2**20)

    def copies(count):
        part = node("ListNode", "builtins.list", content=[array_node("zeros.npy") for _ in range(count)])
        return planted(content, part, members={"zeros.npy": npy(zeros)})

    assert "names 'zeros.npy' so often" in refuse(tmp_path / "model.coview", copies(40), canary)


def array_node(file):
    return node("NdArrayNode", "numpy.ndarray", type="numpy", file=file)


def npy_header(head):
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(24)


@pytest.mark.parametrize(
    "head",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,",
        "{'descr': (), 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "-" * 9000 + "3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1" + "0" * 800 + ", 1" + "0" * 800 + ")}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
    ],
)
def test_headers_of_arrays_are_held_at_arms_length(content, tmp_path, canary, head):
    text = refuse(tmp_path / "model.coview", with_array(content, npy_header(head)), canary)
    assert "array" in text
    assert len(text) < 500


@pytest.mark.parametrize("rows", [np.empty((3_000_000, 0)), np.empty((3_000_000, 0), dtype="U1")])
def test_millions_of_rows_without_bytes_are_refused(content, tmp_path, canary, rows):
    """They cost the file nothing, and whoever walks over them minutes."""
    text = refuse(tmp_path / "model.coview", with_array(content, npy(rows)), canary)
    assert "impossible lengths" in text


def test_trees_of_more_columns_than_the_model_are_refused(boosted, tmp_path, canary):
    def narrower(schema):
        boosting = first(schema, "ObjectNode", "HistGradientBoostingClassifier")
        boosting["content"]["content"]["n_features_in_"] = json_node(1)

    def unnamed(schema):
        state = first(schema, "ObjectNode", "HistGradientBoostingClassifier")["content"]["content"]
        state["unheard_"] = state.pop("n_features_in_")

    path = tmp_path / "model.coview"
    for change in (narrower, unnamed):
        assert "tree whose parts do not fit together" in refuse(path, forge(boosted, schema=change), canary)


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A file of a support vector machine, whose compiled code believes the lengths of its arrays."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    path = tmp_path_factory.mktemp("machine") / "machine.coview"
    save_model(SVC().fit(X, np.digitize(X[:, 0], [-0.5, 0.5])), path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("support_", lambda a: a + 10_000),
        ("_n_support", lambda a: a + 10),
        ("_n_support", lambda a: a[:2]),
        ("_dual_coef_", lambda a: a[:, :2]),
        ("_dual_coef_", lambda a: a[:1]),
        ("_intercept_", lambda a: a[:1]),
        ("_probA", lambda a: np.ones(1)),
        ("support_vectors_", lambda a: a[:3]),
        ("support_vectors_", lambda a: a[:, :1]),
        ("kernel", '"precomputed"'),
        ("n_features_in_", "2"),
        ("_sparse", "true"),
    ],
)
def test_machines_whose_arrays_disagree_are_refused(machine, tmp_path, canary, name, change):
    changed = {}

    def forgery(schema):
        part = first(schema, "ObjectNode", "SVC")["content"]["content"][name]
        if isinstance(change, str):
            part["content"] = change
            return
        array = np.load(io.BytesIO(inner[part["file"]]))
        part.pop("__id__", None)
        part["file"] = "changed.npy"
        changed["changed.npy"] = npy(np.ascontiguousarray(change(array)))

    inner = unpack(unpack(machine)["model.skops"])
    forge(machine, schema=forgery)
    text = refuse(tmp_path / "model.coview", forge(machine, schema=forgery, members=changed), canary)
    assert "support vector machine whose parts do not fit together" in text


def test_sparse_rows_that_point_outside_are_refused(tmp_path, canary):
    """Compiled code would read other memory at such columns."""
    rng = np.random.default_rng(0)
    words = sparse.random_array((20, 30), density=0.3, rng=rng, format="csr")
    model = BayesianCoTrainingClassifier("linear", hyperparameters="fixed").fit(
        {"words": words, "more": rng.normal(size=(20, 2))}, ["a", "b"] * 10
    )
    path = tmp_path / "model.coview"
    save_model(model, path)
    content = path.read_bytes()
    files = []

    def change(schema):
        files.append(first(schema, "ObjectNode", "Block")["content"]["content"]["values"]["content"][1]["file"])

    forge(content, schema=change)
    indices = np.load(io.BytesIO(unpack(unpack(content)["model.skops"])[files[0]]))
    indices[3] = 100_000_000
    text = refuse(path, forge(content, members={files[0]: npy(indices)}), canary)
    assert "cannot be put together" in text
