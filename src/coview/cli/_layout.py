"""Text in columns, and progress on terminals."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from coview.cli._conversation import silent

__all__ = ["in_columns", "progress_bar"]


def in_columns(rows: Sequence[Sequence[str]], *, right: bool = True) -> list[str]:
    """Return rows as lines whose cells stand below each other; all but the first column to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if not position or not right else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """Yield ``progress(done, total, what)``: a bar on stderr, only where that is a terminal and talk is welcome."""
    if silent(click.get_current_context()) or not sys.stderr.isatty():
        yield lambda done, total, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)
