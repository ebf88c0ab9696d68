"""Is asking worth it? Learning curves of criteria on data whose values are known, and why they look as they do."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from coview.report._figures_measure import measurement_curves
from coview.report._figures_scores import BASELINE, OTHER, OURS_LOOK, PRINTED_LOOK, Look
from coview.report._html import Note, Picture, Section
from coview.report._stored_curves import FEW, RANDOM, StoredCurves
from coview.report._tables import Columns, Table, signed
from coview.report._words import listed

__all__ = ["gain_word", "reasons_note", "worth_section", "worth_verdict"]

ENTROPY, PER_COST = "expected entropy", "expected entropy per cost"
CRITERION_LOOKS: dict[str, Look] = {
    ENTROPY: OURS_LOOK,
    FEW: Look("class-3", "-", "D"),
    PER_COST: Look("class-1", (0, (5, 2, 1, 2)), "v"),
    "mutual information": OTHER,
    "variance": BASELINE,
    RANDOM: PRINTED_LOOK,
}
_SCORES = {"auc": "AUC", "log_score": "log score"}
_PLACES = {"n_measured": "views measured", "cost": "dollars spent"}
_LEVEL = 0.05
# What a statement on a view adds about one repeat.
_NUMBER = re.compile(r" \([-+0-9.]+ nats per label\)")


def worth_section(stored: StoredCurves, shown: Sequence[str], live: tuple[str, pd.DataFrame] | None = None) -> Section:
    """Learning curves of criteria on data whose values are known, with a verdict.

    Parameters
    ----------
    stored : StoredCurves
    shown : sequence of str
        Problems that are drawn; the table has all.
    live : (str, DataFrame), default=None
        Problem and curves of one repeat that was run for this page, as of `live_curves`.

    Returns
    -------
    section : Section
    """
    n_repeats = int(stored.gains["n_repeats"].max())
    paragraphs = (
        "Would asking have been better than measuring at random? Data that are complete can tell: half of their views were "
        "hidden, then asked for in rounds, revealed, and the model fitted again. Every criterion started from the same "
        f"{n_repeats} choices of hidden views and labels, and is held against random choice in each of them.",
        "Mutual information and variance ask for samples whose own prediction is loose. Expected entropy asks for what "
        "would settle the predictions of all others, which with few labels is often a view of a sample with a label; it "
        "overrates these where labels are less scarce. Scoring few candidates only (max_candidates), half of them of labeled "
        "samples at random, keeps a round mixed. That variant was added after the others had been seen.",
    )
    verdict = worth_verdict(stored)
    ahead = any("ahead" in sentence for sentence in verdict[:1])
    verdict_note = Note("Verdict, along the number of views measured", verdict, tone="good" if ahead else "bad")
    pictures = [_score_picture(stored, shown, score) for score in _SCORES]
    priced = [name for name in shown if ((stored.gains["problem"] == name) & (stored.gains["along"] == "cost")).any()]
    pictures += [_money_picture(stored, name) for name in priced]
    if live is not None:
        pictures.append(_live_picture(*live))
    note = Note("Where the curves come from", _origin(n_repeats))
    return Section(
        "worth-measuring",
        "Is asking worth it?",
        paragraphs,
        (verdict_note, *reasons_note(stored), *pictures, _gain_table(stored), note),
    )


def worth_verdict(stored: StoredCurves) -> tuple[str, ...]:
    """Where each criterion is ahead of random choice, and where it is not, a sentence each, expected entropy first."""
    along = stored.gains[stored.gains["along"] == "n_measured"]
    names = [name for name in CRITERION_LOOKS if name in set(along["criterion"])]
    return tuple(f"{_capital(name)}: {_where(along[along['criterion'] == name])}." for name in names)


def reasons_note(stored: StoredCurves) -> tuple[Note, ...]:
    """Why expected entropy was not ahead where it was not, in the words of the diagnosis at the start of the curves."""
    along = stored.gains[(stored.gains["along"] == "n_measured") & stored.gains["criterion"].isin([ENTROPY, FEW])]
    behind: list[str] = []
    ahead: list[str] = []
    for problem, part in along.groupby("problem", sort=False):
        won = all(gain_word(row) == "ahead" for _, row in part.iterrows())
        if problem in stored.diagnoses:
            (ahead if won else behind).append(str(problem))
    if not behind:
        return ()
    items = [f"{problem}: {line}" for problem in behind for line in _said(stored, problem)]
    times = stored.diagnoses[behind[0]]["n_repeats"]
    items.append(
        f"These are possible reasons, not proofs: a diagnosis of known values, made {times} times. "
        "Rank correlation of forecasts and what came true: "
        + "; ".join(f"{problem} {stored.diagnoses[problem]['agreement']:.2f}" for problem in (*behind, *ahead))
        + "."
    )
    items += [
        f"For comparison, {problem}, where it was ahead: {line}"
        for problem in ahead[:1]
        for line in _said(stored, problem)
    ]
    return (Note("Where asking was not clearly better: what the diagnosis says", tuple(items), tone="bad"),)


def _said(stored: StoredCurves, problem: str) -> list[str]:
    """Statements on one problem, those that several views share put together, with the number of repeats that made them."""
    found = stored.diagnoses[problem]
    about: dict[str, tuple[list[str], list[int]]] = {}
    for line, count in found["words"]:
        match = re.match(r"(\w[\w .-]{0,40}): (.*)", line)
        name, text = match.groups() if match else ("", line)
        text = _NUMBER.sub("", text)  # of the first repeat that said it
        names, counts = about.setdefault(text, ([], []))
        names.append(name)
        counts.append(count)
    lines = []
    for text, (names, counts) in about.items():
        often = " to ".join(map(str, sorted({min(counts), max(counts)})))
        lines.append(
            (f"{', '.join(names)}: " if any(names) else "") + f"{text} ({often} of {found['n_repeats']} times)"
        )
    return lines


def _live_picture(problem: str, curves: pd.DataFrame) -> Picture:
    """Both scores of the repeat that was run for this page."""
    long = curves.melt(["criterion", "at"], list(_SCORES), "score", "mean").assign(standard_error=0.0)
    ends = long.groupby(["score", "criterion"], sort=False)["mean"].last()
    looks = {name: look for name, look in CRITERION_LOOKS.items() if name in set(long["criterion"])}
    panels = []
    for score, name in _SCORES.items():
        panels.append(
            measurement_curves(
                long[long["score"] == score], looks, title=name, key=f"worth-live-{score}",
                score=name + (" (nats)" if score == "log_score" else ""), axis=_PLACES["n_measured"],
                description=f"{name} against views measured in one repeat, for {', '.join(looks)}.",
                everything=float("nan"),
            )
        )  # fmt: skip
    told = "; ".join(
        f"{name}: {listed([f'{criterion} {ends[score, criterion]:.3f}' for criterion in looks])}"
        for score, name in _SCORES.items()
    )
    reading = (
        f"{problem}: one choice of hidden views and labels, asked for and revealed while this page was made. At the end {told}. "
        "One repeat proves nothing, and may go the other way than the mean of many above."
    )
    columns: Columns = {
        "criterion": ("criterion", ""), "at": (_PLACES["n_measured"], ",.0f"), "auc": ("AUC", ".3f"),
        "log_score": ("log score", ".3f"),
    }  # fmt: skip
    table = Table.from_frame(curves, "Curves of one repeat", columns, scroll=len(curves) > 12)
    return Picture("One repeat, run just now.", reading, tuple(panels), table)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _where(gains: pd.DataFrame) -> str:
    """``ahead of random choice in AUC and log score on mfeat, 30 labels; level in the rest``."""
    found: dict[str, list[str]] = {"ahead": [], "behind": []}
    for _, row in gains.iterrows():
        if (word := gain_word(row)) in found:
            found[word].append(f"{row['problem']} ({_SCORES[row['score']]})")
    parts = []
    for word, phrase in (("ahead", "ahead of random choice on"), ("behind", "behind random choice on")):
        if found[word]:
            parts.append(f"{phrase} {listed(found[word], 8)}")
    if not parts:
        return "level with random choice everywhere"
    level = len(gains) > sum(map(len, found.values()))
    return "; ".join(parts) + ("; level in the rest" if level else "")


def gain_word(row: pd.Series) -> str:
    """Whether a paired gain is ahead, level or behind at five percent."""
    if not row["p"] < _LEVEL:
        return "level"
    return "ahead" if row["gain"] > 0.0 else "behind"


def _score_picture(stored: StoredCurves, shown: Sequence[str], score: str) -> Picture:
    """One score against the number of views measured, a panel per problem."""
    gains = "; ".join(_gain_text(stored, problem, score, "n_measured", problem) for problem in shown)
    reading = f"Higher is better. Gain over random choice, mean over the curve. {gains}. Bands are two standard errors."
    panels = tuple(
        _panel(stored, problem, score, "n_measured", key=f"worth-{score}-{number}")
        for number, problem in enumerate(shown)
    )
    return Picture(
        f"{_capital(_SCORES[score])} by what was measured.",
        reading,
        panels,
        _curve_table(stored, shown, score, "n_measured"),
    )


def _money_picture(stored: StoredCurves, problem: str) -> Picture:
    """Both scores of one problem against money."""
    gains = "; ".join(_gain_text(stored, problem, score, "cost", _SCORES[score]) for score in _SCORES)
    reading = f"Gain over random choice for the same money, mean over the curve. {_capital(gains)}."
    panels = tuple(_panel(stored, problem, score, "cost", key=f"worth-cost-{score}") for score in _SCORES)
    table = _curve_table(stored, [problem], None, "cost")
    return Picture(f"The same by what was spent: {problem}.", reading, panels, table)


def _panel(stored: StoredCurves, problem: str, score: str, along: str, *, key: str) -> str:
    curves = _part(stored.curves, problem, along)
    curves = curves[curves["score"] == score]
    looks = {name: look for name, look in CRITERION_LOOKS.items() if name in set(curves["criterion"])}
    level = stored.levels[(stored.levels["problem"] == problem) & (stored.levels["score"] == score)]
    return measurement_curves(
        curves, looks, title=problem if along == "n_measured" else _SCORES[score], key=key,
        score=_SCORES[score] + (" (nats)" if score == "log_score" else ""), axis=_PLACES[along],
        description=f"{_SCORES[score]} against {_PLACES[along]} for {', '.join(looks)}; bands are two standard errors.",
        everything=float(level["everything"].iloc[0]),
    )  # fmt: skip


def _gain_text(stored: StoredCurves, problem: str, score: str, along: str, title: str) -> str:
    """``title: expected entropy +0.032 (ahead)``, and the same per cost."""
    gains = _part(stored.gains, problem, along)
    rows = {row["criterion"]: row for _, row in gains[gains["score"] == score].iterrows()}
    parts = [
        f"{name} {signed(rows[name]['gain'])} ({gain_word(rows[name])})"
        for name in (ENTROPY, FEW, PER_COST)
        if name in rows
    ]
    return f"{title}: {listed(parts)}"


def _curve_table(stored: StoredCurves, problems: Sequence[str], score: str | None, along: str) -> Table:
    parts = [_part(stored.curves, problem, along) for problem in problems]
    curves = pd.concat(parts)
    curves = curves if score is None else curves[curves["score"] == score]
    curves = curves.assign(score=curves["score"].map(_SCORES))
    columns: Columns = {
        "problem": ("data", ""), "score": ("score", ""), "criterion": ("criterion", ""), "at": (_PLACES[along], ",.0f"),
        "mean": ("mean", ".3f"), "standard_error": ("standard error", ".3f"),
    }  # fmt: skip
    return Table.from_frame(curves, "Mean curves", columns, scroll=len(curves) > 12)


def _gain_table(stored: StoredCurves) -> Table:
    """Gains of every criterion over random choice, on all problems."""
    gains = stored.gains.assign(
        score=stored.gains["score"].map(_SCORES),
        along=stored.gains["along"].map({"n_measured": "number", "cost": "money"}),
        verdict=[gain_word(row) for _, row in stored.gains.iterrows()],
    )
    columns: Columns = {
        "problem": ("data", ""), "along": ("along", ""), "criterion": ("criterion", ""), "score": ("score", ""),
        "gain": ("gain over random", signed), "standard_error": ("standard error", ".3f"), "p": ("p", ".3f"),
        "verdict": ("it is", ""),
    }  # fmt: skip
    caption = "Criterion minus random choice, mean over the curve, paired; ahead or behind where p < 0.05"
    return Table.from_frame(gains, caption, columns, strong=gains["verdict"] == "ahead", folded=True)


def _origin(n_repeats: int) -> tuple[str, ...]:
    return (
        "Cleveland: the 297 heart patients whose record is complete, six views, history never hidden. mfeat: 400 handwritten "
        "digits, odd or even, four views. Scores are of the samples without a label; the log score is the mean log "
        "probability of the true class, higher is better.",
        f"Stored with coview, {n_repeats} repeats, made by the command: coview reproduce active-sensing. Standard errors are "
        "over these repeats, not over data sets, and p values are not corrected for their number.",
    )


def _part(table: pd.DataFrame, problem: str, along: str) -> pd.DataFrame:
    return table[(table["problem"] == problem) & (table["along"] == along)]
