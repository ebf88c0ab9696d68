"""What may follow in a campaign: each rule gives the event to write, None if nothing would change, or an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._campaign_data import CampaignData
from coview.acquisition._campaign_errors import ConflictError
from coview.acquisition._campaign_state import CampaignState, PairState

__all__ = ["OUTCOMES", "Decision", "closing", "labeling", "ordering", "returning"]

Decision = tuple[str, dict[str, Any]]

OUTCOMES = ("failed", "declined", "impossible")


def ordering(
    data: CampaignData, state: CampaignState, row: int, view: str | None, asked: Mapping[str, Any], left: float | None
) -> Decision:
    """Book a view or a label that is open, or was closed in a way that may be tried again, within what is left.

    ``asked`` is what it was last suggested for: utility and criterion.
    """
    what = _what(data, row, view)
    before = state.pairs.get((row, view))
    if state.is_known(row, view):
        raise ConflictError(f"{what} is known{_since(before)}; there is nothing to order.")
    if before is not None and before.state == "booked":
        raise ConflictError(f"{what} is booked{_since(before)} already.")
    if before is not None and before.event.content["outcome"] == "impossible":
        raise ConflictError(
            f"{what} was closed as impossible{_since(before)}. Take that back with undo() if it is not."
        )
    if not state.account.allowed[row, data.column(view)]:
        raise ConflictError(f"{what} is impossible according to the costs.")
    cost = state.further_cost(row, view)
    if left is not None and cost is not None and cost > left:
        raise ValueError(f"{what} costs {cost:g}, and of the budget {left:g} are left.")
    return "booked", _content(data, row, view, cost=cost, **asked)


def returning(
    data: CampaignData,
    state: CampaignState,
    row: int,
    view: str,
    values: NDArray[Any],
    asked: Mapping[str, Any],
    *,
    replace: bool,
) -> Decision | None:
    """Take in values that are not known yet; others than those known only to replace them."""
    what = _what(data, row, view)
    before, known = state.pairs.get((row, view)), state.known(row, view)
    differs = np.zeros(0, dtype=bool) if known is None else data.differences(known, values)
    if known is not None and not differs.any():
        return None
    if known is not None and not replace:
        k = int(np.flatnonzero(differs)[0])
        raise ConflictError(
            f"{what} is known{_since(before)} with other values: feature {data.features(view)[k]!r} is "
            f"{data.shown(known[k])}, told {data.shown(values[k])}. Nothing was changed; correct it with replace=True."
        )
    plain = data.to_plain(values)
    if known is not None:
        return "returned", _content(data, row, view, values=plain, replaces=True)
    _refuse_closed(what, before, "values")
    return "returned", _content(data, row, view, values=plain, cost=state.cost(row, view), **asked)


def labeling(
    data: CampaignData, state: CampaignState, row: int, label: Any, asked: Mapping[str, Any], *, replace: bool
) -> Decision | None:
    """Take in a label that is not known yet; another than that known only to replace it."""
    sample, known = data.samples[row], state.label(row)
    if known is not None and known == label:
        return None
    if known is not None and not replace:
        raise ConflictError(
            f"Sample {str(sample)!r} is labeled {_plain(known)!r}, told {label!r}. Nothing was changed; correct it with "
            "replace=True."
        )
    if known is not None:
        return "labeled", _content(data, row, None, label=label, replaces=True)
    _refuse_closed(_what(data, row, None), state.pairs.get((row, None)), "it")
    return "labeled", _content(data, row, None, label=label, cost=state.cost(row, None), **asked)


def closing(
    data: CampaignData, state: CampaignState, row: int, view: str | None, outcome: str, reason: str
) -> Decision | None:
    """Close a view that has not been measured, or a label that has not been told."""
    if outcome not in OUTCOMES:
        raise ValueError(f"outcome must be one of {', '.join(map(repr, OUTCOMES))}; got {outcome!r}.")
    what = _what(data, row, view)
    before = state.pairs.get((row, view))
    if state.is_known(row, view):
        raise ConflictError(f"{what} is known{_since(before)}; it cannot be closed as {outcome}.")
    if before is not None and before.state == "closed":
        closed = before.event.content["outcome"]
        if closed == outcome:
            return None
        if outcome != "impossible":
            raise ConflictError(f"{what} was closed as {closed}{_since(before)}, told {outcome}. Nothing was changed.")
    cost = state.cost(row, view) if outcome == "failed" else None
    return "closed", _content(data, row, view, outcome=outcome, reason=str(reason) or None, cost=cost)


def _refuse_closed(what: str, before: PairState | None, told: str) -> None:
    """Refuse an answer to what was closed."""
    if before is not None and before.state == "closed":
        raise ConflictError(
            f"{what} was closed as {before.event.content['outcome']}{_since(before)}. Book it again, or take that back with "
            f"undo(), before telling {told}."
        )


def _content(data: CampaignData, row: int, view: str | None, **more: Any) -> dict[str, Any]:
    content = {"sample": _plain(data.samples[row]), "view": view, **more}
    return {name: value for name, value in content.items() if value is not None}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _what(data: CampaignData, row: int, view: str | None) -> str:
    thing = "The label" if view is None else f"View {view!r}"
    return f"{thing} of sample {str(data.samples[row])!r}"


def _since(before: Any) -> str:
    return " from the start" if before is None else f" since {before.event.time[:19]} UTC"
