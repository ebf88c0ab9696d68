"""Sections of the page about twelve labels on a thousand web pages."""

from __future__ import annotations

import pandas as pd

from coview.metrics import reliability_table
from coview.report._figures_pages import breakeven_dots, sureness
from coview.report._figures_scores import OURS_LOOK, calibration
from coview.report._html import Note, Picture, Section
from coview.report._pages_trial import ALL_LABELS, BOTH, REPORTED, SINGLE, PagesTrial
from coview.report._tables import Columns, Table, percent

__all__ = ["comparison", "comparison_table", "limits", "rounds", "sure_and_unsure", "terms", "verdict"]

_SHOWN = 8
_SURE = (0.9, 0.1)
_COLUMNS: Columns = {
    "method": ("method", ""),
    "page": ("by page", ".3f"),
    "link": ("by link", ".3f"),
    BOTH: ("by both", ".3f"),
    "range": ("range by both", ""),
    "auc": ("AUC by both", ".3f"),
}
_PREDICTED: Columns = {
    "page": ("page", ""), "p_course": ("P(course)", ".3f"), "p_page": ("by page alone", ".3f"),
    "p_link": ("by link alone", ".3f"), "predicted": ("predicted", ""), "withheld": ("withheld label", ""),
}  # fmt: skip


def comparison_table(trial: PagesTrial) -> Table:
    """A row per method."""
    summary = trial.summary
    wide = summary.pivot_table(index="method", columns="judged_by", values="breakeven", sort=False)
    both = summary[summary["judged_by"] == BOTH].set_index("method")
    wide["range"] = [f"{low:.3f} to {high:.3f}" for low, high in zip(both["low"], both["high"], strict=True)]
    wide["auc"] = both["auc"]
    n_draws = int(summary["n_draws"].min())
    caption = f"Precision where it equals recall, and AUC, over the pages without a label; mean of {n_draws} draws"
    return Table.from_frame(wide.reset_index(), caption, _COLUMNS, strong=[name == REPORTED for name in wide.index])


def verdict(trial: PagesTrial) -> tuple[str, ...]:
    """What the comparison comes to, in words that follow the figures."""
    means = trial.summary[trial.summary["judged_by"] == BOTH].set_index("method")["breakeven"]
    few, full = float(means[SINGLE]), float(means[ALL_LABELS])
    learners = means.drop([SINGLE, ALL_LABELS])
    best = str(learners.idxmax())
    better = [name for name in learners.index if learners[name] > few + 0.005]
    worse = [name for name in learners.index if learners[name] < few - 0.005]
    closed = (float(learners[best]) - few) / (full - few) if full > few else 1.0
    said = [
        f"Logistic regression on both texts side by side finds {percent(few)} of the courses among as many top pages as there "
        f"are courses, from twelve labels; with the labels of nine pages in ten it finds {percent(full)}."
    ]
    if learners[best] > few:
        said.append(
            f"The best of the others, {best}, finds {percent(float(learners[best]))}: it closes {percent(closed)} of that gap."
        )
    else:
        said.append("None of the others does better here.")
    if better:
        said.append(f"Ahead of logistic regression: {', '.join(better)}.")
    if worse:
        said.append(f"Behind it: {', '.join(worse)}. What suits one set of pages may fail on another.")
    return tuple(said)


def comparison(trial: PagesTrial) -> Section:
    """Which method makes what of twelve labels."""
    table = comparison_table(trial)
    svg = breakeven_dots(
        trial.summary, title="What twelve labels give", key="pages-breakeven",
        description="Precision-recall breakeven of each method by page text, by link text and by both.",
    )  # fmt: skip
    reading = (
        f"{REPORTED} is what the rest of this page looks at. 'By page' and 'by link' are the same models, shown one text "
        "only; those of logistic regression are fitted to it alone."
    )
    blocks: list[Picture | Table | Note] = [Picture("Breakeven points.", reading, (svg,), table)]
    published = trial.job.published
    if published is not None:
        caption = "What Sindhwani, Niyogi and Belkin (2005, table 1) printed for these pages; 100 draws of their own"
        columns = {key: value for key, value in _COLUMNS.items() if key in published}
        blocks.append(Table.from_frame(published, caption, columns, folded=True))
    paragraphs = (
        "Three pages of courses and nine others have a label, drawn anew in every repetition; all other pages are ranked, and "
        "methods saw them without their labels. The measure is the share of courses among as many top pages as there are "
        "courses.",
        " ".join(verdict(trial)),
    )
    return Section("methods", "What twelve labels give, by which method", paragraphs, tuple(blocks))


def sure_and_unsure(trial: PagesTrial) -> Section:
    """Which predictions can be relied on."""
    found = trial.predictions
    surely = (found["p_course"] >= _SURE[0]) | (found["p_course"] <= _SURE[1])
    wrong = [int((~found.loc[rows, "right"]).sum()) for rows in (surely, ~surely)]
    reading = (
        f"{int(surely.sum())} of {len(found)} pages got a probability beyond {_SURE[1]} or {_SURE[0]}, and {wrong[0]} of these "
        f"predictions are wrong; of the other {int((~surely).sum())}, {wrong[1]} are."
    )
    reliability = reliability_table(
        found["withheld"] == "course", pd.concat([1 - found["p_course"], found["p_course"]], axis=1),
        classes=[False, True],
    )  # fmt: skip
    columns: Columns = {
        "confidence": ("stated", ".2f"), "accuracy": ("right", ".2f"), "n": ("pages", ".0f"),
        "accuracy_low": ("95 % from", ".2f"), "accuracy_high": ("to", ".2f"),
    }  # fmt: skip
    panels = (
        sureness(found, title="Probabilities", key="pages-sureness", description="Histogram of the probabilities of course."),
        calibration(reliability, OURS_LOOK, title="Stated and observed", key="pages-calibration",
                    description="Share of right predictions by stated confidence."),
    )  # fmt: skip
    picture = Picture(
        "Sure and unsure.", reading, panels, Table.from_frame(reliability, "Confidence in the predicted class", columns)
    )
    far = (found["p_course"] - 0.5).abs()
    nearest = far.sort_values(kind="stable").index[:_SHOWN]
    farthest = far[~found["right"]].sort_values(kind="stable", ascending=False).index[:_SHOWN]
    tables = (
        _listed(found.head(_SHOWN), "Surest that they are of courses"),
        _listed(found.loc[nearest], "Least sure: a label here would tell most"),
        _listed(found.loc[farthest], "Surely wrong: far from one half, against the withheld label"),
    )
    paragraphs = (
        f"Predictions of {REPORTED} from the twelve labels of the first draw, for the other {len(found)} pages.",
    )
    return Section("sure", "Which pages are sure, and which are not", paragraphs, (picture, *tables))


def _listed(rows: pd.DataFrame, caption: str) -> Table:
    return Table.from_frame(rows.rename_axis("page").reset_index(), caption, _PREDICTED)


def terms(trial: PagesTrial) -> Section:
    """Words that go with the predictions."""
    found = trial.terms
    unseen = int((found["in_labeled"] == 0).sum())
    columns: Columns = {
        "view": ("text", ""), "word": ("word", ""), "in_courses": ("of predicted courses", percent),
        "in_others": ("of other pages", percent), "in_labeled": ("labeled pages with it", ".0f"),
    }  # fmt: skip
    known = "" if trial.job.made_up else " The files hold no words, only the numbers of their columns."
    paragraphs = (
        "Words that the pages predicted to be of courses have more often than the others, by five points or more, in each of "
        "the two texts. "
        + (
            f"{unseen} of these {len(found)} words are on no labeled page: only the pages without a label could teach them."
            if unseen
            else "All of them are on some labeled page."
        )
        + known,
    )
    return Section(
        "words", "Which words go with it", paragraphs, (Table.from_frame(found, "Words of courses", columns),)
    )


def rounds(trial: PagesTrial) -> Section:
    """How co-training went on from twelve labels."""
    history = trial.history
    if history.empty:
        return Section("rounds", "How co-training went on", ("Co-training gave no label in this draw.",))
    table = history.assign(part=(history["round"] - 1) // 5)
    grouped = table.groupby("part").agg(
        first=("round", "min"), last=("round", "max"), n=("right", "size"), right=("right", "mean"),
        courses=("label", lambda labels: int((labels == "course").sum())),
    )  # fmt: skip
    grouped["rounds"] = [f"{a} to {b}" for a, b in zip(grouped["first"], grouped["last"], strict=True)]
    columns: Columns = {
        "rounds": ("rounds", ""), "n": ("labels given", ".0f"), "courses": ("to courses", ".0f"), "right": ("right", percent),
    }  # fmt: skip
    said = (
        f"In every round the classifier of the page text and that of the link text each label the pages of which they are "
        f"surest, for both: {len(history)} labels in {int(history['round'].max())} rounds, "
        f"{percent(float(history['right'].mean()))} of them right. Labels are never taken back, so early mistakes stay.",
    )
    return Section(
        "rounds", "How co-training went on from twelve labels", said,
        (Table.from_frame(grouped, "Labels that co-training gave, in the first draw", columns),),
    )  # fmt: skip


def limits(trial: PagesTrial) -> Section:
    """What this page does not show."""
    items = [
        "One set of pages. Which method is best depends on the data: compare them on yours with coview fit --method.",
        "Parameters are the same in all draws and were not chosen on these labels.",
        "Twelve labels vary: look at the range over draws before a difference of means.",
    ]
    if trial.job.made_up:
        items.insert(
            0,
            "These pages are made up: given the class, page and links say nothing of each other, which real pages do not "
            "promise. The real ones state no terms and cannot come with coview; with your copy: coview demo webpages "
            "--data FOLDER.",
        )
    return Section("limits", "What to keep in mind", (), (Note("Limits", tuple(items)),))
