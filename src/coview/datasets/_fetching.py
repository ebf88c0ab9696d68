"""Data that cannot come with coview, read from a folder the user has; nothing is downloaded."""

import os
from pathlib import Path
from typing import Any, Literal

from sklearn.utils import Bunch

from coview.datasets._catalog import CatalogEntry, catalog, published_figures
from coview.datasets._documents import DOCUMENT_READERS, MISSING_WHERE_EMPTY, UNIVERSITIES
from coview.datasets._measurements import MEASUREMENT_READERS

__all__ = ["describe_fetchable", "fetch", "fetch_names"]


def fetch_names() -> list[str]:
    """Names that `fetch` knows.

    Returns
    -------
    names : list of str
        ``"uci/wine"`` and the like lie together in one folder; so do the parts of ``"webkb_universities"``.

    Examples
    --------
    >>> from coview.datasets import fetch_names
    >>> fetch_names()[:3]
    ['citeseer', 'cora', 'webkb6']
    """
    return [part for name in catalog() for part in (name, *_parts(name))]


def _parts(name: str) -> list[str]:
    return [f"{name}/{university}" for university in UNIVERSITIES] if name == "webkb_universities" else []


def describe_fetchable(name: str) -> dict[str, Any]:
    """What a set that does not come with coview is, where it comes from, and which files it needs.

    Parameters
    ----------
    name : str
        One of `fetch_names`.

    Returns
    -------
    facts : dict
        ``name``, ``title``, ``DESCR``, ``source``, ``licence`` (the terms as far as they are known), ``origin`` (a
        text of all this, with whom to cite), ``files`` (file, relative to the folder of all data -> what it holds).

    Raises
    ------
    ValueError
        If there is no such set.

    Examples
    --------
    >>> from coview.datasets import describe_fetchable
    >>> describe_fetchable("uci/wine")["files"]
    {'uci/wine.csv.gz': '13 columns and label'}
    """
    entry = _entry(name)
    part = name.removeprefix(entry.name).removeprefix("/")
    return {
        "name": name,
        "title": f"the part '{part}' of {entry.name}" if part else entry.title,
        "DESCR": entry.description,
        "source": entry.source,
        "licence": entry.terms,
        "origin": entry.origin,
        "files": dict(entry.contents),
    }


def fetch(
    name: str,
    data_dir: str | os.PathLike[str],
    *,
    empty_rows: Literal["observed", "missing"] | None = None,
    verify: bool = True,
) -> Bunch:
    """Read a data set that does not come with coview from files that you have.

    Terms that are unclear or forbid it, or size, keep these sets out of the package. Nothing is downloaded: the files
    must lie below ``data_dir`` in a folder named after the set, in the forms that `describe_fetchable` lists.

    Parameters
    ----------
    name : str
        One of `fetch_names`.
    data_dir : str or path
        The folder that holds a folder per set.
    empty_rows : {"observed", "missing"}, default=None
        For documents: whether an all-zero row is an observed view without a word or link in it, or a missing view.
        None is the reading of the set's source: missing for ``three_sources``, observed for all others.
    verify : bool, default=True
        Compare the files' SHA-256 with those that the descriptions and published figures were checked against.

    Returns
    -------
    bunch : Bunch
        ``views`` (Views by sample id) or, where cells are words or have gaps, ``frames`` (one DataFrame per view over
        the samples that have it; encode them with `coview.compose.TableEncoder`); ``target`` (Series by sample id, NaN
        where unlabeled); ``meta`` (DataFrame by sample id); ``presence`` (documents only: DataFrame of ``has_VIEW``,
        False where the row is empty); ``target_names``, ``published`` (DataFrame of what papers report on it), ``name``,
        ``DESCR``, ``origin``, ``licence``. Some sets have more (``cites``, ``links``), as their ``DESCR`` says.

    Raises
    ------
    ValueError
        If there is no such set, ``empty_rows`` is given for a set without sparse views, or a file's bytes are not
        the expected ones.
    FileNotFoundError
        If files are missing; the message names them, what they hold, and where they come from.

    Examples
    --------
    >>> from coview.datasets import fetch
    >>> fetch("citeseer", "no-such-folder")
    Traceback (most recent call last):
    ...
    FileNotFoundError: Data set 'citeseer' needs files that are not in no-such-folder:
        citeseer/docs.csv.gz  row, id, label
        ...
    """
    entry = _entry(name)
    folder = Path(data_dir)
    _check_files(entry, folder, verify=verify)
    place = folder / name.split("/")[0]
    if name in DOCUMENT_READERS:
        default = "missing" if name in MISSING_WHERE_EMPTY else "observed"
        contents = DOCUMENT_READERS[name](place, _checked_choice(empty_rows) or default)
    elif empty_rows is not None:
        raise ValueError(f"empty_rows is for sets with sparse views; '{name}' has none. Leave it out.")
    else:
        contents = MEASUREMENT_READERS[name](place)
    return Bunch(
        name=name,
        target_names=sorted(contents["target"].dropna().unique().tolist()),
        published=published_figures(name),
        DESCR=entry.description,
        origin=entry.origin,
        licence=entry.terms,
        **contents,
    )


def _entry(name: str) -> CatalogEntry:
    if name not in fetch_names():
        raise ValueError(f"name must be one of {', '.join(fetch_names())}; got {name!r}.")
    return catalog().get(name) or catalog()[name.split("/")[0]]


def _checked_choice(empty_rows: str | None) -> str | None:
    if empty_rows not in ("observed", "missing", None):
        raise ValueError(f"empty_rows must be 'observed', 'missing' or None; got {empty_rows!r}.")
    return empty_rows


def _check_files(entry: CatalogEntry, folder: Path, *, verify: bool) -> None:
    """Raise where files are missing or differ."""
    if absent := entry.absent(folder):
        width = max(map(len, absent))
        listed = "\n".join(f"    {file.ljust(width)}  {entry.contents[file]}" for file in absent)
        raise FileNotFoundError(
            f"Data set '{entry.name}' needs files that are not in {folder}:\n{listed}\n"
            f"coview does not download. The data come from {entry.source}; terms: {entry.terms}. They must be brought into "
            "this form (.npz by scipy.sparse.save_npz or numpy.savez, .csv.gz with a header and empty cells for "
            "missing values, .txt.gz with one item a line; rows are samples, in one order)."
        )
    if verify and (changed := entry.changed(folder)):
        raise ValueError(
            f"These files of data set '{entry.name}' in {folder} are not the ones that its description was checked "
            f"against (SHA-256 differs): {', '.join(changed)}. With verify=False they are read all the same."
        )
