"""Tables of another name than in the fit are known by their columns, where there is no doubt."""

import pandas as pd
import pytest

from coview.views import read_tables, select_known

COLUMNS = {"clinical": ["age", "sex"], "ct": ["volume"], "lab": None}


def tables(**columns):
    return read_tables({name: pd.DataFrame([[1.0] * len(labels)], columns=labels) for name, labels in columns.items()})


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"visits": ["sex", "note", "age"]}, ["clinical"]),
        ({"visits": ["sex", "age"], "ct": ["volume"]}, ["clinical", "ct"]),
        ({"ct": ["volume"], "clinical": ["age", "sex"], "more": ["age", "sex"]}, ["ct", "clinical"]),  # given already
        ({"ct": ["volume"], "one": ["age", "sex"], "two": ["age", "sex"]}, ["ct"]),  # which of the two?
        ({"ct": ["volume"], "all": ["age"]}, ["ct"]),  # not all columns
    ],
)
def test_a_table_takes_the_name_of_the_one_view_it_can_be(given, names):
    known, _ = select_known(tables(**given), list(COLUMNS), COLUMNS)
    assert known.names == names


def test_a_table_that_could_be_two_views_is_none():
    known, findings = select_known(tables(everything=["age", "sex", "volume"], lab=["x"]), list(COLUMNS), COLUMNS)
    assert known.names == ["lab"]
    assert [finding.code for finding in findings] == ["unknown_view"]


def test_it_is_said():
    _, (finding,) = select_known(tables(visits=["age", "sex"]), list(COLUMNS), COLUMNS)
    assert (finding.code, finding.view) == ("renamed_view", "clinical")
    assert "'visits' has the columns of the model's view 'clinical'" in finding.message
