"""The bundled data: sizes as published, ids, missing views, and the texts that must travel with them."""

import hashlib
import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

import coview.datasets
from coview.datasets import (
    bundled_names,
    load_breast_tcga,
    load_bundled,
    load_heart_disease,
    load_two_view_toy,
    make_multiview_classification,
    summarize,
)
from coview.views import Views

DIGESTS = {
    "breast_tcga/mirna.npz": "4c78555a470183bc",
    "breast_tcga/mrna.npz": "6a4af94a9cde19e3",
    "breast_tcga/protein.npz": "cdc342b56c302bfc",
    "breast_tcga/samples.csv.gz": "d23e9f813e6fef32",
    "heart_disease/heart.csv.gz": "8f728df004a605a3",
}


@pytest.fixture(scope="module")
def tumors():
    return load_breast_tcga()


@pytest.fixture(scope="module")
def patients():
    return load_heart_disease()


def test_tumors_have_the_published_sizes(tumors):
    assert tumors.views.n_samples == 220
    assert tumors.views.n_features == {"mrna": 200, "mirna": 184, "protein": 142}
    assert tumors.target.value_counts().to_dict() == {"LumA": 110, "Basal": 66, "Her2": 44}
    assert tumors.target_names == ["Basal", "Her2", "LumA"]


def test_protein_is_missing_for_the_test_part(tumors):
    np.testing.assert_array_equal(tumors.views.presence.sum(axis=0), [220, 220, 150])
    lacking = tumors.views.index[~tumors.views.presence[:, 2]]
    assert (tumors.meta.loc[lacking, "part"] == "test").all()
    assert (tumors.meta["part"] == "test").sum() == 70


def test_tumors_hold_the_stored_numbers(tumors):
    """The rows of each frame are those of the file, in its order, under the right ids and names."""
    folder = files("coview.datasets") / "data" / "breast_tcga"
    with (folder / "mirna.npz").open("rb") as stream, np.load(stream) as arrays:
        np.testing.assert_array_equal(tumors.views["mirna"], arrays["X"].astype(np.float64))
        assert list(tumors.frames["mirna"].columns) == list(arrays["features"])
    assert tumors.frames["mrna"].loc["A0FJ", "RTN2"] == pytest.approx(4.362183, abs=5e-7)
    assert tumors.target["A0FJ"] == "Basal"


def test_patients_have_the_published_sizes(patients):
    present = {view: len(frame) for view, frame in patients.frames.items()}
    assert present == {
        "history": 920,
        "blood": 840,
        "ecg": 918,
        "exercise": 866,
        "fluoroscopy": 309,
        "thallium": 434,
    }
    assert patients.target.value_counts().to_dict() == {1: 509, 0: 411}
    gaps = {view: int(frame.isna().any(axis=1).sum()) for view, frame in patients.frames.items()}
    assert gaps == {"history": 60, "blood": 132, "ecg": 0, "exercise": 256, "fluoroscopy": 0, "thallium": 0}


def test_patients_of_a_known_row(patients):
    """The first row of the source: a man of 63 with typical angina, a fixed defect, and no disease."""
    assert patients.frames["history"].loc["cleveland-001"].to_dict() == {
        "age": 63.0,
        "sex": 1.0,
        "cp": "typical angina",
        "trestbps": 145.0,
    }
    assert patients.frames["thallium"].loc["cleveland-001", "thal"] == "fixed defect"
    assert patients.target["cleveland-001"] == 0


def test_patients_words_stand_for_all_codes(patients):
    counts = {
        feature: patients.frames[view][feature].value_counts().to_dict()
        for view, feature in [("history", "cp"), ("ecg", "restecg"), ("exercise", "slope"), ("thallium", "thal")]
    }
    assert counts == {
        "cp": {"asymptomatic": 496, "non-anginal pain": 204, "atypical angina": 174, "typical angina": 46},
        "restecg": {"normal": 551, "left ventricular hypertrophy": 188, "ST-T abnormality": 179},
        "slope": {"flat": 345, "up": 203, "down": 63},
        "thal": {"normal": 196, "reversible defect": 192, "fixed defect": 46},
    }


def test_disease_is_any_diagnosis_above_0(patients):
    pd.testing.assert_series_equal(patients.target, (patients.meta["num"] > 0).astype("int64"), check_names=False)
    assert patients.meta["hospital"].value_counts().to_dict() == {
        "cleveland": 303,
        "hungarian": 294,
        "va": 200,
        "switzerland": 123,
    }


def test_costs_name_every_feature_of_every_view(patients):
    priced = {view: group["feature"].tolist() for view, group in patients.costs.groupby("view", sort=False)}
    assert priced == {view: list(frame.columns) for view, frame in patients.frames.items()}
    costs = patients.costs.set_index("feature")
    assert (costs["cost"] > costs["group_cost"].fillna(0)).all()
    assert costs.loc[["chol", "fbs"], "group"].tolist() == ["blood_draw"] * 2
    shared = costs[["group", "group_cost"]].dropna().drop_duplicates()
    assert shared["group"].is_unique


def test_the_files_are_the_ones_that_were_delivered():
    """A changed byte is a changed data set: the reader must hear of it."""
    data = files("coview.datasets") / "data"
    digests = {
        f"{folder.name}/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        for folder in data.iterdir()
        for file in folder.iterdir()
        if file.name.endswith((".npz", ".gz"))
    }
    assert digests == DIGESTS


@pytest.mark.parametrize("name", bundled_names())
def test_every_set_carries_ids_origin_terms_and_description(name):
    bunch = load_bundled(name)
    assert bunch.name == name
    ids = bunch.target.index
    assert ids.is_unique
    assert ids.dtype == "str"
    pd.testing.assert_index_equal(bunch.meta.index, ids)
    for frame in bunch.frames.values():
        assert frame.index.isin(ids).all()
        assert not frame.isna().all(axis=1).any()
    assert "Please cite" in bunch.origin
    assert "What was changed" in bunch.origin
    assert len(bunch.licence_text) > 200
    for view in bunch.frames:
        assert view in bunch.DESCR


def test_tumor_frames_give_the_same_views(tumors):
    assert Views(tumors.frames) == tumors.views
    pd.testing.assert_index_equal(tumors.views.index, tumors.target.index, check_names=False)


def test_summary_agrees_with_the_data(patients):
    summary = summarize("heart_disease")
    assert summary["views"]["thallium"] == {"n_features": 1, "n_samples": 434}
    assert summary["classes"] == {"0": 411, "1": 509}
    assert (summary["n_samples"], summary["target"]) == (920, "disease")


def test_toy_has_missing_views_and_few_labels():
    toy = load_two_view_toy()
    np.testing.assert_array_equal(toy.views.presence.sum(axis=0), [224, 141])
    assert toy.target.value_counts().to_dict() == {"a": 20, "b": 20}
    assert toy.meta["truth"].value_counts().to_dict() == {"a": 120, "b": 120}
    known = toy.target.dropna()
    assert (known == toy.meta["truth"].loc[known.index]).all()
    assert toy.target_names == ["a", "b"]
    assert list(toy.views.index) == list(toy.target.index)
    assert summarize("two_view_toy")["n_labeled"] == 40


def test_toy_frames_and_views_hold_the_same():
    toy = load_two_view_toy()
    for view, frame in toy.frames.items():
        pd.testing.assert_frame_equal(toy.views.to_frame(view).dropna(), frame, check_names=False)


def test_toy_says_how_right_the_bayes_rule_is():
    """Against the nearest class mean on a large draw of the same problem: 3 standard deviations of an accuracy."""
    toy = load_two_view_toy()
    n = 100_000
    views, y, centers = make_multiview_classification(
        n, n_features=(2, 3), class_sep=(1.4, 1.2), missing=(0.1, 0.4), random_state=1, return_centers=True
    )
    distances = np.zeros((n, 2))
    for name, center in zip(views.names, centers, strict=True):
        distances[views.rows(name)] += ((views[name][:, None] - center) ** 2).sum(axis=2)
    right = distances.argmin(axis=1) == y
    both, first = views.presence.all(axis=1), views.presence[:, 0]
    found = [right[both], right[first & ~both], right[~first], right]
    stated = [float(word) for word in re.findall(r"(0\.\d{3}) ", toy.DESCR)]
    assert stated == [0.967, 0.919, 0.885, 0.943]
    assert toy.bayes_accuracy == stated[-1]
    for some, claim in zip(found, stated, strict=True):
        assert some.mean() == pytest.approx(claim, abs=0.0005 + 3 * (claim * (1 - claim) / len(some)) ** 0.5)


def test_loading_twice_gives_independent_data():
    first = load_breast_tcga()
    first.frames["mrna"].iloc[0, 0] = 99.0
    assert load_breast_tcga().frames["mrna"].iloc[0, 0] != 99.0


def test_unknown_name_is_refused_with_the_names():
    with pytest.raises(ValueError, match="must be one of breast_tcga, heart_disease, two_view_toy; got 'iris'"):
        load_bundled("iris")


def test_every_bundled_folder_has_a_loader():
    folders = {entry.name for entry in (files("coview.datasets") / "data").iterdir()}
    assert folders == set(bundled_names())
    assert all(f"load_{name}" in coview.datasets.__all__ for name in folders)
