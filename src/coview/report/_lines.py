"""What the demonstration prints: short aligned lines of plain text."""

from __future__ import annotations

from textwrap import wrap

import pandas as pd

from coview.acquisition import Diagnosis
from coview.report._asking import Asking
from coview.report._exhibits import OURS, Exhibit
from coview.report._measurements import Ranking
from coview.report._sections_comparison import verdict
from coview.report._sections_model import KINDS, agreement_by_count, view_table
from coview.report._sections_worth import worth_verdict
from coview.report._tables import Columns, Table, signed


def exhibit_lines(exhibit: Exhibit, number: int) -> list[str]:
    """The data, the predictions of the fit shown, trust and agreement."""
    job, predictions = exhibit.job, exhibit.predictions
    right = int(predictions["right"].sum())
    head = f"{number}. {job.title} ({job.name}): {job.views.n_samples} {job.plural}, {job.views.n_views} views"
    lines = [f"{head}, {len(exhibit.labeled)} labels", *view_table(exhibit).as_text(indent="   ")]
    lines.append(
        f"   predicted: {len(predictions)} {job.plural} without a label, {right} right ({right / len(predictions):.1%})"
    )
    unsure = predictions.tail(3)[::-1]
    named = [f"{sample} ({row['predicted']} {row['probability']:.2f})" for sample, row in unsure.iterrows()]
    lines.append(f"   least sure: {', '.join(named)}")
    trust = exhibit.model.view_trust_.loc[job.views.names]
    shares = [f"{view} {row['share']:.2f} [{row['lower']:.2f}, {row['upper']:.2f}]" for view, row in trust.iterrows()]
    lines.append(f"   trust, share and 90 % interval: {'; '.join(shares)}")
    weights = agreement_by_count(exhibit)
    parts = [f"{count}: " + ", ".join(f"{row[k]:.2f} {k}" for k in KINDS.values()) for count, row in weights.iterrows()]
    return [*lines, *(f"   {part}" for part in parts)]


def comparison_lines(exhibit: Exhibit) -> list[str]:
    """Log loss of every method on the draws made now, beside the stored ones."""
    counts = exhibit.job.counts
    n_draws = int(exhibit.summary["n_draws"].max())
    stored = exhibit.stored
    note = "" if stored is None else f"; in brackets {stored.n_draws} stored draws"
    source = exhibit.summary if stored is None else stored.summary
    frame = _losses(source).reindex(columns=list(counts))
    frame = frame.loc[frame[counts[0]].sort_values(kind="stable").index]
    live = _losses(exhibit.summary).reindex(frame.index)
    cells = pd.DataFrame(index=frame.index)
    for count in counts:
        cells[f"{count} labels"] = [
            _cell(now, kept, stored is not None) for now, kept in zip(live[count], frame[count], strict=True)
        ]
    columns: Columns = {"method": ("log loss (lower is better)", ""), **{c: (c, str) for c in cells.columns}}
    table = Table.from_frame(cells.rename_axis("method").reset_index(), "", columns)
    lines = [f"   mean log loss over {n_draws} draws{note}:", *table.as_text(indent="   ")]
    for count in counts:
        best = exhibit.best_baseline(count, stored=stored is not None)
        row = exhibit.difference(best, count)
        lines.append(
            f"   {count} labels: {OURS} is {verdict(row)} of the best other way ({best}): "
            f"{signed(row['mean'])}, standard error {row['standard_error']:.3f}, {int(row['n_draws'])} draws"
        )
    return [line.replace("level of", "level with").replace("behind of", "behind") for line in lines]


def ranking_lines(ranking: Ranking, n_shown: int = 6) -> list[str]:
    """The first measurements of the ranking."""
    columns: Columns = {"sample": ("patient", ""), "view": ("view", ""), "utility": ("expected gain (nats)", ".3f")}
    if ranking.priced:
        columns |= {"cost": ("cost ($)", ",.2f"), "cumulative_cost": ("so far", ",.2f")}
    table = Table.from_frame(ranking.best.head(n_shown), "", {**columns, "reason": ("why", "")})
    head = "3. What to measure next of the heart patients (no medical advice)"
    return [head, *table.as_text(indent="   ")]


def asking_lines(asking: Asking) -> list[str]:
    """What speaks against the ranking, the verdict of the stored learning curves, and the repeat that was run now."""
    lines = []
    if isinstance(asking.diagnosis, Diagnosis):
        lines.append("   can the list be relied on?")
        for sentence in asking.diagnosis.words:
            lines += wrap(sentence, 118, initial_indent="   * ", subsequent_indent="     ")
    if asking.stored is not None:
        lines.append("   is asking worth it? stored curves, by number of views measured:")
        for sentence in worth_verdict(asking.stored):
            lines += wrap(sentence, 118, initial_indent="   ", subsequent_indent="     ")
    ends = asking.live.groupby("criterion", sort=False)["auc"].agg(["first", "last"])
    curves = "; ".join(f"{name} {row['first']:.3f} to {row['last']:.3f}" for name, row in ends.iterrows())
    said = f"one repeat, run just now ({asking.problem}), AUC: {curves}"
    return [*lines, *wrap(said, 118, initial_indent="   ", subsequent_indent="     ")]


def _losses(summary: pd.DataFrame) -> pd.DataFrame:
    """Mean log loss, methods by number of labels."""
    part = summary[(summary["group"] == "all") & (summary["metric"] == "log_loss")]
    return part.pivot_table(index="method", columns="n_labeled", values="mean", sort=False)


def _cell(now: float, kept: float, with_stored: bool) -> str:
    """Figure of the day, stored figure in brackets."""
    today = "  -  " if pd.isna(now) else f"{now:.3f}"
    return f"{today} [{kept:.3f}]" if with_stored else today
