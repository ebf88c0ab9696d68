"""What Views show of themselves: names, widths, counts and patterns, never a value."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coview.views._views import Views

__all__ = ["html_summary", "text_summary"]

_LONGEST_LIST = 20  # views and patterns shown


def _view_lines(views: "Views") -> list[tuple[str, str, str, str]]:
    """Per view: name, samples, features, storage."""
    counts = views.presence.sum(axis=0)
    return [
        (name, f"{count:,} samples", f"{width:,} features", "sparse" if views._block(name).is_sparse else "dense")
        for (name, width), count in zip(views.n_features.items(), counts, strict=True)
    ]


def _pattern_lines(views: "Views") -> list[tuple[int, str]]:
    """How many samples have which views, most frequent first."""
    patterns, counts = np.unique(views.presence, axis=0, return_counts=True)
    lines = []
    for place in np.argsort(-counts, kind="stable"):
        held = [name for name, has in zip(views.names, patterns[place], strict=True) if has]
        text = "all views" if len(held) == views.n_views else " + ".join(held) or "no view"
        lines.append((int(counts[place]), text))
    return lines


def text_summary(views: "Views") -> str:
    """Aligned lines for a terminal."""
    lines = [f"Views: {views.n_samples:,} samples, {views.n_views} view{'s' * (views.n_views != 1)}"]
    rows = _view_lines(views)[:_LONGEST_LIST]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for name, samples, features, storage in rows:
        lines.append(f"  {name:<{widths[0]}}  {samples:>{widths[1]}}  {features:>{widths[2]}}  {storage}")
    if views.n_views > len(rows):
        lines.append(f"  and {views.n_views - len(rows)} more views")
    patterns = _pattern_lines(views)
    shown = [f"{count:,} with {text}" for count, text in patterns[:_LONGEST_LIST]]
    if len(patterns) > len(shown):
        shown.append(f"{len(patterns) - len(shown)} more patterns")
    return "\n".join([*lines, "  patterns: " + "; ".join(shown or ["none"])])


def html_summary(views: "Views") -> str:
    """Two small tables for a notebook."""
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in _view_lines(views))
    patterns = "".join(
        f"<tr><td>{count:,}</td><td>{escape(text)}</td></tr>" for count, text in _pattern_lines(views)[:_LONGEST_LIST]
    )
    return (
        f"<div><p>Views: {views.n_samples:,} samples, {views.n_views} views</p>"
        "<table><thead><tr><th>view</th><th>samples</th><th>features</th><th>storage</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
        "<table><thead><tr><th>samples</th><th>have</th></tr></thead>"
        f"<tbody>{patterns}</tbody></table></div>"
    )
