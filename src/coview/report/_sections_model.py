"""Sections on the data and the fitted model: what is missing, predictions, trust, agreement, uncertain samples."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from coview.report._exhibits import OURS, Exhibit
from coview.report._figures_data import (
    agreement_bars,
    presence_map,
    presence_patterns,
    probability_ribbon,
    reasons,
    view_trust,
)
from coview.report._html import Picture, Section
from coview.report._svg import CLASS_ROLES
from coview.report._tables import Columns, Table, signed

KINDS = {"agree": "views agree", "add": "views add", "joint": "joint spectrum"}
MEANINGS = {
    "views agree": "the views must agree",
    "views add": "the views add their evidence",
    "joint spectrum": "the views' similarities are summed first",
}


def presence_section(exhibit: Exhibit, *, paragraphs: Sequence[str], level: int) -> Section:
    """Which samples have which views."""
    job = exhibit.job
    views = job.views.names
    patterns = presence_patterns(job.views.presence, views)
    shown = patterns.assign(**{view: patterns[view].map({True: "yes", False: "missing"}) for view in views})
    columns: Columns = {"n": (job.plural, "d"), **{view: (view, "") for view in views}}
    table = Table.from_frame(shown, f"Every pattern of observed views and its number of {job.plural}", columns)
    complete = int(job.views.presence.all(axis=1).sum())
    reading = (
        f"{complete} of {job.views.n_samples} {job.plural} have every view; "
        f"{len(patterns)} pattern{'s' if len(patterns) > 1 else ''} of missing views occur."
    )
    svg = presence_map(
        patterns,
        views,
        plural=job.plural,
        key=f"{job.name}-presence",
        description=f"{reading} {_pattern_text(patterns)}",
    )
    picture = Picture("What is there and what is missing.", reading, (svg,), table)
    return Section(
        f"{job.name}-data", "What is there, what is missing", tuple(paragraphs), (view_table(exhibit), picture), level
    )


def _pattern_text(patterns: pd.DataFrame) -> str:
    """The most frequent patterns in words."""
    views = [name for name in patterns.columns if name not in ("n", "first")]
    parts = [f"{row['n']} have {', '.join(v for v in views if row[v])}" for _, row in patterns.head(3).iterrows()]
    return "; ".join(parts) + "."


def view_table(exhibit: Exhibit) -> Table:
    """Width of every view and how many samples have it."""
    job = exhibit.job
    seen = job.views.presence.sum(axis=0)
    frame = pd.DataFrame(
        {
            "view": job.views.names,
            "features": list(job.views.n_features.values()),
            "observed": seen,
            "missing": job.views.n_samples - seen,
        }
    )
    columns: Columns = {
        "view": ("view", ""), "features": ("columns", "d"), "observed": (job.plural, "d"), "missing": ("missing", "d"),
    }  # fmt: skip
    return Table.from_frame(frame, f"The views of the {job.views.n_samples} {job.plural}", columns)


def prediction_section(exhibit: Exhibit, *, file_name: str, level: int) -> Section:
    """Every prediction with its probabilities, as a picture and as a table."""
    job, predictions = exhibit.job, exhibit.predictions
    right = int(predictions["right"].sum())
    classes = [str(name) for name in exhibit.classes]
    roles = dict(zip(classes, CLASS_ROLES, strict=False))
    panels = []
    for number, name in enumerate(classes):
        part = predictions[predictions["predicted"] == name]
        if part.empty:
            continue
        title = f"Predicted {name}: {int(part['right'].sum())} of {len(part)} right"
        order = {name: roles[name]} | {other: role for other, role in roles.items() if other != name}
        description = f"{title}; surest first, errors marked with a cross."
        panels.append(
            probability_ribbon(part, order, title=title, key=f"{job.name}-ribbon-{number}", description=description)
        )
    reading = (
        f"{right} of {len(predictions)} predictions are right (errors carry a cross), and the errors gather "
        "where the columns say that the model is least sure."
    )
    picture = Picture("A probability for every one.", reading, tuple(panels), prediction_table_text(exhibit))
    paragraphs = (
        f"Every {job.singular} without a label gets a probability for each class. All of them are in {file_name}, "
        "beside this page; the withheld labels are there to check them and were never seen by the model.",
    )
    return Section(f"{job.name}-predictions", "Predictions", paragraphs, (picture,), level)


def prediction_table_text(exhibit: Exhibit) -> Table:
    """All predictions as text."""
    classes = [str(name) for name in exhibit.classes]
    frame = exhibit.predictions.reset_index()
    frame["verdict"] = frame["right"].map({True: "right", False: "wrong"})
    columns: Columns = {
        "sample": (exhibit.job.singular, ""), "predicted": ("predicted", ""),
        **{name: (name, ".3f") for name in classes},
        "views": ("views observed", ""), "withheld": ("withheld label", ""), "verdict": ("", ""),
    }  # fmt: skip
    caption = f"All {len(frame)} predictions, surest first"
    return Table.from_frame(frame, caption, columns, strong=~exhibit.predictions["right"].to_numpy(), scroll=True)


def trust_section(exhibit: Exhibit, *, paragraphs: Sequence[str], level: int) -> Section:
    """How far each view is trusted, and whether views agree or add."""
    return Section(
        f"{exhibit.job.name}-trust", "Which views to trust, and whether they agree", tuple(paragraphs),
        (_trust_picture(exhibit), _agreement_picture(exhibit)), level,
    )  # fmt: skip


def _trust_picture(exhibit: Exhibit) -> Picture:
    """Shares of the views with their intervals."""
    job = exhibit.job
    trust = exhibit.model.view_trust_.loc[job.views.names]
    order = trust["share"].sort_values(ascending=False).index
    reading = (
        f"With {len(exhibit.labeled)} labels, {order[0]} carries the largest share "
        f"({trust.loc[order[0], 'share']:.2f}) and {order[-1]} the smallest ({trust.loc[order[-1], 'share']:.2f}); "
        "wide bars mean that so few labels cannot settle the order."
    )
    frame = trust.rename_axis("view").reset_index()
    columns: Columns = {
        "view": ("view", ""), "share": ("share", ".3f"), "sd": ("standard deviation", ".3f"),
        "lower": ("5 %", ".3f"), "upper": ("95 %", ".3f"), "n_samples": (job.plural, "d"),
    }  # fmt: skip
    table = Table.from_frame(frame, "Share of each view with its 90 % interval", columns)
    svg = view_trust(
        trust, 1 / len(trust), title="Trust in each view", key=f"{job.name}-view-trust", description=reading
    )
    return Picture("How far each view is trusted.", reading, (svg,), table)


def agreement_by_count(exhibit: Exhibit) -> pd.DataFrame:
    """Mean weights of the kinds of setting over the draws, one row per number of labels."""
    kept = exhibit.comparison.attributes[OURS]
    rows = {}
    for count in exhibit.job.counts:
        weights = [dict(kept[i]["agreement_"]) for i in exhibit.comparison.draws_with(count)]
        rows[f"{count} labels"] = pd.DataFrame(weights).mean()
    return pd.DataFrame(rows).T[list(KINDS)].rename(columns=KINDS)


def _agreement_picture(exhibit: Exhibit) -> Picture:
    """Weights of the kinds of setting by number of labels."""
    weights = agreement_by_count(exhibit)
    kinds = list(KINDS.values())
    order = weights.iloc[0].sort_values(ascending=False, kind="stable")
    reading = (
        f"With {exhibit.job.counts[0]} labels the largest weight, {order.iloc[0]:.2f}, is on models in which "
        f"{MEANINGS[str(order.index[0])]}, then {order.iloc[1]:.2f} on models in which {MEANINGS[str(order.index[1])]}, and "
        f"{order.iloc[2]:.2f} where {MEANINGS[str(order.index[2])]}."
    )
    columns: Columns = {"labels": ("", ""), **{kind: (kind, ".2f") for kind in kinds}}
    table = Table.from_frame(
        weights.rename_axis("labels").reset_index(), "Weight by number of labels, mean over draws", columns
    )
    svg = agreement_bars(weights, title="Agree or add?", key=f"{exhibit.job.name}-agreement", description=reading)
    return Picture("Do the views agree, or add?", reading, (svg,), table)


def uncertain_section(exhibit: Exhibit, *, level: int, n_shown: int = 8) -> Section:
    """The least sure predictions and what each view says about them."""
    job = exhibit.job
    unsure = exhibit.predictions.tail(n_shown)[::-1]
    pushes = pushes_between_leaders(exhibit, unsure)
    labels = {
        str(sample): f"{sample}\n{row['first']} {row['p_first']:.2f}, {row['second']} {row['p_second']:.2f}"
        for sample, row in pushes.iterrows()
    }
    parts = [*job.views.names, "together"]
    reading = (
        f"A bar to the right speaks for the first class named beside the {job.singular}, a bar to the left for the "
        "second; views that pull apart, or hardly pull, leave the prediction open."
    )
    svg = reasons(
        pushes[parts], labels, title=f"The {n_shown} least sure {job.plural}", key=f"{job.name}-reasons",
        description=reading, axis="push toward the first class (latent units)",
    )  # fmt: skip
    columns: Columns = {
        "sample": (job.singular, ""), "first": ("first class", ""), "p_first": ("probability", ".2f"),
        "second": ("second class", ""), "p_second": ("probability", ".2f"),
        **{part: (part, signed) for part in parts}, "bias": ("constant", signed), "withheld": ("withheld label", ""),
    }  # fmt: skip
    table = Table.from_frame(
        pushes.rename_axis("sample").reset_index(),
        "What each view adds to first minus second class, latent units",
        columns,
    )
    paragraphs = (
        "The latent score of a sample is an exact sum: a constant, one part for each view, and one part of models "
        f"that read all views together. Below are the parts for the {n_shown} {job.plural} whose prediction is least "
        "sure. A view that was not measured can still have a small part, because some of the averaged models fill it "
        "in from the nearest neighbors.",
    )
    picture = Picture("What each view says.", reading, (svg,), table)
    return Section("uncertain", "Who is most uncertain, and why", paragraphs, (picture,), level)


def pushes_between_leaders(exhibit: Exhibit, samples: pd.DataFrame) -> pd.DataFrame:
    """What each view adds to the latent score of the most probable class minus that of the second, per sample.

    Returns
    -------
    pushes : DataFrame
        Indexed by sample: a column per view, ``together`` and ``bias``; ``first``, ``p_first``, ``second``,
        ``p_second``, ``withheld``.
    """
    classes = [str(name) for name in exhibit.classes]
    positions = exhibit.job.views.index.get_indexer(samples.index)
    table = exhibit.model.explain(exhibit.job.views[positions]).rename(columns={"early_fusion": "together"})
    parts = ["bias", *exhibit.job.views.names, "together"]
    rows = {}
    for sample, row in samples.iterrows():
        first, second = row[classes].astype(float).nlargest(2).index
        scores = table[table["sample"] == sample].set_index("class")[parts]
        rows[sample] = {
            **(scores.loc[first] - scores.loc[second]).to_dict(),
            "first": first, (
                "p_first"
            ): row[first], (
                "second"
            ): second, (
                "p_second"
            ): row[second], (
                "withheld"
            ): row[(
                "withheld"
            )],
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index")
