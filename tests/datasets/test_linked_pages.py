"""Made-up pages: sizes, words that tell, missing views, what misleads, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from coview.datasets import make_linked_pages


@pytest.fixture(scope="module")
def pages():
    return make_linked_pages(800, random_state=3)


def test_sizes_and_shares(pages):
    assert pages.views.n_features == {"page": 3000, "link": 1800}
    assert pages.target.value_counts().to_dict() == {"other": 624, "course": 176}
    assert pages.views.index.equals(pages.target.index)
    assert all(sparse.issparse(pages.views[name]) for name in pages.views.names)
    for name in pages.views.names:
        np.testing.assert_allclose(sparse.linalg.norm(pages.views[name], axis=1), 1.0)
        assert list(pages.views.feature_names[name]) == pages.words[name]


def test_a_page_without_words_lacks_the_view(pages):
    missing = 800 - pages.views.presence.sum(axis=0)
    assert missing[0] == 0
    assert 0 < missing[1] < 30  # exp(-5) of 800 is 5


@pytest.mark.parametrize("view", ["page", "link"])
def test_telling_words_tell_and_others_do_not(pages, view):
    course = (pages.target == "course").to_numpy()[pages.views.rows(view)]
    used = pages.views[view] > 0
    difference = pd.Series(used[course].mean(axis=0) - used[~course].mean(axis=0), index=pages.words[view])
    assert (difference[pages.telling[view]["course"]] > 0).mean() > 0.9
    assert (difference[pages.telling[view]["other"]] < 0).mean() > 0.9
    assert difference.drop([*pages.telling[view]["course"], *pages.telling[view]["other"]]).abs().mean() < 0.01


def test_misleading_links_bound_what_they_can_say():
    clear = make_linked_pages(800, misleading=(0.0, 0.0), length=(90.0, 30.0), random_state=0)
    wrong = make_linked_pages(800, misleading=(0.0, 0.2), length=(90.0, 30.0), random_state=0)
    scores = []
    for pages in (clear, wrong):
        rows = pages.views.rows("link")
        model = LogisticRegression(C=10.0).fit(pages.views["link"][:400], pages.target.to_numpy()[rows][:400])
        scores.append(model.score(pages.views["link"][400:], pages.target.to_numpy()[rows][400:]))
    assert scores[0] > 0.97
    assert 0.7 < scores[1] < 0.86


def test_same_seed_same_pages():
    first, second, other = (make_linked_pages(50, random_state=seed) for seed in (1, 1, 2))
    assert first.views == second.views
    pd.testing.assert_series_equal(first.target, second.target)
    assert first.views != other.views


@pytest.mark.parametrize("changes", [{"n_samples": 3}, {"share": 1.0}, {"n_words": (3000, 59)}])
def test_bad_input_is_named(changes):
    with pytest.raises(ValueError, match="Pages need"):
        make_linked_pages(**changes)
