"""What measurements cost: per view, per pair, shared by groups of views, and pairs that are impossible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.exceptions import ViewError

__all__ = ["Costs", "nearest"]

_IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class Costs:
    """Costs of measurements, in any unit.

    Parameters
    ----------
    views : dict of str to float, default={}
        Cost of each view for any sample; views that are not named cost nothing of their own.
    pairs : dict of (sample, view) to float, default={}
        Costs that replace those of the view.
    groups : dict of str to (list of views, cost), default={}
        What is paid once per sample for all views of a group, on top of their own costs: a blood draw, a visit. It counts as
        paid where the sample has one of the views already. A view may be in several groups.
    excluded : iterable of (sample, view), default=()
        Pairs that cannot be measured.
    label : float, default=0
        Cost of one label.

    Examples
    --------
    >>> from coview.acquisition import Costs
    >>> costs = Costs({"mri": 900.0, "genes": 200.0}, groups={"visit": (["mri", "genes"], 50.0)}, excluded=[("p2", "mri")])
    >>> costs.allowed(["p1", "p2"], ["mri", "mri"])
    array([ True, False])
    """

    views: Mapping[str, float] = field(default_factory=dict)
    pairs: Mapping[tuple[Any, str], float] = field(default_factory=dict)
    groups: Mapping[str, tuple[Sequence[str], float]] = field(default_factory=dict)
    excluded: Iterable[tuple[Any, str]] = ()
    label: float = 0.0

    def __post_init__(self) -> None:
        # samples are compared as text: ids are text, and positions stand for those of samples without ids
        object.__setattr__(self, "excluded", frozenset((str(sample), view) for sample, view in self.excluded))
        object.__setattr__(self, "pairs", {(str(sample), view): price for (sample, view), price in self.pairs.items()})
        named = [*self.views.items(), *self.pairs.items(), ("label", self.label)]
        named += [(f"group {name!r}", price) for name, (_, price) in self.groups.items()]
        for name, price in named:
            if not np.isfinite(price) or price < 0.0:
                raise ValueError(
                    f"Costs must be finite and not negative; that of {name} is {price}. Exclude pairs that are impossible."
                )

    @classmethod
    def of(cls, costs: Any) -> Self | None:
        """Costs from whatever a caller has.

        Parameters
        ----------
        costs : Costs, dict of view to cost, DataFrame or None
            A table has columns ``view, cost`` and perhaps ``sample`` (a row then prices one pair, an empty sample the view),
            ``group`` and ``group_cost``; the cost "impossible" excludes. With a column ``feature`` a view costs the sum of its
            features, and ``cost`` is that of a feature measured alone: ``group_cost`` is the part of it that is paid once for
            all of its group. Keys of a dict may also be pairs (sample, view).

        Returns
        -------
        costs : Costs or None
        """
        if costs is None or isinstance(costs, cls):
            return costs
        if isinstance(costs, pd.DataFrame):
            return cls._from_table(costs)
        if isinstance(costs, Mapping):
            pairs = {key: price for key, price in costs.items() if isinstance(key, tuple)}
            excluded = [key for key, price in pairs.items() if _is_impossible(price)]
            priced = {key: _price(price, key) for key, price in pairs.items() if not _is_impossible(price)}
            views = {str(key): _price(price, key) for key, price in costs.items() if not isinstance(key, tuple)}
            return cls(views, priced, excluded=excluded)
        raise TypeError(f"costs must be Costs, a dict of views, a DataFrame or None; got {type(costs).__name__}.")

    @classmethod
    def _from_table(cls, table: pd.DataFrame) -> Self:
        absent = [name for name in ("view", "cost") if name not in table.columns]
        if absent:
            raise ValueError(
                f"A table of costs needs the columns view and cost; {absent} not found among {list(table.columns)}."
            )
        if "feature" in table.columns:
            table = _per_view(table)
        views: dict[str, float] = {}
        pairs: dict[tuple[Any, str], float] = {}
        members: dict[str, list[str]] = {}
        prices: dict[str, float] = {}
        excluded: list[tuple[Any, str]] = []
        for row in table.to_dict("records"):
            view, sample, group = str(row["view"]), row.get("sample"), row.get("group")
            if sample is None or pd.isna(sample):
                views[view] = _price(row["cost"], view)
            elif _is_impossible(row["cost"]):
                excluded.append((sample, view))
            else:
                pairs[sample, view] = _price(row["cost"], (sample, view))
            if group is not None and not pd.isna(group):
                members.setdefault(str(group), []).append(view)
                price = row.get("group_cost")
                if price is not None and not pd.isna(price):
                    prices[str(group)] = _price(price, group)
        unpriced = [group for group in members if group not in prices]
        if unpriced:
            raise ValueError(f"Groups need a group_cost in one of their rows; {unpriced} have none.")
        groups = {group: (list(dict.fromkeys(names)), prices[group]) for group, names in members.items()}
        return cls(views, pairs, groups, excluded)

    def check(self, names: Sequence[str], samples: Iterable[Any]) -> None:
        """Refuse views and samples that the data do not have.

        Parameters
        ----------
        names : sequence of str
        samples : iterable
        """
        pairs = [*self.pairs, *self.excluded]
        priced = {
            *self.views,
            *(view for _, view in pairs),
            *(view for group, _ in self.groups.values() for view in group),
        }
        _refuse_unknown("view", priced, names)
        _refuse_unknown("sample", {sample for sample, _ in pairs}, map(str, samples))

    def allowed(self, samples: Sequence[Any], views: Sequence[str]) -> NDArray[np.bool_]:
        """Which of some pairs can be measured.

        Parameters
        ----------
        samples, views : sequences of the same length

        Returns
        -------
        allowed : ndarray of bool
        """
        excluded = frozenset(self.excluded)
        return np.array([(str(s), view) not in excluded for s, view in zip(samples, views, strict=True)], dtype=bool)


def _per_view(table: pd.DataFrame) -> pd.DataFrame:
    """Costs of features as costs of views, one row per view and group: what is not shared is summed."""
    own: dict[str, float] = {}
    groups: dict[str, dict[Any, Any]] = {}
    others: list[dict[str, Any]] = []
    for row in table.to_dict("records"):
        if pd.isna(row["feature"]):
            others.append({str(name): cell for name, cell in row.items() if name != "feature"})
            continue
        if not pd.isna(row.get("sample")):
            raise ValueError("Costs of single pairs are those of views: leave feature empty where there is a sample.")
        view, what = str(row["view"]), (str(row["view"]), str(row["feature"]))
        cost, shared = _price(row["cost"], what), 0.0
        group, price = row.get("group"), row.get("group_cost")
        if group is not None and not pd.isna(group):
            if price is not None and not pd.isna(price):
                shared = _price(price, group)
            groups.setdefault(view, {})[group] = price
        if shared > cost:
            raise ValueError(
                f"The cost of {what!r}, {cost:g}, must contain the {shared:g} that it shares with group {group!r}."
            )
        own[view] = own.get(view, 0.0) + cost - shared
    rows = [
        {"view": view, "cost": cost, "group": group, "group_cost": price}
        for view, cost in own.items()
        for group, price in groups.get(view, {None: None}).items()
    ]
    return pd.DataFrame(rows + others)


def _price(value: Any, name: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The cost of {name!r} must be a number; got {value!r}.") from error


def _is_impossible(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() == _IMPOSSIBLE


def _refuse_unknown(kind: str, wanted: Iterable[Any], known: Iterable[Any]) -> None:
    """An error that names the nearest of the known names."""
    known = list(known)
    unknown = [name for name in wanted if name not in set(known)]
    if not unknown:
        return
    shown = []
    for name in sorted(unknown, key=str)[:5]:
        near = nearest(name, known)
        shown.append(f"{name!r}" + (f" (did you mean {near}?)" if near else ""))
    rest = f", ... ({len(unknown)} in all)" if len(unknown) > 5 else ""
    raise ViewError(f"costs name {kind}s that the data do not have: {', '.join(shown)}{rest}. Correct or remove them.")


def nearest(name: Any, known: Iterable[Any]) -> str:
    """The one or two known names that are most like a name, quoted; empty where none is."""
    near = get_close_matches(str(name), [str(item) for item in known], n=2, cutoff=0.5)
    return " or ".join(map(repr, near))
