"""Classes and probabilities from scores of any of the views."""

import numpy as np
import pytest

from coview.inference import PlattScaling, ViewScoreCalibration, classes_of_scores, mean_scores, signs_of

NAN = np.nan


def test_signs_tell_the_second_class_or_each_against_the_rest():
    codes = np.array([0, 1, 2, 1])
    assert signs_of(np.array([0, 1, 0]), 2)[:, 0].tolist() == [-1.0, 1.0, -1.0]
    assert signs_of(np.array([0, 0]), 1)[:, 0].tolist() == [1.0, 1.0]
    np.testing.assert_array_equal(signs_of(codes, 3), 2.0 * (codes[:, None] == np.arange(3)) - 1.0)


def test_means_are_over_the_views_at_hand():
    scores = np.array([[[1.0], [3.0]], [[NAN], [3.0]], [[NAN], [NAN]]])
    np.testing.assert_array_equal(mean_scores(scores), [[2.0], [3.0], [NAN]])


def test_classes_follow_the_score_and_the_prior_where_there_is_none():
    two = np.array([[0.0], [-1e-9], [NAN]])
    assert classes_of_scores(two, np.array([0.6, 0.4])).tolist() == [1, 0, 0]
    assert classes_of_scores(two, np.array([0.3, 0.7])).tolist() == [1, 0, 1]
    three = np.array([[-1.0, -2.0, -0.5], [NAN, NAN, NAN]])
    assert classes_of_scores(three, np.array([0.2, 0.5, 0.3])).tolist() == [2, 1]
    assert classes_of_scores(two, np.array([1.0])).tolist() == [0, 0, 0]


def draw(n_functions=1, n=40, seed=0):
    """A calibration of two views, of which the first is surer than it should be on labels that it has seen."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % max(n_functions, 2)
    signs = signs_of(codes, max(n_functions, 2))
    held = signs[:, None, :] * [[[0.2], [1.0]]] + rng.normal(size=(n, 2, n_functions))
    shares = np.full(max(n_functions, 2), 1.0 / max(n_functions, 2))
    return ViewScoreCalibration(held, 10.0 * signs[:, None, :] * np.ones((1, 2, 1)), signs, shares)


def test_each_combination_of_views_has_its_own_sigmoid():
    """That of Platt for its mean scores, turned round too, so that 0 means one half."""
    calibration = draw()
    new = np.array([[[0.7], [NAN]], [[NAN], [0.7]], [[0.7], [0.7]], [[NAN], [NAN]], [[0.0], [0.0]]])
    p = calibration.probabilities(new)[:, 1]
    for row, views in ((0, [0]), (1, [1]), (2, [0, 1])):
        means, positive = calibration.held_out[:, views].mean(axis=1)[:, 0], calibration.signs[:, 0] > 0.0
        scaling = PlattScaling.fit(np.concatenate([means, -means]), np.concatenate([positive, ~positive]))
        np.testing.assert_allclose(p[row], scaling.probability(np.array(0.7)), rtol=1e-10)
    assert p[0] < p[1]  # the first view knows less
    np.testing.assert_allclose(p[3:], 0.5, rtol=1e-9)


def test_few_labels_leave_scores_that_have_seen_them():
    calibration = draw(n=4)
    known = ViewScoreCalibration(calibration.fitted, calibration.fitted, calibration.signs, calibration.shares)
    new = np.array([[[0.7], [0.7]]])
    np.testing.assert_array_equal(calibration.probabilities(new), known.probabilities(new))
    many = draw(n=40)
    known = ViewScoreCalibration(many.fitted, many.fitted, many.signs, many.shares)
    assert not np.allclose(many.probabilities(new), known.probabilities(new))


def test_the_largest_score_is_the_most_probable_class():
    calibration = draw(3, n=60)
    scores = np.random.default_rng(1).normal(size=(30, 2, 3))
    scores[:5, 0] = NAN
    p = calibration.probabilities(scores)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(p.argmax(axis=1), mean_scores(scores).argmax(axis=1))


@pytest.mark.parametrize("column", [0, 1])
def test_samples_without_held_out_scores_of_a_view_do_not_count_for_it(column):
    calibration = draw()
    held = calibration.held_out.copy()
    held[:10, column] = NAN
    fewer = ViewScoreCalibration(held, calibration.fitted, calibration.signs, calibration.shares)
    rest = ViewScoreCalibration(
        calibration.held_out[10:], calibration.fitted[10:], calibration.signs[10:], calibration.shares
    )
    new = np.full((1, 2, 1), NAN)
    new[0, column] = 1.3
    np.testing.assert_allclose(fewer.probabilities(new), rest.probabilities(new))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_held_out_scores_against_the_labels_leave_even_probabilities_in_the_order_of_the_scores(n_classes):
    codes = np.arange(12) % n_classes
    signs = signs_of(codes, n_classes)
    fitted = signs[:, None, :]
    calibration = ViewScoreCalibration(-fitted, fitted, signs, np.full(n_classes, 1.0 / n_classes))
    new = np.random.default_rng(0).normal(size=(20, 1, signs.shape[1]))
    p = calibration.probabilities(new)
    assert np.abs(p - 1.0 / n_classes).max() < 0.1
    np.testing.assert_array_equal(p.argmax(axis=1), classes_of_scores(new[:, 0], calibration.shares))
    if n_classes == 2:
        np.testing.assert_array_equal(np.argsort(p[:, 1]), np.argsort(new[:, 0, 0]))


def test_one_class_is_certain():
    only = ViewScoreCalibration(np.ones((3, 1, 1)), np.ones((3, 1, 1)), np.ones((3, 1)), np.array([1.0]))
    np.testing.assert_array_equal(only.probabilities(np.array([[[-4.0]], [[NAN]]])), [[1.0], [1.0]])
