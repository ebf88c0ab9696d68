"""What came back: a file of orders that people filled in, or any table of samples, views and values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coview.cli._order_files import FIXED, SEEN, STATES, feature_columns, label_column, label_word, shown_views

if TYPE_CHECKING:
    from coview.acquisition import Campaign

__all__ = ["Answer", "read_answers"]

# Words for what needs no word: the values say that it was measured.
_MEASURED = ("", "measured", "returned", "done")
_MOST_NAMED = 5
_LEFT_ALONE = {"query", "rank", "utility", "cost", "utility_per_cost", "cumulative_cost", "time", "why"}


@dataclass(frozen=True)
class Answer:
    """One row that says something.

    Attributes
    ----------
    place : str
        Where it stands, for messages.
    sample, view : str
        No view where it is about the label.
    cells : dict of feature to cell
        Empty where it was not measured.
    state, reason : str
    label : object
        None where none is told.
    """

    place: str
    sample: str
    view: str = ""
    cells: Mapping[str, Any] = field(default_factory=dict)
    state: str = ""
    reason: str = ""
    label: Any = None


def read_answers(path: Path, campaign: "Campaign", *, gaps: bool = False) -> tuple[list[Answer], list[str], int]:
    """Rows of a file that say something; what is wrong in the others; how many are empty still.

    With ``gaps`` an empty cell beside filled ones of its view was not measured; otherwise that is wrong.
    """
    from coview.files import read_tables_in

    names = _Names(campaign, gaps=gaps)
    answers: list[Answer] = []
    problems: list[str] = []
    empty = 0
    for table in read_tables_in(path, id_column=_id_column(path, names)):
        unknown = [str(name) for name in table.values.columns if not names.knows(str(name))]
        problems += [f"{table.where}: {names.unknown(name)}" for name in unknown]
        cells = table.values.astype(object).where(table.values.notna(), None)
        for row, record in enumerate(cells.to_dict("records")):
            place = f"{table.where}, {'row' if table.sheet else 'line'} {table.first_line + row}"
            if _text(record.get("order")) == SEEN or table.ids is None:
                continue
            try:
                answer = names.answer(place, str(table.ids[row]), record)
            except ValueError as error:
                problems.append(f"{place}: {error}")
                continue
            if answer is None:
                empty += 1
            else:
                answers.append(answer)
    return answers, problems, empty


def _id_column(path: Path, names: "_Names") -> str:
    """What the column of samples is called: as in orders, or as in the data."""
    from coview.files import read_tables_in

    if names.id_name == "sample":
        return "sample"
    try:
        read_tables_in(path, id_column="sample")
    except ValueError:
        return names.id_name
    return "sample"


class _Names:
    """What the columns of a file may be called, and what its orders are."""

    def __init__(self, campaign: "Campaign", *, gaps: bool) -> None:
        notes, self.gaps = campaign.notes, gaps
        self.label_word = label_word(campaign)
        self.id_name, self.target = notes.get("id_name", "sample"), notes.get("target", "label")
        self.is_number = notes.get("task") == "regression"
        features = {view: campaign.features(view).index.tolist() for view in campaign.status()["views"]}
        own = feature_columns(features, [*FIXED, self.target, self.id_name, label_column(notes)])
        self.columns = {column: pair for pair, column in own.items()}
        self.columns |= {f"{view}.{name}": (view, name) for view, names in features.items() for name in names}
        self.features = features
        history = campaign.history
        booked = history[history["action"] == "booked"]
        self.orders: dict[str, tuple[str, str, bool]] = {
            str(event): (str(sample), str(view), bool(undone))
            for event, sample, view, undone in zip(
                booked["event"], booked["sample"], shown_views(campaign, booked["view"]), booked["undone"], strict=True
            )
        }

    def knows(self, name: str) -> bool:
        """Whether a column has a meaning here, or is known to have none."""
        return name in FIXED or name in self.columns or name in _LEFT_ALONE or name in (self.target, "label")

    def unknown(self, name: str) -> str:
        """What to say of another column."""
        known = [*self.columns, *FIXED, self.target]
        return f"There is no column {name!r} here.{_nearest(name, known)} Rename or remove it."

    def answer(self, place: str, sample: str, record: Mapping[str, Any]) -> Answer | None:
        """What a row says; None where it says nothing yet."""
        order, view = _text(record.get("order")), _text(record.get("view"))
        if order:
            view = self._ordered(order, sample, view)
        filled = {name: cell for name, cell in record.items() if name in self.columns and _is_filled(cell)}
        strays = [name for name in filled if self.columns[name][0] != view]
        if strays:
            about = f"the row is about {view}" if view else "the row names no view"
            raise ValueError(
                f"{strays[0]!r} is of {self.columns[strays[0]][0]}, and {about}. Move the value, or clear it."
            )
        # A target that is called like a column of orders has that column where nothing is said about views.
        is_order = self.target not in FIXED or "view" in record or "order" in record
        state = self._state(_text(record.get("state"))) if is_order else ""
        reason = _text(record.get("reason")) if is_order else ""
        label = self._label(record, "label" if is_order and self.target in FIXED else self.target)
        if state and (filled or label is not None):
            raise ValueError(f"it is {state!r} and has values ({', '.join(filled) or label}). Clear one of them.")
        if not state and not filled and label is None:
            return None
        if state and not view:
            raise ValueError(f"it is {state!r} and names no view.")
        about = view if (state or filled) and view != self.label_word else ""
        return Answer(place, sample, about, self._cells(view, filled), state, reason, label)

    def _cells(self, view: str, filled: Mapping[str, Any]) -> dict[str, Any]:
        """Cells of a view by feature, None where one is empty; no cells where all are."""
        if not filled:
            return {}
        told = {self.columns[name][1]: _decimal(cell) for name, cell in filled.items()}
        cells = {name: told.get(name) for name in self.features.get(view, ())}
        empty = [repr(name) for name, cell in cells.items() if cell is None]
        if empty and not self.gaps:
            more = f" and {len(empty) - _MOST_NAMED} more" if len(empty) > _MOST_NAMED else ""
            raise ValueError(
                f"{', '.join(empty[:_MOST_NAMED])}{more} of view {view!r} {'is' if len(empty) == 1 else 'are'} empty, and "
                f"{', '.join(map(repr, list(told)[:_MOST_NAMED]))} {'is' if len(told) == 1 else 'are'} not. Fill in what is "
                "empty; if it was not measured, tell the rest with --gaps."
            )
        return cells

    def _ordered(self, order: str, sample: str, view: str) -> str:
        """The view of an order, which must be that of the row."""
        order = order.removesuffix(".0")
        if order not in self.orders:
            of_sample = [number for number, (other, *_) in self.orders.items() if other == sample]
            hint = f" Orders of {sample!r} are {', '.join(of_sample)}." if of_sample else _nearest(order, self.orders)
            raise ValueError(f"there is no order {order}.{hint}")
        wanted, of_view, undone = self.orders[order]
        if undone:
            raise ValueError(f"order {order} was taken back. Clear its number to tell the values all the same.")
        if wanted != sample or (view and view != of_view):
            told = f"{sample!r}, {view or of_view}"
            raise ValueError(f"order {order} is of {wanted!r}, {of_view}; the row says {told}. Correct what is wrong.")
        return of_view

    def _state(self, word: str) -> str:
        plain = word.casefold()
        if plain in _MEASURED:
            return ""
        if plain not in STATES:
            raise ValueError(f"state {word!r} is none of {', '.join(STATES)}.{_nearest(plain, STATES)}")
        return plain

    def _label(self, record: Mapping[str, Any], column: str) -> Any:
        """A label, of the type of the campaign's."""
        cell = record.get(column)
        cell = record.get("label") if cell is None else cell
        if not _is_filled(cell):
            return None
        return _decimal(cell) if self.is_number else _text(cell)


def _text(cell: Any) -> str:
    """A cell as text, as ids are written."""
    if cell is None:
        return ""
    import pandas as pd

    from coview.views import id_text

    return str(id_text(pd.Index([cell]))[0]).strip()


def _is_filled(cell: Any) -> bool:
    return cell is not None and _text(cell) not in ("", "-")


def _decimal(cell: Any) -> Any:
    """A number written with a decimal comma as one; anything else as it is."""
    if isinstance(cell, str) and cell.count(",") == 1 and "." not in cell:
        return cell.replace(",", ".")
    return cell


def _nearest(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    near = get_close_matches(name, list(known), n=2, cutoff=0.5)
    return f" Did you mean {' or '.join(near)}?" if near else ""
