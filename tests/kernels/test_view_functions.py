"""Functions of several views evaluated anywhere."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from coview import Views
from coview.exceptions import ViewError
from coview.kernels import ViewFunctions, ViewKernels

NAN = np.nan
rng = np.random.default_rng(0)
A, B, DUAL = rng.normal(size=(6, 3)), rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
PRESENCE = np.array([[1, 1], [1, 0], [1, 1], [0, 1], [1, 1], [1, 1]], dtype=bool)
ROWS = [np.flatnonzero(has) for has in PRESENCE.T]
VIEWS = Views({"a": A, "b": B}, presence=PRESENCE)
LINEAR = ConstantKernel(2.0) * DotProduct(0.0, "fixed")
DUALS = [DUAL[ROWS[0]], DUAL[ROWS[1]]]
CONSTANTS = np.array([[0.5, -0.5], [1.0, 2.0]])


def functions(kernel, views=VIEWS):
    kernels = ViewKernels.of(kernel, views, np.random.RandomState(0))
    return ViewFunctions.expanded(kernels, views, DUALS, CONSTANTS)


def expected(kernel, new, v):
    return kernel(new, (A, B)[v][ROWS[v]]) @ DUALS[v] + CONSTANTS[v]


@pytest.mark.parametrize("kernel", [RBF(1.3), LINEAR])
def test_expansions_at_new_samples(kernel):
    new_a, new_b = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    has = np.array([[1, 1], [0, 1], [1, 0], [1, 1]], dtype=bool)
    found = functions(kernel)
    scores = found.scores(Views({"a": new_a, "b": new_b}, presence=has))
    for v, new in enumerate((new_a, new_b)):
        np.testing.assert_allclose(scores[has[:, v], v], expected(kernel, new, v)[has[:, v]], rtol=1e-12)
        assert np.isnan(scores[~has[:, v], v]).all()
    only = found.scores(Views({"b": new_b}))
    assert np.isnan(only[:, 0]).all()
    np.testing.assert_allclose(only[:, 1], expected(kernel, new_b, 1), rtol=1e-12)


def test_one_view_alone():
    scores = functions(RBF(1.0)).scores(VIEWS, "b")
    assert np.isnan(scores[:, 0]).all()
    np.testing.assert_allclose(scores[ROWS[1], 1], expected(RBF(1.0), B[ROWS[1]], 1))
    with pytest.raises(ViewError, match="'c'"):
        functions(RBF(1.0)).scores(VIEWS, "c")


def test_linear_kernels_keep_weights_and_no_rows():
    found = functions([LINEAR, RBF(1.0)])
    np.testing.assert_allclose(found.weights[0], 2.0 * A[ROWS[0]].T @ DUALS[0], rtol=1e-12)
    assert found.weights[1] is None
    assert found.blocks[0] is None
    np.testing.assert_array_equal(found.blocks[1], B[ROWS[1]])
    thin = Views({"a": sparse.csr_array(A), "b": sparse.csr_array(B)}, presence=PRESENCE)
    np.testing.assert_allclose(functions(LINEAR, thin).scores(thin), functions(LINEAR).scores(VIEWS), rtol=1e-12)


def test_given_values_are_read_in_the_columns_of_samples_with_the_view():
    kernel = RBF(1.3)
    given = Views({"a": kernel(A), "b": kernel(B)}, presence=PRESENCE)
    kernels = ViewKernels.of("precomputed", given, np.random.RandomState(0))
    found = ViewFunctions.expanded(kernels, given, DUALS, CONSTANTS)
    new = rng.normal(size=(3, 3))
    np.testing.assert_allclose(found.scores(Views({"a": kernel(new, A)}))[:, 0], expected(kernel, new, 0), rtol=1e-12)
    assert kernels.amplitude(0) is None


def test_a_view_that_learned_nothing_answers_nothing():
    kernels = ViewKernels.of(LINEAR, VIEWS, np.random.RandomState(0))
    constants = np.array([[NAN, NAN], [0.0, 0.0]])
    scores = ViewFunctions.expanded(kernels, VIEWS, DUALS, constants).scores(VIEWS)
    assert np.isnan(scores[:, 0]).all()
    assert np.isfinite(scores[ROWS[1], 1]).all()
