"""Models on disk: one checked file that never runs code when it is read."""

from coview.persistence._loading import load_model, read_manifest
from coview.persistence._problems import ModelFileError
from coview.persistence._saved import SavedModel
from coview.persistence._saving import save_model

__all__ = ["ModelFileError", "SavedModel", "load_model", "read_manifest", "save_model"]
