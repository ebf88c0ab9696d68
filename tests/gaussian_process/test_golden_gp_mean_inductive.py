"""Golden values of new samples under the mean-consensus model (``tests/golden/gp_mean_inductive.json``).

Oracle: the prior of (f_1, ..., f_m) over training and new rows, conditioned with 50 digits on the training rows'
agreement, then on the labels.
"""

from functools import cache

import numpy as np
import pytest

from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    CoTrainingKernelTransformer,
    mean_consensus_kernel,
)

from ..golden.loader import case_params, check_value, value_params

TOPIC = "gp_mean_inductive"
INFORMATION = frozenset(
    {
        "log_marginal_likelihood_per_fit",
        "moderated_logit",
        "refit_latent_mean",
        "refit_latent_variance",
        "refit_score",
        "probability_quadrature",
        "new_prior_variance",  # enters new_latent_variance
    }
)


def make(case, temperature=1, **changes):
    parameters = {
        "kernel": case.kernels(),
        "view_variances": case.view_variances,
        "latent": "mean",
        "hyperparameters": "fixed",
        "amplitude": case.inputs["amplitude"],
        "bias_variance": case.inputs["bias_variance"],
    } | changes
    if "noise_variance" in case.inputs:
        model = BayesianCoTrainingRegressor(**parameters, noise_variance=case.inputs["noise_variance"])
    else:
        model = BayesianCoTrainingClassifier(**parameters, temperature=float(temperature))
    return model.fit(case.views, case.y)


@cache
def fit(case, temperature=1):
    return make(case, temperature)


def predict_latent(model, X):
    """Mean and variance of the latent function."""
    predict = model.predict if isinstance(model, BayesianCoTrainingRegressor) else model.predict_latent
    mean, std = predict(X, return_std=True)
    return mean, std**2


def covariance(case):
    return mean_consensus_kernel(case.grams, case.view_variances, presence=case.presence)


def new_prior_covariance(case):
    transformer = CoTrainingKernelTransformer(case.kernels(), view_variances=case.view_variances, latent="mean")
    return transformer.fit(case.views).transform(case.new_views)


def loo_score(case, temperature=1):
    return fit(case, temperature).loo_score_


CHECKS = {
    "K_s": covariance,
    "mean_diagonal": lambda case: np.diagonal(covariance(case)).mean(),
    "latent_mean": lambda case: fit(case).latent_mean_,
    "latent_variance": lambda case: fit(case).latent_variance_,
    "log_marginal_likelihood": lambda case: fit(case).log_marginal_likelihood_value_,
    "loo_latent_mean": lambda case: fit(case).loo_latent_mean_,
    "loo_latent_variance": lambda case: fit(case).loo_latent_variance_,
    "label_distributions": lambda case, temperature: fit(case, temperature).label_distributions_,
    "loo_label_distributions": lambda case, temperature: fit(case, temperature).loo_label_distributions_,
    "loo_score": lambda case, temperature=1: fit(case, temperature or 1).loo_score_,
    "new_latent_mean": lambda case: predict_latent(fit(case), case.new_views)[0],
    "new_latent_variance": lambda case: predict_latent(fit(case), case.new_views)[1],
    "new_label_distributions": lambda case, temperature: fit(case, temperature).predict_proba(case.new_views),
    "new_prior_covariance_with_training": new_prior_covariance,
}


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key):
    check_value(case, key, CHECKS)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_an_answer_does_not_depend_on_the_other_rows(case):
    model = fit(case)
    together = predict_latent(model, case.new_views)
    for i in range(len(case.new_samples)):
        alone = predict_latent(model, case.new_views[[i]])
        for part, whole in zip(alone, together, strict=True):
            np.testing.assert_allclose(part[0], whole[i], rtol=1e-12)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_training_rows_as_new_rows_give_their_training_values(case):
    model = fit(case)
    mean, variance = predict_latent(model, case.views)
    np.testing.assert_allclose(mean, model.latent_mean_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(variance, model.latent_variance_, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_low_rank_form_gives_the_same_means(case):
    """Variances are smaller there: what lies outside the span of the training rows is cut."""
    model = make(case, approximation="low_rank")
    mean, variance = predict_latent(model, case.new_views)
    case.check("new_latent_mean", mean)
    assert (variance <= np.array(case.expected["new_latent_variance"]) + 1e-9).all()
