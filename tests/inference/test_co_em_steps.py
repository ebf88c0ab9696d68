"""Sweeps of co-EM in detail: golden single steps, averages, theorem 1, what a component without mass keeps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal

from coview.exceptions import NotPositiveDefiniteError
from coview.inference import (
    CategoricalComponents,
    CoEM,
    GaussianComponents,
    MultinomialComponents,
    ViewSamples,
    averaged_posterior,
    full_covariances,
    joint_log_density,
    labeled_responsibilities,
    local_posterior,
    random_responsibilities,
)

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "coem_golden.json").read_text(encoding="utf-8"))
CASES = [case for case in DOCUMENT["cases"] if isinstance(case["expected"], dict)]
RUNS = [
    pytest.param(case["inputs"], run, id="-".join([case["id"], *map(str, run["options"].values())]))
    for case in CASES
    for run in case["expected"]["runs"]
]


def as_samples(inputs, options):
    samples = []
    for kind, view, present in zip(inputs["kinds"], inputs["views"], np.array(inputs["mask"]).T, strict=True):
        data, rows = np.array(view, dtype=float)[present], np.flatnonzero(present)
        if kind == "multinomial":
            samples.append(ViewSamples(rows, sparse.csr_array(data), MultinomialComponents(options["smoothing"])))
        else:
            added = np.full(data.shape[1], options["reg"])
            samples.append(ViewSamples(rows, data, GaussianComponents(options["cov_type"], added)))
    return tuple(samples)


@pytest.mark.parametrize(("inputs", "run"), RUNS)
def test_golden_steps(inputs, run):
    """The averaged posterior and the new prior of every single step, those of later views in a sweep included."""
    options = run["options"]
    samples = as_samples(inputs, options)
    steps = {step["view"]: step for step in run["steps"]}
    seen = []

    class Recorded(CoEM):
        def _new_log_prior(self, log_prior, posteriors, weights):
            new = super()._new_log_prior(log_prior, posteriors, weights)
            for view, W in weights.items():
                seen.append(view)
                want = np.array([row for row in steps[view]["averaged_posterior"] if row is not None])
                np.testing.assert_allclose(W, want, rtol=1e-8, atol=1e-10)
                np.testing.assert_allclose(np.exp(new[view]), steps[view]["prior"], rtol=1e-8, atol=1e-10)
            return new

    problem = Recorded(
        samples,
        len(inputs["mask"]),
        consensus=options["eta"],
        shared_prior=options["shared_prior"],
        sequential=options["schedule"] == "sequential",
    )
    parameters = [{key: np.array(value) for key, value in view.items()} for view in inputs["params"]]
    problem.step(problem.start_from(parameters, np.array(inputs["priors"])), 0)
    assert seen == sorted(steps)


def random_problem(seed, **options):
    """Words, numbers and categories of 25 samples, a third of the views absent, one sample without any."""
    rng = np.random.default_rng(seed)
    n = 25
    presence = rng.random((n, 3)) < 0.67
    presence[0], presence[1], presence[2] = False, [True, False, False], True
    words = sparse.csr_array(rng.poisson(1.0, (n, 6)).astype(float))
    numbers = rng.normal(size=(n, 2))
    codes = rng.integers(0, [2, 3], (n, 2))
    indicators = sparse.csr_array(np.hstack([np.eye(2)[codes[:, 0]], np.eye(3)[codes[:, 1]]]))
    kinds = [
        (words, MultinomialComponents(0.3)),
        (numbers, GaussianComponents("full", np.full(2, 0.05))),
        (indicators, CategoricalComponents(0.5, np.array([2, 3]))),
    ]
    samples = tuple(
        ViewSamples(np.flatnonzero(present), data[np.flatnonzero(present)], distribution)
        for (data, distribution), present in zip(kinds, presence.T, strict=True)
    )
    problem = CoEM(samples, n, **options)
    return problem, problem.start(random_responsibilities(n, 3, np.random.RandomState(seed)))


@pytest.mark.parametrize("sequential", [True, False])
@pytest.mark.parametrize("shared_prior", [True, False])
@pytest.mark.parametrize("consensus", [0.0, 0.4, 1.0])
def test_theorem_1_with_absent_views_and_labels(consensus, shared_prior, sequential):
    """Both sides of (12), computed by different routes, in every sweep of mixed views, labeled samples clamped."""
    allowed = np.ones((25, 3), dtype=bool)
    allowed[2:8] = np.eye(3, dtype=bool)[[0, 1, 2, 0, 1, 2]]
    for labels in (None, allowed):
        options = {"consensus": consensus, "shared_prior": shared_prior, "sequential": sequential, "allowed": labels}
        problem, state = random_problem(4, **options)
        for sweep in range(4):
            terms = problem.criterion_terms(state)
            assert terms["q_theorem1"] == pytest.approx(terms["q_multi_view"], rel=1e-11)
            state, _ = problem.step(state, sweep)


@pytest.mark.parametrize("shared_prior", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_without_consensus_the_likelihood_rises(seed, shared_prior):
    """EM for the sum of the views' log likelihoods, also under a common prior; promised for a weight of zero only.

    Smoothing and regularization are off: with them a penalized likelihood rises, not this one.
    """
    problem, _ = random_problem(seed, consensus=0.0, shared_prior=shared_prior)
    plain = [
        MultinomialComponents(0.0),
        GaussianComponents("spherical", np.zeros(2)),
        CategoricalComponents(0.0, np.array([2, 3])),
    ]
    samples = tuple(
        ViewSamples(view.rows, view.data, distribution) for view, distribution in zip(problem.views, plain, strict=True)
    )
    problem = CoEM(samples, 25, consensus=0.0, shared_prior=shared_prior)
    R = np.random.default_rng(seed).dirichlet(np.full(3, 2.0), 25)
    state, before = problem.start(R), -np.inf
    for sweep in range(10):
        after = sum(
            np.logaddexp.reduce(prior + density, axis=1).sum()
            for prior, density in zip(state.log_prior, state.log_densities, strict=True)
        )
        assert after >= before - 1e-10 * abs(after)
        before = after
        state, _ = problem.step(state, sweep)


def test_one_view_is_em_whatever_the_consensus():
    runs = []
    for consensus in (0.0, 1.0):
        problem, _ = random_problem(1, consensus=consensus)
        alone = CoEM(problem.views[:1], 25, consensus=consensus)
        state = alone.start(random_responsibilities(25, 3, np.random.RandomState(0)))
        for sweep in range(5):
            state, _ = alone.step(state, sweep)
        runs.append(state)
    np.testing.assert_array_equal(runs[0].parameters[0]["theta"], runs[1].parameters[0]["theta"])
    assert runs[0].criterion == runs[1].criterion


@pytest.mark.parametrize("shared_prior", [True, False])
def test_one_start_for_all_views(shared_prior):
    """Priors and parameters of every view from the same responsibilities, absent samples left out."""
    problem, state = random_problem(3, shared_prior=shared_prior)
    R = random_responsibilities(25, 3, np.random.RandomState(3))
    assert R.sum(axis=1).tolist() == [1.0] * 25
    assert sorted(R.sum(axis=0)) == [8.0, 8.0, 9.0]
    masses = np.array([R[view.rows].sum(axis=0) for view in problem.views])
    want = np.tile(masses.sum(axis=0), (3, 1)) if shared_prior else masses
    np.testing.assert_allclose(np.exp(state.log_prior), want / want.sum(axis=1, keepdims=True))
    words = problem.views[0]
    counts = R[words.rows].T @ words.data.toarray() + 0.3
    np.testing.assert_allclose(state.parameters[0]["theta"], counts / counts.sum(axis=1, keepdims=True))


def test_annealing_ends_at_zero_and_runs_end_after_it():
    problem, state = random_problem(3, consensus=0.8, annealing=30)
    np.testing.assert_allclose([problem.consensus_at(t) for t in (0, 15, 24, 30, 99)], [0.8, 0.4, 0.16, 0.0, 0.0])
    assert state.consensus == 0.8
    run = problem.run(state, tol=1.0, max_iter=100)  # any change is small enough
    assert run.converged
    assert run.n_iter == 33  # two sweeps without consensus were compared
    assert run.parameters.consensus == 0.0


def test_likelihood_of_all_views_decides_between_runs():
    """Over the components that labels allow, the prior weighted by who has which view."""
    allowed = np.ones((25, 3), dtype=bool)
    allowed[2:8, 0] = False
    problem, state = random_problem(6, shared_prior=False, allowed=allowed)
    sizes = np.array([len(view.rows) for view in problem.views])
    prior = sizes @ np.exp(state.log_prior) / sizes.sum()
    total = np.tile(np.log(prior), (25, 1))
    for view, density in zip(problem.views, state.log_densities, strict=True):
        total[view.rows] += density
    total[2:8, 0] = -np.inf
    run = problem.run(state, tol=0.0, max_iter=0)
    assert run.objective == pytest.approx(np.logaddexp.reduce(total, axis=1).sum(), rel=1e-12)
    posterior = np.exp(total - np.logaddexp.reduce(total, axis=1)[:, None])
    np.testing.assert_allclose(problem.joint_posterior(state), posterior, atol=1e-12)


def test_averages_leave_absent_views_out():
    P = [np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([[0.2, 0.8]]), np.array([[0.5, 0.5], [0.3, 0.7]])]
    rows = [np.array([0, 1]), np.array([0]), np.array([0, 2])]
    first = averaged_posterior(P, rows, 3, 0, 0.8)
    np.testing.assert_allclose(first[0], 0.2 * P[0][0] + 0.4 * (P[1][0] + P[2][0]))
    np.testing.assert_array_equal(first[1], P[0][1])  # has no other view
    np.testing.assert_allclose(averaged_posterior(P, rows, 3, 2, 1.0), [0.5 * (P[0][0] + P[1][0]), P[2][1]])


def test_a_component_without_mass_keeps_its_parameters():
    """Also a full covariance where diagonal ones are fitted."""
    weights = np.column_stack([np.ones(4), np.zeros(4)])
    words = sparse.csr_array(np.arange(12.0).reshape(4, 3))
    before = {"theta": np.array([[0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])}
    after = MultinomialComponents(1.0).maximize(words, weights, before)
    np.testing.assert_array_equal(after["theta"][1], before["theta"][1])
    np.testing.assert_allclose(after["theta"][0], np.array([19.0, 23.0, 27.0]) / 69.0)
    numbers = np.random.default_rng(0).normal(size=(4, 2))
    before = {"means": np.ones((2, 2)), "covariances": np.array([np.eye(2), [[2.0, 0.5], [0.5, 1.0]]])}
    for kind in ("full", "diag", "spherical"):
        after = GaussianComponents(kind, np.zeros(2)).maximize(numbers, weights, before)
        np.testing.assert_array_equal(after["means"][1], before["means"][1])
        np.testing.assert_array_equal(after["covariances"][1], before["covariances"][1])
        np.testing.assert_allclose(after["means"][0], numbers.mean(axis=0))
    codes = CategoricalComponents(1.0, np.array([2, 2]))
    before = {"probabilities": np.array([[0.5, 0.5, 0.5, 0.5], [0.9, 0.1, 0.3, 0.7]])}
    after = codes.maximize(sparse.csr_array(np.array([[1.0, 0, 1, 0]] * 4)), weights, before)
    np.testing.assert_array_equal(after["probabilities"][1], before["probabilities"][1])
    np.testing.assert_allclose(after["probabilities"][0], np.array([5.0, 1.0, 5.0, 1.0]) / 6.0)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_gaussian_moments_and_densities(kind):
    rng = np.random.default_rng(3)
    data, weights = rng.normal(size=(30, 3)) * [1e-8, 1.0, 1e8], rng.random((30, 2))
    found = GaussianComponents(kind, np.zeros(3)).maximize(data, weights, None)
    for j, W in enumerate(weights.T):
        covariance = np.cov(data.T, aweights=W, bias=True)
        variances = np.diag(covariance)
        want = {"full": covariance, "diag": variances, "spherical": variances.mean()}[kind]
        np.testing.assert_allclose(found["covariances"][j], want, rtol=1e-9)
        np.testing.assert_allclose(found["means"][j], W @ data / W.sum(), rtol=1e-12)
    got = GaussianComponents(kind, np.zeros(3)).log_densities(data, found)
    scale = np.array([1e-8, 1.0, 1e8]) if kind != "spherical" else np.full(3, 1e8)
    matrices = full_covariances(found["covariances"], 3) / np.outer(scale, scale)
    for j in range(2):
        normal = multivariate_normal(found["means"][j] / scale, matrices[j])
        np.testing.assert_allclose(got[:, j], normal.logpdf(data / scale) - np.log(scale).sum(), rtol=1e-7)


def test_repeated_points_need_regularization():
    """A variance of zero is an error that says what to raise."""
    data, weights = np.ones((4, 2)), np.ones((4, 1))
    for kind in ("full", "diag", "spherical"):
        bare = GaussianComponents(kind, np.zeros(2), "lab")
        with pytest.raises(NotPositiveDefiniteError, match=r"view 'lab'.*reg_covar"):
            bare.log_densities(data, bare.maximize(data, weights, None))
        mended = GaussianComponents(kind, np.full(2, 1e-6))
        assert np.isfinite(mended.log_densities(data, mended.maximize(data, weights, None))).all()


def test_samples_that_no_component_can_have_made():
    """Without smoothing: the prior from that view, and from all views what the others say."""
    density = np.array([[-np.inf, -np.inf], [-1.0, -np.inf]])
    prior = np.log([0.3, 0.7])
    np.testing.assert_allclose(local_posterior(prior, density), [[0.3, 0.7], [1.0, 0.0]])
    only = np.array([[False, True], [False, True]])
    np.testing.assert_allclose(local_posterior(prior, density, only), [[0.0, 1.0], [0.0, 1.0]])
    np.testing.assert_allclose(local_posterior(np.array([0.0, -np.inf]), density, only), [[0.0, 1.0], [0.0, 1.0]])
    other = np.array([[-2.0, -5.0]])
    total = joint_log_density([density, other], [np.array([0, 1]), np.array([0])], 3)
    np.testing.assert_array_equal(total, [[-2.0, -5.0], [-1.0, -np.inf], [0.0, 0.0]])


def test_long_documents_do_not_underflow():
    words = sparse.csr_array(np.array([[40_000.0, 20_000.0], [20_000.0, 40_000.0]]))
    density = MultinomialComponents(1.0).log_densities(words, {"theta": np.array([[0.6, 0.4], [0.4, 0.6]])})
    np.testing.assert_allclose(local_posterior(np.log([0.5, 0.5]), density), np.eye(2))


def test_unlabeled_samples_start_beside_the_nearest_labels():
    rng = np.random.default_rng(5)
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])  # two of each class
    place = np.arange(40) % 4
    rows = centers[place] + rng.normal(size=(40, 2)) * 0.1
    codes = np.where(np.arange(40) < 8, place // 2, -1)
    R = labeled_responsibilities(rows, codes, np.array([0, 1, 0, 1]), np.random.RandomState(0))
    np.testing.assert_array_equal(R @ [0, 1, 0, 1], place // 2)
    assert len({tuple(R[place == c].mean(axis=0)) for c in range(4)}) == 4
    assert set(R.ravel()) == {0.0, 1.0}
