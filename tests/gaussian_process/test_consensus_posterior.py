"""Which of the averaged settings measurements are scored under."""

import numpy as np
import pytest

from coview.gaussian_process import BayesianCoTrainingClassifier


@pytest.fixture
def one_view_tells():
    """The first view tells classes, the second is noise: evidence prefers to set the second aside."""
    rng = np.random.default_rng(0)
    classes = np.arange(60) % 2
    views = {"tells": classes[:, None] + 0.1 * rng.normal(size=(60, 2)), "noise": rng.normal(size=(60, 3))}
    return views, np.where(np.arange(60) < 30, classes, -1)


_COMMON = {"kernels": "linear", "n_components": 2, "amplitude": 4.0, "view_variances": np.inf}
_ONLY_FIRST = {**_COMMON, "view_factors": [1.0, 1000.0]}


def test_measurements_are_scored_with_all_views(one_view_tells):
    model = BayesianCoTrainingClassifier(settings=[_ONLY_FIRST, _COMMON]).fit(*one_view_tells)
    assert model.consensus_posterior().setting.tells_trust
    assert not model.consensus_posterior(features=True).setting.tells_trust


def test_a_setting_of_unequal_views_serves_where_there_is_no_other(one_view_tells):
    model = BayesianCoTrainingClassifier(settings=[_ONLY_FIRST]).fit(*one_view_tells)
    assert model.consensus_posterior(features=True).setting.view_factors == (1.0, 1000.0)
