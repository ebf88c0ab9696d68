"""Properties that hold for every multi-view estimator, whatever it computes.

Each check is short and its docstring is the property it guards. The instances are small on purpose; the one run of
the true defaults is marked slow.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

from coview import Views
from coview.gaussian_process import CoTrainingKernelTransformer
from coview.mixture import CoEMMixture

from .estimators import AGREE, ALTERNATING, SUPERVISED, all_estimators, mixtures, small, variants

NAMES = ["clinical", "images", "genes"]
WIDTHS = [3, 2, 4]
N_TRAIN, N_NEW = 24, 6

VARIANTS = [pytest.param(model, id=label) for label, model in variants()]
MIXTURES = [pytest.param(model, id=label) for label, model in mixtures()]
ALL = VARIANTS + MIXTURES


def takes_sparse(model):
    """Whether sparse rows mean the same as dense ones; to co-EM they are counts."""
    return get_tags(model).input_tags.sparse and not isinstance(model, CoEMMixture)


def is_consensus(model):
    return getattr(model, "latent", None) == "consensus"


def draw(seed=0, n=N_TRAIN):
    """Three views of two clusters; the last row of each kind lacks a view; blocks, presence, class per row."""
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    blocks = [sign[:, None] * rng.uniform(0.3, 1.2, width) + rng.normal(size=(n, width)) for width in WIDTHS]
    presence = np.ones((n, 3), dtype=bool)
    presence[1::3, 1] = False
    presence[2::4, 2] = False
    presence[n // 2, 0] = False
    return blocks, presence, sign


def masked(blocks, presence, fill=np.nan):
    """The blocks with ``fill`` wherever the view is missing."""
    return [np.where(presence[:, [j]], block, fill) for j, block in enumerate(blocks)]


def as_views(blocks, presence, names=NAMES):
    return Views(masked(blocks, presence), names=names, presence=presence)


def target(model, sign):
    """Labels for a third of the rows: text and None, or numbers and NaN."""
    labeled = (np.arange(len(sign)) % 3 == 0) | (type(model).__name__ in SUPERVISED)
    if is_classifier(model):
        return np.where(labeled, np.where(sign > 0, "ill", "well"), None)
    return np.where(labeled, 2 * sign + np.linspace(-0.5, 0.5, len(sign)), np.nan)


def outputs(model, X):
    """Everything an instance says about new rows, as one array with a row per sample."""
    if hasattr(model, "predict_latent") and is_classifier(model):
        return np.column_stack([model.predict_proba(X), *model.predict_latent(X, return_std=True)])
    if is_regressor(model):
        if "return_std" not in inspect.signature(model.predict).parameters:
            return np.asarray(model.predict(X))[:, None]
        return np.column_stack(model.predict(X, return_std=True))
        spread = {"return_std": True} if "return_std" in signature(model.predict).parameters else {}
        return np.column_stack(np.atleast_2d(model.predict(X, **spread)))
    if hasattr(model, "predict_proba"):
        further = [getattr(model, name)(X) for name in ("score_samples", "decision_function") if hasattr(model, name)]
        return np.column_stack([model.predict_proba(X), *further])
    return np.asarray(model.transform(X))


@pytest.fixture
def data():
    train, new = draw(0), draw(1, N_NEW)
    return train, new, as_views(*train[:2]), as_views(*new[:2])


@pytest.fixture
def fitted(model, data):
    train, _, views, _ = data
    return clone(model).fit(views, target(model, train[2]))


def refit(model, blocks, presence, sign, names=NAMES):
    return clone(model).fit(as_views(blocks, presence, names), target(model, sign))


CONTAINERS = {
    "arrays": lambda blocks, presence: masked(blocks, presence),
    "dict of arrays": lambda blocks, presence: dict(zip(NAMES, masked(blocks, presence), strict=True)),
    "dict of DataFrames": lambda blocks, presence: {
        name: pd.DataFrame(block[rows], index=ids(blocks)[rows], columns=columns(j))
        for j, (name, block, rows) in enumerate(zip(NAMES, blocks, presence.T, strict=True))
    },
    "MultiIndex DataFrame": lambda blocks, presence: pd.DataFrame(
        np.hstack(masked(blocks, presence)),
        columns=pd.MultiIndex.from_tuples([(NAMES[j], c) for j in range(3) for c in columns(j)]),
    ),
    "Views over sparse rows": lambda blocks, presence: Views(
        [sparse.csr_array(block) for block in masked(blocks, presence, fill=0.0)], names=NAMES, presence=presence
    ),
}


def ids(blocks):
    return np.array([f"patient-{i}" for i in range(len(blocks[0]))])


def columns(j):
    return [f"{NAMES[j]}-{c}" for c in range(WIDTHS[j])]


def contents(X):
    """What can be compared before and after."""
    parts = X.values() if isinstance(X, dict) else X if isinstance(X, list) else [X]
    if isinstance(X, Views):
        parts = [X[name] for name in X]
    return [part.toarray() if sparse.issparse(part) else np.array(part, copy=True) for part in parts]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("model", ALL)
def test_every_container_gives_the_same_and_is_not_modified(model, data, fitted, container):
    """The way the views come in changes neither the answer nor the views."""
    train, new, _, new_views = data
    if container == "Views over sparse rows" and not takes_sparse(model):
        pytest.skip("takes dense views only")
    X, X_new = CONTAINERS[container](*train[:2]), CONTAINERS[container](*new[:2])
    before = contents(X) + contents(X_new)
    y = target(model, train[2])
    y_before = copy.copy(y)
    if container == "dict of DataFrames":
        y = pd.Series(y, index=ids(train[0]))
    other = clone(model).fit(X, y)
    tolerance = 1e-8
    if container == "dict of DataFrames":  # rows stand in order of first appearance: the first view lacks one
        order, train_order = (np.argsort(~presence[:, 0], kind="stable") for presence in (new[1], train[1]))
        new_views = new_views[order]
        if model in [param.values[0] for param in MIXTURES]:  # where EM starts depends on the order of the rows
            fitted = clone(model).fit(as_views(*train[:2])[train_order], target(model, train[2])[train_order])
    expected, got = outputs(fitted, new_views), outputs(other, X_new)
    if container == "dict of DataFrames" and isinstance(model, CoTrainingKernelTransformer):
        expected = expected[:, train_order]
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
    for was, now in zip(before, contents(X) + contents(X_new), strict=True):
        np.testing.assert_array_equal(was, now)
    np.testing.assert_array_equal(pd.isna(y_before), pd.isna(np.asarray(y)))


@pytest.mark.parametrize("model", ALL)
def test_one_table_with_column_groups_gives_the_same(model, data, fitted):
    """``view_columns`` reads the views from one table."""
    train, new, _, new_views = data
    start = np.cumsum([0, *WIDTHS])
    groups = {name: slice(start[j], start[j + 1]) for j, name in enumerate(NAMES)}
    other = clone(model).set_params(view_columns=groups)
    other.fit(np.hstack(masked(*train[:2])), target(model, train[2]))
    got = outputs(other, np.hstack(masked(*new[:2])))
    np.testing.assert_allclose(got, outputs(fitted, new_views), rtol=1e-10, atol=1e-12)
    assert list(other.view_names_) == NAMES
    assert other.n_features_in_ == sum(WIDTHS)


@pytest.mark.parametrize("fill", [np.nan, 1e9])
@pytest.mark.parametrize("model", ALL)
def test_what_lies_under_a_missing_view_changes_nothing(model, data, fitted, fill):
    """Values of a view that ``presence`` calls missing are never read."""
    train, new, _, new_views = data
    X = Views(masked(*train[:2], fill=fill), names=NAMES, presence=train[1])
    X_new = Views(masked(*new[:2], fill=fill), names=NAMES, presence=new[1])
    other = clone(model).fit(X, target(model, train[2]))
    np.testing.assert_array_equal(outputs(other, X_new), outputs(fitted, new_views))


@pytest.mark.parametrize("model", VARIANTS)
def test_permuting_samples_permutes_the_output(model, data, fitted):
    """The order of the training rows means nothing."""
    (blocks, presence, sign), _, _, new_views = data
    order = np.random.default_rng(3).permutation(len(sign))
    other = clone(model).fit(as_views([block[order] for block in blocks], presence[order]), target(model, sign)[order])
    expected = outputs(fitted, new_views)
    if hasattr(model, "transform"):
        expected = expected[:, order]
    np.testing.assert_allclose(outputs(other, new_views), expected, rtol=1e-7, atol=1e-9)
    if hasattr(fitted, "label_distributions_"):
        np.testing.assert_array_equal(other.transduction_, fitted.transduction_[order])
        np.testing.assert_allclose(other.label_distributions_, fitted.label_distributions_[order], rtol=1e-7)
    if hasattr(fitted, "latent_mean_"):
        np.testing.assert_allclose(other.latent_mean_, fitted.latent_mean_[order], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("model", ALL)
def test_permuting_new_samples_permutes_the_answers(model, data, fitted):
    """The order of new rows means nothing either."""
    _, (blocks, presence, _), _, new_views = data
    order = np.random.default_rng(4).permutation(N_NEW)
    shuffled = as_views([block[order] for block in blocks], presence[order])
    np.testing.assert_allclose(outputs(fitted, shuffled), outputs(fitted, new_views)[order], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("model", VARIANTS)
def test_permuting_views_keeps_predictions(model, data, fitted):
    """The order of the views means nothing, in training or in new rows."""
    (blocks, presence, sign), (new_blocks, new_presence, _), _, new_views = data
    order = [2, 0, 1]
    names = [NAMES[j] for j in order]
    other = refit(model, [blocks[j] for j in order], presence[:, order], sign, names)
    X_new = as_views([new_blocks[j] for j in order], new_presence[:, order], names)
    expected = outputs(fitted, new_views)
    np.testing.assert_allclose(outputs(other, X_new), expected, rtol=1e-7, atol=1e-9)
    # known by their names, not by their places
    np.testing.assert_allclose(outputs(fitted, X_new), expected, rtol=1e-10, atol=1e-12)


# The joint spectrum is centered after the views are summed, where a missing view counts as zero: not by view.
CENTERED = [param for param in VARIANTS if param.id in ("BayesianCoTrainingClassifier", "BayesianCoTrainingRegressor")]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("model", CENTERED)
def test_a_constant_added_to_a_view_changes_nothing(model, data, kernel):
    """Where kernels are centered, only differences of a view's values count, in training and new rows alike."""
    (blocks, presence, sign), (new_blocks, new_presence, _), views, new_views = data
    model = clone(model).set_params(kernel=kernel)
    expected = outputs(clone(model).fit(views, target(model, sign)), new_views)
    moved = [blocks[0] + 5.0, blocks[1], blocks[2] - 3.0]
    new_moved = [new_blocks[0] + 5.0, new_blocks[1], new_blocks[2] - 3.0]
    other = refit(model, moved, presence, sign)
    np.testing.assert_allclose(outputs(other, as_views(new_moved, new_presence)), expected, rtol=1e-6, atol=1e-8)
    # and the constant is not simply ignored: moving only the new rows is seen
    assert np.abs(outputs(other, new_views) - expected).max() > 1e-3


@pytest.mark.parametrize("model", ALL)
def test_same_seed_same_result(model, data, fitted):
    """Fitting twice gives the same bits, and numpy's global generator is left alone."""
    train, _, views, new_views = data
    state = np.random.get_state()[1].copy()  # noqa: NPY002  (the legacy generator is what must not move)
    other = clone(model).fit(views, target(model, train[2]))
    np.testing.assert_array_equal(outputs(other, new_views), outputs(fitted, new_views))
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize("model", ALL)
def test_a_second_fit_forgets_the_first(model, data):
    """Nothing of an earlier fit, with more views, other ids and other classes, survives."""
    train, _, views, new_views = data
    used = clone(model)
    blocks, presence, sign = draw(5, 30)
    wide = as_views([*blocks, blocks[0][:, :2]], np.column_stack([presence, presence[:, 0]]), [*NAMES, "extra"])
    y = target(model, sign)
    if is_classifier(model):
        y[y == "ill"] = "dead"
        y[3] = "ill"
    used.fit(wide, y)
    used.fit(views, target(model, train[2]))
    fresh = clone(model).fit(views, target(model, train[2]))
    np.testing.assert_array_equal(outputs(used, new_views), outputs(fresh, new_views))
    assert set(vars(used)) == set(vars(fresh))
    assert list(used.view_names_) == NAMES


@pytest.mark.parametrize("model", ALL)
def test_clone_keeps_parameters_and_drops_what_was_learned(model, fitted):
    """A clone is unfitted and has equal parameters."""
    copied = clone(fitted)
    assert not [name for name in vars(copied) if name.endswith("_") and not name.startswith("_")]
    assert repr(copied.get_params()) == repr(fitted.get_params())


@pytest.mark.parametrize("model", ALL)
def test_parameters_are_stored_untouched(model, data, fitted):
    """``fit`` changes no constructor parameter."""
    assert repr(fitted.get_params()) == repr(model.get_params())


@pytest.mark.parametrize("model", ALL)
def test_pickle_keeps_the_predictions(model, data, fitted):
    """What comes back from a pickle answers with the same bits."""
    new_views = data[3]
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(outputs(restored, new_views), outputs(fitted, new_views))


@pytest.mark.parametrize("model", ALL)
def test_an_answer_does_not_depend_on_the_other_rows(model, data, fitted):
    """Predicting rows one at a time gives what predicting them together gives."""
    new_views = data[3]
    together = outputs(fitted, new_views)
    alone = np.vstack([outputs(fitted, new_views[[i]]) for i in range(N_NEW)])
    np.testing.assert_allclose(alone, together, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", ALL)
def test_any_subset_of_the_views_can_be_predicted(model, data, fitted):
    """A view left out of new rows is a view they miss."""
    _, (blocks, presence, _), _, _ = data
    without = presence.copy()
    without[:, 1] = False
    expected = outputs(fitted, as_views(blocks, without))
    kept = as_views([blocks[0], blocks[2]], presence[:, [0, 2]], [NAMES[0], NAMES[2]])
    np.testing.assert_allclose(outputs(fitted, kept), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("model", VARIANTS)
def test_a_view_nobody_has_changes_nothing(model, data, fitted):
    """An empty view is ignored, in training and in new rows."""
    (blocks, presence, sign), (new_blocks, new_presence, _), _, new_views = data
    ghost = np.zeros((N_TRAIN, 2))
    names = [*NAMES, "ghost"]
    other = refit(model, [*blocks, ghost], np.column_stack([presence, np.zeros(N_TRAIN, bool)]), sign, names)
    expected = outputs(fitted, new_views)
    np.testing.assert_allclose(outputs(other, new_views), expected, rtol=1e-10, atol=1e-12)
    held = np.column_stack([new_presence, np.ones(N_NEW, bool)])  # new rows may have what no training row had
    got = outputs(other, as_views([*new_blocks, np.ones((N_NEW, 2))], held, names))
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("model", [param for param in VARIANTS if not is_consensus(param.values[0])])
def test_a_repeated_training_row_has_its_training_value(model, data, fitted):
    """The mean of the views is a function of the row: training and new rows are treated alike."""
    views = data[2]
    if hasattr(model, "transform"):
        expected = clone(model).fit_transform(views)
        np.testing.assert_allclose(fitted.transform(views), expected, rtol=1e-9, atol=1e-11)
        return
    got = outputs(fitted, views)
    if type(model).__name__ in SUPERVISED:
        return  # a training sample has itself among its neighbors: nothing is kept of it
    if not hasattr(fitted, "latent_mean_") and is_regressor(model):
        np.testing.assert_allclose(got[:, 0], fitted.transduction_, rtol=1e-10)
        return
    if not hasattr(fitted, "latent_mean_"):
        known = fitted.label_distributions_ if is_classifier(model) else fitted.transduction_[:, None]
        np.testing.assert_allclose(got[:, : known.shape[1]], known, rtol=1e-10)
        return
    spread = np.sqrt(fitted.latent_variance_)
    np.testing.assert_allclose(got[:, -2:], np.column_stack([fitted.latent_mean_, spread]), rtol=1e-7, atol=1e-9)
    if is_classifier(model):
        np.testing.assert_allclose(got[:, :-2], fitted.label_distributions_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("model", [param for param in VARIANTS if not hasattr(param.values[0], "transform")])
def test_grid_search_and_cross_validation_take_views_as_they_are(model, data):
    """``Views`` pass unwrapped through scikit-learn's model selection."""
    (_, _, sign), _, views, new_views = data
    y = np.where(sign > 0, "ill", "well") if is_classifier(model) else 2 * sign
    parameters = model.get_params()
    if "random_state" in parameters:
        grid = {"random_state": [0, 1]}
    else:
        grid = {"ridge": [0.5, 1.0]} if "ridge" in parameters else {"no_view": ["prior", "raise"]}
    search = GridSearchCV(clone(model), grid, cv=3).fit(views, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    direct = clone(model).set_params(**search.best_params_).fit(views, y)
    np.testing.assert_array_equal(search.predict(new_views), direct.predict(new_views))
    assert np.isfinite(cross_val_score(clone(model), views, y, cv=3)).all()


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_kernel_transformer_feeds_a_precomputed_machine(data, latent):
    """The covariance between samples works in a pipeline with any ``kernel="precomputed"`` estimator."""
    (_, _, sign), (_, _, new_sign), views, new_views = data
    pipeline = make_pipeline(small("CoTrainingKernelTransformer", latent=latent), SVC(kernel="precomputed"))
    grid = {"cotrainingkerneltransformer__view_variances": [0.1, 1.0], "svc__C": [1.0, 10.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(views, sign)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.7
    assert search.predict(new_views).shape == new_sign.shape


@pytest.mark.parametrize("model", ALL)
def test_unknown_views_and_widths_are_refused(model, data, fitted):
    """A view that was not there in training, or has another width, is an error that names it."""
    _, (blocks, presence, _), _, _ = data
    with pytest.raises(ValueError, match="surprise"):
        outputs(fitted, as_views([*blocks[:2], blocks[2]], presence, [*NAMES[:2], "surprise"]))
    with pytest.raises(ValueError, match="images"):
        outputs(fitted, as_views([blocks[0], blocks[1][:, :1], blocks[2]], presence))


@pytest.mark.parametrize("model", VARIANTS)
def test_a_row_without_views_is_refused_by_name(model, data):
    """The id of such a row stands in the message, in fit and in predict."""
    (blocks, presence, sign), (new_blocks, new_presence, _), views, _ = data
    model = clone(model).set_params(**({"no_view": "raise"} if "no_view" in model.get_params() else {}))
    gap = presence.copy()
    gap[13] = False
    with pytest.raises(ValueError, match=r"\b13\b"):
        clone(model).fit(as_views(blocks, gap), target(model, sign))
    new_gap = new_presence.copy()
    new_gap[4] = False
    with pytest.raises(ValueError, match=r"\b4\b"):
        outputs(clone(model).fit(views, target(model, sign)), as_views(new_blocks, new_gap))


@pytest.mark.parametrize("model", VARIANTS)
def test_a_partly_missing_row_is_refused_with_the_way_out(model, data):
    """A gap inside a view is not a missing view; the message says NaN, the view, and what fills gaps."""
    (blocks, presence, sign), _, _, _ = data
    holed = [block.copy() for block in blocks]
    holed[2][0, 1] = np.nan
    with pytest.raises(ValueError, match=r"(?s)NaN.*genes.*TableEncoder|genes.*NaN.*TableEncoder"):
        clone(model).fit(Views(masked(holed, presence), names=NAMES, presence=presence), target(model, sign))


@pytest.mark.parametrize("model", [param for param in MIXTURES if hasattr(param.values[0], "score_samples")])
def test_a_row_without_views_gets_the_prior(model, data):
    """Nothing observed says nothing: such a row has density one, does not stop a fit, and is answered alike everywhere."""
    (blocks, presence, sign), (new_blocks, new_presence, _), _, _ = data
    gap = presence.copy()
    gap[13] = False
    other = clone(model).fit(as_views(blocks, gap), target(model, sign))
    new_gap = new_presence.copy()
    new_gap[[1, 4]] = False
    X = as_views(new_blocks, new_gap)
    np.testing.assert_allclose(other.score_samples(X)[[1, 4]], 0.0, atol=1e-12)
    prior = other.predict_proba(X)[[1, 4]]
    np.testing.assert_array_equal(prior[0], prior[1])
    np.testing.assert_allclose(prior.sum(axis=1), 1.0)


@pytest.mark.parametrize("model", [param for param in MIXTURES if get_tags(param.values[0]).input_tags.allow_nan])
def test_a_feature_may_be_missing_by_itself(model, data):
    """A gap inside a view is as good as a missing view: the rest of the row is used."""
    (blocks, presence, sign), (new_blocks, new_presence, _), _, new_views = data
    holed = [block.copy() for block in blocks]
    holed[2][::3, 1] = np.nan
    other = clone(model).fit(Views(masked(holed, presence), names=NAMES, presence=presence), target(model, sign))
    new_holed = [block.copy() for block in new_blocks]
    new_holed[2][0, 1] = np.nan
    got = outputs(other, Views(masked(new_holed, new_presence), names=NAMES, presence=new_presence))
    assert np.isfinite(got).all()
    expected = outputs(other, new_views)
    np.testing.assert_allclose(got[1:], expected[1:], rtol=1e-9)
    assert np.abs(got[0] - expected[0]).max() > 1e-6


def test_weights_too_small_to_represent_do_no_harm(data):
    """Settings whose weights pass through the smallest numbers down to zero neither warn nor move the answer."""
    (_, _, sign), _, views, new_views = data
    amplitudes = np.geomspace(0.05, 1e4, 500)
    settings = [AGREE | {"amplitude": amplitude, "noise_variance": 0.1} for amplitude in amplitudes]
    y = np.where(np.arange(N_TRAIN) % 3 == 0, 200 * sign + np.arange(N_TRAIN), np.nan)
    y[3] = 0.0  # settings of no weight predict this one best
    model = small("BayesianCoTrainingRegressor", settings=settings).fit(views, y)
    weights = model.settings_["weight"].to_numpy()
    assert ((weights > 0) & (weights < np.finfo(float).tiny)).any()
    kept = [setting for setting, weight in zip(settings, weights, strict=True) if weight > 1e-12]
    assert len(kept) < len(settings)
    fewer = small("BayesianCoTrainingRegressor", settings=kept).fit(views, y)
    np.testing.assert_allclose(model.predict(new_views), fewer.predict(new_views), rtol=1e-7)
    np.testing.assert_allclose(model.loo_score_, fewer.loo_score_, rtol=1e-7)


def test_alternating_columns_are_two_views():
    """The grouping used with scikit-learn's checks gives the views that it names."""
    X = np.arange(15.0).reshape(3, 5)
    views = Views(X, view_columns=ALTERNATING)
    assert list(views) == ["a", "b"]
    np.testing.assert_array_equal(views["a"], X[:, ::2])
    np.testing.assert_array_equal(views["b"], X[:, 1::2])


DEFAULTS = [name for name in all_estimators() if name.startswith("BayesianCoTraining")]


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFAULTS)
class TestDefaults:
    """The same properties for the instances a user gets without parameters."""

    def fit(self, name, blocks, presence, sign, names=NAMES):
        model = all_estimators()[name](random_state=0)
        return model.fit(as_views(blocks, presence, names), target(model, sign))

    def test_rows_under_missing_views_constants_and_empty_views(self, name, data):
        """Values under missing views, a shift of a view and an empty view change nothing."""
        (blocks, presence, sign), (new_blocks, new_presence, _), _, new_views = data
        expected = outputs(self.fit(name, blocks, presence, sign), new_views)
        X = Views(masked(blocks, presence, fill=1e9), names=NAMES, presence=presence)
        model = all_estimators()[name](random_state=0)
        np.testing.assert_array_equal(outputs(model.fit(X, target(model, sign)), new_views), expected)
        shifted = self.fit(name, [blocks[0], blocks[1], blocks[2] + 4.0], presence, sign)
        moved = as_views([new_blocks[0], new_blocks[1], new_blocks[2] + 4.0], new_presence)
        np.testing.assert_allclose(outputs(shifted, moved), expected, rtol=1e-5, atol=1e-6)
        wide = np.column_stack([presence, np.zeros(N_TRAIN, bool)])
        ghost = self.fit(name, [*blocks, np.zeros((N_TRAIN, 2))], wide, sign, [*NAMES, "ghost"])
        np.testing.assert_allclose(outputs(ghost, new_views), expected, rtol=1e-8, atol=1e-10)

    def test_permuting_views_keeps_predictions(self, name, data):
        """The order of the views means nothing for the default grid."""
        (blocks, presence, sign), _, _, new_views = data
        expected = outputs(self.fit(name, blocks, presence, sign), new_views)
        order = [2, 0, 1]
        other = self.fit(name, [blocks[j] for j in order], presence[:, order], sign, [NAMES[j] for j in order])
        np.testing.assert_allclose(outputs(other, new_views), expected, rtol=1e-6, atol=1e-8)

    def test_permuting_samples_nearly_permutes_the_output(self, name, data):
        """Up to the error of 200 bootstrap draws: section 10.1 of the reference notes states at most 0.04."""
        (blocks, presence, sign), _, _, new_views = data
        first = self.fit(name, blocks, presence, sign)
        order = np.random.default_rng(3).permutation(N_TRAIN)
        model = all_estimators()[name](random_state=0)
        other = model.fit(as_views([block[order] for block in blocks], presence[order]), target(model, sign)[order])
        if is_classifier(model):
            np.testing.assert_allclose(other.predict_proba(new_views), first.predict_proba(new_views), atol=0.04)
        else:
            np.testing.assert_allclose(other.predict(new_views), first.predict(new_views), atol=0.2)

    def test_repeated_rows_batches_and_pickles(self, name, data):
        """A training row as new keeps its value; rows do not depend on each other; a pickle answers the same."""
        (blocks, presence, sign), _, views, new_views = data
        model = self.fit(name, blocks, presence, sign)
        got = outputs(model, views)
        np.testing.assert_allclose(got[:, -2], model.latent_mean_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(got[:, -1] ** 2, model.latent_variance_, rtol=1e-6, atol=1e-8)
        together = outputs(model, new_views)
        alone = np.vstack([outputs(model, new_views[[i]]) for i in range(N_NEW)])
        np.testing.assert_allclose(alone, together, rtol=1e-8, atol=1e-10)
        # Not to the last bit: rounding follows the layout of arrays in memory, and a pickle stores them contiguous.
        np.testing.assert_allclose(outputs(pickle.loads(pickle.dumps(model)), new_views), together, rtol=1e-12)
