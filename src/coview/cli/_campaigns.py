"""What the commands of a campaign share: the file, its name for samples and target, and what the list is not."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coview.cli._conversation import say

if TYPE_CHECKING:
    from coview.acquisition import Campaign

__all__ = ["NOTICE", "money", "opened", "project_argument", "say_notice"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

NOTICE = "The order is that of what the model expects to learn; it is no medical advice."

project_argument: Callable[[_Command], _Command] = click.argument(
    "project", type=click.Path(path_type=Path), metavar="PROJECT"
)


def opened(project: Path, *, read_only: bool = False) -> "Campaign":
    """The campaign in a file; one that an older coview wrote is brought up to date first."""
    from coview.acquisition import Campaign
    from coview.storage import ProjectOutdatedError

    try:
        return Campaign.open(project, read_only=read_only)
    except ProjectOutdatedError:
        Campaign.open(project).disconnect()
        say(f"note: {project} was written by an older coview and has been brought up to date.")
        return Campaign.open(project, read_only=True)


def say_notice() -> None:
    """Say what a ranking is not."""
    say(NOTICE)


def money(status: dict[str, Any]) -> str:
    """What is spent, ordered and left, in words; empty without costs."""
    if status["spent"] is None:
        return ""
    budget = "" if status["budget"] is None else f"budget {status['budget']:g}: "
    left = "" if status["left"] is None else f", left {status['left']:g}"
    return f"{budget}spent {status['spent']:g}, ordered {status['ordered']:g}{left}"
