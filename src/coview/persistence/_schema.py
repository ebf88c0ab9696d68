"""What a skops file would build, read as data and held against the trust list before anything is built."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coview.persistence._arrays import check_array
from coview.persistence._compiled import OTHER, PARTS, check_compiled
from coview.persistence._problems import ModelFileError
from coview.persistence._trust import (
    COVIEW_TYPES,
    ESTIMATORS,
    KEY_TYPES,
    LIBRARY_TYPES,
    PLAIN_TYPES,
    TREE,
)

__all__ = ["inspect_schema"]

_PROTOCOL = 2
_MAX_DEPTH = 60
# An array is built anew for every part that names it: so many times all members, and so many bytes, are allowed.
_MAX_COPIES, _SLACK = 8, 2**26
_POOL_SIZE = "4"  # numpy's own; it takes time with the square of any other
_NUMPY_TYPES = frozenset(f"numpy.{kind.__name__}" for kind in np.sctypeDict.values() if kind is not np.object_)
_ARRAY_TYPES = _NUMPY_TYPES | {"numpy.ndarray"}


def inspect_schema(members: Mapping[str, bytes], what: str, advice: str = "Do not use this file.") -> list[str]:
    """The types that a skops file names, if they and everything else in it are on the list.

    Parameters
    ----------
    members : mapping of str to bytes
        Members of the skops file.
    what : str
        How messages call the file.
    advice : str
        What to do about a part that is not allowed.

    Returns
    -------
    types : list of str
        Of objects, sorted.

    Raises
    ------
    ModelFileError
        Names the first thing that is not allowed.
    """
    inspection = _Inspection(members, what, advice)
    inspection.run(_read_schema(members, what))
    unused = sorted(set(members) - inspection.files - {"schema.json"})
    if unused:
        raise ModelFileError(f"{what} holds {unused[0]!r}, which no part of the model refers to. {advice}")
    compiled = [
        (name, set(attributes), {key: _value(attributes.get(key), members) for key in PARTS[name]})
        for name, attributes in inspection.compiled
    ]
    check_compiled(compiled, what)
    return sorted(inspection.types)


def _read_schema(members: Mapping[str, bytes], what: str) -> dict[str, Any]:
    if "schema.json" not in members:
        raise ModelFileError(f"{what} is damaged: its model has no schema. Fit anew.")
    try:
        schema = json.loads(members["schema.json"])
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} is damaged: the schema of its model cannot be read ({error}).") from error
    if not isinstance(schema, dict):
        raise ModelFileError(f"{what} is damaged: the schema of its model is no object.")
    protocol = schema.get("protocol")
    if type(protocol) is not int or protocol < _PROTOCOL:
        raise ModelFileError(
            f"{what} follows protocol {str(protocol)[:20]!r} of skops, which coview never wrote. Do not use this file."
        )
    if protocol > _PROTOCOL:
        raise ModelFileError(
            f"{what} follows protocol {str(protocol)[:20]} of skops; this coview reads protocol {_PROTOCOL}. Update coview."
        )
    return schema


class _Inspection:
    """A walk over the nodes of a schema, without recursion."""

    def __init__(self, members: Mapping[str, bytes], what: str, advice: str) -> None:
        self.members = members
        self.what = what
        self.advice = advice
        self.types: set[str] = set()
        self.files: set[str] = set()
        self.n_bytes, self.max_bytes = 0, _MAX_COPIES * sum(map(len, members.values())) + _SLACK
        self.compiled: list[tuple[str, dict[str, Any]]] = []
        self.identities: dict[int, dict[str, Any]] = {}
        self.stack: list[tuple[Any, int]] = []

    def run(self, schema: dict[str, Any]) -> None:
        """Visit every node; raises at the first that is not allowed."""
        self.stack = [(schema, 1)]
        while self.stack:
            node, depth = self.stack.pop()
            if depth > _MAX_DEPTH:
                raise ModelFileError(f"{self.what} nests parts more than {_MAX_DEPTH} deep. {self.advice}")
            if not isinstance(node, dict):
                raise self._malformed("a part", node)
            self._check_identity(node)
            kind = node.get("__loader__")
            check = _CHECKS.get(kind) if isinstance(kind, str) else None
            if check is None:
                raise ModelFileError(
                    f"{self.what} holds {_name(node)!r} as a {str(kind)[:40]!r}, which could run code or is unknown to "
                    f"coview. {self.advice}"
                )
            self.stack += [(child, depth + 1) for child in check(self, node)]

    def _check_identity(self, node: dict[str, Any]) -> None:
        """Nodes of one identity are loaded once, from the first of them, so they must not differ."""
        identity = node.get("__id__")
        if identity is None:
            return
        if type(identity) is not int or self.identities.setdefault(identity, node) != node:
            raise ModelFileError(f"{self.what} gives one identity to different parts. {self.advice}")

    def _malformed(self, part: str, value: Any) -> ModelFileError:
        return ModelFileError(f"{self.what} is damaged: {part} of its model is malformed ({str(value)[:80]!r}).")

    def _require(self, node: Any, allowed: frozenset[str]) -> None:
        name = _name(node) if isinstance(node, dict) else str(node)[:80]
        if name not in allowed:
            raise ModelFileError(f"{self.what} holds {name!r} where coview never has it. {self.advice}")

    def _list(self, value: Any, part: str) -> list[Any]:
        if not isinstance(value, list):
            raise self._malformed(part, value)
        return value

    def object(self, node: dict[str, Any]) -> list[Any]:
        name, state = _name(node), node.get("content")
        if name not in COVIEW_TYPES | LIBRARY_TYPES | ESTIMATORS:
            raise ModelFileError(
                f"{self.what} holds an object of type {name!r}, which is not on coview's list of trusted types. {self.advice}"
            )
        self.types.add(name)
        if state is None:
            return []
        if name in PARTS:
            self._note_compiled(name, state)
        return [state]

    def _note_compiled(self, name: str, state: Any) -> None:
        """Remember a fitted object that compiled code will follow, for a look at all of them together."""
        attributes = state.get("content") if isinstance(state, dict) else None
        key_types = state.get("key_types") if isinstance(state, dict) else None
        kinds = key_types.get("content") if isinstance(key_types, dict) else None
        if not isinstance(attributes, dict) or not isinstance(kinds, list):
            raise self._malformed("a tree", state)
        if any(not isinstance(kind, dict) or _name(kind) != "builtins.str" for kind in kinds):
            raise self._malformed("a tree", kinds)
        if name == TREE or not attributes.keys().isdisjoint({"_predictors", "support_", "_fit_X"}):
            self.compiled.append((name, attributes))

    def dictionary(self, node: dict[str, Any]) -> list[Any]:
        self._require(node, PLAIN_TYPES["DictNode"])
        content, key_types = node.get("content"), node.get("key_types")
        if not isinstance(content, dict) or not isinstance(key_types, dict):
            raise self._malformed("a dictionary", content)
        kinds = self._list(key_types.get("content"), "a dictionary")
        if len(kinds) != len(content):
            raise self._malformed("a dictionary", kinds)
        return [key_types, *content.values()]

    def sequence(self, node: dict[str, Any]) -> list[Any]:
        self._require(node, PLAIN_TYPES[node["__loader__"]])
        return self._list(node.get("content"), "a list")

    def scalar(self, node: dict[str, Any]) -> list[Any]:
        content = node.get("content")
        try:
            value = json.loads(content) if isinstance(content, str) else ()
        except (ValueError, RecursionError) as error:
            raise self._malformed("a value", content) from error
        if value is not None and type(value) not in (str, int, float, bool):
            raise self._malformed("a value", content)
        return []

    def kind(self, node: dict[str, Any]) -> list[Any]:
        self._require(node, KEY_TYPES | _NUMPY_TYPES)
        return []

    def array(self, node: dict[str, Any]) -> list[Any]:
        self._require(node, _ARRAY_TYPES)
        if node.get("type") == "json":
            return [node.get("shape"), *self._list(node.get("content"), "an array")]
        name = node.get("file")
        if node.get("type") != "numpy" or not isinstance(name, str) or name not in self.members:
            raise self._malformed("an array", name)
        if name not in self.files:
            check_array(name, self.members[name], self.what)
            self.files.add(name)
        self.n_bytes += len(self.members[name])
        if self.n_bytes > self.max_bytes:
            raise ModelFileError(f"{self.what} names {name!r} so often that it would fill the memory. {self.advice}")
        return []

    def masked_array(self, node: dict[str, Any]) -> list[Any]:
        self._require(node, PLAIN_TYPES["MaskedArrayNode"])
        content = node.get("content")
        if not isinstance(content, dict) or set(content) != {"data", "mask"}:
            raise self._malformed("a masked array", content)
        return list(content.values())

    def wrapped(self, node: dict[str, Any]) -> list[Any]:
        self._require(node, PLAIN_TYPES[node["__loader__"]])
        return [node.get("content")]

    def generator(self, node: dict[str, Any]) -> list[Any]:
        self._require(node, PLAIN_TYPES["RandomGeneratorNode"])
        try:
            content = node["content"]
            name = content["bit_generator"]["content"]["bit_generator"]["content"]
            parts = [content["bit_generator"], content["seed_seq"]]
            pool = content["seed_seq"]["content"]["pool_size"]["content"]
        except (KeyError, TypeError) as error:
            raise self._malformed("a random generator", error) from error
        if name != '"PCG64"' or pool != _POOL_SIZE:
            raise self._malformed("a random generator", name)
        return parts

    def loss(self, node: dict[str, Any]) -> list[Any]:
        self._require(node, PLAIN_TYPES["LossNode"])
        reduced = node.get("__reduce__")
        return [reduced.get("args") if isinstance(reduced, dict) else None, node.get("content")]

    def slice(self, node: dict[str, Any]) -> list[Any]:
        self._require(node, PLAIN_TYPES["SliceNode"])
        content = node.get("content")
        if not isinstance(content, dict) or set(content) != {"start", "stop", "step"}:
            raise self._malformed("a slice", content)
        if any(value is not None and type(value) is not int for value in content.values()):
            raise self._malformed("a slice", content)
        return []


def _name(node: dict[str, Any]) -> str:
    module, name = node.get("__module__"), node.get("__class__")
    return f"{module}.{name}"[:240] if isinstance(module, str) and isinstance(name, str) else "a part without a name"


def _value(node: Any, members: Mapping[str, bytes]) -> Any:
    """Value of a node that has been inspected: an array, a tuple of plain values, or one; ``OTHER`` for any other."""
    kind = node.get("__loader__") if isinstance(node, dict) else None
    if kind == "NdArrayNode" and node.get("type") == "numpy":
        return np.load(io.BytesIO(members[node["file"]]), allow_pickle=False)
    if kind == "TupleNode":
        return tuple(_value(child, members) for child in node["content"])
    return json.loads(node["content"]) if kind == "JsonNode" else OTHER


_CHECKS: dict[str, Callable[[_Inspection, dict[str, Any]], list[Any]]] = {
    "ObjectNode": _Inspection.object,
    "DictNode": _Inspection.dictionary,
    "ListNode": _Inspection.sequence,
    "TupleNode": _Inspection.sequence,
    "SetNode": _Inspection.sequence,
    "JsonNode": _Inspection.scalar,
    "TypeNode": _Inspection.kind,
    "NdArrayNode": _Inspection.array,
    "MaskedArrayNode": _Inspection.masked_array,
    "DTypeNode": _Inspection.wrapped,
    "LossNode": _Inspection.loss,
    "RandomGeneratorNode": _Inspection.generator,
    "RandomStateNode": _Inspection.wrapped,
    "SliceNode": _Inspection.slice,
}
