"""Golden values of the covariance of the mean consensus (``tests/golden/gp_mean_covariance.json``).

Oracle: the block-diagonal prior of (f_1, ..., f_m) conditioned with 50 digits on the pseudo-observations
f_ij - f_ik = 0, then mapped to the mean of the views.
"""

import numpy as np
import pytest

from coview.gaussian_process import CoTrainingKernelTransformer, co_training_kernel, mean_consensus_kernel

from ..golden.loader import case_params, cases, check_value, value_params

TOPIC = "gp_mean_covariance"
INFORMATION = frozenset({"shares", "inverse_W"})


def covariance(case):
    return mean_consensus_kernel(
        case.grams, case.view_variances, presence=case.presence, view_factors=case.inputs.get("view_factors")
    )


def scaled_with_bias(case):
    K = covariance(case)
    return 4 * K / np.diagonal(K).mean() + 0.5


CHECKS = {
    "K_s": covariance,
    "mean_diagonal": lambda case: np.diagonal(covariance(case)).mean(),
    "latent_covariance_amplitude_4_bias_half": scaled_with_bias,
    "K_c": lambda case: co_training_kernel(case.grams, case.view_variances, presence=case.presence),
}


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key):
    check_value(case, key, CHECKS)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_covariance_is_symmetric_and_positive_semidefinite(case):
    K = covariance(case)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.trace(K)


@pytest.mark.parametrize("case", [param for param in case_params(TOPIC) if "K_c" in param.values[0].expected])
def test_white_part_is_the_difference_of_the_two_kernels(case):
    K_c = co_training_kernel(case.grams, case.view_variances, presence=case.presence)
    white = np.diag(1 / (case.presence / np.array(case.view_variances)).sum(axis=1))
    np.testing.assert_allclose(covariance(case) + white, K_c, rtol=1e-8, atol=1e-9 * np.abs(K_c).max())


@pytest.mark.parametrize(
    "case", [param for param in case_params(TOPIC) if "view_factors" not in param.values[0].inputs]
)
def test_transformer_gives_the_covariance(case):
    transformer = CoTrainingKernelTransformer(case.kernels(), view_variances=case.view_variances, latent="mean")
    case.check("K_s", transformer.fit_transform(case.views))


def test_equal_variances_may_be_one_number():
    case = next(case for case in cases(TOPIC) if case.name == "missing_m3_additive")
    case.check("K_s", mean_consensus_kernel(case.grams, np.inf, presence=case.presence))


def test_presence_none_means_everything_is_there():
    case = next(case for case in cases(TOPIC) if case.name == "complete_m2")
    case.check("K_s", mean_consensus_kernel(case.grams, case.view_variances))


@pytest.mark.parametrize("case", case_params(TOPIC, errors=True))
def test_row_without_views_is_named(case):
    (row,) = np.flatnonzero(~case.presence.any(axis=1))
    with pytest.raises(ValueError, match=rf"\b{row}\b"):
        covariance(case)
    transformer = CoTrainingKernelTransformer(case.kernels(), view_variances=case.view_variances, latent="mean")
    with pytest.raises(ValueError, match=rf"\b{row}\b"):
        transformer.fit(case.views)
