"""Data in which there is little or nothing to find: every clusterer gives a defined result, or says what is wrong."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from coview import Views
from coview.cluster import (
    BregmanAgglomerativeClustering,
    CoRegularizedSpectralClustering,
    CoTrainingSpectralClustering,
    HybridHierarchicalClustering,
    MultiRepresentedDBSCAN,
    MultiViewKMeans,
    MultiViewSpectralClustering,
    SimilarityNetworkFusion,
)
from coview.exceptions import ViewError

SPECTRAL = {
    "disagreement": MultiViewSpectralClustering(random_state=0),
    "disagreement-neighbors": MultiViewSpectralClustering(kernel="nearest_neighbors", random_state=0),
    "disagreement-landmarks": MultiViewSpectralClustering(n_landmarks=8, random_state=0),
    "joint": MultiViewSpectralClustering(affinity="joint", random_state=0),
    "sum": MultiViewSpectralClustering(affinity="sum", sigma="local", random_state=0),
    "co_training_kernel": MultiViewSpectralClustering(affinity="co_training", random_state=0),
    "co_regularized": CoRegularizedSpectralClustering(random_state=0),
    "co_training": CoTrainingSpectralClustering(random_state=0),
    "network_fusion": SimilarityNetworkFusion(random_state=0),
}
TREES = {
    "bregman": BregmanAgglomerativeClustering(),
    "hybrid": HybridHierarchicalClustering(random_state=0),
    "hybrid-kmeans": HybridHierarchicalClustering(splitter="kmeans", random_state=0),
}
MEANS = {"k_means": MultiViewKMeans(random_state=0)}
DENSITY = {
    "dbscan": MultiRepresentedDBSCAN(min_samples=3),
    "dbscan-intersection": MultiRepresentedDBSCAN(min_samples=3, combine="intersection"),
}
COUNTED = {**SPECTRAL, **TREES, **MEANS}
N = 40
GROUP = np.arange(N) % 2


def every(models):
    return pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in models.items()])


def two_groups(scales=(1.0, 1.0), widths=(3, 2), n=N):
    rng = np.random.default_rng(0)
    return {
        name: scale * (4.0 * (np.arange(n) % 2)[:, None] + rng.normal(size=(n, d)))
        for name, scale, d in zip("ab", scales, widths, strict=True)
    }


def fitted_labels(model, X, **parameters):
    """Labels of a fit, the same of a second one."""
    from sklearn.base import clone

    first = clone(model).set_params(**parameters).fit(X)
    np.testing.assert_array_equal(clone(model).set_params(**parameters).fit(X).labels_, first.labels_)
    return first.labels_


@every(SPECTRAL)
@pytest.mark.parametrize("make", [np.ones, sparse.csr_array])
def test_samples_that_are_all_the_same_have_no_spectrum(model, make):
    X = {"a": make((N, 3)), "b": make((N, 2))}
    with pytest.raises(
        ValueError, match=f"Only 1 of {N} samples are different, fewer than n_clusters=2.*fewer clusters"
    ):
        model.fit(X)
    np.testing.assert_array_equal(fitted_labels(model, X, n_clusters=1), np.zeros(N))


@every(SPECTRAL)
def test_two_different_samples_are_no_three_clusters_of_a_graph(model):
    X = {"a": GROUP[:, None] * 1.0, "b": 5.0 - GROUP[:, None]}
    np.testing.assert_array_equal(fitted_labels(model, X), GROUP)
    with pytest.raises(ValueError, match=f"Only 2 of {N} samples are different, fewer than n_clusters=3"):
        model.__class__(**{**model.get_params(), "n_clusters": 3}).fit(X)


@pytest.mark.parametrize("geometry", ["euclidean", "spherical"])
def test_k_means_leaves_clusters_empty_that_nobody_could_be_in(geometry):
    with pytest.warns(ConvergenceWarning, match=f"Only 1 of {N} samples are different, fewer than n_clusters=2"):
        model = MultiViewKMeans(2, geometry=geometry, random_state=0).fit({"a": np.ones((N, 3)), "b": np.ones((N, 2))})
    np.testing.assert_array_equal(model.labels_, np.zeros(N))
    np.testing.assert_array_equal(model.predict({"a": np.ones((3, 3))}), np.zeros(3))
    with pytest.warns(ConvergenceWarning, match=f"Only 2 of {N} samples are different, fewer than n_clusters=4"):
        model = MultiViewKMeans(4, geometry=geometry, random_state=0).fit(np.eye(2)[GROUP])
    np.testing.assert_array_equal(model.labels_, GROUP)
    np.testing.assert_array_equal(model.predict(np.eye(2)[GROUP]), GROUP)


@every({**TREES, **DENSITY})
def test_trees_and_regions_of_samples_that_are_all_the_same(model):
    labels = fitted_labels(model, {"a": np.ones((N, 3)), "b": np.zeros((N, 2))})
    assert len(set(labels)) == (2 if "n_clusters" in model.get_params() else 1)


@every(DENSITY)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_places_where_many_stand_are_regions_on_any_scale(model, scale):
    X = {"a": scale * GROUP[:, None], "b": np.eye(3)[GROUP]}
    np.testing.assert_array_equal(fitted_labels(model, X), GROUP)


@every({**COUNTED, **DENSITY})
def test_ties_are_broken_the_same_way_every_time(model):
    i, j = np.divmod(np.arange(N), 8)
    labels = fitted_labels(model, {"a": np.column_stack([i, j]) * 1.0, "b": np.column_stack([j, i, i]) * 1.0})
    assert (labels >= 0).all()


@every(COUNTED)
def test_more_clusters_than_samples(model):
    X = {name: block[:4] for name, block in two_groups().items()}
    with pytest.raises(ValueError, match=r"n_samples=4.*n_clusters=6|n_clusters must lie.*number of samples, 4; got 6"):
        model.__class__(**{**model.get_params(), "n_clusters": 6}).fit(X)


@every(COUNTED)
def test_every_sample_a_cluster(model):
    X = {name: block[:6] for name, block in two_groups().items()}
    np.testing.assert_array_equal(fitted_labels(model, X, n_clusters=6), np.arange(6))


@every({**COUNTED, **DENSITY})
def test_a_view_with_one_value_is_borne_or_named(model):
    X = {**two_groups(), "b": np.full((N, 2), 7.0)}
    needs_both = getattr(model, "affinity", "") == "minimizing_disagreement"
    if needs_both or isinstance(model, CoTrainingSpectralClustering):
        with pytest.raises(ViewError, match=f"View 'b' has the same row for all {N} samples.*Leave it out"):
            model.fit(X)
        return
    labels = fitted_labels(model, X)
    assert isinstance(model, MultiRepresentedDBSCAN) or adjusted_rand_score(GROUP, labels) == 1.0


def test_of_three_views_one_may_have_one_value():
    X = {**two_groups(), "c": np.ones((N, 1))}
    assert adjusted_rand_score(GROUP, fitted_labels(MultiViewSpectralClustering(random_state=0), X)) == 1.0
    with pytest.raises(ViewError, match="View 'c' has the same row"):
        MultiViewSpectralClustering(affinity="sum", kernel="nearest_neighbors").fit(X)


@every({**SPECTRAL, **MEANS})
def test_views_that_no_sample_links(model):
    X = two_groups()
    X["a"][: N // 2], X["b"][N // 2 :] = np.nan, np.nan
    with pytest.raises(
        ViewError, match=r"No sample has (two views|a view of 'a' and one of 'b').*by themselves|each view"
    ):
        model.fit(X)
    linked = {**X, "c": np.ones((N, 1)) * GROUP[:, None]}
    model.fit(linked)


@every(TREES)
def test_trees_of_clusters_that_share_no_view(model):
    X = two_groups()
    X["a"][: N // 2], X["b"][N // 2 :] = np.nan, np.nan
    with pytest.raises(ValueError, match="No two of the remaining 2 clusters share a view"):
        model.fit(X)


@every({**SPECTRAL, **MEANS, **TREES})
def test_a_sample_without_a_view_is_named(model):
    X = two_groups()
    X["a"][3] = X["b"][3] = np.nan
    with pytest.raises(ViewError, match=r"1 of 40 have none: '3'. Leave them out"):
        model.fit(X)


@every({**COUNTED, **DENSITY})
def test_one_sample_for_each_combination_of_views(model):
    rng = np.random.default_rng(0)
    presence = (np.arange(1, 16)[:, None] >> np.arange(4)) % 2 == 1
    blocks = [8.0 * GROUP[:15, None] + rng.normal(size=(15, 2)) for _ in range(4)]
    labels = fitted_labels(model, Views(blocks, presence=presence))
    assert labels.shape == (15,)
    if not isinstance(model, MultiRepresentedDBSCAN):
        assert adjusted_rand_score(GROUP[:15], labels) > 0.6


@every({**COUNTED, **DENSITY})
@pytest.mark.parametrize("scales", [(1e-8, 1e8), (1e8, 1e-8)])
def test_views_on_scales_far_apart(model, scales):
    same = fitted_labels(model, two_groups())
    if isinstance(model, BregmanAgglomerativeClustering):  # whose costs add up as they are, unless weighed
        same = fitted_labels(model, two_groups(), view_weights=[1.0, 1.0])
        model = BregmanAgglomerativeClustering(view_weights=[1.0 / scale**2 for scale in scales])
    np.testing.assert_array_equal(fitted_labels(model, two_groups(scales)), same)


@every({**COUNTED, **DENSITY})
def test_a_hundred_thousand_columns(model):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(12, 100_000)) + 0.3 * GROUP[:12, None]
    labels = fitted_labels(model, {"wide": wide, "b": two_groups(n=12)["b"]})
    assert isinstance(model, MultiRepresentedDBSCAN) or adjusted_rand_score(GROUP[:12], labels) == 1.0


@every(COUNTED)
def test_groups_without_any_likeness_between_them(model):
    X = {name: block + 1e6 * GROUP[:, None] for name, block in two_groups().items()}
    np.testing.assert_array_equal(fitted_labels(model, X), GROUP)


@pytest.mark.parametrize("name", ["co_regularized", "co_training", "network_fusion", "joint", "sum"])
def test_a_sample_that_is_similar_to_nothing_is_named(name):
    X = {view: np.vstack([block, np.full((1, block.shape[1]), 1e4)]) for view, block in two_groups().items()}
    model = SPECTRAL[name].__class__(**{**SPECTRAL[name].get_params(), "sigma": 2.0, "kernel": lonely})
    with pytest.warns(UserWarning, match=r"1 samples are similar to no other.*'40'.*Their label is -1"):
        labels = model.fit(X).labels_
    assert labels[N] == -1
    np.testing.assert_array_equal(labels[:N], GROUP)


def lonely(left, right=None):
    """Gaussian affinities, exactly none for samples far away, not even for themselves."""
    right = left if right is None else right
    squares = ((left[:, None] - right[None]) ** 2).sum(axis=2)
    near = (np.abs(left).max(axis=1) < 1e3)[:, None] & (np.abs(right).max(axis=1) < 1e3)
    return np.where(near, np.exp(-squares / 8.0), 0.0)
