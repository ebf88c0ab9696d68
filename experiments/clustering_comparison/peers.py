"""The clusterings of other libraries, where they are installed; the experiment runs without them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import SpectralClustering
from sklearn.utils import check_array

from .problems import Problem

__all__ = ["PEERS", "Fit", "Peer", "always"]

Fit = Callable[[Problem, int], NDArray[Any]]
_FILLED, _GAPS = "mean of the view", "left out"


@dataclass(frozen=True)
class Peer:
    """A clustering of another library.

    Attributes
    ----------
    name : str
    fit : callable
    missing : str
        What is done about missing views.
    absent : str
        Why it cannot run, empty where it can.
    suits : callable
        Whether it ends within minutes; takes a problem.
    """

    name: str
    fit: Fit
    missing: str
    absent: str
    suits: Callable[[Problem], bool]


def always(problem: Problem) -> bool:
    """Fast enough on every data set."""
    return True


def _few_samples(problem: Problem) -> bool:
    """Inverts and multiplies matrices of all samples, per view and round."""
    return len(problem.labels) <= 1000


def _few_columns(problem: Problem) -> bool:
    """Takes the cube of the columns of a view."""
    return max(problem.n_features) <= 1000


def _few_entries(problem: Problem) -> bool:
    """Holds the differences of all samples from all centers."""
    return len(problem.labels) * max(problem.n_features) <= 5e6


@cache
def _why_absent(module: str) -> str:
    """What its import says."""
    try:
        import_module(module)
    except Exception as error:  # a broken import of another library must not end the experiment
        return f"{type(error).__name__}: {error}"
    return ""


def _peer(
    library: str,
    module: str,
    name: str,
    fit: Fit,
    missing: str = _FILLED,
    suits: Callable[[Problem], bool] = always,
) -> Peer:
    return Peer(f"{library} {name}", fit, missing, _why_absent(module), suits)


def _estimator(module: str, name: str, **options: Any) -> Fit:
    """All tables, filled, with `options` beside number of clusters and seed."""

    def fit(problem: Problem, seed: int) -> NDArray[Any]:
        model = getattr(import_module(module), name)(n_clusters=problem.n_clusters, random_state=seed, **options)
        return np.asarray(model.fit_predict(problem.filled()))

    return fit


def _of_two_tables(name: str) -> Fit:
    """A method of two views: every other view beside each other, the rest likewise."""

    def fit(problem: Problem, seed: int) -> NDArray[Any]:
        tables = problem.filled()
        model = getattr(import_module("mvlearn.cluster"), name)(n_clusters=problem.n_clusters, random_state=seed)
        return np.asarray(model.fit_predict([np.hstack(tables[::2]), np.hstack(tables[1::2])]))

    return fit


def _incomplete(name: str) -> Fit:
    """A method of iMML: tables with NaN rows."""

    def fit(problem: Problem, seed: int) -> NDArray[Any]:
        model = getattr(import_module("imml.cluster"), name)(n_clusters=problem.n_clusters, random_state=seed)
        return np.asarray(model.fit_predict(problem.with_gaps()))

    return fit


def _fused(problem: Problem, seed: int) -> NDArray[Any]:
    """Affinities and fusion of snfpy, then spectral clustering. Its check of arrays uses a name that scikit-learn dropped."""
    compute = import_module("snf.compute")
    compute.check_array = _check_array
    affinities = compute.make_affinity(problem.filled(), normalize=False)
    network = compute.snf(*affinities)
    model = SpectralClustering(problem.n_clusters, affinity="precomputed", n_init=20, random_state=seed)
    return np.asarray(model.fit_predict(network))


def _check_array(array: Any, *, force_all_finite: Any = True, **options: Any) -> NDArray[Any]:
    return check_array(array, ensure_all_finite=force_all_finite, **options)


_MVLEARN, _POLYVIEW, _IMML = "mvlearn.cluster", "polyview.cluster", "imml.cluster"
PEERS = (
    _peer(
        "mvlearn",
        _MVLEARN,
        "MultiviewSpectralClustering",
        _estimator(_MVLEARN, "MultiviewSpectralClustering"),
        suits=_few_samples,
    ),
    _peer(
        "mvlearn",
        _MVLEARN,
        "MultiviewCoRegSpectralClustering",
        _estimator(_MVLEARN, "MultiviewCoRegSpectralClustering"),
        suits=_few_samples,
    ),
    _peer("mvlearn", _MVLEARN, "MultiviewKMeans", _of_two_tables("MultiviewKMeans")),
    _peer("mvlearn", _MVLEARN, "MultiviewSphericalKMeans", _of_two_tables("MultiviewSphericalKMeans")),
    _peer(
        "polyview",
        _POLYVIEW,
        "MultiViewCoRegSpectralClustering",
        _estimator(_POLYVIEW, "MultiViewCoRegSpectralClustering", gamma="median"),
    ),
    _peer(
        "polyview",
        _POLYVIEW,
        "MultiViewCoTrainSpectralClustering",
        _estimator(_POLYVIEW, "MultiViewCoTrainSpectralClustering", gamma="median"),
    ),
    _peer("polyview", _POLYVIEW, "MultiViewKMeans", _estimator(_POLYVIEW, "MultiViewKMeans"), suits=_few_entries),
    *(
        _peer("iMML", _IMML, name, _incomplete(name), _GAPS)
        for name in ("NEMO", "EEIMVC", "LFIMVC", "SIMCADC", "OPIMC")
    ),
    _peer("iMML", _IMML, "IMSR", _incomplete("IMSR"), _GAPS, _few_samples),
    *(_peer("iMML", _IMML, name, _incomplete(name), _GAPS, _few_columns) for name in ("DAIMC", "PIMVC")),
    _peer("snfpy", "snf.compute", "snf", _fused, suits=_few_samples),
)
