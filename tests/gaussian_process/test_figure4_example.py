"""The example of figure 4 runs as a script and shows what its text says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "gaussian_process" / "plot_figure4_toys.py"


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
