"""
When two views help each other, and when they cannot
====================================================

Three toy problems with two views of one feature each, and what co-training makes of them: the pictures (a) to (i) of
figure 4 in Yu, Krishnapuram, Rosales and Rao, "Bayesian co-training", Journal of Machine Learning Research 12, 2011.

* Top: both views tell the classes apart. A few labels are enough for either kind of co-training.
* Middle: the second view is noise. Canonical co-training lets it spread wrong labels; Bayesian co-training finds out
  how far each view is to be trusted.
* Bottom: only both features together tell the classes apart (exclusive or). A model that asks the views to agree
  cannot solve it; a Gaussian process on both features can. Then concatenate the views.
"""

# %%
# The three problems
# ------------------
# 200 samples each; labels for 2, 10 and 10 of each class.

import itertools
import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from coview import Views
from coview.datasets import make_two_gaussian_views, make_xor_views
from coview.gaussian_process import BayesianCoTrainingClassifier


def hide_labels(y, n_per_class, seed):
    """Keep the labels of ``n_per_class`` samples of each class, NaN for the others."""
    rng = np.random.default_rng(seed)
    kept = np.concatenate([rng.choice(np.flatnonzero(y == value), n_per_class, replace=False) for value in (0, 1)])
    return np.where(np.isin(np.arange(len(y)), kept), y, np.nan)


problems = {}
for letter, n_per_class, (views, y) in [
    ("a", 2, make_two_gaussian_views(200, useful_views=2, random_state=1)),
    ("d", 10, make_two_gaussian_views(200, useful_views=1, random_state=1)),
    ("g", 10, make_xor_views(200, random_state=1)),
]:
    problems[letter] = views, y, hide_labels(y, n_per_class, seed=1)

# %%
# Canonical co-training
# ---------------------
# Each round, either view hands the samples it is surest about, one of each class, to the other view as labeled, until
# none is left. The two views then multiply their odds.


def canonical_co_training(views, y):
    """The probability of class 1 as a function of new views."""
    labels = {name: y.copy() for name in views}

    def classifier(name):
        known = np.isfinite(labels[name])
        machine = GaussianProcessClassifier(RBF(np.sqrt(0.5)), optimizer=None)
        return machine.fit(views[name][known], labels[name][known])

    first, second = views
    while any(np.isnan(known).any() for known in labels.values()):
        surest = []
        for giver, receiver in ((first, second), (second, first)):
            left = np.flatnonzero(np.isnan(labels[receiver]))
            if left.size:
                p = classifier(giver).predict_proba(views[giver][left])[:, 1]
                surest += [(receiver, left[p.argmax()], 1.0), (receiver, left[p.argmin()], 0.0)]
        for receiver, sample, label in surest:
            labels[receiver][sample] = label
    machines = {name: classifier(name) for name in views}

    def predict(new):
        p = [machines[name].predict_proba(new[name])[:, 1] for name in views]
        odds = np.prod([pj / (1 - pj) for pj in p], axis=0)
        return odds / (1 + odds)

    return predict


# %%
# Bayesian co-training
# --------------------
# The model of the paper: labels belong to the function on which the views agree. How far each view may deviate from
# it is not known, so predictions are averaged over a grid of view variances, weighted by the evidence. Figure (h) is a
# plain Gaussian process: both features in one view.

RBF_OF_VIEW = ConstantKernel(1.0, "fixed") * RBF(np.sqrt(0.5), "fixed")
GRID = [{"view_variances": list(pair)} for pair in itertools.product(np.logspace(-3, 3, 7), repeat=2)]


def bayesian_co_training(views, y):
    """The probability of class 1 as a function of new views."""
    model = BayesianCoTrainingClassifier(
        kernel=RBF_OF_VIEW,
        latent="consensus",
        hyperparameters="average",
        weighting="evidence",
        settings=GRID,
        temperature=[1.0],
        bias_variance=0.0,
    ).fit(views, y)
    return lambda new: model.predict_proba(new)[:, 1]


def one_gaussian_process(views, y):
    """The same on both features as one view."""
    model = BayesianCoTrainingClassifier(
        kernel=ConstantKernel(1.0) * RBF(1.0), latent="mean", hyperparameters="fixed", view_variances=1.0
    ).fit(side_by_side(views), y)
    return lambda new: model.predict_proba(side_by_side(new))[:, 1]


def side_by_side(views):
    """Both features as one view."""
    return Views([np.hstack([views[name] for name in views])])


panels = {
    "b": ("a", "canonical co-training", canonical_co_training),
    "c": ("a", "Bayesian co-training", bayesian_co_training),
    "e": ("d", "canonical co-training", canonical_co_training),
    "f": ("d", "Bayesian co-training", bayesian_co_training),
    "h": ("g", "Gaussian process on both features", one_gaussian_process),
    "i": ("g", "Bayesian co-training", bayesian_co_training),
}

# %%
# The pictures
# ------------
# Color is the probability of class 1, the black line where it is one half; squares and triangles are the labeled
# samples, dots the unlabeled ones. The number is the accuracy on the unlabeled samples.

axis = np.linspace(-5.5, 5.5, 56)
mesh = np.meshgrid(axis, axis)
plane = Views([mesh[0].reshape(-1, 1), mesh[1].reshape(-1, 1)], names=["x1", "x2"])


def draw_samples(ax, views, y):
    """Labeled and unlabeled samples."""
    x1, x2 = views["x1"].ravel(), views["x2"].ravel()
    unlabeled = np.isnan(y)
    ax.scatter(x1[unlabeled], x2[unlabeled], s=5, color="0.15", alpha=0.55, linewidths=0)
    for value, marker, color in ((1, "s", "#b2182b"), (0, "^", "#2166ac")):
        ax.scatter(x1[y == value], x2[y == value], s=70, marker=marker, color=color, edgecolor="white", zorder=3)


def draw_surface(ax, views, y, truth, predict):
    """Probability over the plane; the accuracy on unlabeled samples."""
    surface = predict(plane).reshape(mesh[0].shape)
    shading = ax.contourf(*mesh, surface, levels=np.linspace(0, 1, 21), cmap="RdBu_r")
    if surface.min() < 0.5 < surface.max():
        ax.contour(*mesh, surface, levels=[0.5], colors="black", linewidths=1.2)
    draw_samples(ax, views, y)
    unlabeled = np.isnan(y)
    return ((predict(views) > 0.5) == truth)[unlabeled].mean(), shading


figure, axes = plt.subplots(3, 3, figsize=(10, 10.4), sharex=True, sharey=True, layout="constrained")
for letter, ax in zip("abcdefghi", axes.flat, strict=True):
    if letter in problems:
        views, truth, y = problems[letter]
        draw_samples(ax, views, y)
        title = {"a": "both views useful", "d": "second view useless", "g": "exclusive or"}[letter]
    else:
        of, name, method = panels[letter]
        views, truth, y = problems[of]
        accuracy, shading = draw_surface(ax, views, y, truth, method(views, y))
        title = f"{name}: {accuracy:.2f}"
        print(f"({letter}) {name}: accuracy {accuracy:.3f} on the unlabeled samples")
    ax.set_title(f"({letter}) {title}", fontsize=10)
    ax.set(xlim=(-5.5, 5.5), ylim=(-5.5, 5.5), aspect="equal")
for ax in axes[-1]:
    ax.set_xlabel("view 1")
for ax in axes[:, 0]:
    ax.set_ylabel("view 2")
figure.colorbar(shading, ax=axes, shrink=0.5, label="probability of class 1", ticks=np.linspace(0, 1, 5))

# %%
# Run as a script, the picture is shown, or written to the file given as the only argument.

if len(sys.argv) == 2 and sys.argv[1].endswith((".png", ".svg", ".pdf")):
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
