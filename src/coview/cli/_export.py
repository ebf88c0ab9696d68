"""``coview export``: the data of a campaign as they are known now, or its history, as tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from coview.cli._campaigns import opened, project_argument
from coview.cli._conversation import conversation_options, refuse_output, say
from coview.cli._order_files import (
    FORMATS,
    WORKBOOK,
    format_of,
    refuse_stdout,
    require_workbooks,
    sheet_name,
    write_csv,
)

if TYPE_CHECKING:
    import pandas as pd

    from coview.acquisition import Campaign

__all__ = ["export"]


@click.command()
@project_argument
@click.option("--history", is_flag=True, help="What happened, a row per step, instead of the data.")
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write; stdout unless given, or for '-'.")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="By the name of FILE unless given; else csv.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there already.")
@conversation_options
@click.pass_context
def export(ctx: click.Context, project: Path, history: bool, output: str, format_: str | None, force: bool) -> None:
    """Write the data of a campaign as they are known now, in the columns of their owner.

    As CSV one table: the sample, its label, and a column view__feature for every feature, which coview reads as its views. As
    XLSX a sheet per view, the labels, and the history.
    """
    kind = format_ or (format_of(Path(output)) if output != "-" else "csv")
    if output == "-":
        refuse_stdout(ctx, kind, force)
    else:
        refuse_output(output, force)
    if kind == "xlsx":
        require_workbooks()
    with opened(project, read_only=True) as campaign:
        tables = {} if history else _tables(campaign)
        labels, steps = _labels(campaign), _history(campaign)
    table = steps if history else _one_table(labels, tables)
    if output == "-":
        click.echo(table.to_csv(lineterminator="\n"), nl=False)
        return
    from coview.files import writing

    with writing(output, overwrite=force) as stream:
        if kind == "csv":
            write_csv(table, stream)
        else:
            sheets = [("history", steps)] if history else [("labels", labels), *tables.items(), ("history", steps)]
            _write_workbook(sheets, stream)
    say(f"{project} written to {output}")


def _labels(campaign: "Campaign") -> "pd.DataFrame":
    """The labels by sample, under the names that both have in the data."""
    import pandas as pd

    views = campaign.views
    samples = views.index if views.has_ids else pd.RangeIndex(len(views))
    labels = pd.Series(campaign.y, index=samples, dtype=object).where(campaign.labeled)
    notes = campaign.notes
    return labels.to_frame(notes.get("target", "label")).rename_axis(notes.get("id_name", "sample"))


def _tables(campaign: "Campaign") -> dict[str, "pd.DataFrame"]:
    """A table per view, by sample."""
    id_name = campaign.notes.get("id_name", "sample")
    return {view: table.apply(_whole).rename_axis(id_name) for view, table in campaign.tables.items()}


def _one_table(labels: "pd.DataFrame", tables: dict[str, "pd.DataFrame"]) -> "pd.DataFrame":
    """Labels and views side by side, columns of views called view__feature."""
    import pandas as pd

    parts = [labels, *(table.add_prefix(f"{view}__") for view, table in tables.items())]
    return pd.concat([part.reindex(labels.index) for part in parts], axis=1)


def _whole(column: "pd.Series") -> "pd.Series":
    """Numbers without fractions as integers, since told ones are kept as float."""
    if column.dtype.kind != "f" or column.dropna().mod(1).any():
        return column
    return column.astype("Int64")


def _history(campaign: "Campaign") -> "pd.DataFrame":
    """What happened, values as text."""
    table = campaign.history
    table["time"] = table["time"].map(lambda time: time.isoformat())
    table["values"] = table["values"].map(lambda cells: "" if cells is None else "; ".join(map(_cell, cells)))
    return table.set_index("event")


def _cell(cell: Any) -> str:
    return "" if cell is None else f"{cell:.17g}" if isinstance(cell, float) else str(cell)


def _write_workbook(sheets: list[tuple[str, "pd.DataFrame"]], stream: BinaryIO) -> None:
    """A sheet per table."""
    import pandas as pd

    used: set[str] = set()
    with pd.ExcelWriter(stream, engine="xlsxwriter", engine_kwargs={"options": WORKBOOK}) as book:
        for name, table in sheets:
            table.to_excel(book, sheet_name=sheet_name(name, used))
