"""``coview acquire``: what to measure next, as a list or as a file that is sent out and comes back."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coview.cli._campaigns import money, opened, project_argument, say_notice
from coview.cli._conversation import conversation_options, refuse_output, say, write_json
from coview.cli._layout import in_columns
from coview.cli._new import CRITERIA
from coview.cli._order_files import (
    FIXED,
    OrderSheet,
    feature_columns,
    format_of,
    label_column,
    label_features,
    label_word,
    refuse_stdout,
    require_workbooks,
    shown_views,
    write_orders,
)

if TYPE_CHECKING:
    import pandas as pd

    from coview.acquisition import Campaign

__all__ = ["acquire"]

_FORMATS = ("table", "csv", "json", "xlsx")
# Of labels alone, beside those of views.
_LABEL_CRITERIA = ("entropy", "margin", "disagreement")


@click.command()
@project_argument
@click.option("-n", "--number", type=click.IntRange(min=1), default=10, help="How many measurements, 10 unless given.")
@click.option(
    "--per-sample", type=click.IntRange(min=1), default=1, help="At most so many of one sample, 1 unless given."
)
@click.option(
    "--kind",
    type=click.Choice(["views", "labels", "both"]),
    default="views",
    help="What to ask for, views unless given.",
)
@click.option(
    "--criterion",
    type=click.Choice([*CRITERIA, *_LABEL_CRITERIA]),
    help="Another than that of the campaign, for once.",
)
@click.option("--by", type=click.Choice(["utility", "utility_per_cost"]), help="What the best are best by.")
@click.option("--booked", is_flag=True, help="What is booked and not back, instead of new measurements.")
@click.option(
    "--format", "format_", type=click.Choice(_FORMATS), help="table unless given; with -o by the name of FILE."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write orders to fill in, and book them."
)
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there already.")
@conversation_options
@click.pass_context
def acquire(
    ctx: click.Context,
    project: Path,
    number: int,
    per_sample: int,
    kind: str,
    criterion: str | None,
    by: str | None,
    booked: bool,
    format_: str | None,
    output: Path | None,
    force: bool,
) -> None:
    """Say which sample should get which missing view, or a label, next.

    Without -o this is a list, and nothing changes. With -o FILE the list becomes orders: FILE has an empty column per feature,
    or for the label, for people to fill in, and what it holds is booked, that is, not suggested again. coview tell reads it back.

    The order is that of what the model expects to learn; it is no medical advice.
    """
    written_as = _check_output(ctx, output, format_, force)
    with opened(project, read_only=output is None) as campaign:
        ranking: dict[str, Any] = {
            "n": number,
            "per_sample": per_sample,
            "kind": kind,
            "by": by,
            "criterion": criterion,
        }
        table = campaign.orders if booked else campaign.ask(**ranking)
        written = output is not None and len(table) > 0
        if output is not None and written:
            table = _written(campaign, output, written_as, force, booked, ranking, table)
        status = campaign.status()
        if not booked:
            say_notice()
        if format_ == "json":
            facts = {"output": str(output) if written else None, "remark": status["remark"], "status": status}
            write_json(
                "acquire", {"project": str(project), "booked": booked or written, **facts, "orders": _plain(table)}
            )
        elif written:
            word = "orders that are booked" if booked else "orders"
            click.echo(f"{len(table)} {word} written to {output}" + ("" if booked else " and booked"))
        else:
            csv = format_ == "csv"
            shown = table if booked or csv else table.assign(why=_reasons(campaign, table, criterion))
            shown = shown.assign(view=shown_views(campaign, shown["view"])).drop(columns="query", errors="ignore")
            _print(shown, status, "csv" if csv else "table")
        if money(status) and format_ != "json":
            say(money(status))
        if written:
            say(f"Send it out; what comes back goes in by: coview tell {project} {output}")


def _reasons(campaign: "Campaign", table: "pd.DataFrame", criterion: str | None) -> list[str]:
    """Why each row of a ranking stands where it stands."""
    if (criterion or campaign.criterion) == "random":
        return ["by chance"] * len(table)
    if not len(table):
        return []
    from coview.inspection import measurement_reasons

    return measurement_reasons(campaign.model, campaign.views, campaign.labeled, table)


def _check_output(ctx: click.Context, output: Path | None, format_: str | None, force: bool) -> str:
    """The kind of file, refused before the work where it could not be written after it."""
    if output is None:
        refuse_stdout(ctx, format_, force)
        return ""
    if str(output) == "-":
        raise click.UsageError(
            "What is written counts as booked, so it needs a file: -o FILE. Leave -o out to look.", ctx
        )
    if format_ == "table":
        raise click.UsageError("Orders are written as csv or xlsx; a table is for reading.", ctx)
    kind = format_ if format_ in ("csv", "xlsx") else format_of(output)
    if kind == "xlsx":
        require_workbooks()
    refuse_output(output, force)
    return kind


def _written(
    campaign: "Campaign",
    output: Path,
    kind: str,
    force: bool,
    booked: bool,
    ranking: dict[str, Any],
    table: "pd.DataFrame",
) -> "pd.DataFrame":
    """Book what is written: the file is whole before the bookings count, and takes its place right after.

    A process that is killed in between leaves bookings without a file, which ``--booked`` writes again.
    """
    from coview.files import writing

    with _undisturbed():
        events: list[int] = []
        try:
            with writing(output, overwrite=force) as stream:
                with campaign.together():
                    if not booked:
                        table = _booked(campaign, campaign.ask(**ranking))  # others may have booked meanwhile
                    rows = table.rename(columns={"event": "order"}).assign(state="", reason="")[list(FIXED)]
                    write_orders(_sheet(campaign, rows), stream, kind)
                    stream.flush()
                    os.fsync(stream.fileno())  # what takes long is done before the bookings count
                events = [] if booked else table["event"].tolist()
        except BaseException:
            _take_back(campaign, events)
            raise
    return table


def _booked(campaign: "Campaign", table: "pd.DataFrame") -> "pd.DataFrame":
    """Book a ranking, and return it with the numbers of its orders."""
    pairs = [
        (sample, None if view is None or view != view else view)
        for sample, view in zip(table["sample"], table["view"], strict=True)
    ]
    for sample, view in pairs:
        campaign.book(sample, view)
    orders = campaign.orders
    numbers = dict(zip(zip(orders["sample"], orders["view"], strict=True), orders["event"], strict=True))
    table = table.copy()
    table.insert(0, "event", [int(numbers[pair]) for pair in pairs])
    return table


def _take_back(campaign: "Campaign", events: list[int]) -> None:
    """Undo bookings whose file could not take its place, unless others went on after them."""
    if not events:
        return
    with campaign.together():
        history = campaign.history
        if history["event"].tolist()[-len(events) :] == events:
            for _ in events:
                campaign.undo()
            return
    say("warning: the orders are booked, but their file could not be written; coview acquire --booked writes it again.")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait until bookings and their file agree."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _sheet(campaign: "Campaign", rows: "pd.DataFrame") -> OrderSheet:
    """Orders with the features that they ask for; columns are called the same in all files of a campaign."""
    features = {view: campaign.features(view) for view in campaign.views.names}
    label = label_column(campaign.notes)
    taken = [*FIXED, campaign.notes.get("target", "label"), campaign.notes.get("id_name", "sample"), label]
    columns = feature_columns({view: table.index.tolist() for view, table in features.items()}, taken)
    word = label_word(campaign)
    columns[word, label] = label
    rows = rows.assign(view=shown_views(campaign, rows["view"]))
    return OrderSheet(rows, columns, features | {word: label_features(campaign)})


def _plain(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Rows as JSON objects, with the numbers of orders where there are any."""
    rows: Any = table.rename(columns={"event": "order"}).to_dict("records")
    return list(rows)


def _print(table: "pd.DataFrame", status: dict[str, Any], kind: str) -> None:
    """Print a list on stdout, or why there is none."""
    table = table.rename(columns={"event": "order"})
    if kind == "csv":
        click.echo(table.to_csv(index=False, lineterminator="\n"), nl=False)
        return
    if not len(table):
        click.echo(status["remark"] or "There is nothing to show.")
        return
    table = table.assign(time=table["time"].dt.strftime("%Y-%m-%d %H:%M")) if "time" in table else table
    table.insert(0, "rank", range(1, len(table) + 1))
    head = {"utility_per_cost": "per cost", "cumulative_cost": "sum"}
    rows = [[head.get(name, name) for name in table.columns]]
    rows += [
        [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row] for row in table.to_numpy(object)
    ]
    for line in in_columns(rows, right=False):
        click.echo(line)
