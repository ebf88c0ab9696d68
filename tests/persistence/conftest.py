"""One small fitted pipeline, and the file it is saved in."""

import pytest

from coview.persistence import save_model

from .forging import small_pipeline

RECORD = {"schema_version": 1, "classes": ["no", "yes"], "evaluation": None, "note": "kept beside the model"}


@pytest.fixture(scope="session")
def pipeline():
    return small_pipeline()


@pytest.fixture(scope="session")
def content(pipeline, tmp_path_factory):
    """Bytes of a good model file."""
    path = tmp_path_factory.mktemp("good") / "good.coview"
    save_model(pipeline, path, record=RECORD)
    return path.read_bytes()
