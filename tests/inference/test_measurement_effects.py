"""Effects of measurements on posteriors on features, against posteriors built anew with the value in its place."""

import numpy as np
import pytest
from scipy.special import expit

from coview.inference import (
    DenseConsensus,
    FeatureConsensus,
    HeldFeatures,
    LabelSites,
    MeasurementPosterior,
    Measurements,
    ViewWeights,
    label_information,
    predictive_entropies,
)

N, WIDTHS = 9, (2, 3, 2)


def problem(seed, variances=(0.4, 1.3, 0.7)):
    rng = np.random.default_rng(seed)
    presence = rng.uniform(size=(N, 3)) < 0.6
    presence[np.arange(N), rng.integers(0, 3, N)] = True
    presence[4] = [True, False, True]
    presence[7] = [False, False, True]
    tables = [rng.standard_normal((N, width)) for width in WIDTHS]
    labeled = np.isin(np.arange(N), [0, 2, 4, 5])
    targets = np.where(labeled, rng.choice([-1.0, 1.0], size=(2, N)), 0.0)
    return presence, tables, labeled, targets, ViewWeights.of(list(variances), 3)


def consensus_of(presence, tables, weights):
    blocks = [table[has] for table, has in zip(tables, presence.T, strict=True)]
    return FeatureConsensus.of(HeldFeatures(blocks, presence), weights)


def parts(presence, tables, weights, scale, bias, of_mean):
    """Rows x, precision of their weights, own noise."""
    consensus = consensus_of(presence, tables, weights)
    shared = consensus.shared_rows(slice(None))
    X = np.column_stack([np.sqrt(scale) * shared, np.full(N, np.sqrt(bias))])
    P = np.eye(X.shape[1])
    P[:-1, :-1] = consensus.precision
    noise = np.zeros(N) if of_mean else scale / (presence @ weights.precisions)
    return X, P, noise


def mode_of(X, P, noise, targets, labeled):
    """Laplace mode over weights and own noises of the labeled samples, by plain Newton steps."""
    Z = np.column_stack([X[labeled], np.diag(np.sqrt(noise[labeled]))])
    Q = np.zeros((Z.shape[1],) * 2)
    Q[: len(P), : len(P)] = P
    Q[len(P) :, len(P) :] = np.eye(labeled.sum())
    w = np.zeros(len(Q))
    for _ in range(60):
        f = Z @ w
        g, phi = targets[labeled] * expit(-targets[labeled] * f), expit(f) * expit(-f)
        w += np.linalg.solve(Q + (Z.T * phi) @ Z, Z.T @ g - Q @ w)
    return w[: len(P)], Z @ w


def built(seed, of_mean, variances=(0.4, 1.3, 0.7), scale=1.7, bias=0.3):
    presence, tables, labeled, targets, weights = problem(seed, variances)
    X, P, noise = parts(presence, tables, weights, scale, bias, of_mean)
    gradients, curvatures, modes = np.zeros((2, N)), np.zeros((2, N)), []
    for k in range(2):
        w, f = mode_of(X, P, noise, targets[k], labeled)
        gradients[k, labeled] = targets[k, labeled] * expit(-targets[k, labeled] * f)
        curvatures[k, labeled] = expit(f) * expit(-f)
        modes.append(w)
    sites = LabelSites(targets, labeled, gradients, curvatures)
    consensus = consensus_of(presence, tables, weights)
    posterior = MeasurementPosterior.of(consensus, np.arange(N), scale, bias, sites, of_mean=of_mean)
    return posterior, presence, tables, weights, modes


@pytest.mark.parametrize("of_mean", [True, False])
@pytest.mark.parametrize(("sample", "view"), [(4, 1), (7, 0), (7, 1)])
@pytest.mark.parametrize("variances", [(0.4, 1.3, 0.7), (np.inf, np.inf, np.inf)])
def test_one_newton_step_from_the_model_with_the_value(of_mean, sample, view, variances):
    if not of_mean and np.isinf(variances[0]):
        pytest.skip("the consensus function needs finite variances")
    posterior, presence, tables, weights, modes = built(1, of_mean, variances)
    after = presence.copy()
    after[sample, view] = True
    X, P, noise = parts(after, tables, weights, 1.7, 0.3, of_mean)
    sites, labeled = posterior.sites, posterior.sites.labeled
    measured = Measurements(np.array([sample]), view, tables[view][[sample]])
    others = np.flatnonzero(~labeled)
    for k in range(2):
        effects = posterior.effects(k, measured)
        f = X @ modes[k] + posterior.own_noise * sites.gradients[k]
        g, phi = sites.gradients[k].copy(), sites.curvatures[k].copy()
        if labeled[sample]:
            y = sites.targets[k, sample]
            g[sample], phi[sample] = y * expit(-y * f[sample]), expit(f[sample]) * expit(-f[sample])
        Z = np.column_stack([X, np.diag(np.sqrt(noise))])
        Q = np.eye(Z.shape[1])
        Q[: len(P), : len(P)] = P
        # the own noise keeps its value e, that is coordinate e / sqrt(noise)
        e = posterior.own_noise * sites.gradients[k]
        coordinates = np.divide(e, np.sqrt(noise), out=np.zeros(N), where=noise > 0.0)
        w = np.concatenate([modes[k], coordinates])
        A = Q + (Z.T * phi) @ Z
        w = w + np.linalg.solve(A, Z.T @ g - Q @ w)
        variance = np.einsum("ij,ij->i", Z, np.linalg.solve(A, Z.T).T)
        mean, spread = effects.elsewhere(posterior.whitened(k, others), *posterior.moments(k, others))
        keep = others != sample
        np.testing.assert_allclose(mean[keep, 0], (Z @ w)[others[keep]], atol=1e-9)
        np.testing.assert_allclose(spread[keep, 0], variance[others[keep]], rtol=1e-9)
        if not labeled[sample]:
            np.testing.assert_allclose(effects.own_mean, (Z @ w)[sample], atol=1e-9)
            np.testing.assert_allclose(effects.own_variance, variance[sample], rtol=1e-9)


def dense_covariance(presence, tables, weights, curvatures, scale, bias, of_mean):
    """Posterior covariance of g at all samples, from Gram matrices; bias integrated out."""
    blocks = [table[has] for table, has in zip(tables, presence.T, strict=True)]
    consensus = DenseConsensus([block @ block.T for block in blocks], weights, presence)
    K = scale * (consensus.mean_covariance if of_mean else consensus.consensus_covariance)
    at = np.flatnonzero(curvatures)
    B = K[np.ix_(at, at)] + bias + np.diag(1.0 / curvatures[at])
    consensus_alone = K - K[:, at] @ np.linalg.solve(B, K[at])
    biased = K + bias
    return consensus_alone, biased - biased[:, at] @ np.linalg.solve(B, biased[at])


@pytest.mark.parametrize("sample_view", [(4, 1), (7, 0), (7, 1)])
def test_information_on_the_consensus_function_alone(sample_view):
    posterior, presence, tables, weights, _ = built(2, False)
    sample, view = sample_view
    after = presence.copy()
    after[sample, view] = True
    measured = Measurements(np.array([sample]), view, tables[view][[sample]])
    for k in range(2):
        before, then = (
            dense_covariance(has, tables, weights, posterior.sites.curvatures[k], 1.7, 0.3, False)[0]
            for has in (presence, after)
        )
        want = 0.5 * (np.linalg.slogdet(before)[1] - np.linalg.slogdet(then)[1])
        np.testing.assert_allclose(posterior.information(k, measured), want, rtol=1e-8)


@pytest.mark.parametrize("of_mean", [True, False])
@pytest.mark.parametrize("sample_view", [(4, 1), (7, 0), (7, 1)])
def test_variances_fall_as_in_the_model_with_the_value(of_mean, sample_view):
    posterior, presence, tables, weights, _ = built(3, of_mean)
    sample, view = sample_view
    after = presence.copy()
    after[sample, view] = True
    measured = Measurements(np.array([sample]), view, tables[view][[sample]])
    for over in (np.arange(N), np.flatnonzero(~posterior.sites.labeled)):
        for k in range(2):
            before, then = (
                dense_covariance(has, tables, weights, posterior.sites.curvatures[k], 1.7, 0.3, of_mean)[1]
                for has in (presence, after)
            )
            want = (np.diagonal(before) - np.diagonal(then))[over].sum()
            np.testing.assert_allclose(posterior.variance_reduction(k, measured, over), want, rtol=1e-7)


def test_a_sample_without_views_learns_of_itself_alone():
    presence, tables, labeled, targets, weights = problem(5)
    kept = np.flatnonzero(np.arange(N) != 7)
    consensus = consensus_of(presence[kept], [t[kept] for t in tables], weights)
    sites = LabelSites(targets, labeled & False, np.zeros((2, N)), np.zeros((2, N)))
    posterior = MeasurementPosterior.of(consensus, kept, 1.0, 0.0, sites, of_mean=True)
    effects = posterior.effects(0, Measurements(np.array([7]), 0, tables[0][[7]]))
    assert effects.log_dets == pytest.approx(0.0)
    assert np.abs(effects.fall(posterior.whitened(0, kept))).max() == pytest.approx(0.0)
    assert effects.own_variance > 0.0


def test_entropies_of_two_classes_and_of_more():
    rng = np.random.default_rng(0)
    means, variances = rng.standard_normal((1, 4)), rng.uniform(size=(1, 4))
    p = expit(2.0 * means[0] / np.sqrt(1 + np.pi * variances[0] / 8))
    want = -(p * np.log(p) + (1 - p) * np.log1p(-p))
    np.testing.assert_allclose(predictive_entropies(means, variances, 2.0), want)
    split = np.concatenate([means, -means]) / 2.0
    np.testing.assert_allclose(
        predictive_entropies(split, np.zeros((2, 4))), predictive_entropies(means, 0 * variances)
    )
    assert label_information(np.zeros((3, 2)), np.ones((3, 2))).tolist() == [0.0, 0.0, 0.0]
