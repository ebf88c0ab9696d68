"""``coview demo``: how it calls the report, and which folders it refuses to replace."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from coview.cli._program import run


@pytest.fixture
def calls(monkeypatch):
    """Stand in for the report: note the call, say a line, return figures."""
    noted = []

    def run_demo(output, **options):
        echo = options.pop("echo")
        noted.append((output, options))
        echo("accuracy 0.9")
        return {"accuracy": 0.9}

    monkeypatch.setitem(sys.modules, "coview.report.demo", SimpleNamespace(run_demo=run_demo))
    return noted


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "output", "options"),
    [
        ([], "coview-demo", {"repeats": 5, "full": False, "seed": 0}),
        (["heart"], "coview-demo", {"repeats": 5, "full": False, "seed": 0}),
        (["--output", "a/b"], "a/b", {"repeats": 5, "full": False, "seed": 0}),
        (["--repeats", "3", "--seed", "7"], "coview-demo", {"repeats": 3, "full": False, "seed": 7}),
        (["--full"], "coview-demo", {"repeats": 20, "full": True, "seed": 0}),
    ],
)
def test_options_reach_the_report(calls, capsys, arguments, output, options):
    assert run(["demo", *arguments]) == 0
    assert calls == [(Path(output), options)]
    assert capsys.readouterr().out == "accuracy 0.9\n"


@pytest.mark.parametrize(("arguments", "talk"), [([], "accuracy 0.9\n"), (["--quiet"], "")])
def test_json_is_alone_on_stdout(calls, capsys, arguments, talk):
    assert run(["demo", "--json", *arguments]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {
        "schema_version": 1,
        "command": "demo",
        "output": "coview-demo",
        "accuracy": 0.9,
    }
    assert captured.err == talk


@pytest.mark.parametrize(
    "arguments",
    [
        ["tagging"],
        ["--repeats", "1"],
        ["--repeats", "x"],
        ["--seed", "-1"],
        ["--full", "--repeats", "5"],
    ],
)
def test_misuse_exits_2(calls, arguments):
    assert run(["demo", *arguments]) == 2
    assert calls == []


@pytest.mark.parametrize("content", [None, "marker"])
def test_an_empty_folder_or_its_own_is_used(calls, tmp_path, content):
    folder = tmp_path / "coview-demo"
    folder.mkdir()
    if content:
        (folder / ".coview-demo").touch()
        (folder / "report.html").write_text("old", encoding="utf-8")
    assert run(["demo"]) == 0
    assert len(calls) == 1


def test_a_folder_of_others_is_refused_untouched(calls, capsys, tmp_path):
    folder = tmp_path / "coview-demo"
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine", encoding="utf-8")
    assert run(["demo"]) == 1
    assert calls == []
    assert (folder / "thesis.txt").read_text(encoding="utf-8") == "mine"
    err = capsys.readouterr().err
    assert "coview-demo holds files that no earlier demo wrote" in err
    assert "--output" in err


def test_a_file_in_the_place_is_refused(calls, capsys, tmp_path):
    (tmp_path / "coview-demo").write_text("mine", encoding="utf-8")
    assert run(["demo"]) == 1
    assert calls == []
    assert "coview-demo is no folder" in capsys.readouterr().err


def test_a_dangling_link_is_refused(calls, tmp_path):
    (tmp_path / "coview-demo").symlink_to(tmp_path / "nowhere")
    assert run(["demo"]) == 1
    assert calls == []
