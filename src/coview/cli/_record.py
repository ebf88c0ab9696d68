"""What a model file tells about how its model came to be: no times, no folders, so that the same fit gives the same bytes."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import PurePath
from platform import python_version
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from coview.files import TableSet
    from coview.views import Finding

__all__ = ["CLUSTERING", "cluster_record", "command_line", "fit_record", "summarized"]

#: The task of a model that coview cluster wrote.
CLUSTERING = "clustering"

_SCHEMA_VERSION = 1
_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")
# Said anew each time and of no weight for the model.
_LEFT_OUT = {"output", "force", "as_json", "jobs", "print_config", "newick", "report", "model"}
_FILES = {"data", "view_columns", "id_map", "config"}


def fit_record(
    table_set: "TableSet", *, task: str, method: str, seed: int, command: str, findings: Sequence["Finding"]
) -> dict[str, Any]:
    """Return the record of a fit, before it is evaluated; everything in JSON's own types."""
    labels = table_set.labels
    if labels is None:
        raise ValueError("A fit needs labels.")
    counts: dict[str, int] = {}
    if task == "classification":
        counts = {
            str(label): int(count) for label, count in labels.dropna().value_counts(sort=False).sort_index().items()
        }
    return {
        "schema_version": _SCHEMA_VERSION,
        "task": task,
        "method": method,
        "target": table_set.target or "",
        "id_name": table_set.id_name,
        "seed": seed,
        "command": command,
        "classes": list(counts),
        "class_counts": counts,
        "n_samples": table_set.tables.n_samples,
        "n_labeled": int(labels.count()),
        "views": _views(table_set),
        "patterns": _patterns(table_set),
        "findings": _findings(findings, table_set),
        "guesses": _guesses(table_set),
        "evaluation": None,
        "verdict": [],
        "versions": _versions(),
    }


def cluster_record(table_set: "TableSet", *, command: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of clusters; ``facts`` are those that the command prints."""
    kept = ("method", "seed", "n_clusters", "n_clusters_by", "sizes", "n_outside", "notes")
    return {
        "schema_version": _SCHEMA_VERSION,
        "task": CLUSTERING,
        "target": table_set.target or "",
        "id_name": table_set.id_name,
        "command": command,
        "n_samples": table_set.tables.n_samples,
        "views": _views(table_set),
        "guesses": _guesses(table_set),
        **{name: facts[name] for name in kept},
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    import coview

    own = {"coview": coview.__version__, "python": python_version()}
    return own | {package: version(package) for package in _PACKAGES}


def _findings(findings: Sequence["Finding"], table_set: "TableSet") -> list[dict[str, Any]]:
    """Return findings as plain data; files in them without their folders."""
    plain = []
    paths = sorted(
        {file.path for file in table_set.files}, key=str, reverse=True
    )  # the longer of two alike comes first
    for finding in findings:
        texts = {"message": finding.message, "advice": finding.advice}
        for path in paths:
            texts = {name: text.replace(str(path), path.name) for name, text in texts.items()}
        plain.append(asdict(finding) | texts | {"columns": list(finding.columns), "ids": list(finding.ids)})
    return plain


def _views(table_set: "TableSet") -> dict[str, dict[str, Any]]:
    """Return size and file of every view."""
    from coview.views import view_summary

    summary = view_summary(table_set.tables)
    files = {file.name: file.path.name for file in table_set.files}
    only = table_set.files[0].path.name if table_set.files else ""  # one table that was cut into views
    return {
        str(name): {
            "n_columns": int(row["n_columns"]),
            "n_samples": int(row["n_samples"]),
            "file": files.get(str(name), only),
        }
        for name, row in summary.to_dict("index").items()
    }


def _patterns(table_set: "TableSet") -> list[dict[str, Any]]:
    """Return which views occur together, how often, and with how many labels."""
    from coview.views import presence_summary

    names = table_set.tables.names
    summary = presence_summary(table_set.tables, table_set.labels)
    return [
        {
            "views": [name for name, here in zip(names, row, strict=False) if here],
            "n_samples": int(row[len(names)]),
            "n_labeled": int(row[len(names) + 1]),
        }
        for row in summary.itertuples(index=False, name=None)
    ]


def _guesses(table_set: "TableSet") -> dict[str, dict[str, str]]:
    """Return what was found out about every file, under its name."""
    guesses: dict[str, dict[str, str]] = {}
    for file in table_set.files:
        name = file.path.name + (f"#{file.sheet}" if file.sheet else "")
        if name in guesses:  # of another folder
            name = f"{name} ({file.name})"
        guesses[name] = {what: str(value) for what, value in file.guesses.items()}
    return guesses


def command_line(ctx: click.Context, *, output: str = "MODEL") -> str:
    """Return the command as it would be typed beside the data: what was given, without folders and without the output."""
    words = ["coview", str(ctx.info_name)]
    for parameter in ctx.command.params:
        name = str(parameter.name)
        given = ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and parameter.expose_value and name not in _LEFT_OUT:
            words += _words(parameter, ctx.params[name])
    return shlex.join([*words, "-o", output])


def _words(parameter: click.Parameter, value: Any) -> list[str]:
    """Return one parameter as words of a command line."""
    values = value if isinstance(value, tuple) else (value,)
    shown = [_without_folder(str(parameter.name), str(item)) for item in values]
    if isinstance(parameter, click.Argument):
        return shown
    option = max(parameter.opts, key=len)
    return [option] if value is True else [word for item in shown for word in (option, item)]


def _without_folder(name: str, value: str) -> str:
    """Return a file's name alone, where the parameter names one."""
    if name in _FILES:
        return PurePath(value).name
    if name == "labels":
        file, colon, column = value.rpartition(":")
        return PurePath(file).name + colon + column if file and "/" not in column else PurePath(value).name
    if name == "view":
        view, equals, file = value.partition("=")
        return view + equals + PurePath(file).name
    return value


def summarized(record: Mapping[str, Any]) -> str:
    """Return one line about the data of a fit."""
    views = ", ".join(f"{name} {facts['n_samples']}" for name, facts in record["views"].items())
    labels = ", ".join(f"{label} {count}" for label, count in record["class_counts"].items())
    return (
        f"{record['n_samples']} samples, {len(record['views'])} view{'s' * (len(record['views']) != 1)} ({views}); "
        f"{record['n_labeled']} labeled by '{record['target']}'{': ' if labels else ''}{labels}"
    )
