"""The passes of co-EM on arrays: views teach each other the probabilities of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from coview.views import Views
from coview.viewwise import classes_seen, has_probabilities, log_probabilities

__all__ = ["CoEMPasses", "weight_parameter"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

# Weights below this would change nothing but the time that a fit takes.
_LEAST_WEIGHT = float(np.finfo(np.float64).eps)


def weight_parameter(estimator: Any) -> str | None:
    """Name under which ``fit`` takes weights of samples; None where it takes none."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_parameter(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


class CoEMPasses:
    """Co-EM under way (Nigam and Ghani 2000, section 4).

    Parameters
    ----------
    templates : mapping of str to estimator
        Of every view; with probabilities and weights of samples.
    views : Views
    codes : ndarray of shape (n_samples,), dtype=int64
        Class of each labeled sample, -1 for the others.
    classes : ndarray of shape (n_classes,)
    schedule : {"sequential", "parallel"}
        Whether views take turns within a pass, or all learn from what was said before it.
    combine : {"product", "mean"}
        How probabilities of the other views make one.
    unlabeled_weight : float
        Weight of a sample without label beside one with a label.

    Attributes
    ----------
    learners : dict of str to (estimator, ndarray of int)
        Fitted estimators of the views that can have one, with the numbers of the classes that each has seen.

    Raises
    ------
    ValueError
        If an estimator states no probabilities or takes no weights.
    """

    def __init__(
        self,
        templates: Mapping[str, Any],
        views: Views,
        codes: Codes,
        classes: NDArray[Any],
        *,
        schedule: str,
        combine: str,
        unlabeled_weight: float,
    ) -> None:
        self._templates, self._views, self._codes, self._classes = templates, views, codes, classes
        self._parallel = schedule == "parallel"
        self._product, self._unlabeled_weight = combine == "product", unlabeled_weight
        counts = np.bincount(codes[codes >= 0], minlength=len(classes))
        self._shares = counts / counts.sum()
        self.learners: dict[str, tuple[Any, Codes]] = {}
        self._logs: dict[str, Array] = {}
        for name, template in templates.items():
            _check_template(name, template)
        none = np.zeros((len(views), len(classes)))
        for name in views.names:
            self._teach(name, none)

    def sweep(self) -> float:
        """Every view once, the first one last, taught by the others; the largest change of a probability."""
        first, *others = self._views.names
        if self._parallel:
            said = {name: self._said_by_others(name) for name in self._views.names}
            return max(self._teach(name, said[name]) for name in self._views.names)
        return max(self._teach(name, self._said_by_others(name)) for name in [*others, first])

    def _said_by_others(self, name: str) -> Array:
        """Class probabilities (n_samples, n_classes) by the other views; zeros where no other view says anything."""
        total, count = np.zeros((len(self._views), len(self._classes))), np.zeros(len(self._views))
        for other in self.learners:
            if other != name:
                rows = self._views.rows(other)
                total[rows] += self._logs[other] if self._product else np.exp(self._logs[other])
                count[rows] += 1.0
        said = softmax(total, axis=1) if self._product else total / np.maximum(count, 1.0)[:, None]
        said[count == 0] = 0.0
        return np.asarray(said)

    def _teach(self, name: str, probabilities: Array) -> float:
        """Fit the estimator of a view, every sample without label once per class; the largest change of what it says."""
        rows = self._views.rows(name)
        codes, block = self._codes[rows], self._views[name]
        labeled = np.flatnonzero(codes >= 0)
        weights = np.where(codes[:, None] < 0, self._unlabeled_weight * probabilities[rows], 0.0)
        # class by class, and within a class in the order of the samples
        soft_codes, soft = np.nonzero(weights.T > _LEAST_WEIGHT)
        taught, at = np.concatenate([codes[labeled], soft_codes]), np.concatenate([labeled, soft])
        known = classes_seen(taught, self._classes)
        if known.size < 2:
            return 0.0
        given = {
            str(weight_parameter(self._templates[name])): np.append(np.ones(labeled.size), weights[soft, soft_codes])
        }
        learner = clone(self._templates[name]).fit(block[at], self._classes[taught], **given)
        self.learners[name] = (learner, known)
        logs = log_probabilities(learner, block, known, self._shares)
        before = np.exp(self._logs[name]) if name in self._logs else np.zeros_like(logs)
        self._logs[name] = logs
        return float(np.abs(np.exp(logs) - before).max(initial=0.0))


def _check_template(name: str, template: Any) -> None:
    kind = type(template).__name__
    if not has_probabilities(template):
        raise ValueError(
            f"The estimator of view {name!r}, {kind}, has no predict_proba, and co-EM hands probabilities from view to view. "
            "Use one that has it, or wrap it in CalibratedClassifierCV."
        )
    if weight_parameter(template) is None:
        raise ValueError(
            f"The estimator of view {name!r}, {kind}, takes no sample_weight in fit, by which co-EM says how probable a "
            "class is. Use one that does, such as LogisticRegression or MultinomialNB."
        )
