"""
Two moons, two lines, two labels
================================

One label per class is too few to bend a boundary around a moon, or to tilt it along a line. What helps is a second view of
the same samples: both functions pay for every sample, labeled or not, on which they differ. After Sindhwani, Niyogi and
Belkin, "A co-regularization approach to semi-supervised learning with multiple views", 2005, figure 2, on moons and lines of our
own.
"""

# %%
# The samples
# -----------
# In the first view a class is a moon, in the second a line. The two labels lie at opposite ends of the lines.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process.kernels import RBF

from coview.semi_supervised import CoRegularizedLeastSquaresClassifier, CoRegularizedSVC

rng = np.random.default_rng(3)
N, TILT = 50, np.pi / 6
truth = np.repeat([1, 0], N)
angle, where = rng.uniform(0, np.pi, 2 * N), rng.uniform(-3, 3, 2 * N)
moons = np.column_stack([np.cos(angle), np.sin(angle)])
moons[N:] = [1.0, 0.5] - moons[N:]
moons += rng.normal(scale=0.1, size=moons.shape) - [0.5, 0.25]
lines = np.outer(where, [np.cos(TILT), np.sin(TILT)])
lines += np.outer(truth - 0.5, [-np.sin(TILT), np.cos(TILT)]) + rng.normal(scale=0.1, size=lines.shape)
labeled = np.array([where[:N].argmax(), N + where[N:].argmin()])
y = np.full(2 * N, -1)
y[labeled] = truth[labeled]
views = {"moons": moons, "lines": lines}

# %%
# Apart, and together
# -------------------
# ``coupling=0`` learns each view from its two labels alone.

KERNELS = {"moons": RBF(0.5), "lines": "linear"}
models = {
    "two labels, views apart": CoRegularizedLeastSquaresClassifier(KERNELS, coupling=0.0),
    "least squares, views tied": CoRegularizedLeastSquaresClassifier(KERNELS, coupling=10.0),
    "hinge loss, views tied": CoRegularizedSVC(KERNELS, coupling=10.0),
}
unlabeled = y == -1
for name, model in models.items():
    model.fit(views, y)
    errors = [np.mean(model.predict(views, view=view)[unlabeled] != truth[unlabeled]) for view in views]
    print(f"{name:26s}  errors: moons {errors[0]:.2f}, lines {errors[1]:.2f}")

# %%
# The tie carries what a view knows to the other: along a line of one class the moons turn from its one end to the other, and
# the boundary between the lines has to lie along them, as otherwise it would cut the moons.


def draw(axis, model, view):
    """Sign of one view's function, and the samples by class."""
    X = views[view]
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    horizontal, vertical = np.meshgrid(np.linspace(low[0], high[0], 150), np.linspace(low[1], high[1], 150))
    new = np.column_stack([horizontal.ravel(), vertical.ravel()])
    values = model.decision_function({view: new}).reshape(horizontal.shape)
    axis.contourf(horizontal, vertical, values, levels=[-np.inf, 0, np.inf], colors=["#fde0c5", "#d6e6f4"])
    axis.contour(horizontal, vertical, values, levels=[0], colors="0.3", linewidths=1)
    for k, color in enumerate(("#d95f02", "#1f78b4")):
        axis.plot(*X[truth == k].T, ".", color=color, markersize=4)
        axis.plot(*X[labeled[y[labeled] == k]].T, "o", color=color, markersize=11, markeredgecolor="k")
    axis.set(xticks=[], yticks=[])


figure, axes = plt.subplots(2, 3, figsize=(9.0, 5.4), layout="constrained")
for column, (name, model) in zip(axes.T, models.items(), strict=True):
    column[0].set_title(name)
    for axis, view in zip(column, views, strict=True):
        draw(axis, model, view)
for axis, view in zip(axes[:, 0], views, strict=True):
    axis.set_ylabel(view)
plt.show()
