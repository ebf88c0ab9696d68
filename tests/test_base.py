"""The base estimator: scikit-learn's checks, new data against fitted data, targets by id."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from coview import Views
from coview.base import LabeledClassifierMixin, LabeledRegressorMixin, MultiViewEstimator
from coview.exceptions import ViewError
from coview.labels import encode_labels, encode_targets

NAN = np.nan


def dense(block):
    return block.toarray() if sparse.issparse(block) else block


class NearestCentroid(LabeledClassifierMixin, MultiViewEstimator):
    """Distance to class means, summed over the views a sample has."""

    def __init__(self, *, shrinkage=0.0, missing_label="auto", view_columns=None):
        self.shrinkage = shrinkage
        self.missing_label = missing_label
        self.view_columns = view_columns

    def fit(self, X, y):
        views, y = self._validate_views_target(X, y, reset=True)
        self.classes_, codes = encode_labels(y, missing_label=self.missing_label, min_classes=2)
        self.centroids_ = {
            name: np.array(
                [dense(views[name])[codes[views.rows(name)] == code].sum(0) for code in range(len(self.classes_))]
            )
            / np.maximum(np.bincount(codes[codes >= 0])[:, None], 1 + self.shrinkage)
            for name in views
        }
        return self

    def decision_function(self, X):
        check_is_fitted(self)
        views = self._validate_views(X, reset=False)
        scores = np.zeros((views.n_samples, len(self.classes_)))
        for name in views:
            scores[views.rows(name)] -= ((dense(views[name])[:, None] - self.centroids_[name]) ** 2).sum(2)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(1)]


class LeastSquares(LabeledRegressorMixin, MultiViewEstimator):
    """Least squares on the first view."""

    def __init__(self, *, view_columns=None):
        self.view_columns = view_columns

    def fit(self, X, y):
        views, y = self._validate_views_target(X, y, reset=True)
        targets = encode_targets(y)
        labeled = ~np.isnan(targets)
        A = np.hstack([dense(views[views.names[0]]), np.ones((views.n_samples, 1))])
        self.coef_ = np.linalg.lstsq(A[labeled], targets[labeled])[0]
        return self

    def predict(self, X):
        check_is_fitted(self)
        views = self._validate_views(X, reset=False)
        return dense(views[self.view_names_[0]]) @ self.coef_[:-1] + self.coef_[-1]


class GapTolerant(TransformerMixin, MultiViewEstimator, auto_wrap_output_keys=None):
    """Hands on the views it read; needs no target."""

    _allow_nan = True

    def __init__(self, *, view_columns=None):
        self.view_columns = view_columns

    def fit(self, X, y=None):
        views, target = self._validate_views_target(X, y, reset=True)
        self.target_is_none_ = target is None
        self.views_ = views
        return self

    def transform(self, X):
        return self._validate_views(X, reset=False)


ALTERNATING = {"even": slice(0, None, 2), "odd": slice(1, None, 2)}


def expected_failures(estimator):
    if isinstance(estimator, NearestCentroid) and estimator.missing_label == "auto":
        return {"check_classifiers_classes": "integer labels -1 and +1 alone are ambiguous, by design"}
    return {}


@pytest.mark.filterwarnings("ignore:view_columns selects no column:UserWarning")  # checks with a single column
@parametrize_with_checks(
    [
        NearestCentroid(),
        NearestCentroid(missing_label=NAN),
        NearestCentroid(missing_label=NAN, view_columns=ALTERNATING),
        LeastSquares(),
        LeastSquares(view_columns={"all": slice(None), "odd": slice(1, None, 2)}),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 15)
    first = random.normal(size=(30, 3)) + 2 * (y == "yes")[:, None]
    second = random.normal(size=(30, 2)) - 2 * (y == "yes")[:, None]
    second[::4] = NAN
    ids = [f"p{place}" for place in random.permutation(30)]
    a = pd.DataFrame(first, index=ids, columns=["a0", "a1", "a2"])
    b = pd.DataFrame(second, index=ids, columns=["b0", "b1"]).dropna()
    return {"a": a, "b": b}, pd.Series(y, index=ids)


class TestSeenInFit:
    def test_of_one_table(self):
        model = NearestCentroid().fit([[1, 2], [3, 4]], [0, 1])
        assert model.n_features_in_ == 2
        assert model.view_names_ == ["view_0"]
        assert model.view_n_features_ == {"view_0": 2}
        assert not hasattr(model, "feature_names_in_")

    def test_of_a_frame_with_view_columns(self, data):
        tables, y = data
        model = NearestCentroid(view_columns={"u": ["a1"], "w": ["a0", "a2"]}).fit(tables["a"], y)
        assert model.n_features_in_ == 3
        assert list(model.feature_names_in_) == ["a0", "a1", "a2"]
        assert model.view_n_features_ == {"u": 1, "w": 2}

    def test_of_several_tables(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y)
        assert model.n_features_in_ == 5
        assert list(model.feature_names_in_) == ["a__a0", "a__a1", "a__a2", "b__b0", "b__b1"]
        assert model.view_names_ == ["a", "b"]
        model.fit([np.ones((2, 1)), np.eye(2)], [0, 1])
        assert not hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == 3

    def test_of_one_table_in_a_dict_keeps_plain_names(self, data):
        tables, y = data
        model = NearestCentroid().fit({"a": tables["a"]}, y)
        assert list(model.feature_names_in_) == ["a0", "a1", "a2"]
        assert_array_equal(model.predict(tables["a"]), model.predict({"a": tables["a"]}))


class TestFloats:
    @pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16"])
    @pytest.mark.parametrize("convert", [lambda X: X, sparse.csr_array, pd.DataFrame])
    def test_other_numbers_arrive_as_float64(self, dtype, convert):
        if dtype == "float16" and convert is sparse.csr_array:
            dtype = "uint8"
        X = np.array([[100, 3], [120, 4]], dtype=dtype)
        for given in ({"a": convert(X), "b": np.ones((2, 1))}, [convert(X), convert(X)]):
            model = GapTolerant().fit(given)
            block = model.views_[model.view_names_[0]]
            assert block.dtype == np.float64
            assert_array_equal(dense(block @ block.T), [[10009, 12012], [12012, 14416]])

    def test_single_precision_stays(self):
        X = np.ones((2, 2), dtype=np.float32)
        assert GapTolerant().fit(X).views_["view_0"].dtype == np.float32
        assert GapTolerant().fit({"a": X}).views_["a"].dtype == np.float32

    def test_double_precision_is_not_copied(self):
        X = np.ones((2, 2))
        for given in (X, {"a": X}, Views([X])):
            model = GapTolerant().fit(given)
            assert np.shares_memory(model.views_[model.view_names_[0]], X)


class TestNewData:
    def test_containers_agree(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y)
        expected = model.predict(tables)
        assert (expected == y).mean() > 0.9
        assert_array_equal(model.predict(Views(tables)), expected)
        assert_array_equal(model.predict(pd.concat(tables, axis=1)), expected)
        assert_array_equal(
            model.predict({"b": tables["b"], "a": tables["a"]})[: len(tables["b"])],
            pd.Series(expected, tables["a"].index)[tables["b"].index],
        )
        full = Views(tables)
        assert_array_equal(model.predict([full.to_frame("a").to_numpy(), full.to_frame("b").to_numpy()]), expected)

    def test_any_subset_of_the_views(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y)
        alone = model.predict({"a": tables["a"]})
        without = Views(tables, presence=np.column_stack([np.ones(30, bool), np.zeros(30, bool)]))
        assert_array_equal(alone, model.predict(without))
        handed_on = GapTolerant().fit(tables).transform({"b": tables["b"]})
        assert handed_on.names == ["a", "b"]
        assert not handed_on.presence[:, 0].any()
        assert handed_on.n_features == {"a": 3, "b": 2}

    def test_columns_are_matched_by_name(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y)
        shuffled = {"a": tables["a"][["a2", "a0", "a1"]], "b": tables["b"][["b1", "b0"]]}
        assert_array_equal(model.decision_function(shuffled), model.decision_function(tables))
        assert_array_equal(model.decision_function(Views(shuffled)), model.decision_function(tables))

    def test_new_samples_need_not_overlap(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y)
        one_each = {"a": tables["a"].iloc[[0]], "b": tables["b"].iloc[[5]]}
        expected = [model.decision_function({name: one})[0] for name, one in one_each.items()]
        assert_array_equal(model.decision_function(one_each), expected)

    def test_a_sample_without_views_is_let_through(self, data):
        tables, _ = data
        views = GapTolerant().fit(tables).transform([np.full((1, 3), NAN), np.full((1, 2), NAN)])
        assert not views.presence.any()

    def test_wrong_views_and_columns(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y)
        for wrong, message in [
            ({"c": tables["b"]}, r"Views 'c' were not seen in fit; known are 'a', 'b'"),
            ({"b": tables["b"].rename(columns={"b1": "x"})}, r"missing are 'b1'; unseen in fit are 'x'"),
            ({"b": tables["b"][["b0"]]}, r"missing are 'b1'"),
            ({"b": tables["b"].assign(more=1.0)}, r"unseen in fit are 'more'"),
            ({"b": np.ones((2, 3))}, r"View 'b' has 3 features, but was fitted with 2"),
            ([np.ones((2, 3))], r"list of 1 tables, but the fit had 2 views: .* dict of those"),
        ]:
            with pytest.raises(ViewError, match=message):
                model.predict(wrong)

    def test_repeated_labels_must_stand_in_the_same_order(self):
        frame = pd.DataFrame(np.arange(4.0).reshape(2, 2), columns=["g", "g"])
        model = NearestCentroid().fit({"a": frame}, [0, 1])
        model.predict({"a": frame})
        with pytest.raises(ViewError, match="repeated label"):
            model.predict({"a": pd.DataFrame(np.ones((1, 3)), columns=["g", "g", "g"])})

    def test_one_table_against_several_views(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y)
        for table in (np.ones((2, 5)), tables["a"]):
            with pytest.raises(ViewError, match=r"X is one table, but the fit had the views 'a', 'b'"):
                model.predict(table)


class TestViewColumns:
    def test_groups_equal_separate_tables(self, data):
        tables, y = data
        full = Views(tables)
        joined = np.hstack([full.to_frame(name) for name in full])
        model = NearestCentroid(view_columns={"a": slice(0, 3), "b": [3, 4]}).fit(joined, y.to_numpy())
        expected = NearestCentroid().fit(full, y)
        assert_array_equal(model.decision_function(joined), expected.decision_function(full))
        assert_array_equal(model.decision_function({"b": tables["b"]}), expected.decision_function({"b": tables["b"]}))

    def test_do_not_apply_to_views(self, data):
        tables, y = data
        with pytest.raises(ViewError, match="view_columns groups the columns of one table"):
            NearestCentroid(view_columns={"a": [0]}).fit(tables, y)

    def test_dropped_groups_warn_in_fit_only(self):
        model = NearestCentroid(view_columns={"a": [0], "none": []})
        with pytest.warns(UserWarning, match="dropped"):
            model.fit([[1.0], [2.0]], [0, 1])
        model.predict([[1.0]])


class TestMissingFeatures:
    def test_are_named_with_view_count_and_ids(self, data):
        tables, y = data
        tables["b"].iloc[[2, 5], 0] = NAN
        first, second = tables["b"].index[[2, 5]]
        order = Views(tables).index.get_indexer([first, second])
        first, second = np.array([first, second])[np.argsort(order)]
        with pytest.raises(ViewError, match=rf"NaN: in view 'b', 2 samples.*'{first}', '{second}'.*TableEncoder"):
            NearestCentroid().fit(tables, y)

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, pd.DataFrame])
    def test_in_every_container(self, convert):
        X = np.array([[1.0, NAN], [2.0, 3.0]])
        for given in (convert(X), {"a": convert(X)}):
            with pytest.raises(ValueError, match="NaN"):
                NearestCentroid().fit(given, [0, 1])
            assert GapTolerant().fit(given).views_.presence.all()

    def test_a_wholly_missing_row_is_a_missing_view(self):
        model = NearestCentroid().fit(np.array([[1.0, 2.0], [NAN, NAN], [3.0, 5.0]]), [0, 1, 1])
        assert_array_equal(model.centroids_["view_0"][0], [1.0, 2.0])

    def test_in_new_data(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y)
        with pytest.raises(ViewError, match="NaN: in view 'a', 1 samples"):
            model.predict({"a": pd.DataFrame([[1.0, NAN, 2.0]], columns=["a0", "a1", "a2"])})

    def test_infinity(self):
        for given in ([[1.0, np.inf], [2.0, 3.0]], {"a": [[1.0, np.inf], [2.0, 3.0]]}):
            with pytest.raises(ValueError, match="infinity"):
                GapTolerant().fit(given)

    def test_tags_say_who_takes_them(self):
        for estimator, allowed in ((GapTolerant(), True), (NearestCentroid(), False)):
            tags = estimator.__sklearn_tags__()
            assert tags.input_tags.allow_nan is allowed
            assert tags.input_tags.sparse


class TestTarget:
    def test_series_is_matched_by_id(self, data):
        tables, y = data
        expected = NearestCentroid().fit(tables, y).centroids_
        for order in (y.sort_index(), y[::-1]):
            model = NearestCentroid().fit(tables, order)
            assert_array_equal(model.centroids_["a"], expected["a"])
        model = NearestCentroid().fit(Views(tables), y.sort_index().to_frame("y"))
        assert_array_equal(model.centroids_["b"], expected["b"])
        plain = NearestCentroid().fit(tables["a"], y.sort_index())
        assert_array_equal(plain.centroids_["view_0"], expected["a"])

    def test_integer_and_text_ids_match(self):
        X = pd.DataFrame({"x": [0.0, 5.0]}, index=[7, 8])
        model = NearestCentroid().fit(X, pd.Series(["b", "a"], index=["8", "7"]))
        assert list(model.predict(X)) == ["a", "b"]

    def test_samples_without_entry_are_unlabeled(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y[::2])
        assert model.classes_.tolist() == ["no", "yes"]
        with pytest.raises(ValueError, match="contains NaN"):
            encode_labels(Views(tables).align(y[::2]), allow_missing=False)

    def test_array_beside_differing_tables_is_refused(self, data):
        tables, y = data
        with pytest.raises(ViewError, match=r"Build Views first and use v\.index"):
            NearestCentroid().fit(tables, y.to_numpy())
        views = Views(tables)
        model = NearestCentroid().fit(views, y[views.index].to_numpy())
        assert_array_equal(model.centroids_["a"], NearestCentroid().fit(tables, y).centroids_["a"])

    def test_array_beside_tables_of_one_order_is_fine(self, data):
        tables, y = data
        again = {"a": tables["a"], "c": tables["a"][["a0"]]}
        assert_array_equal(
            NearestCentroid().fit(again, y.to_numpy()).centroids_["a"], NearestCentroid().fit(again, y).centroids_["a"]
        )

    def test_length(self):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            NearestCentroid().fit({"a": np.ones((3, 1))}, [0, 1])

    def test_missing(self):
        with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
            NearestCentroid().fit({"a": np.ones((3, 1))}, None)
        assert GapTolerant().fit({"a": np.ones((3, 1))}).target_is_none_

    def test_polars_series(self):
        polars = pytest.importorskip("polars")
        model = NearestCentroid().fit([[0.0], [5.0], [0.1]], polars.Series(["b", "a", "b"]))
        assert list(model.predict([[5.0]])) == ["a"]


class TestScore:
    def test_leaves_unlabeled_samples_out(self):
        X = np.array([[0.0], [5.0], [0.1], [4.9]])
        model = NearestCentroid().fit(X, [0, 1, -1, -1])
        assert model.score(X, [0, 1, -1, 0]) == pytest.approx(2 / 3)
        assert model.score(X, [0, 1, -1, 0], sample_weight=[1, 1, 9, 2]) == pytest.approx(2 / 4)
        assert model.score(X, np.array([0, None, None, 1], dtype=object)) == 1.0

    def test_minus_one_counts_where_it_is_a_class(self):
        X = np.array([[0.0], [5.0]])
        model = NearestCentroid(missing_label=NAN).fit(X, [-1, 1])
        assert model.score(X, [-1, -1]) == 0.5

    def test_matches_by_id(self, data):
        tables, y = data
        model = NearestCentroid().fit(tables, y)
        assert model.score(tables, y.sort_index()) == (model.predict(tables) == y).mean()

    def test_needs_a_label(self):
        model = NearestCentroid().fit([[0.0], [5.0]], [0, 1])
        with pytest.raises(ValueError, match="score needs labeled samples"):
            model.score([[0.0], [5.0]], [None, None])

    def test_of_a_regressor(self):
        X, y = np.arange(5.0)[:, None], np.array([0.0, 1.0, 2.0, 3.5, 4.0])
        model = LeastSquares().fit(X, y)
        assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))
        gaps = np.array([0.0, NAN, 2.0, 3.5, NAN])
        assert model.score(X, gaps) == pytest.approx(r2_score(y[[0, 2, 3]], model.predict(X[[0, 2, 3]])))


class Doubler(TransformerMixin, BaseEstimator):
    """A step of a pipeline that knows nothing of views."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X


class TestToolsOfScikitLearn:
    """Views pass unwrapped."""

    def test_cross_val_score(self, data):
        tables, y = data
        views = Views(tables)
        scores = cross_val_score(NearestCentroid(), views, y[views.index], cv=3)
        assert scores.mean() > 0.9
        assert_array_equal(scores, cross_val_score(NearestCentroid(), views, y[views.index].to_numpy(), cv=3))
        predicted = cross_val_predict(NearestCentroid(), views, y[views.index], cv=3)
        assert (predicted == y[views.index]).mean() > 0.9

    def test_parallel(self, data):
        views = Views(data[0])
        parts = [[0, 3], [2, 1]]
        texts = Parallel(n_jobs=2)(delayed(Views.__repr__)(views[rows]) for rows in parts)
        assert texts == [repr(views[rows]) for rows in parts]

    def test_grid_search_and_pipeline(self, data):
        tables, y = data
        views = Views(tables)
        pipeline = make_pipeline(Doubler(), NearestCentroid())
        search = GridSearchCV(pipeline, {"nearestcentroid__shrinkage": [0.0, 1e6]}, cv=3)
        search.fit(views, y[views.index])
        assert search.best_params_ == {"nearestcentroid__shrinkage": 0.0}
        assert search.score(views, y[views.index]) > 0.9

    def test_train_test_split(self, data):
        tables, y = data
        views = Views(tables)
        train, test, y_train, y_test = train_test_split(views, y[views.index], random_state=0, stratify=y[views.index])
        assert isinstance(train, Views)
        assert list(train.index) == list(y_train.index)
        assert list(test.index) == list(y_test.index)
        assert NearestCentroid().fit(train, y_train).score(test, y_test) > 0.8

    def test_clone_pickle_and_refit(self, data):
        tables, y = data
        model = NearestCentroid(view_columns=None).fit(tables, y)
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(again.decision_function(tables), model.decision_function(tables))
        assert not hasattr(clone(model), "classes_")
        model.fit(np.eye(2), [3, 4])
        assert model.view_names_ == ["view_0"]
        assert_array_equal(model.predict(np.eye(2)), [3, 4])
