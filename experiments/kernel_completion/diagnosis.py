"""Ionosphere again: other mixtures, other gammas, and a mixture that has seen what the rows miss."""

from collections.abc import Callable, Iterator
from dataclasses import replace
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

SETTING = "70 % removed"
_METHODS = (EXPECTED, OWN_DIAGONAL, CONDITIONAL)
_TRIALS = 3
_MIXTURES: dict[str, dict[str, Any]] = {
    "as above: two components, ridge 0.01": {},
    "one component": {"n_components": 1},
    "three components": {"n_components": 3},
    "ridge 0.1": {"reg_covar": 0.1},
    "two components of five factors": {"covariance_type": "factor", "n_factors": 5},
}


def diagnose(problem: Problem, repeats: int, seed: int, echo: Callable[[str], None]) -> list[dict[str, Any]]:
    """Variants of the mixture, of gamma and of the classifier, in the first trials with 70 % removed.

    Parameters
    ----------
    problem : Problem
        Ionosphere.
    repeats : int
        At most three are used.
    seed : int
    echo : callable

    Returns
    -------
    rows : list of dict
        ``variant, repeat, method, auc, svm_auc, distance``.
    """
    rows = []
    for repeat in range(min(repeats, _TRIALS)):
        trial = problem.trial(SETTING, repeat, seed)
        first = Completion(trial.table, trial.complete, problem.mixture, repeat)
        for variant, completion in _variants(first):
            truth = completion.truth()
            for method, matrix in completion.matrices(_METHODS):
                named = {"variant": variant, "repeat": repeat, "method": method}
                rows.append({**named, **_areas(matrix, trial, repeat), "distance": distance(matrix, truth)})
    echo("diagnosis")
    return rows


def _areas(matrix: NDArray[np.float64], trial: Trial, seed: int) -> dict[str, float]:
    """AUC of the logistic regression and of an SVM, whose penalty is the norm of the kernel itself."""
    test = np.setdiff1d(np.arange(len(trial.table)), trial.train)
    values, _ = decision_values(matrix, trial.train, trial.positive, seed)
    machine = SVC(kernel="precomputed").fit(matrix[np.ix_(trial.train, trial.train)], trial.positive[trial.train])
    margins = machine.decision_function(matrix[np.ix_(test, trial.train)])
    true = trial.positive[test]
    return {"auc": float(roc_auc_score(true, values[test])), "svm_auc": float(roc_auc_score(true, margins))}


def _variants(first: Completion) -> Iterator[tuple[str, Completion]]:
    """Name and completion of every variant; those of gamma share the mixture."""
    for name, changes in _MIXTURES.items():
        yield name, replace(first, choice={**first.choice, **changes})
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
    means = pd.DataFrame(rows).groupby(["variant", "method"], sort=False)[["auc", "svm_auc", "distance"]].mean()
    lines = [" | ".join(["", "AUC", "AUC of an SVM", "distance"]), " | ".join(["---"] * 4)]
    for variant in means.index.unique("variant"):
        of_variant = [means.loc[(variant, method)] for method in _METHODS]
        cells = [" / ".join(f"{row[metric]:.3f}" for row in of_variant) for metric in means.columns]
        lines.append(" | ".join([str(variant), *cells]))
    trials = len({row["repeat"] for row in rows})
    note = (
        f"{SETTING}, mean over the first {trials} trials: {EXPECTED} / {OWN_DIAGONAL} / {CONDITIONAL}. The SVM (C = 1) has "
        'the norm of the kernel itself as its penalty. The "mixture of the complete rows" is fitted to rows without gaps: '
        "nobody has it, it shows what is lost by learning from what is left."
    )
    return "\n\n".join(["## Ionosphere: what it depends on", note, "\n".join(f"| {line} |" for line in lines)])
