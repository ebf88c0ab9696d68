"""The factor mixture on digits of which one view has labels, and the same model under direct supervision."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit

from coview import Views
from coview.mixture import FactorMixtureClassifier

from .problems import LabelFree

__all__ = [
    "CHOSEN",
    "CHOSEN_DIRECT",
    "CHOSEN_NOISE",
    "COMPONENTS",
    "DIRECT_MIXTURE",
    "MIXTURE",
    "NOISE_VARIANCES",
    "chosen_components",
    "direct_mixture",
    "label_free_mixture",
]

MIXTURE, DIRECT_MIXTURE = "factor mixture", "direct supervision, factor mixture"
# With the number of components that left-out labels choose.
CHOSEN, CHOSEN_DIRECT = f"{MIXTURE}, chosen", f"{DIRECT_MIXTURE}, chosen"

# The grid of the paper, and its number of factors.
COMPONENTS = (40, 60, 80, 100)
NOISE_VARIANCES = (0.8, 1.0, 1.2)
CHOSEN_NOISE = 1.0
_FACTORS = 10
# Learned noise never stops falling with so many components; at a fixed one EM ends after 20 to 50 iterations.
_MAX_ITER, _MAX_ITER_LEARNED = 100, 50
_SMOOTHING = 0.01
_HELD_OUT = 0.2


def _fitted(X: Any, y: NDArray[Any], n_components: Any, noise: Any, seed: int) -> FactorMixtureClassifier:
    model = FactorMixtureClassifier(
        n_components,
        _FACTORS,
        noise_variance=noise,
        n_init=1,
        max_iter=_MAX_ITER_LEARNED if noise == "learn" else _MAX_ITER,
        class_smoothing=_SMOOTHING,
        random_state=seed,
    )
    with warnings.catch_warnings():  # the tables show what an unfinished fit is worth
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def label_free_mixture(split: LabelFree, n_components: Any, noise: Any, seed: int) -> FactorMixtureClassifier:
    """One model of all views; labels for one of them.

    Parameters
    ----------
    split : LabelFree
    n_components : int or "auto"
    noise : float or "learn"
        Variance beside the factors, in units of features of variance 1.
    seed : int

    Returns
    -------
    model : FactorMixtureClassifier
    """
    views, labels = split.training
    return _fitted(views, labels, n_components, noise, seed)


def direct_mixture(
    split: LabelFree, names: Sequence[str], n_components: Any, noise: Any, seed: int
) -> FactorMixtureClassifier:
    """The same model of the views to test on, fitted to the unlabeled samples with their hidden classes."""
    return _fitted(Views({name: split.joint[name] for name in names}), split.hidden, n_components, noise, seed)


def chosen_components(split: LabelFree, seed: int) -> int:
    """Number of components that best says the labels of a fifth of the labeled samples, left out of the fit.

    Nothing but labels of the labeled view is looked at: what a user can do. By the mean log probability of those labels.
    """
    views, labels = split.training
    first = len(split.hidden)
    folds = StratifiedShuffleSplit(1, test_size=_HELD_OUT, random_state=seed)
    _, left_out = next(folds.split(split.labeled, split.labels))
    kept = np.setdiff1d(np.arange(len(labels)), first + left_out)
    held = Views({split.labeled_view: split.labeled[left_out]})
    scores = []
    for n_components in COMPONENTS:
        model = _fitted(views[kept], labels[kept], n_components, CHOSEN_NOISE, seed)
        places = np.searchsorted(model.classes_, split.labels[left_out])
        chances = model.predict_proba(held)[np.arange(len(places)), places]
        scores.append(float(np.log(np.maximum(chances, 1e-12)).mean()))
    return COMPONENTS[int(np.argmax(scores))]
