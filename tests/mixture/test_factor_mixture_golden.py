"""The classifier has the values of golden/mfa_golden.json, computed in 50 digits, through its public names."""

import json

import numpy as np
import pytest

from coview.mixture import FactorMixture, FactorMixtureClassifier

from ..golden.loader import GOLDEN, as_array, compare

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FILE = json.loads((GOLDEN / "mfa_golden.json").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in FILE["cases"]}
FITTED = [name for name in CASES if name != "misprints"]
ATTRIBUTES = {
    "loadings": "loadings_",
    "means": "means_",
    "sigma2": "noise_variance_",
    "weights": "weights_",
    "class_probs": "class_probabilities_",
}


def check(got, want, what):
    compare(got, want, **FILE["tolerance"], what=what)


def explicit(params):
    return {
        "n_components": len(params["weights"]),
        "n_factors": len(params["loadings"][0][0]),
        "weights_init": params["weights"],
        "means_init": params["means"],
        "loadings_init": params["loadings"],
    }


def fitted(case, max_iter, *, learn=False):
    """The classifier after so many iterations from the parameters of the case."""
    params = case["inputs"]["params"]
    noise = (
        {"noise_variance": "learn", "noise_variance_init": params["sigma2"]}
        if learn
        else {"noise_variance": params["sigma2"]}
    )
    model = FactorMixtureClassifier(
        **explicit(params), **noise, class_probabilities_init=params["class_probs"], max_iter=max_iter
    )
    X = as_array(case["inputs"].get("X", [case["inputs"].get("xz")]))
    return model.fit(X, as_array(case["inputs"].get("y", [None])))


@pytest.mark.parametrize("name", FITTED)
def test_posterior_of_components_factors_and_classes(name):
    case = CASES[name]
    X, y, want = as_array(case["inputs"]["X"]), as_array(case["inputs"]["y"]), case["expected"]
    model = fitted(case, 0)
    check(model.score_samples(X, y), want["sample_log_likelihood"], "sample_log_likelihood")
    check(model.score_samples(X, y).sum(), want["log_likelihood"], "log_likelihood")
    check(model.responsibilities(X, y), want["responsibilities"], "responsibilities")
    mean, second = model.factor_moments(X)
    check(mean, want["factor_mean"], "factor_mean")
    check(second, want["factor_second_moment"], "factor_second_moment")
    check(model.predict_proba(X), want["class_posterior_features_only"], "class_posterior_features_only")
    check(model.label_distributions_, want["class_posterior_features_only"], "label_distributions_")


@pytest.mark.parametrize("learn", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("name", FITTED)
def test_one_iteration(name, learn):
    case = CASES[name]
    model = fitted(case, 1, learn=learn)
    for key, want in case["expected"][f"m_step_{'free' if learn else 'fixed'}_sigma2"].items():
        check(getattr(model, ATTRIBUTES[key]), want, key)


@pytest.mark.parametrize("learn", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("name", [name for name in FITTED if "path_fixed_sigma2" in CASES[name]["expected"]])
def test_path(name, learn):
    path = CASES[name]["expected"][f"path_{'free' if learn else 'fixed'}_sigma2"]
    model = fitted(CASES[name], path["n_iter"], learn=learn)
    check(model.log_likelihood_trace_, path["log_likelihood"], "log_likelihood")
    assert model.n_iter_ == path["n_iter"]
    for key, want in path["final"].items():
        check(getattr(model, ATTRIBUTES[key]), want, key)


@pytest.mark.parametrize("subset", CASES["three_views"]["inputs"]["subsets"])
def test_classes_from_any_subset(subset):
    case = CASES["three_views"]
    query, seen = np.full((1, 5), np.nan), case["inputs"]["subsets"][subset]
    query[0, seen] = np.array(case["inputs"]["query"])[seen]
    got = fitted(case, 0).predict_proba(query)[0]
    check(got, case["expected"]["class_posterior_by_subset"][subset], subset)


def test_right_form_of_the_misprinted_equations():
    case = CASES["misprints"]
    inputs, want, model = case["inputs"], case["expected"], fitted(case, 0)
    x = [*inputs["x"], None, None]
    mean, _ = model.factor_moments(as_array([x]))
    check(mean[0, inputs["component"]], want["factor_mean_x_only"], "factor_mean_x_only")
    check(model.responsibilities([inputs["xz"]])[0], want["resp_xz"], "resp_xz")


@pytest.mark.parametrize("learn", [False, True], ids=["fixed", "free"])
def test_the_density_has_the_values_of_a_classifier_without_labels(learn):
    case = CASES["plain_mfa_no_labels"]
    params, X = case["inputs"]["params"], as_array(case["inputs"]["X"])
    noise = {"noise_variance": "learn", "noise_variance_init": 0.5} if learn else {"noise_variance": 0.5}
    path = case["expected"][f"path_{'free' if learn else 'fixed'}_sigma2"]
    model = FactorMixture(**explicit(params), **noise, max_iter=5).fit(X)
    check(model.log_likelihood_trace_, path["log_likelihood"], "log_likelihood")
    check(model.loadings_, path["final"]["loadings"], "loadings")
    before = FactorMixture(**explicit(params), **noise, max_iter=0).fit(X)
    check(before.responsibilities(X), case["expected"]["responsibilities"], "responsibilities")
    check(before.score_samples(X), case["expected"]["sample_log_likelihood"], "sample_log_likelihood")
