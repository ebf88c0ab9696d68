"""Log marginal likelihood of both estimators: gradients, maximization, what is said of it."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from coview import Views
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.gaussian_process._learning import _starts

from .small_problems import kernels, labels, problem, targets


def fit(kind, *, n=12, kernel=None, **changes):
    views, signal = problem(n, seed=2)
    kernel = kernels() if kernel is None else kernel
    if kind == "regression":
        model = BayesianCoTrainingRegressor(kernel, **({"noise_variance": 0.2} | changes))
        return model.fit(views, targets(signal, 9))
    model = BayesianCoTrainingClassifier(kernel, **changes)
    return model.fit(views, labels(signal, 9, int(kind[0])))


def assert_gradient(model, theta, *, rtol=2e-5, atol=1e-7):
    value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood(theta), rel=1e-9)
    step = 1e-5
    differences = [
        (model.log_marginal_likelihood(theta + step * unit) - model.log_marginal_likelihood(theta - step * unit))
        / (2 * step)
        for unit in np.eye(len(theta))
    ]
    np.testing.assert_allclose(gradient, differences, rtol=rtol, atol=atol)
    return gradient


@pytest.mark.parametrize("kind", ["2 classes", "3 classes", "regression"])
@pytest.mark.parametrize("latent", ["mean", "consensus"])
@pytest.mark.parametrize(("amplitude", "bias"), [(None, None), (3.0, 0.5)])
def test_gradient_agrees_with_finite_differences(kind, latent, amplitude, bias):
    variances = [0.2, 1.0, 0.5]
    model = fit(
        kind, latent=latent, hyperparameters="fixed", view_variances=variances, amplitude=amplitude, bias_variance=bias
    )
    assert model.theta_.shape == (6 + 3 + (kind == "regression"),)
    np.testing.assert_allclose(np.exp(model.theta_[6:9]), variances)
    gradient = assert_gradient(model, model.theta_ + 0.1)
    assert np.abs(gradient).min() > 1e-6  # every parameter matters


@pytest.mark.parametrize("variances", [np.inf, [np.inf, 0.5, 2.0], [0.3, np.inf, np.inf]])
@pytest.mark.parametrize(("kind", "amplitude"), [("2 classes", None), ("3 classes", 3.0), ("regression", 3.0)])
def test_infinite_variances_are_no_part_of_theta(variances, kind, amplitude):
    model = fit(kind, hyperparameters="fixed", view_variances=variances, amplitude=amplitude)
    finite = np.isfinite(np.broadcast_to(variances, 3)).sum()
    assert model.theta_.shape == (6 + finite + (kind == "regression"),)
    gradient = assert_gradient(model, model.theta_)
    assert np.abs(gradient[:6]).max() > 1e-3  # the kernels still matter


def test_fixed_kernel_parameters_are_no_part_of_theta():
    views, signal = problem()
    kernel = ConstantKernel(1.0, "fixed") * RBF(1.0)
    model = BayesianCoTrainingClassifier(kernel, hyperparameters="fixed").fit(views, labels(signal, 8))
    assert model.theta_.shape == (3 + 3,)
    assert_gradient(model, model.theta_)


def test_sparse_views_have_the_gradient_of_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4)) * (rng.random((12, 4)) < 0.6)
    y = np.where(np.arange(12) < 8, (X.sum(axis=1) > 0).astype(float), np.nan)
    kernel = ConstantKernel(1.0) * RBF(1.0) + DotProduct(0.5)
    dense, sparse = (
        BayesianCoTrainingClassifier(kernel, hyperparameters="fixed").fit({"a": form(X), "b": X[:, :2]}, y)
        for form in (np.asarray, csr_array)
    )
    expected = dense.log_marginal_likelihood(dense.theta_, eval_gradient=True)
    value, gradient = sparse.log_marginal_likelihood(sparse.theta_, eval_gradient=True)
    assert value == pytest.approx(expected[0], rel=1e-9)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-7, atol=1e-9)


@pytest.mark.filterwarnings("ignore:The evidence switched off:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("kind", "latent"), [("2 classes", "consensus"), ("regression", "mean")])
def test_no_start_has_more_evidence_than_the_maximum(kind, latent):
    kernel = RBF(1.0, (0.1, 10.0))
    before = fit(kind, n=11, kernel=kernel, latent=latent, hyperparameters="fixed", view_variances=1.0)
    model = fit(kind, n=11, kernel=kernel, latent=latent, hyperparameters="maximize", view_variances=1.0)
    starts = _starts(before.theta_, 3, np.ones(3))
    assert len(starts) == 4
    best = model.log_marginal_likelihood()
    assert best == pytest.approx(model.log_marginal_likelihood(model.theta_), rel=1e-9)
    assert all(before.log_marginal_likelihood(start) <= best + 1e-6 for start in [*starts, before.theta_])
    assert best > before.log_marginal_likelihood() + 0.05
    # At the maximum no inner parameter can still climb.
    _, gradient = model.log_marginal_likelihood(model.theta_, eval_gradient=True)
    bounds = np.log([[0.1, 10.0]] * 3 + [[1e-3, 1e3]] * 3)
    inner = (model.theta_[:6] > bounds[:, 0] + 0.01) & (model.theta_[:6] < bounds[:, 1] - 0.01)
    assert np.abs(gradient[:6][inner]).max(initial=0.0) < 0.02
    assert (gradient[:6][model.theta_[:6] > bounds[:, 1] - 1e-6] >= 0).all()


def junk_problem(n=40, seed=0):
    """A view that tells the class and one of pure noise."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    useful = np.column_stack([signal, 0.1 * rng.normal(size=n)])
    y = (signal > 0).astype(float)
    return Views([useful, rng.normal(size=(n, 2))], names=["useful", "junk"]), y


def test_a_view_that_is_switched_off_is_named_everywhere():
    views, y = junk_problem()
    y[20:] = np.nan
    model = BayesianCoTrainingClassifier("rbf", hyperparameters="maximize", latent="consensus")
    with pytest.warns(UserWarning, match=r"switched off view\(s\) junk: .* upper bound"):
        model.fit(views, y)
    assert model.view_trust_.loc["junk", "status"] == "switched off"
    assert model.view_trust_.loc["useful", "status"] == "learned"
    assert model.view_trust_.loc["junk", "share"] < 0.01
    assert model.view_variances_[1] == pytest.approx(1e3, rel=1e-3)
    np.testing.assert_allclose(np.exp(model.theta_[-2:]), model.view_variances_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:The evidence switched off:UserWarning")
def test_the_learned_kernels_are_kept_and_the_given_ones_untouched():
    views, y = junk_problem(20)
    y[14:] = np.nan
    given = ConstantKernel(2.0, "fixed") * RBF(1.0)
    model = BayesianCoTrainingClassifier(given, hyperparameters="maximize").fit(views, y)
    assert given == ConstantKernel(2.0, "fixed") * RBF(1.0)
    np.testing.assert_allclose(np.concatenate([k.theta for k in model.kernels_]), model.theta_[:2], rtol=1e-12)
    refit = BayesianCoTrainingClassifier(
        model.kernels_, hyperparameters="fixed", view_variances=model.view_variances_.tolist()
    ).fit(views, y)
    np.testing.assert_allclose(refit.predict_proba(views), model.predict_proba(views), rtol=1e-8)


@pytest.mark.filterwarnings("ignore:The evidence switched off:UserWarning")
def test_random_starts_are_seeded_and_never_harm():
    views, y = junk_problem(16)
    y[12:] = np.nan
    kernel = RBF(1.0)
    plain, first, second = (
        BayesianCoTrainingClassifier(kernel, hyperparameters="maximize", n_restarts=r, random_state=3).fit(views, y)
        for r in (0, 2, 2)
    )
    assert first.log_marginal_likelihood() >= plain.log_marginal_likelihood() - 1e-9
    np.testing.assert_array_equal(first.theta_, second.theta_)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_theta_that_is_not_finite_is_refused(bad):
    model = fit("2 classes", hyperparameters="fixed")
    theta = model.theta_.copy()
    theta[-1] = bad
    with pytest.raises(ValueError, match=r"theta must be finite: .* log\(variance\)"):
        model.log_marginal_likelihood(theta)


def test_a_theta_of_another_length_is_refused():
    model = fit("2 classes", hyperparameters="fixed")
    with pytest.raises(ValueError, match=r"theta must have 9 entries: .* got shape \(8,\)"):
        model.log_marginal_likelihood(model.theta_[1:])


def test_an_average_has_one_value_and_no_gradient():
    settings = [{"view_variances": v, "amplitude": 2.0} for v in (0.1, 1.0)]
    model = fit("2 classes", settings=settings, weighting="evidence")
    table = model.settings_.groupby("setting")[["log_marginal_likelihood", "weight"]]
    by_setting = table.agg({"log_marginal_likelihood": "first", "weight": "sum"})
    expected = (by_setting["log_marginal_likelihood"] * by_setting["weight"]).sum()
    assert model.log_marginal_likelihood() == pytest.approx(expected, rel=1e-10)
    assert not hasattr(model, "theta_")
    for arguments in ({"theta": np.zeros(9)}, {"eval_gradient": True}):
        with pytest.raises(ValueError, match=r"one evidence per setting, in settings_"):
            model.log_marginal_likelihood(**arguments)


def test_a_second_fit_forgets_the_theta_of_the_first():
    views, signal = problem()
    y = labels(signal, 8)
    model = BayesianCoTrainingClassifier(kernels(), hyperparameters="fixed").fit(views, y)
    assert model.theta_.size
    model.set_params(hyperparameters="average", settings=[{"view_variances": 1.0}]).fit(views, y)
    assert not hasattr(model, "theta_")
