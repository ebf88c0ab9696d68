"""Co-EM: classifiers of different views teach each other the probabilities of classes."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from coview.base import Interval, StrOptions
from coview.labels import encode_labels
from coview.semi_supervised._co_em_passes import CoEMPasses
from coview.viewwise import ViewwiseClassifier

__all__ = ["CoEMClassifier"]


class CoEMClassifier(ViewwiseClassifier):
    r"""Co-EM with any scikit-learn classifier that takes weights of samples: views teach each other probabilities.

    The estimator of each view is fitted to the labels and, of every other sample, to what the other views think of it: the
    sample enters once per class, weighted by the probability of that class. Views take turns until nothing changes. Beside
    co-training, nothing is decided for good: all samples count in every pass, as much as is known of them. It gains where the
    labels alone already tell most samples right; where they do not, views may talk each other into other classes.

    Parameters
    ----------
    estimators : estimator, list or dict, default=None
        One for all views (copied), one per view in their order, or by name. Any classifier with ``predict_proba`` whose
        ``fit`` takes ``sample_weight``, or a pipeline that ends in one; None for logistic regression.
    max_iter : int, default=50
        Most passes; in each, every view is fitted once. With 0 only the labels count.
    tol : float, default=1e-3
        Largest change of a probability, for any view and sample, in a pass that counts as convergence.
    schedule : {"sequential", "parallel"}, default="sequential"
        Whether views take turns within a pass, the first one last, or all learn from what the others said before it.
    unlabeled_weight : float, default=1.0
        Weight of a sample without label, 1 being that of a sample with one.
    combine : {"product", "mean"}, default="product"
        How probabilities of views make one, for predictions and, with three views or more, for what a view is taught.
    no_view : {"raise", "prior"}, default="raise"
        Whether samples without a usable view are an error, or get the shares of the given labels as probabilities.
    classes : list, default=None
        All classes, where some have no label yet.
    missing_label : object, default="auto"
        What marks an unlabeled sample besides NaN and None; "auto" reads -1 so in integer labels.
    view_columns : dict, default=None
        View name to columns, where X is one table.
    random_state : int, RandomState instance or None, default=None
        Seed of estimators that have no seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : dict of str to estimator
        Fitted estimators by view; a view that was never taught two classes has none and says nothing.
    n_iter_ : int
        Passes made.
    converged_ : bool
    changes_ : ndarray of shape (n_passes,)
        Largest change of a probability in each pass.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        Most probable classes of the training samples.

    Notes
    -----
    Section 4 of [1]_, there for two views and naive Bayes: the first view learns from the labels; in every pass the second
    learns from the labels and what the first says of all other samples, then the first from what the second says. With
    more views each learns from the product (or mean) of the others' probabilities, the first view last; with
    ``schedule="parallel"`` their order does not matter. A sample teaches a
    view only what its other views say: one that has no other view is left out there. ``unlabeled_weight`` is the
    :math:`\lambda` of [2]_. A class without label in a view starts there with its share of all labels. Co-EM has no
    objective that must rise, so that it may circle; ``changes_`` tells. With all samples labeled, and of one view alone, it is
    the estimator. The cost of a pass is one fit per view, to at most ``n_samples * n_classes`` weighted rows (copied: sparse
    rows stay sparse), and one prediction.

    References
    ----------
    .. [1] K. Nigam, R. Ghani, "Analyzing the effectiveness and applicability of co-training", CIKM 2000.
    .. [2] K. Nigam, A. McCallum, S. Thrun, T. Mitchell, "Text classification from labeled and unlabeled documents using
       EM", Machine Learning 39, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.semi_supervised import CoEMClassifier
    >>> views = {"a": np.array([[-2.0], [-1.0], [1.0], [2.0]]), "b": np.array([[-1.0], [-3.0], [2.0], [1.0]])}
    >>> model = CoEMClassifier().fit(views, ["no", None, None, "yes"])
    >>> model.transduction_.tolist(), model.converged_
    (['no', 'no', 'yes', 'yes'], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": "no_validation",
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "schedule": [StrOptions({"sequential", "parallel"})],
        "unlabeled_weight": [Interval(Real, 0, None, closed="left")],
        "combine": [StrOptions({"product", "mean"})],
        "no_view": [StrOptions({"raise", "prior"})],
        "view_columns": [dict, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        max_iter: int = 50,
        tol: float = 1e-3,
        schedule: str = "sequential",
        unlabeled_weight: float = 1.0,
        combine: str = "product",
        no_view: str = "raise",
        classes: Any = None,
        missing_label: Any = "auto",
        view_columns: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.max_iter = max_iter
        self.tol = tol
        self.schedule = schedule
        self.unlabeled_weight = unlabeled_weight
        self.combine = combine
        self.no_view = no_view
        self.classes = classes
        self.missing_label = missing_label
        self.view_columns = view_columns
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to views and labels.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Classes; NaN, None (or ``missing_label``) where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : CoEMClassifier

        Raises
        ------
        ValueError
            If fewer than two classes have labels, or an estimator states no probabilities or takes no weights.
        ViewError
            If a sample has no usable view and ``no_view="raise"``.

        Warns
        -----
        ConvergenceWarning
            If the last pass changed a probability by more than ``tol``.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=2
        )
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        if np.count_nonzero(counts) < 2:
            raise ValueError(f"Co-EM needs labels of at least two classes; got one class among {counts.sum()} labels.")
        passes = CoEMPasses(
            self._templates(views.names),
            views,
            codes,
            self.classes_,
            schedule=self.schedule,
            combine=self.combine,
            unlabeled_weight=float(self.unlabeled_weight),
        )
        self.changes_ = self._run(passes)
        self.n_iter_ = len(self.changes_)
        self._store_learners(passes.learners, counts / counts.sum())
        self._check_answerable(views, None, "Drop these samples, or set no_view='prior'.")
        self._store_distributions(views)
        return self

    def _run(self, passes: CoEMPasses) -> NDArray[np.float64]:
        """Passes until nothing changes; the largest change of each."""
        changes: list[float] = []
        while len(changes) < self.max_iter and not (changes and changes[-1] <= self.tol):
            changes.append(passes.sweep())
        self.converged_ = bool(changes) and changes[-1] <= self.tol
        if changes and not self.converged_:
            warnings.warn(
                f"CoEMClassifier stopped after max_iter={self.max_iter} passes; the last one changed a probability by "
                f"{changes[-1]:.2g}, more than tol={self.tol}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return np.array(changes)
