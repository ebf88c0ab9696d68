"""Laplacian learners on two moons and two lines against reference errors (``tests/golden/corls_toy_reference.json``, toy B)."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from coview import Views
from coview.semi_supervised import (
    CoLaplacianLeastSquaresClassifier,
    CoLaplacianSVC,
    LaplacianLeastSquaresClassifier,
    LaplacianSVC,
)

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "corls_toy_reference.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
SINGLE = {"lapsvm": LaplacianSVC, "laprls": LaplacianLeastSquaresClassifier}
JOINT = {"co-lapsvm": CoLaplacianSVC, "co-laprls": CoLaplacianLeastSquaresClassifier}
REFERENCES = [name for name in CASES["errors"]["outputs"] if name.startswith("B ") and "lap" in name]
N = 50


def moons_and_lines(seed, *, moon_noise, line_noise, length, gap=1.0, angle=30.0):
    """The generator of the file's conventions."""
    rng = np.random.default_rng(seed)
    a = np.deg2rad(angle)
    direction, across = np.array([np.cos(a), np.sin(a)]), np.array([-np.sin(a), np.cos(a)])
    moons, lines, along = [], [], []
    for sign in (1.0, -1.0):
        t, e = rng.uniform(0.0, np.pi, N), rng.normal(size=(N, 2))
        s, g = rng.uniform(-0.5, 0.5, N), rng.normal(size=(N, 2))
        arc = (
            np.column_stack([np.cos(t), np.sin(t)]) if sign > 0 else np.column_stack([1.0 - np.cos(t), 0.5 - np.sin(t)])
        )
        moons.append(arc + moon_noise * e - np.array([0.5, 0.25]))
        lines.append(length * s[:, None] * direction + sign * gap / 2 * across + line_noise * g)
        along.append(s)
    ends = [int(np.argmax(along[0])), N + int(np.argmin(along[1]))]
    return np.vstack(moons), np.vstack(lines), ends


def test_generator():
    out = CASES["generator_check"]["outputs"]
    moons, lines, ends = moons_and_lines(0, moon_noise=0.1, line_noise=0.1, length=6.0)
    for rows, key in (
        (moons[:3], "X1_first3"),
        (moons[-2:], "X1_last2"),
        (lines[:3], "X2_first3"),
        (lines[-2:], "X2_last2"),
    ):
        np.testing.assert_allclose(rows, out[key], rtol=1e-12)
    assert ends == out["labelled_indices"]


def learner(name):
    """The learner that a row of the reference means."""
    kind = name.split()[1].rstrip(",")
    options = {
        "kernel": [RBF(0.35), "linear"],
        "gamma_ambient": 1e-4,
        "gamma_intrinsic": 10.0,
        "graph": {"n_neighbors": 6},
    }
    if kind in SINGLE:
        return SINGLE[kind](**options)
    return JOINT[kind](**options, graph_weights=float(name.split("alpha=")[1].split()[0].rstrip(",")))


def errors(name, seeds):
    """Errors of both views on the unlabeled samples (n_seeds, 2)."""
    moon_noise = 0.05 if "clean" in name else 0.4
    truth, found = np.repeat([1.0, -1.0], N), []
    for seed in seeds:
        moons, lines, _ = moons_and_lines(seed, moon_noise=moon_noise, line_noise=0.05, length=3.0)
        y = np.full(2 * N, np.nan)
        y[[0, N]] = [1.0, -1.0]
        X = Views([moons, lines], names=["moons", "lines"])
        model = learner(name).fit(X, y)
        rest = np.isnan(y)
        found.append([(model.predict(X, view=view)[rest] != truth[rest]).mean() for view in ("moons", "lines")])
    return np.array(found)


@pytest.mark.parametrize("name", REFERENCES)
def test_mean_errors(name):
    case = CASES["errors"]
    expected = np.array(case["outputs"][name]["mean_error"])
    np.testing.assert_allclose(errors(name, range(30)).mean(axis=0), expected, rtol=0, atol=case["atol"])


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_mean_errors_on_fresh_seeds(name):
    case = CASES["errors_fresh_seeds"]
    expected = np.array(case["outputs"][name]["mean_error"])
    np.testing.assert_allclose(errors(name, range(1000, 1100)).mean(axis=0), expected, rtol=0, atol=case["atol"])


def test_the_clean_view_helps_the_noisy_one():
    """The claim of figure 3: joint graphs with most weight on the lines recover the noisy moons."""
    apart, joint = (
        errors(name, range(2000, 2020))[:, 0]
        for name in ("B lapsvm, noisy moons", "B co-lapsvm, noisy moons, alpha=0.9")
    )
    assert joint.mean() < apart.mean() - 0.1
