"""What holds for any input: order means nothing, declared classes, sparse views, options that do what they say."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from coview import Views
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

from .small_problems import kernels, labels, problem, tables, targets

SETTINGS = [
    {"view_variances": 0.5, "n_components": 5, "center": True, "amplitude": 4.0},
    {"view_variances": np.inf, "n_components": 5, "center": True, "amplitude": 4.0},
    {"joint": True, "n_components": 5, "center": True, "amplitude": 4.0},
    {"family": "completed", "n_components": 5, "center": True, "amplitude": 4.0},
    {"family": "early_fusion", "n_components": 5, "center": True, "amplitude": 4.0},
]
FORMS = {
    "average": {"settings": SETTINGS, "weighting": "leave_one_out"},
    "mean": {"hyperparameters": "fixed", "view_variances": 0.5},
    "consensus": {"hyperparameters": "fixed", "view_variances": 0.5, "latent": "consensus"},
    "default": {"n_components": 4, "weighting": "leave_one_out"},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_samples_views_and_classes_means_nothing(form, n_classes):
    if form == "default" and n_classes == 3:
        form = "average"
    blocks, signal = tables(16, 2)
    new, _ = tables(5, 6)
    y = labels(signal, 11, n_classes)
    plain = BayesianCoTrainingClassifier(**FORMS[form]).fit(dict(zip("abc", blocks, strict=True)), y)
    order = np.random.default_rng(0).permutation(16)
    names = ["pear", "apple", "fig"][:n_classes]
    renamed = np.array([None if np.isnan(label) else names[int(label)] for label in y], dtype=object)
    model = BayesianCoTrainingClassifier(**FORMS[form])
    model.fit({name: blocks["abc".index(name)][order] for name in "cab"}, renamed[order])
    assert model.classes_.tolist() == sorted(names)
    columns = [model.classes_.tolist().index(name) for name in names]
    np.testing.assert_allclose(model.label_distributions_[:, columns], plain.label_distributions_[order], rtol=1e-6)
    p = model.predict_proba(dict(zip("abc", new, strict=True)))
    np.testing.assert_allclose(p[:, columns], plain.predict_proba(dict(zip("abc", new, strict=True))), rtol=1e-6)
    assert model.loo_score_ == pytest.approx(plain.loo_score_, rel=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_probabilities_are_probabilities_and_outputs_hang_together(form):
    views, signal = problem(16, 2)
    new, _ = problem(6, 7)
    model = BayesianCoTrainingClassifier(**FORMS[form]).fit(views, labels(signal, 11, 3))
    p = model.predict_proba(new)
    assert (p > 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert model.predict(new).tolist() == model.classes_[p.argmax(axis=1)].tolist()
    np.testing.assert_allclose(model.decision_function(new), np.log(p), rtol=1e-10)
    assert model.transduction_.tolist() == model.classes_[model.label_distributions_.argmax(axis=1)].tolist()
    assert model.latent_mean_.shape == model.latent_variance_.shape == (16, 3)
    assert (model.latent_variance_ > 0).all()
    two = BayesianCoTrainingClassifier(**FORMS[form]).fit(views, labels(signal, 11))
    q = two.predict_proba(new)
    np.testing.assert_allclose(two.decision_function(new), np.log(q[:, 1] / q[:, 0]), rtol=1e-9)
    assert two.latent_mean_.shape == (16,)
    if form in ("mean", "consensus"):  # one setting: the sign of the latent mean decides
        np.testing.assert_array_equal(two.predict_latent(new) > 0, q[:, 1] > 0.5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_pickling_keeps_everything(form, name):
    views, signal = problem(14, 2)
    new, _ = problem(5, 7)
    if name == "classifier":
        model = BayesianCoTrainingClassifier(**FORMS[form]).fit(views, labels(signal, 9))
        method = "predict_proba"
    else:
        model = BayesianCoTrainingRegressor(**FORMS[form]).fit(views, targets(signal, 9))
        method = "predict"
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(getattr(again, method)(new), getattr(model, method)(new))
    assert again.explain(new).equals(model.explain(new))
    assert again.log_marginal_likelihood() == model.log_marginal_likelihood()


# --- labels --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_declared_class_without_labels_is_possible_but_unlikely(form):
    views, signal = problem(16, 2)
    y = labels(signal, 11)
    model = BayesianCoTrainingClassifier(**FORMS[form], classes=[0.0, 1.0, 7.0]).fit(views, y)
    assert model.classes_.tolist() == [0, 1, 7]
    assert (model.label_distributions_[:, 2] > 0).all()
    assert model.label_distributions_[:11, 2].mean() < 1 / 3
    assert 7.0 not in model.transduction_[:11]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classes", [["no", "yes"], ["no", "perhaps", "yes"]])
def test_one_label_is_enough_where_classes_are_declared(form, classes):
    views, _ = problem(14, 2)
    y = np.full(14, None, dtype=object)
    y[4] = "yes"
    model = BayesianCoTrainingClassifier(**FORMS[form], classes=classes).fit(views, y)
    p = model.label_distributions_
    assert np.isfinite(p).all()
    assert model.transduction_[4] == "yes"
    np.testing.assert_allclose(model.loo_latent_mean_[4], 0.0, atol=1e-8)  # nothing is left to learn from
    np.testing.assert_allclose(model.loo_label_distributions_[4], 1 / len(classes), rtol=1e-7)


@pytest.mark.parametrize("form", ["mean", "average"])
def test_declared_classes_may_stand_in_any_order(form):
    views, signal = problem(14, 2)
    y = labels(signal, 9)
    plain = BayesianCoTrainingClassifier(**FORMS[form]).fit(views, y)
    turned = BayesianCoTrainingClassifier(**FORMS[form], classes=[1.0, 0.0]).fit(views, y)
    np.testing.assert_allclose(turned.label_distributions_, plain.label_distributions_[:, ::-1], rtol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_without_labels_declared_classes_are_alike(form):
    views, _ = problem(14, 2)
    model = BayesianCoTrainingClassifier(**FORMS[form], classes=["a", "b", "c"]).fit(views, np.full(14, None))
    np.testing.assert_allclose(model.label_distributions_, 1 / 3, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(views), 1 / 3, rtol=1e-9)
    assert model.loo_score_ == 0.0
    assert model.log_marginal_likelihood() == pytest.approx(0.0, abs=1e-12)


def test_without_labels_undeclared_classes_are_unknown():
    views, _ = problem(14, 2)
    with pytest.raises(ValueError, match=r"No sample of y is labeled\. Label at least one, or declare"):
        BayesianCoTrainingClassifier().fit(views, np.full(14, np.nan))


def test_labels_of_samples_without_views_alone_are_no_labels():
    blocks, _ = tables(12, 0)
    gap = [np.insert(block, 3, np.nan, axis=0) for block in blocks]
    y = np.full(13, np.nan)
    y[3] = 1.0
    model = BayesianCoTrainingClassifier(n_components=3, no_view="prior", classes=[0.0, 1.0]).fit(gap, y)
    np.testing.assert_allclose(model.label_distributions_, 0.5, rtol=1e-9)


@pytest.mark.parametrize("marker", [-1, 99])
def test_a_marker_of_unlabeled_samples_is_read(marker):
    views, signal = problem(14, 2)
    y = labels(signal, 9)
    plain = BayesianCoTrainingClassifier(hyperparameters="fixed").fit(views, y)
    marked = np.where(np.isnan(y), marker, y).astype(int)
    missing = "auto" if marker == -1 else marker
    model = BayesianCoTrainingClassifier(hyperparameters="fixed", missing_label=missing).fit(views, marked)
    np.testing.assert_allclose(model.label_distributions_, plain.label_distributions_, rtol=1e-12)


# --- sparse views --------------------------------------------------------------------------------------------------


def sparse_problem(n=18, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.8, size=(n, 6)).astype(float)
    dense = rng.normal(size=(n, 2)) + counts[:, :1]
    y = np.where(np.arange(n) < 11, (counts[:, 0] > 0).astype(float), np.nan)
    return counts, dense, y


@pytest.mark.parametrize("kernel", ["linear", "rbf", kernels(1)[0]], ids=str)
@pytest.mark.parametrize("form", ["mean", "consensus", "average"])
def test_sparse_views_equal_dense_ones_under_the_same_kernel(kernel, form):
    counts, dense, y = sparse_problem()
    settings = {"settings": SETTINGS[:4]} if form == "average" else {}
    models = [
        BayesianCoTrainingClassifier(kernel, **(FORMS[form] | settings)).fit(
            {"text": form_of(counts), "other": dense}, y
        )
        for form_of in (np.asarray, csr_array)
    ]
    fresh = sparse_problem(seed=4)[0][:5]
    expected = models[0].predict_proba({"text": fresh, "other": dense[:5]})
    np.testing.assert_allclose(
        models[1].predict_proba({"text": csr_array(fresh), "other": dense[:5]}), expected, rtol=1e-6
    )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("missing", ["text", "other"])
def test_new_samples_may_lack_a_sparse_view_altogether(sign, missing):
    counts, dense, y = sparse_problem()
    model = BayesianCoTrainingClassifier(n_components=4).fit({"text": sign * csr_array(counts), "other": dense}, y)
    new = {"text": sign * csr_array(counts[:3]), "other": dense[:3]}
    whole = model.predict_proba(new, view="other" if missing == "text" else "text")
    del new[missing]
    np.testing.assert_allclose(model.predict_proba(new), whole, rtol=1e-9)


# --- options -------------------------------------------------------------------------------------------------------


def test_weightings_differ_and_the_bootstrap_is_seeded():
    views, signal = problem(16, 2)
    y = labels(signal, 11)

    def weights(**changes):
        model = BayesianCoTrainingClassifier(kernels(), settings=SETTINGS[:4], **changes).fit(views, y)
        return model.settings_["weight"].to_numpy()

    plain, evidence = weights(weighting="leave_one_out"), weights(weighting="evidence")
    first, again, other = (weights(random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(weights(), first)  # None is a fixed seed
    for weighted in (evidence, plain, other):
        assert np.abs(weighted - first).max() > 1e-4
    assert np.abs(other - first).max() < 0.1


def test_a_temperature_sharpens_probabilities():
    views, signal = problem(16, 2)
    y = labels(signal, 11)
    soft, sharp = (
        BayesianCoTrainingClassifier(kernels(), hyperparameters="fixed", temperature=t).fit(views, y)
        for t in (1.0, 3.0)
    )
    odds = np.log(soft.label_distributions_[:, 1] / soft.label_distributions_[:, 0])
    np.testing.assert_allclose(
        np.log(sharp.label_distributions_[:, 1] / sharp.label_distributions_[:, 0]), 3 * odds, rtol=1e-8
    )
    np.testing.assert_array_equal(soft.latent_mean_, sharp.latent_mean_)


def test_the_bias_learns_unequal_classes():
    views, signal = problem(30, 2)
    y = (signal > np.quantile(signal, 0.2)).astype(float)
    flat, biased = (
        BayesianCoTrainingClassifier(kernels(), hyperparameters="fixed", bias_variance=b).fit(views, y)
        for b in (0.0, 10.0)
    )
    assert biased.label_distributions_[:, 1].mean() > flat.label_distributions_[:, 1].mean() + 0.02
    assert biased.log_marginal_likelihood() > flat.log_marginal_likelihood()


def test_the_amplitude_is_the_mean_prior_variance():
    views, signal = problem(16, 2)
    y = np.full(16, None, dtype=object)
    y[0] = "a"  # one label leaves nearly all of the prior
    model = BayesianCoTrainingClassifier(kernels(), hyperparameters="fixed", amplitude=1e-4, classes=["a", "b"])
    assert model.fit(views, y).latent_variance_.mean() == pytest.approx(1e-4, rel=1e-3)
    assert signal.size == 16


def test_threads_and_progress_change_nothing(capsys):
    views, signal = problem(14, 2)
    y = labels(signal, 9)
    plain = BayesianCoTrainingClassifier(n_components=4).fit(views, y)
    assert capsys.readouterr().out == ""
    threaded = BayesianCoTrainingClassifier(n_components=4, n_jobs=2, verbose=1).fit(views, y)
    np.testing.assert_array_equal(threaded.label_distributions_, plain.label_distributions_)
    assert "9 labels of 2 classes" in capsys.readouterr().out


def test_selecting_views_adds_the_settings_that_tell_them_apart():
    views, signal = problem(14, 2)
    y = labels(signal, 9)
    with_selection, without, two = (
        BayesianCoTrainingClassifier("rbf", n_components=4, **changes).fit(v, y)
        for changes, v in [
            ({}, views),
            ({"select_views": False}, views),
            ({}, Views(tables(14, 2, missing=0.0, widths=(2, 3))[0])),
        ]
    )
    factors = {tuple(f) for f in with_selection.settings_["view_factors"].dropna()}
    drop_and_only = {
        tuple(1000.0 if (k == j) == drop else 1.0 for k in range(3)) for j in range(3) for drop in (True, False)
    }
    assert factors == drop_and_only
    assert without.settings_["view_factors"].isna().all()
    # With two views, dropping one is keeping the other only.
    assert {tuple(f) for f in two.settings_["view_factors"].dropna()} == {(1000.0, 1.0), (1.0, 1000.0)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": 0.0}, "temperature must be positive"),
        ({"temperature": [1.0, -1.0]}, "temperature must be positive"),
        ({"bias_variance": -1.0}, "bias_variance"),
        ({"weighting": "equal"}, "weighting"),
        ({"latent": "median"}, "latent"),
        ({"no_view": "ignore"}, "no_view"),
        ({"n_restarts": -1}, "n_restarts"),
        ({"settings": []}, "list of dictionaries, one at least"),
        ({"settings": [{"variance": 1.0}]}, r"settings\[0\] has unknown keys \['variance'\]"),
        ({"settings": [{"family": "tree", "n_components": 3}]}, r"settings\[0\]\['family'\] must be one of"),
        ({"settings": [{"joint": True}]}, r"settings\[0\] must give n_components"),
        ({"settings": [{"center": True}]}, r"settings\[0\] must give n_components"),
        ({"approximation": "exact"}, "low-rank features"),
        ({"settings": {"view_variances": 1.0}}, "settings must be a list of dictionaries"),
        ({"settings": [{"amplitude": -1.0}]}, r"settings\[0\]\['amplitude'\]"),
        ({"settings": [{}], "amplitude": [1.0, 2.0]}, r"settings\[0\]\['amplitude'\] must be one number"),
        ({"settings": [{"noise_variance": 0.1}]}, r"unknown keys \['noise_variance'\]"),
        ({"settings": [{"n_components": 0}]}, r"settings\[0\]\['n_components'\]"),
        ({"settings": [{"view_factors": [1.0, 2.0]}]}, r"one per view \(3\); got shape \(2,\)"),
        ({"settings": [{"view_variances": [1.0, 2.0]}]}, r"one per view \(3\); got shape \(2,\)"),
        ({"settings": [{"view_variances": -1.0}]}, "positive"),
        ({"settings": [{"kernels": ["rbf"]}]}, "one entry per view"),
        ({"settings": [{"view_variances": np.inf}], "latent": "consensus"}, "finite view variances"),
        (
            {"settings": [{"view_variances": [1.0, np.inf, 1.0], "n_components": 3}], "latent": "consensus"},
            "finite view variances",
        ),
        ({"amplitude": -1.0}, "amplitude"),
        ({"amplitude": [1.0, 0.0]}, "amplitude must be a positive number or a list"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": [5, -1]}, "n_components must be a positive integer or a list"),
        ({"n_components": []}, "n_components must be a positive integer or a list"),
        ({"hyperparameters": "fixed", "n_components": [5, 10]}, "n_components"),
        ({"hyperparameters": "fixed", "approximation": "exact", "n_components": 5}, "n_components"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused(changes, message):
    views, signal = problem(12, 2)
    with pytest.raises(ValueError, match=message):
        BayesianCoTrainingClassifier(**changes).fit(views, labels(signal, 8))


def test_settings_may_name_views():
    views, signal = problem(12, 2)
    y = labels(signal, 8)
    by_name = {
        "view_variances": {"view_2": 3.0, "view_0": 1.0, "view_1": 2.0},
        "kernels": dict(zip(views.names, kernels(), strict=True)),
    }
    by_position = {"view_variances": [1.0, 2.0, 3.0], "kernels": kernels()}
    first, second = (BayesianCoTrainingClassifier("rbf", settings=[s]).fit(views, y) for s in (by_name, by_position))
    np.testing.assert_array_equal(first.label_distributions_, second.label_distributions_)
    assert first.settings_["kernels"].iloc[0] == second.settings_["kernels"].iloc[0]
    assert first.settings_["kernels"].iloc[0] == [str(kernel) for kernel in kernels()]


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_given_view_variances_take_the_place_of_the_averaged_ones(latent):
    rng = np.random.default_rng(3)
    views = [rng.standard_normal((24, 2)), rng.standard_normal((24, 3))]
    y = np.where(np.arange(24) < 8, np.arange(24) % 2, np.nan)
    model = BayesianCoTrainingClassifier("rbf", latent=latent, view_variances=[0.5, 2.0], select_views=False).fit(
        views, y
    )
    per_view = model.settings_[model.settings_["family"] == "views"]
    assert len(per_view) > 0
    assert per_view["view_variances"].map(tuple).unique().tolist() == [(0.5, 2.0)]


def test_settings_of_a_fixed_model_are_refused():
    model = BayesianCoTrainingClassifier("rbf", settings=[{"n_components": 2}], hyperparameters="fixed")
    with pytest.raises(ValueError, match="settings are what hyperparameters='average' averages"):
        model.fit(np.arange(8.0)[:, None], [0.0, 1.0] * 2 + [np.nan] * 4)


def test_settings_take_what_they_leave_out_from_the_estimator():
    X, y = [np.arange(8.0)[:, None], np.arange(8.0)[:, None] ** 2], [0.0, 1.0] * 2 + [np.nan] * 4
    model = BayesianCoTrainingClassifier(
        "rbf", view_variances=[0.5, 2.0], amplitude=3.0, settings=[{"n_components": 2}]
    )
    row = model.fit(X, y).settings_.iloc[0]
    assert (row["view_variances"], row["amplitude"]) == ([0.5, 2.0], 3.0)
