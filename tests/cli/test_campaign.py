"""Campaigns on the command line: a round trip of orders, what is refused and how, and files that agree with bookings."""

import errno
import io
import json
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from coview.acquisition import Campaign
from coview.cli import _acquire
from coview.cli._program import run
from coview.storage import ProjectOutdatedError
from coview.storage import _connection as connections
from coview.storage import _schema as schema

from .fit_problems import cohort, write

openpyxl = pytest.importorskip("openpyxl")

COSTS = "view,cost,group,group_cost,unit\nclinical,2,visit,1,EUR\nct,50,visit,1,EUR\n"


def patients():
    """The cohort with one column of labels; it is called like a column of orders."""
    tables = cohort()
    return tables | {"labels": tables["labels"][["state"]]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project, made once."""
    folder = tmp_path_factory.mktemp("campaign")
    tables = patients()
    files = write(folder, tables)
    (folder / "costs.csv").write_text(COSTS)
    words = [
        "new",
        folder / "made.covw",
        files["clinical"],
        files["ct"],
        "--labels",
        files["labels"],
        "--target",
        "state",
    ]
    assert do(*words, "--costs", folder / "costs.csv", "--budget", 500, "--criterion", "random") == 0
    return folder / "made.covw"


@pytest.fixture
def project(made, tmp_path):
    return shutil.copy(made, tmp_path / "p.covw")


@pytest.fixture
def orders(project, tmp_path, capsys):
    """Three orders, written and booked."""
    path = tmp_path / "orders.csv"
    assert do("acquire", project, "-n", 3, "-o", path) == 0
    capsys.readouterr()
    return path


def do(*words):
    return run([*map(str, words)])


def read(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def filled(path, to, **rows):
    """The orders at ``path`` with cells filled in: position of the order to dict of column to cell."""
    table = read(path)
    for place, cells in rows.items():
        for column, cell in cells.items():
            table.loc[int(place[1:]), column] = cell
    table.to_csv(to, index=False)
    return to


def status_of(project):
    with Campaign.open(project, read_only=True) as campaign:
        return campaign.status()


def test_new_says_what_is_open_and_refuses_to_replace(made, tmp_path, capsys):
    files = write(tmp_path, patients())
    words = [files["clinical"], files["ct"], "--labels", files["labels"], "--target", "state"]
    assert do("new", made, *words) == 1
    assert "exists already" in capsys.readouterr().err
    assert do("new", tmp_path / "n.covw", *words, "--budget", 5) == 2
    assert "--budget needs --costs" in capsys.readouterr().err
    assert do("new", tmp_path / "n.covw", *words, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["schema_version"], said["command"], said["status"]["open"]) == (1, "new", 16)
    assert said["target"] == "state"


def test_a_model_file_gives_method_and_encoding(tmp_path, capsys):
    files = write(tmp_path, patients())
    words = [files["clinical"], files["ct"], "--labels", files["labels"], "--target", "state"]
    fit = ["fit", *words, "--cv", 0, "--method", "imputation-logistic-regression", "-o", tmp_path / "m.coview"]
    assert do(*fit) == 0
    words += ["-m", tmp_path / "m.coview"]
    assert do("new", tmp_path / "n.covw", *words, "--criterion", "random") == 0
    assert do("acquire", tmp_path / "n.covw", "-n", 2) == 0
    capsys.readouterr()
    assert do("acquire", tmp_path / "n.covw", "--criterion", "variance") == 1
    assert "need a model with a posterior" in capsys.readouterr().err
    assert do("new", tmp_path / "o.covw", *words, "--task", "regression") == 1


def test_a_list_books_nothing_and_says_what_it_is_not(project, capsys):
    assert do("acquire", project, "-n", 2) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0].split()[:4] == ["rank", "sample", "view", "utility"]
    assert len(said.out.splitlines()) == 3
    assert "no medical advice" in said.err
    assert do("acquire", project, "-n", 2, "--format", "csv") == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert list(table.columns) == ["sample", "view", "utility", "cost", "utility_per_cost", "cumulative_cost"]
    assert do("acquire", project, "-n", 2, "--format", "json") == 0
    said = json.loads(capsys.readouterr().out)
    assert [order["sample"] for order in said["orders"]] == [f"{number:03d}" for number in table["sample"]]
    assert status_of(project)["booked"] == 0


def test_reasons_name_what_is_predicted_or_that_the_sample_is_labeled(project, capsys):
    assert do("acquire", project, "-n", 16, "--criterion", "variance") == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert len(lines) == 10  # the budget allows no more
    labels = cohort()["labels"]["state"]
    for line in lines:
        known = pd.notna(labels[line.split()[1]])
        assert ("labeled, shows what ct tells" in line) == known
        assert (re.search(r"(ill|well) [01]\.\d\d", line) is None) == known


def test_orders_have_empty_columns_for_features_and_say_what_was_seen(orders, project):
    table = read(orders)
    assert list(table.columns) == ["order", "sample", "view", "state", "reason", "volume", "grade"]
    low, high = cohort()["ct"]["volume"].min(), cohort()["ct"]["volume"].max()
    assert table.loc[0, ["order", "sample", "volume"]].tolist() == ["seen", "seen", f"{low:g} to {high:g}"]
    assert (table.loc[1:, ["state", "reason", "volume", "grade"]] == "").all(axis=None)
    assert table.loc[1:, "order"].tolist() == ["1", "2", "3"]
    assert status_of(project)["booked"] == 3
    assert status_of(project)["ordered"] == 150


def test_what_comes_back_in_any_order_is_taken_in_once(orders, project, tmp_path, capsys):
    back = filled(
        orders, tmp_path / "b.csv", r1={"volume": "0.5", "grade": "1"}, r3={"state": "Declined", "reason": "no"}
    )
    read(back).iloc[::-1].to_csv(back, index=False)
    before = status_of(project)
    assert do("tell", project, back, "--dry-run") == 0
    assert "would change: 1 declined, 1 measured, 1 empty still" in capsys.readouterr().out
    assert status_of(project) == before
    assert do("tell", project, back) == 0
    sample = read(orders).loc[1, "sample"]
    assert f"{sample}: ct measured: volume 0.5, grade 1" in capsys.readouterr().out
    after = status_of(project)
    assert (after["booked"], after["returned"], after["closed"]["declined"]) == (1, 1, 1)
    assert (after["spent"], after["ordered"]) == (50, 50)
    assert do("tell", project, back) == 0
    assert "2 known already, 1 empty still" in capsys.readouterr().out
    assert status_of(project) == after
    with Campaign.open(project) as campaign:
        assert campaign.tables["ct"].loc[sample].tolist() == [0.5, 1.0]
        assert campaign.history["reason"].dropna().tolist() == ["no"]


def test_semicolons_and_decimal_commas_of_other_countries(orders, project, tmp_path):
    back = filled(orders, tmp_path / "b.csv", r1={"volume": "0,5", "grade": "1,25"})
    read(back).to_csv(back, index=False, sep=";")
    assert do("tell", project, back) == 0
    with Campaign.open(project) as campaign:
        assert campaign.tables["ct"].loc[read(orders).loc[1, "sample"]].tolist() == [0.5, 1.25]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"order": "30"}, "there is no order 30. Orders of '{sample}' are 1."),
        ({"sample": "nobody"}, "order 1 is of '{sample}', ct; the row says 'nobody', ct"),
        ({"order": "", "sample": "0023"}, "There is no sample '0023'. Did you mean '023'"),
        (
            {"grade": ""},
            "'grade' of view 'ct' is empty, and 'volume' is not. Fill in what is empty; if it was not measured",
        ),
        ({"volume": "big"}, "volume of view 'ct' of sample '{sample}' must be a number; got 'big'"),
        ({"state": "fialed", "volume": "", "grade": ""}, "state 'fialed' is none of failed, declined, impossible."),
        ({"state": "failed"}, "it is 'failed' and has values (volume, grade)"),
        ({"view": "clinical"}, "order 1 is of '{sample}', ct; the row says '{sample}', clinical"),
    ],
)
def test_one_bad_row_keeps_all_rows_out(orders, project, tmp_path, capsys, cells, message):
    good = {"volume": "0.5", "grade": "1"}
    back = filled(orders, tmp_path / "b.csv", r1=good | cells, r2=good)
    before = status_of(project)
    assert do("tell", project, back) == 1
    said = capsys.readouterr().err
    assert f"line 3: {message.format(sample=read(orders).loc[1, 'sample'])}" in said
    assert "Nothing was changed." in said
    assert status_of(project) == before


def test_all_that_is_wrong_is_said_at_once(orders, project, tmp_path, capsys):
    bad = {"volume": "big", "grade": "1"}
    assert do("tell", project, filled(orders, tmp_path / "b.csv", r1=bad, r3=bad)) == 1
    said = capsys.readouterr().err
    assert "line 3: " in said
    assert "line 5: " in said


def test_a_misspelled_column_names_the_nearest(orders, project, tmp_path, capsys):
    read(orders).rename(columns={"grade": "grad"}).to_csv(tmp_path / "b.csv", index=False)
    assert do("tell", project, tmp_path / "b.csv") == 1
    assert "There is no column 'grad' here. Did you mean grade" in capsys.readouterr().err


def test_values_out_of_range_are_a_warning_with_the_line(orders, project, tmp_path, capsys):
    back = filled(orders, tmp_path / "b.csv", r2={"volume": "99", "grade": "1"})
    assert do("tell", project, back) == 0
    assert "warning:" in (said := capsys.readouterr().err)
    assert "b.csv, line 4: View 'ct'" in said
    assert "volume = 99 (seen: " in said


def test_another_value_is_a_conflict_unless_it_replaces(orders, project, tmp_path, capsys):
    told, other = {"volume": "0.5", "grade": "1"}, {"volume": "0.25", "grade": "1"}
    assert do("tell", project, filled(orders, tmp_path / "b.csv", r1=told)) == 0
    back = filled(orders, tmp_path / "c.csv", r1=other)
    capsys.readouterr()
    assert do("tell", project, back) == 1
    said = capsys.readouterr().err
    assert "feature 'volume' is 0.5, told 0.25" in said
    assert "correct it with --replace" in said
    assert do("tell", project, back, "--replace") == 0
    assert status_of(project)["spent"] == 50


def test_labels_come_in_by_the_name_of_the_target(project, tmp_path, capsys):
    (tmp_path / "l.csv").write_text("patient,state\n001,ill\n004,well\n")
    assert do("tell", project, tmp_path / "l.csv") == 0
    assert "001: labeled: ill" in capsys.readouterr().out
    with Campaign.open(project) as campaign:
        assert campaign.y[[1, 4]].tolist() == ["ill", "well"]
    (tmp_path / "l.csv").write_text("patient,state\n007,il\n")
    assert do("tell", project, tmp_path / "l.csv") == 0
    assert "class that no sample had at the start. Did you mean 'ill'" in capsys.readouterr().err


def test_predictions_that_changed_are_named(project, tmp_path, capsys):
    rows = [f"{k:03d},{'well' if k % 2 == 0 else 'ill'}" for k in range(48) if k % 3 != 1]  # all of them wrong
    (tmp_path / "l.csv").write_text("\n".join(["patient,state", *rows]))
    assert do("tell", project, tmp_path / "l.csv", "--replace", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["changed"]) == 32
    crossed = {row["sample"]: row["now"] for row in said["crossed"]}
    assert len(crossed) > 8
    as_told = [now == ("well" if int(sample) % 2 == 0 else "ill") for sample, now in crossed.items()]
    assert np.mean(as_told) > 0.7
    assert crossed.keys().isdisjoint({row[:3] for row in rows})


def test_a_workbook_has_a_sheet_per_view_and_comes_back(tmp_path, capsys):
    tables = patients()
    tables["clinical"] = tables["clinical"].drop(index=["001", "004"])
    files = write(tmp_path, tables)
    words = [files["clinical"], files["ct"], "--labels", files["labels"], "--target", "state"]
    project, orders = tmp_path / "p.covw", tmp_path / "o.xlsx"
    assert do("new", project, *words, "--criterion", "random") == 0
    assert do("acquire", project, "-n", 40, "--per-sample", 2, "-o", orders) == 0
    book = openpyxl.load_workbook(orders)
    assert sorted(book.sheetnames) == ["clinical", "ct"]
    page = book["clinical"]
    head = [cell.value for cell in page[1]]
    assert head == ["order", "sample", "view", "state", "reason", "age", "sex"]
    assert page["G2"].value == "f | m"
    sample = page["B3"].value
    assert sample in ("001", "004")
    page["F3"], page["G3"], page["D4"] = 61, "f", "impossible"
    book.save(tmp_path / "b.xlsx")
    assert do("tell", project, tmp_path / "b.xlsx") == 0
    with Campaign.open(project) as campaign:
        assert campaign.tables["clinical"].loc[sample].tolist() == [61, "f"]
        assert campaign.status()["closed"]["impossible"] == 1


def test_values_under_another_view_are_refused(project, tmp_path, capsys):
    (tmp_path / "b.csv").write_text("sample,view,volume,grade,age\n000,ct,1,1,50\n")
    assert do("tell", project, tmp_path / "b.csv") == 1
    assert "'age' is of clinical, and the row is about ct" in capsys.readouterr().err


def test_status_and_undo(orders, project, tmp_path, capsys):
    assert do("tell", project, filled(orders, tmp_path / "b.csv", r1={"volume": "0.5", "grade": "1"})) == 0
    capsys.readouterr()
    assert do("status", project) == 0
    out = capsys.readouterr().out
    assert "open 13, booked 2, returned 1" in out
    assert "budget 500: spent 50, ordered 100, left 350" in out
    assert do("undo", project) == 0
    sample = read(orders).loc[1, "sample"]
    assert capsys.readouterr().out == f"taken back: values of {sample}, ct\n"
    assert do("status", project, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["schema_version"], said["command"], said["booked"], len(said["orders"])) == (1, "status", 3, 3)
    assert do("undo", project, "-n", 4) == 1
    assert "nothing to undo" in capsys.readouterr().err
    assert status_of(project)["booked"] == 3
    assert do("undo", project, "-n", 3) == 0
    assert status_of(project)["booked"] == 0
    assert do("tell", project, filled(orders, tmp_path / "b.csv", r1={"volume": "0.5", "grade": "1"})) == 1
    assert "order 1 was taken back" in capsys.readouterr().err


def test_booked_orders_are_written_again(orders, project, tmp_path, capsys):
    again = tmp_path / "again.csv"
    assert do("acquire", project, "--booked", "-o", again) == 0
    assert again.read_bytes() == orders.read_bytes()
    assert status_of(project)["booked"] == 3
    assert do("acquire", project, "--booked") == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_nothing_left_is_no_error_and_writes_no_file(project, tmp_path, capsys):
    assert do("acquire", project, "-n", 99, "-o", tmp_path / "o.csv") == 0
    capsys.readouterr()
    assert do("acquire", project, "-n", 5, "-o", tmp_path / "rest.csv") == 0
    assert "Of the budget" in capsys.readouterr().out
    assert not (tmp_path / "rest.csv").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-o", "-"], 2, "counts as booked, so it needs a file"),
        (["--format", "xlsx"], 2, "name a file with -o"),
        (["--force"], 2, "name a file with -o"),
        (["-o", "o.csv", "--format", "table"], 2, "csv or xlsx"),
        (["-o", "no/such/o.csv"], 1, "no such folder"),
        (["-n", "0"], 2, "0 is not in the range"),
    ],
)
def test_what_acquire_refuses(project, capsys, words, code, message):
    assert do("acquire", project, *words) == code
    assert message in capsys.readouterr().err
    assert status_of(project)["booked"] == 0


def test_orders_replace_no_file_unasked(orders, project, capsys):
    before = orders.read_bytes()
    assert do("acquire", project, "-o", orders) == 1
    assert "exists already" in capsys.readouterr().err
    assert orders.read_bytes() == before
    assert do("acquire", project, "-n", 1, "-o", orders, "--force") == 0
    assert len(read(orders)) == 2


@pytest.mark.parametrize("where", ["write", "replace"])
def test_a_file_that_cannot_be_written_books_nothing(project, tmp_path, monkeypatch, capsys, where):
    def fail(*_args, **_options):
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "o.csv"))

    if where == "write":
        monkeypatch.setattr(_acquire, "write_orders", fail)
    else:
        monkeypatch.setattr("coview.files._writing.os.replace", fail)
    assert do("acquire", project, "-n", 2, "-o", tmp_path / "o.csv") == 1
    assert "No space left" in capsys.readouterr().err
    assert status_of(project)["booked"] == 0
    assert not [path.name for path in tmp_path.iterdir() if "o.csv" in path.name]


KILLED = """
import os, signal, sys
from coview.cli import _acquire
from coview.cli._program import run
from coview.storage import ProjectOutdatedError
from coview.storage import _connection as connections
from coview.storage import _schema as schema
from coview.files import _writing

def kill(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[1] == "before":
    _acquire.write_orders = kill
else:
    _writing.os.replace = kill
run(["acquire", sys.argv[2], "-n", "2", "-o", sys.argv[3]])
"""


@pytest.mark.parametrize(("when", "booked"), [("before", 0), ("between", 2)])
def test_a_killed_process_leaves_no_file_without_bookings(project, tmp_path, when, booked):
    """Killed before the bookings count: nothing of either; between bookings and file: the file can be written again."""
    path = tmp_path / "o.csv"
    done = subprocess.run([sys.executable, "-c", KILLED, when, project, path], capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert not path.exists()
    assert status_of(project)["booked"] == booked
    if booked:
        assert do("acquire", project, "--booked", "-o", path) == 0
        with Campaign.open(project) as campaign:
            assert read(path).loc[1:, "order"].tolist() == [str(event) for event in campaign.orders["event"]]


def test_export_is_what_is_known_now_and_coview_reads_it(orders, project, tmp_path, capsys):
    sample = read(orders).loc[1, "sample"]
    assert do("tell", project, filled(orders, tmp_path / "b.csv", r1={"volume": "0.5", "grade": "1"})) == 0
    capsys.readouterr()
    assert do("export", project) == 0
    out = capsys.readouterr().out
    table = pd.read_csv(io.StringIO(out), dtype={"patient": str}, index_col="patient")
    assert list(table.columns) == ["state", "clinical__age", "clinical__sex", "ct__volume", "ct__grade"]
    expected = cohort()
    expected["ct"].loc[sample] = [0.5, 1.0]
    pd.testing.assert_series_equal(
        table["ct__volume"].dropna(), expected["ct"]["volume"].sort_index(), check_names=False
    )
    np.testing.assert_array_equal(table["clinical__sex"], expected["clinical"]["sex"])
    (tmp_path / "e.csv").write_text(out)
    assert do("new", tmp_path / "again.covw", tmp_path / "e.csv", "--target", "state") == 0
    capsys.readouterr()
    assert do("export", tmp_path / "again.covw") == 0
    assert capsys.readouterr().out == out
    assert do("export", project, "--history") == 0
    steps = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert steps["action"].tolist() == ["booked"] * 3 + ["returned"]
    assert steps["values"].iloc[-1] == "0.5; 1"
    assert do("export", project, "-o", tmp_path / "e.xlsx") == 0
    assert openpyxl.load_workbook(tmp_path / "e.xlsx").sheetnames == ["labels", "clinical", "ct", "history"]


def test_backup_is_a_campaign_and_replaces_nothing(orders, project, tmp_path, capsys):
    assert do("backup", project, tmp_path / "b.covw") == 0
    assert status_of(tmp_path / "b.covw") == status_of(project)
    assert do("backup", project, tmp_path / "b.covw") == 1
    assert "b.covw" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["status"], ["acquire"], ["undo"], ["export"], ["tell", "x.csv"], ["backup", "y"]])
def test_no_such_project(command, tmp_path, capsys):
    assert do(command[0], tmp_path / "none.covw", *command[1:]) == 1
    assert "none.covw" in capsys.readouterr().err
    (tmp_path / "none.covw").write_text("a text")
    assert do(command[0], tmp_path / "none.covw", *command[1:]) == 1
    assert "none.covw" in capsys.readouterr().err


def wide_cohort():
    """Four features in one view, one of which some patients lack from the start, and a target that is no column of orders."""
    tables = patients()
    rng = np.random.default_rng(1)
    stress = pd.DataFrame(rng.normal(size=(48, 4)).round(2), columns=["rate", "angina", "slope", "depth"])
    stress.index = tables["clinical"].index
    stress.loc[stress.index[:6], "depth"] = np.nan
    return tables | {"ct": stress.iloc[::2], "labels": tables["labels"].rename(columns={"state": "fate"})}


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide")
    files = write(folder, wide_cohort())
    (folder / "costs.csv").write_text(COSTS)
    words = [files["clinical"], files["ct"], "--labels", files["labels"], "--target", "fate"]
    words += ["--costs", folder / "costs.csv", "--label-cost", 7, "--budget", 500, "--criterion", "random"]
    assert do("new", folder / "wide.covw", *words) == 0
    return folder / "wide.covw"


@pytest.fixture
def stress(wide, tmp_path):
    return shutil.copy(wide, tmp_path / "w.covw")


def test_one_filled_cell_of_four_names_the_empty_ones(stress, tmp_path, capsys):
    assert do("acquire", stress, "-n", 2, "-o", tmp_path / "o.csv") == 0
    back = filled(tmp_path / "o.csv", tmp_path / "b.csv", r1={"slope": "0.5"})
    before = status_of(stress)
    capsys.readouterr()
    assert do("tell", stress, back) == 1
    said = capsys.readouterr().err
    assert "line 3: 'rate', 'angina', 'depth' of view 'ct' are empty, and 'slope' is not." in said
    assert do("tell", stress, back, "--gaps") == 1  # of these only depth was ever lacking
    assert "needs a value for 'rate', 'angina'" in capsys.readouterr().err
    assert status_of(stress) == before
    three = filled(tmp_path / "o.csv", tmp_path / "c.csv", r1={"slope": "0.5", "rate": "0", "angina": "-0.5"})
    assert do("tell", stress, three) == 1
    assert "'depth' of view 'ct' is empty" in capsys.readouterr().err
    assert do("tell", stress, three, "--gaps") == 0
    with Campaign.open(stress) as campaign:
        row = campaign.tables["ct"].loc[read(tmp_path / "o.csv").loc[1, "sample"]]
        assert row[["rate", "angina", "slope"]].tolist() == [0, -0.5, 0.5]
        assert np.isnan(row["depth"])


def test_labels_are_asked_for_booked_and_told_by_the_same_file(stress, tmp_path, capsys):
    assert do("acquire", stress, "--kind", "labels", "-n", 3, "-o", tmp_path / "o.csv") == 0
    table = read(tmp_path / "o.csv")
    assert list(table.columns) == ["order", "sample", "view", "state", "reason", "fate"]
    assert table.loc[0, "fate"] == "ill | well"
    assert table.loc[1:, "view"].tolist() == ["fate"] * 3
    known = wide_cohort()["labels"]["fate"]
    assert known[table.loc[1:, "sample"]].isna().all()
    assert do("status", stress) == 0
    said = capsys.readouterr().out
    assert "labels: open 13, booked 3, returned 0" in said
    assert re.search(rf"1 +\d\S+ \S+ +{table.loc[1, 'sample']} +fate", said)
    assert status_of(stress)["ordered"] == 21
    back = filled(tmp_path / "o.csv", tmp_path / "b.csv", r1={"fate": "well"}, r2={"state": "failed", "reason": "gone"})
    assert do("tell", stress, back) == 0
    said = capsys.readouterr().out
    assert f"{table.loc[1, 'sample']}: labeled: well" in said
    assert f"{table.loc[2, 'sample']}: label failed: gone" in said
    labels = status_of(stress)["labels"]
    assert (labels["booked"], labels["returned"], labels["closed"]["failed"]) == (1, 1, 1)
    assert do("tell", stress, back) == 0
    assert "2 known already, 1 empty still" in capsys.readouterr().out
    assert do("undo", stress, "-n", 2) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"taken back: closing of {table.loc[2, 'sample']}, label (failed)",
        f"taken back: label of {table.loc[1, 'sample']} (well)",
    ]
    assert do("acquire", stress, "--booked") == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_a_label_with_a_state_is_refused(stress, tmp_path, capsys):
    assert do("acquire", stress, "--kind", "labels", "-n", 1, "-o", tmp_path / "o.csv") == 0
    back = filled(tmp_path / "o.csv", tmp_path / "b.csv", r1={"fate": "well", "state": "failed"})
    assert do("tell", stress, back) == 1
    assert "it is 'failed' and has values (well)" in capsys.readouterr().err


def test_views_and_labels_share_a_file_and_a_workbook(stress, tmp_path, capsys):
    assert do("acquire", stress, "--kind", "both", "-n", 30, "--per-sample", 2, "-o", tmp_path / "o.csv") == 0
    table = read(tmp_path / "o.csv")
    assert {"fate", "ct"} <= set(table["view"])
    assert list(table.columns)[-1] == "fate" or "fate" in table.columns
    for _, row in table.iloc[1:].iterrows():
        assert (row["fate"] == "") == (row["view"] == "fate")
        assert (row["slope"] == "") == (row["view"] == "ct")
    assert do("acquire", stress, "--booked", "-o", tmp_path / "o.xlsx") == 0
    book = openpyxl.load_workbook(tmp_path / "o.xlsx")
    assert set(book.sheetnames) == {"ct", "fate"}
    page = book["fate"]
    assert [cell.value for cell in page[1]][-1] == "fate"
    assert page["F2"].value == "ill | well"
    sample, page["F3"] = page["B3"].value, "ill"
    book.save(tmp_path / "b.xlsx")
    capsys.readouterr()
    assert do("tell", stress, tmp_path / "b.xlsx") == 0
    assert f"{sample}: labeled: ill" in capsys.readouterr().out


def test_a_list_of_labels_says_what_is_predicted(stress, capsys):
    assert do("acquire", stress, "--kind", "labels", "--criterion", "entropy", "-n", 4) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["rank", "sample", "view", "utility"]
    assert all(re.search(r" fate .*(ill|well) [01]\.\d\d$", line) for line in lines[1:])
    assert do("acquire", stress, "--kind", "labels", "--criterion", "expected_entropy") == 1
    assert "where labels are asked" in capsys.readouterr().err


def test_a_target_called_like_a_column_of_orders_has_the_column_label(project, tmp_path):
    assert do("acquire", project, "--kind", "labels", "-n", 1, "-o", tmp_path / "o.csv") == 0
    table = read(tmp_path / "o.csv")
    assert list(table.columns) == ["order", "sample", "view", "state", "reason", "label"]
    assert table.loc[1, "view"] == "label"
    assert do("tell", project, filled(tmp_path / "o.csv", tmp_path / "b.csv", r1={"label": "ill"})) == 0
    assert status_of(project)["labels"]["returned"] == 1


def test_what_answers_gained_stands_beside_what_was_expected(stress, tmp_path, capsys):
    assert do("acquire", stress, "--criterion", "expected_entropy", "-n", 2, "-o", tmp_path / "o.csv") == 0
    values = {"rate": "0", "angina": "0", "slope": "0", "depth": "0"}
    back = filled(tmp_path / "o.csv", tmp_path / "b.csv", r1=values, r2=values)
    with Campaign.open(stress, read_only=True) as campaign:
        before, expected = campaign.total_entropy(), campaign.orders["utility"].sum()
    capsys.readouterr()
    assert do("tell", stress, back, "--json") == 0
    said = json.loads(capsys.readouterr().out)["entropy"]
    with Campaign.open(stress, read_only=True) as campaign:
        assert said["now"] == pytest.approx(campaign.total_entropy())
    assert said["before"] == pytest.approx(before)
    assert said["expected"] == pytest.approx(expected)
    assert said["n_expected"] == 2
    assert do("undo", stress, "-n", 2) == 0
    capsys.readouterr()
    assert do("tell", stress, back) == 0
    assert re.search(
        r"uncertainty about all classes without a label: \S+ nats before, \S+ now \(\S+\); a fall of \S+ was expected",
        capsys.readouterr().out,
    )


def test_a_project_of_an_older_coview_is_brought_up_to_date(project, monkeypatch, capsys):
    before = status_of(project)
    tomorrow = (*schema.MIGRATIONS, ("ALTER TABLE parts ADD COLUMN note TEXT",))
    for module in (schema, connections):
        monkeypatch.setattr(module, "MIGRATIONS", tomorrow)
    with pytest.raises(ProjectOutdatedError, match="Open it once for writing"):
        Campaign.open(project, read_only=True)
    assert do("status", project) == 0
    said = capsys.readouterr()
    assert f"open {before['open']}, booked 0" in said.out
    assert "brought up to date" in said.err
    assert do("status", project) == 0
    assert capsys.readouterr().err == ""
