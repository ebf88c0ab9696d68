"""How far the model trusts each view, and whether its views agree or add."""

from __future__ import annotations

import pandas as pd

from coview.inspection import EQUAL_SHARES, tell_views_apart
from coview.report._figures_data import agreement_bars, view_trust
from coview.report._html import Picture, Section
from coview.report._sections_model import KINDS, MEANINGS
from coview.report._subject import Subject
from coview.report._tables import Columns, Table
from coview.report._words import counted, shorten

__all__ = ["trust_section"]

_ASSESSED = "assessed"


def trust_section(subject: Subject) -> Section | None:
    """Shares of the views with intervals, and the weights of the ways to combine them."""
    trust = subject.trust
    if trust is None or len(trust) < 2:
        return None
    if not tell_views_apart(trust):
        return Section("trust", "Which views to trust", (EQUAL_SHARES,))
    blocks = [_trust_picture(subject, trust)]
    agreement = getattr(subject.estimator, "agreement_", None)
    settings = getattr(subject.estimator, "settings_", None)
    if agreement is not None and settings is not None and len(settings) > 1:
        blocks.append(_agreement_picture(agreement))
    paragraphs = (
        "The model averages many models: in some the views must agree, in some they add their evidence, in some one view is "
        "set aside or stands alone. Each weighs as much as it predicts labels that were left out. The weights say how far a "
        "view is trusted. It is no test of whether the view is worth its price.",
    )
    return Section("trust", "Which views to trust", paragraphs, tuple(blocks))


def _trust_picture(subject: Subject, trust: pd.DataFrame) -> Picture:
    order = trust["share"].sort_values(ascending=False, kind="stable").index
    first, last = str(order[0]), str(order[-1])
    status = trust["status"].iloc[0]
    if status == _ASSESSED:
        overlap = trust.loc[order[0], "lower"] <= trust.loc[order[-1], "upper"]
        reading = (
            f"{shorten(first, 40)} carries the largest share ({trust.loc[order[0], 'share']:.2f}) and {shorten(last, 40)} the "
            f"smallest ({trust.loc[order[-1], 'share']:.2f}); "
            + (
                "their intervals overlap, so the labels cannot settle the order."
                if overlap
                else "their intervals do not overlap."
            )
        )
    else:
        reading = f"The shares were {status}, not learned from how well each view predicts."
    equal = 1 / len(trust)
    svg = view_trust(trust, equal, title="Trust in each view", key="trust", description=reading)
    columns: Columns = {
        "view": ("view", ""), "share": ("share", ".3f"), "sd": ("standard deviation", ".3f"), "lower": ("5 %", ".3f"),
        "upper": ("95 %", ".3f"), "n_samples": ("samples", ",d"),
    }  # fmt: skip
    if (trust["status"] != _ASSESSED).any():
        columns["status"] = ("status", "")
    frame = trust.loc[order].rename_axis("view").reset_index()
    caption = f"Share of each of {counted(len(trust), 'view')} with its 90 % interval"
    return Picture("How far each view is trusted.", reading, (svg,), Table.from_frame(frame, caption, columns))


def _agreement_picture(agreement: dict[str, float]) -> Picture:
    weights = pd.DataFrame([agreement], index=["this model"]).reindex(columns=list(KINDS), fill_value=0.0)
    weights = weights.rename(columns=KINDS)
    order = weights.iloc[0].sort_values(ascending=False, kind="stable")
    reading = (
        f"The largest weight, {order.iloc[0]:.2f}, is on models in which {MEANINGS[str(order.index[0])]}, then "
        f"{order.iloc[1]:.2f} where {MEANINGS[str(order.index[1])]}, and {order.iloc[2]:.2f} where "
        f"{MEANINGS[str(order.index[2])]}."
    )
    svg = agreement_bars(weights, title="Agree or add?", key="agreement", description=reading)
    columns: Columns = {kind: (kind, ".2f") for kind in KINDS.values()}
    table = Table.from_frame(weights, "Weight of each way to combine the views", columns)
    return Picture("Do the views agree, or add?", reading, (svg,), table)
