"""Explanations that add up, what a view is worth, and how far it is trusted."""

import numpy as np
import pandas as pd
import pytest

from coview import Views
from coview.exceptions import ViewError
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

from .small_problems import kernels, labels, problem, tables, targets

JOINT = {"joint": True, "n_components": 6, "center": True, "amplitude": 4.0}
MODELS = {
    "mean": {"hyperparameters": "fixed", "view_variances": [0.2, 1.0, 0.5], "bias_variance": 0.5, "amplitude": 3.0},
    "consensus": {"hyperparameters": "fixed", "latent": "consensus", "bias_variance": 0.5},
    "low rank consensus": {"hyperparameters": "fixed", "latent": "consensus", "n_components": 4},
    "low rank": {"hyperparameters": "fixed", "n_components": 4, "amplitude": 3.0},
    "additive": {"hyperparameters": "fixed", "view_variances": np.inf},
    "joint": {"settings": [JOINT, {**JOINT, "view_factors": [1.0, 5.0, 1.0]}]},
    "completed": {"settings": [{**JOINT, "family": "completed"}]},
    "fused": {"settings": [{**JOINT, "family": "early_fusion"}, JOINT], "kernel": "auto"},
    "default": {"kernel": "auto", "n_components": 5},
    "consensus average": {"latent": "consensus", "kernel": "rbf"},
}


def fitted(name, kind="classes", **changes):
    views, signal = problem(18, 4)
    parameters = {"kernel": kernels(), **MODELS[name], **changes}
    if kind == "targets":
        return BayesianCoTrainingRegressor(**parameters).fit(views, targets(signal, 11))
    return BayesianCoTrainingClassifier(**parameters).fit(views, labels(signal, 11, 3 if kind == "3 classes" else 2))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["classes", "3 classes", "targets"])
def test_parts_add_up_to_the_latent_mean(name, kind):
    if kind == "3 classes" and name == "consensus average":
        kind = "classes"  # the same route, thrice the time
    model = fitted(name, kind)
    new, _ = tables(5, 8)
    table = model.explain(new)
    parts = ["bias", *model.view_names_, "early_fusion"]
    np.testing.assert_allclose(table[parts].sum(axis=1), table["total"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table["total"], model.predict_latent(new).ravel(), rtol=1e-8, atol=1e-9)
    assert np.abs(table[model.view_names_].to_numpy()).max() > 1e-3
    if kind == "3 classes":
        assert table["class"].tolist() == [0.0, 1.0, 2.0] * 5
        assert table["sample"].tolist() == list(np.repeat([str(i) for i in range(5)], 3))
    if name == "fused":
        assert table["early_fusion"].abs().max() > 1e-3


@pytest.mark.parametrize("name", ["mean", "consensus", "low rank", "additive"])
def test_an_absent_view_has_no_part(name):
    model = fitted(name)
    new, _ = tables(6, 8)
    present = ~np.isnan(np.column_stack([table[:, 0] for table in new]))
    parts = model.explain(new)[model.view_names_].to_numpy()
    assert not parts[~present].any()
    assert np.abs(parts[present]).min() > 0


def test_the_part_of_a_view_is_its_own_posterior_mean_times_its_share():
    model = fitted("mean", bias_variance=0.0)
    new, _ = tables(4, 8, missing=0.0)
    table = model.explain(new)
    shares = np.array([5.0, 1.0, 2.0]) / 8.0  # in inverse proportion to the variances
    for name, share in zip(model.view_names_, shares, strict=True):
        alone = model.predict_latent(new, view=name)
        np.testing.assert_allclose(table[name], share * alone, rtol=1e-8)


def test_normalized_targets_are_explained_in_their_own_units():
    views, signal = problem(18, 4)
    y = 1000 + 50 * targets(signal, 11)
    model = BayesianCoTrainingRegressor(kernels(), hyperparameters="fixed", normalize_y=True).fit(views, y)
    table = model.explain(views)
    np.testing.assert_allclose(table["total"], model.predict(views), rtol=1e-9)
    np.testing.assert_allclose(table["bias"], np.nanmean(y), rtol=1e-9)


def test_explanations_carry_the_ids_of_the_samples():
    model = fitted("mean")
    new, _ = tables(3, 8, missing=0.0)
    frames = {
        name: pd.DataFrame(block, index=["x", "y", "z"]) for name, block in zip(model.view_names_, new, strict=True)
    }
    assert model.explain(frames)["sample"].tolist() == ["x", "y", "z"]


def junk(n=60, seed=0):
    """A useful view, a second useful one, and one of noise."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    blocks = [
        np.column_stack([signal + 0.3 * rng.normal(size=n), rng.normal(size=n)]),
        np.column_stack([signal + 0.3 * rng.normal(size=n)]),
        rng.normal(size=(n, 2)),
    ]
    return Views(blocks, names=["good", "fair", "junk"]), signal


ADD = {"view_variances": np.inf, "n_components": 5, "center": True, "amplitude": 4.0}


def test_benefit_tells_useful_views_from_junk():
    views, signal = junk()
    y = (signal > 0).astype(float)
    y[40:] = np.nan
    model = BayesianCoTrainingClassifier("rbf", settings=[ADD], temperature=1.0).fit(views, y)
    good, noise = model.view_benefit("good"), model.view_benefit("junk")
    assert good["benefit"] > 0 > noise["benefit"]
    assert good["n_labeled"] == noise["n_labeled"] == 40
    assert good["se"] > 0
    without = BayesianCoTrainingClassifier("rbf", settings=[ADD], temperature=1.0).fit(
        views.select(["fair", "junk"]), y
    )
    assert good["benefit"] == pytest.approx((model.loo_score_ - without.loo_score_) / 40, rel=1e-8)


def test_benefit_in_regression_is_in_units_of_the_targets():
    views, signal = junk()
    y = 10 * signal
    y[40:] = np.nan
    setting = {**ADD, "noise_variance": 5.0, "amplitude": 100.0}
    model = BayesianCoTrainingRegressor("rbf", settings=[setting]).fit(views, y)
    without = BayesianCoTrainingRegressor("rbf", settings=[setting]).fit(views.select(["fair", "junk"]), y)
    benefit = model.view_benefit("good")["benefit"]
    assert benefit == pytest.approx((model.loo_score_ - without.loo_score_) / 40, rel=1e-8)
    assert model.view_benefit("fair")["benefit"] > 0 > model.view_benefit("junk")["benefit"]


def test_samples_that_have_no_other_view_are_not_compared():
    views, signal = problem(20, 3, missing=0.6)
    y = labels(signal, 12)
    model = BayesianCoTrainingClassifier(kernels(), hyperparameters="fixed", view_variances=[0.1, 0.2, 0.3]).fit(
        views, y
    )
    name = views.names[0]
    others = views.presence[:12, 1:].any(axis=1)
    assert not others.all()
    assert model.view_benefit(name)["n_labeled"] == others.sum()


@pytest.mark.parametrize(
    "changes",
    [
        {"kernel": dict(zip(("view_0", "view_1", "view_2"), kernels(), strict=True))},
        {"hyperparameters": "fixed", "view_variances": {"view_0": 0.1, "view_1": 0.2, "view_2": 0.3}},
        {"settings": [{**ADD, "view_factors": [1.0, 2.0, 3.0], "kernels": kernels()}]},
        {"settings": [{"view_variances": [0.1, 0.2, 0.3]}]},
        {"no_view": "raise"},
    ],
    ids=["kernel dict", "variance dict", "settings", "setting variances", "plain"],
)
def test_benefit_cuts_what_is_given_per_view(changes):
    views, signal = problem(20, 3)
    base = {"kernel": kernels(), "settings": [{**ADD, "view_variances": 1.0}]}
    if changes.get("hyperparameters") == "fixed":
        base.pop("settings")
    model = BayesianCoTrainingClassifier(**(base | changes)).fit(views, labels(signal, 12))
    benefit = model.view_benefit("view_1")
    assert np.isfinite(benefit["benefit"])
    assert benefit.name == "view_1"


def test_benefit_of_a_view_that_is_not_there_is_refused():
    views, signal = problem()
    model = BayesianCoTrainingClassifier(kernels(), hyperparameters="fixed").fit(views, labels(signal, 9))
    with pytest.raises(ViewError, match="got 'nose'"):
        model.view_benefit("nose")
    alone = BayesianCoTrainingClassifier("rbf", hyperparameters="fixed").fit(
        Views([np.arange(6.0)[:, None]]), [0, 1, 0, 1, 0, 1]
    )
    with pytest.raises(ViewError, match="another view must remain"):
        alone.view_benefit("view_0")


def test_trust_falls_on_the_view_that_predicts():
    views, signal = junk()
    y = (signal > 0).astype(float)
    y[40:] = np.nan
    model = BayesianCoTrainingClassifier(n_components=5, random_state=0).fit(views, y)
    trust = model.view_trust_
    assert trust["share"].sum() == pytest.approx(1.0)
    assert trust["share"].idxmin() == "junk"
    assert (trust["lower"] <= trust["share"]).all()
    assert (trust["share"] <= trust["upper"]).all()
    assert trust["status"].tolist() == ["assessed"] * 3
    assert trust["n_samples"].tolist() == [60] * 3


def test_trust_is_the_weighted_share_of_every_setting():
    views, signal = problem(18, 4)
    settings = [
        {"view_variances": [0.1, 0.2, 0.4]},
        {"view_variances": np.inf, "view_factors": [1.0, 1000.0, 1.0]},
        {**JOINT, "view_factors": [1.0, 1.0, 4.0]},
    ]
    shares = np.array([[4, 2, 1], [1, 0.001, 1], [1, 1, 0.25]])
    shares = shares / shares.sum(axis=1, keepdims=True)
    model = BayesianCoTrainingClassifier(kernels(), settings=settings, random_state=0).fit(views, labels(signal, 11))
    weights = model.settings_.groupby("setting")["weight"].sum().to_numpy()
    mean = weights @ shares
    np.testing.assert_allclose(model.view_trust_["share"], mean, rtol=1e-9)
    np.testing.assert_allclose(model.view_trust_["sd"], np.sqrt(weights @ (shares - mean) ** 2), rtol=1e-8)
    assert model.agreement_ == pytest.approx({"agree": weights[0], "add": weights[1], "joint": weights[2]})


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"settings": [{"view_variances": 0.1}, {"view_variances": np.inf}]}, "not assessed"),
        ({"n_components": 5, "kernel": "auto", "select_views": False}, "not assessed"),
        ({"n_components": 5, "kernel": "auto"}, "assessed"),
        ({"hyperparameters": "fixed"}, "given"),
    ],
)
def test_trust_says_how_it_came_about(changes, status):
    views, signal = problem(14, 4)
    model = BayesianCoTrainingClassifier(**({"kernel": kernels()} | changes)).fit(views, labels(signal, 10))
    assert model.view_trust_["status"].tolist() == [status] * 3
    if status == "not assessed":
        np.testing.assert_allclose(model.view_trust_["share"], 1 / 3)
        np.testing.assert_allclose(model.view_trust_["sd"], 0, atol=1e-9)


def test_trust_in_a_view_without_samples_is_not_a_number():
    blocks, signal = tables(14, 0)
    blocks[2][:] = np.nan
    keep = ~np.isnan(np.column_stack([blocks[0][:, 0], blocks[1][:, 0]])).all(axis=1)
    model = BayesianCoTrainingClassifier(n_components=5).fit([b[keep] for b in blocks], labels(signal, 10)[keep])
    row = model.view_trust_.loc["view_2"]
    assert row["status"] == "no samples"
    assert row["n_samples"] == 0
    assert np.isnan(row["share"])
    assert model.view_trust_["share"].sum() == pytest.approx(1.0)


def test_views_named_like_other_columns_keep_a_column_of_their_own():
    blocks, signal = tables(14, 0, missing=0.0)
    views = dict(zip(("bias", "total", "eye"), blocks, strict=True))
    plain = dict(zip(("a", "b", "c"), blocks, strict=True))
    y = labels(signal, 9)
    parameters = MODELS["mean"]
    table = BayesianCoTrainingClassifier(kernels(), **parameters).fit(views, y).explain(views)
    expected = BayesianCoTrainingClassifier(kernels(), **parameters).fit(plain, y).explain(plain)
    assert table.columns.tolist() == ["sample", "bias", "bias (view)", "total (view)", "eye", "early_fusion", "total"]
    np.testing.assert_array_equal(table.drop(columns="sample"), expected.drop(columns="sample"))
