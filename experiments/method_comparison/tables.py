"""All classifiers of coview for few labels, and the usual alternatives, on the same label draws of five data sets.

Run from a checkout with ``coview reproduce method-comparison --data DIR --repeats 5``; README.md beside this file says what came
out. Scores are kept in ``results/scores`` as they come, and a run that was stopped goes on where it was.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from coview.metrics import probability_scores
from coview.model_selection import label_draws, mean_ranks, resume_comparison

from .methods import BASELINE, OURS, USUAL, methods_for
from .problems import DATASETS, LABELS_PER_CLASS, MOST_DRAWS, MOST_LABELED, N_SAMPLES, load_problem

__all__ = ["FOLDER", "assemble", "reproduce"]

FOLDER = Path(__file__).parent / "results" / "scores"
# Differences from this many standard errors on count.
_CLEAR = 2.0
_METRICS = {"accuracy": ("accuracy", True), "auc": ("AUC", True), "log_loss": ("log loss", False)}
_NOTE = f"""\
Means over the draws, on the samples whose labels were hidden. At most {N_SAMPLES:,} samples of each set and a third of them
labeled; at most three draws of mfeat, whose fits are the longest. Methods have their defaults; kernels are linear for words and
RBF for measurements, co-EM has naive Bayes, co-training logistic regression. Ahead and behind: {_CLEAR:g} standard errors of
the paired differences in accuracy, against {BASELINE}."""


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Run every method on every label draw of every data set.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Label draws per data set and number of labels.
    seed : int
        Of the draws.
    jobs : int
        Data sets worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per data set, labels per class and method), ``scores`` (a row per method and
        draw), ``seconds`` (by data set).
    """
    folder = FOLDER / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    echo(f"Scores are kept in {folder}; delete it to begin anew.")
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_run)(name, data, folder, repeats, seed) for name in DATASETS
    )
    parts, seconds = [], {}
    for name, (scores, took) in zip(DATASETS, runs, strict=True):
        echo(f"{name}: {took:.0f} s")
        parts.append(scores)
        seconds[name] = round(took, 1)
    return assemble(pd.concat(parts, ignore_index=True)) | {"seconds": seconds}


def _run(name: str, data: Path, folder: Path, repeats: int, seed: int) -> tuple[pd.DataFrame, float]:
    """Scores of one data set, and the seconds of processor time that this call took."""
    start = time.process_time()
    problem, n_draws = load_problem(name, data), min(repeats, MOST_DRAWS.get(name, repeats))
    parts = []
    with threadpool_limits(1):
        for per_class in LABELS_PER_CLASS:
            n_labeled = per_class * problem.n_classes
            if n_labeled > MOST_LABELED * len(problem.labels):
                continue
            draws = label_draws(problem.labels, n_labeled, n_draws=n_draws, n_per_class=per_class, random_state=seed)
            methods = methods_for(problem, n_labeled)
            scores = resume_comparison(
                folder / f"{name}-{per_class}.csv",
                methods,
                problem.views,
                problem.labels,
                draws,
                scorer=_ClockedScores(),
                on_error="record",
            )
            kept = scores[scores["method"].isin(list(methods)) & (scores["draw"] < n_draws)]
            parts.append(kept.assign(data=name, per_class=per_class))
    return pd.concat(parts, ignore_index=True), time.process_time() - start


class _ClockedScores:
    """Scores of probabilities, and the processor seconds since the scores before: of the fit, whatever else the machine does."""

    def __init__(self) -> None:
        self._mark = time.process_time()

    def __call__(self, y_true: ArrayLike, y_proba: ArrayLike, *, classes: ArrayLike) -> Mapping[str, float]:
        scores = probability_scores(y_true, y_proba, classes=classes)
        before, self._mark = self._mark, time.process_time()
        return {**scores, "processor_seconds": self._mark - before}


def assemble(scores: pd.DataFrame) -> dict[str, Any]:
    """Summary and tables of the scores, as `reproduce` returns them."""
    order = [name for name in (*OURS, *USUAL) if name in set(scores["method"])]
    summary = _summary(scores, order)
    tables = [_NOTE, _ranks(scores, order), _means(summary, order), _standing(summary, order)]
    tables += [_cells(summary, order, metric) for metric in _METRICS]
    tables += [_times(summary, order), _failures(scores)]
    return {
        "tables": "\n\n".join(filter(None, tables)),
        "summary": summary.to_dict(orient="records"),
        "scores": scores.drop(columns=["preparation", "seconds"]).to_dict(orient="records"),
    }


def _summary(scores: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """Means, and the paired difference in accuracy from the baseline with its standard error."""
    rows = []
    for (data, per_class), part in scores.groupby(["data", "per_class"], sort=False):
        accuracies = part.pivot_table(index="draw", columns="method", values="accuracy")
        for name in order:
            mine = part[part["method"] == name]
            if mine.empty or mine["accuracy"].isna().all():
                continue
            gaps = (accuracies[name] - accuracies[BASELINE]).dropna()
            row = {"data": data, "per_class": per_class, "method": name, "n": int(mine["accuracy"].notna().sum())}
            row |= {metric: mine[metric].mean() for metric in _METRICS}
            row |= {"accuracy_error": mine["accuracy"].sem(), "processor_seconds": mine["processor_seconds"].median()}
            row |= {"difference": gaps.mean(), "difference_error": gaps.sem(), "verdict": _verdict(gaps)}
            rows.append(row)
    return pd.DataFrame(rows)


def _verdict(gaps: pd.Series) -> str:
    """A word for differences draw by draw."""
    if len(gaps) < 2 or (gaps == 0.0).all():
        return "level"
    if abs(gaps.mean()) <= _CLEAR * gaps.sem():
        return "level"
    return "ahead" if gaps.mean() > 0.0 else "behind"


def _ranks(scores: pd.DataFrame, order: list[str]) -> str:
    """Mean ranks over data sets and labels, of the methods that ran everywhere."""
    found = {}
    for metric, (title, higher) in _METRICS.items():
        rows = scores.dropna(subset=[metric])
        cells = rows.groupby("method")[["data", "per_class", "draw"]].apply(lambda part: len(part.drop_duplicates()))
        everywhere = [name for name in order if cells.get(name, 0) == cells.max()]
        ranked = rows[rows["method"].isin(everywhere)]
        found[title] = mean_ranks(
            ranked, metric, methods=everywhere, rows=("data", "per_class"), higher_is_better=higher
        )
    table = pd.DataFrame({title: ranks.ranks for title, ranks in found.items()}).sort_values("accuracy", kind="stable")
    lines = [
        [name, *(f"{value:.1f}" for value in row)] for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    first = next(iter(found.values()))
    distance = (
        f"Two methods differ by Nemenyi's test at 5 % where their mean ranks are more than {first.critical_difference:.1f}\n"
        f"apart ({len(first.ranks)} methods, {len(first.table)} rows; the rows of one data set are not independent, so this "
        "is too small,\nif anything). Methods that did not run everywhere have no rank."
    )
    return f"## Mean ranks, 1 is best\n\n{distance}\n\n{_markdown(['method', *found], lines)}"


def _means(summary: pd.DataFrame, order: list[str]) -> str:
    """Mean accuracy over the data sets, where a method ran on all of them."""
    cells = summary.pivot_table(index="method", columns="per_class", values="accuracy", aggfunc=["mean", "count"])
    complete = cells["count"].max()
    lines = []
    for name in order:
        values, counts = cells["mean"].loc[name], cells["count"].loc[name]
        lines.append([name, *(f"{values[k]:.3f}" if counts[k] == complete[k] else "-" for k in values.index)])
    heads = ["method", *(f"{k} per class" for k in cells["mean"].columns)]
    note = ", ".join(f"{int(count.max())} with {k} per class" for k, count in cells["count"].items())
    return f"## Mean accuracy over the data sets\n\nData sets: {note}.\n\n{_markdown(heads, lines)}"


def _standing(summary: pd.DataFrame, order: list[str]) -> str:
    """How often each method is ahead of the baseline, by labels per class."""
    lines = []
    for name in (name for name in order if name != BASELINE):
        mine, cells = summary[summary["method"] == name], []
        for per_class in LABELS_PER_CLASS:
            counts = mine.loc[mine["per_class"] == per_class, "verdict"].value_counts()
            cells.append(", ".join(str(counts.get(word, 0)) for word in ("ahead", "level", "behind")))
        lines.append([name, *cells])
    heads = ["method", *(f"{k} per class" for k in LABELS_PER_CLASS)]
    title = f"## Against {BASELINE}: data sets ahead, level, behind in accuracy"
    return f"{title}\n\n{_markdown(heads, lines)}"


def _cells(summary: pd.DataFrame, order: list[str], metric: str) -> str:
    """One table per data set side by side: methods by labels per class."""
    title, higher = _METRICS[metric]
    parts = [f"## {title[0].upper()}{title[1:]}"]
    for data, part in summary.groupby("data", sort=False):
        values = part.pivot_table(index="method", columns="per_class", values=metric, sort=False)
        best = values.max() if higher else values.min()
        lines = []
        for name in (name for name in order if name in values.index):
            cells = [
                "-" if pd.isna(v) else f"**{v:.3f}**" if v == best[k] else f"{v:.3f}"
                for k, v in values.loc[name].items()
            ]
            lines.append([name, *cells])
        parts.append(f"### {data}: {DATASETS[data].title}\n\n{_markdown(['method', *map(str, values.columns)], lines)}")
    return "\n\n".join(parts)


def _times(summary: pd.DataFrame, order: list[str]) -> str:
    """Median seconds of a fit."""
    values = summary[summary["per_class"].isin([1, 10, 50])].pivot_table(
        index="method", columns=["data", "per_class"], values="processor_seconds", sort=False
    )
    lines = [
        [name, *("-" if pd.isna(v) else f"{v:.2f}" for v in values.loc[name])] for name in order if name in values.index
    ]
    heads = ["method", *(f"{data}, {k}" for data, k in values.columns)]
    return f"## Processor seconds of a fit, median, by labels per class\n\n{_markdown(heads, lines)}"


def _failures(scores: pd.DataFrame) -> str:
    """What went wrong, once per kind."""
    wrong = scores[scores["error"].fillna("") != ""].drop_duplicates(["data", "per_class", "method"])
    if wrong.empty:
        return ""
    lines = [f"* {row.data}, {row.per_class} per class, {row.method}: {row.error}" for row in wrong.itertuples()]
    return "## Failures\n\n" + "\n".join(lines)


def _markdown(heads: list[str], lines: list[list[str]]) -> str:
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
