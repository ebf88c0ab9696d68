"""
Kernels of rows with gaps
=========================

Filling gaps by conditional means makes incomplete rows look alike. An expected kernel averages over what the gaps may hold
instead: here beside the kernel of the complete rows, which nobody would have, for more and more missing values.
"""

# %%
# Rows of a known mixture, with gaps
# ----------------------------------
# Ten problems of two components in five dimensions; any value may be missing. Each way of dealing with gaps gives a kernel
# matrix, compared with that of the complete rows by the relative distance of the two matrices.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from coview.impute import expected_rbf_kernel
from coview.mixture import IncompleteGaussianMixture

GAMMA = 0.25
SHARES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])


def make_problem(seed):
    """A mixture, and 60 complete rows from it."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(2, 5, 5))
    covariances = roots @ roots.transpose(0, 2, 1) / 5 + 0.1 * np.eye(5)
    mixture = IncompleteGaussianMixture.from_parameters([0.5, 0.5], 1.5 * rng.normal(size=(2, 5)), covariances)
    return mixture, mixture.set_params(random_state=seed).sample(60)[0], rng.random((60, 5))


def guesses(rows, mixture):
    """Kernel matrices of incomplete rows."""
    means = np.where(np.isnan(rows), np.nanmean(rows, axis=0), rows)
    return {
        "expected kernel": expected_rbf_kernel(rows, mixture=mixture, gamma=GAMMA),
        "filled by conditional means": rbf_kernel(mixture.impute(rows), gamma=GAMMA),
        "filled by means": rbf_kernel(means, gamma=GAMMA),
    }


errors = {}
for seed in range(10):
    mixture, complete, chances = make_problem(seed)
    truth = rbf_kernel(complete, gamma=GAMMA)
    for share in SHARES:
        for name, K in guesses(np.where(chances < share, np.nan, complete), mixture).items():
            error = np.linalg.norm(K - truth) / np.linalg.norm(truth)
            errors.setdefault(name, []).append(error)
errors = {name: np.reshape(values, (10, len(SHARES))) for name, values in errors.items()}

# %%
# Nearer to the truth
# -------------------
# Left: mean distance over the problems; the bars are standard errors. Right: one problem, half of the values missing. Points
# above the line are pairs of rows that look more alike than they are.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.0), layout="constrained")
for (name, values), marker in zip(errors.items(), "osv", strict=True):
    left.errorbar(100 * SHARES, values.mean(axis=0), values.std(axis=0) / np.sqrt(10), marker=marker, label=name)
    print(f"{name}: {values.mean(axis=0).round(2)}")
left.set(xlabel="values missing (%)", ylabel="distance to the complete kernel", ylim=(0, None))
left.legend(frameon=False)

mixture, complete, chances = make_problem(0)
truth, pairs = rbf_kernel(complete, gamma=GAMMA), np.triu_indices(60, 1)
matrices = guesses(np.where(chances < 0.5, np.nan, complete), mixture)
for name, color, marker in (("filled by conditional means", "C1", "s"), ("expected kernel", "C0", "o")):
    right.plot(truth[pairs], matrices[name][pairs], marker, color=color, ms=2.5, alpha=0.5, label=name)
right.plot([0, 1], [0, 1], color="0.6", ls="--")
right.set(xlabel="kernel of the complete rows", ylabel="kernel of rows with gaps")
plt.show()
