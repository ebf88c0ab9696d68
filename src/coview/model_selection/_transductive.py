"""Semi-supervised use of ordinary models: label-free preprocessing on all samples, labels where there are some."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from coview.labels import encode_labels, encode_targets


class _LabelFreePart:
    """What the pipelines share: their label-free part, done once."""

    transformer: Any

    def prepare(self, X: Any) -> _TransformedSamples:
        """Do the label-free part once, for many fits on the same samples.

        Parameters
        ----------
        X : anything the transformer takes
            All samples, labeled or not.

        Returns
        -------
        prepared : object
            To be passed to :meth:`fit` in place of X.
        """
        return _transformed(self.transformer, X)


class TransductivePipeline(_LabelFreePart, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A label-free transformer fitted on all samples, then a classifier fitted on the labeled ones.

    This gives an ordinary classifier the same information as a semi-supervised one: imputation, scaling and
    components see the unlabeled samples too.

    Parameters
    ----------
    transformer : transformer
        Fitted on all samples, without labels.
    classifier : classifier
        Fitted on the transformed labeled samples; needs ``predict_proba``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transformer_, classifier_ : estimators
        Fitted copies.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Probabilities of all training samples.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> from coview.model_selection import TransductivePipeline
    >>> model = TransductivePipeline(StandardScaler(), LogisticRegression())
    >>> model.fit([[0.0], [1.0], [4.0], [5.0]], ["a", None, None, "b"]).predict([[4.5]])
    array(['b'], dtype=...)
    """

    def __init__(self, transformer: Any, classifier: Any) -> None:
        self.transformer = transformer
        self.classifier = classifier

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit transformer and classifier.

        Parameters
        ----------
        X : anything the transformer takes, or the result of ``prepare``
            All samples.
        y : array-like of shape (n_samples,)
            Labels, None or NaN where unlabeled.

        Returns
        -------
        self : TransductivePipeline
        """
        prepared = X if isinstance(X, _TransformedSamples) else self.prepare(X)
        classes, codes = encode_labels(y)
        labeled = np.flatnonzero(codes >= 0)
        self.classes_ = classes
        self.transformer_ = prepared.transformer
        self.classifier_ = clone(self.classifier).fit(prepared.samples[labeled], codes[labeled])
        self.label_distributions_ = self.classifier_.predict_proba(prepared.samples)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities of new samples.

        Parameters
        ----------
        X : anything the transformer takes
            New samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "classifier_")
        return np.asarray(self.classifier_.predict_proba(self.transformer_.transform(X)), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of new samples.

        Parameters
        ----------
        X : anything the transformer takes
            New samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class TransductiveRegressor(_LabelFreePart, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A label-free transformer fitted on all samples, then a regressor fitted on the labeled ones.

    Parameters
    ----------
    transformer : transformer
        Fitted on all samples, without targets.
    regressor : regressor
        Fitted on the transformed labeled samples.

    Attributes
    ----------
    transformer_, regressor_ : estimators
        Fitted copies.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> from coview.model_selection import TransductiveRegressor
    >>> model = TransductiveRegressor(StandardScaler(), LinearRegression())
    >>> model.fit([[0.0], [1.0], [4.0], [5.0]], [0.0, None, None, 10.0]).predict([[4.0]]).round(6)
    array([8.])
    """

    def __init__(self, transformer: Any, regressor: Any) -> None:
        self.transformer = transformer
        self.regressor = regressor

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit transformer and regressor.

        Parameters
        ----------
        X : anything the transformer takes, or the result of ``prepare``
            All samples.
        y : array-like of shape (n_samples,)
            Targets, None or NaN where unlabeled.

        Returns
        -------
        self : TransductiveRegressor
        """
        prepared = X if isinstance(X, _TransformedSamples) else self.prepare(X)
        targets = encode_targets(y)
        labeled = np.flatnonzero(~np.isnan(targets))
        self.transformer_ = prepared.transformer
        self.regressor_ = clone(self.regressor).fit(prepared.samples[labeled], targets[labeled])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicted targets of new samples.

        Parameters
        ----------
        X : anything the transformer takes
            New samples.
        return_std : bool, default=False
            Also the standard deviation of an observation; NaN where the regressor does not state any.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        check_is_fitted(self, "regressor_")
        samples = self.transformer_.transform(X)
        if not return_std:
            return np.asarray(self.regressor_.predict(samples), dtype=np.float64)
        if "return_std" in signature(self.regressor_.predict).parameters:
            return self.regressor_.predict(samples, return_std=True)
        mean = np.asarray(self.regressor_.predict(samples), dtype=np.float64)
        return mean, np.full(mean.shape, np.nan)


def _transformed(transformer: Any, X: Any) -> _TransformedSamples:
    fitted = clone(transformer)
    return _TransformedSamples(fitted.fit_transform(X), fitted)


class _TransformedSamples:
    """Transformed samples with the transformer that made them."""

    def __init__(self, samples: Any, transformer: Any) -> None:
        self.samples = sparse.csr_array(samples) if sparse.issparse(samples) else samples
        self.transformer = transformer


class CautiousStratifiedKFold(BaseEstimator):  # type: ignore[misc]
    """Stratified folds, as many as the rarest class allows.

    Parameters
    ----------
    n_splits : int, default=5
        Folds where every class has that many samples; fewer otherwise, at least two.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffle.

    Examples
    --------
    >>> from coview.model_selection import CautiousStratifiedKFold
    >>> len(list(CautiousStratifiedKFold(5).split([[0]] * 5, ["a", "a", "a", "b", "b"])))
    2
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X: Any, y: ArrayLike, groups: Any = None) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Positions of training and test samples, fold by fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            Samples; only their number matters.
        y : array-like of shape (n_samples,)
            Labels.
        groups : ignored

        Yields
        ------
        train, test : ndarray of int
        """
        folds = StratifiedKFold(self.get_n_splits(X, y), shuffle=True, random_state=self.random_state)
        yield from folds.split(np.zeros(len(np.asarray(y))), y)

    def get_n_splits(self, X: Any = None, y: ArrayLike | None = None, groups: Any = None) -> int:
        """Number of folds for these labels.

        Parameters
        ----------
        X, groups : ignored
        y : array-like of shape (n_samples,), default=None
            Labels.

        Returns
        -------
        n_splits : int
        """
        if y is None:
            return self.n_splits
        rarest = int(np.unique(np.asarray(y), return_counts=True)[1].min())
        if rarest < 2:
            raise ValueError("Cross-validation needs two labeled samples of every class; the rarest has one.")
        return min(self.n_splits, rarest)
