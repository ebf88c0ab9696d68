"""Golden values of regression on the mean consensus (``tests/golden/gp_mean_regression.json``).

Oracle: the joint Gaussian conditioned with 50 digits; every leave-one-out also refitted.
"""

from functools import cache

import numpy as np
import pytest

from coview.gaussian_process import BayesianCoTrainingRegressor, mean_consensus_kernel

from ..golden.loader import case_params, check_value, value_params

TOPIC = "gp_mean_regression"
INFORMATION = frozenset()


def make(case, **changes):
    parameters = {
        "kernel": case.kernels(),
        "view_variances": case.view_variances,
        "noise_variance": case.inputs["noise_variance"],
        "latent": "mean",
        "hyperparameters": "fixed",
        "amplitude": case.inputs["amplitude"],
        "bias_variance": case.inputs["bias_variance"],
    }
    return BayesianCoTrainingRegressor(**(parameters | changes)).fit(case.views, case.y)


@cache
def fit(case):
    return make(case)


def covariance(case):
    return mean_consensus_kernel(case.grams, case.view_variances, presence=case.presence)


CHECKS = {
    "K_s": covariance,
    "mean_diagonal": lambda case: np.diagonal(covariance(case)).mean(),
    "latent_mean": lambda case: fit(case).latent_mean_,
    "latent_variance": lambda case: fit(case).latent_variance_,
    "log_marginal_likelihood": lambda case: fit(case).log_marginal_likelihood_value_,
    "loo_latent_mean": lambda case: fit(case).loo_latent_mean_,
    "loo_latent_variance": lambda case: fit(case).loo_latent_variance_,
    "loo_score": lambda case: fit(case).loo_score_,
}


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key):
    check_value(case, key, CHECKS)


@pytest.mark.parametrize(
    "case",
    [
        p
        for p in case_params(TOPIC)
        if (p.values[0].inputs["amplitude"], p.values[0].inputs["bias_variance"]) == (None, 0)
    ],
)
def test_fixed_means_no_amplitude_and_no_bias(case):
    parameters = {"kernel": case.kernels(), "view_variances": case.view_variances, "latent": "mean"}
    model = BayesianCoTrainingRegressor(
        **parameters, noise_variance=case.inputs["noise_variance"], hyperparameters="fixed"
    ).fit(case.views, case.y)
    case.check("latent_mean", model.latent_mean_)
    case.check("latent_variance", model.latent_variance_)
    case.check("loo_score", model.loo_score_)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_leave_one_out_equals_refits(case):
    """For regression the closed form is exact: take each label away and fit again."""
    model = fit(case)
    for i in np.flatnonzero(np.isfinite(case.y)):
        y = case.y.copy()
        y[i] = np.nan
        refitted = BayesianCoTrainingRegressor(**model.get_params(deep=False)).fit(case.views, y)
        np.testing.assert_allclose(model.loo_latent_mean_[i], refitted.latent_mean_[i], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.loo_latent_variance_[i], refitted.latent_variance_[i], rtol=1e-8)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_low_rank_form_gives_the_same(case):
    model = make(case, approximation="low_rank")
    case.check("latent_mean", model.latent_mean_)
    case.check("latent_variance", model.latent_variance_)
    case.check("log_marginal_likelihood", model.log_marginal_likelihood_value_)
