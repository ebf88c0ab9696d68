"""``coview undo``: take back what was done last."""

from pathlib import Path
from typing import Any

import click

from coview.cli._campaigns import money, opened, project_argument
from coview.cli._conversation import conversation_options, say, write_json

__all__ = ["undo"]


@click.command()
@project_argument
@click.option("-n", "--number", type=click.IntRange(min=1), default=1, help="How many steps, 1 unless given.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
def undo(project: Path, number: int, as_json: bool) -> None:
    """Take back the last step that counts: a booking, an answer, a closing, or a label.

    Each row that coview tell took in, and each order that coview acquire booked, is a step. All of them are taken back or none.
    """
    with opened(project) as campaign:
        with campaign.together():
            undone = [campaign.undo() for _ in range(number)]
        status = campaign.status()
    if as_json:
        write_json("undo", {"project": str(project), "undone": undone, "status": status})
        return
    for step in undone:
        click.echo(f"taken back: {_shown(step)}")
    if money(status):
        say(money(status))


def _shown(step: dict[str, Any]) -> str:
    """One step in words."""
    what = {"booked": "order", "returned": "values", "closed": "closing", "labeled": "label"}[step["action"]]
    number = f" {step['event']}" if step["action"] == "booked" else ""
    of_label = step["action"] in ("booked", "closed") and step.get("view") is None
    view = f", {step['view']}" if step.get("view") is not None else ", label" if of_label else ""
    detail = step.get("outcome") or step.get("label")
    return f"{what}{number} of {step['sample']}{view}" + (f" ({detail})" if detail is not None else "")
