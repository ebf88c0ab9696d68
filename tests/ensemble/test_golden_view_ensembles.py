"""The cases of ``tests/golden/hknn_core.json`` that are about ensembles; those of one classifier are in ``tests/neighbors``."""

import json
from pathlib import Path

import numpy as np
import pytest

from coview import Views
from coview.ensemble import ViewEnsembleClassifier, result_vector_vote, view_subsets
from coview.neighbors import HyperplaneKNeighborsClassifier, HyperplaneKNeighborsClassifierCV

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "hknn_core.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in DOCUMENT["cases"]}
SINGLE = {"distances_three_classes", "leave_one_out"}
ENSEMBLE = CASES["ensemble_three_feature_sets"]
INPUTS, EXPECTED = ENSEMBLE["inputs"], ENSEMBLE["outputs"]
COMBINATIONS = {"vote": "majority", "crv": "result_vector"}


def as_views(sets):
    return Views({name: np.array(rows) for name, rows in sets.items()})


def joined(subsets):
    return ["".join(subset) for subset in subsets]


def ensemble(**parameters):
    base = HyperplaneKNeighborsClassifier(INPUTS["K"], INPUTS["lambda"])
    return ViewEnsembleClassifier(base, **parameters)


def test_every_case_is_looked_at():
    assert set(CASES) == {"view_enumeration", "ensemble_three_feature_sets", "crv_by_hand"} | SINGLE
    assert set(EXPECTED) == {
        "views",
        "loo_labels",
        "test_labels",
        "loo_error",
        "best_view",
        "forward_vote",
        "forward_crv",
        "best3_by_cv",
    }


def test_view_enumeration():
    inputs, expected = CASES["view_enumeration"]["inputs"], CASES["view_enumeration"]["outputs"]
    subsets = view_subsets(inputs["feature_sets"])
    assert len(subsets) == expected["count"]
    assert joined(subsets) == expected["views"]


def test_result_vectors_by_hand():
    inputs, expected = CASES["crv_by_hand"]["inputs"], CASES["crv_by_hand"]["outputs"]
    vectors = inputs["train_vectors"], inputs["y"], inputs["test_vectors"]
    labels, distances, neighbors = result_vector_vote(*vectors, return_neighbors=True)
    assert labels.tolist() == expected["predictions"]
    assert distances.tolist() == expected["hamming"]
    assert [rows.tolist() for rows in neighbors] == expected["nearest"]
    assert result_vector_vote(*vectors).tolist() == expected["predictions"]
    majority = [max(sorted(set(row)), key=row.count) for row in inputs["test_vectors"]]
    assert majority == expected["votes"]


@pytest.mark.parametrize("cv", ["auto", "leave_one_out", len(INPUTS["y"])], ids=["auto", "own", "refits"])
def test_left_out_labels_errors_and_test_labels_of_all_subsets(cv):
    model = ensemble(selection=None, combination="result_vector", cv=cv)
    model.fit(as_views(INPUTS["sets"]), INPUTS["y"])
    assert joined(model.subsets_) == joined(model.candidates_) == EXPECTED["views"]
    test_labels = model.predict_per_subset(as_views(INPUTS["validation_sets"]))
    for m, name in enumerate(EXPECTED["views"]):
        assert model.out_of_fold_labels_[:, m].tolist() == EXPECTED["loo_labels"][name]
        assert test_labels[:, m].tolist() == EXPECTED["test_labels"][name]
    np.testing.assert_allclose(model.cv_errors_, [EXPECTED["loo_error"][name] for name in EXPECTED["views"]])
    assert "".join(model.candidates_[model.cv_errors_.argmin()]) == EXPECTED["best_view"]


@pytest.mark.parametrize("kind", COMBINATIONS)
def test_forward_selection_on_a_validation_set(kind):
    expected = EXPECTED[f"forward_{kind}"]
    new = as_views(INPUTS["validation_sets"])
    model = ensemble(selection="forward", combination=COMBINATIONS[kind], n_views_selected=INPUTS["max_views"])
    model.fit(as_views(INPUTS["sets"]), INPUTS["y"], validation=(new, INPUTS["y_validation"]))
    assert joined(model.subsets_) == expected["selected"]
    np.testing.assert_allclose(model.selection_errors_, expected["validation_errors"])
    assert model.predict(new).tolist() == expected["predictions"]


@pytest.mark.parametrize("kind", COMBINATIONS)
@pytest.mark.parametrize("parameters", [{}, {"selection": "cv", "n_views_selected": 3}])
def test_three_best_subsets_by_cross_validation(kind, parameters):
    expected = EXPECTED["best3_by_cv"]
    new = as_views(INPUTS["validation_sets"])
    model = ensemble(combination=COMBINATIONS[kind], **parameters)
    model.fit(as_views(INPUTS["sets"]), INPUTS["y"])
    assert joined(model.subsets_) == expected["views"]
    assert model.predict(new).tolist() == expected[kind]


def test_whom_the_result_vectors_are_next_to():
    expected = EXPECTED["best3_by_cv"]
    new = as_views(INPUTS["validation_sets"])
    model = ensemble(combination="result_vector").fit(as_views(INPUTS["sets"]), INPUTS["y"])
    columns = [model.candidates_.index(subset) for subset in model.subsets_]
    vectors = model.out_of_fold_labels_[:, columns], INPUTS["y"], model.predict_per_subset(new)
    labels, distances, neighbors = result_vector_vote(*vectors, return_neighbors=True)
    found = [[*pair, rows.tolist()] for *pair, rows in zip(labels.tolist(), distances.tolist(), neighbors, strict=True)]
    assert found == expected["crv_detail"]


def test_the_chooser_of_parameters_by_itself_serves_as_base():
    base = HyperplaneKNeighborsClassifierCV([INPUTS["K"]], [INPUTS["lambda"]])
    model = ViewEnsembleClassifier(base).fit(as_views(INPUTS["sets"]), INPUTS["y"])
    np.testing.assert_allclose(model.cv_errors_, [EXPECTED["loo_error"][name] for name in EXPECTED["views"]])
