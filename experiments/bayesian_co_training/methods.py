"""The rows of tables 1 and 2: what every method answers for every label draw."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.model_selection import baseline_estimators

from .canonical import co_train
from .covariances import DEFAULT_SHARE, SCALINGS, ViewGrams, variance_grid
from .label_fits import LabelFit, fit_labels
from .problems import BAYESIAN, CO_TRAINED, CONCATENATED, READINGS, ZERO_VECTOR, Problem

__all__ = ["PARTS", "RANKS", "Answer", "Draw"]

RANKS = (20, 50, 100)
_LEVELS = (0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Draw:
    """Labeled samples of one repetition.

    Attributes
    ----------
    size : (int, int)
        Positive and negative labels.
    repeat : int
    rows : ndarray of int
    """

    size: tuple[int, int]
    repeat: int
    rows: NDArray[np.intp]


@dataclass(frozen=True)
class Answer:
    """Scores of all samples by one method after one draw; positive is what reaches the threshold.

    Attributes
    ----------
    method, reading : str
    against : str
        The row of the paper's table that it is held against.
    draw : Draw
    score : ndarray of shape (n_samples,)
    threshold : float
    """

    method: str
    reading: str
    against: str
    draw: Draw
    score: NDArray[np.float64]
    threshold: float = 0.0


def single_views(problem: Problem, draws: Sequence[Draw]) -> Iterator[Answer]:
    """Gaussian process classification on each view, and on all features side by side.

    A row of zeros and a missing view give the same: 0 for that sample, nothing for the others.
    """
    grams = ViewGrams.of(problem.views[ZERO_VECTOR], "counts").grams
    kernels = dict(zip(problem.view_names.values(), grams, strict=True))
    kernels[CONCATENATED] = np.sum(grams, axis=0)
    for method, kernel in kernels.items():
        for draw in draws:
            yield Answer(method, "either", method, draw, _fitted(kernel, draw, problem).mean)


def canonical(problem: Problem, draws: Sequence[Draw]) -> Iterator[Answer]:
    """Canonical co-training; the two readings of an empty row give the same here too."""
    grams = ViewGrams.of(problem.views[ZERO_VECTOR], "counts").grams
    for draw in draws:
        latent = co_train(grams, draw.rows, problem.positive[draw.rows], random_state=draw.repeat)
        yield Answer("canonical co-training", "either", CO_TRAINED, draw, latent)


def printed(problem: Problem, draws: Sequence[Draw], reading: str) -> Iterator[Answer]:
    """The printed model with exact linear kernels: view variances fixed, of the largest evidence, averaged.

    Also those of the grid that rank the unlabeled samples best on the mean over the draws: what no choice could exceed.
    """
    grams = ViewGrams.of(problem.views[reading], "counts")
    points = variance_grid(grams.presence.shape[1])
    fixed = points.index((DEFAULT_SHARE,) * grams.presence.shape[1])
    fits: list[list[LabelFit]] = [[] for _ in draws]
    for point in points:
        kernel = grams.co_training_kernel(point)
        for known, draw in zip(fits, draws, strict=True):
            known.append(_fitted(kernel, draw, problem))
    for known, draw in zip(fits, draws, strict=True):
        evidences = np.array([fit.evidence for fit in known])
        average = softmax(evidences) @ np.array([fit.probability for fit in known])
        yield Answer("BCT as printed, fixed", reading, BAYESIAN, draw, known[fixed].mean)
        yield Answer("BCT as printed, maximized", reading, BAYESIAN, draw, known[int(evidences.argmax())].mean)
        yield Answer("BCT as printed, averaged", reading, BAYESIAN, draw, average, 0.5)
    for size in problem.sizes:
        of_size = [(known, draw) for known, draw in zip(fits, draws, strict=True) if draw.size == size]
        areas = [[_hidden_area(fit.mean, draw, problem) for fit in known] for known, draw in of_size]
        best = int(np.mean(areas, axis=0).argmax())
        for known, draw in of_size:
            yield Answer("BCT as printed, best AUC of the grid", reading, BAYESIAN, draw, known[best].mean)


def levels(problem: Problem, draws: Sequence[Draw], reading: str) -> Iterator[Answer]:
    """The printed model with exact kernels at common view variances, for counts and for rows of unit length."""
    for scaling in SCALINGS:
        grams = ViewGrams.of(problem.views[reading], scaling)
        for level in _LEVELS:
            kernel = grams.co_training_kernel((level,) * grams.presence.shape[1])
            for draw in draws:
                name = f"BCT, {scaling}, variances {level:g}"
                yield Answer(name, reading, BAYESIAN, draw, _fitted(kernel, draw, problem).mean)


def ranks(problem: Problem, draws: Sequence[Draw], reading: str) -> Iterator[Answer]:
    """The printed model on the leading directions of each view's linear kernel, for counts and for rows of unit length."""
    for scaling in SCALINGS:
        views = problem.views[reading] if scaling == "counts" else problem.unit_rows(reading)
        for rank in RANKS:
            model = BayesianCoTrainingClassifier(
                "linear", latent="consensus", hyperparameters="fixed", approximation="low_rank", n_components=rank
            )
            name = f"BCT, {scaling}, rank {rank}"
            yield from _estimated(model, views, name, problem, draws, reading)


def cut_and_learned(problem: Problem, draws: Sequence[Draw], reading: str) -> Iterator[Answer]:
    """The printed model of rank 50 on rows of unit length: amplitudes and view variances of the largest evidence, averaged."""
    views = problem.unit_rows(reading)
    shared = {"kernel": "linear", "latent": "consensus", "approximation": "low_rank", "n_components": 50}
    models = {
        "maximized": BayesianCoTrainingClassifier(hyperparameters="maximize", **shared),
        "averaged": BayesianCoTrainingClassifier(weighting="evidence", **shared),
    }
    with warnings.catch_warnings():  # with a handful of labels that is common, and the table shows what it is worth
        warnings.filterwarnings("ignore", message="The evidence switched off", category=UserWarning)
        for name, model in models.items():
            yield from _estimated(model, views, f"BCT, unit rows, rank 50, {name}", problem, draws, reading)


def mean_consensus(problem: Problem, draws: Sequence[Draw], reading: str) -> Iterator[Answer]:
    """The default estimator: labels on the mean that the views imply."""
    model = BayesianCoTrainingClassifier()
    yield from _estimated(model, problem.views[reading], "mean consensus, the default", problem, draws, reading)


def support_vectors(problem: Problem, draws: Sequence[Draw], reading: str) -> Iterator[Answer]:
    """Support vector machines on both covariances at fixed view variances, scaled to a mean diagonal of 1."""
    grams = ViewGrams.of(problem.views[reading], "counts")
    point = (DEFAULT_SHARE,) * grams.presence.shape[1]
    for name, make in (("K_c", grams.co_training_kernel), ("K_s", grams.mean_consensus_kernel)):
        kernel = make(point)
        kernel /= np.diagonal(kernel).mean()
        for draw in draws:
            machine = SVC(kernel="precomputed").fit(kernel[np.ix_(draw.rows, draw.rows)], problem.positive[draw.rows])
            yield Answer(f"SVC on {name}", reading, BAYESIAN, draw, machine.decision_function(kernel[:, draw.rows]))


def rival(problem: Problem, draws: Sequence[Draw]) -> Iterator[Answer]:
    """Twenty singular vectors of all features side by side, then logistic regression."""
    views = problem.views[ZERO_VECTOR]
    model = baseline_estimators(views)["20 singular vectors + LR"]
    yield from _estimated(model, views, "20 singular vectors + LR", problem, draws, "either")


def _hidden_area(score: NDArray[np.float64], draw: Draw, problem: Problem) -> float:
    """Area under the ROC curve of the unlabeled samples."""
    return float(roc_auc_score(np.delete(problem.positive, draw.rows), np.delete(score, draw.rows)))


def _fitted(kernel: NDArray[np.float64], draw: Draw, problem: Problem) -> LabelFit:
    return fit_labels(kernel[:, draw.rows], np.diagonal(kernel), draw.rows, problem.positive[draw.rows])


def _estimated(
    model: Any, views: Any, method: str, problem: Problem, draws: Sequence[Draw], reading: str
) -> Iterator[Answer]:
    """Probabilities of an estimator, its label-free part done once."""
    prepared = model.prepare(views)
    for draw in draws:
        labels = np.full(problem.positive.size, None, dtype=object)
        labels[draw.rows] = problem.positive[draw.rows].astype(int)
        probability = model.fit(prepared, labels).label_distributions_[:, 1]
        yield Answer(method, reading, BAYESIAN, draw, probability, 0.5)


# Name -> what to run, and the readings of empty rows it is run with (none: they make no difference).
PARTS: Mapping[str, tuple[Callable[..., Iterator[Answer]], tuple[str, ...]]] = {
    "single views": (single_views, ()),
    "canonical co-training": (canonical, ()),
    "printed model, grid of view variances": (printed, tuple(READINGS)),
    "printed model, four view variances": (levels, tuple(READINGS)),
    "printed model, cut ranks": (ranks, tuple(READINGS)),
    "printed model, cut rank, learned": (cut_and_learned, tuple(READINGS)),
    "default model": (mean_consensus, tuple(READINGS)),
    "support vector machines": (support_vectors, tuple(READINGS)),
    "singular vectors": (rival, ()),
}
