"""Fetched sets of documents: sparse words and links, with rows that are empty."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from coview.datasets._fetched_files import numbered, read_lines, read_sparse, read_table_file, text_index, to_views

__all__ = ["DOCUMENT_READERS", "MISSING_WHERE_EMPTY"]

UNIVERSITIES = ("cornell", "washington", "wisconsin", "texas")
# Sets whose empty rows are missing views unless the caller says otherwise; elsewhere they are observed and empty.
MISSING_WHERE_EMPTY = {"three_sources"}


def _assemble(
    blocks: Mapping[str, sparse.csr_array],
    ids: pd.Index,
    target: pd.Series,
    meta: pd.DataFrame,
    *,
    empty_rows: str,
    columns: Mapping[str, pd.Index] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The views with their empty rows observed or missing, and the table that says which rows are not empty."""
    filled = pd.DataFrame({f"has_{name}": np.diff(block.indptr) > 0 for name, block in blocks.items()}, index=ids)
    mask = filled.to_numpy() if empty_rows == "missing" else np.ones(filled.shape, dtype=np.bool_)
    views = to_views(blocks, ids, columns=columns, presence=mask)
    return {"views": views, "target": target, "meta": meta, "presence": filled, **more}


def _labels(values: pd.Series, ids: pd.Index, name: str) -> pd.Series:
    return pd.Series(values.to_numpy(), index=ids, name=name)


def _citeseer(folder: Path, empty_rows: str) -> dict[str, Any]:
    columns = {view: read_lines(folder / f"{view}_features.txt.gz") for view in ("inbound", "outbound")}
    return _papers(folder, empty_rows, columns)


def _cora(folder: Path, empty_rows: str) -> dict[str, Any]:
    return _papers(folder, empty_rows, {})


def _papers(folder: Path, empty_rows: str, columns: Mapping[str, pd.Index]) -> dict[str, Any]:
    documents = read_table_file(folder / "docs.csv.gz", dtype={"id": "str"})
    ids = text_index(documents["id"])
    return _assemble(
        {view: read_sparse(folder / f"{view}.npz") for view in ("text", "inbound", "outbound")},
        ids,
        _labels(documents["label"], ids, "field"),
        pd.DataFrame(index=ids),
        empty_rows=empty_rows,
        columns=columns,
        cites=read_table_file(folder / "cites.csv.gz", dtype="str"),
    )


def _webkb6(folder: Path, empty_rows: str) -> dict[str, Any]:
    pages = read_table_file(folder / "pages.csv.gz")
    ids = numbered(len(pages), "page")
    return _assemble(
        {view: read_sparse(folder / f"{view}.npz") for view in ("text", "anchor")},
        ids,
        _labels(pages["label"], ids, "kind"),
        pages[["url", "university", "n_inbound_links"]].set_axis(ids, axis=0),
        empty_rows=empty_rows,
        columns={view: read_lines(folder / f"{view}_vocab.txt.gz") for view in ("text", "anchor")},
        links=read_sparse(folder / "inbound_pages.npz"),
    )


def _webkb_course(folder: Path, empty_rows: str) -> dict[str, Any]:
    labels = read_table_file(folder / "labels.csv.gz")
    ids = numbered(len(labels), "page")
    return _assemble(
        {view: read_sparse(folder / f"{view}.npz") for view in ("page", "link")},
        ids,
        _labels(labels["label"], ids, "kind"),
        pd.DataFrame(index=ids),
        empty_rows=empty_rows,
    )


def _universities(names: tuple[str, ...]) -> Callable[[Path, str], dict[str, Any]]:
    """A reader of the pages of some universities, below each other."""

    def read(folder: Path, empty_rows: str) -> dict[str, Any]:
        pages = pd.concat(
            [read_table_file(folder / f"{name}_pages.csv.gz").assign(university=name) for name in names],
            ignore_index=True,
        )
        ids = text_index(pages["id"])
        words = [read_sparse(folder / f"{name}_content.npz") for name in names]
        links = [read_sparse(folder / f"{name}_inbound.npz") for name in names]
        return _assemble(
            {
                "content": sparse.csr_array(sparse.vstack(words, format="csr")),
                "inbound": sparse.csr_array(sparse.block_diag(links, format="csr")),
            },
            ids,
            _labels(pages["label"], ids, "kind"),
            pages[["university"]].set_axis(ids, axis=0),
            empty_rows=empty_rows,
            columns={"inbound": ids},
        )

    return read


def _three_sources(folder: Path, empty_rows: str) -> dict[str, Any]:
    stories = read_table_file(folder / "stories.csv.gz")
    ids = text_index("story-" + stories["story"].astype("str").str.zfill(3))
    agencies = ("bbc", "guardian", "reuters")
    return _assemble(
        {agency: read_sparse(folder / f"{agency}.npz") for agency in agencies},
        ids,
        _labels(stories["label"], ids, "topic"),
        stories[["labels_multi"]].set_axis(ids, axis=0),
        empty_rows=empty_rows,
        columns={agency: read_lines(folder / f"{agency}_terms.txt.gz") for agency in agencies},
    )


def _numbered_views(n_views: int, word: str, target: str) -> Callable[[Path, str], dict[str, Any]]:
    """A reader of files view1.npz, view2.npz, ... with labels beside them."""

    def read(folder: Path, empty_rows: str) -> dict[str, Any]:
        labels = read_table_file(folder / "labels.csv.gz")
        ids = numbered(len(labels), word)
        return _assemble(
            {f"view{number}": read_sparse(folder / f"view{number}.npz") for number in range(1, n_views + 1)},
            ids,
            _labels(labels["label"], ids, target),
            pd.DataFrame(index=ids),
            empty_rows=empty_rows,
        )

    return read


DOCUMENT_READERS: dict[str, Callable[[Path, str], dict[str, Any]]] = {
    "citeseer": _citeseer,
    "cora": _cora,
    "webkb6": _webkb6,
    "webkb_course": _webkb_course,
    "webkb_universities": _universities(UNIVERSITIES),
    **{f"webkb_universities/{name}": _universities((name,)) for name in UNIVERSITIES},
    "three_sources": _three_sources,
    "bbcsport": _numbered_views(2, "article", "sport"),
    "newsgroups5": _numbered_views(3, "message", "group"),
}
