"""Golden values of Bayesian co-training regression on the consensus function (``tests/golden/gp_regression.json``).

Oracle: the joint Gaussian over (f_c, f_1, ..., f_m, y) conditioned with 50 digits; gradients by finite differences.
"""

from functools import cache

import numpy as np
import pytest

from coview.gaussian_process import BayesianCoTrainingRegressor

from ..golden.loader import case_params, check_value, value_params

TOPIC = "gp_regression"
INFORMATION = frozenset({"posterior_covariance"})  # its diagonal is tested; no public attribute holds the matrix


def make(case, **changes):
    parameters = {
        "kernel": case.kernels(),
        "view_variances": case.view_variances,
        "noise_variance": case.inputs["noise_variance"],
        "latent": "consensus",
        "hyperparameters": "fixed",
        "approximation": "exact",
    }
    return BayesianCoTrainingRegressor(**(parameters | changes)).fit(case.views, case.y)


@cache
def fit(case):
    return make(case)


def gradient(case, name):
    names, theta = case.theta
    _, derivatives = fit(case).log_marginal_likelihood(theta, eval_gradient=True)
    assert derivatives.shape == theta.shape
    return derivatives[names.index(name)]


CHECKS = {
    "posterior_mean": lambda case: fit(case).latent_mean_,
    "posterior_variance": lambda case: fit(case).latent_variance_,
    "predictive_variance_of_y": lambda case: fit(case).latent_variance_ + case.inputs["noise_variance"],
    "log_marginal_likelihood": lambda case: fit(case).log_marginal_likelihood_value_,
    "gradient": gradient,
}


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key):
    check_value(case, key, CHECKS)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_every_derivative_is_known(case):
    assert sorted(case.theta[0]) == sorted(case.expected["gradient"])


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_marginal_likelihood_at_other_places(case):
    model = fit(case)
    case.check("log_marginal_likelihood", model.log_marginal_likelihood())
    theta = case.theta[1]
    case.check("log_marginal_likelihood", model.log_marginal_likelihood(theta))
    case.check("log_marginal_likelihood", model.log_marginal_likelihood(theta, eval_gradient=True)[0])
    moved = make(case, noise_variance=2 * case.inputs["noise_variance"])
    np.testing.assert_allclose(moved.log_marginal_likelihood(theta), model.log_marginal_likelihood_value_, rtol=1e-10)
    assert abs(moved.log_marginal_likelihood() - model.log_marginal_likelihood_value_) > 1e-3


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_automatic_and_low_rank_forms_give_the_same(case):
    for approximation in ("auto", "low_rank"):
        model = make(case, approximation=approximation)
        case.check("posterior_mean", model.latent_mean_)
        case.check("posterior_variance", model.latent_variance_)
        case.check("log_marginal_likelihood", model.log_marginal_likelihood_value_)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_the_kernels_given_are_not_changed(case):
    kernels = case.kernels()
    before = [kernel.theta.copy() for kernel in kernels]
    make(case, kernel=kernels)
    for kernel, theta in zip(kernels, before, strict=True):
        np.testing.assert_array_equal(kernel.theta, theta)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_gradient_of_the_low_rank_form(case):
    names, theta = case.theta
    value, derivatives = make(case, approximation="low_rank").log_marginal_likelihood(theta, eval_gradient=True)
    case.check("log_marginal_likelihood", value)
    for name, derivative in zip(names, derivatives, strict=True):
        case.check(f"gradient/{name}", derivative)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_only_free_parameters_are_in_theta(case):
    """A kernel parameter declared fixed has no place in theta; the others keep their order."""
    kernels = case.kernels()
    kernels[0] = kernels[0].clone_with_theta(kernels[0].theta)
    kernels[0].k1.set_params(constant_value_bounds="fixed")
    names, theta = case.theta
    assert names[0] == "log_amplitude[0]"
    value, derivatives = make(case, kernel=kernels).log_marginal_likelihood(theta[1:], eval_gradient=True)
    case.check("log_marginal_likelihood", value)
    for name, derivative in zip(names[1:], derivatives, strict=True):
        case.check(f"gradient/{name}", derivative)
