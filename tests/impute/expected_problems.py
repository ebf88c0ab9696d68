"""Incomplete rows of a known mixture, and expected kernels by plain loops over pairs, components and patterns."""

from types import SimpleNamespace

import numpy as np
from scipy.stats import multivariate_normal


def mixture_of(weights, means, covariances):
    """The parameters of a fitted mixture, and nothing else."""
    return SimpleNamespace(
        weights_=np.asarray(weights), means_=np.asarray(means, dtype=float), covariances_=np.asarray(covariances)
    )


def problem(seed, *, n=12, p=4, n_components=2, n_patterns=None, spread=1.0):
    """(rows with holes, mixture); ``n_patterns=None`` draws holes by row, the first row complete, the last one empty."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n_components, p)) * spread
    roots = rng.normal(size=(n_components, p, p))
    covariances = roots @ roots.transpose(0, 2, 1) / p + 0.2 * np.eye(p)
    labels = rng.integers(n_components, size=n)
    X = np.array([rng.multivariate_normal(means[k], covariances[k]) for k in labels])
    holes = rng.random((n_patterns or n, p)) < 0.4
    X[holes[np.arange(n) % len(holes)]] = np.nan
    if n_patterns is None:
        X[0], X[-1] = means[0] + 0.1, np.nan
    return X, mixture_of(rng.dirichlet(np.full(n_components, 5.0)), means, covariances)


def conditional(x, mixture):
    """(responsibilities, completed means, padded covariances) of one row, by explicit inverses."""
    o, m = ~np.isnan(x), np.isnan(x)
    log_r, means, covariances = [], [], []
    for weight, mu, S in zip(mixture.weights_, mixture.means_, mixture.covariances_, strict=True):
        log_r.append(np.log(weight))
        mean, P = np.where(o, x, mu), np.zeros_like(S)
        P[np.ix_(m, m)] = S[np.ix_(m, m)]
        if o.any():
            log_r[-1] += multivariate_normal.logpdf(x[o], mu[o], S[np.ix_(o, o)])
            gain = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
            mean[m] += gain @ (x[o] - mu[o])
            P[np.ix_(m, m)] -= gain @ S[np.ix_(o, m)]
        means.append(mean)
        covariances.append(P)
    r = np.exp(np.array(log_r) - max(log_r))
    return r / r.sum(), np.array(means), np.array(covariances)


def rbf_by_loops(X, Y, mixture, gamma):
    """Expected RBF kernel, every pair as two objects, with full p x p matrices."""
    root = np.sqrt(2.0 * np.broadcast_to(gamma, X.shape[1]))
    left, right = ([conditional(x, mixture) for x in rows] for rows in (X, Y))
    K = np.zeros((len(X), len(Y)))
    for i, (r, x, P) in enumerate(left):
        for j, (s, y, Q) in enumerate(right):
            for a in range(len(r)):
                for b in range(len(s)):
                    M = np.eye(len(root)) + (P[a] + Q[b]) * root[:, None] * root
                    delta = (x[a] - y[b]) * root
                    quadratic = delta @ np.linalg.solve(M, delta)
                    K[i, j] += r[a] * s[b] * np.exp(-0.5 * quadratic) / np.sqrt(np.linalg.det(M))
    return K


def draws_of(x, mixture, n_draws, rng):
    """Rows completed at random, (n_draws, p)."""
    r, means, covariances = conditional(x, mixture)
    components = rng.choice(len(r), size=n_draws, p=r)
    draws = np.empty((n_draws, len(x)))
    for k in range(len(r)):
        chosen = components == k
        draws[chosen] = rng.multivariate_normal(means[k], covariances[k], size=chosen.sum(), method="svd")
    return draws
