"""What else one can do with labels for one view: guess labels and train on them, or bring the views into one space."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cross_decomposition import PLSSVD, PLSCanonical, PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from coview.gaussian_process import BayesianCoTrainingClassifier

from .problems import Array, LabelFree

__all__ = ["CO_TRAINED", "DIRECT", "rivals"]

DIRECT = "direct supervision, logistic regression"
CO_TRAINED = "Bayesian co-training, the default"
# CCA on raw features finds chance correlations, and fails where features are nearly dependent: principal components first.
_KEPT_VARIANCE = 0.95
_CANONICAL = 9  # classes less one
_DIRECTIONS = 20


@dataclass(frozen=True)
class _Scaled:
    """A split seen from some views to test on, all features of mean 0 and variance 1 over the training samples.

    Attributes
    ----------
    labeled, source : ndarray
        The labeled view of the labeled and of the unlabeled samples.
    target, test : ndarray
        The views to test on, side by side, of the unlabeled and of the test samples.
    seen : bool
        Whether the labeled view is among the views to test on.
    """

    split: LabelFree
    labeled: Array
    source: Array
    target: Array
    test: Array
    seen: bool

    @classmethod
    def of(cls, split: LabelFree, names: Sequence[str]) -> "_Scaled":
        heard = np.concatenate([split.joint[split.labeled_view], split.labeled])
        scalers = {name: StandardScaler().fit(values) for name, values in split.joint.items()}
        scalers[split.labeled_view] = StandardScaler().fit(heard)
        target = np.hstack([scalers[name].transform(split.joint[name]) for name in names])
        test = np.hstack([scalers[name].transform(split.test[name]) for name in names])
        of_labeled = scalers[split.labeled_view]
        source = of_labeled.transform(split.joint[split.labeled_view])
        return cls(split, of_labeled.transform(split.labeled), source, target, test, split.labeled_view in names)

    def at_most(self, n_directions: int) -> int:
        """So many directions, or as many as the narrower side has."""
        return min(n_directions, self.source.shape[1], self.target.shape[1])

    def whitened(self) -> "_Scaled":
        """Principal components of variance 1 instead of features."""
        first = PCA(_KEPT_VARIANCE, whiten=True).fit(self.source)
        second = PCA(_KEPT_VARIANCE, whiten=True).fit(self.target)
        labeled, source = first.transform(self.labeled), first.transform(self.source)
        return replace(
            self, labeled=labeled, source=source, target=second.transform(self.target), test=second.transform(self.test)
        )


def rivals(split: LabelFree, subsets: Sequence[Sequence[str]]) -> Iterator[tuple[str, str, NDArray[Any]]]:
    """Every rival's classes of the test samples from some views.

    Parameters
    ----------
    split : LabelFree
    subsets : sequence of sequence of str
        Views to test on. CCA and PLS have an answer only without the labeled one.

    Yields
    ------
    method : str
    tested_on : str
        Names of the views.
    predicted : ndarray of shape (n_test,)
    """
    trained = _SelfTraining(split)
    co_trained = BayesianCoTrainingClassifier().fit(*split.training)
    for names in subsets:
        tested_on = " + ".join(names)
        for method, predicted in _of_subset(_Scaled.of(split, names), names):
            yield method, tested_on, predicted
        yield "self-training", tested_on, trained.predict(names)
        yield CO_TRAINED, tested_on, co_trained.predict(split.test_views(names))


def _of_subset(data: _Scaled, names: Sequence[str]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Rivals that are fitted to some views only."""
    first = _logistic().fit(data.labeled, data.split.labels)
    yield DIRECT, _logistic().fit(data.target, data.split.hidden).predict(data.test)
    if tuple(names) == (data.split.labeled_view,):
        yield "logistic regression on the labeled samples", first.predict(data.test)
    yield "two-stage, guessed classes", _logistic().fit(data.target, first.predict(data.source)).predict(data.test)
    yield "two-stage, guessed probabilities", _weighted(data, first.predict_proba(data.source))
    if not data.seen:
        # of whitened components the singular vectors are the canonical directions
        white = data.whitened()
        yield "CCA + discriminant", _discriminant(white, PLSSVD(white.at_most(_CANONICAL), scale=False))
        n_directions = data.at_most(_DIRECTIONS)
        with warnings.catch_warnings():  # a view with fewer directions of its own than asked for
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield "canonical PLS + discriminant", _discriminant(data, PLSCanonical(n_directions, scale=False))
            mapped = PLSRegression(n_directions, scale=False).fit(data.target, data.source).predict(data.test)
        yield "PLS regression onto the labeled view", first.predict(mapped)


def _logistic() -> LogisticRegression:
    return LogisticRegression(max_iter=2000)


def _weighted(data: _Scaled, chances: Array) -> NDArray[Any]:
    """Every unlabeled sample once per class, as heavy as the first stage thinks it probable."""
    n_samples, n_classes = chances.shape
    rows, classes = np.repeat(data.target, n_classes, axis=0), np.tile(np.arange(n_classes), n_samples)
    return np.asarray(_logistic().fit(rows, classes, sample_weight=chances.ravel()).predict(data.test))


def _discriminant(data: _Scaled, joined: Any) -> NDArray[Any]:
    """Linear discriminant analysis of the labeled samples in the space that both views are brought into."""
    joined.fit(data.source, data.target)
    known = joined.transform(data.labeled)
    _, new = joined.transform(np.zeros((len(data.test), data.source.shape[1])), data.test)
    return np.asarray(LinearDiscriminantAnalysis().fit(known, data.split.labels).predict(new))


class _SelfTraining:
    """Logistic regression on all views side by side, gaps at the mean, with its own surest guesses as labels.

    Parameters
    ----------
    split : LabelFree
    """

    def __init__(self, split: LabelFree) -> None:
        # the labeled view first, so that the labeled samples fill the first columns
        self.order = [split.labeled_view, *(name for name in split.joint if name != split.labeled_view)]
        self.split = split
        data = _Scaled.of(replace(split, test=split.joint), self.order)
        labeled = np.zeros((len(split.labels), data.target.shape[1]))
        labeled[:, : data.labeled.shape[1]] = data.labeled
        rows = np.concatenate([labeled, data.target])
        codes = np.concatenate([split.labels, np.full(len(split.hidden), -1)])
        self.model = SelfTrainingClassifier(_logistic()).fit(rows, codes)

    def predict(self, names: Sequence[str]) -> NDArray[Any]:
        """Classes of the test samples from some views."""
        widths = [self.split.joint[name].shape[1] for name in self.order]
        columns = np.split(np.arange(sum(widths)), np.cumsum(widths)[:-1])
        rows = np.zeros((len(self.split.truth), sum(widths)))
        rows[:, np.concatenate([columns[self.order.index(name)] for name in names])] = _Scaled.of(
            self.split, names
        ).test
        return np.asarray(self.model.predict(rows))
