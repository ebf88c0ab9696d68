"""One transformer per view: values, missing views, labels, names, containers, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import set_config
from sklearn.base import BaseEstimator, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, StandardScaler

from coview import Views
from coview.compose import ConcatenateViews, ViewTransformer
from coview.ensemble import ViewVotingClassifier
from coview.exceptions import ViewError
from coview.persistence import load_model, save_model


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    ids = [f"p{i}" for i in range(30)]
    a = pd.DataFrame(rng.normal(2.0, 3.0, (30, 3)), index=ids, columns=["x", "y", "z"])
    b = pd.DataFrame(rng.normal(size=(24, 4)), index=ids[6:], columns=list("stuv"))
    return Views({"a": a, "b": b})


def test_each_transformer_sees_the_samples_that_have_its_view(views):
    model = ViewTransformer({"a": StandardScaler(), "b": PCA(2)}).fit(views)
    found = model.transform(views)
    np.testing.assert_array_equal(found["a"], StandardScaler().fit_transform(views["a"]))
    np.testing.assert_allclose(found["b"], PCA(2).fit(views["b"]).transform(views["b"]), atol=1e-12)
    np.testing.assert_array_equal(found.presence, views.presence)
    assert found.index.equals(views.index)
    assert model.n_features_out_ == {"a": 3, "b": 2}


def test_one_a_list_or_some_by_name(views):
    scaled = ViewTransformer(StandardScaler()).fit_transform(views)
    listed = ViewTransformer([StandardScaler(), StandardScaler()]).fit_transform(views)
    assert scaled == listed
    some = ViewTransformer({"b": StandardScaler()}).fit_transform(views)
    np.testing.assert_array_equal(some["a"], views["a"])
    np.testing.assert_array_equal(some["b"], scaled["b"])
    assert ViewTransformer({"a": "drop"}).fit_transform(views).names == ["b"]
    assert ViewTransformer().fit_transform(views) == views


def test_new_samples_with_any_of_the_views(views):
    model = ViewTransformer({"a": StandardScaler(), "b": PCA(2)}).fit(views)
    whole = model.transform(views)
    only = model.transform(views.select(["b"])[np.arange(8, 12)])
    np.testing.assert_allclose(only["b"], whole[np.arange(8, 12)]["b"], rtol=1e-12)
    assert model.transform({"a": np.ones((2, 3))}).names[0] == "a"
    one = Views([np.full((1, 3), 2.0), np.full((1, 4), np.nan)], names=["a", "b"])
    assert not model.transform(one).presence[0, 1]
    with pytest.raises(ValueError, match="surprise"):
        model.transform({"surprise": np.ones((2, 3))})


def test_a_transformer_is_copied_and_a_second_fit_forgets(views):
    scaler = StandardScaler()
    model = ViewTransformer(scaler).fit(views)
    assert not hasattr(scaler, "mean_")
    assert model.transformers_["a"] is not model.transformers_["b"]
    model.fit(views.select(["a"]))
    assert list(model.transformers_) == ["a"] == model.view_names_out_


def test_gaps_inside_a_view_reach_the_imputer(views):
    a = views["a"].copy()
    a[3, 1] = np.nan
    holed = Views({"a": a, "b": np.ones((30, 1))})
    filled = ViewTransformer({"a": SimpleImputer()}).fit_transform(holed)
    assert filled["a"][3, 1] == pytest.approx(np.nanmean(a[:, 1]))
    with pytest.raises(ValueError, match="NaN"):
        ViewTransformer({"a": PCA(1)}).fit(holed)


def test_supervised_transformers_learn_from_labeled_samples_that_have_the_view(views):
    y = np.where(np.arange(30) % 2, "ill", "well").astype(object)
    y[20:] = None
    model = ViewTransformer({"a": LinearDiscriminantAnalysis(), "b": SelectKBest(f_classif, k=2)}).fit(views, y)
    expected = LinearDiscriminantAnalysis().fit(views["a"][:20], y[:20].astype(str)).transform(views["a"])
    np.testing.assert_allclose(model.transform(views)["a"], expected)
    chosen = SelectKBest(f_classif, k=2).fit(views["b"][:14], y[6:20].astype(str))
    np.testing.assert_array_equal(model.transformers_["b"].get_support(), chosen.get_support())
    assert set(model.get_feature_names_out()[-2:]) <= {"b__s", "b__t", "b__u", "b__v"}
    with pytest.raises(ValueError, match="'a', LinearDiscriminantAnalysis, needs labels: pass y"):
        model.fit(views)
    nobody = np.array(["ill", "well"] * 3 + [None] * 24, dtype=object)
    with pytest.raises(ValueError, match="'b', SelectKBest, needs labels, and no sample that has the view"):
        model.fit(views, nobody)


def test_integer_labels_of_minus_one_are_unlabeled(views):
    y = np.where(np.arange(30) < 20, np.arange(30) % 2, -1)
    with_marks = ViewTransformer({"a": LinearDiscriminantAnalysis()}).fit_transform(views, y)
    gaps = ViewTransformer({"a": LinearDiscriminantAnalysis()}).fit_transform(views, np.where(y < 0, np.nan, y))
    np.testing.assert_allclose(with_marks["a"], gaps["a"])
    classes = ViewTransformer({"a": LinearDiscriminantAnalysis()}, missing_label=np.nan).fit(views, y)
    assert len(classes.transformers_["a"].classes_) == 3


def test_sparse_views_stay_sparse(views):
    thin = Views({"a": sparse.csr_array(np.eye(5)), "b": np.ones((5, 2))})
    found = ViewTransformer({"a": StandardScaler(with_mean=False)}).fit_transform(thin)
    assert sparse.issparse(found["a"])
    reduced = ViewTransformer({"a": TruncatedSVD(2, random_state=0)}).fit_transform(thin)
    assert reduced["a"].shape == (5, 2)
    binned = ViewTransformer({"b": KBinsDiscretizer(2, quantile_method="averaged_inverted_cdf")})
    assert sparse.issparse(binned.fit_transform(Views({"a": np.eye(5), "b": np.arange(10.0).reshape(5, 2)}))["b"])


def test_names_of_features(views):
    model = ViewTransformer({"a": PCA(2), "b": StandardScaler()}).fit(views)
    assert model.get_feature_names_out().tolist() == ["a__pca0", "a__pca1", "b__s", "b__t", "b__u", "b__v"]
    nameless = make_pipeline(FunctionTransformer(np.abs), StandardScaler())
    model = ViewTransformer({"a": nameless}).fit(Views({"a": views["a"], "b": np.ones((30, 1))}))
    assert model.get_feature_names_out().tolist() == ["a__0", "a__1", "a__2", "b__0"]


def test_as_a_frame_of_all_views_that_reads_back_as_views(views):
    model = ViewTransformer({"a": PCA(2)}).set_output(transform="pandas")
    frame = model.fit_transform(views)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == [("a", "pca0"), ("a", "pca1"), *(("b", name) for name in "stuv")]
    assert frame.index.equals(views.index)
    assert frame["b"].isna().all(axis=1).sum() == 6
    back = Views(frame)
    assert back.names == ["a", "b"]
    np.testing.assert_array_equal(back.presence, views.presence)
    assert isinstance(clone(model).fit_transform(views), pd.DataFrame)
    assert isinstance(model.set_output(transform="default").transform(views), Views)
    assert isinstance(model.set_output().transform(views), Views)
    with pytest.raises(ValueError, match="polars"):
        model.set_output(transform="polars")


def test_a_global_wish_for_frames_changes_no_value(views):
    expected = ViewTransformer({"a": PCA(2), "b": StandardScaler()}).fit_transform(views)
    set_config(transform_output="pandas")
    try:
        found = ViewTransformer({"a": PCA(2), "b": StandardScaler()}).fit_transform(views)
    finally:
        set_config(transform_output="default")
    assert found == expected


def test_works_in_pipelines_searches_and_files(views, tmp_path):
    y = np.where(views["a"][:, 0] > 2.0, 1, 0)
    pipeline = make_pipeline(ViewTransformer({"a": PCA(2), "b": StandardScaler()}), ViewVotingClassifier())
    search = GridSearchCV(pipeline, {"viewtransformer__transformers": [StandardScaler(), PCA(1)]}, cv=3).fit(views, y)
    assert search.best_score_ > 0.6
    early = make_pipeline(ViewTransformer(StandardScaler()), ConcatenateViews(), SimpleImputer(), LogisticRegression())
    assert early.fit(views, y).score(views, y) > 0.9
    save_model(pipeline.fit(views, y), tmp_path / "model.coview")
    restored = load_model(tmp_path / "model.coview").model
    np.testing.assert_array_equal(restored.predict_proba(views), pipeline.predict_proba(views))


def test_a_view_nobody_has_does_not_come_out(views):
    ghost = Views({"a": views["a"], "g": np.full((30, 2), np.nan)})
    model = ViewTransformer(StandardScaler()).fit(ghost)
    assert model.transform(ghost).names == ["a"]
    with pytest.raises(ViewError, match="No view comes out"):
        ViewTransformer("drop").fit(views)


@pytest.mark.parametrize(
    ("transformer", "needs"),
    [
        (SelectKBest(k=2), True),
        (LinearDiscriminantAnalysis(), True),
        (PLSRegression(), True),
        (make_pipeline(StandardScaler(), SelectKBest(k=2)), True),
        (make_pipeline("passthrough", PCA()), False),
        (VarianceThreshold(), False),
        (StandardScaler(), False),
    ],
)
def test_who_learns_from_labels(views, transformer, needs):
    y = np.where(np.arange(30) < 12, np.arange(30) % 2, np.nan)
    model = ViewTransformer({"a": transformer}).fit(views, y)
    told = ViewTransformer({"a": transformer}, supervised=["a"] if needs else []).fit(views, y)
    np.testing.assert_array_equal(model.transform(views)["a"], told.transform(views)["a"])
    if needs:
        with pytest.raises(ValueError, match="needs labels"):
            ViewTransformer({"a": transformer}).fit(views)
    else:  # labels change nothing
        np.testing.assert_array_equal(
            ViewTransformer({"a": transformer}).fit_transform(views)["a"], model.transform(views)["a"]
        )


@pytest.mark.parametrize("supervised", ["a", ["c"]])
def test_supervised_names_views(views, supervised):
    with pytest.raises(ViewError, match="supervised must be a list of some of the views"):
        ViewTransformer(supervised=supervised).fit(views)


class Shortening(BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[: len(X) // 2]


@pytest.mark.parametrize(
    ("transformers", "message"),
    [
        ({"c": PCA()}, r"names \['c'\]"),
        ([PCA()], "each of the 2 views; got 1"),
        ("keep", "'passthrough' or 'drop'; got 'keep'"),
        (LogisticRegression(), "must have fit and transform"),
        (None, "must have fit and transform"),
        (Shortening(), "one row per sample"),
    ],
)
def test_bad_input_is_named(views, transformers, message):
    with pytest.raises(ViewError, match=message):
        ViewTransformer(transformers).fit(views)
