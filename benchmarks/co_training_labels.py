"""What labels cost the averaged fit: features against matrices of the labeled samples, in one run.

    python benchmarks/co_training_labels.py [n_labeled ...]

Bundled heart patients (920, six views), default classifier, then the stack of fits alone with every setting forced to a matrix.
Seconds of processor time, which other work on the machine disturbs least; set OMP_NUM_THREADS to fix the BLAS threads.
"""

import sys
import time
from unittest.mock import patch

import numpy as np

from coview.compose import TableEncoder
from coview.datasets import load_heart_disease
from coview.gaussian_process import BayesianCoTrainingClassifier, _chunks
from coview.inference import _labeled_covariance


def fit_seconds(views: object, y: object) -> float:
    """Processor seconds of one default fit."""
    start = time.process_time()
    BayesianCoTrainingClassifier().fit(views, y)
    return time.process_time() - start


def main() -> None:
    """Print one line per number of labels."""
    patients = load_heart_disease()
    views = TableEncoder().fit_transform(patients.frames)
    order = np.random.default_rng(0).permutation(len(patients.target))
    print("labels  features [s]  matrices [s]  ratio")
    for n_labeled in [int(arg) for arg in sys.argv[1:]] or [46, 92, 300, 613]:
        y = np.full(len(order), np.nan)
        y[order[:n_labeled]] = patients.target.to_numpy()[order[:n_labeled]]
        features = fit_seconds(views, y)
        with (
            patch.object(_labeled_covariance, "factored_width", lambda *_: None),
            patch.object(_chunks, "factored_width", lambda *_: None),
        ):
            matrices = fit_seconds(views, y)
        print(f"{n_labeled:6d}  {features:12.2f}  {matrices:12.2f}  {matrices / features:5.1f}", flush=True)


if __name__ == "__main__":
    main()
