"""``coview datasets``: list the bundled data, describe one set, or write it as CSV files."""

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
@click.option("--force", is_flag=True, help="Overwrite files that are there already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
@click.pass_context
def datasets(ctx: click.Context, name: str | None, output: Path | None, force: bool, as_json: bool) -> None:
    """List the data that come with coview.

    With NAME, describe that one; with NAME and --output, write its tables as CSV files.
    """
    if output is not None and name is None:
        raise click.UsageError("--output needs the NAME of the data to write.", ctx)
    if force and output is None:
        raise click.UsageError("--force says to overwrite files in a folder given by --output.", ctx)

    from coview.datasets import bundled_names

    names = bundled_names()
    if name is None:
        _list(names, as_json)
    elif name not in names:
        raise click.BadParameter(f"there is no '{name}'; the names are {', '.join(names)}.", ctx, param_hint="'NAME'")
    elif output is None:
        _describe(name, as_json)
    else:
        _write(name, output, force, as_json)


def _list(names: list[str], as_json: bool) -> None:
    """Print one line per data set, or its facts as JSON."""
    from coview.datasets import summarize

    summaries = [summarize(name) for name in names]
    if as_json:
        write_json("datasets", {"datasets": summaries})
        return
    rows = [("name", "samples", "views", "target", "licence"), *map(_row, summaries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    say()
    say("Write one as CSV files with: coview datasets NAME -o FOLDER")


def _row(summary: dict[str, Any]) -> tuple[str, ...]:
    """Return a data set's cells of the list; a view's number of features stands behind it."""
    views = ", ".join(f"{view} ({facts['n_features']})" for view, facts in summary["views"].items())
    return summary["name"], str(summary["n_samples"]), views, ", ".join(summary["classes"]), summary["licence"]


def _describe(name: str, as_json: bool) -> None:
    """Print what the data are, where they come from and on what terms."""
    from coview.datasets import load_bundled, summarize

    if as_json:
        write_json("datasets", {"datasets": [summarize(name)]})
        return
    bunch = load_bundled(name)
    click.echo(bunch.DESCR.rstrip())
    click.echo()
    click.echo(bunch.origin.rstrip())


def _write(name: str, folder: Path, force: bool, as_json: bool) -> None:
    """Write the tables and say which files came to be."""
    from coview.datasets import load_bundled, write_csv

    try:
        files = write_csv(load_bundled(name), folder, overwrite=force)
    except FileExistsError as error:
        raise click.ClickException(f"{error} Give --force to overwrite, or another folder.") from error
    if as_json:
        write_json("datasets", {"name": name, "files": files})
        return
    for file in files:
        click.echo(file)
