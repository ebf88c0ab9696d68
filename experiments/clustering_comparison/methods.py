"""Which clusterings are compared: every one of coview, and what one would do without views."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.decomposition import TruncatedSVD

from coview import Views
from coview.cluster import (
    BregmanAgglomerativeClustering,
    CoRegularizedSpectralClustering,
    CoTrainingSpectralClustering,
    HybridHierarchicalClustering,
    MultiRepresentedDBSCAN,
    MultiViewKMeans,
    MultiViewSpectralClustering,
    SimilarityNetworkFusion,
)
from coview.kernels import median_distance, squared_distances
from coview.mixture import CoEMMixture, FactorMixture, IncompleteGaussianMixture

from .peers import PEERS, Fit, always
from .problems import Problem

__all__ = ["METHODS", "SINGLE_VIEWS", "Method", "available"]

Labels = NDArray[Any]
SINGLE_VIEWS = "spectral, each view alone"
# Singular vectors of a view of words, for mixtures of dense columns.
_N_VECTORS = 20
_MOST_PRODUCTS = 1e10


@dataclass(frozen=True)
class Method:
    """A clustering.

    Attributes
    ----------
    name : str
    kind : {"coview", "usual", "peer"}
    fit : callable
        Takes a problem and a seed; returns labels, one array per view for `SINGLE_VIEWS`.
    missing : str
        What is done about missing views.
    starts : bool
        Whether the result depends on the seed.
    absent : str
        Why it cannot run, empty where it can.
    suits : callable
        Whether it ends within minutes; takes a problem.
    """

    name: str
    kind: str
    fit: Fit
    missing: str = "left out"
    starts: bool = True
    absent: str = ""
    suits: Callable[[Problem], bool] = always


def available() -> list[Method]:
    """The methods that can run here."""
    return [method for method in METHODS if not method.absent]


def _spectral(affinity: str, kernel: str = "rbf") -> Fit:
    def fit(problem: Problem, seed: int) -> Labels:
        model = MultiViewSpectralClustering(problem.n_clusters, affinity=affinity, kernel=kernel, random_state=seed)
        return model.fit(problem.views).labels_

    return fit


def _of(estimator: Callable[..., Any], **options: Any) -> Fit:
    """An estimator with its defaults but for the options."""

    def fit(problem: Problem, seed: int) -> Labels:
        return estimator(problem.n_clusters, **options, random_state=seed).fit(problem.views).labels_

    return fit


def _k_means(problem: Problem, seed: int) -> Labels:
    geometry = "spherical" if problem.is_text else "euclidean"
    return MultiViewKMeans(problem.n_clusters, geometry=geometry, random_state=seed).fit(problem.views).labels_


def _agglomeration(problem: Problem, seed: int) -> Labels:
    views = _dense(problem.views)
    weights = {name: 1.0 / views[name].var(axis=0).sum() for name in views.names}
    return BregmanAgglomerativeClustering(problem.n_clusters, view_weights=weights).fit(views).labels_


def _hybrid(problem: Problem, seed: int) -> Labels:
    return HybridHierarchicalClustering(problem.n_clusters).fit(_dense(problem.views)).labels_


def _dbscan(combine: str) -> Fit:
    def fit(problem: Problem, seed: int) -> Labels:
        return MultiRepresentedDBSCAN(combine=combine).fit(problem.views).labels_

    return fit


def _co_em(problem: Problem, seed: int) -> Labels:
    chosen = {"smoothing": 0.1} if problem.is_text else {"covariance_type": "diag"}
    views = problem.counts if problem.is_text else problem.views
    return CoEMMixture(problem.n_clusters, **chosen, random_state=seed).fit(views).labels_


def _gaussian_mixture(problem: Problem, seed: int) -> Labels:
    model = IncompleteGaussianMixture(problem.n_clusters, covariance_type="diag", random_state=seed)
    return model.fit(_few_columns(problem, seed)).predict(_few_columns(problem, seed))


def _factor_mixture(problem: Problem, seed: int) -> Labels:
    model = FactorMixture(problem.n_clusters, n_factors=3, n_init=1, random_state=seed)
    return model.fit(_few_columns(problem, seed)).predict(_few_columns(problem, seed))


def _each_view(problem: Problem, seed: int) -> list[Labels]:
    return [_spectral_of(table, problem.n_clusters, seed) for table in problem.filled()]


def _beside(problem: Problem) -> NDArray[np.float64]:
    """All columns side by side, each view with the same total variance."""
    return np.hstack([table / np.sqrt(table.var(axis=0).sum()) for table in problem.filled()])


def _k_means_of_all(problem: Problem, seed: int) -> Labels:
    return KMeans(problem.n_clusters, n_init=10, random_state=seed).fit_predict(_beside(problem))


def _spectral_of_all(problem: Problem, seed: int) -> Labels:
    return _spectral_of(_beside(problem), problem.n_clusters, seed)


def _spectral_of(table: NDArray[np.float64], n_clusters: int, seed: int) -> Labels:
    """Spectral clustering of scikit-learn by a Gaussian as wide as the median distance."""
    width = median_distance(table, np.random.RandomState(seed))
    affinity = np.exp(-squared_distances(table, table) / (2.0 * width**2))
    model = SpectralClustering(n_clusters, affinity="precomputed", n_init=20, random_state=seed)
    return np.asarray(model.fit_predict(affinity))


def _few_pairs(problem: Problem) -> bool:
    """Trees compare all pairs of samples in all columns, words as dense ones."""
    return len(problem.labels) ** 2 * sum(problem.n_features) < _MOST_PRODUCTS


def _dense(views: Views) -> Views:
    """Words as dense columns, NaN where a view is missing."""
    blocks = {}
    for name in views.names:
        block = views[name]
        blocks[name] = np.full((len(views), block.shape[1]), np.nan)
        blocks[name][views.rows(name)] = block.toarray() if sparse.issparse(block) else block
    return Views(blocks, presence=views.presence)


def _few_columns(problem: Problem, seed: int) -> Views:
    """Leading singular vectors of words; measurements as they are."""
    if not problem.is_text:
        return problem.views
    views, blocks = problem.views, {}
    for name in views.names:
        blocks[name] = np.full((len(views), _N_VECTORS), np.nan)
        blocks[name][views.rows(name)] = TruncatedSVD(_N_VECTORS, random_state=seed).fit_transform(views[name])
    return Views(blocks, presence=views.presence)


_FILLED = "mean of the view"
METHODS = (
    Method("MultiViewSpectralClustering, disagreement", "coview", _spectral("minimizing_disagreement")),
    Method("MultiViewSpectralClustering, joint", "coview", _spectral("joint")),
    Method("MultiViewSpectralClustering, sum", "coview", _spectral("sum")),
    Method("MultiViewSpectralClustering, co_training", "coview", _spectral("co_training")),
    Method(
        "MultiViewSpectralClustering, disagreement, neighbors",
        "coview",
        _spectral("minimizing_disagreement", "nearest_neighbors"),
    ),
    Method("MultiViewSpectralClustering, sum, neighbors", "coview", _spectral("sum", "nearest_neighbors")),
    Method("CoRegularizedSpectralClustering", "coview", _of(CoRegularizedSpectralClustering)),
    Method(
        "CoRegularizedSpectralClustering, coupling=0.05", "coview", _of(CoRegularizedSpectralClustering, coupling=0.05)
    ),
    Method("CoTrainingSpectralClustering", "coview", _of(CoTrainingSpectralClustering)),
    Method("SimilarityNetworkFusion", "coview", _of(SimilarityNetworkFusion)),
    Method("MultiViewKMeans", "coview", _k_means),
    Method("BregmanAgglomerativeClustering", "coview", _agglomeration, starts=False, suits=_few_pairs),
    Method("HybridHierarchicalClustering", "coview", _hybrid, starts=False, suits=_few_pairs),
    Method("MultiRepresentedDBSCAN, union", "coview", _dbscan("union"), starts=False),
    Method("MultiRepresentedDBSCAN, intersection", "coview", _dbscan("intersection"), starts=False),
    Method("CoEMMixture", "coview", _co_em),
    Method("IncompleteGaussianMixture, diag", "coview", _gaussian_mixture),
    Method("FactorMixture, 3 factors", "coview", _factor_mixture),
    Method(SINGLE_VIEWS, "usual", _each_view, _FILLED),  # type: ignore[arg-type]
    Method("k-means, all columns", "usual", _k_means_of_all, _FILLED),
    Method("spectral, all columns", "usual", _spectral_of_all, _FILLED),
    *(Method(peer.name, "peer", peer.fit, peer.missing, absent=peer.absent, suits=peer.suits) for peer in PEERS),
)
