"""Golden values of multi-view Gaussian processes with posterior consistency (``tests/golden/gp_mvgp.json``).

Oracle: evidences, posteriors and divergences written out with 50 digits; gradients by finite differences.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from coview.gaussian_process import PosteriorConsistencyGPClassifier

from ..golden.loader import case_params, check_value, value_params

TOPIC = "gp_mvgp"
INFORMATION = frozenset()


def kernels(case):
    pairs = zip(case.inputs["signal_variance"], case.inputs["length_scale"], strict=True)
    return [ConstantKernel(variance) * RBF(width) for variance, width in pairs]


def consistency(case):
    m = len(case.inputs["X"])
    ties = np.zeros((m, m))
    for pair in case.inputs["b_pairs"]:
        i, j = pair["views"]
        ties[i, j] = ties[j, i] = pair["b"]
    return ties


def make(case, **changes):
    subset = case.inputs["index_set_T"]
    parameters = {
        "kernel": kernels(case),
        "noise_variance": case.inputs["noise_variance"],
        "view_weights": case.inputs["a"],
        "consistency": consistency(case),
        "jitter": case.inputs["jitter"],
        "hyperparameters": "fixed",
        "selective": False if subset is None else subset,
    }
    X = [np.array(block) for block in case.inputs["X"]]
    return PosteriorConsistencyGPClassifier(**(parameters | changes)).fit(X, case.inputs["y"])


@cache
def fit(case):
    return make(case)


def names(case):
    """Of theta, in its order: the kernels' in view order, then noise."""
    m = range(len(case.inputs["X"]))
    by_kernel = [f"log_{what}[{j}]" for j in m for what in ("signal_variance", "length_scale")]
    return by_kernel + [f"log_noise_variance[{j}]" for j in m]


def gradient(case, name):
    _, derivatives = fit(case).objective(eval_gradient=True)
    assert derivatives.shape == (len(names(case)),)
    return derivatives[names(case).index(name)]


def divergence(case, pair):
    i, j = (int(part) for part in pair.split("|"))
    return fit(case).divergences_[i, j]


CHECKS = {
    "objective": lambda case: fit(case).objective(),
    "log_marginal_likelihood": lambda case: fit(case).log_marginal_likelihoods_,
    "kl": divergence,
    "posterior_mean": lambda case: fit(case).latent_means_,
    "posterior_covariance": lambda case: fit(case).latent_covariances_,
    "consistent_set": lambda case: fit(case).consistent_set_,
    "gradient": gradient,
}


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key):
    check_value(case, key, CHECKS)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_every_derivative_is_known(case):
    assert sorted(names(case)) == sorted(case.expected["gradient"])


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_objective_at_other_places(case):
    model = fit(case)
    case.check("objective", model.objective_)
    moved = make(case, noise_variance=[2.0 * value for value in case.inputs["noise_variance"]])
    case.check("objective", moved.objective(model.theta_))
    case.check("objective", moved.objective(model.theta_, eval_gradient=True)[0])
    assert abs(moved.objective() - model.objective()) > 1e-3


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_low_rank_form_at_full_rank(case):
    """The features need a jitter; the exact form with the same jitter is the reference then."""
    exact = make(case, jitter=1e-3)
    model = make(case, jitter=1e-3, approximation="low_rank", n_components=None)
    case.check("objective", model.objective(), exact.objective())
    value, derivatives = model.objective(eval_gradient=True)
    case.check("objective", value, exact.objective())
    np.testing.assert_allclose(derivatives, exact.objective(eval_gradient=True)[1], rtol=1e-7)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_training_samples_as_truth_values_or_by_selection(case):
    """``selective=True`` compares on the consistent set of the same parameters, which is all samples here."""
    n = len(case.inputs["y"])
    assert case.expected["consistent_set"] == list(range(n))
    np.testing.assert_allclose(
        make(case, selective=True).objective_, make(case, selective=False).objective_, rtol=1e-12
    )
    subset = case.inputs["index_set_T"]
    if subset is not None:
        case.check("objective", make(case, selective=np.isin(np.arange(n), subset)).objective_)
