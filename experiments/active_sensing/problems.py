"""The problems: who is positive, what each view holds, which views are hidden at the start and who has a label."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.datasets import fetch, load_breast_tcga, load_heart_disease

__all__ = ["TOYS", "Problem", "Trial", "load_problems"]

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Share of patients whose outcome is known.
LABELED = 0.3


@dataclass(frozen=True)
class Trial:
    """Samples of one run.

    Attributes
    ----------
    blocks : list of ndarray of shape (n_samples, n_features of the view)
        As the model reads them; rows of views that are truly missing are not read.
    presence : ndarray of shape (n_samples, n_views), dtype=bool
        What is truly known.
    target : ndarray of shape (n_samples,)
        0 or 1.
    hidden : ndarray of shape (n_samples, n_views), dtype=bool
        Known pairs that are hidden at the start.
    labeled : ndarray of shape (n_samples,), dtype=bool
    """

    blocks: list[Matrix]
    presence: Mask
    target: NDArray[np.intp]
    hidden: Mask
    labeled: Mask

    @property
    def seen(self) -> Mask:
        """Pairs that are seen at the start."""
        return self.presence & ~self.hidden


@dataclass(frozen=True)
class Problem:
    """One study.

    Attributes
    ----------
    name : str
    title : str
        With what stands for what.
    views : tuple of str
    draw : callable
        Random generator -> `Trial`.
    n_steps : int
        Pairs acquired one after the other.
    kernel : str or kernel
    components : int or "auto"
        Of the mixture that says what a hidden view may hold, in each class (pooled: in all).
    pooled : bool
        Whether that mixture ignores labels.
    runs : int
        Runs per repeat that was asked for.
    costs : mapping of str to float
        Of a view.
    """

    name: str
    title: str
    views: tuple[str, ...]
    draw: Callable[[np.random.Generator], Trial]
    n_steps: int
    kernel: Any = "linear"
    components: int | str = "auto"
    pooled: bool = False
    runs: int = 1
    costs: Mapping[str, float] = field(default_factory=dict)

    def trial(self, repeat: int, seed: int) -> Trial:
        """The samples of one run, the same however many runs there are."""
        return self.draw(np.random.default_rng([seed, repeat]))


def load_problems(data: Path) -> list[Problem]:
    """The studies of patients.

    Parameters
    ----------
    data : Path
        Folder of the data sets ``nsclc_survival`` and ``lung_ncctg``; the others come with coview.
    """
    return [
        _nsclc(data, radiomics=False),
        _nsclc(data, radiomics=True),
        _ncctg(data),
        _heart(),
        _breast(),
    ]


# --- figure 5 ---


def _toy(n_labels: int) -> Callable[[np.random.Generator], Trial]:
    def draw(rng: np.random.Generator) -> Trial:
        n = 60
        target = np.arange(n) % 2
        values = rng.standard_normal((n, 2)) + np.where(target[:, None] == 1, [2.0, -2.0], [-2.0, 2.0])
        order = rng.permutation(n)
        hidden = np.zeros((n, 2), dtype=bool)
        hidden[order[:24], 0] = hidden[order[24:48], 1] = True
        labeled = np.zeros(n, dtype=bool)
        for of_class in (0, 1):
            labeled[rng.choice(np.flatnonzero(target == of_class), n_labels, replace=False)] = True
        return Trial([values[:, :1], values[:, 1:]], np.ones((n, 2), dtype=bool), target, hidden, labeled)

    return draw


def _toy_problem(n_labels: int) -> Problem:
    from sklearn.gaussian_process.kernels import RBF

    return Problem(
        name=f"toy, {n_labels} labels per class",
        title=f"Figure 5 (4): two Gaussians at (2, -2) and (-2, 2), 60 samples, a coordinate a view, {n_labels} labels per class",
        views=("x1", "x2"),
        draw=_toy(n_labels),
        n_steps=40,
        kernel=RBF(0.5, "fixed"),
        pooled=True,
        runs=3,
    )


TOYS = (_toy_problem(2), _toy_problem(5))


# --- studies of patients ---


def _study(
    blocks: list[Matrix],
    target: NDArray[np.intp],
    seen: tuple[float, ...],
    *,
    presence: Mask | None = None,
    size: int | None = None,
) -> Callable[[np.random.Generator], Trial]:
    """Patients of whom a share has an outcome, and a share of those who have a view shows it; in every run drawn anew."""
    known = np.ones((len(target), len(blocks)), dtype=bool) if presence is None else presence

    def draw(rng: np.random.Generator) -> Trial:
        rows = np.arange(len(target)) if size is None else np.sort(_stratified(rng, target, size / len(target)))
        y, present = target[rows], known[rows]
        labeled = np.zeros(len(rows), dtype=bool)
        labeled[_stratified(rng, y, LABELED)] = True
        hidden = np.zeros_like(present)
        for j, share in enumerate(seen):
            having = np.flatnonzero(present[:, j])
            hidden[rng.permutation(having)[round(share * having.size) :], j] = True
        return Trial([block[rows] for block in blocks], present, y, hidden, labeled)

    return draw


def _stratified(rng: np.random.Generator, target: NDArray[np.intp], share: float) -> NDArray[np.intp]:
    """Rows drawn from each class."""
    parts = []
    for of_class in np.unique(target):
        rows = np.flatnonzero(target == of_class)
        parts.append(rng.choice(rows, max(2, round(share * rows.size)), replace=False))
    return np.concatenate(parts)


def _block(frame: pd.DataFrame) -> Matrix:
    """Features of mean 0 and variance 1, gaps inside a view at the mean, divided by the root of their number: with a linear
    kernel every view has a mean prior variance of 1.
    """
    coded = pd.get_dummies(frame, dtype=float).astype(float)
    coded = (coded - coded.mean()) / coded.std(ddof=0)
    return np.asarray(coded.dropna(axis=1, how="all").fillna(0.0)) / np.sqrt(coded.shape[1])


def _nsclc(data: Path, *, radiomics: bool) -> Problem:
    bunch = fetch("nsclc_survival", data)
    target = bunch["target"].dropna()
    clinical = bunch["frames"]["clinical"].loc[target.index]
    images = bunch["frames"]["radiomics"].loc[target.index].astype(float)
    stages = ["age", "Tstage", "Nstage", "Mstage"]
    histology = clinical["Histology"].astype("string").str.lower().replace("nsclc nos (not otherwise specified)", "nos")
    own = clinical[stages].astype(float).join(pd.get_dummies(histology.rename("histology"), dtype=float))
    if radiomics:
        blocks, views, what = [_block(own), _block(images)], ("clinical", "radiomics"), "clinical | 53 radiomics"
    else:
        measured = np.log(images[["shape_VoxelVolume"]]).join(own["Nstage"])
        blocks, views = [_block(own.drop(columns="Nstage")), _block(measured)], ("clinical", "imaging")
        what = "age, T, M, histology | log tumor volume, N stage"
    alive = (target == "alive").to_numpy().astype(int)
    return Problem(
        name="nsclc, radiomics" if radiomics else "nsclc",
        title=f"Lung cancer, two-year survival, {len(alive)} patients ({alive.sum()} alive): {what}",
        views=views,
        draw=_study(blocks, alive, (1.0, 0.5)),
        n_steps=60,
    )


def _ncctg(data: Path) -> Problem:
    bunch = fetch("lung_ncctg", data)
    target = bunch["target"].dropna()
    frames = {name: frame.reindex(target.index).astype(float) for name, frame in bunch["frames"].items()}
    own = frames["person"].join(frames["performance"][["ph.ecog"]])
    other = frames["performance"][["ph.karno", "pat.karno"]].join(frames["nutrition"])
    has = np.column_stack([np.ones(len(own), dtype=bool), frames["nutrition"].notna().any(axis=1)])
    alive = (target == "alive").to_numpy().astype(int)
    return Problem(
        name="ncctg",
        title=f"Advanced lung cancer, one-year survival, {len(alive)} patients ({alive.sum()} alive): age, sex, ECOG status | "
        "Karnofsky scores, calories, weight loss",
        views=("clinical", "nutrition"),
        draw=_study([_block(own), _block(other)], alive, (1.0, 0.5), presence=has),
        n_steps=60,
    )


def _heart() -> Problem:
    size = 78  # as many as in the paper
    bunch = load_heart_disease()
    table = pd.concat([frame.reindex(bunch["target"].index) for frame in bunch["frames"].values()], axis=1)
    complete = (bunch["meta"]["hospital"] == "cleveland") & table.notna().all(axis=1)
    table, target = table[complete], bunch["target"][complete].to_numpy().astype(int)
    groups = (
        ["age", "sex", "cp", "trestbps", "chol", "fbs"],
        ["restecg"],
        ["thalach", "exang", "oldpeak", "slope", "thal", "ca"],
    )
    blocks = [_block(table[group]) for group in groups]
    return Problem(
        name="heart, 78 patients",
        title=f"Rectal-cancer protocol on {size} of {len(target)} Cleveland patients (narrowed coronary artery): history and "
        "blood | ECG at rest | exercise, thallium, fluoroscopy",
        views=("clinical", "resting", "stress"),
        draw=_study(blocks, target, (1.0, 0.7, 0.4), size=size),
        n_steps=60,
    )


def _breast() -> Problem:
    bunch = load_breast_tcga()
    rows = bunch["frames"]["protein"].index
    blocks = [_block(bunch["frames"][name].loc[rows]) for name in ("mrna", "mirna", "protein")]
    luminal = (bunch["target"].loc[rows] == "LumA").to_numpy().astype(int)
    return Problem(
        name="breast",
        title=f"Breast cancer, luminal A against the rest, {len(luminal)} tumors ({luminal.sum()} luminal A): mRNA | miRNA | "
        "protein, the expensive view",
        views=("mrna", "mirna", "protein"),
        draw=_study(blocks, luminal, (1.0, 0.7, 0.4)),
        n_steps=60,
        components=1,
        costs={"mirna": 1.0, "protein": 5.0},
    )
