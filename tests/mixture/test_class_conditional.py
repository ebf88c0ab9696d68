"""Class-conditional mixtures: the golden density of active sensing, labels that count, classes that share."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from coview import Views
from coview.exceptions import ViewError
from coview.mixture import ClassConditionalGaussianMixture, IncompleteGaussianMixture

from ..golden.loader import GOLDEN, compare

FILE = json.loads((GOLDEN / "gp_active_sensing.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in FILE["cases"] if "gmm" in case["inputs"]}


def by_view(components):
    """(weights, means per view, covariances per view) of one class of the file."""
    n_views = len(components[0]["mu"])
    means = [np.array([part["mu"][j] for part in components]) for j in range(n_views)]
    covariances = [np.array([part["cov"][j] for part in components]) for j in range(n_views)]
    return [part["pi"] for part in components], means, covariances


def by_component(components):
    return [p["pi"] for p in components], [p["mu"] for p in components], [p["cov"] for p in components]


@pytest.mark.parametrize("layout", [by_view, by_component])
@pytest.mark.parametrize("name", CASES)
def test_golden_weights_of_the_components(name, layout):
    case = CASES[name]
    gmm = case["inputs"]["gmm"]
    prior = {int(label): value for label, value in gmm["prior"].items()}
    density = ClassConditionalGaussianMixture.from_parameters(prior, {c: layout(gmm[f"{c:+d}"]) for c in (1, -1)})
    blocks = [np.array([[np.nan] if row is None else row for row in view]) for view in case["inputs"]["X"]]
    y = np.array([np.nan if label is None else label for label in case["inputs"]["y"]])
    conditional = density.conditional(Views(blocks, names=["u", "v", "w"]), y)
    assert density.classes_.tolist() == [-1, 1]
    for candidate in case["expected"]["candidates"]:
        row = conditional[candidate["sample"]]
        got = np.zeros((2, 2))
        got.flat[density.component_classes_ * 2 + np.array([0, 1, 0, 1])] = row.weights
        want = np.zeros((2, 2))
        for part in candidate["conditional_weights"]:
            want[int(part["class"] == "+1"), part["component"]] = part["weight"]
        compare(got, want.tolist(), rtol=case["tolerance"]["rtol"], atol=case["tolerance"]["atol"], what=name)
        assert candidate["view"] in row.missing


def two_classes(seed=0, n=200, missing=0.3, labeled=0.2):
    """Two views; each class has two clusters, apart in both views."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(4, size=n)
    centers = np.array([[0, 0, 0.0], [6, 6, 0], [6, 0, 6], [0, 6, 6]])
    X = centers[cluster] + rng.normal(size=(n, 3))
    classes = np.array(["ill", "well"])[cluster // 2]
    X[np.ix_(rng.random(n) < missing, [0, 1])] = np.nan
    y = np.where(rng.random(n) < labeled, classes, None)
    return Views({"a": X[:, :2], "b": X[:, 2:]}), y, classes


def test_labels_and_clusters_together():
    views, y, classes = two_classes()
    model = ClassConditionalGaussianMixture(2, random_state=0).fit(views, y)
    both = views.presence.all(axis=1)
    assert model.score(views[both], classes[both]) > 0.95
    assert model.pooling_ == "none"
    assert model.component_classes_.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(model.class_prior_, [model.weights_[:2].sum(), model.weights_[2:].sum()])
    np.testing.assert_allclose(model.label_distributions_, model.predict_proba(views))
    assert model.transduction_.tolist() == model.predict(views).tolist()
    assert not model.covariances_[:, :2, 2:].any()
    nothing = {"b": np.full((1, 1), np.nan)}
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.class_prior_)
    assert np.diff(model.log_likelihood_trace_).min() > -1e-3


def test_all_labels_and_full_covariances_are_one_mixture_per_class():
    views, _, classes = two_classes(1)
    settings = {"covariance_type": "full", "reg_covar": 1e-6, "tol": 1e-9, "max_iter": 2000}
    model = ClassConditionalGaussianMixture(1, **settings).fit(views, classes)
    for c, label in enumerate(model.classes_):
        rows = np.flatnonzero(classes == label)
        alone = IncompleteGaussianMixture(1, **settings).fit(views[rows])
        np.testing.assert_allclose(model.means_[c], alone.means_[0], rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(model.covariances_[c], alone.covariances_[0], rtol=1e-2, atol=1e-2)
        assert model.class_prior_[c] == pytest.approx(len(rows) / len(classes))


def test_class_probabilities_are_bayes_rule():
    views, y, _ = two_classes(2)
    model = ClassConditionalGaussianMixture(2, random_state=0).fit(views, y)
    joint = []
    for c, prior in enumerate(model.class_prior_):
        own = model.component_classes_ == c
        part = IncompleteGaussianMixture.from_parameters(
            model.weights_[own] / prior, model.means_[own], model.covariances_[own], view_n_features={"a": 2, "b": 1}
        )
        joint.append(np.log(prior) + part.score_samples(views))
    total = np.logaddexp(*joint)
    np.testing.assert_allclose(model.score_samples(views), total, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(views).T, np.exp(np.array(joint) - total), atol=1e-9)


def test_a_label_rules_out_the_components_of_other_classes():
    views, y, classes = two_classes(3)
    model = ClassConditionalGaussianMixture(2, random_state=0).fit(views, y)
    labeled = model.conditional(views, classes).weights
    assert not labeled[classes == "ill"][:, 2:].any()
    assert not labeled[classes == "well"][:, :2].any()
    np.testing.assert_allclose(labeled.sum(axis=1), 1.0)
    unlabeled = model.conditional(views, np.full(len(classes), None, dtype=object)).weights
    np.testing.assert_array_equal(unlabeled, model.conditional(views).weights)
    series = pd.Series(classes, index=views.index)
    np.testing.assert_array_equal(model.conditional(views, series).weights, labeled)


@pytest.mark.parametrize(("n_labels", "pooling"), [(4, "covariance"), (40, "none")])
def test_classes_share_their_covariance_where_labels_are_few(n_labels, pooling):
    views, _, classes = two_classes(4)
    y = np.full(len(classes), None, dtype=object)
    for label in ("ill", "well"):
        rows = np.flatnonzero(classes == label)[: n_labels // 2]
        y[rows] = label
    model = ClassConditionalGaussianMixture(1, random_state=0).fit(views, y)
    assert model.pooling_ == pooling
    assert np.allclose(model.covariances_[0], model.covariances_[1]) == (pooling == "covariance")


def test_a_shared_density_is_that_without_labels():
    views, y, _ = two_classes(5)
    settings = {"covariance_type": "view", "tol": 1e-8, "max_iter": 3000, "reg_covar": 1e-6}
    model = ClassConditionalGaussianMixture(3, pooling="density", random_state=0, **settings).fit(views, y)
    alone = IncompleteGaussianMixture(3, random_state=0, **settings).fit(views)
    assert model.score_samples(views).mean() == pytest.approx(alone.score(views), abs=0.05)
    labels = y[pd.notna(y)]
    np.testing.assert_allclose(model.class_prior_, [(labels == label).mean() for label in model.classes_])
    np.testing.assert_allclose(model.predict_proba(views), np.broadcast_to(model.class_prior_, (len(y), 2)))
    assert model.component_classes_.tolist() == [-1, -1, -1]
    np.testing.assert_array_equal(model.conditional(views, y).weights, model.conditional(views).weights)
    assert set(model.set_params(random_state=0).sample(50)[1]) == {"ill", "well"}


def test_bic_finds_the_components_of_the_classes():
    views, y, _ = two_classes(6, 400, labeled=0.5)
    model = ClassConditionalGaussianMixture("auto", random_state=0).fit(views, y)
    assert model.n_components_ == 4
    assert min(model.bic_by_n_components_, key=model.bic_by_n_components_.get) == 2


def test_samples_come_with_their_classes():
    views, y, _ = two_classes(7)
    model = ClassConditionalGaussianMixture(2, random_state=0).fit(views, y)
    X, labels = model.sample(300)
    assert X.shape == (300, 3)
    assert (model.predict([X[:, :2], X[:, 2:]]) == labels).mean() > 0.95


def test_one_class_and_a_class_without_labels():
    views, _, _ = two_classes(8, 40)
    one = ClassConditionalGaussianMixture().fit(views, np.full(40, "ill"))
    np.testing.assert_array_equal(one.predict_proba(views), np.ones((40, 1)))
    model = ClassConditionalGaussianMixture(classes=["ill", "well"]).fit(views, np.full(40, "ill"))
    np.testing.assert_array_equal(model.predict_proba(views), np.array([[1.0, 0.0]]).repeat(40, axis=0))
    with pytest.raises(ValueError, match=r"probability 0: \['well'\]"):
        model.conditional(views, np.full(40, "well"))


def test_rows_and_views_with_nothing_observed():
    views, y, _ = two_classes(9, 60)
    blocks = {name: views.to_frame(name).to_numpy(copy=True) for name in views.names}
    blocks["a"][:] = np.nan
    blocks["b"][::5] = np.nan
    model = ClassConditionalGaussianMixture(2, random_state=0).fit(blocks, y)
    assert np.isfinite(model.predict_proba(blocks)).all()
    assert np.isfinite(model.conditional(blocks).mean()).all()


def test_a_fit_to_nothing_is_refused():
    with pytest.raises(ViewError, match="Not one value is observed"):
        ClassConditionalGaussianMixture().fit(np.full((4, 2), np.nan), ["a", "b", "a", "b"])


def test_auto_names_columns_of_few_values_that_it_followed():
    rng = np.random.default_rng(0)
    blocks = {"a": rng.normal(size=(200, 1)), "b": rng.integers(2, size=(200, 1)).astype(float)}
    with pytest.warns(UserWarning, match="no variation of column 0 of view 'b'"):
        ClassConditionalGaussianMixture("auto", random_state=0).fit(blocks, np.repeat(["a", "b"], 100))


def test_no_labels_raise_and_short_fits_warn():
    views, y, _ = two_classes(10, 60)
    with pytest.raises(ValueError, match="No sample of y is labeled"):
        ClassConditionalGaussianMixture().fit(views, np.full(60, None))
    with pytest.raises(ValueError, match="cannot be told apart"):
        ClassConditionalGaussianMixture(classes=["ill", "well"]).fit(views, np.full(60, None))
    with pytest.warns(ConvergenceWarning, match="ClassConditionalGaussianMixture stopped after 2 iterations"):
        ClassConditionalGaussianMixture(2, max_iter=2, random_state=0).fit(views, y)


COMPONENTS = {"a": ([1.0], [[[0.0]], [[1.0, 1.0]]], [[[[1.0]]], [np.eye(2)]])}


def test_known_densities_by_name():
    both = COMPONENTS | {"b": ([1.0], [[[4.0]], [[1.0, 1.0]]], [[[[1.0]]], [np.eye(2)]])}
    density = ClassConditionalGaussianMixture.from_parameters([0.5, 0.5], both, view_names=["u", "v"])
    assert density.predict({"u": [[0.5], [3.0]]}).tolist() == ["a", "b"]
    np.testing.assert_allclose(density.impute({"v": [[0.0, np.nan]]}), [[2.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("prior", "components", "message"),
    [
        ([0.5, 0.5], COMPONENTS, "one probability per class"),
        ({"b": 1.0}, COMPONENTS, "Name the same classes"),
        ([1.0], {"a": ([1.0], [[[0.0]]])}, r"must be \(weights, means per view, covariances per view\)"),
        ([1.0], {"a": ([1.0], [[[0.0]]], [])}, "means of 1 views and covariances of 0"),
        ([0.5, 0.5], COMPONENTS | {"b": ([1.0], [[[0.0]]], [[[[1.0]]]])}, "same views"),
        ([1.0], {}, "must be a dict"),
    ],
)
def test_wrong_parameters_raise(prior, components, message):
    with pytest.raises(ValueError, match=message):
        ClassConditionalGaussianMixture.from_parameters(prior, components)


def test_names_of_other_views_raise():
    with pytest.raises(ValueError, match="name each of the 2 views"):
        ClassConditionalGaussianMixture.from_parameters([1.0], COMPONENTS, view_names=["u"])
