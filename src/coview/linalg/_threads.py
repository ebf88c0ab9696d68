"""How many threads BLAS may take."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, cast

from threadpoolctl import threadpool_limits

__all__ = ["one_blas_thread"]


def one_blas_thread(when: bool) -> AbstractContextManager[Any]:
    """One BLAS thread while many small matrices are worked on: threads would wait for each other longer than they work.

    Parameters
    ----------
    when : bool
        Whether the matrices are small; otherwise BLAS keeps its threads.

    Returns
    -------
    limit : context manager

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linalg import one_blas_thread
    >>> with one_blas_thread(True):
    ...     (np.eye(2) @ np.ones(2)).tolist()
    [1.0, 1.0]
    """
    return cast("AbstractContextManager[Any]", threadpool_limits(limits=1 if when else None, user_api="blas"))
