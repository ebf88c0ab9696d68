"""Files of costs: what is read, what is refused and where."""

import pytest

from coview.exceptions import ViewError
from coview.files import read_costs


def written(folder, text, name="costs.csv"):
    (folder / name).write_text(text)
    return folder / name


def test_prices_are_numbers_and_what_people_note_is_left_out(tmp_path):
    path = written(tmp_path, "view;cost;group;group_cost;delay;unit\nmri;900,5;visit;50;3 days;EUR\n007;20;;;;EUR\n")
    table = read_costs(path)
    assert list(table.columns) == ["view", "cost", "group", "group_cost"]
    assert table["view"].tolist() == ["mri", "007"]
    assert table["cost"].tolist() == [900.5, 20.0]


def test_pairs_have_prices_or_are_impossible(tmp_path):
    pairs = written(tmp_path, "sample,view,cost\n007,mri,Impossible\n008,mri,3\n", "pairs.csv")
    table = read_costs(None, pairs=pairs)
    assert table.to_numpy().tolist() == [["007", "mri", "impossible"], ["008", "mri", 3.0]]
    both = read_costs(written(tmp_path, "view,cost\nmri,9\n"), pairs=pairs)
    assert both["sample"].isna().tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("view,price\nmri,9\n", "needs the column cost; its columns are view, price"),
        ("view,cost\nmri,9\nct,dear\n", "line 3: cost must be a number of at least 0; got 'dear'"),
        ("view,cost\nmri,-9\n", "line 2: cost must be a number of at least 0; got '-9"),
        ("view,cost\nmri,\n", "line 2: cost must be a number of at least 0; got ''"),
        ("view,cost\nmri,impossible\n", "got 'impossible'"),
        ("view,cost,group_cost\nmri,9,x\n", "group_cost must be a number"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(ViewError, match=message):
        read_costs(written(tmp_path, text))


def test_one_file_at_least():
    with pytest.raises(ValueError, match="needs a file"):
        read_costs(None)
