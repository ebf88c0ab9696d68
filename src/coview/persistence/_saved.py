"""What a model file gives when it is read."""

from dataclasses import dataclass
from typing import Any

__all__ = ["SavedModel"]


@dataclass(frozen=True)
class SavedModel:
    """A fitted model with what was written down about it.

    Attributes
    ----------
    model : estimator
        Ready to predict.
    manifest : dict
        Format, versions, checksums, class, views and classes, as `read_manifest` gives them.
    record : dict
        What the one who saved the model kept beside it; empty if nothing.

    Examples
    --------
    >>> from coview.persistence import SavedModel
    >>> SavedModel("a model", {"format": "coview-model"}, {}).record
    {}
    """

    model: Any
    manifest: dict[str, Any]
    record: dict[str, Any]
