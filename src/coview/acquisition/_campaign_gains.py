"""What answers of a campaign were expected to gain, and what they gained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import entr

from coview.acquisition._accounts import Account
from coview.acquisition._campaign_data import CampaignData
from coview.acquisition._campaign_state import CHANGES_DATA, CampaignState
from coview.views import Views

__all__ = ["gains_of", "unlabeled_entropy"]


def unlabeled_entropy(model: Any, views: Views, labeled: NDArray[np.bool_]) -> float:
    """Entropies of the predicted classes of all unlabeled samples, added up, in nats."""
    rows = np.flatnonzero(~labeled)
    if not rows.size:
        return 0.0
    if hasattr(model, "label_distributions_"):
        probabilities = np.asarray(model.label_distributions_)[rows]
    else:
        probabilities = np.asarray(model.predict_proba(views[rows]))
    return float(entr(probabilities).sum())


def gains_of(
    data: CampaignData,
    account: Account,
    state: CampaignState,
    since: int,
    entropy: Callable[[CampaignState], float] | None,
) -> pd.DataFrame:
    """One row per answer that counts, later than the event ``since``; see `Campaign.gains`.

    Parameters
    ----------
    data : CampaignData
    account : Account
        Where nothing is spent yet, apart from that of the state.
    state : CampaignState
    since : int
    entropy : callable or None
        Total entropy in a state of the campaign; None leaves what was gained out.
    """
    replay, rows, known = CampaignState(data, account), [], {}

    def total() -> float:
        version = replay.data_version
        if entropy is not None and version not in known:
            known[version] = entropy(replay)
        return known.get(version, np.nan)

    for event in state.live:
        is_answer = event.kind in CHANGES_DATA and event.id > since
        before = total() if is_answer else np.nan
        replay.extend([event])
        if is_answer:
            content = event.content
            asked = content if "utility" in content else _order_of(event.id, content, state)
            rows.append(
                {
                    "event": event.id,
                    "time": pd.Timestamp(event.time),
                    "sample": content["sample"],
                    "view": content.get("view"),
                    "criterion": asked.get("criterion"),
                    "expected": np.nan if asked.get("criterion") == "random" else asked.get("utility", np.nan),
                    "realized": before - total(),
                    "entropy": total(),
                }
            )
    columns = ["event", "time", "sample", "view", "criterion", "expected", "realized", "entropy"]
    table = pd.DataFrame(rows, columns=columns)
    numbers = dict.fromkeys(columns[-3:], "float64")
    table = table.astype({"event": "int64", "view": "object", "criterion": "object", **numbers})
    return table.assign(**{name: table[name].where(table[name].notna(), None) for name in ("view", "criterion")})


def _order_of(event: int, content: dict[str, Any], state: CampaignState) -> dict[str, Any]:
    """What was booked last, before an answer, of the same sample and view."""
    place = content["sample"], content.get("view")
    if content.get("replaces"):
        return {}
    booked = (
        other.content
        for other in reversed(state.live)
        if other.id < event and other.kind == "booked" and (other.content["sample"], other.content.get("view")) == place
    )
    return next(booked, {})
