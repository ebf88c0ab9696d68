"""Put views together, or make them: early fusion, the encoding of tables, a transformer per view."""

from coview.compose._concatenate import ConcatenateViews
from coview.compose._table_encoder import TableEncoder
from coview.compose._view_transformer import ViewTransformer

__all__ = ["ConcatenateViews", "TableEncoder", "ViewTransformer"]
