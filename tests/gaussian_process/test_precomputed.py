"""Kernels given as values, functions, lists and dicts; views prepared once for many fits."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, DotProduct
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score

from coview import Views
from coview.exceptions import ViewError
from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    CoTrainingKernelTransformer,
    PreparedViews,
)

from .small_problems import kernels, labels, problem, tables, targets

FORMS = {
    "exact": {"hyperparameters": "fixed"},
    "consensus": {"hyperparameters": "fixed", "latent": "consensus"},
    "low rank": {"hyperparameters": "fixed", "n_components": 4},
    "average": {
        "settings": [
            {"view_variances": 1.0, "n_components": 5, "center": True, "amplitude": 4.0},
            {"joint": True, "n_components": 5, "center": True, "amplitude": 4.0},
        ]
    },
    "default": {"n_components": 4},
}


def values(blocks, training, *, gap=0.0):
    """Kernel values of the rows of tables with all training samples; rows of missing views NaN."""
    grams = []
    for kernel, block, old in zip(kernels(), blocks, training, strict=True):
        K = kernel(np.nan_to_num(block), np.nan_to_num(old))
        K[:, np.isnan(old[:, 0])] = gap  # never read: no training sample there
        K[np.isnan(block[:, 0])] = np.nan
        grams.append(K)
    return grams


@pytest.mark.parametrize("form", FORMS)
def test_precomputed_values_are_as_good_as_kernel_objects(form):
    blocks, signal = tables(15, 0)
    new, _ = tables(6, 5)
    y = labels(signal, 9)
    plain = BayesianCoTrainingClassifier(kernels(), **FORMS[form])
    model = BayesianCoTrainingClassifier("precomputed", **FORMS[form])
    if form == "default":  # completed views need rows that can be averaged
        blocks, signal = tables(15, 0, missing=0.0)
        y = labels(signal, 9)
    plain.fit(blocks, y)
    model.fit(values(blocks, blocks, gap=99.0), y)
    np.testing.assert_allclose(model.latent_mean_, plain.latent_mean_, rtol=1e-7, atol=1e-8)
    expected = plain.predict_proba(new)
    np.testing.assert_allclose(model.predict_proba(values(new, blocks, gap=99.0)), expected, rtol=1e-6)


@pytest.mark.parametrize("form", ["exact", "low rank", "average"])
def test_a_sample_without_views_does_not_shift_precomputed_columns(form):
    blocks, signal = tables(14, 0)
    gap = [np.insert(block, 3, np.nan, axis=0) for block in blocks]
    y = np.insert(labels(signal, 9), 3, np.nan)
    common = {**FORMS[form], "no_view": "prior"}
    plain = BayesianCoTrainingClassifier(kernels(), **common).fit(gap, y)
    model = BayesianCoTrainingClassifier("precomputed", **common).fit(values(gap, gap, gap=99.0), y)
    np.testing.assert_allclose(model.latent_mean_, plain.latent_mean_, rtol=1e-7, atol=1e-8)
    new, _ = tables(4, 5)
    np.testing.assert_allclose(model.predict_proba(values(new, gap, gap=99.0)), plain.predict_proba(new), rtol=1e-6)


def test_a_precomputed_view_beside_others():
    blocks, signal = tables(15, 0)
    y = targets(signal, 9)
    mixed = [values(blocks, blocks)[0], *blocks[1:]]
    common = {"hyperparameters": "fixed", "noise_variance": 0.2}
    plain = BayesianCoTrainingRegressor(kernels(), **common).fit(blocks, y)
    model = BayesianCoTrainingRegressor(["precomputed", *kernels()[1:]], **common).fit(mixed, y)
    np.testing.assert_allclose(model.transduction_, plain.transduction_, rtol=1e-8)


def test_rows_cut_out_of_a_precomputed_view_are_refused():
    blocks, signal = tables(20, 0, missing=0.0)
    y = labels(signal, 20)
    views = Views(values(blocks, blocks))
    model = BayesianCoTrainingClassifier("precomputed", hyperparameters="fixed", n_components=4)
    with pytest.raises(ViewError, match="one column per training sample"):
        model.fit(views[5:], y[5:])
    with pytest.raises(ViewError, match="one column per training sample"):
        cross_val_score(model, views, y, cv=2, error_score="raise")
    with pytest.raises(ViewError, match="one column per training sample"):
        CoTrainingKernelTransformer("precomputed").fit(views[5:])


def test_new_rows_need_a_constant_diagonal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    y = (X[:, 0] > 0).astype(float)
    K = X @ X.T
    model = BayesianCoTrainingClassifier("precomputed", hyperparameters="fixed").fit([K], y)
    plain = BayesianCoTrainingClassifier("linear", hyperparameters="fixed").fit([X], y)
    np.testing.assert_allclose(model.label_distributions_, plain.label_distributions_, rtol=1e-7)
    with pytest.raises(ViewError, match=r"New rows of view 'view_0' .* constant diagonal"):
        model.predict([X[:3] @ X.T])


def linear_function(X, Y):
    """A kernel function, at module level so that it can be pickled."""
    product = X @ Y.T
    return 1.0 + (product.toarray() if hasattr(product, "toarray") else product)


@pytest.mark.parametrize("form", ["exact", "low rank", "average"])
def test_a_function_is_as_good_as_a_kernel_object(form):
    blocks, signal = tables(15, 0)
    new, _ = tables(4, 5)
    y = labels(signal, 9)
    plain = BayesianCoTrainingClassifier(DotProduct(1.0), **FORMS[form]).fit(blocks, y)
    model = BayesianCoTrainingClassifier(linear_function, **FORMS[form]).fit(blocks, y)
    np.testing.assert_allclose(model.predict_proba(new), plain.predict_proba(new), rtol=1e-7)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_functions_of_scikit_learn_work_on_sparse_views():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(14, 6)).astype(float)
    y = np.where(np.arange(14) < 9, (X[:, 0] > X[:, 1]).astype(float), np.nan)
    dense, sparse = (
        BayesianCoTrainingClassifier([rbf_kernel, polynomial_kernel], hyperparameters="fixed").fit([X, form(X)], y)
        for form in (np.asarray, csr_array)
    )
    np.testing.assert_allclose(sparse.label_distributions_, dense.label_distributions_, rtol=1e-8)


def test_one_kernel_per_view_by_position_or_by_name():
    blocks, signal = tables(15, 0)
    y = labels(signal, 9)
    named = dict(zip("abc", blocks, strict=True))
    by_name = dict(zip("cab", [kernels()[2], kernels()[0], kernels()[1]], strict=True))
    models = [
        BayesianCoTrainingClassifier(kernel, hyperparameters="fixed", view_variances=variances).fit(named, y)
        for kernel, variances in [
            (kernels(), [0.1, 0.2, 0.3]),
            (by_name, {"c": 0.3, "b": 0.2, "a": 0.1}),
            (tuple(kernels()), np.array([0.1, 0.2, 0.3])),
        ]
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.label_distributions_, models[0].label_distributions_)
        assert model.view_variances_.tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("kernel", {"a": "rbf", "b": "rbf"}, r"without a value: \['c'\]"),
        ("kernel", ["rbf", "rbf"], r"one entry per view \(3\); got 2"),
        ("kernel", "polynomial", "got 'polynomial'"),
        ("view_variances", {"a": 1.0, "b": 1.0}, r"without a value: \['c'\]"),
        ("view_variances", {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, r"unknown: \['d'\]"),
        ("view_variances", [1.0, 2.0], r"one per view \(3\)"),
        ("view_variances", -1.0, "positive"),
    ],
)
def test_kernels_and_variances_that_do_not_fit_the_views_are_refused(parameter, value, message):
    blocks, signal = tables(12, 0)
    model = BayesianCoTrainingClassifier(hyperparameters="fixed", **{parameter: value})
    with pytest.raises(ViewError, match=message):
        model.fit(dict(zip("abc", blocks, strict=True)), labels(signal, 8))


# --- prepared views ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_prepared_views_give_what_the_views_give(form):
    views, signal = problem(15)
    new, _ = problem(4, seed=5)
    model = BayesianCoTrainingClassifier(kernels(), **FORMS[form])
    prepared = model.prepare(views)
    assert isinstance(prepared, PreparedViews)
    assert len(prepared) == 15
    for n_labeled, n_classes in [(8, 2), (12, 3), (8, 2)]:
        y = labels(signal, n_labeled, n_classes)
        shared = BayesianCoTrainingClassifier(kernels(), **FORMS[form]).fit(prepared, y)
        alone = BayesianCoTrainingClassifier(kernels(), **FORMS[form]).fit(views, y)
        np.testing.assert_allclose(shared.label_distributions_, alone.label_distributions_, rtol=1e-8)
        np.testing.assert_allclose(shared.predict_proba(new), alone.predict_proba(new), rtol=1e-8)


def test_prepared_views_serve_several_ranks_in_any_order():
    views, signal = problem(15)
    y = labels(signal, 9)
    prepared = BayesianCoTrainingClassifier("rbf").prepare(views)
    fits = {}
    for rank in (3, 8, 5):
        model = BayesianCoTrainingClassifier("rbf", n_components=rank, random_state=0)
        fits[rank] = (model.fit(prepared, y), model.label_distributions_.copy())
    for rank, (model, distributions) in fits.items():
        alone = BayesianCoTrainingClassifier("rbf", n_components=rank, random_state=0).fit(views, y)
        np.testing.assert_allclose(distributions, alone.label_distributions_, rtol=1e-6)
        np.testing.assert_allclose(model.predict_proba(views), alone.predict_proba(views), rtol=1e-6)


def test_prepared_views_are_tied_to_their_kernel_and_latent_function():
    views, signal = problem(12)
    y = labels(signal, 8)
    prepared = BayesianCoTrainingClassifier(RBF(1.0), hyperparameters="fixed").prepare(views)
    others = [
        BayesianCoTrainingClassifier(RBF(1.004), hyperparameters="fixed"),  # prints the same
        BayesianCoTrainingClassifier("rbf", hyperparameters="fixed"),
        BayesianCoTrainingClassifier(RBF(1.0), hyperparameters="fixed", latent="consensus"),
    ]
    for other in others:
        with pytest.raises(ValueError, match="Prepare them again"):
            other.fit(prepared, y)


def test_kernels_that_print_alike_are_told_apart():
    views, signal = problem(12)
    y = labels(signal, 8)
    settings = [{"kernels": [RBF(width)] * 3, "view_variances": 1.0} for width in (1.0, 1.0004)]
    both = BayesianCoTrainingClassifier("rbf", settings=settings).fit(views, y)
    alone = BayesianCoTrainingClassifier("rbf", settings=settings[1:]).fit(views, y)
    assert repr(RBF(1.0)) == repr(RBF(1.0004))
    evidences = both.settings_["log_marginal_likelihood"].unique()
    assert evidences.size == 2
    assert evidences[1] == pytest.approx(alone.log_marginal_likelihood(), rel=1e-12)


@pytest.mark.filterwarnings("ignore:The evidence switched off:UserWarning")
def test_learning_on_prepared_views_forgets_other_labels():
    views, signal = problem(9, widths=(2, 1))
    kernel = RBF(1.0, (0.5, 2.0))
    model = BayesianCoTrainingClassifier(kernel, hyperparameters="maximize", latent="consensus")
    prepared = model.prepare(views)
    y, other = labels(signal, 8), labels(np.sin(5 * signal), 8)
    clone(model).fit(prepared, other)
    shared, alone = clone(model).fit(prepared, y), clone(model).fit(views, y)
    np.testing.assert_allclose(shared.theta_, alone.theta_, rtol=1e-10)
    np.testing.assert_allclose(shared.label_distributions_, alone.label_distributions_, rtol=1e-8)


def test_column_groups_can_be_prepared():
    blocks, signal = tables(14, 0, missing=0.0, widths=(2, 3))
    y = labels(signal, 9)
    groups = {"a": slice(0, 2), "b": slice(2, 5)}
    model = BayesianCoTrainingClassifier("rbf", hyperparameters="fixed", view_columns=groups)
    X = np.concatenate(blocks, axis=1)
    alone = BayesianCoTrainingClassifier("rbf", hyperparameters="fixed", view_columns=groups).fit(X, y)
    model.fit(model.prepare(X), y)
    np.testing.assert_array_equal(model.label_distributions_, alone.label_distributions_)
    np.testing.assert_array_equal(model.predict_proba(X[:3]), alone.predict_proba(X[:3]))
