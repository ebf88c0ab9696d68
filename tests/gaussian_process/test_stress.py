"""Awkward but legal data: extreme scales, duplicates, constants, one class, all labels, wide sparse views, single precision."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    CoTrainingKernelTransformer,
)

from .small_problems import labels, problem, tables, targets

FORMS = {
    "default": {"n_components": 5, "random_state": 0},
    "mean": {"hyperparameters": "fixed", "kernel": "auto"},
    "consensus": {"hyperparameters": "fixed", "kernel": "auto", "latent": "consensus"},
    "rbf": {"hyperparameters": "fixed", "kernel": "rbf"},
}


def assert_sound(model, views):
    """Finite, normalized answers in training and prediction."""
    p = model.predict_proba(views)
    for values in (model.label_distributions_, p):
        assert np.isfinite(values).all()
        np.testing.assert_allclose(values.sum(axis=1), 1.0, rtol=1e-10)
    assert np.isfinite(model.latent_mean_).all()
    assert (model.latent_variance_ >= 0).all()
    assert np.isfinite(model.loo_score_)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scales", [(1e-8, 1e8, 1.0), (1e8, 1e8, 1e8), (1e-8, 1e-8, 1e-8)])
def test_units_of_the_features_do_not_matter(form, scales):
    # Automatic kernels standardize; an RBF takes its width from the distances.
    blocks, signal = tables(16, 2)
    y = labels(signal, 10)
    plain = BayesianCoTrainingClassifier(**FORMS[form]).fit(blocks, y)
    scaled = BayesianCoTrainingClassifier(**FORMS[form]).fit([b * s for b, s in zip(blocks, scales, strict=True)], y)
    np.testing.assert_allclose(scaled.label_distributions_, plain.label_distributions_, rtol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_duplicated_samples_have_the_same_answer(form):
    blocks, signal = tables(10, 2)
    doubled = [np.repeat(block, 2, axis=0) for block in blocks]
    y = np.repeat(labels(signal, 7), 2)
    y[::2] = np.nan  # of each pair one is labeled
    model = BayesianCoTrainingClassifier(**FORMS[form]).fit(doubled, y)
    assert_sound(model, doubled)
    if form != "consensus":  # the mean is a function of the views; the consensus function has noise of its own
        np.testing.assert_allclose(model.label_distributions_[::2], model.label_distributions_[1::2], rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_duplicates_that_contradict_each_other_are_a_coin(form):
    blocks, _ = tables(6, 2, missing=0.0)
    doubled = [np.concatenate([block, block]) for block in blocks]
    y = np.repeat([0.0, 1.0], 6)
    model = BayesianCoTrainingClassifier(**FORMS[form]).fit(doubled, y)
    p = model.label_distributions_
    if form != "consensus":
        np.testing.assert_allclose(p, 0.5, atol=1e-6)
    np.testing.assert_allclose(p[:6] + p[6:], 1.0, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("constant", [0.0, 1.0, 1e8])
def test_a_constant_view_is_no_obstacle(form, constant):
    blocks, signal = tables(16, 2)
    blocks[1] = np.where(np.isnan(blocks[1]), np.nan, constant)
    y = labels(signal, 10)
    model = BayesianCoTrainingClassifier(**FORMS[form]).fit(blocks, y)
    assert_sound(model, blocks)
    regressor = BayesianCoTrainingRegressor(**(FORMS[form] | {"kernel": "rbf"})).fit(blocks, targets(signal, 10))
    assert np.isfinite(regressor.predict(blocks)).all()


@pytest.mark.parametrize("form", FORMS)
def test_all_labels_of_one_class(form):
    views, _ = problem(14, 2)
    y = np.where(np.arange(14) < 8, 1.0, np.nan)
    model = BayesianCoTrainingClassifier(**FORMS[form], classes=[0.0, 1.0]).fit(views, y)
    assert_sound(model, views)
    assert (model.label_distributions_[:8, 1] > 0.5).all()


@pytest.mark.parametrize("form", FORMS)
def test_every_sample_labeled(form):
    views, signal = problem(16, 2)
    model = BayesianCoTrainingClassifier(**FORMS[form]).fit(views, labels(signal, 16, 3))
    assert_sound(model, views)
    assert not np.isnan(model.loo_label_distributions_).any()
    if form == "default":  # the others have amplitude one and no offset, too little to be sure of anything here
        assert model.score(views, labels(signal, 16, 3)) > 0.8


def wide_counts(n=24, p=3000, seed=0):
    """Sparse counts with a block of words per class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    rate = np.full((n, p), 0.01)
    rate[y == 0, :150] = rate[y == 1, 150:300] = 0.2
    return sp.csr_array(rng.poisson(rate).astype(float)), y


@pytest.mark.parametrize("form", FORMS)
def test_thousands_of_sparse_columns(form):
    counts, y = wide_counts()
    dense = np.random.default_rng(1).normal(size=(24, 2))
    hidden = np.where(np.arange(24) < 10, y, np.nan)
    model = BayesianCoTrainingClassifier(**FORMS[form]).fit({"words": counts, "noise": dense}, hidden)
    assert_sound(model, {"words": counts, "noise": dense})
    if form == "default":  # a consensus with a view of noise, or distances of raw counts, hardly tell the classes apart
        assert (model.transduction_[10:] == y[10:]).mean() > 0.8


def test_sparse_views_are_not_made_dense(monkeypatch):
    counts, y = wide_counts(p=40_000)

    def refuse(self, *args, **kwargs):
        if self.shape[1] == 40_000:
            raise AssertionError("made dense")
        return original(self, *args, **kwargs)

    original = sp.csr_array.toarray
    monkeypatch.setattr(sp.csr_array, "toarray", refuse)
    model = BayesianCoTrainingClassifier(n_components=5).fit([counts, counts[:, :300]], y.astype(float))
    assert model.predict_proba([counts[:3], counts[:3, :300]]).shape == (3, 2)


@pytest.mark.parametrize("form", FORMS)
def test_single_precision_and_integers_give_the_same(form):
    blocks, signal = tables(16, 2, missing=0.0)
    blocks = [np.round(4 * block) for block in blocks]
    y = labels(signal, 10)
    plain = BayesianCoTrainingClassifier(**FORMS[form]).fit(blocks, y)
    for dtype in (np.float32, np.int16):
        model = BayesianCoTrainingClassifier(**FORMS[form]).fit([block.astype(dtype) for block in blocks], y)
        np.testing.assert_allclose(model.label_distributions_, plain.label_distributions_, rtol=1e-10)
        fresh = [block[:3].astype(dtype) for block in blocks]
        np.testing.assert_allclose(model.predict_proba(fresh), plain.predict_proba(blocks)[:3], rtol=1e-10)


@pytest.mark.parametrize("variance", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("low_rank", [False, True])
def test_extreme_view_variances_keep_answers_sound(variance, low_rank):
    views, signal = problem(16, 2)
    rank = {"n_components": 5} if low_rank else {}
    model = BayesianCoTrainingClassifier(
        "rbf", hyperparameters="fixed", view_variances=variance, amplitude=4.0, **rank
    ).fit(views, labels(signal, 10))
    assert_sound(model, views)
    limit = BayesianCoTrainingClassifier(
        "rbf", hyperparameters="fixed", view_variances=np.inf, amplitude=4.0, **rank
    ).fit(views, labels(signal, 10))
    difference = np.abs(model.label_distributions_ - limit.label_distributions_).max()
    assert difference < 1e-4 if variance > 1 else difference > 1e-3


@pytest.mark.parametrize("amplitude", [1e-8, 1e8])
def test_extreme_amplitudes_keep_answers_sound(amplitude):
    views, signal = problem(16, 2)
    model = BayesianCoTrainingClassifier("rbf", hyperparameters="fixed", amplitude=amplitude)
    model.fit(views, labels(signal, 10))
    assert_sound(model, views)
    if amplitude < 1:
        np.testing.assert_allclose(model.label_distributions_, 0.5, atol=1e-6)
    else:
        assert (model.transduction_[:10] == labels(signal, 10)[:10]).all()


def test_more_components_than_anything_has():
    views, signal = problem(9, 2)
    model = BayesianCoTrainingClassifier(n_components=500, random_state=0).fit(views, labels(signal, 7))
    assert_sound(model, views)


@pytest.mark.parametrize("form", ["default", "mean", "consensus"])
def test_two_samples_and_one_column(form):
    model = BayesianCoTrainingClassifier(**FORMS[form]).fit(
        [np.array([[0.0], [1.0]]), np.array([[5.0], [np.nan]])], [0, 1]
    )
    assert model.transduction_.tolist() == [0, 1]
    regressor = BayesianCoTrainingRegressor(**FORMS[form]).fit([np.array([[0.0], [1.0]])], [0.0, 1.0])
    assert regressor.transduction_[0] < regressor.transduction_[1]


def test_each_missingness_pattern_with_one_sample():
    rng = np.random.default_rng(0)
    patterns = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], dtype=bool)
    blocks = [np.where(held[:, None], rng.normal(size=(7, 2)), np.nan) for held in patterns.T]
    y = np.array([0.0, 1.0, 0.0, 1.0, np.nan, np.nan, np.nan])
    for form in FORMS.values():
        assert_sound(BayesianCoTrainingClassifier(**form).fit(blocks, y), blocks)


def test_views_that_no_sample_shares():
    rng = np.random.default_rng(0)
    first, second = np.full((12, 2), np.nan), np.full((12, 3), np.nan)
    first[:6], second[6:] = rng.normal(size=(6, 2)), rng.normal(size=(6, 3))
    y = np.array([0.0, 1.0, 0.0, np.nan, np.nan, np.nan, 1.0, 0.0, np.nan, np.nan, np.nan, np.nan])
    for form in FORMS.values():
        assert_sound(BayesianCoTrainingClassifier(**form).fit([first, second], y), [first, second])
    K = CoTrainingKernelTransformer("rbf").fit_transform([first, second])
    assert not K[:6, 6:].any()


def test_a_few_thousand_samples_in_feature_space():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=3000)
    blocks = [np.column_stack([signal, rng.normal(size=3000)]), signal[:, None] + rng.normal(size=(3000, 1))]
    blocks[1][::3] = np.nan
    y = np.where(np.arange(3000) < 40, (signal > 0).astype(float), np.nan)
    model = BayesianCoTrainingClassifier(
        "linear", hyperparameters="fixed", view_variances=0.1, approximation="low_rank"
    )
    model.fit(blocks, y)
    assert (model.transduction_ == (signal > 0)).mean() > 0.85
    np.testing.assert_allclose(
        model.predict_proba([block[:9] for block in blocks]), model.label_distributions_[:9], rtol=1e-7
    )
