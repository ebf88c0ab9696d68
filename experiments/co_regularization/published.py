"""Tables 1 and 2 of the paper: mean precision-recall breakeven points in percent."""

from collections.abc import Mapping

from .problems import BOTH, COLUMNS, LINK, PAGE

__all__ = ["TABLE_1", "TABLE_2", "published"]

# By method: link, page, page+link.
TABLE_1: Mapping[str, tuple[float | None, ...]] = {
    "RLS (full)": (94.4, 94.0, 97.8),
    "SVM (full)": (93.7, 93.5, 99.0),
    "RLS (12)": (72.0, 71.6, 78.3),
    "SVM (12)": (74.4, 77.8, 84.4),
    "SGT": (78.0, 89.3, 93.4),
    "TSVM": (85.5, 91.4, 92.2),
    "LapRLS": (80.8, 89.0, 93.1),
    "LapSVM": (81.9, 89.5, 93.6),
    "Co-trained RLS": (74.8, 80.2, None),
    "Co-RLS": (80.8, 90.1, None),
    "Co-LapRLS 1": (93.1, 90.8, 90.4),
    "Co-LapRLS 2": (94.4, 92.0, 93.6),
    "Co-trained SVM": (88.3, 88.7, None),
    "Co-SVM": (None, None, None),
    "Co-LapSVM 1": (93.2, 93.2, 90.8),
    "Co-LapSVM 2": (94.3, 93.3, 94.2),
}

# By university and representation: new pages, unlabeled pages.
TABLE_2: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "Cornell": {BOTH: (91.6, 90.9), PAGE: (88.9, 88.8), LINK: (88.2, 88.7)},
    "Texas": {BOTH: (94.8, 95.5), PAGE: (91.6, 92.4), LINK: (90.9, 93.5)},
    "Washington": {BOTH: (94.7, 94.9), PAGE: (94.0, 93.9), LINK: (93.7, 92.4)},
    "Wisconsin": {BOTH: (92.0, 91.4), PAGE: (87.6, 86.6), LINK: (86.1, 84.5)},
}


def published(method: str, column: str) -> float | None:
    """A cell of table 1, None where it is empty."""
    return TABLE_1[method][COLUMNS.index(column)]
