"""Missing values in disguise: numbers such as -999 or 0 that stand for "not known"."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from coview.views._findings import Finding, Level
from coview.views._findings_blocks import ColumnBlock, SortedBlock
from coview.views._ids import some

__all__ = ["SentinelCells", "sentinel_cells", "sentinel_findings"]

# Zero and what programs, registries and spreadsheets write for a missing number.
_NINES = (9, 99, 999, 9999, 99999, 999999, 9.99, 99.9, 999.9)
_LIMITS = (-(2**31), 2**31 - 1, -32768, 32767, 65535, -1e30, 1e20, 1e30)
_SENTINELS = np.array([0, -1, 77, 88, -77, -88, *_NINES, *(-nines for nines in _NINES), *_LIMITS], dtype=np.float64)
_GAP = 5.0  # gap to the other values, in median distances between neighboring values
_NEAR_GAP, _NEAREST = 2.5, 5  # gap in widest distances among the nearest values: logarithms of counts thin out there
_LOG_SPREAD = 0.8  # standard deviation of logarithms from which amounts are taken to come close to zero
_WIDE = 100  # columns from which zeros are likely those of counts or amounts
_LONG = 999  # from this size on, one occurrence is enough


@dataclass(frozen=True)
class SentinelCells:
    """A suspicious value in one column: how often it stands there, and between what all others lie."""

    column: str
    value: float
    count: int
    smallest: float
    largest: float


def sentinel_cells(block: ColumnBlock, ordered: SortedBlock) -> list[SentinelCells]:
    """Values at an end of a column that are codes for missing and lie apart from all others.

    A value counts if the gap to its neighbor is at least five times the median distance between neighboring values and
    2.5 times the widest of the nearest five, and it occurs three times or the gap is as wide as all other values
    together. Zero and -1 must leave positive values
    only, and the lowest must not be so low that amounts with true zeros would reach it: that of amounts with a standard
    deviation of 0.8 in their logarithms is the limit.
    """
    found = []
    for low in (True, False):
        for place in _candidates(ordered, low=low):
            column = ordered.values[place, : ordered.n_observed[place]]
            cells = _apart(block.names[place], column, low=low)
            if cells is not None:
                found.append(cells)
    return found


def _candidates(ordered: SortedBlock, *, low: bool) -> NDArray[np.intp]:
    """Columns whose first (or last) value is a code, and not plainly one of their own values."""
    ends = ordered.smallest if low else ordered.largest
    varied = ordered.n_distinct > np.where(np.abs(ends) >= _LONG, 1, 2)
    chosen = np.flatnonzero(np.isin(ends, _SENTINELS) & varied)
    ends, n_observed, values = ends[chosen], ordered.n_observed[chosen], ordered.values[chosen]
    count = (values == ends[:, None]).sum(axis=1)
    rows = np.arange(len(chosen))
    neighbor = values[rows, count if low else n_observed - count - 1]
    near = ordered.whole[chosen] & (np.abs(neighbor - ends) < 2)  # as in counts
    if low:  # amounts whose zeros are real come close to zero
        middle = values[rows, (count + n_observed) // 2]
        # The lowest of n lognormal amounts is about exp(-spread z) of their median, z the normal quantile of 1 - 1/n.
        reach = np.exp(-_LOG_SPREAD * ndtri(1 - 1 / np.maximum(n_observed - count, 2)))
        near |= np.isin(ends, (0.0, -1.0)) & ((neighbor <= 0) | (neighbor < reach * middle))
    return np.asarray(chosen[~near], dtype=np.intp)


def _apart(name: str, column: NDArray[np.float64], *, low: bool) -> SentinelCells | None:
    """The first (or last) value of a sorted column, if it lies apart and is a code."""
    if low:
        value = float(column[0])
        rest = column[np.searchsorted(column, value, side="right") :]
        gap = float(rest[0]) - value
    else:
        value = float(column[-1])
        rest = column[: np.searchsorted(column, value, side="left")]
        gap = value - float(rest[-1])
    count = len(column) - len(rest)
    inner = _without_other_sentinels(rest, low=low)
    if not len(inner):
        return None
    spread = float(inner[-1] - inner[0])
    if not _is_wide(inner if low else -inner[::-1], gap, spread):
        return None
    if count < 3 and not (gap >= spread and (count > 1 or abs(value) >= _LONG)):
        return None
    return SentinelCells(name, value, count, float(inner[0]), float(inner[-1]))


def _without_other_sentinels(rest: NDArray[np.float64], *, low: bool) -> NDArray[np.float64]:
    """The values that are left when the next code at the same end goes too, as where -9 and -8 are in use."""
    edge = rest[0] if low else rest[-1]
    if abs(edge) >= 9 and edge in _SENTINELS:
        return rest[rest != edge] if (rest != edge).any() else rest
    return rest


def _is_wide(inner: NDArray[np.float64], gap: float, spread: float) -> bool:
    """Whether a gap is out of proportion to the distances between the other values, those next to it first."""
    steps = np.diff(inner)
    steps = steps[steps > 0]
    if len(steps) < 4:  # a scale of few values: a code is far outside of it
        return gap >= 2 * max(spread, 1.0)
    return gap >= max(_GAP * float(np.median(steps)), _NEAR_GAP * float(steps[:_NEAREST].max()))


def sentinel_findings(view: str, n_columns: int, cells: Sequence[SentinelCells]) -> list[Finding]:
    """One finding per value; a note where it is the zeros of a wide table, which may be counts or their logarithms."""
    by_value: dict[float, list[SentinelCells]] = defaultdict(list)
    for found in cells:
        by_value[found.value].append(found)
    findings = []
    for value, columns in by_value.items():
        first = columns[0]
        shown = f"{value:.15g}"
        count = sum(found.count for found in columns)
        where = some([found.column for found in columns])
        if value == 0 and n_columns > _WIDE:
            level: Level = "note"
            advice = "True zeros of counts and amounts may stay; where 0 means 'not measured', empty these cells."
        else:
            level = "warning"
            advice = f"If so, empty these cells, or give --na {shown} where no other column needs that number."
        findings.append(
            Finding(
                "disguised_missing",
                level,
                f"{shown} may stand for 'missing' in view '{view}': it lies apart from all other values in {where} "
                f"({count} cells; '{first.column}' has it {first.count} times, otherwise {first.smallest:.6g} to "
                f"{first.largest:.6g}).",
                advice,
                view,
                tuple(found.column for found in columns[:20]),
                count=count,
            )
        )
    return findings
