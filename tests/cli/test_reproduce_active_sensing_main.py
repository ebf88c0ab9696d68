"""Active sensing with the default model on heart patients, run as a whole on one small round."""

import json
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coview.acquisition import Diagnosis

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "experiments"), *sys.path])
    return import_module("active_sensing_main.tables")


def test_runs_as_a_whole(tables, monkeypatch):
    problem = replace(tables.PROBLEMS[0], n_steps=1, batch_size=5)
    monkeypatch.setattr(tables, "PROBLEMS", (problem,))
    result = tables.reproduce(Path("data"), repeats=1, seed=0, jobs=1, echo=str)
    curves = pd.DataFrame(result["scores"])
    assert sorted(curves["n_measured"].unique()) == [0, 5]
    assert np.ptp(curves.loc[curves["step"] == 0, "auc"]) == 0.0
    assert (curves.loc[curves["step"] == 1, "cost"] > 0.0).all()
    assert "Cleveland, 30 labels | money | expected entropy per cost" in result["tables"]
    assert len(result["everything"]) == 1


def test_patients_are_those_with_complete_records(tables):
    samples = tables.PROBLEMS[0].read(Path("data"), 0)
    assert samples.views.presence.all()
    assert len(samples.views) == 297
    assert set(np.unique(samples.target)) == {0, 1}


def test_verdicts_follow_the_test(tables):
    rows = [
        ("p", repeat, name, step, step, 0.0, 0.5 + gain * step + 0.001 * repeat * step, -0.5)
        for repeat in range(4)
        for name, gain in (("random", 0.0), ("expected entropy", 0.1), ("variance", -0.1))
        for step in range(3)
    ]
    names = ["problem", "repeat", "criterion", "step", "n_measured", "cost", "auc", "log_score"]
    full = pd.DataFrame({"problem": ["p"], "repeat": [0], "auc": [0.9], "log_score": [-0.3]})
    text = tables.assemble(pd.DataFrame(rows, columns=names), full)["tables"]
    assert "| expected entropy | +0.150 ± 0.000 better" in text
    assert "| variance | -0.150 ± 0.000 worse" in text
    assert "-0.000 ± 0.000 even" in text or "+0.000 ± 0.000 even" in text


def test_what_most_diagnoses_say_is_kept_view_by_view(tables):
    diagnoses = import_module("active_sensing_main.diagnoses")
    views = pd.DataFrame(index=["ecg", "blood"])

    def found(*words):
        return Diagnosis(views, pd.Series({"agreement": 0.25 * len(words)}), list(words))

    summary = diagnoses.summarize(
        [
            found("ecg, blood: weak (-0.010 nats)", "There may be little to gain (0.5)."),
            found("ecg: weak (-0.031 nats)", "There may be little to gain (0.75)."),
            found("blood: weak (0.2 nats)"),
            found("ecg: weak (-0.5 nats)"),
        ]
    )
    assert summary["n_repeats"] == 4
    assert summary["words"] == [("ecg: weak (-0.010 nats)", 3)]
    assert summary["agreement"] == pytest.approx(0.25 * 6 / 4)


def test_stored_diagnoses_are_of_the_problems(tables):
    stored = json.loads((ROOT / "src/coview/report/stored/measurement_diagnoses.json").read_text(encoding="utf-8"))
    assert list(stored) == [problem.title for problem in tables.PROBLEMS]
