"""Features in a span that stays while the kernel moves, and derivatives by the kernel's parameters."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

from coview.kernels import LandmarkFeatures, SpanFeatures, SpanGradient, SpectralFeatures, free_amplitude

X = np.random.default_rng(0).normal(size=(20, 3)) * (np.random.default_rng(1).random((20, 3)) < 0.8)
KERNELS = [
    RBF(1.5),
    ConstantKernel(2.0) * RBF([1.0, 2.0, 1.5]),
    ConstantKernel(0.5) * RBF(1.0) + DotProduct(0.7),
    Matern(2.0, nu=1.5),
]


def span_of(kernel, rank=5, form=np.asarray):
    features = LandmarkFeatures(kernel, rank, 9, scale=False).fit(form(X))
    return SpanFeatures.through(features.kernel_, features.landmarks_, features.spectrum_.projection), features


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_kernel_of_the_span_keeps_its_features(kernel):
    span, features = span_of(kernel)
    phi, expected = span.transform(X), features.transform(X)
    np.testing.assert_allclose(phi @ phi.T, expected @ expected.T, atol=1e-9)
    whole = SpectralFeatures(kernel, 4, scale=False).fit(X)
    span = SpanFeatures.through(whole.kernel_, whole.landmarks_, whole.spectrum_.projection)
    phi, expected = span.transform(X), whole.transform(X)
    np.testing.assert_allclose(phi @ phi.T, expected @ expected.T, atol=1e-9)


def test_another_kernel_is_never_exceeded_and_exact_in_the_span():
    span, _ = span_of(RBF(1.5))
    moved = span.moved(RBF(0.7))
    phi = moved.transform(X)
    assert np.linalg.eigvalsh(RBF(0.7)(X) - phi @ phi.T)[0] > -1e-10
    inner = moved.transform(span.landmarks) @ moved.transform(span.landmarks).T
    K = RBF(0.7)(span.landmarks)
    np.testing.assert_allclose(span.basis.T @ inner @ span.basis, span.basis.T @ K @ span.basis, atol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "form"), [*((k, np.asarray) for k in KERNELS), *((k, sp.csr_array) for k in KERNELS[:3])], ids=str
)
def test_gradient_agrees_with_finite_differences(kernel, form):
    span, _ = span_of(kernel, form=form)
    weights = np.random.default_rng(2).normal(size=(20, 20))
    weights += weights.T
    rows = form(X)

    def value(theta):
        phi = span.moved(kernel.clone_with_theta(theta)).transform(rows)
        return float((weights * (phi @ phi.T)).sum())

    theta = kernel.theta + 0.1
    moved = span.moved(kernel.clone_with_theta(theta))
    gradient = SpanGradient(moved)
    phi = moved.transform(rows)
    derivatives = 2.0 * weights @ phi
    for block in (slice(0, 7), slice(7, 20)):
        gradient.add(rows[block], phi[block], derivatives[block])
    steps = 1e-5 * np.eye(theta.size)
    expected = [(value(theta + step) - value(theta - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient.total(), expected, rtol=1e-6, atol=1e-6)


def test_what_a_kernel_frees_is_a_factor_or_more():
    linear = DotProduct(0.0, "fixed")
    assert free_amplitude(ConstantKernel(3.0) * linear) == 3.0
    assert free_amplitude(ConstantKernel(3.0) * (linear * ConstantKernel(2.0))) == 6.0
    assert free_amplitude(ConstantKernel(3.0) * RBF(1.0, "fixed")) == 3.0
    assert free_amplitude(ConstantKernel(3.0, "fixed") * RBF(1.0, "fixed")) == 1.0
    assert free_amplitude(lambda a, b: a @ b.T) == 1.0
    assert free_amplitude(ConstantKernel(3.0) * RBF(1.0)) is None
    assert free_amplitude(ConstantKernel(3.0) + linear) is None


@pytest.mark.parametrize("kernel", [KERNELS[1], RBF(1.0) + WhiteKernel(0.3)], ids=str)
def test_rows_that_are_the_landmarks_count_once(kernel):
    whole = SpectralFeatures(kernel, 4, scale=False).fit(X)
    span = SpanFeatures.through(whole.kernel_, whole.landmarks_, whole.spectrum_.projection)
    weights = np.random.default_rng(2).normal(size=(20, 20))
    weights += weights.T

    def value(theta):
        phi = span.moved(kernel.clone_with_theta(theta)).transform(X)
        return float((weights * (phi @ phi.T)).sum())

    phi = span.transform(X)
    gradient = SpanGradient(span)
    for first, stop in ((0, 7), (7, 20)):
        gradient.add_landmarks(first, phi[first:stop], 2.0 * weights[first:stop] @ phi)
    steps = 1e-5 * np.eye(kernel.n_dims)
    expected = [(value(kernel.theta + step) - value(kernel.theta - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient.total(), expected, rtol=1e-6, atol=1e-6)
