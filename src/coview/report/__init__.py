"""One self-contained HTML page with pictures, each beside its reading and its numbers."""

from coview.report._campaign_report import campaign_report
from coview.report._cluster_report import cluster_report
from coview.report._html import Note, Picture, Report, Section, render_report
from coview.report._model_report import model_report
from coview.report._tables import Table

__all__ = [
    "Note",
    "Picture",
    "Report",
    "Section",
    "Table",
    "campaign_report",
    "cluster_report",
    "model_report",
    "render_report",
]
