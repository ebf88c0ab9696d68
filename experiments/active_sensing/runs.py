"""One run of one study: every criterion from the same start, and what the same labels give without any choice."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import RBF

from coview import Views
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.mixture import ClassConditionalGaussianMixture, IncompleteGaussianMixture

from .acquiring import compare, one_by_one
from .problems import Problem, Trial

__all__ = ["BASELINES", "CRITERIA", "PAPERS", "RANDOM", "SCORES", "Setting", "baselines", "curves", "path_labels"]

RANDOM, VARIANCE, ENTROPY = "random", "VAR", "expected entropy"
INFORMATION, POINT, BOUND, BOUND_POINT = "MI", "MI, point mass", "MI, bound", "MI, bound, point mass"
PER_COST = "expected entropy per cost"
#: No criterion, but random choice among the samples that scores are taken of.
UNLABELED = "random, unlabeled only"
#: Orders that a random choice is averaged over in every run.
RANDOM_PATHS = 3
CRITERIA: Mapping[str, Mapping[str, Any]] = {
    RANDOM: {"criterion": "random"},
    VARIANCE: {"criterion": "variance"},
    INFORMATION: {"criterion": "mutual_information"},
    POINT: {"criterion": "mutual_information", "expectation": "point_mass"},
    BOUND: {"criterion": "mutual_information_bound"},
    BOUND_POINT: {"criterion": "mutual_information_bound", "expectation": "point_mass"},
    ENTROPY: {"criterion": "expected_entropy"},
    PER_COST: {"criterion": "expected_entropy", "by": "utility_per_cost"},
    UNLABELED: {"criterion": "random"},
}
FULL, FILLED, CONCATENATED = "full features", "mean imputation", "mean imputation, views concatenated"
COMPLETE = "complete cases"
BASELINES = (FULL, FILLED, CONCATENATED, COMPLETE)
#: Columns of scores; of both more is better.
SCORES = ("auc", "log_score")


@dataclass(frozen=True)
class Setting:
    """What may be chosen otherwise.

    Attributes
    ----------
    name : str
    latent : {"consensus", "mean"}
    amplitude : float
        Mean prior variance of each view's function.
    ratio : float
        Variance of each view about the consensus, per amplitude.
    labels : bool
        Whether the mixture of what hidden views may hold knows classes where the study has it so.
    """

    name: str
    latent: str = "consensus"
    amplitude: float = 1.0
    ratio: float = 0.1
    labels: bool = True

    def model(self, kernel: Any) -> BayesianCoTrainingClassifier:
        """The classifier, its parameters fixed."""
        return BayesianCoTrainingClassifier(
            kernel,
            latent=self.latent,
            hyperparameters="fixed",
            view_variances=self.ratio * self.amplitude,
            classes=[0, 1],
        )

    def blocks(self, trial: Trial) -> list[NDArray[np.float64]]:
        """Views scaled to the amplitude under a linear kernel."""
        return [np.sqrt(self.amplitude) * block for block in trial.blocks]


#: Consensus function, fixed parameters, a tenth of the mean prior variance for each view.
PAPERS = Setting("papers")


def curves(problem: Problem, trial: Trial, setting: Setting, criteria: Sequence[str], repeat: int) -> pd.DataFrame:
    """Scores after every acquisition: columns criterion, step, cost, auc, log_score, repeat.

    Random choice is the mean of `RANDOM_PATHS` orders, so that what it happened to choose is not taken for a gain.
    """
    parts = []
    for name in criteria:
        paths = [_path(problem, trial, setting, name, label, repeat) for label in path_labels(name)]
        means = pd.concat(paths).groupby("step", as_index=False)[["cost", *SCORES]].mean()
        parts.append(means.assign(criterion=name, repeat=repeat))
    return pd.concat(parts, ignore_index=True)


def path_labels(name: str) -> list[str]:
    """Names of the orders of acquisition that make the curve of a criterion; they seed its random numbers."""
    n_paths = RANDOM_PATHS if name in (RANDOM, UNLABELED) else 1
    return [name, *(f"{name}, {path}" for path in range(2, n_paths + 1))]


def _path(problem: Problem, trial: Trial, setting: Setting, name: str, label: str, repeat: int) -> pd.DataFrame:
    """One order of acquisition."""
    among = np.broadcast_to(~trial.labeled[:, None] | (name != UNLABELED), trial.hidden.shape)
    with warnings.catch_warnings():
        # mixtures of few samples may stop before they converge
        warnings.simplefilter("ignore", UserWarning)
        return one_by_one(
            setting.model(problem.kernel),
            setting.blocks(trial),
            problem.views,
            trial,
            CRITERIA[name],
            label=label,
            n_steps=problem.n_steps,
            density=_density(problem, setting),
            costs=problem.costs,
            among=among,
            repeat=repeat,
        )


def baselines(problem: Problem, trial: Trial, setting: Setting) -> dict[str, tuple[float, float]]:
    """AUC and mean log probability of the unlabeled samples' classes, NaN where complete cases are too few."""
    blocks, names, seen = setting.blocks(trial), list(problem.views), trial.seen
    filled = [np.where(has[:, None], block, block[has].mean(axis=0)) for block, has in zip(blocks, seen.T, strict=True)]
    # a tenth of the mean prior variance, as for each view
    kernel = RBF(0.5 * np.sqrt(2.0), "fixed") if isinstance(problem.kernel, RBF) else problem.kernel
    joined = np.concatenate(filled, axis=1) / (1.0 if isinstance(problem.kernel, RBF) else np.sqrt(len(names)))
    return {
        FULL: _scores(setting.model(problem.kernel), Views(blocks, names=names, presence=trial.presence), trial),
        FILLED: _scores(setting.model(problem.kernel), Views(filled, names=names), trial),
        CONCATENATED: _scores(setting.model(kernel), Views([joined], names=["all"]), trial),
        COMPLETE: _complete_cases(setting.model(problem.kernel), Views(blocks, names=names, presence=seen), trial),
    }


def _density(problem: Problem, setting: Setting) -> Any:
    """Gaussian mixture with views independent inside a component, components by BIC."""
    if problem.components == 1:
        return "auto"
    common: dict[str, Any] = {"covariance_type": "view", "max_components": 4, "n_init": 1, "random_state": 0}
    if problem.pooled or not setting.labels:
        return IncompleteGaussianMixture("auto", **common)
    return ClassConditionalGaussianMixture("auto", **common)


def _scores(model: BayesianCoTrainingClassifier, views: Views, trial: Trial) -> tuple[float, float]:
    """Of the unlabeled samples, which the model has seen without their labels."""
    labels = np.where(trial.labeled, trial.target, np.nan)
    return compare(trial, model.fit(views, labels).label_distributions_[~trial.labeled, 1])


def _complete_cases(model: BayesianCoTrainingClassifier, views: Views, trial: Trial) -> tuple[float, float]:
    """Learned from the samples that show all views alone; the others are predicted by what they show."""
    complete = views.presence.all(axis=1)
    if len(np.unique(trial.target[complete & trial.labeled])) < 2:
        return np.nan, np.nan
    labels = np.where(trial.labeled, trial.target, np.nan)
    model.fit(views[complete], labels[complete])
    return compare(trial, model.predict_proba(views[~trial.labeled])[:, 1])
