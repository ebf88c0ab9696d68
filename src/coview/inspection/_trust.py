"""Whether trust in views is worth a table."""

import numpy as np
import pandas as pd

__all__ = ["tell_views_apart"]

_VISIBLE = 0.02

#: What to say of a model whose views cannot be told apart.
EQUAL_SHARES = (
    "Every view has the same share: with these labels, models that favor a view or leave one out have no weight in the "
    "average. What a view is worth by itself stands in the scores of the views alone."
)


def tell_views_apart(trust: pd.DataFrame) -> bool:
    """Whether shares of views differ, or might: else the labels speak for using all views alike.

    Parameters
    ----------
    trust : DataFrame
        ``view_trust_`` of a fitted estimator.

    Returns
    -------
    apart : bool
        True if two shares, or the ends of one interval, are more than 0.02 apart.

    Examples
    --------
    >>> import pandas as pd
    >>> tell_views_apart(pd.DataFrame({"share": [0.5, 0.5], "lower": [0.5, 0.5], "upper": [0.5, 0.5]}))
    False
    """
    seen = trust[trust["share"].notna()]
    if len(seen) < 2:
        return False
    widths = (seen["upper"] - seen["lower"]).to_numpy()
    return bool(widths.max() > _VISIBLE or np.ptp(seen["share"].to_numpy()) > _VISIBLE)
