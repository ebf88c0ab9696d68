"""Generated problems: their Bayes rules reach the accuracy that theory gives, and the options do what they say."""

import numpy as np
import pytest
from scipy.stats import norm

from coview.datasets import make_multiview_classification, make_two_gaussian_views, make_xor_views

N = 40_000
# three standard deviations of an accuracy near 0.5, the widest case
TOLERANCE = 3 * 0.5 / np.sqrt(N)


def columns(views):
    return views["x1"].ravel(), views["x2"].ravel()


def test_both_views_useful_reaches_its_bayes_accuracy_jointly_and_alone():
    views, y = make_two_gaussian_views(N, random_state=0)
    x1, x2 = columns(views)
    assert ((x1 > x2) == y).mean() == pytest.approx(norm.cdf(2 * np.sqrt(2)), abs=TOLERANCE)
    assert ((x1 > 0) == y).mean() == pytest.approx(norm.cdf(2), abs=TOLERANCE)
    assert ((x2 < 0) == y).mean() == pytest.approx(norm.cdf(2), abs=TOLERANCE)


def test_second_view_useless_is_pure_noise():
    views, y = make_two_gaussian_views(N, useful_views=1, random_state=0)
    x1, x2 = columns(views)
    assert ((x1 > 0) == y).mean() == pytest.approx(norm.cdf(2), abs=TOLERANCE)
    assert ((x2 > 0) == y).mean() == pytest.approx(0.5, abs=TOLERANCE)


def test_xor_needs_both_views():
    views, y = make_xor_views(N, random_state=0)
    x1, x2 = columns(views)
    bayes = norm.cdf(2) ** 2 + norm.cdf(-2) ** 2
    assert ((x1 * x2 > 0) == y).mean() == pytest.approx(bayes, abs=TOLERANCE)
    assert ((x1 > 0) == y).mean() == pytest.approx(0.5, abs=TOLERANCE)
    assert ((x2 > 0) == y).mean() == pytest.approx(0.5, abs=TOLERANCE)


def test_views_are_independent_given_the_class():
    views, y = make_two_gaussian_views(N, random_state=1)
    x1, x2 = columns(views)
    for label in (0, 1):
        assert np.corrcoef(x1[y == label], x2[y == label])[0, 1] == pytest.approx(0, abs=2 * TOLERANCE)


@pytest.mark.parametrize("make", [make_two_gaussian_views, make_xor_views, make_multiview_classification])
@pytest.mark.parametrize("n_samples", [40, 41])
def test_classes_are_even_and_in_random_order(make, n_samples):
    views, y = make(n_samples, random_state=3)
    assert views.n_samples == len(y) == n_samples
    assert abs(np.bincount(y)[0] - np.bincount(y)[1]) <= 1
    assert (np.diff(y) != 0).sum() not in (1, n_samples - 1)


@pytest.mark.parametrize("make", [make_two_gaussian_views, make_xor_views, make_multiview_classification])
def test_same_seed_same_draw_and_the_global_generator_stays(make):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state is what is checked
    (first, y_first), (second, y_second) = make(50, random_state=5), make(50, random_state=5)
    assert first == second
    np.testing.assert_array_equal(y_first, y_second)
    assert first != make(50, random_state=6)[0]
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_classification_bayes_rule_beats_a_single_view_and_reaches_theory():
    """Two opposite classes at distance 2 r: accuracy of the Bayes rule is Phi(sqrt(sum r_j^2 / s_j^2))."""
    views, y, centers = make_multiview_classification(
        N, n_features=(4, 7), class_sep=(1.0, 0.5), noise=(2.0, 1.0), random_state=0, return_centers=True
    )
    distances = sum(
        ((views[name][:, None] - center) ** 2).sum(axis=2) / scale**2
        for name, center, scale in zip(views.names, centers, (2.0, 1.0), strict=True)
    )
    expected = norm.cdf(np.sqrt(1.0 / 4 + 0.25))
    assert (distances.argmin(axis=1) == y).mean() == pytest.approx(expected, abs=TOLERANCE)


def test_classification_centers_and_noise_are_as_asked():
    views, y, centers = make_multiview_classification(
        N, n_features=(3, 2), n_classes=3, class_sep=(2.0, 0.0), noise=0.5, random_state=0, return_centers=True
    )
    np.testing.assert_allclose(np.linalg.norm(centers[0], axis=1), 2.0)
    np.testing.assert_array_equal(centers[1], np.zeros((3, 2)))
    for label in range(3):
        block = views["view_0"][y == label]
        np.testing.assert_allclose(block.mean(axis=0), centers[0][label], atol=4 * 0.5 / np.sqrt(N / 3))
        np.testing.assert_allclose(block.std(axis=0), 0.5, atol=0.02)


def test_classification_views_are_missing_as_often_as_asked():
    views, _ = make_multiview_classification(N, n_features=(1, 1, 1), missing=(0.0, 0.3, 0.8), random_state=0)
    np.testing.assert_allclose(1 - views.presence.mean(axis=0), [0.0, 0.3, 0.8], atol=TOLERANCE)


def test_classification_nobody_is_left_without_a_view():
    views, _ = make_multiview_classification(2000, n_features=(1, 1), missing=0.9, random_state=0)
    assert views.presence.any(axis=1).all()
    assert (views.presence.sum(axis=1) == 1).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": ()}, "one width of at least 1 per view"),
        ({"n_features": (3, 0)}, "one width of at least 1 per view"),
        ({"n_classes": 1}, "n_classes must be at least 2"),
        ({"n_samples": 1}, "n_samples at least n_classes; got 2 and 1"),
        ({"class_sep": (1.0, 2.0, 3.0)}, r"class_sep must be one number or one per view \(2\); got 3"),
        ({"noise": -1.0}, "noise must not be negative"),
        ({"noise": np.nan}, "noise must not be negative or NaN"),
        ({"missing": 1.5}, "missing must be a probability"),
        ({"missing": 1.0, "n_features": (3,)}, "missing must be below 1 for a single view"),
    ],
)
def test_classification_refuses_what_makes_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        make_multiview_classification(**options)


@pytest.mark.parametrize("useful_views", [0, 3, "x1"])
def test_toy_refuses_other_numbers_of_useful_views(useful_views):
    with pytest.raises(ValueError, match="useful_views must be 1 or 2"):
        make_two_gaussian_views(useful_views=useful_views)


def test_toys_refuse_fewer_samples_than_clusters():
    with pytest.raises(ValueError, match="n_samples must be at least 4, one per cluster; got 3"):
        make_xor_views(3)
