"""Altered copies of labeled samples without their originals' labels, against Gaussian conditioning without those labels."""

import numpy as np
import pytest

from coview.inference import (
    ConsensusPrior,
    CrossPosterior,
    FeatureConsensus,
    FeaturePosterior,
    HeldFeatures,
    JointFeatures,
    JointPrior,
    ViewWeights,
    feature_sums,
    labeled_covariance,
    laplace_fit,
    latent_posteriors,
    left_out_elsewhere,
    regression_fit,
)

SCALES, BIAS = np.array([0.7, 2.5]), 0.4
LABELED = np.array([0, 2, 3, 5, 6, 8])


def conditioned(K, cross, variance, phi, pseudo, i):
    """Moments at a point given pseudo-targets with noise 1/phi at all labeled samples but i."""
    others = np.delete(np.arange(len(phi)), i)
    G = K[np.ix_(others, others)] + np.diag(1.0 / phi[others])
    solved = np.linalg.solve(G, cross[others])
    return solved @ pseudo[others], variance - solved @ cross[others]


def problem(width, kind, n_functions, seed=0):
    rng = np.random.default_rng(seed)
    training = rng.normal(size=(10, width))
    prior = JointPrior.of(training)
    covariance = labeled_covariance(prior, LABELED, SCALES, BIAS)
    if kind == "regression":
        fit = regression_fit(covariance, rng.normal(size=LABELED.size), np.array([0.3, 0.05]))
    else:
        covariance = covariance.take(np.repeat(np.arange(SCALES.size), n_functions))
        fit = laplace_fit(covariance, np.sign(rng.normal(size=(SCALES.size * n_functions, LABELED.size))))
    return training, latent_posteriors(prior, LABELED, SCALES, BIAS, fit), fit


@pytest.mark.parametrize("width", [3, 9])
@pytest.mark.parametrize(("kind", "n_functions"), [("regression", 1), ("classes", 1), ("classes", 3)])
def test_copies_are_predicted_as_without_the_label_of_their_original(width, kind, n_functions):
    training, posteriors, fit = problem(width, kind, n_functions)
    which = np.array([4, 0, 0, 3])
    altered = training[LABELED[which]] + np.random.default_rng(1).normal(size=(which.size, width))
    for s, posterior in enumerate(posteriors):
        assert isinstance(posterior, FeaturePosterior if width < LABELED.size else CrossPosterior)
        mine = slice(s * n_functions, (s + 1) * n_functions)
        phi, pseudo = np.full((1, 6), 1 / 0.3 if s == 0 else 1 / 0.05), None
        if kind == "classes":
            phi = fit.curvatures[mine]
            pseudo = fit.modes[mine] + fit.gradients[mine] / phi
        else:
            pseudo = np.asarray(fit.targets)[None]
        seen = posterior.see(JointFeatures(altered))
        originals = posterior.see(JointFeatures(training[LABELED[which]]))
        means, variances = left_out_elsewhere(posterior, seen, originals, which, phi)
        K = SCALES[s] * training[LABELED] @ training[LABELED].T + BIAS
        crosses = SCALES[s] * altered @ training[LABELED].T + BIAS
        diagonal = SCALES[s] * np.square(altered).sum(axis=1) + BIAS
        for row, i in enumerate(which):
            for k in range(n_functions):
                mean, variance = conditioned(K, crosses[row], diagonal[row], phi[k], pseudo[k], i)
                np.testing.assert_allclose(means[row, k], mean, rtol=1e-9, atol=1e-9)
                np.testing.assert_allclose(variances[row, k], variance, rtol=1e-9, atol=1e-9)


def test_a_copy_that_is_the_original_has_its_leave_one_out_moments():
    training, posteriors, fit = problem(3, "classes", 1)
    means, variances = fit.leave_one_out()
    for s, posterior in enumerate(posteriors):
        seen = posterior.see(JointFeatures(training[LABELED]))
        moments = left_out_elsewhere(posterior, seen, seen, np.arange(LABELED.size), fit.curvatures[[s]])
        np.testing.assert_allclose(moments[0][:, 0], means[s], rtol=1e-10)
        np.testing.assert_allclose(moments[1][:, 0], variances[s], rtol=1e-10)


def test_the_consensus_function_is_refused():
    rows = HeldFeatures([np.arange(3.0)[:, None]], np.ones((3, 1), dtype=bool))
    weights = ViewWeights.of(1.0, 1)
    prior = ConsensusPrior(FeatureConsensus.of(rows, weights, feature_sums(rows)))
    labeled = np.array([0, 1])
    fit = regression_fit(labeled_covariance(prior, labeled, np.ones(1), 0.0), np.ones(2), np.ones(1))
    (posterior,) = latent_posteriors(prior, labeled, np.ones(1), 0.0, fit)
    with pytest.raises(TypeError, match="views alone"):
        left_out_elsewhere(posterior, *[posterior.see_training(slice(0, 2))] * 2, labeled, np.ones((1, 2)))
