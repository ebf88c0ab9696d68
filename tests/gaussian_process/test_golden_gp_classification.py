"""Golden values of Bayesian co-training classification by Laplace (``tests/golden/gp_classification.json``).

Oracle: the mode by Newton with 50 digits in the full coordinates, gradients by finite differences, probabilities by
quadrature.
"""

from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from coview.gaussian_process import BayesianCoTrainingClassifier

from ..golden.loader import case_params, check_value, value_params

TOPIC = "gp_classification"
# Other probability rules, and matrices of which the diagonal is tested.
INFORMATION = frozenset({"probability_mackay", "posterior_precision", "posterior_covariance", "differential_entropy"})


def make(case, **changes):
    parameters = {
        "kernel": case.kernels(),
        "view_variances": case.view_variances,
        "latent": "consensus",
        "hyperparameters": "fixed",
    }
    return BayesianCoTrainingClassifier(**(parameters | changes)).fit(case.views, case.y)


@cache
def fit(case):
    return make(case)


def gradient(case, name):
    names, theta = case.theta
    _, derivatives = fit(case).log_marginal_likelihood(theta, eval_gradient=True)
    assert derivatives.shape == theta.shape
    return derivatives[names.index(name)]


def curvature(case):
    pi = expit(fit(case).latent_mean_)
    return np.where(np.isfinite(case.y), pi * (1 - pi), 0.0)


CHECKS = {
    "mode": lambda case: fit(case).latent_mean_,
    "phi": curvature,
    "posterior_variance": lambda case: fit(case).latent_variance_,
    "laplace_log_marginal_likelihood": lambda case: fit(case).log_marginal_likelihood_value_,
    "probability_quadrature": lambda case: fit(case).label_distributions_[:, 1],
    "probability_plugin": lambda case: expit(fit(case).latent_mean_),
    "gradient": gradient,
}


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key):
    check_value(case, key, CHECKS)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_every_derivative_is_known(case):
    assert sorted(case.theta[0]) == sorted(case.expected["gradient"])


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_distributions_are_the_two_sides_of_one_probability(case):
    model = fit(case)
    case.check("probability_quadrature", 1 - model.label_distributions_[:, 0])
    np.testing.assert_array_equal(model.transduction_, np.where(model.latent_mean_ > 0, 1, -1))


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_marginal_likelihood_function_agrees(case):
    model = fit(case)
    case.check("laplace_log_marginal_likelihood", model.log_marginal_likelihood())
    case.check("laplace_log_marginal_likelihood", model.log_marginal_likelihood(case.theta[1]))


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_low_rank_form_gives_the_same(case):
    model = make(case, approximation="low_rank")
    case.check("mode", model.latent_mean_)
    case.check("posterior_variance", model.latent_variance_)
    case.check("laplace_log_marginal_likelihood", model.log_marginal_likelihood_value_)
    case.check("probability_quadrature", model.label_distributions_[:, 1])


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_class_names_change_nothing(case):
    y = np.where(np.isnan(case.y), None, np.where(case.y > 0, "yes", "no"))
    model = BayesianCoTrainingClassifier(
        kernel=case.kernels(), view_variances=case.view_variances, latent="consensus", hyperparameters="fixed"
    ).fit(case.views, y)
    assert list(model.classes_) == ["no", "yes"]
    case.check("mode", model.latent_mean_)
    case.check("probability_quadrature", model.label_distributions_[:, 1])
