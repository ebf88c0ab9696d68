"""What the pages show runs as it stands: the README and every page of the documentation, each in an empty folder.

Python blocks share one namespace per page; where they show output after ``>>>`` it must come. In ``console`` blocks,
lines after ``$`` are commands of coview; the output shown below one must come, with ``...`` for what is left out, and
numbers with a point to within 0.05, as libraries and processors round differently.
``# exit code 1`` behind a command says that it is to fail. What a reader is taken to have already is made by a block in a
comment, ``<!-- console`` or ``<!-- python``.
"""

import contextlib
import doctest
import io
import re
import shlex
import warnings
from pathlib import Path

import pytest

from coview.cli._program import run

pytest.importorskip("python_calamine")
pytest.importorskip("xlsxwriter")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^(?:```|<!-- )(python|console)\n(.*?)^(?:```|-->)$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
DECIMAL = r"[+-]?\d+\.\d+"
SLOW = {"README.md", "quickstart.md", "report.md", "your-data.md"}


def has_code(page):
    return BLOCK.search(page.read_text(encoding="utf-8")) is not None


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if has_code(page)]


def run_python(code, namespace, page, line):
    """Run a block as its reader would."""
    if ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, namespace, page.name, str(page), line)
        words = io.StringIO()
        failed = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=words.write, clear_globs=False).failed
        namespace.update(test.globs)
        assert not failed, words.getvalue()
    else:
        exec(compile("\n" * line + code, str(page), "exec"), namespace)


def commands_of(block):
    """Yield each command of a console block with the output that is shown below it."""
    for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def run_command(command, shown):
    """Run one command line and compare its exit code and output, both streams as a terminal shows them."""
    words = shlex.split(command, comments=True)
    assert words[0] == "coview", f"only coview runs here, not {words[0]}"
    expected = int(code[1]) if (code := re.search(r"# exit code (\d)", command)) else 0
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        assert run(words[1:]) == expected, output.getvalue()
    if shown.strip():
        assert shows(shown, output.getvalue()), f"$ {command}\nshown:\n{shown}\ncame:\n{output.getvalue()}"


def shows(shown, came):
    """Whether an output is the one shown: words and whole numbers equal, numbers with a point nearly."""
    pieces = [piece for piece in re.split(rf"(\.\.\.|{DECIMAL}|\s+)", shown.strip()) if piece]
    pattern = "".join(
        r"\s+" if piece.isspace() else ".*?" if piece == "..." else f"({DECIMAL})"
        if re.fullmatch(DECIMAL, piece) else re.escape(piece)
        for piece in pieces
    )  # fmt: skip
    found = re.fullmatch(pattern, came.strip(), re.DOTALL)
    numbers = [float(piece) for piece in pieces if re.fullmatch(DECIMAL, piece)]
    return found is not None and numbers == pytest.approx([float(number) for number in found.groups()], abs=0.05)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name in SLOW)) for page in PAGES],
)
def test_what_a_page_shows_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        if block[1] == "python":
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                run_python(block[2], namespace, page, text.count("\n", 0, block.start(2)))
        else:
            for command, shown in commands_of(block[2]):
                run_command(command, shown)


def test_the_walk_finds_the_pages():
    assert {"README.md", "quickstart.md", "your-data.md", "labels.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("$ coview datasets nonsense\n", "there is no 'nonsense'"),
        ("$ coview --version\ncoview 99\n", "coview 99"),
        ("$ coview --version  # exit code 1\n", "coview"),
        ("$ rm -r x\n", "only coview runs here"),
    ],
)
def test_a_wrong_console_block_fails(block, message):
    ((command, shown),) = commands_of(block)
    with pytest.raises(AssertionError, match=re.escape(message)):
        run_command(command, shown)


@pytest.mark.parametrize(
    ("shown", "came", "equal"),
    [
        ("loss 0.30\n...\nend", "loss  0.32\nmore\nend\n", True),
        ("loss 0.30", "loss 0.36", False),
        ("3 views", "4 views", False),
        ("a ...", "b c", False),
    ],
)
def test_numbers_with_a_point_may_differ_a_little(shown, came, equal):
    assert shows(shown, came) is equal


def test_a_right_console_block_passes():
    block = "$ coview --version\ncoview ...\n$ coview datasets \\\n    nonsense  # exit code 2\n...there is no 'nonsense'...\n"
    assert [run_command(*entry) for entry in commands_of(block)] == [None, None]
