"""``coview tell``: what came back, checked as a whole before anything is kept."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coview.cli._campaigns import money, opened, project_argument
from coview.cli._conversation import conversation_options, say, write_json
from coview.cli._results import Answer, read_answers

if TYPE_CHECKING:
    from coview.acquisition import Campaign

__all__ = ["tell"]

_MOST_SHOWN = 20
_MOST_CROSSED = 5
# The criterion whose utilities are falls of the total entropy, as answers then bring them.
_FORECAST = "expected_entropy"


class _RehearsedError(Exception):
    """Leaves a step that is not to be kept."""


@click.command()
@project_argument
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@click.option("--gaps", is_flag=True, help="An empty cell beside filled ones of its view was not measured.")
@click.option("--replace", is_flag=True, help="Correct what is known: other values are no conflict.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
def tell(project: Path, results: Path, dry_run: bool, gaps: bool, replace: bool, as_json: bool) -> None:
    """Take in what came back: measured views, labels, and what could not be measured.

    RESULTS is the file that coview acquire -o wrote, filled in: any of its rows, in any order. Rows that are empty stay open.
    All rows are checked before anything is kept; telling the same again changes nothing.
    """
    with opened(project) as campaign:
        answers, problems, empty = read_answers(results, campaign, gaps=gaps)
        before = None if dry_run or problems or not answers else _Standing(campaign)
        report, last = _Report(empty), int(campaign.history["event"].max() if len(campaign.history) else 0)
        try:
            with campaign.together():
                for answer in answers:
                    _take_in(campaign, answer, replace, report, problems)
                if problems:
                    shown = problems[:_MOST_SHOWN]
                    more = [f"and {len(problems) - len(shown)} more"] if len(problems) > len(shown) else []
                    raise click.ClickException("\n".join([*shown, *more, "Nothing was changed."]))
                report.status = campaign.status()
                if dry_run:
                    raise _RehearsedError
        except _RehearsedError:
            pass
        for warning in report.warnings:
            say(f"warning: {warning}")
        effect = None if before is None or not report.changed else _effect(before, campaign, last)
        if as_json:
            facts = {"crossed": [], "entropy": None} if effect is None else effect
            write_json("tell", {"project": str(project), "dry_run": dry_run, **report.facts(), **facts})
        else:
            _print(report, effect, dry_run)


class _Report:
    """What answers changed."""

    def __init__(self, empty: int) -> None:
        self.empty, self.known = empty, 0
        self.changed: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.status: dict[str, Any] = {}

    def note(self, answer: Answer, what: str, is_new: bool, detail: str) -> None:
        """Count one answer."""
        if not is_new:
            self.known += 1
            return
        row = {"place": answer.place, "sample": answer.sample, "what": what, "detail": detail}
        self.changed.append(row | ({"view": answer.view} if answer.view else {}))

    def facts(self) -> dict[str, Any]:
        """All of it."""
        return {
            "changed": self.changed,
            "known_already": self.known,
            "empty": self.empty,
            "warnings": self.warnings,
            "status": self.status,
        }


def _take_in(campaign: "Campaign", answer: Answer, replace: bool, report: _Report, problems: list[str]) -> None:
    """Tell one answer; what is wrong with it is noted, and the next one is looked at."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            if answer.cells:
                is_new = campaign.tell(answer.sample, view=answer.view, values=answer.cells, replace=replace)
                report.note(answer, "measured", is_new, _shown(answer))
            elif answer.state:
                is_new = campaign.close(answer.sample, answer.view or None, answer.state, reason=answer.reason)
                what = answer.state if answer.view else f"label {answer.state}"
                report.note(answer, what, is_new, answer.reason)
            if answer.label is not None:
                is_new = campaign.tell(answer.sample, label=answer.label, replace=replace)
                report.note(answer, "labeled", is_new, str(answer.label))
    except ValueError as error:
        problems.append(f"{answer.place}: {error}".replace("with replace=True", "with --replace"))
        return
    report.warnings += [f"{answer.place}: {warning.message}" for warning in caught]


def _shown(answer: Answer) -> str:
    """Values in words, the first of them."""
    filled = [f"{name} {cell}" for name, cell in answer.cells.items() if cell is not None]
    return ", ".join(filled[:4]) + (f" and {len(filled) - 4} more" if len(filled) > 4 else "")


def _print(report: _Report, effect: dict[str, Any] | None, dry_run: bool) -> None:
    """Print what changed, or would."""
    for row in report.changed[:_MOST_SHOWN]:
        what = f"{row['view']} {row['what']}" if "view" in row else row["what"]
        click.echo(f"{row['sample']}: {what}" + (f": {row['detail']}" if row["detail"] else ""))
    if len(report.changed) > _MOST_SHOWN:
        click.echo(f"and {len(report.changed) - _MOST_SHOWN} more")
    counts: dict[str, int] = {}
    for row in report.changed:
        counts[row["what"]] = counts.get(row["what"], 0) + 1
    words = [f"{count} {what}" for what, count in counts.items()]
    words += [f"{report.known} known already"] * bool(report.known) + [f"{report.empty} empty still"] * bool(
        report.empty
    )
    click.echo(("would change: " if dry_run else "") + (", ".join(words) or "no row says anything"))
    if effect is not None:
        _print_effect(effect)
    if money(report.status):
        say(money(report.status))


def _print_effect(effect: dict[str, Any]) -> None:
    """Print what the model makes of the answers."""
    entropy, crossed = effect["entropy"], effect["crossed"]
    if entropy is not None:
        expected = "" if entropy["expected"] is None else f"; a fall of {entropy['expected']:.3g} was expected"
        click.echo(
            f"uncertainty about all classes without a label: {entropy['before']:.4g} nats before, {entropy['now']:.4g} now"
            f" ({entropy['now'] - entropy['before']:+.3g}){expected}"
        )
    for row in crossed[:_MOST_CROSSED]:
        click.echo(f"{row['sample']} is predicted {row['now']} ({row['probability']:.2f}) now, {row['before']} before")
    if len(crossed) > _MOST_CROSSED:
        click.echo(f"and {len(crossed) - _MOST_CROSSED} more predictions changed")


class _Standing:
    """What the model says of samples without a label; nothing where it gives no classes."""

    def __init__(self, campaign: "Campaign") -> None:
        model = campaign.model
        of_classes = hasattr(model, "predict_proba")
        self.classes = [str(name) for name in model.classes_] if of_classes else []
        self.probabilities: Any = model.predict_proba(campaign.views) if of_classes else None
        self.entropy = campaign.total_entropy() if of_classes else None


def _effect(before: _Standing, campaign: "Campaign", last: int) -> dict[str, Any]:
    """How far uncertainty fell beside what was expected, and which samples without a label are predicted otherwise."""
    now = _Standing(campaign)
    if before.entropy is None or now.entropy is None:
        return {"crossed": [], "entropy": None}
    gains = campaign.gains(last, refit=False)
    asked = gains.loc[gains["criterion"] == _FORECAST, "expected"].dropna()
    expected = float(asked.sum()) if len(asked) else None
    entropy = {"before": before.entropy, "now": now.entropy, "expected": expected, "n_expected": len(asked)}
    return {"crossed": _crossed(before, now, campaign), "entropy": entropy}


def _crossed(before: _Standing, now: _Standing, campaign: "Campaign") -> list[dict[str, Any]]:
    """Samples without a label of which another class is predicted now."""
    if before.classes != now.classes:
        return []
    names = campaign.views.index if campaign.views.has_ids else range(len(campaign.views))
    old, new = before.probabilities.argmax(axis=1), now.probabilities.argmax(axis=1)
    return [
        {
            "sample": names[k],
            "before": now.classes[old[k]],
            "now": now.classes[new[k]],
            "probability": float(now.probabilities[k].max()),
        }
        for k in (~campaign.labeled & (old != new)).nonzero()[0]
    ]
