"""The sections that frame the demonstration: what it found in short, who is uncertain and why, what not to promise."""

from __future__ import annotations

from typing import Any

import pandas as pd

from coview.report._asking import Asking
from coview.report._exhibits import OURS, PRINTED, Exhibit
from coview.report._html import Note, Section
from coview.report._sections_comparison import verdict
from coview.report._sections_measure import measure_section
from coview.report._sections_reliance import reliance_sections
from coview.report._sections_worth import worth_section
from coview.report._tables import Columns, Table, signed

LIMITS = (
    "No clear win over a good pipeline where views complement each other, where the signal is weak, or where labels "
    "are plentiful. Expect a tie there; on one set of weak clinical data a class-balanced logistic regression on "
    "principal components was better.",
    "No calibrated probabilities with one or two labels per class: the calibration error is then 0.06 to 0.13, for "
    "the best methods too. It falls below about 0.06 from four labels per class on.",
    "No calibrated probabilities from the printed model, with however many labels.",
    "The trust in a view is an average over models that drop or isolate it, and with few labels its interval is wide. "
    "It is no test of whether the view is worth its price.",
    "Where views are missing for reasons that depend on the outcome, as between the four hospitals of the heart data, "
    "a model with some 200 labels can learn that habit. It will not carry over to another hospital.",
    "The grid of models that is averaged was chosen on eight data sets, among them these two. The standard errors here "
    "are over random choices of labels from one data set, not over data sets.",
    "It ranks and predicts; it gives no medical advice.",
)


def short_section(breast: Exhibit, heart: Exhibit) -> Section:
    """Where coview wins and ties, in one glance."""
    rows = [_against_best(exhibit, count) for exhibit in (breast, heart) for count in exhibit.job.counts]
    columns: Columns = {
        "data": ("data", ""), "labels": ("labels", "d"), "ours": ("coview", ".3f"), "other": ("best other way", ".3f"),
        "difference": ("difference", signed), "error": ("standard error", ".3f"), "verdict": ("coview is", ""),
        "best": ("the best other way", ""),
    }  # fmt: skip
    frame = pd.DataFrame(rows)
    caption = (
        f"Log loss on withheld labels (nats, lower is better), mean over {frame['n_draws'].max()} random choices of "
        "the labels. The best other way is chosen in hindsight; ahead or behind means two standard errors."
    )
    table = Table.from_frame(frame, caption, columns, strong=frame["verdict"] == "ahead")
    plain = {count: heart.difference("mean imputation + LR", count)["mean"] for count in heart.job.counts}
    margins = " and ".join(f"{gap:.2f} ({count} labels)" for count, gap in plain.items())
    paragraphs = (
        "coview gains most where labels are few and views repeat each other, as three assays of one tumor do. Where "
        f"views complement each other, as a patient's history and an exercise test do, {heart_verdict(heart)} Against "
        f"mean imputation with logistic regression, what most would do first, the gain there is {margins} nats, with "
        "nothing imputed by hand and one call.",
    )
    note = Note("What not to promise", LIMITS[:2], tone="bad")
    return Section("in-short", "In short", paragraphs, (table, note))


def heart_verdict(exhibit: Exhibit) -> str:
    """How coview stands where views complement each other: never more than a small gain is claimed."""
    rows = [exhibit.difference(exhibit.best_baseline(count, stored=True), count) for count in exhibit.job.counts]
    gaps = " and ".join(f"{abs(row['mean']):.2f}" for row in rows)
    verdicts = {verdict(row) for row in rows}
    if verdicts == {"ahead"}:
        return (
            f"the best tuned pipeline comes close: coview is ahead by {gaps} nats here, and on other data of this kind a "
            "tie is to be expected."
        )
    if "behind" in verdicts:
        return f"a tuned pipeline can be better: the best one differs by {gaps} nats here."
    return f"it is level with the best tuned pipeline, which differs by {gaps} nats."


def _against_best(exhibit: Exhibit, count: int) -> dict[str, Any]:
    """Coview against the best other way at one number of labels."""
    best = exhibit.best_baseline(count, stored=True)
    row = exhibit.difference(best, count)
    return {
        "data": exhibit.job.title,
        "labels": count,
        "ours": exhibit.mean(OURS, count, "log_loss", stored=True),
        "other": exhibit.mean(best, count, "log_loss", stored=True),
        "difference": row["mean"],
        "error": row["standard_error"],
        "verdict": verdict(row),
        "best": best,
        "n_draws": int(row["n_draws"]),
    }


_DRAWN_PROBLEMS = ("Cleveland, 30 labels", "mfeat, 30 labels")


def measure_sections(exhibit: Exhibit, asking: Asking) -> tuple[Section, ...]:
    """Who should get which test next, whether that can be relied on, and whether asking is worth it."""
    ranking, curves = asking.ranking, asking.stored
    job = exhibit.job
    paragraphs: tuple[str, ...] = (
        f"Which missing test of which {job.singular} would tell most? Each is ranked by how far the total uncertainty about "
        f"the classes of the {ranking.n_unlabeled} {job.plural} without a label (the entropy of the predictions, summed) is "
        f"expected to fall once its result is known. {job.plural.capitalize()} with a label take part: with few labels, what "
        "is most needed is to see what a test means, and only labeled samples that have it show that.",
    )
    if ranking.priced:
        paragraphs += (
            "Costs are the example costs that Turney (1995) gave with these data, in dollars, from memory and not "
            "re-checked: plausible, no price list. What several tests share, such as one blood draw or one exercise "
            "session, is paid once per patient, so a test can be nearly free for one patient and dear for another.",
        )
    paragraphs += (
        "Take it as an example of the list, not as a proof: on heart patients with complete records, asking this way was no "
        "clear gain over measuring at random; on handwritten digits it was (below).",
    )
    found = [measure_section(ranking, paragraphs, unit="nats", sample=job.singular, money="$")]
    found += reliance_sections(asking.diagnosis)
    if curves is not None:
        shown = [name for name in _DRAWN_PROBLEMS if name in curves.problems]
        found.append(worth_section(curves, shown or curves.problems[:2], (asking.problem, asking.live)))
    return tuple(found)


def limits_section() -> Section:
    """What the demonstration does not show."""
    return Section(
        "limits", "What not to promise", blocks=(Note("Read this before you rely on it", LIMITS, tone="bad"),)
    )


def printed_reason(exhibit: Exhibit) -> tuple[str, ...]:
    """Why the printed model is not usable as it stands."""
    loss = exhibit.mean(PRINTED, exhibit.job.counts[0], "log_loss")
    return (
        "The method was published with the labels attached to the consensus function itself. Its covariance is that "
        "of the views' mean plus white noise, one independent amount per sample. Nothing learned from other samples "
        "can reduce that noise, so no prediction gets far from one over the number of classes. With all the "
        "directions of hundreds of columns kept, a new sample is moreover almost wholly new in every view.",
        f"Ranking survives this, probabilities do not: from {exhibit.job.counts[0]} labels the printed model has log "
        f"loss {loss:.2f}, where a forecast of one third for each class has 1.10. The default therefore attaches "
        "labels to the mean that the views imply, keeps the leading directions of each view, and averages over a "
        "grid of such models by how well each predicts labels left out, its temperature included. The printed model "
        "is kept for study (latent='consensus').",
    )
