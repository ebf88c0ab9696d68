"""The model of a campaign: read when it is needed, fitted again when more is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from sklearn.base import clone

from coview.views import Views

__all__ = ["CampaignModel", "on_views"]


class CampaignModel:
    """A model that is fitted once for each state of the data.

    Parameters
    ----------
    load : callable
        Gives the model, fitted or not; called at most once.
    fitted : estimator, default=None
        The model fitted to the data at the start, where there is one.
    """

    def __init__(self, load: Callable[[], Any], fitted: Any = None) -> None:
        self._load = load
        self._model: Any = None
        self._fitted: tuple[int, Any] | None = None if fitted is None else (0, fitted)

    @property
    def template(self) -> Any:
        """The model that is cloned."""
        if self._model is None:
            self._model = on_views(self._load())
        return self._model

    def at(self, version: int, views: Views, y: NDArray[Any]) -> Any:
        """The model fitted to the data of a version."""
        if self._fitted is None or self._fitted[0] != version:
            self._fitted = (version, clone(self.template).fit(views, y))
        return self._fitted[1]

    def forget(self) -> None:
        """Fit anew when next asked: versions have come to mean other data."""
        self._fitted = None


def on_views(model: Any) -> Any:
    """A clone of a model that takes Views as they are."""
    model = clone(model)
    return model.set_params(view_columns=None) if hasattr(model, "view_columns") else model
