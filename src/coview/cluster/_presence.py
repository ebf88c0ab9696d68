"""What clusterings ask of the samples that they place."""

from __future__ import annotations

import numpy as np

from coview.base import check_answerable
from coview.views import Views

__all__ = ["check_has_view"]


def check_has_view(views: Views) -> None:
    """Raise unless every sample has a view: without one, nothing says where it belongs."""
    check_answerable(np.asarray(views.presence.any(axis=1)), views, "raise", "Leave them out.")
