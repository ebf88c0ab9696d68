"""The tables in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import synthetic
from .mixtures import CHOSEN, CHOSEN_DIRECT, COMPONENTS, DIRECT_MIXTURE, MIXTURE, NOISE_VARIANCES
from .problems import DIGITS, HANDWRITTEN, HANDWRITTEN_SUBSETS, SYNTHETIC
from .summaries import CLEAR, paired

__all__ = ["tables_of"]

_NOTE = f"""\
Accuracy, mean ± standard deviation over draws or splits. Verdict: our mean less the printed one in standard errors of their
difference; *reached* within {CLEAR:g} of them, else *below* or *above*. Where the number of trials behind a printed deviation
is not known, the deviation counts in full. Rivals are compared split by split: the mixture is *ahead* of or *behind* a
method from {CLEAR:g} standard errors of the difference on, else *level* with it."""
_SPOKEN = """\
370 recordings with labels, 370 other recordings joined to images of the same digit without labels, tested on all other
images; 10 factors. The printed figures are of another corpus (voices and lips), so that a verdict says where the level lies,
not whether a figure was repeated. Noise variance in units of features of variance 1."""
_THREE = """\
37 of each digit with a label and Fourier coefficients (fou) only, 37 with Fourier and Karhunen-Loeve coefficients (kar) and
Zernike moments (zer) and no label, the other 1,260 to test on, cut to the views named. In brackets: where the mixture stands."""


def tables_of(scores: Sequence[Mapping[str, Any]], summary: pd.DataFrame) -> str:
    """All tables as Markdown.

    Parameters
    ----------
    scores : sequence of dict
        A row per method, setting and draw or split.
    summary : DataFrame
        As from `summarize`.

    Returns
    -------
    text : str
    """
    present = set(summary["part"])
    parts = [_NOTE]
    if SYNTHETIC in present:
        bayes = f"Nothing exceeds {synthetic.BAYES_ACCURACY:.4f}, the accuracy of the true model."
        parts += ["## Section 3.1: synthetic data", bayes, _synthetic(summary[summary["part"] == SYNTHETIC])]
    if DIGITS in present:
        of_part = summary[summary["part"] == DIGITS]
        parts += ["## Digits spoken and written", _SPOKEN]
        parts += ["### Table 1: no labels for images", _grid(of_part, MIXTURE)]
        parts += ["### Table 2: direct supervision", _grid(of_part, DIRECT_MIXTURE)]
        parts += ["### Rivals", _choices(scores), _rivals(scores, of_part)]
    if HANDWRITTEN in present:
        parts += ["## Handwritten digits in three views", _THREE, _subsets(scores)]
    return "\n\n".join(parts)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(row: Any) -> str:
    return f"{row['mean']:.3f}" if np.isnan(row["sd"]) else f"{row['mean']:.3f} ± {row['sd']:.3f}"


def _printed(row: Any, digits: int = 3) -> str:
    if np.isnan(row["published"]):
        return ""
    deviation = "" if np.isnan(row["published_sd"]) else f" ± {row['published_sd']:.{digits}f}"
    return f"{row['published']:.{digits}f}{deviation}"


def _judged(row: Any) -> str:
    return f"{row['verdict']} ({row['standard_errors']:+.1f})" if row["verdict"] else ""


def _synthetic(summary: pd.DataFrame) -> str:
    """A row per setting, both scenarios beside each other."""
    heads = ["J", "d", "noise variance"]
    heads += [f"{name} {what}".strip() for name in ("SSML", "DSML") for what in ("", "reference", "verdict")]
    rows = []
    for setting, cells in summary.groupby(["components", "factors", "noise_variance"], sort=False):
        by_scenario = cells.set_index("method")
        row = [f"{value:g}" for value in setting]
        for scenario in ("SSML", "DSML"):
            cell = by_scenario.loc[scenario]
            row += [_number(cell), _printed(cell), _judged(cell)]
        rows.append(row)
    return _table(heads, rows)


def _grid(summary: pd.DataFrame, method: str) -> str:
    """A row per noise variance: ours, printed and verdict for each number of components."""
    cells = summary[(summary["method"] == method) & (summary["tested_on"] == "image")]
    found = {(row["components"], row["noise_variance"]): row for _, row in cells.iterrows()}
    rows = []
    for noise in (*NOISE_VARIANCES, "learn"):
        rows.append([f"{noise}".replace("learn", "learned"), *(_cell(found[(n, noise)]) for n in COMPONENTS)])
    text = _table(["noise variance", *(f"J = {n}" for n in COMPONENTS)], rows)
    if ("auto", "learn") in found:
        text += f'\n\nJ by BIC (`n_components="auto"`), learned noise: {_number(found[("auto", "learn")])}.'
    return text


def _cell(row: Any) -> str:
    printed = _printed(row)
    return f"{_number(row)}<br>printed {printed}<br>{_judged(row)}" if printed else _number(row)


def _choices(scores: Sequence[Mapping[str, Any]]) -> str:
    numbers = [row["components"] for row in scores if row["method"] == CHOSEN and row["tested_on"] == "image"]
    listed = ", ".join(str(number) for number in numbers)
    return (
        "*Chosen*: noise variance 1 and the number of components that best says a fifth of the audio labels, left out of the "
        f"fit; it was {listed}."
    )


def _standing(row: Any) -> str:
    """Where the mixture stands beside a method."""
    if np.isnan(row["error"]) or row["error"] == 0:
        return ""
    ratio = row["difference"] / row["error"]
    word = "level" if abs(ratio) <= CLEAR else "ahead" if ratio > 0 else "behind"
    return f"{word} ({row['difference']:+.3f} ± {row['error']:.3f})"


def _rivals(scores: Sequence[Mapping[str, Any]], summary: pd.DataFrame) -> str:
    rows = []
    printed = summary[summary["tested_on"] == "image"].drop_duplicates("method").set_index("method")
    for method, row in paired(scores, DIGITS, "image").iterrows():
        figure = _printed(printed.loc[method]) if method not in (CHOSEN, CHOSEN_DIRECT) else ""
        rows.append([str(method), _number(row), figure, _standing(row)])
    pairs = summary[(summary["method"] == CHOSEN) & (summary["tested_on"] != "image")]
    rows += [[f"{CHOSEN}: the pairs themselves, from both views", _number(row), "", ""] for _, row in pairs.iterrows()]
    return _table(["method", "images", "printed", "the chosen factor mixture is"], rows)


def _subsets(scores: Sequence[Mapping[str, Any]]) -> str:
    """A row per method, a column per set of views to test on."""
    names = [" + ".join(subset) for subset in HANDWRITTEN_SUBSETS]
    columns = {name: paired(scores, HANDWRITTEN, name) for name in names}
    methods = list(dict.fromkeys(method for column in columns.values() for method in column.index))
    rows = []
    for method in methods:
        cells = [columns[name].loc[method] if method in columns[name].index else None for name in names]
        texts = ["" if cell is None else _number(cell) for cell in cells]
        standing = ["" if cell is None else _standing(cell).split(" (")[0] for cell in cells]
        rows.append([str(method), *(f"{t} ({s})" if s else t for t, s in zip(texts, standing, strict=True))])
    return _table(["method", *names], rows)
