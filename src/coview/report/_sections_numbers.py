"""Quality of predicted numbers in cross-validation: predicted against observed, residuals, coverage of intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coview.metrics import coverage_table, prediction_interval
from coview.model_selection import Evaluation
from coview.report._figures_samples import coverage_steps, predicted_observed, residual_scatter
from coview.report._html import Picture, Section
from coview.report._sections_scores import cross_validation_text, score_picture
from coview.report._subject import Subject
from coview.report._tables import Columns, Table, percent

__all__ = ["number_quality_section", "observed_picture"]

_DRAWN_SAMPLES = 1500
_LISTED_SAMPLES = 500


def number_quality_section(subject: Subject, evaluation: Evaluation) -> Section:
    """Scores, predictions, residuals and coverage over the labeled samples, each left out once."""
    predicted = evaluation.predictions[subject.method]
    lower, upper = prediction_interval(predicted[:, 0], predicted[:, 1])
    samples = pd.DataFrame(
        {"observed": evaluation.y, "predicted": predicted[:, 0], "sd": predicted[:, 1], "lower": lower, "upper": upper},
        index=evaluation.samples,
    ).astype(float)
    blocks = [score_picture(subject, evaluation), observed_picture(samples, subject.target, key="cv")]
    if samples["sd"].notna().all():
        blocks.append(_coverage_picture(samples))
    paragraphs = (cross_validation_text(subject, evaluation),)
    return Section("quality", "How well it predicts labels it has not seen", paragraphs, tuple(blocks))


def observed_picture(samples: pd.DataFrame, target: str, *, key: str) -> Picture:
    """Predicted against observed, residuals beside it.

    Parameters
    ----------
    samples : DataFrame
        By sample id: ``observed``, ``predicted``, ``lower``, ``upper``.
    target, key : str
        Name of what is predicted; id prefix.

    Returns
    -------
    picture : Picture
    """
    samples = samples.assign(residual=samples["observed"] - samples["predicted"])
    drawn = samples if len(samples) <= _DRAWN_SAMPLES else samples.sample(_DRAWN_SAMPLES, random_state=0)
    typical = float(samples["residual"].abs().median())
    worst = samples["residual"].abs().idxmax()
    reading = (
        f"Half of the predictions are within {typical:.3g} of what was observed; the largest error is "
        f"{float(samples['residual'].abs().max()):.3g}, for sample {worst}. On the dashed line prediction and truth agree."
    )
    if len(drawn) < len(samples):
        reading += f" {len(drawn):,} of {len(samples):,} samples are drawn."
    panels = (
        predicted_observed(drawn, title="Predicted against observed", name=target, key=f"{key}-observed",
                           description=f"{reading} Bars are 90 % intervals."),
        residual_scatter(drawn, title="Residuals", key=f"{key}-residuals",
                         description="Observed minus predicted against predicted."),
    )  # fmt: skip
    order = samples["residual"].abs().sort_values(ascending=False, kind="stable").index[:_LISTED_SAMPLES]
    table = samples.loc[~samples.index.duplicated()].loc[order.unique()].rename_axis("sample").reset_index()
    number = ".4g"
    columns: Columns = {"sample": ("sample", ""), "observed": ("observed", number), "predicted": ("predicted", number)}
    if samples["lower"].notna().any():
        columns |= {"lower": ("90 % from", number), "upper": ("to", number)}
    columns["residual"] = ("observed minus predicted", number)
    caption = "Largest errors first" + ("" if len(table) == len(samples) else f", the first {len(table):,}")
    return Picture(
        "Predicted against observed.",
        reading,
        panels,
        Table.from_frame(table, caption, columns, scroll=len(table) > 12),
    )


def _coverage_picture(samples: pd.DataFrame) -> Picture:
    """How often stated intervals hold the truth."""
    table = coverage_table(samples["observed"], samples["predicted"], samples["sd"])
    at = table.iloc[int(np.flatnonzero(np.isclose(table["level"], 0.9))[0])]
    verdict = (
        "as often as it should"
        if at["share_low"] <= 0.9 <= at["share_high"]
        else (
            "too seldom: the model is too sure of itself"
            if at["share"] < 0.9
            else "more often than stated: it is too cautious"
        )
    )
    reading = f"The 90 % interval holds {percent(at['share'])} of {int(at['n']):,} targets, {verdict}. Bars are 95 % intervals."
    svg = coverage_steps(table, title="Coverage", key="cv-coverage", description=reading)
    columns: Columns = {
        "level": ("stated", percent), "n": ("targets", ",d"), "covered": ("inside", ",d"), "share": ("share", ".3f"),
        "share_low": ("95 % from", ".3f"), "share_high": ("to", ".3f"),
    }  # fmt: skip
    return Picture(
        "Coverage of the intervals.", reading, (svg,), Table.from_frame(table, "Intervals and targets", columns)
    )
