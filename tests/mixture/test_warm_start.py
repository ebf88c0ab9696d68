"""Fits that start where the last one ended."""

import numpy as np
import pytest

from coview import Views
from coview.mixture import ClassConditionalGaussianMixture, IncompleteGaussianMixture


def growing(n=150, seed=0):
    """Views of two classes before and after some values came in, and labels of a third of the samples."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    group = rng.integers(2, size=n)
    tables = [rng.standard_normal((n, p)) + 2.0 * codes[:, None] + 3.0 * group[:, None] for p in (2, 3)]
    presence = rng.random((n, 2)) < 0.6
    presence[np.arange(n), rng.integers(2, size=n)] = True
    more = presence | (rng.random((n, 2)) < 0.05)
    y = np.where(rng.random(n) < 0.4, codes, np.nan)
    return Views(tables, presence=presence), Views(tables, presence=more), y


MODELS = [
    *(ClassConditionalGaussianMixture(covariance_type=kind, random_state=0) for kind in ("view", "full", "diag")),
    ClassConditionalGaussianMixture(2, pooling="covariance", random_state=0),
    ClassConditionalGaussianMixture(2, pooling="density", random_state=0),
    ClassConditionalGaussianMixture("auto", max_components=3, random_state=0),
    *(IncompleteGaussianMixture(2, covariance_type=kind, random_state=0) for kind in ("view", "full", "diag")),
    IncompleteGaussianMixture("auto", max_components=4, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_after_few_values_more_it_ends_where_a_fresh_fit_does(model):
    before, after, y = growing()
    fresh = type(model)(**model.get_params()).fit(after, y)
    warm = type(model)(**model.get_params()).set_params(warm_start=True).fit(before, y)
    number = warm.n_components_
    warm.fit(after, y)
    assert warm.n_iter_ < 11  # a start that is not trusted is followed for so many in any case
    assert warm.n_components_ == number == fresh.n_components_
    assert warm.lower_bound_ == pytest.approx(fresh.lower_bound_, abs=0.01)
    np.testing.assert_allclose(warm.predict_proba(after), fresh.predict_proba(after), atol=0.1)


def test_without_warm_start_nothing_of_the_last_fit_matters():
    before, after, y = growing()
    model = ClassConditionalGaussianMixture(random_state=0).fit(before, y).fit(after, y)
    np.testing.assert_array_equal(model.means_, ClassConditionalGaussianMixture(random_state=0).fit(after, y).means_)


@pytest.mark.parametrize("change", ["class", "width", "pooling", "number", "first labels of a class"])
def test_what_cannot_go_on_starts_anew(change):
    before, after, y = growing()
    options = {"random_state": 0, "classes": [0.0, 1.0, 2.0] if change == "first labels of a class" else None}
    warm = ClassConditionalGaussianMixture(warm_start=True, **options).fit(before, y)
    y = y.copy()
    if change in ("class", "first labels of a class"):
        y[:3] = 2.0
    elif change == "width":
        after = Views([after["view_0"][:, :1], np.ones((len(after.rows("view_0")), 1))])
        y = y[before.presence[:, 0] | True][: len(after)]
    else:
        options |= {"pooling": "density"} if change == "pooling" else {"n_components": 2}
        warm.set_params(**options)
    fresh = ClassConditionalGaussianMixture(**options).fit(after, y)
    np.testing.assert_array_equal(warm.fit(after, y).means_, fresh.means_)


def test_factors_and_a_change_of_kind_start_anew():
    before, after, _ = growing()
    warm = IncompleteGaussianMixture(2, covariance_type="factor", n_factors=1, warm_start=True, random_state=0)
    warm.fit(before).fit(after).set_params(covariance_type="full").fit(after)
    assert warm.covariances_.shape == (2, 5, 5)
    assert np.isfinite(warm.score(after))


def test_known_parameters_are_a_start_too():
    _, after, y = growing()
    fitted = ClassConditionalGaussianMixture(pooling="none", random_state=0).fit(after, y)
    parts = {
        c: (
            [1.0],
            [fitted.means_[[k], :2], fitted.means_[[k], 2:]],
            [fitted.covariances_[[k], :2, :2], fitted.covariances_[[k], 2:, 2:]],
        )
        for k, c in enumerate(fitted.classes_.tolist())
    }
    known = ClassConditionalGaussianMixture.from_parameters(fitted.class_prior_, parts).set_params(warm_start=True)
    known.fit(after, y)
    assert known.n_iter_ <= 2
    assert known.lower_bound_ == pytest.approx(fitted.lower_bound_, abs=1e-3)
