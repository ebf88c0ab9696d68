"""A comparison that is stopped goes on where it was."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from coview.metrics import probability_scores
from coview.model_selection import compare_methods, label_draws, resume_comparison

Y = np.array(["a"] * 12 + ["b"] * 8, dtype=object)
X = np.zeros((20, 1))


class Counting(ClassifierMixin, BaseEstimator):
    """Gives a constant probability, counts its fits, and fails in one of them."""

    fits = 0

    def __init__(self, share=0.5, fail_at=None):
        self.share = share
        self.fail_at = fail_at

    def fit(self, X, y):
        Counting.fits += 1
        if Counting.fits == self.fail_at:
            raise KeyboardInterrupt
        self.classes_ = np.array(["a", "b"], dtype=object)
        self.label_distributions_ = np.tile([self.share, 1 - self.share], (len(y), 1))
        return self


class Broken(Counting):
    """Cannot be fitted."""

    def fit(self, X, y):
        raise RuntimeError("no, not with these")


@pytest.fixture(autouse=True)
def no_fits():
    Counting.fits = 0


@pytest.fixture
def draws():
    return [draw for n in (4, 8) for draw in label_draws(Y, n, n_draws=3, random_state=0)]


def resume(file, methods, draws, **options):
    return resume_comparison(file, methods, X, Y, draws, scorer=probability_scores, **options)


def test_scores_are_those_of_a_comparison(tmp_path, draws):
    methods = {"even": Counting(), "sure": Counting(0.7)}
    found = resume(tmp_path / "s.csv", methods, draws)
    expected = compare_methods(methods, X, Y, draws, scorer=probability_scores).scores
    shared = [name for name in expected.columns if name not in ("seconds", "preparation")]
    pd.testing.assert_frame_equal(found[shared], expected[shared], check_dtype=False)
    reread = resume(tmp_path / "s.csv", methods, draws)
    pd.testing.assert_frame_equal(reread, found, check_dtype=False, rtol=1e-15)
    assert [file.name for file in tmp_path.iterdir()] == ["s.csv"]


def test_what_was_done_before_an_interruption_is_not_done_again(tmp_path, draws):
    with pytest.raises(KeyboardInterrupt):
        resume(tmp_path / "s.csv", {"one": Counting(), "two": Counting(0.7, fail_at=9)}, draws)
    Counting.fits, told = 0, []
    found = resume(tmp_path / "s.csv", {"one": Counting(), "two": Counting(0.7)}, draws, progress=told.append)
    assert Counting.fits == 6
    assert told == ["two"]
    assert found.groupby("method").size().to_dict() == {"one": 6, "two": 6}


def test_more_draws_and_methods_named_again_are_fitted(tmp_path, draws):
    methods = {"one": Counting(), "two": Counting(0.7)}
    resume(tmp_path / "s.csv", methods, draws)
    Counting.fits = 0
    found = resume(tmp_path / "s.csv", {"one": Counting(0.9)}, draws, again=["one"])
    assert Counting.fits == 6
    assert found.loc[found["method"] == "one", "log_loss"].iloc[0] != found["log_loss"].iloc[0]
    more = [*draws, *label_draws(Y, 10, n_draws=1, random_state=0)]
    found = resume(tmp_path / "s.csv", methods, more)
    assert found.groupby("method").size().to_dict() == {"one": 7, "two": 7}


def test_scores_of_other_draws_are_refused(tmp_path, draws):
    resume(tmp_path / "s.csv", {"one": Counting()}, draws)
    with pytest.raises(ValueError, match=r"s\.csv holds scores of other draws: draw 0 with 4 labels"):
        resume(tmp_path / "s.csv", {"one": Counting()}, label_draws(Y, 4, n_draws=3, random_state=1))


def test_recorded_errors_count_as_done(tmp_path, draws):
    options = {"on_error": "record"}
    found = resume(tmp_path / "s.csv", {"broken": Broken(), "one": Counting()}, draws, **options)
    assert set(found.loc[found["method"] == "broken", "error"]) == {"RuntimeError: no, not with these"}
    again = resume(tmp_path / "s.csv", {"broken": Counting()}, draws, **options)
    assert Counting.fits == 6
    assert set(again.loc[again["method"] == "one", "error"]) == {""}
