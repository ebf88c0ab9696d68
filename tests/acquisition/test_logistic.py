"""Utilities of co-regularized logistic regression, against precisions written out term by term, and against refits."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from coview import Views
from coview.acquisition import Campaign, label_utilities, query_utilities, select_views, view_utilities
from coview.acquisition._densities import PossibleValues
from coview.acquisition._logistic import LogisticScores
from coview.acquisition._scored_model import ScoredModel
from coview.inference import curvature_moments
from coview.linear_model import CoRegularizedLogisticRegression
from coview.mixture import ClassConditionalGaussianMixture, IncompleteGaussianMixture

CRITERIA = (
    "expected_entropy", "mutual_information", "mutual_information_bound", "variance", "a_optimality", "random"
)  # fmt: skip
WIDTHS, KAPPA, SMOOTH, CO = (2, 3, 1), (2.0, 3.0, 0.7), 0.3, 0.6
PLACES = [[0, 1, 2], [3, 4, 5, 6], [7, 8]]  # of the weights of each view, its constant last


def draw(seed=0, n=24):
    """Three views, the last often missing, a third labeled."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    blocks = [rng.normal(size=(n, width)) + kind[:, None] for width in WIDTHS]
    blocks[2][::3] = np.nan
    blocks[0][[3, 5]] = blocks[1][[6, 7]] = np.nan
    y = np.where(np.arange(n) < n // 3, np.where(kind > 0, "yes", "no"), None)
    return blocks, y


def density_of(blocks):
    rng = np.random.default_rng(1)
    root = rng.normal(size=(2, 6, 6)) / 2
    covariances = root @ root.swapaxes(1, 2) + 0.3 * np.eye(6)
    return IncompleteGaussianMixture.from_parameters([0.4, 0.6], rng.normal(size=(2, 6)), covariances)


def model(**changes):
    parameters = {"co_regularization": CO, "smoothness": SMOOTH, "smoothness_kernel_variance": KAPPA}
    return CoRegularizedLogisticRegression(**(parameters | changes))


def with_constant(x):
    return np.append(x, 1.0)


def increment(fitted, blocks, sample, view, x, *, labeled, agrees):
    """What view ``view`` of a sample, with features x, adds to the precision: equations (16), (21)."""
    added = np.zeros((9, 9))
    x = with_constant(x)
    for a, block in enumerate(blocks):
        if agrees and a != view and not np.isnan(block[sample, 0]):
            u = np.zeros(9)
            u[PLACES[a]], u[PLACES[view]] = with_constant(block[sample]), -x
            added += CO * np.outer(u, u)
    own = np.zeros((len(x), len(x)))
    for other in blocks[view][~np.isnan(blocks[view][:, 0])]:
        apart = x - with_constant(other)
        p = len(other)
        K = np.exp(-0.5 * apart @ apart / KAPPA[view]) / (2 * np.pi * KAPPA[view]) ** (p / 2)
        own += SMOOTH * K * np.outer(apart, apart)
    if labeled:
        w = np.append(fitted.view_coef_[f"view_{view}"], fitted.intercept_[view])
        own += expit(w @ x) * expit(-w @ x) * np.outer(x, x)
    added[np.ix_(PLACES[view], PLACES[view])] += own
    return added


def gain(precision, added):
    return 0.5 * (np.linalg.slogdet(precision + added)[1] - np.linalg.slogdet(precision)[1])


def scores(fitted, blocks, y, expectation):
    options = {"criterion": "mutual_information_bound", "density": density_of(blocks), "expectation": expectation}
    return view_utilities(fitted, blocks, y, **options).set_index(["sample", "view"])["utility"]


@pytest.mark.parametrize("over", ["all", "unlabeled"])
def test_point_mass_is_the_precision_with_the_mean_put_in(over):
    blocks, y = draw()
    fitted = model(agreement_over=over).fit(blocks, y)
    completed = density_of(blocks).conditional(blocks).mean()
    ends, got = np.cumsum(WIDTHS), scores(fitted, blocks, y, "point_mass")
    assert len(got) == 12
    for (sample, name), utility in got.items():
        j, labeled = int(name[-1]), y[sample] is not None
        x = completed[sample, ends[j] - WIDTHS[j] : ends[j]]
        added = increment(fitted, blocks, sample, j, x, labeled=labeled, agrees=over == "all" or not labeled)
        np.testing.assert_allclose(utility, gain(fitted.posterior_precision_, added), rtol=1e-9)


@pytest.mark.parametrize("over", ["all", "unlabeled"])
def test_quadrature_is_the_mean_over_the_values_of_one_feature(over):
    """Increments summed over a fine grid of values of the last view, which is one feature wide."""
    blocks, y = draw()
    fitted = model(agreement_over=over).fit(blocks, y)
    conditional, got = density_of(blocks).conditional(blocks), scores(fitted, blocks, y, "quadrature")
    grid = np.linspace(-8.0, 8.0, 161)
    for sample in (0, 6, 12, 15):
        row, labeled = conditional[sample], y[sample] is not None
        inside, expected = np.searchsorted(row.missing, 5), np.zeros((9, 9))
        for weight, mean, covariance in zip(row.weights, row.means, row.covariances, strict=True):
            spread = np.sqrt(covariance[inside, inside])
            density = np.exp(-0.5 * grid**2)
            for x, share in zip(mean[inside] + spread * grid, weight * density / density.sum(), strict=True):
                agrees = over == "all" or not labeled
                expected += share * increment(fitted, blocks, sample, 2, [x], labeled=labeled, agrees=agrees)
        np.testing.assert_allclose(got[sample, "view_2"], gain(fitted.posterior_precision_, expected), rtol=1e-8)


def test_labels_are_the_determinant_of_the_precision_with_them():
    blocks, y = draw()
    fitted = model().fit(blocks, y)
    table = label_utilities(fitted, blocks, y, criterion="mutual_information").set_index("sample")["utility"]
    assert set(table.index) == {i for i in range(24) if y[i] is None}
    for sample, utility in table.items():
        added = np.zeros((9, 9))
        for j, block in enumerate(blocks):
            if not np.isnan(block[sample, 0]):
                x = with_constant(block[sample])
                w = np.append(fitted.view_coef_[f"view_{j}"], fitted.intercept_[j])
                added[np.ix_(PLACES[j], PLACES[j])] += expit(w @ x) * expit(-w @ x) * np.outer(x, x)
        np.testing.assert_allclose(utility, gain(fitted.posterior_precision_, added), rtol=1e-9)


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.filterwarnings("ignore:The precisions that .* hold its weights at zero")
def test_classes_add_up(learn):
    blocks, y = draw()
    three = y.copy()
    three[[1, 4]] = "maybe"
    many = model(learn=learn).fit(blocks, three)
    against = [np.array([None if c is None else c == k for c in three], dtype=object) for k in many.classes_]
    ones = [model(learn=learn).fit(blocks, labels) for labels in against]
    for score in (
        lambda fitted, labels: scores(fitted, blocks, labels, "quadrature"),
        lambda fitted, labels: label_utilities(fitted, blocks, labels).set_index("sample")["utility"],
    ):
        parts = pd.concat([score(one, labels) for one, labels in zip(ones, against, strict=True)], axis=1).sum(axis=1)
        got = score(many, three)
        np.testing.assert_allclose(got, parts[got.index], rtol=1e-7)


def test_too_few_samples_for_a_density_are_said_and_the_mean_used():
    blocks, y = draw()
    blocks[2][4:] = np.nan
    density = IncompleteGaussianMixture(1, reg_covar=0.1)
    options = {"criterion": "mutual_information_bound", "density": density}
    with pytest.warns(UserWarning, match=r"samples have both .* too few for a density"):
        warned = view_utilities(model(), blocks, y, **options)
    plain = view_utilities(model(), blocks, y, expectation="point_mass", **options)
    pd.testing.assert_frame_equal(warned, plain)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("over", ["all", "unlabeled"])
def test_every_criterion_scores_every_pair(criterion, n_classes, over):
    blocks, y = draw()
    y = y.copy()
    if n_classes == 3:
        y[[1, 4]] = "maybe"
    options = {"criterion": criterion, "density": density_of(blocks)}
    table = view_utilities(model(agreement_over=over), blocks, y, **options)
    assert len(table) == 12
    assert np.isfinite(table["utility"]).all()
    assert table["utility"].is_monotonic_decreasing
    if criterion.startswith("mutual") or criterion == "variance":
        assert (table["utility"] >= 0.0).all()


def test_information_is_below_its_bound_and_the_mean_over_values():
    """One missing feature: information averaged over a grid of values."""
    blocks, y = draw()
    fitted, density = model().fit(blocks, y), density_of(blocks)
    options = {"criterion": "mutual_information", "density": density}
    got = view_utilities(fitted, blocks, y, **options).set_index(["sample", "view"])["utility"]
    bound = scores(fitted, blocks, y, "quadrature")
    # the trapezoid rule is exact for one feature, the other views are quasi-random
    single = got[got.index.get_level_values(1) == "view_2"]
    assert (single < bound[single.index]).all()
    conditional, grid = density.conditional(blocks), np.linspace(-8.0, 8.0, 161)
    for sample in (9, 12, 15):  # unlabeled: the site of a label has no plain formula
        row, total = conditional[sample], 0.0
        inside = np.searchsorted(row.missing, 5)
        for weight, mean, covariance in zip(row.weights, row.means, row.covariances, strict=True):
            chance = np.exp(-0.5 * grid**2)
            for x, share in zip(
                mean[inside] + np.sqrt(covariance[inside, inside]) * grid, weight * chance / chance.sum(), strict=True
            ):
                added = increment(fitted, blocks, sample, 2, [x], labeled=False, agrees=True)
                total += share * gain(fitted.posterior_precision_, added)
        np.testing.assert_allclose(got[sample, "view_2"], total, rtol=1e-8)


def scores_of(fitted, blocks, y):
    return LogisticScores(ScoredModel.of(fitted, blocks, y))


def values_of(*values):
    """The same values, equally probable, for one sample."""
    return PossibleValues(np.array(values, dtype=float), np.full((1, len(values)), 1.0 / len(values)))


def moderated(means, variances):
    return means / np.sqrt(1.0 + np.pi * variances / 8.0)


def entropies_after(weights, precision, blocks, samples):
    """Total entropy of predictions from the mean log odds of the views that samples have."""
    total = 0.0
    for sample in samples:
        a, held = np.zeros(9), 0
        for block, place in zip(blocks, PLACES, strict=True):
            if not np.isnan(block[sample, 0]):
                a[place] += with_constant(block[sample])
                held += 1
        a /= held
        p = expit(moderated(a @ weights, a @ np.linalg.solve(precision, a)))
        total -= p * np.log(p) + (1.0 - p) * np.log1p(-p)
    return total


def stacked_weights(fitted):
    return np.concatenate([np.append(fitted.view_coef_[f"view_{j}"], fitted.intercept_[j]) for j in range(3)])


def test_expected_entropy_of_unlabeled_samples_is_that_of_one_step():
    blocks, y = draw()
    fitted = model().fit(blocks, y)
    w, precision = stacked_weights(fitted), fitted.posterior_precision_
    others = [i for i in range(24) if y[i] is None]
    before = entropies_after(w, precision, blocks, others)
    for sample, values in ((12, [[0.4], [-1.5]]), (15, [[2.0], [0.1]])):
        after = []
        for x in values:
            added = increment(fitted, blocks, sample, 2, x, labeled=False, agrees=True)
            filled = [block.copy() for block in blocks]
            filled[2][sample] = x
            moved = w - np.linalg.solve(precision + added, added @ w)
            after.append(entropies_after(moved, precision + added, filled, others))
        got = scores_of(fitted, blocks, y).expected_entropy(
            "view_2", np.array([sample]), values_of(*values), np.array([[0, 1]])
        )
        # the logit is moderated by a finer rule than MacKay's
        np.testing.assert_allclose(got[0], before - np.mean(after), rtol=0.02)


@pytest.mark.parametrize(("sample", "view"), [(3, 0), (6, 1), (0, 2), (12, 2)])
@pytest.mark.parametrize("over", ["all", "unlabeled"])
def test_taken_is_refitted(sample, view, over):
    blocks, y = draw()
    taken = scores_of(model(agreement_over=over).fit(blocks, y), blocks, y)
    value = np.linspace(-0.5, 1.0, WIDTHS[view])
    step = taken._change(0, f"view_{view}", np.array([sample]), np.array([[0]]), values_of(value))[0]
    taken.take(f"view_{view}", sample, value)
    filled = [block.copy() for block in blocks]
    filled[view][sample] = value
    again = model(agreement_over=over).fit(filled, y)
    (posterior,) = taken._posteriors
    np.testing.assert_allclose(posterior.weights, stacked_weights(again), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(posterior.precision, again.posterior_precision_, rtol=1e-6, atol=1e-8)
    # one step goes most of the way
    old = scores_of(model(agreement_over=over).fit(blocks, y), blocks, y)._posteriors[0]
    moved = old.factor.half_solve(step.step[0], transposed=True)
    left = np.linalg.norm(old.weights + moved - posterior.weights)
    assert left < 0.35 * np.linalg.norm(old.weights - posterior.weights)


def test_variance_and_a_optimality_are_of_the_mean_log_odds():
    blocks, y = draw()
    fitted = model().fit(blocks, y)
    table = view_utilities(fitted, blocks, y, criterion="variance", density=density_of(blocks))
    covariance = np.linalg.inv(fitted.posterior_precision_)

    def variance(tables, cov, sample):
        a, held = np.zeros(9), 0
        for block, place in zip(tables, PLACES, strict=True):
            if not np.isnan(block[sample, 0]):
                a[place] += with_constant(block[sample])
                held += 1
        return a @ cov @ a / held**2

    for row in table.itertuples():
        assert row.utility == pytest.approx(variance(blocks, covariance, row.sample), rel=1e-8)
    added = increment(fitted, blocks, 12, 2, [0.7], labeled=False, agrees=True)
    filled = [block.copy() for block in blocks]
    filled[2][12] = 0.7
    after = np.linalg.inv(fitted.posterior_precision_ + added)
    want = sum(variance(blocks, covariance, i) - variance(filled, after, i) for i in range(24))
    got = scores_of(fitted, blocks, y).variance_reduction("view_2", np.array([12]), values_of([0.7]), np.arange(24))
    np.testing.assert_allclose(got[0], want, rtol=1e-8)


def test_blocks_of_candidates_do_not_matter(monkeypatch):
    blocks, y = draw()
    tables = {}
    for numbers in (4_000_000, 200):
        monkeypatch.setattr("coview.acquisition._logistic._BLOCK_NUMBERS", numbers)
        for criterion in ("expected_entropy", "mutual_information", "a_optimality"):
            options = {"criterion": criterion, "density": density_of(blocks)}
            table = view_utilities(model(), blocks, y, **options).set_index(["sample", "view"])["utility"]
            tables.setdefault(criterion, []).append(table.sort_index())
    for first, second in tables.values():
        np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


def test_a_sample_without_views():
    blocks, y = draw()
    for block in blocks:
        block[20] = np.nan
    fitted = model(no_view="prior").fit(blocks, y)
    for criterion in ("mutual_information", "mutual_information_bound"):
        table = view_utilities(fitted, blocks, y, criterion=criterion, density=density_of(blocks))
        got = table.set_index(["sample", "view"])["utility"]
        assert got[20].isna().all()
        assert got[got.index.get_level_values(0) != 20].notna().all()
    entropy = view_utilities(fitted, blocks, y, density=density_of(blocks)).set_index(["sample", "view"])["utility"]
    assert (entropy[20] > 0.0).all()  # its own class, of which nothing is known
    assert np.isinf(
        view_utilities(fitted, blocks, y, criterion="variance").set_index(["sample", "view"])["utility"][20]
    ).all()
    assert label_utilities(fitted, blocks, y).set_index("sample")["utility"][20] == 0.0


def test_what_was_fitted_to_other_data_is_fitted_again():
    blocks, y = draw()
    other = model().fit([block[:20] for block in blocks], y[:20])
    changed = y.copy()
    changed[0] = "yes"
    fitted = model().fit(blocks, y)
    assert fitted.was_fitted_to(blocks, y)
    assert not fitted.was_fitted_to(blocks, changed)
    assert not other.was_fitted_to(blocks, y)
    want = scores(fitted, blocks, y, "quadrature")
    for stranger in (other, model().fit(blocks, changed)):
        pd.testing.assert_series_equal(scores(stranger, blocks, y, "quadrature"), want)


@pytest.mark.parametrize("normalize", [True, False])
def test_smoothness_of_either_kernel(normalize):
    blocks, y = draw()
    fitted = model(normalize_smoothness_kernel=normalize).fit(blocks, y)
    taken = scores_of(fitted, blocks, y)
    taken.take("view_2", 12, np.array([0.3]))
    filled = [block.copy() for block in blocks]
    filled[2][12] = 0.3
    again = model(normalize_smoothness_kernel=normalize).fit(filled, y)
    np.testing.assert_allclose(taken._priors[0], again.prior_precision_, rtol=1e-9, atol=1e-10)


def test_labels_and_views_in_one_list_and_batches():
    blocks, y = draw()
    table = query_utilities(model(), blocks, y, density=density_of(blocks), costs={"view_0": 2.0, "view_2": 1.0})
    assert set(table["query"]) == {"view", "label"}
    assert table["utility_per_cost"].is_monotonic_decreasing
    for criterion in ("expected_entropy", "mutual_information", "mutual_information_bound"):
        batch = select_views(model(), blocks, y, 4, criterion=criterion, density=density_of(blocks))
        assert len(batch) == batch["sample"].nunique() == 4


def test_near_copies_are_not_taken_together():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(30, 1))
    a[20] = a[21] = 3.0  # two of a kind, far out
    b = a + 0.1 * rng.normal(size=(30, 1))
    b[10:] = np.nan
    y = np.where(np.arange(30) < 8, np.where(a[:, 0] > 0, "yes", "no"), None)
    batch = select_views(
        model(smoothness=0.0, smoothness_kernel_variance=None), [a, b], y, 2, criterion="mutual_information"
    )
    one = view_utilities(
        model(smoothness=0.0, smoothness_kernel_variance=None), [a, b], y, criterion="mutual_information"
    )
    assert set(one["sample"][:2]) == {20, 21}
    assert batch["utility"][1] < one["utility"][1] - 0.05


def test_campaign():
    blocks, y = draw()
    campaign = Campaign(model(), blocks, y, random_state=0)
    order = campaign.ask(2)
    sample, view = order["sample"][0], order["view"][0]
    campaign.tell(sample, view=view, values=np.zeros(WIDTHS[int(view[-1])]))
    asked = campaign.ask(11)
    assert (sample, view) not in set(zip(asked["sample"], asked["view"], strict=True))


def test_views_in_another_order_score_the_same():
    blocks, y = draw()
    names, results = ["a", "b", "c"], []
    for order in (range(3), [2, 0, 1]):
        views = Views({names[j]: blocks[j] for j in order})
        kappa = dict(zip(names, KAPPA, strict=True))
        fitted = model(smoothness_kernel_variance=kappa).fit(views, y)
        density = ClassConditionalGaussianMixture(missing_label=None, random_state=0)
        options = {"criterion": "mutual_information_bound", "expectation": "point_mass", "density": density}
        results.append(view_utilities(fitted, views, y, **options).set_index(["sample", "view"])["utility"])
    np.testing.assert_allclose(results[1][results[0].index], results[0], rtol=1e-3)


@pytest.mark.parametrize("variance", [0.0, 0.05, 0.29, 0.31, 4.0, 90.0])
def test_curvature_moments_against_a_fine_grid(variance):
    mean = np.array([-6.0, -0.7, 0.0, 3.0, 40.0])
    t, step = np.linspace(-12.0, 12.0, 40_001, retstep=True)
    apart = np.sqrt(variance) * t
    density = step * np.exp(-0.5 * t**2) / np.sqrt(2 * np.pi)
    z = mean[:, None] + apart
    want = [(expit(z) * expit(-z) * apart**k * density).sum(axis=1) for k in range(3)]
    np.testing.assert_allclose(curvature_moments(mean, np.full(5, variance)), want, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("over", ["all", "unlabeled"])
def test_a_certain_value_has_the_same_bound_by_either_way(over):
    """By a change of low rank, and by the determinant of the whole block, which smoothness takes."""
    blocks, y = draw()
    options = {"agreement_over": over, "smoothness_kernel_variance": 1.0}
    short = scores(model(smoothness=0.0, **options).fit(blocks, y), blocks, y, "point_mass")
    long = scores(model(smoothness=1e-14, **options).fit(blocks, y), blocks, y, "point_mass")
    np.testing.assert_allclose(short, long[short.index], rtol=1e-8, atol=1e-12)


def test_a_view_that_nobody_has_is_worth_nothing():
    rng = np.random.default_rng(4)
    blocks = [rng.normal(size=(24, 2)), rng.normal(size=(24, 2)), np.full((24, 2), np.nan)]
    blocks[1][::2] = np.nan
    y = np.where(np.arange(24) < 8, np.where(np.arange(24) % 2 > 0, "yes", "no"), None)
    for criterion in ("expected_entropy", "mutual_information", "mutual_information_bound", "a_optimality"):
        options = {"smoothness": 0.0, "smoothness_kernel_variance": None}
        table = view_utilities(model(**options), blocks, y, criterion=criterion)
        assert (table.loc[table["view"] == "view_2", "utility"] == 0.0).all()
        assert (table.loc[table["view"] == "view_1", "utility"] != 0.0).all()
    assert len(select_views(model(**options), blocks, y, 14)) == 14
