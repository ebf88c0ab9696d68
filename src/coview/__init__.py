"""coview: learning from samples described by several views, with views missing and labels few."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coview.views import Views

__version__ = "0.1.0.dev0"

_SUBPACKAGES = (
    "acquisition",
    "cli",
    "cluster",
    "compose",
    "datasets",
    "ensemble",
    "files",
    "gaussian_process",
    "graphs",
    "impute",
    "inference",
    "inspection",
    "kernels",
    "linalg",
    "linear_model",
    "metrics",
    "mixture",
    "model_selection",
    "neighbors",
    "persistence",
    "report",
    "semi_supervised",
    "storage",
    "svm",
    "views",
    "viewwise",
)

__all__ = ["Views", "__version__", *_SUBPACKAGES]


def __getattr__(name: str) -> Any:
    """Import subpackages and ``Views`` on first use, so that ``import coview`` stays cheap."""
    if name == "Views":
        return import_module("coview.views").Views
    if name in _SUBPACKAGES:
        return import_module(f"coview.{name}")
    raise AttributeError(f"module 'coview' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
