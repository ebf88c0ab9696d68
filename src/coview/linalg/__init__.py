"""Factorizations and eigenpairs: arrays in, arrays out."""

from coview.linalg._cholesky import CholeskyFactor, cholesky, invert_lower, solve_positive_definite
from coview.linalg._eigen import leading_eigenpairs, leading_eigenpairs_of_operator
from coview.linalg._incomplete_cholesky import IncompleteCholesky, incomplete_cholesky

__all__ = [
    "CholeskyFactor",
    "IncompleteCholesky",
    "cholesky",
    "incomplete_cholesky",
    "invert_lower",
    "leading_eigenpairs",
    "leading_eigenpairs_of_operator",
    "solve_positive_definite",
]
