"""Whether a model is worth taking home, in words."""

from __future__ import annotations

from coview.model_selection._cross_validation import PRIOR_NAMES
from coview.model_selection._evaluation import Evaluation

__all__ = ["verdict"]

_CLEAR, _HINT = 2.0, 1.0  # differences in standard errors


def verdict(evaluation: Evaluation, method: str, *, simple: str | None = None) -> list[str]:
    """Sentences that say whether a method predicts anything, and whether it beats the usual simple model.

    Differences are paired over the samples; two standard errors count as clear, one as a hint.

    Parameters
    ----------
    evaluation : Evaluation
    method : str
        The method judged.
    simple : str, default=None
        The simple method it is held against; None for none.

    Returns
    -------
    sentences : list of str

    Examples
    --------
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.model_selection import cross_validate_methods, usual_methods, verdict
    >>> views, y = make_two_gaussian_views(n_samples=40, random_state=0)
    >>> evaluation = cross_validate_methods(usual_methods("classification", n_components=2), views, y,
    ...                                     n_splits=2, task="classification")
    >>> verdict(evaluation, "imputation-logistic-regression")[0].startswith("It predicts")
    True
    """
    prior = PRIOR_NAMES[evaluation.task]
    sentences = [_against_prior(evaluation, method, prior)]
    if simple is not None and simple != method:
        sentences.append(_against_simple(evaluation, method, simple))
    return sentences


def _against_prior(evaluation: Evaluation, method: str, prior: str) -> str:
    advantage = -evaluation.difference(method, prior).in_standard_errors
    guess = "shares of the classes" if evaluation.task == "classification" else "mean of the labels"
    numbers = _numbers(evaluation, method, prior)
    if advantage >= _CLEAR:
        return f"It predicts better than the {guess} alone ({numbers})."
    if advantage >= _HINT:
        return (
            f"It may predict better than the {guess} alone, but these labels do not show it clearly ({numbers}). "
            "Label more samples before relying on it."
        )
    return (
        f"This model is useless: for samples whose label it has not seen it is no better than the {guess} alone "
        f"({numbers}). Do not use its predictions."
    )


def _against_simple(evaluation: Evaluation, method: str, simple: str) -> str:
    advantage = -evaluation.difference(method, simple).in_standard_errors
    numbers = _numbers(evaluation, method, simple)
    if advantage >= _CLEAR:
        return f"It is better than {simple} ({numbers})."
    if advantage <= -_CLEAR:
        return f"It is worse than {simple} ({numbers}): take that simpler model instead."
    return f"It is neither clearly better nor clearly worse than {simple} ({numbers})."


def _numbers(evaluation: Evaluation, method: str, reference: str) -> str:
    """Both losses and their difference, to the digits of a table of scores."""
    ours, other = evaluation.losses(method).mean(), evaluation.losses(reference).mean()
    difference = evaluation.difference(method, reference)
    paired = f"paired over {difference.n_samples} samples"
    if evaluation.task == "regression":
        return (
            f"RMSE {ours**0.5:.3f} against {other**0.5:.3f}; mean squared error differs by {difference.mean:+.2g} ± "
            f"{difference.standard_error:.2g}, {paired}"
        )
    return (
        f"log loss {ours:.3f} against {other:.3f}; difference {difference.mean:+.3f} ± "
        f"{difference.standard_error:.3f}, {paired}"
    )
