"""What to measure next: the list, and that there is none, and why."""

from __future__ import annotations

from collections.abc import Sequence

from coview.report._given import Given
from coview.report._html import Note, Section
from coview.report._measurements import Omitted, Ranking, given_ranking, short_diagnosis
from coview.report._sections_reliance import reliance_sections
from coview.report._subject import Subject
from coview.report._tables import Columns, Table
from coview.report._words import counted, share_of

__all__ = [
    "MEASURE_LIMITS",
    "given_measure_sections",
    "measure_section",
    "omitted_section",
    "ranking_table",
]

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
    return (section, *reliance_sections(short_diagnosis(subject.estimator, posterior.views, posterior.y)))


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
