"""What campaigns refuse because something else is known already."""

__all__ = ["ConflictError"]


class ConflictError(ValueError):
    """An answer or an order that contradicts what a campaign holds; says what it holds, since when, and what to do.

    Examples
    --------
    >>> from coview.acquisition import ConflictError
    >>> issubclass(ConflictError, ValueError)
    True
    """
