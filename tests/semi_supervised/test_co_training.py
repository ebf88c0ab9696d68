"""CoTrainingClassifier beyond the golden traces: stopping on labels kept aside, growth, gaps, classes, sigmoids, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.svm import LinearSVC

from coview import Views
from coview.exceptions import ViewError
from coview.persistence import load_model, save_model
from coview.semi_supervised import CoTrainingClassifier

COLORS = np.array(["red", "green", "blue", "black"], dtype=object)


def draw(n=60, n_classes=2, seed=0, gap=2.0, names=("a", "b"), labeled=6):
    """Views of Gaussian classes, the class of each sample, labels of the first samples and None elsewhere."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    centers = [gap * rng.normal(size=(n_classes, 3)) for _ in names]
    blocks = {name: center[codes] + rng.normal(size=(n, 3)) for name, center in zip(names, centers, strict=True)}
    truth = COLORS[codes]
    return blocks, truth, np.where(np.arange(n) < labeled, truth, None)


def all_labels(model, labels):
    """Labels given and those of the rounds."""
    final = np.array(labels, dtype=object)
    for row in model.labeling_history_.itertuples():
        final[row.sample] = row.label
    return final


class Scripted(ClassifierMixin, BaseEstimator):
    """The sign of the first feature; of samples with a second feature only while taught by ``least`` to ``most`` labels."""

    def __init__(self, least=0, most=1000):
        self.least, self.most = least, most

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_taught_ = len(y)
        return self

    def decision_function(self, X):
        right = self.least <= self.n_taught_ <= self.most
        return np.where((X[:, 1] > 0) & (not right), -X[:, 0], X[:, 0])


class TestLabelsKeptAside:
    def fit(self, least, most, **changes):
        """20 labels, of which 10 are kept aside; two identical views, whose nominations add two samples a round."""
        x = np.concatenate([[1.0, -1.0] * 10, np.outer(np.linspace(9, 2, 12), [1.0, -1.0]).ravel()])
        given = np.arange(x.size) < 20
        block = np.column_stack([x, given])
        y = np.where(given, x > 0, np.nan)
        options = {"n_positive": 1, "n_negative": 1, "validation_fraction": 0.5, "patience": 2, "random_state": 0}
        return CoTrainingClassifier(Scripted(least, most), **(options | changes)).fit([block, block.copy()], y)

    def test_rounds_after_the_best_one_are_taken_back(self):
        model = self.fit(14, 16)  # right in rounds 2 and 3
        assert (model.stop_reason_, model.n_rounds_) == ("validation", 3)
        assert model.labeling_history_["round"].tolist() == [1] * 4 + [2] * 4 + [3] * 4

    def test_rounds_that_are_as_good_stay(self):
        model = self.fit(14, 100)
        assert (model.stop_reason_, model.n_rounds_) == ("validation", 4)

    def test_the_last_fit_has_the_labels_kept_aside(self):
        model = self.fit(14, 16)
        assert [learner.n_taught_ for learner in model.estimators_.values()] == [20 + 2 * 3] * 2

    def test_patience(self):
        model = self.fit(18, 18, patience=5)  # round 4
        assert (model.stop_reason_, model.n_rounds_) == ("validation", 4)
        model = self.fit(18, 18, patience=3)  # as bad as at the start in rounds 1 to 3, so never seen
        assert (model.stop_reason_, model.n_rounds_) == ("validation", 3)

    def test_other_reasons_to_stop(self):
        model = self.fit(0, 1000, patience=100)
        assert (model.stop_reason_, model.n_rounds_) == ("all_labeled", 12)
        assert self.fit(0, 1000, patience=100, n_rounds=3).stop_reason_ == "n_rounds"

    def test_without_a_class_of_two_labels_nothing_can_be_kept_aside(self):
        blocks, _, labels = draw(labeled=2)
        with pytest.raises(ValueError, match="keeps no label aside"):
            CoTrainingClassifier(validation_fraction=0.3).fit(blocks, labels)


class TestGrowth:
    def test_counts_by_label(self):
        blocks, _, labels = draw(n=90, n_classes=3)
        model = CoTrainingClassifier(n_per_class={"red": 2, "blue": 0, "green": 1}, n_rounds=4).fit(blocks, labels)
        assert dict(zip(model.classes_, model.n_per_class_, strict=True)) == {"red": 2, "blue": 0, "green": 1}
        by = {"index": ["round", "view"], "columns": "label"}
        counts = model.labeling_history_.pivot_table(**by, aggfunc="size", fill_value=0)
        assert set(counts.columns) == {"red", "green"}
        assert counts["red"].max() == 2
        assert counts["green"].max() == 1
        assert (counts.loc[1] == [1, 2]).all(axis=None)  # columns in the order of their names

    def test_a_list_goes_by_classes_and_a_number_is_for_all(self):
        blocks, _, labels = draw(n=30, n_classes=3)
        assert CoTrainingClassifier(n_per_class=[1, 0, 3], n_rounds=1).fit(blocks, labels).n_per_class_.tolist() == [
            1,
            0,
            3,
        ]
        assert CoTrainingClassifier(n_per_class=2, n_rounds=1).fit(blocks, labels).n_per_class_.tolist() == [2, 2, 2]

    def test_in_proportion_to_the_labels(self):
        blocks, truth, _ = draw(n=60, n_classes=3)
        labels = np.full(60, None)
        for color, count in (("red", 2), ("green", 5), ("blue", 9)):
            labels[np.flatnonzero(truth == color)[:count]] = color
        model = CoTrainingClassifier(n_rounds=1).fit(blocks, labels)
        assert dict(zip(model.classes_, model.n_per_class_, strict=True)) == {"red": 1, "green": 2, "blue": 4}

    @pytest.mark.parametrize(
        ("growth", "message"),
        [
            ({"red": 1, "green": 1}, "an entry for each class"),
            ([1, 2], "for each of the 3 classes"),
            ([1, -2, 1], "for each of the 3 classes"),
            ([1.5, 1, 1], "for each of the 3 classes"),
            ([[1, 1, 1]], "for each of the 3 classes"),
        ],
    )
    def test_wrong_counts(self, growth, message):
        blocks, _, labels = draw(n=30, n_classes=3)
        with pytest.raises(ValueError, match=message):
            CoTrainingClassifier(n_per_class=growth).fit(blocks, labels)

    def test_counts_of_two_classes_are_for_two_classes(self):
        blocks, _, labels = draw(n=30, n_classes=3)
        with pytest.raises(ValueError, match="y has 3"):
            CoTrainingClassifier(n_positive=1).fit(blocks, labels)
        with pytest.raises(ValueError, match="not both"):
            CoTrainingClassifier(n_positive=1, n_per_class=1).fit(*draw()[::2])


class TestMissingClasses:
    """A class, or every label, may be missing in a view."""

    def problem(self, lost):
        """Three classes; the labeled samples of the lost classes lack view b."""
        blocks, truth, labels = draw(n=90, n_classes=3, labeled=18, gap=4.0)
        blocks["b"][pd.notna(labels) & np.isin(truth, lost)] = np.nan
        return blocks, truth, labels

    def test_a_view_does_not_nominate_a_class_that_it_never_saw(self):
        blocks, _, labels = self.problem(["green"])
        history = CoTrainingClassifier(n_rounds=1).fit(blocks, labels).labeling_history_
        assert set(history.loc[history["view"] == "b", "label"]) == {"red", "blue"}
        assert set(history.loc[history["view"] == "a", "label"]) == {"red", "green", "blue"}

    def test_a_class_without_labels_in_a_view_keeps_its_share(self):
        blocks, _, labels = self.problem(["green"])
        model = CoTrainingClassifier(n_rounds=0).fit(blocks, labels)
        new = {"b": blocks["b"][20:30]}
        found = model.predict_proba(new)
        alone = LogisticRegression(max_iter=1000).fit(
            blocks["b"][:18][np.array(labels[:18]) != "green"],
            labels[:18][np.array(labels[:18]) != "green"].astype(str),
        )
        np.testing.assert_allclose(found[:, 1], 1 / 3, rtol=1e-12)
        np.testing.assert_allclose(found[:, [0, 2]], 2 / 3 * alone.predict_proba(new["b"]), rtol=1e-9)

    def test_the_other_view_teaches_it(self):
        blocks, truth, labels = self.problem(["green"])
        model = CoTrainingClassifier().fit(blocks, labels)
        assert list(model.estimators_["b"].classes_) == ["blue", "green", "red"]
        assert (model.predict({"b": blocks["b"][18:]}) == truth[18:]).mean() > 0.9

    def test_a_view_with_one_class_or_no_label_learns_from_the_rounds(self):
        for lost in (["green", "blue"], ["red", "green", "blue"]):
            blocks, truth, labels = self.problem(lost)
            model = CoTrainingClassifier(n_rounds=0, no_view="prior").fit(blocks, labels)
            assert list(model.estimators_) == ["a"]
            np.testing.assert_allclose(model.predict_proba({"b": blocks["b"][20:22]}), 1 / 3)
            assert np.isnan(model.decision_function_per_view({"b": blocks["b"][20:22]})[1]).all()
            taught = CoTrainingClassifier(sharing="cross").fit(blocks, labels)
            assert set(taught.labeling_history_.query("round == 1")["view"]) == {"a"}
            assert (taught.predict({"b": blocks["b"][18:]}) == truth[18:]).mean() > 0.9

    def test_declared_classes_without_labels(self):
        blocks, _, labels = draw()
        model = CoTrainingClassifier(classes=["black", "green", "red"]).fit(blocks, labels)
        assert model.predict_proba(blocks).shape == (60, 3)
        assert (model.predict_proba(blocks)[:, 0] < 1e-100).all()
        assert "black" not in set(model.labeling_history_["label"])
        assert model.n_per_class_.tolist() == [0, 1, 1]


class TestScoresAndProbabilities:
    @pytest.mark.parametrize("combine", ["product", "mean"])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_combination_of_the_views_at_hand(self, combine, n_classes):
        blocks, _, labels = draw(n_classes=n_classes, names=("a", "b", "c"), gap=0.5, labeled=12)
        blocks["b"][::4] = np.nan
        model = CoTrainingClassifier(GaussianNB(), combine=combine, n_rounds=2).fit(blocks, labels)
        given = all_labels(model, labels)
        expected = np.zeros((60, n_classes))
        for block in blocks.values():
            has = ~np.isnan(block[:, 0])
            taught = has & pd.notna(given)
            found = GaussianNB().fit(block[taught], given[taught].astype(str)).predict_proba(block[has])
            expected[has] += np.log(found) if combine == "product" else found
        expected = softmax(expected, axis=1) if combine == "product" else expected / expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(blocks), expected, rtol=1e-8)
        np.testing.assert_allclose(model.label_distributions_, expected, rtol=1e-8)
        np.testing.assert_array_equal(model.transduction_, model.classes_[expected.argmax(axis=1)])

    def test_confidence_of_many_classes_is_the_lead_of_the_log_probability(self):
        blocks, _, labels = draw(n_classes=3, labeled=9, gap=1.0)
        history = CoTrainingClassifier(GaussianNB(), n_rounds=1).fit(blocks, labels).labeling_history_
        for name, block in blocks.items():
            logs = np.sort(GaussianNB().fit(block[:9], labels[:9].astype(str)).predict_log_proba(block), axis=1)
            mine = history[history["view"] == name]
            np.testing.assert_allclose(mine["confidence"], (logs[:, -1] - logs[:, -2])[mine["sample"]], rtol=1e-9)

    def test_log_odds_rank_where_probabilities_saturate(self):
        x = np.concatenate([[-1.0, 1.0], np.linspace(1e3, 1e4, 20)])[:, None]
        y = np.array([0.0, 1.0] + [np.nan] * 20)
        model = CoTrainingClassifier(LogisticRegression(C=1e3), n_positive=1, n_negative=0, n_rounds=1)
        model.fit([x, x.copy()], y)
        assert model.labeling_history_["sample"].tolist() == [21, 21]

    @pytest.mark.parametrize("n_classes", [2, 3, 4])
    def test_sigmoid_of_an_estimator_without_probabilities(self, n_classes):
        blocks, _, labels = draw(n_classes=n_classes, labeled=48, gap=0.0)
        # Corners of a simplex: each class can be told from the rest, so no sigmoid falls.
        corners = 1.5 * np.vstack([np.eye(3), -np.ones(3)])[np.arange(60) % n_classes]
        blocks = {name: block + corners for name, block in blocks.items()}
        machine = LinearSVC(random_state=0)
        model = CoTrainingClassifier(machine, n_rounds=0).fit(blocks, labels)
        for name, block in blocks.items():
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            usual = CalibratedClassifierCV(machine, cv=folds, ensemble=False)
            usual.fit(block[:48], labels[:48].astype(str))
            np.testing.assert_allclose(
                model.predict_proba(blocks, view=name), usual.predict_proba(block), rtol=2e-3, atol=1e-4
            )

    def test_a_class_that_a_sigmoid_never_saw(self):
        blocks, _, labels = draw(n_classes=3, labeled=18, gap=4.0)
        blocks["b"][1:18:3] = np.nan  # the labeled green ones
        model = CoTrainingClassifier(LinearSVC(random_state=0), n_rounds=3).fit(blocks, labels)
        found = model.predict_proba({"b": blocks["b"][18:]})
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        assert np.isfinite(found).all()

    def test_predictions_follow_decision_functions_where_there_are_no_probabilities(self):
        blocks, _, labels = draw(n_classes=3, labeled=12, gap=1.0)
        model = CoTrainingClassifier(LinearSVC(random_state=0), n_rounds=2).fit(blocks, labels)
        per_view = [model.estimators_[name].decision_function(block) for name, block in blocks.items()]
        np.testing.assert_allclose(model.decision_function(blocks), np.mean(per_view, axis=0))
        np.testing.assert_array_equal(model.predict(blocks), model.classes_[np.mean(per_view, axis=0).argmax(axis=1)])


class TestRounds:
    def test_estimators_are_copies_fitted_to_all_labels(self):
        blocks, _, labels = draw()
        templates = {"b": GaussianNB(), "a": LinearDiscriminantAnalysis()}
        model = CoTrainingClassifier(templates, n_rounds=5).fit(blocks, labels)
        given = all_labels(model, labels)
        known = pd.notna(given)
        for name, template in templates.items():
            assert not hasattr(template, "classes_")
            fresh = clone(template).fit(blocks[name][known], given[known].astype(str))
            np.testing.assert_array_equal(
                model.estimators_[name].predict_proba(blocks[name]), fresh.predict_proba(blocks[name])
            )
        shared = CoTrainingClassifier(GaussianNB()).fit(blocks, labels)
        assert shared.estimators_["a"] is not shared.estimators_["b"]

    def test_without_unlabeled_samples_it_is_the_estimator(self):
        blocks, truth, _ = draw(gap=0.5)
        model = CoTrainingClassifier(LogisticRegression()).fit(blocks["a"], truth)
        usual = LogisticRegression().fit(blocks["a"], truth.astype(str))
        np.testing.assert_allclose(model.predict_proba(blocks["a"]), usual.predict_proba(blocks["a"]), rtol=1e-12)
        assert (model.stop_reason_, model.n_rounds_, len(model.labeling_history_)) == ("all_labeled", 0, 0)
        assert list(model.labeling_history_) == ["round", "view", "sample", "label", "confidence"]

    def test_the_threshold_is_exclusive(self):
        x = np.array([[-1.0, 0], [1.0, 0], [3.0, 0], [-2.0, 0], [1.5, 0]])
        y = np.array([0, 1, -1, -1, -1])
        model = CoTrainingClassifier(Scripted(), threshold=2.0).fit(
            [x, x.copy()],
            y,
        )
        assert model.stop_reason_ == "not_confident"
        assert set(model.labeling_history_["sample"]) == {2}

    def test_of_duplicates_the_first_comes_first(self):
        x = np.array([[-1.0, 0], [1.0, 0]] + [[3.0, 0], [-3.0, 0]] * 4)
        y = np.array([0, 1] + [-1] * 8)
        model = CoTrainingClassifier(Scripted()).fit([x, x.copy()], y)
        assert model.labeling_history_.drop_duplicates("sample")["sample"].tolist() == list(range(2, 10))

    def test_equal_scores_for_different_labels_leave_the_sample_unlabeled(self):
        x = np.array([[-1.0, 0], [1.0, 0], [3.0, 0]])
        model = CoTrainingClassifier(Scripted()).fit([x, x * [[1], [1], [-1]]], [0, 1, -1])
        assert (model.stop_reason_, len(model.labeling_history_)) == ("contradictions", 0)

    def test_cross_leaves_a_sample_with_one_view_alone(self):
        blocks, _, labels = draw()
        blocks["b"][30:] = np.nan
        cross = CoTrainingClassifier(sharing="cross").fit(blocks, labels)
        assert cross.labeling_history_["sample"].max() < 30
        assert CoTrainingClassifier().fit(blocks, labels).labeling_history_["sample"].max() >= 30

    def test_the_pool_is_drawn_by_the_seed(self):
        blocks, _, labels = draw()
        first, again, other = (
            CoTrainingClassifier(pool_size=8, n_rounds=3, random_state=seed).fit(blocks, labels).labeling_history_
            for seed in (0, 0, 1)
        )
        assert first.equals(again)
        assert first["sample"].tolist() != other["sample"].tolist()
        assert first.query("round == 1")["sample"].nunique() <= 4

    def test_sparse_views_stay_sparse(self):
        class Sparse(MultinomialNB):
            def fit(self, X, y):
                assert sparse.issparse(X)
                return super().fit(X, y)

        rng = np.random.default_rng(0)
        truth = np.arange(40) % 2
        views = [sparse.csr_array(rng.poisson(np.where(truth[:, None] == np.arange(6) % 2, 2.0, 0.3))) for _ in "ab"]
        y = np.where(np.arange(40) < 4, truth, -1)
        found = CoTrainingClassifier(Sparse()).fit(views, y).predict(views)
        dense = CoTrainingClassifier(MultinomialNB()).fit([view.toarray() for view in views], y)
        np.testing.assert_array_equal(found, dense.predict([view.toarray() for view in views]))
        assert (found == truth).mean() > 0.9

    @pytest.mark.parametrize(
        ("coding", "missing"),
        [([False, True], None), ([3, 7], -1), (["no", "yes"], None), ([-1.0, 2.0], np.nan), ([0, 1], np.nan)],
    )
    def test_labels_in_any_coding(self, coding, missing):
        blocks, truth, _ = draw()
        codes = (truth == "red").astype(int)
        y = [coding[code] if row < 6 else missing for row, code in enumerate(codes)]
        model = CoTrainingClassifier().fit(blocks, y)
        assert model.classes_.tolist() == coding
        assert set(model.labeling_history_["label"]) == set(coding)
        assert np.mean([coding[code] for code in codes] == model.transduction_) > 0.9


class TestBadInput:
    def test_one_class(self):
        blocks, _, labels = draw()
        labels[labels == "red"] = None
        with pytest.raises(ValueError, match="only one class"):
            CoTrainingClassifier().fit(blocks, labels)
        with pytest.raises(ValueError, match="one class among 3 labels"):
            CoTrainingClassifier(classes=["green", "red"]).fit(blocks, labels)

    def test_an_estimator_that_says_nothing_of_its_certainty(self):
        class Mute(ClassifierMixin, BaseEstimator):
            def fit(self, X, y):
                return self

        with pytest.raises(ValueError, match="view 'b', Mute, has neither predict_proba nor decision_function"):
            CoTrainingClassifier([LogisticRegression(), Mute()]).fit(*draw()[::2])

    def test_estimators_of_other_views(self):
        blocks, _, labels = draw()
        with pytest.raises(ViewError, match="each of the 2 views; got 3"):
            CoTrainingClassifier([GaussianNB()] * 3).fit(blocks, labels)
        with pytest.raises(ViewError, match="one entry for each view"):
            CoTrainingClassifier({"a": GaussianNB(), "c": GaussianNB()}).fit(blocks, labels)

    def test_a_sample_without_a_view(self):
        blocks, _, labels = draw()
        for block in blocks.values():
            block[50] = np.nan
        with pytest.raises(ViewError, match="1 of 60 have none"):
            CoTrainingClassifier().fit(blocks, labels)
        model = CoTrainingClassifier(no_view="prior").fit(blocks, labels)
        np.testing.assert_allclose(model.label_distributions_[50], 0.5)
        assert 50 not in set(model.labeling_history_["sample"])

    def test_cross_needs_two_views(self):
        with pytest.raises(ValueError, match="sharing='cross' needs two views"):
            CoTrainingClassifier(sharing="cross").fit(np.eye(4), [0, 1, -1, -1])

    def test_an_unknown_view(self):
        blocks, _, labels = draw()
        with pytest.raises(ViewError, match="view must be one of"):
            CoTrainingClassifier().fit(blocks, labels).predict(blocks, view="c")


@pytest.mark.parametrize("template", [LogisticRegression(), LinearSVC(random_state=0), MultinomialNB()])
def test_a_fitted_model_comes_back_from_its_file(template, tmp_path):
    blocks, _, labels = draw(n_classes=3, labeled=9)
    blocks = {name: np.abs(block) for name, block in blocks.items()}
    blocks["b"][20:30] = np.nan
    model = CoTrainingClassifier(template, pool_size=20, random_state=0).fit(blocks, labels)
    save_model(model, tmp_path / "model.coview")
    again = load_model(tmp_path / "model.coview").model
    np.testing.assert_array_equal(again.predict_proba(blocks), model.predict_proba(blocks))
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    assert again.labeling_history_.equals(model.labeling_history_)
    np.testing.assert_array_equal(
        again.predict(Views({"b": blocks["b"][:5]})), model.predict(Views({"b": blocks["b"][:5]}))
    )
