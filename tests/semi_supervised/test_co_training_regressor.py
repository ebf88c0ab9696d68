"""CoTrainingRegressor: rounds against COREG written out, confidences, gaps, stopping, reductions, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from coview.exceptions import ViewError
from coview.persistence import load_model, save_model
from coview.semi_supervised import CoTrainingRegressor
from coview.semi_supervised._co_training_numbers import agreement, error_reduction

N_LABELED = 12


def draw(n=60, seed=0, widths=(2, 3), noise=0.3):
    """Views of a number, the number, and the labels of the first samples (NaN elsewhere)."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(-2, 2, n)
    blocks = [
        np.sin(truth[:, None] * rng.uniform(0.3, 0.8, width)) + noise * rng.normal(size=(n, width)) for width in widths
    ]
    return blocks, truth, np.where(np.arange(n) < N_LABELED, truth, np.nan)


def knn(X, y, at, k=3):
    """Mean of the k nearest labels (n_at,), and which these are."""
    distances = ((at[:, None, :] - X[None]) ** 2).sum(axis=2)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return y[nearest].mean(axis=1), nearest


def by_hand(blocks, y, n_rounds, *, shared=False, k=3):
    """COREG as its authors state it, the most certain view first where both want a sample; entries (round, view, sample, y)."""
    sets = [{i: value for i, value in enumerate(y) if not np.isnan(value)} for _ in blocks]
    free = [i for i in range(len(y)) if np.isnan(y[i])]
    history = []
    for number in range(1, n_rounds + 1):
        offers = []
        for view, block in enumerate(blocks):
            rows = sorted(sets[view])
            X, values = block[rows], np.array([sets[view][i] for i in rows])
            fitted, _ = knn(X, values, X, k)
            for u in free:
                told, nearest = knn(X, values, block[[u]], k)
                again, _ = knn(np.vstack([X, block[u]]), np.append(values, told), X[nearest[0]], k)
                here = values[nearest[0]]
                delta = ((here - fitted[nearest[0]]) ** 2).sum() - ((here - again) ** 2).sum()
                if delta > 1e-9:
                    offers.append((-delta, u, view, told[0]))
        taken, done = [], set()
        for negative, u, view, told in sorted(offers):
            if view not in done and u not in {entry[1] for entry in taken}:
                taken.append((view, u, told, -negative))
                done.add(view)
        if not taken:
            break
        for view, u, told, delta in sorted(taken, key=lambda entry: entry[1]):
            history.append((number, view, u, told, delta))
            free.remove(u)
            for other, labels in enumerate(sets):
                if shared or other != view:
                    labels[u] = told
    return history, sets


class TestRoundsByHand:
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("sharing", ["cross", "shared"])
    @pytest.mark.parametrize("widths", [(2, 3), (2, 3, 1)])
    def test_coreg(self, seed, sharing, widths):
        blocks, _, y = draw(seed=seed, widths=widths)
        model = CoTrainingRegressor(n_rounds=6, pool_size=None, sharing=sharing).fit(blocks, y)
        history, sets = by_hand(blocks, y, 6, shared=sharing == "shared")
        found = model.labeling_history_
        assert len(history) > 3
        assert found["round"].tolist() == [entry[0] for entry in history]
        assert found["view"].tolist() == [f"view_{entry[1]}" for entry in history]
        assert found["sample"].tolist() == [entry[2] for entry in history]
        np.testing.assert_allclose(found["label"], [entry[3] for entry in history], rtol=1e-10)
        np.testing.assert_allclose(found["confidence"], [entry[4] for entry in history], rtol=1e-7)
        told = [
            knn(block[sorted(labels)], np.array([labels[i] for i in sorted(labels)]), block)[0]
            for block, labels in zip(blocks, sets, strict=True)
        ]
        np.testing.assert_allclose(model.predict_per_view(blocks), told, rtol=1e-10)
        np.testing.assert_allclose(model.predict(blocks), np.mean(told, axis=0), rtol=1e-10)
        np.testing.assert_array_equal(model.transduction_, model.predict(blocks))

    def test_several_in_a_round(self):
        blocks, _, y = draw()
        one = CoTrainingRegressor(n_rounds=1, pool_size=None).fit(blocks, y).labeling_history_
        three = CoTrainingRegressor(n_per_round=3, n_rounds=1, pool_size=None).fit(blocks, y).labeling_history_
        assert len(one) == 2
        assert len(three) == 6
        assert set(one["sample"]) <= set(three["sample"])
        assert three["sample"].is_unique


class TestConfidence:
    @pytest.mark.parametrize(
        "regressor",
        [
            make_pipeline(StandardScaler(), KNeighborsRegressor(2)),
            DecisionTreeRegressor(min_samples_leaf=4, random_state=0),
        ],
    )
    def test_error_reduction_of_any_regressor(self, regressor):
        blocks, _, y = draw()
        X, labeled, rows = blocks[0], np.arange(N_LABELED), np.arange(20, 30)
        fitted = clone(regressor).fit(X[labeled], y[labeled])
        found = error_reduction(fitted, X, labeled, y[labeled], rows, 4)
        for row, value in zip(rows, found, strict=True):
            nearest = np.argsort(((X[labeled] - X[row]) ** 2).sum(axis=1))[:4]
            again = clone(regressor).fit(
                np.vstack([X[labeled], X[[row]]]), np.append(y[labeled], fitted.predict(X[[row]]))
            )
            errors = [((y[nearest] - model.predict(X[nearest])) ** 2).sum() for model in (fitted, again)]
            assert value == pytest.approx(errors[0] - errors[1], abs=1e-9)
        assert np.abs(found).max() > 1e-4

    def test_neighbors_are_those_of_the_regressor(self):
        """Its own distances, not Euclidean ones."""
        X = np.array([[0.0, 0.0], [3.0, 3.0], [0.0, 4.0]])
        y = np.array([0.0, 1.0, 10.0])
        fitted = KNeighborsRegressor(1, metric="chebyshev").fit(X, y)
        euclidean = KNeighborsRegressor(1).fit(X, y)
        block = np.vstack([X, [[0.1, 0.1]]])
        for model in (fitted, euclidean):
            # its own single neighbor stays what it is: certain of nothing
            assert error_reduction(model, block, np.arange(3), y, np.array([3]), 1).tolist() == [0.0]
        far = np.vstack([[[3.0, 3.0], [0.0, 4.0]], [[0.0, 0.0]]])  # 4.24 and 4 apart; 3 and 4 by the larger coordinate
        values = np.array([1.0, 5.0])
        for metric, expected in (("chebyshev", 0), ("euclidean", 1)):
            spy = Spy(metric).fit(far[:2], values)
            error_reduction(spy, far, np.arange(2), values, np.array([2]), 1)
            assert Spy.asked[-1].tolist() == far[[expected]].tolist()

    @pytest.mark.parametrize("regressor", [LinearRegression(), Ridge(), KernelRidge(kernel="rbf")])
    def test_what_minimizes_squared_errors_is_certain_of_nothing(self, regressor):
        blocks, _, y = draw()
        model = CoTrainingRegressor(regressor, pool_size=20).fit(blocks, y)
        assert (model.stop_reason_, model.n_rounds_, len(model.labeling_history_)) == ("not_confident", 0, 0)

    def test_agreement_of_a_committee(self):
        blocks, _, y = draw()
        labeled, rows = np.arange(N_LABELED), np.arange(20, 30)
        found = agreement(Ridge(), blocks[0], labeled, y[labeled], rows, members=5, seed=3)
        rng = np.random.RandomState(3)
        told = []
        for _ in range(5):
            drawn = rng.randint(N_LABELED, size=N_LABELED)
            told.append(Ridge().fit(blocks[0][drawn], y[drawn]).predict(blocks[0][rows]))
        np.testing.assert_allclose(found, np.var(told, axis=0), rtol=1e-12)

    def test_a_committee_labels_what_it_agrees_on(self):
        blocks, _, y = draw(n=120)
        model = CoTrainingRegressor(Ridge(), confidence="committee", n_rounds=10, random_state=0).fit(blocks, y)
        history = model.labeling_history_
        assert model.n_rounds_ == 10
        assert history["confidence"].between(0, 1, inclusive="right").all()
        for name, block in zip(model.view_names_, blocks, strict=True):
            mine = history[(history["view"] == name) & (history["round"] == 1)]
            usual = Ridge().fit(block[:N_LABELED], y[:N_LABELED])
            np.testing.assert_allclose(mine["label"], usual.predict(block[mine["sample"]]), rtol=1e-10)
        every = CoTrainingRegressor(
            Ridge(), confidence="committee", n_per_round=108, n_rounds=1, pool_size=None, random_state=0
        ).fit(blocks, y)
        best = every.labeling_history_.groupby("view")["confidence"].max()
        first = CoTrainingRegressor(Ridge(), confidence="committee", n_rounds=1, pool_size=None, random_state=0)
        np.testing.assert_allclose(first.fit(blocks, y).labeling_history_.groupby("view")["confidence"].max(), best)
        strict = CoTrainingRegressor(Ridge(), confidence="committee", threshold=0.999999, random_state=0)
        assert strict.fit(blocks, y).stop_reason_ == "not_confident"

    def test_equal_labels_make_a_committee_certain(self):
        blocks, _, y = draw()
        y = np.where(np.isnan(y), np.nan, 2.0)
        model = CoTrainingRegressor(confidence="committee", n_rounds=3, random_state=0).fit(blocks, y)
        np.testing.assert_allclose(model.labeling_history_["confidence"], 1.0)
        np.testing.assert_allclose(model.predict(blocks), 2.0)


class Spy(RegressorMixin, BaseEstimator):
    """The nearest label, which remembers the rows it was last asked for."""

    asked = []  # noqa: RUF012

    def __init__(self, metric="euclidean"):
        self.metric = metric

    def fit(self, X, y):
        self.inner_ = KNeighborsRegressor(1, metric=self.metric).fit(X, y)
        return self

    def kneighbors(self, X, n_neighbors, return_distance):
        return self.inner_.kneighbors(X, n_neighbors, return_distance)

    def predict(self, X):
        Spy.asked.append(X)
        return self.inner_.predict(X)


class TestReductions:
    def test_with_all_labels_it_is_the_mean_of_the_regressors(self):
        blocks, truth, _ = draw()
        model = CoTrainingRegressor(Ridge(0.5)).fit(blocks, truth)
        usual = [Ridge(0.5).fit(block, truth).predict(block) for block in blocks]
        np.testing.assert_allclose(model.predict(blocks), np.mean(usual, axis=0), rtol=1e-12)
        assert (model.stop_reason_, model.n_rounds_) == ("all_labeled", 0)
        assert list(model.labeling_history_) == ["round", "view", "sample", "label", "confidence"]

    def test_one_view_is_the_regressor(self):
        blocks, _, y = draw()
        model = CoTrainingRegressor().fit(blocks[0], y)
        usual = KNeighborsRegressor(3).fit(blocks[0][:N_LABELED], y[:N_LABELED])
        np.testing.assert_allclose(model.predict(blocks[0]), usual.predict(blocks[0]), rtol=1e-12)
        assert model.stop_reason_ == "not_confident"

    def test_regressors_are_copies(self):
        blocks, _, y = draw()
        templates = [Ridge(), KNeighborsRegressor(2)]
        model = CoTrainingRegressor(templates, n_rounds=2).fit(blocks, y)
        assert not hasattr(templates[0], "coef_")
        assert [type(fitted) for fitted in model.estimators_.values()] == [Ridge, KNeighborsRegressor]

    def test_sparse_rows_give_the_same(self):
        blocks, _, y = draw()
        dense = CoTrainingRegressor(n_rounds=4, random_state=0).fit(blocks, y)
        found = CoTrainingRegressor(n_rounds=4, random_state=0).fit([sparse.csr_array(block) for block in blocks], y)
        assert found.labeling_history_["sample"].tolist() == dense.labeling_history_["sample"].tolist()
        np.testing.assert_allclose(found.predict([sparse.csr_array(block) for block in blocks]), dense.predict(blocks))

    def test_the_pool_is_drawn_by_the_seed(self):
        blocks, _, y = draw()
        first, again, other = (
            CoTrainingRegressor(pool_size=8, n_rounds=5, random_state=seed).fit(blocks, y).labeling_history_
            for seed in (0, 0, 1)
        )
        assert first.equals(again)
        assert first["sample"].tolist() != other["sample"].tolist()


class TestGaps:
    def test_predictions_from_the_views_at_hand(self):
        blocks, _, y = draw()
        blocks[1][::4] = np.nan
        model = CoTrainingRegressor(n_rounds=4, random_state=0).fit(blocks, y)
        per_view = model.predict_per_view(blocks)
        np.testing.assert_array_equal(np.isnan(per_view[1]), np.arange(60) % 4 == 0)
        np.testing.assert_allclose(model.predict(blocks), np.nanmean(per_view, axis=0), rtol=1e-12)
        np.testing.assert_array_equal(model.predict({"view_1": blocks[1][1:4]}), per_view[1][1:4])
        np.testing.assert_array_equal(model.predict(blocks, view="view_0"), per_view[0])

    def test_a_sample_with_one_view_is_not_asked_for_where_nobody_would_learn(self):
        blocks, _, y = draw()
        blocks[1][30:] = np.nan
        cross = CoTrainingRegressor(n_rounds=20, pool_size=None).fit(blocks, y)
        assert cross.labeling_history_["sample"].max() < 30
        shared = CoTrainingRegressor(n_rounds=20, pool_size=None, sharing="shared").fit(blocks, y)
        assert shared.labeling_history_["sample"].max() >= 30

    def test_a_view_without_labels_learns_from_the_other(self):
        blocks, truth, y = draw(n=120, noise=0.1)
        blocks[1][:N_LABELED] = np.nan
        lone = CoTrainingRegressor(n_rounds=0).fit(blocks, y)
        assert list(lone.estimators_) == ["view_0"]
        assert np.isnan(lone.predict_per_view(blocks)[1]).all()
        with pytest.raises(ViewError, match="a view in which samples had labels; 2 of 2 have none"):
            lone.predict({"view_1": blocks[1][20:22]})
        model = CoTrainingRegressor(n_rounds=30, pool_size=30, random_state=0).fit(blocks, y)
        assert np.corrcoef(model.predict({"view_1": blocks[1][N_LABELED:]}), truth[N_LABELED:])[0, 1] > 0.8

    def test_fewer_labels_than_neighbors(self):
        blocks, _, y = draw()
        y[2:] = np.nan
        model = CoTrainingRegressor(n_rounds=5, random_state=0).fit(blocks, y)
        assert [fitted.n_neighbors for fitted in model.estimators_.values()] == [2, 2]
        assert np.isfinite(model.predict(blocks)).all()

    def test_a_sample_without_a_view(self):
        blocks, truth, y = draw()
        for block in blocks:
            block[50] = np.nan
        with pytest.raises(ViewError, match="1 of 60 have none"):
            CoTrainingRegressor(n_rounds=0).fit(blocks, y)
        model = CoTrainingRegressor(no_view="prior", n_rounds=2).fit(blocks, y)
        assert model.transduction_[50] == pytest.approx(truth[:N_LABELED].mean())

    def test_duplicates_are_labeled_each(self):
        blocks, _, y = draw(n=20)
        rows = np.concatenate([np.arange(20), np.full(5, 15)])
        model = CoTrainingRegressor(n_rounds=50, pool_size=None).fit([block[rows] for block in blocks], y[rows])
        assert model.labeling_history_["sample"].is_unique


class TestLabelsKeptAside:
    def test_rounds_that_spoil_are_taken_back(self):
        class Worse(RegressorMixin, BaseEstimator):
            """Right of the first feature while taught by few labels; then ten too much."""

            def fit(self, X, y):
                self.n_taught_ = len(y)
                return self

            def predict(self, X):
                # the members of a committee see as many labels as the regressor
                return X[:, 0] + 10.0 * (self.n_taught_ > 9)

        x = np.linspace(-1, 1, 60)
        labels = np.where(np.arange(60) % 5 == 0, x, np.nan)  # 12
        options = {"confidence": "committee", "validation_fraction": 0.5, "patience": 3, "random_state": 0}
        model = CoTrainingRegressor(Worse(), **options).fit([x[:, None], x[:, None]], labels)
        assert (model.stop_reason_, model.n_rounds_) == ("validation", 3)
        assert len(model.labeling_history_) == 6
        assert [fitted.n_taught_ for fitted in model.estimators_.values()] == [15, 15]

    def test_one_label_cannot_be_kept_aside(self):
        blocks, _, y = draw()
        y[1:] = np.nan
        with pytest.raises(ValueError, match="keeps no label aside"):
            CoTrainingRegressor(validation_fraction=0.3).fit(blocks, y)


class TestBadInput:
    def test_a_classifier(self):
        blocks, _, y = draw()
        with pytest.raises(ValueError, match="view 'view_1', LogisticRegression, is no regressor"):
            CoTrainingRegressor([Ridge(), LogisticRegression()]).fit(blocks, y)

    def test_no_labels(self):
        blocks, _, y = draw()
        with pytest.raises(ValueError, match="no sample is labeled"):
            CoTrainingRegressor().fit(blocks, np.full_like(y, np.nan))

    def test_an_unknown_view(self):
        blocks, _, y = draw()
        with pytest.raises(ViewError, match="view must be one of"):
            CoTrainingRegressor().fit(blocks, y).predict(blocks, view="c")


@pytest.mark.parametrize("estimators", [None, Ridge()])
def test_a_fitted_model_comes_back_from_its_file(estimators, tmp_path):
    blocks, _, y = draw()
    blocks[1][30:35] = np.nan
    model = CoTrainingRegressor(estimators, n_rounds=4, random_state=0).fit(blocks, y)
    save_model(model, tmp_path / "model.coview")
    again = load_model(tmp_path / "model.coview").model
    np.testing.assert_allclose(again.predict(blocks), model.predict(blocks), rtol=1e-13)
    assert again.labeling_history_.equals(model.labeling_history_)
