"""Regression: leave-one-out, units, noise, and whether the default is worth its name."""

import numpy as np
import pytest
from scipy.stats import norm

from coview.gaussian_process import BayesianCoTrainingRegressor

from .small_problems import kernels, problem, targets

FORMS = {
    "mean": {"view_variances": [0.2, 1.0, 0.5]},
    "consensus": {"view_variances": [0.2, 1.0, 0.5], "latent": "consensus"},
    "low rank": {"n_components": 4},
    "biased": {"amplitude": 4.0, "bias_variance": 2.0},
}


def fixed(form, **changes):
    parameters = {"hyperparameters": "fixed", "noise_variance": 0.2, **FORMS[form], **changes}
    return BayesianCoTrainingRegressor(kernels(), **parameters)


@pytest.mark.parametrize("form", FORMS)
def test_leave_one_out_equals_refits_without_the_target(form):
    views, signal = problem(16)
    y = targets(signal, 9)
    model = fixed(form).fit(views, y)
    density = 0.0
    for i in range(9):
        hidden = y.copy()
        hidden[i] = np.nan
        refit = fixed(form).fit(views, hidden)
        assert model.loo_latent_mean_[i] == pytest.approx(refit.latent_mean_[i], rel=1e-7, abs=1e-9)
        assert model.loo_latent_variance_[i] == pytest.approx(refit.latent_variance_[i], rel=1e-7)
        density += norm.logpdf(y[i], refit.latent_mean_[i], np.sqrt(refit.latent_variance_[i] + 0.2))
    assert model.loo_score_ == pytest.approx(density, rel=1e-7)
    assert np.isnan(model.loo_latent_mean_[9:]).all()


@pytest.mark.parametrize(
    "parameters", [{"kernel": "rbf", "n_components": 5}, {"kernel": kernels(), "hyperparameters": "fixed"}]
)
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1000.0), (1e4, 1.0), (-5.0, 1e-6)])
def test_normalized_targets_make_units_irrelevant(parameters, shift, scale):
    views, signal = problem(16)
    y = targets(signal, 9)
    plain, moved = (
        BayesianCoTrainingRegressor(normalize_y=True, random_state=0, **parameters).fit(views, t)
        for t in (y, shift + scale * y)
    )
    new, _ = problem(5, seed=4)
    mean, std = plain.predict(new, return_std=True)
    got_mean, got_std = moved.predict(new, return_std=True)
    np.testing.assert_allclose(got_mean, shift + scale * mean, rtol=1e-6, atol=1e-6 * scale)
    np.testing.assert_allclose(got_std, scale * std, rtol=1e-6)
    np.testing.assert_allclose(moved.loo_latent_variance_, scale**2 * plain.loo_latent_variance_, rtol=1e-6)
    assert moved.noise_variance_ == pytest.approx(scale**2 * plain.noise_variance_, rel=1e-6)
    assert moved.loo_score_ == pytest.approx(plain.loo_score_ - 9 * np.log(scale), rel=1e-6)


def test_the_default_grid_follows_the_scale_of_the_targets():
    views, signal = problem(16)
    y = targets(signal, 9)
    plain, scaled = (
        BayesianCoTrainingRegressor("rbf", n_components=5, random_state=0).fit(views, t) for t in (y, 1e5 * y)
    )
    np.testing.assert_allclose(scaled.transduction_, 1e5 * plain.transduction_, rtol=1e-6)


def test_normalizing_is_subtracting_the_mean_and_dividing_by_the_deviation():
    views, signal = problem(16)
    y = targets(signal, 9)
    center, unit = np.nanmean(y), np.nanstd(y)
    normalized = fixed("mean", normalize_y=True).fit(views, y)
    by_hand = fixed("mean").fit(views, (y - center) / unit)
    np.testing.assert_allclose(normalized.transduction_, center + unit * by_hand.transduction_, rtol=1e-9)
    assert normalized.noise_variance_ == pytest.approx(0.2 * unit**2)


def test_noise_is_added_on_request():
    views, signal = problem(16)
    model = fixed("mean").fit(views, targets(signal, 9))
    _, latent = model.predict(views, return_std=True)
    mean, observed = model.predict(views, return_std=True, include_noise=True)
    np.testing.assert_allclose(observed**2 - latent**2, 0.2, rtol=1e-9)
    np.testing.assert_array_equal(mean, model.predict(views))
    np.testing.assert_array_equal(model.predict_latent(views, return_std=True)[1], latent)


@pytest.mark.parametrize("seed", range(3))
def test_the_default_beats_the_mean_of_the_targets(seed):
    views, signal = problem(60, seed)
    truth = 3 * np.sin(signal) + 1
    y = targets(signal, 20)
    model = BayesianCoTrainingRegressor(random_state=0, n_components=5).fit(views, y)
    error = np.mean((model.transduction_[20:] - truth[20:]) ** 2)
    assert error < 0.6 * np.mean((np.nanmean(y) - truth[20:]) ** 2)
    covered = np.abs(model.latent_mean_ - truth) < 2.5 * np.sqrt(model.latent_variance_ + model.noise_variance_)
    assert covered.mean() > 0.85
    assert model.score(views[20:], truth[20:]) > 0.4


def test_one_target_and_constant_targets():
    views, _ = problem(14)
    one = np.full(14, np.nan)
    one[2] = 7.0
    model = BayesianCoTrainingRegressor("rbf", n_components=4).fit(views, one)
    assert np.isfinite(model.transduction_).all()
    assert model.transduction_[2] == pytest.approx(7.0, abs=1.0)
    for value in (0.0, -3.0):
        constant = np.where(np.arange(14) < 8, value, np.nan)
        model = BayesianCoTrainingRegressor("linear", n_components=4).fit(views, constant)
        np.testing.assert_allclose(model.transduction_, value, atol=0.35 * max(abs(value), 1e-9))


def test_left_out_variances_are_never_negative():
    rng = np.random.default_rng(0)
    X = np.zeros((9, 2))  # a zero kernel: the latent function is known to be zero
    model = BayesianCoTrainingRegressor("linear", hyperparameters="fixed", noise_variance=0.1).fit(
        [X, X], rng.normal(size=9)
    )
    assert (model.loo_latent_variance_ >= 0).all()
    assert (model.latent_variance_ >= 0).all()


@pytest.mark.parametrize("bad", [0.0, -1.0, [0.1, 0.2]])
def test_noise_must_be_a_positive_number(bad):
    views, signal = problem(12)
    with pytest.raises(ValueError, match="noise_variance must be a positive variance"):
        fixed("mean", noise_variance=bad).fit(views, targets(signal, 8))


def test_targets_are_needed_where_views_are():
    views, _ = problem(12)
    with pytest.raises(ValueError, match="no sample is labeled"):
        fixed("mean").fit(views, np.full(12, np.nan))
