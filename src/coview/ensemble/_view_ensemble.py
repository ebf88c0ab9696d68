"""One classifier for each of many unions of views, some chosen, their answers put together."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, LabeledClassifierMixin, MultiViewEstimator, StrOptions, check_answerable
from coview.ensemble._ensemble import OF_PROBABILITIES, OF_THE_PAST, RULES, Ensemble
from coview.ensemble._members import LeftOut, Member, error_of_codes, fit_members, leave_out, seeded_by_subset
from coview.ensemble._selection import forward_selection, least_errors
from coview.ensemble._subsets import candidate_subsets, union_of_views
from coview.labels import encode_labels
from coview.views import Views, some
from coview.viewwise import has_probabilities

__all__ = ["ViewEnsembleClassifier"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

_SUBSETS_CHOSEN = 3


class ViewEnsembleClassifier(LabeledClassifierMixin, MultiViewEstimator):
    r"""A classifier for each union of views, some of them chosen by what they say of left-out samples, and a vote.

    Views that go well together need not be the ones that are good alone. Of F views there are :math:`2^F - 1` unions; each gets a
    copy of one classifier. Samples without a label are not used.

    Parameters
    ----------
    estimator : estimator, default=None
        Any classifier; None for logistic regression. Nearest neighbors of a union of views need features of one scale: see
        :class:`coview.compose.ViewTransformer`.
    selection : {"cv", "forward", "random"} or None, default="cv"
        The subsets of least cross-validated error; subsets added one by one to the best one as long as the error of the whole
        falls; any; all.
    combination : str, default="majority"
        "majority"; "weighted", by cross-validated errors. "soft", "product", "modified_product": mean or product of
        probabilities. "local_accuracy": the members that are most often right near the sample. "result_vector": the classes of
        the training samples of which the members said most nearly the same.
    n_views_selected : int, default=None
        Subsets to choose, at most; None for three, or as many as help for "forward".
    max_cv_difference : float, default=None
        For "cv": no subset whose error is larger than the least one by more than this; all others, if ``n_views_selected`` is
        None.
    subsets : list of tuple of str, default=None
        The subsets to choose from; None for all.
    max_subsets : int, default=None
        The first so many, small ones first; None for 255, with a warning where there are more.
    cv : {"auto", "leave_one_out"} or int, default="auto"
        How samples are left out: one by one, or in so many folds. "auto" is one by one for an estimator that does it by itself
        (that has ``loo_labels_`` after a fit); for others ten folds, or as many as the most frequent class has labels.
    n_neighbors : int, default=10
        For "local_accuracy": near training samples, in the views of each member.
    threshold : float, default=0.01
        For "modified_product": lower probabilities count as this.
    no_view : {"raise", "prior"}, default="raise"
        Whether samples without a usable view are an error, or get the shares of the labels as probabilities.
    classes : list, default=None
        All classes, where some have no label yet.
    missing_label : object, default="auto"
        What marks an unlabeled sample besides NaN and None; "auto" reads -1 so in integer labels.
    view_columns : dict, default=None
        View name to columns, where X is one table.
    n_jobs : int, default=None
        Subsets at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, of random choices, and of an estimator that has none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    candidates_ : list of tuple of str
        Subsets that were to choose from: those with labels of two classes.
    cv_errors_ : ndarray of shape (n_candidates,) or None
        Share of wrong answers about left-out samples; None where nothing asks for them.
    out_of_fold_labels_ : ndarray of shape (n_samples, n_candidates) or None
        These answers, None where a subset cannot judge a sample or the sample has no label.
    subsets_ : list of tuple of str
        The chosen ones, in the order of their choice.
    estimators_ : list of estimator
        Fitted, of the chosen subsets.
    selection_errors_ : list of float
        For "forward": the error of the ensemble after each subset; otherwise empty.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples.

    Warns
    -----
    UserWarning
        If there are more than 255 subsets and no limit was given.

    See Also
    --------
    ViewVotingClassifier : One classifier per view.

    Notes
    -----
    Okun and Priisalu, "Multiple Views in Ensembles of Nearest Neighbor Classifiers" (Workshop on Learning with Multiple Views,
    2005), who combine by result vectors; of answers about left-out samples, here. These need classes that are confused in the
    same way again and again, and many labels; otherwise a vote is better.

    A sample is judged by the chosen subsets of which it has all views; where there is none, by single
    views, with the same rule for probabilities and otherwise by majority. For errors, a left-out sample that nobody can judge
    counts as a member of the most frequent class, so errors of all subsets are about the same samples. Of equal errors the
    first subset wins, of equal votes the first class.

    Without a validation set, "forward" judges by the left-out answers themselves, where no sample may vote for itself. The error
    it reaches is that of a best of many: it is not an estimate for new samples.

    The cost is one fit per subset, and if samples are left out one more per fold. "result_vector" takes
    O(n_new n_labeled n_subsets) for new samples; each step of "forward" tries every subset left.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.ensemble import ViewEnsembleClassifier
    >>> from coview.neighbors import HyperplaneKNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> views = {name: rng.normal(size=(60, 2)) + y[:, None] * size for name, size in [("a", 2.0), ("b", 1.0), ("c", 0.0)]}
    >>> model = ViewEnsembleClassifier(HyperplaneKNeighborsClassifier(), selection="forward").fit(views, y)
    >>> model.subsets_[0]
    ('a',)
    >>> model.predict({"b": np.array([[2.0, 2.0]])})
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "selection": [StrOptions({"cv", "forward", "random"}), None],
        "combination": [StrOptions(set(RULES))],
        "n_views_selected": [Interval(Integral, 1, None, closed="left"), None],
        "max_cv_difference": [Interval(Real, 0, 1, closed="both"), None],
        "subsets": ["array-like", list, tuple, None],
        "max_subsets": [Interval(Integral, 1, None, closed="left"), None],
        "cv": [StrOptions({"auto", "leave_one_out"}), Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "no_view": [StrOptions({"raise", "prior"})],
        "view_columns": [dict, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        selection: str | None = "cv",
        combination: str = "majority",
        n_views_selected: int | None = None,
        max_cv_difference: float | None = None,
        subsets: Any = None,
        max_subsets: int | None = None,
        cv: Any = "auto",
        n_neighbors: int = 10,
        threshold: float = 0.01,
        no_view: str = "raise",
        classes: Any = None,
        missing_label: Any = "auto",
        view_columns: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.selection = selection
        self.combination = combination
        self.n_views_selected = n_views_selected
        self.max_cv_difference = max_cv_difference
        self.subsets = subsets
        self.max_subsets = max_subsets
        self.cv = cv
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.no_view = no_view
        self.classes = classes
        self.missing_label = missing_label
        self.view_columns = view_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, validation: tuple[Any, Any] | None = None) -> Self:
        """Fit a classifier to each subset of the views, and choose.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Classes; NaN, None (or ``missing_label``) where unlabeled. A Series is matched by sample id.
        validation : tuple of (X, y), default=None
            For "forward": samples to choose by, which the classifiers do not see; None for the left-out training samples.

        Returns
        -------
        self : ViewEnsembleClassifier

        Raises
        ------
        ValueError
            If fewer than two classes have labels, if the combination needs probabilities that the estimator cannot give, or if
            ``validation`` is given and nothing is chosen by it.
        ViewError
            If a sample has no usable view and ``no_view="raise"``, or ``subsets`` names other views.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=2
        )
        self._check(codes, validation)
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        self._shares = counts / counts.sum()
        members, singles = self._fit_members(views, codes)
        self.candidates_ = [member.subset for member in members]
        left_out = self._leave_out(views, codes, members)
        everybody = self._ensemble_of(members, left_out, views, codes)
        chosen = everybody.of(self._choose(everybody, left_out, codes, validation))
        # Without a second label of any class, fits that leave a sample out cannot name its class: they teach nothing.
        self._ensemble = chosen if counts.max() > 1 else chosen.without_past(chosen.members)
        self._spares = everybody.without_past([single for single in singles if single.subset not in self.subsets_])
        self._check_answerable(views, "Drop these samples, or set no_view='prior'.")
        self.label_distributions_ = self._probabilities(views)
        return self

    @property
    def subsets_(self) -> list[tuple[str, ...]]:
        """The chosen subsets."""
        check_is_fitted(self, "candidates_")
        return [member.subset for member in self._ensemble.members]

    @property
    def estimators_(self) -> list[Any]:
        """The fitted estimators of the chosen subsets."""
        check_is_fitted(self, "candidates_")
        return [member.estimator for member in self._ensemble.members]

    @property
    def transduction_(self) -> NDArray[Any]:
        """Most probable class of every training sample (n_samples,)."""
        check_is_fitted(self, "label_distributions_")
        return np.asarray(self.classes_[self.label_distributions_.argmax(axis=1)])

    def _check(self, codes: Codes, validation: Any) -> None:
        if np.unique(codes[codes >= 0]).size < 2:
            raise ValueError(
                "An ensemble of views needs labels of at least two classes; got one class among "
                f"{int((codes >= 0).sum())} labels."
            )
        if validation is not None and self.selection != "forward":
            raise ValueError(f"validation is what selection='forward' chooses by; selection is {self.selection!r}.")
        template = self._template()
        able = has_probabilities(template) or hasattr(template, "decision_function")
        if self._needs_probabilities and not able:
            raise ValueError(
                f"combination={self.combination!r} needs probabilities, and {type(template).__name__} has neither "
                "predict_proba nor decision_function. Combine labels, say by 'majority'."
            )

    def _template(self) -> Any:
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    @property
    def _needs_probabilities(self) -> bool:
        return self.combination in OF_PROBABILITIES

    def _fit_members(self, views: Views, codes: Codes) -> tuple[list[Member], list[Member]]:
        """Members of the candidates, and those of single views."""
        candidates = candidate_subsets(views.names, self.subsets, self.max_subsets)
        if self.selection == "random":  # chosen before anything is fitted
            rng = check_random_state(self.random_state)
            n_chosen = min(self.n_views_selected or _SUBSETS_CHOSEN, len(candidates))
            candidates = [candidates[m] for m in sorted(rng.choice(len(candidates), n_chosen, replace=False))]
        further = [(name,) for name in views.names if (name,) not in candidates]
        able = fit_members(
            seeded_by_subset(self._template(), [*candidates, *further], self.random_state),
            views,
            codes,
            self.classes_,
            probabilities=self._needs_probabilities,
            n_jobs=self.n_jobs,
        )
        members = [member for member in able if member.subset in candidates]
        if not members:
            raise ValueError(
                f"None of the subsets of views has labeled samples of two classes: {some(candidates)}. Give more labels, or "
                "subsets of fewer views."
            )
        return members, [member for member in able if len(member.subset) == 1]

    def _leave_out(self, views: Views, codes: Codes, members: list[Member]) -> LeftOut:
        """What members say of samples that they have not seen; nothing where nobody asks. Sets ``cv_errors_``."""
        self.cv_errors_, self.out_of_fold_labels_ = None, None
        if self.selection not in ("cv", "forward") and self.combination not in OF_THE_PAST:
            nothing = np.full((len(views), len(members)), -1, dtype=np.int64)
            return LeftOut(nothing, np.empty((0, len(members), len(self.classes_))))
        found = leave_out(
            members,
            views,
            codes,
            self.cv,
            self.random_state,
            classes=self.classes_,
            shares=self._shares,
            probabilities=self._needs_probabilities and self.selection == "forward",
            n_jobs=self.n_jobs,
        )
        self.cv_errors_ = np.array([error_of_codes(column, codes, self._shares) for column in found.codes.T])
        self.out_of_fold_labels_ = self._labels(found.codes)
        return found

    def _labels(self, codes: Codes) -> NDArray[Any]:
        """Labels, None for -1."""
        labels = np.full(codes.shape, None, dtype=object)
        labels[codes >= 0] = self.classes_[codes[codes >= 0]]
        return labels

    def _ensemble_of(self, members: list[Member], left_out: LeftOut, views: Views, codes: Codes) -> Ensemble:
        """All members with what is remembered of the labeled samples."""
        labeled = np.flatnonzero(codes >= 0)
        return Ensemble(
            members,
            self.combination,
            self.classes_,
            self._shares,
            float(self.threshold),
            int(self.n_neighbors),
            left_out.codes[labeled],
            codes[labeled],
            views[labeled] if self.combination == "local_accuracy" else None,
        )

    def _choose(self, everybody: Ensemble, left_out: LeftOut, codes: Codes, validation: Any) -> list[int]:
        """Numbers of the chosen candidates. Sets ``selection_errors_``."""
        self.selection_errors_: list[float] = []
        if self.selection not in ("cv", "forward"):
            return list(range(len(everybody.members)))
        errors = np.asarray(self.cv_errors_)
        if self.selection == "cv":
            limit = self.n_views_selected
            if limit is None and self.max_cv_difference is None:
                limit = _SUBSETS_CHOSEN
            return least_errors(errors, limit, self.max_cv_difference)
        if validation is None:
            told = left_out.probabilities[codes >= 0] if self._needs_probabilities else left_out.probabilities
            answers, target = everybody.answers_left_out(told), everybody.target
        else:
            new, target = self._read_validation(validation)
            answers = everybody.answers(new, self.n_jobs)

        chosen, self.selection_errors_ = forward_selection(
            int(errors.argmin()),
            len(errors),
            self.n_views_selected,
            lambda few: everybody.of(few).error(answers.of(few), target, without_self=validation is None),
        )
        return chosen

    def _read_validation(self, validation: tuple[Any, Any]) -> tuple[Views, Codes]:
        """Samples to choose by that have a label, and what they are."""
        views, target = self._validate_views_target(*validation, reset=False)
        _, codes = encode_labels(target, missing_label=self.missing_label, classes=self.classes_)
        labeled = np.flatnonzero(codes >= 0)
        if not labeled.size:
            raise ValueError("validation has no labeled sample to choose by. Give some, or leave it out.")
        return views[labeled], codes[labeled]

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class for new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            For combinations of labels the shares of the votes, which nothing calibrates.
        """
        return self._probabilities(self._new_views(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        best = self._probabilities(self._new_views(X)).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_per_subset(self, X: Any) -> NDArray[Any]:
        """What each chosen member says of new samples.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        labels : ndarray of shape (n_samples, n_subsets), dtype=object
            None where a sample lacks a view of the subset.
        """
        return self._labels(self._ensemble.answers(self._new_views(X), self.n_jobs).codes)

    def _new_views(self, X: Any) -> Views:
        check_is_fitted(self, "label_distributions_")
        views = self._validate_views(X, reset=False)
        self._check_answerable(views, "Give them one, or fit with no_view='prior'.")
        return views

    def _check_answerable(self, views: Views, remedy: str) -> None:
        """Every sample has all views of a member, unless the prior may answer."""
        able = np.zeros(len(views), dtype=bool)
        for member in [*self._ensemble.members, *self._spares.members]:
            able[union_of_views(views, member.subset)[0]] = True
        check_answerable(able, views, self.no_view, remedy)

    def _probabilities(self, views: Views) -> Array:
        """What the ensemble says; single views where it cannot judge; shares of the labels where they cannot either."""
        found = self._ensemble.class_shares(self._ensemble.answers(views, self.n_jobs))
        for source in (self._spares, None):
            silent = np.flatnonzero(~found.any(axis=1))
            if not silent.size:
                break
            if source is None:
                found[silent] = self._shares
            elif source.members:
                found[silent] = source.class_shares(source.answers(views[silent], self.n_jobs))
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = bool(get_tags(self._template()).input_tags.sparse)
        return tags
