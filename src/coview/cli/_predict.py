"""``coview predict``: a model from a file, new data, and a prediction for every sample."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coview.cli._conversation import conversation_options, refuse_output, say, write_json
from coview.cli._data_options import data_options, read_data
from coview.cli._prediction_files import FORMATS, format_of, write_predictions

if TYPE_CHECKING:
    import pandas as pd

    from coview.files import TableOptions, TableSet
    from coview.views import AlignedTables

__all__ = ["predict"]


@click.command()
@data_options
@click.option(
    "-m",
    "--model",
    required=True,
    type=click.Path(path_type=Path),
    metavar="MODEL",
    help="File that coview fit or coview cluster wrote.",
)
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write; stdout unless given, or for '-'.")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="By the name of FILE unless given; else csv.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there already.")
@click.option(
    "--no-view",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    help="What to do with samples that have none of the model's views: fail, or leave their predictions empty.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; with -o FILE, about what was written.")
@conversation_options
@click.pass_context
def predict(
    ctx: click.Context,
    data: "TableOptions",
    model: Path,
    output: str,
    format_: str | None,
    force: bool,
    no_view: str,
    as_json: bool,
) -> None:
    """Predict the labels, or clusters, of new samples with a model that coview fit or coview cluster wrote.

    DATA as for coview fit, without labels. Any of the model's views will do, in any order of columns; a sample has those
    views whose tables list it.
    """
    from coview.persistence import load_model

    kind = format_ or format_of(output)
    _check_output(ctx, output, kind, force, as_json)
    saved = load_model(model)
    _check_record(saved.record)
    target = str(saved.record.get("target") or "")
    table_set = read_data(ctx, data, labels=False, ignored=(target,) if target else ())
    tables = _known(table_set, saved.model)
    _say_trained(saved.record, tables)
    _say_new_patterns(saved.record, tables)
    _say_gaps(saved.model, tables)
    blocks = _Blocks(saved.model, tables, table_set.id_name, no_view)
    if output != "-":
        write_predictions(blocks, Path(output), kind, overwrite=force)
        summary = {"output": output, "format": kind, **blocks.facts()}
        if as_json:
            write_json("predict", summary)
        else:
            say(f"{blocks.line()}; written to {output}")
    elif as_json:
        rows = [row for block in blocks for row in block.to_dict("records")]
        write_json("predict", {**blocks.facts(), "predictions": rows})
    else:
        write_predictions(blocks, sys.stdout, kind)
        say(blocks.line())


def _check_output(ctx: click.Context, output: str, kind: str, force: bool, as_json: bool) -> None:
    """Refuse before the work what could not be written after it."""
    if output == "-":
        if kind == "parquet":
            raise click.UsageError("Parquet is not text for stdout; name a file with -o FILE.", ctx)
        if force:
            raise click.UsageError("--force says to overwrite a file given by -o FILE.", ctx)
        if as_json and ctx.get_parameter_source("format_") is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError("--json and --format both say what to print; give one.", ctx)
        return
    refuse_output(output, force)


def _check_record(record: Mapping[str, Any]) -> None:
    """Refuse a record of another shape than coview fit writes; what is absent is not asked for."""
    evaluation, patterns = record.get("evaluation"), record.get("patterns", [])
    whole = evaluation is None or (isinstance(evaluation, dict) and isinstance(evaluation.get("samples"), list))
    whole = whole and isinstance(patterns, list)
    for pattern in patterns if whole else ():
        views = pattern.get("views") if isinstance(pattern, dict) else None
        named = isinstance(views, list) and all(isinstance(name, str) for name in views)
        whole = whole and named and isinstance(pattern.get("n_labeled"), int)
    if not whole:
        raise click.ClickException("The record in the model file is not what coview fit writes. Fit the model anew.")


def _known(table_set: "TableSet", model: Any) -> "AlignedTables":
    """The tables with the model's columns; what it does not know is left out, and said."""
    from coview.views import select_known

    tables, findings = select_known(table_set.tables, model[0].view_names_, model[0].view_feature_names_)
    for finding in findings:
        say(f"{finding.level}: {finding.message} {finding.advice}".rstrip())
    return tables


def _say_trained(record: Mapping[str, Any], tables: "AlignedTables") -> None:
    """Say how many of the samples the model was taught the label of."""
    evaluation = record.get("evaluation")
    trained = tables.ids.astype(str).isin(evaluation["samples"]).sum() if evaluation else 0
    if trained:
        say(
            f"note: {trained} of these samples had a label in training: their predictions do not show how good the model is."
        )


def _say_new_patterns(record: Mapping[str, Any], tables: "AlignedTables") -> None:
    """Say which combinations of views no labeled training sample had by themselves, and which not even among others."""
    from coview.views import presence_summary

    taught = {frozenset(p["views"]): p["n_labeled"] for p in record.get("patterns", ()) if p["n_labeled"]}
    if not taught:
        return
    for row in presence_summary(tables).to_dict("records"):
        views = [name for name in tables.names if row[name]]
        if not views or frozenset(views) in taught:
            continue
        having = sum(count for pattern, count in taught.items() if pattern.issuperset(views))
        who = f"{row['n_samples']} of these samples have {' and '.join(views)} only"
        if having:
            say(
                f"note: {who}; {having} labeled training samples had more views than that and none just these, so how good "
                "their probabilities are was not put to the test."
            )
        else:
            together = " together" if len(views) > 1 else ""
            say(
                f"warning: {who}, which no labeled training sample had{together}: nobody knows how good their probabilities are."
            )


def _say_gaps(model: Any, tables: "AlignedTables") -> None:
    """Say which values the encoding does not know, and how many gaps it fills."""
    counts = model[0].count_gaps(tables)
    unknown = counts[counts["unknown"] > 0]
    for view, column, count in unknown[["view", "column", "unknown"]].head(10).itertuples(index=False):
        values = f"{count} value{'s' * (count != 1)} of '{column}' in view '{view}'"
        say(f"note: {values} never occurred in training and count as none.")
    gaps = counts.groupby("view", sort=False)["gaps"].sum()
    filled = ", ".join(f"{view} {count}" for view, count in gaps.items() if count)
    if filled:
        say(f"note: gaps filled as in training: {filled}")


class _Blocks:
    """Predictions block by block, counted as they pass."""

    def __init__(self, model: Any, tables: "AlignedTables", id_name: str, no_view: str) -> None:
        self.model, self.tables, self.id_name, self.no_view = model, tables, id_name, no_view
        self.predicted: Counter[str] = Counter()
        self.n_samples = 0
        self.without: list[str] = []

    def __iter__(self) -> Iterator["pd.DataFrame"]:
        from coview.inspection import prediction_blocks

        for block in prediction_blocks(self.model, self.tables, no_view=self.no_view):  # type: ignore[arg-type]
            self.n_samples += len(block)
            answer = "cluster" if "cluster" in block else "predicted"
            empty = block[answer].isna()
            self.without += block.index[empty].tolist()
            if "probability" in block or answer == "cluster":
                self.predicted.update(str(label) for label in block[answer][~empty])
            name = self.id_name if self.id_name not in block else "id"
            yield block.rename_axis(name).reset_index()

    def facts(self) -> dict[str, Any]:
        """Counts of what was predicted."""
        facts: dict[str, Any] = {"n_samples": self.n_samples, "without_view": self.without}
        return facts | ({"predicted": dict(sorted(self.predicted.items()))} if self.predicted else {})

    def line(self) -> str:
        """The counts in words."""
        words = ", ".join(f"{label} {count}" for label, count in sorted(self.predicted.items()))
        line = f"{self.n_samples} samples predicted{': ' if words else ''}{words}"
        if self.without:
            line += f"; {len(self.without)} have none of the model's views and were left empty: {', '.join(self.without[:5])}"
        return line
