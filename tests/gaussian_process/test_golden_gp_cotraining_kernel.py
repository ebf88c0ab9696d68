"""Golden values of the co-training kernel, its precision, and the priors of the single views.

Oracle: the joint Gaussian over (f_c, f_1, ..., f_m) built from the factor graph and marginalized by block inversion
with 50 digits (``tests/golden/gp_cotraining_kernel.json``).
"""

import numpy as np
import pytest

from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    CoTrainingKernelTransformer,
    co_regularization_precision,
    co_training_kernel,
    co_training_precision,
    side_information_kernel,
)

from ..golden.loader import case_params, cases, check_value, value_params

TOPIC = "gp_cotraining_kernel"
# Equation (9) in its printed form is a definition that no public name returns.
INFORMATION = frozenset({"eq9_quadratic_Q", "eq9_linear_h", "eq9_constant_c"})


def call(function, case, **keywords):
    return function(case.grams, case.view_variances, presence=case.presence, **keywords)


def single_view_precision(case):
    """Gamma_j is the precision of one view alone, over the rows that have it."""
    blocks = []
    for j, rows in enumerate(case.presence.T):
        precision = co_training_precision([case.grams[j]], [case.view_variances[j]], presence=rows[:, None])
        blocks.append(precision[np.ix_(rows, rows)])
    return blocks


def side_information_covariances(case):
    n_views = case.presence.shape[1]
    return [side_information_kernel(case.grams, case.view_variances, j, presence=case.presence) for j in range(n_views)]


def side_information_precisions(case):
    """w_j I - w_j^2 [(precision of the other views + w_j E_j E_j^T)^-1](I_j, I_j)."""
    blocks = []
    for j, rows in enumerate(case.presence.T):
        others = [k for k in range(len(case.grams)) if k != j]
        w = 1 / case.view_variances[j]
        precision = co_training_precision(
            [case.grams[k] for k in others], [case.view_variances[k] for k in others], presence=case.presence[:, others]
        )
        covered = case.presence.any(axis=1)
        inverse = np.linalg.inv((precision + w * np.diag(rows))[np.ix_(covered, covered)])
        inside = rows[covered]
        blocks.append(w * np.eye(rows.sum()) - w**2 * inverse[np.ix_(inside, inside)])
    return blocks


def posterior_mean_of_each_view(case):
    model = BayesianCoTrainingRegressor(
        kernel=case.kernels(),
        view_variances=case.view_variances,
        noise_variance=case.inputs["noise_variance"],
        latent="consensus",
        hyperparameters="fixed",
    ).fit(case.views, case.y)
    return [model.predict(case.views[rows], view=name) for name, rows in zip(case.names, case.presence.T, strict=True)]


CHECKS = {
    "Gamma": single_view_precision,
    "Lambda_c": lambda case: call(co_training_precision, case),
    "K_c": lambda case: call(co_training_kernel, case),
    "logdet_Lambda_c": lambda case: np.linalg.slogdet(call(co_training_precision, case))[1],
    "prior_covariance_of_f_j": side_information_covariances,
    "prior_precision_of_f_j": lambda case: [np.linalg.inv(block) for block in side_information_covariances(case)],
    "side_information_precision": side_information_precisions,
    "joint_prior_precision_views": lambda case: call(co_regularization_precision, case),
    "posterior_mean_of_each_f_j": posterior_mean_of_each_view,
}


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key):
    check_value(case, key, CHECKS)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_transformer_gives_the_kernel(case):
    transformer = CoTrainingKernelTransformer(case.kernels(), view_variances=case.view_variances, latent="consensus")
    case.check("K_c", transformer.fit_transform(case.views))


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_kernel_and_precision_are_inverse(case):
    product = call(co_training_kernel, case) @ call(co_training_precision, case)
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-10)


def test_presence_none_means_everything_is_there():
    case = cases(TOPIC)[0]
    assert case.name == "complete_m2"
    case.check("K_c", co_training_kernel(case.grams, case.view_variances))
    case.check("Lambda_c", co_training_precision(case.grams, case.view_variances))
    case.check("joint_prior_precision_views", co_regularization_precision(case.grams, case.view_variances))


@pytest.fixture
def uncovered():
    (case,) = (case for case in cases(TOPIC) if case.name == "unobserved_sample")
    (row,) = np.flatnonzero(~case.presence.any(axis=1))
    return case, row


def test_kernel_names_the_sample_without_views(uncovered):
    case, row = uncovered
    with pytest.raises(ValueError, match=rf"\b{row}\b"):
        call(co_training_kernel, case)


def test_precision_of_a_sample_without_views_is_zero(uncovered):
    case, row = uncovered
    precision = call(co_training_precision, case)
    assert not precision[row].any()
    assert not precision[:, row].any()


@pytest.mark.parametrize("model", [BayesianCoTrainingRegressor, BayesianCoTrainingClassifier])
@pytest.mark.parametrize("latent", ["consensus", "mean"])
def test_fit_names_the_sample_without_views(uncovered, model, latent):
    case, row = uncovered
    y = np.where(np.isnan(case.y), np.nan, np.sign(case.y))
    model = model(kernel=case.kernels(), view_variances=case.view_variances, latent=latent, hyperparameters="fixed")
    if isinstance(model, BayesianCoTrainingRegressor):
        model.set_params(noise_variance=case.inputs["noise_variance"])
    with pytest.raises(ValueError, match=rf"\b{row}\b"):
        model.fit(case.views, y)


@pytest.mark.parametrize("latent", ["consensus", "mean"])
def test_prior_policy_leaves_the_other_samples_alone(uncovered, latent):
    case, row = uncovered
    model = BayesianCoTrainingRegressor(
        kernel=case.kernels(),
        view_variances=case.view_variances,
        noise_variance=case.inputs["noise_variance"],
        latent=latent,
        hyperparameters="fixed",
        no_view="prior",
    )
    y = case.y.copy()
    y[row] = 3.0  # says nothing about the others
    others = np.arange(len(y)) != row
    together = model.fit(case.views, y)
    mean, variance = together.latent_mean_, together.latent_variance_
    value = together.log_marginal_likelihood_value_
    alone = model.fit(case.views[others], y[others])
    np.testing.assert_allclose(mean[others], alone.latent_mean_, rtol=1e-12)
    np.testing.assert_allclose(variance[others], alone.latent_variance_, rtol=1e-12)
    np.testing.assert_allclose(value, alone.log_marginal_likelihood_value_, rtol=1e-12)
    assert mean[row] == 0
    assert variance[row] == np.inf


def test_prior_policy_gives_even_probabilities(uncovered):
    case, row = uncovered
    y = np.where(np.isnan(case.y), np.nan, np.sign(case.y))
    assert np.unique(y[np.isfinite(y)]).size == 2
    model = BayesianCoTrainingClassifier(
        kernel=case.kernels(),
        view_variances=case.view_variances,
        latent="consensus",
        hyperparameters="fixed",
        no_view="prior",
    ).fit(case.views, y)
    np.testing.assert_array_equal(model.label_distributions_[row], [0.5, 0.5])
    others = np.arange(len(y)) != row
    assert (np.abs(model.label_distributions_[others, 0] - 0.5) > 1e-6).all()
