"""The program around the commands: options that hold for all, errors in one shape, exit codes.

Exit codes: 0 done, 1 failed (data, files, a fault), 2 misuse, 130 interrupted.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

import coview
from coview.cli._acquire import acquire
from coview.cli._backup import backup
from coview.cli._bench import bench
from coview.cli._check import check
from coview.cli._cluster import cluster
from coview.cli._conversation import conversation_options, debugging
from coview.cli._datasets import datasets
from coview.cli._demo import demo
from coview.cli._export import export
from coview.cli._fit import fit
from coview.cli._new import new
from coview.cli._predict import predict
from coview.cli._report import report
from coview.cli._reproduce import reproduce
from coview.cli._status import status
from coview.cli._tell import tell
from coview.cli._undo import undo

__all__ = ["main", "program", "run"]

_EXPECTED_ERRORS = (ValueError, OSError, ImportError)


class Program(click.Group):
    """A group of commands whose failures are one plain message; with ``--debug`` the traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, turning an error into a message that says what failed."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if debugging(ctx):
                raise
            raise click.ClickException(explain_failure(error)) from error


def explain_failure(error: Exception) -> str:
    """Return the message for an error: its own words where it was raised for the user, else what to do about it."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, _EXPECTED_ERRORS) and str(error):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    words = f"{type(error).__name__}: {error}".rstrip(": .")
    return f"{words}. This is a fault in coview; --debug shows where it happened."


@click.group(
    cls=Program,
    no_args_is_help=False,  # a missing command is misuse: exit code 2 with every version of click
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(coview.__version__, prog_name="coview", message="%(prog)s %(version)s")
@conversation_options
@click.pass_context
def program(ctx: click.Context) -> None:
    """Learn from samples that are described by several views, with views missing and labels few."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False


program.add_command(demo)
program.add_command(datasets)
program.add_command(check)
program.add_command(fit)
program.add_command(predict)
program.add_command(cluster)
program.add_command(report)
program.add_command(new)
program.add_command(acquire)
program.add_command(tell)
program.add_command(status)
program.add_command(undo)
program.add_command(backup)
program.add_command(export)
program.add_command(reproduce)
program.add_command(bench)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The words after ``coview``; those of the process if None.

    Returns
    -------
    exit_code : int
        0 done, 1 failed, 2 misuse, 130 interrupted.
    """
    try:
        outcome = program.main(
            args=None if arguments is None else list(arguments), prog_name="coview", standalone_mode=False
        )
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("Interrupted.", err=True)
        return 130
    except BrokenPipeError:
        _silence_stdout()
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    return outcome if isinstance(outcome, int) else 0


def _silence_stdout() -> None:
    """Send what is still buffered nowhere: the reader of the pipe has gone, and Python flushes once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    sys.exit(run())
