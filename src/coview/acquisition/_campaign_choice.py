"""What a campaign asks for next: the best of what is open and affordable, views, labels or both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.acquisition._accounts import Basket
from coview.acquisition._campaign_state import CampaignState
from coview.acquisition._choice import FixedScores, Scores, choose
from coview.acquisition._label_batches import LabelBatch
from coview.acquisition._label_utilities import LABEL_CRITERIA, label_scores
from coview.acquisition._pair_scores import CRITERIA, PairScores
from coview.acquisition._scored_model import ScoredModel
from coview.acquisition._view_batches import batch_table, check_ahead
from coview.acquisition._view_utilities import candidates_of, pair_scores

__all__ = ["KINDS", "Request", "best_batch"]

KINDS = ("views", "labels", "both")


@dataclass(frozen=True)
class Request:
    """What a campaign is asked for; see `Campaign.ask`."""

    n: int
    per_sample: int
    kind: str
    by: str
    criterion: str
    max_candidates: int | None
    look_ahead: int

    @classmethod
    def of(
        cls,
        usual: str,
        *,
        priced: bool,
        n: int,
        per_sample: int,
        kind: str,
        by: str | None,
        criterion: str | None,
        max_candidates: Any,
        look_ahead: int,
    ) -> Self:
        """The request, checked: ``usual`` is the criterion of the campaign, ``priced`` whether it has costs."""
        if n < 1 or per_sample < 1:
            raise ValueError(f"n and per_sample must be at least 1; got {n!r} and {per_sample!r}.")
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {kind!r}.")
        by = by or ("utility_per_cost" if kind == "both" and priced else "utility")
        if by not in ("utility", "utility_per_cost") or (by != "utility" and not priced):
            raise ValueError(f"by must be 'utility', or with costs 'utility_per_cost'; got {by!r}.")
        known = {"views": CRITERIA, "labels": LABEL_CRITERIA, "both": ("mutual_information", "random")}[kind]
        usual = usual if kind == "views" or usual == "random" else "mutual_information"
        criterion = criterion or usual
        if criterion not in known:
            raise ValueError(
                f"criterion must be one of {', '.join(map(repr, known))} where {kind} are asked; got {criterion!r}."
            )
        if look_ahead and kind != "views":
            raise ValueError(f"look_ahead is for views; got kind={kind!r}.")
        check_ahead(look_ahead, criterion)
        return cls(n, per_sample, kind, by, criterion, candidates_of(max_candidates, n), look_ahead)


def best_batch(known: Any, state: CampaignState, request: Request, budget: float | None, seed: int) -> pd.DataFrame:
    """What is chosen one after another, views as if those before and those booked had come back.

    Parameters
    ----------
    known : object with views, y and model
        Its model is not asked for where chance decides or nothing is open.
    state : CampaignState
    request : Request
    budget : float or None
    seed : int
    """
    m = state.open.shape[1] - 1
    wanted = np.ones(m + 1, dtype=bool)
    wanted[:m], wanted[m] = request.kind != "labels", request.kind != "views"
    limits: dict[str, Any] = {"ordered": state.booked_places, "per_sample": request.per_sample, "budget": budget}
    open_places = np.argwhere(state.open & wanted)
    scores: Scores
    if request.criterion == "random" or not len(open_places):
        chance = np.random.RandomState(seed).uniform(size=state.open.shape)
        scores = FixedScores(open_places, chance[tuple(open_places.T)], seed)
    elif request.kind == "views":
        scores = _of_views(known, state, request, seed)
    elif request.kind == "labels":
        scores = _of_labels(known, state, open_places, request, seed)
    else:
        scores = _of_both(known, open_places, request, seed)
    basket = Basket(state.account, scores.pairs, possible=state.open, **limits)
    found = choose(scores, basket, request.n, request.by, look_ahead=request.look_ahead)
    table = batch_table(known.views, scores.pairs, found, priced=state.account.priced, ahead=request.look_ahead > 0)
    if request.kind != "views":
        of_label = scores.pairs[[choice.position for choice in found], 1] == m
        table.insert(0, "query", np.where(of_label, "label", "view"))
    return table.assign(cumulative_cost=table["cost"].cumsum()) if state.account.priced else table


def _of_views(known: Any, state: CampaignState, request: Request, seed: int) -> PairScores:
    """Scores of all missing pairs, as if those that are booked had come back."""
    options: dict[str, Any] = {"criterion": request.criterion, "max_candidates": request.max_candidates}
    scores = replace(pair_scores(known.model, known.views, known.y, None, **options), seed=seed)
    if scores.updates:
        place = {(int(row), int(j)): position for position, (row, j) in enumerate(scores.pairs)}
        for pair in state.booked_places:
            if pair in place:
                scores.take(place[pair])
    return scores


def _of_labels(known: Any, state: CampaignState, places: NDArray[np.intp], request: Request, seed: int) -> Scores:
    """Scores of labels, as if those that are booked had been told where the criterion depends on that."""
    scored = ScoredModel.of(known.model, known.views, known.y)
    m = len(scored.views.names)
    booked = np.array([place for place in state.booked_places if place[1] == m], dtype=np.intp).reshape(-1, 2)
    posterior = None
    if request.criterion == "mutual_information" and (request.n > 1 or len(booked)):
        posterior = _posterior_on_features(scored.model)
    if posterior is None:
        return FixedScores(places, label_scores(scored, places[:, 0], request.criterion, seed), seed)
    scores = LabelBatch.of(scored, posterior, np.concatenate([booked, places]), seed)
    for position in range(len(booked)):
        scores.take(position)
    return scores


def _posterior_on_features(model: Any) -> Any:
    """What knows how labels of several samples depend on each other; None for models without."""
    if not hasattr(model, "consensus_posterior"):
        return None
    try:
        return model.consensus_posterior(features=True)
    except ValueError:  # no setting keeps views apart
        return None


def _of_both(known: Any, places: NDArray[np.intp], request: Request, seed: int) -> FixedScores:
    """Scores of views and labels, ranked once."""
    scored = ScoredModel.of(known.model, known.views, known.y)
    of_label = places[:, 1] == len(scored.views.names)
    values = np.zeros(len(places))
    values[of_label] = label_scores(scored, places[of_label, 0], request.criterion, seed)
    values[~of_label] = PairScores(scored, places[~of_label], request.criterion, seed=seed).utilities()
    return FixedScores(places, values, seed)
