"""Clusters of samples that several views describe."""

from coview.cluster._agreeing_spectra import (
    CoRegularizedSpectralClustering,
    CoTrainingSpectralClustering,
    SimilarityNetworkFusion,
)
from coview.cluster._bregman import BregmanAgglomerativeClustering
from coview.cluster._dbscan import MultiRepresentedDBSCAN
from coview.cluster._eigengaps import eigengaps
from coview.cluster._hierarchy import TreeNode
from coview.cluster._hybrid_hierarchical import HybridHierarchicalClustering
from coview.cluster._k_means import MultiViewKMeans
from coview.cluster._spectral import MultiViewSpectralClustering

__all__ = [
    "BregmanAgglomerativeClustering",
    "CoRegularizedSpectralClustering",
    "CoTrainingSpectralClustering",
    "HybridHierarchicalClustering",
    "MultiRepresentedDBSCAN",
    "MultiViewKMeans",
    "MultiViewSpectralClustering",
    "SimilarityNetworkFusion",
    "TreeNode",
    "eigengaps",
]
