"""Predictions as a table that a person can read and a program can join."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_clusterer

from coview.exceptions import ViewError
from coview.metrics import prediction_interval
from coview.model_selection import predictive_moments
from coview.views import AlignedTables, Views, read_tables, resolve_presence, some, take_rows

__all__ = ["prediction_blocks", "prediction_table"]

_BLOCK_CELLS = 2**24
_BLOCK_ROWS = 4096


def prediction_table(model: Any, X: Any, *, no_view: Literal["raise", "skip"] = "raise") -> pd.DataFrame:
    """What a fitted pipeline says of new samples, one row per sample.

    Parameters
    ----------
    model : fitted Pipeline
        An encoder of tables, then a classifier, regressor or clusterer on views.
    X : TableSet, Views or anything that ``TableEncoder`` takes
        Samples with any of the views of the fit.
    no_view : {"raise", "skip"}, default="raise"
        What to do with samples that have none of the views: raise, or leave their predictions empty.

    Returns
    -------
    table : DataFrame
        Indexed by sample id. Classifiers: ``predicted``, its ``probability``, ``p_CLASS`` for every class. Regressors:
        ``predicted``, ``sd`` of an observation, and ``lower`` and ``upper`` end of its 90 % interval (NaN where the
        model states no spread). Clusterers: ``cluster``, -1 where a sample belongs to none. ``views``: those that the sample
        has, separated by spaces (by semicolons where a view's name has a space).

    Raises
    ------
    ViewError
        If a sample has no view and ``no_view="raise"``, or if views or columns are not those of the fit.

    Notes
    -----
    Rows are worked on in blocks, so beside the input and the answer, memory does not grow with the number of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from coview import Views
    >>> from coview.compose import TableEncoder
    >>> from coview.inspection import prediction_table
    >>> from coview.model_selection import usual_methods
    >>> X, y = Views({"ct": np.arange(6.0)[:, None]}), ["no"] * 3 + ["yes"] * 3
    >>> method = usual_methods("classification")["imputation-logistic-regression"]
    >>> prediction_table(make_pipeline(TableEncoder(), method).fit(X, y), X)["predicted"].tolist()
    ['no', 'no', 'no', 'yes', 'yes', 'yes']
    """
    return pd.concat(list(prediction_blocks(model, X, no_view=no_view)))


def prediction_blocks(model: Any, X: Any, *, no_view: Literal["raise", "skip"] = "raise") -> Iterator[pd.DataFrame]:
    """The rows of `prediction_table` in blocks, for writing them as they come.

    Parameters
    ----------
    model, X, no_view
        As for `prediction_table`.

    Yields
    ------
    block : DataFrame
    """
    aligned = read_tables(X, check_ids=False)
    presence = resolve_presence(aligned)
    empty = np.flatnonzero(~presence.any(axis=1))
    if len(empty) and no_view == "raise":
        raise ViewError(
            f"{len(empty)} of {aligned.n_samples} samples have none of the model's views: {some(aligned.ids[empty])}. "
            "Give them a view, leave them out, or leave their predictions empty with no_view='skip' (--no-view skip)."
        )
    width = max(1, sum(table.n_features for table in aligned.tables))
    step = max(1, min(_BLOCK_ROWS, _BLOCK_CELLS // width))
    for start in range(0, aligned.n_samples, step):
        yield _block(model, aligned, presence, np.arange(start, min(start + step, aligned.n_samples)))


def _block(model: Any, aligned: AlignedTables, presence: NDArray[np.bool_], rows: NDArray[np.intp]) -> pd.DataFrame:
    """Predictions of some samples; empty for those without any view."""
    known = presence[rows].any(axis=1)
    views = model[:-1].transform(take_rows(aligned, rows[known])) if known.any() else None
    columns = _answers(model[-1], views)
    table = pd.DataFrame(columns).set_axis(np.flatnonzero(known)).reindex(np.arange(len(rows)))
    names = np.array(aligned.names, dtype=object)
    separator = ";" if any(" " in name for name in aligned.names) else " "
    table["views"] = [separator.join(names[row]) for row in presence[rows]]
    return table.set_axis(pd.Index(aligned.ids[rows].astype(str), name=aligned.ids.name))


def _answers(estimator: Any, views: Views | None) -> dict[str, Any]:
    """What a classifier, a clusterer or a regressor says."""
    if is_classifier(estimator):
        return _classes(estimator, views)
    if is_clusterer(estimator):
        return {"cluster": pd.Series([] if views is None else estimator.predict(views).tolist(), dtype=object)}
    return _numbers(estimator, views)


def _classes(classifier: Any, views: Views | None) -> dict[str, Any]:
    """The likeliest class and the probability of each."""
    classes = classifier.classes_
    proba = np.empty((0, len(classes))) if views is None else classifier.predict_proba(views)
    shares = {f"p_{label}": proba[:, position] for position, label in enumerate(classes)}
    return {
        "predicted": pd.Series(classes[proba.argmax(axis=1)], dtype=object),  # of one type in every block
        "probability": proba.max(axis=1, initial=0.0),
        **shares,
    }


def _numbers(regressor: Any, views: Views | None) -> dict[str, NDArray[Any]]:
    """The expected number, its spread and its interval."""
    mean, sd = (np.empty(0), np.empty(0)) if views is None else predictive_moments(regressor, views)
    lower, upper = prediction_interval(mean, sd)
    return {"predicted": mean, "sd": sd, "lower": lower, "upper": upper}
