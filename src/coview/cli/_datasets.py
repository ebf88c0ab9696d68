"""``coview datasets``: list the data that coview knows, describe one set, or write it as CSV files."""

import re
from pathlib import Path
from typing import Any

import click

from coview.cli._conversation import conversation_options, say, write_json

__all__ = ["datasets"]


@click.command()
@click.argument("name", required=False)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Folder to write NAME's tables into."
)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with the files of a set that does not come with coview.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are there already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
@click.pass_context
def datasets(
    ctx: click.Context, name: str | None, output: Path | None, source: Path | None, force: bool, as_json: bool
) -> None:
    """List the data that come with coview, and those that it can read if you have them.

    With NAME, describe that one; with NAME and --output, write its tables as CSV files and a coview.toml, so that
    coview check, fit and predict take the folder as it is.
    """
    if output is not None and name is None:
        raise click.UsageError("--output needs the NAME of the data to write.", ctx)
    if force and output is None:
        raise click.UsageError("--force says to overwrite files in a folder given by --output.", ctx)
    if source is not None and output is None:
        raise click.UsageError("--from says where to read the data that --output writes.", ctx)

    from coview.datasets import bundled_names, fetch_names

    bundled, fetchable = bundled_names(), fetch_names()
    if name is None:
        _list(bundled, fetchable, as_json)
    elif name not in bundled + fetchable:
        names = ", ".join(bundled + fetchable)
        raise click.BadParameter(f"there is no '{name}'; the names are {names}.", ctx, param_hint="'NAME'")
    elif name in bundled and source is not None:
        raise click.UsageError(f"'{name}' comes with coview; leave out --from.", ctx)
    elif output is None:
        _describe(name, name in bundled, as_json)
    elif name in fetchable and source is None:
        raise click.UsageError(f"'{name}' does not come with coview; --from says where its files are.", ctx)
    else:
        _write(name, source, output, force, as_json)


def _list(bundled: list[str], fetchable: list[str], as_json: bool) -> None:
    """Print one line per data set, or its facts as JSON."""
    from coview.datasets import describe_fetchable, summarize

    summaries = [summarize(name) for name in bundled]
    others = [describe_fetchable(name) for name in fetchable]
    if as_json:
        write_json("datasets", {"datasets": summaries, "fetchable": others})
        return
    _print_table([("name", "samples", "views", "target", "licence"), *map(_row, summaries)])
    click.echo()
    _print_table([("if you have it", "contents", "from"), *map(_fetchable_row, others)])
    say()
    say("Write one as CSV files with: coview datasets NAME -o FOLDER")
    say("The lower ones do not come with coview; coview datasets NAME says where they come from.")


def _print_table(rows: list[tuple[str, ...]]) -> None:
    """Print rows of cells in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _row(summary: dict[str, Any]) -> tuple[str, ...]:
    """Return a data set's cells of the list; a view's number of features stands behind it."""
    views = ", ".join(f"{view} ({facts['n_features']})" for view, facts in summary["views"].items())
    return summary["name"], str(summary["n_samples"]), views, ", ".join(summary["classes"]), summary["licence"]


def _fetchable_row(facts: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of a set that does not come with coview; of where it comes from, the place without the version."""
    return facts["name"], facts["title"], re.split(", commit | [(]|; ", facts["source"].removeprefix("https://"))[0]


def _describe(name: str, is_bundled: bool, as_json: bool) -> None:
    """Print what the data are, where they come from and on what terms; the files of a set that one must have."""
    from coview.datasets import describe_fetchable, load_bundled, summarize

    if as_json:
        kind, facts = ("datasets", summarize(name)) if is_bundled else ("fetchable", describe_fetchable(name))
        write_json("datasets", {kind: [facts]})
        return
    facts = load_bundled(name) if is_bundled else describe_fetchable(name)
    click.echo(facts["DESCR"].rstrip())
    click.echo()
    click.echo(facts["origin"].rstrip())
    if not is_bundled:
        click.echo("\nFiles that it is read from, below the folder given as --from")
        _print_table([("  " + file, contents) for file, contents in facts["files"].items()])


def _write(name: str, source: Path | None, folder: Path, force: bool, as_json: bool) -> None:
    """Write the tables and say which files came to be."""
    from coview.datasets import fetch, load_bundled, write_csv

    bunch = load_bundled(name) if source is None else fetch(name, source)
    try:
        files = write_csv(bunch, folder, overwrite=force)
    except FileExistsError as error:
        raise click.ClickException(f"{error} Give --force to overwrite, or another folder.") from error
    if as_json:
        write_json("datasets", {"name": name, "files": files})
        return
    for file in files:
        click.echo(file)
    say()
    say(f"Look at them with: coview check {folder}")
