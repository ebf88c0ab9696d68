"""TableEncoder: what becomes of numbers, categories, prose, gaps and missing views."""

import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from coview import Views, compose
from coview.compose import TableEncoder
from coview.exceptions import ViewError

NAN = np.nan
PROSE = ["a small dark shadow", "no finding at all", "shadow and fluid", "large mass with fluid", "no change"]


@pytest.fixture
def tables():
    clinical = pd.DataFrame(
        {
            "age": [61.0, NAN, 70.0, 52.0, 48.0],
            "sex": ["m", "f", None, "f", "f"],
            "stage": pd.Categorical(["II", "I", "III", "I", "II"], categories=["I", "II", "III", "IV"]),
            "smoker": [True, False, True, True, False],
        },
        index=["p1", "p2", "p3", "p4", "p5"],
    )
    report = pd.DataFrame({"text": PROSE[:4]}, index=["p1", "p3", "p4", "p5"])
    return {"clinical": clinical, "report": report}


def encoded(frame, **parameters):
    """The matrix and the feature names of one table."""
    encoder = TableEncoder(**parameters).fit({"t": frame})
    views = encoder.transform({"t": frame})
    matrix = views["t"].toarray() if sparse.issparse(views["t"]) else views["t"]
    names = [name.removeprefix("t__") for name in encoder.get_feature_names_out()]
    return pd.DataFrame(matrix, columns=names), encoder


class TestNumbers:
    @pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 1e8, 1e200])
    def test_are_standardized_on_any_scale(self, scale):
        values = np.random.default_rng(0).normal(size=(50, 3))
        result, _ = encoded(pd.DataFrame(scale * values))
        assert_allclose(result, StandardScaler().fit_transform(values), rtol=1e-9, atol=1e-12)

    def test_on_two_scales_side_by_side_and_a_large_offset(self):
        z = np.array([-1.0, 0.0, 1.0, 2.0])
        result, _ = encoded(pd.DataFrame({"small": 1e-8 * z, "large": 1e8 * z, "offset": 1e8 + z}))
        for name in result:
            assert_allclose(result[name], (z - 0.5) / z.std(), rtol=1e-7)

    @pytest.mark.parametrize("value", [0.0, 5.0, 1e8, 0.1, -1e-8])
    def test_constant_columns_are_kept_as_zeros_for_new_samples_too(self, value):
        result, encoder = encoded(pd.DataFrame({"x": np.full(7, value)}))
        assert_array_equal(result["x"], np.zeros(7))
        assert_array_equal(encoder.transform({"t": pd.DataFrame({"x": [9e9]})})["t"], [[0.0]])
        assert "constant" in encoder.describe()

    def test_a_constant_that_differs_by_rounding_is_constant(self):
        result, _ = encoded(pd.DataFrame({"x": [0.1 + 0.2, 0.3, 0.3]}))
        assert_array_equal(result["x"], np.zeros(3))

    def test_gaps_get_the_median_and_are_marked(self):
        result, encoder = encoded(pd.DataFrame({"x": [1.0, NAN, 2.0, 9.0], "y": [1.0, 2.0, 3.0, 4.0]}))
        observed = np.array([1.0, 2.0, 9.0])
        scaled = (np.array([1.0, 2.0, 2.0, 9.0]) - observed.mean()) / observed.std()
        assert_allclose(result["x"], scaled)
        assert_array_equal(result["x=missing"], [0, 1, 0, 0])
        assert list(result) == ["x", "y", "x=missing"]
        assert encoder.gaps_filled_ == {"t": 1}

    def test_median_equals_scikit_learn(self):
        values = np.random.default_rng(1).normal(size=(40, 5))
        values[np.random.default_rng(2).random((40, 5)) < 0.3] = NAN
        values = values[~np.isnan(values).all(axis=1)]
        result, _ = encoded(pd.DataFrame(values), scale=False)
        assert_allclose(result, SimpleImputer(strategy="median", add_indicator=True).fit_transform(values))

    def test_new_gaps_in_columns_without_gaps_are_filled_but_not_marked(self):
        _, encoder = encoded(pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0.0, 1.0, 2.0]}))
        new = pd.DataFrame({"x": [NAN], "y": [0.0]})
        assert_allclose(encoder.transform({"t": new})["t"], [[0.0, -np.sqrt(1.5)]])
        counts = encoder.count_gaps({"t": new})
        assert counts["gaps"].tolist() == [1, 0]

    def test_never_observed_columns_are_zeros_and_marked(self):
        result, _ = encoded(pd.DataFrame({"x": [NAN, NAN], "y": [1.0, 3.0]}))
        assert_array_equal(result, [[0, -1, 1], [0, 1, 1]])

    @pytest.mark.parametrize("column", [[True, False, True], pd.array([True, False, True], dtype="boolean")])
    def test_truth_values_are_numbers(self, column):
        result, encoder = encoded(pd.DataFrame({"x": column}))
        assert_allclose(result["x"], (np.array([1, 0, 1]) - 2 / 3) / np.std([1, 0, 1]))
        assert encoder.report_["kind"].tolist() == ["number"]

    @pytest.mark.parametrize("column", [pd.array([1, None, 3], dtype="Int64"), pd.Series([1, None, 3], dtype=object)])
    def test_nullable_and_object_numbers(self, column):
        assert_allclose(encoded(pd.DataFrame({"x": column, "y": [1, 2, 3]}))[0]["x"], [-1, 0, 1])

    def test_left_as_they_are(self):
        result, _ = encoded(pd.DataFrame({"x": [1.0, NAN, 5.0], "y": [7, 8, 9]}), scale=False, mark_gaps=False)
        assert_array_equal(result, [[1, 7], [3, 8], [5, 9]])

    def test_infinity_is_refused(self):
        with pytest.raises(ViewError, match="View 't' contains infinity in 1"):
            encoded(pd.DataFrame({"x": [1.0, np.inf]}))

    def test_columns_in_chunks_equal_columns_at_once(self, monkeypatch):
        values = np.random.default_rng(1).normal(size=(30, 17))
        values[3, 5] = NAN
        whole, _ = encoded(pd.DataFrame(values))
        monkeypatch.setattr("coview.compose._columns._CHUNK", 70)
        assert_array_equal(encoded(pd.DataFrame(values))[0], whole)


class TestSparse:
    matrix = sparse.csr_array(np.array([[0.0, 3.0, 0.0], [2.0, 0.0, 0.0], [0.0, NAN, 0.0], [2.0, 4.0, 0.0]]))

    def test_stays_sparse_and_is_divided_by_the_root_mean_square(self):
        encoder = TableEncoder().fit([self.matrix])
        block = encoder.transform([self.matrix])["view_0"]
        assert sparse.issparse(block)
        filled = np.nan_to_num(self.matrix.toarray())
        expected = filled / np.array([np.sqrt(2), 2.5, 1.0])
        assert_allclose(block.toarray(), np.column_stack([expected, [0, 0, 1, 0]]))
        assert encoder.gaps_filled_ == {"view_0": 1}
        assert encoder.count_gaps([self.matrix])["gaps"].tolist() == [0, 1, 0]

    @pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e200])
    def test_any_scale(self, scale):
        clean = sparse.csr_array(np.nan_to_num(self.matrix.toarray()))
        expected = TableEncoder().fit([clean]).transform([clean])["view_0"].toarray()
        assert_allclose(TableEncoder().fit([scale * clean]).transform([scale * clean])["view_0"].toarray(), expected)

    def test_no_other_kind_of_column(self):
        with pytest.raises(ViewError, match="is sparse, so its columns are numbers"):
            TableEncoder(categorical_columns={"view_0": [0]}).fit([self.matrix])


class TestCategories:
    @pytest.mark.parametrize("dtype", ["str", "object", "category"])
    def test_equal_one_hot_of_scikit_learn(self, dtype):
        frame = pd.DataFrame({"x": list("bacab"), "y": list("uvuvu")}).astype(dtype)
        result, encoder = encoded(frame)
        assert_array_equal(result, OneHotEncoder(sparse_output=False).fit_transform(frame))
        assert list(result) == ["x=a", "x=b", "x=c", "y=u", "y=v"]
        assert encoder.report_["kind"].tolist() == ["category", "category"]

    def test_keep_the_order_of_the_dtype_and_leave_out_what_was_not_seen(self):
        result, _ = encoded(pd.DataFrame({"x": pd.Categorical(["lo", "hi"], categories=["none", "lo", "hi"])}))
        assert list(result) == ["x=lo", "x=hi"]

    def test_unknown_ones_give_zeros_and_are_counted(self):
        _, encoder = encoded(pd.DataFrame({"x": list("aab")}))
        new = pd.DataFrame({"x": ["z", "a", "y"]})
        assert_array_equal(encoder.transform({"t": new})["t"], [[0, 0], [1, 0], [0, 0]])
        assert encoder.count_gaps({"t": new})["unknown"].tolist() == [2]

    def test_gaps_give_zeros_and_are_marked(self):
        result, encoder = encoded(pd.DataFrame({"x": ["a", None, "b"], "n": [1, 2, 3]}))
        assert_array_equal(result[["x=a", "x=b", "x=missing"]], [[1, 0, 0], [0, 0, 1], [0, 1, 0]])
        assert encoder.gaps_filled_ == {"t": 1}
        unmarked, _ = encoded(pd.DataFrame({"x": ["a", None, "b"], "n": [1, 2, 3]}), mark_gaps=False)
        assert list(unmarked) == ["n", "x=a", "x=b"]

    def test_integer_codes_by_request_and_gaps_in_new_data(self):
        _, encoder = encoded(pd.DataFrame({"x": [3, 1, 3]}), categorical_columns=["x"])
        new = pd.DataFrame({"x": [1.0, NAN, 3.0], "y": 1.0})[["x"]]
        views = encoder.transform({"t": new})
        assert_array_equal(views["t"], [[1, 0], [0, 1]])
        assert_array_equal(views.presence.ravel(), [True, False, True])

    def test_single_words_are_categories_though_all_differ(self):
        assert encoded(pd.DataFrame({"x": ["anna", "ben", "cleo"]}))[1].report_["kind"].tolist() == ["category"]

    def test_numbers_as_text_are_categories(self):
        assert list(encoded(pd.DataFrame({"x": ["10", "9", "10"]}))[0]) == ["x=10", "x=9"]

    def test_many_categories_come_out_sparse(self):
        frame = pd.DataFrame({"x": [f"c{place}" for place in range(101)], "n": np.arange(101.0)})
        views = TableEncoder().fit({"t": frame}).transform({"t": frame})
        assert sparse.issparse(views["t"])
        assert views.n_features == {"t": 102}
        assert not sparse.issparse(TableEncoder().fit({"t": frame[1:]}).transform({"t": frame})["t"])


class TestProse:
    def test_equals_tfidf_of_scikit_learn(self):
        frame = pd.DataFrame({"text": PROSE})
        result, encoder = encoded(frame)
        reference = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b")
        assert_allclose(result, reference.fit_transform(PROSE).toarray())
        assert list(result) == [f"text={word}" for word in reference.get_feature_names_out()]
        assert encoder.report_["kind"].tolist() == ["text"]

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            (PROSE, "text"),
            (["left lung", "right lung"] * 5, "category"),  # two words, but the same over and over
            (["left lung", "right lung", "liver", "both lungs"], "text"),
            (["liver", "lung", "bone", "left kidney"], "category"),  # most are one word
            ([None, "no finding", None], "text"),
            (["one two", "one two", "three four", "three four"], "text"),  # half differ
            (["one two", "one two", "one two", "three", "three"], "category"),
        ],
    )
    def test_rule(self, values, kind):
        frame = pd.DataFrame({"x": values, "n": np.arange(len(values))})
        assert encoded(frame)[1].report_["kind"].tolist() == [kind, "number"]

    def test_rule_can_be_overruled(self):
        frame = pd.DataFrame({"a": PROSE, "b": list("uvuvu")})
        _, encoder = encoded(frame, text_columns=["b"], categorical_columns=["a"])
        assert encoder.report_["kind"].tolist() == ["category", "text"]
        _, encoder = encoded(frame, text_columns={"t": "b"})
        assert encoder.report_["kind"].tolist() == ["text", "text"]

    def test_categorical_dtype_is_never_prose(self):
        assert encoded(pd.DataFrame({"x": pd.Categorical(PROSE)}))[1].report_["kind"].tolist() == ["category"]

    def test_gaps_and_unknown_words_give_zeros(self):
        frame = pd.DataFrame({"x": [*PROSE, None], "n": 1.0})
        _, encoder = encoded(frame)
        block = encoder.transform({"t": frame})["t"].toarray()
        assert_array_equal(block[5], np.zeros(block.shape[1]))
        new = pd.DataFrame({"x": ["xyzzy", None, "shadow"], "n": 1.0})
        counts = encoder.count_gaps({"t": new})
        assert counts["gaps"].tolist() == [1, 0]
        assert counts["unknown"].tolist() == [1, 0]

    def test_the_number_of_words_is_bounded(self):
        assert encoded(pd.DataFrame({"x": PROSE}), max_words=4)[0].shape == (5, 4)

    def test_no_word_at_all(self):
        with pytest.raises(ValueError, match="vocabulary"):
            encoded(pd.DataFrame({"x": ["?? !", "-- --"]}), text_columns=["x"])

    def test_prose_without_any_text_gives_no_feature(self):
        frame = pd.DataFrame({"x": [None, None], "n": [1.0, 2.0]})
        assert encoded(frame, text_columns=["x"])[0].shape == (2, 1)


class TestViewsIn:
    def test_missing_views_stay_missing(self, tables):
        views = TableEncoder().fit_transform(tables)
        assert isinstance(views, Views)
        assert list(views.index) == ["p1", "p2", "p3", "p4", "p5"]
        assert_array_equal(
            views.presence, Views({n: t.isna().all(axis=1).to_frame() for n, t in tables.items()}).presence
        )

    def test_a_wholly_empty_row_stays_missing_and_is_no_gap(self, tables):
        tables["clinical"] = tables["clinical"].astype({"smoker": object})
        tables["clinical"].loc["p2"] = None
        encoder = TableEncoder().fit(tables)
        views = encoder.transform(tables)
        assert_array_equal(views.presence[:, 0], [True, False, True, True, True])
        assert encoder.gaps_filled_["clinical"] == 1
        assert len(views["clinical"]) == 4

    def test_order_of_rows_follows_the_samples(self, tables):
        shuffled = {"report": tables["report"].iloc[[2, 0, 3, 1]], "clinical": tables["clinical"].iloc[::-1]}
        encoder = TableEncoder().fit(tables)
        one, other = encoder.transform(tables), encoder.transform(shuffled)
        for name in one:
            frame = other.to_frame(name).loc[one.index]
            pd.testing.assert_frame_equal(one.to_frame(name), frame)

    def test_containers_agree(self):
        values = np.array([[1.0, 5.0, 2.0], [NAN, 6.0, 3.0], [4.0, 7.0, 1.0]])
        frame = pd.DataFrame(values, columns=["a", "b", "c"])
        expected = TableEncoder().fit_transform(frame)
        assert TableEncoder().fit_transform(values) == Views({"view_0": expected["view_0"]})
        assert TableEncoder().fit_transform(values.tolist()) == TableEncoder().fit_transform(values)
        assert TableEncoder().fit_transform(Views(frame)) == expected
        assert TableEncoder().fit_transform([frame]) == expected
        grouped = TableEncoder(view_columns={"u": ["a"], "w": ["b", "c"]}).fit_transform(frame)
        assert_array_equal(np.hstack([grouped.to_frame("u"), grouped["w"]])[0], expected["view_0"][0, :3])

    def test_polars(self):
        polars = pytest.importorskip("polars")
        frame = pd.DataFrame({"x": [1.0, None, 3.0], "s": ["a", "b", None], "b": [True, None, False]})
        foreign = polars.DataFrame({"x": [1.0, None, 3.0], "s": ["a", "b", None], "b": [True, None, False]})
        assert TableEncoder().fit_transform({"t": foreign}) == TableEncoder().fit_transform({"t": frame})
        kinds = foreign.with_columns(polars.col("s").cast(polars.Categorical))
        assert TableEncoder().fit_transform({"t": kinds}) == TableEncoder().fit_transform({"t": frame})

    def test_object_arrays_and_nested_lists_hold_any_kind(self):
        rows = [[1.5, "a", None], [2.5, "b", True], [None, "a", False]]
        frame = pd.DataFrame(rows, columns=["x0", "x1", "x2"])
        expected = TableEncoder().fit_transform(frame)
        assert TableEncoder().fit_transform(rows) == expected
        assert TableEncoder().fit([[1.5, "a"], [2.5, "b"]]).report_["kind"].tolist() == ["number", "category"]
        assert TableEncoder().fit_transform(np.array(rows, dtype=object)) == expected

    def test_new_data(self, tables):
        encoder = TableEncoder().fit(tables)
        full = encoder.transform(tables)
        part = encoder.transform({"report": tables["report"].iloc[[1]]})
        assert part.names == ["clinical", "report"]
        assert_array_equal(part.presence, [[False, True]])
        assert part.n_features == full.n_features
        assert_array_equal(part["report"].toarray(), full["report"].toarray()[[1]])
        swapped = {"clinical": tables["clinical"][["smoker", "age", "stage", "sex"]]}
        assert_array_equal(encoder.transform(swapped)["clinical"], full["clinical"])

    def test_one_row_equals_all_rows(self, tables):
        encoder = TableEncoder().fit(tables)
        full = encoder.transform(tables)
        for place, label in enumerate(full.index):
            rows = {name: table.loc[table.index == label] for name, table in tables.items()}
            assert encoder.transform(rows) == full[[place]]

    def test_wrong_new_data(self, tables):
        encoder = TableEncoder().fit(tables)
        clinical = tables["clinical"]
        with pytest.raises(ViewError, match="missing are 'age'"):
            encoder.transform({"clinical": clinical.drop(columns="age")})
        with pytest.raises(ViewError, match=r"held numbers in fit do not now.*'age' \(text"):
            encoder.transform({"clinical": clinical.assign(age="old")})
        with pytest.raises(ViewError, match="'ct' were not seen in fit"):
            encoder.transform({"ct": clinical})
        with pytest.raises(ViewError, match="holds numbers only, but had other columns in fit"):
            encoder.transform({"report": np.ones((1, 1))})

    def test_a_view_nobody_has(self):
        frame = pd.DataFrame({"x": [NAN, NAN], "s": [None, None]})
        views = TableEncoder().fit_transform({"a": np.ones((2, 1)), "b": frame})
        assert_array_equal(views.presence, [[True, False], [True, False]])

    def test_input_is_not_changed(self, tables):
        kept = {name: table.copy() for name, table in tables.items()}
        TableEncoder().fit_transform(tables)
        for name, table in tables.items():
            pd.testing.assert_frame_equal(table, kept[name])

    def test_dates_are_refused(self):
        frame = pd.DataFrame({"born": pd.to_datetime(["1961-01-01", "1970-05-05"])})
        with pytest.raises(ViewError, match=r"Column 'born' of view 't' holds datetime64.*days since"):
            encoded(frame)
        assert len(encoded(frame, categorical_columns=["born"])[0].columns) == 2

    @pytest.mark.parametrize(
        ("chosen", "message"),
        [
            (["zz"], r"text_columns names columns that no view has: \['zz'\]"),
            ({"t": ["zz"]}, "names column 'zz', which view 't' does not have"),
            ({"u": ["x"]}, "names view 'u', but the views are"),
        ],
    )
    def test_chosen_columns_must_exist(self, chosen, message):
        with pytest.raises(ViewError, match=message):
            encoded(pd.DataFrame({"x": PROSE}), text_columns=chosen)


class TestReport:
    def test_rows(self, tables):
        report = TableEncoder().fit(tables).report_
        assert report["view"].tolist() == ["clinical"] * 4 + ["report"]
        assert report["column"].tolist() == ["age", "sex", "stage", "smoker", "text"]
        assert report["kind"].tolist() == ["number", "category", "category", "number", "text"]
        assert report["gaps_filled"].tolist() == [1, 1, 0, 0, 0]

    def test_words(self, tables):
        text = TableEncoder().fit(tables).describe()
        assert text.splitlines()[0] == "clinical: 4 columns (2 numbers, 2 categories) become 9; 2 gaps filled"
        assert "gaps filled with 56.5 and marked" in text
        assert "one 0/1 column for each of 3 categories" in text
        assert "TF-IDF weights of" in text
        for value in ("p1", "small dark"):
            assert value not in text

    def test_many_columns_are_summed_up(self):
        text = TableEncoder().fit(np.random.default_rng(0).normal(size=(5, 100))).describe()
        assert text.splitlines()[-1] == "  and 70 more of kind number"

    def test_feature_names(self, tables):
        encoder = TableEncoder().fit(tables)
        names = encoder.get_feature_names_out()
        assert names[0] == "clinical__age"
        assert len(names) == sum(encoder.transform(tables).n_features.values())
        assert list(encoder.transform(tables).feature_names["clinical"]) == [
            name.removeprefix("clinical__") for name in names if name.startswith("clinical")
        ]


class TestKinds:
    def test_another_encoder_given_the_kinds_reads_columns_alike(self, tables):
        """Among two texts none need look like prose, nor a category of one row like one."""
        encoder = TableEncoder().fit(tables)
        assert encoder.categorical_columns_ == {"clinical": ["sex", "stage"], "report": []}
        assert encoder.text_columns_ == {"clinical": [], "report": ["text"]}
        assert encoder.sparse_views_ == ["report"]
        few = {"clinical": tables["clinical"][:2], "report": tables["report"][:1].assign(text="shadow")}
        other = TableEncoder(text_columns=encoder.text_columns_, categorical_columns=encoder.categorical_columns_)
        assert other.fit(few).report_["kind"].tolist() == encoder.report_["kind"].tolist()
        assert TableEncoder().fit(few).report_["kind"].tolist() != encoder.report_["kind"].tolist()

    def test_kinds_of_columns_without_names_are_positions(self):
        cells = np.array([["a", 1.0], ["b", 2.0]], dtype=object)
        assert TableEncoder().fit([cells]).categorical_columns_ == {"view_0": [0]}

    def test_summary_counts_kinds(self, tables):
        assert TableEncoder().fit(tables).summary() == [
            "clinical: 4 columns (2 numbers, 2 categories) become 9; 2 gaps filled",
            "report: 1 column (1 text) become 13; no gaps filled",
        ]


class TestWide:
    def test_columns_of_numbers_are_never_looked_at_one_by_one(self, monkeypatch):
        looked_at = []
        kind = compose._view_encoder.column_kind
        monkeypatch.setattr(
            compose._view_encoder, "column_kind", lambda column: looked_at.append(column.name) or kind(column)
        )
        frame = pd.DataFrame(np.ones((3, 200)), columns=[f"g{i}" for i in range(200)])
        TableEncoder().fit(frame.assign(sex=["f", "m", "f"], few=pd.array([1, None, 3], dtype="Int64")))
        assert looked_at == ["sex", "few"]

    @pytest.mark.parametrize("n", [1, 2, 5, 6])
    def test_medians_equal_those_of_numpy(self, n):
        rng = np.random.default_rng(n)
        values = np.where(rng.random((n, 40)) < 0.3, NAN, rng.normal(size=(n, 40)))
        values[0, np.isnan(values).all(axis=0)] = 1.0
        encoder = TableEncoder().fit([values])
        filled = encoder.transform([values])
        medians = np.nanmedian(values, axis=0)
        expected = np.where(np.isnan(values), medians, values)
        centers = np.nanmean(values, axis=0)
        spreads = np.nanstd(values, axis=0)
        usable = spreads > 1e-9
        assert_allclose(
            filled["view_0"][:n, :40][:, usable], ((expected - centers) / np.where(usable, spreads, 1.0))[:, usable],
            atol=1e-10,
        )  # fmt: skip


class FirstViewMajority(ClassifierMixin, BaseEstimator):
    """Checks that it is given views, and learns the majority class."""

    def fit(self, X, y):
        assert isinstance(X, Views)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.answer_ = self.classes_[counts.argmax()]
        self.width_ = X.shape[1]
        return self

    def predict(self, X):
        assert X.shape[1] == self.width_
        return np.full(len(X), self.answer_)


class TestToolsOfScikitLearn:
    def test_pipeline_learns_on_training_rows_only(self):
        frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 1e6], "c": ["a", "a", "b", "z"]})
        pipeline = make_pipeline(TableEncoder(), FirstViewMajority())
        pipeline.fit(frame[:3], [0, 1, 1])
        assert_array_equal(pipeline.predict(frame), [1, 1, 1, 1])
        assert pipeline[0].transform(frame).n_features == {"view_0": 3}
        scores = cross_val_score(pipeline, frame, [0, 1, 0, 1], cv=2)
        assert scores.shape == (2,)

    def test_clone_and_pickle(self, tables):
        encoder = TableEncoder(text_columns=["text"], scale=False)
        again = clone(encoder)
        assert again.get_params() == encoder.get_params()
        encoder.fit(tables)
        assert pickle.loads(pickle.dumps(encoder)).transform(tables) == encoder.transform(tables)

    def test_saved_without_running_code_on_load(self, tables):
        encoder = TableEncoder().fit(tables)
        data = skops.io.dumps(encoder)
        own = skops.io.get_untrusted_types(data=data)
        assert all(name.startswith("coview.") for name in own)
        again = skops.io.loads(data, trusted=own)
        assert again.transform(tables) == encoder.transform(tables)
        assert again.describe() == encoder.describe()

    def test_a_second_fit_forgets_the_first(self, tables):
        encoder = TableEncoder().fit(tables).fit(np.ones((2, 3)))
        assert encoder.view_names_ == ["view_0"]
        assert encoder.gaps_filled_ == {"view_0": 0}

    def test_not_fitted(self, tables):
        for method in (TableEncoder().transform, TableEncoder().count_gaps, TableEncoder().get_feature_names_out):
            with pytest.raises(Exception, match="not fitted"):
                method(tables)


def array_comparisons(estimator):
    """The checks that compare what ``transform`` gives as arrays: it gives views."""
    checks = [
        "check_transformer_general",
        "check_transformer_data_not_an_array",
        "check_transformer_preserve_dtypes",
        "check_fit_idempotent",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_pipeline_consistency",
        "check_estimators_pickle",
    ]
    return dict.fromkeys(checks, "transform gives Views, which are not one array")


@parametrize_with_checks([TableEncoder()], expected_failed_checks=array_comparisons)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_100_000_columns():
    values = np.random.default_rng(0).normal(size=(40, 100_000))
    values[0, :50] = NAN
    encoder = TableEncoder().fit(values)
    views = encoder.transform(values)
    assert views.n_features == {"view_0": 100_050}
    assert_allclose(views["view_0"][1:, 777], (values[1:, 777] - values[:, 777].mean()) / values[:, 777].std())


def test_views_that_are_left_as_they_are():
    X = {"a": np.array([[2.0], [4.0]]), "b": np.array([[10.0], [30.0]])}
    encoded = TableEncoder(scale={"b": False}).fit_transform(X)
    np.testing.assert_array_equal(encoded["a"], [[-1.0], [1.0]])
    np.testing.assert_array_equal(encoded["b"], X["b"])
    with pytest.raises(ViewError, match=r"scale names views \['c'\], but the views are \['a', 'b'\]"):
        TableEncoder(scale={"c": False}).fit(X)
