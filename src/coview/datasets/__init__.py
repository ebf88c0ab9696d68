"""Data to learn with: real data that come with coview or that you have, and generators with known answers."""

from coview.datasets._bundled import (
    bundled_names,
    load_breast_tcga,
    load_bundled,
    load_heart_disease,
    load_two_view_toy,
    summarize,
)
from coview.datasets._fetching import describe_fetchable, fetch, fetch_names
from coview.datasets._files import write_csv
from coview.datasets._generators import make_multiview_classification
from coview.datasets._linked_pages import make_linked_pages
from coview.datasets._toys import make_two_gaussian_views, make_xor_views

__all__ = [
    "bundled_names",
    "describe_fetchable",
    "fetch",
    "fetch_names",
    "load_breast_tcga",
    "load_bundled",
    "load_heart_disease",
    "load_two_view_toy",
    "make_linked_pages",
    "make_multiview_classification",
    "make_two_gaussian_views",
    "make_xor_views",
    "summarize",
    "write_csv",
]
