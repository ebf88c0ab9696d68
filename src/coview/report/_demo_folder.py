"""The folder of a demonstration: replaced as a whole, and never somebody else's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

__all__ = ["MARKER", "check_replaceable", "replace_folder"]

MARKER = ".coview-demo"


def check_replaceable(output: Path) -> None:
    """Refuse a folder that is not ours."""
    if output.exists() and not (output / MARKER).exists() and (output.is_file() or any(output.iterdir())):
        raise FileExistsError(
            f"{output} exists and was not written by coview demo (no {MARKER} in it), so it is left as it is. "
            "Name another folder, or move this one away."
        )


def replace_folder(output: Path, files: Mapping[str, str]) -> None:
    """Write the files into a new folder beside, then put it in the place of the old one."""
    output.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(mkdtemp(prefix=f".{output.name}-", dir=output.parent))
    try:
        for name, text in files.items():
            (fresh / name).write_text(text, encoding="utf-8", newline="\n")
        fresh.chmod(0o755)
        if output.exists():
            old = Path(mkdtemp(prefix=f".{output.name}-old-", dir=output.parent))
            os.replace(output, old / "old")
            os.replace(fresh, output)
            shutil.rmtree(old)
        else:
            os.replace(fresh, output)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
