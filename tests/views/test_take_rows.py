"""Some samples of raw tables."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from coview import Views
from coview.views import read_tables, resolve_presence, take_rows


def cohort():
    """Three tables over the samples a, b, c, d; numbers, text, and a sparse one without ids of its own order."""
    clinical = pd.DataFrame({"age": [40.0, np.nan, 61.0], "sex": ["f", None, "m"]}, index=["a", "b", "c"])
    ct = pd.DataFrame({"volume": [3.0, 2.0, 1.0]}, index=["d", "c", "a"])
    return read_tables({"clinical": clinical, "ct": ct})


def test_rows_come_in_the_order_asked_for_with_their_own_cells():
    taken = take_rows(cohort(), [3, 0])
    assert list(taken.ids) == ["d", "a"]
    clinical, ct = taken.tables
    assert (clinical.values["sex"].tolist(), clinical.rows.tolist(), list(clinical.ids)) == (["f"], [1], ["a"])
    owners = dict(zip(ct.rows.tolist(), ct.values["volume"], strict=True))
    assert owners == {0: 3.0, 1: 1.0}


@pytest.mark.parametrize("key", [[2, 1], slice(1, 3), np.array([False, True, True, False]), [-1], []])
def test_presence_is_that_of_the_samples(key):
    aligned = cohort()
    rows = np.arange(4)[key]
    assert_array_equal(resolve_presence(take_rows(aligned, key)), resolve_presence(aligned)[rows])


def test_taking_from_raw_tables_and_from_views_gives_the_same():
    rng = np.random.default_rng(0)
    raw = read_tables([rng.normal(size=(5, 2)), sparse.random_array((5, 4), density=0.5, rng=rng, format="csr")])
    assert Views.from_tables(take_rows(raw, [4, 1, 2])) == Views.from_tables(raw)[[4, 1, 2]]


def test_a_mask_of_presence_is_cut_too():
    aligned = read_tables([np.ones((3, 1)), np.ones((3, 1))], presence=[[True, True], [True, False], [False, True]])
    assert_array_equal(resolve_presence(take_rows(aligned, [2, 1])), [[False, True], [True, False]])


def test_a_sample_twice_is_refused():
    with pytest.raises(ValueError, match="a sample twice"):
        take_rows(cohort(), [1, 1])


def test_taken_tables_are_a_source_of_views():
    views = Views(take_rows(read_tables({"ct": pd.DataFrame({"volume": [1.0, 2.0]}, index=["p", "q"])}), [1]))
    assert (list(views.index), views["ct"].tolist()) == (["q"], [[2.0]])
