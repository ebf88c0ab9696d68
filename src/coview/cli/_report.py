"""``coview report``: everything about a fitted model and its predictions for data, or about a campaign, on one page."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coview.cli._campaigns import opened
from coview.cli._conversation import conversation_options, refuse_output, say
from coview.cli._data_options import data_options, read_data
from coview.cli._record import CLUSTERING

if TYPE_CHECKING:
    from coview.files import TableOptions, TableSet
    from coview.persistence import SavedModel
    from coview.report import Report

__all__ = ["report"]

# The first bytes of a campaign's file, which is a database.
_DATABASE = b"SQLite format 3\0"
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
    """Write a page about a model that coview fit wrote, or about a campaign that coview new began.

    From MODEL alone: how well it predicts, which views it trusts, what it was trained on. With DATA, as for coview
    predict, also predictions, the least sure of them and why, a map of the samples, and features; and scores where the
    data have labels that were not in training. From a campaign, which holds its data: what to measure next and whether the
    list can be relied on, what is booked, what came back, and all of that about its model as it is now. The page is one file
    that needs no network.
    """
    from coview.report import render_report

    _check_output(ctx, output, open_, force)
    make = _campaign_page if _is_campaign(model) else _model_page
    page = render_report(make(ctx, model, data))
    if output == "-":
        sys.stdout.buffer.write(page.encode("utf-8"))
        return
    _write(output, page, force)
    say(f"Report written to {output}.")
    if open_:
        import webbrowser

        webbrowser.open(Path(output).absolute().as_uri())


def _is_campaign(path: Path) -> bool:
    """Whether a file is that of a campaign; what cannot be read is left to whoever reads it."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False


def _model_page(ctx: click.Context, model: Path, data: "TableOptions") -> "Report":
    """The report on a fitted model, with data where some are named."""
    from coview.persistence import load_model
    from coview.report import model_report

    if not data.names_data and (data.labels or data.target):
        raise click.UsageError("Labels belong to data: name the DATA too.", ctx)
    saved = load_model(model)
    if saved.record.get("task") == CLUSTERING:
        raise click.ClickException(
            f"{model} holds clusters, whose page coview cluster writes with the clusters: give it --report FILE."
        )
    return model_report(saved, _read(ctx, data, saved) if data.names_data else None)


def _campaign_page(ctx: click.Context, project: Path, data: "TableOptions") -> "Report":
    """The report on a campaign."""
    from coview.report import campaign_report

    if data.names_data or data.labels or data.target:
        raise click.UsageError(
            f"{project} is a campaign and holds its data: name no DATA and no labels beside it.", ctx
        )
    with opened(project, read_only=True) as campaign:
        say(
            "Fitting the model to what is known, and asking it whether its list can be relied on; this may take a minute."
        )
        return campaign_report(campaign)


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
