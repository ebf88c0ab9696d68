"""Weights of views and of their consistency chosen by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel
from sklearn.model_selection import ShuffleSplit, check_cv

from coview.base import StrOptions
from coview.gaussian_process._parameters import Parameters
from coview.gaussian_process._posterior_consistency_classifier import PosteriorConsistencyGPClassifier, positions_given
from coview.labels import encode_labels, labeled_rows
from coview.views import Views

__all__ = ["PosteriorConsistencyGPClassifierCV"]

Array = NDArray[np.float64]

_CONSISTENCIES = (2.0**-19, 2.0**-13, 2.0**-9, 1.0, 4.0, 128.0)
_MANY_VIEWS = 5


class PosteriorConsistencyGPClassifierCV(PosteriorConsistencyGPClassifier):
    r"""`PosteriorConsistencyGPClassifier` with the weights and the consistency that predict best in cross-validation.

    Every pair of candidates is fitted to every training part and scored on the labels left out; the pair with the best mean
    accuracy is fitted to all samples. Among pairs of the same accuracy, the one that gives these labels the higher probability.

    Parameters
    ----------
    kernel, noise_variance : object
        As in `PosteriorConsistencyGPClassifier`.
    view_weights : array-like of shape (n_weights, n_views), or (n_weights,) of the first of two views, or "equal", default=None
        Candidates for :math:`a`; "equal" is all alike, so that only the consistency is chosen. None: 0, 0.1, ..., 1
        for the first of two views; quarters that sum to one for three or four views; for more, all alike, each alone, and
        each left out.
    consistency : array-like of shape (n_ties,)
        Candidates for :math:`b_{ij}` of all pairs; by default half of those published, :math:`2^{-19}` to :math:`2^7`.
    cv : int, splitter or iterable, default=None
        None: ten random splits that leave out a fifth of the labels. Unlabeled samples are in every training part.
    jitter, selective, hyperparameters, approximation, n_components, n_restarts, max_iter : object
        As in `PosteriorConsistencyGPClassifier`. With ``selective=True`` the candidates are first compared without selection; the
        consistent set of that fit is kept while they are compared again (Algorithm 2).
    classes, missing_label, no_view, random_state, view_columns : object
        As in `PosteriorConsistencyGPClassifier`; ``random_state`` also seeds the random splits.
    n_jobs : int, default=None
        Threads over the splits.

    Attributes
    ----------
    view_weights_ : ndarray of shape (n_views,)
        Chosen.
    consistency_ : float
        Chosen.
    validation_scores_ : ndarray of shape (n_weights, n_ties)
        Mean accuracy over the splits.
    validation_log_scores_ : ndarray of shape (n_weights, n_ties)
        Mean logarithm of the probability of the labels left out.

    Notes
    -----
    Algorithms 1 and 2 of [1]_, with accuracies averaged over the splits (as printed, they are compared across splits, so that the
    choice depends on their order). A search starts where that of the next smaller consistency ended, in each split and over all
    samples alike: a dear divergence has minima far from any evidence, which a search from elsewhere would end in.

    References
    ----------
    .. [1] Q. Liu, S. Sun, "Multi-view regularized Gaussian processes", PAKDD, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.gaussian_process import PosteriorConsistencyGPClassifierCV
    >>> y = np.tile([0, 1], 12)
    >>> signal = (y * 2.0 - 1.0)[:, None] * np.linspace(1.0, 2.0, 24)[:, None]
    >>> noise = np.random.default_rng(0).normal(size=(24, 2))
    >>> model = PosteriorConsistencyGPClassifierCV(view_weights=[0.0, 1.0], consistency=[0.01], cv=3)
    >>> model.fit({"useful": signal, "useless": noise}, y).view_weights_
    array([1., 0.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PosteriorConsistencyGPClassifier._parameter_constraints,
        "view_weights": ["array-like", StrOptions({"equal"}), None],
        "consistency": ["array-like"],
        "cv": ["cv_object"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        noise_variance: Any = 0.1,
        view_weights: Any = None,
        consistency: Any = _CONSISTENCIES,
        cv: Any = None,
        jitter: float = 1e-4,
        selective: Any = False,
        hyperparameters: str = "maximize",
        approximation: str = "exact",
        n_components: int | None = 100,
        n_restarts: int = 0,
        max_iter: int = 200,
        classes: Any = None,
        missing_label: Any = None,
        no_view: str = "raise",
        random_state: Any = None,
        n_jobs: int | None = None,
        view_columns: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            noise_variance=noise_variance,
            view_weights=view_weights,
            consistency=consistency,
            jitter=jitter,
            selective=selective,
            hyperparameters=hyperparameters,
            approximation=approximation,
            n_components=n_components,
            n_restarts=n_restarts,
            max_iter=max_iter,
            classes=classes,
            missing_label=missing_label,
            no_view=no_view,
            random_state=random_state,
            view_columns=view_columns,
        )
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Choose and fit.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Classes; NaN, None (or ``missing_label``) where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : PosteriorConsistencyGPClassifierCV

        Raises
        ------
        ValueError
            If no split leaves labels of two classes to train on and one to be scored.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        encode_labels(target, missing_label=self.missing_label, classes=self.classes, min_classes=2)
        given = None if isinstance(self.selective, bool | np.bool_) else positions_given(self.selective, len(views))
        self._choose(views, target, given)
        if given is None and self.selective:
            plain = self._plain(self.view_weights_, self.consistency_).fit(views, target)
            chosen = np.isin(np.arange(len(views)), plain.consistent_set_)
            self._choose(views, target, chosen)
            given = chosen
        self._selected = given
        self._start = self._before(views, target, given)
        return self._fit_views(views, target)

    def _before(self, views: Views, target: NDArray[Any], selective: NDArray[np.bool_] | None) -> dict[str, Any]:
        """Kernels and noise variances where the search of the chosen pair starts, as in the splits."""
        start: dict[str, Any] = {}
        smaller = self._candidates()[self._candidates() < self.consistency_]
        if self.hyperparameters == "maximize":
            part: Any = False if selective is None else selective
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of searches cut short, of models emptied
                for tie in smaller:
                    model = self._plain(self.view_weights_, float(tie), selective=part, **start).fit(views, target)
                    start = {"kernel": model.kernels_, "noise_variance": list(model.noise_variances_)}
        return start

    def _take(self, views: Views, targets: Array, labeled: NDArray[np.bool_]) -> Parameters:
        point = super()._take(views, targets, labeled)
        if not self._start:
            return point
        kernels = [clone(kernel) if isinstance(kernel, Kernel) else kernel for kernel in self._start["kernel"]]
        return Parameters(kernels, np.array(self._start["noise_variance"]), None)

    def _select_and_solve(self, start: Parameters, codes: NDArray[np.int64]) -> None:
        point = self._searched(start, self._selected, []) if self.hyperparameters == "maximize" else start
        self._keep(point, self._selected)
        self.consistent_set_ = self._consistent(codes)
        if self._selected is not None and isinstance(self.selective, bool | np.bool_):
            self.consistent_set_ = np.flatnonzero(self._selected)

    def _candidates(self) -> Array:
        """Candidates for the consistency, increasing."""
        ties = np.sort(np.asarray(self.consistency, dtype=np.float64).ravel())
        if not ties.size or not np.isfinite(ties).all() or ties[0] < 0.0:
            raise ValueError(f"consistency must list numbers that are not negative; got {self.consistency!r}.")
        return ties

    def _choose(self, views: Views, target: NDArray[Any], selective: NDArray[np.bool_] | None) -> None:
        """The best candidates, with posteriors compared on all samples or on those given."""
        weights = _weight_candidates(self.view_weights, len(views.names))
        ties = self._candidates()
        splits = self._splits(target)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of searches cut short, of models emptied
            parts = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._scored)(views, target, split, weights, ties, selective) for split in splits
            )
        accuracies, log_scores = np.mean(parts, axis=0)
        best = np.lexsort((-log_scores.ravel(), -accuracies.ravel()))[0]
        i, k = np.unravel_index(best, accuracies.shape)
        self.view_weights_, self.consistency_ = weights[i], float(ties[k])
        order = np.argsort(np.argsort(np.asarray(self.consistency, dtype=np.float64).ravel(), kind="stable"))
        self.validation_scores_, self.validation_log_scores_ = accuracies[:, order], log_scores[:, order]

    def _splits(self, target: NDArray[Any]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Training and test positions; unlabeled samples are always trained on."""
        known = labeled_rows(target, missing_label=self.missing_label, classes=self.classes)
        rows, rest = np.flatnonzero(known), np.flatnonzero(~known)
        labels = target[rows]
        splitter = ShuffleSplit(10, test_size=0.2, random_state=self._state()) if self.cv is None else self.cv
        splitter = check_cv(splitter, labels, classifier=True)
        splits = [
            (np.sort(np.concatenate([rows[train], rest])), rows[test])
            for train, test in splitter.split(rows[:, None], labels)
            if len(set(labels[train].tolist())) > 1 and len(test)
        ]
        if not splits:
            raise ValueError(
                f"No split of the {len(rows)} labels leaves two classes to train on. Give more labels, or another cv."
            )
        return splits

    def _plain(self, weights: Array, tie: float, **changes: Any) -> PosteriorConsistencyGPClassifier:
        """The estimator without a choice."""
        names = PosteriorConsistencyGPClassifier().get_params(deep=False)
        own = {name: getattr(self, name) for name in names if name != "view_columns"}
        own.update(view_weights=list(weights), consistency=tie, selective=False)
        return PosteriorConsistencyGPClassifier(**(own | changes))

    def _scored(
        self,
        views: Views,
        target: NDArray[Any],
        split: tuple[NDArray[np.intp], NDArray[np.intp]],
        weights: Array,
        ties: Array,
        selective: NDArray[np.bool_] | None,
    ) -> Array:
        """Accuracy and mean log probability of every pair on the labels left out (2, n_weights, n_ties)."""
        train, test = split
        scores = np.empty((2, len(weights), len(ties)))
        part: Any = False if selective is None else selective[train]
        seen, held = views[train], views[test]
        for i, a in enumerate(weights):
            start: dict[str, Any] = {}
            for k, b in enumerate(ties):
                model = self._plain(a, float(b), selective=part, **start).fit(seen, target[train])
                start = {"kernel": model.kernels_, "noise_variance": list(model.noise_variances_)}
                scores[:, i, k] = _score(model, held, target[test])
        return scores

    def _weights_of(self, names: list[str]) -> Array:
        return self.view_weights_

    def _ties_of(self, names: list[str]) -> Array:
        return np.full((len(names), len(names)), self.consistency_)


def _score(model: PosteriorConsistencyGPClassifier, views: Views, labels: NDArray[Any]) -> tuple[float, float]:
    """Accuracy, and mean log probability of the labels; a class without a probability has the smallest one."""
    p = model.predict_proba(views)
    found = labels[:, None] == model.classes_[None, :]
    given = np.where(found, p, 0.0).sum(axis=1)
    accuracy = float(np.mean([label == guess for label, guess in zip(labels, model.predict(views), strict=True)]))
    return accuracy, float(np.log(np.maximum(given, 1e-12)).mean())


def _weight_candidates(given: Sequence[Any] | str | None, m: int) -> Array:
    """Weights of the views to compare (n_weights, m)."""
    if isinstance(given, str):
        return np.full((1, m), 1.0 / m)
    if given is not None:
        candidates = np.asarray(given, dtype=np.float64)
        if candidates.ndim == 1 and m == 2:
            candidates = np.column_stack([candidates, 1.0 - candidates])
        good = candidates.ndim == 2 and candidates.shape[1:] == (m,) and len(candidates) > 0
        if not good or not np.isfinite(candidates).all() or (candidates < 0).any() or not candidates.any(axis=1).all():
            raise ValueError(
                f"view_weights must be candidates of shape (n_weights, {m}), finite, not negative, none all 0; got {given!r}."
            )
        return candidates
    if m == 2:
        first = np.arange(11) / 10.0
        return np.column_stack([first, 1.0 - first])
    if m < _MANY_VIEWS:
        return np.array([c for c in product(np.arange(5) / 4.0, repeat=m) if np.isclose(sum(c), 1.0)])
    eye = np.eye(m)
    return np.vstack([np.full((1, m), 1.0 / m), eye, (1.0 - eye) / (m - 1)])
