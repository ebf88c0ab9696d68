"""Section 3.1 of the label-free views against an independent implementation: single trials say nothing, their mean does."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from ..golden.loader import GOLDEN

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "label_free_views" / "synthetic.py"
FILE = json.loads((GOLDEN / "mfa_reference_synthetic.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def synthetic():
    spec = importlib.util.spec_from_file_location("label_free_synthetic", EXPERIMENT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def accuracies(rows, scenario):
    return np.array([row["accuracy"] for row in rows if row["scenario"] == scenario])


def reference(n_components, max_iter):
    return next(run for run in FILE["runs"] if (run["n_components"], run["max_iter"]) == (n_components, max_iter))


def test_the_best_rule_has_the_accuracy_of_the_file(synthetic):
    best = synthetic.accuracy_from_z(lambda z: synthetic.true_joint(z[:, 0]).argmax(axis=1))
    np.testing.assert_allclose(best, FILE["bayes_accuracy"]["z"], atol=1e-6)
    assert pytest.approx(best, abs=1e-5) == synthetic.BAYES_ACCURACY


def test_one_component_predicts_the_larger_class(synthetic):
    rows = synthetic.run(2, 0, echo=lambda line: None, settings=[(1, 2, 1.0)])
    for scenario in ("SSML", "DSML"):
        np.testing.assert_allclose(accuracies(rows, scenario), 0.6, atol=1e-3)


@pytest.mark.slow
def test_three_components_have_the_mean_and_the_spread_of_the_reference(synthetic):
    """About a minute: 40 draws, 20 starts each. The bounds are those of ``how_to_test`` in the file."""
    rows = synthetic.run(40, 1, echo=lambda line: None, settings=[(3, 2, 1.0)])
    label_free, direct = accuracies(rows, "SSML"), accuracies(rows, "DSML")
    assert abs(label_free.mean() - reference(3, 60)["SSML"]["mean"]) < 0.1
    assert 0.15 < label_free.std(ddof=1) < 0.25
    assert direct.mean() > 0.84
    assert direct.std(ddof=1) < 0.01


@pytest.mark.slow
def test_two_components_are_nearly_determined(synthetic):
    rows = synthetic.run(12, 1, echo=lambda line: None, settings=[(2, 2, 1.0)])
    want = reference(2, 500)["SSML"]
    assert abs(accuracies(rows, "SSML").mean() - want["mean"]) < 4 * want["std"] / np.sqrt(12) + 0.01
    assert accuracies(rows, "DSML").mean() > 0.84
