"""Errors that neither Python nor scikit-learn already has."""

from numpy.linalg import LinAlgError

__all__ = ["NotPositiveDefiniteError", "ViewError"]


class ViewError(ValueError):
    """Input that cannot be read as views; the message says which view, where, and what to do."""


class NotPositiveDefiniteError(LinAlgError):
    """A matrix that must be positive definite stays indefinite at the largest jitter."""
