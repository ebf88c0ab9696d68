"""The page: sections of text, pictures and tables, rendered by one template into one file."""

from __future__ import annotations

from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from coview.report._svg import theme_css
from coview.report._tables import Table


@dataclass(frozen=True)
class Picture:
    """One or several panels that share a reading and a table.

    Attributes
    ----------
    title : str
        What is drawn.
    reading : str
        One sentence: what to see in it.
    panels : tuple of str
        ``svg`` elements, as from ``_svg.inline_svg``.
    table : Table
        The same numbers as text.
    """

    title: str
    reading: str
    panels: tuple[str, ...]
    table: Table
    kind: str = "picture"

    @property
    def markup(self) -> list[Markup]:
        """The panels, marked as finished HTML; they are written by this package, never by the data."""
        return [Markup(panel) for panel in self.panels]


@dataclass(frozen=True)
class Note:
    """A list of short statements, set apart."""

    title: str
    items: tuple[str, ...]
    tone: str = "plain"
    kind: str = "note"


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs, then pictures, tables and notes in order."""

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    blocks: tuple[Picture | Table | Note, ...] = ()
    level: int = 2


@dataclass(frozen=True)
class Report:
    """Everything on the page.

    Attributes
    ----------
    title, lead : str
        Heading and the sentence below it.
    facts : tuple of (str, str)
        Large figure and what it is.
    sections : tuple of Section
    footer : tuple of str
        Origin of data, versions, how to make the page again.
    """

    title: str
    lead: str
    facts: tuple[tuple[str, str], ...] = ()
    sections: tuple[Section, ...] = ()
    footer: tuple[str, ...] = field(default=())


def render_report(report: Report) -> str:
    """One HTML document without any external address, the same bytes for the same report.

    Parameters
    ----------
    report : Report
        The content; text is escaped.

    Returns
    -------
    html : str

    Examples
    --------
    >>> from coview.report import Report, render_report
    >>> "<h1>A &lt; B</h1>" in render_report(Report(title="A < B", lead="Which is smaller?"))
    True
    """
    environment = Environment(
        loader=PackageLoader("coview.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    page = environment.get_template("report.html").render(report=report, theme=Markup(theme_css()))
    # Half characters, which no file can hold, become question marks.
    return page.encode("utf-8", "replace").decode("utf-8")
