"""``coview backup``: a copy of a campaign while it is in use."""

from pathlib import Path

import click

from coview.cli._campaigns import opened, project_argument
from coview.cli._conversation import conversation_options

__all__ = ["backup"]


@click.command()
@project_argument
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@conversation_options
def backup(project: Path, file: Path) -> None:
    """Copy a campaign to a new file, whoever uses it meanwhile."""
    with opened(project, read_only=True) as campaign:
        campaign.backup(file)
    click.echo(f"{project} copied to {file}")
