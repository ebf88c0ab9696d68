"""Features of one table dealt to several views."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coview import Views
from coview.exceptions import ViewError


def table():
    rng = np.random.default_rng(0)
    ids, columns = [f"s{i}" for i in range(5)], [f"f{j}" for j in range(7)]
    frame = pd.DataFrame(rng.normal(size=(5, 7)), index=ids, columns=columns)
    frame.iloc[2] = np.nan
    return frame


def test_every_feature_goes_to_one_view_with_its_name_and_values():
    frame = table()
    views = Views({"all": frame}).random_split(3, random_state=1)
    assert views.names == ["view_0", "view_1", "view_2"]
    assert sorted(views.n_features.values()) == [2, 2, 3]
    dealt = pd.concat([views.to_frame(name) for name in views], axis=1)
    pd.testing.assert_frame_equal(dealt[frame.columns], frame, check_names=False)
    assert all(list(names) == sorted(names) for names in views.feature_names.values())
    assert views.index.tolist() == frame.index.tolist()
    np.testing.assert_array_equal(views.presence, np.array([[True] * 3] * 2 + [[False] * 3] + [[True] * 3] * 2))


def test_seeds():
    views = Views({"all": table()})
    assert views.random_split(3, random_state=1) == views.random_split(3, random_state=1)
    assert views.random_split(3, random_state=1) != views.random_split(3, random_state=2)
    new = views[[0, 4]].random_split(3, random_state=1)
    assert new == views.random_split(3, random_state=1)[[0, 4]]


def test_sparse_features_stay_sparse_and_presence_is_kept():
    counts = sparse.random_array((6, 10), density=0.4, rng=np.random.default_rng(3), format="csr")
    presence = np.array([[True]] * 4 + [[False]] * 2)
    views = Views([counts], presence=presence).random_split(4, random_state=0, names=list("abcd"))
    assert views.names == list("abcd")
    assert all(sparse.issparse(views[name]) for name in views)
    np.testing.assert_array_equal(views.presence, np.repeat(presence, 4, axis=1))
    order = np.random.RandomState(0).permutation(10)
    for j, name in enumerate(views):
        np.testing.assert_array_equal(views[name].toarray(), counts[:4].toarray()[:, np.sort(order[j::4])])


@pytest.mark.parametrize("n_views", [0, 8, 1.5])
def test_numbers_of_views_that_cannot_be(n_views):
    with pytest.raises(ViewError, match="between 1 and the number of features, 7"):
        Views({"all": table()}).random_split(n_views)


def test_several_views_and_bad_names_are_refused():
    with pytest.raises(ViewError, match="takes one view, and there are 2"):
        Views([np.eye(3), np.eye(3)]).random_split(2)
    with pytest.raises(ViewError, match="different names"):
        Views([np.eye(3)]).random_split(2, names=["a", "a"])
    with pytest.raises(ViewError, match="different names"):
        Views([np.eye(3)]).random_split(2, names=["a"])
