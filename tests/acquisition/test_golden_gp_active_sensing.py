"""Golden values of active sensing with Bayesian co-training (``tests/golden/gp_active_sensing.json``).

Oracle: the precision of the consensus function rebuilt for every candidate and value with 50 digits, expectations by a
trapezoid rule of 4,001 nodes.
"""

import numpy as np
import pytest

from coview.acquisition import view_utilities
from coview.acquisition._densities import ViewDensity
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.inference import view_additions
from coview.mixture import ClassConditionalGaussianMixture

from ..golden.loader import cases, compare

CASES = [pytest.param(case, id=case.name) for case in cases("gp_active_sensing") if "candidates" in case.expected]
KEYS = {
    ("mutual_information", "quadrature"): "mi",
    ("mutual_information", "point_mass"): "point_mass_mi",
    ("mutual_information_bound", "quadrature"): "bound",
    ("mutual_information_bound", "point_mass"): "point_mass_bound",
}

MOMENTS = ("E_lambda", "E_lambda_b", "E_lambda_bb")
# Expected keys that a test here compares, and those that the densities' tests do: conditional weights and EM with missing views
# (tests/mixture/test_class_conditional.py, tests/inference/test_gaussian_mixture.py).
CHECKS = {
    *(f"candidates[]/{key}" for key in (*KEYS.values(), "sample", "view")),
    *(f"candidates[]/{prefix}{key}" for key in MOMENTS for prefix in ("", "point_mass_")),
    *("best", "mode", "phi", "var_criterion_variances", "var_criterion_order_of_incomplete_samples"),
    "candidates[]/conditional_weights",
    *("log_likelihood_initial", "responsibilities_initial", "after_one_step", "log_likelihood_after_one_step"),
    "after_two_steps",
}
INFORMATION = {"candidates[]/quadrature_change"}


def model_of(case):
    return BayesianCoTrainingClassifier(
        kernel=case.kernels(), view_variances=case.view_variances, latent="consensus", hyperparameters="fixed"
    )


def density_of(case):
    gmm = case.inputs["gmm"]
    parts = {
        label: (
            [component["pi"] for component in gmm[name]],
            [[component["mu"][j] for component in gmm[name]] for j in range(len(case.widths))],
            [[component["cov"][j] for component in gmm[name]] for j in range(len(case.widths))],
        )
        for name, label in (("-1", -1.0), ("+1", 1.0))
    }
    prior = {-1.0: gmm["prior"]["-1"], 1.0: gmm["prior"]["+1"]}
    return ClassConditionalGaussianMixture.from_parameters(prior, parts)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("criterion", "expectation"), list(KEYS))
def test_information_of_every_missing_pair(case, criterion, expectation):
    table = view_utilities(
        model_of(case), case.views, case.y, criterion=criterion, expectation=expectation, density=density_of(case)
    )
    key = KEYS[criterion, expectation]
    want = [candidate[key] for candidate in case.expected["candidates"]]
    pairs = [(c["sample"], case.names[c["view"]]) for c in case.expected["candidates"]]
    assert set(zip(table["sample"], table["view"], strict=True)) == set(pairs)
    got = table.set_index(["sample", "view"])["utility"].loc[pairs].to_numpy()
    np.testing.assert_allclose(got, want, rtol=case.tolerance["rtol"], atol=case.tolerance["atol"])
    best = case.expected["best"][key]
    assert (table["sample"][0], table["view"][0]) == (best[0], case.names[best[1]])
    assert table["utility"].is_monotonic_decreasing


@pytest.mark.parametrize("case", CASES)
def test_variance_ranks_samples(case):
    table = view_utilities(model_of(case), case.views, case.y, criterion="variance")
    want = np.array(case.expected["var_criterion_variances"])
    np.testing.assert_allclose(table["utility"], want[table["sample"]], rtol=1e-8)
    assert list(dict.fromkeys(table["sample"])) == case.expected["var_criterion_order_of_incomplete_samples"]


@pytest.mark.parametrize("case", CASES)
def test_mode_and_sites_of_the_labels(case):
    posterior = model_of(case).fit(case.views, case.y).consensus_posterior()
    sites = np.zeros(len(case.y))
    sites[posterior.kept[posterior.labeled]] = posterior.curvatures[0]
    tolerance = {key: case.tolerance[key] for key in ("rtol", "atol")}
    compare(posterior.training()[0][:, 0], case.expected["mode"], what="mode", **tolerance)
    compare(sites, case.expected["phi"], what="phi", **tolerance)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("expectation", ["quadrature", "point_mass"])
def test_moments_of_the_update(case, expectation):
    """E[lambda], E[lambda b] and E[lambda b b^T] over what the view may hold, from the numbers that utilities are made of."""
    posterior = model_of(case).fit(case.views, case.y).consensus_posterior()
    labels = np.array([None if np.isnan(value) else value for value in case.y], dtype=object)
    held = ViewDensity(density_of(case), case.views, labels, 0)
    consensus = posterior.prior.consensus
    prefix = "" if expectation == "quadrature" else "point_mass_"
    for candidate in case.expected["candidates"]:
        j, name = candidate["view"], case.names[candidate["view"]]
        possible = held.values(name, np.array([candidate["sample"]]), expectation=expectation)
        crosses, diagonals = posterior.kernel_values(name, possible.values)
        variance = float(consensus.weights.variances[j])
        additions = view_additions(consensus.factors[j], consensus.rows[j], crosses, diagonals, variance)
        weights = possible.weights[0] * additions.precisions
        got = (weights.sum(), weights @ crosses, (crosses.T * weights) @ crosses)
        for key, value in zip(MOMENTS, got, strict=True):
            want, tolerance = candidate[prefix + key], case.tolerance
            compare(np.asarray(value), want, what=prefix + key, rtol=tolerance["rtol"], atol=tolerance["atol"])
