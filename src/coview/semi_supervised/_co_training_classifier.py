"""Co-training: classifiers of different views label samples for each other."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, StrOptions
from coview.labels import encode_labels
from coview.semi_supervised._co_training_rounds import ClassRounds, LabelingHistory, Rules
from coview.views import Views
from coview.viewwise import ViewwiseClassifier, class_margins, fitted_learner, has_probabilities, scores_of

__all__ = ["CoTrainingClassifier"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

# Beyond this share of a view's rows, picking them out costs more than scoring them all.
_NEARLY_ALL = 0.8


class CoTrainingClassifier(ViewwiseClassifier):
    r"""Co-training with any scikit-learn classifier: the views label samples for each other.

    In every round the estimator of each view, fitted to the labels it has, labels the samples of the pool of which it is
    most certain; all of these join the training set together. Labels are never revised. It gains where each view alone
    could tell the classes and where views err independently; it can lose where they do not.

    Parameters
    ----------
    estimators : estimator, list or dict, default=None
        One for all views (copied), one per view in their order, or by name. Any classifier with ``predict_proba`` or
        ``decision_function``; None for logistic regression.
    n_positive, n_negative : int, default=None
        With two classes, how many samples a view labels in a round as ``classes_[1]`` and as ``classes_[0]``. None: in
        proportion to the given labels, 1 for the rarer class.
    n_per_class : int, dict or array-like of shape (n_classes,), default=None
        The same for any number of classes; a dict goes by label. None: in proportion to the given labels.
    n_rounds : int, default=30
        Most rounds.
    pool_size : int, default=None
        Unlabeled samples looked at in a round, drawn at random and filled up after each; None for all.
    sharing : {"shared", "cross"}, default="shared"
        Whether a sample joins the labeled sets of all views, or only of those that did not ask for it.
    conflict : {"confident", "skip"}, default="confident"
        Where views want different labels: the higher score decides, equal ones leave the sample unlabeled; or always
        unlabeled.
    threshold : float, default=0.0
        Least score of a nomination, exclusive.
    combine : {"product", "mean"}, default="product"
        How probabilities of views make one.
    validation_fraction : float, default=0.0
        Share of the given labels of each class that is kept aside to stop early: rounds after the last one with the best
        accuracy there are taken back. The final fit uses these labels, too.
    patience : int, default=5
        Rounds without a better accuracy on the part kept aside after which to stop.
    no_view : {"raise", "prior"}, default="raise"
        Whether samples without a usable view are an error, or get the shares of the given labels as probabilities.
    classes : list, default=None
        All classes, where some have no label yet.
    missing_label : object, default="auto"
        What marks an unlabeled sample besides NaN and None; "auto" reads -1 so in integer labels.
    view_columns : dict, default=None
        View name to columns, where X is one table.
    random_state : int, RandomState instance or None, default=None
        Seed of the pool, of the part kept aside, and of estimators that have no seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : dict of str to estimator
        Fitted estimators by view; a view where only one class ever got labels has none and says nothing.
    labeling_history_ : DataFrame
        Labels given: ``round`` (from 1), ``view``, ``sample`` (position), ``label``, ``confidence`` (score).
    n_rounds_ : int
        Rounds that gave labels.
    stop_reason_ : {"n_rounds", "all_labeled", "not_confident", "contradictions", "validation"}
        Why there were no more.
    n_per_class_ : ndarray of shape (n_classes,)
        Most nominations of a view for each class in a round.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.
    transduction_ : ndarray of shape (n_samples,)
        Most probable classes of the training samples.

    Notes
    -----
    Table 1 of [1]_ (there: 1 and 3 samples, a pool of 75, 30 rounds); ``sharing="cross"`` is section 6.1 of [2]_. The score
    of a class is its log odds, or the decision function of an estimator that has one: probabilities saturate, and equal ones
    could not be ranked. With more than two classes it is how far the log probability is ahead of the best other class. Among
    equal scores the first samples come first. Scores of different views are compared in conflicts: let the estimators be of
    one kind. All views score the pool before any label of the round is given. An estimator without probabilities gets
    them by Platt's sigmoid, on the given labels. A class without label in a view keeps there its share of all labels. The
    cost is that of ``n_rounds`` fits per view, plus predictions for the pool.

    References
    ----------
    .. [1] A. Blum, T. Mitchell, "Combining labeled and unlabeled data with co-training", COLT 1998.
    .. [2] S. Yu, B. Krishnapuram, R. Rosales, R. B. Rao, "Bayesian co-training", JMLR 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.semi_supervised import CoTrainingClassifier
    >>> views = {"a": np.array([[-2.0], [-1.0], [1.0], [2.0]]), "b": np.array([[-1.0], [-3.0], [2.0], [1.0]])}
    >>> model = CoTrainingClassifier().fit(views, ["no", None, None, "yes"])
    >>> model.transduction_.tolist(), len(model.labeling_history_), model.stop_reason_
    (['no', 'no', 'yes', 'yes'], 4, 'all_labeled')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": "no_validation",
        "n_positive": [Interval(Integral, 0, None, closed="left"), None],
        "n_negative": [Interval(Integral, 0, None, closed="left"), None],
        "n_per_class": [Interval(Integral, 0, None, closed="left"), dict, "array-like", None],
        "n_rounds": [Interval(Integral, 0, None, closed="left")],
        "pool_size": [Interval(Integral, 1, None, closed="left"), None],
        "sharing": [StrOptions({"shared", "cross"})],
        "conflict": [StrOptions({"confident", "skip"})],
        "threshold": [Interval(Real, 0, None, closed="left")],
        "combine": [StrOptions({"product", "mean"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "no_view": [StrOptions({"raise", "prior"})],
        "view_columns": [dict, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        n_positive: int | None = None,
        n_negative: int | None = None,
        n_per_class: Any = None,
        n_rounds: int = 30,
        pool_size: int | None = None,
        sharing: str = "shared",
        conflict: str = "confident",
        threshold: float = 0.0,
        combine: str = "product",
        validation_fraction: float = 0.0,
        patience: int = 5,
        no_view: str = "raise",
        classes: Any = None,
        missing_label: Any = "auto",
        view_columns: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.n_positive = n_positive
        self.n_negative = n_negative
        self.n_per_class = n_per_class
        self.n_rounds = n_rounds
        self.pool_size = pool_size
        self.sharing = sharing
        self.conflict = conflict
        self.threshold = threshold
        self.combine = combine
        self.validation_fraction = validation_fraction
        self.patience = patience
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
        self : CoTrainingClassifier

        Raises
        ------
        ValueError
            If fewer than two classes have labels, an estimator has neither probabilities nor a decision function, counts
            do not fit the classes, or no class has a label to keep aside.
        ViewError
            If a sample has no usable view and ``no_view="raise"``.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=2
        )
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        if np.count_nonzero(counts) < 2:
            raise ValueError(
                f"Co-training needs labels of at least two classes; got one class among {counts.sum()} labels."
            )
        if self.sharing == "cross" and views.n_views < 2:
            raise ValueError(
                "sharing='cross' needs two views, since nobody labels for a single one. Use sharing='shared'."
            )
        self._shares = counts / counts.sum()
        rng = check_random_state(self.random_state)
        learners = _Learners(self, views, self._templates(views.names))
        shown = self._kept_aside(codes, rng)
        order = np.flatnonzero((codes < 0) & views.presence.any(axis=1))
        if self.pool_size is not None:
            order = rng.permutation(order)
        self.n_per_class_ = self._growth(counts)
        rules = Rules(
            self.n_per_class_,
            threshold=float(self.threshold),
            cross=self.sharing == "cross",
            skip_conflicts=self.conflict == "skip",
            n_rounds=self.n_rounds,
            pool_size=self.pool_size,
        )
        training = ClassRounds(learners.scores, np.asarray(views.presence), shown, order, rules)
        aside = np.flatnonzero((codes >= 0) & (shown < 0))
        held, truth = views[aside], codes[aside]

        def accuracy() -> float:
            self._store_learners(learners.fitted(training.labels), self._shares)
            return float((self._best(held, None) == truth).mean())

        training.run(accuracy if aside.size else None, self.patience)
        self._finish(training, learners, views, codes)
        return self

    def _growth(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Nominations per class: as asked for, otherwise in proportion to the labels, 1 for the rarest class that has any."""
        n_classes = len(self.classes_)
        growth = np.where(counts > 0, np.rint(counts / counts[counts > 0].min()), 0).astype(np.int64)
        if self.n_per_class is not None:
            if self.n_positive is not None or self.n_negative is not None:
                raise ValueError("Give n_per_class, or n_positive and n_negative, not both.")
            return self._growth_per_class(n_classes)
        if (self.n_positive is not None or self.n_negative is not None) and n_classes != 2:
            raise ValueError(f"n_positive and n_negative are for two classes; y has {n_classes}. Use n_per_class.")
        for code, given in ((1, self.n_positive), (0, self.n_negative)):
            if given is not None:
                growth[code] = given
        return growth

    def _growth_per_class(self, n_classes: int) -> NDArray[np.int64]:
        given = self.n_per_class
        if isinstance(given, dict):
            labels = self.classes_.tolist()
            if set(given) != set(labels):
                raise ValueError(f"n_per_class must have an entry for each class {labels}; got {list(given)}.")
            given = [given[label] for label in labels]
        growth = np.asarray(given)
        fits = growth.ndim == 0 or growth.shape == (n_classes,)
        if not fits or growth.dtype.kind not in "iu" or (growth < 0).any():
            raise ValueError(
                f"n_per_class must be a whole number, or one for each of the {n_classes} classes; got {given!r}."
            )
        return np.broadcast_to(growth, (n_classes,)).astype(np.int64)

    def _kept_aside(self, codes: Codes, rng: np.random.RandomState) -> Codes:
        """The labels without those kept aside; of each class at least one is shown."""
        shown = codes.copy()
        for code in np.unique(codes[codes >= 0]) if self.validation_fraction > 0.0 else ():
            rows = np.flatnonzero(codes == code)
            n_aside = min(int(np.ceil(self.validation_fraction * rows.size)), rows.size - 1)
            shown[rng.permutation(rows)[:n_aside]] = -1
        if self.validation_fraction > 0.0 and (shown == codes).all():
            raise ValueError(
                f"validation_fraction={self.validation_fraction} keeps no label aside, since each class has only one. "
                "Label more samples, or set validation_fraction=0."
            )
        return shown

    def _finish(self, training: ClassRounds, learners: _Learners, views: Views, codes: Codes) -> None:
        """The last fits, and what is kept of the rounds."""
        training.labels[:] = np.where(views.presence.T & (codes >= 0), codes, training.labels)
        self._store_learners(learners.fitted(training.labels), self._shares)
        self._calibrate(views, codes)
        self.n_rounds_, self.stop_reason_ = training.n_rounds, training.stop_reason
        history = training.history
        self._history_numbers = np.column_stack([history.rounds, history.views, history.samples, history.labels])
        self._history_confidences = history.confidences
        self._check_answerable(views, None, "Drop these samples, or set no_view='prior'.")
        self._store_distributions(views)

    @property
    def labeling_history_(self) -> pd.DataFrame:
        """Labels given: round (from 1), view, sample (position), label, confidence."""
        check_is_fitted(self, "n_rounds_")
        rounds, views, samples, codes = self._history_numbers.T
        history = LabelingHistory(rounds, views, samples, codes, self._history_confidences)
        return history.table(self.view_names_, self.classes_[codes])


class _Learners:
    """Fits of the views' estimators to labels; none is made twice."""

    def __init__(self, owner: CoTrainingClassifier, views: Views, templates: Any) -> None:
        self._classes, self._shares = owner.classes_, owner._shares
        self._views, self._templates = views, templates
        self._position = [_inverse(views.rows(name), len(views)) for name in views.names]
        self._kept: dict[str, tuple[Codes, Any]] = {}
        for name, template in templates.items():
            if not (has_probabilities(template) or hasattr(template, "decision_function")):
                raise ValueError(
                    f"The estimator of view {name!r}, {type(template).__name__}, has neither predict_proba nor "
                    "decision_function, so nothing says how sure it is. Use one that has, or wrap it in CalibratedClassifierCV."
                )

    def learner(self, view: int, codes: Codes) -> tuple[Any, Codes] | None:
        """The fitted estimator with the classes it has seen; None where these are fewer than two."""
        name = self._views.names[view]
        here = codes[self._views.rows(name)]
        if name in self._kept and np.array_equal(self._kept[name][0], here):
            return self._kept[name][1]  # type: ignore[no-any-return]
        fitted = fitted_learner(self._templates[name], self._views[name], here, self._classes)
        self._kept[name] = (here.copy(), fitted)
        return fitted

    def scores(self, view: int, codes: Codes, rows: NDArray[np.intp]) -> Array | None:
        """Scores of candidates that have the view; minus infinity for classes it has never seen."""
        found = self.learner(view, codes)
        if found is None:
            return None
        estimator, known = found
        block, at = self._views[self._views.names[view]], self._position[view][rows]
        if rows.size > _NEARLY_ALL * block.shape[0]:
            told = scores_of(estimator, block, known, self._shares)[at]
        else:
            told = scores_of(estimator, block[at], known, self._shares)
        scores = class_margins(told)
        scores[:, np.setdiff1d(np.arange(scores.shape[1]), known)] = -np.inf
        return scores

    def fitted(self, labels: Codes) -> dict[str, tuple[Any, Codes]]:
        """Fitted estimators of the views that can have one."""
        found = {name: self.learner(view, labels[view]) for view, name in enumerate(self._views.names)}
        return {name: learner for name, learner in found.items() if learner is not None}


def _inverse(rows: NDArray[np.intp], n_samples: int) -> NDArray[np.intp]:
    """Where in a block each sample stands."""
    position = np.full(n_samples, -1, dtype=np.intp)
    position[rows] = np.arange(rows.size)
    return position
