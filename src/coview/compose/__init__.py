"""Put views together, or make them: early fusion, and the encoding of tables."""

from coview.compose._concatenate import ConcatenateViews
from coview.compose._table_encoder import TableEncoder

__all__ = ["ConcatenateViews", "TableEncoder"]
