"""Densities fitted again as values come in."""

import numpy as np
import pytest
from scipy import sparse

from coview import Views
from coview.acquisition import Campaign, view_utilities
from coview.acquisition._densities import GrowingDensity, resolve_density
from coview.exceptions import ViewError
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.mixture import ClassConditionalGaussianMixture, IncompleteGaussianMixture

from .small_problems import problem

DENSITIES = [
    "auto",
    IncompleteGaussianMixture(2, covariance_type="view", tol=1e-4, random_state=0),
    ClassConditionalGaussianMixture("auto", max_components=3, missing_label=None, random_state=0),
]


def arriving(n_steps=6, n_each=3, seed=0):
    """Views step by step, a few values more each time, and labels with None where there is none."""
    views, y, tables = problem(n=120, n_labels=40, widths=(1, 2, 3), seed=seed)
    rng = np.random.default_rng(seed)
    presence = views.presence.copy()
    labels = np.where(np.isnan(y), None, y.astype(object))
    for _ in range(n_steps):
        yield Views(tables, names=views.names, presence=presence), labels
        missing = rng.permutation(np.argwhere(~presence))[:n_each]
        presence = presence.copy()
        presence[tuple(missing.T)] = True


@pytest.mark.parametrize("asked", DENSITIES, ids=str)
def test_going_on_ends_as_likely_as_beginning_anew(asked):
    density, searched, iterations = GrowingDensity(asked), None, []
    for views, labels in arriving():
        before = density.fitted
        kept = None if before is None else before.means_.copy()
        density = density.after(views, labels, 0)
        if before is not None:
            np.testing.assert_array_equal(before.means_, kept)
            iterations.append(density.fitted.n_iter_)
            assert density.n_known == searched
        searched = density.n_known
        fresh = resolve_density(asked, views, labels, 0)
        assert density.fitted.lower_bound_ == pytest.approx(fresh.lower_bound_, abs=0.01)
    assert np.mean(iterations) < 0.5 * fresh.n_iter_


def test_regression_has_a_density_without_classes():
    density = GrowingDensity("auto")
    for views, _ in arriving(3):
        density = density.after(views, None, 0)
        fresh = resolve_density("auto", views, None, 0)
        assert density.fitted.lower_bound_ == pytest.approx(fresh.lower_bound_, abs=0.01)


def test_the_number_of_components_is_searched_again_once_a_quarter_more_is_known():
    density, searches = GrowingDensity("auto"), []
    for views, labels in arriving(8, 20):
        density = density.after(views, labels, 0)
        searches.append(density.n_known)
    assert len(set(searches)) == 2
    assert searches[-1] > 1.25 * searches[0]


def test_a_density_that_is_fitted_stays():
    (views, labels), (later, _) = arriving(2, 10)
    fitted = IncompleteGaussianMixture().fit(views)
    first = GrowingDensity(fitted).after(views, labels, 0)
    assert first.after(later, labels, 0).fitted is fitted


def test_with_the_first_label_classes_have_densities_of_their_own():
    (views, labels), (later, _) = arriving(2)
    density = GrowingDensity("auto").after(views, np.full(len(labels), None), 0)
    assert not hasattr(density.fitted, "classes_")
    assert density.after(later, labels, 0).fitted.classes_.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("criterion", ["expected_entropy", "mutual_information", "a_optimality"])
def test_views_of_which_no_density_is_estimated_are_named(criterion):
    rng = np.random.default_rng(0)
    presence = np.array([[1, 1], [1, 0], [0, 1], [1, 1], [1, 0], [1, 1]], dtype=bool)
    y = [0, 1, 0, 1, -1, -1]
    words = sparse.random(6, 40, density=0.2, random_state=0, format="csr")
    model = BayesianCoTrainingClassifier("linear", hyperparameters="fixed")
    text = Views({"words": words, "ct": rng.normal(size=(6, 2))}, presence=presence)
    with pytest.raises(ViewError, match=r"dense views, and 'words' is sparse.*TruncatedSVD.*'variance' or 'random'"):
        view_utilities(model, text, y, criterion=criterion)
    wide = Views({"genes": rng.normal(size=(6, 100_000)), "ct": rng.normal(size=(6, 2))}, presence=presence)
    with pytest.raises(ViewError, match=r"for 5000 features .* there are 100002, 100000 of them in 'genes'.*PCA"):
        view_utilities(model, wide, y, criterion=criterion)
    for views in (text, wide):
        held = Campaign(model, views, y)
        for kind, other in (("views", "variance"), ("views", "random"), ("labels", None)):
            assert len(held.ask(2, kind=kind, criterion=other)) == 2
