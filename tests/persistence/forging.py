"""Model files to be tampered with: taken apart, changed, and put together again with checksums that hold."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from coview.compose import TableEncoder
from coview.gaussian_process import BayesianCoTrainingClassifier


def small_tables(n=24, seed=0):
    """Two tables of one cohort, text and numbers, the second without the last samples; and labels, some missing."""
    rng = np.random.default_rng(seed)
    ids = [f"p{i}" for i in range(n)]
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    clinical = pd.DataFrame({"age": sign + rng.normal(size=n), "sex": rng.choice(["f", "m"], n)}, index=ids)
    clinical.loc["p3", "age"] = np.nan
    values = sign[:, None] + rng.normal(size=(n, 3))
    ct = pd.DataFrame(values, columns=["volume", "grade", "depth"], index=ids).iloc[: n - 4]
    labels = np.where(sign > 0, "yes", "no").astype(object)
    labels[::3] = None
    return {"clinical": clinical, "ct": ct}, labels


def small_pipeline():
    """The pipeline that the command line saves, with fixed parameters."""
    tables, labels = small_tables()
    model = BayesianCoTrainingClassifier("rbf", hyperparameters="fixed", view_variances=0.5)
    return Pipeline([("encode", TableEncoder()), ("model", model)]).fit(tables, labels)


def unpack(content):
    """Members of a ZIP file by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members):
    """A plain ZIP file of members, given as a dict or as pairs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items() if isinstance(members, dict) else members:
            archive.writestr(name, content)
    return buffer.getvalue()


def forge(content, *, manifest=None, schema=None, members=None, record=None, types=None):
    """A model file with changes, and a manifest whose checksums hold again.

    ``manifest`` and ``schema`` are functions that change the parsed JSON in place (or return another), arrays that
    nothing refers to any more are left out; ``members`` replaces or adds members of the inner file; ``types`` replaces
    the list of types.
    """
    outer = unpack(content)
    inner = unpack(outer["model.skops"])
    if schema is not None:
        parsed = json.loads(inner["schema.json"])
        parsed = schema(parsed) or parsed
        inner["schema.json"] = json.dumps(parsed).encode()
        used = {node.get("file") for node in walk(parsed)}
        inner = {name: part for name, part in inner.items() if name in used or name == "schema.json"}
    inner |= members or {}
    outer["model.skops"] = pack(inner)
    if record is not None:
        outer["record.json"] = record
    parsed = json.loads(outer["manifest.json"])
    for name in ("record.json", "model.skops"):
        parsed["members"][name] = {"sha256": hashlib.sha256(outer[name]).hexdigest(), "size": len(outer[name])}
    if types is not None:
        parsed["types"] = types
    if manifest is not None:
        parsed = manifest(parsed) or parsed
    outer["manifest.json"] = json.dumps(parsed).encode()
    return pack(outer)


def walk(node):
    """Every node of a schema."""
    if isinstance(node, dict):
        if "__loader__" in node:
            yield node
        for child in node.values():
            yield from walk(child)
    elif isinstance(node, list):
        for child in node:
            yield from walk(child)


def first(schema, kind, name=None):
    """The first node of a kind, and of a class."""
    return next(n for n in walk(schema) if n["__loader__"] == kind and name in (None, n["__class__"]))
