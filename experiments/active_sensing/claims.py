"""What the papers say of their experiments, beside what comes out here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .layout import error_text, gain_text, markdown
from .runs import BOUND_POINT, ENTROPY, FILLED, FULL, INFORMATION, PAPERS, POINT, RANDOM, VARIANCE
from .summaries import pairs

__all__ = ["REFERENCE", "claims_table"]

#: Gain in AUC over random along 40 acquisitions, with its standard error over 40 seeds, in an independent implementation with
#: its own draws; the papers print curves alone.
REFERENCE = {
    ("toy, 2 labels per class", VARIANCE): (0.0045, 0.0014),
    ("toy, 2 labels per class", POINT): (0.0039, 0.0016),
    ("toy, 2 labels per class", BOUND_POINT): (0.0046, 0.0018),
    ("toy, 2 labels per class", INFORMATION): (0.0046, 0.0015),
    ("toy, 5 labels per class", VARIANCE): (0.0015, 0.0009),
    ("toy, 5 labels per class", POINT): (0.0006, 0.0012),
    ("toy, 5 labels per class", INFORMATION): (0.0013, 0.0010),
}
_TOY, _LUNG, _RECTAL = "toy, 2 labels per class", "nsclc", "heart, 78 patients"
#: How far below the AUC of full features the optimum counts as reached.
_NEAR = 0.005


def claims_table(found: pd.DataFrame, steps: pd.DataFrame, won: pd.DataFrame, around: pd.DataFrame) -> str:
    """A row per statement; the gains of the toy beside those of another implementation follow."""
    facts = _Facts(*(part[part["setting"] == PAPERS.name] for part in (found, steps, won, around)))
    lines = [
        *_ahead(facts, "toy (figures 5; 3)", "much better than random", _TOY),
        _reached(facts, "toy", "optimum reached by acquisition 16, much later at random", _TOY, 16),
        *(_alike(facts, where, study) for where, study in (("toy", _TOY), ("lung cancer", _LUNG), ("rectal", _RECTAL))),
        _levels(facts, "lung cancer", "full features .73, mean imputation .62", _LUNG),
        *_ahead(facts, "lung cancer (6; 4)", "better than random", _LUNG),
        *_soon(facts, "lung cancer", "significantly better after the 5 first pairs", _LUNG, 5),
        _levels(facts, "rectal", "full features .74, mean imputation .55", _RECTAL),
        *_ahead(facts, "rectal (7; 5)", "better than random", _RECTAL),
        *_soon(facts, "rectal", "significantly better after about 18 pairs", _RECTAL, 18),
        _reached(facts, "rectal", "almost the optimum with about 34 pairs, much later at random", _RECTAL, 34),
    ]
    heads = ["experiment (figures of JMLR; AISTATS)", "the papers", "here", "verdict"]
    return "\n\n".join([markdown(heads, lines), "### The toy beside another implementation", _beside_reference(facts)])


class _Facts:
    """Everything that was computed at the papers' setting."""

    def __init__(self, found: pd.DataFrame, steps: pd.DataFrame, won: pd.DataFrame, around: pd.DataFrame) -> None:
        self.found, self._steps, self._won, self._around = found, steps, won, around

    def of(self, study: str) -> pd.DataFrame:
        return self.found[self.found["study"] == study]

    def levels(self, study: str, criterion: str) -> pd.Series:
        """Mean AUC by acquisition."""
        rows = self._steps[(self._steps["study"] == study) & (self._steps["criterion"] == criterion)]
        return rows.set_index("step")["auc"]

    def gain(self, study: str, criterion: str) -> pd.Series:
        rows = self._won[(self._won["study"] == study) & (self._won["criterion"] == criterion)]
        return rows.set_index("score").loc["auc"]

    def baseline(self, study: str, name: str) -> pd.Series:
        rows = self._around[(self._around["study"] == study) & (self._around["baseline"] == name)]
        return rows["auc"].dropna()


def _ahead(facts: _Facts, where: str, said: str, study: str) -> list[list[str]]:
    """MI, VAR and the default criterion against random over the whole curve."""
    lines = []
    for criterion in (INFORMATION, VARIANCE, ENTROPY):
        row = facts.gain(study, criterion)
        words = {"ahead": "ahead", "behind": "the opposite", "even": "not separable"}
        printed = f"{criterion}: {said}" if criterion != ENTROPY else f"(not in the papers) {criterion}"
        verdict = words.get(row["verdict"], "") if criterion != ENTROPY else row["verdict"]
        lines.append([where, printed, f"gain {gain_text(row)}", verdict])
    return lines


def _alike(facts: _Facts, where: str, study: str) -> list[str]:
    """MI against VAR."""
    row = pd.Series(pairs(facts.of(study), INFORMATION, VARIANCE, "auc"))
    word = {"ahead": "MI is ahead", "behind": "MI is behind", "even": "not separable, as printed"}.get(
        row["verdict"], ""
    )
    return [where, "MI and VAR alike, without a significant difference", f"MI less VAR {gain_text(row)}", word]


def _levels(facts: _Facts, where: str, said: str, study: str) -> list[str]:
    """Full features and mean imputation: other patients, so levels may differ, orders not."""
    full, filled = facts.baseline(study, FULL), facts.baseline(study, FILLED)
    start = facts.levels(study, RANDOM)[0]
    here = (
        f"{full.mean():.3f}{error_text(full.sem())}, {filled.mean():.3f}{error_text(filled.sem())}; start {start:.3f}"
    )
    return [where, said, here, "same order" if full.mean() > filled.mean() else "opposite order"]


def _soon(facts: _Facts, where: str, said: str, study: str, after: int) -> list[list[str]]:
    """When the papers' criteria are significantly ahead."""
    lines = []
    for criterion in (INFORMATION, VARIANCE, ENTROPY):
        row = facts.gain(study, criterion)
        first, lasting = ("never" if pd.isna(row[key]) else f"after {row[key]:.0f}" for key in ("first", "lasting"))
        here = f"first {first}, lasting {lasting}, {100 * row['ahead']:.0f} % of the acquisitions"
        word: Any = "" if row["verdict"] == "" else "no"
        if not pd.isna(row["lasting"]):
            word = "reproduced" if row["lasting"] <= after + 1 else "later"
        printed = f"{criterion}: {said}" if criterion != ENTROPY else f"(not in the papers) {criterion}"
        lines.append([where, printed, here, word])
    return lines


def _reached(facts: _Facts, where: str, said: str, study: str, after: int) -> list[str]:
    """The optimum, reached by MI and at random."""
    full = facts.baseline(study, FULL).mean()
    levels = {name: facts.levels(study, name) for name in (INFORMATION, VARIANCE, ENTROPY, RANDOM)}
    at = min(after, int(levels[RANDOM].index.max()))
    parts = [f"{name} {own[at]:.3f} ({_when_near(own, full)})" for name, own in levels.items()]
    early = bool((levels[INFORMATION].loc[: at + 1] >= full - _NEAR).any())
    late = not bool((levels[RANDOM].loc[: 2 * at] >= full - _NEAR).any())
    here = f"full {full:.3f}; after {at} (within {_NEAR:g} of it from): {', '.join(parts)}"
    return [where, said, here, "reproduced" if early and late else "reached, random not much later" if early else "no"]


def _when_near(levels: pd.Series, full: float) -> str:
    near = levels.index[levels >= full - _NEAR]
    return "never" if near.empty else str(int(near[0]))


def _beside_reference(facts: _Facts) -> str:
    """Gains of the toy beside those of an independent implementation."""
    lines = []
    for (study, criterion), (gain, error) in REFERENCE.items():
        row = facts.gain(study, criterion)
        apart = abs(row["gain"] - gain) / np.hypot(row["error"], error)
        word = "" if np.isnan(apart) else "agrees" if apart <= 2.0 else f"{apart:.1f} standard errors apart"
        lines.append([study, criterion, f"{gain:+.4f} ± {error:.4f}", gain_text(row), word])
    return markdown(["", "criterion", "gain, another implementation (40 seeds)", "gain here", "verdict"], lines)
