"""The second demonstration: twelve labels on a thousand web pages, by their words and by the words of links to them."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

import coview
from coview.report._demo_folder import MARKER, check_replaceable, replace_folder
from coview.report._html import Report, render_report
from coview.report._pages_trial import (
    ALL_LABELS,
    BOTH,
    REPORTED,
    SINGLE,
    PagesJob,
    PagesTrial,
    course_pages,
    made_up_pages,
    make_trial,
)
from coview.report._sections_pages import (
    comparison,
    comparison_table,
    limits,
    rounds,
    sure_and_unsure,
    terms,
    verdict,
)
from coview.report._tables import percent

PREDICTIONS = "predictions-pages.csv"
SCORES = "scores-pages.csv"
_WIDTH = 110


def run_demo(
    output: Path,
    *,
    repeats: int = 5,
    seed: int = 0,
    data: Path | None = None,
    echo: Callable[[str], Any] = print,
) -> dict[str, Any]:
    """Run the demonstration on web pages, print what it finds and write the report.

    Parameters
    ----------
    output : Path
        Folder to write; one that an earlier demonstration wrote is replaced as a whole, any other is refused.
    repeats : int, default=5
        Random choices of the twelve labeled pages.
    seed : int, default=0
        Seed of the choices.
    data : Path, default=None
        Folder with the files of ``webkb_course`` as :func:`coview.datasets.fetch` takes it; made-up pages if None.
    echo : callable, default=print
        Takes each printed line.

    Returns
    -------
    result : dict
        ``report``, ``predictions`` (paths), ``scores`` (a row per method and what it judged by, as records).

    Raises
    ------
    FileExistsError
        If ``output`` exists and was not written by a demonstration.
    FileNotFoundError
        If a file of the real pages is not in ``data``.
    """
    output = Path(output)
    check_replaceable(output)
    job = made_up_pages() if data is None else course_pages(Path(data))
    echo(f"coview {coview.__version__}: courses among {len(job.views)} web pages ({job.name}), from twelve labels\n")
    with threadpool_limits(limits=1):
        trial = make_trial(job, repeats=repeats, seed=seed)
        table = comparison_table(trial)
        said = [line for sentence in verdict(trial) for line in wrap(sentence, _WIDTH)]
        for line in [table.caption, *table.as_text(), "", *said, ""]:
            echo(line)
        page = render_report(pages_report(trial, seed=seed))
    files = {
        "report.html": page,
        PREDICTIONS: str(trial.predictions.to_csv(float_format="%.6f", lineterminator="\n")),
        SCORES: str(trial.scores.to_csv(index=False, float_format="%.6f", lineterminator="\n")),
        MARKER: "Written by coview demo; this folder is replaced by the next one.\n",
    }
    replace_folder(output, files)
    echo(f"Written: {output / 'report.html'}, {PREDICTIONS}, {SCORES}")
    return {
        "report": str(output / "report.html"),
        "predictions": str(output / PREDICTIONS),
        "data": job.name,
        "scores": trial.summary.to_dict(orient="records"),
    }


def pages_report(trial: PagesTrial, *, seed: int) -> Report:
    """The whole page."""
    job, found = trial.job, trial.predictions
    n_right = int(found["right"].sum())
    facts = (
        (
            f"{n_right} of {len(found)}",
            f"pages without a label are told rightly by {REPORTED}, from 12 labels (one draw)",
        ),
        (percent(trial.mean(REPORTED, BOTH)), "precision where it equals recall, page text and links together"),
        (percent(trial.mean(SINGLE, BOTH)), "for logistic regression, which learns from the 12 labeled pages only"),
        (percent(trial.mean(ALL_LABELS, BOTH)), "with the labels of nine pages in ten"),
    )
    real = (
        "1,051 pages of four computer science departments"
        if not job.made_up
        else f"{len(job.views):,} made-up web pages"
    )
    return Report(
        title="Twelve labels, a thousand pages: which are of courses?",
        lead=(
            f"{real}, each seen by its own words and by the words of the links to it. Twelve have a label. What the others "
            "can teach without one is the question of co-training; this page holds the answers of several methods against the "
            "withheld labels."
        ),
        facts=facts,
        sections=(comparison(trial), sure_and_unsure(trial), terms(trial), rounds(trial), limits(trial)),
        footer=_footer(job, seed),
    )


def _footer(job: PagesJob, seed: int) -> tuple[str, ...]:
    """Origin of the pages, versions."""
    origin = (
        "Data: made up by coview.datasets.make_linked_pages, seed 0."
        if job.made_up
        else "Data: webkb_course, Blum and Mitchell 1998, in the version of Sindhwani, Niyogi and Belkin 2005; no terms of "
        "use are stated at its source. coview datasets webkb_course says where it is."
    )
    return (
        origin,
        f"Draws: 3 courses and 9 other pages at random, seed {seed}; the same seed gives the same page.",
        f"coview {coview.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, Python "
        f"{platform.python_version()}.",
    )
