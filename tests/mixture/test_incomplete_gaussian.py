"""The Gaussian mixture of incomplete views: golden values, scikit-learn's on complete data, properties, input at the edge."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.mixture import GaussianMixture

from coview import Views
from coview.exceptions import NotPositiveDefiniteError, ViewError
from coview.mixture import ConditionalMixture, IncompleteGaussianMixture

from ..golden.loader import GOLDEN, as_array, compare

FILE = json.loads((GOLDEN / "gmm_missing_golden.json").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in FILE["cases"]}
TYPES = ("full", "diag", "view", "factor")

stops_early = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def check(got, want, what):
    compare(got, want, **FILE["tolerance"], what=what)


def known(case):
    gmm = case["inputs"]["gmm"]
    return IncompleteGaussianMixture.from_parameters(gmm["weights"], gmm["means"], gmm["covariances"])


def started(case, **settings):
    gmm = case["inputs"]["gmm"]
    start = {f"{name}_init": gmm[name] for name in ("weights", "means", "covariances")}
    settings = {"reg_covar": case["inputs"]["reg_covar"], **settings}
    return IncompleteGaussianMixture(len(gmm["weights"]), **start, **settings)


def check_parameters(model, want, what):
    for name in ("weights", "means", "covariances"):
        check(getattr(model, f"{name}_"), want[name], f"{what}: {name}")


@pytest.mark.parametrize("name", CASES)
def test_golden_densities_and_conditionals(name):
    case = CASES[name]
    X, expected, mixture = as_array(case["inputs"]["X"]), case["expected"], known(case)
    check(mixture.score_samples(X), expected["sample_log_likelihood"], "log likelihood")
    check(mixture.score_samples(X).sum(), expected["log_likelihood"], "sum")
    check(mixture.responsibilities(X), expected["responsibilities"], "responsibilities")
    check(mixture.impute(X), expected["imputed"], "imputed")
    conditional = mixture.conditional(X)
    check(conditional.means, expected["completed_means"], "completed")
    check(conditional.covariances, expected["conditional_covariances"], "conditional covariances")
    for i, row in enumerate(conditional):
        assert row.missing.tolist() == np.flatnonzero(np.isnan(X[i])).tolist()
        square = np.ix_(range(len(row.weights)), row.missing, row.missing)
        np.testing.assert_allclose(row.weights, expected["responsibilities"][i], **FILE["tolerance"])
        np.testing.assert_allclose(row.means, conditional.means[i][:, row.missing], rtol=1e-12)
        np.testing.assert_allclose(row.covariances, conditional.covariances[i][square], rtol=1e-12)


@stops_early
@pytest.mark.parametrize("name", CASES)
def test_golden_path(name):
    case = CASES[name]
    X, path = as_array(case["inputs"]["X"]), case["expected"]["path"]
    model = started(case, max_iter=path["n_iter"]).fit(X)
    assert model.n_iter_ == path["n_iter"]
    check(model.log_likelihood_trace_, path["log_likelihood"], "trace")
    check_parameters(model, path["final"], "final")
    check(model.impute(X), path["imputed"], "imputed")
    check_parameters(started(case, max_iter=1).fit(X), case["expected"]["m_step"], "one step")
    check(started(case, max_iter=0).fit(X).score_samples(X), case["expected"]["sample_log_likelihood"], "no step")


@stops_early
@pytest.mark.parametrize("name", CASES)
def test_golden_blocks(name):
    case = CASES[name]
    X, blocks = as_array(case["inputs"]["X"]), np.array(case["inputs"]["blocks"])
    columns = {f"v{b}": np.flatnonzero(blocks == b).tolist() for b in np.unique(blocks)}
    want = case["expected"]["m_step_block_diagonal"]
    model = started(case, max_iter=1, covariance_type="view", view_columns=columns).fit(X)
    check_parameters(model, want, "column groups")
    model = started(case, max_iter=1, covariance_type="view").fit([X[:, part] for part in columns.values()])
    check_parameters(model, want, "several tables")


def clusters(seed=0, n=150, missing=0.0):
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0, 0.0, 0.0], [5.0, 5.0, 0.0, -3.0], [0.0, 6.0, 6.0, 3.0]])
    labels = np.arange(n) % 3
    X = centers[labels] + rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4))
    X[rng.random(X.shape) < missing] = np.nan
    return X, labels


@stops_early
@pytest.mark.parametrize("covariance_type", ["full", "diag", "view"])
def test_complete_data_give_scikit_learns_mixture(covariance_type):
    X, _ = clusters()
    kind = "diag" if covariance_type == "diag" else "full"  # of one view, a block is everything
    ours = IncompleteGaussianMixture(3, covariance_type=covariance_type, reg_covar=1e-6, max_iter=7)
    ours.set_params(means_init=X[:3], weights_init=np.full(3, 1 / 3), covariances_init=np.stack([np.eye(4)] * 3)).fit(X)
    theirs = GaussianMixture(3, covariance_type=kind, max_iter=7, tol=0.0, reg_covar=1e-6, means_init=X[:3])
    precisions = np.ones((3, 4)) if kind == "diag" else np.stack([np.eye(4)] * 3)
    theirs.set_params(precisions_init=precisions, weights_init=np.full(3, 1 / 3)).fit(X)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-9)
    want = theirs.covariances_ if kind == "full" else np.stack([np.diag(row) for row in theirs.covariances_])
    np.testing.assert_allclose(ours.covariances_, want, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    assert ours.bic(X) == pytest.approx(theirs.bic(X), rel=1e-9)
    assert ours.aic(X) == pytest.approx(theirs.aic(X), rel=1e-9)


def test_one_gaussian_on_complete_data_is_the_sample_covariance():
    X, _ = clusters()
    model = IncompleteGaussianMixture(reg_covar=0.0).fit(X)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.covariances_[0], np.cov(X.T, bias=True), rtol=1e-12)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_components_are_found_with_a_third_of_the_values_missing(covariance_type):
    X, labels = clusters(1, 240, missing=0.3)
    model = IncompleteGaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    found = model.predict(X)
    agreement = sum(np.bincount(labels[found == k], minlength=3).max() for k in range(3)) / len(labels)
    assert agreement > 0.8
    assert np.diff(model.log_likelihood_trace_).min() > -1e-3
    assert model.lower_bound_ == pytest.approx(model.score(X), rel=1e-9)
    assert model.covariances_.shape == (3, 4, 4)
    assert model.fit_predict(X).tolist() == found.tolist()
    np.testing.assert_array_equal(model.predict_proba(X), model.responsibilities(X))


@pytest.mark.parametrize("covariance_type", TYPES)
def test_bic_finds_the_number_of_components(covariance_type):
    rng = np.random.default_rng(0)
    X = np.array([[0, 0, 0, 0], [9, 9, 0, -6], [0, 9, 9, 6]])[np.arange(240) % 3] + rng.normal(size=(240, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    settings = {"covariance_type": covariance_type, "random_state": 0, "view_columns": {"a": [0, 1], "b": [2, 3]}}
    model = IncompleteGaussianMixture("auto", **settings).fit(X)
    assert model.n_components_ == 3
    assert sorted(model.bic_by_n_components_) == [1, 2, 3, 4, 5]
    assert model.bic_by_n_components_[3] == pytest.approx(model.bic(X), abs=1.0)


def test_bic_does_not_believe_components_of_few_samples():
    """More components than the samples determine have unbounded likelihoods."""
    X = np.random.default_rng(0).normal(size=(24, 8))
    model = IncompleteGaussianMixture("auto", random_state=0).fit(X)
    assert model.n_components_ == 1
    assert model.bic_by_n_components_[2] == np.inf


def test_conditional_distributions_are_those_of_the_joint_density():
    """p(missing | observed) is the ratio of densities, at any point."""
    rng = np.random.default_rng(0)
    X, _ = clusters(2, 90, missing=0.2)
    model = IncompleteGaussianMixture(2, random_state=0).fit(X)
    row = np.array([0.3, np.nan, 1.0, np.nan])
    given, points = model.conditional(row[None])[0], rng.normal(size=(6, 2)) * 3
    density = sum(
        weight * multivariate_normal(mean, covariance).pdf(points)
        for weight, mean, covariance in zip(given.weights, given.means, given.covariances, strict=True)
    )
    completed = np.repeat(row[None], 6, axis=0)
    completed[:, [1, 3]] = points
    ratio = np.exp(model.score_samples(completed) - model.score_samples(row[None]))
    np.testing.assert_allclose(density, ratio, rtol=1e-9)


def test_moments_and_draws_of_a_conditional():
    X, _ = clusters(3, 90, missing=0.3)
    conditional = IncompleteGaussianMixture(2, random_state=0).fit(X).conditional(X)
    assert isinstance(conditional, ConditionalMixture)
    assert len(conditional) == len(X)
    assert len(conditional[1:3]) == 2
    np.testing.assert_array_equal(conditional[-1].means, conditional[len(X) - 1].means)
    with pytest.raises(IndexError):
        conditional[len(X)]
    weights, means, missing = conditional.weights, conditional.means, np.isnan(X)
    center = np.einsum("nk,nkp->np", weights, means)
    np.testing.assert_allclose(conditional.mean(), np.where(missing, center, X), rtol=1e-10)
    within = np.einsum("nk,nkpp->np", weights, conditional.covariances)
    between = np.einsum("nk,nkp->np", weights, (means - center[:, None]) ** 2)
    np.testing.assert_allclose(conditional.variance(), np.where(missing, within + between, 0.0), rtol=1e-8, atol=1e-12)
    draws = conditional.sample(4000, random_state=0)
    assert draws.shape == (4000, *X.shape)
    np.testing.assert_array_equal(draws[:, ~missing], np.broadcast_to(X[~missing], (4000, (~missing).sum())))
    error = (draws.mean(axis=0) - conditional.mean())[missing] / np.sqrt(conditional.variance()[missing] / 4000)
    assert np.abs(error).max() < 4.5  # some 110 standard normal variables
    np.testing.assert_allclose(draws.var(axis=0)[missing], conditional.variance()[missing], rtol=0.2)
    np.testing.assert_array_equal(draws, conditional.sample(4000, random_state=0))


def test_samples_have_the_moments_of_the_mixture():
    means, covariances = [[0.0, 0.0], [6.0, 3.0]], [[[1.0, 0.8], [0.8, 1.0]], [[2.0, 0.0], [0.0, 0.5]]]
    model = IncompleteGaussianMixture.from_parameters([0.3, 0.7], means, covariances).set_params(random_state=0)
    X, components = model.sample(20000)
    assert abs(components.mean() - 0.7) < 0.02
    for k in range(2):
        np.testing.assert_allclose(X[components == k].mean(axis=0), means[k], atol=0.06)
        np.testing.assert_allclose(np.cov(X[components == k].T), covariances[k], atol=0.08)
    diagonal = IncompleteGaussianMixture.from_parameters([1.0], [[1.0, 2.0]], [[4.0, 9.0]]).set_params(random_state=0)
    np.testing.assert_allclose(diagonal.sample(20000)[0].std(axis=0), [2.0, 3.0], rtol=0.03)
    with pytest.raises(ValueError, match="at least 1"):
        model.sample(0)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_units_of_the_features_do_not_matter(covariance_type):
    X, _ = clusters(4, 90, missing=0.2)
    units = np.array([1e-8, 1e8, 1.0, 1e4])
    model = IncompleteGaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(X)
    other = clone(model).fit(X * units)
    np.testing.assert_allclose(other.responsibilities(X * units), model.responsibilities(X), atol=1e-6)
    np.testing.assert_allclose(other.impute(X * units), model.impute(X) * units, rtol=1e-4, atol=0)


DEGENERATE = {
    "a row with nothing observed": lambda X: np.vstack([X, np.full((2, 4), np.nan)]),
    "a feature never observed": lambda X: np.column_stack([X[:, :2], np.full(len(X), np.nan), X[:, 3]]),
    "far more features than rows": lambda X: np.random.default_rng(0).normal(size=(6, 40)),
    "repeated rows": lambda X: np.repeat(X[:2], 10, axis=0),
    "all rows the same": lambda X: np.full((10, 3), 0.1),
    "a single feature": lambda X: X[:, :1],
    "a constant feature": lambda X: np.column_stack([X, np.full(len(X), 0.1)]),
    "a feature twice": lambda X: np.column_stack([X, X[:, 0]]),
    "a row far away": lambda X: np.vstack([X, np.full((1, 4), 1e9)]),
}


@stops_early
@pytest.mark.parametrize("covariance_type", TYPES)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_give_finite_answers(name, covariance_type):
    X = DEGENERATE[name](clusters(5, 40, missing=0.1)[0])
    model = IncompleteGaussianMixture(2, covariance_type=covariance_type, random_state=0, max_iter=50).fit(X)
    conditional = model.conditional(X)
    for values in (model.weights_, model.means_, model.covariances_, model.score_samples(X), conditional.variance()):
        assert np.isfinite(values).all()
    np.testing.assert_allclose(model.responsibilities(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(np.isnan(X), np.isnan(X) & np.isfinite(model.impute(X)))
    assert np.isfinite(conditional.sample(2, random_state=0)).all()


def test_a_fit_to_nothing_is_refused():
    nothing = {"a": np.full((5, 3), np.nan), "b": np.full((5, 1), np.nan)}
    with pytest.raises(ViewError, match="Not one value is observed: all 5 samples miss all features of 'a', 'b'"):
        IncompleteGaussianMixture().fit(nothing)


def with_switches(n=200):
    """Numbers of one group, and two columns of 0 and 1 that say nothing of it."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(size=n), "pulse": rng.normal(size=n)})
    return table.assign(smoker=rng.integers(2, size=n), fever=rng.integers(2, size=n))


def test_auto_names_columns_of_few_values_that_it_followed():
    table = with_switches()
    with pytest.warns(UserWarning, match=r"no variation of smoker of view 'w', fever of view 'w'\. BIC rewards"):
        model = IncompleteGaussianMixture("auto", random_state=0).fit({"w": table})
    assert model.n_components_ > 1
    IncompleteGaussianMixture(2, random_state=0).fit({"w": table})  # a number that was asked for needs no warning


def test_auto_does_not_warn_of_narrow_groups_of_numbers():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=200)
    X = 1e4 * group[:, None] + rng.normal(size=(200, 2))
    assert IncompleteGaussianMixture("auto", random_state=0).fit(X).n_components_ == 2


def test_a_row_with_nothing_observed_says_nothing():
    X, _ = clusters(6, 60, missing=0.1)
    model = IncompleteGaussianMixture(2, random_state=0).fit(X)
    empty = np.full((1, 4), np.nan)
    assert model.score_samples(empty)[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.responsibilities(empty)[0], model.weights_)
    np.testing.assert_allclose(model.impute(empty)[0], model.weights_ @ model.means_)


@pytest.mark.parametrize("covariance_type", TYPES[:3])
def test_a_feature_that_is_never_observed_keeps_mean_0_and_variance_1(covariance_type):
    X, _ = clusters(6, 60)
    X[:, 2] = np.nan
    model = IncompleteGaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(X)
    np.testing.assert_allclose(model.means_[:, 2], 0.0, atol=1e-12)
    np.testing.assert_allclose(model.covariances_[:, 2, 2], 1.0, rtol=1e-12)
    without = IncompleteGaussianMixture(
        2, covariance_type="diag" if covariance_type == "diag" else "full", random_state=0
    )
    np.testing.assert_allclose(
        model.score_samples(X), without.fit(X[:, [0, 1, 3]]).score_samples(X[:, [0, 1, 3]]), rtol=1e-5
    )


def test_one_sample():
    model = IncompleteGaussianMixture().fit([[1.0, np.nan]])
    np.testing.assert_allclose(model.means_, [[1.0, 0.0]])


@stops_early
def test_variances_as_a_start_do_not_keep_covariances_at_zero():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1.0, 0.9], [0.9, 1.0]], 50)
    start = {"weights_init": [1.0], "means_init": np.zeros((1, 2)), "covariances_init": np.ones((1, 2))}
    model = IncompleteGaussianMixture(1, **start).fit(X)
    assert model.covariances_[0, 0, 1] > 0.5
    assert IncompleteGaussianMixture(1, covariance_type="diag", **start).fit(X).covariances_[0, 0, 1] == 0.0


@stops_early
def test_max_iter_is_exact_from_a_given_start():
    X, _ = clusters()
    start = {"weights_init": np.full(2, 0.5), "means_init": X[:2], "covariances_init": np.ones((2, 4))}
    assert IncompleteGaussianMixture(2, max_iter=40, **start).fit(X).n_iter_ == 40


def test_a_part_of_a_start_may_be_given():
    X, _ = clusters()
    means = [X[k::3].mean(axis=0) for k in (2, 0, 1)]
    model = IncompleteGaussianMixture(3, means_init=means).fit(X)
    assert np.linalg.norm(model.means_ - means, axis=1).max() < 1.5


def test_views_are_matched_by_name_and_may_be_absent():
    X, _ = clusters(7, 90)
    views = Views({"a": X[:, :2], "b": X[:, 2:]})
    model = IncompleteGaussianMixture(2, covariance_type="view", random_state=0).fit(views)
    assert not model.covariances_[:, :2, 2:].any()
    np.testing.assert_allclose(model.impute({"b": X[:5, 2:]})[:, 2:], X[:5, 2:])
    both = model.score_samples({"b": X[:, 2:], "a": X[:, :2]})
    np.testing.assert_allclose(both, model.score_samples(views))
    with pytest.raises(ViewError, match="not seen in fit"):
        model.impute({"c": X[:, :2]})


def test_known_parameters_with_and_without_names_of_views():
    parameters = [1.0], [[0.0, 1.0, 2.0]], [np.eye(3)]
    plain = IncompleteGaussianMixture.from_parameters(*parameters)
    X = np.array([[1.0, np.nan, 3.0]])
    views = Views({"a": X[:, :1], "b": X[:, 1:]})
    np.testing.assert_array_equal(plain.impute(X), plain.impute(views))
    named = IncompleteGaussianMixture.from_parameters(*parameters, view_n_features={"a": 1, "b": 2})
    np.testing.assert_array_equal(named.impute({"b": X[:, 1:]}), [[0.0, 1.0, 3.0]])
    assert pickle.loads(pickle.dumps(plain)).impute(X).tolist() == [[1.0, 1.0, 3.0]]
    with pytest.raises(ViewError, match="X has 2 features, but the mixture is over 3"):
        plain.impute(X[:, :2])
    with pytest.raises(NotFittedError):
        clone(plain).impute(X)
    plain.fit(np.random.default_rng(0).normal(size=(20, 2)))
    assert plain.impute([[0.0, np.nan]]).shape == (1, 2)


def test_few_directions_need_no_matrix_of_all_features():
    """Densities, conditionals and draws by the factors are those of the covariance matrices."""
    X, _ = clusters(8, 60, missing=0.3)
    X = X * [1.0, 1e-3, 1e3, 5.0]
    X[3] = np.nan
    model = IncompleteGaussianMixture(2, covariance_type="factor", random_state=0).fit(X)
    dense = IncompleteGaussianMixture.from_parameters(model.weights_, model.means_, model.covariances_)
    np.testing.assert_allclose(model.score_samples(X), dense.score_samples(X), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.responsibilities(X), dense.responsibilities(X), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(model.impute(X), dense.impute(X), rtol=1e-8)
    for row, other in zip(model.conditional(X), dense.conditional(X), strict=True):
        np.testing.assert_allclose(row.means, other.means, rtol=1e-7)
        np.testing.assert_allclose(row.covariances, other.covariances, rtol=1e-6, atol=1e-12)
    drawn, components = model.sample(20000)
    for k in range(2):
        size = np.sqrt(np.diag(model.covariances_[k]))
        got = np.cov(drawn[components == k].T) / size / size[:, None]
        np.testing.assert_allclose(got, model.covariances_[k] / size / size[:, None], atol=0.05)


def test_a_second_fit_forgets_the_first():
    X, _ = clusters(8, 60)
    model = IncompleteGaussianMixture(2, covariance_type="factor", random_state=0).fit(X)
    assert model.loadings_.shape == (2, 4, 2)
    np.testing.assert_allclose(
        model.covariances_[0], model.loadings_[0] @ model.loadings_[0].T + np.diag(model.noise_variance_)
    )
    model.set_params(covariance_type="full").fit(X)
    assert not hasattr(model, "loadings_")
    np.testing.assert_allclose(model.covariances_, clone(model).fit(X).covariances_)


def test_a_fit_that_stops_early_warns_once():
    X, _ = clusters(9, 60, missing=0.2)
    with pytest.warns(ConvergenceWarning, match="IncompleteGaussianMixture stopped after 3 iterations") as caught:
        IncompleteGaussianMixture(3, max_iter=3, random_state=0).fit(X)
    assert len(caught) == 1


SYMMETRIC = np.stack([np.eye(2)] * 2)
WRONG = {
    "weights do not sum to one": ({"weights": [0.5, 0.6]}, "sum to 1; got a least value of 0.5 and a sum of 1.1"),
    "a weight is negative": ({"weights": [-0.5, 1.5]}, "not be negative"),
    "one weight too many": ({"weights": [0.5, 0.25, 0.25]}, "as many components; got 3 and 2"),
    "means are a vector": ({"means": [0.0, 1.0]}, "means must be an array of 2 dimensions"),
    "covariances of another width": ({"covariances": np.stack([np.eye(3)] * 2)}, r"shape \(2, 2, 2\)"),
    "covariances are not symmetric": ({"covariances": SYMMETRIC + np.eye(2, k=1) / 2}, "symmetric; component 0"),
    "a value is NaN": ({"means": [[0.0, np.nan], [0.0, 0.0]]}, "means must be finite"),
    "a variance is zero": ({"covariances": [[1.0, 0.0], [1.0, 1.0]]}, "must be positive"),
    "widths do not add up": ({"view_n_features": [1, 2]}, "sum to 3, but means have 2"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters_raise(name):
    changes, message = WRONG[name]
    parameters = {"weights": [0.5, 0.5], "means": [[0.0, 0.0], [1.0, 1.0]], "covariances": SYMMETRIC} | changes
    with pytest.raises(ValueError, match=message):
        IncompleteGaussianMixture.from_parameters(**parameters)


def test_indefinite_covariances_raise():
    with pytest.raises(NotPositiveDefiniteError, match="component 0"):
        IncompleteGaussianMixture.from_parameters([1.0], [[0.0, 0.0]], [[[1.0, 2.0], [2.0, 1.0]]])


@pytest.mark.parametrize("covariance_type", TYPES[:3])
def test_features_that_do_not_vary_need_a_ridge(covariance_type):
    X, _ = clusters(0, 30)
    X[:, 1] = 3.0
    with pytest.raises(NotPositiveDefiniteError, match=r"variance of zero.*Raise reg_covar"):
        IncompleteGaussianMixture(2, covariance_type=covariance_type, reg_covar=0.0, random_state=0).fit(X)


@stops_early
def test_a_given_start_needs_no_samples():
    start = {"weights_init": [0.5, 0.5], "means_init": np.eye(2), "covariances_init": SYMMETRIC}
    model = IncompleteGaussianMixture(2, max_iter=1, **start).fit([[1.0, np.nan]])
    assert np.isfinite(model.means_).all()


def test_wrong_settings_raise():
    X, _ = clusters(0, 12)
    with pytest.raises(ValueError, match="n_components=2 and 4 features"):
        IncompleteGaussianMixture(2, means_init=np.zeros((3, 4))).fit(X)
    with pytest.raises(ValueError, match="n_components='auto'"):
        IncompleteGaussianMixture("auto", means_init=np.zeros((3, 4))).fit(X)
    with pytest.raises(ValueError, match="must not exceed n_samples=12"):
        IncompleteGaussianMixture(13).fit(X)


def test_a_conditional_says_what_it_is():
    X, _ = clusters(6, 60)
    X[:5, 0], X[3:9, 1] = np.nan, np.nan
    conditional = IncompleteGaussianMixture(2, random_state=0).fit(X).conditional(X)
    assert repr(conditional) == (
        "<ConditionalMixture of 60 rows, 4 features, 2 components: 11 missing values in 4 patterns>"
    )
