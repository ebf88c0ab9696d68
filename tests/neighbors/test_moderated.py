"""Moderated nearest neighbors: probabilities by hand, classes as scikit-learn's, and its checks."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from coview.neighbors import ModeratedKNeighborsClassifier


@pytest.mark.parametrize("k", [1, 4])
def test_probabilities_count_one_more_in_every_class(k):
    rng = np.random.default_rng(0)
    X, y, new = rng.normal(size=(40, 3)), np.arange(40) % 5, rng.normal(size=(15, 3))
    model, plain = ModeratedKNeighborsClassifier(k).fit(X, y), KNeighborsClassifier(k).fit(X, y)
    nearest = np.argsort(((new[:, None] - X) ** 2).sum(axis=2), axis=1)[:, :k]
    counts = np.array([np.bincount(y[rows], minlength=5) for rows in nearest])
    np.testing.assert_allclose(model.predict_proba(new), (counts + 1) / (k + 5))
    np.testing.assert_array_equal(model.predict(new), plain.predict(new))
    assert model.predict_proba(new).min() == pytest.approx(1 / (k + 5))


def test_weights_by_distance_are_moderated_too():
    model = ModeratedKNeighborsClassifier(2, weights="distance").fit([[0.0], [3.0], [9.0]], ["a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[(2 * 2 / 3 + 1) / 4, (2 / 3 + 1) / 4]])


@parametrize_with_checks([ModeratedKNeighborsClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
