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
# 200 samples each; labels for 2 and 10 of each class, and for 5 of each cluster of the third.

import itertools
import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import BoundaryNorm
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from coview import Views
from coview.datasets import make_two_gaussian_views, make_xor_views
from coview.gaussian_process import BayesianCoTrainingClassifier


def hide_labels(y, groups, n_labeled, seed):
    """Keep the labels of ``n_labeled`` samples of each group, NaN for the others."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(np.flatnonzero(groups == value), n_labeled, replace=False) for value in np.unique(groups)]
    return np.where(np.isin(np.arange(len(y)), drawn), y, np.nan)


views_a, y_a = make_two_gaussian_views(200, useful_views=2, random_state=1)
views_d, y_d = make_two_gaussian_views(200, useful_views=1, random_state=1)
views_g, y_g = make_xor_views(200, random_state=1)
problems = {
    "a": (views_a, y_a, hide_labels(y_a, y_a, 2, seed=1)),
    "d": (views_d, y_d, hide_labels(y_d, y_d, 10, seed=1)),
    "g": (views_g, y_g, hide_labels(y_g, 2 * y_g + (views_g["x1"].ravel() > 0), 5, seed=1)),
}

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
GRID = [{"view_variances": list(pair)} for pair in itertools.product(np.logspace(-3, 3, 5), repeat=2)]


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
    "h": ("g", "one Gaussian process", one_gaussian_process),
    "i": ("g", "Bayesian co-training", bayesian_co_training),
}

# %%
# The pictures
# ------------
# Color is the probability of class 1, in finer steps around one half, where the black line runs; squares and triangles
# are the labeled samples, dots the unlabeled ones. The number is the share of unlabeled samples that are right.
#
# Two things to read off: in (c) the Bayesian model is right but not sure. Labels belong to a function that each view
# only knows up to noise, so its probabilities stay near one half; ``latent="mean"``, the default of the estimator, is
# the remedy. And in (f) the surface does not depend on the second view any more.

LEVELS = [0.0, 0.05, 0.2, 0.35, 0.45, 0.48, 0.5, 0.52, 0.55, 0.65, 0.8, 0.95, 1.0]
axis = np.linspace(-5.5, 5.5, 41)
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
    norm = BoundaryNorm(LEVELS, plt.get_cmap("RdBu_r").N)
    shading = ax.contourf(*mesh, surface, levels=LEVELS, cmap="RdBu_r", norm=norm)
    if surface.min() < 0.5 < surface.max():
        ax.contour(*mesh, surface, levels=[0.5], colors="black", linewidths=1.2)
    draw_samples(ax, views, y)
    unlabeled = np.isnan(y)
    return ((predict(views) > 0.5) == truth)[unlabeled].mean(), shading


figure, axes = plt.subplots(3, 3, figsize=(10.5, 9.8), sharex=True, sharey=True, layout="constrained")
for letter, ax in zip("abcdefghi", axes.flat, strict=True):
    if letter in problems:
        views, truth, y = problems[letter]
        draw_samples(ax, views, y)
        title = {"a": "both views useful", "d": "second view useless", "g": "exclusive or"}[letter]
    else:
        of, name, method = panels[letter]
        views, truth, y = problems[of]
        accuracy, shading = draw_surface(ax, views, y, truth, method(views, y))
        title = f"{name}, {accuracy:.1%}"
        print(f"({letter}) {name}: accuracy {accuracy:.3f} on the unlabeled samples")
    ax.set_title(f"({letter}) {title}", fontsize=10)
    ax.set(xlim=(-5.5, 5.5), ylim=(-5.5, 5.5), aspect="equal")
for ax in axes[-1]:
    ax.set_xlabel("view 1")
for ax in axes[:, 0]:
    ax.set_ylabel("view 2")
figure.colorbar(shading, ax=axes, shrink=0.6, label="probability of class 1", ticks=LEVELS[::2])

# %%
# Run as a script, the picture is shown, or written to the file given as the only argument.

if len(sys.argv) == 2 and sys.argv[1].endswith((".png", ".svg", ".pdf")):
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
