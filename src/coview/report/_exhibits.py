"""What the demonstration shows: the data, the fits on them, and the comparison on the same label draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from coview.acquisition import Costs
from coview.compose import TableEncoder
from coview.datasets import load_breast_tcga, load_heart_disease
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.metrics import probability_scores
from coview.model_selection import (
    Comparison,
    baseline_estimators,
    compare_methods,
    hide_labels,
    label_draws,
    paired_differences,
    summarize_scores,
)
from coview.report._stored import StoredTable, load_stored
from coview.views import Views

OURS = "coview"
PRINTED = "printed model"
N_JOBS = 2
METRICS = ("log_loss", "auc", "accuracy", "brier", "calibration_error", "confidence")


@dataclass(frozen=True)
class Job:
    """A data set with its label counts and the words for its samples.

    Attributes
    ----------
    name, title, plural : str
        Name of the data set, heading, word for its samples.
    views : Views
    target : Series
        All labels, in the order of ``views.index``.
    counts : tuple of int
        Numbers of labels that are tried; the first is shown in detail.
    groups : dict
        Parts of the samples that are scored apart.
    slow : tuple of str
        Baselines that run only in the full comparison.
    costs : Costs or None
        What measuring a view costs.
    """

    name: str
    title: str
    plural: str
    views: Views
    target: pd.Series
    counts: tuple[int, ...]
    groups: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    slow: tuple[str, ...] = ()
    costs: Costs | None = None

    @property
    def singular(self) -> str:
        """Word for one sample."""
        return self.plural.removesuffix("s")


@dataclass(frozen=True)
class Exhibit:
    """A job, the fit shown in detail, and the comparison.

    Attributes
    ----------
    job : Job
    labeled : ndarray
        Positions of the labeled samples of the fit that is shown.
    model : BayesianCoTrainingClassifier
        Fitted on them.
    predictions : DataFrame
        One row per unlabeled sample: probabilities, predicted and withheld class.
    comparison : Comparison
    summary, differences : DataFrame
        Means, and differences from coview, of the draws made now.
    stored : StoredTable or None
        The same for the 20 stored draws.
    """

    job: Job
    labeled: NDArray[np.int64]
    model: Any
    predictions: pd.DataFrame
    comparison: Comparison
    summary: pd.DataFrame
    differences: pd.DataFrame
    stored: StoredTable | None

    @property
    def classes(self) -> list[Any]:
        """Classes in the order of the probabilities."""
        return list(self.comparison.classes)

    @property
    def sources(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Summary and differences of the stored draws where there are any, else of the draws made now."""
        if self.stored is None:
            return self.summary, self.differences
        return self.stored.summary, self.stored.differences

    def mean(self, method: str, n_labeled: int, metric: str, *, group: str = "all", stored: bool = False) -> float:
        """Mean of one score over the draws."""
        table = self.sources[0] if stored else self.summary
        keys = {"method": method, "n_labeled": n_labeled, "metric": metric, "group": group}
        return float(_only(table, keys)["mean"])

    def best_baseline(self, n_labeled: int, *, stored: bool = False) -> str:
        """The other method with the lowest mean log loss, chosen in hindsight."""
        table = self.sources[0] if stored else self.summary
        part = table[(table["n_labeled"] == n_labeled) & (table["metric"] == "log_loss") & (table["group"] == "all")]
        part = part[~part["method"].isin([OURS, PRINTED])]
        return str(part.sort_values("mean", kind="stable")["method"].iloc[0])

    def difference(self, method: str, n_labeled: int, metric: str = "log_loss", *, group: str = "all") -> pd.Series:
        """Stored paired difference from coview where there is one, else that of the draws made now."""
        table = self.sources[1]
        return _only(table, {"method": method, "n_labeled": n_labeled, "metric": metric, "group": group})


def _only(table: pd.DataFrame, keys: Mapping[str, Any]) -> pd.Series:
    """The one row with these values."""
    rows = table
    for column, value in keys.items():
        rows = rows[rows[column] == value]
    if len(rows) != 1:
        raise KeyError(f"{len(rows)} rows match {dict(keys)}; expected one.")
    return rows.iloc[0]


def breast_job() -> Job:
    """220 breast tumors, three assays, protein missing for 70."""
    bunch = load_breast_tcga()
    has_protein = bunch.views.presence[:, bunch.views.names.index("protein")]
    return Job(
        name="breast_tcga",
        title="Breast tumors",
        plural="tumors",
        views=bunch.views,
        target=bunch.target.loc[bunch.views.index],
        counts=(11, 22, 66),
        groups={"with protein": has_protein, "without protein": ~has_protein},
        slow=(
            "iterative imputation + LR",
            "KNN imputation + tuned LR",
            "KNN imputation + 20 PCs + tuned LR",
            "histogram gradient boosting",
        ),
    )


def heart_job() -> Job:
    """920 heart patients, six views, whole views missing for most."""
    bunch = load_heart_disease()
    views = TableEncoder().fit_transform(bunch.frames)
    return Job(
        name="heart_disease",
        title="Heart patients",
        plural="patients",
        views=views,
        target=bunch.target.loc[views.index].map({0: "healthy", 1: "diseased"}),
        counts=(46, 92),
        slow=("histogram gradient boosting",),
        costs=Costs.of(bunch.costs),
    )


def methods_for(job: Job, *, full: bool) -> dict[str, Any]:
    """The default model, the printed one, and the baselines."""
    baselines = baseline_estimators(job.views)
    if not full:
        baselines = {name: method for name, method in baselines.items() if name not in job.slow}
    return {OURS: default_model(), PRINTED: printed_model(), **baselines}


def default_model() -> BayesianCoTrainingClassifier:
    """The classifier as a user gets it."""
    return BayesianCoTrainingClassifier(random_state=0)


def printed_model() -> BayesianCoTrainingClassifier:
    """The papers' model: labels on the consensus function, full-rank linear kernels, view variances 0.1."""
    setting = {"kernels": "linear", "center": False, "scale": True, "n_components": None, "view_variances": 0.1}
    return BayesianCoTrainingClassifier(
        latent="consensus", settings=[setting], temperature=1.0, bias_variance=0.0, select_views=False, random_state=0
    )


def make_exhibit(job: Job, *, repeats: int, seed: int, full: bool) -> Exhibit:
    """Fit the model shown in detail, then every method on every draw.

    Parameters
    ----------
    job : Job
    repeats : int
        Draws per number of labels.
    seed : int
        Seed of the draws.
    full : bool
        Whether the slow baselines run too.

    Returns
    -------
    exhibit : Exhibit
    """
    labels = job.target.to_numpy(dtype=object)
    draws = [d for n in job.counts for d in label_draws(labels, n, n_draws=repeats, random_state=seed)]
    model = clone(default_model()).fit(job.views, hide_labels(labels, draws[0]))
    comparison = compare_methods(
        methods_for(job, full=full), job.views, labels, draws,
        scorer=probability_scores, groups=job.groups, keep=("agreement_",), n_jobs=N_JOBS,
    )  # fmt: skip
    return Exhibit(
        job=job,
        labeled=draws[0],
        model=model,
        predictions=prediction_table(job, model, draws[0]),
        comparison=comparison,
        summary=summarize_scores(comparison.scores, metrics=METRICS),
        differences=paired_differences(comparison.scores, reference=OURS, metrics=METRICS),
        stored=None if full else load_stored(job.name),
    )


def prediction_table(job: Job, model: Any, labeled: NDArray[np.int64]) -> pd.DataFrame:
    """Predictions for the unlabeled samples, least sure last.

    Returns
    -------
    table : DataFrame
        Indexed by sample id: ``predicted``, ``probability`` (of the predicted class), one column per class,
        ``views`` (those the sample has), ``withheld`` (true class), ``right``.
    """
    hidden = np.setdiff1d(np.arange(job.views.n_samples), labeled)
    classes = [str(name) for name in model.classes_]
    table = pd.DataFrame(model.label_distributions_[hidden], index=job.views.index[hidden], columns=classes)
    names = np.array(job.views.names, dtype=object)
    table.insert(0, "predicted", table[classes].idxmax(axis=1))
    table.insert(1, "probability", table[classes].max(axis=1))
    table["views"] = [" ".join(names[row]) for row in job.views.presence[hidden]]
    table["withheld"] = job.target.to_numpy()[hidden].astype(str)
    table["right"] = table["predicted"] == table["withheld"]
    table.index.name = "sample"
    return table.sort_values("probability", ascending=False, kind="stable")
