"""Of new data, the part that a fitted model knows: extra columns and views left out and told, missing ones named."""

import numpy as np
import pandas as pd
import pytest

from coview import Views
from coview.compose import TableEncoder
from coview.exceptions import ViewError
from coview.views import read_tables, select_known

NAMES = {"ct": ["volume", "grade"], "lab": ["crp", "age at visit"]}


def tables(**frames):
    return read_tables({name: pd.DataFrame(frame, index=["p1", "p2"]) for name, frame in frames.items()})


def test_permuted_columns_come_in_the_order_of_the_fit():
    known, findings = select_known(tables(ct={"grade": [1, 2], "volume": [3.0, 4.0]}), list(NAMES), NAMES)
    assert list(known.tables[0].columns) == ["volume", "grade"]
    np.testing.assert_array_equal(known.tables[0].values.to_numpy(), [[3.0, 1.0], [4.0, 2.0]])
    assert findings == []


def test_unknown_columns_are_left_out_and_told():
    given = tables(ct={"grade": [1, 2], "x": ["a", "b"], "volume": [3.0, 4.0], "y": [0, 0]})
    known, (finding,) = select_known(given, list(NAMES), NAMES)
    assert list(known.tables[0].columns) == ["volume", "grade"]
    assert (finding.code, finding.level, finding.view, finding.count) == ("unknown_columns", "note", "ct", 2)
    assert finding.columns == ("x", "y")
    assert "2 columns that the model does not know: 'x', 'y'. They are left out." in finding.message


def test_unknown_views_are_left_out_and_recognized_by_their_columns():
    """Two tables could be the view 'lab', so neither is taken for it."""
    lab = {"crp": [1.0, 2.0], "age at visit": [50, 60]}
    given = tables(ct={"grade": [1, 2], "volume": [3.0, 4.0]}, blood=lab, serum=lab)
    known, (finding, _) = select_known(given, list(NAMES), NAMES)
    assert known.names == ["ct"]
    assert known.n_samples == 2
    assert (finding.code, finding.level, finding.view) == ("unknown_view", "warning", "blood")
    assert "'blood' has the columns of view 'lab': name it so." in finding.advice


def test_a_presence_mask_follows_its_views():
    frames = [pd.DataFrame({"q": [1.0, 2.0]}), pd.DataFrame({"volume": [1.0, 2.0], "grade": [1, 2]})]
    mask = np.array([[True, False], [False, True]])
    given = read_tables(frames, names=["other", "ct"], presence=mask)
    known, _ = select_known(given, list(NAMES), NAMES)
    np.testing.assert_array_equal(known.presence, mask[:, [1]])
    np.testing.assert_array_equal(Views.from_tables(known).presence, mask[:, [1]])


def test_missing_columns_are_named_with_similar_ones():
    given = tables(lab={"CRP": [1.0, 2.0], "age_at_visit": [50, 60], "weight": [70, 80]})
    with pytest.raises(ViewError) as raised:
        select_known(given, list(NAMES), NAMES)
    text = str(raised.value)
    assert "View 'lab' lacks 2 of the 2 columns it was fitted with: missing are 'crp', 'age at visit'" in text
    assert "'CRP' for 'crp'" in text
    assert "'age_at_visit' for 'age at visit'" in text


def test_no_known_view_is_an_error_that_names_the_views():
    with pytest.raises(ViewError, match=r"None of the views given \('labs'\).*'ct', 'lab'.*If 'labs' is view 'lab'"):
        select_known(tables(labs={"q": [1.0, 2.0]}), list(NAMES), NAMES)


def test_many_missing_columns_stay_on_one_screen():
    fitted = {"wide": [f"gene_{i}" for i in range(50_000)]}
    given = tables(wide={f"probe_{i}": [0.0, 1.0] for i in range(3000)})
    with pytest.raises(ViewError) as raised:
        select_known(given, ["wide"], fitted)
    assert len(str(raised.value)) < 500
    assert "lacks 50000 of the 50000 columns" in str(raised.value)


def test_what_is_selected_is_what_the_encoder_takes():
    training = {"ct": pd.DataFrame({"volume": [1.0, 2.0, 4.0], "kind": ["a", "b", "a"]}, index=["1", "2", "3"])}
    encoder = TableEncoder().fit(training)
    new = {"ct": training["ct"][["kind", "volume"]].assign(extra=1), "unheard": pd.DataFrame({"z": [1]}, index=["1"])}
    known, findings = select_known(read_tables(new), encoder.view_names_, encoder.view_feature_names_)
    assert encoder.transform(known) == encoder.transform(training)
    assert [finding.code for finding in findings] == ["unknown_view", "unknown_columns"]


def test_numbered_columns_are_left_to_the_estimator():
    known, findings = select_known(read_tables({"ct": np.ones((2, 5))}), ["ct"], {"ct": None})
    assert known.tables[0].n_features == 5
    assert findings == []
