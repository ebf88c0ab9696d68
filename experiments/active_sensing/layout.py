"""Numbers with their errors and verdicts, and tables, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

__all__ = ["error_text", "gain_text", "markdown", "when_text"]


def gain_text(row: pd.Series) -> str:
    """A gain with its error and what the test says."""
    word = f", {row['verdict']}" if row["verdict"] else ""
    return f"{row['gain']:+.4f}{error_text(row['error'], 4)}{word}"


def error_text(value: float, digits: int = 3) -> str:
    return "" if np.isnan(value) else f" ± {value:.{digits}f}"


def when_text(row: pd.Series) -> str:
    first, lasting = ("never" if pd.isna(row[key]) else f"{row[key]:.0f}" for key in ("first", "lasting"))
    return f"{first}; {lasting}; {100 * row['ahead']:.0f} %/{100 * row['behind']:.0f} %"


def markdown(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table."""
    rows = [" | ".join(heads), " | ".join("---" for _ in heads), *(" | ".join(line) for line in lines)]
    return "\n".join(f"| {row} |" for row in rows)
