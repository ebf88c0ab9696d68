"""The program around the commands: exit codes, errors in one shape, what goes to which stream, start-up."""

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points

import click
import numpy as np
import pytest

import coview
from coview.cli import main, program
from coview.cli._conversation import conversation_options, say, write_json
from coview.cli._program import run
from coview.exceptions import ViewError

HEAVY = ["numpy", "pandas", "scipy", "sklearn", "matplotlib", "jinja2", "joblib", "skops"]


@pytest.fixture
def command():
    """Register a command named ``probe`` that does what a test says, and take it away afterwards."""

    def register(body):
        @click.command("probe")
        @conversation_options
        def probe():
            body()

        program.add_command(probe)

    yield register
    program.commands.pop("probe", None)


def raising(error):
    def body():
        raise error

    return body


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"coview {coview.__version__}\n"


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_names_every_command(capsys, word):
    assert run([word]) == 0
    out = capsys.readouterr().out
    assert "Usage: coview" in out
    for name, command in program.commands.items():
        assert name in out
        assert command.help


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["--no-such-option"], ["datasets", "--no-such-option"]])
def test_misuse_exits_2_and_says_so_on_stderr(capsys, arguments):
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Usage: coview" in captured.err
    assert "Error: " in captured.err


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ViewError("View 'ct' has no rows."), "Error: View 'ct' has no rows.\n"),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), "Error: a.csv: No such file or directory.\n"),
        (ImportError("pip install coview[excel]"), "Error: pip install coview[excel]\n"),
        (np.linalg.LinAlgError("not definite"), "Error: not definite\n"),
        (MemoryError(), "Error: There is not enough memory for this.\n"),
        (KeyError("x"), "Error: KeyError: 'x'. This is a fault in coview; --debug shows where it happened.\n"),
        (RuntimeError("No."), "Error: RuntimeError: No. This is a fault in coview; --debug shows where it happened.\n"),
        (ValueError(), "Error: ValueError. This is a fault in coview; --debug shows where it happened.\n"),
    ],
)
def test_failure_exits_1_with_one_line_and_no_traceback(capsys, command, error, message):
    command(raising(error))
    assert run(["probe"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == message


@pytest.mark.parametrize("arguments", [["--debug", "probe"], ["probe", "--debug"]])
def test_debug_shows_the_traceback(capsys, command, arguments):
    command(raising(ViewError("View 'ct' has no rows.")))
    assert run(arguments) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.endswith("coview.exceptions.ViewError: View 'ct' has no rows.\n")


def test_interrupt_exits_130_without_traceback(capsys, command):
    command(raising(KeyboardInterrupt()))
    assert run(["probe"]) == 130
    err = capsys.readouterr().err
    assert "Interrupted." in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "talk"), [(["probe"], "working\n"), (["--quiet", "probe"], ""), (["probe", "--quiet"], "")]
)
def test_talk_goes_to_stderr_and_quiet_stops_it(capsys, command, arguments, talk):
    command(lambda: (say("working"), click.echo("result")))
    assert run(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out == "result\n"
    assert captured.err == talk


def test_json_is_one_object_with_full_numbers_and_null_for_nan(capsys, command):
    content = {"x": np.float64(0.1) + 0.2, "bad": [np.nan, float("inf")], "n": np.int64(3), "a": np.eye(2), "é": None}
    command(lambda: write_json("probe", content))
    assert run(["probe"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema_version": 1,
        "command": "probe",
        "x": 0.30000000000000004,
        "bad": [None, None],
        "n": 3,
        "a": [[1.0, 0.0], [0.0, 1.0]],
        "é": None,
    }


@pytest.mark.parametrize(("value", "colored"), [("1", False), ("", True)])
def test_no_color_is_obeyed_where_it_is_not_empty(capsys, monkeypatch, command, value, colored):
    monkeypatch.setenv("NO_COLOR", value)
    monkeypatch.setattr("click._compat._default_text_stdout", lambda: sys.stdout)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    command(lambda: click.echo(click.style("result", fg="red")))
    assert run(["probe"]) == 0
    assert ("\x1b[31m" in capsys.readouterr().out) is colored


# a whole process with a command of its own
PROBE = """
import os, signal, sys
import click
from coview.cli import main, program
program.add_command(click.Command("probe", callback={body}))
sys.argv = ["coview", "probe"]
main()
"""


def python(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, **options)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["demo", "--help"], ["datasets", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys\nfrom coview.cli._program import run\n"
        f"code = run({arguments!r})\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\nsys.exit(code)"
    )
    done = python("-c", code)
    assert done.returncode == 0
    assert done.stderr == "[]\n"


def test_import_coview_imports_nothing_heavy():
    done = python("-c", f"import sys, coview\nprint(sorted(set({HEAVY!r}) & set(sys.modules)))")
    assert done.stdout == "[]\n"


def test_console_script_is_main():
    (script,) = entry_points(group="console_scripts", name="coview")
    assert script.load() is main


def test_module_runs_as_the_program():
    done = python("-m", "coview", "--version")
    assert (done.returncode, done.stdout) == (0, f"coview {coview.__version__}\n")


@pytest.mark.parametrize("body", ["lambda: click.echo('result')", "lambda: print('result')"])
def test_closed_pipe_is_quiet(body):
    """The reader goes away before anything is written, flushed at once or left in the buffer: 1, not a word."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-c", PROBE.format(body=body)],
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_control_c_exits_130():
    # A background job of a shell starts with interrupts ignored; a person at a terminal does not.
    restore = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    done = python("-c", PROBE.format(body=f"lambda: ({restore}, os.kill(os.getpid(), signal.SIGINT))"))
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
