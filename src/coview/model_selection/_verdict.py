"""Whether a model is worth taking home, in words."""

from __future__ import annotations

import pandas as pd

from coview.model_selection._cross_validation import ALONE, PRIOR_NAMES
from coview.model_selection._evaluation import Evaluation

__all__ = ["verdict"]

_CLEAR, _HINT = 2.0, 1.0  # differences in standard errors
_SURE, _FAIR_AREA = 3.0, 0.6  # of an area under the curve, whose error over a few folds is itself uncertain


def verdict(evaluation: Evaluation, method: str, *, simple: str | None = None) -> list[str]:
    """Sentences that say whether a method predicts anything, beats the usual simple model, and needs more than one view.

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
    alone = [name for name in evaluation.predictions if name.endswith(ALONE)]
    if alone:
        sentences.append(_against_view(evaluation, method, min(alone, key=lambda name: evaluation.losses(name).mean())))
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
    if evaluation.task == "classification" and _finds_classes(evaluation, method, prior):
        return (
            f"Its probabilities are no better than the {guess} alone ({numbers}), though it tells classes apart better than "
            f"chance ({_ranking(evaluation, method, prior)}). Do not use its probabilities as they stand; another method may "
            "do better with the same data."
        )
    return (
        f"This model is useless: for samples whose label it has not seen it is no better than the {guess} alone "
        f"({numbers}). Do not use its predictions."
    )


def _finds_classes(evaluation: Evaluation, method: str, prior: str) -> bool:
    """Whether classes are found, or ranked, clearly better than by chance, whatever the probabilities are worth."""
    codes = pd.Index(evaluation.classes).get_indexer(pd.Index(evaluation.y))
    right = [(evaluation.predictions[name].argmax(axis=1) == codes).astype(float) for name in (method, prior)]
    gain = right[0] - right[1]
    error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else float("inf")
    area, area_error = evaluation.score(method, "auc"), evaluation.standard_error(method, "auc")
    found = gain.mean() > 0.0 and gain.mean() >= _CLEAR * error
    return bool(found or (area >= _FAIR_AREA and area - 0.5 >= _SURE * area_error))


def _ranking(evaluation: Evaluation, method: str, prior: str) -> str:
    ours, other = (evaluation.score(name, "accuracy") for name in (method, prior))
    area, error = evaluation.score(method, "auc"), evaluation.standard_error(method, "auc")
    return f"accuracy {ours:.3f} against {other:.3f}, AUC {area:.3f} ± {error:.3f}"


def _against_simple(evaluation: Evaluation, method: str, simple: str) -> str:
    advantage = -evaluation.difference(method, simple).in_standard_errors
    numbers = _numbers(evaluation, method, simple)
    if advantage >= _CLEAR:
        return f"It is better than {simple} ({numbers})."
    if advantage <= -_CLEAR:
        return f"It is worse than {simple} ({numbers}): take that simpler model instead."
    return f"It is neither clearly better nor clearly worse than {simple} ({numbers})."


def _against_view(evaluation: Evaluation, method: str, best: str) -> str:
    """Whether the views together do better than the best of them, chosen in hindsight."""
    advantage = -evaluation.difference(method, best).in_standard_errors
    view, numbers = best.removesuffix(ALONE), _numbers(evaluation, method, best)
    if advantage >= _CLEAR:
        return f"The views together predict better than '{view}', the best of them alone ({numbers})."
    if advantage <= -_CLEAR:
        return f"The views together predict worse than '{view}' alone ({numbers}): try a model of that view."
    return f"These labels do not show that the other views add to '{view}', the best of them alone ({numbers})."


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
