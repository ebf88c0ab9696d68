"""Ensembles of members that have spoken: rules, choices, and the error of each on the test part."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference import accuracy_weights, mean_shares, product_shares, result_vector_votes, vote_counts

from .members import Codes, Said

__all__ = ["LABEL_VOTES", "RULES", "forward", "results_of", "segments", "steps_of_the_table"]

RULES = ("result_vector", "own_vector", "majority", "weighted", "soft", "product", "modified_product")
# Of these, "own_vector" takes the answers about training samples from classifiers that have seen them.
LABEL_VOTES = ("result_vector", "own_vector", "majority")
SIZES = (3, 5, 7, 9)
N_DRAWS = 50
THRESHOLD = 0.01
Columns = Sequence[int]


def predicted(said: Said, rule: str, columns: Columns, *, left_out: bool = False) -> Codes:
    """Classes of the test samples by some members, or those of the training samples without themselves."""
    chosen = list(columns)
    codes, shares = (said.known, said.known_shares) if left_out else (said.new, said.new_shares)
    n_classes = shares.shape[2]
    if rule in ("result_vector", "own_vector"):
        vectors = said.known if rule == "result_vector" else said.own
        votes, _ = result_vector_votes(
            codes[:, chosen], vectors[:, chosen], said.target, n_classes, without_self=left_out
        )
    elif rule == "soft":
        votes = mean_shares(shares[:, chosen])
    elif rule in ("product", "modified_product"):
        votes = product_shares(shares[:, chosen], THRESHOLD if rule == "modified_product" else 0.0)
    else:
        weights = None
        if rule == "weighted":
            wrong = (said.known[:, chosen] != said.target[:, None]).sum(axis=0)
            weights = accuracy_weights(wrong, np.full(len(chosen), len(said.target)), n_classes)
        votes = vote_counts(codes[:, chosen], n_classes, weights)
    return np.asarray(votes.argmax(axis=1))


def error(
    said: Said, rule: str, columns: Columns, rows: NDArray[np.intp] | None = None, *, left_out: bool = False
) -> float:
    """Share of wrong answers, on the whole part or on some rows of it."""
    wrong = predicted(said, rule, columns, left_out=left_out) != (said.target if left_out else said.truth)
    return float(wrong.mean() if rows is None else wrong[rows].mean())


def forward(said: Said, error_of: Callable[[list[int]], float]) -> tuple[list[int], list[float]]:
    """From the member of least leave-one-out error, add the one after which the error is least, as long as it falls."""
    chosen = [int(said.errors.argmin())]
    errors = [error_of(chosen)]
    while True:
        trials = [np.inf if m in chosen else error_of([*chosen, m]) for m in range(len(said.names))]
        best = int(np.argmin(trials))
        if not trials[best] < errors[-1]:
            return chosen, errors
        chosen, errors = [*chosen, best], [*errors, trials[best]]


def steps_of_the_table(said: Said, rule: str = "result_vector") -> list[dict[str, Any]]:
    """Table 1 as printed: members chosen by the test error itself."""
    chosen, errors = forward(said, lambda few: error(said, rule, few))
    return [
        {"view": said.names[m], "test_error": found, "loo_error": float(said.errors[m])}
        for m, found in zip(chosen, errors, strict=True)
    ]


def segments(said: Said, rule: str = "result_vector") -> list[dict[str, Any]]:
    """Members next to each other in the list sorted by leave-one-out error, and their best by that error alone."""
    order = np.argsort(said.errors, kind="stable")
    rows = []
    for size in SIZES:
        for start in range(len(order) - size + 1):
            columns = order[start : start + size].tolist()
            rows.append(
                {
                    "rule": rule,
                    "size": size,
                    "start": start,
                    "error": error(said, rule, columns),
                    "first_alone": float(said.test_errors[columns[0]]),
                    "best_alone": float(said.test_errors[columns].min()),
                }
            )
    return rows


def results_of(said: Said, seed: int) -> Iterator[dict[str, Any]]:
    """One row per way of using the members: ``choice``, ``rule``, ``error`` on the test part, ``views``."""
    names = said.names
    order = np.argsort(said.errors, kind="stable")
    yield _row("best single view by leave-one-out", "", said.test_errors[order[0]], [names[order[0]]])
    yield _row("all feature sets as one view", "", said.test_errors[-1], [names[-1]])
    oracle = int(said.test_errors.argmin())
    yield _row("best single view by the test set itself", "", said.test_errors[oracle], [names[oracle]])
    singles = [m for m, name in enumerate(names) if len(name) == 1]
    for rule in RULES:
        yield _row("the six feature sets", rule, error(said, rule, singles), [names[m] for m in singles])
        yield _row("all 63 views", rule, error(said, rule, range(len(names))), names)
        for size in SIZES:
            best = order[:size].tolist()
            yield _row(f"best {size} by leave-one-out", rule, error(said, rule, best), [names[m] for m in best])
        chosen, reached = forward(said, lambda few, rule=rule: error(said, rule, few, left_out=True))
        found = _row("forward by leave-one-out", rule, error(said, rule, chosen), [names[m] for m in chosen])
        yield found | {"reached": reached[-1]}
        if rule in LABEL_VOTES:
            yield from _by_the_test_set(said, rule, seed)
    rng = np.random.default_rng(seed)
    for size in SIZES:
        draws = [rng.choice(len(names), size, replace=False).tolist() for _ in range(N_DRAWS)]
        for rule in LABEL_VOTES:
            yield _row(f"{size} at random", rule, float(np.mean([error(said, rule, few) for few in draws])), [])


def _by_the_test_set(said: Said, rule: str, seed: int) -> Iterator[dict[str, Any]]:
    """Forward selection by the whole test set, as printed, and by one half of it with the error on the other half."""
    chosen, reached = forward(said, lambda few: error(said, rule, few))
    yield _row("forward by the test set itself", rule, reached[-1], [said.names[m] for m in chosen])
    halves = np.array_split(np.random.default_rng(seed).permutation(len(said.truth)), 2)
    errors, within = [], []
    for half, other in (halves, halves[::-1]):
        few, path = forward(said, lambda few, half=half: error(said, rule, few, half))
        errors.append(error(said, rule, few, other))
        within.append(path[-1])
    found = _row("forward by half of the test set, error on the other half", rule, float(np.mean(errors)), [])
    yield found | {"reached": float(np.mean(within))}


def _row(choice: str, rule: str, found: float, views: Sequence[str]) -> dict[str, Any]:
    return {
        "choice": choice,
        "rule": rule,
        "error": float(found),
        "reached": None,
        "n_views": len(views),
        "views": " ".join(views),
    }
