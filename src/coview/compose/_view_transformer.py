"""One scikit-learn transformer per view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import TransformerMixin, clone, is_classifier, is_regressor
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from coview.base import MultiViewEstimator
from coview.exceptions import ViewError
from coview.labels import labeled_rows
from coview.views import Views

__all__ = ["ViewTransformer"]

_WORDS = ("passthrough", "drop")


class ViewTransformer(TransformerMixin, MultiViewEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg,misc]
    """A scikit-learn transformer for each view: scale one, reduce another, impute a third.

    Views come in and views come out. A transformer sees only the samples that have its view, in training and afterwards;
    a missing view stays missing. Put it first in a pipeline, so that it is learnt on training rows and saved with the model.

    Parameters
    ----------
    transformers : transformer, list, dict, "passthrough" or "drop", default="passthrough"
        One for all views (copied), one per view in their order, or by name. "passthrough" leaves a view as it is, "drop"
        leaves it out; so is a view passed that a dict does not name.
    supervised : list of str, default=None
        Views whose transformer learns from labels. None finds out: transformers that scikit-learn's tags say need a target,
        that are classifiers or regressors too, or that select features (but `VarianceThreshold`), and pipelines of them.
    missing_label : object, default="auto"
        What marks an unlabeled sample besides NaN and None, for transformers that need labels; "auto" reads -1 so in
        integer labels.
    view_columns : dict, default=None
        Column groups, where X is one table (see :class:`coview.Views`).

    Attributes
    ----------
    transformers_ : dict of str to transformer or "passthrough"
        Fitted copies, for the views that come out.
    view_names_out_ : list of str
        Views that come out: those of ``fit`` that some sample had, less the dropped ones.
    n_features_out_ : dict of str to int
        Their widths.

    Notes
    -----
    A transformer that learns from labels is fitted to the labeled samples that have the view; any other to all samples
    that have it, without labels. Single gaps inside a view reach the transformer as NaN: an imputer fills them, others
    raise. Transformers that give sparse rows make a sparse view.

    ``set_output(transform="pandas")`` gives a DataFrame of all views side by side, its columns a MultiIndex of view and
    feature and NaN where a view is missing, which every estimator here reads as views again.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.preprocessing import StandardScaler
    >>> from coview.compose import ViewTransformer
    >>> views = {"a": np.array([[1.0], [3.0], [np.nan]]), "b": np.eye(3)}
    >>> reduced = ViewTransformer({"a": StandardScaler(), "b": PCA(2)}).fit_transform(views)
    >>> reduced
    Views: 3 samples, 2 views
      a  2 samples  1 features  dense
      b  3 samples  2 features  dense
      patterns: 2 with all views; 1 with b
    >>> reduced["a"].ravel()
    array([-1.,  1.])
    """

    _allow_nan = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {"view_columns": [dict, None]}

    def __init__(
        self,
        transformers: Any = "passthrough",
        *,
        supervised: Any = None,
        missing_label: Any = "auto",
        view_columns: Any = None,
    ) -> None:
        self.transformers = transformers
        self.supervised = supervised
        self.missing_label = missing_label
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformers.

        Parameters
        ----------
        X : Views or anything that Views takes
            Training samples.
        y : array-like of shape (n_samples,), default=None
            Labels or targets, for transformers that need them; NaN or None where a sample has none.

        Returns
        -------
        self : ViewTransformer

        Raises
        ------
        ViewError
            If transformers do not match the views, or all are dropped.
        ValueError
            If a transformer needs labels and there are none among the samples with its view.
        """
        views, target = self._validate_views_target(X, y, reset=True)
        unknown = [name for name in self.supervised or () if name not in views.names]
        if isinstance(self.supervised, str) or unknown:
            raise ViewError(f"supervised must be a list of some of the views {views.names}; got {self.supervised!r}.")
        self.transformers_: dict[str, Any] = {}
        self.n_features_out_: dict[str, int] = {}
        self._names_out: dict[str, list[Any]] = {}
        for name, chosen in _by_view(self.transformers, views.names).items():
            if (isinstance(chosen, str) and chosen == "drop") or not views.rows(name).size:
                continue
            fitted = chosen if isinstance(chosen, str) else self._fitted(chosen, views, name, target)
            self.transformers_[name] = fitted
            self._learn_output(name, _transformed(fitted, views[name][:1], name))
        if not self.transformers_:
            raise ViewError(
                f"No view comes out: all of {views.names} are dropped or have no sample. Keep at least one."
            )
        self.view_names_out_ = list(self.transformers_)
        return self

    def _fitted(self, template: Any, views: Views, name: str, target: Any) -> Any:
        """A copy of the transformer, fitted to the samples that have the view."""
        block, rows = views[name], views.rows(name)
        transformer = clone(template)
        if not (needs_labels(template) if self.supervised is None else name in self.supervised):
            return transformer.fit(block)
        if target is None:
            raise ValueError(
                f"The transformer of view {name!r}, {type(template).__name__}, needs labels: pass y to fit."
            )
        known = np.flatnonzero(labeled_rows(target[rows], missing_label=self.missing_label))
        if not known.size:
            raise ValueError(
                f"The transformer of view {name!r}, {type(template).__name__}, needs labels, and no sample that has the "
                "view has one. Use one that needs none."
            )
        labels = target[rows][known]
        return transformer.fit(block[known], np.asarray(labels.tolist()))

    def _learn_output(self, name: str, probe: Any) -> None:
        """Width and feature names of a view that comes out."""
        self.n_features_out_[name] = int(probe.shape[1])
        given = self.view_feature_names_[name]
        labels = list(range(self.view_n_features_[name])) if given is None else given
        transformer = self.transformers_[name]
        names = None
        if isinstance(transformer, str):
            names = labels
        elif hasattr(transformer, "get_feature_names_out"):
            # A pipeline has the method and raises where one of its steps has not.
            try:
                names = list(transformer.get_feature_names_out(np.asarray(list(map(str, labels)), dtype=object)))
            except AttributeError:
                names = None
        if names is None or len(names) != probe.shape[1]:
            names = list(range(probe.shape[1]))
        self._names_out[name] = names

    def transform(self, X: Any) -> Any:
        """Transform each view of the samples that have it; any subset of the views of ``fit`` will do.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples.

        Returns
        -------
        views : Views, or DataFrame after ``set_output(transform="pandas")``
        """
        check_is_fitted(self, "transformers_")
        aligned = self._validate_views(X, reset=False).to_tables()
        tables = [
            replace(
                table,
                values=self._block(table.name, table.values),
                columns=pd.Index(self._names_out[table.name], dtype=object),
            )
            for table in aligned.tables
            if table.name in self.transformers_
        ]
        # A row that a transformer has emptied is still there: presence is that of the samples, not of values.
        presence = np.zeros((aligned.n_samples, len(tables)), dtype=bool)
        for position, table in enumerate(tables):
            presence[table.rows, position] = True
        views = Views.from_tables(replace(aligned, tables=tuple(tables), presence=presence))
        if getattr(self, "_sklearn_output_config", {}).get("transform") == "pandas":
            return pd.concat({name: views.to_frame(name) for name in views.names}, axis=1)
        return views

    def _block(self, name: str, values: Any) -> Any:
        if not values.shape[0]:
            return np.empty((0, self.n_features_out_[name]))
        return _transformed(self.transformers_[name], values, name)

    def set_output(self, *, transform: str | None = None) -> Self:
        """What ``transform`` gives: views, or a pandas DataFrame.

        Parameters
        ----------
        transform : {"default", "pandas"}, default=None
            "default" for :class:`coview.Views`, "pandas" for a DataFrame whose columns are a MultiIndex of view and
            feature; None changes nothing.

        Returns
        -------
        self : ViewTransformer
        """
        if transform is None:
            return self
        if transform not in ("default", "pandas"):
            raise ValueError(f"transform must be 'default' (Views) or 'pandas'; got {transform!r}.")
        self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features of all views that come out, ``view__feature``.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn; the names come from ``fit``.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "transformers_")
        names = [f"{view}__{name}" for view, found in self._names_out.items() for name in found]
        return np.asarray(names, dtype=object)


def needs_labels(transformer: Any) -> bool:
    """Whether a transformer learns from labels, as far as can be told from outside."""
    if isinstance(transformer, Pipeline):
        return any(needs_labels(step) for _, step in transformer.steps if not (step is None or isinstance(step, str)))
    selects = isinstance(transformer, SelectorMixin) and not isinstance(transformer, VarianceThreshold)
    predicts = is_classifier(transformer) or is_regressor(transformer)
    return bool(selects or predicts or get_tags(transformer).target_tags.required)


def _by_view(transformers: Any, names: list[str]) -> dict[str, Any]:
    """The transformer of each view."""
    if isinstance(transformers, Mapping):
        unknown = [name for name in transformers if name not in names]
        if unknown:
            raise ViewError(f"transformers names {unknown}, and the views are {names}. Correct the names.")
        chosen = {name: transformers.get(name, "passthrough") for name in names}
    elif isinstance(transformers, list | tuple):
        if len(transformers) != len(names):
            raise ViewError(
                f"transformers must have one entry for each of the {len(names)} views; got {len(transformers)}."
            )
        chosen = dict(zip(names, transformers, strict=True))
    else:
        chosen = dict.fromkeys(names, transformers)
    for name, one in chosen.items():
        if not (one in _WORDS if isinstance(one, str) else hasattr(one, "fit") and hasattr(one, "transform")):
            raise ViewError(
                f"The transformer of view {name!r} must have fit and transform, or be 'passthrough' or 'drop'; got {one!r}."
            )
    return chosen


def _transformed(transformer: Any, block: Any, name: str) -> Any:
    """A view's rows after its transformer, as an array or CSR rows."""
    if isinstance(transformer, str):
        return block
    found = transformer.transform(block)
    rows = sparse.csr_array(found) if sparse.issparse(found) else np.asarray(found)
    if rows.ndim != 2 or rows.shape[0] != block.shape[0]:
        raise ViewError(
            f"The transformer of view {name!r}, {type(transformer).__name__}, must give one row per sample; it made "
            f"{rows.shape} of {block.shape}."
        )
    return rows
