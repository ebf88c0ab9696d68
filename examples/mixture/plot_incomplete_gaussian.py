"""
Incomplete rows, and what they may hold
=======================================

Two measurements of 300 samples from three groups; a third of the samples lack one of them. The mixture is fitted to all rows,
complete or not, and then says for each incomplete row how its missing value is distributed.
"""

# %%
# Rows with holes
# ---------------
# Two views of one feature each. BIC chooses the number of components; nothing is filled in for the fit.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from coview.mixture import IncompleteGaussianMixture

rng = np.random.default_rng(3)
centers = np.array([[0.0, 0.0], [4.0, 4.5], [4.5, -2.5]])
spreads = np.array([[[1.0, 0.7], [0.7, 1.0]], [[0.6, -0.4], [-0.4, 0.8]], [[1.2, 0.5], [0.5, 0.5]]])
group = rng.integers(3, size=300)
truth = np.array([rng.multivariate_normal(centers[k], spreads[k]) for k in group])
X = truth.copy()
lacks = rng.permutation(300)[:100]
X[lacks, rng.integers(2, size=100)] = np.nan

mixture = IncompleteGaussianMixture("auto", random_state=0).fit({"first": X[:, :1], "second": X[:, 1:]})
print(f"{mixture.n_components_} components; BIC: { ({k: round(v) for k, v in mixture.bic_by_n_components_.items()}) }")

# %%
# The distribution of one missing value
# -------------------------------------
# Left: complete rows, components with the ellipses that hold 86 % of each, and three rows of which only the first
# measurement is known (lines). Right: what the second may be. At 4.5 two groups are possible, and the conditional mean
# (dot) lies where hardly any sample is: one number for the gap would say something false.

known = np.array([-0.5, 2.4, 4.5])
given = mixture.conditional({"first": known[:, None]})  # nobody has the second
colors = ["tab:blue", "tab:green", "tab:red"]
grid = np.linspace(-6.0, 8.0, 500)


def density(row):
    """Density of the one missing value on the grid."""
    variances = row.covariances[:, 0, 0]
    squares = (grid[:, None] - row.means[:, 0]) ** 2 / variances
    return (row.weights * np.exp(-squares / 2) / np.sqrt(2 * np.pi * variances)).sum(axis=1)


figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.4), width_ratios=(1.5, 1), sharey=True, layout="constrained")
complete = ~np.isnan(X).any(axis=1)
left.scatter(*X[complete].T, s=9, color="0.6")
for mean, covariance in zip(mixture.means_, mixture.covariances_, strict=True):
    lengths, axes = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    left.add_patch(Ellipse(mean, *(4 * np.sqrt(lengths[::-1])), angle=angle, fill=False, color="black", lw=1.2))
for value, row, mean, color in zip(known, given, given.mean()[:, 1], colors, strict=True):
    left.axvline(value, color=color, lw=1.2)
    left.plot(value, mean, "o", color=color)
    right.plot(density(row), grid, color=color, label=f"first = {value:g}")
    right.plot(0.0, mean, "o", color=color, clip_on=False)
left.set(xlabel="first measurement", ylabel="second measurement", title="rows and components")
right.set(xlabel="density", xlim=(0, None), title="the second, given the first")
right.legend(frameon=False)
plt.show()

# %%
# Means and draws
# ---------------
# Conditional means are the completion of least squared error; completions drawn from the conditional distribution look like
# the samples. Several of them (multiple imputation) carry the uncertainty on to whatever is computed next.

views = {"first": X[:, :1], "second": X[:, 1:]}
conditional, missing = mixture.conditional(views), np.isnan(X)
completions = {
    "feature means": np.where(missing, np.nanmean(X, axis=0), X),
    "conditional means": conditional.mean(),
    "one draw": conditional.sample(1, random_state=0)[0],
}
for words, completed in completions.items():
    error = np.sqrt(((completed - truth)[missing] ** 2).mean())
    print(f"{words}: root mean squared error {error:.2f}, spread of the second {completed[:, 1].std():.2f}")
print(f"spread of the second, no value missing: {truth[:, 1].std():.2f}")

figure, panels = plt.subplots(1, 3, figsize=(9.5, 3.4), sharex=True, sharey=True, layout="constrained")
for axis, (words, completed) in zip(panels, completions.items(), strict=True):
    axis.scatter(*X[complete].T, s=6, color="0.75")
    axis.scatter(*completed[~complete].T, s=12, color="tab:orange")
    axis.set(title=words, xlabel="first")
panels[0].set_ylabel("second")
plt.show()
