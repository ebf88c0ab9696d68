"""The toy problems of figure 4 of "Bayesian Co-Training" over 20 seeds, beside reference figures.

Accuracy and area under the ROC curve on the unlabeled samples. Gaussians of unit variance, one feature per view,
RBF kernels of width 1/sqrt(2) per view and 1 on the concatenation, amplitude 1, Laplace approximation. The paper
gives no sample sizes; here 200 samples (first table) or 100 (second), 2, 5 or 10 labels per cluster.

Run ``python experiments/bayesian_co_training/toys.py [--seeds 20] [--json toys.json]``
(about five minutes on one core).
The reference figures come from an independent implementation with its own random draws. Verdict: our mean lies within
three standard errors of the reference mean. The standard error is the reference's deviation over 20 seeds divided by
the square root of 20; where the reference states none, that of the difference of two such means, from our deviation.
The exit code counts the rows outside.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import roc_auc_score

from coview import Views
from coview.datasets import make_two_gaussian_views, make_xor_views
from coview.gaussian_process import BayesianCoTrainingClassifier

GRID = np.logspace(-3, 3, 7)

# (toy, labels per cluster, n): method -> accuracy, its deviation over 20 seeds (None: not stated), AUC
REFERENCE = {
    ("a", 2, 200): {
        "GP view 1": (0.961, 0.029, 0.981),
        "GP view 2": (0.944, 0.034, 0.969),
        "GP concatenated": (0.989, 0.015, 0.998),
        "canonical co-training": (0.997, 0.003, 1.000),
        "fixed 0.1": (0.992, 0.007, 1.000),
        "fixed 1": (0.994, 0.005, 1.000),
        "maximized evidence": (0.949, 0.037, 0.978),
    },
    ("d", 2, 200): {
        "GP view 1": (0.961, 0.029, 0.981),
        "GP view 2": (0.50, None, 0.50),
        "GP concatenated": (0.957, 0.029, 0.976),
        "canonical co-training": (0.552, 0.115, 0.576),
        "fixed 0.1": (0.657, 0.051, 0.759),
        "fixed 1": (0.695, 0.062, 0.813),
        "maximized evidence": (0.898, 0.138, 0.951),
    },
    ("d", 5, 200): {
        "GP view 1": (0.965, 0.021, 0.991),
        "GP view 2": (0.50, None, 0.49),
        "GP concatenated": (0.952, 0.023, 0.983),
        "canonical co-training": (0.614, 0.131, 0.667),
        "fixed 0.1": (0.694, 0.072, 0.817),
        "fixed 1": (0.762, 0.052, 0.873),
        "maximized evidence": (0.965, 0.021, 0.991),
    },
    ("d", 10, 200): {
        "GP view 1": (0.975, 0.014, 0.994),
        "GP view 2": (0.51, None, 0.51),
        "GP concatenated": (0.971, 0.015, 0.992),
        "canonical co-training": (0.698, 0.149, 0.792),
        "fixed 0.1": (0.759, 0.087, 0.910),
        "fixed 1": (0.844, 0.087, 0.949),
        "maximized evidence": (0.975, 0.014, 0.993),
    },
    ("g", 5, 200): {
        "GP view 1": (0.51, None, 0.51),
        "GP view 2": (0.49, None, 0.50),
        "GP concatenated": (0.926, 0.023, 0.970),
        "canonical co-training": (0.50, None, 0.50),
        "fixed 0.1": (0.50, None, 0.51),
        "fixed 1": (0.49, None, 0.51),
        "maximized evidence": (0.51, None, 0.51),
    },
} | {
    (toy, n_labels, 100): {
        "maximized evidence": (*maximum[:1], None, maximum[1]),
        "evidence-weighted average": (*average[:1], None, average[1]),
        "fixed 0.1": (*fixed[:1], None, fixed[1]),
    }
    for (toy, n_labels), maximum, average, fixed in [
        (("a", 2), (0.949, 0.973), (0.984, 0.997), (0.993, 1.000)),
        (("d", 2), (0.870, 0.909), (0.840, 0.923), (0.672, 0.764)),
        (("a", 5), (0.967, 0.991), (0.993, 0.999), (0.994, 1.000)),
        (("d", 5), (0.973, 0.993), (0.966, 0.991), (0.759, 0.857)),
        (("a", 10), (0.977, 0.993), (0.989, 0.999), (0.996, 1.000)),
        (("d", 10), (0.980, 0.996), (0.979, 0.996), (0.819, 0.930)),
    ]
}


def draw(toy: str, n_labels: int, n: int, seed: int) -> tuple[Views, np.ndarray, np.ndarray]:
    """Views of one feature each, classes 0 and 1, and the mask of labeled samples (``n_labels`` per cluster)."""
    if toy == "g":
        views, y = make_xor_views(n, random_state=seed)
        cluster = 2 * y + (views["x1"].ravel() > 0)  # the sides of a class are its clusters, but for one sample in 44
    else:
        views, y = make_two_gaussian_views(n, useful_views=2 if toy == "a" else 1, random_state=seed)
        cluster = y
    rng = np.random.default_rng(seed)
    labeled = np.zeros(n, dtype=bool)
    for value in np.unique(cluster):
        labeled[rng.choice(np.flatnonzero(cluster == value), n_labels, replace=False)] = True
    return views, y, labeled


def rbf(width: float) -> ConstantKernel:
    """RBF kernel of amplitude 1 whose width is not learned."""
    return ConstantKernel(1.0, "fixed") * RBF(width, "fixed")


def gaussian_process(names: list[str], width: float) -> Callable[..., np.ndarray]:
    """Plain Gaussian process classification: the named features as one view, labels on its function."""

    def predict(views: Views, y: np.ndarray) -> np.ndarray:
        X = np.hstack([views[name] for name in names])
        model = BayesianCoTrainingClassifier(
            kernel=rbf(width), latent="mean", hyperparameters="fixed", view_variances=1
        )
        return np.asarray(model.fit(Views([X]), y).label_distributions_[:, 1])

    return predict


def co_training(**parameters: object) -> Callable[..., np.ndarray]:
    """Bayesian co-training on the consensus function, one view per feature."""

    def predict(views: Views, y: np.ndarray) -> np.ndarray:
        model = BayesianCoTrainingClassifier(kernel=rbf(np.sqrt(0.5)), latent="consensus", **parameters)
        with warnings.catch_warnings():  # a view switched off is what this experiment shows
            warnings.filterwarnings("ignore", message="The evidence switched off", category=UserWarning)
            return np.asarray(model.fit(views, y).label_distributions_[:, 1])

    return predict


def canonical_co_training(views: Views, y: np.ndarray) -> np.ndarray:
    """Each round every view hands its surest positive and negative sample to the other view, until none is left."""
    X = [views[name] for name in views]
    labels = [y.copy(), y.copy()]

    def classifier(j: int) -> GaussianProcessClassifier:
        known = np.isfinite(labels[j])
        model = GaussianProcessClassifier(RBF(np.sqrt(0.5)), optimizer=None)
        return model.fit(X[j][known], labels[j][known])

    while any(np.isnan(known).any() for known in labels):
        surest = []
        for j in (0, 1):
            left = np.flatnonzero(np.isnan(labels[1 - j]))
            if left.size:
                p = classifier(j).predict_proba(X[j][left])[:, 1]
                surest += [(1 - j, left[p.argmax()], 1.0), (1 - j, left[p.argmin()], 0.0)]
        for receiver, sample, sign in surest:
            labels[receiver][sample] = sign
    p = [classifier(j).predict_proba(X[j])[:, 1] for j in (0, 1)]
    odds = np.prod([pj / (1 - pj) for pj in p], axis=0)
    return odds / (1 + odds)


METHODS: dict[str, Callable[..., np.ndarray]] = {
    "GP view 1": gaussian_process(["x1"], np.sqrt(0.5)),
    "GP view 2": gaussian_process(["x2"], np.sqrt(0.5)),
    "GP concatenated": gaussian_process(["x1", "x2"], 1.0),
    "canonical co-training": canonical_co_training,
    "fixed 0.1": co_training(hyperparameters="fixed", view_variances=0.1),
    "fixed 1": co_training(hyperparameters="fixed", view_variances=1.0),
    "maximized evidence": co_training(hyperparameters="maximize"),
    "evidence-weighted average": co_training(
        hyperparameters="average",
        weighting="evidence",
        settings=[{"view_variances": list(pair)} for pair in itertools.product(GRID, repeat=2)],
        temperature=[1.0],
        bias_variance=0,
    ),
}


def evaluate(method: str, toy: str, n_labels: int, n: int, seeds: int) -> dict[str, float]:
    """Mean and deviation of accuracy and AUC on the unlabeled samples."""
    scores = []
    for seed in range(seeds):
        views, y, labeled = draw(toy, n_labels, n, seed)
        p = METHODS[method](views, np.where(labeled, y, np.nan))[~labeled]
        scores.append((((p > 0.5) == (y[~labeled] == 1)).mean(), roc_auc_score(y[~labeled], p)))
    accuracy, auc = np.array(scores).T
    return {"accuracy": accuracy.mean(), "sd": accuracy.std(ddof=1), "auc": auc.mean(), "auc_sd": auc.std(ddof=1)}


def main() -> int:
    """Print the table, optionally store it; the number of rows outside three standard errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows, outside = [], 0
    print(f"{'problem':<22}{'method':<27}{'ours':>16}{'reference':>16}{'standard errors':>17}  verdict")
    for (toy, n_labels, n), methods in REFERENCE.items():
        for method, (accuracy, sd, auc) in methods.items():
            ours = evaluate(method, toy, n_labels, n, arguments.seeds)
            error = np.sqrt(2) * ours["sd"] / np.sqrt(arguments.seeds) if sd is None else sd / np.sqrt(20)
            distance = (ours["accuracy"] - accuracy) / error
            verdict = "ok" if abs(distance) <= 3 else "OUTSIDE"
            outside += verdict != "ok"
            row = {"toy": toy, "labels_per_cluster": n_labels, "n": n, "method": method, **ours}
            rows.append(row | {"reference": accuracy, "reference_auc": auc, "distance": distance, "verdict": verdict})
            figures = f"{ours['accuracy']:>8.3f} ({ours['auc']:.3f}){accuracy:>8.3f} ({auc:.3f}){distance:>+17.1f}"
            print(f"{f'{toy}, {n_labels} labels, n = {n}':<22}{method:<27}{figures}  {verdict}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows) - outside} of {len(rows)} within three standard errors")
    return outside


if __name__ == "__main__":
    sys.exit(main())
