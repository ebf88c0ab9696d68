"""Nearest neighbors in every representation and in all side by side, by cross-validation, in one vote rule for all methods.

Distances and neighbors of a training part are found once for all methods and numbers of neighbors;
``tests/cli/test_reproduce_multi_represented.py`` holds the answers against those of the estimators.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from coview.inference import confidence_weights, neighbor_confidences, vote_counts

from .problems import Array, Codes, Presence, Problem, removed, squares_of, standardized

__all__ = ["GRID", "N_FOLDS", "SHARE_REMOVED", "predictions", "repeat_of"]

GRID = (1, 3, 5, 7, 9, 15, 25)
N_FOLDS = 10
SHARE_REMOVED = 0.3

ALONE = " alone"
BEST_ALONE = "best alone, by leave-one-out"
SURE, EQUAL = "multi-represented", "multi-represented, equal weights"
SURE_MEASURED = "multi-represented, as measured"
MAJORITY = "majority of the representations"
SIDE = "side by side, balanced"
COLUMNS = "side by side, columns standardized"
MEASURED = "side by side, as measured"
FILLED = "side by side, means filled in"
SHARED = "side by side, distance in what is shared"

ByNumber = dict[int, Array]


def repeat_of(problem: Problem, setting: str, repeat: int, seed: int) -> list[dict[str, Any]]:
    """Accuracy and macro F1 of every method in every fold of one cross-validation, and of all folds together."""
    rng = np.random.default_rng([seed, repeat])
    presence = None
    if setting == "incomplete":
        presence = removed((len(problem.codes), len(problem.blocks)), SHARE_REMOVED, rng)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=1000 * seed + repeat)
    raw = {} if presence is not None else {v: squares_of(x, np.arange(len(x))) for v, x in problem.blocks.items()}
    said: dict[str, Codes] = {}
    rows = []
    for fold, (train, test) in enumerate(folds.split(problem.codes, problem.codes)):
        for method, found in predictions(problem, train, presence, raw).items():
            said.setdefault(method, np.empty_like(problem.codes))[test] = found[test]
            rows.append({"method": method, "fold": fold, **_scores(problem.codes[test], found[test])})
    rows += [{"method": method, "fold": None, **_scores(problem.codes, found)} for method, found in said.items()]
    facts = {"part": "neighbors", "data": problem.name, "setting": setting, "repeat": repeat}
    return [facts | row for row in rows]


def _scores(truth: Codes, found: Codes) -> dict[str, float]:
    f1 = f1_score(truth, found, average="macro", labels=np.unique(truth), zero_division=0.0)
    return {"accuracy": float((truth == found).mean()), "f1": float(f1)}


def predictions(
    problem: Problem, train: NDArray[np.intp], presence: Presence | None, raw: Mapping[str, Array]
) -> dict[str, Codes]:
    """What every method says of every sample; training samples are not their own neighbors.

    Parameters
    ----------
    problem : Problem
    train : ndarray of int
        Samples whose classes are known.
    presence : ndarray of bool of shape (n_samples, n_views) or None
        None where nothing is missing.
    raw : dict of str to ndarray of shape (n_samples, n_samples)
        Squared distances of the representations as they were measured; empty without the methods that need them.
    """
    there = np.ones((len(problem.codes), len(problem.blocks)), dtype=bool) if presence is None else presence
    part = _Part(problem.codes, train)
    filled, squares = {}, {}
    for v, (name, block) in enumerate(problem.blocks.items()):
        scaled = standardized(block, train[there[train, v]])
        # the mean of the training part where a sample lacks the representation
        filled[name] = squares_of(np.where(there[:, [v]], scaled, 0.0), train)
        squares[name] = np.where(there[:, [v]] & there[train, v], filled[name], np.inf)
    confidences = {name: part.confidences(table) for name, table in squares.items()}
    said, errors = {}, {}
    for name, by_number in confidences.items():
        said[name + ALONE], errors[name] = part.chosen(by_number)
    said[BEST_ALONE] = said[min(errors, key=lambda name: errors[name]) + ALONE]
    said[SURE], said[EQUAL] = (part.chosen(_mixed(confidences, uniform))[0] for uniform in (False, True))
    said[MAJORITY] = part.majority([part.best(by_number) for by_number in confidences.values()])
    widths = {name: block.shape[1] for name, block in problem.blocks.items()}
    balanced = sum(table / widths[name] for name, table in filled.items())
    said[SIDE if presence is None else FILLED] = part.alone(balanced)
    if presence is not None:
        said[SHARED] = part.alone(_shared(filled, squares, widths))
    if raw:
        measured = {name: table[:, train] for name, table in raw.items()}
        said[COLUMNS] = part.alone(sum(filled.values()))
        said[MEASURED] = part.alone(sum(measured.values()))
        voices = {name: part.confidences(table) for name, table in measured.items()}
        said[SURE_MEASURED] = part.chosen(_mixed(voices, False))[0]
    return said


def _mixed(confidences: Mapping[str, ByNumber], uniform: bool) -> ByNumber:
    """Confidences of the representations, weighted; NaN where a sample has none."""
    result = {}
    for k in GRID:
        voices = np.stack([by_number[k] for by_number in confidences.values()], axis=1)
        weights = confidence_weights(voices, uniform=uniform)
        mixed = np.einsum("ij,ijc->ic", weights, np.nan_to_num(voices))
        result[k] = np.where(weights.any(axis=1, keepdims=True), mixed, np.nan)
    return result


def _shared(filled: Mapping[str, Array], squares: Mapping[str, Array], widths: Mapping[str, int]) -> Array:
    """Mean of the balanced squared distances over the representations that two samples share."""
    total, count = 0.0, 0.0
    for name, table in filled.items():
        both = np.isfinite(squares[name])
        total = total + np.where(both, table / widths[name], 0.0)
        count = count + both
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(count > 0, total / count, np.inf))


class _Part:
    """A training part: neighbors in it, and the number of neighbors by leave-one-out within it."""

    def __init__(self, codes: Codes, train: NDArray[np.intp]) -> None:
        self.codes, self.train = codes, train
        self.n_classes = int(codes.max()) + 1
        self.shares = np.bincount(codes[train], minlength=self.n_classes) / len(train)

    def confidences(self, squares: Array) -> ByNumber:
        """By number of neighbors (n_samples, n_classes), NaN where nothing can be compared."""
        tables = squares.copy()
        tables[self.train, np.arange(len(self.train))] = np.inf
        most = min(max(GRID), tables.shape[1] - 1)
        found = np.sort(np.argpartition(tables, most - 1, axis=1)[:, :most], axis=1)
        distances = np.take_along_axis(tables, found, axis=1)
        order = np.argsort(distances, axis=1, kind="stable")
        found, distances = np.take_along_axis(found, order, axis=1), np.take_along_axis(distances, order, axis=1)
        none = ~np.isfinite(distances[:, 0])
        distances[none] = 1.0
        classes = self.codes[self.train][found]
        result = {}
        for k in GRID:
            result[k] = neighbor_confidences(classes[:, :k], distances[:, :k], self.n_classes)
            result[k][none] = np.nan
        return result

    def named(self, confidences: Array) -> Codes:
        """The class of most confidence, compared by twelve digits as the estimators do; by shares where there is none."""
        filled = np.where(np.isnan(confidences), self.shares, confidences)
        return np.asarray(filled.round(12).argmax(axis=1), dtype=np.int64)

    def best(self, by_number: ByNumber) -> Array:
        """Confidences with the number of neighbors of least leave-one-out error; the smaller of equals."""
        return by_number[min(GRID, key=lambda k: self._error(self.named(by_number[k])))]

    def chosen(self, by_number: ByNumber) -> tuple[Codes, float]:
        """What is said of all samples with that number, and the leave-one-out error."""
        found = self.named(self.best(by_number))
        return found, self._error(found)

    def alone(self, squares: Any) -> Codes:
        """What is said by one table of squared distances."""
        return self.chosen(self.confidences(squares))[0]

    def majority(self, voices: list[Array]) -> Codes:
        """The class that most representations name; of equal ones that of more confidence."""
        absent = np.stack([np.isnan(voice).any(axis=1) for voice in voices], axis=1)
        names = np.where(absent, -1, np.stack([self.named(voice) for voice in voices], axis=1))
        votes = vote_counts(names, self.n_classes) + sum(map(np.nan_to_num, voices)) / (len(voices) + 1.0)
        return self.named(np.where(absent.all(axis=1, keepdims=True), np.nan, votes))

    def _error(self, found: Codes) -> float:
        return float((found[self.train] != self.codes[self.train]).mean())
