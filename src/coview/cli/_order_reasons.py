"""Why a measurement stands where it stands, in a few words."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from coview.acquisition import Campaign

__all__ = ["reasons"]


def reasons(campaign: "Campaign", table: "pd.DataFrame", criterion: str | None) -> list[str]:
    """Return the reason of each row of a ranking: what the sample is predicted to be, how far the view is trusted."""
    if not len(table):
        return []
    if (criterion or campaign.criterion) == "random":
        return ["by chance"] * len(table)
    views, model = campaign.views, campaign.model
    names = views.index.tolist() if views.has_ids else range(len(views))
    place = {str(name): row for row, name in enumerate(names)}
    rows = [place[str(sample)] for sample in table["sample"]]
    trust = _trust(model)
    return [
        ("labeled, shows what the view means" if known else guess) + trust.get(view, "")
        for known, guess, view in zip(campaign.labeled[rows], _guesses(model, views[rows]), table["view"], strict=True)
    ]


def _guesses(model: Any, views: Any) -> list[str]:
    """What the model says of each sample."""
    if not hasattr(model, "predict_proba"):
        return ["unlabeled"] * len(views)
    probabilities = model.predict_proba(views)
    best = probabilities.argmax(axis=1)
    return [f"{model.classes_[k]} with probability {row[k]:.2f}" for k, row in zip(best, probabilities, strict=True)]


def _trust(model: Any) -> dict[str, str]:
    """The trust in each view, where the model tells views apart."""
    from coview.inspection import tell_views_apart

    trust = getattr(model, "view_trust_", None)
    if trust is None or len(trust) < 2 or not tell_views_apart(trust):
        return {}
    return {str(view): f"; {view} trusted {share:.2f}" for view, share in trust["share"].items()}
