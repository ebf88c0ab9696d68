"""What lets methods of other libraries, and of other kinds of data, take part: the same fit, the same answers."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coview import Views
from coview.compose import ConcatenateViews
from coview.labels import encode_labels

__all__ = ["AsTheyAre", "OnAllSamples", "TwoTables", "ViewComponents", "installed", "one_table"]


def one_table() -> Any:
    """All columns side by side; what is missing is a row of zeros, which are the means of dense columns."""
    return make_pipeline(
        ConcatenateViews(), SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True)
    )


def installed(module: str, name: str) -> Callable[..., Any] | None:
    """A class of another library; None where it is not installed."""
    try:
        return getattr(import_module(module), name, None)  # type: ignore[no-any-return]
    except ModuleNotFoundError:
        return None


class AsTheyAre(TransformerMixin, BaseEstimator):
    """Views as they are, for a pipeline that wants a transformer."""

    def fit(self, X: Views, y: Any = None) -> Self:
        """Nothing to learn."""
        return self

    def transform(self, X: Views) -> Views:
        """The same views."""
        return X


class ViewComponents(TransformerMixin, BaseEstimator):
    """A few singular vectors of each sparse view, of unit variance; other views as they are.

    Parameters
    ----------
    n_components : int, default=20
    """

    def __init__(self, n_components: int = 20) -> None:
        self.n_components = n_components

    def fit(self, X: Views, y: Any = None) -> Self:
        """Learn the vectors from the rows that have the view."""
        self.reductions_ = {name: self._reduction(X[name]).fit(X[name]) for name in X.names if sparse.issparse(X[name])}
        return self

    def _reduction(self, block: Any) -> Any:
        n_components = min(self.n_components, min(block.shape) - 1)
        return make_pipeline(TruncatedSVD(n_components, random_state=0), StandardScaler())

    def transform(self, X: Views) -> Views:
        """Dense views."""
        blocks = {}
        for name in X.names:
            rows = self.reductions_[name].transform(X[name]) if name in self.reductions_ else X[name]
            blocks[name] = np.full((len(X), rows.shape[1]), np.nan)
            blocks[name][X.rows(name)] = rows
        return Views(blocks, presence=X.presence)


class OnAllSamples(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A label-free transformer, then a classifier that is given all samples, -1 for those without a label.

    Parameters
    ----------
    transformer : transformer
    classifier : semi-supervised classifier
    """

    def __init__(self, transformer: Any, classifier: Any) -> None:
        self.transformer = transformer
        self.classifier = classifier

    def fit(self, X: Any, y: Any) -> Self:
        """Fit both; classes become numbers."""
        self.classes_, codes = encode_labels(y, missing_label=None)
        self.transformer_ = clone(self.transformer).fit(X)
        samples = self.transformer_.transform(X)
        self.classifier_ = clone(self.classifier).fit(samples, codes.astype(np.int64))
        known = getattr(self.classifier_, "label_distributions_", None)
        if known is None:
            known = self.classifier_.predict_proba(samples)
        # spreading says nothing, or NaN, of samples that no label reaches
        reached = np.isfinite(known).all(axis=1) & (known.sum(axis=1) > 0.5)
        self.label_distributions_ = np.where(reached[:, None], known, 1.0 / len(self.classes_))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities of new samples."""
        return np.asarray(self.classifier_.predict_proba(self.transformer_.transform(X)))


class TwoTables(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Co-training of a library that knows two views: every other view in one table, the rest in the other.

    Parameters
    ----------
    classifier : classifier
        Its ``fit`` and ``predict_proba`` take two tables.
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Views, y: NDArray[np.int64]) -> Self:
        """Fit to codes, -1 for unlabeled."""
        self.classes_ = np.unique(y[y >= 0])
        self.names_ = (list(X.names[::2]), list(X.names[1::2]))
        first, second = self._tables(X)
        self.classifier_ = clone(self.classifier).fit(first, y, second)
        return self

    def predict_proba(self, X: Views) -> NDArray[np.float64]:
        """Mean of both."""
        first, second = self._tables(X)
        return np.asarray(self.classifier_.predict_proba(first, X2=second))

    def _tables(self, X: Views) -> list[Any]:
        tables = [one_table().fit_transform(X.select(names)) for names in self.names_]
        return [table.toarray() if sparse.issparse(table) else table for table in tables]
