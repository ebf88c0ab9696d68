"""Every kind of model comes back with the answers that it had, to the last bit."""

import importlib
import pickle
import pkgutil

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM

import coview
from coview import Views
from coview.compose import ConcatenateViews, TableEncoder
from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    CoTrainingKernelTransformer,
)
from coview.model_selection import LabeledKFold, baseline_estimators, usual_methods
from coview.persistence import ModelFileError, load_model, save_model
from coview.persistence._trust import COVIEW_TYPES

N = 30
SETTINGS = [
    {"kernels": "rbf", "n_components": 5, "center": True, "view_variances": 1.0, "amplitude": 4.0},
    {"kernels": "linear", "n_components": 5, "joint": True, "center": True, "amplitude": 4.0},
    {"kernels": "rbf", "n_components": 5, "family": "completed", "center": True, "amplitude": 1.0},
    {"kernels": "rbf", "n_components": 5, "family": "early_fusion", "center": True, "amplitude": 1.0},
]


def draw(seed=0, n=N):
    """Three views, one of them missing here and there, and a number that they tell of."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    blocks = [signal[:, None] + rng.normal(size=(n, width)) for width in (3, 2, 4)]
    blocks[1][::4] = np.nan
    return Views(blocks, names=["a", "b", "c"]), signal


def classes(signal, n_classes=2):
    labels = np.array(["low", "middle", "high"], dtype=object)[:n_classes][
        np.digitize(signal, [0.0, 0.7][: n_classes - 1])
    ]
    labels[::3] = None
    return labels


def numbers(signal):
    return np.where(np.arange(len(signal)) % 3, signal, np.nan)


def again(model, tmp_path):
    save_model(model, tmp_path / "model.coview", overwrite=True)
    return load_model(tmp_path / "model.coview").model


CO_TRAINING = {
    "default grid": BayesianCoTrainingClassifier(select_views=False, n_components=3, amplitude=4.0, temperature=1.0),
    "average": BayesianCoTrainingClassifier(settings=SETTINGS, no_view="prior"),
    "evidence": BayesianCoTrainingClassifier(settings=SETTINGS[:2], weighting="evidence"),
    "consensus": BayesianCoTrainingClassifier("rbf", latent="consensus", hyperparameters="fixed"),
    "consensus average": BayesianCoTrainingClassifier(
        "rbf", latent="consensus", settings=[{"view_variances": 0.1}, {"view_variances": 1.0, "n_components": 5}]
    ),
    "kernels by name": BayesianCoTrainingClassifier(
        {"a": "linear", "b": ConstantKernel(2.0) * RBF(0.7), "c": Matern(1.5, nu=1.5)},
        hyperparameters="fixed",
        view_variances={"a": 0.1, "b": 1.0, "c": np.inf},
    ),
    "low rank": BayesianCoTrainingClassifier("rbf", hyperparameters="fixed", approximation="low_rank", n_components=4),
}


@pytest.mark.parametrize(
    ("name", "n_classes"), [*((name, 2) for name in CO_TRAINING), ("average", 3), ("consensus", 3)]
)
def test_classifiers_of_co_training(tmp_path, name, n_classes):
    views, signal = draw()
    new, _ = draw(seed=1, n=9)
    model = CO_TRAINING[name].fit(views, classes(signal, n_classes))
    loaded = again(model, tmp_path)
    same_answers(model, loaded, new, ["predict_proba", "predict", "decision_function", "predict_latent", "explain"])
    np.testing.assert_array_equal(loaded.predict_proba(new, view="a"), model.predict_proba(new, view="a"))
    for attribute in ("transduction_", "label_distributions_", "latent_mean_", "latent_variance_", "view_variances_"):
        np.testing.assert_array_equal(getattr(loaded, attribute), getattr(model, attribute), attribute)
    assert loaded.settings_.equals(model.settings_)
    assert loaded.view_trust_.equals(model.view_trust_)
    assert loaded.agreement_ == model.agreement_
    assert loaded.kernels_ == model.kernels_
    assert loaded.loo_score_ == model.loo_score_


def same_answers(model, loaded, new, methods):
    for method in methods:
        expected, found = getattr(model, method)(new), getattr(loaded, method)(new)
        if isinstance(expected, pd.DataFrame):
            pd.testing.assert_frame_equal(found, expected, check_exact=True)
        else:
            np.testing.assert_array_equal(found, expected, method)


@pytest.mark.parametrize(
    "model",
    [
        BayesianCoTrainingRegressor(settings=[{**s, "noise_variance": 0.2} for s in SETTINGS], normalize_y=True),
        BayesianCoTrainingRegressor("rbf", hyperparameters="fixed", noise_variance=0.3),
    ],
    ids=["average", "fixed"],
)
def test_regressors_of_co_training(tmp_path, model):
    views, signal = draw()
    new, _ = draw(seed=1, n=9)
    model.fit(views, numbers(signal))
    loaded = again(model, tmp_path)
    same_answers(model, loaded, new, ["predict", "explain"])
    for found, expected in zip(loaded.predict(new, return_std=True), model.predict(new, return_std=True), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert loaded.noise_variance_ == model.noise_variance_
    assert loaded.settings_.equals(model.settings_)


def test_what_a_fitted_model_can_still_do(tmp_path):
    """Evidence at another theta, the posterior of the consensus, the benefit of a view, similarity, a refit."""
    views, signal = draw()
    labels = classes(signal)
    kernel = ConstantKernel(1.0, "fixed") * RBF(1.0)
    model = BayesianCoTrainingClassifier(kernel, hyperparameters="fixed").fit(views.select(["a", "b"]), labels)
    loaded = again(model, tmp_path)
    theta = model.theta_ + 0.1
    for found, expected in zip(
        loaded.log_marginal_likelihood(theta, True), model.log_marginal_likelihood(theta, True), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    assert loaded.view_benefit("b").equals(model.view_benefit("b"))
    np.testing.assert_array_equal(loaded.similarity(), model.similarity())
    rows = np.arange(5)
    columns = model.consensus_posterior().prior.columns(rows)
    np.testing.assert_array_equal(loaded.consensus_posterior().prior.columns(rows), columns)
    refitted = loaded.fit(views.select(["a", "b"]), labels)
    np.testing.assert_array_equal(refitted.label_distributions_, model.label_distributions_)


@pytest.mark.parametrize("kind", ["text", "number", "truth", "float"])
def test_classes_keep_their_type(tmp_path, kind):
    views, signal = draw()
    labels = {
        "text": classes(signal),
        "number": np.where(np.arange(N) % 3, (signal > 0) + 3, -1),
        "truth": np.array([None if i % 3 == 0 else bool(value > 0) for i, value in enumerate(signal)], dtype=object),
        "float": np.where(np.arange(N) % 3, np.where(signal > 0, 2.0, -1.0), np.nan),
    }[kind]
    model = BayesianCoTrainingClassifier("rbf", hyperparameters="fixed").fit(views, labels)
    loaded = again(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(views).tolist() == model.predict(views).tolist()
    assert loaded.view_benefit("a").equals(model.view_benefit("a"))


def test_sparse_views_and_ids(tmp_path):
    rng = np.random.default_rng(0)
    words = sparse.random_array((N, 40), density=0.2, rng=rng, format="csr")
    views, signal = draw()
    mixed = Views({"words": words, "a": views["a"]})
    new = mixed[np.arange(7)]
    model = BayesianCoTrainingClassifier(settings=SETTINGS[:2]).fit(mixed, classes(signal))
    loaded = again(model, tmp_path)
    same_answers(model, loaded, new, ["predict_proba", "explain"])
    assert sparse.issparse(loaded._prepared.views["words"])
    frames = {name: views.to_frame(name).set_axis([f"s{i}" for i in range(N)]) for name in views.names}
    named = BayesianCoTrainingClassifier("rbf", hyperparameters="fixed").fit(frames, classes(signal))
    assert again(named, tmp_path)._prepared.views == named._prepared.views


def test_precomputed_kernels(tmp_path):
    views, signal = draw()
    grams = [RBF()(views["a"]), RBF(2.0)(views["c"])]
    model = BayesianCoTrainingClassifier("precomputed", hyperparameters="fixed").fit(grams, classes(signal))
    loaded = again(model, tmp_path)
    same_answers(model, loaded, [gram[:6] for gram in grams], ["predict_proba", "explain"])


def test_rows_beyond_the_landmarks(tmp_path, monkeypatch):
    """Spectra of some rows, onto which the others are projected."""
    monkeypatch.setattr("coview.gaussian_process._feature_maps._LANDMARKS", 12)
    views, signal = draw()
    model = BayesianCoTrainingClassifier(settings=SETTINGS).fit(views, classes(signal))
    loaded = again(model, tmp_path)
    same_answers(model, loaded, draw(1)[0], ["predict_proba", "explain"])
    np.testing.assert_allclose(loaded.predict_latent(views), model.latent_mean_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(loaded.similarity(), model.similarity(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_many_samples_are_not_met_again_after_loading(tmp_path, monkeypatch, latent):
    """The sums over all samples come with the model, features of all samples neither come nor are made."""
    monkeypatch.setattr("coview.gaussian_process._feature_maps._LANDMARKS", 12)
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(600, 4)) for _ in range(2)]
    blocks[1][::3] = np.nan
    y = np.where(np.arange(600) < 40, rng.normal(size=600) > 0, np.nan)
    model = BayesianCoTrainingClassifier(
        RBF(2.0), latent=latent, hyperparameters="fixed", approximation="low_rank", n_components=8
    ).fit(blocks, y)
    loaded = again(model, tmp_path)
    monkeypatch.setattr("coview.gaussian_process._feature_maps.feature_sums", None)
    monkeypatch.setattr("coview.gaussian_process._training_features.row_slices", None)
    new = [block[5:15] for block in blocks]
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    path = tmp_path / "size.model"
    save_model(model, path)
    views = sum(np.isfinite(block).sum() for block in blocks) * 8
    assert path.stat().st_size < views + 600 * 80 + 20_000


@pytest.mark.parametrize(
    "machine", [SVC(), SVC(kernel="linear"), NuSVC(), SVR(), NuSVR(), OneClassSVM(), LinearSVC()], ids=repr
)
def test_support_vector_machines(tmp_path, machine):
    views, signal = draw()
    machine.fit(views["a"], signal > 0 if is_classifier(machine) else signal)
    np.testing.assert_array_equal(again(machine, tmp_path).predict(views["a"]), machine.predict(views["a"]))


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_the_kernel_for_other_machines(tmp_path, latent):
    views, signal = draw()
    model = make_pipeline(CoTrainingKernelTransformer("rbf", latent=latent), SVC(kernel="precomputed"))
    model.fit(views, signal > 0)
    loaded = again(model, tmp_path)
    same_answers(model, loaded, draw(1)[0], ["decision_function"])
    np.testing.assert_array_equal(loaded[0].transform(views), model[0].transform(views))


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_what_a_user_would_do_otherwise(tmp_path, is_sparse):
    """The baselines and the simple methods, gradient boosting with its checked trees among them."""
    views, signal = draw()
    if is_sparse:
        views = Views({"a": views["a"], "words": sparse.random_array((N, 20), density=0.3, rng=0, format="csr")})
    models = baseline_estimators(views, n_components=2)
    for task in ("classification", "regression"):
        for name, model in usual_methods(task, n_components=2, sparse=is_sparse, random_state=0).items():
            models[f"{task} {name}"] = model
    for name, model in models.items():
        if any(part in name for part in ("Gaussian process", "iterative", "tuned", "stacking", "KNN", "histogram")):
            continue  # slow, and of no other types than the rest
        model.fit(views, numbers(signal) if name.startswith("regression") else classes(signal))
        loaded = again(model, tmp_path)
        before, after = model.predict(views), loaded.predict(views)
        if before.dtype.kind == "f":  # BLAS rounds by the alignment of arrays in memory
            np.testing.assert_allclose(after, before, rtol=1e-13, err_msg=name)
        else:
            np.testing.assert_array_equal(after, before, name)


def test_a_search(tmp_path):
    views, signal = draw()
    labels = np.where(signal > 0, "yes", "no")
    search = GridSearchCV(
        BayesianCoTrainingClassifier("rbf", hyperparameters="fixed"), {"view_variances": [0.1, 1.0]}, cv=LabeledKFold(2)
    ).fit(views, labels)
    loaded = again(search, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(views), search.predict_proba(views))
    assert loaded.best_params_ == search.best_params_


def wide_tables():
    rng = np.random.default_rng(0)
    ids = [f"p{i}" for i in range(N)]
    words = ["one two three", "four five", "six seven eight", "nine ten", "eleven twelve"]
    mixed = pd.DataFrame(
        {
            "age": rng.normal(size=N),
            "code": rng.integers(0, 3, N),
            "sex": pd.Categorical(rng.choice(["f", "m"], N)),
            "note": [" ".join(rng.choice(words, 2)) + f" word{i}" for i in range(N)],
            "place": rng.choice(["é", "two words", None], N),
        },
        index=ids,
    )
    mixed.loc["p2", "age"] = np.nan
    genes = pd.DataFrame(rng.normal(size=(N, 200)), columns=[f"g{i}" for i in range(200)], index=ids)
    return {"mixed": mixed, "genes": genes, "counts": sparse.random_array((N, 30), density=0.2, rng=0, format="csr")}


def test_the_encoder_of_tables(tmp_path):
    tables = wide_tables()
    encoder = TableEncoder(categorical_columns={"mixed": ["code"]}).fit(tables)
    for loaded in (again(encoder, tmp_path), pickle.loads(pickle.dumps(encoder))):
        assert loaded.transform(tables) == encoder.transform(tables)
        assert loaded.describe() == encoder.describe()
        assert loaded.report_.equals(encoder.report_)
        assert loaded.count_gaps(tables).equals(encoder.count_gaps(tables))
        assert loaded.view_feature_names_ == encoder.view_feature_names_
        np.testing.assert_array_equal(loaded.get_feature_names_out(), encoder.get_feature_names_out())


def test_names_of_features_survive(tmp_path):
    views, signal = draw()
    frames = {name: views.to_frame(name).add_prefix(f"{name}_") for name in views.names}
    model = BayesianCoTrainingClassifier("rbf", hyperparameters="fixed").fit(frames, classes(signal))
    loaded = again(model, tmp_path)
    assert loaded.view_feature_names_ == {name: list(frame.columns) for name, frame in frames.items()}
    np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    assert loaded.feature_names_in_.dtype == object
    with pytest.raises(coview.exceptions.ViewError, match="missing are 'c_3'"):
        loaded.predict({**frames, "c": frames["c"].drop(columns="c_3")})


def public_estimators():
    """Classes of every ``__all__`` that can be fitted."""
    found = {}
    for module in pkgutil.iter_modules(coview.__path__):
        if module.ispkg and module.name not in {"app", "cli", "report"}:
            package = importlib.import_module(f"coview.{module.name}")
            for name in package.__all__:
                item = getattr(package, name)
                # parents have no fit of their own
                if isinstance(item, type) and issubclass(item, BaseEstimator) and hasattr(item, "fit"):
                    found[name] = item
    return found


def test_every_public_estimator_is_trusted():
    names = {f"{item.__module__}.{item.__qualname__}" for item in public_estimators().values()}
    assert len(names) >= 10
    assert names <= COVIEW_TYPES


def test_every_trusted_type_exists():
    for name in COVIEW_TYPES:
        module, _, cls = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), cls), type), name


def test_caches_are_not_saved(tmp_path):
    """A model that has predicted takes no more room than one that has not."""
    views, signal = draw()
    model = BayesianCoTrainingClassifier(settings=SETTINGS).fit(views, classes(signal))
    save_model(model, tmp_path / "before.coview")
    pickled = len(pickle.dumps(model))
    model.predict_proba(views)
    model.explain(views)
    save_model(model, tmp_path / "after.coview")
    assert (tmp_path / "after.coview").read_bytes() == (tmp_path / "before.coview").read_bytes()
    assert len(pickle.dumps(model)) == pickled


def test_joined_columns_come_back(tmp_path):
    views, _ = draw()
    loaded = again(ConcatenateViews(views=["c", "a"]).fit(views), tmp_path)
    np.testing.assert_array_equal(loaded.transform(views), ConcatenateViews(views=["c", "a"]).fit_transform(views))


@pytest.mark.parametrize("name", ["CountVectorizer", "KMeans", "OneHotEncoder"])
def test_estimators_whose_compiled_parts_nobody_checks_are_refused(tmp_path, name):
    """Forged indices, widths or trees of theirs would lead out of their arrays."""
    samples = np.arange(8.0)[:, None]
    made = {"CountVectorizer": CountVectorizer().fit(["a word", "another word"])}
    made |= {type(maker).__name__: maker.fit(samples) for maker in (KMeans(2, n_init=1), OneHotEncoder())}
    with pytest.raises(ModelFileError, match=rf"{name}', which is not on coview's list of trusted types"):
        save_model(made[name], tmp_path / "m.coview")
    assert not (tmp_path / "m.coview").exists()
