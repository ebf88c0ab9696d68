"""The covariances of co-training for machines that take a precomputed kernel."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

from coview import Views
from coview.exceptions import ViewError
from coview.gaussian_process import CoTrainingKernelTransformer, co_training_kernel, mean_consensus_kernel

from .small_problems import kernels, problem, tables

VARIANCES = [0.2, 1.0, 0.5]


def grams(views):
    return [kernel(views[name]) for kernel, name in zip(kernels(), views.names, strict=True)]


def transformer(latent):
    return CoTrainingKernelTransformer(kernels(), view_variances=VARIANCES, latent=latent)


@pytest.mark.parametrize("missing", [0.0, 0.35])
def test_training_samples_have_the_covariance_of_the_function(missing):
    views, _ = problem(15, missing=missing)
    for latent, function in [("mean", mean_consensus_kernel), ("consensus", co_training_kernel)]:
        expected = function(grams(views), VARIANCES, views.presence)
        np.testing.assert_allclose(transformer(latent).fit_transform(views), expected, rtol=1e-10, atol=1e-12)


def test_a_training_sample_seen_again_has_its_row_under_the_mean():
    views, _ = problem(15)
    model = transformer("mean")
    K = model.fit_transform(views)
    np.testing.assert_allclose(model.transform(views), K, atol=1e-10)
    np.testing.assert_allclose(model.transform(views[[3, 1]]), K[[3, 1]], atol=1e-10)


def test_additive_views_give_the_mean_kernel():
    views, _ = problem(12, missing=0.0)
    model = CoTrainingKernelTransformer(kernels(), view_variances=np.inf)
    np.testing.assert_allclose(model.fit_transform(views), sum(grams(views)) / 9, rtol=1e-10)


def test_new_samples_have_the_column_of_the_consensus_with_them_appended():
    blocks, _ = tables(12, 0)
    new, _ = tables(4, 6)
    model = transformer("consensus")
    model.fit(blocks)
    rows = model.transform(new)
    assert rows.shape == (4, 12)
    views = Views(blocks)
    K_c = co_training_kernel(grams(views), VARIANCES, views.presence)
    for i in range(4):
        more = Views([np.concatenate([old, fresh[i : i + 1]]) for old, fresh in zip(blocks, new, strict=True)])
        held = np.flatnonzero(more.presence[12])
        if held.size == 1:  # the new sample tells nothing of the others: appending it is exact
            appended = co_training_kernel(grams(more), VARIANCES, more.presence)
            np.testing.assert_allclose(rows[i], appended[12, :12], rtol=1e-8)
            np.testing.assert_allclose(appended[:12, :12], K_c, rtol=1e-8, atol=1e-10)
        # The formula of the notes: generalized least squares over the views of the row, before any label.
        V, s = np.zeros((held.size, 12)), np.zeros(held.size)
        for a, j in enumerate(held):
            own = views.rows(views.names[j])
            block = views[views.names[j]]
            k = kernels()[j](new[j][i : i + 1], block)[0]
            gamma_k = np.linalg.solve(kernels()[j](block) + VARIANCES[j] * np.eye(len(own)), k)
            V[a, own] = gamma_k
            s[a] = kernels()[j].diag(new[j][i : i + 1])[0] + VARIANCES[j] - k @ gamma_k
        T = V @ K_c @ V.T + np.diag(s)
        weights = np.linalg.solve(T, np.ones(held.size))
        np.testing.assert_allclose(rows[i], weights / weights.sum() @ V @ K_c, rtol=1e-7)


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_pipeline_and_grid_search_with_a_support_vector_machine(latent):
    views, signal = problem(60, 1, missing=0.2)
    y = np.where(signal > 0, "high", "low")
    machine = make_pipeline(CoTrainingKernelTransformer("rbf", latent=latent), SVC(kernel="precomputed", C=10.0))
    assert machine.fit(views[:40], y[:40]).score(views[40:], y[40:]) > 0.75
    search = GridSearchCV(
        machine, {"cotrainingkerneltransformer__view_variances": [0.01, 1.0], "svc__C": [0.1, 10.0]}, cv=3
    ).fit(views[:40], y[:40])
    assert search.best_score_ > 0.75
    assert len(set(search.cv_results_["mean_test_score"])) > 1


def test_regression_by_a_support_vector_machine():
    views, signal = problem(60, 1, missing=0.0)
    machine = make_pipeline(CoTrainingKernelTransformer("auto"), SVR(kernel="precomputed", C=10.0))
    assert machine.fit(views[:40], signal[:40]).score(views[40:], signal[40:]) > 0.7


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_a_transformed_row_does_not_depend_on_the_batch_and_survives_pickling(latent):
    views, _ = problem(14)
    new = Views(tables(5, 8)[0])
    model = transformer(latent).fit(views)
    rows = model.transform(new)
    np.testing.assert_allclose([model.transform(new[[i]])[0] for i in range(5)], rows, rtol=1e-9)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(new), rows)


def test_columns_are_named_one_per_training_sample():
    views, _ = problem(4, missing=0.0)
    model = transformer("mean").fit(views)
    assert model.n_samples_fit_ == 4
    assert model.get_feature_names_out().tolist() == [f"cotrainingkernel{i}" for i in range(4)]


def test_samples_without_views_are_refused():
    blocks, _ = tables(8, 0)
    gap = [np.insert(block, 2, np.nan, axis=0) for block in blocks]
    with pytest.raises(ViewError, match=r"1 of 9 have none: '2'\. Drop these samples"):
        transformer("mean").fit(gap)
    model = transformer("mean").fit(blocks)
    with pytest.raises(ViewError, match=r"view that training had; 1 of 9 have none: '2'\. Give them a view"):
        model.transform(gap)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"view_variances": [1.0, 2.0]}, r"one per view \(3\)"),
        ({"view_variances": {"view_0": 1.0}}, "without a value"),
        ({"latent": "median"}, "latent"),
        ({"kernel": ["rbf"]}, "one entry per view"),
        ({"latent": "consensus", "view_variances": np.inf}, "finite view variances"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(changes, message):
    views, _ = problem(8)
    with pytest.raises(ValueError, match=message):
        CoTrainingKernelTransformer(**changes).fit_transform(views)
