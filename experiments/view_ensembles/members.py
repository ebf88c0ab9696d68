"""Classifiers of all unions of the six feature sets, and what each says of training and test samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from coview import Views
from coview.datasets import fetch
from coview.ensemble import ViewEnsembleClassifier
from coview.neighbors import HyperplaneKNeighborsClassifierCV

__all__ = ["GRID", "Said", "listen", "load", "redrawn", "standardized"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

GRID = {"n_neighbors": (3, 5, 7), "alphas": (1.0, 10.0, 100.0)}


@dataclass(frozen=True)
class Said:
    """What the members say, as numbers of classes.

    Attributes
    ----------
    names : list of str
        Feature sets of each member, one letter each.
    known, target : ndarray of shape (n_train, n_members), (n_train,)
        Leave-one-out answers about the training samples, and what they are.
    own : ndarray of shape (n_train, n_members)
        Answers about the training samples by classifiers that have them (resubstitution).
    new, truth : ndarray of shape (n_test, n_members), (n_test,)
        Answers about the test samples, and what they are.
    known_shares, new_shares : ndarray of shape (n_samples, n_members, n_classes)
        The same in shares by inverse distances.
    """

    names: list[str]
    known: Codes
    own: Codes
    target: Codes
    new: Codes
    truth: Codes
    known_shares: Array
    new_shares: Array

    @property
    def errors(self) -> Array:
        """Leave-one-out error of each member."""
        return np.asarray((self.known != self.target[:, None]).mean(axis=0))

    @property
    def test_errors(self) -> Array:
        """Test error of each member."""
        return np.asarray((self.new != self.truth[:, None]).mean(axis=0))


def load(data: Path) -> tuple[Views, Codes, NDArray[np.bool_]]:
    """Feature sets of the proteins, their folds as numbers, and which are the training part of Ding and Dubchak."""
    bunch = fetch("protein_folds", data)
    _, codes = np.unique(bunch.target.to_numpy(), return_inverse=True)
    return bunch.views, codes, (bunch.meta["part"] == "train").to_numpy()


def redrawn(codes: Codes, train: NDArray[np.bool_], seed: int) -> NDArray[np.bool_]:
    """A training part of the same size, drawn anew with the same shares of the folds."""
    splitter = StratifiedShuffleSplit(1, train_size=int(train.sum()), random_state=seed)
    drawn = np.zeros_like(train)
    drawn[next(splitter.split(codes[:, None], codes))[0]] = True
    return drawn


def standardized(views: Views, train: NDArray[np.bool_]) -> tuple[Views, Views]:
    """Training and test part, every feature of mean 0 and deviation 1 on the training part."""
    tables = {}
    for name in views.names:
        block = np.asarray(views[name], dtype=np.float64)
        spread = block[train].std(axis=0)
        tables[name] = (block - block[train].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    both = Views(tables)
    return both[train], both[~train]


def listen(
    views: Views, codes: Codes, train: NDArray[np.bool_], grid: dict[str, Sequence[float]] | None = None
) -> Said:
    """Fit a member to every union of views; both parameters by leave-one-out."""
    known, new = standardized(views, train)
    base = HyperplaneKNeighborsClassifierCV(**(GRID if grid is None else grid))
    # weights are never used: they make the ensemble keep what members say of left-out samples
    model = ViewEnsembleClassifier(base, selection=None, combination="weighted").fit(known, codes[train])
    tables = [np.hstack([new[name] for name in subset]) for subset in model.subsets_]
    return Said(
        names=["".join(subset) for subset in model.subsets_],
        known=model.out_of_fold_labels_.astype(np.int64),
        own=model.predict_per_subset(known).astype(np.int64),
        target=codes[train],
        new=model.predict_per_subset(new).astype(np.int64),
        truth=codes[~train],
        known_shares=np.stack([member.loo_probabilities_ for member in model.estimators_], axis=1),
        new_shares=np.stack(
            [member.predict_proba(table) for member, table in zip(model.estimators_, tables, strict=True)], axis=1
        ),
    )
