"""What a campaign holds: data and answers as they are known now, its history, its file."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition._accounts import Account
from coview.acquisition._campaign_choice import Request
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
        data = self._data
        account = Account.of(self._costs, data.samples, data.views.names, data.views.presence)
        self._state = CampaignState(data, account)
        self._answered: tuple[tuple[int, Request], pd.DataFrame] | None = None

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
