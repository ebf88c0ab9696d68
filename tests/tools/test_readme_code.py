"""tools/readme_code.py: it runs what a README shows, and fails where the README is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "readme_code.py"


@pytest.fixture
def run(tmp_path):
    def run_text(text):
        path = tmp_path / "README.md"
        path.write_text(text, encoding="utf-8")
        return subprocess.run(
            [sys.executable, SCRIPT, path], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )

    return run_text


def block(*lines):
    return "\n".join(["```python", *lines, "```", ""])


def test_blocks_run_in_order_in_one_namespace(run):
    done = run(block("x = 1") + "words\n" + block(">>> x + 1", "2") + block("print(x)"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\nREADME.md: 3 Python blocks ran.\n"


def test_names_of_a_shown_block_live_on(run):
    assert run(block(">>> y = 2") + block("assert y == 2")).returncode == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (block("raise ValueError('broken')"), "broken"),
        (block(">>> 1 + 1", "3"), "Expected:\n    3\nGot:\n    2"),
        ("no code here\n", "README.md has no Python block to run."),
        ("```sh\nmake demo\n```\n", "README.md has no Python block to run."),
    ],
)
def test_a_wrong_readme_fails(run, text, message):
    done = run(text)
    assert done.returncode == 1
    assert message in done.stdout + done.stderr


def test_errors_name_the_line_of_the_readme(run):
    done = run("# Title\n\n" + block("x = 1", "1 / 0"))
    assert 'File "README.md", line 5' in done.stderr


def test_packages_beside_the_readme_are_not_imported(run, tmp_path):
    (tmp_path / "decoy.py").touch()
    done = run(block("import decoy"))
    assert "No module named 'decoy'" in done.stderr
