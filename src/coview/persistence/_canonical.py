"""The same model as the same bytes: a skops file without addresses, random names and dates."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

from coview.persistence._archive import write_archive

__all__ = ["canonical_archive", "schema_nodes"]

# Only objects and arrays are one and the same thing wherever they occur; equal numbers and texts need no identity.
_SHARED = ("ObjectNode", "NdArrayNode")


def canonical_archive(data: bytes) -> bytes:
    """A skops file with the same content, in which names and identities come from the content alone.

    Parameters
    ----------
    data : bytes
        As skops writes them: members and identities are named by memory addresses.

    Returns
    -------
    canonical : bytes
        Loadable by skops as well. Arrays of equal content are stored once.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop("schema.json"))
    names = {name: _content_name(name, content) for name, content in members.items()}
    nodes = list(schema_nodes(schema))
    for node in nodes:
        if "file" in node:
            node["file"] = names[node["file"]]
        if node.get("__loader__") == "SetNode":
            node["content"] = sorted(node["content"], key=_order_in_set)
    _number_identities(nodes)
    contents = {names[name]: content for name, content in members.items()}
    text = json.dumps(schema, separators=(",", ":")).encode("ascii")
    return write_archive({"schema.json": text, **dict(sorted(contents.items()))})


def schema_nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every node of a schema, parents first, in the order of the file; keys of stored dictionaries are no nodes."""
    stack: list[tuple[Any, bool]] = [(schema, True)]
    while stack:
        item, maybe_node = stack.pop()
        if isinstance(item, list):
            stack += [(child, True) for child in reversed(item)]
        elif isinstance(item, dict):
            is_node = maybe_node and "__loader__" in item
            if is_node:
                yield item
            plain = is_node and item["__loader__"] == "DictNode"
            stack += [(child, not (plain and key == "content")) for key, child in reversed(item.items())]


def _content_name(name: str, content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()[:32]}.{name.rpartition('.')[2]}"


def _order_in_set(node: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in node.items() if key != "__id__"}, sort_keys=True)


def _number_identities(nodes: list[dict[str, Any]]) -> None:
    """Number objects and arrays that occur several times; all others lose their identity."""
    counts = Counter(node["__id__"] for node in nodes if node["__loader__"] in _SHARED and "__id__" in node)
    numbers: dict[int, int] = {}
    for node in nodes:
        identity = node.pop("__id__", None)
        if node["__loader__"] in _SHARED and counts[identity] > 1:
            node["__id__"] = numbers.setdefault(identity, len(numbers) + 1)
