"""The data sets and label counts of the confirmation: which rows, which views, which pairs are hidden."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from coview import Views
from coview.compose import TableEncoder
from coview.datasets import fetch, load_breast_tcga, load_heart_disease

# How far the default may be fitted to a row: the default was chosen on "design" rows, tried once on "seen" ones.
DESIGN, SEEN, NEW = "design", "seen", "new"


@dataclass(frozen=True)
class Samples:
    """Views and labels, in one order."""

    views: Views
    labels: np.ndarray


@dataclass(frozen=True)
class Problem:
    """One data set.

    Attributes
    ----------
    name : str
        Also the name of its file of scores.
    read : callable
        From the folder of the data to `Samples`.
    counts : dict of int to str
        Number of labels -> "design", "seen" or "new".
    extra : tuple of str
        Costly baselines that run here because they come near the best.
    """

    name: str
    read: Callable[[Path], Samples]
    counts: Mapping[int, str]
    extra: tuple[str, ...] = field(default=())


def all_problems() -> list[Problem]:
    """Every data set, in the order of the tables.

    Returns
    -------
    problems : list of Problem
    """
    design = dict.fromkeys
    return [
        Problem("nsclc_survival", _nsclc, design((13, 26, 79), DESIGN), extra=("stacking", "process")),
        Problem("satimage", _part_of("satimage", 1000, 0.4), design((20, 50, 100), DESIGN)),
        Problem("citeseer", _citeseer, design((15, 75, 150), DESIGN)),
        Problem("breast_tcga", _breast, design((11, 22, 66, 132), DESIGN)),
        Problem("three_sources", _documents("three_sources"), {21: DESIGN, 42: DESIGN, 60: NEW}),
        Problem(
            "heart_disease",
            _heart,
            design((9, 46, 92, 276, 460), DESIGN),
            extra=("stacking", "process", "trees", "iterative"),
        ),
        Problem("mfeat", _part_of("mfeat", 1000, 0.4), design((20, 50), DESIGN)),
        Problem("webkb_course", _documents("webkb_course"), design((11, 53, 315), DESIGN)),
        Problem("newsgroups5", _documents("newsgroups5"), {15: SEEN, 50: SEEN, 100: NEW}),
        Problem("webkb_cornell", _university("cornell"), design((10, 29), SEEN)),
        Problem("webkb_wisconsin", _university("wisconsin"), design((13, 40), SEEN)),
        Problem("spoken_digits_pairs", _digit_pairs, design((20, 50), SEEN)),
        Problem("protein_folds", _protein_folds, design((15, 45), SEEN)),
        Problem("optdigits", _optdigits, {20: SEEN, 48: SEEN, 100: NEW}),
        Problem("msrc_v1", _part_of("msrc_v1", None, 0.4), design((15, 42), SEEN)),
        Problem("bbcsport", _documents("bbcsport"), design((27, 54), SEEN)),
        Problem("cora", _cora, design((50, 100), SEEN)),
        Problem("webkb_texas", _university("texas"), design((10, 28), NEW)),
        Problem("webkb_washington", _university("washington"), design((12, 35), NEW)),
        Problem("webkb6", _documents("webkb6"), design((60, 226), NEW)),
        Problem("spoken_digits_all", _all_digits, design((30, 100), NEW)),
        Problem("ionosphere", _ionosphere, design((18, 53), NEW), extra=("stacking", "process")),
        Problem("nutrimouse_diet", _mouse_diet, {15: NEW}),
        Problem("nutrimouse_genotype", _mouse_genotype, {6: NEW}, extra=("process",)),
        Problem("lung_ncctg", _lung, design((19, 56), NEW), extra=("stacking", "process")),
    ]


def hide_pairs(views: Views, share: float, seed: int = 0) -> Views:
    """The views without a share of the pairs of sample and view, chosen once at random; each sample keeps one.

    Parameters
    ----------
    views : Views
    share : float
        Probability of a pair to be hidden.
    seed : int, default=0

    Returns
    -------
    views : Views
    """
    rng = np.random.default_rng(seed)
    hidden = rng.random(views.presence.shape) < share
    kept = rng.integers(0, views.n_views, views.n_samples)
    bare = ~(views.presence & ~hidden).any(axis=1)
    hidden[np.flatnonzero(bare), kept[bare]] = False
    presence = views.presence & ~hidden
    frames = {name: views.to_frame(name).to_numpy(dtype=np.float64, copy=True) for name in views.names}
    for column, block in enumerate(frames.values()):
        block[~presence[:, column]] = np.nan
    return Views(frames, presence=presence)


def subset(samples: Samples, n_rows: int | None, seed: int = 0) -> Samples:
    """That many samples at random, in their order; all of them for None."""
    if n_rows is None:
        return samples
    rows = np.sort(np.random.default_rng(seed).permutation(samples.views.n_samples)[:n_rows])
    return Samples(samples.views[rows], samples.labels[rows])


def _fetched(bunch: Any, views: Views | None = None) -> Samples:
    views = bunch.views if views is None else views
    return Samples(views, bunch.target.loc[views.index].to_numpy(dtype=object))


def _part_of(name: str, n_rows: int | None, share: float) -> Callable[[Path], Samples]:
    """A random part of a set of dense views (None: all of it), with pairs hidden."""

    def read(data: Path) -> Samples:
        part = subset(_fetched(fetch(name, data)), n_rows)
        return Samples(hide_pairs(part.views, share), part.labels)

    return read


def _documents(name: str) -> Callable[[Path], Samples]:
    """Words and links; an empty row is a missing view unless the sample would then have none."""

    def read(data: Path) -> Samples:
        return _without_empty_rows(_fetched(fetch(name, data)))

    return read


def _without_empty_rows(samples: Samples) -> Samples:
    views = samples.views
    blocks, filled = {}, views.presence.copy()
    for column, name in enumerate(views.names):
        here = views.rows(name)
        filled[here, column] = np.diff(sparse.csr_array(views[name]).indptr) > 0
        spread = sparse.coo_array(views[name])
        blocks[name] = sparse.csr_array(
            (spread.data, (here[spread.coords[0]], spread.coords[1])), shape=(views.n_samples, spread.shape[1])
        )
    filled[~filled.any(axis=1)] = views.presence[~filled.any(axis=1)]
    return Samples(Views(blocks, presence=filled), samples.labels)


def _citeseer(data: Path) -> Samples:
    part = subset(_documents("citeseer")(data), 1500)
    return Samples(part.views, np.where(part.labels == "DB", "DB", "other").astype(object))


def _cora(data: Path) -> Samples:
    return subset(_documents("cora")(data), 1000)


def _university(name: str) -> Callable[[Path], Samples]:
    """Pages of students against all others."""

    def read(data: Path) -> Samples:
        pages = _documents(f"webkb_universities/{name}")(data)
        return Samples(pages.views, np.where(pages.labels == "student", "student", "other").astype(object))

    return read


def _breast(data: Path) -> Samples:
    return _fetched(load_breast_tcga())


def _heart(data: Path) -> Samples:
    bunch = load_heart_disease()
    return _fetched(bunch, TableEncoder().fit_transform(bunch.frames))


def _nsclc(data: Path) -> Samples:
    """The patients whose two-year survival is known; six views: person, stage, and four families of image features."""
    bunch = fetch("nsclc_survival", data)
    known = bunch.target.dropna().index
    clinical, radiomics = bunch.frames["clinical"].loc[known], bunch.frames["radiomics"].loc[known]
    frames = {"person": clinical[["age", "Histology"]], "stage": clinical[["Tstage", "Nstage", "Mstage"]]}
    families = radiomics.columns.str.split("_").str[0]
    frames |= {str(family): radiomics.loc[:, families == family] for family in families.unique()}
    views = TableEncoder().fit_transform({name: frame.dropna(how="all") for name, frame in frames.items()})
    return _fetched(bunch, views)


def _lung(data: Path) -> Samples:
    """The patients of whom it is known whether they lived a year later."""
    bunch = fetch("lung_ncctg", data)
    known = bunch.target.dropna().index
    frames = {name: frame.loc[frame.index.intersection(known, sort=False)] for name, frame in bunch.frames.items()}
    return _fetched(bunch, TableEncoder().fit_transform(frames))


def _digit_pairs(data: Path) -> Samples:
    """The 370 digits of which there is a sound and a picture."""
    digits = _all_digits(data)
    both = np.flatnonzero(digits.views.presence.all(axis=1))
    return Samples(hide_pairs(digits.views[both], 0.25), digits.labels[both])


def _all_digits(data: Path) -> Samples:
    """Sounds, pictures and pairs; most samples have one view only."""
    bunch = fetch("spoken_digits", data)
    return Samples(bunch.views, bunch.meta["truth"].loc[bunch.views.index].to_numpy(dtype=object))


def _protein_folds(data: Path) -> Samples:
    proteins = _fetched(fetch("protein_folds", data))
    largest = pd.Series(proteins.labels).value_counts().index[:6]
    rows = np.flatnonzero(np.isin(proteins.labels.astype(str), largest.astype(str)))
    return Samples(hide_pairs(proteins.views[rows], 0.4), proteins.labels[rows])


def _optdigits(data: Path) -> Samples:
    """800 pictures of 8 x 8 points; a view is a quadrant."""
    part = subset(_fetched(fetch("uci/optdigits", data)), 800)
    points = np.asarray(part.views["features"]).reshape(-1, 8, 8)
    quadrants = {
        f"{rows} {columns}": points[:, top : top + 4, left : left + 4].reshape(len(points), 16)
        for rows, top in (("upper", 0), ("lower", 4))
        for columns, left in (("left", 0), ("right", 4))
    }
    return Samples(hide_pairs(Views(quadrants), 0.3), part.labels)


def _ionosphere(data: Path) -> Samples:
    """Real and imaginary parts of the 17 autocorrelations."""
    radar = _fetched(fetch("uci/ionosphere", data))
    values = np.asarray(radar.views["features"])
    return Samples(Views({"real": values[:, ::2], "imaginary": values[:, 1::2]}), radar.labels)


def _mouse_diet(data: Path) -> Samples:
    return _fetched(fetch("nutrimouse", data))


def _mouse_genotype(data: Path) -> Samples:
    mice = fetch("nutrimouse", data)
    return Samples(mice.views, mice.meta.iloc[:, 0].loc[mice.views.index].to_numpy(dtype=object))
