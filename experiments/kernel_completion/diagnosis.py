"""Two settings again: other mixtures, other gammas, and a mixture that has seen what the rows miss."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from .completion import CONDITIONAL, EXPECTED, OWN_DIAGONAL, Completion, fitted
from .machine import decision_values
from .problems import Problem, Trial
from .synthetic import distance

__all__ = ["diagnose", "diagnosis_table"]

_METHODS = (EXPECTED, OWN_DIAGONAL, CONDITIONAL)


@dataclass(frozen=True)
class Case:
    """A setting, how many of its first trials are used, and changes of the mixture by the name of the variant."""

    data: str
    setting: str
    trials: int
    mixtures: Mapping[str, Mapping[str, Any]]
    more: bool


CASES = (
    Case(
        "uci/ionosphere",
        "70 % removed",
        3,
        {
            "as above: two components, ridge 0.01": {},
            "one component": {"n_components": 1},
            "three components": {"n_components": 3},
            "ridge 0.1": {"reg_covar": 0.1},
            "two components of five factors": {"covariance_type": "factor", "n_factors": 5},
        },
        more=True,
    ),
    Case(
        "satimage",
        "50 % of bands removed",
        10,
        {"as above: number of components by BIC": {}, **{f"{k} components": {"n_components": k} for k in (2, 3, 5)}},
        more=False,
    ),
)


def diagnose(
    problems: Sequence[Problem], repeats: int, seed: int, echo: Callable[[str], None], cases: Sequence[Case] = CASES
) -> list[dict[str, Any]]:
    """Variants of the mixture and, for the first case, of gamma, in the first trials of each case.

    Parameters
    ----------
    problems : sequence of Problem
    repeats : int
        Trials of the tables; a case uses at most so many.
    seed : int
    echo : callable
    cases : sequence of Case

    Returns
    -------
    rows : list of dict
        ``data, setting, variant, repeat, method, auc, svm_auc, distance``.
    """
    by_name = {problem.name: problem for problem in problems}
    rows = []
    for case in cases:
        problem = by_name[case.data]
        for repeat in range(min(repeats, case.trials)):
            trial = problem.trial(case.setting, repeat, seed)
            first = Completion(trial.table, trial.complete, problem.mixture, repeat)
            for variant, completion in _variants(first, case):
                named = {"data": case.data, "setting": case.setting, "variant": variant, "repeat": repeat}
                rows += [{**named, **row} for row in _scores(completion, trial, repeat)]
        echo(f"diagnosis, {case.data}")
    return rows


def _scores(completion: Completion, trial: Trial, seed: int) -> Iterator[dict[str, Any]]:
    """AUC and distance of each of the three matrices."""
    truth = completion.truth()
    for method, matrix in completion.matrices(_METHODS):
        yield {"method": method, **_areas(matrix, trial, seed), "distance": distance(matrix, truth)}


def _areas(matrix: NDArray[np.float64], trial: Trial, seed: int) -> dict[str, float]:
    """AUC of the logistic regression and of an SVM, whose penalty is the norm of the kernel itself."""
    test = np.setdiff1d(np.arange(len(trial.table)), trial.train)
    values, _ = decision_values(matrix, trial.train, trial.positive, seed)
    machine = SVC(kernel="precomputed").fit(matrix[np.ix_(trial.train, trial.train)], trial.positive[trial.train])
    margins = machine.decision_function(matrix[np.ix_(test, trial.train)])
    true = trial.positive[test]
    return {"auc": float(roc_auc_score(true, values[test])), "svm_auc": float(roc_auc_score(true, margins))}


def _variants(first: Completion, case: Case) -> Iterator[tuple[str, Completion]]:
    """Name and completion of every variant; those of gamma share the mixture."""
    for name, changes in case.mixtures.items():
        yield name, replace(first, choice={**first.choice, **changes})
    if not case.more:
        return
    for factor in (0.25, 4.0):
        wider = replace(first, widen=factor)
        wider.__dict__["mixture"] = first.mixture
        yield f"gamma times {factor:g}", wider
    if first.complete is not None:
        informed = replace(first)
        complete = (first.complete - first.scale[0]) / first.scale[1]
        informed.__dict__["mixture"] = fitted(first.choice, complete, first.seed)
        yield "mixture of the complete rows", informed


def diagnosis_table(rows: list[dict[str, Any]]) -> str:
    """Means over the trials; per cell the expected kernel, the same with (4) on its diagonal, the conditional mean."""
    note = (
        f"Per cell {EXPECTED} / {OWN_DIAGONAL} / {CONDITIONAL}. The SVM (C = 1) has the norm of the kernel itself as its "
        'penalty. The "mixture of the complete rows" is fitted to rows without gaps: nobody has it, it shows what is lost by '
        "learning from what is left."
    )
    parts = ["## What it depends on", note]
    for (data, setting), of_case in pd.DataFrame(rows).groupby(["data", "setting"], sort=False):
        means = of_case.groupby(["variant", "method"], sort=False)[["auc", "svm_auc", "distance"]].mean()
        lines = [" | ".join(["", "AUC", "AUC of an SVM", "distance"]), " | ".join(["---"] * 4)]
        for variant in means.index.unique("variant"):
            of_variant = [means.loc[(variant, method)] for method in _METHODS]
            cells = [" / ".join(f"{row[metric]:.3f}" for row in of_variant) for metric in means.columns]
            lines.append(" | ".join([str(variant), *cells]))
        parts.append(f"**{data}, {setting}, mean over the first {of_case['repeat'].nunique()} trials**")
        parts.append("\n".join(f"| {line} |" for line in lines))
    return "\n\n".join(parts)
