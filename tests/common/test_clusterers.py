"""Properties of every estimator that partitions samples: containers, missing views, order of samples and of views."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_clusterer
from sklearn.metrics import adjusted_rand_score

from coview import Views
from coview.persistence import load_model, save_model

from .estimators import CLUSTERERS, all_estimators, clusterers

MODELS = [pytest.param(model, id=label) for label, model in clusterers()]
NAMES = ["a", "b", "c"]
N, WIDTHS = 36, [3, 2, 4]


def draw(seed=0, n=N):
    """Two groups that all three views show, a fifth of the views missing; positive entries."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    blocks = [
        np.exp(0.3 * rng.normal(size=(n, d)) + 1.5 * truth[:, None] * np.array([1.0, -1.0] * d)[:d]) for d in WIDTHS
    ]
    presence = rng.random((n, 3)) > 0.2
    presence[np.flatnonzero(~presence.any(axis=1)), 0] = True
    return blocks, presence, truth


def as_views(blocks, presence, names=NAMES, fill=np.nan):
    return Views([np.where(presence[:, [j]], b, fill) for j, b in enumerate(blocks)], names=names, presence=presence)


def same(first, second):
    """Whether two label vectors are the same partition."""
    return adjusted_rand_score(first, second) == 1.0 and ((first == -1) == (second == -1)).all()


@pytest.fixture
def fitted(model):
    blocks, presence, _ = draw()
    return clone(model).fit(as_views(blocks, presence))


def test_the_battery_runs_over_all_of_them():
    assert {name for name, make in all_estimators().items() if is_clusterer(make())} == set(CLUSTERERS)


@pytest.mark.parametrize("model", MODELS)
def test_groups_that_all_views_show_are_found(model, fitted):
    _, _, truth = draw()
    assert adjusted_rand_score(truth, fitted.labels_) > 0.8


@pytest.mark.parametrize("model", MODELS)
def test_labels_are_numbered_by_first_appearance(model, fitted):
    found = fitted.labels_[fitted.labels_ >= 0]
    _, first = np.unique(found, return_index=True)
    assert (np.diff(first) > 0).all()
    assert found.dtype.kind == "i"


@pytest.mark.parametrize("model", MODELS)
def test_containers_and_the_same_data_twice(model, fitted):
    blocks, presence, _ = draw()
    masked = [np.where(presence[:, [j]], block, np.nan) for j, block in enumerate(blocks)]
    before = [block.copy() for block in masked]
    stacked = clone(model).set_params(view_columns={"a": slice(0, 3), "b": slice(3, 5), "c": slice(5, 9)})
    for labels in (
        clone(model).fit_predict(masked),
        clone(model).fit_predict(dict(zip(NAMES, masked, strict=True))),
        clone(model).fit_predict({name: pd.DataFrame(block) for name, block in zip(NAMES, masked, strict=True)}),
        stacked.fit_predict(np.hstack(masked)),
        fitted.fit(as_views(blocks, presence)).labels_,
    ):
        np.testing.assert_array_equal(labels, fitted.labels_)
    for was, now in zip(before, masked, strict=True):
        np.testing.assert_array_equal(was, now)


@pytest.mark.parametrize("fill", [np.nan, 1e9, -1.0])
@pytest.mark.parametrize("model", MODELS)
def test_what_lies_under_a_missing_view_is_not_read(model, fitted, fill):
    blocks, presence, _ = draw()
    np.testing.assert_array_equal(clone(model).fit(as_views(blocks, presence, fill=fill)).labels_, fitted.labels_)


@pytest.mark.parametrize("model", MODELS)
def test_order_of_samples_and_of_views(model, fitted):
    blocks, presence, _ = draw()
    order = np.random.default_rng(1).permutation(N)
    moved = clone(model).fit(as_views([block[order] for block in blocks], presence[order]))
    assert same(moved.labels_, fitted.labels_[order])
    turned = [2, 0, 1]
    other = clone(model).fit(as_views([blocks[j] for j in turned], presence[:, turned], [NAMES[j] for j in turned]))
    assert same(other.labels_, fitted.labels_)


@pytest.mark.parametrize("model", MODELS)
def test_a_view_that_nobody_has(model, fitted):
    blocks, presence, _ = draw()
    ghost = np.column_stack([presence, np.zeros(N, dtype=bool)])
    other = clone(model).fit(as_views([*blocks, np.ones((N, 2))], ghost, [*NAMES, "ghost"]))
    assert same(other.labels_, fitted.labels_)


@pytest.mark.parametrize("model", MODELS)
def test_sparse_views_give_the_same_or_a_clear_error(model, fitted):
    blocks, presence, _ = draw()
    X = Views([sparse.csr_array(block) for block in blocks], names=NAMES, presence=presence)
    if model.__sklearn_tags__().input_tags.sparse:
        assert same(clone(model).fit(X).labels_, fitted.labels_)
    else:
        with pytest.raises(ValueError, match="sparse"):
            clone(model).fit(X)


@pytest.mark.parametrize("model", MODELS)
def test_stored_models_and_answers_for_new_samples(model, fitted, tmp_path):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    save_model(fitted, tmp_path / "clusters.coview")
    again = load_model(tmp_path / "clusters.coview").model
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    blocks, presence, truth = draw(seed=5)
    new = as_views(blocks, presence)
    together = fitted.predict(new)
    assert adjusted_rand_score(truth, together) > 0.6
    np.testing.assert_array_equal(again.predict(new), together)
    np.testing.assert_array_equal(np.concatenate([fitted.predict(new[[i]]) for i in range(N)]), together)
    assert fitted.predict({"b": blocks[1]}).shape == (N,)


@pytest.mark.parametrize("model", MODELS)
def test_stored_models_of_sparse_views(model, tmp_path):
    if not model.__sklearn_tags__().input_tags.sparse:
        return
    blocks, presence, _ = draw()
    X = Views([sparse.csr_array(block) for block in blocks], names=NAMES, presence=presence)
    fitted = clone(model).fit(X)
    save_model(fitted, tmp_path / "clusters.coview")
    again = load_model(tmp_path / "clusters.coview").model
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


@pytest.mark.parametrize("model", MODELS)
def test_samples_that_stand_twice_are_together(model):
    blocks, presence, _ = draw()
    twice = np.concatenate([np.arange(N), np.arange(N)])
    labels = clone(model).fit(as_views([block[twice] for block in blocks], presence[twice])).labels_
    np.testing.assert_array_equal(labels[:N], labels[N:])
