"""What a diagnosis means, in words."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

__all__ = ["words_of"]

# Shares of the total entropy and of that of uniform predictions.
_NO_EFFECT, _UNIFORM = 2e-4, 0.97
# Root mean square of standardized errors that means a density is too sure, or not sure enough.
_TOO_SURE, _UNSURE = 1.5, 0.6
# Share of the variance of a view that says that other views know something of it.
_EXPLAINED = 0.03
# Nats per feature that a density must lose against a Gaussian alone to be called worse.
_MATERIAL = 0.1
# Rank correlation below which forecasts are as good as chance, and the share of what was expected that came.
_CHANCE, _KEPT = 0.15, 0.3
# Errors of a mean within which it may as well be zero.
_ERRORS = 2.0


def words_of(views: pd.DataFrame, whole: pd.Series, n_folds: int) -> list[str]:
    """Findings, those of the model first, then those of single views; one line says so where there is none.

    Parameters
    ----------
    views, whole
        As in `Diagnosis`.
    n_folds : int
        A fold is what was hidden at a time.

    Returns
    -------
    words : list of str
    """
    words = [*_of_model(whole), *_of_forecasts(whole)]
    if not _is_uniform(whole):
        words += _of_room(whole, n_folds)
    said: dict[str, list[str]] = {}
    for name, row in views.iterrows():
        for text in _of_view(row, len(views), committed=not _is_uniform(whole)):
            said.setdefault(text, []).append(str(name))
    words += [f"{', '.join(names)}: {text}" for text, names in said.items()]
    if not words:
        words = ["Nothing stands against the ranking: densities, forecasts and views look sound."]
    return words


def _is_uniform(whole: pd.Series) -> bool:
    """Whether predictions say next to nothing, so that they cannot tell one view from another either."""
    return bool(whole["entropy"] > _UNIFORM * whole["uniform"])


def _of_model(whole: pd.Series) -> Iterator[str]:
    entropy, best = whole["entropy"], whole["best_utility"]
    if _is_uniform(whole):
        yield (
            f"Predictions are close to uniform ({entropy:.3g} of {whole['uniform']:.3g} nats are open): the model commits itself "
            "to nothing, whatever is measured. Raise the amplitude, take latent='mean', or let hyperparameters='average' choose."
        )
    if best < _NO_EFFECT * entropy:
        yield (
            f"The best measurement is expected to take {best:.2g} of {entropy:.3g} nats of open classes: predictions hardly "
            "depend on single values, and the ranking is noise. See amplitude and view_variances; a smaller view variance lets "
            "views speak for each other."
        )


def _of_forecasts(whole: pd.Series) -> Iterator[str]:
    if whole["agreement"] < _CHANCE:
        yield (
            f"Of values that are known, what they were expected to tell and what they told hardly agree (rank correlation "
            f"{whole['agreement']:.2f}): rankings by expected entropy will not differ much from random choice."
        )
    if whole["expected"] > 0.0 and whole["realized"] < _KEPT * whole["expected"]:
        yield (
            f"Known values promised {whole['expected']:.2g} nats each and brought {whole['realized']:.2g}: the density makes "
            "values more telling than they are."
        )


def _of_room(whole: pd.Series, n_folds: int) -> Iterator[str]:
    gain, error = whole["hidden_gain"], whole["hidden_error"]
    if gain < _ERRORS * error:
        how = "worse" if gain > 0.0 else "better"
        yield (
            f"With one in {n_folds} of the known values hidden, labels left out are predicted {abs(gain):.3f} (error "
            f"{error:.3f}) nats per label {how}: there may be little to gain from more measurements; more labels may help more."
        )


def _of_view(row: pd.Series, n_views: int, *, committed: bool) -> Iterator[str]:
    if row["known"] == 0:
        yield "nobody has it, so that nothing is known of what it tells. Measure it for some labeled samples first."
        return
    if row["labeled"] < 5:
        yield f"only {int(row['labeled'])} samples with a label have it; what it means can hardly be known yet."
    gain, error = row["log_density_gain"], row["log_density_error"]
    if gain < -max(_ERRORS * error, _MATERIAL):
        yield (
            f"the density predicts its values worse than a Gaussian of each feature alone ({gain:.2f} nats per feature): it "
            "does not fit. Try another one: covariance_type='diag', n_components='auto', or transform features that are skewed."
        )
    elif row["explained"] < _EXPLAINED:
        yield (
            f"other views and labels tell next to nothing of what it holds (explained: under {_EXPLAINED:.0%}), so that all "
            "samples look alike to a criterion that asks what it may hold."
        )
    if row["standardized_error"] > _TOO_SURE:
        yield (
            f"its values lie {row['standardized_error']:.1f} times as far off as the density says: utilities are too sure of "
            "what will come back. Skewed features or outliers do that; transform them or use n_components='auto'."
        )
    elif row["standardized_error"] < _UNSURE:
        yield (
            f"its values lie only {row['standardized_error']:.1f} times as far off as the density says: utilities expect more "
            "surprise than there is."
        )
    if committed and row["label_gain"] <= 0.0:
        yield (
            f"labels left out are predicted no better with it than without it ({row['label_gain']:+.3f} nats per label): a weak "
            "view, or too few labels to tell."
        )
    if committed and row["trust"] < 0.5 / n_views:
        yield f"the model trusts it little (share {row['trust']:.2f} of 1; even shares would be {1.0 / n_views:.2f})."
