"""``coview cluster``: groups of samples that several views describe, as a table, a tree and a page."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coview.cli._cluster_job import ClusterJob, encoded
from coview.cli._cluster_methods import CLUSTER_METHODS, DEFAULT, ClusterCommand
from coview.cli._conversation import conversation_options, refuse_output, say, write_json
from coview.cli._data_options import data_options, read_data
from coview.cli._prediction_files import FORMATS, format_of, write_predictions
from coview.cli._record import cluster_record, command_line

if TYPE_CHECKING:
    from coview.files import TableOptions, TableSet

__all__ = ["cluster"]

_FURTHER = (("tree", "newick"), ("page", "report"), ("model", "model"))

# What is said of labels that are learned from, and not here, where they are only compared with.
_HARMLESS = {
    "one_class",
    "no_labels",
    "constant_labels",
    "rare_class",
    "unbalanced_classes",
    "few_labels",
    "outlying_targets",
}


@click.command(cls=ClusterCommand)
@data_options
@click.option("--method", metavar="NAME", default=DEFAULT,
              help=f"The method, {DEFAULT} unless given; 'list' lists those that fit the data.")  # fmt: skip
@click.option("-n", "--n-clusters", type=click.IntRange(min=1), metavar="N",
              help="Number of clusters; chosen by the largest eigengap unless given.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the method, 0 unless given.")
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write; stdout unless given, or for '-'.")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="By the name of FILE unless given; else csv.")
@click.option(
    "--newick", type=click.Path(path_type=Path), metavar="FILE", help="Write the tree of a method that has one."
)
@click.option(
    "--report", type=click.Path(path_type=Path), metavar="FILE", help="Write a page with pictures of the clusters."
)
@click.option("-m", "--model", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the fitted model, with which coview predict places new samples.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite files that are there already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; with -o FILE, about what was written.")
@conversation_options
@click.pass_context
def cluster(
    ctx: click.Context,
    data: "TableOptions",
    method: str,
    n_clusters: int | None,
    seed: int,
    output: str,
    format_: str | None,
    newick: Path | None,
    report: Path | None,
    model: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Group samples by all of their views.

    DATA as for coview fit. Labels are not needed and not used; where the data have some, the clusters are compared with them.
    """
    if method == "list":
        _list_methods(ctx, data, as_json)
        return
    kind = format_ or format_of(output)
    _check_method(ctx, method, n_clusters, newick)
    _check_output(ctx, output, kind, [newick, report, model], force, as_json)
    table_set = _read(ctx, data)
    job = ClusterJob(table_set, method, n_clusters, seed)
    for note in job.notes:
        say(f"note: {note}")
    facts = _facts(job, method)
    if newick is not None:
        _write_text(newick, job.model.to_newick(job.views.index.tolist()) + "\n", force)
        facts["newick"] = str(newick)
    if report is not None:
        _write_text(report, _page(ctx, job, method), force)
        facts["report"] = str(report)
    if model is not None:
        _save(ctx, job, facts, model, force)
        facts["model"] = str(model)
    _give(job, facts, output, kind, force, as_json)


def _check_method(ctx: click.Context, method: str, n_clusters: int | None, newick: Path | None) -> None:
    """Refuse what does not go together."""
    if method not in CLUSTER_METHODS:
        raise click.BadParameter(
            f"there is no method '{method}'; there are {', '.join(CLUSTER_METHODS)}.", ctx, param_hint="'--method'"
        )
    chosen = CLUSTER_METHODS[method]
    if n_clusters is not None and not chosen.counts:
        raise click.UsageError(f"Method '{method}' finds the number of clusters itself; leave out --n-clusters.", ctx)
    if newick is not None and not chosen.tree:
        trees = " and ".join(name for name, other in CLUSTER_METHODS.items() if other.tree)
        raise click.UsageError(f"Method '{method}' makes no tree for --newick; {trees} do.", ctx)


def _check_output(
    ctx: click.Context, output: str, kind: str, others: "list[Path | None]", force: bool, as_json: bool
) -> None:
    """Refuse before the work what could not be written after it."""
    files = [Path(output)] if output != "-" else []
    files += [path for path in others if path is not None]
    if len({path.absolute() for path in files}) < len(files):
        raise click.UsageError("Two outputs have the same name; give each file its own.", ctx)
    for path in files:
        refuse_output(path, force)
    if force and not files:
        raise click.UsageError("--force says to overwrite a file, and none is named.", ctx)
    if output == "-" and kind == "parquet":
        raise click.UsageError("Parquet is not text for stdout; name a file with -o FILE.", ctx)
    if output == "-" and as_json and ctx.get_parameter_source("format_") is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--json and --format both say what to print; give one.", ctx)


def _read(ctx: click.Context, data: "TableOptions") -> "TableSet":
    """The data, with labels where they are named; they are no features then."""
    table_set = read_data(ctx, data, strict=False, unsaid=_HARMLESS, errors=False)
    errors = [f for f in table_set.findings if f.level == "error" and f.code not in _HARMLESS]
    if errors:
        raise click.ClickException("\n".join(f"{f.message} {f.advice}".strip() for f in errors[:5]))
    return table_set


def _list_methods(ctx: click.Context, data: "TableOptions", as_json: bool) -> None:
    """Print the methods, judged by the data where there are any: those that fit first."""
    problems: dict[str, str | None] = dict.fromkeys(CLUSTER_METHODS)
    if data.names_data:
        _, _, facts = encoded(_read(ctx, data))
        problems = {name: method.objection(facts) for name, method in CLUSTER_METHODS.items()}
    order = sorted(problems, key=lambda name: problems[name] is not None)
    texts = {
        name: CLUSTER_METHODS[name].description if problems[name] is None else f"not here: {problems[name]}"
        for name in order
    }
    if as_json:
        write_json("cluster", {"methods": [{"name": name, "description": text} for name, text in texts.items()]})
        return
    width = max(map(len, texts))
    for name, text in texts.items():
        click.echo(f"{name:<{width}}  {text}")


def _facts(job: ClusterJob, method: str) -> dict[str, Any]:
    """What came out, in JSON's types."""
    agreement = job.agreement()
    chosen = "given" if job.gaps is None else "eigengap"
    return {
        "method": method,
        "seed": job.seed,
        "n_samples": job.table_set.tables.n_samples,
        "n_clusters": len(job.sizes()),
        "n_clusters_by": chosen if job.method.counts else "method",
        "eigengaps": None if job.gaps is None else {str(k): float(gap) for k, gap in job.gaps.items()},
        "sizes": {str(c): size for c, size in job.sizes().items()},
        "n_outside": job.n_outside(),
        "without_view": job.table_set.tables.ids.difference(job.views.index, sort=False).astype(str).tolist(),
        "agreement": None if agreement is None else agreement.to_dict(),
        "labels": job.known(),
        "notes": job.notes,
    }


def _give(job: ClusterJob, facts: dict[str, Any], output: str, kind: str, force: bool, as_json: bool) -> None:
    """Write the table, and say what is in it."""
    table = job.table()
    if output != "-":
        write_predictions([table], Path(output), kind, overwrite=force)
        if as_json:
            write_json("cluster", {"output": output, "format": kind, **facts})
            return
    elif as_json:
        write_json("cluster", {**facts, "clusters": table.to_dict("records")})
        return
    else:
        write_predictions([table], sys.stdout, kind)
    for line in _lines(facts):
        say(line)
    places = [f"the {what} to {facts[key]}" for what, key in _FURTHER if key in facts]
    if output != "-" or places:
        say("written " + "; ".join([*([f"to {output}"] if output != "-" else []), *places]))


def _lines(facts: dict[str, Any]) -> list[str]:
    """The facts in words."""
    sizes = ", ".join(map(str, facts["sizes"].values()))
    number = facts["n_clusters"]
    line = f"{number} cluster{'s' * (number != 1)} by {facts['method']}, of {sizes or 'no'} samples"
    if facts["n_outside"]:
        line += f"; {facts['n_outside']} belong to none (-1)"
    if facts["without_view"]:
        line += f"; {len(facts['without_view'])} have no view and were left empty"
    lines = [line]
    if facts["eigengaps"]:
        gaps = sorted(facts["eigengaps"].items(), key=lambda item: -item[1])[:3]
        lines.append("number of clusters by the largest eigengap: " + ", ".join(f"{k} {gap:.3f}" for k, gap in gaps))
    if facts["agreement"]:
        own = {view: value for view, value in facts["agreement"]["all views"].items() if view != "all views"}
        words = ", ".join(f"{view} {value:.2f}" for view, value in own.items())
        lines.append(f"adjusted Rand index with the clusters of a view alone: {words}")
    if facts["labels"]:
        known = facts["labels"]
        lines.append(
            f"against '{known['target']}' ({known['n_labeled']} samples): adjusted Rand index {known['adjusted_rand']:.2f}, "
            f"{known['entropy_bits']:.2f} bits left open of {known['entropy_bits_without_clusters']:.2f}"
        )
    return lines


def _page(ctx: click.Context, job: ClusterJob, method: str) -> str:
    """The page about the clusters."""
    from coview.report import cluster_report, render_report

    labels = job.table_set.labels
    classes = None if labels is None or labels.dtype.kind == "f" else labels.reindex(job.views.index).tolist()
    return render_report(
        cluster_report(
            job.model, job.views, method=method, gaps=job.gaps, alone=job.alone, classes=classes,
            target=str(job.table_set.target or "the known classes"), notes=job.notes,
            made=[("command", command_line(ctx, output="FILE")), ("seed", str(job.seed))],
        )
    )  # fmt: skip


def _save(ctx: click.Context, job: ClusterJob, facts: dict[str, Any], path: Path, force: bool) -> None:
    """Write encoding and clusterer, for coview predict."""
    from sklearn.pipeline import Pipeline

    from coview.persistence import save_model

    record = cluster_record(job.table_set, command=command_line(ctx), facts=facts)
    save_model(Pipeline([*job.encoder.steps, ("model", job.model)]), path, record=record, overwrite=force)


def _write_text(path: Path, text: str, force: bool) -> None:
    """Write beside and rename."""
    from coview.files import write_whole

    write_whole(path, text, overwrite=force)
