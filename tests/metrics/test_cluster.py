"""Entropy of classes in clusters: values of an independent program, limits, bad input."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from coview.metrics import cluster_entropy

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "coem_golden.json").read_text(encoding="utf-8"))
CASE = next(case for case in GOLDEN["cases"] if case["id"] == "average_cluster_entropy")


@pytest.mark.parametrize(("given", "expected"), list(zip(CASE["inputs"], CASE["expected"], strict=True)))
def test_agrees_with_the_golden_values(given, expected):
    found = cluster_entropy(given["labels"], given["clusters"])
    np.testing.assert_allclose(found, expected["bits"], **GOLDEN["tolerance"])


def test_nearly_as_many_clusters_as_samples():
    assert cluster_entropy(list("ababab" * 5), [*range(28), 28, 29]) == 0.0


def test_is_what_clusters_leave_of_the_entropy_of_the_classes():
    rng = np.random.default_rng(0)
    classes, clusters = rng.choice(list("abc"), 200), rng.integers(-1, 4, 200)
    shares = np.unique(classes, return_counts=True)[1] / 200
    left = -(shares * np.log2(shares)).sum() - mutual_info_score(classes, clusters) / np.log(2.0)
    assert cluster_entropy(classes, clusters) == pytest.approx(left)


def test_does_not_depend_on_names_or_order():
    classes, clusters = np.array([0, 0, 1, 2, 2]), np.array(["x", "y", "y", "y", "x"])
    order = np.array([3, 1, 4, 0, 2])
    renamed = np.array(["b", "b", "c", "a", "a"])
    assert cluster_entropy(classes, clusters) == pytest.approx(cluster_entropy(renamed[order], clusters[order]))


@pytest.mark.parametrize(
    ("classes", "clusters", "message"),
    [
        ([0, 1], [0], "labels_true has 2 samples, labels 1"),
        ([0, None], [0, 0], "1 of 2 labels are missing in labels_true. Leave out"),
        ([], [], "at least one"),
        ([[0, 1]], [[0, 1]], "one label per sample"),
    ],
)
def test_bad_input_is_named(classes, clusters, message):
    with pytest.raises(ValueError, match=message):
        cluster_entropy(classes, clusters)
