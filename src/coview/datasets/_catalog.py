"""What is known about data that do not come with coview: texts, files, their digests, published figures."""

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import pandas as pd

__all__ = ["CatalogEntry", "catalog", "published_figures"]


@dataclass(frozen=True)
class CatalogEntry:
    """One set of the catalog.

    Attributes
    ----------
    name : str
        ``"uci/wine"`` lies in the folder ``uci``.
    title, about, source, terms : str
        What the data are, their views and target, where they were taken from, on which terms.
    cite : tuple of str
    contents : dict of str to str
        File, relative to the folder of all data, to what it holds.
    digests : dict of str to str
        File to the SHA-256 of its bytes.
    """

    name: str
    title: str
    about: str
    source: str
    terms: str
    cite: tuple[str, ...]
    contents: dict[str, str]
    digests: dict[str, str]

    @property
    def description(self) -> str:
        """Title and contents, as `DESCR` of a set."""
        return f"{self.name}: {self.title}\n\n{self.about.strip()}\n"

    @property
    def origin(self) -> str:
        """Source, terms and whom to cite."""
        cited = "\n".join(f"    {work}" for work in self.cite)
        return f"Origin\n    {self.source}\n\nTerms\n    {self.terms}\n\nPlease cite\n{cited}\n"

    def absent(self, data_dir: Path) -> list[str]:
        """Files that are not there."""
        return [file for file in self.contents if not (data_dir / file).is_file()]

    def changed(self, data_dir: Path) -> list[str]:
        """Files whose bytes are not those that the catalog was made from."""
        return [file for file, digest in self.digests.items() if _sha256(data_dir / file) != digest]


@cache
def catalog() -> dict[str, CatalogEntry]:
    """Every set of the catalog by its name, in its order."""
    folder = files("coview.datasets") / "fetchable"
    facts = tomllib.loads((folder / "catalog.toml").read_text(encoding="utf-8"))
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    digests = {file: digest for digest, file in (line.split("  ", maxsplit=1) for line in lines)}
    return {name: _entry(name, entry, digests) for name, entry in facts.items()}


def _entry(name: str, facts: dict[str, object], digests: dict[str, str]) -> CatalogEntry:
    described = dict(facts)
    contents = described.pop("files")
    cite = described.pop("cite")
    if not isinstance(contents, dict) or not isinstance(cite, list):
        raise ValueError(f"The catalog's entry {name} needs a table 'files' and a list 'cite'.")
    folder = name.split("/")[0]
    located = {f"{folder}/{file}": content for file, content in contents.items()}
    return CatalogEntry(
        name=name,
        cite=tuple(cite),
        contents=located,
        digests={file: digests[file] for file in located},
        **{field: str(text) for field, text in described.items()},
    )


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def published_figures(name: str) -> pd.DataFrame:
    """What papers report on a set: source, setting, method, metric, value, sd (NaN where not given)."""
    with (files("coview.datasets") / "fetchable" / "published.csv").open("rb") as stream:
        table = pd.read_csv(stream)
    is_part = table["name"].str.startswith(f"{name}/")
    return table[(table["name"] == name) | is_part].reset_index(drop=True)
