"""``coview report``: everything about a fitted model, and its predictions for data, on one page."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coview.cli._conversation import conversation_options, refuse_output, say
from coview.cli._data_options import data_options, read_data

if TYPE_CHECKING:
    from coview.files import TableOptions, TableSet
    from coview.persistence import SavedModel

__all__ = ["report"]

# What makes labels useless for a fit, but not for a report on a model that is fitted already.
_HARMLESS = {"one_class"}


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@data_options
@click.option(
    "-o", "--output", metavar="FILE", default="report.html", show_default=True, help="Where to write; '-' for stdout."
)
@click.option("--open", "open_", is_flag=True, help="Show the page in the browser.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there already.")
@conversation_options
@click.pass_context
def report(ctx: click.Context, model: Path, data: "TableOptions", output: str, open_: bool, force: bool) -> None:
    """Write a page about a model that coview fit wrote.

    From MODEL alone: how well it predicts, which views it trusts, what it was trained on. With DATA, as for coview
    predict, also predictions, the least sure of them and why, a map of the samples, and features; and scores where the
    data have labels that were not in training. The page is one file that needs no network.
    """
    from coview.persistence import load_model
    from coview.report import model_report, render_report

    _check_output(ctx, output, open_, force)
    if not data.names_data and (data.labels or data.target):
        raise click.UsageError("Labels belong to data: name the DATA too.", ctx)
    saved = load_model(model)
    table_set = _read(ctx, data, saved) if data.names_data else None
    page = render_report(model_report(saved, table_set))
    if output == "-":
        sys.stdout.buffer.write(page.encode("utf-8"))
        return
    _write(output, page, force)
    say(f"Report written to {output}.")
    if open_:
        import webbrowser

        webbrowser.open(Path(output).absolute().as_uri())


def _check_output(ctx: click.Context, output: str, open_: bool, force: bool) -> None:
    """Refuse before the work what could not be written after it."""
    if output == "-":
        if open_ or force:
            raise click.UsageError("--open and --force are about a file given by -o FILE.", ctx)
        return
    refuse_output(output, force)


def _read(ctx: click.Context, data: "TableOptions", saved: "SavedModel") -> "TableSet":
    """The data with their labels, read the way the model's labels were."""
    task = data.task or saved.record.get("task")
    table_set = read_data(ctx, replace(data, task=task), strict=False)
    errors = [f for f in table_set.findings if f.level == "error" and f.code not in _HARMLESS]
    if errors:
        raise click.ClickException("\n".join(f"{f.message} {f.advice}".strip() for f in errors[:5]))
    return table_set


def _write(output: str, page: str, force: bool) -> None:
    """Write beside and rename."""
    from coview.files import write_whole

    write_whole(output, page, overwrite=force)
