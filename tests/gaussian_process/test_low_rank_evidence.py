"""Evidence of low-rank kernels: that of exact ones at full rank, its gradient, maximization, and what rests on it."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

from coview import Views
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor, _feature_objective

from .small_problems import kernels, labels, problem, tables, targets
from .test_evidence import assert_gradient

LINEAR = ConstantKernel(1.5) * DotProduct(0.0, "fixed")
KINDS = ["2 classes", "3 classes", "regression"]


def fit(kind, *, n=14, labeled=9, kernel=None, **changes):
    views, signal = problem(n, seed=2)
    kernel = kernels() if kernel is None else kernel
    changes = {"hyperparameters": "fixed", "approximation": "low_rank"} | changes
    if kind == "regression":
        model = BayesianCoTrainingRegressor(kernel, **({"noise_variance": 0.2} | changes))
        return model.fit(views, targets(signal, labeled))
    return BayesianCoTrainingClassifier(kernel, **changes).fit(views, labels(signal, labeled, int(kind[0])))


def assert_same_evidence(low_rank, exact, theta):
    value, gradient = low_rank.log_marginal_likelihood(theta, eval_gradient=True)
    expected, slope = exact.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(expected, rel=1e-8)
    assert low_rank.log_marginal_likelihood(theta) == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(gradient, slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("latent", ["mean", "consensus"])
@pytest.mark.parametrize(("amplitude", "bias"), [(None, None), (3.0, 0.5)])
def test_full_rank_has_the_evidence_of_exact_kernels(kind, latent, amplitude, bias):
    settings = {"latent": latent, "view_variances": [0.2, 1.0, 0.5], "amplitude": amplitude, "bias_variance": bias}
    low_rank, exact = (fit(kind, approximation=form, **settings) for form in ("low_rank", "exact"))
    np.testing.assert_allclose(low_rank.theta_, exact.theta_)
    assert low_rank.log_marginal_likelihood() == pytest.approx(exact.log_marginal_likelihood(), rel=1e-8)
    for shift in (0.0, 0.2, -0.3):
        assert_same_evidence(low_rank, exact, exact.theta_ + shift)


@pytest.mark.parametrize("variances", [np.inf, [np.inf, 0.5, 2.0], [0.3, np.inf, np.inf]])
@pytest.mark.parametrize(("kind", "amplitude"), [("2 classes", None), ("regression", 3.0)])
def test_infinite_variances_stay_out_of_theta(variances, kind, amplitude):
    settings = {"view_variances": variances, "amplitude": amplitude}
    low_rank, exact = (fit(kind, approximation=form, **settings) for form in ("low_rank", "exact"))
    assert_same_evidence(low_rank, exact, exact.theta_ + 0.1)


@pytest.mark.parametrize("kind", ["2 classes", "regression"])
@pytest.mark.parametrize("labeled", [5, 12])
def test_a_cut_rank_has_a_gradient_too(kind, labeled):
    model = fit(kind, labeled=labeled, n_components=3, amplitude=3.0)
    value = model.log_marginal_likelihood(model.theta_)
    assert value == pytest.approx(model.log_marginal_likelihood_value_, rel=1e-9)
    assert_gradient(model, model.theta_)
    assert_gradient(model, model.theta_ + 0.2)


def test_given_kernel_values_functions_and_noise_have_a_gradient():
    blocks, signal = tables(14, 2, missing=0.0)
    kernel = ["precomputed", lambda A, B: A @ B.T, RBF(1.0) + WhiteKernel(0.3)]
    model = BayesianCoTrainingRegressor(
        kernel, hyperparameters="fixed", approximation="low_rank", n_components=4, noise_variance=0.2
    ).fit([RBF(1.0)(blocks[0]), *blocks[1:]], targets(signal, 9))
    assert model.theta_.shape == (2 + 3 + 1,)
    assert_gradient(model, model.theta_ + 0.1)


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_landmarks_among_many_rows_have_a_gradient(monkeypatch, latent, hold):
    monkeypatch.setattr("coview.gaussian_process._feature_maps._LANDMARKS", 15)
    monkeypatch.setattr("coview.gaussian_process._view_maps._FEWEST_LANDMARKS", 6)
    monkeypatch.setattr("coview.inference._feature_rows._BLOCK_ROWS", 16)
    if not hold:
        monkeypatch.setattr("coview.gaussian_process._moving_views.HELD_NUMBERS", 0)
    kernel = [ConstantKernel(2.0) * RBF(1.0), LINEAR, RBF(0.8, "fixed")]
    model = fit("2 classes", n=50, labeled=20, n_components=4, kernel=kernel, latent=latent, amplitude=2.0)
    assert model.theta_.shape == (3 + 3,)
    value = model.log_marginal_likelihood(model.theta_)
    assert value == pytest.approx(model.log_marginal_likelihood_value_, rel=1e-9)
    assert_gradient(model, model.theta_ + 0.1)


def test_sparse_linear_views_have_the_evidence_of_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(14, 5)) * (rng.random((14, 5)) < 0.6)
    y = np.where(np.arange(14) < 9, (X.sum(axis=1) > 0).astype(float), np.nan)
    forms = ((np.asarray, "exact"), (csr_array, "low_rank"))
    exact, low_rank = (
        BayesianCoTrainingClassifier(LINEAR, hyperparameters="fixed", approximation=approximation).fit(
            Views([form(X), form(X[:, 1:4])]), y
        )
        for form, approximation in forms
    )
    assert_same_evidence(low_rank, exact, exact.theta_ + 0.3)


def test_variances_and_amplitudes_need_no_second_pass_over_the_samples(monkeypatch):
    passes = []
    monkeypatch.setattr(
        _feature_objective,
        "feature_sums",
        lambda rows, sums=_feature_objective.feature_sums: passes.append(1) or sums(rows),
    )
    model = fit("regression", n=40, labeled=20, kernel=LINEAR, amplitude=2.0)
    evidence = model._evidence()
    for shift in (0.0, 0.1, 0.2):
        evidence.value_and_gradient(model.theta_ + shift)
    assert len(passes) == 1
    assert_gradient(model, model.theta_ + 0.1)


@pytest.mark.filterwarnings("ignore:The evidence switched off:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kind", "latent", "kernel"),
    [
        ("2 classes", "mean", LINEAR),
        ("regression", "consensus", LINEAR),
        ("regression", "mean", [RBF(1.0, (0.1, 10.0)), LINEAR, RBF(1.0, "fixed")]),
    ],
)
def test_maximizing_reaches_what_exact_kernels_reach(kind, latent, kernel):
    changes = {"kernel": kernel, "latent": latent, "hyperparameters": "maximize", "n": 11, "labeled": 8}
    exact = fit(kind, approximation="exact", **changes)
    low_rank = fit(kind, approximation="low_rank", **changes)
    assert low_rank.log_marginal_likelihood() == pytest.approx(exact.log_marginal_likelihood(), abs=1e-3)
    value, _ = low_rank.log_marginal_likelihood(low_rank.theta_, eval_gradient=True)
    assert value == pytest.approx(low_rank.log_marginal_likelihood_value_, rel=1e-7)


@pytest.mark.filterwarnings("ignore:The evidence switched off:UserWarning")
def test_a_cut_rank_learns_its_kernels(monkeypatch):
    monkeypatch.setattr("coview.gaussian_process._feature_maps._LANDMARKS", 30)
    monkeypatch.setattr("coview.gaussian_process._view_maps._FEWEST_LANDMARKS", 6)
    kernel = RBF(5.0, (0.1, 10.0))
    before = fit("regression", n=60, labeled=30, n_components=6, kernel=kernel)
    model = fit("regression", n=60, labeled=30, n_components=6, kernel=kernel, hyperparameters="maximize")
    assert model.log_marginal_likelihood() > before.log_marginal_likelihood() + 0.5
    value = model.log_marginal_likelihood(model.theta_)
    assert value == pytest.approx(model.log_marginal_likelihood_value_, rel=1e-7)
    kept = [key for key in model._prepared.bank.maps._cache if key[0] == "features"]
    assert len(kept) <= 2  # of the start and of the end, nothing on the way
