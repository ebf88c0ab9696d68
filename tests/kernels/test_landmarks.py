"""Landmark features: exact at full rank, nested, the same for rows seen again, sparse or dense."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

from coview.kernels import LandmarkFeatures, SpectralFeatures, gram

KERNELS = [RBF(1.5), ConstantKernel(2.0) * DotProduct(0.0), ConstantKernel(0.5) * RBF(1.0) + DotProduct(1.0)]


def rows(n=15, p=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.6)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_full_rank_is_the_centered_scaled_kernel(kernel, center, scale, form):
    X, new = rows(), rows(6, seed=1)
    options = {"center": center, "scale": scale}
    exact = SpectralFeatures(kernel, None, **options).fit(form(X))
    features = LandmarkFeatures(kernel, None, **options).fit(form(X))
    phi, expected = features.transform(form(X)), exact.transform(form(X))
    np.testing.assert_allclose(phi @ phi.T, expected @ expected.T, atol=1e-8)
    fresh = features.transform(form(new))
    np.testing.assert_allclose(fresh @ phi.T, exact.transform(form(new)) @ expected.T, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_rows_and_kernels_do_not_matter(scale):
    X = rows()
    plain = LandmarkFeatures(RBF(1.5), 6, scale=False).fit(X)
    stretched = LandmarkFeatures(RBF(1.5 * scale), 6, scale=False).fit(scale * X)
    np.testing.assert_array_equal(stretched.spectrum_.positions, plain.spectrum_.positions)
    np.testing.assert_allclose(stretched.transform(scale * X), plain.transform(X), atol=1e-9)
    louder = LandmarkFeatures(ConstantKernel(scale) * RBF(1.5), 6, scale=False).fit(X)
    np.testing.assert_allclose(louder.transform(X), np.sqrt(scale) * plain.transform(X), atol=1e-9 * np.sqrt(scale))


def test_error_falls_with_rank_and_leading_features_stay():
    X = rows(40)
    K = RBF(1.5)(X)
    most = LandmarkFeatures(RBF(1.5), 20, scale=False).fit(X).transform(X)
    errors = []
    for r in (1, 3, 8, 20):
        features = LandmarkFeatures(RBF(1.5), r, scale=False).fit(X)
        phi = features.transform(X)
        np.testing.assert_allclose(phi, most[:, :r], atol=1e-10)
        errors.append(np.trace(K - phi @ phi.T))
        landmarks = features.spectrum_.positions
        np.testing.assert_allclose((phi @ phi.T)[landmarks], K[landmarks], atol=1e-9)
    assert (np.diff(errors) < 0).all()
    assert errors[-1] > 0


def test_repeated_rows_and_low_ranks_need_fewer_landmarks():
    repeated = np.tile(rows(5), (3, 1))
    features = LandmarkFeatures(Matern(1.0), 12).fit(repeated)
    assert sorted(features.spectrum_.positions % 5) == [0, 1, 2, 3, 4]
    assert LandmarkFeatures("linear", 12).fit(rows()).spectrum_.positions.size == 4


def test_landmarks_stand_among_the_candidates_and_are_seeded():
    X = rows(60)
    one, same, other = (LandmarkFeatures("rbf", 10, n_candidates=20, random_state=seed).fit(X) for seed in (None, 0, 1))
    np.testing.assert_array_equal(one.spectrum_.positions, same.spectrum_.positions)
    assert set(one.spectrum_.positions) != set(other.spectrum_.positions)
    assert one.spectrum_.positions.size == 10


def test_a_known_spectrum_gives_the_same_features():
    X = rows(30)
    fitted = LandmarkFeatures("rbf", 8, 12, center=True).fit(X)
    again = LandmarkFeatures("rbf", 8, 12, center=True).fit(X, spectrum=fitted.spectrum_)
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_with_all_rows_as_landmarks_the_leading_directions_are_the_spectrum(center, scale):
    X, new = rows(), rows(6, seed=1)
    options = {"center": center, "scale": scale}
    spectral = SpectralFeatures(RBF(1.5), 5, **options).fit(X)
    features = LandmarkFeatures(RBF(1.5), 5, 15, **options).fit(X)
    np.testing.assert_allclose(features.eigenvalues_, spectral.eigenvalues_, rtol=1e-8)
    phi, expected = features.transform(X), spectral.transform(X)
    np.testing.assert_allclose(phi @ phi.T, expected @ expected.T, atol=1e-8)
    np.testing.assert_allclose(features.transform(new) @ phi.T, spectral.transform(new) @ expected.T, atol=1e-7)


def test_more_landmarks_than_components_come_nearer_to_the_spectrum():
    X = rows(60)
    values, vectors = np.linalg.eigh(RBF(1.5)(X))
    best = vectors[:, -6:] * values[-6:] @ vectors[:, -6:].T
    errors = []
    for q in (6, 12, 24, 60):
        phi = LandmarkFeatures(RBF(1.5), 6, q, scale=False).fit(X).transform(X)
        assert phi.shape == (60, 6)
        errors.append(np.linalg.norm(phi @ phi.T - best))
    assert (np.diff(errors) < 0).all()
    assert errors[-1] < 1e-6


def test_cuts_of_a_kernel_of_lower_rank_are_leading_directions_too():
    X = np.repeat(rows(8), 5, axis=0)
    K = RBF(1.5)(X)
    values, vectors = np.linalg.eigh(K)
    phi = LandmarkFeatures(RBF(1.5), 10, 20, scale=False).fit(X).transform(X)
    assert phi.shape == (40, 8)
    np.testing.assert_allclose(phi @ phi.T, K, atol=1e-9)
    leading = vectors[:, -3:] * values[-3:] @ vectors[:, -3:].T
    np.testing.assert_allclose(phi[:, :3] @ phi[:, :3].T, leading, atol=1e-9)


def test_rows_come_in_blocks_that_change_nothing(monkeypatch):
    X = rows(23)
    whole = LandmarkFeatures("rbf", 8, center=True).fit(X)
    expected = whole.transform(X)
    monkeypatch.setattr("coview.kernels._landmarks._BLOCK_ROWS", 7)
    features = LandmarkFeatures("rbf", 8, center=True).fit(X)
    np.testing.assert_allclose(features.transform(X), expected, atol=1e-12)
    np.testing.assert_allclose(features.transform(X[5:6]), expected[5:6], atol=1e-12)
    assert features.transform(X[:0]).shape == (0, 8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_that_say_nothing_have_no_features(form):
    constant = form(np.ones((7, 3)))
    assert LandmarkFeatures(RBF(1.0), 5, center=True).fit(constant).transform(constant).shape == (7, 0)
    assert LandmarkFeatures("linear", 5).fit(form(np.zeros((7, 3)))).transform(constant).shape == (7, 0)
    assert LandmarkFeatures("rbf", 5).fit(form(np.zeros((0, 3)))).transform(constant).shape == (7, 0)


def test_a_view_may_have_a_kernel_that_is_a_function():
    X = rows()
    features = LandmarkFeatures(lambda A, B: np.minimum(np.abs(A).sum(axis=1)[:, None], np.abs(B).sum(axis=1)), None)
    phi = features.fit(X).transform(X)
    K = gram(features.kernel_, X)
    np.testing.assert_allclose(phi @ phi.T, K / np.mean(np.diagonal(K)), atol=1e-8)
