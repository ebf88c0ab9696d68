"""CoEMMixture as users meet it: clusters, classes, containers, absent views, starts, and input that is wrong."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, cross_val_score

from coview import Views
from coview.exceptions import ViewError
from coview.metrics import cluster_entropy
from coview.mixture import CoEMMixture

KINDS = ["multinomial", "gaussian", "categorical"]


def draw(seed=0, n=90):
    """Words, numbers and categories of three clusters; a fifth of the views absent, never all of a sample."""
    rng = np.random.default_rng(seed)
    cluster = np.arange(n) % 3
    words = rng.poisson(0.5 + 4.0 * np.kron(np.eye(3), np.ones((1, 4)))[cluster]).astype(float)
    numbers = rng.normal(size=(n, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[cluster]
    codes = np.where(rng.random((n, 3)) < 0.8, cluster[:, None], rng.integers(0, 3, (n, 3))).astype(float)
    presence = rng.random((n, 3)) < 0.8
    presence[np.arange(n), rng.integers(0, 3, n)] = True
    return cluster, [sparse.csr_array(words), numbers, codes], presence


def fit(**options):
    cluster, blocks, presence = draw()
    views = Views(blocks, presence=presence)
    settings = {"n_components": 3, "distributions": KINDS, "random_state": 0, "n_init": 2} | options
    return CoEMMixture(**settings).fit(views), views, cluster


@pytest.mark.parametrize("init", ["kmeans", "random"])
@pytest.mark.parametrize(
    "options", [{}, {"anneal": 5}, {"consensus": 0.5, "shared_prior": False, "schedule": "parallel"}]
)
def test_clusters_of_mixed_views(options, init):
    model, views, cluster = fit(init=init, **options)
    assert cluster_entropy(cluster, model.labels_) < 0.15
    assert model.converged_
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    np.testing.assert_allclose(model.predict_proba(views).sum(axis=1), 1.0)
    assert model.consensus_ == (0.0 if options.get("anneal") else options.get("consensus", 1.0))
    assert model.criterion_ == pytest.approx(model.criterion_terms_["q_multi_view"], rel=1e-10)
    assert model.criterion_trace_[-1] == model.criterion_
    assert len(model.criterion_trace_) == model.n_iter_ + 1
    assert model.weights_.shape == ((3, 3) if options.get("shared_prior") is False else (3,))
    for posterior, averaged, present in zip(
        model.view_posteriors(views), model.averaged_posteriors(views), views.presence.T, strict=True
    ):
        np.testing.assert_array_equal(np.isnan(posterior[:, 0]), ~present)
        np.testing.assert_allclose(averaged[present].sum(axis=1), 1.0)


def test_annealing_is_em_in_the_end():
    """From the sweep on in which the weight is zero the log likelihood of the views rises."""
    scores = []
    for sweeps in range(4, 12):
        with pytest.warns(ConvergenceWarning, match="before it converged"):
            model, views, _ = fit(anneal=4, max_iter=sweeps, n_init=1, tol=0.0, smoothing=0.0, reg_covar=0.0)
        scores.append(model.score_samples(views).sum())
    assert (np.diff(scores) >= -1e-9).all()


def test_one_gaussian_view_is_the_mixture_of_scikit_learn():
    X = draw()[1][1]
    means, covariances, weights = (
        X[:3] + np.eye(3, 2),
        np.tile(np.eye(2), (3, 1, 1)),
        np.array([0.2, 0.3, 0.5]),
    )
    start = {"means": means, "covariances": covariances}
    with pytest.warns(ConvergenceWarning):
        ours = CoEMMixture(3, params_init=[start], weights_init=weights, reg_covar=1e-6, max_iter=7).fit(X)
    theirs = GaussianMixture(
        3, weights_init=weights, means_init=means, precisions_init=covariances, reg_covar=1e-6, max_iter=7, tol=0.0
    )
    with pytest.warns(ConvergenceWarning):
        theirs.fit(X)
    np.testing.assert_allclose(ours.params_[0]["means"], theirs.means_, rtol=1e-8)
    np.testing.assert_allclose(ours.params_[0]["covariances"], theirs.covariances_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(ours.weights_, theirs.weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    assert ours.score(X) == pytest.approx(theirs.score(X))


def test_values_under_a_false_mask_sparse_or_dense_change_nothing():
    _, (words, numbers, codes), presence = draw()
    expected, views, _ = fit()
    hidden = [np.where(present[:, None], block, fill) for block, present, fill in zip(
        (words.toarray(), numbers, codes), presence.T, (-3.0, 1e9, 0.5), strict=True
    )]  # fmt: skip
    other = CoEMMixture(3, distributions=KINDS, random_state=0, n_init=2).fit(Views(hidden, presence=presence))
    np.testing.assert_allclose(other.predict_proba(views), expected.predict_proba(views), rtol=1e-9, atol=1e-12)
    gaps = [np.where(present[:, None], block, np.nan) for block, present in zip(hidden, presence.T, strict=True)]
    other = CoEMMixture(3, distributions=KINDS, random_state=0, n_init=2).fit(gaps)
    np.testing.assert_allclose(other.predict_proba(views), expected.predict_proba(views), rtol=1e-9, atol=1e-12)


def test_an_empty_document_is_observed_unless_presence_says_no():
    words, links = np.array([[3.0, 0], [0, 4], [0, 0], [2, 1]]), np.array([[1.0, 0], [0, 1], [0, 2], [2, 0]])
    start = [{"theta": [[0.8, 0.2], [0.3, 0.7]]}, {"theta": [[0.9, 0.1], [0.2, 0.8]]}]
    options = {"distributions": "multinomial", "params_init": start, "weights_init": [0.4, 0.6], "max_iter": 0}
    with pytest.warns(ConvergenceWarning):
        seen = CoEMMixture(2, **options).fit([sparse.csr_array(words), links])
    presence = np.array([[True, True]] * 2 + [[False, True]] + [[True, True]])
    absent = Views([words, links], presence=presence)
    np.testing.assert_allclose(seen.view_posteriors([words, links])[0][2], [0.4, 0.6])
    assert np.isnan(seen.view_posteriors(absent)[0][2]).all()
    own = seen.view_posteriors(absent)[1][2]
    np.testing.assert_allclose(seen.averaged_posteriors(absent)[1][2], own)
    np.testing.assert_allclose(seen.averaged_posteriors([words, links])[1][2], [0.4, 0.6])


def test_samples_without_views_have_the_prior_and_views_nobody_has_say_nothing():
    cluster, blocks, presence = draw()
    presence[4] = False
    model = CoEMMixture(3, distributions=KINDS, random_state=0, n_init=1).fit(Views(blocks, presence=presence))
    views = Views(blocks, presence=presence)
    np.testing.assert_allclose(model.predict_proba(views)[4], model.weights_)
    assert model.score_samples(views)[4] == 0.0
    ghost = np.column_stack([presence, np.zeros(len(cluster), dtype=bool)])
    for kind in KINDS:
        wide = Views([*blocks, np.ones((len(cluster), 2))], presence=ghost)
        other = CoEMMixture(3, distributions=[*KINDS, kind], random_state=0, n_init=1).fit(wide)
        new = Views([*blocks, np.ones((len(cluster), 2))])
        np.testing.assert_allclose(other.predict_proba(new), model.predict_proba(Views(blocks)), rtol=1e-9, atol=1e-12)
        assert np.isnan(other.view_posteriors(new)[3]).all()
        first = model.averaged_posteriors(Views(blocks))[0]
        np.testing.assert_allclose(other.averaged_posteriors(new)[0], first, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", ["list", "dict by name", "with priors", "weights inside"])
def test_forms_of_a_given_start(form):
    params = [{"theta": np.array([[0.5, 0.5], [0.2, 0.8]])}, {"theta": np.array([[0.6, 0.4], [0.1, 0.9]])}]
    priors = np.array([[0.3, 0.7], [0.6, 0.4]])
    given = {
        "list": {"params_init": params, "weights_init": priors},
        "dict by name": {"params_init": dict(zip(["view_0", "view_1"], params, strict=True)), "weights_init": priors},
        "with priors": {"params_init": {"params": params, "priors": priors}},
        "weights inside": {"params_init": [v | {"weights": w} for v, w in zip(params, priors, strict=True)]},
    }[form]
    X = [np.array([[1.0, 2.0], [3.0, 1.0]])] * 2
    with pytest.warns(ConvergenceWarning):
        model = CoEMMixture(2, distributions="multinomial", shared_prior=False, max_iter=0, **given).fit(X)
    np.testing.assert_array_equal(model.weights_, priors)
    np.testing.assert_array_equal(model.params_[1]["theta"], params[1]["theta"])


def test_a_component_with_prior_zero_keeps_its_parameters():
    params = [{"means": [[0.0], [5.0], [9.0]], "covariances": [[[1.0]], [[2.0]], [[0.25]]]}]
    X = np.array([[0.0], [1.0], [4.0], [6.0]])
    model = CoEMMixture(3, params_init=params, weights_init=[0.5, 0.5, 0.0]).fit(X)
    assert model.weights_[2] == 0.0
    assert model.params_[0]["means"][2, 0] == 9.0
    assert model.params_[0]["covariances"][2, 0, 0] == 0.25


def test_stored_zeros_are_no_words():
    """Without smoothing a word that a component excludes may be stored as a zero."""
    stored = sparse.csr_array((np.array([1.0, 0.0, 2.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    start = [{"theta": [[1.0, 0.0], [0.0, 1.0]]}]
    with pytest.warns(ConvergenceWarning):
        model = CoEMMixture(2, params_init=start, smoothing=0.0, max_iter=1).fit([stored])
    np.testing.assert_array_equal(model.predict_proba([stored]), np.eye(2))
    np.testing.assert_array_equal(model.params_[0]["theta"], np.eye(2))
    assert stored.nnz == 3


def test_categories_missing_features_and_unseen_ones():
    """A missing feature, or a category not met in training, leaves the other features to decide."""
    codes = np.array([[0, 0, np.nan], [0, 0, 0], [1, 2, 1], [1, 2, 1.0]])
    model = CoEMMixture(2, distributions="categorical", random_state=0).fit(codes)
    (tables,) = (view["probabilities"] for view in model.params_)
    assert [table.shape for table in tables] == [(2, 2), (2, 3), (2, 2)]
    np.testing.assert_allclose([table.sum(axis=1) for table in tables], 1.0)
    unseen, gap = np.array([[0, 7, 0.0]]), np.array([[0, np.nan, 0.0]])
    np.testing.assert_array_equal(model.predict_proba(unseen), model.predict_proba(gap))
    again = CoEMMixture(2, distributions="categorical", params_init=model.params_, weights_init=model.weights_)
    np.testing.assert_allclose(again.fit(codes).predict_proba(codes), model.predict_proba(codes), atol=1e-3)


def test_labels_clamp_and_give_classes():
    cluster, blocks, presence = draw()
    views, names = Views(blocks, presence=presence), np.array(["c", "a", "b"], dtype=object)[cluster]
    y = np.where(np.arange(90) < 9, names, None)
    y[0] = "a"  # a wrong label is kept all the same
    model = CoEMMixture(distributions=KINDS, random_state=0).fit(views, y)
    assert is_classifier(model)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.classes_[model.component_classes_[model.labels_]][0] == "a"
    assert (model.classes_[model.labels_][1:9] == names[1:9]).all()
    assert (model.predict(views)[9:] == names[9:]).mean() > 0.97
    assert model.score(views[9:], names[9:]) == (model.predict(views[9:]) == names[9:]).mean()
    assert model.predict_proba(views).shape == (90, 3)
    model.set_params(n_components=3).fit(views)
    assert not hasattr(model, "classes_")
    assert set(model.predict(views)) == {0, 1, 2}


def test_several_components_for_a_class(capsys):
    """Four clusters of two classes: the classes' posteriors are sums over their components."""
    rng = np.random.default_rng(2)
    place = np.arange(120) % 4
    X = [np.array([[0, 0], [6, 0], [6, 6], [0, 6]])[place] + rng.normal(size=(120, 2)) for _ in range(2)]
    y = np.where(np.arange(120) < 20, place % 2, -1)  # diagonal corners share a class
    model = CoEMMixture(4, random_state=0, verbose=1).fit(X, np.where(y == 1, 7, y))
    assert capsys.readouterr().out.count("sweeps") == 10  # how a class is shared out is tried more than once
    assert model.component_classes_.tolist() == [0, 1, 0, 1]
    assert model.classes_.tolist() == [0, 7]
    assert ((model.predict(X) == 7) == (place % 2 == 1)).mean() > 0.97
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], model.responsibilities(X)[:, [1, 3]].sum(axis=1))
    assert cluster_entropy(place, model.labels_) < 0.1


def test_a_class_without_labels():
    """Declared, but met in no label: probability zero. Without any label at all there are no classes to learn."""
    cluster, blocks, presence = draw()
    views = Views(blocks, presence=presence)
    y = np.where((cluster < 2) & (np.arange(90) < 30), cluster, -1)
    model = CoEMMixture(distributions=KINDS, classes=[0, 1, 2], random_state=0).fit(views, y)
    assert (model.predict_proba(views)[:, 2] == 0.0).all()
    with pytest.raises(ValueError, match=r"No sample of y is labeled.*leave y out"):
        model.fit(views, np.full(90, -1))


def test_scikit_learn_takes_views_as_they_are():
    cluster, blocks, presence = draw()
    views = Views(blocks, presence=presence)
    search = GridSearchCV(CoEMMixture(distributions=KINDS, random_state=0), {"consensus": [0.0, 1.0]}, cv=2)
    assert search.fit(views, cluster).best_score_ > 0.9
    assert np.isfinite(cross_val_score(CoEMMixture(3, distributions=KINDS, random_state=0), views, cv=2)).all()


def test_copies_seeds_and_threads():
    model, views, _ = fit()
    same, _, _ = fit(n_jobs=2)
    np.testing.assert_array_equal(same.predict_proba(views), model.predict_proba(views))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(views), model.predict_proba(views))
    assert not hasattr(clone(model), "criterion_")


def test_scale_of_numbers_does_not_matter():
    numbers = draw()[1][1]
    model = CoEMMixture(3, random_state=0, n_init=1)
    expected = model.fit([numbers, numbers]).predict_proba([numbers, numbers])
    for scale in ([1e-8, 1e8], [1e8, 1e8], [1e-8, 1e-8]):
        X = [numbers * scale, numbers]
        # the relative change that ends a run is not free of scale: logarithms of scales are part of the criterion
        np.testing.assert_allclose(model.fit(X).predict_proba(X), expected, atol=0.01)


def test_repeated_rows_and_fewer_distinct_rows_than_components():
    X = np.repeat(np.array([[0.0, 1.0], [5.0, 5.0]]), 10, axis=0)
    with pytest.warns(UserWarning, match="without samples in 1 of its components"):
        model = CoEMMixture(3, random_state=0).fit([X, X])
    assert len(set(model.labels_[:10]) & set(model.labels_[10:])) == 0
    assert np.isfinite(model.score_samples([X, X])).all()


@pytest.mark.slow
def test_reference_experiment():
    """Orderings of the mean entropy over 40 problems, as the reference file states them."""

    def problem(seed):
        rng = np.random.default_rng(seed)
        cluster = rng.integers(0, 3, 300)
        theta = [rng.dirichlet(np.full(30, 0.35), 3) for _ in range(2)]
        return cluster, [np.array([rng.multinomial(12, view[c]) for c in cluster], dtype=float) for view in theta]

    def entropy(cluster, X, params_init=None, **options):
        model = CoEMMixture(
            3, distributions="multinomial", smoothing=0.1, init="random", n_init=1, max_iter=60, random_state=cluster[:50].sum(),
            params_init=params_init, **options,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # 60 sweeps, converged or not
            return cluster_entropy(cluster, model.fit(X).labels_)

    found: dict[str, list[float]] = {}
    for seed in range(40):
        cluster, X = problem(seed)
        rng = np.random.default_rng(1000 + seed)
        apart = [{"theta": (rng.dirichlet(np.ones(3), 300).T @ view + 0.1)} for view in X]
        apart = [{"theta": view["theta"] / view["theta"].sum(axis=1, keepdims=True)} for view in apart]
        for name, options in {"1": {}, "annealed": {"anneal": 20}, "0": {"consensus": 0.0}}.items():
            found.setdefault(f"{name} aligned", []).append(entropy(cluster, X, **options))
            found.setdefault(f"{name} apart", []).append(entropy(cluster, X, apart, **options))
    means = {name: np.mean(values) for name, values in found.items()}
    assert max(means[f"{name} {start}"] for name in ("1", "annealed") for start in ("aligned", "apart")) < min(
        means["0 aligned"], means["0 apart"]
    )
    assert means["0 aligned"] < means["0 apart"]
    assert means["1 aligned"] < 0.017 + 3 * 0.017  # the reference's mean and standard error


def test_defaults_by_kind_of_view_and_verbose(capsys):
    _, (words, numbers, _), _ = draw()
    model = CoEMMixture(3, random_state=0, n_init=3, verbose=1).fit([words, numbers])
    assert model.distributions_ == ["multinomial", "gaussian"]
    assert capsys.readouterr().out.count("[CoEMMixture]") == 3
    chosen = CoEMMixture(3, distributions={"view_1": "multinomial"}, random_state=0).fit([words, numbers * 0 + 1])
    assert chosen.distributions_ == ["multinomial", "multinomial"]


def test_fractional_counts_are_allowed_and_negative_ones_are_not():
    cluster, (words, _, _), _ = draw()
    half = CoEMMixture(3, random_state=0).fit([words * 0.5])
    assert cluster_entropy(cluster, half.labels_) < 0.3
    words = words.copy()
    words.data[[0, 3]] = -1.0
    with pytest.raises(ViewError, match=r"view 'view_0' is multinomial.*2 of them are negative"):
        CoEMMixture(3).fit([words])
    with pytest.raises(ViewError, match="Negative values"):
        half.predict([words])


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([np.eye(4)], {"consensus": 1.1}, r"consensus.*\[0.0, 1.0\]|consensus.*\[0, 1\]"),
        ([np.eye(4)], {"consensus": -0.1}, "consensus"),
        ([np.eye(4)], {"distributions": "poisson"}, "multinomial, gaussian, categorical; got 'poisson'"),
        ([np.eye(4)], {"distributions": ["gaussian"] * 2}, "2 entries for 1 views"),
        ([np.eye(4)], {"distributions": {"text": "gaussian"}}, "views that X does not have: .'text'"),
        ([np.eye(4)], {"n_components": 5}, "n_samples=4 is less than n_components=5"),
        ([np.eye(4)], {"n_components": None}, "requires y to be passed"),
        ([sparse.csr_array(np.eye(4))], {"distributions": "gaussian"}, "'view_0' is sparse.*must be dense"),
        ([np.eye(4) * 0.5], {"distributions": "categorical"}, "codes 0, 1, 2.*got 0.5"),
        ([np.eye(4) * 1e7], {"distributions": "categorical"}, "code 1e.07, beyond 100000"),
        ([np.where(np.eye(4) > 0, np.nan, 1.0)], {}, "NaN.*view_0"),
        ([np.full((4, 2), np.nan)], {}, "No sample has any view"),
        ([np.eye(4)], {"params_init": [{"means": np.zeros((2, 4))}]}, "lacks 'covariances'"),
        ([np.eye(4)], {"params_init": [{"means": np.zeros((2, 3)), "covariances": np.ones((2, 4))}]}, r"\(2, 4, 4\)"),
        ([np.eye(4)], {"params_init": [{}, {}]}, "2 entries for 1 views"),
        ([np.eye(4)], {"weights_init": [0.5, 0.6]}, "sum to one"),
        ([np.eye(4)], {"weights_init": [0.5, 0.25, 0.25]}, r"shape \(2,\)"),
    ],
)  # fmt: skip
def test_input_that_is_wrong(X, options, message):
    with pytest.raises(ValueError, match=message):
        CoEMMixture(**({"n_components": 2} | options)).fit(X)


def test_words_that_sum_to_more_than_one():
    start = [{"theta": [[0.5, 0.6], [0.5, 0.5]]}]
    with pytest.raises(ValueError, match="theta of view 'view_0' must be probabilities"):
        CoEMMixture(2, distributions="multinomial", params_init=start).fit([np.ones((3, 2))])


def test_components_left_without_samples_are_named():
    rng = np.random.default_rng(0)
    group = np.arange(60) % 2
    views = [np.array([rng.multinomial(20, np.eye(2)[g] * 0.8 + 0.1) for g in group], dtype=float) for _ in range(2)]
    start = [{"theta": np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])} for _ in views]
    with pytest.warns(UserWarning, match=r"without samples in 1 of its components: 2\. Where views have many words"):
        model = CoEMMixture(3, distributions="multinomial", params_init=start).fit(views)
    assert np.bincount(model.labels_, minlength=3)[2] == 0
