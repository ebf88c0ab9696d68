"""Golden values of the feature-space form (``tests/golden/gp_lowrank.json``), by every route.

Oracle: the Bayesian linear model of the stacked view weights, with 50 digits.
"""

from functools import cache

import pytest

from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    co_training_kernel,
    co_training_precision,
)

from ..golden.loader import check_value, value_params

TOPIC = "gp_lowrank"
# Intermediate quantities of the feature-space form; features are only defined up to a rotation.
INFORMATION = frozenset({"P_w", "H_tilde", "W", "D", "BBt", "P_post", "w_mean"})


@cache
def fit(case, approximation):
    parameters = {
        "kernel": case.kernels(),
        "view_variances": case.view_variances,
        "latent": "consensus",
        "hyperparameters": "fixed",
        "approximation": approximation,
    }
    if "noise_variance" not in case.inputs:
        return BayesianCoTrainingClassifier(**parameters).fit(case.views, case.y)
    model = BayesianCoTrainingRegressor(**parameters, noise_variance=case.inputs["noise_variance"])
    return model.fit(case.views, case.y)


def checks(approximation):
    return {
        "K_c": lambda case: co_training_kernel(case.grams, case.view_variances, presence=case.presence),
        "Lambda_c": lambda case: co_training_precision(case.grams, case.view_variances, presence=case.presence),
        "posterior_mean": lambda case: fit(case, approximation).latent_mean_,
        "mode": lambda case: fit(case, approximation).latent_mean_,
        "posterior_variance": lambda case: fit(case, approximation).latent_variance_,
        "log_marginal_likelihood": lambda case: fit(case, approximation).log_marginal_likelihood_value_,
        "laplace_log_marginal_likelihood": lambda case: fit(case, approximation).log_marginal_likelihood_value_,
    }


@pytest.mark.parametrize("approximation", ["low_rank", "exact", "auto"])
@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key, approximation):
    check_value(case, key, checks(approximation))
