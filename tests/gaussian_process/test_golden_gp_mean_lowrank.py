"""Golden values of spectral view features and of one averaged setting (``tests/golden/gp_mean_lowrank.json``).

Oracle: centring, scaling and eigenvectors of each Gram matrix with 50 digits, then the brute-force construction of
the mean consensus on the cut kernels.
"""

from functools import cache

import numpy as np
import pytest

from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor, mean_consensus_kernel
from coview.kernels import JointSpectralFeatures, SpectralFeatures

from ..golden.loader import as_setting, case_params, check_value, value_params

TOPIC = "gp_mean_lowrank"
INFORMATION = frozenset(
    {
        "features[]/rows",  # the rows that have the view, repeated
        "new_prior_covariance_with_training",  # enter the predictions of new samples
        "new_prior_variance",
    }
)


def is_joint(case):
    return case.inputs["setting"].get("joint", False)


def fitted_features(case):
    """One map per view, or the joint map alone."""
    setting = case.inputs["setting"]
    cut = {"n_components": setting["n_components"], "center": setting["center"], "scale": True}
    if is_joint(case):
        return [JointSpectralFeatures(case.kernels(), **cut).fit(case.views)]
    columns = zip(case.kernels(), case.blocks, case.presence.T, strict=True)
    return [SpectralFeatures(kernel, **cut).fit(block[rows]) for kernel, block, rows in columns]


def training_features(case):
    maps = fitted_features(case)
    if is_joint(case):
        return [maps[0].transform(case.views)]
    columns = zip(maps, case.blocks, case.presence.T, strict=True)
    return [features.transform(block[rows]) for features, block, rows in columns]


def new_features(case):
    """Per view, features of the new samples that have it; NaN rows for the others."""
    blocks = []
    for features, block, rows in zip(fitted_features(case), case.new_blocks, case.new_presence.T, strict=True):
        Z = np.full((len(block), len(features.eigenvalues_)), np.nan)
        Z[rows] = features.transform(block[rows])
        blocks.append(Z)
    return blocks


def training_grams(case):
    return [Z @ Z.T for Z in training_features(case)]


def covariance(case):
    if is_joint(case):
        return training_grams(case)[0]
    setting = as_setting(case.inputs["setting"])
    return mean_consensus_kernel(
        training_grams(case), setting["view_variances"], case.presence, setting.get("view_factors")
    )


def leading_spectrum(case):
    return [features.eigenvalues_ for features in fitted_features(case)]


def make_regression(case, setting=None, **changes):
    setting = as_setting(case.inputs["setting"]) if setting is None else setting
    parameters = {
        "kernel": case.kernels(),
        "latent": "mean",
        "hyperparameters": "average",
        "settings": [setting],
        "noise_variance": case.inputs["noise_variance"],
        "bias_variance": case.inputs["bias_variance"],
    }
    return BayesianCoTrainingRegressor(**(parameters | changes)).fit(case.views, case.y)


@cache
def fit_regression(case):
    return make_regression(case)


@cache
def fit_classification(case):
    return BayesianCoTrainingClassifier(
        kernel=case.kernels(),
        latent="mean",
        hyperparameters="average",
        settings=[as_setting(case.inputs["setting"])],
        temperature=[1],
        bias_variance=case.inputs["bias_variance"],
    ).fit(case.views, np.sign(case.y))


def new_regression(case, part):
    mean, std = fit_regression(case).predict(case.new_views, return_std=True)
    return mean if part == "mean" else std**2


CHECKS = {
    "features[]/rank": lambda case: [len(features.eigenvalues_) for features in fitted_features(case)],
    "features[]/training_gram": training_grams,
    "features[]/new_times_training": lambda case: [
        new @ Z.T for new, Z in zip(new_features(case), training_features(case), strict=True)
    ],
    "features[]/new_self": lambda case: [(new**2).sum(axis=1) for new in new_features(case)],
    "K_s": covariance,
    "mean_diagonal": lambda case: np.diagonal(covariance(case)).mean(),
    "regression/latent_mean": lambda case: fit_regression(case).latent_mean_,
    "regression/latent_variance": lambda case: fit_regression(case).latent_variance_,
    "regression/log_marginal_likelihood": lambda case: fit_regression(case).log_marginal_likelihood_value_,
    "regression/loo_latent_mean": lambda case: fit_regression(case).loo_latent_mean_,
    "regression/loo_latent_variance": lambda case: fit_regression(case).loo_latent_variance_,
    "regression/new_latent_mean": lambda case: new_regression(case, "mean"),
    "regression/new_latent_variance": lambda case: new_regression(case, "variance"),
    "classification/latent_mean": lambda case: fit_classification(case).latent_mean_,
    "classification/latent_variance": lambda case: fit_classification(case).latent_variance_,
    "classification/log_marginal_likelihood": lambda case: fit_classification(case).log_marginal_likelihood_value_,
    "classification/loo_latent_mean": lambda case: fit_classification(case).loo_latent_mean_,
    "classification/loo_latent_variance": lambda case: fit_classification(case).loo_latent_variance_,
    "classification/label_distributions": lambda case: fit_classification(case).label_distributions_,
    "classification/new_label_distributions": lambda case: fit_classification(case).predict_proba(case.new_views),
}

SPECTRUM = "features[]/spectrum"  # the file has all of it, the maps the part that is kept


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION | {SPECTRUM}))
def test_value(case, key):
    check_value(case, key, CHECKS)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_eigenvalues_are_the_leading_part_of_the_spectrum(case):
    spectra, ranks = case.expected_at(SPECTRUM), case.expected_at("features[]/rank")
    got = leading_spectrum(case)
    for j, (values, spectrum, rank) in enumerate(zip(got, spectra, ranks, strict=True)):
        case.check(SPECTRUM, values, want=sorted(spectrum, reverse=True)[:rank])
        assert len(values) == rank, f"view {j}"


@pytest.mark.parametrize("case", [param for param in case_params(TOPIC) if is_joint(param.values[0])])
def test_joint_features_of_training_rows_as_new_rows(case):
    (features,) = fitted_features(case)
    Z = training_features(case)[0]
    alone = np.vstack([features.transform(case.views[[i]]) for i in range(len(Z))])
    np.testing.assert_allclose(alone, Z, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_noise_variance_may_stand_in_the_setting(case):
    setting = as_setting(case.inputs["setting"]) | {"noise_variance": case.inputs["noise_variance"]}
    model = make_regression(case, setting, noise_variance=None)
    case.check("regression/latent_mean", model.latent_mean_)
    case.check("regression/log_marginal_likelihood", model.log_marginal_likelihood_value_)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_one_setting_has_all_the_weight(case):
    for model, block in ((fit_regression(case), "regression"), (fit_classification(case), "classification")):
        assert len(model.settings_) == 1
        np.testing.assert_allclose(model.settings_["weight"], [1.0])
        case.check(f"{block}/log_marginal_likelihood", model.settings_["log_marginal_likelihood"].to_numpy()[0])
