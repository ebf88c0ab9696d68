"""One clustering of one data set under one condition, scored and kept.

Run a part by itself with ``python experiments/clustering_comparison/pieces.py --data DIR [--sets mfeat] [--methods SNF KMeans]``:
what is on disk already is not computed again.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from threadpoolctl import threadpool_limits

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from clustering_comparison.methods import SINGLE_VIEWS, Method, available
from clustering_comparison.problems import CONDITIONS, DATASETS, REMOVED, Problem, load_problem

from coview.metrics import cluster_entropy

__all__ = ["BEST_VIEW", "FOLDER", "LONG", "MEAN_VIEW", "MEASURES", "MOST_REPEATS", "kept", "run_set"]

FOLDER = Path(__file__).parent / "results" / "scores"
BEST_VIEW, MEAN_VIEW = "spectral, best view (chosen by the classes)", "spectral, mean of the views"
MEASURES = ("nmi", "ari", "entropy")
# A method whose first run takes more seconds than this is run so many times in all.
LONG = {20.0: 2, 60.0: 1}
# Most repeats of the large sets.
MOST_REPEATS = {"mfeat": 2, "citeseer": 2}


def run_set(
    name: str,
    data: Path,
    folder: Path,
    repeats: int,
    seed: int,
    *,
    methods: Sequence[Method] | None = None,
    echo: Callable[[str], None] = print,
) -> None:
    """Run what is not kept yet of a data set, and keep it.

    Parameters
    ----------
    name : str
    data, folder : Path
        Of the data sets; of the scores, one file per data set and method.
    repeats, seed : int
    methods : sequence of Method, default=None
        None for all that can run.
    echo : callable
    """
    for repeat in range(min(repeats, MOST_REPEATS.get(name, repeats))):
        for condition in CONDITIONS[name]:
            problem = load_problem(name, condition, repeat, seed, data)
            for method in available() if methods is None else methods:
                if not method.suits(problem):
                    continue
                file = folder / f"{name}-{_plain(method.name)}.jsonl"
                done = [row for row in _rows(file) if row["condition"] == condition]
                if any(row["repeat"] == repeat for row in done) or repeat >= _allowed(method, condition, done):
                    continue
                rows = [
                    {"data": name, "condition": condition, "repeat": repeat, **row}
                    for row in _run(method, problem, seed, repeat)
                ]
                with file.open("a", encoding="utf-8") as stream:
                    stream.writelines(f"{json.dumps(row)}\n" for row in rows)
                echo(f"{name}, {condition}, {repeat}, {method.name}: {rows[0]['seconds']:.1f} s {rows[0]['error']}")


def kept(folder: Path, names: Sequence[str], repeats: int) -> list[dict[str, Any]]:
    """All rows of these data sets and so many repeats."""
    rows = []
    for name in names:
        most = min(repeats, MOST_REPEATS.get(name, repeats))
        files = sorted(folder.glob(f"{name}-*.jsonl"))
        rows += [row for file in files for row in _rows(file) if row["repeat"] < most]
    return list({(row["data"], row["condition"], row["method"], row["repeat"]): row for row in rows}.values())


def _allowed(method: Method, condition: str, done: Sequence[dict[str, Any]]) -> float:
    """Once where nothing is random; fewer where it is long."""
    if not method.starts and condition != REMOVED:
        return 1
    longest = max((row["seconds"] for row in done), default=0.0)
    return min((times for seconds, times in LONG.items() if longest > seconds), default=np.inf)


def _rows(file: Path) -> list[dict[str, Any]]:
    if not file.is_file():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _run(method: Method, problem: Problem, seed: int, repeat: int) -> Iterator[dict[str, Any]]:
    """Scores and processor seconds; a failure is a row without scores."""
    start, error, found = time.process_time(), "", None
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            found = method.fit(problem, 1000 * seed + repeat)
        except Exception as failure:  # of any library; told in the tables
            error = f"{type(failure).__name__}: {failure}"
    seconds = time.process_time() - start
    facts = {"seconds": seconds, "error": error}
    if found is None:
        yield {"method": method.name, **dict.fromkeys((*MEASURES, "n_clusters", "noise")), **facts}
    elif method.name == SINGLE_VIEWS:
        scored = [_scores(problem.labels, labels) for labels in found]
        best = {name: (min if name == "entropy" else max)(row[name] for row in scored) for name in scored[0]}
        mean = {name: float(np.mean([row[name] for row in scored])) for name in scored[0]}
        yield {"method": BEST_VIEW, **best, **facts}
        yield {"method": MEAN_VIEW, **mean, **facts}
    else:
        yield {"method": method.name, **_scores(problem.labels, found), **facts}


def _scores(truth: NDArray[Any], labels: NDArray[Any]) -> dict[str, float]:
    """Samples in no cluster, labeled -1, count as one more."""
    return {
        "nmi": float(normalized_mutual_info_score(truth, labels)),
        "ari": float(adjusted_rand_score(truth, labels)),
        "entropy": float(cluster_entropy(truth, labels)),
        "n_clusters": len(np.unique(labels[labels >= 0])),
        "noise": float(np.mean(labels < 0)),
    }


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sets", nargs="+", choices=list(DATASETS), default=list(DATASETS))
    parser.add_argument("--methods", nargs="+", help="parts of names", default=[""])
    parser.add_argument("--without", nargs="+", help="parts of names", default=[])
    given = parser.parse_args()
    folder = FOLDER / f"seed-{given.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [
        method
        for method in available()
        if any(part in method.name for part in given.methods) and not any(part in method.name for part in given.without)
    ]
    for name in given.sets:
        run_set(
            name,
            given.data,
            folder,
            given.repeats,
            given.seed,
            methods=chosen,
            echo=lambda line: print(line, flush=True),
        )


if __name__ == "__main__":
    _main()
