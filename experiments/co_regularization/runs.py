"""All methods on all draws of labels, part by part; a part that was stored is not run again."""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from .co_trained import co_trained_scores
from .full_labels import full_label_rows
from .machines import LEAST_SQUARES, breakeven_of_rest, trials
from .problems import COLUMNS, LINK, N_LABELS, PAGE, Problem, label_draws, load_course, load_universities
from .spectral_transducer import COSTS, SpectralGraph, neighbor_weights
from .transductive_svm import TRADE_OFFS, transductive_scores
from .universities import university_rows
from .warping import GRAPHS, JOINT, graph_name, laplacians, penalty, tied_kernels, warped_kernels

__all__ = ["KEYS", "RANDOM", "STRATIFIED", "parts_of", "run"]

# Which labels are drawn: any twelve, as in the paper, or three of courses and nine others, as in the one on co-training.
RANDOM, STRATIFIED = "12 random", "3 + 9"
KEYS = ["data", "draws", "method", "column", "setting"]
_SHUFFLES = 3
# Most repetitions of what is beside table 1.
_FEWER = {STRATIFIED: 10, "universities": 20, "transductive SVM": 20}
_TRANSDUCER_NEIGHBORS = (10, 50, 100, 200)

Rows = Iterator[dict[str, Any]]


def run(
    data: Path, *, repeats: int, seed: int, jobs: int, echo: Callable[[str], None], folder: Path | None = None
) -> pd.DataFrame:
    """Breakeven points of every method, setting and repetition.

    Parameters
    ----------
    data : Path
        Folder of the data sets.
    repeats : int
        Draws of labels.
    seed : int
        Of the draws.
    jobs : int
        Parts worked on at the same time.
    echo : callable
        Takes lines about the progress.
    folder : Path, default=None
        Where each part is stored once it is done, and looked for before.

    Returns
    -------
    scores : DataFrame
        `KEYS`, ``repeat``, ``breakeven`` (percent, over samples without a label), ``held_out`` (share of pairs of labels that are
        told apart by machines without both, NaN where not tried; 1 for a setting fixed beforehand, 0 for others) and ``test``
        (breakeven on new pages).
    """
    parts = parts_of(load_course(data), load_universities(data), repeats, seed)
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_stored)(name, part, folder) for name, part in parts.items()
    )
    frames = []
    for name, (frame, seconds) in zip(parts, runs, strict=True):
        echo(f"{name}: {seconds:.0f} s" if seconds else f"{name}: stored")
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def parts_of(
    course: Problem, universities: list[Problem], repeats: int, seed: int
) -> Mapping[str, Callable[[], list[dict[str, Any]]]]:
    """What is to be run, by name."""
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {}
    shuffles = np.arange(min(repeats, _SHUFFLES))[:, None]
    parts["all labels"] = partial(_rows, _full, course, shuffles, "all labels")
    kinds: dict[str, Callable[..., Rows]] = {
        "supervised": _supervised,
        "tied": partial(_tied, centered=False),
        "tied, centered": partial(_tied, centered=True),
        "transducer": _transducer,
    }
    kinds |= {graph_name(*graph): partial(_on_graphs, graph=graph) for graph in GRAPHS}
    kinds |= {"transductive SVM": _transductive, "co-trained": _co_trained}
    for draws, counts in ((RANDOM, None), (STRATIFIED, (3, N_LABELS - 3))):
        for name, kind in kinds.items():
            count = min(repeats, _FEWER.get(draws, repeats), _FEWER.get(name, repeats))
            drawn = label_draws(course.positive, count, seed, counts)
            parts[f"{draws}, {name}"] = partial(_rows, kind, course, drawn, draws)
        if draws == RANDOM:
            repetitions = np.arange(min(repeats, _FEWER.get("universities", repeats)))
            for problem in universities:
                kind = partial(university_rows, seed=seed)
                parts[problem.name] = partial(_rows, kind, problem, repetitions, draws)
    return parts


def _rows(kind: Callable[..., Rows], problem: Problem, drawn: NDArray[np.intp], draws: str) -> list[dict[str, Any]]:
    return [{"data": problem.name, "draws": draws, **row} for row in kind(problem, drawn)]


def _stored(name: str, part: Callable[[], list[dict[str, Any]]], folder: Path | None) -> tuple[pd.DataFrame, float]:
    """A part and the seconds of processor time it took, 0 where it was there."""
    path = None if folder is None else folder / f"{name.replace(' ', '_').replace(',', '')}.csv"
    if path is not None and path.exists():
        return pd.read_csv(path), 0.0
    start = time.process_time()
    frame = pd.DataFrame(part())
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(path.with_suffix(".part"), index=False)
        path.with_suffix(".part").rename(path)
    return frame, time.process_time() - start


def _signs(problem: Problem, labeled: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.where(problem.positive[labeled], 1.0, -1.0)


def _machines(
    problem: Problem, kernel: NDArray[np.float64], drawn: NDArray[np.intp], name: str, column: str, setting: str
) -> Rows:
    """Both losses on one kernel of all pages."""
    for repeat, labeled in enumerate(drawn):
        for trial in trials(kernel, [labeled], _signs(problem, labeled)):
            yield {
                "method": f"{name}{trial.loss}" if name.endswith("Lap") else name.replace("Lap", f"Lap{trial.loss}"),
                "column": column,
                "setting": f"{setting}ridge {trial.ridge:g}{', constant' if trial.constant else ''}",
                "repeat": repeat,
                "breakeven": breakeven_of_rest(trial.scores, problem.positive, labeled),
                "held_out": trial.held_out[0],
            }


def _supervised(problem: Problem, drawn: NDArray[np.intp]) -> Rows:
    for column, gram in problem.grams.items():
        for row in _machines(problem, gram, drawn, "Lap", column, ""):
            yield row | {"method": f"{row['method'].removeprefix('Lap')} (12)"}


def _on_graphs(problem: Problem, drawn: NDArray[np.intp], graph: tuple[int, bool, int]) -> Rows:
    grams, parts = problem.grams, laplacians(problem.features, *graph)
    for kind in JOINT:
        for column in COLUMNS:
            for ratio, kernel in warped_kernels(grams[column], penalty(kind, column, parts)):
                setting = f"{graph_name(*graph)}, ratio {ratio:g}, "
                yield from _machines(problem, kernel, drawn, kind, column, setting)


def _tied(problem: Problem, drawn: NDArray[np.intp], centered: bool) -> Rows:
    n = len(problem.positive)
    constants = "centered, " if centered else ""
    for coupling, kernel in tied_kernels(problem.grams, centered):
        for repeat, labeled in enumerate(drawn):
            for trial in trials(kernel, [labeled, labeled + n], _signs(problem, labeled)):
                if trial.loss == LEAST_SQUARES and trial.constant:  # two views would need two
                    continue
                for v, column in enumerate((LINK, PAGE)):
                    yield {
                        "method": f"Co-{trial.loss}",
                        "column": column,
                        "setting": f"{constants}coupling {coupling:g}, ridge {trial.ridge:g}",
                        "repeat": repeat,
                        "breakeven": breakeven_of_rest(trial.scores[v * n : (v + 1) * n], problem.positive, labeled),
                        "held_out": trial.held_out[v],
                    }


def _transducer(problem: Problem, drawn: NDArray[np.intp]) -> Rows:
    for column in COLUMNS:
        for k in _TRANSDUCER_NEIGHBORS:
            graph = SpectralGraph(neighbor_weights(problem.features[column], k))
            for repeat, labeled in enumerate(drawn):
                signs = _signs(problem, labeled)
                for c, scores in enumerate(graph.cut(labeled, signs)):
                    yield {
                        "method": "SGT",
                        "column": column,
                        "setting": f"{k} neighbors, cost {COSTS[c]:g}",
                        "repeat": repeat,
                        "breakeven": breakeven_of_rest(scores, problem.positive, labeled),
                        "held_out": float(k == 100 and COSTS[c] == 3200.0),
                    }


def _transductive(problem: Problem, drawn: NDArray[np.intp]) -> Rows:
    for column in COLUMNS:
        for repeat, labeled in enumerate(drawn):
            for trade_off, share in product(TRADE_OFFS, (None, problem.positive.mean())):
                signs = _signs(problem, labeled)
                scores = transductive_scores(problem.features[column], labeled, signs, trade_off, share)
                yield {
                    "method": "TSVM",
                    "column": column,
                    "setting": f"trade-off {trade_off:g}, share of {'the labels' if share is None else 'all classes'}",
                    "repeat": repeat,
                    "breakeven": breakeven_of_rest(scores, problem.positive, labeled),
                    "held_out": float(trade_off == 1.0 and share is None),
                }


def _co_trained(problem: Problem, drawn: NDArray[np.intp]) -> Rows:
    for repeat, labeled in enumerate(drawn):
        for loss, strength, n_rounds, scores in co_trained_scores(problem, labeled, repeat):
            for column, of_view in scores.items():
                yield {
                    "method": f"Co-trained {loss}",
                    "column": column,
                    "setting": f"{n_rounds} rounds, strength {strength:g}",
                    "repeat": repeat,
                    "breakeven": breakeven_of_rest(of_view, problem.positive, labeled),
                    "held_out": float(strength == 1.0 and n_rounds == 30),
                }


def _full(problem: Problem, shuffles: NDArray[np.intp]) -> Rows:
    for column, gram in problem.grams.items():
        for shuffle in shuffles[:, 0]:
            for row in full_label_rows(gram, problem.positive, int(shuffle)):
                yield {
                    "method": f"{row['loss']} (full)",
                    "column": column,
                    "setting": row["setting"],
                    "repeat": int(shuffle),
                    "breakeven": row["breakeven"],
                    "held_out": np.nan,
                }


if __name__ == "__main__":
    import sys

    run(Path(sys.argv[1]), repeats=int(sys.argv[3]), seed=0, jobs=1, echo=print, folder=Path(sys.argv[2]))
