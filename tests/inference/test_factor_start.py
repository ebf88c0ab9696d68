"""Starts of factor mixtures: clusters of incomplete rows, axes of clusters, what may be given."""

import numpy as np
import pytest
from sklearn.utils import check_random_state

from coview.inference import FactorData, factor_em, factor_starts, observed_moments
from coview.inference._factor_start import incomplete_clusters

SETTINGS = {"n_components": 3, "n_factors": 2, "n_classes": 2, "noise_variance": None, "n_init": 4}


def clusters(seed=0, n=90):
    """Three groups far apart in either half of the features; a third of the rows misses each half."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    X = rng.normal(size=(n, 6)) + 12 * np.eye(3)[kind].repeat(2, axis=1)[:, [0, 2, 4, 1, 3, 5]]
    part = np.arange(n) // 3 % 3
    X[part == 1, :3] = np.nan
    X[part == 2, 3:] = np.nan
    return X, kind


def test_groups_are_found_from_what_each_row_has():
    X, kind = clusters()
    labels = [incomplete_clusters(X, 3, check_random_state(seed))[0] for seed in range(5)]
    pure = [len({(a, b) for a, b in zip(found, kind, strict=True)}) == 3 for found in labels]
    assert sum(pure) >= 3


def test_rows_without_a_view_make_no_center_in_its_middle():
    """Eight groups that only the last two features tell apart, which most rows do not have."""
    corners, found = 20.0 * np.array([[i, j] for i in range(4) for j in range(2)]), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        kind = np.arange(400) % 8
        X = np.column_stack([4 * rng.normal(size=(400, 8)), corners[kind] + rng.normal(size=(400, 2))])
        X[80:, 8:] = np.nan
        labels, centers = incomplete_clusters(X, 8, check_random_state(seed))
        found.append((np.hypot(*(X[:80, 8:] - centers[labels[:80], 8:]).T) < 10.0).mean())
    assert np.mean(found) > 0.84  # .88; k-means among all rows: .79


def test_moments_of_observed_values():
    X, _ = clusters()
    means, variances = observed_moments(np.column_stack([X, np.full(len(X), np.nan)]))
    np.testing.assert_allclose(means, [*np.nanmean(X, axis=0), 0.0])
    np.testing.assert_allclose(variances, [*np.nanvar(X, axis=0), 0.0])


@pytest.mark.parametrize("kind", ["kmeans", "random"])
def test_starts_differ_repeat_with_their_seed_and_may_be_given_in_part(kind):
    X, group = clusters()
    y = np.where(np.arange(len(X)) < 30, group % 2, -1)

    def made(seed, **explicit):
        return list(
            factor_starts(X, y, kind=kind, random_state=check_random_state(seed), explicit=explicit, **SETTINGS)
        )

    first, again = made(0), made(0)
    assert len(first) == 4
    assert not np.allclose(first[0].loadings, first[1].loadings)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.loadings, other.loadings)
    for start in first:
        np.testing.assert_allclose(start.weights.sum(), 1.0)
        np.testing.assert_allclose(start.class_probabilities.sum(axis=1), 1.0)
        assert (start.class_probabilities > 0).all()
        assert start.noise_variance > 0
        assert np.isfinite(start.means).all()
    given = np.full((3, 6), 7.0)
    assert all((start.means == given).all() for start in made(0, means=given))


def test_a_start_given_in_full_is_one_start():
    X, _ = clusters()
    start = next(factor_starts(X, np.full(len(X), -1), kind="kmeans", random_state=check_random_state(0), **SETTINGS))
    explicit = {name: getattr(start, name) for name in ("weights", "means", "loadings", "class_probabilities")}
    explicit["noise_variance"] = 0.5
    settings = SETTINGS | {"kind": "kmeans", "random_state": check_random_state(1), "explicit": explicit}
    only = list(factor_starts(X, np.full(len(X), -1), **settings))
    assert len(only) == 1
    assert only[0].noise_variance == 0.5


def test_clusters_start_nearer_the_end_than_random_rows():
    X, _ = clusters()
    data, y = FactorData.of(X), np.full(len(X), -1)
    first = {}
    for kind in ("kmeans", "random"):
        starts = factor_starts(X, y, kind=kind, random_state=check_random_state(0), **(SETTINGS | {"n_classes": 0}))
        first[kind] = max(factor_em(data, start, tol=0.0, max_iter=0, noise_floor=1e-6).objective for start in starts)
    assert first["kmeans"] > first["random"]


@pytest.mark.parametrize("shape", [(1, 3), (4, 1), (3, 8)])
def test_tiny_tables_start(shape):
    X = np.random.default_rng(0).normal(size=shape)
    y = np.full(len(X), -1)
    for kind in ("kmeans", "random"):
        for start in factor_starts(X, y, kind=kind, random_state=check_random_state(0), **SETTINGS):
            assert np.isfinite(start.loadings).all()
            assert start.loadings.shape == (3, shape[1], 2)
