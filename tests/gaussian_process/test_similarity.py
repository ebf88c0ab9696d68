"""Similarities of samples under a fitted average."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

from coview import Views
from coview.gaussian_process import (
    BayesianCoTrainingClassifier,
    BayesianCoTrainingRegressor,
    CoTrainingKernelTransformer,
)

LINEAR = ConstantKernel(1.0, "fixed") * DotProduct(0.0, "fixed")


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    presence = np.ones((24, 2), dtype=bool)
    presence[::4, 1] = False
    return Views([rng.normal(size=(24, 3)), rng.normal(size=(24, 4))], names=["a", "b"], presence=presence)


@pytest.fixture(scope="module")
def target(views):
    y = np.array(["x", "y"] * 12, dtype=object)
    y[12:] = None
    return y


@pytest.mark.parametrize("latent", ["mean", "consensus"])
def test_one_setting_gives_the_covariance_of_the_kernel_transformer(views, target, latent):
    model = BayesianCoTrainingClassifier(
        LINEAR, latent=latent, hyperparameters="fixed", view_variances=0.5, approximation="exact"
    ).fit(views, target)
    kernel = CoTrainingKernelTransformer(LINEAR, view_variances=0.5).fit_transform(views)
    unit = np.trace(kernel) / 24  # for the consensus too: noise of a sample's own belongs to no similarity
    np.testing.assert_allclose(model.similarity(), kernel / unit, atol=1e-10)
    np.testing.assert_allclose(model.similarity(views), kernel / unit, atol=1e-10)


def test_an_average_has_unit_mean_similarity_and_sees_training_rows_again(views, target):
    model = BayesianCoTrainingClassifier(random_state=0).fit(views, target)
    own = model.similarity()
    assert np.diag(own).mean() == pytest.approx(1.0)
    np.testing.assert_allclose(own, own.T, atol=1e-12)
    assert np.linalg.eigvalsh(own).min() > -1e-10
    np.testing.assert_allclose(model.similarity(views, rows=[3, 7]), own[:, [3, 7]], atol=1e-8)
    np.testing.assert_allclose(model.similarity(rows=[3, 7]), own[np.ix_([3, 7], [3, 7])], atol=1e-12)


def test_the_regressor_has_it_and_rows_are_checked(views):
    model = BayesianCoTrainingRegressor(random_state=0).fit(views, np.arange(24.0))
    assert model.similarity(views[:5]).shape == (5, 24)
    with pytest.raises(ValueError, match=r"rows must be positions among 24 training samples.*'24'"):
        model.similarity(rows=[0, 24])
