"""Why asking pays on one problem and not on another: `coview.acquisition.diagnose` at the start of the curves.

Run from the folder ``experiments``: ``python -m active_sensing_main.diagnoses DATA REPEATS``, where DATA holds the data. It
writes ``measurement_diagnoses.json`` into the package, ``src/coview/report/stored``, for the report and the demonstration.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from coview import Views
from coview.acquisition import Diagnosis, diagnose
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.model_selection import hide_labels, label_draws

from .problems import PROBLEMS, Problem
from .stored import STORED

__all__ = ["diagnose_start", "summarize"]

_HIDDEN = 0.5


def diagnose_start(problem: Problem, data: Path, repeat: int) -> Diagnosis:
    """The diagnosis of the default model where half of all pairs are hidden and few labels are given."""
    samples, rng = problem.read(data, repeat), np.random.default_rng(repeat)
    presence = rng.random(samples.views.presence.shape) >= _HIDDEN
    presence[:, [name in problem.always_seen for name in samples.views.names]] = True
    bare = np.flatnonzero(~presence.any(axis=1))
    presence[bare, rng.integers(presence.shape[1], size=bare.size)] = True
    blocks = [samples.views[name] for name in samples.views.names]
    views = Views(blocks, names=samples.views.names, presence=presence)
    [labeled] = label_draws(samples.target, problem.n_labeled, n_draws=1, random_state=repeat)
    y = hide_labels(samples.target.astype(object), labeled)
    return diagnose(BayesianCoTrainingClassifier(random_state=0), views, y, random_state=repeat)


def summarize(found: Sequence[Diagnosis]) -> dict[str, Any]:
    """What is said in most repeats, in the words of the first that says it, and how far forecasts came true.

    Parameters
    ----------
    found : sequence of Diagnosis
        One per repeat.

    Returns
    -------
    summary : dict
        ``n_repeats``; ``agreement``, mean rank correlation of forecasts and what came true; ``words``, a list of (statement,
        number of repeats).
    """
    said: dict[str, list[str]] = {}
    for diagnosis in found:
        for view_or_none, text in (_parts(line, diagnosis.views) for line in diagnosis.words):
            for name in view_or_none:
                said.setdefault(f"{name}|{re.sub(r'[-+0-9.]+', '#', text)}", []).append(
                    f"{name}: {text}" if name else text
                )
    common = [(lines[0], len(lines)) for lines in said.values() if len(lines) > len(found) / 2]
    agreement = float(np.mean([diagnosis.whole["agreement"] for diagnosis in found]))
    return {"n_repeats": len(found), "agreement": round(agreement, 3), "words": common}


def _parts(line: str, views: pd.DataFrame) -> tuple[list[str], str]:
    """The views that a line is about, one empty name where it is about the model, and what it says of them."""
    head, _, text = line.partition(": ")
    names = head.split(", ")
    return (names, text) if set(names) <= set(views.index) else ([""], line)


def _main(data: Path, repeats: int) -> Path:
    content = {}
    with threadpool_limits(1):
        for problem in PROBLEMS:
            found = []
            for repeat in range(repeats):
                found.append(diagnose_start(problem, data, repeat))
                print(f"{problem.title}: repeat {repeat + 1} of {repeats}", flush=True)
            content[problem.title] = summarize(found)
    path = STORED / "measurement_diagnoses.json"
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    print(_main(Path(sys.argv[1]), int(sys.argv[2])))
