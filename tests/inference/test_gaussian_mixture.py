"""Steps of EM for incomplete Gaussian mixtures: golden values, brute force over completed rows, fast paths against plain ones."""

import json

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from coview.inference import (
    EstimationRules,
    GaussianMixtureEM,
    GaussianMixtureParameters,
    clustered_gaussian_start,
    feature_variances,
    labeled_gaussian_start,
    mixture_posterior,
)
from coview.inference import _gaussian_moments as moments_module
from coview.inference import _gaussian_stacks as stacks_module

from ..golden.loader import GOLDEN, compare

BLOCKS = {
    "full": [np.arange(5)],
    "view": [np.array([0, 2]), np.array([1, 3, 4])],
    "diag": [np.array([j]) for j in range(5)],
}


def problem(seed=0, n=60, p=5, n_components=3, missing=0.3):
    """Rows with holes, one of them with nothing observed, and parameters to start from."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 3.0 * rng.integers(n_components, size=n)[:, None]
    table[rng.random((n, p)) < missing] = np.nan
    table[7] = np.nan
    roots = rng.normal(size=(n_components, p, p))
    covariances = roots @ roots.mT + np.eye(p)
    weights = rng.dirichlet(np.full(n_components, 5.0))
    return table, GaussianMixtureParameters(weights, rng.normal(size=(n_components, p)) * 2, covariances)


def rules(p=5, regularization=0.0, **flags):
    return EstimationRules(np.full(p, regularization), **flags)


def brute_force(table, parameters, regularization=0.0):
    """One step by the textbook, row by row: completed rows and conditional covariances."""
    n, p = table.shape
    n_components = len(parameters.weights)
    log_joint, completed = np.zeros((n, n_components)), np.zeros((n, n_components, p))
    spread = np.zeros((n, n_components, p, p))
    for i, row in enumerate(table):
        o, m = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        for k in range(n_components):
            mean, covariance = parameters.means[k], parameters.covariances[k]
            log_joint[i, k] = np.log(parameters.weights[k])
            completed[i, k], spread[i, k] = mean, covariance
            if len(o):
                oo, mo = covariance[np.ix_(o, o)], covariance[np.ix_(m, o)]
                log_joint[i, k] += multivariate_normal(mean[o], oo).logpdf(row[o])
                completed[i, k, o] = row[o]
                completed[i, k, m] = mean[m] + mo @ np.linalg.inv(oo) @ (row[o] - mean[o])
                spread[i, k] = 0.0
                spread[i, k][np.ix_(m, m)] = covariance[np.ix_(m, m)] - mo @ np.linalg.inv(oo) @ mo.T
    log_likelihood = np.logaddexp.reduce(log_joint, axis=1)
    r = np.exp(log_joint - log_likelihood[:, None])
    means = np.einsum("nk,nkp->kp", r, completed) / r.sum(axis=0)[:, None]
    deviations = completed - means
    covariances = np.einsum("nk,nkp,nkq->kpq", r, deviations, deviations) + np.einsum("nk,nkpq->kpq", r, spread)
    covariances = covariances / r.sum(axis=0)[:, None, None] + regularization * np.eye(p)
    return r.mean(axis=0), means, covariances, log_likelihood.mean()


def assert_same(got, want, **tolerance):
    for name in ("weights", "means", "covariances"):
        np.testing.assert_allclose(getattr(got, name), getattr(want, name), **tolerance)


@pytest.mark.parametrize("few_values", [0, 8192], ids=["pattern by pattern", "stacked"])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_the_textbook_step(monkeypatch, seed, few_values):
    monkeypatch.setattr(stacks_module, "_FEW_VALUES", few_values)
    table, start = problem(seed)
    new, before = GaussianMixtureEM(table, BLOCKS["full"], rules(regularization=0.2)).step(start)
    weights, means, covariances, log_likelihood = brute_force(table, start, 0.2)
    assert before == pytest.approx(log_likelihood, rel=1e-12)
    assert_same(new, GaussianMixtureParameters(weights, means, covariances), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", ["view", "diag"])
def test_blocks_of_a_step_from_full_covariances_are_those_of_the_full_step(kind):
    table, start = problem(1)
    full, _ = GaussianMixtureEM(table, BLOCKS["full"], rules()).step(start)
    em = GaussianMixtureEM(table, BLOCKS[kind], rules())
    assert_same(em.step(start)[0], GaussianMixtureParameters(full.weights, full.means, em.structured(full.covariances)))


@pytest.mark.parametrize("kind", ["view", "diag"])
@pytest.mark.parametrize("tied", [False, True])
def test_blocks_stay_what_full_covariances_with_zeros_give(kind, tied):
    """Blocks have their own patterns and the diagonal has none: the same steps as with matrices full of zeros."""
    table, start = problem(2)
    em = GaussianMixtureEM(table, BLOCKS[kind], rules(tied=tied))
    whole = GaussianMixtureEM(table, BLOCKS["full"], rules(tied=tied))
    fast = GaussianMixtureParameters(start.weights, start.means, em.structured(start.covariances))
    for _ in range(3):
        plain, before = whole.step(GaussianMixtureParameters(fast.weights, fast.means, fast.full_covariances()))
        fast, value = em.step(fast)
        assert value == pytest.approx(before, rel=1e-12)
        np.testing.assert_allclose(fast.means, plain.means, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(fast.covariances, em.structured(plain.covariances), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("small_order", [0, 8], ids=["one by one", "at once"])
def test_stacked_triangular_solves(monkeypatch, small_order):
    monkeypatch.setattr(stacks_module, "_SMALL_ORDER", small_order)
    rng = np.random.default_rng(0)
    lower = np.tril(rng.normal(size=(2, 3, 4, 4))) + 3 * np.eye(4)
    rows = rng.normal(size=(2, 3, 5, 4))
    np.testing.assert_allclose(stacks_module._half_solve(lower, rows), np.linalg.solve(lower, rows.mT).mT, rtol=1e-12)


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [(moments_module, "_ROWS", 7), (moments_module, "_KEPT", 0), (stacks_module, "_STACK_SIZE", 1)],
)
def test_sizes_of_batches_change_nothing(monkeypatch, module, name, value):
    table, start = problem(3, n=40)
    table[:20] = np.nan_to_num(table[:20])  # one pattern of many rows
    want, _ = GaussianMixtureEM(table, BLOCKS["full"], rules()).step(start)
    monkeypatch.setattr(stacks_module, "_FEW_VALUES", 50)
    monkeypatch.setattr(module, name, value)
    assert_same(GaussianMixtureEM(table, BLOCKS["full"], rules()).step(start)[0], want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("flags", [{}, {"tied": True}, {"drop_unobserved": True}], ids=["plain", "tied", "dropped"])
def test_em_never_lowers_the_likelihood(kind, flags):
    table, start = problem(4)
    em = GaussianMixtureEM(table, BLOCKS[kind], rules(**flags))
    parameters, trace = GaussianMixtureParameters(start.weights, start.means, em.structured(start.covariances)), []
    for _ in range(15):
        parameters, value = em.step(parameters)
        trace.append(value)
    assert np.diff(trace).min() > -1e-12
    assert trace[-1] > trace[0] + 0.1


def test_dropping_unobserved_views_has_the_same_fixed_points():
    """Where EM with dropped views has settled, the textbook step moves nothing."""
    table, _ = problem(5, n=200)
    for block in BLOCKS["view"]:
        gone = np.isnan(table[:, block]).any(axis=1)
        table[np.ix_(gone, block)] = np.nan  # views are missing as a whole
    em = GaussianMixtureEM(table, BLOCKS["view"], rules(regularization=1e-9, drop_unobserved=True))
    parameters = clustered_gaussian_start(em, 2, np.random.RandomState(0))
    for _ in range(400):
        parameters, _ = em.step(parameters)
    moved, _ = GaussianMixtureEM(table, BLOCKS["view"], rules(regularization=1e-9)).step(parameters)
    assert_same(moved, parameters, rtol=1e-5, atol=1e-5)


def test_missing_views_that_drop_out_of_both_steps():
    """Two steps of the golden file for the densities of active sensing: the component is the only hidden variable."""
    document = json.loads((GOLDEN / "gp_active_sensing.json").read_text(encoding="utf-8"))
    case = next(case for case in document["cases"] if case["name"] == "em_missing")
    widths, tolerance = [1, 2, 1], {"rtol": case["tolerance"]["rtol"], "atol": case["tolerance"]["atol"]}
    parts = [
        [[np.nan] * w if row is None else row for row in view]
        for view, w in zip(case["inputs"]["X"], widths, strict=True)
    ]

    def stacked(values):
        covariances = np.array([block_diag(*component) for component in values["cov"]])
        return GaussianMixtureParameters(
            np.array(values["pi"]), np.array([np.concatenate(m) for m in values["mu"]]), covariances
        )

    blocks = [np.array([0]), np.array([1, 2]), np.array([3])]
    em = GaussianMixtureEM(np.hstack(parts), blocks, rules(4, drop_unobserved=True))
    parameters, expected = stacked(case["inputs"]["initial"]), case["expected"]
    responsibilities, log_likelihood = em.posterior(parameters)
    compare(responsibilities.T, expected["responsibilities_initial"], what="responsibilities", **tolerance)
    compare(log_likelihood.sum(), expected["log_likelihood_initial"], what="log likelihood", **tolerance)
    for step in ("after_one_step", "after_two_steps"):
        parameters, _ = em.step(parameters)
        want = stacked(expected[step])
        for name in ("weights", "means", "covariances"):
            compare(getattr(parameters, name), getattr(want, name).tolist(), what=f"{step} {name}", **tolerance)


def test_labels_rule_components_out():
    table, start = problem(6)
    allowed = np.ones((3, 60), dtype=bool)
    allowed[1:, :20] = False
    em = GaussianMixtureEM(table, BLOCKS["full"], rules(), allowed=allowed)
    responsibilities, log_likelihood = em.posterior(start)
    np.testing.assert_array_equal(responsibilities[:, :20], np.array([[1.0], [0.0], [0.0]]) @ np.ones((1, 20)))
    unlabeled, _ = GaussianMixtureEM(table, BLOCKS["full"], rules()).posterior(start)
    np.testing.assert_allclose(responsibilities[:, 20:], unlabeled[:, 20:])
    assert (
        log_likelihood[:20] < GaussianMixtureEM(table, BLOCKS["full"], rules()).posterior(start)[1][:20] + 1e-12
    ).all()


def test_a_component_without_rows_keeps_its_place_at_weight_zero():
    table, start = problem(7)
    means = start.means.copy()
    means[1] = 1e6
    lost = GaussianMixtureParameters(start.weights, means, start.covariances)
    new, _ = GaussianMixtureEM(table, BLOCKS["full"], rules()).step(lost)
    # rows with nothing observed belong to all components by weight: without them nothing is left
    complete, _ = GaussianMixtureEM(np.delete(table, 7, axis=0), BLOCKS["full"], rules()).step(lost)
    assert complete.weights[1] == 0.0
    np.testing.assert_array_equal(complete.means[1], means[1])
    np.testing.assert_array_equal(complete.covariances[1], start.covariances[1])
    np.testing.assert_allclose(new.means[1], means[1])


def test_rows_infinitely_far_away_are_shared():
    responsibilities, log_likelihood = mixture_posterior(np.array([0.3, 0.7]), np.array([[-np.inf], [-np.inf]]))
    np.testing.assert_array_equal(responsibilities, [[0.5], [0.5]])
    assert log_likelihood[0] == -np.inf


def test_variances_of_constant_and_unseen_features():
    table = np.array([[0.1, np.nan, 1.0], [0.1, np.nan, 3.0], [0.1, np.nan, np.nan]])
    means, variances = feature_variances(table)
    np.testing.assert_allclose(means, [0.1, 0.0, 2.0])
    np.testing.assert_allclose(variances, [1.0, 1.0, 1.0])


def test_clusters_of_complete_rows_start_at_their_means_and_covariances():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 2))
    table[20:] += 50.0
    em = GaussianMixtureEM(table, [np.arange(2)], rules(2))
    start = clustered_gaussian_start(em, 2, np.random.RandomState(0))
    order = np.argsort(start.means[:, 0])
    for part, k in zip((table[:20], table[20:]), order, strict=True):
        np.testing.assert_allclose(start.means[k], part.mean(axis=0))
        np.testing.assert_allclose(start.covariances[k], np.cov(part.T, bias=True))


def test_labels_decide_the_clusters_of_a_labeled_start():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 2))
    table[20:] += 50.0
    codes = np.full(40, -1)
    codes[[0, 39]] = [1, 0]
    start = labeled_gaussian_start(
        GaussianMixtureEM(table, [np.arange(2)], rules(2)), codes, 3, 1, np.random.RandomState(0)
    )
    np.testing.assert_allclose(start.means[[1, 0]], [table[:20].mean(axis=0), table[20:].mean(axis=0)])
    np.testing.assert_allclose(start.weights, [0.5, 0.5, 0.0])
