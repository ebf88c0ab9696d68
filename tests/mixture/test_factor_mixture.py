"""The density: units, choices, factor scores, draws, and input at the edge."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.decomposition import FactorAnalysis
from sklearn.exceptions import ConvergenceWarning

from coview import Views
from coview.exceptions import ViewError
from coview.mixture import FactorMixture


def planes(seed=0, n=160):
    """Two views of two groups on lines; a quarter of the rows misses the second view, single features too."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    A = rng.normal(size=(2, 6, 1))
    X = 4 * kind[:, None] + np.einsum("nd,npd->np", rng.normal(size=(n, 1)), A[kind]) + 0.3 * rng.normal(size=(n, 6))
    X[::4, 3:] = np.nan
    X[1::7, 1] = np.nan
    return X, kind


def as_views(X):
    return [X[:, :3], X[:, 3:]]


def test_bic_finds_the_groups_and_their_planes():
    X, kind = planes()
    model = FactorMixture(n_factors=1, n_init=2, random_state=0).fit(as_views(X))
    assert model.n_components_ == 2
    assert min(model.bic_by_n_components_, key=model.bic_by_n_components_.get) == 2
    agree = (model.predict(as_views(X)) == kind).mean()
    assert max(agree, 1 - agree) > 0.98
    np.testing.assert_allclose(model.bic(as_views(X)), model.bic_by_n_components_[2] + 2 * volume(model, X), rtol=1e-9)
    n_parameters = 2 * (6 + 6) + 1 + 1
    np.testing.assert_allclose(model.bic(as_views(X)) - model.aic(as_views(X)), n_parameters * (np.log(160) - 2))


def test_rotations_of_the_factors_are_no_parameters():
    X, _ = planes()
    model = FactorMixture(2, 3, n_init=1, random_state=0).fit(X)
    n_parameters = 2 * (6 + 3 * 6 - 3) + 1 + 1
    np.testing.assert_allclose(model.bic(X) - model.aic(X), n_parameters * (np.log(160) - 2))


def volume(model, X):
    return float((~np.isnan(X) @ np.log(model.feature_scales_)).sum())


def test_one_component_with_learned_noise_is_probabilistic_pca():
    """The maximum likelihood of one component is known in closed form (Tipping and Bishop 1999)."""
    X, _ = planes()
    X = np.where(np.isnan(X), 0.0, X)
    model = FactorMixture(1, 2, standardize=False, tol=1e-11, max_iter=5_000, n_init=1, random_state=0).fit(X)
    values, axes = np.linalg.eigh(np.cov(X.T, bias=True))
    noise = values[:4].mean()
    covariance = noise * np.eye(6) + (axes[:, 4:] * (values[4:] - noise)) @ axes[:, 4:].T
    np.testing.assert_allclose(model.noise_variance_, noise, rtol=1e-5)
    best = multivariate_normal.logpdf(X, X.mean(axis=0), covariance).mean()
    np.testing.assert_allclose(model.score(X), best, rtol=1e-8)
    assert model.score(X) <= FactorAnalysis(2, tol=1e-8, max_iter=5000).fit(X).score(
        X
    )  # which frees the noise by feature


def test_densities_are_in_the_units_of_the_features():
    """Standardized or not, and after a change of units, the density is one of the values as they came."""
    X, _ = planes()
    X = np.where(np.isnan(X), 0.0, X)
    model = FactorMixture(2, 1, n_init=1, random_state=0).fit(X)
    scale = model.feature_scales_
    cov = model.loadings_ @ model.loadings_.mT + model.noise_variance_ * np.eye(6)
    parts = [
        w * multivariate_normal.pdf(X, model.feature_means_ + scale * m, c * np.outer(scale, scale))
        for w, m, c in zip(model.weights_, model.means_, cov, strict=True)
    ]
    np.testing.assert_allclose(model.score_samples(X), np.log(sum(parts)), rtol=1e-8)
    units = np.array([1e-8, 1e8, 1.0, 1e3, 1e-3, 10.0])
    other = FactorMixture(2, 1, n_init=1, random_state=0).fit(X * units)
    np.testing.assert_allclose(other.score_samples(X * units), model.score_samples(X) - np.log(units).sum(), rtol=1e-6)
    np.testing.assert_allclose(other.responsibilities(X * units), model.responsibilities(X), atol=1e-6)


def test_factor_scores_are_weighted_moments_side_by_side():
    X, _ = planes()
    model = FactorMixture(2, 2, n_init=1, random_state=0).fit(as_views(X))
    mean, second = model.factor_moments(as_views(X))
    scores = model.transform(as_views(X))
    assert scores.shape == (160, 4)
    np.testing.assert_allclose(scores[:, 2:], model.responsibilities(as_views(X))[:, [1]] * mean[:, 1])
    assert (np.linalg.eigvalsh(second - mean[..., :, None] * mean[..., None, :]) > 0).all()
    assert model.set_output(transform="pandas").transform(as_views(X)).columns[3] == "factormixture3"


def test_trace_rises_to_the_score_and_the_warning_comes_once():
    X, _ = planes()
    model = FactorMixture(2, 1, n_init=1, random_state=0).fit(as_views(X))
    assert np.diff(model.log_likelihood_trace_).min() > -1e-9
    np.testing.assert_allclose(model.log_likelihood_trace_[-1], 160 * model.score(as_views(X)))
    assert model.converged_
    with pytest.warns(ConvergenceWarning, match="FactorMixture stopped after 2 iterations") as caught:
        FactorMixture(2, 1, max_iter=2, n_init=3, random_state=0).fit(as_views(X))
    assert len(caught) == 1


def test_more_starts_never_end_lower():
    X, _ = planes(1)
    ends = [
        FactorMixture(4, 1, init="random", n_init=k, random_state=0, n_jobs=2).fit(X).log_likelihood_trace_[-1]
        for k in (1, 6)
    ]
    assert ends[1] >= ends[0]


def test_draws_have_the_moments_of_the_model():
    X, _ = planes()
    model = FactorMixture(2, 1, n_init=1, random_state=0).fit(as_views(X))
    drawn, components = model.sample(4000, random_state=0)
    np.testing.assert_allclose(np.bincount(components) / 4000, model.weights_, atol=0.03)
    mean = model.feature_means_ + model.feature_scales_ * (model.weights_ @ model.means_)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.2)
    first = drawn[components == 0]
    expected = model.loadings_[0] @ model.loadings_[0].T + model.noise_variance_ * np.eye(6)
    np.testing.assert_allclose(np.cov((first / model.feature_scales_).T), expected, atol=0.15)
    np.testing.assert_array_equal(model.sample(3)[0], model.sample(3)[0])


def test_pickle_clone_and_a_second_fit():
    X, _ = planes()
    model = FactorMixture(2, 1, n_init=1, random_state=0).fit(as_views(X))
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.transform(as_views(X)), model.transform(as_views(X)))
    again = clone(model).fit(planes(2)[0]).fit(as_views(X))
    np.testing.assert_array_equal(again.means_, model.means_)
    assert set(vars(again)) == set(vars(model))


def test_rows_and_features_without_values():
    X, _ = planes()
    X[5] = np.nan
    X[:, 2] = np.nan
    model = FactorMixture(2, 1, n_init=1, random_state=0).fit(X)
    np.testing.assert_allclose(model.score_samples(X)[5], 0.0, atol=1e-12)
    np.testing.assert_allclose(model.responsibilities(X)[5], model.weights_)
    np.testing.assert_array_equal(model.means_[:, 2], 0.0)
    assert np.isfinite(model.transform(X)).all()
    without = FactorMixture(2, 1, n_init=1, random_state=0).fit(np.delete(X, 2, axis=1))
    np.testing.assert_allclose(without.score(np.delete(X, 2, axis=1)), model.score(X), atol=0.05)


@pytest.mark.parametrize(
    ("X", "settings"),
    [
        (np.random.default_rng(0).normal(size=(20, 1)), {}),
        (np.random.default_rng(0).normal(size=(10, 40)), {"n_components": 2}),
        (np.random.default_rng(0).normal(size=(30, 2)), {"n_factors": 4, "noise_variance": 0.5}),
        (np.tile([1.0, 2.0, 3.0, 4.0], (15, 1)), {"n_components": 2}),
        (np.array([[1.0, 2.0, 3.0, 5.0]]), {}),
        (1e8 + np.random.default_rng(0).normal(size=(30, 4)), {"n_components": 2}),
    ],
    ids=[
        "one feature",
        "more features than rows",
        "more factors than features",
        "repeated",
        "one row",
        "offset",
    ],
)
def test_input_at_the_edge_gives_finite_answers(X, settings):
    model = FactorMixture(**({"random_state": 0, "n_init": 2, "noise_variance": "learn"} | settings)).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.transform(X)).all()
    np.testing.assert_allclose(model.responsibilities(X).sum(axis=1), 1.0)


def test_a_fit_to_nothing_is_refused():
    with pytest.raises(ViewError, match="Not one value is observed"):
        FactorMixture(2, 1).fit(np.full((6, 4), np.nan))


def test_a_row_far_away_gets_finite_responsibilities():
    X, _ = planes()
    model = FactorMixture(2, 1, n_init=1, random_state=0).fit(X)
    far = np.full((1, 6), 1e12)
    assert np.isfinite(model.score_samples(far)).all()
    assert np.isfinite(model.responsibilities(far)).all()


def test_learned_noise_beside_too_many_factors_is_announced():
    X, _ = planes()
    with pytest.warns(ConvergenceWarning, match=r"5 factors of 6 features leave undetermined.*Lower n_factors"):
        FactorMixture(1, 5, n_init=1, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights_init": [0.5, 0.6]}, r"weights_init must be non-negative and add up to 1"),
        ({"means_init": np.zeros((2, 5))}, r"means_init must have the shape \(2, 6\).*it has \(2, 5\)"),
        ({"loadings_init": np.zeros((2, 6, 3))}, r"loadings_init must have the shape \(2, 6, 1\)"),
    ],
)
def test_starts_that_do_not_fit_are_refused(settings, message):
    X, _ = planes()
    with pytest.raises(ValueError, match=message):
        FactorMixture(2, 1, **settings).fit(X)


def test_sparse_views_are_refused():
    with pytest.raises(ValueError, match="is sparse, and this method needs dense views"):
        FactorMixture().fit(Views({"a": sparse.csr_array(np.eye(4)), "b": np.eye(4)}))
