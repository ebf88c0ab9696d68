"""What a campaign holds: data and answers as they are known now, its history, its file."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition._accounts import Account
from coview.acquisition._campaign_choice import Request
from coview.acquisition._campaign_gains import gains_of, unlabeled_entropy
from coview.acquisition._campaign_start import CampaignStart
from coview.acquisition._campaign_state import CampaignState
from coview.acquisition._campaign_tables import features_of, history_table, orders_table, status_of, tables_of
from coview.views import Views

__all__ = ["CampaignRecord"]


class CampaignRecord:
    """The part of a campaign that is read."""

    def _begin(self, start: CampaignStart) -> None:
        self._project = start.project
        self._data = start.data
        self._model = start.model
        self._costs = start.costs
        self._settings = start.settings
        self._joined = False
        self._start_anew()
        self._suggested = pd.DataFrame({"sample": [], "view": [], "utility": []})
        self._asked: Request | None = None
        self._catch_up()

    def _start_anew(self) -> None:
        """Forget all events."""
        self._state = CampaignState(self._data, self._new_account())
        self._entropies: dict[int, float] = {}
        self._answered: tuple[tuple[int, Request], pd.DataFrame] | None = None

    def _new_account(self) -> Account:
        data = self._data
        return Account.of(self._costs, data.samples, data.views.names, data.views.presence)

    @property
    def history(self) -> pd.DataFrame:
        """All that happened, one row per event, what was undone marked so.

        Columns ``event, time, action, sample, view, values, label, outcome, reason, cost, utility, undone``.
        """
        self._catch_up()
        return history_table(self._state)

    @property
    def orders(self) -> pd.DataFrame:
        """What is booked and has not come back: ``event, time, sample, view, cost, utility``; labels have no view."""
        self._catch_up()
        return orders_table(self._state)

    def status(self) -> dict[str, Any]:
        """Counts and money.

        Returns
        -------
        status : dict
            ``samples, views, labeled``; of the views missing at the start ``open`` (``suggested`` by the last `ask` among them),
            ``booked, returned`` and ``closed`` (a dict by outcome), and ``labels``, a dict of the same for those missing at the
            start; ``budget, spent, ordered, left``, None without costs or budget; ``remark``: why nothing can be asked of the
            kind that was asked last, or empty.
        """
        self._catch_up()
        kind = "views" if self._asked is None else self._asked.kind
        return status_of(self._data, self._state, self._suggested, self._settings["budget"], kind)

    @property
    def views(self) -> Views:
        """The views as they are known now."""
        self._catch_up()
        return self._data.views_with(self._state.values)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """What is known now as its owner writes it: a table per view, over the samples that have it."""
        self._catch_up()
        return tables_of(self._data, self._state)

    def features(self, view: str) -> pd.DataFrame:
        """The features of a view, as values are told.

        Parameters
        ----------
        view : str

        Returns
        -------
        features : DataFrame
            By name of the feature: ``kind`` (number, truth, category, text), and what was seen of it at the start: ``low`` and
            ``high`` of numbers, ``categories`` (a list).
        """
        self._data.column(view)
        return features_of(self._data, view)

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Which samples have a label now (n_samples,)."""
        self._catch_up()
        labeled = self._data.targets.labeled.copy()
        labeled[list(self._state.labels)] = True
        return labeled

    @property
    def criterion(self) -> str:
        """What ranks measurements unless `ask` is told otherwise."""
        return str(self._settings["criterion"])

    @property
    def notes(self) -> dict[str, str]:
        """What was kept with the campaign at its start."""
        return dict(self._settings.get("notes", {}))

    @property
    def y(self) -> NDArray[Any]:
        """The target as it is known now (n_samples,)."""
        self._catch_up()
        return self._data.targets.with_labels(self._state.labels)

    @property
    def model(self) -> Any:
        """The model, fitted to what is known now."""
        self._catch_up()
        return self._model.at(self._state.data_version, self.views, self.y)

    def total_entropy(self) -> float:
        """Entropies of the predicted classes of all samples without a label, added up, in nats, on what is known now.

        It takes a fit where more is known than at the last one.

        Returns
        -------
        entropy : float

        Raises
        ------
        ValueError
            If the model gives no probabilities of classes.
        """
        self._catch_up()
        return self._entropy_in(self._state)

    def gains(self, since: int = 0, *, refit: bool = True) -> pd.DataFrame:
        """What each answer was expected to gain when it was asked for, beside what it gained once the model was fitted again.

        Parameters
        ----------
        since : int, default=0
            Only answers later than this event of `history`.
        refit : bool, default=True
            Whether to find out what was gained: a fit for each answer, once in the life of this object. Without it that is NaN;
            `total_entropy` before and after several answers says what they gained together, at two fits.

        Returns
        -------
        table : DataFrame
            A row per answer that counts: ``event, time, sample, view`` (None for labels); ``criterion`` and ``expected``, with
            which it was suggested before it was booked or told (None and NaN where it was not, and for corrections; chance
            expects nothing);
            ``realized``, by how much `total_entropy` fell, and ``entropy``, what it was then, in nats (NaN in regression).

        Notes
        -----
        With "expected_entropy" both are of the same quantity: forecasts are the mean over what a view may hold, after one Newton
        step of the setting of largest evidence, so that single answers scatter widely about them. A label takes the entropy of
        its own sample out of the total, while mutual information is of functions: compare the order of labels, not numbers.

        Examples
        --------
        >>> table = campaign.gains()  # doctest: +SKIP
        >>> table[["expected", "realized"]].sum()  # doctest: +SKIP
        """
        self._catch_up()
        of_classes = hasattr(self._model.template, "predict_proba")
        entropy = self._entropy_in if refit and of_classes else None
        return gains_of(self._data, self._new_account(), self._state, since, entropy)

    def _entropy_in(self, state: CampaignState) -> float:
        """Total entropy in a state of the campaign."""
        version = state.data_version
        if version not in self._entropies:
            if not hasattr(self._model.template, "predict_proba"):
                raise ValueError(
                    f"total_entropy is of classes; {type(self._model.template).__name__} gives no probabilities of them."
                )
            views, y = self._data.views_with(state.values), self._data.targets.with_labels(state.labels)
            labeled = self._data.targets.labeled.copy()
            labeled[list(state.labels)] = True
            self._entropies[version] = unlabeled_entropy(self._model.at(version, views, y), views, labeled)
        return self._entropies[version]

    @property
    def path(self) -> str | None:
        """The file, None in memory."""
        return None if self._project.path is None else os.fspath(self._project.path)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the campaign to a new file, while any process uses it.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        FileExistsError
            If there is a file of that name; it is left as it is.
        ValueError
            If the campaign is in memory only.
        """
        if self._project.path is None:
            raise ValueError("A campaign without path is in memory only. Make it with path=.")
        self._project.backup(path)

    def disconnect(self) -> None:
        """Close the file; a ``with`` block does so at its end. What was told is on the disk in any case."""
        self._project.disconnect()

    def _catch_up(self) -> None:
        self._state.extend(self._project.events(self._state.last))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else self.path
        return f"<Campaign {where}: {len(self._state.live)} events, criterion {self._settings['criterion']!r}>"
