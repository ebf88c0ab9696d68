"""Data in: the one front door, where whatever a caller has becomes ``Views``."""

from coview.views._alignment import align_tables, align_target
from coview.views._block import plain_rows, rows_from_plain
from coview.views._find_problems import find_problems
from coview.views._findings import Finding, merge_findings, worst_first
from coview.views._findings_presence import presence_summary, view_overlap
from coview.views._findings_summary import label_summary, view_summary
from coview.views._ids import almost_equal_ids, id_text, ids_among, labels_from_plain, plain_labels, some
from coview.views._known import select_known
from coview.views._numeric import column_kind, infinite_rows, to_matrix
from coview.views._per_view import check_view_name, numbers_per_view, value_per_view
from coview.views._presence import observed_rows, resolve_presence
from coview.views._readers import is_single_table, read_tables
from coview.views._slicing import take_rows
from coview.views._sources import is_frame
from coview.views._sparse_frame import to_sparse_frame
from coview.views._tables import AlignedTables, Table
from coview.views._validation import check_complete_rows, conform, incomplete_rows
from coview.views._views import Views

__all__ = [
    "AlignedTables",
    "Finding",
    "Table",
    "Views",
    "align_tables",
    "align_target",
    "almost_equal_ids",
    "check_complete_rows",
    "check_view_name",
    "column_kind",
    "conform",
    "find_problems",
    "id_text",
    "ids_among",
    "incomplete_rows",
    "infinite_rows",
    "is_frame",
    "is_single_table",
    "label_summary",
    "labels_from_plain",
    "merge_findings",
    "numbers_per_view",
    "observed_rows",
    "plain_labels",
    "plain_rows",
    "presence_summary",
    "read_tables",
    "resolve_presence",
    "rows_from_plain",
    "select_known",
    "some",
    "take_rows",
    "to_matrix",
    "to_sparse_frame",
    "value_per_view",
    "view_overlap",
    "view_summary",
    "worst_first",
]
