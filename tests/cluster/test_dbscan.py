"""DBSCAN over views: scikit-learn's with one view, brute force with several, new samples, widths by quantile."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN

from coview import Views
from coview.cluster import MultiRepresentedDBSCAN
from coview.exceptions import ViewError


def draw(n=90, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    blocks = [rng.normal(size=(n, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth] for _ in range(3)]
    presence = rng.random((n, 3)) > 0.25
    presence[~presence.any(axis=1), 0] = True
    return blocks, presence, truth


@pytest.mark.parametrize("eps", [0.5, 1.0])
@pytest.mark.parametrize("combine", ["union", "intersection", 1])
def test_one_view_equals_scikit_learn(eps, combine):
    X = draw(200)[0][0]
    ours, peer = MultiRepresentedDBSCAN(eps, 4, combine=combine).fit(X), DBSCAN(eps=eps, min_samples=4).fit(X)
    np.testing.assert_array_equal(ours.core_sample_indices_, peer.core_sample_indices_)
    core = peer.core_sample_indices_
    np.testing.assert_array_equal(ours.labels_[core], peer.labels_[core])
    np.testing.assert_array_equal(ours.labels_ == -1, peer.labels_ == -1)


def brute(blocks, presence, eps, k, needed):
    """Neighbors pair by pair; clusters by spreading from each core in turn."""
    n = len(presence)
    near = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            both = presence[i] & presence[j]
            within = sum(both[v] and np.linalg.norm(b[i] - b[j]) <= eps[v] for v, b in enumerate(blocks))
            near[i, j] = both.any() and within >= needed(both, presence[i] & presence[j])
    core = near.sum(axis=1) >= k
    labels = np.full(n, -1)
    number = 0
    for i in np.flatnonzero(core):
        if labels[i] < 0:
            stack = [i]
            while stack:
                s = stack.pop()
                if labels[s] < 0:
                    labels[s] = number
                    stack += [t for t in np.flatnonzero(near[s] & core) if labels[t] < 0]
            number += 1
    for i in np.flatnonzero(~core):
        found = labels[near[i] & core]
        labels[i] = found.min() if len(found) else -1
    return core, labels


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("parameters", "needed"),
    [
        ({"combine": "union"}, lambda both, _: 1),
        ({"combine": "intersection"}, lambda both, _: both.sum()),
        ({"combine": "intersection", "missing": "complete"}, lambda both, _: 3),
        ({"combine": 2}, lambda both, _: min(2, both.sum())),
    ],
)
def test_equals_brute_force(parameters, needed, seed):
    blocks, presence, _ = draw(60, seed)
    eps = [0.8, 1.0, 0.9]
    core, labels = brute(blocks, presence, eps, 4, needed)
    model = MultiRepresentedDBSCAN(eps, 4, **parameters).fit(Views(blocks, presence=presence))
    np.testing.assert_array_equal(model.core_sample_indices_, np.flatnonzero(core))
    np.testing.assert_array_equal(model.labels_, labels)


def test_new_samples_join_the_first_cluster_with_a_core_near():
    blocks, presence, _ = draw()
    views = Views(blocks, names=["a", "b", "c"], presence=presence)
    model = MultiRepresentedDBSCAN(1.0, 4).fit(views)
    again = model.predict(views)
    core = model.core_sample_indices_
    np.testing.assert_array_equal(again[core], model.labels_[core])
    np.testing.assert_array_equal(again, model.labels_)
    assert model.predict({"b": np.array([[100.0, 100.0]])}).tolist() == [-1]
    nothing = MultiRepresentedDBSCAN(1e-6, 4).fit(views)
    assert set(nothing.labels_) == {-1}
    assert set(nothing.predict(views)) == {-1}


def test_automatic_widths_follow_the_scale_of_each_view():
    blocks, presence, _ = draw()
    plain = MultiRepresentedDBSCAN(min_samples=4).fit(Views(blocks, presence=presence))
    scaled = MultiRepresentedDBSCAN(min_samples=4).fit(
        Views([blocks[0] * 1e8, blocks[1] * 1e-8, blocks[2]], presence=presence)
    )
    np.testing.assert_array_equal(plain.labels_, scaled.labels_)
    np.testing.assert_allclose(np.array(list(scaled.eps_.values())) / list(plain.eps_.values()), [1e8, 1e-8, 1.0])
    share = [
        (MultiRepresentedDBSCAN("auto", 4, eps_quantile=q).fit(blocks[0]).n_neighbors_ >= 4).mean() for q in (0.3, 0.9)
    ]
    np.testing.assert_allclose(share, [0.3, 0.9], atol=0.02)
    same = MultiRepresentedDBSCAN(min_samples=3).fit(np.zeros((5, 2)))
    np.testing.assert_array_equal(same.labels_, 0)


@pytest.mark.parametrize("combine", ["union", "intersection"])
def test_most_informative_labels_are_those_of_the_best_quantile(combine):
    blocks, presence, _ = draw()
    views = Views(blocks, presence=presence)
    model = MultiRepresentedDBSCAN(combine=combine, eps_quantile="information").fit(views)
    found = {}
    for q in (0.01, 0.02, 0.05, *(np.arange(1, 10) / 10).round(1), 0.95, 0.99):
        labels = MultiRepresentedDBSCAN(combine=combine, eps_quantile=q).fit(views).labels_
        shares = np.unique(labels, return_counts=True)[1] / len(labels)
        found[q] = -(shares * np.log(shares)).sum()
    assert found[model.eps_quantile_] == pytest.approx(max(found.values()))
    again = MultiRepresentedDBSCAN(combine=combine, eps_quantile=model.eps_quantile_).fit(views)
    np.testing.assert_array_equal(model.labels_, again.labels_)
    np.testing.assert_array_equal(model.core_sample_indices_, again.core_sample_indices_)
    assert model.eps_ == again.eps_
    core = model.core_sample_indices_
    np.testing.assert_array_equal(model.predict(views)[core], model.labels_[core])


def test_widths_that_are_given_are_not_searched():
    blocks, presence, _ = draw()
    views = Views(blocks, presence=presence)
    model = MultiRepresentedDBSCAN(1.0, 4, eps_quantile="information").fit(views)
    assert model.eps_quantile_ is None
    np.testing.assert_array_equal(model.labels_, MultiRepresentedDBSCAN(1.0, 4).fit(views).labels_)
    some = MultiRepresentedDBSCAN([1.0, "auto", "auto"], 4, eps_quantile="information").fit(views)
    assert some.eps_["view_0"] == 1.0
    assert some.eps_quantile_ in (0.01, 0.02, 0.05, *(np.arange(1, 10) / 10).round(1), 0.95, 0.99)


def test_of_equally_informative_labels_the_widest():
    """A line of equal gaps is one cluster at every quantile."""
    model = MultiRepresentedDBSCAN(min_samples=2, eps_quantile="information").fit(np.arange(20.0)[:, None])
    assert model.eps_quantile_ == 0.99
    np.testing.assert_array_equal(model.labels_, 0)


def test_a_large_table_is_held_as_a_sparse_graph():
    import tracemalloc

    rng = np.random.default_rng(0)
    X = [rng.uniform(size=(20_000, 2)) for _ in range(2)]
    tracemalloc.start()
    MultiRepresentedDBSCAN(0.01, 5, combine="intersection").fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000**2  # a square matrix of single bytes


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"eps": [0.5, "wide", 1.0]}, "eps of view 'view_1' must be a positive number or 'auto'"),
        ({"eps": [0.5]}, "eps must have one entry per view"),
        ({"eps": -1.0}, "eps"),
        ({"combine": "most"}, "combine"),
        ({"combine": 0}, "combine"),
        ({"eps_quantile": "most"}, "eps_quantile"),
    ],
)
def test_bad_input(parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiRepresentedDBSCAN(**parameters).fit(draw()[0])


def test_sparse_text_by_cosine():
    rows = sparse.csr_array(np.kron(np.eye(2), np.ones((5, 3))) + 0.0)
    model = MultiRepresentedDBSCAN(0.1, 3, metric="cosine").fit([rows, rows])
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 5))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("parameters", [{"eps": 1.5}, {}, {"eps": 1.5, "combine": "intersection"}])
def test_given_distances_are_those_of_the_metric(kind, parameters):
    rng = np.random.default_rng(0)
    group = np.arange(60) % 2
    blocks = [6.0 * group[:, None] + rng.normal(size=(60, 2)) for _ in range(2)]
    presence = rng.random((60, 2)) > 0.2
    presence[~presence.any(axis=1), 0] = True
    new = [6.0 * group[:9, None] + rng.normal(size=(9, 2)) for _ in range(2)]

    def given(left):
        tables = [cdist(own, block) for own, block in zip(left, blocks, strict=True)]
        return [sparse.csr_array(np.where(t <= 5.0, t, 0.0)) for t in tables] if kind == "sparse" else tables

    plain = MultiRepresentedDBSCAN(**parameters).fit(Views(blocks, presence=presence))
    model = MultiRepresentedDBSCAN(metric="precomputed", **parameters).fit(Views(given(blocks), presence=presence))
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.n_neighbors_, plain.n_neighbors_)
    np.testing.assert_array_equal(model.predict(given(new)), plain.predict(new))
    with pytest.raises(ViewError, match="must have one column per sample"):
        MultiRepresentedDBSCAN(metric="precomputed").fit([table[:, :50] for table in given(blocks)])
