"""Co-regularized functions against direct minimization, refits, and their own special cases."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import block_diag
from sklearn.gaussian_process.kernels import RBF

from coview.inference import (
    LARGEST_SYSTEM,
    CoRegularizedViews,
    DenseCurvature,
    FactoredCurvature,
    TiedKernels,
    kernel_block,
    solve_box_program,
)

SETTINGS = [(2, 1.0), (3, 5.0), (3, 0.0), (1, 1.0), (4, 0.3)]
WIDTHS = [3, 2, 4, 1]


def draw(n_views, seed=0, n=25, complete=False):
    """Blocks over the samples with a view, presence, labels."""
    rng = np.random.default_rng(seed)
    presence = np.ones((n, n_views), dtype=bool) if complete else rng.random((n, n_views)) < 0.7
    presence[~presence.any(axis=1), 0] = True
    blocks = [rng.normal(size=(int(has.sum()), WIDTHS[v])) + 0.5 for v, has in enumerate(presence.T)]
    labeled = rng.random(n) < 0.4
    return blocks, presence, labeled, rng.normal(size=(int(labeled.sum()), 2))


def changed(K, constants):
    """The kernel without constants, as the words say."""
    n = len(K)
    if constants == "center":
        H = np.eye(n) - 1.0 / n
        return H @ K @ H
    if constants == "orthogonal":
        s = K.sum(axis=1)
        return K - np.outer(s, s) / s.sum()
    return K


def problem(blocks, presence, labeled, coupling, *, form, constants="none", weights=None):
    """Linear kernels by features, by values, or of both kinds."""
    m = len(blocks)
    ridge, weights = np.linspace(0.05, 0.3, m), np.linspace(1.0, 0.5, m) if weights is None else weights
    by_values = {"values": range(m), "features": (), "both": range(1, m)}[form]
    kernels = [
        kernel_block(X @ X.T, constants=constants) if v in by_values else kernel_block(None, X, constants=constants)
        for v, X in enumerate(blocks)
    ]
    return CoRegularizedViews(TiedKernels(kernels, presence, labeled, ridge, coupling), weights)


def penalty(problem):
    """Q of the ties as ``f' Q f`` over the views' rows stacked, pair by pair of views."""
    tied, P = problem.tied, problem.tied.presence
    n, m = P.shape
    selectors = [np.eye(n)[P[:, v]] for v in range(m)]
    stacked = np.zeros((sum(map(len, selectors)),) * 2)
    for v in range(m):
        for w in range(v):
            parts = [np.zeros((len(S), n)) for S in selectors]
            both = np.diag((P[:, v] & P[:, w]).astype(float))
            parts[v], parts[w] = selectors[v] @ both, -selectors[w] @ both
            D = np.vstack(parts)
            stacked += tied.coupling / n * D @ D.T
    return stacked


def direct(problem, grams, targets):
    """Coefficients and objective by the normal equations in the coefficients of all views, and their gradient's zero."""
    tied, P = problem.tied, problem.tied.presence
    n_labeled, m = tied.labeled.sum(), P.shape[1]
    K, Q = block_diag(*grams), penalty(problem)
    J = np.concatenate([problem.view_weights[v] / n_labeled * tied.labeled[P[:, v]] for v in range(m)])
    everywhere = np.zeros((len(P), targets.shape[1]))
    everywhere[tied.labeled] = targets
    y = np.concatenate([everywhere[P[:, v]] for v in range(m)])
    ridge = np.concatenate([np.full(P[:, v].sum(), tied.ridge[v]) for v in range(m)])
    a = np.linalg.solve((J[:, None] * K) + np.diag(ridge) + Q @ K, J[:, None] * y)
    f = K @ a
    objective = (
        (J[:, None] * (y - f) ** 2).sum(axis=0) + (ridge[:, None] * a * f).sum(axis=0) + (f * (Q @ f)).sum(axis=0)
    )
    return np.split(a, np.cumsum(P.sum(axis=0))[:-1]), objective


def values_at_labels(problem, grams, dual):
    tied = problem.tied
    table = np.full((tied.labeled.sum(), len(grams), dual[0].shape[1]), np.nan)
    for v, (K, a) in enumerate(zip(grams, dual, strict=True)):
        has = tied.presence[:, v]
        table[has[tied.labeled], v] = (K @ a)[tied.labeled[has]]
    return table


@pytest.mark.parametrize("form", ["values", "features", "both"])
@pytest.mark.parametrize("constants", ["none", "center", "orthogonal"])
@pytest.mark.parametrize(("n_views", "coupling"), SETTINGS)
def test_least_squares_is_the_direct_solution(n_views, coupling, constants, form):
    blocks, presence, labeled, targets = draw(n_views, seed=n_views)
    grams = [changed(X @ X.T, constants) for X in blocks]
    views = problem(blocks, presence, labeled, coupling, form=form, constants=constants)
    found = views.least_squares(targets)
    dual, objective = direct(views, grams, targets)
    for got, want in zip(found.dual, dual, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.objective, objective, rtol=1e-9)
    np.testing.assert_allclose(found.fitted, values_at_labels(views, grams, dual), rtol=1e-8, atol=1e-10)
    given, weights, constant = found.given_kernels(views.tied)
    assert (weights is not None) == views.tied.in_features
    assert form != "values" or weights is None
    for v, (X, K, before) in enumerate(zip(blocks, grams, dual, strict=True)):
        w = X.T @ given[v] if weights is None else weights[v]
        np.testing.assert_allclose(X @ w + constant[v], K @ before, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.values(views.tied)[presence[:, v], v], K @ before, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("form", ["values", "features"])
@pytest.mark.parametrize(("n_views", "coupling"), SETTINGS)
def test_a_label_left_out_is_a_refit_without_it(n_views, coupling, form):
    """The sample stays in the ties, and the weight of each other label stays 1/l; a view of weight 0 is answered too."""
    blocks, presence, labeled, targets = draw(n_views, seed=10 + n_views, n=40)
    weights = np.ones(n_views)
    weights[1:2] = 0.0
    found = problem(blocks, presence, labeled, coupling, form=form, weights=weights).least_squares(targets)
    n_labeled = labeled.sum()
    for k, sample in enumerate(np.flatnonzero(labeled)):
        others = labeled.copy()
        others[sample] = False
        less = problem(blocks, presence, others, coupling, form="values", weights=weights * (n_labeled - 1) / n_labeled)
        dual = less.least_squares(np.delete(targets, k, axis=0)).dual
        for v in np.flatnonzero(presence[sample]):
            K = blocks[v] @ blocks[v].T
            row = presence[:sample, v].sum()
            np.testing.assert_allclose(found.held_out[k, v], K[row] @ dual[v], rtol=1e-7, atol=1e-9)
    assert np.isnan(found.held_out[~presence[labeled]]).all()


def primal(views, grams, signs, dual):
    """The hinge objective of functions, from their definition."""
    tied = views.tied
    f = np.full(tied.presence.shape, np.nan)
    total = 0.0
    for v, (K, a) in enumerate(zip(grams, dual, strict=True)):
        f[tied.presence[:, v], v] = K @ a
        total += tied.ridge[v] * a @ K @ a
        loss = np.maximum(0.0, 1.0 - signs * f[tied.labeled, v])
        total += views.view_weights[v] / tied.labeled.sum() * np.nansum(loss)
    for v in range(f.shape[1]):
        for w in range(v):
            total += tied.coupling / len(f) * np.nansum((f[:, v] - f[:, w]) ** 2)
    return total


@pytest.mark.parametrize("form", ["values", "features", "both"])
@pytest.mark.parametrize(("n_views", "coupling"), SETTINGS)
def test_the_hinge_program_has_no_gap(n_views, coupling, form):
    """Weak duality: a primal value equal to the dual one proves both optimal."""
    blocks, presence, labeled, _ = draw(n_views, seed=20 + n_views, n=60)
    codes = (np.arange(labeled.sum()) % 2).astype(np.int64)
    signs = 2.0 * codes[:, None] - 1.0
    views = problem(blocks, presence, labeled, coupling, form=form)
    found = views.hinge(signs, codes)
    grams = [X @ X.T for X in blocks]
    value = primal(views, grams, signs[:, 0], [a[:, 0] for a in found.dual])
    np.testing.assert_allclose(value, found.objective[0], rtol=1e-8)
    np.testing.assert_allclose(found.fitted, values_at_labels(views, grams, found.dual), rtol=1e-7, atol=1e-9)


def test_folds_of_the_hinge_are_refits_without_their_labels():
    blocks, presence, labeled, _ = draw(2, seed=3, n=60, complete=True)
    codes = (np.arange(labeled.sum()) % 2).astype(np.int64)
    signs = 2.0 * codes[:, None] - 1.0
    views = problem(blocks, presence, labeled, 1.0, form="values")
    found = views.hinge(signs, codes)
    folds = views._folds(codes, 5)
    assert [np.ptp(np.bincount(folds[codes == c])) <= 1 for c in (0, 1)] == [True, True]
    for fold in range(5):
        others = labeled.copy()
        others[np.flatnonzero(labeled)[folds == fold]] = False
        less = problem(
            blocks, presence, others, 1.0, form="values", weights=views.view_weights * others.sum() / labeled.sum()
        )
        dual = less.hinge(signs[folds != fold], codes[folds != fold], n_folds=0).dual
        want = values_at_labels(views, [X @ X.T for X in blocks], dual)
        np.testing.assert_allclose(found.held_out[folds == fold], want[folds == fold], rtol=1e-6, atol=1e-8)
    assert np.isnan(views.hinge(signs, codes, n_folds=0).held_out).all()


@pytest.mark.parametrize("constants", ["none", "center", "orthogonal"])
def test_sparse_features_are_dense_ones(constants):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 7)) < 0.3, rng.normal(size=(30, 7)), 0.0)
    vectors, some = rng.normal(size=(30, 9)), np.array([3, 3, 1, 20])
    dense, thin = (kernel_block(None, rows, constants=constants) for rows in (X, sparse.csr_array(X)))
    K = changed(X @ X.T, constants)
    for block in (dense, thin, kernel_block(X @ X.T, constants=constants)):
        np.testing.assert_allclose(block.times(vectors), K @ vectors, atol=1e-12)
        np.testing.assert_allclose(block.between(np.arange(30), some), K[:, some], atol=1e-12)
        np.testing.assert_allclose(block.between(some, some[:2]), K[np.ix_(some, some[:2])], atol=1e-12)
    presence, labeled = np.ones((30, 2), dtype=bool), np.arange(30) < 9
    found = []
    for block in (dense, thin, kernel_block(X @ X.T, constants=constants)):
        tied = TiedKernels([block, block], presence, labeled, np.array([0.1, 0.2]), 1.0)
        found.append(CoRegularizedViews(tied, np.ones(2)).least_squares(np.arange(9.0)[:, None]).dual)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-8, atol=1e-10)


def test_nothing_to_be_orthogonal_to():
    """Features that sum to zero have functions that do: the kernel stays as it is."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    for block in (kernel_block(X @ X.T, constants="orthogonal"), kernel_block(None, X, constants="orthogonal")):
        np.testing.assert_array_equal(block.times(np.eye(4)), X @ X.T)


@pytest.mark.parametrize("constants", ["center", "orthogonal"])
@pytest.mark.parametrize("form", ["values", "dense", "sparse"])
def test_a_kernel_of_nothing_but_a_constant_leaves_exactly_zero(form, constants):
    """Rounding is not a function: what is left of one row, repeated, is zero, and so is what is said of new samples."""
    X = np.tile([[0.1, 0.7, 1.3]], (7, 1))
    given = {"values": (X @ X.T, None), "dense": (None, X), "sparse": (None, sparse.csr_array(X))}[form]
    block = kernel_block(*given, constants=constants)
    assert not block.between(np.arange(7), np.arange(7)).any()
    tied = TiedKernels([block], np.ones((7, 1), dtype=bool), np.arange(7) < 3, np.ones(1), 0.0)
    found = CoRegularizedViews(tied, np.ones(1)).least_squares(np.array([[1.0], [2.0], [0.5]]))
    dual, weights, constant = found.given_kernels(tied)
    assert not dual[0].any()
    assert not constant.any()
    assert weights is None or not weights[0].any()
    spread = kernel_block(None, X + 1e-6 * np.arange(7.0)[:, None], constants=constants)
    assert spread.between(np.arange(7), np.arange(7)).any()


def test_which_views_a_label_reaches():
    presence = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], dtype=bool)
    labeled = np.array([True, False, False, False, False])
    kernels = [kernel_block(np.eye(n)) for n in presence.sum(axis=0)]
    tied = TiedKernels(kernels, presence, labeled, np.ones(4), 1.0)
    assert tied.reached(np.ones(4)).tolist() == [True, True, False, False]
    assert not tied.reached(np.array([0.0, 1.0, 1.0, 1.0])).any()
    apart = TiedKernels(kernels, presence, labeled, np.ones(4), 0.0)
    assert apart.reached(np.ones(4)).tolist() == [True, False, False, False]


@pytest.mark.parametrize("spread", [0, 12])
def test_a_factored_curvature_is_the_matrix(spread):
    rng = np.random.default_rng(1)
    F = rng.normal(size=(20, 4))
    diagonal = 10.0 ** rng.uniform(-spread / 2, spread / 2, 20)
    right = rng.normal(size=(20, 3))
    factored, dense = FactoredCurvature(F), DenseCurvature(F @ F.T)
    np.testing.assert_allclose(factored.times(right[:, 0]), dense.times(right[:, 0]))
    solved = factored.plus(diagonal)(right)
    np.testing.assert_allclose(F @ (F.T @ solved) + diagonal[:, None] * solved, right, rtol=1e-7, atol=1e-7)
    program = [solve_box_program(Q, rng_c, np.ones(20)).x for Q in (factored, dense) for rng_c in (right[:, 1],)]
    np.testing.assert_allclose(program[0], program[1], atol=1e-8)


def test_a_system_that_would_fill_the_memory_is_refused():
    n = LARGEST_SYSTEM + 1
    block = kernel_block(np.broadcast_to(0.0, (n, n)))
    tied = TiedKernels([block, block], np.ones((n, 2), dtype=bool), np.arange(n) < 2, np.ones(2), 1.0)
    with pytest.raises(ValueError, match="20001 ties between views"):
        CoRegularizedViews(tied, np.ones(2)).least_squares(np.ones((2, 1)))


def solved_in_digits(A, b, digits=60):
    """Elimination in decimals, for matrices of exact doubles as nested lists of Decimal."""
    with localcontext(prec=digits):
        rows = [[*row, right] for row, right in zip(A, b, strict=True)]
        for k in range(len(rows)):
            pivot = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
            rows[k], rows[pivot] = rows[pivot], rows[k]
            for i in range(k + 1, len(rows)):
                share = rows[i][k] / rows[k][k]
                rows[i] = [one - share * other for one, other in zip(rows[i], rows[k], strict=True)]
        x = [Decimal(0)] * len(rows)
        for k in reversed(range(len(rows))):
            x[k] = (rows[k][-1] - sum(rows[k][j] * x[j] for j in range(k + 1, len(rows)))) / rows[k][k]
        return x


@pytest.mark.parametrize("constants", ["none", "center", "orthogonal"])
@pytest.mark.parametrize("n_views", [2, 3])
def test_conjugate_gradients_where_no_system_can_be_held(monkeypatch, n_views, constants):
    """Many features and many samples: the same functions, without a matrix of either order."""
    rng = np.random.default_rng(n_views)
    presence = np.ones((50, n_views), dtype=bool)
    presence[::7, 1] = False
    blocks = [rng.normal(size=(int(has.sum()), 30)) * (rng.random((int(has.sum()), 30)) < 0.4) for has in presence.T]
    labeled = np.arange(50) < 10
    kernels = [kernel_block(None, sparse.csr_array(X), constants=constants) for X in blocks]
    given = (presence, labeled, np.linspace(0.05, 0.3, n_views), 2.0)
    targets = rng.normal(size=(10, 2))
    want = CoRegularizedViews(TiedKernels(kernels, *given), np.ones(n_views)).least_squares(targets)
    monkeypatch.setattr("coview.inference._tied_kernels.ITERATIVE_FROM", 10 * n_views)
    tied = TiedKernels(kernels, *given)
    monkeypatch.setattr("coview.inference._tied_kernels.cholesky", None)
    found = CoRegularizedViews(tied, np.ones(n_views)).least_squares(targets)
    for one, other in zip(found.dual, want.dual, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.held_out, want.held_out, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.values(tied), want.values(tied), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("ridge", "coupling"), [(1e-6, 1e6), (1e-9, 1.0), (1.0, 1e9)])
def test_extreme_prices_leave_the_values_right(ridge, coupling):
    """Against the normal equations in 60 digits."""
    blocks, presence, labeled, targets = draw(2, seed=5, n=12, complete=True)
    grams = [RBF(1.0)(X) for X in blocks]
    tied = TiedKernels([kernel_block(K) for K in grams], presence, labeled, np.full(2, ridge), coupling)
    found = CoRegularizedViews(tied, np.ones(2)).least_squares(targets[:, :1])
    n, y = len(labeled), np.zeros(24)
    y[[*labeled, *labeled]] = np.tile(targets[:, 0], 2)
    with localcontext(prec=60):
        price, apart = Decimal(1) / int(labeled.sum()), Decimal(coupling) / n
        K = [[Decimal(value) for value in row] for row in block_diag(*grams).tolist()]
        J = [price if mine else Decimal(0) for mine in [*labeled, *labeled]]
        A = [
            [
                (J[i] + apart) * K[i][j] - apart * K[(i + n) % (2 * n)][j] + (Decimal(ridge) if i == j else 0)
                for j in range(2 * n)
            ]
            for i in range(2 * n)
        ]
        a = solved_in_digits(A, [J[i] * Decimal(float(y[i])) for i in range(2 * n)])
        f = np.array([float(sum(K[i][j] * a[j] for j in range(2 * n))) for i in range(2 * n)])
        objective = float(
            sum(J[i] * Decimal(float(y[i])) * (Decimal(float(y[i])) - Decimal(f[i])) for i in range(2 * n))
        )
    np.testing.assert_allclose(found.fitted[:, :, 0].T, f.reshape(2, n)[:, labeled], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.objective, objective, rtol=1e-5)
