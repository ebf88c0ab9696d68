"""Long comparisons that can be stopped and taken up again: scores in a file, method by method."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from coview.model_selection._comparison import compare_methods

__all__ = ["resume_comparison"]


def resume_comparison(
    path: str | os.PathLike[str],
    methods: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    draws: Sequence[NDArray[np.int64]],
    *,
    again: Sequence[str] = (),
    progress: Callable[[str], Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Compare methods and keep the scores in a file, so that a run that was stopped goes on where it was.

    A method whose scores on all draws are in the file is not fitted again. The file is written anew after every
    method, beside the old one, and takes its place when it is whole.

    Parameters
    ----------
    path : str or path
        CSV file of one data set; its folder exists.
    methods, X, y, draws
        As for :func:`compare_methods`.
    again : sequence of str, default=()
        Methods that are fitted again, say because they have changed.
    progress : callable, default=None
        Called with the name of each method before it is fitted.
    **options
        Further arguments of :func:`compare_methods`.

    Returns
    -------
    scores : DataFrame
        Everything in the file: as in :class:`Comparison`, and ``samples``, a digest of the labeled samples of the draw.

    Raises
    ------
    ValueError
        If the file holds scores of other draws.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> from coview.metrics import probability_scores
    >>> from coview.model_selection import TransductivePipeline, label_draws, resume_comparison
    >>> X, y = [[0.0], [1.0], [0.2], [0.9]] * 3, ["a", "b"] * 6
    >>> methods = {"logistic": TransductivePipeline(StandardScaler(), LogisticRegression())}
    >>> with TemporaryDirectory() as folder:
    ...     scores = resume_comparison(Path(folder) / "scores.csv", methods, X, y, label_draws(y, 4, n_draws=2),
    ...                                scorer=probability_scores)
    >>> len(scores)
    2
    """
    file = Path(path)
    digests = _digests(draws)
    scores = _read(file)
    if len(scores):
        _check_draws(file, scores, digests)
        scores = scores[~scores["method"].isin(list(again))]
    for name, method in methods.items():
        done = scores[scores["method"] == name] if len(scores) else scores
        if len(done) and set(digests.index) <= set(zip(done["n_labeled"], done["draw"], strict=True)):
            continue
        if progress is not None:
            progress(name)
        found = compare_methods({name: method}, X, y, draws, **options).scores
        found["samples"] = digests.reindex(pd.MultiIndex.from_frame(found[["n_labeled", "draw"]])).to_numpy()
        others = scores[scores["method"] != name] if len(scores) else scores
        scores = pd.concat([part for part in (others, found) if len(part)], ignore_index=True)
        _replace(file, scores)
    return scores


def _digests(draws: Sequence[NDArray[np.int64]]) -> pd.Series:
    """What tells the draws apart, by number of labels and number of the draw."""
    table = pd.DataFrame({"n_labeled": [len(draw) for draw in draws]})
    table["draw"] = table.groupby("n_labeled").cumcount()
    values = [hashlib.sha256(np.asarray(draw, dtype="<i8").tobytes()).hexdigest()[:12] for draw in draws]
    return pd.Series(values, index=pd.MultiIndex.from_frame(table), name="samples", dtype=object)


def _read(file: Path) -> pd.DataFrame:
    if not file.exists():
        return pd.DataFrame()
    scores = pd.read_csv(file, dtype={"method": str, "group": str, "error": str, "samples": str})
    return scores.assign(error=scores["error"].fillna(""))


def _check_draws(file: Path, scores: pd.DataFrame, digests: pd.Series) -> None:
    """Raise where a draw of the file has the number, and not the samples, of one that is asked for."""
    expected = digests.reindex(pd.MultiIndex.from_frame(scores[["n_labeled", "draw"]])).to_numpy()
    differ = ~pd.isna(expected) & (expected != scores["samples"].to_numpy())
    if differ.any():
        first = scores[differ].iloc[0]
        raise ValueError(
            f"{file} holds scores of other draws: draw {first['draw']} with {first['n_labeled']} labels had other "
            "samples. Name another file, or delete this one."
        )


def _replace(file: Path, scores: pd.DataFrame) -> None:
    """The whole table under the name of the file, or the old file."""
    beside = file.with_name(f"{file.name}.new")
    scores.to_csv(beside, index=False, lineterminator="\n")
    os.replace(beside, file)
