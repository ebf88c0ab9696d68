"""Cases with a known answer: scikit-learn's own Gaussian processes, single settings, mixtures written out."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor, mean_consensus_kernel
from coview.inference import gaussian_log_density

from .small_problems import kernels, labels, problem, targets

KERNEL = ConstantKernel(2.0) * RBF(1.3)


def complete(n=18, seed=0, widths=(2,)):
    views, signal = problem(n, seed, missing=0.0, widths=widths)
    return views, signal


@pytest.mark.parametrize("variance", [0.01, 1.0, np.inf])
def test_one_view_is_the_regression_of_scikit_learn(variance):
    views, signal = complete()
    X, y = views[views.names[0]], targets(signal, 10)
    fresh = np.random.default_rng(1).normal(size=(5, 2))
    own = GaussianProcessRegressor(KERNEL, alpha=0.3, optimizer=None).fit(X[:10], y[:10])
    model = BayesianCoTrainingRegressor(
        KERNEL, hyperparameters="fixed", view_variances=variance, noise_variance=0.3
    ).fit(views, y)
    mean, std = own.predict(fresh, return_std=True)
    np.testing.assert_allclose(model.predict([fresh], return_std=True), (mean, std), rtol=1e-7)
    assert model.log_marginal_likelihood() == pytest.approx(own.log_marginal_likelihood_value_, rel=1e-9)
    np.testing.assert_allclose(model.transduction_, own.predict(X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_view_has_the_evidence_and_the_mode_of_scikit_learn(n_classes):
    views, signal = complete(20)
    X, y = views[views.names[0]], labels(signal, 14, n_classes)
    own = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X[:14], y[:14])
    model = BayesianCoTrainingClassifier(KERNEL, hyperparameters="fixed").fit(views, y)
    fits = [own.base_estimator_] if n_classes == 2 else own.base_estimator_.estimators_
    evidence = sum(fit.log_marginal_likelihood_value_ for fit in fits)
    assert model.log_marginal_likelihood() == pytest.approx(evidence, rel=1e-7)
    latent = np.reshape(model.predict_latent([X]), (20, -1))
    for c, fit in enumerate(fits):
        mode = KERNEL(X, X[:14]) @ (fit.y_train_ - fit.pi_)
        np.testing.assert_allclose(latent[:, c], mode, rtol=1e-6, atol=1e-7)


def test_views_that_add_are_the_regression_on_the_mean_kernel():
    views, signal = complete(widths=(2, 3, 1))
    y = targets(signal, 10)
    K = sum(kernel(views[name]) for kernel, name in zip(kernels(), views.names, strict=True)) / 9
    model = BayesianCoTrainingRegressor(
        kernels(), hyperparameters="fixed", view_variances=np.inf, noise_variance=0.2
    ).fit(views, y)
    expected = K[:, :10] @ np.linalg.solve(K[:10, :10] + 0.2 * np.eye(10), y[:10])
    np.testing.assert_allclose(model.transduction_, expected, rtol=1e-8)


@pytest.mark.parametrize("variance", [1e5, 1e7])
def test_a_view_of_huge_variance_is_dropped(variance):
    views, signal = complete(widths=(2, 3))
    y = labels(signal, 8)
    both = BayesianCoTrainingClassifier(
        KERNEL, hyperparameters="fixed", latent="consensus", view_variances=[0.2, variance]
    ).fit(views, y)
    alone = BayesianCoTrainingClassifier(KERNEL, hyperparameters="fixed", latent="consensus", view_variances=0.2).fit(
        views.select(views.names[:1]), y
    )
    np.testing.assert_allclose(both.latent_mean_, alone.latent_mean_, atol=20 / variance)


def test_identical_views_are_one_view_in_the_mean():
    views, signal = complete()
    X = views[views.names[0]]
    y = labels(signal, 8)
    twice = BayesianCoTrainingClassifier(KERNEL, hyperparameters="fixed", view_variances=np.inf).fit([X, X], y)
    K = mean_consensus_kernel([KERNEL(X)] * 2, np.inf)
    np.testing.assert_allclose(K, KERNEL(X) / 2, rtol=1e-12)
    once = BayesianCoTrainingClassifier(ConstantKernel(0.5) * KERNEL, hyperparameters="fixed").fit([X], y)
    np.testing.assert_allclose(twice.label_distributions_, once.label_distributions_, rtol=1e-8)


SETTING = {"view_variances": 0.7, "amplitude": 3.0}


@pytest.mark.parametrize("latent", ["mean", "consensus"])
@pytest.mark.parametrize("weighting", ["bootstrap", "leave_one_out", "evidence"])
def test_an_average_of_one_setting_is_that_setting(latent, weighting):
    views, signal = problem()
    y = labels(signal, 8)
    average = BayesianCoTrainingClassifier(
        kernels(), latent=latent, settings=[SETTING], weighting=weighting, bias_variance=0.5, temperature=1.0
    ).fit(views, y)
    fixed = BayesianCoTrainingClassifier(
        kernels(), latent=latent, hyperparameters="fixed", view_variances=0.7, amplitude=3.0, bias_variance=0.5
    ).fit(views, y)
    new, _ = problem(6, seed=9)
    np.testing.assert_allclose(average.predict_proba(new), fixed.predict_proba(new), rtol=1e-10)
    for name in ("latent_mean_", "latent_variance_", "label_distributions_", "loo_label_distributions_"):
        np.testing.assert_allclose(getattr(average, name), getattr(fixed, name), rtol=1e-10, err_msg=name)
    assert average.loo_score_ == pytest.approx(fixed.loo_score_, rel=1e-10)


@pytest.mark.parametrize("family", [{"joint": True}, {"family": "completed"}, {"view_variances": 0.5}])
def test_features_of_full_rank_equal_exact_kernels_where_both_exist(family):
    views, signal = problem(14)
    y = labels(signal, 8)
    common = {"kernel": kernels(), "temperature": 1.0, "bias_variance": 0.5}
    low = BayesianCoTrainingClassifier(
        settings=[{**family, "n_components": 60, "center": False, "scale": False, "amplitude": 2.0}], **common
    ).fit(views, y)
    if "view_variances" in family:
        exact = BayesianCoTrainingClassifier(settings=[{**family, "amplitude": 2.0}], **common).fit(views, y)
        np.testing.assert_allclose(low.latent_mean_, exact.latent_mean_, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(low.latent_variance_, exact.latent_variance_, rtol=1e-6)
    # However the features come about, a training sample seen again has its training value.
    np.testing.assert_allclose(low.predict_latent(views), low.latent_mean_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(low.predict_proba(views), low.label_distributions_, rtol=1e-8)


def mixture_problem():
    views, signal = problem()
    y = labels(signal, 9, 3)
    settings = [{"view_variances": v, "amplitude": a} for v, a in ((0.1, 1.0), (1.0, 8.0), (np.inf, 4.0))]
    return views, y, settings


@pytest.mark.parametrize("weighting", ["bootstrap", "leave_one_out", "evidence"])
def test_an_average_is_the_mixture_of_its_settings(weighting):
    views, y, settings = mixture_problem()
    common = {"kernel": kernels(), "bias_variance": 0.5, "random_state": 0}
    temperatures = [0.5, 2.0]
    average = BayesianCoTrainingClassifier(
        settings=settings, weighting=weighting, temperature=temperatures, **common
    ).fit(views, y)
    table = average.settings_
    assert table["weight"].sum() == pytest.approx(1.0)
    new, _ = problem(5, seed=3)
    expected, mean, square = 0, 0, 0
    for k, setting in enumerate(settings):
        for t in temperatures:
            weight = table.loc[(table["setting"] == k) & (table["temperature"] == t), "weight"].item()
            single = BayesianCoTrainingClassifier(settings=[setting], temperature=t, **common).fit(views, y)
            expected = expected + weight * single.predict_proba(new)
            mu, sd = single.predict_latent(new, return_std=True)
            mean, square = mean + weight * mu, square + weight * (sd**2 + mu**2)
    np.testing.assert_allclose(average.predict_proba(new), expected, rtol=1e-7)
    got_mean, got_std = average.predict_latent(new, return_std=True)
    np.testing.assert_allclose(got_mean, mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(got_std, np.sqrt(square - mean**2), rtol=1e-6)


def test_leave_one_out_scores_and_weights_come_from_the_left_out_probabilities():
    views, y, settings = mixture_problem()
    common = {"kernel": kernels(), "bias_variance": 0.5, "temperature": [0.5, 1.0, 2.0]}
    model = BayesianCoTrainingClassifier(settings=settings, weighting="leave_one_out", **common).fit(views, y)
    table = model.settings_
    log_prior = -0.5 * np.log(table["temperature"]) ** 2
    weights = np.exp(table["loo_score"] + log_prior)
    np.testing.assert_allclose(table["weight"], weights / weights.sum(), rtol=1e-8)
    codes = np.searchsorted(model.classes_, y[:9])
    left_out = model.loo_label_distributions_[:9][np.arange(9), codes]
    assert model.loo_score_ == pytest.approx(np.log(left_out).sum(), rel=1e-10)
    assert np.isnan(model.loo_label_distributions_[9:]).all()


def test_prior_weights_of_settings_are_counted():
    views, y, settings = mixture_problem()
    plain, tilted = (
        BayesianCoTrainingClassifier(kernels(), settings=s, weighting="leave_one_out", temperature=1.0).fit(views, y)
        for s in (settings, [{**settings[0], "log_prior": np.log(3.0)}, *settings[1:]])
    )
    expected = plain.settings_["weight"] * [3.0, 1.0, 1.0]
    np.testing.assert_allclose(tilted.settings_["weight"], expected / expected.sum(), rtol=1e-8)


def test_regression_weights_are_the_densities_of_the_targets_left_out():
    views, signal = problem()
    y = targets(signal, 9)
    settings = [{"view_variances": v, "noise_variance": s} for v, s in ((0.1, 0.1), (1.0, 0.5), (np.inf, 0.3))]
    model = BayesianCoTrainingRegressor(kernels(), settings=settings, weighting="leave_one_out").fit(views, y)
    scores, singles = [], []
    for setting in settings:
        single = BayesianCoTrainingRegressor(kernels(), settings=[setting]).fit(views, y)
        mean, variance = single.loo_latent_mean_[:9], single.loo_latent_variance_[:9]
        scores.append(gaussian_log_density(y[:9], mean, variance + setting["noise_variance"]))
        singles.append(single)
    scores = np.array(scores)
    weights = np.exp(scores.sum(axis=1))
    weights /= weights.sum()
    np.testing.assert_allclose(model.settings_["weight"], weights, rtol=1e-8)
    assert model.noise_variance_ == pytest.approx(weights @ [0.1, 0.5, 0.3], rel=1e-9)
    assert model.loo_score_ == pytest.approx(np.log(weights @ np.exp(scores)).sum(), rel=1e-9)
    expected = sum(w * single.transduction_ for w, single in zip(weights, singles, strict=True))
    np.testing.assert_allclose(model.transduction_, expected, rtol=1e-8)


def test_settings_of_small_weight_are_not_left_out():
    views, y, settings = mixture_problem()
    common = {"kernel": kernels(), "bias_variance": 0.5, "temperature": 1.0, "weighting": "leave_one_out"}
    pair = [settings[0], {**settings[1], "log_prior": -9.0}]
    model = BayesianCoTrainingClassifier(settings=pair, **common).fit(views, y)
    weights = model.settings_["weight"]
    assert 1e-6 < weights[1] < 1e-3
    singles = [BayesianCoTrainingClassifier(settings=[s], **common).fit(views, y) for s in pair]
    expected = sum(w * single.label_distributions_ for w, single in zip(weights, singles, strict=True))
    np.testing.assert_allclose(model.label_distributions_, expected, rtol=1e-9)
