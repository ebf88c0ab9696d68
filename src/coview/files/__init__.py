"""A user's files: read into tables with ids, matched into views with labels, written so that nothing is lost."""

from coview.files._collect import read_table_set
from coview.files._contents import FileTable, TableSet
from coview.files._options import TableOptions, ViewSettings
from coview.files._writing import refuse_existing, write_whole, writing

__all__ = [
    "FileTable",
    "TableOptions",
    "TableSet",
    "ViewSettings",
    "read_table_set",
    "refuse_existing",
    "write_whole",
    "writing",
]
