"""What every command says, and where: results on stdout, talk on stderr, JSON as one object."""

import json
import math
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

__all__ = [
    "SCHEMA_VERSION",
    "conversation_options",
    "debugging",
    "json_text",
    "refuse_output",
    "say",
    "silent",
    "write_json",
]

SCHEMA_VERSION = 1

_DEBUG = "coview.debug"
_QUIET = "coview.quiet"
_Command = TypeVar("_Command", bound=Callable[..., Any])


def conversation_options(command: _Command) -> _Command:
    """Add ``--quiet`` and ``--debug`` to a command; both may stand before or after the command's name."""
    debug = click.option(
        "--debug", is_flag=True, expose_value=False, callback=_remember(_DEBUG), help="Show the traceback of an error."
    )
    quiet = click.option(
        "--quiet", is_flag=True, expose_value=False, callback=_remember(_QUIET), help="Print results and errors only."
    )
    return quiet(debug(command))


def _remember(key: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return an option callback that notes a given flag where all contexts of this run see it."""

    def remember(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
        ctx.meta[key] = value or ctx.meta.get(key, False)

    return remember


def debugging(ctx: click.Context) -> bool:
    """Return True where ``--debug`` was given."""
    return bool(ctx.meta.get(_DEBUG, False))


def silent(ctx: click.Context) -> bool:
    """Return True where ``--quiet`` was given."""
    return bool(ctx.meta.get(_QUIET, False))


def say(line: str = "") -> None:
    """Print a line of talk on stderr, unless ``--quiet`` was given."""
    if not silent(click.get_current_context()):
        click.echo(line, err=True)


def refuse_output(path: str | os.PathLike[str], force: bool) -> None:
    """Say before long work that its result could not be written to this file."""
    from coview.files import refuse_unwritable

    try:
        refuse_unwritable(path, overwrite=force)
    except FileExistsError as error:
        raise click.ClickException(f"{error} Give --force to overwrite, or another name.") from error


def write_json(command: str, content: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout: the schema's version, the command, and what it found."""
    click.echo(json_text(command, content))


def json_text(command: str, content: Mapping[str, Any]) -> str:
    """Return that object as text.

    Numbers keep all their digits; those that JSON lacks (NaN, infinity) become null.
    """
    document = {"schema_version": SCHEMA_VERSION, "command": command, **content}
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return the value in JSON's own types; numpy scalars and arrays and pandas columns by their ``tolist``."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return str(value)
