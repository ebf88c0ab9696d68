"""Laplacian learners: minima of their objectives, reductions to known machines, and what must not trip them."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.linalg import expm
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.svm import SVC

from coview import Views
from coview.exceptions import ViewError
from coview.graphs import knn_graph, laplacian
from coview.kernels import least_squares_machine
from coview.semi_supervised import (
    CoLaplacianLeastSquaresClassifier,
    CoLaplacianSVC,
    LaplacianLeastSquaresClassifier,
    LaplacianSVC,
)

LEAST_SQUARES = [LaplacianLeastSquaresClassifier, CoLaplacianLeastSquaresClassifier]
HINGE = [LaplacianSVC, CoLaplacianSVC]
EVERY = [*LEAST_SQUARES, *HINGE]
KERNELS = {"rbf": RBF(1.3), "linear": "linear"}
GAMMAS = {"gamma_ambient": 0.03, "gamma_intrinsic": 0.2}


def problem(seed=0, n=24, n_labeled=9, width=3):
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    sign[:2] = [1.0, -1.0]
    X = sign[:, None] * 0.7 + rng.normal(size=(n, width))
    return X, np.where(np.arange(n) < n_labeled, sign, np.nan)


def values(kernel, A, B):
    return A @ B.T if kernel == "linear" else kernel(A, B)


def objective(model, X, y, K, L):
    """The printed objective at the expansion and constant of a fitted model of one view."""
    a, known = np.ravel(model.dual_coef_), ~np.isnan(y)
    f = K @ a
    return losses(model, f[known] + model.intercept_, y[known]) + penalty(model, a, K, L)


def losses(model, scores, y):
    hinge = type(model) in HINGE
    return (np.maximum(1.0 - y * scores, 0.0) if hinge else (y - scores) ** 2).mean()


def penalty(model, a, K, L):
    f = K @ a
    return model.gamma_ambient * a @ K @ a + model.gamma_intrinsic * f @ L @ f


@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", range(3))
def test_least_squares_is_the_minimum_of_its_objective(seed, kernel, power):
    """Normal equations over all coefficients, without a warped kernel."""
    X, y = problem(seed)
    new = problem(seed + 10)[0]
    K = values(KERNELS[kernel], X, X)
    L = np.linalg.matrix_power(laplacian(knn_graph(X, 4)).toarray(), power)
    model = LaplacianLeastSquaresClassifier(KERNELS[kernel], graph={"n_neighbors": 4, "power": power}, **GAMMAS)
    model.fit(X, y)
    known = ~np.isnan(y)
    system = np.diag(known / known.sum()) @ K + 0.03 * np.eye(len(X)) + 0.2 * L @ K
    a = np.linalg.solve(system, np.where(known, y, 0.0) / known.sum())
    np.testing.assert_allclose(model.decision_function(new), values(KERNELS[kernel], new, X) @ a, atol=1e-9)
    np.testing.assert_allclose(model.objective_, objective(model, X, y, K, L), rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_least_squares_with_a_constant(kernel):
    """Normal equations with one more unknown, which nothing prices; the constant moves with the targets."""
    X, y = problem(2)
    K, L, known = values(KERNELS[kernel], X, X), laplacian(knn_graph(X, 4)).toarray(), ~np.isnan(y)
    model = LaplacianLeastSquaresClassifier(KERNELS[kernel], graph={"n_neighbors": 4}, fit_intercept=True, **GAMMAS)
    model.fit(X, y)
    system = np.zeros((len(X) + 1, len(X) + 1))
    system[:-1, :-1] = np.diag(known / known.sum()) @ K + 0.03 * np.eye(len(X)) + 0.2 * L @ K
    system[:-1, -1] = known / known.sum()
    system[-1, :-1] = known @ K
    system[-1, -1] = known.sum()
    solved = np.linalg.solve(system, np.append(np.where(known, y, 0.0) / known.sum(), y[known].sum()))
    np.testing.assert_allclose(model.decision_function(X), K @ solved[:-1] + solved[-1], atol=1e-9)
    np.testing.assert_allclose(model.intercept_, solved[-1], atol=1e-9)
    np.testing.assert_allclose(model.objective_, objective(model, X, y, K, L), rtol=1e-9)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_scores_left_out_are_those_of_machines_without_the_sample(fit_intercept):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 2)), rng.normal(size=(7, 2))
    K = RBF(1.3)(X)
    _, left_out = least_squares_machine(K, y, 0.05, fit_intercept=fit_intercept)
    for i in range(7):
        kept = np.arange(7) != i
        without, _ = least_squares_machine(K[np.ix_(kept, kept)], y[kept], 0.05 * 7 / 6, fit_intercept=fit_intercept)
        np.testing.assert_allclose(left_out[i], K[i, kept] @ without.dual + without.intercepts, atol=1e-12)


@pytest.mark.parametrize("kind", LEAST_SQUARES)
def test_a_single_label_and_a_constant(kind):
    X, y = problem(n_labeled=1)
    model = kind(RBF(1.3), classes=[-1.0, 1.0], fit_intercept=True, **GAMMAS).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), 1.0, atol=1e-12)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", range(3))
def test_no_step_lowers_the_hinge_objective(seed, kernel, fit_intercept):
    """The objective is convex: where no small step lowers it, it is least."""
    X, y = problem(seed)
    K, L = values(KERNELS[kernel], X, X), laplacian(knn_graph(X, 4)).toarray()
    model = LaplacianSVC(KERNELS[kernel], graph={"n_neighbors": 4}, fit_intercept=fit_intercept, **GAMMAS).fit(X, y)
    least = objective(model, X, y, K, L)
    np.testing.assert_allclose(model.objective_, least, rtol=1e-8)
    rng, known, a = np.random.default_rng(5), ~np.isnan(y), model.dual_coef_
    for _ in range(300):
        step = rng.normal(size=len(X)) * 10.0 ** rng.uniform(-6, -1)
        constant = model.intercept_ + fit_intercept * rng.normal() * 10.0 ** rng.uniform(-6, -1)
        moved = losses(model, (K @ (a + step))[known] + constant, y[known]) + penalty(model, a + step, K, L)
        assert moved > least - 1e-10


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", HINGE)
def test_without_a_price_of_unsmoothness_equals_sklearn_svc(kind, kernel):
    X, y = problem(n_labeled=11)
    new, known = problem(4)[0], ~np.isnan(y)
    model = kind(KERNELS[kernel], gamma_ambient=0.05, gamma_intrinsic=0.0).fit(X, y)
    svc = SVC(C=1.0 / (2 * 11 * 0.05), kernel="precomputed", tol=1e-10)
    svc.fit(values(KERNELS[kernel], X[known], X[known]), y[known])
    expected = svc.decision_function(values(KERNELS[kernel], new, X[known]))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-6)
    unlabeled = np.ravel(model.dual_coef_)[~known]
    assert not unlabeled.any()


@pytest.mark.parametrize("kind", EVERY)
def test_heat(kind):
    """``heat`` punishes what does not diffuse: exp(t L) - I."""
    X, y = problem()
    L = laplacian(knn_graph(X, 4)).toarray()
    model = kind(RBF(1.3), graph={"n_neighbors": 4, "heat": 0.4}, **GAMMAS).fit(X, y)
    same = kind(RBF(1.3), graph={"laplacian": expm(0.4 * L) - np.eye(len(X))}, **GAMMAS).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-8)
    other = kind(RBF(1.3), graph={"n_neighbors": 4}, **GAMMAS).fit(X, y)
    assert np.abs(model.decision_function(X) - other.decision_function(X)).max() > 1e-3


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("kind", EVERY)
def test_a_sample_without_edges_changes_nothing(kind, normalized):
    X, y = problem()
    W = knn_graph(X, 4).toarray()
    more = np.pad(W, (0, 1))
    expected = kind(RBF(1.3), graph={"affinity": W, "normalized": normalized}, **GAMMAS).fit(X, y)
    model = kind(RBF(1.3), graph={"affinity": more, "normalized": normalized}, **GAMMAS)
    model.fit(np.vstack([X, [[9.0, 9.0, 9.0]]]), np.append(y, np.nan))
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("kind", EVERY)
def test_parts_of_a_graph(kind):
    """Where roughness costs much, scores are constant on each part; a part without label goes by the kernel."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(center, 0.1, size=(8, 2)) for center in (0.0, 5.0, 10.0)])
    y = np.full(24, np.nan)
    y[[0, 8]] = [-1.0, 1.0]
    model = kind(RBF(4.0), graph={"n_neighbors": 7}, gamma_ambient=1e-3, gamma_intrinsic=1e5).fit(X, y)
    parts = model.decision_function(X).reshape(3, 8)
    assert np.ptp(parts, axis=1).max() < 1e-3
    assert model.transduction_.reshape(3, 8)[:, 0].tolist() == [-1.0, 1.0, 1.0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", EVERY)
def test_duplicates(kind, kernel):
    """Equal rows have equal scores, labeled both ways or not."""
    X, y = problem()
    X, y = np.vstack([X, X[:5]]), np.concatenate([y, -y[:2], y[2:3], [np.nan, np.nan]])
    model = kind(KERNELS[kernel], **GAMMAS).fit(X, y)
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores[24:], scores[:5], atol=1e-9)


@pytest.mark.parametrize("kind", LEAST_SQUARES)
def test_one_class_is_enough_for_least_squares(kind):
    X, y = problem()
    y = np.where(y < 0.0, np.nan, y)
    model = kind(RBF(1.3), classes=[-1.0, 1.0], **GAMMAS).fit(X, y)
    known = ~np.isnan(y)
    assert (model.predict(X[known]) == 1.0).all()
    assert kind(RBF(1.3), **GAMMAS).fit(X, y).predict(X).tolist() == [1.0] * len(X)


@pytest.mark.parametrize("kind", HINGE)
def test_one_class_is_not_enough_for_hinge_losses(kind):
    X, y = problem()
    with pytest.raises(ValueError, match="two classes"):
        kind(classes=[-1.0, 1.0]).fit(X, np.where(y < 0.0, np.nan, y))


@pytest.mark.parametrize("kind", EVERY)
def test_no_unlabeled_samples(kind):
    """The graph of the labeled ones still counts."""
    X, _ = problem()
    y = np.where(X.sum(axis=1) > 0.0, 1.0, -1.0)
    options = {"missing_label": np.nan, "gamma_ambient": 0.003}
    model = kind(RBF(1.3), gamma_intrinsic=0.001, **options).fit(X, y)
    assert model.score(X, y) > 0.9
    plain = kind(RBF(1.3), gamma_intrinsic=0.0, **options).fit(X, y)
    assert np.abs(model.decision_function(X) - plain.decision_function(X)).max() > 1e-3


@pytest.mark.parametrize("kind", EVERY)
def test_constant_kernel(kind):
    """One constant for all samples: its least squares, or the majority."""
    X, y = problem(n_labeled=9)
    known = ~np.isnan(y)
    model = kind(ConstantKernel(2.0), **GAMMAS).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, scores[0], atol=1e-10)
    if kind in LEAST_SQUARES:
        np.testing.assert_allclose(
            scores[0], 2.0 * y[known].sum() / (2.0 * known.sum() + known.sum() * 0.03), atol=1e-10
        )
    else:
        np.testing.assert_allclose(scores[0], np.sign(y[known].sum()), atol=1e-8)


@pytest.mark.parametrize("kind", EVERY)
def test_three_classes_against_the_rest(kind):
    X, _ = problem(n=30)
    y = np.array([None] * 30, dtype=object)
    y[:9] = ["a", "b", "c"] * 3
    model = kind(RBF(1.3), **GAMMAS).fit(X, y)
    for c, name in enumerate("abc"):
        one = np.where(pd.isna(y), np.nan, np.where(y == name, 1.0, -1.0))
        expected = kind(RBF(1.3), **GAMMAS).fit(X, one).decision_function(X)
        np.testing.assert_allclose(model.decision_function(X)[:, c], expected, atol=1e-8)


@pytest.mark.parametrize("kind", [CoLaplacianLeastSquaresClassifier, CoLaplacianSVC])
def test_a_missing_view_leaves_the_edges_of_the_others(kind):
    """A view's function on the samples that have it: with the joint graph's values at the others set free."""
    X, y = problem(n=20)
    Z = problem(3, n=20, width=2)[0]
    has = np.ones((20, 2), dtype=bool)
    has[[3, 15, 19], 1] = False
    views = Views([X, Z], names=["x", "z"], presence=has)
    model = kind(RBF(1.3), graph={"n_neighbors": 3}, graph_weights=[0.6, 0.4], **GAMMAS).fit(views, y)
    L = 0.6 * laplacian(knn_graph(X, 3)).toarray()
    kept = np.flatnonzero(has[:, 1])
    L[np.ix_(kept, kept)] += 0.4 * laplacian(knn_graph(Z[kept], 3)).toarray()
    lost = np.flatnonzero(~has[:, 1])
    schur = L[np.ix_(kept, kept)] - L[np.ix_(kept, lost)] @ np.linalg.solve(
        L[np.ix_(lost, lost)], L[np.ix_(lost, kept)]
    )
    single = LaplacianSVC if kind is CoLaplacianSVC else LaplacianLeastSquaresClassifier
    for name, rows, block, penalized in (("x", slice(None), X, L), ("z", kept, Z, schur)):
        expected = single(RBF(1.3), graph={"laplacian": penalized}, **GAMMAS).fit(block[rows], y[rows])
        got = model.decision_function({name: block}, view=name)
        np.testing.assert_allclose(got, expected.decision_function(block), atol=1e-8)


def test_a_view_without_labels_has_no_say():
    X, y = problem(n=20)
    has = np.ones((20, 2), dtype=bool)
    has[~np.isnan(y), 1] = False
    views = Views([X, X], names=["x", "z"], presence=has)
    model = CoLaplacianLeastSquaresClassifier(RBF(1.3), **GAMMAS).fit(views, y)
    assert np.isnan(model.decision_function_per_view({"x": X, "z": X})[1]).all()
    np.testing.assert_allclose(model.decision_function({"x": X, "z": X}), model.decision_function({"x": X}), atol=1e-12)
    with pytest.raises(ViewError, match="20 of 20 have none"):
        model.predict({"z": X})


@pytest.mark.parametrize("kind", EVERY)
def test_wide_sparse_rows_stay_sparse(kind):
    """1,500 documents of 24,000 words: a few square matrices, but never the table written out."""
    rng = np.random.default_rng(0)
    n, width = 1_500, 24_000
    rows = sparse.random_array((n, width), density=0.002, rng=rng, format="csr")
    own = sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n) % 2)), shape=(n, width))
    rows = sparse.csr_array(rows + own)
    truth = np.where(np.arange(n) % 2, 1.0, -1.0)
    y = np.where(np.arange(n) < 20, truth, np.nan)
    graph = {"n_neighbors": 10, "metric": "cosine"}
    tracemalloc.start()
    try:
        model = kind("linear", graph=graph).fit(rows, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 9 * 8 * n**2 < 0.6 * 8 * n * width
    assert model.score(rows[20:], truth[20:]) > 0.9
    coef = model.coef_ if kind in EVERY[::2] else model.coef_[0]
    np.testing.assert_allclose(
        rows[:5] @ coef + np.ravel(model.intercept_), model.decision_function(rows[:5]), atol=1e-9
    )
