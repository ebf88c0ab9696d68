"""``coview reproduce``: what a paper printed, computed anew; the code lies in a checkout, the data with the user."""

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from coview.cli._checkout import checkout_folder
from coview.cli._conversation import conversation_options, json_text, refuse_output, say, write_json

__all__ = ["PAPERS", "Paper", "reproduce"]


@dataclass(frozen=True)
class Paper:
    """A paper whose tables can be computed anew.

    Attributes
    ----------
    title : str
        With authors and year.
    contents : str
        What is reproduced of it.
    module : str
        Below the folder ``experiments``, with a function ``reproduce(data, *, repeats, seed, jobs, echo)`` that returns
        ``tables`` (Markdown), ``summary`` and ``scores`` (lists of rows), and what else is worth keeping.
    data : tuple of str
        Names that `coview.datasets.fetch` knows.
    """

    title: str
    contents: str
    module: str
    data: tuple[str, ...]


PAPERS: Mapping[str, Paper] = {
    "bayesian-co-training": Paper(
        title="Yu, Krishnapuram, Rosales, Rao: Bayesian Co-Training. JMLR 12, 2011",
        contents="tables 1 (Citeseer) and 2 (WebKB)",
        module="bayesian_co_training.tables",
        data=("citeseer", "webkb6"),
    ),
    "label-free-views": Paper(
        title="Jin, Raich, Miller: A generative semi-supervised model for multi-view learning when some views are label-free",
        contents="section 3.1 (synthetic) and digits spoken and written, of which only the spoken ones are labeled",
        module="label_free_views.tables",
        data=("spoken_digits", "mfeat"),
    ),
    "co-em": Paper(
        title="Bickel, Scheffer: Estimation of Mixture Models using Co-EM. ICML Workshop on Learning with Multiple Views, 2005",
        contents="figures 1 (clusters of linked documents) and 2 (random splits of text, consensus)",
        module="co_em.tables",
        data=("citeseer", "cora", "webkb6", "bbcsport", "three_sources", "parallel/sib200"),
    ),
    "co-regularization": Paper(
        title="Sindhwani, Niyogi, Belkin: A Co-Regularization Approach to Semi-supervised Learning with Multiple Views. ICML "
        "Workshop on Learning with Multiple Views, 2005",
        contents="tables 1 (pages about courses, twelve labels) and 2 (pages of four universities)",
        module="co_regularization.tables",
        data=("webkb_course", "webkb6"),
    ),
    "kernel-completion": Paper(
        title="Williams, Carin: Analytical Kernel Matrix Completion with Incomplete Multi-View Data. ICML Workshop on "
        "Learning with Multiple Views, 2005",
        contents="figures 1 and 2 and table 2 on data at hand: features and sensors removed",
        module="kernel_completion.tables",
        data=("uci/ionosphere", "landmine", "satimage"),
    ),
    "multi-view-gp": Paper(
        title="Liu, Sun: Multi-view Regularized Gaussian Processes. PAKDD, 2017",
        contents="table 2 (four universities, Ionosphere): posteriors of views that agree, beside GPs and SVM-2K",
        module="multi_view_gp.tables",
        data=(
            "webkb_universities/cornell",
            "webkb_universities/washington",
            "webkb_universities/wisconsin",
            "webkb_universities/texas",
            "uci/ionosphere",
        ),
    ),
    "active-features-and-labels": Paper(
        title="Krishnapuram, Williams, Xue, Hartemink, Carin, Figueiredo: Active Learning of Features and Labels. ICML Workshop "
        "on Learning with Multiple Views, 2005",
        contents="figure 2 on data at hand: labels and features of two sensors acquired one by one, against random trials",
        module="active_features_and_labels.tables",
        data=("satimage", "mfeat"),
    ),
    "active-sensing": Paper(
        title="Yu, Krishnapuram, Rosales, Rao: Active Sensing. AISTATS, 2009 (and sections 6.3 to 6.5 of Bayesian Co-Training)",
        contents="figures 5 to 7 (toy, lung cancer, three views of a patient): hidden views acquired one by one; "
        "the default model on heart patients and digits",
        module="active_sensing.tables",
        data=("nsclc_survival", "lung_ncctg", "mfeat"),
    ),
    "spectral-two-views": Paper(
        title="de Sa: Spectral Clustering with Two Views. ICML Workshop on Learning with Multiple Views, 2005",
        contents="section 3: web pages with text and anchor text, all with both or 90 to 10 %; stories of three newspapers",
        module="spectral_two_views.tables",
        data=("webkb6", "three_sources"),
    ),
    "hybrid-clustering": Paper(
        title="Gupta, Dasgupta: Hybrid Hierarchical Clustering: Forming a Tree From Multiple Views. ICML Workshop on Learning "
        "with Multiple Views, 2005",
        contents="section 5: trees of the phonemes, scored against their classes; trees of web pages cut into clusters",
        module="hybrid_clustering.tables",
        data=("phonemes", "webkb6"),
    ),
    "view-ensembles": Paper(
        title="Okun, Priisalu: Multiple Views in Ensembles of Nearest Neighbor Classifiers. ICML Workshop on Learning with "
        "Multiple Views, 2005",
        contents="table 1 (protein folds, features computed anew): chosen by the test set as printed, and without it",
        module="view_ensembles.tables",
        data=("protein_folds",),
    ),
    "multi-represented": Paper(
        title="Schubert: Comparability and Semantics in Mining Multi-Represented Objects. ICML Workshop on Learning with "
        "Multiple Views, 2005 (a talk)",
        contents="what its abstract says of nearest neighbors and of DBSCAN, tested on proteins, digits and photographs",
        module="multi_represented.tables",
        data=("protein_folds", "mfeat", "msrc_v1"),
    ),
    "method-comparison": Paper(
        title="Which method for which data: classifiers of coview for few labels, and what else one would do",
        contents="one comparison, of no paper: 1, 5, 10 and 50 labels per class on five data sets, mean ranks, times",
        module="method_comparison.tables",
        data=("satimage", "mfeat", "webkb_course", "citeseer"),
    ),
    "clustering-comparison": Paper(
        title="Which clustering for which data: clusterings of coview, of other libraries, and of columns side by side",
        contents="one comparison, of no paper: five data sets, complete and with views missing; ranks, times",
        module="clustering_comparison.tables",
        data=("mfeat", "msrc_v1", "bbcsport", "three_sources", "citeseer"),
    ),
}

_FILES = ("tables.md", "summary.csv", "scores.csv", "results.json")


@click.command()
@click.argument("paper", required=False)
@click.option(
    "--data",
    "data",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder that holds a folder per data set.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Random draws: of labeled samples, splits, starts; 1 for a quick look.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draws.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Parts worked on at a time.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Folder to write the results into."
)
@click.option("--force", is_flag=True, help="Overwrite results that are in the folder already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
@click.pass_context
def reproduce(
    ctx: click.Context,
    paper: str | None,
    data: Path | None,
    repeats: int,
    seed: int,
    jobs: int,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compute the tables of PAPER anew and set them beside what it printed.

    Without PAPER, lists the papers. The code is part of the source of coview and runs from a checkout; the data do not
    come with coview, and without --data the command says where they come from.
    """
    if paper is None:
        _list(as_json)
        return
    if paper not in PAPERS:
        raise click.BadParameter(
            f"there is no '{paper}'; the papers are {', '.join(PAPERS)}.", ctx, param_hint="'PAPER'"
        )
    if force and output is None:
        raise click.UsageError("--force says to overwrite results in a folder given by --output.", ctx)
    chosen = PAPERS[paper]
    _refuse_absent(chosen, data)
    experiments = checkout_folder("experiments")
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            refuse_output(output / name, force)
    result = _module(experiments, chosen.module).reproduce(data, repeats=repeats, seed=seed, jobs=jobs, echo=say)
    content = {"paper": paper, "title": chosen.title, "repeats": repeats, "seed": seed, **result}
    if output is not None:
        _write(output, content)
    if as_json:
        write_json("reproduce", content)
    else:
        click.echo(result["tables"])


def _list(as_json: bool) -> None:
    """Print one line per paper, or what is known of it as JSON."""
    if as_json:
        facts = [
            {"name": name, "title": paper.title, "contents": paper.contents, "data": list(paper.data)}
            for name, paper in PAPERS.items()
        ]
        write_json("reproduce", {"papers": facts})
        return
    for name, paper in PAPERS.items():
        click.echo(f"{name}\n    {paper.title}\n    {paper.contents}; data: {', '.join(paper.data)}")
    say()
    say("Compute one anew with: coview reproduce PAPER --data DIR")


def _refuse_absent(paper: Paper, data: Path | None) -> None:
    """Say of every data set whose files are not in the folder what it needs and where it comes from."""
    from coview.datasets import describe_fetchable

    lines = []
    for facts in map(describe_fetchable, paper.data):
        absent = [file for file in facts["files"] if data is None or not (data / file).is_file()]
        if absent:
            width = max(map(len, absent))
            lines += [f"{facts['name']}: from {facts['source']}; terms: {facts['licence']}."]
            lines += [f"    {file.ljust(width)}  {facts['files'][file]}" for file in absent]
    if lines:
        where = "--data DIR must name a folder with these files" if data is None else f"{data} lacks these files"
        listed = "\n".join(lines)
        raise click.ClickException(f"The data do not come with coview, and nothing is downloaded. {where}:\n{listed}")


def _module(experiments: Path, name: str) -> Any:
    """Import a module of the checkout; its folder stays on the path, so that worker processes find it, too."""
    if str(experiments) not in sys.path:
        sys.path.insert(0, str(experiments))
    return import_module(name)


def _write(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the tables, the rows behind them and everything together."""
    from coview.files import write_whole

    texts = (
        f"{content['tables']}\n",
        _csv(content["summary"]),
        _csv(content["scores"]),
        f"{json_text('reproduce', content)}\n",
    )
    for name, text in zip(_FILES, texts, strict=True):
        write_whole(folder / name, text, overwrite=True)
        say(f"Wrote {folder / name}")


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with the same keys as CSV; numbers in full, an empty cell where there is none."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: "" if value != value else value for key, value in row.items()} for row in rows)
    return text.getvalue()
