"""Golden values of active sensing with Bayesian co-training (``tests/golden/gp_active_sensing.json``).

Oracle: the precision of the consensus function rebuilt for every candidate and value with 50 digits, expectations by a
trapezoid rule of 4,001 nodes.
"""

import numpy as np
import pytest

from coview.acquisition import view_utilities
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.mixture import ClassConditionalGaussianMixture

from ..golden.loader import cases

CASES = [pytest.param(case, id=case.name) for case in cases("gp_active_sensing") if "candidates" in case.expected]
KEYS = {
    ("mutual_information", "quadrature"): "mi",
    ("mutual_information", "point_mass"): "point_mass_mi",
    ("mutual_information_bound", "quadrature"): "bound",
    ("mutual_information_bound", "point_mass"): "point_mass_bound",
}


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
