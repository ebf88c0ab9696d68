"""K-means over views: scikit-learn's with one view, monotone cost, missing and sparse views, scales, bad input."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from coview import Views
from coview.cluster import MultiViewKMeans
from coview.exceptions import ViewError
from coview.inference import MeansView, multi_view_k_means


def draw(n=90, seed=0, gap=4.0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    blocks = [rng.normal(size=(n, d)) + gap * np.eye(d)[truth] for d in (3, 5)]
    presence = rng.random((n, 2)) > 0.3
    presence[~presence.any(axis=1), 0] = True
    return blocks, presence, truth


def test_one_view_equals_scikit_learn():
    (X, _), _, _ = draw(gap=2.0)
    start = X[:3]
    ours = MultiViewKMeans(3, init=[start], view_weights=1.0).fit(X)
    peer = KMeans(3, init=start, n_init=1, tol=0.0, algorithm="lloyd").fit(X)
    assert adjusted_rand_score(ours.labels_, peer.labels_) == 1.0
    np.testing.assert_allclose(ours.inertia_, peer.inertia_, rtol=1e-10)


def test_views_side_by_side_equal_scikit_learn_on_one_table():
    blocks, _, _ = draw(gap=2.0)
    start = [block[:3] for block in blocks]
    ours = MultiViewKMeans(3, init=start, view_weights=[1.0, 4.0]).fit(blocks)
    table = np.hstack([blocks[0], 2.0 * blocks[1]])
    peer = KMeans(3, init=table[:3], n_init=1, tol=0.0, algorithm="lloyd").fit(table)
    np.testing.assert_allclose(ours.inertia_, peer.inertia_, rtol=1e-10)


@pytest.mark.parametrize("geometry", ["euclidean", "spherical"])
def test_every_step_lowers_the_cost(geometry):
    blocks, presence, _ = draw(gap=1.0)
    views = Views(blocks, presence=presence)
    start = [np.random.default_rng(3).normal(size=(3, block.shape[1])) for block in blocks]
    costs = []
    for steps in range(1, 8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            costs.append(MultiViewKMeans(3, geometry=geometry, init=start, max_iter=steps).fit(views).inertia_)
    assert (np.diff(costs) <= 1e-9 * costs[0]).all()


def test_inertia_is_the_weighted_squared_distance_from_the_centers():
    blocks, presence, _ = draw()
    model = MultiViewKMeans(3, random_state=0).fit(Views(blocks, names=["a", "b"], presence=presence))
    total = 0.0
    for v, name in enumerate("ab"):
        rows = np.flatnonzero(presence[:, v])
        total += (
            model.view_weights_[name]
            * ((blocks[v][rows] - model.cluster_centers_[name][model.labels_[rows]]) ** 2).sum()
        )
    np.testing.assert_allclose(model.inertia_, total, rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_views_count_alike_on_any_scale(offset):
    blocks, presence, truth = draw(gap=6.0)
    views = Views([blocks[0] * 1e-8, blocks[1] + offset], names=["a", "b"], presence=presence)
    model = MultiViewKMeans(3, random_state=0).fit(views)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert adjusted_rand_score(truth, model.predict({"b": blocks[1] + offset})) > 0.95


def test_sparse_text_on_the_sphere():
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    words = sparse.csr_array(
        rng.poisson(0.2 + 3.0 * np.kron(np.eye(2), np.ones(500))[truth][:, :1000] * 0.2).astype(float)
    )
    lengths = sparse.diags_array(rng.integers(1, 50, size=60).astype(float))
    model = MultiViewKMeans(2, geometry="spherical", random_state=0).fit(sparse.csr_array(lengths @ words))
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    np.testing.assert_allclose(np.linalg.norm(model.cluster_centers_["view_0"], axis=1), 1.0)
    dense = MultiViewKMeans(2, geometry="spherical", random_state=0).fit((lengths @ words).toarray())
    np.testing.assert_array_equal(dense.labels_, model.labels_)


def test_no_cluster_is_left_empty_and_identical_samples_are_allowed():
    X = np.array([[0.0], [0.0], [0.0], [10.0]])
    with pytest.warns(ConvergenceWarning, match="Only 2 of 4 samples are different"):
        model = MultiViewKMeans(3, init=[np.array([[0.0], [100.0], [200.0]])]).fit(X)
    assert model.labels_.tolist() == [0, 0, 0, 1]
    with pytest.warns(ConvergenceWarning, match="Only 1 of 4 samples are different"):
        same = MultiViewKMeans(2, random_state=0).fit(np.ones((4, 2)))
    assert same.inertia_ == 0.0


def test_bad_input():
    blocks, presence, _ = draw(6)
    with pytest.raises(ValueError, match="n_samples=6 is too few for n_clusters=7: ask for 6 or fewer"):
        MultiViewKMeans(7).fit(blocks)
    with pytest.raises(ValueError, match="init must hold one table of centers per view"):
        MultiViewKMeans(2, init=[np.ones((2, 3))]).fit(blocks)
    with pytest.raises(ValueError, match="view_weights must be one number, or one for each of the 2 views"):
        MultiViewKMeans(2, view_weights=[1.0]).fit(blocks)
    presence[2] = False
    with pytest.raises(ViewError, match=r"1 of 6 have none: '2'\. Leave them out"):
        MultiViewKMeans(2).fit(Views(blocks, presence=presence))
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        MultiViewKMeans(3, max_iter=1, random_state=0).fit(draw(gap=0.1)[0])


@pytest.mark.parametrize("seed", range(4))
def test_known_samples_stay_and_the_rest_is_placed_at_least_cost(seed):
    """By all partitions of the samples whose cluster is not known; the third cluster has no known sample."""
    rng = np.random.default_rng(seed)
    blocks = [rng.normal(size=(9, d)) + 2.0 * np.eye(3, d)[np.arange(9) % 3] for d in (3, 2)]
    has = [np.arange(9), np.flatnonzero(np.arange(9) != 7)]
    known = np.array([1, 0, -1, -1, 0, -1, 1, -1, -1])
    views = [MeansView(block[rows], rows, weight) for block, rows, weight in zip(blocks, has, (1.0, 0.5), strict=True)]

    def cost(labels):
        parts = [(w, block[rows], labels[rows]) for w, block, rows in zip((1.0, 0.5), blocks, has, strict=True)]
        return sum(w * own[of == c].var(axis=0).sum() * (of == c).sum() for w, own, of in parts for c in np.unique(of))

    free = np.flatnonzero(known < 0)
    every = np.tile(known, (3 ** len(free), 1))
    every[:, free] = list(product(range(3), repeat=len(free)))
    found = multi_view_k_means(views, 9, 3, np.random.RandomState(0), known=known, n_init=30)
    np.testing.assert_array_equal(found.labels[known >= 0], known[known >= 0])
    np.testing.assert_allclose(found.cost, min(cost(labels) for labels in every if 2 in labels), rtol=1e-9)
    np.testing.assert_allclose(cost(found.labels), found.cost, rtol=1e-9)


def test_samples_between_two_centers_do_not_go_back_and_forth():
    """Rows of zeros have no direction, and rows far from the origin nearly the same: they are between all centers."""
    i, j = np.divmod(np.arange(40), 8)
    rng = np.random.default_rng(0)
    far = 1e8 + 4.0 * (np.arange(40) % 2)[:, None] + rng.normal(size=(40, 3))
    for X in (np.column_stack([i, j]) * 1.0, far):
        model = MultiViewKMeans(2, geometry="spherical", random_state=0).fit(X)  # without a warning
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        assert model.n_iter_ < 50
