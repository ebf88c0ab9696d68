"""What is said of a file that is not a model, or not one to be loaded."""

__all__ = ["ModelFileError"]


class ModelFileError(ValueError):
    """A model file that cannot be trusted, read or written: says which, why, and what to do.

    Examples
    --------
    >>> from coview.persistence import ModelFileError
    >>> issubclass(ModelFileError, ValueError)
    True
    """
