"""The main job on real data: predictions from incomplete views and few labels, compared and explained on one page."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

import coview
from coview.report._asking import Asking, make_asking
from coview.report._demo_folder import MARKER, check_replaceable, replace_folder
from coview.report._exhibits import Exhibit, breast_job, heart_job, make_exhibit
from coview.report._html import Report, render_report
from coview.report._lines import asking_lines, comparison_lines, exhibit_lines, ranking_lines
from coview.report._live import cleveland
from coview.report._sections_demo import limits_section, measure_sections, short_section
from coview.report._sections_exhibits import breast_sections, heart_sections
from coview.report._stored import FILE, stored_text

MEASURE = "measure-next.csv"
Echo = Callable[[str], Any]


def run_demo(
    output: Path, *, repeats: int = 5, full: bool = False, seed: int = 0, echo: Echo = print
) -> dict[str, Any]:
    """Run the demonstration, print what it finds and write the report.

    Parameters
    ----------
    output : Path
        Folder to write; one that an earlier demonstration wrote is replaced as a whole, any other is refused.
    repeats : int, default=5
        Random choices of the labeled samples, per number of labels.
    full : bool, default=False
        Whether the slow baselines run too; with 20 repeats this makes the stored table again, as ``main_job.json``.
    seed : int, default=0
        Seed of the choices.
    echo : callable, default=print
        Takes each printed line.

    Returns
    -------
    result : dict
        ``report``, ``predictions`` and ``measurements`` (paths), ``exhibits`` (name -> means and paired differences, as
        records), ``measure_next`` (the measurements listed, as records).

    Raises
    ------
    FileExistsError
        If ``output`` exists and was not written by a demonstration.
    """
    output = Path(output)
    check_replaceable(output)
    echo(f"coview {coview.__version__}: classes of real patients from few labels and incomplete views\n")
    exhibits = []
    # One thread per process: many small factorizations, which threads of a BLAS slow down, and the same rounding everywhere.
    with threadpool_limits(limits=1):
        for number, make_job in enumerate((breast_job, heart_job), start=1):
            exhibit = make_exhibit(make_job(), repeats=repeats, seed=seed, full=full)
            for line in [*exhibit_lines(exhibit, number), *comparison_lines(exhibit), ""]:
                echo(line)
            exhibits.append(exhibit)
        asking = make_asking(exhibits[-1], cleveland(), seed=seed)
        for line in [*ranking_lines(asking.ranking), *asking_lines(asking), ""]:
            echo(line)
        page = render_report(demo_report(exhibits[0], exhibits[1], asking, seed=seed))
    files = {"report.html": page, MARKER: "Written by coview demo; this folder is replaced by the next one.\n"}
    files |= {f"predictions-{e.job.name}.csv": _csv(e) for e in exhibits}
    files[MEASURE] = str(asking.ranking.table.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    if full:
        files[FILE] = stored_text(
            {e.job.name: (e.summary, e.differences) for e in exhibits}, seed=seed, repeats=repeats
        )
    replace_folder(output, files)
    echo(f"Written: {output / 'report.html'}, predictions-*.csv, {MEASURE}")
    return {
        "report": str(output / "report.html"),
        "predictions": {e.job.name: str(output / f"predictions-{e.job.name}.csv") for e in exhibits},
        "exhibits": {e.job.name: _figures(e) for e in exhibits},
        "measure_next": asking.ranking.best.to_dict(orient="records"),
        "measurements": str(output / MEASURE),
    }


def demo_report(breast: Exhibit, heart: Exhibit, asking: Asking, *, seed: int) -> Report:
    """The whole page."""
    job = breast.job
    right, n_hidden = int(breast.predictions["right"].sum()), len(breast.predictions)
    first = job.counts[0]
    stored = breast.stored is not None
    best = breast.best_baseline(first, stored=stored)
    heart_last = heart.job.counts[-1]
    heart_best = heart.best_baseline(heart_last, stored=stored)
    facts = (
        (f"{right} of {n_hidden}", f"tumors without a label get the right subtype, from {first} labels (one draw)"),
        (
            f"{breast.mean('coview', first, 'log_loss', stored=stored):.2f} vs "
            f"{breast.mean(best, first, 'log_loss', stored=stored):.2f}",
            f"log loss from {first} labels, coview and the best other way (lower is better)",
        ),
        (
            f"{breast.mean('coview', first, 'accuracy', group='without protein'):.0%}",
            f"of the tumors without protein are right, from {first} labels, nothing imputed by hand",
        ),
        (
            f"{heart.mean('coview', heart_last, 'log_loss', stored=stored):.2f} vs "
            f"{heart.mean(heart_best, heart_last, 'log_loss', stored=stored):.2f}",
            f"log loss for heart patients from {heart_last} labels, coview and the best other way",
        ),
    )
    return Report(
        title="Eleven labels, three assays, one of them missing for a third of the tumors",
        lead=(
            "220 breast tumors with three molecular assays; protein was never measured for 70 of them. The subtype "
            "of 11 tumors is given. coview predicts the other 209, says how sure it is of each and which assay it "
            "trusts, and this page holds every claim against the withheld labels and against what one would do "
            "otherwise. 920 heart patients with six incomplete views follow, and which of their missing tests to do next."
        ),
        facts=facts,
        sections=(
            short_section(breast, heart),
            *breast_sections(breast),
            *heart_sections(heart),
            *measure_sections(heart, asking),
            limits_section(),
        ),
        footer=_footer(seed),
    )


def _footer(seed: int) -> tuple[str, ...]:
    """Origin of the data, how to make the page again, versions."""
    return (
        "Data: breast_tcga, TCGA open tier as distributed with mixOmics (Rohart et al. 2017); heart_disease, UCI (CC "
        "BY 4.0), Janosi, Steinbrunn, Pfisterer, Detrano 1988. Origin and terms in full: coview datasets.",
        "Draws: two labels per class at random, the rest at random; unlabeled samples are the test samples, and "
        f"every method sees them without their labels. Seed {seed}; the same seed gives the same page. All 20 draws "
        "with all methods: coview demo --full.",
        f"coview {coview.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, Python "
        f"{platform.python_version()}.",
    )


def _csv(exhibit: Exhibit) -> str:
    """All predictions, probabilities to six digits."""
    return str(exhibit.predictions.to_csv(float_format="%.6f", lineterminator="\n"))


def _figures(exhibit: Exhibit) -> dict[str, Any]:
    """Means and differences as plain records."""
    return {
        "summary": exhibit.summary.to_dict(orient="records"),
        "differences": exhibit.differences.to_dict(orient="records"),
    }
