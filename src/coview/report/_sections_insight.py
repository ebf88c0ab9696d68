"""Looking into the model with the data given: uncertain samples and why, the map of samples, features."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coview.inspection import (
    consensus_embedding,
    feature_associations,
    leading_contributions,
    neighbor_agreement,
)
from coview.report._figures_data import reasons
from coview.report._figures_model import feature_bars
from coview.report._figures_samples import sample_map
from coview.report._given import Given
from coview.report._html import Picture, Section
from coview.report._looks import MARKERS, OTHER_CLASSES, ClassLook, class_looks
from coview.report._subject import Subject
from coview.report._tables import Columns, Table, signed
from coview.report._words import counted, listed, shorten

__all__ = ["features_section", "map_section", "uncertain_section"]

_UNCERTAIN = 8
_VISIBLE = 0.01  # share of the longest bar
_REASON_VIEWS = 5
_FEATURES = 8
_PICTURED_VIEWS = 6
_MAPPED_SAMPLES = 1200
_LISTED_SAMPLES = 500
OTHER_PATTERNS = "other patterns"


def uncertain_section(subject: Subject, given: Given) -> Section | None:
    """The least sure predictions and what each view says about them."""
    if not subject.explains or not len(given.answers):
        return None
    rows, whose = _least_sure(subject, given)
    views = given.encoded(rows)
    proba = None if given.probabilities is None else given.probabilities[rows]
    pushes = leading_contributions(subject.estimator, views, proba, max_views=_REASON_VIEWS)
    answers = given.answers.iloc[rows]
    parts = [name for name in pushes.columns if name not in ("first", "p_first", "second", "p_second", "constant")]
    if pushes["together"].abs().max() < _VISIBLE * pushes[parts].abs().to_numpy().max():
        parts.remove("together")
    number = [str(i) for i in range(len(rows))]
    if subject.regression:
        texts = [f"{shorten(s, 20)}\n{p:.3g} ± {sd:.2g}" for s, p, sd in answers[["predicted", "sd"]].itertuples()]
    else:
        texts = [
            f"{shorten(sample, 20)}\n{shorten(row['first'], 12)} {row['p_first']:.2f}, {shorten(row['second'], 12)} "
            f"{row['p_second']:.2f}"
            for sample, row in pushes.iterrows()
        ]
    # The mean of a regression would dwarf its parts; the constant of classes is of their size.
    bars = pushes[parts if subject.regression else [*parts, "constant"]].set_axis(number, axis=0)
    axis = "part of the prediction" if subject.regression else _push_axis(pushes)
    reading = _uncertain_reading(subject)
    svg = reasons(
        bars, dict(zip(number, texts, strict=True)), title=f"The {counted(len(rows), 'least sure sample')}", key="reasons",
        description=reading, axis=axis,
    )  # fmt: skip
    paragraphs = (
        "The score of a sample is an exact sum: a constant, one part for each view, and one part of models that read all "
        f"views together. Below are the parts for the {counted(len(rows), 'sample')} whose prediction is least sure{whose}.",
    )
    picture = Picture("What each view says.", reading, (svg,), _uncertain_table(subject, pushes, answers, parts))
    return Section("uncertain", "Who is most uncertain, and why", paragraphs, (picture,))


def _push_axis(pushes: pd.DataFrame) -> str:
    """What a bar to the right means: with two classes it is the same one for every sample."""
    first = pushes["first"].unique()
    return f"push toward {shorten(first[0], 20) if len(first) == 1 else 'the first class'} (log odds)"


def _least_sure(subject: Subject, given: Given) -> tuple[NDArray[np.intp], str]:
    """Rows of the least sure predictions: of samples whose label was not in training, if there are enough; in words."""
    doubt = (given.answers["sd"] if subject.regression else -given.answers["probability"]).to_numpy()
    order = np.argsort(-doubt, kind="stable")
    known = (given.answers["label"].notna() & given.answers["trained"]).to_numpy()[order]
    fresh = order[~known]
    if len(fresh) >= _UNCERTAIN and known.any():
        return fresh[:_UNCERTAIN], ", of those whose label was not in training"
    return order[:_UNCERTAIN], ""


def _uncertain_reading(subject: Subject) -> str:
    if subject.regression:
        return (
            "A bar to the right raises the prediction, a bar to the left lowers it; with the constant they add up to it. "
            "Beside each sample stand its prediction and standard deviation."
        )
    return (
        "A bar to the right speaks for the first class named beside the sample, a bar to the left for the second; with the "
        "constant they add up to the log odds of the two. Views that pull apart, or hardly pull, leave the prediction open."
    )


def _uncertain_table(subject: Subject, pushes: pd.DataFrame, answers: pd.DataFrame, parts: list[str]) -> Table:
    frame = pushes[parts].set_axis([f"part{i}" for i in range(len(parts))], axis=1)
    frame.insert(0, "sample", pushes.index)
    columns: Columns = {"sample": ("sample", "")}
    if subject.regression:
        frame = frame.assign(predicted=answers["predicted"].to_numpy(), sd=answers["sd"].to_numpy())
        columns |= {"predicted": ("predicted", ".4g"), "sd": ("standard deviation", ".3g")}
    else:
        frame = pd.concat([frame, pushes[["first", "p_first", "second", "p_second"]]], axis=1)
        columns |= {
            "first": ("first class", str), "p_first": ("probability", ".2f"), "second": ("second class", str),
            "p_second": ("probability", ".2f"),
        }  # fmt: skip
    frame["constant"] = pushes["constant"].to_numpy()
    columns |= {f"part{i}": (part, signed) for i, part in enumerate(parts)} | {"constant": ("constant", signed)}
    caption = (
        "What each view adds to the prediction" if subject.regression else "First minus second class, latent units"
    )
    return Table.from_frame(frame, caption, columns)


def map_section(subject: Subject, given: Given) -> Section | None:
    """Samples as the model sees their likeness, by class and by the views they have."""
    if not subject.explains or len(given.answers) < 3:
        return None
    n = len(given.answers)
    rows = np.arange(n) if n <= _MAPPED_SAMPLES else np.sort(np.random.RandomState(0).choice(n, _MAPPED_SAMPLES, False))
    answers = given.answers.iloc[rows]
    embedding = consensus_embedding(subject.estimator, given.encoded(rows))
    places = pd.DataFrame(embedding.to_numpy(), columns=["x", "y"])
    places["sample"] = answers.index
    places["labeled"] = answers["label"].notna().to_numpy()
    places["shown"] = answers["label"].fillna(answers["predicted"]).to_numpy()
    places["pattern"] = _patterns(answers["views"])
    looks = _map_classes(subject, places)
    frequent = places["pattern"].value_counts(sort=True).index.tolist()
    markers = dict(zip([*[p for p in frequent if p != OTHER_PATTERNS], OTHER_PATTERNS], MARKERS, strict=False))
    markers = {pattern: marker for pattern, marker in markers.items() if pattern in set(frequent)}
    reading = _map_reading(subject, given, embedding, answers)
    if len(rows) < n:
        reading += f" {len(rows):,} of {n:,} samples are drawn."
    svg = sample_map(
        places, looks, markers, title="Samples by likeness", key="map", description=reading,
        labels=("first direction", "second direction"),
    )  # fmt: skip
    shown = places.head(_LISTED_SAMPLES)
    columns: Columns = {
        "sample": ("sample", ""), "x": ("first", ".3f"), "y": ("second", ".3f"), "shown": ("label, or prediction", str),
        "pattern": ("views", ""),
    }  # fmt: skip
    caption = "Places of the samples" + ("" if len(shown) == len(places) else f", the first {len(shown):,}")
    table = Table.from_frame(shown, caption, columns, scroll=len(shown) > 12)
    paragraphs = (
        "Two directions of largest difference between samples, as the averaged model measures likeness before it sees any "
        "label. Views that a sample lacks are left out of the comparison.",
    )
    return Section("map", "Where the samples lie", paragraphs, (Picture("Map of samples.", reading, (svg,), table),))


def _patterns(views: pd.Series) -> list[str]:
    """The pattern of each sample in words, rare ones under one name."""
    frequent = views.value_counts().index.tolist()
    named = set(frequent if len(frequent) <= len(MARKERS) else frequent[: len(MARKERS) - 1])
    return [pattern if pattern in named else OTHER_PATTERNS for pattern in views]


def _map_classes(subject: Subject, places: pd.DataFrame) -> dict[str, ClassLook]:
    """Looks by class; numbers are drawn by thirds. Adds the column ``class`` to the places."""
    if subject.regression:
        thirds = ["lowest third", "middle third", "highest third"]
        values = pd.to_numeric(places["shown"])
        places["class"] = np.array(thirds)[(3 * values.rank(method="first", pct=True)).clip(upper=2.999).astype(int)]
        return class_looks(thirds)
    counts = places["shown"].astype(str).value_counts()
    order = [name for name in subject.classes if name in counts.index]
    order += [name for name in counts.index if name not in order]
    looks = class_looks(order if len(order) <= 6 else sorted(order, key=lambda name: -counts[name]))
    places["class"] = [name if name in looks else OTHER_CLASSES for name in places["shown"].astype(str)]
    return looks


def _map_reading(subject: Subject, given: Given, embedding: pd.DataFrame, answers: pd.DataFrame) -> str:
    if subject.regression:
        return (
            "Samples that lie together are alike in their views; colors are thirds of the label, or of the prediction."
        )
    agreement = neighbor_agreement(embedding, answers["label"].to_numpy())
    if np.isnan(agreement["share"]) or agreement["n_labeled"] < 10:
        return (
            "Samples that lie together are alike in their views; colors are labels, or predictions where there is none."
        )
    return (
        f"The nearest labeled neighbors of a labeled sample share its class in {agreement['share']:.0%} of the cases "
        f"({agreement['chance']:.0%} by chance): "
        + ("likeness of the views goes with the class." if agreement["share"] > agreement["chance"] + 0.1 else
           "in these two directions the classes are mixed.")
    )  # fmt: skip


def features_section(subject: Subject, given: Given) -> Section | None:
    """Features that go with what each view says."""
    if not subject.explains or len(given.answers) < 5:
        return None
    n = len(given.answers)
    rows = np.arange(n) if n <= _MAPPED_SAMPLES else np.sort(np.random.RandomState(0).choice(n, _MAPPED_SAMPLES, False))
    table = feature_associations(subject.estimator, given.encoded(rows), n_top=_FEATURES)
    if table.empty:
        return None
    several = "class" in table
    if not several:
        table["class"] = "a higher prediction" if subject.regression else subject.classes[-1]
    table["class"] = table["class"].astype(str)
    strongest = table.loc[
        table.groupby(["view", "feature"], sort=False)["association"].apply(lambda a: a.abs().idxmax())
    ]
    looks = class_looks(subject.classes) if several else {str(table["class"].iloc[0]): ClassLook("ours", "")}
    if several and len(subject.classes) > len(looks):
        strongest = strongest.assign(**{"class": [c if c in looks else OTHER_CLASSES for c in strongest["class"]]})
    drawn = list(strongest["view"].unique())[:_PICTURED_VIEWS]
    speaks = "the class in its color" if several else str(table["class"].iloc[0])
    panels = tuple(
        feature_bars(
            strongest[strongest["view"] == view], looks, title=shorten(view, 36), key=f"features-{number}",
            axis="correlation with the view's part", description=f"Features of {view} that go with what it says.",
        )
        for number, view in enumerate(drawn)
    )  # fmt: skip
    tops = strongest.groupby("view", sort=False).first()
    reading = f"Strongest in each view: {listed([f'{f} ({v})' for v, f in tops['feature'].items()], 3)}. "
    reading += f"A bar to the right means that larger values of the feature go with {shorten(speaks, 40)}."
    columns: Columns = {"view": ("view", ""), "feature": ("feature", "")}
    columns |= {"class": ("speaks for", ""), "association": ("correlation", signed)}
    text = Table.from_frame(
        table, "Correlation of each feature with its view's part of the score", columns, scroll=True
    )
    paragraphs = (
        "Each view adds a part to the score of a sample. Here is how its features go with that part over the samples given. "
        "It is no effect of a feature by itself: features that go together share it.",
    )
    return Section("features", "Which features stand behind each view", paragraphs,
                   (Picture("Strongest features.", reading, panels, text),))  # fmt: skip
