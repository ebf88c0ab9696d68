"""Factorizations and eigenpairs: arrays in, arrays out."""

from coview.linalg._cholesky import (
    JITTER_SHARES,
    CholeskyFactor,
    cholesky,
    invert_lower,
    solve_positive_definite,
)
from coview.linalg._dense import as_dense
from coview.linalg._eigen import largest_eigenpairs, leading_eigenpairs, leading_eigenpairs_of_operator
from coview.linalg._in_place import factor_lower_in_place, half_solve_rows, mirror_upper, subtract_row_products
from coview.linalg._incomplete_cholesky import IncompleteCholesky, incomplete_cholesky
from coview.linalg._iterative import conjugate_gradients
from coview.linalg._threads import one_blas_thread

__all__ = [
    "JITTER_SHARES",
    "CholeskyFactor",
    "IncompleteCholesky",
    "as_dense",
    "cholesky",
    "conjugate_gradients",
    "factor_lower_in_place",
    "half_solve_rows",
    "incomplete_cholesky",
    "invert_lower",
    "largest_eigenpairs",
    "leading_eigenpairs",
    "leading_eigenpairs_of_operator",
    "mirror_upper",
    "one_blas_thread",
    "solve_positive_definite",
    "subtract_row_products",
]
