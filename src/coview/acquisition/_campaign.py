"""A campaign of measurements: ask what to measure next, tell what came back, lose nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pandas as pd

from coview.acquisition._campaign_choice import Request, best_batch
from coview.acquisition._campaign_record import CampaignRecord
from coview.acquisition._campaign_rules import Decision, closing, labeling, ordering, returning
from coview.acquisition._campaign_start import CampaignStart

__all__ = ["Campaign"]


class Campaign(CampaignRecord):
    """Measurements and labels asked for and told, one after another or in batches, with everything that happened.

    A missing view of a sample, or its label, is *suggested* by `ask`, *booked* by `book` and then not suggested again, *returned*
    by `tell`, or *closed*. The model is fitted again, when it is next needed, to what is then known.

    Parameters
    ----------
    model : BayesianCoTrainingClassifier or BayesianCoTrainingRegressor
        Fitted or not; a clone is fitted. With ``criterion="random"`` any estimator that takes Views. A pipeline of a
        `TableEncoder` and a model takes tables of any kind: the encoder is fitted once, to X, and values are told, kept and
        given back as their owner writes them.
    X : Views or anything that Views takes
        Samples, some without some of the views.
    y : array-like of shape (n_samples,)
        Labels, unlabeled samples among them.
    criterion : str, default="expected_entropy"
        Of views, as in `view_utilities`. Labels are ranked by mutual information, with "random" by chance.
    costs : Costs, dict of view to cost, or DataFrame, default=None
    budget : float, default=None
        In the unit of ``costs``: what is neither spent nor booked limits what `ask` suggests and `book` takes.
    path : str or path, default=None
        A new file that holds data, model and every answer; None keeps them in memory.
    random_state : int or RandomState, default=None
        Seeds utilities; None is a fixed seed.
    notes : dict of str to str, default=None
        Kept with the campaign, such as what the target is called.

    Raises
    ------
    FileExistsError
        If there is a file at ``path``; `Campaign.open` goes on with it.
    ModelFileError
        If the model cannot be saved, as for `save_model`.

    Notes
    -----
    With ``path`` every answer is on the disk when `tell` returns. A process that is killed, at any point, is resumed by
    `Campaign.open`: all that returned is there, and of a step that was under way everything or nothing. Several processes may
    work on one file; each sees what the others wrote before it decides anything.

    What was measured and what failed is paid, what was declined or is impossible is not. A group of views is paid once per
    sample.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.acquisition import Campaign
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> views = {"a": np.array([[0.0], [0.3], [2.0], [2.2]]), "b": np.array([[0.1], [np.nan], [1.9], [np.nan]])}
    >>> model = BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed")
    >>> campaign = Campaign(model, views, ["no", None, "yes", None], criterion="variance", costs={"b": 20.0}, budget=30.0)
    >>> first = campaign.ask().iloc[0]
    >>> campaign.book(first["sample"], first["view"])
    True
    >>> campaign.tell(first["sample"], view=first["view"], values=[0.2])
    True
    >>> len(campaign.ask()), campaign.status()["remark"]
    (0, 'Of the budget 10 are left, and the cheapest of the 1 open measurements costs 20.')
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        *,
        criterion: str = "expected_entropy",
        costs: Any = None,
        budget: float | None = None,
        path: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        notes: Mapping[str, str] | None = None,
    ) -> None:
        self._begin(
            CampaignStart.of(
                model,
                X,
                y,
                path,
                criterion=criterion,
                costs=costs,
                budget=budget,
                random_state=random_state,
                notes=notes,
            )
        )

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, read_only: bool = False, timeout: float = 10.0) -> Campaign:
        """Go on with a campaign.

        Parameters
        ----------
        path : str or path
        read_only : bool, default=False
            Look at it while another process writes.
        timeout : float, default=10
            Seconds to wait for other processes.

        Returns
        -------
        campaign : Campaign

        Raises
        ------
        ProjectFileError
            If it is no campaign, damaged, written by a newer coview, or locked (`ProjectLockedError`).
        OSError
            If there is no such file, or it cannot be opened.
        """
        campaign = cls.__new__(cls)
        campaign._begin(CampaignStart.read(path, read_only=read_only, timeout=timeout))
        return campaign

    def ask(
        self,
        n: int = 1,
        per_sample: int = 1,
        *,
        kind: str = "views",
        by: str | None = None,
        criterion: str | None = None,
        max_candidates: int | str | None = "auto",
        look_ahead: int = 0,
    ) -> pd.DataFrame:
        """What to measure or label next.

        Parameters
        ----------
        n : int, default=1
            Pairs or labels wanted; fewer come back where no more are open and affordable.
        per_sample : int, default=1
            At most so many of one sample.
        kind : {"views", "labels", "both"}, default="views"
            What is asked: missing views, labels, or both in one ranking, by mutual information as in `query_utilities`.
        by : {"utility", "utility_per_cost"}, default=None
            None: "utility"; with ``kind="both"`` and costs "utility_per_cost".
        criterion : str, default=None
            Another than that of the campaign, for once: of `view_utilities`, or with ``kind="labels"`` of `label_utilities`.
        max_candidates : int, "auto" or None, default="auto"
            Pairs that "expected_entropy" scores, as in `view_utilities`, among those that are open and affordable; "auto": twice
            ``n``, and 40 at least.
        look_ahead : int, default=0
            As in `select_views`; for views alone.

        Returns
        -------
        table : DataFrame
            Columns ``sample, view, utility[, cost, utility_per_cost, cumulative_cost]``, best first; with labels, ``query``
            before them ("view" or "label"), and the view of a label is None. Empty when nothing is left to ask; `status` says
            why. Asking again without new answers or bookings gives the same.

        Notes
        -----
        Each pair is chosen as if those before it, and those that are booked, had come back with what they are expected to hold
        (see `select_views`), where the criterion depends on that; utilities and costs are those at the time of choice. So are
        labels by mutual information of Gaussian processes; labels by other criteria, and both together, are ranked once.
        """
        limits: dict[str, Any] = {"n": n, "per_sample": per_sample, "max_candidates": max_candidates}
        options: dict[str, Any] = {"kind": kind, "by": by, "criterion": criterion, "look_ahead": look_ahead}
        request = Request.of(self.criterion, priced=self._costs is not None, **limits, **options)
        self._catch_up()
        key = (self._state.last, request)
        if self._answered is None or self._answered[0] != key:
            self._answered = key, best_batch(self, self._state, request, self._settings["budget"], self._seed())
        self._suggested, self._asked = self._answered[1], request
        return self._suggested.copy()

    def book(self, sample: Any, view: str | None = None) -> bool:
        """Order a measurement or a label: it is not suggested again.

        Parameters
        ----------
        sample : sample id, or position where samples have none
        view : str, default=None
            None books the label.

        Returns
        -------
        booked : bool
            True.

        Raises
        ------
        ConflictError
            If it is booked already, perhaps by another process, is known, or is impossible.
        ValueError
            If there is no such sample or view, or the budget does not allow it.
        """
        row, view = self._place(sample, view)
        asked = self._asked_for(row, view)
        return self._step(lambda: ordering(self._data, self._state, row, view, asked, self._left()))

    def tell(
        self, sample: Any, *, view: str | None = None, values: Any = None, label: Any = None, replace: bool = False
    ) -> bool:
        """Take in a measured view, or a label.

        Parameters
        ----------
        sample : sample id, or position where samples have none
        view : str, default=None
        values : array-like of shape (n_features,), or dict or Series by feature, default=None
            All features of the view.
        label : object, default=None
            Instead of a view: the label of the sample.
        replace : bool, default=False
            Correct what is known, at no cost.

        Returns
        -------
        is_new : bool
            False if just this was known: then nothing changes.

        Raises
        ------
        ConflictError
            If something else is known, or the pair or label is closed.
        ValueError
            If there is no such sample, view or feature (names the nearest), or values are too many, too few or no numbers.

        Warns
        -----
        UserWarning
            If a value lies outside what was seen at the start, or a class is new.
        """
        row = self._data.row(sample)
        if (view is None) == (label is None) or (view is None) != (values is None):
            raise ValueError("tell takes either view and values, or label.")
        if view is None:
            plain = self._data.targets.checked(label)
            asked = self._asked_for(row, None)
            return self._step(lambda: labeling(self._data, self._state, row, plain, asked, replace=replace))
        self._data.column(view)
        numbers, asked = self._data.checked_values(sample, view, values), self._asked_for(row, view)
        return self._step(lambda: returning(self._data, self._state, row, view, numbers, asked, replace=replace))

    def close(self, sample: Any, view: str | None, outcome: str = "failed", *, reason: str = "") -> bool:
        """Say that a view or a label does not come: it is not suggested again.

        Parameters
        ----------
        sample : sample id, or position where samples have none
        view : str or None
            None closes the label.
        outcome : {"failed", "declined", "impossible"}, default="failed"
            What failed is paid. What failed or was declined may be booked once more.
        reason : str, default=""

        Returns
        -------
        is_new : bool
            False if it was closed so already.

        Raises
        ------
        ConflictError
            If it is known, or is closed otherwise.
        ValueError
            If there is no such sample or view.
        """
        row, view = self._place(sample, view)
        return self._step(lambda: closing(self._data, self._state, row, view, outcome, reason))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Several steps as one: all of them are kept when the block ends, none where an error leaves it or the process dies.

        Nobody else writes meanwhile, so do no long work in it. Leaving it by an error of your own is a rehearsal.

        Examples
        --------
        >>> with campaign.together():  # doctest: +SKIP
        ...     for sample, view in zip(batch["sample"], batch["view"]):
        ...         campaign.book(sample, view)
        """
        try:
            with self._project.writing():
                self._catch_up()
                self._joined = True
                yield
        except BaseException:
            self._start_anew()  # numbers of events that were not kept will stand for others
            self._model.forget()
            raise
        finally:
            self._joined = False

    def undo(self) -> dict[str, Any]:
        """Take back the last step that counts: a booking, an answer or a closing, whichever process made it.

        Returns
        -------
        undone : dict
            ``event, time, action`` and what the event held.

        Raises
        ------
        ValueError
            If there is nothing to undo.
        """
        taken: dict[str, Any] = {}

        def decide() -> Decision:
            if not self._state.live:
                raise ValueError("There is nothing to undo.")
            last = self._state.live[-1]
            taken.update({"event": last.id, "time": last.time, "action": last.kind, **last.content})
            return "undone", {"event": last.id}

        self._step(decide)
        return taken

    def _step(self, decide: Callable[[], Decision | None]) -> bool:
        """Decide on the newest state, while nobody else writes, and write; whether there was anything to write."""
        with nullcontext() if self._joined else self._project.writing():
            self._catch_up()
            decision = decide()
            if decision is not None:
                self._project.append(*decision)
        self._catch_up()
        return decision is not None

    def _seed(self) -> int:
        """New random numbers after each answer: otherwise neighbors of what was measured would be favored."""
        return int(np.random.SeedSequence([self._settings["seed"], self._state.data_version]).generate_state(1)[0] >> 1)

    def _left(self) -> float | None:
        return self._state.left(self._settings["budget"])

    def _place(self, sample: Any, view: Any) -> tuple[int, str | None]:
        """Row and view of what is meant, None for the label; an error where there is no such sample or view."""
        view = None if view is None or pd.isna(view) else view
        self._data.column(view)
        return self._data.row(sample), view

    def _asked_for(self, row: int, view: str | None) -> dict[str, Any]:
        """Utility and criterion with which a pair or label was last suggested."""
        table = self._suggested
        if self._asked is None or not len(table):
            return {}
        same = table["view"].isna() if view is None else table["view"] == view
        found = table.loc[same & (table["sample"] == self._data.samples[row]), "utility"]
        if not len(found) or not np.isfinite(found.iloc[0]):
            return {}
        return {"utility": float(found.iloc[0]), "criterion": self._asked.criterion}
