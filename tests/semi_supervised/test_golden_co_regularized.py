"""Co-regularized least squares against values from brute force (``tests/golden/corls_linear_system.json``)."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from coview.semi_supervised import CoRegularizedLeastSquaresRegressor

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "corls_linear_system.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
SOLVED = [name for name, case in CASES.items() if "alpha" in case["outputs"]]
ERRATUM = CASES["erratum_missing_1_over_l"]


def close(got, want, case):
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape
    rtol, atol = (case.get(key, DOCUMENT["tolerance"][key]) for key in ("rtol", "atol"))
    assert (np.abs(got - want) <= atol + rtol * np.abs(want)).all()


def kernel_of(spec):
    return ConstantKernel(1.0) * (RBF(spec["sigma"]) if spec["kind"] == "rbf" else DotProduct(0, "fixed"))


def fitted(case):
    inputs = case["inputs"]
    model = CoRegularizedLeastSquaresRegressor(
        kernel=[kernel_of(spec) for spec in inputs["kernels"]],
        ridge=inputs["gamma"],
        coupling=inputs["gamma_C"],
        view_weights=inputs["mu"],
        constants=inputs["constant_handling"],
    )
    return model.fit([np.array(block) for block in inputs["X"]], inputs["y_labelled_else_null"])


def test_every_case_and_key_is_checked():
    keys = {key for name in SOLVED for key in CASES[name]["outputs"]}
    assert keys == {"alpha", "f_sample", "objective", "f_test", "mean_score_test"}
    assert set(CASES) - set(SOLVED) == {"erratum_missing_1_over_l"}
    for name in SOLVED:
        inputs = CASES[name]["inputs"]
        assert [target is not None for target in inputs["y_labelled_else_null"]] == inputs["labelled"]


@pytest.mark.parametrize("name", SOLVED)
def test_solutions(name):
    case = CASES[name]
    model, out = fitted(case), case["outputs"]
    sample, new = ([np.array(block) for block in case["inputs"][key]] for key in ("X", "X_test"))
    close(model.dual_coef_, out["alpha"], case)
    close(model.objective_, out["objective"], case)
    close(model.decision_function_per_view(sample), out["f_sample"], case)
    close(model.decision_function_per_view(new), out["f_test"], case)
    close(model.predict(new), out["mean_score_test"], case)
    for v, view in enumerate(model.view_names_):
        close(model.predict(new, view=view), out["f_test"][v], case)


def objectives(model, inputs):
    """The objective with 1/l on the losses, and as printed, without."""
    blocks = [np.array(block) for block in inputs["X"]]
    grams = [kernel_of(spec)(block) for spec, block in zip(inputs["kernels"], blocks, strict=True)]
    labeled = np.array(inputs["labelled"])
    y = np.array(inputs["y_labelled_else_null"], dtype=float)[labeled]
    f = [K @ a for K, a in zip(grams, model.dual_coef_, strict=True)]
    losses = sum(mu * ((y - g[labeled]) ** 2).sum() for mu, g in zip(inputs["mu"], f, strict=True))
    norms = sum(gamma * a @ g for gamma, a, g in zip(inputs["gamma"], model.dual_coef_, f, strict=True))
    ties = inputs["gamma_C"] / len(labeled) * ((f[0] - f[1]) ** 2).sum()
    return losses / labeled.sum() + norms + ties, losses + norms + ties


def test_the_printed_objective_lacks_a_factor():
    """The system minimizes the losses over l; prices over l give the minimum of what is printed."""
    inputs, out = ERRATUM["inputs"], ERRATUM["outputs"]
    n_labeled = sum(inputs["labelled"])
    over_l = {
        "gamma": [gamma / n_labeled for gamma in inputs["gamma"]],
        "gamma_C": inputs["gamma_C"] / n_labeled,
    }
    at_system = objectives(fitted(ERRATUM), inputs)
    at_printed = objectives(fitted({"inputs": inputs | over_l}), inputs)
    close(at_system[0], out["with_1_over_l_at_system"], ERRATUM)
    close(at_printed[0], out["with_1_over_l_at_printed_minimiser"], ERRATUM)
    close(at_system[1], out["printed_at_system"], ERRATUM)
    close(at_printed[1], out["printed_at_printed_minimiser"], ERRATUM)
