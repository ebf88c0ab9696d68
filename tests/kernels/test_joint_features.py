"""Features of the summed kernel of all views, against the sum written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import RBF, DotProduct

from coview import Views
from coview.kernels import JointSpectralFeatures, SpectralFeatures, _features, stack_views, take_samples

KERNELS = {
    "linear": [DotProduct(0.0), DotProduct(0.0)],
    "rbf": [RBF(2.0), RBF(1.0)],
    "mixed": [DotProduct(0.0), RBF(1.0)],
}


def problem(seed=0, n=11, widths=(3, 4)):
    rng = np.random.default_rng(seed)
    presence = rng.random((n, len(widths))) < 0.6
    presence[:4] = True
    blocks = [rng.normal(size=(presence[:, j].sum(), p)) + 1 for j, p in enumerate(widths)]
    return blocks, presence


def summed(kernels, left, right, diagonals, factors):
    """The kernel of the notes between two groups of samples (blocks, presence)."""
    K = np.zeros((len(left[1]), len(right[1])))
    for j, kernel in enumerate(kernels):
        rows, columns = np.flatnonzero(left[1][:, j]), np.flatnonzero(right[1][:, j])
        K[np.ix_(rows, columns)] += kernel(left[0][j], right[0][j]) / (diagonals[j] * factors[j] ** 2)
    return K


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("factors", [None, (1.0, 3.0)])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_are_those_of_the_sum(name, center, factors, sparse):
    kernels = KERNELS[name]
    blocks, presence = problem()
    new = problem(seed=5, n=6)
    diagonals = [kernel.diag(block).mean() for kernel, block in zip(kernels, blocks, strict=True)]
    c = (1.0, 1.0) if factors is None else factors
    K = summed(kernels, (blocks, presence), (blocks, presence), diagonals, c)
    crosses = summed(kernels, new, (blocks, presence), diagonals, c)
    if center:
        crosses = crosses - crosses.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
        H = np.eye(11) - 1 / 11
        K = H @ K @ H
    divisor = np.trace(K) / 11
    form = sp.csr_array if sparse else np.asarray
    features = JointSpectralFeatures(None, None, center, True, factors)
    features.fit_blocks([form(block) for block in blocks], presence, kernels)
    phi = features.transform_by_view([form(block) for block in blocks], presence).sum(axis=0)
    fresh = features.transform_by_view([form(block) for block in new[0]], new[1]).sum(axis=0)
    np.testing.assert_allclose(features.mean_diagonals_, diagonals, rtol=1e-10)
    np.testing.assert_allclose(phi @ phi.T, K / divisor, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(fresh @ phi.T, crosses / divisor, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", KERNELS)
def test_views_of_a_container_give_the_same(name):
    blocks, presence = problem()
    whole = []
    for block, held in zip(blocks, presence.T, strict=True):
        table = np.full((11, block.shape[1]), np.nan)
        table[held] = block
        whole.append(table)
    views = Views(whole)
    features = JointSpectralFeatures(KERNELS[name], 3).fit(views)
    by_blocks = JointSpectralFeatures(None, 3).fit_blocks(blocks, presence, KERNELS[name])
    expected = by_blocks.transform_by_view(blocks, presence).sum(axis=0)
    np.testing.assert_allclose(features.transform(views), expected, atol=1e-10)


@pytest.mark.parametrize("name", KERNELS)
def test_one_complete_view_equals_its_own_features(name):
    kernel = KERNELS[name][1]
    X = np.random.default_rng(0).normal(size=(9, 3)) + 2
    joint = JointSpectralFeatures(None, 3).fit_blocks([X], np.ones((9, 1), dtype=bool), [kernel])
    own = SpectralFeatures(kernel, 3, center=True).fit_transform(X)
    np.testing.assert_allclose(joint.transform_by_view([X], np.ones((9, 1), dtype=bool))[0], own, atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_a_view_nobody_has_changes_nothing(name):
    blocks, presence = problem()
    kernels = [*KERNELS[name], KERNELS[name][1]]
    more = np.column_stack([presence, np.zeros(11, dtype=bool)])
    features = JointSpectralFeatures(None, 3).fit_blocks([*blocks, np.zeros((0, 2))], more, kernels)
    plain = JointSpectralFeatures(None, 3).fit_blocks(blocks, presence, KERNELS[name])
    parts = features.transform_by_view(
        [*blocks, np.ones((11, 2))], np.column_stack([presence, np.ones(11, dtype=bool)])
    )
    np.testing.assert_allclose(parts[:2], plain.transform_by_view(blocks, presence), atol=1e-9)
    assert not parts[2].any()
    assert np.isnan(features.mean_diagonals_[2])


def test_a_constant_view_adds_nothing_when_centered():
    presence = np.ones((11, 2), dtype=bool)
    X = np.random.default_rng(0).normal(size=(11, 3))
    constant = np.zeros((11, 1))
    joint = JointSpectralFeatures(None, 3).fit_blocks([X, constant], presence, KERNELS["linear"])
    parts = joint.transform_by_view([X, constant], presence)
    own = SpectralFeatures("linear", 3, center=True).fit_transform(X)
    np.testing.assert_allclose(np.abs(parts[0]), np.abs(own), atol=1e-8)
    assert not parts[1].any()


@pytest.mark.parametrize("sparse", [False, True])
def test_stacked_views_are_zero_where_missing(sparse):
    presence = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    left, right = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0], [6.0]])
    stacked = stack_views([sp.csr_array(left) if sparse else left, right], presence, np.array([2.0, 10.0]))
    stacked = stacked.toarray() if sparse else stacked
    assert stacked.tolist() == [[2, 4, 0], [0, 0, 50], [6, 8, 60]]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_of_some_samples_are_taken_from_every_view(form):
    presence = np.array([[1, 0], [0, 1], [1, 1], [1, 1]], dtype=bool)
    blocks = [form(np.array([[0.0], [2.0], [3.0]])), form(np.array([[10.0], [20.0], [30.0]]))]
    left, right = take_samples(blocks, presence, np.array([1, 2, 3]))
    as_list = [(block.toarray() if sp.issparse(block) else block).ravel().tolist() for block in (left, right)]
    assert as_list == [[2.0, 3.0], [10.0, 20.0, 30.0]]


@pytest.mark.parametrize("name", KERNELS)
def test_many_samples_are_transformed_in_blocks(name, monkeypatch):
    blocks, presence = problem(n=23)
    features = JointSpectralFeatures(None, 3).fit_blocks(blocks, presence, KERNELS[name])
    whole = features.transform_by_view(blocks, presence).sum(axis=0)
    monkeypatch.setattr(_features, "_BLOCK_ROWS", 5)
    np.testing.assert_allclose(features.transform_blocks(blocks, presence), whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("center", [False, True])
def test_fitting_and_transforming_at_once_is_doing_both(name, center):
    blocks, presence = problem(n=23)
    apart = JointSpectralFeatures(None, 3, center).fit_blocks(blocks, presence, KERNELS[name])
    together = JointSpectralFeatures(None, 3, center)
    features = together.fit_transform_blocks(blocks, presence, KERNELS[name])
    np.testing.assert_allclose(features, apart.transform_blocks(blocks, presence), rtol=1e-12, atol=1e-13)
    by_view = together.transform_by_view(blocks, presence)
    np.testing.assert_allclose(by_view, apart.transform_by_view(blocks, presence), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(features, by_view.sum(axis=0), rtol=1e-10, atol=1e-12)
    kept = {"spectrum": together.spectrum_, "column_means": together.column_means_}
    again = JointSpectralFeatures(None, 3, center).fit_transform_blocks(blocks, presence, KERNELS[name], **kept)
    np.testing.assert_array_equal(again, features)
