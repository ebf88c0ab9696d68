"""Ids that differ only in spelling: told, or joined where the user asks for it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from coview.files._contents import FileTable
from coview.files._problems import Problems
from coview.files._samples import row_name
from coview.views import almost_equal_ids

__all__ = ["join_spellings", "rename_ids", "tell_spellings"]

_SHOWN = 5


def tell_spellings(tables: Sequence[FileTable], problems: Problems) -> None:
    """Say which ids are almost equal: a warning where no table has both, so that one sample may be meant."""
    ids = [table.ids for table in tables if table.ids is not None]
    groups = almost_equal_ids(label for index in ids for label in index.tolist())
    if not groups:
        return
    owners = {label: number for number, group in enumerate(groups) for label in group}
    together: set[int] = set()
    for index in ids:
        met = Counter(owners[label] for label in set(index.tolist()) if label in owners)
        together.update(number for number, count in met.items() if count > 1)
    apart = [group for number, group in enumerate(groups) if number not in together]
    if apart:
        _tell(problems.warning, apart, "seem to be written in several ways, and count as different ones",
              "If each is one sample, give --almost-equal join, or correct the files.")  # fmt: skip
    beside = [groups[number] for number in sorted(together)]
    if beside:
        _tell(problems.note, beside, "have ids that differ in spelling only, in one table, and count as different ones")


def _tell(say: Callable[..., None], groups: Sequence[Sequence[str]], what: str, advice: str = "") -> None:
    listed = "; ".join(" ~ ".join(map(repr, group)) for group in groups[:_SHOWN])
    more = f" and {len(groups) - _SHOWN} more" if len(groups) > _SHOWN else ""
    who = "1 group of samples" if len(groups) == 1 else f"{len(groups)} groups of samples"
    first = tuple(label for group in groups[:_SHOWN] for label in group)
    say("almost_equal_ids", f"{who} {what}: {listed}{more}.", advice, ids=first, count=len(groups))


def join_spellings(tables: Sequence[FileTable], problems: Problems) -> list[FileTable]:
    """The tables with each group of almost-equal ids written as its first one."""
    ids = [table.ids for table in tables if table.ids is not None]
    groups = almost_equal_ids(label for index in ids for label in index.tolist())
    if not groups:
        return list(tables)
    canonical = {label: group[0] for group in groups for label in group[1:]}
    problems.note(
        "almost_equal_ids",
        f"{len(canonical)} ids were joined with one that differs in spelling only, such as "
        f"{groups[0][1]!r} with {groups[0][0]!r}.",
        ids=tuple(groups[0]),
        count=len(canonical),
    )
    return [rename_ids(table, canonical, "--almost-equal join", problems) for table in tables]


def rename_ids(table: FileTable, new_names: dict[str, str], cause: str, problems: Problems) -> FileTable:
    """The table with some ids renamed; an error where two rows would become one sample."""
    if table.ids is None or not len(table.ids):
        return table
    labels = table.ids.tolist()
    if not any(label in new_names for label in labels):
        return table
    ids = pd.Index([new_names.get(label, label) for label in labels], dtype=str)
    clashing = np.asarray(ids.duplicated(keep=False)) & ~np.asarray(table.ids.duplicated(keep=False))
    if clashing.any():
        first = ids[clashing][0]
        rows = np.flatnonzero(ids == first)
        written = ", ".join(f"{table.ids[row]!r} ({row_name(table, int(row))})" for row in rows[:4])
        n_samples = ids[clashing].nunique()
        problems.error(
            "rows_would_merge",
            f"{cause} would make one sample of several rows of {table.where}: {written} would all be {first!r}"
            f"{f', and so on for {n_samples - 1} more' if n_samples > 1 else ''}.",
            "Correct the ids in the file where they are different samples, or keep one row of each.",
            view=table.name,
            ids=tuple(table.ids[rows][:20]),
            count=n_samples,
        )
        return table
    return replace(table, ids=ids)
