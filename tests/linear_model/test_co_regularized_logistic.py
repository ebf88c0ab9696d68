"""Co-regularized logistic regression against formulas written out, scikit-learn, and its own other paths."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from coview import Views
from coview.exceptions import NotPositiveDefiniteError, ViewError
from coview.linear_model import CoRegularizedLogisticRegression as Model

RIDGE, CO, SMOOTH, KAPPA = 0.7, 0.4, 0.2, 6.0


def draw(seed=0, n=16, widths=(3, 40, 2), labels="ab", share=0.7):
    """Three views of which the second has more features than samples; some missing; some labels."""
    rng = np.random.default_rng(seed)
    blocks = [rng.normal(size=(n, width)) + 0.5 * (np.arange(n) % len(labels))[:, None] for width in widths]
    blocks[0][3] = blocks[1][[1, 5]] = blocks[2][[3, 7]] = np.nan
    y = np.array([labels[i % len(labels)] for i in range(n)], dtype=object)
    y[int(share * n) :] = None
    return blocks, y


def written_out_prior(blocks, agreeing):
    """Equations (2), (5) and the sum over pairs of samples as they stand, for several views."""
    ends = np.cumsum([block.shape[1] for block in blocks])
    places = [np.arange(end - block.shape[1], end) for end, block in zip(ends, blocks, strict=True)]
    precision = RIDGE * np.eye(ends[-1])
    for a, b in combinations(range(len(blocks)), 2):
        for i in np.flatnonzero(agreeing):
            u = np.zeros(ends[-1])
            u[places[a]], u[places[b]] = blocks[a][i], -blocks[b][i]
            if not np.isnan(u).any():
                precision += CO * np.outer(u, u)
    for place, block in zip(places, blocks, strict=True):
        held = block[~np.isnan(block[:, 0])]
        for i, j in combinations(range(len(held)), 2):
            apart = held[i] - held[j]
            K = np.exp(-0.5 * apart @ apart / KAPPA)
            precision[np.ix_(place, place)] += SMOOTH * K * np.outer(apart, apart)
    return precision, places


def smooth_model(**changes):
    parameters = {
        "ridge": RIDGE,
        "co_regularization": CO,
        "smoothness": SMOOTH,
        "smoothness_kernel_variance": KAPPA,
        "normalize_smoothness_kernel": False,
        "fit_intercept": False,
    }
    return Model(**(parameters | changes))


@pytest.mark.parametrize("over", ["all", "unlabeled"])
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_wide_views_and_few_labels_agree_with_the_formulas(share, over):
    """Whatever space the weights are sought in, the gradient is zero there and the precisions are those of the notes."""
    blocks, y = draw(share=share)
    labeled = pd.notna(y)
    agreeing = np.ones(len(y), dtype=bool) if over == "all" else ~labeled
    precision, places = written_out_prior(blocks, agreeing)
    model = smooth_model(agreement_over=over).fit(blocks, y)
    gradient, posterior = -precision @ model.coef_, precision.copy()
    sign = np.where(y == "b", 1.0, -1.0)
    for place, block in zip(places, blocks, strict=True):
        x, s = block[labeled & ~np.isnan(block[:, 0])], sign[labeled & ~np.isnan(block[:, 0])]
        f = x @ model.coef_[place]
        gradient[place] += x.T @ (s * expit(-s * f))
        posterior[np.ix_(place, place)] += (x.T * (expit(f) * expit(-f))) @ x
    assert np.abs(gradient).max() < 1e-9
    np.testing.assert_allclose(model.prior_precision_, precision, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.posterior_precision_, posterior, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("learn", [False, True])
def test_sparse_views_give_the_same(learn):
    blocks, y = draw()
    presence = np.column_stack([~np.isnan(block[:, 0]) for block in blocks])
    rows = [sparse.csr_array(np.nan_to_num(block)) for block in blocks]
    dense = smooth_model(learn=learn, fit_intercept=True).fit(blocks, y)
    got = smooth_model(learn=learn, fit_intercept=True).fit(Views(rows, presence=presence), y)
    np.testing.assert_allclose(got.coef_, dense.coef_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(got.intercept_, dense.intercept_, rtol=1e-7, atol=1e-10)


def test_one_view_equals_scikit_learns_logistic_regression():
    blocks, y = draw(n=60, widths=(3, 4, 2), share=1.0)
    X = np.nan_to_num(blocks[0])
    peer = LogisticRegression(C=1 / RIDGE, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, y.astype(str))
    model = Model(ridge=RIDGE, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_[0], rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-6)


def test_without_agreement_views_are_fitted_apart():
    blocks, y = draw()
    together = Model(co_regularization=0.0).fit(blocks, y)
    for j, (name, block) in enumerate(zip(together.view_names_, blocks, strict=True)):
        held = ~np.isnan(block[:, 0])
        alone = Model().fit(block[held], y[held])
        np.testing.assert_allclose(together.view_coef_[name], alone.coef_, rtol=1e-8)
        np.testing.assert_allclose(together.intercept_[j], alone.intercept_[0], rtol=1e-8)
        np.testing.assert_allclose(
            together.decision_function({name: block[held]}), alone.decision_function(block[held]), rtol=1e-8
        )


def test_agreement_pulls_views_together():
    blocks, y = draw(widths=(3, 4, 2))
    held = ~np.isnan(np.column_stack([block[:, 0] for block in blocks])).any(axis=1)
    X = [block[held] for block in blocks]
    apart = []
    for strength in (0.0, 1.0, 100.0):
        model = Model(co_regularization=strength).fit(blocks, y)
        odds = np.stack([model.decision_function(X, view=name) for name in model.view_names_])
        apart.append(odds.std(axis=0).mean())
    assert apart[0] > 2 * apart[1] > 4 * apart[2]


def test_decision_is_the_mean_over_the_views_at_hand():
    blocks, y = draw()
    model = Model().fit(blocks, y)
    first, third = (model.decision_function({name: blocks[j][[0]]}) for j, name in ((0, "view_0"), (2, "view_2")))
    both = model.decision_function({"view_0": blocks[0][[0]], "view_2": blocks[2][[0]]})
    np.testing.assert_allclose(both, (first + third) / 2)
    full = {f"view_{j}": block[[0]] for j, block in enumerate(blocks)}
    np.testing.assert_allclose(model.decision_function(full, view="view_0"), first)
    np.testing.assert_allclose(model.predict_proba(full, view="view_0")[:, 1], expit(first))


@pytest.mark.parametrize("learn", [False, True])
def test_more_classes_are_one_against_the_rest(learn):
    blocks, y = draw(labels="abc")
    model = Model(learn=learn).fit(blocks, y)
    assert model.coef_.shape == (3, 45)
    assert model.intercept_.shape == (3, 3)
    assert model.posterior_precision_.shape == (3, 48, 48)
    for k, label in enumerate("abc"):
        against = np.array([None if c is None else c == label for c in y], dtype=object)
        one = Model(learn=learn).fit(blocks, against)
        np.testing.assert_allclose(model.coef_[k], one.coef_, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(model.objective_[k], one.objective_)
        np.testing.assert_allclose(model.posterior_precision_[k], one.posterior_precision_, rtol=1e-7, atol=1e-9)
    odds = expit(model.decision_function(blocks))
    np.testing.assert_allclose(model.predict_proba(blocks), odds / odds.sum(axis=1, keepdims=True))


COLLAPSES = pytest.mark.filterwarnings("ignore:The precisions that .* hold its weights at zero")


def test_weights_at_zero_are_said_to_be_so_and_the_remedy_works():
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 2
    blocks = [rng.normal(size=(60, width)) + 0.3 * codes[:, None] for width in (5, 4)]
    y = np.where(np.arange(60) < 12, codes, -1)
    with pytest.warns(ConvergenceWarning, match=r"weights at zero: .* differ by 0\.03\d* at.*hyper_priors=") as caught:
        flat = Model(learn=True).fit(blocks, y)
    assert len(caught) == 1
    assert np.ptp(flat.label_distributions_[:, 0]) < 0.0125
    other = Model(learn=True, hyper_priors={"co_regularization": (1, 100)}).fit(blocks, y)
    assert np.ptp(other.label_distributions_[:, 0]) > 0.2


@COLLAPSES
@pytest.mark.parametrize("seed", range(4))
def test_learning_climbs(seed):
    blocks, y = draw(seed, widths=(3, 5, 2))
    model = smooth_model(learn=True, smoothness=[0.2, 0.0, 0.3], fit_intercept=True).fit(blocks, y)
    (trace,) = model.objective_trace_
    assert (np.diff(trace) >= -1e-10).all()
    assert model.converged_
    assert model.objective_ == trace[-1]


def test_terms_given_as_zero_stay_out():
    blocks, y = draw(widths=(3, 4, 2))
    ridge = np.ones(9)
    ridge[4] = 0.0
    model = Model(ridge=ridge, co_regularization=0.0, learn=True).fit(blocks, y)
    assert model.expected_precisions_["ridge"][4] == 0.0
    assert model.expected_precisions_["co_regularization"] == 0.0
    assert model.expected_precisions_["smoothness"] == 0.0
    assert (model.expected_precisions_["ridge"][:4] > 0.0).all()
    np.testing.assert_allclose(np.diagonal(model.prior_precision_)[[3, 8]], 0.01)  # constants, not learned


@COLLAPSES
def test_shared_smoothness_is_one_precision_and_the_rest_one_per_view():
    blocks, y = draw(widths=(3, 4, 2))
    assert smooth_model(learn=True).fit(blocks, y).expected_precisions_["smoothness"].shape == ()
    assert smooth_model(learn=True, smoothness=[0.1] * 3).fit(blocks, y).expected_precisions_["smoothness"].shape == (
        3,
    )
    by_name = dict.fromkeys(["view_0", "view_1", "view_2"], 0.1)
    a, b = (smooth_model(smoothness=value).fit(blocks, y).coef_ for value in (0.1, by_name))
    np.testing.assert_array_equal(a, b)


def test_a_normalized_affinity_is_the_density():
    blocks, y = draw(widths=(3, 3, 3))
    density = (2 * np.pi * KAPPA) ** -1.5
    plain = smooth_model(smoothness=SMOOTH * density).fit(blocks, y)
    np.testing.assert_allclose(smooth_model(normalize_smoothness_kernel=True).fit(blocks, y).coef_, plain.coef_)


def test_smoothness_does_not_depend_on_where_the_features_lie():
    blocks, _ = draw(widths=(3, 4, 2))
    X, y = [block + 1e6 for block in blocks], [None] * 16
    y[:2] = "ab"
    near, far = (smooth_model(co_regularization=0.0).fit(B, y).prior_precision_ for B in (blocks, X))
    np.testing.assert_allclose(far, near, rtol=1e-8)


def test_no_labels_and_one_class():
    blocks, y = draw()
    none = Model(classes=["a", "b"]).fit(blocks, [None] * len(y))
    assert not none.coef_.any()
    np.testing.assert_array_equal(none.label_distributions_, 0.5)
    only = [None if label == "b" else label for label in y]
    one = Model(classes=["a", "b"]).fit(blocks, only)
    assert (one.predict_proba(blocks)[:, 0] > 0.5).mean() > 0.8
    with pytest.raises(ValueError, match="only one class"):
        Model().fit(blocks, only)


def test_weights_that_nothing_determines_raise():
    blocks, y = draw(widths=(3, 4, 2))
    with pytest.raises(NotPositiveDefiniteError, match="positive ridge"):
        Model(ridge=0.0, co_regularization=0.0, fit_intercept=False).fit(np.hstack([blocks[1], blocks[1]])[6:], y[6:])


def test_a_sample_without_views():
    blocks, y = draw(widths=(3, 4, 2))
    gone = [block.copy() for block in blocks]
    for block in gone:
        block[4] = np.nan
    with pytest.raises(ViewError, match=r"1 of 16 have none: .*4"):
        Model().fit(gone, y)
    model = Model(no_view="prior").fit(gone, y)
    np.testing.assert_array_equal(model.label_distributions_[4], 0.5)
    rest = np.arange(16) != 4
    np.testing.assert_allclose(model.coef_, Model().fit([b[rest] for b in gone], y[rest]).coef_, rtol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": [1.0, 2.0]}, "each of the 9 features"),
        ({"ridge": [-1.0] * 9}, "ridge must be finite and not negative"),
        ({"smoothness": [1.0]}, "one for each of the 3 views"),
        (
            {"smoothness": {"view_0": 1.0, "veiw_1": 1.0}},
            r"unknown: \['veiw_1'\], without a value: \['view_1', 'view_2'\]",
        ),
        ({"smoothness": {"view_0": 1.0}}, r"without a value: \['view_1', 'view_2'\]"),
        ({"smoothness": 1.0, "smoothness_kernel_variance": [0.0, 1.0, 1.0]}, "finite and positive"),
        ({"learn": True, "hyper_priors": {"rigde": (1, 1)}}, "rigde"),
        ({"learn": True, "hyper_priors": {"ridge": 1.0}}, "pair of positive numbers"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    blocks, y = draw(widths=(3, 4, 2))
    with pytest.raises(ValueError, match=message):
        Model(**parameters).fit(blocks, y)


def test_unknown_view_to_predict_from():
    blocks, y = draw()
    with pytest.raises(ViewError, match="sound"):
        Model().fit(blocks, y).predict(blocks, view="sound")
