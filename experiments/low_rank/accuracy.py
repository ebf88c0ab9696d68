"""How near features of a given rank come to exact kernels, on real data.

The model is the classifier with fixed parameters: per view an RBF kernel with 1.5 times the median distance as its width, a
linear kernel for sparse views; view variances of a tenth of the kernel's diagonal; latent function of the views' mean, and the
consensus, each with prior variance 100 (uncentered kernels of such widths are mostly a constant, which takes most of it).
Everything is compared with exact kernels on the same labels::

    python experiments/low_rank/accuracy.py --data DIR            # about ten minutes on two cores
    python experiments/low_rank/accuracy.py --data DIR --sets webkb_course --ranks 10 50
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from coview.datasets import fetch
from coview.inference import (
    ConsensusPrior,
    DenseConsensus,
    FeatureConsensus,
    HeldFeatures,
    MeanPrior,
    ViewWeights,
    class_probabilities,
    labeled_covariance,
    laplace_fit,
    latent_posteriors,
)
from coview.kernels import LandmarkFeatures, SpectralFeatures, ViewScaling, gram, resolve_kernel

RANKS = (10, 25, 50, 100, 200)
VIEW_VARIANCE = 0.1
AMPLITUDE = 100.0
LABELS_PER_CLASS = 20
DRAWS = 2
CANDIDATES = 2000
# Rows of each set at most: exact kernels hold n x n matrices.
MOST_ROWS = 4000
LATENT = {True: "mean", False: "consensus"}


@dataclass(frozen=True)
class Problem:
    """Scaled views, kernels and classes of one data set."""

    name: str
    blocks: list[Any]
    presence: NDArray[np.bool_]
    codes: NDArray[np.intp]
    kernels: list[Any]

    @classmethod
    def of(cls, name: str, folder: str) -> "Problem":
        """Read a set; rows of zeros in sparse views are missing views, and samples without any view are left out."""
        bunch = fetch(name, folder)
        if any(sp.issparse(bunch.views[view]) for view in bunch.views.names):
            bunch = fetch(name, folder, empty_rows="missing")
        views = bunch.views
        rows = np.flatnonzero(views.presence.any(axis=1))
        if rows.size > MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
        views = views[rows]
        blocks = [ViewScaling.of(views[view]).transform(views[view]) for view in views.names]
        state = np.random.RandomState(0)
        kinds = ["linear" if sp.issparse(block) else "rbf" for block in blocks]
        kernels = [resolve_kernel(k, block, state, width_factor=1.5) for k, block in zip(kinds, blocks, strict=True)]
        codes = np.unique(bunch.target.to_numpy()[rows], return_inverse=True)[1]
        return cls(name, blocks, views.presence, codes, kernels)

    @property
    def weights(self) -> ViewWeights:
        """A tenth of each kernel's diagonal."""
        return ViewWeights.of(VIEW_VARIANCE, len(self.blocks))

    @cached_property
    def exact(self) -> DenseConsensus:
        """The consensus of exact kernels."""
        grams = [gram(kernel, block) for kernel, block in zip(self.kernels, self.blocks, strict=True)]
        return DenseConsensus(grams, self.weights, self.presence)

    def approximate(self, make: Callable[[Any, Any], NDArray[np.float64]]) -> FeatureConsensus:
        """The consensus of one feature map per view."""
        features = [make(kernel, block) for kernel, block in zip(self.kernels, self.blocks, strict=True)]
        return FeatureConsensus.of(HeldFeatures(features, self.presence), self.weights)

    def draw(self, seed: int) -> NDArray[np.intp]:
        """Labeled samples, the same number of each class."""
        rng = np.random.default_rng(seed)
        classes = [np.flatnonzero(self.codes == c) for c in np.unique(self.codes)]
        return np.sort(np.concatenate([rng.choice(rows, LABELS_PER_CLASS, replace=False) for rows in classes]))

    def probabilities(self, consensus: Any, rows: NDArray[np.intp], *, mean: bool) -> NDArray[np.float64]:
        """Class probabilities of the samples without a label."""
        prior = MeanPrior(consensus) if mean else ConsensusPrior(consensus)
        scale = np.array([AMPLITUDE / prior.mean_diagonal])
        labels = self.codes[rows]
        positives = [1] if self.codes.max() == 1 else range(self.codes.max() + 1)
        targets = np.array([np.where(labels == c, 1.0, -1.0) for c in positives])
        covariance = labeled_covariance(prior, rows, scale, 0.0).take(np.zeros(len(targets), dtype=np.intp))
        posterior = latent_posteriors(prior, rows, scale, 0.0, laplace_fit(covariance, targets))[0]
        probabilities = class_probabilities(*posterior.training(), 1.0, averaged=not mean)
        return np.delete(probabilities, rows, axis=0)


def spectral(rank: int) -> Callable[[Any, Any], NDArray[np.float64]]:
    """The leading spectrum over at most 2,000 seeded rows: 2,000 kernel values for every other row."""

    def make(kernel: Any, block: Any) -> NDArray[np.float64]:
        features = SpectralFeatures(kernel, rank, scale=False)
        if block.shape[0] <= CANDIDATES:
            return features.fit_transform(block)
        rows = np.sort(np.random.RandomState(0).choice(block.shape[0], CANDIDATES, replace=False))
        return features.fit(block[rows]).transform(block)

    return make


def pivots(rank: int) -> Callable[[Any, Any], NDArray[np.float64]]:
    """As many landmarks as components, chosen by pivoted Cholesky among the same rows."""
    return _through(rank, rank)


def landmarks(rank: int) -> Callable[[Any, Any], NDArray[np.float64]]:
    """The leading spectrum through twice as many landmarks, at least 200: what coview uses beyond 2,000 rows."""
    return _through(rank, max(200, 2 * rank))


def _through(rank: int, n_landmarks: int) -> Callable[[Any, Any], NDArray[np.float64]]:
    options = {"scale": False, "n_candidates": CANDIDATES, "random_state": 0}
    return lambda kernel, block: LandmarkFeatures(kernel, rank, n_landmarks, **options).fit_transform(block)


METHODS = {"spectrum": spectral, "landmarks": landmarks, "pivots": pivots}


def average_loss(
    probabilities: Sequence[NDArray[np.float64]], problem: Problem, labeled: Sequence[NDArray[np.intp]]
) -> float:
    """Mean negative log probability of the classes of the samples without a label, over label draws."""
    losses = []
    for p, rows in zip(probabilities, labeled, strict=True):
        truth = np.delete(problem.codes, rows)
        losses.append(-np.log(np.maximum(p[np.arange(truth.size), truth], 1e-300)).mean())
    return float(np.mean(losses))


def compare(problem: Problem, ranks: Sequence[int], draws: int = DRAWS) -> pd.DataFrame:
    """One row per method and rank, means over label draws.

    Returns
    -------
    table : DataFrame
        Exact kernels first. ``seconds`` of a processor for the feature maps; ``K_s``, relative Frobenius norm of the error of
        the mean's covariance with the labeled rows; for each latent function ``dp``, mean absolute difference of the
        probabilities of unlabeled samples, and ``log loss``.
    """
    labeled = [problem.draw(seed) for seed in range(draws)]
    exact = {
        mean: [problem.probabilities(problem.exact, rows, mean=mean) for rows in labeled] for mean in (True, False)
    }
    columns = [MeanPrior(problem.exact).columns(rows) for rows in labeled]
    first = {f"log loss {LATENT[mean]}": average_loss(exact[mean], problem, labeled) for mean in exact}
    table: list[dict[str, Any]] = [{"features": "exact kernels", **first}]
    for name, method in METHODS.items():
        for rank in ranks:
            start = time.process_time()
            consensus = problem.approximate(method(rank))
            row = {"features": name, "rank": rank, "seconds": time.process_time() - start}
            pairs = zip((MeanPrior(consensus).columns(rows) for rows in labeled), columns, strict=True)
            row["K_s"] = float(np.mean([np.linalg.norm(got - want) / np.linalg.norm(want) for got, want in pairs]))
            for mean, latent in LATENT.items():
                got = [problem.probabilities(consensus, rows, mean=mean) for rows in labeled]
                row[f"dp {latent}"] = float(
                    np.mean([np.abs(a - b).mean() for a, b in zip(got, exact[mean], strict=True)])
                )
                row[f"log loss {latent}"] = average_loss(got, problem, labeled)
            table.append(row)
    return pd.DataFrame(table)


def markdown(table: pd.DataFrame) -> str:
    """The table as the README shows it."""
    numbers = table[["K_s", *(f"{figure} {latent}" for latent in LATENT.values() for figure in ("dp", "log loss"))]]
    text = numbers.map(lambda value: "" if np.isnan(value) else f"{value:.4f}")
    text.insert(0, "seconds", table["seconds"].map(lambda value: "" if np.isnan(value) else f"{value:.2f}"))
    text.insert(0, "rank", table["rank"].map(lambda value: "" if np.isnan(value) else f"{value:.0f}"))
    text.insert(0, "features", table["features"])
    rows = [list(text.columns), ["---"] * text.shape[1], *text.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> int:
    """Print one table per set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of the data sets, as `coview.datasets.fetch` reads them")
    parser.add_argument("--sets", nargs="+", default=["mfeat", "citeseer", "satimage"])
    parser.add_argument("--ranks", nargs="+", type=int, default=RANKS)
    options = parser.parse_args()
    for name in options.sets:
        problem = Problem.of(name, options.data)
        print(f"\n{name}: {len(problem.codes):,} samples, {len(problem.blocks)} views")
        print(markdown(compare(problem, options.ranks)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
