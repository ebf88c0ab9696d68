"""A user's files: read into tables with ids, matched into views with labels, written so that nothing is lost."""

from coview.files._collect import read_table_set
from coview.files._config import options_from_toml, with_config
from coview.files._contents import FileTable, TableSet
from coview.files._costs import read_costs
from coview.files._options import TableOptions, ViewSettings
from coview.files._reading import list_sheets, read_table, read_tables_in
from coview.files._toml_keys import data_toml
from coview.files._writing import refuse_existing, refuse_unwritable, write_whole, writing

__all__ = [
    "FileTable",
    "TableOptions",
    "TableSet",
    "ViewSettings",
    "data_toml",
    "list_sheets",
    "options_from_toml",
    "read_costs",
    "read_table",
    "read_table_set",
    "read_tables_in",
    "refuse_existing",
    "refuse_unwritable",
    "with_config",
    "write_whole",
    "writing",
]
