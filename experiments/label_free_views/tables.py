"""The experiments of "A generative semi-supervised model for multi-view learning when some views are label-free".

Run from a checkout with ``coview reproduce label-free-views --data DIR``; README.md beside this file says what came out.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from coview.datasets import fetch

from . import synthetic
from .layout import tables_of
from .mixtures import (
    CHOSEN,
    CHOSEN_DIRECT,
    CHOSEN_NOISE,
    COMPONENTS,
    DIRECT_MIXTURE,
    MIXTURE,
    NOISE_VARIANCES,
    chosen_components,
    direct_mixture,
    label_free_mixture,
)
from .problems import (
    DIGITS,
    HANDWRITTEN,
    HANDWRITTEN_SUBSETS,
    PARTS,
    SYNTHETIC,
    LabelFree,
    SpokenDigits,
    handwritten_split,
)
from .rivals import rivals
from .summaries import summarize

__all__ = ["MOST_SPLITS", "digits_scores", "handwritten_scores", "reproduce", "synthetic_scores"]

# Splits of real data; more repeats go to the synthetic draws only.
MOST_SPLITS = 5
_IMAGE = ("image",)
_PAIRS = "audio + image, the pairs"


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Run section 3.1, the digits spoken and written, and the handwritten digits in three views.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Draws of the synthetic data; splits of the digits, of which there are 5 at most.
    seed : int
        Of draws and splits.
    jobs : int
        Draws or splits worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per part, method and setting, with verdict), ``scores`` (a row per method,
        setting and draw or split), ``seconds`` (by part).
    """
    scores: list[dict[str, Any]] = []
    seconds: dict[str, float] = {}
    for part, run in zip(PARTS, (synthetic_scores, digits_scores, handwritten_scores), strict=True):
        start = time.perf_counter()
        scores += run(data, repeats, seed, jobs, echo)
        seconds[part] = round(time.perf_counter() - start, 1)
        echo(f"{part}: {seconds[part]:.0f} s")
    summary = summarize(scores)
    return {
        "tables": tables_of(scores, summary),
        "summary": summary.to_dict(orient="records"),
        "scores": scores,
        "seconds": seconds,
    }


def synthetic_scores(
    data: Path, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Accuracies from z of section 3.1; ``data`` is not needed."""
    with threadpool_limits(1):
        rows = synthetic.run(repeats, seed, jobs, echo)
    return [
        _row(
            SYNTHETIC,
            row["scenario"],
            "z",
            row["repeat"],
            row["accuracy"],
            (row["components"], row["factors"], row["noise_variance"]),
        )
        for row in rows
    ]


def digits_scores(data: Path, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> list[dict[str, Any]]:
    """Accuracies on images, labels on audio only: the grid of the paper, learned noise, the chosen model, rivals."""
    source = SpokenDigits(data)
    splits = [source.split(repeat, seed) for repeat in range(min(repeats, MOST_SPLITS))]
    return _over_splits(_digits, splits, jobs, echo, DIGITS)


def handwritten_scores(
    data: Path, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Accuracies on several subsets of three views, labels on the first only."""
    bunch = fetch("mfeat", data)
    digits = bunch.target.to_numpy(dtype=np.int64)
    splits = [handwritten_split(bunch.views, digits, repeat, seed) for repeat in range(min(repeats, MOST_SPLITS))]
    return _over_splits(_handwritten, splits, jobs, echo, HANDWRITTEN)


def _over_splits(
    run: Callable[[LabelFree, int], list[dict[str, Any]]],
    splits: Sequence[LabelFree],
    jobs: int,
    echo: Callable[[str], None],
    part: str,
) -> list[dict[str, Any]]:
    scores: list[dict[str, Any]] = []
    found: Iterable[list[dict[str, Any]]] = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_alone)(run, split, repeat) for repeat, split in enumerate(splits)
    )
    for repeat, rows in enumerate(found):
        echo(f"{part}, split {repeat + 1} of {len(splits)}")
        scores += rows
    return scores


def _alone(
    run: Callable[[LabelFree, int], list[dict[str, Any]]], split: LabelFree, repeat: int
) -> list[dict[str, Any]]:
    """One split on one thread: its matrices are small."""
    with threadpool_limits(1):
        return run(split, repeat)


def _digits(split: LabelFree, repeat: int) -> list[dict[str, Any]]:
    rows = []

    def note(method: str, predicted: Any, setting: tuple[Any, Any, Any] = (None, None, None)) -> None:
        rows.append(_row(DIGITS, method, "image", repeat, float(np.mean(predicted == split.truth)), setting))

    images = split.test_views(_IMAGE)
    settings = [(n, noise) for noise in (*NOISE_VARIANCES, "learn") for n in COMPONENTS] + [("auto", "learn")]
    best = chosen_components(split, repeat)
    for n_components, noise in settings:
        model = label_free_mixture(split, n_components, noise, repeat)
        direct = direct_mixture(split, _IMAGE, n_components, noise, repeat)
        predicted = model.predict(images)
        setting = (n_components, model.n_factors_, noise)
        note(MIXTURE, predicted, setting)
        note(DIRECT_MIXTURE, direct.predict(images), setting)
        if (n_components, noise) == (best, CHOSEN_NOISE):
            note(CHOSEN, predicted, (best, model.n_factors_, noise))
            note(CHOSEN_DIRECT, direct.predict(images), (best, model.n_factors_, noise))
            right = float(np.mean(model.transduction_[: len(split.hidden)] == split.hidden))
            rows.append(_row(DIGITS, CHOSEN, _PAIRS, repeat, right, (best, model.n_factors_, noise)))
    for method, _, predicted in rivals(split, [_IMAGE]):
        note(method, predicted)
    return rows


def _handwritten(split: LabelFree, repeat: int) -> list[dict[str, Any]]:
    rows = []

    def note(method: str, tested_on: str, predicted: Any, setting: tuple[Any, Any, Any] = (None, None, None)) -> None:
        rows.append(_row(HANDWRITTEN, method, tested_on, repeat, float(np.mean(predicted == split.truth)), setting))

    best = chosen_components(split, repeat)
    model = label_free_mixture(split, best, CHOSEN_NOISE, repeat)
    setting = (best, model.n_factors_, CHOSEN_NOISE)
    for names in HANDWRITTEN_SUBSETS:
        views, tested_on = split.test_views(names), " + ".join(names)
        note(CHOSEN, tested_on, model.predict(views), setting)
        direct = direct_mixture(split, names, best, CHOSEN_NOISE, repeat)
        note(CHOSEN_DIRECT, tested_on, direct.predict(views), setting)
    for method, tested_on, predicted in rivals(split, HANDWRITTEN_SUBSETS):
        note(method, tested_on, predicted)
    return rows


def _row(
    part: str, method: str, tested_on: str, repeat: int, accuracy: float, setting: tuple[Any, Any, Any]
) -> dict[str, Any]:
    n_components, n_factors, noise = setting
    return {
        "part": part,
        "method": method,
        "tested_on": tested_on,
        "components": n_components,
        "factors": n_factors,
        "noise_variance": noise,
        "repeat": repeat,
        "accuracy": accuracy,
    }
