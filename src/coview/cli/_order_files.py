"""Orders as files that people fill in: a row per order, an empty column per feature, a row that says what was seen."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

if TYPE_CHECKING:
    import pandas as pd

    from coview.acquisition import Campaign

__all__ = [
    "FIXED",
    "FORMATS",
    "SEEN",
    "STATES",
    "WORKBOOK",
    "OrderSheet",
    "feature_columns",
    "format_of",
    "label_column",
    "label_features",
    "label_word",
    "refuse_stdout",
    "require_workbooks",
    "sheet_name",
    "shown_views",
    "write_csv",
    "write_orders",
]

FORMATS = ("csv", "xlsx")
# Columns that stand before those of features.
FIXED = ("order", "sample", "view", "state", "reason")
# What stands in the column `order` of the row of hints.
SEEN = "seen"
# What stands in cells of features of other views.
NOT_HERE = "-"
# What may become of an order that is not measured.
STATES = ("failed", "declined", "impossible")
# Cells of workbooks are what they are, never formulas or links.
WORKBOOK = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
_MOST_CATEGORIES = 8
_LONGEST_LIST = 250  # characters of a list in a cell, of which Excel allows 255
_LONGEST_SHEET = 31


@dataclass(frozen=True)
class OrderSheet:
    """Orders, and the columns of features that they ask for.

    Attributes
    ----------
    rows : DataFrame
        Columns `FIXED`, one row per order.
    columns : dict of (view, feature) to str
        What the column of a feature is called.
    features : dict of view to DataFrame
        As `Campaign.features` gives them, and `label_features` beside them.
    """

    rows: "pd.DataFrame"
    columns: Mapping[tuple[str, str], str]
    features: Mapping[str, "pd.DataFrame"]


def format_of(output: Path) -> str:
    """The format that a file's name asks for; CSV where it asks for none."""
    suffix = output.suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else "csv"


def feature_columns(features: Mapping[str, Sequence[str]], taken: Sequence[str]) -> dict[tuple[str, str], str]:
    """A column for every feature: its own name, ``view.feature`` where that is taken or of several views."""
    count: dict[str, int] = {}
    for names in features.values():
        for name in names:
            count[name] = count.get(name, 0) + 1
    own = {name for name, times in count.items() if times == 1 and name not in taken}
    return {
        (view, name): name if name in own else f"{view}.{name}" for view, names in features.items() for name in names
    }


def label_column(notes: Mapping[str, str]) -> str:
    """What the column of labels is called: like the target, ``label`` where that is a column of orders."""
    target = notes.get("target", "label")
    return "label" if target in FIXED else target


def label_word(campaign: "Campaign") -> str:
    """What stands in the column ``view`` where an order asks for a label."""
    column = label_column(campaign.notes)
    return f"{column} (label)" if column in campaign.views.names else column


def shown_views(campaign: "Campaign", views: "pd.Series") -> "pd.Series":
    """A column of views, with `label_word` in the place of None."""
    return views.astype(object).where(views.notna(), label_word(campaign))


def label_features(campaign: "Campaign") -> "pd.DataFrame":
    """The label as if it were the only feature of a view; see `Campaign.features`."""
    import numpy as np
    import pandas as pd

    known = campaign.y[campaign.labeled]
    facts: dict[str, Any] = {"kind": "category", "low": np.nan, "high": np.nan, "categories": []}
    if campaign.notes.get("task") == "regression":
        facts |= {"kind": "number", "low": known.min(), "high": known.max()} if len(known) else {"kind": "number"}
    else:
        facts["categories"] = sorted({str(label) for label in known})
    return pd.DataFrame([facts], index=pd.Index([label_column(campaign.notes)], name="feature"))


def write_orders(sheet: OrderSheet, stream: BinaryIO, kind: str) -> None:
    """Write orders as CSV or XLSX."""
    if kind == "xlsx":
        _write_workbook(sheet, stream)
        return
    write_csv(_table(sheet, sheet.rows, list(dict.fromkeys(sheet.rows["view"]))), stream, index=False)


def write_csv(table: "pd.DataFrame", stream: BinaryIO, *, index: bool = True) -> None:
    """Write a table as CSV, and leave the stream open."""
    text = TextIOWrapper(stream, encoding="utf-8", newline="")
    table.to_csv(text, index=index, lineterminator="\n")
    text.flush()
    text.detach()


def refuse_stdout(ctx: click.Context, kind: str | None, force: bool) -> None:
    """Refuse what needs a file where the output is stdout."""
    if kind == "xlsx" or force:
        what = "A workbook is not text for stdout" if kind == "xlsx" else "--force says to overwrite a file"
        raise click.UsageError(f"{what}; name a file with -o FILE.", ctx)


def require_workbooks() -> None:
    """Say before the work that workbooks cannot be written."""
    if find_spec("xlsxwriter") is None:
        raise ImportError("Writing XLSX needs XlsxWriter: pip install 'coview[excel]'.")


def _table(sheet: OrderSheet, rows: "pd.DataFrame", views: Sequence[str]) -> "pd.DataFrame":
    """The hints, then a row per order."""
    import pandas as pd

    wanted = [(view, name) for view in views for name in sheet.features[view].index]
    names = [sheet.columns[pair] for pair in wanted]
    hints = dict.fromkeys(FIXED, "") | {"order": SEEN, "sample": SEEN, "state": " | ".join(STATES)}
    hints |= {sheet.columns[pair]: _hint(sheet.features[pair[0]].loc[pair[1]]) for pair in wanted}
    cells = {
        sheet.columns[view, name]: ["" if own == view else NOT_HERE for own in rows["view"]] for view, name in wanted
    }
    table = rows.astype(object).where(rows.notna(), "").assign(**cells)[[*FIXED, *names]]
    return pd.concat([pd.DataFrame([hints], dtype=object), table], ignore_index=True)


def _hint(feature: "pd.Series") -> str:
    """What was seen of a feature."""
    if feature["kind"] == "truth":
        return "yes | no"
    if feature["kind"] == "category":
        shown = feature["categories"][:_MOST_CATEGORIES]
        return " | ".join(shown) + (" | ..." if len(feature["categories"]) > len(shown) else "")
    if feature["kind"] == "text" or feature["low"] != feature["low"]:
        return feature["kind"] if feature["kind"] == "text" else ""
    return f"{feature['low']:g} to {feature['high']:g}"


def _write_workbook(sheet: OrderSheet, stream: BinaryIO) -> None:
    """A sheet per view, with its own features only; lists of categories to choose from."""
    require_workbooks()
    import xlsxwriter  # type: ignore[import-untyped]

    book = xlsxwriter.Workbook(stream, WORKBOOK)
    bold, hint = book.add_format({"bold": True}), book.add_format({"italic": True, "font_color": "#666666"})
    text = book.add_format({"num_format": "@"})
    used: set[str] = set()
    for view in dict.fromkeys(sheet.rows["view"]):
        table = _table(sheet, sheet.rows[sheet.rows["view"] == view], [view])
        page = book.add_worksheet(sheet_name(view, used))
        page.freeze_panes(2, 3)
        for k, name in enumerate(table.columns):
            page.set_column(k, k, max(9, min(40, max(map(len, map(str, table.iloc[:, k])), default=9) + 2)))
            page.write_string(0, k, name, bold)
            for row, cell in enumerate(table.iloc[:, k], start=1):
                _write_cell(page, row, k, cell, hint if row == 1 else text if name in ("sample", "view") else None)
            _offer(page, table, k, _choices(sheet, view, name))
    book.close()


def _write_cell(page: Any, row: int, column: int, cell: Any, form: Any) -> None:
    if isinstance(cell, str):
        if cell:
            page.write_string(row, column, cell, form)
    else:
        page.write_number(row, column, cell, form)


def _choices(sheet: OrderSheet, view: str, column: str) -> Sequence[str]:
    """What a cell may hold, where that is a short list."""
    if column == "state":
        return STATES
    for name, feature in sheet.features[view].iterrows():
        if sheet.columns[view, str(name)] == column:
            return list(feature["categories"])
    return ()


def _offer(page: Any, table: "pd.DataFrame", column: int, choices: Sequence[str]) -> None:
    if choices and len(",".join(choices)) < _LONGEST_LIST and not any("," in choice for choice in choices):
        offer = {"validate": "list", "source": list(choices), "error_type": "warning"}
        page.data_validation(2, column, len(table), column, offer)


def sheet_name(view: str, used: set[str]) -> str:
    """A name that Excel takes, and that no other sheet has."""
    plain = re.sub(r"[\[\]:*?/\\']", "_", view)[: _LONGEST_SHEET - 3] or "view"
    name, number = plain, 2
    while name.casefold() in used:
        name, number = f"{plain}_{number}", number + 1
    used.add(name.casefold())
    return name
