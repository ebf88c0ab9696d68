"""What ``coview fit`` prints about a model: data, scores, verdict, trust in views, encoding."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from coview.cli._layout import in_columns
from coview.cli._record import summarized

__all__ = ["model_facts", "print_fit"]

_TITLES = {
    "accuracy": "accuracy", "log_loss": "log loss", "auc": "AUC", "brier": "Brier score",
    "calibration_error": "calibration error", "rmse": "RMSE", "mae": "MAE", "r2": "R²",
    "negative_log_density": "neg. log density", "coverage_90": "90 % coverage",
}  # fmt: skip
_LEGEND = {
    "classification": "higher is better for accuracy and AUC, lower for the rest",
    "regression": "lower is better for RMSE, MAE and density; R² of 1 is perfect, 0 no better than the mean",
}


def print_fit(record: Mapping[str, Any], model: Any, output: Path) -> None:
    """Print everything about a fit that a person wants to know before taking the model home."""
    click.echo(summarized(record))
    click.echo()
    if record["evaluation"] is not None:
        _print_scores(record)
        click.echo()
    for sentence in record["verdict"]:
        click.echo(sentence)
    click.echo()
    _print_views(record, model)
    unlabeled = record["n_samples"] - record["n_labeled"]
    also = f"; predictions for the {unlabeled} unlabeled ones come from coview predict" if unlabeled else ""
    click.echo(f"The model was fitted to all samples{also}. It is in {output}")


def _print_scores(record: Mapping[str, Any]) -> None:
    """Print a row per method and a column per score."""
    from coview.model_selection import ALONE, PRIOR_NAMES

    evaluation = record["evaluation"]
    metrics = list(dict.fromkeys(score["metric"] for score in evaluation["scores"]))
    cells = {(score["method"], score["metric"]): _cell(score) for score in evaluation["scores"]}
    rows = [["method", *(_TITLES[metric] for metric in metrics)]]
    rows += [[method, *(cells[method, metric] for metric in metrics)] for method in evaluation["predictions"]]
    for line in in_columns(rows):
        click.echo(line)
    click.echo(
        f"{evaluation['n_splits']} folds over {len(evaluation['samples'])} labeled samples, each predicted by models that "
        f"had not seen it; ± standard error over folds; {_LEGEND[record['task']]}"
    )
    if any(method.endswith(ALONE) for method in evaluation["predictions"]):
        click.echo(
            f"alone: the method fitted to that view only; samples without it count as {PRIOR_NAMES[record['task']]}"
        )


def _cell(score: Mapping[str, Any]) -> str:
    if score["mean"] is None:
        return "-"
    error = "" if score["se"] is None else f" ± {score['se']:.3f}"
    return f"{score['mean']:.3f}{error}"


def _print_views(record: Mapping[str, Any], model: Any) -> None:
    """Print how every view was encoded, and how far the model trusts it where it says so."""
    facts = model_facts(model)
    for line in facts["encoding"]:
        click.echo(line)
    click.echo()
    for line in _trust_lines(model):
        click.echo(line)


def _trust_lines(model: Any) -> list[str]:
    """Return a table of the trust in each view, or a sentence where there is nothing to tell apart."""
    from coview.inspection import EQUAL_SHARES, tell_views_apart

    trust = getattr(model[-1], "view_trust_", None)
    if trust is None or len(trust) < 2:
        return []
    if not tell_views_apart(trust):
        return [EQUAL_SHARES, ""]
    rows = [["view", "trust", "90 % interval", "samples", ""]]
    for view in trust.reset_index().to_dict("records"):
        interval = f"{view['lower']:.2f} to {view['upper']:.2f}"
        status = "" if view["status"] == "assessed" else view["status"]
        rows.append([view["view"], f"{view['share']:.2f}", interval, str(view["n_samples"]), status])
    return [*in_columns(rows), ""]


def model_facts(model: Any) -> dict[str, Any]:
    """Return what the fitted pipeline says about itself: encoding in words, trust in views where it has any."""
    facts: dict[str, Any] = {"encoding": model[0].summary()}
    trust = getattr(model[-1], "view_trust_", None)
    if trust is not None:
        facts["view_trust"] = trust.reset_index().to_dict("records")
    return facts
