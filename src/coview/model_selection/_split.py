"""Cross-validation for few labels and missing views."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length, check_random_state

from coview.labels import encode_labels, labeled_rows, target_values
from coview.views import Views, read_tables, resolve_presence

__all__ = ["LabeledKFold"]


class LabeledKFold(BaseCrossValidator):  # type: ignore[misc]
    """K folds over the labeled samples; the unlabeled ones are in every training part and in no test part.

    Each class, and each missing pattern within a class, is spread over the folds as evenly as counts allow: the
    number of its samples differs by at most one between folds. A class or pattern with fewer samples than folds
    simply misses some of them.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of labeled samples.
    shuffle : bool, default=True
        Whether samples of one class and pattern are dealt out in random order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order; only with ``shuffle=True``.
    missing_label : object, default="auto"
        What marks an unlabeled sample, as in :func:`coview.labels.encode_labels`.

    Warns
    -----
    UserWarning
        If a class has one labeled sample only: one training part lacks the class.

    Notes
    -----
    Numeric targets that are not whole numbers are split by missing pattern alone.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array(["a", "b", None, "a", "b", None], dtype=object)
    >>> for train, test in LabeledKFold(2, shuffle=False).split(np.ones((6, 1)), y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 5] [3 4]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None, missing_label: Any = "auto"
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.missing_label = missing_label

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits

    def _iter_test_masks(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[NDArray[np.bool_]]:
        self._check_parameters()
        if y is None:
            raise ValueError("LabeledKFold needs y: it keeps unlabeled samples in every training part.")
        values = target_values(y)
        labeled = labeled_rows(values, missing_label=self.missing_label)
        n_labeled = int(labeled.sum())
        if n_labeled < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {n_labeled} labeled samples of {len(values)}. "
                "Use fewer splits or more labels."
            )
        folds = np.full(len(values), -1)
        folds[labeled] = self._deal_out(_class_codes(values, labeled), _pattern_codes(X, len(values))[labeled])
        for fold in range(self.n_splits):
            yield folds == fold

    def _check_parameters(self) -> None:
        if not isinstance(self.n_splits, int | np.integer) or self.n_splits < 2:
            raise ValueError(f"n_splits must be an integer of at least 2; got {self.n_splits!r}.")
        if not self.shuffle and self.random_state is not None:
            raise ValueError("random_state has no effect with shuffle=False. Set shuffle=True or random_state=None.")

    def _deal_out(self, classes: NDArray[np.int64], patterns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Fold of each labeled sample: sorted by class, then pattern, they are dealt out like cards."""
        counts = np.bincount(classes)
        if len(counts) > 1 and (counts == 1).any():
            warnings.warn(
                f"{int((counts == 1).sum())} of {len(counts)} classes have one labeled sample only, so one training "
                "part lacks each of them. Label more samples of rare classes.",
                UserWarning,
                stacklevel=2,
            )
        n_labeled = len(classes)
        order = np.arange(n_labeled)
        cards = np.arange(self.n_splits)
        if self.shuffle:
            random = check_random_state(self.random_state)
            order, cards = random.permutation(n_labeled), random.permutation(self.n_splits)
        order = order[np.lexsort((patterns[order], classes[order]))]
        folds = np.empty(n_labeled, dtype=np.int64)
        folds[order] = cards[np.arange(n_labeled) % self.n_splits]
        return folds


def _class_codes(values: NDArray[Any], labeled: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Class of each labeled sample; one class for targets that are not whole numbers."""
    labels = values[labeled]
    numbers = labels if labels.dtype.kind == "f" else np.empty(0)
    if (numbers != np.floor(numbers)).any():
        return np.zeros(len(labels), dtype=np.int64)
    _, codes = encode_labels(labels, missing_label=np.nan)
    return codes


def _pattern_codes(X: Any, n_samples: int) -> NDArray[np.int64]:
    """Missing pattern of each sample, as a number."""
    check_consistent_length(X, np.empty(n_samples))
    presence = X.presence if isinstance(X, Views) else resolve_presence(read_tables(X, check_ids=False))
    _, codes = np.unique(presence, axis=0, return_inverse=True)
    return np.asarray(codes, dtype=np.int64)
