"""A user's files: read into tables with ids, matched into views with labels, written so that nothing is lost."""

from coview.files._collect import read_table_set
from coview.files._config import options_from_toml, with_config
from coview.files._contents import FileTable, TableSet
from coview.files._options import TableOptions, ViewSettings
from coview.files._toml_keys import data_toml
from coview.files._writing import refuse_existing, write_whole, writing

__all__ = [
    "FileTable",
    "TableOptions",
    "TableSet",
    "ViewSettings",
    "data_toml",
    "options_from_toml",
    "read_table_set",
    "refuse_existing",
    "with_config",
    "write_whole",
    "writing",
]
