"""Predictions as CSV, JSON lines or Parquet, numbers in full, block by block."""

import json
import math
from collections.abc import Iterable
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "format_of", "write_predictions"]

FORMATS = ("csv", "jsonl", "parquet")


def format_of(output: str) -> str:
    """Return the format that a file's name asks for; CSV where it asks for none."""
    suffix = Path(output).suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else "csv"


def write_predictions(
    blocks: Iterable["pd.DataFrame"], to: Path | TextIO, kind: str, *, overwrite: bool = False
) -> None:
    """Write blocks of rows to a file, which appears when it is whole, or to an open text stream."""
    if not isinstance(to, Path):
        _write_text(blocks, to, kind)
        return
    from coview.files import writing

    if kind == "parquet":
        _require_pyarrow()
    with writing(to, overwrite=overwrite) as stream:
        if kind == "parquet":
            import pandas as pd

            pd.concat(list(blocks), ignore_index=True).to_parquet(stream, index=False)
            return
        text = TextIOWrapper(stream, encoding="utf-8", newline="")
        _write_text(blocks, text, kind)
        text.flush()
        text.detach()


def _write_text(blocks: Iterable["pd.DataFrame"], stream: TextIO, kind: str) -> None:
    if kind == "csv":
        for number, block in enumerate(blocks):
            block.to_csv(stream, index=False, header=number == 0, lineterminator="\n")
        return
    for block in blocks:
        for row in block.to_dict("records"):
            stream.write(json.dumps({str(key): _plain(value) for key, value in row.items()}, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    """Return a cell in JSON's own types; an empty one is null."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _require_pyarrow() -> None:
    if find_spec("pyarrow") is None:
        raise ImportError("Writing Parquet needs pyarrow: pip install 'coview[parquet]'.")
