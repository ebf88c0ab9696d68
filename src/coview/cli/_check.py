"""``coview check``: what a user's files hold, and what may be wrong with them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from coview.cli._conversation import conversation_options, write_json
from coview.cli._data_options import data_options

if TYPE_CHECKING:
    from coview.files import FileTable, TableOptions, TableSet
    from coview.views import Finding

__all__ = ["check"]

_WIDTH = 80
_LEVELS = {"error": "red", "warning": "yellow", "note": "cyan"}
_MOST_ROWS = 20  # patterns and classes shown


@click.command()
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
@click.pass_context
def check(ctx: click.Context, data: "TableOptions", as_json: bool) -> None:
    """Say what DATA hold and what may be wrong with them.

    Shows the files and how they were read, the views and who has them, the labels, and everything that would stop a
    fit, may spoil it, or is worth knowing. Exits with 1 if there are errors.
    """
    if not data.names_data:
        raise click.UsageError(
            "Name the data: one or several files, a folder with coview.toml, or --view NAME=FILE.", ctx
        )
    document, findings = _read(data, keep_failure=as_json)
    if as_json:
        write_json("check", document)
    else:
        _show(document, findings)
    if document["counts"]["error"]:
        ctx.exit(1)


def _read(data: "TableOptions", *, keep_failure: bool) -> tuple[dict[str, Any], list["Finding"]]:
    """The whole result, and its findings; a failure to read anything is a finding where JSON is asked for."""
    from coview.files import read_table_set
    from coview.views import Finding, find_problems, merge_findings

    try:
        table_set = read_table_set(data, strict=False)
    except (ValueError, OSError) as error:
        if not keep_failure:
            raise
        findings = [Finding("unreadable_data", "error", str(error))]
        return {**_NOTHING, **_findings_part(findings)}, findings
    findings = merge_findings(table_set.findings, find_problems(table_set.tables, table_set.labels))
    return {**_describe(table_set), **_findings_part(findings)}, findings


_NOTHING: dict[str, Any] = {
    "n_samples": 0, "id_name": None, "files": [], "views": [], "patterns": [],
    "overlap": {"views": [], "n_samples": []}, "labels": None,
}  # fmt: skip


def _findings_part(findings: Sequence["Finding"]) -> dict[str, Any]:
    counts = Counter(finding.level for finding in findings)
    return {
        "findings": [asdict(finding) for finding in findings],
        "counts": {level: counts[level] for level in ("error", "warning", "note")},
    }


def _describe(table_set: "TableSet") -> dict[str, Any]:
    """Files, views, patterns, overlap and labels as plain data."""
    from coview.views import label_summary, presence_summary, view_overlap, view_summary

    tables, labels = table_set.tables, table_set.labels
    files = {file.name: file for file in table_set.files}
    views = [
        {"name": name, "file": _file_of(name, files), **facts}
        for name, facts in view_summary(tables).to_dict(orient="index").items()
    ]
    patterns = [
        {
            "views": [name for name in tables.names if row[name]],
            "n_samples": row["n_samples"],
            "n_labeled": row.get("n_labeled"),
        }
        for row in presence_summary(tables, labels).to_dict(orient="records")
    ]
    overlap = {"views": tables.names, "n_samples": view_overlap(tables).to_numpy().tolist()}
    return {
        "n_samples": tables.n_samples,
        "id_name": table_set.id_name,
        "files": [_describe_file(file) for file in table_set.files],
        "views": views,
        "patterns": patterns,
        "overlap": overlap,
        "labels": None if labels is None else {"target": table_set.target, **label_summary(labels)},
    }


def _file_of(view: Any, files: Mapping[str, "FileTable"]) -> str | None:
    """The file that a view stands in, as far as names tell."""
    file = files.get(view) or (next(iter(files.values())) if len(files) == 1 else None)
    return None if file is None else _place(file)


def _place(file: "FileTable") -> str:
    return file.path.name + (f"#{file.sheet}" if file.sheet else "")


def _describe_file(file: "FileTable") -> dict[str, Any]:
    n_rows, n_columns = file.shape or (0, 0)
    return {
        "name": file.name,
        "path": str(file.path),
        "sheet": file.sheet,
        "n_rows": n_rows,
        "n_columns": n_columns,
        "id_column": file.id_column,
        "guesses": dict(file.guesses),
    }


def _show(document: Mapping[str, Any], findings: Sequence["Finding"]) -> None:
    """Print the result as text."""
    for file in document["files"]:
        _show_file(file)
    click.echo()
    _show_views(document)
    _show_patterns(document)
    _show_overlap(document["overlap"])
    if document["labels"] is not None:
        _show_labels(document["labels"])
    for alike in _grouped(findings):
        _show_findings(alike)
    counts = document["counts"]
    click.echo(", ".join(f"{counts[level]} {level}{'s' * (counts[level] != 1)}" for level in _LEVELS))


def _show_file(file: Mapping[str, Any]) -> None:
    """The path and size of a file, and below it what was found out about it."""
    sheet = f"#{file['sheet']}" if file["sheet"] else ""
    click.echo(f"{file['path']}{sheet}: {_counted(file['n_rows'], 'row')}, {_counted(file['n_columns'], 'column')}")
    guesses = ", ".join(f"{what} {value}" for what, value in file["guesses"].items())
    if guesses:
        click.echo(_wrapped(guesses, "   "))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _wrapped(text: str, indent: str, first: str | None = None) -> str:
    return click.wrap_text(text, _WIDTH, indent if first is None else first, indent)


def _show_table(rows: Sequence[Sequence[str]], *, left: int = 1, indent: str = "") -> None:
    """Print aligned columns, the first ``left`` of them flush left, the others flush right; then an empty line."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        click.echo((indent + "  ".join(cells)).rstrip())
    click.echo()


def _show_views(document: Mapping[str, Any]) -> None:
    click.echo(f"{_counted(document['n_samples'], 'sample')}, {_counted(len(document['views']), 'view')}")
    rows: list[tuple[str, ...]] = [("view", "file", "numbers", "categories", "texts", "samples", "gaps")]
    for view in document["views"]:
        gaps = f"{view['n_gaps']} ({view['gap_share']:.1%})" if view["n_gaps"] else "-"
        counts = (str(view[key] or "-") for key in ("n_numbers", "n_categories", "n_texts", "n_samples"))
        rows.append((_short(str(view["name"])), _short(view["file"] or "", 24), *counts, gaps))
    if _width_of(rows) > _WIDTH - 3:  # the files stand above, by the names of their views
        rows = [(row[0], *row[2:]) for row in rows]
        _show_table(rows, indent="   ")
    else:
        _show_table(rows, left=2, indent="   ")


def _width_of(rows: Sequence[Sequence[str]]) -> int:
    """Characters that a table takes."""
    return sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True)) - 2


def _short(name: str, limit: int = 20) -> str:
    return name if len(name) <= limit else name[: limit - 3] + "..."


def _show_patterns(document: Mapping[str, Any]) -> None:
    """Which views go together, and how often."""
    names, patterns = document["overlap"]["views"], document["patterns"]
    if len(names) < 2:
        return
    heads = _heads(names)
    labeled = [("labeled",)] if document["labels"] is not None else []
    rows = [("samples", *(head for (head,) in labeled), *heads)]
    for pattern in patterns[:_MOST_ROWS]:
        marks = ("x" if name in pattern["views"] else "." for name in names)
        counts = [str(pattern["n_samples"])] + [str(pattern["n_labeled"])] * len(labeled)
        rows.append((*counts, *marks))
    click.echo(f"who has which views (x has, . lacks{', by number as listed above' * (heads != list(names))})")
    _show_table(rows, left=0, indent="   ")
    if len(patterns) > _MOST_ROWS:
        click.echo(f"   and {len(patterns) - _MOST_ROWS} rarer patterns\n")


def _heads(names: Sequence[str]) -> list[str]:
    """Heads of one column per view: the names, or numbers where the names take too much room."""
    total = sum(len(name) + 2 for name in names)
    return list(names) if total <= _WIDTH - 22 else [str(place) for place in range(1, len(names) + 1)]


def _show_overlap(overlap: Mapping[str, Any]) -> None:
    """Samples shared by each two views."""
    names = overlap["views"]
    if len(names) < 2:
        return
    click.echo("samples that two views share")
    rows = [("", *_heads(names))]
    rows += [
        (_short(name), *(str(count) for count in counts))
        for name, counts in zip(names, overlap["n_samples"], strict=True)
    ]
    _show_table(rows, indent="   ")


def _show_labels(labels: Mapping[str, Any]) -> None:
    of = labels["n_labeled"] + labels["n_unlabeled"]
    click.echo(f"labels '{labels['target']}': {labels['n_labeled']} of {of} samples labeled, {labels['task']}")
    if labels["classes"] is not None:
        classes = sorted(labels["classes"].items(), key=lambda item: -item[1])
        rows = [("class", "labels"), *((_short(name, 40), str(count)) for name, count in classes[:_MOST_ROWS])]
        _show_table(rows, indent="   ")
        if len(classes) > _MOST_ROWS:
            click.echo(f"   and {len(classes) - _MOST_ROWS} rarer classes\n")
    elif labels["values"] is not None:
        parts = ", ".join(f"{name} {value:.6g}" for name, value in labels["values"].items())
        click.echo(f"   {parts}\n")


def _grouped(findings: Sequence["Finding"]) -> list[list["Finding"]]:
    """Findings of one kind with the same advice side by side, in the order of the first of them."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.level, finding.code, finding.advice), []).append(finding)
    return list(groups.values())


def _show_findings(alike: Sequence["Finding"]) -> None:
    """Level and messages of findings of one kind, then their advice."""
    for finding in alike:
        first = f"{finding.level}: "
        text = _wrapped(f"{first}{finding.message} [{finding.code}]", "   ", "")
        click.echo(click.style(first, fg=_LEVELS[finding.level], bold=True) + text.removeprefix(first))
    if alike[0].advice:
        click.echo(_wrapped(alike[0].advice, "   "))
    click.echo()
