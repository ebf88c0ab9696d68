"""Expected kernels as a step: before support vector machines, in searches, as Gram matrices for co-training."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from coview import Views
from coview.datasets import make_multiview_classification
from coview.exceptions import ViewError
from coview.gaussian_process import BayesianCoTrainingClassifier
from coview.impute import (
    ExpectedKernelTransformer,
    expected_linear_kernel,
    expected_polynomial_kernel,
    expected_rbf_kernel,
)
from coview.kernels import median_distance
from coview.mixture import ClassConditionalGaussianMixture, IncompleteGaussianMixture

from .expected_problems import mixture_of, problem

ONE = IncompleteGaussianMixture(random_state=0)


def classes():
    """Two views, each missing from some samples, with a few single features missing besides."""
    views, y = make_multiview_classification(120, n_features=(3, 2), missing=0.3, random_state=0)
    X = views.stacked()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return Views({"a": X[:, :3], "b": X[:, 3:]}), y


ALL, LABELS = classes()
VIEWS, Y = ALL[:60], LABELS[:60]
NEW, NEW_Y = ALL[60:], LABELS[60:]


@pytest.mark.parametrize("mean_embedding", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial"])
def test_the_functions_with_a_fitted_mixture(kernel, mean_embedding):
    step = ExpectedKernelTransformer(ONE, kernel=kernel, gamma=0.3, degree=2, coef0=0.5, mean_embedding=mean_embedding)
    K = step.fit_transform(VIEWS)
    function, options = {
        "rbf": (expected_rbf_kernel, {"gamma": 0.3}),
        "linear": (expected_linear_kernel, {}),
        "polynomial": (expected_polynomial_kernel, {"gamma": 0.3, "degree": 2, "coef0": 0.5}),
    }[kernel]
    options["mixture"] = step.mixture_
    np.testing.assert_array_equal(K, function(VIEWS, **options, mean_embedding=mean_embedding))
    np.testing.assert_allclose(step.transform(NEW), function(NEW, VIEWS, **options), rtol=1e-12)
    again = step.fit(VIEWS).transform(VIEWS)
    same = np.abs(again - K) <= 1e-12 * np.abs(K).max()
    assert same[~np.eye(len(K), dtype=bool)].all()
    assert same.all() == mean_embedding


def test_views_may_be_absent_and_in_any_order():
    step = ExpectedKernelTransformer(ONE).fit(VIEWS)
    absent = {"b": VIEWS.to_frame("b").to_numpy(), "a": np.full((60, 3), np.nan)}
    np.testing.assert_array_equal(step.transform(absent), step.transform({"b": absent["b"]}))


def test_a_fitted_mixture_is_used_as_it_is_and_by_name():
    mixture = clone(ONE).fit(VIEWS)
    step = ExpectedKernelTransformer(mixture, gamma={"a": 0.1, "b": 0.4})
    K = step.fit_transform(VIEWS)
    assert step.mixture_ is mixture
    turned = clone(step).set_params(mixture=FrozenEstimator(mixture))
    np.testing.assert_array_equal(turned.fit_transform(VIEWS.select(["b", "a"])), K)
    np.testing.assert_array_equal(turned.gamma_, [0.1, 0.1, 0.1, 0.4, 0.4])
    assert clone(turned).fit(VIEWS).mixture_.estimator is mixture
    with pytest.raises(ViewError, match="not seen in fit"):
        ExpectedKernelTransformer(mixture).fit({"c": np.zeros((4, 5))})


def test_a_mixture_of_known_parameters():
    X, known = problem(0)
    mixture = IncompleteGaussianMixture.from_parameters(known.weights_, known.means_, known.covariances_)
    K = ExpectedKernelTransformer(mixture, gamma=0.5).fit_transform(X)
    np.testing.assert_allclose(K, expected_rbf_kernel(X, mixture=known, gamma=0.5), rtol=1e-12)
    np.testing.assert_allclose(K, ExpectedKernelTransformer(known, gamma=0.5).fit_transform(X), rtol=1e-12)
    with pytest.raises(ValueError, match="4"):
        ExpectedKernelTransformer(mixture).fit(X[:, :3])
    parts = mixture.from_parameters(known.weights_, known.means_, known.covariances_, view_n_features=[3, 1])
    by_view = expected_rbf_kernel(X, mixture=parts, gamma=[0.1, 0.4])
    np.testing.assert_allclose(by_view, expected_rbf_kernel(X, mixture=known, gamma=[0.1] * 3 + [0.4]), rtol=1e-12)


def test_widths_from_the_data():
    X = np.random.default_rng(0).normal(size=(30, 4)) + 1e3
    step = ExpectedKernelTransformer(ONE).fit(X)
    np.testing.assert_allclose(step.gamma_, 0.5 / median_distance(X, np.random.RandomState(0)) ** 2, rtol=1e-9)
    step = ExpectedKernelTransformer(ONE, gamma="scale").fit(X)
    np.testing.assert_allclose(step.gamma_, 1.0 / (4 * X.var()))
    holes = X.copy()
    holes[:15, :2] = np.nan
    incomplete = ExpectedKernelTransformer(ONE).fit(holes)
    np.testing.assert_allclose(
        1.0 / incomplete.gamma_, 1.0 / (0.5 / median_distance(X, np.random.RandomState(0)) ** 2), rtol=0.2
    )
    constant = ExpectedKernelTransformer(mixture_of([1.0], [[3.0]], [[[1.0]]]))
    assert constant.fit(np.full((5, 1), 3.0)).gamma_ == 1.0
    assert constant.set_params(gamma="scale").fit(np.full((5, 1), 3.0)).gamma_ == 1.0


def test_more_than_a_thousand_rows_have_a_width_from_some_of_them():
    X = np.random.default_rng(0).normal(size=(1200, 2))
    known = mixture_of([1.0], [[0.0, 0.0]], [np.eye(2)])
    step = ExpectedKernelTransformer(known).fit(X)
    np.testing.assert_allclose(step.gamma_, 0.5 / median_distance(X[:1000], np.random.RandomState(0)) ** 2, rtol=0.1)


def test_support_vector_machine_in_a_grid_search():
    """Each fold fits the mixture to its own training rows."""
    machine = make_pipeline(ExpectedKernelTransformer(ONE), SVC(kernel="precomputed"))
    grid = {"expectedkerneltransformer__gamma": [0.01, 0.3], "svc__C": [1.0, 10.0]}
    search = GridSearchCV(machine, grid, cv=3).fit(VIEWS, Y)
    assert search.best_score_ > 0.75
    assert search.best_estimator_[0].n_samples_fit_ == 60
    assert search.score(NEW, NEW_Y) > 0.7


def test_a_mixture_of_classes_takes_the_labels():
    step = ExpectedKernelTransformer(ClassConditionalGaussianMixture(random_state=0))
    assert cross_val_score(make_pipeline(step, SVC(kernel="precomputed")), VIEWS, Y, cv=3).mean() > 0.75
    assert isinstance(step.fit(VIEWS, Y).mixture_, ClassConditionalGaussianMixture)
    y = pd.Series(Y, index=VIEWS.index)
    np.testing.assert_allclose(step.fit_transform(VIEWS, y), step.fit_transform(VIEWS, Y))


def test_logistic_regression_on_the_embedding():
    machine = make_pipeline(ExpectedKernelTransformer(ONE, mean_embedding=True), LogisticRegression())
    assert machine.fit(VIEWS, Y).score(VIEWS, Y) > 0.8


def test_gram_matrix_for_bayesian_co_training():
    """One precomputed view from all samples; new samples need the constant diagonal that the RBF kernel has."""
    step = ExpectedKernelTransformer(ONE)
    K, y = step.fit_transform(VIEWS), np.where(np.arange(60) < 30, Y, -1)
    model = BayesianCoTrainingClassifier(kernel="precomputed", hyperparameters="fixed", missing_label=-1).fit(K, y)
    assert (model.predict(K)[30:] == Y[30:]).mean() > 0.7
    probabilities = model.predict_proba(step.transform(NEW))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (model.classes_[probabilities.argmax(axis=1)] == NEW_Y).mean() > 0.7


def test_gram_matrices_of_two_views_for_bayesian_co_training():
    """One expected kernel per view, single features integrated out in each; a view that is missing stays missing."""
    blocks = {}
    for name in VIEWS.names:
        block = VIEWS.to_frame(name).to_numpy()
        K = ExpectedKernelTransformer(ONE).fit_transform(block)
        K[np.isnan(block).all(axis=1)] = np.nan
        blocks[name] = K
    y = np.where(np.arange(60) < 30, Y, -1)
    model = BayesianCoTrainingClassifier(kernel="precomputed", hyperparameters="fixed", missing_label=-1)
    known = Views(blocks).presence.any(axis=1)
    model.fit(Views({name: K[np.ix_(known, known)] for name, K in blocks.items()}), y[known])
    assert model.label_distributions_.shape == (known.sum(), 2)


def test_saved_and_read_again():
    step = ExpectedKernelTransformer(ONE).fit(VIEWS)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(step)).transform(NEW), step.transform(NEW))
    assert step.get_feature_names_out()[-1] == "expectedkernel59"
    frame = step.set_output(transform="pandas").transform(NEW)
    assert list(frame.columns[:2]) == ["expectedkernel0", "expectedkernel1"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "cubic"},
        {"degree": 0},
        {"coef0": -1.0},
        {"gamma": "wide"},
        {"gamma": -0.1},
        {"gamma": [1.0, 2.0, 3.0]},
    ],
    ids=str,
)
def test_bad_parameters(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        ExpectedKernelTransformer(ONE, **parameters).fit(VIEWS)


def test_sparse_views_say_what_to_do():
    from scipy.sparse import csr_array

    with pytest.raises(ViewError, match="is sparse"):
        ExpectedKernelTransformer(ONE).fit(Views({"a": csr_array(np.eye(4))}))
