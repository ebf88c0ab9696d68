"""How a campaign begins: from data and a model, or from the file that another process left."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from coview.acquisition import _campaign_snapshot as snapshot
from coview.acquisition._campaign_data import CampaignData
from coview.acquisition._campaign_encoded import EncodedData, cells_of, encoder_and_model
from coview.acquisition._campaign_labels import Targets, target_settings
from coview.acquisition._campaign_model import CampaignModel, on_views
from coview.acquisition._costs import Costs
from coview.acquisition._pair_scores import CRITERIA
from coview.acquisition._scored_model import seed_of
from coview.storage import Project
from coview.views import Views, read_tables

__all__ = ["CampaignStart", "check_criterion"]


@dataclass(frozen=True)
class CampaignStart:
    """All that a campaign has before its first event.

    Attributes
    ----------
    project : Project
    data : CampaignData
    model : CampaignModel
    costs : Costs or None
    settings : dict
        ``criterion``, ``budget``, ``seed``, ``notes``.
    """

    project: Project
    data: CampaignData
    model: CampaignModel
    costs: Costs | None
    settings: dict[str, Any]

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, path: str | os.PathLike[str] | None, **settings: Any) -> CampaignStart:
        """From data and a model; with a path, in a new file."""
        encoder, model = encoder_and_model(model)
        data = _data(model, encoder, X, y)
        costs = Costs.of(settings.pop("costs"))
        _check_settings(settings["criterion"], costs, settings["budget"], data)
        if path is not None and os.path.lexists(path):  # before the fit
            raise FileExistsError(
                f"{os.fspath(path)} exists already. Go on with it by Campaign.open, or choose another."
            )
        kept: dict[str, Any] = {
            "criterion": settings["criterion"],
            "budget": settings["budget"],
            "seed": seed_of(settings["random_state"]),
            "notes": dict(settings["notes"] or {}),
        }
        model, fitted = on_views(model), None
        parts: Mapping[str, bytes] = {}
        if path is not None:
            fitted = clone(model).fit(data.views, data.targets.values)
            parts = _parts(data, model, fitted, costs, kept)
        return cls(Project.create(path, parts), data, CampaignModel(lambda: model, fitted), costs, kept)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, read_only: bool, timeout: float) -> CampaignStart:
        """From a file."""
        project = Project.open(path, read_only=read_only, timeout=timeout)
        try:
            settings = snapshot.settings_of(project)
            views, y = snapshot.data_from_bytes(project.part("data"))
            targets = Targets(y, **settings.pop("target"))
            costs = snapshot.costs_from_plain(settings.pop("costs"))
            saved = cache(lambda: encoder_and_model(snapshot.model_from_bytes(project.part("model"), os.fspath(path))))
            data = CampaignData(views, targets)
            if settings.pop("cells", False):
                cells = snapshot.cells_from_bytes(project.part("cells"))
                data = EncodedData(views, targets, cells, lambda: saved()[0])
        except BaseException:
            project.disconnect()
            raise
        return cls(project, data, CampaignModel(lambda: saved()[1]), costs, settings)


def check_criterion(criterion: str) -> None:
    """Refuse a criterion that there is not."""
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(map(repr, CRITERIA))}; got {criterion!r}.")


def _data(model: Any, encoder: Any, X: Any, y: Any) -> CampaignData:
    """What a campaign starts from."""
    if encoder is not None:
        return _encoded_data(model, encoder, X, y)
    views = X if isinstance(X, Views) else Views(X, view_columns=getattr(model, "view_columns", None))
    return CampaignData(views, _targets(model, views, y))


def _encoded_data(model: Any, encoder: Any, X: Any, y: Any) -> EncodedData:
    """Tables and an encoder that is fitted to them in the form in which they are kept."""
    tables = read_tables(X, view_columns=encoder.view_columns)
    encoder = clone(encoder).fit(tables)
    cells = cells_of(tables, encoder.transform(tables), encoder)
    kinds = {
        f"{which}_columns": {
            name: [column for column, kind in zip(view.columns, view.kinds, strict=True) if kind == held]
            for name, view in cells.items()
        }
        for which, held in (("text", "text"), ("categorical", "category"))
    }
    encoder = clone(encoder).set_params(view_columns=None, **kinds)
    kept = replace(tables, tables=tuple(view.table({}) for view in cells.values()), presence=None)
    views = encoder.fit(kept).transform(kept)
    return EncodedData(views, _targets(model, views, y), cells, lambda: encoder)


def _targets(model: Any, views: Views, y: Any) -> Targets:
    return Targets(views.align(y) if isinstance(y, pd.Series) else y, **target_settings(model))


def _parts(
    data: CampaignData, model: Any, fitted: Any, costs: Costs | None, settings: dict[str, Any]
) -> Mapping[str, bytes]:
    """What the file holds from the start on."""
    encoded = isinstance(data, EncodedData)
    saved = Pipeline([("encode", data.encoder()), ("model", fitted)]) if isinstance(data, EncodedData) else fitted
    plain = {**settings, "target": target_settings(model), "costs": snapshot.costs_to_plain(costs)}
    parts = {
        "data": snapshot.data_to_bytes(data.views, data.targets.values),
        "model": snapshot.model_to_bytes(saved),
        "settings": snapshot.settings_to_bytes({**plain, "cells": encoded}),
    }
    if isinstance(data, EncodedData):
        parts["cells"] = snapshot.cells_to_bytes(data.cells)
    return parts


def _check_settings(criterion: str, costs: Costs | None, budget: float | None, data: CampaignData) -> None:
    check_criterion(criterion)
    if costs is not None:
        costs.check(data.views.names, data.samples)
    if budget is not None and costs is None:
        raise ValueError("A budget needs costs.")
    if budget is not None and not (np.isfinite(budget) and budget >= 0.0):
        raise ValueError(f"budget must be finite and not negative; got {budget!r}.")
