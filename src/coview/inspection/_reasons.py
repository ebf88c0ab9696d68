"""Why a measurement stands where it stands in a ranking, in a few words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from coview.inspection._trust import tell_views_apart
from coview.views import Views

__all__ = ["measurement_reasons"]

# A predicted class that is less probable than this is called uncertain.
_SURE = 0.75


def measurement_reasons(model: Any, views: Views, labeled: ArrayLike, table: pd.DataFrame) -> list[str]:
    """What speaks for each row of a ranking of measurements: what is known of the sample, and how far the view is trusted.

    A sample with a label shows what a view means; one without may gain from the view itself.

    Parameters
    ----------
    model : fitted estimator
        Its ``predict_proba`` and ``view_trust_`` are used where it has them.
    views : Views
        The samples that were ranked.
    labeled : array-like of shape (n_samples,), dtype=bool
        Which of them have a label.
    table : DataFrame
        Rows with ``sample`` (an id, or the position where samples have none) and ``view`` (None asks for the label), as of
        :func:`coview.acquisition.view_utilities`.

    Returns
    -------
    reasons : list of str
        One for each row.

    Examples
    --------
    >>> from coview.acquisition import view_utilities
    >>> from coview.datasets import load_two_view_toy
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> toy = load_two_view_toy()
    >>> model = BayesianCoTrainingClassifier(random_state=0).fit(toy.views, toy.target)
    >>> table = view_utilities(model, toy.views, toy.target).head(1)
    >>> measurement_reasons(model, toy.views, toy.target.notna(), table)[0].split(" (")[0]
    'labeled, shows what second tells'
    """
    if table.empty:
        return []
    if views.has_ids:
        place = {str(name): row for row, name in enumerate(views.index)}
        rows = np.array([place[str(sample)] for sample in table["sample"]], dtype=np.intp)
    else:
        rows = table["sample"].to_numpy(dtype=np.intp)
    names = table["view"].tolist()
    trusted = _trust(model)
    guesses = _guesses(model, views[rows])
    known = np.asarray(labeled, dtype=bool)[rows]
    reasons = []
    for is_labeled, guess, view in zip(known, guesses, names, strict=True):
        trust = f"trusted {trusted[view]:.2f}" if view in trusted else ""
        if view is None or view != view:  # its label is what is asked for
            reasons.append(guess)
        elif is_labeled:
            reasons.append(f"labeled, shows what {view} tells" + (f" ({trust})" if trust else ""))
        else:
            reasons.append(guess + (f"; {view} {trust}" if trust else ""))
    return reasons


def _guesses(model: Any, views: Views) -> list[str]:
    """What the model says of each sample."""
    if not hasattr(model, "predict_proba"):
        return ["no label"] * len(views)
    probabilities = model.predict_proba(views)
    best = probabilities.argmax(axis=1)
    classes = [str(name) for name in model.classes_]
    # "1 0.57" would be hard to read
    names = [name if any(map(str.isalpha, name)) else f"class {name}" for name in classes]
    return [
        f"{'uncertain, ' if row[k] < _SURE else ''}{names[k]} {row[k]:.2f}"
        for k, row in zip(best, probabilities, strict=True)
    ]


def _trust(model: Any) -> dict[str, float]:
    """The trust in each view, where the model tells views apart."""
    trust = getattr(model, "view_trust_", None)
    if trust is None or not tell_views_apart(trust):
        return {}
    return {str(view): float(share) for view, share in trust["share"].dropna().items()}
