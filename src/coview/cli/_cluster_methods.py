"""The methods that ``coview cluster`` knows, with settings made from facts about the data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from coview.cli._methods import MethodCommand

__all__ = [
    "CLUSTER_METHODS",
    "DEFAULT",
    "ClusterCommand",
    "ClusterFacts",
    "ClusterMethod",
    "chosen_cluster_method",
    "gap_settings",
]

DEFAULT = "spectral"
# Beyond so many samples matrices of all pairs, a view each, would fill the memory.
_MOST_PAIRS = 5000
_LANDMARKS = 1000


@dataclass(frozen=True)
class ClusterFacts:
    """What decides whether a method fits the data, and with which settings.

    Attributes
    ----------
    n_samples : int
    n_paired : int
        Samples with two views or more.
    widths : dict of str to int
        Columns of every view, once encoded.
    sparse_views : tuple of str
    """

    n_samples: int
    n_paired: int
    widths: Mapping[str, int]
    sparse_views: tuple[str, ...] = ()

    @property
    def all_sparse(self) -> bool:
        """Whether every view is one of words, in which directions count and not lengths."""
        return set(self.sparse_views) == set(self.widths)

    def of_view(self, name: str, n_samples: int) -> "ClusterFacts":
        """The facts about one view by itself."""
        sparse = tuple(view for view in self.sparse_views if view == name)
        return replace(self, n_samples=n_samples, n_paired=0, widths={name: self.widths[name]}, sparse_views=sparse)


Make = Callable[[ClusterFacts], dict[str, Any]]
Objection = Callable[[ClusterFacts], str | None]


@dataclass(frozen=True)
class ClusterMethod:
    """One method: its description, its class and settings, and why it does not fit some data (None if it does).

    Attributes
    ----------
    description, class_name : str
    settings : callable
        Facts -> arguments of the class.
    objection : callable
        Facts -> why the method does not fit, or None.
    counts : bool
        Whether it has to be told the number of clusters.
    tree : bool
        Whether its clusters are cut from a tree.
    """

    description: str
    class_name: str
    settings: Make
    objection: Objection = lambda facts: None
    counts: bool = True
    tree: bool = False

    def make(self, facts: ClusterFacts, n_clusters: int | None, seed: int) -> Any:
        """The estimator for data of this kind."""
        estimator = getattr(import_module("coview.cluster"), self.class_name)(**self.settings(facts))
        known = estimator.get_params()
        common = {"n_clusters": n_clusters, "random_state": seed}
        return estimator.set_params(**{key: value for key, value in common.items() if key in known})


def _pairs(facts: ClusterFacts) -> str | None:
    if facts.n_samples > _MOST_PAIRS:
        return f"it compares all pairs of samples, which is for {_MOST_PAIRS:,} of them and not for {facts.n_samples:,}"
    return None


def _linked(facts: ClusterFacts) -> str | None:
    if len(facts.widths) > 1 and not facts.n_paired:
        return "no sample has two views, and it compares views through those that have"
    return None


def _dense(facts: ClusterFacts) -> str | None:
    if facts.sparse_views:
        return f"view '{facts.sparse_views[0]}' is sparse, and means of its rows would not be"
    return _pairs(facts)


def gap_settings(facts: ClusterFacts) -> dict[str, Any]:
    """How the graph for the number of clusters is made: rows of words all have something in common, so neighbors only."""
    if not facts.sparse_views:
        return {"kernel": "rbf"}
    kernels = {view: "nearest_neighbors" if view in facts.sparse_views else "rbf" for view in facts.widths}
    return {
        "kernel": kernels,
        "sigma": {view: None if view in facts.sparse_views else "local" for view in facts.widths},
    }


def likeness(facts: ClusterFacts) -> Any:
    """Similarity in every view: by the Gaussian; between rows of words by the angle between them."""
    if not facts.sparse_views:
        return "rbf"
    return {view: "cosine" if view in facts.sparse_views else "rbf" for view in facts.widths}


def _affinity(**options: Any) -> Make:
    return lambda facts: {**options, "kernel": likeness(facts)}


def _disagreement(facts: ClusterFacts) -> dict[str, Any]:
    settings = _affinity()(facts)
    return {**settings, "n_landmarks": _LANDMARKS} if facts.n_samples > _MOST_PAIRS else settings


def _means(facts: ClusterFacts) -> dict[str, Any]:
    return {"geometry": "spherical"} if facts.all_sparse else {}


def _density(combine: str) -> Make:
    return lambda facts: {"combine": combine, "metric": "cosine" if facts.all_sparse else "euclidean"}


def _equal_views(facts: ClusterFacts) -> dict[str, Any]:
    """Columns are standardized, so a view's costs grow with their number."""
    return {"view_weights": {name: 1.0 / width for name, width in facts.widths.items()}}


CLUSTER_METHODS: Mapping[str, ClusterMethod] = {
    "spectral": ClusterMethod(
        "groups on which the views disagree least, by the eigenvectors of a graph that joins them",
        "MultiViewSpectralClustering",
        _disagreement,
        _linked,
    ),
    "spectral-joint": ClusterMethod(
        "samples are similar if they are so in all views: similarities multiplied",
        "MultiViewSpectralClustering",
        _affinity(affinity="joint"),
        _pairs,
    ),
    "spectral-sum": ClusterMethod(
        "samples are similar if they are so in some view: similarities added",
        "MultiViewSpectralClustering",
        _affinity(affinity="sum"),
        _pairs,
    ),
    "spectral-co-regularized": ClusterMethod(
        "eigenvectors of the views pay for spanning different spaces",
        "CoRegularizedSpectralClustering",
        _affinity(),
        _pairs,
    ),
    "spectral-co-training": ClusterMethod(
        "in rounds, a view's similarities are projected on the eigenvectors of the others",
        "CoTrainingSpectralClustering",
        _affinity(),
        _pairs,
    ),
    "network-fusion": ClusterMethod(
        "each view's network of neighbors diffuses through those of the others",
        "SimilarityNetworkFusion",
        _affinity(),
        _pairs,
    ),
    "k-means": ClusterMethod(
        "one partition with a center in every view; the fastest", "MultiViewKMeans", _means
    ),
    "dbscan": ClusterMethod(
        "dense regions, near in one view is enough; finds the number of clusters, leaves noise out",
        "MultiRepresentedDBSCAN",
        _density("union"),
        counts=False,
    ),
    "dbscan-intersection": ClusterMethod(
        "dense regions, near in all shared views; finds the number of clusters, leaves noise out",
        "MultiRepresentedDBSCAN",
        _density("intersection"),
        counts=False,
    ),
    "hybrid-tree": ClusterMethod(
        "a tree from the top, each split made by the view that splits best",
        "HybridHierarchicalClustering",
        lambda facts: {},
        _dense,
        tree=True,
    ),
    "bregman-tree": ClusterMethod(
        "a tree from below, each merge the cheapest over all views together",
        "BregmanAgglomerativeClustering",
        _equal_views,
        _dense,
        tree=True,
    ),
}  # fmt: skip


def chosen_cluster_method(name: str, facts: ClusterFacts) -> ClusterMethod:
    """Return the method of this name; raise ValueError where it does not fit the data."""
    problem = CLUSTER_METHODS[name].objection(facts)
    if problem is not None:
        raise ValueError(f"Method '{name}' does not fit these data: {problem}. --method list shows those that do.")
    return CLUSTER_METHODS[name]


class ClusterCommand(MethodCommand):
    """A command whose help lists the methods of clustering."""

    methods = CLUSTER_METHODS
