"""How every command is told about data: the same arguments, the same talk about what was read."""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coview.cli._conversation import say

if TYPE_CHECKING:
    from coview.files import FileTable, TableOptions, TableSet
    from coview.views import Finding

__all__ = ["data_options", "read_data", "table_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_MOST_FINDINGS = 10
_USUAL = {("decimal", '"."'), ("encoding", "UTF-8"), ("header", "line 1"), ("header", "row 1")}  # not worth a word

_OPTIONS = [
    click.argument("data", nargs=-1, metavar="[DATA]..."),
    click.option("--view", multiple=True, metavar="NAME=FILE[#SHEET]", help="One view and its file; repeat."),
    click.option("--view-columns", metavar="FILE", help="TOML file: which columns of the one table make which view."),
    click.option("--id", multiple=True, metavar="[VIEW:]COL", help="Column of the sample ids, for all or one view."),
    click.option(
        "--leave-out", multiple=True, metavar="[VIEW:]COL", help="Column, or pattern, that is no feature; repeat."
    ),
    click.option("--labels", metavar="FILE[:COL]", help="File of the labels, and their column."),
    click.option("--target", metavar="COL", help="Column of the labels, in their file or in a table."),
    click.option("--task", type=click.Choice(["auto", "classification", "regression"]), help="How labels are read."),
    click.option("--sep", metavar="CHARACTER", help="Separator of columns in text files; found out unless given."),
    click.option("--decimal", metavar="CHARACTER", help="Decimal mark; found out unless given."),
    click.option("--encoding", metavar="NAME", help="Encoding of text files; found out unless given."),
    click.option("--na", multiple=True, metavar="MARK", help='Mark of a missing value; repeat; "" for none but empty.'),
    click.option("--id-map", metavar="FILE", help="Which sample an id of which view means."),
    click.option(
        "--duplicates",
        type=click.Choice(["error", "first", "last", "drop"]),
        help="Which row counts where a view has several for a sample; error unless given.",
    ),
    click.option(
        "--almost-equal",
        type=click.Choice(["keep", "join"]),
        help="Whether ids that differ in spelling only are one sample; keep unless given.",
    ),
    click.option("--config", metavar="FILE", help="Read this instead of coview.toml beside the data."),
    click.option("--print-config", is_flag=True, help="Print what all of this comes to as coview.toml, and stop."),
]
_NAMES = [
    "data", "view", "view_columns", "id", "leave_out", "labels", "target", "task", "sep", "decimal", "encoding", "na", "id_map",
    "duplicates", "almost_equal", "config",
]  # fmt: skip


def data_options(command: _Command) -> _Command:
    """Add DATA and the options about data to a command, which receives them as one keyword ``data: TableOptions``."""

    @functools.wraps(command)
    def with_data(*args: Any, **params: Any) -> Any:
        given = {name: params.pop(name) for name in _NAMES}
        print_config = params.pop("print_config")
        options = table_options(given)
        if print_config:
            return _print_config(options)
        return command(*args, data=options, **params)

    decorated: Any = with_data
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def table_options(params: Mapping[str, Any]) -> "TableOptions":
    """What the user said on the command line, completed by ``coview.toml``.

    Parameters
    ----------
    params : dict
        The values of the options that `data_options` adds, by name.

    Returns
    -------
    options : TableOptions
    """
    from coview.files import TableOptions, with_config

    for text in params["view"]:
        name, _, file = text.partition("=")
        if not name.strip() or not file:
            raise click.BadParameter(f"'{text}' is not NAME=FILE or NAME=FILE#SHEET.", param_hint="'--view'")
    options = TableOptions(**{**params, "na": params["na"] or None})
    return with_config(options) if options.names_data else options


def _print_config(options: "TableOptions") -> None:
    """Print all of it as ``coview.toml``; its paths start here."""
    from coview.files import data_toml

    say("Save this here as coview.toml; the paths in it start from this folder.")
    click.echo(data_toml(options), nl=False)


def read_data(
    ctx: click.Context,
    data: "TableOptions",
    *,
    strict: bool = True,
    labels: bool = True,
    ignored: Sequence[str] = (),
    unsaid: Collection[str] = (),
    errors: bool = True,
) -> "TableSet":
    """Read the data, and say on stderr what was found out about them.

    Parameters
    ----------
    ctx : Context
    data : TableOptions
    strict : bool, default=True
        Whether the first error ends the command (see `coview.files.read_table_set`).
    labels : bool, default=True
        False leaves the labels alone, where only features are wanted.
    ignored : sequence of str, default=()
        Columns that are left out of any table that has them, such as the target a model was fitted to.
    unsaid : collection of str, default=()
        Codes of findings that are of no weight for the command.
    errors : bool, default=True
        False does not say what is wrong, where the caller ends with it.

    Returns
    -------
    table_set : TableSet
    """
    from coview.files import read_table_set

    if not data.names_data:
        raise click.UsageError(
            "Name the data: one or several files, a folder with coview.toml, or --view NAME=FILE.", ctx
        )
    if data.config is not None:
        say(f"settings from {data.config}")
    table_set = read_table_set(data if labels else data.without_labels(), strict=strict, ignored=ignored)
    say_files(table_set)
    _say_samples(table_set)
    _say_findings([f for f in table_set.findings if f.code not in unsaid and (errors or f.level != "error")])
    return table_set


def say_files(table_set: "TableSet") -> None:
    """One line per file: the name it goes by, where it is, its size, and what was guessed."""
    files = table_set.files
    rows = [(file.name, file.path.name + (f"#{file.sheet}" if file.sheet else "")) for file in files]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for file, row in zip(files, rows, strict=True):
        name, place = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        told = [(what, value) for what, value in file.guesses.items() if (what, value) not in _USUAL]
        guesses = ", ".join(f"{what} {value}" for what, value in told)
        say(f"{name}  {place}  {_size(file)}{'; ' if guesses else ''}{guesses}")


def _size(file: "FileTable") -> str:
    n_rows, n_columns = file.shape or (0, 0)
    return f"{n_rows} row{'s' * (n_rows != 1)}, {n_columns} column{'s' * (n_columns != 1)}"


def _say_samples(table_set: "TableSet") -> None:
    """How many samples, views and labels there are."""
    tables = table_set.tables
    line = f"{tables.n_samples} samples, {len(tables.tables)} view{'s' * (len(tables.tables) != 1)}"
    if table_set.labels is not None:
        line += f"; {int(table_set.labels.count())} labeled in '{table_set.target}'"
    say(line)


def _say_findings(findings: Sequence["Finding"]) -> None:
    """The worst findings, one paragraph each."""
    for finding in findings[:_MOST_FINDINGS]:
        say(f"{finding.level}: {finding.message} {finding.advice}".rstrip())
    if len(findings) > _MOST_FINDINGS:
        say(f"and {len(findings) - _MOST_FINDINGS} more; coview check shows all")
