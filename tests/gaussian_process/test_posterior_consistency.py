"""Gaussian processes with posterior consistency: reductions, properties that hold for any data, input that is refused."""

import warnings

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

from coview import Views
from coview.exceptions import NotPositiveDefiniteError, ViewError
from coview.gaussian_process import PosteriorConsistencyGPClassifier, PosteriorConsistencyGPRegressor

LINEAR = ConstantKernel(0.7) * DotProduct(0, "fixed")
KERNELS = [
    ConstantKernel(1.3) * RBF(1.7),
    ConstantKernel(0.8) * RBF([1.0, 2.5]),
    LINEAR + ConstantKernel(0.4) * Matern(2.0, nu=1.5),
]
TIES = np.array([[0.0, 0.02, 0.3], [0.02, 0.0, 0.1], [0.3, 0.1, 0.0]])


def draw(seed=0, n=18, missing=True, unlabeled=True):
    """Three views of a hidden side; blocks (NaN where missing), labels with NaN, the side."""
    rng = np.random.default_rng(seed)
    side = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    blocks = [side[:, None] * 0.8 + rng.normal(size=(n, width)) for width in (3, 2, 2)]
    if missing:
        blocks[1][2:5] = np.nan
        blocks[2][::6] = np.nan
    y = side.copy()
    if unlabeled:
        y[[1, 4, 8]] = np.nan
    return blocks, y, side


def fixed(cls=PosteriorConsistencyGPClassifier, **changes):
    parameters = {
        "kernel": KERNELS,
        "noise_variance": [0.3, 0.5, 0.2],
        "view_weights": [0.2, 0.5, 0.3],
        "consistency": TIES,
        "jitter": 1e-2,
        "hyperparameters": "fixed",
    }
    return cls(**(parameters | changes))


FORMS = {
    "exact": {},
    "low rank, linear and landmarks": {
        "approximation": "low_rank",
        "n_components": 6,
        "kernel": [KERNELS[0], KERNELS[1], LINEAR],
    },
    "low rank, amplitudes only": {
        "approximation": "low_rank",
        "n_components": 4,
        "kernel": [ConstantKernel(1.3) * RBF(1.7, "fixed"), LINEAR, RBF(1.0, "fixed")],
    },
    "on a subset": {"selective": [0, 2, 3, 5, 6, 9, 11, 12, 13]},
    "no weight on one view": {"view_weights": [0.0, 1.0, 0.0]},
}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_gradient_is_that_of_finite_differences(form, missing):
    blocks, y, _ = draw(1, missing=missing, unlabeled=missing)
    model = fixed(**FORMS[form]).fit(blocks, y)
    theta = model.theta_ + 0.1 * np.random.default_rng(0).normal(size=model.theta_.size)
    value, gradient = model.objective(theta, eval_gradient=True)
    assert value == pytest.approx(model.objective(theta), rel=1e-12)
    numeric = approx_fprime(theta, model.objective, 1e-6)
    np.testing.assert_allclose(gradient, numeric, rtol=2e-4, atol=2e-4 * np.abs(gradient).max())
    assert np.abs(gradient).min() > 0.0 or form == "no weight on one view"


def test_gradient_for_three_classes_sums_over_them():
    blocks, _, _ = draw(2, missing=False)
    y = np.arange(18) % 3
    model = fixed().fit(blocks, y)
    value, gradient = model.objective(eval_gradient=True)
    parts = []
    for c in range(3):
        one = fixed().fit(blocks, np.where(y == c, 1.0, -1.0))
        parts.append(one.objective(eval_gradient=True))
    np.testing.assert_allclose(value, sum(part[0] for part in parts), rtol=1e-10)
    np.testing.assert_allclose(gradient, sum(part[1] for part in parts), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("selective", [False, [0, 2, 3, 6, 7, 11]])
def test_divergences_are_those_written_out(selective):
    """Means and covariances by inverses, for the samples that both views have; unlabeled ones have no noise term."""
    blocks, y, _ = draw(3)
    model = fixed(selective=selective).fit(blocks, y)
    kept = np.isin(np.arange(len(y)), selective) if selective else np.ones(len(y), dtype=bool)
    present = [~np.isnan(block).any(axis=1) & kept for block in blocks]
    for i, j in ((0, 1), (2, 0), (1, 2)):
        rows = np.flatnonzero(present[i] & present[j])
        known = ~np.isnan(y[rows])
        posteriors = []
        for v in (i, j):
            K = KERNELS[v](blocks[v][rows]) + 1e-2 * np.eye(len(rows))
            precision = np.linalg.inv(K) + np.diag(known / model.noise_variances_[v])
            S = np.linalg.inv(precision)
            posteriors.append((S @ (np.where(known, y[rows], 0.0) / model.noise_variances_[v]), S))
        (m, S), (n, T) = posteriors
        log_det = np.linalg.slogdet(T)[1] - np.linalg.slogdet(S)[1]
        expected = 0.5 * (log_det + np.trace(np.linalg.solve(T, S)) + (m - n) @ np.linalg.solve(T, m - n) - len(rows))
        np.testing.assert_allclose(model.divergences_[i, j], expected, rtol=1e-9)


@pytest.mark.parametrize("approximation", ["exact", "low_rank"])
def test_without_consistency_each_view_is_sklearns_regressor(approximation):
    blocks, y, _ = draw(4, missing=False, unlabeled=False)
    model = fixed(PosteriorConsistencyGPRegressor, consistency=0.0, approximation=approximation, n_components=None)
    model.fit(blocks, y)
    new = [block + 0.3 for block in blocks]
    weights = np.array([0.2, 0.5, 0.3])
    means, variances = [], []
    for v, kernel in enumerate(KERNELS):
        peer = GaussianProcessRegressor(kernel, alpha=model.noise_variances_[v] + 1e-2, optimizer=None)
        mean, std = peer.fit(blocks[v], y).predict(new[v], return_std=True)
        means.append(mean)
        variances.append(std**2)
        got = model.predict(new, return_std=True, view=model.view_names_[v])
        if approximation == "exact":
            np.testing.assert_allclose(np.stack(got), np.stack([mean, std]), rtol=1e-9)
        else:  # the features hold no variance outside of the span of the training samples
            np.testing.assert_allclose(got[0], mean, rtol=1e-6, atol=1e-8)
            assert (got[1] <= std + 1e-9).all()
        np.testing.assert_allclose(
            model.log_marginal_likelihoods_[v], peer.log_marginal_likelihood(peer.kernel_.theta), rtol=1e-8
        )
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, weights @ np.array(means), rtol=1e-6, atol=1e-8)
    if approximation == "exact":
        np.testing.assert_allclose(std**2, weights**2 @ np.array(variances), rtol=1e-8)


def test_maximizing_without_consistency_finds_sklearns_parameters():
    blocks, y, _ = draw(5, n=40, missing=False, unlabeled=False)
    kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.3)
    peer = GaussianProcessRegressor(kernel, alpha=1e-4).fit(blocks[0], y)
    model = PosteriorConsistencyGPRegressor(ConstantKernel(1.0) * RBF(1.0), noise_variance=0.3, consistency=0.0)
    model.fit([blocks[0]], y)
    np.testing.assert_allclose(model.theta_, peer.kernel_.theta, atol=5e-3)
    np.testing.assert_allclose(model.objective_, -peer.log_marginal_likelihood_value_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:No view explains")
def test_the_dearer_divergence_the_smaller_it_is():
    """At the optimum the penalty falls and the evidence falls with b, whatever the data."""
    blocks, y, _ = draw(6, n=30, missing=False, unlabeled=False)
    penalties, evidences, gaps = [], [], []
    for b in (0.0, 1e-4, 1e-2, 1.0):
        model = PosteriorConsistencyGPClassifier(
            ConstantKernel(1.0) * RBF(2.0), consistency=b, jitter=1e-2, n_restarts=2, random_state=0
        )
        model.fit(blocks[:2], y)
        probe = fixed(
            kernel=model.kernels_,
            noise_variance=list(model.noise_variances_),
            view_weights=None,
            consistency=1.0,
        ).fit(blocks[:2], y)
        penalties.append(probe.divergences_.sum())
        evidences.append(probe.log_marginal_likelihoods_.mean())
        gaps.append(np.abs(np.subtract(*model.latent_means_)).max())
    assert np.all(np.diff(penalties) < 1e-6)
    assert np.all(np.diff(evidences) < 1e-6)
    assert penalties[-1] < 0.01 * penalties[0]
    assert gaps[-1] < 0.2 * gaps[0]


def test_the_search_ends_where_the_gradient_vanishes():
    blocks, y, _ = draw(7, n=24)
    start = fixed(hyperparameters="fixed").fit(blocks, y)
    model = fixed(hyperparameters="maximize").fit(blocks, y)
    assert model.objective_ < start.objective_ - 1.0
    assert model.n_iter_ > 1 == start.n_iter_
    inside = np.abs(model.theta_) < np.log(1e4)
    gradient = model.objective(eval_gradient=True)[1]
    assert np.abs(gradient[inside]).max() < 1e-2
    assert model.objective(start.theta_) == pytest.approx(start.objective_)


def test_views_of_the_same_values_do_not_differ():
    blocks, y, _ = draw(8, missing=False)
    model = fixed(kernel=KERNELS[0], noise_variance=0.3, view_weights=None, consistency=2.0)
    model.fit([blocks[0], blocks[0]], y)
    np.testing.assert_allclose(model.divergences_, 0.0, atol=1e-9)
    one = fixed(kernel=KERNELS[0], noise_variance=0.3, view_weights=None, consistency=2.0).fit([blocks[0]], y)
    np.testing.assert_allclose(model.predict_latent([blocks[0]] * 2), one.predict_latent([blocks[0]]), rtol=1e-12)
    np.testing.assert_allclose(model.objective_, one.objective_, rtol=1e-9)


def test_order_of_samples_and_views_means_nothing():
    blocks, y, _ = draw(9)
    model = fixed().fit(blocks, y)
    order = np.random.default_rng(0).permutation(len(y))
    moved = fixed().fit([block[order] for block in blocks], y[order])
    np.testing.assert_allclose(moved.objective_, model.objective_, rtol=1e-10)
    np.testing.assert_array_equal(np.sort(order[moved.consistent_set_]), model.consistent_set_)
    turned = [2, 0, 1]
    other = fixed(
        kernel=[KERNELS[v] for v in turned],
        noise_variance=[[0.3, 0.5, 0.2][v] for v in turned],
        view_weights=[[0.2, 0.5, 0.3][v] for v in turned],
        consistency=TIES[np.ix_(turned, turned)],
    ).fit([blocks[v] for v in turned], y)
    np.testing.assert_allclose(other.objective_, model.objective_, rtol=1e-10)
    np.testing.assert_allclose(other.divergences_, model.divergences_[np.ix_(turned, turned)], rtol=1e-8)
    np.testing.assert_allclose(
        other.predict_proba([blocks[v] for v in turned]), model.predict_proba(blocks), rtol=1e-10
    )


def test_duplicates_need_jitter_and_are_fine_with_it():
    blocks, y, _ = draw(10, missing=False, unlabeled=False)
    blocks[0][1] = blocks[0][3]
    with pytest.raises(NotPositiveDefiniteError, match=r"'view_0' must be positive definite.*raise jitter"):
        fixed(jitter=0.0).fit(blocks, y)
    model = fixed(jitter=1e-4).fit(blocks, y)
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.objective(eval_gradient=True)[1]).all()
    free = fixed(jitter=0.0, consistency=0.0).fit(blocks, y)  # nothing is compared: no divergence, no need
    assert np.isnan(free.divergences_[0, 1])
    K, noise = KERNELS[0](blocks[0]), 0.3
    expected = K - K @ np.linalg.solve(K + noise * np.eye(18), K)
    np.testing.assert_allclose(free.latent_covariances_[0], expected, atol=1e-12)


def test_nearly_singular_kernels_keep_their_digits():
    """Wide kernels: a condition number of 1e7 costs the exact form no more than seven digits."""
    from fractions import Fraction

    x = np.array([[0.0], [1.0], [2.0]])
    kernel = ConstantKernel(1.0) * RBF(40.0)
    model = fixed(
        kernel=[kernel, ConstantKernel(1.0) * RBF(0.5)],
        noise_variance=0.1,
        view_weights=None,
        consistency=1.0,
        jitter=1e-6,
    ).fit([x, x], [1.0, -1.0, 1.0])
    # Exact rational arithmetic from the same float64 kernel values.
    grams = [k(x) + 1e-6 * np.eye(3) for k in (kernel, ConstantKernel(1.0) * RBF(0.5))]
    inverses = [_inverse([[Fraction(float(v)) for v in row] for row in K]) for K in grams]
    tenth = Fraction(0.1)
    precisions = [
        [[v + (1 / tenth if i == j else 0) for j, v in enumerate(r)] for i, r in enumerate(P)] for P in inverses
    ]
    covariances = [_inverse(P) for P in precisions]
    pairs = zip(precisions, covariances[::-1], strict=True)
    trace = [sum(P[i][k] * S[k][i] for i in range(3) for k in range(3)) for P, S in pairs]
    y = [1, -1, 1]
    means = [[sum(S[i][k] * y[k] for k in range(3)) / tenth for i in range(3)] for S in covariances]
    d = [a - b for a, b in zip(*means, strict=True)]
    quadratic = sum(d[i] * (precisions[0][i][k] + precisions[1][i][k]) * d[k] for i in range(3) for k in range(3))
    expected = float((trace[0] + trace[1] + quadratic) / 2 - 3)
    assert np.linalg.cond(grams[0]) > 1e5
    np.testing.assert_allclose(model.divergences_.sum(), expected, rtol=1e-8)


def _inverse(matrix):
    """Gauss-Jordan on fractions."""
    n = len(matrix)
    rows = [[*row, *(type(row[0])(i == j) for j in range(n))] for i, row in enumerate(matrix)]
    for i in range(n):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i:
                factor = rows[k][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[n:] for row in rows]


@pytest.mark.parametrize("seed", [2, 3, 6, 8, 10, 18])
def test_rounding_is_not_taken_for_a_variance(seed):
    """The factorization of a matrix with equal rows goes through where rounding leaves a positive pivot: no posterior."""
    X = np.random.RandomState(seed).randn(6, 2)
    X[4] = X[1]
    y = [1.0, -1.0, 1.0, -1.0, -1.0, 1.0]
    parameters = {"kernel": KERNELS[0], "noise_variance": 0.3, "view_weights": None, "consistency": 1.0}
    with pytest.raises(NotPositiveDefiniteError, match="raise jitter"):
        fixed(**parameters, jitter=0.0).fit([X, np.arange(6.0)[:, None]], y)
    assert np.isfinite(fixed(**parameters, jitter=1e-10).fit([X, np.arange(6.0)[:, None]], y).objective_)


def test_ties_above_the_diagonal_are_enough():
    blocks, y, _ = draw(26)
    assert fixed(consistency=np.triu(TIES)).fit(blocks, y).objective_ == fixed().fit(blocks, y).objective_


@pytest.mark.parametrize("cls", [PosteriorConsistencyGPClassifier, PosteriorConsistencyGPRegressor])
def test_low_rank_at_full_rank_is_exact(cls):
    blocks, y, _ = draw(11)
    exact = fixed(cls).fit(blocks, y)
    model = fixed(cls, approximation="low_rank", n_components=None).fit(blocks, y)
    np.testing.assert_allclose(model.objective_, exact.objective_, rtol=1e-7)
    np.testing.assert_allclose(model.divergences_, exact.divergences_, rtol=1e-6)
    for got, want in zip(model.latent_covariances_, exact.latent_covariances_, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-7)
    np.testing.assert_allclose(model.predict(blocks) == 1, exact.predict(blocks) == 1)
    np.testing.assert_allclose(
        model.objective(eval_gradient=True)[1], exact.objective(eval_gradient=True)[1], rtol=1e-4, atol=1e-5
    )
    few = fixed(cls, approximation="low_rank", n_components=2).fit(blocks, y)
    assert abs(few.objective_ - exact.objective_) > 1e-3


def test_kernel_values_given_are_the_kernel():
    blocks, y, _ = draw(12, missing=False)
    exact = fixed(kernel=KERNELS[0]).fit([blocks[0]] * 3, y)
    K = KERNELS[0](blocks[0])
    model = fixed(kernel="precomputed").fit([K] * 3, y)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-12)
    np.testing.assert_allclose(model.theta_, np.log([0.3, 0.5, 0.2]))
    new = KERNELS[0](blocks[0] + 0.2, blocks[0])
    with pytest.raises(ViewError, match="kernel value of each row with itself"):
        fixed(kernel="precomputed").fit([K + np.diag(np.arange(18.0))] * 3, y).predict([new] * 3)
    np.testing.assert_allclose(model.predict_latent([new] * 3), exact.predict_latent([blocks[0] + 0.2] * 3), rtol=1e-10)
    learned = fixed(kernel="precomputed", hyperparameters="maximize").fit([K] * 3, y)
    assert learned.kernels_ == ["precomputed"] * 3
    assert learned.objective_ < model.objective_


@pytest.mark.parametrize("approximation", ["exact", "low_rank"])
def test_new_samples_from_any_views_one_at_a_time(approximation):
    blocks, y, _ = draw(13)
    model = fixed(approximation=approximation).fit(Views(blocks, names=["a", "b", "c"]), y)
    new = draw(14, n=6, unlabeled=False)[0]
    together = model.predict_proba(Views(new, names=["a", "b", "c"]))
    for i in range(6):
        present = {name: block[[i]] for name, block in zip("abc", new, strict=True) if not np.isnan(block[i]).any()}
        np.testing.assert_allclose(model.predict_proba(present)[0], together[i], rtol=1e-10)
    alone = model.predict_proba({"b": new[1][:1]})
    np.testing.assert_allclose(alone, model.predict_proba(Views(new, names=["a", "b", "c"])[:1], view="b"), rtol=1e-12)
    assert np.abs(alone - together[:1]).max() > 1e-3


def test_weights_of_the_views_at_hand():
    blocks, y, _ = draw(15, missing=False, unlabeled=False)
    model = fixed(PosteriorConsistencyGPRegressor, view_weights=[0.6, 0.4, 0.0]).fit(blocks, y)
    a, b, c = (model.predict(blocks, view=name) for name in model.view_names_)
    np.testing.assert_allclose(model.predict(blocks), 0.6 * a + 0.4 * b, rtol=1e-12)
    first_only = Views(blocks, presence=np.tile([True, False, True], (18, 1)))
    np.testing.assert_allclose(model.predict(first_only), a, rtol=1e-12)
    last_only = Views(blocks, presence=np.tile([False, False, True], (18, 1)))
    np.testing.assert_allclose(model.predict(last_only), c, rtol=1e-12)  # has no weight, but is all there is


def test_a_view_without_labels_says_nothing():
    blocks, y, _ = draw(16, missing=False, unlabeled=False)
    blocks[2][6:] = np.nan
    y[:6] = np.nan
    model = fixed().fit(blocks, y)
    assert model.log_marginal_likelihoods_[2] == 0.0
    two = Views(blocks, presence=np.tile([True, True, False], (18, 1)))
    np.testing.assert_allclose(model.predict_proba(blocks), model.predict_proba(two), rtol=1e-12)
    assert set(model.consistent_set_) <= set(range(6, 18))
    lonely = {model.view_names_[2]: blocks[2][:1]}
    with pytest.raises(ViewError, match="must have a view that training had; 1 of 1"):
        model.predict(lonely)


def test_samples_without_views_get_the_prior_where_wanted():
    blocks, y, _ = draw(17, missing=False, unlabeled=False)
    for block in blocks:
        block[3] = np.nan
    with pytest.raises(ViewError, match=r"1 of 18 have none: '3'.*no_view='prior'"):
        fixed().fit(blocks, y)
    model = fixed(no_view="prior").fit(blocks, y)
    shares = [(y == -1).mean(), (y == 1).mean()]
    np.testing.assert_allclose(model.predict_proba(blocks)[3], shares)
    assert np.isnan(model.predict_latent(blocks)[3])
    numbers = fixed(PosteriorConsistencyGPRegressor, no_view="prior", normalize_y=True).fit(blocks, y + 5.0)
    mean, std = numbers.predict(blocks, return_std=True)
    assert mean[3] == pytest.approx((y + 5.0).mean())
    assert np.isinf(std[3])
    rest = np.arange(18) != 3
    without = fixed().fit([block[rest] for block in blocks], y[rest])
    np.testing.assert_allclose(model.objective_, without.objective_, rtol=1e-12)


def test_targets_in_other_units():
    blocks, y, _ = draw(18, missing=False)
    y = y + np.linspace(-1.0, 1.0, 18)
    model = fixed(PosteriorConsistencyGPRegressor, normalize_y=True).fit(blocks, y)
    other = fixed(PosteriorConsistencyGPRegressor, normalize_y=True).fit(blocks, 100.0 * y - 7.0)
    mean, std = model.predict(blocks, return_std=True)
    moved = other.predict(blocks, return_std=True)
    np.testing.assert_allclose(np.stack(moved), np.stack([100.0 * mean - 7.0, 100.0 * std]), rtol=1e-9)
    np.testing.assert_array_equal(model.transduction_, mean)


def test_probabilities_are_those_of_a_noisy_label():
    from scipy.stats import norm

    blocks, y, _ = draw(19, missing=False)
    model = fixed().fit(blocks, y)
    mean, std = model.predict_latent(blocks, return_std=True)
    noise = np.square([0.2, 0.5, 0.3]) @ [0.3, 0.5, 0.2]
    np.testing.assert_allclose(model.predict_proba(blocks)[:, 1], norm.cdf(mean / np.sqrt(std**2 + noise)), rtol=1e-10)
    labels, deviations = model.predict(blocks, return_std=True)
    np.testing.assert_array_equal(labels, np.where(mean > 0, 1.0, -1.0))
    np.testing.assert_array_equal(deviations, std)
    np.testing.assert_array_equal(model.transduction_, labels)


def test_consistent_set_of_the_first_fit_is_kept():
    """Algorithm 2: the set is found by the fit on all samples, then the search goes on."""
    blocks, y, _ = draw(20, n=30, missing=True)
    y[[5, 6, 15]] *= -1.0
    parameters = {"hyperparameters": "maximize", "kernel": ConstantKernel(1.0) * RBF(2.0), "consistency": 0.003}
    plain = fixed(**parameters).fit(blocks, y)
    model = fixed(**parameters, selective=True).fit(blocks, y)
    np.testing.assert_array_equal(model.consistent_set_, plain.consistent_set_)
    assert 0 < len(model.consistent_set_) < np.sum(~np.isnan(y))
    given = fixed(**(parameters | {"hyperparameters": "fixed"}), selective=plain.consistent_set_)
    given.set_params(kernel=model.kernels_, noise_variance=list(model.noise_variances_)).fit(blocks, y)
    np.testing.assert_allclose(model.objective_, given.objective_, rtol=1e-10)
    restart = fixed(**parameters, selective=plain.consistent_set_).fit(blocks, y)
    assert model.objective_ <= restart.objective_ + 1e-6 * abs(restart.objective_)


def test_consistent_set_is_where_every_view_finds_the_label():
    blocks, y, _ = draw(21)
    model = fixed().fit(blocks, y)
    agreed = ~np.isnan(y)
    for block, mean in zip(blocks, model.latent_means_, strict=True):
        present = ~np.isnan(block).any(axis=1)
        agreed[present] &= np.sign(mean) == y[present]
    np.testing.assert_array_equal(model.consistent_set_, np.flatnonzero(agreed))
    nobody = fixed(selective=[]).fit(blocks, y)
    np.testing.assert_allclose(nobody.objective_, -(nobody.log_marginal_likelihoods_ @ [0.2, 0.5, 0.3]), rtol=1e-12)
    one = fixed(selective=[7]).fit(blocks, y)
    assert one.divergences_[0, 1] > 0.0


BAD = {
    "noise_variance must be finite and positive": {"noise_variance": [0.1, 0.0, 0.1]},
    "noise_variance must be one number, or one for each of the 3 views": {"noise_variance": [0.1, 0.1]},
    "view_weights must not all be 0": {"view_weights": [0.0, 0.0, 0.0]},
    "view_weights must be finite and not negative": {"view_weights": [1.0, -1.0, 1.0]},
    "consistency must be one number, or a symmetric matrix over the 3 views": {"consistency": [[0, 1], [1, 0]]},
    "consistency must be one number": {"consistency": -1.0},
    "consistency must be one number, or a symmetric": {"consistency": TIES + np.triu(TIES)},
    "selective must be True, False, positions from 0 to 17": {"selective": [3, 18]},
    "selective must be True": {"selective": [0.5]},
    "'jitter' parameter": {"jitter": -1.0},
    "'approximation' parameter": {"approximation": "sparse"},
    "has a parameter of zero or infinity that is free": {"kernel": DotProduct(0.0)},
    "kernel='precomputed', which has no features": {"kernel": "precomputed", "approximation": "low_rank"},
    "has the rank of its features": {"jitter": 0.0, "approximation": "low_rank"},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_parameters_are_refused(message):
    blocks, y, _ = draw(22, missing=False)
    with pytest.raises((ValueError, ViewError, NotPositiveDefiniteError), match=message):
        fixed(**BAD[message]).fit(blocks, y)


def test_bad_data_are_refused():
    blocks, y, _ = draw(23, missing=False)
    with pytest.raises(ValueError, match="labels of at least two classes"):
        fixed(classes=[-1.0, 1.0]).fit(blocks, np.where(y == 1, 1.0, np.nan))
    with pytest.raises(ValueError, match="no sample is labeled"):
        fixed(PosteriorConsistencyGPRegressor).fit(blocks, np.full(18, np.nan))
    lonely = [np.where(np.isnan(y)[:, None], block, np.nan) for block in blocks]
    with pytest.raises(ViewError, match="No sample with a label has a view"):
        fixed(no_view="prior").fit(lonely, y)
    model = fixed().fit(blocks, y)
    with pytest.raises(ViewError, match="view must be one of"):
        model.predict(blocks, view="smell")
    with pytest.raises(ValueError, match="theta must have 11 entries"):
        model.objective(np.zeros(3))


def test_a_search_cut_short_says_so():
    blocks, y, _ = draw(24, missing=False)
    with pytest.warns(ConvergenceWarning, match="The objective was not maximized"):
        fixed(hyperparameters="maximize", consistency=1e-4 * TIES, max_iter=1).fit(blocks, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fixed(hyperparameters="maximize", consistency=1e-4 * TIES).fit(blocks, y)


def test_views_emptied_by_a_dear_divergence_are_named():
    blocks, y, _ = draw(6, n=30, missing=False, unlabeled=False)
    parameters = {"kernel": ConstantKernel(1.0) * RBF(2.0), "jitter": 1e-2}
    with pytest.warns(UserWarning, match=r"explains the labels better than a constant and noise.*consistency=10\.0"):
        PosteriorConsistencyGPClassifier(**parameters, consistency=10.0).fit(blocks[:2], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PosteriorConsistencyGPClassifier(**parameters, consistency=1e-4).fit(blocks[:2], y)
        fixed().fit(blocks, y)


def test_numbers_far_from_zero_that_end_as_a_constant_are_named():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 3))
    B = A[:, :2] + 0.3 * rng.normal(size=(80, 2))
    y = np.where(np.arange(80) < 14, 2 * A[:, 0] + 50, np.nan)
    with pytest.warns(UserWarning, match=r"better than a constant and noise.*normalize_y=True"):
        PosteriorConsistencyGPRegressor().fit([A, B], y)
    model = PosteriorConsistencyGPRegressor(normalize_y=True, consistency=1e-3).fit([A, B], y)
    assert model.score([A[14:], B[14:]], 2 * A[14:, 0] + 50) > 0.3


def test_posteriors_that_say_nothing_have_a_gradient():
    """Views without difference, or without any label in the subset: zeros, no division by them."""
    blocks, y, _ = draw(25, missing=False)
    twins = fixed(kernel=KERNELS[0], noise_variance=0.3, view_weights=None, consistency=2.0)
    gradient = twins.fit([blocks[0], blocks[0]], y).objective(eval_gradient=True)[1]
    alone = fixed(kernel=KERNELS[0], noise_variance=0.3, view_weights=None, consistency=2.0).fit([blocks[0]], y)
    expected = 0.5 * alone.objective(eval_gradient=True)[1]
    np.testing.assert_allclose(gradient, expected[[0, 1, 0, 1, 2, 2]], rtol=1e-6, atol=1e-8)
    unlabeled = fixed(selective=np.flatnonzero(np.isnan(y))).fit(blocks, y)
    theta = unlabeled.theta_
    gradient = unlabeled.objective(eval_gradient=True)[1]
    numeric = approx_fprime(theta, unlabeled.objective, 1e-6)
    np.testing.assert_allclose(gradient, numeric, rtol=2e-4, atol=2e-4 * np.abs(gradient).max())
    assert unlabeled.divergences_[0, 1] > 0.0
