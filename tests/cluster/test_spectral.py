"""Spectral clustering of several views: reductions, missing views, new samples, landmarks, anchors, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.gaussian_process.kernels import RBF, DotProduct
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import euclidean_distances

from coview import Views
from coview.cluster import MultiViewSpectralClustering
from coview.exceptions import NotPositiveDefiniteError, ViewError
from coview.inference import affinity_embedding, disagreement_embedding

AFFINITIES = ["minimizing_disagreement", "joint", "sum", "co_training"]


def three_groups(n=60, seed=0, gap=5.0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    blocks = [rng.normal(size=(n, d)) + gap * np.eye(d)[truth] for d in (3, 4, 5)]
    return blocks, truth


def with_gaps(blocks, share=0.3, seed=1):
    presence = np.random.default_rng(seed).random((len(blocks[0]), len(blocks))) > share
    presence[~presence.any(axis=1), 0] = True
    return Views(blocks, names=["a", "b", "c"][: len(blocks)], presence=presence)


@pytest.mark.parametrize("affinity", AFFINITIES)
@pytest.mark.parametrize("kernel", ["rbf", "nearest_neighbors", RBF(3.0)])
def test_groups_are_found_in_training_and_in_new_samples(affinity, kernel):
    blocks, truth = three_groups()
    if affinity == "co_training" and kernel == "nearest_neighbors":
        with pytest.raises(NotPositiveDefiniteError, match=r"check that (its kernel is|the kernels are) valid"):
            MultiViewSpectralClustering(3, affinity=affinity, kernel=kernel).fit(with_gaps(blocks))
        return
    model = MultiViewSpectralClustering(3, affinity=affinity, kernel=kernel, random_state=0).fit(with_gaps(blocks))
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    new, new_truth = three_groups(seed=9)
    assert adjusted_rand_score(new_truth, model.predict(with_gaps(new, seed=3))) > 0.8
    assert adjusted_rand_score(new_truth, model.predict({"c": new[2]})) > 0.6


@pytest.mark.parametrize("affinity", AFFINITIES[1:])
def test_one_view_is_the_method_of_ng_jordan_and_weiss(affinity):
    blocks, truth = three_groups(gap=3.0)
    model = MultiViewSpectralClustering(
        3, affinity=affinity if affinity != "co_training" else "sum", sigma=2.0, random_state=0
    )
    model.fit(blocks[0])
    peer = SpectralClustering(3, gamma=1 / 8.0, random_state=0, assign_labels="cluster_qr").fit(blocks[0])
    assert adjusted_rand_score(peer.labels_, model.labels_) > 0.9
    assert adjusted_rand_score(truth, model.labels_) > 0.7
    alone = MultiViewSpectralClustering(3, sigma=2.0, random_state=0).fit(
        blocks[0]
    )  # nothing to agree with: its own affinities
    np.testing.assert_array_equal(alone.labels_, model.labels_)


@pytest.mark.parametrize("n", [60, 450])
def test_rows_of_nodes_that_are_similar_to_nothing_are_exactly_zero(n):
    rng = np.random.default_rng(0)
    A = rng.random((n, n))
    lost = np.arange(n) % 10 == 0
    A = np.where(lost[:, None] | lost, 0.0, A + A.T)
    for embedding in (affinity_embedding(A, 3), disagreement_embedding([A, A], 3), disagreement_embedding([A] * 3, 3)):
        for v in range(len(embedding.vectors)):
            np.testing.assert_array_equal(embedding.rows(v).any(axis=1), ~lost)
            np.testing.assert_array_equal(embedding.new_rows(v, A).any(axis=1), ~lost)


@pytest.mark.parametrize("n_views", [2, 3])
def test_iterations_equal_dense_decompositions(n_views, monkeypatch):
    rng = np.random.default_rng(0)
    blocks = [rng.random((450, 450)) for _ in range(n_views)]
    blocks = [block + block.T for block in blocks]
    lanczos = disagreement_embedding(blocks, 3)
    for module in ("inference._disagreement", "linalg._eigen"):
        monkeypatch.setattr(f"coview.{module}._DENSE_LIMIT", 5000)
    dense = disagreement_embedding(blocks, 3)
    np.testing.assert_allclose(lanczos.values[:3], dense.values[:3], rtol=1e-10)
    for v in range(n_views):
        np.testing.assert_allclose(
            lanczos.vectors[v] @ lanczos.vectors[v].T, dense.vectors[v] @ dense.vectors[v].T, atol=1e-9
        )


@pytest.mark.parametrize("kernel", ["rbf", "nearest_neighbors", RBF(3.0), "precomputed"])
@pytest.mark.parametrize("affinity", AFFINITIES[:3])
def test_a_training_sample_seen_again_gets_its_own_row(affinity, kernel):
    blocks, _ = three_groups()
    if isinstance(kernel, str) and kernel == "precomputed":
        blocks = [np.exp(-((b[:, None] - b[None]) ** 2).sum(axis=2) / 20.0) for b in blocks]
    views = with_gaps(blocks) if affinity == "minimizing_disagreement" else Views(blocks, names=["a", "b", "c"])
    model = MultiViewSpectralClustering(3, affinity=affinity, kernel=kernel, random_state=0).fit(views)
    if affinity == "minimizing_disagreement" and kernel != "nearest_neighbors":
        np.testing.assert_allclose(model.embed(views), model.embedding_, atol=1e-8)
    np.testing.assert_array_equal(model.predict(views)[model.labels_ >= 0], model.labels_[model.labels_ >= 0])


def test_landmarks_approach_all_samples():
    blocks, _ = three_groups(300)
    views = with_gaps(blocks)
    full = MultiViewSpectralClustering(3, sigma=3.0, random_state=0).fit(views)
    few = MultiViewSpectralClustering(3, sigma=3.0, n_landmarks=40, random_state=0).fit(views)
    assert adjusted_rand_score(full.labels_, few.labels_) > 0.9
    np.testing.assert_array_equal(few.predict(views), few.labels_)
    all_of_them = MultiViewSpectralClustering(3, sigma=3.0, n_landmarks=1000, random_state=0).fit(views)
    np.testing.assert_allclose(all_of_them.singular_values_[:3], full.singular_values_[:3], rtol=1e-9)


def test_landmarks_never_hold_a_square_matrix():
    import tracemalloc

    blocks, truth = three_groups(6000)
    tracemalloc.start()
    model = MultiViewSpectralClustering(3, n_landmarks=50, n_init=1, random_state=0).fit(blocks)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    predicted = model.predict(blocks)
    peak_of_predict = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 6000 * 6000 / 3
    assert peak_of_predict < 8 * 6000 * 6000 / 10
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    np.testing.assert_array_equal(predicted, model.labels_)


@pytest.mark.parametrize("affinity", ["minimizing_disagreement", "sum"])
@pytest.mark.parametrize("n", [60, 600])
def test_samples_similar_to_nothing_have_no_row(affinity, n):
    """At sizes that are solved dense, and by products with the matrix."""
    blocks = [np.array(np.kron(np.eye(3), np.ones((n // 3, n // 3)))) for _ in range(2)]
    for block in blocks:
        block[:5] = block[:, :5] = 0.0
    with pytest.warns(UserWarning, match="5 samples are similar to no other"):
        model = MultiViewSpectralClustering(3, kernel="precomputed", affinity=affinity, random_state=0).fit(blocks)
    np.testing.assert_array_equal(np.flatnonzero(model.labels_ < 0), np.arange(5))
    np.testing.assert_array_equal(np.bincount(model.labels_[5:]), [n // 3 - 5, n // 3, n // 3])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"sigma": "local"},
        {"sigma": "pairwise"},
        {"n_landmarks": 30},
        {"kernel": ["rbf", "nearest_neighbors", RBF(2.0)]},
        {"affinity": "joint"},
        {"affinity": "sum", "kernel": ["rbf", "nearest_neighbors", "rbf"]},
    ],
)
def test_new_samples_are_placed_some_at_a_time(monkeypatch, parameters):
    blocks, _ = three_groups(90)
    new = with_gaps(three_groups(40, seed=5)[0], seed=6)
    model = MultiViewSpectralClustering(3, random_state=0, **parameters).fit(with_gaps(blocks))
    at_once = model.embed(new)
    monkeypatch.setattr("coview.cluster._spectral_views._BLOCK_VALUES", 7 * 90)
    np.testing.assert_allclose(model.embed(new), at_once, atol=1e-12)


@pytest.mark.parametrize("sigma", ["local", "pairwise", "search", [2.0, None, "local"], {"a": 1.0, "b": 2.0, "c": 3.0}])
def test_widths(sigma):
    blocks, truth = three_groups()
    views = with_gaps(blocks)
    model = MultiViewSpectralClustering(3, sigma=sigma, random_state=0).fit(views)
    assert adjusted_rand_score(truth, model.labels_) > 0.8
    assert list(model.sigmas_) == ["a", "b", "c"]
    assert adjusted_rand_score(truth, model.predict(views)) > 0.8
    if isinstance(sigma, dict):
        assert model.sigmas_ == sigma


def test_searched_width_beats_the_median_on_rings():
    """Two rings, one inside the other: the median distance bridges them, a narrow width does not."""
    rng = np.random.default_rng(0)
    angle, truth = rng.uniform(0, 2 * np.pi, size=160), np.arange(160) % 2
    radius = 1.0 + 4.0 * truth
    rings = [
        np.column_stack([r * np.cos(angle), r * np.sin(angle)]) + 0.1 * rng.normal(size=(160, 2))
        for r in (radius, radius)
    ]
    scores = {
        sigma: adjusted_rand_score(
            truth, MultiViewSpectralClustering(2, affinity="sum", sigma=sigma, random_state=0).fit(rings).labels_
        )
        for sigma in (None, "search")
    }
    assert scores["search"] > 0.95 > scores[None]


def test_searched_width_has_the_tightest_clustering():
    """Every width by itself: rows of Ng, Jordan and Weiss, and the inertia of their k-means."""
    blocks, _ = three_groups(gap=2.0)
    rows = blocks[0]
    squares = euclidean_distances(rows, squared=True)
    median = float(np.sqrt(np.median(squares[np.triu_indices(len(rows), 1)])))
    inertias = {}
    for share in (0.125, 0.25, 0.5, 1.0, 2.0):
        affinity = np.exp(-squares / (2.0 * (share * median) ** 2))
        np.fill_diagonal(affinity, 0.0)
        degrees = affinity.sum(axis=1)
        if np.quantile(degrees, 0.05) < 1.0:
            continue
        vectors = np.linalg.eigh(affinity / np.sqrt(np.outer(degrees, degrees)))[1][:, -3:]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        inertias[share * median] = KMeans(3, n_init=20, random_state=0).fit(vectors).inertia_
    assert len(inertias) > 2
    model = MultiViewSpectralClustering(3, affinity="sum", sigma="search", random_state=0).fit([rows])
    assert model.sigmas_["view_0"] == pytest.approx(min(inertias, key=inertias.get), rel=1e-9)


def test_a_width_that_leaves_samples_alone_is_not_the_tightest():
    """Unit vectors all about as far from each other: at an eighth of the median each is a cluster of its own."""
    rows = np.random.default_rng(0).normal(size=(150, 60))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    model = MultiViewSpectralClustering(3, affinity="sum", sigma="search", random_state=0).fit([rows])
    assert model.sigmas_["view_0"] > 0.4 * np.sqrt(2.0)
    assert np.bincount(model.labels_).min() > 5


def test_anchors_stay_and_number_the_clusters():
    blocks, truth = three_groups(gap=2.0)
    names = np.array(["z", "m", "a"])[truth]
    anchors = np.where(np.arange(60) < 12, names, None)
    model = MultiViewSpectralClustering(3, random_state=0).fit(blocks, anchors=anchors)
    codes = np.array([2, 1, 0])[truth]
    np.testing.assert_array_equal(model.labels_[:12], codes[:12])
    free = MultiViewSpectralClustering(3, random_state=0).fit(blocks)
    assert adjusted_rand_score(truth, model.labels_) >= adjusted_rand_score(truth, free.labels_) - 0.05
    assert np.mean(model.labels_ == codes) > 0.7
    two = MultiViewSpectralClustering(3, random_state=0).fit(blocks, anchors=np.where(truth == 0, "z", None))
    assert set(two.labels_) == {0, 1, 2}  # clusters that no anchor names start elsewhere
    with pytest.raises(ValueError, match="anchors name 3 clusters, and n_clusters is 2"):
        MultiViewSpectralClustering(2).fit(blocks, anchors=anchors)
    with pytest.raises(ValueError, match=r"one entry per sample \(60\); got 59"):
        MultiViewSpectralClustering(3).fit(blocks, anchors=anchors[1:])


def test_eigengap_shows_the_number_of_groups():
    blocks, _ = three_groups(gap=12.0)
    model = MultiViewSpectralClustering(2, sigma=2.0, random_state=0).fit(blocks)
    assert model.eigengaps_[:20].argmax() + 1 == 3


def test_disconnected_groups_and_samples_similar_to_nothing():
    blocks = [np.kron(np.eye(3), np.ones((4, 4))) for _ in range(2)]
    model = MultiViewSpectralClustering(3, kernel="precomputed", random_state=0).fit(blocks)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], 4))
    np.testing.assert_allclose(model.singular_values_[:3], 1.0)
    with pytest.raises(ValueError, match="tell 3 directions apart, and 4 are asked for"):
        MultiViewSpectralClustering(4, kernel="precomputed").fit(blocks)
    far, _ = three_groups()
    views = Views(
        [np.vstack([far[0], [[1e6, 0, 0]]]), np.vstack([far[1], np.zeros((1, 4))])],
        presence=[[True, True]] * 60 + [[True, False]],
    )
    with pytest.warns(UserWarning, match="1 samples are similar to no other.*'60'"):
        labels = MultiViewSpectralClustering(3, sigma=2.0, random_state=0).fit(views).labels_
    assert labels[60] == -1
    assert (labels[:60] >= 0).all()


def test_scales_from_tiny_to_huge():
    blocks, truth = three_groups()
    model = MultiViewSpectralClustering(3, random_state=0).fit([blocks[0] * 1e-8, blocks[1] * 1e8])
    assert adjusted_rand_score(truth, model.labels_) > 0.9


@pytest.mark.parametrize(
    ("parameters", "X", "error", "message"),
    [
        ({"sigma": -1.0}, None, ValueError, "sigma"),
        (
            {"sigma": [1.0, "wide", 1.0]},
            None,
            ValueError,
            "sigma of view 'b' must be a number, None, 'local', 'pairwise' or 'search'",
        ),
        ({"sigma": [1.0, 2.0]}, None, ViewError, "sigma must have one entry per view"),
        ({"paired_rows": "d"}, None, ValueError, "paired_rows must be 'mean' or a view"),
        ({"rounding": "sign"}, None, ValueError, "rounding='sign' makes two clusters"),
        ({"n_landmarks": 5, "affinity": "sum"}, None, ValueError, "n_landmarks is for"),
        (
            {"n_landmarks": 5, "kernel": ["rbf", "nearest_neighbors", "rbf"]},
            None,
            ValueError,
            "does not go with kernel='nearest_n",
        ),
        ({"kernel": "angle"}, None, ValueError, "kernel of view 'a' must be"),
        ({"kernel": DotProduct(0.0)}, None, ValueError, "must not be negative"),
        ({"kernel": "precomputed"}, None, ViewError, "one column per sample"),
        ({"kernel": "nearest_neighbors", "sigma": "local"}, None, ValueError, "give nearest neighbors one width"),
    ],
)
def test_bad_input(parameters, X, error, message):
    blocks, _ = three_groups()
    with pytest.raises(error, match=message):
        MultiViewSpectralClustering(3, **parameters).fit(Views(blocks, names=["a", "b", "c"]))


def test_views_that_nobody_shares():
    presence = np.repeat([[True, False], [False, True]], 5, axis=0)
    with pytest.raises(ViewError, match="No sample has two views"):
        MultiViewSpectralClustering().fit(Views([np.random.default_rng(0).random((10, 2))] * 2, presence=presence))
    matrix = np.eye(4)
    matrix[0, 1] = 0.5
    with pytest.raises(ViewError, match="'view_0' are not symmetric"):
        MultiViewSpectralClustering(kernel="precomputed").fit([matrix, matrix])


def test_sparse_text_stays_sparse():
    truth = np.arange(80) % 2
    words = sparse.random_array((80, 20_000), density=0.002, random_state=0, format="csr")
    topic = sparse.csr_array(np.outer(truth, np.ones(50)) + np.outer(1 - truth, -np.ones(50)) > 0, dtype=float)
    text = sparse.csr_array(sparse.hstack([words, 0.5 * topic]))
    links = sparse.csr_array(
        sparse.hstack([sparse.random_array((80, 500), density=0.01, random_state=1, format="csr"), topic])
    )
    model = MultiViewSpectralClustering(2, random_state=0).fit([text, links])
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    neighbors = MultiViewSpectralClustering(2, kernel="nearest_neighbors", random_state=0).fit([text, links])
    assert adjusted_rand_score(truth, neighbors.labels_) > 0.9
