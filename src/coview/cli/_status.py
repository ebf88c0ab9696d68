"""``coview status``: where a campaign stands."""

from pathlib import Path
from typing import Any

import click

from coview.cli._campaigns import money, opened, project_argument
from coview.cli._conversation import conversation_options, write_json
from coview.cli._layout import in_columns
from coview.cli._order_files import shown_views

__all__ = ["status"]

_MOST_SHOWN = 20


@click.command()
@project_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
def status(project: Path, as_json: bool) -> None:
    """Say where a campaign stands: what is open, ordered, back, closed, spent and left."""
    with opened(project, read_only=True) as campaign:
        facts, orders = campaign.status(), campaign.orders
        about = {"project": str(project), "criterion": campaign.criterion, **campaign.notes}
        shown = orders.assign(view=shown_views(campaign, orders["view"]))
    for counts in (facts, facts["labels"]):
        counts.pop("suggested")
    if as_json:
        rows = orders.rename(columns={"event": "order"}).assign(time=orders["time"].map(lambda time: time.isoformat()))
        write_json("status", {**about, **facts, "orders": rows.to_dict("records")})
        return
    click.echo(
        f"{project}: {facts['samples']} samples, views {', '.join(facts['views'])}; {facts['labeled']} labeled by "
        f"'{about.get('target', 'label')}'; criterion {about['criterion']}"
    )
    click.echo(_counts(facts))
    labels = facts["labels"]
    if labels["open"] or labels["booked"] or labels["returned"] or any(labels["closed"].values()):
        click.echo(f"labels: {_counts(labels)}")
    if money(facts):
        click.echo(money(facts))
    if len(orders):
        _print_orders(shown)
    if facts["remark"]:
        click.echo(facts["remark"])


def _counts(facts: dict[str, Any]) -> str:
    """How many are open, booked, returned and closed."""
    closed = ", ".join(f"{outcome} {count}" for outcome, count in facts["closed"].items() if count)
    return f"open {facts['open']}, booked {facts['booked']}, returned {facts['returned']}" + (
        f", {closed}" if closed else ""
    )


def _print_orders(orders: Any) -> None:
    """Print what is booked, the oldest first."""
    rows = [["order", "since", "sample", "view"]]
    for event, time, sample, view in (
        orders[["event", "time", "sample", "view"]].head(_MOST_SHOWN).itertuples(index=False)
    ):
        rows.append([str(event), f"{time:%Y-%m-%d %H:%M}", str(sample), str(view)])
    for line in in_columns(rows, right=False):
        click.echo(line)
    if len(orders) > _MOST_SHOWN:
        click.echo(f"and {len(orders) - _MOST_SHOWN} more")
