"""What to measure next, and whether asking for it is worth it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from coview.report._figures_measure import measurement_curves
from coview.report._figures_scores import BASELINE, OTHER, OURS_LOOK, PRINTED_LOOK, Look
from coview.report._given import Given
from coview.report._html import Note, Picture, Section
from coview.report._measurements import Omitted, Ranking, given_ranking, short_diagnosis
from coview.report._sections_reliance import reliance_section
from coview.report._stored_curves import StoredCurves
from coview.report._subject import Subject
from coview.report._tables import Columns, Table, signed
from coview.report._words import counted, listed, share_of

__all__ = [
    "MEASURE_LIMITS",
    "gain_word",
    "given_measure_sections",
    "measure_section",
    "omitted_section",
    "ranking_table",
    "worth_section",
    "worth_verdict",
]

RANDOM, ENTROPY, PER_COST = "random", "expected entropy", "expected entropy per cost"
FEW = "expected entropy, few candidates"
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

MEASURE_LIMITS = (
    "It ranks tests by what their results would teach this model, not by what a patient needs. It gives no medical advice.",
    "Gains are of each measurement alone; together they gain less than their sum. After some results come back, ask again.",
)


def measure_section(ranking: Ranking, paragraphs: Sequence[str], *, unit: str, sample: str, money: str = "") -> Section:
    """The ranking as a table, with what the numbers mean.

    Parameters
    ----------
    ranking : Ranking
    paragraphs : sequence of str
        What is particular to the data, before what is always said.
    unit : str
        Of gains.
    sample : str
        Word for a sample.
    money : str, default=""
        Unit of costs.

    Returns
    -------
    section : Section
    """
    blocks: list[Table | Note] = []
    if len(ranking.best):
        blocks.append(ranking_table(ranking, unit=unit, sample=sample, money=money))
    blocks.append(Note("How to take this list", MEASURE_LIMITS))
    gaining = share_of(ranking.n_gaining, ranking.n_missing)
    said = f"Of the missing views {gaining} are expected to gain anything at all."
    if not len(ranking.best):
        said += " Nothing is listed: by this model's lights, none is worth measuring."
    return Section("measure-next", "What to measure next", (*paragraphs, said), tuple(blocks))


def given_measure_sections(subject: Subject, given: Given) -> tuple[Section, ...]:
    """What to measure next of the samples that the model learned from, and how far to rely on it.

    Nothing where the data given are others; where limits forbid a ranking, a section that says so and what to do.
    """
    ranking = given_ranking(subject, given)
    if ranking is None:
        return ()
    if isinstance(ranking, Omitted):
        return (omitted_section(ranking),)
    if subject.regression:
        aim, unit = "the variance of all predictions, summed,", "variance"
    else:
        aim = f"the total uncertainty about the classes of the {counted(ranking.n_unlabeled, 'sample')} without a label"
        unit = "nats"
    paragraphs = (
        f"Which missing view of which sample would tell most? Each is ranked by how far {aim} is expected to fall once it is "
        "known. Samples with a label take part: they show what a view means. Costs are not known here; with a file of costs "
        "and a budget, coview new and coview acquire keep such a list up to date.",
    )
    section = measure_section(ranking, paragraphs, unit=unit, sample="sample")
    posterior = subject.estimator.consensus_posterior()
    diagnosis = short_diagnosis(subject.estimator, posterior.views, posterior.y)
    return (section,) if diagnosis is None else (section, reliance_section(diagnosis))


def omitted_section(omitted: Omitted) -> Section:
    """That there is no list, why, and what to do."""
    text = f"The list is left out: {omitted.reason}."
    return Section("measure-next", "What to measure next", (text, omitted.remedy))


def ranking_table(ranking: Ranking, *, unit: str, sample: str, money: str = "") -> Table:
    """Rank, sample, view, expected gain, costs and reason."""
    columns: Columns = {
        "sample": (sample, ""), "rank": ("rank", "d"), "view": ("view", ""), "utility": (f"expected gain ({unit})", ".3f"),
    }  # fmt: skip
    caption = f"The {counted(len(ranking.best), 'measurement')} of the largest expected gain, at most one per {sample}"
    if ranking.priced:
        columns |= {
            "cost": (f"cost ({money})", ",.2f"), "utility_per_cost": ("gain per cost", ".2g"),
            "cumulative_cost": ("cost so far", ",.2f"),
        }  # fmt: skip
        if ranking.budget is not None:
            caption += f", within a budget of {money}{ranking.budget:,.0f}"
    columns["reason"] = ("why", "")
    best = ranking.best.assign(rank=range(1, len(ranking.best) + 1))
    return Table.from_frame(best, caption, columns)


def worth_section(stored: StoredCurves, shown: Sequence[str]) -> Section:
    """Learning curves of criteria on data whose values are known, with a verdict.

    Parameters
    ----------
    stored : StoredCurves
    shown : sequence of str
        Problems that are drawn; the table has all.

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
    note = Note("Where the curves come from", _origin(n_repeats))
    return Section(
        "worth-measuring", "Is asking worth it?", paragraphs, (verdict_note, *pictures, _gain_table(stored), note)
    )


def worth_verdict(stored: StoredCurves) -> tuple[str, ...]:
    """Where each criterion is ahead of random choice, and where it is not, a sentence each, expected entropy first."""
    along = stored.gains[stored.gains["along"] == "n_measured"]
    names = [name for name in CRITERION_LOOKS if name in set(along["criterion"])]
    return tuple(f"{_capital(name)}: {_where(along[along['criterion'] == name])}." for name in names)


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
