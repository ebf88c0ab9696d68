"""The example of figure 4 runs as a script and shows what its text says; so does the experiment, on a few seeds."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "gaussian_process" / "plot_figure4_toys.py"
EXPERIMENT = ROOT / "experiments" / "bayesian_co_training" / "toys.py"


@pytest.mark.slow
def test_example_writes_its_picture_and_the_claims_hold(tmp_path):
    picture = tmp_path / "figure4.png"
    finished = subprocess.run(
        [sys.executable, str(EXAMPLE), str(picture)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert finished.returncode == 0, finished.stderr
    assert picture.stat().st_size > 50_000
    accuracy = {letter: float(value) for letter, value in re.findall(r"\((\w)\).*accuracy ([\d.]+)", finished.stdout)}
    assert sorted(accuracy) == ["b", "c", "e", "f", "h", "i"]
    assert min(accuracy["b"], accuracy["c"]) > 0.95  # both solve the first problem
    assert accuracy["f"] > 0.9  # only the Bayesian form solves the second
    assert accuracy["e"] < accuracy["f"] - 0.1
    assert accuracy["h"] > 0.85  # only both features together solve the third
    assert accuracy["i"] < 0.65


@pytest.mark.slow
def test_experiment_separates_the_methods_on_three_seeds():
    spec = importlib.util.spec_from_file_location("toys", EXPERIMENT)
    toys = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toys)

    def accuracy(method, *problem):
        return toys.evaluate(method, *problem, seeds=3)["accuracy"]

    assert accuracy("fixed 0.1", "a", 2, 200) > 0.97
    assert accuracy("fixed 0.1", "d", 10, 200) < 0.9  # equal variances do not help where one view is noise
    assert accuracy("evidence-weighted average", "d", 10, 100) > 0.92
    assert accuracy("GP concatenated", "g", 5, 200) > 0.88
    assert abs(accuracy("maximized evidence", "g", 5, 200) - 0.5) < 0.1
