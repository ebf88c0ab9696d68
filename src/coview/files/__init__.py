"""A user's files: read into tables with ids, matched into views with labels, written so that nothing is lost."""

from coview.files._contents import FileTable, TableSet
from coview.files._writing import refuse_existing, write_whole, writing

__all__ = ["FileTable", "TableSet", "refuse_existing", "write_whole", "writing"]
