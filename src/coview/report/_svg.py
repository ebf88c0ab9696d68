"""Figures as inline SVG: the same bytes every time, colors that follow the page's light or dark theme."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Light and dark value of each role. The light one is written by matplotlib and afterwards replaced by a CSS variable,
# so every light value must be unique. Pairs differ in lightness as well as hue, for color-blind readers and gray print.
PALETTE: dict[str, tuple[str, str]] = {
    "ink": ("#1c2128", "#e6edf3"),
    "muted": ("#59636e", "#9aa5b1"),
    "rule": ("#d3d9e0", "#363d47"),
    "paper": ("#fefefe", "#14181f"),
    "ours": ("#0a5ea8", "#62b0ff"),
    "baseline": ("#c14a09", "#ffa066"),
    "printed": ("#6d7680", "#a8b1bb"),
    "band": ("#dbe8f4", "#1d3046"),
    "class-1": ("#5a2a85", "#c79dff"),
    "class-2": ("#0e877b", "#45d3c1"),
    "class-3": ("#c8870f", "#f3c558"),
    "missing": ("#e3e7ec", "#2a313a"),
    "wrong": ("#b3123a", "#ff7d96"),
}
LIGHT = {name: light for name, (light, _) in PALETTE.items()}
CLASS_ROLES = ("class-1", "class-2", "class-3")
PIXELS_PER_INCH = 96

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "coview",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": LIGHT["muted"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.titlecolor": LIGHT["ink"],
    "text.color": LIGHT["ink"],
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "xtick.labelcolor": LIGHT["ink"],
    "ytick.labelcolor": LIGHT["ink"],
    "grid.color": LIGHT["rule"],
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "lines.linewidth": 1.9,
    "lines.markersize": 5.5,
    "hatch.linewidth": 0.7,
    "text.parse_math": False,  # names of views and samples may hold dollar signs
}


@contextmanager
def canvas(width: int, height: int, *, strip: float = 0.0) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure of the given size in CSS pixels and its axes, in the house style.

    With ``strip`` there is a second, narrow pair of axes below the first, that share of its height, with the same x.

    Matplotlib's global settings are untouched afterwards; no figure manager is involved.
    """
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width / PIXELS_PER_INCH, height / PIXELS_PER_INCH), layout="constrained")
        figure.patch.set_visible(False)
        heights = [1.0, strip] if strip else [1.0]
        grid = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)
        for axes in grid.flat:
            axes.patch.set_visible(False)
        yield figure, list(grid.flat)


def inline_svg(figure: Figure, *, key: str, title: str, description: str) -> str:
    """The figure as an ``svg`` element for an HTML page.

    Parameters
    ----------
    figure : Figure
        From :func:`canvas`, inside its ``with`` block.
    key : str
        Prefix of every id, so that several figures share a page.
    title, description : str
        Name and text alternative, read by screen readers.

    Returns
    -------
    svg : str
        Without XML prologue, date or external address; colors as CSS variables with the light value as fallback.
    """
    text = _draw(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<(metadata|style)\b.*?</\1>\s*", "", text, flags=re.DOTALL)
    # Only inside tags: the words in the picture stay as they are.
    text = re.sub(r"<[^>]*>", lambda tag: _clean(tag[0], key), text)
    text = re.sub(r"\s*\n\s*", " ", text).replace("> <", "><")
    width, height = (round(float(x) * PIXELS_PER_INCH) for x in figure.get_size_inches())
    head = (
        f'<svg class="picture" role="img" aria-labelledby="{key}-title {key}-desc" '
        f'width="{width}" height="{height}" viewBox="0 0 {width * 0.75:g} {height * 0.75:g}">'
        f'<title id="{key}-title">{escape(title)}</title><desc id="{key}-desc">{escape(description)}</desc>'
    )
    return head + text[text.index(">") + 1 :].strip()


def _draw(figure: Figure) -> str:
    """The figure as matplotlib writes it."""
    buffer = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with warnings.catch_warnings():
        # The reader's browser has more scripts than matplotlib's font, which only measures the words here.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        # Not savefig, which would draw every figure twice.
        FigureCanvasSVG(figure).print_svg(buffer, metadata=metadata)  # type: ignore[no-untyped-call]
    return buffer.getvalue()


def _clean(tag: str, key: str) -> str:
    """One tag with short numbers, ids of its own and the colors of the page."""
    tag = re.sub(r' transform="rotate\(-0 [^"]*"', "", tag)
    tag = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), tag)
    return _theme(_prefix_ids(tag, key))


def _prefix_ids(svg: str, key: str) -> str:
    """Make ids and the references to them unique on the page."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", svg)
    return re.sub(r'xlink:href="#([^"]+)"', rf'href="#{key}-\1"', svg)


def _theme(svg: str) -> str:
    """Replace the light colors by CSS variables and leave the choice of font to the page."""
    for name, light in LIGHT.items():
        svg = svg.replace(light, f"var(--{name},{light})")
    return svg.replace("'DejaVu Sans', sans-serif", "var(--font,sans-serif)").replace(
        "'DejaVu Sans'", "var(--font,sans-serif)"
    )


def theme_css() -> str:
    """The palette as CSS custom properties: light by default, dark where the reader asks for it, light in print."""
    light = ";".join(f"--{name}:{value}" for name, (value, _) in PALETTE.items())
    dark = ";".join(f"--{name}:{value}" for name, (_, value) in PALETTE.items())
    return f":root{{color-scheme:light dark;{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
