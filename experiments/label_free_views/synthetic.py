"""Section 3.1 of "A generative semi-supervised model for multi-view learning when some views are label-free".

Three Gaussian components of covariance 2 I in two views x and z of one feature each, two classes; 437 labeled samples have x
only, 437 unlabeled ones have both. Classes are predicted from z (SSML). Beside it, a mixture of 437 samples of z with their
labels (DSML). The accuracy of a fitted model is computed under the true density, on a grid, and not on test samples. Each fit
is the best of 20 random starts by the likelihood. The paper shows its sweeps over the noise variance, the number of factors
and the number of components as curves without numbers; the figures beside ours come from an independent implementation.

    python experiments/label_free_views/synthetic.py [--repeats 20] [--seed 0] [--jobs 1]    # about 12 s per repeat on one core
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from coview.mixture import FactorMixtureClassifier

__all__ = ["BAYES_ACCURACY", "REFERENCE", "SETTINGS", "accuracy_from_z", "draw_samples", "run", "summarize"]

CLASS_PROBABILITIES = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9]])
MEANS = np.array([[5.0, 10.0], [5.0, 5.0], [0.0, 0.0]])
VARIANCE = 2.0
N_LABELED = N_UNLABELED = 437
RESTARTS = 20
MAX_ITER = 60
TOL = 2e-6  # nats per sample: a millionth of the log-likelihood
BAYES_ACCURACY = 0.84890
GRID_STEP = 0.005

# (components, factors, noise variance): the sweeps go through the truth, (3, 2, 1).
SETTINGS = (
    *((n, 2, 1.0) for n in (1, 2, 3, 4, 5)),
    *((3, d, 1.0) for d in (1, 3, 4)),
    *((3, 2, noise) for noise in (0.25, 0.5, 2.0, 4.0)),
)

# Mean and deviation of the accuracy over trials, and how many, of an independent implementation with 20 restarts.
REFERENCE = {
    ("SSML", 3, 2, 1.0): (0.649, 0.202, 100),
    ("DSML", 3, 2, 1.0): (0.8483, 0.0009, 100),
    ("SSML", 2, 2, 1.0): (0.693, 0.026, 30),
    ("DSML", 2, 2, 1.0): (0.8478, 0.0015, 30),
    ("SSML", 1, 2, 1.0): (0.6, 0.0, 5),
    ("DSML", 1, 2, 1.0): (0.6, 0.0, 5),
}


def draw_samples(n: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features (n, 2) and classes of samples of the true model."""
    component = rng.integers(len(MEANS), size=n)
    X = MEANS[component] + np.sqrt(VARIANCE) * rng.standard_normal((n, 2))
    return X, (rng.random(n) < CLASS_PROBABILITIES[component, 1]).astype(np.int64)


def true_joint(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Density of z and each class (n, 2)."""
    components = norm.pdf(z[:, None], MEANS[:, 1], np.sqrt(VARIANCE)) / len(MEANS)
    return np.asarray(components @ CLASS_PROBABILITIES)


def accuracy_from_z(predict: Callable[[NDArray[np.float64]], NDArray[np.int64]]) -> float:
    """Probability that a rule z (n, 1) -> class is right, by summation."""
    z = np.arange(MEANS[:, 1].min() - 10.0, MEANS[:, 1].max() + 10.0, GRID_STEP)
    chosen = predict(z[:, None])
    return float(true_joint(z)[np.arange(len(z)), chosen].sum() * GRID_STEP)


def fitted(X: Any, y: NDArray[np.int64], setting: tuple[int, int, float], seed: int) -> FactorMixtureClassifier:
    """The best of the random starts."""
    n_components, n_factors, noise_variance = setting
    model = FactorMixtureClassifier(
        n_components,
        n_factors,
        noise_variance=noise_variance,
        init="random",
        standardize=False,
        n_init=RESTARTS,
        max_iter=MAX_ITER,
        tol=TOL,
        classes=[0, 1],
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # SSML climbs an almost flat ridge
        return model.fit(X, y)


def trial(repeat: int, seed: int, settings: Sequence[tuple[int, int, float]] = SETTINGS) -> list[dict[str, Any]]:
    """Accuracies of both scenarios on one draw of the data, a row per setting."""
    rng = np.random.default_rng([seed, repeat])
    (x, codes), (pairs, _) = draw_samples(N_LABELED, rng), draw_samples(N_UNLABELED, rng)
    direct, direct_codes = draw_samples(N_LABELED, rng)
    label_free = {
        "x": np.concatenate([x[:, :1], pairs[:, :1]]),
        "z": np.concatenate([np.full((N_LABELED, 1), np.nan), pairs[:, 1:]]),
    }
    partly = np.concatenate([codes, np.full(N_UNLABELED, -1)])
    problems = {"SSML": (label_free, partly), "DSML": ({"z": direct[:, 1:]}, direct_codes)}
    rows = []
    for n_components, n_factors, noise_variance in settings:
        for scenario, (X, y) in problems.items():
            model = fitted(X, y, (n_components, n_factors, noise_variance), seed=repeat)
            accuracy = accuracy_from_z(lambda z, model=model: model.predict({"z": z}))
            rows.append(
                {
                    "scenario": scenario,
                    "components": n_components,
                    "factors": n_factors,
                    "noise_variance": noise_variance,
                    "repeat": repeat,
                    "accuracy": accuracy,
                }
            )
    return rows


def run(
    repeats: int,
    seed: int,
    jobs: int = 1,
    echo: Callable[[str], None] = print,
    settings: Sequence[tuple[int, int, float]] = SETTINGS,
) -> list[dict[str, Any]]:
    """Accuracy from z of every scenario, setting and draw of the data.

    Parameters
    ----------
    repeats : int
        Draws of the data; the same for all settings.
    seed : int
    jobs : int
        Draws worked on at a time.
    echo : callable
        Takes lines about the progress.
    settings : sequence of (components, factors, noise variance)

    Returns
    -------
    rows : list of dict
        ``scenario, components, factors, noise_variance, repeat, accuracy``.
    """
    start = time.perf_counter()
    runs = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(trial)(repeat, seed, settings) for repeat in range(repeats)
    )
    rows = [row for part in runs for row in part]
    echo(f"synthetic, {repeats} draws: {time.perf_counter() - start:.0f} s")
    return rows


def summarize(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean, deviation and shares of high and low accuracies per scenario and setting, the reference beside them."""
    keys = ["scenario", "components", "factors", "noise_variance"]
    summary = []
    for key, values in pd.DataFrame(rows).groupby(keys, sort=False)["accuracy"]:
        mean, sd, n = REFERENCE.get(key, (None, None, None))
        summary.append(
            {
                **dict(zip(keys, key, strict=True)),
                "mean": float(values.mean()),
                "sd": float(values.std()) if len(values) > 1 else None,
                "above .80": float((values > 0.8).mean()),
                "below .55": float((values < 0.55).mean()),
                "n": len(values),
                "reference": mean,
                "reference_sd": sd,
                "reference_n": n,
            }
        )
    return summary


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description="Section 3.1: accuracy from z over noise variance, factors, components."
    )
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args(argv)
    rows = run(chosen.repeats, chosen.seed, chosen.jobs)
    print(pd.DataFrame(summarize(rows)).to_string(index=False, float_format=lambda value: f"{value:.4f}"))


if __name__ == "__main__":
    main()
