"""LabeledKFold: unlabeled rows train always and test never; classes and missing patterns are spread evenly."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from coview import Views
from coview.model_selection import LabeledKFold

NAN = np.nan


def folds_of(splitter, X, y):
    """The fold of each sample, -1 where it is in no test part."""
    folds = np.full(len(y), -1)
    for fold, (train, test) in enumerate(splitter.split(X, y)):
        assert_array_equal(np.union1d(train, test), np.arange(len(y)))
        assert len(np.intersect1d(train, test)) == 0
        assert (folds[test] == -1).all()
        folds[test] = fold
    return folds


labels = st.lists(st.sampled_from([0, 1, 2, None]), min_size=12, max_size=40)


@settings(max_examples=60, deadline=None)
@given(labels, st.integers(2, 5), st.integers(0, 3), st.booleans())
@pytest.mark.filterwarnings("ignore:.*one labeled sample only")
def test_properties(y, n_splits, seed, shuffle):
    y = np.array([0, 0, 1, 1, 2, 2, *y], dtype=object)
    random = np.random.default_rng(seed)
    X = Views([np.where(random.random((len(y), 1)) < 0.6, 1.0, NAN), np.ones((len(y), 1))])
    splitter = LabeledKFold(n_splits, shuffle=shuffle, random_state=seed if shuffle else None)
    folds = folds_of(splitter, X, y)
    labeled = np.array([label is not None for label in y])
    assert_array_equal(folds >= 0, labeled)  # never tested where unlabeled, tested once where labeled
    for label in (0, 1, 2):
        counts = np.bincount(folds[(y == label) & labeled], minlength=n_splits)
        assert np.ptp(counts) <= 1
        for present in (True, False):
            stratum = (y == label) & (X.presence[:, 0] == present)
            assert np.ptp(np.bincount(folds[stratum], minlength=n_splits)) <= 1
    assert np.ptp(np.bincount(folds[labeled], minlength=n_splits)) <= 1


def test_same_seed_same_folds_and_other_seed_other_folds():
    y = np.arange(40) % 2
    X = np.ones((40, 1))
    first, again, other = (folds_of(LabeledKFold(4, random_state=seed), X, y) for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert (first != other).any()


def test_without_shuffling_samples_are_dealt_out_in_their_order():
    y = np.array([0, 1, 0, 1, 0, 1])
    assert_array_equal(folds_of(LabeledKFold(3, shuffle=False), np.ones((6, 1)), y), [0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize(
    "y",
    [
        np.array([0, 1, -1, 0, 1, -1]),
        np.array([0.0, 1.0, NAN, 0.0, 1.0, NAN]),
        np.array(["a", "b", None, "a", "b", None], dtype=object),
        pd.Series([0, 1, None, 0, 1, None], dtype="Int64"),
        pd.Series(["a", "b", None, "a", "b", None], dtype="category", index=list("uvwxyz")),
        ["a", "b", None, "a", "b", None],
    ],
)
def test_every_kind_of_gap(y):
    assert_array_equal(folds_of(LabeledKFold(2, random_state=0), np.ones((6, 1)), y)[[2, 5]], [-1, -1])


def test_missing_label():
    y = np.array([-1, 1, -1, 1])
    with pytest.raises(ValueError, match="missing_label"):
        folds_of(LabeledKFold(2), np.ones((4, 1)), y)
    assert (folds_of(LabeledKFold(2, missing_label=NAN), np.ones((4, 1)), y) >= 0).all()
    assert_array_equal(folds_of(LabeledKFold(2, missing_label=-1), np.ones((4, 1)), y) >= 0, y == 1)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_missing_rows_of_one_table_are_a_pattern(container):
    values = np.ones((12, 2))
    values[:6] = NAN
    folds = folds_of(LabeledKFold(3, random_state=0), container(values), np.zeros(12, dtype=int))
    assert_array_equal(np.bincount(folds[:6]), [2, 2, 2])
    assert_array_equal(np.bincount(folds[6:]), [2, 2, 2])


def test_tables_of_text():
    y = np.arange(8) % 2
    folds_of(LabeledKFold(2), pd.DataFrame({"text": list("abcdefgh")}), y)


def test_continuous_targets_are_split_by_pattern():
    y = np.linspace(0.05, 1, 12)
    y[3] = NAN
    X = Views([np.where(np.arange(12)[:, None] < 6, NAN, 1.0), np.ones((12, 1))])
    folds = folds_of(LabeledKFold(3, random_state=0), X, y)
    assert folds[3] == -1
    assert np.ptp(np.bincount(folds[6:])) <= 1


def test_rare_classes_warn_and_do_not_stop():
    y = np.array(["a"] * 6 + ["b"])
    with pytest.warns(UserWarning, match="1 of 2 classes have one labeled sample only"):
        folds = folds_of(LabeledKFold(3, random_state=0), np.ones((7, 1)), y)
    assert (folds >= 0).all()
    y[5] = "b"
    folds_of(LabeledKFold(3, random_state=0), np.ones((7, 1)), y)  # two samples: no warning


@pytest.mark.parametrize("n_splits", [1, 0, 2.5, "3", None])
def test_number_of_splits(n_splits):
    with pytest.raises(ValueError, match="n_splits must be an integer of at least 2"):
        list(LabeledKFold(n_splits).split(np.ones((4, 1)), [0, 1, 0, 1]))


def test_too_few_labels():
    with pytest.raises(ValueError, match="more than the 2 labeled samples of 4"):
        list(LabeledKFold(3).split(np.ones((4, 1)), [0, 1, None, None]))


def test_parameters_that_do_not_go_together():
    with pytest.raises(ValueError, match="random_state has no effect"):
        list(LabeledKFold(2, shuffle=False, random_state=0).split(np.ones((4, 1)), [0, 1, 0, 1]))
    with pytest.raises(ValueError, match="needs y"):
        list(LabeledKFold(2).split(np.ones((4, 1))))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        list(LabeledKFold(2).split(np.ones((4, 1)), [0, 1, 0]))


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts one class; remembers how many samples it was fitted on."""

    def __init__(self, answer=0):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y[y >= 0])
        self.n_fitted_ = len(X)
        return self

    def predict(self, X):
        return np.full(len(X), self.answer)


def test_under_the_tools_of_scikit_learn():
    y = np.array([0, 1, -1, 2] * 5)
    X = Views([np.ones((20, 1)), np.where(np.arange(20)[:, None] < 9, NAN, 1.0)])
    splitter = LabeledKFold(5, random_state=0)
    scores = cross_val_score(Constant(), X, y, cv=splitter)
    assert_array_equal(scores, np.full(5, 1 / 3))
    search = GridSearchCV(Constant(), {"answer": [-1, 1, 2]}, cv=splitter).fit(X, y)
    assert search.best_score_ == pytest.approx(1 / 3)
    assert search.best_estimator_.n_fitted_ == 20
    assert splitter.get_n_splits(X, y) == 5
    assert "n_splits=5" in repr(splitter)
    with pytest.raises(ValueError, match="partitions"):
        cross_val_predict(Constant(), X, y, cv=splitter)
