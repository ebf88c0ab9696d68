"""Whether a list of measurements can be relied on, in words: what `coview.acquisition.diagnose` found."""

from __future__ import annotations

import numpy as np

from coview.acquisition import Diagnosis
from coview.report._html import Note, Section
from coview.report._measurements import Omitted
from coview.report._tables import Columns, Table, percent, signed
from coview.report._words import counted

__all__ = ["SOUND", "reliance_sections"]

SOUND = "Nothing stands against the ranking"


def reliance_sections(diagnosis: Diagnosis | Omitted | None) -> tuple[Section, ...]:
    """What speaks against the list, view by view; that it was not looked at; or nothing where the model cannot be asked.

    Parameters
    ----------
    diagnosis : Diagnosis, Omitted or None
        As of `short_diagnosis`.

    Returns
    -------
    sections : tuple of Section
        One or none.
    """
    key, title_of_section = "reliance", "Can the list be relied on?"
    if diagnosis is None:
        return ()
    if isinstance(diagnosis, Omitted):
        return (Section(key, title_of_section, (f"This was not looked at: {diagnosis.reason}. {diagnosis.remedy}",)),)
    sound = all(line.startswith(SOUND) for line in diagnosis.words)
    title = "Nothing stands against it" if sound else "Why asking may be no better than measuring at random"
    paragraphs = (
        "Values that are known were hidden, a part at a time, predicted from what was left, and compared with what they are: "
        "does the description of the data know what a view may hold, does what a value was expected to tell agree with what it "
        "told, and does the view help to predict labels that were left out?",
        *_forecast(diagnosis),
    )
    blocks = (Note(title, tuple(diagnosis.words), tone="good" if sound else "bad"), _view_table(diagnosis))
    return (Section(key, title_of_section, paragraphs, blocks),)


def _forecast(diagnosis: Diagnosis) -> tuple[str, ...]:
    """How far forecasts came true, where that could be seen."""
    whole = diagnosis.whole
    if not np.isfinite(whole["agreement"]):
        return ()
    return (
        f"Forecasts and what came true had rank correlation {whole['agreement']:.2f} (1 is perfect, 0 is chance); a known value "
        f"was expected to settle {signed(whole['expected'])} nats on average and settled {signed(whole['realized'])}.",
    )


def _view_table(diagnosis: Diagnosis) -> Table:
    """A row per view: who has it, how well it is known, what it brings."""
    views = diagnosis.views.rename_axis("view").reset_index()
    views["explained"] = views["explained"].clip(lower=0.0)
    columns: Columns = {
        "view": ("view", ""), "known": ("samples", ",d"), "missing": ("missing", ",d"), "labeled": ("with a label", ",d"),
        "explained": ("explained by the rest", percent), "standardized_error": ("error in stated units", ".2f"),
        "label_gain": ("gain for labels left out", signed), "trust": ("trust", ".2f"), "expected": ("expected", signed),
        "realized": ("came true", signed), "agreement": ("agreement", ".2f"),
    }  # fmt: skip
    empty = [name for name in columns if views[name].isna().all()]
    columns = {name: column for name, column in columns.items() if name not in empty}
    caption = f"The {counted(len(views), 'view')}: errors in stated units should be near 1, gains are nats per label"
    return Table.from_frame(views, caption, columns, folded=True)
