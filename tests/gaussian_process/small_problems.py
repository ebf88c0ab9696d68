"""Small labeled problems with views missing at random."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from coview import Views

WIDTHS = (2, 3, 1)


def tables(n, seed, *, missing=0.35, widths=WIDTHS):
    """Tables of all views over n samples, rows of missing views NaN; the first column of each tells the same story."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    presence = rng.random((n, len(widths))) >= missing
    lost = np.flatnonzero(~presence.any(axis=1))
    presence[lost, rng.integers(len(widths), size=lost.size)] = True
    blocks = []
    for j, width in enumerate(widths):
        block = 0.5 * rng.normal(size=(n, width))
        block[:, 0] += signal
        block[~presence[:, j]] = np.nan
        blocks.append(block)
    return blocks, signal


def problem(n=16, seed=0, *, missing=0.35, widths=WIDTHS):
    """Views and the signal behind them."""
    blocks, signal = tables(n, seed, missing=missing, widths=widths)
    return Views(blocks), signal


def labels(signal, n_labeled, n_classes=2):
    """Classes by equal parts of the signal, the first ``n_labeled`` in the open; every class among them."""
    ranks = np.argsort(np.argsort(signal)) * n_classes // len(signal)
    y = ranks.astype(float)
    y[n_labeled:] = np.nan
    assert len(np.unique(y[:n_labeled])) == n_classes
    return y


def targets(signal, n_labeled):
    """Real targets, the first ``n_labeled`` in the open."""
    y = 3 * np.sin(signal) + 1
    y[n_labeled:] = np.nan
    return y


def kernels(n_views=3):
    """Kernel objects that differ between views."""
    return [ConstantKernel(1.0 + 0.5 * j) * RBF(1.0 + 0.3 * j) for j in range(n_views)]
