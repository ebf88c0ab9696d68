"""``coview new``: a campaign of measurements in a file of its own."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coview.cli._campaigns import money, project_argument
from coview.cli._conversation import conversation_options, refuse_output, say, write_json
from coview.cli._data_options import data_options
from coview.cli._fit import FitJob, read_labeled
from coview.cli._methods import DEFAULT
from coview.cli._record import command_line

if TYPE_CHECKING:
    from coview.files import TableOptions, TableSet

__all__ = ["CRITERIA", "new"]

CRITERIA = (
    "expected_entropy",
    "mutual_information",
    "mutual_information_bound",
    "variance",
    "a_optimality",
    "random",
)


@click.command()
@project_argument
@data_options
@click.option("--method", metavar="NAME", help=f"The method, {DEFAULT} unless given, as in coview fit.")
@click.option(
    "-m",
    "--model",
    type=click.Path(path_type=Path),
    metavar="MODEL",
    help="A model that coview fit wrote: its method and encoding, fitted anew to the data.",
)
@click.option("--costs", type=click.Path(path_type=Path), metavar="FILE", help="What each view, or feature, costs.")
@click.option(
    "--pair-costs",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What single pairs of sample and view cost, or that they are impossible.",
)
@click.option(
    "--label-cost",
    type=click.FloatRange(min=0),
    metavar="X",
    help="What one label costs, in the same unit; nothing unless given.",
)
@click.option(
    "--budget", type=click.FloatRange(min=0), metavar="X", help="In the unit of the costs; none unless given."
)
@click.option(
    "--criterion",
    type=click.Choice(CRITERIA),
    help="What ranks; expected_entropy unless given, a_optimality for numbers.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of method and criterion, 0 unless given.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
@click.pass_context
def new(
    ctx: click.Context,
    project: Path,
    data: "TableOptions",
    method: str | None,
    model: Path | None,
    costs: Path | None,
    pair_costs: Path | None,
    label_cost: float | None,
    budget: float | None,
    criterion: str | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Begin a campaign of measurements: which sample should get which missing view, or a label, next?

    PROJECT is a new file that holds the data, the model and every answer. DATA as for coview fit, some samples without some of
    the views. Go on with coview acquire and coview tell.
    """
    if method is not None and model is not None:
        raise click.UsageError("--method and --model both say how to learn; give one.", ctx)
    if budget is not None and costs is None and pair_costs is None and label_cost is None:
        raise click.UsageError("--budget needs --costs FILE: what each view costs (or --label-cost X).", ctx)
    refuse_output(project, force=False)
    prices = _costs(costs, pair_costs, label_cost)
    table_set, _ = read_labeled(ctx, data)
    number = int(data.fit.get("seed", 0)) if seed is None else seed
    pipeline, task = _pipeline(table_set, str(method or data.fit.get("method") or DEFAULT), model, number)

    from coview.acquisition import Campaign

    notes = {
        "target": table_set.target or "label",
        "id_name": table_set.id_name,
        "task": task,
        "begun_by": command_line(ctx).removesuffix(" -o MODEL"),
    }
    with Campaign(
        pipeline,
        table_set,
        table_set.labels,
        criterion=criterion or _usual_criterion(table_set, task),
        costs=prices,
        budget=budget,
        path=project,
        random_state=number,
        notes=notes,
    ) as campaign:
        status = campaign.status()
    if as_json:
        write_json("new", {"project": str(project), **notes, "status": status})
        return
    click.echo(f"{project}: {status['samples']} samples, {status['labeled']} labeled by '{notes['target']}'")
    click.echo(
        f"{status['open']} measurements are open" + (f"; {money(status)}" if status["spent"] is not None else "")
    )
    if status["remark"]:
        click.echo(status["remark"])
    say(f"Next: coview acquire {project}")


def _usual_criterion(table_set: "TableSet", task: str) -> str:
    """The default criterion where there are classes to be predicted; said where there are none."""
    if task == "regression":
        return "a_optimality"
    labels = table_set.labels
    if labels is not None and labels.notna().all():
        say(
            "note: all samples are labeled, so none is left whose prediction could become surer. The criterion is "
            "mutual_information: what tells most about the function. Add samples without label for expected_entropy."
        )
        return "mutual_information"
    return "expected_entropy"


def _costs(costs: Path | None, pair_costs: Path | None, label_cost: float | None) -> Any:
    """Costs as they stand in the files, with that of a label."""
    if costs is None and pair_costs is None and label_cost is None:
        return None
    from coview.acquisition import Costs
    from coview.files import read_costs

    of_views = Costs() if costs is None and pair_costs is None else Costs.of(read_costs(costs, pairs=pair_costs))
    return of_views if of_views is None or label_cost is None else replace(of_views, label=label_cost)


def _pipeline(table_set: "TableSet", method: str, model: Path | None, seed: int) -> tuple[Any, str]:
    """An encoder of tables and a model behind it, and the task."""
    from sklearn.base import is_classifier, is_clusterer
    from sklearn.pipeline import Pipeline

    if model is None:
        job = FitJob(table_set, method, seed)
        return Pipeline([("encode", job.encoder), ("model", job.estimator)]), job.facts.task
    from coview.persistence import load_model

    saved = load_model(model).model
    task = "regression" if table_set.labels is not None and table_set.labels.dtype.kind == "f" else "classification"
    if is_clusterer(saved) or is_classifier(saved) != (task == "classification"):
        raise ValueError(f"{model} is no model for {task}, which the labels ask for. Give --task, or another model.")
    return saved, task
