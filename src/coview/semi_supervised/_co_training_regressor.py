"""Co-training of regressors: views give each other numbers for samples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, StrOptions
from coview.labels import encode_targets
from coview.semi_supervised._co_training_numbers import NumberLearners
from coview.semi_supervised._co_training_rounds import LabelingHistory, NumberRounds, Rules
from coview.views import Views
from coview.viewwise import ViewwiseRegressor, regressors_by_view, seeded

__all__ = ["CoTrainingRegressor"]

Array = NDArray[np.float64]

_NEIGHBORS = 3


class CoTrainingRegressor(ViewwiseRegressor):
    r"""Co-training with any scikit-learn regressor: the views give each other numbers for samples.

    In every round the regressor of each view, fitted to the labels it has, gives its prediction as a label to the samples of
    the pool of which it is most certain; the others learn from them. Labels are never revised.

    Parameters
    ----------
    estimators : estimator, list or dict, default=None
        One for all views (copied), one per view in their order, or by name; None for the mean of the 3 nearest neighbors
        (of all where a view has fewer labels).
    n_per_round : int, default=1
        Most samples that a view labels in a round.
    n_rounds : int, default=30
        Most rounds.
    pool_size : int, default=100
        Unlabeled samples looked at in a round, drawn at random and filled up after each; None for all.
    sharing : {"cross", "shared"}, default="cross"
        Whether a sample joins the labeled sets of the views that did not ask for it, or of all.
    confidence : {"neighbors", "committee"}, default="neighbors"
        What makes a regressor certain: that labels nearby are met better once it has learned its own prediction, in squared
        units of y; or that copies fitted to drawn labels agree, as 1 less their variance over that of the given labels.
    n_neighbors : int, default=3
        Labels nearby that "neighbors" looks at.
    n_members : int, default=10
        Copies in a "committee".
    threshold : float, default=0.0
        Least confidence of a label, exclusive.
    validation_fraction : float, default=0.0
        Share of the given labels that is kept aside to stop early: rounds after the last one with the least squared error
        there are taken back. The final fit uses these labels, too.
    patience : int, default=5
        Rounds without a smaller error on the part kept aside after which to stop.
    no_view : {"raise", "prior"}, default="raise"
        Whether samples without a usable view are an error, or get the mean of the given labels.
    view_columns : dict, default=None
        View name to columns, where X is one table.
    random_state : int, RandomState instance or None, default=None
        Seed of the pool, of committees, of the part kept aside, and of regressors that have no seed.

    Attributes
    ----------
    estimators_ : dict of str to estimator
        Fitted regressors by view; a view that never got a label has none and says nothing.
    labeling_history_ : DataFrame
        Labels given: ``round`` (from 1), ``view``, ``sample`` (position), ``label``, ``confidence``.
    n_rounds_ : int
        Rounds that gave labels.
    stop_reason_ : {"n_rounds", "all_labeled", "not_confident", "validation"}
        Why there were no more.
    transduction_ : ndarray of shape (n_samples,)
        Predictions for the training samples.

    Notes
    -----
    COREG of [1]_ (there: two regressors of nearest neighbors, a pool of 100, 100 rounds) with any regressors and views. A view
    labels the samples u with the largest

    .. math:: \Delta_u = \sum_{i \in \Omega_u} (y_i - h(x_i))^2 - (y_i - h'(x_i))^2,

    where h is its regressor, :math:`\Omega_u` are the labeled samples nearest to u and h' has learned the sample with the
    label :math:`h(x_u)` as well: table 1 there. Regressors that know neighbors are asked for theirs; else distances are
    Euclidean. Whatever minimizes squared errors and a penalty (least squares, ridge, kernel ridge, a Gaussian process) is
    not moved by its own predictions, so that it is never certain of one; a committee suits it, whose variance is the
    ambiguity of [2]_. Of a sample that several views want, the most certain one labels it (in [1]_ the first). Predictions
    are means over the views that a sample has. The cost is that of ``n_rounds`` fits per view, and, beside each, of one fit
    per sample of the pool ("neighbors") or per member ("committee").

    References
    ----------
    .. [1] Z.-H. Zhou, M. Li, "Semi-supervised regression with co-training", IJCAI 2005.
    .. [2] A. Krogh, J. Vedelsby, "Neural network ensembles, cross validation, and active learning", NIPS 1994.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.semi_supervised import CoTrainingRegressor
    >>> x = np.linspace(0.0, 3.0, 31)
    >>> y = np.where(np.arange(31) % 6 == 0, x, np.nan)
    >>> model = CoTrainingRegressor(random_state=0).fit({"a": x[:, None], "b": np.exp(x)[:, None]}, y)
    >>> model.predict({"a": [[1.5]]}).round(1).tolist(), model.labeling_history_["view"].nunique()
    ([1.4], 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": "no_validation",
        "n_per_round": [Interval(Integral, 1, None, closed="left")],
        "n_rounds": [Interval(Integral, 0, None, closed="left")],
        "pool_size": [Interval(Integral, 1, None, closed="left"), None],
        "sharing": [StrOptions({"cross", "shared"})],
        "confidence": [StrOptions({"neighbors", "committee"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_members": [Interval(Integral, 2, None, closed="left")],
        "threshold": [Interval(Real, 0, None, closed="left")],
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
        n_per_round: int = 1,
        n_rounds: int = 30,
        pool_size: int | None = 100,
        sharing: str = "cross",
        confidence: str = "neighbors",
        n_neighbors: int = 3,
        n_members: int = 10,
        threshold: float = 0.0,
        validation_fraction: float = 0.0,
        patience: int = 5,
        no_view: str = "raise",
        view_columns: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.n_per_round = n_per_round
        self.n_rounds = n_rounds
        self.pool_size = pool_size
        self.sharing = sharing
        self.confidence = confidence
        self.n_neighbors = n_neighbors
        self.n_members = n_members
        self.threshold = threshold
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.no_view = no_view
        self.view_columns = view_columns
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to views and numbers.

        Parameters
        ----------
        X : Views or anything that Views takes
        y : array-like of shape (n_samples,)
            Numbers; NaN or None where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : CoTrainingRegressor

        Raises
        ------
        ValueError
            If no sample has a label, an estimator is no regressor, or there are too few labels to keep some aside.
        ViewError
            If a sample has no usable view and ``no_view="raise"``.
        """
        self._validate_params()
        views, target = self._validate_views_target(X, y, reset=True)
        numbers = encode_targets(target)
        given = ~np.isnan(numbers)
        self._mean = float(numbers[given].mean())
        rng = check_random_state(self.random_state)
        learners = NumberLearners(
            seeded(self._checked_templates(views, given), self.random_state),
            views,
            n_neighbors=self.n_neighbors,
            members=self.n_members if self.confidence == "committee" else 0,
            spread=float(numbers[given].var()),
            seeds=rng.randint(np.iinfo(np.int32).max, size=views.n_views),
        )
        aside = self._kept_aside(given, rng)
        order = np.flatnonzero(~given & views.presence.any(axis=1))
        if self.pool_size is not None:
            order = rng.permutation(order)
        rules = Rules(
            np.array([self.n_per_round]),
            threshold=float(self.threshold),
            cross=self.sharing == "cross",
            n_rounds=self.n_rounds,
            pool_size=self.pool_size,
        )
        shown = np.where(np.isin(np.arange(len(views)), aside), np.nan, numbers)
        training = NumberRounds(learners.judge, np.asarray(views.presence), shown, order, rules)
        held, truth = views[aside], numbers[aside]

        def quality() -> float:
            self.estimators_ = learners.fitted(training.labels)
            return -float(((self._combined(held, None) - truth) ** 2).mean())

        training.run(quality if aside.size else None, self.patience)
        training.labels[:] = np.where(views.presence.T & given, numbers, training.labels)
        self.estimators_ = learners.fitted(training.labels)
        self._finish(training, views)
        return self

    def _checked_templates(self, views: Views, given: NDArray[np.bool_]) -> dict[str, Any]:
        """The regressor of each view."""
        counts = {name: int(given[views.rows(name)].sum()) for name in views.names}
        usual = {
            name: KNeighborsRegressor(min(_NEIGHBORS, max(count, 1)), algorithm="brute")
            for name, count in counts.items()
        }
        return regressors_by_view(usual if self.estimators is None else self.estimators, views.names, None)

    def _kept_aside(self, given: NDArray[np.bool_], rng: np.random.RandomState) -> NDArray[np.intp]:
        """Samples whose labels are kept aside."""
        rows = np.flatnonzero(given)
        n_aside = min(int(np.ceil(self.validation_fraction * rows.size)), rows.size - 1)
        if self.validation_fraction > 0.0 and not n_aside:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} keeps no label aside, since there is only one. "
                "Label more samples, or set validation_fraction=0."
            )
        return np.sort(rng.permutation(rows)[:n_aside]) if n_aside else rows[:0]

    def _finish(self, training: NumberRounds, views: Views) -> None:
        """What is kept of the rounds."""
        self.n_rounds_, self.stop_reason_ = training.n_rounds, training.stop_reason
        history = training.history
        self._history_numbers = np.column_stack([history.rounds, history.views, history.samples])
        self._history_labels, self._history_confidences = np.asarray(history.labels, dtype=float), history.confidences
        self._check_answerable(views, None, "Drop these samples, or set no_view='prior'.")
        self.transduction_ = self._combined(views, None)

    @property
    def labeling_history_(self) -> pd.DataFrame:
        """Labels given: round (from 1), view, sample (position), label, confidence."""
        check_is_fitted(self, "n_rounds_")
        rounds, views, samples = self._history_numbers.T
        history = LabelingHistory(rounds, views, samples, self._history_labels, self._history_confidences)
        return history.table(self.view_names_, self._history_labels)
