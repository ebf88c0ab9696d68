"""Which graphs Laplacian learners take: views nobody has, kernel values instead of features, weights of views."""

import numpy as np
import pytest

from coview import Views
from coview.exceptions import ViewError
from coview.graphs import knn_graph, laplacian
from coview.semi_supervised import (
    CoLaplacianLeastSquaresClassifier,
    CoLaplacianSVC,
    LaplacianLeastSquaresClassifier,
    LaplacianSVC,
)

EVERY = [LaplacianLeastSquaresClassifier, LaplacianSVC, CoLaplacianLeastSquaresClassifier, CoLaplacianSVC]
JOINT = EVERY[2:]


def two_views(n=20, seed=0):
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = {name: sign[:, None] + rng.normal(size=(n, 2)) for name in ("page", "links")}
    return X, np.where(np.arange(n) < 6, sign, np.nan)


def with_ghost(X):
    n = len(X["page"])
    presence = np.column_stack([np.ones((n, 2), bool), np.zeros(n, bool)])
    return Views([*X.values(), np.zeros((n, 3))], names=[*X, "ghost"], presence=presence)


@pytest.mark.parametrize(
    ("without", "beside"),
    [
        ([0.5, 0.5], [0.3, 0.3, 0.4]),
        ([0.25, 0.75], {"page": 0.2, "links": 0.6, "ghost": 0.2}),
        (None, None),
        ("mean_with_concatenation", "mean_with_concatenation"),
    ],
)
@pytest.mark.parametrize("kind", JOINT)
def test_weights_are_shared_out_among_the_views_that_somebody_has(kind, without, beside):
    X, y = two_views()
    expected = kind(graph_weights=without).fit(X, y).decision_function(X)
    got = kind(graph_weights=beside).fit(with_ghost(X), y).decision_function(X)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_weights_only_of_a_view_that_nobody_has():
    X, y = two_views()
    with pytest.raises(ViewError, match="no sample has: \\['ghost'\\]"):
        CoLaplacianSVC(graph_weights=[0.0, 0.0, 1.0]).fit(with_ghost(X), y)


@pytest.mark.parametrize("graph", ["knn", "rbf", {"n_neighbors": 3}, {"links": "knn", "page": {"kind": "rbf"}}])
@pytest.mark.parametrize("kind", EVERY)
def test_no_neighbors_are_looked_for_among_kernel_values(kind, graph):
    X, y = two_views()
    grams = {name: block @ block.T for name, block in X.items()}
    with pytest.raises(ValueError, match="view 'page' cannot be found from its features: kernel='precomputed'"):
        kind("precomputed", graph=graph).fit(grams, y)


@pytest.mark.parametrize("kind", JOINT)
def test_nor_among_kernel_values_side_by_side(kind):
    X, y = two_views()
    grams = {name: block @ block.T for name, block in X.items()}
    graphs = [*(knn_graph(block, 3) for block in X.values()), "knn"]
    model = kind("precomputed", graph=graphs, graph_weights="mean_with_concatenation")
    with pytest.raises(ValueError, match="precomputed"):
        model.fit(grams, y)
    together = knn_graph(np.hstack([*X.values()]), 3)
    model.set_params(graph=[*graphs[:2], together]).fit(grams, y)
    graphs = {"graph": {"n_neighbors": 3}, "graph_weights": "mean_with_concatenation"}
    same = kind("linear", **graphs).fit(X, y)
    np.testing.assert_allclose(model.decision_function(grams), same.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("kind", EVERY)
def test_kernel_values_beside_features(kind):
    """One view by its kernel values and its graph, the other by features: as both by features."""
    X, y = two_views()
    new, _ = two_views(seed=1)
    expected = kind("linear", graph={"n_neighbors": 3}).fit(X, y).decision_function(new)
    mixed = {"page": X["page"] @ X["page"].T, "links": X["links"]}
    graph = {"page": {"laplacian": laplacian(knn_graph(X["page"], 3))}, "links": {"n_neighbors": 3}}
    model = kind({"page": "precomputed", "links": "linear"}, graph=graph).fit(mixed, y)
    got = model.decision_function({"page": new["page"] @ X["page"].T, "links": new["links"]})
    np.testing.assert_allclose(got, expected, atol=1e-8)


def tied(n_unlabeled, rule, turned=False):
    """Two labels close together, of different classes, and a price that keeps both scores within the margin."""
    X = np.concatenate([[[0.1], [0.2]], np.linspace(3.0, 5.0, n_unlabeled)[:, None]])
    y = np.full(len(X), np.nan)
    y[:2] = [-1.0, 1.0]
    order = slice(None, None, -1 if turned else 1)
    model = LaplacianSVC("linear", gamma_ambient=10.0, tied_intercept=rule, graph={"n_neighbors": 2})
    return model.fit(X[order], y[order]), X[:2]


def test_tied_constants():
    """An interval of constants has the same objective: its end, or its middle."""
    first, X = tied(8, "first")
    np.testing.assert_allclose(first.decision_function(X[:1]), [-1.0], atol=1e-12)
    turned, _ = tied(8, "first", turned=True)
    np.testing.assert_allclose(turned.decision_function(X[1:]), [1.0], atol=1e-12)
    middle, _ = tied(8, "middle")
    np.testing.assert_allclose(middle.decision_function(X).sum(), 0.0, atol=1e-12)
    np.testing.assert_allclose(first.objective_, middle.objective_, rtol=1e-12)


@pytest.mark.parametrize(("n_unlabeled", "rule"), [(18, "first"), (19, "middle")])
def test_few_labels_take_the_middle(n_unlabeled, rule):
    """Two of twenty are a tenth, two of twenty-one less."""
    auto, X = tied(n_unlabeled, "auto")
    np.testing.assert_array_equal(auto.decision_function(X), tied(n_unlabeled, rule)[0].decision_function(X))
    other, _ = tied(n_unlabeled, "first" if rule == "middle" else "middle")
    assert np.abs(auto.decision_function(X) - other.decision_function(X)).min() > 0.5
