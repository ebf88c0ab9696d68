"""Table 2: pages of one university, half of them new, by Co-Laplacian support vector machines."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from coview.kernels import warped_kernel
from coview.metrics import precision_recall_breakeven

from .machines import HINGE, breakeven_of_rest, trials
from .problems import COLUMNS, Problem, label_draws
from .warping import RATIOS, graph_name, laplacians, penalty

__all__ = ["university_rows"]

_GRAPHS = ((10, False, 1), (50, False, 1))
_KIND = "Co-Lap 2"


def university_rows(problem: Problem, repeats: NDArray[np.intp], seed: int) -> Iterator[dict[str, Any]]:
    """Breakeven points of the unlabeled pages and of new ones.

    The paper does not say how it split. Here a random half of the pages of each kind is new in every repetition; 12 of the rest
    have labels.
    """
    for repeat in repeats:
        halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=int(1000 * seed + repeat))
        known, new = next(halves.split(problem.positive, problem.positive))
        training = problem.rows(known)
        labeled = label_draws(training.positive, int(repeat) + 1, seed)[repeat]
        signs = np.where(training.positive[labeled], 1.0, -1.0)
        grams = training.grams
        for graph in _GRAPHS:
            parts = laplacians(training.features, *graph)
            for column in COLUMNS:
                across = (problem.features[column][new] @ training.features[column].T).toarray()
                L = penalty(_KIND, column, parts)
                for ratio in RATIOS:
                    penalties = {"laplacian": L, "gamma_intrinsic": ratio}
                    both = np.vstack([grams[column], across])
                    kernel = warped_kernel(grams[column], K_new=both, **penalties)
                    for trial in trials(kernel, [labeled], signs):
                        if trial.loss == HINGE:
                            yield {
                                "method": "Co-LapSVM 2",
                                "column": column,
                                "setting": f"{graph_name(*graph)}, ratio {ratio:g}, ridge {trial.ridge:g}",
                                "repeat": int(repeat),
                                "breakeven": breakeven_of_rest(trial.scores[: len(known)], training.positive, labeled),
                                "held_out": trial.held_out[0],
                                "test": 100.0
                                * precision_recall_breakeven(problem.positive[new], trial.scores[len(known) :]),
                            }
