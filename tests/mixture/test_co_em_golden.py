"""Co-EM against values computed with 50 digits: every case, run and field of the golden file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coview import Views
from coview.metrics import cluster_entropy
from coview.mixture import CoEMMixture

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "coem_golden.json").read_text(encoding="utf-8"))
TOLERANCE = DOCUMENT["tolerance"]
CASES = [case for case in DOCUMENT["cases"] if isinstance(case["expected"], dict)]
RUNS = [
    pytest.param(case["inputs"], case["expected"], run, id="-".join([case["id"], *map(str, run["options"].values())]))
    for case in CASES
    for run in case["expected"]["runs"]
]


def compare(got: Any, want: Any) -> None:
    want = np.array([[np.nan] * len(np.atleast_1d(got[0])) if row is None else row for row in want], dtype=float)
    got = np.asarray(got, dtype=float)
    assert got.shape == want.shape
    assert np.array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_allclose(got, want, rtol=TOLERANCE["rtol"], atol=TOLERANCE["atol"])


def as_views(inputs: dict[str, Any]) -> Views:
    return Views([np.array(view, dtype=float) for view in inputs["views"]], presence=np.array(inputs["mask"]))


def fitted(inputs: dict[str, Any], options: dict[str, Any], sweeps: int) -> CoEMMixture:
    model = CoEMMixture(
        len(inputs["priors"][0]),
        distributions=inputs["kinds"],
        consensus=options["eta"],
        shared_prior=options["shared_prior"],
        schedule=options["schedule"],
        covariance_type=options["cov_type"],
        smoothing=options["smoothing"],
        reg_covar=options["reg"],
        params_init=inputs["params"],
        weights_init=inputs["priors"],
        max_iter=sweeps,
    )
    with pytest.warns(UserWarning, match="before it converged"):
        return model.fit(as_views(inputs))


def check_terms(model: CoEMMixture, expected: dict[str, float]) -> None:
    assert set(expected) == set(model.criterion_terms_)
    for name, value in expected.items():
        np.testing.assert_allclose(model.criterion_terms_[name], value, rtol=TOLERANCE["rtol"], err_msg=name)
    np.testing.assert_allclose(model.criterion_, expected["q_multi_view"], rtol=TOLERANCE["rtol"])


@pytest.mark.parametrize(("inputs", "expected", "run"), RUNS)
def test_start(inputs, expected, run):
    """Posteriors, likelihoods and criterion before the first sweep."""
    model = fitted(inputs, run["options"], 0)
    X = as_views(inputs)
    for got, want in zip(model.view_posteriors(X), expected["local_posterior"], strict=True):
        compare(got, want)
    np.testing.assert_allclose(model.score_samples(X).sum(), expected["sum_log_marginal"], rtol=TOLERANCE["rtol"])
    for v, name in enumerate(X.names):
        alone = Views([X[name]])
        single = CoEMMixture(
            len(inputs["priors"][0]), distributions=inputs["kinds"][v], params_init=[inputs["params"][v]],
            weights_init=inputs["priors"][v], max_iter=0,
        )  # fmt: skip
        with pytest.warns(UserWarning, match="before it converged"):
            got = single.fit(alone).score_samples(alone)
        compare(got, [value for value in expected["view_log_marginal"][v] if value is not None])
    first = run["steps"][0]["view"]
    compare(model.averaged_posteriors(X)[first], run["steps"][0]["averaged_posterior"])
    if run["options"]["schedule"] == "parallel":
        for step in run["steps"]:
            compare(model.averaged_posteriors(X)[step["view"]], step["averaged_posterior"])
    check_terms(model, run["criterion_at_start"])


@pytest.mark.parametrize(("inputs", "expected", "run"), RUNS)
def test_sweep(inputs, expected, run):
    """Parameters, priors, assignment and criterion after one sweep."""
    model = fitted(inputs, run["options"], 1)
    X = as_views(inputs)
    assert model.n_iter_ == 1
    for got, want in zip(model.params_, run["params_after"], strict=True):
        assert set(got) == set(want)
        for name, values in want.items():
            np.testing.assert_allclose(got[name], values, rtol=TOLERANCE["rtol"], atol=TOLERANCE["atol"])
    priors = run["priors_after"]
    compare(model.weights_, priors[0] if run["options"]["shared_prior"] else priors)
    np.testing.assert_allclose(model.score_samples(X).sum(), run["sum_log_marginal_after"], rtol=TOLERANCE["rtol"])
    compare(model.responsibilities(X), run["joint_posterior_after"])
    compare(model.predict_proba(X), run["joint_posterior_after"])
    assert model.predict(X).tolist() == model.labels_.tolist() == run["assignment_after"]
    check_terms(model, run["criterion_old_to_new"])


def test_cluster_entropy():
    (case,) = (case for case in DOCUMENT["cases"] if not isinstance(case["expected"], dict))
    for inputs, expected in zip(case["inputs"], case["expected"], strict=True):
        assert cluster_entropy(inputs["labels"], inputs["clusters"]) == pytest.approx(expected["bits"], rel=1e-8)
