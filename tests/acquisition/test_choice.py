"""Batches by enumeration: chains of measurements, what they cost, what is left; look-ahead on a model of three candidates."""

from itertools import permutations

import numpy as np
import pytest
from numpy.linalg import slogdet

from coview import Views
from coview.acquisition import Costs, select_views
from coview.acquisition._accounts import Account, Basket
from coview.acquisition._choice import FixedScores, choose
from coview.acquisition._view_utilities import pair_scores
from coview.linear_model import CoRegularizedLogisticRegression
from coview.mixture import ClassConditionalGaussianMixture

from .small_problems import fixed, problem
from .test_against_brute_force import VARIANCES, Dense, data, measured, model

NAMES = ["mri", "lab", "genes"]
GROUPS = {"visit": (["lab", "genes"], 5.0), "needle": (["genes", "mri"], 2.0)}


def by_hand(costs, presence, done):
    """What places cost together: own prices, and shares of groups once per sample that did not have one."""
    total, paid = 0.0, set()
    for row, column in done:
        if column == len(NAMES):
            total += costs.label
            continue
        total += costs.pairs.get((str(row), NAMES[column]), costs.views.get(NAMES[column], 0.0))
        for name, (members, share) in costs.groups.items():
            had = any(presence[row, NAMES.index(view)] for view in members)
            if NAMES[column] in members and not had and (row, name) not in paid:
                paid.add((row, name))
                total += share
    return total


@pytest.mark.parametrize("seed", range(6))
def test_accounts_and_baskets_cost_what_costs_say(seed):
    rng = np.random.default_rng(seed)
    costs = Costs({"mri": 100.0, "genes": 50.0}, {(1, "mri"): 70.0}, GROUPS, [(2, "lab")], label=1.5)
    presence = rng.random((5, 3)) < 0.3
    account = Account.of(costs, np.arange(5), NAMES, presence)
    missing = [
        (int(i), int(j)) for i, j in rng.permutation(np.argwhere(~np.column_stack([presence, np.zeros(5, bool)])))
    ]
    paid, ordered, rest = missing[:4], missing[4:7], missing[7:]
    for done in range(4):
        assert account.price(*paid[done]) == by_hand(costs, presence, paid[: done + 1]) - account.spent
        account.pay(*paid[done])
    assert account.spent == by_hand(costs, presence, paid)
    assert account.together(ordered)[0] == by_hand(costs, presence, paid + ordered) - account.spent
    budget = account.spent + account.together(ordered)[0] + 160.0
    basket = Basket(account, np.array(rest), ordered=ordered, per_sample=2, budget=budget)
    chosen = []
    while len(left := basket.open()):
        before = by_hand(costs, presence, paid + ordered + chosen)
        for position, place in enumerate(rest):
            price = by_hand(costs, presence, [*paid, *ordered, *chosen, place]) - before
            if place not in chosen:
                assert basket.prices[position] == pytest.approx(price)
            counts = sum(row == place[0] for row, _ in chosen)
            fits = before + price <= budget and counts < 2 and place not in chosen
            assert (position in left) == (fits and place != (2, 1))
        pick = int(rng.choice(left))
        fork = basket.copy()
        fork.add(pick)
        np.testing.assert_array_equal(basket.open(), left)  # the fork is another
        basket.add(pick)
        chosen.append(rest[pick])
    assert chosen
    account.clear()
    assert account.spent == 0.0
    assert account.price(*paid[0]) == by_hand(costs, presence, paid[:1])


class Toy:
    """Utilities from a table of what sets of places are worth."""

    updates, seed = True, 0

    def __init__(self, worth, taken=()):
        self.worth, self.taken = worth, taken
        self.pairs = np.column_stack([np.arange(3), np.zeros(3, dtype=np.intp)])

    def utilities(self, among):
        return self.score(np.arange(3))

    def score(self, chosen):
        return np.array([self.gain(self.taken, int(position)) for position in chosen])

    def gain(self, taken, position):
        return self.worth[frozenset(taken) | {position}] - self.worth[frozenset(taken)]

    def take(self, position):
        self.taken = (*self.taken, position)

    def branch(self):
        return Toy(self.worth, self.taken)


@pytest.mark.parametrize("look_ahead", [1, 2])
@pytest.mark.parametrize("by", ["utility", "utility_per_cost"])
@pytest.mark.parametrize("budget", [None, 6.0])
def test_three_candidates_enumerated(look_ahead, by, budget):
    different = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        worth = {frozenset(c): rng.normal(len(c)) for k in range(1, 4) for c in permutations(range(3), k)}
        worth[frozenset()] = 0.0
        prices = rng.uniform(1.0, 4.0, size=3)
        account = Account(
            prices[:, None],
            np.zeros((1, 0), bool),
            np.zeros(0),
            np.zeros((3, 0), bool),
            np.ones((3, 1), bool),
            priced=True,
        )
        chains = [c for k in range(1, look_ahead + 2) for c in permutations(range(3), k)]
        value = {}
        for chain in chains:
            cost = prices[list(chain)].sum()
            if budget is None or cost <= budget:
                value[chain] = worth[frozenset(chain)] / (cost if by == "utility_per_cost" else 1.0)
        firsts = {c: max(v for chain, v in value.items() if chain[0] == c) for c in range(3)}
        (found,) = choose(Toy(worth), Basket(account, Toy(worth).pairs, budget=budget), 1, by, look_ahead=look_ahead)
        best = max(firsts.values())
        assert firsts[found.position] == pytest.approx(best)
        assert found.utility == pytest.approx(worth[frozenset([found.position])])
        if by == "utility":
            assert found.ahead == pytest.approx(best)
        (plain,) = choose(Toy(worth), Basket(account, Toy(worth).pairs, budget=budget), 1, by)
        different += firsts[plain.position] < best - 1e-9
    assert different > 1  # looking ahead matters here


def test_looking_ahead_on_a_model_of_three_candidates():
    """Information of two values together, by dense algebra, of every pair of three candidates."""
    tables, _, codes, labeled = data(4)
    means = [table.mean(axis=0) for table in tables]
    presence = np.ones((len(codes), 4), dtype=bool)
    candidates = [(2, 1), (11, 1), (15, 3)]
    presence[tuple(np.transpose(candidates))] = False
    before = Dense(tables, presence, of_mean=False)
    curvatures = before.mode(2.0 * codes - 1.0, labeled)

    def information(chain):
        told, there = tables, presence
        for i, j in chain:
            told, there = measured(told, there, i, j, means[j])
        after = Dense(told, there, of_mean=False)
        return 0.5 * (
            slogdet(before.consensus_covariance(curvatures))[1] - slogdet(after.consensus_covariance(curvatures))[1]
        )

    parts = {c: ([1.0], [[m] for m in means], [[1e-14 * np.eye(len(m))] for m in means]) for c in (0.0, 1.0)}
    density = ClassConditionalGaussianMixture.from_parameters(np.full(2, 0.5), parts)
    views = Views(tables, names=[f"v{j}" for j in range(4)], presence=presence)
    y, options = np.where(labeled, codes, np.nan), {"criterion": "mutual_information", "density": density}
    both = {frozenset(chain): information(chain) for chain in permutations(candidates, 2)}
    table = select_views(model("consensus"), views, y, 2, look_ahead=1, expectation="point_mass", **options)
    first, second = [(int(row.sample), int(row.view[1:])) for row in table.itertuples()]
    assert {first, second} == max(both, key=both.get)
    np.testing.assert_allclose(table["utility_ahead"][0], max(both.values()), rtol=1e-4)
    np.testing.assert_allclose(table["utility"][0], information([first]), rtol=1e-4)
    np.testing.assert_allclose(table["utility"].sum(), both[frozenset([first, second])], rtol=1e-4)
    assert VARIANCES.size == 4
    prices = {(i, f"v{j}"): price for (i, j), price in zip(candidates, (1.0, 1.4, 3.0), strict=True)}
    chains = [c for k in (1, 2) for c in permutations(candidates, k)]
    ratios = {c: information(c) / sum(prices[i, f"v{j}"] for i, j in c) for c in chains}
    table = select_views(
        model("consensus"),
        views,
        y,
        1,
        look_ahead=1,
        by="utility_per_cost",
        costs=prices,
        expectation="point_mass",
        **options,
    )
    best = max(ratios, key=ratios.get)
    assert (int(table["sample"][0]), int(table["view"][0][1:])) in best
    np.testing.assert_allclose(table["utility_ahead"][0], information(best), rtol=1e-4)


@pytest.mark.parametrize(
    ("estimator", "criterion"),
    [
        (fixed(bias_variance=0.3), "mutual_information"),
        (fixed(bias_variance=0.3), "a_optimality"),
        (fixed("mean", approximation="low_rank"), "expected_entropy"),
        (CoRegularizedLogisticRegression(), "expected_entropy"),
    ],
)
def test_branches_go_on_by_themselves(estimator, criterion):
    views, y, _ = problem()
    scores = pair_scores(estimator, views, y, None, criterion=criterion)
    everything = np.arange(len(scores.pairs))
    before = scores.score(everything)
    first, second = scores.branch(), scores.branch()
    first.take(0)
    second.take(0)
    assert not np.allclose(first.score(everything), before)
    np.testing.assert_allclose(first.score(everything), second.score(everything), rtol=1e-12)
    np.testing.assert_array_equal(scores.score(everything), before)
    scores.take(0)
    np.testing.assert_allclose(scores.score(everything), first.score(everything), rtol=1e-12)


@pytest.mark.parametrize("criterion", ["variance", "random", "mutual_information_bound"])
def test_criteria_that_are_ranked_once_cannot_look_ahead(criterion):
    views, y, _ = problem()
    with pytest.raises(ValueError, match=r"look_ahead needs a criterion that changes.*'expected_entropy'"):
        select_views(fixed(), views, y, look_ahead=1, criterion=criterion)
    with pytest.raises(ValueError, match="look_ahead must be at least 0"):
        select_views(fixed(), views, y, look_ahead=-1)


def test_what_was_not_scored_comes_last_and_ties_are_broken_by_chance():
    places = np.column_stack([np.arange(9), np.zeros(9, dtype=np.intp)])
    values = np.array([1.0, np.nan, 1.0, 2.0, 1.0, np.nan, 1.0, 1.0, 1.0])
    account = Account.of(Costs({"a": 1.0}), np.arange(9), ["a"], np.zeros((9, 1), bool))
    orders = set()
    for seed in range(5):
        for by in ("utility", "utility_per_cost"):
            found = [
                choice.position for choice in choose(FixedScores(places, values, seed), Basket(account, places), 9, by)
            ]
            assert found[0] == 3
            assert set(found[7:]) == {1, 5}
            orders.add(tuple(found))
    assert len(orders) > 3
    ordered = [choice.position for choice in choose(FixedScores(places, values), Basket(account, places), 9)]
    assert ordered == [3, 0, 2, 4, 6, 7, 8, 1, 5]
