"""Trees of the English phonemes, and of web pages: section 5 of "Hybrid Hierarchical Clustering" and what can be scored of it.

Run from a checkout with ``coview reproduce hybrid-clustering --data DIR``; README.md beside this file says what came out.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import ttest_rel

from coview.datasets import fetch
from coview.metrics import class_cophenetic_correlation, dendrogram_purity

from .documents import CUTS, pages, scores_of
from .trees import HYBRID, Tree, build, similarities

__all__ = ["phoneme_trees", "reproduce"]

CLASSES = ("family", "subfamily")
# How often classes are dealt anew to say what a tree scores by chance.
N_SHUFFLES = 500
_ALPHA = 0.05
_VIEWS = {
    "two views of the paper": {"acoustic": "sqeuclidean", "next": "kl"},
    "three views": {"acoustic": "sqeuclidean", "next": "kl", "articulatory": "sqeuclidean"},
}
_NOTE = f"""\
Phonemes: purity of the dendrogram (mean share of a pair's class in the smallest subtree that holds it) and cophenetic correlation
with the classes of Rabiner and Juang; in brackets what {N_SHUFFLES} random deals of the classes give, mean ± standard deviation.
Similarity of the parts of a split is the inverse of its goodness, splits of two phonemes left out; smaller is better.
Pages: entropy of the classes inside clusters in bits, mean ± standard error over draws of pages; "below" and "above" where a
paired two-sided t test against the best single view has p < {_ALPHA:g}."""


def reproduce(data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None]) -> dict[str, Any]:
    """Build the trees and score them.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Draws of pages.
    seed : int
        Of the draws and of the deals of classes.
    jobs : int
        Draws worked on at the same time.
    echo : callable
        Takes lines about the progress.

    Returns
    -------
    result : dict
        ``tables`` (Markdown), ``summary`` (a row per tree and measure), ``scores`` (a row per draw), ``splits`` (similarity of
        the parts of every split), ``newick`` (the trees of the phonemes), ``seconds``.
    """
    start = time.process_time()
    summary, splits, newick = _phonemes(data, seed)
    echo(f"phonemes: {time.process_time() - start:.0f} s")
    views, labels = pages(data)
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_draw)(views, labels, repeat, seed) for repeat in range(repeats)
    )
    scores: list[dict[str, Any]] = []
    seconds = {}
    for repeat, (rows, took) in enumerate(runs):
        scores += rows
        seconds[f"pages, draw {repeat}"] = round(took, 1)
        echo(f"pages, draw {repeat}: {took:.0f} s")
    entropies = _entropies(pd.DataFrame(scores))
    tables = [_NOTE, *_phoneme_tables(summary, splits), _page_table(entropies)]
    return {
        "tables": "\n\n".join(tables),
        "summary": _rows(pd.concat([summary, entropies], ignore_index=True)),
        "scores": scores,
        "splits": splits.to_dict(orient="records"),
        "newick": newick,
        "seconds": seconds,
    }


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """One dict per row, None where a cell says nothing."""
    return table.astype(object).where(table.notna(), None).to_dict(orient="records")


def _draw(views: Any, labels: Any, repeat: int, seed: int) -> tuple[list[dict[str, Any]], float]:
    start = time.process_time()
    rows = list(scores_of(views, labels, repeat, seed))
    return rows, time.process_time() - start


def phoneme_trees(data: Path) -> tuple[dict[str, list[Tree]], dict[str, Any], pd.DataFrame, list[str]]:
    """Trees by set of views; the views; the classes of the phonemes; their names."""
    bunch = fetch("phonemes", data)
    blocks = {name: np.asarray(bunch.views[name], dtype=np.float64) for name in bunch.views.names}
    classes = pd.DataFrame({"family": bunch.target.to_numpy(), "subfamily": bunch.meta["subfamily"].to_numpy()})
    trees = {
        title: build({name: blocks[name] for name in divergences}, divergences) for title, divergences in _VIEWS.items()
    }
    return trees, blocks, classes, list(bunch.views.index)


def _phonemes(data: Path, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str]]:
    trees, blocks, classes, names = phoneme_trees(data)
    rows, splits, newick = [], [], {}
    for title, found in trees.items():
        divergences = _VIEWS[title]
        views = {name: blocks[name] for name in divergences}
        for tree in found:
            newick[f"{title}: {tree.name}"] = tree.model.to_newick(names)
            splits.append(similarities(tree, views, divergences).assign(views=title))
            rows += [
                {"part": "phonemes", "views": title, "tree": tree.name, **row} for row in _scored(tree, classes, seed)
            ]
            if tree.name == HYBRID:
                used = pd.Series(tree.splits)[tree.linkage[:, 3] > 2].value_counts()
                text = ", ".join(f"{view} {count}" for view, count in used.items())
                rows.append(
                    {"part": "phonemes", "views": title, "tree": tree.name, "classes": text, "measure": "splits by"}
                )
    return pd.DataFrame(rows), pd.concat(splits, ignore_index=True), newick


def _scored(tree: Tree, classes: pd.DataFrame, seed: int) -> list[dict[str, Any]]:
    """Purity and correlation against the classes and against classes dealt at random."""
    rng = np.random.default_rng(seed)
    rows = []
    for level in CLASSES:
        truth = classes[level].to_numpy()
        for measure, score in (("purity", dendrogram_purity), ("correlation", class_cophenetic_correlation)):
            chance = [score(tree.linkage, rng.permutation(truth)) for _ in range(N_SHUFFLES)]
            rows.append(
                {
                    "classes": level,
                    "measure": measure,
                    "value": score(tree.linkage, truth),
                    "chance": float(np.mean(chance)),
                    "chance_sd": float(np.std(chance)),
                }
            )
    return rows


def _phoneme_tables(summary: pd.DataFrame, splits: pd.DataFrame) -> list[str]:
    tables = []
    scored = summary[summary["measure"] != "splits by"]
    for title in _VIEWS:
        part = scored[scored["views"] == title]
        similar = splits[splits["views"] == title].groupby("tree")["similarity"].agg(["mean", "median"])
        lines = [
            f"## Phonemes, {title}",
            "",
            "| tree | purity, families | purity, subfamilies | correlation, families | correlation, subfamilies | "
            "similarity, mean (median) |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for tree in part["tree"].unique():
            cells = [tree]
            for measure in ("purity", "correlation"):
                for level in CLASSES:
                    row = part[(part["tree"] == tree) & (part["measure"] == measure) & (part["classes"] == level)].iloc[
                        0
                    ]
                    cells.append(f"{row['value']:.3f} ({row['chance']:.3f} ± {row['chance_sd']:.3f})")
            cells.append(f"{similar.loc[tree, 'mean']:.3f} ({similar.loc[tree, 'median']:.3f})")
            lines.append("| " + " | ".join(cells) + " |")
        used = summary[(summary["views"] == title) & (summary["measure"] == "splits by")].iloc[0]["classes"]
        tables.append("\n".join([*lines, "", f"Splits of more than two phonemes in the hybrid tree: {used}."]))
    return tables


def _entropies(scores: pd.DataFrame) -> pd.DataFrame:
    """Means over the draws, and verdicts against the better of the single views."""
    wide = scores.pivot_table(index="repeat", columns=["n_clusters", "tree"], values="entropy", sort=False)
    rows = []
    for k in CUTS:
        part = wide[k]
        best = min(("text", "anchor"), key=lambda view: part[view].mean())
        for tree in part.columns:
            values = part[tree]
            verdict = ""
            if tree != best and len(values) > 1:
                p = ttest_rel(values, part[best]).pvalue
                verdict = "even" if not p < _ALPHA else "below" if values.mean() < part[best].mean() else "above"
            rows.append(
                {
                    "part": "pages",
                    "tree": tree,
                    "n_clusters": k,
                    "value": values.mean(),
                    "standard_error": values.sem() if len(values) > 1 else np.nan,
                    "against": best,
                    "verdict": verdict,
                }
            )
    return pd.DataFrame(rows)


def _page_table(entropies: pd.DataFrame) -> str:
    lines = [
        "## Web pages (webkb6): entropy in bits of trees cut into clusters",
        "",
        "| tree | " + " | ".join(f"{k} clusters" for k in CUTS) + " |",
        "| --- |" + " --- |" * len(CUTS),
    ]
    for tree in entropies["tree"].unique():
        cells = [tree]
        for k in CUTS:
            row = entropies[(entropies["tree"] == tree) & (entropies["n_clusters"] == k)].iloc[0]
            error = "" if np.isnan(row["standard_error"]) else f" ± {row['standard_error']:.3f}"
            cells.append(f"{row['value']:.3f}{error} {row['verdict']}".strip())
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
