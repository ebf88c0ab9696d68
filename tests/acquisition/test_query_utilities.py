"""Labels and views in one ranking."""

import numpy as np
import pandas as pd
import pytest

from coview import Views
from coview.acquisition import Costs, label_utilities, query_utilities, view_utilities
from coview.gaussian_process import BayesianCoTrainingClassifier

from .small_problems import fixed, problem


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_labels_and_views_are_those_of_their_own_tables(latent):
    views, y, _ = problem()
    costs = Costs({"v0": 3.0, "v1": 2.0}, label=1.5)
    table = query_utilities(fixed(latent), views, y, costs=costs)
    assert table["utility_per_cost"].is_monotonic_decreasing
    mine = table[table["query"] == "view"].drop(columns="query").sort_values(["sample", "view"], ignore_index=True)
    theirs = view_utilities(fixed(latent), views, y, criterion="mutual_information", costs=costs)
    pd.testing.assert_frame_equal(mine, theirs.sort_values(["sample", "view"], ignore_index=True), check_dtype=False)
    labels = table[table["query"] == "label"].set_index("sample")
    assert labels["view"].isna().all()
    want = label_utilities(fixed(latent), views, y, costs=costs).set_index("sample")
    np.testing.assert_allclose(labels["utility"].sort_index(), want["utility"].sort_index())
    assert (labels["cost"] == 1.5).all()


def test_labels_alone_views_alone_and_nothing():
    views, y, tables = problem()
    known = np.arange(24.0) % 2
    assert set(query_utilities(fixed(), Views(tables), y)["query"]) == {"label"}
    assert set(query_utilities(fixed(), views, known)["query"]) == {"view"}
    nothing = query_utilities(fixed(), Views(tables), known)
    assert list(nothing.columns) == ["query", "sample", "view", "utility"]
    assert nothing.empty


def test_one_class_so_far_and_classes_minus_one_and_one():
    views, y, _ = problem()
    model = BayesianCoTrainingClassifier(n_components=5, classes=[0.0, 1.0])
    one = np.where(y == 0.0, 0.0, np.nan)
    assert np.isfinite(view_utilities(model, views, one)["utility"]).all()
    signs = (2 * (np.arange(24) % 2) - 1).astype(int)
    table = view_utilities(fixed(missing_label=None), views, signs, criterion="mutual_information")
    assert np.isfinite(table["utility"]).all()


def test_samples_with_ids_are_named_by_them():
    views, y, tables = problem()
    frames = {
        name: pd.DataFrame(table[has], index=np.array([f"p{i}" for i in range(24)])[has])
        for name, table, has in zip(views.names, tables, views.presence.T, strict=True)
    }
    labels = pd.Series(y, index=[f"p{i}" for i in range(24)])
    named = view_utilities(fixed(), frames, labels, criterion="mutual_information", costs={("p20", "v0"): 2.0})
    plain = view_utilities(fixed(), views, y, criterion="mutual_information")
    plain = plain.assign(sample=[f"p{i}" for i in plain["sample"]]).set_index(["sample", "view"])["utility"]
    np.testing.assert_allclose(
        named.set_index(["sample", "view"])["utility"].sort_index(), plain.sort_index(), rtol=1e-9
    )
