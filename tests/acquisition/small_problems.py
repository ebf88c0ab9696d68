"""Small problems with missing views and few labels."""

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

from coview import Views
from coview.gaussian_process import BayesianCoTrainingClassifier

LINEAR = [ConstantKernel(0.8) * DotProduct(0, "fixed"), ConstantKernel(1.3) * DotProduct(0, "fixed")]


def problem(n=24, n_labels=8, seed=0, widths=(1, 2), n_classes=2):
    """Views (some missing), partly known classes as floats, and the complete tables."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    tables = [rng.standard_normal((n, width)) + 1.2 * codes[:, None] for width in widths]
    presence = rng.uniform(size=(n, len(widths))) < 0.65
    presence[np.arange(n), rng.integers(0, len(widths), n)] = True
    names = [f"v{j}" for j in range(len(widths))]
    y = np.where(np.arange(n) < n_labels, codes, np.nan)
    return Views(tables, names=names, presence=presence), y, tables


def fixed(latent="consensus", **changes):
    """A model with given linear kernels."""
    parameters = {"kernel": LINEAR, "view_variances": [0.4, 0.7], "hyperparameters": "fixed", "latent": latent}
    return BayesianCoTrainingClassifier(**(parameters | changes))
