"""One number per view, however it is said."""

import numpy as np
import pytest

from coview.exceptions import ViewError
from coview.views import numbers_per_view

NAMES = ["ct", "gene"]


@pytest.mark.parametrize("value", [[1.0, 0.5], (1, 0.5), np.array([1.0, 0.5]), {"gene": 0.5, "ct": 1}])
def test_by_position_or_by_name(value):
    assert numbers_per_view(value, NAMES, "ridge").tolist() == [1.0, 0.5]


def test_one_for_all():
    assert numbers_per_view(np.float32(2.0), NAMES, "ridge").tolist() == [2.0, 2.0]
    assert numbers_per_view(0, NAMES, "ridge").tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ([1.0], ValueError, "ridge must be one number, or one for each of the 2 views"),
        ([[1.0, 2.0]], ValueError, "one for each of the 2 views"),
        ({"ct": 1.0}, ViewError, "without a value: \\['gene'\\]"),
        ([1.0, -1.0], ValueError, "not negative"),
        ([1.0, np.nan], ValueError, "finite"),
        (np.inf, ValueError, "finite"),
    ],
)
def test_what_is_no_such_thing(value, kind, message):
    with pytest.raises(kind, match=message):
        numbers_per_view(value, NAMES, "ridge")


def test_zero_may_be_refused():
    with pytest.raises(ValueError, match="ridge must be finite and positive"):
        numbers_per_view([1.0, 0.0], NAMES, "ridge", positive=True)
