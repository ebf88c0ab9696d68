"""Golden values of averaging over settings: weights, mixtures, trust and agreement (``gp_mean_average.json``).

Oracle: every setting by the brute-force construction with 50 digits, then the formulas of the averages.
"""

from functools import cache

import numpy as np
import pytest

from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

from ..golden.loader import as_setting, case_params, check_value, value_params

TOPIC = "gp_mean_average"
INFORMATION = frozenset({"setting_shares"})  # enter the trust of the views
WEIGHTINGS = ("leave_one_out", "evidence")


def is_regression(case):
    return "classes" not in case.inputs


@cache
def fit(case, weighting):
    parameters = {
        "kernel": case.kernels(),
        "latent": "mean",
        "hyperparameters": "average",
        "settings": [as_setting(setting) for setting in case.inputs["settings"]],
        "bias_variance": case.inputs["bias_variance"],
        "weighting": weighting,
    }
    if is_regression(case):
        return BayesianCoTrainingRegressor(**parameters).fit(case.views, case.y)
    model = BayesianCoTrainingClassifier(**parameters, temperature=case.inputs["temperatures"])
    return model.fit(case.views, case.y)


def settings_column(case, weighting, column):
    """Column of ``settings_``: (n_settings, n_temperatures), for regression (n_settings,)."""
    model = fit(case, weighting)
    values = model.settings_[column].to_numpy(dtype=float)
    if is_regression(case):
        return values
    temperatures = case.inputs["temperatures"]
    np.testing.assert_array_equal(model.settings_["temperature"], np.tile(temperatures, len(case.inputs["settings"])))
    return values.reshape(-1, len(temperatures))


def setting_weights(case, weighting):
    weights = settings_column(case, weighting, "weight")
    return weights if is_regression(case) else weights.sum(axis=1)


def evidence_of_settings(case):
    values = settings_column(case, "evidence", "log_marginal_likelihood")
    if is_regression(case):
        return values
    np.testing.assert_array_equal(values, np.repeat(values[:, :1], values.shape[1], axis=1))
    return values[:, 0]


def new_latent(case, weighting):
    model = fit(case, weighting)
    predict = model.predict if is_regression(case) else model.predict_latent
    mean, std = predict(case.new_views, return_std=True)
    return mean, std**2


def mean_noise_variance(case, weighting):
    """What asking for noise adds to the variance of every new sample."""
    _, noisy = fit(case, weighting).predict(case.new_views, return_std=True, include_noise=True)
    added = noisy**2 - new_latent(case, weighting)[1]
    np.testing.assert_allclose(added, added[0], rtol=1e-9)
    return added[0]


def checks(weighting):
    """Checkers of one block of the file."""
    own = {
        "weights": lambda case: settings_column(case, weighting, "weight"),
        "setting_weights": lambda case: setting_weights(case, weighting),
        "label_distributions": lambda case: fit(case, weighting).label_distributions_,
        "loo_label_distributions": lambda case: fit(case, weighting).loo_label_distributions_,
        "latent_mean": lambda case: fit(case, weighting).latent_mean_,
        "latent_variance": lambda case: fit(case, weighting).latent_variance_,
        "mean_noise_variance": lambda case: mean_noise_variance(case, weighting),
        "new_latent_mean": lambda case: new_latent(case, weighting)[0],
        "new_latent_variance": lambda case: new_latent(case, weighting)[1],
        "new_label_distributions": lambda case: fit(case, weighting).predict_proba(case.new_views),
    }
    for name in ("agree", "add", "joint"):
        own[f"agreement/{name}"] = lambda case, name=name: fit(case, weighting).agreement_[name]
    for column in ("share", "sd", "lower", "upper", "n_samples"):
        own[f"trust[]/{column}"] = lambda case, column=column: fit(case, weighting).view_trust_[column].to_numpy()
    return {f"{weighting}/{key}": checker for key, checker in own.items()}


CHECKS = {
    "log_marginal_likelihood": evidence_of_settings,
    "loo_score": lambda case: settings_column(case, "leave_one_out", "loo_score"),
    **checks("leave_one_out"),
    **checks("evidence"),
}


@pytest.mark.parametrize(("case", "key"), value_params(TOPIC, INFORMATION))
def test_value(case, key):
    check_value(case, key, CHECKS)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("case", case_params(TOPIC))
def test_weights_sum_to_one_and_kinds_follow_the_settings(case, weighting):
    table = fit(case, weighting).settings_
    np.testing.assert_allclose(table["weight"].sum(), 1.0, rtol=1e-12)
    kinds = [
        "joint" if s.get("joint") else "add" if s["view_variances"] == "inf" else "agree"
        for s in case.inputs["settings"]
    ]
    n_temperatures = 1 if is_regression(case) else len(case.inputs["temperatures"])
    assert list(table["kind"]) == list(np.repeat(kinds, n_temperatures))


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_trust_is_listed_by_view(case):
    trust = fit(case, "leave_one_out").view_trust_
    assert list(trust.index) == case.names
    np.testing.assert_allclose(trust["share"].sum(), 1.0)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_new_samples_one_by_one(case):
    model = fit(case, "leave_one_out")
    for i in range(len(case.new_samples)):
        alone = model.predict(case.new_views[[i]])
        np.testing.assert_allclose(alone, model.predict(case.new_views)[[i]], rtol=1e-12)


@pytest.mark.parametrize("case", case_params(TOPIC))
def test_bootstrapped_weights_are_seeded_and_near_the_plain_sum(case):
    def weights(seed):
        parameters = fit(case, "leave_one_out").get_params(deep=False)
        model = type(fit(case, "leave_one_out"))(**parameters).set_params(weighting="bootstrap", random_state=seed)
        return model.fit(case.views, case.y).settings_["weight"].to_numpy()

    first = weights(0)
    np.testing.assert_array_equal(first, weights(0))
    np.testing.assert_allclose(first.sum(), 1.0)
    assert not np.array_equal(first, weights(1))
    # 200 draws: two seeds differ little, in total variation
    assert np.abs(first - weights(1)).sum() / 2 < 0.15
