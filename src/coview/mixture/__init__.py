"""Mixtures of views in which anything may be missing."""

from coview.mixture._co_em_mixture import CoEMMixture

__all__ = [
    "CoEMMixture",
]
