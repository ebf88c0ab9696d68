"""Learning curves of the criteria on one problem."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from coview.acquisition import simulate
from coview.gaussian_process import BayesianCoTrainingClassifier

from .problems import Problem

__all__ = ["ENTROPY", "FEW", "INFORMATION", "PER_COST", "RANDOM", "SCORES", "VARIANCE", "run"]

ENTROPY, FEW, PER_COST = "expected entropy", "expected entropy, few candidates", "expected entropy per cost"
INFORMATION, VARIANCE, RANDOM = "mutual information", "variance", "random"
SCORES = {"auc": "roc_auc", "log_score": "neg_log_loss"}
_CRITERIA = {
    ENTROPY: {"criterion": "expected_entropy", "max_candidates": None},
    INFORMATION: {"criterion": "mutual_information"},
    VARIANCE: {"criterion": "variance"},
    RANDOM: {"criterion": "random"},
}


def run(problem: Problem, data: Path, repeat: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Curves of one repeat, and scores with nothing hidden: half of all pairs hidden, the default model fitted every round."""
    samples = problem.read(data, repeat)
    criteria = dict(_CRITERIA)
    # twice the pairs of a round: half of them of labeled samples, at random, as the prototype had it
    criteria[FEW] = {"criterion": "expected_entropy", "max_candidates": 2 * problem.batch_size}
    if samples.costs is not None:
        criteria[PER_COST] = {"criterion": "expected_entropy", "by": "utility_per_cost"}
    found = simulate(
        BayesianCoTrainingClassifier(),
        samples.views,
        samples.target,
        criteria=criteria,
        n_steps=problem.n_steps,
        batch_size=problem.batch_size,
        repeats=1,
        scorer=SCORES,
        costs=samples.costs,
        always_seen=problem.always_seen,
        n_labeled=problem.n_labeled,
        random_state=1000 * seed + repeat,
    )
    return _marked(found.curves, problem, repeat), _marked(found.everything, problem, repeat)


def _marked(table: pd.DataFrame, problem: Problem, repeat: int) -> pd.DataFrame:
    table = table.assign(repeat=repeat)
    table.insert(0, "problem", problem.title)
    return table
