"""What a skops file would build, read as data and held against the trust list before anything is built."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coview.persistence._arrays import check_array
from coview.persistence._problems import ModelFileError
from coview.persistence._trust import COVIEW_TYPES, KEY_TYPES, LIBRARY_TYPES, PLAIN_TYPES, is_estimator_of_sklearn

__all__ = ["inspect_schema"]

_PROTOCOL = 2
_MAX_DEPTH = 60
_NUMPY_TYPES = frozenset(f"numpy.{kind.__name__}" for kind in np.sctypeDict.values() if kind is not np.object_)
_ARRAY_TYPES = _NUMPY_TYPES | {"numpy.ndarray"}


def inspect_schema(members: Mapping[str, bytes], what: str) -> list[str]:
    """The types that a skops file names, if they and everything else in it are on the list.

    Parameters
    ----------
    members : mapping of str to bytes
        Members of the skops file.
    what : str
        How messages call the file.

    Returns
    -------
    types : list of str
        Of objects, sorted.

    Raises
    ------
    ModelFileError
        Names the first thing that is not allowed.
    """
    schema = _read_schema(members, what)
    inspection = _Inspection(members, what)
    inspection.run(schema)
    unused = sorted(set(members) - inspection.files - {"schema.json"})
    if unused:
        raise ModelFileError(f"{what} holds {unused[0]!r}, which no part of the model refers to. Do not use this file.")
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
            f"{what} follows protocol {protocol!r} of skops, which coview never wrote. Do not use this file."
        )
    return schema


class _Inspection:
    """A walk over the nodes of a schema, without recursion."""

    def __init__(self, members: Mapping[str, bytes], what: str) -> None:
        self.members = members
        self.what = what
        self.types: set[str] = set()
        self.files: set[str] = set()
        self.stack: list[tuple[Any, int]] = []

    def run(self, schema: dict[str, Any]) -> None:
        self.stack = [(schema, 0)]
        while self.stack:
            node, depth = self.stack.pop()
            if depth > _MAX_DEPTH:
                raise ModelFileError(f"{self.what} nests parts more than {_MAX_DEPTH} deep. Do not use this file.")
            if not isinstance(node, dict):
                raise self._malformed("a part", node)
            self._visit(node, depth + 1)

    def _visit(self, node: dict[str, Any], depth: int) -> None:
        kind = node.get("__loader__")
        check = _CHECKS.get(kind) if isinstance(kind, str) else None
        if check is None:
            raise ModelFileError(
                f"{self.what} holds {self._name(node)!r} by a {kind!r}, which could run code. coview never writes this; "
                "do not use this file."
            )
        check(self, node, depth)

    def _name(self, node: dict[str, Any]) -> str:
        return f"{node.get('__module__')}.{node.get('__class__')}"

    def _malformed(self, part: str, value: Any) -> ModelFileError:
        return ModelFileError(f"{self.what} is damaged: {part} of its model is malformed ({str(value)[:80]!r}).")

    def _require(self, node: dict[str, Any], allowed: frozenset[str]) -> None:
        name = self._name(node)
        if name not in allowed:
            raise ModelFileError(f"{self.what} holds {name!r} where coview never has it. Do not use this file.")

    def _push(self, value: Any, depth: int) -> None:
        self.stack.append((value, depth))

    def _push_list(self, value: Any, depth: int) -> None:
        if not isinstance(value, list):
            raise self._malformed("a list", value)
        self.stack += [(item, depth) for item in value]

    def object(self, node: dict[str, Any], depth: int) -> None:
        name = self._name(node)
        if name not in COVIEW_TYPES and name not in LIBRARY_TYPES and not is_estimator_of_sklearn(name):
            raise ModelFileError(
                f"{self.what} holds an object of type {name!r}, which is not on coview's list of trusted types. "
                "Do not use this file unless you know where it comes from; coview does not load it."
            )
        self.types.add(name)
        if node.get("content") is not None:
            self._push(node["content"], depth)

    def dictionary(self, node: dict[str, Any], depth: int) -> None:
        self._require(node, PLAIN_TYPES["DictNode"])
        content, key_types = node.get("content"), node.get("key_types")
        if not isinstance(content, dict) or not isinstance(key_types, dict):
            raise self._malformed("a dictionary", content)
        for key_type in key_types.get("content") or []:
            self._require(key_type if isinstance(key_type, dict) else {}, KEY_TYPES | _NUMPY_TYPES)
        self._push(key_types, depth)
        self.stack += [(value, depth) for value in content.values()]

    def sequence(self, node: dict[str, Any], depth: int) -> None:
        self._require(node, PLAIN_TYPES[node["__loader__"]])
        self._push_list(node.get("content"), depth)

    def scalar(self, node: dict[str, Any], depth: int) -> None:
        content = node.get("content")
        try:
            value = json.loads(content) if isinstance(content, str) else ()
        except (ValueError, RecursionError) as error:
            raise self._malformed("a value", content) from error
        if value is not None and type(value) not in (str, int, float, bool):
            raise self._malformed("a value", content)

    def type(self, node: dict[str, Any], depth: int) -> None:
        self._require(node, KEY_TYPES | _NUMPY_TYPES)

    def array(self, node: dict[str, Any], depth: int) -> None:
        self._require(node, _ARRAY_TYPES)
        if node.get("type") == "json":
            self._push_list(node.get("content"), depth)
            self._push(node.get("shape"), depth)
            return
        name = node.get("file")
        if node.get("type") != "numpy" or not isinstance(name, str) or name not in self.members:
            raise self._malformed("an array", name)
        if name not in self.files:
            check_array(name, self.members[name], self.what)
            self.files.add(name)

    def masked_array(self, node: dict[str, Any], depth: int) -> None:
        self._require(node, PLAIN_TYPES["MaskedArrayNode"])
        content = node.get("content")
        if not isinstance(content, dict) or set(content) != {"data", "mask"}:
            raise self._malformed("a masked array", content)
        self.stack += [(value, depth) for value in content.values()]

    def wrapped(self, node: dict[str, Any], depth: int) -> None:
        self._require(node, PLAIN_TYPES[node["__loader__"]])
        self._push(node.get("content"), depth)

    def slice(self, node: dict[str, Any], depth: int) -> None:
        self._require(node, PLAIN_TYPES["SliceNode"])
        content = node.get("content")
        if not isinstance(content, dict) or set(content) != {"start", "stop", "step"}:
            raise self._malformed("a slice", content)
        if any(value is not None and type(value) is not int for value in content.values()):
            raise self._malformed("a slice", content)


_CHECKS: dict[str, Callable[[_Inspection, dict[str, Any], int], None]] = {
    "ObjectNode": _Inspection.object,
    "DictNode": _Inspection.dictionary,
    "ListNode": _Inspection.sequence,
    "TupleNode": _Inspection.sequence,
    "SetNode": _Inspection.sequence,
    "JsonNode": _Inspection.scalar,
    "TypeNode": _Inspection.type,
    "NdArrayNode": _Inspection.array,
    "MaskedArrayNode": _Inspection.masked_array,
    "DTypeNode": _Inspection.wrapped,
    "RandomStateNode": _Inspection.wrapped,
    "SliceNode": _Inspection.slice,
}
