"""Columns, and gaps, that tell the label by themselves although chance hardly explains it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.special import gammaln

from coview.views._findings import Finding, column_finding
from coview.views._findings_blocks import ColumnBlock, ObservedView, SortedBlock
from coview.views._findings_chance import in_one_class, log_arrangements, log_choose
from coview.views._findings_labels import Target
from coview.views._ids import some

__all__ = ["LeakageNotes", "view_presence_findings"]

_EXPECTED = 0.01  # columns that chance may be expected to give, over all columns looked at
_STRAY = 0.02  # share of each class that may stand on the wrong side of a cut
_CORRELATION = 0.999  # with a numeric target
_ADVICE = (
    "Leave out (--leave-out COL) what is known only because the label is: an outcome, a code made from it, the order of "
    "the file. A strong feature known beforehand may stay."
)


@dataclass
class LeakageNotes:
    """Columns of one view that tell the label, or whose gaps do.

    A column of numbers tells the classes if cuts put each class into an interval of its own (with two classes, all but
    2 % of each), any column if each of its values occurs in one class only. Were the labels dealt out at random, at
    most K! of the n! / (n_1! ... n_K!) ways would give the former, K^V the latter with V values; a column is named
    only if this chance times the number of columns looked at is at most 0.01. So ten samples and 30,000 columns of
    noise give no suspect.

    Attributes
    ----------
    view : ObservedView
    target : Target
    log_tests : float
        Logarithm of the number of columns looked at, over all views.
    telling : dict of str to str
        Columns that tell the class, with how the values divide among the classes.
    repeating, gaps, correlated : list of str
        Columns with one value for each class; columns missing, or present, in one class only; columns equal to a
        numeric target up to scale.
    """

    view: ObservedView
    target: Target
    log_tests: float
    telling: dict[str, str] = field(default_factory=dict)
    repeating: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    correlated: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._codes = self.target.codes[self.view.samples]
        self._labeled = self._codes >= 0
        self._threshold = np.log(_EXPECTED) - self.log_tests

    def add(self, block: ColumnBlock, ordered: SortedBlock) -> None:
        """Look at some columns."""
        if not self._labeled.any():
            return
        if self.target.numbers is not None:
            if block.categories is None:
                self._add_correlated(block)
            return
        n_labeled = int(self._labeled.sum())
        chosen = self._labeled[ordered.order]
        values = ordered.values[chosen].reshape(-1, n_labeled)
        codes = self._codes[ordered.order[chosen]].reshape(-1, n_labeled)
        self._add_telling(block, values, codes)
        self._add_gaps(block)

    def _add_telling(self, block: ColumnBlock, values: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        known = ~np.isnan(values)
        counts = np.stack([((codes == label) & known).sum(axis=1) for label in range(len(self.target.classes))], axis=1)
        n_classes = (counts > 0).sum(axis=1)
        pair = known[:, 1:]  # sorted with gaps last: the left of a pair is known where the right is
        changes = codes[:, 1:] != codes[:, :-1]
        steps = values[:, 1:] != values[:, :-1]
        n_values = (steps & pair).sum(axis=1) + 1
        pure = ~(changes & ~steps & pair).any(axis=1) & (n_classes > 1)
        arrangements = log_arrangements(counts.astype(np.float64))
        by_value = pure & (n_values * np.log(np.maximum(n_classes, 1)) - arrangements <= self._threshold)
        telling = by_value
        if block.categories is None:
            intervals = pure & ((changes & pair).sum(axis=1) == n_classes - 1)
            telling = by_value | (intervals & (gammaln(n_classes + 1.0) - arrangements <= self._threshold))
            if len(self.target.classes) == 2:
                telling |= self._almost(codes, counts, steps & pair)
        repeating = by_value & (n_values == n_classes)
        self.repeating += [block.names[place] for place in np.flatnonzero(repeating)]
        for place in np.flatnonzero(telling & ~repeating):
            categories = None if block.categories is None else block.categories[place]
            self.telling[block.names[place]] = self._divided(values[place], codes[place], categories)

    def _divided(self, values: NDArray[np.float64], codes: NDArray[np.intp], categories: list[Any] | None) -> str:
        """Which values the first three classes have, in words."""
        parts = []
        for label in np.unique(codes)[:3]:
            own = values[(codes == label) & ~np.isnan(values)]
            if len(own):
                low, high = own.min(), own.max()
                shown = f"{low:.6g} to {high:.6g}" if categories is None else repr(str(categories[int(own[0])]))
                parts.append(f"'{self.target.classes[label]}' {shown}")
        return ", ".join(parts) + (", ..." if len(self.target.classes) > 3 or categories is not None else "")

    def _almost(self, codes: NDArray[np.intp], counts: NDArray[np.intp], steps: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which columns one cut separates into two classes up to 2 % of each, beyond chance."""
        allowed = np.floor(_STRAY * counts)
        first, second = counts[:, 0].astype(np.float64), counts[:, 1].astype(np.float64)
        # Up to a and b strays, a cut after n_0 - a + b places: choose who strays on either side.
        ways = (
            np.log(2 * (allowed[:, 0] + 1) * (allowed[:, 1] + 1))
            + log_choose(first + allowed[:, 1], allowed[:, 1])
            + log_choose(second + allowed[:, 0], allowed[:, 0])
        )
        chance = ways - log_arrangements(counts.astype(np.float64))
        found = np.zeros(len(codes), dtype=bool)
        worth = np.flatnonzero((allowed.sum(axis=1) > 0) & (chance <= self._threshold))
        if not len(worth):
            return found
        ones = np.cumsum(codes[worth, :-1] == 1, axis=1)
        zeros = np.arange(1, codes.shape[1]) - ones
        few, many = allowed[worth], counts[worth] - allowed[worth]
        rising = (ones <= few[:, 1:]) & (zeros >= many[:, :1])
        falling = (zeros <= few[:, :1]) & (ones >= many[:, 1:])
        found[worth] = ((rising | falling) & steps[worth]).any(axis=1)
        return found

    def _add_gaps(self, block: ColumnBlock) -> None:
        gaps = np.isnan(block.cells)
        some_gaps = np.flatnonzero(gaps.any(axis=1))
        if len(some_gaps):
            classes = self._codes[:, None] == np.arange(len(self.target.classes))
            absent = gaps[some_gaps].astype(np.float64) @ classes.astype(np.float64)
            telling = in_one_class(absent, classes.sum(axis=0).astype(np.float64), self._threshold)
            self.gaps += [block.names[place] for place in some_gaps[telling]]

    def _add_correlated(self, block: ColumnBlock) -> None:
        numbers = self.target.numbers
        if numbers is None:
            return
        targets = numbers[self.view.samples][self._labeled]
        cells = block.cells[:, self._labeled]
        known = ~np.isnan(cells)
        count = np.maximum(known.sum(axis=1), 1)[:, None]
        unit = np.abs(np.where(known, cells, 0)).max(axis=1, initial=0.0)[:, None]
        x = np.where(known, cells / np.where(unit > 0, unit, 1.0), 0)
        y = np.where(known, (targets - targets.mean()) / (targets.std() or 1.0), 0)
        x = np.where(known, x - x.sum(axis=1, keepdims=True) / count, 0)
        y = np.where(known, y - y.sum(axis=1, keepdims=True) / count, 0)
        scale = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
        correlation = np.abs((x * y).sum(axis=1)) / np.where(scale > 0, scale, np.inf)
        # P(|r| > c) <= (1 - c^2)^((n - 2) / 2) for noise.
        chance = (count[:, 0] - 2) / 2 * np.log(np.maximum(1 - correlation**2, 1e-12))
        found = (correlation >= _CORRELATION) & (chance <= self._threshold)
        self.correlated += [block.names[place] for place in np.flatnonzero(found)]

    def add_sparse(self) -> None:
        """Look at which entries of a sparse view are stored: zero or not is all that is asked."""
        values = sparse.csr_array(self.view.table.values[self.view.rows][self._labeled])
        if self.target.numbers is not None or not values.shape[0]:
            return
        classes = self._codes[self._labeled][:, None] == np.arange(len(self.target.classes))
        present = sparse.csr_array(values != 0).T.astype(np.float64) @ classes.astype(np.float64)
        totals = classes.sum(axis=0).astype(np.float64)
        telling = ((present == 0) | (present == totals)).all(axis=1)
        chance = len(totals) * np.log(2) - log_arrangements(totals)
        if chance <= self._threshold:
            mixed = (present.sum(axis=1) > 0) & (present.sum(axis=1) < totals.sum())
            names = self.view.names
            for place in np.flatnonzero(telling & mixed):
                own = [name for name, count in zip(self.target.classes, present[place], strict=True) if count]
                self.telling[names[place]] = f"stored for {some(own)} only"

    def findings(self) -> list[Finding]:
        """What there is to tell about the view."""
        view, n_labeled = self.view.table.name, int(self._labeled.sum())
        first = "; ".join(f"'{name}': {text}" for name, text in list(self.telling.items())[:2])
        told = [
            (
                "label_in_column",
                self.repeating,
                f"repeats the label: one value for each class, over {n_labeled} labeled samples",
                f"repeat the label (one value for each class, over {n_labeled} labeled samples)",
                _ADVICE,
            ),
            (
                "label_leakage",
                list(self.telling),
                f"tells the label of {n_labeled} samples by itself ({first}), which chance does not explain",
                f"tell the label of {n_labeled} samples, each by itself ({first}), which chance does not explain",
                _ADVICE,
            ),
            (
                "label_in_column",
                self.correlated,
                f"is the target up to scale (correlation at least {_CORRELATION}, over {n_labeled} samples)",
                f"are the target up to scale (correlation at least {_CORRELATION}, over {n_labeled} samples)",
                _ADVICE,
            ),
            (
                "label_in_gaps",
                self.gaps,
                "is missing, or present, in one class only",
                "are missing, or present, in one class only",
                "Find out why: a model will predict from the gap itself, and new samples may not have it.",
            ),
        ]
        return [
            column_finding(code, "warning", view, columns, one, several, advice)
            for code, columns, one, several, advice in told
            if columns
        ]


def view_presence_findings(names: Sequence[str], presence: NDArray[np.bool_], target: Target) -> list[Finding]:
    """Views whose presence tells the class, or goes with it."""
    if target.numbers is not None or len(target.classes) < 2:
        return []
    presence, codes = presence[target.labeled], target.codes[target.labeled]
    totals = target.class_counts.astype(np.float64)
    present = presence.T.astype(np.float64) @ (codes[:, None] == np.arange(len(totals))).astype(np.float64)
    telling = in_one_class(totals - present, totals, np.log(_EXPECTED / len(names)))
    findings = []
    for place, name in enumerate(names):
        listed = _some_classes(target.classes, present[place], totals)
        if telling[place]:
            message = f"View '{name}' is missing, or present, in one class only: {listed}."
            advice = "Find out why: a model may predict from the gap itself, and scores will mislead."
            findings.append(
                Finding("label_in_presence", "warning", message, advice, name, count=int(presence[:, place].sum()))
            )
        elif _depends(present[place], totals, len(names)):
            message = f"Whether a sample has view '{name}' goes with its class: {listed}."
            findings.append(
                Finding("presence_by_class", "note", message, "", name, count=int(presence[:, place].sum()))
            )
    return findings


def _some_classes(classes: Sequence[str], present: NDArray[np.float64], totals: NDArray[np.float64]) -> str:
    """How many samples of each class have a view, in words; the first five classes."""
    parts = [f"'{name}' {int(a)} of {int(n)}" for name, a, n in zip(classes, present, totals, strict=True)]
    return ", ".join(parts[:5]) + (f" and {len(parts) - 5} more classes" if len(parts) > 5 else "")


def _depends(present: NDArray[np.float64], totals: NDArray[np.float64], n_tests: int) -> bool:
    """Whether the shares of samples with a view differ by 0.3 or more between classes, and not by chance."""
    if present.sum() in (0, totals.sum()):
        return False
    shares = present / totals
    if shares.max() - shares.min() < 0.3:
        return False
    return bool(stats.chi2_contingency(np.stack([present, totals - present]))[1] * n_tests < 1e-3)
