"""Golden values of co-regularized logistic regression (``tests/golden/mvlogit_golden.json``): model and hyper-parameters."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from coview.inference import (
    GammaPriors,
    LogisticDesign,
    LogisticViews,
    PrecisionTerms,
    PriorPrecisions,
    gaussian_affinity,
    learn_logistic,
)

from .mvlogit_problems import CASES, OVER, blocks_of, close, hyper_priors_of, model_of, target_of

pytestmark = [pytest.mark.parametrize("case", CASES.values(), ids=CASES), pytest.mark.parametrize("over", OVER)]


def pieces(case, over):
    """Samples, precisions, labels, and which samples have one."""
    inputs, y = case["inputs"], target_of(case)
    blocks = blocks_of(case)
    rows = tuple(np.flatnonzero(~np.isnan(block[:, 0])) for block in blocks)
    kept = tuple(block[held] for block, held in zip(blocks, rows, strict=True))
    affinities = tuple(
        gaussian_affinity(block, kappa, normalized=True)
        for block, kappa in zip(kept, inputs["kernel_var"], strict=True)
    )
    labeled = ~np.isnan(y)
    agreeing = np.ones(len(y), dtype=bool) if over == "all" else ~labeled
    samples = LogisticViews(kept, rows, len(y), agreeing, affinities)
    fixed = PriorPrecisions(np.array(inputs["lambda_i"]), inputs["lambda_co"], np.full(2, inputs["lambda_0"]))
    return samples, fixed, y, labeled


def test_terms_of_the_prior(case, over):
    samples, _, _, _ = pieces(case, over)
    expected = case["expected"][over]
    zero, d = np.zeros(sum(samples.widths)), samples.widths[0]
    close(samples.prior(PriorPrecisions(zero, 1.0, np.zeros(2))).precision, expected["C"])
    smooth = samples.prior(PriorPrecisions(zero, 0.0, np.ones(2))).precision
    close(smooth[:d, :d], expected["delta_view1"])
    close(smooth[d:, d:], expected["delta_view2"])
    assert not smooth[:d, d:].any()
    agreement, own = samples.ranks()
    assert (agreement, own.sum()) == tuple(expected["effective_ranks"].values())


def test_probe(case, over):
    samples, fixed, y, labeled = pieces(case, over)
    expected = case["expected"][over]["probe"]
    design, w = LogisticDesign(samples.prior(fixed), labeled), np.array(expected["w"])
    close(design.log_likelihood(w, y), expected["log_likelihood"])
    close(design.log_posterior(w, y), expected["log_posterior"])
    close(design.gradient(w, y), expected["gradient"])
    close(design.negative_hessian(w, y), expected["negative_hessian"])


def test_bound_step(case, over):
    samples, fixed, y, labeled = pieces(case, over)
    design = LogisticDesign(samples.prior(fixed), labeled)
    close(design.bound_step(np.zeros(sum(samples.widths)), y), case["expected"][over]["bound_step_from_zero"])


def test_estimator_with_fixed_precisions(case, over):
    expected = case["expected"][over]
    model = model_of(case, over).fit(blocks_of(case), target_of(case))
    close(model.coef_, expected["map_w"])
    close(model.objective_, expected["map_log_posterior"])
    close(model.prior_precision_, expected["prior_precision"])
    close(model.posterior_precision_, expected["posterior_precision"])
    log_det = np.linalg.slogdet(model.posterior_precision_)[1]
    close(log_det, expected["log_det_posterior_precision"])
    entropy = 0.5 * len(model.coef_) * np.log(2 * np.pi * np.e) - 0.5 * log_det
    close(entropy, expected["entropy_nats"])


def test_expected_precisions_at_the_mode(case, over):
    samples, fixed, _, _ = pieces(case, over)
    expected = case["expected"][over]
    hyper, ones = case["inputs"]["hyper"], np.ones(sum(samples.widths), dtype=bool)
    priors = GammaPriors(*(tuple(hyper[key]) for key in ("one", "co", "zero")))
    terms = PrecisionTerms(samples, priors, fixed, ridge=ones, agreement=True, smoothness=True, shared=True)
    got, want = terms.expected(np.array(expected["map_w"])), expected["expected_lambda_at_map"]
    close(got.ridge, want["lambda_i"])
    close(got.agreement, want["lambda_co"])
    close(got.smoothness, np.full(2, want["lambda_0"]))


def test_learned_precisions(case, over):
    expected = case["expected"][over]["gem_converged"]
    model = model_of(case, over, learn=True, hyper_priors=hyper_priors_of(case))
    model.fit(blocks_of(case), target_of(case))
    close(model.coef_, expected["w"])
    close(model.objective_, expected["objective"])
    close(model.objective_trace_[0][:5], case["expected"][over]["gem_objective_first5"])
    for name, key in (("ridge", "lambda_i"), ("co_regularization", "lambda_co"), ("smoothness", "lambda_0")):
        close(model.expected_precisions_[name], expected["expected_lambda"][key])


def test_first_and_third_iteration(case, over):
    expected = case["expected"][over]
    model = model_of(case, over, learn=True, hyper_priors=hyper_priors_of(case), max_iter=1)
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        model.fit(blocks_of(case), target_of(case))
    close(model.coef_, expected["gem_first"]["w"])
    for name, key in (("ridge", "lambda_i"), ("co_regularization", "lambda_co"), ("smoothness", "lambda_0")):
        close(model.expected_precisions_[name], expected["gem_first"]["expected_lambda"][key])
    with pytest.warns(ConvergenceWarning, match="after 3 iterations"):
        model.set_params(max_iter=3).fit(blocks_of(case), target_of(case))
    close(model.coef_, expected["gem_third_w"])


def test_a_single_bound_step_per_iteration_climbs_too(case, over):
    samples, fixed, y, labeled = pieces(case, over)
    ones = np.ones(sum(samples.widths), dtype=bool)
    terms = PrecisionTerms(samples, GammaPriors(), fixed, ridge=ones, agreement=True, smoothness=True, shared=True)
    w, trace = np.zeros(len(ones)), []
    for _ in range(200):
        design = LogisticDesign(samples.prior(terms.expected(w)), labeled)
        trace.append(terms.objective(w, design.log_likelihood(w, y)))
        w = design.bound_step(w, y)
    assert (np.diff(trace) >= -1e-12).all()
    learned = learn_logistic(terms, y, labeled, tol=1e-10, max_iter=1000)
    np.testing.assert_allclose(w, learned.mode.weights, rtol=1e-6)
