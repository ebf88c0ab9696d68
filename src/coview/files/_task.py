"""What labels are: classes as text, or numbers to predict."""

from typing import Any

import numpy as np
import pandas as pd

from coview.files._problems import Problems
from coview.views import almost_equal_ids, column_kind, some

__all__ = ["read_task"]

_MOST_CLASSES = 20  # more whole numbers than these are read as quantities
_MANY_CLASSES = 1000  # spellings are compared among fewer
_FEWEST_IDS = 5  # labels that all differ are taken for ids from here on


def read_task(cells: pd.Series, task: str | None, target: str, problems: Problems, marks: str = "") -> pd.Series:
    """Labels as they are learnt from: text (dtype object, NaN where unlabeled), or float64.

    Parameters
    ----------
    cells : Series by sample id
        As read from the file.
    task : {"auto", "classification", "regression"} or None
    target : str
        Name of the label column, for messages.
    problems : Problems
    marks : str, default=""
        What was read as missing in the labels' file, in words.

    Returns
    -------
    labels : Series by sample id, dtype object or float64
    """
    hint = f' In that file these count as missing: {marks}; if one is a class, give --na "".' if marks else ""
    known = cells[~np.asarray(pd.isna(cells), dtype=bool)]
    numbers = _numbers(known)
    if not len(known):
        problems.error("no_labels", f"Column '{target}' labels no sample: every cell is empty or a missing mark.",
                       f"Name another column with --target.{hint}")  # fmt: skip
    if task in (None, "auto"):
        task = _guess_task(known, numbers, target, problems)
    if task == "regression":
        return _quantities(cells, known, numbers, target, problems)
    return _classes(cells, known, numbers, target, problems, hint)


def _numbers(known: pd.Series) -> pd.Series | None:
    """The labels as float64, or None where they are not numbers; truth values are classes."""
    if pd.api.types.is_bool_dtype(known.dtype) or column_kind(known) != "number":
        return None
    if any(isinstance(cell, bool | np.bool_) for cell in known.array[:1]):
        return None
    return known.astype(np.float64)


def _guess_task(known: pd.Series, numbers: pd.Series | None, target: str, problems: Problems) -> str:
    """Classification unless the labels are numbers that are not whole, or more than 20 different whole ones."""
    if numbers is None:
        return "classification"
    n_distinct = numbers.nunique()
    whole = bool((numbers == numbers.round()).all())
    if whole and n_distinct <= _MOST_CLASSES:
        if n_distinct > 2:
            problems.note(
                "task",
                f"The labels '{target}' are read as {n_distinct} classes, for they are few whole numbers.",
                "If they are quantities, give --task regression.",
                columns=(target,),
            )
        return "classification"
    advice = "If they are classes, give --task classification." if whole else ""
    why = f"there are {n_distinct} different whole numbers" if whole else "they are not whole"
    problems.note(
        "task", f"The labels '{target}' are read as quantities to predict, for {why}.", advice, columns=(target,)
    )
    return "regression"


def _quantities(
    cells: pd.Series, known: pd.Series, numbers: pd.Series | None, target: str, problems: Problems
) -> pd.Series:
    if numbers is None:
        numbers = pd.to_numeric(known, errors="coerce").astype(np.float64)
        wrong = known[numbers.isna()]
        problems.error(
            "labels_not_numbers",
            f"Regression needs numbers, and {len(wrong)} of {len(known)} labels in '{target}' are none: "
            f"{some(wrong.unique())} (samples {some(wrong.index, 3)}).",
            "Correct them, name the mark of a missing value with --na, or give --task classification.",
            columns=(target,),
            ids=tuple(map(str, wrong.index[:20])),
            count=len(wrong),
        )
    infinite = numbers[np.isinf(numbers)]
    if len(infinite):
        problems.error(
            "infinite_labels",
            f"{len(infinite)} labels in '{target}' are infinite (samples {some(infinite.index, 3)}).",
            "Correct them, or leave these cells empty.",
            ids=tuple(map(str, infinite.index[:20])),
            count=len(infinite),
        )
    if len(numbers) and bool((numbers == numbers.iloc[0]).all()):
        problems.error("constant_labels", f"All {len(numbers)} labels in '{target}' are {numbers.iloc[0]:g}.",
                       "There is nothing to learn; name another column with --target.", columns=(target,))  # fmt: skip
    return numbers.reindex(cells.index).astype(np.float64)


def _classes(
    cells: pd.Series, known: pd.Series, numbers: pd.Series | None, target: str, problems: Problems, hint: str
) -> pd.Series:
    if numbers is not None and not bool((numbers == numbers.round()).all()):
        broken = numbers[numbers != numbers.round()]
        problems.error(
            "continuous_labels",
            f"Classification was asked for, but the labels in '{target}' are numbers that are not whole, such as "
            f"{', '.join(f'{value:g}' for value in broken.iloc[:3])}.",
            "Give --task regression, or name a column of classes with --target.",
            columns=(target,),
        )
    texts = np.full(len(cells), np.nan, dtype=object)
    texts[~np.asarray(pd.isna(cells), dtype=bool)] = [_class_text(cell) for cell in known.array]
    labels = pd.Series(texts, index=cells.index, dtype=object)
    counts = labels.value_counts()
    _check_classes(counts, len(known), target, problems, hint)
    return labels


def _class_text(cell: Any) -> str:
    """A class as text: whole numbers without a point."""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell)


def _check_classes(counts: pd.Series, n_known: int, target: str, problems: Problems, hint: str) -> None:
    """Errors where there is nothing to tell apart; a warning for classes with a single sample."""
    if len(counts) == 1:
        problems.error(
            "one_class",
            f"All {n_known} labels in '{target}' are '{counts.index[0]}'; at least two classes are needed.",
            f"Label samples of another class, or name another column with --target.{hint}",
            columns=(target,),
        )
    if len(counts) == n_known and n_known >= _FEWEST_IDS:
        problems.error(
            "labels_look_like_ids",
            f"All {n_known} labels in '{target}' differ ({some(counts.index, 3)}), so the column looks like ids rather "
            "than classes.",
            "Name the column of the classes with --target, or --labels FILE:COL.",
            columns=(target,),
            count=n_known,
        )
        return
    spelled = almost_equal_ids(counts.index) if len(counts) < _MANY_CLASSES else []
    if spelled:
        problems.warning(
            "class_spellings",
            f"Classes in '{target}' that differ in spelling only count as different ones: "
            f"{'; '.join(' ~ '.join(map(repr, group)) for group in spelled[:3])}.",
            "Write each class in one way.",
            columns=(target,),
            count=len(spelled),
        )
    single = counts[counts == 1]
    if len(single) and len(counts) > 1:
        problems.warning(
            "rare_class",
            f"{len(single)} of {len(counts)} classes in '{target}' have one labeled sample only: {some(single.index)}.",
            "Such a class cannot be checked by cross-validation; label more, or merge it with another.",
            columns=(target,),
            count=len(single),
        )
