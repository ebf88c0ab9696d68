"""Spectral features: centered, scaled, cut, in this order; in input space and from the Gram matrix alike."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from coview.kernels import GramSpectrum, SpectralFeatures


def rows(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) + 2.0


def reference(K, crosses, n_components, *, center, scale):
    """Covariances of training rows, and of new rows with training rows, by the definition."""
    n = len(K)
    if center:
        H = np.eye(n) - 1 / n
        crosses = crosses - crosses.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
        K = H @ K @ H
    if scale:
        divisor = np.trace(K) / n
        K, crosses = K / divisor, crosses / divisor
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = min(n if n_components is None else n_components, int((values > 1e-12 * values[0]).sum()))
    U = vectors[:, :rank]
    return values[:rank], U * values[:rank] @ U.T, crosses @ U @ U.T


@pytest.mark.parametrize("n_components", [None, 1, 3, 50])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("shape", [(12, 4), (6, 15)])
@pytest.mark.parametrize("kernel", [ConstantKernel(2.5) * DotProduct(0.0), RBF(3.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_are_the_definition(kernel, shape, center, scale, n_components, sparse):
    X, new = rows(*shape), rows(5, shape[1], seed=1)
    X[:, 0] *= X[:, 0] > 2  # zeros for the sparse form
    values, K, crosses = reference(kernel(X), kernel(new, X), n_components, center=center, scale=scale)
    form = sp.csr_array if sparse else np.asarray
    features = SpectralFeatures(kernel, n_components, center=center, scale=scale).fit(form(X))
    phi, fresh = features.transform(form(X)), features.transform(form(new))
    np.testing.assert_allclose(features.eigenvalues_, values, rtol=1e-7)
    np.testing.assert_allclose(phi @ phi.T, K, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(fresh @ phi.T, crosses, rtol=1e-6, atol=1e-7)


def test_an_order_beyond_the_dense_solver_gives_the_same_features():
    X = rows(450, 500, seed=3) * (np.random.default_rng(0).random((450, 500)) < 0.1)
    K = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    values = np.linalg.eigvalsh(K)[::-1][:5] / (np.trace(K) / 450)
    dense, sparse = (SpectralFeatures("linear", 5, center=True).fit(form(X)) for form in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(dense.eigenvalues_, values, rtol=1e-8)
    np.testing.assert_allclose(sparse.eigenvalues_, values, rtol=1e-8)
    left, right = dense.transform(X), sparse.transform(sp.csr_array(X))
    np.testing.assert_allclose(left @ left[:9].T, right @ right[:9].T, atol=1e-7)


def test_nothing_is_rescaled_after_the_cut():
    X = rows(10, 6)
    phi = SpectralFeatures("linear", 2, center=True, scale=True).fit(X).transform(X)
    full = SpectralFeatures("linear", None, center=True, scale=True).fit(X).transform(X)
    assert (full**2).sum() / 10 == pytest.approx(1.0)
    assert (phi**2).sum() / 10 < 1.0
    np.testing.assert_allclose(phi, full[:, :2], atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", RBF(1.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e8, 1e-8])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_constant_rows_have_no_centered_features(kernel, value, form):
    X = form(np.full((9, 3), value))
    features = SpectralFeatures(kernel, 5, center=True).fit(X)
    assert features.transform(X).shape == (9, 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_zero_rows_have_no_features_at_all(form):
    X = form(np.zeros((4, 3)))
    assert SpectralFeatures("linear", 2).fit(X).transform(X).shape == (4, 0)


@pytest.mark.parametrize("kernel", ["linear", RBF(1.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_view_without_rows_has_features_of_no_width(kernel, center, form):
    features = SpectralFeatures(kernel, 2, center=center).fit(form(np.zeros((0, 3))))
    assert features.transform(form(np.zeros((0, 3)))).shape == (0, 0)
    assert features.transform(form(np.ones((2, 3)))).shape == (2, 0)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_unit_of_a_column_does_not_matter_to_scaled_features(scale):
    X = rows(12, 4)
    plain, scaled = (SpectralFeatures("linear", 3, center=True).fit_transform(Z) for Z in (X, X * scale))
    np.testing.assert_allclose(scaled, plain, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", RBF(3.0)], ids=["linear", "rbf"])
def test_a_constant_added_to_every_row_changes_no_centered_feature(kernel):
    X, new = rows(12, 4), rows(3, 4, seed=1)
    plain = SpectralFeatures(kernel, 3, center=True).fit(X)
    shifted = SpectralFeatures(kernel, 3, center=True).fit(X + 5.0)
    np.testing.assert_allclose(shifted.transform(new + 5.0), plain.transform(new), atol=1e-7)


def test_parts_of_a_sum_of_kernels_add_up():
    X, Z = rows(8, 2), rows(8, 3, seed=1)
    new_x, new_z = rows(4, 2, seed=2), rows(4, 3, seed=3)
    K1, K2 = RBF(2.0)(X), RBF(3.0)(Z)
    spectrum = GramSpectrum.of(K1 + K2, 4, center=True, scale=True)
    first = spectrum.project_part(RBF(2.0)(new_x, X), K1.mean(axis=0))
    second = spectrum.project_part(RBF(3.0)(new_z, Z), K2.mean(axis=0))
    whole = spectrum.project(RBF(2.0)(new_x, X) + RBF(3.0)(new_z, Z))
    np.testing.assert_allclose(first + second, whole, atol=1e-10)
    assert np.abs(first).max() > 0.1


@pytest.mark.parametrize("kernel", [RBF(1.5), DotProduct(0.0)])
@pytest.mark.parametrize("center", [False, True])
def test_fitting_and_transforming_at_once_is_doing_both(kernel, center):
    X = np.random.default_rng(0).normal(size=(20, 3))
    apart = SpectralFeatures(kernel, 3, center=center).fit(X)
    together = SpectralFeatures(kernel, 3, center=center)
    features = together.fit_transform(X)
    np.testing.assert_allclose(features, apart.transform(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(together.eigenvalues_, apart.eigenvalues_)
    again = SpectralFeatures(kernel, 3, center=center).fit_transform(X, spectrum=together.spectrum_)
    np.testing.assert_array_equal(again, features)
