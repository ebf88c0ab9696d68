"""CoEMClassifier: naive Bayes against co-EM written out, reductions, gaps, weights, convergence, bad input."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from coview.exceptions import ViewError
from coview.persistence import load_model, save_model
from coview.semi_supervised import CoEMClassifier

N_LABELED = 9


def words(n=60, n_classes=3, n_views=2, seed=0, length=12):
    """Word counts in several views, classes, and the labels of the first samples (-1 elsewhere)."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    views = [
        np.array(
            [rng.multinomial(length, row) for row in rng.dirichlet(np.full(8, 0.6), n_classes)[truth]], dtype=float
        )
        for _ in range(n_views)
    ]
    return views, truth, np.where(np.arange(n) < N_LABELED, truth, -1)


def m_step(X, soft):
    """Log prior and log probabilities of words from soft labels, with one pseudo-count per word."""
    prior = soft.sum(axis=0) / soft.sum()
    counts = soft.T @ X + 1.0
    return np.log(prior), np.log(counts / counts.sum(axis=1, keepdims=True))


def e_step(X, model):
    return softmax(model[0] + X @ model[1].T, axis=1)


def by_hand(X_1, X_2, y, n_classes, n_passes, weight=1.0):
    """Co-EM of two naive Bayes models as Nigam and Ghani state it; the first model, the second, and their posteriors."""
    hard = np.eye(n_classes)[np.maximum(y, 0)] * (y >= 0)[:, None]

    def with_labels(said):
        return hard + weight * said * (y < 0)[:, None]

    first, second = m_step(X_1[y >= 0], hard[y >= 0]), m_step(X_2[y >= 0], hard[y >= 0])
    for _ in range(n_passes):
        second = m_step(X_2, with_labels(e_step(X_1, first)))
        first = m_step(X_1, with_labels(e_step(X_2, second)))
    return e_step(X_1, first), e_step(X_2, second)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestNaiveBayesByHand:
    @pytest.mark.parametrize("n_passes", [0, 1, 2, 5])
    @pytest.mark.parametrize("weight", [1.0, 0.2])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_two_views(self, n_passes, weight, n_classes):
        views, _, y = words(n_classes=n_classes)
        model = CoEMClassifier(MultinomialNB(), max_iter=n_passes, tol=0.0, unlabeled_weight=weight).fit(views, y)
        assert model.n_iter_ == n_passes
        expected = by_hand(*views, y, n_classes, n_passes, weight)
        for name, probabilities in zip(model.view_names_, expected, strict=True):
            np.testing.assert_allclose(model.predict_proba(views, view=name), probabilities, rtol=1e-8, atol=1e-12)
        product = expected[0] * expected[1]
        np.testing.assert_allclose(
            model.label_distributions_, product / product.sum(axis=1, keepdims=True), rtol=1e-8, atol=1e-12
        )

    def test_changes_are_those_of_the_probabilities(self):
        views, _, y = words()
        model = CoEMClassifier(MultinomialNB(), max_iter=3, tol=0.0).fit(views, y)
        paths = [by_hand(*views, y, 3, n_passes) for n_passes in range(4)]
        changes = [max(np.abs(new - old).max() for old, new in zip(*pair, strict=True)) for pair in pairwise(paths)]
        np.testing.assert_allclose(model.changes_, changes, rtol=1e-7)

    def test_parallel(self):
        views, _, y = words()
        model = CoEMClassifier(MultinomialNB(), schedule="parallel", max_iter=1).fit(views, y)
        hard = np.eye(3)[np.maximum(y, 0)] * (y >= 0)[:, None]
        starts = [m_step(X[y >= 0], hard[y >= 0]) for X in views]
        for own, other, name in ((0, 1, "view_0"), (1, 0, "view_1")):
            soft = hard + e_step(views[other], starts[other]) * (y < 0)[:, None]
            expected = e_step(views[own], m_step(views[own], soft))
            np.testing.assert_allclose(model.predict_proba(views, view=name), expected, rtol=1e-8, atol=1e-12)

    @pytest.mark.parametrize("combine", ["product", "mean"])
    def test_of_three_views_each_learns_from_the_two_others(self, combine):
        views, _, y = words(n_views=3)
        model = CoEMClassifier(MultinomialNB(), combine=combine, schedule="parallel", max_iter=1).fit(views, y)
        hard = np.eye(3)[np.maximum(y, 0)] * (y >= 0)[:, None]
        said = [e_step(X, m_step(X[y >= 0], hard[y >= 0])) for X in views]
        for own in range(3):
            others = [said[j] for j in range(3) if j != own]
            both = others[0] * others[1] if combine == "product" else others[0] + others[1]
            soft = hard + both / both.sum(axis=1, keepdims=True) * (y < 0)[:, None]
            expected = e_step(views[own], m_step(views[own], soft))
            np.testing.assert_allclose(model.predict_proba(views, view=f"view_{own}"), expected, rtol=1e-8, atol=1e-12)

    def test_a_sample_without_the_other_view_teaches_nothing_there(self):
        views, _, y = words()
        views[1][40:50] = np.nan  # without label: view 0 is not taught by them
        model = CoEMClassifier(MultinomialNB(), schedule="parallel", max_iter=1).fit(views, y)
        hard = np.eye(3)[np.maximum(y, 0)] * (y >= 0)[:, None]
        has = ~np.isnan(views[1][:, 0])
        said = e_step(views[1][has], m_step(views[1][y >= 0], hard[y >= 0]))
        soft = hard[has] + said * (y < 0)[has, None]
        np.testing.assert_allclose(
            model.predict_proba(views, view="view_0"),
            e_step(views[0], m_step(views[0][has], soft)),
            rtol=1e-8,
            atol=1e-12,
        )


class TestReductions:
    @pytest.mark.parametrize("template", [LogisticRegression(C=0.3), GaussianNB(), DecisionTreeClassifier(max_depth=3)])
    def test_with_all_labels_it_is_the_estimator(self, template):
        views, truth, _ = words()
        model = CoEMClassifier(template, random_state=0).fit(views, truth)
        assert (model.n_iter_, model.changes_.tolist(), model.converged_) == (1, [0.0], True)
        for name, X in zip(model.view_names_, views, strict=True):
            usual = clone(template)
            if "random_state" in usual.get_params():
                usual.set_params(random_state=model.estimators_[name].random_state)
            np.testing.assert_array_equal(
                model.estimators_[name].predict_proba(X), usual.fit(X, truth).predict_proba(X)
            )

    def test_one_view_is_the_estimator_on_the_labels(self):
        views, _, y = words()
        model = CoEMClassifier(MultinomialNB()).fit(views[0], y)
        usual = MultinomialNB().fit(views[0][:N_LABELED], y[:N_LABELED])
        np.testing.assert_allclose(model.predict_proba(views[0]), usual.predict_proba(views[0]), rtol=1e-12)

    def test_without_weight_samples_without_label_do_not_count(self):
        views, _, y = words()
        model = CoEMClassifier(MultinomialNB(), unlabeled_weight=0.0).fit(views, y)
        usual = MultinomialNB().fit(views[1][:N_LABELED], y[:N_LABELED])
        np.testing.assert_array_equal(
            model.estimators_["view_1"].predict_proba(views[1]), usual.predict_proba(views[1])
        )

    def test_sparse_rows_give_the_same_and_stay_sparse(self):
        class Sparse(MultinomialNB):
            def fit(self, X, y, sample_weight=None):
                assert sparse.issparse(X)
                return super().fit(X, y, sample_weight=sample_weight)

        views, _, y = words()
        dense = CoEMClassifier(MultinomialNB()).fit(views, y)
        found = CoEMClassifier(Sparse()).fit([sparse.csr_array(X) for X in views], y)
        np.testing.assert_allclose(found.label_distributions_, dense.label_distributions_, rtol=1e-9)
        assert found.n_iter_ == dense.n_iter_

    def test_weights_go_to_the_last_step_of_a_pipeline(self):
        views, _, y = words()
        model = CoEMClassifier(make_pipeline(StandardScaler(), LogisticRegression()), max_iter=1, tol=1.0).fit(views, y)
        unweighted = CoEMClassifier(
            make_pipeline(StandardScaler(), LogisticRegression()), max_iter=1, tol=1.0, unlabeled_weight=1e-3
        ).fit(views, y)
        assert model.estimators_["view_0"][0].n_samples_seen_ > N_LABELED
        assert np.abs(model.label_distributions_ - unweighted.label_distributions_).max() > 0.01


class TestConvergence:
    def test_it_stops_where_nothing_changes(self):
        views, truth, y = words(n=200)
        model = CoEMClassifier(MultinomialNB(), tol=1e-6, max_iter=500).fit(views, y)
        assert model.converged_
        assert model.n_iter_ == len(model.changes_) < 500
        assert model.changes_[-1] <= 1e-6 < model.changes_[-2]
        assert (model.transduction_ == truth).mean() > 0.9

    def test_samples_without_labels_help(self):
        gains = []
        for seed in range(5):
            views, truth, y = words(n=300, seed=seed, length=8)
            y[3:] = -1  # one label per class
            alone = CoEMClassifier(MultinomialNB(), max_iter=0).fit(views, y)
            model = CoEMClassifier(MultinomialNB(), max_iter=200).fit(views, y)
            gains.append((model.transduction_ == truth).mean() - (alone.transduction_ == truth).mean())
        assert np.mean(gains) > 0.05
        assert min(gains) > 0.0

    def test_a_warning_says_what_to_raise(self):
        views, _, y = words()
        with pytest.warns(ConvergenceWarning, match="max_iter=2 passes.*Raise max_iter or tol"):
            model = CoEMClassifier(MultinomialNB(), max_iter=2, tol=0.0).fit(views, y)
        assert not model.converged_


class TestGaps:
    def test_classes_that_a_view_has_no_label_of_are_taught_by_the_other(self):
        views, truth, y = words(n=150, seed=1)
        views[1][:N_LABELED][truth[:N_LABELED] == 2] = np.nan
        model = CoEMClassifier(MultinomialNB()).fit(views, y)
        assert model.estimators_["view_1"].classes_.tolist() == [0, 1, 2]
        assert (model.predict({"view_1": views[1][N_LABELED:]}) == truth[N_LABELED:]).mean() > 0.75

    def test_a_view_without_labels_is_taught_by_the_other(self):
        views, truth, y = words(n=150, seed=1)
        for lost in (0, 1):
            changed = [X.copy() for X in views]
            changed[lost][:N_LABELED] = np.nan
            model = CoEMClassifier(MultinomialNB()).fit(changed, y)
            new = {f"view_{lost}": views[lost][N_LABELED:]}
            assert (model.predict(new) == truth[N_LABELED:]).mean() > 0.75

    def test_without_two_classes_in_any_view_nothing_can_begin(self):
        views, truth, _ = words(n_classes=2)
        y = np.full(60, -1)
        y[[0, 1]] = truth[[0, 1]]
        views[0][1], views[1][0] = np.nan, np.nan
        with pytest.raises(ViewError, match="a view in which two classes had labels; 60 of 60 have none"):
            CoEMClassifier().fit(views, y)

    def test_a_sample_without_a_view(self):
        views, _, y = words()
        for X in views:
            X[-1] = np.nan
        with pytest.raises(ViewError, match="1 of 60 have none"):
            CoEMClassifier(MultinomialNB()).fit(views, y)
        model = CoEMClassifier(MultinomialNB(), no_view="prior").fit(views, y)
        np.testing.assert_allclose(model.label_distributions_[-1], 1 / 3)

    def test_duplicates_count_as_often_as_they_occur(self):
        views, _, y = words()
        once = CoEMClassifier(MultinomialNB(), unlabeled_weight=1.0, max_iter=1, tol=1.0).fit(views, y)
        rows = np.concatenate([np.arange(60), np.arange(N_LABELED, 60)])
        twice = CoEMClassifier(MultinomialNB(), unlabeled_weight=0.5, max_iter=1, tol=1.0)
        twice.fit([X[rows] for X in views], y[rows])
        np.testing.assert_allclose(twice.label_distributions_[:60], once.label_distributions_, rtol=1e-9)


class TestBadInput:
    @pytest.mark.parametrize(
        ("estimators", "message"),
        [
            ([MultinomialNB(), LinearSVC()], "view 'view_1', LinearSVC, has no predict_proba"),
            ([KNeighborsClassifier(), MultinomialNB()], "view 'view_0', KNeighborsClassifier, takes no sample_weight"),
            (make_pipeline(StandardScaler(), KNeighborsClassifier()), "Pipeline, takes no sample_weight"),
        ],
    )
    def test_estimators_that_cannot_take_part(self, estimators, message):
        views, _, y = words()
        with pytest.raises(ValueError, match=message):
            CoEMClassifier(estimators).fit(views, y)

    def test_one_class(self):
        views, _, y = words()
        with pytest.raises(ValueError, match="only one class"):
            CoEMClassifier().fit(views, np.where(y == 0, 0, -1))
        with pytest.raises(ValueError, match="one class among 3 labels"):
            CoEMClassifier(classes=[0, 1]).fit(views, np.where(y == 0, 0, -1))


def test_a_fitted_model_comes_back_from_its_file(tmp_path):
    views, _, y = words()
    views[1][30:35] = np.nan
    model = CoEMClassifier(MultinomialNB(), tol=0.1).fit(views, y)
    save_model(model, tmp_path / "model.coview")
    again = load_model(tmp_path / "model.coview").model
    np.testing.assert_array_equal(again.predict_proba(views), model.predict_proba(views))
    np.testing.assert_array_equal(again.changes_, model.changes_)
