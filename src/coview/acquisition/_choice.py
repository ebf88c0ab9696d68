"""Places chosen one after another, each as if those before it had come back, within what may be spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._accounts import Basket
from coview.acquisition._tables import per_cost

__all__ = ["SHORTLIST", "Choice", "FixedScores", "Scores", "choose"]

Array = NDArray[np.float64]
Places = NDArray[np.intp]

# Places scored anew after each choice.
SHORTLIST = 50
# Worths that agree to so many digits, in units of the largest, are the same.
_DIGITS = 8


class Scores(Protocol):
    """Utilities of places (n_places, 2), which may change with what is taken."""

    @property
    def pairs(self) -> Places:
        """The places."""

    @property
    def seed(self) -> int | None:
        """Seeds the order of ties; None leaves them in the order of the places."""

    @property
    def updates(self) -> bool:
        """Whether utilities change with what is taken."""

    def utilities(self, among: Places) -> Array:
        """Utility of each place (n_places,), NaN for those that are not scored; ``among`` may be chosen."""

    def score(self, chosen: Places) -> Array:
        """Utilities of some places, after what was taken."""

    def take(self, position: int) -> None:
        """Go on as if what stands at a position had come back."""

    def branch(self) -> Self:
        """The same to go on from, apart from this."""


@dataclass(frozen=True)
class FixedScores:
    """Utilities that do not depend on what is taken."""

    pairs: Places
    values: Array
    seed: int | None = None
    updates: bool = False

    def utilities(self, among: Places) -> Array:
        """Utility of each place."""
        return self.values

    def score(self, chosen: Places) -> Array:
        """Utilities of some places."""
        return np.asarray(self.values[chosen])

    def take(self, position: int) -> None:
        """Nothing changes."""

    def branch(self) -> FixedScores:
        """The same."""
        return self


class Choice(NamedTuple):
    """What was chosen.

    Attributes
    ----------
    position : int
        Among the places.
    utility, price : float
        At the time of choice.
    ahead : float
        Utility with the best that may follow it; the same without look-ahead.
    """

    position: int
    utility: float
    price: float
    ahead: float


def choose(
    scores: Scores, basket: Basket, n: int, by: str = "utility", *, shortlist: int = SHORTLIST, look_ahead: int = 0
) -> list[Choice]:
    """Fill a basket with at most ``n`` places, each chosen on the posterior that those before it would leave.

    Ties of utility per cost go to the larger utility, further ones to chance. With look-ahead the same places in another order
    are worth the same: what is worth more by itself comes first.
    """
    utilities = scores.utilities(basket.open())
    luck = np.arange(len(utilities))
    if scores.seed is not None:
        luck = np.random.RandomState(scores.seed).permutation(luck)
    found: list[Choice] = []
    while len(found) < n:
        candidates = basket.open()
        if not candidates.size:
            break
        if scores.updates and (found or look_ahead):
            candidates = _best(candidates, utilities, basket, by, shortlist)
            utilities[candidates] = scores.score(candidates)
        own, prices = utilities[candidates], basket.prices[candidates]
        totals = own
        if look_ahead:
            totals, prices = _with_following(scores, basket, candidates, utilities, by, shortlist, look_ahead)
        keys = [_ordering(totals, prices, by), _known(totals)]
        if look_ahead:
            keys = [*map(_to_digits, keys), _known(own)]
        first = np.lexsort((luck[candidates], *(-key for key in reversed(keys))))[0]
        best = int(candidates[first])
        found.append(Choice(best, float(utilities[best]), float(basket.prices[best]), float(totals[first])))
        basket.add(best)
        if scores.updates and len(found) < n:
            scores.take(best)
    return found


def _best(candidates: Places, utilities: Array, basket: Basket, by: str, shortlist: int) -> Places:
    """The candidates that are best so far; those that were not scored are no use before all others are chosen."""
    scored = candidates[~np.isnan(utilities[candidates])]
    candidates = scored if scored.size else candidates
    order = _ordering(utilities[candidates], basket.prices[candidates], by)
    return candidates[np.argsort(-order, kind="stable")[:shortlist]]


def _with_following(
    scores: Scores,
    basket: Basket,
    candidates: Places,
    utilities: Array,
    by: str,
    shortlist: int,
    depth: int,
    before: tuple[float, float] = (0.0, 0.0),
) -> tuple[Array, Array]:
    """Utility and price of each candidate together with the best that may follow it, where that is better than it alone.

    ``before`` is added to both: what was chosen on the way here.
    """
    totals, prices = utilities[candidates] + before[0], basket.prices[candidates] + before[1]
    for place, candidate in enumerate(candidates):
        after, then = scores.branch(), basket.copy()
        after.take(int(candidate))
        then.add(int(candidate))
        following = then.open()
        if not following.size:
            continue
        following, fresh = _best(following, utilities, then, by, shortlist), utilities.copy()
        fresh[following] = after.score(following)
        so_far = float(totals[place]), float(prices[place])
        if depth > 1:
            further, costs = _with_following(after, then, following, fresh, by, shortlist, depth - 1, so_far)
        else:
            further, costs = fresh[following] + so_far[0], then.prices[following] + so_far[1]
        chains, paid = np.append(further, so_far[0]), np.append(costs, so_far[1])
        best = int(np.argmax(_ordering(chains, paid, by)))
        totals[place], prices[place] = chains[best], paid[best]
    return totals, prices


def _ordering(utilities: Array, prices: Array, by: str) -> Array:
    """What places are chosen by, -inf for those without a utility."""
    return _known(utilities if by == "utility" else per_cost(utilities, prices))


def _to_digits(values: Array) -> Array:
    """Values to the digits that do not depend on the order in which places were added."""
    finite = np.abs(values[np.isfinite(values)])
    unit = float(finite.max(initial=0.0)) or 1.0
    return np.asarray(np.round(values / unit, _DIGITS))


def _known(values: Array) -> Array:
    return np.asarray(np.where(np.isnan(values), -np.inf, values))
