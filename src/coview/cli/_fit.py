"""``coview fit``: from data and labels to a model in a file, with what it is worth."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coview.cli._conversation import conversation_options, refuse_output, say, write_json
from coview.cli._data_options import data_options, read_data
from coview.cli._fit_lines import model_facts, print_fit
from coview.cli._layout import progress_bar
from coview.cli._methods import DEFAULT, SIMPLE, DataFacts, MethodCommand, chosen_method, method_lines
from coview.cli._record import command_line, fit_record

if TYPE_CHECKING:
    from coview.files import TableOptions, TableSet
    from coview.views import Finding

__all__ = ["FitJob", "fit", "read_labeled"]

_FOLDS = 5
_MOST_PROBLEMS = 10


@click.command(cls=MethodCommand)
@data_options
@click.option(
    "--method", metavar="NAME", help=f"The method, {DEFAULT} unless given; 'list' lists those that fit the data."
)
@click.option(
    "--cv", type=click.IntRange(min=0), help=f"Folds of the cross-validation, {_FOLDS} unless given; 0 for none."
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of folds and method, 0 unless given.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, help="Folds at the same time, 1 unless given.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="MODEL", help="File to write the model to.")
@click.option("--force", is_flag=True, help="Overwrite MODEL if it is there already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
@click.pass_context
def fit(
    ctx: click.Context,
    data: "TableOptions",
    method: str | None,
    cv: int | None,
    seed: int | None,
    jobs: int,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Fit a model to labeled data, say what it is worth, and write it to a file.

    DATA are one or several files (a view each), a folder with coview.toml, or --view NAME=FILE for each view. Rows are
    matched by sample id; samples without a label help too. The scores are those of samples that were not in training.
    """
    name = str(method or data.fit.get("method") or DEFAULT)
    if name == "list":
        _list_methods(ctx, data, as_json)
        return
    if output is None:
        raise click.UsageError("-o MODEL is needed: the file to write the model to.", ctx)
    _refuse_output(output, force)
    folds = int(data.fit.get("cv", _FOLDS)) if cv is None else cv
    if folds == 1:
        raise click.UsageError("--cv 1 would leave nothing to train on; give 2 or more folds, or 0 for none.", ctx)
    number = int(data.fit.get("seed", 0)) if seed is None else seed
    table_set, findings = read_labeled(ctx, data)
    job = FitJob(table_set, name, number)
    record = fit_record(
        table_set, task=job.facts.task, method=name, seed=number, command=command_line(ctx), findings=findings
    )
    model = job.run(record, folds, jobs)

    from coview.persistence import save_model

    save_model(model, output, record=record, overwrite=force)
    if as_json:
        write_json("fit", {"output": str(output), "record": record, **model_facts(model)})
    else:
        print_fit(record, model, output)


def _refuse_output(output: Path, force: bool) -> None:
    """Say before the long work that its result could not be written."""
    if str(output) == "-":
        raise click.ClickException("A model is not text for stdout; name a file with -o.")
    refuse_output(output, force)


def read_labeled(ctx: click.Context, data: "TableOptions") -> tuple["TableSet", list["Finding"]]:
    """Return data and findings; raise where these data cannot be fitted."""
    from coview.views import find_problems, merge_findings

    if data.target is None and data.labels is None:
        raise click.UsageError(
            "--target COL is needed: the column of the labels (and --labels FILE if it has its own).", ctx
        )
    table_set = read_data(ctx, data)
    if table_set.labels is None:
        raise click.UsageError("There are no labels in these data; name their column with --target.", ctx)
    said = set(map(id, table_set.findings))
    findings = merge_findings(table_set.findings, find_problems(table_set.tables, table_set.labels))
    new = [finding for finding in findings if finding.level == "warning" and id(finding) not in said]
    for finding in new[:_MOST_PROBLEMS]:
        say(f"{finding.level}: {finding.message} {finding.advice}".rstrip())
    errors = [finding for finding in findings if finding.level == "error"]
    if errors:
        lines = [f"{error.message} {error.advice}".rstrip() for error in errors[:_MOST_PROBLEMS]]
        raise click.ClickException("\n".join(lines))
    return table_set, findings


def _list_methods(ctx: click.Context, data: "TableOptions", as_json: bool) -> None:
    """Print the methods, judged by the data where there are any."""
    facts = FitJob(read_data(ctx, data), DEFAULT, 0).facts if data.names_data else None
    lines = method_lines(facts)
    if as_json:
        write_json(
            "fit", {"methods": [dict(zip(("name", "description"), line.split(None, 1), strict=True)) for line in lines]}
        )
        return
    for line in lines:
        click.echo(line)


class FitJob:
    """One fit: tables and labels, how they are encoded, and the method."""

    def __init__(self, table_set: "TableSet", method: str, seed: int) -> None:
        from coview.compose import TableEncoder

        if table_set.labels is None:
            raise click.UsageError("There are no labels in these data; name their column with --target.")
        self.table_set, self.seed, self.method = table_set, seed, method
        self.labels = table_set.labels.to_numpy()
        encoder = TableEncoder().fit(table_set)
        # Folds read every column as the whole does: what looks like prose among all may not among some.
        self.encoder = TableEncoder(
            text_columns=encoder.text_columns_, categorical_columns=encoder.categorical_columns_
        )
        counts = {} if self.labels.dtype.kind == "f" else table_set.labels.value_counts().to_dict()
        self.facts = DataFacts(
            "classification" if counts else "regression",
            table_set.tables.n_samples,
            int(table_set.labels.count()),
            len(encoder.get_feature_names_out()),
            bool(encoder.sparse_views_),
            len(table_set.tables.names),
            len(counts),
            min(counts.values(), default=0),
        )
        self.estimator = chosen_method(method, self.facts).make(self.facts, seed)

    def run(self, record: dict[str, Any], folds: int, jobs: int) -> Any:
        """Evaluate the method, note in the record what came out, and return the model of all samples."""
        from sklearn.base import clone
        from sklearn.pipeline import Pipeline

        with progress_bar("cross-validation") as progress:
            self._evaluate(record, folds, jobs, progress)
            progress(0, 1, f"{self.method}, all samples")
            model = Pipeline([("encode", clone(self.encoder)), ("model", self.estimator)])
            model.fit(self.table_set, self.labels)
        return model

    def _evaluate(self, record: dict[str, Any], folds: int, jobs: int, progress: Any) -> None:
        """Cross-validate as far as the labels allow."""
        from coview.model_selection import cross_validate_methods, possible_splits, verdict

        task: Any = self.facts.task
        possible = possible_splits(self.labels, folds, task=task) if folds > 1 else 0
        if not possible:
            reason = (
                "no cross-validation was asked for" if not folds else "there are too few labels for cross-validation"
            )
            record["verdict"] = [f"What this model is worth was not measured: {reason}."]
            return
        if possible < folds:
            say(f"note: {possible} folds instead of {folds}, as there are no more labels that can be left out")
        simple, simple_row = SIMPLE[task]
        methods = {self.method: self.estimator}
        if self.method != simple:
            methods[simple_row] = chosen_method(simple, self.facts).make(self.facts, self.seed)
        evaluation = cross_validate_methods(
            methods,
            self.table_set,
            self.labels,
            n_splits=possible,
            task=task,
            random_state=self.seed,
            views_alone_of=self.method,
            progress=progress,
            encoder=self.encoder,
            n_jobs=jobs,
        )
        record["evaluation"] = evaluation.to_dict()
        record["verdict"] = verdict(evaluation, self.method, simple=simple_row if len(methods) > 1 else None)
