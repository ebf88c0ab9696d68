"""Data and models that several benchmarks use: random views, complete or half missing, and the peers beside coview."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.semi_supervised import LabelSpreading

from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

N_FEATURES = 5
WIDTH = 2.0


@dataclass(frozen=True)
class Problem:
    """Views with labels on the first samples.

    Attributes
    ----------
    views : list of ndarray of shape (n, 5)
        Standard normal; where a view is missing its row is NaN.
    signal : ndarray of shape (n,)
        Sum of the views' first features, known everywhere.
    n_labeled : int
    """

    views: list[np.ndarray]
    signal: np.ndarray
    n_labeled: int

    @classmethod
    def random(cls, n: int, n_views: int, *, missing: bool, n_labeled: int | None = None, seed: int = 0) -> "Problem":
        """With ``missing``, every view but the first is absent from a random half of the samples; a fifth is labeled."""
        rng = np.random.default_rng(seed)
        views = [rng.standard_normal((n, N_FEATURES)) for _ in range(n_views)]
        signal = sum(view[:, 0] for view in views)
        if missing:
            for view in views[1:]:
                view[rng.permutation(n)[: n // 2]] = np.nan
        return cls(views, signal, n // 5 if n_labeled is None else n_labeled)

    @property
    def presence(self) -> np.ndarray:
        """True where a sample has a view (n, n_views)."""
        return np.column_stack([np.isfinite(view[:, 0]) for view in self.views])

    @property
    def target(self) -> np.ndarray:
        """The signal where it is labeled, NaN elsewhere."""
        return np.where(np.arange(self.signal.size) < self.n_labeled, self.signal, np.nan)

    @property
    def classes(self) -> np.ndarray:
        """Its sign where it is labeled, NaN elsewhere."""
        return np.where(np.arange(self.signal.size) < self.n_labeled, (self.signal > 0).astype(float), np.nan)

    @property
    def table(self) -> np.ndarray:
        """The views side by side (n, 5 n_views)."""
        return np.hstack(self.views)


FIXED = {
    "kernel": RBF(WIDTH),
    "latent": "consensus",
    "hyperparameters": "fixed",
    "approximation": "exact",
    "view_variances": 0.1,
}


def regressor(**parameters: Any) -> BayesianCoTrainingRegressor:
    """The paper's model with everything fixed."""
    return BayesianCoTrainingRegressor(**{**FIXED, "noise_variance": 0.1, **parameters})


def classifier(**parameters: Any) -> BayesianCoTrainingClassifier:
    """The same for classes."""
    return BayesianCoTrainingClassifier(**{**FIXED, **parameters})


def _on_the_table(estimator: Any) -> Pipeline:
    """On the views side by side, gaps filled by means."""
    return make_pipeline(SimpleImputer(), estimator)


def table_kernel(n_views: int) -> RBF:
    """As wide for the views side by side as the kernel of one is for it."""
    return RBF(WIDTH * np.sqrt(n_views))


def gaussian_process_regressor(n_views: int) -> Pipeline:
    """scikit-learn's exact regression at a fixed kernel."""
    return _on_the_table(GaussianProcessRegressor(table_kernel(n_views), alpha=0.1, optimizer=None))


def gaussian_process_classifier(n_views: int) -> Pipeline:
    """scikit-learn's Laplace approximation at a fixed kernel."""
    return _on_the_table(GaussianProcessClassifier(table_kernel(n_views), optimizer=None))


def label_spreading(n_views: int) -> Pipeline:
    """scikit-learn's graph method, which reads unlabeled rows too."""
    return _on_the_table(LabelSpreading(gamma=0.5 / (WIDTH**2 * n_views)))
