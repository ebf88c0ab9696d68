"""Golden values of new samples under the consensus model (``tests/golden/gp_inductive.json``).

Oracle: the new sample appended to the data and the joint Gaussian conditioned again, with 50 digits.
"""

from functools import cache

import numpy as np
import pytest

from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

from ..golden.loader import case_params, check_value, value_params

TOPIC = "gp_inductive"
INFORMATION = frozenset(
    {
        "alpha",  # Gamma_j E[f_c(I_j) | y], an intermediate quantity
        "joint_transductive/covariance",  # its diagonal is tested below
        "one_at_a_time[]/x",  # the inputs, repeated
        "one_at_a_time[]/views",
        "one_at_a_time[]/f_c_frozen_consensus",  # approximations that are not offered
        "one_at_a_time[]/f_c_frozen_views",
    }
)


def make(case):
    parameters = {
        "kernel": case.kernels(),
        "view_variances": case.view_variances,
        "latent": "consensus",
        "hyperparameters": "fixed",
    }
    if "noise_variance" not in case.inputs:
        return BayesianCoTrainingClassifier(**parameters)
    return BayesianCoTrainingRegressor(**parameters, noise_variance=case.inputs["noise_variance"])


@cache
def fit(case):
    return make(case).fit(case.views, case.y)


@cache
def refit_with_new(case):
    """All new samples appended, unlabeled: what they answer jointly."""
    return make(case).fit(case.views_with_new, np.append(case.y, np.full(len(case.new_samples), np.nan)))


def predict_latent(model, X, **keywords):
    """Mean and variance of the latent function."""
    predict = model.predict if isinstance(model, BayesianCoTrainingRegressor) else model.predict_latent
    mean, std = predict(X, return_std=True, **keywords)
    return mean, std**2


def single_views(case, part):
    """Per new sample, one value for each of its views."""
    model = fit(case)
    values = np.full(case.new_presence.shape, np.nan)
    for j, name in enumerate(case.names):
        rows = case.new_presence[:, j]
        if rows.any():
            values[rows, j] = predict_latent(model, case.new_views[rows], view=name)[part]
    return [row[present].tolist() for row, present in zip(values, case.new_presence, strict=True)]


def consensus(case):
    return np.column_stack(predict_latent(fit(case), case.new_views))


CHECKS = {
    "one_at_a_time[]/f_c_exact": consensus,
    "one_at_a_time[]/f_c_gls": consensus,
    "one_at_a_time[]/single_view_mean_of_f_j": lambda case: single_views(case, 0),
    "one_at_a_time[]/single_view_variance_of_f_j": lambda case: single_views(case, 1),
    "one_at_a_time[]/probability_quadrature": lambda case: fit(case).predict_proba(case.new_views)[:, 1],
    "training_posterior_mean": lambda case: fit(case).latent_mean_,
    "training_mode": lambda case: fit(case).latent_mean_,
    "joint_transductive/mean": lambda case: refit_with_new(case).latent_mean_[len(case.y) :],
    "joint_transductive/training_posterior_mean_after": lambda case: refit_with_new(case).latent_mean_[: len(case.y)],
}


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key):
    check_value(case, key, CHECKS)


REGRESSION = [param for param in case_params(TOPIC) if "noise_variance" in param.values[0].inputs]


@pytest.mark.parametrize("case", REGRESSION)
def test_joint_variances(case):
    key = "joint_transductive/covariance"
    got = refit_with_new(case).latent_variance_[len(case.y) :]
    case.check(key, got, want=np.diagonal(case.expected_at(key)).tolist())


@pytest.mark.parametrize("case", REGRESSION)
def test_noise_is_added_on_request(case):
    model = fit(case)
    mean, std = model.predict(case.new_views, return_std=True)
    noisy_mean, noisy_std = model.predict(case.new_views, return_std=True, include_noise=True)
    np.testing.assert_array_equal(noisy_mean, mean)
    np.testing.assert_allclose(noisy_std**2, std**2 + case.inputs["noise_variance"], rtol=1e-12)
    np.testing.assert_array_equal(model.predict(case.new_views), mean)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_an_answer_does_not_depend_on_the_other_rows(case):
    model = fit(case)
    mean, variance = predict_latent(model, case.new_views)
    for i in range(len(mean)):
        alone = predict_latent(model, case.new_views[[i]])
        np.testing.assert_allclose(np.ravel(alone), [mean[i], variance[i]], rtol=1e-12)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_views_that_no_new_row_has_may_be_left_out(case):
    model = fit(case)
    mean, variance = predict_latent(model, case.new_views)
    for i, present in enumerate(case.new_presence):
        held = [name for name, there in zip(case.names, present, strict=True) if there]
        alone = predict_latent(model, case.new_views[[i]].select(held))
        np.testing.assert_allclose(np.ravel(alone), [mean[i], variance[i]], rtol=1e-12)
