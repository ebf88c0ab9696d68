"""Co-regularized, co-trained and fused spectra: reductions, brute force, missing views, new samples."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from coview import Views
from coview.cluster import (
    CoRegularizedSpectralClustering,
    CoTrainingSpectralClustering,
    MultiViewSpectralClustering,
    SimilarityNetworkFusion,
)
from coview.exceptions import ViewError
from coview.inference import (
    AffinityView,
    balanced_coupling,
    co_regularized_spectra,
    co_trained_spectra,
    fused_network,
    shared_directions,
)

MODELS = [
    CoRegularizedSpectralClustering(3, random_state=0),
    CoRegularizedSpectralClustering(3, centroid=True, random_state=0),
    CoTrainingSpectralClustering(3, random_state=0),
    SimilarityNetworkFusion(3, n_neighbors=8, random_state=0),
]
IDS = ["pairwise", "centroid", "co-training", "fusion"]


def draw(n=60, seed=0, gap=4.0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    return [rng.normal(size=(n, d)) + gap * np.eye(d)[truth] for d in (3, 4, 5)], truth


def affinities(blocks, sigma=3.0):
    return [np.exp(-cdist(b, b, "sqeuclidean") / (2 * sigma**2)) for b in blocks]


def complete(blocks):
    return [AffinityView(A, np.arange(len(A))) for A in affinities(blocks)]


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_groups_in_incomplete_views_and_in_new_samples(model):
    blocks, truth = draw()
    presence = np.random.default_rng(1).random((60, 3)) > 0.3
    presence[~presence.any(axis=1), 0] = True
    model.fit(Views(blocks, names=["a", "b", "c"], presence=presence))
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    new, new_truth = draw(seed=5)
    assert adjusted_rand_score(new_truth, model.predict(dict(zip("abc", new, strict=True)))) > 0.9
    assert adjusted_rand_score(new_truth, model.predict({"b": new[1]})) > 0.6
    presence[4] = False
    incomplete = Views(blocks, names=["a", "b", "c"], presence=presence)
    with pytest.raises(ViewError, match=r"1 of \d+ have none: '4'\. Leave them out"):
        model.fit(incomplete)


@pytest.mark.parametrize("model", MODELS[:3], ids=IDS[:3])
def test_one_view_is_plain_spectral_clustering(model):
    (X, _, _), _ = draw(gap=2.5)
    alone = model.fit(X)
    L = affinities([X], alone._affinities[0].widths[0])[0]
    L /= np.sqrt(np.outer(L.sum(axis=0), L.sum(axis=0)))
    U = np.linalg.eigh(L)[1][:, -3:]
    rows = U / np.linalg.norm(U, axis=1, keepdims=True)
    np.testing.assert_allclose(alone.embedding_ @ alone.embedding_.T, rows @ rows.T, atol=1e-8)


@pytest.mark.parametrize("centroid", [False, True])
def test_rounds_raise_the_objective(centroid):
    blocks, _ = draw(gap=1.5)
    _, objective = co_regularized_spectra(complete(blocks), 60, 3, 0.5, centroid=centroid, n_iter=6)
    assert (np.diff(objective) >= -1e-10).all()
    assert objective[-1] > objective[0]


def test_co_regularized_views_come_closer_as_the_coupling_grows():
    blocks, _ = draw(gap=1.5)
    distances = []
    for coupling in (0.0, 0.1, 10.0):
        (U, V, W), _ = co_regularized_spectra(complete(blocks), 60, 3, coupling, n_iter=8)
        distances.append(3 - np.linalg.norm(U.T @ V) ** 2 + 3 - np.linalg.norm(U.T @ W) ** 2)
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.01


def test_balanced_coupling_by_hand_and_as_affinities_grow_wide():
    blocks, _ = draw(gap=1.5)
    found = {}
    for sigma in (3.0, 30.0):
        matrices = affinities(blocks, sigma)
        values = [
            np.linalg.eigvalsh(A / np.sqrt(np.outer(A.sum(axis=0), A.sum(axis=0))))[-3:-1].mean() for A in matrices
        ]
        found[sigma] = balanced_coupling([AffinityView(A, np.arange(60)) for A in matrices], 3)
        assert found[sigma] == pytest.approx(np.mean(values) / 2)
    assert found[30.0] < 0.05 * found[3.0]
    model = CoRegularizedSpectralClustering(3, sigma=3.0, random_state=0).fit(blocks)
    assert model.coupling_ == pytest.approx(found[3.0])
    assert CoRegularizedSpectralClustering(3, coupling=0.2, random_state=0).fit(blocks).coupling_ == 0.2
    assert CoRegularizedSpectralClustering(3, random_state=0).fit(blocks[0]).coupling_ == 0.0


@pytest.mark.parametrize("centroid", [False, True])
def test_who_has_what_is_no_direction_that_co_regularized_views_agree_on(centroid):
    blocks, truth = draw(150)
    presence = np.random.default_rng(2).random((150, 2)) > 0.4
    presence[~presence.any(axis=1), 0] = True
    views = Views(blocks[:2], names=["a", "b"], presence=presence)
    # affinities so wide that agreement, once it has a say, outweighs them
    model = CoRegularizedSpectralClustering(3, coupling=0.5, centroid=centroid, sigma=30.0, random_state=0).fit(views)
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert adjusted_rand_score(presence @ [1, 2], model.labels_) < 0.1


def test_one_round_of_co_training_by_hand():
    blocks, _ = draw(12)
    first, second = affinities(blocks[:2])

    def leading(A):
        d = A.sum(axis=0)
        return np.linalg.eigh(A / np.sqrt(np.outer(d, d)))[1][:, -3:]

    U, V = leading(first), leading(second)
    S = V @ V.T @ first
    S = np.maximum((S + S.T) / 2, 0)
    expected = leading(S)
    got = co_trained_spectra(
        [AffinityView(first, np.arange(12)), AffinityView(second, np.arange(12))], 12, 3, n_iter=1
    )[0]
    np.testing.assert_allclose(got @ got.T, expected @ expected.T, atol=1e-9)
    assert np.abs(got @ got.T - U @ U.T).max() > 1e-6


def test_widths_of_pairs_by_hand():
    (X, _, _), _ = draw(30)
    new = draw(2, seed=3)[0][0]
    affinity = SimilarityNetworkFusion(3, random_state=0).fit(X)._affinities[0]
    got, far = affinity.training(), affinity.to_training(new)

    def distance(x, z):
        return float(np.sqrt(np.sum((x - z) ** 2)))

    mean = [np.mean(sorted(distance(x, z) for z in X)[1:21]) for x in X]
    new_mean = [np.mean(sorted(distance(x, z) for z in X)[:20]) for x in new]
    for table, rows, means in ((got, X, mean), (far, new, new_mean)):
        for i, x in enumerate(rows):
            for j, z in enumerate(X):
                width = 0.5 * (means[i] + mean[j] + distance(x, z)) / 3
                assert table[i, j] == pytest.approx(np.exp(-(distance(x, z) ** 2) / (2 * width**2)), abs=1e-10)


@pytest.mark.parametrize("n", [12, 90])  # products with the neighbors are dense or sparse
def test_one_round_of_fusion_by_hand(n):
    blocks, _ = draw(n)
    first, second = affinities(blocks[:2])

    def full(A):
        A = A - np.diag(np.diag(A))
        return A / (2 * A.sum(axis=1, keepdims=True)) + np.eye(n) / 2

    def near(A, k):
        S = np.zeros_like(A)
        for i, row in enumerate(A):
            nearest = np.argsort(-row, kind="stable")[: k + 1]
            S[i, nearest] = row[nearest] / row[nearest].sum()
        return S

    moved = [near(A, 4) @ full(B) @ near(A, 4).T for A, B in ((first, second), (second, first))]
    moved = [full((P + P.T) / 2) for P in moved]
    expected = sum((P + P.T) / 2 for P in moved) / 2
    np.fill_diagonal(expected, 0.0)
    views = [AffinityView(A, np.arange(n)) for A in (first, second)]
    np.testing.assert_allclose(fused_network(views, n, n_neighbors=4, n_iter=1), expected, atol=1e-12)


def test_fusion_of_incomplete_views_by_sparse_products_equals_that_by_dense_ones(monkeypatch):
    blocks, _ = draw(150)
    presence = np.random.default_rng(2).random((150, 3)) > 0.2
    views = [
        AffinityView(A[np.ix_(has, has)], np.flatnonzero(has))
        for A, has in zip(affinities(blocks), presence.T, strict=True)
    ]
    by_sparse = fused_network(views, 150, n_neighbors=5, n_iter=6)
    monkeypatch.setattr("coview.inference._view_spectra._DENSE_SHARE", 0.0)
    np.testing.assert_allclose(by_sparse, fused_network(views, 150, n_neighbors=5, n_iter=6), atol=1e-14)


def test_samples_without_a_common_view_are_not_joined_and_partners_keep_what_they_have():
    blocks, _ = draw(12)
    A = affinities(blocks[:2])
    views = [AffinityView(A[0][:7, :7], np.arange(7)), AffinityView(A[1][5:, 5:], np.arange(5, 12))]
    network = fused_network(views, 12, n_neighbors=3, n_iter=4)
    assert (network[:5, 7:] == 0.0).all()
    assert (network[:5, :5] + np.eye(5) > 0.0).all()
    np.testing.assert_allclose(network, network.T)


def test_shared_directions_of_equal_views_are_those_of_one():
    blocks, _ = draw()
    U = np.linalg.qr(blocks[0])[0]
    shared = shared_directions(complete(blocks[:2]), [U, U @ np.linalg.qr(np.ones((3, 3)) + np.eye(3))[0]], 60, 3)
    np.testing.assert_allclose(shared @ shared.T, U @ U.T, atol=1e-10)


def test_iterative_solver_equals_the_dense_one(monkeypatch):
    blocks, _ = draw(420, gap=2.0)
    iterative = co_regularized_spectra(complete(blocks[:2]), 420, 3, 0.2, n_iter=3)[0]
    monkeypatch.setattr("coview.linalg._eigen._DENSE_LIMIT", 10_000)
    dense = co_regularized_spectra(complete(blocks[:2]), 420, 3, 0.2, n_iter=3)[0]
    for a, b in zip(iterative, dense, strict=True):
        np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-7)


def test_neighbors_only_and_too_many_clusters():
    blocks, truth = draw()
    model = CoTrainingSpectralClustering(3, kernel="nearest_neighbors", random_state=0).fit(blocks)
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    reference = MultiViewSpectralClustering(3, affinity="sum", random_state=0).fit(blocks)
    assert adjusted_rand_score(reference.labels_, model.labels_) > 0.9
    with pytest.raises(ValueError, match="n_samples=60 is too few for n_clusters=61"):
        SimilarityNetworkFusion(61).fit(blocks)


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_new_samples_are_placed_some_at_a_time(monkeypatch, model):
    blocks, _ = draw()
    new, _ = draw(40, seed=5, gap=1.5)
    presence = np.random.default_rng(1).random((40, 3)) > 0.3
    presence[~presence.any(axis=1), 0] = True
    views = Views(new, presence=presence)
    at_once = clone(model).fit(blocks).predict(views)
    sizes = []
    place = type(model)._new_rows
    monkeypatch.setattr(type(model), "_new_rows", lambda self, part: sizes.append(len(part)) or place(self, part))
    monkeypatch.setattr("coview.cluster._spectral_views._BLOCK_VALUES", 7 * 60)
    np.testing.assert_array_equal(clone(model).fit(blocks).predict(views), at_once)
    assert sizes == [7] * 5 + [5]


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_new_samples_follow_those_most_similar_to_them(model):
    """Among ten groups the mean row of all samples, even weighted, is much the same for every new one."""
    rng = np.random.default_rng(0)
    group = np.arange(300) % 10
    blocks = [2.0 * rng.normal(size=(10, 3))[group] + rng.normal(size=(300, 3)) for _ in range(3)]
    fitted = clone(model).set_params(n_clusters=10, sigma=None, n_neighbors=10).fit([block[:200] for block in blocks])
    assert adjusted_rand_score(group[:200], fitted.labels_) > 0.85
    assert (fitted.predict([block[:200] for block in blocks]) == fitted.labels_).mean() > 0.95
    assert adjusted_rand_score(group[200:], fitted.predict([block[200:] for block in blocks])) > 0.9
