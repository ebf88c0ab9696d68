"""Factorizations and eigenpairs: arrays in, arrays out."""

from coview.linalg._cholesky import CholeskyFactor, cholesky, invert_lower, solve_positive_definite
from coview.linalg._eigen import leading_eigenpairs, leading_eigenpairs_of_operator

__all__ = [
    "CholeskyFactor",
    "cholesky",
    "invert_lower",
    "leading_eigenpairs",
    "leading_eigenpairs_of_operator",
    "solve_positive_definite",
]
