"""How every command is told about data: the same arguments, the same talk about what was read."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coview.cli._conversation import say

if TYPE_CHECKING:
    from coview.files import FileTable, TableOptions, TableSet
    from coview.views import Finding

__all__ = ["data_options", "read_data", "table_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_MOST_FINDINGS = 10

_OPTIONS = [
    click.argument("data", nargs=-1, metavar="[DATA]..."),
    click.option("--view", multiple=True, metavar="NAME=FILE[#SHEET]", help="One view and its file; repeat."),
    click.option("--view-columns", metavar="FILE", help="TOML file: which columns of the one table make which view."),
    click.option("--id", multiple=True, metavar="[VIEW:]COL", help="Column of the sample ids, for all or one view."),
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
    "data", "view", "view_columns", "id", "labels", "target", "task", "sep", "decimal", "encoding", "na", "id_map",
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


def table_options(params: dict[str, Any]) -> "TableOptions":
    """What the user said, on the command line and in ``coview.toml``."""
    from coview.files import TableOptions

    for text in params["view"]:
        if not text.partition("=")[0].strip() or not text.partition("=")[2]:
            raise click.BadParameter(f"'{text}' is not NAME=FILE or NAME=FILE#SHEET.", param_hint="'--view'")
    return TableOptions(**{**params, "na": params["na"] or None})


def _print_config(options: "TableOptions") -> None:
    raise click.UsageError("--print-config is not here yet.")


def read_data(ctx: click.Context, data: "TableOptions", *, strict: bool = True, labels: bool = True) -> "TableSet":
    """Read the data, and say on stderr what was found out about them.

    Parameters
    ----------
    ctx : Context
    data : TableOptions
    strict : bool, default=True
        Whether the first error ends the command (see `coview.files.read_table_set`).
    labels : bool, default=True
        False leaves the labels alone, where only features are wanted.

    Returns
    -------
    table_set : TableSet
    """
    from coview.files import read_table_set

    if not data.names_data:
        raise click.UsageError(
            "Name the data: one or several files, a folder with coview.toml, or --view NAME=FILE.", ctx
        )
    table_set = read_table_set(data if labels else data.without_labels(), strict=strict)
    _say_files(table_set.files)
    _say_samples(table_set)
    _say_findings(table_set.findings)
    return table_set


def _say_files(files: Sequence["FileTable"]) -> None:
    """One line per file: the name it goes by, where it is, and what was guessed."""
    rows = [(file.name, file.path.name + (f"#{file.sheet}" if file.sheet else "")) for file in files]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for file, row in zip(files, rows, strict=True):
        guesses = ", ".join(f"{what} {value}" for what, value in file.guesses.items())
        say("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=True)), guesses]).rstrip())


def _say_samples(table_set: "TableSet") -> None:
    tables = table_set.tables
    line = f"{tables.n_samples} samples, {len(tables.tables)} views"
    if table_set.labels is not None:
        line += f", {table_set.labels.count()} labeled by '{table_set.target}'"
    say(line)


def _say_findings(findings: Sequence["Finding"]) -> None:
    for finding in findings[:_MOST_FINDINGS]:
        say(f"{finding.level}: {finding.message} {finding.advice}".rstrip())
    if len(findings) > _MOST_FINDINGS:
        say(f"and {len(findings) - _MOST_FINDINGS} more; coview check shows all")
