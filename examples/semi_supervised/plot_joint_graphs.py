"""
A view that shows the other where classes end
=============================================

Two moons in one view, two lines in the other, one label per class. Noise has merged the moons: there, neighbors say nothing.
The graph of the lines still tells the classes apart, and a classifier of the moons that is smooth along *both* graphs finds its
boundary. After Sindhwani, Niyogi and Belkin, "A co-regularization approach to semi-supervised learning with multiple views",
2005, figure 3, on drawn points.
"""

# %%
# Moons and lines
# ---------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process.kernels import RBF

from coview.semi_supervised import CoLaplacianSVC, LaplacianSVC

N_PER_CLASS = 50


def draw(seed, noise):
    """Points of both views, and their class."""
    rng = np.random.default_rng(seed)
    t, s = rng.uniform(0.0, np.pi, (2, N_PER_CLASS)), rng.uniform(-1.5, 1.5, (2, N_PER_CLASS))
    arcs = [np.column_stack([np.cos(t[0]), np.sin(t[0])]), np.column_stack([1.0 - np.cos(t[1]), 0.5 - np.sin(t[1])])]
    lines = [np.column_stack([s[0], s[0] / 2 + 0.6]), np.column_stack([s[1], s[1] / 2 - 0.6])]
    moons = np.vstack(arcs) - [0.5, 0.25]
    views = {
        "moons": moons + noise * rng.normal(size=moons.shape),
        "lines": np.vstack(lines) + 0.05 * rng.normal(size=moons.shape),
    }
    return views, np.repeat([1.0, -1.0], N_PER_CLASS)


views, classes = draw(7, noise=0.35)
y = np.full(2 * N_PER_CLASS, np.nan)
y[[0, N_PER_CLASS]] = classes[[0, N_PER_CLASS]]

# %%
# Each view on its own graph, and both on the joint one
# -----------------------------------------------------
# ``graph_weights`` says how far the neighbors of each view are trusted: edges that join the classes are inherited, so most of
# the weight goes to the lines.

options = {
    "kernel": {"moons": RBF(0.35), "lines": "linear"},
    "gamma_ambient": 1e-4,
    "gamma_intrinsic": 10.0,
    "graph": {"n_neighbors": 6},
}
models = {"own graph": LaplacianSVC(**options).fit(views, y)}
for alpha in (0.5, 0.9):
    weights = {"moons": 1.0 - alpha, "lines": alpha}
    models[f"joint graph, weight of the lines {alpha}"] = CoLaplacianSVC(graph_weights=weights, **options).fit(views, y)
unlabeled = np.isnan(y)
for name, model in models.items():
    errors = {view: float(np.mean(model.predict(views, view=view)[unlabeled] != classes[unlabeled])) for view in views}
    print(f"{name:40} errors {errors}")

# %%
# What each has learned
# ---------------------
# Regions of the two classes in the space of each view. New points need one view only.

figure, axes = plt.subplots(2, 3, figsize=(9.0, 5.4), layout="constrained")
for column, (name, model) in zip(axes.T, models.items(), strict=True):
    for axis, view in zip(column, views, strict=True):
        points = views[view]
        low, high = points.min(axis=0) - 0.3, points.max(axis=0) + 0.3
        across, up = np.meshgrid(np.linspace(low[0], high[0], 80), np.linspace(low[1], high[1], 80))
        grid = np.column_stack([across.ravel(), up.ravel()])
        labels = model.predict({view: grid}, view=view).reshape(across.shape)
        axis.contourf(across, up, labels, levels=[-2, 0, 2], colors=["#f0c9a8", "#b5d0e8"])
        for sign, color in ((1.0, "#1f5c99"), (-1.0, "#b3541e")):
            axis.scatter(*points[classes == sign].T, s=7, color=color)
            axis.scatter(*points[y == sign].T, s=80, color=color, marker="D", edgecolor="black")
        error = np.mean(model.predict(views, view=view)[unlabeled] != classes[unlabeled])
        axis.set_title(f"{name if axis is column[0] else ''}\n{view}: error {error:.2f}", fontsize=9)
        axis.set(xticks=[], yticks=[])
plt.show()

# %%
# One draw is one draw
# --------------------
# Errors in the noisy moons over 20 draws; the labels are one random point of either class.

for name in models:
    errors = []
    for seed in range(20):
        drawn, truth = draw(seed, noise=0.35)
        model = models[name].fit(drawn, y)
        errors.append(np.mean(model.predict(drawn, view="moons")[unlabeled] != truth[unlabeled]))
    print(f"{name:40} {np.mean(errors):.3f} +- {np.std(errors, ddof=1) / np.sqrt(20):.3f}")
