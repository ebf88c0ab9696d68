"""``coview demo``: how it calls the report, and that it refuses to replace what is not its own."""

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

    for name in ("demo", "webpages"):
        monkeypatch.setitem(sys.modules, f"coview.report.{name}", SimpleNamespace(run_demo=run_demo))
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
        (["webpages"], "coview-demo", {"repeats": 5, "data": None, "seed": 0}),
        (["webpages", "--full", "--data", "mine"], "coview-demo", {"repeats": 20, "data": Path("mine"), "seed": 0}),
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
        ["heart", "--data", "mine"],
        ["--data", "mine"],
    ],
)
def test_misuse_exits_2(calls, arguments):
    assert run(["demo", *arguments]) == 2
    assert calls == []


@pytest.mark.parametrize("place", ["folder", "file"])
def test_what_no_demo_wrote_is_refused_untouched(capsys, tmp_path, place):
    """The real demonstration, which must refuse before it starts to compute."""
    mine = tmp_path / "coview-demo"
    if place == "folder":
        mine.mkdir()
        mine /= "thesis.txt"
    mine.write_text("mine", encoding="utf-8")
    assert run(["demo"]) == 1
    assert mine.read_text(encoding="utf-8") == "mine"
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Error: coview-demo exists and was not written by coview demo")
    assert [path.name for path in tmp_path.iterdir()] == ["coview-demo"]
