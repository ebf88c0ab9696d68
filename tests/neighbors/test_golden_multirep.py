"""The cases of ``tests/golden/multirep_core.json`` about neighbors; those of DBSCAN are in ``tests/cluster``."""

import json
from pathlib import Path

import numpy as np
import pytest

from coview import Views
from coview.inference import confidence_weights
from coview.neighbors import MultiRepresentedKNeighborsClassifier

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "multirep_core.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
RTOL, ATOL = DOCUMENT["tolerance"]["rtol"], DOCUMENT["tolerance"]["atol"]
NEIGHBORS = sorted(name for name in CASES if name.startswith("knn_"))


def as_views(representations):
    widths = [len(next(row for row in view if row is not None)) for view in representations]
    return Views(
        [
            np.array([[np.nan] * d if row is None else row for row in view])
            for view, d in zip(representations, widths, strict=True)
        ]
    )


@pytest.mark.parametrize("name", NEIGHBORS)
def test_confidences_weights_and_predictions(name):
    inputs, expected = CASES[name]["inputs"], CASES[name]["outputs"]
    train, test = as_views(inputs["train"]), as_views(inputs["test"])
    model = MultiRepresentedKNeighborsClassifier(inputs["k"]).fit(train, inputs["y"])
    assert list(model.classes_) == expected["classes"]
    confidences = list(model.view_confidences(test).values())
    scores, labels = model.predict_proba(test), model.predict(test)
    for i, row in enumerate(expected["entropy_weighted"]):
        weights = confidence_weights(np.array([[vectors[i] for vectors in confidences]]))[0]
        np.testing.assert_allclose(weights[test.presence[i]], row["weights"], rtol=RTOL, atol=ATOL)
        told = [vectors[i] for vectors, has in zip(confidences, test.presence[i], strict=True) if has]
        shape = (len(told), len(model.classes_))
        expected_vectors = np.reshape(row["confidence_vectors"], shape)
        np.testing.assert_allclose(np.reshape(told, shape), expected_vectors, rtol=RTOL, atol=ATOL)
        assert all(
            np.isnan(vectors[i]).all() for vectors, has in zip(confidences, test.presence[i], strict=True) if not has
        )
        np.testing.assert_allclose(scores[i], row["scores"], rtol=RTOL, atol=ATOL)
        assert labels[i] == row["prediction"]
    uniform = MultiRepresentedKNeighborsClassifier(inputs["k"], weights="uniform").fit(train, inputs["y"])
    assert list(uniform.predict(test)) == expected["equal_weight_predictions"]
