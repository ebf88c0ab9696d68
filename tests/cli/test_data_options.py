"""What every command is told about data, and what it says about them."""

import click
import pytest

from coview.cli import program
from coview.cli._conversation import conversation_options
from coview.cli._data_options import data_options, read_data
from coview.cli._program import run

CLINICAL = "patient,age,died\np1,61,yes\np2,48,no\np3,55,no\np4,50,yes\n"


@click.command()
@data_options
@click.option("--soft", is_flag=True)
@click.option("--no-labels", is_flag=True)
@conversation_options
@click.pass_context
def look(ctx, data, soft, no_labels):
    """Read data and print what came of them."""
    table_set = read_data(ctx, data, strict=not soft, labels=not no_labels)
    click.echo(" ".join(table_set.tables.names))
    click.echo("" if table_set.labels is None else " ".join(map(str, table_set.labels)))


@pytest.fixture(autouse=True)
def registered():
    program.add_command(look)
    yield
    del program.commands["look"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder, for short paths."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clinical.csv").write_text(CLINICAL, encoding="utf-8")
    return tmp_path


def test_results_go_to_stdout_and_talk_to_stderr(folder, capsys):
    (folder / "ct.csv").write_text("patient;volume\np2;1,5\np1;2,5\n", encoding="utf-8")
    assert run(["look", "clinical.csv", "ct.csv", "--target", "died"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "clinical ct\nyes no no yes\n"
    first, second, *rest = captured.err.splitlines()
    assert first.startswith("clinical  clinical.csv  4 rows, 2 columns")
    assert second.startswith("ct        ct.csv        2 rows, 1 column")
    assert rest[0] == "4 samples, 2 views; 4 labeled in 'died'"
    assert rest[1].startswith("note: Of 4 samples, 2 have a row in both views")


def test_quiet_leaves_the_result_alone(folder, capsys):
    assert run(["--quiet", "look", "clinical.csv"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("clinical\n\n", "")


def test_no_data_is_misuse(capsys):
    assert run(["look"]) == 2
    assert "Name the data" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["clinical.csv", "=clinical.csv", "ct="])
def test_a_view_without_name_or_file_is_misuse(capsys, given):
    assert run(["look", "--view", given]) == 2
    assert f"'{given}' is not NAME=FILE or NAME=FILE#SHEET" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--duplicates", "--almost-equal", "--task"])
def test_a_choice_that_does_not_exist_is_misuse(capsys, option):
    assert run(["look", "clinical.csv", option, "maybe"]) == 2
    assert "'maybe' is not one of" in capsys.readouterr().err


def test_a_missing_file_is_one_message(folder, capsys):
    assert run(["look", "nothing.csv"]) == 1
    assert capsys.readouterr().err == "Error: nothing.csv: No such file or directory.\n"


def test_an_error_in_the_data_is_one_message(folder, capsys):
    assert run(["look", "clinical.csv", "--target", "dead"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Error: No table has a column 'dead' for the labels. Did you mean 'died'?")


def test_errors_may_become_findings(folder, capsys):
    assert run(["look", "clinical.csv", "--target", "dead", "--soft"]) == 0
    assert "error: No table has a column 'dead'" in capsys.readouterr().err


def test_labels_may_be_left_alone(folder, capsys):
    assert run(["look", "clinical.csv", "--target", "dead", "--no-labels"]) == 0
    assert capsys.readouterr().out == "clinical\n\n"


def test_the_empty_mark_alone_keeps_na_as_a_class(folder, capsys):
    (folder / "clinical.csv").write_text("patient,age,risk\na,1,NA\nb,2,low\nc,3,low\nd,4,\n", encoding="utf-8")
    assert run(["look", "clinical.csv", "--target", "risk", "--na", ""]) == 0
    assert capsys.readouterr().out == "clinical\nNA low low nan\n"


def test_a_config_is_said_and_read(folder, capsys):
    (folder / "coview.toml").write_text('target = "died"\n[views]\nrecord = "clinical.csv"\n', encoding="utf-8")
    assert run(["look", "."]) == 0
    captured = capsys.readouterr()
    assert captured.out == "record\nyes no no yes\n"
    assert captured.err.startswith("settings from ./coview.toml\n")


def test_a_wrong_config_is_one_message(folder, capsys):
    (folder / "coview.toml").write_text('traget = "died"\n', encoding="utf-8")
    assert run(["look", "clinical.csv"]) == 1
    assert capsys.readouterr().err == ("Error: coview.toml, line 1: there is no key 'traget'. Did you mean 'target'?\n")


def test_print_config_gives_a_config_that_means_the_same(folder, capsys):
    arguments = ["--view", "record=clinical.csv", "--target", "died", "--id", "patient", "--na", "", "--na", "-"]
    assert run(["look", *arguments]) == 0
    expected = capsys.readouterr()
    assert run(["look", *arguments, "--print-config"]) == 0
    printed = capsys.readouterr().out
    assert printed == ('id = "patient"\ntarget = "died"\nna = ["", "-"]\n\n[views]\nrecord = "clinical.csv"\n')
    (folder / "coview.toml").write_text(printed, encoding="utf-8")
    assert run(["look", "coview.toml"]) == 0
    again = capsys.readouterr()
    assert again.out == expected.out
    assert again.err == f"settings from coview.toml\n{expected.err}"


def test_many_findings_are_cut_short(folder, capsys):
    for number in range(12):
        (folder / f"v{number}.csv").write_text("patient,x\np1,1\np2,2\np1,3\n", encoding="utf-8")
    assert run(["look", *(f"v{number}.csv" for number in range(12)), "--duplicates", "first"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert sum(line.startswith("note: ") for line in lines) == 10
    assert lines[-1] == "and 2 more; coview check shows all"


def test_the_help_loads_no_numerical_package():
    """What the options need is imported when a command runs."""
    import subprocess
    import sys

    code = (
        "import sys; from coview.cli._data_options import data_options; "
        "print(sorted({'numpy', 'pandas', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
