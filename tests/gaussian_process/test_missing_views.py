"""Samples without some or all of their views, in fit and in prediction; prediction from one view alone."""

import numpy as np
import pandas as pd
import pytest

from coview import Views
from coview.exceptions import ViewError
from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    _base,
    co_training_kernel,
)

from .small_problems import kernels, labels, problem, tables, targets

VARIANCES = [0.2, 1.0, 0.5]
FORMS = {
    "mean": {"hyperparameters": "fixed", "view_variances": VARIANCES},
    "consensus": {"hyperparameters": "fixed", "view_variances": VARIANCES, "latent": "consensus"},
    "low rank": {"hyperparameters": "fixed", "view_variances": VARIANCES, "n_components": 4},
    "average": {
        "settings": [
            {"view_variances": 1.0, "n_components": 5, "center": True, "amplitude": 4.0},
            {"joint": True, "n_components": 5, "center": True, "amplitude": 4.0},
            {"family": "completed", "n_components": 5, "center": True, "amplitude": 4.0},
        ]
    },
}


def classifier(form, **changes):
    return BayesianCoTrainingClassifier(kernels(), **(FORMS[form] | changes))


def regressor(form, **changes):
    return BayesianCoTrainingRegressor(kernels(), noise_variance=0.2, **(FORMS[form] | changes))


def with_an_empty_sample(blocks, position):
    """The tables with a sample without any view put in."""
    return [np.insert(block, position, np.nan, axis=0) for block in blocks]


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_without_views_changes_nobody_else(form):
    blocks, signal = tables(14, 0)
    y = labels(signal, 9)
    plain = classifier(form).fit(blocks, y)
    more = classifier(form, no_view="prior").fit(with_an_empty_sample(blocks, 3), np.insert(y, 3, np.nan))
    for name, prior in [("label_distributions_", 0.5), ("latent_mean_", 0.0), ("latent_variance_", np.inf)]:
        values = getattr(more, name)
        np.testing.assert_allclose(np.delete(values, 3, axis=0), getattr(plain, name), rtol=1e-9, err_msg=name)
        assert np.all(values[3] == prior)
    new, _ = tables(5, 7)
    p = more.predict_proba(with_an_empty_sample(new, 0))
    np.testing.assert_allclose(p[1:], plain.predict_proba(new), rtol=1e-9)
    assert p[0].tolist() == [0.5, 0.5]
    mean, std = more.predict_latent(with_an_empty_sample(new, 0), return_std=True)
    assert (mean[0], std[0]) == (0.0, np.inf)


def test_a_labeled_sample_without_views_says_nothing_of_others():
    blocks, signal = tables(14, 0)
    y = labels(signal, 9)
    plain = classifier("mean").fit(blocks, y)
    more = classifier("mean", no_view="prior").fit(with_an_empty_sample(blocks, 0), np.insert(y, 0, 1.0))
    np.testing.assert_allclose(more.latent_mean_[1:], plain.latent_mean_, rtol=1e-9)
    assert np.isnan(more.loo_latent_mean_[0])
    assert more.loo_score_ == pytest.approx(plain.loo_score_)


def test_three_classes_are_alike_without_views():
    blocks, signal = tables(15, 1)
    model = classifier("average", no_view="prior").fit(
        with_an_empty_sample(blocks, 2), np.insert(labels(signal, 9, 3), 2, 0.0)
    )
    np.testing.assert_allclose(model.label_distributions_[2], 1 / 3)
    assert model.transduction_[2] in model.classes_


def test_regression_answers_with_the_center_of_the_targets():
    blocks, signal = tables(14, 0)
    y = targets(signal, 9)
    model = regressor("mean", no_view="prior", normalize_y=True).fit(
        with_an_empty_sample(blocks, 4), np.insert(y, 4, np.nan)
    )
    assert model.transduction_[4] == pytest.approx(np.nanmean(y))
    assert model.latent_variance_[4] == np.inf


@pytest.mark.parametrize("model", [classifier("mean"), classifier("consensus"), regressor("average")], ids=str)
def test_samples_without_views_are_named_in_fit_and_prediction(model):
    blocks, signal = tables(14, 0)
    y = targets(signal, 9) if "Regressor" in type(model).__name__ else labels(signal, 9)
    ids = [f"patient {i}" for i in range(15)]
    frames = {
        name: pd.DataFrame(block, index=ids).dropna(how="all")
        for name, block in zip("abc", with_an_empty_sample(blocks, 3), strict=True)
    }
    presence = np.ones((15, 3), dtype=bool)
    presence[3] = False
    whole = [np.nan_to_num(block) for block in with_an_empty_sample(blocks, 3)]
    gap = Views(dict(zip("abc", whole, strict=True)), presence=presence)
    with pytest.raises(ViewError, match=r"1 of 15 have none: .*3.*no_view='prior'"):
        model.fit(gap, np.insert(y, 3, np.nan))
    present = Views(frames)
    model.fit(present, pd.Series(np.insert(y, 3, np.nan), index=ids).reindex(present.index).to_numpy())
    new = Views(
        {name: pd.DataFrame(np.nan_to_num(b), index=ids[:14]) for name, b in zip("abc", blocks, strict=True)},
        presence=np.delete(presence, 0, axis=0),
    )
    with pytest.raises(ViewError, match=r"view that training had; 1 of 14 have none: 'patient 2'"):
        model.predict(new)


@pytest.mark.parametrize("no_view", ["raise", "prior"])
@pytest.mark.parametrize("form", ["mean", "consensus", "average"])
def test_a_view_that_nobody_had_in_training_does_not_count(form, no_view):
    blocks, signal = tables(14, 0)
    y = labels(signal, 9)
    blocks[2][:] = np.nan
    blocks[0][np.isnan(blocks[0][:, 0]) & np.isnan(blocks[1][:, 0])] = 0.3
    model = classifier(form, no_view=no_view).fit(blocks, y)
    new = [np.full((2, 2), np.nan), np.array([[0.1, 0.2, 0.3], [np.nan] * 3]), np.array([[1.0], [1.0]])]
    if no_view == "raise":
        with pytest.raises(ViewError, match="view that training had; 1 of 2 have none: '1'"):
            model.predict_proba(new)
        return
    p = model.predict_proba(new)
    assert p[1].tolist() == [0.5, 0.5]
    without = [table.copy() for table in new]
    without[2][:] = np.nan
    np.testing.assert_allclose(p, model.predict_proba(without), rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_does_not_depend_on_the_batch(form):
    blocks, signal = tables(16, 3)
    model = classifier(form).fit(blocks, labels(signal, 9))
    new, _ = tables(7, 11)
    together = model.predict_proba(new)
    one_by_one = [model.predict_proba([table[i : i + 1] for table in new])[0] for i in range(7)]
    np.testing.assert_allclose(together, one_by_one, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba([table[::-1] for table in new])[::-1], together, rtol=1e-9)


@pytest.mark.parametrize("form", ["mean", "low rank", "average"])
def test_one_view_alone_restricts_the_row_to_it(form):
    blocks, signal = tables(16, 3)
    model = classifier(form).fit(blocks, labels(signal, 9))
    new, _ = tables(6, 5, missing=0.0)
    for j, name in enumerate(model.view_names_):
        restricted = [table if k == j else np.full_like(table, np.nan) for k, table in enumerate(new)]
        np.testing.assert_allclose(model.predict_proba(new, view=name), model.predict_proba(restricted), rtol=1e-10)
        np.testing.assert_allclose(model.predict_latent(new, view=name), model.predict_latent(restricted), rtol=1e-9)
        assert model.predict(new, view=name).tolist() == model.predict(restricted).tolist()


def test_one_view_alone_is_its_own_function_under_the_consensus():
    views, signal = problem(16, 3)
    y = targets(signal, 9)
    model = regressor("consensus").fit(views, y)
    grams = [kernel(views[name]) for kernel, name in zip(kernels(), views.names, strict=True)]
    K_c = co_training_kernel(grams, VARIANCES, views.presence)
    G = K_c[:9, :9] + 0.2 * np.eye(9)
    mu = K_c[:, :9] @ np.linalg.solve(G, y[:9])
    S = K_c - K_c[:, :9] @ np.linalg.solve(G, K_c[:9])
    new, _ = tables(4, 5, missing=0.0)
    for j, name in enumerate(views.names):
        rows, kernel = views.rows(name), kernels()[j]
        k = kernel(new[j], views[name])
        v = np.linalg.solve(grams[j] + VARIANCES[j] * np.eye(len(rows)), k.T).T
        mean, std = model.predict(new, return_std=True, view=name)
        np.testing.assert_allclose(mean, v @ mu[rows], rtol=1e-7)
        own = kernel.diag(new[j]) - np.einsum("ij,ij->i", v, k)
        variance = np.einsum("ij,jk,ik->i", v, S[np.ix_(rows, rows)], v) + own
        np.testing.assert_allclose(std**2, variance, rtol=1e-6)


def test_a_consensus_of_one_view_is_that_view_and_more_views_are_surer():
    views, signal = problem(16, 3)
    model = regressor("consensus").fit(views, targets(signal, 9))
    new, _ = tables(5, 5, missing=0.0)
    alone = np.array([model.predict(new, view=name) for name in views.names])
    _, std = model.predict(new, return_std=True)
    only = [[t if k == j else np.full_like(t, np.nan) for k, t in enumerate(new)] for j in range(3)]
    single_std = np.array([model.predict(tables_, return_std=True)[1] for tables_ in only])
    assert (std < single_std.min(axis=0)).all()  # every view can only add information
    np.testing.assert_allclose([model.predict(tables_) for tables_ in only], alone, rtol=1e-9)


def test_an_unknown_view_is_refused():
    views, signal = problem()
    model = classifier("mean").fit(views, labels(signal, 9))
    with pytest.raises(ViewError, match=r"view must be one of .*'view_0'.* got 'nose'"):
        model.predict_proba(views, view="nose")


def test_a_sample_that_lacks_the_one_view_asked_for_is_named():
    views, signal = problem()
    model = classifier("mean").fit(views, labels(signal, 9))
    lacking = np.flatnonzero(~views.presence[:, 0])
    name = views.names[0]
    message = f"view '{name}' that training had; {lacking.size} of 16 have none: '{lacking[0]}'"
    with pytest.raises(ViewError, match=message):
        model.predict_proba(views, view=name)


@pytest.mark.parametrize("form", FORMS)
def test_many_new_samples_are_answered_in_blocks(form, monkeypatch):
    blocks, signal = tables(14, 0)
    model = classifier(form, no_view="prior").fit(blocks, labels(signal, 9))
    new = with_an_empty_sample(tables(10, 5)[0], 4)
    expected = model.predict_proba(new), model.predict_latent(new), model.explain(new)["total"].to_numpy()
    monkeypatch.setattr(_base, "_BLOCK_ROWS", 3)
    got = model.predict_proba(new), model.predict_latent(new), model.explain(new)["total"].to_numpy()
    for left, right in zip(got, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-12)
