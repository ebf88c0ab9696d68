"""The semi-supervised classifier: label-free views, any subset of views, labels of every kind, input at the edge."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

from coview.mixture import FactorMixtureClassifier


def label_free(seed=0, n=120):
    """Two views of three groups, two classes; the first half has the first view and labels, the rest both and none."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    first = 4 * np.eye(3)[kind] @ rng.normal(size=(3, 3)) + rng.normal(size=(n, 3))
    second = 6 * np.eye(3)[kind] @ rng.normal(size=(3, 2)) + rng.normal(size=(n, 2))
    new = second.copy()
    second[: n // 2] = np.nan
    y = np.where(kind == 2, "ill", "well").astype(object)
    return {"heard": first, "seen": second}, np.where(np.arange(n) < n // 2, y, None), {"seen": new}, y


def test_a_view_without_any_label_predicts():
    views, partly, new, y = label_free()
    model = FactorMixtureClassifier(3, 1, n_init=3, random_state=0).fit(views, partly)
    assert list(model.classes_) == ["ill", "well"]
    assert (model.predict(new) == y).mean() > 0.9
    assert (model.transduction_ == y).mean() > 0.95
    np.testing.assert_allclose(model.label_distributions_, model.predict_proba(views))
    assert model.score(new, y) == (model.predict(new) == y).mean()


def test_the_number_of_components_is_found_with_labels():
    views, partly, new, y = label_free()
    model = FactorMixtureClassifier(n_factors=1, random_state=0, n_init=3).fit(views, partly)
    assert model.n_components_ == 3
    assert min(model.bic_by_n_components_) == 2  # fewer components than classes could not tell them apart
    assert model.score(new, y) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_classes_from_any_subset_are_the_dense_marginals(seed):
    """Equation (17) by full covariance matrices cut to what is observed."""
    rng = np.random.default_rng(seed)
    views, partly, _, _ = label_free(seed)
    model = FactorMixtureClassifier(3, 2, noise_variance=0.3, n_init=1, random_state=0, class_smoothing=0.1).fit(
        views, partly
    )
    X = rng.normal(size=(12, 5))
    X[rng.random(X.shape) < 0.5] = np.nan
    X[0] = np.nan
    scaled = (X - model.feature_means_) / model.feature_scales_
    joint = np.tile(np.log(model.weights_), (12, 1))
    cov = model.loadings_ @ model.loadings_.mT + 0.3 * np.eye(5)
    for i, row in enumerate(scaled):
        o = np.flatnonzero(~np.isnan(row))
        for j in range(3) if len(o) else ():
            joint[i, j] += multivariate_normal.logpdf(row[o], model.means_[j, o], cov[j][np.ix_(o, o)])
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)) @ model.class_probabilities_
    got = model.predict_proba({"heard": X[:, :3], "seen": X[:, 3:]})
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(got[0], model.weights_ @ model.class_probabilities_)
    names = dict(zip(["heard", "seen"], [X[:, :3], X[:, 3:]], strict=True))
    for name, part in names.items():
        other = [value if key == name else np.full_like(value, np.nan) for key, value in names.items()]
        np.testing.assert_allclose(model.predict_proba({name: part}), model.predict_proba(other), rtol=1e-10)


def test_likelihoods_with_labels_add_over_classes():
    views, partly, _, _ = label_free()
    model = FactorMixtureClassifier(3, 1, n_init=3, random_state=0, class_smoothing=0.5).fit(views, partly)
    n = len(partly)
    each = [model.score_samples(views, np.full(n, name, dtype=object)) for name in model.classes_]
    np.testing.assert_allclose(logsumexp(each, axis=0), model.score_samples(views), rtol=1e-10)
    np.testing.assert_allclose(model.score_samples(views, partly).sum(), model.log_likelihood_trace_[-1])
    posterior = model.responsibilities(views, np.full(n, "ill", dtype=object))
    expected = model.responsibilities(views) * model.class_probabilities_[:, 0]
    np.testing.assert_allclose(posterior, expected / expected.sum(axis=1, keepdims=True), rtol=1e-8, atol=1e-12)


def test_criteria_count_the_class_probabilities():
    views, partly, _, _ = label_free()
    model = FactorMixtureClassifier(3, 1, n_init=3, random_state=0).fit(views, partly)
    n_parameters = 3 * (5 + 5 + 1) + 2 + 1
    difference = model.bic(views, partly) - model.aic(views, partly)
    np.testing.assert_allclose(difference, n_parameters * (np.log(len(partly)) - 2))


def test_draws_have_classes_and_the_shares_of_the_model():
    views, partly, _, _ = label_free()
    model = FactorMixtureClassifier(3, 1, n_init=3, random_state=0).fit(views, partly)
    X, y = model.sample(4000, random_state=0)
    assert X.shape == (4000, 5)
    prior = model.weights_ @ model.class_probabilities_
    np.testing.assert_allclose([(y == name).mean() for name in model.classes_], prior, atol=0.03)


def test_smoothing_is_a_pseudo_count():
    """With it no class is impossible; the counts of one component are those of the labels."""
    X, y = np.random.default_rng(0).normal(size=(8, 4)), np.array([0, 0, 0, 1, -1, -1, -1, -1])
    plain = FactorMixtureClassifier(1, 1, n_init=1, random_state=0).fit(X, y)
    smooth = FactorMixtureClassifier(1, 1, n_init=1, random_state=0, class_smoothing=2.0).fit(X, y)
    np.testing.assert_allclose(plain.class_probabilities_, [[0.75, 0.25]])
    np.testing.assert_allclose(smooth.class_probabilities_, [[5 / 8, 3 / 8]])


def test_a_declared_class_without_labels_has_no_probability_unless_smoothed():
    X, y = np.random.default_rng(0).normal(size=(8, 4)), np.array([0, 0, 0, 1, -1, -1, -1, -1])
    settings = {"n_components": 1, "n_factors": 1, "n_init": 1, "random_state": 0, "classes": [0, 1, 7]}
    assert FactorMixtureClassifier(**settings).fit(X, y).predict_proba(X)[0, 2] == 0.0
    assert FactorMixtureClassifier(**settings, class_smoothing=1e-2).fit(X, y).predict_proba(X)[0, 2] > 0.0


@pytest.mark.parametrize(
    "y", [[3, -1, 3, -1, -1, 3], ["a", None, "a", None, None, "a"], [2.0, np.nan, 2.0, np.nan, 2.0, 2.0]]
)
def test_one_class_has_probability_one(y):
    X = np.random.default_rng(0).normal(size=(6, 4))
    model = FactorMixtureClassifier(2, 1, noise_variance=0.5, n_init=1, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 1.0)
    assert set(model.predict(X)) == {model.classes_[0]}


@pytest.mark.parametrize("y", [np.full(6, np.nan), np.array([None] * 6), np.full(6, -1)])
@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_no_label_is_an_error_that_names_the_density(y, classes):
    X = np.random.default_rng(0).normal(size=(6, 4))
    message = "No sample of y is labeled" if classes is None else "fit the density alone with FactorMixture"
    with pytest.raises(ValueError, match=message):
        FactorMixtureClassifier(2, 1, classes=classes).fit(X, y)


def test_class_probabilities_given_stay_where_nothing_is_labeled():
    X, B = np.random.default_rng(0).normal(size=(20, 4)), [[0.9, 0.1], [0.3, 0.7]]
    model = FactorMixtureClassifier(2, 1, noise_variance=0.5, class_probabilities_init=B, n_init=1, random_state=0).fit(
        X, np.full(20, np.nan)
    )
    np.testing.assert_array_equal(model.class_probabilities_, B)
    assert list(model.classes_) == [0, 1]


def test_a_label_that_no_component_can_have_is_refused():
    X, B = np.random.default_rng(0).normal(size=(6, 4)), [[1.0, 0.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match=r"Sample 4 has the label 1, which has probability 0.*class_smoothing"):
        FactorMixtureClassifier(2, 1, class_probabilities_init=B).fit(X, [0, 0, -1, 0, 1, -1])


def test_a_label_that_no_component_has_learned_is_refused_in_new_samples():
    X, y = np.random.default_rng(0).normal(size=(8, 4)), [0, 0, 0, 0, -1, -1, -1, -1]
    settings = {"n_components": 1, "n_factors": 1, "n_init": 1, "random_state": 0, "classes": [0, 1]}
    model = FactorMixtureClassifier(**settings).fit(X, y)
    for method in (model.score_samples, model.responsibilities, model.bic):
        with pytest.raises(ValueError, match=r"Sample 2 has the label 1, which has probability 0"):
            method(X[:3], [-1, 0, 1])
    smoothed = FactorMixtureClassifier(**settings, class_smoothing=0.1).fit(X, y)
    assert np.isfinite(smoothed.score_samples(X[:3], [-1, 0, 1])).all()


def test_learning_stops_at_the_floor_and_warns_of_too_many_factors():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(ConvergenceWarning, match="undetermined"):
        model = FactorMixtureClassifier(1, 2, n_init=1, random_state=0).fit(X, np.arange(30) % 2)
    assert model.noise_variance_ > 0


def test_a_second_fit_forgets_the_first():
    views, partly, new, _ = label_free()
    used = FactorMixtureClassifier(3, 1, n_init=3, random_state=0)
    used.fit(views["heard"], np.arange(120) % 4)
    used.fit(views, partly)
    fresh = FactorMixtureClassifier(3, 1, n_init=3, random_state=0).fit(views, partly)
    np.testing.assert_array_equal(used.predict_proba(new), fresh.predict_proba(new))
    assert set(vars(used)) == set(vars(fresh))
